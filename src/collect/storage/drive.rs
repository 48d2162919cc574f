//! Answers of the disks themselves, asked as root: write caches, volatile caches, warnings, rotation.
//!
//! Only disks below a mount or an unused device are asked. Their number is bounded, several are asked at a time, and
//! each with the tool for its kind ([`nvme`], [`smart`], [`flag`]). Judging the answers is left to `durability`. A
//! sleeping disk is not woken, so its answers stay unknown.

mod questions;
mod flag;
mod capacitor;
mod nvme;
mod smart;

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use self::questions::{DriveFacts, Questions};
use crate::collect::collector::{Collector, Request};
use crate::collect::lookup::mount_of;
use crate::collect::refusal::not_run;
use crate::facts::catalog::device::{self, DeviceKind, Shingled, Transport};
use crate::facts::catalog::{controller, host as machine, mount};
use crate::facts::note::StorageNote;
use crate::facts::{FactSet, KeyInfo, Reading, Remedy, Scope, Subject, Value, Why};
use crate::host::{Host, path_bytes};
use crate::text::safe;
use crate::workers;

pub const COLLECTOR: Collector = Collector { id: "disks", run };

/// The largest number of disks that are asked.
const MOST: usize = 64;

/// The number of disks asked at a time.
const AT_A_TIME: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryMethod {
    Nvme,
    /// SATA and SAS disks that are really there.
    Disk,
    /// A SCSI disk that a hypervisor or a USB bridge presents.
    Shown,
}

impl QueryMethod {
    fn for_disk(disk: &Subject, facts: &FactSet) -> Option<Self> {
        if !facts.value(disk, &device::KIND)?.is_disk() {
            return None;
        }
        match facts.value(disk, &device::TRANSPORT)? {
            Transport::Nvme => Some(Self::Nvme),
            Transport::Sata | Transport::Sas | Transport::Scsi => Some(Self::Disk),
            Transport::Usb | Transport::VirtioScsi | Transport::Vmware | Transport::Hyperv => {
                Some(Self::Shown)
            }
            // A volume of a RAID controller is asked through its controller, a disk on the network not at all.
            Transport::Megaraid | Transport::Raid => {
                (facts.value(disk, &controller::VOLUME)? == "none").then_some(Self::Disk)
            }
            Transport::Virtio
            | Transport::Xen
            | Transport::Mmc
            | Transport::Pmem
            | Transport::Network
            | Transport::Other => None,
        }
    }
}

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let disks = wanted(request, facts);
    if disks.is_empty() {
        return;
    }
    let partitions = Partitions::of(facts);
    let unasked = if request.without_programs {
        Some(not_run())
    } else if facts.value(&Subject::host(), &machine::PRIVILEGED) != Some(true) {
        Some(Reading::unknown(Why::Denied, "only root can ask a disk").or_try(Remedy::RunAsRoot))
    } else {
        None
    };
    if let Some(reading) = unasked {
        return leave(host, &disks, &partitions, &reading, facts);
    }
    let (asked, rest) = disks.split_at(disks.len().min(MOST));
    if !rest.is_empty() {
        let says = format!("{} disks were asked, and this one was not", asked.len());
        leave(host, rest, &partitions, &Reading::unknown(Why::NotCollected, says), facts);
        facts.warn(StorageNote::DisksBeyondBound { disks: disks.len(), asked: asked.len() });
    }
    let mut late = BTreeSet::new();
    for some in asked.chunks(AT_A_TIME) {
        let node = |disk| facts.value(disk, &device::PATH).unwrap_or_default();
        let nodes: Vec<_> = some.iter().map(|(disk, method)| (node(disk), *method)).collect();
        let drive = workers::at_once(&nodes, |(node, method)| {
            ask(&Questions { host, node, late: &late, unasked: None }, *method)
        });
        for (one, drive) in some.iter().zip(drive) {
            let disk = &one.0;
            let Ok(drive) = drive else {
                let failed = Reading::unknown(Why::Malformed, "reading the disk's answers failed");
                leave(host, slice::from_ref(one), &partitions, &failed, facts);
                facts.warn(StorageNote::DiskUnread { disk: disk.clone() });
                continue;
            };
            late.extend(&drive.late);
            for (key, reading) in drive.facts {
                record(disk, &partitions, &key, reading, facts);
            }
        }
    }
}

