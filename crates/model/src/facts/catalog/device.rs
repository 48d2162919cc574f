//! Block devices. `sysfs-block` in descriptions means Documentation/ABI/stable/sysfs-block of the
//! kernel.

facts! {
    /// Device node, such as /dev/sda1.
    PATH: String = Device "device.path", mark_kernel_assigned, in_identity_group;
    /// Major and minor number, by which mountinfo names devices; from uevent in sysfs.
    DEVNO: String = Device "device.devno", mark_drifting, in_identity_group;
    /// Kind of device: `disk`, `partition`, `md`, `lvm`, `crypt`, `multipath`, `dmraid`, `vdo`,
    /// `dm`, `bcache`, `drbd`, `zvol`, `loop`, `zram`, `ram`, `other`.
    KIND: DeviceKind = Device "device.kind", in_identity_group;
    /// How a disk is attached: `nvme`, `scsi`, `sata`, `sas`, `usb`, `virtio`, `virtio-scsi`,
    /// `xen`, `vmware`, `hyperv`, `mmc`, `pmem`, `network`, `megaraid`, `raid`, `other`.
    TRANSPORT: Transport = Device "device.transport", mark_affects_latency, in_speed_group;
    /// Transport of a network disk: `tcp`, `rdma` or `fc` (NVMe over fabrics, from
    /// /sys/class/nvme/*/transport), `iscsi`, `fibre channel`, `nbd`, `rbd`.
    FABRIC: NetworkTransport = Device "device.fabric", mark_affects_latency, in_speed_group;
    /// Identity of the unit behind a disk, used to recognise several paths to one unit; from `wwid`
    /// in sysfs, masked in captures.
    UNIT: String = Device "device.unit", mark_device_identity;
    /// Cloud service behind a disk, from its exact model string.
    CLOUD: CloudDiskService = Device "device.cloud", mark_concluded, in_identity_group;
    /// Whether the device loses its data when the virtual machine is stopped or moved, from the
    /// cloud's model string.
    EPHEMERAL: bool = Device "device.ephemeral", mark_concluded, in_health_group;
    /// Storage medium, which determines the speed to expect: `platters`, `flash`, `persistent memory`,
    /// `memory`, or `virtual` if a hypervisor, a controller or a network hides the medium.
    MEDIUM: Medium = Device "device.medium", mark_affects_latency, in_speed_group;
    /// Revolutions per minute of a disk's platters, from `smartctl -i`.
    RPM: u64 = Device "device.rpm", in_speed_group;
    /// Driver of the SCSI host, from /sys/class/scsi_host/hostN/proc_name.
    DRIVER: String = Device "device.driver", mark_affects_latency, in_speed_group;
    /// Vendor and model of the disk.
    MODEL: String = Device "device.model", mark_affects_latency, in_identity_group;
    /// Firmware revision of an NVMe or SCSI disk, from `firmware_rev` or `rev` next to its model in
    /// sysfs.
    FIRMWARE: String = Device "device.firmware", mark_affects_latency, in_identity_group;
    /// Serial number of an NVMe or virtio disk, from sysfs; masked in captures.
    SERIAL: String = Device "device.serial", mark_device_identity;
    /// Capacity of the device, from `size` in sysfs.
    SIZE: u64 = Device "device.size" Bytes, in_identity_group;
    /// Whether the kernel treats the device as read-only, from `ro` in sysfs.
    READ_ONLY: bool = Device "device.read_only", in_health_group;
    /// The kernel's rotational flag, from sysfs-block; unreliable, because virtual disks and RAID
    /// volumes often report 1.
    ROTATIONAL: bool = Device "device.rotational", in_speed_group;
    /// Active I/O scheduler, from sysfs-block.
    SCHEDULER: String = Device "device.scheduler", mark_affects_latency, in_speed_group;
    /// Start of a partition on its disk, from `start` in sysfs-block.
    START: u64 = Device "device.start" Bytes, in_speed_group;
    /// Whether a partition starts on a physical block boundary of the disk, from `alignment_offset`
    /// and `start` in sysfs-block.
    ALIGNED: bool = Device "device.aligned", mark_concluded, in_speed_group;
    /// Preferred write size, a whole stripe on RAID; 0 if none is reported, from
    /// queue/optimal_io_size in sysfs-block.
    OPTIMAL_IO: u64 = Device "device.optimal_io" Bytes, in_speed_group;
    /// Latency at which the kernel throttles writeback, in microseconds; 0 for never, from
    /// queue/wbt_lat_usec in sysfs-block.
    WRITEBACK_LATENCY: f64 = Device "device.writeback_latency" Micros, mark_affects_latency, in_speed_group;
    /// Time after which the kernel gives up on a request to a disk, in milliseconds; from
    /// queue/io_timeout in sysfs-block (Linux 5.0 and later), for SCSI from device/timeout.
    IO_TIMEOUT_MS: u64 = Device "device.io_timeout_ms";
    /// Largest write sent to the device in one request, from queue/max_sectors_kb in sysfs-block.
    MAX_IO: u64 = Device "device.max_io" Bytes, in_speed_group;
    /// Largest write that the device guarantees to be atomic; 0 without such a guarantee, from
    /// queue/atomic_write_unit_max_bytes in sysfs-block (Linux 6.11 and later).
    ATOMIC_WRITE_MAX: u64 = Device "device.atomic_write_max" Bytes, in_speed_group;
    /// Whether a disk writes in shingled zones: `no`, `host-aware`, `host-managed` (sysfs-block),
    /// `drive-managed` (`smartctl -i`), or `suspected` (platters with discard); `no` for disks
    /// behind a hypervisor, a controller or a network.
    SHINGLED: ShingledRecording = Device "device.shingled", mark_concluded, in_speed_group;
    /// Smallest unit that can be addressed, from sysfs-block.
    LOGICAL_BLOCK: u64 = Device "device.logical_block" Bytes, in_speed_group;
    /// Smallest unit written without read-modify-write, from sysfs-block.
    PHYSICAL_BLOCK: u64 = Device "device.physical_block" Bytes, in_speed_group;
    /// Largest discard; 0 if the device does not support discard, from sysfs-block.
    DISCARD_MAX: u64 = Device "device.discard_max" Bytes, in_speed_group;
    /// Zone model: `none`, `host-aware`, `host-managed`, from sysfs-block.
    ZONED: ZoneModel = Device "device.zoned", in_speed_group;
    /// The kernel's view of the cache, per queue: `write back` (flushes are sent) or `write
    /// through` (no flushes are sent), from queue/write_cache in sysfs-block.
    WRITE_CACHE: QueueWriteCache = Device "device.write_cache", mark_affects_latency, in_flushes_group;
    /// Whether the driver passes on forced unit access (FUA), from queue/fua in sysfs-block.
    FUA: bool = Device "device.fua", mark_affects_latency, in_flushes_group;
    /// Cache mode that the disk reported to its driver: SCSI `cache_type`
    /// (Documentation/scsi/sd-parameters) or virtio-blk `cache_type`.
    CACHE_TYPE: CacheType = Device "device.cache_type", mark_affects_latency, in_flushes_group;
    /// State of the write cache as reported by the disk itself: `on` or `off`. Queried as root,
    /// bypassing the kernel (`smartctl -g wcache`, `hdparm -W`, NVMe feature 06h).
    DRIVE_CACHE: DriveCacheState = Device "device.drive_cache", mark_affects_latency, in_flushes_group;
    /// Whether an NVMe controller reports a volatile write cache, from the field VWC of `nvme
    /// id-ctrl`.
    NVME_VOLATILE: bool = Device "nvme.volatile_cache", mark_affects_latency, in_flushes_group;
    /// Warnings of an NVMe controller, from `critical_warning` of `nvme smart-log`: `spare low`,
    /// `temperature`, `unreliable`, `read-only`, `memory backup failed`, `persistent memory`.
    NVME_WARNINGS: Vec<String> = Device "nvme.critical_warning", in_health_group;
    /// Number of blocks, minus one, that an NVMe controller claims to write atomically on power
    /// failure (AWUPF of `nvme id-ctrl`). Some drives report a wrong number, so no advice relies on
    /// this claim.
    NVME_AWUPF: u64 = Device "nvme.awupf", in_speed_group;
    /// State of an NVMe drive's power-loss capacitor, from its OCP log page C0h (`nvme get-log -i
    /// 0xc0 -l 512`): `healthy`, `degraded`, `failed`, `absent`; `unreadable` if the page has
    /// another GUID or version.
    NVME_CAPACITOR: CapacitorCondition = Device "nvme.capacitor", mark_affects_latency;
    /// Remaining capacity of an NVMe drive's power-loss capacitor, in percent, from OCP log page
    /// C0h. 100 is the required capacity of a new drive, 1 the minimum for a proper shutdown.
    NVME_CAPACITOR_PERCENT: f64 = Device "nvme.capacitor_percent", mark_drifting;
    /// Power failures that an NVMe drive survived on its capacitor, from OCP log page C0h.
    NVME_PLP_STARTS: u64 = Device "nvme.plp_starts", mark_drifting;
    /// Shutdowns of an NVMe drive before all cached data was written, from OCP log page C0h.
    NVME_INCOMPLETE_SHUTDOWNS: u64 = Device "nvme.incomplete_shutdowns";
    /// Whether the kernel counts flushes of the device: 17 fields in `stat` (Linux 5.5 and later),
    /// and a driver that is not bio-based.
    COUNTS_FLUSHES: bool = Device "device.counts_flushes", in_flushes_group;
    /// The device's own write cache: `none`, `protected` by a healthy battery or flash module,
    /// `volatile`, `unknown`, `contradictory`.
    CACHE: CacheVolatility = Device "device.cache", mark_judged, in_flushes_group;
    /// The only component that can guarantee acknowledged writes of a disk whose caches cannot be
    /// inspected: `drive`, `array`, `storage cluster`, `hypervisor`, `provider`.
    GUARANTOR: WriteGuarantor = Device "device.guarantor", mark_judged, in_flushes_group;
    /// Level of an md array, from md/level (Documentation/admin-guide/md.rst).
    MD_LEVEL: ArrayLevel = Device "md.level", mark_affects_latency, in_speed_group;
    /// State of an md array, from md/array_state. An `inactive` or `clear` array does not run, and
    /// a `broken` one has failed. A `readonly` one takes no writes; a `read-auto` one is read-only
    /// until the first write.
    MD_STATE: ArrayState = Device "md.array_state", mark_drifting, in_health_group;
    /// Number of missing members of an md array, from md/degraded.
    MD_DEGRADED: u64 = Device "md.degraded", mark_affects_latency, in_health_group;
    /// Current sync action of an md array, from md/sync_action.
    MD_SYNC_ACTION: SyncAction = Device "md.sync_action", mark_drifting, mark_affects_latency, in_health_group;
    /// Consistency policy of an md array, from md/consistency_policy.
    MD_CONSISTENCY: ConsistencyPolicy = Device "md.consistency_policy", mark_affects_latency, in_health_group;
    /// Number of members an md array should have, from md/raid_disks.
    MD_DISKS: u64 = Device "md.raid_disks", mark_affects_latency, in_speed_group;
    /// Superblock format of an md array, for firmware RAID such as `external:imsm`; from
    /// md/metadata_version.
    MD_METADATA: String = Device "md.metadata";
    /// Chunk size of a striped md array, from md/chunk_size.
    MD_CHUNK: u64 = Device "md.chunk" Bytes, in_speed_group;
    /// Location of an md array's write-intent bitmap, `none` without one, from md/bitmap/location.
    MD_BITMAP: String = Device "md.bitmap", mark_affects_latency, in_speed_group;
    /// Write-mostly members of an md array, which serve reads only if no other member is left, from
    /// md/dev-*/state.
    MD_WRITE_MOSTLY: Vec<String> = Device "md.write_mostly", mark_kernel_assigned, mark_affects_latency, in_speed_group;
    /// Number of writes that may lag behind on write-mostly members of an md array, from
    /// md/bitmap/backlog; 0 allows none.
    MD_WRITE_BEHIND: u64 = Device "md.write_behind", mark_affects_latency, in_speed_group;
    /// Members of an md array with their states (`sda1 in_sync`, `sdb1 faulty`), from
    /// md/dev-*/state.
    MD_MEMBERS: Vec<String> = Device "md.members", mark_kernel_assigned, mark_affects_latency;
    /// Failed members of an md array that are still attached but no longer part of the stack, from
    /// md/dev-*/state.
    MD_FAILED: Vec<String> = Device "md.failed_members", mark_kernel_assigned, in_health_group;
    /// Members of an md array that should be checked or replaced but are not yet `faulty` (`sda1
    /// write_error`), from md/dev-*/state: `blocked`, `write_error`, `want_replacement`.
    MD_SUSPECT: Vec<String> = Device "md.suspect_members", mark_kernel_assigned, mark_drifting, in_health_group;
    /// Targets of a device-mapper device, in order, from `dmsetup table` as root: `linear`,
    /// `striped`, `thin`, `cache` ...
    DM_TARGETS: Vec<String> = Device "dm.targets", mark_affects_latency, in_speed_group;
    /// Largest power of two, at most 1 MiB, that divides the start of every linear target, on the
    /// device-mapper device and on the device below. From `dmsetup table` as root.
    DM_ALIGNMENT: u64 = Device "dm.alignment" Bytes, in_speed_group;
    /// Mode of a device-mapper cache: `writeback`, `writethrough`, `passthrough`, from `dmsetup
    /// table`; a writecache target always defers writes.
    DM_CACHE_MODE: DmCacheMode = Device "dm.cache_mode", mark_affects_latency, in_flushes_group;
    /// Whether requests to a multipath device wait instead of failing when no path is left, from
    /// `dmsetup table` as root.
    DM_QUEUE_IF_NO_PATH: bool = Device "dm.queue_if_no_path";
    /// State of a device-mapper device, the worst state of its targets, from `dmsetup status` as
    /// root.
    DM_STATE: MappingHealth = Device "dm.state", mark_drifting, in_health_group;
    /// Copies or paths of a device-mapper device that have failed or are missing (`member 1`,
    /// `path 8:32`, `journal`), from `dmsetup status` as root.
    DM_FAILED: Vec<String> = Device "dm.failed_members", mark_drifting, in_health_group;
    /// Copies of a device-mapper device that are still being written, from `dmsetup status` as
    /// root.
    DM_LAGGING: Vec<String> = Device "dm.lagging_members", mark_drifting, in_health_group;
    /// Dirty blocks of a device-mapper cache, which only the cache's disk holds, from `dmsetup
    /// status` as root.
    DM_DIRTY: u64 = Device "dm.dirty_blocks", mark_drifting;
    /// Share of a thin pool's data space in use, in percent, from `dmsetup status` as root.
    THIN_DATA: f64 = Device "thin.data_percent", mark_drifting, in_health_group;
    /// Share of a thin pool's metadata space in use, in percent, from `dmsetup status` as root.
    THIN_METADATA: f64 = Device "thin.metadata_percent", mark_drifting, in_health_group;
    /// Cache mode of bcache, which determines whether writes are deferred, from bcache/cache_mode
    /// (Documentation/admin-guide/bcache.rst).
    BCACHE_MODE: BcacheMode = Device "bcache.cache_mode", mark_affects_latency, in_flushes_group;
    /// State of a bcache device: `no cache`, `clean`, `dirty`, `inconsistent`, from bcache/state.
    BCACHE_STATE: BcacheState = Device "bcache.state", mark_drifting, in_health_group;
    /// DRBD protocol, which sets when a write is complete: `A` once written locally, `B` once
    /// received by the peer, `C` once written by the peer. With several peers, the value
    /// is the weakest protocol. From /proc/drbd of DRBD 8.4, or `drbdsetup show`.
    DRBD_PROTOCOL: DrbdProtocol = Device "drbd.protocol", mark_affects_latency, in_flushes_group;
    /// Method by which DRBD orders dependent writes on its peer: `flush` and `barrier` empty the
    /// disk's cache, `drain` only waits, `none` does not wait. From /proc/drbd of DRBD 8.4, or
    /// disk-barrier, disk-flushes and disk-drain in `drbdsetup show`.
    DRBD_ORDERING: DrbdOrdering = Device "drbd.write_ordering", in_flushes_group;
    /// Whether DRBD flushes its own metadata, the activity log and bitmap, from md-flushes in
    /// `drbdsetup show`.
    DRBD_MD_FLUSHES: bool = Device "drbd.md_flushes", mark_affects_latency, in_flushes_group;
    /// Name of a device-mapper device, from dm/name.
    DM_NAME: String = Device "dm.name", mark_device_identity;
    /// Unique id of a device-mapper device, with a prefix for the kind of device, from dm/uuid.
    DM_UUID: String = Device "dm.uuid", mark_device_identity;
    /// Backing file of a loop device, from loop/backing_file.
    LOOP_FILE: String = Device "loop.backing_file", mark_device_identity, mark_affects_latency;
    /// Whether a loop device uses direct I/O on its file, from loop/dio.
    LOOP_DIRECT: bool = Device "loop.direct_io", mark_affects_latency, in_speed_group;
    /// Device to which a zram device writes idle pages, `none` without one, from backing_dev
    /// (Documentation/admin-guide/blockdev/zram.rst).
    ZRAM_BACKING: String = Device "zram.backing_device", mark_kernel_assigned, mark_affects_latency, in_speed_group;
    /// Whether the device is used for swap, from /proc/swaps.
    SWAP: bool = Device "device.swap", mark_affects_latency, in_health_group;
    /// Uses of the device (`mounted at /`, `member of md0`, `swap`, `partitioned`); empty if
    /// unused.
    USED_BY: Vec<String> = Device "device.used_by", mark_kernel_assigned;
    /// Signatures found by reading the device; empty if none was found.
    SIGNATURES: Vec<String> = Device "device.signatures";
    /// Content of the device: `holds` if it is in use or data was found; `free` if it is unused and
    /// the parts read contain no data; `blank` if it is unused and contains only zeros or only
    /// ones. Unknown if the device could not be read.
    CONTENT: ContentState = Device "device.content", mark_concluded;
    /// Data found on the device and what uses it: signatures (`xfs`), uses (`a mount at /srv`),
    /// `unrecognised data`; empty if nothing was found.
    HOLDS: Vec<String> = Device "device.holds", mark_concluded;
    /// Amount of data read while searching the device for signatures and other data.
    BYTES_READ: u64 = Device "device.bytes_read" Bytes, mark_drifting;
    /// Longest run of unread bytes: contiguous data up to this size can be missed; 0 if the whole
    /// device was read.
    UNREAD_RUN: u64 = Device "device.unread_run" Bytes, mark_drifting;
}

