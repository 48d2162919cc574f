//! The answers of the disks themselves, which only root can query: write caches, warnings,
//! rotation, zones.
//!
//! Only disks below a mount or an unused device are queried, several at a time, up to a limit. Each
//! kind of disk has its tool ([`nvme`], [`query_ata_or_scsi_drive`]). A disk in standby is not
//! woken, so its answers stay unknown.

mod capacitor;
mod nvme;

use std::collections::BTreeSet;
use std::slice;

use serde_json::Value as Json;

use crate::collector::Request;
use crate::escape::shell;
use crate::facts::catalog::device::{
    self, DeviceKind, DriveCacheState, ShingledRecording, Transport,
};
use crate::facts::catalog::{controller, host, mount};
use crate::facts::{
    FactSet, FactValue, Key, KeyInfo, Reading, Remedy, Scope, Source, Subject, UnknownReason, Value,
};
use crate::host::{Host, HostErrorKind, Tool, path_bytes};
use crate::host_readings::{programs_disabled_reading, tool_reading};
use crate::parallel;
use crate::path_lookup::mount_of_path;
use crate::text::{display_safe, json};

const MAX_DISKS: usize = 64;

const CONCURRENT_DISKS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryMethod {
    Nvme,
    Disk,
    /// A SCSI disk that a hypervisor or USB bridge presents.
    Presented,
}

impl QueryMethod {
    fn for_disk(disk: &Subject, facts: &FactSet) -> Option<Self> {
        if !facts.value(disk, &device::KIND)?.is_disk() {
            return None;
        }
        match facts.value(disk, &device::TRANSPORT)? {
            Transport::Nvme => Some(Self::Nvme),
            Transport::Sata | Transport::Sas | Transport::Scsi => Some(Self::Disk),
            Transport::Usb | Transport::VirtioScsi | Transport::Vmware | Transport::Hyperv => {
                Some(Self::Presented)
            }
            // A RAID volume is queried through its controller. The volume `none` means a
            // passed-through disk.
            Transport::Megaraid | Transport::Raid => {
                (facts.value(disk, &controller::VOLUME)? == "none").then_some(Self::Disk)
            }
            Transport::Virtio
            | Transport::Xen
            | Transport::Mmc
            | Transport::Pmem
            | Transport::Network
            | Transport::Other => None,
        }
    }
}

pub fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let disks = disks_to_query(request, facts);
    if disks.is_empty() {
        return;
    }
    query_disks(host, request, &disks, facts);
    let disks: BTreeSet<&Subject> = disks.iter().map(|(disk, _)| disk).collect();
    let partitions: Vec<(Subject, Subject)> = facts
        .layer_edges()
        .filter(|(top, base)| {
            let kind = facts.value(top, &device::KIND);
            disks.contains(base) && kind.is_some_and(DeviceKind::is_partition)
        })
        .map(|(partition, disk)| (partition.clone(), disk.clone()))
        .collect();
    for (partition, disk) in partitions {
        facts.copy_reading(&partition, &device::SHINGLED.info, &disk);
    }
}

fn query_disks(
    host: &dyn Host,
    request: &Request,
    disks: &[(Subject, QueryMethod)],
    facts: &mut FactSet,
) {
    if request.without_programs {
        return record_refusal_for_disks(host, disks, &programs_disabled_reading(), facts);
    }
    if facts.host_value(&host::PRIVILEGED) != Some(true) {
        let denied = Reading::denied("only root can query a disk").with_remedy(Remedy::RunAsRoot);
        return record_refusal_for_disks(host, disks, &denied, facts);
    }
    let (asked, rest) = disks.split_at(disks.len().min(MAX_DISKS));
    if !rest.is_empty() {
        let says = format!(
            "walwise queries at most {} disks, so this disk was not queried",
            asked.len()
        );
        let refusal = Reading::unknown(UnknownReason::NotCollected, says);
        record_refusal_for_disks(host, rest, &refusal, facts);
        facts.add_note_once(format!(
            "only {} of {} disks were queried about their caches",
            asked.len(),
            disks.len()
        ));
    }
    // A tool that timed out on one disk is not run on later disks.
    let mut late = BTreeSet::new();
    for some in asked.chunks(CONCURRENT_DISKS) {
        let known = &*facts;
        let answers = parallel::map_with_thread_per_item(some, |(disk, method)| {
            let mut runner = DriveToolRunner {
                host,
                node: &known.value(disk, &device::PATH).unwrap_or_default(),
                timed_out: late.clone(),
                refusal: None,
                facts: Vec::new(),
            };
            query_disk(&mut runner, *method);
            (runner.facts, runner.timed_out)
        });
        for (one, answer) in some.iter().zip(answers) {
            let disk = &one.0;
            // A panic in a parser affects only this disk.
            let Ok((readings, timed_out)) = answer else {
                let failed = Reading::malformed("the disk's answers could not be parsed");
                record_refusal_for_disks(host, slice::from_ref(one), &failed, facts);
                facts.add_note_once(format!(
                    "{disk}: walwise failed to process its data; write cache, warnings and medium are unknown"
                ));
                continue;
            };
            late.extend(timed_out);
            record_drive_facts(disk, readings, facts);
        }
    }
}

