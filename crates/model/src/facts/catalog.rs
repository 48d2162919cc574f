//! The declarations of all facts: name, scope, kind, and a sentence that names the public source.
//!
//! There is one module per area. Verdicts, validity and probe results are facts, too, because rules
//! use conclusions like any other fact.

use std::sync::LazyLock;

use super::{FactId, KeyInfo, Reading, Value};

/// Declares the facts of an area: a constant for each, their `NAMES`, and the list `ALL` for lookup
/// by name. Without a value kind, the kind follows from the Rust type. Marks after the kind, such
/// as `mark_concluded` or `mark_affects_latency`, are methods of [`Key`](super::Key).
macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $id:ident: $type:ty = $scope:ident $name:literal $($kind:ident)? $(, $mark:ident)*;)+) => {
        use crate::facts::{Key, KeyInfo, Scope};
        $($(#[doc = $doc])+
        pub const $id: Key<$type> = Key::new(
            crate::facts::catalog::fact_id($name),
            $name,
            Scope::$scope,
            facts!(@kind $type $(, $kind)?),
            concat!($($doc),+),
        )$(.$mark())*;)+
        pub(super) const NAMES: &[&str] = &[$($name),+];
        pub const ALL: &[KeyInfo] = &[$($id.info),+];
    };
    (@kind $type:ty) => { <$type as crate::facts::FactValue>::KIND };
    (@kind $type:ty, $kind:ident) => { crate::facts::ValueKind::$kind };
}

pub mod boot {
    //! The mounts of the next boot: lines of fstab, mount units, and the kernel's root flags.

    /// Mount options that are recorded without their values: `user=` names an account on network
    /// file systems, and `comment=` is arbitrary text (mount(8)).
    pub const OPTIONS_WITHOUT_VALUE: [&str; 2] = ["user=", "comment="];

