//! The parser of storcli2 and perccli2, for MegaRAID 9600 and PERC 12 controllers:
//! `/call show all nolog J` and `/call/vall show all nolog J`.
//!
//! Output formats follow scality/raidmgmt (testdata, a 9660-16i) and project-machine/disko
//! (mpi3mr); `WB`, `WT` and `AWB` follow the help of Broadcom's MegaRAID Storage Manager. The JSON
//! has the outer form of storcli's, but other keys inside. It has no *Cache When BBU Bad*: `WB`
//! falls back without an energy pack, `AWB` does not.

use serde_json::Value;

use super::report::{
    Adapter, FieldReading, Volume, battery_failure_behaviour, is_battery_absent, parse_pci,
    parse_wwn, worst_reading,
};
use super::storcli::{configured_and_current_policy, group_disk_cache};
use super::storcli_json::{
    controller_entries, controller_number, parse_exact_field, parse_field, parse_storcli_document,
    response_data, table_rows, text_field,
};
use super::{ToolQueryResult, run_command};
use crate::facts::catalog::controller::{
    BatteryCondition, CachePolicy, CachePolicyInForce, MemberDiskCache,
};
use crate::host::{Host, Tool};

pub fn query(host: &dyn Host, tool: Tool) -> ToolQueryResult {
    const ALL: &str = "/call show all nolog J";
    let all = run_command(host, tool, ALL)?;
    let volumes = run_command(host, tool, "/call/vall show all nolog J").unwrap_or_default();
    Ok((parse(&all, &volumes), ALL))
}

/// Parses two answers: `all` to `/call show all nolog J`, and `volumes` to
/// `/call/vall show all nolog J`.
pub fn parse(all: &[u8], volumes: &[u8]) -> Vec<Adapter> {
    let (Some(all), volumes) = (
        parse_storcli_document(all),
        parse_storcli_document(volumes).unwrap_or_default(),
    ) else {
        return Vec::new();
    };
    controller_entries(&all)
        .map(|entry| parse_adapter(entry, &volumes))
        .collect()
}

fn parse_adapter(entry: &Value, volumes: &Value) -> Adapter {
    let name = controller_number(entry).unwrap_or_default();
    let Some(data) = response_data(entry) else {
        return Adapter::name_only(name, FieldReading::missing("Response Data"));
    };
    let found = controller_entries(volumes).find(|other| {
        controller_number(other).is_some() && controller_number(other) == controller_number(entry)
    });
    let volumes = found.and_then(response_data).unwrap_or(&Value::Null);
    Adapter {
        name,
        model: text_field(data, &["Basics", "Product Name"]).filter(|model| !model.is_empty()),
        pci: text_field(data, &["HostInterface", "PCI Address"])
            .as_deref()
            .and_then(parse_pci),
        battery: battery_state(data),
        detail: None,
        volumes: table_rows(data, "VD LIST")
            .filter_map(|row| parse_volume(row, data, volumes))
            .collect(),
    }
}

fn battery_state(data: &Value) -> FieldReading<BatteryCondition> {
    let present = parse_field(data, &["HwCfg", "BBU"], |word| match word {
        "present" => Some(BatteryCondition::Healthy),
        "absent" => Some(BatteryCondition::Absent),
        _ => None,
    });
    let packs: Vec<FieldReading<BatteryCondition>> = table_rows(data, "BBU_Info")
        .map(|pack| parse_field(pack, &["Status"], parse_battery_state))
        .collect();
    let packs = if packs.is_empty() {
        FieldReading::missing("BBU_Info")
    } else {
        worst_reading(packs)
    };
    if present.value().is_some_and(is_battery_absent) {
        return if packs.value().is_none_or(is_battery_absent) {
            present
        } else {
            FieldReading::conflicting("`HwCfg/BBU` is `Absent` even though a pack is listed")
        };
    }
    worst_reading([present, packs])
}

fn parse_battery_state(word: &str) -> Option<BatteryCondition> {
    match word {
        "optimal" => Some(BatteryCondition::Healthy),
        "critical" | "failed" => Some(BatteryCondition::Failed),
        "missing" | "absent" => Some(BatteryCondition::Absent),
        "unavailable" | "unknown" => Some(BatteryCondition::Unreadable),
        word if word.starts_with("need") || word.starts_with("degraded") => {
            Some(BatteryCondition::Degraded)
        }
        word if word.starts_with("charging") => Some(BatteryCondition::Charging),
        word if word.starts_with("learn") => Some(BatteryCondition::Learning),
        _ => None,
    }
}

