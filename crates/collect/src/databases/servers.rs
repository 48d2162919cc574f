//! Running database servers as processes: their ids, their users, and libraries preloaded into
//! them.
//!
//! Only allow-listed options and variables arrive here, in one form. A worker is a child of its
//! server and has the same name, so the parent decides. Anybody can call a process a server, so its
//! claim to a directory counts only once proven, which is left to the collectors of each kind. A
//! system-wide preload is in a file (ld.so.preload), not in the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::num::ParseIntError;
use std::path::Path;

use crate::collector::Request;
use crate::facts::note::ServerNote;
use crate::facts::{Area, Note, Reading, Source, Why};
use crate::host::{Host, LAST_SYSTEM_USER, Miss, MissKind, Question};
use crate::mountinfo;
use crate::refusal::refused;
use crate::servers::program;
use crate::text::{raw, safe};

#[derive(Debug)]
pub struct ServerProcess {
    /// Process id, as in /proc here.
    pub pid: u32,
    /// Process id of the parent.
    pub parent: u32,
    /// Who runs it; `None` where that is not one user with a number here.
    pub uid: Option<u32>,
    pub name: String,
}

/// The processes that are called like servers.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that were looked at.
    pub rows: Vec<ServerProcess>,
    /// Users with more processes than were looked at, and how many more.
    pub more: Vec<(Option<u32>, u64)>,
}

/// A process that may serve a directory of its user, where that cannot be proven.
#[derive(Clone, Debug)]
pub struct Unproven {
    /// Who runs it; `None` where that is not known.
    pub uid: Option<u32>,
    pub detail: String,
}

impl ServerProcess {
    /// Whether it is PostgreSQL's.
    pub fn is_postgres(&self) -> bool {
        match program(self.name.as_bytes()) {
            Some((_, Area::Pg)) => true,
            Some((_, Area::Mysql)) | None => false,
        }
    }

    /// Whether it is MySQL's or MariaDB's.
    pub fn is_mysql(&self) -> bool {
        match program(self.name.as_bytes()) {
            Some((_, Area::Mysql)) => true,
            Some((_, Area::Pg)) | None => false,
        }
    }
}

pub fn our_uid(host: &dyn Host) -> Option<u32> {
    let identity = host.ask(&Question::Identity).ok()?;
    String::from_utf8_lossy(&identity)
        .lines()
        .find_map(|line| line.strip_prefix("euid=")?.parse().ok())
}

/// The servers that are no other's children, those of the target's owner first; an error when
/// processes cannot be listed.
pub fn list(host: &dyn Host, request: &Request) -> Result<Listing, Miss> {
    let answer = host.ask(&Question::Servers)?;
    let text = String::from_utf8_lossy(&answer);
    let bound = host.bounds().servers;
    let mut listed = text.lines().filter_map(row);
    // Enough to choose from.
    let rows: Vec<ServerProcess> = listed.by_ref().take(16 * bound).collect();
    let mut left_out: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    let mut leave_out = |row: ServerProcess| *left_out.entry(row.uid).or_default() += 1;
    listed.for_each(&mut leave_out);
    if rows.is_empty() && hides_others(host) {
        let why = "/proc is mounted with hidepid, which hides the processes of other users; run walwise as root";
        return Err(Miss::new(MissKind::Denied, why));
    }
    let pids: BTreeSet<u32> = rows.iter().map(|row| row.pid).collect();
    let mut rows: Vec<ServerProcess> = rows
        .into_iter()
        .filter(|row| !pids.contains(&row.parent))
        .collect();
    // Reading for all users together is bounded: the target comes first, then the users of systems,
    // then those with few servers, so that nobody's crowd hides another's server.
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
        let is_target = first.is_some() && row.uid == first;
        (
            !is_target,
            row.uid.is_none_or(|uid| uid > LAST_SYSTEM_USER),
            crowds.get(&row.uid).copied(),
        )
    });
    let mut others: Vec<(Option<u32>, u64)> = text.lines().filter_map(more).collect();
    rows.split_off(bound.min(rows.len()))
        .into_iter()
        .for_each(leave_out);
    others.extend(left_out);
    Ok(Listing { rows, more: others })
}

/// Whether processes of others are not even listed for us (`hidepid` in the kernel's
/// filesystems/proc.rst). Root sees all.
fn hides_others(host: &dyn Host) -> bool {
    const HIDING: [&[u8]; 4] = [
        b"hidepid=2",
        b"hidepid=invisible",
        b"hidepid=4",
        b"hidepid=ptraceable",
    ];
    let hides = |entry: &mountinfo::Entry| {
        entry.point == b"/proc"
            && entry
                .super_options
                .iter()
                .any(|option| HIDING.contains(&option.as_slice()))
    };
    let mounts = || mountinfo::read(host, Path::new("/proc/self/mountinfo"));
    our_uid(host).is_some_and(|uid| uid != 0)
        && mounts().is_ok_and(|table| table.entries.iter().any(hides))
}