    facts! {
        /// Mount point of the file system at the next boot.
        POINT: String = Boot "boot.point";
        /// Device or other source that is mounted at the next boot.
        SOURCE: String = Boot "boot.source";
        /// File system type of the line; for `auto` or several types, the type now mounted at the
        /// mount point.
        FSTYPE: String = Boot "boot.fstype";
        /// File system type exactly as the line states it, for example `auto` or several types.
        WRITTEN_TYPE: String = Boot "boot.written_type";
        /// Fifth and sixth field of an fstab line, if written: dump(8), and the order of checks
        /// (fstab(5)).
        DUMP_AND_PASS: String = Boot "boot.dump_and_pass";
        /// Whether every option was recorded when the line was read. Options that may hold
        /// passwords are not recorded; `user=` and `comment=` are recorded without their values.
        WHOLE: bool = Boot "boot.whole";
        /// Options as written; options that walwise does not list are dropped on reading, because
        /// they can hold passwords.
        OPTIONS: Vec<String> = Boot "boot.options";
        /// File and line that define the mount.
        WHERE: String = Boot "boot.where";
        /// Whether the file system is mounted automatically (no `noauto`).
        AUTO: bool = Boot "boot.auto";
        /// Whether the named block device is `there` or `missing`, from /dev and the udev links in
        /// /dev/disk; `other` if the name resolves to something else, such as /dev/null; `none` if
        /// the line names no block device.
        DEVICE: BootDeviceState = Boot "boot.device";
        /// Type of the file system that is mounted from the line's device now, if it differs from
        /// the written type.
        TYPE_THERE: String = Boot "boot.type_there", mark_concluded;
        /// The earlier line that is certain to mount the same file system, at another mount point.
        FIRST: String = Boot "boot.first", mark_concluded;
        /// File system options of the line that have no effect, because an earlier line mounts the
        /// same file system with its own options.
        OVERRULED: Vec<String> = Boot "boot.overruled_options", mark_concluded;
        /// File system options that apply although the line lacks them, because an earlier line
        /// mounts the same file system with them.
        SET_BY_FIRST: Vec<String> = Boot "boot.options_of_first", mark_concluded;
        /// Lines that mount the same file system with other options, if the mount order is unknown.
        UNORDERED: Vec<String> = Boot "boot.unordered_with", mark_concluded;
        /// Options of the line, without options that a later option reverses or an earlier mount of
        /// the same file system overrides.
        IN_EFFECT: Vec<String> = Boot "boot.options_in_effect", mark_judged;
        /// File system type of the line, if this kernel is known not to support that type;
        /// otherwise empty.
        REFUSED_TYPE: Vec<String> = Boot "boot.refused_type", mark_judged;
        /// Options that this kernel refuses, so that the mount fails.
        REFUSED: Vec<String> = Boot "boot.refused_options", mark_judged;
        /// Options that this kernel accepts and ignores.
        NO_EFFECT: Vec<String> = Boot "boot.ineffective_options", mark_judged;
        /// Options that this kernel accepts with a warning.
        DEPRECATED: Vec<String> = Boot "boot.deprecated_options", mark_judged;
        /// Options that only repeat the default.
        DEFAULT_ANYWAY: Vec<String> = Boot "boot.default_options", mark_judged;
        /// Whether every file that defines the mounts of the next boot was read.
        READ: bool = Host "boot.read";
        /// Swap at the next boot: devices and files from fstab, and swap units by name.
        SWAPS: Vec<String> = Host "boot.swaps";
        /// Swap entries of the next boot whose device or file does not exist.
        SWAPS_MISSING: Vec<String> = Host "boot.swaps_missing";
        /// Swap entries of the next boot that exist but cannot be used as swap: a directory, a
        /// character device, or a device whose file system is mounted.
        SWAPS_UNFIT: Vec<String> = Host "boot.swaps_unfit";
        /// Swap entries of the next boot that could not be checked: not active as swap now, or with
        /// unknown options.
        SWAPS_UNSEEN: Vec<String> = Host "boot.swaps_unseen";
        /// Names of the encrypted devices that the next boot unlocks, from crypttab(5).
        UNLOCKED: Vec<String> = Host "boot.unlocked";
        /// Encrypted devices that may be missing at the next boot without stopping it (nofail).
        UNLOCKED_OPTIONAL: Vec<String> = Host "boot.unlocked_optional";
        /// Encrypted devices of the next boot whose underlying device is missing or not a block
        /// device.
        UNLOCKED_MISSING: Vec<String> = Host "boot.unlocked_missing";
        /// Encrypted devices of the next boot that could not be checked: the device, key or options
        /// are partly unknown, or the device is not unlocked now.
        UNLOCKED_UNSEEN: Vec<String> = Host "boot.unlocked_unseen";
        /// Encrypted devices of the next boot that have no header and whose crypttab line lacks the
        /// cipher or hash, so that cryptsetup's defaults apply.
        UNLOCKED_BY_DEFAULTS: Vec<String> = Host "boot.unlocked_by_defaults";
        /// Kernel parameters for mounts, encrypted devices or swap that walwise does not evaluate,
        /// or that name something that is missing now (kernel-command-line(7), dracut.cmdline(7)).
        PARAMETERS_UNREAD: Vec<String> = Host "boot.parameters_unread";
        /// Options whose effect on this kernel is unknown.
        UNDECIDED: Vec<String> = Boot "boot.undecided_options", mark_judged;
    }

    choice! {
        pub enum BootDeviceState { There = "there", Missing = "missing", Other = "other", None = "none" }
    }
}
pub mod cluster {
    //! Facts of the data directories of all kinds of database servers.

    use crate::facts::ServerKind;

    choice! {
        /// Whether a log is large enough for the amount that is written to it.
        pub enum LogSizeFit {
            Enough = "enough",
            TooSmall = "too small",
            NoRoom = "too small, but no free space for a larger log",
        }
    }

    facts! {
        /// Kind of database server that the data directory belongs to.
        KIND: ServerKind = Cluster "cluster.kind";
    }
}
pub mod controller {
    //! Reports of a RAID controller's own tool about the volume behind a disk.

