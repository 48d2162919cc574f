//! The durability verdict: a transaction was reported committed and the power fails; does it
//! survive?
//!
//! Evidence of four layers (database, belief, claim, measurement) is joined along every path from
//! the target to every disk, and the worst on any path wins. Facts go in, facts and a [`Verdict`]
//! come out; nothing is read here. Belief is usually a copy of claim, so their agreement is no
//! second proof. A measurement can only lower a verdict.
#![warn(clippy::wildcard_enum_match_arm)]

mod ask {
    //! Asks for facts on behalf of a judgement, and records which were used, which of those were
    //! assumed, and which were missing. The judgement itself is left to the layers.

    use std::collections::BTreeSet;

    use crate::facts::{FactSet, FactValue, Key, Need, Remedy, Source, Subject, Why};

    /// A questioner of facts that records its questions.
    #[derive(Clone, Debug)]
    pub struct Ask<'a> {
        /// The facts that are asked.
        pub facts: &'a FactSet,
        /// The record of the questions.
        pub asked: FactDependencies,
    }

    /// The facts that were asked for, and their answers.
    #[derive(Clone, Debug, Default)]
    pub struct FactDependencies {
        /// Names of the known facts.
        pub used: BTreeSet<&'static str>,
        /// The assumed ones among them, with their subject, for display.
        pub assumed: BTreeSet<String>,
        /// Facts that were needed and are unknown.
        pub missing: BTreeSet<Need>,
    }

    impl FactDependencies {
        /// Adds the record of another judgement.
        pub fn extend(&mut self, other: &Self) {
            self.used.extend(&other.used);
            self.assumed.extend(other.assumed.iter().cloned());
            self.missing.extend(other.missing.iter().cloned());
        }

        /// The source of a conclusion from these answers.
        pub fn source(&self) -> Source {
            Source::Derived {
                of: self.used.iter().map(|&name| name.to_owned()).collect(),
                assumed: !self.assumed.is_empty(),
            }
        }
    }

    impl<'a> Ask<'a> {
        /// A questioner without any questions yet.
        pub fn new(facts: &'a FactSet) -> Self {
            Self {
                facts,
                asked: FactDependencies::default(),
            }
        }

        /// The value of a fact where it is known; an unknown one is not recorded as missing.
        pub fn value<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>) -> Option<T> {
            let reading = self.facts.reading(subject, key.id());
            let source = reading.source()?;
            self.asked.used.insert(key.name());
            if !source.is_evidence() {
                self.asked
                    .assumed
                    .insert(format!("{} of {subject}", key.name()));
            }
            reading.value().and_then(T::from_value)
        }

        /// The value of a fact; an unknown one is recorded as missing.
        pub fn need<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>) -> Option<T> {
            let value = self.value(subject, key);
            if value.is_none() {
                self.miss(subject, key, None);
            }
            value
        }

        /// Records a fact as missing. The remedy is used when its reading names none.
        pub fn miss<T: FactValue>(
            &mut self,
            subject: &Subject,
            key: &Key<T>,
            remedy: Option<&str>,
        ) {
            let reading = self.facts.reading(subject, key.id());
            if let Some(mut need) = Need::from_reading(subject, key.name(), reading) {
                need.remedy = need
                    .remedy
                    .or_else(|| remedy.map(|what| Remedy::Do(what.to_owned())));
                self.asked.missing.insert(need);
            }
        }

        /// Records as missing what no reading on this machine supplies: why, and whom to ask.
        pub fn lack<T>(&mut self, subject: &Subject, key: &Key<T>, detail: &str, remedy: String) {
            self.asked.missing.insert(Need {
                subject: subject.clone(),
                fact: key.name().to_owned(),
                why: Why::Absent,
                detail: detail.to_owned(),
                remedy: Some(Remedy::Do(remedy)),
            });
        }

        /// Where a fact was read; empty when it is unknown.
        pub fn origin<T>(&self, subject: &Subject, key: &Key<T>) -> String {
            self.facts
                .reading(subject, key.id())
                .source()
                .map(ToString::to_string)
                .unwrap_or_default()
        }
    }
}
mod belief;
mod cap;
mod claim;
mod controller;
mod database;
mod hop;
mod mend;
mod page;
mod route;
mod verdict;
mod drilled {
    //! The drill layer: the losses recorded when the power of this very stack was cut, from a
    //! record that the user named.
    //!
    //! A recorded loss always counts. A record without one turns *unproven* into *proven by drill*,
    //! but only where everything about the database is known: the drill writes past the server. It
    //! overrides no other layer. Where a layer is *at risk*, or layers disagree, twenty clean cuts
    //! change nothing, because a cache may have been empty by chance.

    use super::ask::Ask;
    use super::{Bears, Evidence, Layer, Mend, Path, Standing};
    use crate::facts::Subject;
    use crate::facts::catalog::drill;
    use crate::text::grouped;

