//! Words for the rows of a screen, where the report's own sentences are too long. Everything else is said in the words of
//! the text report ([`crate::report::text::words`]).

use crate::facts::{Need, Subject};
use crate::rules::Risk;

/// What has to happen for it to take effect, or what is at stake.
pub fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::None => "at once",
        Risk::NeedsReload => "reload",
        Risk::NeedsRestart => "restart",
        Risk::NeedsRemount => "remount",
        Risk::NeedsNewFilesystem => "new file system",
        Risk::DataLossIfWrong => "data loss if wrong",
    }
}

/// A subject without its kind.
pub fn subject(subject: &Subject) -> String {
    if subject.name().is_empty() { subject.to_string() } else { subject.name().to_owned() }
}

/// What would supply a missing fact; empty when nothing is known to.
pub fn remedy(need: &Need) -> String {
    need.remedy.as_ref().map(ToString::to_string).unwrap_or_default()
}
