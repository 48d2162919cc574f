//! Answers of the disks themselves, asked as root: write caches, volatile caches, warnings,
//! rotation.
//!
//! Only disks below a mount or an unused device are asked. Their number is bounded, several are
//! asked at a time, and each with the tool for its kind ([`nvme`], [`smart`], [`flag`]). Judging
//! the answers is left to `durability`. A sleeping disk is not woken, so its answers stay unknown.

mod questions {
    //! One disk: the tools that are asked about it, what they printed, and the facts that come of
    //! it.
    //!
    //! Which tool tells what is left to the file of each.

    use std::collections::BTreeSet;

    use crate::facts::{FactValue, Key, KeyInfo, Reading, Remedy, Source, Value, Why};
    use crate::host::{Host, MissKind, Tool};
    use crate::quote::shell;
    use crate::refusal::refused;
    use crate::text::json;

    #[derive(Default)]
    pub struct DriveFacts {
        pub facts: Vec<(KeyInfo, Reading<Value>)>,
        /// Tools that did not answer in time.
        pub late: BTreeSet<Tool>,
    }

    impl DriveFacts {
        pub fn put<T: FactValue>(&mut self, key: &Key<T>, reading: Reading<T>) {
            self.facts
                .push((key.info, reading.map(FactValue::into_value)));
        }
    }

    /// Asks the tools about one disk.
    pub struct Questions<'a> {
        pub host: &'a dyn Host,
        pub node: &'a str,
        pub late: &'a BTreeSet<Tool>,
        /// Why nothing is asked; it is then the answer to every question.
        pub unasked: Option<&'a Reading<Value>>,
    }

    impl Questions<'_> {
        /// The output of a tool for these arguments before the disk's node, or why there is none.
        pub fn ask(
            &self,
            tool: Tool,
            words: &[&str],
            drive: &mut DriveFacts,
        ) -> Result<ToolOutput, Reading<Value>> {
            if let Some(reading) = self.unasked {
                return Err(reading.clone());
            }
            let arguments: Vec<&str> = words.iter().copied().chain([self.node]).collect();
            let argv = shell::line(&tool.name(), &arguments);
            if self.late.contains(&tool) || drive.late.contains(&tool) {
                let says = format!("{argv}: not asked, because it timed out before");
                return Err(Reading::unknown(Why::TimedOut, says));
            }
            match self.host.run(tool, &arguments) {
                Ok(text) => Ok(ToolOutput { text, argv }),
                Err(miss) => Err(match miss.kind {
                    MissKind::Absent => {
                        refused(&miss, &argv).or_try(Remedy::Install(tool.package().to_owned()))
                    }
                    MissKind::TimedOut => {
                        drive.late.insert(tool);
                        refused(&miss, &argv)
                    }
                    // For root itself, becoming root is no remedy.
                    MissKind::Denied => Reading::unknown(Why::Denied, format!("{argv}: {miss}")),
                    _ => refused(&miss, &argv),
                }),
            }
        }
    }

    pub struct ToolOutput {
        pub text: Vec<u8>,
        pub argv: String,
    }

    impl ToolOutput {
        pub fn source(&self) -> Source {
            Source::Command {
                argv: self.argv.clone(),
            }
        }

        /// The JSON document in it; null where there is none.
        pub fn json(&self) -> serde_json::Value {
            json::first(&self.text)
                .map(|(first, _)| first)
                .unwrap_or_default()
        }

        /// A known reading of the value, or that the answer lacks `what`.
        pub fn reading<T>(&self, value: Option<T>, what: &str) -> Reading<T> {
            match value {
                Some(value) => Reading::known(value, self.source()),
                None => {
                    Reading::unknown(Why::Absent, format!("`{}` does not tell {what}", self.argv))
                }
            }
        }

        /// The same for what every answer holds: without it the answer is not whole.
        pub fn required<T>(&self, value: Option<T>, what: &str) -> Reading<T> {
            match value {
                Some(value) => Reading::known(value, self.source()),
                None => Reading::unknown(Why::Malformed, format!("`{}` lacks {what}", self.argv)),
            }
        }
    }

    /// The same refusal for a fact of another type.
    pub fn unknown<T>(refusal: &Reading<Value>) -> Reading<T> {
        refusal
            .clone()
            .and_then(|_| Err("it was refused".to_owned()))
    }
}
mod flag {
    //! The write cache flag alone, as hdparm (SATA), sdparm (SCSI) and smartctl's text print it.
    //!
    //! Words follow hdparm (hdparm.c), sdparm (the mode page *Caching*) and smartmontools
    //! (scsiprint.cpp, ataprint.cpp). A SATA disk behind a SAS controller answers both hdparm and
    //! sdparm, so the first tool that knows the flag decides.

