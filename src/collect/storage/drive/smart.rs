//! SATA and SAS disks: `smartctl -i -g wcache` for write cache, rotation speed and zones; hdparm or sdparm for the
//! cache where smartctl does not print it.
//!
//! Keys follow smartmontools (ataprint.cpp, scsiprint.cpp). Serial numbers are not requested (`-q noserial`), and a
//! disk in standby stays there (`-n standby`). For a SAS disk smartctl prints the cache only in its text, not in its
//! JSON.

use serde_json::Value as Json;

use super::flag;
use super::questions::{DriveFacts, Questions, ToolOutput, unknown};
use crate::facts::catalog::device::{self, DriveCache, Shingled};
use crate::facts::{Reading, Remedy, Why};
use crate::host::Tool;

pub fn ask(questions: &Questions) -> DriveFacts {
    let mut drive = DriveFacts::default();
    let words = ["-q", "noserial", "-n", "standby", "-j", "-i", "-g", "wcache"];
    let answer = match questions.ask(Tool::Smartctl, &words, &mut drive) {
        Ok(answer) => answer,
        Err(refusal) => {
            drive.put(&device::RPM, unknown(&refusal));
            drive.put(&device::SHINGLED, unknown(&refusal));
            let cache = flag::by_any(questions, unknown(&refusal), &mut drive);
            drive.put(&device::DRIVE_CACHE, cache);
            return drive;
        }
    };
    let json = answer.json();
    if sleeps(&json) {
        drive.put(&device::RPM, asleep(&answer));
        drive.put(&device::SHINGLED, asleep(&answer));
        drive.put(&device::DRIVE_CACHE, asleep(&answer));
        return drive;
    }
    let cache = match cache(&json) {
        Some(cache) => Reading::known(cache, answer.source()),
        None => flag::by_any(questions, answer.reading(None, "the write cache"), &mut drive),
    };
    drive.put(&device::DRIVE_CACHE, cache);
    drive.put(&device::RPM, rpm(&answer, &json));
    if hides_zones(&json) {
        drive.put(&device::SHINGLED, Reading::known(Shingled::DriveManaged, answer.source()));
    }
    drive
}

pub fn cache(json: &Json) -> Option<DriveCache> {
    Some(if json.pointer("/write_cache/enabled")?.as_bool()? { DriveCache::On } else { DriveCache::Off })
}

fn rpm(answer: &ToolOutput, json: &Json) -> Reading<u64> {
    match json.get("rotation_rate").and_then(Json::as_u64) {
        Some(0) => Reading::unknown(Why::Absent, format!("`{}`: nothing in it turns", answer.argv)),
        rate => answer.reading(rate, "a speed of rotation"),
    }
}

/// Whether the disk writes in zones that it shows to nobody: by what it says, or by smartmontools' list of models.
pub fn hides_zones(json: &Json) -> bool {
    let says = |at: &str, word: &str| {
        json.pointer(at).and_then(Json::as_str).is_some_and(|text| text.contains(word))
    };
    let scsi = json.get("scsi_Device managed zoned block capable").and_then(Json::as_bool);
    says("/zoned_device/capabilities", "device_managed")
        || says("/model_family", "(SMR)")
        || scsi == Some(true)
}

/// Whether smartctl left it alone because it sleeps: `Device is in STANDBY mode, exit(2)`.
pub fn sleeps(json: &Json) -> bool {
    let messages = json.pointer("/smartctl/messages").and_then(Json::as_array);
    let text = |message: &Json| message.get("string").and_then(Json::as_str).map(str::to_owned);
    messages
        .into_iter()
        .flatten()
        .filter_map(text)
        .any(|text| text.starts_with("Device is in ") && (text.contains("STANDBY") || text.contains("SLEEP")))
}

fn asleep<T>(answer: &ToolOutput) -> Reading<T> {
    Reading::unknown(Why::NotCollected, format!("`{}`: the disk sleeps and was not woken", answer.argv))
        .or_try(Remedy::Do("read something from the disk to wake it, and check again".to_owned()))
}
