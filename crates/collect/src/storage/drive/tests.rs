//! Disks of every kind, from tool output to facts.
//!
//! The output follows nvme-cli 2.3, smartmontools 7.3, hdparm and sdparm on QEMU's disks. For other
//! disks, the output follows the sources of the tools (nvme-print.c, ataprint.cpp, scsiprint.cpp,
//! nvmeprint.cpp).

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::{
    CONCURRENT_DISKS, MAX_DISKS, capacitor, collect_facts, is_drive_managed_smr, is_in_standby,
    nvme, parse_smartctl_write_cache, parse_write_cache_state,
};
use crate::collector::Request;
use crate::facts::catalog::device::{self, ContentState, DriveCacheState};
use crate::facts::catalog::{self, controller, host, mount};
use crate::facts::{Choice, FactSet, Note, Reading, Remedy, Source, Subject, UnknownReason};
use crate::host::{Host, HostErrorKind, HostResult, Question, Tool};
use crate::testing::{FakeHost, note_sentences};

const SMART: &str = "-q noserial -n standby -j -i -g wcache";
const SMART_TEXT: &str = "-q noserial -n standby -g wcache";
const HEALTH: &str = "-q noserial -n standby -j -H";

fn run_question(tool: Tool, words: &str, node: &str) -> Question {
    Question::Run(
        tool,
        words.split(' ').chain([node]).map(str::to_owned).collect(),
    )
}

fn insert_disk(facts: &mut FactSet, name: &str, transport: &str) -> Subject {
    let disk = Subject::device(name);
    facts.insert_known(
        &disk,
        &device::KIND,
        device::DeviceKind::Disk,
        Source::Assumed,
    );
    facts.insert_known(
        &disk,
        &device::PATH,
        format!("/dev/{name}"),
        Source::Assumed,
    );
    facts.insert_known(
        &disk,
        &device::TRANSPORT,
        device::Transport::from_word(transport).unwrap(),
        Source::Assumed,
    );
    disk
}

fn insert_disk_mount(facts: &mut FactSet, point: &str, disk: &Subject) {
    let mount = Subject::mount(point);
    facts.insert_known(
        &mount,
        &mount::CLASS,
        mount::MountClass::Block,
        Source::Assumed,
    );
    facts.insert_known(&mount, &mount::IN_SIGHT, true, Source::Assumed);
    facts.insert_known(&mount, &mount::POINT, point.to_owned(), Source::Assumed);
    facts.add_layer_below(&mount, disk);
}

fn facts_with_privilege(privileged: bool) -> FactSet {
    let mut facts = FactSet::default();
    facts.insert_known(
        &Subject::host(),
        &host::PRIVILEGED,
        privileged,
        Source::Assumed,
    );
    facts
}

fn collect_disk_facts(host: &FakeHost, transport: &str) -> FactSet {
    let mut facts = facts_with_privilege(true);
    let name = if transport == "nvme" {
        "nvme0n1"
    } else {
        "sda"
    };
    let disk = insert_disk(&mut facts, name, transport);
    insert_disk_mount(&mut facts, "/", &disk);
    collect_facts(host, &Request::default(), &mut facts);
    facts
}

fn host_with_nvme_disk(vwc: u64, feature: &str, warning: &serde_json::Value) -> FakeHost {
    let node = "/dev/nvme0n1";
    FakeHost::default()
        .with_answer(
            run_question(Tool::Nvme, "id-ctrl -o json", node),
            json!({ "sn": "S1", "vwc": vwc, "awupf": 7 }).to_string(),
        )
        .with_answer(
            run_question(Tool::Nvme, "get-feature -f 6 -H", node),
            feature,
        )
        .with_answer(
            run_question(Tool::Nvme, "smart-log -o json", node),
            json!({ "critical_warning": warning, "temperature": 310 }).to_string(),
        )
}

const ON: &str = "get-feature:0x06 (Volatile Write Cache), Current value:0x00000001\n\tVolatile Write Cache Enable (WCE): Enabled\n";
const OFF: &str = "get-feature:0x06 (Volatile Write Cache), Current value:00000000\n\tVolatile Write Cache Enable (WCE): Disabled\n";

