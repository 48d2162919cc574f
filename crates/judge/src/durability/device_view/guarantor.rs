//! The guarantor of a disk vouches for acknowledged writes. It is the drive itself, a hypervisor, a
//! cloud provider, a remote array or a Ceph cluster.
//!
//! Every protocol defines what a flush means, so a disk that accepts flushes is durable unless a
//! remote array serves it. A disk that reports no volatile cache is durable only if its guarantor
//! documents that.

use crate::durability::fact_reader::FactReader;
use crate::facts::Subject;
use crate::facts::catalog::device::{
    self, CloudDiskService, NetworkTransport, Transport, WriteGuarantor,
};
use crate::facts::catalog::host;

/// Values of the fact `host.virtualisation` that stand for a cloud provider.
const PROVIDERS: [&str; 4] = ["amazon", "google", "alibaba", "azure"];

/// Value of `host.virtualisation` for QEMU, whose manual documents the handling of writes by
/// each disk type (*Block device options*, cache).
const QEMU: &str = "kvm";

/// Smallest size in bytes of a disk whose writes Azure does not cache (*Azure premium storage*,
/// Disk caching).
const AZURE_UNCACHED_SIZE: u64 = 4 << 40;

/// A sector size in bytes that only Ultra Disk and Premium SSD v2 have. Azure caches neither of
/// these disk types.
const AZURE_UNCACHED_SECTOR: u64 = 4096;

/// `None` if the disk's attachment is unknown.
pub fn find_guarantor(
    ask: &mut FactReader,
    disk: &Subject,
    transport: Option<Transport>,
) -> Option<WriteGuarantor> {
    if ask.read_and_record_use(disk, &device::CLOUD).is_some() {
        return Some(WriteGuarantor::Provider);
    }
    match ask.read_and_record_use(disk, &device::FABRIC) {
        Some(NetworkTransport::Rbd) => return Some(WriteGuarantor::StorageCluster),
        Some(
            NetworkTransport::Tcp
            | NetworkTransport::Rdma
            | NetworkTransport::Fc
            | NetworkTransport::Iscsi
            | NetworkTransport::FibreChannel
            | NetworkTransport::Nbd,
        ) => return Some(WriteGuarantor::Array),
        None => {}
    }
    let machine = ask.read_and_record_use(&Subject::host(), &host::VIRTUALISATION);
    let machine = machine.as_deref();
    let provider = machine.is_some_and(|name| PROVIDERS.contains(&name));
    match transport? {
        Transport::Network => Some(WriteGuarantor::Array),
        Transport::Virtio
        | Transport::VirtioScsi
        | Transport::Vmware
        | Transport::Hyperv
        | Transport::Xen => Some(if provider { WriteGuarantor::Provider } else { WriteGuarantor::Hypervisor }),
        Transport::Nvme
        | Transport::Scsi
        | Transport::Sata
        | Transport::Sas
        | Transport::Usb
        | Transport::Mmc
        | Transport::Pmem
        // The caller excludes RAID volumes, so the controller passes this disk through.
        | Transport::Megaraid
        | Transport::Raid => Some(match machine {
            Some("none") | None => WriteGuarantor::Drive,
            Some(_) if provider => WriteGuarantor::Provider,
            Some(_) => WriteGuarantor::Hypervisor,
        }),
        Transport::Other => None,
    }
}

/// Whether the guarantor documents that a disk without a volatile cache keeps acknowledged writes.
/// Sources: virtio, *Block Device*; Amazon EBS User Guide; Google *Persistent Disk*; Alibaba
/// *Elastic Block Storage*; Ceph *Architecture*.
pub fn is_no_cache_report_trusted(
    ask: &mut FactReader,
    disk: &Subject,
    guarantor: Option<WriteGuarantor>,
    transport: Option<Transport>,
) -> bool {
    match guarantor {
        // For a drive, and for a disk whose attachment is unknown, no document is needed, because
        // the disk's own report decides. Ceph, the only storage cluster, documents the guarantee.
        Some(WriteGuarantor::Drive | WriteGuarantor::StorageCluster) | None => true,
        Some(WriteGuarantor::Array) => false,
        Some(WriteGuarantor::Hypervisor) => is_durability_documented_by_hypervisor(ask, transport),
        Some(WriteGuarantor::Provider) => match ask.read_and_record_use(disk, &device::CLOUD) {
            Some(
                CloudDiskService::AmazonEbs
                | CloudDiskService::GooglePersistentDisk
                | CloudDiskService::AlibabaBlockStorage
                // The three services below are local drives of the provider. The evidence in
                // `warnings` reports that their data is lost with the instance.
                | CloudDiskService::AmazonInstanceStore
                | CloudDiskService::GoogleLocalSsd
                | CloudDiskService::AzureLocalDisk,
            ) => true,
            Some(CloudDiskService::AzureManagedDisk) => is_uncached_by_azure(ask, disk),
            Some(CloudDiskService::OracleBlockVolume) => false,
            None => is_durability_documented_by_hypervisor(ask, transport),
        },
    }
}

