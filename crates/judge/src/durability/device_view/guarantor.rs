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

pub struct Guarantee {
    /// `None` if the disk's attachment is unknown, or for a volume of a RAID controller in this
    /// host.
    pub by: Option<WriteGuarantor>,
    /// Whether the guarantor documents that a disk without a volatile cache keeps acknowledged
    /// writes. True if no document is needed, because the disk's own report decides.
    ///
    /// Sources: virtio, *Block Device*; Amazon EBS User Guide; Google *Persistent Disk*; Alibaba
    /// *Elastic Block Storage*; Ceph *Architecture*.
    pub is_documented: bool,
    /// Question or check that the remedy advises, as a clause.
    question: Option<String>,
}

impl Guarantee {
    pub const fn new_documented(by: Option<WriteGuarantor>) -> Self {
        Self {
            by,
            is_documented: true,
            question: None,
        }
    }

    const fn new(by: WriteGuarantor, is_documented: bool, question: String) -> Self {
        Self {
            by: Some(by),
            is_documented,
            question: Some(question),
        }
    }

    pub fn new_for_array(name: &str, fabric: Option<NetworkTransport>) -> Self {
        let question = if fabric == Some(NetworkTransport::Nbd) {
            format!("ask the administrator of the NBD server of {name} whether it honours flushes")
        } else {
            format!(
                "ask the administrator of the array behind {name} whether its write cache is mirrored and battery-backed"
            )
        };
        Self::new(WriteGuarantor::Array, false, question)
    }
}

/// Finds the guarantor of a disk that is not a volume of a RAID controller in this host.
pub fn find_guarantee(disk: FactReader, transport: Option<Transport>) -> Guarantee {
    let name = disk.name();
    let provider = |is_documented| {
        let question =
            format!("ask the provider whether acknowledged writes to {name} are on stable storage");
        Guarantee::new(WriteGuarantor::Provider, is_documented, question)
    };
    match disk.read(&device::CLOUD) {
        Some(CloudDiskService::AzureManagedDisk) => {
            let question = format!(
                "check the host caching of {name} in the Azure portal (None and ReadOnly cache no writes)"
            );
            let is_uncached = is_uncached_by_azure(disk);
            return Guarantee::new(WriteGuarantor::Provider, is_uncached, question);
        }
        // Data on the provider's local drives is lost with the instance, which `warnings` reports.
        Some(
            CloudDiskService::AmazonEbs
            | CloudDiskService::AmazonInstanceStore
            | CloudDiskService::GooglePersistentDisk
            | CloudDiskService::GoogleLocalSsd
            | CloudDiskService::AzureLocalDisk
            | CloudDiskService::AlibabaBlockStorage,
        ) => return provider(true),
        Some(CloudDiskService::OracleBlockVolume) => return provider(false),
        None => {}
    }
    match disk.read(&device::FABRIC) {
        Some(NetworkTransport::Rbd) => {
            return Guarantee::new_documented(Some(WriteGuarantor::StorageCluster));
        }
        Some(fabric) => return Guarantee::new_for_array(name, Some(fabric)),
        None => {}
    }
    let machine = disk
        .for_subject(&Subject::host())
        .read(&host::VIRTUALISATION);
    let machine = machine.as_deref().unwrap_or("none");
    let Some(transport) = transport.filter(|transport| transport.is_recognised()) else {
        return Guarantee::new_documented(None);
    };
    if transport.is_network() {
        return Guarantee::new_for_array(name, None);
    }
    if machine == "none" && !transport.is_virtual() {
        return Guarantee::new_documented(Some(WriteGuarantor::Drive));
    }
    let is_documented = match transport {
        Transport::Virtio => true,
        Transport::Vmware | Transport::Hyperv | Transport::Xen => false,
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
        | Transport::Other => machine == QEMU,
    };
    if PROVIDERS.contains(&machine) {
        return provider(is_documented);
    }
    // This may be a disk of Azure: captures by earlier versions of walwise lack the tag that
    // identifies Azure.
    let azure = if transport == Transport::Hyperv {
        "; on Azure, check its host caching in the portal"
    } else {
        ""
    };
    let question = format!(
        "ask the hypervisor's administrator whether acknowledged writes to {name} are on stable storage{azure}"
    );
    Guarantee::new(WriteGuarantor::Hypervisor, is_documented, question)
}

/// Whether Azure never caches writes to the disk. Size and sector size decide, because only Azure's
/// portal shows the setting *host caching*.
fn is_uncached_by_azure(disk: FactReader) -> bool {
    let size = disk
        .read(&device::SIZE)
        .is_some_and(|size| size >= AZURE_UNCACHED_SIZE);
    let sector = disk.read(&device::LOGICAL_BLOCK) == Some(AZURE_UNCACHED_SECTOR);
    size || sector
}

/// Does nothing if the disk's guarantor is the drive, a Ceph cluster or unknown.
pub fn record_unverifiable_cache(disk: FactReader, guarantee: &Guarantee) {
    if let Some(question) = &guarantee.question {
        disk.record_unobtainable(
            &device::CACHE,
            "the cache is not visible from this host; the provider, array or hypervisor manages it",
            format!("{question}, or run a power-cut test: `walwise drill`"),
        );
    }
}
