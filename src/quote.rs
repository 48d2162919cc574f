//! Names and values of a machine, written into what somebody else reads: a shell, systemd, udev, fstab, a comment.
//!
//! Each reader has one function and one file, and a line that a person is to run is a [`Command`], of which only what
//! the source says goes unquoted. The surprise: what is given is text as facts show it, and what is written is the name
//! that it stands for; a name that cannot be shown is refused, because nobody could see what they paste.

mod command;
pub mod comment;
pub mod fstab;
pub mod shell;
pub mod systemd;
pub mod udev;

pub use command::Command;

use crate::text::{is_treacherous, raw};

/// The name that a text of the facts stands for; `None` for one that is no text or would change how others are shown.
fn named(shown: &str) -> Option<String> {
    String::from_utf8(raw(shown)).ok().filter(|name| !name.contains(is_treacherous))
}
