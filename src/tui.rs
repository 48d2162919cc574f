//! The interactive screens: an event loop updates a model with messages and draws it from a report.
//!
//! This module neither reads the host nor measures: the caller's [`Worker`] does so on threads and
//! sends messages.

mod key_press;
mod rule_results;
mod screen_id;
mod target_context;
mod click_map {
    //! The clickable areas of the screen. Each element records its area when it is drawn, so a
    //! click always refers to what is visible.
    //!
    //! Most areas act like a key, so the keyboard can do all that the mouse can.

    use ratatui::buffer::Buffer;
    use ratatui::layout::{Position, Rect};
    use ratatui::text::{Line, Span};
    use ratatui::widgets::Widget;

    use super::key_press::KeyPress;
    use super::theme::ACCENT;
    use super::widgets::area;

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ClickTarget {
        Press(KeyPress),
        /// A row of the page: a click selects it, or enters it if already selected.
        Row(String),
        /// A row of the details pane, by its key.
        PaneRow(String),
        /// A target, by its position in the list of targets, which begins with the worst verdict.
        Target(usize),
        /// An entry of an open list, by its index.
        Entry(usize),
    }

    #[derive(Clone, Debug, Default)]
    pub struct ClickMap(Vec<(Rect, ClickTarget)>);

    impl ClickMap {
        pub fn add_area(&mut self, place: Rect, hit: ClickTarget) {
            self.0.push((place, hit));
        }

        /// Adds an area that acts like the first of these keys, written as `"down j"`.
        pub fn add_key_area(&mut self, place: Rect, keys: &str) {
            self.add_area(
                place,
                ClickTarget::Press(KeyPress::from_name(
                    keys.split(' ').next().unwrap_or_default(),
                )),
            );
        }

        pub fn clear_areas(&mut self) {
            self.0.clear();
        }

        /// If areas overlap, the one added last counts, because it was drawn over the others.
        pub fn click_target_at(&self, cell: Position) -> Option<&ClickTarget> {
            self.0
                .iter()
                .rev()
                .find(|(place, _)| place.contains(cell))
                .map(|(_, hit)| hit)
        }
    }

    /// Draws a key and its label as a clickable area that acts like the first of `keys`. Returns the
    /// rest of the row.
    pub fn draw_key_hint(
        (key, label): (&str, &str),
        keys: &str,
        row: Rect,
        hits: &mut ClickMap,
        buffer: &mut Buffer,
    ) -> Rect {
        let line = Line::from(vec![
            Span::raw(" "),
            Span::styled(key, ACCENT),
            Span::raw(format!(" {label}  ")),
        ]);
        let (place, rest) = area::split_left(row, area::saturating_columns(line.width()));
        line.render(place, buffer);
        hits.add_key_area(place, keys);
        rest
    }
}
mod assumptions {
    use crate::facts::Subject;
    use crate::report::{Report, WhatIf};

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AssumedFact {
        pub subject: Subject,
        pub fact: &'static str,
        /// The value as typed, not yet parsed: `16M`, `write through`.
        pub value: String,
    }

    impl AssumedFact {
        pub fn is_for_fact(&self, subject: &Subject, fact: &str) -> bool {
            self.subject == *subject && self.fact == fact
        }
    }

    /// The user's assumptions, the report of the host under them, and the differences from the real
    /// host. Assumptions never affect plans, exports or the exit code.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AssumedHost {
        pub suppositions: Vec<AssumedFact>,
        pub what_if: WhatIf,
        pub report: Report,
    }
}
mod input;
mod input_queue;
mod job;
mod msg;
mod terminal;
mod theme;
mod widgets;
mod worker_jobs;
mod filter {
    use super::widgets::text_field::TextField;

    /// The search text of a screen.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Filter {
        pub text: TextField,
        pub typing: bool,
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn filter_matches_if_all_words_occur() {
            let passes = |text: &str| TextField::new(text).matches("sda device.Cache");
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
    //! The column at the left of a wide page. No key acts on this column; a click chooses a target.

    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::text::{Line, Span};
    use ratatui::widgets::Widget;

    use super::click_map::{ClickMap, ClickTarget};
    use super::theme::DIM;
    use super::viewport::SIDEBAR_WIDTH;
    use super::widgets::area;

    #[derive(Clone, Debug)]
    pub struct SidebarRow {
        pub line: Line<'static>,
        /// Position in the list of targets, which begins with the worst verdict; `None` for rows
        /// without a target.
        pub target: Option<usize>,
    }

    /// Rows beyond the height of the page are not drawn.
    pub fn draw_sidebar(rows: &[SidebarRow], area: Rect, hits: &mut ClickMap, buffer: &mut Buffer) {
        let (left, _) = area::split_left(area, SIDEBAR_WIDTH);
        let (edge, inner) = area::split_right(left, 1);
        for row in edge.rows() {
            Span::styled("│", DIM).render(row, buffer);
        }
        for (row, place) in rows.iter().zip(inner.rows()) {
            (&row.line).render(place, buffer);
            if let Some(target) = row.target {
                hits.add_area(place, ClickTarget::Target(target));
            }
        }
    }
}
mod export_state;
mod page;
mod page_view;
mod target_row {
    use super::theme::{ACCENT, BOLD, DIM, PLAIN, verdict_style};
    use super::widgets::columns::{Column, StyledText};
    use crate::durability::{FlushHop, FlushState};
    use crate::report::view::short_report::target_filesystem_type;
    use crate::report::view::{Tone, latency, verdict_symbol};
    use crate::report::{Report, TargetSummary};

