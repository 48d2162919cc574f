//! Merges the advice of several rules on one setting into one step, and records conflicts.
//!
//! These criteria decide in turn which advice wins: request, rank, level, confidence, explicit
//! override, rule id. Advice on an option list is dropped if one of its options conflicts, because
//! its commands name all its options.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::distinct::distinct;
use crate::{Alternative, Conflict, Step, mount_and_mkfs_options, remount_commands, stack};
use walwise_judge::rules::{Advice, Change, EffectScope, Finding, Level};
use walwise_model::facts::catalog::boot;
use walwise_model::facts::{FactSet, Scope, Subject, Value, catalog};
use walwise_model::settings::PresentOrBootMount;

/// Maps a rule id to the ids of the rules that the rule overrides.
pub type RuleOverrides = BTreeMap<String, Vec<String>>;

#[derive(Clone, Copy)]
pub struct AdviceItem<'a> {
    pub finding: &'a Finding,
    pub advice: &'a Advice,
    /// True if the user requested this choice, which then wins over any rank.
    pub wanted: bool,
}

impl AdviceItem<'_> {
    pub fn keeps_setting(&self) -> bool {
        self.advice.change == Change::Keep
    }
}

pub fn merge_advice_into_step(
    facts: &FactSet,
    subject: &Subject,
    pieces: &[AdviceItem<'_>],
    overrides: &RuleOverrides,
    conflicts: &mut Vec<Conflict>,
) -> Option<Step> {
    let ranked = sort_advice_by_precedence(pieces, overrides);
    let leader = *ranked.first()?;
    let is_list = ranked
        .iter()
        .any(|p| matches!(p.advice.change, Change::Add(_) | Change::Remove(_)));
    let mut accepted: Vec<AdviceItem<'_>> = Vec::new();
    let mut alternatives = Vec::new();
    for piece in &ranked {
        let rank = |p: &AdviceItem<'_>| p.advice.rank.unwrap_or(1);
        let against = accepted
            .iter()
            .find(|other| are_advice_items_incompatible(other, piece, is_list));
        match against {
            None => accepted.push(*piece),
            Some(_) if piece.keeps_setting() && piece.finding.level == Level::Keep => {}
            // Advice with a rank is an alternative to the accepted advice and not a conflict, even
            // if both have the same rank.
            Some(other)
                if rank(other) != rank(piece)
                    || other.advice.rank.is_some() && piece.advice.rank.is_some() =>
            {
                alternatives.push(to_alternative(piece));
            }
            Some(other) => conflicts.push(conflict_between(subject, other, piece, overrides)),
        }
    }
    let changes: Vec<AdviceItem<'_>> = accepted
        .iter()
        .copied()
        .filter(|p| !p.keeps_setting())
        .collect();
    let used = if changes.is_empty() {
        accepted
    } else {
        changes
    };
    let first = used.first()?.finding;
    let mut seen: BTreeSet<String> = leader
        .advice
        .change
        .set_or_added_values()
        .iter()
        .take(1)
        .cloned()
        .collect();
    alternatives.retain(|other: &Alternative| seen.insert(other.value.clone()));
    let mut advice = if is_list {
        merged_list_advice(facts, subject, &used)?
    } else {
        first_advice_or_keep(&used)?
    };
    remount_commands::add_remount_commands_to_advice(&mut advice, facts, subject);
    Some(Step {
        subject: subject.clone(),
        level: used.iter().map(|p| p.finding.level).max()?,
        confidence: first.confidence,
        basis: first.basis,
        rules: distinct(used.iter().map(|p| p.finding.rule.clone())),
        title: match advice.change {
            Change::Keep => leader.finding.title.clone(),
            _ => distinct(used.iter().map(|p| p.finding.title.clone())).join("; "),
        },
        result: resulting_option_list(facts, subject, &advice),
        advice,
        alternatives,
    })
}

fn sort_advice_by_precedence<'a>(
    pieces: &[AdviceItem<'a>],
    overrides: &RuleOverrides,
) -> Vec<AdviceItem<'a>> {
    let class = |p: &AdviceItem<'_>| {
        let rank = p.advice.rank.unwrap_or(1);
        (
            !p.wanted,
            rank,
            Reverse(p.finding.level),
            Reverse(p.finding.confidence),
        )
    };
    let mut rest = pieces.to_vec();
    rest.sort_by(|a, b| (class(a), &a.finding.rule).cmp(&(class(b), &b.finding.rule)));
    let mut out = Vec::with_capacity(rest.len());
    while let Some(first) = rest.first() {
        // Among advice with equal keys, advice that no other rule overrides comes first. If
        // overrides form a cycle, the rule id decides.
        let (equals, _) =
            rest.split_at(rest.iter().take_while(|p| class(p) == class(first)).count());
        let free = equals
            .iter()
            .position(|p| !equals.iter().any(|q| overrides_rule(overrides, q, p)));
        out.push(rest.remove(free.unwrap_or_default()));
    }
    out
}

