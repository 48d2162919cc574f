//! Whether the log of a server is large enough for the server's writes, and what another size would
//! cost.
//!
//! Calculations take plain numbers; the module `derive` reads facts and inserts the results as
//! facts. A prediction is a range, with the measurements behind it. Rules decide whether a size is
//! advised.

mod derive;
mod wal;

use crate::facts::catalog::cluster::LogSizeFit;
use crate::facts::catalog::device::{self, Medium};
use crate::facts::catalog::mount;
use crate::facts::catalog::postgres::{self, ArchiveMode};
use crate::facts::{FactSet, FactValue, Key, Reading, Scope, Source, Subject, UnknownReason};
use crate::servers::format_postgres_size;
use crate::text;

pub use derive::derive_sizing_facts;

/// Rounds up to a power of two, from 1 MiB to 16 TiB.
fn next_power_of_two_clamped(bytes: f64) -> u64 {
    let mut size = 1 << 20;
    while (size as f64) < bytes && size < 1 << 44 {
        size *= 2;
    }
    size
}

/// Halves `size` until what it adds to the `occupied` bytes is at most half of the `free` bytes.
fn halve_until_it_fits(
    mut size: u64,
    now: u64,
    occupied: u64,
    free: u64,
) -> (LogSizeFit, Option<u64>) {
    while size.saturating_sub(occupied) > free / 2 {
        size /= 2;
    }
    if size > now {
        (LogSizeFit::TooSmall, Some(size))
    } else {
        (LogSizeFit::NoRoom, None)
    }
}

fn bytes_from_float(figure: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate; out-of-range values saturate"
    )]
    let whole = figure.round() as u64;
    whole
}

// InnoDB's redo log: how long the log lasts at the current rate, which size would last an
// hour, and what that size costs.
//
// The server counts bytes since its start, so only an average is known; peaks write more.
// Replay speed was measured on other hosts, so its range is wide.

#[derive(Clone, Copy, Debug)]
struct RedoLogUsage {
    /// Capacity of the redo log in bytes.
    pub capacity: u64,
    /// Redo written on average, in bytes per second.
    pub rate: f64,
    /// Seconds over which the bytes were counted.
    pub seconds: f64,
    /// Amount of redo, in bytes, that crash recovery would replay now, if the server reports
    /// it.
    pub age: Option<u64>,
}

/// By custom the redo log should last an hour at peak rate; the MySQL manual (*Configuring Redo
/// Log Capacity*) gives no figure.
const WANTED_SECONDS: f64 = 3600.0;
/// The shortest counting time, in seconds, whose average is representative.
const MIN_COUNTED_SECONDS: f64 = 3600.0;
/// From this share of the capacity on, the log counts as full: InnoDB then flushes dirty pages only
/// to free space in the log.
const FULL_SHARE: f64 = 0.75;
/// The largest `innodb_redo_log_capacity`, in bytes, that every release with this variable
/// accepts.
const MAX_CAPACITY: u64 = 128 << 30;
/// Replay speed in bytes per second, from random pages on slow media to pages in memory.
const REPLAY_BYTES_PER_SECOND: Forecast = Forecast {
    least: 5.0 * 1_048_576.0,
    most: 500.0 * 1_048_576.0,
};
/// Upper limit of the startup time without replay, in seconds.
const STARTUP_SECONDS: f64 = 5.0;

impl RedoLogUsage {
    pub fn seconds_to_fill_capacity(&self) -> f64 {
        self.capacity as f64 / self.rate.max(1.0)
    }

    /// Whether the capacity suffices, and a better size if not; `None` if too little is known.
    /// `free` is the free space on the log's file system in bytes; the log may grow by at most
    /// half of it.
    pub fn fit_and_better_capacity(&self, free: Option<u64>) -> Option<(LogSizeFit, Option<u64>)> {
        let is_full = self
            .age
            .is_some_and(|age| age as f64 >= FULL_SHARE * self.capacity as f64);
        if self.seconds < MIN_COUNTED_SECONDS && !is_full {
            return None;
        }
        if self.seconds_to_fill_capacity() >= WANTED_SECONDS && !is_full {
            return Some((LogSizeFit::Enough, None));
        }
        let wanted = (self.rate * WANTED_SECONDS).max(self.capacity as f64 * 2.0);
        let size = next_power_of_two_clamped(wanted).min(MAX_CAPACITY);
        Some(halve_until_it_fits(
            size,
            self.capacity,
            self.capacity,
            free?,
        ))
    }

