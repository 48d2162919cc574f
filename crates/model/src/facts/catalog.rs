//! Every fact, declared once: name, scope, kind, and one sentence with its public source.
//!
//! One file per area. Collectors, judgement, rules, screens, `facts --list` and did-you-mean all
//! read these. *Concluded* facts (the verdict, validity, probe results) are declared here too,
//! because rules use them like any other.

use std::sync::LazyLock;

use super::{FactId, KeyInfo, Value};

/// Declares the facts of an area: constants for code, their `NAMES`, and the list `ALL` for lookup
/// by name. Marks follow the kind: the [`Nature`](super::Nature), the group, and whether the fact
/// `prices` a commit (can change its latency). A fact without a kind is a choice.
macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $id:ident: $type:ty = $scope:ident $name:literal $($kind:expr)? $(, $mark:ident)*;)+) => {
        #[allow(unused_imports, reason = "an area may have choices alone")]
        use crate::facts::ValueKind;
        use crate::facts::{Key, KeyInfo, Scope};
        $($(#[doc = $doc])+
        pub const $id: Key<$type> = facts!(@key $name, Scope::$scope, concat!($($doc),+) $(, $kind)?)$(.$mark())*;)+
        /// Their names.
        pub(super) const NAMES: &[&str] = &[$($name),+];
        /// All facts of this area.
        pub const ALL: &[KeyInfo] = &[$($id.info),+];
    };
    (@key $name:expr, $scope:expr, $doc:expr) => {
        Key::choice(crate::facts::catalog::fact_id($name), $name, $scope, $doc)
    };
    (@key $name:expr, $scope:expr, $doc:expr, $kind:expr) => {
        Key::new(crate::facts::catalog::fact_id($name), $name, $scope, $kind, $doc)
    };
}

pub mod boot {
    //! The mounts of the next boot: lines of fstab, mount units, and the kernel's root flags.

