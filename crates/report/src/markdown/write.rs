//! Markdown that is being written (CommonMark, with the tables of GitHub's dialect), in which
//! nothing from the machine becomes markup.
//!
//! Names and options stand in code where they can, sentences are escaped. The surprise: what the
//! sites that show it link by themselves (`@name`, `#1`, `www.`, `://`) cannot be escaped with a
//! backslash, so such a character becomes code.

use crate::telling::{Fragment, Phrase};
use walwise_model::quote::comment;

#[derive(Default)]
pub struct MarkdownWriter {
    out: String,
}

impl MarkdownWriter {
    pub fn finish(self) -> String {
        self.out
    }

    /// A heading; the text is markup already.
    pub fn heading(&mut self, level: usize, markup: &str) {
        self.block(&format!("{} {markup}", "#".repeat(level)));
    }

    /// A paragraph of markup; nothing for an empty one.
    pub fn para(&mut self, markup: &str) {
        if !markup.is_empty() {
            self.block(markup);
        }
    }

    pub fn list(&mut self, items: &[String]) {
        if !items.is_empty() {
            self.block(
                &items
                    .iter()
                    .map(|item| format!("- {item}"))
                    .collect::<Vec<_>>()
                    .join("\n"),
            );
        }
    }

    /// A table of markup, the first row being its head; `right` says which columns are aligned to
    /// the right. Nothing without rows.
    pub fn table(&mut self, head: &[&str], right: &[bool], rows: &[Vec<String>]) {
        if rows.is_empty() {
            return;
        }
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let marks = (0..head.len()).map(|at| {
            if right.get(at) == Some(&true) {
                "--:"
            } else {
                "---"
            }
        });
        let mut lines = vec![
            line(&head.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>()),
            line(&marks.map(str::to_owned).collect::<Vec<_>>()),
        ];
        lines.extend(rows.iter().map(|row| line(row)));
        self.block(&lines.join("\n"));
    }

    /// Lines as they are, in a block that none of them can end.
    pub fn code<S: AsRef<str>>(&mut self, language: &str, lines: &[S]) {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| comment::inline(line.as_ref()))
            .collect();
        let longest = lines
            .iter()
            .map(|line| longest_run(line))
            .max()
            .unwrap_or_default();
        let fence = "`".repeat((longest + 1).max(3));
        self.block(&format!("{fence}{language}\n{}\n{fence}", lines.join("\n")));
    }

    /// Adds another document behind this one.
    pub fn append(&mut self, other: &Self) {
        if !other.out.is_empty() {
            self.block(other.out.trim_end_matches('\n'));
        }
    }

    fn block(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(text);
        self.out.push('\n');
    }
}

