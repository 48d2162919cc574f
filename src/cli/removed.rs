//! Words of earlier releases that are gone, and what to use instead: clap alone would call them unknown.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// A command, a word of it, and the sentence.
const REMOVED: [(&str, &str, &str); 4] = [
    ("trial", "oltp", NO_SERVER),
    ("trial", "--with", NO_SERVER),
    ("trial", "--user", NO_SERVER),
    (
        "trial",
        "ext4-slowed",
        "the candidate ext4-slowed is gone: every trial measures its first candidate twice, and its line \
         Resolution says how far the two differ",
    ),
];

const NO_SERVER: &str = "a trial runs no database server any more: use --preset commits for a database's log, and pgbench \
                         or sysbench for transactions";

/// What to use instead of the word that clap does not know; `None` where that word never was one.
pub fn instead(error: &Error, arguments: &[OsString]) -> Option<&'static str> {
    let verb = arguments.get(1)?;
    let unknown = |word: &str| {
        [ContextKind::InvalidArg, ContextKind::InvalidValue]
            .into_iter()
            .any(|kind| matches!(error.get(kind), Some(ContextValue::String(given)) if given == word))
    };
    REMOVED.into_iter().find(|(of, word, _)| verb == of && unknown(word)).map(|(_, _, sentence)| sentence)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::instead;
    use crate::cli::args::Cli;

    fn said(line: &str) -> Option<&'static str> {
        let words: Vec<_> = line.split(' ').map(Into::into).collect();
        Cli::try_parse_from(&words).err().and_then(|error| instead(&error, &words))
    }

    #[test]
    fn a_word_that_is_gone_names_what_is_used_instead() {
        for words in ["--preset oltp", "--preset=oltp", "--with mariadb", "--user=games"] {
            assert!(
                said(&format!("walwise trial /srv {words}")).unwrap().contains("--preset commits"),
                "{words}"
            );
        }
        assert!(said("walwise trial /srv --candidates xfs,ext4-slowed").unwrap().contains("Resolution"));
        for line in
            ["walwise trial /srv", "walwise trial /srv --preset x", "walwise check --user games", "walwise"]
        {
            assert_eq!(said(line), None, "{line}");
        }
    }
}