    facts! {
        /// Mount point at the next boot.
        POINT: String = Boot "boot.point" ValueKind::Text;
        /// Device or other source to be mounted.
        SOURCE: String = Boot "boot.source" ValueKind::Text;
        /// File system type.
        FSTYPE: String = Boot "boot.fstype" ValueKind::Text;
        /// Type as written; for `auto` or several types, what is mounted there now decides.
        WRITTEN_TYPE: String = Boot "boot.written_type" ValueKind::Text;
        /// Fifth and sixth field of an fstab line, if written: dump(8), and the order of checks
        /// (fstab(5)).
        DUMP_AND_PASS: String = Boot "boot.dump_and_pass" ValueKind::Text;
        /// Whether every option was kept when the line was read, so that it can be rewritten;
        /// possible passwords are not kept.
        WHOLE: bool = Boot "boot.whole" ValueKind::Bool;
        /// Options as written; those outside a list of known ones are dropped when read, because
        /// they can hold passwords.
        OPTIONS: Vec<String> = Boot "boot.options" ValueKind::List;
        /// File and line that set it.
        WHERE: String = Boot "boot.where" ValueKind::Text;
        /// Whether it is mounted automatically (no `noauto`).
        AUTO: bool = Boot "boot.auto" ValueKind::Bool;
        /// Whether the named block device is `there` now, by /dev and the udev links in /dev/disk;
        /// `other` where something else is there, such as /dev/null; `none` where the line names
        /// none.
        DEVICE: NamedDevice = Boot "boot.device";
        /// Type of the file system mounted from its device now, where it differs from the written
        /// one.
        TYPE_THERE: String = Boot "boot.type_there" ValueKind::Text, concluded;
        /// The line that certainly mounts the same file system earlier, at another mount point.
        FIRST: String = Boot "boot.first" ValueKind::Text, concluded;
        /// File system options written there without effect, because an earlier line mounts the
        /// same file system with its own.
        OVERRULED: Vec<String> = Boot "boot.overruled_options" ValueKind::List, concluded;
        /// File system options that apply to this line too, because an earlier line sets them and
        /// this one does not.
        SET_BY_FIRST: Vec<String> = Boot "boot.options_of_first" ValueKind::List, concluded;
        /// Lines that mount the same file system with other options, in an order that is not known.
        UNORDERED: Vec<String> = Boot "boot.unordered_with" ValueKind::List, concluded;
        /// Options written there, without those that a later option reverses and those overridden
        /// by an earlier mount of the same file system.
        IN_EFFECT: Vec<String> = Boot "boot.options_in_effect" ValueKind::List, judged;
        /// Its file system type, if this kernel is known not to support it; otherwise empty.
        REFUSED_TYPE: Vec<String> = Boot "boot.refused_type" ValueKind::List, judged;
        /// Options that this kernel refuses: the mount will fail.
        REFUSED: Vec<String> = Boot "boot.refused_options" ValueKind::List, judged;
        /// Options that this kernel accepts and ignores.
        NO_EFFECT: Vec<String> = Boot "boot.ineffective_options" ValueKind::List, judged;
        /// Options that this kernel accepts with a warning.
        DEPRECATED: Vec<String> = Boot "boot.deprecated_options" ValueKind::List, judged;
        /// Options that only restate the default.
        DEFAULT_ANYWAY: Vec<String> = Boot "boot.default_options" ValueKind::List, judged;
        /// Whether every file that defines the mounts of the next boot was read.
        READ: bool = Host "boot.read" ValueKind::Bool;
        /// Swap at the next boot: devices and files from fstab, and swap units by name.
        SWAPS: Vec<String> = Host "boot.swaps" ValueKind::List;
        /// Swap entries of the next boot whose device or file does not exist.
        SWAPS_MISSING: Vec<String> = Host "boot.swaps_missing" ValueKind::List;
        /// Swap entries of the next boot that exist and cannot be swap: a directory, a character
        /// device, or a device whose file system is mounted.
        SWAPS_UNFIT: Vec<String> = Host "boot.swaps_unfit" ValueKind::List;
        /// Swap entries of the next boot that could not be checked: not active as swap now, or with
        /// unknown options.
        SWAPS_UNSEEN: Vec<String> = Host "boot.swaps_unseen" ValueKind::List;
        /// Names of the encrypted devices that the next boot unlocks, from crypttab(5).
        UNLOCKED: Vec<String> = Host "boot.unlocked" ValueKind::List;
        /// Encrypted devices of the next boot that may be missing without stopping it (nofail).
        UNLOCKED_OPTIONAL: Vec<String> = Host "boot.unlocked_optional" ValueKind::List;
        /// Encrypted devices of the next boot whose device is missing, or is no block device.
        UNLOCKED_MISSING: Vec<String> = Host "boot.unlocked_missing" ValueKind::List;
        /// Encrypted devices of the next boot that could not be checked: device, key or options are
        /// partly unknown, or they are not unlocked now.
        UNLOCKED_UNSEEN: Vec<String> = Host "boot.unlocked_unseen" ValueKind::List;
        /// Encrypted devices of the next boot without a header, by their line or as unlocked now,
        /// whose line lacks cipher or hash: cryptsetup's defaults decide.
        UNLOCKED_BY_DEFAULTS: Vec<String> = Host "boot.unlocked_by_defaults" ValueKind::List;
        /// Kernel parameters that mount, unlock or swap to something and are not evaluated, or that
        /// wait for something missing now (kernel-command-line(7), dracut.cmdline(7)).
        PARAMETERS_UNREAD: Vec<String> = Host "boot.parameters_unread" ValueKind::List;
        /// Options whose effect on this kernel is not known.
        UNDECIDED: Vec<String> = Boot "boot.undecided_options" ValueKind::List, judged;
    }

    choice! {
        /// Whether the device that a line names is there.
        pub enum NamedDevice { There = "there", Missing = "missing", Other = "other", None = "none" }
    }

    use crate::facts::choice;
}
pub mod cluster {
    //! Facts that the data directory of every kind of database server has.

    use crate::facts::{ServerKind, choice};

