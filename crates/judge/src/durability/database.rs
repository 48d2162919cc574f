//! The database layer: whether the server flushes before it reports a commit.
//!
//! Without a server there is no evidence, and the verdict holds for any database that flushes. A
//! preloaded library such as libeatmydata can turn fsync into a no-op without any setting.

mod mysql;

use super::EvidenceImpact::{self, AtRisk, Durable, Unproven};
use super::fact_reader::{FactDependencies, FactReader};
use super::page_atomicity::{self, AtomicityBasis};
use super::{Evidence, EvidenceLayer, VerdictRemedy};
use crate::facts::catalog::postgres::{self, SynchronousCommit, SynchronousCommitOverride};
use crate::facts::catalog::target::{self, DirectoryRole};
use crate::facts::{
    DatabaseProfile, FactSet, FactValue, Key, Reading, Scope, ServerArea, Source, Subject,
};
use crate::ternary::Ternary;
use crate::text;

pub fn clusters_on_target(facts: &FactSet, of: &Subject) -> Vec<Subject> {
    let linked = facts.applicable_subject(of, Scope::Cluster);
    let named = facts.value(of, &target::CLUSTERS).unwrap_or_default();
    let lies_here = |cluster: &&Subject| {
        facts.applicable_subject(cluster, Scope::Target).as_ref() == Some(of)
            || named.iter().any(|name| name == cluster.name())
    };
    let others = facts
        .subjects_of_scope(Scope::Cluster)
        .filter(lies_here)
        .cloned();
    let mut all: Vec<Subject> = linked.into_iter().chain(others).collect();
    all.sort();
    all.dedup();
    all
}

/// The evidence from the settings of one server for one target.
pub struct ServerJudgement<'a> {
    target: FactReader<'a>,
    server: FactReader<'a>,
    /// Name of the product.
    name: &'static str,
    /// Whether the settings disable every flush.
    pub disables_flush: bool,
    pub evidence: Vec<Evidence>,
    pub exceptions: DeviatingSessions,
    /// Consequences for commits if this host is lost, as sentences. Empty if no standby is
    /// configured or a needed setting is unknown.
    pub host_loss: String,
}

pub fn judge_cluster<'a>(target: FactReader<'a>, cluster: &'a Subject) -> ServerJudgement<'a> {
    let mut judged = ServerJudgement {
        target,
        server: target.for_subject(cluster),
        name: "PostgreSQL",
        disables_flush: false,
        evidence: Vec::new(),
        exceptions: DeviatingSessions::empty(),
        host_loss: String::new(),
    };
    match target.facts.server_area_of(cluster) {
        Some(ServerArea::Mysql) => judged.judge_mysql_settings(),
        Some(ServerArea::Pg) | None => judged.judge_postgres_settings(),
    }
    judged.judge_preloaded_library();
    judged
}

#[derive(Clone, Debug)]
pub struct DeviatingSessions {
    /// One line for each database or role with another setting:
    /// `database app: synchronous_commit = off`.
    pub texts: Vec<String>,
    /// Databases and roles whose sessions may lose commits, although the server's default keeps
    /// them: `database app`.
    pub losing: Reading<Vec<String>>,
}

impl DeviatingSessions {
    pub fn empty() -> Self {
        Self {
            texts: Vec::new(),
            losing: Reading::known(Vec::new(), FactDependencies::default().source()),
        }
    }

    /// Adds the sessions of another server. `losing` becomes unknown if it is unknown for
    /// either server.
    pub fn merge(&mut self, other: Self) {
        self.texts.extend(other.texts);
        self.losing = self.losing.clone().and_then_reading(|ours, _| {
            other
                .losing
                .map(|theirs| ours.into_iter().chain(theirs).collect())
        });
    }
}

// Evidence from fsync, synchronous_commit and full_page_writes (PostgreSQL manual,
// *Reliability and the Write-Ahead Log*).

