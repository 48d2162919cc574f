//! What to fix first: the changes of a plan and the findings beside it, each once, most urgent first.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::model::answer::Topic;
use super::{Report, Step, TargetSummary};
use crate::facts::{Reading, Subject, Value};
use crate::quote::Command;
use crate::rules::{Advice, Basis, Finding, Level, Outcome, Risk};
use crate::settings::{Setting, SettingKind};

/// One entry.
#[derive(Clone, Debug)]
pub struct Fix<'r> {
    pub level: Level,
    pub title: String,
    pub subject: &'r Subject,
    /// The setting that it changes, where it is a step of the plan.
    pub setting: Option<&'static Setting>,
    pub risk: Risk,
    pub commands: Vec<Command>,
    /// What to do, where no command does it.
    pub remedy: Option<String>,
    /// Where the value in force was read.
    pub seen: Option<String>,
    pub rules: Vec<String>,
    basis: Basis,
}

/// The entries about a target, with the findings about it.
pub fn of_target<'r>(report: &'r Report, target: &TargetSummary, about: &[&'r Finding]) -> Vec<Fix<'r>> {
    let about: Vec<&Finding> =
        about.iter().copied().filter(|finding| finding.outcome == Outcome::Applies).collect();
    let steps = report.plan(&target.target).into_iter().flat_map(|plan| &plan.steps);
    let mut fixes: Vec<Fix<'_>> =
        steps.filter(|step| !step.keeps()).flat_map(|step| of_step(step, &about)).collect();
    let planned: BTreeSet<String> = fixes.iter().flat_map(|fix| fix.rules.iter().cloned()).collect();
    let beside = about.iter().filter(|finding| !planned.contains(&finding.rule));
    fixes.extend(beside.filter(|finding| finding.level >= Level::Warning).map(|finding| of_finding(finding)));
    // Sorting is stable, so that the order of the plan decides last.
    fixes.sort_by_key(|fix| (Reverse(fix.level), Reverse(fix.basis == Basis::Measured), place(fix.setting)));
    joined(fixes)
}

/// The entries about what belongs to no target.
pub fn of_others<'r>(findings: &[&'r Finding]) -> Vec<Fix<'r>> {
    let applies = findings.iter().filter(|finding| finding.outcome == Outcome::Applies);
    let mut fixes: Vec<Fix<'_>> = applies
        .filter(|finding| finding.level >= Level::Warning)
        .map(|finding| of_finding(finding))
        .collect();
    fixes.sort_by_key(|fix| Reverse(fix.level));
    joined(fixes)
}

/// A step of several rules is an entry for each.
fn of_step<'r>(step: &'r Step, about: &[&'r Finding]) -> Vec<Fix<'r>> {
    let advises = |finding: &Finding, advice: &Advice| {
        step.rules.contains(&finding.rule) && advice.setting == step.advice.setting
    };
    let mut seen = BTreeSet::new();
    let mut fixes = Vec::new();
    for finding in about {
        let Some(advice) = finding.advice.iter().find(|advice| advises(finding, advice)) else { continue };
        if seen.insert(&finding.rule) {
            let alone = if step.rules.len() == 1 { &step.advice } else { advice };
            fixes.push(Fix {
                setting: Some(advice.setting),
                risk: alone.risk,
                commands: alone.apply.clone(),
                seen: seen_in(&step.advice),
                ..of_finding(finding)
            });
        }
    }
    if fixes.is_empty() {
        fixes.push(Fix {
            level: step.level,
            title: step.title.clone(),
            subject: &step.subject,
            setting: Some(step.advice.setting),
            risk: step.advice.risk,
            commands: step.advice.apply.clone(),
            remedy: None,
            seen: seen_in(&step.advice),
            rules: step.rules.clone(),
            basis: step.basis,
        });
    }
    fixes
}

fn of_finding(finding: &Finding) -> Fix<'_> {
    Fix {
        level: finding.level,
        title: finding.title.trim_end_matches('.').to_owned(),
        subject: &finding.subject,
        setting: None,
        risk: Risk::None,
        commands: Vec::new(),
        remedy: finding.remedy.as_ref().map(|remedy| remedy.says.clone()),
        seen: None,
        rules: vec![finding.rule.clone()],
        basis: finding.basis,
    }
}

fn seen_in(advice: &Advice) -> Option<String> {
    match &advice.current {
        Reading::<Value>::Known { source, .. } => Some(source.to_string()),
        Reading::Unknown { .. } => None,
    }
}

/// Entries with the same commands, or of one rule in the same words, are one; a finding that repeats the verdict joins the first critical one.
fn joined(fixes: Vec<Fix<'_>>) -> Vec<Fix<'_>> {
    let mut out: Vec<Fix<'_>> = Vec::new();
    let mut verdicts = Vec::new();
    for fix in fixes {
        let same = |other: &&mut Fix<'_>| {
            let alike = !fix.commands.is_empty() && other.commands == fix.commands;
            alike || (other.rules == fix.rules && other.title == fix.title)
        };
        if fix.rules.iter().all(|rule| rule.starts_with("verdict.")) {
            verdicts.push(fix);
        } else if let Some(other) = out.iter_mut().find(same) {
            let rules = fix.rules.into_iter().filter(|rule| !other.rules.contains(rule));
            other.rules.extend(rules.collect::<Vec<_>>());
            let commands = fix.commands.into_iter().filter(|command| !other.commands.contains(command));
            other.commands.extend(commands.collect::<Vec<_>>());
            other.risk = other.risk.max(fix.risk);
        } else {
            out.push(fix);
        }
    }
    for verdict in verdicts {
        let is_critical =
            |fix: &&mut Fix<'_>| fix.level == Level::Critical && verdict.level == Level::Critical;
        if let Some(cause) = out.iter_mut().find(is_critical) {
            cause.rules.extend(verdict.rules);
        } else {
            let at = out.partition_point(|fix| fix.level >= verdict.level);
            out.insert(at, verdict);
        }
    }
    out
}

/// The place of a setting among the answers; behind them where it is none.
fn place(setting: Option<&'static Setting>) -> usize {
    let Some(setting) = setting else { return Topic::ALL.len() };
    let topic = match (setting.kind, setting.name) {
        (SettingKind::Filesystem | SettingKind::Placement, _) => Some(Topic::Filesystem),
        (SettingKind::MkfsOptions | SettingKind::MkfsFeatures, _) => Some(Topic::MkfsOptions),
        (SettingKind::MountOptions, _) => Some(Topic::MountOptions),
        (_, "pg.wal_sync_method") => Some(Topic::WalSyncMethod),
        (_, "pg.max_wal_size") => Some(Topic::MaxWalSize),
        (_, "mysql.innodb_flush_method") => Some(Topic::FlushMethod),
        (_, "mysql.innodb_flush_log_at_trx_commit") => Some(Topic::FlushLog),
        (_, "mysql.innodb_redo_log_capacity" | "mysql.innodb_log_file_size") => Some(Topic::RedoCapacity),
        _ => None,
    };
    topic
        .map_or(Topic::ALL.len(), |topic| Topic::ALL.iter().position(|one| *one == topic).unwrap_or_default())
}
