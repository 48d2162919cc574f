//! Hosts that hide parts of the system from walwise: no /sys, no /etc, no processes of other
//! users, a read-only root. walwise still answers and reports what is missing.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::deadline::{ChildInTime as _, CommandInTime as _};
use crate::support::programs::{copy_walwise_into, output_retrying_busy, private_mounts_shell};
use crate::support::{stderr, stdout};

/// Runs a shell script in a private mount namespace; `$walwise` in `lines` is the path of the
/// program.
fn run_in_mount_namespace(lines: &str, program: &Path) -> Output {
    let script = format!("set -eu\nwalwise=$1\n{lines}");
    let mut command = private_mounts_shell(&script);
    command.arg(program);
    output_retrying_busy(&mut command)
}

fn assert_reports_missing_paths(output: &Output, missing: &[&str]) {
    let code = output.status.code().expect("it ended by itself");
    let said = stdout(output);
    assert!(
        [0, 3, 4, 5].contains(&code),
        "{code}: {said}{}",
        stderr(output)
    );
    for words in missing {
        assert!(said.contains(words), "nothing of {words:?} in:\n{said}");
    }
}

fn copy_walwise() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::set_permissions(
        dir.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let program = copy_walwise_into(dir.path());
    (dir, program)
}

#[test]
#[ignore = "needs root: mounts in a name space of its own"]
fn missing_sys_makes_devices_unknown() {
    let (_dir, program) = copy_walwise();
    let output = run_in_mount_namespace(
        "mount -t tmpfs none /sys\nexec \"$walwise\" check / --no-probe -v",
        &program,
    );
    assert_reports_missing_paths(&output, &["/sys"]);
    assert!(
        !stdout(&output).starts_with("DURABLE"),
        "{}",
        stdout(&output)
    );
}

#[test]
#[ignore = "needs root: mounts in a name space of its own"]
fn unreadable_etc_is_reported() {
    let (_dir, program) = copy_walwise();
    let lines = "mount -t tmpfs -o mode=0700 none /etc\n\
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$walwise\" check / --no-probe -v";
    assert_reports_missing_paths(&run_in_mount_namespace(lines, &program), &["/etc/fstab"]);
}

#[test]
#[ignore = "needs root: mounts in a name space of its own"]
fn hidden_processes_are_reported() {
    let (_dir, program) = copy_walwise();
    let lines = "mount -t proc -o hidepid=2 none /proc\n\
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$walwise\" check --no-probe -v";
    assert_reports_missing_paths(&run_in_mount_namespace(lines, &program), &["hidepid"]);
}

#[test]
#[ignore = "needs root: mounts in a name space of its own"]
fn a_read_only_root_is_checked_and_not_probed() {
    let (_dir, program) = copy_walwise();
    let read_only = "mount --rbind / /mnt && mount -o remount,bind,ro /mnt\n";
    let output = run_in_mount_namespace(
        &format!("{read_only}exec chroot /mnt \"$walwise\" check /var --no-probe"),
        &program,
    );
    assert_reports_missing_paths(&output, &["walwise "]);
    let output = run_in_mount_namespace(
        &format!("{read_only}exec chroot /mnt \"$walwise\" probe /var --seconds 0.5"),
        &program,
    );
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(
        stderr(&output).to_lowercase().contains("read-only"),
        "{}",
        stderr(&output)
    );
    let output = run_in_mount_namespace(
        &format!("{read_only}exec chroot /mnt \"$walwise\" check /var --no-probe --save"),
        &program,
    );
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(
        stderr(&output).to_lowercase().contains("read-only"),
        "{}",
        stderr(&output)
    );
}

fn check_service_unit_value(word: &str) -> String {
    let unit = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/packaging/systemd/walwise-check.service"
    );
    let unit = std::fs::read_to_string(unit).unwrap();
    unit.lines()
        .find_map(|line| line.strip_prefix(word))
        .unwrap()
        .to_owned()
}

#[test]
#[ignore = "needs root: mounts in a name space of its own"]
fn weekly_unit_capabilities_suffice_for_containers() {
    let (_dir, program) = copy_walwise();
    let said = |capabilities: &str| {
        let lines = format!(
            "tree=$(mktemp -d)
            mount -t tmpfs -o mode=755 tmpfs \"$tree\"
            mkdir \"$tree/srv\"
            for part in usr lib lib64; do
                [ ! -e \"/$part\" ] || {{ mkdir \"$tree/$part\"; mount --bind \"/$part\" \"$tree/$part\"; }}
            done
            cp /bin/sleep \"$tree/srv/mariadbd\"
            unshare --mount chroot --userspec=4242:4242 \"$tree\" /srv/mariadbd 600 &
            trap 'kill \"$!\"; rmdir \"$tree\" || true' EXIT
            until grep -qx mariadbd \"/proc/$!/comm\"; do [ -d \"/proc/$!\" ]; done
            setpriv --bounding-set '{capabilities}' \"$walwise\" check -v --no-probe --format json || true"
        );
        stdout(&run_in_mount_namespace(&lines, &program))
    };
    let of_unit = check_service_unit_value("CapabilityBoundingSet=")
        .to_ascii_lowercase()
        .replace("cap_", "+")
        .replace(' ', ",");
    let of_unit = format!("-all,{of_unit}");
    assert!(said(&of_unit.replace("+sys_chroot,", "")).contains("cannot be changed to"));
    let found = said(&of_unit);
    assert!(
        found.contains("mount namespace, perhaps a container"),
        "{found}"
    );
    assert!(!found.contains("cannot be changed to"), "{found}");
    assert!(
        check_service_unit_value("SystemCallFilter=")
            .split(' ')
            .any(|call| call == "chroot"),
        "which @system-service lacks"
    );
}

#[test]
#[ignore = "exhaustive"]
fn missing_file_descriptors_are_reported_or_harmless() {
    let (dir, program) = copy_walwise();
    let server = dir.path().join("mariadbd");
    assert!(
        Command::new("cp")
            .arg("/bin/sleep")
            .arg(&server)
            .status_in_time()
            .success()
    );
    let mut server = Command::new(server)
        .arg("600")
        .current_dir(dir.path())
        .spawn()
        .unwrap();
    let process = format!("process {}", server.id());
    let outputs: Vec<Output> = (6..40)
        .map(|most| {
            let mut command = Command::new("prlimit");
            command.arg(format!("--nofile={most}:{most}")).arg(&program);
            output_retrying_busy(command.args(["check", "--no-probe", "-v", "--format", "json"]))
        })
        .collect();
    server.kill_in_time();
    let (mut found, mut lacking) = (0, 0);
    for (most, output) in (6..).zip(&outputs) {
        let said = stdout(output);
        let (is_there, is_warned) = (
            said.contains(&process),
            said.contains("no file descriptor was left"),
        );
        let is_refused = output.status.code() == Some(1) && !output.stderr.is_empty();
        assert!(
            is_there || is_warned || is_refused,
            "with {most} descriptors: {said}{}",
            stderr(output)
        );
        found += usize::from(is_there);
        lacking += usize::from(is_warned);
    }
    assert!(found > 0 && lacking > 0, "{found} {lacking}");
}
