//! The plan of a probe before it runs: where, how much, how long, with which methods. A plan writes
//! nothing.

use std::path::{Path, PathBuf};

use rustix::fs::IFlags;

use super::error::{Refusal, shown};
use super::method::server_methods;
use super::place::{self, Room, ScratchParent};
use super::redo::RedoShape;
use super::request::{ProbeOptions, ProbeRequest, ServerLog};
use super::wear;
use crate::facts::catalog::mount::MountClass;
use crate::host::{Host, LiveHost, Miss, MissKind};
use crate::measure::{MeasuredLog, Method, SpeedLimit, Workload};
use crate::text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchmarkCase {
    pub method: Method,
    /// Pages of the log per commit.
    pub pages: u32,
    /// Whether the server would do it this way.
    pub as_server: bool,
}

#[derive(Clone, Debug)]
pub struct ProbePlan {
    /// The parent of the scratch directory, links followed.
    pub directory: PathBuf,
    /// Size of a scratch file that stands for a segment, in bytes.
    pub file_bytes: u64,
    /// The largest space in use at a time, in bytes.
    pub at_a_time: u64,
    /// The largest number of bytes that the comparison, and each workload, writes, files included.
    pub max_bytes: u64,
    /// The longest time of the comparison, and of each workload, in seconds.
    pub seconds: f64,
    /// The longest time of all of it, in seconds.
    pub total_seconds: f64,
    /// The rows of the comparison; empty where only workloads are measured.
    pub rows: Vec<BenchmarkCase>,
    pub workloads: Vec<Workload>,
    /// The sentence that the user confirms.
    pub says: String,
    /// The log of the comparison.
    pub log: MeasuredLog,
    pub(super) redo: RedoShape,
    pub(super) identity: (u64, u64),
    pub(super) flags: Option<IFlags>,
    pub(super) leaves: Vec<String>,
    pub(super) leaves_count_flushes: bool,
    pub(super) speed_limit: Option<SpeedLimit>,
    pub(super) program: PathBuf,
    pub(super) seed: u64,
    pub(super) all_paced: bool,
    pub(super) options: ProbeOptions,
}

/// The space that a workload may use besides its file and another of that size, in bytes: a
/// neighbour's writes for half a second, some thousand small files.
const SMALL_THINGS: u64 = 16 << 20;

/// Plans a probe; the refusal says why there can be none.
pub fn plan(request: &ProbeRequest) -> Result<ProbePlan, Refusal> {
    let class = request
        .mount_class
        .filter(|_| request.scratch.is_none() && !request.options.force);
    let refuse = |class| {
        Err(Refusal::Class {
            directory: shown(&request.target),
            class,
        })
    };
    match class {
        Some(MountClass::Network) => return refuse("network"),
        Some(MountClass::Fuse) => return refuse("FUSE"),
        Some(
            MountClass::Block
            | MountClass::Memory
            | MountClass::Overlay
            | MountClass::Zfs
            | MountClass::Other,
        )
        | None => {}
    }
    if let Some(scratch) = &request.scratch {
        check_answers(scratch, &request.program)?;
    } else if request.options.force {
        check_answers(&request.target, &request.program)?;
    }
    let rows = rows(request);
    let (log, redo) = match &request.server {
        ServerLog::Wal(_) => (MeasuredLog::default(), RedoShape::usual()),
        ServerLog::Redo(redo) => (redo.measured(), redo.clone()),
    };
    // Direct and buffered commits have half of the file each, with room for two of the largest.
    let most_pages = rows
        .iter()
        .map(|row| u64::from(row.pages))
        .max()
        .unwrap_or(1)
        .max(2);
    let page = super::commit::PAGE as u64;
    let file_bytes = request
        .file_bytes
        .max(4 * most_pages * page)
        .next_multiple_of(4 * page);
    let at_a_time = if request.workloads.is_empty() {
        file_bytes
    } else {
        2 * file_bytes + SMALL_THINGS
    };
    let room = Room {
        bytes: at_a_time,
        to_the_brim: request.options.force,
    };
    let anywhere = request.scratch.is_some() || request.options.force;
    let ScratchParent {
        directory,
        identity,
        flags,
    } = place::find(&request.target, request.scratch.as_deref(), anywhere, &room)?;
    let seconds = request.seconds.clamp(0.1, 3_600.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped above"
    )]
    let commits = match request.workloads.as_slice() {
        // The tool writes as fast as the disk takes it.
        [Workload::PgTestFsync] => (seconds * f64::from(256 << 20)) as u64,
        _ => ((seconds * f64::from(32 << 20)) as u64).clamp(64 << 20, 4 << 30),
    };
    let max_bytes = file_bytes + commits;
    let times = request.workloads.len() + usize::from(!rows.is_empty());
    let (total_seconds, total_bytes) = (
        seconds * times as f64,
        max_bytes.saturating_mul(times as u64),
    );
    let says = format!(
        "writes at most {} in a scratch directory in {}, {} at a time, in at most {total_seconds:.0} s{}",
        text::bytes(total_bytes),
        shown(&directory),
        text::bytes(at_a_time),
        request
            .smallest_disk_bytes
            .map_or_else(String::new, |size| format!(
                "; that {}",
                wear::words(total_bytes, size)
            )),
    );
    Ok(ProbePlan {
        directory,
        file_bytes,
        at_a_time,
        max_bytes,
        seconds,
        total_seconds,
        rows,
        workloads: request.workloads.clone(),
        says,
        log,
        redo,
        identity,
        flags,
        leaves: request.leaves.clone(),
        leaves_count_flushes: request.leaves_count_flushes && !request.leaves.is_empty(),
        speed_limit: request.speed_limit.clone(),
        program: request.program.clone(),
        seed: request.seed,
        all_paced: request.all_paced,
        options: request.options,
    })
}

