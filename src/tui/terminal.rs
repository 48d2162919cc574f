//! The terminal: taken over, suspended for a shell, restored. The only module that knows escape
//! sequences.
//!
//! The terminal is never queried, because some do not answer. ratatui draws only in memory: its own
//! backend queries the cursor position when it clears the screen, and writes colours that some
//! terminals lack.

mod clipboard {
    //! Copies text to the clipboard with OSC 52, which also works over ssh (xterm, "ctlseqs",
    //! Operating System Commands).
    //!
    //! No terminal confirms it. tmux ignores it from programs unless `set-clipboard` is `on`
    //! (default: `external`), and passes it through if `allow-passthrough` is on (tmux(1)). In tmux
    //! it is therefore sent both ways; a tmux that allows neither drops both silently.

    use crossterm::Command as _;
    use crossterm::clipboard::CopyToClipboard;

    /// The escape sequence that copies this text.
    pub fn sequence(text: &str, in_tmux: bool) -> String {
        let mut plain = String::new();
        // Writing to a string does not fail.
        let _ = CopyToClipboard::to_clipboard_from(text).write_ansi(&mut plain);
        let through = if in_tmux {
            tmux_passthrough(&plain)
        } else {
            String::new()
        };
        plain + &through
    }

    /// Wraps a sequence for the terminal around tmux: a device control string with each escape
    /// doubled.
    fn tmux_passthrough(sequence: &str) -> String {
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
            // Copied text may be hostile: the terminal must never see it unencoded.
            let hostile = "\x1b]0;x\x07\u{9c}\x1b\\";
            assert_eq!(sequence(hostile, false).matches('\x1b').count(), 2);
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

/// Assumed if the terminal has no size.
const DEFAULT_SIZE: Size = Size {
    width: 80,
    height: 24,
};

/// The largest picture: an 8K display with 8 × 15 pixel cells, 35 MB twice. A terminal may claim
/// any size; beyond this it stays blank.
const MAX_SIZE: Size = Size {
    width: 1_000,
    height: 300,
};

static SCREEN_TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether we handle the mouse while we have the screen.
static MOUSE_CAPTURED: AtomicBool = AtomicBool::new(true);

/// Reports buttons and wheel, with coordinates of any size. Movements are not reported: nothing
/// uses them, and each would wake us.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";
/// Brackets pasted text, so that it is not mistaken for keys (xterm, "ctlseqs", Bracketed Paste
/// Mode).
const PASTE_ON: &str = "\x1b[?2004h";
const PASTE_OFF: &str = "\x1b[?2004l";
/// A picture between these two appears at once ("Synchronized Output", private mode 2026);
/// terminals without it ignore them.
const PICTURE_BEGINS: &str = "\x1b[?2026h";
const PICTURE_ENDS: &str = "\x1b[?2026l";

pub trait Display {
    fn size(&self) -> Size;
    fn draw(&mut self, picture: &mut dyn FnMut(&mut Buffer)) -> io::Result<()>;
    /// Clears the screen and redraws at this size, after a resize or foreign output.
    fn redraw(&mut self, size: Size) -> io::Result<()>;
    /// Copies a text to the clipboard, if the terminal allows it.
    fn copy(&mut self, text: &str) -> io::Result<()>;
    /// Captures the mouse, or leaves it to the terminal, whose own selection then works.
    fn mouse(&mut self, ours: bool) -> io::Result<()>;
    /// Restores the terminal and stops this process until it is continued. False, without any
    /// effect, if there is no shell to continue it.
    fn suspend(&mut self) -> io::Result<bool>;
    /// After being continued: takes over the terminal again. False while we are in the background.
    fn resume(&mut self) -> io::Result<bool>;
}

/// The terminal on standard input and output.
pub struct Tty {
    out: BufWriter<Stdout>,
    picture: Buffer,
    in_tmux: bool,
}

impl Tty {
    /// Takes over the terminal. It is restored however this process ends, except by a signal that
    /// cannot be caught.
    pub fn enter(in_tmux: bool) -> io::Result<Self> {
        install_panic_hook();
        enter_screen()?;
        let out = BufWriter::with_capacity(1 << 16, io::stdout());
        let mut tty = Self {
            out,
            picture: Buffer::default(),
            in_tmux,
        };
        tty.redraw(size()).inspect_err(|_| restore())?;
        Ok(tty)
    }

    /// Redraws if the terminal has been resized.
    pub fn resize(&mut self) -> io::Result<()> {
        let now = size();
        if self.picture.area.as_size() == now {
            Ok(())
        } else {
            self.redraw(now)
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        restore();
    }
}

impl Display for Tty {
    fn size(&self) -> Size {
        size()
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

    fn redraw(&mut self, size: Size) -> io::Result<()> {
        self.picture = Buffer::empty(Rect::from((Position::ORIGIN, size)));
        self.out.write_all(paint::CLEAR.as_bytes())?;
        self.out.flush()
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.out, Print(clipboard::sequence(text, self.in_tmux)))
    }

    fn mouse(&mut self, ours: bool) -> io::Result<()> {
        MOUSE_CAPTURED.store(ours, Ordering::SeqCst);
        // A shell that has the terminal meanwhile keeps its mouse.
        if !SCREEN_TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        execute!(self.out, Print(if ours { MOUSE_ON } else { MOUSE_OFF }))
    }

    fn suspend(&mut self) -> io::Result<bool> {
        // The leader of a session has no shell above it: once stopped, nothing would continue it.
        if getsid(None).ok() == Some(getpid()) {
            return Ok(false);
        }
        restore();
        raise(Signal::SIGSTOP)?;
        Ok(true)
    }

    fn resume(&mut self) -> io::Result<bool> {
        if !in_foreground() {
            return Ok(false);
        }
        // A shell may have set its own modes meanwhile, so ours are set again even if they were
        // never restored.
        restore();
        enter_screen()?;
        self.redraw(size())?;
        Ok(true)
    }
}

/// Whether our process group is in the foreground.
pub fn in_foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group: Pid| group == getpgrp())
}

fn enter_screen() -> io::Result<()> {
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
    taken.inspect_err(|_| restore())
}

/// Restores the terminal, once. Errors are ignored: the terminal may be gone.
pub fn restore() {
    if SCREEN_TAKEN.swap(false, Ordering::SeqCst) {
        let back = [PICTURE_ENDS, MOUSE_OFF, PASTE_OFF].concat();
        let _ = execute!(io::stdout(), Print(back), Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

/// Restores only the terminal modes, for a terminal that accepts no output.
pub fn restore_modes() {
    let _ = disable_raw_mode();
}

/// The size by ioctl alone: crossterm runs a program if the kernel does not know it.
fn size() -> Size {
    rustix::termios::tcgetwinsize(io::stdout())
        .map_or(DEFAULT_SIZE, |size| picture_size(size.ws_col, size.ws_row))
}

/// The size of the picture; columns and rows are 0 if unknown.
fn picture_size(columns: u16, rows: u16) -> Size {
    if columns == 0 || rows == 0 {
        return DEFAULT_SIZE;
    }
    Size::new(columns.min(MAX_SIZE.width), rows.min(MAX_SIZE.height))
}

/// A panic of this thread restores the terminal before it is reported. A panic of another thread
/// becomes a message to the screens, which continue, so it must not touch the terminal.
fn install_panic_hook() {
    static ONCE: Once = Once::new();
    let ours = thread::current().id();
    ONCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == ours {
                restore();
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
    fn the_picture_of_any_terminal_is_bounded() {
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
                picture_size(columns, rows),
                Size::new(width, height),
                "{columns}×{rows}"
            );
        }
    }
}
