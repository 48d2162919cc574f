//! Wraps and cuts text by display width in columns, for pages of text and for screens.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The treatment of a word that is longer than a line, even after breaks at commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordOverflow {
    /// Keep the word whole, because people may copy it.
    Keep,
    /// Cut the word, because text must not exceed the width of the screen.
    Cut,
}

/// Wraps text into lines of at most `room` columns: at spaces, and after commas in a longer word,
/// such as a list of mount options. Returns at least one line. With [`WordOverflow::Cut`],
/// a `room` of 0 counts as 1.
pub fn wrap_text(text: &str, room: usize, overlong: WordOverflow) -> Vec<String> {
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
                WordOverflow::Keep => vec![piece],
                WordOverflow::Cut => split_to_width(piece, room),
            };
            for piece in cuts {
                put(std::mem::take(&mut glue), piece, display_width(piece));
            }
        }
    }
    lines
}

/// The width of a text without control characters, in columns. Plain ASCII takes a fast path,
/// because a large host has much text, nearly all of it ASCII.
pub fn display_width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.width()
    }
}

/// Splits a text before the first character that does not fit into `room` columns.
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

/// Cuts a text to at most `room` columns, the last of which shows `…`. With a `room` of 0 the
/// result is empty.
pub fn truncate_to_width(text: &str, room: usize) -> String {
    if display_width(text) <= room {
        return text.to_owned();
    }
    let mut out = split_at_column(text, room.saturating_sub(1)).0.to_owned();
    if room > 0 {
        out.push('…');
    }
    out
}

/// A `room` of 0 counts as 1.
fn split_to_width(word: &str, room: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while !rest.is_empty() {
        let (first, others) = split_at_column(rest, room.max(1));
        // Drops a character wider than the whole line, because it would never fit.
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
            for line in wrap_text(&text, room, WordOverflow::Cut) {
                prop_assert!(line.width() <= room.max(1));
            }
        }

        #[test]
        fn no_word_is_lost(words in proptest::collection::vec("[a-z,]{1,12}", 0..20), room in 0_usize..40) {
            let all = words.join(" ");
            let flat = |lines: Vec<String>| lines.concat().replace(' ', "");
            prop_assert_eq!(flat(wrap_text(&all, room, WordOverflow::Cut)), all.replace(' ', ""));
            prop_assert_eq!(flat(wrap_text(&all, room, WordOverflow::Keep)), all.replace(' ', ""));
        }
    }

    #[test]
    fn a_long_word_is_broken_after_its_commas_before_it_is_cut() {
        assert_eq!(
            wrap_text("/srv/data is full", 6, WordOverflow::Cut),
            ["/srv/d", "ata is", "full"]
        );
        assert_eq!(
            wrap_text("/srv/data is full", 6, WordOverflow::Keep),
            ["/srv/data", "is", "full"]
        );
        for overlong in [WordOverflow::Cut, WordOverflow::Keep] {
            assert_eq!(
                wrap_text("ext4 rw,noatime,discard", 12, overlong),
                ["ext4 rw,", "noatime,", "discard"]
            );
        }
        assert_eq!(wrap_text("", 6, WordOverflow::Cut), [""]);
    }
}
