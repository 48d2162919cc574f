//! What to measure for a target, taken from what is known of it: where, on which disks, with which server's flags.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::facts::catalog::{device, mount, postgres, target};
use crate::facts::{FactSet, FactValue, Key, Scope, Subject};
use crate::measure::{Measurement, Method, SpeedLimit};
use crate::probes::{Plan, Refusal, Request, Server, plan};
use crate::text;

/// Which rows a measurement has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Those that decide advice: the server's methods and the unflushed floor.
    Deciding,
    /// Those of `pg_test_fsync` and of O_DIRECT too, marked apart.
    All,
}

/// How to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the scratch file may lie, when the user named a directory.
    pub scratch: Option<PathBuf>,
    /// How long at most.
    pub seconds: f64,
    /// Which rows.
    pub rows: Rows,
}

/// Plans the measurement of a target; nothing is written yet. `facts` are judged ones.
pub fn prepare(facts: &FactSet, subject: &Subject, options: &Options) -> Result<Plan, Refusal> {
    let of_mount = |key: &Key<String>| lookup(facts, subject, key);
    let leaves = facts.leaves(subject);
    let counts = |leaf: &Subject| facts.value(leaf, &device::COUNTS_FLUSHES) == Some(true);
    let class = of_mount(&mount::CLASS);
    let mut request = Request::new(directory(subject));
    request.scratch.clone_from(&options.scratch);
    request.seconds = options.seconds;
    request.speed_limit = (class.as_deref() == Some("block")).then(SpeedLimit::block_device);
    request.mount_class = class;
    request.server = server(facts, subject);
    request.leaves_count_flushes = !leaves.is_empty() && leaves.iter().all(counts);
    request.leaves = leaves.iter().map(|leaf| leaf.name().to_owned()).collect();
    request.seed = seed();
    let protected = facts.value(subject, &target::CACHE).as_deref() == Some("protected");
    if protected || options.rows == Rows::All {
        request.extra.extend(Request::FLUSH_COST);
    }
    if options.rows == Rows::All {
        request.extra.extend([Method::OpenDatasyncDirect, Method::OpenSyncDirect]);
    }
    plan(&request)
}

/// The directory a target stands for, byte for byte.
fn directory(subject: &Subject) -> PathBuf {
    Path::new(&OsString::from_vec(text::raw(subject.name()))).to_owned()
}

/// `wal_sync_method` in force in the cluster of a target.
pub fn method_in_force(facts: &FactSet, subject: &Subject) -> Option<String> {
    lookup(facts, subject, &postgres::WAL_SYNC_METHOD)
}

fn server(facts: &FactSet, subject: &Subject) -> Server {
    Server {
        major: lookup(facts, subject, &postgres::VERSION).map(|version| version.number(0)),
        wal_level: lookup(facts, subject, &postgres::WAL_LEVEL),
        max_wal_senders: lookup(facts, subject, &postgres::MAX_WAL_SENDERS),
        debug_io_direct: lookup(facts, subject, &postgres::DEBUG_IO_DIRECT),
    }
}

fn lookup<T: FactValue>(facts: &FactSet, subject: &Subject, key: &Key<T>) -> Option<T> {
    facts.lookup(subject, &key.info).value().and_then(T::from_value)
}

/// The measurement as facts.
pub(super) fn to_facts(measurement: &Measurement, subject: &Subject, facts: &mut FactSet) {
    let in_force = method_in_force(facts, subject);
    crate::measure::to_facts(measurement, subject, in_force.as_deref(), facts);
}

/// The targets that can be measured: directories that are there.
pub fn measurable(facts: &FactSet) -> Vec<Subject> {
    let exists = |t: &&Subject| facts.value(t, &target::KIND).as_deref() == Some("directory");
    facts.subjects(Scope::Target).filter(exists).cloned().collect()
}

/// A different order every time, so that no order is favoured from run to run.
fn seed() -> u64 {
    let nanoseconds = jiff::Timestamp::now().as_nanosecond();
    u64::try_from(nanoseconds.unsigned_abs() & u128::from(u64::MAX)).unwrap_or(1)
}
