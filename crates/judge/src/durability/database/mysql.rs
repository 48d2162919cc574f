//! MySQL and MariaDB: redo log, binary log, flush method and doublewrite (manuals, InnoDB system
//! variables).
//!
//! After a crash InnoDB rolls back prepared transactions that the binary log lacks.
//! `sync_binlog = 0` can therefore lose commits although the redo log was flushed.

use super::{
    EvidenceLog, PageProtection, holds_tearable_pages, judge_page_protection,
    judge_preloaded_library,
};
use crate::durability::EvidenceImpact::{self, AtRisk, Durable, Unproven};
use crate::durability::VerdictRemedy;
use crate::durability::fact_reader::FactReader;
use crate::facts::catalog::cluster as kind;
use crate::facts::catalog::device::{self, CacheVolatility};
use crate::facts::catalog::mysql::{self, DoublewriteMode, InnodbFlushMethod};
use crate::facts::catalog::target::{self, DirectoryRole};
use crate::facts::{FactSet, Reading, Scope, ServerKind, Subject, UnknownReason};
use crate::ternary::Ternary;
use crate::version::Version;

/// Adds the evidence about the server's settings to `sayer`. Returns true if the settings disable
/// every flush.
pub fn judge_settings(
    ask: &mut FactReader,
    of: &Subject,
    cluster: &Subject,
    sayer: &mut EvidenceLog,
) -> bool {
    let line = ask.read_and_record_use(cluster, &kind::KIND);
    let name = line.map_or("the server", ServerKind::server_product_name);
    judge_redo_log(ask, cluster, name, sayer);
    judge_binlog(ask, cluster, name, sayer);
    let off = judge_flush_method(ask, of, cluster, name, sayer);
    judge_fast_doublewrite(ask, of, cluster, name, sayer);
    judge_doublewrite(ask, of, cluster, sayer);
    judge_preloaded_library(ask, cluster, name, sayer) || off
}

fn judge_redo_log(ask: &mut FactReader, cluster: &Subject, name: &str, sayer: &mut EvidenceLog) {
    let key = &mysql::FLUSH_LOG;
    let mariadb = ask
        .read_and_record_use(cluster, &kind::KIND)
        .is_some_and(ServerKind::is_mariadb);
    let (bears, says) = match ask.read_or_record_missing(cluster, key) {
        Some(1) => (
            Durable,
            format!(
                "{name} flushes its redo log at each commit (innodb_flush_log_at_trx_commit is 1)"
            ),
        ),
        Some(3) if mariadb => (
            Durable,
            format!(
                "{name} flushes its redo log at each prepare and each commit (innodb_flush_log_at_trx_commit is 3)"
            ),
        ),
        Some(value @ (0 | 2)) => (
            AtRisk(VerdictRemedy::set_setting(
                cluster,
                "innodb_flush_log_at_trx_commit",
                "1",
            )),
            format!(
                "{name} reports commits before it flushes them (innodb_flush_log_at_trx_commit is {value}): a crash can lose {}, \
                 but corrupts nothing",
                crash_loss_text(ask, cluster)
            ),
        ),
        Some(value) => (
            Unproven,
            format!(
                "innodb_flush_log_at_trx_commit is {value}, which is not in walwise's tables for {name}"
            ),
        ),
        None => (
            Unproven,
            format!(
                "it is unknown whether {name} waits for the flush (innodb_flush_log_at_trx_commit)"
            ),
        ),
    };
    sayer.push_evidence(ask, cluster, key, bears, says);
}

fn crash_loss_text(ask: &mut FactReader, cluster: &Subject) -> String {
    match ask.read_and_record_use(cluster, &mysql::FLUSH_LOG_TIMEOUT) {
        // For the value 0 the sentence states no interval: the master thread flushes, and the
        // manuals do not state how often.
        Some(0) | None => "the commits since its last flush".to_owned(),
        Some(seconds) => {
            format!(
                "about the last {seconds} s of commits (innodb_flush_log_at_timeout is {seconds})"
            )
        }
    }
}