    facts! {
        /// The controller's own tool that answered: `storcli`, `perccli`, `storcli2`, `perccli2`,
        /// `MegaCli`, `ssacli`, `hpssacli`, `hpacucli`, `arcconf`.
        TOOL: String = Device "controller.tool", in_identity_group;
        /// Name of the controller's volume that appears as the disk; `none` if the controller
        /// passes the disk through, so that no battery protects writes.
        VOLUME: String = Device "controller.volume", in_identity_group;
        /// Controller model, from its tool.
        MODEL: String = Device "controller.model", in_identity_group;
        /// State of the battery or flash module that protects the controller's cache.
        BATTERY: BatteryCondition = Device "controller.battery", mark_affects_latency, in_flushes_group;
        /// Cache policy that is configured for the volume, as reported by the controller's tool.
        POLICY: CachePolicy = Device "controller.policy", mark_affects_latency, in_flushes_group;
        /// Cache policy that the controller follows now, which may differ from the configured one.
        POLICY_IN_FORCE: CachePolicyInForce = Device "controller.policy_in_force", mark_affects_latency, in_flushes_group;
        /// Cache behaviour on battery failure: falls back to `write through`, or `stays`
        /// write-back.
        ON_BATTERY_FAILURE: BatteryFailurePolicy = Device "controller.on_battery_failure", mark_affects_latency, in_flushes_group;
        /// Reason why the cache does not work as configured, as reported by ssacli or arcconf
        /// (`Cache Status Details`).
        CACHE_DETAIL: String = Device "controller.cache_detail", mark_drifting;
        /// Write caches of the member disks: `off`, `on`, or `disk default` (the state is unknown).
        DISK_CACHE: MemberDiskCache = Device "controller.disk_cache", mark_affects_latency, in_flushes_group;
    }

    choice! {
        pub enum BatteryCondition {
            Healthy = "healthy",
            Charging = "charging",
            /// A learn cycle runs: the battery is discharged and recharged, and most controllers
            /// write through during the cycle.
            Learning = "learning",
            Degraded = "degraded",
            Failed = "failed",
            Absent = "absent",
            Unreadable = "unreadable",
        }

        pub enum CachePolicy { WriteBack = "write back", WriteThrough = "write through", AlwaysWriteBack = "always write back" }

        pub enum CachePolicyInForce { WriteBack = "write back", WriteThrough = "write through" }

        pub enum BatteryFailurePolicy { WriteThrough = "write through", Stays = "stays" }

        pub enum MemberDiskCache { Off = "off", On = "on", DiskDefault = "disk default" }
    }
}
pub mod device;
pub mod drill {
    //! Facts of drills (power-cut tests) of this stack. `walwise check --drill` adds these facts
    //! from a record. Anyone could have written the record, so advice that can lose data must not
    //! depend on such facts.

    facts! {
        /// Date of the last power cut (RFC 3339), from the record of a drill.
        ON: String = Target "drill.on", mark_measured;
        /// Number of power cuts while commits were being acknowledged, from the record of a drill.
        CUTS: u64 = Target "drill.cuts", mark_measured;
        /// Number of acknowledged commits that another host had logged and that were checked after the power
        /// cuts, from the record of a drill.
        ACKNOWLEDGED: u64 = Target "drill.acknowledged", mark_measured;
        /// Number of acknowledged commits lost in the power cuts, from the record of a drill.
        LOST: u64 = Target "drill.lost", mark_measured;
    }
}
pub mod host {
    //! The host, its distribution, and the installed tools for file systems.

