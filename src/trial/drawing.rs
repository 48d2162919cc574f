//! A told trial, drawn as text for a terminal and as Markdown.

use super::telling::{NOT_RANKED, TableCell, TableOfLoad, Telling};
use crate::text::page::TextBuilder;
use crate::text::wrap::columns;

/// Columns before a table.
const INDENT: usize = 2;

impl Telling {
    /// As text for a terminal: without the tables of loads that decide nothing.
    pub fn text(&self) -> String {
        let mut lines = self.head.clone();
        for part in self.loads.iter().filter(|part| part.decides) {
            lines.extend([String::new(), part.title.clone(), format!("  {}", part.sentence)]);
            lines.extend(table(part));
        }
        let others = others(&self.loads);
        if !others.is_empty() {
            lines.push(String::new());
            lines.extend(others);
        }
        lines.push(String::new());
        lines.extend(self.notes.iter().map(|note| format!("- {note}")));
        lines.join("\n") + "\n"
    }

    pub fn markdown(&self) -> String {
        let mut lines = vec!["# Trial".to_owned(), String::new()];
        lines.extend(self.head.iter().map(|line| format!("{line}  ")));
        let cell = |cell: &TableCell| match &cell.interval {
            Some(interval) => format!("{} ({interval})", cell.says),
            None => cell.says.clone(),
        };
        let row =
            |row: &Vec<TableCell>| format!("| {} |", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
        for part in &self.loads {
            lines.extend([String::new(), format!("## {}", part.title), String::new(), part.sentence.clone()]);
            if part.columns.is_empty() {
                continue;
            }
            lines.extend([String::new(), format!("| {} |", part.columns.join(" | "))]);
            lines.push(format!("|{}", "---|".repeat(part.columns.len())));
            lines.extend(part.rows.iter().map(row));
            if !part.below.is_empty() {
                lines.push(format!(
                    "| *{NOT_RANKED}:* |{}",
                    " |".repeat(part.columns.len().saturating_sub(1))
                ));
                lines.extend(part.below.iter().map(row));
            }
        }
        lines.extend([String::new(), "## Notes".to_owned(), String::new()]);
        lines.extend(self.notes.iter().map(|note| format!("- {note}")));
        lines.join("\n") + "\n"
    }
}

/// A line for each answer of the loads that decide nothing; those that have the same one share it.
fn others(loads: &[TableOfLoad]) -> Vec<String> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for part in loads.iter().filter(|part| !part.decides) {
        match found.iter_mut().find(|(sentence, _)| *sentence == part.sentence) {
            Some((_, titles)) => titles.push(&part.title),
            None => found.push((&part.sentence, vec![&part.title])),
        }
    }
    found.into_iter().map(|(sentence, titles)| format!("{}: {sentence}", titles.join(", "))).collect()
}

/// The lines of a table, in columns.
fn table(part: &TableOfLoad) -> Vec<String> {
    let words = |row: &Vec<TableCell>| row.iter().map(|cell| cell.says.clone()).collect::<Vec<String>>();
    let head = part.columns.iter().map(|word| (*word).to_owned()).collect();
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(part.rows.iter().chain(&part.below).map(words)).collect();
    let right: Vec<bool> = (0..part.columns.len()).map(|at| at > 0).collect();
    let mut page = TextBuilder::unbounded();
    page.table(INDENT, &rows, &right);
    let mut lines: Vec<String> = page.finish().lines().map(str::to_owned).collect();
    if !part.below.is_empty() {
        let whole = lines.iter().map(|line| columns(line)).max().unwrap_or_default().saturating_sub(INDENT);
        let line = format!("{:INDENT$}{:-<whole$}", "", format!("-- {NOT_RANKED} "));
        lines.insert(rows.len() - part.below.len(), line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_that_decide_nothing_share_an_answer() {
        let load = |title: &str, sentence: &str| TableOfLoad {
            title: title.to_owned(),
            sentence: sentence.to_owned(),
            ..TableOfLoad::default()
        };
        let loads = vec![load("one", "Same."), load("other", "Else."), load("two", "Same.")];
        let text = Telling { loads, ..Telling::default() }.text();
        assert_eq!(text, "\none, two: Same.\nother: Else.\n\n");
    }
}
