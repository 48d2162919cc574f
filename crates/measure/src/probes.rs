//! Probes: short write benchmarks that measure the latency of commits. A probe writes only to one
//! scratch directory and removes it at the end; only the [`drill`] leaves a directory.
//!
//! A [`ProbePlan`] states where and how much a probe writes; [`run`] carries out the plan.
//!
//! The scratch directory for a database lies next to the database's directory, never inside. File
//! system and inode flags are the same there.

mod error;
mod scratch_directory;
mod cancellation {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::error::ProbeError;

    /// Handle to cancel a probe; all clones share one cancel flag.
    #[derive(Clone, Debug, Default)]
    pub struct CancelHandle {
        cancel: Arc<AtomicBool>,
    }

    impl CancelHandle {
        /// Ends the probe soon; results so far are kept.
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

    pub(super) enum StopReason {
        Cancelled,
        BudgetExhausted,
        Failed(ProbeError),
    }

    impl From<ProbeError> for StopReason {
        fn from(error: ProbeError) -> Self {
            Self::Failed(error)
        }
    }
}
mod counters;
mod wal_methods {
    //! The methods by which a PostgreSQL server makes its WAL durable, and their open flags. The
    //! open methods use O_DSYNC or O_SYNC; the others call fdatasync or fsync after the write
    //! (`get_sync_bit` and `issue_xlog_fsync` in src/backend/access/transam/xlog.c).

    use rustix::fs::OFlags;

    use crate::facts::catalog::postgres::WalLevel;
    use crate::measure::{Method, OpenMode};

    /// Settings that decide how a server writes its WAL; an unknown setting counts as its default.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct WalSettings {
        pub major: Option<u64>,
        pub wal_level: Option<WalLevel>,
        pub max_wal_senders: Option<u64>,
        pub debug_io_direct: Option<String>,
    }

    /// Returns the methods with which this server can make its WAL durable, the default first.
    /// Unknown settings count as PostgreSQL's defaults.
    ///
    /// Servers up to 15 add O_DIRECT to the open methods if no process reads the WAL.
    /// `pg_test_fsync` always adds O_DIRECT, so its figures for these methods are not the server's.
    pub fn postgres_sync_methods(server: &WalSettings) -> Vec<Method> {
        let items = server.debug_io_direct.as_deref().unwrap_or_default();
        let debug_direct = server.major.is_some_and(|v| v >= 16)
            && items.split(',').any(|item| item.trim() == "wal");
        let nobody_reads = server.major.is_some_and(|v| v <= 15)
            && server.wal_level.is_some_and(WalLevel::is_minimal)
            && server.max_wal_senders == Some(0);
        if debug_direct {
            // The list lacks fsync with O_DIRECT, because its cost is known: that of fdatasync with
            // O_DIRECT plus a commit of the file system's journal.
            vec![
                Method::FdatasyncDirect,
                Method::OpenDatasyncDirect,
                Method::OpenSyncDirect,
            ]
        } else if nobody_reads {
            vec![
                Method::Fdatasync,
                Method::OpenDatasyncDirect,
                Method::Fsync,
                Method::OpenSyncDirect,
            ]
        } else {
            vec![
                Method::Fdatasync,
                Method::OpenDatasync,
                Method::Fsync,
                Method::OpenSync,
            ]
        }
    }

    /// The kernel's value of O_DSYNC. In rustix 1.1.6, `OFlags::DSYNC` has the value of O_SYNC
    /// (src/backend/linux_raw/fs/types.rs).
    const O_DSYNC: OFlags = OFlags::from_bits_retain(nix::libc::O_DSYNC.cast_unsigned());

