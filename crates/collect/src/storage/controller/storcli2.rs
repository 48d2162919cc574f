//! The parser of storcli2 and perccli2, for MegaRAID 9600 and PERC 12 controllers:
//! `/call show all nolog J` and `/call/vall show all nolog J`.
//!
//! Output formats follow scality/raidmgmt (testdata, a 9660-16i) and project-machine/disko
//! (mpi3mr); `WB`, `WT` and `AWB` follow the help of Broadcom's MegaRAID Storage Manager. The JSON
//! has the outer form of storcli's, but other keys inside. It has no *Cache When BBU Bad*: `WB`
//! falls back without an energy pack, `AWB` does not.

use serde_json::Value;

use super::fields::listed;
use super::report::{
    Adapter, FieldReading, Volume, battery_failure_policy, battery_state, conflicting,
    mode_in_force_without_fallback, parse_battery_state, worst_reading,
};
use super::storcli::{battery_presence, derive_policy_and_mode_in_force, disk_cache};
use super::storcli_json::{
    parse_adapter_identity, parse_controllers, parse_exact_field, parse_lowercase_field,
    parse_volume_identity, table_rows, text_field,
};
use super::{ToolQueryResult, run_tool_command};
use crate::facts::catalog::controller::CachePolicy;
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
    let packs = table_rows(data, "BBU_Info").map(|pack| {
        parse_lowercase_field(pack, "/Status", |word| {
            parse_battery_state(word, &["optimal"])
        })
    });
    Adapter {
        battery: battery_state(
            battery_presence(data),
            worst_reading("BBU_Info", packs),
            None,
            "`HwCfg/BBU` is `Absent` even though a pack is listed",
        ),
        volumes: table_rows(data, "VD LIST")
            .filter_map(|row| parse_volume(row, data, volumes))
            .collect(),
        ..parse_adapter_identity(
            name,
            data,
            "/Basics/Product Name",
            "/HostInterface/PCI Address",
        )
    }
}

fn parse_volume(row: &Value, data: &Value, volumes: &Value) -> Option<Volume> {
    let name = text_field(row, "/DG~1VD")?;
    let (group, number) = name.split_once('/')?;
    let same = |other: &&Value| text_field(other, "/VD Info/DG~1VD").as_deref() == Some(&name);
    let own = table_rows(volumes, "Virtual Drives")
        .find(same)
        .unwrap_or(&Value::Null);
    let reported = |key: &str| {
        [(own, format!("/VD Info/{key}")), (row, format!("/{key}"))]
            .map(|(value, path)| parse_exact_field(value, &path, parse_write_policy))
    };
    let set = merge_reported_policies(reported("DefaultCache"), "DefaultCache");
    let now = merge_reported_policies(reported("CurrentCache"), "CurrentCache");
    let (policy, in_force) = derive_policy_and_mode_in_force(&set, &now);
    // One of the two answers suffices, because *write back* is the riskier mode.
    let shown = reported("CurrentCache").map(|policy| policy.map(mode_in_force_without_fallback));
    let properties = own.get("VD Properties").unwrap_or(&Value::Null);
    Some(Volume {
        on_failure: now.and(policy.clone()).map(battery_failure_policy),
        policy,
        in_force: worst_reading("CurrentCache", [in_force].into_iter().chain(shown)),
        disk_cache: disk_cache(properties, data, group, None),
        ..parse_volume_identity(number, properties)
    })
}

/// *Always write back* is assumed even if only one answer has it.
fn merge_reported_policies(
    reported: [FieldReading<CachePolicy>; 2],
    key: &str,
) -> FieldReading<CachePolicy> {
    if let [Ok(CachePolicy::WriteBack), Ok(CachePolicy::WriteThrough)]
    | [Ok(CachePolicy::WriteThrough), Ok(CachePolicy::WriteBack)] = reported
    {
        return conflicting(format!("`{key}` has two different values"));
    }
    worst_reading(key, reported)
}

fn parse_write_policy(code: &str) -> Option<CachePolicy> {
    let (reads, writes) = code.split_once(',')?;
    let mode = listed("storcli2: CurrentCache")(writes);
    mode.filter(|_| ["NR", "R"].contains(&reads))
}
