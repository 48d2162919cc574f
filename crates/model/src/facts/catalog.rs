//! Every fact, declared once: name, scope, kind, and one sentence with its public source.
//!
//! One file per area. Collectors, judgement, rules, screens, `facts --list` and did-you-mean all
//! read these. *Concluded* facts (the verdict, validity, probe results) are declared here too,
//! because rules use them like any other.

use std::sync::LazyLock;

use super::{FactId, KeyInfo, Value};

/// Declares the facts of an area: constants for code, their `NAMES`, and the list `ALL` for
/// everything that goes by name. Behind the kind stands what marks a fact, if anything does: its
/// [`Nature`](super::Nature), its group, and whether it `prices` a commit. A fact without a kind is
/// one of the words of its type.
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
        Key::choice(crate::facts::catalog::place($name), $name, $scope, $doc)
    };
    (@key $name:expr, $scope:expr, $doc:expr, $kind:expr) => {
        Key::new(crate::facts::catalog::place($name), $name, $scope, $kind, $doc)
    };
}

pub mod boot {
    //! The mounts of the next boot: lines of fstab, mount units, and the kernel's root flags.

    facts! {
        /// Where it will be mounted.
        POINT: String = Boot "boot.point" ValueKind::Text;
        /// What will be mounted.
        SOURCE: String = Boot "boot.source" ValueKind::Text;
        /// As which file system type.
        FSTYPE: String = Boot "boot.fstype" ValueKind::Text;
        /// The type as it is written; what is mounted there now tells what `auto` or several types
        /// come to.
        WRITTEN_TYPE: String = Boot "boot.written_type" ValueKind::Text;
        /// The fifth and the sixth field of an fstab line as far as they are written, for dump(8)
        /// and for the order of checks (fstab(5)).
        DUMP_AND_PASS: String = Boot "boot.dump_and_pass" ValueKind::Text;
        /// Whether all of it was kept when it was read, so that it can be written anew; what may be
        /// a password is not kept.
        WHOLE: bool = Boot "boot.whole" ValueKind::Bool;
        /// Options written there; those outside a list of known ones are dropped when read, because
        /// they can hold passwords.
        OPTIONS: Vec<String> = Boot "boot.options" ValueKind::List;
        /// The file and line that say so.
        WHERE: String = Boot "boot.where" ValueKind::Text;
        /// Whether it is mounted without being asked (no `noauto`).
        AUTO: bool = Boot "boot.auto" ValueKind::Bool;
        /// Whether the block device it names is `there` now, by /dev and the links that udev keeps
        /// under /dev/disk; `other` where something else is there, such as /dev/null, and `none`
        /// where it names none.
        DEVICE: NamedDevice = Boot "boot.device";
        /// The type of the file system that is mounted from its device now, where it is written as
        /// another one.
        TYPE_THERE: String = Boot "boot.type_there" ValueKind::Text, concluded;
        /// The line that mounts the same file system before this one for certain, at another place.
        FIRST: String = Boot "boot.first" ValueKind::Text, concluded;
        /// Options of the file system written there that do nothing, as it has those of the line
        /// that mounts it first.
        OVERRULED: Vec<String> = Boot "boot.overruled_options" ValueKind::List, concluded;
        /// Options of the file system that hold for this line too, as the line that mounts it first
        /// has them and this one does not.
        SET_BY_FIRST: Vec<String> = Boot "boot.options_of_first" ValueKind::List, concluded;
        /// Lines that mount the same file system with other options of it, of which nothing says
        /// whether they come before or after.
        UNORDERED: Vec<String> = Boot "boot.unordered_with" ValueKind::List, concluded;
        /// Options written there without those that a later one of the line takes back, and those
        /// that do nothing because another line mounts the same file system first.
        IN_EFFECT: Vec<String> = Boot "boot.options_in_effect" ValueKind::List, judged;
        /// Its file system type, where this kernel is known to have no such file system; otherwise
        /// nothing.
        REFUSED_TYPE: Vec<String> = Boot "boot.refused_type" ValueKind::List, judged;
        /// Options that this kernel refuses: the mount will fail.
        REFUSED: Vec<String> = Boot "boot.refused_options" ValueKind::List, judged;
        /// Options that this kernel accepts and ignores.
        NO_EFFECT: Vec<String> = Boot "boot.ineffective_options" ValueKind::List, judged;
        /// Options that this kernel takes with a warning.
        DEPRECATED: Vec<String> = Boot "boot.deprecated_options" ValueKind::List, judged;
        /// Options that only say what is the default anyway.
        DEFAULT_ANYWAY: Vec<String> = Boot "boot.default_options" ValueKind::List, judged;
        /// Whether every file that says what the next boot mounts was read.
        READ: bool = Host "boot.read" ValueKind::Bool;
        /// What the next boot swaps to: the devices and files of fstab, and swap units by name.
        SWAPS: Vec<String> = Host "boot.swaps" ValueKind::List;
        /// Those of them that are not there.
        SWAPS_MISSING: Vec<String> = Host "boot.swaps_missing" ValueKind::List;
        /// Those of them that are there and no swap: a directory, a character device, or a device
        /// whose file system is mounted.
        SWAPS_UNFIT: Vec<String> = Host "boot.swaps_unfit" ValueKind::List;
        /// Those of them of which it is not known whether they will be there as swap: what is no
        /// active swap now, and what has options that are not known.
        SWAPS_UNSEEN: Vec<String> = Host "boot.swaps_unseen" ValueKind::List;
        /// Names of the encrypted devices that the next boot unlocks, from crypttab(5).
        UNLOCKED: Vec<String> = Host "boot.unlocked" ValueKind::List;
        /// Those of them without which the boot goes on (nofail).
        UNLOCKED_OPTIONAL: Vec<String> = Host "boot.unlocked_optional" ValueKind::List;
        /// Those of them whose device is not there, or is no block device.
        UNLOCKED_MISSING: Vec<String> = Host "boot.unlocked_missing" ValueKind::List;
        /// Those of them of whose device, key or options not all is known, or that are not unlocked
        /// now.
        UNLOCKED_UNSEEN: Vec<String> = Host "boot.unlocked_unseen" ValueKind::List;
        /// Those of them that have no header, by their line or as they are unlocked now, and whose
        /// line does not name both cipher and hash, so that cryptsetup's defaults decide.
        UNLOCKED_BY_DEFAULTS: Vec<String> = Host "boot.unlocked_by_defaults" ValueKind::List;
        /// Parameters of the kernel's command line by which something is mounted, unlocked or
        /// swapped to and that are not looked at, or that wait for what is not there now
        /// (kernel-command-line(7), dracut.cmdline(7)).
        PARAMETERS_UNREAD: Vec<String> = Host "boot.parameters_unread" ValueKind::List;
        /// Options of which it cannot be said what this kernel does.
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
        /// Whose data directory it is.
        KIND: ServerKind = Cluster "cluster.kind";
    }
}
pub mod controller {
    //! Statements of a RAID controller's own tool about the volume behind a disk.

