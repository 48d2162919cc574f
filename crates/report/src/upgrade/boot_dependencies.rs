//! The dependency graph of the next boot. A boot line, for example of fstab, depends on its file
//! system, its device, and the lines that mount its parent directories. A device depends on the
//! devices below it, on its crypttab entry and, if it is of ZFS, on the kernel module.
//!
//! If a node fails, every node above it fails. The line of the root file system does not count as a
//! parent, so a boot that stops there is reported only once.

use crate::model::upgrade::{BootOutcome, UpgradeItem};
use walwise_model::facts::catalog::device::DeviceKind;
use walwise_model::facts::catalog::{boot, device, mount};
use walwise_model::facts::{FactSet, Scope, Subject};

/// All ZFS pools are one node, because all need one kernel module.
pub const ZFS_POOLS: &str = "the ZFS pools";

#[derive(Clone, PartialEq)]
pub enum DependencyNode {
    Subject(Subject),
    /// A crypttab device, a swap area or all ZFS pools, by [`UpgradeItem::name`].
    Named(String),
    /// A device whose identifier, such as a UUID, was not resolved.
    Unresolved,
}

impl DependencyNode {
    /// For an unresolved device the outcome is at worst undecided, because the item may be about
    /// another device.
    pub fn effective_boot_outcome(&self, item: &UpgradeItem) -> Option<BootOutcome> {
        match self {
            Self::Subject(_) | Self::Named(_) => item.answer,
            Self::Unresolved => item
                .answer
                .map(|answer| answer.min(BootOutcome::CannotBeTold)),
        }
    }

    pub fn boot_line_other_than(&self, than: &Self) -> Option<&Subject> {
        match self {
            Self::Subject(subject) if self != than && subject.scope() == Scope::Boot => {
                Some(subject)
            }
            Self::Subject(_) | Self::Named(_) | Self::Unresolved => None,
        }
    }
}

pub struct DependencyGraph<'f> {
    pub facts: &'f FactSet,
    /// Boot lines with their mount points.
    lines: Vec<(Subject, String)>,
    unlocked: Vec<String>,
    swaps: Vec<String>,
}

/// Mount options whose paths must exist before the mount (systemd.mount(5), mount(8), overlay).
const PATH_OPTIONS: [&str; 5] = [
    "x-systemd.requires=",
    "x-systemd.requires-mounts-for=",
    "lowerdir=",
    "upperdir=",
    "workdir=",
];

/// Prefixes of sources that name a device by an identifier.
const TAGS: [&str; 6] = [
    "/dev/disk/",
    "UUID=",
    "LABEL=",
    "PARTUUID=",
    "PARTLABEL=",
    "ID=",
];

fn is_path_outside_dev(source: &str) -> bool {
    source.starts_with('/') && !source.starts_with("/dev/")
}

impl<'f> DependencyGraph<'f> {
    pub fn new(facts: &'f FactSet) -> Self {
        let point = |line: &Subject| Some((line.clone(), facts.value(line, &boot::POINT)?));
        let list = |key| facts.host_value(key).unwrap_or_default();
        let lines = facts
            .subjects_of_scope(Scope::Boot)
            .filter_map(point)
            .collect();
        Self {
            facts,
            lines,
            unlocked: list(&boot::UNLOCKED),
            swaps: list(&boot::SWAPS),
        }
    }

