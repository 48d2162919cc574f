//! Command lines and environments of database servers.
//!
//! Options are normalised, so that no other module has to parse arguments;
//! [`crate::host::Question::CommandLine`] describes the format.

use super::mysql::{self, OptionName};
use super::{postgres, split_once_byte};
use crate::servers::{self, ServerArea};
use crate::text;
use walwise_model::text::JoinText;

/// Options by which the servers of MySQL and MariaDB choose option files. They are kept, although
/// they are not settings.
const MYSQL_FILES: [&str; 4] = [
    "defaults_extra_file",
    "defaults_file",
    "defaults_group_suffix",
    "no_defaults",
];

/// Options of the postgres program that take an argument (getopt(3) string in main/main.c and
/// postmaster.c).
const POSTGRES_OPTIONS_WITH_ARGUMENT: &[u8] = b"BbCcDdfhklNoprStvW";

/// Answers [`crate::host::Question::CommandLine`] from `text`, which has the format of
/// /proc/PID/cmdline. If the program's name is unknown, the options of all servers are kept.
pub(crate) fn redact_command_line(text: &[u8]) -> Vec<u8> {
    let mut words = text.split(|b| *b == 0);
    let program = words.next().unwrap_or_default();
    let name = program.rsplit(|b| *b == b'/').next().unwrap_or_default();
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    let lines = servers::possible_program_areas(name)
        .into_iter()
        .flat_map(|area| match area {
            ServerArea::Pg => exposed_postgres_options(&words),
            ServerArea::Mysql => exposed_mysql_options(&words),
        });
    lines
        .flat_map(|line| [line.into_bytes(), b"\n".to_vec()].concat())
        .collect()
}

fn exposed_postgres_options(words: &[&[u8]]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if let Some(assignment) = word.strip_prefix(b"--") {
            lines.extend(exposed_postgres_setting(assignment));
            continue;
        }
        let Some(mut letters) = word.strip_prefix(b"-") else {
            continue;
        };
        while let Some((letter, rest)) = letters.split_first() {
            letters = rest;
            if *letter == b'F' {
                lines.push("-c fsync=off".to_owned());
            }
            if POSTGRES_OPTIONS_WITH_ARGUMENT.contains(letter) {
                let argument = if rest.is_empty() {
                    words.next().copied().unwrap_or_default()
                } else {
                    rest
                };
                match letter {
                    b'D' | b'k' | b'p' if !argument.starts_with(b"-") => {
                        lines.push(format!(
                            "-{} {}",
                            char::from(*letter),
                            text::display_safe(argument)
                        ));
                    }
                    b'c' => lines.extend(exposed_postgres_setting(argument)),
                    _ => {}
                }
                break;
            }
        }
    }
    lines
}

fn exposed_postgres_setting(assignment: &[u8]) -> Option<String> {
    let (name, value) = split_normalised_assignment(assignment);
    let name = name.filter(|name| postgres::is_exposed_setting(name))?;
    let value = postgres::redact_value(&name, value?);
    Some(format!("-c {name}={}", text::display_safe(&value)))
}

fn split_normalised_assignment(assignment: &[u8]) -> (Option<String>, Option<&[u8]>) {
    let mut parts = assignment.splitn(2, |b| *b == b'=');
    let name = parts.next().and_then(|name| str::from_utf8(name).ok());
    (
        name.map(|name| name.to_ascii_lowercase().replace('-', "_")),
        parts.next(),
    )
}

