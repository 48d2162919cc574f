//! The machine that walwise runs on.
//!
//! Every question is answered by [`answer`]: here or, where the answer may never come, in the
//! expendable child, which runs the same code. Reads are bounded and nothing is opened for writing.
//! Each scan makes a new `LiveHost`, because it reads the mount table only once.

mod content;
mod conversation;
mod device;
pub(super) mod files;
mod hang;
pub(super) mod machine;
pub(super) mod mysql;
mod owners;
pub(super) mod postgres;
pub(super) mod processes;
mod superblock;
mod trust {
    //! Whether anybody but root could have put a file where it is, or could change it there.

    use std::fs;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use crate::text;

    /// The objection to a path without links: `/x is not owned by root`; `None` when it and every
    /// directory above it are owned by root, and writable by root alone.
    pub fn doubt(path: &Path) -> io::Result<Option<String>> {
        for path in path.ancestors() {
            let metadata = fs::symlink_metadata(path)?;
            let what = if metadata.uid() != 0 {
                "is not owned by root"
            } else if metadata.mode() & 0o022 != 0 {
                "can be written by others than root"
            } else {
                continue;
            };
            return Ok(Some(format!(
                "{} {what}",
                text::safe(path.as_os_str().as_encoded_bytes())
            )));
        }
        Ok(None)
    }
}
pub mod programs;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::child::Expendable;
use super::redact::{self, PlainFile};
use super::{Dialect, Host, Look, Miss, MissKind, Question};
use crate::subprocess::PROGRAM;
use hang::Mounts;
use owners::Owners;
pub use trust::doubt;

/// Deadline of a read that may hang.
const READ_DEADLINE: Duration = Duration::from_secs(2);

/// Deadline of reading a device: a disk that sleeps takes seconds to spin up.
const DEVICE_DEADLINE: Duration = Duration::from_secs(10);

/// The grace period of a child that reads a device: the duration of one read that has begun.
const MORE: Duration = Duration::from_millis(500);

/// The total time for reading devices that the user did not name.
const PASSING_TOGETHER: Duration = Duration::from_secs(5);

/// Grace period for a question to a server, beyond the client's own deadline.
const SERVER_DEADLINE: Duration = Duration::from_secs(3);

/// Grace period for a program that a child runs, beyond the child's own deadline.
const PROGRAM_DEADLINE: Duration = Duration::from_secs(6);

/// The machine that walwise runs on.
pub struct LiveHost {
    child: Expendable,
    owners: Owners,
    mounts: OnceLock<Mounts>,
    /// Time spent so far on devices that the user did not name.
    in_passing: Mutex<Duration>,
    /// The number of questions for whose answers no descriptor was left.
    without_descriptor: AtomicUsize,
}

impl Default for LiveHost {
    fn default() -> Self {
        Self::new()
    }
}

impl LiveHost {
    /// The name of every signature that it knows.
    #[cfg(any(test, feature = "testing"))]
    pub fn signatures() -> Vec<&'static str> {
        content::magic::all()
    }

    /// The names of signatures in parts of a device of this size, each with the place where it
    /// begins.
    pub fn signatures_in(
        size: u64,
        parts: impl IntoIterator<Item = (u64, Vec<u8>)>,
    ) -> Vec<String> {
        let mut regions = content::magic::Regions::new(size);
        parts
            .into_iter()
            .for_each(|(at, bytes)| regions.add(at, bytes));
        regions.names()
    }

    /// This machine; questions that may hang go to a child of this very program, which must call
    /// [`super::reader::serve`] in its `main`.
    pub fn new() -> Self {
        Self::asking_through(PathBuf::from(PROGRAM))
    }

    /// This machine, asked through children of another program that calls [`super::reader::serve`]:
    /// for tests, whose own program does not.
    pub fn asking_through(program: PathBuf) -> Self {
        let owners = Owners::new(program.clone());
        let in_passing = Mutex::new(Duration::ZERO);
        Self {
            child: Expendable::new(program, None),
            owners,
            mounts: OnceLock::new(),
            in_passing,
            without_descriptor: AtomicUsize::new(0),
        }
    }

    /// The same, with the child for a full scan started in the background.
    pub fn to_look() -> Self {
        let host = Self::new();
        host.child.begin();
        host
    }

    /// How long to wait in a child for the answer; `None` if the answer cannot hang.
    fn deadline(&self, question: &Question) -> Option<Duration> {
        match question.bare() {
            // Connecting blocks indefinitely while a stopped server's queue is full.
            Question::PgSettings(_) | Question::MysqlSettings(_) => Some(SERVER_DEADLINE),
            Question::Superblock(..) => Some(DEVICE_DEADLINE),
            // Its keys may lie anywhere.
            Question::Config(_, Dialect::Crypttab) => Some(READ_DEADLINE),
            Question::Content(_, Look::Passing) => Some(content::PASSING + MORE),
            Question::Content(_, Look::Named) => Some(content::NAMED + MORE),
            // The kernel reads these from the memory of that process, whose mappings may never
            // respond; its open files may lie anywhere.
            Question::CommandLine(_) | Question::Environment(_) | Question::Tablespaces(_) => {
                Some(READ_DEADLINE)
            }
            other => other
                .path()
                .is_some_and(|path| self.mounts().may_hang(path))
                .then_some(READ_DEADLINE),
        }
    }

    /// Asks as a user. Only root can become another user; any other user asks as himself.
    fn ask_as(&self, uid: u32, inner: &Question, question: &Question) -> Result<Vec<u8>, Miss> {
        if !nix::unistd::geteuid().is_root() {
            return self.ask_here(question);
        }
        let deadline = match inner {
            Question::Run(..) => PROGRAM_DEADLINE,
            other => self.deadline(other).unwrap_or(READ_DEADLINE),
        };
        self.owners.ask(uid, inner, deadline)
    }

    fn ask_here(&self, question: &Question) -> Result<Vec<u8>, Miss> {
        match self.deadline(question) {
            Some(deadline) => self.child.ask(question, deadline),
            None => answer(question),
        }
    }

    /// Reads a device that the user did not name; one device at a time, within the total time.
    fn ask_in_passing(&self, question: &Question) -> Result<Vec<u8>, Miss> {
        let mut spent = self
            .in_passing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *spent + content::PASSING > PASSING_TOGETHER {
            return Err(Miss::new(
                MissKind::TimedOut,
                "the time for disks that were not named is over",
            ));
        }
        let begun = Instant::now();
        let answer = self.ask_here(question);
        *spent += begun.elapsed();
        answer
    }

    /// Asks about a process, at the expense of its user.
    fn ask_of_process(&self, pid: u32, question: &Question) -> Result<Vec<u8>, Miss> {
        let Some(uid) = self.owners.user_of(pid) else {
            return self.ask_here(question);
        };
        self.owners
            .charged(uid, READ_DEADLINE, |left| match self.deadline(question) {
                Some(deadline) => self.child.ask(question, deadline.min(left)),
                None => answer(question),
            })
    }

    fn mounts(&self) -> &Mounts {
        self.mounts.get_or_init(|| {
            files::read(Path::new("/proc/self/mountinfo"))
                .map_or(Mounts::unreadable(), |bytes| Mounts::parse(&bytes))
        })
    }
}

