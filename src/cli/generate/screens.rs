//! Pictures of the screens: the host is read as usual, a measurement is added, and the screens draw the report.

use std::path::Path;

use anyhow::Context;

use super::file::OutputFile;
use crate::cli::CliError;
use crate::cli::args::Screens;
use crate::cli::{host, input};
use crate::facts::Subject;
use crate::measure::{Measurement, histogram, quantiles_of};
use crate::pipeline::{self, Session};
use crate::report::{Report, html};
use crate::text;
use crate::ui;

/// The largest output of `walwise probe` that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// The pictures that the arguments request.
pub(super) fn drawn(args: &Screens) -> Result<Vec<OutputFile>, CliError> {
    let rules = host::rules(args.from.rules.as_deref())?;
    let session = host::look(&args.from, args.target.as_deref(), rules)?;
    let measured = args.measured.as_deref().map(read).transpose()?;
    Ok(pictures(session, measured, (args.columns, args.rows)))
}

fn read(file: &Path) -> Result<Measurement, CliError> {
    let unusable = |why: String| CliError::Usage(format!("cannot use {}: {why}", file.display()));
    let bytes = input::bytes(file, LARGEST).map_err(|error| unusable(text::error_words(&error)))?;
    measurement(&bytes).map_err(|error| unusable(format!("{error:#}")))
}

/// A measurement, as `walwise probe --format json` printed it.
pub fn measurement(bytes: &[u8]) -> anyhow::Result<Measurement> {
    serde_json::from_slice(bytes).context("it is not what `walwise probe --format json` prints")
}

/// A picture of every screen on a terminal of this size, columns first. The measurement is assigned to the first
/// directory.
pub fn pictures(mut session: Session, measured: Option<Measurement>, size: (u16, u16)) -> Vec<OutputFile> {
    let target: Option<Subject> = pipeline::measurable(&session.judged().0).into_iter().next();
    let mut times = Vec::new();
    if let (Some(target), Some(measurement)) = (target, measured) {
        times = default_times(&measurement);
        session.measured.insert(target, measurement);
    }
    ui::pictures(session.report(), histogram(&times), size)
}

/// The report on the first directory as one page, with this measurement; as it was made when that began, so that the same
/// measurement has the same page.
pub fn page(mut session: Session, mut measured: Measurement) -> String {
    for row in measured.methods.iter_mut().filter(|row| row.quantiles_us.is_empty()) {
        row.quantiles_us = quantiles_of(&row.samples_us.concat());
        row.samples_us.clear();
    }
    let when = measured.when.clone();
    if let Some(target) = pipeline::measurable(&session.judged().0).into_iter().next() {
        session.measured.insert(target, measured);
    }
    session.traced = false;
    html::render(&Report { when, ..session.report() })
}

/// The times of one-page commits with the default, where the measurement holds them.
fn default_times(measurement: &Measurement) -> Vec<f64> {
    let default = measurement.comparisons.first().map_or(measurement.best, |of| of.against);
    let row = measurement.methods.iter().find(|row| row.method == default && row.pages == 1);
    row.map(|row| row.samples_us.concat()).unwrap_or_default()
}
