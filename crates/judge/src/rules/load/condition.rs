//! Conditions: quantifiers, combinations and tests, and whether their facts are visible from the
//! rule's subject.

use super::fields::{
    CheckedTable, SpannedText, SpannedValue, TableSchema, parse_list, parse_text, safe_name,
    value_kind,
};
use super::value::{self, OPERATORS};
use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeValue;

use crate::facts::{KeyInfo, Scope, Value, catalog};
use crate::rules::diagnostic::{Diagnostics, Span};
use crate::rules::model::{Condition, Op, Relation, Test};
use crate::rules::{needs, suggest};
use crate::ternary::Ternary;

const COMBINATIONS: [&str; 5] = ["all", "any", "not", "every", "some"];

/// The scopes visible to a condition: those of the rule's subject, and of the quantifiers around
/// it.
#[derive(Clone, Debug)]
pub(super) struct VisibleScopes {
    /// `None` if the rule does not name it; then every fact is visible.
    scope: Option<Scope>,
    elements: Vec<Scope>,
}

impl VisibleScopes {
    pub fn for_subject(scope: Option<Scope>) -> Self {
        Self {
            scope,
            elements: Vec::new(),
        }
    }

    fn in_element(&self, relation: Relation) -> Self {
        let mut inside = self.clone();
        inside.elements.push(relation.scope());
        inside
    }

    /// Reports a fact that is not visible.
    pub fn check_fact(&self, fact: &KeyInfo, span: &Span, problems: &mut Diagnostics) -> bool {
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
                format!("write the rule for = \"{scope}\"")
            }
            Scope::Device => "ask it of the stack: every = \"leaf\", some = \"layer\"".to_owned(),
            Scope::Mount => "ask it of the stack: every = \"mount\", some = \"mount\"".to_owned(),
            scope => format!("write the rule for = \"{scope}\""),
        };
        problems.report(
            span,
            format!(
                "{} is a fact of a {scope}, and a {from} does not have exactly one",
                fact.name
            ),
            help,
        );
        false
    }
}

/// The scopes of which a subject has exactly one other subject, in which facts are looked up.
fn linked_scopes(scope: Scope) -> &'static [Scope] {
    match scope {
        Scope::Target => &[Scope::Mount, Scope::Device, Scope::Cluster],
        Scope::Cluster => &[Scope::Target, Scope::Mount, Scope::Device],
        Scope::Mount => &[Scope::Device],
        Scope::Boot => &[Scope::Mount],
        Scope::Host | Scope::Device => &[],
    }
}

/// `None` if anything in it is wrong; every mistake in it is reported.
pub(super) fn parse_condition(
    item: SpannedValue<'_>,
    sight: &VisibleScopes,
    problems: &mut Diagnostics,
) -> Option<Condition> {
    let Some(table) = item.get_ref().as_table() else {
        problems.report(
            item,
            format!("a condition is a table, found {}", value_kind(item)),
            "such as { fact = \"mount.fstype\", is = \"ext4\" }",
        );
        return None;
    };
    let heads: Vec<&str> = ["fact"]
        .into_iter()
        .chain(COMBINATIONS)
        .filter(|head| table.contains_key(*head))
        .collect();
    match heads.as_slice() {
        ["fact"] => parse_test(item, sight, problems).map(Condition::Fact),
        [head] => parse_combination(head, item, sight, problems),
        [] => {
            let known = || ["fact"].into_iter().chain(COMBINATIONS);
            let help = table
                .keys()
                .find_map(|key| suggest::did_you_mean(key.get_ref(), known()));
            problems.missing_entry(
                item,
                "this is no condition",
                help.unwrap_or_else(|| {
                    format!("one of: {}", known().collect::<Vec<_>>().join(", "))
                }),
            );
            None
        }
        heads => {
            problems.report(
                item,
                format!("{} in one condition", heads.join(" and ")),
                "put them into one list: all = [ {..}, {..} ]",
            );
            None
        }
    }
}

