//! Mounted file systems, as they are in force now.

facts! {
    /// Where it is mounted, from /proc/self/mountinfo (proc_pid_mountinfo(5)).
    POINT: String = Mount "mount.point" Kind::Text;
    /// File system type, from mountinfo.
    FSTYPE: String = Mount "mount.fstype" Kind::Text, prices;
    /// What is mounted: a device, a remote path, a dataset, from mountinfo.
    SOURCE: String = Mount "mount.source" Kind::Text, assigned, prices;
    /// Which directory of the file system is mounted, from mountinfo; not `/` for a bind mount or a btrfs subvolume.
    ROOT: String = Mount "mount.root" Kind::Text;
    /// Major and minor number, from mountinfo; anonymous on btrfs.
    DEVNO: String = Mount "mount.devno" Kind::Text, drifting;
    /// Per-mount options, from mountinfo's sixth field.
    OPTIONS: Vec<String> = Mount "mount.options" Kind::List, prices;
    /// Options of the superblock, shared by every mount of it, from mountinfo's last field.
    SUPER_OPTIONS: Vec<String> = Mount "mount.super_options" Kind::List, prices;
    /// Whether looking up the mount point arrives here; false where another mount lies over it, from the tree in mountinfo.
    IN_SIGHT: bool = Mount "mount.in_sight" Kind::Bool, concluded;
    /// What kind of file system it is: on `block` devices here, on the `network`, in `memory`, `fuse`, an `overlay`, `zfs`, or `other`.
    CLASS: String = Mount "mount.class"
        Kind::Choice(&["block", "network", "memory", "fuse", "overlay", "zfs", "other"]), concluded;
    /// Whether it is mounted read-only, by the mount or by the superblock.
    READ_ONLY: bool = Mount "mount.read_only" Kind::Bool, concluded;
    /// When access times are written: `noatime`, `relatime`, `strictatime`.
    ATIME: String = Mount "mount.atime" Kind::Choice(&["noatime", "relatime", "strictatime"]), concluded;
    /// Whether the next boot mounts it too: a line of fstab or a mount unit in /etc/systemd/system says so, an automounter waits there, or it is the root.
    AT_BOOT: bool = Mount "mount.at_boot" Kind::Bool, concluded;
    /// Size, from statfs(2).
    SIZE: u64 = Mount "mount.size" Kind::Bytes;
    /// Space an ordinary user can still write, from statfs(2).
    FREE: u64 = Mount "mount.free" Kind::Bytes, drifting;
    /// Share of the space that is free, in percent, from statfs(2).
    FREE_PERCENT: f64 = Mount "mount.free_percent" Kind::Number, drifting;
    /// Whether the file system sends flushes for its own sake: ext4, btrfs and f2fs can be told not to (`nobarrier`).
    BARRIER: String = Mount "mount.barrier" Kind::Choice(&["on", "off", "no effect"]), concluded;
    /// All options in force, defaults included, from /proc/fs/ext4/DEV/options.
    EXT4_OPTIONS: Vec<String> = Mount "ext4.options" Kind::List, prices;
    /// Whether ext4 has a journal, from /sys/fs/ext4/DEV/journal_task.
    EXT4_JOURNAL: bool = Mount "ext4.journal" Kind::Bool, prices;
    /// Journal mode, from the `data=` option in force.
    EXT4_DATA: String = Mount "ext4.data" Kind::Choice(&["ordered", "journal", "writeback"]), prices;
    /// Errors ext4 has counted on this file system, from /sys/fs/ext4/DEV/errors_count.
    EXT4_ERRORS: u64 = Mount "ext4.errors" Kind::Count;
    /// Whether it has the fast_commit feature, from its superblock, or from the commits counted in /proc/fs/ext4/DEV/fc_info.
    EXT4_FAST_COMMIT: bool = Mount "ext4.fast_commit" Kind::Bool, prices;
    /// Features of the superblock, as root, by the names of `dumpe2fs -h`.
    EXT4_FEATURES: Vec<String> = Mount "ext4.features" Kind::List;
    /// Features that an XFS was made with, from its superblock as root: `v5`, `crc`, `reflink`, `bigtime` ...
    XFS_FEATURES: Vec<String> = Mount "xfs.features" Kind::List;
    /// Member devices, from /sys/fs/btrfs/UUID/devices.
    BTRFS_DEVICES: Vec<String> = Mount "btrfs.devices" Kind::List, assigned, prices;
    /// How many member devices are there, from /sys/fs/btrfs/UUID/devices.
    BTRFS_DEVICE_COUNT: u64 = Mount "btrfs.device_count" Kind::Count, prices;
    /// Profiles of the data block groups, from /sys/fs/btrfs/UUID/allocation/data.
    BTRFS_DATA_PROFILES: Vec<String> = Mount "btrfs.data_profiles" Kind::List, prices;
    /// Profiles of the metadata block groups, from /sys/fs/btrfs/UUID/allocation/metadata.
    BTRFS_METADATA_PROFILES: Vec<String> = Mount "btrfs.metadata_profiles" Kind::List, prices;
    /// Whether data of new files is overwritten in place on the whole file system (`nodatacow`).
    BTRFS_NODATACOW: bool = Mount "btrfs.nodatacow" Kind::Bool, prices;
    /// ZFS property `sync` of the dataset, from `zfs get` (zfsprops(7)); `disabled` ignores flushes.
    ZFS_SYNC: String = Mount "zfs.sync" Kind::Choice(&["standard", "always", "disabled"]), prices;
    /// ZFS property `logbias` of the dataset (zfsprops(7)).
    ZFS_LOGBIAS: String = Mount "zfs.logbias" Kind::Choice(&["latency", "throughput"]), prices;
    /// ZFS property `recordsize` of the dataset (zfsprops(7)).
    ZFS_RECORD: u64 = Mount "zfs.recordsize" Kind::Bytes, prices;
    /// Devices of the ZFS pool, its separate log included, from `zpool status -P`.
    ZFS_DEVICES: Vec<String> = Mount "zfs.devices" Kind::List, assigned, prices;
    /// State of the ZFS pool: `ONLINE`, `DEGRADED`, `FAULTED` …, from `zpool status`.
    ZFS_POOL_STATE: String = Mount "zfs.pool_state" Kind::Text;
    /// Device that holds the journal of an ext4, when it is another one, from the name of the journal's thread (/sys/fs/ext4/DEV/journal_task).
    EXT4_JOURNAL_DEVICE: String = Mount "ext4.journal_device" Kind::Text, assigned, prices;
    /// Errors counted on the devices of a btrfs, from /sys/fs/btrfs/UUID/devinfo/*/error_stats (5.14 and later).
    BTRFS_ERRORS: u64 = Mount "btrfs.device_errors" Kind::Count;
    /// Devices that a btrfs lacks, from /sys/fs/btrfs/UUID/devinfo/*/missing.
    BTRFS_MISSING: u64 = Mount "btrfs.missing_devices" Kind::Count;
    /// Share of the inodes that is free, in percent, from statfs(2); unknown on file systems without a fixed number.
    FREE_INODES: f64 = Mount "mount.free_inodes_percent" Kind::Number, drifting;
    /// Size of a block, from statfs(2).
    BLOCK_SIZE: u64 = Mount "mount.block_size" Kind::Bytes;
    /// Stripe by which it places data, 0 where it has none: `stripe=` in force (ext4), `swidth=` among the options (XFS).
    STRIPE: u64 = Mount "mount.stripe" Kind::Bytes;
    /// How that fits the stripes of the md array that it stands on directly: it `fits`, is an `other` one, or there is `none`.
    STRIPE_FITS: String = Mount "mount.stripe_fits" Kind::Choice(&["fits", "other", "none"]), concluded;
    /// Whether the weekly `fstrim --fstab` reaches it: its timer is enabled and the mount point stands in fstab without X-fstrim.notrim.
    TRIMMED: bool = Mount "mount.trimmed" Kind::Bool;
}