    choice! {
        /// Whether the size of a log suffices for what is written to it.
        pub enum SizeFit {
            Enough = "enough",
            TooSmall = "too small",
            NoRoom = "too small, without room for more",
        }
    }

    facts! {
        /// Server that owns the data directory.
        KIND: ServerKind = Cluster "cluster.kind";
    }
}
pub mod controller {
    //! Statements of a RAID controller's own tool about the volume behind a disk.

    facts! {
        /// The controller's own tool that answered: `storcli`, `perccli`, `storcli2`, `perccli2`,
        /// `MegaCli`, `ssacli`, `hpssacli`, `hpacucli`, `arcconf`.
        TOOL: String = Device "controller.tool" ValueKind::Text, identifies;
        /// Which of the controller's volumes the disk is, as its tool names it; `none` where the
        /// controller only passes the disk through, so its battery protects nothing.
        VOLUME: String = Device "controller.volume" ValueKind::Text, identifies;
        /// Controller model, from its tool.
        MODEL: String = Device "controller.model" ValueKind::Text, identifies;
        /// Battery or flash module behind the controller's cache, now.
        BATTERY: Battery = Device "controller.battery", affects_latency, affects_flushes;
        /// Configured cache policy.
        POLICY: Policy = Device "controller.policy", affects_latency, affects_flushes;
        /// Cache policy in force now.
        POLICY_IN_FORCE: WriteMode = Device "controller.policy_in_force", affects_latency, affects_flushes;
        /// Cache behaviour on battery failure: fall back to `write through`, or `stays` write-back.
        ON_BATTERY_FAILURE: OnFailure = Device "controller.on_battery_failure", affects_latency, affects_flushes;
        /// Why the cache does not work as configured, in the words of ssacli or arcconf (`Cache
        /// Status Details`).
        CACHE_DETAIL: String = Device "controller.cache_detail" ValueKind::Text, drifting;
        /// Write caches of the member disks: `off`, `on`, or the `disk default`, which is not
        /// known.
        DISK_CACHE: DiskCache = Device "controller.disk_cache", affects_latency, affects_flushes;
    }

    choice! {
        /// State of a battery or flash module.
        pub enum Battery {
            Healthy = "healthy",
            Charging = "charging",
            /// A learn cycle runs: the battery is discharged and recharged, and most controllers
            /// write through meanwhile.
            Learning = "learning",
            Degraded = "degraded",
            Failed = "failed",
            Absent = "absent",
            Unreadable = "unreadable",
        }
    }

    choice! {
        /// How a controller's cache is set to write.
        pub enum Policy { WriteBack = "write back", WriteThrough = "write through", AlwaysWriteBack = "always write back" }
    }

    choice! {
        /// How it writes now.
        pub enum WriteMode { WriteBack = "write back", WriteThrough = "write through" }
    }

    choice! {
        /// What it does when the battery fails.
        pub enum OnFailure { WriteThrough = "write through", Stays = "stays" }
    }

    choice! {
        /// Write caches of the member disks.
        pub enum DiskCache { Off = "off", On = "on", DiskDefault = "disk default" }
    }

    use crate::facts::choice;
}
pub mod device;
pub mod drill {
    //! Facts of drills: what survived power cuts on this very stack. Only `walwise check --drill`
    //! adds them, from a record that anyone could have written, so nothing that can lose data may
    //! depend on them.

