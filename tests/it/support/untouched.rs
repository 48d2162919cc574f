//! Directories that must be unchanged at the end: every name, kind, mode, owner and byte in them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A directory as it was.
pub struct Untouched {
    root: PathBuf,
    before: BTreeMap<PathBuf, Entry>,
}

/// A file by its mode and owner, with what it holds or points to.
type Entry = (u32, u32, u32, Vec<u8>);

impl Untouched {
    /// As it is now.
    pub fn now(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            before: all_in(root),
        }
    }

    /// Accepts the present contents of a file as requested.
    pub fn admit(&mut self, file: &Path) {
        if let Some(now) = all_in(&self.root).remove(file) {
            self.before.insert(file.to_owned(), now);
        }
    }

    /// The names that changed; empty when none did.
    pub fn differences(&self) -> Vec<PathBuf> {
        let now = all_in(&self.root);
        let names = self.before.keys().chain(now.keys());
        let mut differ: Vec<PathBuf> = names
            .filter(|name| self.before.get(*name) != now.get(*name))
            .cloned()
            .collect();
        differ.sort();
        differ.dedup();
        differ
    }
}

fn all_in(directory: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        // What is being written may be gone again.
        let Ok(found) = fs::symlink_metadata(&path) else {
            continue;
        };
        if found.is_dir() {
            all.extend(all_in(&path));
        }
        let holds = match fs::read_link(&path) {
            Ok(target) => target.into_os_string().into_encoded_bytes(),
            Err(_) if found.is_file() => fs::read(&path).unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        all.insert(path, (found.mode(), found.uid(), found.gid(), holds));
    }
    all
}
