//! The volumes behind disks, as the tools of RAID controllers report them.
//!
//! The driver of a disk's SCSI host decides which tools are asked, once per family of disks and
//! only by root. All answers end in one shape ([`said`]), and [`place`] finds the disk among the
//! volumes. Judgement is left to `durability`. The kernel knows none of this, so without the tool
//! all of it is unknown.

mod ask;
mod fields;
mod firmware;
mod names;
mod said;
mod json {
    //! The JSON of storcli, perccli and their successors: an envelope of controllers, and values at
    //! full paths.
    //!
    //! The meaning of values is left to the parsers. A command that failed still has an entry.

    use serde_json::{Map, Value};

    use super::fields::plain;
    use super::names::{MEGARAID_JSON, own};
    use super::said::FieldReading;
    use crate::text::json;

    /// The document in an answer, with the parsers' own names as keys.
    pub fn document(answer: &[u8]) -> Option<Value> {
        Some(renamed(json::first(answer)?.0))
    }

    /// Two values under names of one thing are none, unless they are alike.
    fn renamed(value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut out = Map::new();
                for (key, value) in fields {
                    let value = renamed(value);
                    let key = own(MEGARAID_JSON, &key).to_owned();
                    let differs = out.get(&key).is_some_and(|other| *other != value);
                    out.insert(key, if differs { Value::Null } else { value });
                }
                Value::Object(out)
            }
            Value::Array(values) => Value::Array(values.into_iter().map(renamed).collect()),
            value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => value,
        }
    }

    pub fn entries(document: &Value) -> impl Iterator<Item = &Value> {
        document
            .get("Controllers")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    }

    /// Number of the controller that an entry is about.
    pub fn number(entry: &Value) -> Option<String> {
        text(entry, &["Command Status", "Controller"])
    }

    /// The data of an entry, unless the command failed.
    pub fn response(entry: &Value) -> Option<&Value> {
        let done =
            text(entry, &["Command Status", "Status"]).is_some_and(|status| status == "Success");
        entry.get("Response Data").filter(|_| done)
    }

    /// The text or number at a path, trimmed.
    pub fn text(value: &Value, path: &[&str]) -> Option<String> {
        let mut at = value;
        for key in path {
            at = at.get(key)?;
        }
        let text = match at {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some(crate::text::safe(text.trim().as_bytes()))
    }

    /// The meaning of the text at a path, case-insensitive.
    pub fn said<T: Copy>(
        value: &Value,
        path: &[&str],
        meaning: impl Fn(&str) -> Option<T>,
    ) -> FieldReading<T> {
        said_exactly(value, path, |word| meaning(&plain(word)))
    }

    pub fn rows<'a>(data: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
        data.get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    }

    /// The meaning of the text at a path, case-sensitive.
    pub fn said_exactly<T: Copy>(
        value: &Value,
        path: &[&str],
        meaning: impl Fn(&str) -> Option<T>,
    ) -> FieldReading<T> {
        let what = path.join("/");
        match text(value, path) {
            None => FieldReading::missing(&what),
            Some(word) => {
                meaning(&word).map_or_else(|| FieldReading::unknown(&what, &word), FieldReading::Is)
            }
        }
    }
}
mod megacli;
mod place;
mod smart {
    //! The cache of a volume and its battery packs as the firmware of Smart Array and SmartRAID
    //! controllers reports them; ssacli and arcconf print it in the same words.
    //!
    //! Reading lines, and telling the volume's fields from the controller's, is left to the
    //! parsers. A volume that is set to cache may be accelerated by something other than the
    //! controller's cache, so only acceleration methods known to use that cache count.

    use super::fields::{Fields, plain};
    use super::said::{FieldReading, Volume, in_force, write_back};
    use crate::facts::catalog::controller::{Battery, OnFailure, Policy, WriteMode};

    /// How a volume's cache writes: as configured, now, and without battery.
    pub struct Modes {
        pub policy: FieldReading<Policy>,
        pub in_force: FieldReading<WriteMode>,
        pub on_failure: FieldReading<OnFailure>,
    }

    impl Modes {
        /// Puts them into a volume.
        pub fn into(self, volume: Volume) -> Volume {
            Volume {
                policy: self.policy,
                in_force: self.in_force,
                on_failure: self.on_failure,
                ..volume
            }
        }
    }