    pub fn redo_recovery_seconds(bytes: u64) -> Forecast {
        Forecast {
            least: bytes as f64 / REPLAY_BYTES_PER_SECOND.most,
            most: bytes as f64 / REPLAY_BYTES_PER_SECOND.least + STARTUP_SECONDS,
        }
    }
}

/// A predicted range, ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Forecast {
    pub least: f64,
    pub most: f64,
}

impl Forecast {
    pub fn between_unordered(one: f64, other: f64) -> Self {
        Self {
            least: one.min(other),
            most: one.max(other),
        }
    }

    /// A range of seconds: `5 min`, `20 s to 3 min`. Figures are rounded, because predictions
    /// are not precise.
    pub fn duration_range_text(self) -> String {
        let (least, most) = (duration_text(self.least), duration_text(self.most));
        match (least.split_once(' '), most.split_once(' ')) {
            _ if least == most => most,
            (Some((number, unit)), Some((_, other))) if unit == other => {
                format!("{number} to {most}")
            }
            _ => format!("{least} to {most}"),
        }
    }

    pub fn ratio_text(self) -> String {
        let (least, most) = (
            format_compact_number(self.least),
            format_compact_number(self.most),
        );
        if least == most {
            most
        } else {
            format!("{least} to {most}")
        }
    }
}

fn duration_text(seconds: f64) -> String {
    match seconds {
        few if few < 1.0 => "1 s".to_owned(),
        few if few < 99.5 => format!("{} s", format_compact_number(few)),
        some if some < 5970.0 => format!("{} min", format_compact_number(some / 60.0)),
        some if some < 99.5 * 3600.0 => format!("{} h", format_compact_number(some / 3600.0)),
        many => format!("{} days", format_compact_number(many / 86_400.0)),
    }
}

fn format_compact_number(figure: f64) -> String {
    if figure < 9.95 {
        format!("{figure:.1}").trim_end_matches(".0").to_owned()
    } else {
        text::format_rounded_and_grouped(figure)
    }
}

/// Below this share of free space, in percent, a file system counts as nearly full
/// (`mount.low-space`).
const LOW_SPACE_PERCENT: f64 = 10.0;

struct ServerFacts<'f> {
    facts: &'f FactSet,
    subject: &'f Subject,
}

/// An unknown reading, which becomes the reading of every result that depends on the fact.
struct UnknownFact(Reading<()>);

impl UnknownFact {
    fn to_reading<T>(&self) -> Reading<T> {
        self.0.as_ref().into_unknown_reading()
    }
}

impl ServerFacts<'_> {
    fn require<T: FactValue>(&self, key: &Key<T>) -> Result<T, UnknownFact> {
        match self.facts.get(self.subject, key) {
            Reading::Known { value, .. } => Ok(value),
            unknown @ Reading::Unknown { .. } => Err(UnknownFact(unknown.into_unknown_reading())),
        }
    }

    fn value<T: FactValue>(&self, key: &Key<T>) -> Option<T> {
        self.facts.value(self.subject, key)
    }

    fn log_mount_value<T: FactValue>(&self, key: &Key<T>) -> Option<T> {
        let mount = self.facts.applicable_subject(self.subject, Scope::Mount)?;
        self.facts.value(&mount, key)
    }

    /// The bytes by which the log may grow: 0 on a nearly full file system.
    fn log_free_bytes_for_growth(&self) -> Option<u64> {
        let percent = self.log_mount_value(&mount::FREE_PERCENT)?;
        let free = self.log_mount_value(&mount::FREE)?;
        Some(if percent < LOW_SPACE_PERCENT { 0 } else { free })
    }

    /// Whether any disk below the log rotates. Replay speed on such disks was not measured.
    fn is_on_rotating_disk(&self) -> bool {
        let mount = self.facts.applicable_subject(self.subject, Scope::Mount);
        let disks = mount
            .map(|mount| self.facts.distinct_bottom_disks(&mount))
            .unwrap_or_default();
        let turns = |disk: &Subject| {
            self.facts
                .value(disk, &device::MEDIUM)
                .is_some_and(Medium::is_rotational)
        };
        disks.iter().any(turns)
    }
}

