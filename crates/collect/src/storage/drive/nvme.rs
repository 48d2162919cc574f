//! NVMe disks: `nvme id-ctrl` shows whether there is a volatile write cache,
//! `nvme get-feature -f 6` whether that cache is on, `nvme smart-log` warnings. Without nvme-cli,
//! `smartctl -H` shows the warnings.
//!
//! Output formats follow nvme-cli (nvme-print.c, `json_nvme_id_ctrl` and `json_smart_log`) and
//! smartmontools (nvmeprint.cpp). Newer versions print warnings as an object instead of a number.

use serde_json::Value as Json;

use super::{DriveToolRunner, capacitor, value_or_absent, value_or_malformed};
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

pub fn query_drive(runner: &mut DriveToolRunner) {
    let identity = runner.run_tool_for_json(Tool::Nvme, &["id-ctrl", "-o", "json"]);
    let has_cache = value_or_malformed(&identity, has_volatile_cache, "`vwc`");
    let is_on = if has_cache.value() == Some(&false) {
        Reading::absent("the drive has no volatile write cache")
    } else {
        identity.as_ref().and_then_reading(|_, _| {
            value_or_absent(
                &runner.run_tool(Tool::Nvme, &["get-feature", "-f", "6", "-H"]),
                |answer| parse_write_cache_feature(answer),
                "whether the volatile write cache is on",
            )
        })
    };
    let log = runner.run_tool_for_json(Tool::Nvme, &["smart-log", "-o", "json"]);
    let mut warnings = value_or_malformed(&log, critical_warnings, "`critical_warning`");
    if !log.is_known() {
        let words = ["-q", "noserial", "-n", "standby", "-j", "-H"];
        let other = runner.run_tool_for_json(Tool::Smartctl, &words);
        if other.is_known() {
            warnings = value_or_malformed(&other, warnings_from_smartctl, "`smart_status/nvme`");
        }
    }
    capacitor::query_capacitor(runner, &identity);
    let awupf = |identity: &Json| identity.get("awupf")?.as_u64();
    runner.insert(
        &device::NVME_AWUPF,
        value_or_absent(&identity, awupf, "`awupf`"),
    );
    runner.insert(&device::NVME_VOLATILE, has_cache);
    runner.insert(&device::DRIVE_CACHE, is_on);
    runner.insert(&device::NVME_WARNINGS, warnings);
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

fn warnings_from_smartctl(answer: &Json) -> Option<Vec<String>> {
    let bits = answer.pointer("/smart_status/nvme/value")?.as_u64()?;
    Some(warning_names(bits))
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
