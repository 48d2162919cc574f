//! Values and operators of tests, checked against what the fact can be.

use toml::de::DeValue;

use super::fields::{Item, Text, found, list, text, texts};
use crate::facts::{KeyInfo, Kind, Value};
use crate::rules::diagnostic::Problems;
use crate::rules::model::Op;
use crate::rules::suggest;
use crate::version::Version;

/// Every operator of a test.
pub(super) const OPERATORS: [&str; 13] = [
    "is",
    "is_not",
    "in",
    "not_in",
    "has",
    "lacks",
    "has_any",
    "has_option",
    "lacks_option",
    "at_least",
    "below",
    "fixed_in",
    "known",
];

/// Whether an operator makes sense for a kind of fact.
fn fits(operator: &str, kind: Kind) -> bool {
    match operator {
        "is" | "is_not" | "known" => true,
        "in" | "not_in" => kind != Kind::Bool && !kind.is_list(),
        "has" | "lacks" | "has_any" | "has_option" | "lacks_option" => kind.is_list(),
        "at_least" | "below" => {
            matches!(kind, Kind::Count | Kind::Bytes | Kind::Micros | Kind::Number | Kind::Version)
        }
        "fixed_in" => kind == Kind::Version,
        _ => false,
    }
}

/// Reads an operator with its value.
pub(super) fn op(fact: &KeyInfo, operator: &str, item: Item<'_>, problems: &mut Problems) -> Option<Op> {
    if !fits(operator, fact.kind) {
        let fitting: Vec<&str> = OPERATORS.into_iter().filter(|one| fits(one, fact.kind)).collect();
        problems.report(
            item.span(),
            format!("`{operator}` does not fit {}, which is {}", fact.name, fact.kind.words()),
            format!("operators that do: {}", fitting.join(", ")),
        );
        return None;
    }
    let words = |item, problems: &mut Problems| {
        let words: Vec<String> =
            texts(item, problems).into_iter().filter_map(|word| allowed(fact, word, problems)).collect();
        some_of(words, item, problems)
    };
    match operator {
        "is" => value(fact, item, problems).map(Op::Is),
        "is_not" => value(fact, item, problems).map(Op::IsNot),
        "in" => values(fact, item, problems).map(Op::In),
        "not_in" => values(fact, item, problems).map(Op::NotIn),
        "has" => one_of(fact, item, problems).map(Op::Has),
        "lacks" => one_of(fact, item, problems).map(Op::Lacks),
        "has_option" => one_of(fact, item, problems).map(Op::HasOption),
        "lacks_option" => one_of(fact, item, problems).map(Op::LacksOption),
        "has_any" => words(item, problems).map(Op::HasAny),
        "at_least" => value(fact, item, problems).map(Op::AtLeast),
        "below" => value(fact, item, problems).map(Op::Below),
        "fixed_in" => {
            let lines: Vec<Version> =
                list(item, problems).iter().filter_map(|item| version(item, problems)).collect();
            some_of(lines, item, problems).map(Op::FixedIn)
        }
        _ => match item.get_ref().as_bool() {
            Some(known) => Some(Op::Known(known)),
            None => wrong(fact, "true or false", item, problems),
        },
    }
}

fn some_of<T>(list: Vec<T>, item: Item<'_>, problems: &mut Problems) -> Option<Vec<T>> {
    if item.get_ref().as_array().is_some_and(|list| list.is_empty()) {
        problems.report(item.span(), "an empty list decides nothing", None);
    }
    (!list.is_empty()).then_some(list)
}

fn values(fact: &KeyInfo, item: Item<'_>, problems: &mut Problems) -> Option<Vec<Value>> {
    let values: Vec<Value> =
        list(item, problems).iter().filter_map(|item| value(fact, item, problems)).collect();
    some_of(values, item, problems)
}

/// Reads a value that the fact could have.
pub(super) fn value(fact: &KeyInfo, item: Item<'_>, problems: &mut Problems) -> Option<Value> {
    let wanted = fact.kind.words();
    match (fact.kind, item.get_ref()) {
        (Kind::Bool, DeValue::Boolean(value)) => Some(Value::Bool(*value)),
        (Kind::Count | Kind::Bytes, DeValue::Integer(number)) => {
            match u64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Some(Value::Whole(number)),
                Err(_) => wrong(fact, "a whole number from 0", item, problems),
            }
        }
        (Kind::Micros | Kind::Number, DeValue::Integer(number)) => {
            number_of(fact, number.as_str(), item, problems)
        }
        (Kind::Micros | Kind::Number, DeValue::Float(number)) => {
            number_of(fact, number.as_str(), item, problems)
        }
        (Kind::Text, DeValue::String(_)) => text(item, problems).map(|value| Value::Text(value.text)),
        (Kind::Choice(_), DeValue::String(_)) => one_of(fact, item, problems).map(Value::Text),
        (Kind::Version, _) => version(item, problems).map(Value::Version),
        (Kind::List | Kind::Choices(_), DeValue::Array(_)) => {
            let words = texts(item, problems).into_iter().filter_map(|word| allowed(fact, word, problems));
            Some(Value::List(words.collect()))
        }
        _ => wrong(fact, &wanted, item, problems),
    }
}

/// A word that the fact can be or hold.
fn one_of(fact: &KeyInfo, item: Item<'_>, problems: &mut Problems) -> Option<String> {
    text(item, problems).and_then(|word| allowed(fact, word, problems))
}

fn allowed(fact: &KeyInfo, word: Text, problems: &mut Problems) -> Option<String> {
    let Text { text, span } = word;
    let Some(words) = fact.kind.choices().filter(|words| !words.contains(&text.as_str())) else {
        return Some(text);
    };
    let help = suggest::or_list(&text, words.iter().copied());
    problems.report(span, format!("{} is never `{text}`", fact.name), help);
    None
}

fn number_of(fact: &KeyInfo, text: &str, item: Item<'_>, problems: &mut Problems) -> Option<Value> {
    match text.replace('_', "").parse::<f64>() {
        Ok(number) if number.is_finite() => Some(Value::Number(number)),
        _ => wrong(fact, "a number", item, problems),
    }
}

fn version(item: Item<'_>, problems: &mut Problems) -> Option<Version> {
    if !item.get_ref().is_str() {
        let help = "write versions in quotes: \"6.10\" is not 6.1";
        problems.report(item.span(), format!("expected a version, found {}", found(item)), help.to_owned());
        return None;
    }
    let Text { text, span } = text(item, problems)?;
    let version = Version::parse(&text);
    if version.is_none() {
        problems.report(span, format!("`{text}` is no version"), "such as \"6.12\" or \"16.4\"".to_owned());
    }
    version
}

fn wrong<T>(fact: &KeyInfo, wanted: &str, item: Item<'_>, problems: &mut Problems) -> Option<T> {
    problems.report(item.span(), format!("{} is {wanted}, found {}", fact.name, found(item)), None);
    None
}
