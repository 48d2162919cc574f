//! Running database servers as processes: their ids, their users, and libraries preloaded into
//! them.
//!
//! [`Host`] returns only allow-listed command-line options and environment variables of a process.
//! Workers are children of their server and have the same name, so children of servers are dropped.
//! Any user can name a process like a server. The collectors of each database product must
//! therefore prove that a process serves its data directory. A preload for all processes is in
//! /etc/ld.so.preload, not in the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::num::ParseIntError;
use std::path::{Path, PathBuf};

use crate::collector::Request;
use crate::facts::{FactSet, Note, Reading, ServerArea, Source};
use crate::host::{Host, HostError, HostErrorKind, HostResult, LAST_SYSTEM_USER, Question, Stat};
use crate::host_readings::error_reading;
use crate::mountinfo;
use crate::servers::find_server_program;
use crate::text::{decode_display_safe, display_path, display_safe};

/// A process that has the name of a server.
#[derive(Debug)]
struct ListedProcess {
    /// The process id in walwise's PID namespace.
    pid: u32,
    parent: u32,
    /// The process's user; `None` if its real, effective, saved and file-system ids differ, or if
    /// the user has no id in walwise's user namespace.
    uid: Option<u32>,
    name: String,
}

/// A user whose processes exceed the limit, with the number of skipped processes.
type SkippedCount = (Option<u32>, u64);

/// A process with the name of a server. Whether it serves a directory is not yet proven.
#[derive(Clone, Debug)]
pub struct ServerProcess {
    pub pid: u32,
    pub uid: u32,
    /// An option has an empty value if it was given without one, or if the host withheld it.
    pub options: Result<Vec<CommandLineOption>, HostError>,
    /// The environment variables, encoded as in the answer to [`Question::Environment`].
    pub environment: HostResult,
    /// The name of a preloaded library that disables fsync, or `none`.
    pub preloaded_library: Reading<String>,
}

/// Name and value; a MySQL option without `=` has no value.
pub type CommandLineOption = (String, Option<Vec<u8>>);

impl ServerProcess {
    pub fn command_line_source(&self) -> Source {
        Source::from_file(format!("/proc/{}/cmdline", self.pid))
    }

    /// The values of all occurrences of an option.
    pub fn option_values(&self, name: &str) -> impl DoubleEndedIterator<Item = Option<&[u8]>> {
        let options = self.options.as_deref().unwrap_or_default().iter();
        let own = options.filter(move |(found, _)| found == name);
        own.map(|(_, value)| value.as_deref())
    }

    pub fn running_reading(&self) -> Reading<bool> {
        Reading::known(true, Source::from_file(format!("/proc/{}", self.pid)))
    }

    /// An empty variable counts as unset.
    pub fn environment_variable(&self, name: &str) -> Option<Vec<u8>> {
        environment_variable(self.environment.as_deref().ok()?, name)
    }
}

/// A process that may serve a directory of its user, but for which the proof is missing.
#[derive(Clone, Debug)]
pub struct UnprovenProcess {
    pub uid: Option<u32>,
    pub detail: String,
}

