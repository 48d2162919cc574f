use std::path::{Path, PathBuf};

use rustix::fs::IFlags;

use super::request::ProbeRequest;
use super::scratch_place::{self, ScratchParent};
use super::{ProbeRefusal, wear};
use crate::facts::catalog::mount::MountClass;
use crate::host::{Host, HostError, HostErrorKind, LiveHost};
use crate::measure::{MeasuredLog, Method, Workload};
use crate::text;
use crate::text::display_path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodAndWriteSize {
    pub method: Method,
    /// Log pages per commit.
    pub pages: u32,
    /// False for a method that no server uses for its log; it is measured for comparison only.
    pub as_server: bool,
}

#[derive(Clone, Debug)]
pub struct ProbePlan {
    /// Parent of the scratch directory, with symbolic links resolved.
    pub directory: PathBuf,
    /// Size of a scratch file that represents a WAL segment.
    pub file_bytes: u64,
    /// Largest disk space in use at any time, in bytes.
    pub peak_bytes: u64,
    /// Limit on the bytes written, new files included. It applies to the comparison of methods, and
    /// separately to each workload.
    pub max_bytes: u64,
    /// Time limit in seconds. It applies to the comparison of methods, and separately to each
    /// workload.
    pub seconds: f64,
    pub total_seconds: f64,
    /// Cases of the comparison of methods; empty if only workloads are measured.
    pub rows: Vec<MethodAndWriteSize>,
    /// Announcement for the user before the probe: a clause that begins with a verb.
    pub announcement: String,
    pub log: MeasuredLog,
    pub(super) identity: (u64, u64),
    pub(super) flags: Option<IFlags>,
    pub(super) request: ProbeRequest,
}

/// Space in bytes that a workload needs besides two scratch files: half a second of the second
/// writer's data (`interference`), or some thousand small files.
const WORKLOAD_EXTRA_BYTES: u64 = 16 << 20;

pub fn plan_probe(request: &ProbeRequest) -> Result<ProbePlan, ProbeRefusal> {
    let class = match request.mount_class {
        Some(MountClass::Network) => Some("network"),
        Some(MountClass::Fuse) => Some("FUSE"),
        Some(
            MountClass::Block
            | MountClass::Memory
            | MountClass::Overlay
            | MountClass::Zfs
            | MountClass::Other,
        )
        | None => None,
    };
    if let Some(class) = class
        && request.scratch.is_none()
        && !request.options.force
    {
        return Err(ProbeRefusal::NetworkOrFuse {
            directory: display_path(&request.target),
            class,
        });
    }
    // Without either, the class of the mount has been checked.
    let forced = request.options.force.then_some(&request.target);
    if let Some(directory) = request.scratch.as_ref().or(forced) {
        check_directory_responds(directory, &request.program)?;
    }
    let rows = methods_and_write_sizes_to_measure(request);
    // Direct and buffered commits each use one half of the file. Each half has room for two of the
    // largest commits.
    let most_pages = rows
        .iter()
        .map(|row| u64::from(row.pages))
        .max()
        .unwrap_or(1)
        .max(2);
    let page = super::commit_writer::PAGE_BYTES as u64;
    let file_bytes = request
        .file_bytes
        .max(4 * most_pages * page)
        .next_multiple_of(4 * page);
    let has_one_file = |workload: &Workload| *workload == Workload::Commit;
    let at_a_time = if request.workloads.iter().all(has_one_file) {
        file_bytes
    } else {
        2 * file_bytes + WORKLOAD_EXTRA_BYTES
    };
    let ScratchParent {
        directory,
        identity,
        flags,
    } = scratch_place::find_scratch_parent(
        &request.target,
        request.scratch.as_deref(),
        request.options.force,
        at_a_time,
    )?;
    let seconds = request.seconds.clamp(0.1, 3_600.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped above"
    )]
    let commits = match request.workloads.as_slice() {
        // pg_test_fsync writes as fast as the disk accepts, so its limit is eight times higher.
        [Workload::PgTestFsync] => (seconds * f64::from(256 << 20)) as u64,
        _ => ((seconds * f64::from(32 << 20)) as u64).clamp(64 << 20, 4 << 30),
    };
    let max_bytes = file_bytes + commits;
    let times = request.workloads.len() + usize::from(!rows.is_empty());
    let (total_seconds, total_bytes) = (
        seconds * times as f64,
        max_bytes.saturating_mul(times as u64),
    );
    let announcement = format!(
        "writes at most {} to a scratch directory in {}, using at most {} of disk space, in at most {total_seconds:.0} s{}",
        text::format_bytes(total_bytes),
        display_path(&directory),
        text::format_bytes(at_a_time),
        request
            .smallest_disk_bytes
            .map_or_else(String::new, |size| format!(
                "; that {}",
                wear::wear_text(total_bytes, size)
            )),
    );
    Ok(ProbePlan {
        directory,
        file_bytes,
        peak_bytes: at_a_time,
        max_bytes,
        seconds,
        total_seconds,
        rows,
        announcement,
        log: request.server.log.clone(),
        identity,
        flags,
        request: request.clone(),
    })
}

