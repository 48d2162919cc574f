use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

pub use crate::text::wrap::{display_width as width, truncate_to_width};

use crate::report::view::flush_path::NO_BREAK_SPACE;
use crate::text::wrap::{self, WordOverflow, split_at_column};

/// Cuts the beginning of a path, because paths differ at their ends.
pub fn truncate_start(text: &str, room: usize) -> String {
    let mut rest = text;
    while rest.width() + 1 > room && text.width() > room && !rest.is_empty() {
        rest = skip_first_char(rest);
    }
    match rest.len() == text.len() {
        true => text.to_owned(),
        false if room > 0 => format!("…{rest}"),
        false => String::new(),
    }
}

/// Cuts the middle, for names that may differ at either end.
pub fn truncate_middle(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let (first, rest) = split_at_column(text, room.saturating_sub(1) / 2);
    format!(
        "{first}{}",
        truncate_start(rest, room.saturating_sub(first.width()))
    )
}

pub fn pad_or_truncate(text: &str, room: usize) -> String {
    let mut out = truncate_to_width(text, room);
    out.push_str(&spaces(room.saturating_sub(out.width())));
    out
}

pub fn spaces(columns: usize) -> String {
    " ".repeat(columns)
}

/// Wraps a text at blanks; only words that are longer than a line are cut. Non-breaking spaces
/// become plain ones.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = wrap::wrap_text(text, room, WordOverflow::Cut);
    lines
        .iter_mut()
        .filter(|line| line.contains(NO_BREAK_SPACE))
        .for_each(|line| *line = line.replace(NO_BREAK_SPACE, " "));
    lines
}

pub fn wrapped_lines(text: &str, style: Style, room: usize) -> Vec<Line<'static>> {
    let rows = wrap(text, room).into_iter();
    rows.map(|row| Line::styled(row, style)).collect()
}

/// The lines of a tree below a node, from the branch at the beginning of its text: `│  ├─ x`.
pub fn branch_below(text: &str) -> String {
    let branch = text.split_once("─ ").map_or("", |(branch, _)| branch);
    branch.replace('├', "│  ").replace('└', "   ")
}

/// Wraps text to `room` columns. Continuation lines begin with `under`, which continues a tree
/// branch; the first line keeps its own indent or branch.
pub fn wrap_with_prefix(text: &str, under: &str, room: usize) -> Vec<String> {
    if text.width() <= room {
        return vec![text.to_owned()];
    }
    let is_branch = |c: char| c == ' ' || ('\u{2500}'..='\u{257f}').contains(&c);
    let words = text.trim_start_matches(is_branch);
    let branch = text.strip_suffix(words).unwrap_or_default();
    let inner = room.saturating_sub(branch.width().max(under.width()));
    let rows = wrap(words, inner).into_iter().enumerate();
    rows.map(|(i, row)| {
        truncate_to_width(
            &format!("{}{row}", if i == 0 { branch } else { under }),
            room,
        )
    })
    .collect()
}

fn skip_first_char(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn truncated_and_wrapped_text_fits_width(text: String, room in 0_usize..40) {
            prop_assert!(truncate_to_width(&text, room).width() <= room);
            prop_assert!(truncate_start(&text, room).width() <= room);
            prop_assert!(truncate_middle(&text, room).width() <= room);
            prop_assert_eq!(pad_or_truncate(&text, room).width(), room);
            for line in wrap_with_prefix(&format!("│  └─ {text}"), "│     ", room) {
                prop_assert!(line.width() <= room);
            }
        }
    }

    #[test]
    fn wrapped_lines_continue_tree_branch() {
        let wrapped = wrap_with_prefix("├─ mount.fstype is ext4", "│  ", 16);
        assert_eq!(wrapped, ["├─ mount.fstype", "│  is ext4"]);
        assert_eq!(wrap_with_prefix("├─ all of", "│  ", 16), ["├─ all of"]);
    }

    #[test]
    fn wide_characters_count_two_columns() {
        assert_eq!(truncate_to_width("データ", 5), "デー…");
        assert_eq!(
            truncate_start("/var/lib/postgresql/16/main", 12),
            "…sql/16/main"
        );
        assert_eq!(truncate_start("/srv", 4), "/srv");
        assert_eq!(truncate_middle("postgresql 16/main", 11), "postg…/main");
        assert_eq!(truncate_middle("/srv", 4), "/srv");
        assert_eq!(pad_or_truncate("データ", 4), "デ… ");
    }
}