/// The running servers of one area, and processes that may be servers but cannot be examined.
/// `parse_option` reads one line of the answer to [`Question::CommandLine`]. Fails if processes
/// cannot be listed.
pub fn read_server_processes(
    host: &dyn Host,
    request: &Request,
    area: ServerArea,
    parse_option: fn(&str) -> Option<CommandLineOption>,
    facts: &mut FactSet,
) -> Result<(Vec<ServerProcess>, Vec<UnprovenProcess>), HostError> {
    let (rows, skipped) = list_server_processes(host, request)?;
    let (mut found, mut unproven) = (Vec::new(), Vec::new());
    for (uid, count) in skipped {
        // Both collectors list all processes, and one note is enough.
        if area == ServerArea::Pg {
            let whose = uid.map_or_else(|| "unknown users".to_owned(), |uid| format!("user {uid}"));
            facts.add_note_once(format!(
                "{count} more processes of {whose} are named like database servers and were not \
                 checked; their data directories are unknown"
            ));
        }
        let detail =
            format!("{count} more processes are named like database servers and were not checked");
        unproven.push(UnprovenProcess { uid, detail });
    }
    let is_of_area = |row: &ListedProcess| {
        let program = find_server_program(row.name.as_bytes());
        program.is_some_and(|(_, of)| of == area)
    };
    for row in rows.into_iter().filter(is_of_area) {
        match server_file_reader_uid(&row) {
            Ok(uid) => found.extend(read_process(host, row.pid, uid, parse_option, facts)),
            Err(detail) => {
                facts.add_note_once(detail.as_str());
                let uid = row.uid;
                unproven.push(UnprovenProcess { uid, detail });
            }
        }
    }
    Ok((found, unproven))
}

fn read_process(
    host: &dyn Host,
    pid: u32,
    uid: u32,
    parse_option: fn(&str) -> Option<CommandLineOption>,
    facts: &mut FactSet,
) -> Option<ServerProcess> {
    let parse = |answer: Vec<u8>| {
        let text = String::from_utf8_lossy(&answer);
        text.lines().filter_map(parse_option).collect()
    };
    let options = host.ask(&Question::CommandLine(pid)).map(parse);
    match &options {
        // The process has ended since the listing.
        Err(miss) if miss.is_absent() => return None,
        Err(miss) => facts.add_note_once(format!(
            "the arguments of database process {pid} cannot be read: {miss}"
        )),
        Ok(_) => {}
    }
    let environment = host.ask(&Question::Environment(pid));
    Some(ServerProcess {
        pid,
        uid,
        options,
        preloaded_library: preloaded_eatmydata(host, pid, &environment),
        environment,
    })
}

pub fn own_effective_uid(host: &dyn Host) -> Option<u32> {
    let identity = host.ask(&Question::Identity).ok()?;
    String::from_utf8_lossy(&identity)
        .lines()
        .find_map(|line| line.strip_prefix("euid=")?.parse().ok())
}

/// The server processes without workers, those of the target's owner first. Fails if processes
/// cannot be listed.
fn list_server_processes(
    host: &dyn Host,
    request: &Request,
) -> Result<(Vec<ListedProcess>, Vec<SkippedCount>), HostError> {
    let answer = host.ask(&Question::Servers)?;
    let text = String::from_utf8_lossy(&answer);
    let bound = host.subject_count_limits().servers;
    let mut listed = text.lines().filter_map(parse_process);
    // More rows than the limit are read, so that the sort below decides which of them are examined.
    let rows: Vec<ListedProcess> = listed.by_ref().take(16 * bound).collect();
    let mut left_out: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    let mut leave_out = |row: ListedProcess| *left_out.entry(row.uid).or_default() += 1;
    listed.for_each(&mut leave_out);
    if rows.is_empty() && is_hidepid_in_force(host) {
        let why = "/proc is mounted with hidepid, which hides the processes of other users; run walwise as root";
        return Err(HostError::denied(why));
    }
    let pids: BTreeSet<u32> = rows.iter().map(|row| row.pid).collect();
    let mut rows: Vec<ListedProcess> = rows
        .into_iter()
        .filter(|row| !pids.contains(&row.parent))
        .collect();
    // Only a limited number of processes is examined, so the order matters: first the target's
    // owner, then system users, then users with few servers. No user can crowd out another.
    let first = request
        .target
        .as_deref()
        .and_then(|target| host.stat(target).ok());
    let first = first.and_then(|stat| u32::try_from(stat.uid).ok());
    let mut crowds: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    for row in &rows {
        *crowds.entry(row.uid).or_default() += 1;
    }
    rows.sort_by_key(|row| {
        (
            first.is_none() || row.uid != first,
            row.uid.is_none_or(|uid| uid > LAST_SYSTEM_USER),
            crowds.get(&row.uid).copied(),
        )
    });
    rows.split_off(bound.min(rows.len()))
        .into_iter()
        .for_each(leave_out);
    let others = text.lines().filter_map(parse_skipped_count);
    Ok((rows, others.chain(left_out).collect()))
}

