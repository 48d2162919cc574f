//! `synchronous_standby_names` without the names: the method, the number of standbys that a commit
//! waits for, and the number of listed standbys.
//!
//! The grammar is that of PostgreSQL's syncrep_gram.y and syncrep_scanner.l: `FIRST n (list)`,
//! `ANY n (list)`, `n (list)` or a list. Standbys are named after hosts and people, so each name
//! becomes `_`. Redaction is idempotent; a value that the server would refuse becomes `?`.

pub fn redact_standby_names(value: &[u8]) -> Vec<u8> {
    if value.trim_ascii().is_empty() {
        return Vec::new();
    }
    let shape = tokenize(value)
        .and_then(|words| parse_standby_names(&words))
        .map(|(how, count, names)| format!("{how} {count} ({})", vec!["_"; names].join(", ")));
    shape.unwrap_or_else(|| "?".to_owned()).into_bytes()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StandbyToken {
    Any,
    First,
    Number(u64),
    Name,
    Comma,
    Open,
    Close,
}

/// The method, the number of standbys that a commit waits for, and the number of names.
fn parse_standby_names(words: &[StandbyToken]) -> Option<(&'static str, u64, usize)> {
    match words {
        [
            StandbyToken::Any,
            StandbyToken::Number(count),
            StandbyToken::Open,
            list @ ..,
            StandbyToken::Close,
        ] => Some(("ANY", *count, standby_name_count(list)?)),
        [
            StandbyToken::First,
            StandbyToken::Number(count),
            StandbyToken::Open,
            list @ ..,
            StandbyToken::Close,
        ]
        | [
            StandbyToken::Number(count),
            StandbyToken::Open,
            list @ ..,
            StandbyToken::Close,
        ] => Some(("FIRST", *count, standby_name_count(list)?)),
        list => Some(("FIRST", 1, standby_name_count(list)?)),
    }
    .filter(|(_, count, _)| *count > 0)
}

/// A number counts as a standby's name. `None` if the list is malformed.
fn standby_name_count(list: &[StandbyToken]) -> Option<usize> {
    let is_name =
        |word: &StandbyToken| matches!(word, StandbyToken::Name | StandbyToken::Number(_));
    let mut all = list.split(|word| *word == StandbyToken::Comma);
    let each_is_one = all.all(|part| part.len() == 1 && part.iter().all(is_name));
    each_is_one.then(|| list.iter().filter(|word| is_name(word)).count())
}

fn tokenize(mut text: &[u8]) -> Option<Vec<StandbyToken>> {
    let mut words = Vec::new();
    while let Some((first, rest)) = text.trim_ascii_start().split_first() {
        let (word, behind) = match first {
            b',' => (StandbyToken::Comma, rest),
            b'(' => (StandbyToken::Open, rest),
            b')' => (StandbyToken::Close, rest),
            b'*' => (StandbyToken::Name, rest),
            b'"' => (StandbyToken::Name, skip_quoted_name(rest)?),
            b'0'..=b'9' => {
                let end = rest
                    .iter()
                    .position(|b| !b.is_ascii_digit())
                    .unwrap_or(rest.len());
                let (digits, behind) = rest.split_at(end);
                let number = [&[*first], digits].concat();
                (
                    StandbyToken::Number(str::from_utf8(&number).ok()?.parse().ok()?),
                    behind,
                )
            }
            byte if is_name_start(*byte) => {
                let fits = |b: &u8| is_name_start(*b) || b.is_ascii_digit() || *b == b'$';
                let end = rest.iter().position(|b| !fits(b)).unwrap_or(rest.len());
                let (more, behind) = rest.split_at(end);
                let name = [&[*first], more].concat();
                let word = match name.to_ascii_lowercase().as_slice() {
                    b"any" => StandbyToken::Any,
                    b"first" => StandbyToken::First,
                    _ => StandbyToken::Name,
                };
                (word, behind)
            }
            _ => return None,
        };
        words.push(word);
        text = behind;
    }
    Some(words)
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// The text after a quoted name whose opening quote precedes `text`. In the name, two quotes stand
/// for one.
fn skip_quoted_name(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        let end = text.iter().position(|b| *b == b'"')?;
        let behind = text.get(end + 1..)?;
        match behind.strip_prefix(b"\"") {
            Some(rest) => text = rest,
            None => return Some(behind),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redact_to_text(value: &str) -> String {
        String::from_utf8(redact_standby_names(value.as_bytes())).unwrap()
    }

    #[test]
    fn value_is_reduced_to_method_and_counts() {
        for (value, expected) in [
            ("", ""),
            ("  ", ""),
            ("berlin", "FIRST 1 (_)"),
            ("*", "FIRST 1 (_)"),
            ("berlin, \"Hans' \"\"Host\"\"\" , 7", "FIRST 1 (_, _, _)"),
            ("2 (a,b,c)", "FIRST 2 (_, _, _)"),
            ("first 1 (a)", "FIRST 1 (_)"),
            ("Any 2(a, *, c)", "ANY 2 (_, _, _)"),
            ("ANY 0 (a)", "?"),
            ("ANY (a)", "?"),
            ("a b", "?"),
            ("a,", "?"),
            ("\"a", "?"),
            ("a; b", "?"),
        ] {
            assert_eq!(redact_to_text(value), expected, "{value}");
        }
    }

    proptest! {
        #[test]
        fn redaction_removes_names_and_is_idempotent(value in prop_oneof![
            any::<Vec<u8>>(),
            "(ANY|FIRST)? ?[0-9]{0,2} ?\\(?(berlin|\"berlin\"|\\*|[0-9])(, ?berlin){0,3}\\)?".prop_map(String::into_bytes),
        ]) {
            let once = redact_standby_names(&value);
            prop_assert!(once.iter().all(|b| b"?FIRSTANY0123456789 (_,)".contains(b)));
            prop_assert_eq!(redact_standby_names(&once), once);
        }
    }
}
