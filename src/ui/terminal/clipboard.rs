//! The sequence that puts a text on the clipboard: OSC 52, which also works over ssh (xterm, "ctlseqs", Operating
//! System Commands).
//!
//! No terminal confirms it. tmux ignores it from programs unless `set-clipboard` is `on` (its default is `external`),
//! and passes it through to the terminal if `allow-passthrough` is on (tmux(1)). In tmux it is therefore sent both
//! ways, and a tmux that allows neither silently drops both.

use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;

/// The output that copies this text.
pub fn sequence(text: &str, in_tmux: bool) -> String {
    let mut plain = String::new();
    // Writing to a string does not fail.
    let _ = CopyToClipboard::to_clipboard_from(text).write_ansi(&mut plain);
    let through = if in_tmux { passed_through(&plain) } else { String::new() };
    plain + &through
}

/// A sequence for the terminal around tmux: as a device control string, each escape in it doubled.
fn passed_through(sequence: &str) -> String {
    format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_sent_as_base64_and_through_tmux_as_well() {
        let plain = "\x1b]52;c;Zm9vYmFy\x1b\\";
        assert_eq!(sequence("foobar", false), plain);
        let both = format!("{plain}\x1bPtmux;\x1b\x1b]52;c;Zm9vYmFy\x1b\x1b\\\x1b\\");
        assert_eq!(sequence("foobar", true), both);
        // What is copied may hold anything: none of it is ever seen by the terminal as it is.
        let hostile = "\x1b]0;x\x07\u{9c}\x1b\\";
        assert_eq!(sequence(hostile, false).matches('\x1b').count(), 2);
    }
}
