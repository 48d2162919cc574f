//! Puts what was concluded into the facts, where rules and screens find it: `device.cache` of every disk at a bottom, and
//! the verdict, cache, flush and interlock of every target. It concludes nothing itself.

use super::claim::{Leaf, Passage};
use super::join::Judgement;
use crate::facts::catalog::{device, target};
use crate::facts::{FactSet, Reading, Subject};

/// The facts that are concluded here, by name.
pub const CONCLUDED: [&str; 6] = [
    device::CACHE.name(),
    target::VERDICT.name(),
    target::CACHE.name(),
    target::FLUSH.name(),
    target::SUPPRESSED_BY.name(),
    target::INTERLOCK.name(),
];

/// Records what a disk's cache is.
pub fn put_disk(facts: &mut FactSet, disk: &Subject, leaf: &Leaf) {
    facts.know(disk, &device::CACHE, leaf.cache.word().to_owned(), leaf.asked.source());
}

/// Records what was concluded of a target.
pub fn put_target(facts: &mut FactSet, of: &Subject, found: &Judgement, interlock: Reading<bool>) {
    let source = found.asked.source();
    facts.know(of, &target::VERDICT, found.verdict.standing.word().to_owned(), source.clone());
    facts.know(of, &target::CACHE, found.cache.word().to_owned(), source.clone());
    facts.know(of, &target::FLUSH, word(found.flush).to_owned(), source.clone());
    let by = found.suppressed_by.iter().map(|&by| by.to_owned()).collect();
    facts.know(of, &target::SUPPRESSED_BY, by, source);
    facts.put(of, &target::INTERLOCK, interlock);
}

fn word(flush: Passage) -> &'static str {
    match flush {
        Passage::Dropped(_) => "suppressed",
        Passage::Unknown => "unknown",
        Passage::Sent => "sent",
        Passage::NotNeeded => "not needed",
    }
}
