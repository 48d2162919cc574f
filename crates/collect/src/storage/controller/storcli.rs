//! The parser of storcli and perccli, for `/cALL show all J` and `/cALL/vALL show all J`. If their
//! JSON has no battery module, the tables of `/cX/cv show status` and `/cX/bbu show status` are
//! parsed too.
//!
//! Output formats follow prometheus-community/node-exporter-textfile-collector-scripts
//! (mock/fixtures) and thomas-krenn/check_lsi_raid. The same words mean a state in one place and a
//! capability in another, so every key is addressed by its full path. `HwCfg/BBU` is `Present`, but
//! `Supported Adapter Operations/BBU` is `Yes` even without a battery.

use serde_json::Value;

use super::fields::{self, DISK_CACHE, ToolOutputFields, listed, to_single_spaced_lowercase};
use super::report::{
    Adapter, FieldReading, Volume, battery_failure_policy, battery_state, conflicting,
    mode_in_force_without_fallback, not_reported, unrecognised_value, worst_reading,
};
use super::storcli_json::{
    parse_adapter_identity, parse_controllers, parse_exact_field, parse_lowercase_field,
    parse_volume_identity, table_rows, text_field,
};
use super::synonyms::{MEGARAID, synonyms_of_family};
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
    let table = |number: &str, part: &str| {
        run_tool_command(host, tool, &format!("/c{number}/{part} show status nolog"))
            .unwrap_or_default()
    };
    Ok((parse_adapters(&all, &volumes, &table), ALL))
}

/// Parses two answers: `all` to `/cALL show all J`, and `volumes` to `/cALL/vALL show all J`.
/// `table` gives the answer to `/cX/cv show status` or `/cX/bbu show status`.
pub fn parse_adapters(
    all: &[u8],
    volumes: &[u8],
    table: &dyn Fn(&str, &str) -> Vec<u8>,
) -> Vec<Adapter> {
    parse_controllers(all, volumes, |name, data, properties| {
        let bad_battery = parse_lowercase_field(
            data,
            "/Defaults/Cache When BBU Bad",
            listed("storcli: Cache When BBU Bad"),
        );
        let module = battery_module_state(data, |part| table(&name, part));
        Adapter {
            battery: battery_state(
                battery_presence(data),
                module,
                Some(battery_status(data)),
                "`HwCfg/BBU` is `Absent` even though a module is listed",
            ),
            volumes: table_rows(data, "VD LIST")
                .filter_map(|row| parse_volume(row, data, properties, &bad_battery))
                .collect(),
            ..parse_adapter_identity(name, data, "/Basics/Model", "/Basics/PCI Address")
        }
    })
}

pub fn battery_presence(data: &Value) -> FieldReading<BatteryCondition> {
    parse_lowercase_field(data, "/HwCfg/BBU", listed("storcli: HwCfg/BBU"))
}

/// If the JSON lists no module although a battery is present, only the tables print its state.
fn battery_module_state(
    data: &Value,
    table: impl Fn(&str) -> Vec<u8>,
) -> FieldReading<BatteryCondition> {
    const MODULES: [&str; 2] = ["Cachevault_Info", "BBU_Info"];
    let is_listed = MODULES.iter().any(|key| data.get(key).is_some());
    if !is_listed && battery_presence(data) == Ok(BatteryCondition::Healthy) {
        return battery_state_from_tables(&table("cv"), &table("bbu"));
    }
    let modules = MODULES.into_iter().flat_map(|key| table_rows(data, key));
    worst_reading(
        "Cachevault_Info or BBU_Info",
        modules
            .map(|module| parse_lowercase_field(module, "/State", megaraid_battery::parse_state)),
    )
}

fn battery_status(data: &Value) -> FieldReading<BatteryCondition> {
    const STATUS: &str = "Status/BBU Status";
    let Some(code) = text_field(data, &format!("/{STATUS}")) else {
        return not_reported(STATUS);
    };
    match code.parse() {
        Ok(number) => Ok(megaraid_battery::parse_battery_state_code(number)),
        Err(_) => megaraid_battery::parse_state(&to_single_spaced_lowercase(&code))
            .map_or_else(|| unrecognised_value(STATUS, &code), Ok),
    }
}

