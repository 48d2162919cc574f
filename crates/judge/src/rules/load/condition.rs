use super::fields::{
    CheckedTable, SpannedText, SpannedValue, TableSchema, display_safe_name, parse_list,
    parse_text, toml_type_name,
};
use super::value::{self, OPERATORS};
use std::collections::BTreeMap;
use walwise_model::text::JoinText;

use toml::Spanned;
use toml::de::DeValue;

use crate::facts::{Choice, KeyInfo, Scope, Value, catalog};
use crate::rules::diagnostic::{DiagnosticCollector, Span};
use crate::rules::model::{Condition, FactTest, StackElementKind, TestOperator};
use crate::rules::{deciding_facts, suggest};
use crate::ternary::Ternary;

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

    /// Whether the fact is visible from the rule's scope. If not, a mistake is reported.
    pub fn check_fact_visible(
        &self,
        fact: &KeyInfo,
        span: &Span,
        problems: &DiagnosticCollector,
    ) -> bool {
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
        problems.report_mistake(
            span,
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
pub(super) fn parse_condition(
    item: SpannedValue<'_>,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
) -> Option<Condition> {
    let Some(table) = item.get_ref().as_table() else {
        problems.report_mistake(
            item,
            format!(
                "a condition must be a table, found {}",
                toml_type_name(item)
            ),
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
        ["fact"] => parse_fact_test(item, sight, problems).map(Condition::Fact),
        [head] => parse_compound_condition(head, item, sight, problems),
        [] => {
            let known = || ["fact"].into_iter().chain(COMBINATION_KEYS);
            let help = table
                .keys()
                .find_map(|key| suggest::nearest_word_hint(key.get_ref(), known()));
            problems.report_missing_entry(
                item,
                "the table is not a condition",
                help.unwrap_or_else(|| format!("one of: {}", known().join_with(", "))),
            );
            None
        }
        heads => {
            problems.report_mistake(
                item,
                format!("{} in one condition", heads.join(" and ")),
                "combine them in a list: all = [ {..}, {..} ]",
            );
            None
        }
    }
}

fn parse_compound_condition(
    head: &str,
    item: SpannedValue<'_>,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
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
    let fields = CheckedTable::from_item(item, &shape, problems)?;
    if let Some(build) = quantifier {
        let relation = fields.parse_choice(head, StackElementKind::ALL);
        let inside = relation.map_or_else(
            || sight.clone(),
            |relation| sight.inside_quantifier(relation),
        );
        let holds = fields
            .get("holds")
            .and_then(|holds| parse_condition(holds, &inside, problems));
        if sight.scope == Some(Scope::Host) {
            problems.report_mistake(
                item,
                "the host has no stack to quantify over",
                "use a rule with for = \"mount\" or for = \"target\"",
            );
            return None;
        }
        return Some(build(relation?, Box::new(holds?)));
    }
    let inner = fields.get(head)?;
    if head == "not" {
        return parse_condition(inner, sight, problems)
            .map(|inner| Condition::Not(Box::new(inner)));
    }
    let list = parse_list(inner, problems);
    let read: Vec<Condition> = list
        .iter()
        .filter_map(|one| parse_condition(one, sight, problems))
        .collect();
    if inner
        .get_ref()
        .as_array()
        .is_some_and(|list| list.is_empty())
    {
        problems.report_missing_entry(
            inner,
            format!("`{head}` is empty"),
            "write conditions between the brackets",
        );
    }
    let complete = !read.is_empty() && read.len() == list.len();
    if complete && head == "all" && !check_tests_do_not_contradict(&read, list, problems) {
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
fn check_tests_do_not_contradict(
    read: &[Condition],
    items: &[Spanned<DeValue<'_>>],
    problems: &DiagnosticCollector,
) -> bool {
    let mut seen: BTreeMap<&str, Vec<&FactTest>> = BTreeMap::new();
    for (cond, item) in read.iter().zip(items) {
        let Condition::Fact(test) = cond else {
            continue;
        };
        if let TestOperator::Known(_) | TestOperator::Exists(_) = test.op {
            continue;
        }
        let tests = seen.entry(test.fact.name).or_default();
        tests.push(test);
        let holds = |value: &Value| {
            tests
                .iter()
                .all(|test| test.op.truth_for_value(value) == Ternary::True)
        };
        if tests.len() > 1
            && tests.len() <= MAX_CHECKED_TESTS
            && !deciding_facts::representative_values::values_with_distinct_test_results(tests)
                .iter()
                .any(holds)
        {
            let others: Vec<String> = tests.iter().map(|test| test.test_label()).collect();
            problems.report_mistake(
                item,
                format!("this condition is never true: {}", others.join(", and ")),
                "to accept any of several, use in = [..] for values or any = [..] for tests",
            );
            return false;
        }
    }
    true
}

fn parse_fact_test(
    item: SpannedValue<'_>,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
) -> Option<FactTest> {
    let table = item.get_ref().as_table()?;
    let mut misspelt = false;
    for key in table.keys() {
        let name = key.get_ref().as_ref();
        if name != "fact" && !OPERATORS.contains(&name) {
            misspelt = true;
            problems.report_unknown_word(
                key,
                format!("unknown operator `{}`", display_safe_name(name)),
                name,
                OPERATORS,
            );
        }
    }
    let fact = parse_fact(table.get("fact")?, sight, problems);
    let used: Vec<&str> = OPERATORS
        .into_iter()
        .filter(|operator| table.contains_key(*operator))
        .collect();
    match used.as_slice() {
        [operator] => {
            let (fact, value) = (fact?, table.get(*operator)?);
            let op = value::parse_operator(fact, operator, value, problems)?;
            (!misspelt).then_some(FactTest { fact, op })
        }
        [] if misspelt => None,
        [] => {
            problems.report_missing_entry(
                item,
                "the test has no operator",
                format!("one of: {}", OPERATORS.join(", ")),
            );
            None
        }
        used => {
            problems.report_mistake(
                item,
                format!("{} in one test", used.join(" and ")),
                "write a separate test for each, in all = [..]",
            );
            None
        }
    }
}

pub(super) fn parse_fact(
    item: SpannedValue<'_>,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
) -> Option<&'static KeyInfo> {
    let SpannedText { text, span } = parse_text(item, problems)?;
    find_visible_fact(&text, &span, sight, problems)
}

pub(super) fn find_visible_fact(
    name: &str,
    span: &Span,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
) -> Option<&'static KeyInfo> {
    find_fact(name, span, problems).filter(|fact| sight.check_fact_visible(fact, span, problems))
}

/// Looks a fact up by name and reports an unknown name. The fact need not be visible from the
/// rule's scope.
pub(super) fn find_fact(
    name: &str,
    span: &Span,
    problems: &DiagnosticCollector,
) -> Option<&'static KeyInfo> {
    let fact = catalog::find_by_name(name);
    if fact.is_none() {
        let names = catalog::all_keys().map(|info| info.name);
        let help = if problems.is_mistake_limit_reached() {
            None
        } else {
            suggest::nearest_word_hint(name, names)
        };
        problems.report_mistake(
            span,
            format!("unknown fact `{}`", display_safe_name(name)),
            help.unwrap_or_else(|| "`walwise facts --list` lists all facts".to_owned()),
        );
    }
    fact
}
