//! The machine that walwise runs on.
//!
//! Every question is answered by [`answer`]: here, or in the expendable child, which runs the same
//! code, where the answer may never come. Reads are bounded and nothing is opened for writing. Each
//! scan makes a new `LiveHost`, because it reads the mount table only once.

mod client_protocol;
mod content;
mod device;
pub(super) mod files;
mod hang_risk;
pub(super) mod machine;
pub(super) mod mysql;
mod owners;
pub(super) mod postgres;
pub(super) mod processes;
mod superblock;
mod trust {
    //! Whether anyone but root could have put a file where it is, or could change it there.

    use std::fs;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use crate::text;

    /// The objection to a path without links: `/x is not owned by root`; `None` when it and every
    /// directory above it are owned by root, and writable by root alone.
    pub fn untrusted_reason(path: &Path) -> io::Result<Option<String>> {
        for path in path.ancestors() {
            let metadata = fs::symlink_metadata(path)?;
            let what = if metadata.uid() != 0 {
                "is not owned by root"
            } else if metadata.mode() & 0o022 != 0 {
                "is writable by users other than root"
            } else {
                continue;
            };
            return Ok(Some(format!(
                "{} {what}",
                text::display_safe(path.as_os_str().as_encoded_bytes())
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

use super::child::ChildHost;
use super::redact::{self, PlainFile};
use super::{Dialect, Host, HostError, HostErrorKind, Question, ScanDepth};
use crate::subprocess::OWN_PROGRAM;
use hang_risk::Mounts;
use owners::Owners;
pub use trust::untrusted_reason;

/// Deadline of a read that may hang.
const READ_DEADLINE: Duration = Duration::from_secs(2);

/// Deadline for scanning a device: a sleeping disk takes seconds to spin up.
const DEVICE_DEADLINE: Duration = Duration::from_secs(10);

/// Grace period of a child that scans a device: the time of one read.
const READ_GRACE: Duration = Duration::from_millis(500);

/// Total time for scanning devices that the user did not name.
const BRIEF_SCANS_TOTAL: Duration = Duration::from_secs(5);

/// Grace period for a question to a server, beyond the client's deadline.
const SERVER_DEADLINE: Duration = Duration::from_secs(3);

/// Grace period for a program that a child runs, beyond the child's deadline.
const PROGRAM_DEADLINE: Duration = Duration::from_secs(6);

/// The machine that walwise runs on.
pub struct LiveHost {
    child: ChildHost,
    owners: Owners,
    mounts: OnceLock<Mounts>,
    /// Time spent so far on devices that the user did not name.
    brief_scan_time: Mutex<Duration>,
    /// Questions that failed because no descriptor was left.
    descriptor_failures: AtomicUsize,
}

impl Default for LiveHost {
    fn default() -> Self {
        Self::new()
    }
}

impl LiveHost {
    #[cfg(any(test, feature = "testing"))]
    pub fn signatures() -> Vec<&'static str> {
        content::magic::signature_names()
    }

    /// The names of signatures in parts of a device of this size, each with the place where it
    /// begins.
    pub fn identify_signatures(
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
        Self::with_program(PathBuf::from(OWN_PROGRAM))
    }

    /// This machine, asked through children of another program that calls [`super::reader::serve`]:
    /// for tests, whose own program does not.
    pub fn with_program(program: PathBuf) -> Self {
        let owners = Owners::new(program.clone());
        let in_passing = Mutex::new(Duration::ZERO);
        Self {
            child: ChildHost::new(program, None),
            owners,
            mounts: OnceLock::new(),
            brief_scan_time: in_passing,
            descriptor_failures: AtomicUsize::new(0),
        }
    }

    /// The same, with the child started in the background for a full scan.
    pub fn with_started_child() -> Self {
        let host = Self::new();
        host.child.prestart();
        host
    }

    /// How long to wait in a child for the answer; `None` if the answer cannot hang.
    fn deadline(&self, question: &Question) -> Option<Duration> {
        match question.inner() {
            // Connecting blocks indefinitely while a stopped server's queue is full.
            Question::PgSettings(_) | Question::MysqlSettings(_) => Some(SERVER_DEADLINE),
            Question::Superblock(..) => Some(DEVICE_DEADLINE),
            // Its keys may lie anywhere.
            Question::Config(_, Dialect::Crypttab) => Some(READ_DEADLINE),
            Question::Content(_, ScanDepth::Brief) => Some(content::BRIEF_TIME + READ_GRACE),
            Question::Content(_, ScanDepth::Thorough) => Some(content::THOROUGH_TIME + READ_GRACE),
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

    /// Asks as a user. Only root can become another user; anyone else asks as themselves.
    fn ask_as(
        &self,
        uid: u32,
        inner: &Question,
        question: &Question,
    ) -> Result<Vec<u8>, HostError> {
        if !nix::unistd::geteuid().is_root() {
            return self.ask_here(question);
        }
        let deadline = match inner {
            Question::Run(..) => PROGRAM_DEADLINE,
            other => self.deadline(other).unwrap_or(READ_DEADLINE),
        };
        self.owners.ask(uid, inner, deadline)
    }

    fn ask_here(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        match self.deadline(question) {
            Some(deadline) => self.child.ask(question, deadline),
            None => answer(question),
        }
    }

    /// Scans a device that the user did not name, one at a time, within the total time.
    fn ask_brief_scan(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        let mut spent = self
            .brief_scan_time
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *spent + content::BRIEF_TIME > BRIEF_SCANS_TOTAL {
            return Err(HostError::new(
                HostErrorKind::TimedOut,
                "no time left for disks that were not named",
            ));
        }
        let begun = Instant::now();
        let answer = self.ask_here(question);
        *spent += begun.elapsed();
        answer
    }

    /// Asks about a process, charged to its user.
    fn ask_about_process(&self, pid: u32, question: &Question) -> Result<Vec<u8>, HostError> {
        let Some(uid) = self.owners.process_user(pid) else {
            return self.ask_here(question);
        };
        self.owners
            .with_budget(uid, READ_DEADLINE, |left| match self.deadline(question) {
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
        self.child.stop();
        self.owners.stop_children();
    }
}

impl Host for LiveHost {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        let answer = match question {
            Question::AsUser(uid, inner) => self.ask_as(*uid, inner, question),
            Question::Servers => self
                .ask_here(question)
                .inspect(|answer| self.owners.record_processes(answer)),
            Question::Content(_, ScanDepth::Brief) => self.ask_brief_scan(question),
            _ => match charged_process(question) {
                Some(pid) => self.ask_about_process(pid, question),
                None => self.ask_here(question),
            },
        };
        if answer.as_ref().is_err_and(HostError::is_out_of_descriptors) {
            self.descriptor_failures.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    fn notes(&self) -> Vec<String> {
        let without = self.descriptor_failures.load(Ordering::Relaxed);
        let says = format!(
            "no file descriptor was left for {without} answers, so facts may be missing; raise `ulimit -n` and run \
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

/// The process whose memory or files a question reads: they may be large, so its user is charged.
fn charged_process(question: &Question) -> Option<u32> {
    match question {
        Question::CommandLine(pid) | Question::Environment(pid) | Question::Tablespaces(pid) => {
            Some(*pid)
        }
        Question::Read(path) => owners::proc_pid(path),
        _ => None,
    }
}

/// Answers in this process, however long that takes.
pub(super) fn answer(question: &Question) -> Result<Vec<u8>, HostError> {
    match question {
        Question::Read(path) => PlainFile::from_path(path)?.redact(files::read(path)?),
        Question::List(path) => files::list(path),
        Question::IsEmpty(path) => files::is_empty(path),
        Question::Link(path) => files::link(path),
        Question::RealPath(path) => files::real_path(path),
        Question::Stat(path) => files::stat(path),
        Question::StatFs(path) => files::statfs(path),
        Question::Flags(path) => files::flags(path),
        Question::Config(path, dialect) => match files::read_configuration(path, |_| false)? {
            files::Configuration::Read(_, bytes) => {
                redact::config_with_key_check(&bytes, *dialect, &files::is_key_file)
            }
            files::Configuration::AlreadyRead(_) => {
                Err(HostError::new(HostErrorKind::Failed, "was read before"))
            }
        },
        Question::Uname => Ok(machine::uname()),
        Question::Identity => Ok(machine::identity()),
        Question::Resources => machine::resources(),
        Question::Servers => processes::servers(),
        Question::ProcessStart(pid) => processes::process_start(*pid),
        Question::Tablespaces(pid) => processes::tablespaces(*pid),
        Question::CommandLine(pid) => processes::command_line(*pid),
        Question::Environment(pid) => processes::environment(*pid),
        Question::UserName(uid) => machine::user_name(*uid),
        Question::Run(tool, arguments) => programs::run(*tool, arguments)
            .map(|text| redact::program_output(*tool, arguments, text)),
        Question::Content(path, look) => content::scan(path, *look),
        Question::Superblock(path, kind) => superblock::answer(path, *kind),
        Question::PgSettings(path) => postgres::settings(path, None),
        Question::MysqlSettings(path) => mysql::settings(path, None),
        Question::AsUser(uid, inner) => match &**inner {
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
        let host = LiveHost::with_program("/nonexistent".into());
        let question = Question::Content("/dev/null".into(), ScanDepth::Brief);
        let asked = |spent: Duration| {
            *host.brief_scan_time.lock().unwrap() = spent;
            host.ask(&question).unwrap_err().kind
        };
        assert_ne!(asked(Duration::ZERO), HostErrorKind::TimedOut);
        assert_eq!(asked(BRIEF_SCANS_TOTAL), HostErrorKind::TimedOut);
    }
}
