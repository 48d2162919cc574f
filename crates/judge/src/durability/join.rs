//! Joins the layers along every way from a target to its disks: the worst on any way wins, and a
//! sentence names it.
//!
//! Single hops, disks and clusters are judged elsewhere in [`super`]. Evidence about a disk that is
//! harmless as long as flushes arrive becomes the reason for *at risk* when a file system above it
//! sends none.

use std::collections::{BTreeMap, BTreeSet};

use super::ask::{Ask, FactDependencies};
use super::belief::{self, Bottom};
use super::cap::Caps;
use super::claim::{Cache, Leaf, Passage};
use super::database::{self, Exceptions};
use super::flush_path::{Judged, JudgedHop, Unseen, flush_path};
use super::route::{Route, routes};
use super::{
    Bears, Evidence, Layer, Mend, Path, Standing, UndecidedCap, Verdict, drilled, measured, mend,
    redundancy,
};
use crate::facts::catalog::device::Guarantor;
use crate::facts::catalog::host::{self, Vantage};
use crate::facts::catalog::target::Suppressor;
use crate::facts::{FactSet, Reading, Scope, Subject};
use crate::truth::Truth;

/// All conclusions about a target.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub verdict: Verdict,
    pub cache: Cache,
    /// The fate of its flushes.
    pub flush: Passage,
    pub suppressed_by: BTreeSet<Suppressor>,
    /// Sessions that may lose commits although the server's default keeps them.
    pub commit_off_for: Reading<Vec<String>>,
    /// Whether no hop between keeps data of its own that only a flush writes out.
    pub plain: Truth,
    /// The facts that were asked for.
    pub asked: FactDependencies,
    /// Whether the deciding cause can be mended on this machine, and the remedies, in sentences.
    pub remedy: Option<(bool, String)>,
    /// Whether there were too many ways to judge one by one.
    pub merged: bool,
}