#[test]
fn nvme_cache_and_warnings_are_read() {
    let disk = Subject::device("nvme0n1");
    let facts = collect_disk_facts(&host_with_nvme_disk(7, ON, &json!(0)), "nvme");
    assert_eq!(facts.value(&disk, &device::NVME_VOLATILE), Some(true));
    assert_eq!(
        facts.value(&disk, &device::DRIVE_CACHE),
        Some(DriveCacheState::On)
    );
    assert_eq!(facts.value(&disk, &device::NVME_WARNINGS), Some(Vec::new()));
    assert_eq!(facts.value(&disk, &device::NVME_AWUPF), Some(7));
    let facts = collect_disk_facts(&host_with_nvme_disk(1, OFF, &json!(0x18)), "nvme");
    assert_eq!(
        facts.value(&disk, &device::DRIVE_CACHE),
        Some(DriveCacheState::Off)
    );
    assert_eq!(
        facts.value(&disk, &device::NVME_WARNINGS).unwrap(),
        ["read-only", "memory backup failed"]
    );
    // Only bit 0 of VWC means that there is a cache. Without a cache, its state is not queried.
    let host = host_with_nvme_disk(
        6,
        ON,
        &json!({ "value": 1, "available_spare": 1, "vmbu_failed": 0 }),
    );
    let facts = collect_disk_facts(&host, "nvme");
    assert_eq!(facts.value(&disk, &device::NVME_VOLATILE), Some(false));
    assert_eq!(facts.value(&disk, &device::DRIVE_CACHE), None);
    assert_eq!(
        facts.value(&disk, &device::NVME_WARNINGS).unwrap(),
        ["spare low"]
    );
    assert_eq!(host.asked_questions().len(), 3);
}

fn capacitor_page_dump(guid: &[u8], version: u16, health: u16) -> String {
    let mut page = vec![0; 512];
    let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
    put(112, &1u32.to_le_bytes());
    put(128, &health.to_le_bytes());
    put(160, &17u128.to_le_bytes());
    put(494, &version.to_le_bytes());
    put(496, guid);
    let mut dump = String::from(
        "Device:nvme0n1 log-id:192 namespace-id:0xffffffff\n       0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f\n",
    );
    for (at, line) in (0..).step_by(16).zip(page.chunks(16)) {
        let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let shown: String = line
            .iter()
            .map(|b| {
                if b.is_ascii_graphic() {
                    char::from(*b)
                } else {
                    '.'
                }
            })
            .collect();
        writeln!(dump, "{at:04x}: {} \"{shown}\"", bytes.join(" ")).unwrap();
    }
    dump
}

const OCP: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;

#[test]
fn capacitor_needs_published_log_page() {
    use device::CapacitorCondition::{Absent, Degraded, Failed, Healthy, Unreadable};
    let disk = Subject::device("nvme0n1");
    let other = [0x5a; 16];
    for (guid, version, health, expect, percent) in [
        (OCP.to_le_bytes(), 3, 118, Healthy, Some(118.0)),
        (OCP.to_le_bytes(), 2, 100, Healthy, Some(100.0)),
        (OCP.to_le_bytes(), 4, 99, Degraded, Some(99.0)),
        (OCP.to_le_bytes(), 3, 1, Degraded, Some(1.0)),
        (OCP.to_le_bytes(), 3, 0, Failed, Some(0.0)),
        (OCP.to_le_bytes(), 3, 0xffff, Absent, None),
        (OCP.to_le_bytes(), 1, 118, Unreadable, None),
        (OCP.to_le_bytes(), 5, 0, Unreadable, None),
        (OCP.to_be_bytes(), 3, 118, Unreadable, None),
        (other, 3, 118, Unreadable, None),
    ] {
        let host = host_with_nvme_disk(0, "", &json!(0)).with_answer(
            run_question(Tool::Nvme, "get-log -i 0xc0 -l 512", "/dev/nvme0n1"),
            capacitor_page_dump(&guid, version, health),
        );
        let facts = collect_disk_facts(&host, "nvme");
        assert_eq!(
            facts.value(&disk, &device::NVME_CAPACITOR),
            Some(expect),
            "{version} {health}"
        );
        assert_eq!(
            facts.value(&disk, &device::NVME_CAPACITOR_PERCENT),
            percent,
            "{version} {health}"
        );
        let counted = (expect != Unreadable).then_some(17);
        assert_eq!(
            facts.value(&disk, &device::NVME_PLP_STARTS),
            counted,
            "{version} {health}"
        );
        let incomplete = (expect != Unreadable).then_some(1);
        assert_eq!(
            facts.value(&disk, &device::NVME_INCOMPLETE_SHUTDOWNS),
            incomplete,
            "{version} {health}"
        );
    }
}