    use super::questions::{DriveFacts, Questions, unknown};
    use crate::facts::Reading;
    use crate::facts::catalog::device::{self, DriveCache};
    use crate::host::Tool;

    const SMARTCTL: (Tool, &[&str]) = (
        Tool::Smartctl,
        &["-q", "noserial", "-n", "standby", "-g", "wcache"],
    );
    const SDPARM: (Tool, &[&str]) = (Tool::Sdparm, &["--get=WCE"]);
    const HDPARM: (Tool, &[&str]) = (Tool::Hdparm, &["-W"]);

    /// Asks a disk that appears as a SCSI disk and may be none.
    pub fn ask_shown(questions: &Questions) -> DriveFacts {
        let mut drive = DriveFacts::default();
        let cache = first(questions, &[SDPARM, SMARTCTL], None, &mut drive);
        drive.put(&device::DRIVE_CACHE, cache);
        drive
    }

    /// Asks a physical disk with any tool that knows the flag; `otherwise` is recorded where none
    /// does.
    pub fn by_any(
        questions: &Questions,
        otherwise: Reading<DriveCache>,
        drive: &mut DriveFacts,
    ) -> Reading<DriveCache> {
        first(
            questions,
            &[SMARTCTL, SDPARM, HDPARM],
            Some(otherwise),
            drive,
        )
    }

    fn first(
        questions: &Questions,
        tools: &[(Tool, &[&str])],
        otherwise: Option<Reading<DriveCache>>,
        drive: &mut DriveFacts,
    ) -> Reading<DriveCache> {
        let mut why = otherwise;
        for (tool, words) in tools {
            let reading = match questions.ask(*tool, words, drive) {
                Ok(answer) => answer.reading(flag(&answer.text), "the write cache"),
                Err(refusal) => unknown(&refusal),
            };
            if reading.is_known() {
                return reading;
            }
            why = why.or(Some(reading));
        }
        why.unwrap_or_else(Reading::not_collected)
    }

    /// The flag in any of their texts; two lines that differ say nothing.
    pub fn flag(answer: &[u8]) -> Option<DriveCache> {
        let text = String::from_utf8_lossy(answer);
        let mut found: Option<DriveCache> = None;
        for line in text.lines() {
            let Some(cache) = in_line(line.trim()) else {
                continue;
            };
            if found.is_some_and(|before| before != cache) {
                return None;
            }
            found = Some(cache);
        }
        found
    }

    fn in_line(line: &str) -> Option<DriveCache> {
        if let Some(value) = line
            .strip_prefix("write-caching")
            .and_then(|rest| rest.trim_start().strip_prefix('='))
        {
            return match value.trim() {
                "1 (on)" => Some(DriveCache::On),
                "0 (off)" => Some(DriveCache::Off),
                _ => None,
            };
        }
        let cache = line
            .strip_prefix("Writeback Cache is:")
            .or_else(|| line.strip_prefix("Write cache is:"));
        if let Some(value) = cache {
            return match value.trim() {
                "Enabled" => Some(DriveCache::On),
                "Disabled" => Some(DriveCache::Off),
                _ => None,
            };
        }
        let mut words = line.strip_prefix("WCE")?.split_whitespace();
        match (line.as_bytes().get(3), words.next()) {
            (Some(b' '), Some("1")) => Some(DriveCache::On),
            (Some(b' '), Some("0")) => Some(DriveCache::Off),
            _ => None,
        }
    }
}
mod capacitor;
mod nvme;
mod smart {
    //! SATA and SAS disks: `smartctl -i -g wcache` for write cache, rotation speed and zones;
    //! hdparm or sdparm for the cache where smartctl does not print it.
    //!
    //! Keys follow smartmontools (ataprint.cpp, scsiprint.cpp). Serial numbers are not requested
    //! (`-q noserial`), and a disk in standby stays there (`-n standby`). For a SAS disk smartctl
    //! prints the cache only in its text, not in its JSON.

    use serde_json::Value as Json;

    use super::flag;
    use super::questions::{DriveFacts, Questions, ToolOutput, unknown};
    use crate::facts::catalog::device::{self, DriveCache, Shingled};
    use crate::facts::{Reading, Remedy, Why};
    use crate::host::Tool;

