//! Builds pages of plain text: indentation, wrapping, hanging labels and aligned tables.
//!
//! Commands are never wrapped, so that they can be copied. The width does not depend on the
//! terminal, so that saved and printed pages can be compared line by line.

use super::wrap::{WordOverflow, display_width, wrap_text};

/// Width of a page in columns: that of the smallest common terminal.
pub const WIDTH: usize = 80;
/// Smallest width, in columns, to which a table folds a column.
const MIN_COLUMN_WIDTH: usize = 20;

pub struct TextPage {
    out: String,
    width: usize,
}

impl Default for TextPage {
    fn default() -> Self {
        Self {
            out: String::new(),
            width: WIDTH,
        }
    }
}

impl TextPage {
    /// A page without a maximum width, for a window that scrolls.
    pub fn with_unlimited_width() -> Self {
        Self {
            out: String::new(),
            width: usize::MAX,
        }
    }

    pub fn into_text(self) -> String {
        self.out
    }

    pub fn append_page(&mut self, other: &Self) {
        self.ensure_blank_line();
        self.out.push_str(&other.out);
    }

    /// Adds an empty line, unless the text is empty or already ends in an empty line.
    pub fn ensure_blank_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    pub fn append_heading(&mut self, text: &str) {
        self.ensure_blank_line();
        self.append_paragraph(0, text);
    }

    pub fn append_verbatim_line(&mut self, indent: usize, text: &str) {
        self.push_spaces(indent);
        self.out.push_str(text);
        self.trim_and_end_line();
    }

    pub fn append_paragraph(&mut self, indent: usize, text: &str) {
        self.append_hanging_paragraph(indent, "", text);
    }

    pub fn append_hanging_paragraph(&mut self, indent: usize, label: &str, text: &str) {
        let margin = indent + display_width(label);
        self.push_spaces(indent);
        self.out.push_str(label);
        for (line, at) in wrap_text(text, self.width.saturating_sub(margin), WordOverflow::Keep)
            .iter()
            .zip(0..)
        {
            self.push_spaces(if at == 0 { 0 } else { margin });
            self.out.push_str(line);
            self.trim_and_end_line();
        }
    }

    /// `right` marks right-aligned columns. In a table wider than the page, the widest columns
    /// fold, but never the first, which names the row.
    pub fn append_table(&mut self, indent: usize, rows: &[Vec<String>], right: &[bool]) {
        let number = rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| display_width(cell))
                .max()
                .unwrap_or_default()
        };
        let mut widths: Vec<usize> = (0..number).map(width).collect();
        let gaps = indent + 2 * number.saturating_sub(1);
        while gaps + widths.iter().sum::<usize>() > self.width
            && let Some(widest) = widths.iter_mut().skip(1).max()
            && *widest > MIN_COLUMN_WIDTH
        {
            *widest -= 1;
        }
        for row in rows {
            let cells: Vec<Vec<String>> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| wrap_cell(cell, *width))
                .collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or_default() {
                self.push_spaces(indent);
                for ((cell, width), column) in cells.iter().zip(&widths).zip(0..) {
                    let cell = cell.get(line).map(String::as_str).unwrap_or_default();
                    let pad = width.saturating_sub(display_width(cell));
                    let right = right.get(column).copied().unwrap_or_default();
                    let (before, after) = if right { (pad, 0) } else { (0, pad) };
                    self.push_spaces(if column > 0 { before + 2 } else { before });
                    self.out.push_str(cell);
                    self.push_spaces(after);
                }
                self.trim_and_end_line();
            }
        }
    }

    fn push_spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    fn trim_and_end_line(&mut self) {
        let blank = |c: char| c != '\n' && c.is_whitespace();
        self.out.truncate(self.out.trim_end_matches(blank).len());
        self.out.push('\n');
    }
}

/// A cell that fits is not wrapped, because wrapping collapses blanks.
fn wrap_cell(cell: &str, width: usize) -> Vec<String> {
    if display_width(cell) <= width {
        vec![cell.to_owned()]
    } else {
        wrap_text(cell, width, WordOverflow::Keep)
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    #[test]
    fn long_sentences_wrap_under_their_label() {
        let mut page = TextPage::default();
        page.append_hanging_paragraph(2, "why  ", &"word ".repeat(40));
        let text = page.into_text();
        assert!(text.lines().count() == 3, "{text}");
        assert!(text.lines().all(|line| line.width() <= WIDTH));
        assert!(
            text.lines()
                .skip(1)
                .all(|line| line.starts_with("       word"))
        );
    }

    #[test]
    fn a_table_that_is_too_wide_folds_in_its_widest_columns() {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let options = format!("ext4 rw,{}", "resuid=65534,".repeat(8));
        let rows = [
            row(["  /srv", &options, "passed on", "weakest"]),
            row(["    sda", "disk", "volatile", ""]),
        ];
        let mut page = TextPage::default();
        page.append_table(4, &rows, &[]);
        let text = page.into_text();
        assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
        assert!(
            text.lines().count() > 2 && text.contains("\n        sda  disk  "),
            "{text}"
        );
        assert!(
            text.lines().next().unwrap().ends_with("  weakest"),
            "{text}"
        );
        let all: String = text
            .split_whitespace()
            .filter(|word| word.contains("resuid"))
            .collect();
        assert!(options.ends_with(&all), "{all}");
    }

    #[test]
    fn one_word_longer_than_the_page_stays_whole() {
        let mut page = TextPage::default();
        page.append_paragraph(2, &format!("a {} b", "x".repeat(150)));
        assert!(page.into_text().contains(&"x".repeat(150)));
    }
}
