//! The parser of MegaCli's `-LDInfo -Lall -aALL` and `-AdpBbuCmd -GetBbuStatus -aALL`.
//!
//! Output formats follow glensc/nagios-plugin-check_raid, t/data/megacli. Configured and current
//! policy are printed separately. A current *WriteThrough* under a configured *WriteBack* means
//! that the controller fell back because of its battery.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{
    DISK_CACHE, ToolOutputFields, display_safe_lines, fields_by_heading, listed,
    to_single_spaced_lowercase,
};
use super::report::{
    Adapter, FieldReading, Volume, conflicting, not_reported, worst_reading,
    write_back_policy_by_failure_policy,
};
use super::synonyms::{MEGARAID, canonical_key_of_synonym};
use super::{ToolQueryResult, megaraid_battery, run_tool_command};
use crate::facts::catalog::controller::{
    BatteryCondition, BatteryFailurePolicy, CachePolicy, CachePolicyInForce, MemberDiskCache,
};
use crate::host::{Host, Tool};

pub fn query_adapters(host: &dyn Host, tool: Tool) -> ToolQueryResult {
    const VOLUMES: &str = "-LDInfo -Lall -aALL -NoLog";
    let volumes = run_tool_command(host, tool, VOLUMES)?;
    let batteries =
        run_tool_command(host, tool, "-AdpBbuCmd -GetBbuStatus -aALL -NoLog").unwrap_or_default();
    Ok((parse_adapters(&volumes, &batteries), VOLUMES))
}

/// Neither answer contains a PCI address or a model.
pub fn parse_adapters(volumes: &[u8], batteries: &[u8]) -> Vec<Adapter> {
    let volumes = parse_volumes(volumes);
    let batteries = parse_batteries(batteries);
    let names: BTreeSet<&String> = volumes.keys().chain(batteries.keys()).collect();
    let adapter = |name: &String| Adapter {
        volumes: volumes.get(name).cloned().unwrap_or_default(),
        battery: batteries
            .get(name)
            .map_or_else(|| not_reported("BBU status"), battery_state),
        ..Adapter::name_only(name.clone(), not_reported(""))
    };
    names.into_iter().map(adapter).collect()
}

const HEADINGS: [&str; 3] = [
    "Virtual Drive:",
    "Virtual Disk:",
    "CacheCade Virtual Drive:",
];

fn parse_volumes(answer: &[u8]) -> BTreeMap<String, Vec<Volume>> {
    let mut adapter = None;
    let sections = fields_by_heading(answer, MEGARAID, |line| {
        let line = line.trim();
        if let Some(number) = parse_adapter_number(line) {
            adapter = Some(number);
            return Some(None);
        }
        let is_volume = HEADINGS.iter().any(|heading| line.starts_with(heading));
        is_volume.then(|| adapter.clone().map(|adapter| (adapter, line.to_owned())))
    });
    let mut adapters: BTreeMap<String, Vec<Volume>> = BTreeMap::new();
    for (heading, fields) in sections {
        if let Some((adapter, heading)) = heading {
            let volume = parse_volume(&heading, &fields);
            adapters.entry(adapter).or_default().push(volume);
        }
    }
    adapters
}

/// The number in a heading such as `Adapter 0 -- Virtual Drive Information:`.
fn parse_adapter_number(line: &str) -> Option<String> {
    let (number, _) = line.strip_prefix("Adapter ")?.split_once(" -- ")?;
    Some(number.trim().to_owned())
}

const WITH_BAD_BATTERY: [(&str, BatteryFailurePolicy); 2] = [
    ("write cache ok if bad bbu", BatteryFailurePolicy::Stays),
    (
        "no write cache if bad bbu",
        BatteryFailurePolicy::WriteThrough,
    ),
];

