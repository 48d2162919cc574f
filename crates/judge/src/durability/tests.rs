mod caps {
    use super::test_host::{TestHost, data_target};
    use crate::durability::{
        EvidenceLayer, Verdict, VerdictCap, VerdictCaps, VerdictKind, VerdictRemedy, judge_targets,
    };
    use crate::facts::Subject;
    use crate::ternary::Ternary;

    fn verdict_with_cap(
        mut machine: TestHost,
        subject: &Subject,
        standing: VerdictKind,
        applies: Ternary,
    ) -> Verdict {
        let remedy = standing
            .is_at_risk()
            .then(|| VerdictRemedy::new("Boot another kernel.".to_owned()));
        let cap = VerdictCap {
            rule: "release.example".to_owned(),
            subject: subject.clone(),
            standing,
            applies,
            reason: "this release loses data".to_owned(),
            remedy,
            unread_fact: None,
            facts: Vec::new(),
            assumed: Vec::new(),
        };
        let verdicts = judge_targets(&mut machine.facts, true, &VerdictCaps::new([cap]));
        verdicts
            .into_iter()
            .find(|verdict| verdict.target == data_target())
            .unwrap()
    }

    fn machine_without_flushes() -> TestHost {
        TestHost::with_volatile_disk().with_fact("mount.barrier", "off")
    }

    fn subjects_of_stack_and_host(machine: &TestHost) -> Vec<Subject> {
        let mut all = machine.facts.layers_below(&data_target());
        all.extend([Subject::host(), data_target()]);
        all
    }

    #[test]
    fn cap_only_lowers_verdict_for_any_subject() {
        for (start, before) in [
            (
                TestHost::with_volatile_disk as fn() -> TestHost,
                VerdictKind::Durable,
            ),
            (machine_without_flushes, VerdictKind::AtRisk),
        ] {
            for subject in subjects_of_stack_and_host(&start()) {
                for standing in [VerdictKind::AtRisk, VerdictKind::Unproven] {
                    let verdict = verdict_with_cap(start(), &subject, standing, Ternary::True);
                    assert_eq!(
                        verdict.standing,
                        before.min(standing),
                        "{subject} {standing}"
                    );
                    let evidence = verdict.paths.iter().flat_map(|path| &path.evidence);
                    assert_eq!(
                        evidence
                            .filter(|one| one.layer == EvidenceLayer::Rule)
                            .count(),
                        verdict.paths.len()
                    );
                }
            }
        }
    }

    #[test]
    fn undecided_cap_keeps_verdict_and_is_listed() {
        for subject in subjects_of_stack_and_host(&TestHost::with_volatile_disk()) {
            let verdict = verdict_with_cap(
                TestHost::with_volatile_disk(),
                &subject,
                VerdictKind::AtRisk,
                Ternary::Unknown,
            );
            assert_eq!(verdict.standing, VerdictKind::Durable);
            assert_eq!(verdict.undecided.len(), 1, "{subject}");
            assert!(
                verdict.limits.contains("release.example"),
                "{}",
                verdict.limits
            );
            let below = verdict_with_cap(
                machine_without_flushes(),
                &subject,
                VerdictKind::AtRisk,
                Ternary::Unknown,
            );
            assert!(below.undecided.is_empty(), "nothing is left to lower");
            let false_cap = verdict_with_cap(
                TestHost::with_volatile_disk(),
                &subject,
                VerdictKind::AtRisk,
                Ternary::False,
            );
            assert!(false_cap.undecided.is_empty() && false_cap.standing == VerdictKind::Durable);
        }
    }
}
mod drill_records {
    use super::test_host::{TestHost, data_target};
    use crate::durability::VerdictKind;
    use crate::facts::Source;
    use crate::facts::catalog::drill;
    use crate::text::group_digits;

    fn machine_with_drill(mut machine: TestHost, cuts: u64, lost: u64) -> TestHost {
        let source = || Source::Drill {
            file: "drills.json".to_owned(),
        };
        machine.facts.insert_known(
            &data_target(),
            &drill::ON,
            "2026-11-22".to_owned(),
            source(),
        );
        machine
            .facts
            .insert_known(&data_target(), &drill::CUTS, cuts, source());
        machine
            .facts
            .insert_known(&data_target(), &drill::ACKNOWLEDGED, 1000 * cuts, source());
        machine
            .facts
            .insert_known(&data_target(), &drill::LOST, lost, source());
        machine
    }