fn longest_run(line: &str) -> usize {
    line.split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

/// What sites link by themselves wherever it stands, unless it is code: accounts, tickets,
/// formulas, addresses.
const LINKED: [&str; 4] = ["@", "#", "$", "://"];

pub fn text(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    escape(&mut out, comment::inline(sentence).trim());
    out
}

/// A sentence with its names as code.
pub fn phrase(phrase: &Phrase) -> String {
    let mut out = String::new();
    put(&mut out, phrase);
    out.trim().to_owned()
}

/// The same for the cell of a table, in which no list begins.
pub fn cell(phrase: &Phrase) -> String {
    let mut out = "|".to_owned();
    put(&mut out, phrase);
    out.strip_prefix('|').unwrap_or(&out).trim().to_owned()
}

fn put(out: &mut String, phrase: &Phrase) {
    for fragment in phrase.fragments() {
        match fragment {
            Fragment::Plain(words) | Fragment::Verdict(words) => {
                escape(out, &comment::inline(words));
            }
            Fragment::Code(name) => push(out, &code(name)),
            Fragment::Command(command) => push(out, &code(command)),
            Fragment::Strong(words) => push(out, &strong(words)),
            Fragment::Further(heading) => escape(out, &format!("see “{heading}”")),
        }
    }
}

/// Puts markup behind other markup; two pieces of code side by side would be one.
fn push(out: &mut String, markup: &str) {
    if out.ends_with('`') && !out.ends_with("\\`") && markup.starts_with('`') {
        out.push(' ');
    }
    out.push_str(markup);
}

/// Puts words behind markup, escaped by what stands before them.
fn escape(out: &mut String, words: &str) {
    let mut rest = words;
    while let Some(c) = rest.chars().next() {
        let linked = linked(out, rest);
        if linked > 0 {
            let (mark, after) = rest.split_at(linked);
            push(out, &format!("`{mark}`"));
            rest = after;
            continue;
        }
        // What begins a list or a rule does so at the beginning of a line only, and so does a
        // number.
        let leads = matches!(c, '-' | '+' | '=') && out.is_empty();
        let counts = matches!(c, '.' | ')') && out.bytes().all(|b| b.is_ascii_digit());
        if leads || counts || "\\`*_[]<>|~&".contains(c) {
            out.push('\\');
        }
        out.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
}

/// How many bytes from here on would be linked or drawn: all that follow each other, since two
/// pieces of code side by side would be one.
fn linked(before: &str, text: &str) -> usize {
    let mut length = 0;
    while let Some(rest) = text.get(length..) {
        let mark = LINKED
            .iter()
            .find(|mark| rest.starts_with(**mark))
            .map_or(0, |mark| mark.len());
        let end = before.len().saturating_sub(3);
        let www = length == 0
            && rest.starts_with('.')
            && before
                .get(end..)
                .is_some_and(|end| end.eq_ignore_ascii_case("www"));
        let step = mark.max(usize::from(www)).max(usize::from(drawn(rest)));
        if step == 0 {
            break;
        }
        length += step;
    }
    length
}

/// Whether a name between colons begins here, which some sites draw as a picture.
fn drawn(text: &str) -> bool {
    let Some((name, _)) = text.strip_prefix(':').and_then(|rest| rest.split_once(':')) else {
        return false;
    };
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_+-".contains(&b))
}

/// A sentence in bold; nothing for an empty one.
pub fn strong(sentence: &str) -> String {
    let text = text(sentence);
    if text.is_empty() {
        text
    } else {
        format!("**{text}**")
    }
}

/// A name, a value or a command as code; as escaped text where code could not hold it.
pub fn code(name: &str) -> String {
    let name = comment::inline(name);
    if name.is_empty() || name.trim() != name || name.contains(['`', '|', '\\']) {
        return text(&name);
    }
    format!("`{name}`")
}

#[cfg(test)]
mod tests {
    //! What escaped text must be: shown as it was, and nothing else.

    use proptest::prelude::*;

    use super::*;

    /// A line of text as a reader sees it: escapes taken off, code as it is. `None` where something
    /// would be markup (CommonMark 0.31, sections 2.4, 4 and 6; GitHub's dialect, tables and
    /// autolinks).
    fn seen(markup: &str) -> Option<String> {
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
    fn markup_is_shown_and_not_obeyed() {
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
            assert_eq!(text(given), markup);
        }
        assert_eq!(code("wal_sync_method"), "`wal_sync_method`");
        assert_eq!(code("a`b|c"), "a\\`b\\|c");
        assert_eq!(strong(""), "");
    }

    #[test]
    fn a_block_of_code_is_left_by_nothing_in_it() {
        let mut document = MarkdownWriter::default();
        document.code("sh", &["echo", "```", "````` x\n```"]);
        assert_eq!(
            document.finish(),
            "``````sh\necho\n```\n````` x?```\n``````\n"
        );
    }

    proptest! {
        /// Whatever a sentence or a name holds, a reader sees it, and no mark of it is obeyed.
        #[test]
        fn text_is_seen_as_it_was(given in prop_oneof!["[ -~]{0,24}", "[-+=#>@$:/.w`*_|\\\\ 0-9a]{0,16}", any::<String>()]) {
            let plain = comment::inline(&given);
            for markup in [text(&given), code(&given)] {
                let shown = seen(&markup);
                let expect = plain.trim().to_owned();
                prop_assert_eq!(shown.as_deref(), Some(expect.as_str()), "{}", markup);
            }
        }

        #[test]
        fn code_is_closed_by_its_own_fence_only(lines in prop::collection::vec("[`~ a\\\\]{0,9}", 1..5)) {
            let mut document = MarkdownWriter::default();
            document.code("sh", &lines);
            let text = document.finish();
            let fence: String = text.chars().take_while(|c| *c == '`').collect();
            let closing = text.lines().filter(|line| line.starts_with(&fence)).count();
            prop_assert_eq!(closing, 2, "{}", text);
            prop_assert_eq!(text.lines().count(), lines.len() + 2);
        }
    }
}
