//! MySQL and MariaDB: redo log, binary log, flush method and doublewrite (manuals, InnoDB system
//! variables).
//!
//! After a crash InnoDB rolls back prepared transactions that the binary log lacks.
//! `sync_binlog = 0` can therefore lose commits although the redo log was flushed.

use super::{PageProtection, ServerJudgement, holds_tearable_pages};
use crate::durability::EvidenceImpact::{self, AtRisk, Durable, Unproven};
use crate::durability::VerdictRemedy;
use crate::durability::fact_reader::FactReader;
use crate::facts::catalog::cluster as kind;
use crate::facts::catalog::device::{self, CacheVolatility};
use crate::facts::catalog::mysql::{self, DoublewriteMode, InnodbFlushMethod};
use crate::facts::catalog::target::{self, DirectoryRole};
use crate::facts::{Scope, ServerKind};
use crate::ternary::Ternary;

impl ServerJudgement<'_> {
    pub(super) fn judge_mysql_settings(&mut self) {
        let kind = self.server.read(&kind::KIND);
        self.name = kind.map_or("the server", ServerKind::server_product_name);
        self.judge_redo_log(kind.is_some_and(ServerKind::is_mariadb));
        self.judge_binlog();
        self.judge_flush_method();
        self.judge_fast_doublewrite();
        self.judge_doublewrite();
    }

    fn judge_redo_log(&mut self, is_mariadb: bool) {
        let (server, name, key) = (self.server, self.name, &mysql::FLUSH_LOG);
        let (impact, text) = match server.require(key) {
            Some(1) => (
                Durable,
                format!(
                    "{name} flushes its redo log at each commit (innodb_flush_log_at_trx_commit is 1)"
                ),
            ),
            Some(3) if is_mariadb => (
                Durable,
                format!(
                    "{name} flushes its redo log at each prepare and each commit (innodb_flush_log_at_trx_commit is 3)"
                ),
            ),
            Some(value @ (0 | 2)) => (
                AtRisk(self.set_setting("innodb_flush_log_at_trx_commit", "1")),
                format!(
                    "{name} reports commits before it flushes them (innodb_flush_log_at_trx_commit is {value}): a crash can lose {}, \
                     but corrupts nothing",
                    crash_loss_text(server)
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
        self.push(key, impact, text);
    }

    fn judge_binlog(&mut self) {
        let (server, name) = (self.server, self.name);
        match server.require(&mysql::LOG_BIN) {
            Some(false) => return,
            Some(true) => {}
            None => {
                let text = format!(
                    "it is unknown whether {name} writes a binary log; if so, commits depend on it"
                );
                return self.push(&mysql::LOG_BIN, Unproven, text);
            }
        }
        // MariaDB 12.3 and later can keep the binary log in a storage engine. When the engine
        // flushes the log is unknown.
        let engine = server.facts.get(server.subject, &mysql::BINLOG_ENGINE);
        let in_engine = engine.value().map(|engine| !engine.is_empty());
        let key = &mysql::SYNC_BINLOG;
        let (impact, text) = match (server.require(key), in_engine) {
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
            (Some(value), None) if !engine.is_absent() => (
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
                    AtRisk(self.set_setting("sync_binlog", "1")),
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
        self.push(key, impact, text);
    }

    /// The methods `nosync` and `littlesync` skip all flushes.
    fn judge_flush_method(&mut self) {
        let (server, name, key) = (self.server, self.name, &mysql::FLUSH_METHOD);
        let (impact, text) = match server.require(key) {
            Some(
                InnodbFlushMethod::Fsync | InnodbFlushMethod::Dsync | InnodbFlushMethod::Direct,
            ) => return,
            Some(method @ (InnodbFlushMethod::Nosync | InnodbFlushMethod::Littlesync)) => {
                self.disables_flush = true;
                (
                    AtRisk(reset_flush_method_remedy(server)),
                    format!(
                        "{name} skips flushes (innodb_flush_method is {method}), so a crash can also corrupt its tables"
                    ),
                )
            }
            Some(InnodbFlushMethod::DirectNoFsync) => {
                if !holds_innodb_page_files(self.target) {
                    return;
                }
                self.o_direct_no_fsync_evidence()
            }
            None => (
                Unproven,
                format!(
                    "it is unknown whether {name} flushes its data files (innodb_flush_method)"
                ),
            ),
        };
        self.push(key, impact, text);
    }

    fn judge_fast_doublewrite(&mut self) {
        let (target, name, key) = (self.target, self.name, &mysql::DOUBLEWRITE);
        let (impact, text) = match self.server.read(key) {
            _ if !holds_innodb_page_files(target) => return,
            // If the setting is unknown and pages can be torn, `judge_doublewrite` reports that
            // greater danger, so nothing is added here.
            None if holds_tearable_pages(target) => return,
            None => (
                Unproven,
                format!("it is unknown whether {name} skips flushes (innodb_doublewrite)"),
            ),
            Some(DoublewriteMode::On | DoublewriteMode::Off | DoublewriteMode::DetectOnly) => {
                return;
            }
            Some(DoublewriteMode::Fast) => {
                let remedy = self.set_setting("innodb_doublewrite", "on");
                self.unflushed_pages_evidence("innodb_doublewrite is fast", remedy)
            }
        };
        self.push(key, impact, text);
    }

    fn judge_doublewrite(&mut self) {
        let doublewrite = self.server.read(&mysql::DOUBLEWRITE);
        self.judge_page_protection(&PageProtection {
            key: &mysql::DOUBLEWRITE,
            enabled: doublewrite
                .map(|mode| matches!(mode, DoublewriteMode::On | DoublewriteMode::Fast)),
            setting_text: format!(
                "innodb_doublewrite is {}",
                doublewrite.map_or("unknown", DoublewriteMode::as_str)
            ),
            remedy: self.set_setting("innodb_doublewrite", "on"),
        });
    }

    /// Judges the flush method O_DIRECT_NO_FSYNC, which never flushes data pages. MySQL 5.7.25,
    /// 8.0.14 and later still flush a file after they create, extend or close the file. In these
    /// releases the missing flushes matter only for a cache that flushes of the redo log do not
    /// reach.
    fn o_direct_no_fsync_evidence(&self) -> (EvidenceImpact, String) {
        let (server, name) = (self.server, self.name);
        let method = "innodb_flush_method is O_DIRECT_NO_FSYNC";
        let remedy = reset_flush_method_remedy(server);
        let version = server.read(&mysql::VERSION);
        if name != "MySQL" {
            return self.unflushed_pages_evidence(method, remedy);
        }
        let Some(version) = version else {
            server.record_missing(&mysql::VERSION, None);
            let text = format!(
                "it is unknown whether this {name} release flushes a file after it extends the file ({method})"
            );
            return (Unproven, text);
        };
        let release = version.first_numbers();
        if release < [5, 7, 25] || ([8, 0, 0]..[8, 0, 14]).contains(&release) {
            let text = format!(
                "this {name} release never flushes data files, not even after it extends one ({method})"
            );
            return (AtRisk(remedy), text);
        }
        let shared = self.are_all_disks_shared_with_redo();
        let (impact, why) = match are_unflushed_writes_safe(self.target) {
            Ternary::True => (Durable, ", and no disk here needs flushes"),
            Ternary::False | Ternary::Unknown if shared == Some(true) => (
                Durable,
                ", but flushing its redo log on the same disks flushes their caches",
            ),
            Ternary::False if shared == Some(false) => (
                AtRisk(remedy),
                ", and flushes of its redo log do not reach this disk's volatile cache",
            ),
            Ternary::False => (
                Unproven,
                ", and it is unknown whether flushes of its redo log reach this disk",
            ),
            Ternary::Unknown => (
                Unproven,
                ", and it is unknown whether a cache here needs flushes",
            ),
        };
        let text = format!("{name} does not flush data pages ({method}){why}");
        (impact, text)
    }

    /// Judges data pages that MariaDB does not flush before a checkpoint. MariaDB's developers call
    /// this safe on some file systems only (MDEV-33545).
    fn unflushed_pages_evidence(
        &self,
        setting: &str,
        remedy: VerdictRemedy,
    ) -> (EvidenceImpact, String) {
        let (impact, why) = match are_unflushed_writes_safe(self.target) {
            Ternary::False => (AtRisk(remedy), "and a disk here has a volatile write cache"),
            Ternary::True | Ternary::Unknown => (
                Unproven,
                "which its developers consider safe only on some file systems",
            ),
        };
        let name = self.name;
        let text =
            format!("{name} discards redo before it flushes the data pages ({setting}), {why}");
        (impact, text)
    }

    /// Whether every disk of the target is also a disk of the redo log; `None` if unknown.
    fn are_all_disks_shared_with_redo(&self) -> Option<bool> {
        let FactReader { facts, subject, .. } = self.target;
        let roles = facts.value(subject, &target::ROLES)?;
        let named = facts.value(subject, &target::CLUSTERS).unwrap_or_default();
        if roles.iter().any(|role| role.is_redo()) && named.len() <= 1 {
            return Some(true);
        }
        let redo = facts.applicable_subject(self.server.subject, Scope::Target)?;
        // Several paths to one disk count as one: a flush through any path empties the disk's
        // cache.
        let (here, there) = (
            facts.distinct_bottom_disks(subject),
            facts.distinct_bottom_disks(&redo),
        );
        if here.is_empty() || there.is_empty() {
            return None;
        }
        Some(here.iter().all(|disk| there.contains(disk)))
    }
}

fn crash_loss_text(server: FactReader) -> String {
    match server.read(&mysql::FLUSH_LOG_TIMEOUT) {
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

/// Whether the target holds files with InnoDB pages; true if its contents are unknown.
fn holds_innodb_page_files(target: FactReader) -> bool {
    let holds = |role: &DirectoryRole| {
        matches!(
            role,
            DirectoryRole::Data | DirectoryRole::Doublewrite | DirectoryRole::Undo
        )
    };
    target
        .facts
        .value(target.subject, &target::ROLES)
        .is_none_or(|roles| roles.iter().any(holds))
}

/// Whether no disk of the target loses writes that are not flushed; unknown without a disk, or if
/// the state of a cache is unknown and no disk is known to lose writes.
fn are_unflushed_writes_safe(target: FactReader) -> Ternary {
    let FactReader { facts, subject, .. } = target;
    let worst = facts
        .bottom_devices(subject)
        .iter()
        .map(|disk| {
            facts
                .value(disk, &device::CACHE)
                .unwrap_or(CacheVolatility::Unknown)
        })
        .min();
    match worst {
        Some(CacheVolatility::Volatile | CacheVolatility::Contradictory) => Ternary::False,
        Some(CacheVolatility::Unknown) | None => Ternary::Unknown,
        Some(CacheVolatility::Protected | CacheVolatility::None) => Ternary::True,
    }
}

/// The remedy that removes `innodb_flush_method`, because every default of this setting flushes.
fn reset_flush_method_remedy(server: FactReader) -> VerdictRemedy {
    VerdictRemedy::new(format!(
        "Remove innodb_flush_method from the option files of the server on {}, and restart it.",
        server.name()
    ))
}
