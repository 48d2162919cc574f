//! The measurement layer: flushes that reached the disks while the probe committed.
//!
//! A measurement only lowers a verdict, so a missing one is no evidence. Zero flushes count only if
//! the kernel counts flushes and a disk needs them. The kernel counts neither FUA writes nor
//! flushes of bio-based devices.

use std::collections::BTreeMap;

use super::EvidenceImpact::{self, AtRisk, Contradictory, Durable, Unproven};
use super::device_view::{DiskAssessment, FlushOutcome};
use super::fact_reader::FactReader;
use super::{Evidence, EvidenceLayer, VerdictRemedy};
use crate::facts::catalog::device::{self, CapacitorCondition, Medium};
use crate::facts::catalog::probe;
use crate::facts::{FactValue, Key, Subject};
use crate::ternary::Ternary;

/// Below this number of flushes per commit, none of the probe's flushes arrived: the few that were
/// counted may come from other processes.
const NO_FLUSH_COUNTED: f64 = 0.01;
/// The most flushes per commit and disk that the probe causes: one for an overwrite, and two
/// for a journal commit. Further flushes come from other processes.
const MAX_FLUSHES_PER_COMMIT: f64 = 3.0;
/// Duration of a flush, in µs, from which flash storage is assumed to write cached data out.
const CACHE_WRITE_MICROS: f64 = 400.0;

/// A note that more flushes arrived than the probe can have caused, so that their number is not
/// evidence; `None` otherwise.
pub fn note_of_flushes_by_others(
    target: FactReader,
    disks: &BTreeMap<&Subject, &DiskAssessment>,
) -> Option<String> {
    let counted = write_back_disks_with_flush_counter(target, disks).len();
    let arrived = target
        .read(&probe::FLUSHES_PER_COMMIT)
        .filter(|arrived| exceeds_probe_flushes(*arrived, counted))?;
    let text = format!(
        "Other programs flush these disks too ({arrived:.2} flushes per probe commit): the count does not show \
         whether the probe's flushes arrive."
    );
    (counted > 0).then_some(text)
}

#[expect(clippy::cast_precision_loss, reason = "a number of disks")]
fn exceeds_probe_flushes(arrived: f64, counted: usize) -> bool {
    arrived > MAX_FLUSHES_PER_COMMIT * counted as f64
}

fn write_back_disks_with_flush_counter<'l>(
    reader: FactReader,
    disks: &BTreeMap<&Subject, &'l DiskAssessment>,
) -> Vec<&'l DiskAssessment> {
    disks
        .iter()
        .filter(|(disk, leaf)| {
            leaf.write_back == Ternary::True
                && reader.for_subject(disk).read(&device::COUNTS_FLUSHES) == Some(true)
        })
        .map(|(_, leaf)| *leaf)
        .collect()
}

/// `flush` is the expected outcome of a flush on the path to the disks.
pub fn evidence_from_probe_flushes(
    target: FactReader,
    flush: FlushOutcome,
    disks: &BTreeMap<&Subject, &DiskAssessment>,
) -> Vec<Evidence> {
    let mut found = Vec::from_iter(slow_flush_evidence(target, disks));
    let counted = write_back_disks_with_flush_counter(target, disks);
    let may_reach_disks = matches!(flush, FlushOutcome::Sent | FlushOutcome::Unknown);
    let expected = may_reach_disks && !counted.is_empty();
    let ours = |arrived: &f64| expected && !exceeds_probe_flushes(*arrived, counted.len());
    if let Some(arrived) = target.read(&probe::FLUSHES_PER_COMMIT).filter(ours) {
        let (impact, text) = if arrived < NO_FLUSH_COUNTED {
            let remedy = VerdictRemedy::find_lost_flushes(target.name());
            let safe = counted.iter().all(|leaf| leaf.cache.is_safe_unflushed());
            (
                if safe {
                    Contradictory(remedy)
                } else {
                    AtRisk(remedy)
                },
                "none of the flushes sent reached the disks: a layer above the disks drops them"
                    .to_owned(),
            )
        } else if arrived < probe::TOO_FEW_FLUSHES {
            (
                Unproven,
                format!("only {arrived:.2} flushes per commit reached the disks"),
            )
        } else {
            (
                Durable,
                format!("{arrived:.2} flushes per commit reached the disks' drivers"),
            )
        };
        found.push(target.measurement_evidence(&probe::FLUSHES_PER_COMMIT, impact, text));
    }
    if target.read(&probe::IMPLAUSIBLE) == Some(true) {
        let text = target.read(&probe::IMPLAUSIBLE_BECAUSE).unwrap_or_else(|| {
            "flushes returned faster than a disk of this kind can complete them".to_owned()
        });
        found.push(target.measurement_evidence(&probe::IMPLAUSIBLE, Unproven, text));
    }
    found
}

/// Evidence of a slow flush at a drive that reports no volatile cache, or a healthy capacitor:
/// report and behaviour disagree. No commit is lost, because the flush is sent and executed.
fn slow_flush_evidence(
    target: FactReader,
    disks: &BTreeMap<&Subject, &DiskAssessment>,
) -> Option<Evidence> {
    let micros = target
        .read(&probe::FLUSH_COST)
        .filter(|micros| *micros >= CACHE_WRITE_MICROS)?;
    let idle = disks
        .iter()
        .filter(|(_, leaf)| leaf.flush_outcome.is_sent())
        .find_map(|(disk, _)| {
            let disk = target.for_subject(disk);
            let claim = if disk.read(&device::NVME_VOLATILE) == Some(false) {
                "has no volatile cache"
            } else if disk
                .read(&device::NVME_CAPACITOR)
                .is_some_and(CapacitorCondition::is_healthy)
            {
                "has a healthy capacitor"
            } else {
                return None;
            };
            let flash = disk.read(&device::MEDIUM).is_some_and(Medium::is_flash);
            flash.then(|| format!("{} reports that it {claim}", disk.name()))
        })?;
    let text = format!(
        "a flush takes {}, even though {idle}, so the flush still writes data",
        probe::FLUSH_COST.info.format_value(&micros.into_value())
    );
    Some(target.measurement_evidence(&probe::FLUSH_COST, Durable, text))
}

impl FactReader<'_> {
    fn measurement_evidence<T>(
        self,
        key: &Key<T>,
        impact: EvidenceImpact,
        text: String,
    ) -> Evidence {
        self.evidence(EvidenceLayer::Measurement, key, impact, text)
    }
}
