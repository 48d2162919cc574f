//! Whether util-linux's weekly trim covers a file system: fstrim.timer is enabled, and fstab lists
//! the mount point (fstrim(8), `--listed-in`).
//!
//! Trimming by cron or custom units is not detected. Trimming one mount trims the file system, so
//! its other mounts are covered too. Before util-linux 2.33 the service trimmed everything mounted.
//! Since 2.34 it trims `/` even if fstab does not list it; since 2.38 X-fstrim.notrim excludes a
//! file system (release notes of util-linux). The distribution's preset does not count, only the
//! link that enables the timer.

use std::path::Path;

use crate::collector::Request;
use crate::facts::catalog::{boot, host, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject};
use crate::host::{Host, HostError, HostErrorKind, Tool, path_bytes};
use crate::host_readings::{error_reading, file_reading};
use crate::ternary::Ternary;
use crate::tool_version::{query_version, unneeded_version_reading};
use crate::version::Version;

const FSTAB: &str = "/etc/fstab";
const UNIT_DIRECTORY: &str = "/etc/systemd/system";
const ENABLING_LINKS: [&str; 3] = [
    "/etc/systemd/system/timers.target.wants/fstrim.timer",
    "/usr/lib/systemd/system/timers.target.wants/fstrim.timer",
    "/lib/systemd/system/timers.target.wants/fstrim.timer",
];
/// The path at which a link to /dev/null masks the timer (systemctl(1)).
const MASK_LINK: &str = "/etc/systemd/system/fstrim.timer";

pub fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let mounts = facts.subjects_where(&mount::CLASS, |class| class.is_block());
    if !mounts.is_empty() {
        facts.insert_host(&host::TRIM_TIMER, is_fstrim_timer_enabled(host));
    }
    let timer = facts.host_reading(&host::TRIM_TIMER);
    let listed = FstabFileSystems::from_facts(facts);
    let is_missed = |subject: &Subject| {
        timer.value() == Some(&true) && !listed.has_line_of_mount(facts, subject, false)
    };
    let (missed, others): (Vec<_>, Vec<_>) = mounts.into_iter().partition(is_missed);
    // The release of util-linux decides only about mounts that fstab does not list, so it is not
    // queried without such mounts.
    let is_needed = !listed.0.is_empty() && !missed.is_empty();
    let release = if is_needed {
        query_version(host, request, Tool::Mount, "--version")
    } else {
        unneeded_version_reading()
    };
    facts.insert_host(&host::UTIL_LINUX, release);
    for subject in missed {
        let trimmed = listed.is_unlisted_mount_trimmed(facts, &subject);
        facts.insert(&subject, &mount::TRIMMED, trimmed);
    }
    for subject in others {
        facts.insert(&subject, &mount::TRIMMED, timer.clone());
    }
}

fn is_fstrim_timer_enabled(host: &dyn Host) -> Reading<bool> {
    match host.link_target(Path::new(MASK_LINK)) {
        Ok(to) if path_bytes(&to) == b"/dev/null" => {
            return Reading::known(false, Source::from_file(MASK_LINK));
        }
        Ok(_) => {}
        Err(miss) if is_missing_or_not_a_link(&miss) => {}
        Err(miss) => return error_reading(&miss, MASK_LINK),
    }
    for link in ENABLING_LINKS {
        match host.link_target(Path::new(link)) {
            Ok(_) => return Reading::known(true, Source::from_file(link)),
            Err(miss) if is_missing_or_not_a_link(&miss) => {}
            Err(miss) => return error_reading(&miss, link),
        }
    }
    // Without systemd, some other service may trim, so the answer is unknown.
    file_reading(
        host.list_directory(Path::new(UNIT_DIRECTORY)),
        UNIT_DIRECTORY,
    )
    .map(|_| false)
}

/// Whether the path is missing or not a symbolic link: a regular file does not mask the timer.
fn is_missing_or_not_a_link(miss: &HostError) -> bool {
    matches!(miss.kind, HostErrorKind::Absent | HostErrorKind::Failed)
}

/// For each line of fstab: the file system that is mounted from it, and whether the line has the
/// option X-fstrim.notrim.
struct FstabFileSystems(Vec<(Option<DevnoOrSource>, bool)>);

