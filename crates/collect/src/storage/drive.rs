//! The answers of the disks themselves, which only root can query: write caches, warnings,
//! rotation, zones.
//!
//! Only disks below a mount or an unused device are queried, several at a time, up to a limit. Each
//! kind of disk has its tool ([`nvme`], [`query_ata_or_scsi_drive`]). A disk in standby is not
//! woken, so its answers stay unknown.

mod capacitor;
mod nvme;

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use serde_json::Value as Json;

use crate::collector::{Collector, Request};
use crate::escape::shell;
use crate::facts::catalog::device::{
    self, DeviceKind, DriveCacheState, ShingledRecording, Transport,
};
use crate::facts::catalog::{controller, host, mount};

use crate::facts::{
    FactSet, FactValue, Key, KeyInfo, Reading, Remedy, Scope, Source, Subject, UnknownReason, Value,
};
use crate::host::{Host, HostErrorKind, Tool, path_bytes};
use crate::host_readings::{error_reading, programs_disabled_reading};
use crate::parallel;
use crate::path_lookup::mount_of_path;
use crate::text::{display_safe, json};

pub const COLLECTOR: Collector = Collector {
    id: "disks",
    collect_facts,
};

const MAX_DISKS: usize = 64;

const CONCURRENT_DISKS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryMethod {
    Nvme,
    Disk,
    /// SCSI disks of a hypervisor or USB bridge.
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

fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let disks = disks_to_query(request, facts);
    if disks.is_empty() {
        return;
    }
    let partitions = PartitionsByDisk::from_facts(facts);
    let unasked = if request.without_programs {
        Some(programs_disabled_reading())
    } else if facts.host_value(&host::PRIVILEGED) != Some(true) {
        Some(Reading::denied("only root can query a disk").with_remedy(Remedy::RunAsRoot))
    } else {
        None
    };
    if let Some(reading) = unasked {
        return record_refusal_for_disks(host, &disks, &partitions, &reading, facts);
    }
    let (asked, rest) = disks.split_at(disks.len().min(MAX_DISKS));
    if !rest.is_empty() {
        let says = format!(
            "walwise queries at most {} disks, so this disk was not queried",
            asked.len()
        );
        record_refusal_for_disks(
            host,
            rest,
            &partitions,
            &Reading::unknown(UnknownReason::NotCollected, says),
            facts,
        );
        facts.add_note_once(format!(
            "only {} of {} disks were queried about their caches",
            asked.len(),
            disks.len()
        ));
    }
    // A tool that timed out on one disk is not run on later disks.
    let mut late = BTreeSet::new();
    for some in asked.chunks(CONCURRENT_DISKS) {
        let node = |disk| facts.value(disk, &device::PATH).unwrap_or_default();
        let nodes: Vec<_> = some
            .iter()
            .map(|(disk, method)| (node(disk), *method))
            .collect();
        let drive = parallel::map_with_thread_per_item(&nodes, |(node, method)| {
            query_disk(
                &DriveToolRunner {
                    host,
                    node,
                    timed_out: &late,
                    refusal: None,
                },
                *method,
            )
        });
        for (one, drive) in some.iter().zip(drive) {
            let disk = &one.0;
            // A panic in a parser affects only this disk.
            let Ok(drive) = drive else {
                let failed = Reading::malformed("the disk's answers could not be parsed");
                record_refusal_for_disks(host, slice::from_ref(one), &partitions, &failed, facts);
                facts.add_note_once(format!(
                    "{disk}: walwise failed to process its data; write cache, warnings and medium are unknown"
                ));
                continue;
            };
            late.extend(&drive.timed_out);
            for (key, reading) in drive.facts {
                record_drive_fact(disk, &partitions, &key, reading, facts);
            }
        }
    }
}

fn query_disk(questions: &DriveToolRunner, method: QueryMethod) -> DriveFacts {
    match method {
        QueryMethod::Nvme => nvme::query_drive(questions),
        QueryMethod::Disk => query_ata_or_scsi_drive(questions),
        QueryMethod::Presented => query_cache_of_virtual_or_usb_disk(questions),
    }
}

