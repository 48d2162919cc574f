//! Service units of systemd: a PostgreSQL server's data directory, and its user.
//!
//! Only `PGDATA` of `Environment=`, `-D` of `ExecStart=`, and `User=` are kept, because units hold
//! passwords in the first two. Values that contain variables are dropped. Quoting follows
//! systemd.syntax(7). The `collect` crate expands specifiers such as `%i`. A directory with a blank
//! in its name is dropped, because an unclosed quote could have swallowed the next assignment.

use super::split_once_byte;
use crate::host::ConfigDirective;
use crate::text::bytes;

/// Extracts the values of `PGDATA`, `-D` and `User=`, as the keys `pgdata`, `data` and `user`, in
/// the order of the file.
pub fn redact_service_unit(text: &[u8]) -> Vec<ConfigDirective> {
    let mut found = Vec::new();
    for (line, key, value) in section_assignments(text, b"[Service]") {
        let mut put = |key: &str, value: &[u8]| {
            // `$` begins a variable. An equals sign or a blank means that a quote was closed in the
            // wrong place.
            let foreign = |b: &u8| matches!(b, b'$' | b'=') || b.is_ascii_whitespace();
            if !value.is_empty() && !value.iter().any(foreign) {
                found.push(ConfigDirective::new(line, key, value));
            }
        };
        match key.as_slice() {
            b"User" => put("user", &value),
            b"Environment" => {
                let words = split_quoted_words(&value);
                words
                    .iter()
                    .filter_map(|word| word.strip_prefix(b"PGDATA="))
                    .for_each(|path| put("pgdata", path));
            }
            b"ExecStart" => {
                if let Some(path) = data_directory_option(&split_quoted_words(&value)) {
                    put("data", path);
                }
            }
            _ => {}
        }
    }
    found
}

/// The directory in `-D DIR`, `-DDIR` or `--pgdata=DIR` of a command line. Only an absolute path
/// counts as a directory.
fn data_directory_option(words: &[Vec<u8>]) -> Option<&[u8]> {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let joined = word
            .strip_prefix(b"--pgdata=")
            .or_else(|| word.strip_prefix(b"-D"));
        match joined {
            Some(b"") => {
                return words
                    .next()
                    .filter(|path| path.starts_with(b"/"))
                    .map(Vec::as_slice);
            }
            Some(path) if path.starts_with(b"/") => return Some(path),
            _ => {}
        }
    }
    None
}

/// The assignments in the sections with this heading: line, key and value.
pub fn section_assignments(text: &[u8], heading: &[u8]) -> Vec<(u32, Vec<u8>, Vec<u8>)> {
    let mut is_in_section = false;
    let assignment = |(line, text): (u32, Vec<u8>)| {
        if text.starts_with(b"[") {
            is_in_section = text == heading;
        }
        let (key, value) = split_once_byte(&text, b'=').filter(|_| is_in_section)?;
        Some((line, key.trim_ascii().to_vec(), value.trim_ascii().to_vec()))
    };
    numbered_logical_lines(text)
        .into_iter()
        .filter_map(assignment)
        .collect()
}

/// The numbered lines without comments. If a line ends with a backslash, the next line is joined to
/// it with a blank.
fn numbered_logical_lines(text: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut lines = Vec::new();
    let mut pending: Option<(u32, Vec<u8>)> = None;
    for (number, line) in (1..).zip(bytes::lines(text)) {
        let line = line.trim_ascii();
        if matches!(line.first(), Some(b'#' | b';')) {
            continue;
        }
        let (first, mut whole) = pending.take().unwrap_or((number, Vec::new()));
        if let Some(begin) = line.strip_suffix(b"\\") {
            whole.extend_from_slice(begin);
            whole.push(b' ');
            pending = Some((first, whole));
        } else {
            whole.extend_from_slice(line);
            lines.push((first, whole));
        }
    }
    lines.extend(pending);
    lines
}

/// The result is empty if a quote stays open.
fn split_quoted_words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut begun): (Vec<u8>, Option<u8>, bool) = (Vec::new(), None, false);
    for byte in text {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'"' | b'\'') => (quote, begun) = (Some(*byte), true),
            (None, byte) if byte.is_ascii_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (_, byte) => {
                word.push(*byte);
                begun = true;
            }
        }
    }
    if quote.is_some() {
        return Vec::new();
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact_to_rows(text: &str) -> Vec<(u32, String, String)> {
        let shown = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        redact_service_unit(text.as_bytes())
            .into_iter()
            .map(|s| (s.line, shown(s.key), shown(s.value)))
            .collect()
    }

    #[test]
    fn only_data_directory_and_user_are_kept() {
        let text = "[Unit]\nUser=no\n[Service]\n# Environment=PGDATA=/no\nType=notify\nUser=postgres\n\
            Environment=PGPASSWORD=x PGDATA=/var/lib/pgsql/16/data/ \"A=b c\"\n\
            ExecStart=/usr/pgsql-16/bin/postgres -c password=x \\\n  -D ${PGDATA}\n\
            ExecStart=/usr/bin/postgres -D '/srv/ab' -p 1\nExecStart=/usr/bin/postgres -D '/srv/a b' -p 1\n\
            Environment=PGDATA=\" password Zk7hunter2 \"\n[Install]\nUser=no\n";
        let row = |line, key: &str, value: &str| (line, key.to_owned(), value.to_owned());
        let expected = [
            row(6, "user", "postgres"),
            row(7, "pgdata", "/var/lib/pgsql/16/data/"),
            row(10, "data", "/srv/ab"),
        ];
        assert_eq!(redact_to_rows(text), expected);
    }
}
