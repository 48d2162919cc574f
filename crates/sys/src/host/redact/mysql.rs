//! Option files of MySQL and MariaDB, and MySQL's persisted settings: storage settings and
//! includes.
//!
//! The syntax is that of mysys/my_default.c in both servers. Settings are named `group.name`, in
//! lower case with underscores. A switch without a value has the value `1`, as in the servers. An
//! abbreviated name is kept without its value. Groups that clients read are dropped, because they
//! hold passwords.

use std::collections::BTreeMap;

use super::split_once_byte;
use crate::host::ConfigDirective;
use crate::servers::{self, ServerArea, ValueExposure};
use crate::text::bytes::lines;

fn exposed_settings() -> &'static BTreeMap<String, ValueExposure> {
    servers::settings_safe_to_read(ServerArea::Mysql)
}

/// Prefixes that the servers allow before a name (special_opt_prefix of mysys/my_getopt.c).
const PREFIXES: [&str; 4] = ["loose_", "skip_", "disable_", "enable_"];

const GROUPS: [&str; 5] = ["mysqld", "mariadb", "server", "client-server", "galera"];

/// The shortest abbreviation that is kept. A server refuses to start with a shorter one, which is
/// ambiguous.
const MIN_ABBREVIATION: usize = 5;

/// The name of a setting in lower case with underscores. A prefix such as `loose_` is kept.
pub enum OptionName {
    Known(String),
    Abbreviated(String),
}

/// Whether the option has the value `1` if it is given without a value. Every other option must
/// have a value.
pub fn is_switch(name: &str) -> bool {
    let rest = PREFIXES
        .iter()
        .find_map(|prefix| Some((*prefix, name.strip_prefix(prefix)?)));
    match rest {
        Some(("loose_", rest)) => is_switch(rest),
        Some(_) => true,
        None => exposed_settings()
            .get(name)
            .is_some_and(|leave| matches!(leave, ValueExposure::Switch)),
    }
}

/// `None` for a name that the filter drops.
pub fn exposed_option_name(text: &[u8]) -> Option<OptionName> {
    let name = str::from_utf8(text)
        .ok()?
        .to_ascii_lowercase()
        .replace('-', "_");
    let mut bare = name.as_str();
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| bare.strip_prefix(prefix)) {
        bare = rest;
    }
    if exposed_settings().contains_key(bare) {
        return Some(OptionName::Known(name));
    }
    let begins = bare.len() >= MIN_ABBREVIATION
        && bare != "innodb"
        && exposed_settings()
            .keys()
            .any(|known| known.starts_with(bare));
    begins.then_some(OptionName::Abbreviated(name))
}

pub fn redact_option_file(text: &[u8]) -> Vec<ConfigDirective> {
    let mut group: Option<String> = None;
    let mut found = Vec::new();
    for (line, text) in (1..).zip(lines(text)) {
        let text = text.trim_ascii();
        match text.first() {
            None | Some(b'#' | b';') => {}
            Some(b'!') => found.extend(include_directive(line, text)),
            Some(b'[') => group = server_group_name(text),
            Some(_) => found.extend(
                group
                    .as_deref()
                    .and_then(|group| setting_directive(line, group, text)),
            ),
        }
    }
    found
}

/// The group that a line such as `[mysqld]` opens. `None` for a group that servers do not read.
fn server_group_name(text: &[u8]) -> Option<String> {
    let text = text.get(1..)?;
    let end = text.iter().position(|b| *b == b']')?;
    let name = str::from_utf8(text.get(..end)?)
        .ok()?
        .trim()
        .to_ascii_lowercase();
    GROUPS
        .iter()
        .any(|group| name.starts_with(group))
        .then_some(name)
}

fn include_directive(line: u32, text: &[u8]) -> Option<ConfigDirective> {
    let words: [&[u8]; 2] = [b"!includedir", b"!include"];
    let word = words.into_iter().find(|word| text.starts_with(word))?;
    let (word, rest) = text.split_at(word.len());
    rest.first().filter(|b| b.is_ascii_whitespace())?;
    Some(ConfigDirective::new(
        line,
        word.get(1..)?,
        rest.trim_ascii(),
    ))
}

fn setting_directive(line: u32, group: &str, text: &[u8]) -> Option<ConfigDirective> {
    let text = strip_comment(text);
    let (left, value) = match split_once_byte(text, b'=') {
        Some((left, value)) => (left, Some(unquote_and_unescape(value))),
        None => (text, None),
    };
    let (name, value) = match exposed_option_name(left.trim_ascii())? {
        OptionName::Known(name) => {
            let bare = if is_switch(&name) { "1" } else { "" };
            (name, value.unwrap_or_else(|| bare.into()))
        }
        OptionName::Abbreviated(name) => (name, Vec::new()),
    };
    Some(ConfigDirective::new(line, format!("{group}.{name}"), value))
}

/// Cuts the line at a `#` outside quotes (remove_end_comment of my_default.c).
fn strip_comment(text: &[u8]) -> &[u8] {
    let (mut quote, mut escaped) = (None, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'"' | b'\'' if !escaped => match quote {
                None => quote = Some(*byte),
                Some(open) if open == *byte => quote = None,
                Some(_) => {}
            },
            b'#' if quote.is_none() => return text.get(..at).unwrap_or(text),
            _ => {}
        }
        escaped = quote.is_some() && *byte == b'\\' && !escaped;
    }
    text
}