    facts! {
        /// The controller's own tool that answered: `storcli`, `perccli`, `storcli2`, `perccli2`,
        /// `MegaCli`, `ssacli`, `hpssacli`, `hpacucli`, `arcconf`.
        TOOL: String = Device "controller.tool" ValueKind::Text, identifies;
        /// Which of the controller's volumes the disk is, in the words of its tool; `none` where
        /// the controller only passes the disk on, so that its battery protects nothing.
        VOLUME: String = Device "controller.volume" ValueKind::Text, identifies;
        /// Controller model, from its tool.
        MODEL: String = Device "controller.model" ValueKind::Text, identifies;
        /// Battery or flash module behind the controller's cache, now.
        BATTERY: Battery = Device "controller.battery", prices, of_cache;
        /// Cache policy that was set.
        POLICY: Policy = Device "controller.policy", prices, of_cache;
        /// Cache policy in force now.
        POLICY_IN_FORCE: WriteMode = Device "controller.policy_in_force", prices, of_cache;
        /// What the cache does when the battery fails: falls back to `write through`, or `stays`
        /// write-back.
        ON_BATTERY_FAILURE: OnFailure = Device "controller.on_battery_failure", prices, of_cache;
        /// Why the cache does not work as it is set to, in the words of ssacli or arcconf
        /// (`Cache Status Details`).
        CACHE_DETAIL: String = Device "controller.cache_detail" ValueKind::Text, drifting;
        /// Write caches of the member disks: `off`, `on`, or the `disk default`, which is not
        /// known.
        DISK_CACHE: DiskCache = Device "controller.disk_cache", prices, of_cache;
    }

