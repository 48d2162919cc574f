//! Finds database servers among the processes, and reads their users, command lines and
//! environments.
//!
//! The workers of a server have its name too, so a process whose parent is a server is not
//! reported. Any user can give a process a server's name, so the collectors decide by the reported
//! user whether to trust it. A process whose real and effective users differ is reported without a
//! user: someone may have started a set-user-ID program through a link named `postgres`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::prelude::*;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;
use std::{fs, io, process};

use nix::sys::stat::{major, minor};
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::files;
use crate::host::{HostError, HostErrorKind, HostResult, NOBODY, redact};
use crate::limits::SERVERS_OF_A_USER;
use crate::subprocess::credentials::Credentials;
use crate::text::bytes;
use crate::{servers, text};

/// The longest command line that is read, in bytes. A longer one is refused, because its last
/// option, which wins, could be cut off.
const LONGEST_COMMAND_LINE: usize = 64 << 10;

/// In bytes; a longer environment is refused, because the part cut off could change the settings.
const LONGEST_ENVIRONMENT: usize = 512 << 10;

/// Limit on the descriptors examined per process. A server opens its system tablespace among the
/// first.
const MAX_DESCRIPTORS: usize = 4096;

/// `None` if the process has several users, or a user that is not mapped in this namespace and
/// appears as nobody.
pub fn parse_process_uid(status: &[u8]) -> Option<u32> {
    parse_id_if_all_equal(status, b"Uid:").filter(|uid| *uid != NOBODY)
}

pub fn parse_credentials(status: &[u8]) -> Option<Credentials> {
    Some(Credentials {
        uid: parse_process_uid(status)?,
        gid: parse_id_if_all_equal(status, b"Gid:")?,
        groups: status_numbers(status, b"Groups:")?,
    })
}

/// The id in the line of /proc/PID/status that starts with `word`. `None` if the real, effective,
/// saved and file-system ids differ.
fn parse_id_if_all_equal(status: &[u8], word: &[u8]) -> Option<u32> {
    let ids = status_numbers(status, word)?;
    let first = *ids.first()?;
    (ids == [first; 4]).then_some(first)
}

fn status_numbers(status: &[u8], word: &[u8]) -> Option<Vec<u32>> {
    let line = bytes::lines(status).find_map(|line| line.strip_prefix(word))?;
    Some(
        bytes::split_ascii_whitespace(line)
            .filter_map(bytes::parse)
            .collect(),
    )
}

/// Lists the servers in the format of [`Question::Servers`](crate::host::Question::Servers).
/// Processes without a single user come first, then users by ascending id, so that system accounts
/// precede people. A program that was started only to print its version is left out.
pub fn list_server_processes() -> HostResult {
    let mut users: BTreeMap<Option<u32>, (Vec<String>, usize)> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for pid in files::process_ids()? {
        let pid = pid?;
        let Some(program) = none_if_exited_or_hidden(server_program_of_process(pid))?.flatten()
        else {
            continue;
        };
        let Some(stat) = none_if_exited_or_hidden(read_process_file(pid, "stat"))? else {
            continue;
        };
        let arguments = none_if_exited_or_hidden(read_process_file(pid, "cmdline"))?;
        if let Some(parent) = stat_field(&stat, 1)
            && parent != process::id()
            && !arguments.is_some_and(|arguments| is_version_request(&arguments))
        {
            found.insert(pid, (parent, program));
        }
    }
    for (pid, (parent, program)) in &found {
        if found.contains_key(parent) {
            continue;
        }
        let Some(status) = none_if_exited_or_hidden(read_process_file(*pid, "status"))? else {
            continue;
        };
        let uid = parse_process_uid(&status);
        let (listed, more) = users.entry(uid).or_default();
        if listed.len() < SERVERS_OF_A_USER {
            listed.push(format!("{pid} {parent} {} {program}\n", format_uid(uid)));
        } else {
            *more += 1;
        }
    }
    let mut lines = String::new();
    for (uid, (listed, more)) in &users {
        lines.extend(listed.iter().map(String::as_str));
        if *more > 0 {
            let _ = writeln!(lines, "more {} {more}", format_uid(*uid));
        }
    }
    Ok(lines.into_bytes())
}

fn format_uid(uid: Option<u32>) -> String {
    uid.map_or_else(|| "-".to_owned(), |uid| uid.to_string())
}

fn read_process_file(pid: u32, name: &str) -> HostResult {
    files::read_file_bounded(Path::new(&format!("/proc/{pid}/{name}")))
}

/// Whether the only argument of a command line is `--version` or `-V`. Every word ends with NUL.
fn is_version_request(command_line: &[u8]) -> bool {
    let mut words = command_line
        .strip_suffix(b"\0")
        .unwrap_or(command_line)
        .split(|byte| *byte == 0)
        .skip(1);
    matches!(words.next(), Some(b"--version" | b"-V")) && words.next().is_none()
}

