use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::distinct::extend_distinct;
use super::model::answer::Topic;
use super::{Report, Step, TargetSummary, mkfs, setting_source};
use walwise_judge::durability::{EvidenceLayer, Verdict, evidence_source_of_rule};
use walwise_judge::rules::{Advice, AdviceBasis, Finding, Level, Outcome, Risk};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::{Scope, Subject};
use walwise_model::settings::{PresentOrBootMount, Setting, SettingKind};

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

pub fn target_fixes<'r>(
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
        let topic = fix.setting.and_then(Topic::from_setting);
        (
            Reverse(fix.level),
            Reverse(fix.basis == AdviceBasis::Measured),
            // Settings without a topic come last.
            topic.is_none(),
            topic,
        )
    });
    merge_fixes(fixes, report.verdict(&target.target))
}

/// Fills in the commands of the plans' steps, or comments that describe a manual change. Steps that
/// have commands of a user's own rule stay unchanged.
pub fn fill_in_step_commands(report: &mut Report) {
    for at in 0..report.plans.len() {
        let Some((target, plan)) = report.targets.get(at).zip(report.plans.get(at)) else {
            continue;
        };
        let mut steps = plan.steps.clone();
        for step in steps.iter_mut().filter(|step| !step.keeps_setting()) {
            let advice = &mut step.advice;
            [advice.apply, advice.verify, advice.undo] =
                apply_verify_undo_commands(report, target, advice);
        }
        if let Some(plan) = report.plans.get_mut(at) {
            plan.steps = steps;
        }
    }
}

fn apply_verify_undo_commands(
    report: &Report,
    target: &TargetSummary,
    advice: &Advice,
) -> [Vec<ShellCommand>; 3] {
    let or = |commands: &[ShellCommand], other: &dyn Fn() -> Option<ShellCommand>| {
        if commands.is_empty() && advice.own.is_empty() {
            other().into_iter().collect()
        } else {
            commands.to_vec()
        }
    };
    let comment = |says: String| Some(ShellCommand::from_comment(&says));
    let is_free_disk = target.kind.is_device();
    let change = advice.change_text_with_units();
    let apply = || match advice.setting.kind {
        // On a free disk, one script checks the disk again and creates the file system with all
        // options.
        _ if is_free_disk => mkfs::walwise_check_command_for_disk(
            report,
            &target.target,
            " --format script --output setup.sh",
        ),
        SettingKind::BootOptions => fstab_export_command(report, target),
        SettingKind::Filesystem | SettingKind::Placement => comment(format!(
            "by hand: stop the server, copy {} to {change}, and start the server from there",
            target.target.name()
        )),
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
        | SettingKind::Other => comment(format!("by hand: {change}")),
    };
    let undo = || {
        comment(if is_free_disk {
            "before: a blank disk".to_owned()
        } else {
            let before = setting_source::current_value_with_source(advice);
            format!("before: {before}")
        })
    };
    [
        or(&advice.apply, &apply),
        or(&advice.verify, &|| {
            report.check_command(&target.target, " --no-probe")
        }),
        or(&advice.undo, &undo),
    ]
}

pub fn fstab_export_command(report: &Report, target: &TargetSummary) -> Option<ShellCommand> {
    report.check_command(&target.target, " --no-probe --format fstab")
}

pub fn untargeted_fixes<'r>(findings: &[&'r Finding]) -> Vec<RecommendedFix<'r>> {
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

pub fn is_verdict_rule(rule: &str) -> bool {
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
    let setting = step.advice.setting;
    // A rule can apply to several disks, but a step is about one of them.
    let is_here = |finding: &Finding| match setting.scope {
        Scope::Device | Scope::Host => finding.subject == step.subject,
        Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target => true,
    };
    let advising = about
        .iter()
        .filter(|finding| step.rules.contains(&finding.rule) && is_here(finding));
    let mut own: Vec<(&Finding, &Advice)> = advising
        .filter_map(|finding| {
            let mut advice = finding.advice.iter();
            Some((*finding, advice.find(|advice| advice.setting == setting)?))
        })
        .collect();
    // `merge_fixes` keeps the first title of fixes with equal commands, so the most severe and
    // riskiest fix comes first.
    own.sort_by_key(|(finding, advice)| (Reverse(finding.level), Reverse(advice.risk)));
    let mut seen = BTreeSet::new();
    own.retain(|(finding, _)| seen.insert(&finding.rule));
    let is_one = step.rules.len() == 1
        || setting.kind.present_or_boot_mount() == Some(PresentOrBootMount::Now);
    let source = step.advice.current.source().map(ToString::to_string);
    let with_commands = |advice: &Advice, fix| {
        let [commands, ..] = apply_verify_undo_commands(report, target, advice);
        RecommendedFix {
            setting: Some(setting),
            risk: advice.risk,
            commands,
            source: source.clone(),
            ..fix
        }
    };
    if own.is_empty() {
        let fix = RecommendedFix {
            level: step.level,
            title: step.title.clone(),
            subject: &step.subject,
            setting: None,
            risk: Risk::None,
            commands: Vec::new(),
            remedy: None,
            source: None,
            rules: step.rules.clone(),
            basis: step.basis,
            observed: BTreeSet::new(),
        };
        return vec![with_commands(&step.advice, fix)];
    }
    own.into_iter()
        .map(|(finding, advice)| {
            let advice = if is_one { &step.advice } else { advice };
            with_commands(advice, fix_from_finding(finding))
        })
        .collect()
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
        let commands: Vec<String> = fix.commands.iter().map(ToString::to_string).collect();
        let title = (fix.subject, fix.rules.clone(), fix.title.clone());
        let known = by_commands
            .get(&commands)
            .filter(|_| !commands.is_empty())
            .or(by_title.get(&title));
        let at = known.copied().unwrap_or(out.len());
        if let Some(other) = out.get_mut(at) {
            extend_distinct(&mut other.rules, fix.rules);
            extend_distinct(&mut other.commands, fix.commands);
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
