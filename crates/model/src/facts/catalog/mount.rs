//! Present mounts and their file systems; the mounts of the next boot are in [`super::boot`].

facts! {
    /// Mount point, from /proc/self/mountinfo (proc_pid_mountinfo(5)).
    POINT: String = Mount "mount.point", in_identity_group;
    /// File system type, from mountinfo.
    FSTYPE: String = Mount "mount.fstype", mark_affects_latency, in_identity_group;
    /// Mount source, such as a device, a remote path or a dataset, from mountinfo.
    SOURCE: String = Mount "mount.source", mark_kernel_assigned, mark_affects_latency, in_identity_group;
    /// Directory of the file system that is mounted, from mountinfo; not `/` for a bind mount or a
    /// btrfs subvolume.
    ROOT: String = Mount "mount.root", in_identity_group;
    /// Major and minor number of the device, from mountinfo; on btrfs an anonymous number.
    DEVNO: String = Mount "mount.devno", mark_drifting, in_identity_group;
    /// UUID of the file system: for ext4 and XFS from the superblock (as root), for btrfs from the
    /// names in /sys/fs/btrfs.
    UUID: String = Mount "mount.uuid", mark_kernel_assigned, in_identity_group;
    /// Per-mount options, from mountinfo's sixth field.
    OPTIONS: Vec<String> = Mount "mount.options", mark_affects_latency;
    /// Options of the superblock, shared by every mount of the file system, from mountinfo's last
    /// field.
    SUPER_OPTIONS: Vec<String> = Mount "mount.super_options", mark_affects_latency;
    /// Whether this mount is visible at its mount point; false if another mount covers this mount,
    /// from the tree in mountinfo.
    IN_SIGHT: bool = Mount "mount.in_sight", mark_concluded;
    /// Class of file system: on `block` devices of this host, on the `network`, in `memory`,
    /// `fuse`, an `overlay`, `zfs`, or `other`.
    CLASS: MountClass = Mount "mount.class", mark_concluded, in_flushes_group;
    /// Whether the mount is read-only, by its own options or by those of the superblock.
    READ_ONLY: bool = Mount "mount.read_only", mark_concluded, in_health_group;
    /// Access-time mode of the mount: `noatime`, `relatime`, `strictatime`.
    ATIME: AtimePolicy = Mount "mount.atime", mark_concluded, in_speed_group;
    /// Whether the file system is also mounted here at the next boot: by fstab, by a mount unit in
    /// /etc/systemd/system, by an automounter, or as the root.
    AT_BOOT: bool = Mount "mount.at_boot", mark_concluded;
    /// Size of the file system, from statfs(2).
    SIZE: u64 = Mount "mount.size" Bytes, in_identity_group;
    /// Space available to an ordinary user, from statfs(2).
    FREE: u64 = Mount "mount.free" Bytes, mark_drifting, in_health_group;
    /// Share of the space that is free, in percent, from statfs(2).
    FREE_PERCENT: f64 = Mount "mount.free_percent", mark_drifting, in_health_group;
    /// Whether the file system sends its own flushes; the option `nobarrier` turns these flushes
    /// off on ext4, btrfs and f2fs.
    BARRIER: BarrierState = Mount "mount.barrier", mark_concluded, in_flushes_group;
    /// All options in force on an ext4 file system, defaults included, from
    /// /proc/fs/ext4/DEV/options.
    EXT4_OPTIONS: Vec<String> = Mount "ext4.options", mark_affects_latency;
    /// Whether an ext4 file system has a journal, from /sys/fs/ext4/DEV/journal_task.
    EXT4_JOURNAL: bool = Mount "ext4.journal", mark_affects_latency, in_flushes_group;
    /// Journal mode of an ext4 file system, from the `data=` option in force.
    EXT4_DATA: JournalMode = Mount "ext4.data", mark_affects_latency, in_speed_group;
    /// Errors that ext4 has counted on the file system, from /sys/fs/ext4/DEV/errors_count.
    EXT4_ERRORS: u64 = Mount "ext4.errors", in_health_group;
    /// Whether an ext4 file system has the fast_commit feature, from its superblock, or from the
    /// commits counted in /proc/fs/ext4/DEV/fc_info.
    EXT4_FAST_COMMIT: bool = Mount "ext4.fast_commit", mark_affects_latency, in_speed_group;
    /// Features of an ext4 file system, named as in `dumpe2fs -h`, from its superblock (needs
    /// root).
    EXT4_FEATURES: Vec<String> = Mount "ext4.features";
    /// Cluster size (unit of allocation) of an ext4 file system with the feature bigalloc, from its
    /// superblock (needs root; s_log_cluster_size in fs/ext4/ext4.h).
    EXT4_CLUSTER: u64 = Mount "ext4.cluster_size" Bytes, in_speed_group;
    /// Features that an XFS file system was made with, from its superblock (needs root): `v5`,
    /// `crc`, `reflink`, `bigtime` ...
    XFS_FEATURES: Vec<String> = Mount "xfs.features";
    /// Member devices of a btrfs file system, from /sys/fs/btrfs/UUID/devices.
    BTRFS_DEVICES: Vec<String> = Mount "btrfs.devices", mark_kernel_assigned, mark_affects_latency;
    /// Number of present member devices of a btrfs file system, from /sys/fs/btrfs/UUID/devices.
    BTRFS_DEVICE_COUNT: u64 = Mount "btrfs.device_count", mark_affects_latency;
    /// Profiles of the data block groups of a btrfs file system, from
    /// /sys/fs/btrfs/UUID/allocation/data.
    BTRFS_DATA_PROFILES: Vec<String> = Mount "btrfs.data_profiles", mark_affects_latency, in_speed_group;
    /// Profiles of the metadata block groups of a btrfs file system, from
    /// /sys/fs/btrfs/UUID/allocation/metadata.
    BTRFS_METADATA_PROFILES: Vec<String> = Mount "btrfs.metadata_profiles", mark_affects_latency, in_speed_group;
    /// Whether a btrfs file system overwrites the data of all new files in place (mount option
    /// `nodatacow`).
    BTRFS_NODATACOW: bool = Mount "btrfs.nodatacow", mark_affects_latency, in_speed_group;
    /// Further devices of the file system, from `logdev=` and `rtdev=` in force (xfs(5)).
    EXTRA_DEVICES: Vec<String> = Mount "mount.extra_devices", mark_kernel_assigned, mark_affects_latency;
    /// ZFS property `sync` of the dataset, from `zfs get` (zfsprops(7)); `disabled` ignores
    /// flushes.
    ZFS_SYNC: ZfsSync = Mount "zfs.sync", mark_affects_latency, in_flushes_group;
    /// ZFS property `logbias` of the dataset (zfsprops(7)).
    ZFS_LOGBIAS: Logbias = Mount "zfs.logbias", mark_affects_latency, in_speed_group;
    /// ZFS property `recordsize` of the dataset (zfsprops(7)).
    ZFS_RECORD: u64 = Mount "zfs.recordsize" Bytes, mark_affects_latency, in_speed_group;
    /// Devices of the ZFS pool, its separate log included, from `zpool status -P`.
    ZFS_DEVICES: Vec<String> = Mount "zfs.devices", mark_kernel_assigned, mark_affects_latency;
    /// State of the ZFS pool, from `zpool status`.
    ZFS_POOL_STATE: VdevState = Mount "zfs.pool_state", in_health_group;
    /// Devices of the ZFS pool that are missing or no longer used, each with its state, from
    /// `zpool status -P`.
    ZFS_LOST: Vec<String> = Mount "zfs.lost_devices", mark_kernel_assigned, in_health_group;
    /// Vdevs of the ZFS pool with errors, each with its error counts
    /// (`sda1 0 read, 3 write, 0 checksum`), from `zpool status -P`.
    ZFS_ERRORS: Vec<String> = Mount "zfs.error_counts", mark_kernel_assigned, mark_drifting, in_health_group;
    /// Whether data of the ZFS pool is permanently damaged, from the line `errors:` of `zpool
    /// status`.
    ZFS_DAMAGED: bool = Mount "zfs.damaged", mark_drifting, in_health_group;
    /// External journal device of an ext4 file system, from the name of the journal's thread
    /// (/sys/fs/ext4/DEV/journal_task).
    EXT4_JOURNAL_DEVICE: String = Mount "ext4.journal_device", mark_kernel_assigned, mark_affects_latency, in_flushes_group;
    /// Errors counted on the devices of a btrfs file system, from
    /// /sys/fs/btrfs/UUID/devinfo/*/error_stats (Linux 5.14 and later).
    BTRFS_ERRORS: u64 = Mount "btrfs.device_errors", in_health_group;
    /// Number of missing devices of a btrfs file system, from /sys/fs/btrfs/UUID/devinfo/*/missing.
    BTRFS_MISSING: u64 = Mount "btrfs.missing_devices", in_health_group;
    /// Block size of the file system, from statfs(2).
    BLOCK_SIZE: u64 = Mount "mount.block_size" Bytes, in_speed_group;
    /// Options in force that rules/tables/validity.toml does not list for this file system.
    UNLISTED_OPTIONS: Vec<String> = Mount "mount.unlisted_options", mark_judged;
    /// Stripe size by which the file system places data, 0 without a stripe; from `stripe=` in
    /// force (ext4) or `swidth=` among the options (XFS).
    STRIPE: u64 = Mount "mount.stripe" Bytes, in_speed_group;
    /// Whether `mount.stripe` fits the md array directly below: `fits`, `other` for another size,
    /// `none` without a stripe, or `no stripes` without a striped array.
    STRIPE_FITS: StripeFit = Mount "mount.stripe_fits", mark_concluded, in_speed_group;
    /// Whether the weekly `fstrim --fstab` trims the file system: the timer is enabled, and the
    /// mount point is in fstab without X-fstrim.notrim.
    TRIMMED: bool = Mount "mount.trimmed", in_health_group;
}