    /// The content of a record for a target.
    pub struct Drilled {
        target: Subject,
        on: String,
        cuts: u64,
        acknowledged: u64,
        lost: u64,
        source: String,
    }

    /// The content of a record for a target, if one was named and is about the stack below the
    /// target.
    pub fn ask(ask: &mut Ask, target: &Subject) -> Option<Drilled> {
        // Read without the questioner: the verdict names the drill itself, and counts as observed
        // nevertheless.
        let facts = ask.facts;
        let cuts = facts.value(target, &drill::CUTS).filter(|cuts| *cuts > 0)?;
        ask.asked.used.insert(drill::CUTS.name());
        Some(Drilled {
            target: target.clone(),
            on: facts.value(target, &drill::ON)?,
            cuts,
            acknowledged: facts
                .value(target, &drill::ACKNOWLEDGED)
                .filter(|count| *count > 0)?,
            lost: facts.value(target, &drill::LOST)?,
            source: ask.origin(target, &drill::CUTS),
        })
    }

    impl Drilled {
        /// The record as a piece of evidence.
        pub fn evidence(&self) -> Evidence {
            let bears = match self.lost {
                0 => Bears::Durable,
                _ => Bears::AtRisk(Mend::LostBelow(self.target.clone())),
            };
            Evidence::new(
                Layer::Measurement,
                &self.target,
                bears,
                self.says(),
                self.source.clone(),
            )
        }

        /// Raises *unproven* to *proven by drill*, unless the database's part of any path is
        /// unproven, or a rule caps it.
        pub fn settle(&self, paths: &mut [Path]) {
            let open = |path: &Path| {
                let stays = |one: &Evidence| {
                    (one.layer.is_database() || one.layer.is_rule()) && one.standing.is_unproven()
                };
                path.standing < Standing::Unproven || path.evidence.iter().any(stays)
            };
            if self.lost > 0 || paths.iter().any(open) {
                return;
            }
            for path in paths.iter_mut().filter(|path| path.standing.is_unproven()) {
                path.standing = Standing::ProvenByDrill;
            }
        }

        /// The verdict as a sentence.
        pub fn sentence(&self) -> String {
            let share = self.least_share_found() * 100.0;
            format!(
                "Proven by drill on {}: {}. The facts alone do not show it, for the reasons below; and a cause that strikes in \
             less than {share:.0} % of power cuts may have been missed.",
                self.on,
                self.counts()
            )
        }

        fn says(&self) -> String {
            format!("a drill, the last on {}: {}", self.on, self.counts())
        }

        fn counts(&self) -> String {
            let Self {
                cuts,
                acknowledged,
                lost,
                ..
            } = self;
            let acknowledged = grouped(*acknowledged);
            let lost = if *lost == 0 {
                "none".to_owned()
            } else {
                grouped(*lost)
            };
            let cuts = if *cuts == 1 {
                "1 power cut".to_owned()
            } else {
                format!("{cuts} power cuts")
            };
            format!("of {acknowledged} acknowledged commits {lost} lost in {cuts} of this stack")
        }

        /// The smallest share of cuts with a loss that would have shown with 95 % probability: 1 −
        /// 0.05^(1/cuts).
        fn least_share_found(&self) -> f64 {
            1.0 - 0.05_f64.powf(1.0 / f64::from(u32::try_from(self.cuts).unwrap_or(u32::MAX)))
        }
    }
}
mod flush_path;
mod join;
mod measured;
mod redundancy;
mod facts {
    //! Puts the conclusions into the facts, where rules and screens find them: `device.cache` of
    //! every disk at a bottom, and the verdict, cache, flush, interlock and pages of every target.
    //! The conclusions themselves are made in [`super::join`], [`super::interlock`] and
    //! [`super::page`].

    use super::claim::Leaf;
    use super::join::Judgement;
    use super::page::PageConclusion;
    use crate::facts::catalog::{device, target};
    use crate::facts::{FactSet, Reading, Subject, Why};

    /// Records the kind of a disk's cache.
    pub fn put_disk(facts: &mut FactSet, disk: &Subject, leaf: &Leaf) {
        facts.know(disk, &device::CACHE, leaf.cache, leaf.asked.source());
        let guarantor = match leaf.guarantor {
            Some(guarantor) => Reading::known(guarantor, leaf.asked.source()),
            None => Reading::unknown(
                Why::Absent,
                "nobody vouches for it, or this host shows what it holds",
            ),
        };
        facts.put(disk, &device::GUARANTOR, guarantor);
    }

