//! Linux SCSI host drivers with the transport of their disks. The table also marks drivers of RAID
//! controllers, which may have caches.
//!
//! Drivers have the names in `proc_name` of sysfs (drivers/scsi). Some drivers (smartpqi, mpi3mr,
//! aacraid) serve both plain adapters and RAID controllers. The table lists them as RAID
//! controllers; only the controller's tool reports whether a disk is a RAID volume.

use crate::facts::catalog::device::Transport;

#[derive(Debug)]
pub struct ScsiDriver {
    pub name: &'static str,
    /// Transport of the disks; `None` if the transport follows from a disk's place in the device
    /// tree.
    pub transport: Option<Transport>,
    pub hba: HostAdapter,
}

/// The hardware or software between a disk and the host.
#[derive(Clone, Copy, Debug)]
pub enum HostAdapter {
    /// A RAID controller, which may keep acknowledged writes in its own cache.
    Controller(RaidController),
    /// An adapter without a cache.
    Plain,
    /// A hypervisor, a USB bridge or a network; the disk is judged by its transport.
    Other,
}

#[derive(Clone, Copy, Debug)]
pub struct RaidController {
    pub family: ControllerFamily,
    /// Instruction for an administrator to query the controller, shown if its facts are unknown.
    pub query_hint: &'static str,
}

/// RAID controllers that the same tools can query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControllerFamily {
    /// LSI and Broadcom controllers up to the MegaRAID 9500 series.
    MegaRaid,
    /// HP and HPE controllers up to generation 9.
    SmartArray,
    /// HPE controllers from generation 10 on, and Microchip controllers that use smartpqi.
    SmartRaid,
    /// Broadcom MegaRAID 9600 and Dell PERC 12.
    MegaRaid9600,
    Adaptec,
    /// Controllers with tools whose output walwise cannot parse.
    Unsupported,
}

pub const ALL: &[ScsiDriver] = &[
    ScsiDriver {
        transport: Some(Transport::Megaraid),
        ..raid_driver_row("megaraid_sas", ControllerFamily::MegaRaid, MEGARAID)
    },
    ScsiDriver {
        transport: Some(Transport::Megaraid),
        ..raid_driver_row("megaraid", ControllerFamily::Unsupported, MEGARAID)
    },
    raid_driver_row("hpsa", ControllerFamily::SmartArray, SMART_ARRAY),
    raid_driver_row("cciss", ControllerFamily::SmartArray, SMART_ARRAY),
    raid_driver_row(
        "smartpqi",
        ControllerFamily::SmartRaid,
        "query the controller as root with ssacli (HPE) or arcconf (Adaptec, Microchip)",
    ),
    raid_driver_row(
        "mpi3mr",
        ControllerFamily::MegaRaid9600,
        "query the controller as root with storcli2 or perccli2 (Dell)",
    ),
    raid_driver_row(
        "aacraid",
        ControllerFamily::Adaptec,
        "query the controller as root with arcconf for its write-cache setting, backup unit and disk caches",
    ),
    raid_driver_row(
        "arcmsr",
        ControllerFamily::Unsupported,
        "query the controller as root with areca-cli for battery, write policy and disk caches; walwise cannot parse its output",
    ),
    raid_driver_row("3w-9xxx", ControllerFamily::Unsupported, TW_CLI),
    raid_driver_row("3w-sas", ControllerFamily::Unsupported, TW_CLI),
    raid_driver_row("hptiop", ControllerFamily::Unsupported, ANY_CONTROLLER_HINT),
    raid_driver_row("esas2r", ControllerFamily::Unsupported, ANY_CONTROLLER_HINT),
    raid_driver_row("ips", ControllerFamily::Unsupported, ANY_CONTROLLER_HINT),
    plain_adapter_row("mpt2sas", Some(Transport::Sas)),
    plain_adapter_row("mpt3sas", Some(Transport::Sas)),
    plain_adapter_row("mptsas", Some(Transport::Sas)),
    plain_adapter_row("mptspi", None),
    plain_adapter_row("mptscsih", None),
    plain_adapter_row("mvsas", None),
    plain_adapter_row("pm80xx", None),
    plain_adapter_row("pm8001", None),
    plain_adapter_row("isci", None),
    plain_adapter_row("aic94xx", None),
    plain_adapter_row("aic7xxx", None),
    plain_adapter_row("aic79xx", None),
    plain_adapter_row("sym53c8xx", None),
    plain_adapter_row("hisi_sas_v2_hw", None),
    plain_adapter_row("hisi_sas_v3_hw", None),
    plain_adapter_row("scsi_debug", None),
    plain_adapter_row("ibmvscsi", None),
    plain_adapter_row("BusLogic", None),
    plain_adapter_row("esp", None),
    plain_adapter_row("qla1280", None),
    plain_adapter_row("ahci", Some(Transport::Sata)),
    plain_adapter_row("ata_piix", Some(Transport::Sata)),
    plain_adapter_row("virtio_scsi", Some(Transport::VirtioScsi)),
    other_adapter_row("vmw_pvscsi", Transport::Vmware),
    other_adapter_row("storvsc", Transport::Hyperv),
    other_adapter_row("hv_storvsc", Transport::Hyperv),
    other_adapter_row("storvsc_host", Transport::Hyperv),
    other_adapter_row("usb-storage", Transport::Usb),
    other_adapter_row("uas", Transport::Usb),
    other_adapter_row("iscsi_tcp", Transport::Network),
];