fn parse_combination(
    head: &str,
    item: SpannedValue<'_>,
    sight: &VisibleScopes,
    problems: &mut Diagnostics,
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
    let fields = CheckedTable::open(item, &shape, problems)?;
    if let Some(build) = quantifier {
        let relation = fields.choice(head, &Relation::ALL, Relation::as_str, problems);
        let inside = relation.map_or_else(|| sight.clone(), |relation| sight.in_element(relation));
        let holds = fields
            .get("holds")
            .and_then(|holds| parse_condition(holds, &inside, problems));
        if sight.scope == Some(Scope::Host) {
            problems.report(
                item,
                "the host has no stack to quantify over",
                "write the rule for = \"mount\" or for = \"target\"",
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
        problems.missing_entry(
            inner,
            format!("`{head}` is empty"),
            "write conditions between the brackets",
        );
    }
    let complete = !read.is_empty() && read.len() == list.len();
    if complete && head == "all" && !check_satisfiable(&read, list, problems) {
        return None;
    }
    complete.then_some(if head == "all" {
        Condition::All(read)
    } else {
        Condition::Any(read)
    })
}

/// The largest number of tests of one fact that are checked against each other.
const MAX_CHECKED_TESTS: usize = 4;

/// Reports a test that contradicts those before it, so that no value satisfies all.
fn check_satisfiable(
    read: &[Condition],
    items: &[Spanned<DeValue<'_>>],
    problems: &mut Diagnostics,
) -> bool {
    let mut seen: BTreeMap<&str, Vec<&Test>> = BTreeMap::new();
    for (cond, item) in read.iter().zip(items) {
        let Condition::Fact(test) = cond else {
            continue;
        };
        if let Op::Known(_) | Op::Exists(_) = test.op {
            continue;
        }
        let tests = seen.entry(test.fact.name).or_default();
        tests.push(test);
        let holds = |value: &Value| {
            tests
                .iter()
                .all(|test| test.op.holds(value) == Ternary::True)
        };
        if tests.len() > 1
            && tests.len() <= MAX_CHECKED_TESTS
            && !needs::domain::distinct_values(tests).iter().any(holds)
        {
            let others: Vec<String> = tests.iter().map(|test| test.label()).collect();
            problems.report(
                item,
                format!("this is never true: {}", others.join(", and ")),
                "to accept any of several, use in = [..] for values or any = [..] for tests",
            );
            return false;
        }
    }
    true
}

fn parse_test(
    item: SpannedValue<'_>,
    sight: &VisibleScopes,
    problems: &mut Diagnostics,
) -> Option<Test> {
    let table = item.get_ref().as_table()?;
    let mut misspelt = false;
    for key in table.keys() {
        let name = key.get_ref().as_ref();
        if name != "fact" && !OPERATORS.contains(&name) {
            misspelt = true;
            problems.unrecognised_value(
                key,
                format!("unknown operator `{}`", safe_name(name)),
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
            (!misspelt).then_some(Test { fact, op })
        }
        [] if misspelt => None,
        [] => {
            problems.missing_entry(
                item,
                "a test without an operator",
                format!("one of: {}", OPERATORS.join(", ")),
            );
            None
        }
        used => {
            problems.report(
                item,
                format!("{} in one test", used.join(" and ")),
                "write one test for each, in all = [..]",
            );
            None
        }
    }
}

/// A fact that exists and is visible.
pub(super) fn parse_fact(
    item: SpannedValue<'_>,
    sight: &VisibleScopes,
    problems: &mut Diagnostics,
) -> Option<&'static KeyInfo> {
    let SpannedText { text, span } = parse_text(item, problems)?;
    visible_fact(&text, &span, sight, problems)
}

/// The same for a name within a text.
pub(super) fn visible_fact(
    name: &str,
    span: &Span,
    sight: &VisibleScopes,
    problems: &mut Diagnostics,
) -> Option<&'static KeyInfo> {
    known_fact(name, span, problems).filter(|fact| sight.check_fact(fact, span, problems))
}

/// A fact that exists, visible or not.
pub(super) fn known_fact(
    name: &str,
    span: &Span,
    problems: &mut Diagnostics,
) -> Option<&'static KeyInfo> {
    let fact = catalog::find(name);
    if fact.is_none() {
        let names = catalog::all().map(|info| info.name);
        let help = if problems.is_full() {
            None
        } else {
            suggest::did_you_mean(name, names)
        };
        problems.report(
            span,
            format!("unknown fact `{}`", safe_name(name)),
            help.unwrap_or_else(|| "`walwise facts --list` names them all".to_owned()),
        );
    }
    fact
}
