//! Advice in full: the text of a rule, with the facts of the subject filled in.
//!
//! The asymmetry rule is enforced here: advice that can lose data is given only when every fact
//! that decides it was observed on this machine. Advice whose value comes from an unknown fact is
//! dropped silently, because there is nothing to advise.

use super::ground::{BoundCondition, ConditionNode, proven};
use super::model::{AdviceSpec, Author, ChangeSpec, Rule};
use super::own::OwnCommand;
use super::template::Template;
use super::{Advice, Change, HeldBack, Level, Risk};
use crate::facts::{FactSet, KeyInfo, Reading, Source, Subject, Value, Why};
use crate::truth::Truth;

/// The circumstances of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circumstances {
    /// Whether the facts are of this machine, now, rather than of a capture. A probe then ran here;
    /// for a capture it ran on an unknown machine.
    pub live: bool,
    /// Whether findings get their trace.
    pub traced: bool,
}

impl Circumstances {
    /// Whether a reading was observed on the machine it is about.
    fn seen_here(self, reading: &Reading<Value>) -> bool {
        let Some(source) = reading.source() else {
            return false;
        };
        let probed = match source {
            Source::Probe { .. } => true,
            Source::Derived { of, .. } => of.iter().any(|fact| fact.starts_with("probe.")),
            _ => false,
        };
        source.is_evidence() && (self.live || !probed)
    }
}

/// The advice of a rule that applies, and the part that is held back.
pub(super) fn advise(
    rule: &Rule,
    condition: &BoundCondition<'_>,
    facts: &FactSet,
    subject: &Subject,
    circumstances: Circumstances,
) -> (Vec<Advice>, Vec<HeldBack>) {
    let seen_here = |reading: &Reading<Value>| circumstances.seen_here(reading);
    let (mut given, mut held_back) = (Vec::new(), Vec::new());
    for spec in &rule.advise {
        let when = spec
            .when
            .as_ref()
            .map(|when| BoundCondition::new(when, facts, subject));
        if when
            .as_ref()
            .is_some_and(|when| when.truth() != Truth::True)
        {
            continue;
        }
        let Some(change) = spec.change(facts, subject) else {
            continue;
        };
        // The value from a fact may be one that loses data, whatever risk the rule states.
        let risk = if spec.setting.can_lose(change.values()) {
            Risk::DataLossIfWrong
        } else {
            spec.risk
        };
        let sure = proven(condition, &seen_here)
            && when.as_ref().is_none_or(|when| proven(when, &seen_here))
            && spec
                .value_from()
                .is_none_or(|fact| seen_here(&facts.lookup(subject, fact)));
        let allowed = sure && rule.level == Level::Option && rule.author == Author::Walwise;
        if risk == Risk::DataLossIfWrong && !allowed {
            let because = match rule.author {
                Author::Walwise => why_held_back(condition, when.as_ref(), &seen_here),
                Author::User => format!("it can lose data, and the rule is of {}", rule.file),
            };
            held_back.push(HeldBack {
                advice: format!("{}: {}", spec.setting.name, change.words()),
                because,
            });
        } else {
            given.push(Advice {
                risk,
                ..spec.advice(rule, change, facts, subject)
            });
        }
    }
    // Usually there is one of several, on each of thousands of disks.
    given.shrink_to_fit();
    held_back.shrink_to_fit();
    (given, held_back)
}

fn why_held_back(
    condition: &BoundCondition<'_>,
    when: Option<&BoundCondition<'_>>,
    seen_here: &dyn Fn(&Reading<Value>) -> bool,
) -> String {
    let mut elsewhere = Vec::new();
    for condition in [Some(condition), when].into_iter().flatten() {
        not_seen_here(condition, seen_here, &mut elsewhere);
    }
    let not = if elsewhere.is_empty() {
        String::new()
    } else {
        format!(": {}", elsewhere.join(", "))
    };
    format!("it can lose data, and not everything that decides it was seen on this machine{not}")
}

/// The known facts of a condition that were not observed on this machine, with their sources.
fn not_seen_here(
    condition: &BoundCondition<'_>,
    seen_here: &dyn Fn(&Reading<Value>) -> bool,
    names: &mut Vec<String>,
) {
    if let ConditionNode::Test(_, seen) = &condition.node
        && let Some(source) = seen.reading.source()
        && !seen_here(&seen.reading)
    {
        let name = format!("{} ({source})", seen.fact);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    condition
        .kids()
        .iter()
        .for_each(|kid| not_seen_here(kid, seen_here, names));
}

impl AdviceSpec {
    fn value_from(&self) -> Option<&'static KeyInfo> {
        match &self.change {
            ChangeSpec::SetFrom(fact)
            | ChangeSpec::AddFrom(fact)
            | ChangeSpec::RemoveFrom(fact) => Some(fact),
            ChangeSpec::Fixed(_) => None,
        }
    }

    /// The change; `None` when the value to set is unknown, or no words remain to add or remove.
    fn change(&self, facts: &FactSet, subject: &Subject) -> Option<Change> {
        let text = |fact| match facts.lookup(subject, fact).value()? {
            Value::Bool(on) => Some(if *on { "on" } else { "off" }.to_owned()),
            value => Some(value.to_string()),
        };
        let words = |fact| match facts.lookup(subject, fact).value() {
            Some(Value::List(words)) if !words.is_empty() => Some(words.clone()),
            _ => None,
        };
        match &self.change {
            ChangeSpec::Fixed(change) => Some(change.clone()),
            ChangeSpec::SetFrom(fact) => text(fact).map(Change::Set),
            ChangeSpec::AddFrom(fact) => words(fact).map(Change::Add),
            ChangeSpec::RemoveFrom(fact) => words(fact).map(Change::Remove),
        }
    }

    fn advice(&self, rule: &Rule, change: Change, facts: &FactSet, subject: &Subject) -> Advice {
        let commands = |templates: &[Template]| {
            templates
                .iter()
                .map(|one| one.command(facts, subject))
                .collect()
        };
        let current = match self.setting.current {
            Some(fact) => Reading::clone(&facts.lookup(subject, fact)),
            None => Reading::unknown(Why::NotCollected, "nothing holds its current value"),
        };
        Advice {
            setting: self.setting,
            change,
            current,
            reach: self.reach,
            risk: self.risk,
            rank: self.rank,
            price: self
                .price
                .as_ref()
                .map(|price| price.text(facts, subject, &[]).to_string()),
            apply: commands(&self.apply),
            verify: commands(&self.verify),
            undo: commands(&self.undo),
            own: self
                .own
                .iter()
                .map(|own| OwnCommand {
                    purpose: own.purpose,
                    command: own.command.command(facts, subject).to_string(),
                    file: rule.file.clone(),
                    line: rule.line,
                })
                .collect(),
        }
    }
}