    facts! {
        /// Distribution id, `ID` in os-release(5).
        OS_ID: String = Host "os.id";
        /// Distribution version, `VERSION_ID` in os-release(5).
        OS_VERSION: String = Host "os.version";
        /// Distribution name, `PRETTY_NAME` in os-release(5).
        OS_NAME: String = Host "os.name";
        /// The host's name, from uname(2).
        NAME: String = Host "host.name";
        /// Virtual machine technology, or `none` on bare metal, from DMI and the cpuid hypervisor
        /// flag.
        VIRTUALISATION: String = Host "host.virtualisation", mark_affects_latency;
        /// Container technology that walwise runs in, or `none`.
        CONTAINER: String = Host "host.container";
        /// Where walwise runs: `host`, `guest` of a hypervisor, or `container`.
        SEEN_BY: RunEnvironment = Host "host.seen_by", mark_concluded;
        /// Whether walwise runs with root's privileges.
        PRIVILEGED: bool = Host "host.privileged";
        /// Memory of the host, or the container's memory limit if that is lower.
        MEMORY: u64 = Host "host.memory" Bytes;
        /// Number of processors that walwise can use, limited by CPU affinity and control group.
        CPUS: u64 = Host "host.cpus", mark_affects_latency;
        /// Version of e2fsprogs, from the standard error of `mke2fs -V`.
        E2FSPROGS: Version = Host "e2fsprogs.version";
        /// Version of xfsprogs, from `mkfs.xfs -V`.
        XFSPROGS: Version = Host "xfsprogs.version";
        /// Version of btrfs-progs, from `mkfs.btrfs --version`.
        BTRFSPROGS: Version = Host "btrfsprogs.version";
        /// MySQL series packaged by the release of `upgrade --os`; never read from the host.
        OS_MYSQL: Version = Host "os.mysql_version";
        /// MariaDB series packaged by the release of `upgrade --os`; never read from the host.
        OS_MARIADB: Version = Host "os.mariadb_version";
        /// PostgreSQL series packaged by the release of `upgrade --os`; never read from the host.
        OS_POSTGRESQL: Version = Host "os.postgresql_version";
        /// Features that the installed `mkfs.ext4` enables by default but this kernel may be unable
        /// to mount, as words for `-O` that disable them; from walwise's table of features.
        EXT4_LEAVE_OUT: Vec<String> = Host "mkfs.ext4_leave_out", mark_judged;
        /// Features to disable for `mkfs.xfs` on this kernel, as words for its `-m`, `-i` and `-n`.
        XFS_LEAVE_OUT: Vec<String> = Host "mkfs.xfs_leave_out", mark_judged;
        /// Features to disable for `mkfs.btrfs` on this kernel, as words for its `-O`.
        BTRFS_LEAVE_OUT: Vec<String> = Host "mkfs.btrfs_leave_out", mark_judged;
        /// Version of mdadm, from `mdadm --version`.
        MDADM: Version = Host "mdadm.version";
        /// Version of util-linux, from `mount --version`.
        UTIL_LINUX: Version = Host "util_linux.version";
        /// Whether fstrim.timer of util-linux is enabled: systemd's timers.target wants it and it
        /// is not masked.
        TRIM_TIMER: bool = Host "host.trim_timer";
    }

    choice! {
        pub enum RunEnvironment {
            Host = "host"
                /// Whether walwise runs on the host itself, neither in a guest nor in a container.
                is_host,
            Guest = "guest",
            Container = "container",
        }
    }

    use crate::version::Version;
}
pub mod kernel {
    facts! {
        /// Kernel release, from uname(2).
        RELEASE: String = Host "kernel.release", mark_affects_latency;
        /// Kernel version; if the vendor backports, an older number does not prove that a feature
        /// is missing.
        VERSION: Version = Host "kernel.version", mark_concluded;
        /// Memory page size of the running kernel: 4 KiB on x86; on aarch64, 64 KiB up to Red Hat
        /// Enterprise Linux 8 and in kernels with `64k` in their release. Unknown elsewhere.
        PAGE_SIZE: u64 = Host "kernel.page_size" Bytes;
        /// Kernel vendor, from the end of the release: `mainline`, `debian`, `ubuntu`, `el7`,
        /// `el8`, `el9`, `el10`, `sles`, `amazon`, `uek` …; `debian-cloud` and `ubuntu-cloud` for
        /// cloud and special-purpose builds.
        VENDOR: String = Host "kernel.vendor", mark_concluded;
        /// Build string of the kernel, from /proc/version; on Debian and Ubuntu it contains the
        /// upstream stable version.
        BUILD: String = Host "kernel.build";
        /// Disk file systems available in the running kernel (built in or loaded), from
        /// /proc/filesystems.
        FILESYSTEMS: Vec<String> = Host "kernel.filesystems", mark_drifting;
        /// Whether this kernel's ext4 lists fast_commit in /sys/fs/ext4/features (on Linux 5.10 a
        /// missing entry is not conclusive).
        FAST_COMMIT: bool = Host "kernel.ext4_fast_commit";
        /// Whether this kernel's jbd2 is built with CONFIG_JBD2_DEBUG, and so has the parameter
        /// jbd2_debug.
        JBD2_DEBUG: bool = Host "kernel.jbd2_debug";
        /// Who may use io_uring, from the sysctl kernel.io_uring_disabled: 0 for everybody; 1 for
        /// members of kernel.io_uring_group; 2 for nobody
        /// (Documentation/admin-guide/sysctl/kernel.rst).
        IO_URING_DISABLED: u64 = Host "kernel.io_uring_disabled";
        /// Mount flags for the root file system on the kernel command line, from /proc/cmdline.
        ROOT_FLAGS: Vec<String> = Host "kernel.root_flags";
        /// Value of `elevator=` on the kernel command line, from /proc/cmdline; empty if absent.
        /// Linux 5.0 and later ignore this parameter.
        ELEVATOR: Vec<String> = Host "kernel.elevator";
        /// Maximum amount of dirty data before background writeback starts:
        /// vm.dirty_background_bytes, or vm.dirty_background_ratio percent of all memory
        /// (Documentation/admin-guide/sysctl/vm.rst).
        DIRTY_BACKGROUND: u64 = Host "vm.dirty_background" Bytes;
        /// Maximum amount of dirty data before writers are throttled: vm.dirty_bytes, or
        /// vm.dirty_ratio percent of all memory.
        DIRTY: u64 = Host "vm.dirty" Bytes;
        /// Whether ZFS is configured to send no flushes (module parameter zfs_nocacheflush or
        /// zil_nocacheflush).
        ZFS_NO_FLUSH: bool = Host "zfs.no_cache_flush", mark_affects_latency;
        /// Release of the loaded OpenZFS module, from /sys/module/zfs/version.
        ZFS_VERSION: Version = Host "zfs.version";
        /// Whether the loaded OpenZFS release supports this kernel, from walwise's table of
        /// releases; `not used` if no file system of this host is on ZFS.
        ZFS_SUPPORT: ZfsSupport = Host "zfs.kernel_support", mark_judged;
    }