    facts! {
        /// Day of the last power cut, as in RFC 3339, from the record of a drill.
        ON: String = Target "drill.on" ValueKind::Text, measured;
        /// Number of power cuts during acknowledged commits, from the record of a drill.
        CUTS: u64 = Target "drill.cuts" ValueKind::Count, measured;
        /// Commits that another host had received and that could be checked after the cut, from the
        /// record of a drill.
        ACKNOWLEDGED: u64 = Target "drill.acknowledged" ValueKind::Count, measured;
        /// Acknowledged commits lost in the cuts, from the record of a drill.
        LOST: u64 = Target "drill.lost" ValueKind::Count, measured;
    }
}
pub mod host {
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
        /// Virtual machine technology, or `none` on bare metal, from DMI and the cpuid hypervisor
        /// flag.
        VIRTUALISATION: String = Host "host.virtualisation" ValueKind::Text, affects_latency;
        /// Container technology walwise runs in, or `none`.
        CONTAINER: String = Host "host.container" ValueKind::Text;
        /// Where walwise runs: `host`, `guest` of a hypervisor, or `container`.
        SEEN_BY: Vantage = Host "host.seen_by", concluded;
        /// Whether walwise runs with root's privileges.
        PRIVILEGED: bool = Host "host.privileged" ValueKind::Bool;
        /// Memory of the host, or of the container if that has less.
        MEMORY: u64 = Host "host.memory" ValueKind::Bytes;
        /// Usable processors.
        CPUS: u64 = Host "host.cpus" ValueKind::Count, affects_latency;
        /// e2fsprogs, from `mke2fs -V` (which answers on standard error).
        E2FSPROGS: Version = Host "e2fsprogs.version" ValueKind::Version;
        /// xfsprogs, from `mkfs.xfs -V`.
        XFSPROGS: Version = Host "xfsprogs.version" ValueKind::Version;
        /// btrfs-progs, from `mkfs.btrfs --version`.
        BTRFSPROGS: Version = Host "btrfsprogs.version" ValueKind::Version;
        /// Features that `mkfs.ext4` here enables by default and this kernel cannot, or may not,
        /// mount, as words for `-O` that disable them; from the table of features.
        EXT4_LEAVE_OUT: Vec<String> = Host "mkfs.ext4_leave_out" ValueKind::List, judged;
        /// Features to disable for `mkfs.xfs` on this kernel, as words for its `-m`, `-i` and `-n`.
        XFS_LEAVE_OUT: Vec<String> = Host "mkfs.xfs_leave_out" ValueKind::List, judged;
        /// Features to disable for `mkfs.btrfs` on this kernel, as words for its `-O`.
        BTRFS_LEAVE_OUT: Vec<String> = Host "mkfs.btrfs_leave_out" ValueKind::List, judged;
        /// mdadm, from `mdadm --version`.
        MDADM: Version = Host "mdadm.version" ValueKind::Version;
        /// util-linux, from `mount --version`.
        UTIL_LINUX: Version = Host "util_linux.version" ValueKind::Version;
        /// Whether fstrim.timer of util-linux is enabled: systemd's timers.target wants it, and it
        /// is not masked.
        TRIM_TIMER: bool = Host "host.trim_timer" ValueKind::Bool;
    }

    choice! {
        /// Where walwise runs.
        pub enum Vantage { Host = "host", Guest = "guest", Container = "container" }
    }

    impl Vantage {
        /// Whether neither a hypervisor nor a container is in between.
        pub fn is_host(self) -> bool {
            matches!(self, Self::Host)
        }
    }

    use crate::facts::choice;
    use crate::version::Version;
}
pub mod kernel {
    //! The running kernel.

