//! Directories for an attack: world-writable ones, the attacker's, and a vault that only root may
//! read and nobody may change.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};

use super::stranger::UID;
use super::support::untouched::DirectorySnapshot;

/// A string that only root may read.
pub const SECRET: &str = "Vt8secretofroot";

pub struct AttackDirectory {
    directory: tempfile::TempDir,
}

impl AttackDirectory {
    pub fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("attack-")
            .tempdir()
            .unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
        let ground = Self { directory };
        fs::create_dir(ground.root_only_directory()).unwrap();
        fs::set_permissions(ground.root_only_directory(), Permissions::from_mode(0o700)).unwrap();
        ground.create_root_only_file("secret", &format!("{SECRET}\n"));
        ground
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn root_only_directory(&self) -> PathBuf {
        self.join("vault")
    }

    pub fn secret_file(&self) -> PathBuf {
        self.root_only_directory().join("secret")
    }

    pub fn create_root_only_file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root_only_directory().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        path
    }

    pub fn create_attacker_directory(&self, name: &str) -> PathBuf {
        let path = self.create_directory(name, 0o755);
        chown_to_attacker(&path);
        path
    }

    pub fn create_directory(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    pub fn snapshot_root_only_directory(&self) -> DirectorySnapshot {
        DirectorySnapshot::take(&self.root_only_directory())
    }
}

pub fn root_only_directory_changes(vault: &DirectorySnapshot) -> Vec<String> {
    vault
        .changed_paths()
        .iter()
        .map(|path| format!("changed root's {}", path.display()))
        .collect()
}

/// Gives a file to the attacker. For a symbolic link, the link's own owner changes, not that of its
/// target.
pub fn chown_to_attacker(path: &Path) {
    lchown(path, Some(UID), Some(UID)).unwrap();
}

pub fn chown_tree_to_attacker(directory: &Path) {
    chown_to_attacker(directory);
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            chown_tree_to_attacker(&entry.path());
        } else {
            chown_to_attacker(&entry.path());
        }
    }
}

pub fn write_attacker_file(path: &Path, text: impl AsRef<[u8]>, mode: u32) {
    let _ = fs::remove_file(path);
    fs::write(path, text).unwrap();
    chown(path, Some(UID), Some(UID)).unwrap();
    // Set after the owner, because a change of the owner removes the setuid bit.
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

pub fn create_attacker_symlink(to: &Path, path: &Path) {
    let _ = fs::remove_file(path);
    symlink(to, path).unwrap();
    chown_to_attacker(path);
}

pub fn create_attacker_fifo(path: &Path) {
    let _ = fs::remove_file(path);
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::from_bits_truncate(0o666)).unwrap();
    chown(path, Some(UID), Some(UID)).unwrap();
}
