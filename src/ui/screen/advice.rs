//! Advice: the plan with its steps, what is right already, what may be done at a price, what else was found, what cannot be
//! decided, what was withheld, and where rules disagree: the sections of the report about the chosen target.

use ratatui::text::Line;

use super::rest::no_target_page;
use super::sections::SectionView;
use super::what_if;
use crate::ui::data::Data;
use crate::ui::page::{Page, PageState};

pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
    let Some((report, _)) = data.chosen() else { return no_target_page(data, "advise on") };
    let mut page = Page::default();
    what_if::all(&mut page, data, state, room);
    if data.focus.advised.change.is_none() {
        page.heading(data.theme, "Plan", "");
        page.text(vec![Line::raw("Nothing to change.")]);
    }
    let view = SectionView { data, reports: &[report], state, room };
    for section in data.focus.advised.sections() {
        view.add(&mut page, section);
    }
    page
}
