//! Small drawing helpers: they turn values into lines, independent of the model, the keys and each other.
//!
//! Widths are terminal columns ([`unicode_width`]), never bytes or characters.

pub mod area;
pub mod text;
pub mod axis;
pub mod interval;
pub mod ecdf;
pub mod columns;
pub mod diff;
pub mod field;
pub mod histogram;
pub mod flush_path;
pub mod trace;
pub mod tree;
