//! Whether anybody but root could have put a file where it is, or could change it there.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::text;

/// The objection to a path without links: `/x is not owned by root`; `None` when it and every directory above it are
/// owned by root, and writable by root alone.
pub fn doubt(path: &Path) -> io::Result<Option<String>> {
    for path in path.ancestors() {
        let metadata = fs::symlink_metadata(path)?;
        let what = if metadata.uid() != 0 {
            "is not owned by root"
        } else if metadata.mode() & 0o022 != 0 {
            "can be written by others than root"
        } else {
            continue;
        };
        return Ok(Some(format!("{} {what}", text::safe(path.as_os_str().as_encoded_bytes()))));
    }
    Ok(None)
}
