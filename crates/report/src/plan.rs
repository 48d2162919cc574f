//! Builds the plan of a target from the advice of its findings. Advice belongs to the subject
//! that owns the setting: a rule about a target may advise an option of its mount.
//!
//! Optional advice and changes of level *keep* become options of the plan. They become steps if the
//! same finding advises the file system that is chosen for a free disk.

mod advice_merging;

pub use advice_merging::RuleOverrides;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use advice_merging::AdviceItem;

use super::{Conflict, Plan, Step, TargetSummary};
use crate::FilesystemChoice;
use walwise_judge::rules::{Advice, Change, EffectScope, Finding, Level, Outcome, Risk};
use walwise_model::facts::{Choice, FactSet, Scope, Subject};
use walwise_model::settings::{NewFilesystem, Setting, SettingKind};

pub struct PlanInput<'a> {
    pub facts: &'a FactSet,
    pub overrides: &'a RuleOverrides,
    pub wanted: &'a BTreeMap<Subject, NewFilesystem>,
    pub refusal_reason: &'a FilesystemRefusalFn<'a>,
}

/// Merges the advice of `findings` on the target into steps and options. Appends conflicts between
/// rules to `conflicts`.
pub fn build_plan(
    basis: &PlanInput<'_>,
    target: &TargetSummary,
    findings: &[&Finding],
    conflicts: &mut Vec<Conflict>,
) -> Plan {
    let PlanInput {
        facts, overrides, ..
    } = *basis;
    let all: Vec<AdviceItem<'_>> = findings
        .iter()
        .filter(|finding| finding.outcome == Outcome::Applies)
        .flat_map(|finding| {
            finding.advice.iter().map(move |advice| AdviceItem {
                finding,
                advice,
                wanted: false,
            })
        })
        .collect();
    let filesystems = filesystem_choices(basis, target, &all);
    let wanted =
        find_accepted_filesystem_choice(&filesystems).map(|wanted| wanted.filesystem.as_str());
    let chosen = wanted.or_else(|| recommended_filesystem(&all));
    let other = |piece: &AdviceItem<'_>| {
        !piece.advice.setting.kind.is_filesystem()
            && chosen.is_some_and(|chosen| {
                filesystem_created_by_finding_or_command(piece).is_some_and(|of| of != chosen)
            })
    };
    let mut groups: BTreeMap<(Subject, &Setting), Vec<AdviceItem<'_>>> = BTreeMap::new();
    let mut options = Vec::new();
    for piece in all.iter().copied().filter(|piece| !other(piece)) {
        let subject = setting_owner_subject(
            facts,
            &target.target,
            &piece.finding.subject,
            piece.advice.setting,
        );
        let piece = AdviceItem {
            wanted: wanted.is_some_and(|of| creates_filesystem(piece.advice, of)),
            ..piece
        };
        let belongs = chosen.is_some_and(|of| {
            let mut advice = piece.finding.advice.iter();
            advice.any(|advice| advice.rank.is_some() && creates_filesystem(advice, of))
        });
        let is_option = piece.finding.level <= Level::Optional && piece.advice.rank.is_none();
        if is_option && !belongs && !piece.keeps_setting() {
            // Each option is merged alone, so the list of conflicts stays empty.
            options.extend(advice_merging::merge_advice_into_step(
                facts,
                &subject,
                &[piece],
                overrides,
                &mut Vec::new(),
            ));
        } else {
            groups
                .entry((subject, piece.advice.setting))
                .or_default()
                .push(piece);
        }
    }
    let mut steps: Vec<Step> = groups
        .into_iter()
        .filter_map(|((subject, _), pieces)| {
            advice_merging::merge_advice_into_step(facts, &subject, &pieces, overrides, conflicts)
        })
        .collect();
    let blank = target.kind.is_device();
    steps.sort_by_cached_key(|step| step_sort_key(step, blank));
    options.sort_by_cached_key(|step| step_sort_key(step, blank));
    Plan {
        target: target.target.clone(),
        steps,
        options,
        filesystems,
    }
}

impl Step {
    pub fn keeps_setting(&self) -> bool {
        self.advice.change == Change::Keep
    }
}

impl Plan {
    pub(crate) fn kept_and_changing_steps(&self) -> (Vec<&Step>, Vec<&Step>) {
        self.steps.iter().partition(|step| step.keeps_setting())
    }
}

