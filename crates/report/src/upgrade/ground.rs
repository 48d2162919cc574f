//! The dependencies of the next boot: a line on its file system, its device and the lines above it;
//! a device on those below it, on its unlocking, and on the module of ZFS.
//!
//! A subject that does not come up takes along everything that stands on it. The root file system
//! is an exception here, because a boot that ends there is reported once.

use std::collections::VecDeque;

use crate::model::upgrade::{Answer, Item};
use walwise_model::facts::catalog::device::DeviceKind;
use walwise_model::facts::catalog::{boot, device, mount};
use walwise_model::facts::{FactSet, Scope, Subject};

/// The common name of the pools of ZFS: they need one module.
pub(super) const ZFS: &str = "the pools of ZFS";

/// A node that comes up at the boot, or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BootDependency {
    /// A line, a file system, or a device.
    Of(Subject),
    /// A subject that items name: an encrypted device of crypttab, a swap, the pools of ZFS.
    Named(String),
    /// A device named by an identifier that was not resolved, such as a UUID.
    Unresolved,
}

impl BootDependency {
    /// The meaning of one of its items for everything that stands on it.
    pub(super) fn answer(&self, item: &Item) -> Option<Answer> {
        match self {
            Self::Of(_) | Self::Named(_) => item.answer,
            Self::Unresolved => item.answer.map(|answer| answer.min(Answer::CannotBeTold)),
        }
    }

    /// The line that it is, if that is another than `than`.
    pub(super) fn other_line(&self, than: &Self) -> Option<&Subject> {
        match self {
            Self::Of(subject) if self != than && subject.scope() == Scope::Boot => Some(subject),
            Self::Of(_) | Self::Named(_) | Self::Unresolved => None,
        }
    }
}

pub(super) struct DependencyGraph<'f> {
    pub(super) facts: &'f FactSet,
    /// Lines with their mount points.
    lines: Vec<(Subject, String)>,
    unlocked: Vec<String>,
    swaps: Vec<String>,
}

/// Options of a line that name directories or files that must exist first (systemd.mount(5),
/// mount(8), overlay).
const NAMING: [&str; 5] = [
    "x-systemd.requires=",
    "x-systemd.requires-mounts-for=",
    "lowerdir=",
    "upperdir=",
    "workdir=",
];

impl<'f> DependencyGraph<'f> {
    pub(super) fn new(facts: &'f FactSet) -> Self {
        let point = |line: &Subject| Some((line.clone(), facts.value(line, &boot::POINT)?));
        let list = |key| facts.value(&Subject::host(), key).unwrap_or_default();
        let lines = facts.subjects(Scope::Boot).filter_map(point).collect();
        Self {
            facts,
            lines,
            unlocked: list(&boot::UNLOCKED),
            swaps: list(&boot::SWAPS),
        }
    }

