use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::model::answer::Topic;
use super::{Plan, Report, Step, TargetSummary, mkfs, setting_source};
use walwise_judge::durability::{EvidenceLayer, Verdict, evidence_source_of_rule};
use walwise_judge::rules::{Advice, AdviceBasis, Finding, Level, Outcome, Risk};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::{Choice, Reading, Scope, Subject, Value};
use walwise_model::settings::{PresentOrBootMount, Setting, SettingKind};

#[derive(Clone, Debug)]
pub struct RecommendedFix<'r> {
    pub level: Level,
    pub title: String,
    pub subject: &'r Subject,
    /// `None` for a finding outside the plan.
    pub setting: Option<&'static Setting>,
    pub risk: Risk,
    pub commands: Vec<ShellCommand>,
    /// Instruction for a manual change, if no command makes the change.
    pub remedy: Option<String>,
    /// The source of the value in force, such as a file and line.
    pub source: Option<String>,
    pub rules: Vec<String>,
    basis: AdviceBasis,
    /// The subjects whose facts were read; empty unless the fix is critical.
    observed: BTreeSet<&'r Subject>,
}

impl RecommendedFix<'_> {
    /// Whether the fix addresses the cause that decides the verdict: a rule that caps the verdict,
    /// or a critical finding from facts of the layer at fault.
    fn addresses_verdict_cause(&self, verdict: Option<&Verdict>) -> bool {
        let mut evidence = verdict.into_iter().flat_map(Verdict::deciding_evidence);
        evidence.any(|one| match one.layer {
            EvidenceLayer::Rule => self
                .rules
                .iter()
                .any(|id| one.source == evidence_source_of_rule(id)),
            EvidenceLayer::Database
            | EvidenceLayer::Kernel
            | EvidenceLayer::Device
            | EvidenceLayer::Measurement => self.observed.contains(&one.subject),
        })
    }
}

pub(crate) fn target_fixes<'r>(
    report: &'r Report,
    target: &TargetSummary,
    about: &[&'r Finding],
) -> Vec<RecommendedFix<'r>> {
    let about: Vec<&Finding> = about
        .iter()
        .copied()
        .filter(|finding| finding.outcome == Outcome::Applies)
        .collect();
    let steps = report.steps(&target.target).iter();
    let changes = steps.filter(|step| !step.keeps_setting());
    let mut fixes: Vec<RecommendedFix<'_>> = changes
        .flat_map(|step| step_fixes(report, target, step, &about))
        .collect();
    let planned: BTreeSet<String> = fixes
        .iter()
        .flat_map(|fix| fix.rules.iter().cloned())
        .collect();
    let beside = about
        .iter()
        .filter(|finding| !planned.contains(&finding.rule));
    fixes.extend(
        beside
            .filter(|finding| finding.level >= Level::Warning)
            .map(|finding| fix_from_finding(finding)),
    );
    // The sort is stable, so fixes with equal keys stay in the order of the plan.
    fixes.sort_by_key(|fix| {
        (
            Reverse(fix.level),
            Reverse(fix.basis == AdviceBasis::Measured),
            topic_position(fix.setting),
        )
    });
    merge_fixes(fixes, report.verdict(&target.target))
}

fn commands_to_apply(
    report: &Report,
    target: &TargetSummary,
    advice: &Advice,
) -> Vec<ShellCommand> {
    let [apply, ..] = apply_verify_undo_commands(report, target, advice);
    apply
}

/// Fills in the commands of the plans' steps, or comments that describe a manual change. Steps that
/// have commands of a user's own rule stay unchanged.
pub(crate) fn fill_in_step_commands(report: &mut Report) {
    let of_plan = |(target, plan): (&TargetSummary, &Plan)| {
        let step = |step: &Step| {
            (!step.keeps_setting())
                .then(|| apply_verify_undo_commands(report, target, &step.advice))
        };
        plan.steps.iter().map(step).collect::<Vec<_>>()
    };
    let completed: Vec<_> = report
        .targets
        .iter()
        .zip(&report.plans)
        .map(of_plan)
        .collect();
    for (plan, steps) in report.plans.iter_mut().zip(completed) {
        for (step, commands) in plan.steps.iter_mut().zip(steps) {
            let Some([apply, verify, undo]) = commands else {
                continue;
            };
            step.advice = Advice {
                apply,
                verify,
                undo,
                ..step.advice.clone()
            };
        }
    }
}

