//! System calls that fail at a moment chosen by strace: checks the message, the measurements kept,
//! and the removal of all files.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use nix::sys::signal::Signal;

use super::{ENDLESS, only_error_line, stdout_json};
use crate::support::strace::{directory_in_memory, start_probe_under_strace};
use crate::support::{has_no_scratch_directory, sorted_file_names, stderr, stdout};

/// Delays every write by 2 ms, so that a round has few commits and the hundredth call is in the
/// middle of a round.
const SLOW: &str = "pwrite64:delay_exit=2000";

const DISK: &str = "reported an I/O error; check dmesg";

fn probe_with_faults(directory: &Path, planted: &[&str]) -> Output {
    let arguments = ["--format", "json", "--seconds", ENDLESS];
    start_probe_under_strace(directory, Path::new("/dev/null"), planted, &arguments)
        .wait_for_output()
}

struct FaultCase {
    planted: &'static [&'static str],
    says: [&'static str; 2],
    /// True if at least one round is certainly complete before the failure.
    measured: bool,
}

#[test]
#[ignore = "needs strace"]
fn failed_call_is_reported_and_earlier_rounds_kept() {
    let case = |planted, says, measured| FaultCase {
        planted,
        says,
        measured,
    };
    for FaultCase {
        planted,
        says,
        measured,
    } in [
        case(
            &["mkdirat:error=EDQUOT"][..],
            ["creating the scratch directory failed", "quota"],
            false,
        ),
        case(
            &["mkdirat:error=ENOSPC"],
            ["creating the scratch directory failed", "ran out of space"],
            false,
        ),
        case(
            &["pwrite64:error=EIO:when=3"],
            ["writing the scratch file failed", DISK],
            false,
        ),
        case(
            &["fsync:error=EIO:when=1"],
            ["writing the scratch file failed", DISK],
            false,
        ),
        case(
            &["fdatasync:error=EIO:when=1"],
            ["a commit with fdatasync failed", DISK],
            false,
        ),
        // The hundredth call may be the flush between two methods instead of a commit.
        case(
            &[SLOW, "fdatasync:error=EIO:when=100"],
            [" failed", DISK],
            true,
        ),
        case(
            &[SLOW, "fsync:error=EIO:when=100"],
            ["a commit with fsync failed", DISK],
            true,
        ),
        case(
            &["pwrite64:error=EIO:when=150"],
            ["a commit with ", DISK],
            false,
        ),
        case(
            &["pwrite64:error=EROFS:when=150+"],
            ["a commit with ", "became read-only"],
            false,
        ),
        case(
            &["pwrite64:error=EDQUOT:when=150+"],
            ["a commit with ", "quota"],
            false,
        ),
    ] {
        let directory = directory_in_memory();
        let output = probe_with_faults(directory.path(), planted);
        assert_eq!(output.status.code(), Some(1), "{planted:?}: {output:?}");
        let complaint = only_error_line(&output);
        assert!(
            says.iter().all(|words| complaint.contains(words)),
            "{planted:?}: {complaint}"
        );
        assert_eq!(sorted_file_names(directory.path()), [""; 0], "{planted:?}");
        if measured {
            let found = stdout_json(&output);
            assert!(
                found["rounds"].as_u64() > Some(0) && found["cancelled"] == false,
                "{planted:?}: {found:#}"
            );
            let why = found["caveats"].to_string();
            assert!(
                why.contains(says[1]),
                "what it lacks is said with it: {why}"
            );
        } else {
            assert!(
                output.stdout.is_empty() || stdout_json(&output)["rounds"].as_u64() > Some(0),
                "{output:?}"
            );
        }
    }
}

#[test]
#[ignore = "needs strace"]
fn a_call_that_fails_in_a_workload_ends_it() {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let mut failed = 0;
    for workload in ["segment", "group", "innodb", "files", "entangle"] {
        for planted in ["pwrite64", "fdatasync", "fsync"]
            .into_iter()
            .flat_map(|call| {
                // Call 1 is in the preparation; strace counts calls for each thread separately.
                ["1", "2", "20"].map(|nth| format!("{call}:error=EIO:when={nth}"))
            })
        {
            let directory = directory_in_memory();
            let arguments = ["--seconds", "1", "--workload", workload];
            let output =
                start_probe_under_strace(directory.path(), trace.path(), &[&planted], &arguments)
                    .wait_for_output();
            assert_eq!(
                sorted_file_names(directory.path()),
                [""; 0],
                "{workload} {planted}"
            );
            // The exit code is 1 only if a call of the workload failed. Some workloads never reach
            // the failing call, and programs run only for their version do not count.
            let calls = std::fs::read_to_string(trace.path()).unwrap();
            let place = directory.path().to_str().unwrap();
            let thread = |line: &'_ str| line.split(' ').next().map(str::to_owned);
            let writing: BTreeSet<_> = calls
                .lines()
                .filter(|line| line.contains(place))
                .map(thread)
                .collect();
            let mut failing = calls.lines().filter(|line| line.contains("(INJECTED)"));
            let came = failing.any(|line| writing.contains(&thread(line)));
            assert_eq!(
                output.status.code(),
                Some(i32::from(came)),
                "{workload} {planted}: {output:?}"
            );
            if came {
                failed += 1;
                assert!(
                    only_error_line(&output).contains(DISK),
                    "{workload} {planted}: {output:?}"
                );
            }
        }
    }
    assert!(failed >= 6 * 2, "each at least twice: {failed}");
}

#[test]
#[ignore = "needs strace"]
fn a_signal_keeps_what_was_measured() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let directory = directory_in_memory();
        let output = probe_with_faults(
            directory.path(),
            &[&format!("fdatasync:signal={signal}:when=100"), SLOW],
        );
        assert_eq!(
            output.status.code(),
            Some(128 + signal as i32),
            "{output:?}"
        );
        let found = stdout_json(&output);
        assert!(
            found["rounds"].as_u64() > Some(0) && found["cancelled"] == true,
            "{found:#}"
        );
        assert!(
            only_error_line(&output).contains("the scratch files were removed"),
            "{output:?}"
        );
        assert_eq!(sorted_file_names(directory.path()), [""; 0]);

        // A probe that fails before the first round prints nothing.
        let output = probe_with_faults(
            directory.path(),
            &[&format!("fsync:signal={signal}:when=1")],
        );
        assert_eq!(
            (output.status.code(), stdout(&output).as_str()),
            (Some(128 + signal as i32), "")
        );
        assert_eq!(sorted_file_names(directory.path()), [""; 0]);
    }
}

#[test]
#[ignore = "needs strace"]
fn unremovable_scratch_files_are_named() {
    for (planted, code) in [
        ("fdatasync:error=EIO:when=100", 1),
        ("fdatasync:signal=SIGTERM:when=100", 143),
    ] {
        let directory = directory_in_memory();
        let output = probe_with_faults(
            directory.path(),
            &[planted, SLOW, "unlinkat:error=EIO:when=2+"],
        );
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(stdout_json(&output)["rounds"].as_u64() > Some(0));
        let complaint = only_error_line(&output);
        let [left] = &sorted_file_names(directory.path())[..] else {
            panic!("{:?}", sorted_file_names(directory.path()))
        };
        assert!(
            complaint.contains("still there") && complaint.contains(left),
            "{}",
            stderr(&output)
        );
        assert!(
            !complaint.contains("are gone") && !has_no_scratch_directory(directory.path()),
            "{complaint}"
        );
    }
}
