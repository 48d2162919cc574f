//! Entries of directories in /dev, /etc, /proc and /sys. An entry that could not be read is an error,
//! because a partial list could miss a user of the device.

use std::path::{Path, PathBuf};
use std::{fs, io};

pub fn is_absent_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The error begins with the directory.
pub fn read_entry_paths(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let named = |e: io::Error| format!("{}: {e}", directory.display());
    let entries = fs::read_dir(directory).map_err(named)?;
    let path = |entry: io::Result<fs::DirEntry>| Ok(entry.map_err(named)?.path());
    entries.map(path).collect()
}

/// Like [`read_entry_paths`], but empty if the directory is missing.
pub fn read_entry_paths_if_present(directory: &Path) -> Result<Vec<PathBuf>, String> {
    match fs::read_dir(directory) {
        Err(e) if is_absent_error(&e) => Ok(Vec::new()),
        _ => read_entry_paths(directory),
    }
}

pub fn file_name_text(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
