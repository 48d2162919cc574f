//! Asks as the owners of servers, each through a child that has his user id, and accounts for the
//! cost of each.
//!
//! The children and their answers are in [`crate::host::child`] and [`crate::host::reader`]; an
//! answer is a stranger's word. Time and bytes are bounded for each user and for all together, so
//! nobody can keep walwise from exiting or from serving others. A user whose share is used up gets
//! *timed out* for an answer, never *absent*.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::host::child::Expendable;
use crate::host::owner::Owner;
use crate::host::{LAST_SYSTEM_USER, Miss, MissKind, NOBODY, Question};

/// An allowance of time and bytes.
#[derive(Clone, Copy, Debug)]
struct ReadBudget {
    time: Duration,
    bytes: usize,
}

const SHARE: ReadBudget = ReadBudget {
    time: Duration::from_secs(15),
    bytes: 2 << 20,
};

/// The total of all persons; later ones get what the first ones leave. A system's own accounts have
/// their share beside it, so that no crowd of strangers takes it from them: nobody but root makes
/// such accounts.
const ALL: ReadBudget = ReadBudget {
    time: Duration::from_secs(40),
    bytes: 16 << 20,
};

impl ReadBudget {
    fn is_spent(self) -> bool {
        self.time.is_zero() || self.bytes == 0
    }

