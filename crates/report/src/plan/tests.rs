use std::collections::{BTreeMap, BTreeSet};

use walwise_model::settings::SettingKind;

use proptest::prelude::*;

use super::*;
use crate::{
    Report, ReportInput, RunContext, build_report, mount_and_mkfs_options, sample_reports,
};
use walwise_judge::rules::{Advice, Confidence, EffectScope, Evaluation, Risk};
use walwise_model::facts::catalog::mount;
use walwise_model::facts::{Reading, ServerArea, Source, Value};

fn target_subject() -> Subject {
    Subject::target("/srv/a")
}

fn mount_subject() -> Subject {
    Subject::mount("/srv")
}

fn mount_facts() -> FactSet {
    let mut facts = FactSet::default();
    let words = |text| sample_reports::split_at_commas(text);
    facts.add_subject(&target_subject());
    facts.insert_known(
        &mount_subject(),
        &mount::OPTIONS,
        words("rw,relatime"),
        Source::from_system_call("test"),
    );
    facts.insert_known(
        &mount_subject(),
        &mount::SUPER_OPTIONS,
        words("rw,nobarrier,data=ordered"),
        Source::from_system_call("test"),
    );
    facts.add_layer_below(&target_subject(), &mount_subject());
    facts.set_fact_link(&target_subject(), &mount_subject());
    facts
}

fn report_with_overrides(findings: Vec<Finding>, overrides: &[(&str, &str)]) -> Report {
    build_report(ReportInput {
        facts: &mount_facts(),
        verdicts: Vec::new(),
        evaluation: Evaluation {
            findings,
            tallies: Vec::new(),
        },
        measurements: BTreeMap::new(),
        overrides: overrides
            .iter()
            .map(|(a, b)| ((*a).to_owned(), vec![(*b).to_owned()]))
            .collect(),
        wanted: &BTreeMap::new(),
        refusal_reason: &|_, _| None,
        context: RunContext {
            when: String::new(),
            live: true,
            options: Vec::new(),
            version: String::new(),
            rules: 0,
            asked: None,
            engine: ServerArea::Pg,
            pack: sample_reports::empty_pack(),
        },
        guard: &|_, advice, _| match advice
            .change
            .set_or_added_values()
            .iter()
            .find(|value| value.as_str() == "refused")
        {
            Some(_) => Err("this kernel refuses it".to_owned()),
            None => Ok(()),
        },
    })
}

fn sync_method_advice(value: &str) -> Advice {
    sample_reports::advice_without_current_value(
        "pg.wal_sync_method",
        Change::Set(value.to_owned()),
    )
}

fn keep_sync_method_advice() -> Advice {
    sample_reports::advice_without_current_value("pg.wal_sync_method", Change::Keep)
}

fn added_options_advice(words: &str) -> Advice {
    sample_reports::advice_without_current_value(
        "mount.options",
        Change::Add(sample_reports::split_at_commas(words)),
    )
}

fn removed_options_advice(words: &str) -> Advice {
    sample_reports::advice_without_current_value(
        "mount.options",
        Change::Remove(sample_reports::split_at_commas(words)),
    )
}

fn target_finding(id: &str, level: Level, advice: Advice) -> Finding {
    sample_reports::applying_finding(id, &target_subject(), level, vec![advice])
}

fn only_step(report: &Report) -> &Step {
    assert_eq!(report.plans[0].steps.len(), 1, "{:#?}", report.plans);
    &report.plans[0].steps[0]
}

#[test]
fn list_changes_are_merged_into_one_step() {
    let report = report_with_overrides(
        vec![
            target_finding("a.noatime", Level::Advice, added_options_advice("noatime")),
            sample_reports::applying_finding(
                "b.barrier",
                &mount_subject(),
                Level::Critical,
                vec![removed_options_advice("nobarrier,barrier=0")],
            ),
        ],
        &[],
    );
    let step = only_step(&report);
    assert_eq!(
        step.subject,
        mount_subject(),
        "a mount option belongs to the mount"
    );
    assert_eq!(step.level, Level::Critical);
    assert_eq!(step.rules, ["b.barrier", "a.noatime"]);
    assert_eq!(step.result.as_deref(), Some("rw,data=ordered,noatime"));
    assert!(report.conflicts.is_empty());
}

