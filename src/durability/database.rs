//! The database layer: whether the server flushes before it reports a commit.
//!
//! It judges the servers on a target; the meaning of their settings is in one file per server. Without a server there
//! is no evidence, and the verdict holds for any database that flushes. A preloaded library can turn fsync into a no-op
//! without any setting.

mod sayer;
mod sessions;
mod torn;
mod mysql;
mod postgres;

use super::Evidence;
use super::ask::Ask;
use crate::facts::Area;
use crate::facts::catalog::target;
use crate::facts::{FactSet, Scope, Subject};
use sayer::Sayer;

pub use sayer::Exceptions;
pub use torn::may_tear;

/// The clusters with files on a target.
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

/// The judgement of a cluster's settings for a target.
pub struct ClusterJudgement {
    /// Whether they turn its flushes off altogether.
    pub off: bool,
    /// The evidence that follows from them.
    pub evidence: Vec<Evidence>,
    pub exceptions: Exceptions,
    /// The fate of commits when this host is lost, in a sentence; empty where nothing is promised.
    pub host_loss: String,
}

/// Judges the settings of a cluster for a target.
pub fn judge(ask: &mut Ask, of: &Subject, cluster: &Subject) -> ClusterJudgement {
    let mut sayer = Sayer { evidence: Vec::new(), exceptions: Exceptions::none(), host_loss: String::new() };
    let off = match ask.facts.area_of(cluster) {
        Some(Area::Mysql) => mysql::judge(ask, of, cluster, &mut sayer),
        Some(Area::Pg) | None => postgres::judge(ask, of, cluster, &mut sayer),
    };
    let Sayer { evidence, exceptions, host_loss } = sayer;
    ClusterJudgement { off, evidence, exceptions, host_loss }
}