struct PartitionsByDisk(BTreeMap<Subject, Vec<Subject>>);

impl PartitionsByDisk {
    /// The storage stack is walked once for all disks, because a large host has thousands of disks.
    fn from_facts(facts: &FactSet) -> Self {
        let mut partitions: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
        for (top, base) in facts.layer_edges() {
            if facts
                .value(top, &device::KIND)
                .is_some_and(DeviceKind::is_partition)
            {
                partitions
                    .entry(base.clone())
                    .or_default()
                    .push(top.clone());
            }
        }
        Self(partitions)
    }

    fn disk_partitions(&self, disk: &Subject) -> &[Subject] {
        self.0.get(disk).map_or(&[], Vec::as_slice)
    }
}

/// A reading of shingled zones is recorded for the partitions too, or dropped if it adds nothing to
/// what the kernel shows.
fn record_drive_fact(
    disk: &Subject,
    partitions: &PartitionsByDisk,
    key: &KeyInfo,
    reading: Reading<Value>,
    facts: &mut FactSet,
) {
    if key.name != device::SHINGLED.name() {
        return facts.insert_untyped_value(disk, key, reading);
    }
    let known = facts.value(disk, &device::SHINGLED);
    if known.is_some_and(ShingledRecording::reports_zones)
        || (known.is_some() && !reading.is_known())
    {
        return;
    }
    for subject in partitions.disk_partitions(disk).iter().chain([disk]) {
        facts.insert_untyped_value(subject, key, reading.clone());
    }
}

fn record_refusal_for_disks(
    host: &dyn Host,
    disks: &[(Subject, QueryMethod)],
    partitions: &PartitionsByDisk,
    reading: &Reading<Value>,
    facts: &mut FactSet,
) {
    let questions = DriveToolRunner {
        host,
        node: "",
        timed_out: &BTreeSet::new(),
        refusal: Some(reading),
    };
    for (disk, method) in disks {
        for (key, reading) in query_disk(&questions, *method).facts {
            record_drive_fact(disk, partitions, &key, reading, facts);
        }
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

#[derive(Default)]
struct DriveFacts {
    pub facts: Vec<(KeyInfo, Reading<Value>)>,
    pub timed_out: BTreeSet<Tool>,
}

impl DriveFacts {
    pub fn insert<T: FactValue>(&mut self, key: &Key<T>, reading: Reading<T>) {
        self.facts
            .push((key.info, reading.map(FactValue::into_value)));
    }
}

struct DriveToolRunner<'a> {
    pub host: &'a dyn Host,
    pub node: &'a str,
    pub timed_out: &'a BTreeSet<Tool>,
    /// The reading that replaces the answer of every tool; `None` if the tools may run.
    pub refusal: Option<&'a Reading<Value>>,
}

impl DriveToolRunner<'_> {
    pub fn run_tool_unless_refused(
        &self,
        tool: Tool,
        words: &[&str],
        drive: &mut DriveFacts,
    ) -> Result<ToolOutput, Reading<Value>> {
        if let Some(reading) = self.refusal {
            return Err(reading.clone());
        }
        let arguments: Vec<&str> = words.iter().copied().chain([self.node]).collect();
        let argv = shell::format_command_line(&tool.name(), &arguments);
        if self.timed_out.contains(&tool) || drive.timed_out.contains(&tool) {
            let says = format!("`{argv}` was not run, because the program timed out earlier");
            return Err(Reading::unknown(UnknownReason::TimedOut, says));
        }
        match self.host.run_tool(tool, &arguments) {
            Ok(text) => Ok(ToolOutput { text, argv }),
            Err(miss) => Err(match miss.kind {
                HostErrorKind::Absent => error_reading(&miss, &argv)
                    .with_remedy(Remedy::Install(tool.package().to_owned())),
                HostErrorKind::TimedOut => {
                    drive.timed_out.insert(tool);
                    error_reading(&miss, &argv)
                }
                // Tools run only as root, so *run as root* cannot be the remedy.
                HostErrorKind::Denied => Reading::denied(format!("{argv}: {miss}")),
                _ => error_reading(&miss, &argv),
            }),
        }
    }
}

