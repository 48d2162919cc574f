//! The parser of MegaCli's `-LDInfo -Lall -aALL` and `-AdpBbuCmd -GetBbuStatus -aALL`.
//!
//! Output formats follow glensc/nagios-plugin-check_raid, t/data/megacli. Configured and current
//! policy are printed separately. A current *WriteThrough* under a configured *WriteBack* means
//! that the controller fell back because of its battery.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{ToolOutputFields, display_safe_lines, to_single_spaced_lowercase};
use super::report::{
    Adapter, FieldReading, Volume, worst_reading, write_back_policy_by_failure_policy,
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
            .map_or_else(|| FieldReading::not_reported("BBU status"), battery_state),
        ..Adapter::name_only(name.clone(), FieldReading::not_reported(""))
    };
    names.into_iter().map(adapter).collect()
}

const HEADINGS: [&str; 3] = [
    "Virtual Drive:",
    "Virtual Disk:",
    "CacheCade Virtual Drive:",
];

fn parse_volumes(answer: &[u8]) -> BTreeMap<String, Vec<Volume>> {
    let mut adapters: BTreeMap<String, Vec<Volume>> = BTreeMap::new();
    let mut adapter = None;
    let mut open: Option<(String, ToolOutputFields)> = None;
    let mut close = |adapter: &Option<String>, open: &mut Option<(String, ToolOutputFields)>| {
        if let (Some(adapter), Some((heading, fields))) = (adapter, open.take()) {
            adapters
                .entry(adapter.clone())
                .or_default()
                .push(parse_volume(&heading, &fields));
        }
    };
    for line in display_safe_lines(answer) {
        let line = line.trim();
        if let Some(number) = parse_adapter_number(line) {
            close(&adapter, &mut open);
            adapter = Some(number);
        } else if HEADINGS.iter().any(|heading| line.starts_with(heading)) {
            close(&adapter, &mut open);
            open = Some((line.to_owned(), ToolOutputFields::with_synonyms(MEGARAID)));
        } else if let Some((_, fields)) = &mut open {
            fields.add_line(line);
        }
    }
    close(&adapter, &mut open);
    adapters
}

/// The number in a heading such as `Adapter 0 -- Virtual Drive Information:`.
fn parse_adapter_number(line: &str) -> Option<String> {
    let (number, _) = line.strip_prefix("Adapter ")?.split_once(" -- ")?;
    Some(number.trim().to_owned())
}

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
    let set = parse_cache_mode(
        fields,
        "default cache policy",
        CachePolicy::WriteBack,
        CachePolicy::WriteThrough,
    );
    let now = parse_cache_mode(
        fields,
        "current cache policy",
        CachePolicyInForce::WriteBack,
        CachePolicyInForce::WriteThrough,
    );
    let (kept, keeps) = (
        parse_battery_failure_policy(fields, "default cache policy"),
        parse_battery_failure_policy(fields, "current cache policy"),
    );
    let on_failure = match (kept.value(), keeps.value()) {
        (
            Some(BatteryFailurePolicy::Stays),
            Some(BatteryFailurePolicy::Stays | BatteryFailurePolicy::WriteThrough) | None,
        )
        | (Some(BatteryFailurePolicy::WriteThrough) | None, Some(BatteryFailurePolicy::Stays)) => {
            FieldReading::Value(BatteryFailurePolicy::Stays)
        }
        (
            Some(BatteryFailurePolicy::WriteThrough) | None,
            Some(BatteryFailurePolicy::WriteThrough) | None,
        ) => kept.only_if_other_is_known(&keeps),
    };
    let policy = match (set.value(), now.value()) {
        (
            Some(CachePolicy::WriteBack | CachePolicy::AlwaysWriteBack),
            Some(CachePolicyInForce::WriteBack | CachePolicyInForce::WriteThrough),
        ) => on_failure.clone().map(write_back_policy_by_failure_policy),
        (Some(CachePolicy::WriteThrough), Some(CachePolicyInForce::WriteBack)) => {
            FieldReading::conflicting(
                "`Default Cache Policy` is WriteThrough, `Current Cache Policy` WriteBack",
            )
        }
        (Some(CachePolicy::WriteThrough), Some(CachePolicyInForce::WriteThrough) | None)
        | (Some(CachePolicy::WriteBack | CachePolicy::AlwaysWriteBack), None)
        | (None, Some(CachePolicyInForce::WriteBack | CachePolicyInForce::WriteThrough) | None) => {
            set.clone()
                .only_if_other_is_known(&on_failure)
                .only_if_other_is_known(&now)
        }
    };
    Volume {
        name: format!("VD {number}"),
        target: target.and_then(|(number, _)| number.trim().parse().ok()),
        node: None,
        wwn: None,
        policy,
        // A current *write back* always counts, a current *write through* only if the configured
        // policy is known.
        in_force: match now {
            FieldReading::Value(CachePolicyInForce::WriteBack) => now,
            FieldReading::Value(CachePolicyInForce::WriteThrough) | FieldReading::Missing(..) => {
                now.only_if_other_is_known(&set)
            }
        },
        on_failure,
        disk_cache: disk_cache(fields),
    }
}

