//! Running servers: their options, the files they were told to read, their working directory and
//! start time.
//!
//! Only allow-listed options and variables arrive here, in one form. A server changes into its data
//! directory when it starts, so its working directory is the data directory, whatever the files say
//! now (my_setwd(mysql_real_data_home) in mysqld.cc of both).

use std::path::{Path, PathBuf};

use super::edition;
use crate::collector::Request;
use crate::databases::servers::{self, ServerProcess, Unproven};
use crate::databases::start;
use crate::facts::note::MysqlNote;
use crate::facts::{FactSet, Reading, Source};
use crate::host::{Host, Miss, MissKind, Moment, Question, Stat, path_of};
use crate::refusal::refused;
use crate::text::raw;

/// Options by name; the value is `None` where it is not passed on.
type CommandLineOptions = Vec<(String, Option<Vec<u8>>)>;

#[derive(Debug)]
pub struct MysqldProcess {
    pub pid: u32,
    /// The user id of the process, which its files are read as.
    pub uid: u32,
    /// Its options in their order.
    pub options: Result<CommandLineOptions, Miss>,
    /// Its variables, in the form of [`Question::Environment`].
    pub environment: Result<Vec<u8>, Miss>,
    /// The program that it runs.
    pub program: Reading<PathBuf>,
    pub works_in: Reading<PathBuf>,
    pub started: Option<Moment>,
    /// A preloaded library that turns fsync into nothing, or `none`.
    pub preloaded: Reading<String>,
}

impl MysqldProcess {
    /// Where the options were read.
    pub fn command_line(&self) -> Source {
        Source::file(format!("/proc/{}/cmdline", self.pid))
    }

    /// The value of an option; of options that name files the first one counts.
    pub fn option(&self, name: &str) -> Option<&[u8]> {
        let options = self.options.as_ref().ok()?;
        options
            .iter()
            .find(|(found, _)| found == name)?
            .1
            .as_deref()
    }

    /// A variable; empty ones count as unset.
    pub fn variable(&self, name: &str) -> Option<Vec<u8>> {
        servers::variable(self.environment.as_deref().ok()?, name)
    }
}

/// The servers, and what may be one and cannot be looked at; an error when processes cannot be
/// listed.
pub fn servers(
    host: &dyn Host,
    request: &Request,
    facts: &mut FactSet,
) -> Result<(Vec<MysqldProcess>, Vec<Unproven>), Miss> {
    let listing = servers::list(host, request)?;
    let mut found = Vec::new();
    let beyond = |(uid, count): &(Option<u32>, u64)| Unproven {
        uid: *uid,
        detail: format!(
            "{count} more processes are called like database servers and were not looked at"
        ),
    };
    let mut unproven: Vec<Unproven> = listing.more.iter().map(beyond).collect();
    for row in listing.rows.iter().filter(|row| row.is_mysql()) {
        match servers::reader(row) {
            Ok(uid) => found.extend(server(host, row, uid, facts)),
            Err(note) => {
                unproven.push(Unproven {
                    uid: row.uid,
                    detail: note.to_string(),
                });
                facts.warn(note);
            }
        }
    }
    Ok((found, unproven))
}

fn server(
    host: &dyn Host,
    row: &ServerProcess,
    uid: u32,
    facts: &mut FactSet,
) -> Option<MysqldProcess> {
    let pid = row.pid;
    let options = host
        .ask(&Question::CommandLine(pid))
        .map(|answer| options(&answer));
    match &options {
        // The process has ended since.
        Err(miss) if miss.kind == MissKind::Absent => return None,
        Err(miss) => facts.warn(MysqlNote::NoArguments {
            pid,
            reason: miss.to_string(),
        }),
        Ok(_) => {}
    }
    let environment = host.ask(&Question::Environment(pid));
    let cwd = format!("/proc/{pid}/cwd");
    let works_in = match host.link(Path::new(&cwd)) {
        Ok(path) => Reading::known(path, Source::file(cwd)),
        Err(miss) => refused(&miss, &cwd),
    };
    Some(MysqldProcess {
        pid,
        uid,
        options,
        preloaded: servers::preloaded(host, pid, &environment),
        environment,
        program: edition::program(host, pid),
        works_in,
        started: start::of_process(host, pid),
    })
}

/// Options in the one form of [`Question::CommandLine`].
fn options(answer: &[u8]) -> CommandLineOptions {
    let answer = String::from_utf8_lossy(answer);
    let option = |line: &str| {
        let option = line.strip_prefix("--")?;
        Some(match option.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(raw(value))),
            None => (option.to_owned(), None),
        })
    };
    answer.lines().filter_map(option).collect()
}

/// Whether a process has the system tablespace open that lies there; the error says why that is not
/// known. What it has open is what it serves: a name in its arguments or a directory that it is in
/// is anybody's to choose.
pub fn holds(host: &dyn Host, pid: u32, tablespace: &Stat) -> Result<bool, Miss> {
    let answer = host.ask(&Question::Tablespaces(pid))?;
    let wanted = format!(
        "{} {} {}",
        tablespace.major, tablespace.minor, tablespace.inode
    );
    Ok(String::from_utf8_lossy(&answer)
        .lines()
        .any(|line| line == wanted))
}

/// A path among the options.
pub fn path(value: &[u8]) -> PathBuf {
    path_of(value.to_vec())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn options_have_names_and_maybe_values() {
        let read = options(b"--datadir=/srv/a\\x20b\n--innodb_flush\nnoise\n");
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
        fn any_value_of_an_option_is_read(
            values in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..5), noise in "[^-\n][^\n]{0,20}",
        ) {
            let name = |n: usize| format!("option_{n}");
            let line = |(n, value): (usize, &Vec<u8>)| format!("--{}={}\n", name(n), crate::text::safe(value));
            let mut lines: Vec<String> = values.iter().enumerate().map(line).collect();
            lines.insert(lines.len() / 2, format!("{noise}\n"));
            let expect: CommandLineOptions = values.into_iter().enumerate().map(|(n, value)| (name(n), Some(value))).collect();
            prop_assert_eq!(options(lines.concat().as_bytes()), expect);
        }
    }
}
