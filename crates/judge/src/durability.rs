//! The durability verdict: whether a transaction that was reported committed survives a power
//! failure.
//!
//! Evidence is combined along every path from the target to its disks; the worst path decides. A
//! measurement can only lower a verdict.
#![warn(clippy::wildcard_enum_match_arm)]

mod database;
mod device_view;
mod fact_reader;
mod flush_path;
mod flush_removal_interlock;
mod kernel_view;
mod measurement;
mod page_atomicity;
mod raid_controller;
mod redundancy;
mod remedy;
mod rule_cap;
#[cfg(test)]
mod tests;
mod verdict;
mod verdict_builder;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use device_view::DiskAssessment;
use fact_reader::FactReader;
use page_atomicity::PageAtomicityConclusion;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use verdict_builder::TargetJudgement;

use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::drill;
use crate::facts::catalog::target::{self, FlushDelivery, TargetKind};
use crate::facts::{Choice, FactSet, Reading, Scope, Subject, choice};
use crate::limits::{HOPS, ROUTES};
use crate::parallel;
use crate::text::group_digits;

pub use remedy::{EvidenceImpact, VerdictRemedy};
pub use rule_cap::{VerdictCap, VerdictCaps, evidence_source_of_rule};
pub use verdict::{Evidence, EvidenceLayer, PathVerdict, UndecidedCapRule, Verdict, VerdictKind};

/// Judges every directory target and inserts the conclusions as facts (`device.cache` and the
/// derived `target.*` facts).
///
/// `live` means that the facts come from this host; only then can measurements support advice to
/// remove flushes. `caps` are rules that lower a verdict.
pub fn judge_targets(facts: &mut FactSet, live: bool, caps: &VerdictCaps) -> Vec<Verdict> {
    let bottoms: BTreeSet<Subject> = {
        let disks = facts
            .subjects_of_scope(Scope::Device)
            .filter(|device| is_bottom_device(facts, device))
            .cloned();
        disks
            .chain(
                facts
                    .subjects_of_scope(Scope::Target)
                    .flat_map(|top| facts.bottom_devices(top)),
            )
            .collect()
    };
    let bottoms: Vec<Subject> = bottoms.into_iter().collect();
    let leaves = parallel::map_items(&bottoms, |disk| device_view::assess_disk(facts, disk));
    let disks: BTreeMap<Subject, DiskAssessment> = bottoms.into_iter().zip(leaves).collect();
    for (disk, leaf) in &disks {
        insert_disk_cache_facts(facts, disk, leaf);
    }

    let is_directory = |of: &&Subject| {
        !facts
            .value(of, &target::KIND)
            .is_some_and(TargetKind::is_device)
    };
    let targets: Vec<Subject> = facts
        .subjects_of_scope(Scope::Target)
        .filter(is_directory)
        .cloned()
        .collect();
    let judged = parallel::map_items(&targets, |of| {
        let found = verdict_builder::judge_target(facts, of, &disks, caps);
        let below: Vec<_> = facts
            .bottom_devices(of)
            .into_iter()
            .filter_map(|disk| disks.get_key_value(&disk))
            .collect();
        let interlock = flush_removal_interlock::evaluate_flush_removal_interlock(
            facts, of, &found, &below, live,
        );
        (found, interlock, page_atomicity_of_target(facts, of))
    });
    let mut verdicts = Vec::new();
    for (of, (found, interlock, pages)) in targets.iter().zip(judged) {
        insert_verdict_facts_of_target(facts, of, &found, interlock);
        insert_page_facts(facts, of, pages);
        if found.merged {
            facts.add_note_once(format!(
                "{of} has more than {ROUTES} paths to its disks; walwise evaluated the paths together and used the worst path in each layer"
            ));
        }
        verdicts.push(found.verdict);
    }
    verdicts
}

fn page_atomicity_of_target(facts: &FactSet, of: &Subject) -> PageAtomicityConclusion {
    let reader = FactReader {
        facts,
        subject: of,
        dependencies: &RefCell::default(),
    };
    if database::holds_tearable_pages(reader) {
        let clusters = database::clusters_on_target(facts, of);
        page_atomicity::worst_page_conclusion_of_servers(facts, of, &clusters)
    } else {
        PageAtomicityConclusion::not_applicable()
    }
}

fn is_bottom_device(facts: &FactSet, device: &Subject) -> bool {
    let may_be = |kind: DeviceKind| {
        matches!(
            kind,
            DeviceKind::Disk | DeviceKind::Zram | DeviceKind::Ram | DeviceKind::Zvol
        )
    };
    facts.layers_directly_below(device).is_empty()
        && facts.value(device, &device::KIND).is_some_and(may_be)
}

