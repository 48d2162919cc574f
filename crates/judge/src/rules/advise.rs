//! Builds the advice of a rule, with the facts of the subject filled in.
//!
//! Advice that can lose data is given only if every deciding fact was observed on this host. Advice
//! whose value comes from an unknown fact is dropped.

use super::bound_condition::{
    BoundCondition, ConditionNode, is_result_decided_by_accepted_readings,
};
use super::model::{AdviceSpec, Author, ChangeSpec, Rule};
use super::template::Template;
use super::{Advice, BlockedAdvice, Change, Level, Risk, UserCommand};
use crate::facts::{FactSet, KeyInfo, Reading, Source, Subject, UnknownReason, Value};
use crate::ternary::Ternary;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationOptions {
    /// Whether the facts come from this host, now. A capture is not live: its probe ran on an
    /// unknown host.
    pub live: bool,
    pub traced: bool,
}

impl EvaluationOptions {
    /// The result of a probe counts only if the facts are live.
    fn is_observed_here(self, reading: &Reading<Value>) -> bool {
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

pub(super) fn advice_and_blocked_advice_of_rule(
    rule: &Rule,
    condition: &BoundCondition<'_>,
    facts: &FactSet,
    subject: &Subject,
    circumstances: EvaluationOptions,
) -> (Vec<Advice>, Vec<BlockedAdvice>) {
    let seen_here = |reading: &Reading<Value>| circumstances.is_observed_here(reading);
    let (mut given, mut held_back) = (Vec::new(), Vec::new());
    for spec in &rule.advise {
        let when = spec
            .when
            .as_ref()
            .map(|when| BoundCondition::new(when, facts, subject));
        if when
            .as_ref()
            .is_some_and(|when| when.truth() != Ternary::True)
        {
            continue;
        }
        let Some(change) = spec.change_for_subject(facts, subject) else {
            continue;
        };
        // Some values of a setting can lose data, and a value taken from a fact is known only now.
        // Such a value raises the risk that the rule states.
        let risk = if spec.setting.can_lose_data(change.set_or_added_values()) {
            Risk::DataLossIfWrong
        } else {
            spec.risk
        };
        let sure = is_result_decided_by_accepted_readings(condition, &seen_here)
            && when
                .as_ref()
                .is_none_or(|when| is_result_decided_by_accepted_readings(when, &seen_here))
            && spec
                .fact_giving_advised_value()
                .is_none_or(|fact| seen_here(&facts.applicable_reading(subject, fact)));
        let allowed = sure && rule.level == Level::Optional && rule.author == Author::Walwise;
        if risk == Risk::DataLossIfWrong && !allowed {
            let because = match rule.author {
                Author::Walwise => blocked_advice_reason(condition, when.as_ref(), &seen_here),
                Author::User => format!(
                    "only walwise's own rules may give advice that can lose data; this rule is from {}",
                    rule.file
                ),
            };
            held_back.push(BlockedAdvice {
                advice: format!("{}: {}", spec.setting.name, change.describe_change()),
                because,
            });
        } else {
            given.push(Advice {
                risk,
                ..spec.build_advice(rule, change, facts, subject)
            });
        }
    }
    // Frees unused capacity, because each of thousands of disks can have such lists.
    given.shrink_to_fit();
    held_back.shrink_to_fit();
    (given, held_back)
}

fn blocked_advice_reason(
    condition: &BoundCondition<'_>,
    when: Option<&BoundCondition<'_>>,
    seen_here: &dyn Fn(&Reading<Value>) -> bool,
) -> String {
    let mut elsewhere = Vec::new();
    for condition in [Some(condition), when].into_iter().flatten() {
        collect_unobserved_facts(condition, seen_here, &mut elsewhere);
    }
    let not = if elsewhere.is_empty() {
        String::new()
    } else {
        format!(": {}", elsewhere.join(", "))
    };
    format!("this advice can lose data, and not every deciding fact was read on this host{not}")
}

fn collect_unobserved_facts(
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
        .children()
        .iter()
        .for_each(|kid| collect_unobserved_facts(kid, seen_here, names));
}

impl AdviceSpec {
    fn fact_giving_advised_value(&self) -> Option<&'static KeyInfo> {
        match &self.change {
            ChangeSpec::SetFrom(fact)
            | ChangeSpec::AddFrom(fact)
            | ChangeSpec::RemoveFrom(fact) => Some(fact),
            ChangeSpec::Fixed(_) => None,
        }
    }

    /// `None` if the value to set is unknown, or if nothing is to be added or removed.
    fn change_for_subject(&self, facts: &FactSet, subject: &Subject) -> Option<Change> {
        let text = |fact| match facts.applicable_reading(subject, fact).value()? {
            Value::Bool(on) => Some(if *on { "on" } else { "off" }.to_owned()),
            value => Some(value.to_string()),
        };
        let words = |fact| match facts.applicable_reading(subject, fact).value() {
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

    fn build_advice(
        &self,
        rule: &Rule,
        change: Change,
        facts: &FactSet,
        subject: &Subject,
    ) -> Advice {
        let commands = |templates: &[Template]| {
            templates
                .iter()
                .map(|one| one.shell_command(facts, subject))
                .collect()
        };
        let current = match self.setting.current {
            Some(fact) => Reading::clone(&facts.applicable_reading(subject, fact)),
            None => Reading::unknown(
                UnknownReason::NotCollected,
                "walwise does not read the current value",
            ),
        };
        Advice {
            setting: self.setting,
            change,
            current,
            reach: self.reach,
            risk: self.risk,
            rank: self.rank,
            tradeoff: self
                .tradeoff
                .as_ref()
                .map(|price| price.render_for_subject(facts, subject, &[]).to_string()),
            apply: commands(&self.apply),
            verify: commands(&self.verify),
            undo: commands(&self.undo),
            own: self
                .user_commands
                .iter()
                .map(|own| UserCommand {
                    purpose: own.purpose,
                    command: own.command.shell_command(facts, subject).to_string(),
                    file: rule.file.clone(),
                    line: rule.line,
                })
                .collect(),
        }
    }
}