/// Later steps touch the directory in this process, where a hang could not be ended. Targets were
/// checked when facts were collected.
fn check_answers(directory: &Path, program: &Path) -> Result<(), Refusal> {
    match LiveHost::asking_through(program.to_owned()).stat(directory) {
        Err(Miss {
            kind: MissKind::TimedOut,
            detail,
        }) => Err(Refusal::Silent {
            directory: shown(directory),
            why: detail,
        }),
        _ => Ok(()),
    }
}

/// The server's methods with each number of pages, then the rest with one.
fn rows(request: &ProbeRequest) -> Vec<BenchmarkCase> {
    let methods = match &request.server {
        ServerLog::Wal(settings) => server_methods(settings),
        ServerLog::Redo(redo) => redo.methods.iter().map(|(method, _)| *method).collect(),
    };
    let row = |method, pages| BenchmarkCase {
        method,
        pages,
        as_server: true,
    };
    let of_server = methods
        .iter()
        .flat_map(|m| request.pages.iter().map(|pages| row(*m, *pages)));
    let mut rows: Vec<BenchmarkCase> = of_server.collect();
    if let ServerLog::Redo(RedoShape {
        blocks_ahead: Some(blocks),
        ..
    }) = &request.server
        && let Some(first) = methods
            .first()
            .filter(|_| !rows.is_empty() && !request.pages.contains(blocks))
    {
        rows.push(row(*first, *blocks));
    }
    if rows.is_empty() {
        return rows;
    }
    for method in &request.extra {
        if !rows.iter().any(|r| r.method == *method) {
            rows.push(BenchmarkCase {
                method: *method,
                pages: 1,
                as_server: false,
            });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Occasion;

    #[test]
    fn foreign_file_systems_are_refused_untouched() {
        for (class, word) in [(MountClass::Network, "network"), (MountClass::Fuse, "FUSE")] {
            let mut request = ProbeRequest::new("/nonexistent/that/would/hang");
            request.mount_class = Some(class);
            let refusal = plan(&request).unwrap_err();
            assert!(
                matches!(&refusal, Refusal::Class { class, .. } if *class == word),
                "{refusal}"
            );
        }
    }

    #[test]
    fn a_plan_says_what_it_will_do() {
        let directory = tempfile::tempdir().unwrap();
        let plan = plan(&ProbeRequest::new(directory.path())).unwrap();
        assert!(
            plan.says
                .starts_with("writes at most 336 MiB in a scratch directory in /"),
            "{}",
            plan.says
        );
        assert!(
            plan.says.ends_with(", 16 MiB at a time, in at most 10 s"),
            "{}",
            plan.says
        );
        assert_eq!(plan.rows.len(), 9);
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            0,
            "a plan writes nothing"
        );
    }

    #[test]
    fn everything_takes_its_time_and_bytes_each() {
        let directory = tempfile::tempdir().unwrap();
        let mut request = ProbeRequest::new(directory.path());
        request.workloads = Workload::ALL.to_vec();
        request.smallest_disk_bytes = Some(1 << 40);
        let all = plan(&request).unwrap();
        assert!(
            all.says
                .contains("48 MiB at a time, in at most 70 s; that wears less than 0.001 % off"),
            "{}",
            all.says
        );
        request.pages.clear();
        let without = plan(&request).unwrap();
        assert!(
            without.rows.is_empty() && without.says.contains("in at most 60 s"),
            "{}",
            without.says
        );
    }

    #[test]
    fn no_row_stands_twice() {
        let mut request = ProbeRequest::new("/");
        request.extra.extend(Method::beside(Occasion::FlushCost));
        request.extra.extend([Method::Fdatasync, Method::Floor]);
        assert_eq!(rows(&request).len(), 11);
    }
}