impl Drop for LiveHost {
    fn drop(&mut self) {
        self.child.end();
        self.owners.end();
    }
}

impl Host for LiveHost {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss> {
        let answer = match question {
            Question::As(uid, inner) => self.ask_as(*uid, inner, question),
            Question::Servers => self
                .ask_here(question)
                .inspect(|answer| self.owners.learn(answer)),
            Question::Content(_, Look::Passing) => self.ask_in_passing(question),
            _ => match process_of(question) {
                Some(pid) => self.ask_of_process(pid, question),
                None => self.ask_here(question),
            },
        };
        if answer.as_ref().is_err_and(Miss::is_out_of_descriptors) {
            self.without_descriptor.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    fn notes(&self) -> Vec<String> {
        let without = self.without_descriptor.load(Ordering::Relaxed);
        let says = format!(
            "no file descriptor was left for {without} answers, so that things may be missing here; raise `ulimit -n` and run \
             walwise again"
        );
        let descriptors = (without > 0).then_some(says);
        [self.child.notes(), self.owners.notes()]
            .concat()
            .into_iter()
            .chain(descriptors)
            .collect()
    }

    fn is_live(&self) -> bool {
        true
    }
}

/// The process whose contents a question asks for: they may be large, and its user pays for them.
fn process_of(question: &Question) -> Option<u32> {
    match question {
        Question::CommandLine(pid) | Question::Environment(pid) | Question::Tablespaces(pid) => {
            Some(*pid)
        }
        Question::Read(path) => owners::process_in(path),
        _ => None,
    }
}

/// Answers a question in this process, however long that takes.
pub(super) fn answer(question: &Question) -> Result<Vec<u8>, Miss> {
    match question {
        Question::Read(path) => PlainFile::at(path)?.leaving(files::read(path)?),
        Question::List(path) => files::list(path),
        Question::Empty(path) => files::is_empty(path),
        Question::Link(path) => files::link(path),
        Question::RealPath(path) => files::real_path(path),
        Question::Stat(path) => files::stat(path),
        Question::StatFs(path) => files::statfs(path),
        Question::Flags(path) => files::flags(path),
        Question::Config(path, dialect) => match files::configuration(path, |_| false)? {
            files::Configuration::Read(_, bytes) => {
                redact::config_beside(&bytes, *dialect, &files::is_key)
            }
            files::Configuration::Known(_) => {
                Err(Miss::new(MissKind::Failed, "is known and not told"))
            }
        },
        Question::Uname => Ok(machine::uname()),
        Question::Identity => Ok(machine::identity()),
        Question::Summary => machine::summary(),
        Question::Servers => processes::servers(),
        Question::Started(pid) => processes::started(*pid),
        Question::Tablespaces(pid) => processes::tablespaces(*pid),
        Question::CommandLine(pid) => processes::command_line(*pid),
        Question::Environment(pid) => processes::environment(*pid),
        Question::UserName(uid) => machine::user_name(*uid),
        Question::Run(tool, arguments) => {
            programs::run(*tool, arguments).map(|text| redact::printed(*tool, arguments, text))
        }
        Question::Content(path, look) => content::content(path, *look),
        Question::Superblock(path, kind) => superblock::answer(path, *kind),
        Question::PgSettings(path) => postgres::settings(path, None),
        Question::MysqlSettings(path) => mysql::settings(path, None),
        Question::As(uid, inner) => match &**inner {
            Question::PgSettings(path) => postgres::settings(path, Some(*uid)),
            Question::MysqlSettings(path) => mysql::settings(path, Some(*uid)),
            inner => answer(inner),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_that_nobody_named_are_read_while_there_is_time_for_all_of_them() {
        let host = LiveHost::asking_through("/nonexistent".into());
        let question = Question::Content("/dev/null".into(), Look::Passing);
        let asked = |spent: Duration| {
            *host.in_passing.lock().unwrap() = spent;
            host.ask(&question).unwrap_err().kind
        };
        assert_ne!(asked(Duration::ZERO), MissKind::TimedOut);
        assert_eq!(asked(PASSING_TOGETHER), MissKind::TimedOut);
    }
}
