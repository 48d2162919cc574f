//! The write cache flag alone, as hdparm (SATA), sdparm (SCSI) and smartctl's text print it.
//!
//! Words follow hdparm (hdparm.c), sdparm (the mode page *Caching*) and smartmontools (scsiprint.cpp, ataprint.cpp). A
//! SATA disk behind a SAS controller answers both hdparm and sdparm, so the first tool that knows the flag decides.

use super::questions::{DriveFacts, Questions, unknown};
use crate::facts::Reading;
use crate::facts::catalog::device::{self, DriveCache};
use crate::host::Tool;

const SMARTCTL: (Tool, &[&str]) = (Tool::Smartctl, &["-q", "noserial", "-n", "standby", "-g", "wcache"]);
const SDPARM: (Tool, &[&str]) = (Tool::Sdparm, &["--get=WCE"]);
const HDPARM: (Tool, &[&str]) = (Tool::Hdparm, &["-W"]);

/// Asks a disk that appears as a SCSI disk and may be none.
pub fn ask_shown(questions: &Questions) -> DriveFacts {
    let mut drive = DriveFacts::default();
    let cache = first(questions, &[SDPARM, SMARTCTL], None, &mut drive);
    drive.put(&device::DRIVE_CACHE, cache);
    drive
}

/// Asks a physical disk with any tool that knows the flag; `otherwise` is recorded where none does.
pub fn by_any(
    questions: &Questions,
    otherwise: Reading<DriveCache>,
    drive: &mut DriveFacts,
) -> Reading<DriveCache> {
    first(questions, &[SMARTCTL, SDPARM, HDPARM], Some(otherwise), drive)
}

fn first(
    questions: &Questions,
    tools: &[(Tool, &[&str])],
    otherwise: Option<Reading<DriveCache>>,
    drive: &mut DriveFacts,
) -> Reading<DriveCache> {
    let mut why = otherwise;
    for (tool, words) in tools {
        let reading = match questions.ask(*tool, words, drive) {
            Ok(answer) => answer.reading(flag(&answer.text), "the write cache"),
            Err(refusal) => unknown(&refusal),
        };
        if reading.is_known() {
            return reading;
        }
        why = why.or(Some(reading));
    }
    why.unwrap_or_else(Reading::not_collected)
}

/// The flag in any of their texts; two lines that differ say nothing.
pub fn flag(answer: &[u8]) -> Option<DriveCache> {
    let text = String::from_utf8_lossy(answer);
    let mut found: Option<DriveCache> = None;
    for line in text.lines() {
        let Some(cache) = in_line(line.trim()) else { continue };
        if found.is_some_and(|before| before != cache) {
            return None;
        }
        found = Some(cache);
    }
    found
}

fn in_line(line: &str) -> Option<DriveCache> {
    if let Some(value) =
        line.strip_prefix("write-caching").and_then(|rest| rest.trim_start().strip_prefix('='))
    {
        return match value.trim() {
            "1 (on)" => Some(DriveCache::On),
            "0 (off)" => Some(DriveCache::Off),
            _ => None,
        };
    }
    let cache = line.strip_prefix("Writeback Cache is:").or_else(|| line.strip_prefix("Write cache is:"));
    if let Some(value) = cache {
        return match value.trim() {
            "Enabled" => Some(DriveCache::On),
            "Disabled" => Some(DriveCache::Off),
            _ => None,
        };
    }
    let mut words = line.strip_prefix("WCE")?.split_whitespace();
    match (line.as_bytes().get(3), words.next()) {
        (Some(b' '), Some("1")) => Some(DriveCache::On),
        (Some(b' '), Some("0")) => Some(DriveCache::Off),
        _ => None,
    }
}