struct ToolOutput {
    pub text: Vec<u8>,
    pub argv: String,
}

impl ToolOutput {
    pub fn source(&self) -> Source {
        Source::Command {
            argv: self.argv.clone(),
        }
    }

    /// Null without a JSON object in the output.
    pub fn json(&self) -> serde_json::Value {
        json::split_first_json_object(&self.text)
            .map(|(first, _)| first)
            .unwrap_or_default()
    }

    /// *Absent* if the output lacks the value; `what` names the field.
    pub fn reading_or_absent<T>(&self, value: Option<T>, what: &str) -> Reading<T> {
        match value {
            Some(value) => Reading::known(value, self.source()),
            None => Reading::absent(format!("`{}` does not report {what}", self.argv)),
        }
    }

    /// For a field that every output has: *malformed* if it is missing.
    pub fn reading_or_malformed<T>(&self, value: Option<T>, what: &str) -> Reading<T> {
        match value {
            Some(value) => Reading::known(value, self.source()),
            None => Reading::malformed(format!("`{}` lacks {what}", self.argv)),
        }
    }
}

fn unknown_reading_of_refusal<T>(refusal: &Reading<Value>) -> Reading<T> {
    refusal
        .clone()
        .and_then(|_| Err("the query was refused".to_owned()))
}

// SATA and SAS disks: write cache, rotation speed and zones from `smartctl -i -g wcache`;
// hdparm or sdparm if smartctl does not print the cache.
//
// Keys follow smartmontools (ataprint.cpp, scsiprint.cpp). Serial numbers are not requested
// (`-q noserial`), and a disk in standby is not woken (`-n standby`). smartctl prints the cache
// of a SAS disk only as text, not in JSON.

fn query_ata_or_scsi_drive(questions: &DriveToolRunner) -> DriveFacts {
    let mut drive = DriveFacts::default();
    let words = [
        "-q", "noserial", "-n", "standby", "-j", "-i", "-g", "wcache",
    ];
    let answer = match questions.run_tool_unless_refused(Tool::Smartctl, &words, &mut drive) {
        Ok(answer) => answer,
        Err(refusal) => {
            drive.insert(&device::RPM, unknown_reading_of_refusal(&refusal));
            drive.insert(&device::SHINGLED, unknown_reading_of_refusal(&refusal));
            let cache = query_ata_or_scsi_write_cache(
                questions,
                unknown_reading_of_refusal(&refusal),
                &mut drive,
            );
            drive.insert(&device::DRIVE_CACHE, cache);
            return drive;
        }
    };
    let json = answer.json();
    if is_in_standby(&json) {
        drive.insert(&device::RPM, standby_reading(&answer));
        drive.insert(&device::SHINGLED, standby_reading(&answer));
        drive.insert(&device::DRIVE_CACHE, standby_reading(&answer));
        return drive;
    }
    let cache = match parse_smartctl_write_cache(&json) {
        Some(cache) => Reading::known(cache, answer.source()),
        None => query_ata_or_scsi_write_cache(
            questions,
            answer.reading_or_absent(None, "the write cache"),
            &mut drive,
        ),
    };
    drive.insert(&device::DRIVE_CACHE, cache);
    drive.insert(&device::RPM, rotation_rate_rpm(&answer, &json));
    if is_drive_managed_smr(&json) {
        drive.insert(
            &device::SHINGLED,
            Reading::known(ShingledRecording::DriveManaged, answer.source()),
        );
    }
    drive
}

fn parse_smartctl_write_cache(json: &Json) -> Option<DriveCacheState> {
    Some(if json.pointer("/write_cache/enabled")?.as_bool()? {
        DriveCacheState::On
    } else {
        DriveCacheState::Off
    })
}

