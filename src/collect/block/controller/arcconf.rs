//! arcconf: `getconfig N`.
//!
//! Shapes after the reports in glensc/nagios-plugin-check_raid, t/data/arcconf. Headings have no colon and fields do, so
//! the dashes around headings are not needed. The surprise: a plain *Enabled (write-back)* holds writes back with any
//! battery or none; only *when protected by battery/ZMM* falls back.

use super::fields::{Fields, lines, plain};
use super::said::{Adapter, Said, Volume, pci_field, worst};
use crate::facts::catalog::controller::{Battery, DiskCache, InForce, OnFailure, Policy};

/// How many controllers an answer counts, of which each has to be asked.
pub fn count(answer: &[u8]) -> u32 {
    let lines = lines(answer);
    let count = lines.iter().find_map(|line| line.trim().strip_prefix("Controllers found:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// Reads one controller, the one that this number asked for.
pub fn parse(number: u32, answer: &[u8]) -> Adapter {
    let mut controller = Fields::default();
    let mut backup: Option<Fields> = None;
    let mut volumes: Vec<(String, Fields)> = Vec::new();
    let mut disks: Vec<Fields> = Vec::new();
    let mut unnamed = Fields::default();
    let mut part = Part::Other;
    for line in lines(answer) {
        let line = line.trim();
        if line.is_empty() || line.starts_with("---") {
            continue;
        }
        match (line.contains(':'), &part) {
            (false, _) => match heading(&plain(line)) {
                Some(new) => {
                    match &new {
                        Part::Volume(name) => volumes.push((name.clone(), Fields::default())),
                        Part::Disk => disks.push(Fields::default()),
                        Part::Backup => {
                            backup.get_or_insert_default();
                        }
                        Part::Controller | Part::Disks | Part::Other => {}
                    }
                    part = new;
                }
                None => {
                    // `Device is a Hard drive` is a sentence about the disk.
                    if let (Part::Disk, Some(disk)) = (&part, disks.last_mut()) {
                        disk.put(plain(line), String::new());
                    }
                }
            },
            (true, Part::Controller) => controller.add(line),
            (true, Part::Backup) => backup.get_or_insert_default().add(line),
            (true, Part::Volume(_)) => {
                if let Some((_, fields)) = volumes.last_mut() {
                    fields.add(line);
                }
            }
            (true, Part::Disk) => {
                if let Some(disk) = disks.last_mut() {
                    disk.add(line);
                }
            }
            (true, Part::Disks) => unnamed.add(line),
            (true, Part::Other) => {}
        }
    }
    // A disk whose heading was lost.
    if unnamed.has("write cache") {
        disks.push(unnamed);
    }
    let disk_cache = disk_cache(&controller, &disks);
    Adapter {
        name: number.to_string(),
        model: controller.get("controller model").map(str::to_owned).filter(|model| !model.is_empty()),
        pci: pci_field(&controller),
        battery: battery(backup.as_ref()),
        volumes: volumes.into_iter().map(|(name, fields)| volume(&name, &fields, &disk_cache)).collect(),
    }
}

/// What the lines are about.
enum Part {
    Controller,
    Backup,
    Volume(String),
    Disks,
    Disk,
    Other,
}

fn heading(line: &str) -> Option<Part> {
    if line == "controller information" {
        return Some(Part::Controller);
    }
    if line.starts_with("controller battery information")
        || line.starts_with("controller zmm information")
        || line.contains("cache backup unit information")
        || line.starts_with("supercap information")
    {
        return Some(Part::Backup);
    }
    let volume = ["logical device number ", "logical drive number "];
    if let Some(number) = volume.iter().find_map(|words| line.strip_prefix(words)) {
        return Some(Part::Volume(number.to_owned()));
    }
    if line == "physical device information" {
        return Some(Part::Disks);
    }
    if line.starts_with("device #") {
        return Some(Part::Disk);
    }
    line.ends_with("information").then_some(Part::Other)
}

fn battery(backup: Option<&Fields>) -> Said<Battery> {
    let Some(fields) = backup else { return Said::missing("battery or backup unit information") };
    let meaning = |word: &str| match word.strip_prefix("zmm ").unwrap_or(word) {
        "optimal" | "ready" => Some(Battery::Healthy),
        "charging" => Some(Battery::Charging),
        "failed" => Some(Battery::Failed),
        "degraded" | "not ready" => Some(Battery::Degraded),
        "not installed" | "not present" => Some(Battery::Absent),
        _ => None,
    };
    if fields.has("overall backup unit status") {
        const PARTS: [&str; 3] =
            ["overall backup unit status", "non-volatile storage status", "supercap status"];
        let also = fields.has("status").then(|| fields.said("status", meaning));
        return worst(PARTS.map(|key| fields.said(key, meaning)).into_iter().chain(also));
    }
    fields.said("status", meaning)
}

fn volume(name: &str, fields: &Fields, disk_cache: &Said<DiskCache>) -> Volume {
    const SETTING: &str = "write-cache setting";
    let is_on = |word: &str| word.starts_with("enabled") || word == "on" || word.starts_with("on when");
    let is_off = |word: &str| word.starts_with("disabled") || word == "off";
    let policy = fields.said(SETTING, |word| match word {
        word if is_off(word) => Some(Policy::WriteThrough),
        word if is_on(word) && word.contains("when protected") => Some(Policy::WriteBack),
        "on" | "enabled" | "enabled (write-back)" => Some(Policy::AlwaysWriteBack),
        _ => None,
    });
    let on_failure = policy.clone().map(|policy| match policy {
        Policy::AlwaysWriteBack => OnFailure::Stays,
        Policy::WriteBack | Policy::WriteThrough => OnFailure::WriteThrough,
    });
    let now: Vec<Said<InForce>> = ["write-cache status", "write-cache mode"]
        .into_iter()
        .filter(|key| fields.has(key))
        .map(|key| {
            fields.said(key, |word| match word {
                word if is_off(word) => Some(InForce::WriteThrough),
                "on" | "enabled" | "enabled (write-back)" => Some(InForce::WriteBack),
                _ => None,
            })
        })
        .collect();
    let in_force = match now.as_slice() {
        [] => Said::missing("write-cache status"),
        said => worst(said.iter().cloned()),
    };
    let in_force = match in_force {
        Said::Is(InForce::WriteThrough) => in_force.only_if(&policy),
        Said::Is(InForce::WriteBack) | Said::Gap(..) => in_force,
    };
    let node = fields.get("disk name").and_then(|text| text.split_whitespace().next());
    Volume {
        name: format!("logical device {name}"),
        target: name.parse().ok(),
        node: node.filter(|node| node.starts_with("/dev/")).map(str::to_owned),
        wwn: None,
        policy,
        in_force,
        on_failure,
        disk_cache: disk_cache.clone(),
    }
}

/// Caches of all disks of the controller together, whichever volume they belong to.
fn disk_cache(controller: &Fields, disks: &[Fields]) -> Said<DiskCache> {
    const GLOBAL: &str = "global physical device write cache policy";
    let meaning = |word: &str| match word {
        word if word.starts_with("disabled") => Some(DiskCache::Off),
        word if word.starts_with("enabled") => Some(DiskCache::On),
        _ => None,
    };
    let is_disk = |fields: &&Fields| !fields.has("device is an enclosure services device");
    let of_disks: Vec<Said<DiskCache>> =
        disks.iter().filter(is_disk).map(|disk| disk.said("write cache", meaning)).collect();
    if of_disks.is_empty() {
        return Said::missing("write cache of the disks");
    }
    let global = controller
        .said(GLOBAL, |word| meaning(word).or((word == "drive specific").then_some(DiskCache::Off)));
    let global = controller.has(GLOBAL).then_some(global);
    worst(of_disks.into_iter().chain(global))
}
