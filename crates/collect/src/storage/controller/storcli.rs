//! storcli and perccli: `/cALL show all J`, `/cALL/vALL show all J`, and if the JSON has no battery
//! module, the tables of `/cX/cv show status` and `/cX/bbu show status`.
//!
//! Output formats follow prometheus-community/node-exporter-textfile-collector-scripts
//! (mock/fixtures) and thomas-krenn/check_lsi_raid. The same words are a state in one place and a
//! capability in another, so every key is addressed by its full path. `HwCfg/BBU` is `Present`, but
//! `Supported Adapter Operations/BBU` is `Yes` without any battery.

use serde_json::Value;

use super::fields::{self, Fields, normalise};
use super::firmware;
use super::json::{
    controller_number, document, entries, parse_exact_field, parse_field, response, rows,
    text_field,
};
use super::query::{ControllerList, run_command};
use super::report::{
    Adapter, FieldReading, Volume, default_write_mode, is_absent, parse_pci, parse_wwn, worst,
};
use super::synonyms::MEGARAID;
use crate::facts::Choice;
use crate::facts::catalog::controller::{Battery, DiskCache, OnFailure, Policy, WriteMode};
use crate::host::{Host, Tool};

pub fn query(host: &dyn Host, tool: Tool) -> ControllerList {
    const ALL: &str = "/cALL show all J nolog";
    let all = run_command(host, tool, ALL)?;
    let volumes = run_command(host, tool, "/cALL/vALL show all J nolog").unwrap_or_default();
    let mut adapters = parse(&all, &volumes);
    for number in lacks_module(&all) {
        let table = |part| {
            run_command(host, tool, &format!("/c{number}/{part} show status nolog"))
                .unwrap_or_default()
        };
        if let Some(adapter) = adapters.iter_mut().find(|adapter| adapter.name == number) {
            add_tables(adapter, &all, &table("cv"), &table("bbu"));
        }
    }
    Ok((adapters, ALL))
}

/// `all` is `/cALL show all J`, `volumes` is `/cALL/vALL show all J`.
pub fn parse(all: &[u8], volumes: &[u8]) -> Vec<Adapter> {
    let (Some(all), volumes) = (document(all), document(volumes).unwrap_or_default()) else {
        return Vec::new();
    };
    entries(&all)
        .map(|entry| adapter(entry, &volumes))
        .collect()
}

fn adapter(entry: &Value, properties: &Value) -> Adapter {
    let name = controller_number(entry).unwrap_or_default();
    let Some(data) = response(entry) else {
        return Adapter::name_only(name, FieldReading::missing("Response Data"));
    };
    let found = entries(properties).find(|other| {
        controller_number(other).is_some() && controller_number(other) == controller_number(entry)
    });
    let properties = found.and_then(response).unwrap_or(&Value::Null);
    let bad_battery = parse_field(
        data,
        &["Defaults", "Cache When BBU Bad"],
        |word| match word {
            "off" => Some(OnFailure::WriteThrough),
            "on" => Some(OnFailure::Stays),
            _ => None,
        },
    );
    Adapter {
        name,
        model: text_field(data, &["Basics", "Model"]).filter(|model| !model.is_empty()),
        pci: text_field(data, &["Basics", "PCI Address"])
            .as_deref()
            .and_then(parse_pci),
        battery: battery(data, module_state(data)),
        detail: None,
        volumes: rows(data, "VD LIST")
            .filter_map(|row| volume(row, data, properties, &bad_battery))
            .collect(),
    }
}

/// Controllers whose JSON has a battery without its state, which the tables may have.
pub fn lacks_module(all: &[u8]) -> Vec<String> {
    let Some(all) = document(all) else {
        return Vec::new();
    };
    let lacks = |entry: &Value| {
        let data = response(entry)?;
        let present = text_field(data, &["HwCfg", "BBU"])? == "Present";
        let named = ["Cachevault_Info", "BBU_Info"]
            .iter()
            .any(|key| data.get(key).is_some());
        controller_number(entry).filter(|_| present && !named)
    };
    entries(&all).filter_map(lacks).collect()
}

/// Adds a module's state from the tables.
pub fn add_tables(adapter: &mut Adapter, all: &[u8], flash: &[u8], battery_table: &[u8]) {
    let Some(all) = document(all) else { return };
    let entry =
        entries(&all).find(|entry| controller_number(entry).as_deref() == Some(&adapter.name));
    if let Some(data) = entry.and_then(response) {
        adapter.battery = battery(data, state_from_tables(flash, battery_table));
    }
}