fn row(line: &str) -> Option<ServerProcess> {
    let mut words = line.splitn(4, ' ');
    Some(ServerProcess {
        pid: words.next()?.parse().ok()?,
        parent: words.next()?.parse().ok()?,
        uid: user(words.next()?).ok()?,
        name: words.next()?.to_owned(),
    })
}

fn more(line: &str) -> Option<(Option<u32>, u64)> {
    let (uid, count) = line.strip_prefix("more ")?.split_once(' ')?;
    Some((user(uid).ok()?, count.parse().ok()?))
}

/// A user's number, or `-` for none.
fn user(word: &str) -> Result<Option<u32>, ParseIntError> {
    if word == "-" {
        Ok(None)
    } else {
        word.parse().map(Some)
    }
}

/// Whether a process serves a directory.
pub enum Proof {
    /// Its user owns the directory, and what only the server writes or holds there names it.
    Serves,
    /// It does not; the note says what speaks against it.
    Elsewhere(Note),
    /// The proof cannot be read.
    Unreadable(Unproven),
    /// There is no process to be proven.
    NoServer,
}

/// The user id that a process is read as; the error says why there is none.
pub fn reader(row: &ServerProcess) -> Result<u32, ServerNote> {
    let pid = row.pid;
    match row.uid {
        Some(0) => Err(ServerNote::RootProcess { pid }),
        Some(uid) => Ok(uid),
        None => Err(ServerNote::NobodysProcess {
            pid,
            name: safe(row.name.as_bytes()),
        }),
    }
}

/// Whether a process is stopped, and so would hear of us only when it goes on (proc_pid_stat(5),
/// state).
pub fn is_stopped(host: &dyn Host, pid: u32) -> bool {
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

/// The number that a process has for itself: in a container it is another one than here (`NSpid` of
/// proc_pid_status(5)).
pub fn own_number(host: &dyn Host, pid: u32) -> Option<u32> {
    let status = host.read(Path::new(&format!("/proc/{pid}/status"))).ok()?;
    let text = String::from_utf8_lossy(&status);
    text.lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?
        .split_ascii_whitespace()
        .next_back()?
        .parse()
        .ok()
}

/// The value of an environment variable; an empty one counts as unset.
pub fn variable(environment: &[u8], name: &str) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(environment);
    let value = text
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        .next_back()?;
    (!value.is_empty()).then(|| raw(value))
}

/// libeatmydata in LD_PRELOAD or in ld.so.preload (ld.so(8)), which the dynamic linker loads into
/// every program.
pub fn preloaded(
    host: &dyn Host,
    pid: u32,
    environment: &Result<Vec<u8>, Miss>,
) -> Reading<String> {
    const EVERYWHERE: &str = "/etc/ld.so.preload";
    let own = format!("/proc/{pid}/environ");
    let everywhere = host.read(Path::new(EVERYWHERE));
    if let Some(library) = everywhere.as_deref().ok().and_then(eats_data) {
        return Reading::known(library, Source::file(EVERYWHERE));
    }
    let environment = match environment {
        Ok(environment) => environment,
        Err(miss) => return refused(miss, &own),
    };
    let library = variable(environment, "LD_PRELOAD")
        .as_deref()
        .and_then(eats_data);
    match (library, everywhere) {
        (Some(library), _) => Reading::known(library, Source::file(own)),
        (None, Err(miss)) if miss.kind != MissKind::Absent => refused(&miss, EVERYWHERE),
        (None, _) => Reading::known("none".to_owned(), Source::file(own)),
    }
}

/// The name of a library in the list that turns fsync into a no-op.
fn eats_data(libraries: &[u8]) -> Option<String> {
    let mut libraries = libraries.split(|b| *b == b':' || b.is_ascii_whitespace());
    libraries
        .find(|library| library.windows(9).any(|part| part == b"eatmydata"))
        .map(safe)
}

