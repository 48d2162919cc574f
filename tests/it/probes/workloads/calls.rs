//! System calls of each workload, traced by strace into one file per thread, so that the calls of a
//! thread stay in order.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use walwise_measure::measure::Workload;

use super::{plan_for_workload, run_one_round};
use crate::support::deadline::CommandInTime as _;
use crate::support::sorted_file_names;

const DIRECTORY: &str = "WALWISE_TEST_TRACED_DIRECTORY";
const WORKLOAD: &str = "WALWISE_TEST_TRACED_WORKLOAD";

/// One traced call: its name, the file without the prefix `walwise-`, and the whole line.
#[derive(Clone, Debug)]
struct WorkloadCall {
    name: String,
    file: String,
    line: String,
}

impl WorkloadCall {
    /// Parses `pwrite64(5</tmp/x/.walwise-probe-1-2/walwise-redo>, "..."..., 512, 0) = 512`.
    fn parse(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once('(')?;
        if !line.contains(".walwise-probe-") || line.contains(" = -1 ") {
            return None;
        }
        // For calls that open or rename, the last argument holds the name; for other calls, the
        // descriptor does.
        let at = match name {
            "openat" | "renameat" | "renameat2" | "unlinkat" => {
                rest.rfind("\"walwise-").map(|at| at + 1)
            }
            _ => rest
                .find("/walwise-")
                .filter(|at| rest[..*at].contains(".walwise-probe-"))
                .map(|at| at + 1),
        };
        let file = at.map_or("", |at| &rest[at + "walwise-".len()..]);
        let file = file.split(['"', '>', '<']).next().unwrap_or_default();
        Some(Self {
            name: name.to_owned(),
            file: file.to_owned(),
            line: line.to_owned(),
        })
    }

    fn call_text(&self) -> String {
        let file = if self.file.is_empty() {
            "directory"
        } else {
            &self.file
        };
        match self.name.as_str() {
            "pwrite64" => format!(
                "pwrite64 {} {file}",
                self.line.rsplit(" = ").next().unwrap()
            ),
            name => format!("{name} {file}"),
        }
    }
}

fn trace_workload_in_temporary_directory(workload: Workload) -> Vec<Vec<WorkloadCall>> {
    trace_workload_in(tempfile::tempdir().unwrap().path(), workload)
}

fn trace_workload_in(directory: &Path, workload: Workload) -> Vec<Vec<WorkloadCall>> {
    let traces = tempfile::tempdir().unwrap();
    let output = Command::new("strace")
        .args(["-ff", "-y", "-s", "200", "-e", "signal=none", "-o"])
        .arg(traces.path().join("trace"))
        .args([
            "-e",
            "trace=openat,pwrite64,fsync,fallocate,fdatasync,renameat,renameat2,unlinkat,fadvise64,ftruncate",
        ])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "probes::workloads::calls::run_workload_in_child"])
        .env(DIRECTORY, directory)
        .env(WORKLOAD, workload.name())
        .output_in_time();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(sorted_file_names(directory), [""; 0]);
    let mut threads = Vec::new();
    for name in sorted_file_names(traces.path()) {
        let text = fs::read(traces.path().join(name)).unwrap();
        let calls: Vec<WorkloadCall> = String::from_utf8_lossy(&text)
            .lines()
            .filter_map(WorkloadCall::parse)
            .collect();
        if !calls.is_empty() {
            threads.push(calls);
        }
    }
    threads
}

#[test]
fn run_workload_in_child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let name = std::env::var(WORKLOAD).unwrap();
    let workload = Workload::ALL
        .into_iter()
        .find(|workload| workload.name() == name)
        .unwrap();
    run_one_round(&plan_for_workload(Path::new(&directory), workload)).unwrap();
}

fn call_texts(calls: &[WorkloadCall]) -> Vec<String> {
    calls.iter().map(WorkloadCall::call_text).collect()
}

