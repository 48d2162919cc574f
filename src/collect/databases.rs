//! Database servers of every kind, read concurrently: most of the time is spent waiting for children that run as their
//! owners and for programs that print their version.
//!
//! Discovery and interpretation are left to the collectors of each kind. Several leads can end at one program (two
//! clusters of one release, or a running server and the same one installed), so the host must ask each question only once.

mod behalf;
mod conf;
mod start;
mod servers;
mod inside;
mod named;
mod mysql;
mod postgres;
pub mod wal_room;

use self::named::ConfigArgument;
use super::collector::Request;
use crate::facts::FactSet;
use crate::host::Host;
use crate::workers;

/// The name of this step, for progress.
pub const ID: &str = "database servers";

/// Facts about database servers. Needs no facts of other collectors. The host remembers its answers.
pub fn look(host: &dyn Host, request: &Request) -> FactSet {
    let postgres = || postgres::look(host, request);
    let (mut facts, others) = if mysql::waits_for_a_program(host, request) {
        // The program takes longer to tell its version than walwise takes to read all files, and which files there are does
        // not depend on the version. So they are read meanwhile, by one thread, since several would hold the program up.
        let ahead = Request { without_programs: true, ..request.clone() };
        let read = || {
            let facts = postgres();
            mysql::look(host, &ahead);
            facts
        };
        let ((), facts) = workers::behind(|| mysql::ask_program(host, request), read);
        (facts, mysql::look(host, request))
    } else {
        workers::beside(postgres, || mysql::look(host, request))
    };
    facts.merge(others);
    facts
}

/// The error in a configuration file that was named, as far as it shows before anything is read.
pub fn unusable(host: &dyn Host, request: &Request) -> Option<String> {
    let of_mysql = ConfigArgument::mysql(request).and_then(|named| {
        let data = mysql::asked_for(host, request);
        named.unusable(host, data.as_ref())
    });
    of_mysql.or_else(|| {
        let named = ConfigArgument::postgres(request)?;
        let data = postgres::asked_for(host, request);
        named.unusable(host, data.as_ref())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::{Fake, sentences};
    use crate::facts::Scope;
    use crate::facts::catalog::{mysql as of_mysql, postgres as of_postgres};
    use crate::host::{Moment, Question, RememberingHost, Stat, Tool};

    fn stat(mode: u64, inode: u64) -> Vec<u8> {
        let (uid, gid, major, minor, node_major, node_minor, size) = (26, 26, 8, 1, 0, 0, 0);
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
            changed: Some(Moment::in_second(5)),
        }
        .encode()
    }

    fn directory(fake: Fake, path: &str, inode: u64) -> Fake {
        fake.answer(Question::RealPath(path.into()), path)
            .answer(Question::Stat(path.into()), stat(0o040_700, inode))
    }

    /// Two clusters of PostgreSQL 15 where packages put them, and a MariaDB that runs.
    fn machine() -> Fake {
        let version = |tool| Question::Run(tool, vec!["--version".to_owned()]);
        let mariadbd = "/usr/sbin/mariadbd";
        let mut fake = Fake::default()
            .answer(Question::Servers, "10 1 26 mariadbd\n")
            .answer(Question::CommandLine(10), "")
            .answer(Question::Environment(10), "")
            .answer(Question::UserName(26), "db")
            .symlink("/proc/10/cwd", "/var/lib/mysql")
            .symlink("/proc/10/exe", mariadbd)
            .answer(Question::RealPath(mariadbd.into()), mariadbd)
            .answer(Question::Stat(mariadbd.into()), stat(0o100_755, 77))
            .answer(Question::Stat("/proc/10/exe".into()), stat(0o100_755, 77))
            .answer(Question::Tablespaces(10), "8 1 9\n")
            .answer(Question::Stat("/var/lib/mysql/ibdata1".into()), stat(0o100_600, 9))
            .answer(version(Tool::Mariadbd), "mariadbd  Ver 10.11.19-MariaDB for Linux on x86_64\n")
            .answer(version(Tool::PgCtl(15)), "pg_ctl (PostgreSQL) 15.20\n");
        let above = [("/var/lib/postgresql", 5), ("/var/lib/postgresql/15", 6)];
        for (path, inode) in [("/var/lib/mysql", 3), ("/var/lib/mysql/mysql", 4)].into_iter().chain(above) {
            fake = directory(fake, path, inode);
        }
        for (name, inode) in [("a", 20), ("b", 21)] {
            let path = format!("/var/lib/postgresql/15/{name}");
            let control = vec!["-D".to_owned(), path.clone()];
            fake = directory(fake, &path, inode)
                .file(format!("{path}/PG_VERSION"), "15\n")
                .answer(Question::Stat(format!("{path}/PG_VERSION").into()), stat(0o100_600, inode + 10))
                .answer(Question::Run(Tool::PgControldata(15), control), "Data page checksum version: 1\n");
        }
        fake
    }

    #[test]
    fn each_program_is_asked_once() {
        let fake = machine();
        let facts = look(&RememberingHost::new(&fake), &Request::default());
        let clusters: Vec<_> = facts.subjects(Scope::Cluster).cloned().collect();
        assert_eq!(clusters.len(), 3, "{clusters:?} {:?}", sentences(&facts));
        let versions = |base: &str| {
            let of = |cluster| {
                let postgres = facts.value(cluster, &of_postgres::VERSION);
                postgres.or_else(|| facts.value(cluster, &of_mysql::VERSION)).map(|version| version.base())
            };
            clusters.iter().filter(|cluster| of(cluster).as_deref() == Some(base)).count()
        };
        assert_eq!((versions("15.20"), versions("10.11.19")), (2, 1));
        let mut run: Vec<Question> = fake
            .asked()
            .into_iter()
            .filter(|question| matches!(question.bare(), Question::Run(..)))
            .collect();
        run.sort();
        let all = run.len();
        run.dedup();
        assert_eq!((all, run.len()), (4, 4), "two versions and two control files: {run:?}");
    }
}
