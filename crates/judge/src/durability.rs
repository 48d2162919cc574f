//! The durability verdict: whether a transaction that was reported committed survives a power
//! failure.
//!
//! Evidence is combined along every path from the target to its disks; the worst path decides. A
//! measurement can only lower a verdict.
#![warn(clippy::wildcard_enum_match_arm)]

mod fact_reader {

    use std::collections::BTreeSet;

    use crate::facts::{
        FactSet, FactValue, Key, MissingFact, Remedy, Source, Subject, UnknownReason,
    };

    #[derive(Clone, Debug)]
    pub struct FactReader<'a> {
        pub facts: &'a FactSet,
        pub dependencies: FactDependencies,
    }

    #[derive(Clone, Debug, Default)]
    pub struct FactDependencies {
        pub used: BTreeSet<&'static str>,
        /// Assumed facts among those used, as text with their subject.
        pub assumed: BTreeSet<String>,
        pub missing: BTreeSet<MissingFact>,
    }

    impl FactDependencies {
        pub fn extend(&mut self, other: &Self) {
            self.used.extend(&other.used);
            self.assumed.extend(other.assumed.iter().cloned());
            self.missing.extend(other.missing.iter().cloned());
        }

        pub fn source(&self) -> Source {
            Source::Derived {
                of: self.used.iter().map(|&name| name.to_owned()).collect(),
                assumed: !self.assumed.is_empty(),
            }
        }
    }

    impl<'a> FactReader<'a> {
        pub fn new(facts: &'a FactSet) -> Self {
            Self {
                facts,
                dependencies: FactDependencies::default(),
            }
        }

        /// Returns a fact's value and records the fact as used. If the fact is unknown, nothing is
        /// recorded.
        pub fn get<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>) -> Option<T> {
            let reading = self.facts.reading(subject, key.id());
            let source = reading.source()?;
            self.dependencies.used.insert(key.name());
            if !source.is_evidence() {
                self.dependencies
                    .assumed
                    .insert(format!("{} of {subject}", key.name()));
            }
            reading.value().and_then(T::from_value)
        }

        /// Like `get`, but records an unknown fact as missing.
        pub fn require<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>) -> Option<T> {
            let value = self.get(subject, key);
            if value.is_none() {
                self.note_missing(subject, key, None);
            }
            value
        }

        /// Records a fact as missing if it is unknown; `remedy` applies only if the reading itself
        /// has no remedy.
        pub fn note_missing<T: FactValue>(
            &mut self,
            subject: &Subject,
            key: &Key<T>,
            remedy: Option<&str>,
        ) {
            let reading = self.facts.reading(subject, key.id());
            if let Some(mut need) = MissingFact::from_reading(subject, key.name(), reading) {
                need.remedy = need
                    .remedy
                    .or_else(|| remedy.map(|what| Remedy::Do(what.to_owned())));
                self.dependencies.missing.insert(need);
            }
        }

        /// Records as missing a fact that no reading on this host can supply; `remedy` gives the
        /// person or tool to ask.
        pub fn note_unobtainable<T>(
            &mut self,
            subject: &Subject,
            key: &Key<T>,
            detail: &str,
            remedy: String,
        ) {
            self.dependencies.missing.insert(MissingFact {
                subject: subject.clone(),
                fact: key.name().to_owned(),
                why: UnknownReason::Absent,
                detail: detail.to_owned(),
                remedy: Some(Remedy::Do(remedy)),
            });
        }

        /// The source of the fact's value, as text; empty if the fact is unknown.
        pub fn source_text<T>(&self, subject: &Subject, key: &Key<T>) -> String {
            self.facts
                .reading(subject, key.id())
                .source()
                .map(ToString::to_string)
                .unwrap_or_default()
        }
    }
}
mod database;
mod device_view;
mod flush_hop;
mod kernel_view;
mod page_atomicity;
mod raid_controller;
mod remedy;
mod route;
mod rule_cap;
mod verdict;
mod drill_record {
    //! Evidence from the power-cut drill: commits that this very stack lost when its power was cut,
    //! from a record that the user named.
    //!
    //! A loss always counts. A clean record only turns *unproven* into *proven by drill*, because a
    //! cache may have been empty by chance.

