//! The mutation score of the built-in rules: each condition changed in one place, and whether an
//! example or the safety enumeration notices. `cargo test --lib mutants -- --nocapture` prints it.
//!
//! In safety rules (those that can lose data, or are critical) every dropped conjunct must be
//! noticed; for all others the score is printed and nothing is asserted. A change with the same
//! outcome on every machine cannot be shown by an example. It is counted separately; for a dropped
//! conjunct it means that the rule can do without it.

use std::collections::BTreeMap;
use std::fmt;
use std::slice;

use super::{safety, worlds};
use crate::facts::Value;
use crate::rules::ground::BoundCondition;
use crate::rules::model::{ChangeSpec, Cond, Op, Rule, Test};
use crate::rules::{Level, Risk, RuleSet, builtin, examples};
use crate::truth::Truth;
use crate::version::{ReleaseRange, Version};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    DroppedConjunct,
    DroppedAlternative,
    DroppedWord,
    Negated,
    Swapped,
    MovedBoundary,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::DroppedConjunct => "a conjunct dropped",
            Self::DroppedAlternative => "an alternative dropped",
            Self::DroppedWord => "a word of a list dropped",
            Self::Negated => "a test negated",
            Self::Swapped => "all and any, every and some swapped",
            Self::MovedBoundary => "a boundary moved",
        })
    }
}

/// A condition with one change, and what was changed.
type Variant = (Kind, String, Cond);

/// The condition with every single change.
fn variants(cond: &Cond) -> Vec<Variant> {
    match cond {
        Cond::All(kids) => {
            let swapped = (
                Kind::Swapped,
                "any for all".to_owned(),
                Cond::Any(kids.clone()),
            );
            let mut all = within(kids, Kind::DroppedConjunct, Cond::All);
            all.extend((kids.len() > 1).then_some(swapped));
            all
        }
        Cond::Any(kids) => {
            let swapped = (
                Kind::Swapped,
                "all for any".to_owned(),
                Cond::All(kids.clone()),
            );
            let mut all = within(kids, Kind::DroppedAlternative, Cond::Any);
            all.extend((kids.len() > 1).then_some(swapped));
            all
        }
        Cond::Not(kid) => {
            let mut all = rebuilt(kid, |kid| Cond::Not(Box::new(kid)));
            all.push((
                Kind::Negated,
                format!("not: {}", said(kid)),
                (**kid).clone(),
            ));
            all
        }
        Cond::Every(relation, kid) => {
            let swapped = Cond::Some(*relation, kid.clone());
            let mut all = rebuilt(kid, |kid| Cond::Every(*relation, Box::new(kid)));
            all.push((
                Kind::Swapped,
                format!("some {} for every", relation.word()),
                swapped,
            ));
            all
        }
        Cond::Some(relation, kid) => {
            let swapped = Cond::Every(*relation, kid.clone());
            let mut all = rebuilt(kid, |kid| Cond::Some(*relation, Box::new(kid)));
            all.push((
                Kind::Swapped,
                format!("every {} for some", relation.word()),
                swapped,
            ));
            all
        }
        Cond::Fact(test) => {
            let mut all: Vec<Variant> = changed(test);
            all.push((
                Kind::Negated,
                test.label(),
                Cond::Not(Box::new(cond.clone())),
            ));
            all
        }
    }
}

/// Without one of the kids, where another is left, and with one of them changed.
fn within(kids: &[Cond], dropped: Kind, make: fn(Vec<Cond>) -> Cond) -> Vec<Variant> {
    let mut all = Vec::new();
    for (index, kid) in kids.iter().enumerate() {
        if kids.len() > 1 {
            let mut others = kids.to_vec();
            others.remove(index);
            all.push((dropped, said(kid), make(others)));
        }
        all.extend(rebuilt(kid, |kid| {
            let mut others = kids.to_vec();
            others[index] = kid;
            make(others)
        }));
    }
    all
}

fn rebuilt(kid: &Cond, make: impl Fn(Cond) -> Cond) -> Vec<Variant> {
    variants(kid)
        .into_iter()
        .map(|(kind, what, kid)| (kind, what, make(kid)))
        .collect()
}

fn said(cond: &Cond) -> String {
    let all = |kids: &[Cond]| kids.iter().map(said).collect::<Vec<_>>().join("; ");
    match cond {
        Cond::All(kids) | Cond::Any(kids) => format!("{} ({})", cond.label(), all(kids)),
        Cond::Not(kid) | Cond::Every(_, kid) | Cond::Some(_, kid) => {
            format!("{} ({})", cond.label(), said(kid))
        }
        Cond::Fact(test) => test.label(),
    }
}