fn query_disk(runner: &mut DriveToolRunner, method: QueryMethod) {
    match method {
        QueryMethod::Nvme => nvme::query_drive(runner),
        QueryMethod::Disk => query_ata_or_scsi_drive(runner),
        // Virtual and USB disks appear as SCSI disks, whatever their kind.
        QueryMethod::Presented => {
            let unknown = Reading::not_collected();
            let cache = query_write_cache(runner, &[SDPARM, SMARTCTL], None);
            runner.insert(&device::DRIVE_CACHE, cache.unwrap_or(unknown));
        }
    }
}

/// A reading of shingled zones is dropped if it adds nothing to what the kernel shows.
fn record_drive_facts(
    disk: &Subject,
    readings: Vec<(KeyInfo, Reading<Value>)>,
    facts: &mut FactSet,
) {
    for (key, reading) in readings {
        let known = facts
            .value(disk, &device::SHINGLED)
            .filter(|_| key.name == device::SHINGLED.name());
        let adds = known.is_none_or(|known| !known.reports_zones() && reading.is_known());
        if adds {
            facts.insert_untyped_value(disk, &key, reading);
        }
    }
}

fn record_refusal_for_disks(
    host: &dyn Host,
    disks: &[(Subject, QueryMethod)],
    reading: &Reading<Value>,
    facts: &mut FactSet,
) {
    for (disk, method) in disks {
        let mut runner = DriveToolRunner {
            host,
            node: "",
            timed_out: BTreeSet::new(),
            refusal: Some(reading),
            facts: Vec::new(),
        };
        query_disk(&mut runner, *method);
        record_drive_facts(disk, runner.facts, facts);
    }
}

/// The disks below the target, then those below mounts, then those below unused devices, each once.
fn disks_to_query(request: &Request, facts: &FactSet) -> Vec<(Subject, QueryMethod)> {
    let asked = request.target.as_deref().map(path_bytes).and_then(|path| {
        let node = display_safe(path);
        let is_it = |device: &&Subject| {
            facts
                .value(device, &device::PATH)
                .is_some_and(|path| path == node)
        };
        let device = facts
            .subjects_of_scope(Scope::Device)
            .find(is_it)
            .filter(|_| path.starts_with(b"/dev/"));
        device.cloned().or_else(|| mount_of_path(facts, path))
    });
    let mounts = facts.subjects_where(&mount::CLASS, |class| class.is_block());
    let unused = facts.subjects_where(&device::CONTENT, |content| content.allows_new_filesystem());
    let mut seen = BTreeSet::new();
    let mut disks = Vec::new();
    for top in asked.iter().chain(&mounts).chain(&unused) {
        // The walks share `seen`, so layers in common are visited once.
        let mut open = vec![top];
        while let Some(subject) = open.pop() {
            if !seen.insert(subject.clone()) {
                continue;
            }
            let below = facts.layers_directly_below(subject);
            if below.is_empty()
                && let Some(method) = QueryMethod::for_disk(subject, facts)
            {
                disks.push((subject.clone(), method));
            }
            open.extend(below);
        }
    }
    disks
}

#[cfg(test)]
mod tests;

struct DriveToolRunner<'a> {
    host: &'a dyn Host,
    node: &'a str,
    timed_out: BTreeSet<Tool>,
    /// The reading that replaces the answer of every tool; `None` if the tools may run.
    refusal: Option<&'a Reading<Value>>,
    facts: Vec<(KeyInfo, Reading<Value>)>,
}

