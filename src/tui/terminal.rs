//! Takes over the terminal, returns it to a shell when suspended, and restores it at the end. Only
//! this module and its submodules contain escape sequences.
//!
//! Nothing queries the terminal, because some terminals do not answer. The crate ratatui draws only
//! in memory: its own backend queries the cursor position, and writes colours that some terminals
//! lack.

mod clipboard {
    //! Copies text to the clipboard with OSC 52, which also works over ssh (xterm, "ctlseqs",
    //! Operating System Commands).
    //!
    //! No terminal confirms a copy. tmux ignores OSC 52 from programs unless `set-clipboard` is
    //! `on` (default: `external`), and passes sequences through if `allow-passthrough` is on
    //! (tmux(1)). Inside tmux the text is therefore sent in both forms; a tmux that allows neither
    //! drops both silently.

    use crossterm::Command as _;
    use crossterm::clipboard::CopyToClipboard;

    pub fn clipboard_copy_sequence(text: &str, in_tmux: bool) -> String {
        let mut plain = String::new();
        // Writing to a string cannot fail.
        let _ = CopyToClipboard::to_clipboard_from(text).write_ansi(&mut plain);
        let through = if in_tmux {
            tmux_passthrough(&plain)
        } else {
            String::new()
        };
        plain + &through
    }

    /// Wraps a sequence for the terminal outside tmux: a device control string in which each escape
    /// is doubled.
    fn tmux_passthrough(sequence: &str) -> String {
        format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn clipboard_sequence_is_base64_and_wrapped_for_tmux() {
            let plain = "\x1b]52;c;Zm9vYmFy\x1b\\";
            assert_eq!(clipboard_copy_sequence("foobar", false), plain);
            let both = format!("{plain}\x1bPtmux;\x1b\x1b]52;c;Zm9vYmFy\x1b\x1b\\\x1b\\");
            assert_eq!(clipboard_copy_sequence("foobar", true), both);
            // Copied text may contain hostile sequences, so the terminal must only see base64.
            let hostile = "\x1b]0;x\x07\u{9c}\x1b\\";
            assert_eq!(
                clipboard_copy_sequence(hostile, false)
                    .matches('\x1b')
                    .count(),
                2
            );
        }
    }
}
mod decoder;
mod paint;

use std::io::{self, BufWriter, Stdout, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::style::Print;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use nix::sys::signal::{Signal, raise};
use nix::unistd::{Pid, getpgrp, getpid, getsid, tcgetpgrp};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};

pub use decoder::Decoder;

const DEFAULT_SIZE: Size = Size {
    width: 80,
    height: 24,
};

/// Largest picture: an 8K display with cells of 8 × 15 pixels. A terminal may report any size;
/// cells beyond this limit stay blank.
const MAX_SIZE: Size = Size {
    width: 1_000,
    height: 300,
};

static SCREEN_TAKEN: AtomicBool = AtomicBool::new(false);
/// If false, the terminal itself handles the mouse.
static MOUSE_CAPTURED: AtomicBool = AtomicBool::new(true);

/// Requests reports of buttons and the wheel, with coordinates of any size. Movements are not
/// requested: nothing uses them, and each would wake the main loop.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";
/// Brackets pasted text, so that walwise does not mistake the text for keys (xterm, "ctlseqs",
/// Bracketed Paste Mode).
const PASTE_ON: &str = "\x1b[?2004h";
const PASTE_OFF: &str = "\x1b[?2004l";
/// A terminal shows everything between [`PICTURE_BEGINS`] and [`PICTURE_ENDS`] at once
/// ("Synchronized Output", private mode 2026). Terminals without that mode ignore both.
const PICTURE_BEGINS: &str = "\x1b[?2026h";
const PICTURE_ENDS: &str = "\x1b[?2026l";

pub trait TerminalDisplay {
    fn size(&self) -> Size;
    fn draw(&mut self, picture: &mut dyn FnMut(&mut Buffer)) -> io::Result<()>;
    /// Clears the screen after a resize, or after another program wrote to the terminal. The next
    /// draw writes every cell.
    fn clear_for_redraw(&mut self, size: Size) -> io::Result<()>;
    fn copy_to_clipboard(&mut self, text: &str) -> io::Result<()>;
    /// Captures the mouse, or leaves it to the terminal, where the user can then select text.
    fn set_mouse_capture(&mut self, ours: bool) -> io::Result<()>;
    /// Restores the terminal and stops this process. Returns false and does nothing if no shell
    /// could continue the process.
    fn suspend(&mut self) -> io::Result<bool>;
    /// Takes over the terminal again after SIGCONT. Returns false while the process is in the
    /// background.
    fn resume(&mut self) -> io::Result<bool>;
}

pub struct Tty {
    out: BufWriter<Stdout>,
    picture: Buffer,
    in_tmux: bool,
}

impl Tty {
    /// Takes over the terminal until the value is dropped. A panic of this thread also restores the
    /// terminal.
    pub fn enter(in_tmux: bool) -> io::Result<Self> {
        install_panic_hook();
        take_over_terminal()?;
        let out = BufWriter::with_capacity(1 << 16, io::stdout());
        let mut tty = Self {
            out,
            picture: Buffer::default(),
            in_tmux,
        };
        tty.clear_for_redraw(terminal_size())
            .inspect_err(|_| restore_terminal())?;
        Ok(tty)
    }

