//! The screens for continuous use: one loop around a model that is changed by messages and drawn
//! from a report.
//!
//! It reads no machine and measures nothing: the caller's [`Worker`] works on threads and sends
//! messages. While idle the loop blocks on the channel; there is a timer only during an animation.

mod focus;
mod judged;
mod key;
mod screen_id;
mod hits {
    //! The clickable places on the screen. Code that draws a clickable element records it here, so
    //! that a click refers to the visible picture, without a second layout.
    //!
    //! Most entries are keys, because the mouse does only what keys do.

    use ratatui::layout::{Position, Rect};

    use super::key::KeyPress;
    use super::screen_id::ScreenId;

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Hit {
        /// Does what this key does.
        Press(KeyPress),
        /// The first line of this block of the page: selects it, and enters it when it is selected
        /// already.
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
            self.add(
                place,
                Hit::Press(KeyPress::named(keys.split(' ').next().unwrap_or_default())),
            );
        }

        /// Forgets all there was, for a picture with something over it.
        pub fn clear(&mut self) {
            self.0.clear();
        }

        /// The element on this cell.
        pub fn at(&self, cell: Position) -> Option<&Hit> {
            self.0
                .iter()
                .rev()
                .find(|(place, _)| place.contains(cell))
                .map(|(_, hit)| hit)
        }
    }
}
mod supposed {
    //! What is supposed, and the machine that would be: values only. How they are chosen is in
    //! [`super::what_if`].

    use crate::facts::Subject;
    use crate::report::{Report, WhatIf};

    /// A fact with an assumed value.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Supposition {
        pub subject: Subject,
        pub fact: &'static str,
        /// Its assumed value, as typed.
        pub value: String,
    }

    impl Supposition {
        /// Whether it is about this fact of this subject.
        pub fn is_of(&self, subject: &Subject, fact: &str) -> bool {
            self.subject == *subject && self.fact == fact
        }
    }

    /// A machine that is supposed, beside the real one. Nothing of it enters plans, exports or the
    /// exit code.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Supposed {
        pub suppositions: Vec<Supposition>,
        pub what_if: WhatIf,
        /// Its report, for the reasons of what would be found.
        pub report: Report,
    }
}
mod input;
mod job;
mod jobs;
mod msg;
mod queue;
mod svg;
mod terminal;
mod theme;
mod widgets;
mod filter {
    //! The text typed to search a screen. The screens query it; it knows none of them.
    //!
    //! Every word must occur, in any order and any case, as in help.

    use super::widgets::field::Field;

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Filter {
        pub text: Field,
        /// Whether keys still go to it.
        pub typing: bool,
    }

    impl Filter {
        /// Whether something that is said so is shown.
        pub fn passes(&self, said: &str) -> bool {
            let said = said.to_lowercase();
            self.text
                .text()
                .split_whitespace()
                .all(|word| said.contains(&word.to_lowercase()))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn every_word_must_be_there() {
            let passes = |text: &str| {
                Filter {
                    text: Field::new(text),
                    typing: true,
                }
                .passes("sda device.Cache")
            };
            for (text, expected) in [
                ("", true),
                ("CACHE sd", true),
                ("cache sdb", false),
                (" ", true),
            ] {
                assert_eq!(passes(text), expected, "{text}");
            }
        }
    }
}
mod room;
mod side {
    //! The column at the left of a wide page: the other targets, and what is known of the host.
    //! Keys do not go there; a click on a target chooses it.

    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::text::{Line, Span};
    use ratatui::widgets::Widget;

    use super::hits::{Hit, Hits};
    use super::theme::{TextRole, Theme};
    use super::widgets::area;

    #[derive(Clone, Debug)]
    pub struct SideRow {
        pub line: Line<'static>,
        /// The place of the target that it is about, from the worst on.
        pub target: Option<usize>,
    }

    #[derive(Clone, Debug)]
    pub struct Side {
        /// Its rows; what has no room is not drawn.
        pub rows: Vec<SideRow>,
        /// Its columns, with the line at its right.
        pub width: u16,
    }

