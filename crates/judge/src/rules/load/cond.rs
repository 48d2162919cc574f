//! Conditions: quantifiers, combinations and tests, and whether the facts they name are visible
//! from the rule's subject.

use super::fields::{CheckedTable, SpannedValue, TableSchema, Text, found, list, shown, text};
use super::value::{self, OPERATORS};
use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeValue;

use crate::facts::{KeyInfo, Scope, Value, catalog};
use crate::rules::diagnostic::{Diagnostics, Span};
use crate::rules::model::{Cond, Op, Relation, Test};
use crate::rules::{needs, suggest};
use crate::truth::Truth;

const COMBINATIONS: [&str; 5] = ["all", "any", "not", "every", "some"];

/// The point of view of a condition: the rule's subject, and the elements of the quantifiers around
/// it.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    /// `None` where the rule does not name it; then every fact is visible.
    scope: Option<Scope>,
    within: Vec<Scope>,
}

impl Sight {
    pub fn from(scope: Option<Scope>) -> Self {
        Self {
            scope,
            within: Vec::new(),
        }
    }

    fn inside(&self, relation: Relation) -> Self {
        let mut inside = self.clone();
        inside.within.push(relation.scope());
        inside
    }

    /// Reports a fact of a scope that is not visible from here.
    pub fn check(&self, fact: &KeyInfo, span: &Span, problems: &mut Diagnostics) -> bool {
        let Some(from) = self.scope else { return true };
        let scope = fact.scope;
        if scope == Scope::Host
            || scope == from
            || self.within.contains(&scope)
            || linked(from).contains(&scope)
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
fn linked(scope: Scope) -> &'static [Scope] {
    match scope {
        Scope::Target => &[Scope::Mount, Scope::Device, Scope::Cluster],
        Scope::Cluster => &[Scope::Target, Scope::Mount, Scope::Device],
        Scope::Mount => &[Scope::Device],
        Scope::Boot => &[Scope::Mount],
        Scope::Host | Scope::Device => &[],
    }
}

/// Parses a condition. `None` when anything in it is wrong; every mistake in it is reported.
pub(super) fn cond(
    item: SpannedValue<'_>,
    sight: &Sight,
    problems: &mut Diagnostics,
) -> Option<Cond> {
    let Some(table) = item.get_ref().as_table() else {
        problems.report(
            item,
            format!("a condition is a table, found {}", found(item)),
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
        ["fact"] => test(item, sight, problems).map(Cond::Fact),
        [head] => combination(head, item, sight, problems),
        [] => {
            let known = || ["fact"].into_iter().chain(COMBINATIONS);
            let help = table
                .keys()
                .find_map(|key| suggest::did_you_mean(key.get_ref(), known()));
            problems.missing(
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

fn combination(
    head: &str,
    item: SpannedValue<'_>,
    sight: &Sight,
    problems: &mut Diagnostics,
) -> Option<Cond> {
    let (required, quantifier): (&'static [&'static str], _) = match head {
        "all" => (&["all"], None),
        "any" => (&["any"], None),
        "not" => (&["not"], None),
        "every" => (&["every", "holds"], Some(Cond::Every as fn(_, _) -> _)),
        _ => (&["some", "holds"], Some(Cond::Some as fn(_, _) -> _)),
    };
    let shape = TableSchema {
        what: "this condition",
        required,
        optional: &[],
    };
    let fields = CheckedTable::open(item, &shape, problems)?;
    if let Some(build) = quantifier {
        let relation = fields.word(head, &Relation::ALL, Relation::word, problems);
        let inside = relation.map_or_else(|| sight.clone(), |relation| sight.inside(relation));
        let holds = fields
            .get("holds")
            .and_then(|holds| cond(holds, &inside, problems));
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
        return cond(inner, sight, problems).map(|inner| Cond::Not(Box::new(inner)));
    }
    let list = list(inner, problems);
    let read: Vec<Cond> = list
        .iter()
        .filter_map(|one| cond(one, sight, problems))
        .collect();
    if inner
        .get_ref()
        .as_array()
        .is_some_and(|list| list.is_empty())
    {
        problems.missing(
            inner,
            format!("`{head}` of nothing"),
            "write conditions between the brackets",
        );
    }
    let complete = !read.is_empty() && read.len() == list.len();
    if complete && head == "all" && !possible(&read, list, problems) {
        return None;
    }
    complete.then_some(if head == "all" {
        Cond::All(read)
    } else {
        Cond::Any(read)
    })
}

/// The number of tests of one fact that are checked against each other.
const MOST_TESTS: usize = 4;

/// Reports a test that contradicts those before it: no value of the fact satisfies all of them.
fn possible(read: &[Cond], items: &[Spanned<DeValue<'_>>], problems: &mut Diagnostics) -> bool {
    let mut seen: BTreeMap<&str, Vec<&Test>> = BTreeMap::new();
    for (cond, item) in read.iter().zip(items) {
        let Cond::Fact(test) = cond else { continue };
        if let Op::Known(_) | Op::Exists(_) = test.op {
            continue;
        }
        let tests = seen.entry(test.fact.name).or_default();
        tests.push(test);
        let holds = |value: &Value| tests.iter().all(|test| test.op.holds(value) == Truth::True);
        if tests.len() > 1
            && tests.len() <= MOST_TESTS
            && !needs::domain::values(tests).iter().any(holds)
        {
            let others: Vec<String> = tests.iter().map(|test| test.label()).collect();
            problems.report(
                item,
                format!("this is never so: {}", others.join(", and ")),
                "put values of which one is enough into in = [..], or tests into any = [..]",
            );
            return false;
        }
    }
    true
}

fn test(item: SpannedValue<'_>, sight: &Sight, problems: &mut Diagnostics) -> Option<Test> {
    let table = item.get_ref().as_table()?;
    let mut misspelt = false;
    for key in table.keys() {
        let name = key.get_ref().as_ref();
        if name != "fact" && !OPERATORS.contains(&name) {
            misspelt = true;
            problems.unknown(
                key,
                format!("unknown operator `{}`", shown(name)),
                name,
                OPERATORS,
            );
        }
    }
    let fact = fact(table.get("fact")?, sight, problems);
    let used: Vec<&str> = OPERATORS
        .into_iter()
        .filter(|operator| table.contains_key(*operator))
        .collect();
    match used.as_slice() {
        [operator] => {
            let (fact, value) = (fact?, table.get(*operator)?);
            let op = value::op(fact, operator, value, problems)?;
            (!misspelt).then_some(Test { fact, op })
        }
        [] if misspelt => None,
        [] => {
            problems.missing(
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

/// A fact by name, which exists and is visible.
pub(super) fn fact(
    item: SpannedValue<'_>,
    sight: &Sight,
    problems: &mut Diagnostics,
) -> Option<&'static KeyInfo> {
    let Text { text, span } = text(item, problems)?;
    named(&text, &span, sight, problems)
}

/// The same for a name within a text.
pub(super) fn named(
    name: &str,
    span: &Span,
    sight: &Sight,
    problems: &mut Diagnostics,
) -> Option<&'static KeyInfo> {
    find(name, span, problems).filter(|fact| sight.check(fact, span, problems))
}

/// A fact by name, visible or not.
pub(super) fn find(
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
            format!("unknown fact `{}`", shown(name)),
            help.unwrap_or_else(|| "`walwise facts --list` names them all".to_owned()),
        );
    }
    fact
}