    choice! {
        pub enum ZfsSupport { Supported = "supported", TooNew = "too new", NotUsed = "not used" }
    }

    use crate::version::Version;
}
pub mod mount;
pub mod mysql;
pub mod postgres;
pub mod probe {
    //! Results of walwise's own measurement of commits, for rules. The figures of each method are
    //! only in the report, under `probes`.

    /// With fewer flushes per commit than this, flushes were lost, because the kernel merges at
    /// most half of the concurrent flushes.
    pub const TOO_FEW_FLUSHES: f64 = 0.5;

    facts! {
        /// Median latency of a commit with the method in force (the default without a server): 8 kB
        /// of WAL, or a block of InnoDB's redo log.
        COMMIT: f64 = Target "probe.commit" Micros, mark_measured;
        /// 95th percentile of the latency of a paced commit with the method in force, if the probe
        /// has enough commits for an interval.
        P95: f64 = Target "probe.p95" Micros, mark_measured;
        /// 99th percentile of the latency of a paced commit with the method in force. Known only
        /// with 1,000 commits or more, and if they suffice for an interval.
        P99: f64 = Target "probe.p99" Micros, mark_measured;
        /// Fastest valid method, if it is faster than the default by more than the noise; otherwise the
        /// default.
        BEST_METHOD: WalSyncMethod = Target "probe.best_method", mark_measured;
        /// Whether the best method differs from the one in force (the default without a server), by
        /// a settled comparison that nothing contradicts.
        ADVISES_CHANGE: bool = Target "probe.advises_change", mark_measured;
        /// Lower bound of the gain of the best method over the one in force (the default without a
        /// server), in percent, over one- and two-page commits.
        GAIN_PERCENT: f64 = Target "probe.gain_percent", mark_measured;
        /// Outcome of the comparison: `settled`, `no meaningful difference`, or `not settled`.
        OUTCOME: ComparisonConclusion = Target "probe.outcome", mark_measured;
        /// Whether advice may rely on the measurement: false if a caveat of the measurement forbids
        /// it.
        TRUSTED: bool = Target "probe.trusted", mark_measured;
        /// Flushes that reached the disks per fdatasync.
        FLUSHES_PER_COMMIT: f64 = Target "probe.flushes_per_commit", mark_measured;
        /// Flush latency: median of overwrite + fdatasync minus median of the same overwrite
        /// unflushed, both O_DIRECT.
        FLUSH_COST: f64 = Target "probe.flush_cost" Micros, mark_measured;
        /// Commits per second (mean) with the default method, 1 client.
        COMMITS_PER_SECOND: f64 = Target "probe.commits_per_second", mark_measured;
        /// Whether flushes were faster than any disk of this kind can complete them.
        IMPLAUSIBLE: bool = Target "probe.implausible", mark_measured;
        /// Why the measured speed of flushes is implausible, with the arithmetic.
        IMPLAUSIBLE_BECAUSE: String = Target "probe.implausible_because", mark_measured;
        /// Measured directory, if it is not the database's own but another directory on the same
        /// file system.
        DIRECTORY: String = Target "probe.directory", mark_measured;
        /// Latency of a commit into a new WAL segment filled with zeros, relative to a recycled
        /// segment; 1 means equal.
        NEW_SEGMENT_ZEROED: f64 = Target "probe.new_segment_zeroed", mark_measured;
        /// Latency of a commit into a new WAL segment that was not filled (`wal_init_zero=off`),
        /// relative to a recycled segment.
        NEW_SEGMENT_UNFILLED: f64 = Target "probe.new_segment_unfilled", mark_measured;
        /// Commits per second of 16 clients that share flushes, as in PostgreSQL or InnoDB.
        GROUP_COMMITS_PER_SECOND: f64 = Target "probe.group_commits_per_second", mark_measured;
        /// Median latency of a 512-byte transaction that is flushed in the redo log and then in the
        /// binary log.
        BINLOG_COMMIT: f64 = Target "probe.binlog_commit" Micros, mark_measured;
        /// Small files per second that one thread writes and durably renames.
        FILES_PER_SECOND: f64 = Target "probe.files_per_second", mark_measured;
        /// Latency of a commit with fdatasync next to a busy writer on the same file system,
        /// relative to a commit without such a writer; 1 means equal.
        ENTANGLED_FDATASYNC: f64 = Target "probe.entangled_fdatasync", mark_measured;
        /// Latency of a commit with fsync next to a busy writer on the same file system, relative
        /// to a commit without such a writer; 1 means equal.
        ENTANGLED_FSYNC: f64 = Target "probe.entangled_fsync", mark_measured;
    }

