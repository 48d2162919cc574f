//! Disks for which nothing on this host can prove that acknowledged data is kept: remote disks,
//! persistent memory and unknown attachments.
//!
//! A device of *persistent memory* may be ordinary memory that the kernel command line declares
//! (`memmap=`). Nothing on this host distinguishes the two.

use super::{AttachedDisk, CacheReport, guarantor};
use crate::durability::Evidence;
use crate::durability::EvidenceImpact::{Durable, Unproven};
use crate::durability::fact_reader::FactReader;
use crate::facts::catalog::device::{
    self, CacheVolatility, NetworkTransport, Transport, WriteGuarantor,
};
use crate::scsi_drivers;

/// Evidence about a disk whose own report does not decide: a remote disk, persistent memory, or a
/// disk with an unknown adapter or attachment. `None` for any other disk.
pub fn uninspectable_disk_cache_volatility(
    attached: &AttachedDisk<'_>,
) -> Option<(CacheVolatility, Evidence)> {
    let disk = attached.facts;
    let name = disk.name();
    match attached.guarantee.by {
        Some(WriteGuarantor::Array) => return Some(remote_disk_cache_volatility(attached)),
        Some(WriteGuarantor::StorageCluster) => {
            let text = format!(
                "{name} is a Ceph volume; Ceph acknowledges a write only once it is stored"
            );
            let evidence = disk.device_evidence(&device::FABRIC, Durable, text);
            return Some((CacheVolatility::None, evidence));
        }
        Some(WriteGuarantor::Drive | WriteGuarantor::Hypervisor | WriteGuarantor::Provider)
        | None => {}
    }
    let text = match attached.transport {
        None => format!("it is unknown how {name} is attached"),
        Some(transport) if !transport.is_recognised() => {
            format!("walwise cannot inspect how {name} is attached")
        }
        Some(transport) if transport.is_pmem() => format!(
            "it is unknown whether {name} is real persistent memory in good health (check with ndctl list -DHR)"
        ),
        // An adapter that is not known to lack a cache may be a RAID controller, so its cache is
        // unknown.
        Some(Transport::Scsi | Transport::Sas) if !is_adapter_without_cache(disk) => {
            disk.record_missing(&device::DRIVER, None);
            format!("it is unknown whether {name}'s adapter caches writes")
        }
        // The network disks that remain are volumes of a cloud provider. Their own report decides.
        Some(_) => return None,
    };
    Some((
        volatile_or_unknown(attached.report == CacheReport::Volatile),
        disk.device_evidence(&device::TRANSPORT, Unproven, text),
    ))
}

fn remote_disk_cache_volatility(attached: &AttachedDisk<'_>) -> (CacheVolatility, Evidence) {
    let AttachedDisk { report, queue, .. } = attached;
    let disk = attached.facts;
    let name = disk.name();
    guarantor::record_unverifiable_cache(disk, &attached.guarantee);
    // The kernel sets the queue's mode from the report of the remote host, so the mode counts if
    // the disk itself reports nothing.
    let is_volatile =
        *report == CacheReport::Volatile || report.is_unreported() && *queue == Some(true);
    let evidence = if let Some(fabric) = disk.read(&device::FABRIC).map(fabric_name) {
        let text = format!("{name} is remote ({fabric}), and its caches are not visible from here");
        disk.device_evidence(&device::FABRIC, Unproven, text)
    } else {
        let text = format!("{name} is remote, and its caches are not visible from here");
        disk.device_evidence(&device::TRANSPORT, Unproven, text)
    };
    (volatile_or_unknown(is_volatile), evidence)
}

fn volatile_or_unknown(is_volatile: bool) -> CacheVolatility {
    if is_volatile {
        CacheVolatility::Volatile
    } else {
        CacheVolatility::Unknown
    }
}

fn is_adapter_without_cache(disk: FactReader) -> bool {
    disk.read(&device::DRIVER)
        .and_then(|driver| scsi_drivers::find_driver(&driver))
        .is_some_and(|driver| driver.is_plain_adapter)
}

fn fabric_name(fabric: NetworkTransport) -> &'static str {
    match fabric {
        NetworkTransport::Tcp => "NVMe over TCP",
        NetworkTransport::Rdma => "NVMe over RDMA",
        NetworkTransport::Fc => "NVMe over Fibre Channel",
        NetworkTransport::Iscsi => "iSCSI",
        NetworkTransport::FibreChannel => "Fibre Channel",
        NetworkTransport::Nbd => "NBD",
        NetworkTransport::Rbd => "Ceph",
    }
}