fn judge_binlog(ask: &mut FactReader, cluster: &Subject, name: &str, sayer: &mut EvidenceLog) {
    match ask.read_or_record_missing(cluster, &mysql::LOG_BIN) {
        Some(false) => return,
        Some(true) => {}
        None => {
            let says = format!(
                "it is unknown whether {name} writes a binary log; if so, commits depend on it"
            );
            return sayer.push_evidence(ask, cluster, &mysql::LOG_BIN, Unproven, says);
        }
    }
    // MariaDB 12.3 and later can keep the binary log in a storage engine. When the engine flushes
    // the log is unknown.
    let engine = ask.facts.get(cluster, &mysql::BINLOG_ENGINE);
    let in_engine = engine.value().map(|engine| !engine.is_empty());
    let absent = matches!(
        &engine,
        Reading::Unknown {
            why: UnknownReason::Absent,
            ..
        }
    );
    let key = &mysql::SYNC_BINLOG;
    let (bears, says) = match (ask.read_or_record_missing(cluster, key), in_engine) {
        (Some(1), _) => (
            Durable,
            format!("{name} flushes its binary log at each commit (sync_binlog is 1)"),
        ),
        (Some(value), Some(true)) => (
            Unproven,
            format!(
                "sync_binlog is {value}, and a storage engine stores the binary log: it is unknown when the engine flushes it"
            ),
        ),
        (Some(value), None) if !absent => (
            Unproven,
            format!(
                "sync_binlog is {value}, but it is unknown whether a storage engine stores the binary log (binlog_storage_engine)"
            ),
        ),
        (Some(value), _) => {
            let flushes = if value == 0 {
                "leaves flushing its binary log to the kernel".to_owned()
            } else {
                format!("flushes its binary log once every {value} commits or commit groups")
            };
            (
                AtRisk(VerdictRemedy::set_setting(cluster, "sync_binlog", "1")),
                format!(
                    "{name} {flushes} (sync_binlog is {value}): after a crash InnoDB rolls back \
                     commits missing from that log"
                ),
            )
        }
        (None, _) => (
            Unproven,
            format!("it is unknown whether {name} flushes its binary log (sync_binlog)"),
        ),
    };
    sayer.push_evidence(ask, cluster, key, bears, says);
}

/// Adds the evidence about `innodb_flush_method`. Returns true if the method skips all flushes, as
/// `nosync` and `littlesync` do.
fn judge_flush_method(
    ask: &mut FactReader,
    of: &Subject,
    cluster: &Subject,
    name: &str,
    sayer: &mut EvidenceLog,
) -> bool {
    let key = &mysql::FLUSH_METHOD;
    let method = ask.read_or_record_missing(cluster, key);
    let (bears, says) = match method {
        Some(InnodbFlushMethod::Fsync | InnodbFlushMethod::Dsync | InnodbFlushMethod::Direct) => {
            return false;
        }
        Some(method @ (InnodbFlushMethod::Nosync | InnodbFlushMethod::Littlesync)) => (
            AtRisk(reset_flush_method_remedy(cluster)),
            format!(
                "{name} skips flushes (innodb_flush_method is {method}), so a crash can also corrupt its tables"
            ),
        ),
        Some(InnodbFlushMethod::DirectNoFsync) => {
            if !holds_innodb_page_files(ask.facts, of) {
                return false;
            }
            let version = ask.read_and_record_use(cluster, &mysql::VERSION);
            o_direct_no_fsync_evidence(ask, of, cluster, name, version.as_ref())
        }
        None => (
            Unproven,
            format!("it is unknown whether {name} flushes its data files (innodb_flush_method)"),
        ),
    };
    sayer.push_evidence(ask, cluster, key, bears, says);
    method.is_some_and(omits_flushes)
}

fn omits_flushes(method: InnodbFlushMethod) -> bool {
    matches!(
        method,
        InnodbFlushMethod::Nosync | InnodbFlushMethod::Littlesync
    )
}