/// Turns the error for a process that has ended, or that `hidepid` hides, into `None`. Any other
/// error is kept, because the list could lack a running server.
fn none_if_exited_or_hidden<T>(answer: Result<T, HostError>) -> Result<Option<T>, HostError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(miss) => match miss.kind {
            HostErrorKind::Absent | HostErrorKind::Denied => Ok(None),
            HostErrorKind::TimedOut | HostErrorKind::NotCollected | HostErrorKind::Failed => {
                Err(miss)
            }
        },
    }
}

pub fn list_open_system_tablespaces(pid: u32) -> HostResult {
    let directory = format!("/proc/{pid}/fd");
    let mut lines = String::new();
    for entry in fs::read_dir(&directory)?.take(MAX_DESCRIPTORS) {
        let link = entry?.path();
        // The link's text only preselects by name. stat(2) through the link identifies the file
        // without opening it.
        let named =
            fs::read_link(&link).is_ok_and(|to| to.as_os_str().as_bytes().ends_with(b"/ibdata1"));
        if let Ok(found) = fs::metadata(&link)
            && named
        {
            let _ = writeln!(
                lines,
                "{} {} {}",
                major(found.dev()),
                minor(found.dev()),
                found.ino()
            );
        }
    }
    Ok(lines.into_bytes())
}

/// The name of the server that a process runs. The executable's name decides first, because a
/// server can be started under another name, then the process name. `None` for a process without an
/// executable, such as a kernel thread.
fn server_program_of_process(pid: u32) -> Result<Option<&'static str>, HostError> {
    let by_file = match fs::read_link(format!("/proc/{pid}/exe")) {
        Ok(file) => file
            .file_name()
            .and_then(|name| servers::find_server_program(name.as_bytes())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) => None,
    };
    let program = match by_file {
        Some(program) => Some(program),
        None => servers::find_server_program(files::read_comm(pid)?.trim_ascii_end()),
    };
    Ok(program.map(|(name, _)| name))
}

/// A field of proc_pid_stat(5), counted from the state, which is 0. The state follows the command
/// name, which is in parentheses and may itself contain parentheses.
fn stat_field<T: FromStr>(stat: &[u8], number: usize) -> Option<T> {
    let name_end = stat.iter().rposition(|b| *b == b')')?;
    bytes::parse(bytes::split_ascii_whitespace(stat.get(name_end + 1..)?).nth(number)?)
}

/// Milliseconds per tick of process times: USER_HZ is 100 on every supported architecture
/// (proc_pid_stat(5)).
const TICK_MILLIS: u64 = 10;

pub fn process_start_time(pid: u32) -> HostResult {
    let stat = read_process_file(pid, "stat")?;
    // A delay between the two readings makes the start too early, never too late.
    let now = clock_gettime(ClockId::Realtime);
    let since_boot = clock_gettime(ClockId::Boottime);
    let nanos = compute_start_nanos(&stat, now, since_boot).ok_or_else(|| {
        HostError::failed("the start time of the process cannot be read from /proc/PID/stat")
    })?;
    Ok(format!("{nanos}\n").into_bytes())
}

/// Computes the start time in nanoseconds since 1970, from the ticks since boot in field 22 of
/// proc_pid_stat(5). `now` is the current time, and `since_boot` is the time since boot.
fn compute_start_nanos(stat: &[u8], now: Timespec, since_boot: Timespec) -> Option<u64> {
    let ticks: u64 = stat_field(stat, 19)?;
    let booted = Duration::try_from(now).ok()?;
    let booted = booted.checked_sub(Duration::try_from(since_boot).ok()?)?;
    let begun = booted.checked_add(Duration::from_millis(ticks.checked_mul(TICK_MILLIS)?))?;
    u64::try_from(begun.as_nanos()).ok()
}

pub fn redacted_command_line(pid: u32) -> HostResult {
    let text = read_process_text(pid, "cmdline", LONGEST_COMMAND_LINE)?;
    Ok(redact::redact_command_line(&text))
}

pub fn redacted_environment(pid: u32) -> HostResult {
    let text = read_process_text(pid, "environ", LONGEST_ENVIRONMENT)?;
    Ok(redact::redact_environment(&text))
}