fn insert_disk_cache_facts(facts: &mut FactSet, disk: &Subject, leaf: &DiskAssessment) {
    facts.insert_known(disk, &device::CACHE, leaf.cache, leaf.dependencies.source());
    let guarantor = match leaf.guarantor {
        Some(guarantor) => Reading::known(guarantor, leaf.dependencies.source()),
        None => Reading::absent(
            "no known component guarantees acknowledged writes, or none is needed because this host can read the cache state",
        ),
    };
    facts.insert(disk, &device::GUARANTOR, guarantor);
}

fn insert_verdict_facts_of_target(
    facts: &mut FactSet,
    of: &Subject,
    found: &TargetJudgement,
    interlock: Reading<bool>,
) {
    let source = found.dependencies.source();
    facts.insert_known(of, &target::VERDICT, found.verdict.standing, source.clone());
    facts.insert_known(
        of,
        &target::REDUNDANCY,
        found.verdict.redundancy,
        source.clone(),
    );
    facts.insert_known(of, &target::CACHE, found.cache, source.clone());
    facts.insert_known(
        of,
        &target::FLUSH,
        found.flush.to_flush_delivery(),
        source.clone(),
    );
    let by = found.suppressed_by.iter().copied().collect();
    if let Some(VerdictRemedy { here, text }) = &found.remedy {
        let (key, other) = (&target::REMEDY, &target::NO_REMEDY);
        let (key, other) = if *here { (key, other) } else { (other, key) };
        facts.insert_known(of, key, text.clone(), source.clone());
        facts.insert(of, other, Reading::absent(format!("see {}", key.name())));
    }
    facts.insert_known(of, &target::SUPPRESSED_BY, by, source);
    facts.insert(of, &target::COMMIT_OFF_FOR, found.commit_off_for.clone());
    facts.insert(of, &target::FLUSH_REMOVAL_ALLOWED, interlock);
}

fn insert_page_facts(facts: &mut FactSet, of: &Subject, pages: PageAtomicityConclusion) {
    facts.insert(of, &target::PAGE_WRITES, pages.writes);
    facts.insert(of, &target::PAGE_LINK, pages.link);
    facts.insert(of, &target::PAGE_LINKS, pages.links);
}

choice! {
/// What happens to a commit's flush at one hop: at a server, file system, layer or disk.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlushState {
    /// Passed on to the hop below.
    Passed = "passed",
    /// Sent to the disk's driver; the disk has to write out its cache.
    FlushSent = "flush sent",
    /// Answered from a cache that a healthy battery or flash module protects.
    Answered = "answered",
    /// Nothing is cached here, so no flush is needed.
    NoCache = "no cache",
    /// Not judged: the commit itself, or a server that does not exist yet.
    NotJudged = "not judged",
    /// It is unknown whether the flush reaches the hop below.
    Unknown = "unknown",
    /// Not visible from where walwise runs.
    Unseen = "unseen",
    /// Two sources contradict each other.
    Disagrees = "DISAGREES",
    /// Dropped, although something below needs the flush.
    Dropped = "DROPPED" is_dropped,
    /// The commit is lost here: in memory or a volatile cache that no flush reaches, or by
    /// damage that a flush cannot prevent.
    LostHere = "LOST HERE",
}
}

impl FlushState {
    pub(crate) fn may_lose_commit(self) -> bool {
        matches!(self, Self::Disagrees | Self::LostHere)
    }

    pub fn needs_no_explanation(self) -> bool {
        matches!(
            self,
            Self::Passed | Self::FlushSent | Self::NoCache | Self::NotJudged
        )
    }
}

choice! {
/// The place in the storage stack that a hop stands for.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HopKind {
    /// The commit, where the path begins.
    Commit = "commit",
    /// A database server, or the place of a future one.
    Server = "server",
    FileSystem = "file system",
    /// A block device on top of other block devices.
    Layer = "layer",
    /// A disk at the bottom of the stack.
    Disk = "disk" is_disk,
    Members = "members",
    /// The hypervisor below a guest, or the host around a container.
    Beyond = "beyond",
}
}