    choice! {
        /// Result of comparing two methods, or of all comparisons of a probe together.
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum ComparisonConclusion {
            /// One method is faster by more than 5 %, beyond noise. A probe is also settled if every
            /// other method is slower than the default.
            Settled = "settled" shows_difference,
            /// The whole interval of the difference lies within 5 %.
            NoMeaningfulDifference = "no meaningful difference" shows_no_difference,
            /// The probe ended before the interval was narrow enough, or has no comparison.
            NotSettled = "not settled" is_undecided,
        }
    }

    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::postgres::WalSyncMethod;
}
pub mod target;
pub mod trial {
    //! Facts of trials, which create and benchmark several file systems on this stack. `walwise
    //! check --trial` adds these facts from a record. Anyone could have written the record, so
    //! advice that can lose data must not depend on such facts.

    facts! {
        /// Whether every load that counts for a database's log was settled, from the record of a
        /// trial on this disk.
        SETTLED: bool = Target "trial.settled", mark_measured;
        /// Reliability of the trial's figures: `disk` if measured on the disk itself; otherwise
        /// `faithful`, `order only`, `indicative` or `not certified`, from a comparison of the loop
        /// device with its file.
        BASIS: TrialBasis = Target "trial.basis", mark_measured;
        /// File systems that are the fastest, or within 5 % of the fastest, under every deciding
        /// load, at 95 % confidence; empty if a trial was not settled.
        BEST: Vec<TrialFilesystem> = Target "trial.best", mark_measured;
        /// File systems that are slower than another file system under at least one load that
        /// counts for a database's log.
        SLOWER: Vec<TrialFilesystem> = Target "trial.slower", mark_measured;
        /// The faster of fdatasync and open_datasync in the trial: fdatasync unless open_datasync
        /// gains at least 5 %. The comparison is on the target's file system or, for a free disk,
        /// on every file system that may be the best.
        METHOD: WalSyncMethod = Target "trial.method", mark_measured;
        /// Lower bound of the gain of `trial.method` over fdatasync in the trial, in percent.
        METHOD_GAIN: f64 = Target "trial.method_gain_percent", mark_measured;
    }

