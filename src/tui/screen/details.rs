//! The lines below an unfolded one: paragraphs, named fields, commands. Shared by the screens.

use ratatui::text::{Line, Span};

use crate::facts::MissingFact;
use crate::report::Report;
use crate::report::view::{Detail, wording};
use crate::rules::{Finding, Outcome};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::columns::labelled_rows;
use crate::tui::widgets::{diff, text, trace};

/// Columns for field names, including the gap. A longer name widens the column, so it is never cut.
const NAME: usize = 10;

fn label_width(name: &str) -> usize {
    NAME.max(text::width(name) + 1)
}

/// Lines below an unfolded one.
pub struct Details {
    theme: Theme,
    room: usize,
    pub lines: Vec<Line<'static>>,
}

impl Details {
    pub fn new(theme: Theme, room: usize) -> Self {
        Self {
            theme,
            room,
            lines: Vec::new(),
        }
    }

    /// All lines, indented.
    pub fn indented(self) -> Vec<Line<'static>> {
        indented(self.lines)
    }

    pub fn paragraph(&mut self, says: &str) {
        if !says.is_empty() {
            self.lines
                .extend(text::wrap(says, self.room).into_iter().map(Line::from));
        }
    }

    /// A name and a text wrapped beside it.
    pub fn field(&mut self, name: &str, says: &str) {
        self.fields(&[(name, says)]);
    }

    /// Several such fields with aligned texts.
    pub fn fields<N: AsRef<str>>(&mut self, fields: &[(N, &str)]) {
        let columns = fields
            .iter()
            .map(|(name, _)| label_width(name.as_ref()))
            .max()
            .unwrap_or(NAME);
        for (name, says) in fields {
            let rows = text::wrap(says, self.room.saturating_sub(columns));
            self.rows(name.as_ref(), columns, rows, TextRole::Plain);
        }
    }

    /// A name and commands, one per line; long ones wrap, but are never cut.
    pub fn commands<S: AsRef<str>>(&mut self, name: &str, commands: &[S]) {
        let columns = label_width(name);
        let room = self.room.saturating_sub(columns);
        let rows: Vec<String> = commands
            .iter()
            .flat_map(|command| text::wrap(command.as_ref(), room))
            .collect();
        self.rows(name, columns, rows, TextRole::Code);
    }

    fn rows(&mut self, name: &str, columns: usize, rows: Vec<String>, role: TextRole) {
        let name = (name, self.theme.style(TextRole::Dim));
        self.lines
            .extend(labelled_rows(name, columns, rows, self.theme.style(role)));
    }

    pub fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    /// What a rule says of its subject, unless already shown, with its evidence and sources.
    pub fn reasons(&mut self, report: &Report, finding: &Finding, told: &[Detail]) {
        let is_it = |detail: &Detail| match detail {
            Detail::Sentence(says) | Detail::Continuation(says) => {
                *says.to_string() == *finding.because
            }
            _ => false,
        };
        if !told.iter().any(is_it) {
            self.paragraph(&finding.because);
        }
        // With advice, the advice is the fix.
        if let Some(remedy) = finding
            .remedy
            .as_ref()
            .filter(|_| finding.advice.is_empty() && told.is_empty())
        {
            self.field("fix", &remedy.text);
        }
        let was = wording::level_as_written(report, &finding.rule);
        self.field(
            "rule",
            &format!("{} ({}){was}", finding.rule, finding.confidence.as_str()),
        );
        for evidence in report.evidence(&finding.rule) {
            self.field("evidence", &evidence.lines().join(" · "));
        }
        if !finding.refs.is_empty() {
            self.field("sources", &finding.refs.join(" · "));
        }
    }

    /// The report's details of a step or finding.
    pub fn push_report_details(&mut self, told: &[Detail]) {
        for detail in told {
            match detail {
                Detail::Sentence(says) => self.paragraph(&says.to_string()),
                Detail::Field(label, says) | Detail::Verbose(label, says) => {
                    self.field(label, &says.to_string());
                }
                Detail::Continuation(says) => self.field("", &says.to_string()),
                Detail::Diff { before, after, .. } => self.push_diff(before, after),
                Detail::Commands(label, commands) => self.commands(label, commands),
                Detail::UserCommand(own) => {
                    self.field(
                        "yours",
                        &format!("{}: {}", own.purpose.as_str(), own.command),
                    );
                    self.field("", &own.sentence());
                }
            }
        }
    }

    /// A value before and after.
    fn push_diff(&mut self, before: &[String], after: &[String]) {
        let rows = diff::lines(before, after, self.theme, self.room.saturating_sub(NAME));
        for (i, mut line) in rows.into_iter().enumerate() {
            let name = if i == 0 { "result" } else { "" };
            line.spans.insert(
                0,
                Span::styled(text::pad(name, NAME), self.theme.style(TextRole::Dim)),
            );
            self.lines.push(line);
        }
    }

    /// A missing fact: the reason, and the remedy.
    pub fn need(&mut self, need: &MissingFact) {
        self.field(
            "missing",
            &format!("{} of {}", need.fact, wording::subject_name(&need.subject)),
        );
        self.field("why", &wording::need_reason(need));
        if let Some(remedy) = &need.remedy {
            self.field("fix", &remedy.to_string());
        }
    }

    /// The alternative sets of facts that would decide a finding.
    pub fn needs(&mut self, finding: &Finding) {
        let Outcome::Undecided { needs } = &finding.outcome else {
            return;
        };
        for (i, set) in needs.iter().enumerate() {
            self.paragraph(if i == 0 { "Needed to decide:" } else { "or:" });
            for need in set {
                self.need(need);
            }
        }
    }

    /// The trace of a rule.
    pub fn trace(&mut self, finding: &Finding) {
        self.gap();
        let head = format!(
            "{} on {}: {}",
            finding.rule,
            finding.subject,
            finding.outcome.as_str()
        );
        let head = text::wrap(&head, self.room).into_iter();
        self.lines
            .extend(head.map(|row| Line::styled(row, self.theme.style(TextRole::Dim))));
        if let Some(trace) = &finding.trace {
            self.lines
                .extend(trace::lines(trace, self.theme, self.room));
        }
    }
}

pub fn indented(mut lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
    for line in &mut lines {
        line.spans.insert(0, Span::raw("  "));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice as _;
    use crate::facts::catalog::target::Role;

    #[test]
    fn names_of_a_list_stand_whole_and_what_they_are_beneath_each_other() {
        let names: Vec<String> = Role::ALL.iter().map(|role| format!("  {role}")).collect();
        let fields: Vec<(&str, &str)> = names
            .iter()
            .map(|name| (name.as_str(), "/srv/db"))
            .collect();
        let mut details = Details::new(
            Theme {
                colour: false,
                ascii: false,
            },
            60,
        );
        details.fields(&fields);
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
