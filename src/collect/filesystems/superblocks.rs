//! Features of a file system from its superblock, read as root.
//!
//! The live host reads and parses the superblock. No program is needed, so a run without programs has the features too.

use crate::collect::refusal::refused;
use crate::facts::catalog::{device, host as machine};
use crate::facts::{FactSet, Reading, Remedy, Source, Subject, Why};
use crate::host::{Host, Question, Superblock};
use crate::text::safe;

/// The features of what is on this device.
pub fn features(
    host: &dyn Host,
    facts: &FactSet,
    device: &Subject,
    kind: Superblock,
) -> Reading<Vec<String>> {
    if facts.value(&Subject::host(), &machine::PRIVILEGED) != Some(true) {
        let denied = Reading::unknown(Why::Denied, "only root can read the superblock");
        return denied.or_try(Remedy::RunAsRoot);
    }
    let node = match facts.get(device, &device::PATH) {
        Reading::Known { value, .. } => value,
        Reading::Unknown { why, detail, remedy } => return Reading::Unknown { why, detail, remedy },
    };
    let source = format!("superblock of {node}");
    match host.ask(&Question::Superblock(node.into(), kind)) {
        Ok(answer) => match answer.trim_ascii().strip_prefix(b"features ") {
            Some(words) => {
                let words = words.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
                Reading::known(words.map(safe).collect(), Source::call(source))
            }
            None => Reading::unknown(Why::Malformed, format!("{source}: no features")),
        },
        Err(miss) if miss.is_forbidden() => Reading::unknown(Why::Denied, format!("{source}: {miss}")),
        Err(miss) => refused(&miss, &source),
    }
}
