//! The clickable places on the screen. Code that draws a clickable element records it here, so that a click refers to
//! the visible picture, without a second layout.
//!
//! Most entries are keys, because the mouse does only what keys do.

use ratatui::layout::{Position, Rect};

use super::key::KeyPress;
use super::screen_id::ScreenId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hit {
    /// Does what this key does.
    Press(KeyPress),
    /// The first line of this block of the page: selects it, and enters it when it is selected already.
    Line(String),
    /// The rest of that block: selects it.
    Beneath(String),
    /// What another screen has of it: opens that block there.
    Open(ScreenId, String),
    /// The target at this place, from the worst on: chooses it.
    Target(usize),
    /// The command at this place in help, from 0: does it.
    Entry(usize),
}

/// Everything that can be clicked in the picture that was drawn last.
#[derive(Clone, Debug, Default)]
pub struct Hits(Vec<(Rect, Hit)>);

impl Hits {
    /// Notes what this place is for.
    pub fn add(&mut self, place: Rect, hit: Hit) {
        self.0.push((place, hit));
    }

    /// Notes that this place does what the first of these keys does, written as `"down j"`.
    pub fn press(&mut self, place: Rect, keys: &str) {
        self.add(place, Hit::Press(KeyPress::named(keys.split(' ').next().unwrap_or_default())));
    }

    /// Forgets all there was, for a picture with something over it.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The element on this cell.
    pub fn at(&self, cell: Position) -> Option<&Hit> {
        self.0.iter().rev().find(|(place, _)| place.contains(cell)).map(|(_, hit)| hit)
    }
}
