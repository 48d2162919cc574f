//! A page of text: indentation, wrapping at a fixed width, hanging labels and aligned tables.
//!
//! Commands are never wrapped, because they are there to be copied.

use unicode_width::UnicodeWidthStr as _;

/// Columns of a page.
const WIDTH: usize = 100;

/// Text that is being written.
#[derive(Default)]
pub struct Page {
    out: String,
}

impl Page {
    /// The text.
    pub fn finish(self) -> String {
        self.out
    }

    /// Adds another page, after an empty line.
    pub fn append(&mut self, other: &Self) {
        self.gap();
        self.out.push_str(&other.out);
    }

    /// An empty line, unless there is one already.
    pub fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// A heading at the left margin.
    pub fn heading(&mut self, text: &str) {
        self.gap();
        self.para(0, text);
    }

    /// One line as it is.
    pub fn verbatim(&mut self, indent: usize, text: &str) {
        self.spaces(indent);
        self.out.push_str(text);
        self.end_line();
    }

    /// A paragraph, wrapped.
    pub fn para(&mut self, indent: usize, text: &str) {
        self.hanging(indent, "", text);
    }

    /// A label with a paragraph behind it, whose further lines begin under its first.
    pub fn hanging(&mut self, indent: usize, label: &str, text: &str) {
        let margin = indent + columns(label);
        self.spaces(indent);
        self.out.push_str(label);
        let (mut width, mut empty) = (margin, true);
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let wide = columns(word);
            if !empty && width + 1 + wide > WIDTH {
                self.end_line();
                self.spaces(margin);
                (width, empty) = (margin, true);
            }
            if !empty {
                self.out.push(' ');
                width += 1;
            }
            self.out.push_str(word);
            width += wide;
            empty = false;
        }
        self.end_line();
    }

    /// Rows with aligned columns, two spaces between; `right` says which are aligned to the right.
    pub fn table(&mut self, indent: usize, rows: &[Vec<String>], right: &[bool]) {
        let number = rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(cell)).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..number).map(width).collect();
        for row in rows {
            self.spaces(indent);
            for ((cell, width), column) in row.iter().zip(&widths).zip(0..) {
                let pad = width.saturating_sub(columns(cell));
                let right = right.get(column).copied().unwrap_or_default();
                let (before, after) = if right { (pad, 0) } else { (0, pad) };
                self.spaces(if column > 0 { before + 2 } else { before });
                self.out.push_str(cell);
                self.spaces(after);
            }
            self.end_line();
        }
    }

    fn spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    /// Ends the line, without what is blank at its end.
    fn end_line(&mut self) {
        let blank = |c: char| c != '\n' && c.is_whitespace();
        self.out.truncate(self.out.trim_end_matches(blank).len());
        self.out.push('\n');
    }
}

/// How wide a text is; on a large host there is a lot of it, nearly all ASCII. What is shown has no control characters.
fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_wrap_under_their_label() {
        let mut page = Page::default();
        page.hanging(2, "why  ", &"word ".repeat(40));
        let text = page.finish();
        assert!(text.lines().count() == 3, "{text}");
        assert!(text.lines().all(|line| line.width() <= WIDTH));
        assert!(text.lines().skip(1).all(|line| line.starts_with("       word")));
    }

    #[test]
    fn one_word_longer_than_the_page_stays_whole() {
        let mut page = Page::default();
        page.para(2, &format!("a {} b", "x".repeat(150)));
        assert!(page.finish().contains(&"x".repeat(150)));
    }
}