    fn spend(&mut self, time: Duration, bytes: usize) {
        self.time = self.time.saturating_sub(time);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

pub struct Owners {
    program: PathBuf,
    state: Mutex<OwnerRegistry>,
}

struct OwnerRegistry {
    /// The user of each process that is named like a server.
    processes: BTreeMap<u32, u32>,
    children: BTreeMap<Owner, Arc<Expendable>>,
    accounts: BTreeMap<u32, ReadBudget>,
    all: ReadBudget,
}

impl Owners {
    /// Children will be processes of this program.
    pub fn new(program: PathBuf) -> Self {
        let state = OwnerRegistry {
            processes: BTreeMap::new(),
            children: BTreeMap::new(),
            accounts: BTreeMap::new(),
            all: ALL,
        };
        Self {
            program,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, OwnerRegistry> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the users of processes from an answer to [`Question::Servers`].
    pub fn learn(&self, servers: &[u8]) {
        let text = String::from_utf8_lossy(servers);
        let row = |line: &str| -> Option<(u32, u32)> {
            let mut words = line.split(' ');
            let pid = words.next()?.parse().ok()?;
            Some((pid, words.nth(1)?.parse().ok()?))
        };
        self.state().processes.extend(text.lines().filter_map(row));
    }

    /// The user of a process that is named like a server.
    pub fn user_of(&self, pid: u32) -> Option<u32> {
        self.state().processes.get(&pid).copied()
    }

    /// Kills the children without waiting for them.
    pub fn end(&self) {
        self.state().children.values().for_each(|child| child.end());
    }

    /// Notes about questions that were given up.
    pub fn notes(&self) -> Vec<String> {
        self.state()
            .children
            .values()
            .flat_map(|child| child.notes())
            .collect()
    }

    /// Asks as this user, who is not root.
    pub fn ask(&self, uid: u32, question: &Question, deadline: Duration) -> Result<Vec<u8>, Miss> {
        if uid == 0 {
            let says = "belongs to root, and nothing is read as root on behalf of a server";
            return Err(Miss::new(MissKind::Denied, says));
        }
        self.charged(uid, deadline, |deadline| {
            let whole = Question::As(uid, Box::new(question.clone()));
            self.child(uid, question).ask(&whole, deadline)
        })
    }

    /// Runs a potentially slow operation for a user, within his remaining share, and charges him
    /// for it.
    pub fn charged(
        &self,
        uid: u32,
        deadline: Duration,
        ask: impl FnOnce(Duration) -> Result<Vec<u8>, Miss>,
    ) -> Result<Vec<u8>, Miss> {
        let left = {
            let mut state = self.state();
            let own = *state.accounts.entry(uid).or_insert(SHARE);
            let all = if is_of_system(uid) { SHARE } else { state.all };
            if own.is_spent() || all.is_spent() {
                let says = format!(
                    "what walwise reads for user {uid} has taken all the time and room that it gives"
                );
                return Err(Miss::new(MissKind::TimedOut, says));
            }
            own.time.min(all.time)
        };
        let began = Instant::now();
        let answer = ask(deadline.min(left));
        let (time, bytes) = (began.elapsed(), answer.as_ref().map_or(0, Vec::len));
        let mut state = self.state();
        if !is_of_system(uid) {
            state.all.spend(time, bytes);
        }
        state
            .accounts
            .entry(uid)
            .or_insert(SHARE)
            .spend(time, bytes);
        answer
    }

    /// The child with this user id, in the root directory through which the question's path leads.
    fn child(&self, uid: u32, question: &Question) -> Arc<Expendable> {
        let mut state = self.state();
        let inside = question.path().and_then(|path| process_of_root(path));
        let process = inside.or_else(|| {
            state
                .processes
                .iter()
                .find(|(_, of)| **of == uid)
                .map(|(pid, _)| *pid)
        });
        // A connection is made as root and used once, so it has a child of its own.
        let socket = match question {
            Question::MysqlSettings(path) => Some(match inside {
                Some(pid) => within_root(path, pid).as_path().into(),
                None => path.as_path().into(),
            }),
            _ => None,
        };
        let owner = Owner {
            uid,
            process,
            inside: inside.is_some(),
            socket,
        };
        let program = &self.program;
        let new = |owner: &Owner| Arc::new(Expendable::new(program.clone(), Some(owner.clone())));
        let child = Arc::clone(state.children.entry(owner.clone()).or_insert_with_key(new));
        // One server after the other is read, so the children of those before would only take
        // memory.
        let before = state
            .children
            .iter()
            .filter(|(other, _)| other.process != owner.process);
        before.for_each(|(_, child)| child.rest());
        child
    }
}

/// Whether a user is an account of the system (SYS_UID_MAX of login.defs(5)), or the one without
/// any rights as whom what is root's is read.
fn is_of_system(uid: u32) -> bool {
    uid <= LAST_SYSTEM_USER || uid == NOBODY
}

/// The path without the prefix that leads to the root of a process.
fn within_root(path: &Path, pid: u32) -> PathBuf {
    let within = path
        .strip_prefix(format!("/proc/{pid}/root"))
        .unwrap_or(path);
    Path::new("/").join(within)
}

/// The process id in such a path: 7 for `/proc/7/root/srv`.
fn process_of_root(path: &Path) -> Option<u32> {
    process_in(path).filter(|_| path.iter().nth(3).is_some_and(|name| name == "root"))
}

/// The process that a path of /proc is about: 7 for `/proc/7/mountinfo`.
pub fn process_in(path: &Path) -> Option<u32> {
    let mut names = path.components().skip(1).map(Component::as_os_str);
    let in_proc = names.next()? == "proc";
    names.next()?.to_str()?.parse().ok().filter(|_| in_proc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_through_a_root_name_its_process() {
        assert_eq!(process_of_root(Path::new("/proc/7/root/srv/pg")), Some(7));
        assert_eq!(process_of_root(Path::new("/proc/7/root")), Some(7));
        for other in [
            "/proc/7/cwd",
            "/proc/self/root",
            "/srv/proc/7/root",
            "/proc",
        ] {
            assert_eq!(process_of_root(Path::new(other)), None, "{other}");
        }
        assert_eq!(process_in(Path::new("/proc/7/mountinfo")), Some(7));
        assert_eq!(process_in(Path::new("/proc/sys/kernel/ostype")), None);
        assert_eq!(
            within_root(Path::new("/proc/7/root/run/x"), 7),
            Path::new("/run/x")
        );
    }

    #[test]
    fn who_has_spent_his_share_keeps_nobody_else() {
        let owners = Owners::new(PathBuf::from("/bin/true"));
        let told = |uid, bytes| owners.charged(uid, Duration::from_secs(1), |_| Ok(vec![0; bytes]));
        assert!(told(5, SHARE.bytes).is_ok());
        assert_eq!(told(5, 1).unwrap_err().kind, MissKind::TimedOut);
        assert!(told(6, 1).is_ok());
        for uid in 4000..4100 {
            let _ = told(uid, SHARE.bytes);
        }
        assert_eq!(
            told(5000, 1).unwrap_err().kind,
            MissKind::TimedOut,
            "all together have a bound too"
        );
        assert!(
            told(7, 1).is_ok() && told(NOBODY, 1).is_ok(),
            "accounts of the system do not share it"
        );
    }

    #[test]
    fn processes_are_learned_and_nothing_is_asked_as_root() {
        let owners = Owners::new(PathBuf::from("/bin/true"));
        owners.learn(b"10 1 26 postgres\n11 1 - mysqld\nmore 26 5\nnoise\n");
        assert_eq!((owners.user_of(10), owners.user_of(11)), (Some(26), None));
        let miss = owners
            .ask(0, &Question::List("/root".into()), Duration::from_secs(1))
            .unwrap_err();
        assert_eq!(miss.kind, MissKind::Denied);
    }
}
