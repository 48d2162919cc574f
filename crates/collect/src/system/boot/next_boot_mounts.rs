//! Whether the next boot mounts again what is mounted now: by fstab or a mount unit for its mount
//! point, by an automounter above it, or by the kernel for the root.
//!
//! *No* is known only if every source of mounts was read. A line may reach the same directory
//! through a link, so a line whose mount point has no mount now leaves the answer unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::{boot, host as machine};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, UnknownReason};

/// Partitions that systemd mounts by type (systemd-gpt-auto-generator(8)).
const DISCOVERED_BY_TYPE: [&str; 8] = [
    "/boot", "/efi", "/home", "/srv", "/tmp", "/usr", "/var", "/var/tmp",
];

/// Records it for every mount of a disk or network file system; `unread` is the reason if a source
/// could not be read.
pub fn conclude(facts: &mut FactSet, unread: Option<&Reading<bool>>) {
    let next = NextBoot::from_facts(facts);
    let mounts: Vec<Subject> = facts.subjects(Scope::Mount).cloned().collect();
    for mounted in mounts {
        let class = facts.value(&mounted, &mount::CLASS);
        if let Some(point) = point(facts, &mounted).filter(|_| class.is_some_and(has_lines)) {
            let found = next.is_mounted_at_boot(&mounted, &point, unread);
            facts.insert(&mounted, &mount::AT_BOOT, found);
        }
    }
}

fn has_lines(class: MountClass) -> bool {
    matches!(class, MountClass::Block | MountClass::Network)
}

/// Derived once for all mounts.
struct NextBoot {
    /// Per mount, the *auto* of each of its lines.
    readings_by_mount: BTreeMap<Subject, Vec<Reading<bool>>>,
    automount_points: BTreeSet<String>,
    /// Why something else than lines and units may mount.
    other_mounter: Option<Reading<bool>>,
    /// A line whose mount point has no mount now.
    unmatched_line: Option<String>,
}

impl NextBoot {
    fn from_facts(facts: &FactSet) -> Self {
        let mut of_mounts: BTreeMap<Subject, Vec<Reading<bool>>> = BTreeMap::new();
        let mut elsewhere = None;
        for line in facts.subjects(Scope::Boot) {
            let auto = facts.get(line, &boot::AUTO);
            match facts.resolve(line, Scope::Mount) {
                Some(mounted) => of_mounts.entry(mounted).or_default().push(auto),
                None if elsewhere.is_none() && auto.value() != Some(&false) => {
                    let place = facts
                        .value(line, &boot::WHERE)
                        .unwrap_or_else(|| line.name().to_owned());
                    elsewhere = Some(format!(
                        "{place} mounts {}, where nothing is mounted now",
                        line.name()
                    ));
                }
                None => {}
            }
        }
        let waits =
            |mounted: &&Subject| facts.value(mounted, &mount::FSTYPE).as_deref() == Some("autofs");
        let automounted = facts
            .subjects(Scope::Mount)
            .filter(waits)
            .filter_map(|at| point(facts, at))
            .collect();
        let outside = match facts
            .value(&Subject::host(), &machine::CONTAINER)
            .as_deref()
        {
            Some("none") => None,
            Some(_) => Some(Reading::unknown(
                UnknownReason::Absent,
                "the container runtime makes its mounts",
            )),
            None => Some(undecided("a container runtime may make its mounts")),
        };
        Self {
            readings_by_mount: of_mounts,
            automount_points: automounted,
            other_mounter: outside,
            unmatched_line: elsewhere,
        }
    }

    fn is_mounted_at_boot(
        &self,
        mounted: &Subject,
        point: &str,
        unread: Option<&Reading<bool>>,
    ) -> Reading<bool> {
        if point == "/"
            || Path::new(point)
                .ancestors()
                .any(|above| self.is_automounted(above))
        {
            return Reading::known(true, Source::derived([mount::POINT.name()]));
        }
        let said = self
            .readings_by_mount
            .get(mounted)
            .map(Vec::as_slice)
            .unwrap_or_default();
        if let Some(yes) = said.iter().find(|auto| auto.value() == Some(&true)) {
            return yes.clone();
        }
        let not_known = said.iter().chain(unread).find(|auto| !auto.is_known());
        if let Some(open) = not_known.or(self.other_mounter.as_ref()) {
            return open.clone();
        }
        if !said.is_empty() {
            return undecided(
                "its line has noauto; something else mounts it, such as a cluster manager",
            );
        }
        if DISCOVERED_BY_TYPE.contains(&point) {
            return undecided(&format!("systemd may mount {point} by its partition type"));
        }
        if let Some(elsewhere) = &self.unmatched_line {
            return undecided(&format!(
                "{elsewhere}; it may be {point} under another path"
            ));
        }
        Reading::known(
            false,
            Source::derived([boot::POINT.name(), boot::AUTO.name()]),
        )
    }