/// Whether `hidepid` hides other users' processes from walwise (filesystems/proc.rst of the
/// kernel). Never true for root, who sees all processes.
fn is_hidepid_in_force(host: &dyn Host) -> bool {
    const HIDING: [&[u8]; 4] = [
        b"hidepid=2",
        b"hidepid=invisible",
        b"hidepid=4",
        b"hidepid=ptraceable",
    ];
    let hides = |entry: &mountinfo::MountEntry| {
        entry.point == b"/proc"
            && entry
                .super_options
                .iter()
                .any(|option| HIDING.contains(&option.as_slice()))
    };
    let mounts = || mountinfo::read_mountinfo(host, Path::new("/proc/self/mountinfo"));
    own_effective_uid(host).is_some_and(|uid| uid != 0)
        && mounts().is_ok_and(|table| table.entries.iter().any(hides))
}

fn parse_process(line: &str) -> Option<ListedProcess> {
    let mut words = line.splitn(4, ' ');
    Some(ListedProcess {
        pid: words.next()?.parse().ok()?,
        parent: words.next()?.parse().ok()?,
        uid: parse_uid(words.next()?).ok()?,
        name: words.next()?.to_owned(),
    })
}

fn parse_skipped_count(line: &str) -> Option<SkippedCount> {
    let (uid, count) = line.strip_prefix("more ")?.split_once(' ')?;
    Some((parse_uid(uid).ok()?, count.parse().ok()?))
}

/// Parses a user id. `-` means that the ids of the process differ, or that its user has no id in
/// walwise's user namespace.
fn parse_uid(word: &str) -> Result<Option<u32>, ParseIntError> {
    if word == "-" {
        Ok(None)
    } else {
        word.parse().map(Some)
    }
}

pub enum ServingProof {
    /// There is no process, or its user owns the directory, and a file there that only the server
    /// can write or open identifies the process.
    Serves,
    Contradicted(Note),
    /// The text names what cannot be read.
    Unreadable(&'static str),
}

/// The uid whose rights are used to read a server's files; an error gives the reason why there is
/// none.
fn server_file_reader_uid(row: &ListedProcess) -> Result<u32, String> {
    let pid = row.pid;
    match row.uid {
        Some(0) => Err(format!(
            "database process {pid} runs as root, and walwise reads no files of such a server; run the server as its own user"
        )),
        Some(uid) => Ok(uid),
        None => Err(format!(
            "process {pid} is named {name} but does not run as a single known user, so walwise does not read its files",
            name = display_safe(row.name.as_bytes())
        )),
    }
}

/// Whether a process is stopped by a signal (state in proc_pid_stat(5)) and so answers nothing.
pub fn is_process_stopped(host: &dyn Host, pid: u32) -> bool {
    let stat = host
        .read(Path::new(&format!("/proc/{pid}/stat")))
        .unwrap_or_default();
    let behind = stat
        .iter()
        .rposition(|byte| *byte == b')')
        .and_then(|at| stat.get(at + 1..));
    behind
        .and_then(|rest| rest.trim_ascii_start().first())
        .is_some_and(|state| matches!(state, b'T' | b't'))
}

/// The process id in the process's own PID namespace (`NSpid` of proc_pid_status(5)).
pub fn namespace_pid(host: &dyn Host, pid: u32) -> Option<u32> {
    let status = host.read(Path::new(&format!("/proc/{pid}/status"))).ok()?;
    let text = String::from_utf8_lossy(&status);
    text.lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?
        .split_ascii_whitespace()
        .next_back()?
        .parse()
        .ok()
}

fn environment_variable(environment: &[u8], name: &str) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(environment);
    let value = text
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        .next_back()?;
    (!value.is_empty()).then(|| decode_display_safe(value))
}

