//! The one seam through which the machine is read. A host, live, recorded or recording, only
//! answers [`Question`]s, so everything that was read can be captured, reviewed and replayed.
//!
//! It returns bytes or refusals and knows nothing of facts. Sources that may hold secrets have
//! questions of their own; answers are filtered to allow-listed keys *before* they leave this
//! module. What may never return (network and FUSE file systems) is read by an expendable child.

mod content;
mod moment;
mod stat;
mod owner {
    //! The user that a reading child becomes. How it does so is left to [`super::reader`].

    use serde::{Deserialize, Serialize};

    use crate::subprocess::Bytes;

    /// The user that the child becomes.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub struct Owner {
        /// The user, who is not root.
        pub uid: u32,
        /// A process of this user, whose groups are used; without one, the group in /etc/passwd
        /// alone.
        pub process: Option<u32>,
        /// Whether paths are relative to the process's own root.
        pub inside: bool,
        /// The socket to connect while the child is still root.
        pub socket: Option<Bytes>,
    }
}
pub mod archive;
mod caching_host;
pub mod child;
mod edited_host;
mod live;
mod maker;
mod mask;
pub mod pg_lines;
mod question_text;
pub mod reader;
mod recorded_host;
mod recording_host;
pub mod redact;
mod tool;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub use caching_host::CachingHost;
pub use content::{DeviceScan, ScanDepth};
pub use edited_host::{Edit, EditedAnswers, EditedHost};
pub use live::{LiveHost, untrusted_reason};
pub use maker::{MakerProgram, is_loop};
pub use moment::Moment;
pub use recorded_host::RecordedHost;
pub use recording_host::RecordingHost;
pub use stat::{Stat, StatFs};
pub use tool::{SERVER_DIRECTORIES, Tool};

use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::text;

/// The user without any rights, who also stands for ids without a number here: `nobody` of every
/// distribution (the kernel's overflowuid and overflowgid).
pub const NOBODY: u32 = 65534;

/// The last user id of system accounts (SYS_UID_MAX of login.defs(5)).
pub const LAST_SYSTEM_USER: u32 = 999;

/// A question to the machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// The contents of a small regular file (at most 1 MiB, of a mount table
    /// [`MOUNT_TABLE`](crate::bounds::MOUNT_TABLE); more is cut). Device nodes and pipes are
    /// refused.
    Read(PathBuf),
    /// The names in a directory, sorted, with a zero byte after each (at most 1 MiB; more is cut).
    List(PathBuf),
    /// Whether a directory is empty, except for an empty `lost+found`: `yes` or `no`. Its names
    /// stay private.
    IsEmpty(PathBuf),
    /// The target of a symbolic link, as written.
    Link(PathBuf),
    /// The path with every link followed.
    RealPath(PathBuf),
    /// The fields of stat(2): see [`Stat`].
    Stat(PathBuf),
    /// The fields of statfs(2): see [`StatFs`].
    StatFs(PathBuf),
    /// Inode flags of a file or directory, FS_IOC_GETFLAGS, as a decimal number; absent where the
    /// file system has none.
    Flags(PathBuf),
    /// sysname, nodename, release, version and machine of uname(2), a line each.
    Uname,
    /// Effective user id and whether we see the host's own namespaces, a line each: `euid=0`,
    /// `pid_namespace=initial`, `user_namespace=other`. A namespace that cannot be read has no
    /// line.
    Identity,
    /// Memory (of the control group where that is less) and usable processors, a line each:
    /// `memory_bytes=…`, `cpus=…`.
    Resources,
    /// Database servers, not their worker processes: `pid ppid uid comm`, one per line. The uid is
    /// `-` where the process has several (real, effective, saved and file-system id) or one without
    /// a number here. Of each user only the first
    /// [`SERVERS_OF_A_USER`](crate::bounds::SERVERS_OF_A_USER) are listed, and a line
    /// `more uid count` counts the rest.
    Servers,
    /// Start time of a process, in nanoseconds since 1970 by the current clock, as a decimal
    /// number. Its resolution is 10 ms, and it is never too late.
    ProcessStart(u32),
    /// The files called `ibdata1`, InnoDB's system tablespace, that a process has open:
    /// `major minor inode` a line.
    Tablespaces(u32),
    /// Allow-listed options of a database server's command line, one a line, always in one form:
    /// PostgreSQL's as `-D DIR`, `-p PORT`, `-k DIR`, `-c name=value` (`--name=value` too), MySQL's
    /// as `--name=value`. Names are in lower case with underscores; values are made display-safe
    /// and [`crate::text::raw`] undoes that.
    CommandLine(u32),
    /// Allow-listed environment variables of a process, `NAME=value` a line, values like above:
    /// `PGDATA`, `MYSQL_HOME`, `MARIADB_HOME`, `MYSQL_GROUP_SUFFIX`, and `LD_PRELOAD` reduced to
    /// the base names of its libraries, separated by colons.
    Environment(u32),
    /// The name of this user, from /etc/passwd (passwd(5)); absent where it is not listed there.
    UserName(u32),
    /// Allow-listed keys of a configuration file: see [`ConfigDirective`].
    Config(PathBuf, Dialect),
    /// The result of reading a block device: see [`DeviceScan`].
    Content(PathBuf, ScanDepth),
    /// Features of the file system on a block device, from its superblock: `features` and their
    /// words on one line, by the names of `dumpe2fs -h` or, in lower case and after the version,
    /// of `xfs_db -c version`. Neither counters nor identities.
    Superblock(PathBuf, Superblock),
    /// Storage settings of a running PostgreSQL, through its Unix socket (this path), as the asking
    /// user. Each line holds name, setting, unit, source, sourcefile and sourceline, separated by
    /// tabs, every field display-safe; NULL is empty. `server_version` and `data_directory` are
    /// among the names; of `synchronous_standby_names` only the shape is given, without a name.
    /// Other lines are in [`pg_lines`].
    PgSettings(PathBuf),
    /// Storage settings of a running MySQL or MariaDB, through its Unix socket (this path), without
    /// a password and as the asking user, except that root stays root. Each line holds name and
    /// value, separated by a tab, both display-safe. `version`, `datadir` and `log_bin_basename`
    /// are among the names, and counters, which begin with a capital.
    MysqlSettings(PathBuf),
    /// The output of an allow-listed program, see [`Tool`].
    Run(Tool, Vec<String>),
    /// The question inside, asked as this user: a path that the user may not read is *denied*, even
    /// to root. Asking as root itself is refused. Without root it is asked as the current user.
    AsUser(u32, Box<Question>),
}

