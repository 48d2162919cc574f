//! Lists of options as words: mutual exclusion, and the list after a change.
//!
//! Mount options form families of which only one member can be in force (`noatime`, `relatime`).
//! Options of mkfs are a flag with a list (`-O ^orphan_file`), and a repeated flag would make
//! mke2fs forget the first. File systems print options that nobody set; those are omitted from
//! recommendations.

use walwise_model::settings::SettingKind;

/// The family of a mount option: two different members of it exclude each other.
pub fn family(word: &str) -> &str {
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

/// Whether a file system prints this by itself, or every mount has it by default.
fn noise(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    matches!(
        name,
        "attr2" | "inode64" | "logbufs" | "logbsize" | "noquota" | "seclabel" | "subvolid"
    ) || matches!(
        word,
        "relatime" | "defaults" | "subvol=/" | "space_cache=v2" | "space_cache" | "ssd"
    )
}

/// Options in force as people would write them: each once, without those that file systems print by
/// themselves.
pub fn tidy<'a>(words: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in words {
        if !noise(word) && !out.contains(word) {
            out.push(word.clone());
        }
    }
    out
}

/// Options that a file system prints as a consequence of another one: ext4 with journalled data
/// disables delayed allocation and unlocked reads (ext4_fill_super), btrfs without copy-on-write
/// disables checksums (Documentation/admin-guide/btrfs, `nodatacow`).
fn side_effects(word: &str) -> &'static [&'static str] {
    match word {
        "data=journal" => &["nodelalloc", "nodioread_nolock", "dioread_lock"],
        "nodatacow" => &["nodatasum"],
        _ => &[],
    }
}

/// The options in force after a change, as people would write them; `defaults` when none is left.
/// Consequences of a removed option are removed with it, unless they are among the `written` ones.
pub fn changed(
    current: &[String],
    written: &[String],
    add: &[String],
    remove: &[String],
) -> String {
    let (stay, go): (Vec<&String>, Vec<&String>) =
        current.iter().partition(|word| stays(word, add, remove));
    let caused = |word: &str| go.iter().any(|gone| side_effects(gone).contains(&word));
    let kept = stay
        .into_iter()
        .filter(|word| written.contains(word) || !caused(word));
    listed(tidy(kept), add)
}

/// A written list of mount options after a change: everything in it that the change does not remove
/// or replace.
pub fn rewritten(written: &[String], add: &[String], remove: &[String]) -> String {
    listed(
        written
            .iter()
            .filter(|word| stays(word, add, remove))
            .cloned()
            .collect(),
        add,
    )
}

fn stays(word: &String, add: &[String], remove: &[String]) -> bool {
    !remove.contains(word) && !add.iter().any(|added| family(added) == family(word))
}

fn listed(mut words: Vec<String>, add: &[String]) -> String {
    words.extend(add.iter().cloned());
    if words.is_empty() {
        "defaults".to_owned()
    } else {
        words.join(",")
    }
}

/// One item of a mkfs option list: its flag (empty when the word has none) and the item.
fn mkfs_items(word: &str) -> impl Iterator<Item = (&str, &str)> {
    let (flag, items) = match word.split_once(char::is_whitespace) {
        Some((flag, items)) if flag.starts_with('-') => (flag, items.trim()),
        _ if word.starts_with('-') => (word, ""),
        _ => ("", word),
    };
    items.split(',').map(move |item| (flag, item))
}

/// The flag and the name of a mkfs item without its sign and value: two different items of one name
/// exclude each other.
fn mkfs_name<'a>((flag, item): (&'a str, &'a str)) -> (&'a str, &'a str) {
    // Under most flags a bare number or word is the only value; under -O and with `=` there are
    // several.
    let several = flag == "-O" || flag == "-E" || item.contains('=') || flag.is_empty();
    let name = item
        .trim_start_matches('^')
        .split('=')
        .next()
        .unwrap_or(item);
    (flag, if several { name } else { "" })
}

/// Options for mkfs joined, each flag once.
pub fn mkfs_joined(words: &[String]) -> String {
    let mut flags: Vec<(&str, Vec<&str>)> = Vec::new();
    for (flag, item) in words.iter().flat_map(|word| mkfs_items(word)) {
        match flags.iter_mut().find(|(known, _)| *known == flag) {
            Some((_, items)) if items.contains(&item) => {}
            Some((_, items)) => items.push(item),
            None => flags.push((flag, vec![item])),
        }
    }
    let join =
        |(flag, items): (&str, Vec<&str>)| format!("{flag} {}", items.join(",")).trim().to_owned();
    flags.into_iter().map(join).collect::<Vec<_>>().join(" ")
}

