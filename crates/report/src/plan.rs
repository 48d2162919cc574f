//! Findings → one plan per target: no setting twice, in order of application, with settings to keep
//! last.
//!
//! Advice is assigned to the subject that owns the setting (a target's rule may advise its mount),
//! then the advice of several rules is merged in [`join`]. Optional advice never enters the steps.
//! Level takes precedence over everything, so that no preference overrides possible loss of data.

mod join;
mod filesystem {
    //! The file system of a free disk: the recommended one, the requested one, and why another
    //! cannot be created.
    //!
    //! A request selects among what may be created. What is refused stays refused, and the plan
    //! then follows the recommendation.

    use std::cmp::Reverse;

    use super::PlanBasis;
    use super::join::AdviceItem;
    use crate::{DeviceContent, FilesystemChoice, Plan, TargetSummary};
    use walwise_judge::rules::{Advice, Change};
    use walwise_model::facts::Subject;
    use walwise_model::settings::NewFilesystem;

    /// Why a file system cannot be created on a free disk; `None` if it can.
    pub type FilesystemRefusal<'a> = dyn Fn(&Subject, NewFilesystem) -> Option<String> + Sync + 'a;

    /// The file systems that can be requested for a free disk; empty for other targets.
    pub fn filesystem_choices(
        basis: &PlanBasis<'_>,
        target: &TargetSummary,
        pieces: &[AdviceItem<'_>],
    ) -> Vec<FilesystemChoice> {
        if !target
            .content
            .as_ref()
            .is_some_and(DeviceContent::is_available)
        {
            return Vec::new();
        }
        let known = |made: Option<&str>| made.and_then(NewFilesystem::from_word);
        let first = known(first_choice(pieces));
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
                price: makes.and_then(|piece| piece.advice.tradeoff.clone()),
                refused: refused.or_else(|| {
                    makes
                        .is_none()
                        .then(|| "No rule offers it here.".to_owned())
                }),
            }
        };
        NewFilesystem::ALL.into_iter().map(choice).collect()
    }

    /// The requested file system, unless it is refused.
    pub fn wanted(choices: &[FilesystemChoice]) -> Option<&FilesystemChoice> {
        choices
            .iter()
            .find(|choice| choice.wanted && choice.refused.is_none())
    }

    impl Plan {
        /// The requested file system, if the plan follows the request.
        pub fn wanted(&self) -> Option<&FilesystemChoice> {
            wanted(&self.filesystems)
        }

        /// A sentence about the request and the first choice, or why the request is refused. `None`
        /// without a request.
        pub fn requested_filesystem(&self) -> Option<String> {
            let FilesystemChoice {
                filesystem,
                refused,
                ..
            } = self.filesystems.iter().find(|one| one.wanted)?;
            let first = match self.filesystems.iter().find(|one| one.first) {
                Some(first) if first.wanted => "the first choice here too".to_owned(),
                Some(first) => format!("the first choice here is {}", first.filesystem),
                None => "no file system is the first choice here".to_owned(),
            };
            Some(match refused {
                None => format!("{filesystem}, as requested; {first}"),
                Some(why) => format!(
                    "{filesystem}, as requested, cannot be created: {why} The plan leaves it out; {first}"
                ),
            })
        }
    }

    /// The first choice among the advised file systems.
    pub fn first_choice<'a>(pieces: &[AdviceItem<'a>]) -> Option<&'a str> {
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

    /// The type of file system that advice creates; `None` for other advice.
    fn created_filesystem(advice: &Advice) -> Option<&str> {
        match &advice.change {
            Change::Set(value) if advice.setting.kind.is_filesystem() => Some(value),
            Change::Set(_)
            | Change::Add(_)
            | Change::Remove(_)
            | Change::Edit { .. }
            | Change::Keep => None,
        }
    }

    pub fn creates(advice: &Advice, filesystem: &str) -> bool {
        created_filesystem(advice) == Some(filesystem)
    }

    /// Whether advice comes with the choice of this file system: its finding creates it.
    pub fn accompanies(piece: &AdviceItem<'_>, filesystem: &str) -> bool {
        piece
            .finding
            .advice
            .iter()
            .any(|advice| advice.rank.is_some() && creates(advice, filesystem))
    }

    /// The file system that advice is about: the one that its finding creates, or that its commands
    /// create.
    pub fn related_filesystem<'a>(piece: &AdviceItem<'a>) -> Option<&'a str> {
        let sibling = piece.finding.advice.iter().find_map(created_filesystem);
        let mut words = piece
            .advice
            .apply
            .iter()
            .flat_map(|command| command.as_str().split_whitespace());
        sibling.or_else(|| words.find_map(|word| word.strip_prefix("mkfs.")))
    }
}
mod interruptions {
    //! What a plan interrupts, summarised over its steps: restarts, remounts, new file systems.
    //!
    //! A change for the next boot interrupts nothing now, and a disk without a file system has
    //! nothing to remount.

    use std::collections::BTreeMap;

    use crate::{Plan, Step};
    use walwise_judge::rules::{EffectScope, Risk};
    use walwise_model::facts::{Scope, Subject};

    impl Plan {
        /// What the steps interrupt, the greatest first, each with its subjects.
        pub fn interruptions(&self) -> Vec<(Risk, Vec<&Subject>)> {
            let mut takes: BTreeMap<Risk, Vec<&Subject>> = BTreeMap::new();
            for step in self.steps.iter().filter(|step| interrupts(step)) {
                let on = takes.entry(step.advice.risk).or_default();
                if !on.contains(&&step.subject) {
                    on.push(&step.subject);
                }
            }
            takes.into_iter().rev().collect()
        }
    }

