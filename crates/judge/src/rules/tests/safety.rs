//! Tests all advice of the built-in rules that can lose data, in every combination of readings of
//! the deciding facts.
//!
//! `REQUIRED_FACTS` is written independently of the rules, so a rule that loses a condition fails.

use super::distinct_hosts::{
    self, FactWithPossibleReadings, combination_count, denied_reading, example_of_combination,
    for_each_combination, tested_facts_with_readings, tests_with_innermost_quantifier,
};
use crate::facts::{FactSet, KeyInfo, Reading, Source, Subject, Value, ValueKind};
use crate::rules::bound_condition::BoundCondition;
use crate::rules::model::{AdviceSpec, ChangeSpec, Condition, Rule, TestOperator};
use crate::rules::{
    Advice, Change, EvaluationOptions, Level, Outcome, Risk, RuleSet, builtin, evaluate_rule,
    examples,
};
use crate::settings::{self, Setting};
use crate::ternary::Ternary;

type RequiredFacts = &'static [(&'static str, &'static str)];

/// Rows of a setting, a value that loses data, and the facts that must be observed on this host
/// before the value may be advised. Values that lose data and have no row may never be advised.
const REQUIRED_FACTS: &[(&str, &str, RequiredFacts)] = &[(
    "mount.options",
    "nobarrier",
    &[
        ("mount.fstype", "ext4"),
        ("mount.barrier", "on"),
        ("target.flush_removal_allowed", "yes"),
    ],
)];

/// The unsafe value of this setting may be kept if it is already in force: a disk without a cache
/// writes through.
const SAFE_IF_IN_FORCE: &str = "block.write_cache";

const MOST: usize = 300_000;

fn readings_of_value_by_source(value: &Value, how_many: usize) -> Vec<Reading<Value>> {
    let concluded = Source::Derived {
        of: vec!["device.cache".to_owned()],
        assumed: true,
    };
    let ways = [
        Source::from_file("/a/file"),
        Source::Assumed,
        Source::Probe {
            id: "commit".to_owned(),
        },
        concluded,
        Source::derived_from(["probe.flush_cost"]),
    ];
    ways.into_iter()
        .take(how_many)
        .map(|source| Reading::known(value.clone(), source))
        .collect()
}

fn is_observed_here(reading: &Reading<Value>, live: bool) -> bool {
    match reading.source() {
        None | Some(Source::Assumed | Source::Derived { assumed: true, .. }) => false,
        Some(Source::Probe { .. }) => live,
        Some(Source::Derived { of, .. }) => {
            live || of.iter().all(|fact| !fact.starts_with("probe."))
        }
        Some(_) => true,
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Bool(on) => if *on { "on" } else { "off" }.to_owned(),
        value => value.to_string(),
    }
}

fn can_value_lose_data(setting: &Setting, word: &str) -> bool {
    setting.can_lose_data(&[word.to_owned()])
}

fn safe_and_unsafe_setting_values(setting: &Setting, info: &KeyInfo) -> Vec<Value> {
    let text = |words: &[&str]| {
        words
            .iter()
            .map(|word| Value::Text((*word).to_owned()))
            .collect()
    };
    match info.kind {
        ValueKind::Bool => vec![Value::Bool(true), Value::Bool(false)],
        ValueKind::Count | ValueKind::Bytes => {
            let losing = setting.unsafe_values().filter_map(|word| word.parse().ok());
            losing.chain([1, 7]).map(Value::Whole).collect()
        }
        ValueKind::List => setting
            .unsafe_values()
            .map(|word| Value::List(vec![word.to_owned()]))
            .collect(),
        ValueKind::Choice(words) => text(words),
        _ => text(
            &setting
                .unsafe_values()
                .chain(["something else"])
                .collect::<Vec<_>>(),
        ),
    }
}

fn can_advice_lose_data(spec: &AdviceSpec) -> bool {
    let (setting, change) = (spec.setting, &spec.change);
    setting.unsafe_values().next().is_some()
        && match change {
            ChangeSpec::Fixed(Change::Keep) => setting.name != SAFE_IF_IN_FORCE,
            ChangeSpec::Fixed(change) => setting.can_lose_data(change.set_or_added_values()),
            // Facts named `…_leave_out` list features that mkfs omits. A test of the feature table
            // checks that mkfs never omits the journal.
            ChangeSpec::AddFrom(fact) if fact.name.ends_with("_leave_out") => false,
            ChangeSpec::SetFrom(_) | ChangeSpec::AddFrom(_) => true,
            ChangeSpec::RemoveFrom(_) => false,
        }
}

