//! Builds Markdown (CommonMark, with GitHub tables) in which no text from the host becomes markup.
//!
//! Some sites turn `@name`, `#1`, `www.` and `://` into links even after a backslash, so such
//! characters become code.

use crate::view::{RichText, TextSpan};
use walwise_model::escape::comment;
use walwise_model::text::JoinText;

#[derive(Default)]
pub struct MarkdownWriter {
    out: String,
}

impl MarkdownWriter {
    pub fn into_string(self) -> String {
        self.out
    }

    /// `markup` must be escaped already.
    pub fn push_heading(&mut self, level: usize, markup: &str) {
        self.push_block(&format!("{} {markup}", "#".repeat(level)));
    }

    pub fn push_paragraph(&mut self, markup: &str) {
        if !markup.is_empty() {
            self.push_block(markup);
        }
    }

    pub fn push_list(&mut self, items: &[String]) {
        if !items.is_empty() {
            self.push_block(&items.iter().map(|item| format!("- {item}")).join_with("\n"));
        }
    }

    /// Nothing is written without rows. `right` is true for right-aligned columns. Head and cells
    /// must be escaped already.
    pub fn push_table(&mut self, head: &[&str], right: &[bool], rows: &[Vec<String>]) {
        if rows.is_empty() {
            return;
        }
        let marks = (0..head.len()).map(|at| {
            if right.get(at) == Some(&true) {
                "--:"
            } else {
                "---"
            }
        });
        let line = |cells: String| format!("| {cells} |");
        let mut lines = vec![line(head.join(" | ")), line(marks.join_with(" | "))];
        lines.extend(rows.iter().map(|row| line(row.join(" | "))));
        self.push_block(&lines.join("\n"));
    }

    /// The fence is longer than any run of backticks in the lines.
    pub fn push_code_block<S: AsRef<str>>(&mut self, language: &str, lines: &[S]) {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| comment::replace_unsafe_chars(line.as_ref()))
            .collect();
        let longest = lines
            .iter()
            .map(|line| longest_backtick_run(line))
            .max()
            .unwrap_or_default();
        let fence = "`".repeat((longest + 1).max(3));
        self.push_block(&format!("{fence}{language}\n{}\n{fence}", lines.join("\n")));
    }

    pub fn append(&mut self, other: &Self) {
        if !other.out.is_empty() {
            self.push_block(other.out.trim_end_matches('\n'));
        }
    }

    fn push_block(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(text);
        self.out.push('\n');
    }
}

