//! The questions that a child answers once it has changed its user: about the user's files, his server's socket, his
//! control file.
//!
//! Every other question is refused. A configuration file is read once, identified by device and inode, and replayed
//! where it is included again: 255 links to one file would otherwise count as 255 files.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::host::live::files::{self, Configuration};
use crate::host::live::{answer, mysql, postgres};
use crate::host::owner::Owner;
use crate::host::{Dialect, Miss, MissKind, Question, Tool, redact};

/// The number of configuration files that are remembered; no server reads more.
const FILES: usize = 512;

/// The user of the child, and the files it has read.
pub struct Delegate {
    owner: Owner,
    stream: Option<UnixStream>,
    configurations: BTreeMap<File, Result<Vec<u8>, Miss>>,
}

/// A file by device and inode, and how it is written.
type File = ((u64, u64), Dialect);

impl Delegate {
    /// For a child that is this owner by now.
    pub fn new(owner: Owner, stream: Option<UnixStream>) -> Self {
        Self { owner, stream, configurations: BTreeMap::new() }
    }

    /// Answers a question that is asked as the owner.
    pub fn answer(&mut self, question: &Question) -> Result<Vec<u8>, Miss> {
        let refuse =
            || Err(Miss::new(MissKind::Failed, "this is nothing that is read on behalf of somebody"));
        let inner = match question {
            Question::As(uid, inner) if *uid == self.owner.uid => self.as_seen(inner)?,
            _ => return refuse(),
        };
        match &inner {
            Question::Read(path)
                if ["PG_VERSION", "postmaster.pid"].iter().any(|name| path.ends_with(name)) =>
            {
                answer(&inner)
            }
            Question::Config(
                path,
                dialect @ (Dialect::Postgres | Dialect::Mysql | Dialect::MysqlPersisted),
            ) => self.configuration(path, *dialect),
            Question::PgSettings(socket) => postgres::settings(socket, Some(self.owner.uid)),
            Question::MysqlSettings(_) => match self.stream.take() {
                Some(stream) => mysql::settings_over(stream, b"root", self.owner.uid),
                None => refuse(),
            },
            Question::List(_)
            | Question::Link(_)
            | Question::RealPath(_)
            | Question::Stat(_)
            | Question::Run(Tool::PgControldata(_), _) => answer(&inner),
            Question::Read(_)
            | Question::Config(..)
            | Question::Empty(_)
            | Question::StatFs(_)
            | Question::Flags(_)
            | Question::Uname
            | Question::Identity
            | Question::Summary
            | Question::Servers
            | Question::Started(_)
            | Question::Tablespaces(_)
            | Question::CommandLine(_)
            | Question::Environment(_)
            | Question::UserName(_)
            | Question::Content(..)
            | Question::Superblock(..)
            | Question::Run(..)
            | Question::As(..) => refuse(),
        }
    }

    /// The question with its path relative to the root of the child.
    fn as_seen(&self, question: &Question) -> Result<Question, Miss> {
        let mut question = question.clone();
        if let (true, Some(pid), Some(path)) = (self.owner.inside, self.owner.process, question.path_mut()) {
            let within = path.strip_prefix(format!("/proc/{pid}/root"));
            let within = within.map_err(|_| Miss::new(MissKind::Failed, "the path leads to another root"))?;
            *path = PathBuf::from("/").join(within);
        }
        Ok(question)
    }

    fn configuration(&mut self, path: &Path, dialect: Dialect) -> Result<Vec<u8>, Miss> {
        let known = |identity| self.configurations.contains_key(&(identity, dialect));
        match files::configuration(path, known)? {
            Configuration::Known(identity) => {
                let gone = || Err(Miss::new(MissKind::Failed, "the file was read and is forgotten"));
                self.configurations.get(&(identity, dialect)).cloned().unwrap_or_else(gone)
            }
            Configuration::Read(identity, bytes) => {
                let told = redact::config(&bytes, dialect);
                if self.configurations.len() < FILES {
                    self.configurations.insert((identity, dialect), told.clone());
                }
                told
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::host::Look;

    fn ours() -> Delegate {
        let uid = nix::unistd::geteuid().as_raw();
        Delegate::new(Owner { uid, process: None, inside: false, socket: None }, None)
    }

    fn ask(delegate: &mut Delegate, question: Question) -> Result<String, Miss> {
        let uid = delegate.owner.uid;
        delegate.answer(&Question::As(uid, Box::new(question))).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_file_of_many_names_is_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let [one, other] = ["a.conf", "b.conf"].map(|name| dir.path().join(name));
        fs::write(&one, "fsync = off\n").unwrap();
        fs::hard_link(&one, &other).unwrap();
        let mut delegate = ours();
        for path in [&one, &other] {
            let told = ask(&mut delegate, Question::Config(path.clone(), Dialect::Postgres)).unwrap();
            assert_eq!(told, "1\tfsync\toff\n");
        }
        assert_eq!(delegate.configurations.len(), 1);
    }

    #[test]
    fn nothing_else_is_read() {
        let mut delegate = ours();
        for question in [
            Question::Read("/etc/hostname".into()),
            Question::Config("/etc/fstab".into(), Dialect::Fstab),
            Question::Environment(1),
            Question::Content("/dev/null".into(), Look::Named),
            Question::Run(Tool::Mount, vec!["--version".to_owned()]),
            Question::MysqlSettings("/x".into()),
        ] {
            assert_eq!(
                ask(&mut delegate, question.clone()).unwrap_err().kind,
                MissKind::Failed,
                "{question:?}"
            );
        }
        let somebody = Question::As(delegate.owner.uid + 1, Box::new(Question::List("/".into())));
        assert!(delegate.answer(&somebody).is_err());
        assert!(delegate.answer(&Question::Uname).is_err());
    }
}
