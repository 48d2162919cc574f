//! File systems that span devices, and what is said where their members are unknown.

use crate::facts::note::StorageNote;
use crate::host::Miss;

/// The note for file systems of a type that spans devices, where their members are unknown.
pub fn no_members(directory: &'static str, miss: &Miss, fstype: &'static str) -> StorageNote {
    StorageNote::NoMembers { directory, reason: miss.to_string(), fstype }
}
