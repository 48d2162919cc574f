//! `walwise trial`: candidate file systems made, mounted and measured side by side on a loop file or a spare disk.
//!
//! Nothing is written before it is said what, and allowed. What may be said of the figures is decided in
//! [`crate::trial`]; this module asks, runs and delivers.

mod before;
mod progress;
mod after;
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
    let kept = args.record.as_deref().map(|path| out::destination(path, wish(args))).transpose()?;
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
        during::Ended::Signal(number) => {
            Err(CliError::Signal(number, Some("the report covers what was measured until then".into())))
        }
        during::Ended::Failed(why) => Err(anyhow!("the trial ended early: {why}").into()),
    }
}

fn wish(args: &Trial) -> Wish {
    Wish { access: args.output.output_mode.unwrap_or(Access::Usual), ..Wish::default() }
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
