//! Machines of which walwise may see little: no /sys, no /etc, no other user's processes, a root that is read-only. It
//! answers, and says what is missing.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::programs::{copy_of_walwise, output_when_free};
use crate::support::{stderr, stdout};

/// Runs walwise in a mount name space of its own, after these lines of shell; `$walwise` is the program.
fn behind(lines: &str, program: &Path) -> Output {
    let script = format!("set -eu\nwalwise=$1\n{lines}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script, "-"]).arg(program);
    output_when_free(&mut command)
}

fn answers(output: &Output, missing: &[&str]) {
    let code = output.status.code().expect("it ended by itself");
    let said = stdout(output);
    assert!([0, 3, 4, 5].contains(&code), "{code}: {said}{}", stderr(output));
    for words in missing {
        assert!(said.contains(words), "nothing of {words:?} in:\n{said}");
    }
}

fn program() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = copy_of_walwise(dir.path());
    (dir, program)
}

#[test]
#[ignore = "needs root: mounts in a name space of its own"]
fn without_sys_devices_are_unknown() {
    let (_dir, program) = program();
    let output = behind("mount -t tmpfs none /sys\nexec \"$walwise\" check / --no-probe -v", &program);
    answers(&output, &["/sys"]);
    assert!(!stdout(&output).starts_with("DURABLE"), "{}", stdout(&output));
}

#[test]
#[ignore = "needs root: mounts in a name space of its own"]
fn an_unreadable_etc_is_said() {
    let (_dir, program) = program();
    let lines = "mount -t tmpfs -o mode=0700 none /etc\n\
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$walwise\" check / --no-probe -v";
    answers(&behind(lines, &program), &["/etc/fstab"]);
}

#[test]
#[ignore = "needs root: mounts in a name space of its own"]
fn hidden_processes_are_said() {
    let (_dir, program) = program();
    let lines = "mount -t proc -o hidepid=2 none /proc\n\
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$walwise\" check --no-probe -v";
    answers(&behind(lines, &program), &["hidepid"]);
}

#[test]
#[ignore = "needs root: mounts in a name space of its own"]
fn a_read_only_root_is_checked_and_not_probed() {
    let (_dir, program) = program();
    let read_only = "mount --rbind / /mnt && mount -o remount,bind,ro /mnt\n";
    let output = behind(&format!("{read_only}exec chroot /mnt \"$walwise\" check /var --no-probe"), &program);
    answers(&output, &["walwise "]);
    let output =
        behind(&format!("{read_only}exec chroot /mnt \"$walwise\" probe /var --seconds 0.5"), &program);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).to_lowercase().contains("read-only"), "{}", stderr(&output));
    let output =
        behind(&format!("{read_only}exec chroot /mnt \"$walwise\" check /var --no-probe --save"), &program);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).to_lowercase().contains("read-only"), "{}", stderr(&output));
}
