//! The database layer: whether the server flushes before it reports a commit (PostgreSQL manual, *Reliability and the
//! Write-Ahead Log* and *Write Ahead Log* settings).
//!
//! It judges the clusters that lie on a target. Without one there is no evidence, and the verdict holds for whatever
//! database flushes. The surprise: a library that is preloaded can turn fsync into nothing without any setting.

use super::ask::Ask;
use super::{Evidence, Layer, Standing};
use crate::facts::catalog::{postgres, target};
use crate::facts::{FactSet, Key, Scope, Subject};

/// The clusters that keep something on a target.
pub fn clusters(facts: &FactSet, of: &Subject) -> Vec<Subject> {
    let linked = facts.resolve(of, Scope::Cluster);
    let named = facts.value(of, &target::CLUSTERS).unwrap_or_default();
    let lies_here = |cluster: &&Subject| {
        facts.resolve(cluster, Scope::Target).as_ref() == Some(of)
            || named.iter().any(|name| name == cluster.name())
    };
    let others = facts.subjects(Scope::Cluster).filter(lies_here).cloned();
    let mut all: Vec<Subject> = linked.into_iter().chain(others).collect();
    all.sort();
    all.dedup();
    all
}

/// What the settings of a cluster allow, and whether they turn its flushes off altogether.
pub fn judge(ask: &mut Ask, cluster: &Subject) -> (bool, Vec<Evidence>) {
    use Standing::{AtRisk, Durable, Unproven};
    let mut evidence = Vec::new();
    let mut say = |source: String, standing, says: String| {
        evidence.push(Evidence { layer: Layer::Database, subject: cluster.clone(), standing, says, source });
    };

    let mut off = false;
    let fsync = ask.need(cluster, &postgres::FSYNC);
    let (standing, says) = match fsync {
        Some(true) => (Durable, "PostgreSQL flushes its WAL (fsync is on)"),
        Some(false) => (
            AtRisk,
            "PostgreSQL does not flush at all (fsync is off), so a crash can also corrupt the cluster",
        ),
        None => (Unproven, "whether PostgreSQL flushes (fsync) is not known"),
    };
    let source = ask.origin(cluster, &postgres::FSYNC);
    say(source, standing, says.to_owned());

    let commit = ask.need(cluster, &postgres::SYNCHRONOUS_COMMIT);
    let (standing, says) = match commit.as_deref() {
        Some("off" | "false" | "no" | "0") => (
            AtRisk,
            "PostgreSQL reports commits before it flushes them (synchronous_commit is off): the commits of the last \
             3 × wal_writer_delay, 0.6 s by default, though nothing is corrupted"
                .to_owned(),
        ),
        Some(value @ ("on" | "local" | "remote_write" | "remote_apply" | "true" | "yes" | "1")) => {
            (Durable, format!("PostgreSQL reports a commit after its flush (synchronous_commit is {value})"))
        }
        Some(value) => (Unproven, format!("synchronous_commit is {value}, which walwise does not know")),
        None => (Unproven, "whether PostgreSQL waits for the flush (synchronous_commit) is not known".to_owned()),
    };
    let source = ask.origin(cluster, &postgres::SYNCHRONOUS_COMMIT);
    say(source, standing, says);

    let preload: &Key<String> = &postgres::FSYNC_DISABLED_BY;
    let running = ask.value(cluster, &postgres::RUNNING);
    let source = ask.origin(cluster, preload);
    match ask.value(cluster, preload).as_deref() {
        Some("" | "none") => {}
        Some(library) => {
            off = true;
            say(
                source,
                AtRisk,
                format!("{library} is preloaded into PostgreSQL and turns its flushes into nothing"),
            );
        }
        None if running == Some(false) => {}
        None => {
            ask.miss(cluster, preload, None);
            let says = "whether a preloaded library turns PostgreSQL's flushes into nothing is not known";
            say(source, Unproven, says.to_owned());
        }
    }
    (off || fsync == Some(false), evidence)
}
