use std::path::{Path, PathBuf};

use crate::collector::Request;
use crate::databases::server_processes::{self, ServerProcess};

use crate::facts::{FactSet, Reading, Source};
use crate::host::{Host, HostError, Question, path_from_bytes};
use crate::text::decode_display_safe;

#[derive(Clone, Debug)]
pub struct Postmaster {
    pub pid: u32,
    pub uid: u32,
    pub data_directory: Option<PathBuf>,
    pub settings: Vec<(String, Vec<u8>)>,
    /// The name of a preloaded library that disables fsync, or `none`.
    pub preloaded_library: Reading<String>,
}

impl Postmaster {
    /// The value of the setting's last occurrence, which is the one that counts.
    pub fn setting(&self, name: &str) -> Option<&[u8]> {
        self.settings
            .iter()
            .rev()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_slice())
    }

    pub fn command_line_source(&self) -> Source {
        Source::from_file(format!("/proc/{}/cmdline", self.pid))
    }
}

/// Fails if processes cannot be listed. Adds a note on processes that were skipped because of the
/// limit, also those of MySQL and MariaDB.
pub fn running_postmasters(
    host: &dyn Host,
    request: &Request,
    facts: &mut FactSet,
) -> Result<Vec<Postmaster>, HostError> {
    let listing = server_processes::list_server_processes(host, request)?;
    for &(uid, count) in &listing.skipped {
        let whose = uid.map_or_else(
            || "of unknown users".to_owned(),
            |uid| format!("of user {uid}"),
        );
        facts.add_note_once(format!(
            "{count} more processes {whose} are named like database servers and were not checked; their data directories are unknown"
        ));
    }
    let postmasters = listing.rows.iter().filter(|row| row.is_postgres());
    Ok(postmasters
        .filter_map(|row| read_postmaster(host, row, facts))
        .collect())
}

fn read_postmaster(
    host: &dyn Host,
    row: &ServerProcess,
    facts: &mut FactSet,
) -> Option<Postmaster> {
    let uid = match server_processes::server_file_reader_uid(row) {
        Ok(uid) => uid,
        Err(note) => {
            facts.add_note_once(note);
            return None;
        }
    };
    let options = match host.ask(&Question::CommandLine(row.pid)) {
        Ok(answer) => parse_options(&answer),
        // The process has ended since the listing.
        Err(miss) if miss.is_absent() => return None,
        Err(miss) => {
            facts.add_note_once(format!(
                "the arguments of PostgreSQL process {} cannot be read: {miss}",
                row.pid
            ));
            Vec::new()
        }
    };
    let environment = host.ask(&Question::Environment(row.pid));
    let given = options
        .iter()
        .rev()
        .find(|(name, _)| name == DATA_DIRECTORY_OPTION)
        .map(|(_, value)| value.clone());
    let home = given
        .or_else(|| server_processes::environment_variable(environment.as_deref().ok()?, "PGDATA"))
        .map(path_from_bytes);
    // At its start a server changes into its data directory (ChangeToDataDir), so the working
    // directory replaces a missing or relative path.
    let told = options
        .iter()
        .any(|(name, _)| matches!(name.as_str(), "config_file" | "data_directory"));
    let home = match home {
        Some(home) if home.is_absolute() => Some(home),
        None if told => None,
        home => host
            .link_target(Path::new(&format!("/proc/{}/cwd", row.pid)))
            .ok()
            .or(home),
    };
    Some(Postmaster {
        pid: row.pid,
        uid,
        data_directory: home,
        preloaded_library: server_processes::preloaded_eatmydata(host, row.pid, &environment),
        settings: options
            .into_iter()
            .filter(|(name, _)| name != DATA_DIRECTORY_OPTION)
            .collect(),
    })
}

/// The key of the option `-D` among the settings; setting names have no dash.
const DATA_DIRECTORY_OPTION: &str = "-D";