fn thread_containing_call<'c>(threads: &'c [Vec<WorkloadCall>], first: &str) -> &'c [WorkloadCall] {
    threads
        .iter()
        .find(|calls| calls.iter().any(|call| call.call_text() == first))
        .unwrap()
}

/// Returns the calls on the file `room`, by which a workload checks the free space. `directory`
/// must not be in memory.
pub fn free_space_calls(directory: &Path) -> Vec<String> {
    let threads = trace_workload_in(directory, Workload::Group);
    call_texts(thread_containing_call(&threads, "openat room"))
        .into_iter()
        .filter(|said| said.ends_with(" room"))
        .collect()
}

fn count_calls(calls: &[WorkloadCall]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for call in calls {
        *counts.entry(call.call_text()).or_default() += 1;
    }
    counts
}

#[test]
#[ignore = "needs strace"]
fn a_small_file_is_made_durable_in_five_calls() {
    let threads = trace_workload_in_temporary_directory(Workload::Files);
    let mut files = 0;
    // Worker threads make no other calls; the main thread removes the files.
    for calls in threads
        .iter()
        .filter(|calls| calls[0].file.contains(".new"))
    {
        for five in calls.chunks(5) {
            let name = five[0].file.strip_suffix(".new").unwrap();
            let expected = [
                format!("openat {name}.new"),
                format!("pwrite64 4096 {name}.new"),
                format!("fsync {name}.new"),
                five.get(3)
                    .map_or_else(String::new, |call| format!("{} {name}", call.name)),
                "fsync directory".to_owned(),
            ];
            assert_eq!(call_texts(five), expected);
            assert!(
                five[3].name.starts_with("renameat") && five[0].line.contains("O_CREAT|O_EXCL")
            );
            assert!(five[0].line.contains("O_NOFOLLOW"), "{}", five[0].line);
            files += 1;
        }
    }
    assert!(files >= 30, "{files}");
}

#[test]
#[ignore = "needs strace"]
fn sessions_share_flushes() {
    let threads = trace_workload_in_temporary_directory(Workload::Group);
    let mut leaders = 0;
    for calls in threads
        .iter()
        .filter(|calls| !calls.iter().any(|call| call.name == "openat"))
    {
        for one in calls.split_inclusive(|call| call.name == "fdatasync") {
            let (flushed, written) = one.split_last().unwrap();
            assert_eq!(flushed.call_text(), "fdatasync group-wal");
            // After the end of the segment, writes continue at its start.
            assert!(
                written.len() == 1 || written.len() == 2 && written[1].line.contains(", 0)"),
                "{one:?}"
            );
            for call in written {
                let said = call.call_text();
                let bytes: usize = said.split(' ').nth(1).unwrap().parse().unwrap();
                assert!(
                    said.starts_with("pwrite64 ") && call.file == "group-wal",
                    "{said}"
                );
                assert!(bytes.is_multiple_of(8192) && bytes <= 3 * 8192, "{said}");
            }
            leaders += 1;
        }
    }
    assert!(leaders >= 10, "{leaders}");
}

#[test]
#[ignore = "needs strace"]
fn a_transaction_flushes_each_log_after_its_record() {
    let threads = trace_workload_in_temporary_directory(Workload::Innodb);
    // Worker threads commit; the main thread opens the files.
    let opened = thread_containing_call(&threads, "openat redo");
    let (mut commits, mut both) = (0, 0);
    for calls in &threads {
        let all = call_texts(calls);
        for (i, call) in calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.name == "pwrite64")
        {
            let said = call.call_text();
            let next = || all.get(i + 1).map(String::as_str);
            if said.ends_with(" redo") && (said.contains(" 512 ") || said.contains(" 4096 ")) {
                let flushed = next() == Some("fdatasync redo");
                // Only a descriptor opened with O_DSYNC needs no flush call; the flag appears only
                // where the file is opened.
                let descriptor = call.line.split(['(', '<']).nth(1).unwrap();
                let opened = opened.iter().find(|c| {
                    c.name == "openat"
                        && c.line.contains(&format!(" = {descriptor}<"))
                        && c.file == "redo"
                });
                let synchronous = opened.unwrap().line.contains("O_DSYNC");
                assert_eq!(flushed, !synchronous, "{} then {:?}", call.line, next());
                commits += 1;
            } else if call.file.starts_with("binlog") {
                assert_eq!(next(), Some(format!("fdatasync {}", call.file).as_str()));
                both += usize::from(i >= 2 && all[i - 1] == "fdatasync redo");
            }
        }
    }
    assert!(commits > 0 && both > 0, "both logs in turn");
}