/// A free disk has no mount yet, so the target owns the mount settings.
fn setting_owner_subject(
    facts: &FactSet,
    target: &Subject,
    subject: &Subject,
    setting: &Setting,
) -> Subject {
    let owner = match setting.scope {
        // A target can have several devices; the advice concerns only the finding's own device.
        Scope::Device | Scope::Host => return subject.clone(),
        owner => owner,
    };
    let of = |subject| facts.applicable_subject(subject, owner);
    of(subject)
        .or_else(|| of(target))
        .unwrap_or_else(|| match owner {
            Scope::Mount => target.clone(),
            _ => subject.clone(),
        })
}

/// Order: by stage from the device upwards, then by level; settings to keep come last. A new file
/// system comes first on a free disk, but late on a target whose data must be moved.
fn step_sort_key(step: &Step, blank: bool) -> impl Ord + use<> {
    let moves = !blank && step.advice.risk == Risk::NeedsNewFilesystem;
    let setting = step.advice.setting;
    (
        step.keeps_setting(),
        moves,
        application_stage(setting),
        Reverse(step.level),
        setting,
        step.subject.clone(),
    )
}

/// The stage at which a setting is applied, from 0 for devices to 7 for database clusters.
fn application_stage(setting: &Setting) -> u8 {
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

// Chooses the file system of a free disk. If the file system that the user requests cannot be
// created, the plan creates the recommended one.

/// Reason why a file system cannot be created on a free disk; `None` if it can.
pub type FilesystemRefusalFn<'a> = dyn Fn(&Subject, NewFilesystem) -> Option<String> + Sync + 'a;

/// Lists the file systems that can be requested for a free disk; empty for any other target.
fn filesystem_choices(
    basis: &PlanInput<'_>,
    target: &TargetSummary,
    pieces: &[AdviceItem<'_>],
) -> Vec<FilesystemChoice> {
    if !target.is_free_disk() {
        return Vec::new();
    }
    let known = |made: Option<&str>| made.and_then(NewFilesystem::from_word);
    let first = known(recommended_filesystem(pieces));
    let wanted = basis.wanted.get(&target.target).copied();
    let choice = |filesystem| {
        let makes = pieces
            .iter()
            .find(|piece| known(created_filesystem(piece.advice)) == Some(filesystem));
        let refused = (basis.refusal_reason)(&target.target, filesystem);
        FilesystemChoice {
            filesystem,
            first: first == Some(filesystem),
            rank: makes.map(|piece| piece.advice.rank.unwrap_or(1)),
            wanted: wanted == Some(filesystem),
            title: makes.map(|piece| piece.finding.title.clone()),
            tradeoff: makes.and_then(|piece| piece.advice.tradeoff.clone()),
            refused: refused.or_else(|| {
                makes
                    .is_none()
                    .then(|| "No rule recommends this file system here.".to_owned())
            }),
        }
    };
    NewFilesystem::ALL.iter().copied().map(choice).collect()
}

/// `None` without a request, or if the choice is refused.
fn find_accepted_filesystem_choice(choices: &[FilesystemChoice]) -> Option<&FilesystemChoice> {
    choices
        .iter()
        .find(|choice| choice.wanted && choice.refused.is_none())
}

impl Plan {
    pub(crate) fn accepted_filesystem_request(&self) -> Option<&FilesystemChoice> {
        find_accepted_filesystem_choice(&self.filesystems)
    }

    /// A sentence on the file system that the user requested, the first choice, and the reason
    /// for a refusal. `None` without a request.
    pub fn requested_filesystem_sentence(&self) -> Option<String> {
        let FilesystemChoice {
            filesystem,
            refused,
            ..
        } = self.filesystems.iter().find(|one| one.wanted)?;
        let first = match self.filesystems.iter().find(|one| one.first) {
            Some(first) if first.wanted => "also the first choice here".to_owned(),
            Some(first) => format!("the first choice here is {}", first.filesystem),
            None => "no file system is the first choice here".to_owned(),
        };
        Some(match refused {
            None => format!("{filesystem}, as requested; {first}"),
            Some(why) => format!(
                "{filesystem}, as requested, cannot be created: {why} The plan omits \
                     {filesystem}; {first}"
            ),
        })
    }
}

/// Chooses by the lowest rank number, then by the highest level, then by the highest
/// confidence.
fn recommended_filesystem<'a>(pieces: &[AdviceItem<'a>]) -> Option<&'a str> {
    let choices = pieces
        .iter()
        .filter(|piece| created_filesystem(piece.advice).is_some());
    let place = |p: &&AdviceItem<'_>| {
        (
            p.advice.rank.unwrap_or(1),
            Reverse(p.finding.level),
            Reverse(p.finding.confidence),
        )
    };
    created_filesystem(choices.min_by_key(place)?.advice)
}

