//! What escaped text must be: shown as it was, and nothing else.

use proptest::prelude::*;

use super::*;

/// A line of text as a reader sees it: escapes taken off, code as it is. `None` where something would be markup
/// (CommonMark 0.31, sections 2.4, 4 and 6; GitHub's dialect, tables and autolinks).
fn seen(markup: &str) -> Option<String> {
    let first = markup.chars().next().unwrap_or('x');
    let digits = markup.len() - markup.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let ordered = digits > 0 && markup.get(digits..digits + 1).is_some_and(|next| matches!(next, "." | ")"));
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
            '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '@' | '#' | '$' => return None,
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
        ("a plain sentence, 50 % of it.", "a plain sentence, 50 % of it."),
        ("<script>&amp;", "\\<script\\>\\&amp;"),
        ("[x](http://y) ![i](j)", "\\[x\\](http`://`y) !\\[i\\](j)"),
        ("**b** _e_ ~~s~~ `c`", "\\*\\*b\\*\\* \\_e\\_ \\~\\~s\\~\\~ \\`c\\`"),
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
    assert_eq!(document.finish(), "``````sh\necho\n```\n````` x?```\n``````\n");
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
