//! Directories that must be unchanged at the end: every name, type, mode, owner and byte.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub struct DirectorySnapshot {
    root: PathBuf,
    before: BTreeMap<PathBuf, FileAttributes>,
}

/// Mode, owner, group, and contents or link target of a file.
type FileAttributes = (u32, u32, u32, Vec<u8>);

impl DirectorySnapshot {
    pub fn take(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            before: read_tree(root),
        }
    }

    pub fn accept_changed_file(&mut self, file: &Path) {
        if let Some(now) = read_tree(&self.root).remove(file) {
            self.before.insert(file.to_owned(), now);
        }
    }

    pub fn changed_paths(&self) -> Vec<PathBuf> {
        let now = read_tree(&self.root);
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

fn read_tree(directory: &Path) -> BTreeMap<PathBuf, FileAttributes> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        // A file being written may be gone again.
        let Ok(found) = fs::symlink_metadata(&path) else {
            continue;
        };
        if found.is_dir() {
            all.extend(read_tree(&path));
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
