//! Reports that count against a disk with any kind of cache: failed power-loss capacitors, and
//! cloud disks that are deleted with the instance.
//!
//! A drive with protected memory may acknowledge flushes without executing them, so flushing does
//! not help once the protection fails.

use super::nvme;
use crate::durability::EvidenceImpact::{AtRisk, Unproven};
use crate::durability::fact_reader::FactReader;
use crate::durability::{Evidence, EvidenceLayer, VerdictRemedy};
use crate::facts::catalog::device::{self, NvmeWarning, Transport};
use crate::facts::{Choice, MissingFact, Reading, UnknownReason};

/// Facts that can only lower a verdict, each with the words before and after the disk's name in a
/// message.
///
/// If such a fact is *absent*, the disk's own report decides: nvme-cli may be missing, and most
/// drives lack the log page about the capacitor. A fact that could not be read means *unproven*.
const LOWERING_FACTS: [(&str, &str, &str); 3] = [
    (device::EPHEMERAL.info.name, "whether", "is ephemeral"),
    (device::NVME_WARNINGS.info.name, "which warnings", "reports"),
    (
        device::NVME_CAPACITOR.info.name,
        "whether the capacitor of",
        "works",
    ),
];

/// Evidence against the disk, and whether the drive's memory must be treated as volatile.
pub fn evidence_against_disk(disk: FactReader) -> (Vec<Evidence>, bool) {
    let name = disk.name();
    let (mut found, mut forgets) = (Vec::new(), false);
    if disk.read(&device::EPHEMERAL) == Some(true) {
        let text = format!(
            "{name} is an ephemeral disk: its contents are lost when the instance stops or fails"
        );
        let remedy = VerdictRemedy::new(format!("Move the data from {name} to a persistent disk."));
        found.push(disk.device_evidence(&device::EPHEMERAL, AtRisk(remedy), text));
    }
    found.extend(unread_fact_evidence(disk));
    for warning in disk.read(&device::NVME_WARNINGS).unwrap_or_default() {
        let (impact, text) = match NvmeWarning::from_word(&warning) {
            // No evidence, because these warnings do not concern acknowledged data.
            Some(
                NvmeWarning::SpareLow | NvmeWarning::Temperature | NvmeWarning::PersistentMemory,
            ) => {
                continue;
            }
            Some(NvmeWarning::MemoryBackupFailed) => {
                forgets = true;
                (
                    AtRisk(VerdictRemedy::replace_disk(name)),
                    format!("{name} warns that its power backup has failed"),
                )
            }
            Some(NvmeWarning::ReadOnly) => (
                Unproven,
                format!(
                    "{name} has become read-only, as drives do when they can no longer store data"
                ),
            ),
            Some(NvmeWarning::Unreliable) => (
                Unproven,
                format!("{name} warns that it has become unreliable"),
            ),
            None => (
                Unproven,
                format!("{name} reports a warning unknown to walwise: {warning}"),
            ),
        };
        found.push(disk.device_evidence(&device::NVME_WARNINGS, impact, text));
    }
    (found, forgets)
}

fn unread_fact_evidence(disk: FactReader) -> Vec<Evidence> {
    let name = disk.name();
    // The hardware of a cloud volume is outside this instance, so no warning can be read.
    let is_asked = disk
        .read(&device::TRANSPORT)
        .is_some_and(Transport::is_nvme)
        && !nvme::is_persistent_cloud_volume(disk);
    // A drive with a volatile cache writes the cache out on a flush, whatever the capacitor's
    // state. Facts about warnings and capacitor that an older capture lacks are then not needed.
    let is_volatile = disk.read(&device::NVME_VOLATILE) == Some(true);
    let mut found = Vec::new();
    for (fact, question, predicate) in LOWERING_FACTS {
        let reading = disk.facts.reading_by_name(disk.subject, fact);
        let Reading::Unknown { why, .. } = reading else {
            continue;
        };
        let missing = match why {
            UnknownReason::Absent | UnknownReason::Ambiguous => false,
            UnknownReason::NotCollected if fact != device::EPHEMERAL.name() => {
                is_asked && !is_volatile
            }
            UnknownReason::NotCollected
            | UnknownReason::Denied
            | UnknownReason::TimedOut
            | UnknownReason::Malformed => is_asked || fact == device::EPHEMERAL.name(),
        };
        if missing {
            let need = MissingFact::from_unknown_reading(disk.subject, fact, reading);
            disk.dependencies.borrow_mut().missing.extend(need);
            let text = format!("it is unknown {question} {name} {predicate}");
            found.push(Evidence::new(
                EvidenceLayer::Device,
                disk.subject,
                Unproven,
                text,
                String::new(),
            ));
        }
    }
    found
}
