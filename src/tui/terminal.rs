//! The terminal: taken over, given back, left for a shell and returned to. The only module that
//! knows escape sequences.
//!
//! The terminal is never queried, because some do not answer. ratatui draws in memory only. Its own
//! output would query the cursor position when it clears the screen, and writes colours that not
//! every terminal knows.

mod clipboard {
    //! The sequence that puts a text on the clipboard: OSC 52, which also works over ssh (xterm,
    //! "ctlseqs", Operating System Commands).
    //!
    //! No terminal confirms it. tmux ignores it from programs unless `set-clipboard` is `on` (its
    //! default is `external`), and passes it through to the terminal if `allow-passthrough` is on
    //! (tmux(1)). In tmux it is therefore sent both ways, and a tmux that allows neither silently
    //! drops both.

    use crossterm::Command as _;
    use crossterm::clipboard::CopyToClipboard;

    /// The output that copies this text.
    pub fn sequence(text: &str, in_tmux: bool) -> String {
        let mut plain = String::new();
        // Writing to a string does not fail.
        let _ = CopyToClipboard::to_clipboard_from(text).write_ansi(&mut plain);
        let through = if in_tmux {
            passed_through(&plain)
        } else {
            String::new()
        };
        plain + &through
    }

    /// A sequence for the terminal around tmux: as a device control string, each escape in it
    /// doubled.
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

/// The assumed size of a terminal that was opened without one.
const USUAL: Size = Size {
    width: 80,
    height: 24,
};

/// The largest picture: what an 8K display shows in cells of 8 × 15 pixels takes 35 MB twice. A
/// larger terminal, whose size anybody on its other side may claim, stays blank beyond.
const LARGEST: Size = Size {
    width: 1_000,
    height: 300,
};

/// Whether the screen is ours now.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether the mouse is ours whenever the screen is.
static MOUSE: AtomicBool = AtomicBool::new(true);

/// Reports of buttons and the wheel, with coordinates of any size. Movements are not reported:
/// nothing uses them, and each would wake us.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";
/// Pasted text is marked, so that it is not taken for keys (xterm, "ctlseqs", Bracketed Paste
/// Mode).
const PASTE_ON: &str = "\x1b[?2004h";
const PASTE_OFF: &str = "\x1b[?2004l";
/// A picture between these two is shown when it is complete ("Synchronized Output", private mode
/// 2026); terminals that do not know them ignore them.
const PICTURE_BEGINS: &str = "\x1b[?2026h";
const PICTURE_ENDS: &str = "\x1b[?2026l";

pub trait Display {
    fn size(&self) -> Size;
    fn draw(&mut self, picture: &mut dyn FnMut(&mut Buffer)) -> io::Result<()>;
    /// Forgets the drawn picture, for a screen of this size on which another program may have
    /// written.
    fn renew(&mut self, size: Size) -> io::Result<()>;
    /// Puts a text on the clipboard, where the terminal allows it.
    fn copy(&mut self, text: &str) -> io::Result<()>;
    /// Takes the mouse, or leaves it to the terminal, whose own selection works then.
    fn mouse(&mut self, ours: bool) -> io::Result<()>;
    /// Gives the terminal back and stops this process until it is continued. False, without any
    /// effect, when there is no shell that could continue it.
    fn suspend(&mut self) -> io::Result<bool>;
    /// After being continued: takes the terminal again if it is ours to take. False while we are in
    /// the background.
    fn resume(&mut self) -> io::Result<bool>;
}

/// The terminal on standard input and output.
pub struct Tty {
    out: BufWriter<Stdout>,
    /// The picture on the screen.
    shown: Buffer,
    in_tmux: bool,
}

impl Tty {
    /// Takes the terminal over; `in_tmux` is whether it is one of tmux's. From here on it is
    /// restored however this process ends, except by a signal that cannot be caught.
    pub fn enter(in_tmux: bool) -> io::Result<Self> {
        restore_when_this_thread_panics();
        take()?;
        let out = BufWriter::with_capacity(1 << 16, io::stdout());
        let mut tty = Self {
            out,
            shown: Buffer::default(),
            in_tmux,
        };
        tty.renew(size()).inspect_err(|_| leave())?;
        Ok(tty)
    }

