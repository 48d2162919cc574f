//! Joins each mount to its device, and each loop device to its backing device or the mount of its
//! file. Each overlay is joined to the mount of its upper directory.
//!
//! Mounts name their device by number, or by path if the number is anonymous (btrfs, bcachefs).
//! External log and real-time devices of XFS are joined too, because a commit waits for them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::collector::Request;
use super::path_lookup::{
    VisibleMountPoints, device_of_node, device_of_path, mount_mismatch_reason,
};
use crate::facts::catalog::{device, host, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject};
use crate::host::Host;
use crate::parallel;
use crate::text::decode_display_safe;

pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let numbers: BTreeMap<String, &Subject> = facts
        .known_values_by_subject(&device::DEVNO)
        .into_iter()
        .map(|(subject, number)| (number, subject))
        .collect();
    let mappings = mappings_by_mapper_path(facts);
    let mounts: Vec<Subject> = facts.subjects_of_scope(Scope::Mount).cloned().collect();
    let stand = parallel::map_items(&mounts, |subject| {
        let number = facts
            .value(subject, &mount::DEVNO)
            .and_then(|number| numbers.get(&number).copied());
        let beneath = match number {
            Some(device) => vec![device.clone()],
            None if is_block_mount(subject, facts) => {
                devices_of_source(host, subject, &mappings, facts)
            }
            None => Vec::new(),
        };
        (
            beneath,
            log_and_realtime_devices(host, subject, &mappings, facts),
        )
    });
    for (subject, (beneath, extra)) in mounts.iter().zip(stand) {
        if let Some(first) = beneath.first() {
            facts.set_fact_link(subject, first);
        }
        for device in beneath
            .iter()
            .chain(extra.iter().filter_map(|(_, device)| device.as_ref()))
        {
            facts.add_layer_below(subject, device);
        }
        if !extra.is_empty() {
            facts.insert(
                subject,
                &mount::EXTRA_DEVICES,
                log_and_realtime_device_names(&extra),
            );
        }
    }
    link_loop_devices_to_backing(host, facts);
    link_overlay_upper_mounts(facts);
}

fn is_block_mount(subject: &Subject, facts: &FactSet) -> bool {
    facts
        .value(subject, &mount::CLASS)
        .is_some_and(mount::MountClass::is_block)
}

fn mappings_by_mapper_path(facts: &FactSet) -> BTreeMap<Vec<u8>, Subject> {
    let entry = |(subject, name): (&Subject, String)| {
        (
            [b"/dev/mapper/", decode_display_safe(&name).as_slice()].concat(),
            subject.clone(),
        )
    };
    facts
        .known_values_by_subject(&device::DM_NAME)
        .into_iter()
        .map(entry)
        .collect()
}

/// In a container device nodes may be missing, so mappings are also found by name.
fn mapping_or_device_of_path(
    host: &dyn Host,
    path: &[u8],
    mappings: &BTreeMap<Vec<u8>, Subject>,
    facts: &FactSet,
) -> Option<Subject> {
    let mapping = mappings.get(path).cloned();
    mapping.or_else(|| device_of_path(host, path, facts))
}

/// The devices of a mount with an anonymous number, from its source: one path, or several separated
/// by colons.
fn devices_of_source(
    host: &dyn Host,
    subject: &Subject,
    mappings: &BTreeMap<Vec<u8>, Subject>,
    facts: &FactSet,
) -> Vec<Subject> {
    let source = decode_display_safe(&facts.value(subject, &mount::SOURCE).unwrap_or_default());
    let find = |path: &[u8]| mapping_or_device_of_path(host, path, mappings, facts);
    source.split(|b| *b == b':').filter_map(find).collect()
}

fn log_and_realtime_devices(
    host: &dyn Host,
    subject: &Subject,
    mappings: &BTreeMap<Vec<u8>, Subject>,
    facts: &FactSet,
) -> Vec<(String, Option<Subject>)> {
    let options = facts
        .value(subject, &mount::SUPER_OPTIONS)
        .unwrap_or_default();
    let path = |option: &String| {
        option
            .strip_prefix("logdev=")
            .or(option.strip_prefix("rtdev="))
            .map(str::to_owned)
    };
    options
        .iter()
        .filter_map(path)
        .map(|path| {
            let bytes = decode_display_safe(&path);
            let device = mapping_or_device_of_path(host, &bytes, mappings, facts);
            (path, device)
        })
        .collect()
}