    pub fn clear_if_resized(&mut self) -> io::Result<()> {
        let now = terminal_size();
        if self.picture.area.as_size() == now {
            Ok(())
        } else {
            self.clear_for_redraw(now)
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        restore_terminal();
    }
}

impl TerminalDisplay for Tty {
    fn size(&self) -> Size {
        terminal_size()
    }

    fn draw(&mut self, picture: &mut dyn FnMut(&mut Buffer)) -> io::Result<()> {
        let mut next = Buffer::empty(self.picture.area);
        picture(&mut next);
        if next != self.picture {
            self.out.write_all(PICTURE_BEGINS.as_bytes())?;
            paint::write_changes(&mut self.out, &self.picture, &next)?;
            self.out.write_all(PICTURE_ENDS.as_bytes())?;
        }
        self.picture = next;
        self.out.flush()
    }

    fn clear_for_redraw(&mut self, size: Size) -> io::Result<()> {
        self.picture = Buffer::empty(Rect::from((Position::ORIGIN, size)));
        self.out.write_all(paint::CLEAR.as_bytes())?;
        self.out.flush()
    }

    fn copy_to_clipboard(&mut self, text: &str) -> io::Result<()> {
        execute!(
            self.out,
            Print(clipboard::clipboard_copy_sequence(text, self.in_tmux))
        )
    }

    fn set_mouse_capture(&mut self, ours: bool) -> io::Result<()> {
        MOUSE_CAPTURED.store(ours, Ordering::SeqCst);
        // While a shell has the terminal, the shell's own mouse mode must stay.
        if !SCREEN_TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        execute!(self.out, Print(if ours { MOUSE_ON } else { MOUSE_OFF }))
    }

    fn suspend(&mut self) -> io::Result<bool> {
        // A session leader has no parent shell that could continue the stopped process.
        if getsid(None).ok() == Some(getpid()) {
            return Ok(false);
        }
        restore_terminal();
        raise(Signal::SIGSTOP)?;
        Ok(true)
    }

    fn resume(&mut self) -> io::Result<bool> {
        if !is_in_foreground() {
            return Ok(false);
        }
        // A shell may have changed the modes, so they are set again even if walwise never restored
        // them.
        restore_terminal();
        take_over_terminal()?;
        self.clear_for_redraw(terminal_size())?;
        Ok(true)
    }
}

pub fn is_in_foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group: Pid| group == getpgrp())
}

fn take_over_terminal() -> io::Result<()> {
    SCREEN_TAKEN.store(true, Ordering::SeqCst);
    let mouse = if MOUSE_CAPTURED.load(Ordering::SeqCst) {
        MOUSE_ON
    } else {
        ""
    };
    let taken = enable_raw_mode().and_then(|()| {
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            Hide,
            Print(PASTE_ON),
            Print(mouse)
        )
    });
    taken.inspect_err(|_| restore_terminal())
}

/// Restores the terminal's own screen and modes; a second call has no effect. Errors are ignored,
/// because the terminal may be gone.
pub fn restore_terminal() {
    if SCREEN_TAKEN.swap(false, Ordering::SeqCst) {
        let back = [PICTURE_ENDS, MOUSE_OFF, PASTE_OFF].concat();
        let _ = execute!(io::stdout(), Print(back), Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

/// Restores the modes of the terminal without writing to it, because it may accept no output.
pub fn restore_cooked_mode() {
    let _ = disable_raw_mode();
}

/// Reads the size by ioctl alone: crossterm would run a program if the kernel reports none.
fn terminal_size() -> Size {
    rustix::termios::tcgetwinsize(io::stdout()).map_or(DEFAULT_SIZE, |size| {
        clamp_terminal_size(size.ws_col, size.ws_row)
    })
}

/// Limits the reported size, and replaces 0 columns or rows, which a terminal reports if the size
/// is unknown.
fn clamp_terminal_size(columns: u16, rows: u16) -> Size {
    if columns == 0 || rows == 0 {
        return DEFAULT_SIZE;
    }
    Size::new(columns.min(MAX_SIZE.width), rows.min(MAX_SIZE.height))
}

/// Installs a hook by which a panic of the main thread restores the terminal before the panic is
/// reported. A panic of another thread becomes a message while the screens continue, so the hook
/// then leaves the terminal alone.
fn install_panic_hook() {
    static ONCE: Once = Once::new();
    let ours = thread::current().id();
    ONCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == ours {
                restore_terminal();
            }
            if !SCREEN_TAKEN.load(Ordering::SeqCst) {
                report(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_size_is_clamped() {
        for (columns, rows, width, height) in [
            (0, 0, 80, 24),
            (0, 65_535, 80, 24),
            (1, 1, 1, 1),
            (500, 200, 500, 200),
            (65_535, 1, 1_000, 1),
            (1, 65_535, 1, 300),
            (65_535, 65_535, 1_000, 300),
        ] {
            assert_eq!(
                clamp_terminal_size(columns, rows),
                Size::new(width, height),
                "{columns}×{rows}"
            );
        }
    }
}
