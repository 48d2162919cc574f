//! PostgreSQL sessions with their own `synchronous_commit`, set per database or role (*ALTER
//! DATABASE*, *ALTER ROLE*).
//!
//! The server's value decides the verdict. Deviating sessions are only listed, because any role may
//! change the value for its sessions.

use super::evidence_log::{DeviatingSessions, EvidenceLog};
use crate::durability::VerdictImpact::Unproven;
use crate::durability::fact_reader::FactReader;
use crate::facts::catalog::postgres::{self, CommitOverride, SynchronousCommit};
use crate::facts::{Reading, Subject};

pub fn judge_session_overrides(
    ask: &mut FactReader,
    cluster: &Subject,
    instance: Option<SynchronousCommit>,
    sayer: &mut EvidenceLog,
) {
    let key = &postgres::COMMIT_OVERRIDES;
    let Some(overrides) = ask.get(cluster, key) else {
        let reading = ask.facts.reading(cluster, key.id()).clone();
        let runs = ask.get(cluster, &postgres::RUNNING) != Some(false);
        if runs && instance.is_some_and(waits_for_flush) {
            ask.note_missing(cluster, key, None);
            let says = "it is unknown whether a database or a role turns synchronous_commit off"
                .to_owned();
            sayer.push_evidence(ask, cluster, key, Unproven, says);
        }
        sayer.exceptions.losing = reading.and_then(|_| Ok(Vec::new()));
        return;
    };
    let differs =
        |one: &&CommitOverride| instance.is_none_or(waits_for_flush) != waits_for_flush(one.value);
    let different: Vec<&CommitOverride> = overrides.iter().filter(differs).collect();
    let told = |one: &&CommitOverride| format!("{}: synchronous_commit = {}", one.owner, one.value);
    let lose = different
        .iter()
        .filter(|one| !waits_for_flush(one.value))
        .map(|one| one.owner.clone());
    sayer.exceptions = DeviatingSessions {
        texts: different.iter().map(told).collect(),
        losing: Reading::known(lose.collect(), ask.dependencies.source()),
    };
}

pub fn waits_for_flush(value: SynchronousCommit) -> bool {
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
pub fn host_loss_sentence(
    ask: &mut FactReader,
    cluster: &Subject,
    instance: Option<SynchronousCommit>,
) -> String {
    let standbys = ask
        .get(cluster, &postgres::STANDBYS)
        .filter(|standbys| *standbys > 0);
    let (Some(standbys), Some(value)) = (standbys, instance) else {
        return String::new();
    };
    // Without WAL senders no commit waits for a standby (`SyncRepRequested` in syncrep.h), whatever
    // `synchronous_commit` is.
    match ask.get(cluster, &postgres::MAX_WAL_SENDERS) {
        Some(1..) => {}
        Some(0) => {
            return "The last commits may be lost if this host is lost: max_wal_senders = 0, so commits do not wait for a standby."
                .to_owned();
        }
        None => return String::new(),
    }
    let overrides = ask
        .get(cluster, &postgres::COMMIT_OVERRIDES)
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
                "As configured (not observed), a commit survives the loss of this host unless {by} also {crash}: the commit waits for the write there, not for the flush."
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
