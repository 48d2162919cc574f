//! Who vouches for a disk that this host cannot look into, and whether that is documented. A flush
//! is a promise in every protocol, so a disk that takes flushes is durable unless an unknown array
//! serves it. Without a volatile cache it also needs a document of its guarantor.

use crate::durability::fact_reader::FactReader;
use crate::facts::Subject;
use crate::facts::catalog::device::{self, Cloud, Fabric, Guarantor, Transport};
use crate::facts::catalog::host;

/// Hypervisors of cloud providers, as DMI names them.
const PROVIDERS: [&str; 4] = ["amazon", "google", "alibaba", "azure"];

/// QEMU in DMI. Its manual documents what each disk type does with a write (*Block device options*,
/// cache).
const QEMU: &str = "kvm";

/// Azure does not cache writes of disks of this size or larger (*Azure premium storage*, Disk
/// caching).
const AZURE_UNCACHED_SIZE: u64 = 4 << 40;

/// Sector size of Ultra Disk and Premium SSD v2 only; Azure caches neither.
const AZURE_UNCACHED_SECTOR: u64 = 4096;

/// The guarantor of a disk that is not a RAID volume; `None` if its attachment is unknown.
pub fn find_guarantor(
    ask: &mut FactReader,
    disk: &Subject,
    transport: Option<Transport>,
) -> Option<Guarantor> {
    if ask.get(disk, &device::CLOUD).is_some() {
        return Some(Guarantor::Provider);
    }
    match ask.get(disk, &device::FABRIC) {
        Some(Fabric::Rbd) => return Some(Guarantor::StorageCluster),
        Some(
            Fabric::Tcp
            | Fabric::Rdma
            | Fabric::Fc
            | Fabric::Iscsi
            | Fabric::FibreChannel
            | Fabric::Nbd,
        ) => return Some(Guarantor::Array),
        None => {}
    }
    let machine = ask.get(&Subject::host(), &host::VIRTUALISATION);
    let machine = machine.as_deref();
    let provider = machine.is_some_and(|name| PROVIDERS.contains(&name));
    match transport? {
        Transport::Network => Some(Guarantor::Array),
        Transport::Virtio
        | Transport::VirtioScsi
        | Transport::Vmware
        | Transport::Hyperv
        | Transport::Xen => Some(if provider { Guarantor::Provider } else { Guarantor::Hypervisor }),
        Transport::Nvme
        | Transport::Scsi
        | Transport::Sata
        | Transport::Sas
        | Transport::Usb
        | Transport::Mmc
        | Transport::Pmem
        // RAID volumes do not get here; these disks are passed through by their controller.
        | Transport::Megaraid
        | Transport::Raid => Some(match machine {
            Some("none") | None => Guarantor::Drive,
            Some(_) if provider => Guarantor::Provider,
            Some(_) => Guarantor::Hypervisor,
        }),
        Transport::Other => None,
    }
}

/// Whether the guarantor documents that a disk without a volatile cache keeps what it acknowledged
/// (virtio, *Block Device*; Amazon EBS User Guide; Google *Persistent Disk*; Alibaba *Elastic Block
/// Storage*; Ceph *Architecture*).
pub fn is_documented(
    ask: &mut FactReader,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
) -> bool {
    match guarantor {
        // The drive's own statement decides, also for an unknown attachment.
        Some(Guarantor::Drive | Guarantor::StorageCluster) | None => true,
        Some(Guarantor::Array) => false,
        Some(Guarantor::Hypervisor) => is_protocol_documented(ask, transport),
        Some(Guarantor::Provider) => match ask.get(disk, &device::CLOUD) {
            Some(
                Cloud::AmazonEbs
                | Cloud::GooglePersistentDisk
                | Cloud::AlibabaBlockStorage
                // Local drives of the provider: their loss with the instance is judged as a
                // warning.
                | Cloud::AmazonInstanceStore
                | Cloud::GoogleLocalSsd
                | Cloud::AzureLocalDisk,
            ) => true,
            Some(Cloud::AzureManagedDisk) => is_uncached_by_azure(ask, disk),
            Some(Cloud::OracleBlockVolume) => false,
            None => is_protocol_documented(ask, transport),
        },
    }
}

fn is_protocol_documented(ask: &mut FactReader, transport: Option<Transport>) -> bool {
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
        | None => ask.get(&Subject::host(), &host::VIRTUALISATION).as_deref() == Some(QEMU),
    }
}

/// Whether Azure has no host cache for a disk. The setting *host caching* itself is visible only in
/// the portal.
fn is_uncached_by_azure(ask: &mut FactReader, disk: &Subject) -> bool {
    let size = ask
        .get(disk, &device::SIZE)
        .is_some_and(|size| size >= AZURE_UNCACHED_SIZE);
    let sector = ask.get(disk, &device::LOGICAL_BLOCK) == Some(AZURE_UNCACHED_SECTOR);
    size || sector
}

/// Records as missing what only the guarantor knows, with whom to ask.
pub fn note_unanswered(
    ask: &mut FactReader,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
) {
    let Some(whom) = question(ask, disk, guarantor, transport) else {
        return;
    };
    let remedy = format!("{whom}; or do a power-cut test: walwise drill");
    ask.note_absent(
        disk,
        &device::CACHE,
        "only its guarantor knows how it caches",
        remedy,
    );
}

/// What to ask whom; `None` if this host shows it.
fn question(
    ask: &mut FactReader,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
) -> Option<String> {
    let name = disk.name();
    let hypervisor = || {
        format!(
            "ask whoever runs the hypervisor whether writes to {name} are on stable storage when they are acknowledged"
        )
    };
    Some(match guarantor {
        Some(Guarantor::Drive | Guarantor::StorageCluster) | None => return None,
        Some(Guarantor::Array) => match ask.get(disk, &device::FABRIC) {
            Some(Fabric::Nbd) => {
                format!("ask whoever runs the NBD server of {name} whether it honours flushes")
            }
            Some(
                Fabric::Tcp
                | Fabric::Rdma
                | Fabric::Fc
                | Fabric::Iscsi
                | Fabric::FibreChannel
                | Fabric::Rbd,
            )
            | None => format!(
                "ask the administrator of the array behind {name} whether its write cache is mirrored and battery-backed"
            ),
        },
        Some(Guarantor::Hypervisor) => match transport {
            // Captures of earlier versions lack the tag that identifies Azure.
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
        Some(Guarantor::Provider) => match ask.get(disk, &device::CLOUD) {
            Some(Cloud::AzureManagedDisk) => format!(
                "check the host caching of {name} in Azure's portal: None or ReadOnly caches no writes"
            ),
            Some(
                Cloud::AmazonEbs
                | Cloud::AmazonInstanceStore
                | Cloud::GooglePersistentDisk
                | Cloud::GoogleLocalSsd
                | Cloud::AzureLocalDisk
                | Cloud::AlibabaBlockStorage
                | Cloud::OracleBlockVolume,
            )
            | None => format!(
                "ask the provider whether writes to {name} are on stable storage when they are acknowledged"
            ),
        },
    })
}
