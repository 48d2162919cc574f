//! `walwise trial`: candidate file systems made, mounted and measured side by side on a loop file
//! or a spare disk.
//!
//! Nothing is written before it is said what, and allowed. What may be said of the figures is
//! decided in [`crate::trial`]; this module asks, runs and delivers.

mod before;
mod progress {
    //! How a trial that runs is shown: a screen on a terminal, lines that replace each other on one
    //! that has no screen, nothing otherwise.

    use std::io::{self, IsTerminal as _};

    use crate::cli::args::TrialFormat;
    use crate::cli::{out, screens};
    use crate::trial::TrialRecord;
    use crate::tui::TrialScreen;

    pub(super) enum TrialProgress {
        Silent,
        /// Lines on standard error; a screen follows where it may.
        Lines {
            /// Whether one may.
            then_screen: bool,
        },
        Screen(Box<TrialScreen>),
    }

    impl TrialProgress {
        /// What there is before the first cell.
        pub(super) fn new(format: TrialFormat) -> Self {
            let text = matches!(format, TrialFormat::Text);
            let both = io::stdin().is_terminal() && io::stdout().is_terminal();
            if !out::stderr_is_terminal() {
                return Self::Silent;
            }
            Self::Lines {
                then_screen: text && both,
            }
        }

        pub(super) fn begin(&mut self, record: &TrialRecord) {
            match self {
                Self::Lines { then_screen: true } => {
                    out::progress("");
                    // Without a screen there are lines.
                    if let Ok(screen) = TrialScreen::enter(screens::options(false), record) {
                        *self = Self::Screen(Box::new(screen));
                    }
                }
                Self::Silent | Self::Lines { then_screen: false } | Self::Screen(_) => {}
            }
        }

        pub(super) fn show(&mut self, doing: &str) {
            match self {
                Self::Silent => {}
                Self::Lines { .. } => out::progress(doing),
                Self::Screen(screen) => screen.say(doing),
            }
        }

        /// Minds the screen, with the most seconds that are left; returns whether the user wants
        /// the trial to end.
        pub(super) fn turn(&mut self, rest: f64) -> bool {
            match self {
                Self::Silent | Self::Lines { .. } => false,
                // The trial goes on without its terminal.
                Self::Screen(screen) => screen.turn(rest, out::takes_more()).unwrap_or_else(|_| {
                    *self = Self::Silent;
                    false
                }),
            }
        }

        /// A cell in words; a line also says how long it may last, and how it is ended.
        pub(super) fn cell(&self, block: usize, nth: usize, cells: usize, rest: f64) -> String {
            let says = format!("block {block}, cell {nth} of {cells}");
            match self {
                Self::Silent | Self::Screen(_) => says,
                Self::Lines { .. } => {
                    format!(
                        "{says}; at most {:.0} min left; Ctrl-C stops and reports the result so far",
                        rest / 60.0
                    )
                }
            }
        }

        /// What is known after a block.
        pub(super) fn learn(&mut self, record: &TrialRecord) {
            match self {
                Self::Silent | Self::Lines { .. } => {}
                Self::Screen(screen) => screen.learn(record),
            }
        }
    }

    impl Drop for TrialProgress {
        fn drop(&mut self) {
            match self {
                Self::Silent | Self::Screen(_) => {}
                Self::Lines { .. } => out::progress(""),
            }
        }
    }
}
mod after {
    //! After a trial: the disk that it wrote to is cleared, by the process that wrote, or by
    //! another where that was killed.

    use std::time::Duration;

    use anyhow::anyhow;

    use super::before::disk::line_that_clears;
    use crate::cells::{Arena, EraseOrder, News, SpareDisk};
    use crate::cli::{CliError, out};
    use crate::text;

    /// How long the process that clears may be silent.
    const PATIENCE: Duration = Duration::from_secs(120);

    /// Ends a trial, and makes sure that its disk is cleared; the error is a sentence.
    pub(super) fn close(
        arena: Arena,
        disk: Option<&EraseOrder>,
        show: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        let cleared = arena.close(&mut |news| tell(&news, show));
        let Some(disk) = disk.filter(|_| !cleared) else {
            return Ok(());
        };
        let left = SpareDisk::look(&disk.node).map(|found| found.left.is_some());
        match left {
            // It was not taken.
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(why) => {
                return Err(format!(
                    "what was written to {} could not be cleared: {why}",
                    disk.node
                ));
            }
        }
        clear(disk, show).map_err(|why| {
            format!(
                "{} still holds what was written there: {why}; this clears it: {}",
                disk.node,
                line_that_clears(disk)
            )
        })
    }

