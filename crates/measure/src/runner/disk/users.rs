//! Users of a device without the kernel's claim, which O_EXCL does not show: processes that have it
//! open, such as virtual machines and raw databases, loop devices on it, and kernel exports.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::FileType;

/// Other processes that have one of these devices open: `qemu (12)`. The error says what hides
/// them.
pub fn openers(numbers: &[u64]) -> Result<Vec<String>, String> {
    let ourselves = fs::read_link("/proc/self").map_err(|e| format!("/proc/self: {e}"))?;
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").map_err(|e| format!("/proc: {e}"))? {
        let entry = entry.map_err(|e| format!("/proc: {e}"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.bytes().all(|byte| byte.is_ascii_digit())
            || ourselves.as_os_str() == entry.file_name()
        {
            continue;
        }
        let opened = match any_thread_has_open(&entry.path().join("task"), numbers) {
            Ok(opened) => opened,
            // It has ended.
            Err(e) if is_gone(&e) => false,
            Err(e) => return Err(format!("/proc/{name}/fd: {e}")),
        };
        if opened {
            let called = fs::read(entry.path().join("comm")).unwrap_or_default();
            found.push(format!(
                "{} ({name})",
                crate::text::display_safe(called.trim_ascii())
            ));
        }
    }
    Ok(found)
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// All threads: the first may have ended, while the others hold the descriptor.
fn any_thread_has_open(threads: &Path, numbers: &[u64]) -> io::Result<bool> {
    for thread in fs::read_dir(threads)? {
        match has_open(&thread?.path().join("fd"), numbers) {
            Ok(false) => {}
            Err(e) if is_gone(&e) => {}
            found => return found,
        }
    }
    Ok(false)
}

fn has_open(descriptors: &Path, numbers: &[u64]) -> io::Result<bool> {
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

/// Kernel users of one of these devices without a claim: loop devices, and exports to other hosts.
pub fn exports(numbers: &[u64]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for home in subdirectories("/sys/block".as_ref())? {
        let names = home
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if names.starts_with("loop") && points_to_device(&home.join("loop/backing_file"), numbers)?
        {
            found.push(names);
        }
    }
    let [nvme, scsi] = [
        "/sys/kernel/config/nvmet/subsystems",
        "/sys/kernel/config/target/core",
    ]
    .map(Path::new);
    for subsystem in subdirectories(nvme)? {
        for space in subdirectories(&subsystem.join("namespaces"))? {
            if points_to_device(&space.join("device_path"), numbers)? {
                found.push("an NVMe target".to_owned());
            }
        }
    }
    for adapter in subdirectories(scsi)? {
        for object in subdirectories(&adapter)? {
            if points_to_device(&object.join("udev_path"), numbers)? {
                found.push("a SCSI target".to_owned());
            }
        }
    }
    Ok(found)
}

/// Entries of a directory; empty if it is missing.
fn subdirectories(directory: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let told = |e: io::Error| format!("{}: {e}", directory.display());
    match fs::read_dir(directory) {
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| entry.path()).map_err(told))
            .collect(),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(Vec::new())
        }
        Err(e) => Err(told(e)),
    }
}

/// Whether the path in a file leads to one of the devices.
fn points_to_device(file: &Path, numbers: &[u64]) -> Result<bool, String> {
    match fs::read_to_string(file) {
        Ok(path) => match rustix::fs::stat(path.trim()) {
            Ok(found) => Ok(is_listed_device(&found, numbers)),
            // A deleted file is not a device.
            Err(_) if !path.trim_start().starts_with("/dev/") => Ok(false),
            Err(e) => Err(format!(
                "{}: {}: {e}",
                file.display(),
                crate::text::display_safe(path.trim().as_bytes())
            )),
        },
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(false)
        }
        // A loop device that has just gone gives this error.
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => Ok(false),
        Err(e) => Err(format!("{}: {e}", file.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_open_what_is_not_there() {
        assert_eq!(exports(&[u64::MAX]), Ok(Vec::new()));
        assert!(has_open(Path::new("/proc/self/fd"), &[u64::MAX]).is_ok_and(|open| !open));
        assert!(has_open(Path::new("/proc/0/fd"), &[]).is_err_and(|e| is_gone(&e)));
    }
}