fn apply_verify_undo_commands(
    report: &Report,
    target: &TargetSummary,
    advice: &Advice,
) -> [Vec<ShellCommand>; 3] {
    let or = |commands: &[ShellCommand], other: &dyn Fn() -> Vec<ShellCommand>| {
        if commands.is_empty() && advice.own.is_empty() {
            other()
        } else {
            commands.to_vec()
        }
    };
    let by_hand = |says: &str| vec![ShellCommand::from_comment(says)];
    // On a free disk, one script checks the disk again and creates the file system with all
    // options.
    let script = || {
        mkfs::walwise_check_command_for_disk(
            report,
            &target.target,
            " --format script --output setup.sh",
        )
        .into_iter()
        .collect()
    };
    let apply = || match advice.setting.kind {
        SettingKind::BootOptions => fstab_export_command(report, target).into_iter().collect(),
        SettingKind::Filesystem | SettingKind::Placement => {
            let (from, to) = (target.target.name(), advice.change_text_with_units());
            by_hand(&format!(
                "by hand: stop the server, copy {from} to {to}, and start the server from there"
            ))
        }
        SettingKind::MountOptions
        | SettingKind::MkfsOptions
        | SettingKind::MkfsFeatures
        | SettingKind::FastCommit
        | SettingKind::DirectoryFlags
        | SettingKind::Trim
        | SettingKind::Scheduler
        | SettingKind::Queue
        | SettingKind::Postgres
        | SettingKind::InitDb
        | SettingKind::Mysql
        | SettingKind::Other => by_hand(&format!("by hand: {}", advice.change_text_with_units())),
    };
    let verify = || {
        let check = report.check_command(&target.target, " --no-probe");
        check.into_iter().collect()
    };
    let undo = || {
        let before = if target.kind.is_device() {
            "a blank disk".to_owned()
        } else {
            setting_source::current_value_with_source(advice)
        };
        by_hand(&format!("before: {before}"))
    };
    let is_free_disk = target.kind.is_device();
    let apply: &dyn Fn() -> Vec<ShellCommand> = if is_free_disk { &script } else { &apply };
    [
        or(&advice.apply, apply),
        or(&advice.verify, &verify),
        or(&advice.undo, &undo),
    ]
}

pub(crate) fn fstab_export_command(
    report: &Report,
    target: &TargetSummary,
) -> Option<ShellCommand> {
    report.check_command(&target.target, " --no-probe --format fstab")
}

pub(crate) fn untargeted_fixes<'r>(findings: &[&'r Finding]) -> Vec<RecommendedFix<'r>> {
    let applies = findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Applies);
    let mut fixes: Vec<RecommendedFix<'_>> = applies
        .filter(|finding| finding.level >= Level::Warning)
        .map(|finding| fix_from_finding(finding))
        .collect();
    fixes.sort_by_key(|fix| Reverse(fix.level));
    merge_fixes(fixes, None)
}

pub(crate) fn is_verdict_rule(rule: &str) -> bool {
    rule.starts_with("verdict.")
}

/// Makes the fixes of one step, one per rule that advises it. Each fix about mount options has all
/// commands of the step, because one remount makes all changes of the step.
fn step_fixes<'r>(
    report: &Report,
    target: &TargetSummary,
    step: &'r Step,
    about: &[&'r Finding],
) -> Vec<RecommendedFix<'r>> {
    let advises = |finding: &Finding, advice: &Advice| {
        step.rules.contains(&finding.rule) && advice.setting == step.advice.setting
    };
    // A rule can apply to several disks, but a step is about one of them.
    let is_here = |finding: &&&Finding| match step.advice.setting.scope {
        Scope::Device | Scope::Host => finding.subject == step.subject,
        Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target => true,
    };
    let mut seen = BTreeSet::new();
    let mut fixes = Vec::new();
    let with_advice = |finding: &&'r Finding| {
        Some((
            *finding,
            finding
                .advice
                .iter()
                .find(|advice| advises(finding, advice))?,
        ))
    };
    let mut own: Vec<(&Finding, &Advice)> = about
        .iter()
        .filter(is_here)
        .filter_map(with_advice)
        .collect();
    // `merge_fixes` keeps the first title of fixes with equal commands, so the most severe and
    // riskiest fix comes first.
    own.sort_by_key(|(finding, advice)| (Reverse(finding.level), Reverse(advice.risk)));
    for (finding, advice) in own {
        if seen.insert(&finding.rule) {
            let is_one = step.rules.len() == 1
                || step.advice.setting.kind.present_or_boot_mount()
                    == Some(PresentOrBootMount::Now);
            let alone = if is_one { &step.advice } else { advice };
            fixes.push(RecommendedFix {
                setting: Some(advice.setting),
                risk: alone.risk,
                commands: commands_to_apply(report, target, alone),
                source: source_of_current_value(&step.advice),
                ..fix_from_finding(finding)
            });
        }
    }
    if fixes.is_empty() {
        fixes.push(RecommendedFix {
            level: step.level,
            title: step.title.clone(),
            subject: &step.subject,
            setting: Some(step.advice.setting),
            risk: step.advice.risk,
            commands: commands_to_apply(report, target, &step.advice),
            remedy: None,
            source: source_of_current_value(&step.advice),
            rules: step.rules.clone(),
            basis: step.basis,
            observed: BTreeSet::new(),
        });
    }
    fixes
}

