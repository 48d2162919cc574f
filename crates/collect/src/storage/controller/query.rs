//! Runs a controller's tool. The commands are next to each parser.

use super::report::Adapter;
use crate::facts::{Reading, UnknownReason};
use crate::host::{Host, HostError, HostErrorKind, Tool};
use crate::refusal::error_reading;

/// Controllers queried one by one.
pub const MAX_CONTROLLERS: u32 = 16;

#[derive(Clone, Debug)]
pub struct ControllerReport {
    pub tool: Tool,
    /// The command that answered.
    pub argv: String,
    /// At least one.
    pub adapters: Vec<Adapter>,
}

/// `Err(None)` if the tool is not installed.
pub fn controller_report(
    host: &dyn Host,
    tool: Tool,
    asker: QueryFn,
) -> Result<ControllerReport, Option<Reading<String>>> {
    let (adapters, command) = asker(host, tool)?;
    let argv = format!("{} {command}", tool.name());
    // Without battery and volumes it is a plain host adapter, or a failed command.
    if adapters
        .iter()
        .all(|adapter| adapter.volumes.is_empty() && adapter.battery.value().is_none())
    {
        let says = format!("`{argv}` lists no controller");
        return Err(Some(Reading::unknown(UnknownReason::Malformed, says)));
    }
    Ok(ControllerReport {
        tool,
        argv,
        adapters,
    })
}

/// `Err(None)` if the tool is not installed.
pub fn run_command(
    host: &dyn Host,
    tool: Tool,
    command: &str,
) -> Result<Vec<u8>, Option<Reading<String>>> {
    let arguments: Vec<&str> = command.split(' ').collect();
    host.run(tool, &arguments)
        .map_err(|miss: HostError| match miss.kind {
            HostErrorKind::Absent => None,
            _ => Some(error_reading(&miss, &format!("{} {command}", tool.name()))),
        })
}

/// The controllers, and the command that reported most of them.
pub type ControllerList = Result<(Vec<Adapter>, &'static str), Option<Reading<String>>>;

/// Runs all commands that the tool's parser needs.
pub type QueryFn = fn(&dyn Host, Tool) -> ControllerList;
