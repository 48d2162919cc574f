//! Questions about the host and walwise's own process: uname(2), user and namespaces, memory and
//! processors.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::unix::prelude::*;
use std::path::Path;

use nix::sched::{CloneFlags, setns};
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use super::files;
use crate::host::{HostError, HostErrorKind, HostResult, NOBODY};
use crate::text::{bytes, io_error_message};

/// Inode numbers that the initial namespaces always have (`PROC_PID_INIT_INO` and
/// `PROC_USER_INIT_INO` in the kernel's include/linux/proc_ns.h).
const INITIAL_NAMESPACES: [(&str, &str); 2] =
    [("pid", "pid:[4026531836]"), ("user", "user:[4026531837]")];

pub fn uname() -> Vec<u8> {
    let Ok(names) = nix::sys::utsname::uname() else {
        return Vec::new();
    };
    let fields = [
        names.sysname(),
        names.nodename(),
        names.release(),
        names.version(),
        names.machine(),
    ];
    fields
        .iter()
        .flat_map(|field| [field.as_bytes(), b"\n"].concat())
        .collect()
}

pub fn euid_namespaces_and_root() -> Vec<u8> {
    let which = |is_initial| if is_initial { "initial" } else { "other" };
    let mut lines = format!("euid={}\n", nix::unistd::geteuid());
    for (name, initial) in INITIAL_NAMESPACES {
        if let Ok(link) = fs::read_link(format!("/proc/self/ns/{name}")) {
            let which = which(link.as_os_str() == initial);
            let _ = writeln!(lines, "{name}_namespace={which}");
        }
    }
    if let Some(is_initial) = has_root_directory_of_init() {
        let _ = writeln!(lines, "root={}", which(is_initial));
    }
    lines.into_bytes()
}

/// Enters the mount namespace of process 1, if walwise is in the host's PID namespace. The
/// process must have only one thread (setns(2)).
pub fn enter_init_mount_namespace() -> io::Result<()> {
    let [(_, initial), _] = INITIAL_NAMESPACES;
    if fs::read_link("/proc/self/ns/pid")?.as_os_str() != initial {
        return Ok(());
    }
    Ok(setns(
        File::open("/proc/1/ns/mnt")?,
        CloneFlags::CLONE_NEWNS,
    )?)
}

/// Whether walwise has the root directory of process 1. A container that shares the host's PID
/// namespace has another root directory; a service in a mount namespace has the same. `None` if
/// walwise may not read /proc/1/root.
fn has_root_directory_of_init() -> Option<bool> {
    let identity = |path| {
        let found = fs::metadata(path).ok()?;
        Some((found.dev(), found.ino()))
    };
    Some(identity("/proc/1/root")? == identity("/")?)
}

pub fn usable_memory_and_cpus() -> HostResult {
    let what = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(what);
    let all = system.total_memory();
    // sysinfo panics when asked for cgroup limits after it could not read the memory size.
    if all == 0 {
        return Err(HostError::failed(
            "the memory size cannot be read from /proc/meminfo",
        ));
    }
    let memory = system
        .cgroup_limits()
        .map_or(all, |limits| all.min(limits.total_memory));
    // Processors in the affinity mask, within the quota of the control group; sysinfo considers
    // neither.
    let cpus = std::thread::available_parallelism()
        .map_err(|e| HostError::failed(io_error_message(&e)))?;
    Ok(format!("memory_bytes={memory}\ncpus={cpus}\n").into_bytes())
}

/// Looks up a user id in /etc/passwd. A directory service is not queried, because that would cause
/// network traffic.
pub fn user_name(uid: u32) -> HostResult {
    let list = files::read_file_bounded(Path::new("/etc/passwd"))?;
    passwd_field(&list, uid, 0)
        .ok_or_else(|| HostError::new(HostErrorKind::Absent, "no user in /etc/passwd has this ID"))
}

/// The name of the user of this process.
pub fn own_user_name() -> HostResult {
    let name = user_name(nix::unistd::geteuid().as_raw())?;
    Ok(name.trim_ascii().to_vec())
}

/// The group of a user in /etc/passwd, or the group of `nobody` for a user not listed there, such
/// as a container's.
pub fn primary_group_or_nobody(uid: u32) -> u32 {
    let list = files::read_file_bounded(Path::new("/etc/passwd")).unwrap_or_default();
    passwd_field(&list, uid, 3)
        .and_then(|group| bytes::parse(&group))
        .unwrap_or(NOBODY)
}

fn passwd_field(list: &[u8], uid: u32, field: usize) -> Option<Vec<u8>> {
    let uid = uid.to_string();
    bytes::lines(list).find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|b| *b == b':').collect();
        (*fields.get(2)? == uid.as_bytes())
            .then(|| fields.get(field).map(|field| field.to_vec()))?
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn machine_answers_have_their_fields() {
        assert_eq!(String::from_utf8(uname()).unwrap().lines().count(), 5);
        assert!(euid_namespaces_and_root().starts_with(b"euid="));
        let text = String::from_utf8(usable_memory_and_cpus().unwrap()).unwrap();
        let values: Vec<_> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .collect();
        assert_eq!(
            values.iter().map(|v| v.0).collect::<Vec<_>>(),
            ["memory_bytes", "cpus"]
        );
        assert!(
            values.iter().all(|v| v.1.parse::<u64>().unwrap() > 0),
            "{text}"
        );
    }

    #[test]
    fn passwd_user_is_found_by_whole_uid() {
        let list = b"root:x:0:0:root:/root:/bin/sh\nbroken\npostgres:x:26:26::/:\n";
        assert_eq!(
            passwd_field(list, 26, 0).as_deref(),
            Some(b"postgres".as_slice())
        );
        assert_eq!(passwd_field(list, 6, 0), None);
    }

    proptest! {
        #[test]
        fn malformed_passwd_line_affects_no_other_user(bad in "[^\n:]{0,20}(:[^\n:]{0,4}){0,2}", uid in 1u32..) {
            let list = format!("root:x:0:0::/:\n{bad}\nme:x:{uid}:1::/:\n");
            prop_assume!(bad.split(':').nth(2) != Some(&uid.to_string()));
            prop_assert_eq!(passwd_field(list.as_bytes(), uid, 0), Some(b"me".to_vec()));
        }

        #[test]
        fn passwd_name_contains_no_separator(bytes: Vec<u8>, uid: u32) {
            prop_assert!(passwd_field(&bytes, uid, 0).is_none_or(|name| !name.contains(&b'\n') && !name.contains(&b':')));
        }
    }
}
