//! Checks that reading a host causes no writes: dirty pages of other users stay in memory, and
//! nothing is opened for writing.

use super::attempts::Attempts;
use super::root;
use super::support::loops::{mount_ext4, mount_xfs};

const CALLS: &str = "fsync,fdatasync,sync,syncfs,sync_file_range,ioctl,msync,write,pwrite64,open,openat,openat2,creat,execve";

/// Ioctls that write or cause a write; BLKFLSBUF makes a mounted XFS sync.
const HARMFUL: [&str; 4] = ["BLKFLSBUF", "BLKRRPART", "FIFREEZE", "BLKDISCARD"];

fn write_and_sync_calls(trace: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for line in trace {
        // `strace -ff` writes one file per process, so no pid precedes a call.
        let call = line.as_str();
        let name = call.split('(').next().unwrap_or_default();
        let harmful = match name {
            "fsync" | "fdatasync" | "sync" | "syncfs" | "sync_file_range" | "msync" => true,
            "ioctl" => HARMFUL
                .iter()
                .any(|what| call.contains(&format!(", {what}")) && !call.contains("ZEROES")),
            "open" | "openat" | "openat2" | "creat" => {
                let writable = call.contains("O_WRONLY")
                    || call.contains("O_RDWR")
                    || call.contains("O_CREAT");
                writable && !call.contains("/dev/null") && !call.contains(" = -1 ")
            }
            "execve" => ["xfs_db", "dumpe2fs", "debugfs"]
                .iter()
                .any(|program| call.contains(&format!("/{program}\""))),
            _ => false,
        };
        if harmful {
            found.push(call.chars().take(160).collect());
        }
    }
    found
}

/// Root checks mounted file systems with dirty pages. The owner of those pages must not have to
/// wait.
#[test]
#[ignore = "needs root and loop devices"]
fn check_of_mounted_file_systems_writes_nothing() {
    let mut attempts =
        Attempts::for_attack("looking at a mounted file system without writing to it");
    for name in ["ext4", "XFS"] {
        let mounted = if name == "ext4" {
            mount_ext4(&[], "")
        } else {
            mount_xfs("")
        };
        let target = mounted.create_subdirectory("data").display().to_string();
        for arguments in [
            &["check", "--no-probe", &target][..],
            &["facts", "--target", &target],
            &["capture", &target],
        ] {
            let (ended, trace) = root::run_traced(CALLS, arguments);
            let mut gains = write_and_sync_calls(&trace);
            gains.extend(ended.hang_message());
            attempts.record_attempt(&format!("{name}, {}", arguments[0]), &gains);
        }
    }
    attempts.write_tally_and_assert();
}

#[test]
#[ignore = "needs root"]
fn read_commands_without_target_write_nothing() {
    let mut attempts = Attempts::for_attack("looking at the whole machine without writing");
    for arguments in [
        &["check", "--no-probe"][..],
        &["facts"],
        &["capture"],
        &["upgrade"],
        &["explain"],
    ] {
        let (ended, trace) = root::run_traced(CALLS, arguments);
        let mut gains = write_and_sync_calls(&trace);
        gains.extend(ended.hang_message());
        attempts.record_attempt(arguments[0], &gains);
    }
    attempts.write_tally_and_assert();
}
