//! Lists unknown facts, for which the user can enter values. Such a value is shown as *stated* and
//! never replaces a reading ([`crate::tui::what_if`]).

use super::PageContext;
use super::detail_lines::DetailLines;
use crate::escape::ShellCommand;
use crate::facts::{MissingFact, Reading, Remedy, catalog};
use crate::report::view::unknown_facts::NONE_MISSING_TEXT;
use crate::report::view::wording;
use crate::text::format_names_and_rest;
use crate::tui::labels;
use crate::tui::page::{Page, PageBlock, RowDetails};
use crate::tui::theme::{DOUBT, PLAIN};
use crate::tui::what_if::can_assume;
use crate::tui::widgets::columns::{self, Column, StyledText};

const MAX_NAMES: usize = 8;

impl PageContext<'_> {
    pub fn push_unknown_section(&self, page: &mut Page) {
        let needs = &self.data.focus.needs;
        if needs.is_empty() {
            page.push_heading("Unknown", NONE_MISSING_TEXT);
            return;
        }
        let all = wording::count_with_noun(needs.len(), "fact");
        page.push_heading("Unknown", &format!("{all} needed to evaluate rules"));
        let rows: Vec<Vec<StyledText>> = needs
            .iter()
            .map(|(need, _)| self.missing_fact_cells(need))
            .collect();
        let shape = [6, 16, 28].map(Column::new_wrapping);
        let rows = columns::wrapped_rows(&rows, &shape, self.room.columns).into_iter();
        for (at, (lines, (need, _))) in rows.zip(needs).enumerate() {
            let key = format!("need {} {}", need.fact, need.subject);
            page.blocks.push(PageBlock {
                fact: Some((need.subject.clone(), need.fact.clone())),
                commands: self.run_as_root_command(need).into_iter().collect(),
                ..PageBlock::new_row(key, RowDetails::MissingFact(at), lines)
            });
        }
    }

    /// Adds the details of a missing fact and returns its name.
    pub fn push_needed_fact_details(&self, details: &mut DetailLines, at: usize) -> String {
        let Some((need, rules)) = self.data.focus.needs.get(at) else {
            return String::new();
        };
        self.push_missing_fact_details(details, need, rules);
        need.fact.clone()
    }

    fn missing_fact_cells(&self, need: &MissingFact) -> Vec<StyledText> {
        let remedy = match &need.remedy {
            Some(Remedy::RunProbe) if self.data.check_measurable().is_ok() => {
                " → press p to probe".to_owned()
            }
            Some(remedy) => format!(" → {remedy}"),
            None => String::new(),
        };
        let says = match self.assumed_value_text(need) {
            Some(said) => (format!("{said}{remedy}"), DOUBT),
            None => (
                format!("{}{remedy}", wording::missing_fact_reason(need)),
                PLAIN,
            ),
        };
        vec![
            (labels::subject_label(&need.subject), PLAIN),
            (need.fact.clone(), PLAIN),
            says,
        ]
    }

    fn assumed_value_text(&self, need: &MissingFact) -> Option<String> {
        let held = self.data.assumed_facts();
        let one = held
            .iter()
            .find(|one| one.is_for_fact(&need.subject, &need.fact))?;
        Some(format!("stated: {}", one.value))
    }

    fn push_missing_fact_details(
        &self,
        details: &mut DetailLines,
        need: &MissingFact,
        rules: &[String],
    ) {
        details.push_paragraph(&self.assumed_value_text(need).unwrap_or_default());
        details.push_missing_fact(need);
        if !rules.is_empty() {
            details.push_field("decides", &rules.join(", "));
        }
        if need.remedy == Some(Remedy::RunAsRoot) {
            details.push_field("as root", &self.root_readable_facts_text());
        }
        if self.run_as_root_command(need).is_some() {
            details.push_field("y", "copies the command that runs walwise as root");
        }
        if need.remedy == Some(Remedy::RunProbe) && self.data.check_measurable().is_ok() {
            details.push_field(
                "p",
                "shows what the probe would write, then asks for confirmation",
            );
        }
        if catalog::find_by_name(&need.fact)
            .is_some_and(|key| can_assume(self.report, &need.subject, key))
        {
            let says = "enters a value, which is marked as stated and never unlocks a \
                        setting that can lose data";
            details.push_field("i", says);
        }
    }

    fn root_readable_facts_text(&self) -> String {
        let subjects = self.data.focus.related.iter();
        let rows = subjects.flat_map(|subject| self.report.facts.rows_of(subject));
        let helped = |reading: &Reading<_>| {
            matches!(
                reading,
                Reading::Unknown {
                    remedy: Some(Remedy::RunAsRoot),
                    ..
                }
            )
        };
        let mut names: Vec<&str> = rows
            .filter(|row| helped(row.reading))
            .map(|row| row.fact)
            .collect();
        let needs = self.data.focus.needs.iter().map(|(need, _)| need);
        names.extend(
            needs
                .filter(|need| need.remedy == Some(Remedy::RunAsRoot))
                .map(|need| &*need.fact),
        );
        names.sort_unstable();
        names.dedup();
        format_names_and_rest(&names, MAX_NAMES)
    }

    /// `None` if root privileges would not help, and on a capture.
    fn run_as_root_command(&self, need: &MissingFact) -> Option<ShellCommand> {
        if need.remedy != Some(Remedy::RunAsRoot) || !self.report.host.live {
            return None;
        }
        ShellCommand::new("sudo walwise ").append_quoted_name(self.target.name())
    }
}