fn overrides_rule(
    overrides: &RuleOverrides,
    winner: &AdviceItem<'_>,
    loser: &AdviceItem<'_>,
) -> bool {
    overrides
        .get(&winner.finding.rule)
        .is_some_and(|over| over.contains(&loser.finding.rule))
}

fn are_advice_items_incompatible(a: &AdviceItem<'_>, b: &AdviceItem<'_>, is_list: bool) -> bool {
    let (one, other) = (&a.advice.change, &b.advice.change);
    if a.keeps_setting() || b.keeps_setting() {
        return a.keeps_setting() != b.keeps_setting();
    }
    if !is_list {
        return one != other;
    }
    let kind = a.advice.setting.kind;
    let clash = |xs: &[String], ys: &[String]| {
        xs.iter().any(|x| {
            ys.iter()
                .any(|y| mount_and_mkfs_options::are_exclusive_options(kind, x, y))
        })
    };
    let undone = |xs: &[String], ys: &[String]| xs.iter().any(|x| ys.contains(x));
    clash(one.set_or_added_values(), other.set_or_added_values())
        || undone(one.set_or_added_values(), other.removed_options())
        || undone(other.set_or_added_values(), one.removed_options())
}

fn to_alternative(piece: &AdviceItem<'_>) -> Alternative {
    Alternative {
        rank: piece.advice.rank.unwrap_or(1),
        value: piece.advice.change.describe_change(),
        rule: piece.finding.rule.clone(),
        title: piece.finding.title.clone(),
        tradeoff: piece.advice.tradeoff.clone(),
    }
}

fn conflict_between(
    subject: &Subject,
    winner: &AdviceItem<'_>,
    loser: &AdviceItem<'_>,
    overrides: &RuleOverrides,
) -> Conflict {
    let (won, lost) = (winner.finding, loser.finding);
    let because = if won.level != lost.level {
        format!("{} takes precedence over {}", won.level, lost.level)
    } else if won.confidence != lost.confidence {
        format!(
            "the confidence `{}` is higher than `{}`",
            won.confidence, lost.confidence
        )
    } else if overrides_rule(overrides, winner, loser) {
        format!("{} overrides {}", won.rule, lost.rule)
    } else {
        "level and confidence are equal, so the first rule in alphabetical order applies".to_owned()
    };
    let wants =
        |p: &AdviceItem<'_>| format!("{}: {}", p.finding.rule, p.advice.change.describe_change());
    Conflict {
        subject: subject.clone(),
        setting: winner.advice.setting,
        followed: wants(winner),
        overruled: wants(loser),
        because,
    }
}