    fn is_automounted(&self, point: &Path) -> bool {
        point
            .to_str()
            .is_some_and(|point| self.automount_points.contains(point))
    }
}

fn undecided(detail: &str) -> Reading<bool> {
    Reading::unknown(UnknownReason::Ambiguous, detail)
}

fn point(facts: &FactSet, mounted: &Subject) -> Option<String> {
    facts.value(mounted, &mount::POINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// /data and / on disks, an overlay, and the mount points of the next boot.
    fn machine(lines: &[(&str, Option<bool>)]) -> FactSet {
        let from = || Source::file("/proc/self/mountinfo");
        let mut facts = FactSet::default();
        facts.insert_known(
            &Subject::host(),
            &machine::CONTAINER,
            "none".to_owned(),
            from(),
        );
        for (point, class) in [
            ("/", MountClass::Block),
            ("/data", MountClass::Block),
            ("/merged", MountClass::Overlay),
        ] {
            let mounted = Subject::mount(point);
            facts.insert_known(&mounted, &mount::POINT, point.to_owned(), from());
            facts.insert_known(&mounted, &mount::CLASS, class, from());
        }
        for (point, auto) in lines {
            let line = Subject::boot(*point);
            facts.insert_known(&line, &boot::POINT, (*point).to_owned(), from());
            match auto {
                Some(auto) => facts.insert_known(&line, &boot::AUTO, *auto, from()),
                None => facts.insert(
                    &line,
                    &boot::AUTO,
                    Reading::unknown(UnknownReason::Denied, "a test"),
                ),
            }
            if facts.contains(&Subject::mount(*point)) {
                facts.link(&line, &Subject::mount(*point));
            }
        }
        facts
    }

    fn concluded(mut facts: FactSet, point: &str) -> Option<bool> {
        conclude(&mut facts, None);
        facts.value(&Subject::mount(point), &mount::AT_BOOT)
    }

    #[test]
    fn a_line_an_automounter_or_the_kernel_mounts_it() {
        assert_eq!(concluded(machine(&[]), "/"), Some(true));
        assert_eq!(
            concluded(machine(&[("/data", Some(true))]), "/data"),
            Some(true)
        );
        let mut automounted = machine(&[]);
        let waiting = Subject::mount("/data#1");
        automounted.insert_known(
            &waiting,
            &mount::POINT,
            "/data".to_owned(),
            Source::file("mountinfo"),
        );
        automounted.insert_known(
            &waiting,
            &mount::FSTYPE,
            "autofs".to_owned(),
            Source::file("mountinfo"),
        );
        assert_eq!(concluded(automounted, "/data"), Some(true));
    }

    #[test]
    fn nothing_mounts_it() {
        assert_eq!(concluded(machine(&[]), "/data"), Some(false));
        assert_eq!(
            concluded(machine(&[("/backup", Some(false))]), "/data"),
            Some(false)
        );
        assert_eq!(
            concluded(machine(&[]), "/merged"),
            None,
            "whoever made it makes it again"
        );
    }

    #[test]
    fn nothing_is_missing_where_it_cannot_be_known() {
        assert_eq!(concluded(machine(&[("/data", None)]), "/data"), None);
        assert_eq!(
            concluded(machine(&[("/data", Some(false))]), "/data"),
            None,
            "noauto"
        );
        assert_eq!(
            concluded(machine(&[("/link-to-data", Some(true))]), "/data"),
            None
        );
        let mut inside = machine(&[]);
        inside.insert_known(
            &Subject::host(),
            &machine::CONTAINER,
            "docker".to_owned(),
            Source::file("cgroup"),
        );
        assert_eq!(concluded(inside, "/data"), None);
        let mut unread = machine(&[]);
        conclude(
            &mut unread,
            Some(&Reading::unknown(UnknownReason::Denied, "/etc/fstab")),
        );
        assert_eq!(
            unread.value(&Subject::mount("/data"), &mount::AT_BOOT),
            None
        );
        let mut srv = machine(&[]);
        srv.insert_known(
            &Subject::mount("/data"),
            &mount::POINT,
            "/srv".to_owned(),
            Source::file("mountinfo"),
        );
        assert_eq!(concluded(srv, "/data"), None);
    }
}
