//! The parser of `ctrl all show detail` and `ctrl slot=N ld all show detail` of ssacli, hpssacli
//! and hpacucli.
//!
//! Status lines follow glensc/nagios-plugin-check_raid, t/data/hpacucli; the rest follows HPE's
//! user guide of Smart Storage Administrator. The acceleration method *HPE SSD Smart Path* bypasses
//! the controller's cache. A *Temporarily Disabled* cache writes through although every volume is
//! set to cache.

use super::fields::{
    DISK_CACHE, ToolOutputFields, fields_by_heading, listed, parse_pci_address_field,
    to_single_spaced_lowercase,
};
use super::report::{
    Adapter, FieldReading, Volume, battery_state, parse_battery_state, parse_wwn, worst_reading,
};
use super::synonyms::SMART_ARRAY;
use super::{
    MAX_CONTROLLERS, ToolQueryResult, cache_status_detail, device_node_field,
    parse_battery_presence, run_tool_command, with_smart_cache_modes,
};
use crate::facts::catalog::controller::MemberDiskCache;
use crate::host::{Host, Tool};

pub fn query_adapters(host: &dyn Host, tool: Tool) -> ToolQueryResult {
    const DETAIL: &str = "ctrl all show detail";
    let detail = run_tool_command(host, tool, DETAIL)?;
    let slots = parse_slot_numbers(&detail)
        .into_iter()
        .take(MAX_CONTROLLERS as usize);
    let volumes = slots.map(|slot| {
        (
            slot,
            run_tool_command(host, tool, &format!("ctrl slot={slot} ld all show detail"))
                .unwrap_or_default(),
        )
    });
    Ok((
        parse_adapters(&detail, &volumes.collect::<Vec<_>>()),
        DETAIL,
    ))
}

pub fn parse_slot_numbers(detail: &[u8]) -> Vec<u32> {
    parse_controllers(detail)
        .iter()
        .filter_map(|(_, fields)| slot_number(fields))
        .collect()
}

/// Parses the answers to two commands: `detail` to `ctrl all show detail`, and `volumes`, one per
/// slot, to `ctrl slot=N ld all show detail`.
pub fn parse_adapters(detail: &[u8], volumes: &[(u32, Vec<u8>)]) -> Vec<Adapter> {
    let adapter = |(heading, fields): (String, ToolOutputFields)| {
        let slot = slot_number(&fields);
        let answer = volumes
            .iter()
            .find(|(number, _)| Some(*number) == slot)
            .map(|(_, answer)| answer.as_slice());
        Adapter {
            model: heading.split(" in Slot ").next().map(str::to_owned),
            name: slot.map_or(heading, |slot| format!("slot {slot}")),
            pci: parse_pci_address_field(&fields),
            battery: battery_state(
                parse_battery_presence(&fields, "battery/capacitor count"),
                fields.parse_lowercase_value("battery/capacitor status", |word| {
                    parse_battery_state(word, &["ok"])
                }),
                None,
                "`battery/capacitor count` is 0 even though a battery status is reported",
            ),
            detail: cache_status_detail(&fields),
            volumes: parse_volumes(answer.unwrap_or_default(), &fields),
        }
    };
    parse_controllers(detail).into_iter().map(adapter).collect()
}

/// Splits the answer at headings such as `Smart Array P440ar in Slot 0 (Embedded)`, which are not
/// indented.
fn parse_controllers(answer: &[u8]) -> Vec<(String, ToolOutputFields)> {
    let mut blocks = fields_by_heading(answer, SMART_ARRAY, |line| {
        is_top_level_heading(line).then(|| line.trim().to_owned())
    });
    // The lines below an external storage system are dropped, because they do not describe a
    // controller of this host.
    blocks.retain(|(heading, _)| is_controller_heading(heading));
    blocks
}

/// Whether a line is the heading of a controller or of an external storage system, such as
/// `MSA1500 CS in MY STORAGE`.
fn is_top_level_heading(line: &str) -> bool {
    !line.starts_with(' ') && line.contains(" in ") && !line.contains(':')
}

fn is_controller_heading(line: &str) -> bool {
    !line.starts_with(' ') && line.contains(" in Slot ")
}

/// Whether a line is `Array A` or `Array: A`, as opposed to a volume's field
/// `Array Accelerator: Enabled`.
fn is_array_heading(line: &str) -> bool {
    line.starts_with("array:") || line.starts_with("array ") && !line.contains(':')
}

fn slot_number(fields: &ToolOutputFields) -> Option<u32> {
    fields.get("slot")?.parse().ok()
}

fn parse_volumes(answer: &[u8], controller: &ToolOutputFields) -> Vec<Volume> {
    let sections = fields_by_heading(answer, SMART_ARRAY, |line| {
        let words = to_single_spaced_lowercase(line);
        let number = words
            .strip_prefix("logical drive:")
            .or_else(|| words.strip_prefix("logicaldrive "));
        if let Some(number) = number {
            let number = number.split_whitespace().next().unwrap_or_default();
            return Some(Some(format!("logical drive {number}")));
        }
        // Fields below the heading of an array or a controller do not belong to a volume.
        (is_array_heading(&words) || is_controller_heading(line)).then_some(None)
    });
    sections
        .into_iter()
        .filter_map(|(name, own)| Some(parse_volume(name?, &own, controller)))
        .collect()
}

fn parse_volume(name: String, own: &ToolOutputFields, controller: &ToolOutputFields) -> Volume {
    let volume = Volume {
        node: device_node_field(own),
        wwn: own.get("unique identifier").and_then(parse_wwn),
        disk_cache: common_disk_cache(controller),
        ..Volume::name_only(name)
    };
    with_smart_cache_modes(volume, own, controller, is_cache_read_only(controller))
}

fn is_cache_read_only(controller: &ToolOutputFields) -> bool {
    controller.get("cache ratio").is_some_and(|ratio| {
        ratio
            .split('/')
            .any(|part| to_single_spaced_lowercase(part) == "0% write")
    })
}

/// One field covers all disks in the controller's volumes. Its name differs between versions.
fn common_disk_cache(controller: &ToolOutputFields) -> FieldReading<MemberDiskCache> {
    const KEYS: [&str; 2] = ["drive write cache", "configured drive write cache policy"];
    let said = KEYS
        .into_iter()
        .filter_map(|key| controller.parse_optional_value(key, listed(DISK_CACHE)));
    worst_reading("drive write cache", said)
}