    /// The items about a node and everything below it: all items about the node itself, and those
    /// that keep the others from coming up.
    pub(super) fn reached<'i>(
        &self,
        of: &BootDependency,
        items: &'i [Item],
    ) -> Vec<(BootDependency, &'i Item)> {
        let own = self.itself(of);
        let mut reached = Vec::new();
        for node in self.all(of) {
            for item in items {
                let told = match &node {
                    BootDependency::Of(subject) => item.subject == *subject && item.name.is_none(),
                    BootDependency::Named(name) => item.name.as_ref() == Some(name),
                    BootDependency::Unresolved => {
                        item.subject.scope() == Scope::Device
                            || item
                                .name
                                .as_ref()
                                .is_some_and(|name| self.unlocked.contains(name))
                    }
                };
                let least = if own.contains(&node) {
                    Answer::WorksAndLoses
                } else {
                    Answer::CannotBeTold
                };
                if told && item.answer.is_some_and(|answer| answer >= least) {
                    reached.push((node.clone(), item));
                }
            }
        }
        reached
    }

    /// A node, and the file system that it is.
    fn itself(&self, of: &BootDependency) -> Vec<BootDependency> {
        let mut own = vec![of.clone()];
        if let BootDependency::Of(subject) = of {
            own.extend(
                self.facts
                    .resolve(subject, Scope::Mount)
                    .map(BootDependency::Of),
            );
            // A device of the device mapper that crypttab names.
            own.extend(self.unlocked_as(subject));
        }
        own
    }

    /// A node, and everything that it stands on.
    fn all(&self, of: &BootDependency) -> Vec<BootDependency> {
        let mut found = vec![of.clone()];
        let mut open = VecDeque::from([of.clone()]);
        while let Some(node) = open.pop_front() {
            for next in self.beneath(&node) {
                if !found.contains(&next) {
                    found.push(next.clone());
                    open.push_back(next);
                }
            }
        }
        found
    }

    fn beneath(&self, node: &BootDependency) -> Vec<BootDependency> {
        match node {
            BootDependency::Of(subject) => match subject.scope() {
                Scope::Boot => self.beneath_line(subject),
                Scope::Mount | Scope::Device => self.beneath_device(subject),
                Scope::Host | Scope::Cluster | Scope::Target => Vec::new(),
            },
            BootDependency::Named(name) if self.swaps.contains(name) => self.source(name),
            BootDependency::Named(_) | BootDependency::Unresolved => Vec::new(),
        }
    }

    fn beneath_line(&self, line: &Subject) -> Vec<BootDependency> {
        let options = self.facts.value(line, &boot::OPTIONS).unwrap_or_default();
        let source = self.facts.value(line, &boot::SOURCE).unwrap_or_default();
        let point = self.facts.value(line, &boot::POINT).unwrap_or_default();
        let mut found: Vec<BootDependency> = match self.facts.resolve(line, Scope::Mount) {
            // For a directory that is mounted at a second place, the way to it is not below the
            // mount.
            Some(mounted) if source.starts_with("/dev/") || !source.starts_with('/') => {
                vec![BootDependency::Of(mounted)]
            }
            Some(mounted) => self
                .source(&source)
                .into_iter()
                .chain([BootDependency::Of(mounted)])
                .collect(),
            None => self.source(&source),
        };
        found.extend(
            self.lines_over(&point)
                .filter(|(over, _)| over != line)
                .map(|(over, _)| BootDependency::Of(over.clone())),
        );
        for option in &options {
            let named = NAMING
                .iter()
                .find_map(|key| option.strip_prefix(key))
                .unwrap_or_default();
            for path in named
                .split([':', ' ', ','])
                .filter(|path| path.starts_with('/'))
            {
                found.extend(
                    self.lines_over(path)
                        .map(|(over, _)| BootDependency::Of(over.clone())),
                );
            }
        }
        found
    }

    /// Lines at whose mount points a path lies, without that of the root file system.
    fn lines_over<'s>(&'s self, path: &'s str) -> impl Iterator<Item = &'s (Subject, String)> {
        self.lines.iter().filter(move |(_, point)| {
            let rest = path.strip_prefix(point.as_str());
            point != "/" && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// The target of a source in fstab: a device by its name, or the line at whose mount point a
    /// file or directory lies.
    fn source(&self, source: &str) -> Vec<BootDependency> {
        if source.starts_with("/dev/zvol/") {
            return vec![BootDependency::Named(ZFS.to_owned())];
        }
        if source.starts_with("/dev/") && !source.starts_with("/dev/disk/") {
            return self
                .device(source)
                .into_iter()
                .map(BootDependency::Of)
                .collect();
        }
        if source.starts_with('/') && !source.starts_with("/dev/") {
            return self
                .lines_over(source)
                .map(|(over, _)| BootDependency::Of(over.clone()))
                .collect();
        }
        let is_tag = [
            "/dev/disk/",
            "UUID=",
            "LABEL=",
            "PARTUUID=",
            "PARTLABEL=",
            "ID=",
        ];
        if is_tag.iter().any(|tag| source.starts_with(tag)) {
            vec![BootDependency::Unresolved]
        } else {
            Vec::new()
        }
    }

    fn device(&self, path: &str) -> Option<Subject> {
        let by_path = self
            .facts
            .known(&device::PATH)
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
                .known(&device::DM_NAME)
                .into_iter()
                .find(|(_, name)| *name == mapped)
        };
        by_path.or_else(by_name).map(|(subject, _)| subject.clone())
    }

    fn beneath_device(&self, subject: &Subject) -> Vec<BootDependency> {
        let mut found: Vec<BootDependency> = self
            .facts
            .stack(subject)
            .into_iter()
            .map(BootDependency::Of)
            .collect();
        let on_pool = self
            .facts
            .value(subject, &mount::CLASS)
            .is_some_and(mount::MountClass::is_zfs)
            || self
                .facts
                .value(subject, &device::KIND)
                .is_some_and(DeviceKind::is_zvol);
        found.extend(on_pool.then(|| BootDependency::Named(ZFS.to_owned())));
        found.extend(self.unlocked_as(subject));
        found
    }

    fn unlocked_as(&self, subject: &Subject) -> Option<BootDependency> {
        let name = self.facts.value(subject, &device::DM_NAME)?;
        self.unlocked
            .contains(&name)
            .then_some(BootDependency::Named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::super::need::{needs, raised};
    use super::*;
    use walwise_judge::rules::Level;
    use walwise_judge::validity::Ruling;
    use walwise_model::facts::Source;
    use walwise_model::facts::catalog::device::DeviceKind;
    use walwise_model::facts::catalog::mount::MountClass;

    const HERE: Source = Source::Assumed;

    fn line(facts: &mut FactSet, point: &str, source: &str, options: &str) -> Subject {
        let line = Subject::boot(point);
        facts.know(&line, &boot::POINT, point.to_owned(), HERE);
        facts.know(&line, &boot::SOURCE, source.to_owned(), HERE);
        facts.know(&line, &boot::AUTO, true, HERE);
        facts.know(
            &line,
            &boot::OPTIONS,
            options.split(',').map(str::to_owned).collect(),
            HERE,
        );
        line
    }

    /// md0 is beneath the volume vg-lv and the encrypted device vault; both are mounted, one of
    /// them by a line.
    fn machine() -> FactSet {
        let mut facts = FactSet::default();
        let host = Subject::host();
        let device = |facts: &mut FactSet, name: &str, kind, mapped: Option<&str>| {
            let subject = Subject::device(name);
            facts.know(&subject, &device::KIND, kind, HERE);
            facts.know(&subject, &device::PATH, format!("/dev/{name}"), HERE);
            if let Some(mapped) = mapped {
                facts.know(&subject, &device::DM_NAME, mapped.to_owned(), HERE);
            }
            subject
        };
        let md = device(&mut facts, "md0", DeviceKind::Md, None);
        let volume = device(&mut facts, "dm-0", DeviceKind::Lvm, Some("vg--a-lv"));
        let vault = device(&mut facts, "dm-1", DeviceKind::Crypt, Some("vault"));
        let disk = device(&mut facts, "sda", DeviceKind::Disk, None);
        facts.stand(&volume, &md);
        facts.stand(&vault, &disk);
        let mounted = Subject::mount("/data");
        facts.know(&mounted, &mount::FSTYPE, "ext4".to_owned(), HERE);
        facts.stand(&mounted, &vault);
        let data = line(&mut facts, "/data", "/dev/mapper/vault", "defaults");
        facts.link(&data, &mounted);
        line(&mut facts, "/data/wal", "/dev/sda", "defaults");
        line(&mut facts, "/bound", "/data/directory", "bind");
        line(
            &mut facts,
            "/layers",
            "overlay",
            "lowerdir=/data/a:/b,upperdir=/c",
        );
        line(&mut facts, "/after", "/dev/sda", "x-systemd.requires=/data");
        line(&mut facts, "/database", "/dev/sda", "defaults");
        line(&mut facts, "/volume", "/dev/vg-a/lv", "noauto");
        line(&mut facts, "/tagged", "UUID=1", "nofail");
        line(&mut facts, "/pool", "/dev/zvol/tank/a", "defaults");
        facts.know(&host, &boot::UNLOCKED, vec!["vault".to_owned()], HERE);
        let swaps = ["/data/swap", "/dev/mapper/vg--a-lv"]
            .map(str::to_owned)
            .to_vec();
        facts.know(&host, &boot::SWAPS, swaps, HERE);
        facts.know(
            &Subject::mount("/tank"),
            &mount::CLASS,
            MountClass::Zfs,
            HERE,
        );
        facts
    }

    /// The needs that fail because of this item, in their order.
    fn taken_along(item: Item) -> String {
        let facts = machine();
        let mut items = vec![item];
        items.extend(raised(&facts, &items));
        let needs = needs(&facts, &items);
        let broken = needs.iter().filter(|need| !need.answer.is_works());
        broken
            .map(|need| need.name.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn fails(of: &Subject, name: Option<&str>) -> Item {
        let item = Item::open(of, Level::Warning, "gone".to_owned(), Ruling::unknown(""));
        Item {
            name: name.map(str::to_owned),
            ..item
        }
        .blocks()
    }

    #[test]
    fn what_does_not_come_up_takes_along_what_stands_on_it() {
        for (item, expected) in [
            (
                fails(&Subject::device("md0"), None),
                "/tagged /volume /dev/mapper/vg--a-lv md0 vg--a-lv",
            ),
            (
                fails(&Subject::host(), Some("vault")),
                "/after /bound /data /data/wal /layers /tagged /data/swap vault",
            ),
            (
                fails(&Subject::boot("/data"), None),
                "/after /bound /data /data/wal /layers /data/swap",
            ),
            (fails(&Subject::boot("/data/wal"), None), "/data/wal"),
            (fails(&Subject::boot("/"), None), ""),
            (fails(&Subject::host(), Some(ZFS)), "/pool the pools of ZFS"),
        ] {
            let what = format!("{:?} {:?}", item.subject, item.name);
            assert_eq!(taken_along(item), expected, "{what}");
        }
    }

    #[test]
    fn what_a_tag_names_may_be_anything() {
        let facts = machine();
        let items = [fails(&Subject::device("md0"), None)];
        let needs = needs(&facts, &items);
        let tagged = needs.iter().find(|need| need.name == "/tagged").unwrap();
        assert_eq!((tagged.answer, tagged.why.len()), (Answer::CannotBeTold, 1));
        assert!(
            needs
                .iter()
                .any(|need| need.name == "/volume" && need.answer == Answer::Fails)
        );
    }

    #[test]
    fn only_what_does_not_come_up_is_taken_along() {
        let loses = Item {
            answer: Some(Answer::WorksAndLoses),
            ..fails(&Subject::boot("/data"), None)
        };
        assert_eq!(taken_along(loses), "/data");
    }

    /// The boot can do without the encrypted device, and not without what a line mounts from it.
    #[test]
    fn a_line_matters_as_much_as_the_boot_waits_for_it() {
        let items = [fails(&Subject::host(), Some("vault"))];
        let raised = raised(&machine(), &items);
        let critical: Vec<&str> = raised.iter().map(|item| item.subject.name()).collect();
        assert_eq!(
            critical,
            ["/after", "/bound", "/data", "/data/wal", "/layers"]
        );
        assert!(
            raised
                .iter()
                .all(|item| item.level == Level::Critical && item.answer == Some(Answer::Fails))
        );
    }
}
