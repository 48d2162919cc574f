//! Findings → one plan per target: no setting twice, in order of application, with settings to keep
//! last.
//!
//! Advice is assigned to the subject that owns the setting (a target's rule may advise its mount),
//! then the wishes of several rules are joined in [`join`]. Options never enter the steps: a plan
//! is a recommendation, and an option is only allowed. Level decides precedence before anything
//! else, so that no preference overrides possible loss of data.

mod join;
mod filesystem {
    //! The file system of a free disk: the first choice, the one that the user wants, and why
    //! another cannot be made.
    //!
    //! A wish selects among what may be made. It opens nothing: what is refused stays refused, and
    //! the plan is then that of the first choice.

    use std::cmp::Reverse;

    use super::PlanBasis;
    use super::join::AdviceItem;
    use crate::{DeviceContent, FilesystemChoice, Plan, TargetSummary};
    use walwise_judge::rules::{Advice, Change};
    use walwise_model::facts::Subject;
    use walwise_model::settings::NewFilesystem;

    /// Says why a file system cannot be made on a free disk; nothing where it can.
    pub type FilesystemRefusal<'a> = dyn Fn(&Subject, NewFilesystem) -> Option<String> + Sync + 'a;

    /// The file systems that can be asked for on a free disk; nothing for any other target.
    pub fn choices(
        basis: &PlanBasis<'_>,
        target: &TargetSummary,
        pieces: &[AdviceItem<'_>],
    ) -> Vec<FilesystemChoice> {
        if !target
            .content
            .as_ref()
            .is_some_and(DeviceContent::may_be_given)
        {
            return Vec::new();
        }
        let known = |made: Option<&str>| made.and_then(NewFilesystem::from_word);
        let first = known(first_choice(pieces));
        let wanted = basis.wanted.get(&target.target).copied();
        let choice = |filesystem| {
            let makes = pieces
                .iter()
                .find(|piece| known(made(piece.advice)) == Some(filesystem));
            let refused = (basis.refusal)(&target.target, filesystem);
            FilesystemChoice {
                filesystem,
                first: first == Some(filesystem),
                rank: makes.map(|piece| piece.advice.rank.unwrap_or(1)),
                wanted: wanted == Some(filesystem),
                title: makes.map(|piece| piece.finding.title.clone()),
                price: makes.and_then(|piece| piece.advice.price.clone()),
                refused: refused.or_else(|| {
                    makes
                        .is_none()
                        .then(|| "No rule offers it here.".to_owned())
                }),
            }
        };
        NewFilesystem::ALL.into_iter().map(choice).collect()
    }

    /// The file system that the user wants, where it can be made.
    pub fn wanted(choices: &[FilesystemChoice]) -> Option<&FilesystemChoice> {
        choices
            .iter()
            .find(|choice| choice.wanted && choice.refused.is_none())
    }

    impl Plan {
        /// The file system that the plan makes because the user wants it.
        pub fn wanted(&self) -> Option<&FilesystemChoice> {
            wanted(&self.filesystems)
        }

        /// That the file system is the user's wish, with the first choice beside it, or why the
        /// plan does not follow the wish; in a sentence. `None` without one.
        pub fn wish(&self) -> Option<String> {
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
                None => format!("{filesystem}, as you want; {first}"),
                Some(why) => format!(
                    "{filesystem}, which you want, cannot be made: {why} This plan is without it; {first}"
                ),
            })
        }
    }

    /// The first choice where a file system is to be chosen.
    pub fn first_choice<'a>(pieces: &[AdviceItem<'a>]) -> Option<&'a str> {
        let choices = pieces.iter().filter(|piece| made(piece.advice).is_some());
        let place = |p: &&AdviceItem<'_>| {
            (
                p.advice.rank.unwrap_or(1),
                Reverse(p.finding.level),
                Reverse(p.finding.confidence),
            )
        };
        made(choices.min_by_key(place)?.advice)
    }

    /// The type of the file system that advice makes; `None` for other advice.
    fn made(advice: &Advice) -> Option<&str> {
        match &advice.change {
            Change::Set(value) if advice.setting.kind.is_filesystem() => Some(value),
            Change::Set(_)
            | Change::Add(_)
            | Change::Remove(_)
            | Change::Edit { .. }
            | Change::Keep => None,
        }
    }

    /// Whether advice makes this file system.
    pub fn makes(advice: &Advice, filesystem: &str) -> bool {
        made(advice) == Some(filesystem)
    }

    /// Whether advice belongs to a choice of this file system among others: its finding makes it.
    pub fn accompanies(piece: &AdviceItem<'_>, filesystem: &str) -> bool {
        piece
            .finding
            .advice
            .iter()
            .any(|advice| advice.rank.is_some() && makes(advice, filesystem))
    }

    /// The file system that advice is about: the one that its finding makes, or that its commands
    /// create.
    pub fn about<'a>(piece: &AdviceItem<'a>) -> Option<&'a str> {
        let sibling = piece.finding.advice.iter().find_map(made);
        let mut words = piece
            .advice
            .apply
            .iter()
            .flat_map(|command| command.as_str().split_whitespace());
        sibling.or_else(|| words.find_map(|word| word.strip_prefix("mkfs.")))
    }
}
mod takes {
    //! The effort of following a plan, summarised for all its steps: restarts of servers, remounts,
    //! new file systems.
    //!
    //! It repeats the steps' risks and judges nothing. A change for the next boot needs nothing
    //! now, and a disk without a file system has nothing to remount.