fn judge_fast_doublewrite(
    ask: &mut FactReader,
    of: &Subject,
    cluster: &Subject,
    name: &str,
    sayer: &mut EvidenceLog,
) {
    let key = &mysql::DOUBLEWRITE;
    let mode = ask.read_and_record_use(cluster, key);
    let (bears, says) = match mode {
        _ if !holds_innodb_page_files(ask.facts, of) => return,
        // If the setting is unknown and pages can be torn, `judge_doublewrite` reports that greater
        // danger, so nothing is added here.
        None if holds_tearable_pages(ask, of) => return,
        None => (
            Unproven,
            format!("it is unknown whether {name} skips flushes (innodb_doublewrite)"),
        ),
        Some(DoublewriteMode::On | DoublewriteMode::Off | DoublewriteMode::DetectOnly) => return,
        Some(DoublewriteMode::Fast) => unflushed_pages_evidence(
            ask.facts,
            of,
            name,
            "innodb_doublewrite is fast",
            VerdictRemedy::set_setting(cluster, "innodb_doublewrite", "on"),
        ),
    };
    sayer.push_evidence(ask, cluster, key, bears, says);
}

fn judge_doublewrite(
    ask: &mut FactReader,
    of: &Subject,
    cluster: &Subject,
    sayer: &mut EvidenceLog,
) {
    let doublewrite = ask.read_and_record_use(cluster, &mysql::DOUBLEWRITE);
    let copies = PageProtection {
        key: &mysql::DOUBLEWRITE,
        enabled: doublewrite
            .map(|mode| matches!(mode, DoublewriteMode::On | DoublewriteMode::Fast)),
        setting_text: format!(
            "innodb_doublewrite is {}",
            doublewrite.map_or("unknown", DoublewriteMode::as_str)
        ),
        remedy: VerdictRemedy::set_setting(cluster, "innodb_doublewrite", "on"),
    };
    judge_page_protection(ask, of, cluster, &copies, sayer);
}

/// True if the target's contents are unknown.
fn holds_innodb_page_files(facts: &FactSet, of: &Subject) -> bool {
    let holds = |role: &DirectoryRole| {
        matches!(
            role,
            DirectoryRole::Data | DirectoryRole::Doublewrite | DirectoryRole::Undo
        )
    };
    facts
        .value(of, &target::ROLES)
        .is_none_or(|roles| roles.iter().any(holds))
}

/// Judges the flush method O_DIRECT_NO_FSYNC, which never flushes data pages. MySQL 5.7.25, 8.0.14
/// and later still flush a file after they create, extend or close the file. In these releases the
/// missing flushes matter only for a cache that flushes of the redo log do not reach.
fn o_direct_no_fsync_evidence(
    ask: &mut FactReader,
    of: &Subject,
    cluster: &Subject,
    name: &str,
    version: Option<&Version>,
) -> (EvidenceImpact, String) {
    let method = "innodb_flush_method is O_DIRECT_NO_FSYNC";
    let fixed = match (name, version) {
        ("MySQL", Some(version)) => {
            let release = version.first_numbers();
            Ternary::from(release >= [8, 0, 14] || ([5, 7, 25]..[8, 0, 0]).contains(&release))
        }
        ("MySQL", None) => Ternary::Unknown,
        _ => {
            return unflushed_pages_evidence(
                ask.facts,
                of,
                name,
                method,
                reset_flush_method_remedy(cluster),
            );
        }
    };
    match fixed {
        Ternary::False => {
            return (
                AtRisk(reset_flush_method_remedy(cluster)),
                format!(
                    "this {name} release never flushes data files, not even after it extends one ({method})"
                ),
            );
        }
        Ternary::Unknown => {
            ask.record_missing_fact(cluster, &mysql::VERSION, None);
            return (
                Unproven,
                format!(
                    "it is unknown whether this {name} release flushes a file after it extends the file ({method})"
                ),
            );
        }
        Ternary::True => {}
    }
    let shared = are_all_disks_shared_with_redo(ask, of, cluster);
    match worst_disk_cache_safety(ask.facts, of) {
        DiskCacheSafety::Safe => (
            Durable,
            format!("{name} does not flush data pages ({method}), and no disk here needs flushes"),
        ),
        DiskCacheSafety::Volatile | DiskCacheSafety::Unknown if shared == Some(true) => (
            Durable,
            format!(
                "{name} does not flush data pages ({method}), but flushing its redo log on the same disks flushes their caches"
            ),
        ),
        DiskCacheSafety::Volatile if shared == Some(false) => (
            AtRisk(reset_flush_method_remedy(cluster)),
            format!(
                "{name} does not flush data pages ({method}), and flushes of its redo log do not reach this disk's volatile cache"
            ),
        ),
        DiskCacheSafety::Volatile => (
            Unproven,
            format!(
                "{name} does not flush data pages ({method}), and it is unknown whether flushes of its redo log reach this disk"
            ),
        ),
        DiskCacheSafety::Unknown => (
            Unproven,
            format!(
                "{name} does not flush data pages ({method}), and it is unknown whether a cache here needs flushes"
            ),
        ),
    }
}

