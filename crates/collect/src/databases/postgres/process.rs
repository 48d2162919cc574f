//! Running servers: the postmasters among the processes, and their options.

use std::path::{Path, PathBuf};

use crate::collector::Request;
use crate::databases::servers::{self, ServerProcess};
use crate::facts::note::{PostgresNote, ServerNote};
use crate::facts::{FactSet, Reading, Source};
use crate::host::{Host, Miss, MissKind, Question, path_of};
use crate::text::raw;

#[derive(Clone, Debug)]
pub struct Postmaster {
    pub pid: u32,
    /// The user id of the process, which its files are read as.
    pub uid: u32,
    /// The data directory from `-D`, or from `PGDATA`.
    pub home: Option<PathBuf>,
    /// Settings given as options, in their order.
    pub settings: Vec<(String, Vec<u8>)>,
    /// A preloaded library that turns fsync into nothing, or `none`.
    pub preloaded: Reading<String>,
}

impl Postmaster {
    /// The last value of a setting among the options.
    pub fn setting(&self, name: &str) -> Option<&[u8]> {
        self.settings
            .iter()
            .rev()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_slice())
    }

    /// Where the options were read.
    pub fn command_line(&self) -> Source {
        Source::file(format!("/proc/{}/cmdline", self.pid))
    }
}

/// The postmasters; an error when processes cannot be listed. Processes that are not looked at are
/// reported here for servers of every kind.
pub fn servers(
    host: &dyn Host,
    request: &Request,
    facts: &mut FactSet,
) -> Result<Vec<Postmaster>, Miss> {
    let listing = servers::list(host, request)?;
    for &(uid, count) in &listing.more {
        facts.warn(ServerNote::ProcessesBeyondBound { count, uid });
    }
    let postmasters = listing.rows.iter().filter(|row| row.is_postgres());
    Ok(postmasters
        .filter_map(|row| server(host, row, facts))
        .collect())
}

fn server(host: &dyn Host, row: &ServerProcess, facts: &mut FactSet) -> Option<Postmaster> {
    let uid = match servers::reader(row) {
        Ok(uid) => uid,
        Err(note) => {
            facts.warn(note);
            return None;
        }
    };
    let options = match host.ask(&Question::CommandLine(row.pid)) {
        Ok(answer) => options(&answer),
        // The process has ended since.
        Err(miss) if miss.kind == MissKind::Absent => return None,
        Err(miss) => {
            facts.warn(PostgresNote::NoArguments {
                pid: row.pid,
                reason: miss.to_string(),
            });
            Vec::new()
        }
    };
    let environment = host.ask(&Question::Environment(row.pid));
    let given = options
        .iter()
        .rev()
        .find(|(name, _)| name == HOME)
        .map(|(_, value)| value.clone());
    let home = given
        .or_else(|| servers::variable(environment.as_deref().ok()?, "PGDATA"))
        .map(path_of);
    // A server changes into its data directory when it starts (ChangeToDataDir), which settles a
    // missing or relative path.
    let told = options
        .iter()
        .any(|(name, _)| matches!(name.as_str(), "config_file" | "data_directory"));
    let home = match home {
        Some(home) if home.is_absolute() => Some(home),
        None if told => None,
        home => host
            .link(Path::new(&format!("/proc/{}/cwd", row.pid)))
            .ok()
            .or(home),
    };
    Some(Postmaster {
        pid: row.pid,
        uid,
        home,
        preloaded: servers::preloaded(host, row.pid, &environment),
        settings: options
            .into_iter()
            .filter(|(name, _)| name != HOME)
            .collect(),
    })
}

/// The name under which `-D` stands among the options; no setting has a dash.
const HOME: &str = "-D";

