//! The only interface through which walwise reads the host system. A live, recorded or recording
//! host answers [`Question`]s, so every answer can be captured, reviewed and replayed.
//!
//! Answers are bytes or errors, which the collectors interpret. Sources that may hold secrets have
//! separate questions, whose answers contain only allow-listed keys. An expendable child reads
//! files on network and FUSE file systems, where reads may hang.

mod caching_host;
pub mod capture_format;
pub mod child;
mod content_scan;
mod edited_host;
mod live;
mod log_files;
mod mask;
pub mod pg_settings_lines;
mod question;
pub mod reader;
mod recorded_host;
pub mod redact;
mod stat;
mod timestamp;
mod tool;
mod trial_tool;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use walwise_model::facts::choice;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use crate::limits::SubjectLimits;
use crate::subprocess::MessageBytes;
use crate::text::{self, bytes};

pub use caching_host::CachingHost;
pub use content_scan::{ContentScan, ScanDepth};
pub use edited_host::{AnswerEdit, EditedHost, EditedLinesByQuestion};
pub use live::{LiveHost, commit_sampler, enter_init_mount_namespace, untrusted_path_reason};
pub use log_files::{LogFileKind, LogFileStats};
pub use question::Question;
pub use recorded_host::RecordedHost;
pub use stat::{Stat, StatFs};
pub use timestamp::HostTimestamp;
pub use tool::{Tool, is_loop_device_path};
pub use trial_tool::TrialTool;

/// User and group id of `nobody`. The kernel also reports this id for users and groups that are not
/// mapped in this namespace (overflowuid and overflowgid).
pub const NOBODY: u32 = 65534;

/// The last user id that distributions give to accounts of services (SYS_UID_MAX of login.defs(5)).
pub const LAST_SYSTEM_USER: u32 = 999;

