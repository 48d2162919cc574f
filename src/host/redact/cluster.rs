//! The small files of a cluster that anybody may have put another file in place of: a link called `PG_VERSION` can lead to
//! /etc/shadow. What has not the shape of what it should be is refused, and no byte of it is quoted.

use std::fmt::Write as _;

use crate::host::{Miss, MissKind};
use crate::text;

/// The longest version: `9.6`, `18`, and what a beta may add.
const LONGEST_VERSION: usize = 16;

/// The longest path (PATH_MAX of linux/limits.h).
const LONGEST_PATH: usize = 4096;

/// Of PG_VERSION: digits and dots.
pub fn version(text: Vec<u8>) -> Result<Vec<u8>, Miss> {
    let word = text.trim_ascii();
    let shaped = word.len() <= LONGEST_VERSION
        && word.first().is_some_and(u8::is_ascii_digit)
        && word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if shaped { Ok(text) } else { Err(other("holds no version")) }
}

/// Of postmaster.pid its first five lines: process id, data directory, start time, port and socket directory. Numbers that
/// are none and paths that are none are left empty; without a process id it is no such file.
pub fn pid_file(text: &[u8]) -> Result<Vec<u8>, Miss> {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut line = || lines.next().unwrap_or_default();
    let number = |line: &[u8]| {
        let shaped = !line.is_empty() && line.len() <= 20 && line.iter().all(u8::is_ascii_digit);
        if shaped { String::from_utf8_lossy(line).into_owned() } else { String::new() }
    };
    let path = |line: &[u8]| {
        let shaped = line.starts_with(b"/") && line.len() <= LONGEST_PATH;
        if shaped { text::safe(line) } else { String::new() }
    };
    let mut told = String::new();
    let pid = number(line());
    if pid.is_empty() {
        return Err(other("names no process"));
    }
    let (data, started, port, socket) = (path(line()), number(line()), number(line()), path(line()));
    let _ = write!(told, "{pid}\n{data}\n{started}\n{port}\n{socket}\n");
    Ok(told.into_bytes())
}

fn other(what: &str) -> Miss {
    Miss::new(MissKind::Failed, format!("{what}, so it is another file"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_of_a_server_leave_as_they_are() {
        assert_eq!(version(b"15\n".to_vec()).unwrap(), b"15\n");
        assert_eq!(version(b"9.6\n".to_vec()).unwrap(), b"9.6\n");
        let file = b"81\n/srv/pg\n1732280000\n5432\n/run/postgresql\n*\n  5432001         3\nready   \n";
        assert_eq!(pid_file(file).unwrap(), b"81\n/srv/pg\n1732280000\n5432\n/run/postgresql\n");
    }

    #[test]
    fn other_files_do_not() {
        let shadow = b"root:$y$j9T$secret:19000:0:99999:7:::\n".as_slice();
        assert!(version(shadow.to_vec()).is_err() && pid_file(shadow).is_err());
        let tail = [b"81\n".as_slice(), shadow, shadow, shadow, shadow].concat();
        assert_eq!(pid_file(&tail).unwrap(), b"81\n\n\n\n\n");
    }

    proptest! {
        #[test]
        fn nothing_but_numbers_and_paths_leaves(bytes: Vec<u8>) {
            if let Ok(text) = version(bytes.clone()) {
                prop_assert!(text.trim_ascii().iter().all(|b| b.is_ascii_digit() || *b == b'.'));
            }
            if let Ok(text) = pid_file(&bytes) {
                let text = String::from_utf8(text).unwrap();
                for line in text.lines() {
                    prop_assert!(line.is_empty() || line.starts_with('/') || line.bytes().all(|b| b.is_ascii_digit()));
                    prop_assert!(!line.chars().any(text::is_treacherous));
                }
            }
        }
    }
}