/// A reading of what `conclude` derives from `basis`, as by [`derived_reading`].
fn reading_from<B, T>(
    basis: &Result<B, UnknownFact>,
    names: &[&str],
    conclude: impl FnOnce(&B) -> Result<T, UnknownFact>,
) -> Reading<T> {
    match basis {
        Ok(basis) => derived_reading(conclude(basis), names),
        Err(why) => why.to_reading(),
    }
}

fn no_better_size() -> UnknownFact {
    let detail = "the size is already sufficient, or no larger size fits";
    UnknownFact(Reading::absent(detail))
}

/// A reading with the facts `names` as its source; an unknown fact passes on its own reading.
fn derived_reading<T>(result: Result<T, UnknownFact>, names: &[&str]) -> Reading<T> {
    result.map_or_else(
        |why| why.to_reading(),
        |value| Reading::known(value, Source::derived_from(names.iter().copied())),
    )
}

// Causes that retain WAL beyond `max_wal_size`, missing standbys, and the space for WAL.

/// A WAL file that waits longer for the archiver is overdue (`pg.archiver-fails`).
const OVERDUE_MICROS: f64 = 3600e6;

fn derive_retention_facts(facts: &mut FactSet, cluster: &Subject) {
    let server = ServerFacts {
        facts,
        subject: cluster,
    };
    let share = derived_reading(
        server.ratio_of_inactive_slot_wal_to_max(),
        &[postgres::INACTIVE_SLOT_WAL.name()],
    );
    let missing = derived_reading(
        server.missing_standby_count(),
        &[postgres::CONNECTED_STANDBYS.name()],
    );
    let room = [mount::FREE.name(), postgres::WAL_FILES.name()];
    let limit = derived_reading(
        server.wal_size_fitting_space().map(format_postgres_size),
        &room,
    );
    let cap = derived_reading(server.max_slot_wal_keep_size_to_set(), &room);
    let holder = derived_reading(
        server.wal_retention_cause(),
        &[
            postgres::INACTIVE_SLOT.name(),
            postgres::ARCHIVER_FAILING.name(),
        ],
    );
    facts.insert(cluster, &postgres::INACTIVE_SLOT_SHARE, share);
    facts.insert(cluster, &postgres::MISSING_STANDBYS, missing);
    facts.insert(cluster, &postgres::WAL_SIZE_LIMIT, limit);
    facts.insert(cluster, &postgres::SLOT_WAL_CAP, cap);
    facts.insert(cluster, &postgres::WAL_HOLDER, holder);
}

impl ServerFacts<'_> {
    fn ratio_of_inactive_slot_wal_to_max(&self) -> Result<f64, UnknownFact> {
        let retained = self.require(&postgres::INACTIVE_SLOT_WAL)?;
        let limit = self.require(&postgres::MAX_WAL_SIZE)?;
        Ok(retained as f64 / limit.max(1) as f64)
    }

    fn missing_standby_count(&self) -> Result<u64, UnknownFact> {
        let wanted = self.require(&postgres::STANDBYS)?;
        if wanted == 0 {
            return Ok(0);
        }
        Ok(wanted.saturating_sub(self.require(&postgres::CONNECTED_STANDBYS)?))
    }

    fn bytes_available_to_wal(&self) -> Result<u64, UnknownFact> {
        let files = self.require(&postgres::WAL_FILES)?;
        let unknown = || {
            let detail = "the size of the WAL's file system is unknown";
            UnknownFact(Reading::unknown(UnknownReason::NotCollected, detail))
        };
        let free = self.log_mount_value(&mount::FREE).ok_or_else(unknown)?;
        let size = self.log_mount_value(&mount::SIZE).ok_or_else(unknown)?;
        Ok(files.saturating_add(free).min(size))
    }

    /// The largest power of two within half of the space. Servers refuse less than two
    /// segments.
    fn wal_size_fitting_space(&self) -> Result<u64, UnknownFact> {
        let half = self.bytes_available_to_wal()? / 2;
        let least = self.require(&postgres::WAL_SEGMENT_SIZE)?.saturating_mul(2);
        let size = half.checked_ilog2().map_or(0, |power| 1 << power);
        if size < least {
            let detail = "the WAL's file system has no room for two segments";
            return Err(UnknownFact(Reading::absent(detail)));
        }
        Ok(size)
    }

    fn max_slot_wal_keep_size_to_set(&self) -> Result<String, UnknownFact> {
        let retained = self.require(&postgres::SLOT_WAL)?;
        let cap = self.wal_size_fitting_space()?;
        // With a cap at or below the retained WAL, the next checkpoint would invalidate the slot.
        Ok(if retained >= cap {
            String::new()
        } else {
            format_postgres_size(cap)
        })
    }

    fn wal_retention_cause(&self) -> Result<String, UnknownFact> {
        if self.ratio_of_inactive_slot_wal_to_max()? >= 1.0 {
            let slot = self.require(&postgres::INACTIVE_SLOT)?;
            let retained = text::format_bytes(self.require(&postgres::INACTIVE_SLOT_WAL)?);
            return Ok(format!(
                "inactive replication slot {slot} retains {retained}"
            ));
        }
        if self.require(&postgres::ARCHIVE_MODE)? == ArchiveMode::Off {
            return Ok(String::new());
        }
        let waiting = self.require(&postgres::ARCHIVE_READY)?;
        let is_overdue = self
            .value(&postgres::ARCHIVE_WAIT)
            .is_some_and(|micros| micros >= OVERDUE_MICROS);
        let is_failing = is_overdue || self.require(&postgres::ARCHIVER_FAILING)?;
        Ok(if is_failing && waiting > 0 {
            format!("WAL files waiting to be archived: {waiting}")
        } else {
            String::new()
        })
    }
}

