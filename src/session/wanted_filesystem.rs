//! The user's choice of a file system for a free disk.
//!
//! A chosen file system must pass the same rules and compatibility tables as a recommended one.

use super::Session;
use crate::compat;
use crate::facts::catalog::target::{KIND, TargetKind};
use crate::facts::{FactSet, Subject};
use crate::report::DeviceContent;
use crate::rules::{self, EvaluationOptions, Outcome, Rule, explain};
use crate::settings::{NewFilesystem, SettingKind};

impl Session {
    /// Uses this file system for a target in all further reports; `None` restores the recommended
    /// one. On error, the previous choice stays.
    pub fn choose_filesystem(
        &mut self,
        target: &Subject,
        filesystem: Option<NewFilesystem>,
    ) -> Result<(), String> {
        let Some(filesystem) = filesystem else {
            self.wanted.remove(target);
            return Ok(());
        };
        let (facts, _) = self.derived_facts_and_verdicts();
        let refused = not_free_device_reason(&facts, target)
            .or_else(|| self.filesystem_refusal(&facts, target, filesystem));
        if let Some(why) = refused {
            return Err(format!(
                "a {filesystem} file system cannot be created on {}: {why}",
                target.name()
            ));
        }
        self.wanted.insert(target.clone(), filesystem);
        Ok(())
    }

    pub(super) fn filesystem_refusal(
        &self,
        facts: &FactSet,
        target: &Subject,
        filesystem: NewFilesystem,
    ) -> Option<String> {
        if let Err(why) = compat::require_creatable_and_mountable(filesystem, facts) {
            return Some(why);
        }
        let offers = |rule: &&Rule| rule.ranks_value(SettingKind::Filesystem, filesystem.as_str());
        let mut because = None;
        for rule in self.rules.rules().iter().filter(offers) {
            match rule_refusal_reason(rule, facts, target, self.live) {
                None => return None,
                Some(why) => drop(because.get_or_insert(why)),
            }
        }
        because.or_else(|| Some("No rule recommends this file system here.".to_owned()))
    }
}

/// Reason why no file system can be created on the target; `None` for a free disk.
fn not_free_device_reason(facts: &FactSet, target: &Subject) -> Option<String> {
    match facts.value(target, &KIND) {
        Some(TargetKind::Device) => {
            let content = DeviceContent::from_facts(facts, target);
            (!content.may_get_new_file_system()).then(|| content.explanation_text())
        }
        Some(TargetKind::Directory | TargetKind::Created) => {
            Some("The target is a directory; a new file system needs a free device.".to_owned())
        }
        None => Some("walwise cannot tell whether the target is a device.".to_owned()),
    }
}

