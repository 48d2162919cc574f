//! The interactive screens: one loop around a model that messages change and that is drawn from a
//! report.
//!
//! It reads no host and measures nothing: the caller's [`Worker`] does, on threads, and sends
//! messages. The loop blocks while idle; only an animation sets a timer.

mod focus;
mod key;
mod rule_results;
mod screen_id;
mod click_map {
    //! The clickable areas of the screen. Whatever draws an element records it here, so a click
    //! always refers to what is visible.
    //!
    //! Most entries are keys: the mouse does only what keys do.

    use ratatui::layout::{Position, Rect};

    use super::key::KeyPress;
    use super::screen_id::ScreenId;

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ClickTarget {
        /// Acts like this key.
        Press(KeyPress),
        /// The first line of this block: selects it, or enters it if already selected.
        Line(String),
        /// The rest of that block: selects it.
        BlockBody(String),
        /// A link: opens this block on that screen.
        Open(ScreenId, String),
        /// Chooses the target at this position, counted from the worst.
        Target(usize),
        /// Runs the command at this position in help, from 0.
        Entry(usize),
    }

    /// The clickable areas of the picture drawn last.
    #[derive(Clone, Debug, Default)]
    pub struct ClickMap(Vec<(Rect, ClickTarget)>);

    impl ClickMap {
        pub fn add(&mut self, place: Rect, hit: ClickTarget) {
            self.0.push((place, hit));
        }

        /// Adds an area that acts like the first of these keys, written as `"down j"`.
        pub fn add_key(&mut self, place: Rect, keys: &str) {
            self.add(
                place,
                ClickTarget::Press(KeyPress::from_name(
                    keys.split(' ').next().unwrap_or_default(),
                )),
            );
        }

        /// Removes all areas, because an overlay covers them.
        pub fn clear(&mut self) {
            self.0.clear();
        }

        /// The topmost entry at this cell.
        pub fn at(&self, cell: Position) -> Option<&ClickTarget> {
            self.0
                .iter()
                .rev()
                .find(|(place, _)| place.contains(cell))
                .map(|(_, hit)| hit)
        }
    }
}
mod hypothesis {
    //! Assumed facts and the report under them, as values only. [`super::what_if`] is how they are
    //! chosen.

    use crate::facts::Subject;
    use crate::report::{Report, WhatIf};

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Supposition {
        pub subject: Subject,
        pub fact: &'static str,
        /// As typed.
        pub value: String,
    }

    impl Supposition {
        pub fn concerns(&self, subject: &Subject, fact: &str) -> bool {
            self.subject == *subject && self.fact == fact
        }
    }

    /// The host under assumptions, next to the real one. It never affects plans, exports or the
    /// exit code.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AssumedHost {
        pub suppositions: Vec<Supposition>,
        pub what_if: WhatIf,
        /// The report under the assumptions, for the reasons of its findings.
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
    //! The search text of a screen. It knows none of the screens.
    //!
    //! Every word must occur, in any order and case, as in help.

    use super::widgets::field::Field;

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Filter {
        pub text: Field,
        /// Whether keys are still typed into it.
        pub typing: bool,
    }

    impl Filter {
        /// Whether an element with this text is shown.
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
mod viewport;
mod sidebar {
    //! The column at the left of a wide page: the other targets, and facts of the host. Keys never
    //! go there; a click chooses a target.

    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::text::{Line, Span};
    use ratatui::widgets::Widget;

    use super::click_map::{ClickMap, ClickTarget};
    use super::theme::{TextRole, Theme};
    use super::widgets::area;

    #[derive(Clone, Debug)]
    pub struct SidebarRow {
        pub line: Line<'static>,
        /// The position of its target, counted from the worst.
        pub target: Option<usize>,
    }

    #[derive(Clone, Debug)]
    pub struct Sidebar {
        /// Rows beyond the height of the page are not drawn.
        pub rows: Vec<SidebarRow>,
        /// In columns, including the line at its right.
        pub width: u16,
    }

    impl Sidebar {
        /// Draws it; returns the area left for the page.
        pub fn draw(
            &self,
            theme: Theme,
            area: Rect,
            hits: &mut ClickMap,
            buffer: &mut Buffer,
        ) -> Rect {
            let (left, rest) = area::left(area, self.width);
            let (edge, inner) = area::right(left, 1);
            for row in edge.rows() {
                Span::styled("│", theme.style(TextRole::Dim)).render(row, buffer);
            }
            for (row, place) in self.rows.iter().zip(inner.rows()) {
                (&row.line).render(place, buffer);
                if let Some(target) = row.target {
                    hits.add(place, ClickTarget::Target(target));
                }
            }
            rest
        }
    }
}
mod documents;
mod layout_choice;
mod page;
mod target_row {
    //! A target as a table row, wherever targets are listed: verdict, name, file system, commit
    //! latency.

