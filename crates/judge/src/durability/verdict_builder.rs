//! Joins all evidence along every path from a target to its disks: the worst path decides, and a
//! sentence gives the reasons.
//!
//! If a file system above sends no flushes, otherwise harmless evidence about a disk becomes a
//! reason for *at risk*.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::database::{self, DeviatingSessions};
use super::device_view::{CacheVolatility, DiskAssessment, FlushOutcome};
use super::fact_reader::{FactDependencies, FactReader};
use super::flush_path::{AssessedHop, FlushPathInput, build_flush_path};
use super::kernel_view::{self, StackCaches};
use super::rule_cap::VerdictCaps;
use super::{
    Evidence, EvidenceImpact, EvidenceLayer, PathVerdict, Route, UndecidedCapRule, Verdict,
    VerdictKind, VerdictRemedy, find_drill_record, find_routes, measurement, redundancy, remedy,
};
use crate::facts::catalog::device::WriteGuarantor;
use crate::facts::catalog::host::{self, RunEnvironment};
use crate::facts::catalog::target::FlushSuppressor;
use crate::facts::{FactSet, Reading, Scope, Subject};
use crate::ternary::Ternary;
use walwise_model::text::JoinText;

#[derive(Clone, Debug)]
pub struct TargetJudgement {
    pub verdict: Verdict,
    pub cache: CacheVolatility,
    pub flush: FlushOutcome,
    pub suppressed_by: BTreeSet<FlushSuppressor>,
    pub commit_off_for: Reading<Vec<String>>,
    pub is_stateless: Ternary,
    pub dependencies: FactDependencies,
    pub remedy: Option<VerdictRemedy>,
    pub merged: bool,
}