choice! {
    /// The syntax of a configuration file, which decides the keys that an answer may contain.
    pub enum ConfigDialect {
        /// Storage settings and includes of postgresql.conf and postgresql.auto.conf.
        Postgres = "postgres",
        /// Option files of MySQL and MariaDB (my.cnf): `include`, `includedir`, and storage settings of
        /// the groups that servers read, as `group.name`.
        Mysql = "mysql",
        /// mysqld-auto.cnf, in which SET PERSIST of MySQL stores settings: storage settings as
        /// `persisted.name`.
        MysqlPersisted = "mysql-persisted",
        /// A service unit (systemd.service(5)), reduced to `pgdata` from Environment, `data` from `-D`
        /// in ExecStart, and `user`.
        Service = "service",
        /// fstab(5), reduced to device, mount point, type and known options.
        Fstab = "fstab",
        /// A mount unit (systemd.mount(5)), reduced to What, Where, Type and Options.
        MountUnit = "mount-unit",
        /// The kernel command line, reduced to root, rootfstype, rootflags, elevator, resume, and
        /// devices that the boot waits for. Other parameters that mount or unlock something are reduced
        /// to names.
        KernelCommandLine = "kernel-command-line",
        /// crypttab(5), reduced to name, device, kind of key, whether the key exists, and known
        /// options. The path of a key is never kept.
        Crypttab = "crypttab",
    }

    pub enum SuperblockKind {
        Ext = "ext",
        Xfs = "xfs",
    }

    #[derive(Serialize, Deserialize)]
    pub enum HostErrorKind {
        Absent = "absent",
        Denied = "denied",
        /// No answer arrived before the deadline, or a time or size budget was used up.
        TimedOut = "timed-out",
        NotCollected = "not-collected",
        /// Any other error; [`HostError::detail`] describes it.
        Failed = "failed",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostError {
    pub kind: HostErrorKind,
    pub detail: String,
}

/// The answer to a question as bytes, or the error that prevented an answer.
pub type HostResult = Result<Vec<u8>, HostError>;

impl HostError {
    pub fn is_absent(&self) -> bool {
        self.kind == HostErrorKind::Absent
    }

    pub fn is_eio(&self) -> bool {
        *self == Errno::EIO.into()
    }

    /// Whether the call failed with EPERM. Root gets EPERM too if a container or a security policy
    /// forbids the call.
    pub fn is_eperm(&self) -> bool {
        *self == Errno::EPERM.into()
    }

    /// Whether the process (EMFILE) or the system (ENFILE) was out of file descriptors. The detail
    /// is searched, because a child may report the error as text.
    pub(crate) fn is_out_of_descriptors(&self) -> bool {
        let says = |error: Errno| self.detail.contains(error.desc());
        self.kind == HostErrorKind::Failed && (says(Errno::EMFILE) || says(Errno::ENFILE))
    }

    pub fn failed(detail: impl Into<String>) -> Self {
        Self::new(HostErrorKind::Failed, detail)
    }

    pub fn denied(detail: impl Into<String>) -> Self {
        Self::new(HostErrorKind::Denied, detail)
    }

    pub fn new(kind: HostErrorKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}

impl From<std::io::Error> for HostError {
    fn from(error: std::io::Error) -> Self {
        let errno = error.raw_os_error().map(Errno::from_raw);
        let kind = match errno {
            Some(Errno::ENOENT | Errno::ENOTDIR | Errno::ENODEV | Errno::ENXIO | Errno::ESRCH) => {
                HostErrorKind::Absent
            }
            Some(Errno::EACCES | Errno::EPERM) => HostErrorKind::Denied,
            _ => HostErrorKind::Failed,
        };
        Self::new(
            kind,
            errno.map_or_else(|| error.to_string(), |errno| errno.desc().to_owned()),
        )
    }
}

impl From<rustix::io::Errno> for HostError {
    fn from(error: rustix::io::Errno) -> Self {
        std::io::Error::from(error).into()
    }
}

impl From<Errno> for HostError {
    fn from(error: Errno) -> Self {
        std::io::Error::from(error).into()
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

pub trait Host: Sync {
    /// Answers the question, in the format described at its variant of [`Question`].
    fn ask(&self, question: &Question) -> HostResult;

    /// Notes about the run, such as abandoned reads and unreadable lines of a capture.
    fn run_notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Paths in a capture that may be the masked form of this path. Empty if the capture has the
    /// path itself.
    fn possible_masked_paths(&self, _path: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    fn subject_count_limits(&self) -> SubjectLimits {
        SubjectLimits::LIVE
    }

    fn is_live(&self) -> bool {
        false
    }

    fn read(&self, path: &Path) -> HostResult {
        self.ask(&Question::Read(path.to_owned()))
    }

    fn read_attribute(&self, path: &Path) -> Result<String, HostError> {
        let bytes = self.read(path)?;
        parse_attribute_line(path, &bytes).map(|line| text::display_safe(line.trim_ascii()))
    }

    fn list_directory(&self, path: &Path) -> Result<Vec<OsString>, HostError> {
        let names = self.ask(&Question::List(path.to_owned()))?;
        Ok(names
            .split(|b| *b == 0)
            .filter(|n| !n.is_empty())
            .map(|n| OsString::from_vec(n.to_vec()))
            .collect())
    }

    fn is_directory_empty(&self, path: &Path) -> Result<bool, HostError> {
        match self.ask(&Question::IsEmpty(path.to_owned()))?.trim_ascii() {
            b"yes" => Ok(true),
            b"no" => Ok(false),
            _ => Err(HostError::failed("the answer is neither yes nor no")),
        }
    }

    fn link_target(&self, path: &Path) -> Result<PathBuf, HostError> {
        path_from_answer(self.ask(&Question::Link(path.to_owned()))?)
    }

    /// Resolves all symbolic links, as realpath(3). An answer that is not absolute is an error.
    fn real_path(&self, path: &Path) -> Result<PathBuf, HostError> {
        let real = path_from_answer(self.ask(&Question::RealPath(path.to_owned()))?)?;
        if real.is_absolute() {
            Ok(real)
        } else {
            Err(HostError::failed("the answer is not an absolute path"))
        }
    }

    /// Symbolic links are followed.
    fn stat(&self, path: &Path) -> Result<Stat, HostError> {
        Stat::decode(&self.ask(&Question::Stat(path.to_owned()))?)
    }

    fn statfs(&self, path: &Path) -> Result<StatFs, HostError> {
        StatFs::decode(&self.ask(&Question::StatFs(path.to_owned()))?)
    }

    fn log_file_stats(&self, path: &Path, kind: LogFileKind) -> Result<LogFileStats, HostError> {
        LogFileStats::decode(&self.ask(&Question::LogFiles(path.to_owned(), kind))?)
    }

    fn inode_flags(&self, path: &Path) -> Result<u32, HostError> {
        let answer = self.ask(&Question::Flags(path.to_owned()))?;
        bytes::parse(answer.trim_ascii())
            .ok_or_else(|| HostError::failed("the inode flags are not a number"))
    }

    fn process_start_time(&self, pid: u32) -> Result<HostTimestamp, HostError> {
        let answer = self.ask(&Question::ProcessStart(pid))?;
        bytes::parse(answer.trim_ascii())
            .map(HostTimestamp::from_unix_nanos)
            .ok_or_else(|| HostError::failed("the start time is not a number"))
    }

    fn config_directives(
        &self,
        path: &Path,
        dialect: ConfigDialect,
    ) -> Result<Vec<ConfigDirective>, HostError> {
        ConfigDirective::decode_all(&self.ask(&Question::Config(path.to_owned(), dialect))?)
    }

    fn scan_device(&self, device: &Path, look: ScanDepth) -> Result<ContentScan, HostError> {
        ContentScan::decode(&self.ask(&Question::Content(device.to_owned(), look))?)
    }

    fn run_tool(&self, tool: Tool, arguments: &[&str]) -> HostResult {
        self.ask(&Question::Run(
            tool,
            arguments.iter().map(|&a| a.to_owned()).collect(),
        ))
    }
}

/// Checks that an attribute file holds one complete line: UTF-8, without control characters except
/// tabs. In sysfs and /proc/version, a missing newline at the end means that the line was cut
/// (Documentation/filesystems/sysfs.rst; `sysfs_emit`; fs/proc/version.c). Only a virtio disk
/// prints its serial number without a newline (drivers/block/virtio_blk.c, `serial_show`).
fn parse_attribute_line<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b [u8], HostError> {
    let broken = |what: &str| Err(HostError::failed(what));
    let ended = bytes.strip_suffix(b"\n");
    let line = ended.unwrap_or(bytes);
    if line.contains(&b'\n') {
        return broken("the file has several lines");
    }
    let is_text =
        str::from_utf8(line).is_ok_and(|line| !line.chars().any(|c| c.is_control() && c != '\t'));
    if !is_text {
        return broken("the file is not text");
    }
    let is_bare = path.ends_with("serial") && !path.ends_with("device/serial");
    let is_ended = path.starts_with("/sys") || path == Path::new("/proc/version");
    if ended.is_none() && is_ended && !is_bare {
        return broken(if line.is_empty() {
            "the file is empty"
        } else {
            "the file does not end with a newline"
        });
    }
    Ok(line)
}

fn path_from_answer(bytes: Vec<u8>) -> Result<PathBuf, HostError> {
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(HostError::failed("the answer is not a path"));
    }
    Ok(path_from_bytes(bytes))
}

/// One allow-listed setting of a configuration file. In fstab, the key is the mount point; the
/// value holds device, type and options, separated by tabs and still escaped as in fstab(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigDirective {
    /// Line number in the file, counted from one.
    pub line: u32,
    /// Name of the setting, in lower case except for a MySQL group before the dot. Includes
    /// (`include`, `include_dir`, `include_if_exists`) are keys too.
    pub key: Vec<u8>,
    /// Value of the setting, without quotes.
    pub value: Vec<u8>,
    /// Number of lines with this key since the last include, up to and including this line.
    pub occurrences: u32,
}

impl ConfigDirective {
    pub fn new(line: u32, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self {
            line,
            key: key.into(),
            value: value.into(),
            occurrences: 1,
        }
    }

    /// Encodes the setting as one line: line number, key and value, separated by tabs, with key and
    /// value display-safe. If the key occurs more than once, the number of occurrences follows the
    /// line number.
    pub fn encode(&self) -> Vec<u8> {
        let times = match self.occurrences {
            ..=1 => String::new(),
            times => format!(" {times}"),
        };
        format!(
            "{}{times}\t{}\t{}\n",
            self.line,
            text::display_safe(&self.key),
            text::display_safe(&self.value)
        )
        .into_bytes()
    }

    /// A cut or malformed answer is an error, because a setting on a lost line would count as
    /// unset.
    fn decode_all(answer: &[u8]) -> Result<Vec<Self>, HostError> {
        let parse = |row: &[u8]| {
            let row = str::from_utf8(row.strip_suffix(b"\n")?).ok()?;
            let mut parts = row.splitn(3, '\t');
            let number = parts.next()?;
            let (line, times) = number.split_once(' ').unwrap_or((number, "1"));
            let (line, times) = (line.parse().ok()?, times.parse().ok()?);
            let mut field = || {
                parts
                    .next()
                    .filter(|part| {
                        !part
                            .chars()
                            .any(|c| c != '\t' && text::is_display_unsafe(c))
                    })
                    .map(text::decode_display_safe)
            };
            let (key, value) = (field()?, field()?);
            Some(Self {
                line,
                key,
                value,
                occurrences: times,
            })
        };
        let rows: Option<Vec<Self>> = answer.split_inclusive(|b| *b == b'\n').map(parse).collect();
        rows.ok_or_else(|| HostError::failed("a line of the answer is incomplete"))
    }
}

/// Whether a list of words, separated by blanks, has this word.
fn is_in_word_list(list: &str, word: &[u8]) -> bool {
    list.split_ascii_whitespace()
        .any(|known| known.as_bytes() == word)
}

pub fn path_bytes(path: &Path) -> &[u8] {
    OsStr::as_bytes(path.as_os_str())
}

pub fn path_from_bytes(bytes: impl Into<Vec<u8>>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.into()))
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct ServerOwner {
    /// User id of the child, never that of root.
    pub uid: u32,
    /// Id of a process of this user, whose groups the child takes on. With `None`, the child
    /// has only the user's group in /etc/passwd.
    pub process: Option<u32>,
    /// Whether paths are relative to the root directory of `process`.
    pub inside: bool,
    /// The socket that the child connects before giving up root.
    pub socket: Option<MessageBytes>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_stat() -> impl Strategy<Value = Stat> {
        (
            any::<[u64; 9]>(),
            prop::option::of(timestamp::tests::any_timestamp()),
        )
            .prop_map(|(numbers, changed)| {
                let [
                    mode,
                    uid,
                    gid,
                    major,
                    minor,
                    node_major,
                    node_minor,
                    inode,
                    size,
                ] = numbers;
                Stat {
                    mode,
                    uid,
                    gid,
                    major,
                    minor,
                    node_major,
                    node_minor,
                    inode,
                    size,
                    ctime: changed,
                }
            })
    }

    proptest! {
        #[test]
        fn stat_and_config_answers_round_trip(
            stat in any_stat(),
            [magic, size, available, inodes, inodes_free]: [u64; 5],
            block: Option<u64>,
            settings in prop::collection::vec(any::<(u32, Vec<u8>, Vec<u8>, u32)>(), 0..5),
            noise in "[^\n\t]{0,20}",
        ) {
            prop_assert_eq!(Stat::decode(&stat.encode()), Ok(stat));
            let statfs = StatFs { magic, size, available, inodes, inodes_free, block };
            prop_assert_eq!(StatFs::decode(&statfs.encode()), Ok(statfs));
            let settings: Vec<ConfigDirective> =
                settings.into_iter().map(|(line, key, value, times)| ConfigDirective { line, key, value, occurrences: times.max(1) }).collect();
            let mut lines: Vec<Vec<u8>> = settings.iter().map(ConfigDirective::encode).collect();
            prop_assert_eq!(ConfigDirective::decode_all(&lines.concat()), Ok(settings));
            lines.insert(lines.len() / 2, format!("{noise}\n").into_bytes());
            prop_assert!(ConfigDirective::decode_all(&lines.concat()).is_err());
        }

        #[test]
        fn answer_decoders_never_panic(bytes: Vec<u8>) {
            let _ = (Stat::decode(&bytes), StatFs::decode(&bytes));
            let _ = ConfigDirective::decode_all(&bytes);
        }
    }
}