#[test]
fn truncated_capacitor_page_is_rejected() {
    let whole = capacitor_page_dump(&OCP.to_le_bytes(), 3, 118);
    assert!(capacitor::parse_hex_dump_of_log_page(whole.as_bytes()).is_some());
    let lines = || whole.lines().enumerate();
    for lost in 2..34 {
        let rest: Vec<&str> = lines()
            .filter(|(at, _)| *at != lost)
            .map(|(_, line)| line)
            .collect();
        assert_eq!(
            capacitor::parse_hex_dump_of_log_page(rest.join("\n").as_bytes()),
            None,
            "line {lost}"
        );
    }
    assert_eq!(
        capacitor::parse_hex_dump_of_log_page(whole.replace("0010: 00", "0010: 0x").as_bytes()),
        None
    );
    assert_eq!(
        capacitor::parse_hex_dump_of_log_page(whole.replace("01f0: c5 ", "01f0: ").as_bytes()),
        None
    );
    let disk = Subject::device("nvme0n1");
    let facts = collect_disk_facts(&host_with_nvme_disk(0, "", &json!(0)), "nvme");
    assert_eq!(
        facts.value(&disk, &device::NVME_CAPACITOR),
        None,
        "a drive without that page"
    );
}

#[test]
fn smartctl_reports_critical_warnings() {
    let answer =
        json!({ "smart_status": { "passed": false, "nvme": { "value": 0x50 } } }).to_string();
    let host = FakeHost::default()
        .with_answer(run_question(Tool::Smartctl, HEALTH, "/dev/nvme0n1"), answer);
    let facts = collect_disk_facts(&host, "nvme");
    let disk = Subject::device("nvme0n1");
    assert_eq!(
        facts.value(&disk, &device::NVME_WARNINGS).unwrap(),
        ["memory backup failed", "bits 0x50"]
    );
    let volatile = facts.get(&disk, &device::NVME_VOLATILE);
    assert!(
        matches!(&volatile, Reading::Unknown { remedy: Some(Remedy::Install(name)), .. } if name == "nvme-cli"),
        "{volatile:?}"
    );
}

#[test]
fn incomplete_nvme_answers_are_rejected() {
    for warning in [
        json!("0"),
        json!({ "vmbu_failed": 0 }),
        json!(null),
        json!(-1),
    ] {
        assert_eq!(
            nvme::critical_warnings(&json!({ "critical_warning": warning })),
            None
        );
    }
    // If number and bits differ, the warnings of both count.
    let both = json!({ "critical_warning": { "value": 0, "vmbu_failed": 1 } });
    assert_eq!(
        nvme::critical_warnings(&both).unwrap(),
        ["memory backup failed"]
    );
    assert_eq!(nvme::has_volatile_cache(&json!({ "vwc": "0" })), None);
    assert_eq!(
        nvme::parse_write_cache_feature(ON.replace("Enabled", "Disabled").as_bytes()),
        None
    );
    for text in [ON, OFF] {
        for i in 0..2 {
            let rest: Vec<&str> = text
                .lines()
                .enumerate()
                .filter(|(n, _)| *n != i)
                .map(|(_, l)| l)
                .collect();
            assert_eq!(
                nvme::parse_write_cache_feature(rest.join("\n").as_bytes()),
                None
            );
        }
    }
}

#[test]
fn sata_cache_rotation_and_smr_are_read() {
    let disk = Subject::device("sda");
    let of = |answer: serde_json::Value| {
        collect_disk_facts(
            &FakeHost::default().with_answer(
                run_question(Tool::Smartctl, SMART, "/dev/sda"),
                answer.to_string(),
            ),
            "sata",
        )
    };
    let facts = of(json!({ "rotation_rate": 7200, "write_cache": { "enabled": true } }));
    assert_eq!(
        facts.value(&disk, &device::DRIVE_CACHE),
        Some(DriveCacheState::On)
    );
    assert_eq!(facts.value(&disk, &device::RPM), Some(7200));
    assert_eq!(facts.value(&disk, &device::SHINGLED), None);
    let facts = of(json!({ "rotation_rate": 0, "write_cache": { "enabled": false } }));
    assert_eq!(
        facts.value(&disk, &device::DRIVE_CACHE),
        Some(DriveCacheState::Off)
    );
    assert_eq!(facts.value(&disk, &device::RPM), None);
    for zones in [
        json!({ "model_family": "Western Digital Red (SMR)" }),
        json!({ "zoned_device": { "capabilities": "device_managed" } }),
        json!({ "scsi_Device managed zoned block capable": true }),
    ] {
        assert_eq!(
            of(zones).value(&disk, &device::SHINGLED),
            Some(device::ShingledRecording::DriveManaged)
        );
    }
    for none in [
        json!({ "model_family": "Western Digital Red" }),
        json!({ "zoned_device": { "capabilities": "host_aware" } }),
    ] {
        assert!(!is_drive_managed_smr(&none));
    }
}

