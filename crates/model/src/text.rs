//! Text from the host made safe for display, and numbers in readable form.
//!
//! Mount points, file names and device models can contain any bytes. [`display_safe`] escapes
//! control characters and bidirectional overrides where bytes become facts. [`decode_display_safe`]
//! reverses the escapes, so different names stay different. [`escape_display_unsafe`] is a second
//! safeguard where facts are stored and documents are written.

pub mod bytes;
pub mod json {
    //! Finds the JSON document in a tool's output; warnings may precede or follow the document.

    use serde_json::{Deserializer, Value};

    /// The JSON object at the first `{`; `None` without a valid object there.
    pub fn first_json_object(answer: &[u8]) -> Option<Value> {
        let start = answer.iter().position(|b| *b == b'{')?;
        let mut documents = Deserializer::from_slice(answer.get(start..)?).into_iter();
        documents.next()?.ok()
    }

    #[cfg(test)]
    mod tests {
        use serde_json::json;

        use super::*;

        #[test]
        fn json_object_is_found_between_warnings() {
            for answer in [
                "{\"a\": 1}",
                "warning: old\n{\"a\": 1}\n",
                "{\"a\": 1} {\"b\"",
            ] {
                assert_eq!(
                    first_json_object(answer.as_bytes()),
                    Some(json!({ "a": 1 })),
                    "{answer}"
                );
            }
            for none in ["", "no such device", "{\"a\": 1", "[1] x"] {
                assert_eq!(first_json_object(none.as_bytes()), None, "{none}");
            }
        }
    }
}
pub mod line_index {
    /// Finds the line of a byte position, by the byte offsets of all line feeds.
    #[derive(Debug, Default)]
    pub struct LineIndex(Vec<usize>);

    impl LineIndex {
        pub fn new(text: &str) -> Self {
            Self(text.match_indices('\n').map(|(at, _)| at).collect())
        }

        /// The line of a byte position; lines count from one.
        pub fn line_number(&self, at: usize) -> usize {
            1 + self.0.partition_point(|end| *end < at)
        }
    }

    /// The line of a byte position, counted from one. A single lookup is cheaper without a
    /// [`LineIndex`].
    pub fn line_number_at(text: &str, at: usize) -> usize {
        1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        proptest! {
            #[test]
            fn line_number_lookups_agree(text in "[a\n]{0,20}", at in 0usize..24) {
                prop_assert_eq!(LineIndex::new(&text).line_number(at), line_number_at(&text, at));
            }
        }
    }
}
pub mod suggest {
    /// Maximum number of letters of a word that are compared.
    const MOST_LETTERS: usize = 64;

    /// Help for an unknown word: the nearest known word or, if no word is near, the list of all
    /// known words. Always `Some`.
    pub fn nearest_word_or_list_hint<'a>(
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        let known: Vec<&str> = known.into_iter().collect();
        nearest_word_hint(word, known.iter().copied())
            .or_else(|| Some(format!("one of: {}", known.join(", "))))
    }

    /// Help for an unknown word: the nearest known word. `None` if it differs in more than one
    /// letter, and in more than a third of the letters of the longer word.
    pub fn nearest_word_hint<'a>(
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        let near = known
            .into_iter()
            .map(|one| (edit_distance(word, one), one))
            .min_by_key(|near| near.0)?;
        let enough = (word.chars().count().max(near.1.chars().count()) / 3).max(1);
        (near.0 <= enough).then(|| format!("did you mean `{}`?", near.1))
    }

    /// Edit distance by optimal string alignment, in which swapping two neighbours counts as one
    /// edit. Compares only the first `MOST_LETTERS` letters.
    pub fn edit_distance(a: &str, b: &str) -> usize {
        strsim::osa_distance(comparable_prefix(a), comparable_prefix(b))
    }

    /// The first `MOST_LETTERS` letters, which limits the cost of comparing words of any length
    /// from a user's file.
    fn comparable_prefix(word: &str) -> &str {
        word.char_indices()
            .nth(MOST_LETTERS)
            .and_then(|(end, _)| word.get(..end))
            .unwrap_or(word)
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;

        proptest! {
            #[test]
            fn edit_distance_is_symmetric_and_bounded(a in "[abc]{0,6}", b in "[abc]{0,6}") {
                prop_assert_eq!(edit_distance(&a, &b), edit_distance(&b, &a));
                prop_assert_eq!(edit_distance(&a, &b) == 0, a == b);
                prop_assert!(edit_distance(&a, &b) <= a.len().max(b.len()));
            }
        }

        #[test]
        fn near_word_is_suggested_and_far_word_is_not() {
            let known = ["kernel.version", "kernel.vendor", "mount.point"];
            assert_eq!(
                nearest_word_hint("kernel.verson", known).as_deref(),
                Some("did you mean `kernel.version`?")
            );
            assert_eq!(
                nearest_word_hint("iz", ["is", "in"]).as_deref(),
                Some("did you mean `is`?")
            );
            assert_eq!(nearest_word_hint("colour", known), None);
        }
    }
}
pub mod wrap;
pub mod bars {
    pub const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