/// The name of libeatmydata if LD_PRELOAD or /etc/ld.so.preload lists it (ld.so(8)), else `none`.
/// The reading is unknown if a list that could name the library was not read.
fn preloaded_eatmydata(host: &dyn Host, pid: u32, environment: &HostResult) -> Reading<String> {
    const EVERYWHERE: &str = "/etc/ld.so.preload";
    let own = format!("/proc/{pid}/environ");
    let everywhere = host.read(Path::new(EVERYWHERE));
    if let Some(library) = everywhere.as_deref().ok().and_then(find_eatmydata_library) {
        return Reading::known(library, Source::from_file(EVERYWHERE));
    }
    let environment = match environment {
        Ok(environment) => environment,
        Err(miss) => return error_reading(miss, &own),
    };
    let library = environment_variable(environment, "LD_PRELOAD")
        .as_deref()
        .and_then(find_eatmydata_library);
    match (library, everywhere) {
        (Some(library), _) => Reading::known(library, Source::from_file(own)),
        (None, Err(miss)) if !miss.is_absent() => error_reading(&miss, EVERYWHERE),
        (None, _) => Reading::known("none".to_owned(), Source::from_file(own)),
    }
}

/// The first of the libraries that is libeatmydata, which turns fsync into a no-op.
fn find_eatmydata_library(libraries: &[u8]) -> Option<String> {
    let mut libraries = libraries.split(|b| *b == b':' || b.is_ascii_whitespace());
    libraries
        .find(|library| library.windows(9).any(|part| part == b"eatmydata"))
        .map(display_safe)
}

/// The real path of a server's directory. Fails if that is another file than the named path (device
/// and inode), so that a server never gets another server's directory.
pub fn verified_real_path(host: &dyn Host, path: &Path) -> Result<PathBuf, HostError> {
    let real = host.real_path(path)?;
    if real == path {
        return Ok(real);
    }
    // Old captures hold the status of at most one of the two paths, so a missing status proves
    // nothing.
    let Ok(named) = host.stat(path) else {
        return Ok(real);
    };
    let found = host.stat(&real)?;
    if named.file_id() == found.file_id() {
        Ok(real)
    } else {
        Err(HostError::failed(
            "the resolved path leads to a different file than the named path",
        ))
    }
}

/// Whether a process serves a directory that could not be read; `None` if the directory belongs
/// to another user, because any user can name any directory. `host` makes its queries with the
/// rights of the process's user.
pub fn running_reading_of_unread_directory(
    host: &dyn Host,
    server: &ServerProcess,
    directory: &Path,
) -> Option<Reading<bool>> {
    match host.stat(directory) {
        Ok(stat) if stat.uid == u64::from(server.uid) => Some(server.running_reading()),
        Err(miss) if miss.kind == HostErrorKind::TimedOut => {
            Some(error_reading(&miss, &display_path(directory)))
        }
        Ok(_) | Err(_) => None,
    }
}

/// The name of a directory's owner. `shown` is the directory's path.
pub fn owner_user_name(
    host: &dyn Host,
    stat: Result<Stat, HostError>,
    shown: &str,
) -> Reading<String> {
    let uid = match stat {
        Ok(stat) => u32::try_from(stat.uid),
        Err(miss) => return error_reading(&miss, shown),
    };
    let Ok(uid) = uid else {
        return Reading::malformed(format!("the owner of {shown} is not a valid user id"));
    };
    match host.ask(&Question::UserName(uid)) {
        Ok(name) => Reading::known(
            display_safe(&name),
            Source::from_system_call(format!("stat {shown}")),
        ),
        Err(miss) => error_reading(&miss, &format!("the name of user {uid}")),
    }
}

pub const SERVER_RUNNING: &str =
    "a server is running on the data directory, and its command line names its configuration files";

