//! Files that are created, written and flushed one after the other, as fs_mark does it: what a journal pays for new names.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::timing::{LoadMeans, together};
use crate::trial::Sample;

/// Bytes of a file.
const FILE: usize = 16 << 10;

/// Directories of each session.
const DIRECTORIES: u64 = 16;

/// Creates files by so many sessions for the time, and removes them.
pub fn create(clients: u32, log: &Path, means: &LoadMeans<'_>) -> Result<Sample, String> {
    let top = log.join("files");
    let place = |client: u32, directory: u64| top.join(format!("{client}-{directory}"));
    for client in 0..clients {
        for directory in 0..DIRECTORIES {
            fs::create_dir_all(place(client, directory)).map_err(|e| format!("a directory: {e}"))?;
        }
    }
    let failed = Mutex::new(None);
    let bytes = means.pages.bytes(FILE);
    let sample = together(clients, means, &|| None, &|client, nth| {
        let path = place(client, nth % DIRECTORIES).join(nth.to_string());
        let made = file(&path, bytes);
        if let Err(errno) = made {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(errno);
        }
        made.is_ok()
    });
    fs::remove_dir_all(&top).map_err(|e| format!("new files: {e}"))?;
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(errno) => Err(format!("a new file: {errno}")),
        None => sample,
    }
}

fn file(path: &Path, bytes: &[u8]) -> Result<(), Errno> {
    let create = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, create, Mode::RUSR | Mode::WUSR)?;
    if rustix::io::pwrite(&file, bytes, 0)? != bytes.len() {
        return Err(Errno::NOSPC);
    }
    rustix::fs::fsync(&file)
}
