//! PostgreSQL: fsync, synchronous_commit and full_page_writes (PostgreSQL manual, *Reliability and the Write-Ahead Log*
//! and *Write Ahead Log* settings).

use super::sayer::{Sayer, preloaded};
use super::sessions;
use super::torn::{self, Copies};
use crate::durability::Bears::{AtRisk, Durable, Unproven};
use crate::durability::Mend;
use crate::durability::ask::Ask;
use crate::facts::catalog::postgres::{self, SynchronousCommit};
use crate::facts::{Source, Subject};
use crate::text;

/// The evidence in the settings for a target, and whether they turn flushes off altogether.
pub fn judge(ask: &mut Ask, of: &Subject, cluster: &Subject, sayer: &mut Sayer) -> bool {
    let fsync = ask.need(cluster, &postgres::FSYNC);
    let (bears, says) = match fsync {
        Some(true) => (Durable, "PostgreSQL flushes its WAL (fsync is on)"),
        Some(false) => (
            AtRisk(on(cluster, "fsync")),
            "PostgreSQL flushes nothing (fsync is off), so a crash can also corrupt the cluster",
        ),
        None => (Unproven, "it is unknown whether PostgreSQL flushes (fsync)"),
    };
    sayer.say(ask, cluster, &postgres::FSYNC, bears, says.to_owned());

    let commit = ask.need(cluster, &postgres::SYNCHRONOUS_COMMIT);
    let (bears, says) = match commit {
        Some(SynchronousCommit::Off) => (
            AtRisk(on(cluster, "synchronous_commit")),
            format!(
                "PostgreSQL reports commits before it flushes them (synchronous_commit is off): {}, though nothing is \
                 corrupted",
                unflushed_commits(ask, cluster)
            ),
        ),
        Some(
            value @ (SynchronousCommit::On
            | SynchronousCommit::Local
            | SynchronousCommit::RemoteWrite
            | SynchronousCommit::RemoteApply),
        ) => {
            (Durable, format!("PostgreSQL reports a commit after its flush (synchronous_commit is {value})"))
        }
        None => {
            (Unproven, "it is unknown whether PostgreSQL waits for the flush (synchronous_commit)".to_owned())
        }
    };
    sayer.say(ask, cluster, &postgres::SYNCHRONOUS_COMMIT, bears, says);

    sessions::judge(ask, cluster, commit, sayer);
    sayer.host_loss = sessions::host_loss(ask, cluster, commit);

    let copies = Copies {
        key: &postgres::FULL_PAGE_WRITES,
        kept: ask.value(cluster, &postgres::FULL_PAGE_WRITES),
        reads: "full_page_writes is off".to_owned(),
        mend: on(cluster, "full_page_writes"),
    };
    torn::judge(ask, of, cluster, &copies, sayer);

    preloaded(ask, cluster, "PostgreSQL", sayer) || fsync == Some(false)
}

/// The commits that a crash loses where none waits for its flush (PostgreSQL manual, *Asynchronous Commit*). A server
/// that runs and did not report the delay may have another one than the default.
fn unflushed_commits(ask: &mut Ask, cluster: &Subject) -> String {
    let key = &postgres::WAL_WRITER_DELAY;
    let is_default = matches!(ask.facts.reading(cluster, key.id()).source(), Some(Source::Default { .. }));
    let is_guess = is_default && ask.value(cluster, &postgres::RUNNING) == Some(true);
    match ask.value(cluster, key).filter(|_| !is_guess) {
        Some(delay) => {
            format!(
                "the commits of up to the last {} (three times wal_writer_delay)",
                text::micros(3.0 * delay)
            )
        }
        None => "the commits of up to three times wal_writer_delay".to_owned(),
    }
}

/// The remedy of a setting that should be on.
fn on(cluster: &Subject, setting: &'static str) -> Mend {
    Mend::Set { setting, value: "on", server: cluster.clone() }
}
