use super::test_host::{TestHost, data_target};
use crate::durability::{VerdictCaps, judge_targets};
use crate::facts::catalog::target::{self, PageAtomicity};
use crate::facts::{FactSet, ServerArea, Subject};

/// The device for a name in `LINKS`; `None` for the empty name, which stands for the default
/// subject of a fact.
fn device_by_alias(name: &str) -> Option<Subject> {
    match name {
        "part" => Some(Subject::device("sda1")),
        "volume" => Some(Subject::device("dm-0")),
        _ => None,
    }
}

fn with_fact_of_alias(machine: TestHost, of: &str, fact: &str, word: &str) -> TestHost {
    match device_by_alias(of) {
        Some(subject) => machine.with_fact_of(&subject, fact, word),
        None => machine.with_fact(fact, word),
    }
}

/// MySQL in /data as documented by Amazon: ext4 whose clusters have the size of a page, on a
/// logical volume on a partition of an EBS volume.
fn host_with_atomic_pages() -> TestHost {
    let (mount, cluster) = (Subject::mount("/data"), Subject::cluster("/data"));
    let [part, volume] = ["part", "volume"].map(|name| device_by_alias(name).unwrap());
    let mut machine = TestHost::with_volatile_disk().without_stack();
    machine.facts.set_fact_link(&data_target(), &mount);
    machine.facts.set_fact_link(&data_target(), &cluster);
    machine.facts.set_fact_link(&cluster, &data_target());
    machine.facts.set_server_area(&cluster, ServerArea::Mysql);
    let machine = machine
        .with_layer_below(&data_target(), &mount)
        .with_layer_below(&mount, &volume)
        .with_layer_below(&volume, &part)
        .with_layer_below(&part, &Subject::device("sda"))
        .with_fact("target.roles", "data,redo")
        .with_fact("target.clusters", "/data")
        .with_fact("device.transport", "nvme")
        .with_fact("device.write_cache", "write through")
        .with_fact("nvme.volatile_cache", "no")
        .with_fact("nvme.critical_warning", "")
        .with_fact("cluster.kind", "mysql")
        .with_fact("mysql.version", "8.4.3")
        .with_fact("mysql.innodb_flush_log_at_trx_commit", "1")
        .with_fact("mysql.log_bin", "false")
        .with_fact("mysql.fsync_disabled_by", "none")
        .with_fact("mysql.running", "true")
        .with_fact("mysql.innodb_doublewrite", "off")
        .with_fact_of(&part, "device.kind", "partition")
        .with_fact_of(&part, "device.write_cache", "write through")
        .with_fact_of(&volume, "device.kind", "lvm")
        .with_fact_of(&volume, "device.write_cache", "write through");
    LINKS.iter().fold(machine, |machine, (of, fact, word, _)| {
        with_fact_of_alias(machine, of, fact, word)
    })
}

/// Columns: subject, fact, a value with which the link holds, and other values, each with the
/// beginning of the link's text; `!` marks a broken link.
type AtomicityLinkCase = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