/// Whether two words of a list setting exclude each other.
pub fn exclude(kind: SettingKind, a: &str, b: &str) -> bool {
    if a == b {
        return false;
    }
    match kind {
        SettingKind::MountOptions | SettingKind::BootOptions => family(a) == family(b),
        SettingKind::MkfsOptions | SettingKind::MkfsFeatures => {
            mkfs_items(a).any(|x| mkfs_items(b).any(|y| x != y && mkfs_name(x) == mkfs_name(y)))
        }
        // Attributes of directories: `+C` excludes `-C`. The other settings are no lists.
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

    fn words(text: &str) -> Vec<String> {
        text.split(';')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn one_member_of_a_family_stays() {
        let now = words("rw;relatime;nobarrier;attr2;inode64;logbufs=8;errors=remount-ro");
        assert_eq!(
            changed(&now, &[], &words("noatime"), &words("nobarrier;barrier=0")),
            "rw,errors=remount-ro,noatime"
        );
        assert_eq!(
            changed(&now, &[], &words("barrier=1"), &[]),
            "rw,errors=remount-ro,barrier=1"
        );
        assert_eq!(changed(&words("relatime"), &[], &[], &[]), "defaults");
        assert_eq!(
            changed(&words("discard"), &[], &words("nodiscard"), &[]),
            "nodiscard"
        );
    }

    #[test]
    fn side_effects_go_with_their_cause_unless_somebody_wrote_them() {
        let now = words("rw;nodelalloc;nodioread_nolock;data=journal");
        let (ordered, journal) = (words("data=ordered"), words("data=journal"));
        assert_eq!(changed(&now, &[], &[], &journal), "rw");
        assert_eq!(changed(&now, &[], &ordered, &[]), "rw,data=ordered");
        assert_eq!(
            changed(&now, &words("nodelalloc"), &[], &journal),
            "rw,nodelalloc"
        );
        assert_eq!(
            changed(&now, &[], &words("noatime"), &[]),
            "rw,nodelalloc,nodioread_nolock,data=journal,noatime"
        );
        assert_eq!(
            changed(
                &words("rw;nodatasum;nodatacow"),
                &[],
                &[],
                &words("nodatacow")
            ),
            "rw"
        );
    }

    #[test]
    fn what_was_written_stays_written() {
        let line =
            words("defaults;ssd;subvolid=256;subvol=/;relatime;compress=zstd:1;nobarrier;x-mine=1");
        assert_eq!(
            rewritten(&line, &words("noatime"), &words("nobarrier")),
            "defaults,ssd,subvolid=256,subvol=/,compress=zstd:1,x-mine=1,noatime"
        );
        assert_eq!(
            rewritten(&words("nobarrier"), &[], &words("nobarrier")),
            "defaults"
        );
        assert_eq!(rewritten(&line, &[], &[]), line.join(","));
    }

    #[test]
    fn mkfs_flags_appear_once() {
        let joined = mkfs_joined(&words(
            "-O ^orphan_file;-m 1;-O fast_commit;-O ^orphan_file;-E stride=16",
        ));
        assert_eq!(joined, "-O ^orphan_file,fast_commit -m 1 -E stride=16");
        assert_eq!(mkfs_joined(&words("-K")), "-K");
    }

    #[test]
    fn what_excludes_what() {
        assert!(exclude(MountOptions, "noatime", "relatime"));
        assert!(exclude(MountOptions, "data=ordered", "data=journal"));
        assert!(!exclude(MountOptions, "noatime", "nodiratime"));
        assert!(!exclude(BootOptions, "noatime", "noatime"));
        assert!(exclude(MkfsOptions, "-O ^orphan_file", "-O orphan_file"));
        assert!(exclude(MkfsOptions, "-m 1", "-m 0"));
        assert!(exclude(MkfsOptions, "-i nrext64=0", "-i nrext64=1"));
        assert!(!exclude(MkfsOptions, "-i nrext64=0", "-m reflink=0"));
        assert!(!exclude(MkfsOptions, "-O ^a", "-O b"));
        assert!(exclude(DirectoryFlags, "+C", "-C"));
    }
}
