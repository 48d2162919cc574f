//! The loop device over a trial's file. mount(8) attaches the device, because it requests
//! autoclear in the attaching call itself (LOOP_CONFIGURE with LO_FLAGS_AUTOCLEAR, since Linux
//! 5.8). A killed trial therefore leaves no device behind. losetup(8) has no option for
//! autoclear.
//!
//! mount(8) needs a file system to mount: a dummy of 4 MiB, which is zeroed right after the
//! mount.

use std::fs;
use std::ops::ControlFlow::{Break, Continue};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use nix::mount::{MntFlags, umount2};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::disk::{BlockDevice, lock_device};
use super::extent::run_trial_tool;
use super::{proc_fd_path, retry, write_zeros};
use crate::facts::Choice as _;
use crate::facts::catalog::device::QueueWriteCache;
use crate::host::{TrialTool, is_loop_device_path};
use crate::safe_path::random_u64;

/// Size of the dummy file system, in blocks of 4 KiB.
const DUMMY_FILESYSTEM_BLOCKS: u64 = 1024;

const RECOGNITION_BYTES: u64 = 4096;

const DETACH_TIMEOUT: Duration = Duration::from_secs(10);

/// The open descriptor keeps the loop device attached; its lock prevents udev from opening it.
pub struct LoopDevice {
    pub descriptor: OwnedFd,
    pub path: String,
    device: BlockDevice,
    /// Value of `diskseq`, which distinguishes successive devices of one number; empty before Linux
    /// 5.15.
    sequence: String,
}

impl LoopDevice {
    /// Attaches a device to the first `bytes` bytes of a file, with `place` as a temporary mount
    /// point. The error is a complete sentence.
    pub fn attach(file: &OwnedFd, bytes: u64, place: &Path) -> Result<Self, String> {
        let named = proc_fd_path(file)?;
        let blocks = DUMMY_FILESYSTEM_BLOCKS.to_string();
        let small = [
            "-q",
            "-F",
            "-t",
            "ext2",
            "-b",
            "4096",
            "-E",
            "nodiscard",
            &named,
            &blocks,
        ];
        run_trial_tool(TrialTool::Mke2fs, &small)?;
        let options = format!("loop,nosuid,nodev,noexec,sizelimit={bytes}");
        let place_word = place.to_str().unwrap_or_default();
        run_trial_tool(
            TrialTool::Mount,
            &["-n", "-i", "-t", "ext4", "-o", &options, &named, place_word],
        )?;
        let device = Self::from_temporary_mount(place);
        umount2(place, MntFlags::UMOUNT_NOFOLLOW)
            .map_err(|e| format!("cannot unmount the temporary file system: {e}"))?;
        let device = device?;
        lock_device(&device.descriptor, &device.path)?;
        device.verify_backing_file_by_write(file, bytes)?;
        device.enable_direct_io()?;
        let cleared = write_zeros(&device.descriptor, 0..DUMMY_FILESYSTEM_BLOCKS << 12)
            .and_then(|()| rustix::fs::fsync(&device.descriptor));
        cleared.map_err(|e| format!("cannot clear {}: {e}", device.path))?;
        device.check_identity_and_modes(bytes)?;
        Ok(device)
    }

    fn from_temporary_mount(place: &Path) -> Result<Self, String> {
        let cannot = |e: Errno| format!("cannot open the loop device: {e}");
        let number = rustix::fs::stat(place).map_err(cannot)?.st_dev;
        let device = BlockDevice::from_number(number)
            .map_err(|why| format!("cannot determine the loop device: {why}"))?;
        let path = device.device_node();
        if !is_loop_device_path(&path) {
            return Err("mount(8) did not use a loop device".to_owned());
        }
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(path.as_str(), flags, Mode::empty()).map_err(cannot)?;
        Ok(Self {
            descriptor,
            path,
            sequence: device.diskseq(),
            device,
        })
    }

    /// Checks that the trial's file backs the device before the trial writes to the device:
    /// mount(8) takes a path, which can resolve to another file. The error is a complete sentence.
    fn verify_backing_file_by_write(&self, file: &OwnedFd, bytes: u64) -> Result<(), String> {
        let secret: Vec<u8> = (0..RECOGNITION_BYTES / 8)
            .flat_map(|_| random_u64().to_le_bytes())
            .collect();
        let at = bytes.saturating_sub(RECOGNITION_BYTES);
        let mut found = vec![0; secret.len()];
        let same = rustix::io::pwrite(file, &secret, at)
            .and_then(|_| rustix::fs::fsync(file))
            .and_then(|()| rustix::io::pread(&self.descriptor, &mut found, at))
            .is_ok_and(|count| count == secret.len() && found == secret);
        let cleared = write_zeros(file, at..bytes);
        if !same {
            return Err(format!(
                "{0} is not backed by this trial's file; nothing was written to {0}",
                self.path
            ));
        }
        cleared.map_err(|e| format!("cannot clear the test bytes in the trial's file: {e}"))
    }

    /// Turns on direct I/O. With buffered I/O, a flush of the loop device would wait for the dirty
    /// pages of other programs.
    fn enable_direct_io(&self) -> Result<(), String> {
        let direct = || run_trial_tool(TrialTool::Losetup, &["--direct-io=on", &self.path]);
        if direct().is_ok() && self.device.disk_attribute("loop/dio") == "1" {
            return Ok(());
        }
        // Direct I/O fails if the disk below has sectors of 4 KiB and the loop device has smaller
        // sectors.
        run_trial_tool(TrialTool::Losetup, &["--sector-size", "4096", &self.path])?;
        direct()
    }

