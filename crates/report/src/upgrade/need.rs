//! Everything that the next boot needs, with its fate.
//!
//! The answer to each need is the worst of the items about it, so that the items, the closing line,
//! the exit code and this list cannot differ. A need without any item *works*, so code that
//! examines a need must make an item of everything unknown.

use std::collections::BTreeMap;

use super::ground::{BootDependency, DependencyGraph, ZFS};
use super::weight::weight;
use crate::model::upgrade::{Answer, BootNeed, Item, Kind};
use walwise_judge::validity::Ruling;
use walwise_model::facts::catalog::device::DeviceKind;
use walwise_model::facts::catalog::mount::MountClass;
use walwise_model::facts::catalog::{boot, device, mount};
use walwise_model::facts::{FactSet, Scope, Subject};

/// Everything that the next boot needs, ordered by kind.
pub fn needs(facts: &FactSet, items: &[Item]) -> Vec<BootNeed> {
    let ground = DependencyGraph::new(facts);
    let mut all: Vec<BootNeed> = things(facts)
        .into_iter()
        .map(|thing| thing.answered(&ground, items))
        .collect();
    all.sort_by(|a, b| (a.kind, &a.subject, &a.name).cmp(&(b.kind, &b.subject, &b.name)));
    all
}

/// Items about lines that matter more than the device below: an optional encrypted device under a
/// required file system.
pub fn raised(facts: &FactSet, items: &[Item]) -> Vec<Item> {
    let ground = DependencyGraph::new(facts);
    let mut raised = Vec::new();
    for line in facts.subjects(Scope::Boot) {
        let level = weight(facts, line);
        let reached = ground.reached(&BootDependency::Of(line.clone()), items);
        let worst = reached
            .iter()
            .filter_map(|(at, item)| at.answer(item))
            .max();
        let Some(worst) = worst.filter(|worst| *worst >= Answer::CannotBeTold) else {
            continue;
        };
        let mut weights = reached
            .iter()
            .filter(|(at, item)| at.answer(item) == Some(worst))
            .map(|(_, item)| item.level);
        if weights.any(|found| found >= level) {
            continue;
        }
        let what = "the device under it does not come up, or may not".to_owned();
        let place = facts.value(line, &boot::WHERE);
        let item = Item {
            place,
            ..Item::open(line, level, what, Ruling::unknown(""))
        };
        raised.push(if worst == Answer::Fails {
            item.blocks()
        } else {
            item
        });
    }
    raised
}

/// A need without its answer.
struct Thing {
    kind: Kind,
    subject: Subject,
    name: String,
    place: Option<String>,
    node: BootDependency,
}

