//! The database layer: whether the server flushes before it reports a commit.
//!
//! Without a server there is no evidence, and the verdict holds for any database that flushes. A
//! preloaded library such as libeatmydata can turn fsync into a no-op without any setting.

mod mysql;

use super::Evidence;
use super::fact_reader::FactReader;
use crate::durability::EvidenceImpact::{self, AtRisk, Durable, Unproven};
use crate::durability::page_atomicity::{self, AtomicityBasis};
use crate::durability::{EvidenceLayer, VerdictRemedy};
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

pub struct ClusterJudgement {
    pub disables_flush: bool,
    pub evidence: Vec<Evidence>,
    pub exceptions: DeviatingSessions,
    pub host_loss: String,
}

pub fn judge_cluster(ask: &mut FactReader, of: &Subject, cluster: &Subject) -> ClusterJudgement {
    let mut sayer = EvidenceLog {
        evidence: Vec::new(),
        exceptions: DeviatingSessions::empty(),
        host_loss: String::new(),
    };
    let disables_flush = match ask.facts.server_area_of(cluster) {
        Some(ServerArea::Mysql) => mysql::judge_settings(ask, of, cluster, &mut sayer),
        Some(ServerArea::Pg) | None => judge_postgres_settings(ask, of, cluster, &mut sayer),
    };
    let EvidenceLog {
        evidence,
        exceptions,
        host_loss,
    } = sayer;
    ClusterJudgement {
        disables_flush,
        evidence,
        exceptions,
        host_loss,
    }
}

// Evidence from fsync, synchronous_commit and full_page_writes (PostgreSQL manual,
// *Reliability and the Write-Ahead Log*).

/// Adds the evidence about PostgreSQL's settings to `sayer`. Returns true if the settings
/// disable every flush.
fn judge_postgres_settings(
    ask: &mut FactReader,
    of: &Subject,
    cluster: &Subject,
    sayer: &mut EvidenceLog,
) -> bool {
    let fsync = ask.read_or_record_missing(cluster, &postgres::FSYNC);
    let (bears, says) = match fsync {
        Some(true) => (Durable, "PostgreSQL flushes its WAL (fsync is on)"),
        Some(false) => (
            AtRisk(VerdictRemedy::set_setting(cluster, "fsync", "on")),
            "PostgreSQL flushes nothing (fsync is off), so a crash can also corrupt the cluster",
        ),
        None => (Unproven, "it is unknown whether PostgreSQL flushes (fsync)"),
    };
    sayer.push_evidence(ask, cluster, &postgres::FSYNC, bears, says.to_owned());

    let commit = ask.read_or_record_missing(cluster, &postgres::SYNCHRONOUS_COMMIT);
    let (bears, says) = match commit {
        Some(SynchronousCommit::Off) => (
            AtRisk(VerdictRemedy::set_setting(
                cluster,
                "synchronous_commit",
                "on",
            )),
            format!(
                "PostgreSQL reports commits before it flushes them (synchronous_commit is off): a crash can lose {}, \
                 but corrupts nothing",
                postgres_crash_loss_text(ask, cluster)
            ),
        ),
        Some(
            value @ (SynchronousCommit::On
            | SynchronousCommit::Local
            | SynchronousCommit::RemoteWrite
            | SynchronousCommit::RemoteApply),
        ) => (
            Durable,
            format!("PostgreSQL reports a commit after its flush (synchronous_commit is {value})"),
        ),
        None => (
            Unproven,
            "it is unknown whether PostgreSQL waits for the flush (synchronous_commit)".to_owned(),
        ),
    };
    sayer.push_evidence(ask, cluster, &postgres::SYNCHRONOUS_COMMIT, bears, says);

    judge_synchronous_commit_overrides(ask, cluster, commit, sayer);
    sayer.host_loss = standby_guarantee_sentences(ask, cluster, commit);

    let copies = PageProtection {
        key: &postgres::FULL_PAGE_WRITES,
        enabled: ask.read_and_record_use(cluster, &postgres::FULL_PAGE_WRITES),
        setting_text: "full_page_writes is off".to_owned(),
        remedy: VerdictRemedy::set_setting(cluster, "full_page_writes", "on"),
    };
    judge_page_protection(ask, of, cluster, &copies, sayer);

    judge_preloaded_library(ask, cluster, "PostgreSQL", sayer) || fsync == Some(false)
}