/// The path of a question, shared or mutable depending on how the question is passed.
macro_rules! path_in {
    ($question:expr, $path:ident) => {
        match $question {
            Question::Read(path)
            | Question::List(path)
            | Question::IsEmpty(path)
            | Question::Link(path)
            | Question::RealPath(path)
            | Question::Stat(path)
            | Question::StatFs(path)
            | Question::Flags(path)
            | Question::Config(path, _)
            | Question::Content(path, _)
            | Question::Superblock(path, _)
            | Question::PgSettings(path)
            | Question::MysqlSettings(path) => Some(path),
            Question::Uname
            | Question::Identity
            | Question::Resources
            | Question::Servers
            | Question::ProcessStart(_)
            | Question::Tablespaces(_)
            | Question::CommandLine(_)
            | Question::Environment(_)
            | Question::UserName(_)
            | Question::Run(..) => None,
            Question::AsUser(_, inner) => inner.$path(),
        }
    };
}

impl Question {
    pub fn path(&self) -> Option<&PathBuf> {
        path_in!(self, path)
    }

    pub fn path_mut(&mut self) -> Option<&mut PathBuf> {
        path_in!(self, path_mut)
    }

    /// The question inside [`Question::As`], mutable.
    pub fn inner_mut(&mut self) -> &mut Self {
        match self {
            Self::AsUser(_, inner) => inner.inner_mut(),
            other => other,
        }
    }

    /// The question inside [`Question::As`].
    pub fn inner(&self) -> &Self {
        match self {
            Self::AsUser(_, inner) => inner.inner(),
            other => other,
        }
    }
}

/// The syntax of a configuration file, which decides what may leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// postgresql.conf and postgresql.auto.conf: storage settings and includes.
    Postgres,
    /// Option files of MySQL and MariaDB (my.cnf): storage settings of the groups that servers
    /// read, as `group.name`, and `include` and `includedir`.
    Mysql,
    /// mysqld-auto.cnf, in which MySQL stores settings of SET PERSIST: storage settings as
    /// `persisted.name`.
    MysqlPersisted,
    /// systemd.service(5): `pgdata` (of Environment), `data` (`-D` of ExecStart) and `user`.
    Service,
    /// fstab(5): device, mount point, type, known options.
    Fstab,
    /// systemd.mount(5): What, Where, Type, Options.
    MountUnit,
    /// The kernel command line: root, rootfstype, rootflags, elevator, devices it waits for, and
    /// the names of other parameters that mount or unlock something.
    KernelCommandLine,
    /// crypttab(5): name, device, kind of key and whether it exists, known options; never the path
    /// of a key.
    Crypttab,
}

