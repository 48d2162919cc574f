//! `walwise show`: a kept report from its file, told again. Nothing is looked at.

use super::CliError;
use super::args::{Show, ShowFormat};
use super::input;
use super::out::{Delivery, ExitResult};
use crate::report::KeptReport;
use crate::report::difference::LARGEST;
use crate::text;

pub(super) fn run(args: &Show) -> ExitResult {
    let delivery = Delivery::find(&args.output, false)?;
    let refuse = |what: String| CliError::Usage(format!("cannot show {}: {what}", args.report.display()));
    let document = input::open(&args.report, LARGEST).map_err(|error| refuse(text::error_words(&error)))?;
    let kept = KeptReport::read(document).map_err(|error| refuse(error.to_string()))?;
    delivery.deliver(&match args.format {
        ShowFormat::Text => kept.text(),
        ShowFormat::Json => kept.json().to_owned(),
        ShowFormat::Markdown => kept.markdown(),
        ShowFormat::Html => kept.html(),
    })
}