/// The error is the reason to suspect that a server is running on the directory.
pub fn check_stopped(running: Reading<bool>) -> Result<(), String> {
    match running {
        Reading::Known { value: false, .. } => Ok(()),
        Reading::Known { value: true, .. } => Err(SERVER_RUNNING.to_owned()),
        Reading::Unknown { detail, .. } => Err(format!(
            "a server may be running on the data directory: {detail}"
        )),
    }
}

pub fn preloaded_library(
    server: Option<&ServerProcess>,
    running: Option<&bool>,
) -> Reading<String> {
    match (server, running) {
        (Some(server), _) => server.preloaded_library.clone(),
        (None, Some(false)) => {
            Reading::absent("no server is running, so there is no LD_PRELOAD to read")
        }
        (None, Some(true) | None) => Reading::uncollected(
            "no process was identified as the server of this directory, so none was checked",
        ),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::host::Stat;
    use crate::testing::{FakeHost, ZERO_STAT};

    fn listed_pids(lines: &[String]) -> Vec<u32> {
        let host = FakeHost::default().with_answer(Question::Servers, lines.join("\n"));
        list_server_processes(&host, &Request::default())
            .unwrap()
            .0
            .iter()
            .map(|row| row.pid)
            .collect()
    }

    #[test]
    fn root_and_mixed_uid_processes_have_no_reader() {
        let host = FakeHost::default().with_answer(
            Question::Servers,
            "10 1 26 postgres\n11 1 - postgres\n12 1 0 mysqld\nmore 4242 9936\nmore - 3\n",
        );
        let (rows, skipped) = list_server_processes(&host, &Request::default()).unwrap();
        let readers: Vec<Option<u32>> = rows
            .iter()
            .map(|row| server_file_reader_uid(row).ok())
            .collect();
        assert_eq!(readers, [Some(26), None, None]);
        assert_eq!(skipped, [(Some(4242), 9936), (None, 3)]);
    }

    #[test]
    fn hidepid_makes_process_list_denied() {
        let machine = |euid: u32, option: &str, servers: &str| {
            let mounts = format!("20 1 0:5 / /proc rw - proc proc rw,{option}\n");
            let fake = FakeHost::default()
                .with_file("/proc/self/mountinfo", &mounts)
                .with_answer(Question::Servers, servers);
            list_server_processes(
                &fake.with_answer(Question::Identity, format!("euid={euid}\n")),
                &Request::default(),
            )
        };
        for option in [
            "hidepid=2",
            "hidepid=invisible",
            "hidepid=4",
            "hidepid=ptraceable",
        ] {
            assert_eq!(
                machine(26, option, "").unwrap_err().kind,
                HostErrorKind::Denied,
                "{option}"
            );
            assert!(machine(0, option, "").unwrap().0.is_empty(), "{option}");
            assert_eq!(
                machine(26, option, "10 1 26 postgres\n").unwrap().0.len(),
                1,
                "{option}"
            );
        }
        assert!(machine(26, "hidepid=1", "").unwrap().0.is_empty());
    }

    #[test]
    fn servers_of_target_owner_come_first() {
        let crowd: Vec<String> = (0..9)
            .map(|pid| format!("{} 1 4242 postgres\n", 100 + pid))
            .collect();
        let rows = crowd.concat()
            + "200 1 4243 postgres\n201 1 - postgres\n202 1 27 mariadbd\n203 1 4244 postgres\n";
        let target = Stat {
            mode: 0o040_700,
            uid: 4244,
            gid: 4244,
            major: 8,
            minor: 1,
            inode: 5,
            ..ZERO_STAT
        };
        let host = FakeHost::default()
            .with_answer(Question::Servers, rows)
            .with_answer(Question::Stat("/srv/pg".into()), target.encode());
        let request = Request {
            target: Some("/srv/pg".into()),
            ..Request::default()
        };
        let pids: Vec<u32> = list_server_processes(&host, &request)
            .unwrap()
            .0
            .iter()
            .map(|row| row.pid)
            .take(4)
            .collect();
        assert_eq!(
            pids,
            [203, 202, 200, 201],
            "the target's, a system's, then those of few"
        );
    }

    #[test]
    fn real_path_must_be_same_file() {
        let file = |inode| Stat {
            mode: 0o040_700,
            uid: 26,
            gid: 26,
            major: 8,
            minor: 1,
            inode,
            size: 4096,
            ..ZERO_STAT
        };
        let real = |answer: &str, inode: Option<u64>| {
            let path = Path::new("/var/lib/pg");
            let mut host = FakeHost::default()
                .with_answer(Question::RealPath(path.into()), answer)
                .with_answer(Question::Stat(path.into()), file(2).encode());
            if let Some(inode) = inode {
                host = host.with_answer(Question::Stat(answer.into()), file(inode).encode());
            }
            verified_real_path(&host, path).ok()
        };
        assert_eq!(real("/var/lib/pg", None), Some("/var/lib/pg".into()));
        assert_eq!(real("/data/pg", Some(2)), Some("/data/pg".into()));
        for (answer, inode) in [
            ("/data/ph", Some(3)),
            ("/data/ph", None),
            ("data/pg", Some(2)),
            ("\u{1}", None),
            ("", None),
        ] {
            assert_eq!(real(answer, inode), None, "{answer:?}");
        }
    }

    #[test]
    fn stopped_state_and_namespace_pid_are_parsed() {
        let fake = FakeHost::default()
            .with_file("/proc/7/stat", "7 (a) T (b) T 1 7\n")
            .with_file("/proc/8/stat", "8 (a) T) S 1 8\n")
            .with_file("/proc/7/status", "Name:\tx\nNSpid:\t7\t1\n");
        assert!(
            is_process_stopped(&fake, 7)
                && !is_process_stopped(&fake, 8)
                && !is_process_stopped(&fake, 9)
        );
        assert_eq!(
            (namespace_pid(&fake, 7), namespace_pid(&fake, 8)),
            (Some(1), None)
        );
    }

    proptest! {
        #[test]
        fn worker_processes_are_not_servers(
            lines in Just(["10 1 26 postgres", "11 10 26 postgres", "20 1 27 mariadbd", "21 20 27 x y", "30 2 0 mysqld"]).prop_map(|all| all.map(str::to_owned).to_vec()).prop_shuffle(),
            bad in "[^\n]{0,20}",
            at in 0usize..6,
        ) {
            prop_assume!(parse_process(&bad).is_none());
            let mut noisy = lines;
            noisy.insert(at, bad);
            let mut found = listed_pids(&noisy);
            found.sort_unstable();
            prop_assert_eq!(found, [10, 20, 30]);
        }

        #[test]
        fn last_environment_variable_wins(
            value in prop::collection::vec(1u8.., 1..20), before in "[^\n]{0,20}", bytes: Vec<u8>,
        ) {
            environment_variable(&bytes, "PGDATA");
            find_eatmydata_library(&bytes);
            let text = format!("{before}\nPGDATA=x\nPGDATA={}\n", display_safe(&value));
            prop_assert_eq!(environment_variable(text.as_bytes(), "PGDATA"), Some(value));
        }

        #[test]
        fn eatmydata_is_found_among_libraries(libraries in prop::collection::vec("[a-z./]{0,12}", 0..5), at: prop::sample::Index) {
            prop_assume!(!libraries.iter().any(|library| library.contains("eatmydata")));
            prop_assert_eq!(find_eatmydata_library(libraries.join(":").as_bytes()), None);
            let mut all = libraries;
            all.insert(at.index(all.len() + 1), "/usr/lib/libeatmydata.so".to_owned());
            for separator in [":", " ", "\n"] {
                prop_assert!(find_eatmydata_library(all.join(separator).as_bytes()).is_some_and(|found| found.contains("eatmydata")));
            }
        }
    }
}
