//! Lists what the next boot needs, with expected outcomes. A need has the worst outcome of the
//! items about it. Without items the need counts as working, so unknown properties become undecided
//! items.

use std::collections::BTreeMap;

use super::boot_dependencies::{DependencyGraph, DependencyNode, ZFS_POOLS};
use super::severity::boot_line_severity;
use crate::model::upgrade::{BootNeed, BootNeedKind, BootOutcome, UpgradeItem};
use walwise_judge::compat::Support;
use walwise_model::facts::catalog::device::DeviceKind;
use walwise_model::facts::catalog::mount::MountClass;
use walwise_model::facts::catalog::{boot, device, mount};
use walwise_model::facts::{FactSet, Scope, Subject};

pub fn list_boot_needs(facts: &FactSet, items: &[UpgradeItem]) -> Vec<BootNeed> {
    let ground = DependencyGraph::new(facts);
    let mut all: Vec<BootNeed> = boot_need_candidates(facts)
        .into_iter()
        .map(|thing| thing.into_boot_need(&ground, items))
        .collect();
    all.sort_by(|a, b| (a.kind, &a.subject, &a.name).cmp(&(b.kind, &b.subject, &b.name)));
    all
}

/// Items for boot lines whose failure is more severe than that of their device: a required file
/// system on an optional encrypted device.
pub fn severity_raising_items(facts: &FactSet, items: &[UpgradeItem]) -> Vec<UpgradeItem> {
    let ground = DependencyGraph::new(facts);
    let mut raised = Vec::new();
    for line in facts.subjects_of_scope(Scope::Boot) {
        let level = boot_line_severity(facts, line);
        let reached =
            ground.items_affecting_boot_need(&DependencyNode::Subject(line.clone()), items);
        let worst = reached
            .iter()
            .filter_map(|(at, item)| at.effective_boot_outcome(item))
            .max();
        let Some(worst) = worst.filter(|worst| *worst >= BootOutcome::CannotBeTold) else {
            continue;
        };
        let mut weights = reached
            .iter()
            .filter(|(at, item)| at.effective_boot_outcome(item) == Some(worst))
            .map(|(_, item)| item.level);
        if weights.any(|found| found >= level) {
            continue;
        }
        let what = "the underlying device may not come up".to_owned();
        let place = facts.value(line, &boot::WHERE);
        let item = UpgradeItem {
            place,
            ..UpgradeItem::new_undecided(line, level, what, Support::unknown(""))
        };
        raised.push(if worst == BootOutcome::Fails {
            item.into_blocker()
        } else {
            item
        });
    }
    raised
}

struct BootNeedCandidate {
    kind: BootNeedKind,
    subject: Subject,
    name: String,
    place: Option<String>,
    node: DependencyNode,
}

impl BootNeedCandidate {
    fn into_boot_need(self, ground: &DependencyGraph, items: &[UpgradeItem]) -> BootNeed {
        let Self {
            kind,
            subject,
            name,
            place,
            node,
        } = self;
        let reached = ground.items_affecting_boot_need(&node, items);
        let answer = reached
            .iter()
            .filter_map(|(at, item)| at.effective_boot_outcome(item))
            .max()
            .unwrap_or(BootOutcome::Works);
        let mut why: Vec<String> = Vec::new();
        for (at, item) in reached {
            let over = at
                .boot_line_other_than(&node)
                .and_then(|line| boot_line_mount_point(ground.facts, line));
            let what = match (&at, over) {
                (DependencyNode::Unresolved, _) => {
                    "it is unknown whether the underlying device comes up".to_owned()
                }
                (DependencyNode::Subject(_) | DependencyNode::Named(_), Some(point)) => {
                    format!("{point}: {}", item.what)
                }
                (DependencyNode::Subject(_) | DependencyNode::Named(_), None) => item.what.clone(),
            };
            if !why.contains(&what) {
                why.push(what);
            }
        }
        BootNeed {
            kind,
            subject,
            place,
            name,
            answer,
            why,
        }
    }
}

fn boot_line_mount_point(facts: &FactSet, line: &Subject) -> Option<String> {
    facts.value(line, &boot::POINT)
}

