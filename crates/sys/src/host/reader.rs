//! The expendable child's own code: answers questions one after another, as the current user or as
//! the owner of a server. The parent, [`super::child`], enforces deadlines.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{HostError, HostResult, Question, ServerOwner, live, question};
use crate::host::live::{answer_in_this_process, files, machine, mysql, postgres, processes};
use crate::host::{ConfigDialect, Tool, redact};
use crate::subprocess::credentials::Credentials;
use crate::subprocess::{Channel, MessageBytes};

pub fn serve_questions(channel: Channel) -> io::Result<()> {
    answer_questions_until_closed(channel, live::answer_in_this_process)
}

/// Changes to the user in the first message, then answers questions. If the change fails, every
/// answer is the error of the change.
pub fn serve_as_owner(mut channel: Channel) -> io::Result<()> {
    let owner: ServerOwner = channel.recv(None)?;
    match owner.connect_and_drop_root() {
        Ok(stream) => {
            let mut delegate = OwnerReader::new(owner, stream);
            answer_questions_until_closed(channel, |question| delegate.answer_as_owner(question))
        }
        Err(miss) => answer_questions_until_closed(channel, |_| Err(miss.clone())),
    }
}

fn answer_questions_until_closed(
    mut channel: Channel,
    mut ask: impl FnMut(&Question) -> HostResult,
) -> io::Result<()> {
    loop {
        let words: String = channel.recv(None)?;
        let answer = match question::decode(&words) {
            Some(question) => ask(&question),
            None => Err(HostError::failed("walwise does not know this query")),
        };
        channel.send(&answer.map(MessageBytes))?;
    }
}

// Questions that a child answers after it has changed its user: about the user's files, server
// socket and control file. Every other question is refused.
//
// A configuration file is read once, identified by device and inode, and the answer is reused
// where another include leads to the file. Otherwise 255 links to one file would count as 255
// files.

/// Limit on cached configuration files, more than the configuration of a server has.
const MAX_FILES: usize = 512;

struct OwnerReader {
    owner: ServerOwner,
    stream: Option<UnixStream>,
    configurations: BTreeMap<ConfigCacheKey, HostResult>,
}

/// Device and inode of a file, and its syntax.
type ConfigCacheKey = ((u64, u64), ConfigDialect);

impl OwnerReader {
    /// To be called only after the child has become `owner`. `stream` is the connected server
    /// socket, if one was requested.
    pub fn new(owner: ServerOwner, stream: Option<UnixStream>) -> Self {
        Self {
            owner,
            stream,
            configurations: BTreeMap::new(),
        }
    }

    pub fn answer_as_owner(&mut self, question: &Question) -> HostResult {
        use Question::{
            AsUser, CommandLine, Config, Content, Environment, Flags, Identity, IsEmpty, Link,
            List, LogFiles, MysqlSettings, PgSettings, ProcessStart, Read, RealPath, Resources,
            Run, Servers, Stat, StatFs, Superblock, Tablespaces, Uname, UserName,
        };
        let refuse = || {
            Err(HostError::failed(
                "walwise does not read this with the rights of another user",
            ))
        };
        let inner = match question {
            AsUser(uid, inner) if *uid == self.owner.uid => {
                self.question_relative_to_owner_root(inner)?
            }
            _ => return refuse(),
        };
        match &inner {
            Read(path)
                if ["PG_VERSION", "postmaster.pid"]
                    .iter()
                    .any(|name| path.ends_with(name)) =>
            {
                answer_in_this_process(&inner)
            }
            Config(
                path,
                dialect @ (ConfigDialect::Postgres
                | ConfigDialect::Mysql
                | ConfigDialect::MysqlPersisted),
            ) => self.read_redacted_config_cached(path, *dialect),
            PgSettings(socket) => postgres::query_settings(socket, self.owner.uid),
            MysqlSettings(_) => match self.stream.take() {
                Some(stream) => mysql::query_settings_on_stream(&stream, b"root", self.owner.uid),
                None => refuse(),
            },
            List(_)
            | Link(_)
            | RealPath(_)
            | Stat(_)
            | LogFiles(..)
            | Run(Tool::PgControldata(_), _) => answer_in_this_process(&inner),
            Read(_) | Config(..) | IsEmpty(_) | StatFs(_) | Flags(_) | Uname | Identity
            | Resources | Servers | ProcessStart(_) | Tablespaces(_) | CommandLine(_)
            | Environment(_) | UserName(_) | Content(..) | Superblock(..) | Run(..)
            | AsUser(..) => refuse(),
        }
    }

