//! The rules that come with walwise, compiled in. A new file under `rules/` is one line here.

use super::file::RuleFile;

/// The files by name, sorted: `("rules/mount.toml", include_str!("../../rules/mount.toml"))`.
const FILES: &[(&str, &str)] = &[
    ("rules/btrfs.toml", include_str!("../../rules/btrfs.toml")),
    ("rules/controller.toml", include_str!("../../rules/controller.toml")),
    ("rules/corrupting.toml", include_str!("../../rules/corrupting.toml")),
    ("rules/disks.toml", include_str!("../../rules/disks.toml")),
    ("rules/ext4-options.toml", include_str!("../../rules/ext4-options.toml")),
    ("rules/ext4.toml", include_str!("../../rules/ext4.toml")),
    ("rules/filesystem-rare.toml", include_str!("../../rules/filesystem-rare.toml")),
    ("rules/filesystem.toml", include_str!("../../rules/filesystem.toml")),
    ("rules/host.toml", include_str!("../../rules/host.toml")),
    ("rules/layers.toml", include_str!("../../rules/layers.toml")),
    ("rules/layout.toml", include_str!("../../rules/layout.toml")),
    ("rules/mount-options.toml", include_str!("../../rules/mount-options.toml")),
    ("rules/mysql-redo.toml", include_str!("../../rules/mysql-redo.toml")),
    ("rules/next-boot.toml", include_str!("../../rules/next-boot.toml")),
    ("rules/postgres-data.toml", include_str!("../../rules/postgres-data.toml")),
    ("rules/postgres-wal.toml", include_str!("../../rules/postgres-wal.toml")),
    ("rules/shared.toml", include_str!("../../rules/shared.toml")),
    ("rules/verdict.toml", include_str!("../../rules/verdict.toml")),
    ("rules/write-cache.toml", include_str!("../../rules/write-cache.toml")),
    ("rules/xfs.toml", include_str!("../../rules/xfs.toml")),
    ("rules/zfs.toml", include_str!("../../rules/zfs.toml")),
];

/// The built-in rule files: names and texts.
pub fn shipped() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().copied()
}

/// The same as files to read.
pub fn files() -> Vec<RuleFile> {
    shipped().map(|(name, text)| RuleFile { name: name.to_owned(), text: text.to_owned() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{RuleSet, examples};

    #[test]
    fn every_file_of_the_directory_is_in_the_program() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/rules");
        let mut paths: Vec<_> = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        let names = paths.iter().map(|path| format!("rules/{}", path.file_name().unwrap().display()));
        let listed: Vec<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, names.collect::<Vec<_>>());
    }

    #[test]
    fn they_have_no_mistakes_and_do_what_their_examples_say() {
        let (set, mistakes) = RuleSet::parse(&files());
        let mistakes: Vec<String> = mistakes.iter().map(|file| file.render(false)).collect();
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
        let failures: Vec<String> = examples::run(set.rules()).iter().map(ToString::to_string).collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}
