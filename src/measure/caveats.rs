//! What limits the figures: found in the samples themselves and in what was seen around them.
//!
//! Each caveat says in a sentence what it means; some forbid advising a change of method. A caveat never makes a figure
//! disappear. The surprise: being too fast is a caveat, because a flush that costs nothing has flushed nothing.

use super::order::{interval_or_span, median_of, quantile, sorted};
use super::{Caveat, Cell, Method, Samples, compare};
use crate::text;

/// What was seen around the samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circumstances {
    /// The directory of the scratch file, display-safe.
    pub directory: String,
    /// When it began, RFC 3339.
    pub when: String,
    /// How long it took.
    pub seconds: f64,
    /// What was written in all.
    pub bytes_written: u64,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// What ended it before its time, when something did; a clause.
    pub stopped_by: Option<String>,
    /// What reading the clock twice costs.
    pub clock_us: f64,
    /// The fastest that an honest flush can be here; `None` where nothing is known to limit it (memory, ZFS, remote).
    pub speed_limit: Option<SpeedLimit>,
    /// What the disks did while we did nothing, before the first write.
    pub idle: Option<DiskTraffic>,
    /// What the disks did in each round.
    pub traffic: Vec<DiskTraffic>,
    /// Names of those disks.
    pub disks: Vec<String>,
    /// Processor time that the hypervisor gave to others meanwhile, in percent.
    pub steal_percent: Option<f64>,
    /// Commits made with pauses between them.
    pub paced: Option<Paced>,
}

/// How fast flushes can honestly be.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedLimit {
    /// Commits per second of one session above which it is not believed.
    pub per_second: f64,
    /// What the limit is that of: `any disk`, `a disk of 7200 rpm`.
    pub of: String,
}

impl SpeedLimit {
    /// No block device with volatile or protected cache known today flushes faster; memory does. Not for persistent
    /// memory.
    pub fn block_device() -> Self {
        Self { per_second: 100_000.0, of: "any disk".to_owned() }
    }

    /// One and a half flushes per revolution. Only for a physical disk seen from its own host whose speed is known and
    /// that stands behind no protected cache; the kernel's rotational flag proves nothing.
    pub fn platter(rpm: u32) -> Self {
        Self { per_second: 1.5 * f64::from(rpm) / 60.0, of: format!("a disk of {rpm} rpm") }
    }
}

/// What the disks below did for a while, from their `stat` (Documentation/ABI/stable/sysfs-block).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskTraffic {
    /// For how long.
    pub seconds: f64,
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes of ours among them.
    pub ours: u64,
}

/// Times of commits that came at least ten milliseconds apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paced {
    /// With fdatasync.
    pub fdatasync_us: Vec<f64>,
    /// With fsync.
    pub fsync_us: Vec<f64>,
}

impl Paced {
    /// Time of fsync over time of fdatasync; `None` when too few were made.
    pub fn ratio(&self) -> Option<f64> {
        let enough = self.fsync_us.len() >= 8 && self.fdatasync_us.len() >= 8;
        enough.then(|| median_of(&self.fsync_us) / median_of(&self.fdatasync_us).max(1e-3))
    }
}

/// All caveats, the gravest first.
pub fn find(samples: &Samples, seen: &Circumstances) -> Vec<Caveat> {
    let all = [
        stopped(seen),
        implausible(samples, seen),
        free_flush(samples),
        few_rounds(samples),
        clock(samples, seen),
        two_pages_faster(samples),
        competing_io(seen),
        steal(seen),
        direct_refused(samples),
        pauses(samples, seen),
    ];
    all.into_iter().flatten().collect()
}

fn caveat(id: &str, says: String, refuses_advice: bool) -> Caveat {
    Caveat { id: id.to_owned(), says, refuses_advice }
}

/// Whether commits with this method were faster than the limit allows.
pub fn too_fast(samples: &Samples, method: Method, seen: &Circumstances) -> bool {
    let rate = samples.cell(method, 1).and_then(commits_per_second);
    rate.zip(seen.speed_limit.as_ref()).is_some_and(|(rate, limit)| rate > limit.per_second)
}

/// Commits per second of one session, from the median.
pub fn commits_per_second(cell: &Cell) -> Option<f64> {
    let median = median_of(&cell.round_medians());
    (median > 0.0).then(|| 1e6 / median)
}

fn stopped(seen: &Circumstances) -> Option<Caveat> {
    let why = seen.stopped_by.as_ref()?;
    Some(caveat("stopped", format!("The probe ended early because {why}."), true))
}

fn implausible(samples: &Samples, seen: &Circumstances) -> Option<Caveat> {
    let limit = seen.speed_limit.as_ref()?;
    let durable = samples.cells.iter().filter(|c| c.method.is_durable() && c.pages == 1);
    let cell = durable.filter(|c| too_fast(samples, c.method, seen)).min_by_key(|c| c.method)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate for people")]
    let rate = text::grouped(commits_per_second(cell)? as u64);
    let says = format!(
        "{rate} commits per second with {} are more than {} can do honestly: something answers flushes without doing them.",
        cell.method.name(),
        limit.of
    );
    Some(caveat("implausible-speed", says, true))
}

