//! Merges the advice of several rules on one setting into one step, and records conflicts.
//!
//! Precedence: requested, rank, level, confidence, explicit override, rule id. In an option list,
//! advice is dropped as a whole when one of its options conflicts, because its commands name them
//! all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::{Alternative, Conflict, Step, options, remount, stack};
use walwise_judge::rules::{Advice, Change, EffectScope, Finding, Level};
use walwise_model::facts::catalog::boot;
use walwise_model::facts::{FactSet, Scope, Subject, Value, catalog};
use walwise_model::settings::MountTime;

/// The rules that each rule overrides.
pub type Overrides = BTreeMap<String, Vec<String>>;

/// Advice with its finding.
#[derive(Clone, Copy)]
pub struct AdviceItem<'a> {
    pub finding: &'a Finding,
    pub advice: &'a Advice,
    /// Whether the user requested this choice; it then wins over any rank.
    pub wanted: bool,
}

impl AdviceItem<'_> {
    pub fn keeps(&self) -> bool {
        self.advice.change == Change::Keep
    }
}

/// One step from all advice on one setting of one subject; `None` without advice.
pub fn merge_advice(
    facts: &FactSet,
    subject: &Subject,
    pieces: &[AdviceItem<'_>],
    overrides: &Overrides,
    conflicts: &mut Vec<Conflict>,
) -> Option<Step> {
    let ranked = sort_by_precedence(pieces, overrides);
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
            .find(|other| are_incompatible(other, piece, is_list));
        match against {
            None => accepted.push(*piece),
            Some(_) if piece.keeps() && piece.finding.level == Level::Keep => {}
            // Ranked choices become alternatives, even with equal ranks, which mean no difference.
            Some(other) if rank(other) != rank(piece) || are_both_ranked(other, piece) => {
                alternatives.push(alternative(piece));
            }
            Some(other) => push_conflict(
                conflicts,
                resolve_conflict(subject, other, piece, overrides),
            ),
        }
    }
    let changes: Vec<AdviceItem<'_>> = accepted.iter().copied().filter(|p| !p.keeps()).collect();
    let used = if changes.is_empty() {
        accepted
    } else {
        changes
    };
    // Drops alternatives with the chosen value, and duplicates from several rules.
    let mut seen: BTreeSet<String> = leader
        .advice
        .change
        .values()
        .iter()
        .take(1)
        .cloned()
        .collect();
    alternatives.retain(|other: &Alternative| seen.insert(other.value.clone()));
    let mut advice = if is_list {
        list_advice(facts, subject, &used)?
    } else {
        single_value_advice(&used)?
    };
    remount::add_commands(&mut advice, facts, subject);
    Some(Step {
        subject: subject.clone(),
        level: used
            .iter()
            .map(|p| p.finding.level)
            .max()
            .unwrap_or(leader.finding.level),
        confidence: used
            .first()
            .map_or(leader.finding.confidence, |p| p.finding.confidence),
        basis: used
            .first()
            .map_or(leader.finding.basis, |p| p.finding.basis),
        rules: deduplicate(used.iter().map(|p| p.finding.rule.clone())),
        title: match advice.change {
            Change::Keep => leader.finding.title.clone(),
            _ => deduplicate(used.iter().map(|p| p.finding.title.clone())).join("; "),
        },
        result: resulting_value(facts, subject, &advice),
        advice,
        alternatives,
    })
}

fn are_both_ranked(a: &AdviceItem<'_>, b: &AdviceItem<'_>) -> bool {
    a.advice.rank.is_some() && b.advice.rank.is_some()
}

fn sort_by_precedence<'a>(pieces: &[AdviceItem<'a>], overrides: &Overrides) -> Vec<AdviceItem<'a>> {
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
        // Overrides may be cyclic, so each position goes to advice that none of its equals
        // overrides.
        let (equals, _) =
            rest.split_at(rest.iter().take_while(|p| class(p) == class(first)).count());
        let free = equals
            .iter()
            .position(|p| !equals.iter().any(|q| overrides_rule(overrides, q, p)));
        out.push(rest.remove(free.unwrap_or_default()));
    }
    out
}

fn overrides_rule(overrides: &Overrides, winner: &AdviceItem<'_>, loser: &AdviceItem<'_>) -> bool {
    overrides
        .get(&winner.finding.rule)
        .is_some_and(|over| over.contains(&loser.finding.rule))
}

/// Whether two pieces of advice cannot both be followed.
fn are_incompatible(a: &AdviceItem<'_>, b: &AdviceItem<'_>, is_list: bool) -> bool {
    let (one, other) = (&a.advice.change, &b.advice.change);
    if a.keeps() || b.keeps() {
        // Keeping a setting and changing it exclude each other.
        return a.keeps() != b.keeps();
    }
    if !is_list {
        return one != other;
    }
    let kind = a.advice.setting.kind;
    let clash = |xs: &[String], ys: &[String]| {
        xs.iter()
            .any(|x| ys.iter().any(|y| options::are_exclusive(kind, x, y)))
    };
    let undone = |xs: &[String], ys: &[String]| xs.iter().any(|x| ys.contains(x));
    clash(one.values(), other.values())
        || undone(one.values(), other.removed())
        || undone(other.values(), one.removed())
}