    /// Maps a share from 0 to 1 to an index from 0 to `last`. Finite shares outside this range map
    /// to the nearer end; NaN and infinity map to 0.
    pub fn share_to_index(share: f64, last: usize) -> usize {
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0..=last above"
        )]
        let place = (share * last as f64).round() as usize;
        place.min(last)
    }

    pub fn bar_char(share: f64) -> char {
        HEIGHTS
            .get(share_to_index(share, HEIGHTS.len() - 1))
            .copied()
            .unwrap_or('█')
    }

    /// Draws an interval such as `├──●──┤`, given the positions of lower end, middle and upper end
    /// as shares of the width. A position outside the field is drawn as an arrow at the edge.
    pub fn format_interval_bar([low, at, high]: [f64; 3], columns: usize) -> String {
        let place = |share: f64, mark| {
            let mark = match share {
                share if share < 0.0 => '◂',
                share if share > 1.0 => '▸',
                _ => mark,
            };
            (share_to_index(share, columns.saturating_sub(1)), mark)
        };
        let ((from, from_mark), (at, mark), (to, to_mark)) =
            (place(low, '├'), place(at, '●'), place(high, '┤'));
        let drawn = (0..columns).map(|column| match column {
            column if column == at => mark,
            column if column == from => from_mark,
            column if column == to => to_mark,
            column if (from..=to).contains(&column) => '─',
            _ => ' ',
        });
        drawn.collect()
    }
}
pub mod page_layout;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Joins texts directly from an iterator, without an intermediate list.
pub trait JoinText: Iterator<Item: AsRef<str>> + Sized {
    fn join_with(self, separator: &str) -> String {
        let mut joined = String::new();
        for (at, text) in self.enumerate() {
            joined.push_str(if at == 0 { "" } else { separator });
            joined.push_str(text.as_ref());
        }
        joined
    }
}

impl<I: Iterator<Item: AsRef<str>>> JoinText for I {}

/// Whether the text is one or more ASCII digits. `str::parse` also accepts a plus sign.
pub fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Names at most `most` items and counts the others: `sda, sdb and 3 more`.
pub fn format_names_and_rest<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let first: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(most) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Makes a path safe for any terminal, like [`display_safe`].
pub fn display_path(path: &Path) -> String {
    display_safe(path.as_os_str().as_encoded_bytes())
}