fn read_process_text(pid: u32, name: &str, longest: usize) -> HostResult {
    let text = read_process_file(pid, name)?;
    if text.len() <= longest {
        return Ok(text);
    }
    let says = format!(
        "is longer than {}, the limit for a server process",
        text::format_bytes(longest as u64)
    );
    Err(HostError::failed(says))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::deadline::{ChildInTime as _, CommandInTime as _};

    #[test]
    fn version_requests_are_recognised() {
        assert!(
            is_version_request(b"/usr/sbin/mariadbd\0--version\0")
                && is_version_request(b"postgres\0-V\0")
        );
        for server in [
            &b"postgres\0"[..],
            b"",
            b"mariadbd\0--version\0--datadir=/x\0",
            b"postgres\0-D\0-V\0",
        ] {
            assert!(!is_version_request(server), "{server:?}");
        }
    }

    #[test]
    fn comm_may_contain_parentheses() {
        let stat = b"12 (a) b) (c) S 7 12 12 0 -1";
        assert_eq!(stat_field(stat, 1), Some(7));
        assert_eq!(stat_field::<u32>(b"12 (a", 1), None);
    }

    #[test]
    fn own_child_processes_are_not_listed_as_servers() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mariadbd");
        // `cp` writes the file in its own process. If this process wrote it, a child forked by
        // another test could hold the file open for writing, and running it would fail (ETXTBSY).
        assert!(
            process::Command::new("cp")
                .arg("/bin/sleep")
                .arg(&path)
                .status_in_time()
                .success()
        );
        let mut child = process::Command::new(&path).arg("1000").spawn().unwrap();
        let (of_child, listed) = (
            server_program_of_process(child.id()),
            list_server_processes().unwrap(),
        );
        child.kill_in_time();
        assert_eq!(of_child, Ok(Some("mariadbd")), "it looks like one");
        let listed = String::from_utf8(listed).unwrap();
        let pids: Vec<&str> = listed
            .lines()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert!(!pids.contains(&child.id().to_string().as_str()), "{listed}");
    }

    #[test]
    fn only_exited_or_hidden_processes_are_skipped() {
        use nix::errno::Errno;
        let asked = |errno: Errno| none_if_exited_or_hidden::<()>(Err(errno.into()));
        for hidden in [Errno::ENOENT, Errno::ESRCH, Errno::EACCES, Errno::EPERM] {
            assert_eq!(asked(hidden), Ok(None), "{hidden}");
        }
        for unknown in [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM, Errno::EIO] {
            let miss = asked(unknown).unwrap_err();
            assert_eq!(
                miss.is_out_of_descriptors(),
                matches!(unknown, Errno::EMFILE | Errno::ENFILE),
                "{unknown}"
            );
        }
    }

    #[test]
    fn process_with_differing_or_unmapped_ids_has_no_uid() {
        let status = |uid: &str, gid: &str| {
            format!("Name:\tx\nUid:\t{uid}\nGid:\t{gid}\nGroups:\t5 7 \n").into_bytes()
        };
        assert_eq!(
            parse_process_uid(&status("26\t26\t26\t26", "9\t9\t9\t9")),
            Some(26)
        );
        assert_eq!(
            parse_process_uid(&status("4242\t0\t0\t0", "9\t9\t9\t9")),
            None
        );
        assert_eq!(
            parse_process_uid(&status("65534\t65534\t65534\t65534", "9\t9\t9\t9")),
            None,
            "has no number here"
        );
        assert_eq!(parse_process_uid(b"Uid:\t1\n"), None);
        let of = |gid| parse_credentials(&status("26\t26\t26\t26", gid));
        assert_eq!(
            of("9\t9\t9\t9"),
            Some(Credentials {
                uid: 26,
                gid: 9,
                groups: vec![5, 7]
            })
        );
        assert_eq!(of("9\t42\t42\t42"), None);
    }

    #[test]
    fn start_time_is_computed_from_ticks_since_boot() {
        let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
        let (now, since_boot) = (time(1_700_000_100, 250_000_000), time(100, 500_000_000));
        let stat = b"12 (maria) db) S 1 12 12 0 -1 4194560 1 0 0 0 5 3 0 0 20 0 9 0 4711 1 2 3\n";
        assert_eq!(
            compute_start_nanos(stat, now, since_boot),
            Some(1_700_000_046_860_000_000)
        );
        assert_eq!(
            compute_start_nanos(stat, since_boot, now),
            None,
            "no clock is before 1970"
        );
        assert_eq!(compute_start_nanos(b"12 (x", now, since_boot), None);
    }

    #[test]
    fn own_process_start_time_and_servers_are_read() {
        let told = |pid| {
            String::from_utf8(process_start_time(pid).unwrap())
                .unwrap()
                .trim()
                .parse::<u64>()
                .unwrap()
        };
        assert!(
            told(std::process::id()) > 1_600_000_000_000_000_000,
            "in nanoseconds"
        );
        let text = String::from_utf8(list_server_processes().unwrap()).unwrap();
        assert!(
            text.lines().all(|line| line.split(' ').count() >= 3),
            "{text}"
        );
        assert_eq!(redacted_command_line(std::process::id()).unwrap(), b"");
    }

    proptest! {
        #[test]
        fn any_comm_is_parsed(comm in prop::collection::vec(any::<u8>().prop_filter("proc_pid_comm(5)", |b| *b != 0), 0..16), parent: u32) {
            let stat = [b"12 (", comm.as_slice(), format!(") S {parent} 12 12 0 -1\n").as_bytes()].concat();
            prop_assert_eq!(stat_field(&stat, 1), Some(parent));
        }

        #[test]
        fn proc_parsers_never_panic(bytes: Vec<u8>) {
            compute_start_nanos(&bytes, Timespec { tv_sec: 2, tv_nsec: 0 }, Timespec { tv_sec: 1, tv_nsec: 0 });
            parse_process_uid(&bytes);
            parse_credentials(&bytes);
        }
    }
}