    /// Whether following the step interrupts anything.
    fn interrupts(step: &Step) -> bool {
        match step.advice.risk {
            _ if step.keeps() => false,
            Risk::None => false,
            Risk::NeedsNewFilesystem | Risk::DataLossIfWrong => true,
            _ if step.advice.reach == EffectScope::NextBoot => false,
            Risk::NeedsRemount | Risk::NeedsUnmount => step.subject.scope() != Scope::Target,
            Risk::NeedsReload | Risk::NeedsRestart => true,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::sample;

        #[test]
        fn each_thing_is_said_once_and_the_gravest_first() {
            let mut report = sample::at_risk();
            let plan = &mut report.plans[0];
            let step = |report: &mut Plan, setting: &str, subject: Subject, risk, reach| {
                let mut step = report.steps[0].clone();
                step.subject = subject;
                step.advice = walwise_judge::rules::Advice {
                    reach,
                    risk,
                    ..sample::advice(setting, walwise_judge::rules::Change::Set("x".to_owned()))
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
}

pub use filesystem::FilesystemRefusal;
pub use join::Overrides;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Conflict, Plan, Step, TargetSummary};
use join::AdviceItem;
use walwise_judge::rules::{Change, Finding, Level, Outcome, Risk};
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_model::settings::{NewFilesystem, Setting, SettingKind};

/// The inputs of plans besides findings.
pub struct PlanBasis<'a> {
    pub facts: &'a FactSet,
    /// The rules that each rule overrides.
    pub overrides: &'a Overrides,
    /// The requested file system, by target.
    pub wanted: &'a BTreeMap<Subject, NewFilesystem>,
    /// Why a file system cannot be created, if so.
    pub refusal_reason: &'a FilesystemRefusal<'a>,
}

/// The plan of one target from the findings about it; new conflicts are added to `conflicts`.
pub fn plan(
    basis: &PlanBasis<'_>,
    target: &TargetSummary,
    findings: &[&Finding],
    conflicts: &mut Vec<Conflict>,
) -> Plan {
    let PlanBasis {
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
    let filesystems = filesystem::filesystem_choices(basis, target, &all);
    let wanted = filesystem::wanted(&filesystems).map(|wanted| wanted.filesystem.as_str());
    let chosen = wanted.or_else(|| filesystem::first_choice(&all));
    let other = |piece: &AdviceItem<'_>| {
        !piece.advice.setting.kind.is_filesystem()
            && chosen.is_some_and(|chosen| {
                filesystem::related_filesystem(piece).is_some_and(|of| of != chosen)
            })
    };
    let mut groups: BTreeMap<(Subject, &Setting), Vec<AdviceItem<'_>>> = BTreeMap::new();
    let mut options = Vec::new();
    for piece in all.iter().copied().filter(|piece| !other(piece)) {
        let subject = setting_owner(
            facts,
            &target.target,
            &piece.finding.subject,
            piece.advice.setting,
        );
        let piece = AdviceItem {
            wanted: wanted.is_some_and(|of| filesystem::creates(piece.advice, of)),
            ..piece
        };
        // Optional advice that comes with the chosen file system becomes a step.
        let belongs = chosen.is_some_and(|of| filesystem::accompanies(&piece, of));
        let is_option = piece.finding.level == Level::Optional && piece.advice.rank.is_none();
        if is_option && !belongs && !piece.keeps() {
            // Options are alternatives to the plan, so their conflicts are not reported.
            options.extend(join::merge_advice(
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
            join::merge_advice(facts, &subject, &pieces, overrides, conflicts)
        })
        .collect();
    let blank = target.kind.is_device();
    steps.sort_by_cached_key(|step| sort_key(step, blank));
    options.sort_by_cached_key(|step| sort_key(step, blank));
    Plan {
        target: target.target.clone(),
        steps,
        options,
        filesystems,
    }
}

impl Step {
    /// Whether the setting stays as it is.
    pub fn keeps(&self) -> bool {
        self.advice.change == Change::Keep
    }
}

impl Plan {
    /// The steps that keep a setting, and those that change one.
    pub fn keeps_and_changes(&self) -> (Vec<&Step>, Vec<&Step>) {
        self.steps.iter().partition(|step| step.keeps())
    }
}

/// The owner of a setting that a finding advises. Mount settings of a free disk belong to the
/// target itself, because there is no mount yet.
fn setting_owner(
    facts: &FactSet,
    target: &Subject,
    subject: &Subject,
    setting: &Setting,
) -> Subject {
    let owner = match setting.scope {
        // Only the finding's subject tells which of several devices is meant.
        Scope::Device | Scope::Host => return subject.clone(),
        owner => owner,
    };
    let of = |subject| facts.resolve(subject, owner);
    of(subject)
        .or_else(|| of(target))
        .unwrap_or_else(|| match owner {
            Scope::Mount => target.clone(),
            _ => subject.clone(),
        })
}

/// The sort key of a step: settings to keep come last, the rest from the device upwards, critical
/// ones first. On a free disk a new file system comes first. On an existing one it comes after
/// everything that helps without it, because it requires moving data.
fn sort_key(step: &Step, blank: bool) -> impl Ord + use<> {
    let moves = !blank && step.advice.risk == Risk::NeedsNewFilesystem;
    let setting = step.advice.setting;
    (
        step.keeps(),
        moves,
        stage(setting),
        Reverse(step.level),
        setting,
        step.subject.clone(),
    )
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
