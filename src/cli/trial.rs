//! Nothing is written to the disk before the costs are printed and the user agrees, on the terminal
//! or by an option.

mod preflight;
mod progress {
    use std::io::{self, IsTerminal as _};

    use crate::cli::args::TrialFormat;
    use crate::cli::{interactive, out};
    use crate::trial::TrialRecord;
    use crate::tui::TrialScreen;

    pub(super) enum TrialProgressOutput {
        Silent,
        Lines {
            /// Whether a screen replaces the status lines once the trial begins.
            then_screen: bool,
        },
        Screen(Box<TrialScreen>),
    }

    impl TrialProgressOutput {
        pub(super) fn new(format: TrialFormat) -> Self {
            let text = matches!(format, TrialFormat::Text);
            let both = io::stdin().is_terminal() && io::stdout().is_terminal();
            if !out::can_show_progress() {
                return Self::Silent;
            }
            Self::Lines {
                then_screen: text && both,
            }
        }

        pub(super) fn switch_to_screen(&mut self, record: &TrialRecord) {
            match self {
                Self::Lines { then_screen: true } => {
                    out::print_progress("");
                    // If the screen cannot start, status lines are still printed.
                    if let Ok(screen) =
                        TrialScreen::enter(interactive::screen_options(false), record)
                    {
                        *self = Self::Screen(Box::new(screen));
                    }
                }
                Self::Silent | Self::Lines { then_screen: false } | Self::Screen(_) => {}
            }
        }

        pub(super) fn show_status(&mut self, doing: &str) {
            match self {
                Self::Silent => {}
                Self::Lines { .. } => out::print_progress(doing),
                Self::Screen(screen) => screen.set_status(doing),
            }
        }

        /// Draws the screen, if there is one, and handles its keys. `rest` is the remaining time
        /// budget in seconds. Returns true if the user quits.
        pub(super) fn draw_and_poll_quit(&mut self, rest: f64) -> bool {
            match self {
                Self::Silent | Self::Lines { .. } => false,
                // If drawing fails, the trial continues without a screen.
                Self::Screen(screen) => screen
                    .handle_input_and_draw(rest, out::stdout_is_writable())
                    .unwrap_or_else(|_| {
                        *self = Self::Silent;
                        false
                    }),
            }
        }

        pub(super) fn cell_status_text(
            &self,
            block: usize,
            nth: usize,
            cells: usize,
            rest: f64,
        ) -> String {
            let says = format!("block {block}, measurement {nth} of {cells}");
            match self {
                Self::Silent | Self::Screen(_) => says,
                Self::Lines { .. } => {
                    format!(
                        "{says}; up to {:.0} min left; Ctrl-C stops and reports the result so far",
                        rest / 60.0
                    )
                }
            }
        }

        pub(super) fn show_record(&mut self, record: &TrialRecord) {
            match self {
                Self::Silent | Self::Lines { .. } => {}
                Self::Screen(screen) => screen.set_record(record),
            }
        }
    }

    impl Drop for TrialProgressOutput {
        fn drop(&mut self) {
            match self {
                Self::Silent | Self::Screen(_) => {}
                Self::Lines { .. } => out::print_progress(""),
            }
        }
    }
}
mod clear_disk {
    //! The process that wrote to the disk also clears the disk after a trial. If that process was
    //! killed, a new process clears the disk.

    use std::time::Duration;

    use anyhow::anyhow;

    use super::preflight::disk::clear_disk_command;
    use crate::cli::{CliError, out};
    use crate::text;
    use crate::trial_runner::{EraseTarget, InspectedDisk, TrialEvent, TrialHandle};

    const CLEAR_TIMEOUT: Duration = Duration::from_secs(120);

    pub(super) fn close_trial_and_clear_disk(
        arena: TrialHandle,
        disk: Option<&EraseTarget>,
        show: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        let cleared =
            arena.end_trial_and_return_cleared(&mut |news| show_clear_progress(&news, show));
        let Some(disk) = disk.filter(|_| !cleared) else {
            return Ok(());
        };
        let left = InspectedDisk::inspect(&disk.node).map(|found| found.leftover_mark.is_some());
        match left {
            // A disk without the trial's mark needs no clearing.
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(why) => {
                return Err(format!(
                    "trial data on {} could not be cleared: {why}",
                    disk.node
                ));
            }
        }
        clear_disk(disk, show).map_err(|why| {
            format!(
                "{} still holds trial data: {why}; to clear it: {}",
                disk.node,
                clear_disk_command(disk)
            )
        })
    }

