//! Names and values of a machine, written for another reader: a shell, systemd, udev, fstab, a server's
//! file, a comment.
//!
//! Each reader has one function and one file. A command line for a person is a [`Command`], in which only literal text
//! of the source is unquoted. The input is text as facts show it, and the output is the name that it stands for. A name
//! that cannot be displayed is refused, because nobody could see what they paste.

pub mod comment;
pub mod fstab;
pub mod mysql;
pub mod shell;
mod command;
pub mod udev;

pub use command::Command;

use crate::text::{is_treacherous, raw};

/// The name behind a text of the facts; `None` for one that is no text or would change the display of others.
fn named(shown: &str) -> Option<String> {
    String::from_utf8(raw(shown)).ok().filter(|name| !name.contains(is_treacherous))
}
