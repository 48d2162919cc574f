use ratatui::text::{Line, Span};

use super::no_target_page;
use super::sections::SectionRenderer;
use crate::facts::Subject;
use crate::report::view::Section;
use crate::tui::changes_state::ComparisonState;
use crate::tui::job::{ChangedFacts, ComparisonReference};
use crate::tui::page::{Page, RowDetails};
use crate::tui::screen_data::ScreenData;
use crate::tui::theme::{DIM, DOUBT, PLAIN};
use crate::tui::widgets::columns::labelled_rows;
use crate::tui::widgets::text;

const LABEL_WIDTH: usize = 10;

pub fn changes_page(data: &ScreenData, room: usize) -> Page {
    if !data.complete {
        return no_target_page(data);
    }
    let changes = &data.changes;
    let mut page = Page::default();
    let [saved, upgrade] = [
        (
            "baseline",
            (ComparisonReference::SavedReport, &changes.saved),
            "no saved report; press s to save one",
            "b choose",
        ),
        (
            "upgrade",
            (ComparisonReference::Upgrade, &changes.upgrade),
            "press o to choose an upgrade",
            "o choose",
        ),
    ]
    .map(|(label, (of, state), empty, key)| {
        let is_running = data.is_comparison_running(of);
        let empty = if is_running { "comparing" } else { empty };
        comparison_state_lines((label, state, empty, key), room)
    });
    page.push_text_block([saved, upgrade].concat());
    let view = SectionRenderer {
        data,
        room,
        with_commands: true,
    };
    for section in comparison_sections(&changes.upgrade) {
        view.push_section(&mut page, section);
    }
    // The reasons for an upgrade's changes are in the upgrade's sections, not in today's report.
    for block in &mut page.blocks {
        if let RowDetails::Item(_, about, _) = &mut block.details {
            about.rules.clear();
        }
    }
    let moved = changes.moved.iter().flat_map(|moved| &moved.sections);
    for section in moved.chain(comparison_sections(&changes.saved)) {
        view.push_section(&mut page, section);
    }
    page
}

fn comparison_sections(state: &ComparisonState) -> &[Section] {
    match &state.result {
        Some(Ok(Some(compared))) => &compared.sections,
        Some(Ok(None) | Err(_)) | None => &[],
    }
}

fn comparison_state_lines(
    (label, state, empty, key): (&'static str, &ComparisonState, &str, &str),
    room: usize,
) -> Vec<Line<'static>> {
    let (says, role) = match &state.result {
        Some(Ok(Some(compared))) => (compared.title.clone(), PLAIN),
        Some(Err(why)) => (why.clone(), DOUBT),
        Some(Ok(None)) | None => (empty.to_owned(), DIM),
    };
    let key_room = text::width(key) + 2;
    let rows = text::wrap(
        &says,
        room.saturating_sub(LABEL_WIDTH).saturating_sub(key_room),
    );
    let mut lines = labelled_rows((label, DIM), LABEL_WIDTH, rows, role);
    if let Some(first) = lines.first_mut() {
        let gap = room
            .saturating_sub(first.width())
            .saturating_sub(text::width(key));
        first.spans.push(Span::raw(" ".repeat(gap)));
        first.spans.push(Span::styled(key.to_owned(), DIM));
    }
    lines
}

/// Marks the rows of changed layers and facts, and removes the mark from all other rows.
pub fn mark_changed_blocks(page: &mut Page, moved: &ChangedFacts) {
    let is_moved = |subject: &Subject, fact: Option<&String>| {
        let mut facts = moved.facts.iter();
        facts.any(|(moved, name)| moved == subject && fact.is_none_or(|fact| fact == name))
    };
    for block in &mut page.blocks {
        let about = match &block.details {
            RowDetails::Layer(subject) => is_moved(subject, None),
            RowDetails::Fact(subject, fact) => is_moved(subject, Some(fact)),
            RowDetails::Nothing
            | RowDetails::Unfold
            | RowDetails::Item(..)
            | RowDetails::Sections(..)
            | RowDetails::Rule(_)
            | RowDetails::MissingFact(_)
            | RowDetails::Method(_)
            | RowDetails::Document(_) => false,
        };
        let entered = block.fact.as_ref();
        block.is_moved =
            about || entered.is_some_and(|(subject, fact)| is_moved(subject, Some(fact)));
    }
}