    facts! {
        /// Kernel release, from uname(2).
        RELEASE: String = Host "kernel.release" ValueKind::Text, affects_latency;
        /// Kernel version; where the vendor backports, an older number does not prove that
        /// something is missing.
        VERSION: Version = Host "kernel.version" ValueKind::Version, concluded;
        /// Kernel vendor, from the release's tail: `mainline`, `debian`, `ubuntu`, `el7`, `el8`,
        /// `el9`, `el10`, `sles`, `amazon`, `uek` …; `debian-cloud` and `ubuntu-cloud` for their
        /// builds for clouds and single kinds of machines.
        VENDOR: String = Host "kernel.vendor" ValueKind::Text, concluded;
        /// Build text of the kernel from /proc/version, where Debian and Ubuntu keep the real
        /// stable level.
        BUILD: String = Host "kernel.build" ValueKind::Text;
        /// Disk file systems loaded by the running kernel, from /proc/filesystems.
        FILESYSTEMS: Vec<String> = Host "kernel.filesystems" ValueKind::List, drifting;
        /// Whether ext4 in this kernel announces fast_commit, from /sys/fs/ext4/features (absence
        /// proves nothing on 5.10).
        FAST_COMMIT: bool = Host "kernel.ext4_fast_commit" ValueKind::Bool;
        /// Mount flags for the root file system on the kernel command line, from /proc/cmdline.
        ROOT_FLAGS: Vec<String> = Host "kernel.root_flags" ValueKind::List;
        /// Value of `elevator=` on the kernel command line, from /proc/cmdline; empty if absent;
        /// ignored since 5.0.
        ELEVATOR: Vec<String> = Host "kernel.elevator" ValueKind::List;
        /// Dirty data at which background writeback starts at the latest:
        /// vm.dirty_background_bytes, or vm.dirty_background_ratio of all memory
        /// (Documentation/admin-guide/sysctl/vm.rst).
        DIRTY_BACKGROUND: u64 = Host "vm.dirty_background" ValueKind::Bytes;
        /// Dirty data at which writers are throttled at the latest: vm.dirty_bytes, or
        /// vm.dirty_ratio of all memory.
        DIRTY: u64 = Host "vm.dirty" ValueKind::Bytes;
        /// Whether ZFS is configured to send no flushes (module parameter zfs_nocacheflush or
        /// zil_nocacheflush).
        ZFS_NO_FLUSH: bool = Host "zfs.no_cache_flush" ValueKind::Bool, affects_latency;
        /// Release of the loaded OpenZFS module, from /sys/module/zfs/version.
        ZFS_VERSION: Version = Host "zfs.version" ValueKind::Version;
        /// Whether that release supports the kernel, from the table of releases; `not used` where
        /// nothing here is on ZFS.
        ZFS_SUPPORT: ZfsSupport = Host "zfs.kernel_support", judged;
    }

    choice! {
        /// Whether a release of OpenZFS supports the kernel.
        pub enum ZfsSupport { Supported = "supported", TooNew = "too new", NotUsed = "not used" }
    }

    use crate::facts::choice;
    use crate::version::Version;
}
pub mod mount;
pub mod mysql;
pub mod postgres;
pub mod probe {
    //! Results of our own measurement, for rules. Per-method figures are in the report's probes.

    /// Fewer flushes per commit than this means that some are missing: concurrent flushes are
    /// merged, but not more than half of them.
    pub const TOO_FEW_FLUSHES: f64 = 0.5;

