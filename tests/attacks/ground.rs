//! The ground of an attack: world-writable directories and the stranger's, and the vault, which
//! belongs to root alone and must not change.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::{Path, PathBuf};

use super::stranger::UID;
use super::support::untouched::Untouched;

/// A word that only root may know.
pub const SECRET: &str = "Vt8secretofroot";

/// Below a directory that everybody can reach.
pub struct Ground {
    directory: tempfile::TempDir,
}

impl Ground {
    /// A new one, with a vault that has one file in it.
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

    /// A place on it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// root's own, 0700.
    pub fn vault(&self) -> PathBuf {
        self.at("vault")
    }

    /// The file in it, 0600.
    pub fn secret(&self) -> PathBuf {
        self.vault().join("secret")
    }

    /// Puts another file into the vault.
    pub fn hide(&self, name: &str, text: &str) -> PathBuf {
        let path = self.vault().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// A directory of the stranger's.
    pub fn theirs(&self, name: &str) -> PathBuf {
        let path = self.shared(name, 0o755);
        give(&path);
        path
    }

    /// A directory of root's with this mode.
    pub fn shared(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// The vault as it is now.
    pub fn watch(&self) -> Untouched {
        Untouched::now(&self.vault())
    }
}

/// The changes to root's files, in words.
pub fn damage(vault: &Untouched) -> Vec<String> {
    vault
        .differences()
        .iter()
        .map(|path| format!("changed root's {}", path.display()))
        .collect()
}

/// Makes something the stranger's; a link itself, not what it names.
pub fn give(path: &Path) {
    lchown(path, Some(UID), Some(UID)).unwrap();
}

/// Gives a whole directory.
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

/// A file of the stranger's.
pub fn put(path: &Path, text: impl AsRef<[u8]>, mode: u32) {
    let _ = fs::remove_file(path);
    fs::write(path, text).unwrap();
    chown(path, Some(UID), Some(UID)).unwrap();
    // Set after the owner, whose change removes the setuid bit.
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A link of the stranger's.
pub fn link(to: &Path, path: &Path) {
    let _ = fs::remove_file(path);
    symlink(to, path).unwrap();
    give(path);
}

/// A fifo of the stranger's.
pub fn fifo(path: &Path) {
    let _ = fs::remove_file(path);
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::from_bits_truncate(0o666)).unwrap();
    chown(path, Some(UID), Some(UID)).unwrap();
}