fn created_filesystem(advice: &Advice) -> Option<&str> {
    let Change::Set(value) = &advice.change else {
        return None;
    };
    let is_filesystem = advice.setting.kind.is_filesystem();
    is_filesystem.then_some(value)
}

fn creates_filesystem(advice: &Advice, filesystem: &str) -> bool {
    created_filesystem(advice) == Some(filesystem)
}

fn filesystem_created_by_finding_or_command<'a>(piece: &AdviceItem<'a>) -> Option<&'a str> {
    let sibling = piece.finding.advice.iter().find_map(created_filesystem);
    let mut words = piece
        .advice
        .apply
        .iter()
        .flat_map(|command| command.as_str().split_whitespace());
    sibling.or_else(|| words.find_map(|word| word.strip_prefix("mkfs.")))
}

// Subjects that a plan interrupts by restarts, remounts, unmounts or new file systems.
//
// A change for the next boot interrupts nothing now. On a target that is a disk without a
// mount, a remount interrupts nothing either.

impl Plan {
    /// Groups the subjects that the plan interrupts by kind of interruption, the most severe
    /// first.
    pub fn interruptions(&self) -> Vec<(Risk, Vec<&Subject>)> {
        let mut takes: BTreeMap<Risk, Vec<&Subject>> = BTreeMap::new();
        for step in self
            .steps
            .iter()
            .filter(|step| step_interrupts_service(step))
        {
            let on = takes.entry(step.advice.risk).or_default();
            if !on.contains(&&step.subject) {
                on.push(&step.subject);
            }
        }
        takes.into_iter().rev().collect()
    }
}

fn step_interrupts_service(step: &Step) -> bool {
    match step.advice.risk {
        _ if step.keeps_setting() => false,
        Risk::None => false,
        Risk::NeedsNewFilesystem | Risk::DataLossIfWrong => true,
        _ if step.advice.reach == EffectScope::NextBoot => false,
        Risk::NeedsRemount | Risk::NeedsUnmount => step.subject.scope() != Scope::Target,
        Risk::NeedsReload | Risk::NeedsRestart => true,
    }
}

#[cfg(test)]
mod interruptions_tests {
    use super::*;
    use crate::sample_reports;

    #[test]
    fn each_interruption_is_listed_once_and_the_greatest_first() {
        let mut report = sample_reports::at_risk();
        let plan = &mut report.plans[0];
        let step = |report: &mut Plan, setting: &str, subject: Subject, risk, reach| {
            let mut step = report.steps[0].clone();
            step.subject = subject;
            step.advice = walwise_judge::rules::Advice {
                reach,
                risk,
                ..sample_reports::advice_without_current_value(
                    setting,
                    walwise_judge::rules::Change::Set("x".to_owned()),
                )
            };
            report.steps.push(step);
        };
        plan.steps.truncate(1);
        plan.steps[0].advice.reach = EffectScope::NextBoot;
        let server = || Subject::cluster("/srv/pg");
        for setting in ["pg.fsync", "pg.full_page_writes"] {
            step(
                plan,
                setting,
                server(),
                Risk::NeedsRestart,
                EffectScope::Server,
            );
        }
        step(
            plan,
            "mount.options",
            Subject::mount("/srv"),
            Risk::NeedsRemount,
            EffectScope::ThisMount,
        );
        step(
            plan,
            "mount.options",
            Subject::target("/dev/sdc"),
            Risk::NeedsRemount,
            EffectScope::ThisMount,
        );
        step(
            plan,
            "block.scheduler",
            Subject::device("sda"),
            Risk::None,
            EffectScope::Device,
        );
        assert_eq!(
            plan.interruptions(),
            [
                (Risk::NeedsRemount, vec![&Subject::mount("/srv")]),
                (Risk::NeedsRestart, vec![&server()])
            ]
        );
    }
}