    pub(super) fn clear_disk_leftovers(disk: &EraseTarget) -> Result<(), CliError> {
        let shows = out::can_show_progress();
        let done = clear_disk(disk, &mut |line| {
            if shows {
                out::print_progress(line);
            }
        });
        if shows {
            out::print_progress("");
        }
        done.map_err(|why| anyhow!("{why}"))?;
        out::print_notice(&format!(
            "{} was cleared: its trial data was overwritten with zeros",
            disk.node
        ));
        Ok(())
    }

    fn clear_disk(disk: &EraseTarget, show: &mut dyn FnMut(&str)) -> Result<(), String> {
        let mut arena = TrialHandle::start_disk_clear(disk)
            .map_err(|e| format!("cannot start the clearing process: {e}"))?;
        loop {
            match arena.recv(CLEAR_TIMEOUT)? {
                Some(TrialEvent::Cleared) => return Ok(()),
                Some(TrialEvent::Failed(why)) => return Err(text::display_safe(why.as_bytes())),
                Some(news) => show_clear_progress(&news, show),
                None => return Err("the clearing process does not respond".to_owned()),
            }
        }
    }

    fn show_clear_progress(news: &TrialEvent, show: &mut dyn FnMut(&str)) {
        match news {
            TrialEvent::Clearing(bytes) => {
                show(&format!(
                    "clearing the disk: {}",
                    text::format_bytes(*bytes)
                ));
            }
            TrialEvent::Prepared(_)
            | TrialEvent::Ready(_)
            | TrialEvent::Cell { .. }
            | TrialEvent::Block(_)
            | TrialEvent::Failed(_)
            | TrialEvent::Cleared => {}
        }
    }
}
mod trial_loop;

use anyhow::anyhow;

use super::CliError;
use super::args::{TrialArgs, TrialFormat};
use super::out::{self, ExitResult, OutputTarget};
use crate::output::{FilePermissions, OutputOptions};
use crate::report::html;
use crate::text::display_path;
use crate::trial::{TrialRecord, trial_view};

pub(super) fn run(args: &TrialArgs) -> ExitResult {
    if args.clear {
        clear_disk::clear_disk_leftovers(&preflight::disk::inspect_and_confirm_disk_clear(args)?)?;
        return Ok(0);
    }
    if args.record.is_some() && args.record == args.output.output {
        let says = "--record and --output specify the same file; use two different files";
        return Err(CliError::Usage(says.to_owned()));
    }
    let delivery = OutputTarget::open(&args.output, false)?;
    let kept = args
        .record
        .as_deref()
        .map(|path| out::open_destination(path, record_output_options(args)))
        .transpose()?;
    let plan = preflight::plan_trial(args)?;
    preflight::show_costs_and_ask_consent(&plan, args)?;
    let (record, ended) = trial_loop::run_trial(plan, args.format)?;
    // The record is saved before the report is printed, so that an error of standard output does
    // not lose the result.
    let kept = match (kept, args.record.as_deref()) {
        (Some(found), Some(path)) => {
            let done = found.commit(trial_record_json(&record).as_bytes());
            done.map(|_| out::print_notice(&format!("saved: {}", display_path(path))))
        }
        (None, _) | (_, None) => Ok(()),
    };
    delivery.print_or_save_document(&render_trial_record(&record, args.format))?;
    kept.map_err(anyhow::Error::from)?;
    match ended {
        trial_loop::TrialExit::Complete => Ok(0),
        trial_loop::TrialExit::Signal(number) => Err(CliError::Signal(
            number,
            Some("the report covers the completed measurements".into()),
        )),
        trial_loop::TrialExit::Failed(why) => Err(anyhow!("the trial ended early: {why}").into()),
    }
}

fn record_output_options(args: &TrialArgs) -> OutputOptions {
    OutputOptions {
        access: args.output.output_mode.unwrap_or(FilePermissions::Standard),
        ..OutputOptions::default()
    }
}

fn render_trial_record(record: &TrialRecord, format: TrialFormat) -> String {
    match format {
        TrialFormat::Text => trial_view(record).to_text(),
        TrialFormat::Markdown => trial_view(record).to_markdown(),
        TrialFormat::Html => html::trial::render_trial_page(record),
        TrialFormat::Json => trial_record_json(record),
    }
}

fn trial_record_json(record: &TrialRecord) -> String {
    crate::report::json::to_pretty_json(record)
}

fn refuse<T>(sentence: String) -> Result<T, CliError> {
    Err(CliError::Usage(sentence))
}
