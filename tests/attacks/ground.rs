//! Directories for an attack: world-writable ones, the attacker's, and a vault that only root may
//! read and nobody may change.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};

use super::stranger::UID;
use super::support::untouched::DirectorySnapshot;

/// A string that only root may read.
pub const SECRET: &str = "Vt8secretofroot";

/// A temporary directory that every user can reach.
pub struct Ground {
    directory: tempfile::TempDir,
}

impl Ground {
    /// Creates the vault and its secret file.
    pub fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("attack-")
            .tempdir()
            .unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
        let ground = Self { directory };
        fs::create_dir(ground.vault()).unwrap();
        fs::set_permissions(ground.vault(), Permissions::from_mode(0o700)).unwrap();
        ground.hide("secret", &format!("{SECRET}\n"));
        ground
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Owned by root, mode 0700.
    pub fn vault(&self) -> PathBuf {
        self.at("vault")
    }

    /// A file in the vault, mode 0600.
    pub fn secret(&self) -> PathBuf {
        self.vault().join("secret")
    }

    /// Adds a file to the vault.
    pub fn hide(&self, name: &str, text: &str) -> PathBuf {
        let path = self.vault().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// Creates a directory owned by the attacker.
    pub fn theirs(&self, name: &str) -> PathBuf {
        let path = self.shared(name, 0o755);
        give(&path);
        path
    }

    /// Creates a directory owned by root.
    pub fn shared(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// Records the vault's contents, to find changes later.
    pub fn watch(&self) -> DirectorySnapshot {
        DirectorySnapshot::take(&self.vault())
    }
}

/// Lists the changed files of root as sentences.
pub fn damage(vault: &DirectorySnapshot) -> Vec<String> {
    vault
        .changed_paths()
        .iter()
        .map(|path| format!("changed root's {}", path.display()))
        .collect()
}

/// Changes the owner to the attacker; a symbolic link itself changes, not its target.
pub fn give(path: &Path) {
    lchown(path, Some(UID), Some(UID)).unwrap();
}

pub fn give_all(directory: &Path) {
    give(directory);
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            give_all(&entry.path());
        } else {
            give(&entry.path());
        }
    }
}

/// Creates a file owned by the attacker.
pub fn put(path: &Path, text: impl AsRef<[u8]>, mode: u32) {
    let _ = fs::remove_file(path);
    fs::write(path, text).unwrap();
    chown(path, Some(UID), Some(UID)).unwrap();
    // Set after the owner, because a change of the owner removes the setuid bit.
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Creates a symbolic link owned by the attacker.
pub fn link(to: &Path, path: &Path) {
    let _ = fs::remove_file(path);
    symlink(to, path).unwrap();
    give(path);
}

/// Creates a fifo owned by the attacker.
pub fn fifo(path: &Path) {
    let _ = fs::remove_file(path);
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::from_bits_truncate(0o666)).unwrap();
    chown(path, Some(UID), Some(UID)).unwrap();
}