/// A test with one word less, or with another boundary.
fn changed(test: &Test) -> Vec<Variant> {
    let ops: Vec<(Kind, String, Op)> = match &test.op {
        Op::In(values) => less(values, Op::In),
        Op::NotIn(values) => less(values, Op::NotIn),
        Op::HasAny(words) => less(words, Op::HasAny),
        Op::FixedIn(lines) => less(lines, Op::FixedIn),
        Op::InRange(range) => {
            let fixed = |fixed| {
                Op::InRange(ReleaseRange {
                    fixed,
                    ..range.clone()
                })
            };
            less(&range.fixed, fixed)
        }
        Op::AtLeast(value) => moved(value, Op::AtLeast),
        Op::Below(value) => moved(value, Op::Below),
        _ => Vec::new(),
    };
    let cond = |op| {
        Cond::Fact(Test {
            fact: test.fact,
            op,
        })
    };
    ops.into_iter()
        .map(|(kind, what, op)| (kind, format!("{}: {what}", test.label()), cond(op)))
        .collect()
}

fn less<T: Clone + fmt::Display>(
    values: &[T],
    op: impl Fn(Vec<T>) -> Op,
) -> Vec<(Kind, String, Op)> {
    let without = |index: usize| {
        let mut values = values.to_vec();
        let gone = values.remove(index);
        (Kind::DroppedWord, format!("without {gone}"), op(values))
    };
    let least = if values.len() > 1 { 0 } else { values.len() };
    (least..values.len()).map(without).collect()
}

fn moved(value: &Value, op: fn(Value) -> Op) -> Vec<(Kind, String, Op)> {
    let others = match value {
        Value::Whole(number) => vec![
            Value::Whole(number.saturating_sub(1)),
            Value::Whole(number + 1),
        ],
        Value::Number(number) => vec![Value::Number(number - 1.0), Value::Number(number + 1.0)],
        Value::Version(version) => beside(version).into_iter().map(Value::Version).collect(),
        _ => Vec::new(),
    };
    others
        .into_iter()
        .map(|other| (Kind::MovedBoundary, format!("{other}"), op(other)))
        .collect()
}

/// The versions with the last number one less and one more.
fn beside(version: &Version) -> Vec<Version> {
    let last = version.depth() - 1;
    let with = |number: u64| {
        let numbers: Vec<String> = (0..last)
            .map(|index| version.number(index))
            .chain([number])
            .map(|number| number.to_string())
            .collect();
        Version::parse(&numbers.join("."))
    };
    let number = version.number(last);
    [number.checked_sub(1), Some(number + 1)]
        .into_iter()
        .flatten()
        .filter_map(with)
        .collect()
}

/// A rule with one change.
struct Mutant {
    kind: Kind,
    what: String,
    rule: Rule,
}

fn mutants(rule: &Rule) -> Vec<Mutant> {
    let with = |kind, what, change: &dyn Fn(&mut Rule)| {
        let mut rule = rule.clone();
        change(&mut rule);
        Mutant { kind, what, rule }
    };
    let mut all: Vec<Mutant> = variants(&rule.when)
        .into_iter()
        .map(|(kind, what, cond)| with(kind, what, &|rule| rule.when = cond.clone()))
        .collect();
    for (index, spec) in rule.advise.iter().enumerate() {
        let Some(when) = &spec.when else { continue };
        let of = format!("advice on {}", spec.setting.name);
        all.push(with(
            Kind::DroppedConjunct,
            format!("{of}: {}", said(when)),
            &|rule| {
                rule.advise[index].when = None;
            },
        ));
        all.extend(variants(when).into_iter().map(|(kind, what, cond)| {
            with(kind, format!("{of}: {what}"), &|rule| {
                rule.advise[index].when = Some(cond.clone());
            })
        }));
    }
    all
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Caught,
    /// The same outcome on every machine that was tried.
    TheSame,
    Survived,
}

fn fate(rule: &Rule, mutant: &Rule) -> Fate {
    if !examples::run(slice::from_ref(mutant)).is_empty() || safety::visit(mutant).is_err() {
        Fate::Caught
    } else if comes_to_the_same(rule, mutant) {
        Fate::TheSame
    } else {
        Fate::Survived
    }
}