fn alternative(piece: &AdviceItem<'_>) -> Alternative {
    Alternative {
        rank: piece.advice.rank.unwrap_or(1),
        value: piece.advice.change.describe(),
        rule: piece.finding.rule.clone(),
        title: piece.finding.title.clone(),
        price: piece.advice.tradeoff.clone(),
    }
}

fn push_conflict(conflicts: &mut Vec<Conflict>, conflict: Conflict) {
    if !conflicts.contains(&conflict) {
        conflicts.push(conflict);
    }
}

fn resolve_conflict(
    subject: &Subject,
    winner: &AdviceItem<'_>,
    loser: &AdviceItem<'_>,
    overrides: &Overrides,
) -> Conflict {
    let (won, lost) = (winner.finding, loser.finding);
    let because = if won.level != lost.level {
        format!(
            "{} comes before {}",
            won.level.as_str(),
            lost.level.as_str()
        )
    } else if won.confidence != lost.confidence {
        format!(
            "{} is more certain than {}",
            won.confidence.as_str(),
            lost.confidence.as_str()
        )
    } else if overrides_rule(overrides, winner, loser) {
        format!("{} overrides {}", won.rule, lost.rule)
    } else {
        "level and confidence are equal; the first by name is followed".to_owned()
    };
    let wants = |p: &AdviceItem<'_>| format!("{}: {}", p.finding.rule, p.advice.change.describe());
    Conflict {
        subject: subject.clone(),
        setting: winner.advice.setting,
        followed: wants(winner),
        overruled: wants(loser),
        because,
    }
}

fn deduplicate<T: PartialEq>(words: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut out = Vec::new();
    for word in words {
        if !out.contains(&word) {
            out.push(word);
        }
    }
    out
}

/// The advice on a single-valued setting: that of the first piece. Setting the value in force
/// becomes *keep*.
fn single_value_advice(pieces: &[AdviceItem<'_>]) -> Option<Advice> {
    let mut advice = pieces.first()?.advice.clone();
    if let Change::Set(value) = &advice.change
        && advice
            .current
            .value()
            .is_some_and(|now| advice.setting.config_value(now) == *value)
    {
        advice.change = Change::Keep;
    }
    Some(advice)
}

fn collect_unique<T: Clone + PartialEq>(
    pieces: &[AdviceItem<'_>],
    of: fn(&Advice) -> &[T],
) -> Vec<T> {
    deduplicate(
        pieces
            .iter()
            .flat_map(|piece| of(piece.advice).iter().cloned()),
    )
}

/// The merged advice on a list setting: every change and every command once.
fn list_advice(facts: &FactSet, subject: &Subject, pieces: &[AdviceItem<'_>]) -> Option<Advice> {
    let mut advice = pieces.first()?.advice.clone();
    if let Some(words) = stack::mount_options(facts, subject) {
        advice.current = advice.current.map(|_| Value::List(words));
    }
    let words = |of: fn(&Advice) -> &[String]| collect_unique(pieces, of);
    let (add, remove) = (words(|a| a.change.values()), words(|a| a.change.removed()));
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
    // The last change is undone first.
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
    let prices = deduplicate(pieces.iter().filter_map(|p| p.advice.tradeoff.clone()));
    advice.tradeoff = (!prices.is_empty()).then(|| prices.join("; "));
    Some(advice)
}

/// The list after the change; `None` for single values, and if the present list is unknown.
fn resulting_value(facts: &FactSet, subject: &Subject, advice: &Advice) -> Option<String> {
    if advice.change == Change::Keep {
        return None;
    }
    let (add, remove) = (advice.change.values(), advice.change.removed());
    match advice.setting.kind.mount() {
        Some(MountTime::Now) if subject.scope() == Scope::Mount => {
            let written = boot_options(facts, subject);
            let add = [
                add.to_vec(),
                remount::implied_options(facts, subject, &advice.change),
            ]
            .concat();
            return stack::mount_options(facts, subject)
                .map(|now| options::options_after(&now, &written, &add, remove));
        }
        Some(MountTime::AtBoot) if subject.scope() == Scope::Boot => {
            return facts
                .value(subject, &boot::OPTIONS)
                .map(|line| options::rewrite_list(&line, add, remove));
        }
        Some(MountTime::Now | MountTime::AtBoot) => {
            return Some(options::rewrite_list(&[], add, remove));
        }
        None => {}
    }
    if advice.setting.kind.is_mkfs() {
        return Some(options::join_mkfs(add));
    }
    let is_list = catalog::find(advice.setting.name).is_some_and(|info| info.kind.is_list());
    is_list.then(|| add.join(","))
}

/// The options in the boot lines of a mount.
fn boot_options(facts: &FactSet, mount: &Subject) -> Vec<String> {
    let mounts_it = |boot: &&Subject| facts.resolve(boot, Scope::Mount).as_ref() == Some(mount);
    let lines = facts.subjects(Scope::Boot).filter(mounts_it);
    lines
        .filter_map(|boot| facts.value(boot, &boot::OPTIONS))
        .flatten()
        .collect()
}
