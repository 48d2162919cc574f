//! NVMe disks: `nvme id-ctrl` shows whether there is a volatile write cache,
//! `nvme get-feature -f 6` whether that cache is on, `nvme smart-log` warnings. Without nvme-cli,
//! `smartctl -H` shows the warnings.
//!
//! Output formats follow nvme-cli (nvme-print.c, `json_nvme_id_ctrl` and `json_smart_log`) and
//! smartmontools (nvmeprint.cpp). Newer versions print warnings as an object instead of a number.

use serde_json::Value as Json;

use super::{DriveFacts, DriveToolRunner, ToolOutput, capacitor, unknown_reading_of_refusal};
use crate::facts::Reading;
use crate::facts::catalog::device::{self, DriveCacheState, NvmeWarning};
use crate::host::Tool;

/// The bits of Critical Warning, from bit 0 on, with nvme-cli's keys.
const WARNINGS: [(NvmeWarning, &str); 6] = [
    (NvmeWarning::SpareLow, "available_spare"),
    (NvmeWarning::Temperature, "temp_threshold"),
    (NvmeWarning::Unreliable, "reliability_degraded"),
    (NvmeWarning::ReadOnly, "ro"),
    (NvmeWarning::MemoryBackupFailed, "vmbu_failed"),
    (NvmeWarning::PersistentMemory, "pmr_ro"),
];

pub fn query_drive(questions: &DriveToolRunner) -> DriveFacts {
    let mut drive = DriveFacts::default();
    let identity =
        questions.run_tool_unless_refused(Tool::Nvme, &["id-ctrl", "-o", "json"], &mut drive);
    let has_cache = match &identity {
        Ok(answer) => answer.reading_or_malformed(has_volatile_cache(&answer.json()), "`vwc`"),
        Err(refusal) => unknown_reading_of_refusal(refusal),
    };
    let awupf = match &identity {
        Ok(answer) => {
            answer.reading_or_absent(answer.json().get("awupf").and_then(Json::as_u64), "`awupf`")
        }
        Err(refusal) => unknown_reading_of_refusal(refusal),
    };
    let is_on = match (has_cache.value(), &identity) {
        (Some(false), _) => Reading::absent("the drive has no volatile cache"),
        (_, Err(refusal)) => unknown_reading_of_refusal(refusal),
        (_, Ok(_)) => {
            match questions.run_tool_unless_refused(
                Tool::Nvme,
                &["get-feature", "-f", "6", "-H"],
                &mut drive,
            ) {
                Ok(answer) => answer.reading_or_absent(
                    parse_write_cache_feature(&answer.text),
                    "whether the cache is on",
                ),
                Err(refusal) => unknown_reading_of_refusal(&refusal),
            }
        }
    };
    let warnings = match questions.run_tool_unless_refused(
        Tool::Nvme,
        &["smart-log", "-o", "json"],
        &mut drive,
    ) {
        Ok(answer) => {
            answer.reading_or_malformed(critical_warnings(&answer.json()), "`critical_warning`")
        }
        Err(refusal) => {
            let other = ["-q", "noserial", "-n", "standby", "-j", "-H"];
            match questions.run_tool_unless_refused(Tool::Smartctl, &other, &mut drive) {
                Ok(answer) => warnings_from_smartctl(&answer),
                Err(_) => unknown_reading_of_refusal(&refusal),
            }
        }
    };
    // If nvme-cli could not run `id-ctrl`, it cannot read the log page either.
    match &identity {
        Ok(_) => capacitor::query_capacitor(questions, &mut drive),
        Err(refusal) => capacitor::insert_refusal_for_all_facts(refusal, &mut drive),
    }
    drive.insert(&device::NVME_VOLATILE, has_cache);
    drive.insert(&device::NVME_AWUPF, awupf);
    drive.insert(&device::DRIVE_CACHE, is_on);
    drive.insert(&device::NVME_WARNINGS, warnings);
    drive
}

pub fn has_volatile_cache(identity: &Json) -> Option<bool> {
    Some(identity.get("vwc")?.as_u64()? & 1 == 1)
}

/// Parses the line `Volatile Write Cache Enable (WCE): Enabled`. `None` unless that line agrees
/// with the printed value of the feature.
pub fn parse_write_cache_feature(answer: &[u8]) -> Option<DriveCacheState> {
    let text = String::from_utf8_lossy(answer);
    let mut lines = text.lines().map(str::trim);
    let words = lines
        .clone()
        .find_map(|line| line.split_once("(WCE):"))?
        .1
        .trim();
    // nvme-cli prints the value with `%#x`, which prints zero without `0x`.
    let value = lines
        .find_map(|line| line.strip_prefix("get-feature:0x06")?.rsplit_once("value:"))?
        .1;
    let value = u32::from_str_radix(value.strip_prefix("0x").unwrap_or(value), 16).ok()?;
    match (words, value & 1) {
        ("Enabled", 1) => Some(DriveCacheState::On),
        ("Disabled", 0) => Some(DriveCacheState::Off),
        _ => None,
    }
}

/// The names of the active warnings. If an object's number and its bits differ, both count.
pub fn critical_warnings(log: &Json) -> Option<Vec<String>> {
    let field = log.get("critical_warning")?;
    if let Some(bits) = field.as_u64() {
        return Some(warning_names(bits));
    }
    let mut bits = field.get("value")?.as_u64()?;
    for (i, (_, key)) in WARNINGS.iter().enumerate() {
        bits |= field.get(key).and_then(Json::as_u64).unwrap_or(0).min(1) << i;
    }
    Some(warning_names(bits))
}

fn warnings_from_smartctl(answer: &ToolOutput) -> Reading<Vec<String>> {
    let bits = answer
        .json()
        .pointer("/smart_status/nvme/value")
        .and_then(Json::as_u64);
    answer.reading_or_malformed(bits.map(warning_names), "`smart_status/nvme`")
}

fn warning_names(bits: u64) -> Vec<String> {
    let known = WARNINGS
        .iter()
        .enumerate()
        .filter(|(i, _)| bits >> i & 1 == 1);
    let unknown = (bits >> WARNINGS.len() > 0).then(|| format!("bits {bits:#04x}"));
    known
        .map(|(_, (warning, _))| warning.to_string())
        .chain(unknown)
        .collect()
}
