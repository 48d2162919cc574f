//! The block devices and the devices below each, from /sys/class/block
//! (Documentation/ABI/stable/sysfs-block): partitions on their disk, md, device-mapper and bcache
//! on their `slaves`.
//!
//! Capabilities and behaviour of a device are left to [`super::device`]. Each device is visited
//! once, so the cost is linear. A device of size 0 (an unused loop, an empty zram) gets only its
//! kind and size.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::kind;
use super::node::{CLASS, Node, is_well_formed, subject};
use crate::attribute;
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::note::StorageNote;
use crate::facts::{FactSet, Reading, Source, Subject, Why};
use crate::host::{Host, path_bytes};
use crate::refusal::refused;
use crate::text::safe;
use crate::workers;

/// Names that drivers give to whole devices which stand on nothing, so that nobody need look into
/// `slaves`.
const LEAVES: &[&str] = &[
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "loop", "zram", "ram", "sr", "fd", "nbd", "rbd",
    "pmem", "zd", "dasd",
];

/// Finds every block device with a size; records its kind, the devices below it, and the attributes
/// that `describe` finds. Devices with a queue come first. `describe` sees the facts of the host
/// and of this device, and may keep state from one device to the next.
pub fn walk<S: Default>(
    host: &dyn Host,
    facts: &mut FactSet,
    describe: impl Fn(&mut S, &Node, &mut FactSet) + Sync,
) -> Vec<Node> {
    let names = match host.list(Path::new(CLASS)) {
        Ok(names) => names,
        Err(miss) => {
            facts.warn(StorageNote::NoDevices {
                directory: CLASS,
                reason: miss.to_string(),
            });
            return Vec::new();
        }
    };
    let mut visible: Vec<OsString> = names
        .into_iter()
        .filter(|name| !is_hidden_path(name))
        .collect();
    let bound = host.bounds().devices;
    if let Some(first) = visible.get(bound) {
        let (left_out, first) = (visible.len() - bound, safe(first.as_bytes()));
        facts.warn(StorageNote::DevicesBeyondBound {
            left_out,
            first,
            bound,
        });
        visible.truncate(bound);
    }
    let known = &*facts;
    let pieces = workers::in_pieces(&visible, |names| {
        let (mut facts, mut state) = (known.part([]), S::default());
        let mut nodes = Vec::with_capacity(names.len());
        for name in names {
            if let Some(node) = look(host, name, &mut facts) {
                describe(&mut state, &node, &mut facts);
                nodes.push(node);
            }
        }
        (names, nodes, facts)
    });
    let mut nodes = Vec::with_capacity(visible.len());
    for (names, some, found) in pieces {
        nodes.extend(some);
        let subjects: Vec<Subject> = names.iter().map(|name| subject(name)).collect();
        facts.put_back(found, subjects.iter());
    }
    nodes.sort_by_key(|node| !node.has_own_queue());
    nodes
}

/// Paths of a multipath NVMe disk (`nvme0c1n1`) cannot be opened; the disk itself is `nvme0n1`.
fn is_hidden_path(name: &OsStr) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("nvme")) else {
        return false;
    };
    let mut parts = rest
        .split(|c: char| c.is_ascii_digit())
        .filter(|part| !part.is_empty());
    parts.next() == Some("c") && parts.next() == Some("n")
}

fn look(host: &dyn Host, name: &OsString, facts: &mut FactSet) -> Option<Node> {
    let subject = subject(name);
    let mut node = Node {
        name: name.clone(),
        subject,
        kind: DeviceKind::Other,
        place: Vec::new(),
        dm_uuid: String::new(),
    };
    let size =
        attribute::number(host, &node.attribute("size")).map(|sectors| sectors.saturating_mul(512));
    let empty = size.value() == Some(&0);
    facts.put(&node.subject, &device::SIZE, size);
    let stacked = node.is_called("dm-") || node.is_called("md");
    if empty && !stacked {
        let source = Source::file(safe(path_bytes(&node.attribute("size"))));
        facts.know(&node.subject, &device::KIND, kind::by_name(&node), source);
        return None;
    }
    identify(host, &mut node, facts);
    // device-mapper names its partitions itself; those of md lie in the device tree like those of
    // disks.
    if node.kind.is_partition() && !node.is_called("dm-") {
        match node.place.rsplit(|b| *b == b'/').nth(1) {
            Some(disk) => facts.stand(&node.subject, &self::subject(OsStr::from_bytes(disk))),
            None => facts.warn(StorageNote::NoDisk {
                partition: node.subject.clone(),
            }),
        }
    } else if !LEAVES.iter().any(|prefix| node.is_called(prefix)) {
        let slaves = host.list(&node.attribute("slaves")).unwrap_or_default();
        for slave in &slaves {
            facts.stand(&node.subject, &self::subject(slave));
        }
    }
    Some(node)
}

/// Device number, node, place in the device tree and kind.
fn identify(host: &dyn Host, node: &mut Node, facts: &mut FactSet) {
    let path = node.attribute("uevent");
    let shown = safe(path_bytes(&path));
    let answer = host.read(&path);
    let value = |key: &str| -> Reading<Vec<u8>> {
        let text = match &answer {
            Ok(text) => text,
            Err(miss) => return refused(miss, &shown),
        };
        let mut lines = text.split(|b| *b == b'\n');
        match lines.find_map(|line| line.strip_prefix(key.as_bytes())?.strip_prefix(b"=")) {
            Some(value) => Reading::known(value.to_vec(), Source::file(shown.clone())),
            None => Reading::unknown(Why::Malformed, format!("{shown} has no {key}")),
        }
    };
    let (major, minor) = (value("MAJOR"), value("MINOR"));
    let minor_text = minor.value().map(|minor| safe(minor)).unwrap_or_default();
    facts.put(
        &node.subject,
        &device::DEVNO,
        major.map(|major| format!("{}:{minor_text}", safe(&major))),
    );
    facts.put(
        &node.subject,
        &device::PATH,
        value("DEVNAME").map(|name| format!("/dev/{}", safe(&name))),
    );
    // A link that was cut ends in another name.
    let place = host.link(&Path::new(CLASS).join(&node.name)).ok();
    let place = place
        .filter(|place| place.file_name() == Some(&node.name) && is_well_formed(path_bytes(place)));
    node.place = place
        .map(|place| path_bytes(&place).to_vec())
        .unwrap_or_default();
    let is_partition = value("DEVTYPE")
        .value()
        .is_some_and(|kind| kind == b"partition");
    let by = if node.is_called("dm-") {
        let uuid = super::dm::identify(host, node, facts);
        node.dm_uuid = uuid;
        node.kind = super::dm::kind(&node.dm_uuid);
        node.attribute("dm/uuid")
    } else {
        node.kind = if is_partition {
            DeviceKind::Partition
        } else {
            kind::by_name(node)
        };
        path
    };
    facts.know(
        &node.subject,
        &device::KIND,
        node.kind,
        Source::file(safe(path_bytes(&by))),
    );
}
