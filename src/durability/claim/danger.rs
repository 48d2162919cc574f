//! Statements of a disk that count against it whatever its cache is: a drive that warns of the capacitors behind its
//! memory, and a cloud's disk that is deleted with its machine.
//!
//! Like a measurement they can only lower a verdict. Their absence proves nothing; a claim that depends on it
//! ([`super::nvme`]) asks for it there. A drive with protected memory may acknowledge flushes without executing them,
//! so flushing does not help once that protection fails.

use super::statement::claim;
use crate::durability::ask::Ask;
use crate::durability::{Bears, Evidence, Mend};
use crate::facts::catalog::device::{self, NvmeWarning};
use crate::facts::{Choice, Reading, Subject, Why};

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
    if was_hidden(ask, disk) {
        ask.miss(disk, &device::EPHEMERAL, None);
        let says = format!("it is unknown whether {name} is ephemeral, because its model could not be read");
        found.push(claim(ask, disk, &device::EPHEMERAL, Bears::Unproven, says));
    }
    for warning in ask.value(disk, &device::NVME_WARNINGS).unwrap_or_default() {
        let (bears, says) = match NvmeWarning::from_word(&warning) {
            // They are no statement about acknowledged data.
            Some(NvmeWarning::SpareLow | NvmeWarning::Temperature | NvmeWarning::PersistentMemory) => {
                continue;
            }
            Some(NvmeWarning::MemoryBackupFailed) => {
                forgets = true;
                let says = "warns that its power backup has failed";
                (Bears::AtRisk(Mend::Replace(disk.clone())), format!("{name} {says}"))
            }
            Some(NvmeWarning::ReadOnly) => (
                Bears::Unproven,
                format!("{name} has turned read-only, as drives do when they can store no more"),
            ),
            Some(NvmeWarning::Unreliable) => {
                (Bears::Unproven, format!("{name} warns that it has become unreliable"))
            }
            None => (Bears::Unproven, format!("{name} warns of {warning}, which walwise does not know")),
        };
        found.push(claim(ask, disk, &device::NVME_WARNINGS, bears, says));
    }
    (found, forgets)
}

/// Whether a statement about a disk's lifetime exists but could not be read. A missing statement is another matter, and
/// usual with virtual disks.
fn was_hidden(ask: &Ask, disk: &Subject) -> bool {
    let hidden = |name: &str| {
        matches!(
            ask.facts.named(disk, name),
            Reading::Unknown { why: Why::Denied | Why::TimedOut | Why::Malformed, .. }
        )
    };
    hidden(device::EPHEMERAL.name())
}
