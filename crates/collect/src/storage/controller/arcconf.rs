//! The parser of arcconf's `getconfig N`.
//!
//! Output formats follow glensc/nagios-plugin-check_raid, t/data/arcconf; for SmartRAID controllers
//! also project-machine/disko (smartpqi) and the header of Microchip's storage library. Headings
//! have no colon and fields do, so the dashes around headings are not needed.
//!
//! A volume set to *Enabled (write-back)* caches writes even without a battery; only one set to
//! *when protected by battery/ZMM* falls back to write through.

mod disks;

use self::disks::{DiskInventory, PhysicalDisk, VolumeMemberLine};
use super::fields::{
    ToolOutputFields, display_safe_lines, listed, parse_pci_address_field, split_key_and_value,
    to_single_spaced_lowercase,
};
use super::report::{
    self, Adapter, FieldReading, Volume, battery_failure_policy, not_reported, parse_battery_state,
    parse_wwn, worst_reading,
};
use super::synonyms::{ADAPTEC, BACKUP_UNITS};
use super::{
    MAX_CONTROLLERS, ToolQueryResult, cache_status_detail, device_node_field,
    parse_battery_presence, run_tool_command, with_smart_cache_modes,
};
use crate::facts::catalog::controller::{
    BatteryCondition, CachePolicy, CachePolicyInForce, MemberDiskCache,
};
use crate::host::{Host, Tool};

pub fn query_adapters(host: &dyn Host, tool: Tool) -> ToolQueryResult {
    let first = run_tool_command(host, tool, "getconfig 1 nologs")?;
    let count = parse_controller_count(&first).min(MAX_CONTROLLERS);
    let adapter = |number| {
        let answer = if number == 1 {
            Ok(first.clone())
        } else {
            run_tool_command(host, tool, &format!("getconfig {number} nologs"))
        };
        match answer {
            Ok(answer) => parse_adapter(number, &answer),
            Err(_) => Adapter::name_only(number.to_string(), not_reported("getconfig")),
        }
    };
    Ok(((1..=count).map(adapter).collect(), "getconfig 1 nologs"))
}

pub fn parse_controller_count(answer: &[u8]) -> u32 {
    let lines = display_safe_lines(answer);
    let count = lines
        .iter()
        .find_map(|line| line.trim().strip_prefix("Controllers found:"));
    count
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or(0)
}

pub fn parse_adapter(number: u32, answer: &[u8]) -> Adapter {
    let sections = sections(answer);
    let fields = |wanted| {
        let wanted = sections.iter().filter(|(section, _)| *section == wanted);
        parse_fields(wanted.flat_map(|(_, lines)| lines))
    };
    let controller = fields(OutputSection::Controller);
    let cache = fields(OutputSection::Cache);
    let backup = sections
        .iter()
        .any(|(section, _)| *section == OutputSection::Backup)
        .then(|| fields(OutputSection::Backup));
    let mut volumes: Vec<LogicalDevice> = Vec::new();
    let mut disks = Vec::new();
    for (section, lines) in &sections {
        let members = lines.iter().flat_map(|line| members_in_line(line));
        match section {
            OutputSection::Volume(number) => volumes.push(LogicalDevice {
                number,
                fields: parse_fields(lines.iter().filter(|line| members_in_line(line).is_empty())),
                members: members.collect(),
            }),
            OutputSection::Members => {
                if let Some(volume) = volumes.last_mut() {
                    volume.members.extend(members);
                }
            }
            OutputSection::Disk(number) => disks.push(PhysicalDisk {
                number: number.clone(),
                fields: parse_fields(lines),
            }),
            OutputSection::Controller
            | OutputSection::Backup
            | OutputSection::Cache
            | OutputSection::Policy
            | OutputSection::Disks
            | OutputSection::Other => {}
        }
    }
    // Disk fields without a heading belong to a disk whose heading line is lost, so that disk is
    // added.
    let unnamed = fields(OutputSection::Disks);
    if unnamed.contains_key("write cache") {
        disks.push(PhysicalDisk {
            number: String::new(),
            fields: unnamed,
        });
    }
    let members = volumes.iter().map(|volume| volume.members.as_slice());
    let disks = DiskInventory::new(disks, members);
    let policy = fields(OutputSection::Policy);
    let caches = MemberDiskCacheSources {
        sections: [&controller, &cache, &policy],
        disks,
    };
    Adapter {
        name: number.to_string(),
        model: controller
            .get("controller model")
            .map(str::to_owned)
            .filter(|model| !model.is_empty()),
        pci: parse_pci_address_field(&controller),
        battery: battery_state(backup.as_ref()),
        detail: cache_status_detail(&cache),
        volumes: volumes
            .iter()
            .map(|volume| volume.to_volume(&cache, &caches))
            .collect(),
    }
}

