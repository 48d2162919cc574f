//! Asks a tool for the superblocks of many file systems: as root, once each, several at a time.
//!
//! What is asked and how the answer reads is the caller's. The surprise: the first is asked alone, since a program that is
//! missing need not be looked for again and again.

use std::thread;

use super::{Request, refused, tools};
use crate::facts::catalog::host as machine;
use crate::facts::{FactSet, Reading, Remedy, Subject, Why};
use crate::host::{Miss, MissKind, Tool};

/// How many file systems are asked for at a time.
const AT_A_TIME: usize = 8;

/// What is read of a superblock.
type Words = Reading<Vec<String>>;

/// The readings of these nodes, in their order: `ask` runs the tool on one, `read` says what its answer means.
pub fn each(
    request: &Request,
    facts: &FactSet,
    nodes: &[String],
    ask: impl Fn(&str) -> Result<Vec<u8>, Miss> + Sync,
    read: fn(&str, Result<Vec<u8>, Miss>) -> Words,
) -> Vec<Words> {
    if request.without_programs {
        return nodes.iter().map(|_| tools::not_run()).collect();
    }
    if facts.value(&Subject::host(), &machine::PRIVILEGED) != Some(true) {
        let denied =
            || Reading::unknown(Why::Denied, "only root can read the superblock").or_try(Remedy::RunAsRoot);
        return nodes.iter().map(|_| denied()).collect();
    }
    let ask = &ask;
    let Some((first, others)) = nodes.split_first() else { return Vec::new() };
    let answer = ask(first);
    let missing = answer.as_ref().err().filter(|miss| miss.kind == MissKind::Absent).cloned();
    let mut readings = vec![read(first, answer)];
    if let Some(miss) = missing {
        readings.extend(others.iter().map(|node| read(node, Err(miss.clone()))));
        return readings;
    }
    for some in others.chunks(AT_A_TIME) {
        thread::scope(|scope| {
            let asked: Vec<_> = some.iter().map(|node| scope.spawn(move || read(node, ask(node)))).collect();
            let gone = |_| Reading::unknown(Why::Malformed, "reading the superblock failed");
            readings.extend(asked.into_iter().map(|thread| thread.join().unwrap_or_else(gone)));
        });
    }
    readings
}

/// No answer, as a reading.
pub fn unanswered(tool: Tool, argv: &str, miss: &Miss) -> Words {
    let reading = refused(miss, argv);
    match miss.kind {
        MissKind::Absent => reading.or_try(Remedy::Install(tool.package().to_owned())),
        // The container or the system forbids even root to open the device: being root is no help.
        _ if miss.detail.contains("Operation not permitted") => {
            Reading::unknown(Why::Denied, format!("{argv}: {miss}"))
        }
        _ => reading,
    }
}