    /// Records the conclusions about a target.
    pub fn put_target(
        facts: &mut FactSet,
        of: &Subject,
        found: &Judgement,
        interlock: Reading<bool>,
    ) {
        let source = found.asked.source();
        facts.know(of, &target::VERDICT, found.verdict.standing, source.clone());
        facts.know(
            of,
            &target::REDUNDANCY,
            found.verdict.redundancy,
            source.clone(),
        );
        facts.know(of, &target::CACHE, found.cache, source.clone());
        facts.know(of, &target::FLUSH, found.flush.flush(), source.clone());
        let by = found.suppressed_by.iter().copied().collect();
        if let Some((here, says)) = &found.remedy {
            let (key, other) = (&target::REMEDY, &target::NO_REMEDY);
            let (key, other) = if *here { (key, other) } else { (other, key) };
            facts.know(of, key, says.clone(), source.clone());
            facts.put(
                of,
                other,
                Reading::unknown(Why::Absent, format!("{} says what there is", key.name())),
            );
        }
        facts.know(of, &target::SUPPRESSED_BY, by, source);
        facts.put(of, &target::COMMIT_OFF_FOR, found.commit_off_for.clone());
        facts.put(of, &target::INTERLOCK, interlock);
    }

    /// Records the conclusions about the pages on a target.
    pub fn put_pages(facts: &mut FactSet, of: &Subject, pages: PageConclusion) {
        facts.put(of, &target::PAGE_WRITES, pages.writes);
        facts.put(of, &target::PAGE_LINK, pages.link);
        facts.put(of, &target::PAGE_LINKS, pages.links);
    }
}
mod interlock;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use cap::{Cap, Caps};
pub use hop::{Fate, FlushHop, HopKind};
pub use mend::{Bears, Mend};
pub use verdict::{Evidence, Layer, Path, Standing, UndecidedCap, Verdict};

use crate::bounds::ROUTES;
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::note::StorageNote;
use crate::facts::{FactSet, Scope, Subject};
use crate::workers;
use claim::Leaf;

/// Judges every target that is a directory and puts the conclusions into the facts: `device.cache`
/// of every disk at a bottom, and `target.verdict`, `.redundancy`, `.cache`, `.flush`,
/// `.flush_suppressed_by`, `.commit_off_for`, `.page_writes` with its links, and
/// `.flush_removal_allowed`. `live` is whether the facts are of this machine; measurements of
/// another one open no interlock. `caps` are the rules that lower a verdict.
pub fn judge(facts: &mut FactSet, live: bool, caps: &Caps) -> Vec<Verdict> {
    let bottoms: BTreeSet<Subject> = {
        let disks = facts
            .subjects(Scope::Device)
            .filter(|device| is_bottom(facts, device))
            .cloned();
        disks
            .chain(
                facts
                    .subjects(Scope::Target)
                    .flat_map(|top| facts.leaves(top)),
            )
            .collect()
    };
    let bottoms: Vec<Subject> = bottoms.into_iter().collect();
    let leaves = workers::each(&bottoms, |disk| claim::leaf(facts, disk));
    let disks: BTreeMap<Subject, Leaf> = bottoms.into_iter().zip(leaves).collect();
    for (disk, leaf) in &disks {
        facts::put_disk(facts, disk, leaf);
    }

    let is_directory = |of: &&Subject| {
        !facts
            .value(of, &target::KIND)
            .is_some_and(TargetKind::is_device)
    };
    let targets: Vec<Subject> = facts
        .subjects(Scope::Target)
        .filter(is_directory)
        .cloned()
        .collect();
    let judged = workers::each(&targets, |of| {
        let found = join::judge(facts, of, &disks, caps);
        let below: Vec<_> = facts
            .leaves(of)
            .into_iter()
            .filter_map(|disk| disks.get_key_value(&disk))
            .collect();
        let interlock = interlock::judge(facts, of, &found, &below, live);
        (found, interlock, pages(facts, of))
    });
    let mut verdicts = Vec::new();
    for (of, (found, interlock, pages)) in targets.iter().zip(judged) {
        facts::put_target(facts, of, &found, interlock);
        facts::put_pages(facts, of, pages);
        if found.merged {
            facts.warn(StorageNote::RoutesBeyondBound {
                target: of.clone(),
                most: ROUTES,
            });
        }
        verdicts.push(found.verdict);
    }
    verdicts
}

/// The conclusions about the pages that servers keep on a target.
fn pages(facts: &FactSet, of: &Subject) -> page::PageConclusion {
    if database::may_tear(&mut ask::Ask::new(facts), of) {
        page::conclude(facts, of, &database::clusters(facts, of))
    } else {
        page::PageConclusion::elsewhere()
    }
}

/// Whether a device is a disk at the bottom of its stack.
fn is_bottom(facts: &FactSet, device: &Subject) -> bool {
    let may_be = |kind: DeviceKind| {
        matches!(
            kind,
            DeviceKind::Disk | DeviceKind::Zram | DeviceKind::Ram | DeviceKind::Zvol
        )
    };
    facts.below(device).is_empty() && facts.value(device, &device::KIND).is_some_and(may_be)
}
