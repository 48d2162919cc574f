//! Meters around our commits: flushes and traffic that the disks count, and processor time that
//! others took.
//!
//! Whole disks count flushes only from kernel 5.5 on (17 fields in `stat`,
//! Documentation/ABI/stable/sysfs-block); with fewer fields the count is unknown, not zero.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::time::ClockId;

/// The unit of `stat` in bytes, independent of the disk's own sectors.
const SECTOR: u64 = 512;

/// The counters of one or more disks, summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Flush requests completed; `None` when one of the disks does not count them.
    pub flushes: Option<u64>,
}

/// The disks below a directory.
pub struct Disks {
    stats: Vec<PathBuf>,
}

impl Disks {
    pub fn new(names: &[String]) -> Self {
        let usable = names
            .iter()
            .filter(|name| !name.contains('/') && *name != "..");
        Self {
            stats: usable
                .map(|name| Path::new("/sys/class/block").join(name).join("stat"))
                .collect(),
        }
    }

    /// Their counters now; `None` when there are none or one cannot be read.
    pub fn read(&self) -> Option<Counters> {
        let all = self
            .stats
            .iter()
            .map(|path| parse(&fs::read_to_string(path).ok()?));
        let sum = |a: Counters, b: Counters| Counters {
            read: a.read + b.read,
            written: a.written + b.written,
            flushes: a.flushes.zip(b.flushes).map(|(a, b)| a + b),
        };
        all.collect::<Option<Vec<_>>>()?.into_iter().reduce(sum)
    }
}

fn parse(stat: &str) -> Option<Counters> {
    let fields: Vec<u64> = stat
        .split_ascii_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let bytes = |i: usize| fields.get(i).map(|sectors| sectors.saturating_mul(SECTOR));
    Some(Counters {
        read: bytes(2)?,
        written: bytes(6)?,
        flushes: fields.get(15).copied(),
    })
}

/// The clock that stands still while the machine is suspended, and the one that does not
/// (clock_gettime(2)).
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    awake: Duration,
    all: Duration,
}

impl Clocks {
    pub fn read() -> Self {
        let now = |clock| {
            let time = rustix::time::clock_gettime(clock);
            let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
            Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
        };
        Self {
            awake: now(ClockId::Monotonic),
            all: now(ClockId::Boottime),
        }
    }

    /// For how many seconds the machine was suspended since then.
    pub fn slept(self) -> f64 {
        let now = Self::read();
        let (all, awake) = (
            now.all.saturating_sub(self.all),
            now.awake.saturating_sub(self.awake),
        );
        all.saturating_sub(awake).as_secs_f64()
    }
}

/// Processor time so far, from the first line of /proc/stat (proc_stat(5)), in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    all: u64,
    stolen: u64,
}

impl ProcessorTime {
    pub fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|l| l.strip_prefix("cpu "))?;
        // user nice system idle iowait irq softirq steal; guest time is part of user time.
        let ticks: Vec<u64> = line
            .split_ascii_whitespace()
            .take(8)
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        Some(Self {
            all: ticks.iter().sum(),
            stolen: *ticks.get(7)?,
        })
    }

    /// The share of processor time that the hypervisor gave to others between two readings, in
    /// percent.
    pub fn stolen_percent(before: Self, after: Self) -> Option<f64> {
        let all = after.all.checked_sub(before.all).filter(|n| *n > 0)?;
        Some(100.0 * after.stolen.saturating_sub(before.stolen) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_kernels_count_no_flushes() {
        let line = "  120 3 4096 10 200 5 8192 20 0 30 30 1 0 16 0 77 9\n";
        let new = parse(line).unwrap();
        assert_eq!(
            new,
            Counters {
                read: 4096 * 512,
                written: 8192 * 512,
                flushes: Some(77)
            }
        );
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        for count in [11, 15] {
            assert_eq!(
                parse(&fields[..count].join(" ")).unwrap().flushes,
                None,
                "{count} fields"
            );
        }
        assert_eq!(parse("1 2 three"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn steal_is_a_share_of_all_time() {
        let at = |steal| {
            ProcessorTime::parse(&format!(
                "cpu  100 0 100 {} 0 0 0 {steal} 7 0\ncpu0 1",
                800 - steal
            ))
        };
        let (before, after) = (
            at(0).unwrap(),
            ProcessorTime::parse("cpu 150 0 100 850 0 0 0 100 0 0").unwrap(),
        );
        let percent = ProcessorTime::stolen_percent(before, after).unwrap();
        assert!((percent - 50.0).abs() < 1e-9, "{percent}");
        assert_eq!(ProcessorTime::parse("intr 1 2"), None);
    }
}