/// The lines below each heading.
fn sections(answer: &[u8]) -> Vec<(OutputSection, Vec<String>)> {
    let mut sections: Vec<(OutputSection, Vec<String>)> = Vec::new();
    for line in display_safe_lines(answer) {
        let before = sections.last_mut();
        let section = before.as_ref().map(|(section, _)| section);
        let is_field = line.contains(':');
        if let Some(new) =
            parse_heading(&to_single_spaced_lowercase(&line), section).filter(|_| !is_field)
        {
            sections.push((new, Vec::new()));
        } else if let Some((_, lines)) = before {
            lines.push(line);
        }
    }
    sections
}

fn parse_fields<'a>(lines: impl IntoIterator<Item = &'a String>) -> ToolOutputFields {
    let mut fields = ToolOutputFields::with_synonyms(ADAPTEC);
    for line in lines {
        fields.add_line(line);
        // The line `Device is a Hard drive` has no colon but describes the disk.
        let words = to_single_spaced_lowercase(line);
        if words.starts_with("device is a") && !words.contains(':') {
            fields.insert_or_conflict(&words, String::new());
        }
    }
    fields
}

fn members_in_line(line: &str) -> Vec<VolumeMemberLine> {
    split_key_and_value(line)
        .map(VolumeMemberLine::parse_members_in_field)
        .unwrap_or_default()
}

struct LogicalDevice<'a> {
    number: &'a str,
    fields: ToolOutputFields,
    members: Vec<VolumeMemberLine>,
}

#[derive(PartialEq, Eq)]
enum OutputSection {
    Controller,
    Backup,
    Cache,
    Policy,
    Volume(String),
    Members,
    Disks,
    Disk(String),
    Other,
}

fn parse_heading(line: &str, before: Option<&OutputSection>) -> Option<OutputSection> {
    match line {
        "controller information" => return Some(OutputSection::Controller),
        "cache properties" => return Some(OutputSection::Cache),
        "physical drive write cache policy information" => return Some(OutputSection::Policy),
        "physical device information" => return Some(OutputSection::Disks),
        "logical device segment information" | "array physical device information" => {
            return Some(match before {
                Some(OutputSection::Volume(_) | OutputSection::Members) => OutputSection::Members,
                // Outside a volume, this heading belongs to the list of arrays. Disks there are not
                // members of a volume.
                _ => OutputSection::Other,
            });
        }
        // This heading only separates a volume's fields from its members.
        "consistency check information" => return None,
        _ => {}
    }
    if line.contains("information") && BACKUP_UNITS.iter().any(|unit| line.contains(unit)) {
        return Some(OutputSection::Backup);
    }
    let volume = ["logical device number ", "logical drive number "];
    if let Some(number) = volume.iter().find_map(|words| line.strip_prefix(words)) {
        return Some(OutputSection::Volume(number.to_owned()));
    }
    if let Some(number) = line.strip_prefix("device #") {
        return Some(OutputSection::Disk(number.to_owned()));
    }
    let ends = ["information", "properties", "settings", "counters"];
    ends.iter()
        .any(|end| line.ends_with(end))
        .then_some(OutputSection::Other)
}

fn battery_state(backup: Option<&ToolOutputFields>) -> FieldReading<BatteryCondition> {
    let Some(fields) = backup else {
        return not_reported("battery or backup unit information");
    };
    let meaning = |word: &str| {
        parse_battery_state(
            word.strip_prefix("zmm ").unwrap_or(word),
            &["optimal", "ready"],
        )
    };
    if ["backup power status", "battery/capacitor pack count"]
        .iter()
        .any(|key| fields.contains_key(key))
    {
        return smartraid_backup_state(fields);
    }
    if fields.contains_key("overall backup unit status") {
        const PARTS: [&str; 3] = [
            "overall backup unit status",
            "non-volatile storage status",
            "supercap status",
        ];
        let also = fields.parse_optional_value("status", meaning);
        return worst_reading(
            "status",
            PARTS
                .map(|key| fields.parse_lowercase_value(key, meaning))
                .into_iter()
                .chain(also),
        );
    }
    let heat = fields.parse_optional_value("over temperature", |word| {
        Some(if word == "no" {
            BatteryCondition::Healthy
        } else {
            BatteryCondition::Degraded
        })
    });
    worst_reading(
        "status",
        [fields.parse_lowercase_value("status", meaning)]
            .into_iter()
            .chain(heat),
    )
}