    pub fn ask(questions: &Questions) -> DriveFacts {
        let mut drive = DriveFacts::default();
        let words = [
            "-q", "noserial", "-n", "standby", "-j", "-i", "-g", "wcache",
        ];
        let answer = match questions.ask(Tool::Smartctl, &words, &mut drive) {
            Ok(answer) => answer,
            Err(refusal) => {
                drive.put(&device::RPM, unknown(&refusal));
                drive.put(&device::SHINGLED, unknown(&refusal));
                let cache = flag::by_any(questions, unknown(&refusal), &mut drive);
                drive.put(&device::DRIVE_CACHE, cache);
                return drive;
            }
        };
        let json = answer.json();
        if sleeps(&json) {
            drive.put(&device::RPM, asleep(&answer));
            drive.put(&device::SHINGLED, asleep(&answer));
            drive.put(&device::DRIVE_CACHE, asleep(&answer));
            return drive;
        }
        let cache = match cache(&json) {
            Some(cache) => Reading::known(cache, answer.source()),
            None => flag::by_any(
                questions,
                answer.reading(None, "the write cache"),
                &mut drive,
            ),
        };
        drive.put(&device::DRIVE_CACHE, cache);
        drive.put(&device::RPM, rpm(&answer, &json));
        if hides_zones(&json) {
            drive.put(
                &device::SHINGLED,
                Reading::known(Shingled::DriveManaged, answer.source()),
            );
        }
        drive
    }

    pub fn cache(json: &Json) -> Option<DriveCache> {
        Some(if json.pointer("/write_cache/enabled")?.as_bool()? {
            DriveCache::On
        } else {
            DriveCache::Off
        })
    }

    fn rpm(answer: &ToolOutput, json: &Json) -> Reading<u64> {
        match json.get("rotation_rate").and_then(Json::as_u64) {
            Some(0) => Reading::unknown(
                Why::Absent,
                format!("`{}`: nothing in it turns", answer.argv),
            ),
            rate => answer.reading(rate, "a speed of rotation"),
        }
    }

    /// Whether the disk writes in zones that it shows to nobody: by what it says, or by
    /// smartmontools' list of models.
    pub fn hides_zones(json: &Json) -> bool {
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

    /// Whether smartctl left it alone because it sleeps: `Device is in STANDBY mode, exit(2)`.
    pub fn sleeps(json: &Json) -> bool {
        let messages = json.pointer("/smartctl/messages").and_then(Json::as_array);
        let text = |message: &Json| {
            message
                .get("string")
                .and_then(Json::as_str)
                .map(str::to_owned)
        };
        messages.into_iter().flatten().filter_map(text).any(|text| {
            text.starts_with("Device is in ")
                && (text.contains("STANDBY") || text.contains("SLEEP"))
        })
    }

    fn asleep<T>(answer: &ToolOutput) -> Reading<T> {
        Reading::unknown(
            Why::NotCollected,
            format!("`{}`: the disk sleeps and was not woken", answer.argv),
        )
        .or_try(Remedy::Do(
            "read something from the disk to wake it, and check again".to_owned(),
        ))
    }
}

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use self::questions::{DriveFacts, Questions};
use crate::collector::{Collector, Request};
use crate::facts::catalog::device::{self, DeviceKind, Shingled, Transport};
use crate::facts::catalog::{controller, host as machine, mount};
use crate::facts::note::StorageNote;
use crate::facts::{FactSet, KeyInfo, Reading, Remedy, Scope, Subject, Value, Why};
use crate::host::{Host, path_bytes};
use crate::lookup::mount_of;
use crate::refusal::not_run;
use crate::text::safe;
use crate::workers;

pub const COLLECTOR: Collector = Collector { id: "disks", run };

/// The largest number of disks that are asked.
const MOST: usize = 64;

/// The number of disks asked at a time.
const AT_A_TIME: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryMethod {
    Nvme,
    /// SATA and SAS disks that are really there.
    Disk,
    /// A SCSI disk that a hypervisor or a USB bridge presents.
    Shown,
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
                Some(Self::Shown)
            }
            // A volume of a RAID controller is asked through its controller, a disk on the network
            // not at all.
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

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let disks = wanted(request, facts);
    if disks.is_empty() {
        return;
    }
    let partitions = Partitions::of(facts);
    let unasked = if request.without_programs {
        Some(not_run())
    } else if facts.value(&Subject::host(), &machine::PRIVILEGED) != Some(true) {
        Some(Reading::unknown(Why::Denied, "only root can ask a disk").or_try(Remedy::RunAsRoot))
    } else {
        None
    };
    if let Some(reading) = unasked {
        return leave(host, &disks, &partitions, &reading, facts);
    }
    let (asked, rest) = disks.split_at(disks.len().min(MOST));
    if !rest.is_empty() {
        let says = format!("{} disks were asked, and this one was not", asked.len());
        leave(
            host,
            rest,
            &partitions,
            &Reading::unknown(Why::NotCollected, says),
            facts,
        );
        facts.warn(StorageNote::DisksBeyondBound {
            disks: disks.len(),
            asked: asked.len(),
        });
    }
    let mut late = BTreeSet::new();
    for some in asked.chunks(AT_A_TIME) {
        let node = |disk| facts.value(disk, &device::PATH).unwrap_or_default();
        let nodes: Vec<_> = some
            .iter()
            .map(|(disk, method)| (node(disk), *method))
            .collect();
        let drive = workers::at_once(&nodes, |(node, method)| {
            ask(
                &Questions {
                    host,
                    node,
                    late: &late,
                    unasked: None,
                },
                *method,
            )
        });
        for (one, drive) in some.iter().zip(drive) {
            let disk = &one.0;
            let Ok(drive) = drive else {
                let failed = Reading::unknown(Why::Malformed, "reading the disk's answers failed");
                leave(host, slice::from_ref(one), &partitions, &failed, facts);
                facts.warn(StorageNote::DiskUnread { disk: disk.clone() });
                continue;
            };
            late.extend(&drive.late);
            for (key, reading) in drive.facts {
                record(disk, &partitions, &key, reading, facts);
            }
        }
    }
}