mod layer;

pub use layer::{
    ArrayLevel, ArrayMemberState, ArrayState, BcacheMode, BcacheState, ConsistencyPolicy,
    DmCacheMode, DrbdOrdering, DrbdProtocol, MappingHealth, SyncAction,
};

choice! {
    /// Whether a device holds data. For a device that could not be read, the fact is unknown.
    pub enum ContentState {
        /// The device is in use, or data or a signature was found on it.
        Holds = "holds",
        /// The device is not in use, and the parts read contain no data.
        Free = "free",
        /// The device is not in use, and holds only zeros or only ones; every byte was read.
        Blank = "blank",
    }
}

impl ContentState {
    pub fn allows_new_filesystem(self) -> bool {
        matches!(self, Self::Free | Self::Blank)
    }
}

choice! {
    /// The only component that can guarantee acknowledged writes of a disk whose caches cannot be
    /// inspected.
    pub enum WriteGuarantor {
        /// A drive in this host.
        Drive = "drive",
        /// Another host that exports a disk over the network but does not show its caches.
        Array = "array",
        /// A cluster that acknowledges a write once several hosts have stored the data; so far only
        /// Ceph.
        StorageCluster = "storage cluster"
            /// Whether the guarantor acknowledges a write only once the data is stored, so that
            /// there is no cache to flush.
            is_storage_cluster,
        Hypervisor = "hypervisor",
        Provider = "provider",
    }
}

