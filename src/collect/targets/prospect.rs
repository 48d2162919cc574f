//! Something that will be a target, and what it stands on by its path.
//!
//! Which places become targets is left to [`super::asked`] and [`super::found`].

use std::path::{Path, PathBuf};

use crate::collect::lookup::mount_of;
use crate::facts::catalog::device;
use crate::facts::catalog::target::TargetKind;
use crate::facts::{FactSet, Reading, Scope, Subject};
use crate::host::path_bytes;
use crate::text::safe;

/// Something that will be a target.
#[derive(Clone, Debug)]
pub struct ProspectiveTarget {
    /// The real path of the directory, or the device node.
    pub path: PathBuf,
    pub kind: Reading<TargetKind>,
    /// The nearest directory that exists: the target itself unless it is to be created. `None` for a device.
    pub existing: Option<PathBuf>,
    /// The mount it lies on, or the device it is.
    pub base: Option<Subject>,
    /// Whether looking at it failed with an I/O error.
    pub io_error: bool,
}

impl ProspectiveTarget {
    pub fn subject(&self) -> Subject {
        Subject::target(safe(path_bytes(&self.path)))
    }
}

/// The mount that a real path lies on.
pub fn mount_over(facts: &FactSet, path: &Path) -> Option<Subject> {
    mount_of(facts, path_bytes(path))
}

/// The file system that a mount belongs to: two mounts of one file system have the same. It is the device where there is
/// one, since btrfs has a device number for each subvolume and a bind mount a subject for each point.
pub fn file_system(facts: &FactSet, mount: &Subject) -> Subject {
    facts.resolve(mount, Scope::Device).unwrap_or_else(|| mount.clone())
}

/// The block device with this node.
pub fn device_of(facts: &FactSet, node: &str) -> Option<Subject> {
    facts.which(&device::PATH, |path| path == node).into_iter().next()
}
