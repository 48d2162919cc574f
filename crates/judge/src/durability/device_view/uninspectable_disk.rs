//! Disks for which nothing on this host can prove that acknowledged data is kept: remote disks,
//! persistent memory and unknown attachments.
//!
//! A device of *persistent memory* may be ordinary memory that the kernel command line declares
//! (`memmap=`). Nothing on this host distinguishes the two.

use super::guarantor::{self, Guarantee};
use super::{CacheReport, device_evidence};
use crate::durability::fact_reader::FactReader;
use crate::durability::{Evidence, EvidenceImpact};
use crate::facts::Subject;
use crate::facts::catalog::device::{
    self, CacheVolatility, NetworkTransport, Transport, WriteGuarantor,
};
use crate::scsi_drivers;

/// Evidence about a disk whose own report does not decide: a remote disk, persistent memory, or a
/// disk with an unknown adapter or attachment. `None` for any other disk.
pub fn uninspectable_disk_cache_volatility(
    ask: &mut FactReader,
    disk: &Subject,
    guarantee: &Guarantee,
    transport: Option<Transport>,
    queue: Option<bool>,
    word: &CacheReport,
) -> Option<(CacheVolatility, Evidence)> {
    let name = disk.name();
    match guarantee.by {
        Some(WriteGuarantor::Array) => {
            return Some(remote_disk_cache_volatility(
                ask, disk, guarantee, queue, word,
            ));
        }
        Some(WriteGuarantor::StorageCluster) => {
            let says = format!(
                "{name} is a Ceph volume; Ceph acknowledges a write only once it is stored"
            );
            return Some((
                CacheVolatility::None,
                device_evidence(ask, disk, &device::FABRIC, EvidenceImpact::Durable, says),
            ));
        }
        Some(WriteGuarantor::Drive | WriteGuarantor::Hypervisor | WriteGuarantor::Provider)
        | None => {}
    }
    let says = match transport {
        None => format!("it is unknown how {name} is attached"),
        Some(transport) if !transport.is_recognised() => {
            format!("walwise cannot inspect how {name} is attached")
        }
        Some(transport) if transport.is_pmem() => format!(
            "it is unknown whether {name} is real persistent memory in good health (check with ndctl list -DHR)"
        ),
        // An adapter that is not known to lack a cache may be a RAID controller, so its cache is
        // unknown.
        Some(Transport::Scsi | Transport::Sas) if !is_adapter_without_cache(ask, disk) => {
            ask.record_missing_fact(disk, &device::DRIVER, None);
            format!("it is unknown whether {name}'s adapter caches writes")
        }
        // Of network disks, only volumes of a cloud provider are left, and their own report
        // decides.
        Some(_) => return None,
    };
    let cache = if *word == CacheReport::Volatile {
        CacheVolatility::Volatile
    } else {
        CacheVolatility::Unknown
    };
    Some((
        cache,
        device_evidence(
            ask,
            disk,
            &device::TRANSPORT,
            EvidenceImpact::Unproven,
            says,
        ),
    ))
}

fn remote_disk_cache_volatility(
    ask: &mut FactReader,
    disk: &Subject,
    guarantee: &Guarantee,
    queue: Option<bool>,
    word: &CacheReport,
) -> (CacheVolatility, Evidence) {
    let name = disk.name();
    guarantor::record_unverifiable_cache(ask, disk, guarantee);
    // The kernel sets the queue's mode from the report of the remote host, so the mode counts if
    // the disk itself reports nothing.
    let cache = if *word == CacheReport::Volatile || word.is_unreported() && queue == Some(true) {
        CacheVolatility::Volatile
    } else {
        CacheVolatility::Unknown
    };
    let by = ask
        .read_and_record_use(disk, &device::FABRIC)
        .map(|fabric| format!(" ({})", fabric_name(fabric)));
    let says = format!(
        "{name} is remote{}, and its caches are not visible from here",
        by.as_deref().unwrap_or_default()
    );
    let evidence = if by.is_some() {
        device_evidence(ask, disk, &device::FABRIC, EvidenceImpact::Unproven, says)
    } else {
        device_evidence(
            ask,
            disk,
            &device::TRANSPORT,
            EvidenceImpact::Unproven,
            says,
        )
    };
    (cache, evidence)
}

fn is_adapter_without_cache(ask: &mut FactReader, disk: &Subject) -> bool {
    let driver = ask.read_and_record_use(disk, &device::DRIVER);
    driver
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
