//! Properties of every plan: no setting twice, an executable order, and no step without a finding.
//! Tested on every recorded host and with findings that no rule makes.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use walwise_judge::rules::{
    Advice, AdviceBasis, Change, Confidence, EffectScope, Finding, Level, Outcome, Risk,
};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::catalog::{mount, target};
use walwise_model::facts::{Choice, FactSet, Reading, Scope, Source, Subject, Value};
use walwise_model::settings;
use walwise_report::{Plan, Report, Step, TargetSummary};

use crate::support::{recorded, reports};

fn step_stack_rank(step: &Step) -> u8 {
    match step.advice.setting.scope {
        Scope::Device | Scope::Host => 0,
        Scope::Mount | Scope::Boot => 1,
        Scope::Target => 2,
        Scope::Cluster => 3,
    }
}

fn step_keeps_setting(step: &Step) -> bool {
    step.advice.change == Change::Keep
}

fn plan_violations(report: &Report, target: &TargetSummary, plan: &Plan) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for step in &plan.steps {
        if !seen.insert((&step.subject, &step.advice.setting)) {
            wrong.push(format!("{} of {} twice", step.advice.setting, step.subject));
        }
        wrong.extend(step_without_finding(report, target, step));
        if !step_keeps_setting(step) && step.level == Level::Optional && step.advice.rank.is_none()
        {
            wrong.push(format!(
                "{} is only allowed, and a step",
                step.advice.setting
            ));
        }
    }
    let blank = target.kind.is_device();
    let moves = |step: &Step| !blank && step.advice.risk == Risk::NeedsNewFilesystem;
    for (at, before) in plan.steps.iter().enumerate() {
        for after in &plan.steps[at + 1..] {
            let bad = match (step_keeps_setting(before), step_keeps_setting(after)) {
                (true, false) => "what is kept comes before a change",
                (false, false) if moves(before) && !moves(after) => {
                    "a new file system before what helps without it"
                }
                (false, false)
                    if moves(before) == moves(after)
                        && step_stack_rank(before) > step_stack_rank(after) =>
                {
                    "what stands on it comes first"
                }
                (false, false)
                    if blank
                        && after.advice.setting.name == "filesystem"
                        && step_stack_rank(before) > 0 =>
                {
                    "something is done to a file system before it is chosen"
                }
                _ => continue,
            };
            wrong.push(format!(
                "{bad}: {}, {}",
                before.advice.setting, after.advice.setting
            ));
        }
    }
    let told: Vec<(Risk, &Subject)> = plan
        .interruptions()
        .into_iter()
        .flat_map(|(risk, on)| on.into_iter().map(move |on| (risk, on)))
        .collect();
    let once: BTreeSet<&(Risk, &Subject)> = told.iter().collect();
    if once.len() != told.len() {
        wrong.push("what the plan takes is said twice".to_owned());
    }
    for step in plan
        .steps
        .iter()
        .filter(|step| !step_keeps_setting(step) && step.advice.risk == Risk::NeedsRestart)
    {
        let waits = step.advice.reach == EffectScope::NextBoot;
        if !waits && !told.contains(&(Risk::NeedsRestart, &step.subject)) {
            wrong.push(format!(
                "the restart for {} is not said",
                step.advice.setting
            ));
        }
    }
    wrong
}

fn step_without_finding(report: &Report, target: &TargetSummary, step: &Step) -> Option<String> {
    let advice: Vec<&Advice> = report
        .findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Applies)
        .filter(|finding| {
            step.rules.contains(&finding.rule) && target.subjects.contains(&finding.subject)
        })
        .flat_map(|finding| &finding.advice)
        .filter(|advice| advice.setting == step.advice.setting)
        .collect();
    let every = |words: &[String], of: fn(&Change) -> &[String]| {
        words.iter().all(|word| {
            advice
                .iter()
                .any(|advice| of(&advice.change).contains(word))
        })
    };
    let change = &step.advice.change;
    let based = match change {
        // The plan keeps a value only if some finding advises a value for this setting.
        Change::Keep => !advice.is_empty(),
        change => {
            every(change.set_or_added_values(), Change::set_or_added_values)
                && every(change.removed_options(), Change::removed_options)
        }
    };
    // The plan merges the commands of mount options from all advice, and describes a step by hand
    // if no advice has commands.
    let is_own = step.advice.setting.kind.present_or_boot_mount().is_some()
        || advice.iter().all(|advice| advice.apply.is_empty());
    let is_found =
        |command: &ShellCommand| advice.iter().any(|advice| advice.apply.contains(command));
    let commands = target.kind.is_device() || is_own || step.advice.apply.iter().all(is_found);
    (!based || !commands).then(|| {
        format!(
            "{} of {}: {} is in no finding",
            step.advice.setting,
            step.subject,
            change.describe_change()
        )
    })
}

fn all_plan_violations(report: &Report) -> Vec<String> {
    let of = |target: &TargetSummary| {
        plan_violations(report, target, report.plan(&target.target).unwrap())
    };
    report.targets.iter().flat_map(of).collect()
}