    /// Derives the modes from the fields of the volume and of the controller's cache.
    /// `keeps_no_writes` is whether the cache has no room for writes.
    pub fn modes(own: &Fields, cache: &Fields, keeps_no_writes: bool) -> Modes {
        let caching = own.said("caching", |word| match word {
            "enabled" => Some(Policy::WriteBack),
            "disabled" => Some(Policy::WriteThrough),
            _ => None,
        });
        // A cache that keeps no room for writes holds none back, whatever the volume is set to.
        let caching = if keeps_no_writes {
            caching.map(|_| Policy::WriteThrough)
        } else {
            caching
        };
        let caching = match caching {
            FieldReading::Is(Policy::WriteBack | Policy::AlwaysWriteBack)
                if is_accelerated_otherwise(own) =>
            {
                FieldReading::disputed(
                    "`Caching` is Enabled although `LD Acceleration Method` is not the controller's cache",
                )
            }
            FieldReading::Is(
                Policy::WriteBack | Policy::AlwaysWriteBack | Policy::WriteThrough,
            )
            | FieldReading::Gap(..) => caching,
        };
        let on_failure = cache.said("no-battery write cache", |word| match word {
            "disabled" => Some(OnFailure::WriteThrough),
            "enabled" => Some(OnFailure::Stays),
            _ => None,
        });
        let now = cache.said("cache status", |word| match word {
            "ok" => Some(WriteMode::WriteBack),
            word if word.starts_with("temporarily disabled")
                || word.starts_with("permanently disabled") =>
            {
                Some(WriteMode::WriteThrough)
            }
            _ => None,
        });
        let (policy, in_force) = match caching.is() {
            // The controller may hold caching back although the volume is set to cache.
            Some(Policy::WriteBack | Policy::AlwaysWriteBack) => {
                (on_failure.clone().map(write_back), now)
            }
            Some(Policy::WriteThrough) | None => {
                (caching.clone().only_if(&on_failure), caching.map(in_force))
            }
        };
        Modes {
            policy,
            in_force,
            on_failure,
        }
    }

    /// Why the cache does not work as it is set to, in the firmware's words.
    pub fn detail(fields: &Fields) -> Option<String> {
        fields
            .get("cache status details")
            .filter(|detail| !detail.is_empty())
            .map(str::to_owned)
    }

    /// Whether there are packs of batteries or capacitors, from their count.
    pub fn packs(fields: &Fields, key: &str) -> FieldReading<Battery> {
        fields.said(key, |count| match count.parse() {
            Ok(0) => Some(Battery::Absent),
            Ok(1..=u32::MAX) => Some(Battery::Healthy),
            Err(_) => None,
        })
    }

    /// Whether the volume is accelerated by something other than the controller's cache. Old
    /// firmware prints nothing of it.
    fn is_accelerated_otherwise(own: &Fields) -> bool {
        const METHOD: &str = "ld acceleration method";
        own.has(METHOD)
            && own
                .get(METHOD)
                .is_none_or(|method| plain(method) != "controller cache")
    }
}
mod arcconf;
#[cfg(test)]
mod samples;
mod ssacli;
mod storcli;
mod storcli2;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use self::ask::{Asker, ControllerReport};
use self::place::{Addresses, DiskIdentity, VolumeMatch};
use self::said::{Adapter, FieldReading, Volume};
use crate::collector::{Collector, Request};
use crate::drivers::{self, Family};
use crate::facts::catalog::{controller, device, host as machine};
use crate::facts::{Choice, FactSet, Key, KeyInfo, Reading, Remedy, Source, Subject, Value, Why};
use crate::host::{Host, Tool, path_bytes, path_of};
use crate::refusal::not_run;
use crate::text::safe;

/// Asks the controllers' tools.
pub const COLLECTOR: Collector = Collector {
    id: "RAID controllers",
    run,
};

/// How to ask the controllers of a family, and how to find a disk among their volumes.
struct Knows {
    /// Tools for these controllers, the most informative first, and how each is asked.
    tools: &'static [(Tool, Asker)],
    /// The package to install where no tool is found.
    install: &'static str,
    /// The numbering of volumes in SCSI addresses.
    addresses: Addresses,
}

fn knows(family: Family) -> Knows {
    match family {
        Family::MegaRaid => Knows {
            tools: &[
                (Tool::Storcli, storcli::query),
                (Tool::Perccli, storcli::query),
                (Tool::MegaCli, megacli::query),
            ],
            install: "storcli",
            addresses: Addresses::MegaRaid,
        },
        Family::SmartArray => Knows {
            tools: &[
                (Tool::Ssacli, ssacli::query),
                (Tool::Hpssacli, ssacli::query),
                (Tool::Hpacucli, ssacli::query),
            ],
            install: "ssacli",
            addresses: Addresses::SmartArray,
        },
        Family::SmartRaid => Knows {
            tools: &[
                (Tool::Ssacli, ssacli::query),
                (Tool::Arcconf, arcconf::query),
            ],
            install: "ssacli",
            addresses: Addresses::Opaque,
        },
        // Their volumes have numbers of their own among the SCSI targets.
        Family::MegaRaid9600 => Knows {
            tools: &[
                (Tool::Storcli2, storcli2::query),
                (Tool::Perccli2, storcli2::query),
            ],
            install: "storcli2",
            addresses: Addresses::Opaque,
        },
        Family::Adaptec => Knows {
            tools: &[(Tool::Arcconf, arcconf::query)],
            install: "arcconf",
            addresses: Addresses::Aacraid,
        },
        Family::Unread => Knows {
            tools: &[],
            install: "",
            addresses: Addresses::Opaque,
        },
    }
}

