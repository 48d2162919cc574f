//! The parser of arcconf's `getconfig N`.
//!
//! Output formats follow glensc/nagios-plugin-check_raid, t/data/arcconf; for SmartRAID controllers
//! also project-machine/disko (smartpqi) and the header of Microchip's storage library. Headings
//! have no colon and fields do, so the dashes around headings are not needed.
//!
//! A volume set to *Enabled (write-back)* caches writes even without a battery; only one set to
//! *when protected by battery/ZMM* falls back to write through.

mod disks;

use self::disks::{DiskInventory, PhysicalDisk, VolumeMemberLine, parse_cache_setting};
use super::fields::{
    ToolOutputFields, display_safe_lines, parse_pci_address_field, split_key_and_value,
    to_single_spaced_lowercase,
};
use super::report::{
    Adapter, FieldReading, Volume, battery_failure_policy, is_battery_absent, parse_wwn,
    worst_reading,
};
use super::synonyms::{ADAPTEC, BACKUP_UNITS};
use super::{
    MAX_CONTROLLERS, ToolQueryResult, cache_status_detail, parse_battery_presence,
    parse_volume_cache_modes, run_tool_command,
};
use crate::facts::catalog::controller::{
    BatteryCondition, CachePolicy, CachePolicyInForce, MemberDiskCache,
};
use crate::host::{Host, Tool};

pub fn query_adapters(host: &dyn Host, tool: Tool) -> ToolQueryResult {
    let first = run_tool_command(host, tool, "getconfig 1 nologs")?;
    let count = parse_controller_count(&first).min(MAX_CONTROLLERS);
    let mut adapters = Vec::new();
    if count > 0 {
        adapters.push(parse_adapter(1, &first));
    }
    for number in 2..=count {
        adapters.push(
            match run_tool_command(host, tool, &format!("getconfig {number} nologs")) {
                Ok(answer) => parse_adapter(number, &answer),
                Err(_) => {
                    Adapter::name_only(number.to_string(), FieldReading::not_reported("getconfig"))
                }
            },
        );
    }
    Ok((adapters, "getconfig 1 nologs"))
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
    let read = ArcconfOutput::parse(answer);
    let members: Vec<&[VolumeMemberLine]> = read
        .volumes
        .iter()
        .map(|volume| volume.members.as_slice())
        .collect();
    let disks = DiskInventory::new(read.disks, &members);
    let caches = MemberDiskCacheSources {
        sections: [&read.controller, &read.cache, &read.policy],
        disks,
    };
    Adapter {
        name: number.to_string(),
        model: read
            .controller
            .get("controller model")
            .map(str::to_owned)
            .filter(|model| !model.is_empty()),
        pci: parse_pci_address_field(&read.controller),
        battery: battery_state(read.backup.as_ref()),
        detail: cache_status_detail(&read.cache),
        volumes: read
            .volumes
            .iter()
            .map(|volume| volume.to_volume(&read.cache, &caches))
            .collect(),
    }
}

struct ArcconfOutput {
    controller: ToolOutputFields,
    backup: Option<ToolOutputFields>,
    cache: ToolOutputFields,
    policy: ToolOutputFields,
    volumes: Vec<LogicalDevice>,
    disks: Vec<PhysicalDisk>,
}

struct LogicalDevice {
    number: String,
    fields: ToolOutputFields,
    members: Vec<VolumeMemberLine>,
}

impl ArcconfOutput {
    fn new() -> Self {
        Self {
            controller: ToolOutputFields::with_synonyms(ADAPTEC),
            backup: None,
            cache: ToolOutputFields::with_synonyms(ADAPTEC),
            policy: ToolOutputFields::with_synonyms(ADAPTEC),
            volumes: Vec::new(),
            disks: Vec::new(),
        }
    }

    fn parse(answer: &[u8]) -> Self {
        let mut read = Self::new();
        let mut unnamed = ToolOutputFields::with_synonyms(ADAPTEC);
        let mut part = OutputSection::Other;
        for line in display_safe_lines(answer) {
            let line = line.trim();
            if line.is_empty() || line.starts_with("---") {
                continue;
            }
            if line.contains(':') {
                read.add_field(&part, line, &mut unnamed);
                continue;
            }
            let words = to_single_spaced_lowercase(line);
            match (parse_heading(&words, &part), &part, read.disks.last_mut()) {
                (Some(new), ..) => {
                    read.open_section(&new);
                    part = new;
                }
                // The line `Device is a Hard drive` has no colon but describes the disk.
                (None, OutputSection::Disk(_), Some(disk)) => {
                    disk.fields.insert_or_conflict(&words, String::new());
                }
                (None, ..) => {}
            }
        }
        // Disk fields without a heading belong to a disk whose heading line is lost, so that disk
        // is added.
        if unnamed.contains_key("write cache") {
            read.disks.push(PhysicalDisk {
                fields: unnamed,
                ..PhysicalDisk::default()
            });
        }
        read
    }