/// A CacheCade SSD counts as *disk default*, because MegaCli does not print its cache.
fn disk_cache(fields: &ToolOutputFields) -> FieldReading<MemberDiskCache> {
    const CACHED: &str = "is vd cached";
    let of_disks = fields.parse_lowercase_value("disk cache policy", |word| match word {
        "disabled" => Some(MemberDiskCache::Off),
        "enabled" => Some(MemberDiskCache::On),
        "disk's default" => Some(MemberDiskCache::DiskDefault),
        _ => None,
    });
    let of_ssd = fields.contains_key(CACHED).then(|| {
        fields.parse_lowercase_value(CACHED, |word| match word {
            "no" => Some(MemberDiskCache::Off),
            "yes" => Some(MemberDiskCache::DiskDefault),
            _ => None,
        })
    });
    worst_reading(std::iter::once(of_disks).chain(of_ssd))
}

fn policy_names(text: &str) -> Vec<String> {
    text.split(',')
        .map(|word| {
            canonical_key_of_synonym(MEGARAID, &to_single_spaced_lowercase(word)).to_owned()
        })
        .collect()
}

fn parse_cache_mode<T: Copy>(
    fields: &ToolOutputFields,
    key: &str,
    back: T,
    through: T,
) -> FieldReading<T> {
    fields.parse_lowercase_value(key, |text| {
        let words = policy_names(text);
        let has = |word: &str| words.iter().any(|other| other == word);
        match (has("writeback"), has("writethrough")) {
            (true, false) => Some(back),
            (false, true) => Some(through),
            _ => None,
        }
    })
}

fn parse_battery_failure_policy(
    fields: &ToolOutputFields,
    key: &str,
) -> FieldReading<BatteryFailurePolicy> {
    fields.parse_lowercase_value(key, |text| {
        let words = policy_names(text);
        let has = |word: &str| words.iter().any(|other| other == word);
        match (
            has("write cache ok if bad bbu"),
            has("no write cache if bad bbu"),
        ) {
            (true, false) => Some(BatteryFailurePolicy::Stays),
            (false, true) => Some(BatteryFailurePolicy::WriteThrough),
            _ => None,
        }
    })
}

struct BatteryReport {
    fields: ToolOutputFields,
    failed: bool,
    not_present: bool,
}

impl Default for BatteryReport {
    fn default() -> Self {
        Self {
            fields: ToolOutputFields::with_synonyms(MEGARAID),
            failed: false,
            not_present: false,
        }
    }
}

fn parse_batteries(answer: &[u8]) -> BTreeMap<String, BatteryReport> {
    let mut adapters: BTreeMap<String, BatteryReport> = BTreeMap::new();
    let mut at: Option<String> = None;
    for line in display_safe_lines(answer) {
        let line = line.trim();
        if let Some(number) = line.strip_prefix("BBU status for Adapter:") {
            at = Some(number.trim().to_owned());
            adapters.entry(number.trim().to_owned()).or_default();
        } else if let Some((number, rest)) = line
            .strip_prefix("Adapter ")
            .and_then(|line| line.split_once(':'))
        {
            at = Some(number.trim().to_owned());
            adapters.entry(number.trim().to_owned()).or_default().failed |=
                rest.contains("Get BBU Status Failed");
        } else if let Some(account) = at.as_ref().and_then(|at| adapters.get_mut(at)) {
            account.not_present |= line.contains("required hardware component is not present");
            // MegaCli prints measured values before the flags, under the same names, so numbers are
            // skipped.
            let measured = line
                .split_once(':')
                .is_some_and(|(_, value)| value.trim().starts_with(|c: char| c.is_ascii_digit()));
            if !measured {
                account.fields.add_line(line);
            }
        }
    }
    adapters
}

fn battery_state(account: &BatteryReport) -> FieldReading<BatteryCondition> {
    if account.failed || account.not_present {
        let state = if account.not_present {
            BatteryCondition::Absent
        } else {
            BatteryCondition::Unreadable
        };
        return FieldReading::Value(state);
    }
    let state = account
        .fields
        .parse_lowercase_value("battery state", megaraid_battery::parse_battery_state);
    // Only some firmware prints `isSOHGood`, so a missing line is not an error.
    let health = account.fields.contains_key("issohgood").then(|| {
        account
            .fields
            .parse_lowercase_value("issohgood", |word| match word {
                "yes" => Some(BatteryCondition::Healthy),
                "no" => Some(BatteryCondition::Failed),
                _ => None,
            })
    });
    worst_reading(
        [
            state,
            megaraid_battery::parse_battery_flags(&account.fields),
        ]
        .into_iter()
        .chain(health),
    )
}