/// Facts that a tool's words become.
const WORDS: [&KeyInfo; 5] = [
    &controller::BATTERY.info,
    &controller::POLICY.info,
    &controller::POLICY_IN_FORCE.info,
    &controller::ON_BATTERY_FAILURE.info,
    &controller::DISK_CACHE.info,
];

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let mut families: BTreeMap<Family, Vec<Subject>> = BTreeMap::new();
    for disk in facts.which(&device::KIND, |kind| kind.is_disk()) {
        if let Some(family) = family(&disk, facts) {
            families.entry(family).or_default().push(disk);
        }
    }
    for (family, subjects) in families {
        match ask(host, request, family, facts, &subjects) {
            Ok(answers) => tell(host, family, &answers, facts, &subjects),
            Err(unknown) => {
                for disk in &subjects {
                    leave_unknown(disk, &unknown, facts);
                }
            }
        }
    }
}

/// The family that a disk is behind.
fn family(disk: &Subject, facts: &FactSet) -> Option<Family> {
    let driver = facts.value(disk, &device::DRIVER);
    let driver = driver.or_else(|| disk.name().starts_with("cciss").then(|| "cciss".to_owned()))?;
    drivers::named(&driver)?
        .controller()
        .map(|controller| controller.family)
}

/// The answers of the first tool that knows of a controller, or why there is none.
fn ask(
    host: &dyn Host,
    request: &Request,
    family: Family,
    facts: &FactSet,
    disks: &[Subject],
) -> Result<ControllerReport, Reading<String>> {
    let Knows {
        tools: known,
        install,
        ..
    } = knows(family);
    if known.is_empty() {
        return Err(unread());
    }
    if request.without_programs {
        return Err(not_run());
    }
    if facts.value(&Subject::host(), &machine::PRIVILEGED) != Some(true) {
        let says = "only root can ask a RAID controller";
        return Err(Reading::unknown(Why::Denied, says).or_try(Remedy::RunAsRoot));
    }
    let mut refusal = None;
    for &(tool, asker) in known {
        match ask::all(host, tool, asker) {
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
    let install = dell.filter(|_| dells).map_or(install, Tool::package);
    Err(refusal.unwrap_or_else(|| {
        Reading::unknown(
            Why::Absent,
            format!(
                "no tool for {} is installed",
                family.drivers().collect::<Vec<_>>().join(", ")
            ),
        )
        .or_try(Remedy::Install(install.to_owned()))
    }))
}

/// The reading for controllers whose tools walwise cannot parse.
fn unread() -> Reading<String> {
    let remedy = "check with the controller's own tool whether the battery protects the cache";
    Reading::unknown(Why::Absent, "walwise cannot read this controller's tool")
        .or_try(Remedy::Do(remedy.to_owned()))
}

fn leave_unknown(disk: &Subject, unknown: &Reading<String>, facts: &mut FactSet) {
    let others = [
        &controller::MODEL.info,
        &controller::TOOL.info,
        &controller::VOLUME.info,
    ];
    for key in WORDS.into_iter().chain(others) {
        facts.put_value(disk, key, unknown.clone().map(Value::Text));
    }
}

/// Finds each disk among the volumes and records the statements about it.
fn tell(
    host: &dyn Host,
    family: Family,
    answers: &ControllerReport,
    facts: &mut FactSet,
    subjects: &[Subject],
) {
    let disks: Vec<DiskIdentity> = subjects
        .iter()
        .map(|subject| look(host, subject, facts))
        .collect();
    let places: BTreeSet<_> = disks.iter().map(|disk| disk.pci).collect();
    for (subject, disk) in subjects.iter().zip(&disks) {
        let source = Source::Command {
            argv: answers.argv.clone(),
        };
        facts.know(
            subject,
            &controller::TOOL,
            answers.tool.name().into_owned(),
            source.clone(),
        );
        match place::find(
            disk,
            &answers.adapters,
            knows(family).addresses,
            places.len(),
        ) {
            VolumeMatch::Volume(adapter, volume) => {
                facts.know(
                    subject,
                    &controller::VOLUME,
                    volume.name.clone(),
                    source.clone(),
                );
                put(subject, &[(adapter, volume)], &source, facts);
            }
            VolumeMatch::OneOf(volumes) => {
                let unknown =
                    Reading::unknown(Why::Ambiguous, "several volumes could be this disk");
                facts.put(subject, &controller::VOLUME, unknown);
                put(subject, &volumes, &source, facts);
            }
            VolumeMatch::PassedOn => {
                let says = "the controller passes this disk on: it is none of its volumes";
                leave_unknown(subject, &Reading::unknown(Why::Absent, says), facts);
                facts.know(
                    subject,
                    &controller::TOOL,
                    answers.tool.name().into_owned(),
                    source.clone(),
                );
                facts.know(
                    subject,
                    &controller::VOLUME,
                    "none".to_owned(),
                    Source::file(class(subject)),
                );
            }
            VolumeMatch::Nowhere(says) => {
                let unknown = Reading::unknown(Why::Ambiguous, format!("{source}: {says}"));
                leave_unknown(
                    subject,
                    &unknown.or_try(Remedy::Do(find_it(answers.tool, subject))),
                    facts,
                );
            }
        }
    }
}

/// The remedy where the tool answered but no volume matches the disk for certain.
fn find_it(tool: Tool, disk: &Subject) -> String {
    format!(
        "find the serial number of {} in what {} lists: is it a volume or a pass-through (JBOD) disk? smartctl tells it",
        disk.name(),
        tool.name(),
    )
}

fn class(disk: &Subject) -> String {
    format!("/sys/class/block/{}", disk.name())
}

/// The identity of a disk, as the kernel knows it, by which its volume can be found.
fn look(host: &dyn Host, subject: &Subject, facts: &FactSet) -> DiskIdentity {
    let name = Path::new("/sys/class/block").join(path_of(crate::text::raw(subject.name())));
    let wwid = host.attribute(&name.join("device/wwid")).ok();
    let disk = DiskIdentity {
        node: facts.value(subject, &device::PATH).unwrap_or_default(),
        wwn: wwid.and_then(|wwid| said::wwn(wwid.strip_prefix("naa.")?)),
        model: facts.value(subject, &device::MODEL).unwrap_or_default(),
        level: host.attribute(&name.join("device/raid_level")).ok(),
        ..DiskIdentity::default()
    };
    match host.link(&name) {
        Ok(place) => disk.at(&safe(path_bytes(&place))),
        Err(_) => disk,
    }
}

/// Records the statements on which all volumes agree that this disk may be.
fn put(disk: &Subject, volumes: &[(&Adapter, &Volume)], source: &Source, facts: &mut FactSet) {
    let models: BTreeSet<_> = volumes
        .iter()
        .map(|(adapter, _)| adapter.model.clone())
        .collect();
    let model = match models.into_iter().collect::<Vec<_>>().as_slice() {
        [Some(model)] => Reading::known(model.clone(), source.clone()),
        _ => Reading::unknown(Why::Absent, format!("{source} tells no model")),
    };
    facts.put(disk, &controller::MODEL, model);
    let details: BTreeSet<_> = volumes
        .iter()
        .map(|(adapter, _)| adapter.detail.clone())
        .collect();
    if let [Some(detail)] = details.into_iter().collect::<Vec<_>>().as_slice() {
        facts.know(
            disk,
            &controller::CACHE_DETAIL,
            detail.clone(),
            source.clone(),
        );
    }
    put_alike(
        disk,
        &controller::BATTERY,
        volumes,
        |(adapter, _)| &adapter.battery,
        source,
        facts,
    );
    put_alike(
        disk,
        &controller::POLICY,
        volumes,
        |(_, volume)| &volume.policy,
        source,
        facts,
    );
    put_alike(
        disk,
        &controller::POLICY_IN_FORCE,
        volumes,
        |(_, volume)| &volume.in_force,
        source,
        facts,
    );
    put_alike(
        disk,
        &controller::ON_BATTERY_FAILURE,
        volumes,
        |(_, volume)| &volume.on_failure,
        source,
        facts,
    );
    put_alike(
        disk,
        &controller::DISK_CACHE,
        volumes,
        |(_, volume)| &volume.disk_cache,
        source,
        facts,
    );
}

fn put_alike<'a, T: Choice>(
    disk: &Subject,
    key: &Key<T>,
    volumes: &[(&'a Adapter, &'a Volume)],
    of: impl Fn(&(&'a Adapter, &'a Volume)) -> &'a FieldReading<T>,
    source: &Source,
    facts: &mut FactSet,
) {
    let mut said = volumes.iter().map(of).cloned();
    let first = said
        .next()
        .unwrap_or_else(|| FieldReading::missing("a volume"));
    let alike = said.all(|other| other == first);
    let reading = match first {
        _ if !alike => Reading::unknown(
            Why::Ambiguous,
            format!("{source}: it is unknown which volume this disk is, and they differ"),
        ),
        FieldReading::Is(value) => Reading::known(value, source.clone()),
        FieldReading::Gap(why, detail) => Reading::unknown(why, format!("{source}: {detail}")),
    };
    facts.put(disk, key, reading);
}

#[cfg(test)]
mod tests;
