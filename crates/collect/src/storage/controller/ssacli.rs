//! ssacli, hpssacli and hpacucli: `ctrl all show detail` and `ctrl slot=N ld all show detail`.
//!
//! Status lines follow glensc/nagios-plugin-check_raid, t/data/hpacucli, the rest HPE's user guide
//! of Smart Storage Administrator. *Smart Path* bypasses the controller's cache. A *Temporarily
//! Disabled* cache writes through although every volume is set to cache.

use super::fields::{Fields, lines, normalise, pci_field};
use super::query::{ControllerList, MAX_CONTROLLERS, run_command};
use super::report::{Adapter, FieldReading, Volume, is_absent, parse_wwn, worst};
use super::smart_cache;
use super::synonyms::SMART_ARRAY;
use crate::facts::catalog::controller::{Battery, DiskCache};
use crate::host::{Host, Tool};

/// One controller in `ctrl all show detail`.
struct ControllerDetail {
    heading: String,
    fields: Fields,
}

pub fn query(host: &dyn Host, tool: Tool) -> ControllerList {
    const DETAIL: &str = "ctrl all show detail";
    let detail = run_command(host, tool, DETAIL)?;
    let slots = slots(&detail).into_iter().take(MAX_CONTROLLERS as usize);
    let volumes = slots.map(|slot| {
        (
            slot,
            run_command(host, tool, &format!("ctrl slot={slot} ld all show detail"))
                .unwrap_or_default(),
        )
    });
    Ok((parse(&detail, &volumes.collect::<Vec<_>>()), DETAIL))
}

/// Slots in `ctrl all show detail`, to query their volumes.
pub fn slots(detail: &[u8]) -> Vec<u32> {
    parse_controllers(detail).iter().filter_map(slot).collect()
}

/// `detail` is `ctrl all show detail`, `volumes` by slot `ctrl slot=N ld all show detail`.
pub fn parse(detail: &[u8], volumes: &[(u32, Vec<u8>)]) -> Vec<Adapter> {
    let adapter = |block: ControllerDetail| {
        let slot = slot(&block);
        let answer = volumes
            .iter()
            .find(|(number, _)| Some(*number) == slot)
            .map(|(_, answer)| answer.as_slice());
        Adapter {
            name: slot.map_or_else(|| block.heading.clone(), |slot| format!("slot {slot}")),
            model: block.heading.split(" in Slot ").next().map(str::to_owned),
            pci: pci_field(&block.fields),
            battery: battery(&block.fields),
            detail: smart_cache::detail(&block.fields),
            volumes: volumes_of(answer.unwrap_or_default(), &block.fields),
        }
    };
    parse_controllers(detail).into_iter().map(adapter).collect()
}

/// `Smart Array P440ar in Slot 0 (Embedded)`, not indented, and the fields below it.
fn parse_controllers(answer: &[u8]) -> Vec<ControllerDetail> {
    let mut blocks: Vec<ControllerDetail> = Vec::new();
    for line in lines(answer) {
        if is_enclosure(&line) {
            blocks.push(ControllerDetail {
                heading: line.trim().to_owned(),
                fields: Fields::with_synonyms(SMART_ARRAY),
            });
        } else if let Some(block) = blocks.last_mut() {
            block.fields.add(&line);
        }
    }
    // Lines below an external storage system describe no controller here.
    blocks.retain(|block| is_heading(&block.heading));
    blocks
}

/// `MSA1500 CS in MY STORAGE`, or a controller in a slot.
fn is_enclosure(line: &str) -> bool {
    !line.starts_with(' ') && line.contains(" in ") && !line.contains(':')
}

fn is_heading(line: &str) -> bool {
    !line.starts_with(' ') && line.contains(" in Slot ")
}

/// `Array A` or `Array: A`, and not the volume's `Array Accelerator: Enabled`.
fn is_array_heading(line: &str) -> bool {
    line.starts_with("array:") || line.starts_with("array ") && !line.contains(':')
}

fn slot(block: &ControllerDetail) -> Option<u32> {
    block.fields.get("slot")?.parse().ok()
}

fn battery(fields: &Fields) -> FieldReading<Battery> {
    const STATUS: &str = "battery/capacitor status";
    const COUNT: &str = "battery/capacitor count";
    let count = smart_cache::packs(fields, COUNT);
    if count.value().is_some_and(is_absent) {
        return if fields.has(STATUS) {
            FieldReading::conflicting(format!("`{COUNT}` is 0 although there is a status"))
        } else {
            count
        };
    }
    let status = fields.parse_value(STATUS, |word| match word {
        "ok" => Some(Battery::Healthy),
        word if word.starts_with("recharging") || word.starts_with("charging") => {
            Some(Battery::Charging)
        }
        word if word.starts_with("failed") => Some(Battery::Failed),
        word if word.starts_with("degraded") => Some(Battery::Degraded),
        word if word.starts_with("not present") => Some(Battery::Absent),
        _ => None,
    });
    worst([count, status])
}

fn volumes_of(answer: &[u8], controller: &Fields) -> Vec<Volume> {
    let mut volumes: Vec<(String, Fields)> = Vec::new();
    for line in lines(answer) {
        let trimmed = normalise(&line);
        let number = trimmed
            .strip_prefix("logical drive:")
            .or_else(|| trimmed.strip_prefix("logicaldrive "));
        if let Some(number) = number {
            let number = number.split_whitespace().next().unwrap_or_default();
            volumes.push((
                format!("logical drive {number}"),
                Fields::with_synonyms(SMART_ARRAY),
            ));
        } else if is_array_heading(&trimmed) || is_heading(&line) {
            // The following fields belong to no volume until the next heading.
            volumes.push((String::new(), Fields::with_synonyms(SMART_ARRAY)));
        } else if let Some((_, fields)) = volumes.last_mut() {
            fields.add(&line);
        }
    }
    let named = volumes.into_iter().filter(|(name, _)| !name.is_empty());
    named
        .map(|(name, fields)| volume(name, &fields, controller))
        .collect()
}

fn volume(name: String, own: &Fields, controller: &Fields) -> Volume {
    smart_cache::modes(own, controller, has_no_write_share(controller)).apply_to(Volume {
        // Some versions append the mount points.
        node: first_word(own, "disk name")
            .filter(|node| node.starts_with("/dev/"))
            .map(str::to_owned),
        wwn: own.get("unique identifier").and_then(parse_wwn),
        disk_cache: disk_cache(controller),
        ..Volume::name_only(name)
    })
}

fn first_word<'a>(own: &'a Fields, key: &str) -> Option<&'a str> {
    own.get(key)?.split_whitespace().next()
}

/// `Cache Ratio: 100% Read / 0% Write`.
fn has_no_write_share(controller: &Fields) -> bool {
    controller
        .get("cache ratio")
        .is_some_and(|ratio| ratio.split('/').any(|part| normalise(part) == "0% write"))
}

/// One line for all disks, or in newer versions one per kind of disk.
fn disk_cache(controller: &Fields) -> FieldReading<DiskCache> {
    const KEYS: [&str; 2] = ["drive write cache", "configured drive write cache policy"];
    let said = KEYS
        .into_iter()
        .filter(|key| controller.has(key))
        .map(|key| {
            controller.parse_value(key, |word| match word {
                "disabled" | "disable" => Some(DiskCache::Off),
                "enabled" | "enable" => Some(DiskCache::On),
                "default" => Some(DiskCache::DiskDefault),
                _ => None,
            })
        });
    let said: Vec<FieldReading<DiskCache>> = said.collect();
    if said.is_empty() {
        FieldReading::missing("drive write cache")
    } else {
        worst(said)
    }
}