/// The first piece of advice, changed to *keep* if its value is already in force.
fn first_advice_or_keep(pieces: &[AdviceItem<'_>]) -> Option<Advice> {
    let mut advice = pieces.first()?.advice.clone();
    if let Change::Set(value) = &advice.change
        && advice
            .current
            .value()
            .is_some_and(|now| advice.setting.format_config_value(now) == *value)
    {
        advice.change = Change::Keep;
    }
    Some(advice)
}

fn collect_unique<T: Clone + PartialEq>(
    pieces: &[AdviceItem<'_>],
    of: fn(&Advice) -> &[T],
) -> Vec<T> {
    distinct(
        pieces
            .iter()
            .flat_map(|piece| of(piece.advice).iter().cloned()),
    )
}

/// Merges advice on a list of options into one change, in which each option and command occurs
/// once.
fn merged_list_advice(
    facts: &FactSet,
    subject: &Subject,
    pieces: &[AdviceItem<'_>],
) -> Option<Advice> {
    let mut advice = pieces.first()?.advice.clone();
    if let Some(words) = stack::mount_options(facts, subject) {
        advice.current = advice.current.map(|_| Value::List(words));
    }
    let words = |of: fn(&Advice) -> &[String]| collect_unique(pieces, of);
    let (add, remove) = (
        words(|a| a.change.set_or_added_values()),
        words(|a| a.change.removed_options()),
    );
    advice.change = match (add.is_empty(), remove.is_empty()) {
        (true, true) => Change::Keep,
        (false, true) => Change::Add(add),
        (true, false) => Change::Remove(remove),
        (false, false) => Change::Edit { add, remove },
    };
    advice.apply = collect_unique(pieces, |a| &a.apply);
    advice.verify = collect_unique(pieces, |a| &a.verify);
    advice.undo = collect_unique(pieces, |a| &a.undo);
    advice.own = collect_unique(pieces, |a| &a.own);
    advice.undo.reverse();
    advice.risk = pieces
        .iter()
        .map(|p| p.advice.risk)
        .max()
        .unwrap_or(advice.risk);
    if pieces
        .iter()
        .any(|p| p.advice.reach == EffectScope::WholeFilesystem)
    {
        advice.reach = EffectScope::WholeFilesystem;
    }
    let prices = distinct(pieces.iter().filter_map(|p| p.advice.tradeoff.clone()));
    advice.tradeoff = (!prices.is_empty()).then(|| prices.join("; "));
    Some(advice)
}

/// The list of options after the change. `None` for *keep*, for single values, and if the present
/// list is unknown.
fn resulting_option_list(facts: &FactSet, subject: &Subject, advice: &Advice) -> Option<String> {
    let (setting, change) = (advice.setting, &advice.change);
    if *change == Change::Keep {
        return None;
    }
    let (add, remove) = (change.set_or_added_values(), change.removed_options());
    match setting.kind.present_or_boot_mount() {
        Some(PresentOrBootMount::Now) if subject.scope() == Scope::Mount => {
            let now = stack::mount_options(facts, subject)?;
            let written = boot_line_options_of_mount(facts, subject);
            let overrides = remount_commands::overrides_of_removed_defaults(facts, subject, change);
            Some(mount_and_mkfs_options::explicit_options_after_change(
                &now,
                &written,
                &[add, &overrides].concat(),
                remove,
            ))
        }
        Some(kind) => {
            let is_line = kind == PresentOrBootMount::AtBoot && subject.scope() == Scope::Boot;
            let written = if is_line {
                facts.value(subject, &boot::OPTIONS)?
            } else {
                Vec::new()
            };
            Some(mount_and_mkfs_options::apply_change_to_written_options(
                &written, add, remove,
            ))
        }
        None if setting.kind.is_mkfs() => Some(mount_and_mkfs_options::merge_mkfs_options(add)),
        None => {
            let info = catalog::find_by_name(setting.name)?;
            info.kind.is_list().then(|| add.join(","))
        }
    }
}

fn boot_line_options_of_mount(facts: &FactSet, mount: &Subject) -> Vec<String> {
    let mounts_it =
        |boot: &&Subject| facts.applicable_subject(boot, Scope::Mount).as_ref() == Some(mount);
    facts
        .subjects_of_scope(Scope::Boot)
        .filter(mounts_it)
        .filter_map(|boot| facts.value(boot, &boot::OPTIONS))
        .flatten()
        .collect()
}