/// Makes bytes safe for any terminal: printable UTF-8 stays, everything else becomes `\xNN` or
/// `\u{NNNN}`. A backslash is doubled, so that [`decode_display_safe`] can reverse the escapes.
pub fn display_safe(bytes: &[u8]) -> String {
    // Fast path for plain ASCII, which nearly all text is: a large host has a million strings.
    if let Ok(text) = str::from_utf8(bytes)
        && text
            .bytes()
            .all(|byte| matches!(byte, b' '..=b'~') && byte != b'\\')
    {
        return text.to_owned();
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            push_display_safe(&mut out, c);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

fn push_display_safe(out: &mut String, c: char) {
    match c {
        '\\' => out.push_str("\\\\"),
        c if (c as u32) < 0x80 && c.is_control() => {
            let _ = write!(out, "\\x{:02x}", c as u32);
        }
        c if is_display_unsafe(c) => {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
        c => out.push(c),
    }
}

/// Whether a character is invisible or changes how a terminal displays other characters, so that
/// two names could look alike. These are controls, separators, blanks other than the space, and the
/// `Cf` and `Default_Ignorable_Code_Point` characters of Unicode 16.
pub fn is_display_unsafe(c: char) -> bool {
    c.is_control()
        || (c != ' ' && c.is_whitespace())
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}'
            | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Reverses [`display_safe`]. Text without escapes passes unchanged.
pub fn decode_display_safe(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.extend_from_slice(before.as_bytes());
        let (bytes, length) = decode_escape(escape);
        out.extend_from_slice(&bytes);
        rest = escape.get(length..).unwrap_or_default();
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

fn decode_escape(text: &str) -> (Vec<u8>, usize) {
    let body = text.get(1..).unwrap_or_default();
    if body.starts_with('\\') {
        return (vec![b'\\'], 2);
    }
    let hex = body.strip_prefix('x').and_then(|hex| hex.get(..2));
    if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
        return (vec![byte], 4);
    }
    let code = body
        .strip_prefix("u{")
        .and_then(|hex| hex.split_once('}'))
        .map(|(hex, _)| hex);
    if let Some((code, c)) =
        code.and_then(|hex| Some((hex, char::from_u32(u32::from_str_radix(hex, 16).ok()?)?)))
    {
        return (c.to_string().into_bytes(), code.len() + 4);
    }
    (vec![b'\\'], 1)
}

pub fn format_rate_or_dash(rate: Option<f64>) -> String {
    rate.map_or_else(
        || "–".to_owned(),
        |rate| format!("{}/s", format_rounded_and_grouped(rate)),
    )
}

pub fn format_bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = "B";
    for next in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if value >= 100.0 || value.fract() < 0.05 {
        format!("{value:.0} {unit}")
    } else {
        format!("{value:.1} {unit}")
    }
}

pub fn format_micros(us: f64) -> String {
    match us {
        us if us < 10.0 => format!("{us:.1} µs"),
        us if us < 1_000.0 => format!("{us:.0} µs"),
        us if us < 1_000_000.0 => format!("{:.2} ms", us / 1e3),
        us if us < 120_000_000.0 => format!("{:.2} s", us / 1e6),
        us if us < 7_200_000_000.0 => format!("{} min", format_up_to_one_decimal(us / 60e6)),
        us if us < 172_800_000_000.0 => format!("{} h", format_up_to_one_decimal(us / 3600e6)),
        us => format!("{} days", format_up_to_one_decimal(us / 86_400e6)),
    }
}

pub fn format_micros_or_dash(us: Option<f64>) -> String {
    us.map_or_else(|| "–".to_owned(), format_micros)
}

/// The median with `low_us` and `high_us`, its 95 % interval:
/// `390 µs median (370–420), p99 1.90 ms`.
pub fn format_latency_summary(
    median_us: f64,
    low_us: f64,
    high_us: f64,
    p99_us: Option<f64>,
) -> String {
    let (median, low, high) = (
        format_micros(median_us),
        format_micros(low_us),
        format_micros(high_us),
    );
    let unit = median.split_once(' ').map_or("", |(_, unit)| unit);
    let number = |of: &str| of.strip_suffix(unit)?.strip_suffix(' ').map(str::to_owned);
    let interval = number(&low)
        .zip(number(&high))
        .map(|(low, high)| format!("{low}–{high}"));
    let interval = interval.unwrap_or_else(|| format!("{low} – {high}"));
    let tail = p99_us
        .map(|p99| format!(", p99 {}", format_micros(p99)))
        .unwrap_or_default();
    format!("{median} median ({interval}){tail}")
}

fn format_up_to_one_decimal(figure: f64) -> String {
    format!("{figure:.1}").trim_end_matches(".0").to_owned()
}

/// An interval, with the unit only once if both ends have it: `178 – 187 µs`.
pub fn format_micros_interval(low_us: f64, high_us: f64) -> String {
    let (low, high) = (format_micros(low_us), format_micros(high_us));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} – {high}"),
        _ => format!("{low} – {high}"),
    }
}

pub fn group_digits(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Rounds to a whole number and groups its digits by three; negative values and NaN become 0.
pub fn format_rounded_and_grouped(figure: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "out-of-range values saturate"
    )]
    let count = figure.round() as u64;
    group_digits(count)
}

/// The error message without the suffix ` (os error N)`.
pub fn io_error_message(error: &io::Error) -> String {
    let words = error.to_string();
    words
        .split_once(" (os error ")
        .map_or(words.clone(), |(before, _)| before.to_owned())
}

/// Escapes display-unsafe characters but does not double backslashes, so text from [`display_safe`]
/// passes unchanged.
pub fn escape_display_unsafe(text: &str) -> Cow<'_, str> {
    escape_display_unsafe_except(text, |_| false)
}

/// Like [`escape_display_unsafe`], for documents of several lines: line feeds and tabs stay.
pub fn escape_display_unsafe_lines(document: &str) -> Cow<'_, str> {
    escape_display_unsafe_except(document, |c| matches!(c, '\n' | '\t'))
}

