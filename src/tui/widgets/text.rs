//! Text cut, padded and wrapped to terminal columns.

use unicode_width::UnicodeWidthStr;

pub use crate::text::wrap::{columns as width, fit};

use crate::report::telling::flush::UNBROKEN;
use crate::text::wrap::{self, Overlong, head};

/// The text in at most so many columns with its end kept, for paths, whose ends differ.
pub fn fit_end(text: &str, room: usize) -> String {
    let mut rest = text;
    while rest.width().saturating_add(1) > room && text.width() > room && !rest.is_empty() {
        rest = after_first(rest);
    }
    match rest.len() == text.len() {
        true => text.to_owned(),
        false if room > 0 => format!("…{rest}"),
        false => String::new(),
    }
}

/// The same with beginning and end kept, for names of which either may be what differs.
pub fn fit_middle(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let (first, rest) = head(text, room.saturating_sub(1) / 2);
    format!(
        "{first}{}",
        fit_end(rest, room.saturating_sub(first.width()))
    )
}

/// The text in exactly so many columns.
pub fn pad(text: &str, room: usize) -> String {
    let mut out = fit(text, room);
    out.push_str(&blank(room.saturating_sub(out.width())));
    out
}

pub fn blank(columns: usize) -> String {
    " ".repeat(columns)
}

/// The text in lines of at most so many columns, a word cut only when it is longer than a line.
/// Blanks that are not broken are plain ones on a screen.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = wrap::wrap(text, room, Overlong::Cut);
    lines
        .iter_mut()
        .filter(|line| line.contains(UNBROKEN))
        .for_each(|line| *line = line.replace(UNBROKEN, " "));
    lines
}

/// The same with the second and later lines behind this text, as beneath the branch of a tree. A
/// first line that begins with blanks or branches keeps them.
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
        fit(
            &format!("{}{row}", if i == 0 { branch } else { under }),
            room,
        )
    })
    .collect()
}

fn after_first(text: &str) -> &str {
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
            prop_assert!(fit(&text, room).width() <= room);
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
        assert_eq!(fit("データ", 5), "デー…");
        assert_eq!(fit_end("/var/lib/postgresql/16/main", 12), "…sql/16/main");
        assert_eq!(fit_end("/srv", 4), "/srv");
        assert_eq!(fit_middle("postgresql 16/main", 11), "postg…/main");
        assert_eq!(fit_middle("/srv", 4), "/srv");
        assert_eq!(pad("データ", 4), "デ… ");
    }
}