const MEGARAID: &str = "query the controller as root with storcli, perccli (Dell) or MegaCli for its cache policies (configured and current), battery and disk caches";
const SMART_ARRAY: &str = "query the controller as root with ssacli (older: hpssacli, hpacucli) for its cache, battery and drive write cache";
const TW_CLI: &str = "query the controller as root with tw_cli for battery, write policy and disk caches; walwise cannot parse its output";

pub const ANY_CONTROLLER_HINT: &str =
    "query the controller as root with its own tool (storcli, perccli, MegaCli, ssacli or arcconf)";

const fn raid_driver_row(
    name: &'static str,
    family: ControllerFamily,
    ask: &'static str,
) -> ScsiDriver {
    let hba = HostAdapter::Controller(RaidController {
        family,
        query_hint: ask,
    });
    ScsiDriver {
        name,
        transport: Some(Transport::Raid),
        hba,
    }
}

const fn plain_adapter_row(name: &'static str, transport: Option<Transport>) -> ScsiDriver {
    ScsiDriver {
        name,
        transport,
        hba: HostAdapter::Plain,
    }
}

const fn other_adapter_row(name: &'static str, transport: Transport) -> ScsiDriver {
    ScsiDriver {
        name,
        transport: Some(transport),
        hba: HostAdapter::Other,
    }
}

impl ScsiDriver {
    pub fn raid_controller(&self) -> Option<RaidController> {
        match self.hba {
            HostAdapter::Controller(controller) => Some(controller),
            HostAdapter::Plain | HostAdapter::Other => None,
        }
    }

    pub fn is_plain_adapter(&self) -> bool {
        matches!(self.hba, HostAdapter::Plain)
    }
}

impl ControllerFamily {
    pub fn driver_names(self) -> impl Iterator<Item = &'static str> {
        let is_of = move |driver: &&ScsiDriver| {
            driver
                .raid_controller()
                .is_some_and(|one| one.family == self)
        };
        ALL.iter().filter(is_of).map(|driver| driver.name)
    }
}

pub fn find_driver(name: &str) -> Option<&'static ScsiDriver> {
    ALL.iter().find(|driver| driver.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_rows_are_unique_and_raid_has_controller() {
        for driver in ALL {
            assert_eq!(
                ALL.iter().filter(|other| other.name == driver.name).count(),
                1,
                "{}",
                driver.name
            );
            let is_raid = driver.transport.is_some_and(Transport::is_raid_controller);
            assert_eq!(
                is_raid,
                driver.raid_controller().is_some(),
                "{}",
                driver.name
            );
        }
        assert!(find_driver("fancyraid").is_none());
    }
}