/// A flushed commit of a real disk takes many times what copying 8 kB to memory takes.
fn free_flush(samples: &Samples) -> Option<Caveat> {
    let typical =
        |method| samples.cell(method, 1).map(|c| median_of(&c.round_medians())).filter(|us| *us > 0.0);
    let (flushed, floor) = (typical(Method::Fdatasync)?, typical(Method::Floor)?);
    let says = "A flushed commit took no longer than an unflushed one: nothing is flushed here, as on a file system \
                in memory or under a library that makes fsync do nothing.";
    (flushed < 1.5 * floor).then(|| caveat("free-flush", says.to_owned(), true))
}

fn few_rounds(samples: &Samples) -> Option<Caveat> {
    let (rounds, least) = (samples.rounds(), compare::LOOKS.first().copied().unwrap_or(0));
    let says = format!(
        "Only {rounds} rounds were completed; a comparison needs {least}. Give the probe more seconds."
    );
    (rounds < least).then(|| caveat("few-samples", says, true))
}

fn clock(samples: &Samples, seen: &Circumstances) -> Option<Caveat> {
    let durable = samples.cells.iter().filter(|c| c.method.is_durable() && c.count() > 0);
    let fastest = durable.map(|c| median_of(&c.round_medians())).min_by(f64::total_cmp)?;
    let says = format!(
        "Reading the clock takes {}, much beside a commit of {}; differences look smaller than they are.",
        text::micros(seen.clock_us),
        text::micros(fastest)
    );
    (seen.clock_us > 0.05 * fastest).then(|| caveat("clock", says, true))
}

fn two_pages_faster(samples: &Samples) -> Option<Caveat> {
    let default = samples.default_method();
    let (one, two) = (samples.cell(default, 1)?, samples.cell(default, 2)?);
    let pairs = two.round_medians().into_iter().zip(one.round_medians());
    let ratios: Vec<f64> = pairs.filter(|(_, one)| *one > 0.0).map(|(two, one)| two / one).collect();
    if ratios.len() < compare::LOOKS.first().copied().unwrap_or(0) {
        return None;
    }
    let says = "A commit of two pages was faster than one of one page, which the amount written does not explain; \
                the figures depend on more than the method.";
    (interval_or_span(&ratios, 0.01).high < 0.9).then(|| caveat("inconsistent", says.to_owned(), true))
}

/// Traffic of others: everything read, and what was written beyond the lower quartile of written per byte of ours (which
/// holds journal, parity and mirror copies); and everything while we were silent.
fn competing_io(seen: &Circumstances) -> Option<Caveat> {
    let ratio = |t: &DiskTraffic| t.written as f64 / (t.ours.max(1)) as f64;
    let own = quantile(&sorted(&seen.traffic.iter().map(ratio).collect::<Vec<_>>()), 0.25);
    let foreign = |t: &DiskTraffic| t.read as f64 + (t.written as f64 - own * t.ours as f64).max(0.0);
    let noticed = |t: &&DiskTraffic| foreign(t) > (0.5 * t.ours as f64).max(f64::from(1 << 18));
    let rounds = seen.traffic.iter().filter(noticed).count();
    let seconds: f64 = seen.traffic.iter().map(|t| t.seconds).sum();
    let during = seen.traffic.iter().map(foreign).sum::<f64>() / seconds.max(1e-3);
    let before = seen.idle.map_or(0.0, |t| (t.read + t.written) as f64 / t.seconds.max(1e-3));
    let disks = seen.disks.join(", ");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate for people")]
    let rate = |bytes_per_second: f64| format!("{}/s", text::bytes(bytes_per_second as u64));
    let says = if before > 1e6 {
        format!(
            "Others used {disks} at {} before the probe began; the figures include waiting for them.",
            rate(before)
        )
    } else if rounds * 10 > seen.traffic.len() {
        format!("Others used {disks} at {} during {rounds} of {} rounds.", rate(during), seen.traffic.len())
    } else {
        return None;
    };
    Some(caveat("competing-io", says, false))
}

fn steal(seen: &Circumstances) -> Option<Caveat> {
    let percent = seen.steal_percent.filter(|p| *p > 5.0)?;
    let says =
        format!("The hypervisor gave {percent:.0} % of the processor time to others during the probe.");
    Some(caveat("steal", says, false))
}

fn direct_refused(samples: &Samples) -> Option<Caveat> {
    let cell = samples.cells.iter().find(|c| c.method.is_direct() && c.error.is_some())?;
    let says = format!("No figures with O_DIRECT: {}.", cell.error.as_deref()?);
    Some(caveat("o-direct", says, false))
}

/// fsync writes the journal only when the modification time changed, which is once per timer tick: in a tight loop most
/// calls find nothing to write, at a server's pace each does.
fn pauses(samples: &Samples, seen: &Circumstances) -> Option<Caveat> {
    samples.cell(Method::Fsync, 1)?;
    let paced = seen.paced.as_ref().and_then(|p| Some((p, p.ratio()?)));
    let says = match paced {
        Some((_, ratio)) if ratio < 1.1 => return None,
        Some((paced, ratio)) => format!(
            "With 10 ms between commits fsync took {}, {ratio:.1} × as long as fdatasync; in an unbroken loop fsync \
             and open_sync look cheaper than that.",
            text::micros(median_of(&paced.fsync_us))
        ),
        None => "fsync and open_sync may cost more at a server's pace than in this unbroken loop; there was no time \
                 to measure it."
            .to_owned(),
    };
    Some(caveat("fsync-pace", says, false))
}