#[test]
fn plans_of_recorded_hosts_are_consistent() {
    let (mut steps, mut blank) = (0, 0);
    for (path, report) in recorded::recorded_host_reports() {
        assert_eq!(all_plan_violations(report), [""; 0], "{}", path.display());
        steps += report
            .plans
            .iter()
            .map(|plan| plan.steps.len())
            .sum::<usize>();
        blank += report
            .targets
            .iter()
            .filter(|target| target.kind.is_device())
            .count();
    }
    assert!(
        steps > 100 && blank > 0,
        "{steps} steps and {blank} free disks are no proof"
    );
}

fn target_facts(blank: bool) -> FactSet {
    let seen = || Source::from_system_call("test");
    let (place, fs, disk) = (
        Subject::target("/srv/a"),
        Subject::mount("/srv"),
        Subject::device("sda"),
    );
    let mut facts = FactSet::default();
    let kind = if blank {
        target::TargetKind::Device
    } else {
        target::TargetKind::Directory
    };
    facts.insert_known(&place, &target::KIND, kind, seen());
    if blank {
        facts.add_layer_below(&place, &disk);
    } else {
        facts.insert_known(
            &fs,
            &mount::OPTIONS,
            vec!["rw".to_owned(), "relatime".to_owned()],
            seen(),
        );
        facts.add_layer_below(&place, &fs);
        facts.add_layer_below(&fs, &disk);
        facts.set_fact_link(&place, &fs);
        facts.set_fact_link(&Subject::boot("/srv"), &fs);
        facts.add_subject(&Subject::boot("/srv"));
        facts.add_subject(&Subject::cluster("/srv/a"));
        facts.set_fact_link(&place, &Subject::cluster("/srv/a"));
    }
    facts
}

fn arbitrary_finding(blank: bool) -> impl Strategy<Value = Finding> {
    let setting = prop::sample::select(settings::ALL.iter().collect::<Vec<_>>());
    let word = prop::sample::select(vec![
        "ext4", "xfs", "noatime", "relatime", "on", "off", "-m 1", "none",
    ]);
    let change = (prop::collection::btree_set(word, 1..3), 0..3, any::<bool>());
    let rank = prop::option::of(1u32..4);
    let weights = (
        prop::sample::select(Level::ALL.to_vec()),
        prop::sample::select(Confidence::ALL.to_vec()),
        prop::sample::select(Risk::ALL.to_vec()),
        prop::sample::select(EffectScope::ALL.to_vec()),
    );
    let subjects = if blank {
        vec![Subject::target("/srv/a"), Subject::device("sda")]
    } else {
        vec![
            Subject::target("/srv/a"),
            Subject::mount("/srv"),
            Subject::boot("/srv"),
            Subject::device("sda"),
            Subject::cluster("/srv/a"),
        ]
    };
    (
        "[a-e]",
        setting,
        change,
        weights,
        rank,
        prop::sample::select(subjects),
        any::<bool>(),
    )
        .prop_map(
            |(
                rule,
                setting,
                (words, kind, so),
                (level, confidence, risk, reach),
                rank,
                subject,
                applies,
            )| {
                let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
                let change = match (setting.shape, kind) {
                    (_, 0) => Change::Keep,
                    (settings::ValueShape::Single, _) => Change::Set(words[0].clone()),
                    (settings::ValueShape::Options, 1) => Change::Add(vec![words[0].clone()]),
                    (settings::ValueShape::Options, _) => Change::Remove(words.clone()),
                };
                let current = if so {
                    Reading::known(
                        Value::Text(words[0].clone()),
                        Source::from_system_call("test"),
                    )
                } else {
                    Reading::not_collected()
                };
                let command = ShellCommand::new("set ")
                    .append_literal(setting.name)
                    .append_literal(" ")
                    .append_quoted_name_even_with_dash(&change.describe_change());
                let advice = Advice {
                    own: Vec::new(),
                    setting,
                    apply: if change == Change::Keep {
                        Vec::new()
                    } else {
                        command.into_iter().collect()
                    },
                    change,
                    current,
                    reach,
                    risk,
                    rank: rank.filter(|_| setting.shape == settings::ValueShape::Single),
                    tradeoff: None,
                    verify: Vec::new(),
                    undo: Vec::new(),
                };
                Finding {
                    // One rule gives at most one piece of advice for a setting of a subject.
                    rule: format!("{rule}.{}.{}", setting.name, subject),
                    subject,
                    outcome: if applies {
                        Outcome::Applies
                    } else {
                        Outcome::DoesNotApply
                    },
                    level,
                    confidence,
                    basis: AdviceBasis::Documented,
                    settings: Arc::default(),
                    title: "made up".to_owned(),
                    because: Arc::default(),
                    refs: Arc::default(),
                    advice: vec![advice],
                    held_back: Vec::new(),
                    observed: std::collections::BTreeSet::new(),
                    remedy: None,
                    trace: None,
                }
            },
        )
}

proptest! {
    #[test]
    fn plans_of_any_findings_are_consistent(
        (blank, findings) in any::<bool>().prop_flat_map(|blank| (Just(blank), prop::collection::vec(arbitrary_finding(blank), 0..12)))
    ) {
        let facts = target_facts(blank);
        let mut once = BTreeSet::new();
        let findings = findings.into_iter().filter(|finding| once.insert(finding.rule.clone())).collect();
        let report = reports::report_of_findings(&facts, findings);
        prop_assert_eq!(all_plan_violations(&report), [""; 0]);
    }
}
