//! What is not known, each with the key that would settle it: a probe, what root would see, or a
//! word of the user's own.
//!
//! What is stated by hand is shown as *stated* and stays beside the machine as it is
//! ([`super::what_if`]).

use super::details::Details;
use super::rest::{MOST, rest};
use crate::facts::{Need, Reading, Remedy, catalog};
use crate::quote::Command;
use crate::report::Report;
use crate::report::telling::{unknown, words as told};
use crate::text::first_of;
use crate::tui::data::Data;
use crate::tui::page::{Block, Enter, Page, PageState};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::what_if::may_suppose;
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::words;

/// How many facts are named before the rest is counted.
const NAMED: usize = 8;

/// Adds the facts that would settle something, at most so many by name.
pub fn add(
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
    let all = told::count(needs.len(), "fact");
    page.heading(
        theme,
        "Not known",
        &format!("{all} that would decide a rule"),
    );
    let view = RemedyList {
        data,
        report,
        theme,
    };
    let shown = needs.iter().take(most);
    let rows: Vec<Vec<StyledText>> = shown.clone().map(|(need, _)| view.cells(need)).collect();
    let shape = [Column::keep(6), Column::keep(16), Column::wrap(28)];
    for (mut lines, (need, rules)) in columns::wrapped(&rows, &shape, room).into_iter().zip(shown) {
        let key = key(need);
        if state.is_unfolded(&key) {
            let mut details = Details::new(theme, room.saturating_sub(2));
            view.details(&mut details, need, rules);
            lines.extend(details.indented());
        }
        let mut block = Block::item(key, Enter::Unfold, lines).amiss(true);
        block.fact = Some((need.subject.clone(), need.fact.clone()));
        block.copy = view.as_root(need).into_iter().collect();
        page.blocks.push(block);
    }
    rest(page, theme, needs.len(), most);
}

/// The name of the block about a missing fact.
fn key(need: &Need) -> String {
    format!("need {} {}", need.fact, need.subject)
}

/// Whether any of them is unfolded.
pub fn is_open(data: &Data, state: &PageState) -> bool {
    data.focus
        .needs
        .iter()
        .take(MOST)
        .any(|(need, _)| state.is_unfolded(&key(need)))
}

/// How many facts would settle something, and what would tell most of them.
pub fn in_short(data: &Data, report: &Report) -> String {
    let needs: Vec<Need> = data
        .focus
        .needs
        .iter()
        .map(|(need, _)| need.clone())
        .collect();
    let all = || {
        format!(
            "{} that would decide a rule",
            told::count(needs.len(), "fact")
        )
    };
    unknown::in_short(report, &needs).unwrap_or_else(all)
}

struct RemedyList<'a> {
    data: &'a Data,
    report: &'a Report,
    theme: Theme,
}

impl RemedyList<'_> {
    /// A missing fact in columns.
    fn cells(&self, need: &Need) -> Vec<StyledText> {
        let plain = self.theme.style(TextRole::Plain);
        let remedy = match &need.remedy {
            Some(Remedy::RunProbe) if self.data.measurable().is_ok() => {
                " → p runs the probe".to_owned()
            }
            Some(remedy) => format!(" → {remedy}"),
            None => String::new(),
        };
        let says = match self.stated(need) {
            Some(said) => (format!("{said}{remedy}"), self.theme.style(TextRole::Doubt)),
            None => (format!("{}{remedy}", told::reason(need)), plain),
        };
        vec![
            (words::subject(&need.subject), plain),
            (need.fact.clone(), plain),
            says,
        ]
    }

    /// What somebody says of it.
    fn stated(&self, need: &Need) -> Option<String> {
        let held = self.data.suppositions();
        let one = held
            .iter()
            .find(|one| one.subject == need.subject && one.fact == need.fact)?;
        Some(format!("stated: {}", one.value))
    }

    fn details(&self, details: &mut Details, need: &Need, rules: &[String]) {
        details.need(need);
        if !rules.is_empty() {
            details.field("decides", &rules.join(", "));
        }
        if need.remedy == Some(Remedy::RunAsRoot) {
            details.field("root adds", &self.root_adds());
        }
        if self.as_root(need).is_some() {
            details.field("y", "copies the command that runs walwise as root");
        }
        if need.remedy == Some(Remedy::RunProbe) && self.data.measurable().is_ok() {
            details.field("p", "plans the probe, says what it would write, and asks");
        }
        if catalog::find(&need.fact).is_some_and(|key| may_suppose(self.report, &need.subject, key))
        {
            let says = "states it by hand: shown as stated, never enough for what can lose data";
            details.field("i", says);
        }
    }

    /// The facts about this target that root could read.
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
        first_of(&names, NAMED)
    }

    /// The command that looks at this target as root, where that would help and is possible here.
    fn as_root(&self, need: &Need) -> Option<Command> {
        if need.remedy != Some(Remedy::RunAsRoot) || !self.report.host.live {
            return None;
        }
        Command::new("sudo walwise ").value(self.data.focus.target.as_ref()?.name())
    }
}
