//! Whether what is mounted now will be mounted by the next boot too: a line of fstab or a mount unit that names its mount
//! point, an automounter above it, or the kernel, for the root.
//!
//! That nothing does is known only where everything that could say so was read. The surprise: a line may name the same
//! place by another path, through a link, so a line whose mount point has nothing on it now leaves the question open.

use crate::facts::catalog::{boot, host as machine, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};

/// Mount points of partitions that systemd finds by their type, without a line (systemd-gpt-auto-generator(8)).
const BY_TYPE: [&str; 8] = ["/boot", "/efi", "/home", "/srv", "/tmp", "/usr", "/var", "/var/tmp"];

/// Records it for every mount of a disk or of a network file system; `unread` says what could not be read.
pub fn conclude(facts: &mut FactSet, unread: Option<&Reading<bool>>) {
    let lines: Vec<Subject> = facts.subjects(Scope::Boot).cloned().collect();
    let mounts: Vec<Subject> = facts.subjects(Scope::Mount).cloned().collect();
    for mounted in mounts {
        let class = facts.value(&mounted, &mount::CLASS);
        if let (Some("block" | "network"), Some(point)) = (class.as_deref(), point(facts, &mounted)) {
            let found = of(facts, &mounted, &point, &lines, unread);
            facts.put(&mounted, &mount::AT_BOOT, found);
        }
    }
}

fn of(
    facts: &FactSet,
    mounted: &Subject,
    point: &str,
    lines: &[Subject],
    unread: Option<&Reading<bool>>,
) -> Reading<bool> {
    if point == "/" || automounted(facts, point) {
        return Reading::known(true, Source::derived([mount::POINT.name()]));
    }
    let own = lines.iter().filter(|line| facts.resolve(line, Scope::Mount).as_ref() == Some(mounted));
    let mut said: Vec<Reading<bool>> = own.map(|line| facts.get(line, &boot::AUTO)).collect();
    if let Some(yes) = said.iter().find(|auto| auto.value() == Some(&true)) {
        return yes.clone();
    }
    said.extend(unread.cloned());
    if let Some(open) = said.iter().find(|auto| !auto.is_known()) {
        return open.clone();
    }
    match facts.value(&Subject::host(), &machine::CONTAINER).as_deref() {
        Some("none") => {}
        Some(_) => return Reading::unknown(Why::Absent, "a container is given its mounts from outside"),
        None => {
            return open("whether its mounts are given to it from outside, as to a container, is not known");
        }
    }
    if BY_TYPE.contains(&point) {
        return open(&format!("systemd may mount {point} by the type of its partition"));
    }
    let elsewhere = |line: &&Subject| {
        facts.resolve(line, Scope::Mount).is_none() && facts.value(line, &boot::AUTO) != Some(false)
    };
    if let Some(line) = lines.iter().find(elsewhere) {
        let place = facts.value(line, &boot::WHERE).unwrap_or_else(|| line.name().to_owned());
        return open(&format!(
            "{place} mounts {}, where nothing is mounted now; that may be {point} by another path",
            line.name()
        ));
    }
    Reading::known(false, Source::derived([boot::POINT.name(), boot::AUTO.name()]))
}

fn open(detail: &str) -> Reading<bool> {
    Reading::unknown(Why::Ambiguous, detail)
}

fn point(facts: &FactSet, mounted: &Subject) -> Option<String> {
    facts.value(mounted, &mount::POINT)
}

/// Whether an automounter waits at this path or above it.
fn automounted(facts: &FactSet, point: &str) -> bool {
    let is_above =
        |above: &str| point.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    facts.subjects(Scope::Mount).any(|mounted| {
        facts.value(mounted, &mount::FSTYPE).as_deref() == Some("autofs")
            && self::point(facts, mounted).is_some_and(|above| is_above(&above))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// /data and the root on disks, an overlay, and what the next boot mounts, by mount point.
    fn machine(lines: &[(&str, Option<bool>)]) -> FactSet {
        let from = || Source::file("/proc/self/mountinfo");
        let mut facts = FactSet::default();
        facts.know(&Subject::host(), &machine::CONTAINER, "none".to_owned(), from());
        for (point, class) in [("/", "block"), ("/data", "block"), ("/merged", "overlay")] {
            let mounted = Subject::mount(point);
            facts.know(&mounted, &mount::POINT, point.to_owned(), from());
            facts.know(&mounted, &mount::CLASS, class.to_owned(), from());
        }
        for (point, auto) in lines {
            let line = Subject::boot(*point);
            facts.know(&line, &boot::POINT, (*point).to_owned(), from());
            match auto {
                Some(auto) => facts.know(&line, &boot::AUTO, *auto, from()),
                None => facts.put(&line, &boot::AUTO, Reading::unknown(Why::Denied, "a test")),
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
        assert_eq!(concluded(machine(&[("/data", Some(true))]), "/data"), Some(true));
        let mut automounted = machine(&[]);
        let waiting = Subject::mount("/data#1");
        automounted.know(&waiting, &mount::POINT, "/data".to_owned(), Source::file("mountinfo"));
        automounted.know(&waiting, &mount::FSTYPE, "autofs".to_owned(), Source::file("mountinfo"));
        assert_eq!(concluded(automounted, "/data"), Some(true));
    }

    #[test]
    fn nothing_mounts_it() {
        assert_eq!(concluded(machine(&[]), "/data"), Some(false));
        assert_eq!(concluded(machine(&[("/data", Some(false))]), "/data"), Some(false), "noauto");
        assert_eq!(concluded(machine(&[("/backup", Some(false))]), "/data"), Some(false));
        assert_eq!(concluded(machine(&[]), "/merged"), None, "whoever made it makes it again");
    }

    #[test]
    fn nothing_is_missing_where_it_cannot_be_known() {
        assert_eq!(concluded(machine(&[("/data", None)]), "/data"), None);
        assert_eq!(concluded(machine(&[("/link-to-data", Some(true))]), "/data"), None);
        let mut inside = machine(&[]);
        inside.know(&Subject::host(), &machine::CONTAINER, "docker".to_owned(), Source::file("cgroup"));
        assert_eq!(concluded(inside, "/data"), None);
        let mut unread = machine(&[]);
        conclude(&mut unread, Some(&Reading::unknown(Why::Denied, "/etc/fstab")));
        assert_eq!(unread.value(&Subject::mount("/data"), &mount::AT_BOOT), None);
        let mut srv = machine(&[]);
        srv.know(&Subject::mount("/data"), &mount::POINT, "/srv".to_owned(), Source::file("mountinfo"));
        assert_eq!(concluded(srv, "/data"), None);
    }
}
