//! The machine and its distribution.

facts! {
    /// Distribution id, `ID` in os-release(5).
    OS_ID: String = Host "os.id" ValueKind::Text;
    /// Distribution version, `VERSION_ID` in os-release(5).
    OS_VERSION: String = Host "os.version" ValueKind::Text;
    /// Distribution name, `PRETTY_NAME` in os-release(5).
    OS_NAME: String = Host "os.name" ValueKind::Text;
    /// The host's name, from uname(2).
    NAME: String = Host "host.name" ValueKind::Text;
    /// Virtual machine technology, or `none` on bare metal, from DMI and the cpuid hypervisor flag.
    VIRTUALISATION: String = Host "host.virtualisation" ValueKind::Text, prices;
    /// Container technology walwise runs in, or `none`.
    CONTAINER: String = Host "host.container" ValueKind::Text;
    /// From where walwise looks: `host`, `guest` of a hypervisor, or `container`.
    SEEN_BY: Vantage = Host "host.seen_by", concluded;
    /// Whether walwise runs with root's privileges.
    PRIVILEGED: bool = Host "host.privileged" ValueKind::Bool;
    /// Memory of the machine, or of the container where that is less.
    MEMORY: u64 = Host "host.memory" ValueKind::Bytes;
    /// Processors that may be used.
    CPUS: u64 = Host "host.cpus" ValueKind::Count, prices;
    /// e2fsprogs, from `mke2fs -V` (which answers on standard error).
    E2FSPROGS: Version = Host "e2fsprogs.version" ValueKind::Version;
    /// xfsprogs, from `mkfs.xfs -V`.
    XFSPROGS: Version = Host "xfsprogs.version" ValueKind::Version;
    /// btrfs-progs, from `mkfs.btrfs --version`.
    BTRFSPROGS: Version = Host "btrfsprogs.version" ValueKind::Version;
    /// What `mkfs.ext4` here sets unasked and this kernel cannot mount, or may be unable to, as words for `-O` that leave it out; from the table of features.
    EXT4_LEAVE_OUT: Vec<String> = Host "mkfs.ext4_leave_out" ValueKind::List, judged;
    /// The same for `mkfs.xfs`, as words for its `-m`, `-i` and `-n`.
    XFS_LEAVE_OUT: Vec<String> = Host "mkfs.xfs_leave_out" ValueKind::List, judged;
    /// The same for `mkfs.btrfs`, as words for its `-O`.
    BTRFS_LEAVE_OUT: Vec<String> = Host "mkfs.btrfs_leave_out" ValueKind::List, judged;
    /// mdadm, from `mdadm --version`.
    MDADM: Version = Host "mdadm.version" ValueKind::Version;
    /// util-linux, from `mount --version`.
    UTIL_LINUX: Version = Host "util_linux.version" ValueKind::Version;
    /// Whether fstrim.timer of util-linux is enabled: systemd's timers.target wants it, and it is not masked.
    TRIM_TIMER: bool = Host "host.trim_timer" ValueKind::Bool;
}

choice! {
    /// From where walwise looks.
    pub enum Vantage { Host = "host", Guest = "guest", Container = "container" }
}

impl Vantage {
    /// Whether nothing stands between it and the machine.
    pub fn is_host(self) -> bool {
        matches!(self, Self::Host)
    }
}

use crate::facts::choice;
use crate::version::Version;