/// Whether both have the same outcome, and the same advice, on every machine that their conditions
/// distinguish.
fn comes_to_the_same(rule: &Rule, mutant: &Rule) -> bool {
    fn conds(rule: &Rule) -> impl Iterator<Item = &Cond> {
        rule.advise
            .iter()
            .filter_map(|spec| spec.when.as_ref())
            .chain([&rule.when])
    }
    let both: Vec<&Cond> = conds(rule).chain(conds(mutant)).collect();
    worlds::visit(&both, rule, |example| {
        let (subject, facts) = examples::machine(rule, example);
        let truth = |cond: &Cond| BoundCondition::new(cond, &facts, &subject).truth();
        let comes_to = |rule: &Rule| {
            let applies = truth(&rule.when);
            let given =
                |when: &Option<Cond>| when.as_ref().is_none_or(|when| truth(when) == Truth::True);
            let advice = rule
                .advise
                .iter()
                .map(|spec| applies == Truth::True && given(&spec.when));
            (applies, advice.collect::<Vec<bool>>())
        };
        comes_to(rule) == comes_to(mutant)
    })
}

/// Whether the rule loses data if it is wrong, or if it stays silent.
fn is_safety(rule: &Rule) -> bool {
    let loses = |change: &ChangeSpec, can_lose: &dyn Fn(&crate::rules::Change) -> bool| match change
    {
        ChangeSpec::Fixed(change) => can_lose(change),
        _ => false,
    };
    rule.level == Level::Critical
        || rule.advise.iter().any(|spec| {
            spec.risk == Risk::DataLossIfWrong
                || loses(&spec.change, &|change| {
                    spec.setting.can_lose(change.values())
                })
        })
}

/// The number of mutants by fate.
#[derive(Default)]
struct Score(BTreeMap<Fate, usize>);

impl Score {
    fn add(&mut self, fate: Fate) {
        *self.0.entry(fate).or_default() += 1;
    }

    fn of(&self, fate: Fate) -> usize {
        self.0.get(&fate).copied().unwrap_or(0)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (caught, survived, same) = (
            self.of(Fate::Caught),
            self.of(Fate::Survived),
            self.of(Fate::TheSame),
        );
        let share = 100.0 * caught as f64 / (caught + survived).max(1) as f64;
        write!(
            f,
            "{caught:>5} of {:>5} noticed ({share:5.1} %), {same} come to the same",
            caught + survived
        )
    }
}

/// Of a safety rule or not, the kind of mutant, its fate, and the change.
type Left = (bool, Kind, Fate, String);

/// The score of all rules, and of the safety rules separately; and the survivors, in words.
fn scored() -> (BTreeMap<(bool, Kind), Score>, Vec<Left>) {
    let (set, _) = RuleSet::parse(&builtin::files());
    let mut scores: BTreeMap<(bool, Kind), Score> = BTreeMap::new();
    let mut left = Vec::new();
    for rule in set.rules() {
        for mutant in mutants(rule) {
            let (safety, fate) = (is_safety(rule), fate(rule, &mutant.rule));
            scores.entry((safety, mutant.kind)).or_default().add(fate);
            if fate != Fate::Caught {
                left.push((
                    safety,
                    mutant.kind,
                    fate,
                    format!("{}: {}", rule.id, mutant.what),
                ));
            }
        }
    }
    (scores, left)
}

#[test]
#[ignore = "exhaustive"]
#[expect(clippy::print_stdout, reason = "the score is for people")]
fn every_conjunct_of_a_safety_rule_is_tried() {
    let (scores, left) = scored();
    for safety in [true, false] {
        println!(
            "{}",
            if safety {
                "Safety rules"
            } else {
                "Other rules"
            }
        );
        for ((_, kind), score) in scores.iter().filter(|((of, _), _)| *of == safety) {
            println!("  {kind:<36}{score}");
        }
    }
    for (safety, kind, fate, what) in &left {
        let rule = if *safety { "safety" } else { "other" };
        println!("{rule}, {kind}, {fate:?}: {what}");
    }
    let idle: Vec<String> = left
        .into_iter()
        .filter(|(safety, kind, ..)| *safety && *kind == Kind::DroppedConjunct)
        .map(|(_, _, fate, what)| match fate {
            Fate::TheSame => {
                format!("{what}: the rule comes to the same without it; simplify the rule")
            }
            _ => format!("{what}: no example fails without it; add one"),
        })
        .collect();
    assert!(idle.is_empty(), "{}", idle.join("\n"));
    assert!(scores.contains_key(&(true, Kind::DroppedConjunct)));
}