    fn question_relative_to_owner_root(&self, question: &Question) -> Result<Question, HostError> {
        let mut question = question.clone();
        if let (true, Some(pid), Some(path)) =
            (self.owner.inside, self.owner.process, question.path_mut())
        {
            let within = path.strip_prefix(format!("/proc/{pid}/root"));
            let within = within.map_err(|_| {
                HostError::failed("the path is outside the root directory of the server process")
            })?;
            *path = PathBuf::from("/").join(within);
        }
        Ok(question)
    }

    fn read_redacted_config_cached(&mut self, path: &Path, dialect: ConfigDialect) -> HostResult {
        let held = files::open_config(path)?;
        let key = (held.identity, dialect);
        if let Some(answer) = self.configurations.get(&key) {
            return answer.clone();
        }
        let answer = redact::redact_config(&held.read_config()?, dialect);
        if self.configurations.len() < MAX_FILES {
            self.configurations.insert(key, answer.clone());
        }
        answer
    }
}

// Changes the user of the reading child to the owner of a server.
//
// Root starts the child, which gives up root before it reads anything. User and root directory
// arrive in the first message, so that other users cannot read them among the arguments. MySQL
// and MariaDB accept root as a client, but not the owner of their files. The child therefore
// connects to the socket as root, with the owner's rights on the path, and gives up root before
// it reads a byte.

impl ServerOwner {
    /// Gives up root for good. Returns the connected socket, if one was requested. After an
    /// error the child must not read anything.
    pub fn connect_and_drop_root(&self) -> Result<Option<UnixStream>, HostError> {
        // Every failure counts as *denied*, because *absent* would mean that the file does not
        // exist.
        files::proc_directory_fd().map_err(|miss| HostError::denied(miss.detail))?;
        // Below the root directory of the process, paths resolve as they do for the process.
        let root = self
            .process
            .filter(|_| self.inside)
            .map(|pid| PathBuf::from(format!("/proc/{pid}/root")));
        let socket = self.socket.clone().map(PathBuf::from);
        self.process_or_passwd_credentials()
            .drop_privileges_and_connect(root.as_deref(), socket.as_deref())
            .map_err(HostError::denied)
    }

    /// The user id and groups to take on. The groups of `process` count only if /proc/PID belongs
    /// to its user and group. If the user may not inspect the process, /proc/PID belongs to root
    /// (PR_SET_DUMPABLE in prctl(2)). A process that has exited reports no groups.
    fn process_or_passwd_credentials(&self) -> Credentials {
        let of_process = self
            .process
            .and_then(|pid| trusted_process_credentials(pid, self.uid));
        let alone = || Credentials {
            uid: self.uid,
            gid: machine::primary_group_or_nobody(self.uid),
            groups: Vec::new(),
        };
        of_process.unwrap_or_else(alone)
    }
}

fn trusted_process_credentials(pid: u32, uid: u32) -> Option<Credentials> {
    let status = files::read_file_bounded(Path::new(&format!("/proc/{pid}/status"))).ok()?;
    let of = fs::metadata(format!("/proc/{pid}")).ok()?;
    let found = processes::parse_credentials(&status).filter(|found| found.uid == uid)?;
    ((of.uid(), of.gid()) == (found.uid, found.gid)).then_some(found)
}