fn boot_need_candidates(facts: &FactSet) -> Vec<BootNeedCandidate> {
    let of = |kind, subject: &Subject, name, place| {
        let node = DependencyNode::Subject(subject.clone());
        BootNeedCandidate {
            kind,
            subject: subject.clone(),
            name,
            place,
            node,
        }
    };
    let named = |kind, name: String| {
        let node = DependencyNode::Named(name.clone());
        BootNeedCandidate {
            kind,
            subject: Subject::host(),
            name,
            place: None,
            node,
        }
    };
    let mut all = Vec::new();
    for line in facts.subjects_of_scope(Scope::Boot) {
        let point = boot_line_mount_point(facts, line).unwrap_or_else(|| line.name().to_owned());
        all.push(of(
            BootNeedKind::Mount,
            line,
            point,
            facts.value(line, &boot::WHERE),
        ));
    }
    if let Some(root) = undeclared_root_mount(facts) {
        all.push(of(BootNeedKind::Mount, &root, root.name().to_owned(), None));
    }
    for (subject, kind) in devices_assembled_at_boot(facts) {
        let name = facts
            .value(&subject, &device::DM_NAME)
            .unwrap_or_else(|| subject.name().to_owned());
        all.push(of(kind, &subject, name, None));
    }
    let host = Subject::host();
    let active: Vec<String> = facts
        .known_values_by_subject(&device::DM_NAME)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    let unlocked = facts.value(&host, &boot::UNLOCKED).unwrap_or_default();
    let closed = unlocked.into_iter().filter(|name| !active.contains(name));
    all.extend(closed.map(|name| named(BootNeedKind::Crypt, name)));
    let swaps = facts.value(&host, &boot::SWAPS).unwrap_or_default();
    all.extend(
        swaps
            .into_iter()
            .map(|name| named(BootNeedKind::Swap, name)),
    );
    if uses_zfs(facts) {
        all.push(named(BootNeedKind::Pool, ZFS_POOLS.to_owned()));
    }
    all
}

/// The mount of the root file system, if no boot line declares it and it is known to be on a block
/// device or on the network.
pub(super) fn undeclared_root_mount(facts: &FactSet) -> Option<Subject> {
    let is_root = |line: &Subject| facts.value(line, &boot::POINT).as_deref() == Some("/");
    if facts.subjects_of_scope(Scope::Boot).any(is_root) {
        return None;
    }
    let root = Subject::mount("/");
    let class = facts.value(&root, &mount::CLASS)?;
    is_block_or_network_class(class).then_some(root)
}

fn is_block_or_network_class(class: MountClass) -> bool {
    matches!(class, MountClass::Block | MountClass::Network)
}

pub(super) fn uses_zfs(facts: &FactSet) -> bool {
    !facts
        .subjects_where(&mount::CLASS, |class| class.is_zfs())
        .is_empty()
        || !facts
            .subjects_where(&device::KIND, |kind| kind.is_zvol())
            .is_empty()
}

pub(super) fn devices_assembled_at_boot(facts: &FactSet) -> BTreeMap<Subject, BootNeedKind> {
    let all = facts.known_values_by_subject(&device::KIND).into_iter();
    let size = |of: &Subject| facts.value(of, &device::SIZE);
    all.filter_map(|(subject, kind)| {
        Some((
            subject.clone(),
            boot_need_kind_of_device(kind, size(subject))?,
        ))
    })
    .collect()
}

/// `None` for a device that the boot does not assemble.
fn boot_need_kind_of_device(kind: DeviceKind, size: Option<u64>) -> Option<BootNeedKind> {
    match kind {
        DeviceKind::Md => Some(BootNeedKind::Array),
        DeviceKind::Lvm
        | DeviceKind::Dmraid
        | DeviceKind::Vdo
        | DeviceKind::Dm
        | DeviceKind::Bcache
        | DeviceKind::Drbd => Some(BootNeedKind::Volume),
        DeviceKind::Crypt => Some(BootNeedKind::Crypt),
        // zram is created at each boot, usually for swap; a zram of size 0 was never set up.
        DeviceKind::Zram => (size != Some(0)).then_some(BootNeedKind::Swap),
        DeviceKind::Multipath => Some(BootNeedKind::Multipath),
        DeviceKind::Disk
        | DeviceKind::Partition
        | DeviceKind::Zvol
        | DeviceKind::Loop
        | DeviceKind::Ram
        | DeviceKind::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use walwise_model::facts::Source;

    #[test]
    fn unconfigured_zram_is_no_boot_need() {
        let needed = |kind: DeviceKind, size: u64| {
            let (mut facts, of) = (FactSet::default(), Subject::device("zram0"));
            facts.insert_known(&of, &device::KIND, kind, Source::from_system_call("x"));
            facts.insert_known(&of, &device::SIZE, size, Source::from_system_call("x"));
            !devices_assembled_at_boot(&facts).is_empty()
        };
        assert!(!needed(DeviceKind::Zram, 0) && needed(DeviceKind::Zram, 4096));
        assert!(
            needed(DeviceKind::Md, 0),
            "an array that does not run is needed"
        );
    }
}