impl WriteGuarantor {
    /// The guarantor in a sentence about one or several disks: `the provider`, `the drives`.
    pub fn noun_phrase(self, several: bool) -> &'static str {
        match self {
            Self::Drive if several => "the drives",
            Self::Drive => "the drive",
            Self::Array => "the array",
            Self::StorageCluster => "the Ceph cluster",
            Self::Hypervisor => "the hypervisor",
            Self::Provider => "the provider",
        }
    }
}

choice! {
    pub enum DeviceKind {
        Disk = "disk" is_disk,
        Partition = "partition" is_partition,
        Md = "md" is_md,
        Lvm = "lvm" is_lvm,
        Crypt = "crypt",
        Multipath = "multipath",
        Dmraid = "dmraid",
        Vdo = "vdo",
        Dm = "dm",
        Bcache = "bcache",
        Drbd = "drbd" is_drbd,
        Zvol = "zvol" is_zvol,
        Loop = "loop",
        Zram = "zram",
        Ram = "ram",
        Other = "other",
    }
}

impl DeviceKind {
    /// Whether the device is a device-mapper device whose targets can be of any kind, so that
    /// only root can read their kinds.
    pub fn can_have_any_dm_target(self) -> bool {
        matches!(self, Self::Lvm | Self::Dm)
    }
}