fn ask(questions: &Questions, method: QueryMethod) -> DriveFacts {
    match method {
        QueryMethod::Nvme => nvme::ask(questions),
        QueryMethod::Disk => smart::ask(questions),
        QueryMethod::Shown => flag::ask_shown(questions),
    }
}

/// The partitions of each disk.
struct Partitions(BTreeMap<Subject, Vec<Subject>>);

impl Partitions {
    /// One walk for all disks: a large host has thousands.
    fn of(facts: &FactSet) -> Self {
        let mut partitions: BTreeMap<Subject, Vec<Subject>> = BTreeMap::new();
        for (top, base) in facts.edges() {
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

    fn on(&self, disk: &Subject) -> &[Subject] {
        self.0.get(disk).map_or(&[], Vec::as_slice)
    }
}

/// A disk that hides its zones shows none to the kernel; one that shows them is known already.
fn record(
    disk: &Subject,
    partitions: &Partitions,
    key: &KeyInfo,
    reading: Reading<Value>,
    facts: &mut FactSet,
) {
    if key.name != device::SHINGLED.name() {
        return facts.put_value(disk, key, reading);
    }
    let known = facts.value(disk, &device::SHINGLED);
    if known.is_some_and(Shingled::is_told) || (known.is_some() && !reading.is_known()) {
        return;
    }
    // A partition has its disk's zones.
    for subject in partitions.on(disk).iter().chain([disk]) {
        facts.put_value(subject, key, reading.clone());
    }
}

/// Asks nobody, and records the reason for every fact that the answers would have told.
fn leave(
    host: &dyn Host,
    disks: &[(Subject, QueryMethod)],
    partitions: &Partitions,
    reading: &Reading<Value>,
    facts: &mut FactSet,
) {
    let questions = Questions {
        host,
        node: "",
        late: &BTreeSet::new(),
        unasked: Some(reading),
    };
    for (disk, method) in disks {
        for (key, reading) in ask(&questions, *method).facts {
            record(disk, partitions, &key, reading, facts);
        }
    }
}

/// Disks at the bottom of what was asked for, of mounts, and of unused devices, in this order and
/// each once.
fn wanted(request: &Request, facts: &FactSet) -> Vec<(Subject, QueryMethod)> {
    let asked = request.target.as_deref().map(path_bytes).and_then(|path| {
        let node = safe(path);
        let is_it = |device: &&Subject| {
            facts
                .value(device, &device::PATH)
                .is_some_and(|path| path == node)
        };
        let device = facts
            .subjects(Scope::Device)
            .find(is_it)
            .filter(|_| path.starts_with(b"/dev/"));
        device.cloned().or_else(|| mount_of(facts, path))
    });
    let mounts = facts.which(&mount::CLASS, |class| class.is_block());
    let unused = facts.which(&device::CONTENT, |content| content.may_be_given());
    let mut seen = BTreeSet::new();
    let mut disks = Vec::new();
    for top in asked.iter().chain(&mounts).chain(&unused) {
        // One walk for all of them: what stands on the same disks is not walked twice.
        let mut open = vec![top];
        while let Some(subject) = open.pop() {
            if !seen.insert(subject.clone()) {
                continue;
            }
            let below = facts.below(subject);
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
