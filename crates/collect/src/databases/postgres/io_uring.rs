//! Whether the io_uring rings of PostgreSQL 18 fit the limit for locked memory.
//!
//! The server sets up one ring for each process that may run. Linux counts rings against
//! RLIMIT_MEMLOCK before 5.12 and from 6.14 on; otherwise the server starts whatever the limit is.
//! With default settings 1,000 connections need 8 to 13 MiB, and with the largest
//! `io_max_concurrency` about 100 MiB (zulip/zulip#39449).

use std::path::PathBuf;

use crate::facts::catalog::postgres;
use crate::facts::{FactSet, Key, Reading, Source, Subject};
use crate::host::Host;
use crate::host_readings::file_reading;

/// The smallest ring in bytes: one page for submissions and one for completions.
const LEAST_RING: u64 = 8 << 10;
const LARGEST_RING: u64 = 128 << 10;
/// Processes with a ring that are not connections, with default settings: workers, WAL senders
/// and the server's background processes.
const OTHER_PROCESSES: u64 = 40;

pub fn insert_io_uring_facts(
    host: &dyn Host,
    pid: Option<u32>,
    subject: &Subject,
    facts: &mut FactSet,
) {
    let limit = match pid {
        Some(pid) => memlock_limit(host, pid),
        None => {
            Reading::uncollected("no server is running, so its limit for locked memory is unknown")
        }
    };
    facts.insert(subject, &postgres::MEMLOCK_LIMIT, limit);
    let fits = facts
        .get(subject, &postgres::MEMLOCK_LIMIT)
        .and_then_reading(|limit, _| {
            let connections = facts.get(subject, &postgres::MAX_CONNECTIONS);
            connections.and_then_reading(|most, _| match can_hold_rings(limit, most) {
                Some(fits) => {
                    let of = [&postgres::MEMLOCK_LIMIT, &postgres::MAX_CONNECTIONS];
                    Reading::known(fits, Source::derived_from(of.map(Key::name)))
                }
                None => Reading::ambiguous(format!(
                    "the io_uring rings of {most} connections may exceed the limit of {limit} bytes"
                )),
            })
        });
    facts.insert(subject, &postgres::IO_URING_FITS, fits);
}

fn memlock_limit(host: &dyn Host, pid: u32) -> Reading<u64> {
    let path = PathBuf::from(format!("/proc/{pid}/limits"));
    let source = path.display().to_string();
    file_reading(host.read(&path), &source).and_then(|text| {
        parse_memlock(&String::from_utf8_lossy(&text))
            .ok_or_else(|| "the file lists no limit for locked memory".to_owned())
    })
}

/// The soft limit in bytes; `u64::MAX` for `unlimited` (proc_pid_limits(5)).
fn parse_memlock(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max locked memory"))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

/// Whether `limit`, in bytes, suffices for the rings of all processes. `None` if rings of the
/// smallest size fit, but rings of the largest do not.
fn can_hold_rings(limit: u64, connections: u64) -> Option<bool> {
    let processes = connections.saturating_add(OTHER_PROCESSES);
    if limit < processes.saturating_mul(LEAST_RING) {
        Some(false)
    } else if limit >= processes.saturating_mul(LARGEST_RING) {
        Some(true)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_memlock_limit() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max processes             31207                31207                processes \n\
                    Max locked memory         8388608              8388608              bytes     \n";
        assert_eq!(parse_memlock(text), Some(8 << 20));
        let unlimited = text.replace("8388608", "unlimited");
        assert_eq!(parse_memlock(&unlimited), Some(u64::MAX));
        for damaged in ["", "Max locked memory", "Max locked memory x bytes"] {
            assert_eq!(parse_memlock(damaged), None, "{damaged:?}");
        }
    }

    #[test]
    fn ring_memory_is_compared_with_memlock_limit() {
        assert_eq!(can_hold_rings(8 << 20, 1000), Some(false));
        assert_eq!(can_hold_rings(8 << 20, 100), None);
        assert_eq!(can_hold_rings(256 << 20, 1000), Some(true));
        assert_eq!(can_hold_rings(u64::MAX, u64::MAX), Some(true));
    }
}