/// Unknown if any device was not found, because a commit waits for each.
fn log_and_realtime_device_names(devices: &[(String, Option<Subject>)]) -> Reading<Vec<String>> {
    let mut names = Vec::new();
    for (path, device) in devices {
        match device {
            Some(device) => names.push(device.name().to_owned()),
            None => {
                return Reading::ambiguous(format!("the device {path} was not found"));
            }
        }
    }
    Reading::known(names, Source::from_file("/proc/self/mountinfo"))
}

fn link_loop_devices_to_backing(host: &dyn Host, facts: &mut FactSet) {
    let loops: Vec<(Subject, String)> = facts
        .known_values_by_subject(&device::LOOP_FILE)
        .into_iter()
        .map(|(subject, file)| (subject.clone(), file))
        .collect();
    let points = VisibleMountPoints::from_facts(facts);
    for (subject, file) in loops {
        let (file, is_deleted) = file
            .strip_suffix(" (deleted)")
            .map_or((file.as_str(), false), |file| (file, true));
        let file = decode_display_safe(file);
        // A loop device that is backed by a device node is above the node's device, not above the
        // devtmpfs that holds the node.
        let node = || {
            let path = Path::new(OsStr::from_bytes(&file));
            // The kernel prints the path with links resolved. A path that leads through a link now
            // was changed later, perhaps by another user, so it does not count.
            let is_own = || host.real_path(path).is_ok_and(|real| real == path);
            host.stat(path)
                .ok()
                .filter(|stat| stat.is_block_device() && is_own())
        };
        let device =
            device_of_path(host, &file, facts).or_else(|| device_of_node(host, node()?, facts));
        if let Some(device) = device.filter(|device| *device != subject) {
            facts.add_layer_below(&subject, &device);
        } else if let Some(mount) = points.mount_holding_file(&file)
            && is_file_on_mount(
                host,
                Path::new(OsStr::from_bytes(&file)),
                is_deleted,
                mount,
                facts,
            )
        {
            facts.add_layer_below(&subject, mount);
            facts.set_fact_link(&subject, mount);
        }
    }
}

/// Whether the backing file is on this mount: by stat(2) of the file, or of its directory if the
/// file is deleted.
fn is_file_on_mount(
    host: &dyn Host,
    file: &Path,
    is_deleted: bool,
    mount: &Subject,
    facts: &FactSet,
) -> bool {
    let named = if is_deleted {
        file.parent()
    } else {
        Some(file)
    };
    let stat = named.and_then(|named| host.stat(named).ok());
    stat.is_some_and(|stat| mount_mismatch_reason(facts, mount, stat).is_none())
}

/// Joins each overlay to the mount of its upper directory, which takes the writes. The directory's
/// path is valid in the mount namespace of the mounting process, so it is followed only outside
/// containers.
fn link_overlay_upper_mounts(facts: &mut FactSet) {
    if facts
        .host_value(&host::CONTAINER)
        .is_none_or(|container| container != "none")
    {
        return;
    }
    let upper = |subject: Subject| {
        let options = facts.value(&subject, &mount::SUPER_OPTIONS)?;
        let directory = options
            .iter()
            .find_map(|option| option.strip_prefix("upperdir="))?;
        directory
            .starts_with('/')
            .then(|| (subject, decode_display_safe(directory)))
    };
    let overlays: Vec<(Subject, Vec<u8>)> = facts
        .subjects_where(&mount::CLASS, |class| class.is_overlay())
        .into_iter()
        .filter_map(upper)
        .collect();
    let points = VisibleMountPoints::from_facts(facts);
    for (subject, directory) in overlays {
        if let Some(mount) = points
            .mount_holding_path(&directory)
            .filter(|mount| **mount != subject)
        {
            facts.add_layer_below(&subject, mount);
        }
    }
}