/// Names the tests because of which the rule does not apply or is undecided; `None` if the rule
/// applies.
fn rule_refusal_reason(
    rule: &Rule,
    facts: &FactSet,
    target: &Subject,
    live: bool,
) -> Option<String> {
    let finding = rules::evaluate_rule(
        rule,
        facts,
        target,
        EvaluationOptions { live, traced: true },
    );
    let tests = finding
        .trace
        .as_deref()
        .map(explain::deciding_test_texts)
        .unwrap_or_default()
        .join("; ");
    match finding.outcome {
        Outcome::Applies => None,
        Outcome::DoesNotApply => Some(format!("Rule {} requires: {tests}.", rule.id)),
        Outcome::Undecided { .. } => Some(format!("Rule {} is undecided: {tests}.", rule.id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::catalog::{device, host, kernel};
    use crate::facts::{Choice, Reading, Source};
    use crate::report::{Format, Plan, Report, sample_reports};
    use crate::rules::RuleSet;
    use crate::settings::NewFilesystem::{Btrfs, Ext4, Xfs, Zfs};
    use crate::version::Version;
    use walwise_model::text::JoinText;

    fn free_disk_session() -> Session {
        let mut facts = sample_reports::free_disk().facts;
        let machine = Subject::host();
        let loaded = ["ext4", "zfs"].map(str::to_owned).to_vec();
        facts.insert_known(
            &machine,
            &kernel::FILESYSTEMS,
            loaded,
            Source::from_file("/proc/filesystems"),
        );
        facts.insert_known(
            &machine,
            &kernel::VERSION,
            Version::parse("6.1.0-28-amd64").unwrap(),
            Source::from_system_call("uname"),
        );
        facts.insert_known(
            &machine,
            &kernel::VENDOR,
            "debian".to_owned(),
            Source::from_system_call("uname"),
        );
        let disk = facts
            .applicable_subject(
                &sample_reports::free_disk_target(),
                crate::facts::Scope::Device,
            )
            .unwrap();
        facts.insert_known(
            &disk,
            &device::READ_ONLY,
            false,
            Source::from_file("/sys/class/block/sdc/ro"),
        );
        Session::new(facts, RuleSet::builtin(), true)
    }

    fn free_disk_device(session: &Session) -> Subject {
        session
            .facts
            .applicable_subject(
                &sample_reports::free_disk_target(),
                crate::facts::Scope::Device,
            )
            .unwrap()
    }

    fn free_disk_plan(report: &Report) -> &Plan {
        report.plan(&sample_reports::free_disk_target()).unwrap()
    }

    fn step_settings_and_values(plan: &Plan) -> Vec<(&'static str, Vec<String>)> {
        let one = |step: &crate::report::Step| {
            (
                step.advice.setting.name,
                step.advice.change.set_or_added_values().to_vec(),
            )
        };
        plan.steps.iter().map(one).collect()
    }

    #[test]
    fn chosen_filesystem_gets_plan_naming_first_choice() {
        let mut session = free_disk_session();
        let without = session.build_report();
        assert_eq!(
            free_disk_plan(&without).requested_filesystem_sentence(),
            None
        );
        for &filesystem in NewFilesystem::ALL {
            session
                .choose_filesystem(&sample_reports::free_disk_target(), Some(filesystem))
                .unwrap();
            let report = session.build_report();
            let plan = free_disk_plan(&report);
            let first = &plan.steps[0];
            assert_eq!(
                first.advice.change.set_or_added_values(),
                [filesystem.as_str()]
            );
            assert_eq!(first.alternatives.len(), 3, "{:?}", first.alternatives);
            let wish = plan.requested_filesystem_sentence().unwrap();
            let told = if filesystem == Ext4 {
                "also the first choice here"
            } else {
                "the first choice here is ext4"
            };
            assert_eq!(wish, format!("{filesystem}, as requested; {told}"));
            let noatime = step_settings_and_values(plan).iter().any(|(name, words)| {
                *name == "mount.options" && words.contains(&"noatime".to_owned())
            });
            assert_eq!(
                noatime,
                filesystem != Zfs,
                "in the first line, so that none is needed later"
            );
            assert!(
                plan.options.is_empty(),
                "its mount options are part of the plan: {:?}",
                plan.options
            );
            for format in [Format::Text, Format::Json, Format::Markdown] {
                let document = format.render(&report).unwrap();
                let words = document.split_whitespace().join_with(" ");
                assert!(words.contains(&wish) || format == Format::Json, "{words}");
                assert!(
                    words.contains("first choice here") || words.contains("\"wanted\": true"),
                    "{words}"
                );
            }
        }
        session
            .choose_filesystem(&sample_reports::free_disk_target(), None)
            .unwrap();
        assert_eq!(
            step_settings_and_values(free_disk_plan(&session.build_report())),
            step_settings_and_values(free_disk_plan(&without)),
            "the wish is taken back"
        );
    }

    #[test]
    fn script_and_exports_use_chosen_filesystem() {
        let mut session = free_disk_session();
        for (filesystem, makes, line) in [
            (
                Ext4,
                "mkfs.ext4 -m 1 ",
                "ext4 noatime,errors=remount-ro 0 2",
            ),
            (Xfs, "mkfs.xfs ", "xfs noatime 0 0"),
            (Btrfs, "mkfs.btrfs ", "btrfs noatime 0 0"),
        ] {
            session
                .choose_filesystem(&sample_reports::free_disk_target(), Some(filesystem))
                .unwrap();
            let report = session.build_report();
            let script = Format::Script.render(&report).unwrap();
            assert!(
                script.lines().any(|line| line.starts_with(makes)),
                "{script}"
            );
            assert!(
                script.contains(&format!("$MOUNTPOINT {line}\"\n")),
                "{script}"
            );
            let nocow = script
                .lines()
                .any(|line| line.trim() == "chattr +C \"$directory\"");
            assert_eq!(
                nocow && script.contains("Trade-off: No data checksums"),
                filesystem == Btrfs,
                "{script}"
            );
            let document = Format::Fstab.render(&report).unwrap();
            assert!(document.contains("as requested"), "{document}");
            assert!(
                document.contains(&format!(" --fs {filesystem} --format script")),
                "{document}"
            );
            let fstab = Format::Fstab.render(&report).unwrap();
            assert!(fstab.contains(&format!("/MOUNT/POINT {line}\n")), "{fstab}");
            let conf = Format::Conf.render(&report).unwrap();
            assert_eq!(
                conf.contains("# data_checksums: on"),
                filesystem == Btrfs,
                "{conf}"
            );
        }
    }

    #[test]
    fn zfs_plan_has_only_commented_commands() {
        let mut session = free_disk_session();
        session
            .choose_filesystem(&sample_reports::free_disk_target(), Some(Zfs))
            .unwrap();
        let report = session.build_report();
        let script = Format::Script.render(&report).unwrap();
        let (head, part) = script.split_once("# ==== ").unwrap();
        assert!(!head.contains("zpool"), "{head}");
        let active: Vec<&str> = part
            .lines()
            .skip(1)
            .filter(|line| !line.starts_with('#'))
            .collect();
        assert!(
            active
                .iter()
                .all(|line| line.is_empty() || *line == "exit 0"),
            "{active:#?}"
        );
        let made = part
            .lines()
            .filter(|line| line.contains("zpool create") || line.contains("zfs create"));
        assert_eq!(
            made.filter(|line| line.contains("   # documented, not tried"))
                .count(),
            2,
            "{part}"
        );
        let document = Format::Fstab.render(&report).unwrap();
        assert!(
            document.contains("ZFS pools are created with zpool") && !document.contains("UUID="),
            "{document}"
        );
    }

    #[test]
    fn impossible_filesystem_is_refused_with_reason() {
        let target = sample_reports::free_disk_target();
        let seen = || Source::from_system_call("test");
        let refused = |change: &dyn Fn(&mut Session), filesystem, says: &str| {
            let mut session = free_disk_session();
            change(&mut session);
            let plan = free_disk_plan(&session.build_report()).clone();
            let why = session
                .choose_filesystem(&target, Some(filesystem))
                .unwrap_err();
            assert!(why.contains(says) && why.contains(target.name()), "{why}");
            let mut after = free_disk_plan(&session.build_report()).clone();
            assert_eq!(after, plan, "{why}");
            // A choice made before the file system became impossible is ignored.
            session.wanted.insert(target.clone(), filesystem);
            after = free_disk_plan(&session.build_report()).clone();
            assert_eq!(
                step_settings_and_values(&after),
                step_settings_and_values(&plan),
                "{why}"
            );
        };
        refused(
            &|session| {
                session.facts.insert_known(
                    &free_disk_device(session),
                    &device::SIZE,
                    100 << 20,
                    seen(),
                );
            },
            Xfs,
            "device.size is at least 300 MiB",
        );
        refused(
            &|session| {
                session.facts.insert_known(
                    &free_disk_device(session),
                    &device::READ_ONLY,
                    true,
                    seen(),
                );
            },
            Ext4,
            "device.read_only is no",
        );
        refused(
            &|session| {
                session.facts.insert(
                    &free_disk_device(session),
                    &device::READ_ONLY,
                    Reading::not_collected(),
                );
            },
            Ext4,
            "is undecided",
        );
        refused(
            &|session| {
                session.facts.insert_known(
                    &free_disk_device(session),
                    &device::CONTENT,
                    device::ContentState::Holds,
                    seen(),
                );
            },
            Btrfs,
            "This device holds",
        );
        refused(
            &|session| {
                session.facts.insert(
                    &free_disk_device(session),
                    &device::CONTENT,
                    Reading::denied("it"),
                );
            },
            Btrfs,
            "Whether this device holds data is unknown",
        );
        refused(
            &|session| {
                session
                    .facts
                    .insert_known(&target, &KIND, TargetKind::Directory, seen());
            },
            Btrfs,
            "The target is a directory",
        );
        let absent = || Reading::absent("mkfs.btrfs --version");
        refused(
            &|session| {
                session
                    .facts
                    .insert(&Subject::host(), &host::BTRFSPROGS, absent());
            },
            Btrfs,
            "install btrfs-progs",
        );
        refused(
            &|session| {
                let loaded = vec!["ext4".to_owned()];
                session
                    .facts
                    .insert_known(&Subject::host(), &kernel::FILESYSTEMS, loaded, seen());
            },
            Zfs,
            "modprobe zfs",
        );
        refused(
            &|session| {
                session.facts.insert_known(
                    &Subject::host(),
                    &kernel::VENDOR,
                    "el9".to_owned(),
                    seen(),
                );
            },
            Btrfs,
            "RHEL 9 has no btrfs",
        );
    }
}
