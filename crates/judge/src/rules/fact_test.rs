use super::model::{Condition, FactTest, TestOperator};
use crate::facts::{Reading, Value};
use crate::ternary::Ternary;
use crate::version::Version;

impl Condition {
    pub fn label(&self) -> String {
        match self {
            Self::All(_) => "all of".to_owned(),
            Self::Any(_) => "any of".to_owned(),
            Self::Not(_) => "not".to_owned(),
            Self::Every(relation, _) => format!("every {}", relation.as_str()),
            Self::Some(relation, _) => format!("some {}", relation.as_str()),
            Self::Fact(test) => test.label(),
        }
    }
}

impl FactTest {
    /// Whether the reading passes the test. If the reading has no value, the result is unknown,
    /// except for a test of `known`, and for a test of `exists` if the fact is absent.
    pub fn holds(&self, reading: &Reading<Value>) -> Ternary {
        match (&self.op, reading.value()) {
            (TestOperator::Known(wanted), value) => (value.is_some() == *wanted).into(),
            (TestOperator::Exists(wanted), None) if reading.is_absent() => (!*wanted).into(),
            (_, None) => Ternary::Unknown,
            (op, Some(value)) => op.holds(value),
        }
    }

    pub fn label(&self) -> String {
        let name = self.fact.name;
        let show = |value: &Value| self.fact.format_value(value);
        let shown = |values: &[Value]| values.iter().map(show).collect::<Vec<_>>().join(", ");
        match &self.op {
            TestOperator::Is(value) => format!("{name} is {}", show(value)),
            TestOperator::IsNot(value) => format!("{name} is not {}", show(value)),
            TestOperator::In(values) => format!("{name} is one of {}", shown(values)),
            TestOperator::NotIn(values) => match values.as_slice() {
                [one] => format!("{name} is not {}", show(one)),
                _ => format!("{name} is none of {}", shown(values)),
            },
            TestOperator::Has(word) => format!("{name} has {word}"),
            TestOperator::Lacks(word) => format!("{name} lacks {word}"),
            TestOperator::HasOption(option) => format!("{name} has the option {option}"),
            TestOperator::LacksOption(option) => format!("{name} lacks the option {option}"),
            TestOperator::HasAny(words) => format!("{name} has one of {}", words.join(", ")),
            TestOperator::AtLeast(value) => format!("{name} is at least {}", show(value)),
            TestOperator::Below(value) => format!("{name} is below {}", show(value)),
            TestOperator::FixedIn(lines) => {
                let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                format!("{name} has the fix in {}", lines.join(", "))
            }
            TestOperator::InRange(range) => {
                let list = |versions: &[Version]| {
                    let names: Vec<String> = versions.iter().map(ToString::to_string).collect();
                    match names.split_last() {
                        Some((last, [])) => last.clone(),
                        Some((last, others)) => format!("{} or {last}", others.join(", ")),
                        None => String::new(),
                    }
                };
                let from = match range.from.as_slice() {
                    [] => "any release".to_owned(),
                    from => format!("{} or later", list(from)),
                };
                format!("{name} is {from} without the fix in {}", list(&range.fixed))
            }
            TestOperator::BuildAtLeast(least) => format!("{name} is at least build {least}"),
            TestOperator::BuildBelow(least) => format!("{name} is below build {least}"),
            TestOperator::StartsWith(text) => format!("{name} starts with {text}"),
            TestOperator::EndsWith(text) => format!("{name} ends with {text}"),
            TestOperator::Contains(text) => format!("{name} contains {text}"),
            TestOperator::Known(true) => format!("{name} is known"),
            TestOperator::Known(false) => format!("{name} is not known"),
            TestOperator::Exists(true) => format!("{name} exists"),
            TestOperator::Exists(false) => format!("{name} does not exist"),
        }
    }
}

impl TestOperator {
    /// Whether the value passes the test. Unknown if the value's type does not fit the test, or if
    /// two versions cannot be compared.
    pub(super) fn holds(&self, value: &Value) -> Ternary {
        let one_of = |values: &[Value]| {
            let each: Vec<Ternary> = values.iter().map(|one| equal_values(value, one)).collect();
            Ternary::any(each)
        };
        let has = |words: &[String]| match value {
            Value::List(list) => words.iter().any(|word| list.contains(word)).into(),
            _ => Ternary::Unknown,
        };
        let has_option = |option: &str| match value {
            Value::List(list) => list
                .iter()
                .any(|word| word.split('=').next() == Some(option))
                .into(),
            _ => Ternary::Unknown,
        };
        let build_at_least = |least: &Version| match value {
            Value::Version(version) => version.build_at_least(least),
            _ => Ternary::Unknown,
        };
        let written = |holds: &dyn Fn(&str) -> bool| match value {
            Value::Text(text) => holds(text).into(),
            Value::Version(version) => holds(&version.to_string()).into(),
            _ => Ternary::Unknown,
        };
        match self {
            Self::Is(wanted) => equal_values(value, wanted),
            Self::IsNot(wanted) => !equal_values(value, wanted),
            Self::In(wanted) => one_of(wanted),
            Self::NotIn(wanted) => !one_of(wanted),
            Self::Has(word) => has(std::slice::from_ref(word)),
            Self::Lacks(word) => !has(std::slice::from_ref(word)),
            Self::HasAny(words) => has(words),
            Self::HasOption(option) => has_option(option),
            Self::LacksOption(option) => !has_option(option),
            Self::AtLeast(least) => at_least(value, least),
            Self::Below(least) => !at_least(value, least),
            Self::FixedIn(lines) => match value {
                Value::Version(version) => version.has_fix(lines),
                _ => Ternary::Unknown,
            },
            Self::InRange(range) => match value {
                Value::Version(version) => range.contains(version),
                _ => Ternary::Unknown,
            },
            Self::BuildAtLeast(least) => build_at_least(least),
            Self::BuildBelow(least) => !build_at_least(least),
            Self::StartsWith(part) => written(&|text| text.starts_with(part.as_str())),
            Self::EndsWith(part) => written(&|text| text.ends_with(part.as_str())),
            Self::Contains(part) => written(&|text| text.contains(part.as_str())),
            Self::Known(wanted) | Self::Exists(wanted) => (*wanted).into(),
        }
    }
}

/// Whether two values are equal; unknown for different types. Lists are compared as sets, and
/// numbers by value.
fn equal_values(a: &Value, b: &Value) -> Ternary {
    let within = |a: &[String], b: &[String]| a.iter().all(|word| b.contains(word));
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => (a == b).into(),
        (Value::Text(a), Value::Text(b)) => (a == b).into(),
        (Value::Version(a), Value::Version(b)) => (a == b).into(),
        (Value::List(a), Value::List(b)) => (within(a, b) && within(b, a)).into(),
        _ => compare_numbers(a, b).map_or(Ternary::Unknown, |order| order.is_eq().into()),
    }
}

fn at_least(value: &Value, least: &Value) -> Ternary {
    match (value, least) {
        (Value::Version(value), Value::Version(least)) => value.at_least(least),
        _ => compare_numbers(value, least).map_or(Ternary::Unknown, |order| order.is_ge().into()),
    }
}

fn compare_numbers(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    let number = |value: &Value| match value {
        Value::Whole(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    };
    match (a, b) {
        (Value::Whole(a), Value::Whole(b)) => Some(a.cmp(b)),
        _ => number(a)?.partial_cmp(&number(b)?),
    }
}