impl ServerJudgement<'_> {
    fn push<T>(&mut self, key: &Key<T>, impact: EvidenceImpact, text: impl Into<String>) {
        let evidence = self
            .server
            .evidence(EvidenceLayer::Database, key, impact, text.into());
        self.evidence.push(evidence);
    }

    fn set_setting(&self, setting: &str, value: &str) -> VerdictRemedy {
        VerdictRemedy::set_setting(self.server.name(), setting, value)
    }

    fn judge_postgres_settings(&mut self) {
        let server = self.server;
        let fsync = server.require(&postgres::FSYNC);
        self.disables_flush = fsync == Some(false);
        let (impact, text) = match fsync {
            Some(true) => (Durable, "PostgreSQL flushes its WAL (fsync is on)"),
            Some(false) => (
                AtRisk(self.set_setting("fsync", "on")),
                "PostgreSQL flushes nothing (fsync is off), so a crash can also corrupt the cluster",
            ),
            None => (Unproven, "it is unknown whether PostgreSQL flushes (fsync)"),
        };
        self.push(&postgres::FSYNC, impact, text);

        let commit = server.require(&postgres::SYNCHRONOUS_COMMIT);
        let (impact, text) = match commit {
            Some(SynchronousCommit::Off) => (
                AtRisk(self.set_setting("synchronous_commit", "on")),
                format!(
                    "PostgreSQL reports commits before it flushes them (synchronous_commit is off): a crash can lose {}, \
                     but corrupts nothing",
                    postgres_crash_loss_text(server)
                ),
            ),
            Some(
                value @ (SynchronousCommit::On
                | SynchronousCommit::Local
                | SynchronousCommit::RemoteWrite
                | SynchronousCommit::RemoteApply),
            ) => (
                Durable,
                format!(
                    "PostgreSQL reports a commit after its flush (synchronous_commit is {value})"
                ),
            ),
            None => (
                Unproven,
                "it is unknown whether PostgreSQL waits for the flush (synchronous_commit)"
                    .to_owned(),
            ),
        };
        self.push(&postgres::SYNCHRONOUS_COMMIT, impact, text);

        self.judge_synchronous_commit_overrides(commit);
        self.host_loss = standby_guarantee_sentences(server, commit);
        self.judge_page_protection(&PageProtection {
            key: &postgres::FULL_PAGE_WRITES,
            enabled: server.read(&postgres::FULL_PAGE_WRITES),
            setting_text: "full_page_writes is off".to_owned(),
            remedy: self.set_setting("full_page_writes", "on"),
        });
    }

    fn judge_preloaded_library(&mut self) {
        let (server, name) = (self.server, self.name);
        let DatabaseProfile {
            fsync_disabled_by: preload,
            running,
            ..
        } = server.facts.database_profile_or_postgres(server.subject);
        let running = server.read(running);
        match server.read(preload).as_deref() {
            Some("" | "none") => {}
            Some(library) => {
                let text = format!("{library}, preloaded into {name}, disables its flushes");
                let remedy = VerdictRemedy::new(format!(
                    "Start the server on {} without {library}.",
                    server.name()
                ));
                self.push(preload, AtRisk(remedy), text);
                self.disables_flush = true;
            }
            None if running == Some(false) => {}
            None => {
                server.record_missing(preload, None);
                let text = format!(
                    "it is unknown whether a preloaded library disables the flushes of {name}"
                );
                self.push(preload, Unproven, text);
            }
        }
    }
}

/// Extent of the loss in a crash if commits do not wait for the flush (PostgreSQL manual,
/// *Asynchronous Commit*). On a running server the default delay is not trusted, because the
/// server did not report the setting.
fn postgres_crash_loss_text(server: FactReader) -> String {
    let key = &postgres::WAL_WRITER_DELAY;
    let is_default = matches!(server.reading(key).source(), Some(Source::Default { .. }));
    let is_guess = is_default && server.read(&postgres::RUNNING) == Some(true);
    match server.read(key).filter(|_| !is_guess) {
        Some(delay) => {
            format!(
                "up to the last {} of commits (three times wal_writer_delay)",
                text::format_micros(3.0 * delay)
            )
        }
        None => "the commits of up to three wal_writer_delay intervals".to_owned(),
    }
}

// Torn pages: a server that overwrites pages without keeping a copy cannot repair a
// half-written one.
//
// Only ZFS with large enough records needs no copy. A battery, an atomic write size or
// data=journal is not enough. If only a provider's documentation rules out torn pages, the
// verdict is *unproven*.

struct PageProtection<'k, T> {
    pub key: &'k Key<T>,
    pub enabled: Option<bool>,
    pub setting_text: String,
    pub remedy: VerdictRemedy,
}

/// Whether the target holds files whose pages can be torn; true if the target's contents are
/// unknown.
pub fn holds_tearable_pages(target: FactReader) -> bool {
    let holds = |role: &DirectoryRole| {
        matches!(
            role,
            DirectoryRole::Data | DirectoryRole::Tablespace | DirectoryRole::Undo
        )
    };
    target
        .read(&target::ROLES)
        .is_none_or(|roles| roles.iter().any(holds))
}