/// Extent of the loss in a crash if commits do not wait for the flush (PostgreSQL manual,
/// *Asynchronous Commit*). On a running server the default delay is not trusted, because the
/// server did not report the setting.
fn postgres_crash_loss_text(ask: &mut FactReader, cluster: &Subject) -> String {
    let key = &postgres::WAL_WRITER_DELAY;
    let is_default = matches!(
        ask.facts.reading(cluster, key.id()).source(),
        Some(Source::Default { .. })
    );
    let is_guess = is_default && ask.read_and_record_use(cluster, &postgres::RUNNING) == Some(true);
    match ask.read_and_record_use(cluster, key).filter(|_| !is_guess) {
        Some(delay) => {
            format!(
                "up to the last {} of commits (three times wal_writer_delay)",
                text::format_micros(3.0 * delay)
            )
        }
        None => "the commits of up to three wal_writer_delay intervals".to_owned(),
    }
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
        let source = Source::Derived {
            of: Vec::new(),
            assumed: false,
        };
        Self {
            texts: Vec::new(),
            losing: Reading::known(Vec::new(), source),
        }
    }

    /// Adds the sessions of another server. `losing` becomes unknown if it is unknown for
    /// either server.
    pub fn merge(&mut self, other: Self) {
        self.texts.extend(other.texts);
        self.losing = match (self.losing.clone(), other.losing) {
            (Reading::Known { value: ours, .. }, Reading::Known { value, source }) => {
                Reading::known([ours, value].concat(), source)
            }
            (unknown @ Reading::Unknown { .. }, _) | (_, unknown @ Reading::Unknown { .. }) => {
                unknown
            }
        };
    }
}

struct EvidenceLog {
    pub evidence: Vec<Evidence>,
    pub exceptions: DeviatingSessions,
    /// Consequences for commits if this host is lost, as sentences. Empty if no standby is
    /// configured or a needed setting is unknown.
    pub host_loss: String,
}

impl EvidenceLog {
    pub fn push_evidence<T>(
        &mut self,
        ask: &FactReader,
        cluster: &Subject,
        key: &Key<T>,
        bears: EvidenceImpact,
        says: String,
    ) {
        let source = ask.source_text(cluster, key);
        self.evidence.push(Evidence::new(
            EvidenceLayer::Database,
            cluster,
            bears,
            says,
            source,
        ));
    }
}

