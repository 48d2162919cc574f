//! One block device on the way to becoming facts: its name, subject and kind, and its place in the device tree.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

#[cfg(test)]
use crate::facts::Choice as _;
use crate::facts::Subject;
use crate::facts::catalog::device::DeviceKind;
use crate::text::safe;

/// Where sysfs lists every block device, partitions included.
pub const CLASS: &str = "/sys/class/block";

/// One block device on the way to becoming facts.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name in sysfs, where `!` stands for the `/` of a node's path.
    pub name: OsString,
    /// The subject of its facts.
    pub subject: Subject,
    pub kind: DeviceKind,
    /// Its place in the device tree: the target of its link in the class directory; empty when unknown.
    pub place: Vec<u8>,
    /// Unique id of a device-mapper device; empty for others.
    pub dm_uuid: String,
}

impl Node {
    /// A device of this name and kind whose place is unknown.
    #[cfg(test)]
    pub fn new(name: &str, kind: &str) -> Self {
        let subject = self::subject(OsStr::new(name));
        let kind = DeviceKind::from_word(kind).expect("a word of device.kind");
        Self { name: name.into(), subject, kind, place: Vec::new(), dm_uuid: String::new() }
    }

    /// The path of an attribute in sysfs.
    pub fn attribute(&self, name: &str) -> PathBuf {
        let mut path = PathBuf::with_capacity(CLASS.len() + self.name.len() + name.len() + 2);
        path.extend([OsStr::new(CLASS), &self.name, OsStr::new(name)]);
        path
    }

    /// Whether its name begins with this prefix.
    pub fn is_called(&self, prefix: &str) -> bool {
        self.name.as_bytes().starts_with(prefix.as_bytes())
    }

    /// Whether it has a queue: a partition has its disk's, unless device-mapper made it.
    pub fn has_own_queue(&self) -> bool {
        !self.kind.is_partition() || self.is_called("dm-")
    }

    /// Whether its place in the device tree holds this text.
    pub fn is_in(&self, part: &str) -> bool {
        self.place.windows(part.len()).any(|window| window == part.as_bytes())
    }

    /// The first component of its place that satisfies the condition.
    pub fn component(&self, matches: impl Fn(&str) -> bool) -> Option<String> {
        let parts = self.place.split(|b| *b == b'/').filter_map(|part| std::str::from_utf8(part).ok());
        parts.filter(|part| matches(part)).map(str::to_owned).next()
    }
}

/// Whether a place holds what the kernel writes: below a SCSI target stands the address of a unit of that target
/// (`target2:0:0/2:0:0:0`, drivers/scsi/scsi_sysfs.c).
pub fn is_well_formed(place: &[u8]) -> bool {
    let mut parts = place.split(|b| *b == b'/').peekable();
    let mut is_well_formed = place.iter().all(u8::is_ascii_graphic);
    while let Some(part) = parts.next() {
        if let Some(target) = part.strip_prefix(b"target") {
            let unit = parts.peek().and_then(|unit| unit.strip_prefix(target)?.strip_prefix(b":"));
            is_well_formed &=
                unit.is_some_and(|unit| !unit.is_empty() && unit.iter().all(u8::is_ascii_digit));
        }
    }
    is_well_formed
}

/// The subject of a device by its name in sysfs.
pub fn subject(name: &OsStr) -> Subject {
    Subject::device(safe(name.as_bytes()))
}