fn parse_options(answer: &[u8]) -> Vec<(String, Vec<u8>)> {
    let answer = String::from_utf8_lossy(answer);
    let option = |line: &str| {
        let (option, value) = line.split_once(' ')?;
        let (name, value) = match option {
            "-D" => (DATA_DIRECTORY_OPTION, value),
            "-p" => ("port", value),
            "-k" => ("unix_socket_directories", value),
            "-c" => value.split_once('=')?,
            _ => return None,
        };
        Some((name.to_owned(), decode_display_safe(value)))
    };
    answer.lines().filter_map(option).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::UnknownReason;
    use crate::host::HostErrorKind;
    use crate::testing::FakeHost;

    fn collect_postmasters(fake: &FakeHost) -> Vec<Postmaster> {
        super::running_postmasters(fake, &Request::default(), &mut FactSet::default()).unwrap()
    }

    fn host_with_postmaster(arguments: &str) -> FakeHost {
        FakeHost::default()
            .with_answer(
                Question::Servers,
                "10 1 26 postgres\n11 10 26 postgres\n12 1 27 mysqld\n13 1 0 postgres\n",
            )
            .with_answer(Question::CommandLine(10), arguments)
    }

    #[test]
    fn children_and_other_servers_are_no_postmasters() {
        let servers = collect_postmasters(&host_with_postmaster("-D /pg"));
        assert_eq!(
            servers.iter().map(|server| server.pid).collect::<Vec<_>>(),
            [10],
            "13 has ended"
        );
        assert_eq!(servers[0].data_directory.as_deref(), Some(Path::new("/pg")));
    }

    #[test]
    fn command_line_options_become_settings() {
        let servers = collect_postmasters(&host_with_postmaster(
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
            servers[0].data_directory.as_deref(),
            Some(Path::new("/p\ng")),
            "the last -D wins"
        );
        assert_eq!(setting(DATA_DIRECTORY_OPTION), None);
    }

    #[test]
    fn preloaded_eatmydata_is_reported_or_unknown() {
        let of = |fake: FakeHost| collect_postmasters(&fake).remove(0).preloaded_library;
        let environment = |text: &str| {
            host_with_postmaster("-D /pg").with_answer(Question::Environment(10), text)
        };
        let eater = "libeatmydata.so";
        assert_eq!(
            of(environment(&format!("LD_PRELOAD=x.so:{eater}\n")))
                .value()
                .unwrap(),
            eater
        );
        assert_eq!(of(environment("PGDATA=/pg\n")).value().unwrap(), "none");
        assert_eq!(
            of(environment("").with_file("/etc/ld.so.preload", format!("{eater}\n")))
                .value()
                .unwrap(),
            eater
        );
        let denied = |fake: FakeHost| {
            matches!(
                of(fake),
                Reading::Unknown {
                    why: UnknownReason::Denied,
                    ..
                }
            )
        };
        assert!(denied(
            host_with_postmaster("").with_error(Question::Environment(10), HostErrorKind::Denied)
        ));
        assert!(denied(environment("").with_error(
            Question::Read("/etc/ld.so.preload".into()),
            HostErrorKind::Denied
        )));
    }

    #[test]
    fn pgdata_variable_names_data_directory() {
        let servers = collect_postmasters(
            &host_with_postmaster("-c fsync=on")
                .with_answer(Question::Environment(10), "PGDATA=/srv/pg\nPGDATAX=/y\n"),
        );
        assert_eq!(
            servers[0].data_directory.as_deref(),
            Some(Path::new("/srv/pg"))
        );
    }

    proptest! {
        #[test]
        fn arbitrary_process_data_never_panics(list: Vec<u8>, arguments: Vec<u8>, environment: Vec<u8>) {
            let list = [list.as_slice(), b"\n10 1 26 postgres\n"].concat();
            let fake = FakeHost::default().with_answer(Question::Servers, list)
                .with_answer(Question::CommandLine(10), arguments)
                .with_answer(Question::Environment(10), environment);
            collect_postmasters(&fake);
        }
    }
}