fn judge_preloaded_library(
    ask: &mut FactReader,
    cluster: &Subject,
    name: &str,
    sayer: &mut EvidenceLog,
) -> bool {
    let DatabaseProfile {
        fsync_disabled_by: preload,
        running,
        ..
    } = ask.facts.database_profile_or_postgres(cluster);
    let running = ask.read_and_record_use(cluster, running);
    match ask.read_and_record_use(cluster, preload).as_deref() {
        Some("" | "none") => false,
        Some(library) => {
            let says = format!("{library}, preloaded into {name}, disables its flushes");
            let mend = VerdictRemedy::new(format!(
                "Start the server on {} without {library}.",
                cluster.name()
            ));
            sayer.push_evidence(ask, cluster, preload, EvidenceImpact::AtRisk(mend), says);
            true
        }
        None if running == Some(false) => false,
        None => {
            ask.record_missing_fact(cluster, preload, None);
            let says =
                format!("it is unknown whether a preloaded library disables the flushes of {name}");
            sayer.push_evidence(ask, cluster, preload, EvidenceImpact::Unproven, says);
            false
        }
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
pub fn holds_tearable_pages(ask: &mut FactReader, of: &Subject) -> bool {
    let holds = |role: &DirectoryRole| {
        matches!(
            role,
            DirectoryRole::Data | DirectoryRole::Tablespace | DirectoryRole::Undo
        )
    };
    ask.read_and_record_use(of, &target::ROLES)
        .is_none_or(|roles| roles.iter().any(holds))
}

fn judge_page_protection<T: FactValue>(
    ask: &mut FactReader,
    of: &Subject,
    cluster: &Subject,
    copies: &PageProtection<'_, T>,
    sayer: &mut EvidenceLog,
) {
    if copies.enabled == Some(true) || !holds_tearable_pages(ask, of) {
        return;
    }
    let PageProtection {
        key,
        setting_text: reads,
        remedy: mend,
        ..
    } = copies;
    if copies.enabled.is_none() {
        ask.record_missing_fact(cluster, key, None);
        let says = format!(
            "it is unknown whether a torn page can be repaired ({})",
            key.name()
        );
        return sayer.push_evidence(ask, cluster, key, Unproven, says);
    }
    let lost = format!("a page torn by a power failure cannot be repaired ({reads})");
    let (bears, says) = match page_atomicity::page_atomicity_basis(ask, of, cluster) {
        AtomicityBasis::NeverOverwritten => (
            Durable,
            format!("ZFS writes pages atomically here, so none can be torn ({reads})"),
        ),
        AtomicityBasis::Unknown(says, _) => (Unproven, format!("{lost}, and {says}")),
        AtomicityBasis::Chain(links) => match page_atomicity::chain_holds(&links) {
            Ternary::True => (
                Unproven,
                format!("only Amazon's documentation rules out torn pages here ({reads})"),
            ),
            Ternary::Unknown | Ternary::False => (
                AtRisk(mend.clone()),
                format!("{lost}, so the data committed in it is lost"),
            ),
        },
    };
    sayer.push_evidence(ask, cluster, key, bears, says);
}

// PostgreSQL sessions with their own `synchronous_commit`, set per database or role (*ALTER
// DATABASE*, *ALTER ROLE*).
//
// The server's value decides the verdict. Deviating sessions are only listed, because any role may
// change the value for its sessions.

fn judge_synchronous_commit_overrides(
    ask: &mut FactReader,
    cluster: &Subject,
    instance: Option<SynchronousCommit>,
    sayer: &mut EvidenceLog,
) {
    let key = &postgres::COMMIT_OVERRIDES;
    let Some(overrides) = ask.read_and_record_use(cluster, key) else {
        let reading = ask.facts.reading(cluster, key.id()).clone();
        let runs = ask.read_and_record_use(cluster, &postgres::RUNNING) != Some(false);
        if runs && instance.is_some_and(waits_for_flush) {
            ask.record_missing_fact(cluster, key, None);
            let says = "it is unknown whether a database or a role turns synchronous_commit off"
                .to_owned();
            sayer.push_evidence(ask, cluster, key, Unproven, says);
        }
        sayer.exceptions.losing = reading.and_then(|_| Ok(Vec::new()));
        return;
    };
    let differs = |one: &&SynchronousCommitOverride| {
        instance.is_none_or(waits_for_flush) != waits_for_flush(one.value)
    };
    let different: Vec<&SynchronousCommitOverride> = overrides.iter().filter(differs).collect();
    let told = |one: &&SynchronousCommitOverride| {
        format!("{}: synchronous_commit = {}", one.owner, one.value)
    };
    let lose = different
        .iter()
        .filter(|one| !waits_for_flush(one.value))
        .map(|one| one.owner.clone());
    sayer.exceptions = DeviatingSessions {
        texts: different.iter().map(told).collect(),
        losing: Reading::known(lose.collect(), ask.dependencies.source()),
    };
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
fn standby_guarantee_sentences(
    ask: &mut FactReader,
    cluster: &Subject,
    instance: Option<SynchronousCommit>,
) -> String {
    let standbys = ask
        .read_and_record_use(cluster, &postgres::STANDBYS)
        .filter(|standbys| *standbys > 0);
    let (Some(standbys), Some(value)) = (standbys, instance) else {
        return String::new();
    };
    // Without WAL senders no commit waits for a standby (`SyncRepRequested` in syncrep.h), whatever
    // `synchronous_commit` is.
    match ask.read_and_record_use(cluster, &postgres::MAX_WAL_SENDERS) {
        Some(1..) => {}
        Some(0) => {
            return "The last commits may be lost if this host is lost: max_wal_senders = 0, so commits do not wait for a standby."
            .to_owned();
        }
        None => return String::new(),
    }
    let overrides = ask
        .read_and_record_use(cluster, &postgres::COMMIT_OVERRIDES)
        .unwrap_or_default();
    let weaker: Vec<String> = overrides
        .iter()
        .filter(|one| standby_wait(one.value) < standby_wait(value))
        .map(|one| format!("{}: synchronous_commit = {}", one.owner, one.value))
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
    let says = match value {
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
    says + &but
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