#[cfg(test)]
mod owner_reader_tests {
    use std::fs;

    use super::*;
    use crate::host::HostErrorKind;
    use crate::host::ScanDepth;

    fn current_user_reader() -> OwnerReader {
        let uid = nix::unistd::geteuid().as_raw();
        OwnerReader::new(
            ServerOwner {
                uid,
                process: None,
                inside: false,
                socket: None,
            },
            None,
        )
    }

    fn ask(delegate: &mut OwnerReader, question: Question) -> Result<String, HostError> {
        let uid = delegate.owner.uid;
        delegate
            .answer_as_owner(&Question::AsUser(uid, Box::new(question)))
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn hard_linked_config_is_cached_once() {
        let dir = tempfile::tempdir().unwrap();
        let [one, other] = ["a.conf", "b.conf"].map(|name| dir.path().join(name));
        fs::write(&one, "fsync = off\n").unwrap();
        fs::hard_link(&one, &other).unwrap();
        let mut delegate = current_user_reader();
        for path in [&one, &other] {
            let told = ask(
                &mut delegate,
                Question::Config(path.clone(), ConfigDialect::Postgres),
            )
            .unwrap();
            assert_eq!(told, "1\tfsync\toff\n");
        }
        assert_eq!(delegate.configurations.len(), 1);
    }

    #[test]
    fn questions_not_about_owner_files_are_refused() {
        let mut delegate = current_user_reader();
        for question in [
            Question::Read("/etc/hostname".into()),
            Question::Config("/etc/fstab".into(), ConfigDialect::Fstab),
            Question::Environment(1),
            Question::Content("/dev/null".into(), ScanDepth::Thorough),
            Question::Run(Tool::Mount, vec!["--version".to_owned()]),
            Question::MysqlSettings("/x".into()),
        ] {
            assert_eq!(
                ask(&mut delegate, question.clone()).unwrap_err().kind,
                HostErrorKind::Failed,
                "{question:?}"
            );
        }
        let somebody =
            Question::AsUser(delegate.owner.uid + 1, Box::new(Question::List("/".into())));
        assert!(delegate.answer_as_owner(&somebody).is_err());
        assert!(delegate.answer_as_owner(&Question::Uname).is_err());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::ThreadInTime as _;
    use crate::host::HostErrorKind;
    use crate::subprocess::RECV_TIMEOUT;

    #[test]
    fn the_child_answers_question_after_question() {
        let (mut ours, theirs) = Channel::pair();
        let child = std::thread::spawn(|| {
            answer_questions_until_closed(theirs, live::answer_in_this_process)
        });
        let mut ask = |words: &str| -> Result<MessageBytes, HostError> {
            ours.send(&words).unwrap();
            ours.recv(Some(RECV_TIMEOUT)).unwrap()
        };
        assert_eq!(
            ask("link /proc/self/nothing").unwrap_err().kind,
            HostErrorKind::Absent
        );
        assert_eq!(
            ask("what?").unwrap_err().detail,
            "walwise does not know this query"
        );
        assert_eq!(
            ask("read /proc/sys/kernel/ostype"),
            Ok(MessageBytes(b"Linux\n".to_vec()))
        );
        drop(ours);
        assert!(child.join_in_time().is_err(), "nobody asks any more");
    }

    #[test]
    fn owner_with_uid_zero_is_denied() {
        let (mut ours, theirs) = Channel::pair();
        let child = std::thread::spawn(|| serve_as_owner(theirs));
        ours.send(&ServerOwner {
            uid: 0,
            process: None,
            inside: false,
            socket: None,
        })
        .unwrap();
        ours.send(&question::encode(&Question::Uname)).unwrap();
        let answer: Result<MessageBytes, HostError> = ours.recv(Some(RECV_TIMEOUT)).unwrap();
        assert_eq!(answer.unwrap_err().kind, HostErrorKind::Denied);
        drop(ours);
        assert!(child.join_in_time().is_err());
    }
}