    use std::collections::BTreeMap;

    use crate::{Plan, Step};
    use walwise_judge::rules::{Reach, Risk};
    use walwise_model::facts::{Scope, Subject};

    impl Plan {
        /// The effort of the steps, the greatest first, each with its subjects.
        pub fn takes(&self) -> Vec<(Risk, Vec<&Subject>)> {
            let mut takes: BTreeMap<Risk, Vec<&Subject>> = BTreeMap::new();
            for step in self.steps.iter().filter(|step| costs(step)) {
                let on = takes.entry(step.advice.risk).or_default();
                if !on.contains(&&step.subject) {
                    on.push(&step.subject);
                }
            }
            takes.into_iter().rev().collect()
        }
    }

    /// Whether more than the command is needed.
    fn costs(step: &Step) -> bool {
        match step.advice.risk {
            _ if step.keeps() => false,
            Risk::None => false,
            Risk::NeedsNewFilesystem | Risk::DataLossIfWrong => true,
            _ if step.advice.reach == Reach::NextBoot => false,
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
            plan.steps[0].advice.reach = Reach::NextBoot;
            let server = || Subject::cluster("/srv/pg");
            for setting in ["pg.fsync", "pg.full_page_writes"] {
                step(plan, setting, server(), Risk::NeedsRestart, Reach::Server);
            }
            step(
                plan,
                "mount.options",
                Subject::mount("/srv"),
                Risk::NeedsRemount,
                Reach::ThisMount,
            );
            step(
                plan,
                "mount.options",
                Subject::target("/dev/sdc"),
                Risk::NeedsRemount,
                Reach::ThisMount,
            );
            step(
                plan,
                "block.scheduler",
                Subject::device("sda"),
                Risk::None,
                Reach::Device,
            );
            assert_eq!(
                plan.takes(),
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
        let subject = home(
            facts,
            &target.target,
            &piece.finding.subject,
            piece.advice.setting,
        );
        let piece = AdviceItem {
            wanted: wanted.is_some_and(|of| filesystem::makes(piece.advice, of)),
            ..piece
        };
        // What belongs to the file system that is made is no option any more.
        let belongs = chosen.is_some_and(|of| filesystem::accompanies(&piece, of));
        let is_option = piece.finding.level == Level::Option && piece.advice.rank.is_none();
        if is_option && !belongs && !piece.keeps() {
            options.extend(join::join(
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
            join::join(facts, &subject, &pieces, overrides, conflicts)
        })
        .collect();
    let blank = target.kind.is_device();
    steps.sort_by_cached_key(|step| order(step, blank));
    options.sort_by_cached_key(|step| order(step, blank));
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
    pub fn parted(&self) -> (Vec<&Step>, Vec<&Step>) {
        self.steps.iter().partition(|step| step.keeps())
    }
}

/// The owner of a setting, seen from a finding within a target. Settings of a free disk's mount
/// belong to the target itself, because there is no mount yet.
fn home(facts: &FactSet, target: &Subject, subject: &Subject, setting: &Setting) -> Subject {
    let owner = match setting.scope {
        // Only the rule's own subject tells which of the devices below is meant.
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
fn order(step: &Step, blank: bool) -> impl Ord + use<> {
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
