use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue};

/// The preceding option or command, the removed word, and the message.
const REMOVED: &[(&str, &str, &str)] = &[
    (
        "--format",
        "unit",
        "the format `unit` was removed; use --format fstab, or take the mount options from --format json",
    ),
    (
        "--format",
        "npd",
        "the format `npd` was removed; use --format nagios, or the exit code of `walwise check`",
    ),
    (
        "--format",
        "junit",
        "the format `junit` was removed; use --format json",
    ),
    (
        "--format",
        "ansible",
        "the format `ansible` was removed; use --format json",
    ),
    (
        "--workload",
        "floor",
        "the workload `floor` was removed; every probe also measures writes without a flush",
    ),
    (
        "probe",
        "--import",
        "`walwise probe --import` was removed; run `walwise probe DIR` on the host to measure",
    ),
    ("--preset", "oltp", NO_SERVER_HINT),
    ("trial", "--with", NO_SERVER_HINT),
    ("trial", "--user", NO_SERVER_HINT),
    (
        "--candidates",
        "ext4-slowed",
        "the candidate `ext4-slowed` was removed: every trial measures its first candidate twice, and the line Resolution \
         shows how much the two results differ",
    ),
    (
        "rules",
        "test",
        "`walwise rules test` was removed; `walwise rules check FILE` also runs the examples",
    ),
    (
        "rules",
        "stale",
        "`walwise rules stale` was removed; in the source tree, `cargo xtask stale` does the same",
    ),
    (
        "rules",
        "diff",
        "`walwise rules diff` was removed; in the source tree, `cargo xtask diff` compares two sets of rules",
    ),
    (
        "generate",
        "man",
        "`walwise generate man` was removed; the packages contain the manual pages",
    ),
    (
        "generate",
        "reference",
        "`walwise generate reference` was removed; use `walwise rules show RULE`",
    ),
    (
        "generate",
        "screens",
        "`walwise generate screens` was removed; use `--format html`, which has the charts",
    ),
];

const NO_SERVER_HINT: &str = "a trial no longer runs a database server; use --preset commits for a database's log, and pgbench or \
                         sysbench for transactions";

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
    let mut found = REMOVED
        .iter()
        .filter(|(before, word, _)| *word == unknown && is_given(before));
    found.next().map(|(_, _, sentence)| *sentence)
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
        for (before, word, sentence) in REMOVED {
            let verb = match *before {
                "--format" => "check ",
                "--preset" | "--candidates" => "trial ",
                "--workload" => "probe ",
                _ => "",
            };
            let line = format!("walwise {verb}{before} {word}");
            assert_eq!(hint_for(&line), Some(*sentence), "{line}");
        }
        assert_eq!(hint_for("walwise check --format=junit"), Some(REMOVED[2].2));
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
