//! The RAID volumes behind disks, from the controllers' own tools. The kernel does not show the
//! volumes' caches or the battery, so without the tool these are unknown.
//!
//! The driver of a disk's SCSI host selects the tools, which run once per family and only as root.
//! Parsers turn every answer into the same types ([`report`]), and [`volume_lookup`] finds the
//! disk's volume.

mod fields;
mod megaraid_battery;
mod report;
mod synonyms;
mod storcli_json {
    //! The JSON of storcli, perccli and their successors: an array with one entry per controller.
    //! Values in an entry are addressed by full paths. A failed command still has an entry.

    use serde_json::{Map, Value};

    use super::fields::to_single_spaced_lowercase;
    use super::report::{
        Adapter, FieldReading, Volume, not_reported, parse_pci_address, parse_wwn,
        unrecognised_value,
    };
    use super::synonyms::{MEGARAID_JSON, canonical_key_of_synonym};
    use crate::text::json;

    /// Two synonyms with different values become null.
    fn with_canonical_keys(value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut out = Map::new();
                for (key, value) in fields {
                    let value = with_canonical_keys(value);
                    let key = canonical_key_of_synonym(MEGARAID_JSON, &key).to_owned();
                    let differs = out.get(&key).is_some_and(|other| *other != value);
                    out.insert(key, if differs { Value::Null } else { value });
                }
                Value::Object(out)
            }
            Value::Array(values) => {
                Value::Array(values.into_iter().map(with_canonical_keys).collect())
            }
            value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => value,
        }
    }

    /// `parse_adapter` gets the `Response Data` of a controller from both answers, where that of
    /// `volumes` may be null.
    pub fn parse_controllers(
        all: &[u8],
        volumes: &[u8],
        parse_adapter: impl Fn(String, &Value, &Value) -> Adapter,
    ) -> Vec<Adapter> {
        let volumes = parse_storcli_document(volumes).unwrap_or_default();
        let parse_entry = |entry| {
            let number = controller_number(entry);
            let of_volumes = table_rows(&volumes, "Controllers")
                .find(|other| number.is_some() && controller_number(other) == number)
                .and_then(response_data);
            let name = number.clone().unwrap_or_default();
            match response_data(entry) {
                Some(data) => parse_adapter(name, data, of_volumes.unwrap_or(&Value::Null)),
                None => Adapter::name_only(name, not_reported("Response Data")),
            }
        };
        let all = parse_storcli_document(all).unwrap_or_default();
        table_rows(&all, "Controllers").map(parse_entry).collect()
    }

    fn parse_storcli_document(answer: &[u8]) -> Option<Value> {
        Some(with_canonical_keys(json::first_json_object(answer)?))
    }

    fn controller_number(entry: &Value) -> Option<String> {
        text_field(entry, "/Command Status/Controller")
    }

    /// `None` if the command failed.
    fn response_data(entry: &Value) -> Option<&Value> {
        let done = text_field(entry, "/Command Status/Status").as_deref() == Some("Success");
        entry.get("Response Data").filter(|_| done)
    }

    /// `pci` and `model` are the paths of these fields. The battery is not parsed.
    pub fn parse_adapter_identity(name: String, data: &Value, model: &str, pci: &str) -> Adapter {
        Adapter {
            model: text_field(data, model),
            pci: text_field(data, pci).as_deref().and_then(parse_pci_address),
            ..Adapter::name_only(name, not_reported("battery"))
        }
    }

    pub fn parse_volume_identity(number: &str, properties: &Value) -> Volume {
        Volume {
            node: text_field(properties, "/OS Drive Name").filter(|node| node.starts_with("/dev/")),
            wwn: text_field(properties, "/SCSI NAA Id")
                .as_deref()
                .and_then(parse_wwn),
            ..Volume::name_only(format!("VD {number}"))
        }
    }

    /// The text at a JSON pointer; `None` if it is empty.
    pub fn text_field(value: &Value, path: &str) -> Option<String> {
        let text = match value.pointer(path)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let text = crate::text::display_safe(text.trim().as_bytes());
        (!text.is_empty()).then_some(text)
    }

    pub fn table_rows<'a>(data: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
        data.get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    }

    pub fn parse_lowercase_field<T>(
        value: &Value,
        path: &str,
        meaning: impl Fn(&str) -> Option<T>,
    ) -> FieldReading<T> {
        parse_exact_field(value, path, |word| {
            meaning(&to_single_spaced_lowercase(word))
        })
    }

    pub fn parse_exact_field<T>(
        value: &Value,
        path: &str,
        meaning: impl Fn(&str) -> Option<T>,
    ) -> FieldReading<T> {
        let what = path.trim_start_matches('/');
        match text_field(value, path) {
            None => not_reported(what),
            Some(word) => meaning(&word).map_or_else(|| unrecognised_value(what, &word), Ok),
        }
    }
}
mod arcconf;
mod megacli;
#[cfg(test)]
mod samples;
mod ssacli;
mod storcli;
mod storcli2;
mod volume_lookup;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fields::{ToolOutputFields, listed, to_single_spaced_lowercase};
use report::{
    Adapter, FieldReading, MissingField, Volume, conflicting, mode_in_force_without_fallback,
    write_back_policy_by_failure_policy,
};

