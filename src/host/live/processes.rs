//! Database servers among the processes, and what their command lines and environments say.
//!
//! A server's worker processes have its name too, so only those are reported whose parent is no server itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::files;
use crate::host::{Miss, redact};
use crate::text;

/// What the programs of servers are called.
const SERVERS: [&str; 4] = ["postgres", "postmaster", "mysqld", "mariadbd"];

/// `pid ppid uid comm` a line.
pub fn servers() -> Result<Vec<u8>, Miss> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc").map_err(|e| files::miss(&e))? {
        let name = entry.map_err(|e| files::miss(&e))?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // Processes end while we look; those are of no interest.
        let Ok(stat) = files::read(Path::new(&format!("/proc/{pid}/stat"))) else { continue };
        let Some((comm, parent)) = comm_and_parent(&stat) else { continue };
        if !is_server(pid, &comm) {
            continue;
        }
        let status = files::read(Path::new(&format!("/proc/{pid}/status"))).unwrap_or_default();
        if let Some(uid) = effective_uid(&status) {
            found.insert(pid, (parent, uid, comm));
        }
    }
    let mut lines = String::new();
    for (pid, (parent, uid, comm)) in &found {
        if !found.contains_key(parent) {
            let _ = writeln!(lines, "{pid} {parent} {uid} {comm}");
        }
    }
    Ok(lines.into_bytes())
}

/// By its name, or where we may see it, by the program it runs: a server can be started under another name.
fn is_server(pid: u32, comm: &str) -> bool {
    if SERVERS.contains(&comm) {
        return true;
    }
    let program = fs::read_link(format!("/proc/{pid}/exe"));
    program.is_ok_and(|program| {
        program.file_name().is_some_and(|name| SERVERS.iter().any(|server| name == *server))
    })
}

/// Of proc_pid_stat(5). The name stands in parentheses and may hold some itself.
fn comm_and_parent(stat: &[u8]) -> Option<(String, u32)> {
    let open = stat.iter().position(|b| *b == b'(')?;
    let close = stat.iter().rposition(|b| *b == b')')?;
    let comm = text::safe(stat.get(open + 1..close)?);
    let rest = str::from_utf8(stat.get(close + 1..)?).ok()?;
    Some((comm, rest.split_ascii_whitespace().nth(1)?.parse().ok()?))
}

/// Of proc_pid_status(5): the second number behind `Uid:`.
fn effective_uid(status: &[u8]) -> Option<u32> {
    let text = String::from_utf8_lossy(status);
    text.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The known options of a process.
pub fn command_line(pid: u32) -> Result<Vec<u8>, Miss> {
    files::read(Path::new(&format!("/proc/{pid}/cmdline"))).map(|text| redact::command_line(&text))
}

/// The known variables of a process.
pub fn environment(pid: u32) -> Result<Vec<u8>, Miss> {
    files::read(Path::new(&format!("/proc/{pid}/environ"))).map(|text| redact::environment(&text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_may_hold_anything() {
        let stat = b"12 (a) b) (c) S 7 12 12 0 -1";
        assert_eq!(comm_and_parent(stat), Some(("a) b) (c".to_owned(), 7)));
        assert_eq!(comm_and_parent(b"12 (a"), None);
        assert_eq!(effective_uid(b"Name:\tx\nUid:\t1\t26\t1\t1\n"), Some(26));
    }

    #[test]
    fn every_process_can_be_looked_at() {
        let text = String::from_utf8(servers().unwrap()).unwrap();
        assert!(text.lines().all(|line| line.split(' ').count() >= 4), "{text}");
        assert_eq!(command_line(std::process::id()).unwrap(), b"");
    }

    proptest! {
        #[test]
        fn any_name_is_read(comm in prop::collection::vec(any::<u8>().prop_filter("proc_pid_comm(5)", |b| *b != 0), 0..16), parent: u32) {
            let stat = [b"12 (", comm.as_slice(), format!(") S {parent} 12 12 0 -1\n").as_bytes()].concat();
            prop_assert_eq!(comm_and_parent(&stat), Some((text::safe(&comm), parent)));
        }

        #[test]
        fn any_bytes_do_no_harm(bytes: Vec<u8>) {
            if let Some((comm, _)) = comm_and_parent(&bytes) {
                prop_assert!(!comm.chars().any(text::is_treacherous));
            }
            effective_uid(&bytes);
        }
    }
}