/// The state of a SmartRAID controller's flash backup, with its battery or capacitor
/// (`kGreenBackupInfoStatus*` and `kGreenBackupInfoHardware*` in the header of Microchip's storage
/// library).
fn smartraid_backup_state(fields: &ToolOutputFields) -> FieldReading<BatteryCondition> {
    let count = parse_battery_presence(fields, "battery/capacitor pack count");
    let status = fields.parse_lowercase_value("backup power status", |word| {
        parse_battery_state(word, &["ok"])
    });
    let error = fields.parse_lowercase_value("hardware error", |word| {
        Some(if word == "no error" {
            BatteryCondition::Healthy
        } else {
            BatteryCondition::Degraded
        })
    });
    report::battery_state(
        count,
        status,
        Some(error),
        "the tool reports a battery status, but no battery or capacitor pack",
    )
}

impl LogicalDevice<'_> {
    fn to_volume(&self, cache: &ToolOutputFields, caches: &MemberDiskCacheSources) -> Volume {
        let is_classic = ["setting", "status", "mode"]
            .iter()
            .any(|key| self.fields.contains_key(&format!("write-cache {key}")));
        let wwn = self.fields.get("volume unique identifier");
        let found = Volume {
            target: self.number.parse().ok(),
            node: device_node_field(&self.fields),
            wwn: wwn.and_then(parse_wwn),
            disk_cache: if is_classic {
                caches.pre_smartraid_disk_cache(&self.members)
            } else {
                caches.smartraid_disk_cache(&self.members)
            },
            ..Volume::name_only(format!("logical device {}", self.number))
        };
        if is_classic {
            with_pre_smartraid_modes(&self.fields, found)
        } else {
            let keeps_no_writes = cache.get("write cache percentage") == Some("0 percent");
            with_smart_cache_modes(found, &self.fields, cache, keeps_no_writes)
        }
    }
}

fn with_pre_smartraid_modes(fields: &ToolOutputFields, found: Volume) -> Volume {
    const SETTING: &str = "write-cache setting";
    let is_off = |word: &str| word.starts_with("disabled") || word == "off";
    let policy = fields.parse_lowercase_value(SETTING, |word| match word {
        word if is_off(word) => Some(CachePolicy::WriteThrough),
        word if word.contains("when protected")
            && (word.starts_with("enabled") || word.starts_with("on when")) =>
        {
            Some(CachePolicy::WriteBack)
        }
        word => listed("arcconf: write-cache setting")(word),
    });
    let on_failure = policy.clone().map(battery_failure_policy);
    let now = ["write-cache status", "write-cache mode"]
        .into_iter()
        .filter_map(|key| {
            fields.parse_optional_value(key, |word| match word {
                word if is_off(word) => Some(CachePolicyInForce::WriteThrough),
                word => listed("arcconf: write-cache status")(word),
            })
        });
    let in_force = worst_reading("write-cache status", now);
    let in_force = if in_force == Ok(CachePolicyInForce::WriteThrough) {
        policy.clone().and(in_force)
    } else {
        in_force
    };
    Volume {
        policy,
        in_force,
        on_failure,
        ..found
    }
}

struct MemberDiskCacheSources<'a> {
    sections: [&'a ToolOutputFields; 3],
    disks: DiskInventory,
}

impl MemberDiskCacheSources<'_> {
    fn pre_smartraid_disk_cache(
        &self,
        members: &[VolumeMemberLine],
    ) -> FieldReading<MemberDiskCache> {
        let of_disks = self.disks.cache_of_members(members);
        match self.common_disk_cache_policy() {
            Some(policy) if !is_left_to_disks(&policy) => {
                worst_reading("write cache of the disks", [policy, of_disks])
            }
            Some(_) | None => of_disks,
        }
    }

    /// Every version prints the common policy; only newer versions print the cache of each disk.
    fn smartraid_disk_cache(&self, members: &[VolumeMemberLine]) -> FieldReading<MemberDiskCache> {
        let policy = self
            .common_disk_cache_policy()
            .unwrap_or_else(|| not_reported("configured drives"));
        match self
            .disks
            .has_write_cache_fields()
            .then(|| self.disks.cache_of_members(members))
        {
            Some(of_disks) if is_left_to_disks(&policy) => of_disks,
            of_disks => worst_reading("configured drives", [policy].into_iter().chain(of_disks)),
        }
    }

    fn common_disk_cache_policy(&self) -> Option<FieldReading<MemberDiskCache>> {
        const POLICY: &str = "configured drives";
        let policies: Vec<FieldReading<MemberDiskCache>> = self
            .sections
            .iter()
            .filter_map(|section| section.parse_optional_value(POLICY, disks::parse_cache_setting))
            .collect();
        (!policies.is_empty()).then(|| worst_reading(POLICY, policies))
    }
}

fn is_left_to_disks(policy: &FieldReading<MemberDiskCache>) -> bool {
    *policy == Ok(MemberDiskCache::DiskDefault)
}
