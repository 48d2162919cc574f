use ratatui::text::{Line, Span};

use super::sections::SectionView;
use super::shared_page_parts::no_target_page;
use super::storage::layer_key;
use crate::facts::Subject;
use crate::report::view::Section;
use crate::tui::changes_state::{ComparisonState, MovedFacts};
use crate::tui::data::Data;
use crate::tui::page::{EnterEffect, Page, PageState};
use crate::tui::theme::TextRole;
use crate::tui::widgets::columns::labelled_rows;
use crate::tui::widgets::text;

const LABEL_WIDTH: usize = 10;

pub fn changes_page(data: &Data, state: &PageState, room: usize) -> Page {
    let Some(report) = data.report.as_deref().filter(|_| data.complete) else {
        return no_target_page(data, "compare");
    };
    let changes = &data.changes;
    let mut page = Page::default();
    let [saved, upgrade] = [
        (
            "baseline",
            &changes.saved,
            "no saved report: s saves one now",
            "b choose",
        ),
        (
            "upgrade",
            &changes.upgrade,
            "o: choose what you will upgrade to",
            "o choose",
        ),
    ]
    .map(|row| reference_lines(data, row, room));
    page.push_text([saved, upgrade].concat());
    let of_today = [report];
    let mut push = |sections: &[Section], reports| {
        let view = SectionView {
            data,
            reports,
            state,
            room,
        };
        sections
            .iter()
            .for_each(|section| view.push_section(&mut page, section));
    };
    // Reasons for what an upgrade changes are in its own sections, not in today's report.
    push(sections(&changes.upgrade), &[]);
    if let Some(moved) = &changes.moved {
        push(&moved.sections, &of_today);
    }
    push(sections(&changes.saved), &of_today);
    page
}

fn sections(state: &ComparisonState) -> &[Section] {
    match &state.result {
        Some(Ok(Some(compared))) => &compared.sections,
        Some(Ok(None) | Err(_)) | None => &[],
    }
}

fn reference_lines(
    data: &Data,
    (label, state, empty, key): (&'static str, &ComparisonState, &str, &str),
    room: usize,
) -> Vec<Line<'static>> {
    let (says, role) = match &state.result {
        Some(Ok(Some(compared))) => (compared.title.clone(), TextRole::Plain),
        Some(Err(why)) => (why.clone(), TextRole::Doubt),
        None if state.job.is_some() => ("comparing …".to_owned(), TextRole::Dim),
        Some(Ok(None)) | None => (empty.to_owned(), TextRole::Dim),
    };
    let theme = data.theme;
    let key_room = text::width(key).saturating_add(2);
    let rows = text::wrap(
        &says,
        room.saturating_sub(LABEL_WIDTH).saturating_sub(key_room),
    );
    let dim = theme.role_style(TextRole::Dim);
    let mut lines = labelled_rows((label, dim), LABEL_WIDTH, rows, theme.role_style(role));
    if let Some(first) = lines.first_mut() {
        let gap = room
            .saturating_sub(first.width())
            .saturating_sub(text::width(key));
        first.spans.push(Span::raw(" ".repeat(gap)));
        first.spans.push(Span::styled(key.to_owned(), dim));
    }
    lines
}

/// Marks blocks about a fact or a layer that has changed, or that lead to such a layer.
pub fn mark_moved_blocks(page: &mut Page, moved: &MovedFacts) {
    let is_moved_layer = |key: &String| {
        let mut subjects = moved.facts.iter().map(|(subject, _)| subject);
        subjects.any(|subject| layer_key(subject) == *key)
    };
    for block in &mut page.blocks {
        let link = match &block.enter {
            EnterEffect::Open(_, key) => Some(key),
            EnterEffect::Nothing | EnterEffect::Unfold | EnterEffect::OpenPane => None,
        };
        let is_moved_fact = |(subject, fact): &(Subject, String)| {
            let mut facts = moved.facts.iter();
            facts.any(|(moved, name)| moved == subject && name == fact)
        };
        block.is_moved = block.key.iter().chain(link).any(is_moved_layer)
            || block.fact.as_ref().is_some_and(is_moved_fact);
    }
    if let Some(pane) = &mut page.pane {
        mark_moved_blocks(&mut pane.page, moved);
    }
}