choice! {
    pub enum Medium {
        Platters = "platters"
            /// Whether the medium rotates, so that a flush waits for a rotation.
            is_rotational,
        Flash = "flash"
            /// Whether the medium is flash that is attached to this host directly, not through a
            /// hypervisor or a controller.
            is_flash,
        PersistentMemory = "persistent memory",
        Memory = "memory",
        Virtual = "virtual",
    }
}

impl Medium {
    /// True for a virtual disk, which may be flash.
    pub fn can_wear_out(self) -> bool {
        matches!(self, Self::Flash | Self::Virtual)
    }

    pub fn is_memory(self) -> bool {
        matches!(self, Self::PersistentMemory | Self::Memory)
    }
}

choice! {
    /// Whether a disk writes in shingled zones, and who reports the zones.
    pub enum ShingledRecording {
        No = "no", HostAware = "host-aware", HostManaged = "host-managed", DriveManaged = "drive-managed",
        Suspected = "suspected",
    }
}

impl ShingledRecording {
    /// Whether the kernel knows the zones of the disk. False for *drive-managed* disks, which
    /// hide their zones.
    pub fn reports_zones(self) -> bool {
        matches!(self, Self::HostAware | Self::HostManaged)
    }
}

choice! {
    /// Zone model (`queue_zoned_show` in block/blk-sysfs.c; *host-aware* only before Linux
    /// 6.8).
    pub enum ZoneModel { None = "none", HostAware = "host-aware", HostManaged = "host-managed" }

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Transport {
        Nvme = "nvme"
            /// Whether the disk is an NVMe disk in this host; disks over a fabric are
            /// [`Self::Network`].
            is_nvme,
        Scsi = "scsi",
        Sata = "sata",
        Sas = "sas"
            /// Whether the disk is behind a SAS adapter, which may be a RAID controller.
            is_sas,
        Usb = "usb"
            /// A USB bridge may answer queries in place of the disk.
            is_usb,
        Virtio = "virtio",
        VirtioScsi = "virtio-scsi",
        Xen = "xen",
        Vmware = "vmware",
        Hyperv = "hyperv",
        Mmc = "mmc",
        Pmem = "pmem" is_pmem,
        Network = "network" is_network,
        Megaraid = "megaraid",
        Raid = "raid",
        Other = "other",
    }
}