fn parse_volume(heading: &str, fields: &ToolOutputFields) -> Volume {
    let number = heading
        .split_once(':')
        .map(|(_, rest)| rest.trim())
        .unwrap_or_default();
    let heading = to_single_spaced_lowercase(heading);
    let target = heading
        .split_once("(target id:")
        .and_then(|(_, rest)| rest.split_once(')'));
    let number = number.split_whitespace().next().unwrap_or_default();
    let set = parse_one_of_two(
        fields,
        "default cache policy",
        [
            ("writeback", CachePolicy::WriteBack),
            ("writethrough", CachePolicy::WriteThrough),
        ],
    );
    let now = parse_one_of_two(
        fields,
        "current cache policy",
        [
            ("writeback", CachePolicyInForce::WriteBack),
            ("writethrough", CachePolicyInForce::WriteThrough),
        ],
    );
    let on_failure = worst_reading(
        "write cache if bad BBU",
        ["current cache policy", "default cache policy"]
            .map(|key| parse_one_of_two(fields, key, WITH_BAD_BATTERY)),
    );
    let policy = if set == Ok(CachePolicy::WriteBack) && now.is_ok() {
        on_failure.clone().map(write_back_policy_by_failure_policy)
    } else if set == Ok(CachePolicy::WriteThrough) && now == Ok(CachePolicyInForce::WriteBack) {
        conflicting(
            "`Default Cache Policy` is `WriteThrough`, but `Current Cache Policy` is `WriteBack`",
        )
    } else {
        now.clone().and(on_failure.clone()).and(set.clone())
    };
    Volume {
        target: target.and_then(|(number, _)| number.trim().parse().ok()),
        policy,
        // A current *write back* always counts, a current *write through* only if the configured
        // policy is known.
        in_force: if now == Ok(CachePolicyInForce::WriteThrough) {
            set.and(now)
        } else {
            now
        },
        on_failure,
        disk_cache: disk_cache(fields),
        ..Volume::name_only(format!("VD {number}"))
    }
}

/// A CacheCade SSD counts as *disk default*, because MegaCli does not print its cache.
fn disk_cache(fields: &ToolOutputFields) -> FieldReading<MemberDiskCache> {
    let of_disks = fields.parse_lowercase_value("disk cache policy", listed(DISK_CACHE));
    let of_ssd = fields.parse_optional_value("is vd cached", listed("megacli: is vd cached"));
    worst_reading("disk cache", [of_disks].into_iter().chain(of_ssd))
}

fn parse_one_of_two<T: Copy>(
    fields: &ToolOutputFields,
    key: &str,
    [(one, first), (other, second)]: [(&str, T); 2],
) -> FieldReading<T> {
    fields.parse_lowercase_value(key, |text| {
        let has = |name: &str| {
            text.split(',').any(|word| {
                canonical_key_of_synonym(MEGARAID, &to_single_spaced_lowercase(word)) == name
            })
        };
        match (has(one), has(other)) {
            (true, false) => Some(first),
            (false, true) => Some(second),
            _ => None,
        }
    })
}

const FAILED: &str = "get bbu status failed";
const NOT_PRESENT: &str = "required hardware component is not present";

/// The lines `FAILED` and `NOT_PRESENT` become fields without a value.
fn parse_batteries(answer: &[u8]) -> BTreeMap<String, ToolOutputFields> {
    let mut adapters: BTreeMap<String, ToolOutputFields> = BTreeMap::new();
    let mut at = None;
    for line in display_safe_lines(answer) {
        let line = line.trim();
        let number = line.strip_prefix("BBU status for Adapter:").or_else(|| {
            let (number, _) = line.strip_prefix("Adapter ")?.split_once(':')?;
            Some(number)
        });
        at = number.map(|number| number.trim().to_owned()).or(at);
        let Some(at) = at.clone() else { continue };
        let fields = adapters
            .entry(at)
            .or_insert_with(|| ToolOutputFields::with_synonyms(MEGARAID));
        let words = to_single_spaced_lowercase(line);
        if let Some(refusal) = [FAILED, NOT_PRESENT]
            .iter()
            .find(|says| words.contains(**says))
        {
            fields.insert_or_conflict(refusal, String::new());
        }
        // MegaCli prints measured values before the flags, under the same names, so numbers are
        // skipped.
        let measured = line
            .split_once(':')
            .is_some_and(|(_, value)| value.trim().starts_with(|c: char| c.is_ascii_digit()));
        if !measured {
            fields.add_line(line);
        }
    }
    adapters
}

fn battery_state(fields: &ToolOutputFields) -> FieldReading<BatteryCondition> {
    if fields.contains_key(NOT_PRESENT) {
        return Ok(BatteryCondition::Absent);
    }
    if fields.contains_key(FAILED) {
        return Ok(BatteryCondition::Unreadable);
    }
    let state = fields.parse_lowercase_value("battery state", megaraid_battery::parse_state);
    // Only some firmware prints `isSOHGood`, so a missing line is not an error.
    let health = fields.parse_optional_value("issohgood", listed("megacli: issohgood"));
    let flags = megaraid_battery::parse_battery_flags(fields);
    worst_reading("battery", [state, flags].into_iter().chain(health))
}
