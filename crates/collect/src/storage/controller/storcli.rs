//! The parser of storcli and perccli, for `/cALL show all J` and `/cALL/vALL show all J`. If their
//! JSON has no battery module, the tables of `/cX/cv show status` and `/cX/bbu show status` are
//! parsed too.
//!
//! Output formats follow prometheus-community/node-exporter-textfile-collector-scripts
//! (mock/fixtures) and thomas-krenn/check_lsi_raid. The same words mean a state in one place and a
//! capability in another, so every key is addressed by its full path. `HwCfg/BBU` is `Present`, but
//! `Supported Adapter Operations/BBU` is `Yes` even without a battery.

use serde_json::Value;

use super::fields::{self, ToolOutputFields, to_single_spaced_lowercase};
use super::report::{
    Adapter, FieldReading, Volume, is_battery_absent, mode_in_force_without_fallback,
    parse_pci_address, parse_wwn, worst_reading,
};
use super::storcli_json::{
    controller_entries, controller_number, parse_controllers, parse_exact_field,
    parse_lowercase_field, parse_storcli_document, response_data, table_rows, text_field,
};
use super::synonyms::MEGARAID;
use super::{ToolQueryResult, megaraid_battery, run_tool_command};
use crate::facts::Choice;
use crate::facts::catalog::controller::{
    BatteryCondition, BatteryFailurePolicy, CachePolicy, CachePolicyInForce, MemberDiskCache,
};
use crate::host::{Host, Tool};

pub fn query_adapters(host: &dyn Host, tool: Tool) -> ToolQueryResult {
    const ALL: &str = "/cALL show all J nolog";
    let all = run_tool_command(host, tool, ALL)?;
    let volumes = run_tool_command(host, tool, "/cALL/vALL show all J nolog").unwrap_or_default();
    let mut adapters = parse_adapters(&all, &volumes);
    for number in controller_numbers_without_battery_state(&all) {
        let table = |part| {
            run_tool_command(host, tool, &format!("/c{number}/{part} show status nolog"))
                .unwrap_or_default()
        };
        if let Some(adapter) = adapters.iter_mut().find(|adapter| adapter.name == number) {
            set_battery_state_from_tables(adapter, &all, &table("cv"), &table("bbu"));
        }
    }
    Ok((adapters, ALL))
}

/// Parses two answers: `all` to `/cALL show all J`, and `volumes` to `/cALL/vALL show all J`.
pub fn parse_adapters(all: &[u8], volumes: &[u8]) -> Vec<Adapter> {
    parse_controllers(all, volumes, parse_adapter)
}

fn parse_adapter(name: String, data: &Value, properties: &Value) -> Adapter {
    let bad_battery =
        parse_lowercase_field(
            data,
            &["Defaults", "Cache When BBU Bad"],
            |word| match word {
                "off" => Some(BatteryFailurePolicy::WriteThrough),
                "on" => Some(BatteryFailurePolicy::Stays),
                _ => None,
            },
        );
    Adapter {
        name,
        model: text_field(data, &["Basics", "Model"]).filter(|model| !model.is_empty()),
        pci: text_field(data, &["Basics", "PCI Address"])
            .as_deref()
            .and_then(parse_pci_address),
        battery: worst_battery_state(data, battery_module_state(data)),
        detail: None,
        volumes: table_rows(data, "VD LIST")
            .filter_map(|row| parse_volume(row, data, properties, &bad_battery))
            .collect(),
    }
}

/// The numbers of controllers whose JSON lists a battery without its state. Only the battery tables
/// (`/cX/cv show status`, `/cX/bbu show status`) may print the state.
pub fn controller_numbers_without_battery_state(all: &[u8]) -> Vec<String> {
    let Some(all) = parse_storcli_document(all) else {
        return Vec::new();
    };
    let lacks = |entry: &Value| {
        let data = response_data(entry)?;
        let present = text_field(data, &["HwCfg", "BBU"])? == "Present";
        let named = ["Cachevault_Info", "BBU_Info"]
            .iter()
            .any(|key| data.get(key).is_some());
        controller_number(entry).filter(|_| present && !named)
    };
    controller_entries(&all).filter_map(lacks).collect()
}

pub fn set_battery_state_from_tables(
    adapter: &mut Adapter,
    all: &[u8],
    flash: &[u8],
    battery_table: &[u8],
) {
    let Some(all) = parse_storcli_document(all) else {
        return;
    };
    let entry = controller_entries(&all)
        .find(|entry| controller_number(entry).as_deref() == Some(&adapter.name));
    if let Some(data) = entry.and_then(response_data) {
        adapter.battery =
            worst_battery_state(data, battery_state_from_tables(flash, battery_table));
    }
}