#[test]
#[ignore = "needs strace"]
fn a_segment_is_made_as_the_server_makes_it() {
    let threads = trace_workload_in_temporary_directory(Workload::Segment);
    let calls = thread_containing_call(&threads, "openat segment-new");
    let all = call_texts(calls);
    let rename = |calls: &[String], from: &str| {
        calls
            .iter()
            .any(|said| said.starts_with("renameat") && said.ends_with(from))
    };
    let renaming = [
        "openat segment-new",
        "fsync segment-new",
        "renameat",
        "openat segment",
        "fsync segment",
        "fsync directory",
    ];
    let (mut filled, mut unfilled) = (0, 0);
    for (i, _) in calls
        .iter()
        .enumerate()
        .filter(|(_, c)| c.file == "segment-new" && c.line.contains("O_EXCL"))
    {
        let zeros = all[i + 1] == "pwrite64 1048576 segment-new";
        assert!(
            zeros || all[i + 1] == "pwrite64 1 segment-new",
            "{}",
            all[i + 1]
        );
        assert!(
            zeros || calls[i + 1].line.contains(", 1048575)"),
            "the last byte: {}",
            calls[i + 1].line
        );
        assert_eq!(all[i + 2], "fsync segment-new");
        let said: Vec<&str> = all[i + 3..i + 9]
            .iter()
            .map(|said| said.split(" segment").next().unwrap())
            .collect();
        let expected: Vec<&str> = renaming
            .iter()
            .map(|said| said.split(" segment").next().unwrap())
            .collect();
        let same = said
            .iter()
            .zip(&expected)
            .all(|(said, expected)| said.starts_with(expected));
        assert!(
            same && rename(&all[i + 3..i + 9], "segment"),
            "{:?}",
            &all[i + 3..i + 9]
        );
        assert_eq!(
            all[i + 9..i + 12],
            [
                "openat segment",
                "pwrite64 8192 segment",
                "fdatasync segment"
            ]
        );
        *(if zeros { &mut filled } else { &mut unfilled }) += 1;
    }
    assert_eq!(
        (filled, unfilled),
        (2, 2),
        "a round for warming up, and one that counts"
    );
}

#[test]
#[ignore = "needs strace"]
fn entangle_neighbour_never_flushes() {
    let threads = trace_workload_in_temporary_directory(Workload::Entangle);
    let commits = thread_containing_call(&threads, "openat wal");
    for (i, call) in commits
        .iter()
        .enumerate()
        .filter(|(_, call)| call.call_text() == "pwrite64 8192 wal")
    {
        let next = commits[i + 1].call_text();
        assert!(
            next == "fdatasync wal" || next == "fsync wal",
            "{} then {next}",
            call.line
        );
    }
    let neighbour: Vec<_> = threads
        .iter()
        .filter(|calls| calls[0].file == "neighbour")
        .collect();
    for calls in &neighbour {
        for said in call_texts(calls) {
            assert!(
                ["pwrite64 262144 neighbour", "fadvise64 neighbour"].contains(&said.as_str()),
                "{said}"
            );
        }
    }
    let counts = count_calls(commits);
    assert!(
        counts["fdatasync wal"] > 0 && counts["fsync wal"] > 0 && !neighbour.is_empty(),
        "{counts:?}"
    );
    let cut = counts["ftruncate neighbour"];
    assert!(
        cut >= 4 && counts["fsync neighbour"] == cut,
        "cut after each pass beside it: {counts:?}"
    );
}