    fn open_section(&mut self, part: &OutputSection) {
        match part {
            OutputSection::Volume(number) => {
                let number = number.clone();
                self.volumes.push(LogicalDevice {
                    number,
                    fields: ToolOutputFields::with_synonyms(ADAPTEC),
                    members: Vec::new(),
                });
            }
            OutputSection::Disk(number) => {
                self.disks.push(PhysicalDisk {
                    number: number.clone(),
                    fields: ToolOutputFields::with_synonyms(ADAPTEC),
                });
            }
            OutputSection::Backup => {
                self.backup
                    .get_or_insert_with(|| ToolOutputFields::with_synonyms(ADAPTEC));
            }
            OutputSection::Controller
            | OutputSection::Cache
            | OutputSection::Policy
            | OutputSection::Members
            | OutputSection::Disks
            | OutputSection::Other => {}
        }
    }

    fn add_field(&mut self, part: &OutputSection, line: &str, unnamed: &mut ToolOutputFields) {
        match part {
            OutputSection::Controller => self.controller.add_line(line),
            OutputSection::Cache => self.cache.add_line(line),
            OutputSection::Policy => self.policy.add_line(line),
            OutputSection::Backup => self
                .backup
                .get_or_insert_with(|| ToolOutputFields::with_synonyms(ADAPTEC))
                .add_line(line),
            OutputSection::Volume(_) | OutputSection::Members => {
                if let Some(volume) = self.volumes.last_mut() {
                    let members = split_key_and_value(line)
                        .map(VolumeMemberLine::parse_members_in_field)
                        .unwrap_or_default();
                    if members.is_empty() && matches!(part, OutputSection::Volume(_)) {
                        volume.fields.add_line(line);
                    }
                    volume.members.extend(members);
                }
            }
            OutputSection::Disk(_) => {
                if let Some(disk) = self.disks.last_mut() {
                    disk.fields.add_line(line);
                }
            }
            OutputSection::Disks => unnamed.add_line(line),
            OutputSection::Other => {}
        }
    }
}

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

