//! Findings → one plan per target: no setting twice, in order of application, with settings to keep last.
//!
//! Advice is assigned to the subject that owns the setting (a target's rule may advise its mount), then the wishes of
//! several rules are joined in [`join`]. Options never enter the steps: a plan is a recommendation, and an option is
//! only allowed. Level decides precedence before anything else, so that no preference overrides possible loss of data.

mod join;
mod filesystem;
mod takes;

pub use filesystem::FilesystemRefusal;
pub use join::Overrides;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Conflict, Plan, Step, TargetSummary, mkfs};
use crate::facts::{FactSet, Scope, Subject};
use crate::rules::{Change, Finding, Level, Outcome, Risk};
use crate::settings::{NewFilesystem, Setting, SettingKind};
use join::AdviceItem;

/// What plans are made of, apart from findings.
pub struct PlanBasis<'a> {
    pub facts: &'a FactSet,
    /// The rules that each rule overrides.
    pub overrides: &'a Overrides,
    /// The file system that the user wants, by target.
    pub wanted: &'a BTreeMap<Subject, NewFilesystem>,
    /// Why a file system cannot be made.
    pub refusal: &'a FilesystemRefusal<'a>,
}

/// The plan of one target from the findings about it; new conflicts are added to `conflicts`.
pub fn plan(
    basis: &PlanBasis<'_>,
    target: &TargetSummary,
    findings: &[&Finding],
    conflicts: &mut Vec<Conflict>,
) -> Plan {
    let PlanBasis { facts, overrides, .. } = *basis;
    let all: Vec<AdviceItem<'_>> = findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Applies)
        .flat_map(|finding| {
            finding.advice.iter().map(move |advice| AdviceItem { finding, advice, wanted: false })
        })
        .collect();
    let filesystems = filesystem::choices(basis, target, &all);
    let wanted = filesystem::wanted(&filesystems).map(|wanted| wanted.filesystem.word());
    let chosen = wanted.or_else(|| filesystem::first_choice(&all));
    let other = |piece: &AdviceItem<'_>| {
        !piece.advice.setting.kind.is_filesystem()
            && chosen.is_some_and(|chosen| filesystem::about(piece).is_some_and(|of| of != chosen))
    };
    let mut groups: BTreeMap<(Subject, &Setting), Vec<AdviceItem<'_>>> = BTreeMap::new();
    let mut options = Vec::new();
    for piece in all.iter().copied().filter(|piece| !other(piece)) {
        let subject = home(facts, &target.target, &piece.finding.subject, piece.advice.setting);
        let piece =
            AdviceItem { wanted: wanted.is_some_and(|of| filesystem::makes(piece.advice, of)), ..piece };
        // What belongs to the file system that is made is no option any more.
        let belongs = chosen.is_some_and(|of| filesystem::accompanies(&piece, of));
        let is_option = piece.finding.level == Level::Option && piece.advice.rank.is_none();
        if is_option && !belongs && !piece.keeps() {
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
    Plan { target: target.target.clone(), steps, options, filesystems }
}

impl Step {
    /// Whether the setting stays as it is.
    pub fn keeps(&self) -> bool {
        self.advice.change == Change::Keep
    }
}

impl Plan {
    /// The steps that keep a setting, and those that change one.
    pub fn parted(&self) -> (Vec<&Step>, Vec<&Step>) {
        self.steps.iter().partition(|step| step.keeps())
    }
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

/// The sort key of a step: settings to keep come last, the rest from the device upwards, critical ones first. On a free
/// disk a new file system comes first. On an existing one it comes after everything that helps without it, because it
/// requires moving data.
fn order(step: &Step, blank: bool) -> impl Ord + use<> {
    let moves = !blank && step.advice.risk == Risk::NeedsNewFilesystem;
    let setting = step.advice.setting;
    (step.keeps(), moves, stage(setting), Reverse(step.level), setting, step.subject.clone())
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