pub(crate) fn escape_display_unsafe_in_place(text: &mut String) {
    if let Cow::Owned(escaped) = escape_display_unsafe(text) {
        *text = escaped;
    }
}

fn escape_display_unsafe_except(text: &str, stays: fn(char) -> bool) -> Cow<'_, str> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') || stays(char::from(*byte));
    let is_inert = |c: char| stays(c) || !is_display_unsafe(c);
    if text.as_bytes().iter().all(is_plain) || text.chars().all(is_inert) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\\' || is_inert(c) {
            out.push(c);
        } else {
            push_display_safe(&mut out, c);
        }
    }
    Cow::Owned(out)
}

/// Cuts an ASCII name after `longest` bytes, and appends `mark` and an FNV-1a hash. The hash is
/// that of the unencoded name `of`, which keeps cut names distinct. A shorter name stays as it is.
pub fn truncate_with_hash(encoded: String, longest: usize, mark: &str, of: &[u8]) -> String {
    match encoded.get(..longest) {
        Some(beginning) if encoded.len() > longest => {
            let step =
                |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            format!(
                "{beginning}{mark}{:016x}",
                of.iter().fold(0xcbf2_9ce4_8422_2325, step)
            )
        }
        _ => encoded,
    }
}

/// Appends a character, escaped for text or a double-quoted attribute of HTML, SVG or other XML.
pub fn push_xml_escaped(out: &mut String, c: char) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn first_names_are_listed_and_rest_is_counted() {
        assert_eq!(format_names_and_rest::<&str>(&[], 2), "");
        assert_eq!(format_names_and_rest(&["sda", "sdb"], 2), "sda, sdb");
        assert_eq!(
            format_names_and_rest(&["sda", "sdb", "sdc"], 2),
            "sda, sdb and 1 more"
        );
    }

    proptest! {
        #[test]
        fn display_safe_round_trips(input: Vec<u8>) {
            let shown = display_safe(&input);
            prop_assert!(!shown.chars().any(is_display_unsafe), "{shown}");
            prop_assert_eq!(decode_display_safe(&shown), input);
        }

        #[test]
        fn decode_display_safe_never_panics(text: String) {
            decode_display_safe(&text);
        }
    }

    #[test]
    fn invisible_characters_are_escaped() {
        assert_eq!(display_safe(b"a\x1b[31m\n"), "a\\x1b[31m\\x0a");
        assert_eq!(
            display_safe("\u{202e}\u{9b}é".as_bytes()),
            "\\u{202e}\\u{9b}é"
        );
        for unseen in
            "\u{a0}\u{34f}\u{600}\u{115f}\u{180b}\u{2003}\u{2800}\u{3000}\u{3164}\u{ffa0}\u{110bd}\u{1d173}"
                .chars()
        {
            assert!(display_safe(unseen.to_string().as_bytes()).starts_with('\\'), "{unseen:?}");
        }
        assert_eq!(display_safe(b"\xff\\"), "\\xff\\\\");
        assert_eq!(
            escape_display_unsafe_lines("a\x1b\n\\x1b é"),
            "a\\x1b\n\\x1b é"
        );
        assert_eq!(escape_display_unsafe("a\n\u{202e}"), "a\\x0a\\u{202e}");
        assert_eq!(
            escape_display_unsafe(&display_safe(b"\\\x1b\xff")),
            display_safe(b"\\\x1b\xff")
        );
    }

    #[test]
    fn error_message_omits_os_error_number() {
        assert_eq!(
            io_error_message(&io::Error::from_raw_os_error(2)),
            "No such file or directory"
        );
        assert_eq!(
            io_error_message(&io::Error::other("it is raining")),
            "it is raining"
        );
    }

    #[test]
    fn sizes_and_durations_are_formatted() {
        assert_eq!(format_bytes(512), "512 B");
        assert_eq!(format_bytes(16 << 20), "16 MiB");
        assert_eq!(format_bytes(1_920_383_410_176), "1.7 TiB");
        assert_eq!(format_micros(182.4), "182 µs");
        assert_eq!(format_micros(2130.0), "2.13 ms");
        assert_eq!(format_micros(300e6), "5 min");
        assert_eq!(format_micros(5400e6), "90 min");
        assert_eq!(format_micros(4.2 * 86_400e6), "4.2 days");
        assert_eq!(group_digits(5490), "5 490");
        assert_eq!(group_digits(412), "412");
    }
}
