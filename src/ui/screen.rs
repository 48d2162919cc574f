//! The screens: each turns the data into a page. They do not know each other; another one is opened by its name.

mod details;
mod sections;
mod export;
mod price;
mod curves;
mod rest;
mod probe;
mod rules;
mod storage;
mod unknown;
mod what_if;
mod advice;
mod overview;

use ratatui::text::Line;

use super::data::Data;
use super::page::{Page, PageState};
use super::room::PageRoom;
use super::screen_id::ScreenId;
use super::theme::TextRole;

impl ScreenId {
    /// What it shows in this room.
    pub fn page(self, data: &Data, state: &PageState, room: PageRoom) -> Page {
        let mut page = match self {
            Self::Overview => overview::page(data, state, room),
            Self::Storage => storage::page(data, state, room.columns),
            Self::Probe => probe::page(data, state, room),
            Self::Advice => advice::page(data, state, room.columns),
            Self::Rules => rules::page(data, state, room.columns),
            Self::Export => export::page(data, state, room.columns),
        };
        if !self.has_much() && data.complete && state.is_searching() {
            page.find(|said| state.passes(said));
            if page.blocks.is_empty() {
                page.text(vec![Line::styled("No matches.", data.theme.style(TextRole::Dim))]);
            }
        }
        page
    }
}