    pub const COLUMNS: [Column; 5] = [
        Column::new_cuttable(1),
        Column::new_cuttable(15),
        Column::new_wrapping(12),
        Column::new_droppable(2),
        Column::new_droppable(1),
    ];

    pub fn selection_mark(is_chosen: bool) -> StyledText {
        (if is_chosen { "▸" } else { " " }.to_owned(), ACCENT)
    }

    pub fn target_cells(
        report: &Report,
        target: &TargetSummary,
        is_chosen: bool,
    ) -> Vec<StyledText> {
        let verdict = report.verdict(&target.target);
        let (sign, standing, style) = match verdict.map(|verdict| verdict.standing) {
            Some(standing) => {
                let is_answered = |hop: &FlushHop| matches!(hop.state, FlushState::Answered);
                let answers = verdict.is_some_and(|of| of.flush_path.iter().any(is_answered));
                let sign = match Tone::from(standing) {
                    Tone::Good if answers => "◆",
                    Tone::Good | Tone::Dim | Tone::Doubt | Tone::Bad => verdict_symbol(standing),
                };
                (sign, standing.as_str(), verdict_style(standing))
            }
            None => (
                "·",
                target.content.as_ref().map_or("no verdict", |_| "disk"),
                DIM,
            ),
        };
        let price = latency::durable_median_text(report, target)
            .map_or_else(String::new, |price| format!("{price:>8}"));
        let name = if is_chosen { BOLD } else { PLAIN };
        vec![
            selection_mark(is_chosen),
            (format!("{sign} {standing}"), style),
            (target.title.clone(), name),
            (target_filesystem_type(report, target), DIM),
            (price, DIM),
        ]
    }
}
mod raw_answers {
    //! The host's raw answer behind a fact, line by line, fetched when the user unfolds the fact.
    //!
    //! The worker has the answers; this is a cache until the next report. An answer can be shorter
    //! than its source: from configuration files and from command lines, only known keys are kept.

    use std::collections::BTreeMap;

    use super::job::Job;
    use super::page::PageBlock;
    use crate::facts::{Reading, Source, catalog};
    use crate::report::Report;

    /// Raw lines by source and value, both as displayed.
    #[derive(Clone, Debug, Default)]
    pub struct RawAnswerCache(BTreeMap<(String, String), Vec<String>>);

    impl RawAnswerCache {
        pub fn cached_lines(&self, source: &str, value: &str) -> &[String] {
            self.0
                .get(&(source.to_owned(), value.to_owned()))
                .map_or(&[], Vec::as_slice)
        }

        /// Returns the job that fetches the answer behind a block. `None` if the answer is cached,
        /// or if the block has no known source.
        pub fn job_to_fetch_answer(
            &self,
            report: Option<&Report>,
            block: &PageBlock,
        ) -> Option<Job> {
            let (source, value) = fact_source_and_value(report?, block)?;
            let is_known = self.0.contains_key(&(source.to_string(), value.clone()));
            (!is_known).then_some(Job::Raw(source, value))
        }

        pub fn insert_lines(&mut self, source: &Source, value: String, lines: Vec<String>) {
            self.0.insert((source.to_string(), value), lines);
        }
    }

    fn fact_source_and_value(report: &Report, block: &PageBlock) -> Option<(Source, String)> {
        let (subject, fact) = block.fact.as_ref()?;
        let Reading::Known { value, source } = report.facts.reading_by_name(subject, fact) else {
            return None;
        };
        let is_answer = matches!(source, Source::File { .. } | Source::Command { .. });
        is_answer.then(|| (source.clone(), catalog::format_value(fact, value)))
    }
}
mod changes_jobs;
mod changes_state;
mod command;
mod export;
mod model;
mod screen_data;
mod what_if;
mod labels {
    use crate::facts::Subject;

