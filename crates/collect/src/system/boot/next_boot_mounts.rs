//! Whether the current mounts are mounted again at the next boot: through fstab, a mount unit or
//! an automounter above the mount point. The kernel mounts the root.
//!
//! *No* is known only if every source of mounts was read. A line may reach the same directory
//! through a symbolic link. A line whose mount point has no mount now therefore leaves the answer
//! unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::{boot, host};
use crate::facts::{FactSet, Reading, Scope, Source, Subject};

/// Mount points whose partitions systemd finds by type (systemd-gpt-auto-generator(8)).
const DISCOVERED_BY_TYPE: [&str; 8] = [
    "/boot", "/efi", "/home", "/srv", "/tmp", "/usr", "/var", "/var/tmp",
];

/// Records whether the next boot mounts the current mounts of disk and network file systems.
/// `unread` is the reason why a source of mounts could not be read, if any.
pub fn record_next_boot_mounts(facts: &mut FactSet, unread: Option<&Reading<bool>>) {
    let next = BootMountReadings::from_facts(facts);
    let mounts: Vec<Subject> = facts.subjects_of_scope(Scope::Mount).cloned().collect();
    for mounted in mounts {
        let has_fstab_line = matches!(
            facts.value(&mounted, &mount::CLASS),
            Some(MountClass::Block | MountClass::Network)
        );
        if let Some(point) = facts
            .value(&mounted, &mount::POINT)
            .filter(|_| has_fstab_line)
        {
            let found = next.mounted_at_boot_reading(&mounted, &point, unread);
            facts.insert(&mounted, &mount::AT_BOOT, found);
        }
    }
}

struct BootMountReadings {
    /// For each mount, one reading per line of fstab or mount unit: whether the line is mounted at
    /// boot.
    readings_by_mount: BTreeMap<Subject, Vec<Reading<bool>>>,
    automount_points: BTreeSet<PathBuf>,
    /// The reason why something other than fstab and mount units may mount file systems.
    other_mounter: Option<Reading<bool>>,
    unmatched_line: Option<String>,
}

impl BootMountReadings {
    fn from_facts(facts: &FactSet) -> Self {
        let mut of_mounts: BTreeMap<Subject, Vec<Reading<bool>>> = BTreeMap::new();
        let mut elsewhere = None;
        for line in facts.subjects_of_scope(Scope::Boot) {
            let auto = facts.get(line, &boot::AUTO);
            match facts.applicable_subject(line, Scope::Mount) {
                Some(mounted) => of_mounts.entry(mounted).or_default().push(auto),
                None if elsewhere.is_none() && auto.value() != Some(&false) => {
                    let place = facts
                        .value(line, &boot::WHERE)
                        .unwrap_or_else(|| line.name().to_owned());
                    elsewhere = Some(format!(
                        "{place} defines a mount at {}, but nothing is mounted there now",
                        line.name()
                    ));
                }
                None => {}
            }
        }
        let automount_points = facts
            .subjects_where(&mount::FSTYPE, |fstype| fstype == "autofs")
            .iter()
            .filter_map(|at| facts.value(at, &mount::POINT))
            .map(PathBuf::from)
            .collect();
        let other_mounter = match facts.host_value(&host::CONTAINER).as_deref() {
            Some("none") => None,
            Some(_) => Some(Reading::absent(
                "the container runtime creates the container's mounts",
            )),
            None => Some(Reading::ambiguous(
                "a container runtime may create the mounts",
            )),
        };
        Self {
            readings_by_mount: of_mounts,
            automount_points,
            other_mounter,
            unmatched_line: elsewhere,
        }
    }