fn readings_of_facts_deciding_advice(
    rule: &Rule,
    spec: &AdviceSpec,
) -> Vec<FactWithPossibleReadings> {
    let conds: Vec<&Condition> = [Some(&rule.when), spec.when.as_ref()]
        .into_iter()
        .flatten()
        .collect();
    let value = match &spec.change {
        ChangeSpec::SetFrom(fact) | ChangeSpec::AddFrom(fact) => Some(*fact),
        ChangeSpec::Fixed(Change::Keep) => spec.setting.current,
        _ => None,
    };
    let quantified = tests_with_innermost_quantifier(&conds)
        .iter()
        .any(|(_, within)| within.is_some());
    let with = |how_many: usize| {
        let read = |value: &Value| readings_of_value_by_source(value, how_many);
        let mut slots = tested_facts_with_readings(&conds, if quantified { 2 } else { 1 }, read);
        if let Some(info) = value {
            slots.retain(|slot| slot.info.name != info.name);
            let values = [
                safe_and_unsafe_setting_values(spec.setting, info),
                distinct_hosts::distinct_fact_values(&conds)
                    .remove(info.name)
                    .unwrap_or_default(),
            ];
            let known = values.iter().flatten().flat_map(read);
            slots.push(FactWithPossibleReadings::of_rule_subject(
                info,
                known.chain([denied_reading()]).collect(),
            ));
        }
        slots
    };
    let fits = [5, 3, 2]
        .into_iter()
        .map(with)
        .find(|slots| combination_count(slots) <= MOST);
    let advice = "let one derived fact stand for them, enumerated where it is derived";
    fits.unwrap_or_else(|| {
        panic!(
            "{}: too many facts decide what can lose data; {advice}",
            rule.id
        )
    })
}

struct AdviceOnChosenReadings<'a> {
    rule: &'a Rule,
    spec: &'a AdviceSpec,
    slots: &'a [FactWithPossibleReadings],
    chosen: &'a [usize],
    live: bool,
}

impl AdviceOnChosenReadings<'_> {
    fn chosen_reading(&self, slot: usize) -> &Reading<Value> {
        &self.slots[slot].readings[self.chosen[slot]]
    }

    fn chosen_readings_text(&self) -> String {
        let shown = |(slot, choice): (&FactWithPossibleReadings, &usize)| match &slot.readings
            [*choice]
        {
            Reading::Known { value, source } => format!("{} = {value} ({source})", slot.info.name),
            Reading::Unknown { .. } => format!("{} unknown", slot.info.name),
        };
        let facts: Vec<String> = self.slots.iter().zip(self.chosen).map(shown).collect();
        format!("{}; live: {}", facts.join(", "), self.live)
    }

    fn is_value_observed(&self, fact: &str, wanted: &str) -> bool {
        let of = (0..self.slots.len()).filter(|slot| self.slots[*slot].info.name == fact);
        let mut readings = of.map(|slot| self.chosen_reading(slot));
        readings.any(|reading| {
            is_observed_here(reading, self.live)
                && reading
                    .value()
                    .is_some_and(|value| value.to_string() == wanted)
        })
    }

    fn holds_for_all_unobserved_values(&self) -> bool {
        let not_seen: Vec<usize> = (0..self.slots.len())
            .filter(|slot| !is_observed_here(self.chosen_reading(*slot), self.live))
            .collect();
        let open: Vec<FactWithPossibleReadings> = not_seen
            .iter()
            .map(|slot| self.slots[*slot].without_unknown_readings())
            .collect();
        for_each_combination(&open, |values| {
            let mut chosen = self.chosen.to_vec();
            not_seen
                .iter()
                .zip(values)
                .for_each(|(slot, value)| chosen[*slot] = *value);
            let (subject, facts) = examples::example_subject_and_facts(
                self.rule,
                &example_of_combination(self.slots, &chosen),
            );
            let conds = [Some(&self.rule.when), self.spec.when.as_ref()];
            conds
                .into_iter()
                .flatten()
                .all(|cond| condition_holds(cond, &facts, &subject))
        })
    }

    /// The reason why the advice must not be given; `None` if it may be given.
    fn reason_advice_is_forbidden(&self, level: Level, advice: &Advice) -> Option<String> {
        let setting = advice.setting;
        if advice.change == Change::Keep {
            let losing = advice
                .current
                .value()
                .is_some_and(|value| can_value_lose_data(setting, &value_text(value)));
            return losing.then(|| format!("{} is called right", setting.name));
        }
        if !setting.can_lose_data(advice.change.set_or_added_values()) {
            return None;
        }
        if level != Level::Optional || advice.risk != Risk::DataLossIfWrong {
            return Some("it is more than an option, or said to be harmless".to_owned());
        }
        for value in advice
            .change
            .set_or_added_values()
            .iter()
            .filter(|value| can_value_lose_data(setting, value))
        {
            let entry = REQUIRED_FACTS
                .iter()
                .find(|(of, what, _)| *of == setting.name && what == value);
            let Some((_, _, facts)) = entry else {
                return Some(format!("nothing unlocks {value}"));
            };
            if let Some((fact, wanted)) = facts
                .iter()
                .find(|(fact, wanted)| !self.is_value_observed(fact, wanted))
            {
                return Some(format!(
                    "{value} although {fact} was not seen here to be {wanted}"
                ));
            }
        }
        (!self.holds_for_all_unobserved_values())
            .then(|| "something that was not seen here decides it".to_owned())
    }
}