/// Refuses a directory on which stat(2), called in a child process, does not return in time. Later
/// steps access the directory in this process, where a hang could not be ended.
fn check_directory_responds(directory: &Path, program: &Path) -> Result<(), ProbeRefusal> {
    match LiveHost::with_child_program(program.to_owned()).stat(directory) {
        Err(HostError {
            kind: HostErrorKind::TimedOut,
            detail,
        }) => Err(ProbeRefusal::Unresponsive {
            directory: display_path(directory),
            why: detail,
        }),
        _ => Ok(()),
    }
}

fn methods_and_write_sizes_to_measure(request: &ProbeRequest) -> Vec<MethodAndWriteSize> {
    let methods = &request.server.methods;
    let row = |method, pages| MethodAndWriteSize {
        method,
        pages,
        as_server: true,
    };
    let of_server = methods
        .iter()
        .flat_map(|m| request.pages.iter().map(|pages| row(*m, *pages)));
    let mut rows: Vec<MethodAndWriteSize> = of_server.collect();
    if let (Some(blocks), Some(first)) = (request.server.write_ahead_blocks, methods.first())
        && !rows.is_empty()
        && !request.pages.contains(&blocks)
    {
        rows.push(row(*first, blocks));
    }
    if rows.is_empty() {
        return rows;
    }
    for method in &request.extra {
        if !rows.iter().any(|r| r.method == *method) {
            rows.push(MethodAndWriteSize {
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
    use crate::measure::ProbeInclusion;

    #[test]
    fn network_and_fuse_are_refused_before_path_is_opened() {
        for (class, word) in [(MountClass::Network, "network"), (MountClass::Fuse, "FUSE")] {
            let mut request = ProbeRequest::new("/nonexistent/that/would/hang");
            request.mount_class = Some(class);
            let refusal = plan_probe(&request).unwrap_err();
            assert!(
                matches!(&refusal, ProbeRefusal::NetworkOrFuse { class, .. } if *class == word),
                "{refusal}"
            );
        }
    }

    #[test]
    fn plan_announcement_states_bytes_and_limits() {
        let directory = tempfile::tempdir().unwrap();
        let plan = plan_probe(&ProbeRequest::new(directory.path())).unwrap();
        assert!(
            plan.announcement
                .starts_with("writes at most 336 MiB to a scratch directory in /"),
            "{}",
            plan.announcement
        );
        assert!(
            plan.announcement
                .ends_with(", using at most 16 MiB of disk space, in at most 10 s"),
            "{}",
            plan.announcement
        );
        assert_eq!(plan.rows.len(), 9);
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            0,
            "a plan writes nothing"
        );
    }

    #[test]
    fn workloads_add_their_time_and_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let mut request = ProbeRequest::new(directory.path());
        request.workloads = Workload::ALL.to_vec();
        request.smallest_disk_bytes = Some(1 << 40);
        let all = plan_probe(&request).unwrap();
        assert!(
            all.announcement.contains(
                "using at most 48 MiB of disk space, in at most 60 s; that uses under 0.001 % of"
            ),
            "{}",
            all.announcement
        );
        request.pages.clear();
        let without = plan_probe(&request).unwrap();
        assert!(
            without.rows.is_empty() && without.announcement.contains("in at most 50 s"),
            "{}",
            without.announcement
        );
    }

    #[test]
    fn benchmark_cases_have_no_duplicates() {
        let mut request = ProbeRequest::new("/");
        request
            .extra
            .extend(Method::methods_with_inclusion(ProbeInclusion::FlushCost));
        request.extra.extend([Method::Fdatasync, Method::Floor]);
        assert_eq!(methods_and_write_sizes_to_measure(&request).len(), 11);
    }
}