    use super::fact_reader::FactReader;
    use super::{Evidence, Layer, Path, Remedy, VerdictImpact, VerdictKind};
    use crate::facts::Subject;
    use crate::facts::catalog::drill;
    use crate::text::group_digits;

    pub struct DrillRecord {
        target: Subject,
        last_date: String,
        cuts: u64,
        acknowledged: u64,
        lost: u64,
        source: String,
    }

    /// The record about this target's stack; `None` without a record that counts at least one power
    /// cut and one commit.
    pub fn find_record(ask: &mut FactReader, target: &Subject) -> Option<DrillRecord> {
        // The record is read without `ask`: otherwise the verdict would list the drill as an
        // assumed fact.
        let facts = ask.facts;
        let cuts = facts.value(target, &drill::CUTS).filter(|cuts| *cuts > 0)?;
        ask.dependencies.used.insert(drill::CUTS.name());
        Some(DrillRecord {
            target: target.clone(),
            last_date: facts.value(target, &drill::ON)?,
            cuts,
            acknowledged: facts
                .value(target, &drill::ACKNOWLEDGED)
                .filter(|count| *count > 0)?,
            lost: facts.value(target, &drill::LOST)?,
            source: ask.source_text(target, &drill::CUTS),
        })
    }

    impl DrillRecord {
        pub fn evidence(&self) -> Evidence {
            let bears = match self.lost {
                0 => VerdictImpact::Durable,
                _ => VerdictImpact::AtRisk(Remedy::FindLostFlushes(self.target.clone())),
            };
            Evidence::new(
                Layer::Measurement,
                &self.target,
                bears,
                self.evidence_text(),
                self.source.clone(),
            )
        }

        /// Turns *unproven* paths into *proven by drill*. Does nothing if commits were lost, a path
        /// is worse than *unproven*, or a database or rule is the reason for *unproven*.
        pub fn promote_to_proven_by_drill(&self, paths: &mut [Path]) {
            let open = |path: &Path| {
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
            let share = self.detectable_share() * 100.0;
            format!(
                "Proven by drill on {}: {}. The facts alone do not prove durability (reasons below). A fault that shows in fewer than {share:.0} % of power cuts may have been missed.",
                self.last_date,
                self.counts_text()
            )
        }

        fn evidence_text(&self) -> String {
            format!("last drill on {}: {}", self.last_date, self.counts_text())
        }

        fn counts_text(&self) -> String {
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
        fn detectable_share(&self) -> f64 {
            1.0 - 0.05_f64.powf(1.0 / f64::from(u32::try_from(self.cuts).unwrap_or(u32::MAX)))
        }
    }
}
mod flush_path;
mod measurement;
mod redundancy;
mod verdict_builder;
mod fact_writer {
    use super::device_view::DiskAssessment;
    use super::page_atomicity::PageConclusion;
    use super::verdict_builder::TargetJudgement;
    use crate::facts::catalog::{device, target};
    use crate::facts::{FactSet, Reading, Subject, UnknownReason};

    pub fn write_disk_facts(facts: &mut FactSet, disk: &Subject, leaf: &DiskAssessment) {
        facts.insert_known(disk, &device::CACHE, leaf.cache, leaf.dependencies.source());
        let guarantor = match leaf.guarantor {
            Some(guarantor) => Reading::known(guarantor, leaf.dependencies.source()),
            None => Reading::unknown(
                UnknownReason::Absent,
                "no party is known to vouch for the cache, or this host can read the cache's state itself",
            ),
        };
        facts.insert(disk, &device::GUARANTOR, guarantor);
    }

