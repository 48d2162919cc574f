//! Statements of a disk that count against it whatever its cache is: a drive that warns of the
//! capacitors behind its memory, and a cloud's disk that is deleted with its machine.
//!
//! Like a measurement they can only lower a verdict, so each has to be known, or known to be
//! absent: see [`OPTIONAL`]. A drive with protected memory may acknowledge flushes without
//! executing them, so flushing does not help once that protection fails.

use super::nvme;
use super::statement::claim;
use crate::durability::ask::Ask;
use crate::durability::{Bears, Evidence, Layer, Mend};
use crate::facts::catalog::device::{self, NvmeWarning, Transport};
use crate::facts::{Choice, Need, Reading, Subject, Why};

/// What can only lower a verdict and may be absent, each as a question around the disk's name.
/// Where it is absent, the disk's own word stands alone: a lasting disk need not say so, nvme-cli
/// need not be installed, and most drives have no such log page. Where it is unknown for another
/// reason, nothing is proven.
const OPTIONAL: [(&str, &str, &str); 3] = [
    (device::EPHEMERAL.info.name, "whether", "is ephemeral"),
    (device::NVME_WARNINGS.info.name, "what", "warns of"),
    (
        device::NVME_CAPACITOR.info.name,
        "how the capacitor of",
        "is",
    ),
];

/// The evidence against a disk, and whether its memory is volatile although it may claim otherwise.
pub fn find(ask: &mut Ask, disk: &Subject) -> (Vec<Evidence>, bool) {
    let name = disk.name();
    let (mut found, mut forgets) = (Vec::new(), false);
    if ask.value(disk, &device::EPHEMERAL) == Some(true) {
        let says = format!(
            "{name} is ephemeral: its contents are lost when its machine fails, and after most kinds of stop"
        );
        found.push(claim(
            ask,
            disk,
            &device::EPHEMERAL,
            Bears::AtRisk(Mend::LastingDisk(disk.clone())),
            says,
        ));
    }
    found.extend(unread(ask, disk));
    for warning in ask.value(disk, &device::NVME_WARNINGS).unwrap_or_default() {
        let (bears, says) = match NvmeWarning::from_word(&warning) {
            // They are no statement about acknowledged data.
            Some(
                NvmeWarning::SpareLow | NvmeWarning::Temperature | NvmeWarning::PersistentMemory,
            ) => {
                continue;
            }
            Some(NvmeWarning::MemoryBackupFailed) => {
                forgets = true;
                let says = "warns that its power backup has failed";
                (
                    Bears::AtRisk(Mend::Replace(disk.clone())),
                    format!("{name} {says}"),
                )
            }
            Some(NvmeWarning::ReadOnly) => (
                Bears::Unproven,
                format!("{name} has turned read-only, as drives do when they can store no more"),
            ),
            Some(NvmeWarning::Unreliable) => (
                Bears::Unproven,
                format!("{name} warns that it has become unreliable"),
            ),
            None => (
                Bears::Unproven,
                format!("{name} warns of {warning}, which walwise does not know"),
            ),
        };
        found.push(claim(ask, disk, &device::NVME_WARNINGS, bears, says));
    }
    (found, forgets)
}

/// What is unknown of [`OPTIONAL`] although the disk may tell it.
fn unread(ask: &mut Ask, disk: &Subject) -> Vec<Evidence> {
    let name = disk.name();
    // Nothing of a provider's disk that could fail is in this machine.
    let is_asked = ask
        .value(disk, &device::TRANSPORT)
        .is_some_and(Transport::is_nvme)
        && !nvme::is_presented(ask, disk);
    // A drive that says that its cache is volatile promises to write it out, and a capture from
    // before may lack the rest.
    let is_volatile = ask.value(disk, &device::NVME_VOLATILE) == Some(true);
    let mut found = Vec::new();
    for (fact, question, predicate) in OPTIONAL {
        let reading = ask.facts.named(disk, fact);
        let Reading::Unknown { why, .. } = reading else {
            continue;
        };
        let missing = match why {
            Why::Absent | Why::Ambiguous => false,
            Why::NotCollected if fact != device::EPHEMERAL.name() => is_asked && !is_volatile,
            Why::NotCollected | Why::Denied | Why::TimedOut | Why::Malformed => {
                is_asked || fact == device::EPHEMERAL.name()
            }
        };
        if missing {
            ask.asked
                .missing
                .extend(Need::from_reading(disk, fact, reading));
            let says = format!("it is unknown {question} {name} {predicate}");
            found.push(Evidence::new(
                Layer::Claim,
                disk,
                Bears::Unproven,
                says,
                String::new(),
            ));
        }
    }
    found
}
