//! What would be different, beside the machine as it is: in short on the overview, whole before the advice.

use ratatui::text::Line;

use super::sections::SectionView;
use crate::report::telling::{Section, what_if};
use crate::ui::data::Data;
use crate::ui::page::{Block, Enter, Page, PageState};
use crate::ui::screen_id::ScreenId;
use crate::ui::widgets::text;

const ASIDE: &str = "beside the machine as it is; W leaves";

/// In short: what is supposed, what becomes of verdicts, which rules are decided, and how much else is different.
pub fn brief(page: &mut Page, data: &Data, state: &PageState, room: usize) {
    let Some(supposed) = &data.supposed else { return };
    page.heading(data.theme, "What if", &text::fit(ASIDE, room.saturating_sub(10)));
    let view = SectionView { data, reports: &[], state, room };
    let sections = what_if::sections(&supposed.what_if);
    let (told, counted): (Vec<&Section>, Vec<&Section>) =
        sections.iter().skip(1).partition(|section| section.heading.is_empty());
    let items: Vec<_> = told.into_iter().flat_map(|section| view.all(section)).collect();
    let mut lines: Vec<Line<'static>> =
        view.blocks(&items).into_iter().flat_map(|block| block.lines).collect();
    let counted = counted.into_iter().map(|section| {
        let heading = section.heading.to_string();
        // What stands behind a comma has no room in a line.
        let heading = heading.split(',').next().unwrap_or_default().to_lowercase();
        format!("{heading} ({})", view.all(section).len())
    });
    let counted = counted.collect::<Vec<_>>().join(" · ");
    lines.extend(text::wrap(&counted, room).into_iter().filter(|row| !row.is_empty()).map(Line::from));
    let first = items.into_iter().next().map(|item| item.key).unwrap_or_default();
    page.blocks.push(Block::item("what if", Enter::Open(ScreenId::Advice, first), lines));
}

pub fn all(page: &mut Page, data: &Data, state: &PageState, room: usize) {
    let (Some(supposed), Some(real)) = (&data.supposed, data.report.as_deref()) else { return };
    // What is gone has its reasons in the report of the machine as it is.
    let view = SectionView { data, reports: &[&supposed.report, real], state, room };
    for section in what_if::sections(&supposed.what_if) {
        view.add(page, &section);
    }
}
