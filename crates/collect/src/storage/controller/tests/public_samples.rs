//! Public samples of every tool with the expected facts: the battery of every controller, and the
//! cache modes and disk caches of every volume.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::report::{Adapter, FieldReading};
use super::super::{arcconf, megacli, ssacli, storcli, storcli2};
use crate::facts::Choice;

fn samples_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/storage/controller/samples/public")
}

type SampleRow = (&'static [&'static str], &'static [&'static str]);

#[rustfmt::skip] // Each volume has one line.
const SAMPLES: &[SampleRow] = &[
    (&["arcconf-getconfig-a.txt"], &[
        // This controller reports the undocumented write-cache mode *Not supported*.
        "1: battery absent",
        "logical device 0: set ?, now ?, without battery ?, disks off",
    ]),
    (&["arcconf-getconfig-b.txt"], &[
        "1: battery healthy",
        "logical device 0: set always write back, now write back, without battery stays, disks on",
    ]),
    (&["arcconf-getconfig-smartraid.txt"], &[
        "1: battery healthy, at 0:65:0:0",
        "logical device 0 /dev/sda: set write back, now write back, without battery write through, disks disk default",
        "logical device 1 /dev/sdb: set write back, now write back, without battery write through, disks disk default",
    ]),
    // walwise never runs `arcconf getstatus`, so nothing in its output counts.
    (&["arcconf-getstatus-b.txt"], &["1: battery ?"]),
    // walwise never runs `ctrl all show status` either. The first sample has a battery status
    // without a count, and two external storage systems.
    (&["hpacucli-ctrl-all-show-status-a.txt"], &["Smart Array P400i in Slot 0 (Embedded): battery ?"]),
    (&["hpacucli-ctrl-all-show-status-b.txt"], &[
        "Smart Array P840 in Slot 1 (HBA Mode): battery ?",
        "Smart HBA H244br in Slot 0 (Embedded) (RAID Mode): battery ?",
    ]),
    (&["hpacucli-logicaldrive-a.txt"], &[
        "slot 0: battery ?",
        "logical drive 1: set ?, now ?, without battery ?, disks ?",
    ]),
    // The sample has an empty `Battery state`.
    (&["megacli-LDInfo-a.txt", "megacli-AdpBbuCmd-a.txt"], &[
        "0: battery ?",
        "VD 0: set write back, now write back, without battery write through, disks disk default",
    ]),
    (&["megacli-LDInfo-b.txt", "megacli-AdpBbuCmd-b.txt"], &[
        "0: battery healthy",
        "VD 0: set write back, now write back, without battery write through, disks disk default",
        "VD 1: set write back, now write back, without battery write through, disks disk default",
        "VD 6: set write back, now write back, without battery write through, disks disk default",
    ]),
    // In this sample, the cache has fallen back to write through.
    (&["megacli-LDInfo-old-spelling.txt"], &[
        "0: battery ?",
        "VD 0: set write back, now write through, without battery write through, disks disk default",
    ]),
    (&["ssacli-P400ar.txt"], &[
        "slot 0: battery healthy, at 0:3:0:0",
        "logical drive 1 /dev/sda: set always write back, now write back, without battery stays, disks on",
        "logical drive 2 /dev/sdb: set always write back, now write back, without battery stays, disks on",
    ]),
    (&["ssacli-P408i-a.txt"], &[
        "slot 0: battery healthy, at 0:92:0:0",
        "logical drive 1 /dev/sda: set always write back, now write back, without battery stays, disks on",
    ]),
    // The configured policy is unknown: only `/cALL/vALL show all J` reports it, and that output is
    // missing here.
    (&["storcli-cALL-show-all-J.json"], &[
        "0: battery healthy, at 0:2:0:0",
        "VD 0: set ?, now write back, without battery ?, disks disk default",
    ]),
    (&["storcli2-c0-show-all-J.json", "storcli2-vall-show-all-J.json"], &[
        "0: battery healthy, at 0:22:0:0",
        "VD 1 /dev/sdb: set write back, now write back, without battery write through, disks off",
        "VD 2 /dev/sdc: set write back, now write back, without battery write through, disks off",
        "VD 12 /dev/sdm: set write back, now write back, without battery write through, disks off",
        "VD 24 /dev/sdy: set write back, now write back, without battery write through, disks off",
    ]),
];

fn read_sample(name: &str) -> Vec<u8> {
    let path = samples_directory().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parse_sample(files: &[&str]) -> Vec<Adapter> {
    let first = read_sample(files[0]);
    let second = files
        .get(1)
        .map(|name| read_sample(name))
        .unwrap_or_default();
    match files[0].split(['-', '.']).next().unwrap() {
        "arcconf" => vec![arcconf::parse_adapter(1, &first)],
        "megacli" => megacli::parse_adapters(&first, &second),
        "storcli" => storcli::parse_adapters(&first, &second, &|_, _| Vec::new()),
        "storcli2" => storcli2::parse_adapters(&first, &second),
        "ssacli" => ssacli::parse_adapters(&first, &[(0, first.clone())]),
        "hpacucli" => parse_hpacucli(&first),
        other => panic!("{other} is no tool"),
    }
}

/// Samples of volumes lack the line `Slot: 0`. It is added, so that the volumes belong to a
/// controller.
fn parse_hpacucli(answer: &[u8]) -> Vec<Adapter> {
    let volumes = String::from_utf8_lossy(answer).contains("logicaldrive");
    let detail = [answer, b"\n   Slot: 0\n".as_slice()].concat();
    if volumes {
        ssacli::parse_adapters(&detail, &[(0, answer.to_vec())])
    } else {
        ssacli::parse_adapters(answer, &[])
    }
}

fn field_reading_text<T: Choice>(said: &FieldReading<T>) -> &'static str {
    said.clone().map_or("?", Choice::as_str)
}

fn summary_lines(adapter: &Adapter) -> Vec<String> {
    let at = adapter
        .pci
        .map(|[domain, bus, device, function]| format!(", at {domain}:{bus}:{device}:{function}"));
    let head = format!(
        "{}: battery {}{}",
        adapter.name,
        field_reading_text(&adapter.battery),
        at.unwrap_or_default()
    );
    let volumes = adapter.volumes.iter().map(|volume| {
        let node = volume
            .node
            .as_ref()
            .map(|node| format!(" {node}"))
            .unwrap_or_default();
        format!(
            "{}{node}: set {}, now {}, without battery {}, disks {}",
            volume.name,
            field_reading_text(&volume.policy),
            field_reading_text(&volume.in_force),
            field_reading_text(&volume.on_failure),
            field_reading_text(&volume.disk_cache),
        )
    });
    std::iter::once(head).chain(volumes).collect()
}

#[test]
fn public_samples_give_expected_summaries() {
    for (files, expected) in SAMPLES {
        let found: Vec<String> = parse_sample(files).iter().flat_map(summary_lines).collect();
        assert_eq!(found, *expected, "{files:?}");
    }
}

#[test]
fn every_public_sample_is_in_the_table() {
    let listed: BTreeSet<String> = SAMPLES
        .iter()
        .flat_map(|(files, _)| files.iter().map(|&name| name.to_owned()))
        .collect();
    let here = std::fs::read_dir(samples_directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(
        here.filter(|name| name != "README.md")
            .collect::<BTreeSet<_>>(),
        listed
    );
}
