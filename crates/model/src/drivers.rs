//! Drivers of SCSI hosts, one row each, by their names in drivers/scsi (`proc_name`): the
//! attachment of a disk behind one, and possible caches there.
//!
//! Asking a controller and judging its answers is left to `collect` and `durability`. Some drivers
//! serve both plain adapters and RAID controllers (smartpqi, mpi3mr, aacraid): a row names the
//! possibilities, and the controller's tool the fact.

use crate::facts::catalog::device::Transport;

/// The properties of a driver.
#[derive(Debug)]
pub struct Driver {
    pub name: &'static str,
    /// The attachment of disks behind it; `None` where their place in the device tree tells it.
    pub transport: Option<Transport>,
    /// The component between its disks and the machine.
    pub between: Between,
}

/// The component between disks and the machine.
#[derive(Clone, Copy, Debug)]
pub enum Between {
    /// A RAID controller, which may keep acknowledged writes in a cache of its own.
    Controller(Controller),
    /// An adapter without a cache.
    Nothing,
    /// A hypervisor, a bridge or a network, which is judged by its transport.
    More,
}

/// RAID controllers behind a driver.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// The family, which decides the tools.
    pub family: Family,
    /// How a person queries one.
    pub ask: &'static str,
}

/// RAID controllers that share their tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// LSI's and Broadcom's up to the 9500 series.
    MegaRaid,
    /// HP's and HPE's up to generation 9.
    SmartArray,
    /// HPE's and Microchip's of later generations.
    SmartRaid,
    /// MegaRAID 9600 and PERC 12.
    MegaRaid9600,
    Adaptec,
    /// Those whose tools walwise cannot read.
    Unread,
}

pub const ALL: &[Driver] = &[
    Driver {
        transport: Some(Transport::Megaraid),
        ..raid("megaraid_sas", Family::MegaRaid, MEGARAID)
    },
    Driver {
        transport: Some(Transport::Megaraid),
        ..raid("megaraid", Family::Unread, MEGARAID)
    },
    raid("hpsa", Family::SmartArray, SMART_ARRAY),
    raid("cciss", Family::SmartArray, SMART_ARRAY),
    raid(
        "smartpqi",
        Family::SmartRaid,
        "ask the controller as root with ssacli (HPE) or arcconf (Adaptec, Microchip)",
    ),
    raid(
        "mpi3mr",
        Family::MegaRaid9600,
        "ask the controller as root with storcli2 or perccli2 (Dell)",
    ),
    raid(
        "aacraid",
        Family::Adaptec,
        "ask the controller as root with arcconf: write-cache setting, backup unit, disk caches",
    ),
    raid(
        "arcmsr",
        Family::Unread,
        "ask the controller as root with areca-cli, which walwise does not read: battery, write policy, disk caches",
    ),
    raid("3w-9xxx", Family::Unread, TW_CLI),
    raid("3w-sas", Family::Unread, TW_CLI),
    raid("hptiop", Family::Unread, ANY_TOOL),
    raid("esas2r", Family::Unread, ANY_TOOL),
    raid("ips", Family::Unread, ANY_TOOL),
    adapter("mpt2sas", Some(Transport::Sas)),
    adapter("mpt3sas", Some(Transport::Sas)),
    adapter("mptsas", Some(Transport::Sas)),
    adapter("mptspi", None),
    adapter("mptscsih", None),
    adapter("mvsas", None),
    adapter("pm80xx", None),
    adapter("pm8001", None),
    adapter("isci", None),
    adapter("aic94xx", None),
    adapter("aic7xxx", None),
    adapter("aic79xx", None),
    adapter("sym53c8xx", None),
    adapter("hisi_sas_v2_hw", None),
    adapter("hisi_sas_v3_hw", None),
    adapter("scsi_debug", None),
    adapter("ibmvscsi", None),
    adapter("BusLogic", None),
    adapter("esp", None),
    adapter("qla1280", None),
    adapter("ahci", Some(Transport::Sata)),
    adapter("ata_piix", Some(Transport::Sata)),
    adapter("virtio_scsi", Some(Transport::VirtioScsi)),
    more("vmw_pvscsi", Transport::Vmware),
    more("storvsc", Transport::Hyperv),
    more("hv_storvsc", Transport::Hyperv),
    more("storvsc_host", Transport::Hyperv),
    more("usb-storage", Transport::Usb),
    more("uas", Transport::Usb),
    more("iscsi_tcp", Transport::Network),
];

const MEGARAID: &str = "ask the controller as root with storcli, perccli (Dell) or MegaCli: policy, policy in force, battery, disk caches";
const SMART_ARRAY: &str = "ask the controller as root with ssacli (older: hpssacli, hpacucli): cache, battery, drive write cache";
const TW_CLI: &str = "ask the controller as root with tw_cli, which walwise does not read: battery, write policy, disk caches";

/// How a person queries a controller of an unknown family.
pub const ANY_TOOL: &str =
    "ask the controller with its own tool as root (storcli, perccli, MegaCli, ssacli or arcconf)";

const fn raid(name: &'static str, family: Family, ask: &'static str) -> Driver {
    let between = Between::Controller(Controller { family, ask });
    Driver {
        name,
        transport: Some(Transport::Raid),
        between,
    }
}

const fn adapter(name: &'static str, transport: Option<Transport>) -> Driver {
    Driver {
        name,
        transport,
        between: Between::Nothing,
    }
}

const fn more(name: &'static str, transport: Transport) -> Driver {
    Driver {
        name,
        transport: Some(transport),
        between: Between::More,
    }
}

impl Driver {
    /// The RAID controllers behind it.
    pub fn controller(&self) -> Option<Controller> {
        match self.between {
            Between::Controller(controller) => Some(controller),
            Between::Nothing | Between::More => None,
        }
    }

    /// Whether nothing behind it is known to keep acknowledged writes.
    pub fn is_plain(&self) -> bool {
        matches!(self.between, Between::Nothing)
    }
}

impl Family {
    /// The drivers of its controllers.
    pub fn drivers(self) -> impl Iterator<Item = &'static str> {
        let is_of =
            move |driver: &&Driver| driver.controller().is_some_and(|one| one.family == self);
        ALL.iter().filter(is_of).map(|driver| driver.name)
    }
}

/// The driver of this name.
pub fn named(name: &str) -> Option<&'static Driver> {
    ALL.iter().find(|driver| driver.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_has_one_row_and_a_controllers_disks_are_its_volumes() {
        for driver in ALL {
            assert_eq!(
                ALL.iter().filter(|other| other.name == driver.name).count(),
                1,
                "{}",
                driver.name
            );
            let is_raid = driver.transport.is_some_and(Transport::is_raid);
            assert_eq!(is_raid, driver.controller().is_some(), "{}", driver.name);
        }
        assert!(named("fancyraid").is_none());
    }
}
