//! Nothing is written to the disk before the costs are printed and the user agrees, on the terminal
//! or by an option.

mod preflight;
mod progress {
    use std::io::{self, IsTerminal as _};

    use crate::cli::args::TrialFormat;
    use crate::cli::{interactive, out};
    use crate::trial::TrialRecord;
    use crate::tui::TrialScreen;

    /// Shows the progress of a trial in status lines or, instead, on a screen.
    pub(super) struct TrialProgressOutput {
        prints_lines: bool,
        screen: Option<Box<TrialScreen>>,
    }

    impl TrialProgressOutput {
        pub(super) fn new() -> Self {
            Self {
                prints_lines: out::can_show_progress(),
                screen: None,
            }
        }

        pub(super) fn switch_to_screen(&mut self, format: TrialFormat, record: &TrialRecord) {
            let is_interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
            if self.prints_lines && format == TrialFormat::Text && is_interactive {
                out::print_progress("");
                // If the screen cannot start, status lines are still printed.
                let screen = TrialScreen::enter(interactive::screen_options(false), record);
                self.screen = screen.ok().map(Box::new);
                self.prints_lines = self.screen.is_none();
            }
        }

        pub(super) fn show_status(&mut self, doing: &str) {
            match &mut self.screen {
                Some(screen) => screen.set_status(doing),
                None if self.prints_lines => out::print_progress(doing),
                None => {}
            }
        }

        /// Draws the screen, if there is one, and handles its keys. `rest` is the remaining time
        /// budget in seconds. Returns true if the user quits.
        pub(super) fn draw_and_poll_quit(&mut self, rest: f64) -> bool {
            let Some(screen) = &mut self.screen else {
                return false;
            };
            let has_quit = screen.handle_input_and_draw(rest, out::stdout_is_writable());
            has_quit.unwrap_or_else(|_| {
                // If drawing fails, the trial continues without a screen.
                self.screen = None;
                false
            })
        }

        pub(super) fn cell_status_text(
            &self,
            block: usize,
            nth: usize,
            cells: usize,
            rest: f64,
        ) -> String {
            let says = format!("block {block}, measurement {nth} of {cells}");
            if !self.prints_lines {
                return says;
            }
            format!(
                "{says}; up to {:.0} min left; Ctrl-C stops and reports the result so far",
                rest / 60.0
            )
        }

        pub(super) fn show_record(&mut self, record: &TrialRecord) {
            if let Some(screen) = &mut self.screen {
                screen.set_record(record);
            }
        }
    }

    impl Drop for TrialProgressOutput {
        fn drop(&mut self) {
            if self.prints_lines {
                out::print_progress("");
            }
        }
    }
}
mod clear_disk {
    //! The process that wrote to the disk also clears the disk after a trial. If that process was
    //! killed, a new process clears the disk.

    use std::time::Duration;

    use super::preflight::disk::clear_disk_command;
    use super::progress::TrialProgressOutput;
    use crate::cli::{CliError, out};
    use crate::text;
    use crate::trial_runner::{EraseTarget, InspectedDisk, TrialEvent, TrialHandle};

    const CLEAR_TIMEOUT: Duration = Duration::from_secs(120);

    pub(super) fn close_trial_and_clear_disk(
        trial: TrialHandle,
        disk: Option<&EraseTarget>,
        show: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        let cleared =
            trial.end_trial_and_return_cleared(&mut |event| show_clear_progress(&event, show));
        let Some(disk) = disk.filter(|_| !cleared) else {
            return Ok(());
        };
        let node = &disk.node;
        let found = InspectedDisk::inspect(node)
            .map_err(|why| format!("trial data on {node} could not be cleared: {why}"))?;
        // A disk without the trial's mark needs no clearing.
        if found.leftover_mark.is_none() {
            return Ok(());
        }
        clear_disk(disk, show).map_err(|why| {
            format!(
                "{node} still holds trial data: {why}; to clear it: {}",
                clear_disk_command(disk)
            )
        })
    }

    pub(super) fn clear_disk_leftovers(disk: &EraseTarget) -> Result<(), CliError> {
        let mut progress = TrialProgressOutput::new();
        let done = clear_disk(disk, &mut |line| progress.show_status(line));
        drop(progress);
        done.map_err(anyhow::Error::msg)?;
        out::print_notice(&format!(
            "{} was cleared: its trial data was overwritten with zeros",
            disk.node
        ));
        Ok(())
    }

    fn clear_disk(disk: &EraseTarget, show: &mut dyn FnMut(&str)) -> Result<(), String> {
        let mut trial = TrialHandle::start_disk_clear(disk)
            .map_err(|e| format!("cannot start the clearing process: {e}"))?;
        loop {
            match trial.recv(CLEAR_TIMEOUT)? {
                Some(TrialEvent::Cleared) => return Ok(()),
                Some(TrialEvent::Failed(why)) => return Err(text::display_safe(why.as_bytes())),
                Some(event) => show_clear_progress(&event, show),
                None => return Err("the clearing process does not respond".to_owned()),
            }
        }
    }

    fn show_clear_progress(event: &TrialEvent, show: &mut dyn FnMut(&str)) {
        if let TrialEvent::Clearing(bytes) = event {
            show(&format!(
                "clearing the disk: {}",
                text::format_bytes(*bytes)
            ));
        }
    }
}
mod trial_loop;

use anyhow::anyhow;

use super::CliError;
use super::args::{TrialArgs, TrialFormat};
use super::out::{self, ExitResult, OutputTarget};
use crate::report::{html, json};
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
    let open_record = |path| {
        let wish = out::output_options(&args.output);
        Ok::<_, CliError>((path, out::open_destination(path, wish)?))
    };
    let kept = args.record.as_deref().map(open_record).transpose()?;
    let plan = preflight::plan_trial(args)?;
    preflight::show_costs_and_ask_consent(&plan, args)?;
    let (record, ended) = trial_loop::run_trial(plan, args.format)?;
    // The record is saved before the report is printed, so that an error of standard output does
    // not lose the result.
    let kept = kept.map_or(Ok(()), |(path, found)| {
        let done = found.commit(json::to_pretty_json(&record).as_bytes());
        done.map(|_| out::print_notice(&format!("saved: {}", display_path(path))))
    });
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

fn render_trial_record(record: &TrialRecord, format: TrialFormat) -> String {
    match format {
        TrialFormat::Text => trial_view(record).to_text(),
        TrialFormat::Markdown => trial_view(record).to_markdown(),
        TrialFormat::Html => html::trial::render_trial_page(record),
        TrialFormat::Json => json::to_pretty_json(record),
    }
}

fn refuse<T>(sentence: String) -> Result<T, CliError> {
    Err(CliError::Usage(sentence))
}