/// `disks` must contain the assessment of every disk below the target.
pub fn judge_target(
    facts: &FactSet,
    target: &Subject,
    disks: &BTreeMap<Subject, DiskAssessment>,
    caps: &VerdictCaps,
) -> TargetJudgement {
    let dependencies = RefCell::default();
    let reader = FactReader {
        facts,
        subject: target,
        dependencies: &dependencies,
    };
    let (ways, merged) = find_routes(facts, target);

    let mut common = Vec::new();
    let mut passages = Vec::new();
    let clusters = database::clusters_on_target(facts, target);
    let mut exceptions = DeviatingSessions::empty();
    let mut host_loss = Vec::new();
    let mut servers = Vec::new();
    for cluster in &clusters {
        let mut judged = database::judge_cluster(reader, cluster);
        judged
            .evidence
            .extend(caps.cap_evidence(reader.for_subject(cluster)));
        passages.extend(
            judged
                .disables_flush
                .then_some(FlushOutcome::Dropped(FlushSuppressor::ServerSetting)),
        );
        common.extend(judged.evidence.iter().cloned());
        servers.push((cluster.clone(), judged.disables_flush, judged.evidence));
        exceptions.merge(judged.exceptions);
        host_loss.push(judged.host_loss);
    }
    host_loss.retain(|says| !says.is_empty());

    let host = Subject::host();
    let host_reader = reader.for_subject(&host);
    common.extend(kernel_view::directory_flags_evidence(reader));
    common.extend(kernel_view::container_evidence(host_reader));
    common.extend(caps.cap_evidence(host_reader));
    common.extend(caps.cap_evidence(reader));

    let mut paths: Vec<PathVerdict> = Vec::new();
    let mut hops_of_ways = Vec::new();
    for way in &ways {
        let judged = assess_path_to_disk(reader, way, disks, caps);
        passages.extend(judged.iter().flat_map(|hop| &hop.flush_fates));
        let evidence = judged
            .iter()
            .flat_map(|hop| &hop.evidence)
            .cloned()
            .collect();
        paths.push(PathVerdict {
            hops: way.hops.clone(),
            standing: VerdictKind::Durable,
            evidence,
        });
        hops_of_ways.push(judged);
    }
    let below: BTreeMap<&Subject, &DiskAssessment> = ways
        .iter()
        .flat_map(|way| &way.ends)
        .filter_map(|end| disks.get_key_value(end))
        .collect();
    for leaf in below.values() {
        dependencies.borrow_mut().extend(&leaf.dependencies);
    }
    let at_disks: Vec<FlushOutcome> = below.values().map(|leaf| leaf.flush_outcome).collect();
    let flush = overall_flush_outcome(&passages, &at_disks);
    let mut measured = measurement::evidence_from_probe_flushes(reader, flush, &below);

    let drill = find_drill_record(reader);
    measured.extend(drill.as_ref().map(|drill| drill.drill_evidence(reader)));
    common.extend(measured.iter().cloned());

    for path in &mut paths {
        path.evidence.extend(common.iter().cloned());
        path.evidence.sort_by_key(|evidence| evidence.standing);
        path.standing = path
            .evidence
            .first()
            .map_or(VerdictKind::Unproven, |worst| worst.standing);
    }
    if let Some(drill) = &drill {
        drill.promote_to_proven_by_drill(&mut paths);
    }
    paths.sort_by_key(|path| path.standing);

    let standing = paths
        .first()
        .map_or(VerdictKind::Unproven, |path| path.standing);
    let seen_by = host_reader.read(&host::SEEN_BY);
    let cache = worst_cache(ways.iter().flat_map(|way| &way.ends), disks);
    // Paths to one multipath disk are counted as one disk.
    let units: BTreeSet<&Subject> = below
        .keys()
        .map(|disk| facts.first_path_to_same_disk(disk))
        .collect();
    let names: Vec<&str> = units.iter().map(|disk| disk.name()).collect();
    let guarantors: Vec<WriteGuarantor> = below
        .values()
        .filter_map(|leaf| leaf.guarantor)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let suppressed_by: BTreeSet<FlushSuppressor> = passages
        .iter()
        .chain(&at_disks)
        .copied()
        .filter_map(FlushOutcome::suppressor)
        .collect();
    let (redundancy, second_fault) = redundancy::target_redundancy(reader);
    let (unseen, unseen_sentences): (Vec<_>, Vec<_>) =
        invisible_layers(facts, seen_by).into_iter().unzip();
    let flush_path = build_flush_path(&FlushPathInput {
        facts,
        servers: &servers,
        routes: &hops_of_ways,
        merged,
        disks,
        measured: &measured,
        unseen: &unseen,
    });
    let subjects = || {
        [&host]
            .into_iter()
            .chain(&clusters)
            .chain(ways.iter().flat_map(|way| &way.hops))
    };
    let undecided = caps.undecided_lowering_rules(subjects(), standing);
    let caps_checked = caps.number_of_capping_rules(subjects());
    let verdict = Verdict {
        target: target.clone(),
        standing,
        redundancy,
        second_fault,
        host_loss: host_loss.join(" "),
        exceptions: exceptions.texts,
        limits: verdict_limits_text(
            &unseen_sentences,
            measurement::note_of_flushes_by_others(reader, &below).as_deref(),
            &undecided,
        ),
        undecided,
        caps_checked,
        flush_path,
        seen_by: seen_by.map_or("unknown", RunEnvironment::as_str).to_owned(),
        sentence: match &drill {
            Some(drill) if standing.is_proven_by_drill() => drill.proven_by_drill_sentence(),
            _ => verdict_sentence(
                standing,
                &paths,
                clusters.is_empty(),
                cache,
                &names,
                &guarantors,
            ),
        },
        guarantors,
        paths,
        missing: dependencies.borrow().missing.iter().cloned().collect(),
    };
    let hops = ways
        .iter()
        .flat_map(|way| &way.hops)
        .filter(|hop| hop.scope() == Scope::Device);
    let plain = Ternary::all(hops.map(|hop| kernel_view::holds_no_unflushed_data(facts, hop)));
    let commit_off_for = exceptions.losing;
    let deciding = verdict.deciding_evidence();
    let remedies: Vec<_> = deciding.filter_map(|says| says.remedy.as_ref()).collect();
    let remedy = remedy::joined_remedy(&remedies);
    TargetJudgement {
        verdict,
        cache,
        flush,
        suppressed_by,
        commit_off_for,
        is_stateless: plain,
        dependencies: dependencies.take(),
        remedy,
        merged,
    }
}

/// The least safe cache at the ends of a path; unknown without an end, or if an end is no assessed
/// disk.
fn worst_cache<'a>(
    ends: impl IntoIterator<Item = &'a Subject>,
    disks: &BTreeMap<Subject, DiskAssessment>,
) -> CacheVolatility {
    let of_end = |end| {
        disks
            .get(end)
            .map_or(CacheVolatility::Unknown, |leaf| leaf.cache)
    };
    ends.into_iter()
        .map(of_end)
        .min()
        .unwrap_or(CacheVolatility::Unknown)
}

