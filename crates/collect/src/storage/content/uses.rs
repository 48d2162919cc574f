//! The users of each device, of the disk that it is a part of, and of the other paths to it.
//!
//! The device itself is not read. A partition is in use if its whole disk has users other than
//! partitions. The backing device of a zram is in use although no link in sysfs shows it.

use std::collections::BTreeMap;
use std::fmt;

use crate::bounds::USERS;
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::mount;
use crate::facts::{FactSet, Scope, Subject};
use crate::host::Host;
use crate::lookup::device_of_path;
use crate::storage::block::dm;
use crate::text::original_bytes;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// Mount point.
    Mounted(String),
    /// The kernel knows partitions on it.
    Partitioned,
    /// The device above it.
    Member(String),
    Swap,
    /// Internal to LVM.
    LvmInternal,
    /// The device that it is a part of, and its use.
    PartOf(String, Box<Use>),
    /// Another path to the same unit, and its use.
    PathTo(String, Box<Use>),
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted(point) => write!(f, "mounted at {point}"),
            Self::Partitioned => f.write_str("partitioned"),
            Self::Member(of) => write!(f, "member of {of}"),
            Self::Swap => f.write_str("swap"),
            Self::LvmInternal => f.write_str("internal LVM volume"),
            Self::PartOf(whole, by) => write!(f, "part of {whole}, {by}"),
            Self::PathTo(other, by) => write!(f, "path to {other}, {by}"),
        }
    }
}

impl Use {
    /// For "holds …": what the device contains because of this use.
    pub fn describe_use(&self) -> String {
        match self {
            Self::Mounted(point) => format!("a mount at {point}"),
            Self::Partitioned => "partitions".to_owned(),
            Self::Member(of) => format!("a member of {of}"),
            Self::Swap => "swap in use".to_owned(),
            Self::LvmInternal => "an internal LVM volume".to_owned(),
            Self::PartOf(whole, by) => format!("a part of {whole}, {by}"),
            Self::PathTo(other, by) => format!("a path to {other}, {by}"),
        }
    }
}

pub struct Uses {
    holders: BTreeMap<Subject, Vec<Subject>>,
    /// Only units with several paths.
    paths: BTreeMap<Subject, Vec<Subject>>,
}

impl Uses {
    pub fn from_facts(host: &dyn Host, facts: &FactSet) -> Self {
        let mut holders: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
        for (top, base) in facts.edges() {
            holders.entry(base.clone()).or_default().push(top.clone());
        }
        zram_holders(host, facts, &mut holders);
        Self {
            holders,
            paths: paths_by_unit(facts),
        }
    }

    /// Includes the uses of its other paths and of its whole disk.
    pub fn uses_of_device(&self, subject: &Subject, facts: &FactSet) -> Vec<Use> {
        let mut uses = self.direct_uses(subject, facts);
        let others = self.paths.get(facts.unit(subject)).into_iter().flatten();
        for other in others.filter(|other| *other != subject) {
            let by = self.direct_uses(other, facts).into_iter();
            uses.extend(by.map(|by| Use::PathTo(other.name().to_owned(), Box::new(by))));
        }
        if is_partition(subject, facts) {
            for whole in facts.below(subject) {
                let by = self
                    .direct_uses(whole, facts)
                    .into_iter()
                    .filter(|by| *by != Use::Partitioned);
                uses.extend(by.map(|by| Use::PartOf(whole.name().to_owned(), Box::new(by))));
            }
        }
        uses
    }

    fn direct_uses(&self, subject: &Subject, facts: &FactSet) -> Vec<Use> {
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
            uses.push(Use::LvmInternal);
        }
        uses
    }
}

fn is_partition(subject: &Subject, facts: &FactSet) -> bool {
    facts
        .value(subject, &device::KIND)
        .is_some_and(DeviceKind::is_partition)
}

/// A zram writes idle pages to its backing device, which no link in sysfs shows. It is not a layer
/// below: data in memory is lost.
fn zram_holders(host: &dyn Host, facts: &FactSet, holders: &mut BTreeMap<Subject, Vec<Subject>>) {
    for (zram, path) in facts.known_values(&device::ZRAM_BACKING) {
        if path == "none" {
            continue;
        }
        if let Some(device) = device_of_path(host, &original_bytes(&path), facts) {
            holders.entry(device).or_default().push(zram.clone());
        }
    }
}

/// The paths of each unit with several.
fn paths_by_unit(facts: &FactSet) -> BTreeMap<Subject, Vec<Subject>> {
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