    use super::theme::{TextRole, Theme};
    use super::widgets::columns::{Column, StyledText};
    use super::widgets::text::fit_middle;
    use crate::durability::{FlushHop, FlushState};
    use crate::report::view::short::filesystem_type;
    use crate::report::view::{Tone, latency, standing_symbol};
    use crate::report::{Report, TargetSummary};

    pub const COLUMNS: [Column; 5] = [
        Column::keep(1),
        Column::keep(15),
        Column::keep(12),
        Column::drop(2),
        Column::drop(1),
    ];

    /// The mark of the selected row.
    pub fn selection_mark(theme: Theme, is_chosen: bool) -> StyledText {
        (
            if is_chosen { "▸" } else { " " }.to_owned(),
            theme.style(TextRole::Accent),
        )
    }

    /// The cells of a target: verdict, title in at most `most` columns, file system, and commit
    /// latency or a dash.
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
                let is_answered = |hop: &FlushHop| matches!(hop.state, FlushState::Answered);
                let answers = verdict.is_some_and(|of| of.flush_path.iter().any(is_answered));
                let sign = match Tone::from(standing) {
                    Tone::Good if answers => "◆",
                    Tone::Good | Tone::Dim | Tone::Doubt | Tone::Bad => standing_symbol(standing),
                };
                (sign, standing.as_str(), theme.verdict(standing))
            }
            None => (
                "·",
                target.content.as_ref().map_or("no verdict", |_| "disk"),
                dim,
            ),
        };
        let price = latency::median(report, target).unwrap_or_else(|| "–".to_owned());
        let name = theme.style(if is_chosen {
            TextRole::Heading
        } else {
            TextRole::Plain
        });
        vec![
            selection_mark(theme, is_chosen),
            (format!("{sign} {standing}"), style),
            (fit_middle(&target.title, most), name),
            (filesystem_type(report, target), dim),
            (format!("{price:>8}"), dim),
        ]
    }
}
mod raw_answers {
    //! The host's raw answer behind a fact, line by line, fetched when the fact is unfolded.
    //! The worker has the answers; this is a cache until the next report. An answer may be less
    //! than the file: of configuration files and command lines only known keys are kept.

    use std::collections::BTreeMap;

    use super::job::{Job, JobResult};
    use super::page::Block;
    use crate::facts::{Reading, Source, catalog};
    use crate::report::Report;

    /// Raw lines by displayed source and value.
    #[derive(Clone, Debug, Default)]
    pub struct RawAnswers(BTreeMap<(String, String), Vec<String>>);

    impl RawAnswers {
        /// The cached lines of a value; `source` in its displayed form.
        pub fn lines(&self, source: &str, value: &str) -> &[String] {
            self.0
                .get(&(source.to_owned(), value.to_owned()))
                .map_or(&[], Vec::as_slice)
        }

        /// The job that fetches the raw answer of this block, unless cached or without a source.
        pub fn fetch_job(&self, report: Option<&Report>, block: &Block) -> Option<Job> {
            let (source, value) = origin(report?, block)?;
            let is_known = self.0.contains_key(&(source.to_string(), value.clone()));
            (!is_known).then_some(Job::Raw(source, value))
        }

        /// Consumes a result of such a job; returns any other.
        pub fn accept(&mut self, result: JobResult) -> Option<JobResult> {
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
        let Reading::Known { value, source } = report.facts.reading_by_name(subject, fact) else {
            return None;
        };
        let is_answer = matches!(source, Source::File { .. } | Source::Command { .. });
        is_answer.then(|| (source.clone(), catalog::format_value(fact, value)))
    }
}
mod command;
mod data;
mod export;
mod model;
mod what_if;
mod labels {
    //! Labels for rows of a screen, where the report's own sentences are too long. Everything else
    //! uses the words of the text report ([`crate::report::telling::words`]).

    use crate::facts::Subject;
    use crate::tui::widgets::text::fit_end;

    const MAX_SUBJECT_WIDTH: usize = 24;

