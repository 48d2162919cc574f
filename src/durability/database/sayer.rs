//! What is said of a server while its settings are judged: evidence, and sessions that deviate.

use crate::durability::ask::Ask;
use crate::durability::{Bears, Evidence, Layer, Mend};
use crate::facts::{Database, Key, Reading, Source, Subject};

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

/// Collects evidence, and statements beside it.
pub struct Sayer {
    pub evidence: Vec<Evidence>,
    pub exceptions: Exceptions,
    /// The fate of commits when this host is lost, in a sentence; empty where nothing is promised.
    pub host_loss: String,
}

impl Sayer {
    /// Adds the judgement of a fact of the cluster.
    pub fn say<T>(&mut self, ask: &Ask, cluster: &Subject, key: &Key<T>, bears: Bears, says: String) {
        let source = ask.origin(cluster, key);
        self.evidence.push(Evidence::new(Layer::Database, cluster, bears, says, source));
    }
}

/// Judges whether a preloaded library turns flushes into no-ops.
pub fn preloaded(ask: &mut Ask, cluster: &Subject, name: &str, sayer: &mut Sayer) -> bool {
    let Database { fsync_disabled_by: preload, running, .. } = ask.facts.database(cluster);
    let running = ask.value(cluster, running);
    match ask.value(cluster, preload).as_deref() {
        Some("" | "none") => false,
        Some(library) => {
            let says = format!("{library}, preloaded into {name}, disables its flushes");
            let mend = Mend::Unload { library: library.to_owned(), server: cluster.clone() };
            sayer.say(ask, cluster, preload, Bears::AtRisk(mend), says);
            true
        }
        None if running == Some(false) => false,
        None => {
            ask.miss(cluster, preload, None);
            let says = format!("it is unknown whether a preloaded library disables the flushes of {name}");
            sayer.say(ask, cluster, preload, Bears::Unproven, says);
            false
        }
    }
}