    /// Clears what an earlier trial left.
    pub(super) fn clear_left(disk: &EraseOrder) -> Result<(), CliError> {
        let shows = out::stderr_is_terminal();
        let done = clear(disk, &mut |line| {
            if shows {
                out::progress(line);
            }
        });
        if shows {
            out::progress("");
        }
        done.map_err(|why| anyhow!("{why}"))?;
        out::notice(&format!(
            "{} is cleared: what the trial wrote there is zeros again",
            disk.node
        ));
        Ok(())
    }

    /// Has another process clear it; the error is a sentence.
    fn clear(disk: &EraseOrder, show: &mut dyn FnMut(&str)) -> Result<(), String> {
        let mut arena =
            Arena::clear(disk).map_err(|e| format!("cannot start the process that clears: {e}"))?;
        loop {
            match arena.recv(PATIENCE)? {
                Some(News::Cleared) => return Ok(()),
                Some(News::Failed(why)) => return Err(text::safe(why.as_bytes())),
                Some(news) => tell(&news, show),
                None => return Err("it does not answer".to_owned()),
            }
        }
    }

    fn tell(news: &News, show: &mut dyn FnMut(&str)) {
        match news {
            News::Clearing(bytes) => show(&format!("clearing the disk: {}", text::bytes(*bytes))),
            News::Prepared(_)
            | News::Ready(_)
            | News::Cell { .. }
            | News::Block(_)
            | News::Failed(_)
            | News::Cleared => {}
        }
    }
}
mod during;

use std::path::Path;

use anyhow::anyhow;

use super::CliError;
use super::args::{Trial, TrialFormat};
use super::out::{self, Delivery, ExitResult};
use crate::output::{Access, Wish};
use crate::report::html;
use crate::text;
use crate::trial::{TrialRecord, tell};

pub(super) fn run(args: &Trial) -> ExitResult {
    if args.clear {
        after::clear_left(&before::disk::to_clear(args)?)?;
        return Ok(0);
    }
    if args.record.is_some() && args.record == args.output.output {
        let says = "--record and --output name the same file: choose another one for one of them";
        return Err(CliError::Usage(says.to_owned()));
    }
    let delivery = Delivery::find(&args.output, false)?;
    let kept = args
        .record
        .as_deref()
        .map(|path| out::destination(path, wish(args)))
        .transpose()?;
    let plan = before::plan(args)?;
    before::ask(&plan, args)?;
    let (record, ended) = during::run(plan, args.format)?;
    // The record first: what took so long is not lost with a terminal.
    let kept = match (kept, args.record.as_deref()) {
        (Some(found), Some(path)) => {
            let done = found.commit(json(&record).as_bytes());
            done.map(|_| out::notice(&format!("kept: {}", shown(path))))
        }
        (None, _) | (_, None) => Ok(()),
    };
    delivery.deliver(&document(&record, args.format))?;
    kept.map_err(anyhow::Error::from)?;
    match ended {
        during::Ended::Whole => Ok(0),
        during::Ended::Signal(number) => Err(CliError::Signal(
            number,
            Some("the report covers what was measured until then".into()),
        )),
        during::Ended::Failed(why) => Err(anyhow!("the trial ended early: {why}").into()),
    }
}

fn wish(args: &Trial) -> Wish {
    Wish {
        access: args.output.output_mode.unwrap_or(Access::Usual),
        ..Wish::default()
    }
}

fn document(record: &TrialRecord, format: TrialFormat) -> String {
    match format {
        TrialFormat::Text => tell(record).text(),
        TrialFormat::Markdown => tell(record).markdown(),
        TrialFormat::Html => html::trial::render(record),
        TrialFormat::Json => json(record),
    }
}

fn json(record: &TrialRecord) -> String {
    crate::report::json::pretty(record)
}

fn refuse<T>(sentence: String) -> Result<T, CliError> {
    Err(CliError::Usage(sentence))
}

fn shown(path: &Path) -> String {
    text::safe(path.as_os_str().as_encoded_bytes())
}
