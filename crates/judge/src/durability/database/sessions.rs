//! PostgreSQL's sessions with their own `synchronous_commit`, set by their database or role
//! (PostgreSQL manual, *ALTER DATABASE*, *ALTER ROLE*).
//!
//! The instance's value governs the verdict; deviating sessions are listed beside it. Any role may
//! set its own value, so a deviation is never worse than a warning. Only a running server can list
//! them; without its answer they are unknown.

use super::sayer::{Exceptions, Sayer};
use crate::durability::Bears::Unproven;
use crate::durability::ask::Ask;
use crate::facts::catalog::postgres::{self, CommitOverride, SynchronousCommit};
use crate::facts::{Reading, Subject};

/// Judges the sessions of a cluster with this value of the instance.
pub fn judge(
    ask: &mut Ask,
    cluster: &Subject,
    instance: Option<SynchronousCommit>,
    sayer: &mut Sayer,
) {
    let key = &postgres::COMMIT_OVERRIDES;
    let Some(overrides) = ask.value(cluster, key) else {
        let reading = ask.facts.reading(cluster, key.id()).clone();
        let runs = ask.value(cluster, &postgres::RUNNING) != Some(false);
        if runs && instance.is_some_and(flushes) {
            ask.miss(cluster, key, None);
            let says = "it is unknown whether a database or a role turns synchronous_commit off"
                .to_owned();
            sayer.say(ask, cluster, key, Unproven, says);
        }
        sayer.exceptions.lose = reading.and_then(|_| Ok(Vec::new()));
        return;
    };
    let differs = |one: &&CommitOverride| instance.is_none_or(flushes) != flushes(one.value);
    let different: Vec<&CommitOverride> = overrides.iter().filter(differs).collect();
    let told = |one: &&CommitOverride| format!("{}: synchronous_commit = {}", one.whose, one.value);
    let lose = different
        .iter()
        .filter(|one| !flushes(one.value))
        .map(|one| one.whose.clone());
    sayer.exceptions = Exceptions {
        says: different.iter().map(told).collect(),
        lose: Reading::known(lose.collect(), ask.asked.source()),
    };
}

/// Whether a commit waits for the flush on this host.
pub fn flushes(value: SynchronousCommit) -> bool {
    matches!(
        value,
        SynchronousCommit::On
            | SynchronousCommit::Local
            | SynchronousCommit::RemoteWrite
            | SynchronousCommit::RemoteApply
    )
}

/// The guarantee when this host is lost for good, in a sentence; empty where no standby is named or
/// it is unknown.
pub fn host_loss(ask: &mut Ask, cluster: &Subject, instance: Option<SynchronousCommit>) -> String {
    let standbys = ask
        .value(cluster, &postgres::STANDBYS)
        .filter(|standbys| *standbys > 0);
    let (Some(standbys), Some(value)) = (standbys, instance) else {
        return String::new();
    };
    // SyncRepRequested() of syncrep.h: without WAL senders no commit waits for a standby.
    match ask.value(cluster, &postgres::MAX_WAL_SENDERS) {
        Some(1..) => {}
        Some(0) => {
            return "The last commits may be lost with this host: max_wal_senders = 0, so no standby is waited for."
                .to_owned();
        }
        None => return String::new(),
    }
    let overrides = ask
        .value(cluster, &postgres::COMMIT_OVERRIDES)
        .unwrap_or_default();
    let weaker: Vec<String> = overrides
        .iter()
        .filter(|one| awaited(one.value) < awaited(value))
        .map(|one| format!("{}: synchronous_commit = {}", one.whose, one.value))
        .collect();
    let but = if weaker.is_empty() {
        String::new()
    } else {
        format!(" Not so for {}.", weaker.join("; "))
    };
    let by = if standbys == 1 {
        "a standby".to_owned()
    } else {
        format!("{standbys} standbys")
    };
    let says = match value {
        SynchronousCommit::On => {
            format!(
                "Configured, not observed: a commit survives the loss of this host, once {by} flushed it."
            )
        }
        SynchronousCommit::RemoteApply => format!(
            "Configured, not observed: a commit survives the loss of this host, once {by} flushed and applied it."
        ),
        SynchronousCommit::RemoteWrite => {
            let crash = if standbys == 1 { "crashes" } else { "crash" };
            format!(
                "Configured, not observed: a commit survives the loss of this host unless {by} also {crash}. It waits for the \
                 write there, not the flush."
            )
        }
        SynchronousCommit::Local | SynchronousCommit::Off => format!(
            "The last commits may be lost with this host: synchronous_commit = {value} waits for no standby."
        ),
    };
    says + &but
}

/// The event on a standby that a commit waits for, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Awaited {
    Nothing,
    Write,
    Flush,
}

fn awaited(value: SynchronousCommit) -> Awaited {
    match value {
        SynchronousCommit::Off | SynchronousCommit::Local => Awaited::Nothing,
        SynchronousCommit::RemoteWrite => Awaited::Write,
        SynchronousCommit::On | SynchronousCommit::RemoteApply => Awaited::Flush,
    }
}
