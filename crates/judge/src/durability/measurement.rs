//! The measurement layer: flushes that reached the disks while the probe committed. It only lowers
//! a verdict, so a missing measurement is no evidence. Zero flushes are evidence only if the kernel
//! counts them and a disk needs them; FUA writes and bio-based devices count none.

use std::collections::BTreeMap;

use super::device_view::{DiskAssessment, FlushOutcome};
use super::fact_reader::FactReader;
use super::{Evidence, Impact, Layer, Remedy};
use crate::facts::catalog::device::{self, Capacitor, Medium};
use crate::facts::catalog::probe;
use crate::facts::{FactValue, Key, Subject};
use crate::ternary::Ternary;

/// With fewer flushes per commit than this none of the probe's arrived; a few may come from other
/// processes.
const NO_FLUSH_ARRIVED: f64 = 0.01;
/// More flushes per commit and disk than this include those of other processes: one per overwrite,
/// and two for a journal commit (before and after the commit block).
const MAX_FLUSHES_PER_COMMIT: f64 = 3.0;
/// A flush to flash that takes this long, in µs, writes something out. Rules about slow flushes use
/// the same value.
const CACHE_WRITE_MICROS: f64 = 400.0;

/// A note on more flushes than the probe can have caused: the count is then no evidence.
pub fn foreign_flushes_note(
    ask: &mut FactReader,
    target: &Subject,
    disks: &BTreeMap<&Subject, &DiskAssessment>,
) -> Option<String> {
    let counted = counting_disks(ask, disks.iter().map(|(disk, leaf)| (*disk, *leaf))).len();
    let arrived = ask
        .get(target, &probe::FLUSHES_PER_COMMIT)
        .filter(|arrived| has_foreign_flushes(*arrived, counted))?;
    let says = format!(
        "Other programs flush these disks too ({arrived:.2} flushes per probe commit): the count does not show \
         whether those of the probe arrive."
    );
    (counted > 0).then_some(says)
}

#[expect(clippy::cast_precision_loss, reason = "a number of disks")]
fn has_foreign_flushes(arrived: f64, counted: usize) -> bool {
    arrived > MAX_FLUSHES_PER_COMMIT * counted as f64
}

/// The disks that need flushes and count them.
fn counting_disks<'l>(
    ask: &mut FactReader,
    leaves: impl Iterator<Item = (&'l Subject, &'l DiskAssessment)>,
) -> Vec<&'l DiskAssessment> {
    leaves
        .filter(|(disk, leaf)| {
            leaf.write_back == Ternary::True && ask.get(disk, &device::COUNTS_FLUSHES) == Some(true)
        })
        .map(|(_, leaf)| leaf)
        .collect()
}

/// The evidence of the probe for a target, given the expected state of its flushes.
pub fn measurement_evidence<'l>(
    ask: &mut FactReader,
    target: &Subject,
    flush: FlushOutcome,
    leaves: impl Iterator<Item = (&'l Subject, &'l DiskAssessment)> + Clone,
) -> Vec<Evidence> {
    let mut found: Vec<Evidence> = flush_cost_evidence(ask, target, leaves.clone())
        .into_iter()
        .collect();
    let counted = counting_disks(ask, leaves);
    let expected = may_reach_disks(flush) && !counted.is_empty();
    let ours = |arrived: &f64| expected && !has_foreign_flushes(*arrived, counted.len());
    if let Some(arrived) = ask.get(target, &probe::FLUSHES_PER_COMMIT).filter(ours) {
        let safe = counted.iter().all(|leaf| leaf.cache.is_safe_unflushed());
        let (bears, says) = if arrived < NO_FLUSH_ARRIVED {
            let bears = {
                let mend = Remedy::FindLostFlushes(target.clone());
                if safe {
                    Impact::Contradictory(mend)
                } else {
                    Impact::AtRisk(mend)
                }
            };
            (
                bears,
                "none of the flushes sent reached the disks: something drops them".to_owned(),
            )
        } else if arrived < probe::TOO_FEW_FLUSHES {
            (
                Impact::Unproven,
                format!("only {arrived:.2} flushes per commit reached the disks"),
            )
        } else {
            (
                Impact::Durable,
                format!("{arrived:.2} flushes per commit reached the disks' drivers"),
            )
        };
        found.push(measured_evidence(
            ask,
            target,
            &probe::FLUSHES_PER_COMMIT,
            bears,
            says,
        ));
    }
    if ask.get(target, &probe::IMPLAUSIBLE) == Some(true) {
        let because = ask.get(target, &probe::IMPLAUSIBLE_BECAUSE);
        let says = because.unwrap_or_else(|| {
            "flushes returned faster than such a disk can complete them".to_owned()
        });
        found.push(measured_evidence(
            ask,
            target,
            &probe::IMPLAUSIBLE,
            Impact::Unproven,
            says,
        ));
    }
    found
}

/// A slow flush at a drive that should have nothing to write out: claim and behaviour disagree. No
/// commit is lost by it, since the flush is sent and executed.
fn flush_cost_evidence<'l>(
    ask: &mut FactReader,
    target: &Subject,
    leaves: impl Iterator<Item = (&'l Subject, &'l DiskAssessment)>,
) -> Option<Evidence> {
    let micros = ask
        .get(target, &probe::FLUSH_COST)
        .filter(|micros| *micros >= CACHE_WRITE_MICROS)?;
    let idle = leaves
        .filter(|(_, leaf)| leaf.flush_outcome.is_sent())
        .find_map(|(disk, _)| {
            let claim = if ask.get(disk, &device::NVME_VOLATILE) == Some(false) {
                "has no volatile cache"
            } else if ask
                .get(disk, &device::NVME_CAPACITOR)
                .is_some_and(Capacitor::is_healthy)
            {
                "has a healthy capacitor"
            } else {
                return None;
            };
            let flash = ask.get(disk, &device::MEDIUM).is_some_and(Medium::is_flash);
            flash.then(|| format!("{} reports that it {claim}", disk.name()))
        })?;
    let says = format!(
        "a flush takes {}, although {idle}: it writes something out nevertheless",
        probe::FLUSH_COST.info.format_value(&micros.into_value())
    );
    Some(measured_evidence(
        ask,
        target,
        &probe::FLUSH_COST,
        Impact::Durable,
        says,
    ))
}

fn may_reach_disks(flush: FlushOutcome) -> bool {
    matches!(flush, FlushOutcome::Sent | FlushOutcome::Unknown)
}

fn measured_evidence<T>(
    ask: &FactReader,
    target: &Subject,
    from: &Key<T>,
    bears: Impact,
    says: String,
) -> Evidence {
    let source = ask.source_text(target, from);
    Evidence::new(Layer::Measurement, target, bears, says, source)
}
