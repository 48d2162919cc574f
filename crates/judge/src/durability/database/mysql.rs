//! MySQL and MariaDB: InnoDB's redo log, the binary log, and flush methods that do not flush (MySQL
//! manual, innodb_flush_log_at_trx_commit, sync_binlog, innodb_flush_method, innodb_doublewrite;
//! MariaDB documentation, InnoDB System Variables).
//!
//! With a binary log a commit is only as safe as that log. After a crash InnoDB rolls back prepared
//! transactions that the binary log lacks, so `sync_binlog = 0` loses commits although the redo log
//! was flushed.

use super::sayer::{Sayer, preloaded};
use super::torn::{self, Copies};
use crate::durability::Bears::{AtRisk, Durable, Unproven};
use crate::durability::ask::Ask;
use crate::durability::{Bears, Mend};
use crate::facts::catalog::cluster as kind;
use crate::facts::catalog::device::{self, Cache};
use crate::facts::catalog::mysql::{self, Doublewrite, FlushMethod};
use crate::facts::catalog::target::{self, Role};
use crate::facts::{FactSet, Reading, Scope, ServerKind, Subject, Why};
use crate::truth::Truth;
use crate::version::Version;

/// The evidence in the settings for a target, and whether they turn flushes off altogether.
pub fn judge(ask: &mut Ask, of: &Subject, cluster: &Subject, sayer: &mut Sayer) -> bool {
    let line = ask.value(cluster, &kind::KIND);
    let name = line.map_or("the server", ServerKind::name);
    redo(ask, cluster, name, sayer);
    binlog(ask, cluster, name, sayer);
    let off = method(ask, of, cluster, name, sayer);
    fast_doublewrite(ask, of, cluster, name, sayer);
    torn_pages(ask, of, cluster, sayer);
    preloaded(ask, cluster, name, sayer) || off
}

fn redo(ask: &mut Ask, cluster: &Subject, name: &str, sayer: &mut Sayer) {
    let key = &mysql::FLUSH_LOG;
    let mariadb = ask
        .value(cluster, &kind::KIND)
        .is_some_and(ServerKind::is_mariadb);
    let (bears, says) = match ask.need(cluster, key) {
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
            AtRisk(set(cluster, "innodb_flush_log_at_trx_commit", "1")),
            format!(
                "{name} reports commits before it flushes them (innodb_flush_log_at_trx_commit is {value}): {}, though \
                 nothing is corrupted",
                unflushed_commits(ask, cluster)
            ),
        ),
        Some(value) => (
            Unproven,
            format!(
                "innodb_flush_log_at_trx_commit is {value}, which walwise does not know of {name}"
            ),
        ),
        None => (
            Unproven,
            format!(
                "it is unknown whether {name} waits for the flush (innodb_flush_log_at_trx_commit)"
            ),
        ),
    };
    sayer.say(ask, cluster, key, bears, says);
}

/// The commits that a crash loses where none waits for its flush.
fn unflushed_commits(ask: &mut Ask, cluster: &Subject) -> String {
    match ask.value(cluster, &mysql::FLUSH_LOG_TIMEOUT) {
        // Zero is as often as the server's master thread comes round, which nothing here says.
        Some(0) | None => "the commits since its last flush".to_owned(),
        Some(seconds) => {
            format!(
                "about the last {seconds} s of commits (innodb_flush_log_at_timeout is {seconds})"
            )
        }
    }
}

fn binlog(ask: &mut Ask, cluster: &Subject, name: &str, sayer: &mut Sayer) {
    match ask.need(cluster, &mysql::LOG_BIN) {
        Some(false) => return,
        Some(true) => {}
        None => {
            let says = format!(
                "it is unknown whether {name} keeps a binary log, which commits then depend on"
            );
            return sayer.say(ask, cluster, &mysql::LOG_BIN, Unproven, says);
        }
    }
    // From 12.3 on MariaDB can keep the binary log in an engine, whose own log is then flushed.
    let engine = ask.facts.get(cluster, &mysql::BINLOG_ENGINE);
    let in_engine = engine.value().map(|engine| !engine.is_empty());
    let absent = matches!(
        &engine,
        Reading::Unknown {
            why: Why::Absent,
            ..
        }
    );
    let key = &mysql::SYNC_BINLOG;
    let (bears, says) = match (ask.need(cluster, key), in_engine) {
        (Some(1), _) => (
            Durable,
            format!("{name} flushes its binary log at each commit (sync_binlog is 1)"),
        ),
        (Some(value), Some(true)) => (
            Unproven,
            format!(
                "sync_binlog is {value}, and the binary log is kept in an engine: it is unknown what that flushes"
            ),
        ),
        (Some(value), None) if !absent => (
            Unproven,
            format!(
                "sync_binlog is {value}, and it is unknown whether the binary log is kept in an engine"
            ),
        ),
        (Some(value), _) => {
            let when = if value == 0 {
                "whenever the kernel does".to_owned()
            } else {
                format!("once every {value} commits or groups of commits")
            };
            (
                AtRisk(set(cluster, "sync_binlog", "1")),
                format!(
                    "{name} flushes its binary log {when} (sync_binlog is {value}): after a crash InnoDB rolls back the \
                     commits that this log does not hold"
                ),
            )
        }
        (None, _) => (
            Unproven,
            format!("it is unknown whether {name} flushes its binary log (sync_binlog)"),
        ),
    };
    sayer.say(ask, cluster, key, bears, says);
}