impl Dialect {
    pub const ALL: [Self; 8] = [
        Self::Postgres,
        Self::Mysql,
        Self::MysqlPersisted,
        Self::Service,
        Self::Fstab,
        Self::MountUnit,
        Self::KernelCommandLine,
        Self::Crypttab,
    ];
}

/// The kind of superblock, which decides its place and how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Superblock {
    /// That of ext2, ext3 and ext4.
    Ext,
    /// That of XFS.
    Xfs,
}

impl Superblock {
    pub const ALL: [Self; 2] = [Self::Ext, Self::Xfs];
}

/// The kind of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HostErrorKind {
    /// It does not exist.
    Absent,
    /// Permission is missing.
    Denied,
    /// No answer before the deadline; the child was abandoned.
    TimedOut,
    /// The archive does not hold the question.
    NotCollected,
    /// Any other error; the detail names it.
    Failed,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostError {
    pub kind: HostErrorKind,
    /// The error, such as `Input/output error`; display-safe.
    pub detail: String,
}

impl HostError {
    /// Whether the system call failed with EIO.
    pub fn is_io_error(&self) -> bool {
        self.kind == HostErrorKind::Failed && self.detail == nix::errno::Errno::EIO.desc()
    }

    /// Whether the system call failed with EPERM: root does not help where a container or the
    /// system forbids it.
    pub fn is_forbidden(&self) -> bool {
        self.kind == HostErrorKind::Denied && self.detail == nix::errno::Errno::EPERM.desc()
    }

    /// Whether no descriptor was left for an answer, in this process (EMFILE) or on this machine
    /// (ENFILE); the detail may come from a child, which words the error itself.
    pub fn is_out_of_descriptors(&self) -> bool {
        use nix::errno::Errno;
        let says = |error: Errno| self.detail.contains(error.desc());
        self.kind == HostErrorKind::Failed && (says(Errno::EMFILE) || says(Errno::ENFILE))
    }

