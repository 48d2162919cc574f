//! Tests `LiveHost` on the real host: file systems that never answer, contents of devices, and what
//! walwise sees without root.

use std::io::Write as _;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use walwise_collect as collect;
use walwise_sys::host::{
    CachingHost, Host, HostErrorKind, LiveHost, Question, RecordedHost, ScanDepth,
};

use crate::support::deadline::{ChildInTime as _, CommandInTime as _, read_in_time};
use crate::support::fuse::HungFuse;
use crate::support::loops::{self, LoopDevice};
use crate::support::{report_findings, run, stdout, walwise};

fn live_host() -> LiveHost {
    LiveHost::with_child_program(PathBuf::from(crate::support::programs::walwise_path()))
}

#[test]
#[ignore = "needs root: mounts a FUSE file system"]
fn hung_mounts_time_out_and_are_noted() {
    let dir = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let held = HungFuse::mount(dir.path());
    let host = live_host();
    assert_eq!(
        host.statfs(dir.path()).unwrap_err().kind,
        HostErrorKind::TimedOut
    );
    assert_eq!(
        host.read(&dir.path().join("PG_VERSION")).unwrap_err().kind,
        HostErrorKind::TimedOut
    );
    assert!(host.stat(other.path()).unwrap().is_dir());
    assert!(host.list_directory(dir.path().parent().unwrap()).is_ok());
    assert_eq!(host.run_notes().len(), 2, "{:?}", host.run_notes());
    assert!(
        host.run_notes()[0].contains(dir.path().to_str().unwrap()),
        "{:?}",
        host.run_notes()
    );
    // Dropping the host must not wait for a stuck child; otherwise this call never returns.
    drop(host);
    drop(held);
}

#[test]
#[ignore = "needs root: mounts a FUSE file system"]
fn hung_mount_is_touched_only_as_the_target() {
    let dir = tempfile::tempdir().unwrap();
    let _held = HungFuse::mount(dir.path());
    let whole = walwise()
        .args(["check", "--no-probe", "-v", "--format", "json"])
        .output_in_time();
    assert!(
        !stdout(&whole).contains("no answer within"),
        "an unasked-for mount was touched: {}",
        stdout(&whole)
    );
    let target = walwise()
        .args(["check", "--no-probe", "-v", "--format", "json"])
        .arg(dir.path())
        .output_in_time();
    assert!(
        stdout(&target).contains("no answer within"),
        "{}{}",
        stdout(&target),
        String::from_utf8_lossy(&target.stderr)
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn device_scan_recognises_contents() {
    let blank = LoopDevice::new(64);
    let path = Path::new(&blank.device);
    let found = live_host().scan_device(path, ScanDepth::Thorough).unwrap();
    assert_eq!(
        (found.signatures.len(), found.has_data, found.unread_run),
        (0, false, 0),
        "{found:?}"
    );
    let makers: [(&[&str], &str); 3] = [
        (&["mkfs.ext4", "-q"], "ext4"),
        (&["mkswap"], "swap"),
        (
            &[
                "mkfs.ext4",
                "-q",
                "-O",
                "^has_journal,^extent,^64bit,^metadata_csum,^flex_bg,^huge_file,^dir_nlink,^extra_isize",
            ],
            "ext2",
        ),
    ];
    for (maker, name) in makers {
        run("wipefs", &["-a", &blank.device]);
        blank.mkfs(maker);
        let found = live_host().scan_device(path, ScanDepth::Thorough).unwrap();
        // The report also mentions the child that an earlier run left behind.
        assert!(
            found.has_data && found.signatures.iter().any(|found| found == name),
            "{found:?}"
        );
    }
    run("wipefs", &["-a", &blank.device]);
    let wiped = live_host().scan_device(path, ScanDepth::Thorough).unwrap();
    assert_eq!(
        (wiped.signatures.as_slice(), wiped.has_data),
        (&["ext backup superblock".to_owned()][..], true)
    );
    assert_eq!(
        live_host()
            .scan_device(Path::new("/etc/passwd"), ScanDepth::Brief)
            .unwrap_err()
            .kind,
        HostErrorKind::Failed
    );
}

#[test]
#[ignore = "needs root: to become somebody else"]
fn without_privileges_a_device_is_denied() {
    let disk = LoopDevice::new(16);
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut child = Command::new(crate::support::programs::walwise_path())
        .arg("__ask")
        .uid(65534)
        .gid(65534)
        .stdin(Stdio::null())
        .stdout(OwnedFd::from(theirs))
        .spawn()
        .unwrap();
    let question = serde_json::to_vec(&format!("content passing {}", disk.device)).unwrap();
    let length = u32::try_from(question.len()).unwrap().to_le_bytes();
    ours.write_all(&[&length[..], &question].concat()).unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    child.wait_in_time();
    let mut answer = [0; 1 << 10];
    let count = read_in_time("the child", &mut ours, &mut answer);
    let answer = String::from_utf8_lossy(&answer[..count]);
    assert!(answer.contains("Denied"), "{answer}");
}

#[test]
fn a_capture_replays_what_the_machine_said() {
    let host = live_host();
    let recording = CachingHost::new(&host);
    let questions = [
        Question::Uname,
        Question::Identity,
        Question::Read("/proc/sys/kernel/osrelease".into()),
        Question::List("/proc/sys/kernel".into()),
        Question::Link("/proc/self/ns/pid".into()),
        Question::Read("/nowhere".into()),
    ];
    let said: Vec<_> = questions
        .iter()
        .map(|question| recording.ask(question))
        .collect();
    let replay = RecordedHost::parse(recording.render_capture("a test", false).as_bytes()).unwrap();
    assert_eq!(
        questions
            .iter()
            .map(|question| replay.ask(question))
            .collect::<Vec<_>>(),
        said
    );
    assert_eq!(replay.run_notes(), Vec::<String>::new());
}

fn rule_outcomes_from_capture(capture: &str) -> Vec<(String, String)> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("capture.host");
    std::fs::write(&file, capture).unwrap();
    let output = walwise()
        .args(["check", "-v", "--format", "json", "--host"])
        .arg(&file)
        .output_in_time();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report_findings(&report);
    let mut list: Vec<_> = findings
        .map(|f| (f["rule"].to_string(), f["outcome"]["outcome"].to_string()))
        .collect();
    list.sort();
    list
}

#[test]
#[ignore = "needs root: loop devices"]
fn masking_changes_no_finding() {
    let ext4 = loops::mount_ext4(&[], "");
    let btrfs = loops::mount_btrfs("");
    let host = live_host();
    let recording = CachingHost::new(&host);
    for target in [&ext4.point, &btrfs.point] {
        let request = collect::Request {
            target: Some(target.clone()),
            ..collect::Request::default()
        };
        collect::run_all_collectors(&recording, &request, &mut |_, _| ());
    }
    let uuid = run(
        "blkid",
        &["-p", "-s", "UUID", "-o", "value", &btrfs.disk.device],
    )
    .trim()
    .to_owned();
    let plain = recording.render_capture("", false);
    let masked = recording.render_capture("", true);
    assert!(
        plain.contains(&uuid),
        "the capture does not hold what is to be masked"
    );
    assert!(!masked.contains(&uuid), "{masked}");
    assert_eq!(
        rule_outcomes_from_capture(&masked),
        rule_outcomes_from_capture(&plain)
    );
}
