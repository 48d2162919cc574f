//! Questions as text, one line each, such as `read /proc/version` or `run mke2fs -V`.
//!
//! Captures hold these lines for people to review, and the expendable child receives them. Paths
//! may be any bytes, so [`crate::text`] escapes them. Decoding is the inverse of encoding.

use std::ffi::OsString;
use std::fmt::Display;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::{Question, Tool};
use crate::text;
use crate::text::display_path;
use walwise_model::facts::Choice;

/// Encodes the question as one line without a newline.
pub fn encode(question: &Question) -> String {
    match question {
        Question::Read(path) => format_with_path("read", path),
        Question::List(path) => format_with_path("list", path),
        Question::IsEmpty(path) => format_with_path("empty", path),
        Question::Link(path) => format_with_path("link", path),
        Question::RealPath(path) => format_with_path("real-path", path),
        Question::Stat(path) => format_with_path("stat", path),
        Question::StatFs(path) => format_with_path("statfs", path),
        Question::Flags(path) => format_with_path("flags", path),
        Question::LogFiles(path, kind) => format_with_kind_and_path("log-files", *kind, path),
        Question::Uname => "uname".to_owned(),
        Question::Identity => "identity".to_owned(),
        Question::Resources => "summary".to_owned(),
        Question::Servers => "servers".to_owned(),
        Question::ProcessStart(pid) => format!("started {pid}"),
        Question::Tablespaces(pid) => format!("tablespaces {pid}"),
        Question::CommandLine(pid) => format!("command-line {pid}"),
        Question::Environment(pid) => format!("environment {pid}"),
        Question::UserName(uid) => format!("user-name {uid}"),
        Question::Config(path, dialect) => format_with_kind_and_path("config", *dialect, path),
        Question::Content(path, look) => format_with_kind_and_path("content", *look, path),
        Question::Superblock(path, kind) => format_with_kind_and_path("superblock", *kind, path),
        Question::PgSettings(path) => format_with_path("pg-settings", path),
        Question::MysqlSettings(path) => format_with_path("mysql-settings", path),
        Question::Run(tool, arguments) => {
            let words = arguments.iter().map(|a| {
                format!(
                    " {}",
                    text::display_safe(a.as_bytes()).replace(' ', "\\x20")
                )
            });
            format!("run {}{}", tool.name(), words.collect::<String>())
        }
        Question::AsUser(uid, inner) => format!("as {uid} {}", encode(inner)),
    }
}

fn format_with_path(verb: &str, path: &Path) -> String {
    format!("{verb} {}", display_path(path))
}

fn format_with_kind_and_path(verb: &str, kind: impl Display, path: &Path) -> String {
    format_with_path(&format!("{verb} {kind}"), path)
}

fn parse_kind_and_path<K: Choice>(words: &str) -> Option<(PathBuf, K)> {
    let (name, path) = words.split_once(' ')?;
    let path = PathBuf::from(OsString::from_vec(text::decode_display_safe(path)));
    Some((path, K::from_word(name)?))
}

