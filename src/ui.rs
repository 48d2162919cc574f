//! The screens for continuous use: one loop around a model that is changed by messages and drawn from a report.
//!
//! It reads no machine and measures nothing: the caller's [`Worker`] works on threads and sends messages. While idle
//! the loop blocks on the channel; there is a timer only during an animation.

mod judged;
mod key;
mod focus;
mod screen_id;
mod hits;
mod supposed;
mod job;
mod msg;
mod queue;
mod jobs;
mod svg;
mod terminal;
mod input;
mod theme;
mod widgets;
mod filter;
mod room;
mod side;
mod documents;
mod page;
mod fill;
mod standing;
mod raw;
mod data;
mod what_if;
mod model;
mod export;
mod command;
mod words;
mod overlay;
mod frame;
mod screen;
mod update;
mod pictures;
mod trial;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

pub use job::{Partial, Saved};
pub use jobs::Worker;
pub use msg::Exit;
pub use pictures::{dead_links, pictures, texts};
pub use supposed::{Supposed, Supposition};
pub use trial::{TrialScreen, trial_picture};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use hits::Hits;
use jobs::Jobs;
use model::{Dirty, Model};
use msg::{Msg, SideEffect};
use queue::InputQueue;
use terminal::{Display, Tty};
use theme::Theme;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether colours may be used (`NO_COLOR` says no).
    pub colour: bool,
    /// Whether only ASCII may be drawn, for terminals and locales without UTF-8.
    pub ascii: bool,
    /// Whether the terminal is one of tmux's, for which copying takes another way.
    pub in_tmux: bool,
}

/// The interval between two frames of an animation.
const TICK: Duration = Duration::from_millis(120);
/// The interval between two frames for progress alone, however often it is reported: drawing must not disturb a
/// measurement.
const FRAME: Duration = Duration::from_millis(40);
/// The longest time for which input is taken without drawing.
const BATCH: Duration = Duration::from_millis(100);
/// The interval of checks for the foreground, after being continued in the background.
const AWAY: Duration = Duration::from_secs(1);
/// The longest wait at exit for a cancelled probe to remove its scratch files, or for a file to be saved.
const STOPPING: Duration = Duration::from_secs(2);

/// Shows the screens on the terminal at standard input and output until the user leaves or a signal arrives. The terminal
/// is as it was when this returns, and a probe that was running has been stopped.
pub fn run(worker: Arc<dyn Worker>, options: Options) -> io::Result<Exit> {
    let (out, inbox) = mpsc::channel();
    input::signals(out.clone())?;
    let mut tty = Tty::enter(options.in_tmux)?;
    let input = InputQueue::default();
    input::keys(&out, input.clone())?;
    let mut jobs = Jobs::new(worker, out);
    let theme = Theme { colour: options.colour, ascii: options.ascii };
    let exit = drive(&mut tty, &inbox, &input, &mut jobs, theme);
    drop(tty);
    wind_down(&mut jobs, &inbox);
    exit.or_else(|error| if is_closed(&error) { Ok(Exit::Signal(SIGHUP)) } else { Err(error) })
}

/// The loop: draw what changed, wait, take every message and all input there is.
fn drive(
    display: &mut dyn Display,
    inbox: &Receiver<Msg>,
    input: &InputQueue,
    jobs: &mut Jobs,
    theme: Theme,
) -> io::Result<Exit> {
    let (mut model, effects) = Model::new(theme, display.size());
    let mut drawn = Instant::now();
    // The first picture is drawn before any work.
    draw(display, &mut model)?;
    let mut away = false;
    let mut is_input_left = false;
    for effect in effects {
        perform(effect, &mut model, display, jobs, &mut away)?;
    }
    loop {
        let due = FRAME.saturating_sub(drawn.elapsed());
        if !away && (model.dirty == Dirty::Now || (model.dirty == Dirty::Soon && due.is_zero())) {
            draw(display, &mut model)?;
            drawn = Instant::now();
        }
        let wait = match model.dirty {
            _ if away => Some(AWAY),
            _ if is_input_left => Some(Duration::ZERO),
            Dirty::No => model.animates().then_some(TICK),
            Dirty::Soon | Dirty::Now => Some(due),
        };
        let first = next(inbox, wait)?;
        if away && first.is_none() {
            perform(SideEffect::Resume, &mut model, display, jobs, &mut away)?;
        }
        let begun = Instant::now();
        // Many changes of the size are one.
        let mut renews = false;
        let mut msgs = first.into_iter().chain(inbox.try_iter());
        is_input_left = false;
        while model.exit.is_none() {
            let next = msgs.next().or_else(|| input.next(update::takes_text(&model)));
            let Some(msg) = next else { break };
            match &msg {
                // It is in the queue.
                Msg::Input => continue,
                Msg::Done(job, _) => jobs.ended(*job),
                _ => {}
            }
            for effect in update::update(&mut model, msg) {
                match effect {
                    SideEffect::Renew => {
                        // What is scrolled behind it in this batch is scrolled on the new screen.
                        model.size = display.size();
                        renews = !away;
                    }
                    SideEffect::Resume => {
                        // It draws anew in any case.
                        renews = false;
                        perform(SideEffect::Resume, &mut model, display, jobs, &mut away)?;
                    }
                    effect => perform(effect, &mut model, display, jobs, &mut away)?,
                }
            }
            if !away && begun.elapsed() > BATCH {
                is_input_left = true;
                break;
            }
        }
        if let Some(exit) = model.exit {
            return Ok(exit);
        }
        if renews {
            perform(SideEffect::Renew, &mut model, display, jobs, &mut away)?;
        }
    }
}

