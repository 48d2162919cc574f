//! Reports that count against a disk whatever its cache: failed power-loss capacitors, and cloud
//! disks that are deleted with their instance. A drive with protected memory may acknowledge
//! flushes without executing them, so flushing does not help once the protection fails.

use super::cache_statement::device_evidence;
use super::nvme;
use crate::durability::fact_reader::FactReader;
use crate::durability::{Evidence, Impact, Layer, Remedy};
use crate::facts::catalog::device::{self, NvmeWarning, Transport};
use crate::facts::{Choice, MissingFact, Reading, Subject, UnknownReason};

/// Facts that can only lower a verdict and may be absent, each with a question around the disk's
/// name.
///
/// *Absent* leaves the disk's own statement: nvme-cli may be missing, and most drives lack such a
/// log page. Unknown for another reason means unproven.
const LOWERING_FACTS: [(&str, &str, &str); 3] = [
    (device::EPHEMERAL.info.name, "whether", "is ephemeral"),
    (device::NVME_WARNINGS.info.name, "what", "warns of"),
    (
        device::NVME_CAPACITOR.info.name,
        "how the capacitor of",
        "is",
    ),
];

/// The evidence against a disk, and whether its memory must be treated as volatile.
pub fn warning_evidence(ask: &mut FactReader, disk: &Subject) -> (Vec<Evidence>, bool) {
    let name = disk.name();
    let (mut found, mut forgets) = (Vec::new(), false);
    if ask.get(disk, &device::EPHEMERAL) == Some(true) {
        let says = format!(
            "{name} is an ephemeral disk: its contents are lost when the instance stops or fails"
        );
        found.push(device_evidence(
            ask,
            disk,
            &device::EPHEMERAL,
            Impact::AtRisk(Remedy::PersistentDisk(disk.clone())),
            says,
        ));
    }
    found.extend(unread_warnings(ask, disk));
    for warning in ask.get(disk, &device::NVME_WARNINGS).unwrap_or_default() {
        let (bears, says) = match NvmeWarning::from_word(&warning) {
            // These warnings say nothing about acknowledged data.
            Some(
                NvmeWarning::SpareLow | NvmeWarning::Temperature | NvmeWarning::PersistentMemory,
            ) => {
                continue;
            }
            Some(NvmeWarning::MemoryBackupFailed) => {
                forgets = true;
                let says = "warns that its power backup has failed";
                (
                    Impact::AtRisk(Remedy::ReplaceDisk(disk.clone())),
                    format!("{name} {says}"),
                )
            }
            Some(NvmeWarning::ReadOnly) => (
                Impact::Unproven,
                format!("{name} has turned read-only, as drives do when they can store no more"),
            ),
            Some(NvmeWarning::Unreliable) => (
                Impact::Unproven,
                format!("{name} warns that it has become unreliable"),
            ),
            None => (
                Impact::Unproven,
                format!("{name} warns of {warning}, which walwise does not know"),
            ),
        };
        found.push(device_evidence(
            ask,
            disk,
            &device::NVME_WARNINGS,
            bears,
            says,
        ));
    }
    (found, forgets)
}

/// Unknown facts of the list above that the disk could report.
fn unread_warnings(ask: &mut FactReader, disk: &Subject) -> Vec<Evidence> {
    let name = disk.name();
    // What could fail behind a cloud volume is not in this machine.
    let is_asked = ask
        .get(disk, &device::TRANSPORT)
        .is_some_and(Transport::is_nvme)
        && !nvme::is_cloud_volume(ask, disk);
    // A drive with a volatile cache has promised to write it out; captures of earlier versions lack
    // the rest.
    let is_volatile = ask.get(disk, &device::NVME_VOLATILE) == Some(true);
    let mut found = Vec::new();
    for (fact, question, predicate) in LOWERING_FACTS {
        let reading = ask.facts.reading_by_name(disk, fact);
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
            ask.dependencies
                .missing
                .extend(MissingFact::from_reading(disk, fact, reading));
            let says = format!("it is unknown {question} {name} {predicate}");
            found.push(Evidence::new(
                Layer::Device,
                disk,
                Impact::Unproven,
                says,
                String::new(),
            ));
        }
    }
    found
}
