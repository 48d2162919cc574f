//! Commands of a user's rule: shown as the user's own, never checked. They are plain text and no
//! [`Command`](crate::quote::Command), so that no script or export can contain them by mistake.

use std::ops::Range;

use serde::Serialize;

use super::template::Template;

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// It does what is advised.
    Apply,
    /// It shows that it is done.
    Verify,
    /// It reverts it.
    Undo,
}

impl Purpose {
    /// The word in rules, JSON and on screens.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Verify => "verify",
            Self::Undo => "undo",
        }
    }
}

/// A command of a user's rule, as its author wrote it.
#[derive(Clone, Debug)]
pub struct UserCommandSpec {
    pub purpose: Purpose,
    pub command: Template,
}

/// A command of a user's rule, not checked by walwise: never in a script or an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct UserCommand {
    /// Its purpose.
    pub purpose: Purpose,
    /// The command, with the facts of the subject filled in.
    pub command: String,
    /// The file of the rule.
    pub file: String,
    /// The first line of the rule, counted from one.
    pub line: usize,
}

impl UserCommand {
    /// Whose command it is, for display.
    pub fn sentence(&self) -> String {
        let Self { file, line, .. } = self;
        format!("your own command, from {file}:{line}, not checked by walwise")
    }
}

/// Words in commands that destroy data or its safety. Only `walwise rules check` warns of them: a
/// command can lose data without any of them.
const DESTRUCTIVE_WORDS: [&str; 40] = [
    "--zero-superblock",
    "-delete",
    "^has_journal",
    "barrier=0",
    "blkdiscard",
    "create-md",
    "data=writeback",
    "dd",
    "delete",
    "destroy",
    "drop",
    "dropdb",
    "eatmydata",
    "erase",
    "fdisk",
    "format",
    "fsync=off",
    "full_page_writes=off",
    "invalidate",
    "labelclear",
    "luksformat",
    "lvremove",
    "mke2fs",
    "mkfs",
    "mkswap",
    "nobarrier",
    "nodatacow",
    "parted",
    "pg_dropcluster",
    "pg_resetwal",
    "pvremove",
    "rm",
    "sanitize",
    "sfdisk",
    "sgdisk",
    "shred",
    "sync=disabled",
    "truncate",
    "vgremove",
    "wipefs",
];

/// The first destructive word in a command, in any case, as a whole word.
pub fn destructive_word(command: &str) -> Option<Range<usize>> {
    let lower = command.to_ascii_lowercase();
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_part = |(at, word): &(usize, &str)| {
        let (before, rest) = lower.split_at_checked(*at).unwrap_or_default();
        let goes_on = rest
            .strip_prefix(word)
            .is_some_and(|after| after.starts_with(in_word));
        goes_on
            || before.ends_with(in_word) && word.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let found = DESTRUCTIVE_WORDS
        .iter()
        .flat_map(|word| lower.match_indices(*word))
        .filter(|found| !is_part(found));
    found
        .map(|(at, word)| at..at + word.len())
        .min_by_key(|range| range.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losing_words_are_found_whole_and_in_any_case() {
        for (command, word) in [
            ("/usr/sbin/mkfs.ext4 {device.path}", Some("mkfs")),
            (
                "mount -o remount,nobarrier {mount.point}",
                Some("nobarrier"),
            ),
            ("psql -c 'DROP TABLE a; truncate b'", Some("DROP")),
            (
                "tune2fs -O^has_journal {mount.source}",
                Some("^has_journal"),
            ),
            ("find /srv -delete", Some("-delete")),
            (
                "docker run --rm x; echo 3 > /proc/sys/vm/drop_caches; add",
                None,
            ),
            ("echo ä; rm -r /srv", Some("rm")),
        ] {
            assert_eq!(
                destructive_word(command).and_then(|range| command.get(range)),
                word,
                "{command}"
            );
        }
    }
}