/// From `Cachevault_Info` (flash) or `BBU_Info` (battery).
fn module_state(data: &Value) -> FieldReading<Battery> {
    let modules = ["Cachevault_Info", "BBU_Info"]
        .into_iter()
        .flat_map(|key| rows(data, key));
    let states: Vec<FieldReading<Battery>> = modules
        .map(|module| parse_field(module, &["State"], firmware::parse_state))
        .collect();
    if states.is_empty() {
        FieldReading::missing("Cachevault_Info or BBU_Info")
    } else {
        worst(states)
    }
}

/// The worst of presence, module state and state code, unless presence and module contradict.
fn battery(data: &Value, module: FieldReading<Battery>) -> FieldReading<Battery> {
    let present = parse_field(data, &["HwCfg", "BBU"], |word| match word {
        "present" => Some(Battery::Healthy),
        "absent" => Some(Battery::Absent),
        "faulty" => Some(Battery::Failed),
        _ => None,
    });
    if present.value().is_some_and(is_absent) {
        return if module.value().is_none_or(is_absent) {
            present
        } else {
            FieldReading::conflicting("`HwCfg/BBU` is `Absent` although a module is listed")
        };
    }
    let status = match text_field(data, &["Status", "BBU Status"]) {
        None => FieldReading::missing("Status/BBU Status"),
        Some(code) => match (code.parse(), firmware::parse_state(&normalise(&code))) {
            (Ok(number), _) => firmware::parse_state_code(number),
            (Err(_), Some(state)) => FieldReading::Value(state),
            (Err(_), None) => FieldReading::unknown("Status/BBU Status", &code),
        },
    };
    worst([present, module, status])
}

/// From `/cX/cv show status` and `/cX/bbu show status`: columns of property and value.
fn state_from_tables(flash: &[u8], battery: &[u8]) -> FieldReading<Battery> {
    const PROPERTIES: &[&str] = &[
        "state",
        "charging status",
        "voltage",
        "temperature",
        "learn cycle active",
        "learn cycle status",
        "learn cycle timeout",
        "i2c errors detected",
        "remaining capacity low",
        "no space to cache offload",
        "cache offload premium feature required",
    ];
    let read = |answer: &[u8]| {
        let mut fields = Fields::with_synonyms(MEGARAID);
        for line in fields::lines(answer) {
            let line = normalise(&line);
            let value = |property: &&'static str| {
                let property: &'static str = property;
                Some((
                    property,
                    line.strip_prefix(property)?.strip_prefix(' ')?.to_owned(),
                ))
            };
            let others = MEGARAID.iter().flat_map(|row| row.iter());
            if let Some((property, value)) = PROPERTIES.iter().chain(others).find_map(value) {
                // Temperature and voltage come first as measured values, then as flags.
                let measured = value.bytes().next().is_some_and(|b| b.is_ascii_digit());
                if !measured {
                    fields.insert(property, value);
                }
            }
        }
        fields
    };
    let (flash, battery) = (read(flash), read(battery));
    let of_flash = flash.has("state").then(|| {
        worst([
            flash.parse_value("state", firmware::parse_state),
            firmware::replacement(&flash),
        ])
    });
    let of_battery = battery.has("battery state").then(|| {
        worst([
            battery.parse_value("battery state", firmware::parse_state),
            firmware::flags(&battery),
        ])
    });
    let accounts: Vec<FieldReading<Battery>> = of_flash.into_iter().chain(of_battery).collect();
    if accounts.is_empty() {
        FieldReading::missing("state of a battery or flash module")
    } else {
        worst(accounts)
    }
}

