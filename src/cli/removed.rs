//! Words of earlier versions that the command line no longer knows, each with its replacement.

use std::ffi::OsString;

/// The words in their order, and the sentence.
const REMOVED: &[(&[&str], &str)] = &[
    (
        &["--format", "unit"],
        "the format `unit` was removed; use --format fstab, or the options of boot mounts in --format json",
    ),
    (
        &["--format", "npd"],
        "the format `npd` was removed; use --format nagios, or the exit code of `walwise check`",
    ),
    (&["--format", "junit"], "the format `junit` was removed; use --format json"),
    (&["--format", "ansible"], "the format `ansible` was removed; use --format json"),
    (&["oltp"], NO_SERVER),
    (&["--with"], NO_SERVER),
    (&["--user"], NO_SERVER),
    (
        &["ext4-slowed"],
        "the candidate `ext4-slowed` was removed; every trial measures its first candidate twice, and its line Resolution says \
         how far the two differ",
    ),
    (
        &["rules", "test"],
        "`walwise rules test` was removed; `walwise rules check FILE` runs the examples, too",
    ),
    (
        &["rules", "stale"],
        "`walwise rules stale` was removed; maintainers run `cargo xtask stale` in the source",
    ),
    (
        &["rules", "diff"],
        "`walwise rules diff` was removed; `cargo xtask diff` in the source compares two packs",
    ),
    (&["generate", "man"], "`walwise generate man` was removed; the packages hold the manual pages"),
    (
        &["generate", "reference"],
        "`walwise generate reference` was removed; `walwise rules show RULE` shows each rule",
    ),
    (
        &["generate", "screens"],
        "`walwise generate screens` was removed; `--format html` holds the report with its charts",
    ),
];

const NO_SERVER: &str = "a trial runs no database server any more; use --preset commits for a database's log, and pgbench or \
                         sysbench for transactions";

/// The sentence about a removed word among these arguments.
pub(super) fn sentence(arguments: &[OsString]) -> Option<&'static str> {
    let words: Vec<&str> =
        arguments.iter().filter_map(|word| word.to_str()).flat_map(|word| word.split(['=', ','])).collect();
    let has = |removed: &[&str]| words.windows(removed.len()).any(|window| window == removed);
    REMOVED.iter().find(|(removed, _)| has(removed)).map(|(_, sentence)| *sentence)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn what_is_removed_is_no_longer_accepted_and_has_a_sentence() {
        for (removed, sentence) in REMOVED {
            let before = match removed[0] {
                "rules" | "generate" => "walwise",
                "oltp" => "walwise trial --preset",
                "ext4-slowed" => "walwise trial --candidates",
                _ => "walwise check",
            };
            let words: Vec<OsString> =
                before.split(' ').chain(removed.iter().copied()).map(OsString::from).collect();
            assert!(Cli::try_parse_from(&words).is_err(), "{words:?}");
            assert_eq!(super::sentence(&words), Some(*sentence), "{words:?}");
        }
        assert_eq!(super::sentence(&["walwise".into(), "--format=junit".into()]), Some(REMOVED[2].1));
        assert_eq!(super::sentence(&["walwise".into(), "check".into()]), None);
    }
}