    pub fn open_flags(method: Method) -> OFlags {
        let sync = match method.open_mode() {
            OpenMode::Plain => OFlags::empty(),
            OpenMode::DataSync => O_DSYNC,
            OpenMode::Sync => OFlags::SYNC,
        };
        if method.is_direct() {
            sync | OFlags::DIRECT
        } else {
            sync
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn sample_wal_settings(
            major: u64,
            wal_level: &str,
            senders: u64,
            debug: &str,
        ) -> WalSettings {
            WalSettings {
                major: Some(major),
                wal_level: crate::facts::Choice::from_word(wal_level),
                max_wal_senders: Some(senders),
                debug_io_direct: Some(debug.to_owned()),
            }
        }

        #[test]
        fn direct_io_is_the_servers_only_where_it_does_it() {
            let direct = |s: &WalSettings| {
                postgres_sync_methods(s)
                    .iter()
                    .filter(|m| m.is_direct())
                    .count()
            };
            assert_eq!(direct(&WalSettings::default()), 0);
            assert_eq!(direct(&sample_wal_settings(15, "replica", 10, "")), 0);
            assert_eq!(direct(&sample_wal_settings(15, "minimal", 10, "")), 0);
            assert_eq!(direct(&sample_wal_settings(15, "minimal", 0, "")), 2);
            assert_eq!(direct(&sample_wal_settings(16, "minimal", 0, "")), 0);
            assert_eq!(
                direct(&sample_wal_settings(16, "replica", 10, "data, wal")),
                3
            );
            assert_eq!(
                direct(&sample_wal_settings(16, "replica", 10, "wal_init")),
                0
            );
        }

        #[test]
        fn the_two_open_methods_are_not_the_same() {
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
}
mod redo_log_config;
mod pace {
    //! The pause that precedes each paced commit. On ext4, fsync commits the journal only if the
    //! modification time changed, at most once per timer tick (fs/ext4/fsync.c,
    //! `inode_set_ctime_current`).
    //!
    //! Without pauses, many commits share a tick and fsync looks as cheap as fdatasync. On a server
    //! with 100 commits/s, every fsync commits the journal.

    use std::time::Duration;

    /// Pause before each commit: at least one tick of the slowest timer (100 Hz).
    pub const PAUSE_BEFORE_COMMIT: Duration = Duration::from_millis(10);
}
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

    /// Returns the size in bytes of the smallest disk among `leaves` that wears out by writing.
    /// Hard disks and memory do not wear out; an unknown medium counts as wearing out. `None` if a
    /// size is unknown or no disk wears out.
    pub fn smallest_flash_bytes(leaves: &[Subject], facts: &FactSet) -> Option<u64> {
        let wears = |leaf: &&Subject| {
            facts
                .value(leaf, &device::MEDIUM)
                .is_none_or(Medium::wears_out)
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
        fn wear_is_said_as_a_share() {
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
mod request;
mod schedule {
    //! Chooses the order of the methods in a round and the number of commits. Every round has a new
    //! random order, so that no method always follows the same one. The order is seeded, so that a
    //! run can be repeated.

    /// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): small, seeded, and good enough to shuffle.
    #[derive(Clone, Debug)]
    pub struct Rng(u64);

    impl Rng {
        pub fn new(seed: u64) -> Self {
            Self(seed)
        }

        pub fn next_u64(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        pub fn permutation(&mut self, n: usize) -> Vec<usize> {
            let mut order: Vec<usize> = (0..n).collect();
            for i in (1..n).rev() {
                #[expect(clippy::cast_possible_truncation, reason = "below i + 1")]
                let j = (self.next_u64() % (i as u64 + 1)) as usize;
                order.swap(i, j);
            }
            order
        }
    }

    /// Commits of one method in a round: as many as fit the share of time and bytes, at least one.
    pub fn commits_per_round(
        commit_us: f64,
        share_us: f64,
        commit_bytes: u64,
        share_bytes: u64,
    ) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped"
        )]
        let by_time = (share_us / commit_us.max(0.1)).clamp(1.0, 1e6) as usize;
        let by_bytes = usize::try_from(share_bytes / commit_bytes.max(1)).unwrap_or(usize::MAX);
        by_time.min(by_bytes).max(1)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn every_order_holds_each_number_once() {
            let mut rng = Rng::new(5);
            let mut first = [0; 6];
            for _ in 0..600 {
                let order = rng.permutation(6);
                first[order[0]] += 1;
                let mut sorted = order;
                sorted.sort_unstable();
                assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
            }
            assert!(first.iter().all(|n| (60..140).contains(n)), "{first:?}");
        }

        #[test]
        fn slow_disks_get_one_commit_and_fast_ones_no_flood() {
            assert_eq!(commits_per_round(8_300.0, 15_000.0, 8192, 1 << 20), 1);
            assert_eq!(commits_per_round(50_000.0, 15_000.0, 8192, 1 << 20), 1);
            assert_eq!(commits_per_round(200.0, 15_000.0, 8192, 1 << 20), 75);
            assert_eq!(commits_per_round(1.0, 15_000.0, 8192, 1 << 18), 32);
            assert_eq!(commits_per_round(0.0, 15_000.0, 8192, 0), 1);
        }
    }
}
mod commit_writer;
pub mod drill;
mod plan;
mod run;
mod scratch;
pub mod scratch_watcher;
mod workload;

pub use cancellation::CancelHandle;
pub use commit_writer::{CommitWriter, PAGE_BYTES, WriteBuffer};
pub use counters::DiskCounterReader;
pub use error::{ProbeError, ProbeErrorKind, Refusal};
pub use plan::{ProbePlan, plan_probe};
pub use request::{ProbeOptions, ProbeRequest};
pub use run::run_probe;
pub use schedule::Rng;
pub(crate) use scratch::set_inherited_inode_flags;
pub(crate) use scratch_place::enclosing_database;
pub(crate) use wal_methods::open_flags;

pub use crate::measure::Progress;