fn longest_backtick_run(line: &str) -> usize {
    line.split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

/// Sites turn these into links or formulas outside code: `@` accounts, `#` tickets, `$` formulas,
/// `://` URLs.
const AUTOLINKED: [&str; 4] = ["@", "#", "$", "://"];

pub fn escaped_text(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    push_escaped_text(&mut out, comment::replace_unsafe_chars(sentence).trim());
    out
}

pub fn markdown_from_rich_text(phrase: &RichText) -> String {
    let mut out = String::new();
    push_rich_text(&mut out, phrase);
    out.trim().to_owned()
}

/// A cell cannot begin a list, so leading `-` and digits stay unescaped. With a `|` before them,
/// `push_escaped_text` does not see them at the start of a line.
pub fn escaped_table_cell(phrase: &RichText) -> String {
    let mut out = "|".to_owned();
    push_rich_text(&mut out, phrase);
    out.strip_prefix('|').unwrap_or(&out).trim().to_owned()
}

fn push_rich_text(out: &mut String, phrase: &RichText) {
    for fragment in phrase.spans() {
        match fragment {
            TextSpan::Plain(words) | TextSpan::Verdict(words) => {
                push_escaped_text(out, &comment::replace_unsafe_chars(words));
            }
            TextSpan::Code(name) => push_markup(out, &code_span_or_text(name)),
            TextSpan::Command(command) => push_markup(out, &code_span_or_text(command)),
            TextSpan::Strong(words) => push_markup(out, &bold_text(words)),
            TextSpan::SeeSection(heading) => push_escaped_text(out, &format!("see “{heading}”")),
        }
    }
}

/// Appends markup, after a blank if two code spans would be adjacent and merge.
fn push_markup(out: &mut String, markup: &str) {
    if out.ends_with('`') && !out.ends_with("\\`") && markup.starts_with('`') {
        out.push(' ');
    }
    out.push_str(markup);
}

fn push_escaped_text(out: &mut String, words: &str) {
    let mut rest = words;
    while let Some(c) = rest.chars().next() {
        let linked = autolinked_len(out, rest);
        if linked > 0 {
            let (mark, after) = rest.split_at(linked);
            push_markup(out, &format!("`{mark}`"));
            rest = after;
            continue;
        }
        // At the start of a line, `-`, `+` and `=` begin a list or heading, and digits with `.` or
        // `)` a list.
        let leads = matches!(c, '-' | '+' | '=') && out.is_empty();
        let counts = matches!(c, '.' | ')') && out.bytes().all(|b| b.is_ascii_digit());
        if leads || counts || "\\`*_[]<>|~&".contains(c) {
            out.push('\\');
        }
        out.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
}

/// The number of leading bytes of `text` that sites would turn into a link or emoji. Consecutive
/// matches count together, because adjacent code spans would merge.
fn autolinked_len(before: &str, text: &str) -> usize {
    let mut length = 0;
    while let Some(rest) = text.get(length..) {
        let mark = AUTOLINKED
            .iter()
            .find(|mark| rest.starts_with(**mark))
            .map_or(0, |mark| mark.len());
        let end = before.len().saturating_sub(3);
        let www = length == 0
            && rest.starts_with('.')
            && before
                .get(end..)
                .is_some_and(|end| end.eq_ignore_ascii_case("www"));
        let step = mark
            .max(usize::from(www))
            .max(usize::from(starts_with_emoji_code(rest)));
        if step == 0 {
            break;
        }
        length += step;
    }
    length
}

/// True at the start of an emoji shortcode such as `:tada:`.
fn starts_with_emoji_code(text: &str) -> bool {
    let Some((name, _)) = text.strip_prefix(':').and_then(|rest| rest.split_once(':')) else {
        return false;
    };
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_+-".contains(&b))
}

/// Empty text stays empty, because `****` would be a thematic break.
pub fn bold_text(sentence: &str) -> String {
    let text = escaped_text(sentence);
    if text.is_empty() {
        text
    } else {
        format!("**{text}**")
    }
}

/// Formats a name as a code span, or as escaped text if a code span cannot hold the name.
pub fn code_span_or_text(name: &str) -> String {
    let name = comment::replace_unsafe_chars(name);
    if name.is_empty() || name.trim() != name || name.contains(['`', '|', '\\']) {
        return escaped_text(&name);
    }
    format!("`{name}`")
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;

    use super::*;

    /// The text as a renderer displays it. `None` if a part would become markup (CommonMark 0.31,
    /// sections 2.4, 4 and 6; GitHub tables and autolinks).
    fn rendered_text(markup: &str) -> Option<String> {
        let first = markup.chars().next().unwrap_or('x');
        let digits = markup.len()
            - markup
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let ordered = digits > 0
            && markup
                .get(digits..digits + 1)
                .is_some_and(|next| matches!(next, "." | ")"));
        if "-+=>#".contains(first) || ordered {
            return None;
        }
        let mut out = String::new();
        let mut rest = markup;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '\\' => {
                    let escaped = rest.chars().next().filter(char::is_ascii_punctuation)?;
                    out.push(escaped);
                    rest = &rest[1..];
                }
                '`' => {
                    let (code, after) = rest.split_once('`')?;
                    if code.is_empty() || after.starts_with('`') {
                        return None;
                    }
                    out.push_str(code);
                    rest = after;
                }
                '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '@' | '#' | '$' => {
                    return None;
                }
                ':' if rest.starts_with("//") => return None,
                '.' if out.to_ascii_lowercase().ends_with("www") => return None,
                c => out.push(c),
            }
        }
        Some(out)
    }

    #[test]
    fn markup_characters_are_escaped() {
        for (given, markup) in [
            (
                "a plain sentence, 50 % of it.",
                "a plain sentence, 50 % of it.",
            ),
            ("<script>&amp;", "\\<script\\>\\&amp;"),
            ("[x](http://y) ![i](j)", "\\[x\\](http`://`y) !\\[i\\](j)"),
            (
                "**b** _e_ ~~s~~ `c`",
                "\\*\\*b\\*\\* \\_e\\_ \\~\\~s\\~\\~ \\`c\\`",
            ),
            ("- item", "\\- item"),
            ("12. item", "12\\. item"),
            ("# head", "`#` head"),
            ("a | b", "a \\| b"),
            ("@somebody #7 $x$ $$", "`@`somebody `#`7 `$`x`$` `$$`"),
            ("www.example.org WWW.x", "www`.`example.org WWW`.`x"),
            (":tada: 1:2", "`:`tada: 1:2"),
            ("back\\slash", "back\\\\slash"),
            ("two\nlines", "two?lines"),
            ("", ""),
        ] {
            assert_eq!(escaped_text(given), markup);
        }
        assert_eq!(code_span_or_text("wal_sync_method"), "`wal_sync_method`");
        assert_eq!(code_span_or_text("a`b|c"), "a\\`b\\|c");
        assert_eq!(bold_text(""), "");
    }

    #[test]
    fn fence_is_longer_than_inner_backticks() {
        let mut document = MarkdownWriter::default();
        document.push_code_block("sh", &["echo", "```", "````` x\n```"]);
        assert_eq!(
            document.into_string(),
            "``````sh\necho\n```\n````` x?```\n``````\n"
        );
    }

    proptest! {
        #[test]
        fn escaped_text_renders_unchanged(given in prop_oneof!["[ -~]{0,24}", "[-+=#>@$:/.w`*_|\\\\ 0-9a]{0,16}", any::<String>()]) {
            let plain = comment::replace_unsafe_chars(&given);
            for markup in [escaped_text(&given), code_span_or_text(&given)] {
                let shown = rendered_text(&markup);
                let expect = plain.trim().to_owned();
                prop_assert_eq!(shown.as_deref(), Some(expect.as_str()), "{}", markup);
            }
        }

        #[test]
        fn only_closing_fence_ends_code_block(lines in prop::collection::vec("[`~ a\\\\]{0,9}", 1..5)) {
            let mut document = MarkdownWriter::default();
            document.push_code_block("sh", &lines);
            let text = document.into_string();
            let fence: String = text.chars().take_while(|c| *c == '`').collect();
            let closing = text.lines().filter(|line| line.starts_with(&fence)).count();
            prop_assert_eq!(closing, 2, "{}", text);
            prop_assert_eq!(text.lines().count(), lines.len() + 2);
        }
    }
}
