use std::collections::BTreeMap;

use super::fields::{CheckedTable, Item, TableSchema, display_safe_name};
use super::value::{self, OPERATORS};
use crate::facts::{Choice, KeyInfo, Scope, Value, catalog};
use crate::rules::diagnostic::Place;
use crate::rules::model::{Condition, FactTest, StackElementKind, TestOperator};
use crate::rules::{deciding_facts, suggest};
use crate::ternary::Ternary;
use walwise_model::text::JoinText;

const COMBINATION_KEYS: [&str; 5] = ["all", "any", "not", "every", "some"];

/// The scopes whose facts a condition can test: those linked to the rule's subject, and those of
/// the enclosing quantifiers.
#[derive(Clone, Debug)]
pub(super) struct FactVisibility {
    /// `None` if the rule names no scope, so that every fact is visible.
    scope: Option<Scope>,
    elements: Vec<Scope>,
}

impl FactVisibility {
    pub fn for_rule_scope(scope: Option<Scope>) -> Self {
        Self {
            scope,
            elements: Vec::new(),
        }
    }

    fn inside_quantifier(&self, relation: StackElementKind) -> Self {
        let mut inside = self.clone();
        inside.elements.push(relation.scope());
        inside
    }

    /// Looks a fact up by name, and reports an unknown or invisible fact.
    pub fn find_fact(&self, name: &str, at: &impl Place) -> Option<&'static KeyInfo> {
        find_fact(name, at).filter(|fact| self.check_fact_visible(fact, at))
    }

    /// Whether the fact is visible from the rule's scope. If not, a mistake is reported.
    fn check_fact_visible(&self, fact: &KeyInfo, at: &impl Place) -> bool {
        let Some(from) = self.scope else { return true };
        let scope = fact.scope;
        if scope == Scope::Host
            || scope == from
            || self.elements.contains(&scope)
            || linked_scopes(from).contains(&scope)
        {
            return true;
        }
        let help = match scope {
            Scope::Device | Scope::Mount if from == Scope::Host => {
                format!("use a rule with for = \"{scope}\"")
            }
            Scope::Device => "test it in the stack: every = \"leaf\", some = \"layer\"".to_owned(),
            Scope::Mount => "test it in the stack: every = \"mount\", some = \"mount\"".to_owned(),
            scope => format!("use a rule with for = \"{scope}\""),
        };
        at.report_mistake(
            format!(
                "{} is a fact of a {scope}; a {from} may have none, or more than one",
                fact.name
            ),
            help,
        );
        false
    }
}

/// Other scopes in which a subject of `scope` has one linked subject, whose facts a rule can use.
fn linked_scopes(scope: Scope) -> &'static [Scope] {
    match scope {
        Scope::Target => &[Scope::Mount, Scope::Device, Scope::Cluster],
        Scope::Cluster => &[Scope::Target, Scope::Mount, Scope::Device],
        Scope::Mount => &[Scope::Device],
        Scope::Boot => &[Scope::Mount],
        Scope::Host | Scope::Device => &[],
    }
}

/// Reports every mistake in the condition. `None` if any part has a mistake.
pub(super) fn parse_condition(item: Item<'_>, sight: &FactVisibility) -> Option<Condition> {
    let Some(table) = item.value().as_table() else {
        item.report_mistake(
            format!("a condition must be a table, found {}", item.type_name()),
            "write, for example, { fact = \"mount.fstype\", is = \"ext4\" }",
        );
        return None;
    };
    let heads: Vec<&str> = ["fact"]
        .into_iter()
        .chain(COMBINATION_KEYS)
        .filter(|head| table.contains_key(*head))
        .collect();
    match heads.as_slice() {
        ["fact"] => parse_fact_test(item, sight).map(Condition::Fact),
        [head] => parse_compound_condition(head, item, sight),
        [] => {
            let known = || ["fact"].into_iter().chain(COMBINATION_KEYS);
            let help = table
                .keys()
                .find_map(|key| suggest::nearest_word_hint(key.get_ref(), known()));
            item.report_missing_entry(
                "the table is not a condition",
                help.unwrap_or_else(|| format!("one of: {}", known().join_with(", "))),
            );
            None
        }
        heads => {
            item.report_mistake(
                format!("{} in one condition", heads.join(" and ")),
                "combine them in a list: all = [ {..}, {..} ]",
            );
            None
        }
    }
}

