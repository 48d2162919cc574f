//! Reads a pack of rules and tables from a directory.

mod due_entries;
mod entry;

use std::path::{Path, PathBuf};
use std::{fs, io};

pub use due_entries::DueEntries;
pub use entry::{PackEntry, display_value, parse_entries};

/// Reads the entries of the rule files in a directory, and of the tables in its subdirectory
/// `tables`.
pub fn read_pack_directory(directory: &Path) -> io::Result<Vec<PackEntry>> {
    let mut paths = list_toml_files(directory)?;
    if paths.is_empty() {
        return Err(io::Error::other(format!(
            "no rule file (*.toml) in {}",
            directory.display()
        )));
    }
    let tables = directory.join("tables");
    if tables.is_dir() {
        paths.extend(list_toml_files(&tables)?);
    }
    let read = |path: &PathBuf| Ok((path.display().to_string(), fs::read_to_string(path)?));
    let texts = paths.iter().map(read).collect::<io::Result<Vec<_>>>()?;
    parse_entries(
        texts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str())),
    )
    .map_err(io::Error::other)
}

fn list_toml_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", directory.display()))
    };
    let entries = fs::read_dir(directory).map_err(named)?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    paths.sort();
    Ok(paths)
}
