use super::report::Adapter;
use crate::error_readings::error_reading;
use crate::facts::{Reading, UnknownReason};
use crate::host::{Host, HostError, HostErrorKind, Tool};

pub const MAX_CONTROLLERS: u32 = 16;

#[derive(Clone, Debug)]
pub struct ControllerReport {
    pub tool: Tool,
    pub argv: String,
    pub adapters: Vec<Adapter>,
}

/// Runs all commands of a tool and parses the answers; `Err(None)` means that the tool is not
/// installed.
pub fn controller_report(
    host: &dyn Host,
    tool: Tool,
    asker: QueryFn,
) -> Result<ControllerReport, Option<Reading<String>>> {
    let (adapters, command) = asker(host, tool)?;
    let argv = format!("{} {command}", tool.name());
    // An answer without battery and volumes means a plain host adapter or a failed command.
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

/// Runs one command; `Err(None)` means that the tool is not installed.
pub fn run_command(
    host: &dyn Host,
    tool: Tool,
    command: &str,
) -> Result<Vec<u8>, Option<Reading<String>>> {
    let arguments: Vec<&str> = command.split(' ').collect();
    host.run_tool(tool, &arguments)
        .map_err(|miss: HostError| match miss.kind {
            HostErrorKind::Absent => None,
            _ => Some(error_reading(&miss, &format!("{} {command}", tool.name()))),
        })
}

/// The controllers, and the command that reported most of their values.
pub type ControllerList = Result<(Vec<Adapter>, &'static str), Option<Reading<String>>>;

pub type QueryFn = fn(&dyn Host, Tool) -> ControllerList;
