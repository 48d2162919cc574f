//! The overlays: the lists of every command and of all targets, the questions before a probe and before a file is
//! written, and the choices of assumptions and of a file system.

pub mod pane;
mod confirm;
mod filesystem;
mod help;
mod save;
mod targets;
mod what_if;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::hits::Hits;
use super::model::{Model, Overlay};

/// Draws what lies over the screen, within this area.
pub fn draw(model: &Model, area: Rect, hits: &mut Hits, buffer: &mut Buffer) {
    match &model.overlay {
        None => {}
        Some(Overlay::Help { filter, chosen }) => {
            help::draw(model, filter.text(), *chosen, area, hits, buffer);
        }
        Some(Overlay::Confirm { target, plan }) => confirm::draw(model, target, plan, area, hits, buffer),
        Some(Overlay::WhatIf(picker)) => what_if::draw(model, picker, area, buffer),
        Some(Overlay::Filesystem { chosen }) => filesystem::draw(model, *chosen, area, buffer),
        Some(Overlay::Save(form)) => save::draw(model, form, area, hits, buffer),
        Some(Overlay::Targets { filter, chosen }) => {
            targets::draw(model, filter.text(), *chosen, area, hits, buffer);
        }
    }
}
