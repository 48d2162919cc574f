use super::test_host::{TestHost, data_target};
use crate::durability::VerdictKind;
use crate::facts::{ServerArea, Subject};

const VERSIONS: [(&str, &str); 6] = [
    ("mysql", "5.7.24"),
    ("mysql", "8.0.13"),
    ("mysql", "8.0.36"),
    ("mysql", "?"),
    ("mariadb", "10.11.19"),
    ("?", "?"),
];

fn host_with_mysql() -> TestHost {
    let mut machine = TestHost::with_volatile_disk();
    let cluster = Subject::cluster("/data");
    machine.facts.set_fact_link(&data_target(), &cluster);
    machine.facts.set_fact_link(&cluster, &data_target());
    machine.facts.set_server_area(&cluster, ServerArea::Mysql);
    machine
        .with_fact("target.roles", "data,redo,binlog")
        .with_fact("target.clusters", "/data")
        .with_fact("cluster.kind", "mysql")
        .with_fact("mysql.version", "8.0.36")
        .with_fact("mysql.innodb_flush_log_at_trx_commit", "1")
        .with_fact("mysql.innodb_flush_method", "fsync")
        .with_fact("mysql.innodb_doublewrite", "on")
        .with_fact("mysql.log_bin", "true")
        .with_fact("mysql.sync_binlog", "1")
        .with_fact("mysql.fsync_disabled_by", "none")
        .with_fact("mysql.running", "true")
}

fn expected_redo_verdict(kind: &str, value: &str) -> VerdictKind {
    match value {
        "1" => VerdictKind::Durable,
        "3" if kind == "mariadb" => VerdictKind::Durable,
        "0" | "2" => VerdictKind::AtRisk,
        _ => VerdictKind::Unproven,
    }
}

fn expected_binlog_verdict(log_bin: &str, sync: &str) -> VerdictKind {
    match (log_bin, sync) {
        ("false", _) | ("true", "1") => VerdictKind::Durable,
        ("?", _) | (_, "?") => VerdictKind::Unproven,
        _ => VerdictKind::AtRisk,
    }
}

fn expected_preload_verdict(library: &str, running: &str) -> VerdictKind {
    match (library, running) {
        ("none", _) | ("?", "false") => VerdictKind::Durable,
        ("?", _) => VerdictKind::Unproven,
        _ => VerdictKind::AtRisk,
    }
}