/// Judges a target whose disks have been judged.
pub fn judge(
    facts: &FactSet,
    target: &Subject,
    disks: &BTreeMap<Subject, Leaf>,
    caps: &Caps,
) -> Judgement {
    let mut ask = Ask::new(facts);
    let (ways, merged) = routes(facts, target);

    let mut common = Vec::new();
    let mut passages = Vec::new();
    let clusters = database::clusters(facts, target);
    let mut exceptions = Exceptions::none();
    let mut host_loss = Vec::new();
    let mut servers = Vec::new();
    for cluster in &clusters {
        let mut judged = database::judge(&mut ask, target, cluster);
        judged.evidence.extend(caps.evidence(&mut ask, cluster));
        passages.extend(
            judged
                .off
                .then_some(Passage::Dropped(Suppressor::ServerSetting)),
        );
        common.extend(judged.evidence.iter().cloned());
        servers.push((cluster.clone(), judged.off, judged.evidence));
        exceptions.and(judged.exceptions);
        host_loss.push(judged.host_loss);
    }
    host_loss.retain(|says| !says.is_empty());

    common.extend(belief::directory(&mut ask, target));
    let host = [Subject::host()];
    for of_all in host.iter().chain([target]) {
        common.extend(caps.evidence(&mut ask, of_all));
    }

    let mut paths: Vec<Path> = Vec::new();
    let mut hops_of_ways = Vec::new();
    for way in &ways {
        let judged = along(&mut ask, way, disks, caps);
        passages.extend(judged.iter().flat_map(|hop| &hop.passages));
        let evidence = judged
            .iter()
            .flat_map(|hop| &hop.evidence)
            .cloned()
            .collect();
        paths.push(Path {
            hops: way.hops.clone(),
            standing: Standing::Durable,
            evidence,
        });
        hops_of_ways.push(judged);
    }
    let below: BTreeMap<&Subject, &Leaf> = ways
        .iter()
        .flat_map(|way| &way.ends)
        .filter_map(|end| disks.get_key_value(end))
        .collect();
    for leaf in below.values() {
        ask.asked.extend(&leaf.asked);
    }
    let at_disks: Vec<Passage> = below.values().map(|leaf| leaf.passage).collect();
    let flush = joined(&passages, &at_disks);
    let mut measured = measured::judge(
        &mut ask,
        target,
        flush,
        below.iter().map(|(disk, leaf)| (*disk, *leaf)),
    );

    let drill = drilled::ask(&mut ask, target);
    measured.extend(drill.as_ref().map(drilled::Drilled::evidence));
    common.extend(measured.iter().cloned());

    for path in &mut paths {
        path.evidence.extend(common.iter().cloned());
        path.evidence.sort_by_key(|evidence| evidence.standing);
        path.standing = path
            .evidence
            .first()
            .map_or(Standing::Unproven, |worst| worst.standing);
    }
    if let Some(drill) = &drill {
        drill.settle(&mut paths);
    }
    paths.sort_by_key(|path| path.standing);

    let standing = paths
        .first()
        .map_or(Standing::Unproven, |path| path.standing);
    let seen_by = ask.value(&Subject::host(), &host::SEEN_BY);
    let ends_on_disks = ways
        .iter()
        .flat_map(|way| &way.ends)
        .all(|end| disks.contains_key(end));
    let worst = below.values().map(|leaf| leaf.cache).min();
    let cache = if ends_on_disks {
        worst.unwrap_or(Cache::Unknown)
    } else {
        worst.map_or(Cache::Unknown, |c| c.min(Cache::Unknown))
    };
    // Several paths to one unit are shown as one disk.
    let units: BTreeSet<&Subject> = below.keys().map(|disk| facts.unit(disk)).collect();
    let names: Vec<&str> = units.iter().map(|disk| disk.name()).collect();
    let guarantors: Vec<Guarantor> = below
        .values()
        .filter_map(|leaf| leaf.guarantor)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let suppressed_by: BTreeSet<Suppressor> = passages
        .iter()
        .chain(&at_disks)
        .copied()
        .filter_map(dropped_by)
        .collect();
    let (redundancy, second_fault) = redundancy::judge(&mut ask, target);
    let unseen = unseen(facts, seen_by);
    let flush_path = flush_path(&Judged {
        facts,
        servers: &servers,
        ways: &hops_of_ways,
        merged,
        disks,
        measured: &measured,
        unseen: &unseen,
    });
    let subjects = || {
        host.iter()
            .chain(&clusters)
            .chain(ways.iter().flat_map(|way| &way.hops))
    };
    let undecided = caps.undecided(subjects(), standing);
    let caps_checked = caps.checked(subjects());
    let verdict = Verdict {
        target: target.clone(),
        standing,
        redundancy,
        second_fault,
        host_loss: host_loss.join(" "),
        exceptions: exceptions.says,
        limits: limits(
            &unseen,
            measured::of_others(&mut ask, target, &below).as_deref(),
            &undecided,
        ),
        undecided,
        caps_checked,
        flush_path,
        seen_by: seen_by.map_or("unknown", Vantage::word).to_owned(),
        sentence: match &drill {
            Some(drill) if standing.is_proven_by_drill() => drill.sentence(),
            _ => sentence(
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
        missing: ask.asked.missing.iter().cloned().collect(),
    };
    let hops = ways
        .iter()
        .flat_map(|way| &way.hops)
        .filter(|hop| hop.scope() == Scope::Device);
    let plain = Truth::every(hops.map(|hop| belief::plain(facts, hop)));
    let commit_off_for = exceptions.lose;
    let remedy = remedy(&verdict);
    Judgement {
        verdict,
        cache,
        flush,
        suppressed_by,
        commit_off_for,
        plain,
        asked: ask.asked,
        remedy,
        merged,
    }
}

/// The remedies of everything that decides a verdict.
fn remedy(verdict: &Verdict) -> Option<(bool, String)> {
    let evidence = verdict.paths.iter().flat_map(|path| &path.evidence);
    let decides = evidence.filter(|says| says.standing == verdict.standing);
    mend::told(
        &decides
            .filter_map(|says| says.mend.as_ref())
            .collect::<Vec<_>>(),
    )
}

fn dropped_by(passage: Passage) -> Option<Suppressor> {
    match passage {
        Passage::Dropped(by) => Some(by),
        Passage::Unknown | Passage::Sent | Passage::NotNeeded => None,
    }
}

/// The fate of a target's flushes, from those at its hops and disks: dropped anywhere means
/// dropped; not needed only where no disk needs them.
fn joined(hops: &[Passage], disks: &[Passage]) -> Passage {
    let at_disks = disks.iter().min().copied().unwrap_or(Passage::Unknown);
    let on_the_way = hops.iter().min().copied().unwrap_or(Passage::Sent);
    if on_the_way < Passage::Sent {
        on_the_way.min(at_disks)
    } else {
        at_disks
    }
}

/// Judges one way: what becomes of a flush at each hop, and the evidence of hops and disks.
fn along(
    ask: &mut Ask,
    way: &Route,
    disks: &BTreeMap<Subject, Leaf>,
    caps: &Caps,
) -> Vec<JudgedHop> {
    let ends: Vec<Option<&Leaf>> = way.ends.iter().map(|end| disks.get(end)).collect();
    let devices = way.hops.iter().filter(|hop| hop.scope() == Scope::Device);
    let bottom = Bottom {
        cache: ends
            .iter()
            .map(|end| end.map_or(Cache::Unknown, |leaf| leaf.cache))
            .min()
            .unwrap_or(Cache::Unknown),
        write_back: Truth::some(
            ends.iter()
                .map(|end| end.map_or(Truth::Unknown, |leaf| leaf.write_back)),
        ),
        plain: Truth::every(devices.map(|hop| belief::plain(ask.facts, hop))),
    };

    let mut judged: Vec<JudgedHop> = Vec::new();
    // The first hop that sends no flush because of how it was mounted.
    let mut unflushed: Option<Mend> = None;
    for hop in way.hops.iter().filter(|hop| !disks.contains_key(hop)) {
        let found = match hop.scope() {
            Scope::Mount => belief::mount(ask, hop, bottom),
            Scope::Device => belief::queue(ask, hop, bottom),
            Scope::Host | Scope::Boot | Scope::Cluster | Scope::Target => Vec::new(),
        };
        let mut at = JudgedHop::at(hop);
        for (passage, says) in found {
            let by_mount =
                dropped_by(passage).is_some_and(|by| matches!(by, Suppressor::MountOption));
            unflushed = unflushed.or_else(|| by_mount.then(|| Mend::Barriers(hop.clone())));
            at.passages.push(passage);
            at.evidence.push(says);
        }
        if hop.scope() != Scope::Target {
            at.evidence.extend(caps.evidence(ask, hop));
        }
        judged.push(at);
    }
    for (end, leaf) in way
        .ends
        .iter()
        .zip(&ends)
        .filter_map(|(end, leaf)| Some((end, (*leaf)?)))
    {
        let lost = unflushed
            .as_ref()
            .filter(|_| !leaf.cache.is_safe_unflushed());
        let mut at = JudgedHop::at(end);
        at.evidence
            .extend(leaf.evidence.iter().cloned().map(|says| match lost {
                Some(mend) if says.layer.is_claim() => {
                    let Evidence {
                        layer,
                        subject,
                        says,
                        source,
                        ..
                    } = says;
                    Evidence::new(layer, &subject, Bears::AtRisk(mend.clone()), says, source)
                }
                _ => says,
            }));
        at.evidence.extend(caps.evidence(ask, end));
        judged.push(at);
    }

    let last = way.hops.last();
    let nothing = ends.iter().any(Option::is_none);
    let sound = judged
        .iter()
        .flat_map(|hop| &hop.evidence)
        .all(|says| says.standing.is_durable());
    let unread = match (&way.broken, last) {
        (Some(why), _) => Some(why.clone()),
        (None, Some(last)) if nothing && sound => {
            Some(format!("the device under {} was not found", last.name()))
        }
        _ => None,
    };
    if let (Some(says), Some(last)) = (unread, last) {
        let evidence = Evidence::new(Layer::Belief, last, Bears::Unproven, says, String::new());
        if judged.last().is_none_or(|hop| hop.subject != *last) {
            judged.push(JudgedHop::at(last));
        }
        if let Some(hop) = judged.last_mut() {
            hop.passages.push(Passage::Unknown);
            hop.evidence.push(evidence);
        }
    }
    judged
}

/// The verdict as a sentence.
fn sentence(
    standing: Standing,
    paths: &[Path],
    no_database: bool,
    cache: Cache,
    disks: &[&str],
    guarantors: &[Guarantor],
) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for evidence in paths.iter().flat_map(|path| &path.evidence) {
        if evidence.standing == standing && !reasons.contains(&evidence.says.as_str()) {
            reasons.push(&evidence.says);
        }
    }
    let more = reasons.len().saturating_sub(3);
    let mut why = match reasons.get(..3).unwrap_or(&reasons) {
        [] => "the device under it was not found".to_owned(),
        most => most.join(", and "),
    };
    if more > 0 {
        why = format!("{why} ({more} more below)");
    }
    match standing {
        Standing::AtRisk => {
            format!("A commit acknowledged now may be lost at power failure: {why}.")
        }
        Standing::Contradictory => {
            format!(
                "The layers disagree, so a commit acknowledged now may be lost at power failure: {why}."
            )
        }
        Standing::Unproven | Standing::ProvenByDrill => {
            format!("Cannot show that a commit acknowledged now survives a power failure: {why}.")
        }
        Standing::Durable => {
            let several = disks.len() > 1;
            let disks = match disks {
                [] => "the disk".to_owned(),
                [first, second] => format!("{first} and {second}"),
                names if names.len() <= 3 => names.join(", "),
                names => format!("{} disks", names.len()),
            };
            let because = match cache {
                Cache::Protected => {
                    format!(
                        "the cache before {disks} is protected by a healthy battery or flash module"
                    )
                }
                Cache::None
                    if !guarantors.is_empty() && guarantors.iter().all(|one| one.is_cluster()) =>
                {
                    format!("a write to {disks} is acknowledged once it is stored")
                }
                Cache::None if several => {
                    format!("{disks} report no volatile caches")
                }
                Cache::None => format!("{disks} reports no volatile cache"),
                Cache::Volatile | Cache::Contradictory | Cache::Unknown if several => {
                    format!(
                        "flushes are passed down to {disks}, which must write out their volatile caches"
                    )
                }
                Cache::Volatile | Cache::Contradictory | Cache::Unknown => {
                    format!(
                        "flushes are passed down to {disks}, which must write out its volatile cache"
                    )
                }
            };
            let condition = if no_database {
                ", once the database has flushed it,"
            } else {
                ""
            };
            let are_alike = several && guarantors.len() == 1;
            let whose: Vec<&str> = guarantors
                .iter()
                .map(|guarantor| guarantor.phrase(are_alike))
                .collect();
            let word = match whose.as_slice() {
                [] => String::new(),
                all => format!(" on the word of {}", all.join(" and ")),
            };
            format!(
                "A commit acknowledged now{condition} survives a power failure{word}: {because}."
            )
        }
    }
}

/// What is invisible from the vantage point of walwise.
fn unseen(facts: &FactSet, seen_by: Option<Vantage>) -> Vec<Unseen> {
    let technology = facts.value(&Subject::host(), &host::VIRTUALISATION);
    let (in_container, in_guest, vantage) = match seen_by {
        Some(Vantage::Host) => (false, false, false),
        Some(Vantage::Guest) => (false, true, false),
        Some(Vantage::Container) => (true, false, false),
        None => (false, false, true),
    };
    let guest = in_guest || technology.as_deref().is_some_and(|name| name != "none");
    let all = [
        (in_container, Unseen::Host),
        (guest, Unseen::Hypervisor),
        (vantage, Unseen::Vantage),
    ];
    all.into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, unseen)| unseen)
        .collect()
}

/// The same in sentences, with what others' flushes hide, and the caps that are undecided.
fn limits(unseen: &[Unseen], of_others: Option<&str>, undecided: &[UndecidedCap]) -> String {
    let says = |unseen: &Unseen| match unseen {
        Unseen::Host => {
            "Seen from a container: the host's mounts below may differ from what is shown here."
        }
        Unseen::Hypervisor => {
            "Seen from a guest: whether its hypervisor honours flushes is not visible here, only in the hypervisor's cache \
             mode or by pulling the plug."
        }
        Unseen::Vantage => {
            "It is unknown whether this is a virtual machine; in one, it is not visible whether the hypervisor honours flushes."
        }
    };
    let open = undecided.iter().map(
        |UndecidedCap {
             rule,
             caps,
             question,
         }| {
            format!(
                "Rule {rule} is undecided and would make this {}: {question}",
                caps.word()
            )
        },
    );
    let known = unseen.iter().map(says).chain(of_others).map(str::to_owned);
    known.chain(open).collect::<Vec<_>>().join(" ")
}