fn is_durability_documented_by_hypervisor(
    ask: &mut FactReader,
    transport: Option<Transport>,
) -> bool {
    match transport {
        Some(Transport::Virtio) => true,
        Some(Transport::Vmware | Transport::Hyperv | Transport::Xen) => false,
        Some(
            Transport::VirtioScsi
            | Transport::Nvme
            | Transport::Scsi
            | Transport::Sata
            | Transport::Sas
            | Transport::Usb
            | Transport::Mmc
            | Transport::Pmem
            | Transport::Network
            | Transport::Megaraid
            | Transport::Raid
            | Transport::Other,
        )
        | None => {
            ask.read_and_record_use(&Subject::host(), &host::VIRTUALISATION)
                .as_deref()
                == Some(QEMU)
        }
    }
}

/// Whether Azure never caches writes to the disk. Size and sector size decide, because only Azure's
/// portal shows the setting *host caching*.
fn is_uncached_by_azure(ask: &mut FactReader, disk: &Subject) -> bool {
    let size = ask
        .read_and_record_use(disk, &device::SIZE)
        .is_some_and(|size| size >= AZURE_UNCACHED_SIZE);
    let sector =
        ask.read_and_record_use(disk, &device::LOGICAL_BLOCK) == Some(AZURE_UNCACHED_SECTOR);
    size || sector
}

pub fn record_unverifiable_cache(
    ask: &mut FactReader,
    disk: &Subject,
    guarantor: Option<WriteGuarantor>,
    transport: Option<Transport>,
) {
    let Some(whom) = question_for_guarantor(ask, disk, guarantor, transport) else {
        return;
    };
    let remedy = format!("{whom}, or run a power-cut test: `walwise drill`");
    ask.record_unobtainable_fact(
        disk,
        &device::CACHE,
        "the cache is not visible from this host; the provider, array or hypervisor manages it",
        remedy,
    );
}

/// Question or check that the remedy advises, as a clause; `None` if the disk's guarantor is the
/// drive, a Ceph cluster or unknown.
fn question_for_guarantor(
    ask: &mut FactReader,
    disk: &Subject,
    guarantor: Option<WriteGuarantor>,
    transport: Option<Transport>,
) -> Option<String> {
    let name = disk.name();
    let hypervisor = || {
        format!(
            "ask the hypervisor's administrator whether acknowledged writes to {name} are on stable storage"
        )
    };
    Some(match guarantor {
        Some(WriteGuarantor::Drive | WriteGuarantor::StorageCluster) | None => return None,
        Some(WriteGuarantor::Array) => match ask.read_and_record_use(disk, &device::FABRIC) {
            Some(NetworkTransport::Nbd) => {
                format!(
                    "ask the administrator of the NBD server of {name} whether it honours flushes"
                )
            }
            Some(
                NetworkTransport::Tcp
                | NetworkTransport::Rdma
                | NetworkTransport::Fc
                | NetworkTransport::Iscsi
                | NetworkTransport::FibreChannel
                | NetworkTransport::Rbd,
            )
            | None => format!(
                "ask the administrator of the array behind {name} whether its write cache is mirrored and battery-backed"
            ),
        },
        Some(WriteGuarantor::Hypervisor) => match transport {
            // This may be a disk of Azure: captures by earlier versions of walwise lack the tag
            // that identifies Azure.
            Some(Transport::Hyperv) => {
                format!(
                    "{}; on Azure, check its host caching in the portal",
                    hypervisor()
                )
            }
            Some(
                Transport::Nvme
                | Transport::Scsi
                | Transport::Sata
                | Transport::Sas
                | Transport::Usb
                | Transport::Virtio
                | Transport::VirtioScsi
                | Transport::Xen
                | Transport::Vmware
                | Transport::Mmc
                | Transport::Pmem
                | Transport::Network
                | Transport::Megaraid
                | Transport::Raid
                | Transport::Other,
            )
            | None => hypervisor(),
        },
        Some(WriteGuarantor::Provider) => match ask.read_and_record_use(disk, &device::CLOUD) {
            Some(CloudDiskService::AzureManagedDisk) => format!(
                "check the host caching of {name} in the Azure portal (None and ReadOnly cache no writes)"
            ),
            Some(
                CloudDiskService::AmazonEbs
                | CloudDiskService::AmazonInstanceStore
                | CloudDiskService::GooglePersistentDisk
                | CloudDiskService::GoogleLocalSsd
                | CloudDiskService::AzureLocalDisk
                | CloudDiskService::AlibabaBlockStorage
                | CloudDiskService::OracleBlockVolume,
            )
            | None => format!(
                "ask the provider whether acknowledged writes to {name} are on stable storage"
            ),
        },
    })
}
