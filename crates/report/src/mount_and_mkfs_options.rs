//! Combines mount options, and options of mkfs programs.
//!
//! Mount options form families: of `noatime` and `relatime`, only one is in force. If a flag is
//! repeated (`-O a -O b`), mke2fs ignores the first list, so walwise joins the lists (`-O a,b`).

use crate::distinct::distinct;
use walwise_model::settings::SettingKind;
use walwise_model::text::JoinText;

/// Two different options of one family exclude each other.
pub fn exclusive_mount_option_family(word: &str) -> &str {
    let name = word.split('=').next().unwrap_or(word);
    match name {
        "noatime" | "relatime" | "norelatime" | "strictatime" | "nostrictatime" | "atime" => {
            "atime"
        }
        "ro" | "rw" => "rw",
        "sync" | "async" => "sync",
        "compress-force" => "compress",
        name => name
            .strip_prefix("no")
            .filter(|rest| rest.len() > 2)
            .unwrap_or(name),
    }
}

fn is_implicit_mount_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    matches!(
        name,
        "attr2"
            | "emergency_ro"
            | "inode64"
            | "logbufs"
            | "logbsize"
            | "noquota"
            | "seclabel"
            | "shutdown"
            | "subvolid"
    ) || matches!(
        word,
        "relatime" | "defaults" | "subvol=/" | "space_cache=v2" | "space_cache" | "ssd"
    )
}

/// The options without duplicates and without implicit options such as `relatime` and `seclabel`.
pub fn explicit_mount_options<'a>(words: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let explicit = words
        .into_iter()
        .filter(|word| !is_implicit_mount_option(word));
    distinct(explicit.cloned())
}

/// The options that `word` turns on. In ext4, journalled data disables delayed allocation and
/// unlocked reads (ext4_fill_super). In btrfs, no copy-on-write means no checksums
/// (Documentation/admin-guide/btrfs, `nodatacow`).
fn options_implied_by(word: &str) -> &'static [&'static str] {
    match word {
        "data=journal" => &["nodelalloc", "nodioread_nolock", "dioread_lock"],
        "nodatacow" => &["nodatasum"],
        _ => &[],
    }
}

/// The explicit options in force after a change; `defaults` if none is left. Options that a removed
/// option had turned on are removed too, unless they are in `written`.
pub fn explicit_options_after_change(
    current: &[String],
    written: &[String],
    add: &[String],
    remove: &[String],
) -> String {
    let (stay, go): (Vec<&String>, Vec<&String>) = current
        .iter()
        .partition(|word| is_option_kept_by_change(word, add, remove));
    let caused = |word: &str| {
        go.iter()
            .any(|gone| options_implied_by(gone).contains(&word))
    };
    let kept = stay
        .into_iter()
        .filter(|word| written.contains(word) || !caused(word));
    join_options_or_defaults(explicit_mount_options(kept), add)
}

/// Applies a change to options from a configuration file. Unlike [`explicit_options_after_change`],
/// this keeps implicit options and the order of the file.
pub fn apply_change_to_written_options(
    written: &[String],
    add: &[String],
    remove: &[String],
) -> String {
    join_options_or_defaults(
        written
            .iter()
            .filter(|word| is_option_kept_by_change(word, add, remove))
            .cloned()
            .collect(),
        add,
    )
}

fn is_option_kept_by_change(word: &String, add: &[String], remove: &[String]) -> bool {
    !remove.contains(word)
        && !add.iter().any(|added| {
            exclusive_mount_option_family(added) == exclusive_mount_option_family(word)
        })
}

fn join_options_or_defaults(mut words: Vec<String>, add: &[String]) -> String {
    words.extend(add.iter().cloned());
    if words.is_empty() {
        "defaults".to_owned()
    } else {
        words.join(",")
    }
}

/// Splits mkfs options such as `-O a,b` into pairs of flag and item: `("-O", "a"), ("-O", "b")`.
/// The flag is empty for an item without one.
fn split_mkfs_option_items(word: &str) -> impl Iterator<Item = (&str, &str)> {
    let (flag, items) = match word.split_once(char::is_whitespace) {
        Some((flag, items)) if flag.starts_with('-') => (flag, items.trim()),
        _ if word.starts_with('-') => (word, ""),
        _ => ("", word),
    };
    items.split(',').map(move |item| (flag, item))
}

/// Different items with equal keys exclude each other.
fn mkfs_item_exclusion_key<'a>((flag, item): (&'a str, &'a str)) -> (&'a str, &'a str) {
    // Most flags take one value. `-O`, `-E` and items `name=value` can hold several options.
    let several = flag == "-O" || flag == "-E" || item.contains('=') || flag.is_empty();
    let name = item
        .trim_start_matches('^')
        .split('=')
        .next()
        .unwrap_or(item);
    (flag, if several { name } else { "" })
}

/// Joins mkfs options, so that each flag occurs once, with all its items.
pub fn merge_mkfs_options(words: &[String]) -> String {
    let mut flags: Vec<(&str, Vec<&str>)> = Vec::new();
    for (flag, item) in words.iter().flat_map(|word| split_mkfs_option_items(word)) {
        match flags.iter_mut().find(|(known, _)| *known == flag) {
            Some((_, items)) if items.contains(&item) => {}
            Some((_, items)) => items.push(item),
            None => flags.push((flag, vec![item])),
        }
    }
    let join =
        |(flag, items): (&str, Vec<&str>)| format!("{flag} {}", items.join(",")).trim().to_owned();
    flags.into_iter().map(join).join_with(" ")
}

