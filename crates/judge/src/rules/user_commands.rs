//! Commands of a user's rule, which walwise prints as the user's own and never checks.
//!
//! The type is not [`ShellCommand`](crate::escape::ShellCommand), so that no script or export can
//! contain such a command by mistake.

use std::ops::Range;

use serde::Serialize;

use super::template::Template;

/// The part that a user's command plays in the advised change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// The command makes the advised change.
    Apply,
    /// The command shows whether the change was made.
    Verify,
    /// The command reverts the change.
    Undo,
}

impl Purpose {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Verify => "verify",
            Self::Undo => "undo",
        }
    }
}

#[derive(Clone, Debug)]
pub struct UserCommandSpec {
    pub purpose: Purpose,
    pub command: Template,
}

/// A command of a user's rule, which walwise does not check and never puts into a script or an
/// export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct UserCommand {
    /// Whether the command makes, verifies or reverts the change.
    pub purpose: Purpose,
    /// The command, with the facts of the subject filled in.
    pub command: String,
    /// Display-safe path of the rule file with the command.
    pub file: String,
    /// The first line of the rule, counted from one.
    pub line: usize,
}

impl UserCommand {
    pub fn origin_sentence(&self) -> String {
        let Self { file, line, .. } = self;
        format!("your own command, from {file}:{line}, not checked by walwise")
    }
}

/// Words in commands that destroy data or make it unsafe. Only `walwise rules check` warns about
/// these words, because the list cannot be complete.
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

/// Byte range of the first destructive word. Parts of longer words do not count, and case does not
/// matter.
pub fn find_destructive_word(command: &str) -> Option<Range<usize>> {
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
                find_destructive_word(command).and_then(|range| command.get(range)),
                word,
                "{command}"
            );
        }
    }
}