    /// A subject without its kind; a long path keeps its end.
    pub fn subject_label(subject: &Subject) -> String {
        if subject.name().is_empty() {
            subject.to_string()
        } else {
            fit_end(subject.name(), MAX_SUBJECT_WIDTH)
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

pub use hypothesis::{AssumedHost, Supposition};
pub use job::{JobProgress, Saved};
pub use jobs::Worker;
pub use msg::Exit;
pub use pictures::{dead_links, pictures, screen_texts};
pub use trial::{TrialScreen, trial_picture};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use click_map::ClickMap;
use jobs::Jobs;
use model::{Dirty, Model};
use msg::{Msg, SideEffect};
use queue::InputQueue;
use terminal::{Display, Tty};
use theme::Theme;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether colours may be used (`NO_COLOR` unset).
    pub colour: bool,
    /// For terminals and locales without UTF-8.
    pub ascii: bool,
    /// In tmux, copying needs a different escape sequence.
    pub in_tmux: bool,
}

/// Interval between animation frames.
const TICK: Duration = Duration::from_millis(120);
/// Interval between frames for progress alone, however often it is reported: drawing must not
/// disturb a measurement.
const FRAME_INTERVAL: Duration = Duration::from_millis(40);
/// The longest time to process input without drawing.
const MAX_BATCH: Duration = Duration::from_millis(100);
/// Interval of checks for the foreground, after being continued in the background.
const FOREGROUND_POLL: Duration = Duration::from_secs(1);
/// How long the exit waits for a cancelled probe to remove its scratch files, or for a file to be
/// saved.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Shows the screens on standard input and output until the user quits or a signal arrives. On
/// return the terminal is restored and a running probe stopped.
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
    let exit = event_loop(&mut tty, &inbox, &input, &mut jobs, theme);
    drop(tty);
    stop_jobs(&mut jobs, &inbox);
    exit.or_else(|error| {
        if is_closed(&error) {
            Ok(Exit::Signal(SIGHUP))
        } else {
            Err(error)
        }
    })
}

/// Draws changes, waits, then processes every message and all input available.
fn event_loop(
    display: &mut dyn Display,
    inbox: &Receiver<Msg>,
    input: &InputQueue,
    jobs: &mut Jobs,
    theme: Theme,
) -> io::Result<Exit> {
    let (mut model, effects) = Model::new(theme, display.size());
    let mut drawn = Instant::now();
    // The first frame appears before any work.
    draw(display, &mut model)?;
    let mut away = false;
    let mut is_input_left = false;
    for effect in effects {
        perform(effect, &mut model, display, jobs, &mut away)?;
    }
    loop {
        let due = FRAME_INTERVAL.saturating_sub(drawn.elapsed());
        if !away && (model.dirty == Dirty::Now || (model.dirty == Dirty::Soon && due.is_zero())) {
            draw(display, &mut model)?;
            drawn = Instant::now();
        }
        let wait = match model.dirty {
            _ if away => Some(FOREGROUND_POLL),
            _ if is_input_left => Some(Duration::ZERO),
            Dirty::No => model.animates().then_some(TICK),
            Dirty::Soon | Dirty::Now => Some(due),
        };
        let first = next_message(inbox, wait)?;
        if away && first.is_none() {
            perform(SideEffect::Resume, &mut model, display, jobs, &mut away)?;
        }
        let begun = Instant::now();
        // Several size changes in one batch redraw once.
        let mut renews = false;
        let mut msgs = first.into_iter().chain(inbox.try_iter());
        is_input_left = false;
        while model.exit.is_none() {
            let next = msgs
                .next()
                .or_else(|| input.next(update::takes_text(&model)));
            let Some(msg) = next else { break };
            match &msg {
                // Only a wake-up: the input itself is in the queue.
                Msg::Input => continue,
                Msg::Done(job, _) => jobs.remove(*job),
                _ => {}
            }
            for effect in update::update(&mut model, msg) {
                match effect {
                    SideEffect::Redraw => {
                        // Input in this batch already refers to the new size.
                        model.size = display.size();
                        renews = !away;
                    }
                    SideEffect::Resume => {
                        // Resuming redraws anyway.
                        renews = false;
                        perform(SideEffect::Resume, &mut model, display, jobs, &mut away)?;
                    }
                    effect => perform(effect, &mut model, display, jobs, &mut away)?,
                }
            }
            if !away && begun.elapsed() > MAX_BATCH {
                is_input_left = true;
                break;
            }
        }
        if let Some(exit) = model.exit {
            return Ok(exit);
        }
        if renews {
            perform(SideEffect::Redraw, &mut model, display, jobs, &mut away)?;
        }
    }
}

/// The next message; a tick after `wait` in an animation.
fn next_message(inbox: &Receiver<Msg>, wait: Option<Duration>) -> io::Result<Option<Msg>> {
    let gone = |_| io::Error::other("all message senders have ended");
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
    let mut hits = ClickMap::default();
    // Caches the drawn page, because the next key refers to it.
    model.cache_page(model.view().page);
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
        SideEffect::Redraw if *away => {}
        SideEffect::Redraw => {
            model.size = display.size();
            model.forget_page();
            display.redraw(model.size)?;
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

/// Cancels all jobs, then waits for a probe to remove its scratch files and for a file to be
/// complete. A second request to exit ends the wait; SIGHUP does not, since a closed terminal also
/// sends it.
fn stop_jobs(jobs: &mut Jobs, inbox: &Receiver<Msg>) {
    jobs.cancel_all();
    let begun = Instant::now();
    while jobs.has_cleanup() {
        match inbox.recv_timeout(EXIT_TIMEOUT.saturating_sub(begun.elapsed())) {
            Ok(Msg::Done(job, _)) => jobs.remove(job),
            Ok(Msg::Signal(SIGTERM | SIGINT)) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// Whether a drawing error only means that the terminal was closed.
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
