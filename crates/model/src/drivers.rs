//! SCSI host drivers, one row each, by name (`proc_name`, drivers/scsi): how disks behind them are
//! attached, and possible caches there.
//!
//! Querying a controller and judging its answers is left to `collect` and `durability`. Some
//! drivers serve both plain adapters and RAID controllers (smartpqi, mpi3mr, aacraid): the row
//! lists what is possible, the controller's tool tells which.

use crate::facts::catalog::device::Transport;

#[derive(Debug)]
pub struct Driver {
    pub name: &'static str,
    /// How disks behind it are attached; `None` where their place in the device tree tells it.
    pub transport: Option<Transport>,
    /// What sits between its disks and the host.
    pub hba: Hba,
}

/// What sits between disks and the host.
#[derive(Clone, Copy, Debug)]
pub enum Hba {
    /// A RAID controller, which may keep acknowledged writes in a cache of its own.
    Controller(Controller),
    /// An adapter without a cache.
    Plain,
    /// A hypervisor, a bridge or a network, which is judged by its transport.
    Other,
}

/// RAID controllers behind a driver.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// Decides which tools can query it.
    pub family: Family,
    /// How an admin queries one, for a fact that is unknown.
    pub query_hint: &'static str,
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
    Unsupported,
}

pub const ALL: &[Driver] = &[
    Driver {
        transport: Some(Transport::Megaraid),
        ..raid_driver("megaraid_sas", Family::MegaRaid, MEGARAID)
    },
    Driver {
        transport: Some(Transport::Megaraid),
        ..raid_driver("megaraid", Family::Unsupported, MEGARAID)
    },
    raid_driver("hpsa", Family::SmartArray, SMART_ARRAY),
    raid_driver("cciss", Family::SmartArray, SMART_ARRAY),
    raid_driver(
        "smartpqi",
        Family::SmartRaid,
        "ask the controller as root with ssacli (HPE) or arcconf (Adaptec, Microchip)",
    ),
    raid_driver(
        "mpi3mr",
        Family::MegaRaid9600,
        "ask the controller as root with storcli2 or perccli2 (Dell)",
    ),
    raid_driver(
        "aacraid",
        Family::Adaptec,
        "ask the controller as root with arcconf: write-cache setting, backup unit, disk caches",
    ),
    raid_driver(
        "arcmsr",
        Family::Unsupported,
        "ask the controller as root with areca-cli, which walwise does not read: battery, write policy, disk caches",
    ),
    raid_driver("3w-9xxx", Family::Unsupported, TW_CLI),
    raid_driver("3w-sas", Family::Unsupported, TW_CLI),
    raid_driver("hptiop", Family::Unsupported, ANY_TOOL),
    raid_driver("esas2r", Family::Unsupported, ANY_TOOL),
    raid_driver("ips", Family::Unsupported, ANY_TOOL),
    plain_driver("mpt2sas", Some(Transport::Sas)),
    plain_driver("mpt3sas", Some(Transport::Sas)),
    plain_driver("mptsas", Some(Transport::Sas)),
    plain_driver("mptspi", None),
    plain_driver("mptscsih", None),
    plain_driver("mvsas", None),
    plain_driver("pm80xx", None),
    plain_driver("pm8001", None),
    plain_driver("isci", None),
    plain_driver("aic94xx", None),
    plain_driver("aic7xxx", None),
    plain_driver("aic79xx", None),
    plain_driver("sym53c8xx", None),
    plain_driver("hisi_sas_v2_hw", None),
    plain_driver("hisi_sas_v3_hw", None),
    plain_driver("scsi_debug", None),
    plain_driver("ibmvscsi", None),
    plain_driver("BusLogic", None),
    plain_driver("esp", None),
    plain_driver("qla1280", None),
    plain_driver("ahci", Some(Transport::Sata)),
    plain_driver("ata_piix", Some(Transport::Sata)),
    plain_driver("virtio_scsi", Some(Transport::VirtioScsi)),
    other_driver("vmw_pvscsi", Transport::Vmware),
    other_driver("storvsc", Transport::Hyperv),
    other_driver("hv_storvsc", Transport::Hyperv),
    other_driver("storvsc_host", Transport::Hyperv),
    other_driver("usb-storage", Transport::Usb),
    other_driver("uas", Transport::Usb),
    other_driver("iscsi_tcp", Transport::Network),
];

const MEGARAID: &str = "ask the controller as root with storcli, perccli (Dell) or MegaCli: policy, policy in force, battery, disk caches";
const SMART_ARRAY: &str = "ask the controller as root with ssacli (older: hpssacli, hpacucli): cache, battery, drive write cache";
const TW_CLI: &str = "ask the controller as root with tw_cli, which walwise does not read: battery, write policy, disk caches";

/// How an admin queries a controller of an unknown family.
pub const ANY_TOOL: &str =
    "ask the controller with its own tool as root (storcli, perccli, MegaCli, ssacli or arcconf)";

const fn raid_driver(name: &'static str, family: Family, ask: &'static str) -> Driver {
    let between = Hba::Controller(Controller {
        family,
        query_hint: ask,
    });
    Driver {
        name,
        transport: Some(Transport::Raid),
        hba: between,
    }
}

const fn plain_driver(name: &'static str, transport: Option<Transport>) -> Driver {
    Driver {
        name,
        transport,
        hba: Hba::Plain,
    }
}

const fn other_driver(name: &'static str, transport: Transport) -> Driver {
    Driver {
        name,
        transport: Some(transport),
        hba: Hba::Other,
    }
}

impl Driver {
    /// The RAID controllers behind it.
    pub fn controller(&self) -> Option<Controller> {
        match self.hba {
            Hba::Controller(controller) => Some(controller),
            Hba::Plain | Hba::Other => None,
        }
    }

    /// Whether nothing behind it is known to cache acknowledged writes.
    pub fn is_plain(&self) -> bool {
        matches!(self.hba, Hba::Plain)
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

pub fn find(name: &str) -> Option<&'static Driver> {
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
        assert!(find("fancyraid").is_none());
    }
}