fn condition_holds(cond: &Condition, facts: &FactSet, subject: &Subject) -> bool {
    BoundCondition::new(cond, facts, subject).truth() == Ternary::True
}

/// Visits every combination for each advice that could lose data. Returns how often advice was
/// given, or the first combination in which it must not be given.
pub fn check_data_loss_advice_on_all_readings(rule: &Rule) -> Result<usize, String> {
    let mut given = 0;
    for spec in rule.advise.iter().filter(|spec| can_advice_lose_data(spec)) {
        let slots = readings_of_facts_deciding_advice(rule, spec);
        let mut wrong = None;
        for_each_combination(&slots, |chosen| {
            let (subject, facts) =
                examples::example_subject_and_facts(rule, &example_of_combination(&slots, chosen));
            for live in [true, false] {
                let case = AdviceOnChosenReadings {
                    rule,
                    spec,
                    slots: &slots,
                    chosen,
                    live,
                };
                let finding = evaluate_rule(
                    rule,
                    &facts,
                    &subject,
                    EvaluationOptions {
                        live,
                        traced: false,
                    },
                );
                assert!(finding.advice.is_empty() || finding.outcome == Outcome::Applies);
                for advice in finding
                    .advice
                    .iter()
                    .filter(|advice| advice.setting == spec.setting)
                {
                    given += 1;
                    let problem = case.reason_advice_is_forbidden(finding.level, advice);
                    wrong = wrong.take().or(problem.map(|problem| {
                        format!("{}: {problem}: {}", rule.id, case.chosen_readings_text())
                    }));
                }
            }
            wrong.is_none()
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
    }
    Ok(given)
}

#[test]
#[ignore = "exhaustive"]
fn data_loss_advice_requires_listed_facts() {
    let (set, _) = RuleSet::parse_as_builtin(&builtin::builtin_files());
    let mut offered = 0;
    for rule in set.rules() {
        let given =
            check_data_loss_advice_on_all_readings(rule).unwrap_or_else(|wrong| panic!("{wrong}"));
        offered += if rule.level == Level::Optional {
            given
        } else {
            0
        };
    }
    assert!(
        offered > 0,
        "nothing was ever offered, so nothing was shown"
    );
}

#[test]
fn required_facts_rows_name_unsafe_offered_values() {
    let (set, _) = RuleSet::parse_as_builtin(&builtin::builtin_files());
    for (name, value, _) in REQUIRED_FACTS {
        let setting = settings::find_by_name(name).unwrap();
        let change = Change::Add(vec![(*value).to_owned()]);
        assert!(
            setting.can_lose_data(change.set_or_added_values()),
            "{name} {value}"
        );
        let offers = |spec: &AdviceSpec| match &spec.change {
            ChangeSpec::Fixed(change) => {
                change.set_or_added_values().iter().any(|one| one == value)
            }
            _ => false,
        };
        let specs = set.rules().iter().flat_map(|rule| &rule.advise);
        assert!(
            specs.filter(|spec| spec.setting.name == *name).any(offers),
            "{name} {value}"
        );
    }
}

/// Critical rules that test whether a fact is known, with that fact. The third column states why an
/// unreadable fact may silence the rule.
const SILENT_UNREAD: &[(&str, &str, &str)] = &[
    (
        "change.pg-checksums",
        "os.postgresql_version",
        "not read but assumed by `upgrade --os`; without it no server is upgraded",
    ),
    (
        "boot.ext4-nobarrier",
        "boot.options_of_first",
        "both lists of options come from the same file; without another line there is none",
    ),
    (
        "cache.override-on-disk",
        "nvme.volatile_cache",
        "where the drive was not asked, its driver's word is (device.fua)",
    ),
    ("cache.override-on-disk", "nvme.volatile_cache", "the same"),
];

/// An unreadable fact makes every test unknown except a test of `known`. Only a rule with such a
/// test can be silenced, so it must be listed.
#[test]
fn unreadable_facts_silence_only_listed_critical_rules() {
    let (set, _) = RuleSet::parse_as_builtin(&builtin::builtin_files());
    let critical = set
        .rules()
        .iter()
        .filter(|rule| rule.level == Level::Critical);
    let found: Vec<(&str, &str)> = critical
        .flat_map(|rule| {
            tests_with_innermost_quantifier(&[&rule.when])
                .into_iter()
                .map(|(test, _)| (rule.id.as_str(), test))
        })
        .filter(|(_, test)| matches!(test.op, TestOperator::Known))
        .map(|(rule, test)| (rule, test.fact.name))
        .collect();
    let listed: Vec<(&str, &str)> = SILENT_UNREAD
        .iter()
        .map(|(rule, fact, _)| (*rule, *fact))
        .collect();
    assert_eq!(found, listed);
}
