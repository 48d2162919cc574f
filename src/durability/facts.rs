//! Puts the conclusions into the facts, where rules and screens find them: `device.cache` of every disk at a bottom,
//! and the verdict, cache, flush, interlock and pages of every target. The conclusions themselves are made in
//! [`super::join`], [`super::interlock`] and [`super::page`].

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
        None => Reading::unknown(Why::Absent, "nobody vouches for it, or this host shows what it holds"),
    };
    facts.put(disk, &device::GUARANTOR, guarantor);
}

/// Records the conclusions about a target.
pub fn put_target(facts: &mut FactSet, of: &Subject, found: &Judgement, interlock: Reading<bool>) {
    let source = found.asked.source();
    facts.know(of, &target::VERDICT, found.verdict.standing, source.clone());
    facts.know(of, &target::REDUNDANCY, found.verdict.redundancy, source.clone());
    facts.know(of, &target::CACHE, found.cache, source.clone());
    facts.know(of, &target::FLUSH, found.flush.flush(), source.clone());
    let by = found.suppressed_by.iter().copied().collect();
    if let Some((here, says)) = &found.remedy {
        let (key, other) = (&target::REMEDY, &target::NO_REMEDY);
        let (key, other) = if *here { (key, other) } else { (other, key) };
        facts.know(of, key, says.clone(), source.clone());
        facts.put(of, other, Reading::unknown(Why::Absent, format!("{} says what there is", key.name())));
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
