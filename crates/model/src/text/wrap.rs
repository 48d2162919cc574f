//! Text in lines that are broken between words, for pages of text and for screens.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What to do with a word that is longer than a line and has no commas to break after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlong {
    /// Keep it whole, since it may be copied.
    Keep,
    /// Cut it, since nothing may leave the screen.
    Cut,
}

/// Lines of at most so many columns; broken at spaces, and after the commas of a word that is
/// longer by itself, since options of a mount are one word to the eye. One line at least; where
/// words are cut it is one column wide at least.
pub fn wrap(text: &str, room: usize, overlong: Overlong) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    let mut put = |glue: &str, piece: &str, wide: usize| match lines.last_mut() {
        Some(line) if line.is_empty() => {
            line.push_str(piece);
            used = wide;
        }
        Some(line) if used + glue.len() + wide <= room => {
            line.push_str(glue);
            line.push_str(piece);
            used += glue.len() + wide;
        }
        _ => {
            lines.push(piece.to_owned());
            used = wide;
        }
    };
    for word in text.split_ascii_whitespace() {
        let wide = display_width(word);
        if wide <= room {
            put(" ", word, wide);
            continue;
        }
        let mut glue = " ";
        for piece in word.split_inclusive(',') {
            let cuts = match overlong {
                Overlong::Keep => vec![piece],
                Overlong::Cut => split_to_width(piece, room),
            };
            for piece in cuts {
                put(std::mem::take(&mut glue), piece, display_width(piece));
            }
        }
    }
    lines
}

/// Display width of a text without control characters. On a large host there is a lot of text,
/// nearly all ASCII.
pub fn display_width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.width()
    }
}

/// Splits before the first character that would go beyond so many columns.
pub fn split_at_column(text: &str, room: usize) -> (&str, &str) {
    let mut used = 0_usize;
    for (at, c) in text.char_indices() {
        used = used.saturating_add(c.width().unwrap_or(0));
        if used > room {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// The text in at most so many columns; what is cut off is replaced by `…`.
pub fn truncate(text: &str, room: usize) -> String {
    if display_width(text) <= room {
        return text.to_owned();
    }
    let mut out = split_at_column(text, room.saturating_sub(1)).0.to_owned();
    if room > 0 {
        out.push('…');
    }
    out
}

/// Pieces of at most so many columns, and of one at least.
fn split_to_width(word: &str, room: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while !rest.is_empty() {
        let (first, others) = split_at_column(rest, room.max(1));
        // A character wider than the whole line is dropped rather than tried for ever.
        rest = if first.is_empty() {
            others
                .get(others.chars().next().map_or(0, char::len_utf8)..)
                .unwrap_or_default()
        } else {
            others
        };
        pieces.extend((!first.is_empty()).then_some(first));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_line_is_wider_than_given_where_words_are_cut(text: String, room in 0_usize..40) {
            for line in wrap(&text, room, Overlong::Cut) {
                prop_assert!(line.width() <= room.max(1));
            }
        }

        #[test]
        fn no_word_is_lost(words in proptest::collection::vec("[a-z,]{1,12}", 0..20), room in 0_usize..40) {
            let all = words.join(" ");
            let flat = |lines: Vec<String>| lines.concat().replace(' ', "");
            prop_assert_eq!(flat(wrap(&all, room, Overlong::Cut)), all.replace(' ', ""));
            prop_assert_eq!(flat(wrap(&all, room, Overlong::Keep)), all.replace(' ', ""));
        }
    }

    #[test]
    fn a_long_word_is_broken_after_its_commas_before_it_is_cut() {
        assert_eq!(
            wrap("/srv/data is full", 6, Overlong::Cut),
            ["/srv/d", "ata is", "full"]
        );
        assert_eq!(
            wrap("/srv/data is full", 6, Overlong::Keep),
            ["/srv/data", "is", "full"]
        );
        for overlong in [Overlong::Cut, Overlong::Keep] {
            assert_eq!(
                wrap("ext4 rw,noatime,discard", 12, overlong),
                ["ext4 rw,", "noatime,", "discard"]
            );
        }
        assert_eq!(wrap("", 6, Overlong::Cut), [""]);
    }
}