fn parse_compound_condition(
    head: &str,
    item: Item<'_>,
    sight: &FactVisibility,
) -> Option<Condition> {
    let (required, quantifier): (&'static [&'static str], _) = match head {
        "all" => (&["all"], None),
        "any" => (&["any"], None),
        "not" => (&["not"], None),
        "every" => (&["every", "holds"], Some(Condition::Every as fn(_, _) -> _)),
        _ => (&["some", "holds"], Some(Condition::Some as fn(_, _) -> _)),
    };
    let shape = TableSchema {
        what: "this condition",
        required,
        optional: &[],
    };
    let fields = CheckedTable::from_item(item, &shape)?;
    if let Some(build) = quantifier {
        let relation = fields.parse_choice(head, StackElementKind::ALL);
        let inside = relation.map_or_else(
            || sight.clone(),
            |relation| sight.inside_quantifier(relation),
        );
        let holds = fields
            .get("holds")
            .and_then(|holds| parse_condition(holds, &inside));
        if sight.scope == Some(Scope::Host) {
            item.report_mistake(
                "the host has no stack to quantify over",
                "use a rule with for = \"mount\" or for = \"target\"",
            );
            return None;
        }
        return Some(build(relation?, Box::new(holds?)));
    }
    let inner = fields.get(head)?;
    if head == "not" {
        return parse_condition(inner, sight).map(|inner| Condition::Not(Box::new(inner)));
    }
    let list = inner.list();
    let read: Vec<Condition> = list
        .iter()
        .filter_map(|one| parse_condition(*one, sight))
        .collect();
    if inner.is_empty_list() {
        inner.report_missing_entry(
            format!("`{head}` is empty"),
            "write conditions between the brackets",
        );
    }
    let complete = !read.is_empty() && read.len() == list.len();
    if complete && head == "all" && !check_tests_do_not_contradict(&read, &list) {
        return None;
    }
    complete.then_some(if head == "all" {
        Condition::All(read)
    } else {
        Condition::Any(read)
    })
}

const MAX_CHECKED_TESTS: usize = 4;

/// Reports a test that contradicts earlier tests of the fact, so that no value satisfies them all.
fn check_tests_do_not_contradict(read: &[Condition], items: &[Item<'_>]) -> bool {
    let mut seen: BTreeMap<&str, Vec<&FactTest>> = BTreeMap::new();
    for (cond, item) in read.iter().zip(items) {
        let Condition::Fact(test) = cond else {
            continue;
        };
        if let TestOperator::Known | TestOperator::Exists = test.op {
            continue;
        }
        let tests = seen.entry(test.fact.name).or_default();
        tests.push(test);
        let holds = |value: &Value| {
            tests
                .iter()
                .all(|test| test.truth_for_value(value) == Ternary::True)
        };
        if tests.len() > 1
            && tests.len() <= MAX_CHECKED_TESTS
            && !deciding_facts::representative_values::values_with_distinct_test_results(tests)
                .iter()
                .any(holds)
        {
            let others: Vec<String> = tests.iter().map(|test| test.test_label()).collect();
            item.report_mistake(
                format!("this condition is never true: {}", others.join(", and ")),
                "to accept any of several, use in = [..] for values or any = [..] for tests",
            );
            return false;
        }
    }
    true
}

fn parse_fact_test(item: Item<'_>, sight: &FactVisibility) -> Option<FactTest> {
    let table = item.value().as_table()?;
    let mut misspelt = false;
    for key in table.keys() {
        let name = key.get_ref().as_ref();
        if name != "fact" && !OPERATORS.contains(&name) {
            misspelt = true;
            (key.span(), item.problems).report_unknown_word(
                format!("unknown operator `{}`", display_safe_name(name)),
                name,
                OPERATORS,
            );
        }
    }
    let part = |key: &str| {
        let source = table.get(key)?;
        Some(Item { source, ..item })
    };
    let fact = parse_fact(part("fact")?, sight);
    let used: Vec<&str> = OPERATORS
        .into_iter()
        .filter(|operator| table.contains_key(*operator))
        .collect();
    match used.as_slice() {
        [operator] => {
            let (fact, value) = (fact?, part(operator)?);
            let test = value::parse_test(fact, operator, value)?;
            (!misspelt).then_some(test)
        }
        [] if misspelt => None,
        [] => {
            item.report_missing_entry(
                "the test has no operator",
                format!("one of: {}", OPERATORS.join(", ")),
            );
            None
        }
        used => {
            item.report_mistake(
                format!("{} in one test", used.join(" and ")),
                "write a separate test for each, in all = [..]",
            );
            None
        }
    }
}

pub(super) fn parse_fact(item: Item<'_>, sight: &FactVisibility) -> Option<&'static KeyInfo> {
    let name = item.text()?;
    sight.find_fact(&name.text, &item)
}

/// Looks a fact up by name and reports an unknown name. The fact need not be visible from the
/// rule's scope.
pub(super) fn find_fact(name: &str, at: &impl Place) -> Option<&'static KeyInfo> {
    let fact = catalog::find_by_name(name);
    if fact.is_none() {
        let names = catalog::all_keys().map(|info| info.name);
        let help = if at.problems().is_mistake_limit_reached() {
            None
        } else {
            suggest::nearest_word_hint(name, names)
        };
        at.report_mistake(
            format!("unknown fact `{}`", display_safe_name(name)),
            help.unwrap_or_else(|| "`walwise facts --list` lists all facts".to_owned()),
        );
    }
    fact
}