    facts! {
        /// Commit latency, median, with the method in force (the default without a server): 8 kB of
        /// WAL, or a block of InnoDB's redo log.
        COMMIT: f64 = Target "probe.commit" ValueKind::Micros, measured;
        /// Fastest valid method, if it beats the default beyond noise; otherwise the default.
        BEST_METHOD: WalSyncMethod = Target "probe.best_method", measured;
        /// Whether the best method differs from the one in force (the default without a server), by
        /// a settled comparison that nothing contradicts.
        ADVISES_CHANGE: bool = Target "probe.advises_change" ValueKind::Bool, measured;
        /// Lower bound of the gain of the best method over the one in force (the default without a
        /// server), in percent, over one- and two-page commits.
        GAIN_PERCENT: f64 = Target "probe.gain_percent" ValueKind::Number, measured;
        /// Outcome of the comparison: `settled`, `no meaningful difference`, or `not settled`.
        OUTCOME: ProbeOutcome = Target "probe.outcome", measured;
        /// Whether advice may rest on the measurement: nothing noticed while measuring forbids it.
        TRUSTED: bool = Target "probe.trusted" ValueKind::Bool, measured;
        /// Half the median latency of an 8 kB commit with the method in force, in microseconds:
        /// where the PostgreSQL manual starts with `commit_delay`.
        COMMIT_DELAY_START: u64 = Target "probe.commit_delay_start" ValueKind::Count, measured;
        /// Flushes that arrived at the disks per fdatasync.
        FLUSHES_PER_COMMIT: f64 = Target "probe.flushes_per_commit" ValueKind::Number, measured;
        /// Flush latency: median of overwrite + fdatasync minus median of the same overwrite
        /// unflushed, both O_DIRECT.
        FLUSH_COST: f64 = Target "probe.flush_cost" ValueKind::Micros, measured;
        /// Commits per second (mean) with the default method, 1 client.
        COMMITS_PER_SECOND: f64 = Target "probe.commits_per_second" ValueKind::Number, measured;
        /// Whether flushes were faster than any disk of this kind can be.
        IMPLAUSIBLE: bool = Target "probe.implausible" ValueKind::Bool, measured;
        /// Why that speed is implausible, with the arithmetic.
        IMPLAUSIBLE_BECAUSE: String = Target "probe.implausible_because" ValueKind::Text, measured;
        /// Measured directory, which is on the same file system as the database but not its own.
        DIRECTORY: String = Target "probe.directory" ValueKind::Text, measured;
        /// Latency of a commit into a new WAL segment filled with zeros, relative to a recycled
        /// segment; 1 is the same.
        NEW_SEGMENT_ZEROED: f64 = Target "probe.new_segment_zeroed" ValueKind::Number, measured;
        /// Latency of a commit into a new WAL segment that was not filled (`wal_init_zero=off`),
        /// relative to a recycled segment.
        NEW_SEGMENT_UNFILLED: f64 = Target "probe.new_segment_unfilled" ValueKind::Number, measured;
        /// Commits per second of 16 clients that share flushes, as in PostgreSQL or InnoDB.
        GROUP_COMMITS_PER_SECOND: f64 = Target "probe.group_commits_per_second" ValueKind::Number, measured;
        /// Median latency of a 512-byte transaction that is flushed in the redo log and then in the
        /// binary log.
        BINLOG_COMMIT: f64 = Target "probe.binlog_commit" ValueKind::Micros, measured;
        /// Small files per second written and durably renamed, by one thread.
        FILES_PER_SECOND: f64 = Target "probe.files_per_second" ValueKind::Number, measured;
        /// Latency of a commit with fdatasync next to a busy writer on the same file system,
        /// relative to one without; 1 is the same.
        ENTANGLED_FDATASYNC: f64 = Target "probe.entangled_fdatasync" ValueKind::Number, measured;
        /// Latency of a commit with fsync next to a busy writer on the same file system, relative
        /// to one without; 1 is the same.
        ENTANGLED_FSYNC: f64 = Target "probe.entangled_fsync" ValueKind::Number, measured;
    }

    choice! {
        /// Whether a comparison came to an end.
        pub enum ProbeOutcome {
            Settled = "settled",
            NoMeaningfulDifference = "no meaningful difference",
            NotSettled = "not settled",
        }
    }

    use crate::facts::choice;

    use super::postgres::WalSyncMethod;
}
pub mod target;
pub mod trial {
    //! Facts of trials: results of file systems created and benchmarked side by side on this very
    //! stack. Only `walwise check --trial` adds them, from a record that anyone could have written,
    //! so nothing that can lose data may depend on them.

    facts! {
        /// Whether every deciding load was settled, from the record of a trial on this disk.
        SETTLED: bool = Target "trial.settled" ValueKind::Bool, measured;
        /// What the trial's figures are worth: `disk` where measured on it, otherwise the
        /// certificate of its loop file: `faithful`, `order only`, `indicative` or `not certified`.
        BASIS: TrialBasis = Target "trial.basis", measured;
        /// File systems that may be the fastest, or are within 5 % of it, under every deciding
        /// load, with 95 % confidence per load; empty where a trial was not settled.
        BEST: Vec<TrialFilesystem> = Target "trial.best" ValueKind::Choices(TrialFilesystem::WORDS), measured;
        /// File systems shown to be slower than another one under at least one deciding load.
        SLOWER: Vec<TrialFilesystem> = Target "trial.slower" ValueKind::Choices(TrialFilesystem::WORDS), measured;
        /// The faster of fdatasync and open_datasync in the trial: fdatasync unless the other gains
        /// at least 5 %; on the target's own file system, and on a free disk on all that may be the
        /// best.
        METHOD: WalSyncMethod = Target "trial.method", measured;
        /// Gain of that method over fdatasync in the trial, in percent: the lower bound.
        METHOD_GAIN: f64 = Target "trial.method_gain_percent" ValueKind::Number, measured;
    }