/// Options in the one form of [`Question::CommandLine`], as settings.
fn options(answer: &[u8]) -> Vec<(String, Vec<u8>)> {
    let answer = String::from_utf8_lossy(answer);
    let option = |line: &str| {
        let (option, value) = line.split_once(' ')?;
        let (name, value) = match option {
            "-D" => (HOME, value),
            "-p" => ("port", value),
            "-k" => ("unix_socket_directories", value),
            "-c" => value.split_once('=')?,
            _ => return None,
        };
        Some((name.to_owned(), raw(value)))
    };
    answer.lines().filter_map(option).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::Why;
    use crate::testing::Fake;

    fn read(fake: &Fake) -> Vec<Postmaster> {
        super::servers(fake, &Request::default(), &mut FactSet::default()).unwrap()
    }

    fn host(arguments: &str) -> Fake {
        Fake::default()
            .answer(
                Question::Servers,
                "10 1 26 postgres\n11 10 26 postgres\n12 1 27 mysqld\n13 1 0 postgres\n",
            )
            .answer(Question::CommandLine(10), arguments)
    }

    #[test]
    fn postmasters_are_told_from_their_children_and_from_other_servers() {
        let servers = read(&host("-D /pg"));
        assert_eq!(
            servers.iter().map(|server| server.pid).collect::<Vec<_>>(),
            [10],
            "13 has ended"
        );
        assert_eq!(servers[0].home.as_deref(), Some(Path::new("/pg")));
    }

    #[test]
    fn options_become_settings() {
        let servers = read(&host(
            "-D /a\\x20b\n-c wal_level=minimal\n-p 5433\n-k /run/x\n-c config_file=/e=x\n-D /p\\x0ag",
        ));
        let setting = |name| {
            servers[0]
                .setting(name)
                .map(|value| String::from_utf8(value.to_vec()).unwrap())
        };
        for (name, value) in [
            ("wal_level", "minimal"),
            ("port", "5433"),
            ("unix_socket_directories", "/run/x"),
            ("config_file", "/e=x"),
        ] {
            assert_eq!(setting(name).as_deref(), Some(value), "{name}");
        }
        assert_eq!(
            servers[0].home.as_deref(),
            Some(Path::new("/p\ng")),
            "the last -D wins"
        );
        assert_eq!(setting(HOME), None);
    }

    #[test]
    fn a_preloaded_library_is_named_and_what_cannot_be_read_is_unknown() {
        let of = |fake: Fake| read(&fake).remove(0).preloaded;
        let environment = |text: &str| host("-D /pg").answer(Question::Environment(10), text);
        let eater = "libeatmydata.so";
        assert_eq!(
            of(environment(&format!("LD_PRELOAD=x.so:{eater}\n")))
                .value()
                .unwrap(),
            eater
        );
        assert_eq!(of(environment("PGDATA=/pg\n")).value().unwrap(), "none");
        assert_eq!(
            of(environment("").file("/etc/ld.so.preload", format!("{eater}\n")))
                .value()
                .unwrap(),
            eater
        );
        let denied = |fake: Fake| {
            matches!(
                of(fake),
                Reading::Unknown {
                    why: Why::Denied,
                    ..
                }
            )
        };
        assert!(denied(
            host("").refuse(Question::Environment(10), MissKind::Denied)
        ));
        assert!(denied(environment("").refuse(
            Question::Read("/etc/ld.so.preload".into()),
            MissKind::Denied
        )));
    }

    #[test]
    fn the_environment_names_the_directory_where_no_argument_does() {
        let servers = read(
            &host("-c fsync=on").answer(Question::Environment(10), "PGDATA=/srv/pg\nPGDATAX=/y\n"),
        );
        assert_eq!(servers[0].home.as_deref(), Some(Path::new("/srv/pg")));
    }

    proptest! {
        #[test]
        fn hostile_processes_never_fail(list: Vec<u8>, arguments: Vec<u8>, environment: Vec<u8>) {
            let list = [list.as_slice(), b"\n10 1 26 postgres\n"].concat();
            let fake = Fake::default().answer(Question::Servers, list)
                .answer(Question::CommandLine(10), arguments)
                .answer(Question::Environment(10), environment);
            read(&fake);
        }
    }
}
