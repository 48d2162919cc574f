//! Features of a file system and the size of its clusters, from its superblock, read as root.
//!
//! The live host reads and parses the superblock. No program is needed, so a run without programs has both too.

use crate::collect::refusal::refused;
use crate::facts::catalog::{device, host as machine};
use crate::facts::{FactSet, Reading, Remedy, Source, Subject, Why};
use crate::host::{Host, Question, Superblock};
use crate::text::safe;

/// What a superblock says.
#[derive(Clone)]
pub struct Described {
    /// The features, by the names that the tools of the file system give them.
    pub features: Vec<String>,
    /// The size of a cluster in bytes, where space is given out in clusters.
    pub cluster: Option<u64>,
}

/// The superblock of what is on this device.
pub fn read(host: &dyn Host, facts: &FactSet, device: &Subject, kind: Superblock) -> Reading<Described> {
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
        Ok(answer) => match parse(&answer) {
            Some(described) => Reading::known(described, Source::call(source)),
            None => Reading::unknown(Why::Malformed, format!("{source}: no features")),
        },
        Err(miss) if miss.is_forbidden() => Reading::unknown(Why::Denied, format!("{source}: {miss}")),
        Err(miss) => refused(&miss, &source),
    }
}

/// Two lines: `features WORD…` and, where there are clusters, `cluster BYTES`.
fn parse(answer: &[u8]) -> Option<Described> {
    let mut lines = answer.split(|b| *b == b'\n');
    let words = lines.next()?.trim_ascii().strip_prefix(b"features ")?;
    let words = words.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let cluster =
        lines.find_map(|line| std::str::from_utf8(line.strip_prefix(b"cluster ")?).ok()?.trim().parse().ok());
    Some(Described { features: words.map(safe).collect(), cluster })
}
