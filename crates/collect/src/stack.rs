//! Joins mounts and block devices: each mount to its device, each loop device to the mount of its
//! file or to its backing device, each overlay to the mount of its upper directory.
//!
//! Mounts name their device by number, or by path where the number is anonymous (btrfs, bcachefs).
//! This module reads only an occasional link; file systems that span devices are joined in
//! [`super::filesystems::btrfs`]. An external XFS log is a leaf too, because a commit waits for it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::collector::{Collector, Request};
use super::lookup::{Points, device_at, device_of_node, misplaced};
use crate::facts::catalog::{device, host as machine, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use crate::host::Host;
use crate::text::raw;
use crate::workers;

/// Joins what was read so far.
pub const COLLECTOR: Collector = Collector {
    id: "storage stack",
    run,
};

fn run(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let numbers: BTreeMap<String, &Subject> = facts
        .known(&device::DEVNO)
        .into_iter()
        .map(|(subject, number)| (number, subject))
        .collect();
    let mappings = by_mapping(facts);
    let mounts: Vec<Subject> = facts.subjects(Scope::Mount).cloned().collect();
    let stand = workers::each(&mounts, |subject| {
        let number = facts
            .value(subject, &mount::DEVNO)
            .and_then(|number| numbers.get(&number).copied());
        let beneath = match number {
            Some(device) => vec![device.clone()],
            None if is_block(subject, facts) => by_source(host, subject, &mappings, facts),
            None => Vec::new(),
        };
        (beneath, extra_devices(host, subject, &mappings, facts))
    });
    for (subject, (beneath, extra)) in mounts.iter().zip(stand) {
        if let Some(first) = beneath.first() {
            facts.link(subject, first);
        }
        for device in beneath
            .iter()
            .chain(extra.iter().filter_map(|(_, device)| device.as_ref()))
        {
            facts.stand(subject, device);
        }
        if !extra.is_empty() {
            facts.put(subject, &mount::EXTRA_DEVICES, all_found(&extra));
        }
    }
    loops(host, facts);
    overlays_on_mounts(facts);
}

fn is_block(subject: &Subject, facts: &FactSet) -> bool {
    facts
        .value(subject, &mount::CLASS)
        .is_some_and(mount::MountClass::is_block)
}

/// Mappings by the path that their names give them.
fn by_mapping(facts: &FactSet) -> BTreeMap<Vec<u8>, Subject> {
    let entry = |(subject, name): (&Subject, String)| {
        (
            [b"/dev/mapper/", raw(&name).as_slice()].concat(),
            subject.clone(),
        )
    };
    facts
        .known(&device::DM_NAME)
        .into_iter()
        .map(entry)
        .collect()
}

/// The devices of a mount whose number is anonymous, from its source: a path, or several with
/// colons between. In a container the nodes may be missing; the names of mappings tell which they
/// would be.
fn by_source(
    host: &dyn Host,
    subject: &Subject,
    mappings: &BTreeMap<Vec<u8>, Subject>,
    facts: &FactSet,
) -> Vec<Subject> {
    let source = raw(&facts.value(subject, &mount::SOURCE).unwrap_or_default());
    let find = |path: &[u8]| {
        mappings
            .get(path)
            .cloned()
            .or_else(|| device_at(host, path, facts))
    };
    source.split(|b| *b == b':').filter_map(find).collect()
}

/// Log and real-time devices that a superblock option names, each with the device that was found.
fn extra_devices(
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
    let find = |path: &[u8]| {
        mappings
            .get(path)
            .cloned()
            .or_else(|| device_at(host, path, facts))
    };
    options
        .iter()
        .filter_map(path)
        .map(|path| (path.clone(), find(&raw(&path))))
        .collect()
}

/// The names of these devices; unknown where one was not found, since a commit waits for each.
fn all_found(devices: &[(String, Option<Subject>)]) -> Reading<Vec<String>> {
    let mut names = Vec::new();
    for (path, device) in devices {
        match device {
            Some(device) => names.push(device.name().to_owned()),
            None => {
                return Reading::unknown(
                    Why::Ambiguous,
                    format!("{path} is no device that was found"),
                );
            }
        }
    }
    Reading::known(names, Source::file("/proc/self/mountinfo"))
}

fn loops(host: &dyn Host, facts: &mut FactSet) {
    let loops: Vec<(Subject, String)> = facts
        .known(&device::LOOP_FILE)
        .into_iter()
        .map(|(subject, file)| (subject.clone(), file))
        .collect();
    let points = Points::from_facts(facts);
    for (subject, file) in loops {
        let (file, is_deleted) = file
            .strip_suffix(" (deleted)")
            .map_or((file.as_str(), false), |file| (file, true));
        let file = raw(file);
        // The node of a device lies on a file system in memory, and what is written to it does not.
        let node = || {
            let path = Path::new(OsStr::from_bytes(&file));
            // The kernel printed the path without links; a link there now was put there later, by
            // any user who may.
            let is_own = || host.real_path(path).is_ok_and(|real| real == path);
            host.stat(path)
                .ok()
                .filter(|stat| stat.is_block() && is_own())
        };
        let device = device_at(host, &file, facts).or_else(|| device_of_node(host, node()?, facts));
        if let Some(device) = device.filter(|device| *device != subject) {
            facts.stand(&subject, &device);
        } else if let Some(mount) = points.over_file(&file)
            && holds(
                host,
                Path::new(OsStr::from_bytes(&file)),
                is_deleted,
                mount,
                facts,
            )
        {
            facts.stand(&subject, mount);
            facts.link(&subject, mount);
        }
    }
}

/// Whether the file of a loop device lies on this mount, as stat(2) says of it, or of its directory
/// where it has no name any more.
fn holds(host: &dyn Host, file: &Path, is_deleted: bool, mount: &Subject, facts: &FactSet) -> bool {
    let named = if is_deleted {
        file.parent()
    } else {
        Some(file)
    };
    let stat = named.and_then(|named| host.stat(named).ok());
    stat.is_some_and(|stat| misplaced(facts, mount, stat).is_none())
}

/// Writes to an overlay go to its upper directory. The path is relative to the mounting process, so
/// it is followed only where walwise sees the host's own mounts and not those of a container.
fn overlays_on_mounts(facts: &mut FactSet) {
    if facts
        .value(&Subject::host(), &machine::CONTAINER)
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
            .then(|| (subject, raw(directory)))
    };
    let overlays: Vec<(Subject, Vec<u8>)> = facts
        .which(&mount::CLASS, |class| class.is_overlay())
        .into_iter()
        .filter_map(upper)
        .collect();
    let points = Points::from_facts(facts);
    for (subject, directory) in overlays {
        if let Some(mount) = points.over(&directory).filter(|mount| **mount != subject) {
            facts.stand(&subject, mount);
        }
    }
}
