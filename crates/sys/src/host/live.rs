//! The running host, as opposed to a capture.
//!
//! Every question is answered by [`answer_in_this_process`]: here, or in the expendable child if
//! the answer may never arrive. Reads are bounded, and nothing is opened for writing. A `LiveHost`
//! reads the mount table only once, so each scan creates a new `LiveHost`.

pub mod commit_sampler;
mod content_scan;
mod conversation;
pub(super) mod files;
mod hang_risk;
pub(super) mod machine;
pub(super) mod mysql;
mod owners;
pub(super) mod postgres;
pub(super) mod processes;
pub mod programs;
mod superblock;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use files::PathHandle;
use hang_risk::MountHangRisks;
use nix::errno::Errno;
use owners::OwnerChildHosts;
use rustix::fs::{FileType, OFlags};

pub use machine::enter_init_mount_namespace;

use super::child::ChildHost;
use super::redact::{self, PlainFileKind};
use super::{ConfigDialect, Host, HostError, HostErrorKind, HostResult, Question, ScanDepth};
use crate::subprocess::OWN_PROGRAM;
use crate::text;
use walwise_model::parallel::lock;

const READ_DEADLINE: Duration = Duration::from_secs(2);

/// Deadline for scanning a device: a sleeping disk takes seconds to spin up.
const DEVICE_DEADLINE: Duration = Duration::from_secs(10);

/// Extra time for a child that scans a device, about the duration of one read.
const READ_GRACE: Duration = Duration::from_millis(500);

/// Total time for scanning devices that the user did not name.
const BRIEF_SCANS_TOTAL: Duration = Duration::from_secs(5);

/// Deadline for a child that queries a server; longer than the child's own deadline, so that the
/// child can still report an error.
const SERVER_DEADLINE: Duration = Duration::from_secs(3);

/// Deadline for a child that runs a program; longer than the child's own deadline, so that the
/// child can still report an error.
const PROGRAM_DEADLINE: Duration = Duration::from_secs(6);

pub struct LiveHost {
    child: ChildHost,
    owners: OwnerChildHosts,
    mounts: OnceLock<MountHangRisks>,
    brief_scan_time: Mutex<Duration>,
    descriptor_failures: AtomicUsize,
}

impl Default for LiveHost {
    fn default() -> Self {
        Self::new()
    }
}

