//! Comments of shell scripts, configuration files and rules: from a `#` to the end of the line.
//!
//! The text stays on its line. Facts are display-safe already; this is a second safeguard.

use crate::text::is_treacherous;

/// A text that may follow a `#`: on one line, and without characters that change a terminal's display.
pub fn inline(text: &str) -> String {
    text.chars().map(|c| if is_treacherous(c) { '?' } else { c }).collect()
}

/// Lines as comments, each on one line whatever it holds.
pub fn lines<S: AsRef<str>>(lines: impl IntoIterator<Item = S>) -> String {
    let one = |line: S| format!("# {}", inline(line.as_ref())).trim_end().to_owned() + "\n";
    lines.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_comment_stays_one(told in prop::collection::vec(prop_oneof![any::<String>(), "[\n\r\u{85}\u{2028}a #\\\\]{0,6}"], 0..4)) {
            let text = lines(&told);
            // Every character that a reader may take for the end of a line.
            let ends = |c: char| matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
            let shown: Vec<&str> = text.split_terminator(ends).collect();
            prop_assert_eq!(shown.len(), told.len());
            prop_assert!(shown.iter().all(|line| line.starts_with('#')), "{}", text);
        }
    }
}
