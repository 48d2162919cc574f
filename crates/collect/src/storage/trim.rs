//! Whether the weekly trim of util-linux reaches a file system: fstrim.timer is enabled, and fstab
//! lists the mount point (fstrim(8), `--listed-in`).
//!
//! Trimming by cron or by a custom unit is not detected. A mount listed in fstab trims the whole
//! file system, so its other mounts count as well. Before util-linux 2.33 the service trimmed
//! everything that was mounted. The preset of a distribution is not consulted: only the link that
//! enables the timer counts.

use std::collections::BTreeSet;
use std::path::Path;

use crate::collector::{Collector, Request};
use crate::facts::catalog::{boot, host as machine, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use crate::host::{Host, Miss, MissKind, Tool, path_bytes};
use crate::refusal::refused;
use crate::tool_version::{not_needed, version};
use crate::truth::Truth;
use crate::version::Version;

/// Concludes what is trimmed.
pub const COLLECTOR: Collector = Collector {
    id: "trimming",
    run,
};

const FSTAB: &str = "/etc/fstab";
const UNITS: &str = "/etc/systemd/system";
/// Where the timer is linked when it is enabled: by the administrator, or permanently by the
/// distribution.
const ENABLED: [&str; 3] = [
    "/etc/systemd/system/timers.target.wants/fstrim.timer",
    "/usr/lib/systemd/system/timers.target.wants/fstrim.timer",
    "/lib/systemd/system/timers.target.wants/fstrim.timer",
];
/// A link to /dev/null here masks the timer (systemctl(1)).
const MASK: &str = "/etc/systemd/system/fstrim.timer";

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let mounts = facts.which(&mount::CLASS, |class| class.is_block());
    if !mounts.is_empty() {
        facts.put(&Subject::host(), &machine::TRIM_TIMER, timer(host));
    }
    let timer = facts.get(&Subject::host(), &machine::TRIM_TIMER);
    let listed = FstabMounts::from_facts(facts);
    let is_missed = |subject: &Subject| timer.value() == Some(&true) && !listed.has(facts, subject);
    let (missed, others): (Vec<_>, Vec<_>) = mounts.into_iter().partition(is_missed);
    // Only what the timer does not find in fstab depends on the release.
    let is_needed = listed.any && !missed.is_empty();
    let release = if is_needed {
        version(host, request, Tool::Mount, "--version")
    } else {
        not_needed()
    };
    facts.put(&Subject::host(), &machine::UTIL_LINUX, release);
    let unlisted = listed.unlisted(facts);
    for subject in missed {
        facts.put(&subject, &mount::TRIMMED, unlisted.clone());
    }
    for subject in others {
        facts.put(&subject, &mount::TRIMMED, timer.clone());
    }
}

/// Whether the timer is enabled.
fn timer(host: &dyn Host) -> Reading<bool> {
    match host.link(Path::new(MASK)) {
        Ok(to) if path_bytes(&to) == b"/dev/null" => {
            return Reading::known(false, Source::file(MASK));
        }
        Ok(_) => {}
        Err(miss) if no_link(&miss) => {}
        Err(miss) => return refused(&miss, MASK),
    }
    for link in ENABLED {
        match host.link(Path::new(link)) {
            Ok(_) => return Reading::known(true, Source::file(link)),
            Err(miss) if no_link(&miss) => {}
            Err(miss) => return refused(&miss, link),
        }
    }
    // Without systemd's directory something else may trim.
    match host.list(Path::new(UNITS)) {
        Ok(_) => Reading::known(false, Source::file(UNITS)),
        Err(miss) => refused(&miss, UNITS),
    }
}

/// An object that is no link was created as a file, which masks nothing.
fn no_link(miss: &Miss) -> bool {
    matches!(miss.kind, MissKind::Absent | MissKind::Failed)
}

/// The entries of fstab, by what is mounted there now.
struct FstabMounts {
    any: bool,
    file_systems: BTreeSet<(String, String)>,
}

impl FstabMounts {
    fn from_facts(facts: &FactSet) -> Self {
        let mut listed = Self {
            any: false,
            file_systems: BTreeSet::new(),
        };
        for line in facts.subjects(Scope::Boot) {
            let fstab = facts.value(line, &boot::WHERE).is_some_and(|place| {
                place
                    .strip_prefix(FSTAB)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
            });
            if !fstab {
                continue;
            }
            listed.any = true;
            let left_out = facts.value(line, &boot::OPTIONS).is_some_and(|options| {
                options
                    .iter()
                    .any(|option| option.eq_ignore_ascii_case("X-fstrim.notrim"))
            });
            let mounted = facts.resolve(line, Scope::Mount).filter(|_| !left_out);
            listed
                .file_systems
                .extend(mounted.map(|mount| file_system(facts, &mount)));
        }
        listed
    }

    fn has(&self, facts: &FactSet, subject: &Subject) -> bool {
        self.file_systems.contains(&file_system(facts, subject))
    }

    /// For what the enabled timer does not find in fstab.
    fn unlisted(&self, facts: &FactSet) -> Reading<bool> {
        if !self.any {
            let detail = format!(
                "fstrim.timer is enabled and {FSTAB} lists no file system: what it trims then depends on its version"
            );
            return Reading::unknown(Why::Ambiguous, detail);
        }
        let goes_by_fstab = Version::parse("2.33").map(|first| {
            facts
                .value(&Subject::host(), &machine::UTIL_LINUX)
                .map_or(Truth::Unknown, |version| version.at_least(&first))
        });
        match goes_by_fstab {
            Some(Truth::True) => Reading::known(false, Source::file(FSTAB)),
            Some(Truth::False) => {
                Reading::known(true, Source::derived([machine::UTIL_LINUX.name()]))
            }
            _ => Reading::unknown(
                Why::Ambiguous,
                format!(
                    "{FSTAB} does not list it, but before util-linux 2.33 fstrim.timer still trims it"
                ),
            ),
        }
    }
}