impl LiveHost {
    #[cfg(any(test, feature = "testing"))]
    pub fn device_signature_names() -> Vec<&'static str> {
        content_scan::magic::device_signature_names()
    }

    /// The names of the signatures in parts of a device. Each part is an offset and the bytes at
    /// that offset; `size` is the size of the device in bytes.
    pub fn identify_device_signatures(
        size: u64,
        parts: impl IntoIterator<Item = (u64, Vec<u8>)>,
    ) -> Vec<String> {
        let parts = parts.into_iter().collect();
        content_scan::magic::DeviceRegions { size, parts }.detect_signature_names()
    }

    /// Creates a host that sends questions that may hang to a child. The child is this program
    /// again; its `main` must call [`super::reader::serve`].
    pub fn new() -> Self {
        Self::with_child_program(PathBuf::from(OWN_PROGRAM))
    }

    /// Like [`LiveHost::new`], but the child runs `program`, which must call
    /// [`super::reader::serve`]. Test programs do not call it, so tests name another program.
    pub fn with_child_program(program: PathBuf) -> Self {
        let owners = OwnerChildHosts::new(program.clone());
        Self {
            child: ChildHost::new(program, None),
            owners,
            mounts: OnceLock::new(),
            brief_scan_time: Mutex::default(),
            descriptor_failures: AtomicUsize::default(),
        }
    }

    /// Like [`LiveHost::new`], but starts the child in the background immediately. A full scan
    /// always needs the child.
    pub fn with_started_child() -> Self {
        let host = Self::new();
        host.child.prestart_child();
        host
    }

    /// The deadline for a question that may hang and is therefore sent to a child. `None` if the
    /// question cannot hang.
    fn deadline_if_question_may_hang(&self, question: &Question) -> Option<Duration> {
        match question.strip_as_user() {
            // Connecting blocks indefinitely while the connection queue of a stopped server is
            // full.
            Question::PgSettings(_) | Question::MysqlSettings(_) => Some(SERVER_DEADLINE),
            Question::Superblock(..) => Some(DEVICE_DEADLINE),
            Question::Content(_, ScanDepth::Brief) => Some(content_scan::BRIEF_TIME + READ_GRACE),
            Question::Content(_, ScanDepth::Thorough) => {
                Some(content_scan::THOROUGH_TIME + READ_GRACE)
            }
            // Each of these may block: command line and environment come from the process's memory,
            // whose mappings may never respond. Open files, and the key files that crypttab names,
            // may be on any file system. A user may have filled a directory of log files.
            Question::CommandLine(_)
            | Question::Environment(_)
            | Question::Tablespaces(_)
            | Question::Config(_, ConfigDialect::Crypttab)
            | Question::LogFiles(..) => Some(READ_DEADLINE),
            other => other
                .path()
                .is_some_and(|path| self.mount_hang_risks().path_may_hang(path))
                .then_some(READ_DEADLINE),
        }
    }

    /// Answers a question on behalf of a user, through a child that becomes that user. Only root
    /// can start such a child; any other user gets the answer with their own rights.
    fn ask_as_user(&self, uid: u32, inner: &Question, question: &Question) -> HostResult {
        if !nix::unistd::geteuid().is_root() {
            return self.ask_in_process_or_child(question);
        }
        let deadline = match inner {
            Question::Run(..) => PROGRAM_DEADLINE,
            other => self
                .deadline_if_question_may_hang(other)
                .unwrap_or(READ_DEADLINE),
        };
        self.owners.ask_as_owner(uid, inner, deadline)
    }

    fn ask_in_process_or_child(&self, question: &Question) -> HostResult {
        match self.deadline_if_question_may_hang(question) {
            Some(deadline) => self.child.ask(question, deadline),
            None => answer_in_this_process(question),
        }
    }

    /// Answers a scan of a device that the user did not name. Such scans run one at a time, within
    /// [`BRIEF_SCANS_TOTAL`] in total.
    fn ask_brief_scan(&self, question: &Question) -> HostResult {
        let mut spent = lock(&self.brief_scan_time);
        if *spent + content_scan::BRIEF_TIME > BRIEF_SCANS_TOTAL {
            return Err(HostError::new(
                HostErrorKind::TimedOut,
                "the time limit for disks not named on the command line was reached",
            ));
        }
        let begun = Instant::now();
        let answer = self.ask_in_process_or_child(question);
        *spent += begun.elapsed();
        answer
    }

    fn ask_within_owner_budget(&self, pid: u32, question: &Question) -> HostResult {
        let Some(uid) = self.owners.server_process_uid(pid) else {
            return self.ask_in_process_or_child(question);
        };
        self.owners
            .run_within_owner_budget(uid, READ_DEADLINE, |left| {
                match self.deadline_if_question_may_hang(question) {
                    Some(deadline) => self.child.ask(question, deadline.min(left)),
                    None => answer_in_this_process(question),
                }
            })
    }

    fn mount_hang_risks(&self) -> &MountHangRisks {
        self.mounts.get_or_init(|| {
            files::read_file_bounded(Path::new("/proc/self/mountinfo"))
                .map_or(MountHangRisks::for_unreadable_table(), |bytes| {
                    MountHangRisks::parse(&bytes)
                })
        })
    }
}