/// As in my_getopt, a required value may be the next word. An option without a value is written
/// without `=`.
fn exposed_mysql_options(words: &[&[u8]]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix(b"--") else {
            continue;
        };
        let (written, value) = split_normalised_assignment(option);
        let Some(written) = written else { continue };
        let name = match mysql::exposed_option_name(written.as_bytes()) {
            _ if MYSQL_FILES.contains(&written.as_str()) => written,
            Some(OptionName::Known(name)) => name,
            Some(OptionName::Abbreviated(name)) => {
                lines.push(format!("--{name}"));
                continue;
            }
            None => continue,
        };
        let switch = name == "no_defaults" || mysql::is_switch(&name);
        let next = || {
            if switch {
                Some(&b"1"[..])
            } else {
                words.next_if(|next| !next.starts_with(b"-")).copied()
            }
        };
        match value.or_else(next) {
            Some(value) => lines.push(format!("--{name}={}", text::display_safe(value))),
            None => lines.push(format!("--{name}")),
        }
    }
    lines
}

/// Answers [`crate::host::Question::Environment`] from `text`, which has the format of
/// /proc/PID/environ.
pub(crate) fn redact_environment(text: &[u8]) -> Vec<u8> {
    let known = text.split(|b| *b == 0).filter_map(|variable| {
        let (name, value) = split_once_byte(variable, b'=')?;
        match name {
            b"PGDATA" | b"MYSQL_HOME" | b"MARIADB_HOME" | b"MYSQL_GROUP_SUFFIX" => Some(format!(
                "{}={}\n",
                text::display_safe(name),
                text::display_safe(value)
            )),
            b"LD_PRELOAD" => {
                // Libraries are separated by spaces or colons (ld.so(8)).
                let libraries = value
                    .split(|b| matches!(b, b' ' | b':'))
                    .filter(|library| !library.is_empty());
                let names = libraries.map(|library| {
                    text::display_safe(library.rsplit(|b| *b == b'/').next().unwrap_or_default())
                });
                Some(format!("LD_PRELOAD={}\n", names.join_with(":")))
            }
            _ => None,
        }
    });
    known.collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact_spaced_command_line(words: &str) -> String {
        String::from_utf8(redact_command_line(words.replace(' ', "\0").as_bytes())).unwrap()
    }

    #[test]
    fn unknown_program_keeps_options_of_all_servers() {
        assert_eq!(
            redact_spaced_command_line("/opt/shop -D /pg --datadir=/my --password=x"),
            "-D /pg\n--datadir=/my\n"
        );
        assert_eq!(
            redact_spaced_command_line("postgres -D /pg --datadir=/my"),
            "-D /pg\n"
        );
        assert_eq!(
            redact_spaced_command_line("/usr/sbin/mariadbd -D /pg --datadir=/my"),
            "--datadir=/my\n"
        );
    }

    #[test]
    fn options_are_normalised_and_filtered() {
        let given = "/usr/lib/postgresql/16/bin/postgres -D /data -iFp5433 -k/run -c config_file=/etc/x.conf \
            --wal-sync-method=fsync -cfsync=off -c primary_conninfo=x -h host -o -c";
        let expected = "-D /data\n-c fsync=off\n-p 5433\n-k /run\n-c config_file=/etc/x.conf\n\
            -c wal_sync_method=fsync\n-c fsync=off\n";
        assert_eq!(redact_spaced_command_line(given), expected);
        let given = "mysqld --datadir /var/lib/mysql --innodb-flush-method=O_DIRECT --password=x --skip-log-bin --user=me \
            --innodb-flush-log=x --defaults-file=/etc/x.cnf --no-defaults";
        assert_eq!(
            redact_spaced_command_line(given),
            "--datadir=/var/lib/mysql\n--innodb_flush_method=O_DIRECT\n--skip_log_bin=1\n\
             --innodb_flush_log\n--defaults_file=/etc/x.cnf\n--no_defaults=1\n"
        );
    }

    #[test]
    fn environment_keeps_listed_variables() {
        let text =
            b"HOME=/root\0LD_PRELOAD=/usr/lib/libeatmydata.so:/opt/x.so y.so\0PGDATA=/a\nb\0PGPASSWORD=x\0";
        assert_eq!(
            redact_environment(text),
            b"LD_PRELOAD=libeatmydata.so:x.so:y.so\nPGDATA=/a\\x0ab\n"
        );
    }
}
