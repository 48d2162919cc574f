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
    let mapped = facts
        .known_values_by_subject(&device::DM_NAME)
        .into_iter()
        .map(|(subject, name)| {
            let name = decode_display_safe(&name);
            ([b"/dev/mapper/", name.as_slice()].concat(), subject)
        });
    let mapped: BTreeMap<Vec<u8>, &Subject> = mapped.collect();
    // In a container device nodes may be missing, so mappings are also found by name.
    let find = |path: &[u8]| {
        let mapping = mapped.get(path).copied().cloned();
        mapping.or_else(|| device_of_path(host, path, facts))
    };
    let mounts: Vec<Subject> = facts.subjects_of_scope(Scope::Mount).cloned().collect();
    let stand = parallel::map_items(&mounts, |subject| {
        let number = facts.value(subject, &mount::DEVNO);
        let is_block = || {
            let class = facts.value(subject, &mount::CLASS);
            class.is_some_and(mount::MountClass::is_block)
        };
        let beneath = match number.and_then(|number| numbers.get(&number).copied()) {
            Some(device) => vec![device.clone()],
            // The source is one path, or several paths separated by colons.
            None if is_block() => {
                let source = facts.value(subject, &mount::SOURCE).unwrap_or_default();
                let source = decode_display_safe(&source);
                source.split(|b| *b == b':').filter_map(find).collect()
            }
            None => Vec::new(),
        };
        let options = facts.value(subject, &mount::SUPER_OPTIONS);
        let extra: Vec<(String, Option<Subject>)> = options
            .iter()
            .flatten()
            .filter_map(|option| {
                option
                    .strip_prefix("logdev=")
                    .or(option.strip_prefix("rtdev="))
            })
            .map(|path| (path.to_owned(), find(&decode_display_safe(path))))
            .collect();
        (beneath, extra)
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

/// Unknown if any device was not found, because a commit waits for each.
fn log_and_realtime_device_names(devices: &[(String, Option<Subject>)]) -> Reading<Vec<String>> {
    let name = |(path, device): &(String, Option<Subject>)| match device {
        Some(device) => Ok(device.name().to_owned()),
        None => Err(format!("the device {path} was not found")),
    };
    match devices.iter().map(name).collect() {
        Ok(names) => Reading::known(names, Source::from_file("/proc/self/mountinfo")),
        Err(detail) => Reading::ambiguous(detail),
    }
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
        let path = Path::new(OsStr::from_bytes(&file));
        // A loop device that is backed by a device node is above the node's device, not above the
        // devtmpfs that holds the node.
        let node = || {
            // The kernel prints the path with links resolved. A path that leads through a link now
            // was changed later, perhaps by another user, so it does not count.
            let is_own = || host.real_path(path).is_ok_and(|real| real == path);
            let stat = host.stat(path).ok();
            stat.filter(|stat| stat.is_block_device() && is_own())
        };
        let device =
            device_of_path(host, &file, facts).or_else(|| device_of_node(host, node()?, facts));
        if let Some(device) = device.filter(|device| *device != subject) {
            facts.add_layer_below(&subject, &device);
        } else if let Some(mount) = points.mount_holding_file(&file) {
            let existing = if is_deleted {
                path.parent()
            } else {
                Some(path)
            };
            let stat = existing.and_then(|existing| host.stat(existing).ok());
            if stat.is_some_and(|stat| mount_mismatch_reason(facts, mount, stat).is_none()) {
                facts.add_layer_below(&subject, mount);
                facts.set_fact_link(&subject, mount);
            }
        }
    }
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
    let points = VisibleMountPoints::from_facts(facts);
    for subject in facts.subjects_where(&mount::CLASS, |class| class.is_overlay()) {
        let options = facts.value(&subject, &mount::SUPER_OPTIONS);
        let mut options = options.iter().flatten();
        let upper = options
            .find_map(|option| option.strip_prefix("upperdir="))
            .filter(|upper| upper.starts_with('/'))
            .map(decode_display_safe);
        if let Some(mount) = upper.and_then(|upper| points.mount_holding_path(&upper))
            && *mount != subject
        {
            facts.add_layer_below(&subject, mount);
        }
    }
}