    choice! {
        /// State of a battery or flash module.
        pub enum Battery {
            Healthy = "healthy",
            Charging = "charging",
            /// A learn cycle runs: the battery is discharged and charged anew, and most controllers
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
    //! Facts of drills: the survivors after the power of this very stack was cut. Only
    //! `walwise check --drill` adds them, from a record that anybody could have written, so nothing
    //! that can lose data may depend on them.

    facts! {
        /// The day of the last cut, as in RFC 3339, from the record of a drill.
        ON: String = Target "drill.on" ValueKind::Text, measured;
        /// How many times the power was cut while commits were acknowledged, from the record of a
        /// drill.
        CUTS: u64 = Target "drill.cuts" ValueKind::Count, measured;
        /// Commits that another machine had received and that could still be looked for afterwards,
        /// from the record of a drill.
        ACKNOWLEDGED: u64 = Target "drill.acknowledged" ValueKind::Count, measured;
        /// How many of them were gone, from the record of a drill.
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
        /// What `mkfs.ext4` here sets unasked and this kernel cannot mount, or may be unable to, as
        /// words for `-O` that leave it out; from the table of features.
        EXT4_LEAVE_OUT: Vec<String> = Host "mkfs.ext4_leave_out" ValueKind::List, judged;
        /// The same for `mkfs.xfs`, as words for its `-m`, `-i` and `-n`.
        XFS_LEAVE_OUT: Vec<String> = Host "mkfs.xfs_leave_out" ValueKind::List, judged;
        /// The same for `mkfs.btrfs`, as words for its `-O`.
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
}
pub mod kernel {
    //! The running kernel.

    facts! {
        /// The kernel release as it calls itself, from uname(2).
        RELEASE: String = Host "kernel.release" ValueKind::Text, prices;
        /// The kernel version; on kernels whose vendor backports, *below* cannot be concluded from
        /// it.
        VERSION: Version = Host "kernel.version" ValueKind::Version, concluded;
        /// Whose kernel it is: `mainline`, `debian`, `ubuntu`, `el7`, `el8`, `el9`, `el10`, `sles`,
        /// `amazon`, `uek` …, `debian-cloud` and `ubuntu-cloud` for what these build for clouds and
        /// single kinds of machines, from the release's tail.
        VENDOR: String = Host "kernel.vendor" ValueKind::Text, concluded;
        /// The build text of the kernel, where Debian and Ubuntu keep the real stable level, from
        /// /proc/version.
        BUILD: String = Host "kernel.build" ValueKind::Text;
        /// Disk file systems the running kernel has loaded, from /proc/filesystems.
        FILESYSTEMS: Vec<String> = Host "kernel.filesystems" ValueKind::List, drifting;
        /// Whether ext4 in this kernel announces fast_commit, from /sys/fs/ext4/features (absence
        /// proves nothing on 5.10).
        FAST_COMMIT: bool = Host "kernel.ext4_fast_commit" ValueKind::Bool;
        /// Mount flags for the root file system on the kernel command line, from /proc/cmdline.
        ROOT_FLAGS: Vec<String> = Host "kernel.root_flags" ValueKind::List;
        /// What `elevator=` on the kernel command line asks for, an empty list when it is not
        /// there, from /proc/cmdline; ignored since 5.0.
        ELEVATOR: Vec<String> = Host "kernel.elevator" ValueKind::List;
        /// Unwritten data at which the kernel begins to write in the background at the latest:
        /// vm.dirty_background_bytes, or all memory by vm.dirty_background_ratio
        /// (Documentation/admin-guide/sysctl/vm.rst).
        DIRTY_BACKGROUND: u64 = Host "vm.dirty_background" ValueKind::Bytes;
        /// Unwritten data at which writers are made to wait at the latest: vm.dirty_bytes, or all
        /// memory by vm.dirty_ratio.
        DIRTY: u64 = Host "vm.dirty" ValueKind::Bytes;
        /// Whether ZFS was told to send no flushes (module parameter zfs_nocacheflush or
        /// zil_nocacheflush).
        ZFS_NO_FLUSH: bool = Host "zfs.no_cache_flush" ValueKind::Bool, prices;
        /// Release of the OpenZFS module that is loaded, from /sys/module/zfs/version.
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

    /// Below so many flushes for each commit too few arrived: concurrent flushes are merged, but
    /// not more than half of them.
    pub const TOO_FEW_FLUSHES: f64 = 0.5;

    facts! {
        /// Median time of one commit with the method in force (or the default where there is no
        /// server): 8 kB of WAL, or a block of InnoDB's redo log.
        COMMIT: f64 = Target "probe.commit" ValueKind::Micros, measured;
        /// The fastest of the valid methods, when it beats the default beyond noise; else the
        /// default.
        BEST_METHOD: WalSyncMethod = Target "probe.best_method", measured;
        /// Whether the best method is another than the one in force (the default where there is no
        /// server), by a settled comparison that nothing speaks against.
        ADVISES_CHANGE: bool = Target "probe.advises_change" ValueKind::Bool, measured;
        /// Lower bound of the gain of the best method over the one in force (the default where
        /// there is no server), in percent, over one- and two-page commits.
        GAIN_PERCENT: f64 = Target "probe.gain_percent" ValueKind::Number, measured;
        /// Whether the comparison came to an end: `settled`, `no meaningful difference`, or
        /// `not settled`.
        OUTCOME: ProbeOutcome = Target "probe.outcome", measured;
        /// Whether nothing that was noticed while measuring forbids advice from it.
        TRUSTED: bool = Target "probe.trusted" ValueKind::Bool, measured;
        /// Half the median time of one 8 kB commit with the method in force, in microseconds: where
        /// the PostgreSQL manual starts with `commit_delay`.
        COMMIT_DELAY_START: u64 = Target "probe.commit_delay_start" ValueKind::Count, measured;
        /// Flushes that arrived at the disks per fdatasync.
        FLUSHES_PER_COMMIT: f64 = Target "probe.flushes_per_commit" ValueKind::Number, measured;
        /// Median of overwrite + fdatasync minus median of the same overwrite unflushed, both
        /// O_DIRECT: what a flush costs.
        FLUSH_COST: f64 = Target "probe.flush_cost" ValueKind::Micros, measured;
        /// Commits per second with the default method, one session: one over the mean time.
        COMMITS_PER_SECOND: f64 = Target "probe.commits_per_second" ValueKind::Number, measured;
        /// Whether flushes came back faster than any disk of this kind could do them.
        IMPLAUSIBLE: bool = Target "probe.implausible" ValueKind::Bool, measured;
        /// Why that speed is not believed, with the arithmetic behind it.
        IMPLAUSIBLE_BECAUSE: String = Target "probe.implausible_because" ValueKind::Text, measured;
        /// Where it was measured; another directory of the same file system than the database's
        /// own.
        DIRECTORY: String = Target "probe.directory" ValueKind::Text, measured;
        /// What a commit into a new WAL segment filled with zeros costs over one into a recycled
        /// segment; 1 is the same.
        NEW_SEGMENT_ZEROED: f64 = Target "probe.new_segment_zeroed" ValueKind::Number, measured;
        /// What a commit into a new WAL segment that was not filled (`wal_init_zero=off`) costs
        /// over one into a recycled segment.
        NEW_SEGMENT_UNFILLED: f64 = Target "probe.new_segment_unfilled" ValueKind::Number, measured;
        /// Commits per second of sixteen sessions that share flushes, as PostgreSQL's do, or
        /// InnoDB's.
        GROUP_COMMITS_PER_SECOND: f64 = Target "probe.group_commits_per_second" ValueKind::Number, measured;
        /// Median time of a transaction of 512 bytes that is flushed in the redo log and then in
        /// the binary log.
        BINLOG_COMMIT: f64 = Target "probe.binlog_commit" ValueKind::Micros, measured;
        /// Small files per second that one thread makes durable under a new name.
        FILES_PER_SECOND: f64 = Target "probe.files_per_second" ValueKind::Number, measured;
        /// What a commit with fdatasync costs beside a writer on the same file system, over one
        /// without; 1 is the same.
        ENTANGLED_FDATASYNC: f64 = Target "probe.entangled_fdatasync" ValueKind::Number, measured;
        /// What a commit with fsync costs beside a writer on the same file system, over one
        /// without; 1 is the same.
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
    //! Facts of trials: what file systems came to that were made and measured side by side on this
    //! very stack. Only `walwise check --trial` adds them, from a record that anybody could have
    //! written, so nothing that can lose data may depend on them.

    facts! {
        /// Whether every load that decides was settled, from the record of a trial on this disk.
        SETTLED: bool = Target "trial.settled" ValueKind::Bool, measured;
        /// What the figures of the trial are worth: `disk` where they were measured on it,
        /// otherwise the certificate of its loop file: `faithful`, `order only`, `indicative` or
        /// `not certified`.
        BASIS: TrialBasis = Target "trial.basis", measured;
        /// The file systems that may be the fastest, or are within 5 % of it, under every load that
        /// decides, with 95 % confidence for each load; nothing where a trial was not settled.
        BEST: Vec<TrialFilesystem> = Target "trial.best" ValueKind::Choices(TrialFilesystem::WORDS), measured;
        /// The file systems that were shown to be slower than another one under at least one load
        /// that decides.
        SLOWER: Vec<TrialFilesystem> = Target "trial.slower" ValueKind::Choices(TrialFilesystem::WORDS), measured;
        /// The faster of fdatasync and open_datasync in the trial: fdatasync unless the other gains
        /// at least 5 %; on the target's own file system, and on a free disk on all that may be the
        /// best.
        METHOD: WalSyncMethod = Target "trial.method", measured;
        /// How much that method gains over fdatasync in the trial, in percent: the lower bound.
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
        pub fn holds_order(self) -> bool {
            matches!(self, Self::Disk | Self::Faithful | Self::OrderOnly)
        }
    }

    use crate::facts::{Choice, choice};

    use super::postgres::WalSyncMethod;
}

/// A list of every area.
macro_rules! every {
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
    every!(ALL).into_iter().flatten()
}

/// How many names come before this one.
pub(super) const fn place(name: &str) -> FactId {
    let (mut before, areas) = (0, every!(NAMES));
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

/// Whether one name comes before another; that of bytes as they are, since comparing in general is
/// not for constants.
const fn is_before(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest_of_one @ ..], [b, rest_of_other @ ..]) = (one, other) {
        if *a != *b {
            return *a < *b;
        }
        (one, other) = (rest_of_one, rest_of_other);
    }
    one.len() < other.len()
}

/// A value of the fact of this name as people read it; as it is where there is no such fact.
pub fn show(name: &str, value: &Value) -> String {
    find(name).map_or_else(|| value.to_string(), |info| info.show(value))
}

/// The fact of this name.
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