fn parse_heading(line: &str, before: &OutputSection) -> Option<OutputSection> {
    match line {
        "controller information" => return Some(OutputSection::Controller),
        "cache properties" => return Some(OutputSection::Cache),
        "physical drive write cache policy information" => return Some(OutputSection::Policy),
        "physical device information" => return Some(OutputSection::Disks),
        "logical device segment information" | "array physical device information" => {
            return Some(match before {
                OutputSection::Volume(_) | OutputSection::Members => OutputSection::Members,
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
    const OVERHEATING_KEY: &str = "over temperature";
    let Some(fields) = backup else {
        return FieldReading::not_reported("battery or backup unit information");
    };
    let meaning = |word: &str| match word.strip_prefix("zmm ").unwrap_or(word) {
        "optimal" | "ready" => Some(BatteryCondition::Healthy),
        "charging" => Some(BatteryCondition::Charging),
        "reconditioning" => Some(BatteryCondition::Learning),
        "failed" => Some(BatteryCondition::Failed),
        "degraded" | "not ready" => Some(BatteryCondition::Degraded),
        "not installed" | "not present" => Some(BatteryCondition::Absent),
        _ => None,
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
        let also = fields
            .contains_key("status")
            .then(|| fields.parse_lowercase_value("status", meaning));
        return worst_reading(
            PARTS
                .map(|key| fields.parse_lowercase_value(key, meaning))
                .into_iter()
                .chain(also),
        );
    }
    let heat = fields.contains_key(OVERHEATING_KEY).then(|| {
        fields.parse_lowercase_value(OVERHEATING_KEY, |word| {
            Some(if word == "no" {
                BatteryCondition::Healthy
            } else {
                BatteryCondition::Degraded
            })
        })
    });
    worst_reading(
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
    let status = fields.parse_lowercase_value("backup power status", |word| match word {
        "ok" => Some(BatteryCondition::Healthy),
        "not fully charged" | "not charged" => Some(BatteryCondition::Charging),
        "not present" | "not installed" | "disconnected" => Some(BatteryCondition::Absent),
        word if word.starts_with("charging") => Some(BatteryCondition::Charging),
        word if word.starts_with("fail") => Some(BatteryCondition::Failed),
        _ => None,
    });
    if count.value().is_some_and(is_battery_absent) {
        let says_more = status
            .value()
            .is_some_and(|status| !is_battery_absent(status));
        return if says_more {
            FieldReading::conflicting("a status is reported, but no battery or capacitor pack")
        } else {
            count
        };
    }
    let error = fields.parse_lowercase_value("hardware error", |word| {
        Some(if word == "no error" {
            BatteryCondition::Healthy
        } else {
            BatteryCondition::Degraded
        })
    });
    worst_reading([count, status, error])
}

impl LogicalDevice {
    fn to_volume(&self, cache: &ToolOutputFields, caches: &MemberDiskCacheSources) -> Volume {
        let node = self
            .fields
            .get("disk name")
            .and_then(|text| text.split_whitespace().next());
        let found = Volume {
            target: self.number.parse().ok(),
            node: node
                .filter(|node| node.starts_with("/dev/"))
                .map(str::to_owned),
            wwn: self
                .fields
                .get("volume unique identifier")
                .and_then(parse_wwn),
            ..Volume::name_only(format!("logical device {}", self.number))
        };
        let is_classic = ["setting", "status", "mode"]
            .map(|key| self.fields.contains_key(&format!("write-cache {key}")));
        if is_classic.contains(&true) {
            with_pre_smartraid_modes(
                &self.fields,
                Volume {
                    disk_cache: caches.pre_smartraid_disk_cache(&self.members),
                    ..found
                },
            )
        } else {
            let keeps_no_writes = cache
                .get("write cache percentage")
                .is_some_and(|share| share == "0 percent");
            let disk_cache = caches.smartraid_disk_cache(&self.members);
            parse_volume_cache_modes(&self.fields, cache, keeps_no_writes).replace_modes_of(
                Volume {
                    disk_cache,
                    ..found
                },
            )
        }
    }
}

fn with_pre_smartraid_modes(fields: &ToolOutputFields, found: Volume) -> Volume {
    const SETTING: &str = "write-cache setting";
    let is_on =
        |word: &str| word.starts_with("enabled") || word == "on" || word.starts_with("on when");
    let is_off = |word: &str| word.starts_with("disabled") || word == "off";
    let policy = fields.parse_lowercase_value(SETTING, |word| match word {
        word if is_off(word) => Some(CachePolicy::WriteThrough),
        word if is_on(word) && word.contains("when protected") => Some(CachePolicy::WriteBack),
        "on" | "enabled" | "enabled (write-back)" => Some(CachePolicy::AlwaysWriteBack),
        _ => None,
    });
    let on_failure = policy.clone().map(battery_failure_policy);
    let now: Vec<FieldReading<CachePolicyInForce>> = ["write-cache status", "write-cache mode"]
        .into_iter()
        .filter(|key| fields.contains_key(key))
        .map(|key| {
            fields.parse_lowercase_value(key, |word| match word {
                word if is_off(word) => Some(CachePolicyInForce::WriteThrough),
                "on" | "enabled" | "enabled (write-back)" => Some(CachePolicyInForce::WriteBack),
                _ => None,
            })
        })
        .collect();
    let in_force = match now.as_slice() {
        [] => FieldReading::not_reported("write-cache status"),
        said => worst_reading(said.iter().cloned()),
    };
    let in_force = match in_force {
        FieldReading::Value(CachePolicyInForce::WriteThrough) => {
            in_force.only_if_other_is_known(&policy)
        }
        FieldReading::Value(CachePolicyInForce::WriteBack) | FieldReading::Missing(..) => in_force,
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
            Some(policy) if !is_left_to_disks(&policy) => worst_reading([policy, of_disks]),
            Some(_) | None => of_disks,
        }
    }

    /// Every version prints the common policy; only newer versions print the cache of each disk.
    fn smartraid_disk_cache(&self, members: &[VolumeMemberLine]) -> FieldReading<MemberDiskCache> {
        let policy = self
            .common_disk_cache_policy()
            .unwrap_or_else(|| FieldReading::not_reported("configured drives"));
        match self
            .disks
            .has_write_cache_fields()
            .then(|| self.disks.cache_of_members(members))
        {
            Some(of_disks) if is_left_to_disks(&policy) => of_disks,
            of_disks => worst_reading([policy].into_iter().chain(of_disks)),
        }
    }

    fn common_disk_cache_policy(&self) -> Option<FieldReading<MemberDiskCache>> {
        const POLICY: &str = "configured drives";
        let meaning = |word: &str| match word {
            "drive specific" => Some(MemberDiskCache::DiskDefault),
            word => parse_cache_setting(word),
        };
        let policies: Vec<FieldReading<MemberDiskCache>> = self
            .sections
            .iter()
            .filter(|section| section.contains_key(POLICY))
            .map(|section| section.parse_lowercase_value(POLICY, meaning))
            .collect();
        (!policies.is_empty()).then(|| worst_reading(policies))
    }
}

fn is_left_to_disks(policy: &FieldReading<MemberDiskCache>) -> bool {
    *policy == FieldReading::Value(MemberDiskCache::DiskDefault)
}
