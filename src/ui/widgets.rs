//! Small drawing helpers: they turn values into lines, independent of the model, the keys and each other.
//!
//! Widths are terminal columns ([`unicode_width`]), never bytes or characters.

pub mod area;
pub mod interval;
pub mod text;
pub mod columns;
pub mod diff;
pub mod field;
pub mod histogram;
pub mod trace;
pub mod tree;
