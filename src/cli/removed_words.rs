//! Answers commands, options and values of earlier versions with their replacements.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// One line per word: the preceding option or command, the removed word, and the message.
const REMOVED: &str = include_str!("removed_words.txt");

fn removed_words() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    REMOVED.lines().filter_map(|line| {
        let (words, sentence) = line.split_once(": ")?;
        let (before, word) = words.split_once(' ')?;
        Some((before, word, sentence))
    })
}

/// The message for a rejected word that an earlier version accepted. `None` unless [`REMOVED`]
/// lists the word, and the arguments contain its option or command.
pub(super) fn replacement_hint(error: &Error, arguments: &[OsString]) -> Option<&'static str> {
    let kinds = [
        ContextKind::InvalidValue,
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidArg,
    ];
    let unknown = kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    })?;
    let is_given = |word: &str| {
        let mut given = arguments.iter().filter_map(|argument| argument.to_str());
        given.any(|argument| argument.split('=').next() == Some(word))
    };
    let mut found = removed_words();
    let (_, _, sentence) = found.find(|(before, word, _)| *word == unknown && is_given(before))?;
    Some(sentence)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;

    fn hint_for(line: &str) -> Option<&'static str> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        replacement_hint(&Cli::try_parse_from(&words).unwrap_err(), &words)
    }

    #[test]
    fn removed_words_are_rejected_with_replacement_hint() {
        assert_eq!(removed_words().count(), REMOVED.lines().count());
        for (before, word, sentence) in removed_words() {
            let verb = match before {
                "--format" => "check ",
                "--preset" | "--candidates" => "trial ",
                "--workload" => "probe ",
                _ => "",
            };
            let line = format!("walwise {verb}{before} {word}");
            assert_eq!(hint_for(&line), Some(sentence), "{line}");
        }
        assert_eq!(
            hint_for("walwise check --format=junit"),
            hint_for("walwise check --format junit")
        );
        assert!(hint_for("walwise check --format=junit").is_some());
        assert!(hint_for("walwise trial --candidates ext4,ext4-slowed").is_some());
    }

    #[test]
    fn unlisted_mistakes_have_no_replacement_hint() {
        for line in [
            "walwise check --frmt json oltp",
            "walwise check --format xml",
            "walwise rules --user",
        ] {
            assert_eq!(hint_for(line), None, "{line}");
        }
    }
}