#[test]
fn partition_inherits_smr_from_disk() {
    let mut facts = facts_with_privilege(true);
    let disk = insert_disk(&mut facts, "sda", "sata");
    let part = Subject::device("sda1");
    facts.insert_known(
        &part,
        &device::KIND,
        device::DeviceKind::Partition,
        Source::Assumed,
    );
    facts.add_layer_below(&part, &disk);
    insert_disk_mount(&mut facts, "/", &part);
    let answer = json!({ "model_family": "Toshiba P300 (SMR)" }).to_string();
    let host =
        FakeHost::default().with_answer(run_question(Tool::Smartctl, SMART, "/dev/sda"), answer);
    collect_facts(&host, &Request::default(), &mut facts);
    assert_eq!(
        facts.value(&part, &device::SHINGLED),
        Some(device::ShingledRecording::DriveManaged)
    );
}

#[test]
fn sleeping_disk_is_not_woken() {
    let message =
        json!([{ "string": "Device is in STANDBY mode, exit(2)", "severity": "information" }]);
    let answer = json!({ "smartctl": { "messages": message, "exit_status": 2 } }).to_string();
    let host =
        FakeHost::default().with_answer(run_question(Tool::Smartctl, SMART, "/dev/sda"), answer);
    let facts = collect_disk_facts(&host, "sata");
    let reading = facts.get(&Subject::device("sda"), &device::DRIVE_CACHE);
    assert!(
        matches!(
            reading,
            Reading::Unknown {
                why: UnknownReason::NotCollected,
                ..
            }
        ),
        "{reading:?}"
    );
    assert_eq!(
        host.asked_questions().len(),
        1,
        "no other tool wakes it either"
    );
}

#[test]
fn cache_state_is_found_without_smartctl_json() {
    let disk = Subject::device("sda");
    let sas = FakeHost::default()
        .with_answer(
            run_question(Tool::Smartctl, SMART, "/dev/sda"),
            json!({ "rotation_rate": 10_520 }).to_string(),
        )
        .with_answer(
            run_question(Tool::Smartctl, SMART_TEXT, "/dev/sda"),
            "smartctl 7.3\n\nWriteback Cache is:   Disabled\n\n",
        );
    let facts = collect_disk_facts(&sas, "sas");
    assert_eq!(
        facts.value(&disk, &device::DRIVE_CACHE),
        Some(DriveCacheState::Off)
    );
    assert_eq!(facts.value(&disk, &device::RPM), Some(10_520));
    let hdparm = FakeHost::default().with_answer(
        run_question(Tool::Hdparm, "-W", "/dev/sda"),
        "\n/dev/sda:\n write-caching =  1 (on)\n",
    );
    assert_eq!(
        collect_disk_facts(&hdparm, "sata").value(&disk, &device::DRIVE_CACHE),
        Some(DriveCacheState::On)
    );
    let sdparm = FakeHost::default().with_answer(
        run_question(Tool::Sdparm, "--get=WCE", "/dev/sda"),
        "    /dev/sda: QEMU      QEMU HARDDISK     2.5+\nWCE           0  [cha: n, def:  0]\n",
    );
    for transport in ["virtio-scsi", "usb", "vmware", "hyperv", "scsi"] {
        let facts = collect_disk_facts(&sdparm, transport);
        assert_eq!(
            facts.value(&disk, &device::DRIVE_CACHE),
            Some(DriveCacheState::Off),
            "{transport}"
        );
    }
}

