//! MegaCli: `-LDInfo -Lall -aALL` and `-AdpBbuCmd -GetBbuStatus -aALL`.
//!
//! Output formats follow glensc/nagios-plugin-check_raid, t/data/megacli. Configured and current
//! policy are printed separately. A current *WriteThrough* under a configured *WriteBack* means
//! that the controller fell back because of its battery.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{Fields, lines, normalise};
use super::firmware;
use super::query::{ControllerList, run_command};
use super::report::{Adapter, FieldReading, Volume, worst, write_back_policy};
use super::synonyms::{MEGARAID, canonical_name};
use crate::facts::catalog::controller::{Battery, DiskCache, OnFailure, Policy, WriteMode};
use crate::host::{Host, Tool};

pub fn query(host: &dyn Host, tool: Tool) -> ControllerList {
    const VOLUMES: &str = "-LDInfo -Lall -aALL -NoLog";
    let volumes = run_command(host, tool, VOLUMES)?;
    let batteries =
        run_command(host, tool, "-AdpBbuCmd -GetBbuStatus -aALL -NoLog").unwrap_or_default();
    Ok((parse(&volumes, &batteries), VOLUMES))
}

/// Neither answer contains a PCI address or a model.
pub fn parse(volumes: &[u8], batteries: &[u8]) -> Vec<Adapter> {
    let volumes = volumes_of(volumes);
    let batteries = batteries_of(batteries);
    let names: BTreeSet<&String> = volumes.keys().chain(batteries.keys()).collect();
    let adapter = |name: &String| Adapter {
        volumes: volumes.get(name).cloned().unwrap_or_default(),
        battery: batteries
            .get(name)
            .map_or_else(|| FieldReading::missing("BBU status"), battery),
        ..Adapter::name_only(name.clone(), FieldReading::missing(""))
    };
    names.into_iter().map(adapter).collect()
}

/// Headings of volumes; old versions call them disks.
const HEADINGS: [&str; 3] = [
    "Virtual Drive:",
    "Virtual Disk:",
    "CacheCade Virtual Drive:",
];

fn volumes_of(answer: &[u8]) -> BTreeMap<String, Vec<Volume>> {
    let mut adapters: BTreeMap<String, Vec<Volume>> = BTreeMap::new();
    let mut adapter = None;
    let mut open: Option<(String, Fields)> = None;
    let mut close = |adapter: &Option<String>, open: &mut Option<(String, Fields)>| {
        if let (Some(adapter), Some((heading, fields))) = (adapter, open.take()) {
            adapters
                .entry(adapter.clone())
                .or_default()
                .push(volume(&heading, &fields));
        }
    };
    for line in lines(answer) {
        let line = line.trim();
        if let Some(number) = adapter_heading(line) {
            close(&adapter, &mut open);
            adapter = Some(number);
        } else if HEADINGS.iter().any(|heading| line.starts_with(heading)) {
            close(&adapter, &mut open);
            open = Some((line.to_owned(), Fields::with_synonyms(MEGARAID)));
        } else if let Some((_, fields)) = &mut open {
            fields.add(line);
        }
    }
    close(&adapter, &mut open);
    adapters
}

/// `Adapter 0 -- Virtual Drive Information:`.
fn adapter_heading(line: &str) -> Option<String> {
    let (number, _) = line.strip_prefix("Adapter ")?.split_once(" -- ")?;
    Some(number.trim().to_owned())
}

/// `Virtual Drive: 1 (Target Id: 1)` and the fields below it.
fn volume(heading: &str, fields: &Fields) -> Volume {
    let number = heading
        .split_once(':')
        .map(|(_, rest)| rest.trim())
        .unwrap_or_default();
    let heading = normalise(heading);
    let target = heading
        .split_once("(target id:")
        .and_then(|(_, rest)| rest.split_once(')'));
    let number = number.split_whitespace().next().unwrap_or_default();
    let set = mode(
        fields,
        "default cache policy",
        Policy::WriteBack,
        Policy::WriteThrough,
    );
    let now = mode(
        fields,
        "current cache policy",
        WriteMode::WriteBack,
        WriteMode::WriteThrough,
    );
    let (kept, keeps) = (
        mode_on_battery_failure(fields, "default cache policy"),
        mode_on_battery_failure(fields, "current cache policy"),
    );
    let on_failure = match (kept.value(), keeps.value()) {
        (Some(OnFailure::Stays), Some(OnFailure::Stays | OnFailure::WriteThrough) | None)
        | (Some(OnFailure::WriteThrough) | None, Some(OnFailure::Stays)) => {
            FieldReading::Value(OnFailure::Stays)
        }
        (Some(OnFailure::WriteThrough) | None, Some(OnFailure::WriteThrough) | None) => {
            kept.only_if(&keeps)
        }
    };
    let policy = match (set.value(), now.value()) {
        (
            Some(Policy::WriteBack | Policy::AlwaysWriteBack),
            Some(WriteMode::WriteBack | WriteMode::WriteThrough),
        ) => on_failure.clone().map(write_back_policy),
        (Some(Policy::WriteThrough), Some(WriteMode::WriteBack)) => FieldReading::conflicting(
            "`Default Cache Policy` is WriteThrough, `Current Cache Policy` WriteBack",
        ),
        (Some(Policy::WriteThrough), Some(WriteMode::WriteThrough) | None)
        | (Some(Policy::WriteBack | Policy::AlwaysWriteBack), None)
        | (None, Some(WriteMode::WriteBack | WriteMode::WriteThrough) | None) => {
            set.clone().only_if(&on_failure).only_if(&now)
        }
    };
    Volume {
        name: format!("VD {number}"),
        target: target.and_then(|(number, _)| number.trim().parse().ok()),
        node: None,
        wwn: None,
        policy,
        // A current *write back* counts alone, *write through* only with a known policy.
        in_force: match now {
            FieldReading::Value(WriteMode::WriteBack) => now,
            FieldReading::Value(WriteMode::WriteThrough) | FieldReading::Missing(..) => {
                now.only_if(&set)
            }
        },
        on_failure,
        disk_cache: disk_cache(fields),
    }
}

