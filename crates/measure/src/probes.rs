//! Probes: short write benchmarks that measure the latency of commits. A probe writes only to
//! one scratch directory and removes it at the end; only the [`drill`] leaves a directory.
//!
//! A [`ProbePlan`] states where and how much a probe writes; [`run`] carries out the plan.
//!
//! The scratch directory for a database is next to the database's directory, never inside it.
//! File system and inode flags are the same there.

mod scratch_directory;
mod scratch_place;
pub mod wear {
    //! Estimates the share of an SSD's endurance that a probe uses up. No fact has the rated
    //! endurance, so the estimate assumes the lowest rating on the market.

    use crate::facts::catalog::device::{self, Medium};
    use crate::facts::{FactSet, Subject};
    use crate::text;

    /// Lowest rating on the market, in full drive writes per day over five years of warranty
    /// (JESD218 defines the method).
    const MIN_WRITES_PER_DAY: f64 = 0.3;
    const WARRANTY_DAYS: f64 = 365.0 * 5.0;

    /// The size in bytes of the smallest disk among `leaves` that wears out by writing. Hard disks
    /// and memory do not wear out; an unknown medium counts as wearing out. `None` if a size is
    /// unknown or no disk wears out.
    pub fn smallest_wearing_disk_bytes(leaves: &[Subject], facts: &FactSet) -> Option<u64> {
        let wears = |leaf: &&Subject| {
            facts
                .value(leaf, &device::MEDIUM)
                .is_none_or(Medium::can_wear_out)
        };
        let sizes = leaves
            .iter()
            .filter(wears)
            .map(|leaf| facts.value(leaf, &device::SIZE));
        sizes
            .collect::<Option<Vec<u64>>>()?
            .into_iter()
            .filter(|size| *size > 0)
            .min()
    }

    /// Formats the wear as `uses 0.023 % of the endurance of an SSD of 8 GiB`. The calculation
    /// assumes that every byte reaches the disk once.
    pub fn wear_text(bytes: u64, disk_bytes: u64) -> String {
        let percent =
            100.0 * bytes as f64 / (disk_bytes as f64 * MIN_WRITES_PER_DAY * WARRANTY_DAYS);
        let percent = if percent < 0.001 {
            "under 0.001".to_owned()
        } else {
            format!("{percent:.3}")
        };
        format!(
            "uses {percent} % of the endurance of an SSD of {}",
            text::format_bytes(disk_bytes)
        )
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn wear_is_formatted_as_percentage() {
            assert_eq!(
                wear_text(1 << 30, 1 << 33),
                "uses 0.023 % of the endurance of an SSD of 8 GiB"
            );
            assert_eq!(
                wear_text(1 << 20, 1 << 40),
                "uses under 0.001 % of the endurance of an SSD of 1 TiB"
            );
        }
    }
}
mod commit_writer;
pub mod drill;
mod file_calls;
mod group_commit_log;
pub mod passive;
mod plan;
mod request;
mod run;
mod scratch;
pub mod scratch_cleaner;
mod server_log;
mod workload;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::time::ClockId;
use thiserror::Error;

use crate::escape::ShellCommand;
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::{DiskFlushes, Measurement, Method, floor_to_usize};
use crate::text::display_path;

pub(crate) use commit_writer::{
    AlignedBuffer, CommitWriter, CyclicWriteCursor, PAGE_BYTES, pwrite_all, run_beside_writer,
    write_zeros,
};
pub(crate) use file_calls::{create_file, filesystem_magic, open_directory, open_file};
pub(crate) use group_commit_log::GroupCommitLog;
pub use plan::{ProbePlan, plan_probe};
pub use request::{ProbeOptions, ProbeRequest};
pub use run::run_probe;
pub(crate) use scratch::set_and_verify_inode_flags;
pub(crate) use scratch_place::enclosing_database_path;

pub use crate::measure::ProbeProgress;

// The open methods use O_DSYNC or O_SYNC; the others call fdatasync or fsync after the write
// (`get_sync_bit` and `issue_xlog_fsync` in src/backend/access/transam/xlog.c).

/// The kernel's value of O_DSYNC. In rustix 1.1.6, `OFlags::DSYNC` has the value of O_SYNC
/// (src/backend/linux_raw/fs/types.rs).
const O_DSYNC: OFlags = OFlags::from_bits_retain(nix::libc::O_DSYNC.cast_unsigned());

