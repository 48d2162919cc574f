//! Disks of which nothing on this host can prove that acknowledged data is kept: remote disks,
//! persistent memory, cards, unknown attachments. *Persistent memory* may be plain memory declared
//! as such on the kernel command line (`memmap=`); the two look alike.

use super::cache_statement::{CacheStatement, device_evidence};
use super::guarantor;
use crate::drivers::{self, Driver};
use crate::durability::fact_reader::FactReader;
use crate::durability::{Evidence, Impact};
use crate::facts::Subject;
use crate::facts::catalog::device::{self, Cache, Fabric, Guarantor, Transport};

/// `None` if the disk's own statement decides.
pub fn unprovable_disk(
    ask: &mut FactReader,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
    queue: Option<bool>,
    word: &CacheStatement,
) -> Option<(Cache, Evidence)> {
    let name = disk.name();
    match guarantor {
        Some(Guarantor::Array) => return Some(array_disk(ask, disk, transport, queue, word)),
        Some(Guarantor::StorageCluster) => {
            let says = format!(
                "{name} is stored by a Ceph cluster, which acknowledges a write once it is stored"
            );
            return Some((
                Cache::None,
                device_evidence(ask, disk, &device::FABRIC, Impact::Durable, says),
            ));
        }
        Some(Guarantor::Drive | Guarantor::Hypervisor | Guarantor::Provider) | None => {}
    }
    let says = match transport {
        Some(Transport::Pmem) => format!(
            "it is unknown whether {name} is persistent memory with healthy power backup (ndctl list -DHR shows it)"
        ),
        // An unknown adapter may be a RAID controller.
        Some(Transport::Scsi | Transport::Sas) if !is_plain_adapter(ask, disk) => {
            ask.note_missing(disk, &device::DRIVER, None);
            format!("it is unknown whether the adapter of {name} caches writes")
        }
        Some(
            Transport::Nvme
            | Transport::Sata
            | Transport::Sas
            | Transport::Scsi
            | Transport::Virtio
            | Transport::VirtioScsi
            | Transport::Usb
            | Transport::Vmware
            | Transport::Hyperv
            | Transport::Xen
            | Transport::Mmc
            // A provider's volume: the protocol's report counts, whatever carries it.
            | Transport::Network
            // RAID volumes are judged with their controllers; what remains here is passed through,
            // as the controller's tool reports.
            | Transport::Megaraid
            | Transport::Raid,
        ) => return None,
        Some(Transport::Other) => {
            format!("walwise cannot inspect how {name} is attached")
        }
        None => format!("it is unknown how {name} is attached"),
    };
    let cache = match word {
        CacheStatement::Volatile => Cache::Volatile,
        CacheStatement::Unreported(_)
        | CacheStatement::Conflicting(_)
        | CacheStatement::NoCache(_)
        | CacheStatement::SwitchedOff => Cache::Unknown,
    };
    Some((
        cache,
        device_evidence(ask, disk, &device::TRANSPORT, Impact::Unproven, says),
    ))
}

/// A remote disk whose caches are unknown.
fn array_disk(
    ask: &mut FactReader,
    disk: &Subject,
    transport: Option<Transport>,
    queue: Option<bool>,
    word: &CacheStatement,
) -> (Cache, Evidence) {
    let name = disk.name();
    guarantor::note_unanswered(ask, disk, Some(Guarantor::Array), transport);
    // The queue follows the remote report, as for a local disk that reports nothing itself.
    let cache = match word {
        CacheStatement::Volatile => Cache::Volatile,
        CacheStatement::Unreported(_) if queue == Some(true) => Cache::Volatile,
        CacheStatement::Unreported(_)
        | CacheStatement::Conflicting(_)
        | CacheStatement::NoCache(_)
        | CacheStatement::SwitchedOff => Cache::Unknown,
    };
    let by = ask
        .get(disk, &device::FABRIC)
        .map(|fabric| format!(" ({})", fabric_name(fabric)));
    let says = format!(
        "{name} is remote{}, and its caches are not visible from here",
        by.as_deref().unwrap_or_default()
    );
    let evidence = if by.is_some() {
        device_evidence(ask, disk, &device::FABRIC, Impact::Unproven, says)
    } else {
        device_evidence(ask, disk, &device::TRANSPORT, Impact::Unproven, says)
    };
    (cache, evidence)
}

fn is_plain_adapter(ask: &mut FactReader, disk: &Subject) -> bool {
    let driver = ask.get(disk, &device::DRIVER);
    driver
        .and_then(|driver| drivers::find(&driver))
        .is_some_and(Driver::is_plain)
}

fn fabric_name(fabric: Fabric) -> &'static str {
    match fabric {
        Fabric::Tcp => "NVMe over TCP",
        Fabric::Rdma => "NVMe over RDMA",
        Fabric::Fc => "NVMe over Fibre Channel",
        Fabric::Iscsi => "iSCSI",
        Fabric::FibreChannel => "Fibre Channel",
        Fabric::Nbd => "a network block device",
        Fabric::Rbd => "Ceph",
    }
}