#[test]
fn unknown_or_conflicting_cache_states_are_rejected() {
    for text in [
        "",
        " write-caching = not supported",
        " write-caching =  2 (on)",
        "Write cache is:   Unavailable",
        "WCE",
        "WCE           2",
        "WCEX          1",
        "Writeback Cache is:   Enabled\nWriteback Cache is:   Disabled",
    ] {
        assert_eq!(parse_write_cache_state(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn unsupported_transports_are_not_queried() {
    for transport in [
        "megaraid", "raid", "network", "virtio", "xen", "mmc", "pmem",
    ] {
        let host = FakeHost::default();
        collect_disk_facts(&host, transport);
        assert!(host.asked_questions().is_empty(), "{transport}");
    }
}

#[test]
fn pass_through_disks_are_queried() {
    for (volume, asked) in [("none", true), ("VD 0", false)] {
        let mut facts = facts_with_privilege(true);
        let disk = insert_disk(&mut facts, "sda", "megaraid");
        facts.insert_known(
            &disk,
            &controller::VOLUME,
            volume.to_owned(),
            Source::Assumed,
        );
        insert_disk_mount(&mut facts, "/", &disk);
        let host = FakeHost::default();
        collect_facts(&host, &Request::default(), &mut facts);
        assert_eq!(!host.asked_questions().is_empty(), asked, "{volume}");
    }
}

#[test]
fn queries_need_root_and_programs() {
    for (privileged, without_programs, expect) in [
        (false, false, UnknownReason::Denied),
        (true, true, UnknownReason::NotCollected),
    ] {
        let mut facts = facts_with_privilege(privileged);
        let disk = insert_disk(&mut facts, "sda", "sata");
        insert_disk_mount(&mut facts, "/", &disk);
        let host = FakeHost::default();
        collect_facts(
            &host,
            &Request {
                without_programs,
                ..Request::default()
            },
            &mut facts,
        );
        assert!(
            matches!(facts.get(&disk, &device::DRIVE_CACHE), Reading::Unknown { why, .. } if why == expect)
        );
        assert!(host.asked_questions().is_empty());
    }
}

#[test]
fn queried_facts_are_denied_without_root() {
    let told = |host: FakeHost, transport| {
        let (facts, disk) = (
            collect_disk_facts(&host, transport),
            if transport == "nvme" {
                "nvme0n1"
            } else {
                "sda"
            },
        );
        let disk = Subject::device(disk);
        let given = ["device.kind", "device.path", "device.transport"];
        let told =
            |name: &&str| facts.reading_by_name(&disk, name).is_known() && !given.contains(name);
        catalog::all_keys()
            .map(|info| info.name)
            .filter(told)
            .collect::<Vec<_>>()
    };
    let all = json!({ "rotation_rate": 7200, "write_cache": { "enabled": true }, "model_family": "X (SMR)" });
    let smart = FakeHost::default().with_answer(
        run_question(Tool::Smartctl, SMART, "/dev/sda"),
        all.to_string(),
    );
    let flag = FakeHost::default().with_answer(
        run_question(Tool::Sdparm, "--get=WCE", "/dev/sda"),
        "WCE           0",
    );
    for (host, transport, count) in [
        (host_with_nvme_disk(1, ON, &json!(0)), "nvme", 4),
        (smart, "sata", 3),
        (flag, "usb", 1),
    ] {
        let told = told(host, transport);
        assert_eq!(told.len(), count, "{told:?}");
        let mut facts = facts_with_privilege(false);
        let disk = insert_disk(&mut facts, "sda", transport);
        insert_disk_mount(&mut facts, "/", &disk);
        collect_facts(&FakeHost::default(), &Request::default(), &mut facts);
        for name in told {
            let reading = facts.reading_by_name(&disk, name);
            let wants_root = matches!(
                reading,
                Reading::Unknown {
                    why: UnknownReason::Denied,
                    remedy: Some(Remedy::RunAsRoot),
                    ..
                }
            );
            assert!(wants_root, "{name}: {reading:?}");
        }
    }
}

struct PanickingHost(FakeHost, &'static str);

impl Host for PanickingHost {
    fn ask(&self, question: &Question) -> HostResult {
        assert!(
            !format!("{question:?}").contains(self.1),
            "a mistake of ours"
        );
        self.0.ask(question)
    }
}

#[test]
fn panic_in_parser_affects_only_one_disk() {
    let mut facts = facts_with_privilege(true);
    let disks = ["sda", "sdb"].map(|name| insert_disk(&mut facts, name, "sata"));
    for disk in &disks {
        insert_disk_mount(&mut facts, &format!("/{disk}"), disk);
    }
    let answer = json!({ "write_cache": { "enabled": true } }).to_string();
    let host =
        FakeHost::default().with_answer(run_question(Tool::Smartctl, SMART, "/dev/sdb"), answer);
    collect_facts(
        &PanickingHost(host, "/dev/sda"),
        &Request::default(),
        &mut facts,
    );
    let [failed, read] = disks.map(|disk| facts.get(&disk, &device::DRIVE_CACHE));
    assert!(
        matches!(
            failed,
            Reading::Unknown {
                why: UnknownReason::Malformed,
                ..
            }
        ),
        "{failed:?}"
    );
    assert_eq!(read.value(), Some(&DriveCacheState::On));
    assert_eq!(
        facts.notes(),
        [Note::from(
            "device sda: walwise failed to process its data; write cache, warnings and medium are unknown"
        )]
    );
}

#[test]
fn known_smr_state_survives_refused_query() {
    let mut facts = facts_with_privilege(false);
    let disk = insert_disk(&mut facts, "sda", "sata");
    facts.insert_known(
        &disk,
        &device::SHINGLED,
        device::ShingledRecording::Suspected,
        Source::Assumed,
    );
    insert_disk_mount(&mut facts, "/", &disk);
    collect_facts(&FakeHost::default(), &Request::default(), &mut facts);
    assert_eq!(
        facts.value(&disk, &device::SHINGLED),
        Some(device::ShingledRecording::Suspected)
    );
}

#[test]
fn number_of_queried_disks_is_limited() {
    let mut facts = facts_with_privilege(true);
    for n in 0..500 {
        let disk = insert_disk(&mut facts, &format!("sd{n:03}"), "sata");
        if n % 2 == 0 {
            insert_disk_mount(&mut facts, &format!("/m{n:03}"), &disk);
        }
    }
    let idle = insert_disk(&mut facts, "sdz", "sata");
    facts.insert_known(&idle, &device::CONTENT, ContentState::Free, Source::Assumed);
    let host = FakeHost::default();
    let request = Request {
        target: Some("/m498/data".into()),
        ..Request::default()
    };
    collect_facts(&host, &request, &mut facts);
    let asked = |name: &str| {
        let node = format!("/dev/{name}");
        host.asked_questions().iter().any(
            |question| matches!(question, Question::Run(_, words) if words.last() == Some(&node)),
        )
    };
    assert!(asked("sd498") && asked("sd000") && !asked("sd001") && !asked("sdz"));
    let disks = (0..500).filter(|n| asked(&format!("sd{n:03}"))).count();
    assert_eq!(disks, MAX_DISKS);
    assert_eq!(note_sentences(&facts).len(), 1);
}

#[test]
fn timed_out_tool_is_not_run_again() {
    let mut facts = facts_with_privilege(true);
    let mut host = FakeHost::default();
    for n in 0..MAX_DISKS {
        let disk = insert_disk(&mut facts, &format!("sd{n:03}"), "sata");
        insert_disk_mount(&mut facts, &format!("/m{n:03}"), &disk);
        host = host.with_error(
            run_question(Tool::Smartctl, SMART, &format!("/dev/sd{n:03}")),
            HostErrorKind::TimedOut,
        );
    }
    collect_facts(&host, &Request::default(), &mut facts);
    let late = host
        .asked_questions()
        .iter()
        .filter(|question| matches!(question, Question::Run(Tool::Smartctl, _)))
        .count();
    assert_eq!(late, CONCURRENT_DISKS);
}

proptest! {
    #[test]
    fn arbitrary_answers_never_panic(answer: Vec<u8>, text in "[ -~\n]{0,200}") {
        for answer in [answer, text.into_bytes()] {
            parse_write_cache_state(&answer);
            nvme::parse_write_cache_feature(&answer);
            if let Ok(json) = serde_json::from_slice(&answer) {
                nvme::critical_warnings(&json);
                nvme::has_volatile_cache(&json);
                parse_smartctl_write_cache(&json);
                is_drive_managed_smr(&json);
                is_in_standby(&json);
            }
        }
    }

    #[test]
    fn every_warning_bit_is_named(bits in 0_u64..256) {
        let told = nvme::critical_warnings(&json!({ "critical_warning": bits })).unwrap();
        prop_assert_eq!(told.is_empty(), bits == 0);
        prop_assert_eq!(told.contains(&"memory backup failed".to_owned()), bits & 16 != 0);
        let known = (bits & 0x3f).count_ones() as usize;
        prop_assert_eq!(told.len(), known + usize::from(bits > 0x3f));
    }
}