pub(crate) fn open_flags(method: Method) -> OFlags {
    let sync = match method.wal_sync_method() {
        Some(WalSyncMethod::OpenDatasync) => O_DSYNC,
        Some(WalSyncMethod::OpenSync) => OFlags::SYNC,
        Some(
            WalSyncMethod::Fdatasync | WalSyncMethod::Fsync | WalSyncMethod::FsyncWritethrough,
        )
        | None => OFlags::empty(),
    };
    if method.is_direct() {
        sync | OFlags::DIRECT
    } else {
        sync
    }
}

// Order of methods and commits per round. Each round has a new random order, so that no method
// always follows the same one; the seed makes a run repeatable.

/// SplitMix64: small, seeded, and good enough to shuffle.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        crate::drill::splitmix64_finaliser(self.0)
    }

    pub(crate) fn shuffled<T>(&mut self, items: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut items: Vec<T> = items.into_iter().collect();
        for i in (1..items.len()).rev() {
            #[expect(clippy::cast_possible_truncation, reason = "below i + 1")]
            let j = (self.next_u64() % (i as u64 + 1)) as usize;
            items.swap(i, j);
        }
        items
    }
}

/// Commits of one method in a round: as many as fit the share of time and bytes, at least one.
fn commits_per_round(
    commit_us: f64,
    share_us: f64,
    commit_bytes: u64,
    generator_byte_limit: u64,
) -> usize {
    let by_time = floor_to_usize((share_us / commit_us.max(0.1)).clamp(1.0, 1e6));
    let by_bytes =
        usize::try_from(generator_byte_limit / commit_bytes.max(1)).unwrap_or(usize::MAX);
    by_time.min(by_bytes).max(1)
}

/// Handle to cancel a probe; all clones share one cancel flag.
#[derive(Clone, Debug, Default)]
pub struct CancelHandle {
    cancel: Arc<AtomicBool>,
}

impl CancelHandle {
    /// Ends the probe after the current commit or chunk of a file; results so far are kept.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

impl From<Arc<AtomicBool>> for CancelHandle {
    fn from(cancel: Arc<AtomicBool>) -> Self {
        Self { cancel }
    }
}

enum StopReason {
    Cancelled,
    BudgetExhausted,
    Failed(ProbeError),
}

impl From<ProbeError> for StopReason {
    fn from(error: ProbeError) -> Self {
        Self::Failed(error)
    }
}

/// Reason to refuse a probe before anything is written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProbeRefusal {
    #[error(
        "the server's log flush method is unknown or flushes nothing; run walwise as the server's owner or as root, or specify --profile"
    )]
    UnknownFlushMethod,
    #[error(
        "{0} does not exist; create it, or specify a directory on the same file system with --scratch DIR"
    )]
    Missing(String),
    #[error("{0} is not a directory; specify the directory to measure")]
    NotADirectory(String),
    #[error(
        "{0} is not writable by this user; run walwise as its owner or as root, or specify another directory on the same file system with --scratch DIR"
    )]
    Denied(String),
    #[error(
        "{0} is on a read-only file system; remount the file system read-write, then measure again"
    )]
    ReadOnly(String),
    #[error(
        "{database} belongs to a database, so walwise writes nothing there, and {why}; specify a directory on the same file system with --scratch DIR"
    )]
    NoSiblingPlace {
        database: String,
        /// Why no directory next to the database can be used, as a clause.
        why: String,
    },
    #[error("--scratch {scratch} would not measure {target}: {why}")]
    DifferentFilesystem {
        scratch: String,
        target: String,
        /// Difference between the scratch directory and the target, as a clause.
        why: String,
    },
    /// A probe would load a remote server or a FUSE process, or might hang.
    #[error(
        "{directory} is on a {class} file system; walwise measures it only with --scratch DIR or probe --force"
    )]
    NetworkOrFuse {
        directory: String,
        class: &'static str,
    },
    #[error("{directory}: {why}; specify a directory on a working file system")]
    Unresponsive { directory: String, why: String },
    #[error(
        "{directory} has {free} free, but a probe needs {needed}; free some space, specify a directory on a similar file system with --scratch DIR, or use probe --force"
    )]
    Space {
        directory: String,
        free: String,
        needed: String,
    },
    #[error("{directory} cannot be probed: {error}")]
    System { directory: String, error: String },
}

impl ProbeRefusal {
    fn from_errno(errno: Errno, directory: &Path) -> Self {
        let directory = display_path(directory);
        match errno {
            Errno::NOENT => Self::Missing(directory),
            Errno::NOTDIR => Self::NotADirectory(directory),
            Errno::ACCESS | Errno::PERM => Self::Denied(directory),
            Errno::ROFS => Self::ReadOnly(directory),
            errno => Self::System {
                directory,
                error: errno.to_string(),
            },
        }
    }
}

