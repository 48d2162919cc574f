//! Values for MySQL and MariaDB: in their option files, and in a statement.
//!
//! A value of an option file may stand in double quotes, where a backslash begins an escape and a `#` no comment
//! (my_default.c, `search_default_file_with_ext` and `find_end_comment`). In a statement a word stands in quotes, because
//! ON, DEFAULT and the like have meanings of their own.

use super::comment;

/// A value behind `name = ` in an option file.
pub fn option(value: &str) -> String {
    let value = comment::inline(value);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value;
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A value of `SET`; `None` for what no setting of a server holds. A number may have a unit of powers of 1024, which a
/// statement does not take.
pub fn literal(value: &str) -> Option<String> {
    if let Some(number) = number(value) {
        return Some(number.to_string());
    }
    (value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.chars().all(is_plain))
        .then(|| format!("'{value}'"))
}

fn number(value: &str) -> Option<u64> {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match value.strip_prefix(digits)? {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./:+-".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_option_files_have_them() {
        for (value, written) in [
            ("O_DIRECT", "O_DIRECT"),
            ("1", "1"),
            ("128M", "128M"),
            ("", "\"\""),
            ("a # b", "\"a # b\""),
            ("it's \"\\n\"", "\"it's \\\"\\\\n\\\"\""),
            ("1\n[client]", "\"1?[client]\""),
        ] {
            assert_eq!(option(value), written, "{value:?}");
        }
    }

    #[test]
    fn a_statement_takes_numbers_and_words_and_nothing_else() {
        for (value, written) in [
            ("1", Some("1")),
            ("128M", Some("134217728")),
            ("on", Some("'on'")),
            ("O_DIRECT", Some("'O_DIRECT'")),
            ("", None),
            ("1; DROP", None),
            ("'", None),
            ("99999999T", None),
        ] {
            assert_eq!(literal(value), written.map(str::to_owned), "{value}");
        }
    }
}
