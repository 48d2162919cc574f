//! NVMe disks: `nvme id-ctrl` for the volatile write cache, `nvme get-feature -f 6` for whether it
//! is on, `nvme smart-log` for warnings; `smartctl -H` for the warnings where nvme-cli is not
//! installed. The log page of the capacitor is read in [`super::capacitor`].
//!
//! Output formats follow nvme-cli (nvme-print.c, `json_nvme_id_ctrl` and `json_smart_log`) and
//! smartmontools (nvmeprint.cpp). Newer versions print the warnings as an object instead of a
//! number. A warning bit that is missing from the output does not mean *no warning*.

use serde_json::Value as Json;

use super::capacitor;
use super::questions::{DriveFacts, Questions, ToolOutput, unknown};
use crate::facts::catalog::device::{self, DriveCache, NvmeWarning};
use crate::facts::{Reading, Why};
use crate::host::Tool;

/// Bits of the critical warning, lowest first, each with its key in nvme-cli.
const WARNINGS: [(NvmeWarning, &str); 6] = [
    (NvmeWarning::SpareLow, "available_spare"),
    (NvmeWarning::Temperature, "temp_threshold"),
    (NvmeWarning::Unreliable, "reliability_degraded"),
    (NvmeWarning::ReadOnly, "ro"),
    (NvmeWarning::MemoryBackupFailed, "vmbu_failed"),
    (NvmeWarning::PersistentMemory, "pmr_ro"),
];

pub fn ask(questions: &Questions) -> DriveFacts {
    let mut drive = DriveFacts::default();
    let identity = questions.ask(Tool::Nvme, &["id-ctrl", "-o", "json"], &mut drive);
    let has_cache = match &identity {
        Ok(answer) => answer.required(volatile(&answer.json()), "`vwc`"),
        Err(refusal) => unknown(refusal),
    };
    let awupf = match &identity {
        Ok(answer) => answer.reading(answer.json().get("awupf").and_then(Json::as_u64), "`awupf`"),
        Err(refusal) => unknown(refusal),
    };
    let is_on = match (has_cache.value(), &identity) {
        (Some(false), _) => Reading::unknown(
            Why::Absent,
            "it has no volatile cache that could be on or off",
        ),
        (_, Err(refusal)) => unknown(refusal),
        (_, Ok(_)) => {
            match questions.ask(Tool::Nvme, &["get-feature", "-f", "6", "-H"], &mut drive) {
                Ok(answer) => answer.reading(switched(&answer.text), "whether the cache is on"),
                Err(refusal) => unknown(&refusal),
            }
        }
    };
    let warnings = match questions.ask(Tool::Nvme, &["smart-log", "-o", "json"], &mut drive) {
        Ok(answer) => answer.required(warnings(&answer.json()), "`critical_warning`"),
        Err(refusal) => {
            let other = ["-q", "noserial", "-n", "standby", "-j", "-H"];
            match questions.ask(Tool::Smartctl, &other, &mut drive) {
                Ok(answer) => by_smartctl(&answer),
                Err(_) => unknown(&refusal),
            }
        }
    };
    // Without nvme-cli the second question would be refused like the first.
    match &identity {
        Ok(_) => capacitor::ask(questions, &mut drive),
        Err(refusal) => capacitor::leave(refusal, &mut drive),
    }
    drive.put(&device::NVME_VOLATILE, has_cache);
    drive.put(&device::NVME_AWUPF, awupf);
    drive.put(&device::DRIVE_CACHE, is_on);
    drive.put(&device::NVME_WARNINGS, warnings);
    drive
}

/// Bit 0 of the field VWC.
pub fn volatile(identity: &Json) -> Option<bool> {
    Some(identity.get("vwc")?.as_u64()? & 1 == 1)
}

/// `Volatile Write Cache Enable (WCE): Enabled`, below the feature's number and value, which has to
/// agree.
pub fn switched(answer: &[u8]) -> Option<DriveCache> {
    let text = String::from_utf8_lossy(answer);
    let mut lines = text.lines().map(str::trim);
    let words = lines
        .clone()
        .find_map(|line| line.split_once("(WCE):"))?
        .1
        .trim();
    // Printed as `%#x`, so zero has no 0x before it.
    let value = lines
        .find_map(|line| line.strip_prefix("get-feature:0x06")?.rsplit_once("value:"))?
        .1;
    let value = u32::from_str_radix(value.strip_prefix("0x").unwrap_or(value), 16).ok()?;
    match (words, value & 1) {
        ("Enabled", 1) => Some(DriveCache::On),
        ("Disabled", 0) => Some(DriveCache::Off),
        _ => None,
    }
}

/// The warnings of `nvme smart-log`: a number, or an object with the number and each bit.
pub fn warnings(log: &Json) -> Option<Vec<String>> {
    let field = log.get("critical_warning")?;
    if let Some(bits) = field.as_u64() {
        return Some(of_bits(bits));
    }
    let mut bits = field.get("value")?.as_u64()?;
    for (i, (_, key)) in WARNINGS.iter().enumerate() {
        bits |= field.get(key).and_then(Json::as_u64).unwrap_or(0).min(1) << i;
    }
    Some(of_bits(bits))
}

/// The number that smartctl gives for the same.
fn by_smartctl(answer: &ToolOutput) -> Reading<Vec<String>> {
    let bits = answer
        .json()
        .pointer("/smart_status/nvme/value")
        .and_then(Json::as_u64);
    answer.required(bits.map(of_bits), "`smart_status/nvme`")
}

fn of_bits(bits: u64) -> Vec<String> {
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