    pub fn new(kind: HostErrorKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

/// A machine that answers questions. Answers are bytes in the formats described at [`Question`].
pub trait Host: Sync {
    /// Answers one question.
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError>;

    /// Notes about the run rather than one answer: abandoned reads, unreadable archive lines.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Other names that this path may have in a masked capture, if nothing was asked under this
    /// one.
    fn possible_masks(&self, _path: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// How much of the machine gets facts.
    fn bounds(&self) -> Bounds {
        Bounds::LIVE
    }

    /// Whether this is the machine that walwise runs on.
    fn is_live(&self) -> bool {
        false
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        self.ask(&Question::Read(path.to_owned()))
    }

    /// The contents of a one-line attribute, trimmed and display-safe. Anything but a line that a
    /// kernel prints is a failure: see [`attribute_line`].
    fn attribute(&self, path: &Path) -> Result<String, HostError> {
        let bytes = self.read(path)?;
        attribute_line(path, &bytes).map(|line| text::display_safe(line.trim_ascii()))
    }

    /// The names in a directory, sorted.
    fn list(&self, path: &Path) -> Result<Vec<OsString>, HostError> {
        let names = self.ask(&Question::List(path.to_owned()))?;
        Ok(names
            .split(|b| *b == 0)
            .filter(|n| !n.is_empty())
            .map(|n| OsString::from_vec(n.to_vec()))
            .collect())
    }

    /// Whether a directory has nothing in it but an empty `lost+found`.
    fn is_empty(&self, path: &Path) -> Result<bool, HostError> {
        match self.ask(&Question::IsEmpty(path.to_owned()))?.trim_ascii() {
            b"yes" => Ok(true),
            b"no" => Ok(false),
            _ => Err(HostError::new(HostErrorKind::Failed, "neither yes nor no")),
        }
    }

    fn link(&self, path: &Path) -> Result<PathBuf, HostError> {
        into_path(self.ask(&Question::Link(path.to_owned()))?)
    }

    fn real_path(&self, path: &Path) -> Result<PathBuf, HostError> {
        into_path(self.ask(&Question::RealPath(path.to_owned()))?)
    }

    /// stat(2), links followed.
    fn stat(&self, path: &Path) -> Result<Stat, HostError> {
        Stat::decode(&self.ask(&Question::Stat(path.to_owned()))?)
    }

    /// statfs(2).
    fn statfs(&self, path: &Path) -> Result<StatFs, HostError> {
        StatFs::decode(&self.ask(&Question::StatFs(path.to_owned()))?)
    }

    fn flags(&self, path: &Path) -> Result<u32, HostError> {
        let answer = self.ask(&Question::Flags(path.to_owned()))?;
        let number = std::str::from_utf8(&answer)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        number.ok_or_else(|| {
            HostError::new(HostErrorKind::Failed, "the inode flags are not a number")
        })
    }

    fn process_start(&self, pid: u32) -> Result<Moment, HostError> {
        let answer = self.ask(&Question::ProcessStart(pid))?;
        let number = std::str::from_utf8(&answer)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        number
            .map(Moment::from_nanos)
            .ok_or_else(|| HostError::new(HostErrorKind::Failed, "the start time is not a number"))
    }

    /// Allow-listed settings of a configuration file.
    fn config(&self, path: &Path, dialect: Dialect) -> Result<Vec<ConfigDirective>, HostError> {
        ConfigDirective::decode_all(&self.ask(&Question::Config(path.to_owned(), dialect))?)
    }

    fn content(&self, device: &Path, look: ScanDepth) -> Result<DeviceScan, HostError> {
        DeviceScan::decode(&self.ask(&Question::Content(device.to_owned(), look))?)
    }

    /// The output of a program, standard output followed by standard error.
    fn run(&self, tool: Tool, arguments: &[&str]) -> Result<Vec<u8>, HostError> {
        self.ask(&Question::Run(
            tool,
            arguments.iter().map(|&a| a.to_owned()).collect(),
        ))
    }
}

/// The complete line of an attribute file: text, no control character but the tab, and in sysfs a
/// newline at the end, without which it was cut (Documentation/filesystems/sysfs.rst;
/// `sysfs_emit`); likewise for /proc/version (fs/proc/version.c), whose last word is a day. Only a
/// virtio disk prints its serial number bare (drivers/block/virtio_blk.c, `serial_show`).
fn attribute_line<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b [u8], HostError> {
    let broken = |what: &str| Err(HostError::new(HostErrorKind::Failed, what));
    let ended = bytes.strip_suffix(b"\n");
    let line = ended.unwrap_or(bytes);
    if line.contains(&b'\n') {
        return broken("it has several lines");
    }
    let is_text =
        str::from_utf8(line).is_ok_and(|line| !line.chars().any(|c| c.is_control() && c != '\t'));
    if !is_text {
        return broken("it is not text");
    }
    let is_bare = path.ends_with("serial") && !path.ends_with("device/serial");
    let is_ended = path.starts_with("/sys") || path == Path::new("/proc/version");
    if ended.is_none() && is_ended && !is_bare {
        return broken(if line.is_empty() {
            "it is empty"
        } else {
            "it has no end of line"
        });
    }
    Ok(line)
}

fn into_path(bytes: Vec<u8>) -> Result<PathBuf, HostError> {
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(HostError::new(HostErrorKind::Failed, "it is not a path"));
    }
    Ok(path_from_bytes(bytes))
}

/// One allow-listed setting of a configuration file. For fstab the key is the mount point and the
/// value holds device, type and options, separated by tabs, each still escaped as fstab(5) does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigDirective {
    /// Line, counted from one.
    pub line: u32,
    /// Key, in lower case but for a group before a dot; `include`, `include_dir`,
    /// `include_if_exists` are keys too.
    pub key: Vec<u8>,
    /// Value, quotes removed.
    pub value: Vec<u8>,
    /// How often the key has occurred up to this line.
    pub occurrences: u32,
}

impl ConfigDirective {
    /// A setting that occurs once.
    pub fn new(line: u32, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self {
            line,
            key: key.into(),
            value: value.into(),
            occurrences: 1,
        }
    }

    /// Encodes it as one line of an answer: line number, key and value, separated by tabs, both
    /// display-safe. The number is followed by the count of the key, if that is more than one.
    pub fn encode(&self) -> Vec<u8> {
        let Self {
            line,
            key,
            value,
            occurrences: times,
        } = self;
        let times = if *times > 1 {
            format!(" {times}")
        } else {
            String::new()
        };
        format!(
            "{line}{times}\t{}\t{}\n",
            text::display_safe(key),
            text::display_safe(value)
        )
        .into_bytes()
    }

    /// Parses an answer. A cut or garbled one is a failure, since a setting on a lost line would
    /// count as unset.
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
                    .map(text::original_bytes)
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
        rows.ok_or_else(|| {
            HostError::new(HostErrorKind::Failed, "a line of the answer is incomplete")
        })
    }
}

pub fn path_bytes(path: &Path) -> &[u8] {
    OsStr::as_bytes(path.as_os_str())
}

pub fn path_from_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stats() -> impl Strategy<Value = Stat> {
        (
            any::<[u64; 9]>(),
            prop::option::of(moment::tests::any_moment()),
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
        fn answers_read_as_they_were_written(
            stat in stats(),
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
        fn any_bytes_do_no_harm(bytes: Vec<u8>) {
            let _ = (Stat::decode(&bytes), StatFs::decode(&bytes));
            let _ = ConfigDirective::decode_all(&bytes);
        }
    }
}