impl DriveToolRunner<'_> {
    fn insert<T: FactValue>(&mut self, key: &Key<T>, reading: Reading<T>) {
        self.facts
            .push((key.info, reading.map(FactValue::into_value)));
    }

    fn run_tool(&mut self, tool: Tool, words: &[&str]) -> Reading<Vec<u8>> {
        if let Some(reading) = self.refusal {
            return reading.clone().into_unknown_reading();
        }
        let arguments: Vec<&str> = words.iter().copied().chain([self.node]).collect();
        let argv = shell::format_command_line(&tool.name(), &arguments);
        if self.timed_out.contains(&tool) {
            let says = format!("`{argv}` was not run, because the program timed out earlier");
            return Reading::unknown(UnknownReason::TimedOut, says);
        }
        let answer = self.host.run_tool(tool, &arguments);
        if answer
            .as_ref()
            .is_err_and(|miss| miss.kind == HostErrorKind::TimedOut)
        {
            self.timed_out.insert(tool);
        }
        match answer {
            // Tools run only as root, so *run as root* cannot be the remedy.
            Err(miss) if miss.kind == HostErrorKind::Denied => {
                Reading::denied(format!("{argv}: {miss}"))
            }
            answer => tool_reading(answer, tool, &argv),
        }
    }

    /// Null without a JSON object in the output.
    fn run_tool_for_json(&mut self, tool: Tool, words: &[&str]) -> Reading<Json> {
        self.run_tool(tool, words)
            .map(|text| json::first_json_object(&text).unwrap_or_default())
    }
}

/// *Absent* if the answer lacks the value; `what` names the field.
fn value_or_absent<A, T>(
    answer: &Reading<A>,
    parse: impl FnOnce(&A) -> Option<T>,
    what: &str,
) -> Reading<T> {
    answer
        .as_ref()
        .and_then_reading(|answer, source| match parse(answer) {
            Some(value) => Reading::known(value, source),
            None => Reading::absent(format!("{source} does not report {what}")),
        })
}

/// For a field that every output has: *malformed* if it is missing.
fn value_or_malformed<A, T>(
    answer: &Reading<A>,
    parse: impl FnOnce(&A) -> Option<T>,
    what: &str,
) -> Reading<T> {
    answer
        .as_ref()
        .and_then_reading(|answer, source| match parse(answer) {
            Some(value) => Reading::known(value, source),
            None => Reading::malformed(format!("{source} lacks {what}")),
        })
}

// SATA and SAS disks: write cache, rotation speed and zones from `smartctl -i -g wcache`;
// hdparm or sdparm if smartctl does not print the cache.
//
// Keys follow smartmontools (ataprint.cpp, scsiprint.cpp). Serial numbers are not requested
// (`-q noserial`), and a disk in standby is not woken (`-n standby`). smartctl prints the cache
// of a SAS disk only as text, not in JSON.

fn query_ata_or_scsi_drive(runner: &mut DriveToolRunner) {
    let words = [
        "-q", "noserial", "-n", "standby", "-j", "-i", "-g", "wcache",
    ];
    let answer = runner.run_tool_for_json(Tool::Smartctl, &words);
    let is_in_standby = answer.value().is_some_and(is_in_standby);
    let answer = answer.and_then_reading(|json, source| {
        if is_in_standby {
            standby_reading(&source)
        } else {
            Reading::known(json, source)
        }
    });
    let mut cache = value_or_absent(&answer, parse_smartctl_write_cache, "the write cache");
    if !cache.is_known() && !is_in_standby {
        let others = query_write_cache(runner, &[SMARTCTL, SDPARM, HDPARM], Some(cache.clone()));
        cache = others.unwrap_or(cache);
    }
    runner.insert(&device::DRIVE_CACHE, cache);
    runner.insert(&device::RPM, rotation_rate_rpm(&answer));
    if answer.value().is_none_or(is_drive_managed_smr) {
        let managed = answer.map(|_| ShingledRecording::DriveManaged);
        runner.insert(&device::SHINGLED, managed);
    }
}

fn parse_smartctl_write_cache(json: &Json) -> Option<DriveCacheState> {
    Some(if json.pointer("/write_cache/enabled")?.as_bool()? {
        DriveCacheState::On
    } else {
        DriveCacheState::Off
    })
}

