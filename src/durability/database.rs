//! The database layer: whether the server flushes before it reports a commit.
//!
//! It judges the servers that lie on a target; what their settings mean stands in a file each. Without one there is no
//! evidence, and the verdict holds for whatever database flushes. The surprise: a library that is preloaded can turn fsync
//! into nothing without any setting.

mod mysql;
mod postgres;
mod torn;

use super::ask::Ask;
use super::{Bears, Evidence, Layer, Mend};
use crate::facts::Area;
use crate::facts::catalog::target;
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

/// What the settings of a cluster allow on a target, and whether they turn its flushes off altogether.
pub fn judge(ask: &mut Ask, of: &Subject, cluster: &Subject) -> (bool, Vec<Evidence>) {
    let mut sayer = Sayer::default();
    let off = if ask.facts.lacks_area(cluster, Area::Pg) {
        mysql::judge(ask, of, cluster, &mut sayer)
    } else {
        postgres::judge(ask, of, cluster, &mut sayer)
    };
    (off, sayer.evidence)
}

/// Collects evidence.
#[derive(Default)]
struct Sayer {
    evidence: Vec<Evidence>,
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
