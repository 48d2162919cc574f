//! Page writes without a doublewrite buffer: a recorded host with Amazon's complete documented
//! setup, and variants with one link broken or unknown. Every row was reviewed by a person.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_report::json;
use walwise_sys::host::RecordedHost;

use super::host;
use crate::support::{known_fact_value, report_findings, rule_outcome, verdict};

/// Two recorded hosts: one with the complete setup, and one whose partition starts at another
/// offset.
const WHOLE: &str = "ec2-whole-pages-mariadb1011";
const TORN: &str = "ec2-torn-by-partition-mariadb1011";

const TARGET: &str = "/data/mysql";
const SUBJECT: &str = "target /data/mysql";

pub fn recorded_target(name: &str) -> Option<&'static str> {
    [WHOLE, TORN].contains(&name).then_some(TARGET)
}

/// Recorded text, its replacement, and the link that is then broken (after `!`) or unknown.
type TornWriteLinkRow = (&'static str, &'static str, &'static str);

#[rustfmt::skip] // a row is a line
const ROWS: &[TornWriteLinkRow] = &[
    ("|innodb_page_size\t16384", "|innodb_page_size\t32768", "!file system: ext4's cluster size is 16 KiB, not a multiple of the page size"),
    ("|innodb_flush_method\tO_DIRECT", "|innodb_flush_method\tfsync", "!server: InnoDB writes data files through the page cache (innodb_flush_method is fsync)"),
    ("|innodb_flush_method\tO_DIRECT", "|innodb_flush_method\tO_DSYNC", "!server: InnoDB writes data files through the page cache (innodb_flush_method is O_DSYNC)"),
    ("|innodb_flush_method\tO_DIRECT", "|innodb_flush_method\tsinging", "server: mysql.innodb_flush_method"),
    ("6.1.112-122.189.amzn2023.x86_64", "4.14.355-275.570.amzn2.x86_64", "!kernel: Linux 4.14.355"),
    ("bigalloc metadata_csum\n|cluster 16384", "metadata_csum", "!file system: ext4 has no clusters (bigalloc), so a page can be stored in separate blocks"),
    ("|cluster 16384", "|cluster 8192", "!file system: ext4's cluster size is 8 KiB, not a multiple of the page size"),
    ("\n|cluster 16384", "", "file system: ext4.cluster_size of /data is unknown"),
    ("superblock ext /dev/dm-0\n", "superblock ext /dev/dm-9\n", "file system: ext4.features of /data is unknown"),
    ("|data=ordered\n|nodiscard", "|data=journal\n|nodiscard", "!file system: data=journal turns direct I/O into buffered I/O"),
    ("flags /data/mysql\n|524288", "flags /data/mysql\n|540672", "!file system: the attribute +j turns direct I/O into buffered I/O"),
    ("flags /data/mysql\n|524288", "flags /data/mysql\n!denied no", "file system: target.flags of /data/mysql is unknown"),
    ("- ext4 /dev/mapper/vg0-mysql", "- xfs /dev/mapper/vg0-mysql", "!file system: xfs is not ext4 with page-sized clusters"),
    ("|vg0-mysql: linear 0 2048", "|vg0-mysql: linear 0 2056", "!logical volume: dm-0 begins at a multiple of 4 KiB, not of the page size"),
    ("|vg0-mysql: linear 0 2048", "|vg0-mysql: linear 0 2048\n|vg0-mysql: linear 8388608 4097", "!logical volume: dm-0 begins at a multiple of 512 B"),
    ("|vg0-mysql: linear 0 2048", "|vg0-mysql: linear ", "logical volume: dm.alignment of dm-0 is unknown"),
    ("|vg0-mysql: linear 0 2048", "|vg0-mysql: striped ", "layer: dm-0 may split or move a page"),
    ("run dmsetup table\n|vg0-mysql: linear 0 2048", "run dmsetup table\n!absent not installed", "logical volume: dm.targets of dm-0 is unknown"),
    ("dm-0/queue/max_sectors_kb\n|256", "dm-0/queue/max_sectors_kb\n|8", "!logical volume: dm-0 accepts at most 8 KiB in one request"),
    ("|LVM-aaaa", "|CRYPT-LUKS2-aaaa", "layer: dm-0 may split or move a page"),
    ("nvme1n1p1/start\n|2048", "nvme1n1p1/start\n|2056", "!partition: nvme1n1p1 begins at byte 1052672, not a multiple of the page size"),
    ("nvme1n1p1/start\n|2048", "nvme1n1p1/start\n!denied no", "partition: device.start of nvme1n1p1 is unknown"),
    ("nvme1n1/device/model\n|Amazon Elastic Block Store", "nvme1n1/device/model\n|Amazon EC2 NVMe Instance Storage", "device: whether nvme1n1 writes a page atomically depends on the instance type"),
    ("nvme1n1/device/model\n|Amazon Elastic Block Store", "nvme1n1/device/model\n|MSFT NVMe Accelerator v1.0", "device: Microsoft documents"),
    ("nvme1n1/device/model\n|Amazon Elastic Block Store", "nvme1n1/device/model\n|SAMSUNG MZQL23T8HCLS", "device: device.atomic_write_max of nvme1n1 is unknown"),
    ("nvme1n1/queue/max_sectors_kb\n|256", "nvme1n1/queue/max_sectors_kb\n|4", "!device: nvme1n1 accepts at most 4 KiB in one request"),
    ("read /sys/class/block/nvme1n1/queue/max_sectors_kb\n|256", "read /sys/class/block/nvme1n1/queue/max_sectors_kb\n!denied no", "device: device.max_io of nvme1n1 is unknown"),
];

fn read_recording(name: &str) -> String {
    fs::read_to_string(host(name)).unwrap()
}

fn report_json_of_recording(recording: &str) -> Value {
    let host = RecordedHost::parse(recording.as_bytes()).unwrap();
    let request = Request {
        target: Some(TARGET.into()),
        ..Request::default()
    };
    let mut session =
        Session::collect_from_host(&host, &request, RuleSet::builtin(), &mut |_, _| {});
    session.named_target = Some(TARGET.to_owned());
    serde_json::from_str(&json::render_report(&session.build_report())).unwrap()
}

fn advised_doublewrite_values(report: &Value) -> Vec<String> {
    let all = report_findings(report)
        .flat_map(|finding| finding["advice"].as_array().cloned().unwrap_or_default());
    let of_it = all.filter(|advice| advice["setting"] == "mysql.innodb_doublewrite");
    of_it
        .map(|advice| advice["change"]["set"].as_str().unwrap_or("?").to_owned())
        .collect()
}

#[test]
fn complete_torn_write_prevention_is_only_a_warning() {
    let report = report_json_of_recording(&read_recording(WHOLE));
    assert_eq!(
        known_fact_value(&report, SUBJECT, "target.page_writes").unwrap(),
        "documented"
    );
    assert_eq!(
        rule_outcome(&report, "mysql.torn-write-prevention", SUBJECT),
        Some("applies")
    );
    assert_eq!(
        rule_outcome(&report, "mysql.doublewrite-off", SUBJECT),
        Some("does-not-apply")
    );
    assert_eq!(verdict(&report, TARGET.as_ref()), Some("unproven"));
    assert_eq!(advised_doublewrite_values(&report), [""; 0]);
}

#[test]
fn broken_or_unknown_link_is_named_and_critical() {
    let base = read_recording(WHOLE);
    for (from, to, link) in ROWS {
        // The kernel's release is also in /proc/version.
        let places = if link.contains("kernel") { 2 } else { 1 };
        assert_eq!(base.matches(from).count(), places, "{from}");
        let report = report_json_of_recording(&base.replace(from, to));
        let writes = if link.starts_with('!') {
            "broken"
        } else {
            "unknown"
        };
        let told = known_fact_value(&report, SUBJECT, "target.page_link")
            .and_then(Value::as_str)
            .unwrap_or_default();
        assert!(
            told.starts_with(link.trim_start_matches('!')),
            "{to}: {told}"
        );
        assert_eq!(
            known_fact_value(&report, SUBJECT, "target.page_writes").unwrap(),
            writes,
            "{to}"
        );
        let finding = report_findings(&report)
            .find(|one| one["rule"] == "mysql.doublewrite-off")
            .unwrap();
        assert_eq!(
            (&finding["level"], &finding["subject"]),
            (&"critical".into(), &SUBJECT.into()),
            "{to}"
        );
        let because = finding["because"].as_str().unwrap();
        assert!(
            because.ends_with(&format!("Here the chain breaks at the {told}.")),
            "{because}"
        );
        assert_eq!(
            rule_outcome(&report, "mysql.torn-write-prevention", SUBJECT),
            Some("does-not-apply"),
            "{to}"
        );
        assert_eq!(verdict(&report, TARGET.as_ref()), Some("at-risk"), "{to}");
        assert_eq!(advised_doublewrite_values(&report), ["on"], "{to}");
    }
}

/// Without root neither superblock nor device-mapper tables are readable, so no chain can be
/// confirmed.
#[test]
fn without_root_torn_write_prevention_is_unconfirmed() {
    let report =
        report_json_of_recording(&read_recording(WHOLE).replace("|euid=0\n", "|euid=1000\n"));
    assert_ne!(
        known_fact_value(&report, SUBJECT, "target.page_writes").and_then(Value::as_str),
        Some("documented")
    );
    assert_ne!(
        rule_outcome(&report, "mysql.torn-write-prevention", SUBJECT),
        Some("applies")
    );
}

#[test]
fn torn_write_findings_match_the_snapshot() {
    let mut text = String::new();
    for name in [WHOLE, TORN] {
        let report = report_json_of_recording(&read_recording(name));
        writeln!(text, "=== {name}").unwrap();
        for link in known_fact_value(&report, SUBJECT, "target.page_links")
            .unwrap()
            .as_array()
            .unwrap()
        {
            writeln!(text, "{}", link.as_str().unwrap()).unwrap();
        }
        let rules = ["mysql.torn-write-prevention", "mysql.doublewrite-off"];
        for finding in
            report_findings(&report).filter(|one| rules.iter().any(|rule| one["rule"] == *rule))
        {
            let [level, title, because] =
                ["level", "title", "because"].map(|key| finding[key].as_str().unwrap());
            writeln!(text, "\n{level}: {title}\n{}", because.replace(". ", ".\n")).unwrap();
        }
    }
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "snapshots"}, {
        insta::assert_snapshot!("pages", text);
    });
}
