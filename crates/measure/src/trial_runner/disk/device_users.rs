//! Users of a device that hold no claim in the kernel, so O_EXCL does not detect them. Such users
//! are processes that have the device open (virtual machines, raw databases), loop devices, and
//! kernel exports.

use std::path::Path;
use std::{fs, io};

use rustix::fs::FileType;

use super::directory_entries::{
    file_name_text, is_absent_error, read_entry_paths, read_entry_paths_if_present,
};

/// Other processes that have one of the devices open, such as `qemu (12)`. The error names the
/// entry of /proc that could not be read.
pub fn find_processes_with_device_open(numbers: &[u64]) -> Result<Vec<String>, String> {
    let ourselves = fs::read_link("/proc/self").map_err(|e| format!("/proc/self: {e}"))?;
    let mut found = Vec::new();
    for process in read_entry_paths("/proc".as_ref())? {
        let name = file_name_text(&process);
        if !name.bytes().all(|byte| byte.is_ascii_digit()) || ourselves.as_os_str() == name.as_str()
        {
            continue;
        }
        let opened = match any_thread_has_open(&process.join("task"), numbers) {
            Ok(opened) => opened,
            Err(e) if is_process_gone_error(&e) => false,
            Err(e) => return Err(format!("/proc/{name}/fd: {e}")),
        };
        if opened {
            let called = fs::read(process.join("comm")).unwrap_or_default();
            found.push(format!(
                "{} ({name})",
                crate::text::display_safe(called.trim_ascii())
            ));
        }
    }
    Ok(found)
}

fn is_process_gone_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// Checks all threads, because the first thread may have ended while others hold the descriptor.
fn any_thread_has_open(threads: &Path, numbers: &[u64]) -> io::Result<bool> {
    for thread in fs::read_dir(threads)? {
        match has_device_open(&thread?.path().join("fd"), numbers) {
            Ok(false) => {}
            Err(e) if is_process_gone_error(&e) => {}
            found => return found,
        }
    }
    Ok(false)
}

fn has_device_open(descriptors: &Path, numbers: &[u64]) -> io::Result<bool> {
    for entry in fs::read_dir(descriptors)? {
        if rustix::fs::stat(entry?.path()).is_ok_and(|found| is_listed_device(&found, numbers)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_listed_device(found: &rustix::fs::Stat, numbers: &[u64]) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice
        && numbers.contains(&found.st_rdev)
}

pub fn find_kernel_device_users(numbers: &[u64]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for home in read_entry_paths_if_present("/sys/block".as_ref())? {
        let name = file_name_text(&home);
        if name.starts_with("loop")
            && contains_listed_device_path(&home.join("loop/backing_file"), numbers)?
        {
            found.push(name);
        }
    }
    let [nvme, scsi] = [
        "/sys/kernel/config/nvmet/subsystems",
        "/sys/kernel/config/target/core",
    ]
    .map(Path::new);
    for subsystem in read_entry_paths_if_present(nvme)? {
        for space in read_entry_paths_if_present(&subsystem.join("namespaces"))? {
            if contains_listed_device_path(&space.join("device_path"), numbers)? {
                found.push("an NVMe target".to_owned());
            }
        }
    }
    for adapter in read_entry_paths_if_present(scsi)? {
        for object in read_entry_paths_if_present(&adapter)? {
            if contains_listed_device_path(&object.join("udev_path"), numbers)? {
                found.push("a SCSI target".to_owned());
            }
        }
    }
    Ok(found)
}

fn contains_listed_device_path(file: &Path, numbers: &[u64]) -> Result<bool, String> {
    match fs::read_to_string(file) {
        Ok(path) => match rustix::fs::stat(path.trim()) {
            Ok(found) => Ok(is_listed_device(&found, numbers)),
            // stat(2) fails for a deleted backing file of a loop device, which cannot be one of the
            // devices.
            Err(_) if !path.trim_start().starts_with("/dev/") => Ok(false),
            Err(e) => Err(format!(
                "{}: {}: {e}",
                file.display(),
                crate::text::display_safe(path.trim().as_bytes())
            )),
        },
        Err(e) if is_absent_error(&e) => Ok(false),
        // ENXIO means that the loop device was detached in the meantime.
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => Ok(false),
        Err(e) => Err(format!("{}: {e}", file.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_device_has_no_users() {
        assert_eq!(find_kernel_device_users(&[u64::MAX]), Ok(Vec::new()));
        assert!(has_device_open(Path::new("/proc/self/fd"), &[u64::MAX]).is_ok_and(|open| !open));
        assert!(
            has_device_open(Path::new("/proc/0/fd"), &[]).is_err_and(|e| is_process_gone_error(&e))
        );
    }
}