/// A hop of a flush path, possibly merged from several similar ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FlushHop {
    /// The kind of place, such as a server, file system, layer or disk.
    pub kind: HopKind,
    /// The subjects that the hop stands for: subjects of equal rank, kind and state share one hop.
    /// Empty for the commit, a future server, and a hypervisor or outer host.
    pub subjects: Vec<Subject>,
    /// Short name: `commit`, `PostgreSQL`, `ext4`, `sda sdb`, `196 disks`.
    pub name: String,
    /// A description without the name: `/data · rw,noatime`.
    #[serde(rename = "text")]
    pub text: String,
    /// What happens to the flush at this hop.
    #[serde(rename = "flush")]
    pub state: FlushState,
    /// The deciding evidence, as a clause without a full stop; empty if there is none.
    pub because: String,
    /// The source of the deciding evidence; empty if that source could not be read.
    pub source: String,
    /// The worst verdict among the hop's evidence.
    pub standing: VerdictKind,
    /// Distance in hops from the commit (0) along the longest path.
    pub rank: u32,
    /// What has happened to the flush before it arrives here; *suppressed* means that none arrives.
    #[serde(serialize_with = "serialize_choice")]
    #[schemars(with = "String")]
    pub arrival: FlushDelivery,
}

fn serialize_choice<T: Choice, S: Serializer>(
    choice: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(choice.as_str())
}

// All paths from a target to its disks: through partitions, arrays, mappings, and the file system
// of a loop file.
//
// If a stack has too many paths, they are merged into one path. Each of its layers then counts for
// each of its disks.

#[derive(Clone, Debug, PartialEq, Eq)]
struct Route {
    pub hops: Vec<Subject>,
    /// The last hop of the path. A merged path has several: the last hops of the paths that were
    /// merged.
    pub ends: Vec<Subject>,
    /// The reason why the path does not end at a disk, such as a cycle; `None` for a complete path.
    pub broken: Option<String>,
}

/// The paths from the target to its disks, and whether they were merged into one.
fn find_routes(facts: &FactSet, target: &Subject) -> (Vec<Route>, bool) {
    let mut done: Vec<Route> = Vec::new();
    let mut open = vec![vec![target.clone()]];
    while let Some(hops) = open.pop() {
        if done.len() > ROUTES {
            return (vec![merged_route(facts, target, &done)], true);
        }
        let below = hops
            .last()
            .map_or(&[][..], |last| facts.layers_directly_below(last));
        if below.is_empty() {
            done.push(finished_route(hops, None));
        } else if hops.len() >= HOPS {
            done.push(finished_route(
                hops,
                Some(format!("more than {HOPS} layers are stacked")),
            ));
        } else {
            for base in below.iter().rev() {
                if hops.contains(base) {
                    done.push(finished_route(
                        hops.clone(),
                        Some(format!("{base} is stacked on itself")),
                    ));
                } else {
                    open.push(hops.iter().chain([base]).cloned().collect());
                }
            }
        }
    }
    (done, false)
}

fn finished_route(hops: Vec<Subject>, broken: Option<String>) -> Route {
    let ends = hops.last().cloned().into_iter().collect();
    Route { hops, ends, broken }
}

fn merged_route(facts: &FactSet, target: &Subject, seen: &[Route]) -> Route {
    let stack = facts.layers_below(target);
    let ends = stack
        .iter()
        .filter(|hop| facts.layers_directly_below(hop).is_empty())
        .cloned()
        .collect();
    let broken = seen.iter().find_map(|route| route.broken.clone());
    Route {
        hops: std::iter::once(target.clone()).chain(stack).collect(),
        ends,
        broken,
    }
}

// Evidence from the power-cut drill: commits that this stack lost when its power was cut, from
// a record that the user named.
//
// A loss always counts. A clean record only turns *unproven* into *proven by drill*, because a
// cache may have been empty by chance.

struct DrillRecord {
    last_date: String,
    cuts: u64,
    acknowledged: u64,
    lost: u64,
}

/// The record about this target's stack; `None` without a record that counts at least one power
/// cut and one commit.
fn find_drill_record(target: FactReader) -> Option<DrillRecord> {
    // The record is read without `target.read`: otherwise the verdict would list the drill as an
    // assumed fact.
    let FactReader { facts, subject, .. } = target;
    let cuts = facts
        .value(subject, &drill::CUTS)
        .filter(|cuts| *cuts > 0)?;
    target
        .dependencies
        .borrow_mut()
        .used
        .insert(drill::CUTS.name());
    Some(DrillRecord {
        last_date: facts.value(subject, &drill::ON)?,
        cuts,
        acknowledged: facts
            .value(subject, &drill::ACKNOWLEDGED)
            .filter(|count| *count > 0)?,
        lost: facts.value(subject, &drill::LOST)?,
    })
}

impl DrillRecord {
    pub fn drill_evidence(&self, target: FactReader) -> Evidence {
        let impact = match self.lost {
            0 => EvidenceImpact::Durable,
            _ => EvidenceImpact::AtRisk(VerdictRemedy::find_lost_flushes(target.name())),
        };
        let text = format!(
            "last drill on {}: {}",
            self.last_date,
            self.drill_counts_text()
        );
        target.evidence(EvidenceLayer::Measurement, &drill::CUTS, impact, text)
    }