impl ServerJudgement<'_> {
    fn judge_page_protection<T: FactValue>(&mut self, copies: &PageProtection<'_, T>) {
        let PageProtection {
            key,
            enabled,
            setting_text: reads,
            remedy,
        } = copies;
        if *enabled == Some(true) || !holds_tearable_pages(self.target) {
            return;
        }
        if enabled.is_none() {
            self.server.record_missing(key, None);
            let text = format!(
                "it is unknown whether a torn page can be repaired ({})",
                key.name()
            );
            return self.push(key, Unproven, text);
        }
        let lost = format!("a page torn by a power failure cannot be repaired ({reads})");
        let basis = page_atomicity::page_atomicity_basis(self.target, self.server.subject);
        let (impact, text) = match basis {
            AtomicityBasis::NeverOverwritten => (
                Durable,
                format!("ZFS writes pages atomically here, so none can be torn ({reads})"),
            ),
            AtomicityBasis::Unknown(why, _) => (Unproven, format!("{lost}, and {why}")),
            AtomicityBasis::Chain(links) => match page_atomicity::chain_holds(&links) {
                Ternary::True => (
                    Unproven,
                    format!("only Amazon's documentation rules out torn pages here ({reads})"),
                ),
                Ternary::Unknown | Ternary::False => (
                    AtRisk(remedy.clone()),
                    format!("{lost}, so committed data on that page is lost"),
                ),
            },
        };
        self.push(key, impact, text);
    }

    // PostgreSQL sessions with their own `synchronous_commit`, set per database or role (*ALTER
    // DATABASE*, *ALTER ROLE*).
    //
    // The server's value decides the verdict. Deviating sessions are only listed, because any role
    // may change the value for its sessions.

    fn judge_synchronous_commit_overrides(&mut self, instance: Option<SynchronousCommit>) {
        let (server, key) = (self.server, &postgres::COMMIT_OVERRIDES);
        let Some(overrides) = server.read(key) else {
            let runs = server.read(&postgres::RUNNING) != Some(false);
            if runs && instance.is_some_and(waits_for_flush) {
                server.record_missing(key, None);
                self.push(
                    key,
                    Unproven,
                    "it is unknown whether a database or a role turns synchronous_commit off",
                );
            }
            self.exceptions.losing = server.reading(key).as_ref().map(|_| Vec::new());
            return;
        };
        let differs = |one: &&SynchronousCommitOverride| {
            instance.is_none_or(waits_for_flush) != waits_for_flush(one.value)
        };
        let different: Vec<&SynchronousCommitOverride> = overrides.iter().filter(differs).collect();
        let lose = different
            .iter()
            .filter(|one| !waits_for_flush(one.value))
            .map(|one| one.owner.clone());
        let source = server.dependencies.borrow().source();
        self.exceptions = DeviatingSessions {
            losing: Reading::known(lose.collect(), source),
            texts: different.into_iter().map(override_text).collect(),
        };
    }
}

fn override_text(one: &SynchronousCommitOverride) -> String {
    format!("{}: synchronous_commit = {}", one.owner, one.value)
}

fn waits_for_flush(value: SynchronousCommit) -> bool {
    matches!(
        value,
        SynchronousCommit::On
            | SynchronousCommit::Local
            | SynchronousCommit::RemoteWrite
            | SynchronousCommit::RemoteApply
    )
}

/// Guarantee of a standby if this host is lost, as sentences. Empty if no standby is configured or
/// a needed setting is unknown.
fn standby_guarantee_sentences(server: FactReader, instance: Option<SynchronousCommit>) -> String {
    let standbys = server
        .read(&postgres::STANDBYS)
        .filter(|standbys| *standbys > 0);
    let (Some(standbys), Some(value)) = (standbys, instance) else {
        return String::new();
    };
    // Without WAL senders no commit waits for a standby (`SyncRepRequested` in syncrep.h), whatever
    // `synchronous_commit` is.
    match server.read(&postgres::MAX_WAL_SENDERS) {
        Some(1..) => {}
        Some(0) => {
            return "The last commits may be lost if this host is lost: max_wal_senders = 0, so commits do not wait for a standby."
            .to_owned();
        }
        None => return String::new(),
    }
    let overrides = server.read(&postgres::COMMIT_OVERRIDES).unwrap_or_default();
    let weaker: Vec<String> = overrides
        .iter()
        .filter(|one| standby_wait(one.value) < standby_wait(value))
        .map(override_text)
        .collect();
    let but = if weaker.is_empty() {
        String::new()
    } else {
        format!(" Exceptions: {}.", weaker.join("; "))
    };
    let (by, has) = if standbys == 1 {
        ("a standby".to_owned(), "has")
    } else {
        (format!("{standbys} standbys"), "have")
    };
    let sentence = match value {
        SynchronousCommit::On => {
            format!(
                "As configured (not observed), a commit survives the loss of this host once {by} {has} flushed it."
            )
        }
        SynchronousCommit::RemoteApply => format!(
            "As configured (not observed), a commit survives the loss of this host once {by} {has} flushed and applied it."
        ),
        SynchronousCommit::RemoteWrite => {
            let crash = if standbys == 1 { "crashes" } else { "crash" };
            format!(
                "As configured (not observed), a commit survives the loss of this host unless {by} also {crash}. The commit waits for the write there, not for the flush."
            )
        }
        SynchronousCommit::Local | SynchronousCommit::Off => format!(
            "The last commits may be lost if this host is lost: synchronous_commit = {value} does not wait for a standby."
        ),
    };
    sentence + &but
}

/// The event on a standby that a commit waits for, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StandbyWait {
    Nothing,
    Write,
    Flush,
}

fn standby_wait(value: SynchronousCommit) -> StandbyWait {
    match value {
        SynchronousCommit::Off | SynchronousCommit::Local => StandbyWait::Nothing,
        SynchronousCommit::RemoteWrite => StandbyWait::Write,
        SynchronousCommit::On | SynchronousCommit::RemoteApply => StandbyWait::Flush,
    }
}