    choice! {
        /// A file system that a trial ranks.
        pub enum TrialFilesystem {
            Ext4 = "ext4",
            /// ext4 with fast commits.
            Ext4FastCommit = "ext4-fast-commit",
            Xfs = "xfs",
            Btrfs = "btrfs",
            /// btrfs with +C on the directory of the log.
            BtrfsNocow = "btrfs-nocow",
        }
    }

    choice! {
        /// What figures of a trial are worth.
        pub enum TrialBasis {
            /// On the disk itself.
            Disk = "disk",
            /// On a loop file that is as fast as its host's file system.
            Faithful = "faithful",
            /// On a loop file that draws ratios towards 1: the order holds.
            OrderOnly = "order only",
            /// On a loop file that changes the picture.
            Indicative = "indicative",
            /// On a loop file that was never shown to be as fast as its host's file system.
            NotCertified = "not certified",
        }
    }

    impl TrialBasis {
        /// Whether the order of the candidates holds on the disk too.
        pub fn preserves_order(self) -> bool {
            matches!(self, Self::Disk | Self::Faithful | Self::OrderOnly)
        }
    }

    use crate::facts::{Choice, choice};

    use super::postgres::WalSyncMethod;
}

/// An array of this list of every area.
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

/// Every fact, area by area.
pub fn all() -> impl Iterator<Item = &'static KeyInfo> {
    area_lists!(ALL).into_iter().flatten()
}

/// The id of a fact: how many names sort before this one.
pub(super) const fn fact_id(name: &str) -> FactId {
    let (mut before, areas) = (0, area_lists!(NAMES));
    let mut areas = areas.as_slice();
    while let [area, others @ ..] = areas {
        let mut names = *area;
        while let [other, rest @ ..] = names {
            before += is_before(other.as_bytes(), name.as_bytes()) as u16;
            names = rest;
        }
        areas = others;
    }
    FactId(before)
}

/// Whether one name sorts before another, by bytes: `Ord` cannot be used in constants.
const fn is_before(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest_of_one @ ..], [b, rest_of_other @ ..]) = (one, other) {
        if *a != *b {
            return *a < *b;
        }
        (one, other) = (rest_of_one, rest_of_other);
    }
    one.len() < other.len()
}

/// A fact's value for display; as it is for an unknown name.
pub fn format_value(name: &str, value: &Value) -> String {
    find(name).map_or_else(|| value.to_string(), |info| info.format_value(value))
}

pub fn find(name: &str) -> Option<&'static KeyInfo> {
    static IN_ORDER: LazyLock<Vec<&KeyInfo>> = LazyLock::new(|| {
        let mut all: Vec<&KeyInfo> = all().collect();
        all.sort_unstable_by_key(|info| info.id);
        all
    });
    let at = IN_ORDER
        .binary_search_by_key(&name, |info| info.name)
        .ok()?;
    IN_ORDER.get(at).copied()
}

/// Whether a word is among those that a choice allows; true for every other kind.
pub fn allows(info: &KeyInfo, word: &str) -> bool {
    info.kind
        .choices()
        .is_none_or(|words| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_place_in_the_order_of_the_names() {
        let mut all: Vec<&KeyInfo> = all().collect();
        all.sort_by_key(|info| info.name);
        for (place, info) in (0..).zip(all) {
            assert_eq!(info.id, FactId(place), "{}", info.name);
        }
    }

    #[test]
    fn names_are_unique_and_documented() {
        let mut seen = std::collections::BTreeSet::new();
        for info in all() {
            assert!(seen.insert(info.name), "{} is declared twice", info.name);
            assert!(
                info.doc.trim().ends_with('.'),
                "{}: a sentence, please",
                info.name
            );
        }
    }
}
