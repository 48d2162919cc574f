//! The database layer: whether the server flushes before it reports a commit.
//!
//! It judges the servers that lie on a target; what their settings mean stands in a file each. Without one there is no
//! evidence, and the verdict holds for whatever database flushes. The surprise: a library that is preloaded can turn fsync
//! into nothing without any setting.

mod mysql;
mod postgres;
mod sessions;
mod torn;

use super::ask::Ask;
use super::{Bears, Evidence, Layer, Mend};
use crate::facts::Area;
use crate::facts::catalog::target;
use crate::facts::{FactSet, Key, Reading, Scope, Source, Subject};

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

/// What the settings of a cluster come to on a target.
pub struct Judged {
    /// Whether they turn its flushes off altogether.
    pub off: bool,
    /// What they allow.
    pub evidence: Vec<Evidence>,
    /// Sessions for which it is otherwise.
    pub exceptions: Exceptions,
    /// What becomes of commits when this host is lost, in a sentence; empty where nothing is promised.
    pub host_loss: String,
}

/// Sessions whose commits fare otherwise than the server's default says.
#[derive(Clone, Debug)]
pub struct Exceptions {
    /// Each as it stands in a heading: `database app: synchronous_commit = off`.
    pub says: Vec<String>,
    /// Whose commits may be lost where others are not: `database app`.
    pub lose: Reading<Vec<String>>,
}

impl Exceptions {
    /// None, as where no server lies here.
    pub fn none() -> Self {
        let source = Source::Derived { of: Vec::new(), assumed: false };
        Self { says: Vec::new(), lose: Reading::known(Vec::new(), source) }
    }

    /// With those of another server here; one that is not known leaves all unknown.
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

/// What the settings of a cluster allow on a target.
pub fn judge(ask: &mut Ask, of: &Subject, cluster: &Subject) -> Judged {
    let mut sayer = Sayer { evidence: Vec::new(), exceptions: Exceptions::none(), host_loss: String::new() };
    let off = match ask.facts.area_of(cluster) {
        Some(Area::Mysql) => mysql::judge(ask, of, cluster, &mut sayer),
        Some(Area::Pg) | None => postgres::judge(ask, of, cluster, &mut sayer),
    };
    let Sayer { evidence, exceptions, host_loss } = sayer;
    Judged { off, evidence, exceptions, host_loss }
}

/// Collects evidence, and what stands beside it.
struct Sayer {
    evidence: Vec<Evidence>,
    exceptions: Exceptions,
    host_loss: String,
}

impl Sayer {
    /// Adds what a fact of the cluster comes to.
    fn say<T>(&mut self, ask: &Ask, cluster: &Subject, key: &Key<T>, bears: Bears, says: String) {
        let source = ask.origin(cluster, key);
        self.evidence.push(Evidence::new(Layer::Database, cluster, bears, says, source));
    }
}

/// Whether a library is preloaded that turns flushes into nothing.
fn preloaded(
    ask: &mut Ask,
    cluster: &Subject,
    preload: &Key<String>,
    running: &Key<bool>,
    name: &str,
    sayer: &mut Sayer,
) -> bool {
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