/// *Dropped* if any hop drops flushes, *not needed* only if no disk needs them.
fn overall_flush_outcome(hops: &[FlushOutcome], disks: &[FlushOutcome]) -> FlushOutcome {
    let at_disks = disks.iter().min().copied().unwrap_or(FlushOutcome::Unknown);
    let on_the_way = hops.iter().min().copied().unwrap_or(FlushOutcome::Sent);
    if on_the_way < FlushOutcome::Sent {
        on_the_way.min(at_disks)
    } else {
        at_disks
    }
}

fn assess_path_to_disk(
    target: FactReader,
    way: &Route,
    disks: &BTreeMap<Subject, DiskAssessment>,
    caps: &VerdictCaps,
) -> Vec<AssessedHop> {
    let ends: Vec<Option<&DiskAssessment>> = way.ends.iter().map(|end| disks.get(end)).collect();
    let devices = way.hops.iter().filter(|hop| hop.scope() == Scope::Device);
    let bottom = StackCaches {
        cache: worst_cache(&way.ends, disks),
        write_back: Ternary::any(
            ends.iter()
                .map(|end| end.map_or(Ternary::Unknown, |leaf| leaf.write_back)),
        ),
        is_stateless: Ternary::all(
            devices.map(|hop| kernel_view::holds_no_unflushed_data(target.facts, hop)),
        ),
    };

    let mut judged: Vec<AssessedHop> = Vec::new();
    // The remedy at the first hop that sends no flushes because of a mount option.
    let mut unflushed: Option<VerdictRemedy> = None;
    for hop in way.hops.iter().filter(|hop| !disks.contains_key(hop)) {
        let found = match hop.scope() {
            Scope::Mount => kernel_view::file_system_findings(target.for_subject(hop), bottom),
            Scope::Device => kernel_view::stacked_device_findings(target.for_subject(hop), bottom),
            Scope::Host | Scope::Boot | Scope::Cluster | Scope::Target => Vec::new(),
        };
        let by_mount = FlushOutcome::Dropped(FlushSuppressor::MountOption);
        if unflushed.is_none() && found.iter().any(|(passage, _)| *passage == by_mount) {
            unflushed = Some(VerdictRemedy::enable_barriers(hop.name()));
        }
        let (flush_fates, mut evidence): (_, Vec<_>) = found.into_iter().unzip();
        if hop.scope() != Scope::Target {
            evidence.extend(caps.cap_evidence(target.for_subject(hop)));
        }
        judged.push(AssessedHop {
            subject: hop.clone(),
            flush_fates,
            evidence,
        });
    }
    for (end, leaf) in way.ends.iter().zip(&ends) {
        let Some(leaf) = leaf else { continue };
        let lost = unflushed
            .as_ref()
            .filter(|_| !leaf.cache.is_safe_unflushed());
        let mut evidence = leaf.evidence.clone();
        if let Some(remedy) = lost {
            for claim in evidence.iter_mut().filter(|one| one.layer.is_device()) {
                claim.standing = VerdictKind::AtRisk;
                claim.remedy = Some(remedy.clone());
            }
        }
        evidence.extend(caps.cap_evidence(target.for_subject(end)));
        judged.push(AssessedHop {
            subject: end.clone(),
            flush_fates: Vec::new(),
            evidence,
        });
    }

    let last = way.hops.last();
    let nothing = ends.iter().any(Option::is_none);
    let sound = judged
        .iter()
        .flat_map(|hop| &hop.evidence)
        .all(|says| says.standing.is_durable());
    let unread = match (&way.broken, last) {
        (Some(why), _) => Some(why.clone()),
        (None, Some(last)) if nothing && sound => Some(format!(
            "the underlying device of {} was not found",
            last.name()
        )),
        _ => None,
    };
    if let (Some(says), Some(last)) = (unread, last) {
        let evidence = Evidence::new(
            EvidenceLayer::Kernel,
            last,
            EvidenceImpact::Unproven,
            says,
            String::new(),
        );
        if judged.last().is_none_or(|hop| hop.subject != *last) {
            judged.push(AssessedHop {
                subject: last.clone(),
                flush_fates: Vec::new(),
                evidence: Vec::new(),
            });
        }
        if let Some(hop) = judged.last_mut() {
            hop.flush_fates.push(FlushOutcome::Unknown);
            hop.evidence.push(evidence);
        }
    }
    judged
}