    pub fn subject_label(subject: &Subject) -> String {
        match subject.name() {
            "" => subject.to_string(),
            name => name.to_owned(),
        }
    }
}
mod frame;
mod overlay;
mod screen;
mod screenshots;
#[cfg(test)]
mod test_sessions;
#[cfg(test)]
mod tests;
mod trial;
mod update;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

pub use assumptions::{AssumedFact, AssumedHost};
pub use job::{
    ChangedFacts, ComparisonReference, HostChange, Job, JobProgress, JobResult, ReferenceChoice,
    ReferenceComparison, SaveOutcome, SaveRequest,
};
pub use msg::ExitReason;
pub use screenshots::draw_screens;
pub use trial::TrialScreen;
pub use worker_jobs::Worker;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};

use click_map::ClickMap;
use input_queue::InputQueue;
use model::{Model, RedrawUrgency};
use msg::{Msg, SideEffect};
use terminal::{TerminalDisplay, Tty};
use worker_jobs::JobRunner;

#[derive(Clone, Copy, Debug, Default)]
pub struct ScreenOptions {
    pub colour: bool,
    /// Draw with ASCII only, for terminals and locales without UTF-8.
    pub ascii: bool,
    /// Whether the terminal is in tmux, where copying needs a different escape sequence.
    pub in_tmux: bool,
}

const ANIMATION_INTERVAL: Duration = Duration::from_millis(120);
/// Minimum interval between frames that show only progress, because drawing must not disturb a
/// measurement.
const FRAME_INTERVAL: Duration = Duration::from_millis(40);
/// Longest time for which input is processed without drawing.
const MAX_BATCH_TIME: Duration = Duration::from_millis(100);
/// After SIGCONT in the background, walwise checks at this interval whether it is in the
/// foreground.
const FOREGROUND_POLL: Duration = Duration::from_secs(1);
/// How long the exit waits for a cancelled probe to remove its scratch files, or for a file to be
/// saved.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Shows the screens on standard input and output until the user quits or a signal arrives. On
/// return the terminal is restored and a running probe has been cancelled.
pub fn run_screens(worker: Arc<dyn Worker>, options: ScreenOptions) -> io::Result<ExitReason> {
    let (out, inbox) = mpsc::channel();
    let signals = [SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH];
    input::listen_for_signals(out.clone(), &signals)?;
    let mut tty = Tty::enter(options.in_tmux)?;
    let input = InputQueue::default();
    input::listen_for_input(&out, input.clone())?;
    let mut jobs = JobRunner::new(worker, out);
    let exit = event_loop(&mut tty, &inbox, &input, &mut jobs, options);
    drop(tty);
    cancel_jobs_and_wait(&mut jobs, &inbox);
    exit.or_else(|error| {
        if is_terminal_closed_error(&error) {
            Ok(ExitReason::Signal(SIGHUP))
        } else {
            Err(error)
        }
    })
}

fn event_loop(
    display: &mut dyn TerminalDisplay,
    inbox: &Receiver<Msg>,
    input: &InputQueue,
    jobs: &mut JobRunner,
    options: ScreenOptions,
) -> io::Result<ExitReason> {
    let (mut model, effects) = Model::new_with_first_job(options, display.size());
    let mut drawn = Instant::now();
    draw_model(display, &mut model)?;
    let mut away = false;
    let mut is_input_left = false;
    for effect in effects {
        perform_effect(effect, &mut model, display, jobs, &mut away)?;
    }
    loop {
        let due = FRAME_INTERVAL.saturating_sub(drawn.elapsed());
        if !away
            && (model.dirty == RedrawUrgency::Now
                || (model.dirty == RedrawUrgency::Soon && due.is_zero()))
        {
            draw_model(display, &mut model)?;
            drawn = Instant::now();
        }
        let wait = match model.dirty {
            _ if away => Some(FOREGROUND_POLL),
            _ if is_input_left => Some(Duration::ZERO),
            RedrawUrgency::No => model.is_animating().then_some(ANIMATION_INTERVAL),
            RedrawUrgency::Soon | RedrawUrgency::Now => Some(due),
        };
        let first = next_message(inbox, wait)?;
        if away && first.is_none() {
            perform_effect(SideEffect::Resume, &mut model, display, jobs, &mut away)?;
        }
        let begun = Instant::now();
        let mut renews = false;
        let mut msgs = first.into_iter().chain(inbox.try_iter());
        is_input_left = false;
        while model.exit.is_none() {
            let next = msgs
                .next()
                .or_else(|| input.pop_interrupt_first(model.active_text_field().is_some()));
            let Some(msg) = next else { break };
            match &msg {
                // This message only wakes the loop: the input itself is in the queue.
                Msg::Input => continue,
                Msg::Done(job, _) => jobs.remove_job(*job),
                _ => {}
            }
            for effect in update::update(&mut model, msg) {
                match effect {
                    SideEffect::Redraw => {
                        // Later input in this batch already refers to the new size.
                        model.size = display.size();
                        renews = !away;
                    }
                    SideEffect::Resume => {
                        renews = false;
                        perform_effect(SideEffect::Resume, &mut model, display, jobs, &mut away)?;
                    }
                    effect => perform_effect(effect, &mut model, display, jobs, &mut away)?,
                }
            }
            if !away && begun.elapsed() > MAX_BATCH_TIME {
                is_input_left = true;
                break;
            }
        }
        if let Some(exit) = model.exit {
            return Ok(exit);
        }
        if renews {
            perform_effect(SideEffect::Redraw, &mut model, display, jobs, &mut away)?;
        }
    }
}

