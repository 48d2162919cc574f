//! The one seam through which the machine is read. A host, live, recorded or recording, only
//! answers [`Question`]s, so everything that was read can be captured, reviewed and replayed.
//!
//! It returns bytes and refusals and knows nothing of facts. Sources that may hold secrets
//! (configuration files, command lines, environments, fstab) have questions of their own; their
//! answers are filtered to allow-listed keys *before* they leave this module. Reading a file on a
//! network or FUSE file system may never return, so the live host asks an expendable child process
//! wherever that could happen.

mod content;
mod moment;
mod stat;
mod owner {
    //! The owner of what is read: whom a reading child becomes.
    //!
    //! How it becomes him is left to [`super::reader`].

    use serde::{Deserialize, Serialize};

    use crate::subprocess::Bytes;

    /// Whom the child becomes.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub struct Owner {
        /// The user, who is not root.
        pub uid: u32,
        /// A process of this user, whose groups are taken; without one, his group in /etc/passwd
        /// alone.
        pub process: Option<u32>,
        /// Whether paths are relative to the process' own root.
        pub inside: bool,
        /// The socket to connect while the child is still root.
        pub socket: Option<Bytes>,
    }
}
pub mod archive;
pub mod child;
mod edited;
mod live;
mod maker;
mod mask;
pub mod pg_lines;
pub mod reader;
mod recorded;
mod recording;
pub mod redact;
mod remembering;
mod tool;
mod words;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub use content::{DeviceScan, Look};
pub use edited::{Edit, EditedAnswers, EditedHost};
pub use live::{LiveHost, doubt};
pub use maker::{MakerProgram, is_loop};
pub use moment::Moment;
pub use recorded::RecordedHost;
pub use recording::RecordingHost;
pub use remembering::RememberingHost;
pub use stat::{Stat, StatFs};
pub use tool::{SERVER_DIRECTORIES, Tool};

use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::text;

/// The user without any rights, who also stands for ids without a number here: `nobody` of every
/// distribution (the kernel's overflowuid and overflowgid).
pub const NOBODY: u32 = 65534;

/// The last user id of a system's own accounts (SYS_UID_MAX of login.defs(5)); those of persons are
/// beyond it.
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
    /// Whether a directory is empty, except for an empty `lost+found`: `yes` or `no`. The names in
    /// it are private.
    Empty(PathBuf),
    /// Where a symbolic link points, as it is written.
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
    /// Effective user id and whether we see the host's own name spaces, a line each: `euid=0`,
    /// `pid_namespace=initial`, `user_namespace=other`. A name space that cannot be read has no
    /// line.
    Identity,
    /// Memory (of the control group where that is less) and processors that may be used, a line
    /// each: `memory_bytes=…`, `cpus=…`.
    Summary,
    /// Database servers, not their worker processes: `pid ppid uid comm`, one per line. The uid is
    /// `-` where the process has several (real, effective, saved and file-system id) or one without
    /// a number here. Of each user only the first
    /// [`SERVERS_OF_A_USER`](crate::bounds::SERVERS_OF_A_USER) are listed, and a line
    /// `more uid count` counts the rest.
    Servers,
    /// When a process started, in nanoseconds since 1970 by the current clock, as a decimal number.
    /// Its resolution is 10 ms, and it is never too late.
    Started(u32),
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
    /// The name of the user with this id, from /etc/passwd (passwd(5)); absent where it is not
    /// listed there.
    UserName(u32),
    /// Allow-listed keys of a configuration file: see [`ConfigDirective`].
    Config(PathBuf, Dialect),
    /// The result of reading a block device: see [`DeviceScan`].
    Content(PathBuf, Look),
    /// Features of the file system on a block device, from its superblock: `features` and their
    /// words on one line, by the names of `dumpe2fs -h` or, in lower case and behind the version,
    /// of `xfs_db -c version`. Neither counters nor identities.
    Superblock(PathBuf, Superblock),
    /// Storage settings of a running PostgreSQL, through its Unix socket (this path), as the asking
    /// user. Each line holds name, setting, unit, source, sourcefile and sourceline, separated by
    /// tabs, every field display-safe; NULL is empty. `server_version` and `data_directory` are
    /// among the names; of `synchronous_standby_names` only the shape is given, without a name.
    /// Other lines are in [`pg_lines`].
    PgSettings(PathBuf),
    /// Storage settings of a running MySQL or MariaDB, through its Unix socket (this path), without
    /// a password and as the asking user, except that root keeps his name. Each line holds name and
    /// value, separated by a tab, both display-safe. `version`, `datadir` and `log_bin_basename`
    /// are among the names, and counters, which begin with a capital.
    MysqlSettings(PathBuf),
    /// The output of an allow-listed program, see [`Tool`].
    Run(Tool, Vec<String>),
    /// The question inside, asked as this user: a path that he may not read is *denied*, even to
    /// root. Asking as root itself is refused. Without root it is asked as the current user.
    As(u32, Box<Question>),
}