#[rustfmt::skip] // one row per line
const LINKS: &[AtomicityLinkCase] = &[
    ("", "mysql.innodb_page_size", "16384", &[("32768", "!file system: ext4's cluster size is 16 KiB, not a multiple"), ("?", "page: mysql.innodb_page_size of /data is unknown")]),
    ("", "mysql.innodb_flush_method", "O_DIRECT", &[("fsync", "!server: InnoDB writes data files through the page cache (innodb_flush_method is fsync)"), ("O_DSYNC", "!server: "), ("?", "server: mysql.innodb_flush_method of /data")]),
    ("", "kernel.version", "6.1.0", &[("4.14.355", "!kernel: Linux 4.14.355 is older than 5.10"), ("?", "kernel: ")]),
    ("", "mount.fstype", "ext4", &[("xfs", "!file system: xfs is not ext4"), ("ext3", "!file system: ext3 is not ext4"), ("btrfs", "!file system: btrfs")]),
    ("", "ext4.features", "extent,bigalloc", &[("extent", "!file system: ext4 has no clusters (bigalloc)"), ("extent,bigalloc,encrypt", "file system: files may be encrypted"), ("?", "file system: ext4.features")]),
    ("", "ext4.cluster_size", "16384", &[("8192", "!file system: ext4's cluster size is 8 KiB, not a multiple"), ("0", "file system: "), ("?", "file system: ext4.cluster_size")]),
    ("", "ext4.data", "ordered", &[("journal", "!file system: data=journal turns direct I/O"), ("?", "file system: ext4.data")]),
    ("", "target.flags", "", &[("journal-data", "!file system: the attribute +j"), ("?", "file system: target.flags")]),
    ("volume", "dm.targets", "linear", &[("striped", "layer: dm-0 may split"), ("linear,striped", "layer: dm-0"), ("", "layer: dm-0"), ("?", "logical volume: dm.targets of dm-0")]),
    ("volume", "dm.alignment", "1048576", &[("8192", "!logical volume: dm-0 begins at a multiple of 8 KiB, not of the page size"), ("512", "!logical volume: "), ("?", "logical volume: dm.alignment of dm-0")]),
    ("volume", "device.max_io", "262144", &[("4096", "!logical volume: dm-0 accepts at most 4 KiB"), ("?", "logical volume: device.max_io of dm-0")]),
    ("volume", "device.kind", "lvm", &[("crypt", "layer: dm-0 may split"), ("md", "layer: dm-0"), ("multipath", "layer: dm-0"), ("loop", "layer: dm-0"), ("?", "layer: device.kind of dm-0")]),
    ("part", "device.start", "1048576", &[("32256", "!partition: sda1 begins at byte 32256, not a multiple of the page size"), ("1056768", "!partition: sda1"), ("?", "partition: device.start of sda1")]),
    ("", "device.cloud", "Amazon Elastic Block Store", &[("Amazon EC2 instance store", "device: whether sda"), ("Azure managed disk", "device: Microsoft documents"), ("Google persistent disk", "device: no documentation"), ("?", "device: device.atomic_write_max of sda")]),
    ("", "device.max_io", "131072", &[("8192", "!device: sda accepts at most 8 KiB"), ("?", "device: device.max_io of sda")]),
];

#[rustfmt::skip] // one row per line
const ALSO: &[(&str, &str, &str)] = &[
    ("", "mysql.innodb_page_size", "8192"),
    ("", "mysql.innodb_page_size", "4096"),
    ("", "mysql.innodb_flush_method", "O_DIRECT_NO_FSYNC"),
    ("", "mysql.innodb_doublewrite", "detect_only"),
    ("", "kernel.version", "5.10.0"),
    ("", "ext4.cluster_size", "65536"),
    ("", "ext4.data", "writeback"),
    ("", "target.flags", "sync"),
    ("", "device.atomic_write_max", "0"),
    ("volume", "dm.alignment", "16384"),
    ("part", "device.start", "16384"),
    ("", "device.max_io", "16384"),
];

fn judged_facts(machine: &TestHost) -> FactSet {
    let mut facts = machine.facts.clone();
    judge_targets(&mut facts, true, &VerdictCaps::default());
    facts
}

fn page_writes_fact(machine: &TestHost) -> Option<PageAtomicity> {
    judged_facts(machine).value(&data_target(), &target::PAGE_WRITES)
}

