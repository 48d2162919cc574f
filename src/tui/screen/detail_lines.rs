use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::escape::ShellCommand;
use crate::facts::MissingFact;
use crate::report::Report;
use crate::report::view::{Detail, wording};
use crate::rules::{Finding, Outcome};
use crate::tui::theme::{CODE, DIM, PLAIN};
use crate::tui::widgets::columns::labelled_rows;
use crate::tui::widgets::{diff, text, trace};

/// Columns for a field's name, including the gap. A longer name widens the column.
const NAME_WIDTH: usize = 10;

fn label_column_width(name: &str) -> usize {
    NAME_WIDTH.max(text::width(name) + 1)
}

pub struct DetailLines {
    room: usize,
    pub lines: Vec<Line<'static>>,
}

impl DetailLines {
    pub fn new(room: usize) -> Self {
        Self {
            room,
            lines: Vec::new(),
        }
    }

    pub fn into_indented_lines(mut self) -> Vec<Line<'static>> {
        for line in &mut self.lines {
            line.spans.insert(0, Span::raw("  "));
        }
        self.lines
    }

    pub fn push_paragraph(&mut self, says: &str) {
        if !says.is_empty() {
            self.lines
                .extend(text::wrapped_lines(says, PLAIN, self.room));
        }
    }

    pub fn push_field(&mut self, name: &str, says: &str) {
        self.push_fields(&[(name, says)]);
    }

    pub fn push_fields<N: AsRef<str>>(&mut self, fields: &[(N, &str)]) {
        let columns = fields
            .iter()
            .map(|(name, _)| label_column_width(name.as_ref()))
            .max()
            .unwrap_or(NAME_WIDTH);
        for (name, says) in fields {
            let rows = text::wrap(says, self.room.saturating_sub(columns));
            self.push_labelled_rows(name.as_ref(), columns, rows, PLAIN);
        }
    }

    /// One command per line. A long command wraps and is never cut, so that it can be copied.
    pub fn push_commands<S: AsRef<str>>(&mut self, name: &str, commands: &[S]) {
        let columns = label_column_width(name);
        let room = self.room.saturating_sub(columns);
        let rows: Vec<String> = commands
            .iter()
            .flat_map(|command| text::wrap(command.as_ref(), room))
            .collect();
        self.push_labelled_rows(name, columns, rows, CODE);
    }

    /// The prompt marks the command as text to paste.
    pub fn push_command_with_prompt(&mut self, command: &ShellCommand) {
        const PROMPT: &str = "  $ ";
        let room = self.room.saturating_sub(PROMPT.len());
        let rows = command
            .as_ref()
            .lines()
            .flat_map(|row| text::wrap(row, room));
        let rows = rows.collect();
        self.push_labelled_rows(PROMPT, PROMPT.len(), rows, CODE);
    }

    fn push_labelled_rows(&mut self, name: &str, columns: usize, rows: Vec<String>, role: Style) {
        let name = (name, DIM);
        self.lines.extend(labelled_rows(name, columns, rows, role));
    }

    pub fn push_empty_line(&mut self) {
        self.lines.push(Line::default());
    }

    /// `told` holds details that are already shown. The rule's reason is left out if it is one of
    /// them, and the fix if there are any.
    pub fn push_finding_explanation(
        &mut self,
        report: &Report,
        finding: &Finding,
        told: &[Detail],
    ) {
        let is_it = |detail: &Detail| match detail {
            Detail::Sentence(says) | Detail::Continuation(says) | Detail::Field(_, says) => {
                *says.to_string() == *finding.because
            }
            _ => false,
        };
        if !told.iter().any(is_it) {
            self.push_paragraph(&finding.because);
        }
        // A finding with advice needs no remedy, because the advice is the fix.
        if let Some(remedy) = finding
            .remedy
            .as_ref()
            .filter(|_| finding.advice.is_empty() && told.is_empty())
        {
            self.push_field("fix", &remedy.text);
        }
        let was = wording::original_level_suffix(report, &finding.rule);
        self.push_field(
            "rule",
            &format!("{} ({}){was}", finding.rule, finding.confidence.as_str()),
        );
        for evidence in report.studies_behind_rule(&finding.rule) {
            self.push_field("evidence", &evidence.measurement_lines().join(" · "));
        }
        if !finding.refs.is_empty() {
            self.push_field("sources", &finding.refs.join(" · "));
        }
    }

    pub fn push_details<'d>(&mut self, told: impl IntoIterator<Item = &'d Detail>) {
        for detail in told {
            match detail {
                Detail::Sentence(says) => self.push_paragraph(&says.to_string()),
                Detail::Field(label, says) | Detail::Verbose(label, says) => {
                    self.push_field(label, &says.to_string());
                }
                Detail::Continuation(says) => self.push_field("", &says.to_string()),
                Detail::Diff { before, after, .. } => self.push_diff(before, after),
                Detail::Commands(label, commands) => self.push_commands(label, commands),
                Detail::UserCommand(own) => {
                    self.push_field(
                        "yours",
                        &format!("{}: {}", own.purpose.as_str(), own.command),
                    );
                    self.push_field("", &own.unchecked_origin_sentence());
                }
            }
        }
    }

    fn push_diff(&mut self, before: &[String], after: &[String]) {
        let rows = diff::diff_lines(before, after, self.room.saturating_sub(NAME_WIDTH));
        let names = std::iter::once("result").chain(std::iter::repeat(""));
        for (mut line, name) in rows.into_iter().zip(names) {
            let name = text::pad_or_truncate(name, NAME_WIDTH);
            line.spans.insert(0, Span::styled(name, DIM));
            self.lines.push(line);
        }
    }

    pub fn push_missing_fact(&mut self, need: &MissingFact) {
        self.push_field(
            "missing",
            &format!(
                "{} of {}",
                need.fact,
                wording::describe_subject(&need.subject)
            ),
        );
        self.push_field("why", &wording::missing_fact_reason(need));
        if let Some(remedy) = &need.remedy {
            self.push_field("fix", &remedy.to_string());
        }
    }

    /// Each set alone would decide the rule.
    pub fn push_missing_fact_sets(&mut self, finding: &Finding) {
        let Outcome::Undecided { needs } = &finding.outcome else {
            return;
        };
        for (i, set) in needs.iter().enumerate() {
            self.push_paragraph(if i == 0 { "Needed to decide:" } else { "or:" });
            for need in set {
                self.push_missing_fact(need);
            }
        }
    }

    pub fn push_trace(&mut self, finding: &Finding) {
        self.push_empty_line();
        let head = format!(
            "{} on {}: {}",
            finding.rule,
            finding.subject,
            finding.outcome.as_str()
        );
        self.lines
            .extend(text::wrapped_lines(&head, DIM, self.room));
        if let Some(trace) = &finding.trace {
            self.lines.extend(trace::trace_lines(trace, self.room));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice as _;
    use crate::facts::catalog::target::DirectoryRole;

    #[test]
    fn field_names_are_complete_and_values_aligned() {
        let names: Vec<String> = DirectoryRole::ALL
            .iter()
            .map(|role| format!("  {role}"))
            .collect();
        let fields: Vec<(&str, &str)> = names
            .iter()
            .map(|name| (name.as_str(), "/srv/db"))
            .collect();
        let mut details = DetailLines::new(60);
        details.push_fields(&fields);
        let lines: Vec<String> = details.lines.iter().map(ToString::to_string).collect();
        let places: Vec<Option<usize>> = lines.iter().map(|line| line.find("/srv/db")).collect();
        assert!(
            places
                .iter()
                .all(|place| place.is_some() && *place == places[0]),
            "{lines:#?}"
        );
        for (name, line) in names.iter().zip(&lines) {
            assert!(line.starts_with(&format!("{name} ")), "{line}");
        }
    }
}
