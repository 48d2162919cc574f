//! The users of each device, of the disk that it is a part of, and of the other paths to its unit.
//!
//! A partition is also in use if its disk has users other than partitions.

use std::collections::BTreeMap;
use std::fmt;

use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::mount;
use crate::facts::{FactSet, Scope, Subject};
use crate::host::Host;
use crate::limits::USERS;
use crate::path_lookup::device_of_path;
use crate::storage::block::dm;
use crate::text::decode_display_safe;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceUse {
    Mounted(String),
    Partitioned,
    Member(String),
    Swap,
    LvmInternal,
    /// Part of another device: its name, and the use of that device.
    PartOf(String, Box<DeviceUse>),
    /// Path to a unit: the name of another path to the same unit, and the use of that path.
    PathTo(String, Box<DeviceUse>),
}

impl fmt::Display for DeviceUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted(point) => write!(f, "mounted at {point}"),
            Self::Partitioned => f.write_str("partitioned"),
            Self::Member(of) => write!(f, "member of {of}"),
            Self::Swap => f.write_str("swap"),
            Self::LvmInternal => f.write_str("internal LVM volume"),
            Self::PartOf(whole, by) => write!(f, "part of {whole}, which is {by}"),
            Self::PathTo(other, by) => write!(f, "same disk as {other}, which is {by}"),
        }
    }
}

impl DeviceUse {
    pub fn content_description(&self) -> String {
        match self {
            Self::Mounted(point) => format!("a mount at {point}"),
            Self::Partitioned => "partitions".to_owned(),
            Self::Swap => "swap in use".to_owned(),
            Self::LvmInternal => format!("an {self}"),
            Self::Member(_) | Self::PartOf(..) => format!("a {self}"),
            Self::PathTo(..) => format!("the {self}"),
        }
    }
}

pub struct DeviceUseIndex {
    holders: BTreeMap<Subject, Vec<Subject>>,
    paths: BTreeMap<Subject, Vec<Subject>>,
}

impl DeviceUseIndex {
    pub fn from_facts(host: &dyn Host, facts: &FactSet) -> Self {
        let mut holders: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
        for (top, base) in facts.layer_edges() {
            holders.entry(base.clone()).or_default().push(top.clone());
        }
        add_zram_holders(host, facts, &mut holders);
        Self {
            holders,
            paths: paths_by_first_path(facts),
        }
    }

    pub fn uses_of_device(&self, subject: &Subject, facts: &FactSet) -> Vec<DeviceUse> {
        let mut uses = self.direct_uses(subject, facts);
        let others = self
            .paths
            .get(facts.first_path_to_same_disk(subject))
            .into_iter()
            .flatten();
        for other in others.filter(|other| *other != subject) {
            let by = self.direct_uses(other, facts).into_iter();
            uses.extend(by.map(|by| DeviceUse::PathTo(other.name().to_owned(), Box::new(by))));
        }
        if is_partition(subject, facts) {
            for whole in facts.layers_directly_below(subject) {
                let by = self
                    .direct_uses(whole, facts)
                    .into_iter()
                    .filter(|by| *by != DeviceUse::Partitioned);
                uses.extend(by.map(|by| DeviceUse::PartOf(whole.name().to_owned(), Box::new(by))));
            }
        }
        uses
    }

    fn direct_uses(&self, subject: &Subject, facts: &FactSet) -> Vec<DeviceUse> {
        let mut uses: Vec<DeviceUse> = Vec::new();
        for holder in self.holders.get(subject).into_iter().flatten() {
            let by = match holder.scope() {
                Scope::Mount => {
                    let point = facts.value(holder, &mount::POINT);
                    DeviceUse::Mounted(point.unwrap_or_else(|| holder.name().to_owned()))
                }
                _ if is_partition(holder, facts) => DeviceUse::Partitioned,
                _ => DeviceUse::Member(holder.name().to_owned()),
            };
            if uses.len() < USERS && !uses.contains(&by) {
                uses.push(by);
            }
        }
        if facts.value(subject, &device::SWAP) == Some(true) {
            uses.push(DeviceUse::Swap);
        }
        if facts
            .value(subject, &device::DM_UUID)
            .is_some_and(|uuid| dm::is_lvm_internal(&uuid))
        {
            uses.push(DeviceUse::LvmInternal);
        }
        uses
    }
}

fn is_partition(subject: &Subject, facts: &FactSet) -> bool {
    facts
        .value(subject, &device::KIND)
        .is_some_and(DeviceKind::is_partition)
}

/// Adds each zram to the users of its backing device, to which zram writes idle pages. No link in
/// sysfs shows this use. The backing device is not added as a layer below, because a power failure
/// loses the contents of zram anyway.
fn add_zram_holders(
    host: &dyn Host,
    facts: &FactSet,
    holders: &mut BTreeMap<Subject, Vec<Subject>>,
) {
    for (zram, path) in facts.known_values_by_subject(&device::ZRAM_BACKING) {
        if path == "none" {
            continue;
        }
        if let Some(device) = device_of_path(host, &decode_display_safe(&path), facts) {
            holders.entry(device).or_default().push(zram.clone());
        }
    }
}

fn paths_by_first_path(facts: &FactSet) -> BTreeMap<Subject, Vec<Subject>> {
    let mut paths: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
    for device in facts
        .subjects_of_scope(Scope::Device)
        .filter(|device| facts.first_path_to_same_disk(device) != *device)
    {
        let first = facts.first_path_to_same_disk(device).clone();
        paths
            .entry(first.clone())
            .or_insert_with(|| vec![first])
            .push(device.clone());
    }
    paths
}
