//! Unknown facts, each with a way to learn it: a probe, running as root, or a value entered by the
//! user.
//!
//! An entered value is shown as *stated* and never replaces a reading ([`super::what_if`]).

use super::details::Details;
use super::list_limits::{MAX_ITEMS, push_remainder};
use crate::escape::Command;
use crate::facts::{MissingFact, Reading, Remedy, catalog};
use crate::report::Report;
use crate::report::view::{unknown, wording};
use crate::text::names_and_count;
use crate::tui::data::Data;
use crate::tui::labels;
use crate::tui::page::{Block, EnterEffect, Page, PageState};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::what_if::may_suppose;
use crate::tui::widgets::columns::{self, Column, StyledText};

/// Names listed before the rest is counted.
const MAX_NAMES: usize = 8;

/// Adds the facts that would decide a rule, at most `most` by name.
pub fn add_section(
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
    page.heading(theme, "Unknown", &format!("{all} needed to decide rules"));
    let view = RemedyList {
        data,
        report,
        theme,
    };
    let shown = needs.iter().take(most);
    let rows: Vec<Vec<StyledText>> = shown.clone().map(|(need, _)| view.cells(need)).collect();
    let shape = [Column::keep(6), Column::keep(16), Column::wrap(28)];
    for (mut lines, (need, rules)) in columns::wrapped_rows(&rows, &shape, room)
        .into_iter()
        .zip(shown)
    {
        let key = block_key(need);
        if state.is_unfolded(&key) {
            let mut details = Details::new(theme, room.saturating_sub(2));
            view.details(&mut details, need, rules);
            lines.extend(details.indented());
        }
        let mut block = Block::item(key, EnterEffect::Unfold, lines).with_issue(true);
        block.fact = Some((need.subject.clone(), need.fact.clone()));
        block.commands = view.root_command(need).into_iter().collect();
        page.blocks.push(block);
    }
    push_remainder(page, theme, needs.len(), most);
}

fn block_key(need: &MissingFact) -> String {
    format!("need {} {}", need.fact, need.subject)
}

/// Whether any of the listed facts is unfolded.
pub fn has_unfolded(data: &Data, state: &PageState) -> bool {
    data.focus
        .needs
        .iter()
        .take(MAX_ITEMS)
        .any(|(need, _)| state.is_unfolded(&block_key(need)))
}

/// The number of missing facts, with the remedy for most of them.
pub fn summary(data: &Data, report: &Report) -> String {
    let needs: Vec<MissingFact> = data
        .focus
        .needs
        .iter()
        .map(|(need, _)| need.clone())
        .collect();
    let all = || {
        format!(
            "{} needed to decide rules",
            wording::count_noun(needs.len(), "fact")
        )
    };
    unknown::summary(report, &needs).unwrap_or_else(all)
}

struct RemedyList<'a> {
    data: &'a Data,
    report: &'a Report,
    theme: Theme,
}

impl RemedyList<'_> {
    fn cells(&self, need: &MissingFact) -> Vec<StyledText> {
        let plain = self.theme.style(TextRole::Plain);
        let remedy = match &need.remedy {
            Some(Remedy::RunProbe) if self.data.check_measurable().is_ok() => {
                " → press p to probe".to_owned()
            }
            Some(remedy) => format!(" → {remedy}"),
            None => String::new(),
        };
        let says = match self.stated_value(need) {
            Some(said) => (format!("{said}{remedy}"), self.theme.style(TextRole::Doubt)),
            None => (format!("{}{remedy}", wording::need_reason(need)), plain),
        };
        vec![
            (labels::subject_label(&need.subject), plain),
            (need.fact.clone(), plain),
            says,
        ]
    }

    /// The value that the user entered, if any.
    fn stated_value(&self, need: &MissingFact) -> Option<String> {
        let held = self.data.suppositions();
        let one = held
            .iter()
            .find(|one| one.subject == need.subject && one.fact == need.fact)?;
        Some(format!("stated: {}", one.value))
    }

    fn details(&self, details: &mut Details, need: &MissingFact, rules: &[String]) {
        details.need(need);
        if !rules.is_empty() {
            details.field("decides", &rules.join(", "));
        }
        if need.remedy == Some(Remedy::RunAsRoot) {
            details.field("root adds", &self.root_adds());
        }
        if self.root_command(need).is_some() {
            details.field("y", "copies the command to run walwise as root");
        }
        if need.remedy == Some(Remedy::RunProbe) && self.data.check_measurable().is_ok() {
            details.field("p", "shows what the probe would write, then asks");
        }
        if catalog::find(&need.fact).is_some_and(|key| may_suppose(self.report, &need.subject, key))
        {
            let says =
                "enters a value: shown as stated, never unlocks a setting that can lose data";
            details.field("i", says);
        }
    }

    /// The facts of this target that root could read.
    fn root_adds(&self) -> String {
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

    /// The command to check this target as root, if that helps.
    fn root_command(&self, need: &MissingFact) -> Option<Command> {
        if need.remedy != Some(Remedy::RunAsRoot) || !self.report.host.live {
            return None;
        }
        Command::new("sudo walwise ").value(self.data.focus.target.as_ref()?.name())
    }
}
