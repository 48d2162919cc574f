//! Cuts, pads and wraps text to terminal columns.

use unicode_width::UnicodeWidthStr;

pub use crate::text::wrap::{display_width as width, truncate};

use crate::report::view::flush::NO_BREAK_SPACE;
use crate::text::wrap::{self, Overlong, split_at_column};

/// Cuts at the beginning, for paths, which differ at their ends.
pub fn fit_end(text: &str, room: usize) -> String {
    let mut rest = text;
    while rest.width().saturating_add(1) > room && text.width() > room && !rest.is_empty() {
        rest = skip_first_char(rest);
    }
    match rest.len() == text.len() {
        true => text.to_owned(),
        false if room > 0 => format!("…{rest}"),
        false => String::new(),
    }
}

/// Cuts in the middle, for names that may differ at either end.
pub fn fit_middle(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let (first, rest) = split_at_column(text, room.saturating_sub(1) / 2);
    format!(
        "{first}{}",
        fit_end(rest, room.saturating_sub(first.width()))
    )
}

/// Cuts or pads to exactly so many columns.
pub fn pad(text: &str, room: usize) -> String {
    let mut out = truncate(text, room);
    out.push_str(&blank(room.saturating_sub(out.width())));
    out
}

pub fn blank(columns: usize) -> String {
    " ".repeat(columns)
}

/// Wraps to lines of at most so many columns; only words longer than a line are cut. Non-breaking
/// blanks become plain ones.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = wrap::wrap(text, room, Overlong::Cut);
    lines
        .iter_mut()
        .filter(|line| line.contains(NO_BREAK_SPACE))
        .for_each(|line| *line = line.replace(NO_BREAK_SPACE, " "));
    lines
}

/// Wraps with a prefix before further lines, as below the branch of a tree. Leading blanks or
/// branches of the first line are kept.
pub fn wrap_under(text: &str, under: &str, room: usize) -> Vec<String> {
    if text.width() <= room {
        return vec![text.to_owned()];
    }
    let is_branch = |c: char| c == ' ' || ('\u{2500}'..='\u{257f}').contains(&c);
    let words = text.trim_start_matches(is_branch);
    let branch = text.strip_suffix(words).unwrap_or_default();
    let inner = room.saturating_sub(branch.width().max(under.width()));
    let rows = wrap(words, inner).into_iter().enumerate();
    rows.map(|(i, row)| {
        truncate(
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
        fn text_never_takes_more_room_than_given(text: String, room in 0_usize..40) {
            prop_assert!(truncate(&text, room).width() <= room);
            prop_assert!(fit_end(&text, room).width() <= room);
            prop_assert!(fit_middle(&text, room).width() <= room);
            prop_assert_eq!(pad(&text, room).width(), room);
            for line in wrap_under(&format!("│  └─ {text}"), "│     ", room) {
                prop_assert!(line.width() <= room);
            }
        }
    }

    #[test]
    fn beneath_a_branch_the_branch_goes_on() {
        let wrapped = wrap_under("├─ mount.fstype is ext4", "│  ", 16);
        assert_eq!(wrapped, ["├─ mount.fstype", "│  is ext4"]);
        assert_eq!(wrap_under("├─ all of", "│  ", 16), ["├─ all of"]);
    }

    #[test]
    fn wide_characters_are_counted() {
        assert_eq!(truncate("データ", 5), "デー…");
        assert_eq!(fit_end("/var/lib/postgresql/16/main", 12), "…sql/16/main");
        assert_eq!(fit_end("/srv", 4), "/srv");
        assert_eq!(fit_middle("postgresql 16/main", 11), "postg…/main");
        assert_eq!(fit_middle("/srv", 4), "/srv");
        assert_eq!(pad("データ", 4), "デ… ");
    }
}