impl Host for LiveHost {
    fn ask(&self, question: &Question) -> HostResult {
        let answer = match question {
            Question::AsUser(uid, inner) => self.ask_as_user(*uid, inner, question),
            Question::Servers => self
                .ask_in_process_or_child(question)
                .inspect(|answer| self.owners.record_server_processes(answer)),
            Question::Content(_, ScanDepth::Brief) => self.ask_brief_scan(question),
            _ => match pid_whose_owner_is_charged(question) {
                Some(pid) => self.ask_within_owner_budget(pid, question),
                None => self.ask_in_process_or_child(question),
            },
        };
        if answer.as_ref().is_err_and(HostError::is_out_of_descriptors) {
            self.descriptor_failures.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    fn run_notes(&self) -> Vec<String> {
        let without = self.descriptor_failures.load(Ordering::Relaxed);
        let says = format!(
            "no file descriptor was left for {without} queries, so facts may be missing; raise `ulimit -n` and run \
             walwise again"
        );
        let descriptors = (without > 0).then_some(says);
        [self.child.timeout_notes(), self.owners.timeout_notes()]
            .concat()
            .into_iter()
            .chain(descriptors)
            .collect()
    }

    fn is_live(&self) -> bool {
        true
    }
}

/// The process to whose user the answer is charged, because an answer from the memory or open
/// files of a process may be large. `None` for other questions.
fn pid_whose_owner_is_charged(question: &Question) -> Option<u32> {
    match question {
        Question::CommandLine(pid) | Question::Environment(pid) | Question::Tablespaces(pid) => {
            Some(*pid)
        }
        Question::Read(path) => owners::pid_of_proc_path(path),
        _ => None,
    }
}

pub(super) fn answer_in_this_process(question: &Question) -> HostResult {
    use Question::{
        AsUser, CommandLine, Config, Content, Environment, Flags, Identity, IsEmpty, Link, List,
        LogFiles, MysqlSettings, PgSettings, ProcessStart, Read, RealPath, Resources, Run, Servers,
        Stat, StatFs, Superblock, Tablespaces, Uname, UserName,
    };
    match question {
        Read(path) => PlainFileKind::from_path(path)?.redact(files::read_file_bounded(path)?),
        List(path) => files::list_directory(path),
        IsEmpty(path) => files::directory_is_empty_answer(path),
        Link(path) => files::read_link(path),
        RealPath(path) => files::real_path(path),
        Stat(path) => files::stat(path),
        StatFs(path) => files::statfs(path),
        Flags(path) => files::inode_flags(path),
        LogFiles(path, kind) => files::log_file_stats(path, *kind),
        Config(path, dialect) => redact::redact_config_with_key_check(
            &files::open_config(path)?.read_config()?,
            *dialect,
            &files::is_persistent_key_file,
        ),
        Uname => Ok(machine::uname()),
        Identity => Ok(machine::euid_namespaces_and_root()),
        Resources => machine::usable_memory_and_cpus(),
        Servers => processes::list_server_processes(),
        ProcessStart(pid) => processes::process_start_time(*pid),
        Tablespaces(pid) => processes::list_open_system_tablespaces(*pid),
        CommandLine(pid) => processes::redacted_command_line(*pid),
        Environment(pid) => processes::redacted_environment(*pid),
        UserName(uid) => machine::user_name(*uid),
        Run(tool, arguments) => programs::run_tool(*tool, arguments)
            .map(|text| redact::redact_program_output(*tool, arguments, text)),
        Content(path, look) => content_scan::scan(path, *look),
        Superblock(path, kind) => superblock::read_superblock(path, *kind),
        PgSettings(_) | MysqlSettings(_) => Err(HostError::failed(
            "walwise queries a server only with the rights of the server's user",
        )),
        AsUser(uid, inner) => match &**inner {
            PgSettings(path) => postgres::query_settings(path, *uid),
            MysqlSettings(path) => mysql::query_settings(path, *uid),
            inner => answer_in_this_process(inner),
        },
    }
}

/// Opens the device for reading only. The path is first opened with O_PATH, because opening a tape
/// or a watchdog device already has an effect. The examined device is then opened, even if the path
/// has come to refer to another one.
fn open_block_device(path: &Path, also: OFlags) -> Result<File, HostError> {
    let held = PathHandle::open(path)?;
    if held.kind != FileType::BlockDevice {
        return Err(HostError::failed("not a block device"));
    }
    held.reopen_for_reading(also)
}

/// Whether a process holds the device exclusively (`O_EXCL`, open(2)). The check itself holds the
/// device for a moment, in which another process's attempt to hold it fails.
fn is_held_exclusively(path: &Path) -> Result<bool, HostError> {
    match open_block_device(path, OFlags::EXCL) {
        Ok(_) => Ok(false),
        Err(miss) if miss.detail == Errno::EBUSY.desc() => Ok(true),
        Err(miss) => Err(miss),
    }
}

/// Reason why a path without symbolic links cannot be trusted, such as `/x is not owned by root`.
/// `None` if root owns the file and every directory above it, and nobody else can write them.
pub fn untrusted_path_reason(path: &Path) -> io::Result<Option<String>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brief_scans_stop_when_their_total_time_is_spent() {
        let host = LiveHost::with_child_program("/nonexistent".into());
        let question = Question::Content("/dev/null".into(), ScanDepth::Brief);
        let asked = |spent: Duration| {
            *host.brief_scan_time.lock().unwrap() = spent;
            host.ask(&question).unwrap_err().kind
        };
        assert_ne!(asked(Duration::ZERO), HostErrorKind::TimedOut);
        assert_eq!(asked(BRIEF_SCANS_TOTAL), HostErrorKind::TimedOut);
    }
}