    /// Does nothing if commits were lost, a path is worse than *unproven*, or a database or rule is
    /// the reason for *unproven*.
    pub fn promote_to_proven_by_drill(&self, paths: &mut [PathVerdict]) {
        let open = |path: &PathVerdict| {
            let stays = |one: &Evidence| {
                (one.layer.is_database() || one.layer.is_rule()) && one.standing.is_unproven()
            };
            path.standing < VerdictKind::Unproven || path.evidence.iter().any(stays)
        };
        if self.lost > 0 || paths.iter().any(open) {
            return;
        }
        for path in paths.iter_mut().filter(|path| path.standing.is_unproven()) {
            path.standing = VerdictKind::ProvenByDrill;
        }
    }

    pub fn proven_by_drill_sentence(&self) -> String {
        let share = self.detectable_loss_probability() * 100.0;
        format!(
            "Proven by drill on {}: {}. The facts alone do not prove durability (reasons below). A fault that appears in fewer than {share:.0} % of power cuts may have been missed.",
            self.last_date,
            self.drill_counts_text()
        )
    }

    fn drill_counts_text(&self) -> String {
        let Self {
            cuts,
            acknowledged,
            lost,
            ..
        } = self;
        let acknowledged = group_digits(*acknowledged);
        let lost = if *lost == 0 {
            "none".to_owned()
        } else {
            group_digits(*lost)
        };
        let cuts = if *cuts == 1 {
            "1 power cut".to_owned()
        } else {
            format!("{cuts} power cuts")
        };
        format!("{acknowledged} acknowledged commits on this stack, {lost} lost in {cuts}")
    }

    /// The smallest probability of loss per power cut that this number of cuts reveals with
    /// 95 % probability: 1 − 0.05^(1/cuts).
    fn detectable_loss_probability(&self) -> f64 {
        1.0 - 0.05_f64.powf(1.0 / f64::from(u32::try_from(self.cuts).unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod route_tests {
    use super::*;

    fn layer_device(layer: usize, index: usize) -> Subject {
        Subject::device(format!("d{layer}-{index}"))
    }

    #[test]
    fn find_routes_returns_both_diamond_paths() {
        let (t, a, b, c) = (
            Subject::target("/t"),
            Subject::device("a"),
            Subject::device("b"),
            Subject::device("c"),
        );
        let mut facts = FactSet::default();
        for (top, base) in [(&t, &a), (&t, &b), (&a, &c), (&b, &c)] {
            facts.add_layer_below(top, base);
        }
        let (found, merged) = find_routes(&facts, &t);
        assert!(!merged);
        let hops: Vec<_> = found.iter().map(|route| route.hops.clone()).collect();
        assert_eq!(hops, [vec![t.clone(), a, c.clone()], vec![t, b, c]]);
    }

    #[test]
    fn cycle_makes_route_broken() {
        let (t, a, b) = (
            Subject::target("/t"),
            Subject::device("a"),
            Subject::device("b"),
        );
        let mut facts = FactSet::default();
        for (top, base) in [(&t, &a), (&a, &b), (&b, &a)] {
            facts.add_layer_below(top, base);
        }
        let (found, _) = find_routes(&facts, &t);
        assert_eq!(found.len(), 1);
        assert!(found[0].broken.is_some());
    }

    #[test]
    fn too_many_routes_are_merged_with_all_hops() {
        let target = Subject::target("/t");
        let mut facts = FactSet::default();
        facts.add_layer_below(&target, &layer_device(0, 0));
        for layer in 0..12 {
            for (top, base) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                facts.add_layer_below(&layer_device(layer, top), &layer_device(layer + 1, base));
            }
        }
        let (found, merged) = find_routes(&facts, &target);
        assert!(merged);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].ends, [layer_device(12, 0), layer_device(12, 1)]);
        assert_eq!(found[0].hops.len(), 1 + facts.layers_below(&target).len());
    }

    #[test]
    fn very_deep_stack_yields_broken_routes() {
        let mut facts = FactSet::default();
        let target = Subject::target("/t");
        facts.add_layer_below(&target, &layer_device(0, 0));
        for layer in 0..100_000 {
            facts.add_layer_below(&layer_device(layer, 0), &layer_device(layer + 1, 0));
        }
        let (found, _) = find_routes(&facts, &target);
        assert!(found.iter().all(|route| route.broken.is_some()));
    }
}
