//! The report's values as the few words a row has room for. Whole sentences come from the report itself.

use crate::facts::{Need, Reading, Subject, Value};
use crate::rules::{Advice, Change, Reach, Risk};

/// What it is now → what it should be.
pub fn change(advice: &Advice) -> String {
    let current = current(&advice.current);
    match &advice.change {
        Change::Set(value) => format!("{current} → {value}"),
        Change::Add(words) => format!("add {}", words.join(",")),
        Change::Remove(words) => format!("remove {}", words.join(",")),
        Change::Keep => format!("keep {current}"),
    }
}

/// The value in force, or that it is unknown.
pub fn current(reading: &Reading<Value>) -> String {
    reading.value().map_or_else(|| "unknown".to_owned(), ToString::to_string)
}

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

/// Who else is affected.
pub fn reach(reach: Reach) -> &'static str {
    match reach {
        Reach::ThisMount => "this mount",
        Reach::WholeFilesystem => "whole file system",
        Reach::NewFiles => "new files",
        Reach::Server => "server",
        Reach::Device => "device",
        Reach::NextBoot => "next boot",
    }
}

/// A subject without its kind where the name says enough.
pub fn subject(subject: &Subject) -> String {
    if subject.name().is_empty() { subject.to_string() } else { subject.name().to_owned() }
}

/// Why a fact is missing.
pub fn missing(need: &Need) -> String {
    if need.detail.is_empty() { need.why.to_string() } else { format!("{}: {}", need.why, need.detail) }
}

/// What would supply it; empty when nothing is known to.
pub fn remedy(need: &Need) -> String {
    need.remedy.as_ref().map(ToString::to_string).unwrap_or_default()
}
