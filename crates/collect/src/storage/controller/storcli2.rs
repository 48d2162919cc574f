//! The parser of storcli2 and perccli2, for MegaRAID 9600 and PERC 12 controllers:
//! `/call show all nolog J` and `/call/vall show all nolog J`.
//!
//! Output formats follow scality/raidmgmt (testdata, a 9660-16i) and project-machine/disko
//! (mpi3mr); `WB`, `WT` and `AWB` follow the help of Broadcom's MegaRAID Storage Manager. The JSON
//! has the outer form of storcli's, but other keys inside. It has no *Cache When BBU Bad*: `WB`
//! falls back without an energy pack, `AWB` does not.

use serde_json::Value;

use super::report::{
    Adapter, FieldReading, Volume, battery_failure_policy, is_battery_absent, parse_pci_address,
    parse_wwn, worst_reading,
};
use super::storcli::{derive_policy_and_mode_in_force, disk_cache_of_drive_group};
use super::storcli_json::{
    parse_controllers, parse_exact_field, parse_lowercase_field, table_rows, text_field,
};
use super::{ToolQueryResult, run_tool_command};
use crate::facts::catalog::controller::{
    BatteryCondition, CachePolicy, CachePolicyInForce, MemberDiskCache,
};
use crate::host::{Host, Tool};

pub fn query_adapters(host: &dyn Host, tool: Tool) -> ToolQueryResult {
    const ALL: &str = "/call show all nolog J";
    let all = run_tool_command(host, tool, ALL)?;
    let volumes = run_tool_command(host, tool, "/call/vall show all nolog J").unwrap_or_default();
    Ok((parse_adapters(&all, &volumes), ALL))
}

/// Parses two answers: `all` to `/call show all nolog J`, and `volumes` to
/// `/call/vall show all nolog J`.
pub fn parse_adapters(all: &[u8], volumes: &[u8]) -> Vec<Adapter> {
    parse_controllers(all, volumes, parse_adapter)
}

fn parse_adapter(name: String, data: &Value, volumes: &Value) -> Adapter {
    Adapter {
        name,
        model: text_field(data, &["Basics", "Product Name"]).filter(|model| !model.is_empty()),
        pci: text_field(data, &["HostInterface", "PCI Address"])
            .as_deref()
            .and_then(parse_pci_address),
        battery: battery_state(data),
        detail: None,
        volumes: table_rows(data, "VD LIST")
            .filter_map(|row| parse_volume(row, data, volumes))
            .collect(),
    }
}

fn battery_state(data: &Value) -> FieldReading<BatteryCondition> {
    let present = parse_lowercase_field(data, &["HwCfg", "BBU"], |word| match word {
        "present" => Some(BatteryCondition::Healthy),
        "absent" => Some(BatteryCondition::Absent),
        _ => None,
    });
    let packs: Vec<FieldReading<BatteryCondition>> = table_rows(data, "BBU_Info")
        .map(|pack| parse_lowercase_field(pack, &["Status"], parse_battery_state))
        .collect();
    let packs = if packs.is_empty() {
        FieldReading::not_reported("BBU_Info")
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
    let set = merge_reported_policies(row, own, "DefaultCache");
    let now = merge_reported_policies(row, own, "CurrentCache");
    let (policy, in_force) = derive_policy_and_mode_in_force(&set, &now);
    let in_force = if is_currently_write_back(row, own) {
        FieldReading::Value(CachePolicyInForce::WriteBack)
    } else {
        in_force
    };
    let on_failure = policy.clone().map(battery_failure_policy);
    let properties = own.get("VD Properties").unwrap_or(&Value::Null);
    Some(Volume {
        node: text_field(properties, &["OS Drive Name"]).filter(|node| node.starts_with("/dev/")),
        wwn: text_field(properties, &["SCSI NAA Id"])
            .as_deref()
            .and_then(parse_wwn),
        policy,
        on_failure: on_failure.only_if_other_is_known(&now),
        in_force,
        disk_cache: worst_reading([
            parse_disk_cache_policy(properties),
            disk_cache_of_drive_group(data, group),
        ]),
        ..Volume::name_only(format!("VD {number}"))
    })
}

fn merge_reported_policies(row: &Value, own: &Value, key: &str) -> FieldReading<CachePolicy> {
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
        ) => listed.only_if_other_is_known(&shown),
    }
}

/// One of the two answers suffices, because *write back* is the riskier mode.
fn is_currently_write_back(row: &Value, own: &Value) -> bool {
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

fn parse_disk_cache_policy(properties: &Value) -> FieldReading<MemberDiskCache> {
    parse_lowercase_field(properties, &["Disk Cache Policy"], |word| match word {
        "disabled" => Some(MemberDiskCache::Off),
        "enabled" => Some(MemberDiskCache::On),
        "default" => Some(MemberDiskCache::DiskDefault),
        _ => None,
    })
}