#[test]
fn contradicting_changes_become_a_conflict() {
    let report = report_with_overrides(
        vec![
            target_finding("a.add", Level::Advice, added_options_advice("discard")),
            target_finding(
                "b.remove",
                Level::Warning,
                removed_options_advice("discard"),
            ),
            target_finding(
                "c.other",
                Level::Optional,
                added_options_advice("nodiratime"),
            ),
        ],
        &[],
    );
    assert_eq!(
        only_step(&report).rules,
        ["b.remove"],
        "an option is no step"
    );
    assert_eq!(report.conflicts.len(), 1);
    let conflict = &report.conflicts[0];
    assert_eq!(conflict.followed, "b.remove: remove discard");
    assert_eq!(conflict.overruled, "a.add: add discard");
    assert_eq!(conflict.because, "warning takes precedence over advice");
}

#[test]
fn precedence_is_level_then_confidence_then_override_then_name() {
    let measured = |id: &str, level, value: &str| Finding {
        confidence: Confidence::Measured,
        ..target_finding(id, level, sync_method_advice(value))
    };
    let certain =
        |id: &str, level, value: &str| target_finding(id, level, sync_method_advice(value));
    let (advice, warning) = (Level::Advice, Level::Warning);
    let cases = [
        (
            vec![certain("a", advice, "x"), measured("b", warning, "y")],
            vec![("a", "b")],
            "y",
        ),
        (
            vec![measured("a", advice, "x"), certain("b", advice, "y")],
            vec![("a", "b")],
            "y",
        ),
        (
            vec![certain("a", advice, "x"), certain("b", advice, "y")],
            vec![("b", "a")],
            "y",
        ),
        (
            vec![certain("b", advice, "y"), certain("a", advice, "x")],
            vec![],
            "x",
        ),
        // Two rules that override each other: the rule id decides, and the merge terminates.
        (
            vec![certain("a", advice, "x"), certain("b", advice, "y")],
            vec![("b", "a"), ("a", "b")],
            "x",
        ),
    ];
    for (findings, overrides, expected) in cases {
        let report = report_with_overrides(findings, &overrides);
        assert_eq!(
            only_step(&report).advice.change,
            Change::Set(expected.to_owned())
        );
        assert_eq!(report.conflicts.len(), 1);
    }
}

#[test]
fn change_beats_keep_and_value_in_force_is_kept() {
    let changed = report_with_overrides(
        vec![
            target_finding("a.keep", Level::Keep, keep_sync_method_advice()),
            target_finding("b.set", Level::Advice, sync_method_advice("fdatasync")),
        ],
        &[],
    );
    assert_eq!(only_step(&changed).rules, ["b.set"]);
    assert!(changed.conflicts.is_empty());

    let now = Reading::known(
        Value::Text("fdatasync".to_owned()),
        Source::from_system_call("test"),
    );
    let same = Advice {
        current: now,
        ..sync_method_advice("fdatasync")
    };
    let kept = report_with_overrides(vec![target_finding("b.set", Level::Advice, same)], &[]);
    assert_eq!(
        only_step(&kept).advice.change,
        Change::Keep,
        "what is so already is kept"
    );
}

#[test]
fn lower_ranks_become_alternatives() {
    let choice = |id: &str, level, value: &str, rank, companion: &str| {
        let filesystem = Advice {
            rank: Some(rank),
            ..sample_reports::advice_without_current_value(
                "filesystem",
                Change::Set(value.to_owned()),
            )
        };
        let mkfs = sample_reports::advice_without_current_value(
            "mkfs.options",
            Change::Add(vec![companion.to_owned()]),
        );
        sample_reports::applying_finding(id, &target_subject(), level, vec![filesystem, mkfs])
    };
    let report = report_with_overrides(
        vec![
            choice("fs.btrfs", Level::Optional, "btrfs", 3, "-m dup"),
            choice("fs.xfs", Level::Optional, "xfs", 2, "-m reflink=0"),
            choice("fs.ext4", Level::Advice, "ext4", 1, "-m 1"),
        ],
        &[],
    );
    let steps = &report.plans[0].steps;
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0].advice.change, Change::Set("ext4".to_owned()));
    let others: Vec<(u32, &str)> = steps[0]
        .alternatives
        .iter()
        .map(|other| (other.rank, other.value.as_str()))
        .collect();
    assert_eq!(others, [(2, "xfs"), (3, "btrfs")]);
    assert_eq!(steps[1].result.as_deref(), Some("-m 1"));
    assert!(report.conflicts.is_empty(), "{:?}", report.conflicts);
    assert!(report.plans[0].options.is_empty());
}

#[test]
fn change_of_level_keep_is_an_option() {
    let change = added_options_advice("noatime");
    let report = report_with_overrides(vec![target_finding("a.keep", Level::Keep, change)], &[]);
    assert!(report.plans[0].steps.is_empty());
    assert_eq!(report.plans[0].options.len(), 1);
}