#[test]
fn documented_ebs_setup_holds_but_stays_unproven() {
    let facts = judged_facts(&host_with_atomic_pages());
    assert_eq!(
        facts.value(&data_target(), &target::PAGE_WRITES),
        Some(PageAtomicity::Documented)
    );
    assert_eq!(facts.value(&data_target(), &target::PAGE_LINK), None);
    let links = facts.value(&data_target(), &target::PAGE_LINKS).unwrap();
    let parts: Vec<&str> = links
        .iter()
        .filter_map(|link| Some(link.split_once(": ")?.0))
        .collect();
    let order = [
        "page",
        "server",
        "kernel",
        "file system",
        "file system",
        "logical volume",
        "logical volume",
        "partition",
    ];
    assert_eq!(parts, [&order[..], &["device", "device"]].concat());
    assert!(
        links.iter().all(|link| link.ends_with("(holds)")),
        "{links:?}"
    );
    let verdict = host_with_atomic_pages().verdict();
    assert_eq!(
        verdict.standing.as_str(),
        "unproven",
        "{}",
        verdict.sentence
    );
    assert!(
        verdict
            .sentence
            .contains("only Amazon's documentation rules out"),
        "{}",
        verdict.sentence
    );
    assert_eq!(
        host_with_atomic_pages()
            .with_fact("mysql.innodb_doublewrite", "on")
            .verdict_name(),
        "durable",
        "the rest of it is"
    );
    for (of, fact, word) in ALSO {
        let other = with_fact_of_alias(host_with_atomic_pages(), of, fact, word);
        assert_eq!(
            page_writes_fact(&other),
            Some(PageAtomicity::Documented),
            "{fact} = {word}"
        );
    }
}

#[test]
fn each_broken_or_unknown_link_is_named_and_leaves_it_at_risk() {
    for (of, fact, _, others) in LINKS {
        for (word, says) in *others {
            let other = with_fact_of_alias(host_with_atomic_pages(), of, fact, word);
            let facts = judged_facts(&other);
            let expect = if says.starts_with('!') {
                PageAtomicity::Broken
            } else {
                PageAtomicity::Unknown
            };
            let link = facts
                .value(&data_target(), &target::PAGE_LINK)
                .unwrap_or_default();
            let writes = facts.value(&data_target(), &target::PAGE_WRITES);
            assert_eq!(writes, Some(expect), "{fact} = {word}: {link}");
            assert!(
                link.starts_with(says.trim_start_matches('!')),
                "{fact} = {word}: {link}"
            );
            assert_eq!(other.verdict_name(), "at risk", "{fact} = {word}");
        }
    }
}

#[test]
fn two_deviations_never_keep_pages_atomic() {
    let all: Vec<(&AtomicityLinkCase, &str)> = LINKS
        .iter()
        .flat_map(|row| row.3.iter().map(move |(word, _)| (row, *word)))
        .collect();
    for (i, (row, word)) in all.iter().enumerate() {
        let first = with_fact_of_alias(host_with_atomic_pages(), row.0, row.1, word);
        for (other, second) in all.iter().skip(i + 1) {
            let found =
                page_writes_fact(&with_fact_of_alias(first.clone(), other.0, other.1, second));
            let named = matches!(found, Some(PageAtomicity::Broken | PageAtomicity::Unknown));
            assert!(
                named,
                "{} = {word} and {} = {second}: {found:?}",
                row.1, other.1
            );
        }
    }
    let both = with_fact_of_alias(host_with_atomic_pages(), "volume", "dm.targets", "?")
        .with_fact_of(&Subject::device("sda1"), "device.start", "512");
    let link = judged_facts(&both)
        .value(&data_target(), &target::PAGE_LINK)
        .unwrap();
    assert!(
        link.starts_with("partition: sda1 begins at byte 512"),
        "{link}"
    );
}

#[test]
fn zfs_and_unknown_file_systems_need_no_link_chain() {
    for (fstype, record, expect, verdict) in [
        ("?", "?", None, "unproven"),
        ("zfs", "?", None, "unproven"),
        ("zfs", "16384", Some(PageAtomicity::Whole), "durable"),
        ("zfs", "131072", Some(PageAtomicity::Whole), "durable"),
        ("zfs", "8192", Some(PageAtomicity::Broken), "at risk"),
    ] {
        let other = host_with_atomic_pages()
            .with_fact("mount.fstype", fstype)
            .with_fact("zfs.recordsize", record);
        let other = other
            .with_fact("zfs.sync", "standard")
            .with_fact("zfs.no_cache_flush", "false");
        let other = if fstype == "zfs" {
            other.with_fact("mount.class", "zfs")
        } else {
            other
        };
        assert_eq!(page_writes_fact(&other), expect, "{fstype} {record}");
        assert_eq!(other.verdict_name(), verdict, "{fstype} {record}");
    }
}