    /// The items that affect a boot need, each with the dependency that the item is about. Items
    /// about the need itself count from the outcome `WorksAndLoses` on, items about nodes below it
    /// only if failing or undecided.
    pub fn items_affecting_boot_need<'i>(
        &self,
        of: &DependencyNode,
        items: &'i [UpgradeItem],
    ) -> Vec<(DependencyNode, &'i UpgradeItem)> {
        let own = self.nodes_of_same_need(of);
        let mut reached = Vec::new();
        for node in self.node_and_transitive_dependencies(of) {
            for item in items {
                let told = match &node {
                    DependencyNode::Subject(subject) => {
                        item.subject == *subject && item.name.is_none()
                    }
                    DependencyNode::Named(name) => item.name.as_ref() == Some(name),
                    DependencyNode::Unresolved => {
                        item.subject.scope() == Scope::Device
                            || item
                                .name
                                .as_ref()
                                .is_some_and(|name| self.unlocked.contains(name))
                    }
                };
                let least = if own.contains(&node) {
                    BootOutcome::WorksAndLoses
                } else {
                    BootOutcome::CannotBeTold
                };
                if told && item.answer.is_some_and(|answer| answer >= least) {
                    reached.push((node.clone(), item));
                }
            }
        }
        reached
    }

    /// The node, its mount and its crypttab entry, which all belong to one boot need.
    fn nodes_of_same_need(&self, of: &DependencyNode) -> Vec<DependencyNode> {
        let mut own = vec![of.clone()];
        if let DependencyNode::Subject(subject) = of {
            own.extend(
                self.facts
                    .applicable_subject(subject, Scope::Mount)
                    .map(DependencyNode::Subject),
            );
            own.extend(self.crypttab_node(subject));
        }
        own
    }

    fn node_and_transitive_dependencies(&self, of: &DependencyNode) -> Vec<DependencyNode> {
        let mut found = vec![of.clone()];
        let mut visited = 0;
        while let Some(node) = found.get(visited) {
            for next in self.direct_dependencies(node) {
                if !found.contains(&next) {
                    found.push(next);
                }
            }
            visited += 1;
        }
        found
    }

    fn direct_dependencies(&self, node: &DependencyNode) -> Vec<DependencyNode> {
        match node {
            DependencyNode::Subject(subject) => match subject.scope() {
                Scope::Boot => self.boot_line_dependencies(subject),
                Scope::Mount | Scope::Device => self.mount_or_device_dependencies(subject),
                Scope::Host | Scope::Cluster | Scope::Target => Vec::new(),
            },
            DependencyNode::Named(name) if self.swaps.contains(name) => {
                self.boot_source_dependencies(name)
            }
            DependencyNode::Named(_) | DependencyNode::Unresolved => Vec::new(),
        }
    }

    fn boot_line_dependencies(&self, line: &Subject) -> Vec<DependencyNode> {
        let options = self.facts.value(line, &boot::OPTIONS).unwrap_or_default();
        let source = self.facts.value(line, &boot::SOURCE).unwrap_or_default();
        let point = self.facts.value(line, &boot::POINT).unwrap_or_default();
        let mounted = self.facts.applicable_subject(line, Scope::Mount);
        // The source of a bind mount is not below the mount in the stack, so it is added.
        let mut found = if mounted.is_none() || is_path_outside_dev(&source) {
            self.boot_source_dependencies(&source)
        } else {
            Vec::new()
        };
        found.extend(mounted.map(DependencyNode::Subject));
        let own = DependencyNode::Subject(line.clone());
        found.extend(
            self.boot_lines_mounted_above_path(&point)
                .filter(|over| *over != own),
        );
        for option in &options {
            let named = PATH_OPTIONS
                .iter()
                .find_map(|key| option.strip_prefix(key))
                .unwrap_or_default();
            for path in named
                .split([':', ' ', ','])
                .filter(|path| path.starts_with('/'))
            {
                found.extend(self.boot_lines_mounted_above_path(path));
            }
        }
        found
    }

    /// The line of the root file system is left out.
    fn boot_lines_mounted_above_path(&self, path: &str) -> impl Iterator<Item = DependencyNode> {
        let above = self.lines.iter().filter(move |(_, point)| {
            let rest = path.strip_prefix(point.as_str());
            point != "/" && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        above.map(|(over, _)| DependencyNode::Subject(over.clone()))
    }

    /// A path outside /dev is a bind mount or an image file, which depends on the lines that mount
    /// its parent directories.
    fn boot_source_dependencies(&self, source: &str) -> Vec<DependencyNode> {
        if source.starts_with("/dev/zvol/") {
            return vec![DependencyNode::Named(ZFS_POOLS.to_owned())];
        }
        if source.starts_with("/dev/") && !source.starts_with("/dev/disk/") {
            return self
                .device_by_path(source)
                .into_iter()
                .map(DependencyNode::Subject)
                .collect();
        }
        if is_path_outside_dev(source) {
            return self.boot_lines_mounted_above_path(source).collect();
        }
        TAGS.iter()
            .any(|tag| source.starts_with(tag))
            .then_some(DependencyNode::Unresolved)
            .into_iter()
            .collect()
    }

    fn device_by_path(&self, path: &str) -> Option<Subject> {
        let by_path = self
            .facts
            .known_values_by_subject(&device::PATH)
            .into_iter()
            .find(|(_, found)| found == path);
        let mapped = path
            .strip_prefix("/dev/mapper/")
            .map(str::to_owned)
            .or_else(|| {
                let (group, volume) = path.strip_prefix("/dev/")?.split_once('/')?;
                Some(format!(
                    "{}-{}",
                    group.replace('-', "--"),
                    volume.replace('-', "--")
                ))
            });
        let by_name = || {
            let mapped = mapped?;
            self.facts
                .known_values_by_subject(&device::DM_NAME)
                .into_iter()
                .find(|(_, name)| *name == mapped)
        };
        by_path.or_else(by_name).map(|(subject, _)| subject.clone())
    }

    fn mount_or_device_dependencies(&self, subject: &Subject) -> Vec<DependencyNode> {
        let mut found: Vec<DependencyNode> = self
            .facts
            .layers_below(subject)
            .into_iter()
            .map(DependencyNode::Subject)
            .collect();
        let on_pool = self
            .facts
            .value(subject, &mount::CLASS)
            .is_some_and(mount::MountClass::is_zfs)
            || self
                .facts
                .value(subject, &device::KIND)
                .is_some_and(DeviceKind::is_zvol);
        found.extend(on_pool.then(|| DependencyNode::Named(ZFS_POOLS.to_owned())));
        found.extend(self.crypttab_node(subject));
        found
    }

    fn crypttab_node(&self, subject: &Subject) -> Option<DependencyNode> {
        let name = self.facts.value(subject, &device::DM_NAME)?;
        self.unlocked
            .contains(&name)
            .then_some(DependencyNode::Named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::super::boot_needs::{items_for_lines_worse_than_device, list_boot_needs};
    use super::*;
    use walwise_judge::rules::Level;
    use walwise_model::facts::Source;
    use walwise_model::facts::catalog::device::DeviceKind;
    use walwise_model::facts::catalog::mount::MountClass;
    use walwise_model::text::JoinText;

    const HERE: Source = Source::Assumed;

    fn insert_boot_line(facts: &mut FactSet, point: &str, source: &str, options: &str) -> Subject {
        let line = Subject::boot(point);
        facts.insert_known(&line, &boot::POINT, point.to_owned(), HERE);
        facts.insert_known(&line, &boot::SOURCE, source.to_owned(), HERE);
        facts.insert_known(&line, &boot::AUTO, true, HERE);
        facts.insert_known(
            &line,
            &boot::OPTIONS,
            options.split(',').map(str::to_owned).collect(),
            HERE,
        );
        line
    }

    fn facts_with_boot_lines() -> FactSet {
        let mut facts = FactSet::default();
        let host = Subject::host();
        let device = |facts: &mut FactSet, name: &str, kind, mapped: Option<&str>| {
            let subject = Subject::device(name);
            facts.insert_known(&subject, &device::KIND, kind, HERE);
            facts.insert_known(&subject, &device::PATH, format!("/dev/{name}"), HERE);
            if let Some(mapped) = mapped {
                facts.insert_known(&subject, &device::DM_NAME, mapped.to_owned(), HERE);
            }
            subject
        };
        let md = device(&mut facts, "md0", DeviceKind::Md, None);
        let volume = device(&mut facts, "dm-0", DeviceKind::Lvm, Some("vg--a-lv"));
        let vault = device(&mut facts, "dm-1", DeviceKind::Crypt, Some("vault"));
        let disk = device(&mut facts, "sda", DeviceKind::Disk, None);
        facts.add_layer_below(&volume, &md);
        facts.add_layer_below(&vault, &disk);
        let mounted = Subject::mount("/data");
        facts.insert_known(&mounted, &mount::FSTYPE, "ext4".to_owned(), HERE);
        facts.add_layer_below(&mounted, &vault);
        let data = insert_boot_line(&mut facts, "/data", "/dev/mapper/vault", "defaults");
        facts.set_fact_link(&data, &mounted);
        insert_boot_line(&mut facts, "/data/wal", "/dev/sda", "defaults");
        insert_boot_line(&mut facts, "/bound", "/data/directory", "bind");
        insert_boot_line(
            &mut facts,
            "/layers",
            "overlay",
            "lowerdir=/data/a:/b,upperdir=/c",
        );
        insert_boot_line(&mut facts, "/after", "/dev/sda", "x-systemd.requires=/data");
        insert_boot_line(&mut facts, "/database", "/dev/sda", "defaults");
        insert_boot_line(&mut facts, "/volume", "/dev/vg-a/lv", "noauto");
        insert_boot_line(&mut facts, "/tagged", "UUID=1", "nofail");
        insert_boot_line(&mut facts, "/pool", "/dev/zvol/tank/a", "defaults");
        facts.insert_known(&host, &boot::UNLOCKED, vec!["vault".to_owned()], HERE);
        let swaps = ["/data/swap", "/dev/mapper/vg--a-lv"]
            .map(str::to_owned)
            .to_vec();
        facts.insert_known(&host, &boot::SWAPS, swaps, HERE);
        facts.insert_known(
            &Subject::mount("/tank"),
            &mount::CLASS,
            MountClass::Zfs,
            HERE,
        );
        facts
    }

    fn affected_boot_need_names(item: UpgradeItem) -> String {
        let facts = facts_with_boot_lines();
        let mut items = vec![item];
        items.extend(items_for_lines_worse_than_device(&facts, &items));
        let needs = list_boot_needs(&facts, &items);
        let broken = needs.iter().filter(|need| !need.answer.works_unchanged());
        broken.map(|need| need.name.as_str()).join_with(" ")
    }

    fn failing_upgrade_item(of: &Subject, name: Option<&str>) -> UpgradeItem {
        let item = UpgradeItem::new_undecided(of, Level::Warning, "gone");
        UpgradeItem {
            name: name.map(str::to_owned),
            ..item
        }
        .into_blocker()
    }

    #[test]
    fn failure_propagates_to_dependents() {
        for (item, expected) in [
            (
                failing_upgrade_item(&Subject::device("md0"), None),
                "/tagged /volume /dev/mapper/vg--a-lv md0 vg--a-lv",
            ),
            (
                failing_upgrade_item(&Subject::host(), Some("vault")),
                "/after /bound /data /data/wal /layers /tagged /data/swap vault",
            ),
            (
                failing_upgrade_item(&Subject::boot("/data"), None),
                "/after /bound /data /data/wal /layers /data/swap",
            ),
            (
                failing_upgrade_item(&Subject::boot("/data/wal"), None),
                "/data/wal",
            ),
            (failing_upgrade_item(&Subject::boot("/"), None), ""),
            (
                failing_upgrade_item(&Subject::host(), Some(ZFS_POOLS)),
                "/pool the ZFS pools",
            ),
        ] {
            let what = format!("{:?} {:?}", item.subject, item.name);
            assert_eq!(affected_boot_need_names(item), expected, "{what}");
        }
    }

    #[test]
    fn unresolved_tag_is_undecided() {
        let facts = facts_with_boot_lines();
        let items = [failing_upgrade_item(&Subject::device("md0"), None)];
        let needs = list_boot_needs(&facts, &items);
        let tagged = needs.iter().find(|need| need.name == "/tagged").unwrap();
        assert_eq!(
            (tagged.answer, tagged.why.len()),
            (BootOutcome::CannotBeTold, 1)
        );
        assert!(
            needs
                .iter()
                .any(|need| need.name == "/volume" && need.answer == BootOutcome::Fails)
        );
    }

    #[test]
    fn lost_effect_does_not_propagate() {
        let loses = UpgradeItem {
            answer: Some(BootOutcome::WorksAndLoses),
            ..failing_upgrade_item(&Subject::boot("/data"), None)
        };
        assert_eq!(affected_boot_need_names(loses), "/data");
    }

    #[test]
    fn required_lines_raise_severity() {
        let items = [failing_upgrade_item(&Subject::host(), Some("vault"))];
        let raised = items_for_lines_worse_than_device(&facts_with_boot_lines(), &items);
        let critical: Vec<&str> = raised.iter().map(|item| item.subject.name()).collect();
        assert_eq!(
            critical,
            ["/after", "/bound", "/data", "/data/wal", "/layers"]
        );
        assert!(
            raised.iter().all(
                |item| item.level == Level::Critical && item.answer == Some(BootOutcome::Fails)
            )
        );
    }
}
