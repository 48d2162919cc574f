//! Values of facts as tests write them.

use super::{KeyInfo, Value, ValueKind, catalog};
use crate::version::Version;

/// The value of a fact from a word: `yes` or `true` for a switch, commas between the words of a list.
pub(crate) fn value(info: &KeyInfo, word: &str) -> Value {
    let list = || word.split_terminator(',').map(str::to_owned).collect::<Vec<String>>();
    let value = match info.kind {
        ValueKind::Bool => match word {
            "yes" | "true" => Value::Bool(true),
            "no" | "false" => Value::Bool(false),
            other => panic!("{} is never {other}", info.name),
        },
        ValueKind::Count | ValueKind::Bytes => Value::Whole(word.parse().unwrap()),
        ValueKind::Micros | ValueKind::Number => Value::Number(word.parse().unwrap()),
        ValueKind::Version => Value::Version(Version::parse(word).unwrap()),
        ValueKind::List | ValueKind::Choices(_) => Value::List(list()),
        ValueKind::Text | ValueKind::Choice(_) => Value::Text(word.to_owned()),
    };
    let words = if info.kind.is_list() { list() } else { vec![word.to_owned()] };
    assert!(words.iter().all(|word| catalog::allows(info, word)), "{} is never {word}", info.name);
    value
}