fn battery_state_from_tables(flash: &[u8], battery: &[u8]) -> FieldReading<BatteryCondition> {
    let read = |answer: &[u8]| {
        let mut fields = ToolOutputFields::with_synonyms(MEGARAID);
        for line in fields::display_safe_lines(answer) {
            let line = to_single_spaced_lowercase(&line);
            let value = |property: &'static str| {
                let value = line.strip_prefix(property)?.strip_prefix(' ')?;
                Some((property, value.to_owned()))
            };
            let flags = megaraid_battery::battery_flags().map(|[flag, ..]| flag);
            let properties = ["state", "charging status"].into_iter().chain(flags);
            let others = synonyms_of_family(MEGARAID).flatten();
            if let Some((property, value)) = properties.chain(others).find_map(value) {
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
    let state_and = |fields: &ToolOutputFields, key, flags: FlagsFn| {
        fields.contains_key(key).then(|| {
            let state = fields.parse_lowercase_value(key, megaraid_battery::parse_state);
            worst_reading(key, [state, flags(fields)])
        })
    };
    let of_flash = state_and(
        &flash,
        "state",
        megaraid_battery::parse_replacement_required,
    );
    let of_battery = state_and(
        &battery,
        "battery state",
        megaraid_battery::parse_battery_flags,
    );
    worst_reading(
        "state of a battery or flash module",
        of_flash.into_iter().chain(of_battery),
    )
}

type FlagsFn = fn(&ToolOutputFields) -> FieldReading<BatteryCondition>;

fn parse_volume(
    row: &Value,
    data: &Value,
    properties: &Value,
    bad_battery: &FieldReading<BatteryFailurePolicy>,
) -> Option<Volume> {
    let name = text_field(row, "/DG~1VD")?;
    let (group, number) = name.split_once('/')?;
    let target: u32 = number.parse().ok()?;
    let own = properties
        .get(format!("VD{number} Properties"))
        .unwrap_or(&Value::Null);
    let now = parse_exact_field(row, "/Cache", parse_write_policy);
    let set = parse_lowercase_field(own, "/Write Cache(initial setting)", |word| {
        listed("storcli: Write Cache(initial setting)")(&word.replace(' ', ""))
    });
    let (policy, in_force) = derive_policy_and_mode_in_force(&set, &now);
    let on_failure = worst_reading(
        "write cache",
        [
            in_force.clone().map(|_| BatteryFailurePolicy::WriteThrough),
            policy.clone().map(battery_failure_policy),
            bad_battery.clone(),
        ],
    );
    Some(Volume {
        target: Some(target),
        policy,
        in_force,
        on_failure,
        disk_cache: disk_cache(own, data, group, cachecade_ssd_cache(row)),
        ..parse_volume_identity(number, own)
    })
}

/// Parses the code of a volume's cache: read-ahead (`R`, adaptive `Ra`, none `NR`), write mode,
/// cached or direct (`C`, `D`). Case matters: `RaWBD` is `Ra` and `WB`, `RAWBD` is `R` and `AWB`.
fn parse_write_policy(code: &str) -> Option<CachePolicy> {
    let reads = ["NR", "Ra", "R"];
    let rest = reads
        .into_iter()
        .find_map(|reads| code.strip_prefix(reads))?;
    listed("storcli: Cache")(rest.strip_suffix(['C', 'D'])?)
}

/// Derives policy and current mode from the configured policy `set` and the current policy `now`,
/// as the tool reports them. A contradiction makes one of the results unknown.
pub fn derive_policy_and_mode_in_force(
    set: &FieldReading<CachePolicy>,
    now: &FieldReading<CachePolicy>,
) -> (FieldReading<CachePolicy>, FieldReading<CachePolicyInForce>) {
    let shown = now.clone().map(mode_in_force_without_fallback);
    let name = |policy: &FieldReading<CachePolicy>| policy.clone().map_or("?", Choice::as_str);
    let disputed = format!(
        "the configured cache policy is `{}`, but the tool reports `{}` as current",
        name(set),
        name(now)
    );
    if *now == Ok(CachePolicy::AlwaysWriteBack) {
        (now.clone(), shown)
    } else if *now == Ok(CachePolicy::WriteBack) {
        if *set == Ok(CachePolicy::WriteThrough) {
            (conflicting(disputed), shown)
        } else {
            (set.clone(), shown)
        }
    } else if *set == Ok(CachePolicy::AlwaysWriteBack) {
        (set.clone(), conflicting(disputed))
    } else {
        (now.clone().and(set.clone()), set.clone().and(shown))
    }
}

/// The worst of the volume's setting, the column `PDC` (physical disk cache) in each row of its
/// drive group, and `more`.
pub fn disk_cache(
    properties: &Value,
    data: &Value,
    group: &str,
    more: Option<FieldReading<MemberDiskCache>>,
) -> FieldReading<MemberDiskCache> {
    let of_group = table_rows(data, "TOPOLOGY")
        .filter(|row| text_field(row, "/DG").as_deref() == Some(group))
        .map(|row| parse_lowercase_field(row, "/PDC", listed(DISK_CACHE)));
    let policy = parse_lowercase_field(properties, "/Disk Cache Policy", listed(DISK_CACHE));
    worst_reading(
        "disk cache",
        [policy, worst_reading("PDC", of_group)]
            .into_iter()
            .chain(more),
    )
}

/// Some versions print the column `Cac`, which is `-` without a CacheCade SSD. With an SSD the
/// result is *disk default*, because storcli does not print the SSD's own cache.
fn cachecade_ssd_cache(row: &Value) -> Option<FieldReading<MemberDiskCache>> {
    row.get("Cac")?;
    Some(parse_lowercase_field(row, "/Cac", |word| {
        Some(if word == "-" {
            MemberDiskCache::Off
        } else {
            MemberDiskCache::DiskDefault
        })
    }))
}
