//! The questions, and their text, one line each, such as `read /proc/version` or `run mke2fs -V`.
//!
//! Captures hold these lines for people to review, and the expendable child receives them. Paths
//! may be any bytes, so [`crate::text`] escapes them. Decoding is the inverse of encoding.

use std::path::PathBuf;

use super::{ConfigDialect, LogFileKind, ScanDepth, SuperblockKind, Tool, path_from_bytes};
use crate::text::{self, display_path};
use walwise_model::facts::Choice;

/// Generates the enum of questions, the path in a question, and encoding and decoding, from one row
/// for each question.
macro_rules! questions {
    (
        @path: $($(#[$path_doc:meta])* $path:ident = $path_verb:literal,)+
        @word: $($(#[$word_doc:meta])* $word:ident = $word_verb:literal,)+
        @number: $($(#[$number_doc:meta])* $number:ident = $number_verb:literal,)+
        @kind: $($(#[$kind_doc:meta])* $kind:ident($kind_type:ty) = $kind_verb:literal,)+
    ) => {
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Question {
            $($(#[$path_doc])* $path(PathBuf),)+
            $($(#[$word_doc])* $word,)+
            $($(#[$number_doc])* $number(u32),)+
            $($(#[$kind_doc])* $kind(PathBuf, $kind_type),)+
            Run(Tool, Vec<String>),
            /// A question answered with the rights of this user: a path that the user may not read is
            /// *denied*, even to root. Uid 0 is refused. Without root, the rights are those of the current
            /// user.
            AsUser(u32, Box<Self>),
        }

        impl Question {
            pub fn path(&self) -> Option<&PathBuf> {
                match self {
                    $(Self::$path(path))|+ $(| Self::$kind(path, _))+ => Some(path),
                    $(Self::$word)|+ $(| Self::$number(_))+ | Self::Run(..) => None,
                    Self::AsUser(_, inner) => inner.path(),
                }
            }

            pub fn path_mut(&mut self) -> Option<&mut PathBuf> {
                match self {
                    $(Self::$path(path))|+ $(| Self::$kind(path, _))+ => Some(path),
                    $(Self::$word)|+ $(| Self::$number(_))+ | Self::Run(..) => None,
                    Self::AsUser(_, inner) => inner.path_mut(),
                }
            }
        }

        /// Encodes the question as one line without a newline.
        pub fn encode(question: &Question) -> String {
            match question {
                $(Question::$path(path) => format!("{} {}", $path_verb, display_path(path)),)+
                $(Question::$word => $word_verb.to_owned(),)+
                $(Question::$number(number) => format!("{} {number}", $number_verb),)+
                $(Question::$kind(path, kind) => {
                    format!("{} {kind} {}", $kind_verb, display_path(path))
                })+
                Question::Run(tool, arguments) => encode_command(*tool, arguments),
                Question::AsUser(uid, inner) => format!("as {uid} {}", encode(inner)),
            }
        }

        pub fn decode(words: &str) -> Option<Question> {
            let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
            match verb {
                $($path_verb => Some(Question::$path(decode_path(rest))),)+
                $($word_verb => (verb == words).then_some(Question::$word),)+
                $($number_verb => rest.parse().ok().map(Question::$number),)+
                $($kind_verb => {
                    let (kind, path) = rest.split_once(' ')?;
                    Some(Question::$kind(decode_path(path), Choice::from_word(kind)?))
                })+
                "run" => decode_command(rest),
                "as" => {
                    let (uid, inner) = rest.split_once(' ')?;
                    // A question on behalf of a user must not contain another such question.
                    let inner = decode(inner);
                    let inner = inner.filter(|inner| !matches!(inner, Question::AsUser(..)))?;
                    Some(Question::AsUser(uid.parse().ok()?, Box::new(inner)))
                }
                _ => None,
            }
        }
    };
}

questions! {
@path:
    /// The contents of a regular file, cut after 1 MiB (a mount table after
    /// [`MOUNT_TABLE`](crate::limits::MOUNT_TABLE)). Device nodes and pipes are refused.
    Read = "read",
    /// The names in a directory, sorted, each followed by a zero byte; cut after 1 MiB.
    List = "list",
    /// Whether a directory is empty except for an empty `lost+found`: `yes` or `no`. The answer
    /// contains no names.
    IsEmpty = "empty",
    /// The target of a symbolic link, exactly as the link stores it.
    Link = "link",
    /// The path with all symbolic links resolved.
    RealPath = "real-path",
    /// The fields of stat(2), as in [`Stat`].
    Stat = "stat",
    /// The fields of statfs(2), as in [`StatFs`].
    StatFs = "statfs",
    /// Inode flags of a file or directory (FS_IOC_GETFLAGS), as a decimal number. Absent if the
    /// file system has no such flags.
    Flags = "flags",
    /// Storage settings of a running PostgreSQL, through the Unix socket at this path, as the
    /// current user. Each line holds name, setting, unit, source, sourcefile and sourceline,
    /// separated by tabs; fields are display-safe, and NULL is empty. `server_version` and
    /// `data_directory` are included. Names of standbys are removed from
    /// `synchronous_standby_names`. Other lines are described in [`pg_settings_lines`].
    PgSettings = "pg-settings",
    /// Storage settings of a running MySQL or MariaDB, through the Unix socket at this path,
    /// without a password. The user is the current one, including root. Each line holds name and
    /// value, separated by a tab, both display-safe. `version`, `datadir`, `log_bin_basename` and
    /// counters, whose names begin with a capital, are included.
    MysqlSettings = "mysql-settings",
@word:
    /// sysname, nodename, release, version and machine of uname(2), one per line.
    Uname = "uname",
    /// Effective user id and whether walwise runs in the host's own namespaces, one per line:
    /// `euid=0`, `pid_namespace=initial`, `user_namespace=other`, `root=initial` (the root
    /// directory of process 1). A value that cannot be read has no line.
    Identity = "identity",
    /// Memory (the control group's limit if lower) and usable processors, one per line:
    /// `memory_bytes=…`, `cpus=…`.
    Resources = "summary",
    /// Database servers without their worker processes: `pid ppid uid comm`, one per line. The uid
    /// is `-` if the real, effective, saved and file-system ids differ, or if the id is not mapped
    /// in this namespace. At most [`SERVERS_OF_A_USER`](crate::limits::SERVERS_OF_A_USER) servers
    /// of each user are listed; a line `more uid count` counts the rest.
    Servers = "servers",
@number:
    /// Start time of a process, in nanoseconds since 1970 by the current clock, as a decimal
    /// number. The resolution is 10 ms, rounded down.
    ProcessStart = "started",
    /// The files named `ibdata1`, InnoDB's system tablespace, that a process has open:
    /// `major minor inode`, one per line.
    Tablespaces = "tablespaces",
    /// Allow-listed options of a database server's command line, one per line, in a normalised
    /// form. PostgreSQL: `-D DIR`, `-p PORT`, `-k DIR` and `-c name=value`; MySQL and MariaDB:
    /// `--name=value`. Names are in lower case with underscores; values are display-safe, and
    /// [`crate::text::decode_display_safe`] restores the bytes.
    CommandLine = "command-line",
    /// Allow-listed environment variables of a process, `NAME=value` per line, with display-safe
    /// values: `PGDATA`, `MYSQL_HOME`, `MARIADB_HOME`, `MYSQL_GROUP_SUFFIX` and `LD_PRELOAD`.
    /// `LD_PRELOAD` is reduced to the base names of its libraries, separated by colons.
    Environment = "environment",
    /// The name of a user id in /etc/passwd (passwd(5)); absent if the file does not list the id.
    UserName = "user-name",
@kind:
    /// Number, size and age of a server's log files, as in [`LogFileStats`]; no names. The path is
    /// the directory, for binary logs the path prefix that precedes the number.
    LogFiles(LogFileKind) = "log-files",
    Config(ConfigDialect) = "config",
    Content(ScanDepth) = "content",
    /// Features of the file system on a block device, from its superblock: a line with `features`
    /// and their names. Lines with the cluster size in bytes and with the UUID follow if the
    /// superblock has them. The names are those of `dumpe2fs -h`, or of `xfs_db -c version` in
    /// lower case after the version. Counters are not included.
    Superblock(SuperblockKind) = "superblock",
}

impl Question {
    /// The question inside a [`Question::AsUser`]; any other question returns itself.
    pub(crate) fn strip_as_user_mut(&mut self) -> &mut Self {
        match self {
            Self::AsUser(_, inner) => inner.strip_as_user_mut(),
            other => other,
        }
    }

    pub fn strip_as_user(&self) -> &Self {
        match self {
            Self::AsUser(_, inner) => inner.strip_as_user(),
            other => other,
        }
    }
}

fn decode_path(text: &str) -> PathBuf {
    path_from_bytes(text::decode_display_safe(text))
}

fn encode_command(tool: Tool, arguments: &[String]) -> String {
    let words = arguments.iter().map(|argument| {
        let word = text::display_safe(argument.as_bytes()).replace(' ', "\\x20");
        format!(" {word}")
    });
    format!("run {}{}", tool.name(), words.collect::<String>())
}

fn decode_command(words: &str) -> Option<Question> {
    let mut words = words.split(' ');
    let tool = Tool::from_name(words.next()?)?;
    let arguments = words.map(|word| String::from_utf8(text::decode_display_safe(word)).ok());
    Some(Question::Run(tool, arguments.collect::<Option<_>>()?))
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;

    use super::*;

    pub fn any_question() -> impl Strategy<Value = Question> {
        let path = || {
            prop_oneof![
                any::<Vec<u8>>(),
                "/[ -~]{0,20}".prop_map(String::into_bytes)
            ]
            .prop_map(path_from_bytes)
        };
        let tool = prop_oneof![
            prop::sample::select(Tool::FIXED.to_vec()),
            any::<u32>().prop_map(Tool::Postgres),
            any::<u32>().prop_map(Tool::PgCtl),
            any::<u32>().prop_map(Tool::PgControldata)
        ];
        let dialect = prop::sample::select(ConfigDialect::ALL.to_vec());
        let plain = prop_oneof![
            path().prop_map(Question::Read),
            path().prop_map(Question::List),
            path().prop_map(Question::IsEmpty),
            path().prop_map(Question::Link),
            path().prop_map(Question::RealPath),
            path().prop_map(Question::Stat),
            path().prop_map(Question::StatFs),
            path().prop_map(Question::Flags),
            Just(Question::Uname),
            Just(Question::Identity),
            Just(Question::Resources),
            Just(Question::Servers),
            any::<u32>().prop_map(Question::ProcessStart),
            any::<u32>().prop_map(Question::Tablespaces),
            any::<u32>().prop_map(Question::CommandLine),
            any::<u32>().prop_map(Question::Environment),
            any::<u32>().prop_map(Question::UserName),
            (path(), dialect).prop_map(|(p, d)| Question::Config(p, d)),
            (path(), prop::sample::select(ScanDepth::ALL.to_vec()))
                .prop_map(|(path, look)| Question::Content(path, look)),
            (path(), prop::sample::select(SuperblockKind::ALL.to_vec()))
                .prop_map(|(path, kind)| Question::Superblock(path, kind)),
            (path(), prop::sample::select(LogFileKind::ALL.to_vec()))
                .prop_map(|(path, kind)| Question::LogFiles(path, kind)),
            path().prop_map(Question::PgSettings),
            path().prop_map(Question::MysqlSettings),
            (tool, prop::collection::vec(any::<String>(), 0..4))
                .prop_map(|(t, a)| Question::Run(t, a)),
        ];
        (plain, any::<Option<u32>>()).prop_map(|(question, uid)| match uid {
            Some(uid) => Question::AsUser(uid, Box::new(question)),
            None => question,
        })
    }

    proptest! {
        #[test]
        fn question_round_trips(question in any_question()) {
            let words = encode(&question);
            prop_assert!(!words.contains('\n'));
            prop_assert_eq!(decode(&words), Some(question));
        }

        #[test]
        fn question_decoder_never_panics(words: String) {
            decode(&words);
        }
    }
}
