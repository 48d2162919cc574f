//! The file system of a free disk: the first choice, the one that the user wants, and why another cannot be made.
//!
//! A wish selects among what may be made. It opens nothing: what is refused stays refused, and the plan is then that of
//! the first choice.

use std::cmp::Reverse;

use super::PlanBasis;
use super::join::AdviceItem;
use crate::facts::Subject;
use crate::report::{DeviceContent, FilesystemChoice, Plan, TargetSummary};
use crate::rules::{Advice, Change};
use crate::settings::NewFilesystem;

/// Says why a file system cannot be made on a free disk; nothing where it can.
pub type FilesystemRefusal<'a> = dyn Fn(&Subject, NewFilesystem) -> Option<String> + Sync + 'a;

/// The file systems that can be asked for on a free disk; nothing for any other target.
pub fn choices(
    basis: &PlanBasis<'_>,
    target: &TargetSummary,
    pieces: &[AdviceItem<'_>],
) -> Vec<FilesystemChoice> {
    if !target.content.as_ref().is_some_and(DeviceContent::may_be_given) {
        return Vec::new();
    }
    let known = |made: Option<&str>| made.and_then(NewFilesystem::from_word);
    let first = known(first_choice(pieces));
    let wanted = basis.wanted.get(&target.target).copied();
    let choice = |filesystem| {
        let makes = pieces.iter().find(|piece| known(made(piece.advice)) == Some(filesystem));
        let refused = (basis.refusal)(&target.target, filesystem);
        FilesystemChoice {
            filesystem,
            first: first == Some(filesystem),
            wanted: wanted == Some(filesystem),
            title: makes.map(|piece| piece.finding.title.clone()),
            price: makes.and_then(|piece| piece.advice.price.clone()),
            refused: refused.or_else(|| makes.is_none().then(|| "No rule offers it here.".to_owned())),
        }
    };
    NewFilesystem::ALL.into_iter().map(choice).collect()
}

/// The file system that the user wants, where it can be made.
pub fn wanted(choices: &[FilesystemChoice]) -> Option<&FilesystemChoice> {
    choices.iter().find(|choice| choice.wanted && choice.refused.is_none())
}

impl Plan {
    /// The file system that the plan makes because the user wants it.
    pub fn wanted(&self) -> Option<&FilesystemChoice> {
        wanted(&self.filesystems)
    }

    /// That the file system is the user's wish, with the first choice beside it, or why the plan does not follow the
    /// wish; in a sentence. `None` without one.
    pub fn wish(&self) -> Option<String> {
        let FilesystemChoice { filesystem, refused, .. } = self.filesystems.iter().find(|one| one.wanted)?;
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
        (p.advice.rank.unwrap_or(1), Reverse(p.finding.level), Reverse(p.finding.confidence))
    };
    made(choices.min_by_key(place)?.advice)
}

/// The type of the file system that advice makes; `None` for other advice.
fn made(advice: &Advice) -> Option<&str> {
    match &advice.change {
        Change::Set(value) if advice.setting.kind.is_filesystem() => Some(value),
        Change::Set(_) | Change::Add(_) | Change::Remove(_) | Change::Edit { .. } | Change::Keep => None,
    }
}

/// Whether advice makes this file system.
pub fn makes(advice: &Advice, filesystem: &str) -> bool {
    made(advice) == Some(filesystem)
}

/// Whether advice belongs to a choice of this file system among others: its finding makes it.
pub fn accompanies(piece: &AdviceItem<'_>, filesystem: &str) -> bool {
    piece.finding.advice.iter().any(|advice| advice.rank.is_some() && makes(advice, filesystem))
}

/// The file system that advice is about: the one that its finding makes, or that its commands create.
pub fn about<'a>(piece: &AdviceItem<'a>) -> Option<&'a str> {
    let sibling = piece.finding.advice.iter().find_map(made);
    let mut words = piece.advice.apply.iter().flat_map(|command| command.as_str().split_whitespace());
    sibling.or_else(|| words.find_map(|word| word.strip_prefix("mkfs.")))
}
