//! Asks questions on behalf of the owners of servers. A child with the owner's user id
//! answers them, within budgets.
//!
//! The children are in [`crate::host::child`] and [`crate::host::reader`]; their answers are not
//! trusted. Time and bytes are limited per user and in total, so that no user can keep walwise from
//! exiting or from reading other servers. A question beyond the budget is *timed out*, never
//! *absent*.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::host::child::ChildHost;
use crate::host::{
    HostError, HostErrorKind, HostResult, LAST_SYSTEM_USER, NOBODY, Question, ServerOwner,
};
use walwise_model::parallel::lock;

#[derive(Clone, Copy, Debug)]
struct ReadBudget {
    time: Duration,
    bytes: usize,
}

const USER_BUDGET: ReadBudget = ReadBudget {
    time: Duration::from_secs(15),
    bytes: 2 << 20,
};

/// The budget shared by all users who are not system accounts. A system account has only its own
/// budget, because only root can create system accounts.
const TOTAL_BUDGET: ReadBudget = ReadBudget {
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

pub struct OwnerChildHosts {
    program: PathBuf,
    state: Mutex<OwnerRegistry>,
}

struct OwnerRegistry {
    /// User id of each process that is named like a server, by process id.
    processes: BTreeMap<u32, u32>,
    children: BTreeMap<ServerOwner, Arc<ChildHost>>,
    budgets: BTreeMap<u32, ReadBudget>,
    total: ReadBudget,
}

impl OwnerChildHosts {
    pub fn new(program: PathBuf) -> Self {
        let state = OwnerRegistry {
            processes: BTreeMap::new(),
            children: BTreeMap::new(),
            budgets: BTreeMap::new(),
            total: TOTAL_BUDGET,
        };
        Self {
            program,
            state: Mutex::new(state),
        }
    }

    fn lock_registry(&self) -> MutexGuard<'_, OwnerRegistry> {
        lock(&self.state)
    }

    pub fn record_server_processes(&self, servers: &[u8]) {
        let text = String::from_utf8_lossy(servers);
        let row = |line: &str| -> Option<(u32, u32)> {
            let mut words = line.split(' ');
            let pid = words.next()?.parse().ok()?;
            Some((pid, words.nth(1)?.parse().ok()?))
        };
        self.lock_registry()
            .processes
            .extend(text.lines().filter_map(row));
    }

    pub fn server_process_uid(&self, pid: u32) -> Option<u32> {
        self.lock_registry().processes.get(&pid).copied()
    }

    pub fn timeout_notes(&self) -> Vec<String> {
        self.lock_registry()
            .children
            .values()
            .flat_map(|child| child.timeout_notes())
            .collect()
    }

    pub fn ask_as_owner(&self, uid: u32, question: &Question, deadline: Duration) -> HostResult {
        if uid == 0 {
            let says = "belongs to root, and walwise does not read server files as root";
            return Err(HostError::denied(says));
        }
        self.run_within_owner_budget(uid, deadline, |deadline| {
            let whole = Question::AsUser(uid, Box::new(question.clone()));
            self.get_or_create_child(uid, question)
                .ask(&whole, deadline)
        })
    }

    /// Runs `ask` with the time that is left, if the user's budget is not used up. Then the time
    /// taken and the size of the answer are subtracted from the budget.
    pub fn run_within_owner_budget(
        &self,
        uid: u32,
        deadline: Duration,
        ask: impl FnOnce(Duration) -> HostResult,
    ) -> HostResult {
        let left = {
            let mut state = self.lock_registry();
            let own = *state.budgets.entry(uid).or_insert(USER_BUDGET);
            let all = if is_system_user(uid) {
                USER_BUDGET
            } else {
                state.total
            };
            if own.is_spent() || all.is_spent() {
                let says =
                    format!("the limit on time or bytes for reads as user {uid} was reached");
                return Err(HostError::new(HostErrorKind::TimedOut, says));
            }
            own.time.min(all.time)
        };
        let began = Instant::now();
        let answer = ask(deadline.min(left));
        let (time, bytes) = (began.elapsed(), answer.as_ref().map_or(0, Vec::len));
        let mut state = self.lock_registry();
        if !is_system_user(uid) {
            state.total.spend(time, bytes);
        }
        state
            .budgets
            .entry(uid)
            .or_insert(USER_BUDGET)
            .spend(time, bytes);
        answer
    }

    fn get_or_create_child(&self, uid: u32, question: &Question) -> Arc<ChildHost> {
        let mut state = self.lock_registry();
        let inside = question.path().and_then(|path| process_root_pid(path));
        let process = inside.or_else(|| {
            state
                .processes
                .iter()
                .find(|(_, of)| **of == uid)
                .map(|(pid, _)| *pid)
        });
        // The child connects as root and can use the connection only once, so the question gets its
        // own child.
        let socket = match question {
            Question::MysqlSettings(path) => Some(match inside {
                Some(pid) => strip_process_root(path, pid).as_path().into(),
                None => path.as_path().into(),
            }),
            _ => None,
        };
        let owner = ServerOwner {
            uid,
            process,
            inside: inside.is_some(),
            socket,
        };
        let program = &self.program;
        let new =
            |owner: &ServerOwner| Arc::new(ChildHost::new(program.clone(), Some(owner.clone())));
        let child = Arc::clone(state.children.entry(owner.clone()).or_insert_with_key(new));
        // Servers are read one after another, so idle children of earlier servers only take up
        // memory.
        let before = state
            .children
            .iter()
            .filter(|(other, _)| other.process != owner.process);
        before.for_each(|(_, child)| child.stop_if_idle());
        child
    }
}