pub fn decode(words: &str) -> Option<Question> {
    let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
    let path = || PathBuf::from(OsString::from_vec(text::decode_display_safe(rest)));
    let bare = |question| (verb == words).then_some(question);
    match verb {
        "read" => Some(Question::Read(path())),
        "list" => Some(Question::List(path())),
        "empty" => Some(Question::IsEmpty(path())),
        "link" => Some(Question::Link(path())),
        "real-path" => Some(Question::RealPath(path())),
        "stat" => Some(Question::Stat(path())),
        "statfs" => Some(Question::StatFs(path())),
        "flags" => Some(Question::Flags(path())),
        "log-files" => parse_kind_and_path(rest).map(|(path, kind)| Question::LogFiles(path, kind)),
        "uname" => bare(Question::Uname),
        "identity" => bare(Question::Identity),
        "summary" => bare(Question::Resources),
        "servers" => bare(Question::Servers),
        "started" => rest.parse().ok().map(Question::ProcessStart),
        "tablespaces" => rest.parse().ok().map(Question::Tablespaces),
        "command-line" => rest.parse().ok().map(Question::CommandLine),
        "environment" => rest.parse().ok().map(Question::Environment),
        "user-name" => rest.parse().ok().map(Question::UserName),
        "config" => {
            parse_kind_and_path(rest).map(|(path, dialect)| Question::Config(path, dialect))
        }
        "superblock" => {
            parse_kind_and_path(rest).map(|(path, kind)| Question::Superblock(path, kind))
        }
        "content" => parse_kind_and_path(rest).map(|(path, look)| Question::Content(path, look)),
        "pg-settings" => Some(Question::PgSettings(path())),
        "mysql-settings" => Some(Question::MysqlSettings(path())),
        "run" => {
            let mut words = rest.split(' ');
            let tool = Tool::from_name(words.next()?)?;
            let arguments =
                words.map(|word| String::from_utf8(text::decode_display_safe(word)).ok());
            Some(Question::Run(tool, arguments.collect::<Option<_>>()?))
        }
        "as" => {
            let (uid, inner) = rest.split_once(' ')?;
            // A question on behalf of a user must not contain another such question.
            let inner = decode(inner).filter(|inner| !matches!(inner, Question::AsUser(..)))?;
            Some(Question::AsUser(uid.parse().ok()?, Box::new(inner)))
        }
        _ => None,
    }
}

#[cfg(test)]
pub mod tests {
    use proptest::prelude::*;

    use super::super::{ConfigDialect, LogFileKind, ScanDepth, SuperblockKind};
    use super::*;

    pub fn any_question() -> impl Strategy<Value = Question> {
        let path = || {
            prop_oneof![
                any::<Vec<u8>>(),
                "/[ -~]{0,20}".prop_map(String::into_bytes)
            ]
            .prop_map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
        };
        let tool = prop_oneof![
            prop::sample::select(Tool::FIXED.to_vec()),
            any::<u32>().prop_map(Tool::Postgres),
            any::<u32>().prop_map(Tool::PgCtl),
            any::<u32>().prop_map(Tool::PgControldata)
        ];
        let dialect = prop::sample::select(ConfigDialect::ALL.to_vec());
        let plain = prop_oneof![
            path().prop_map(Question::Read),
            path().prop_map(Question::List),
            path().prop_map(Question::IsEmpty),
            path().prop_map(Question::Link),
            path().prop_map(Question::RealPath),
            path().prop_map(Question::Stat),
            path().prop_map(Question::StatFs),
            path().prop_map(Question::Flags),
            Just(Question::Uname),
            Just(Question::Identity),
            Just(Question::Resources),
            Just(Question::Servers),
            any::<u32>().prop_map(Question::ProcessStart),
            any::<u32>().prop_map(Question::Tablespaces),
            any::<u32>().prop_map(Question::CommandLine),
            any::<u32>().prop_map(Question::Environment),
            any::<u32>().prop_map(Question::UserName),
            (path(), dialect).prop_map(|(p, d)| Question::Config(p, d)),
            (path(), prop::sample::select(ScanDepth::ALL.to_vec()))
                .prop_map(|(path, look)| Question::Content(path, look)),
            (path(), prop::sample::select(SuperblockKind::ALL.to_vec()))
                .prop_map(|(path, kind)| Question::Superblock(path, kind)),
            (path(), prop::sample::select(LogFileKind::ALL.to_vec()))
                .prop_map(|(path, kind)| Question::LogFiles(path, kind)),
            path().prop_map(Question::PgSettings),
            path().prop_map(Question::MysqlSettings),
            (tool, prop::collection::vec(any::<String>(), 0..4))
                .prop_map(|(t, a)| Question::Run(t, a)),
        ];
        (plain, any::<Option<u32>>()).prop_map(|(question, uid)| match uid {
            Some(uid) => Question::AsUser(uid, Box::new(question)),
            None => question,
        })
    }

    proptest! {
        #[test]
        fn question_text_round_trips(question in any_question()) {
            let words = encode(&question);
            prop_assert!(!words.contains('\n'));
            prop_assert_eq!(decode(&words), Some(question));
        }

        #[test]
        fn question_decoder_never_panics(words: String) {
            decode(&words);
        }
    }
}
