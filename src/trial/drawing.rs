//! A told trial, drawn as text for a terminal and as Markdown.

use super::telling::{TableCell, TableOfLoad, Telling};

/// What parts the ranked candidates from the others.
const LINE: &str = "not ranked";

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
                lines.push(format!("| *{LINE}:* |{}", " |".repeat(part.columns.len().saturating_sub(1))));
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
    let head: Vec<String> = part.columns.iter().map(|word| (*word).to_owned()).collect();
    let ranked: Vec<Vec<String>> = std::iter::once(head).chain(part.rows.iter().map(words)).collect();
    let below: Vec<Vec<String>> = part.below.iter().map(words).collect();
    let width = |column: usize| {
        let all = ranked.iter().chain(&below).filter_map(|row| row.get(column));
        all.map(|word| word.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..part.columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let words = row.iter().zip(&widths).enumerate().map(|(column, (word, width))| {
            if column == 0 { format!("{word:<width$}") } else { format!("{word:>width$}") }
        });
        format!("  {}", words.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
    };
    let mut lines: Vec<String> = ranked.iter().map(line).collect();
    if !below.is_empty() {
        let whole = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        lines.push(format!("  {:-<whole$}", format!("-- {LINE} ")));
        lines.extend(below.iter().map(line));
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