/// The next message; a tick when the time is over.
fn next(inbox: &Receiver<Msg>, wait: Option<Duration>) -> io::Result<Option<Msg>> {
    let gone = |_| io::Error::other("nobody sends messages any more");
    match wait {
        None => inbox.recv().map(Some).map_err(gone),
        Some(wait) => match inbox.recv_timeout(wait) {
            Ok(msg) => Ok(Some(msg)),
            Err(RecvTimeoutError::Timeout) => Ok((wait == TICK).then_some(Msg::Tick)),
            Err(RecvTimeoutError::Disconnected) => Err(gone(mpsc::RecvError)),
        },
    }
}

fn draw(display: &mut dyn Display, model: &mut Model) -> io::Result<()> {
    let mut hits = Hits::default();
    // The next key is looked up on the page that is drawn.
    model.keep(model.view().page);
    display.draw(&mut |buffer| hits = frame::draw(model, buffer))?;
    model.hits = hits;
    model.dirty = Dirty::No;
    Ok(())
}

fn perform(
    effect: SideEffect,
    model: &mut Model,
    display: &mut dyn Display,
    jobs: &mut Jobs,
    away: &mut bool,
) -> io::Result<()> {
    match effect {
        SideEffect::Start(id, job) => jobs.start(id, job),
        SideEffect::Cancel(id) => jobs.cancel(id),
        SideEffect::Copy(text) => display.copy(&text)?,
        SideEffect::Mouse(ours) => display.mouse(ours)?,
        // Nothing is written while a shell has the terminal; resuming queries the size anyway.
        SideEffect::Renew if *away => {}
        SideEffect::Renew => {
            model.size = display.size();
            model.forget_page();
            display.renew(model.size)?;
            model.dirty = Dirty::Now;
        }
        // The signal that continues us arrives as a message.
        SideEffect::Suspend if display.suspend()? => *away = true,
        SideEffect::Suspend => model.notice = Some("there is no shell to return to".to_owned()),
        SideEffect::Resume => {
            *away = !display.resume()?;
            model.size = display.size();
            model.forget_page();
            model.dirty = Dirty::Now;
        }
    }
    Ok(())
}

/// Stops all jobs, and waits for a probe to remove its scratch files and for a file to be complete; a second request to
/// exit skips the wait. SIGHUP is no such request, since it also arrives after we noticed the closed terminal.
fn wind_down(jobs: &mut Jobs, inbox: &Receiver<Msg>) {
    jobs.cancel_all();
    let begun = Instant::now();
    while jobs.has_to_tidy() {
        match inbox.recv_timeout(STOPPING.saturating_sub(begun.elapsed())) {
            Ok(Msg::Done(job, _)) => jobs.ended(job),
            Ok(Msg::Signal(SIGTERM | SIGINT)) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// Whether an error of drawing only means that the terminal was closed.
fn is_closed(error: &io::Error) -> bool {
    const GONE: [i32; 3] =
        [nix::errno::Errno::EIO as i32, nix::errno::Errno::ENXIO as i32, nix::errno::Errno::EPIPE as i32];
    error.raw_os_error().is_some_and(|number| GONE.contains(&number))
}
