//! The running kernel.

facts! {
    /// The kernel release as it calls itself, from uname(2).
    RELEASE: String = Host "kernel.release" ValueKind::Text, prices;
    /// The kernel version; on kernels whose vendor backports, *below* cannot be concluded from it.
    VERSION: Version = Host "kernel.version" ValueKind::Version, concluded;
    /// Whose kernel it is: `mainline`, `debian`, `ubuntu`, `el7`, `el8`, `el9`, `el10`, `sles`, `amazon`, `uek` …, `debian-cloud` and `ubuntu-cloud` for what these build for clouds and single kinds of machines, from the release's tail.
    VENDOR: String = Host "kernel.vendor" ValueKind::Text, concluded;
    /// The build text of the kernel, where Debian and Ubuntu keep the real stable level, from /proc/version.
    BUILD: String = Host "kernel.build" ValueKind::Text;
    /// Disk file systems the running kernel has loaded, from /proc/filesystems.
    FILESYSTEMS: Vec<String> = Host "kernel.filesystems" ValueKind::List, drifting;
    /// Whether ext4 in this kernel announces fast_commit, from /sys/fs/ext4/features (absence proves nothing on 5.10).
    FAST_COMMIT: bool = Host "kernel.ext4_fast_commit" ValueKind::Bool;
    /// Mount flags for the root file system on the kernel command line, from /proc/cmdline.
    ROOT_FLAGS: Vec<String> = Host "kernel.root_flags" ValueKind::List;
    /// What `elevator=` on the kernel command line asks for, an empty list when it is not there, from /proc/cmdline; ignored since 5.0.
    ELEVATOR: Vec<String> = Host "kernel.elevator" ValueKind::List;
    /// Unwritten data at which the kernel begins to write in the background at the latest: vm.dirty_background_bytes, or all memory by vm.dirty_background_ratio (Documentation/admin-guide/sysctl/vm.rst).
    DIRTY_BACKGROUND: u64 = Host "vm.dirty_background" ValueKind::Bytes;
    /// Unwritten data at which writers are made to wait at the latest: vm.dirty_bytes, or all memory by vm.dirty_ratio.
    DIRTY: u64 = Host "vm.dirty" ValueKind::Bytes;
    /// Whether ZFS was told to send no flushes (module parameter zfs_nocacheflush or zil_nocacheflush).
    ZFS_NO_FLUSH: bool = Host "zfs.no_cache_flush" ValueKind::Bool, prices;
    /// Release of the OpenZFS module that is loaded, from /sys/module/zfs/version.
    ZFS_VERSION: Version = Host "zfs.version" ValueKind::Version;
    /// Whether that release supports the kernel, from the table of releases; `not used` where nothing here is on ZFS.
    ZFS_SUPPORT: ZfsSupport = Host "zfs.kernel_support", judged;
}

choice! {
    /// Whether a release of OpenZFS supports the kernel.
    pub enum ZfsSupport { Supported = "supported", TooNew = "too new", NotUsed = "not used" }
}

use crate::facts::choice;
use crate::version::Version;
