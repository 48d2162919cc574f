//! Lists what the next boot needs, with expected outcomes. A need has the worst outcome of the
//! items about it. Without items the need counts as working, so unknown properties become undecided
//! items.

use std::collections::BTreeMap;

use super::boot_dependencies::{DependencyGraph, DependencyNode, ZFS_POOLS};
use super::severity::{boot_line_severity, boot_line_undecided_item, is_root_line};
use crate::model::upgrade::{BootNeed, BootNeedKind, BootOutcome, UpgradeItem};
use walwise_model::facts::catalog::device::DeviceKind;
use walwise_model::facts::catalog::mount::MountClass;
use walwise_model::facts::catalog::{boot, device, mount};
use walwise_model::facts::{FactSet, Key, Scope, Subject};

pub fn list_boot_needs(facts: &FactSet, items: &[UpgradeItem]) -> Vec<BootNeed> {
    let ground = DependencyGraph::new(facts);
    let mut all = working_boot_needs(facts);
    for need in &mut all {
        set_outcome_and_reasons(need, &ground, items);
    }
    all.sort_by(|a, b| (a.kind, &a.subject, &a.name).cmp(&(b.kind, &b.subject, &b.name)));
    all
}

/// Items for boot lines whose failure is more severe than that of their device: a required file
/// system on an optional encrypted device.
pub fn items_for_lines_worse_than_device(
    facts: &FactSet,
    items: &[UpgradeItem],
) -> Vec<UpgradeItem> {
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
        let what = "the underlying device may be unavailable at the next boot";
        let item = boot_line_undecided_item(facts, line, what);
        raised.push(item.into_blocker_if(worst == BootOutcome::Fails));
    }
    raised
}

fn set_outcome_and_reasons(need: &mut BootNeed, ground: &DependencyGraph, items: &[UpgradeItem]) {
    let node = if need.subject == Subject::host() {
        DependencyNode::Named(need.name.clone())
    } else {
        DependencyNode::Subject(need.subject.clone())
    };
    for (at, item) in ground.items_affecting_boot_need(&node, items) {
        if let Some(outcome) = at.effective_boot_outcome(item) {
            need.answer = need.answer.max(outcome);
        }
        let over = at
            .boot_line_other_than(&node)
            .and_then(|line| ground.facts.value(line, &boot::POINT));
        let what = match (&at, over) {
            (DependencyNode::Unresolved, _) => {
                "it is unknown whether the underlying device will be available".to_owned()
            }
            (DependencyNode::Subject(_) | DependencyNode::Named(_), Some(point)) => {
                format!("{point}: {}", item.what)
            }
            (DependencyNode::Subject(_) | DependencyNode::Named(_), None) => item.what.clone(),
        };
        if !need.why.contains(&what) {
            need.why.push(what);
        }
    }
}

/// Everything that the next boot needs, as if it worked. Needs of the host are told apart by name.
fn working_boot_needs(facts: &FactSet) -> Vec<BootNeed> {
    let host = Subject::host();
    let need = |kind, subject: &Subject, name| BootNeed {
        kind,
        subject: subject.clone(),
        place: facts.value(subject, &boot::WHERE),
        name,
        answer: BootOutcome::Works,
        why: Vec::new(),
    };
    let mut all = Vec::new();
    for line in facts.subjects_of_scope(Scope::Boot) {
        let point = facts
            .value(line, &boot::POINT)
            .unwrap_or_else(|| line.name().to_owned());
        all.push(need(BootNeedKind::Mount, line, point));
    }
    if let Some(root) = undeclared_root_mount(facts) {
        all.push(need(BootNeedKind::Mount, &root, root.name().to_owned()));
    }
    for (subject, kind) in devices_assembled_at_boot(facts) {
        let name = facts
            .value(&subject, &device::DM_NAME)
            .unwrap_or_else(|| subject.name().to_owned());
        all.push(need(kind, &subject, name));
    }
    let list = |key: &Key<Vec<String>>| facts.host_value(key).unwrap_or_default().into_iter();
    let active = facts.known_values_by_subject(&device::DM_NAME);
    let is_closed = |name: &String| !active.iter().any(|(_, open)| open == name);
    for name in list(&boot::UNLOCKED).filter(is_closed) {
        all.push(need(BootNeedKind::Crypt, &host, name));
    }
    for name in list(&boot::SWAPS) {
        all.push(need(BootNeedKind::Swap, &host, name));
    }
    if uses_zfs(facts) {
        all.push(need(BootNeedKind::Pool, &host, ZFS_POOLS.to_owned()));
    }
    all
}

/// The mount of the root file system, if no boot line declares it and it is known to be on a block
/// device or on the network.
pub fn undeclared_root_mount(facts: &FactSet) -> Option<Subject> {
    let mut lines = facts.subjects_of_scope(Scope::Boot);
    if lines.any(|line| is_root_line(facts, line)) {
        return None;
    }
    let root = Subject::mount("/");
    let class = facts.value(&root, &mount::CLASS)?;
    matches!(class, MountClass::Block | MountClass::Network).then_some(root)
}

pub fn uses_zfs(facts: &FactSet) -> bool {
    !facts
        .subjects_where(&mount::CLASS, |class| class.is_zfs())
        .is_empty()
        || !facts
            .subjects_where(&device::KIND, |kind| kind.is_zvol())
            .is_empty()
}

pub fn devices_assembled_at_boot(facts: &FactSet) -> BTreeMap<Subject, BootNeedKind> {
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
