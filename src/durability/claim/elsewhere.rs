//! Disks of which nothing on this machine can prove that they keep what they acknowledged: on the network, in persistent
//! memory, in cards, and attached in ways nobody knows. It names why, and what would tell.
//!
//! The surprise: *persistent memory* can be plain memory that the kernel was told to call so (`memmap=` on its command
//! line), and looks the same from here.

use super::{Cache, Evidence, Standing, Word, claim};
use crate::durability::ask::Ask;
use crate::facts::Subject;
use crate::facts::catalog::device;

/// What can be said of such a disk; nothing where its own word decides.
pub fn judge(
    ask: &mut Ask,
    disk: &Subject,
    transport: Option<&str>,
    queue: Option<bool>,
    word: &Word,
) -> Option<(Cache, Evidence)> {
    let name = disk.name();
    let fabric = ask.value(disk, &device::FABRIC);
    let says = match (fabric.as_deref(), transport) {
        (Some(fabric), _) => {
            format!("{name} lies on another machine ({}), whose caches cannot be seen from here", way(fabric))
        }
        (None, Some("network")) => {
            format!("{name} lies on another machine, whose caches cannot be seen from here")
        }
        (None, Some("pmem")) => format!(
            "whether {name} is memory that survives a power failure, and whether what keeps it alive is healthy, is not known (ndctl list -DHR shows it)"
        ),
        // An adapter that nobody knows may be a RAID controller.
        (None, Some("scsi" | "sas")) if !is_plain_adapter(ask, disk) => {
            ask.miss(disk, &device::DRIVER, None);
            format!("that the adapter {name} is attached to keeps nothing back is not known")
        }
        (
            None,
            Some(
                "nvme" | "sata" | "sas" | "scsi" | "virtio" | "virtio-scsi" | "usb" | "vmware" | "hyperv"
                | "xen" | "mmc",
            ),
        ) => {
            return None;
        }
        (None, Some(_)) => format!("{name} is attached in a way that walwise cannot see through"),
        (None, None) => format!("how {name} is attached is not known"),
    };
    // On the network the queue is set after what the other machine says, as it is here for a disk that says nothing itself.
    let remote = fabric.is_some() || transport == Some("network");
    let announced = remote && queue == Some(true) && matches!(word, Word::Silent(_));
    let cache = if *word == Word::Volatile || announced { Cache::Volatile } else { Cache::Unknown };
    let evidence = if fabric.is_some() {
        claim(ask, disk, &device::FABRIC, Standing::Unproven, says)
    } else {
        claim(ask, disk, &device::TRANSPORT, Standing::Unproven, says)
    };
    Some((cache, evidence))
}

/// SCSI and SAS adapters without a cache of their own, by the names their drivers in drivers/scsi give themselves.
const PLAIN_ADAPTERS: &[&str] = &[
    "mpt2sas",
    "mpt3sas",
    "mptsas",
    "mptspi",
    "mptscsih",
    "mvsas",
    "pm80xx",
    "pm8001",
    "isci",
    "aic94xx",
    "aic7xxx",
    "aic79xx",
    "sym53c8xx",
    "hisi_sas_v2_hw",
    "hisi_sas_v3_hw",
    "scsi_debug",
    "virtio_scsi",
    "ibmvscsi",
    "BusLogic",
    "esp",
    "qla1280",
    "ahci",
    "ata_piix",
];

fn is_plain_adapter(ask: &mut Ask, disk: &Subject) -> bool {
    let driver = ask.value(disk, &device::DRIVER);
    driver.is_some_and(|driver| PLAIN_ADAPTERS.contains(&driver.as_str()))
}

/// The way to another machine, for people.
fn way(fabric: &str) -> &str {
    match fabric {
        "tcp" => "NVMe over TCP",
        "rdma" => "NVMe over RDMA",
        "fc" => "NVMe over Fibre Channel",
        "iscsi" => "iSCSI",
        "fibre channel" => "Fibre Channel",
        "nbd" => "a network block device",
        "rbd" => "Ceph",
        other => other,
    }
}
