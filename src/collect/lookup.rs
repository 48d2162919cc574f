//! What earlier collectors found, by the names that files and tools use: the mount over a path, the device of a node.
//!
//! Looking up reads a link at most, and puts no fact. Who stands on whom is left to [`super::stack`].

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::sight;
use crate::facts::catalog::mount;
use crate::facts::{FactSet, Subject};
use crate::host::{Host, Stat, path_bytes};
use crate::text::{raw, safe};

/// The mounts in sight by mount point, for looking up many paths.
pub struct Points(BTreeMap<Vec<u8>, Subject>);

impl Points {
    /// The mounts in sight in a set of facts.
    pub fn from_facts(facts: &FactSet) -> Self {
        let point = |subject: Subject| Some((raw(&facts.value(&subject, &mount::POINT)?), subject));
        Self(facts.which(&mount::IN_SIGHT, |seen| *seen).into_iter().filter_map(point).collect())
    }

    /// The mount that a path lies on, by the longest mount point that holds it. The path is absolute, with its links
    /// followed ([`Host::real_path`]); it need not exist.
    pub fn over(&self, path: &[u8]) -> Option<&Subject> {
        let path = if path.len() > 1 { path.strip_suffix(b"/").unwrap_or(path) } else { path };
        self.0.get(path).or_else(|| {
            let above: Vec<&[u8]> = sight::ancestors(path).collect();
            above.into_iter().rev().find_map(|directory| self.0.get(directory))
        })
    }

    /// The mount that a file with data lies on. A path in /dev that is no known device is no file: the device is gone, and
    /// what is written to it is not kept in /dev. Only a mount below that, such as /dev/shm, holds files.
    pub fn over_file(&self, path: &[u8]) -> Option<&Subject> {
        self.over(path).filter(|mount| !path.starts_with(b"/dev/") || mount.name().starts_with("/dev/"))
    }
}

/// The mount in sight that one path lies on: see [`Points::over`].
pub fn mount_of(facts: &FactSet, path: &[u8]) -> Option<Subject> {
    Points::from_facts(facts).over(path).cloned()
}

/// Why a file cannot lie on a mount that its path names: the kernel says that it is on another device, so the table was not
/// read whole, or the path is not the file's. A file of btrfs has a number of its subvolume alone (fs/btrfs/inode.c,
/// `btrfs_getattr`).
pub fn misplaced(facts: &FactSet, mount: &Subject, seen: Stat) -> Option<String> {
    let devno = facts.value(mount, &mount::DEVNO)?;
    let found = format!("{}:{}", seen.major, seen.minor);
    let is_anonymous =
        seen.major == 0 && facts.value(mount, &mount::FSTYPE).is_some_and(|fstype| fstype == "btrfs");
    (found != devno && !is_anonymous)
        .then(|| format!("it lies on device {found}, and {mount}, which its path names, is {devno}"))
}

/// The device with the numbers of this node.
pub fn device_of_node(host: &dyn Host, node: Stat, facts: &FactSet) -> Option<Subject> {
    let link = format!("/sys/dev/block/{}:{}", node.node_major, node.node_minor);
    let link = host.link(Path::new(&link)).ok()?;
    // sysfs writes a slash in a device's name as an exclamation mark; the subject is the name in sysfs.
    let subject = Subject::device(safe(path_bytes(Path::new(link.file_name()?))));
    facts.contains(&subject).then_some(subject)
}

/// The device whose node this path is, links followed where the name alone does not tell.
pub fn device_at(host: &dyn Host, path: &[u8], facts: &FactSet) -> Option<Subject> {
    let named = |path: &[u8]| {
        let name: Vec<u8> =
            path.strip_prefix(b"/dev/")?.iter().map(|b| if *b == b'/' { b'!' } else { *b }).collect();
        Some(Subject::device(safe(&name))).filter(|subject| facts.contains(subject))
    };
    if !path.starts_with(b"/dev/") {
        return None;
    }
    named(path).or_else(|| named(path_bytes(&host.real_path(Path::new(OsStr::from_bytes(path))).ok()?)))
}