fn volume(
    row: &Value,
    data: &Value,
    properties: &Value,
    bad_battery: &FieldReading<OnFailure>,
) -> Option<Volume> {
    let name = text_field(row, &["DG/VD"])?;
    let (group, number) = name.split_once('/')?;
    let target: u32 = number.parse().ok()?;
    let own = properties
        .get(format!("VD{number} Properties"))
        .unwrap_or(&Value::Null);
    let now = parse_exact_field(row, &["Cache"], write_mode);
    let set = parse_field(own, &["Write Cache(initial setting)"], |word| {
        match word.replace(' ', "").as_str() {
            "writeback" => Some(Policy::WriteBack),
            "writethrough" => Some(Policy::WriteThrough),
            "alwayswriteback" | "forcewriteback" | "forcedwriteback" => {
                Some(Policy::AlwaysWriteBack)
            }
            _ => None,
        }
    });
    let (policy, in_force) = policies(&set, &now);
    let on_failure = match (policy.value(), bad_battery.value()) {
        (
            Some(Policy::AlwaysWriteBack),
            Some(OnFailure::Stays | OnFailure::WriteThrough) | None,
        )
        | (Some(Policy::WriteBack | Policy::WriteThrough) | None, Some(OnFailure::Stays)) => {
            FieldReading::Value(OnFailure::Stays)
        }
        (
            Some(Policy::WriteBack | Policy::WriteThrough) | None,
            Some(OnFailure::WriteThrough) | None,
        ) => bad_battery.clone().only_if(&policy).only_if(&in_force),
    };
    Some(Volume {
        target: Some(target),
        node: text_field(own, &["OS Drive Name"]).filter(|node| node.starts_with("/dev/")),
        wwn: text_field(own, &["SCSI NAA Id"])
            .as_deref()
            .and_then(parse_wwn),
        policy,
        in_force,
        on_failure,
        disk_cache: worst(
            [disk_cache(own), group_cache(data, group)]
                .into_iter()
                .chain(ssd_cache(row)),
        ),
        name: format!("VD {number}"),
    })
}

/// The code for a volume's cache: read ahead, adaptive or not (`R`, `Ra`, `NR`), how it writes,
/// cached or direct. Old versions have `Ra`, so `RaWBD` is no `AWB` where `RAWBD` is.
fn write_mode(code: &str) -> Option<Policy> {
    let reads = ["NR", "Ra", "R"];
    let rest = reads
        .into_iter()
        .find_map(|reads| code.strip_prefix(reads))?;
    match rest.strip_suffix(['C', 'D'])? {
        "WB" => Some(Policy::WriteBack),
        "WT" => Some(Policy::WriteThrough),
        "AWB" | "FWB" => Some(Policy::AlwaysWriteBack),
        _ => None,
    }
}

/// Configured and current policy, from the initial setting and the current list.
pub fn policies(
    set: &FieldReading<Policy>,
    now: &FieldReading<Policy>,
) -> (FieldReading<Policy>, FieldReading<WriteMode>) {
    let disputed = || {
        format!(
            "set to `{}`, shown as `{}`",
            policy_name(set),
            policy_name(now)
        )
    };
    let shown = now.clone().map(default_write_mode);
    match now {
        FieldReading::Value(Policy::AlwaysWriteBack) => (now.clone(), shown),
        FieldReading::Value(Policy::WriteBack) => match set {
            FieldReading::Value(Policy::WriteBack | Policy::AlwaysWriteBack)
            | FieldReading::Missing(..) => (set.clone(), shown),
            FieldReading::Value(Policy::WriteThrough) => {
                (FieldReading::conflicting(disputed()), shown)
            }
        },
        FieldReading::Value(Policy::WriteThrough) | FieldReading::Missing(..) => match set {
            FieldReading::Value(Policy::AlwaysWriteBack) => {
                (set.clone(), FieldReading::conflicting(disputed()))
            }
            FieldReading::Value(Policy::WriteBack | Policy::WriteThrough)
            | FieldReading::Missing(..) => (set.clone().only_if(now), shown.only_if(set)),
        },
    }
}

fn policy_name(said: &FieldReading<Policy>) -> &'static str {
    said.value().map_or("?", Choice::as_str)
}

fn disk_cache(own: &Value) -> FieldReading<DiskCache> {
    parse_field(own, &["Disk Cache Policy"], |word| match word {
        "disabled" => Some(DiskCache::Off),
        "enabled" => Some(DiskCache::On),
        "disk's default" => Some(DiskCache::DiskDefault),
        _ => None,
    })
}

/// A CacheCade SSD in newer versions: always missing, because its own cache is not printed.
fn ssd_cache(row: &Value) -> Option<FieldReading<DiskCache>> {
    let key = "Cac";
    row.get(key)?;
    Some(parse_field(row, &[key], |word| {
        Some(if word == "-" {
            DiskCache::Off
        } else {
            DiskCache::DiskDefault
        })
    }))
}

/// The disk caches of a drive group, from its column `PDC`.
pub fn group_cache(data: &Value, group: &str) -> FieldReading<DiskCache> {
    let of_group =
        rows(data, "TOPOLOGY").filter(|row| text_field(row, &["DG"]).as_deref() == Some(group));
    let said = of_group.map(|row| {
        parse_field(row, &["PDC"], |word| match word {
            "dsbl" => Some(DiskCache::Off),
            "enbl" => Some(DiskCache::On),
            "dflt" => Some(DiskCache::DiskDefault),
            _ => None,
        })
    });
    worst(said)
}
