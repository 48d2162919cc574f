//! postgresql.conf: storage settings and includes.
//!
//! The syntax is that of PostgreSQL's guc-file.l: an optional `=`, comments, quotes with `''` and
//! backslash escapes, names in any case. A line that PostgreSQL would refuse is skipped. The
//! collector decides which of several lines wins.

use super::standbys;
use crate::host::{ConfigDirective, is_in_word_list};
use crate::servers::{self, ServerArea, ValueExposure};
use crate::text::bytes::lines;

pub fn is_exposed_setting(name: &str) -> bool {
    servers::settings_safe_to_read(ServerArea::Pg).contains_key(name)
}

pub(crate) fn redact_value(name: &str, value: &[u8]) -> Vec<u8> {
    match servers::settings_safe_to_read(ServerArea::Pg).get(name) {
        // Standbys are often named after hosts, so the names are removed from the list.
        Some(ValueExposure::Shape) => standbys::redact_standby_names(value),
        // The pseudo-setting `server_version` is not listed and passes unchanged. Callers pass no
        // other unlisted setting.
        Some(ValueExposure::Value | ValueExposure::Switch) | None => value.to_vec(),
    }
}

const INCLUDES: &str = "include include_dir include_if_exists";

pub fn redact_postgresql_conf(text: &[u8]) -> Vec<ConfigDirective> {
    (1..)
        .zip(lines(text))
        .filter_map(|(number, line)| parse_conf_line(number, line))
        .collect()
}

/// Keeps only the line about checksums in pg_controldata's output. Other lines identify the cluster
/// (system identifier) and its last activity. Empty if the control file's own checksum is wrong.
pub fn redact_control_data(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    if text.contains("checksum does not match") {
        return Vec::new();
    }
    let line = text
        .lines()
        .find(|line| line.starts_with("Data page checksum version:"));
    line.map(|line| format!("{line}\n").into_bytes())
        .unwrap_or_default()
}

fn parse_conf_line(line: u32, text: &[u8]) -> Option<ConfigDirective> {
    let text = text.trim_ascii_start();
    let end = text
        .iter()
        .position(|b| !is_name_byte(*b))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let key = str::from_utf8(name).ok()?.to_ascii_lowercase();
    if !is_exposed_setting(&key) && !is_in_word_list(INCLUDES, key.as_bytes()) {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"=").unwrap_or(rest).trim_ascii_start();
    let (value, rest) = if let Some(quoted) = rest.strip_prefix(b"'") {
        split_quoted_value(quoted)?
    } else {
        split_unquoted_word(rest)?
    };
    let rest = rest.trim_ascii_start();
    let value = redact_value(&key, &value);
    (rest.is_empty() || rest.starts_with(b"#")).then(|| ConfigDirective::new(line, key, value))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.') || byte >= 0x80
}

fn split_unquoted_word(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let fits = |b: &u8| is_name_byte(*b) || matches!(b, b'-' | b'+' | b':' | b'/');
    let end = text.iter().position(|b| !fits(b)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (!word.is_empty()).then(|| (word.to_vec(), rest))
}

/// Reads a quoted value whose opening quote precedes `text`. Also returns the text after the
/// closing quote.
fn split_quoted_value(mut text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    loop {
        match text {
            [b'\'', b'\'', rest @ ..] => {
                value.push(b'\'');
                text = rest;
            }
            [b'\'', rest @ ..] => return Some((value, rest)),
            [b'\\', digit @ b'0'..=b'7', rest @ ..] => {
                let mut code = u32::from(digit - b'0');
                text = rest;
                for _ in 0..2 {
                    let [digit @ b'0'..=b'7', rest @ ..] = text else {
                        break;
                    };
                    code = code * 8 + u32::from(digit - b'0');
                    text = rest;
                }
                value.push((code & 0xff) as u8);
            }
            [b'\\', escaped, rest @ ..] => {
                value.push(match escaped {
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    other => *other,
                });
                text = rest;
            }
            [byte, rest @ ..] => {
                value.push(*byte);
                text = rest;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact_to_rows(text: &str) -> Vec<(u32, String, String)> {
        let shown = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        redact_postgresql_conf(text.as_bytes())
            .into_iter()
            .map(|s| (s.line, shown(s.key), shown(s.value)))
            .collect()
    }

    #[test]
    fn control_data_keeps_only_the_checksum_version() {
        let printed = "pg_control version number:            1300\nDatabase system identifier:           7310420111666841234\n\
            Data page checksum version:           1\nMock authentication nonce:            5f0e\n";
        assert_eq!(
            redact_control_data(printed.as_bytes()),
            b"Data page checksum version:           1\n"
        );
        let damaged = format!(
            "WARNING: Calculated CRC checksum does not match value stored in file.\n{printed}"
        );
        assert_eq!(redact_control_data(damaged.as_bytes()), b"");
        assert_eq!(redact_control_data(b"\xff"), b"");
    }

    #[test]
    fn postgresql_conf_syntax_is_parsed() {
        let text = "# comment\n\
            fsync = off\n\
            FSync on# comment\n\
            wal_sync_method='open_datasync'   # why\n\
            \tdata_directory = '/srv/it''s\\\\here'\n\
            max_wal_size 10GB\n\
            synchronous_standby_names = 'ANY 2 (berlin, \"a b\", *)'\n\
            commit_delay = -1\n\
            include_dir 'conf.d'\n\
            include_if_exists = 'a\\040b'\r\n";
        let expected = [
            (2, "fsync", "off"),
            (3, "fsync", "on"),
            (4, "wal_sync_method", "open_datasync"),
            (5, "data_directory", "/srv/it's\\here"),
            (6, "max_wal_size", "10GB"),
            (7, "synchronous_standby_names", "ANY 2 (_, _, _)"),
            (8, "commit_delay", "-1"),
            (9, "include_dir", "conf.d"),
            (10, "include_if_exists", "a b"),
        ];
        assert_eq!(
            redact_to_rows(text),
            expected.map(|(l, k, v)| (l, k.to_owned(), v.to_owned()))
        );
    }

    #[test]
    fn malformed_or_unlisted_lines_are_skipped() {
        for text in [
            "fsync",
            "fsync =",
            "fsync = 'off",
            "fsync = off secret",
            "fsync = 'off' 'on'",
            "fsyncs = off",
            "x.fsync=off",
        ] {
            assert_eq!(redact_to_rows(text), [], "{text}");
        }
    }
}
