//! The host with another user's rights, for queries about files and to database servers. All other
//! queries run with the rights of the invoking user.
//!
//! The user is fixed before anything is read: the user of a process, or the owner of a directory.
//! For root's files the user is `nobody`, so that a symbolic link reveals only what everybody can
//! see.

use std::path::Path;

use crate::host::{Host, HostResult, NOBODY, Question, Tool};
use crate::servers;

pub struct UserHost<'a> {
    host: &'a dyn Host,
    pub uid: u32,
}

impl<'a> UserHost<'a> {
    pub fn new(host: &'a dyn Host, uid: u32) -> Self {
        if uid != NOBODY {
            // A server exists, so its settings table will be needed. The table is parsed here,
            // while the child process that queries as this user starts.
            servers::preload_server_settings_table();
        }
        Self { host, uid }
    }

    /// The host with the rights of the owner of the file to which `path` resolves. If that owner is
    /// root or unknown, the rights are those of `nobody`.
    pub fn for_owner_or_nobody(host: &'a dyn Host, path: &Path) -> Self {
        let owner = host
            .stat(path)
            .ok()
            .and_then(|stat| u32::try_from(stat.uid).ok());
        Self::new(host, owner.filter(|uid| *uid != 0).unwrap_or(NOBODY))
    }
}

/// Whether a question is asked with the user's rights: a question to a database, or about a file
/// that is neither a block device nor a file of the kernel.
fn is_asked_as_user(question: &Question) -> bool {
    let of_database = matches!(
        question,
        Question::PgSettings(_)
            | Question::MysqlSettings(_)
            | Question::Run(Tool::PgControldata(_), _)
    );
    let is_excluded = matches!(
        question,
        Question::Content(..) | Question::Superblock(..) | Question::AsUser(..)
    );
    let path = question.path().filter(|path| {
        let of_kernel = path.starts_with("/proc") || path.starts_with("/sys");
        !of_kernel || path.iter().nth(3).is_some_and(|name| name == "root")
    });
    of_database || !is_excluded && path.is_some()
}

impl Host for UserHost<'_> {
    fn ask(&self, question: &Question) -> HostResult {
        if is_asked_as_user(question) {
            self.host
                .ask(&Question::AsUser(self.uid, Box::new(question.clone())))
        } else {
            self.host.ask(question)
        }
    }

    fn is_live(&self) -> bool {
        self.host.is_live()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Stat;
    use crate::testing::{FakeHost, ZERO_STAT};

    fn recorded_queries(ask: impl Fn(&UserHost<'_>)) -> Vec<Question> {
        let stat = Stat {
            mode: 0o040_755,
            uid: 26,
            gid: 26,
            major: 8,
            minor: 1,
            inode: 5,
            ..ZERO_STAT
        };
        let root = Stat { uid: 0, ..stat };
        let fake = FakeHost::default()
            .with_answer(Question::Stat("/srv/pg".into()), stat.encode())
            .with_answer(Question::Stat("/root".into()), root.encode());
        ask(&UserHost::for_owner_or_nobody(&fake, Path::new("/srv/pg")));
        assert_eq!(
            UserHost::for_owner_or_nobody(&fake, Path::new("/root")).uid,
            NOBODY
        );
        assert_eq!(
            UserHost::for_owner_or_nobody(&fake, Path::new("/none")).uid,
            NOBODY
        );
        fake.asked_questions().into_iter().skip(1).collect()
    }

    #[test]
    fn file_queries_use_owner_rights() {
        let ask = |question: Question| recorded_queries(|host| drop(host.ask(&question))).remove(0);
        let on_behalf = |question: Question| {
            assert_eq!(
                ask(question.clone()),
                Question::AsUser(26, Box::new(question))
            );
        };
        on_behalf(Question::Read("/srv/pg/PG_VERSION".into()));
        on_behalf(Question::Stat("/proc/7/root/srv/pg".into()));
        on_behalf(Question::PgSettings("/run/x".into()));
        for question in [
            Question::Read("/proc/7/stat".into()),
            Question::Link("/proc/7/ns/mnt".into()),
            Question::UserName(26),
            Question::Servers,
        ] {
            assert_eq!(ask(question.clone()), question);
        }
    }
}