/// Judges the flush method; returns whether it omits flushes everywhere.
fn method(ask: &mut Ask, of: &Subject, cluster: &Subject, name: &str, sayer: &mut Sayer) -> bool {
    let key = &mysql::FLUSH_METHOD;
    let method = ask.need(cluster, key);
    let (bears, says) = match method {
        Some(FlushMethod::Fsync | FlushMethod::Dsync | FlushMethod::Direct) => return false,
        Some(method @ (FlushMethod::Nosync | FlushMethod::Littlesync)) => (
            AtRisk(default_method(cluster)),
            format!(
                "{name} skips flushes (innodb_flush_method is {method}), so a crash can also corrupt its tables"
            ),
        ),
        Some(FlushMethod::DirectNoFsync) => {
            if !holds_pages(ask.facts, of) {
                return false;
            }
            let version = ask.value(cluster, &mysql::VERSION);
            no_fsync(ask, of, cluster, name, version.as_ref())
        }
        None => (
            Unproven,
            format!("it is unknown whether {name} flushes its data files (innodb_flush_method)"),
        ),
    };
    sayer.say(ask, cluster, key, bears, says);
    method.is_some_and(leaves_flushes_out)
}

fn leaves_flushes_out(method: FlushMethod) -> bool {
    matches!(method, FlushMethod::Nosync | FlushMethod::Littlesync)
}

/// Judges MariaDB's doublewrite mode that omits the flush of data files before a checkpoint.
fn fast_doublewrite(ask: &mut Ask, of: &Subject, cluster: &Subject, name: &str, sayer: &mut Sayer) {
    let key = &mysql::DOUBLEWRITE;
    let mode = ask.value(cluster, key);
    let (bears, says) = match mode {
        _ if !holds_pages(ask.facts, of) => return,
        // Torn pages are the graver finding where the setting is unknown.
        None if torn::may_tear(ask, of) => return,
        None => (
            Unproven,
            format!("it is unknown whether {name} skips flushes (innodb_doublewrite)"),
        ),
        Some(Doublewrite::On | Doublewrite::Off | Doublewrite::DetectOnly) => return,
        Some(Doublewrite::Fast) => unflushed_pages(
            ask.facts,
            of,
            name,
            "innodb_doublewrite is fast",
            set(cluster, "innodb_doublewrite", "on"),
        ),
    };
    sayer.say(ask, cluster, key, bears, says);
}

/// Judges pages that a power failure tears.
fn torn_pages(ask: &mut Ask, of: &Subject, cluster: &Subject, sayer: &mut Sayer) {
    let doublewrite = ask.value(cluster, &mysql::DOUBLEWRITE);
    let copies = Copies {
        key: &mysql::DOUBLEWRITE,
        kept: doublewrite.map(|mode| matches!(mode, Doublewrite::On | Doublewrite::Fast)),
        reads: format!(
            "innodb_doublewrite is {}",
            doublewrite.map_or("not known", Doublewrite::word)
        ),
        mend: set(cluster, "innodb_doublewrite", "on"),
    };
    torn::judge(ask, of, cluster, &copies, sayer);
}

/// Whether data pages lie here; true also where the contents are unknown.
fn holds_pages(facts: &FactSet, of: &Subject) -> bool {
    let holds = |role: &Role| matches!(role, Role::Data | Role::Doublewrite | Role::Undo);
    facts
        .value(of, &target::ROLES)
        .is_none_or(|roles| roles.iter().any(holds))
}