#[cfg(test)]
mod retention_tests {
    use super::*;
    use crate::facts::{Key, Source};

    fn server_facts(values: &[(&Key<u64>, u64)]) -> (FactSet, Subject) {
        let (server, wal) = (Subject::cluster("/pg"), Subject::mount("/pg"));
        let mut facts = FactSet::default();
        facts.set_fact_link(&server, &wal);
        let test = || Source::from_system_call("test");
        for (key, value) in [(&mount::SIZE, 12 << 30), (&mount::FREE, 6 << 30)] {
            facts.insert_known(&wal, key, value, test());
        }
        for (key, value) in [
            (&postgres::WAL_FILES, 3 << 30),
            (&postgres::MAX_WAL_SIZE, 1 << 30),
            (&postgres::WAL_SEGMENT_SIZE, 16 << 20),
        ]
        .iter()
        .chain(values)
        {
            facts.insert_known(&server, key, *value, test());
        }
        derive_retention_facts(&mut facts, &server);
        (facts, server)
    }

    #[test]
    fn wal_limits_fit_space_of_wal_filesystem() {
        let limits = |values: &[(&Key<u64>, u64)]| {
            let (facts, server) = server_facts(values);
            [&postgres::WAL_SIZE_LIMIT, &postgres::SLOT_WAL_CAP]
                .map(|key| facts.value(&server, key))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            limits(&[(&postgres::SLOT_WAL, 2 << 30)]),
            [some("4GB"), some("4GB")]
        );
        let over = limits(&[(&postgres::SLOT_WAL, 4 << 30)]);
        assert_eq!(
            over,
            [some("4GB"), some("")],
            "the slot would be invalidated immediately"
        );
        let sparse = limits(&[(&postgres::WAL_FILES, 1 << 62), (&postgres::SLOT_WAL, 0)]);
        assert_eq!(sparse[0], some("4GB"), "no larger than the file system");
        let large = limits(&[
            (&postgres::WAL_SEGMENT_SIZE, 4 << 30),
            (&postgres::SLOT_WAL, 0),
        ]);
        assert_eq!(large, [None, None], "two segments do not fit");
    }

    #[test]
    fn wal_retention_cause_is_named() {
        let holder = |values: &[(&Key<u64>, u64)], mode: ArchiveMode| {
            let (mut facts, server) = server_facts(values);
            let test = || Source::from_system_call("test");
            facts.insert_known(
                &server,
                &postgres::INACTIVE_SLOT,
                "berlin".to_owned(),
                test(),
            );
            facts.insert_known(&server, &postgres::ARCHIVE_MODE, mode, test());
            facts.insert_known(&server, &postgres::ARCHIVER_FAILING, true, test());
            derive_retention_facts(&mut facts, &server);
            facts.value(&server, &postgres::WAL_HOLDER).unwrap()
        };
        let slot = |bytes| (&postgres::INACTIVE_SLOT_WAL, bytes);
        let waiting = (&postgres::ARCHIVE_READY, 7);
        assert_eq!(
            holder(&[slot(2 << 30), waiting], ArchiveMode::On),
            "inactive replication slot berlin retains 2 GiB"
        );
        assert_eq!(
            holder(&[slot(0), waiting], ArchiveMode::On),
            "WAL files waiting to be archived: 7"
        );
        assert_eq!(holder(&[slot(0), waiting], ArchiveMode::Off), "");
    }