    choice! {
        pub enum TrialFilesystem {
            Ext4 = "ext4",
            Ext4FastCommit = "ext4-fast-commit",
            Xfs = "xfs",
            Btrfs = "btrfs",
            /// btrfs with the flag +C (no copy-on-write) on the directory of the log.
            BtrfsNocow = "btrfs-nocow",
        }

        /// How reliable the figures of a trial are, by the place of the measurement.
        pub enum TrialBasis {
            /// Measured on the disk itself.
            Disk = "disk",
            /// Measured on a loop file that is as fast as its host file system.
            Faithful = "faithful",
            /// Measured on a loop file that makes differences smaller but keeps the order.
            OrderOnly = "order only",
            /// Measured on a loop file that may change the order.
            Indicative = "indicative",
            /// Measured on a loop file that was never compared with its host file system.
            NotCertified = "not certified",
        }
    }

    impl TrialBasis {
        /// Whether the candidates rank in the same order on the disk itself.
        pub fn is_order_valid_for_disk(self) -> bool {
            matches!(self, Self::Disk | Self::Faithful | Self::OrderOnly)
        }
    }

    use super::postgres::WalSyncMethod;
}

/// Expands to an array of the constants named `ALL` or `NAMES`, one per area.
macro_rules! area_lists {
    ($list:ident) => {
        [
            host::$list,
            kernel::$list,
            device::$list,
            controller::$list,
            mount::$list,
            boot::$list,
            cluster::$list,
            postgres::$list,
            mysql::$list,
            target::$list,
            probe::$list,
            drill::$list,
            trial::$list,
        ]
    };
}

pub fn all_keys() -> impl Iterator<Item = &'static KeyInfo> {
    area_lists!(ALL).into_iter().flatten()
}

pub(super) const fn fact_id(name: &str) -> FactId {
    let (mut before, areas) = (0, area_lists!(NAMES));
    let mut areas = areas.as_slice();
    while let [area, others @ ..] = areas {
        let mut names = *area;
        while let [other, rest @ ..] = names {
            before += is_bytewise_less(other.as_bytes(), name.as_bytes()) as u16;
            names = rest;
        }
        areas = others;
    }
    FactId(before)
}

/// A const function cannot call `Ord`.
const fn is_bytewise_less(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest_of_one @ ..], [b, rest_of_other @ ..]) = (one, other) {
        if *a != *b {
            return *a < *b;
        }
        (one, other) = (rest_of_one, rest_of_other);
    }
    one.len() < other.len()
}

/// The value as text, with the unit of the fact; without a unit if no fact has this name.
pub fn format_value(name: &str, value: &Value) -> String {
    find_by_name(name).map_or_else(|| value.to_string(), |info| info.format_value(value))
}

/// The value with its source; for an unknown fact, the reason and the remedy.
pub fn value_and_source_or_unknown_reason(
    name: &str,
    reading: &Reading<Value>,
) -> Result<(String, String), (String, Option<String>)> {
    match reading {
        Reading::Known { value, source } => Ok((format_value(name, value), source.to_string())),
        Reading::Unknown {
            why,
            detail,
            remedy,
        } => {
            let separator = if detail.is_empty() { "" } else { ": " };
            let remedy = remedy.as_ref().map(ToString::to_string);
            Err((format!("{why}{separator}{detail}"), remedy))
        }
    }
}

pub fn find_by_name(name: &str) -> Option<&'static KeyInfo> {
    static IN_ORDER: LazyLock<Vec<&KeyInfo>> = LazyLock::new(|| {
        let mut all: Vec<&KeyInfo> = all_keys().collect();
        all.sort_unstable_by_key(|info| info.id);
        all
    });
    let at = IN_ORDER
        .binary_search_by_key(&name, |info| info.name)
        .ok()?;
    IN_ORDER.get(at).copied()
}

pub fn is_allowed_word(info: &KeyInfo, word: &str) -> bool {
    info.kind
        .allowed_words()
        .is_none_or(|words| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fact_ids_follow_name_order() {
        let mut all: Vec<&KeyInfo> = all_keys().collect();
        all.sort_by_key(|info| info.name);
        for (place, info) in (0..).zip(all) {
            assert_eq!(info.id, FactId(place), "{}", info.name);
        }
    }

    #[test]
    fn names_are_unique_and_documented() {
        let mut seen = std::collections::BTreeSet::new();
        for info in all_keys() {
            assert!(seen.insert(info.name), "{} is declared twice", info.name);
            assert!(
                info.doc.trim().ends_with('.'),
                "{}: a sentence, please",
                info.name
            );
        }
    }
}