fn ask(questions: &Questions, method: QueryMethod) -> DriveFacts {
    match method {
        QueryMethod::Nvme => nvme::ask(questions),
        QueryMethod::Disk => smart::ask(questions),
        QueryMethod::Shown => flag::ask_shown(questions),
    }
}

/// The partitions of each disk.
struct Partitions(BTreeMap<Subject, Vec<Subject>>);

impl Partitions {
    /// One walk for all disks: a large host has thousands.
    fn of(facts: &FactSet) -> Self {
        let mut partitions: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
        for (top, base) in facts.edges() {
            if facts.value(top, &device::KIND).is_some_and(DeviceKind::is_partition) {
                partitions.entry(base.clone()).or_default().push(top.clone());
            }
        }
        Self(partitions)
    }

    fn on(&self, disk: &Subject) -> &[Subject] {
        self.0.get(disk).map_or(&[], Vec::as_slice)
    }
}

/// A disk that hides its zones shows none to the kernel; one that shows them is known already.
fn record(
    disk: &Subject,
    partitions: &Partitions,
    key: &KeyInfo,
    reading: Reading<Value>,
    facts: &mut FactSet,
) {
    if key.name != device::SHINGLED.name() {
        return facts.put_value(disk, key, reading);
    }
    let known = facts.value(disk, &device::SHINGLED);
    if known.is_some_and(Shingled::is_told) || (known.is_some() && !reading.is_known()) {
        return;
    }
    // A partition has its disk's zones.
    for subject in partitions.on(disk).iter().chain([disk]) {
        facts.put_value(subject, key, reading.clone());
    }
}

/// Asks nobody, and records the reason for every fact that the answers would have told.
fn leave(
    host: &dyn Host,
    disks: &[(Subject, QueryMethod)],
    partitions: &Partitions,
    reading: &Reading<Value>,
    facts: &mut FactSet,
) {
    let questions = Questions { host, node: "", late: &BTreeSet::new(), unasked: Some(reading) };
    for (disk, method) in disks {
        for (key, reading) in ask(&questions, *method).facts {
            record(disk, partitions, &key, reading, facts);
        }
    }
}

/// Disks at the bottom of what was asked for, of mounts, and of unused devices, in this order and each once.
fn wanted(request: &Request, facts: &FactSet) -> Vec<(Subject, QueryMethod)> {
    let asked = request.target.as_deref().map(path_bytes).and_then(|path| {
        let node = safe(path);
        let is_it = |device: &&Subject| facts.value(device, &device::PATH).is_some_and(|path| path == node);
        let device = facts.subjects(Scope::Device).find(is_it).filter(|_| path.starts_with(b"/dev/"));
        device.cloned().or_else(|| mount_of(facts, path))
    });
    let mounts = facts.which(&mount::CLASS, |class| class.is_block());
    let unused = facts.which(&device::CONTENT, |content| content.may_be_given());
    let mut seen = BTreeSet::new();
    let mut disks = Vec::new();
    for top in asked.iter().chain(&mounts).chain(&unused) {
        // One walk for all of them: what stands on the same disks is not walked twice.
        let mut open = vec![top];
        while let Some(subject) = open.pop() {
            if !seen.insert(subject.clone()) {
                continue;
            }
            let below = facts.below(subject);
            if below.is_empty()
                && let Some(method) = QueryMethod::for_disk(subject, facts)
            {
                disks.push((subject.clone(), method));
            }
            open.extend(below);
        }
    }
    disks
}

#[cfg(test)]
mod tests;