/// The path of a question, by reference or mutable reference, depending on how the question is
/// passed.
macro_rules! path_in {
    ($question:expr, $path:ident) => {
        match $question {
            Question::Read(path)
            | Question::List(path)
            | Question::Empty(path)
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
            | Question::Summary
            | Question::Servers
            | Question::Started(_)
            | Question::Tablespaces(_)
            | Question::CommandLine(_)
            | Question::Environment(_)
            | Question::UserName(_)
            | Question::Run(..) => None,
            Question::As(_, inner) => inner.$path(),
        }
    };
}

impl Question {
    /// The path it is about; `None` for other questions.
    pub fn path(&self) -> Option<&PathBuf> {
        path_in!(self, path)
    }

    /// The same, mutable.
    pub fn path_mut(&mut self) -> Option<&mut PathBuf> {
        path_in!(self, path_mut)
    }

    /// The question itself without [`Question::As`], mutable.
    pub fn bare_mut(&mut self) -> &mut Self {
        match self {
            Self::As(_, inner) => inner.bare_mut(),
            other => other,
        }
    }

    /// The question itself without [`Question::As`].
    pub fn bare(&self) -> &Self {
        match self {
            Self::As(_, inner) => inner.bare(),
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
    /// All dialects.
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
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Ext, Self::Xfs];
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MissKind {
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

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Miss {
    /// The kind of refusal.
    pub kind: MissKind,
    /// The error, such as `Input/output error`; display-safe.
    pub detail: String,
}

impl Miss {
    /// Whether the system call failed with EIO.
    pub fn is_io_error(&self) -> bool {
        self.kind == MissKind::Failed && self.detail == nix::errno::Errno::EIO.desc()
    }

    /// Whether the system call failed with EPERM: root does not help where a container or the
    /// system forbids it.
    pub fn is_forbidden(&self) -> bool {
        self.kind == MissKind::Denied && self.detail == nix::errno::Errno::EPERM.desc()
    }

    /// Whether no descriptor was left for an answer, in this process (EMFILE) or on this machine
    /// (ENFILE); the detail may be a child's, which names the error in words of its own.
    pub fn is_out_of_descriptors(&self) -> bool {
        use nix::errno::Errno;
        let says = |error: Errno| self.detail.contains(error.desc());
        self.kind == MissKind::Failed && (says(Errno::EMFILE) || says(Errno::ENFILE))
    }

    /// A refusal with its detail.
    pub fn new(kind: MissKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

/// A machine that answers questions. Answers are bytes in the formats described at [`Question`].
pub trait Host: Sync {
    /// Answers one question.
    fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss>;

    /// Notes about the run rather than one answer: abandoned reads, unreadable archive lines.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The names that this path may have here, where nothing was asked under this one: a masked
    /// capture has other names for some.
    fn may_be_called(&self, _path: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// How much of it has facts.
    fn bounds(&self) -> Bounds {
        Bounds::LIVE
    }

    /// Whether this is the machine walwise runs on.
    fn is_live(&self) -> bool {
        false
    }

    /// The contents of a file.
    fn read(&self, path: &Path) -> Result<Vec<u8>, Miss> {
        self.ask(&Question::Read(path.to_owned()))
    }

    /// The contents of a one-line attribute, without the newline and surrounding blanks, made
    /// display-safe. Whatever is no line that a kernel prints failed: see [`attribute_line`].
    fn attribute(&self, path: &Path) -> Result<String, Miss> {
        let bytes = self.read(path)?;
        attribute_line(path, &bytes).map(|line| text::safe(line.trim_ascii()))
    }

    /// The names in a directory, sorted.
    fn list(&self, path: &Path) -> Result<Vec<OsString>, Miss> {
        let names = self.ask(&Question::List(path.to_owned()))?;
        Ok(names
            .split(|b| *b == 0)
            .filter(|n| !n.is_empty())
            .map(|n| OsString::from_vec(n.to_vec()))
            .collect())
    }

    /// Whether a directory has nothing in it but an empty `lost+found`.
    fn is_empty(&self, path: &Path) -> Result<bool, Miss> {
        match self.ask(&Question::Empty(path.to_owned()))?.trim_ascii() {
            b"yes" => Ok(true),
            b"no" => Ok(false),
            _ => Err(Miss::new(MissKind::Failed, "neither yes nor no")),
        }
    }

    /// Where a link points, as written.
    fn link(&self, path: &Path) -> Result<PathBuf, Miss> {
        into_path(self.ask(&Question::Link(path.to_owned()))?)
    }

    /// The path with every link followed.
    fn real_path(&self, path: &Path) -> Result<PathBuf, Miss> {
        into_path(self.ask(&Question::RealPath(path.to_owned()))?)
    }

    /// stat(2), links followed.
    fn stat(&self, path: &Path) -> Result<Stat, Miss> {
        Stat::decode(&self.ask(&Question::Stat(path.to_owned()))?)
    }

    /// statfs(2).
    fn statfs(&self, path: &Path) -> Result<StatFs, Miss> {
        StatFs::decode(&self.ask(&Question::StatFs(path.to_owned()))?)
    }

    /// Inode flags.
    fn flags(&self, path: &Path) -> Result<u32, Miss> {
        let answer = self.ask(&Question::Flags(path.to_owned()))?;
        let number = std::str::from_utf8(&answer)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        number.ok_or_else(|| Miss::new(MissKind::Failed, "inode flags are no number"))
    }

    /// When a process started.
    fn started(&self, pid: u32) -> Result<Moment, Miss> {
        let answer = self.ask(&Question::Started(pid))?;
        let number = std::str::from_utf8(&answer)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        number
            .map(Moment::at)
            .ok_or_else(|| Miss::new(MissKind::Failed, "the start is no number"))
    }

    /// Allow-listed settings of a configuration file.
    fn config(&self, path: &Path, dialect: Dialect) -> Result<Vec<ConfigDirective>, Miss> {
        ConfigDirective::decode_all(&self.ask(&Question::Config(path.to_owned(), dialect))?)
    }

    /// The contents of a device.
    fn content(&self, device: &Path, look: Look) -> Result<DeviceScan, Miss> {
        DeviceScan::decode(&self.ask(&Question::Content(device.to_owned(), look))?)
    }

    /// The output of a program, standard output followed by standard error.
    fn run(&self, tool: Tool, arguments: &[&str]) -> Result<Vec<u8>, Miss> {
        self.ask(&Question::Run(
            tool,
            arguments.iter().map(|&a| a.to_owned()).collect(),
        ))
    }
}

/// The line of an attribute file, whole: text, no control character but the tab, and in sysfs a
/// newline at its end, without which it was cut (Documentation/filesystems/sysfs.rst;
/// `sysfs_emit`); likewise of /proc/version (fs/proc/version.c), whose last word is a day. Only a
/// virtio disk prints its serial number bare (drivers/block/virtio_blk.c, `serial_show`).
fn attribute_line<'b>(path: &Path, bytes: &'b [u8]) -> Result<&'b [u8], Miss> {
    let broken = |what: &str| Err(Miss::new(MissKind::Failed, what));
    let ended = bytes.strip_suffix(b"\n");
    let line = ended.unwrap_or(bytes);
    if line.contains(&b'\n') {
        return broken("it has several lines");
    }
    let is_text =
        str::from_utf8(line).is_ok_and(|line| !line.chars().any(|c| c.is_control() && c != '\t'));
    if !is_text {
        return broken("it is no text");
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

fn into_path(bytes: Vec<u8>) -> Result<PathBuf, Miss> {
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(Miss::new(MissKind::Failed, "it is no path"));
    }
    Ok(path_of(bytes))
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
    /// How often the key stood there, up to this line.
    pub times: u32,
}

impl ConfigDirective {
    /// A setting that occurs once.
    pub fn new(line: u32, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self {
            line,
            key: key.into(),
            value: value.into(),
            times: 1,
        }
    }

    /// Encodes it as one line of an answer: line number, key and value, separated by tabs, both
    /// display-safe. The number is followed by the count of the key, where that is more than one.
    pub fn encode(&self) -> Vec<u8> {
        let Self {
            line,
            key,
            value,
            times,
        } = self;
        let times = if *times > 1 {
            format!(" {times}")
        } else {
            String::new()
        };
        format!(
            "{line}{times}\t{}\t{}\n",
            text::safe(key),
            text::safe(value)
        )
        .into_bytes()
    }

    /// Reads an answer; one that is cut or garbled failed, since what a lost line set would be
    /// taken for not set.
    fn decode_all(answer: &[u8]) -> Result<Vec<Self>, Miss> {
        let parse = |row: &[u8]| {
            let row = str::from_utf8(row.strip_suffix(b"\n")?).ok()?;
            let mut parts = row.splitn(3, '\t');
            let number = parts.next()?;
            let (line, times) = number.split_once(' ').unwrap_or((number, "1"));
            let (line, times) = (line.parse().ok()?, times.parse().ok()?);
            let mut field = || {
                parts
                    .next()
                    .filter(|part| !part.chars().any(|c| c != '\t' && text::is_treacherous(c)))
                    .map(text::raw)
            };
            let (key, value) = (field()?, field()?);
            Some(Self {
                line,
                key,
                value,
                times,
            })
        };
        let rows: Option<Vec<Self>> = answer.split_inclusive(|b| *b == b'\n').map(parse).collect();
        rows.ok_or_else(|| Miss::new(MissKind::Failed, "a line of the answer is not whole"))
    }
}

/// The bytes of a path.
pub fn path_bytes(path: &Path) -> &[u8] {
    OsStr::as_bytes(path.as_os_str())
}

/// A path from bytes.
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
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
                    changed,
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
                settings.into_iter().map(|(line, key, value, times)| ConfigDirective { line, key, value, times: times.max(1) }).collect();
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
