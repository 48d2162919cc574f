//! The parser of `ctrl all show detail` and `ctrl slot=N ld all show detail` of ssacli, hpssacli
//! and hpacucli.
//!
//! Status lines follow glensc/nagios-plugin-check_raid, t/data/hpacucli; the rest follows HPE's
//! user guide of Smart Storage Administrator. The acceleration method *HPE SSD Smart Path* bypasses
//! the controller's cache. A *Temporarily Disabled* cache writes through although every volume is
//! set to cache.

use super::fields::{
    ToolOutputFields, display_safe_lines, parse_pci_address_field, to_single_spaced_lowercase,
};
use super::report::{Adapter, FieldReading, Volume, is_battery_absent, parse_wwn, worst_reading};
use super::synonyms::SMART_ARRAY;
use super::{
    MAX_CONTROLLERS, ToolQueryResult, cache_status_detail, parse_battery_presence,
    parse_volume_cache_modes, run_tool_command,
};
use crate::facts::catalog::controller::{BatteryCondition, MemberDiskCache};
use crate::host::{Host, Tool};

struct ControllerDetail {
    heading: String,
    fields: ToolOutputFields,
}

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
        .filter_map(slot_number)
        .collect()
}

/// Parses the answers to two commands: `detail` to `ctrl all show detail`, and `volumes`, one per
/// slot, to `ctrl slot=N ld all show detail`.
pub fn parse_adapters(detail: &[u8], volumes: &[(u32, Vec<u8>)]) -> Vec<Adapter> {
    let adapter = |block: ControllerDetail| {
        let slot = slot_number(&block);
        let answer = volumes
            .iter()
            .find(|(number, _)| Some(*number) == slot)
            .map(|(_, answer)| answer.as_slice());
        Adapter {
            name: slot.map_or_else(|| block.heading.clone(), |slot| format!("slot {slot}")),
            model: block.heading.split(" in Slot ").next().map(str::to_owned),
            pci: parse_pci_address_field(&block.fields),
            battery: battery_state(&block.fields),
            detail: cache_status_detail(&block.fields),
            volumes: parse_volumes(answer.unwrap_or_default(), &block.fields),
        }
    };
    parse_controllers(detail).into_iter().map(adapter).collect()
}

/// Splits the answer at headings such as `Smart Array P440ar in Slot 0 (Embedded)`, which are not
/// indented.
fn parse_controllers(answer: &[u8]) -> Vec<ControllerDetail> {
    let mut blocks: Vec<ControllerDetail> = Vec::new();
    for line in display_safe_lines(answer) {
        if is_top_level_heading(&line) {
            blocks.push(ControllerDetail {
                heading: line.trim().to_owned(),
                fields: ToolOutputFields::with_synonyms(SMART_ARRAY),
            });
        } else if let Some(block) = blocks.last_mut() {
            block.fields.add_line(&line);
        }
    }
    // The lines below an external storage system are dropped, because they do not describe a
    // controller of this host.
    blocks.retain(|block| is_controller_heading(&block.heading));
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

fn slot_number(block: &ControllerDetail) -> Option<u32> {
    block.fields.get("slot")?.parse().ok()
}

fn battery_state(fields: &ToolOutputFields) -> FieldReading<BatteryCondition> {
    const STATUS: &str = "battery/capacitor status";
    const COUNT: &str = "battery/capacitor count";
    let count = parse_battery_presence(fields, COUNT);
    if count.value().is_some_and(is_battery_absent) {
        return if fields.contains_key(STATUS) {
            FieldReading::conflicting(format!(
                "`{COUNT}` is 0 even though a battery status is reported"
            ))
        } else {
            count
        };
    }
    let status = fields.parse_lowercase_value(STATUS, |word| match word {
        "ok" => Some(BatteryCondition::Healthy),
        word if word.starts_with("recharging") || word.starts_with("charging") => {
            Some(BatteryCondition::Charging)
        }
        word if word.starts_with("failed") => Some(BatteryCondition::Failed),
        word if word.starts_with("degraded") => Some(BatteryCondition::Degraded),
        word if word.starts_with("not present") => Some(BatteryCondition::Absent),
        _ => None,
    });
    worst_reading([count, status])
}

fn parse_volumes(answer: &[u8], controller: &ToolOutputFields) -> Vec<Volume> {
    let mut volumes: Vec<(String, ToolOutputFields)> = Vec::new();
    for line in display_safe_lines(answer) {
        let trimmed = to_single_spaced_lowercase(&line);
        let number = trimmed
            .strip_prefix("logical drive:")
            .or_else(|| trimmed.strip_prefix("logicaldrive "));
        if let Some(number) = number {
            let number = number.split_whitespace().next().unwrap_or_default();
            volumes.push((
                format!("logical drive {number}"),
                ToolOutputFields::with_synonyms(SMART_ARRAY),
            ));
        } else if is_array_heading(&trimmed) || is_controller_heading(&line) {
            // Fields below the heading of an array or a controller do not belong to a volume.
            volumes.push((String::new(), ToolOutputFields::with_synonyms(SMART_ARRAY)));
        } else if let Some((_, fields)) = volumes.last_mut() {
            fields.add_line(&line);
        }
    }
    let named = volumes.into_iter().filter(|(name, _)| !name.is_empty());
    named
        .map(|(name, fields)| parse_volume(name, &fields, controller))
        .collect()
}

fn parse_volume(name: String, own: &ToolOutputFields, controller: &ToolOutputFields) -> Volume {
    parse_volume_cache_modes(own, controller, is_cache_read_only(controller)).replace_modes_of(
        Volume {
            // Some versions append the mount points to the device node.
            node: first_word_of_field(own, "disk name")
                .filter(|node| node.starts_with("/dev/"))
                .map(str::to_owned),
            wwn: own.get("unique identifier").and_then(parse_wwn),
            disk_cache: common_disk_cache(controller),
            ..Volume::name_only(name)
        },
    )
}

fn first_word_of_field<'a>(own: &'a ToolOutputFields, key: &str) -> Option<&'a str> {
    own.get(key)?.split_whitespace().next()
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
        .filter(|key| controller.contains_key(key))
        .map(|key| {
            controller.parse_lowercase_value(key, |word| match word {
                "disabled" | "disable" => Some(MemberDiskCache::Off),
                "enabled" | "enable" => Some(MemberDiskCache::On),
                "default" => Some(MemberDiskCache::DiskDefault),
                _ => None,
            })
        });
    let said: Vec<FieldReading<MemberDiskCache>> = said.collect();
    if said.is_empty() {
        FieldReading::not_reported("drive write cache")
    } else {
        worst_reading(said)
    }
}
