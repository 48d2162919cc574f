//! Block devices and the devices below each, from /sys/class/block
//! (Documentation/ABI/stable/sysfs-block): a partition's disk, and the `slaves` of md,
//! device-mapper and bcache.
//!
//! Each device is visited once, so the cost is linear. A device of size 0 (an unused loop, an empty
//! zram) gets only kind and size, unless it belongs to md or device-mapper.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::dm;
use super::sysfs_device::{CLASS, SysfsBlockDevice, device_subject, is_complete_device_path};
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::{FactSet, Reading, Source, Subject};
use crate::host::{Host, path_bytes};
use crate::host_readings::error_reading;
use crate::parallel;
use crate::text::{bytes, display_path, display_safe};

/// Records kind and lower devices of every block device, and calls `describe` for all that are not
/// empty. The devices are described in parallel chunks. The result begins with the devices that
/// have their own queue.
pub fn collect_block_devices(
    host: &dyn Host,
    facts: &mut FactSet,
    describe: impl Fn(&SysfsBlockDevice, &mut FactSet) + Sync,
) -> Vec<SysfsBlockDevice> {
    let names = match host.list_directory(Path::new(CLASS)) {
        Ok(names) => names,
        Err(miss) => {
            facts.add_note_once(format!("{CLASS}: {miss}; block devices are unknown"));
            return Vec::new();
        }
    };
    let mut visible: Vec<OsString> = names
        .into_iter()
        .filter(|name| !is_hidden_nvme_path(name))
        .collect();
    let bound = host.subject_count_limits().devices;
    if let Some(first) = visible.get(bound) {
        let (left_out, first) = (visible.len() - bound, display_safe(first.as_bytes()));
        facts.add_note_once(format!(
            "{left_out} block devices beyond the limit of {bound} were not read (first: {first}); facts about these devices are unknown"
        ));
        visible.truncate(bound);
    }
    let known = &*facts;
    let pieces = parallel::map_chunks(&visible, |names| {
        let mut facts = known.subset_with_layers_below([]);
        let mut nodes = Vec::with_capacity(names.len());
        for name in names {
            if let Some(node) = read_block_device(host, name, &mut facts) {
                describe(&node, &mut facts);
                nodes.push(node);
            }
        }
        (names, nodes, facts)
    });
    let mut nodes = Vec::with_capacity(visible.len());
    for (names, some, found) in pieces {
        nodes.extend(some);
        let subjects: Vec<Subject> = names.iter().map(|name| device_subject(name)).collect();
        facts.merge_subset(found, subjects.iter());
    }
    nodes.sort_by_key(|node| !node.has_own_queue());
    nodes
}

/// Whether the name is that of a path of an NVMe multipath disk: `nvme0c1n1` is a path of
/// `nvme0n1`. Such a path cannot be opened.
fn is_hidden_nvme_path(name: &OsStr) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("nvme")) else {
        return false;
    };
    let mut parts = rest
        .split(|c: char| c.is_ascii_digit())
        .filter(|part| !part.is_empty());
    parts.next() == Some("c") && parts.next() == Some("n")
}

fn read_block_device(
    host: &dyn Host,
    name: &OsString,
    facts: &mut FactSet,
) -> Option<SysfsBlockDevice> {
    let subject = device_subject(name);
    let mut node = SysfsBlockDevice {
        name: name.clone(),
        subject,
        kind: DeviceKind::Other,
        device_path: Vec::new(),
    };
    let size = node
        .read_number(host, "size")
        .map(|sectors| sectors.saturating_mul(512));
    facts.insert(&node.subject, &device::SIZE, size.clone());
    let stacked = node.has_name_prefix("dm-") || node.has_name_prefix("md");
    if size.value() == Some(&0) && !stacked {
        let kind = size.map(|_| node.kind_by_name());
        facts.insert(&node.subject, &device::KIND, kind);
        return None;
    }
    read_device_identity(host, &mut node, facts);
    // A partition of a device-mapper device is a mapping with `slaves`. For partitions of disks and
    // md arrays, the device tree shows the device below.
    if node.kind.is_partition() && !node.has_name_prefix("dm-") {
        match node.device_path.rsplit(|b| *b == b'/').nth(1) {
            Some(disk) => {
                facts.add_layer_below(&node.subject, &device_subject(OsStr::from_bytes(disk)));
            }
            None => facts.add_note_once(format!("{}: its disk is unknown", node.subject)),
        }
    } else if node.mark_rows().all(|[_, _, slaves, ..]| *slaves != "no") {
        let slaves = host
            .list_directory(&node.attribute_path("slaves"))
            .unwrap_or_default();
        for slave in &slaves {
            facts.add_layer_below(&node.subject, &device_subject(slave));
        }
    }
    Some(node)
}

fn read_device_identity(host: &dyn Host, node: &mut SysfsBlockDevice, facts: &mut FactSet) {
    let path = node.attribute_path("uevent");
    let shown = display_path(&path);
    let answer = host.read(&path);
    let value = |key: &str| -> Reading<Vec<u8>> {
        let text = match &answer {
            Ok(text) => text,
            Err(miss) => return error_reading(miss, &shown),
        };
        match bytes::line_value(text, key) {
            Some(value) => Reading::known(value.to_vec(), Source::from_file(shown.clone())),
            None => Reading::malformed(format!("{shown} has no {key}")),
        }
    };
    let (major, minor) = (value("MAJOR"), value("MINOR"));
    let minor = minor
        .value()
        .map(|minor| display_safe(minor))
        .unwrap_or_default();
    facts.insert(
        &node.subject,
        &device::DEVNO,
        major.map(|major| format!("{}:{minor}", display_safe(&major))),
    );
    facts.insert(
        &node.subject,
        &device::PATH,
        value("DEVNAME").map(|name| format!("/dev/{}", display_safe(&name))),
    );
    // A truncated link does not end in the name of the device.
    if let Ok(place) = host.link_target(&Path::new(CLASS).join(&node.name))
        && place.file_name() == Some(&node.name)
        && is_complete_device_path(path_bytes(&place))
    {
        node.device_path = path_bytes(&place).to_vec();
    }
    let is_partition = value("DEVTYPE")
        .value()
        .is_some_and(|kind| kind == b"partition");
    let by = if node.has_name_prefix("dm-") {
        let uuid = dm::insert_mapping_name_and_uuid(host, node, facts);
        node.kind = dm::mapping_kind_by_uuid_prefix(&uuid);
        node.attribute_path("dm/uuid")
    } else {
        node.kind = if is_partition {
            DeviceKind::Partition
        } else {
            node.kind_by_name()
        };
        path
    };
    facts.insert_known(
        &node.subject,
        &device::KIND,
        node.kind,
        Source::from_file(display_path(&by)),
    );
}