impl Transport {
    /// Whether a hypervisor presents the disk to its guest.
    pub fn is_virtual(self) -> bool {
        matches!(
            self,
            Self::Virtio | Self::VirtioScsi | Self::Xen | Self::Vmware | Self::Hyperv
        )
    }

    /// Whether the disk is behind a driver of RAID controllers, and so probably a volume.
    pub fn is_raid_controller(self) -> bool {
        matches!(self, Self::Megaraid | Self::Raid)
    }

    pub fn is_sata_or_sas(self) -> bool {
        matches!(self, Self::Sata | Self::Sas)
    }

    pub fn is_recognised(self) -> bool {
        !matches!(self, Self::Other)
    }
}

choice! {
    /// Transport of a network disk; the first three are NVMe over fabrics.
    pub enum NetworkTransport {
        Tcp = "tcp", Rdma = "rdma", Fc = "fc", Iscsi = "iscsi", FibreChannel = "fibre channel", Nbd = "nbd", Rbd = "rbd",
    }

pub enum CloudDiskService {
    AmazonEbs = "Amazon Elastic Block Store",
    AmazonInstanceStore = "Amazon EC2 instance store",
    GooglePersistentDisk = "Google persistent disk",
    GoogleLocalSsd = "Google local SSD",
    AzureManagedDisk = "Azure managed disk",
    AzureLocalDisk = "Azure local disk",
    AlibabaBlockStorage = "Alibaba Elastic Block Storage",
    OracleBlockVolume = "Oracle block volume",
}
}