/// Judges data pages that MariaDB does not flush before a checkpoint. MariaDB's developers call
/// this safe on some file systems only (MDEV-33545).
fn unflushed_pages_evidence(
    facts: &FactSet,
    of: &Subject,
    name: &str,
    setting: &str,
    mend: VerdictRemedy,
) -> (EvidenceImpact, String) {
    match worst_disk_cache_safety(facts, of) {
        DiskCacheSafety::Volatile => (
            AtRisk(mend),
            format!(
                "{name} discards redo before it flushes the data pages ({setting}), and a disk here has a volatile write cache"
            ),
        ),
        DiskCacheSafety::Safe | DiskCacheSafety::Unknown => (
            Unproven,
            format!(
                "{name} discards redo before it flushes the data pages ({setting}), which its developers consider safe only on some file systems"
            ),
        ),
    }
}

enum DiskCacheSafety {
    Safe,
    Volatile,
    Unknown,
}

fn worst_disk_cache_safety(facts: &FactSet, of: &Subject) -> DiskCacheSafety {
    let worst = facts
        .bottom_devices(of)
        .iter()
        .map(|leaf| {
            facts
                .value(leaf, &device::CACHE)
                .unwrap_or(CacheVolatility::Unknown)
        })
        .min();
    match worst {
        Some(CacheVolatility::Volatile | CacheVolatility::Contradictory) => {
            DiskCacheSafety::Volatile
        }
        Some(CacheVolatility::Unknown) | None => DiskCacheSafety::Unknown,
        Some(CacheVolatility::Protected | CacheVolatility::None) => DiskCacheSafety::Safe,
    }
}

/// Whether every disk of the target is also a disk of the redo log; `None` if unknown.
fn are_all_disks_shared_with_redo(
    ask: &mut FactReader,
    of: &Subject,
    cluster: &Subject,
) -> Option<bool> {
    let facts = ask.facts;
    let roles = facts.value(of, &target::ROLES)?;
    let named = facts.value(of, &target::CLUSTERS).unwrap_or_default();
    if roles.iter().any(|role| role.is_redo()) && named.len() <= 1 {
        return Some(true);
    }
    let redo = facts.applicable_subject(cluster, Scope::Target)?;
    // Several paths to one disk count as one: a flush through any path empties the disk's cache.
    let (here, there) = (
        facts.distinct_bottom_disks(of),
        facts.distinct_bottom_disks(&redo),
    );
    if here.is_empty() || there.is_empty() {
        return None;
    }
    Some(here.iter().all(|disk| there.contains(disk)))
}

/// The remedy that removes `innodb_flush_method`, because every default of this setting flushes.
fn reset_flush_method_remedy(cluster: &Subject) -> VerdictRemedy {
    VerdictRemedy::new(format!(
        "Remove innodb_flush_method from the option files of the server on {}, and restart it.",
        cluster.name()
    ))
}