/// The error that ends a probe early. The probe's files are removed unless the message states
/// otherwise.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{message}")]
pub struct ProbeError {
    pub message: String,
    /// Results of the rounds before the error; `None` before the first complete round.
    pub partial: Option<Box<Measurement>>,
}

impl ProbeError {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            partial: None,
        }
    }

    /// Makes the error for a failed system call. `doing` names the failed step, such as `a commit`.
    fn from_errno(errno: Errno, doing: &str, directory: &Path) -> Self {
        let at = display_path(directory);
        let says = match errno {
            Errno::NOSPC => format!("{at} ran out of space; free some space and probe again"),
            Errno::DQUOT => {
                format!("the disk quota at {at} is exhausted; raise it or probe as another user")
            }
            Errno::IO => format!("the disk under {at} reported an I/O error; check dmesg"),
            Errno::ROFS => {
                format!("{at} became read-only, probably after a file system error; check dmesg")
            }
            Errno::NOENT | Errno::STALE => format!(
                "{at}, or walwise's directory in it, was removed during the probe; probe again"
            ),
            Errno::ACCESS | Errno::PERM => {
                let look = ShellCommand::text_or_placeholder(
                    ShellCommand::new("lsattr -d ").append_quoted_name(&at),
                );
                format!(
                    "access to {at} was denied; probe as its owner or as root, and check {look}"
                )
            }
            errno => format!("{at}: {errno}"),
        };
        Self::new(format!("{doing} failed: {says}"))
    }
}

// Counters read before and after commits: flushes and traffic of the disks, and CPU time of other
// guests.
//
// `stat` counts the flushes of disks, but not of partitions, since Linux 5.5 (17 fields,
// Documentation/ABI/stable/sysfs-block). With fewer fields the flush count is unknown, not zero.

/// Unit of the sector counts in `stat`, independent of the disk's own sector size.
const SECTOR_BYTES: u64 = 512;

/// Counters of one or more disks, summed; `read` and `written` are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiskCounters {
    pub read: u64,
    pub written: u64,
    /// Flush requests completed; `None` if a disk does not count flushes.
    pub flushes: Option<DiskFlushes>,
}

pub(crate) struct DiskCounterReader {
    stats: Vec<PathBuf>,
}

impl DiskCounterReader {
    pub fn new(names: &[String]) -> Self {
        let checked = names
            .iter()
            .filter(|name| !name.contains('/') && *name != "..");
        Self {
            stats: checked
                .map(|name| Path::new("/sys/class/block").join(name).join("stat"))
                .collect(),
        }
    }

    /// Sums the counters of all disks; `None` without disks, or if a `stat` file cannot be read.
    pub fn read(&self) -> Option<DiskCounters> {
        let all = self
            .stats
            .iter()
            .map(|path| parse_disk_stat(&fs::read_to_string(path).ok()?));
        let sum = |a: DiskCounters, b: DiskCounters| DiskCounters {
            read: a.read + b.read,
            written: a.written + b.written,
            flushes: a.flushes.zip(b.flushes).map(|(a, b)| a + b),
        };
        all.collect::<Option<Vec<_>>>()?.into_iter().reduce(sum)
    }

    pub(crate) fn read_flush_count(&self) -> Option<u64> {
        Some(self.read()?.flushes?.count)
    }
}

fn parse_disk_stat(stat: &str) -> Option<DiskCounters> {
    let fields: Vec<u64> = stat
        .split_ascii_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let bytes = |i: usize| {
        fields
            .get(i)
            .map(|sectors| sectors.saturating_mul(SECTOR_BYTES))
    };
    Some(DiskCounters {
        read: bytes(2)?,
        written: bytes(6)?,
        flushes: fields
            .get(15)
            .zip(fields.get(16))
            .map(|(count, millis)| DiskFlushes {
                count: *count,
                millis: *millis,
            }),
    })
}

/// Time that the host was suspended since boot: CLOCK_MONOTONIC stops while the host is suspended,
/// CLOCK_BOOTTIME does not (clock_gettime(2)).
fn suspended_time_since_boot() -> Duration {
    let now = |clock| {
        let time = rustix::time::clock_gettime(clock);
        let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
        Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
    };
    let awake = now(ClockId::Monotonic);
    now(ClockId::Boottime).saturating_sub(awake)
}

/// CPU time since boot in clock ticks, from the first line of /proc/stat (proc_stat(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CpuTicks {
    total: u64,
    steal: u64,
}

