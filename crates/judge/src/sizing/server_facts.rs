//! The facts of one server, with unknown ones as errors, for the judgements about its log.

use crate::facts::catalog::device::{self, Medium};
use crate::facts::catalog::mount;
use crate::facts::{FactSet, FactValue, Key, Reading, Scope, Source, Subject};

/// Below this share of free space, in percent, a file system counts as nearly full
/// (`mount.low-space`).
const LOW_SPACE_PERCENT: f64 = 10.0;

pub(super) struct ServerFacts<'f> {
    pub(super) facts: &'f FactSet,
    pub(super) subject: &'f Subject,
}

/// An unknown reading, which becomes the reading of every result that depends on the fact.
pub(super) struct UnknownFact(pub(super) Reading<()>);

impl UnknownFact {
    pub(super) fn reading<T>(&self) -> Reading<T> {
        self.0.as_ref().cast()
    }
}

impl ServerFacts<'_> {
    pub(super) fn require<T: FactValue>(&self, key: &Key<T>) -> Result<T, UnknownFact> {
        match self.facts.get(self.subject, key) {
            Reading::Known { value, .. } => Ok(value),
            unknown @ Reading::Unknown { .. } => Err(UnknownFact(unknown.cast())),
        }
    }

    pub(super) fn value<T: FactValue>(&self, key: &Key<T>) -> Option<T> {
        self.facts.value(self.subject, key)
    }

    pub(super) fn log_mount_value<T: FactValue>(&self, key: &Key<T>) -> Option<T> {
        let mount = self.facts.subject_in_scope(self.subject, Scope::Mount)?;
        self.facts.value(&mount, key)
    }

    /// Free space into which the log may grow. On a nearly full file system there is none, as
    /// nothing that grows may be advised there.
    pub(super) fn log_free_bytes(&self) -> Option<u64> {
        let percent = self.log_mount_value(&mount::FREE_PERCENT)?;
        let free = self.log_mount_value(&mount::FREE)?;
        Some(if percent < LOW_SPACE_PERCENT { 0 } else { free })
    }

    /// Whether a disk of the log rotates; replay speed on such disks was not measured.
    pub(super) fn is_on_rotating_disk(&self) -> bool {
        let mount = self.facts.subject_in_scope(self.subject, Scope::Mount);
        let disks = mount
            .map(|mount| self.facts.distinct_bottom_disks(&mount))
            .unwrap_or_default();
        let turns = |disk: &Subject| {
            self.facts
                .value(disk, &device::MEDIUM)
                .is_some_and(Medium::is_rotating)
        };
        disks.iter().any(turns)
    }
}

/// The reading of a result that follows from the facts `names`.
pub(super) fn derived_reading<T>(result: Result<T, UnknownFact>, names: &[&str]) -> Reading<T> {
    result.map_or_else(
        |why| why.reading(),
        |value| Reading::known(value, derived_source(names)),
    )
}

pub(super) fn derived_source(names: &[&str]) -> Source {
    Source::derived_from(names.iter().copied())
}