/// Waits for a message. If none arrives within `wait`, returns a tick if `wait` is
/// [`ANIMATION_INTERVAL`], else `None`.
fn next_message(inbox: &Receiver<Msg>, wait: Option<Duration>) -> io::Result<Option<Msg>> {
    let gone = |_| io::Error::other("all message senders have ended");
    match wait {
        None => inbox.recv().map(Some).map_err(gone),
        Some(wait) => match inbox.recv_timeout(wait) {
            Ok(msg) => Ok(Some(msg)),
            Err(RecvTimeoutError::Timeout) => Ok((wait == ANIMATION_INTERVAL).then_some(Msg::Tick)),
            Err(RecvTimeoutError::Disconnected) => Err(gone(mpsc::RecvError)),
        },
    }
}

fn draw_model(display: &mut dyn TerminalDisplay, model: &mut Model) -> io::Result<()> {
    let mut hits = ClickMap::default();
    let view = model.current_page_view();
    display.draw(&mut |buffer| hits = frame::draw_page_view(model, &view, buffer))?;
    // The next key press acts on the drawn page.
    model.cache_page(view.page);
    model.hits = hits;
    model.dirty = RedrawUrgency::No;
    Ok(())
}

fn perform_effect(
    effect: SideEffect,
    model: &mut Model,
    display: &mut dyn TerminalDisplay,
    jobs: &mut JobRunner,
    away: &mut bool,
) -> io::Result<()> {
    match effect {
        SideEffect::Start(id, job) => jobs.start_job(id, job),
        SideEffect::Cancel(id) => jobs.cancel_job(id),
        SideEffect::Copy(text) => display.copy_to_clipboard(&text)?,
        SideEffect::Mouse(ours) => display.set_mouse_capture(ours)?,
        // While a shell has the terminal, nothing is drawn; `Resume` queries the size again.
        SideEffect::Redraw if *away => {}
        SideEffect::Redraw => {
            model.size = display.size();
            model.drop_cached_page();
            display.clear_for_redraw(model.size)?;
            model.dirty = RedrawUrgency::Now;
        }
        // SIGCONT, which continues this process, arrives as a message, so nothing more happens
        // here.
        SideEffect::Suspend if display.suspend()? => *away = true,
        SideEffect::Suspend => model.notice = Some("there is no shell to return to".to_owned()),
        SideEffect::Resume => {
            *away = !display.resume()?;
            model.size = display.size();
            model.drop_cached_page();
            model.dirty = RedrawUrgency::Now;
        }
    }
    Ok(())
}

/// Cancels all jobs, then waits up to [`EXIT_TIMEOUT`] for a probe to remove its scratch files and
/// for a file to be complete. SIGTERM and SIGINT end the wait. SIGHUP does not, because a closed
/// terminal also sends SIGHUP.
fn cancel_jobs_and_wait(jobs: &mut JobRunner, inbox: &Receiver<Msg>) {
    jobs.cancel_all_jobs();
    let begun = Instant::now();
    while jobs.has_job_needing_cleanup() {
        match inbox.recv_timeout(EXIT_TIMEOUT.saturating_sub(begun.elapsed())) {
            Ok(Msg::Done(job, _)) => jobs.remove_job(job),
            Ok(Msg::Signal(SIGTERM | SIGINT)) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// EIO, ENXIO and EPIPE occur if the terminal is closed while walwise draws.
fn is_terminal_closed_error(error: &io::Error) -> bool {
    const CLOSED_TERMINAL_ERRNOS: [i32; 3] = [
        nix::errno::Errno::EIO as i32,
        nix::errno::Errno::ENXIO as i32,
        nix::errno::Errno::EPIPE as i32,
    ];
    error
        .raw_os_error()
        .is_some_and(|number| CLOSED_TERMINAL_ERRNOS.contains(&number))
}