impl FstabFileSystems {
    fn from_facts(facts: &FactSet) -> Self {
        let is_in_fstab = |line: &&Subject| {
            let place = facts.value(line, &boot::WHERE).unwrap_or_default();
            place
                .strip_prefix(FSTAB)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        let entry = |line: &Subject| {
            let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
            let is_left_out = options
                .iter()
                .any(|option| option.eq_ignore_ascii_case("X-fstrim.notrim"));
            let mounted = facts.applicable_subject(line, Scope::Mount);
            let file_system = mounted.map(|mount| devno_or_source(facts, &mount));
            (file_system, is_left_out)
        };
        let lines = facts.subjects_of_scope(Scope::Boot).filter(is_in_fstab);
        Self(lines.map(entry).collect())
    }

    fn has_line_of_mount(&self, facts: &FactSet, mount: &Subject, is_left_out: bool) -> bool {
        let file_system = devno_or_source(facts, mount);
        self.0.contains(&(Some(file_system), is_left_out))
    }

    fn is_unlisted_mount_trimmed(&self, facts: &FactSet, subject: &Subject) -> Reading<bool> {
        if self.0.is_empty() {
            let detail = format!(
                "fstrim.timer is enabled, but {FSTAB} lists no file system; what the timer then trims depends on the util-linux version"
            );
            return Reading::ambiguous(detail);
        }
        let release = facts.host_value(&host::UTIL_LINUX);
        let since = |number: &str| {
            let both = release.as_ref().zip(Version::parse(number));
            both.map_or(Ternary::Unknown, |(release, first)| {
                release.at_least(&first)
            })
        };
        let is_root = facts.value(subject, &mount::POINT).as_deref() == Some("/");
        let is_missed = if self.has_line_of_mount(facts, subject, true) {
            since("2.38")
        } else if is_root {
            since("2.33").and(!since("2.34"))
        } else {
            since("2.33")
        };
        match is_missed {
            Ternary::True => Reading::known(false, Source::from_file(FSTAB)),
            Ternary::False => Reading::known(true, Source::derived_from([host::UTIL_LINUX.name()])),
            Ternary::Unknown => Reading::ambiguous(format!(
                "{FSTAB} does not list this file system, or excludes it; whether fstrim.timer still trims it depends on the util-linux version"
            )),
        }
    }
}

/// The file system of a mount: its device number, or else its source if the number is anonymous.
type DevnoOrSource = Result<String, String>;

fn devno_or_source(facts: &FactSet, mount: &Subject) -> DevnoOrSource {
    facts
        .value(mount, &mount::DEVNO)
        .filter(|number| !number.starts_with("0:"))
        .ok_or_else(|| facts.value(mount, &mount::SOURCE).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Question;
    use crate::testing::FakeHost;

    fn facts_with_fstab_option(option: &str) -> FactSet {
        let mut facts = FactSet::default();
        let source = || Source::from_file("x");
        for (point, number) in [("/srv", "8:1"), ("/bind", "8:1"), ("/by-hand", "8:2")] {
            let subject = Subject::mount(point);
            facts.insert_known(&subject, &mount::CLASS, mount::MountClass::Block, source());
            facts.insert_known(&subject, &mount::DEVNO, number.to_owned(), source());
        }
        let line = Subject::boot("/srv");
        facts.insert_known(&line, &boot::WHERE, "/etc/fstab:3".to_owned(), source());
        facts.insert_known(&line, &boot::OPTIONS, vec![option.to_owned()], source());
        facts.set_fact_link(&line, &Subject::mount("/srv"));
        facts
    }

    fn trimmed_by_mount(host: &FakeHost, mut facts: FactSet) -> [Option<bool>; 3] {
        collect_facts(host, &Request::default(), &mut facts);
        ["/srv", "/bind", "/by-hand"]
            .map(|point| facts.value(&Subject::mount(point), &mount::TRIMMED))
    }

    fn host_with_systemd() -> FakeHost {
        FakeHost::default().with_file(format!("{UNIT_DIRECTORY}/x.service"), "")
    }

    fn mount_version_question() -> Question {
        Question::Run(Tool::Mount, vec!["--version".to_owned()])
    }

    #[test]
    fn timer_trims_file_systems_of_fstab() {
        let (yes, no) = (Some(true), Some(false));
        for link in ENABLING_LINKS {
            let enabled =
                || host_with_systemd().with_symlink(link, "/lib/systemd/system/fstrim.timer");
            let with = |release: &str| {
                enabled().with_answer(
                    mount_version_question(),
                    format!("mount from util-linux {release} (libmount {release})\n"),
                )
            };
            assert_eq!(
                trimmed_by_mount(&with("2.38.1"), facts_with_fstab_option("defaults")),
                [yes, yes, no]
            );
            assert_eq!(
                trimmed_by_mount(&with("2.38.1"), facts_with_fstab_option("X-fstrim.notrim")),
                [no, no, no]
            );
            assert_eq!(
                trimmed_by_mount(&with("2.37.4"), facts_with_fstab_option("X-fstrim.notrim")),
                [yes, yes, no],
                "the option is new in 2.38"
            );
            for (release, expected) in [("2.32", yes), ("2.33.2", no), ("2.34", yes)] {
                let mut root = facts_with_fstab_option("defaults");
                let mount = Subject::mount("/by-hand");
                root.insert_known(&mount, &mount::POINT, "/".to_owned(), Source::Assumed);
                assert_eq!(
                    trimmed_by_mount(&with(release), root)[2],
                    expected,
                    "/ by {release}"
                );
            }
            assert_eq!(
                trimmed_by_mount(&with("2.31"), facts_with_fstab_option("defaults")),
                [yes, yes, yes]
            );
            assert_eq!(
                trimmed_by_mount(&enabled(), facts_with_fstab_option("defaults")),
                [yes, yes, None]
            );
            let masked = enabled().with_symlink(MASK_LINK, "/dev/null");
            assert_eq!(
                trimmed_by_mount(&masked, facts_with_fstab_option("defaults")),
                [no, no, no]
            );
        }
        assert_eq!(
            trimmed_by_mount(&host_with_systemd(), facts_with_fstab_option("defaults")),
            [no, no, no]
        );
    }

    #[test]
    fn util_linux_version_is_queried_only_if_needed() {
        let asked = |host: FakeHost, mut facts: FactSet| {
            collect_facts(&host, &Request::default(), &mut facts);
            host.asked_questions().contains(&mount_version_question())
        };
        let enabled = || {
            host_with_systemd().with_symlink(ENABLING_LINKS[0], "/lib/systemd/system/fstrim.timer")
        };
        let mut all_listed = facts_with_fstab_option("defaults");
        all_listed.insert_known(
            &Subject::mount("/by-hand"),
            &mount::DEVNO,
            "8:1".to_owned(),
            Source::Assumed,
        );
        assert!(asked(enabled(), facts_with_fstab_option("defaults")));
        assert!(!asked(enabled(), all_listed), "everything is listed");
        assert!(
            !asked(host_with_systemd(), facts_with_fstab_option("defaults")),
            "the timer is not enabled"
        );
        assert!(!asked(enabled(), FactSet::default()), "nothing to trim");
    }

    #[test]
    fn timer_fact_follows_enablement_and_mask() {
        let timer = |host: &FakeHost| {
            let mut facts = facts_with_fstab_option("X-fstrim.notrim");
            collect_facts(host, &Request::default(), &mut facts);
            facts.host_value(&host::TRIM_TIMER)
        };
        let enabled =
            host_with_systemd().with_symlink(ENABLING_LINKS[0], "/lib/systemd/system/fstrim.timer");
        assert_eq!(timer(&host_with_systemd()), Some(false));
        assert_eq!(timer(&enabled), Some(true), "though it trims nothing here");
        assert_eq!(
            timer(&enabled.with_symlink(MASK_LINK, "/dev/null")),
            Some(false)
        );
        assert_eq!(timer(&FakeHost::default()), None);
    }

    #[test]
    fn unreadable_links_leave_trimming_unknown() {
        assert_eq!(
            trimmed_by_mount(&FakeHost::default(), facts_with_fstab_option("defaults")),
            [None; 3]
        );
        for question in [
            Question::Link(MASK_LINK.into()),
            Question::Link(ENABLING_LINKS[0].into()),
        ] {
            let host = host_with_systemd().with_error(question, HostErrorKind::NotCollected);
            assert_eq!(
                trimmed_by_mount(&host, facts_with_fstab_option("defaults")),
                [None; 3]
            );
        }
        let host = host_with_systemd().with_symlink(ENABLING_LINKS[0], "x");
        let mut nothing_listed = facts_with_fstab_option("defaults");
        nothing_listed.insert_known(
            &Subject::boot("/srv"),
            &boot::WHERE,
            "/etc/fstab.d:3".to_owned(),
            Source::from_file("x"),
        );
        assert_eq!(trimmed_by_mount(&host, nothing_listed), [None; 3]);
    }
}
