//! What a collector is: what a run asks of it, how it is started, and how it describes many things at once.
//!
//! The list of all collectors is left to [`super`], which alone knows them.

use std::path::PathBuf;

use crate::facts::{FactSet, Subject};
use crate::host::Host;
use crate::workers;

#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The directory, mount point or block device asked for; `None` for everything found.
    pub target: Option<PathBuf>,
    /// Whether the target may be a directory still to be created; otherwise a missing directory is a mistake.
    pub new: bool,
    /// The option file of a MySQL or MariaDB server that does not run (`--defaults-file`), absolute.
    pub mysql_defaults: Option<PathBuf>,
    /// The configuration of a PostgreSQL server that does not run (`config_file`), absolute.
    pub postgres_config: Option<PathBuf>,
    /// Whether no programs may be run (versions of tools, what disks and controllers say).
    pub without_programs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectStep {
    /// It reads this: `mounts`, `block devices`.
    Reads(&'static str),
    /// It waits for programs, and for other threads that read this. Whoever hears it has time.
    Waits(&'static str),
}

impl CollectStep {
    /// What is read, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reads(name) | Self::Waits(name) => name,
        }
    }
}

/// Reads one area of the machine.
#[derive(Clone, Copy)]
pub struct Collector {
    /// What is being read, for progress: `mounts`, `block devices`.
    pub id: &'static str,
    pub run: fn(&dyn Host, &Request, &mut FactSet),
}

/// Describes these subjects, on all processors where there are many. `describe` may put facts only about its own
/// subjects; of others it may look up what they stand on, and the host.
pub fn describe_all<T: Sync>(
    things: &[T],
    subject: impl Fn(&T) -> &Subject + Sync,
    facts: &mut FactSet,
    describe: impl Fn(&[T], &mut FactSet) + Sync,
) {
    let known = &*facts;
    let parts = workers::in_pieces(things, |piece| {
        let mut part = known.part(piece.iter().map(&subject));
        describe(piece, &mut part);
        (piece, part)
    });
    for (piece, part) in parts {
        facts.put_back(part, piece.iter().map(&subject));
    }
}
