//! The database layer: whether the server flushes before it reports a commit.
//!
//! It judges the servers on a target; the meaning of their settings is in one file per server. Without a server there
//! is no evidence, and the verdict holds for any database that flushes. A preloaded library can turn fsync into a no-op
//! without any setting.

mod mysql;
mod postgres;
mod sessions;
mod torn;

use super::ask::Ask;
use super::{Bears, Evidence, Layer, Mend};
use crate::facts::Area;
use crate::facts::catalog::target;
use crate::facts::{Database, FactSet, Key, Reading, Scope, Source, Subject};

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
    /// Sessions that deviate.
    pub exceptions: Exceptions,
    /// The fate of commits when this host is lost, in a sentence; empty where nothing is promised.
    pub host_loss: String,
}

/// Sessions whose commits are treated otherwise than by the server's default.
#[derive(Clone, Debug)]
pub struct Exceptions {
    /// Each as shown in a heading: `database app: synchronous_commit = off`.
    pub says: Vec<String>,
    /// Those that may lose commits although the default keeps them: `database app`.
    pub lose: Reading<Vec<String>>,
}

impl Exceptions {
    /// No exceptions, as where no server has files here.
    pub fn none() -> Self {
        let source = Source::Derived { of: Vec::new(), assumed: false };
        Self { says: Vec::new(), lose: Reading::known(Vec::new(), source) }
    }

    /// Merged with those of another server here; an unknown one makes all unknown.
    pub fn and(&mut self, other: Self) {
        self.says.extend(other.says);
        self.lose = match (self.lose.clone(), other.lose) {
            (Reading::Known { value: ours, .. }, Reading::Known { value, source }) => {
                Reading::known([ours, value].concat(), source)
            }
            (unknown @ Reading::Unknown { .. }, _) | (_, unknown @ Reading::Unknown { .. }) => unknown,
        };
    }
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

/// Collects evidence, and statements beside it.
struct Sayer {
    evidence: Vec<Evidence>,
    exceptions: Exceptions,
    host_loss: String,
}

impl Sayer {
    /// Adds the judgement of a fact of the cluster.
    fn say<T>(&mut self, ask: &Ask, cluster: &Subject, key: &Key<T>, bears: Bears, says: String) {
        let source = ask.origin(cluster, key);
        self.evidence.push(Evidence::new(Layer::Database, cluster, bears, says, source));
    }
}

/// Judges whether a preloaded library turns flushes into no-ops.
fn preloaded(ask: &mut Ask, cluster: &Subject, name: &str, sayer: &mut Sayer) -> bool {
    let Database { fsync_disabled_by: preload, running, .. } = ask.facts.database(cluster);
    let running = ask.value(cluster, running);
    match ask.value(cluster, preload).as_deref() {
        Some("" | "none") => false,
        Some(library) => {
            let says = format!("{library} is preloaded into {name} and turns its flushes into nothing");
            let mend = Mend::Unload { library: library.to_owned(), server: cluster.clone() };
            sayer.say(ask, cluster, preload, Bears::AtRisk(mend), says);
            true
        }
        None if running == Some(false) => false,
        None => {
            ask.miss(cluster, preload, None);
            let says =
                format!("whether a preloaded library turns {name}'s flushes into nothing is not known");
            sayer.say(ask, cluster, preload, Bears::Unproven, says);
            false
        }
    }
}
