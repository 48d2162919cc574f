//! On whose word a disk is taken that nobody can see into, and whether that word is documented.
//!
//! One rule serves every such disk, however remote it looks: the protocol's report, and who vouches
//! for it. A disk that takes flushes is durable on anybody's word but an unknown array's, because a
//! flush is a promise in every protocol. A disk that reports no volatile cache needs more: a
//! document of its guarantor that says what an acknowledged write is worth.
//!
//! The documents: virtio specification, *Block Device*, writeback; QEMU, *Block device options*,
//! cache; Amazon EBS User Guide; Google Compute Engine, *Persistent Disk* and *Hyperdisk*; Alibaba
//! Cloud, *Elastic Block Storage*; Azure premium storage, *Disk caching*; Ceph, *Architecture* (a
//! write is acknowledged once every replica has stored it).

use crate::durability::ask::Ask;
use crate::facts::Subject;
use crate::facts::catalog::device::{self, Cloud, Fabric, Guarantor, Transport};
use crate::facts::catalog::host;

/// What DMI calls the hypervisors of providers.
const PROVIDERS: [&str; 4] = ["amazon", "google", "alibaba", "azure"];

/// What DMI calls QEMU, whose documents say what each of its disks does with a write.
const QEMU: &str = "kvm";

/// Azure caches no writes of disks of this size and beyond (*Azure premium storage*, Disk caching).
const AZURE_UNCACHED_SIZE: u64 = 4 << 40;

/// Ultra Disk and Premium SSD v2 alone have sectors of this size, and Azure caches nothing of
/// theirs.
const AZURE_UNCACHED_SECTOR: u64 = 4096;

/// The guarantor of a disk that no RAID controller stands before; `None` where its attachment is
/// unknown.
pub fn of(ask: &mut Ask, disk: &Subject, transport: Option<Transport>) -> Option<Guarantor> {
    if ask.value(disk, &device::CLOUD).is_some() {
        return Some(Guarantor::Provider);
    }
    match ask.value(disk, &device::FABRIC) {
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
    let machine = ask.value(&Subject::host(), &host::VIRTUALISATION);
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
        // The disks here are passed on by their controller.
        | Transport::Megaraid
        | Transport::Raid => Some(match machine {
            Some("none") | None => Guarantor::Drive,
            Some(_) if provider => Guarantor::Provider,
            Some(_) => Guarantor::Hypervisor,
        }),
        Transport::Other => None,
    }
}

/// Whether a document of the guarantor says that a disk which reports no volatile cache keeps what
/// it acknowledged.
pub fn documents(
    ask: &mut Ask,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
) -> bool {
    match guarantor {
        // A drive's own statement; a disk of unknown attachment is judged by that.
        Some(Guarantor::Drive | Guarantor::StorageCluster) | None => true,
        Some(Guarantor::Array) => false,
        Some(Guarantor::Hypervisor) => by_protocol(ask, transport),
        Some(Guarantor::Provider) => match ask.value(disk, &device::CLOUD) {
            Some(
                Cloud::AmazonEbs
                | Cloud::GooglePersistentDisk
                | Cloud::AlibabaBlockStorage
                // Drives in the provider's machine, which forget more than a cache does.
                | Cloud::AmazonInstanceStore
                | Cloud::GoogleLocalSsd
                | Cloud::AzureLocalDisk,
            ) => true,
            Some(Cloud::AzureManagedDisk) => is_uncached_by_azure(ask, disk),
            Some(Cloud::OracleBlockVolume) => false,
            None => by_protocol(ask, transport),
        },
    }
}

fn by_protocol(ask: &mut Ask, transport: Option<Transport>) -> bool {
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
            ask.value(&Subject::host(), &host::VIRTUALISATION)
                .as_deref()
                == Some(QEMU)
        }
    }
}

/// Whether Azure has no host cache for a disk. The setting itself, *host caching*, is visible in
/// the portal alone.
fn is_uncached_by_azure(ask: &mut Ask, disk: &Subject) -> bool {
    let size = ask
        .value(disk, &device::SIZE)
        .is_some_and(|size| size >= AZURE_UNCACHED_SIZE);
    let sector = ask.value(disk, &device::LOGICAL_BLOCK) == Some(AZURE_UNCACHED_SECTOR);
    size || sector
}

/// Records as missing what the guarantor alone knows: what to ask whom.
pub fn miss(
    ask: &mut Ask,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
) {
    let Some(whom) = whom(ask, disk, guarantor, transport) else {
        return;
    };
    let remedy = format!("{whom}; or do a power-cut test: walwise drill");
    ask.lack(
        disk,
        &device::CACHE,
        "only its guarantor knows what is behind it",
        remedy,
    );
}

/// What to ask whom; `None` where this machine shows it.
fn whom(
    ask: &mut Ask,
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
        Some(Guarantor::Array) => match ask.value(disk, &device::FABRIC) {
            Some(Fabric::Nbd) => {
                format!(
                    "ask whoever runs the NBD server of {name} whether it flushes its disk when it is told to"
                )
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
            // Captures of before lack the tag by which Azure is known.
            Some(Transport::Hyperv) => {
                format!(
                    "{}; on Azure, look at its host caching in the portal",
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
        Some(Guarantor::Provider) => match ask.value(disk, &device::CLOUD) {
            Some(Cloud::AzureManagedDisk) => format!(
                "look at the host caching of {name} in Azure's portal: with None or ReadOnly no cache takes its writes"
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