/// The identity of a mounted file system: its source, and its device number unless that is specific
/// to one mount.
fn file_system(facts: &FactSet, subject: &Subject) -> (String, String) {
    let number = facts
        .value(subject, &mount::DEVNO)
        .filter(|number| !number.starts_with("0:"));
    let source = || facts.value(subject, &mount::SOURCE).unwrap_or_default();
    match number {
        Some(number) => (number, String::new()),
        None => (String::new(), source()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Question;
    use crate::testing::Fake;

    /// Two mounts of one file system and one of another; fstab lists the first, with this option.
    fn facts(option: &str) -> FactSet {
        let mut facts = FactSet::default();
        let source = || Source::file("x");
        for (point, number) in [("/srv", "8:1"), ("/bind", "8:1"), ("/by-hand", "8:2")] {
            let subject = Subject::mount(point);
            facts.know(&subject, &mount::CLASS, mount::MountClass::Block, source());
            facts.know(&subject, &mount::DEVNO, number.to_owned(), source());
        }
        let line = Subject::boot("/srv");
        facts.know(&line, &boot::WHERE, "/etc/fstab:3".to_owned(), source());
        facts.know(&line, &boot::OPTIONS, vec![option.to_owned()], source());
        facts.link(&line, &Subject::mount("/srv"));
        facts
    }

    fn trimmed(host: &Fake, mut facts: FactSet) -> [Option<bool>; 3] {
        run(host, &Request::default(), &mut facts);
        ["/srv", "/bind", "/by-hand"]
            .map(|point| facts.value(&Subject::mount(point), &mount::TRIMMED))
    }

    fn systemd() -> Fake {
        Fake::default().file(format!("{UNITS}/x.service"), "")
    }

    fn asks() -> Question {
        Question::Run(Tool::Mount, vec!["--version".to_owned()])
    }

    #[test]
    fn the_timer_trims_what_fstab_lists() {
        let (yes, no) = (Some(true), Some(false));
        for link in ENABLED {
            let enabled = || systemd().symlink(link, "/lib/systemd/system/fstrim.timer");
            let with = |release: &str| {
                enabled().answer(
                    asks(),
                    format!("mount from util-linux {release} (libmount {release})\n"),
                )
            };
            assert_eq!(trimmed(&with("2.38.1"), facts("defaults")), [yes, yes, no]);
            assert_eq!(
                trimmed(&with("2.38.1"), facts("X-fstrim.notrim")),
                [no, no, no]
            );
            assert_eq!(trimmed(&with("2.31"), facts("defaults")), [yes, yes, yes]);
            assert_eq!(trimmed(&enabled(), facts("defaults")), [yes, yes, None]);
            let masked = enabled().symlink(MASK, "/dev/null");
            assert_eq!(trimmed(&masked, facts("defaults")), [no, no, no]);
        }
        assert_eq!(trimmed(&systemd(), facts("defaults")), [no, no, no]);
    }

    #[test]
    fn util_linux_is_asked_only_for_what_the_timer_does_not_find() {
        let asked = |host: Fake, mut facts: FactSet| {
            run(&host, &Request::default(), &mut facts);
            host.asked().contains(&asks())
        };
        let enabled = || systemd().symlink(ENABLED[0], "/lib/systemd/system/fstrim.timer");
        let mut all_listed = facts("defaults");
        all_listed.know(
            &Subject::mount("/by-hand"),
            &mount::DEVNO,
            "8:1".to_owned(),
            Source::Assumed,
        );
        assert!(asked(enabled(), facts("defaults")));
        assert!(!asked(enabled(), all_listed), "everything is listed");
        assert!(
            !asked(systemd(), facts("defaults")),
            "the timer is not enabled"
        );
        assert!(!asked(enabled(), FactSet::default()), "nothing to trim");
    }

    #[test]
    fn whether_the_timer_is_enabled_is_told_by_itself() {
        let timer = |host: &Fake| {
            let mut facts = facts("X-fstrim.notrim");
            run(host, &Request::default(), &mut facts);
            facts.value(&Subject::host(), &machine::TRIM_TIMER)
        };
        let enabled = systemd().symlink(ENABLED[0], "/lib/systemd/system/fstrim.timer");
        assert_eq!(timer(&systemd()), Some(false));
        assert_eq!(timer(&enabled), Some(true), "though it trims nothing here");
        assert_eq!(timer(&enabled.symlink(MASK, "/dev/null")), Some(false));
        assert_eq!(timer(&Fake::default()), None);
    }

    #[test]
    fn what_is_not_seen_is_not_guessed() {
        assert_eq!(trimmed(&Fake::default(), facts("defaults")), [None; 3]);
        for question in [
            Question::Link(MASK.into()),
            Question::Link(ENABLED[0].into()),
        ] {
            let host = systemd().refuse(question, MissKind::NotCollected);
            assert_eq!(trimmed(&host, facts("defaults")), [None; 3]);
        }
        let host = systemd().symlink(ENABLED[0], "x");
        let mut nothing_listed = facts("defaults");
        nothing_listed.know(
            &Subject::boot("/srv"),
            &boot::WHERE,
            "/etc/fstab.d:3".to_owned(),
            Source::file("x"),
        );
        assert_eq!(trimmed(&host, nothing_listed), [None; 3]);
    }
}
