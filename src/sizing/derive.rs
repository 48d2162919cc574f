//! Makes facts of what the arithmetic says of each server. What is not known leaves unknown what would follow from it, for
//! the same reason.

mod postgres;
mod mysql;

use super::forecast::Forecast;
use crate::facts::catalog::device::{self, Medium};
use crate::facts::catalog::{cluster, mount};
use crate::facts::{FactSet, FactValue, Key, Reading, Scope, ServerKind, Source, Subject};

/// Puts what follows from the counters of every server into the set.
pub fn derive(facts: &mut FactSet) {
    let clusters: Vec<Subject> = facts.subjects(Scope::Cluster).cloned().collect();
    for subject in clusters {
        match facts.value(&subject, &cluster::KIND) {
            Some(ServerKind::Postgres) => postgres::derive(facts, &subject),
            Some(ServerKind::Mysql | ServerKind::Mariadb) => mysql::derive(facts, &subject),
            None => {}
        }
    }
}

/// A server with its facts.
struct Server<'f> {
    facts: &'f FactSet,
    subject: &'f Subject,
}

/// The reason why something is unknown, as the reading of whatever would follow.
struct Unknown(Reading<()>);

impl Unknown {
    fn of<T>(&self) -> Reading<T> {
        self.0.as_ref().then(|(), _| Reading::not_collected())
    }
}

impl Server<'_> {
    /// The value of a fact, or why there is none.
    fn need<T: FactValue>(&self, key: &Key<T>) -> Result<T, Unknown> {
        match self.facts.get(self.subject, key) {
            Reading::Known { value, .. } => Ok(value),
            Reading::Unknown { why, detail, remedy } => {
                Err(Unknown(Reading::Unknown { why, detail, remedy }))
            }
        }
    }

    fn value<T: FactValue>(&self, key: &Key<T>) -> Option<T> {
        self.facts.value(self.subject, key)
    }

    /// Free bytes on the file system of the log.
    fn free(&self) -> Option<u64> {
        self.facts.value(&self.facts.resolve(self.subject, Scope::Mount)?, &mount::FREE)
    }

    /// Whether pages lie on platters, on which what replay costs was not measured.
    fn is_on_platters(&self) -> bool {
        let mount = self.facts.resolve(self.subject, Scope::Mount);
        let disks = mount.map(|mount| self.facts.disks(&mount)).unwrap_or_default();
        let turns = |disk: &Subject| self.facts.value(disk, &device::MEDIUM).is_some_and(Medium::turns);
        disks.iter().any(turns)
    }
}

/// The source of a conclusion.
fn from(names: &[&str]) -> Source {
    Source::derived(names.iter().copied())
}

/// Both ends of a range of seconds, in microseconds.
fn ends(span: &Reading<Forecast>) -> (Reading<f64>, Reading<f64>) {
    (span.clone().map(|span| span.least * 1e6), span.clone().map(|span| span.most * 1e6))
}