fn battery_module_state(data: &Value) -> FieldReading<BatteryCondition> {
    let modules = ["Cachevault_Info", "BBU_Info"]
        .into_iter()
        .flat_map(|key| table_rows(data, key));
    let states: Vec<FieldReading<BatteryCondition>> = modules
        .map(|module| {
            parse_lowercase_field(module, &["State"], megaraid_battery::parse_battery_state)
        })
        .collect();
    if states.is_empty() {
        FieldReading::not_reported("Cachevault_Info or BBU_Info")
    } else {
        worst_reading(states)
    }
}

/// The worst of presence, module state and state code; missing if presence and module contradict
/// each other.
fn worst_battery_state(
    data: &Value,
    module: FieldReading<BatteryCondition>,
) -> FieldReading<BatteryCondition> {
    let present = parse_lowercase_field(data, &["HwCfg", "BBU"], |word| match word {
        "present" => Some(BatteryCondition::Healthy),
        "absent" => Some(BatteryCondition::Absent),
        "faulty" => Some(BatteryCondition::Failed),
        _ => None,
    });
    if present.value().is_some_and(is_battery_absent) {
        return if module.value().is_none_or(is_battery_absent) {
            present
        } else {
            FieldReading::conflicting("`HwCfg/BBU` is `Absent` even though a module is listed")
        };
    }
    let status = match text_field(data, &["Status", "BBU Status"]) {
        None => FieldReading::not_reported("Status/BBU Status"),
        Some(code) => match (
            code.parse(),
            megaraid_battery::parse_battery_state(&to_single_spaced_lowercase(&code)),
        ) {
            (Ok(number), _) => megaraid_battery::parse_battery_state_code(number),
            (Err(_), Some(state)) => FieldReading::Value(state),
            (Err(_), None) => FieldReading::unrecognised_value("Status/BBU Status", &code),
        },
    };
    worst_reading([present, module, status])
}

fn battery_state_from_tables(flash: &[u8], battery: &[u8]) -> FieldReading<BatteryCondition> {
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
        let mut fields = ToolOutputFields::with_synonyms(MEGARAID);
        for line in fields::display_safe_lines(answer) {
            let line = to_single_spaced_lowercase(&line);
            let value = |property: &&'static str| {
                let property: &'static str = property;
                Some((
                    property,
                    line.strip_prefix(property)?.strip_prefix(' ')?.to_owned(),
                ))
            };
            let others = MEGARAID.iter().flat_map(|row| row.iter());
            if let Some((property, value)) = PROPERTIES.iter().chain(others).find_map(value) {
                // Temperature and voltage appear first as measured values, then as flags.
                let measured = value.bytes().next().is_some_and(|b| b.is_ascii_digit());
                if !measured {
                    fields.insert_or_conflict(property, value);
                }
            }
        }
        fields
    };
    let (flash, battery) = (read(flash), read(battery));
    let of_flash = flash.contains_key("state").then(|| {
        worst_reading([
            flash.parse_lowercase_value("state", megaraid_battery::parse_battery_state),
            megaraid_battery::parse_replacement_required(&flash),
        ])
    });
    let of_battery = battery.contains_key("battery state").then(|| {
        worst_reading([
            battery.parse_lowercase_value("battery state", megaraid_battery::parse_battery_state),
            megaraid_battery::parse_battery_flags(&battery),
        ])
    });
    let accounts: Vec<FieldReading<BatteryCondition>> =
        of_flash.into_iter().chain(of_battery).collect();
    if accounts.is_empty() {
        FieldReading::not_reported("state of a battery or flash module")
    } else {
        worst_reading(accounts)
    }
}

fn parse_volume(
    row: &Value,
    data: &Value,
    properties: &Value,
    bad_battery: &FieldReading<BatteryFailurePolicy>,
) -> Option<Volume> {
    let name = text_field(row, &["DG/VD"])?;
    let (group, number) = name.split_once('/')?;
    let target: u32 = number.parse().ok()?;
    let own = properties
        .get(format!("VD{number} Properties"))
        .unwrap_or(&Value::Null);
    let now = parse_exact_field(row, &["Cache"], parse_write_policy);
    let set = parse_lowercase_field(own, &["Write Cache(initial setting)"], |word| {
        match word.replace(' ', "").as_str() {
            "writeback" => Some(CachePolicy::WriteBack),
            "writethrough" => Some(CachePolicy::WriteThrough),
            "alwayswriteback" | "forcewriteback" | "forcedwriteback" => {
                Some(CachePolicy::AlwaysWriteBack)
            }
            _ => None,
        }
    });
    let (policy, in_force) = derive_policy_and_mode_in_force(&set, &now);
    let on_failure = match (policy.value(), bad_battery.value()) {
        (
            Some(CachePolicy::AlwaysWriteBack),
            Some(BatteryFailurePolicy::Stays | BatteryFailurePolicy::WriteThrough) | None,
        )
        | (
            Some(CachePolicy::WriteBack | CachePolicy::WriteThrough) | None,
            Some(BatteryFailurePolicy::Stays),
        ) => FieldReading::Value(BatteryFailurePolicy::Stays),
        (
            Some(CachePolicy::WriteBack | CachePolicy::WriteThrough) | None,
            Some(BatteryFailurePolicy::WriteThrough) | None,
        ) => bad_battery
            .clone()
            .only_if_other_is_known(&policy)
            .only_if_other_is_known(&in_force),
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
        disk_cache: worst_reading(
            [
                parse_disk_cache_policy(own),
                disk_cache_of_drive_group(data, group),
            ]
            .into_iter()
            .chain(cachecade_ssd_cache(row)),
        ),
        name: format!("VD {number}"),
    })
}