    #[test]
    fn missing_standbys_are_wanted_minus_connected() {
        for (wanted, connected, missing) in [(0, 0, 0), (2, 1, 1), (1, 3, 0)] {
            let (facts, server) = server_facts(&[
                (&postgres::STANDBYS, wanted),
                (&postgres::CONNECTED_STANDBYS, connected),
            ]);
            assert_eq!(
                facts.value(&server, &postgres::MISSING_STANDBYS),
                Some(missing)
            );
        }
        let (facts, server) = server_facts(&[(&postgres::STANDBYS, 1)]);
        assert_eq!(facts.value(&server, &postgres::MISSING_STANDBYS), None);
    }
}

#[cfg(test)]
mod forecast_tests {
    use super::*;

    #[test]
    fn forecast_text_shares_a_common_unit() {
        for (least, most, told) in [
            (300.0, 300.0, "5 min"),
            (20.0, 190.0, "20 s to 3.2 min"),
            (61.4, 75.0, "61 to 75 s"),
            (0.01, 0.2, "1 s"),
            (7200.0, 3600.0, "60 min to 2 h"),
            (1e6, 2e6, "12 to 23 days"),
        ] {
            assert_eq!(
                Forecast::between_unordered(least, most).duration_range_text(),
                told
            );
        }
        assert_eq!(
            Forecast::between_unordered(1.0, 5.97).ratio_text(),
            "1 to 6"
        );
    }
}

#[cfg(test)]
mod redo_tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn redo_log_usage(capacity: u64, rate: f64, seconds: f64, age: Option<u64>) -> RedoLogUsage {
        RedoLogUsage {
            capacity,
            rate,
            seconds,
            age,
        }
    }

    #[test]
    fn redo_capacity_must_hold_an_hour_of_writes() {
        let room = Some(1 << 40);
        for (counts, fit) in [
            // The rate of 1 MiB/s makes 3.5 GiB in an hour, rounded up to 4 GiB.
            (
                redo_log_usage(100 * MIB, 1_048_576.0, 86_400.0, None),
                Some((LogSizeFit::TooSmall, Some(4096 * MIB))),
            ),
            (
                redo_log_usage(4096 * MIB, 1_048_576.0, 86_400.0, None),
                Some((LogSizeFit::Enough, None)),
            ),
            (
                redo_log_usage(100 * MIB, 10.0, 86_400.0, Some(MIB)),
                Some((LogSizeFit::Enough, None)),
            ),
            // The log is 80 % full now, which decides; the average of one minute does not.
            (
                redo_log_usage(100 * MIB, 10.0, 60.0, Some(80 * MIB)),
                Some((LogSizeFit::TooSmall, Some(256 * MIB))),
            ),
            (redo_log_usage(100 * MIB, 1e9, 60.0, Some(MIB)), None),
            (
                redo_log_usage(100 * MIB, 1e12, 86_400.0, None),
                Some((LogSizeFit::TooSmall, Some(MAX_CAPACITY))),
            ),
            (
                redo_log_usage(MAX_CAPACITY, 1e12, 86_400.0, None),
                Some((LogSizeFit::NoRoom, None)),
            ),
        ] {
            assert_eq!(counts.fit_and_better_capacity(room), fit, "{counts:?}");
        }
        let busy = redo_log_usage(100 * MIB, 1_048_576.0, 86_400.0, None);
        assert_eq!(
            busy.fit_and_better_capacity(Some(1024 * MIB)),
            Some((LogSizeFit::TooSmall, Some(512 * MIB)))
        );
        assert_eq!(
            busy.fit_and_better_capacity(Some(10 * MIB)),
            Some((LogSizeFit::NoRoom, None))
        );
        assert_eq!(busy.fit_and_better_capacity(None), None);
        assert!(
            RedoLogUsage::redo_recovery_seconds(100 * MIB).most
                < RedoLogUsage::redo_recovery_seconds(200 * MIB).most
        );
    }
}
