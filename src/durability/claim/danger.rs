//! What a disk says that speaks against it whatever its cache is: a drive that warns of the capacitors behind its memory,
//! and a cloud's disk that goes with its machine.
//!
//! Like a measurement it can only lower a verdict: that nothing of the kind is known proves nothing, and where a claim
//! rests on it ([`super::nvme`]) it is asked for there. The surprise: a drive whose memory is kept alive may answer
//! flushes without doing them, so when that fails, flushing does not help.

use super::{Bears, Evidence, Mend, claim};
use crate::durability::ask::Ask;
use crate::facts::catalog::device::{self, NvmeWarning};
use crate::facts::{Choice, Reading, Subject, Why};

/// What speaks against a disk, and whether its memory forgets although it may say otherwise.
pub fn find(ask: &mut Ask, disk: &Subject) -> (Vec<Evidence>, bool) {
    let name = disk.name();
    let (mut found, mut forgets) = (Vec::new(), false);
    if ask.value(disk, &device::EPHEMERAL) == Some(true) {
        let says = format!(
            "{name} belongs to the machine it is in: everything on it is gone when that is stopped, moved or fails"
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
        let says = format!(
            "whether {name} outlives the machine it is in is not known, because its model could not be read"
        );
        found.push(claim(ask, disk, &device::EPHEMERAL, Bears::Unproven, says));
    }
    for warning in ask.value(disk, &device::NVME_WARNINGS).unwrap_or_default() {
        let (bears, says) = match NvmeWarning::of(&warning) {
            // They say nothing of what was acknowledged.
            Some(NvmeWarning::SpareLow | NvmeWarning::Temperature | NvmeWarning::PersistentMemory) => {
                continue;
            }
            Some(NvmeWarning::MemoryBackupFailed) => {
                forgets = true;
                let says = "warns that what keeps its memory alive without power has failed";
                (Bears::AtRisk(Mend::Replace(disk.clone())), format!("{name} {says}"))
            }
            Some(NvmeWarning::ReadOnly) => {
                (Bears::Unproven, format!("{name} has gone read-only, as it does when it cannot keep more"))
            }
            Some(NvmeWarning::Unreliable) => {
                (Bears::Unproven, format!("{name} warns that it has become unreliable"))
            }
            None => (Bears::Unproven, format!("{name} warns of {warning}, which walwise does not know")),
        };
        found.push(claim(ask, disk, &device::NVME_WARNINGS, bears, says));
    }
    (found, forgets)
}

/// Whether something that would have told how long a disk lasts could not be read. That nothing tells is another matter,
/// and the rule with virtual disks.
fn was_hidden(ask: &Ask, disk: &Subject) -> bool {
    let hidden = |name: &str| {
        matches!(
            ask.facts.named(disk, name),
            Reading::Unknown { why: Why::Denied | Why::TimedOut | Why::Malformed, .. }
        )
    };
    hidden(device::EPHEMERAL.name())
}