fn verdict_sentence(
    standing: VerdictKind,
    paths: &[PathVerdict],
    no_database: bool,
    cache: CacheVolatility,
    disks: &[&str],
    guarantors: &[WriteGuarantor],
) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for evidence in paths.iter().flat_map(|path| &path.evidence) {
        if evidence.standing == standing && !reasons.contains(&evidence.text.as_str()) {
            reasons.push(&evidence.text);
        }
    }
    let more = reasons.len().saturating_sub(3);
    let mut why = match reasons.get(..3).unwrap_or(&reasons) {
        [] => "the underlying device was not found".to_owned(),
        most => most.join("; "),
    };
    if more > 0 {
        why = format!("{why} ({more} more below)");
    }
    match standing {
        VerdictKind::AtRisk => {
            format!("A commit acknowledged now may be lost in a power failure: {why}.")
        }
        VerdictKind::Contradictory => {
            format!(
                "Two sources contradict each other, so a commit acknowledged now may be lost in a power failure: {why}."
            )
        }
        VerdictKind::Unproven | VerdictKind::ProvenByDrill => {
            format!("A commit acknowledged now is not proven to survive a power failure: {why}.")
        }
        VerdictKind::Durable => {
            let several = disks.len() > 1;
            let disks = match disks {
                [] => "the disk".to_owned(),
                [first, second] => format!("{first} and {second}"),
                names if names.len() <= 3 => names.join(", "),
                names => format!("{} disks", names.len()),
            };
            let (no_cache, caches) = if several {
                ("report no volatile caches", "their volatile caches")
            } else {
                ("reports no volatile cache", "its volatile cache")
            };
            let because = match cache {
                CacheVolatility::Protected => {
                    format!(
                        "the cache in front of {disks} is protected by a healthy battery or flash module"
                    )
                }
                CacheVolatility::None
                    if !guarantors.is_empty()
                        && guarantors.iter().all(|one| one.is_storage_cluster()) =>
                {
                    format!("a write to {disks} is acknowledged once it is stored")
                }
                CacheVolatility::None => format!("{disks} {no_cache}"),
                CacheVolatility::Volatile
                | CacheVolatility::Contradictory
                | CacheVolatility::Unknown => {
                    format!("flushes are passed down to {disks}, which must write out {caches}")
                }
            };
            let condition = if no_database {
                "A commit that a database flushes here"
            } else {
                "A commit acknowledged now"
            };
            let are_alike = several && guarantors.len() == 1;
            let whose: Vec<&str> = guarantors
                .iter()
                .map(|guarantor| guarantor.noun_phrase(are_alike))
                .collect();
            let word = match whose.as_slice() {
                [] => String::new(),
                all => format!(", according to {}", all.join(" and ")),
            };
            format!("{condition} survives a power failure{word}: {because}.")
        }
    }
}

/// Names of the layers that are not visible from here, each with a sentence about it.
fn invisible_layers(
    facts: &FactSet,
    seen_by: Option<RunEnvironment>,
) -> Vec<(&'static str, &'static str)> {
    let technology = facts.host_value(&host::VIRTUALISATION);
    let mut unseen = Vec::new();
    if seen_by == Some(RunEnvironment::Container) {
        unseen.push((
            "host",
            "Run walwise on the host: this container's mounts may differ from the host's.",
        ));
    }
    if seen_by == Some(RunEnvironment::Guest)
        || technology.as_deref().is_some_and(|name| name != "none")
    {
        unseen.push((
            "hypervisor",
            "This is a virtual machine, and the hypervisor may ignore flushes. Check its cache mode, or test with a power cut.",
        ));
    }
    if seen_by.is_none() {
        unseen.push((
            "virtual machine",
            "It is unknown whether this is a virtual machine; a hypervisor may ignore flushes.",
        ));
    }
    unseen
}

fn verdict_limits_text(
    unseen: &[&str],
    of_others: Option<&str>,
    undecided: &[UndecidedCapRule],
) -> String {
    let open = undecided.iter().map(
        |UndecidedCapRule {
             rule,
             caps,
             question,
         }| {
            format!(
                "Rule {rule} is undecided and could change the verdict to {}: {question}",
                caps.as_str()
            )
        },
    );
    let known = unseen.iter().copied().chain(of_others).map(str::to_owned);
    known.chain(open).join_with(" ")
}
