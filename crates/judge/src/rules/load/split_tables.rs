//! Splits a rule file into tables, so that a syntax error affects only one rule.
//!
//! Lines that look like table headers split the file even within multi-line texts. This matters
//! only for files with broken syntax or unknown tables, because other files are not split.

/// Text from one table header to the next; the first section begins with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableSection<'a> {
    pub text: &'a str,
    /// Byte offset of the section in the file.
    pub start: usize,
    pub lines: usize,
    /// Word in the table header; `None` for the section before the first header.
    pub name: Option<&'a str>,
}

/// Splits the text before each table header. The joined texts of the sections equal the text.
pub(super) fn split_at_table_headers(source: &str) -> Vec<TableSection<'_>> {
    let mut pieces = vec![TableSection {
        text: "",
        start: 0,
        lines: 0,
        name: None,
    }];
    let (mut at, mut lines) = (0, 0);
    for line in source.split_inclusive('\n') {
        if let Some(word) = table_name(line) {
            pieces.push(TableSection {
                text: "",
                start: at,
                lines,
                name: Some(word),
            });
        }
        at += line.len();
        lines += 1;
        if let Some(piece) = pieces.last_mut() {
            piece.text = source.get(piece.start..at).unwrap_or_default();
        }
    }
    pieces
}

fn table_name(line: &str) -> Option<&str> {
    let inner = line
        .trim_start()
        .strip_prefix('[')?
        .trim_start_matches('[')
        .trim_start();
    let end = inner
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
        .unwrap_or(inner.len());
    let (word, rest) = inner.split_at(end);
    let closing = rest.split('#').next().unwrap_or_default();
    let closes = closing.chars().all(|c| c == ']' || c.is_whitespace());
    (closes && word.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sections_join_to_the_file(source in "(\\[{0,2}[a-z.]{0,3}\\]{0,2}[ #\n]{0,2}){0,8}") {
            let pieces = split_at_table_headers(&source);
            let joined: String = pieces.iter().map(|piece| piece.text).collect();
            prop_assert_eq!(&joined, &source);
            for piece in pieces {
                prop_assert_eq!(source.get(piece.start..piece.start + piece.text.len()), Some(piece.text));
                prop_assert_eq!(source[..piece.start].matches('\n').count(), piece.lines);
            }
        }
    }

    #[test]
    fn malformed_table_headers_are_recognised() {
        let heads = [
            "[[rule]]\n",
            "  [[rule]]  # the first",
            "[rule]",
            "[[rule",
            "[[ rule ]]",
            "[rule]]",
        ];
        assert!(
            heads.iter().all(|line| table_name(line) == Some("rule")),
            "{:?}",
            heads.map(table_name)
        );
        let others = [
            "[[rule.example]]",
            "rule = 1",
            "[1, 2]",
            "[\"rule\"]",
            "[true],",
            "[]",
            "",
            "# [[rule]]",
        ];
        assert!(
            others.iter().all(|line| table_name(line).is_none()),
            "{:?}",
            others.map(table_name)
        );
    }
}