    impl Side {
        /// Draws it and returns what is left for the page.
        pub fn draw(&self, theme: Theme, area: Rect, hits: &mut Hits, buffer: &mut Buffer) -> Rect {
            let (left, rest) = area::left(area, self.width);
            let (edge, inner) = area::right(left, 1);
            for row in edge.rows() {
                Span::styled("│", theme.style(TextRole::Dim)).render(row, buffer);
            }
            for (row, place) in self.rows.iter().zip(inner.rows()) {
                (&row.line).render(place, buffer);
                if let Some(target) = row.target {
                    hits.add(place, Hit::Target(target));
                }
            }
            rest
        }
    }
}
mod documents;
mod fill;
mod page;
mod standing {
    //! A target in a row, wherever targets are listed: mark and word of its standing, name, file
    //! system, price of a commit.

    use super::theme::{TextRole, Theme};
    use super::widgets::columns::{Column, StyledText};
    use super::widgets::text::fit_middle;
    use crate::durability::{Fate, FlushHop};
    use crate::report::telling::short::file_system;
    use crate::report::telling::{Tone, price, sign};
    use crate::report::{Report, TargetSummary};

    pub const SHAPE: [Column; 5] = [
        Column::keep(1),
        Column::keep(15),
        Column::keep(12),
        Column::drop(2),
        Column::drop(1),
    ];

    /// The mark of what is chosen.
    pub fn mark(theme: Theme, is_chosen: bool) -> StyledText {
        (
            if is_chosen { "▸" } else { " " }.to_owned(),
            theme.style(TextRole::Accent),
        )
    }

    /// What a list says of a target, its name in at most so many columns: its standing, its file
    /// system where there is one, and what a durable commit costs, a dash where that was not
    /// measured.
    pub fn cells(
        report: &Report,
        target: &TargetSummary,
        is_chosen: bool,
        most: usize,
        theme: Theme,
    ) -> Vec<StyledText> {
        let verdict = report.verdict(&target.target);
        let dim = theme.style(TextRole::Dim);
        let (sign, standing, style) = match verdict.map(|verdict| verdict.standing) {
            Some(standing) => {
                let is_answered = |hop: &FlushHop| matches!(hop.fate, Fate::Answered);
                let answers = verdict.is_some_and(|of| of.flush_path.iter().any(is_answered));
                let sign = match Tone::from(standing) {
                    Tone::Good if answers => "◆",
                    Tone::Good | Tone::Dim | Tone::Doubt | Tone::Bad => sign(standing),
                };
                (sign, standing.word(), theme.standing(standing))
            }
            None => (
                "·",
                target.content.as_ref().map_or("no verdict", |_| "disk"),
                dim,
            ),
        };
        let price = price::median(report, target).unwrap_or_else(|| "–".to_owned());
        let name = theme.style(if is_chosen {
            TextRole::Heading
        } else {
            TextRole::Plain
        });
        vec![
            mark(theme, is_chosen),
            (format!("{sign} {standing}"), style),
            (fit_middle(&target.title, most), name),
            (file_system(report, target), dim),
            (format!("{price:>8}"), dim),
        ]
    }
}
mod raw {
    //! The machine's raw answer behind a fact, line by line: fetched when the fact is unfolded.
    //!
    //! The worker has the answers; this module caches those that were viewed, until a newer report
    //! arrives. An answer is not always the whole file: of configuration files and command lines
    //! only known keys are kept.

    use std::collections::BTreeMap;

    use super::job::{Job, JobResult};
    use super::page::Block;
    use crate::facts::{Reading, Source, catalog};
    use crate::report::Report;

    /// The answers that were looked at.
    #[derive(Clone, Debug, Default)]
    pub struct Raw(BTreeMap<(String, String), Vec<String>>);

    impl Raw {
        /// The lines that a value was read from, as far as they are known; `source` is what
        /// displays as that.
        pub fn lines(&self, source: &str, value: &str) -> &[String] {
            self.0
                .get(&(source.to_owned(), value.to_owned()))
                .map_or(&[], Vec::as_slice)
        }

