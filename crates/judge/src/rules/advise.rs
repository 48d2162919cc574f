//! Builds the advice of a rule, with the facts of the subject filled in.
//!
//! Advice that can lose data is given only if every deciding fact was observed on this host. Advice
//! whose value comes from an unknown fact is dropped.

use super::bound_condition::{BoundCondition, ConditionNode};
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
        let conditions: Vec<&BoundCondition<'_>> = [condition].into_iter().chain(&when).collect();
        let sure = conditions
            .iter()
            .all(|condition| is_decided_by_observed_readings(condition, circumstances))
            && spec.fact_giving_advised_value().is_none_or(|fact| {
                circumstances.is_observed_here(&facts.applicable_reading(subject, fact))
            });
        let allowed = sure && rule.level == Level::Optional && rule.author == Author::Walwise;
        if risk == Risk::DataLossIfWrong && !allowed {
            let because = match rule.author {
                Author::Walwise => blocked_advice_reason(&conditions, circumstances),
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

/// Whether the readings observed on this host suffice to decide the result. False for an unknown
/// result.
fn is_decided_by_observed_readings(
    condition: &BoundCondition<'_>,
    options: EvaluationOptions,
) -> bool {
    let truth = condition.truth();
    let mut proofs = condition
        .children()
        .iter()
        .map(|kid| kid.truth() == truth && is_decided_by_observed_readings(kid, options));
    match (&condition.node, truth) {
        (_, Ternary::Unknown) | (ConditionNode::Undecidable, _) => false,
        (ConditionNode::All(kids), Ternary::True) | (ConditionNode::Any(kids), Ternary::False) => {
            !kids.is_empty() && proofs.all(|one| one)
        }
        (ConditionNode::All(_), Ternary::False) | (ConditionNode::Any(_), Ternary::True) => {
            proofs.any(|one| one)
        }
        (ConditionNode::Not(kid), _) => is_decided_by_observed_readings(kid, options),
        (ConditionNode::Test(_, seen), _) => {
            seen.reading.is_known() && options.is_observed_here(&seen.reading)
        }
    }
}

fn blocked_advice_reason(conditions: &[&BoundCondition<'_>], options: EvaluationOptions) -> String {
    let mut elsewhere = Vec::new();
    for condition in conditions {
        collect_unobserved_facts(condition, options, &mut elsewhere);
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
    options: EvaluationOptions,
    names: &mut Vec<String>,
) {
    if let ConditionNode::Test(_, seen) = &condition.node
        && let Some(source) = seen.reading.source()
        && !options.is_observed_here(&seen.reading)
    {
        let name = format!("{} ({source})", seen.fact);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for kid in condition.children() {
        collect_unobserved_facts(kid, options, names);
    }
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
