//! storcli2 and perccli2, of the MegaRAID 9600 and PERC 12 controllers: `/call show all nolog J`
//! and `/call/vall show all nolog J`.
//!
//! Output formats follow scality/raidmgmt (testdata, a 9660-16i) and project-machine/disko
//! (mpi3mr); `WB`, `WT` and `AWB` follow the help of Broadcom's MegaRAID Storage Manager. The
//! envelope is that of storcli, but every key inside has moved. *Cache When BBU Bad* (its names are
//! in `names`) is gone: `WB` falls back without an energy pack and `AWB` does not.

use serde_json::Value;

use super::ask::{ControllerList, ask};
use super::json::{document, entries, number, response, rows, said, said_exactly, text};
use super::said::{Adapter, FieldReading, Volume, is_absent, on_failure, pci, worst, wwn};
use super::storcli::{group_cache, policies};
use crate::facts::catalog::controller::{Battery, DiskCache, Policy, WriteMode};
use crate::host::{Host, Tool};

/// Everything that is wanted of its controllers.
pub fn query(host: &dyn Host, tool: Tool) -> ControllerList {
    const ALL: &str = "/call show all nolog J";
    let all = ask(host, tool, ALL)?;
    let volumes = ask(host, tool, "/call/vall show all nolog J").unwrap_or_default();
    Ok((parse(&all, &volumes), ALL))
}

/// Reads the controllers from `show all` of the controllers and of their volumes.
pub fn parse(all: &[u8], volumes: &[u8]) -> Vec<Adapter> {
    let (Some(all), volumes) = (document(all), document(volumes).unwrap_or_default()) else {
        return Vec::new();
    };
    entries(&all)
        .map(|entry| adapter(entry, &volumes))
        .collect()
}

fn adapter(entry: &Value, volumes: &Value) -> Adapter {
    let name = number(entry).unwrap_or_default();
    let Some(data) = response(entry) else {
        return Adapter::unread(name, FieldReading::missing("Response Data"));
    };
    let found =
        entries(volumes).find(|other| number(other).is_some() && number(other) == number(entry));
    let volumes = found.and_then(response).unwrap_or(&Value::Null);
    Adapter {
        name,
        model: text(data, &["Basics", "Product Name"]).filter(|model| !model.is_empty()),
        pci: text(data, &["HostInterface", "PCI Address"])
            .as_deref()
            .and_then(pci),
        battery: battery(data),
        detail: None,
        volumes: rows(data, "VD LIST")
            .filter_map(|row| volume(row, data, volumes))
            .collect(),
    }
}

/// Whether there is an energy pack, and its state.
fn battery(data: &Value) -> FieldReading<Battery> {
    let present = said(data, &["HwCfg", "BBU"], |word| match word {
        "present" => Some(Battery::Healthy),
        "absent" => Some(Battery::Absent),
        _ => None,
    });
    let packs: Vec<FieldReading<Battery>> = rows(data, "BBU_Info")
        .map(|pack| said(pack, &["Status"], state))
        .collect();
    let packs = if packs.is_empty() {
        FieldReading::missing("BBU_Info")
    } else {
        worst(packs)
    };
    if present.is().is_some_and(is_absent) {
        return if packs.is().is_none_or(is_absent) {
            present
        } else {
            FieldReading::disputed("`HwCfg/BBU` is `Absent` although a pack is listed")
        };
    }
    worst([present, packs])
}

fn state(word: &str) -> Option<Battery> {
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
    let name = text(row, &["DG/VD"])?;
    let (group, number) = name.split_once('/')?;
    let same = |other: &&Value| text(other, &["VD Info", "DG/VD"]).as_deref() == Some(&name);
    let own = rows(volumes, "Virtual Drives")
        .find(same)
        .unwrap_or(&Value::Null);
    let set = mode(row, own, "DefaultCache");
    let now = mode(row, own, "CurrentCache");
    let (policy, in_force) = policies(&set, &now);
    let in_force = if holds(row, own) {
        FieldReading::Is(WriteMode::WriteBack)
    } else {
        in_force
    };
    let on_failure = policy.clone().map(on_failure);
    let properties = own.get("VD Properties").unwrap_or(&Value::Null);
    Some(Volume {
        node: text(properties, &["OS Drive Name"]).filter(|node| node.starts_with("/dev/")),
        wwn: text(properties, &["SCSI NAA Id"]).as_deref().and_then(wwn),
        policy,
        on_failure: on_failure.only_if(&now),
        in_force,
        disk_cache: worst([disk_cache(properties), group_cache(data, group)]),
        ..Volume::unread(format!("VD {number}"))
    })
}

/// The write mode of a volume, which both answers show under one key.
fn mode(row: &Value, own: &Value, key: &str) -> FieldReading<Policy> {
    let listed = said_exactly(row, &[key], write_mode);
    let shown = said_exactly(own, &["VD Info", key], write_mode);
    match (listed.is(), shown.is()) {
        // One answer alone suffices to show that writes are always held back.
        (
            Some(Policy::AlwaysWriteBack),
            Some(Policy::AlwaysWriteBack | Policy::WriteBack | Policy::WriteThrough) | None,
        ) => listed,
        (Some(Policy::WriteBack | Policy::WriteThrough) | None, Some(Policy::AlwaysWriteBack)) => {
            shown
        }
        (Some(Policy::WriteBack), Some(Policy::WriteThrough))
        | (Some(Policy::WriteThrough), Some(Policy::WriteBack)) => {
            FieldReading::disputed(format!("`{key}` is said in two ways"))
        }
        (
            Some(Policy::WriteBack | Policy::WriteThrough) | None,
            Some(Policy::WriteBack | Policy::WriteThrough) | None,
        ) => listed.only_if(&shown),
    }
}

/// *Write back* is believed of one answer, *write through* only of both.
fn holds(row: &Value, own: &Value) -> bool {
    let key = "CurrentCache";
    let accounts = [
        said_exactly(row, &[key], write_mode),
        said_exactly(own, &["VD Info", key], write_mode),
    ];
    accounts
        .iter()
        .filter_map(FieldReading::is)
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
    said(properties, &["Disk Cache Policy"], |word| match word {
        "disabled" => Some(DiskCache::Off),
        "enabled" => Some(DiskCache::On),
        "default" => Some(DiskCache::DiskDefault),
        _ => None,
    })
}
