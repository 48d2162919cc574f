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
        self.out.push_str(&" ".repeat(indent));
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// A paragraph, wrapped.
    pub fn para(&mut self, indent: usize, text: &str) {
        self.hanging(indent, "", text);
    }

    /// A label with a paragraph behind it, whose further lines begin under its first.
    pub fn hanging(&mut self, indent: usize, label: &str, text: &str) {
        let margin = indent + label.width();
        let mut line = format!("{}{label}", " ".repeat(indent));
        let (mut width, mut empty) = (margin, true);
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let wide = word.width();
            if !empty && width + 1 + wide > WIDTH {
                self.verbatim(0, &line);
                line = " ".repeat(margin);
                (width, empty) = (margin, true);
            }
            if !empty {
                line.push(' ');
                width += 1;
            }
            line.push_str(word);
            width += wide;
            empty = false;
        }
        self.verbatim(0, &line);
    }

    /// Rows with aligned columns, two spaces between; `right` says which are aligned to the right.
    pub fn table(&mut self, indent: usize, rows: &[Vec<String>], right: &[bool]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in rows {
            let mut line = String::new();
            for ((cell, width), column) in row.iter().zip(&widths).zip(0..) {
                let pad = " ".repeat(width.saturating_sub(cell.width()));
                let right = right.get(column).copied().unwrap_or_default();
                let (before, after) = if right { (pad.as_str(), "") } else { ("", pad.as_str()) };
                if column > 0 {
                    line.push_str("  ");
                }
                line.push_str(before);
                line.push_str(cell);
                line.push_str(after);
            }
            self.verbatim(indent, &line);
        }
    }
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
