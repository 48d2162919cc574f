//! What will be done, before it is done: where, how much, how long, with which methods. A plan writes nothing.

use std::path::{Path, PathBuf};

use super::error::{Refusal, shown};
use super::method::server_methods;
use super::place::{self, Place};
use super::request::Request;
use crate::host::{Host, LiveHost, Miss, MissKind};
use crate::measure::{Method, SpeedLimit};
use crate::text;

/// One row of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The method.
    pub method: Method,
    /// 8 kB pages per commit.
    pub pages: u32,
    /// Whether the server would do it like that.
    pub as_server: bool,
}

/// What a probe will do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The directory of the scratch file, links followed.
    pub directory: PathBuf,
    /// Size of the scratch file in bytes.
    pub file_bytes: u64,
    /// The most it writes in all, in bytes, the file itself included.
    pub max_bytes: u64,
    /// The most it takes, in seconds.
    pub seconds: f64,
    /// What is measured.
    pub rows: Vec<Row>,
    /// A sentence to confirm.
    pub says: String,
    pub(super) identity: (u64, u64),
    pub(super) leaves: Vec<String>,
    pub(super) leaves_count_flushes: bool,
    pub(super) speed_limit: Option<SpeedLimit>,
    pub(super) program: PathBuf,
    pub(super) seed: u64,
}

/// Plans a probe, or says why there can be none.
pub fn plan(request: &Request) -> Result<Plan, Refusal> {
    let class = request.mount_class.as_deref().filter(|_| request.scratch.is_none());
    let refuse = |class| Err(Refusal::Class { directory: shown(&request.target), class });
    match class {
        Some("network") => return refuse("network"),
        Some("fuse") => return refuse("FUSE"),
        _ => {}
    }
    let pages = super::commit::PAGE as u64;
    if let Some(scratch) = &request.scratch {
        check_answers(scratch, &request.program)?;
    }
    // Direct and buffered commits have half of the file each, with room for a commit of two pages.
    let file_bytes = request.file_bytes.max(8 * pages).next_multiple_of(4 * pages);
    let Place { directory, identity } = place::find(&request.target, request.scratch.as_deref(), file_bytes)?;
    let seconds = request.seconds.clamp(0.1, 3_600.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
    let commits = ((seconds * f64::from(32 << 20)) as u64).clamp(64 << 20, 4 << 30);
    let max_bytes = file_bytes + commits;
    let says = format!(
        "writes {} in one scratch file in {}, at most {} in all, in at most {seconds:.0} s",
        text::bytes(file_bytes),
        shown(&directory),
        text::bytes(max_bytes),
    );
    Ok(Plan {
        directory,
        file_bytes,
        max_bytes,
        seconds,
        rows: rows(request),
        says,
        identity,
        leaves: request.leaves.clone(),
        leaves_count_flushes: request.leaves_count_flushes && !request.leaves.is_empty(),
        speed_limit: request.speed_limit.clone(),
        program: request.program.clone(),
        seed: request.seed,
    })
}

/// Everything later touches the directory from this process, which nothing could end there. Targets have been looked at
/// when facts were collected.
fn check_answers(scratch: &Path, program: &Path) -> Result<(), Refusal> {
    match LiveHost::asking_through(program.to_owned()).stat(scratch) {
        Err(Miss { kind: MissKind::TimedOut, detail }) => {
            Err(Refusal::Silent { scratch: shown(scratch), why: detail })
        }
        _ => Ok(()),
    }
}

/// The server's methods with one and two pages, then the rest with one.
fn rows(request: &Request) -> Vec<Row> {
    let methods = server_methods(&request.server);
    let of_server =
        methods.iter().flat_map(|m| [1, 2].map(|pages| Row { method: *m, pages, as_server: true }));
    let mut rows: Vec<Row> = of_server.collect();
    for method in &request.extra {
        if !rows.iter().any(|r| r.method == *method) {
            rows.push(Row { method: *method, pages: 1, as_server: false });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_file_systems_are_refused_untouched() {
        for (class, word) in [("network", "network"), ("fuse", "FUSE")] {
            let mut request = Request::new("/nonexistent/that/would/hang");
            request.mount_class = Some(class.to_owned());
            let refusal = plan(&request).unwrap_err();
            assert!(matches!(&refusal, Refusal::Class { class, .. } if *class == word), "{refusal}");
        }
    }

    #[test]
    fn a_plan_says_what_it_will_do() {
        let directory = tempfile::tempdir().unwrap();
        let plan = plan(&Request::new(directory.path())).unwrap();
        assert!(plan.says.starts_with("writes 16 MiB in one scratch file in /"), "{}", plan.says);
        assert!(plan.says.ends_with("at most 336 MiB in all, in at most 10 s"), "{}", plan.says);
        assert_eq!(plan.rows.len(), 9);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "a plan writes nothing");
    }

    #[test]
    fn no_row_stands_twice() {
        let mut request = Request::new("/");
        request.extra.extend(Request::FLUSH_COST);
        request.extra.extend([Method::Fdatasync, Method::Floor]);
        assert_eq!(rows(&request).len(), 11);
    }
}
