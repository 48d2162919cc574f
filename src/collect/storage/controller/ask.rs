//! Runs the tools: each with the few commands that its parser needs, and no command twice.

use super::said::{Adapter, FieldReading};
use super::{arcconf, megacli, ssacli, storcli, storcli2};
use crate::collect::refusal::refused;
use crate::facts::{Reading, Why};
use crate::host::{Host, Miss, MissKind, Tool};

/// The largest number of controllers that are asked one by one.
const MOST: u32 = 16;

/// The answers of one tool.
#[derive(Clone, Debug)]
pub struct ControllerReport {
    /// The tool.
    pub tool: Tool,
    /// The command that answered.
    pub argv: String,
    /// The controllers in its answers; at least one.
    pub adapters: Vec<Adapter>,
}

/// All answers of a tool; `Err(None)` where it is not installed.
pub fn all(host: &dyn Host, tool: Tool, asker: Asker) -> Result<ControllerReport, Option<Reading<String>>> {
    let (adapters, command) = asker(host, tool)?;
    let argv = format!("{} {command}", tool.name());
    // An entry with neither battery nor volumes is a host adapter, or a failure reported as a controller.
    if adapters.iter().all(|adapter| adapter.volumes.is_empty() && adapter.battery.is().is_none()) {
        let says = format!("`{argv}` tells of no controller");
        return Err(Some(Reading::unknown(Why::Malformed, says)));
    }
    Ok(ControllerReport { tool, argv, adapters })
}

/// Runs one command. A tool that is not installed is `Err(None)`.
fn ask(host: &dyn Host, tool: Tool, command: &str) -> Result<Vec<u8>, Option<Reading<String>>> {
    let arguments: Vec<&str> = command.split(' ').collect();
    host.run(tool, &arguments).map_err(|miss: Miss| match miss.kind {
        MissKind::Absent => None,
        _ => Some(refused(&miss, &format!("{} {command}", tool.name()))),
    })
}

/// The controllers that a tool reports, and the command that reported most.
type ControllerList = Result<(Vec<Adapter>, &'static str), Option<Reading<String>>>;

/// How a tool is asked for everything that its parser wants.
pub type Asker = fn(&dyn Host, Tool) -> ControllerList;

/// storcli, and perccli under another name.
pub fn storcli(host: &dyn Host, tool: Tool) -> ControllerList {
    const ALL: &str = "/cALL show all J nolog";
    let all = ask(host, tool, ALL)?;
    let volumes = ask(host, tool, "/cALL/vALL show all J nolog").unwrap_or_default();
    let mut adapters = storcli::parse(&all, &volumes);
    for number in storcli::lacks_module(&all) {
        let table =
            |part| ask(host, tool, &format!("/c{number}/{part} show status nolog")).unwrap_or_default();
        if let Some(adapter) = adapters.iter_mut().find(|adapter| adapter.name == number) {
            storcli::add_tables(adapter, &all, &table("cv"), &table("bbu"));
        }
    }
    Ok((adapters, ALL))
}

/// storcli2, and perccli2 under another name.
pub fn storcli2(host: &dyn Host, tool: Tool) -> ControllerList {
    const ALL: &str = "/call show all nolog J";
    let all = ask(host, tool, ALL)?;
    let volumes = ask(host, tool, "/call/vall show all nolog J").unwrap_or_default();
    Ok((storcli2::parse(&all, &volumes), ALL))
}

/// MegaCli.
pub fn megacli(host: &dyn Host, tool: Tool) -> ControllerList {
    const VOLUMES: &str = "-LDInfo -Lall -aALL -NoLog";
    let volumes = ask(host, tool, VOLUMES)?;
    let batteries = ask(host, tool, "-AdpBbuCmd -GetBbuStatus -aALL -NoLog").unwrap_or_default();
    Ok((megacli::parse(&volumes, &batteries), VOLUMES))
}

/// ssacli under any of its three names.
pub fn ssacli(host: &dyn Host, tool: Tool) -> ControllerList {
    const DETAIL: &str = "ctrl all show detail";
    let detail = ask(host, tool, DETAIL)?;
    let slots = ssacli::slots(&detail).into_iter().take(MOST as usize);
    let volumes = slots.map(|slot| {
        (slot, ask(host, tool, &format!("ctrl slot={slot} ld all show detail")).unwrap_or_default())
    });
    Ok((ssacli::parse(&detail, &volumes.collect::<Vec<_>>()), DETAIL))
}

/// arcconf, a controller at a time.
pub fn arcconf(host: &dyn Host, tool: Tool) -> ControllerList {
    let first = ask(host, tool, "getconfig 1 nologs")?;
    let count = arcconf::count(&first).min(MOST);
    let mut adapters = Vec::new();
    if count > 0 {
        adapters.push(arcconf::parse(1, &first));
    }
    for number in 2..=count {
        adapters.push(match ask(host, tool, &format!("getconfig {number} nologs")) {
            Ok(answer) => arcconf::parse(number, &answer),
            Err(_) => Adapter::unread(number.to_string(), FieldReading::missing("getconfig")),
        });
    }
    Ok((adapters, "getconfig 1 nologs"))
}
