//! Block devices. `sysfs-block` is Documentation/ABI/stable/sysfs-block of the kernel.

facts! {
    /// Its node, such as /dev/sda1.
    PATH: String = Device "device.path" Kind::Text;
    /// Major and minor number, from uevent in sysfs; this is how mounts name their device.
    DEVNO: String = Device "device.devno" Kind::Text;
    /// What it is: `disk`, `partition`, `md`, `lvm`, `crypt`, `multipath`, `dm`, `loop`, `zram`, `ram`, `other`.
    KIND: String = Device "device.kind"
        Kind::Choice(&["disk", "partition", "md", "lvm", "crypt", "multipath", "dm", "loop", "zram", "ram", "other"]);
    /// How a disk is attached: `nvme`, `scsi`, `sata`, `sas`, `usb`, `virtio`, `virtio-scsi`, `xen`, `vmware`, `hyperv`, `mmc`, `network`, `megaraid`, `raid`, `other`.
    TRANSPORT: String = Device "device.transport"
        Kind::Choice(&["nvme", "scsi", "sata", "sas", "usb", "virtio", "virtio-scsi", "xen", "vmware", "hyperv", "mmc", "network", "megaraid", "raid", "other"]);
    /// Driver of the SCSI host, from /sys/class/scsi_host/hostN/proc_name.
    DRIVER: String = Device "device.driver" Kind::Text;
    /// Vendor and model.
    MODEL: String = Device "device.model" Kind::Text;
    /// Serial number of an NVMe or virtio disk, from sysfs; masked in captures.
    SERIAL: String = Device "device.serial" Kind::Text;
    /// Size.
    SIZE: u64 = Device "device.size" Kind::Bytes;
    /// Whether it is read-only.
    READ_ONLY: bool = Device "device.read_only" Kind::Bool;
    /// The kernel's rotational flag, a hint only (virtual disks and RAID volumes often say yes), from sysfs-block.
    ROTATIONAL: bool = Device "device.rotational" Kind::Bool;
    /// Active I/O scheduler, from sysfs-block.
    SCHEDULER: String = Device "device.scheduler" Kind::Text;
    /// Smallest unit that can be addressed, from sysfs-block.
    LOGICAL_BLOCK: u64 = Device "device.logical_block" Kind::Bytes;
    /// Smallest unit written without read-modify-write, from sysfs-block.
    PHYSICAL_BLOCK: u64 = Device "device.physical_block" Kind::Bytes;
    /// Largest discard; 0 where the device cannot, from sysfs-block.
    DISCARD_MAX: u64 = Device "device.discard_max" Kind::Bytes;
    /// Zone model: `none`, `host-aware`, `host-managed`, from sysfs-block.
    ZONED: String = Device "device.zoned" Kind::Text;
    /// What the kernel believes of the cache, per queue: `write back` (flushes are sent) or `write through` (they are not), from queue/write_cache in sysfs-block.
    WRITE_CACHE: String = Device "device.write_cache" Kind::Choice(&["write back", "write through"]);
    /// Whether the driver passes forced unit access, from queue/fua in sysfs-block.
    FUA: bool = Device "device.fua" Kind::Bool;
    /// What the driver was told by the disk of its cache: SCSI `cache_type` (Documentation/scsi/sd-parameters) or virtio-blk `cache_type`.
    CACHE_TYPE: String = Device "device.cache_type"
        Kind::Choice(&["write through", "write back", "none", "write back, no read (daft)"]);
    /// Whether the kernel counts flushes for it (17 fields in `stat`, since 5.5, and not bio-based).
    COUNTS_FLUSHES: bool = Device "device.counts_flushes" Kind::Bool;
    /// What its own cache is: `none`, `protected` by a healthy battery or flash module, `volatile`, `unknown`, `contradictory`.
    CACHE: String = Device "device.cache"
        Kind::Choice(&["none", "protected", "volatile", "unknown", "contradictory"]);
    /// Level of an md array, from md/level (Documentation/admin-guide/md.rst).
    MD_LEVEL: String = Device "md.level" Kind::Text;
    /// Members an md array lacks, from md/degraded.
    MD_DEGRADED: u64 = Device "md.degraded" Kind::Count;
    /// What an md array is doing, from md/sync_action.
    MD_SYNC_ACTION: String = Device "md.sync_action" Kind::Text;
    /// How an md array stays consistent, from md/consistency_policy.
    MD_CONSISTENCY: String = Device "md.consistency_policy" Kind::Text;
    /// Member count an md array should have, from md/raid_disks.
    MD_DISKS: u64 = Device "md.raid_disks" Kind::Count;
    /// Name of a device-mapper device, from dm/name.
    DM_NAME: String = Device "dm.name" Kind::Text;
    /// Unique id of a device-mapper device, whose prefix says its kind, from dm/uuid.
    DM_UUID: String = Device "dm.uuid" Kind::Text;
    /// File beneath a loop device, from loop/backing_file.
    LOOP_FILE: String = Device "loop.backing_file" Kind::Text;
    /// Whether a loop device reads its file directly, from loop/dio.
    LOOP_DIRECT: bool = Device "loop.direct_io" Kind::Bool;
    /// Whether swap lies on it, from /proc/swaps.
    SWAP: bool = Device "device.swap" Kind::Bool;
    /// What holds it (`mounted at /`, `member of md0`, `swap`, `partitioned`), empty when nothing does.
    USED_BY: Vec<String> = Device "device.used_by" Kind::List;
    /// Signatures found on it by reading it; empty when it read as nothing but zeros or ones.
    SIGNATURES: Vec<String> = Device "device.signatures" Kind::List;
    /// Whether it is blank: unused, read, and nothing found. Unreadable is never blank.
    BLANK: bool = Device "device.blank" Kind::Bool;
}