use self::volume_lookup::{BlockDeviceIdentity, VolumeMatch};
use crate::collector::Request;
use crate::facts::catalog::controller::{self, BatteryCondition, CachePolicy, CachePolicyInForce};
use crate::facts::catalog::{device, host};
use crate::facts::{Choice, FactSet, KeyInfo, Reading, Remedy, Source, Subject, Value};
use crate::host::{Host, HostError, HostErrorKind, Tool, path_from_bytes};
use crate::host_readings::{error_reading, programs_disabled_reading};
use crate::scsi_drivers::{self, ControllerFamily};
use crate::text::display_path;
use walwise_model::text::JoinText;

/// Tools that report more fields come first.
fn family_tools(family: ControllerFamily) -> &'static [(Tool, QueryFn)] {
    match family {
        ControllerFamily::MegaRaid => &[
            (Tool::Storcli, storcli::query_adapters),
            (Tool::Perccli, storcli::query_adapters),
            (Tool::MegaCli, megacli::query_adapters),
        ],
        ControllerFamily::SmartArray => &[
            (Tool::Ssacli, ssacli::query_adapters),
            (Tool::Hpssacli, ssacli::query_adapters),
            (Tool::Hpacucli, ssacli::query_adapters),
        ],
        ControllerFamily::SmartRaid => &[
            (Tool::Ssacli, ssacli::query_adapters),
            (Tool::Arcconf, arcconf::query_adapters),
        ],
        ControllerFamily::MegaRaid9600 => &[
            (Tool::Storcli2, storcli2::query_adapters),
            (Tool::Perccli2, storcli2::query_adapters),
        ],
        ControllerFamily::Adaptec => &[(Tool::Arcconf, arcconf::query_adapters)],
        ControllerFamily::Unsupported => &[],
    }
}

type ReportedValueFn = fn(&Adapter, &Volume) -> FieldReading<&'static str>;

const REPORTED_FACTS: [(&KeyInfo, ReportedValueFn); 5] = [
    (&controller::BATTERY.info, |adapter, _| {
        adapter.battery.clone().map(Choice::as_str)
    }),
    (&controller::POLICY.info, |_, volume| {
        volume.policy.clone().map(Choice::as_str)
    }),
    (&controller::POLICY_IN_FORCE.info, |_, volume| {
        volume.in_force.clone().map(Choice::as_str)
    }),
    (&controller::ON_BATTERY_FAILURE.info, |_, volume| {
        volume.on_failure.clone().map(Choice::as_str)
    }),
    (&controller::DISK_CACHE.info, |_, volume| {
        volume.disk_cache.clone().map(Choice::as_str)
    }),
];

pub fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let mut families: BTreeMap<ControllerFamily, Vec<Subject>> = BTreeMap::new();
    for disk in facts.subjects_where(&device::KIND, |kind| kind.is_disk()) {
        if let Some(family) = controller_family(&disk, facts) {
            families.entry(family).or_default().push(disk);
        }
    }
    for (family, subjects) in families {
        match query_family(host, request, family, facts, &subjects) {
            Ok(answers) => insert_matched_volume_facts(host, family, &answers, facts, &subjects),
            Err(unknown) => {
                for disk in &subjects {
                    insert_unknown_controller_facts(disk, &unknown, facts);
                    facts.insert(disk, &controller::TOOL, unknown.clone());
                }
            }
        }
    }
}

