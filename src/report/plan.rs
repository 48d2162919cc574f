//! Findings → one plan per target: no setting twice, in order of application, with settings to keep last.
//!
//! Advice is assigned to the subject that owns the setting (a target's rule may advise its mount), then the wishes of
//! several rules are joined in [`join`]. Options never enter the steps: a plan is a recommendation, and an option is
//! only allowed. Level decides precedence before anything else, so that no preference overrides possible loss of data.

mod join;
mod takes;

pub use join::Overrides;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Conflict, Plan, Step, TargetSummary, mkfs};
use crate::facts::{FactSet, Scope, Subject};
use crate::rules::{Change, Finding, Level, Outcome, Risk};
use crate::settings::{Setting, SettingKind};
use join::AdviceItem;

/// The plan of one target from the findings about it; new conflicts are added to `conflicts`.
pub fn plan(
    facts: &FactSet,
    target: &TargetSummary,
    findings: &[&Finding],
    overrides: &Overrides,
    conflicts: &mut Vec<Conflict>,
) -> Plan {
    let all: Vec<AdviceItem<'_>> = findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Applies)
        .flat_map(|finding| finding.advice.iter().map(move |advice| AdviceItem { finding, advice }))
        .collect();
    let chosen = chosen_filesystem(&all);
    let other = |piece: &AdviceItem<'_>| {
        !piece.advice.setting.kind.is_filesystem()
            && chosen.is_some_and(|chosen| filesystem_of(piece).is_some_and(|of| of != chosen))
    };
    let mut groups: BTreeMap<(Subject, &Setting), Vec<AdviceItem<'_>>> = BTreeMap::new();
    let mut options = Vec::new();
    for piece in all.iter().copied().filter(|piece| !other(piece)) {
        let subject = home(facts, &target.target, &piece.finding.subject, piece.advice.setting);
        if piece.finding.level == Level::Option && piece.advice.rank.is_none() && !piece.keeps() {
            options.extend(join::join(facts, &subject, &[piece], overrides, &mut Vec::new()));
        } else {
            groups.entry((subject, piece.advice.setting)).or_default().push(piece);
        }
    }
    let mut steps: Vec<Step> = groups
        .into_iter()
        .filter_map(|((subject, _), pieces)| join::join(facts, &subject, &pieces, overrides, conflicts))
        .collect();
    let blank = target.kind.is_device();
    steps.sort_by_cached_key(|step| order(step, blank));
    if blank {
        mkfs::complete(&mut steps, target.target.name());
    }
    options.sort_by_cached_key(|step| order(step, blank));
    Plan { target: target.target.clone(), steps, options }
}

/// The owner of a setting, seen from a finding within a target. Settings of a free disk's mount belong to the target
/// itself, because there is no mount yet.
fn home(facts: &FactSet, target: &Subject, subject: &Subject, setting: &Setting) -> Subject {
    let owner = match setting.scope {
        // Only the rule's own subject tells which of the devices below is meant.
        Scope::Device | Scope::Host => return subject.clone(),
        owner => owner,
    };
    let of = |subject| facts.resolve(subject, owner);
    of(subject).or_else(|| of(target)).unwrap_or_else(|| match owner {
        Scope::Mount => target.clone(),
        _ => subject.clone(),
    })
}

/// The first choice where a file system is to be chosen.
fn chosen_filesystem<'a>(pieces: &[AdviceItem<'a>]) -> Option<&'a str> {
    let choices = pieces.iter().filter(|p| p.advice.setting.kind.is_filesystem() && !p.keeps());
    let place = |p: &&AdviceItem<'_>| {
        (p.advice.rank.unwrap_or(1), Reverse(p.finding.level), Reverse(p.finding.confidence))
    };
    choices.min_by_key(place)?.advice.change.values().first().map(String::as_str)
}

/// The file system that advice is about: the one that its finding chooses, or that its commands create.
fn filesystem_of<'a>(piece: &AdviceItem<'a>) -> Option<&'a str> {
    let siblings = piece.finding.advice.iter().filter(|advice| advice.setting.kind.is_filesystem());
    let sibling = siblings.flat_map(|advice| advice.change.values()).map(String::as_str).next();
    let mut words = piece.advice.apply.iter().flat_map(|command| command.as_str().split_whitespace());
    let made = words.find_map(|word| word.strip_prefix("mkfs."));
    sibling.or(made)
}

/// The sort key of a step: settings to keep come last, the rest from the device upwards, critical ones first. On a free
/// disk a new file system comes first. On an existing one it comes after everything that helps without it, because it
/// requires moving data.
fn order(step: &Step, blank: bool) -> impl Ord + use<> {
    let keeps = step.advice.change == Change::Keep;
    let moves = !blank && step.advice.risk == Risk::NeedsNewFilesystem;
    let setting = step.advice.setting;
    (keeps, moves, stage(setting), Reverse(step.level), setting, step.subject.clone())
}

/// The stage of a setting, counted from the device upwards.
fn stage(setting: &Setting) -> u8 {
    match setting.kind {
        SettingKind::Filesystem => 1,
        SettingKind::MkfsOptions | SettingKind::MkfsFeatures => 2,
        SettingKind::MountOptions | SettingKind::BootOptions | SettingKind::Trim => 4,
        SettingKind::DirectoryFlags => 5,
        SettingKind::Placement => 6,
        SettingKind::FastCommit
        | SettingKind::Scheduler
        | SettingKind::Queue
        | SettingKind::Postgres
        | SettingKind::InitDb
        | SettingKind::Mysql
        | SettingKind::Other => match setting.scope {
            Scope::Device | Scope::Host => 0,
            Scope::Mount => 3,
            Scope::Boot => 4,
            Scope::Target => 5,
            Scope::Cluster => 7,
        },
    }
}

#[cfg(test)]
mod tests;