    #[test]
    fn clean_drill_promotes_only_unproven_stacks() {
        let usb = || TestHost::with_volatile_disk().with_fact("device.transport", "usb");
        let server_unread = || usb().with_postgres_cluster().with_fact("pg.fsync", "?");
        for (machine, without, with) in [
            (usb(), VerdictKind::Unproven, VerdictKind::ProvenByDrill),
            (
                TestHost::with_volatile_disk().with_fact("mount.barrier", "?"),
                VerdictKind::Unproven,
                VerdictKind::ProvenByDrill,
            ),
            (
                TestHost::with_volatile_disk(),
                VerdictKind::Durable,
                VerdictKind::Durable,
            ),
            (
                usb().with_fact("mount.barrier", "off"),
                VerdictKind::AtRisk,
                VerdictKind::AtRisk,
            ),
            (
                TestHost::with_volatile_disk().with_fact("device.write_cache", "write through"),
                VerdictKind::Contradictory,
                VerdictKind::Contradictory,
            ),
            (
                server_unread(),
                VerdictKind::Unproven,
                VerdictKind::Unproven,
            ),
        ] {
            assert_eq!(machine.clone().verdict().standing, without);
            let verdict = machine_with_drill(machine.clone(), 20, 0).verdict();
            assert_eq!(verdict.standing, with, "{}", verdict.sentence);
            assert_eq!(
                machine_with_drill(machine, 20, 3).verdict().standing,
                VerdictKind::AtRisk
            );
        }
    }

    #[test]
    fn drill_sentence_states_date_cuts_and_detectable_share() {
        let usb = TestHost::with_volatile_disk().with_fact("device.transport", "usb");
        let verdict = machine_with_drill(usb.clone(), 20, 0).verdict();
        for said in [
            "on 2026-11-22",
            &format!(
                "{} acknowledged commits on this stack, none lost in 20 power cuts",
                group_digits(20_000)
            ),
            "fewer than 14 %",
        ] {
            assert!(verdict.sentence.contains(said), "{}", verdict.sentence);
        }
        assert!(
            machine_with_drill(usb.clone(), 1, 0)
                .verdict()
                .sentence
                .contains("fewer than 95 %")
        );
        assert!(
            verdict.paths[0]
                .evidence
                .iter()
                .any(|one| one.text.contains("USB")),
            "the doubt stays in sight"
        );
        assert!(
            machine_with_drill(usb, 20, 3)
                .verdict()
                .sentence
                .contains("acknowledged commits on this stack, 3 lost in 20 power cuts")
        );
    }

    #[test]
    fn a_drill_opens_no_interlock() {
        let open = |machine: TestHost| machine.flush_removal_allowed_reading().value().copied();
        assert_eq!(open(TestHost::with_protected_cache()), Some(true));
        assert_eq!(
            open(machine_with_drill(TestHost::with_protected_cache(), 20, 0)),
            Some(true),
            "nor does it shut one"
        );
        for fact in [
            "controller.battery",
            "controller.disk_cache",
            "mount.barrier",
            "device.write_cache",
        ] {
            let machine =
                machine_with_drill(TestHost::with_protected_cache().with_fact(fact, "?"), 20, 0);
            assert_ne!(open(machine), Some(true), "{fact}");
        }
    }
}
mod flush_path;
mod guarantor;
mod interlock;
mod mysql;
mod nvme;
mod page_atomicity;
mod properties;
mod sessions;
mod stacks;
mod test_host;
mod torn_pages {
    use super::test_host::TestHost;

    #[test]
    fn without_page_copies_only_zfs_prevents_torn_pages() {
        let machine = |setting: &str, roles: &str, fstype: &str, record: &str| {
            TestHost::with_volatile_disk()
                .with_postgres_cluster()
                .with_fact("pg.full_page_writes", setting)
                .with_fact("target.roles", roles)
                .with_fact("mount.fstype", fstype)
                .with_fact("mount.class", if fstype == "zfs" { "zfs" } else { "block" })
                .with_fact("zfs.sync", "standard")
                .with_fact("zfs.no_cache_flush", "false")
                .with_fact("zfs.recordsize", record)
        };
        for (setting, roles, fstype, record, verdict) in [
            ("true", "data,wal", "ext4", "?", "durable"),
            ("false", "data,wal", "ext4", "?", "at risk"),
            ("false", "data", "xfs", "?", "at risk"),
            ("false", "tablespace", "xfs", "?", "at risk"),
            ("false", "wal", "ext4", "?", "durable"),
            ("?", "data", "ext4", "?", "unproven"),
            ("?", "wal", "ext4", "?", "durable"),
            ("false", "?", "ext4", "?", "at risk"),
            ("false", "data", "zfs", "8192", "durable"),
            ("false", "data", "zfs", "131072", "durable"),
            ("false", "data", "zfs", "4096", "at risk"),
            ("false", "data", "zfs", "?", "unproven"),
        ] {
            let found = machine(setting, roles, fstype, record).verdict();
            assert_eq!(
                found.standing.as_str(),
                verdict,
                "{setting} {roles} {fstype} {record}: {}",
                found.sentence
            );
        }
    }
}
mod verdicts;