#[test]
fn worst_mysql_setting_decides_verdict() {
    let mut seen = 0;
    for kind in ["mysql", "mariadb", "?"] {
        for redo in ["0", "1", "2", "3", "4", "?"] {
            for (log_bin, sync) in [
                ("true", "0"),
                ("true", "1"),
                ("true", "100"),
                ("true", "?"),
                ("false", "0"),
                ("?", "1"),
            ] {
                for (library, running) in [
                    ("none", "true"),
                    ("libeatmydata.so", "true"),
                    ("?", "true"),
                    ("?", "false"),
                    ("?", "?"),
                ] {
                    let machine = host_with_mysql()
                        .with_fact("cluster.kind", kind)
                        .with_fact("mysql.innodb_flush_log_at_trx_commit", redo)
                        .with_fact("mysql.log_bin", log_bin)
                        .with_fact("mysql.sync_binlog", sync)
                        .with_fact("mysql.fsync_disabled_by", library)
                        .with_fact("mysql.running", running);
                    // MariaDB 12.3 and later may keep the binary log in a storage engine; the empty
                    // value rules that out.
                    let machine = machine.with_fact("mysql.binlog_storage_engine", "");
                    let expected = expected_redo_verdict(kind, redo)
                        .min(expected_binlog_verdict(log_bin, sync))
                        .min(expected_preload_verdict(library, running));
                    assert_eq!(
                        machine.verdict().standing,
                        expected,
                        "{kind} redo {redo}, binlog {log_bin} {sync}, {library} {running}"
                    );
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 3 * 6 * 6 * 5);
}

#[test]
fn verdict_by_doublewrite_and_directory_role() {
    for (mode, roles, expected) in [
        ("on", "data,redo", "durable"),
        ("off", "data,redo", "at risk"),
        ("detect_only", "data,redo", "at risk"),
        ("?", "data,redo", "unproven"),
        ("?", "doublewrite", "unproven"),
        ("?", "redo", "durable"),
    ] {
        let machine = host_with_mysql()
            .with_fact("mysql.innodb_doublewrite", mode)
            .with_fact("target.roles", roles);
        assert_eq!(machine.verdict_name(), expected, "{mode} on {roles}");
    }
}

#[test]
fn binlog_in_storage_engine_is_unproven_unless_synced() {
    for (engine, sync, expected) in [
        ("", "0", "at risk"),
        ("innodb", "0", "unproven"),
        ("innodb", "1", "durable"),
        ("?", "0", "unproven"),
        ("?", "1", "durable"),
    ] {
        let machine = host_with_mysql()
            .with_fact("mysql.binlog_storage_engine", engine)
            .with_fact("mysql.sync_binlog", sync);
        assert_eq!(machine.verdict_name(), expected, "{engine} {sync}");
    }
}

fn host_with_redo_on_other_disk(cache: &str) -> TestHost {
    let (redo, other) = (Subject::target("/redo"), Subject::device("sdb"));
    let cluster = Subject::cluster("/data");
    let mut machine = host_with_mysql().with_fact("target.roles", "data");
    machine.facts.add_layer_below(&redo, &other);
    machine.facts.add_subject(&redo);
    machine.facts.set_fact_link(&cluster, &redo);
    with_disk_cache(machine.with_fact_of(&other, "device.kind", "disk"), cache)
}

fn with_disk_cache(machine: TestHost, cache: &str) -> TestHost {
    match cache {
        "volatile" => machine,
        "none" => machine
            .with_fact("device.write_cache", "write through")
            .with_fact("device.cache_type", "write through")
            .with_fact("device.drive_cache", "off"),
        _ => machine
            .with_fact("device.write_cache", "write back")
            .with_fact("device.cache_type", "?"),
    }
}

#[test]
fn verdict_by_innodb_flush_method() {
    for method in ["fsync", "O_DSYNC", "O_DIRECT", "nosync", "littlesync", "?"] {
        for (kind, version) in VERSIONS {
            let machine = host_with_mysql()
                .with_fact("cluster.kind", kind)
                .with_fact("mysql.version", version)
                .with_fact("mysql.innodb_flush_method", method)
                .with_fact("mysql.binlog_storage_engine", "");
            let expected = match method {
                "fsync" | "O_DSYNC" | "O_DIRECT" => "durable",
                "nosync" | "littlesync" => "at risk",
                _ => "unproven",
            };
            assert_eq!(
                machine.verdict_name(),
                expected,
                "{method} of {kind} {version}"
            );
            let flush = machine.derived_fact_text("target.flush");
            assert_eq!(
                flush == "suppressed",
                expected == "at risk",
                "{method}: {flush}"
            );
        }
    }
}

#[test]
fn o_direct_no_fsync_verdict_by_release_disks_and_cache() {
    for (kind, version) in VERSIONS {
        for together in [true, false] {
            for cache in ["volatile", "none"] {
                let machine = if together {
                    with_disk_cache(host_with_mysql(), cache)
                } else {
                    host_with_redo_on_other_disk(cache)
                };
                let machine = machine
                    .with_fact("cluster.kind", kind)
                    .with_fact("mysql.version", version)
                    .with_fact("mysql.innodb_flush_method", "O_DIRECT_NO_FSYNC")
                    .with_fact("mysql.binlog_storage_engine", "");
                let expected = match (kind, version, together, cache) {
                    ("mysql", "8.0.36", true, _) | ("mysql", "8.0.36", false, "none") => "durable",
                    ("mysql", "?", ..) => "unproven",
                    ("mysql", "5.7.24" | "8.0.13", ..) | (_, _, _, "volatile") => "at risk",
                    _ => "unproven",
                };
                assert_eq!(
                    machine.verdict_name(),
                    expected,
                    "{kind} {version}, together {together}, {cache}"
                );
            }
        }
    }
    // O_DIRECT_NO_FSYNC omits only the flushes of data files, and this target holds none.
    let only_redo = host_with_mysql()
        .with_fact("target.roles", "redo")
        .with_fact("mysql.innodb_flush_method", "O_DIRECT_NO_FSYNC");
    assert_eq!(
        only_redo
            .with_fact("mysql.version", "8.0.13")
            .verdict_name(),
        "durable"
    );
}

#[test]
fn verdict_by_fast_or_disabled_doublewrite() {
    let fast = host_with_mysql()
        .with_fact("cluster.kind", "mariadb")
        .with_fact("mysql.innodb_doublewrite", "fast");
    let fast = fast.with_fact("mysql.binlog_storage_engine", "");
    assert_eq!(fast.verdict_name(), "at risk");
    assert_eq!(with_disk_cache(fast, "none").verdict_name(), "unproven");
    let none = |roles: &str| {
        host_with_mysql()
            .with_fact("mysql.innodb_doublewrite", "off")
            .with_fact("target.roles", roles)
    };
    assert_eq!(none("data,redo").verdict_name(), "at risk");
    assert_eq!(
        none("redo,binlog").verdict_name(),
        "durable",
        "no pages lie there"
    );
    assert_eq!(
        none("?").verdict_name(),
        "at risk",
        "it is unknown what lies there"
    );
}

#[test]
fn crash_loss_text_follows_flush_log_at_timeout() {
    for (timeout, says) in [
        (
            "1",
            "about the last 1 s of commits (innodb_flush_log_at_timeout is 1)",
        ),
        (
            "2700",
            "about the last 2700 s of commits (innodb_flush_log_at_timeout is 2700)",
        ),
        ("0", "the commits since its last flush"),
        ("?", "the commits since its last flush"),
    ] {
        let machine = host_with_mysql()
            .with_fact("mysql.innodb_flush_log_at_trx_commit", "2")
            .with_fact("mysql.innodb_flush_log_at_timeout", timeout);
        let sentence = machine.verdict().sentence;
        assert!(sentence.contains(says), "{timeout}: {sentence}");
    }
}