#[test]
fn mariadb_data_file_buffering_decides_direct_io() {
    let mariadb = || {
        host_with_atomic_pages()
            .with_fact("cluster.kind", "mariadb")
            .with_fact("mysql.binlog_storage_engine", "")
    };
    for (buffering, method, expect) in [
        ("false", "O_DIRECT", PageAtomicity::Documented),
        ("false", "fsync", PageAtomicity::Documented),
        ("true", "O_DIRECT", PageAtomicity::Broken),
        ("?", "O_DIRECT", PageAtomicity::Unknown),
    ] {
        let other = mariadb()
            .with_fact("mysql.innodb_data_file_buffering", buffering)
            .with_fact("mysql.innodb_flush_method", method);
        assert_eq!(
            page_writes_fact(&other),
            Some(expect),
            "{buffering} {method}"
        );
    }
}

#[test]
fn atomic_write_limits_of_local_disks_do_not_count() {
    for (most, awupf, says) in [
        (
            "16384",
            "31",
            "device: sda writes 16 KiB atomically only with RWF_ATOMIC",
        ),
        (
            "65536",
            "?",
            "device: sda writes 64 KiB atomically only with RWF_ATOMIC",
        ),
        (
            "0",
            "31",
            "device: sda does not report atomic writes of a page",
        ),
        ("4096", "?", "device: sda does not report"),
    ] {
        let other = host_with_atomic_pages()
            .with_fact("device.cloud", "?")
            .with_fact("device.atomic_write_max", most);
        let other = other.with_fact("nvme.awupf", awupf);
        let facts = judged_facts(&other);
        let link = facts.value(&data_target(), &target::PAGE_LINK).unwrap();
        assert!(link.starts_with(says), "{link}");
        assert_eq!(
            facts.value(&data_target(), &target::PAGE_WRITES),
            Some(PageAtomicity::Broken),
            "{most} {awupf}"
        );
    }
}

#[test]
fn postgres_page_cache_breaks_atomicity_chain() {
    let mut other = host_with_atomic_pages()
        .with_postgres_cluster()
        .with_fact("pg.full_page_writes", "false");
    other
        .facts
        .set_server_area(&Subject::cluster("/data"), ServerArea::Pg);
    let facts = judged_facts(&other);
    assert_eq!(
        facts.value(&data_target(), &target::PAGE_WRITES),
        Some(PageAtomicity::Broken)
    );
    let link = facts.value(&data_target(), &target::PAGE_LINK).unwrap();
    assert!(
        link.starts_with("server: PostgreSQL writes pages through the page cache"),
        "{link}"
    );
    assert_eq!(other.verdict_name(), "at risk");
}

#[test]
fn incomplete_stack_never_documents_page_atomicity() {
    let disk = Subject::device("sda");
    let other_disk = Subject::device("sdb");
    let cycle = host_with_atomic_pages().with_layer_below(&disk, &Subject::device("dm-0"));
    assert_eq!(page_writes_fact(&cycle), Some(PageAtomicity::Unknown));
    let second = host_with_atomic_pages()
        .with_layer_below(&Subject::device("dm-0"), &other_disk)
        .with_fact_of(&other_disk, "device.kind", "disk");
    assert_eq!(
        page_writes_fact(&second),
        Some(PageAtomicity::Unknown),
        "the other disk is of no known cloud"
    );
    let file = Subject::mount("/srv");
    let loop_file = host_with_atomic_pages()
        .with_layer_below(&disk, &file)
        .with_fact_of(&file, "mount.fstype", "ext4");
    assert_eq!(page_writes_fact(&loop_file), Some(PageAtomicity::Unknown));
    let nothing = host_with_atomic_pages().without_stack();
    assert!(page_writes_fact(&nothing).is_none_or(|writes| writes != PageAtomicity::Documented));
    let elsewhere = host_with_atomic_pages().with_fact("target.roles", "redo");
    assert_eq!(page_writes_fact(&elsewhere), None, "no pages lie there");
}