fn parse_volume(row: &Value, data: &Value, volumes: &Value) -> Option<Volume> {
    let name = text_field(row, &["DG/VD"])?;
    let (group, number) = name.split_once('/')?;
    let same = |other: &&Value| text_field(other, &["VD Info", "DG/VD"]).as_deref() == Some(&name);
    let own = table_rows(volumes, "Virtual Drives")
        .find(same)
        .unwrap_or(&Value::Null);
    let set = volume_policy(row, own, "DefaultCache");
    let now = volume_policy(row, own, "CurrentCache");
    let (policy, in_force) = configured_and_current_policy(&set, &now);
    let in_force = if is_write_back(row, own) {
        FieldReading::Value(CachePolicyInForce::WriteBack)
    } else {
        in_force
    };
    let on_failure = policy.clone().map(battery_failure_behaviour);
    let properties = own.get("VD Properties").unwrap_or(&Value::Null);
    Some(Volume {
        node: text_field(properties, &["OS Drive Name"]).filter(|node| node.starts_with("/dev/")),
        wwn: text_field(properties, &["SCSI NAA Id"])
            .as_deref()
            .and_then(parse_wwn),
        policy,
        on_failure: on_failure.only_if_known(&now),
        in_force,
        disk_cache: worst_reading([disk_cache(properties), group_disk_cache(data, group)]),
        ..Volume::name_only(format!("VD {number}"))
    })
}

fn volume_policy(row: &Value, own: &Value, key: &str) -> FieldReading<CachePolicy> {
    let listed = parse_exact_field(row, &[key], parse_write_policy);
    let shown = parse_exact_field(own, &["VD Info", key], parse_write_policy);
    match (listed.value(), shown.value()) {
        // *Always write back* is assumed even if only one answer has it.
        (
            Some(CachePolicy::AlwaysWriteBack),
            Some(CachePolicy::AlwaysWriteBack | CachePolicy::WriteBack | CachePolicy::WriteThrough)
            | None,
        ) => listed,
        (
            Some(CachePolicy::WriteBack | CachePolicy::WriteThrough) | None,
            Some(CachePolicy::AlwaysWriteBack),
        ) => shown,
        (Some(CachePolicy::WriteBack), Some(CachePolicy::WriteThrough))
        | (Some(CachePolicy::WriteThrough), Some(CachePolicy::WriteBack)) => {
            FieldReading::conflicting(format!("`{key}` has two different values"))
        }
        (
            Some(CachePolicy::WriteBack | CachePolicy::WriteThrough) | None,
            Some(CachePolicy::WriteBack | CachePolicy::WriteThrough) | None,
        ) => listed.only_if_known(&shown),
    }
}

/// Whether the volume writes back now: at least one of the two answers has *write back*.
fn is_write_back(row: &Value, own: &Value) -> bool {
    let key = "CurrentCache";
    let accounts = [
        parse_exact_field(row, &[key], parse_write_policy),
        parse_exact_field(own, &["VD Info", key], parse_write_policy),
    ];
    accounts
        .iter()
        .filter_map(FieldReading::value)
        .any(|policy| !matches!(policy, CachePolicy::WriteThrough))
}

fn parse_write_policy(code: &str) -> Option<CachePolicy> {
    match code.split_once(',')? {
        ("NR" | "R", "WB") => Some(CachePolicy::WriteBack),
        ("NR" | "R", "WT") => Some(CachePolicy::WriteThrough),
        ("NR" | "R", "AWB") => Some(CachePolicy::AlwaysWriteBack),
        _ => None,
    }
}

fn disk_cache(properties: &Value) -> FieldReading<MemberDiskCache> {
    parse_field(properties, &["Disk Cache Policy"], |word| match word {
        "disabled" => Some(MemberDiskCache::Off),
        "enabled" => Some(MemberDiskCache::On),
        "default" => Some(MemberDiskCache::DiskDefault),
        _ => None,
    })
}
