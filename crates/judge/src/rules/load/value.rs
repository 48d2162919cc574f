use toml::de::DeValue;

use super::fields::{
    SpannedText, SpannedValue, parse_list, parse_text, parse_texts, toml_type_name,
};
use crate::facts::{KeyInfo, Value, ValueKind};
use crate::rules::diagnostic::DiagnosticCollector;
use crate::rules::model::TestOperator;
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

pub(super) fn parse_operator(
    fact: &KeyInfo,
    operator: &str,
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<TestOperator> {
    if !is_operator_for_kind(operator, fact.kind) {
        let fitting: Vec<&str> = OPERATORS
            .into_iter()
            .filter(|one| is_operator_for_kind(one, fact.kind))
            .collect();
        problems.report_mistake(
            item,
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
        let words: Vec<String> = parse_texts(item, problems)
            .into_iter()
            .filter_map(|word| require_allowed_word(fact, word, problems))
            .collect();
        require_nonempty(words, item, problems)
    };
    match operator {
        "is" => parse_value(fact, item, problems).map(TestOperator::Is),
        "is_not" => parse_value(fact, item, problems).map(TestOperator::IsNot),
        "in" => parse_values(fact, item, problems).map(TestOperator::In),
        "not_in" => parse_values(fact, item, problems).map(TestOperator::NotIn),
        "has" => parse_text_value(fact, item, problems).map(TestOperator::Has),
        "lacks" => parse_text_value(fact, item, problems).map(TestOperator::Lacks),
        "has_option" => parse_text_value(fact, item, problems).map(TestOperator::HasOption),
        "lacks_option" => parse_text_value(fact, item, problems).map(TestOperator::LacksOption),
        "has_any" => words().map(TestOperator::HasAny),
        "at_least" => parse_value(fact, item, problems).map(TestOperator::AtLeast),
        "below" => parse_value(fact, item, problems).map(TestOperator::Below),
        "fixed_in" => {
            let lines: Vec<Version> = parse_list(item, problems)
                .iter()
                .filter_map(|item| parse_version(item, problems))
                .collect();
            require_nonempty(lines, item, problems).map(TestOperator::FixedIn)
        }
        "build_at_least" => {
            parse_version_with_vendor_build(item, problems).map(TestOperator::BuildAtLeast)
        }
        "build_below" => {
            parse_version_with_vendor_build(item, problems).map(TestOperator::BuildBelow)
        }
        "starts_with" => parse_fragment(item, problems).map(TestOperator::StartsWith),
        "ends_with" => parse_fragment(item, problems).map(TestOperator::EndsWith),
        "contains" => parse_fragment(item, problems).map(TestOperator::Contains),
        _ => match item.get_ref().as_bool() {
            Some(exists) if operator == "exists" => Some(TestOperator::Exists(exists)),
            Some(known) => Some(TestOperator::Known(known)),
            None => report_wrong_kind(fact, "true or false", item, problems),
        },
    }
}

/// An empty fragment is a mistake, because every text contains it.
fn parse_fragment(item: SpannedValue<'_>, problems: &DiagnosticCollector) -> Option<String> {
    let SpannedText { text, span } = parse_text(item, problems)?;
    if text.is_empty() {
        problems.report_mistake(
            span,
            "the string is empty, so every text would match",
            "write at least one character",
        );
        return None;
    }
    Some(text)
}

fn parse_version_with_vendor_build(
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<Version> {
    let version = parse_version(item, problems)?;
    if version.build_numbers_and_vendor().is_none() {
        problems.report_mistake(
            item,
            format!("`{version}` has no vendor build"),
            "write, for example, \"5.14.0-427.el9\" or \"6.8.0-1021-aws\"; to compare only the version number, use `at_least`",
        );
        return None;
    }
    Some(version)
}

fn require_nonempty<T>(
    list: Vec<T>,
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<Vec<T>> {
    if item
        .get_ref()
        .as_array()
        .is_some_and(|list| list.is_empty())
    {
        problems.report_mistake(
            item,
            "the list is empty",
            "write at least one value between the brackets",
        );
    }
    (!list.is_empty()).then_some(list)
}

fn parse_values(
    fact: &KeyInfo,
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<Vec<Value>> {
    let values: Vec<Value> = parse_list(item, problems)
        .iter()
        .filter_map(|item| parse_value(fact, item, problems))
        .collect();
    require_nonempty(values, item, problems)
}

pub(super) fn parse_value(
    fact: &KeyInfo,
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<Value> {
    let wanted = fact.kind.value_kind_description();
    match (fact.kind, item.get_ref()) {
        (ValueKind::Bool, DeValue::Boolean(value)) => Some(Value::Bool(*value)),
        (ValueKind::Count | ValueKind::Bytes, DeValue::Integer(number)) => {
            match u64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Some(Value::Whole(number)),
                Err(_) => report_wrong_kind(fact, "a whole number of at least 0", item, problems),
            }
        }
        (ValueKind::Bytes, DeValue::String(_)) => {
            parse_size(fact, item, problems).map(Value::Whole)
        }
        (ValueKind::Micros | ValueKind::Number, DeValue::Integer(number)) => {
            parse_number(fact, number.as_str(), item, problems)
        }
        (ValueKind::Micros | ValueKind::Number, DeValue::Float(number)) => {
            parse_number(fact, number.as_str(), item, problems)
        }
        (ValueKind::Text, DeValue::String(_)) => {
            parse_text(item, problems).map(|value| Value::Text(value.text))
        }
        (ValueKind::Choice(_), DeValue::String(_)) => {
            parse_text_value(fact, item, problems).map(Value::Text)
        }
        (ValueKind::Version, _) => parse_version(item, problems).map(Value::Version),
        (ValueKind::List | ValueKind::Choices(_), DeValue::Array(_)) => {
            let words = parse_texts(item, problems)
                .into_iter()
                .filter_map(|word| require_allowed_word(fact, word, problems));
            Some(Value::List(words.collect()))
        }
        _ => report_wrong_kind(fact, &wanted, item, problems),
    }
}

fn parse_text_value(
    fact: &KeyInfo,
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<String> {
    parse_text(item, problems).and_then(|word| require_allowed_word(fact, word, problems))
}

fn require_allowed_word(
    fact: &KeyInfo,
    word: SpannedText,
    problems: &DiagnosticCollector,
) -> Option<String> {
    let SpannedText { text, span } = word;
    let Some(words) = fact
        .kind
        .allowed_words()
        .filter(|words| !words.contains(&text.as_str()))
    else {
        return Some(text);
    };
    problems.report_unknown_word(
        span,
        format!("{} cannot be `{text}`", fact.name),
        &text,
        words.iter().copied(),
    );
    None
}

fn parse_number(
    fact: &KeyInfo,
    text: &str,
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<Value> {
    match text.replace('_', "").parse::<f64>() {
        Ok(number) if number.is_finite() => Some(Value::Number(number)),
        _ => report_wrong_kind(fact, "a number", item, problems),
    }
}

pub(super) fn parse_version(
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<Version> {
    if !item.get_ref().is_str() {
        problems.report_mistake(
            item,
            format!("expected a version, found {}", toml_type_name(item)),
            "write versions in quotes: \"6.10\" is not 6.1",
        );
        return None;
    }
    let SpannedText { text, span } = parse_text(item, problems)?;
    let version = Version::parse(&text);
    if version.is_none() {
        problems.report_mistake(
            span,
            format!("`{text}` is not a version"),
            "write, for example, \"6.12\" or \"16.4\"",
        );
    }
    version
}

fn report_wrong_kind<T>(
    fact: &KeyInfo,
    wanted: &str,
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<T> {
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
    problems.report_mistake(
        item,
        format!(
            "{} must be {wanted}, found {}",
            fact.name,
            toml_type_name(item)
        ),
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

fn parse_size(
    fact: &KeyInfo,
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<u64> {
    let SpannedText { text, span } = parse_text(item, problems)?;
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
        problems.report_mistake(
            span,
            message,
            format!("write a whole number and one of these units, as in \"16 MiB\": {units}"),
        );
    }
    bytes
}