    /// Checks that path and descriptor still refer to this trial's device of `bytes` bytes. The
    /// device must detach automatically, use direct I/O and have a write-back cache. The error is a
    /// complete sentence.
    pub fn check_identity_and_modes(&self, bytes: u64) -> Result<(), String> {
        let path = &self.path;
        let is_it = |found: rustix::fs::Stat| {
            FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice
                && found.st_rdev == self.device.number
        };
        let held = rustix::fs::fstat(&self.descriptor).is_ok_and(is_it);
        let named = rustix::fs::lstat(path.as_str()).is_ok_and(is_it);
        let same = self.device.diskseq() == self.sequence
            && self.device.disk_attribute("size") == (bytes / 512).to_string();
        if !(held && named && same) {
            return Err(format!("{path} is no longer the device of this trial"));
        }
        if self.device.disk_attribute("loop/autoclear") != "1" {
            return Err(format!(
                "{path} does not detach automatically (autoclear is off), so the trial cannot use it"
            ));
        }
        if self.device.disk_attribute("loop/dio") != "1" {
            return Err(
                "the file system of the directory does not allow direct I/O on a loop file"
                    .to_owned(),
            );
        }
        // queue/write_cache belongs to the host: it outlives the trial's file, so a trial checks it
        // and does not change it.
        let cache = self.device.disk_attribute("queue/write_cache");
        if !QueueWriteCache::from_word(&cache).is_some_and(QueueWriteCache::is_write_back) {
            return Err(format!(
                "queue/write_cache of {path} is “{cache}”, so the device sends no flushes; set the attribute to “write back” and try again"
            ));
        }
        Ok(())
    }
}

/// Loop devices over a deleted file that do not detach automatically. Before Linux 5.8 a trial
/// leaves such a device if it is killed between the two calls that attach a device.
pub fn leftover_loop_devices() -> Vec<String> {
    let left = |entry: fs::DirEntry| {
        let shown = |name: &str| {
            fs::read_to_string(entry.path().join("loop").join(name)).unwrap_or_default()
        };
        let file = shown("backing_file");
        let unnamed =
            file.trim().ends_with(" (deleted)") && file.rsplit('/').next()?.starts_with('#');
        (unnamed && shown("autoclear").trim() == "0")
            .then(|| format!("/dev/{}", entry.file_name().to_string_lossy()))
    };
    fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(left)
        .collect()
}

/// Identifies a trial's loop device for other processes by its backing file, because the kernel
/// reuses numbers of detached devices.
pub struct LoopDeviceIdentity {
    file: Vec<u8>,
    attribute: String,
}

impl LoopDeviceIdentity {
    pub fn read_by_device_path(device: &str) -> Self {
        let attribute = format!(
            "/sys/block/{}/loop/backing_file",
            device.trim_start_matches("/dev/")
        );
        Self {
            file: fs::read(&attribute).unwrap_or_default(),
            attribute,
        }
    }

    /// The wait takes at most `DETACH_TIMEOUT`.
    pub fn wait_until_detached(&self) {
        retry(
            DETACH_TIMEOUT,
            Duration::from_millis(20),
            || match fs::read(&self.attribute) {
                Ok(file) if file == self.file => Continue(()),
                _ => Break(()),
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn foreign_backing_file_is_rejected() {
        let open = || OwnedFd::from(tempfile::tempfile().unwrap());
        let bytes = 4 * RECOGNITION_BYTES;
        let (ours, other) = (open(), open());
        write_zeros(&ours, 0..bytes).unwrap();
        rustix::io::pwrite(&other, b"another's", 0).unwrap();
        let over = |held| LoopDevice {
            descriptor: held,
            path: "/dev/loop7".to_owned(),
            device: BlockDevice::missing_from_sysfs(0),
            sequence: String::new(),
        };
        let why = over(other.try_clone().unwrap())
            .verify_backing_file_by_write(&ours, bytes)
            .unwrap_err();
        assert!(why.contains("is not backed by this trial's file"), "{why}");
        assert_eq!(
            rustix::fs::fstat(&other).unwrap().st_size,
            9,
            "it is left as it was"
        );
        assert_eq!(
            over(ours.try_clone().unwrap()).verify_backing_file_by_write(&ours, bytes),
            Ok(())
        );
    }

    #[test]
    fn reused_loop_number_is_not_waited_for() {
        let attribute = tempfile::NamedTempFile::new().unwrap();
        let of = |file: &[u8]| LoopDeviceIdentity {
            file: file.to_owned(),
            attribute: attribute.path().to_str().unwrap().to_owned(),
        };
        fs::write(&attribute, "/srv/#12 (deleted)\n").unwrap();
        let begun = Instant::now();
        of(b"/srv/#7 (deleted)\n").wait_until_detached();
        assert!(begun.elapsed() < DETACH_TIMEOUT);
    }

    #[test]
    fn replaced_loop_device_is_rejected() {
        let held =
            rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let number = rustix::fs::fstat(&held).unwrap().st_rdev;
        let device = LoopDevice {
            descriptor: held,
            path: "/dev/null".to_owned(),
            device: BlockDevice::missing_from_sysfs(number),
            sequence: String::new(),
        };
        assert!(
            device
                .check_identity_and_modes(1 << 20)
                .unwrap_err()
                .contains("is no longer the device of this trial")
        );
        assert!(LoopDevice::from_temporary_mount(Path::new("/proc")).is_err());
    }
}