/// Parses the code of a volume's cache: read-ahead (`R`, adaptive `Ra`, none `NR`), write mode,
/// cached or direct (`C`, `D`). Case matters: `RaWBD` is `Ra` and `WB`, `RAWBD` is `R` and `AWB`.
fn parse_write_policy(code: &str) -> Option<CachePolicy> {
    let reads = ["NR", "Ra", "R"];
    let rest = reads
        .into_iter()
        .find_map(|reads| code.strip_prefix(reads))?;
    match rest.strip_suffix(['C', 'D'])? {
        "WB" => Some(CachePolicy::WriteBack),
        "WT" => Some(CachePolicy::WriteThrough),
        "AWB" | "FWB" => Some(CachePolicy::AlwaysWriteBack),
        _ => None,
    }
}

/// Derives policy and current mode from the configured policy `set` and the current policy `now`,
/// as the tool reports them. A contradiction makes one of the results unknown.
pub fn derive_policy_and_mode_in_force(
    set: &FieldReading<CachePolicy>,
    now: &FieldReading<CachePolicy>,
) -> (FieldReading<CachePolicy>, FieldReading<CachePolicyInForce>) {
    let disputed = || {
        format!(
            "the policy is set to `{}` but shown as `{}`",
            policy_name(set),
            policy_name(now)
        )
    };
    let shown = now.clone().map(mode_in_force_without_fallback);
    match now {
        FieldReading::Value(CachePolicy::AlwaysWriteBack) => (now.clone(), shown),
        FieldReading::Value(CachePolicy::WriteBack) => match set {
            FieldReading::Value(CachePolicy::WriteBack | CachePolicy::AlwaysWriteBack)
            | FieldReading::Missing(..) => (set.clone(), shown),
            FieldReading::Value(CachePolicy::WriteThrough) => {
                (FieldReading::conflicting(disputed()), shown)
            }
        },
        FieldReading::Value(CachePolicy::WriteThrough) | FieldReading::Missing(..) => match set {
            FieldReading::Value(CachePolicy::AlwaysWriteBack) => {
                (set.clone(), FieldReading::conflicting(disputed()))
            }
            FieldReading::Value(CachePolicy::WriteBack | CachePolicy::WriteThrough)
            | FieldReading::Missing(..) => (
                set.clone().only_if_other_is_known(now),
                shown.only_if_other_is_known(set),
            ),
        },
    }
}

fn policy_name(said: &FieldReading<CachePolicy>) -> &'static str {
    said.value().map_or("?", Choice::as_str)
}

fn parse_disk_cache_policy(own: &Value) -> FieldReading<MemberDiskCache> {
    parse_lowercase_field(own, &["Disk Cache Policy"], |word| match word {
        "disabled" => Some(MemberDiskCache::Off),
        "enabled" => Some(MemberDiskCache::On),
        "disk's default" => Some(MemberDiskCache::DiskDefault),
        _ => None,
    })
}

/// Some versions print the column `Cac`, which is `-` without a CacheCade SSD. With an SSD the
/// result is *disk default*, because storcli does not print the SSD's own cache.
fn cachecade_ssd_cache(row: &Value) -> Option<FieldReading<MemberDiskCache>> {
    let key = "Cac";
    row.get(key)?;
    Some(parse_lowercase_field(row, &[key], |word| {
        Some(if word == "-" {
            MemberDiskCache::Off
        } else {
            MemberDiskCache::DiskDefault
        })
    }))
}

/// The column `PDC` (physical disk cache) has a word for each row of a drive group.
pub fn disk_cache_of_drive_group(data: &Value, group: &str) -> FieldReading<MemberDiskCache> {
    let of_group = table_rows(data, "TOPOLOGY")
        .filter(|row| text_field(row, &["DG"]).as_deref() == Some(group));
    let said = of_group.map(|row| {
        parse_lowercase_field(row, &["PDC"], |word| match word {
            "dsbl" => Some(MemberDiskCache::Off),
            "enbl" => Some(MemberDiskCache::On),
            "dflt" => Some(MemberDiskCache::DiskDefault),
            _ => None,
        })
    });
    worst_reading(said)
}
