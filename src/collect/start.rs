//! Whether a file still is what a running server read when it started.
//!
//! What lies in a file is in force for certain only if neither the file nor the directory that could hold more of them
//! was changed since the start. The surprise: a second is the unit of both times, so a change in the second of the start
//! is taken for one after it.

use std::path::Path;

use crate::host::{Host, MissKind, path_bytes};
use crate::text::safe;

/// Why a file or directory may not be what a server read that started then, in seconds since 1970; `None` when it is.
pub fn changed(host: &dyn Host, started: Option<u64>, path: &Path) -> Option<String> {
    // What a link points to may be older than the link; then the directory with the link in it was changed.
    let is_link = host.link(path).is_ok();
    let holder = path.parent().filter(|_| is_link);
    [Some(path), holder].into_iter().flatten().find_map(|path| later(host, started, path))
}

fn later(host: &dyn Host, started: Option<u64>, path: &Path) -> Option<String> {
    let shown = safe(path_bytes(path));
    let Some(started) = started else {
        return Some(format!("whether {shown} was changed since the server started is not known"));
    };
    match host.stat(path).map(|stat| stat.changed) {
        Ok(Some(changed)) if changed < started => None,
        Ok(Some(_)) => Some(format!("{shown} was changed after the server started")),
        Err(miss) if miss.kind == MissKind::Absent => {
            Some(format!("{shown} was removed after the server started"))
        }
        Ok(None) | Err(_) => Some(format!("when {shown} was last changed is not known")),
    }
}
