//! Disks for which nothing on this machine can prove that they keep acknowledged data: on the
//! network, in persistent memory, in cards, and with unknown attachments. The judgement names the
//! reason, and what would settle it.
//!
//! *Persistent memory* can be plain memory that the kernel was told to treat so (`memmap=` on its
//! command line); the two look the same from here.

use super::guarantor;
use super::statement::{CacheStatement, claim};
use crate::drivers::{self, Driver};
use crate::durability::ask::Ask;
use crate::durability::{Bears, Evidence};
use crate::facts::Subject;
use crate::facts::catalog::device::{self, Cache, Fabric, Guarantor, Transport};

/// The judgement of such a disk; `None` where its own statement decides.
pub fn judge(
    ask: &mut Ask,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
    queue: Option<bool>,
    word: &CacheStatement,
) -> Option<(Cache, Evidence)> {
    let name = disk.name();
    match guarantor {
        Some(Guarantor::Array) => return Some(on_array(ask, disk, transport, queue, word)),
        Some(Guarantor::StorageCluster) => {
            let says = format!(
                "{name} is stored by a Ceph cluster, which acknowledges a write once it is stored"
            );
            return Some((
                Cache::None,
                claim(ask, disk, &device::FABRIC, Bears::Durable, says),
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
            ask.miss(disk, &device::DRIVER, None);
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
            // A provider's volume: its protocol's report counts, whatever carries it.
            | Transport::Network
            // Volumes are judged with their controllers; the disks here are passed on, as the
            // controller's tool reports.
            | Transport::Megaraid
            | Transport::Raid,
        ) => return None,
        Some(Transport::Other) => {
            format!("{name} is attached in a way that walwise cannot inspect")
        }
        None => format!("it is unknown how {name} is attached"),
    };
    let cache = match word {
        CacheStatement::Volatile => Cache::Volatile,
        CacheStatement::Silent(_)
        | CacheStatement::Torn(_)
        | CacheStatement::Without(_)
        | CacheStatement::SwitchedOff => Cache::Unknown,
    };
    Some((
        cache,
        claim(ask, disk, &device::TRANSPORT, Bears::Unproven, says),
    ))
}

/// A disk that another machine shows, and of whose caches nothing is known.
fn on_array(
    ask: &mut Ask,
    disk: &Subject,
    transport: Option<Transport>,
    queue: Option<bool>,
    word: &CacheStatement,
) -> (Cache, Evidence) {
    let name = disk.name();
    guarantor::miss(ask, disk, Some(Guarantor::Array), transport);
    // The queue follows the other machine's report, as it does here for a disk that reports nothing
    // itself.
    let cache = match word {
        CacheStatement::Volatile => Cache::Volatile,
        CacheStatement::Silent(_) if queue == Some(true) => Cache::Volatile,
        CacheStatement::Silent(_)
        | CacheStatement::Torn(_)
        | CacheStatement::Without(_)
        | CacheStatement::SwitchedOff => Cache::Unknown,
    };
    let by = ask
        .value(disk, &device::FABRIC)
        .map(|fabric| format!(" ({})", way(fabric)));
    let says = format!(
        "{name} is remote{}, and its caches are not visible from here",
        by.as_deref().unwrap_or_default()
    );
    let evidence = if by.is_some() {
        claim(ask, disk, &device::FABRIC, Bears::Unproven, says)
    } else {
        claim(ask, disk, &device::TRANSPORT, Bears::Unproven, says)
    };
    (cache, evidence)
}

fn is_plain_adapter(ask: &mut Ask, disk: &Subject) -> bool {
    let driver = ask.value(disk, &device::DRIVER);
    driver
        .and_then(|driver| drivers::named(&driver))
        .is_some_and(Driver::is_plain)
}

/// The path to another machine, in words.
fn way(fabric: Fabric) -> &'static str {
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