    fn mounted_at_boot_reading(
        &self,
        mounted: &Subject,
        point: &str,
        unread: Option<&Reading<bool>>,
    ) -> Reading<bool> {
        if point == "/"
            || Path::new(point)
                .ancestors()
                .any(|above| self.automount_points.contains(above))
        {
            return Reading::known(true, Source::derived_from([mount::POINT.name()]));
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
            return Reading::ambiguous(
                "neither fstab nor a unit mounts it at boot; something else, such as a cluster manager, mounted it",
            );
        }
        if DISCOVERED_BY_TYPE.contains(&point) {
            return Reading::ambiguous(format!(
                "systemd may mount a partition at {point} by its partition type"
            ));
        }
        if let Some(elsewhere) = &self.unmatched_line {
            return Reading::ambiguous(format!("{elsewhere}; that path may be a link to {point}"));
        }
        Reading::known(
            false,
            Source::derived_from([boot::POINT.name(), boot::AUTO.name()]),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts_with_boot_lines(lines: &[(&str, Option<bool>)]) -> FactSet {
        let from = || Source::from_file("/proc/self/mountinfo");
        let mut facts = FactSet::default();
        facts.insert_known(
            &Subject::host(),
            &host::CONTAINER,
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
                None => facts.insert(&line, &boot::AUTO, Reading::denied("a test")),
            }
            if facts.contains_subject(&Subject::mount(*point)) {
                facts.set_fact_link(&line, &Subject::mount(*point));
            }
        }
        facts
    }

    fn at_boot_fact(mut facts: FactSet, point: &str) -> Option<bool> {
        record_next_boot_mounts(&mut facts, None);
        facts.value(&Subject::mount(point), &mount::AT_BOOT)
    }

    #[test]
    fn root_fstab_and_automount_are_mounted_at_boot() {
        assert_eq!(at_boot_fact(facts_with_boot_lines(&[]), "/"), Some(true));
        assert_eq!(
            at_boot_fact(facts_with_boot_lines(&[("/data", Some(true))]), "/data"),
            Some(true)
        );
        let mut automounted = facts_with_boot_lines(&[]);
        let waiting = Subject::mount("/data#1");
        automounted.insert_known(
            &waiting,
            &mount::POINT,
            "/data".to_owned(),
            Source::from_file("mountinfo"),
        );
        automounted.insert_known(
            &waiting,
            &mount::FSTYPE,
            "autofs".to_owned(),
            Source::from_file("mountinfo"),
        );
        assert_eq!(at_boot_fact(automounted, "/data"), Some(true));
    }

    #[test]
    fn unlisted_mount_is_not_mounted_at_boot() {
        assert_eq!(
            at_boot_fact(facts_with_boot_lines(&[]), "/data"),
            Some(false)
        );
        assert_eq!(
            at_boot_fact(facts_with_boot_lines(&[("/backup", Some(false))]), "/data"),
            Some(false)
        );
        assert_eq!(
            at_boot_fact(facts_with_boot_lines(&[]), "/merged"),
            None,
            "a program mounted it, and mounts it again"
        );
    }

    #[test]
    fn undecidable_mount_is_unknown_at_boot() {
        assert_eq!(
            at_boot_fact(facts_with_boot_lines(&[("/data", None)]), "/data"),
            None
        );
        assert_eq!(
            at_boot_fact(facts_with_boot_lines(&[("/data", Some(false))]), "/data"),
            None,
            "noauto"
        );
        assert_eq!(
            at_boot_fact(
                facts_with_boot_lines(&[("/link-to-data", Some(true))]),
                "/data"
            ),
            None
        );
        let mut inside = facts_with_boot_lines(&[]);
        inside.insert_known(
            &Subject::host(),
            &host::CONTAINER,
            "docker".to_owned(),
            Source::from_file("cgroup"),
        );
        assert_eq!(at_boot_fact(inside, "/data"), None);
        let mut unread = facts_with_boot_lines(&[]);
        record_next_boot_mounts(&mut unread, Some(&Reading::denied("/etc/fstab")));
        assert_eq!(
            unread.value(&Subject::mount("/data"), &mount::AT_BOOT),
            None
        );
        let mut srv = facts_with_boot_lines(&[]);
        srv.insert_known(
            &Subject::mount("/data"),
            &mount::POINT,
            "/srv".to_owned(),
            Source::from_file("mountinfo"),
        );
        assert_eq!(at_boot_fact(srv, "/data"), None);
    }
}
