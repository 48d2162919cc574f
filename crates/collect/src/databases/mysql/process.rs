//! Running MySQL and MariaDB servers: options of the command line, and the proof that a process has
//! a tablespace open.

use crate::databases::server_processes::{CommandLineOption, ServerProcess};
use crate::host::{Host, HostError, Question, Stat};
use crate::text::decode_display_safe;

/// The value of the option's first occurrence, which is the one that counts for options that name
/// files.
pub fn first_option_value<'a>(server: &'a ServerProcess, name: &str) -> Option<&'a [u8]> {
    let options = server.options.as_ref().ok()?;
    let (_, value) = options.iter().find(|(found, _)| found == name)?;
    value.as_deref()
}

pub fn parse_option(line: &str) -> Option<CommandLineOption> {
    let option = line.strip_prefix("--")?;
    Some(match option.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(decode_display_safe(value))),
        None => (option.to_owned(), None),
    })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parses_options_with_and_without_values() {
        let read = [
            "--datadir=/srv/a\\x20b",
            "--innodb_flush",
            "--defaults-file=",
            "noise",
        ]
        .map(parse_option);
        assert_eq!(
            read,
            [
                Some(("datadir".to_owned(), Some(b"/srv/a b".to_vec()))),
                Some(("innodb_flush".to_owned(), None)),
                Some(("defaults-file".to_owned(), Some(Vec::new()))),
                None
            ]
        );
    }

    proptest! {
        #[test]
        fn option_values_round_trip(value in prop::collection::vec(any::<u8>(), 0..20)) {
            let line = format!("--option={}", crate::text::display_safe(&value));
            prop_assert_eq!(parse_option(&line), Some(("option".to_owned(), Some(value))));
        }
    }
}