    /// Begins anew where the terminal has another size than the picture on it.
    pub fn fit(&mut self) -> io::Result<()> {
        let now = size();
        if self.shown.area.as_size() == now {
            Ok(())
        } else {
            self.renew(now)
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        leave();
    }
}

impl Display for Tty {
    fn size(&self) -> Size {
        size()
    }

    fn draw(&mut self, picture: &mut dyn FnMut(&mut Buffer)) -> io::Result<()> {
        let mut next = Buffer::empty(self.shown.area);
        picture(&mut next);
        if next != self.shown {
            self.out.write_all(PICTURE_BEGINS.as_bytes())?;
            paint::changes(&mut self.out, &self.shown, &next)?;
            self.out.write_all(PICTURE_ENDS.as_bytes())?;
        }
        self.shown = next;
        self.out.flush()
    }

    fn renew(&mut self, size: Size) -> io::Result<()> {
        self.shown = Buffer::empty(Rect::from((Position::ORIGIN, size)));
        self.out.write_all(paint::CLEAR.as_bytes())?;
        self.out.flush()
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(self.out, Print(clipboard::sequence(text, self.in_tmux)))
    }

    fn mouse(&mut self, ours: bool) -> io::Result<()> {
        MOUSE.store(ours, Ordering::SeqCst);
        // A shell that has the terminal meanwhile keeps its mouse.
        if !TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        execute!(self.out, Print(if ours { MOUSE_ON } else { MOUSE_OFF }))
    }

    fn suspend(&mut self) -> io::Result<bool> {
        // The first process of a session has no shell above it: once stopped, nothing would ever
        // continue it.
        if getsid(None).ok() == Some(getpid()) {
            return Ok(false);
        }
        leave();
        raise(Signal::SIGSTOP)?;
        Ok(true)
    }

    fn resume(&mut self) -> io::Result<bool> {
        if !in_foreground() {
            return Ok(false);
        }
        // A shell may have set its own modes meanwhile, so they are taken again even if they were
        // never given back.
        leave();
        take()?;
        self.renew(size())?;
        Ok(true)
    }
}

/// Whether the terminal listens to our process group.
pub fn in_foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group: Pid| group == getpgrp())
}

fn take() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    let mouse = if MOUSE.load(Ordering::SeqCst) {
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
    taken.inspect_err(|_| leave())
}

/// Restores the terminal; does nothing where that is done already. A terminal that is gone is no
/// error.
pub fn leave() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let back = [PICTURE_ENDS, MOUSE_OFF, PASTE_OFF].concat();
        let _ = execute!(io::stdout(), Print(back), Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

/// Restores the modes alone, for a terminal that accepts no more output.
pub fn leave_without_output() {
    let _ = disable_raw_mode();
}

/// The size by ioctl alone: crossterm's own query runs a program when the kernel does not know.
fn size() -> Size {
    rustix::termios::tcgetwinsize(io::stdout())
        .map_or(USUAL, |size| drawn(size.ws_col, size.ws_row))
}

/// The size of the picture for a terminal of so many columns and rows, which are 0 where nobody
/// knows.
fn drawn(columns: u16, rows: u16) -> Size {
    if columns == 0 || rows == 0 {
        return USUAL;
    }
    Size::new(columns.min(LARGEST.width), rows.min(LARGEST.height))
}

/// A panic of this thread restores the terminal before it is reported. A panic of another thread
/// becomes a message to the user interface, which continues, so it must not touch the screen.
fn restore_when_this_thread_panics() {
    static ONCE: Once = Once::new();
    let ours = thread::current().id();
    ONCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == ours {
                leave();
            }
            if !TAKEN.load(Ordering::SeqCst) {
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
                drawn(columns, rows),
                Size::new(width, height),
                "{columns}×{rows}"
            );
        }
    }
}