fn fix_from_finding(finding: &Finding) -> RecommendedFix<'_> {
    RecommendedFix {
        level: finding.level,
        title: finding.title.trim_end_matches('.').to_owned(),
        subject: &finding.subject,
        setting: None,
        risk: Risk::None,
        commands: Vec::new(),
        remedy: finding.remedy.as_ref().map(|remedy| remedy.text.clone()),
        source: None,
        rules: vec![finding.rule.clone()],
        basis: finding.basis,
        observed: finding.observed.iter().collect(),
    }
}

fn source_of_current_value(advice: &Advice) -> Option<String> {
    match &advice.current {
        Reading::<Value>::Known { source, .. } => Some(source.to_string()),
        Reading::Unknown { .. } => None,
    }
}

/// Merges fixes with equal commands, and fixes with equal subject, rules and title. A fix that
/// restates the verdict is merged into the fix of its cause.
fn merge_fixes<'r>(
    fixes: Vec<RecommendedFix<'r>>,
    verdict: Option<&Verdict>,
) -> Vec<RecommendedFix<'r>> {
    let mut out: Vec<RecommendedFix<'_>> = Vec::new();
    let (mut by_commands, mut by_title) = (BTreeMap::new(), BTreeMap::new());
    let mut verdicts = Vec::new();
    for fix in fixes {
        if fix.rules.iter().all(|rule| is_verdict_rule(rule)) {
            verdicts.push(fix);
            continue;
        }
        let commands: Vec<String> = fix
            .commands
            .iter()
            .map(|command| command.as_str().to_owned())
            .collect();
        let title = (fix.subject, fix.rules.clone(), fix.title.clone());
        let known = by_commands
            .get(&commands)
            .filter(|_| !commands.is_empty())
            .or(by_title.get(&title));
        let at = known.copied().unwrap_or(out.len());
        if let Some(other) = out.get_mut(at) {
            let rules = fix
                .rules
                .into_iter()
                .filter(|rule| !other.rules.contains(rule));
            other.rules.extend(rules.collect::<Vec<_>>());
            let commands = fix
                .commands
                .into_iter()
                .filter(|command| !other.commands.contains(command));
            other.commands.extend(commands.collect::<Vec<_>>());
            other.observed.extend(fix.observed);
            other.risk = other.risk.max(fix.risk);
        } else {
            out.push(fix);
        }
        by_commands.entry(commands).or_insert(at);
        by_title.entry(title).or_insert(at);
    }
    for restated in verdicts {
        let is_cause = |fix: &&mut RecommendedFix<'_>| {
            fix.level >= restated.level && fix.addresses_verdict_cause(verdict)
        };
        if let Some(cause) = out.iter_mut().find(is_cause) {
            cause.rules.extend(restated.rules);
        } else {
            let at = out.partition_point(|fix| fix.level >= restated.level);
            out.insert(at, restated);
        }
    }
    out
}

/// The position of the setting's topic in [`Topic::ALL`]; settings without a topic come last.
fn topic_position(setting: Option<&'static Setting>) -> usize {
    let topic = setting.and_then(Topic::from_setting);
    Topic::ALL
        .iter()
        .position(|one| Some(*one) == topic)
        .unwrap_or(Topic::ALL.len())
}