fn controller_family(disk: &Subject, facts: &FactSet) -> Option<ControllerFamily> {
    let driver = facts.value(disk, &device::DRIVER);
    let driver = driver.or_else(|| disk.name().starts_with("cciss").then(|| "cciss".to_owned()))?;
    scsi_drivers::find_driver(&driver)?
        .raid_controller
        .map(|controller| controller.family)
}

fn query_family(
    host: &dyn Host,
    request: &Request,
    family: ControllerFamily,
    facts: &FactSet,
    disks: &[Subject],
) -> Result<ControllerReport, Reading<String>> {
    let known = family_tools(family);
    let [(preferred, _), ..] = known else {
        return Err(unsupported_controller_reading());
    };
    if request.without_programs {
        return Err(programs_disabled_reading());
    }
    if facts.host_value(&host::PRIVILEGED) != Some(true) {
        let says = "only root can query a RAID controller";
        return Err(Reading::denied(says).with_remedy(Remedy::RunAsRoot));
    }
    let mut refusal = None;
    for &(tool, asker) in known {
        match query_tool(host, tool, asker) {
            Ok(answers) => return Ok(answers),
            Err(Some(reading)) => refusal = refusal.or(Some(reading)),
            Err(None) => {}
        }
    }
    let dells = disks.iter().any(|disk| {
        facts
            .value(disk, &device::MODEL)
            .is_some_and(|model| model.contains("PERC"))
    });
    let dell = [Tool::Perccli, Tool::Perccli2]
        .into_iter()
        .find(|tool| known.iter().any(|(one, _)| one == tool));
    // Dell's controllers need a package of their own.
    let install = dell.filter(|_| dells).unwrap_or(*preferred).package();
    Err(refusal.unwrap_or_else(|| {
        Reading::absent(format!(
            "no tool for {} is installed",
            family.driver_names().join_with(", ")
        ))
        .with_remedy(Remedy::Install(install.to_owned()))
    }))
}

fn unsupported_controller_reading() -> Reading<String> {
    let remedy = "check with the controller's own tool whether the battery protects the cache";
    Reading::absent("walwise cannot parse the output of this controller's tool")
        .with_remedy(Remedy::Do(remedy.to_owned()))
}

fn insert_unknown_controller_facts(disk: &Subject, unknown: &Reading<String>, facts: &mut FactSet) {
    let others = [&controller::MODEL.info, &controller::VOLUME.info];
    let reported = REPORTED_FACTS.map(|(key, _)| key);
    for key in reported.into_iter().chain(others) {
        facts.insert_untyped_value(disk, key, unknown.clone().map(Value::Text));
    }
}

fn insert_matched_volume_facts(
    host: &dyn Host,
    family: ControllerFamily,
    answers: &ControllerReport,
    facts: &mut FactSet,
    subjects: &[Subject],
) {
    let disks: Vec<BlockDeviceIdentity> = subjects
        .iter()
        .map(|subject| read_block_device_identity(host, subject, facts))
        .collect();
    let places: BTreeSet<_> = disks.iter().map(|disk| disk.pci).collect();
    for (subject, disk) in subjects.iter().zip(&disks) {
        let source = Source::Command {
            argv: answers.argv.clone(),
        };
        facts.insert_known(
            subject,
            &controller::TOOL,
            answers.tool.name().into_owned(),
            source.clone(),
        );
        match volume_lookup::find_volume_of_disk(disk, &answers.adapters, family, places.len()) {
            VolumeMatch::Volume(adapter, volume) => {
                facts.insert_known(
                    subject,
                    &controller::VOLUME,
                    volume.name.clone(),
                    source.clone(),
                );
                insert_agreed_controller_facts(subject, &[(adapter, volume)], &source, facts);
            }
            VolumeMatch::OneOf(volumes) => {
                let unknown = Reading::ambiguous("several volumes match this disk");
                facts.insert(subject, &controller::VOLUME, unknown);
                insert_agreed_controller_facts(subject, &volumes, &source, facts);
            }
            VolumeMatch::PassThrough => {
                let says = "the controller passes this disk through; it is not a volume";
                insert_unknown_controller_facts(subject, &Reading::absent(says), facts);
                facts.insert_known(
                    subject,
                    &controller::VOLUME,
                    "none".to_owned(),
                    Source::from_file(format!("/sys/class/block/{}", subject.name())),
                );
            }
            VolumeMatch::NotFound(says) => {
                let unknown = Reading::ambiguous(format!("{source}: {says}"));
                insert_unknown_controller_facts(
                    subject,
                    &unknown.with_remedy(Remedy::Do(volume_search_remedy(answers.tool, subject))),
                    facts,
                );
            }
        }
    }
}

