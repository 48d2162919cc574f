//! Lists unknown facts, for which the user can enter values. Such a value is shown as *stated* and
//! never replaces a reading ([`crate::tui::what_if`]).

use super::detail_lines::DetailLines;
use super::shared_page_parts::{MAX_ITEMS, push_left_out_count};
use crate::escape::ShellCommand;
use crate::facts::{MissingFact, Reading, Remedy, catalog};
use crate::report::Report;
use crate::report::view::{unknown_facts, wording};
use crate::text::names_and_count;
use crate::tui::data::Data;
use crate::tui::labels;
use crate::tui::page::{Block, EnterEffect, Page, PageState};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::what_if::can_assume;
use crate::tui::widgets::columns::{self, Column, StyledText};

const MAX_NAMES: usize = 8;

pub fn push_unknown_section(
    page: &mut Page,
    data: &Data,
    report: &Report,
    state: &PageState,
    room: usize,
    most: usize,
) {
    let (theme, needs) = (data.theme, &data.focus.needs);
    if needs.is_empty() {
        return;
    }
    let all = wording::count_noun(needs.len(), "fact");
    page.push_heading(theme, "Unknown", &format!("{all} needed to evaluate rules"));
    let view = UnknownFactsSection {
        data,
        report,
        theme,
    };
    let shown = needs.iter().take(most);
    let rows: Vec<Vec<StyledText>> = shown
        .clone()
        .map(|(need, _)| view.missing_fact_cells(need))
        .collect();
    let shape = [
        Column::new_cuttable(6),
        Column::new_cuttable(16),
        Column::new_wrapping(28),
    ];
    for (mut lines, (need, rules)) in columns::wrapped_rows(&rows, &shape, room)
        .into_iter()
        .zip(shown)
    {
        let key = missing_fact_block_key(need);
        if state.is_unfolded(&key) {
            let mut details = DetailLines::new(theme, room.saturating_sub(2));
            view.push_missing_fact_details(&mut details, need, rules);
            lines.extend(details.into_indented_lines());
        }
        let mut block =
            Block::new_selectable_item(key, EnterEffect::Unfold, lines).with_issue(true);
        block.fact = Some((need.subject.clone(), need.fact.clone()));
        block.commands = view.root_command(need).into_iter().collect();
        page.blocks.push(block);
    }
    push_left_out_count(page, theme, needs.len(), most);
}

fn missing_fact_block_key(need: &MissingFact) -> String {
    format!("need {} {}", need.fact, need.subject)
}

pub fn has_unfolded_fact(data: &Data, state: &PageState) -> bool {
    data.focus
        .needs
        .iter()
        .take(MAX_ITEMS)
        .any(|(need, _)| state.is_unfolded(&missing_fact_block_key(need)))
}

pub fn unknown_facts_summary(data: &Data, report: &Report) -> String {
    let needs: Vec<MissingFact> = data
        .focus
        .needs
        .iter()
        .map(|(need, _)| need.clone())
        .collect();
    let all = || {
        format!(
            "{} needed to evaluate rules",
            wording::count_noun(needs.len(), "fact")
        )
    };
    unknown_facts::missing_facts_summary(report, &needs).unwrap_or_else(all)
}

struct UnknownFactsSection<'a> {
    data: &'a Data,
    report: &'a Report,
    theme: Theme,
}

impl UnknownFactsSection<'_> {
    fn missing_fact_cells(&self, need: &MissingFact) -> Vec<StyledText> {
        let plain = self.theme.role_style(TextRole::Plain);
        let remedy = match &need.remedy {
            Some(Remedy::RunProbe) if self.data.check_measurable().is_ok() => {
                " → press p to probe".to_owned()
            }
            Some(remedy) => format!(" → {remedy}"),
            None => String::new(),
        };
        let says = match self.stated_value(need) {
            Some(said) => (
                format!("{said}{remedy}"),
                self.theme.role_style(TextRole::Doubt),
            ),
            None => (
                format!("{}{remedy}", wording::missing_fact_reason(need)),
                plain,
            ),
        };
        vec![
            (labels::subject_label(&need.subject), plain),
            (need.fact.clone(), plain),
            says,
        ]
    }

    fn stated_value(&self, need: &MissingFact) -> Option<String> {
        let held = self.data.assumed_facts();
        let one = held
            .iter()
            .find(|one| one.subject == need.subject && one.fact == need.fact)?;
        Some(format!("stated: {}", one.value))
    }

    fn push_missing_fact_details(
        &self,
        details: &mut DetailLines,
        need: &MissingFact,
        rules: &[String],
    ) {
        details.push_missing_fact(need);
        if !rules.is_empty() {
            details.push_field("decides", &rules.join(", "));
        }
        if need.remedy == Some(Remedy::RunAsRoot) {
            details.push_field("as root", &self.facts_readable_by_root());
        }
        if self.root_command(need).is_some() {
            details.push_field("y", "copies the command to run walwise as root");
        }
        if need.remedy == Some(Remedy::RunProbe) && self.data.check_measurable().is_ok() {
            details.push_field("p", "shows what the probe would write, then asks");
        }
        if catalog::find_by_name(&need.fact)
            .is_some_and(|key| can_assume(self.report, &need.subject, key))
        {
            let says = "enters a value, which is marked as stated and never unlocks a \
                        setting that can lose data";
            details.push_field("i", says);
        }
    }

    fn facts_readable_by_root(&self) -> String {
        let subjects = self.data.focus.subjects();
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
        names_and_count(&names, MAX_NAMES)
    }

    /// Returns the command that runs walwise as root. `None` if root privileges would not help, and
    /// on a capture.
    fn root_command(&self, need: &MissingFact) -> Option<ShellCommand> {
        if need.remedy != Some(Remedy::RunAsRoot) || !self.report.host.live {
            return None;
        }
        ShellCommand::new("sudo walwise ").append_value(self.data.focus.target.as_ref()?.name())
    }
}
