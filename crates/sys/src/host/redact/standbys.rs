//! `synchronous_standby_names` without the names: the method, the number of standbys that a commit
//! waits for, and the number of listed standbys.
//!
//! The grammar is that of PostgreSQL's syncrep_gram.y and syncrep_scanner.l: `FIRST n (list)`,
//! `ANY n (list)`, `n (list)` or a list. Standbys are named after hosts and people, so each name
//! becomes `_`. Redaction is idempotent; a value that the server would refuse becomes `?`, and so
//! does a quoted name with a comma or an opening parenthesis.

pub fn redact_standby_names(value: &[u8]) -> Vec<u8> {
    let value = String::from_utf8_lossy(value);
    let value = value.trim_ascii();
    if value.is_empty() {
        return Vec::new();
    }
    standby_names_without_names(value)
        .unwrap_or_else(|| "?".to_owned())
        .into_bytes()
}

fn standby_names_without_names(value: &str) -> Option<String> {
    let (head, list) = match value.split_once('(') {
        Some((head, list)) => (head, list.strip_suffix(')')?),
        None => ("1", value),
    };
    let words: Vec<&str> = head.split_ascii_whitespace().collect();
    let (is_any, count) = match words.as_slice() {
        [count] => (false, count),
        [method, count] if method.eq_ignore_ascii_case("first") => (false, count),
        [method, count] if method.eq_ignore_ascii_case("any") => (true, count),
        _ => return None,
    };
    let is_number = count.bytes().all(|b| b.is_ascii_digit());
    let count: u64 = count.parse().ok().filter(|count| is_number && *count > 0)?;
    let names: Vec<&str> = list.split(',').map(str::trim_ascii).collect();
    names.iter().copied().all(is_standby_name).then(|| {
        let method = if is_any { "ANY" } else { "FIRST" };
        format!("{method} {count} ({})", vec!["_"; names.len()].join(", "))
    })
}

/// Whether this is a name, a quoted name, a number or `*`. In a quoted name, two quotes stand for
/// one.
fn is_standby_name(name: &str) -> bool {
    if let Some(quoted) = name
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        return !quoted.replace("\"\"", "").contains('"');
    }
    let is_keyword = ["any", "first"]
        .iter()
        .any(|word| name.eq_ignore_ascii_case(word));
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii();
    let begins_like_name = !name.starts_with(|c: char| c.is_ascii_digit() || c == '$');
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain =
        !name.is_empty() && name.chars().all(is_letter) && (begins_like_name || is_number);
    name == "*" || is_plain && !is_keyword
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
            ("ANY", "?"),
            ("ANY 2", "?"),
            ("2 (a,b", "?"),
            ("2 (a) b", "?"),
            ("+2 (a)", "?"),
            ("next 2 (a)", "?"),
            ("\"a\"b\"", "?"),
            ("\"a, b\"", "?"),
            ("1node", "?"),
            ("ANY 1 ($a)", "?"),
            ("a1$, 12", "FIRST 1 (_, _)"),
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