fn volume_search_remedy(tool: Tool, disk: &Subject) -> String {
    format!(
        "find the serial number of {} in the output of {} to see whether the disk is a volume or a pass-through (JBOD) disk",
        disk.name(),
        tool.name(),
    )
}

fn read_block_device_identity(
    host: &dyn Host,
    subject: &Subject,
    facts: &FactSet,
) -> BlockDeviceIdentity {
    let name = Path::new("/sys/class/block").join(path_from_bytes(
        crate::text::decode_display_safe(subject.name()),
    ));
    let wwid = host.read_attribute(&name.join("device/wwid")).ok();
    let disk = BlockDeviceIdentity {
        node: facts.value(subject, &device::PATH).unwrap_or_default(),
        wwn: wwid.and_then(|wwid| report::parse_wwn(wwid.strip_prefix("naa.")?)),
        model: facts.value(subject, &device::MODEL).unwrap_or_default(),
        raid_level: host.read_attribute(&name.join("device/raid_level")).ok(),
        ..BlockDeviceIdentity::default()
    };
    match host.link_target(&name) {
        Ok(place) => disk.with_addresses_from_sysfs_path(&display_path(&place)),
        Err(_) => disk,
    }
}

/// Records the values on which all volumes that may be this disk agree.
fn insert_agreed_controller_facts(
    disk: &Subject,
    volumes: &[(&Adapter, &Volume)],
    source: &Source,
    facts: &mut FactSet,
) {
    let agreed = |of: fn(&Adapter) -> &Option<String>| {
        let values: BTreeSet<_> = volumes.iter().map(|(adapter, _)| of(adapter)).collect();
        let first = values.first().copied().cloned().flatten();
        first.filter(|_| values.len() == 1)
    };
    let model = match agreed(|adapter| &adapter.model) {
        Some(model) => Reading::known(model, source.clone()),
        None => Reading::absent(format!("{source} reports no model")),
    };
    facts.insert(disk, &controller::MODEL, model);
    if let Some(detail) = agreed(|adapter| &adapter.detail) {
        facts.insert_known(disk, &controller::CACHE_DETAIL, detail, source.clone());
    }
    for (key, of) in REPORTED_FACTS {
        let mut said: Vec<_> = volumes
            .iter()
            .map(|(adapter, volume)| of(adapter, volume))
            .collect();
        said.dedup();
        let reading = match said.as_slice() {
            [Ok(word)] => Reading::known(Value::Text((*word).to_owned()), source.clone()),
            [Err(MissingField(why, detail))] => {
                Reading::unknown(*why, format!("{source}: {detail}"))
            }
            _ => Reading::ambiguous(format!(
                "{source}: several volumes match this disk, and they differ"
            )),
        };
        facts.insert_untyped_value(disk, key, reading);
    }
}

#[cfg(test)]
mod tests;

const MAX_CONTROLLERS: u32 = 16;

struct ControllerReport {
    tool: Tool,
    argv: String,
    adapters: Vec<Adapter>,
}

/// `Err(None)` means that the tool is not installed.
fn query_tool(
    host: &dyn Host,
    tool: Tool,
    asker: QueryFn,
) -> Result<ControllerReport, Option<Reading<String>>> {
    let (adapters, command) = asker(host, tool)?;
    let argv = format!("{} {command}", tool.name());
    // An answer without battery and volumes means a plain host adapter or a failed command.
    if adapters
        .iter()
        .all(|adapter| adapter.volumes.is_empty() && adapter.battery.is_err())
    {
        let says = format!("`{argv}` lists no controller");
        return Err(Some(Reading::malformed(says)));
    }
    Ok(ControllerReport {
        tool,
        argv,
        adapters,
    })
}

