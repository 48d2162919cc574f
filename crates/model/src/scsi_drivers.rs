//! Linux SCSI host drivers with the transport of their disks (`scsi_drivers.toml`). The table also
//! marks drivers of RAID controllers, which may have caches.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::facts::catalog::device::Transport;
use crate::toml_table;

/// Drivers with equal properties.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScsiDrivers {
    #[serde(borrow)]
    pub names: Vec<&'static str>,
    /// Transport of the disks; `None` if the transport follows from a disk's place in the device
    /// tree.
    pub transport: Option<Transport>,
    /// The RAID controller, which may keep acknowledged writes in its own cache.
    pub raid_controller: Option<RaidController>,
    /// Whether the adapter has no cache.
    #[serde(default)]
    pub is_plain_adapter: bool,
}

/// How a RAID controller is queried.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RaidController {
    pub family: ControllerFamily,
    /// Instruction for an administrator to query the controller, shown if its facts are unknown.
    #[serde(default = "any_controller_hint")]
    pub hint: &'static str,
}

/// RAID controllers that the same tools can query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControllerFamily {
    /// LSI and Broadcom controllers up to the MegaRAID 9500 series.
    #[serde(rename = "megaraid")]
    MegaRaid,
    /// HP and HPE controllers up to generation 9.
    SmartArray,
    /// HPE controllers from generation 10 on, and Microchip controllers that use smartpqi.
    SmartRaid,
    /// Broadcom MegaRAID 9600 and Dell PERC 12.
    #[serde(rename = "megaraid_9600")]
    MegaRaid9600,
    Adaptec,
    /// Controllers with tools whose output walwise cannot parse.
    Unsupported,
}

const DRIVERS_TOML: &str = include_str!("scsi_drivers.toml");

/// If the compiled-in text does not parse, the list is empty; a test checks that the text parses.
pub static ALL: LazyLock<Vec<ScsiDrivers>> =
    LazyLock::new(|| toml_table::parse_rows(DRIVERS_TOML).unwrap_or_default());

pub const ANY_CONTROLLER_HINT: &str =
    "query the controller as root with its own tool (storcli, perccli, MegaCli, ssacli or arcconf)";

fn any_controller_hint() -> &'static str {
    ANY_CONTROLLER_HINT
}

impl ControllerFamily {
    pub fn driver_names(self) -> impl Iterator<Item = &'static str> {
        let is_of = move |drivers: &&ScsiDrivers| {
            drivers
                .raid_controller
                .is_some_and(|controller| controller.family == self)
        };
        let drivers = ALL.iter().filter(is_of);
        drivers.flat_map(|drivers| drivers.names.iter().copied())
    }
}

pub fn find_driver(name: &str) -> Option<&'static ScsiDrivers> {
    ALL.iter().find(|drivers| drivers.names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_rows_are_unique_and_raid_has_controller() {
        let rows: Vec<ScsiDrivers> = toml_table::parse_rows(DRIVERS_TOML).unwrap();
        assert_eq!(rows.len(), ALL.len());

        let mut names: Vec<&&str> = ALL.iter().flat_map(|drivers| &drivers.names).collect();
        assert_eq!(names.len(), 43);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 43);
        for drivers in ALL.iter() {
            let is_raid = drivers.transport.is_some_and(Transport::is_raid_controller);
            assert_eq!(
                is_raid,
                drivers.raid_controller.is_some(),
                "{:?}",
                drivers.names
            );
            assert!(!is_raid || !drivers.is_plain_adapter, "{:?}", drivers.names);
        }
        assert!(find_driver("fancyraid").is_none());
    }
}