#[test]
fn refused_advice_is_only_withheld() {
    let report = report_with_overrides(
        vec![
            target_finding(
                "a.refused",
                Level::Critical,
                added_options_advice("refused"),
            ),
            target_finding("b.option", Level::Optional, added_options_advice("refused")),
            target_finding("c.fine", Level::Advice, added_options_advice("noatime")),
        ],
        &[],
    );
    assert_eq!(only_step(&report).rules, ["c.fine"]);
    assert!(report.plans[0].options.is_empty());
    assert_eq!(report.withheld.len(), 2);
    assert!(
        report
            .withheld
            .iter()
            .all(|one| one.because == "this kernel refuses it")
    );
    let mut rest = report.clone();
    rest.withheld.clear();
    assert!(!crate::json::render_report(&rest).contains("\"refused\""));
}

#[test]
fn steps_come_in_order_of_application() {
    let of = |setting: &str, level| {
        sample_reports::applying_finding(
            &format!("rule.{setting}"),
            &target_subject(),
            level,
            vec![sample_reports::advice_without_current_value(
                setting,
                Change::Set("x".to_owned()),
            )],
        )
    };
    let kept = sample_reports::applying_finding(
        "rule.keep",
        &target_subject(),
        Level::Keep,
        vec![sample_reports::advice_without_current_value(
            "block.scheduler",
            Change::Keep,
        )],
    );
    let report = report_with_overrides(
        vec![
            kept,
            of("pg.fsync", Level::Critical),
            of("directory.attributes", Level::Advice),
            of("mount.options", Level::Advice),
            of("pg.commit_delay", Level::Advice),
            of("mkfs.options", Level::Advice),
            of("filesystem", Level::Advice),
            of("block.write_cache", Level::Warning),
        ],
        &[],
    );
    let order: Vec<&str> = report.plans[0]
        .steps
        .iter()
        .map(|step| step.advice.setting.name)
        .collect();
    assert_eq!(
        order,
        [
            "block.write_cache",
            "filesystem",
            "mkfs.options",
            "mount.options",
            "directory.attributes",
            "pg.fsync",
            "pg.commit_delay",
            "block.scheduler",
        ]
    );
}

fn any_finding() -> impl Strategy<Value = Finding> {
    let word = prop::sample::select(vec![
        "noatime",
        "relatime",
        "discard",
        "nodiscard",
        "barrier=1",
        "nobarrier",
        "data=journal",
        "refused",
    ]);
    // The options of one change belong to different families, because the loader rejects a rule
    // that contradicts itself.
    let words = prop::collection::vec(word, 1..3).prop_map(|words| {
        let mut seen = BTreeSet::new();
        words
            .into_iter()
            .filter(|word| seen.insert(mount_and_mkfs_options::exclusive_mount_option_family(word)))
            .map(str::to_owned)
            .collect()
    });
    let change = (words, 0..3).prop_map(|(words, kind)| match kind {
        0 => Change::Add(words),
        1 => Change::Remove(words),
        _ => Change::Keep,
    });
    let level = prop::sample::select(Level::ALL.to_vec());
    let confidence = prop::sample::select(Confidence::ALL.to_vec());
    ("[a-d]", change, level, confidence, any::<bool>()).prop_map(
        |(id, change, level, confidence, high)| {
            let subject = if high {
                target_subject()
            } else {
                mount_subject()
            };
            let advice = Advice {
                reach: EffectScope::ThisMount,
                risk: Risk::None,
                ..sample_reports::advice_without_current_value("mount.options", change)
            };
            Finding {
                confidence,
                ..sample_reports::applying_finding(&id, &subject, level, vec![advice])
            }
        },
    )
}

proptest! {
    #[test]
    fn plan_steps_are_unique_and_compatible(findings in prop::collection::vec(any_finding(), 0..8)) {
        let report = report_with_overrides(findings, &[("d", "a"), ("a", "d"), ("b", "c")]);
        let plan = &report.plans[0];
        let mut seen = BTreeSet::new();
        for step in &plan.steps {
            prop_assert!(seen.insert((&step.subject, &step.advice.setting)));
            let (add, remove) = (step.advice.change.set_or_added_values(), step.advice.change.removed_options());
            for (at, word) in add.iter().enumerate() {
                prop_assert!(!remove.contains(word) && word != "refused");
                prop_assert!(!add[at + 1..].iter().any(|other| mount_and_mkfs_options::are_exclusive_options(SettingKind::MountOptions, word, other)));
            }
            if step.advice.change != Change::Keep {
                prop_assert!(step.level != Level::Optional);
                let result = step.result.as_deref().unwrap_or_default();
                prop_assert!(add.iter().all(|word| result.split(',').any(|one| one == word)));
                prop_assert!(!remove.iter().any(|word| result.split(',').any(|one| one == word)));
            }
        }
    }
}
