//! The measurement layer: the flushes that arrived while we committed. It can lower a verdict and
//! never raises one, so a missing measurement is no evidence.
//!
//! It reads the facts that the probe recorded. A count of zero is evidence only where the kernel
//! counts flushes and a disk is believed to need them; writes with forced unit access and bio-based
//! devices count none.

use std::collections::BTreeMap;

use super::ask::Ask;
use super::claim::{Leaf, Passage};
use super::{Bears, Evidence, Layer, Mend};
use crate::facts::catalog::device::{self, Capacitor, Medium};
use crate::facts::catalog::probe;
use crate::facts::{FactValue, Key, Subject};
use crate::truth::Truth;

/// Below this number of flushes per commit none of ours arrived; a few may be another process's.
const NONE_ARRIVED: f64 = 0.01;
/// Above this number of flushes per commit and disk, other processes contribute. Each of our
/// overwrites takes one; if the file system commits its journal with it, two more, before and after
/// the commit block.
const OF_ONE_COMMIT: f64 = 3.0;
/// From this price on, in microseconds, a flush to flash writes something out. Rules about slow
/// flushes have the same number.
const WRITTEN_OUT: f64 = 400.0;

/// The sentence for more flushes than our commits can cause, when the count is no evidence about
/// ours.
pub fn of_others(
    ask: &mut Ask,
    target: &Subject,
    disks: &BTreeMap<&Subject, &Leaf>,
) -> Option<String> {
    let counted = counted(ask, disks.iter().map(|(disk, leaf)| (*disk, *leaf))).len();
    let arrived = ask
        .value(target, &probe::FLUSHES_PER_COMMIT)
        .filter(|arrived| is_of_others(*arrived, counted))?;
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
fn counted<'l>(
    ask: &mut Ask,
    leaves: impl Iterator<Item = (&'l Subject, &'l Leaf)>,
) -> Vec<&'l Leaf> {
    leaves
        .filter(|(disk, leaf)| {
            leaf.write_back == Truth::True && ask.value(disk, &device::COUNTS_FLUSHES) == Some(true)
        })
        .map(|(_, leaf)| leaf)
        .collect()
}

/// The evidence in the probe's findings for a target on these disks, given the expected fate of its
/// flushes.
pub fn judge<'l>(
    ask: &mut Ask,
    target: &Subject,
    flush: Passage,
    leaves: impl Iterator<Item = (&'l Subject, &'l Leaf)> + Clone,
) -> Vec<Evidence> {
    let mut found: Vec<Evidence> = price(ask, target, leaves.clone()).into_iter().collect();
    let counted = counted(ask, leaves);
    let expected = is_expected(flush) && !counted.is_empty();
    let ours = |arrived: &f64| expected && !is_of_others(*arrived, counted.len());
    if let Some(arrived) = ask.value(target, &probe::FLUSHES_PER_COMMIT).filter(ours) {
        let safe = counted.iter().all(|leaf| leaf.cache.is_safe_unflushed());
        let (bears, says) = if arrived < NONE_ARRIVED {
            let bears = {
                let mend = Mend::LostBelow(target.clone());
                if safe {
                    Bears::Contradictory(mend)
                } else {
                    Bears::AtRisk(mend)
                }
            };
            (
                bears,
                "none of the flushes sent reached the disks: something drops them".to_owned(),
            )
        } else if arrived < probe::TOO_FEW_FLUSHES {
            (
                Bears::Unproven,
                format!("only {arrived:.2} flushes per commit reached the disks"),
            )
        } else {
            (
                Bears::Durable,
                format!("{arrived:.2} flushes per commit reached the disks' drivers"),
            )
        };
        found.push(evidence(
            ask,
            target,
            &probe::FLUSHES_PER_COMMIT,
            bears,
            says,
        ));
    }
    if ask.value(target, &probe::IMPLAUSIBLE) == Some(true) {
        let because = ask.value(target, &probe::IMPLAUSIBLE_BECAUSE);
        let says = because.unwrap_or_else(|| {
            "flushes returned faster than such a disk can complete them".to_owned()
        });
        found.push(evidence(
            ask,
            target,
            &probe::IMPLAUSIBLE,
            Bears::Unproven,
            says,
        ));
    }
    found
}

/// What a flush costs at a drive that should have nothing to write out: its word and its work
/// disagree. Such a flush is sent and takes its time, so no commit is lost by it.
fn price<'l>(
    ask: &mut Ask,
    target: &Subject,
    leaves: impl Iterator<Item = (&'l Subject, &'l Leaf)>,
) -> Option<Evidence> {
    let micros = ask
        .value(target, &probe::FLUSH_COST)
        .filter(|micros| *micros >= WRITTEN_OUT)?;
    let idle = leaves
        .filter(|(_, leaf)| leaf.passage.is_sent())
        .find_map(|(disk, _)| {
            let claim = if ask.value(disk, &device::NVME_VOLATILE) == Some(false) {
                "has no volatile cache"
            } else if ask
                .value(disk, &device::NVME_CAPACITOR)
                .is_some_and(Capacitor::is_healthy)
            {
                "has a healthy capacitor"
            } else {
                return None;
            };
            let flash = ask
                .value(disk, &device::MEDIUM)
                .is_some_and(Medium::is_flash);
            flash.then(|| format!("{} says that it {claim}", disk.name()))
        })?;
    let says = format!(
        "a flush takes {}, although {idle}: it writes something out, whatever it says",
        probe::FLUSH_COST.info.show(&micros.into_value())
    );
    Some(evidence(
        ask,
        target,
        &probe::FLUSH_COST,
        Bears::Durable,
        says,
    ))
}

/// Whether flushes should or may arrive at the disks.
fn is_expected(flush: Passage) -> bool {
    matches!(flush, Passage::Sent | Passage::Unknown)
}

fn evidence<T>(ask: &Ask, target: &Subject, from: &Key<T>, bears: Bears, says: String) -> Evidence {
    let source = ask.origin(target, from);
    Evidence::new(Layer::Measurement, target, bears, says, source)
}