/// Judges O_DIRECT_NO_FSYNC. Since 5.7.25 and 8.0.14 MySQL flushes after creating, extending and
/// closing a file. The omitted flushes then matter only for a cache that no flush of the redo log
/// reaches.
fn no_fsync(
    ask: &mut Ask,
    of: &Subject,
    cluster: &Subject,
    name: &str,
    version: Option<&Version>,
) -> (Bears, String) {
    let method = "innodb_flush_method is O_DIRECT_NO_FSYNC";
    let fixed = match (name, version) {
        ("MySQL", Some(version)) => {
            let release = [version.number(0), version.number(1), version.number(2)];
            Truth::from(release >= [8, 0, 14] || ([5, 7, 25]..[8, 0, 0]).contains(&release))
        }
        ("MySQL", None) => Truth::Unknown,
        _ => return unflushed_pages(ask.facts, of, name, method, default_method(cluster)),
    };
    match fixed {
        Truth::False => {
            return (
                AtRisk(default_method(cluster)),
                format!(
                    "{name} of this release never flushes data files, not even their sizes ({method})"
                ),
            );
        }
        Truth::Unknown => {
            ask.miss(cluster, &mysql::VERSION, None);
            return (
                Unproven,
                format!(
                    "it is unknown whether {name} of this release flushes the sizes of its files ({method})"
                ),
            );
        }
        Truth::True => {}
    }
    let shared = shares_disks(ask, of, cluster);
    match caches(ask.facts, of) {
        CacheSafety::Safe => (
            Durable,
            format!("{name} flushes no data pages ({method}), and no disk here needs it"),
        ),
        CacheSafety::Volatile | CacheSafety::Unknown if shared == Some(true) => (
            Durable,
            format!(
                "{name} flushes no data pages ({method}), but its redo log, on the same disks, flushes for both"
            ),
        ),
        CacheSafety::Volatile if shared == Some(false) => (
            AtRisk(default_method(cluster)),
            format!(
                "{name} flushes no data pages ({method}), and the redo log's flushes do not reach the volatile cache here"
            ),
        ),
        CacheSafety::Volatile => (
            Unproven,
            format!(
                "{name} flushes no data pages ({method}), and it is unknown whether the redo log's flushes reach this disk"
            ),
        ),
        CacheSafety::Unknown => (
            Unproven,
            format!(
                "{name} flushes no data pages ({method}), and it is unknown whether a cache here needs it"
            ),
        ),
    }
}

/// Data pages that MariaDB does not flush before a checkpoint; according to its author that may or
/// may not be safe (MDEV-33545).
fn unflushed_pages(
    facts: &FactSet,
    of: &Subject,
    name: &str,
    setting: &str,
    mend: Mend,
) -> (Bears, String) {
    match caches(facts, of) {
        CacheSafety::Volatile => (
            AtRisk(mend),
            format!(
                "{name} discards redo before flushing the data pages ({setting}), and a disk here caches writes in a volatile cache"
            ),
        ),
        CacheSafety::Safe | CacheSafety::Unknown => (
            Unproven,
            format!(
                "{name} discards redo before flushing the data pages ({setting}), which its developers call safe on some file systems only"
            ),
        ),
    }
}

enum CacheSafety {
    Safe,
    Volatile,
    Unknown,
}

fn caches(facts: &FactSet, of: &Subject) -> CacheSafety {
    let worst = facts
        .leaves(of)
        .iter()
        .map(|leaf| facts.value(leaf, &device::CACHE).unwrap_or(Cache::Unknown))
        .min();
    match worst {
        Some(Cache::Volatile | Cache::Contradictory) => CacheSafety::Volatile,
        Some(Cache::Unknown) | None => CacheSafety::Unknown,
        Some(Cache::Protected | Cache::None) => CacheSafety::Safe,
    }
}

/// Whether every disk here is also a disk of the redo log.
fn shares_disks(ask: &mut Ask, of: &Subject, cluster: &Subject) -> Option<bool> {
    let facts = ask.facts;
    let roles = facts.value(of, &target::ROLES)?;
    let named = facts.value(of, &target::CLUSTERS).unwrap_or_default();
    if roles.iter().any(|role| role.is_redo()) && named.len() <= 1 {
        return Some(true);
    }
    // The server is linked from the mount of its redo log.
    let redo = facts.resolve(cluster, Scope::Target)?;
    // A flush through one path empties the cache that all paths to a unit share.
    let (here, there) = (facts.disks(of), facts.disks(&redo));
    if here.is_empty() || there.is_empty() {
        return None;
    }
    Some(here.iter().all(|disk| there.contains(disk)))
}

fn set(cluster: &Subject, setting: &'static str, value: &'static str) -> Mend {
    Mend::Set {
        setting,
        value,
        server: cluster.clone(),
    }
}

/// Every default of the flush method flushes.
fn default_method(cluster: &Subject) -> Mend {
    Mend::LeaveOut {
        setting: "innodb_flush_method",
        server: cluster.clone(),
    }
}
