//! storcli2 and perccli2, of the MegaRAID 9600 and PERC 12 controllers: `/call show all nolog J`
//! and `/call/vall show all nolog J`.
//!
//! Output formats follow scality/raidmgmt (testdata, a 9660-16i) and project-machine/disko
//! (mpi3mr); `WB`, `WT` and `AWB` follow the help of Broadcom's MegaRAID Storage Manager. The
//! envelope is storcli's, but every key inside moved. Without *Cache When BBU Bad*, `WB` falls back
//! without an energy pack and `AWB` does not.

use serde_json::Value;

use super::json::{
    controller_number, document, entries, parse_exact_field, parse_field, response, rows,
    text_field,
};
use super::query::{ControllerList, run_command};
use super::report::{
    Adapter, FieldReading, Volume, behaviour_on_failure, is_absent, parse_pci, parse_wwn, worst,
};
use super::storcli::{group_cache, policies};
use crate::facts::catalog::controller::{Battery, DiskCache, Policy, WriteMode};
use crate::host::{Host, Tool};

pub fn query(host: &dyn Host, tool: Tool) -> ControllerList {
    const ALL: &str = "/call show all nolog J";
    let all = run_command(host, tool, ALL)?;
    let volumes = run_command(host, tool, "/call/vall show all nolog J").unwrap_or_default();
    Ok((parse(&all, &volumes), ALL))
}

/// `all` and `volumes` are `show all` of controllers and volumes.
pub fn parse(all: &[u8], volumes: &[u8]) -> Vec<Adapter> {
    let (Some(all), volumes) = (document(all), document(volumes).unwrap_or_default()) else {
        return Vec::new();
    };
    entries(&all)
        .map(|entry| adapter(entry, &volumes))
        .collect()
}

fn adapter(entry: &Value, volumes: &Value) -> Adapter {
    let name = controller_number(entry).unwrap_or_default();
    let Some(data) = response(entry) else {
        return Adapter::name_only(name, FieldReading::missing("Response Data"));
    };
    let found = entries(volumes).find(|other| {
        controller_number(other).is_some() && controller_number(other) == controller_number(entry)
    });
    let volumes = found.and_then(response).unwrap_or(&Value::Null);
    Adapter {
        name,
        model: text_field(data, &["Basics", "Product Name"]).filter(|model| !model.is_empty()),
        pci: text_field(data, &["HostInterface", "PCI Address"])
            .as_deref()
            .and_then(parse_pci),
        battery: battery(data),
        detail: None,
        volumes: rows(data, "VD LIST")
            .filter_map(|row| volume(row, data, volumes))
            .collect(),
    }
}

/// Presence and state of the energy pack.
fn battery(data: &Value) -> FieldReading<Battery> {
    let present = parse_field(data, &["HwCfg", "BBU"], |word| match word {
        "present" => Some(Battery::Healthy),
        "absent" => Some(Battery::Absent),
        _ => None,
    });
    let packs: Vec<FieldReading<Battery>> = rows(data, "BBU_Info")
        .map(|pack| parse_field(pack, &["Status"], parse_state))
        .collect();
    let packs = if packs.is_empty() {
        FieldReading::missing("BBU_Info")
    } else {
        worst(packs)
    };
    if present.value().is_some_and(is_absent) {
        return if packs.value().is_none_or(is_absent) {
            present
        } else {
            FieldReading::conflicting("`HwCfg/BBU` is `Absent` although a pack is listed")
        };
    }
    worst([present, packs])
}

fn parse_state(word: &str) -> Option<Battery> {
    match word {
        "optimal" => Some(Battery::Healthy),
        "critical" | "failed" => Some(Battery::Failed),
        "missing" | "absent" => Some(Battery::Absent),
        "unavailable" | "unknown" => Some(Battery::Unreadable),
        word if word.starts_with("need") || word.starts_with("degraded") => Some(Battery::Degraded),
        word if word.starts_with("charging") => Some(Battery::Charging),
        word if word.starts_with("learn") => Some(Battery::Learning),
        _ => None,
    }
}

fn volume(row: &Value, data: &Value, volumes: &Value) -> Option<Volume> {
    let name = text_field(row, &["DG/VD"])?;
    let (group, number) = name.split_once('/')?;
    let same = |other: &&Value| text_field(other, &["VD Info", "DG/VD"]).as_deref() == Some(&name);
    let own = rows(volumes, "Virtual Drives")
        .find(same)
        .unwrap_or(&Value::Null);
    let set = mode(row, own, "DefaultCache");
    let now = mode(row, own, "CurrentCache");
    let (policy, in_force) = policies(&set, &now);
    let in_force = if is_write_back(row, own) {
        FieldReading::Value(WriteMode::WriteBack)
    } else {
        in_force
    };
    let on_failure = policy.clone().map(behaviour_on_failure);
    let properties = own.get("VD Properties").unwrap_or(&Value::Null);
    Some(Volume {
        node: text_field(properties, &["OS Drive Name"]).filter(|node| node.starts_with("/dev/")),
        wwn: text_field(properties, &["SCSI NAA Id"])
            .as_deref()
            .and_then(parse_wwn),
        policy,
        on_failure: on_failure.only_if(&now),
        in_force,
        disk_cache: worst([disk_cache(properties), group_cache(data, group)]),
        ..Volume::name_only(format!("VD {number}"))
    })
}

/// Both answers show it under the same key.
fn mode(row: &Value, own: &Value, key: &str) -> FieldReading<Policy> {
    let listed = parse_exact_field(row, &[key], write_mode);
    let shown = parse_exact_field(own, &["VD Info", key], write_mode);
    match (listed.value(), shown.value()) {
        // One answer is enough for *always write back*.
        (
            Some(Policy::AlwaysWriteBack),
            Some(Policy::AlwaysWriteBack | Policy::WriteBack | Policy::WriteThrough) | None,
        ) => listed,
        (Some(Policy::WriteBack | Policy::WriteThrough) | None, Some(Policy::AlwaysWriteBack)) => {
            shown
        }
        (Some(Policy::WriteBack), Some(Policy::WriteThrough))
        | (Some(Policy::WriteThrough), Some(Policy::WriteBack)) => {
            FieldReading::conflicting(format!("`{key}` has two different values"))
        }
        (
            Some(Policy::WriteBack | Policy::WriteThrough) | None,
            Some(Policy::WriteBack | Policy::WriteThrough) | None,
        ) => listed.only_if(&shown),
    }
}

/// *Write back* counts if one answer has it, *write through* only if both do.
fn is_write_back(row: &Value, own: &Value) -> bool {
    let key = "CurrentCache";
    let accounts = [
        parse_exact_field(row, &[key], write_mode),
        parse_exact_field(own, &["VD Info", key], write_mode),
    ];
    accounts
        .iter()
        .filter_map(FieldReading::value)
        .any(|policy| !matches!(policy, Policy::WriteThrough))
}

/// Read ahead or not, and how it writes: `NR,WB`.
fn write_mode(code: &str) -> Option<Policy> {
    match code.split_once(',')? {
        ("NR" | "R", "WB") => Some(Policy::WriteBack),
        ("NR" | "R", "WT") => Some(Policy::WriteThrough),
        ("NR" | "R", "AWB") => Some(Policy::AlwaysWriteBack),
        _ => None,
    }
}

fn disk_cache(properties: &Value) -> FieldReading<DiskCache> {
    parse_field(properties, &["Disk Cache Policy"], |word| match word {
        "disabled" => Some(DiskCache::Off),
        "enabled" => Some(DiskCache::On),
        "default" => Some(DiskCache::DiskDefault),
        _ => None,
    })
}