choice! {
/// Conclusion about a disk's own write cache, worst first.
pub enum CacheVolatility {
    /// The cache loses its contents when the power fails.
    Volatile = "volatile" is_volatile,
    /// Kernel and disk report different caches.
    Contradictory = "contradictory",
    Unknown = "unknown" is_unknown,
    /// A healthy battery or flash module preserves the contents.
    Protected = "protected" is_protected,
    /// The disk acknowledges a write only once the data is stored.
    None = "none",
}
}

impl CacheVolatility {
    /// Whether acknowledged writes are safe without any flush.
    pub fn is_safe_unflushed(self) -> bool {
        matches!(self, Self::Protected | Self::None)
    }
}

choice! {
/// The kernel's view of the cache behind a queue; flushes are sent only for `write back`.
pub enum QueueWriteCache {
    WriteBack = "write back"
        /// Whether the kernel assumes a volatile cache, and so sends flushes.
        is_write_back,
    WriteThrough = "write through",
}
}

choice! {
/// The cache mode that a disk reported to its driver (`sd_cache_types` in drivers/scsi/sd.c).
pub enum CacheType {
    WriteThrough = "write through",
    WriteBack = "write back",
    None = "none",
    WriteBackNoRead = "write back, no read (daft)",
}
}

choice! {
pub enum DriveCacheState {
    On = "on" is_on,
    Off = "off",
}
}

impl CacheType {
    /// Whether the cache can hold acknowledged writes that are not stored yet.
    pub fn can_hold_writes(self) -> bool {
        matches!(self, Self::WriteBack | Self::WriteBackNoRead)
    }
}

choice! {
/// A bit of an NVMe controller's critical warning. The fact `nvme.critical_warning` can hold
/// other words too, because some bits are not defined yet.
pub enum NvmeWarning {
    SpareLow = "spare low",
    Temperature = "temperature",
    Unreliable = "unreliable",
    ReadOnly = "read-only",
    MemoryBackupFailed = "memory backup failed",
    PersistentMemory = "persistent memory",
}
}

choice! {
/// State of the capacitor that protects a drive's memory, reported by the drive (OCP Datacenter
/// NVMe SSD Specification, *SMART / Health Information Extended*, Capacitor Health).
pub enum CapacitorCondition {
    /// The capacity is at least the one required of a new drive.
    Healthy = "healthy" is_healthy,
    /// The capacity is less than that of a new drive, but enough for a proper shutdown.
    Degraded = "degraded",
    /// The capacity may be too small for a proper shutdown.
    Failed = "failed",
    Absent = "absent",
    /// The drive returned a log page with another GUID or version.
    Unreadable = "unreadable",
}
}