    pub fn write_target_facts(
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
        if let Some((here, says)) = &found.remedy {
            let (key, other) = (&target::REMEDY, &target::NO_REMEDY);
            let (key, other) = if *here { (key, other) } else { (other, key) };
            facts.insert_known(of, key, says.clone(), source.clone());
            facts.insert(
                of,
                other,
                Reading::unknown(UnknownReason::Absent, format!("see {}", key.name())),
            );
        }
        facts.insert_known(of, &target::SUPPRESSED_BY, by, source);
        facts.insert(of, &target::COMMIT_OFF_FOR, found.commit_off_for.clone());
        facts.insert(of, &target::INTERLOCK, interlock);
    }

    pub fn write_page_facts(facts: &mut FactSet, of: &Subject, pages: PageConclusion) {
        facts.insert(of, &target::PAGE_WRITES, pages.writes);
        facts.insert(of, &target::PAGE_LINK, pages.link);
        facts.insert(of, &target::PAGE_LINKS, pages.links);
    }
}
mod flush_removal_interlock;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use flush_hop::{FlushHop, FlushState, HopKind};
pub use remedy::{Remedy, VerdictImpact};
pub use rule_cap::{VerdictCap, VerdictCaps};
pub use verdict::{Evidence, Layer, Path, UndecidedCap, Verdict, VerdictKind};

use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::note::StorageNote;
use crate::facts::{FactSet, Scope, Subject};
use crate::limits::ROUTES;
use crate::parallel;
use device_view::DiskAssessment;

/// Judges every directory target and inserts the conclusions as facts (`device.cache` and the
/// derived `target.*` facts).
///
/// `live` means that the facts come from this host; only then can measurements support advice to
/// remove flushes. `caps` are rules that lower a verdict.
pub fn judge_targets(facts: &mut FactSet, live: bool, caps: &VerdictCaps) -> Vec<Verdict> {
    let bottoms: BTreeSet<Subject> = {
        let disks = facts
            .subjects_of_scope(Scope::Device)
            .filter(|device| is_leaf_device(facts, device))
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
    let leaves = parallel::map(&bottoms, |disk| device_view::assess_disk(facts, disk));
    let disks: BTreeMap<Subject, DiskAssessment> = bottoms.into_iter().zip(leaves).collect();
    for (disk, leaf) in &disks {
        fact_writer::write_disk_facts(facts, disk, leaf);
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
    let judged = parallel::map(&targets, |of| {
        let found = verdict_builder::judge_target(facts, of, &disks, caps);
        let below: Vec<_> = facts
            .bottom_devices(of)
            .into_iter()
            .filter_map(|disk| disks.get_key_value(&disk))
            .collect();
        let interlock = flush_removal_interlock::evaluate_flush_removal_interlock(
            facts, of, &found, &below, live,
        );
        (found, interlock, conclude_page_writes(facts, of))
    });
    let mut verdicts = Vec::new();
    for (of, (found, interlock, pages)) in targets.iter().zip(judged) {
        fact_writer::write_target_facts(facts, of, &found, interlock);
        fact_writer::write_page_facts(facts, of, pages);
        if found.merged {
            facts.add_note(StorageNote::RoutesBeyondBound {
                target: of.clone(),
                most: ROUTES,
            });
        }
        verdicts.push(found.verdict);
    }
    verdicts
}

fn conclude_page_writes(facts: &FactSet, of: &Subject) -> page_atomicity::PageConclusion {
    if database::holds_tearable_pages(&mut fact_reader::FactReader::new(facts), of) {
        page_atomicity::page_conclusion(facts, of, &database::clusters_on_target(facts, of))
    } else {
        page_atomicity::PageConclusion::for_target_without_pages()
    }
}

fn is_leaf_device(facts: &FactSet, device: &Subject) -> bool {
    let may_be = |kind: DeviceKind| {
        matches!(
            kind,
            DeviceKind::Disk | DeviceKind::Zram | DeviceKind::Ram | DeviceKind::Zvol
        )
    };
    facts.directly_below(device).is_empty()
        && facts.value(device, &device::KIND).is_some_and(may_be)
}