/// Caches of the member disks, and of a CacheCade SSD, whose own cache is not printed.
fn disk_cache(fields: &Fields) -> FieldReading<DiskCache> {
    const CACHED: &str = "is vd cached";
    let of_disks = fields.parse_value("disk cache policy", |word| match word {
        "disabled" => Some(DiskCache::Off),
        "enabled" => Some(DiskCache::On),
        "disk's default" => Some(DiskCache::DiskDefault),
        _ => None,
    });
    let of_ssd = fields.has(CACHED).then(|| {
        fields.parse_value(CACHED, |word| match word {
            "no" => Some(DiskCache::Off),
            "yes" => Some(DiskCache::DiskDefault),
            _ => None,
        })
    });
    worst(std::iter::once(of_disks).chain(of_ssd))
}

/// `WriteBack, ReadAhead, Direct, No Write Cache if Bad BBU`.
fn policy_names(text: &str) -> Vec<String> {
    text.split(',')
        .map(|word| canonical_name(MEGARAID, &normalise(word)).to_owned())
        .collect()
}

fn mode<T: Copy>(fields: &Fields, key: &str, back: T, through: T) -> FieldReading<T> {
    fields.parse_value(key, |text| {
        let words = policy_names(text);
        let has = |word: &str| words.iter().any(|other| other == word);
        match (has("writeback"), has("writethrough")) {
            (true, false) => Some(back),
            (false, true) => Some(through),
            _ => None,
        }
    })
}

fn mode_on_battery_failure(fields: &Fields, key: &str) -> FieldReading<OnFailure> {
    fields.parse_value(key, |text| {
        let words = policy_names(text);
        let has = |word: &str| words.iter().any(|other| other == word);
        match (
            has("write cache ok if bad bbu"),
            has("no write cache if bad bbu"),
        ) {
            (true, false) => Some(OnFailure::Stays),
            (false, true) => Some(OnFailure::WriteThrough),
            _ => None,
        }
    })
}

struct BatteryReport {
    fields: Fields,
    failed: bool,
    not_present: bool,
}

impl Default for BatteryReport {
    fn default() -> Self {
        Self {
            fields: Fields::with_synonyms(MEGARAID),
            failed: false,
            not_present: false,
        }
    }
}

fn batteries_of(answer: &[u8]) -> BTreeMap<String, BatteryReport> {
    let mut adapters: BTreeMap<String, BatteryReport> = BTreeMap::new();
    let mut at: Option<String> = None;
    for line in lines(answer) {
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
            // Measured values come first under the same names as the flags below.
            let measured = line
                .split_once(':')
                .is_some_and(|(_, value)| value.trim().starts_with(|c: char| c.is_ascii_digit()));
            if !measured {
                account.fields.add(line);
            }
        }
    }
    adapters
}

fn battery(account: &BatteryReport) -> FieldReading<Battery> {
    if account.failed || account.not_present {
        let state = if account.not_present {
            Battery::Absent
        } else {
            Battery::Unreadable
        };
        return FieldReading::Value(state);
    }
    let state = account
        .fields
        .parse_value("battery state", firmware::parse_state);
    // Printed by some firmware, and more reliable than the state.
    let health = account.fields.has("issohgood").then(|| {
        account.fields.parse_value("issohgood", |word| match word {
            "yes" => Some(Battery::Healthy),
            "no" => Some(Battery::Failed),
            _ => None,
        })
    });
    worst(
        [state, firmware::flags(&account.fields)]
            .into_iter()
            .chain(health),
    )
}
