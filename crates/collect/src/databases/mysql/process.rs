//! Running servers: options, environment, working directory and start time.
//!
//! [`Host`] returns only allow-listed command-line options and environment variables of a process.
//! At its start a server changes into its data directory (my_setwd(mysql_real_data_home) in
//! mysqld.cc of MySQL and of MariaDB). The working directory therefore shows the data directory,
//! even if the option files have changed since.

use std::path::{Path, PathBuf};

use super::product_version;
use crate::collector::Request;
use crate::databases::server_processes::{self, ServerProcess, UnprovenProcess};
use crate::databases::start_time;

use crate::facts::{FactSet, Reading, Source};
use crate::host::{Host, HostError, HostResult, HostTimestamp, Question, Stat, path_from_bytes};
use crate::host_readings::file_reading;
use crate::text::decode_display_safe;

/// `None` for an option without a value, or if the host withheld the value.
type CommandLineOptions = Vec<(String, Option<Vec<u8>>)>;

#[derive(Debug)]
pub struct MysqldProcess {
    pub pid: u32,
    pub uid: u32,
    pub options: Result<CommandLineOptions, HostError>,
    /// The environment variables, encoded as in the answer to [`Question::Environment`].
    pub environment: HostResult,
    pub program: Reading<PathBuf>,
    pub working_directory: Reading<PathBuf>,
    pub start_time: Option<HostTimestamp>,
    /// The name of a preloaded library that disables fsync, or `none`.
    pub preloaded_library: Reading<String>,
}

impl MysqldProcess {
    pub fn command_line_source(&self) -> Source {
        Source::from_file(format!("/proc/{}/cmdline", self.pid))
    }

    /// The value of the option's first occurrence, which is the one that counts for options that
    /// name files.
    pub fn first_option_value(&self, name: &str) -> Option<&[u8]> {
        let options = self.options.as_ref().ok()?;
        options
            .iter()
            .find(|(found, _)| found == name)?
            .1
            .as_deref()
    }

    /// An empty variable counts as unset.
    pub fn environment_variable(&self, name: &str) -> Option<Vec<u8>> {
        server_processes::environment_variable(self.environment.as_deref().ok()?, name)
    }
}

/// The running servers, and processes that may be servers but cannot be examined. Fails if
/// processes cannot be listed.
pub fn read_mysqld_processes(
    host: &dyn Host,
    request: &Request,
    facts: &mut FactSet,
) -> Result<(Vec<MysqldProcess>, Vec<UnprovenProcess>), HostError> {
    let listing = server_processes::list_server_processes(host, request)?;
    let mut found = Vec::new();
    let beyond = |(uid, count): &(Option<u32>, u64)| UnprovenProcess {
        uid: *uid,
        detail: format!(
            "{count} more processes are named like database servers and were not checked"
        ),
    };
    let mut unproven: Vec<UnprovenProcess> = listing.skipped.iter().map(beyond).collect();
    for row in listing.rows.iter().filter(|row| row.is_mysql_or_mariadb()) {
        match server_processes::server_file_reader_uid(row) {
            Ok(uid) => found.extend(read_mysqld_process(host, row, uid, facts)),
            Err(note) => {
                unproven.push(UnprovenProcess {
                    uid: row.uid,
                    detail: note.to_string(),
                });
                facts.add_note_once(note);
            }
        }
    }
    Ok((found, unproven))
}

fn read_mysqld_process(
    host: &dyn Host,
    row: &ServerProcess,
    uid: u32,
    facts: &mut FactSet,
) -> Option<MysqldProcess> {
    let pid = row.pid;
    let options = host
        .ask(&Question::CommandLine(pid))
        .map(|answer| parse_options(&answer));
    match &options {
        // The process has ended since the listing.
        Err(miss) if miss.is_absent() => return None,
        Err(miss) => facts.add_note_once(format!(
            "the arguments of database process {pid} cannot be read: {miss}"
        )),
        Ok(_) => {}
    }
    let environment = host.ask(&Question::Environment(pid));
    let cwd = format!("/proc/{pid}/cwd");
    let working_directory = file_reading(host.link_target(Path::new(&cwd)), &cwd);
    Some(MysqldProcess {
        pid,
        uid,
        options,
        preloaded_library: server_processes::preloaded_eatmydata(host, pid, &environment),
        environment,
        program: product_version::process_executable_path(host, pid),
        working_directory,
        start_time: start_time::process_start_time(host, pid),
    })
}

fn parse_options(answer: &[u8]) -> CommandLineOptions {
    let answer = String::from_utf8_lossy(answer);
    let option = |line: &str| {
        let option = line.strip_prefix("--")?;
        Some(match option.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(decode_display_safe(value))),
            None => (option.to_owned(), None),
        })
    };
    answer.lines().filter_map(option).collect()
}

/// Any user can choose a path as argument or working directory, but only a server's user can open
/// its tablespace.
pub fn has_tablespace_open(
    host: &dyn Host,
    pid: u32,
    tablespace: &Stat,
) -> Result<bool, HostError> {
    let answer = host.ask(&Question::Tablespaces(pid))?;
    let wanted = format!(
        "{} {} {}",
        tablespace.major, tablespace.minor, tablespace.inode
    );
    Ok(String::from_utf8_lossy(&answer)
        .lines()
        .any(|line| line == wanted))
}

pub fn path_from_option_value(value: &[u8]) -> PathBuf {
    path_from_bytes(value.to_vec())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parses_options_with_and_without_values() {
        let read = parse_options(b"--datadir=/srv/a\\x20b\n--innodb_flush\nnoise\n");
        assert_eq!(
            read,
            [
                ("datadir".to_owned(), Some(b"/srv/a b".to_vec())),
                ("innodb_flush".to_owned(), None)
            ]
        );
    }

    proptest! {
        #[test]
        fn option_values_round_trip(
            values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..5), noise in "[^-\n][^\n]{0,20}",
        ) {
            let name = |n: usize| format!("option_{n}");
            let line = |(n, value): (usize, &Vec<u8>)| format!("--{}={}\n", name(n), crate::text::display_safe(value));
            let mut lines: Vec<String> = values.iter().enumerate().map(line).collect();
            lines.insert(lines.len() / 2, format!("{noise}\n"));
            let expect: CommandLineOptions = values.into_iter().enumerate().map(|(n, value)| (name(n), Some(value))).collect();
            prop_assert_eq!(parse_options(lines.concat().as_bytes()), expect);
        }
    }
}