choice! {
    pub enum MountClass {
        Block = "block"
            /// Whether the file system is on block devices that the kernel lists.
            is_block,
        Network = "network",
        Memory = "memory",
        Fuse = "fuse",
        Overlay = "overlay"
            /// Whether the file system stores its files on other mounted file systems.
            is_overlay,
        Zfs = "zfs"
            /// Whether only ZFS tools list the devices of the file system.
            is_zfs,
        Other = "other",
    }
}

impl MountClass {
    /// Whether the file system uses no device and no other file system of this host.
    pub fn is_without_local_storage(self) -> bool {
        matches!(self, Self::Network | Self::Memory)
    }
}

choice! {
    /// State of a ZFS pool, or of a device in it (zpoolconcepts(7), Device Failure and Recovery).
    pub enum VdevState {
        Online = "ONLINE",
        Degraded = "DEGRADED",
        Faulted = "FAULTED",
        Offline = "OFFLINE",
        Removed = "REMOVED",
        Unavailable = "UNAVAIL",
        /// Only for a pool: I/O is suspended, and writers wait until an administrator clears the
        /// error.
        Suspended = "SUSPENDED",
    }
}

impl VdevState {
    /// Whether ZFS still reads from and writes to a pool or device in this state.
    pub fn is_used_by_zfs(self) -> bool {
        matches!(self, Self::Online | Self::Degraded)
    }
}

choice! {
    pub enum AtimePolicy { Never = "noatime", Relative = "relatime", Always = "strictatime" }

    /// Whether a file system sends flushes itself. `NoEffect` means that an option turns flushes
    /// off, but this kernel ignores the option.
    pub enum BarrierState { On = "on", Off = "off", NoEffect = "no effect" }

    /// Values of ext4's mount option `data` (ext4(5)): the content of the journal besides metadata,
    /// and the order of data and metadata.
    pub enum JournalMode { Ordered = "ordered", Journal = "journal", Writeback = "writeback" }

    /// Values of the ZFS property `sync` (zfsprops(7)), which governs synchronous writes.
    pub enum ZfsSync { Standard = "standard", Always = "always", Disabled = "disabled" }

    /// Values of the ZFS property `logbias` (zfsprops(7)), which governs the use of the log device.
    pub enum Logbias { Latency = "latency", Throughput = "throughput" }

    pub enum StripeFit { Fits = "fits", Other = "other", None = "none", NoStripes = "no stripes" }
}