fn is_system_user(uid: u32) -> bool {
    uid <= LAST_SYSTEM_USER || uid == NOBODY
}

pub fn strip_process_root(path: &Path, pid: u32) -> PathBuf {
    let within = path
        .strip_prefix(format!("/proc/{pid}/root"))
        .unwrap_or(path);
    Path::new("/").join(within)
}

/// The process id in a path below a process's root directory, such as 7 for `/proc/7/root/srv`.
pub fn process_root_pid(path: &Path) -> Option<u32> {
    pid_of_proc_path(path).filter(|_| path.iter().nth(3).is_some_and(|name| name == "root"))
}

/// The process id in a path below /proc, such as 7 for `/proc/7/mountinfo`.
pub fn pid_of_proc_path(path: &Path) -> Option<u32> {
    let mut names = path.components().skip(1).map(Component::as_os_str);
    let in_proc = names.next()? == "proc";
    names.next()?.to_str()?.parse().ok().filter(|_| in_proc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_root_paths_yield_their_pid() {
        assert_eq!(process_root_pid(Path::new("/proc/7/root/srv/pg")), Some(7));
        assert_eq!(process_root_pid(Path::new("/proc/7/root")), Some(7));
        for other in [
            "/proc/7/cwd",
            "/proc/self/root",
            "/srv/proc/7/root",
            "/proc",
        ] {
            assert_eq!(process_root_pid(Path::new(other)), None, "{other}");
        }
        assert_eq!(pid_of_proc_path(Path::new("/proc/7/mountinfo")), Some(7));
        assert_eq!(pid_of_proc_path(Path::new("/proc/sys/kernel/ostype")), None);
        assert_eq!(
            strip_process_root(Path::new("/proc/7/root/run/x"), 7),
            Path::new("/run/x")
        );
    }

    #[test]
    fn spent_user_budget_blocks_no_other_user() {
        let owners = OwnerChildHosts::new(PathBuf::from("/bin/true"));
        let told = |uid, bytes| {
            owners.run_within_owner_budget(uid, Duration::from_secs(1), |_| Ok(vec![0; bytes]))
        };
        assert!(told(5, USER_BUDGET.bytes).is_ok());
        assert_eq!(told(5, 1).unwrap_err().kind, HostErrorKind::TimedOut);
        assert!(told(6, 1).is_ok());
        for uid in 4000..4100 {
            let _ = told(uid, USER_BUDGET.bytes);
        }
        assert_eq!(
            told(5000, 1).unwrap_err().kind,
            HostErrorKind::TimedOut,
            "all together have a bound too"
        );
        assert!(
            told(7, 1).is_ok() && told(NOBODY, 1).is_ok(),
            "accounts of the system do not share it"
        );
    }

    #[test]
    fn server_users_are_recorded_and_root_is_refused() {
        let owners = OwnerChildHosts::new(PathBuf::from("/bin/true"));
        owners.record_server_processes(b"10 1 26 postgres\n11 1 - mysqld\nmore 26 5\nnoise\n");
        assert_eq!(
            (owners.server_process_uid(10), owners.server_process_uid(11)),
            (Some(26), None)
        );
        let miss = owners
            .ask_as_owner(0, &Question::List("/root".into()), Duration::from_secs(1))
            .unwrap_err();
        assert_eq!(miss.kind, HostErrorKind::Denied);
    }
}
