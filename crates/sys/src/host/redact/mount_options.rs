//! Filters mount options of an fstab, a mount unit or the kernel's command line.
//!
//! Options with a known name and a value that cannot be secret are kept. A local disk needs no
//! password, so its other options are kept without their values. A misspelt option is the most
//! common mistake in an fstab. After an unknown option with a value, an unknown name is dropped,
//! because it may be the rest of that value.

use crate::host::is_in_word_list;
use walwise_model::facts::catalog::boot::OPTIONS_WITHOUT_VALUE;

/// Mount options that are kept with their values, sorted; build.rs collects them from
/// rules/tables/validity.toml and systems.toml.
const ALLOWED_OPTIONS: &[&str] = include!(concat!(env!("OUT_DIR"), "/mount_options.rs"));

/// File systems of a local disk that the kernel mounts by itself, and swap; none of their options
/// is secret.
pub const LOCAL_TYPES: &str = "ext2 ext3 ext4 xfs btrfs bcachefs f2fs jfs nilfs2 reiserfs vfat msdos exfat ntfs3 \
    iso9660 udf swap";

/// Prefixes of a local disk's name (fstab(5)).
const LOCAL_SOURCES: [&[u8]; 6] = [
    b"/dev/",
    b"UUID=",
    b"LABEL=",
    b"PARTUUID=",
    b"PARTLABEL=",
    b"ID=",
];

pub fn names_local_disk(source: &[u8]) -> bool {
    let mut prefixes = LOCAL_SOURCES.iter();
    prefixes.any(|prefix| source.starts_with(prefix))
}

/// The longest option name, in bytes; a longer word does not count as a name.
const LONGEST_NAME: usize = 40;

/// Whether every type in a comma-separated list belongs to a local disk. `auto` counts if the
/// source is a local disk.
pub fn is_local_disk(fstype: &[u8], source: &[u8]) -> bool {
    let on_disk = names_local_disk(source);
    fstype
        .split(|b| *b == b',')
        .all(|word| is_in_word_list(LOCAL_TYPES, word) || word == b"auto" && on_disk)
}

/// Keeps the options that cannot be secret, in their order. For a local disk, the names of unknown
/// options are kept too.
pub fn redact_mount_options(list: &[u8], local: bool) -> Vec<u8> {
    // Text after the value of an unknown option, or in quotes, may belong to a value that contains
    // a comma.
    let (mut quoted, mut in_value) = (false, false);
    let kept = list.split(|b| *b == b',').filter_map(|option| {
        let begins_quoted = quoted;
        quoted ^= option.split(|b| *b == b'"').count() % 2 == 0;
        let name = option.split(|b| *b == b'=').next().unwrap_or_default();
        let has_value = name.len() < option.len();
        if is_allowed_option(name) {
            let kept = strip_private_value(option);
            in_value = kept.len() < option.len();
            return Some(kept);
        }
        let may_be_a_value = begins_quoted || in_value;
        in_value |= has_value;
        (local && !may_be_a_value && is_option_name(name)).then_some(name)
    });
    kept.collect::<Vec<_>>().join(&b',')
}

fn strip_private_value(option: &[u8]) -> &[u8] {
    OPTIONS_WITHOUT_VALUE
        .into_iter()
        .map(str::as_bytes)
        .find(|name| option.starts_with(name))
        .unwrap_or(option)
}

/// Whether the filter kept every option and every value. Private values, which no kernel reads, do
/// not count.
pub fn keeps_all_options(written: &[u8], kept: &[u8]) -> bool {
    written
        .split(|b| *b == b',')
        .map(strip_private_value)
        .eq(kept.split(|b| *b == b','))
}

fn is_allowed_option(name: &[u8]) -> bool {
    ALLOWED_OPTIONS
        .binary_search_by(|known| known.as_bytes().cmp(name))
        .is_ok()
}

fn is_option_name(word: &[u8]) -> bool {
    let in_names = |b: &u8| b.is_ascii_alphanumeric() || b"_.-".contains(b);
    (1..=LONGEST_NAME).contains(&word.len()) && word.iter().all(in_names)
}

#[cfg(test)]
mod tests {
    use toml::{Table, Value};

    use super::*;

    #[test]
    fn allowed_options_equal_the_rule_tables() {
        let mut kept = Vec::new();
        let mut dropped = Vec::new();
        for text in [
            include_str!("../../../tables/validity.toml"),
            include_str!("../../../tables/systems.toml"),
        ] {
            let table: Table = toml::from_str(text).unwrap();
            let rows = ["options", "filter"]
                .into_iter()
                .filter_map(|kind| table.get(kind)?.as_array());
            for row in rows.flatten() {
                let names = |key| row.get(key).and_then(Value::as_array).into_iter().flatten();
                let key =
                    |name: &Value| name.as_str().unwrap().split('=').next().unwrap().to_owned();
                kept.extend(names("names").chain(names("keeps")).map(key));
                dropped.extend(names("drops").map(key));
            }
        }
        kept.retain(|name| !name.ends_with('*') && !dropped.contains(name));
        kept.sort();
        kept.dedup();
        assert_eq!(ALLOWED_OPTIONS, kept);
        for secret in [
            "password",
            "username",
            "credentials",
            "key",
            "x-anything",
            "addr",
            "clientaddr",
        ] {
            assert!(!is_allowed_option(secret.as_bytes()), "{secret}");
        }
    }

    #[test]
    fn on_a_local_disk_the_names_of_unknown_options_stay() {
        let long = "x".repeat(LONGEST_NAME + 1);
        for (given, local, remote) in [
            (
                "nobarrier,noatime,frobnicate",
                "nobarrier,noatime,frobnicate",
                "nobarrier,noatime",
            ),
            ("NoAtime,ro", "NoAtime,ro", "ro"),
            ("comit=5,rw,noatiem", "comit,rw,noatiem", "rw"),
            (
                "password=a,b,c=d,noatime,e",
                "password,noatime,e",
                "noatime",
            ),
            (
                "comment=x y,user=me,user",
                "comment=,user=,user",
                "comment=,user=,user",
            ),
            ("comment=\"x,secret\",ro", "comment=,ro", "comment=,ro"),
            ("comment=x,secret,ro", "comment=,ro", "comment=,ro"),
            ("a b,\"c,d,e\",f,,=x,h\u{e9},ro", "f,ro", "ro"),
            ("context=\"a:b,c\",g", "context=\"a:b,g", "context=\"a:b"),
            (&long, "", ""),
        ] {
            let kept =
                |local| String::from_utf8(redact_mount_options(given.as_bytes(), local)).unwrap();
            assert_eq!(
                (kept(true), kept(false)),
                (local.to_owned(), remote.to_owned()),
                "{given}"
            );
        }
    }
}