impl CpuTicks {
    pub fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|l| l.strip_prefix("cpu "))?;
        // Fields: user nice system idle iowait irq softirq steal. Guest time is part of user time.
        let ticks: Vec<u64> = line
            .split_ascii_whitespace()
            .take(8)
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        Some(Self {
            total: ticks.iter().sum(),
            steal: *ticks.get(7)?,
        })
    }

    /// Share of CPU time that the hypervisor gave to other guests between two readings, in percent;
    /// `None` if no time has passed.
    pub fn steal_percent(before: Self, after: Self) -> Option<f64> {
        let all = after.total.checked_sub(before.total).filter(|n| *n > 0)?;
        Some(100.0 * after.steal.saturating_sub(before.steal) as f64 / all as f64)
    }
}

// The pause that precedes each paced commit. On ext4, fsync commits the journal only if the
// modification time changed, at most once per timer tick (fs/ext4/fsync.c,
// `inode_set_ctime_current`).
//
// Without pauses, many commits share a tick and fsync looks as cheap as fdatasync. On a server
// with 100 commits/s, every fsync commits the journal.

/// Pause before each commit: at least one tick of the slowest timer (100 Hz).
const PAUSE_BEFORE_COMMIT: Duration = Duration::from_millis(10);

#[cfg(test)]
mod counters_tests {
    use super::*;

    #[test]
    fn disk_stat_has_flush_count_only_with_17_fields() {
        let line = "  120 3 4096 10 200 5 8192 20 0 30 30 1 0 16 0 77 9\n";
        let new = parse_disk_stat(line).unwrap();
        assert_eq!(
            new,
            DiskCounters {
                read: 4096 * 512,
                written: 8192 * 512,
                flushes: Some(DiskFlushes {
                    count: 77,
                    millis: 9
                })
            }
        );
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        for count in [11, 15] {
            assert_eq!(
                parse_disk_stat(&fields[..count].join(" ")).unwrap().flushes,
                None,
                "{count} fields"
            );
        }
        assert_eq!(parse_disk_stat("1 2 three"), None);
        assert_eq!(parse_disk_stat(""), None);
    }

    #[test]
    fn steal_percent_is_share_of_cpu_time() {
        let at = |steal| {
            CpuTicks::parse(&format!(
                "cpu  100 0 100 {} 0 0 0 {steal} 7 0\ncpu0 1",
                800 - steal
            ))
        };
        let (before, after) = (
            at(0).unwrap(),
            CpuTicks::parse("cpu 150 0 100 850 0 0 0 100 0 0").unwrap(),
        );
        let percent = CpuTicks::steal_percent(before, after).unwrap();
        assert!((percent - 50.0).abs() < 1e-9, "{percent}");
        assert_eq!(CpuTicks::parse("intr 1 2"), None);
    }
}

#[cfg(test)]
mod schedule_tests {
    use super::*;

    #[test]
    fn permutations_are_complete_and_uniform() {
        let mut rng = Rng::new(5);
        let mut first = [0; 6];
        for _ in 0..600 {
            let order = rng.shuffled(0..6);
            first[order[0]] += 1;
            let mut sorted = order;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        }
        assert!(first.iter().all(|n| (60..140).contains(n)), "{first:?}");
    }

    #[test]
    fn commits_per_round_is_bounded() {
        assert_eq!(commits_per_round(8_300.0, 15_000.0, 8192, 1 << 20), 1);
        assert_eq!(commits_per_round(50_000.0, 15_000.0, 8192, 1 << 20), 1);
        assert_eq!(commits_per_round(200.0, 15_000.0, 8192, 1 << 20), 75);
        assert_eq!(commits_per_round(1.0, 15_000.0, 8192, 1 << 18), 32);
        assert_eq!(commits_per_round(0.0, 15_000.0, 8192, 0), 1);
    }
}

#[cfg(test)]
mod open_flags_tests {
    use super::*;

    #[test]
    fn open_datasync_and_open_sync_set_their_flags() {
        let directory = tempfile::tempdir().unwrap();
        let flags_in_force = |method| {
            let (path, create) = (directory.path().join("file"), OFlags::CREATE | OFlags::RDWR);
            let file = rustix::fs::open(
                path,
                create | open_flags(method),
                rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            )
            .unwrap();
            rustix::fs::fcntl_getfl(&file).unwrap().bits() & OFlags::SYNC.bits()
        };
        // O_SYNC is O_DSYNC and one more bit (include/uapi/asm-generic/fcntl.h).
        let [plain, data, all] =
            [Method::Fdatasync, Method::OpenDatasync, Method::OpenSync].map(flags_in_force);
        assert_eq!(plain, 0);
        assert!(
            data != 0 && data != all && data & all == data,
            "{data:o} {all:o}"
        );
    }
}
