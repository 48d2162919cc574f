//! The users of each device: what stands on it, on the disk that it is a part of, and on the other
//! paths to it.
//!
//! Nothing of the device itself is read. A partition is in use if anything but partitions stands on
//! its whole disk. A zram's backing device is in use although no link in sysfs shows it.

use std::collections::BTreeMap;
use std::fmt;

use crate::bounds::USERS;
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::mount;
use crate::facts::{FactSet, Scope, Subject};
use crate::host::Host;
use crate::lookup::device_at;
use crate::storage::block::dm;
use crate::text::raw;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// A file system on it is mounted here.
    Mounted(String),
    /// It has partitions that the kernel knows.
    Partitioned,
    /// Another device stands on it.
    Member(String),
    /// The kernel swaps to it.
    Swap,
    /// LVM keeps it for itself.
    LvmInner,
    /// It is a part of this device, which is in use as a whole.
    PartOf(String, Box<Use>),
    /// This device is another path to it.
    PathTo(String, Box<Use>),
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted(point) => write!(f, "mounted at {point}"),
            Self::Partitioned => f.write_str("partitioned"),
            Self::Member(of) => write!(f, "member of {of}"),
            Self::Swap => f.write_str("swap"),
            Self::LvmInner => f.write_str("inner part of LVM"),
            Self::PartOf(whole, by) => write!(f, "part of {whole}, {by}"),
            Self::PathTo(other, by) => write!(f, "path to {other}, {by}"),
        }
    }
}

impl Use {
    /// What the device holds for this use, in words.
    pub fn held(&self) -> String {
        match self {
            Self::Mounted(point) => format!("a mount at {point}"),
            Self::Partitioned => "partitions".to_owned(),
            Self::Member(of) => format!("a member of {of}"),
            Self::Swap => "swap in use".to_owned(),
            Self::LvmInner => "an inner part of LVM".to_owned(),
            Self::PartOf(whole, by) => format!("a part of {whole}, {by}"),
            Self::PathTo(other, by) => format!("a path to {other}, {by}"),
        }
    }
}

/// The layers above each device.
pub struct Uses {
    holders: BTreeMap<Subject, Vec<Subject>>,
    /// Paths by the unit they lead to, where there are several.
    paths: BTreeMap<Subject, Vec<Subject>>,
}

impl Uses {
    /// The layers from the facts that were joined so far.
    pub fn read(host: &dyn Host, facts: &FactSet) -> Self {
        let mut holders: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
        for (top, base) in facts.edges() {
            holders.entry(base.clone()).or_default().push(top.clone());
        }
        zram_holders(host, facts, &mut holders);
        Self {
            holders,
            paths: paths(facts),
        }
    }

    /// Every use of a device, those of the other paths to it and of the disk that it is a part of
    /// with them.
    pub fn all(&self, subject: &Subject, facts: &FactSet) -> Vec<Use> {
        let mut uses = self.own(subject, facts);
        let others = self.paths.get(facts.unit(subject)).into_iter().flatten();
        for other in others.filter(|other| *other != subject) {
            let by = self.own(other, facts).into_iter();
            uses.extend(by.map(|by| Use::PathTo(other.name().to_owned(), Box::new(by))));
        }
        if is_partition(subject, facts) {
            for whole in facts.below(subject) {
                let by = self
                    .own(whole, facts)
                    .into_iter()
                    .filter(|by| *by != Use::Partitioned);
                uses.extend(by.map(|by| Use::PartOf(whole.name().to_owned(), Box::new(by))));
            }
        }
        uses
    }

    fn own(&self, subject: &Subject, facts: &FactSet) -> Vec<Use> {
        let mut uses: Vec<Use> = Vec::new();
        for holder in self.holders.get(subject).into_iter().flatten() {
            let by = match holder.scope() {
                Scope::Mount => {
                    let point = facts.value(holder, &mount::POINT);
                    Use::Mounted(point.unwrap_or_else(|| holder.name().to_owned()))
                }
                _ if is_partition(holder, facts) => Use::Partitioned,
                _ => Use::Member(holder.name().to_owned()),
            };
            if uses.len() < USERS && !uses.contains(&by) {
                uses.push(by);
            }
        }
        if facts.value(subject, &device::SWAP) == Some(true) {
            uses.push(Use::Swap);
        }
        if facts
            .value(subject, &device::DM_UUID)
            .is_some_and(|uuid| dm::is_lvm_internal(&uuid))
        {
            uses.push(Use::LvmInner);
        }
        uses
    }
}

fn is_partition(subject: &Subject, facts: &FactSet) -> bool {
    facts
        .value(subject, &device::KIND)
        .is_some_and(DeviceKind::is_partition)
}

/// Where a zram writes idle pages to, which no link in sysfs tells. It is no layer beneath: what is
/// in memory is lost.
fn zram_holders(host: &dyn Host, facts: &FactSet, holders: &mut BTreeMap<Subject, Vec<Subject>>) {
    for (zram, path) in facts.known(&device::ZRAM_BACKING) {
        if path == "none" {
            continue;
        }
        if let Some(device) = device_at(host, &raw(&path), facts) {
            holders.entry(device).or_default().push(zram.clone());
        }
    }
}

/// Paths by the unit they lead to, where there are several.
fn paths(facts: &FactSet) -> BTreeMap<Subject, Vec<Subject>> {
    let mut paths: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
    for device in facts
        .subjects(Scope::Device)
        .filter(|device| facts.unit(device) != *device)
    {
        let first = facts.unit(device).clone();
        paths
            .entry(first.clone())
            .or_insert_with(|| vec![first])
            .push(device.clone());
    }
    paths
}