/// `Err(None)` means that the tool is not installed.
fn run_tool_command(
    host: &dyn Host,
    tool: Tool,
    command: &str,
) -> Result<Vec<u8>, Option<Reading<String>>> {
    let arguments: Vec<&str> = command.split(' ').collect();
    host.run_tool(tool, &arguments)
        .map_err(|miss: HostError| match miss.kind {
            HostErrorKind::Absent => None,
            _ => Some(error_reading(&miss, &format!("{} {command}", tool.name()))),
        })
}

/// The controllers, and the command that reported most of their values.
type ToolQueryResult = Result<(Vec<Adapter>, &'static str), Option<Reading<String>>>;

type QueryFn = fn(&dyn Host, Tool) -> ToolQueryResult;

// The cache modes and battery packs that the firmware of Smart Array and SmartRAID controllers
// reports; ssacli and arcconf print the same words.
//
// A volume that is set to cache may be accelerated by something other than the controller's
// cache. If the firmware reports such a method, the volume's policy is unknown.

/// `volume` with the write modes of its cache. `own` are the fields of the volume, `cache` those of
/// the controller's cache. `keeps_no_writes` is true if the cache is used only for reads.
fn with_smart_cache_modes(
    volume: Volume,
    own: &ToolOutputFields,
    cache: &ToolOutputFields,
    keeps_no_writes: bool,
) -> Volume {
    let caching = own.parse_lowercase_value("caching", |word| match word {
        // A cache that is used only for reads cannot write back, whatever the volume's setting.
        "enabled" if keeps_no_writes => Some(CachePolicy::WriteThrough),
        "enabled" => Some(CachePolicy::WriteBack),
        "disabled" => Some(CachePolicy::WriteThrough),
        _ => None,
    });
    let is_cached = caching == Ok(CachePolicy::WriteBack);
    let caching = if is_cached && bypasses_controller_cache(own) {
        conflicting(
            "`Caching` is `Enabled`, but `LD Acceleration Method` is not `Controller Cache`",
        )
    } else {
        caching
    };
    let on_failure = cache.parse_lowercase_value(
        "no-battery write cache",
        listed("smart: no-battery write cache"),
    );
    let (policy, in_force) = if caching == Ok(CachePolicy::WriteBack) {
        // The controller may suspend caching although the volume is set to cache, so the
        // current mode is that of the controller's cache.
        let now = cache.parse_lowercase_value("cache status", |word| match word {
            "ok" => Some(CachePolicyInForce::WriteBack),
            word if word.starts_with("temporarily disabled")
                || word.starts_with("permanently disabled") =>
            {
                Some(CachePolicyInForce::WriteThrough)
            }
            _ => None,
        });
        (
            on_failure.clone().map(write_back_policy_by_failure_policy),
            now,
        )
    } else {
        (
            on_failure.clone().and(caching.clone()),
            caching.map(mode_in_force_without_fallback),
        )
    };
    Volume {
        policy,
        in_force,
        on_failure,
        ..volume
    }
}

/// Some versions append the mount points to the device node.
fn device_node_field(own: &ToolOutputFields) -> Option<String> {
    let node = own.get("disk name")?.split_whitespace().next()?;
    node.starts_with("/dev/").then(|| node.to_owned())
}

fn cache_status_detail(fields: &ToolOutputFields) -> Option<String> {
    fields
        .get("cache status details")
        .filter(|detail| !detail.is_empty())
        .map(str::to_owned)
}

fn parse_battery_presence(fields: &ToolOutputFields, key: &str) -> FieldReading<BatteryCondition> {
    fields.parse_lowercase_value(key, |count| match count.parse() {
        Ok(0_u32) => Some(BatteryCondition::Absent),
        Ok(_) => Some(BatteryCondition::Healthy),
        Err(_) => None,
    })
}

/// False for old firmware, which prints no acceleration method; true for contradictory values.
fn bypasses_controller_cache(own: &ToolOutputFields) -> bool {
    const METHOD: &str = "ld acceleration method";
    own.contains_key(METHOD)
        && own
            .get(METHOD)
            .is_none_or(|method| to_single_spaced_lowercase(method) != "controller cache")
}