impl Thing {
    fn answered(self, ground: &DependencyGraph, items: &[Item]) -> BootNeed {
        let Self {
            kind,
            subject,
            name,
            place,
            node,
        } = self;
        let reached = ground.reached(&node, items);
        let answer = reached
            .iter()
            .filter_map(|(at, item)| at.answer(item))
            .max()
            .unwrap_or(Answer::Works);
        let mut why: Vec<String> = Vec::new();
        for (at, item) in reached {
            let over = at
                .other_line(&node)
                .and_then(|line| point_of(ground.facts, line));
            let what = match (&at, over) {
                (BootDependency::Unresolved, _) => {
                    "it is unknown whether the device under it comes up".to_owned()
                }
                (BootDependency::Of(_) | BootDependency::Named(_), Some(point)) => {
                    format!("{point}: {}", item.what)
                }
                (BootDependency::Of(_) | BootDependency::Named(_), None) => item.what.clone(),
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

fn point_of(facts: &FactSet, line: &Subject) -> Option<String> {
    facts.value(line, &boot::POINT)
}

fn things(facts: &FactSet) -> Vec<Thing> {
    let of = |kind, subject: &Subject, name, place| {
        let node = BootDependency::Of(subject.clone());
        Thing {
            kind,
            subject: subject.clone(),
            name,
            place,
            node,
        }
    };
    let named = |kind, name: String| {
        let node = BootDependency::Named(name.clone());
        Thing {
            kind,
            subject: Subject::host(),
            name,
            place: None,
            node,
        }
    };
    let mut all = Vec::new();
    for line in facts.subjects(Scope::Boot) {
        let point = point_of(facts, line).unwrap_or_else(|| line.name().to_owned());
        all.push(of(
            Kind::Mount,
            line,
            point,
            facts.value(line, &boot::WHERE),
        ));
    }
    if let Some(root) = root_without_line(facts) {
        all.push(of(Kind::Mount, &root, root.name().to_owned(), None));
    }
    for (subject, kind) in devices(facts) {
        let name = facts
            .value(&subject, &device::DM_NAME)
            .unwrap_or_else(|| subject.name().to_owned());
        all.push(of(kind, &subject, name, None));
    }
    let host = Subject::host();
    let active: Vec<String> = facts
        .known(&device::DM_NAME)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    let unlocked = facts.value(&host, &boot::UNLOCKED).unwrap_or_default();
    let closed = unlocked.into_iter().filter(|name| !active.contains(name));
    all.extend(closed.map(|name| named(Kind::Crypt, name)));
    let swaps = facts.value(&host, &boot::SWAPS).unwrap_or_default();
    all.extend(swaps.into_iter().map(|name| named(Kind::Swap, name)));
    if uses_zfs(facts) {
        all.push(named(Kind::Pool, ZFS.to_owned()));
    }
    all
}

/// The root file system, where neither fstab nor the kernel's command line has a usable line for
/// it.
pub(super) fn root_without_line(facts: &FactSet) -> Option<Subject> {
    let is_root = |line: &Subject| facts.value(line, &boot::POINT).as_deref() == Some("/");
    if facts.subjects(Scope::Boot).any(is_root) {
        return None;
    }
    let root = Subject::mount("/");
    let class = facts.value(&root, &mount::CLASS)?;
    on_a_disk(class).then_some(root)
}

fn on_a_disk(class: MountClass) -> bool {
    matches!(class, MountClass::Block | MountClass::Network)
}

/// Whether anything here uses ZFS.
pub(super) fn uses_zfs(facts: &FactSet) -> bool {
    !facts
        .which(&mount::CLASS, |class| class.is_zfs())
        .is_empty()
        || !facts.which(&device::KIND, |kind| kind.is_zvol()).is_empty()
}

/// The devices that the kernel assembles, with the kind of each.
pub(super) fn devices(facts: &FactSet) -> BTreeMap<Subject, Kind> {
    let all = facts.known(&device::KIND).into_iter();
    let size = |of: &Subject| facts.value(of, &device::SIZE);
    all.filter_map(|(subject, kind)| Some((subject.clone(), kind_of(kind, size(subject))?)))
        .collect()
}

/// The kind of a device between a file system and its disks; `None` where the kernel does not have
/// to assemble it.
fn kind_of(kind: DeviceKind, size: Option<u64>) -> Option<Kind> {
    match kind {
        DeviceKind::Md => Some(Kind::Array),
        DeviceKind::Lvm
        | DeviceKind::Dmraid
        | DeviceKind::Vdo
        | DeviceKind::Dm
        | DeviceKind::Bcache
        | DeviceKind::Drbd => Some(Kind::Volume),
        DeviceKind::Crypt => Some(Kind::Crypt),
        // It is created at each boot, usually for swap; one without a size was never set up.
        DeviceKind::Zram => (size != Some(0)).then_some(Kind::Swap),
        DeviceKind::Multipath => Some(Kind::Multipath),
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
    fn a_zram_that_nobody_has_set_up_is_needed_by_nobody() {
        let needed = |kind: DeviceKind, size: u64| {
            let (mut facts, of) = (FactSet::default(), Subject::device("zram0"));
            facts.know(&of, &device::KIND, kind, Source::call("x"));
            facts.know(&of, &device::SIZE, size, Source::call("x"));
            !devices(&facts).is_empty()
        };
        assert!(!needed(DeviceKind::Zram, 0) && needed(DeviceKind::Zram, 4096));
        assert!(
            needed(DeviceKind::Md, 0),
            "an array that does not run is needed"
        );
    }
}