fn rotation_rate_rpm(answer: &ToolOutput, json: &Json) -> Reading<u64> {
    match json.get("rotation_rate").and_then(Json::as_u64) {
        Some(0) => Reading::absent(format!("`{}`: the disk does not rotate", answer.argv)),
        rate => answer.reading_or_absent(rate, "a rotation speed"),
    }
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
    let text = |message: &Json| {
        message
            .get("string")
            .and_then(Json::as_str)
            .map(str::to_owned)
    };
    messages.into_iter().flatten().filter_map(text).any(|text| {
        text.starts_with("Device is in ") && (text.contains("STANDBY") || text.contains("SLEEP"))
    })
}

fn standby_reading<T>(answer: &ToolOutput) -> Reading<T> {
    Reading::unknown(
        UnknownReason::NotCollected,
        format!(
            "`{}`: the disk is in standby and was not woken",
            answer.argv
        ),
    )
    .with_remedy(Remedy::Do(
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

/// Virtual and USB disks appear as SCSI disks, whatever their kind.
fn query_cache_of_virtual_or_usb_disk(questions: &DriveToolRunner) -> DriveFacts {
    let mut drive = DriveFacts::default();
    let cache =
        query_cache_with_first_answering_tool(questions, &[SDPARM, SMARTCTL], None, &mut drive);
    drive.insert(&device::DRIVE_CACHE, cache);
    drive
}

/// `otherwise` is the result if no tool reports the flag.
fn query_ata_or_scsi_write_cache(
    questions: &DriveToolRunner,
    otherwise: Reading<DriveCacheState>,
    drive: &mut DriveFacts,
) -> Reading<DriveCacheState> {
    query_cache_with_first_answering_tool(
        questions,
        &[SMARTCTL, SDPARM, HDPARM],
        Some(otherwise),
        drive,
    )
}

fn query_cache_with_first_answering_tool(
    questions: &DriveToolRunner,
    tools: &[(Tool, &[&str])],
    otherwise: Option<Reading<DriveCacheState>>,
    drive: &mut DriveFacts,
) -> Reading<DriveCacheState> {
    let mut why = otherwise;
    for (tool, words) in tools {
        let reading = match questions.run_tool_unless_refused(*tool, words, drive) {
            Ok(answer) => {
                answer.reading_or_absent(parse_write_cache_state(&answer.text), "the write cache")
            }
            Err(refusal) => unknown_reading_of_refusal(&refusal),
        };
        if reading.is_known() {
            return reading;
        }
        why = why.or(Some(reading));
    }
    why.unwrap_or_else(Reading::not_collected)
}

/// Parses the flag in any tool's output; `None` if no line has it, or two lines differ.
fn parse_write_cache_state(answer: &[u8]) -> Option<DriveCacheState> {
    let text = String::from_utf8_lossy(answer);
    let mut found: Option<DriveCacheState> = None;
    for line in text.lines() {
        let Some(cache) = parse_write_cache_line(line.trim()) else {
            continue;
        };
        if found.is_some_and(|before| before != cache) {
            return None;
        }
        found = Some(cache);
    }
    found
}

fn parse_write_cache_line(line: &str) -> Option<DriveCacheState> {
    if let Some(value) = line
        .strip_prefix("write-caching")
        .and_then(|rest| rest.trim_start().strip_prefix('='))
    {
        return match value.trim() {
            "1 (on)" => Some(DriveCacheState::On),
            "0 (off)" => Some(DriveCacheState::Off),
            _ => None,
        };
    }
    let cache = line
        .strip_prefix("Writeback Cache is:")
        .or_else(|| line.strip_prefix("Write cache is:"));
    if let Some(value) = cache {
        return match value.trim() {
            "Enabled" => Some(DriveCacheState::On),
            "Disabled" => Some(DriveCacheState::Off),
            _ => None,
        };
    }
    let mut words = line.strip_prefix("WCE")?.split_whitespace();
    match (line.as_bytes().get(3), words.next()) {
        (Some(b' '), Some("1")) => Some(DriveCacheState::On),
        (Some(b' '), Some("0")) => Some(DriveCacheState::Off),
        _ => None,
    }
}
