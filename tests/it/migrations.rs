//! Migrations between releases of a distribution (`tests/migrations.toml`). Each migration becomes
//! a synthetic recorded host, and every answer of `walwise upgrade` is compared with the expected
//! one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use walwise_sys::host::ConfigDialect;
use walwise_sys::host::redact::redact_config;

use crate::support::deadline::CommandInTime as _;
use crate::support::{stderr, walwise};

const TEXT: &str = include_str!("../migrations.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MigrationTable {
    pub system: BTreeMap<String, DistributionVersions>,
    pub migration: Vec<Migration>,
    pub default: Vec<DefaultFstab>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultFstab {
    pub from: String,
    pub to: Vec<String>,
    pub lines: Vec<FstabLine>,
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistributionVersions {
    id: String,
    version: String,
    release: String,
    build: String,
    e2fsprogs: String,
    xfsprogs: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Migration {
    from: String,
    to: String,
    pub lines: Vec<FstabLine>,
    #[serde(default)]
    truth: BTreeMap<String, String>,
    #[serde(default)]
    unsafe_today: bool,
    source: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FstabLine {
    pub at: String,
    pub fs: String,
    pub options: String,
    pub source: Option<String>,
    format: Option<String>,
    on: Option<String>,
}

const V4: &str = "v4 nlink align logv2 extflg dirv2 morebits lazysbcount attr2 projid32bit";
const V5: &str =
    "v5 nlink align logv2 extflg dirv2 morebits lazysbcount attr2 projid32bit crc ftype finobt";
const EXT4: &str = "has_journal ext_attr resize_inode dir_index filetype extent 64bit flex_bg sparse_super large_file \
                    huge_file dir_nlink extra_isize metadata_csum";

pub fn read_migration_table() -> MigrationTable {
    toml::from_str(TEXT).unwrap()
}

impl DistributionVersions {
    pub fn os_release(&self) -> String {
        let Self { id, version, .. } = self;
        format!("VERSION_ID=\"{version}\"\nID=\"{id}\"\nPRETTY_NAME=\"{id} {version}\"")
    }

    /// Pairs of question and answer, as in a capture.
    pub fn kernel_and_tool_answers(&self) -> [(&'static str, String); 4] {
        let Self {
            release,
            build,
            e2fsprogs,
            xfsprogs,
            ..
        } = self;
        [
            ("uname", format!("Linux\ndb1\n{release}\n{build}\nx86_64")),
            (
                "read /proc/version",
                format!("Linux version {release} (build@host) (gcc) {build}"),
            ),
            ("run mke2fs -V", format!("mke2fs {e2fsprogs} (1-Jan-2024)")),
            ("run mkfs.xfs -V", format!("mkfs.xfs version {xfsprogs}")),
        ]
    }
}

#[derive(Default)]
struct CaptureBuilder(String);

impl CaptureBuilder {
    fn add_answer(&mut self, question: impl std::fmt::Display, answer: &str) {
        writeln!(self.0, "{question}").unwrap();
        for line in answer.lines() {
            writeln!(self.0, "|{line}").unwrap();
        }
    }

    fn add_empty_answer(&mut self, question: impl std::fmt::Display) {
        writeln!(self.0, "{question}\n:").unwrap();
    }

    fn add_absent_answer(&mut self, question: impl std::fmt::Display) {
        writeln!(self.0, "{question}\n!absent No such file or directory").unwrap();
    }

    fn add_device(&mut self, name: &str, devno: &str, sectors: u64) {
        let place = format!("/sys/class/block/{name}");
        let parent = if name.starts_with("vd") {
            "pci0000:00/virtio0"
        } else {
            "virtual"
        };
        writeln!(self.0, "link {place}\n:../../devices/{parent}/block/{name}").unwrap();
        let (major, minor) = devno.split_once(':').unwrap();
        self.add_answer(
            format!("read {place}/uevent"),
            &format!("MAJOR={major}\nMINOR={minor}\nDEVNAME={name}\nDEVTYPE=disk"),
        );
        for (file, value) in [
            ("size", sectors.to_string().as_str()),
            ("ro", "0"),
            ("queue/discard_max_bytes", "0"),
            ("queue/fua", "0"),
            ("queue/logical_block_size", "512"),
            ("queue/physical_block_size", "512"),
            ("queue/rotational", "0"),
            ("queue/write_cache", "write back"),
            ("queue/zoned", "none"),
            ("queue/scheduler", "[mq-deadline] none"),
        ] {
            self.add_answer(format!("read {place}/{file}"), value);
        }
    }
}

fn disk_name(number: usize) -> String {
    format!("vd{}", char::from(b'a' + u8::try_from(number).unwrap()))
}

fn synthetic_capture(system: &DistributionVersions, migration: &Migration) -> String {
    let mut capture = CaptureBuilder::default();
    let DistributionVersions { id, version, .. } = system;
    capture.0 = format!(
        "walwise host 1\n# synthetic: {id} {version} as it answers, with lines of tests/migrations.toml\n"
    );
    for (question, answer) in system.kernel_and_tool_answers() {
        capture.add_answer(question, &answer);
    }
    capture.add_answer(
        "identity",
        "euid=0\npid_namespace=initial\nuser_namespace=initial",
    );
    capture.add_answer("read /etc/os-release", &system.os_release());
    capture.add_answer(
        "read /proc/filesystems",
        "nodev\tsysfs\nnodev\ttmpfs\n\text4\n\txfs\n\tbtrfs",
    );
    capture.add_answer("summary", "memory_bytes=33554432000\ncpus=8");
    capture.add_empty_answer("servers");
    let mut swaps = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n".to_owned();
    for file in migration
        .lines
        .iter()
        .filter_map(|line| line.source.as_deref())
        .filter(|from| *from == "/swapfile")
    {
        writeln!(swaps, "{file} file 4 0 -2").unwrap();
    }
    capture.add_answer("read /proc/swaps", &swaps);
    capture.add_answer("config kernel-command-line /proc/cmdline", "1\tnames\t");
    capture.add_answer("read /sys/class/dmi/id/sys_vendor", "QEMU");
    capture.add_answer("read /proc/cpuinfo", "flags\t\t: fpu vme hypervisor");
    for place in [
        "stat /run/.containerenv",
        "stat /.dockerenv",
        "read /run/systemd/container",
        "stat /dev/walwise-gone",
    ] {
        capture.add_absent_answer(place);
    }
    let file =
        "mode=33152 uid=0 gid=0 major=252 minor=0 node_major=0 node_minor=0 inode=20 size=4096";
    capture.add_answer("stat /swapfile", file);
    for directory in [
        "/lib/systemd/system",
        "/usr/lib/systemd/system",
        "/usr/local/lib/systemd/system",
    ] {
        capture.add_absent_answer(format!("list {directory}"));
    }
    capture.add_empty_answer("list /etc/systemd/system");

    let (mut fstab, mut mounts, mut blocks, mut mapped) =
        (String::new(), String::new(), Vec::new(), String::new());
    let mut next = 0;
    for (
        number,
        FstabLine {
            at,
            fs,
            options,
            source,
            format,
            on,
        },
    ) in (1..).zip(&migration.lines)
    {
        if fs == "zfs" {
            writeln!(
                mounts,
                "{} 21 0:70 / {at} rw shared:{number} - zfs tank/pg rw",
                20 + number
            )
            .unwrap();
            capture.add_answer("read /sys/module/zfs/version", "2.1.11-1");
            continue;
        }
        let device = if let Some(source) = source {
            source.clone()
        } else {
            let own = disk_name(next);
            let mut members = vec![own.clone()];
            let words: Vec<&str> = on.as_deref().unwrap_or_default().split(' ').collect();
            let is_array = words.first() == Some(&"md");
            if is_array {
                members.push(disk_name(next + 1));
            }
            for (nth, member) in members.iter().enumerate() {
                let uneven = u64::from(nth == 1 && words.contains(&"uneven"));
                capture.add_device(
                    member,
                    &format!("252:{}", 16 * (next + nth)),
                    (800 + 100 * uneven) << 20,
                );
            }
            next += members.len();
            let (device, devno) = match words[..] {
                ["md", level, metadata, ..] => {
                    add_md_array(&mut capture, level, metadata, &members);
                    blocks.push("md0".to_owned());
                    ("/dev/md0".to_owned(), "9:0".to_owned())
                }
                ["dm", target] => {
                    add_logical_volume(&mut capture, target, &own);
                    blocks.push("dm-0".to_owned());
                    writeln!(mapped, "lab-data: {target} ").unwrap();
                    ("/dev/mapper/lab-data".to_owned(), "253:0".to_owned())
                }
                _ => (format!("/dev/{own}"), format!("252:{}", 16 * (next - 1))),
            };
            blocks.extend(members);
            let node = device.replace("/dev/mapper/lab-data", "/dev/dm-0");
            let features = match (fs.as_str(), format.as_deref()) {
                ("xfs", Some("v4")) => Some(("xfs", V4.to_owned())),
                ("xfs", _) => Some(("xfs", V5.to_owned())),
                ("ext4" | "ext3", more) => {
                    Some(("ext", format!("{EXT4} {}", more.unwrap_or_default())))
                }
                _ => None,
            };
            if let Some((kind, features)) = features {
                capture.add_answer(
                    format!("superblock {kind} {node}"),
                    &format!("features {features}"),
                );
            }
            let devno = if fs == "btrfs" {
                format!("0:{}", 40 + number)
            } else {
                devno
            };
            let shown = if fs == "btrfs" && options.contains("space_cache=v2") {
                "rw,space_cache=v2"
            } else {
                "rw"
            };
            let parent = if at == "/" { 1 } else { 21 };
            writeln!(
                mounts,
                "{} {parent} {devno} / {at} rw,relatime shared:{number} - {fs} {device} {shown}",
                20 + number
            )
            .unwrap();
            device
        };
        writeln!(fstab, "{device} {at} {fs} {options} 0 0").unwrap();
    }
    capture.add_answer("read /proc/self/mountinfo", &mounts);
    // The options pass the filter of a live host.
    let fstab = redact_config(fstab.as_bytes(), ConfigDialect::Fstab).unwrap();
    let fstab = String::from_utf8(fstab).unwrap().replace('\\', "\\\\");
    capture.add_answer("config fstab /etc/fstab", &fstab);
    capture.add_answer("list /sys/class/block", &blocks.join("\n"));
    if mapped.contains("crypt") {
        capture.add_answer(
            "config crypttab /etc/crypttab",
            "1\tlab-data\t/dev/vdb\\x09none\\x09luks,discard\\x09whole",
        );
    } else {
        capture.add_absent_answer("config crypttab /etc/crypttab");
    }
    let node = "mode=24992 uid=0 gid=6 major=0 minor=5 node_major=253 node_minor=0 inode=7 size=0";
    capture.add_answer("stat /dev/mapper/lab-data", node);
    capture.add_answer("run dmsetup table", &mapped);
    writeln!(capture.0, "run mkfs.btrfs --version\n!absent not installed").unwrap();
    capture.0
}

fn add_md_array(capture: &mut CaptureBuilder, level: &str, metadata: &str, members: &[String]) {
    capture.add_device("md0", "9:0", 800 << 20);
    let place = "/sys/class/block/md0/md";
    for (file, value) in [
        ("level", level),
        ("metadata_version", metadata),
        ("raid_disks", "2"),
        ("degraded", "0"),
        ("sync_action", "idle"),
        ("array_state", "clean"),
        ("consistency_policy", "resync"),
        ("chunk_size", "524288"),
    ] {
        capture.add_answer(format!("read {place}/{file}"), value);
    }
    let states: Vec<String> = members
        .iter()
        .map(|member| format!("dev-{member}"))
        .collect();
    for state in &states {
        capture.add_answer(format!("read {place}/{state}/state"), "in_sync");
    }
    capture.add_answer(format!("list {place}"), &states.join("\n"));
    capture.add_answer("list /sys/class/block/md0/slaves", &members.join("\n"));
}

fn add_logical_volume(capture: &mut CaptureBuilder, target: &str, disk: &str) {
    capture.add_device("dm-0", "253:0", 800 << 20);
    capture.add_answer("read /sys/class/block/dm-0/dm/name", "lab-data");
    let uuid = match target {
        "crypt" => "CRYPT-LUKS2-00000000000000000000000000000001-data",
        "multipath" => "mpath-360000000000000001",
        _ => "LVM-r0000000000000000000000000000005g0000000000000000000000000000004",
    };
    capture.add_answer("read /sys/class/block/dm-0/dm/uuid", uuid);
    capture.add_answer("list /sys/class/block/dm-0/slaves", disk);
}

fn run_upgrade_on_migration(
    dir: &Path,
    system: &DistributionVersions,
    migration: &Migration,
) -> (i32, BTreeMap<String, (String, String)>) {
    let path = dir.join("host");
    fs::write(&path, synthetic_capture(system, migration)).unwrap();
    run_upgrade_on_host(&path, &migration.to)
}

/// Returns the exit code and, for each item that the boot needs, the answer and its reason.
pub fn run_upgrade_on_host(host: &Path, to: &str) -> (i32, BTreeMap<String, (String, String)>) {
    let output = walwise()
        .args([
            "upgrade",
            "--host",
            host.to_str().unwrap(),
            assumption_option(to),
            to,
        ])
        .args(["--fail-on-undecided", "--format", "json"])
        .output_in_time();
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let why = |need: &Value| {
        need["why"]
            .as_array()
            .unwrap()
            .iter()
            .map(text)
            .collect::<Vec<_>>()
            .join("; ")
    };
    let needs = report["upgrade"]["needs"].as_array().unwrap();
    let found = needs
        .iter()
        .map(|need| (text(&need["name"]), (text(&need["answer"]), why(need))))
        .collect();
    (output.status.code().unwrap(), found)
}

fn assumption_option(to: &str) -> &'static str {
    if to.starts_with(|first: char| first.is_ascii_digit()) {
        "--kernel"
    } else {
        "--os"
    }
}

fn answer_in_table_notation(answer: &str) -> &'static str {
    match answer {
        "works" => "works",
        "works-and-loses" => "loses",
        "cannot-be-told" => "open",
        "fails" => "fails",
        other => panic!("{other} is no answer"),
    }
}

#[test]
#[ignore = "exhaustive"]
fn upgrade_answers_match_expected_migrations() {
    let table = read_migration_table();
    let dir = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let (mut all, mut broken, mut open) = (0, 0, 0);
    let defaults = table.default.iter().flat_map(|default| {
        default.to.iter().map(|to| Migration {
            from: default.from.clone(),
            to: to.clone(),
            lines: default.lines.clone(),
            truth: BTreeMap::new(),
            unsafe_today: false,
            source: default.source.clone(),
        })
    });
    let defaults: Vec<Migration> = defaults.collect();
    for migration in table.migration.iter().chain(&defaults) {
        let Migration {
            from,
            to,
            lines,
            truth,
            unsafe_today,
            source,
        } = migration;
        let (code, found) = run_upgrade_on_migration(dir.path(), &table.system[from], migration);
        let shown: Vec<String> = lines.iter().map(FstabLine::describe_fstab_line).collect();
        let place = format!("{from} → {to}, {} ({source})", shown.join(", "));
        for name in truth.keys().filter(|name| !found.contains_key(*name)) {
            wrong.push(format!("{place}: nothing is said of {name}: {found:?}"));
        }
        for (name, (answer, why)) in &found {
            let (expected, words) = truth
                .get(name)
                .map_or(("works", ""), |truth| truth.split_once(": ").unwrap());
            if answer_in_table_notation(answer) != expected || !why.contains(words) {
                wrong.push(format!(
                    "{place}: {name} {expected} {words}, and walwise says {answer}: {why}"
                ));
            }
            all += 1;
            broken += usize::from(["fails", "loses"].contains(&expected));
            open += usize::from(expected == "open");
        }
        let has = |what: &str| truth.values().any(|truth| truth.starts_with(what));
        // Missing swap does not stop a boot.
        let stops = has("fails") && truth.keys().all(|name| !name.starts_with("/dev/"));
        let expected = if stops || *unsafe_today {
            3
        } else if has("open") {
            5
        } else {
            0
        };
        if code != expected {
            wrong.push(format!("{place}: exit code {code}, not {expected}"));
        }
    }
    eprintln!(
        "{} migrations and {} upgrades with default lines: of {all} things that these boots need {broken} fail or lose something, {open} nobody can tell",
        table.migration.len(),
        defaults.len()
    );
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(table.migration.len() >= 40, "{}", table.migration.len());
    assert!(defaults.len() >= 36, "{}", defaults.len());
}

impl FstabLine {
    fn describe_fstab_line(&self) -> String {
        let Self {
            at,
            fs,
            options,
            source,
            format,
            on,
        } = self;
        let more: Vec<String> = [source, on, format]
            .into_iter()
            .flatten()
            .map(|word| format!(" ({word})"))
            .collect();
        let more = more.concat();
        format!("`{at} {fs} {options}`{more}")
    }
}
