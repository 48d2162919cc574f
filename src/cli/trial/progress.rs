//! How a trial that runs is shown: a screen on a terminal, lines that replace each other on one that has no screen, nothing
//! otherwise.

use std::io::{self, IsTerminal as _};

use crate::cli::args::TrialFormat;
use crate::cli::{out, screens};
use crate::trial::TrialRecord;
use crate::ui::TrialScreen;

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
        Self::Lines { then_screen: text && both }
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

    /// Minds the screen, with the most seconds that are left; returns whether the user wants the trial to end.
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