/// The reading of a preload where no server was proven to run.
pub fn not_running(running: Option<&bool>) -> Reading<String> {
    match running {
        Some(false) => Reading::unknown(
            Why::Absent,
            "no server runs on it, and it is unknown what will be preloaded into one",
        ),
        _ => Reading::unknown(
            Why::NotCollected,
            "which process serves it is not proven, so none is looked at",
        ),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::host::Stat;
    use crate::testing::Fake;

    fn pids(lines: &[String]) -> Vec<u32> {
        let host = Fake::default().answer(Question::Servers, lines.join("\n"));
        list(&host, &Request::default())
            .unwrap()
            .rows
            .iter()
            .map(|row| row.pid)
            .collect()
    }

    #[test]
    fn who_runs_a_process_decides_whether_anything_is_read_for_it() {
        let host = Fake::default().answer(
            Question::Servers,
            "10 1 26 postgres\n11 1 - postgres\n12 1 0 mysqld\nmore 4242 9936\nmore - 3\n",
        );
        let listing = list(&host, &Request::default()).unwrap();
        let readers: Vec<Option<u32>> = listing.rows.iter().map(|row| reader(row).ok()).collect();
        assert_eq!(readers, [Some(26), None, None]);
        assert_eq!(listing.more, [(Some(4242), 9936), (None, 3)]);
    }

    #[test]
    fn hidden_processes_are_no_proof_that_no_server_runs() {
        let machine = |euid: u32, option: &str, servers: &str| {
            let mounts = format!("20 1 0:5 / /proc rw - proc proc rw,{option}\n");
            let fake = Fake::default()
                .file("/proc/self/mountinfo", &mounts)
                .answer(Question::Servers, servers);
            list(
                &fake.answer(Question::Identity, format!("euid={euid}\n")),
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
                MissKind::Denied,
                "{option}"
            );
            assert!(machine(0, option, "").unwrap().rows.is_empty(), "{option}");
            assert_eq!(
                machine(26, option, "10 1 26 postgres\n")
                    .unwrap()
                    .rows
                    .len(),
                1,
                "{option}"
            );
        }
        assert!(machine(26, "hidepid=1", "").unwrap().rows.is_empty());
    }

    #[test]
    fn whose_servers_are_read_first() {
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
            node_major: 0,
            node_minor: 0,
            inode: 5,
            size: 0,
            changed: None,
        };
        let host = Fake::default()
            .answer(Question::Servers, rows)
            .answer(Question::Stat("/srv/pg".into()), target.encode());
        let request = Request {
            target: Some("/srv/pg".into()),
            ..Request::default()
        };
        let pids: Vec<u32> = list(&host, &request)
            .unwrap()
            .rows
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
    fn a_process_says_how_it_is() {
        let fake = Fake::default()
            .file("/proc/7/stat", "7 (a) T (b) T 1 7\n")
            .file("/proc/8/stat", "8 (a) T) S 1 8\n")
            .file("/proc/7/status", "Name:\tx\nNSpid:\t7\t1\n");
        assert!(is_stopped(&fake, 7) && !is_stopped(&fake, 8) && !is_stopped(&fake, 9));
        assert_eq!(
            (own_number(&fake, 7), own_number(&fake, 8)),
            (Some(1), None)
        );
    }

    proptest! {
        #[test]
        fn workers_are_no_servers_in_whatever_order_they_come(
            lines in Just(["10 1 26 postgres", "11 10 26 postgres", "20 1 27 mariadbd", "21 20 27 x y", "30 2 0 mysqld"]).prop_map(|all| all.map(str::to_owned).to_vec()).prop_shuffle(),
            bad in "[^\n]{0,20}",
            at in 0usize..6,
        ) {
            prop_assume!(row(&bad).is_none());
            let mut noisy = lines;
            noisy.insert(at, bad);
            let mut found = pids(&noisy);
            found.sort_unstable();
            prop_assert_eq!(found, [10, 20, 30]);
        }

        #[test]
        fn the_last_value_of_a_variable_counts(
            value in prop::collection::vec(1u8.., 1..20), before in "[^\n]{0,20}", bytes: Vec<u8>,
        ) {
            variable(&bytes, "PGDATA");
            eats_data(&bytes);
            let text = format!("{before}\nPGDATA=x\nPGDATA={}\n", safe(&value));
            prop_assert_eq!(variable(text.as_bytes(), "PGDATA"), Some(value));
        }

        #[test]
        fn a_library_that_eats_data_is_found_among_any(libraries in prop::collection::vec("[a-z./]{0,12}", 0..5), at: prop::sample::Index) {
            prop_assume!(!libraries.iter().any(|library| library.contains("eatmydata")));
            prop_assert_eq!(eats_data(libraries.join(":").as_bytes()), None);
            let mut all = libraries;
            all.insert(at.index(all.len() + 1), "/usr/lib/libeatmydata.so".to_owned());
            for separator in [":", " ", "\n"] {
                prop_assert!(eats_data(all.join(separator).as_bytes()).is_some_and(|found| found.contains("eatmydata")));
            }
        }
    }
}