        /// The job that fetches what the fact of this block was read from, if it has one and that
        /// is not known yet.
        pub fn wanted(&self, report: Option<&Report>, block: &Block) -> Option<Job> {
            let (source, value) = origin(report?, block)?;
            let is_known = self.0.contains_key(&(source.to_string(), value.clone()));
            (!is_known).then_some(Job::Raw(source, value))
        }

        /// Takes what a job came to, if it is this.
        pub fn done(&mut self, result: JobResult) -> Option<JobResult> {
            match result {
                JobResult::Raw(source, value, lines) => {
                    self.0.insert((source.to_string(), value), lines);
                    None
                }
                other => Some(other),
            }
        }
    }

    /// Where the fact of a block was read, and its value.
    fn origin(report: &Report, block: &Block) -> Option<(Source, String)> {
        let (subject, fact) = block.fact.as_ref()?;
        let Reading::Known { value, source } = report.facts.named(subject, fact) else {
            return None;
        };
        let is_answer = matches!(source, Source::File { .. } | Source::Command { .. });
        is_answer.then(|| (source.clone(), catalog::show(fact, value)))
    }
}
mod command;
mod data;
mod export;
mod model;
mod what_if;
mod words {
    //! Words for the rows of a screen, where the report's own sentences are too long. Everything
    //! else is said in the words of the text report ([`crate::report::telling::words`]).

    use crate::facts::Subject;
    use crate::tui::widgets::text::fit_end;

    /// The most columns that a subject takes in a row.
    const SUBJECT: usize = 24;

    /// A subject without its kind; of a long path the end.
    pub fn subject(subject: &Subject) -> String {
        if subject.name().is_empty() {
            subject.to_string()
        } else {
            fit_end(subject.name(), SUBJECT)
        }
    }
}
mod frame;
mod overlay;
mod pictures;
#[cfg(test)]
mod sample;
mod screen;
#[cfg(test)]
mod tests;
mod trial;
mod update;

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
/// The interval between two frames for progress alone, however often it is reported: drawing must
/// not disturb a measurement.
const FRAME: Duration = Duration::from_millis(40);
/// The longest time for which input is taken without drawing.
const BATCH: Duration = Duration::from_millis(100);
/// The interval of checks for the foreground, after being continued in the background.
const AWAY: Duration = Duration::from_secs(1);
/// The longest wait at exit for a cancelled probe to remove its scratch files, or for a file to be
/// saved.
const STOPPING: Duration = Duration::from_secs(2);

/// Shows the screens on the terminal at standard input and output until the user leaves or a signal
/// arrives. The terminal is as it was when this returns, and a probe that was running has been
/// stopped.
pub fn run(worker: Arc<dyn Worker>, options: Options) -> io::Result<Exit> {
    let (out, inbox) = mpsc::channel();
    input::signals(out.clone())?;
    let mut tty = Tty::enter(options.in_tmux)?;
    let input = InputQueue::default();
    input::keys(&out, input.clone())?;
    let mut jobs = Jobs::new(worker, out);
    let theme = Theme {
        colour: options.colour,
        ascii: options.ascii,
    };
    let exit = drive(&mut tty, &inbox, &input, &mut jobs, theme);
    drop(tty);
    wind_down(&mut jobs, &inbox);
    exit.or_else(|error| {
        if is_closed(&error) {
            Ok(Exit::Signal(SIGHUP))
        } else {
            Err(error)
        }
    })
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
            let next = msgs
                .next()
                .or_else(|| input.next(update::takes_text(&model)));
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

/// Stops all jobs, and waits for a probe to remove its scratch files and for a file to be complete;
/// a second request to exit skips the wait. SIGHUP is no such request, since it also arrives after
/// we noticed the closed terminal.
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
    const GONE: [i32; 3] = [
        nix::errno::Errno::EIO as i32,
        nix::errno::Errno::ENXIO as i32,
        nix::errno::Errno::EPIPE as i32,
    ];
    error
        .raw_os_error()
        .is_some_and(|number| GONE.contains(&number))
}
