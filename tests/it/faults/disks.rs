//! Unusual file systems and disks: one that turns read-only by itself, and sectors larger than a
//! write.

use std::fs;
use std::process::Output;

use super::{ENDLESS, only_error_line, stdout_json};
use crate::support::loops::{LoopDevice, mount_file_system};
use crate::support::running::RunningProgram;
use crate::support::{run, sorted_file_names};

#[test]
#[ignore = "needs root: a loop device"]
fn read_only_remount_during_probe_is_reported() {
    for more in [&[][..], &["--workload", "files"]] {
        let mounted = mount_file_system(256, &["mkfs.ext4", "-q"], "errors=remount-ro");
        let arguments = [&["probe", mounted.path(), "--seconds", ENDLESS], more].concat();
        let mut running = RunningProgram::start_walwise(arguments);
        let scratch = running.wait_for_scratch_file(&mounted.point);
        // Makes ext4 turn read-only as after damage; a manual remount fails while a writer is
        // active.
        fs::write(
            format!("/sys/fs/ext4/{}/trigger_fs_error", mounted.disk.name()),
            "1",
        )
        .unwrap();
        let output = running.wait_for_output();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let complaint = only_error_line(&output);
        assert!(
            complaint.contains("became read-only") && complaint.contains("dmesg"),
            "{complaint}"
        );
        assert!(
            complaint.contains("still there") && complaint.contains(scratch.to_str().unwrap()),
            "{complaint}"
        );
    }
}

fn probe_on_4k_sectors(more: &[&str]) -> Output {
    let image = tempfile::NamedTempFile::new().unwrap();
    image.as_file().set_len(256 << 20).unwrap();
    let disk = LoopDevice::from_image(image.path());
    run("losetup", &["--sector-size", "4096", &disk.device]);
    disk.mkfs(&["mkfs.ext4", "-q"]);
    let mounted = disk.mount("");
    let output = RunningProgram::start_walwise(
        [
            &[
                "probe",
                mounted.path(),
                "--format",
                "json",
                "--seconds",
                "1",
            ],
            more,
        ]
        .concat(),
    );
    let output = output.wait_for_output();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(sorted_file_names(&mounted.point), [""; 0]);
    output
}

#[test]
#[ignore = "needs root: a loop device"]
fn direct_writes_below_sector_size_fail_only_their_rows() {
    let found = stdout_json(&probe_on_4k_sectors(&["--pg-test-fsync"]));
    let rows = found["workloads"][0]["rows"].as_array().unwrap();
    for row in rows {
        let small = [" 1kB ", " 2kB "]
            .iter()
            .any(|size| row["name"].as_str().unwrap().contains(size));
        assert_eq!(row["error"].is_string(), small, "{row}");
    }
    assert!(rows.iter().any(|row| row["error"].is_string()), "{rows:?}");
}