fn unquote_and_unescape(text: &[u8]) -> Vec<u8> {
    let text = text.trim_ascii();
    let inner = match text {
        [open @ (b'"' | b'\''), inner @ .., close] if open == close => inner,
        _ => text,
    };
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'b') => out.push(8),
            Some(b's') => out.push(b' '),
            Some(quoted @ (b'"' | b'\'' | b'\\')) => out.push(*quoted),
            Some(other) => out.extend([b'\\', *other]),
            None => out.push(b'\\'),
        }
    }
    out
}

/// Extracts the known settings of mysqld-auto.cnf, as `persisted.name`. The file is JSON with
/// `"name": {"Value": "…", …}` at any depth (MySQL manual, *Persisted System Variables*).
pub fn redact_persisted_settings(text: &[u8]) -> Vec<ConfigDirective> {
    let mut found = Vec::new();
    match serde_json::from_slice::<serde_json::Value>(text) {
        Ok(document) => collect_persisted_settings(&document, &mut found),
        Err(_) if !text.trim_ascii().is_empty() => {
            found.push(ConfigDirective::new(1, "malformed", ""));
        }
        Err(_) => {}
    }
    found
}

fn collect_persisted_settings(value: &serde_json::Value, found: &mut Vec<ConfigDirective>) {
    let serde_json::Value::Object(members) = value else {
        return;
    };
    for (name, member) in members {
        match member.get("Value").and_then(serde_json::Value::as_str) {
            Some(value) if exposed_settings().contains_key(name) => {
                found.push(ConfigDirective::new(1, format!("persisted.{name}"), value));
            }
            Some(_) => {}
            None => collect_persisted_settings(member, found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact_to_rows(text: &str) -> Vec<(u32, String, String)> {
        directive_rows(redact_option_file(text.as_bytes()))
    }

    fn directive_rows(settings: Vec<ConfigDirective>) -> Vec<(u32, String, String)> {
        let shown = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        settings
            .into_iter()
            .map(|s| (s.line, shown(s.key), shown(s.value)))
            .collect()
    }

    fn expected_rows(rows: &[(u32, &str, &str)]) -> Vec<(u32, String, String)> {
        rows.iter()
            .map(|(line, key, value)| (*line, (*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn option_file_syntax_is_parsed() {
        let text = "# comment\n\
            [client]\n\
            password=x\n\
            socket=/client\n\
            [mysqld]\n\
            password=x\n\
            Innodb-Flush-Method = O_DIRECT # why\n\
            datadir = \"/srv/my#sql\" # why\n\
            skip-log-bin\n\
            innodb_doublewrite\n\
            innodb_flush_method\n\
            loose-innodb_doublewrite=0\n\
            ; comment\n\
            !include /etc/mysql/more.cnf\n\
            !includedir\t/etc/mysql/conf.d/\n\
            [mariadb-10.11]  \n\
            log-bin=/srv/a\\sb\\\\c\n\
            innodb-flush-log-at-trx=2\n\
            [ mysqld ]\n\
            sync_binlog=''\n\
            master_password=x\n\
            [mysqldump]\n\
            ssl-key=x\r\n";
        let expected = expected_rows(&[
            (7, "mysqld.innodb_flush_method", "O_DIRECT"),
            (8, "mysqld.datadir", "/srv/my#sql"),
            (9, "mysqld.skip_log_bin", "1"),
            (10, "mysqld.innodb_doublewrite", "1"),
            (11, "mysqld.innodb_flush_method", ""),
            (12, "mysqld.loose_innodb_doublewrite", "0"),
            (14, "include", "/etc/mysql/more.cnf"),
            (15, "includedir", "/etc/mysql/conf.d/"),
            (17, "mariadb-10.11.log_bin", "/srv/a b\\c"),
            (18, "mariadb-10.11.innodb_flush_log_at_trx", ""),
            (20, "mysqld.sync_binlog", ""),
        ]);
        assert_eq!(redact_to_rows(text), expected);
    }

    #[test]
    fn persisted_settings_are_found_in_both_formats() {
        let old = br#"{"Version": 1, "mysql_server": {"sync_binlog": {"Value": "0", "Metadata": {"User": "x"}},
            "admin_password": {"Value": "x"}, "mysql_server_static_options": {"innodb_doublewrite": {"Value": "OFF"}}}}"#;
        assert_eq!(
            directive_rows(redact_persisted_settings(old)),
            expected_rows(&[
                (1, "persisted.innodb_doublewrite", "OFF"),
                (1, "persisted.sync_binlog", "0")
            ])
        );
        let new =
            br#"{"Version": 2, "mysql_dynamic_variables": {"sync_binlog": {"Value": "100"}}}"#;
        assert_eq!(
            directive_rows(redact_persisted_settings(new)),
            expected_rows(&[(1, "persisted.sync_binlog", "100")])
        );
        assert_eq!(
            directive_rows(redact_persisted_settings(b"{")),
            expected_rows(&[(1, "malformed", "")])
        );
        assert_eq!(directive_rows(redact_persisted_settings(b"")), []);
    }
}
