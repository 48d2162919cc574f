//! The measurement layer: what happened when we flushed. It can lower a verdict and never raises one, so silence is no
//! evidence at all.
//!
//! It reads what the probe left in the facts. The surprise: no flush counted is only telling where the kernel counts
//! flushes and a disk is believed to need them; writes with forced unit access and bio-based devices count none.

use std::collections::BTreeMap;

use super::ask::Ask;
use super::claim::{Leaf, Passage};
use super::{Bears, Evidence, Layer, Mend};
use crate::facts::catalog::{device, probe};
use crate::facts::{Key, Subject};
use crate::truth::Truth;

/// Below this many flushes per commit none arrived; a few may be another process's.
const NONE_ARRIVED: f64 = 0.01;
/// Above this many flushes per commit and disk others make some: our overwrites take one each, and where the file system
/// writes its journal with it two more, before and after its commit block.
const OF_ONE_COMMIT: f64 = 3.0;

/// Where more flushes were counted than our commits can make, so that the count says nothing of ours; in a sentence.
pub fn of_others(ask: &mut Ask, target: &Subject, disks: &BTreeMap<&Subject, &Leaf>) -> Option<String> {
    let counted = counted(ask, disks.iter().map(|(disk, leaf)| (*disk, *leaf))).len();
    let arrived =
        ask.value(target, &probe::FLUSHES_PER_COMMIT).filter(|arrived| is_of_others(*arrived, counted))?;
    let says = format!(
        "Other programs flush these disks too ({arrived:.2} flushes for each of our commits): the count does not show \
         whether ours arrive."
    );
    (counted > 0).then_some(says)
}

#[expect(clippy::cast_precision_loss, reason = "a number of disks")]
fn is_of_others(arrived: f64, counted: usize) -> bool {
    arrived > OF_ONE_COMMIT * counted as f64
}

/// The disks that need flushes and count them.
fn counted<'l>(ask: &mut Ask, leaves: impl Iterator<Item = (&'l Subject, &'l Leaf)>) -> Vec<&'l Leaf> {
    leaves
        .filter(|(disk, leaf)| {
            leaf.write_back == Truth::True && ask.value(disk, &device::COUNTS_FLUSHES) == Some(true)
        })
        .map(|(_, leaf)| leaf)
        .collect()
}

/// What the probe's findings allow for a target on these disks, given what should have become of its flushes.
pub fn judge<'l>(
    ask: &mut Ask,
    target: &Subject,
    flush: Passage,
    leaves: impl Iterator<Item = (&'l Subject, &'l Leaf)>,
) -> Vec<Evidence> {
    let mut found = Vec::new();
    let counted = counted(ask, leaves);
    let expected = is_expected(flush) && !counted.is_empty();
    let ours = |arrived: &f64| expected && !is_of_others(*arrived, counted.len());
    if let Some(arrived) = ask.value(target, &probe::FLUSHES_PER_COMMIT).filter(ours) {
        let safe = counted.iter().all(|leaf| leaf.cache.is_safe_unflushed());
        let (bears, says) = if arrived < NONE_ARRIVED {
            let bears = {
                let mend = Mend::LostBelow(target.clone());
                if safe { Bears::Contradictory(mend) } else { Bears::AtRisk(mend) }
            };
            (bears, "of the flushes we sent none arrived at the disks: something drops them".to_owned())
        } else if arrived < probe::TOO_FEW_FLUSHES {
            (Bears::Unproven, format!("only {arrived:.2} flushes per commit arrived at the disks"))
        } else {
            (Bears::Durable, format!("{arrived:.2} flushes per commit arrived at the disks' drivers"))
        };
        found.push(evidence(ask, target, &probe::FLUSHES_PER_COMMIT, bears, says));
    }
    if ask.value(target, &probe::IMPLAUSIBLE) == Some(true) {
        let because = ask.value(target, &probe::IMPLAUSIBLE_BECAUSE);
        let says =
            because.unwrap_or_else(|| "flushes came back faster than such a disk can do them".to_owned());
        found.push(evidence(ask, target, &probe::IMPLAUSIBLE, Bears::Unproven, says));
    }
    found
}

/// Whether flushes should arrive at the disks, or may.
fn is_expected(flush: Passage) -> bool {
    match flush {
        Passage::Sent | Passage::Unknown => true,
        Passage::Dropped(_) | Passage::NotNeeded => false,
    }
}

fn evidence<T>(ask: &Ask, target: &Subject, from: &Key<T>, bears: Bears, says: String) -> Evidence {
    let source = ask.origin(target, from);
    Evidence::new(Layer::Measurement, target, bears, says, source)
}
