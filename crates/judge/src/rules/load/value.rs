use toml::de::DeValue;

use super::fields::{Item, SpannedText};
use crate::facts::{KeyInfo, Value, ValueKind};
use crate::rules::diagnostic::Place;
use crate::rules::model::{FactTest, TestOperator};
use crate::version::Version;

pub(super) const OPERATORS: [&str; 19] = [
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
    "build_at_least",
    "build_below",
    "starts_with",
    "ends_with",
    "contains",
    "known",
    "exists",
];

fn is_operator_for_kind(operator: &str, kind: ValueKind) -> bool {
    match operator {
        "is" | "is_not" | "known" | "exists" => true,
        "in" | "not_in" => kind != ValueKind::Bool && !kind.is_list(),
        "has" | "lacks" | "has_any" | "has_option" | "lacks_option" => kind.is_list(),
        "at_least" | "below" => {
            matches!(
                kind,
                ValueKind::Count
                    | ValueKind::Bytes
                    | ValueKind::Micros
                    | ValueKind::Number
                    | ValueKind::Version
            )
        }
        "fixed_in" | "build_at_least" | "build_below" => kind == ValueKind::Version,
        "starts_with" | "ends_with" | "contains" => {
            matches!(kind, ValueKind::Text | ValueKind::Version)
        }
        _ => false,
    }
}

pub(super) fn parse_test(
    fact: &'static KeyInfo,
    operator: &str,
    item: Item<'_>,
) -> Option<FactTest> {
    if !is_operator_for_kind(operator, fact.kind) {
        let fitting: Vec<&str> = OPERATORS
            .into_iter()
            .filter(|one| is_operator_for_kind(one, fact.kind))
            .collect();
        item.report_mistake(
            format!(
                "`{operator}` does not fit {}, which is {}",
                fact.name,
                fact.kind.value_kind_description()
            ),
            format!("operators that fit: {}", fitting.join(", ")),
        );
        return None;
    }
    let words = || {
        let words: Vec<String> = item
            .texts()
            .into_iter()
            .filter_map(|word| require_allowed_word(fact, word))
            .collect();
        require_nonempty(words, item)
    };
    let negated = match operator {
        "is_not" | "not_in" | "lacks" | "lacks_option" | "below" | "build_below" => true,
        "known" | "exists" => item.value().as_bool() == Some(false),
        _ => false,
    };
    let op = match operator {
        "is" | "is_not" => parse_value(fact, item).map(TestOperator::Is),
        "in" | "not_in" => parse_values(fact, item).map(TestOperator::In),
        "has" | "lacks" => parse_text_value(fact, item).map(TestOperator::Has),
        "has_option" | "lacks_option" => parse_text_value(fact, item).map(TestOperator::HasOption),
        "has_any" => words().map(TestOperator::HasAny),
        "at_least" | "below" => parse_value(fact, item).map(TestOperator::AtLeast),
        "fixed_in" => {
            let lines = item.list().into_iter().filter_map(parse_version);
            require_nonempty(lines.collect(), item).map(TestOperator::FixedIn)
        }
        "build_at_least" | "build_below" => {
            parse_version_with_vendor_build(item).map(TestOperator::BuildAtLeast)
        }
        "starts_with" => parse_fragment(item).map(TestOperator::StartsWith),
        "ends_with" => parse_fragment(item).map(TestOperator::EndsWith),
        "contains" => parse_fragment(item).map(TestOperator::Contains),
        _ if item.value().as_bool().is_none() => report_wrong_kind(fact, "true or false", item),
        "exists" => Some(TestOperator::Exists),
        _ => Some(TestOperator::Known),
    };
    Some(FactTest {
        fact,
        op: op?,
        negated,
    })
}

/// An empty fragment is a mistake, because every text contains it.
fn parse_fragment(item: Item<'_>) -> Option<String> {
    let text = item.text()?.text;
    if text.is_empty() {
        item.report_mistake(
            "the string is empty, so every text would match",
            "write at least one character",
        );
        return None;
    }
    Some(text)
}

fn parse_version_with_vendor_build(item: Item<'_>) -> Option<Version> {
    let version = parse_version(item)?;
    if version.build_numbers_and_vendor().is_none() {
        item.report_mistake(
            format!("`{version}` has no vendor build"),
            "write, for example, \"5.14.0-427.el9\" or \"6.8.0-1021-aws\"; to compare only the version number, use `at_least`",
        );
        return None;
    }
    Some(version)
}

fn require_nonempty<T>(list: Vec<T>, item: Item<'_>) -> Option<Vec<T>> {
    if item.is_empty_list() {
        item.report_mistake(
            "the list is empty",
            "write at least one value between the brackets",
        );
    }
    (!list.is_empty()).then_some(list)
}

fn parse_values(fact: &KeyInfo, item: Item<'_>) -> Option<Vec<Value>> {
    let values: Vec<Value> = item
        .list()
        .into_iter()
        .filter_map(|item| parse_value(fact, item))
        .collect();
    require_nonempty(values, item)
}

