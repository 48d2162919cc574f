//! Counters read before and after commits: flushes and traffic of the disks, and CPU time of other
//! guests.
//!
//! `stat` counts the flushes of disks, but not of partitions, since Linux 5.5 (17 fields,
//! Documentation/ABI/stable/sysfs-block). With fewer fields the flush count is unknown, not zero.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::time::ClockId;

/// Unit of the sector counts in `stat`, independent of the disk's own sector size.
const SECTOR_BYTES: u64 = 512;

/// Counters of one or more disks, summed; `read` and `written` are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounters {
    pub read: u64,
    pub written: u64,
    /// Flush requests completed; `None` if a disk does not count flushes.
    pub flushes: Option<u64>,
}

pub struct DiskCounterReader {
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
            .map(|path| parse_stat(&fs::read_to_string(path).ok()?));
        let sum = |a: DiskCounters, b: DiskCounters| DiskCounters {
            read: a.read + b.read,
            written: a.written + b.written,
            flushes: a.flushes.zip(b.flushes).map(|(a, b)| a + b),
        };
        all.collect::<Option<Vec<_>>>()?.into_iter().reduce(sum)
    }
}

fn parse_stat(stat: &str) -> Option<DiskCounters> {
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
        flushes: fields.get(15).copied(),
    })
}

/// Readings of CLOCK_MONOTONIC, which stops while the host is suspended, and of CLOCK_BOOTTIME,
/// which does not stop (clock_gettime(2)).
#[derive(Clone, Copy, Debug)]
pub struct SuspendClocks {
    monotonic: Duration,
    boottime: Duration,
}

impl SuspendClocks {
    pub fn read() -> Self {
        let now = |clock| {
            let time = rustix::time::clock_gettime(clock);
            let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
            Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
        };
        Self {
            monotonic: now(ClockId::Monotonic),
            boottime: now(ClockId::Boottime),
        }
    }

    pub fn suspended_seconds(self) -> f64 {
        let now = Self::read();
        let (all, awake) = (
            now.boottime.saturating_sub(self.boottime),
            now.monotonic.saturating_sub(self.monotonic),
        );
        all.saturating_sub(awake).as_secs_f64()
    }
}

/// CPU time since boot in clock ticks, from the first line of /proc/stat (proc_stat(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    total: u64,
    steal: u64,
}

impl CpuTime {
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

    /// Returns the share of CPU time that the hypervisor gave to other guests between two readings,
    /// in percent; `None` if no time has passed.
    pub fn steal_percent(before: Self, after: Self) -> Option<f64> {
        let all = after.total.checked_sub(before.total).filter(|n| *n > 0)?;
        Some(100.0 * after.steal.saturating_sub(before.steal) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_kernels_count_no_flushes() {
        let line = "  120 3 4096 10 200 5 8192 20 0 30 30 1 0 16 0 77 9\n";
        let new = parse_stat(line).unwrap();
        assert_eq!(
            new,
            DiskCounters {
                read: 4096 * 512,
                written: 8192 * 512,
                flushes: Some(77)
            }
        );
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        for count in [11, 15] {
            assert_eq!(
                parse_stat(&fields[..count].join(" ")).unwrap().flushes,
                None,
                "{count} fields"
            );
        }
        assert_eq!(parse_stat("1 2 three"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn steal_is_a_share_of_all_time() {
        let at = |steal| {
            CpuTime::parse(&format!(
                "cpu  100 0 100 {} 0 0 0 {steal} 7 0\ncpu0 1",
                800 - steal
            ))
        };
        let (before, after) = (
            at(0).unwrap(),
            CpuTime::parse("cpu 150 0 100 850 0 0 0 100 0 0").unwrap(),
        );
        let percent = CpuTime::steal_percent(before, after).unwrap();
        assert!((percent - 50.0).abs() < 1e-9, "{percent}");
        assert_eq!(CpuTime::parse("intr 1 2"), None);
    }
}
