//! Runs a tool. Its commands are in its own module, beside its parser, and no command is run twice.

use super::said::Adapter;
use crate::facts::{Reading, Why};
use crate::host::{Host, Miss, MissKind, Tool};
use crate::refusal::refused;

/// The largest number of controllers that are asked one by one.
pub const MOST: u32 = 16;

/// The answers of one tool.
#[derive(Clone, Debug)]
pub struct ControllerReport {
    pub tool: Tool,
    /// The command that answered.
    pub argv: String,
    /// The controllers in its answers; at least one.
    pub adapters: Vec<Adapter>,
}

/// All answers of a tool; `Err(None)` where it is not installed.
pub fn all(
    host: &dyn Host,
    tool: Tool,
    asker: Asker,
) -> Result<ControllerReport, Option<Reading<String>>> {
    let (adapters, command) = asker(host, tool)?;
    let argv = format!("{} {command}", tool.name());
    // An entry with neither battery nor volumes is a host adapter, or a failure reported as a
    // controller.
    if adapters
        .iter()
        .all(|adapter| adapter.volumes.is_empty() && adapter.battery.is().is_none())
    {
        let says = format!("`{argv}` lists no controller");
        return Err(Some(Reading::unknown(Why::Malformed, says)));
    }
    Ok(ControllerReport {
        tool,
        argv,
        adapters,
    })
}

/// Runs one command. A tool that is not installed is `Err(None)`.
pub fn ask(host: &dyn Host, tool: Tool, command: &str) -> Result<Vec<u8>, Option<Reading<String>>> {
    let arguments: Vec<&str> = command.split(' ').collect();
    host.run(tool, &arguments)
        .map_err(|miss: Miss| match miss.kind {
            MissKind::Absent => None,
            _ => Some(refused(&miss, &format!("{} {command}", tool.name()))),
        })
}

/// The controllers that a tool reports, and the command that reported most.
pub type ControllerList = Result<(Vec<Adapter>, &'static str), Option<Reading<String>>>;

/// How a tool is asked for everything that its parser wants.
pub type Asker = fn(&dyn Host, Tool) -> ControllerList;