pub(super) fn parse_value(fact: &KeyInfo, item: Item<'_>) -> Option<Value> {
    let wanted = fact.kind.value_kind_description();
    match (fact.kind, item.value()) {
        (ValueKind::Bool, DeValue::Boolean(value)) => Some(Value::Bool(*value)),
        (ValueKind::Count | ValueKind::Bytes, DeValue::Integer(number)) => {
            match u64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Some(Value::Whole(number)),
                Err(_) => report_wrong_kind(fact, "a whole number of at least 0", item),
            }
        }
        (ValueKind::Bytes, DeValue::String(_)) => parse_size(fact, item).map(Value::Whole),
        (ValueKind::Micros | ValueKind::Number, DeValue::Integer(number)) => {
            parse_number(fact, number.as_str(), item)
        }
        (ValueKind::Micros | ValueKind::Number, DeValue::Float(number)) => {
            parse_number(fact, number.as_str(), item)
        }
        (ValueKind::Text, DeValue::String(_)) => item.text().map(|value| Value::Text(value.text)),
        (ValueKind::Choice(_), DeValue::String(_)) => parse_text_value(fact, item).map(Value::Text),
        (ValueKind::Version, _) => parse_version(item).map(Value::Version),
        (ValueKind::List | ValueKind::Choices(_), DeValue::Array(_)) => {
            let words = item
                .texts()
                .into_iter()
                .filter_map(|word| require_allowed_word(fact, word));
            Some(Value::List(words.collect()))
        }
        _ => report_wrong_kind(fact, &wanted, item),
    }
}

fn parse_text_value(fact: &KeyInfo, item: Item<'_>) -> Option<String> {
    item.text()
        .and_then(|word| require_allowed_word(fact, word))
}

fn require_allowed_word(fact: &KeyInfo, word: SpannedText<'_>) -> Option<String> {
    let allowed = fact.kind.allowed_words();
    let Some(words) = allowed.filter(|words| !words.contains(&word.text.as_str())) else {
        return Some(word.text);
    };
    word.report_unknown_word(
        format!("{} cannot be `{}`", fact.name, word.text),
        &word.text,
        words.iter().copied(),
    );
    None
}

fn parse_number(fact: &KeyInfo, text: &str, item: Item<'_>) -> Option<Value> {
    match text.replace('_', "").parse::<f64>() {
        Ok(number) if number.is_finite() => Some(Value::Number(number)),
        _ => report_wrong_kind(fact, "a number", item),
    }
}

pub(super) fn parse_version(item: Item<'_>) -> Option<Version> {
    if !item.value().is_str() {
        item.report_mistake(
            format!("expected a version, found {}", item.type_name()),
            "write versions in quotes: \"6.10\" is not 6.1",
        );
        return None;
    }
    let text = item.text()?.text;
    let version = Version::parse(&text);
    if version.is_none() {
        item.report_mistake(
            format!("`{text}` is not a version"),
            "write, for example, \"6.12\" or \"16.4\"",
        );
    }
    version
}

fn report_wrong_kind<T>(fact: &KeyInfo, wanted: &str, item: Item<'_>) -> Option<T> {
    let help = match fact.kind {
        ValueKind::Bool => "write true or false, without quotes",
        ValueKind::Count => "write a whole number such as 4, without quotes",
        ValueKind::Bytes => {
            "write a size with its unit, such as \"16 MiB\", or a whole number of bytes"
        }
        ValueKind::Micros => "write a number of microseconds such as 250, without quotes",
        ValueKind::Number => "write a number such as 1.5, without quotes",
        ValueKind::Text | ValueKind::Choice(_) => "write it in quotes",
        ValueKind::Version => "write it in quotes, such as \"6.12\"",
        ValueKind::List | ValueKind::Choices(_) => {
            "write a list of strings, such as [\"ro\", \"noatime\"]"
        }
    };
    item.report_mistake(
        format!("{} must be {wanted}, found {}", fact.name, item.type_name()),
        help,
    );
    None
}

/// The accepted units of sizes. Powers of 1000 are not accepted, because programs differ in the
/// meaning of MB.
const UNITS: [(&str, u64); 6] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("PiB", 1 << 50),
];

fn parse_size(fact: &KeyInfo, item: Item<'_>) -> Option<u64> {
    let text = item.text()?.text;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (number, unit): (Option<u64>, &str) = (number.parse().ok(), unit.trim());
    let factor = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, factor)| *factor);
    let bytes = number
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor));
    if bytes.is_none() {
        let units = UNITS.map(|(name, _)| name).join(", ");
        let message = match (number, unit.is_empty()) {
            (Some(_), true) => format!("`{text}` has no unit"),
            _ => format!("`{text}` is not a size, but {} needs one", fact.name),
        };
        item.report_mistake(
            message,
            format!("write a whole number and one of these units, as in \"16 MiB\": {units}"),
        );
    }
    bytes
}