fn rotation_rate_rpm(answer: &Reading<Json>) -> Reading<u64> {
    let rate = |json: &Json| json.get("rotation_rate")?.as_u64();
    value_or_absent(answer, rate, "a rotation speed").and_then_reading(|rate, source| match rate {
        0 => Reading::absent(format!("{source}: the disk does not rotate")),
        rate => Reading::known(rate, source),
    })
}

/// Whether the disk is drive-managed SMR, by its own report or by smartmontools' list of
/// models.
fn is_drive_managed_smr(json: &Json) -> bool {
    let says = |at: &str, word: &str| {
        json.pointer(at)
            .and_then(Json::as_str)
            .is_some_and(|text| text.contains(word))
    };
    let scsi = json
        .get("scsi_Device managed zoned block capable")
        .and_then(Json::as_bool);
    says("/zoned_device/capabilities", "device_managed")
        || says("/model_family", "(SMR)")
        || scsi == Some(true)
}

/// Whether smartctl skipped the disk: `Device is in STANDBY mode, exit(2)`.
fn is_in_standby(json: &Json) -> bool {
    let messages = json.pointer("/smartctl/messages").and_then(Json::as_array);
    messages.into_iter().flatten().any(|message| {
        let text = message
            .get("string")
            .and_then(Json::as_str)
            .unwrap_or_default();
        text.starts_with("Device is in ") && (text.contains("STANDBY") || text.contains("SLEEP"))
    })
}

fn standby_reading<T>(source: &Source) -> Reading<T> {
    let says = format!("{source}: the disk is in standby and was not woken");
    Reading::unknown(UnknownReason::NotCollected, says).with_remedy(Remedy::Do(
        "read from the disk to wake it, then check again".to_owned(),
    ))
}

// The write cache flag alone, from hdparm (SATA), sdparm (SCSI) or smartctl.
//
// Output follows hdparm.c, sdparm (mode page *Caching*) and smartmontools (scsiprint.cpp,
// ataprint.cpp). A SATA disk behind a SAS controller answers both hdparm and sdparm, so the
// first tool with an answer decides.

const SMARTCTL: (Tool, &[&str]) = (
    Tool::Smartctl,
    &["-q", "noserial", "-n", "standby", "-g", "wcache"],
);
const SDPARM: (Tool, &[&str]) = (Tool::Sdparm, &["--get=WCE"]);
const HDPARM: (Tool, &[&str]) = (Tool::Hdparm, &["-W"]);

/// The answer of the first tool that reports the flag; otherwise `why`, or the first tool's reason.
fn query_write_cache(
    runner: &mut DriveToolRunner,
    tools: &[(Tool, &[&str])],
    mut why: Option<Reading<DriveCacheState>>,
) -> Option<Reading<DriveCacheState>> {
    for (tool, words) in tools {
        let answer = runner.run_tool(*tool, words);
        let cache = value_or_absent(
            &answer,
            |text| parse_write_cache_state(text),
            "the write cache",
        );
        if cache.is_known() {
            return Some(cache);
        }
        why = why.or(Some(cache));
    }
    why
}

/// Parses the flag in any tool's output; `None` if no line has it, or two lines differ.
fn parse_write_cache_state(answer: &[u8]) -> Option<DriveCacheState> {
    let text = String::from_utf8_lossy(answer);
    let mut states = text
        .lines()
        .filter_map(|line| parse_write_cache_line(line.trim()));
    let first = states.next()?;
    states.all(|state| state == first).then_some(first)
}

fn parse_write_cache_line(line: &str) -> Option<DriveCacheState> {
    let (value, on, off) = if let Some(rest) = line.strip_prefix("write-caching") {
        (rest.trim_start().strip_prefix('=')?, "1 (on)", "0 (off)")
    } else if let Some(rest) = line.strip_prefix("WCE ") {
        (rest.split_whitespace().next()?, "1", "0")
    } else {
        let value = line
            .strip_prefix("Writeback Cache is:")
            .or_else(|| line.strip_prefix("Write cache is:"))?;
        (value, "Enabled", "Disabled")
    };
    match value.trim() {
        value if value == on => Some(DriveCacheState::On),
        value if value == off => Some(DriveCacheState::Off),
        _ => None,
    }
}