/// True if the two options cannot be in force together. Equal options never exclude each other.
pub fn are_exclusive_options(kind: SettingKind, a: &str, b: &str) -> bool {
    if a == b {
        return false;
    }
    match kind {
        SettingKind::MountOptions | SettingKind::BootOptions => {
            exclusive_mount_option_family(a) == exclusive_mount_option_family(b)
        }
        SettingKind::MkfsOptions | SettingKind::MkfsFeatures => {
            split_mkfs_option_items(a).any(|x| {
                split_mkfs_option_items(b)
                    .any(|y| x != y && mkfs_item_exclusion_key(x) == mkfs_item_exclusion_key(y))
            })
        }
        // Only opposite signs exclude each other, as in the directory attributes `+C` and `-C`. The
        // other settings hold no list of options.
        SettingKind::DirectoryFlags
        | SettingKind::Filesystem
        | SettingKind::FastCommit
        | SettingKind::Trim
        | SettingKind::Scheduler
        | SettingKind::Queue
        | SettingKind::Placement
        | SettingKind::Postgres
        | SettingKind::InitDb
        | SettingKind::Mysql
        | SettingKind::Other => {
            a.trim_start_matches(['+', '-']) == b.trim_start_matches(['+', '-'])
        }
    }
}

#[cfg(test)]
mod tests {
    use SettingKind::{BootOptions, DirectoryFlags, MkfsOptions, MountOptions};

    use super::*;

    fn split_at_semicolons(text: &str) -> Vec<String> {
        text.split(';')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn added_option_replaces_its_family() {
        let now =
            split_at_semicolons("rw;relatime;nobarrier;attr2;inode64;logbufs=8;errors=remount-ro");
        assert_eq!(
            explicit_options_after_change(
                &now,
                &[],
                &split_at_semicolons("noatime"),
                &split_at_semicolons("nobarrier;barrier=0")
            ),
            "rw,errors=remount-ro,noatime"
        );
        assert_eq!(
            explicit_options_after_change(&now, &[], &split_at_semicolons("barrier=1"), &[]),
            "rw,errors=remount-ro,barrier=1"
        );
        assert_eq!(
            explicit_options_after_change(&split_at_semicolons("relatime"), &[], &[], &[]),
            "defaults"
        );
        assert_eq!(
            explicit_options_after_change(
                &split_at_semicolons("discard"),
                &[],
                &split_at_semicolons("nodiscard"),
                &[]
            ),
            "nodiscard"
        );
    }

    #[test]
    fn implied_options_are_removed_unless_written() {
        let now = split_at_semicolons("rw;nodelalloc;nodioread_nolock;data=journal");
        let (ordered, journal) = (
            split_at_semicolons("data=ordered"),
            split_at_semicolons("data=journal"),
        );
        assert_eq!(
            explicit_options_after_change(&now, &[], &[], &journal),
            "rw"
        );
        assert_eq!(
            explicit_options_after_change(&now, &[], &ordered, &[]),
            "rw,data=ordered"
        );
        assert_eq!(
            explicit_options_after_change(&now, &split_at_semicolons("nodelalloc"), &[], &journal),
            "rw,nodelalloc"
        );
        assert_eq!(
            explicit_options_after_change(&now, &[], &split_at_semicolons("noatime"), &[]),
            "rw,nodelalloc,nodioread_nolock,data=journal,noatime"
        );
        assert_eq!(
            explicit_options_after_change(
                &split_at_semicolons("rw;nodatasum;nodatacow"),
                &[],
                &[],
                &split_at_semicolons("nodatacow")
            ),
            "rw"
        );
    }

    #[test]
    fn rewriting_keeps_order_and_implicit_options() {
        let line = split_at_semicolons(
            "defaults;ssd;subvolid=256;subvol=/;relatime;compress=zstd:1;nobarrier;x-mine=1",
        );
        assert_eq!(
            apply_change_to_written_options(
                &line,
                &split_at_semicolons("noatime"),
                &split_at_semicolons("nobarrier")
            ),
            "defaults,ssd,subvolid=256,subvol=/,compress=zstd:1,x-mine=1,noatime"
        );
        assert_eq!(
            apply_change_to_written_options(
                &split_at_semicolons("nobarrier"),
                &[],
                &split_at_semicolons("nobarrier")
            ),
            "defaults"
        );
        assert_eq!(
            apply_change_to_written_options(&line, &[], &[]),
            line.join(",")
        );
    }

    #[test]
    fn mkfs_flags_appear_once() {
        let joined = merge_mkfs_options(&split_at_semicolons(
            "-O ^orphan_file;-m 1;-O fast_commit;-O ^orphan_file;-E stride=16",
        ));
        assert_eq!(joined, "-O ^orphan_file,fast_commit -m 1 -E stride=16");
        assert_eq!(merge_mkfs_options(&split_at_semicolons("-K")), "-K");
    }

    #[test]
    fn exclusive_options_by_setting_kind() {
        assert!(are_exclusive_options(MountOptions, "noatime", "relatime"));
        assert!(are_exclusive_options(
            MountOptions,
            "data=ordered",
            "data=journal"
        ));
        assert!(!are_exclusive_options(
            MountOptions,
            "noatime",
            "nodiratime"
        ));
        assert!(!are_exclusive_options(BootOptions, "noatime", "noatime"));
        assert!(are_exclusive_options(
            MkfsOptions,
            "-O ^orphan_file",
            "-O orphan_file"
        ));
        assert!(are_exclusive_options(MkfsOptions, "-m 1", "-m 0"));
        assert!(are_exclusive_options(
            MkfsOptions,
            "-i nrext64=0",
            "-i nrext64=1"
        ));
        assert!(!are_exclusive_options(
            MkfsOptions,
            "-i nrext64=0",
            "-m reflink=0"
        ));
        assert!(!are_exclusive_options(MkfsOptions, "-O ^a", "-O b"));
        assert!(are_exclusive_options(DirectoryFlags, "+C", "-C"));
    }
}
