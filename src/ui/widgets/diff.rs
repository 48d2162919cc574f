//! An old value above its new one, with removals and additions marked.

use ratatui::text::{Line, Span};

use super::text;
use crate::ui::theme::{TextRole, Theme};

/// Columns for the sign before each row.
const SIGN: usize = 2;

/// Both values as rows of at most so many columns, the first left out where it is not known; words stand between commas and are broken only where one is too long.
pub fn lines(before: &[String], after: &[String], theme: Theme, room: usize) -> Vec<Line<'static>> {
    let mut all = match before {
        [] => Vec::new(),
        before => side("-", before, after, theme, TextRole::Bad, room),
    };
    all.extend(side("+", after, before, theme, TextRole::Good, room));
    all
}

fn side(
    sign: &str,
    words: &[String],
    others: &[String],
    theme: Theme,
    role: TextRole,
    room: usize,
) -> Vec<Line<'static>> {
    let inner = room.saturating_sub(SIGN).max(1);
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut used = 0_usize;
    let last = words.len().saturating_sub(1);
    for (i, word) in words.iter().enumerate() {
        let role = if others.contains(word) { TextRole::Plain } else { role };
        let comma = if i < last { "," } else { "" };
        for piece in text::wrap(&format!("{word}{comma}"), inner) {
            let wide = text::width(&piece);
            if used > 0 && used.saturating_add(wide) > inner {
                rows.push(Vec::new());
                used = 0;
            }
            used = used.saturating_add(wide);
            if let Some(row) = rows.last_mut() {
                row.push(Span::styled(piece, theme.style(role)));
            }
        }
    }
    let with_sign = |(i, mut spans): (usize, Vec<Span<'static>>)| {
        let sign = if i == 0 { sign } else { "" };
        spans.insert(0, Span::styled(text::pad(sign, SIGN), theme.style(role)));
        Line::from(spans)
    };
    rows.into_iter().enumerate().map(with_sign).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: Theme = Theme { colour: false, ascii: false };

    fn words(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    fn shown(before: &str, after: &str, room: usize) -> Vec<String> {
        lines(&words(before), &words(after), PLAIN, room).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_stands_beneath_the_other() {
        assert_eq!(shown("rw,nobarrier", "rw", 40), ["- rw,nobarrier", "+ rw"]);
        assert_eq!(shown("rw,nobarrier", "rw", 12), ["- rw,", "  nobarrier", "+ rw"]);
        assert_eq!(shown("0", "100", 40), ["- 0", "+ 100"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_wide(
            before in prop::collection::vec("[a-z=]{1,12}", 1..6),
            after in prop::collection::vec("[a-z=]{1,12}", 1..6),
            room in 3_usize..40,
        ) {
            let lines = lines(&before, &after, PLAIN, room);
            let mut joined = String::new();
            for line in &lines {
                prop_assert!(line.width() <= room, "{line}");
                joined.push_str(line.to_string().get(SIGN..).unwrap_or_default());
            }
            prop_assert_eq!(joined, format!("{}{}", before.join(","), after.join(",")));
        }
    }
}
