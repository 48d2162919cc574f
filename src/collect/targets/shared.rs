//! Resources that database targets share (disks, a file system, a thin pool), and logs on slower disks than their data.
//!
//! Only targets that a server uses are compared, so the cost does not grow with the number of mounts. Two volumes of
//! one thin pool run full together although each shows free space.

use std::collections::BTreeSet;

use super::prospect::{ProspectiveTarget, file_system};
use crate::facts::catalog::device::{self, Medium};
use crate::facts::catalog::target::{self, Role};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};

/// The compared properties of a target.
struct One {
    subject: Subject,
    roles: Vec<Role>,
    clusters: BTreeSet<String>,
    file_system: Option<Subject>,
    disks: BTreeSet<Subject>,
    pools: BTreeSet<Subject>,
}

/// Records the resources that the targets of servers share.
pub fn put(places: &[ProspectiveTarget], facts: &mut FactSet) {
    let all: Vec<One> = places.iter().filter_map(|place| one(facts, place)).collect();
    for of in &all {
        let others = || all.iter().filter(|other| other.subject != of.subject);
        let named = |with: &dyn Fn(&One) -> bool| -> Vec<String> {
            others().filter(|other| with(other)).map(|other| other.subject.name().to_owned()).collect()
        };
        let same_fs = |other: &One| of.file_system.is_some() && of.file_system == other.file_system;
        let disks = named(&|other| !of.disks.is_disjoint(&other.disks));
        let systems = named(&same_fs);
        let pools = named(&|other| !of.pools.is_disjoint(&other.pools) && !same_fs(other));
        let source = || Source::derived(["target.roles"]);
        let unseen = || Reading::unknown(Why::Absent, format!("a block device under {}", of.subject.name()));
        let known =
            |found: Vec<String>, seen: bool| if seen { Reading::known(found, source()) } else { unseen() };
        facts.put(&of.subject, &target::SHARES_DISK, known(disks, !of.disks.is_empty()));
        facts.put(&of.subject, &target::SHARES_FILE_SYSTEM, known(systems, of.file_system.is_some()));
        facts.put(&of.subject, &target::SHARES_THIN_POOL, known(pools, !of.disks.is_empty()));
        let data =
            others().filter(|other| holds(other, Role::is_data) && !of.clusters.is_disjoint(&other.clusters));
        let data: Vec<&One> = data.collect();
        if holds(of, is_log) {
            let slower = slower(facts, of, &data);
            facts.put(&of.subject, &target::SLOWER_THAN, slower);
        }
    }
}

fn one(facts: &FactSet, place: &ProspectiveTarget) -> Option<One> {
    let subject = place.subject();
    let clusters: BTreeSet<String> = facts.value(&subject, &target::CLUSTERS)?.into_iter().collect();
    if clusters.is_empty() {
        return None;
    }
    let is_pool =
        |of: &&Subject| facts.value(of, &device::DM_UUID).is_some_and(|uuid| uuid.ends_with("-tpool"));
    let stack = facts.stack(&subject);
    Some(One {
        roles: facts.value(&subject, &target::ROLES).unwrap_or_default(),
        clusters,
        file_system: place
            .base
            .as_ref()
            .filter(|base| base.scope() == Scope::Mount)
            .map(|base| file_system(facts, base)),
        disks: facts.disks(&subject).into_iter().collect(),
        pools: stack.iter().filter(is_pool).cloned().collect(),
        subject,
    })
}

fn holds(one: &One, so: fn(Role) -> bool) -> bool {
    one.roles.iter().any(|role| so(*role))
}

/// Whether a commit can wait for it.
fn is_log(role: Role) -> bool {
    matches!(role, Role::Wal | Role::Redo | Role::Binlog)
}

/// The data of the same server that lies on flash while this log waits for platters.
fn slower(facts: &FactSet, log: &One, data: &[&One]) -> Reading<Vec<String>> {
    let media = |one: &One| -> Option<BTreeSet<Medium>> {
        let media: Option<BTreeSet<Medium>> =
            one.disks.iter().map(|disk| facts.value(disk, &device::MEDIUM)).collect();
        media.filter(|media| !media.is_empty())
    };
    let unknown = |of: &One| Reading::unknown(Why::Absent, format!("the medium of {}", of.subject.name()));
    let Some(own) = media(log) else { return unknown(log) };
    let mut slower = Vec::new();
    for one in data {
        let Some(theirs) = media(one) else { return unknown(one) };
        if own.iter().any(|medium| medium.turns()) && !theirs.iter().any(|medium| medium.turns()) {
            slower.push(one.subject.name().to_owned());
        }
    }
    Reading::known(slower, Source::derived(["device.medium"]))
}
