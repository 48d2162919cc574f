//! Loop devices and file systems on them, removed when the guard is dropped, even if a test fails.

use std::fs;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::programs::output_retrying_busy;
use super::run;
use super::running::wait_for_condition;
use crate::support::deadline::CommandInTime as _;

pub struct LoopDevice {
    dir: tempfile::TempDir,
    pub device: String,
}

impl LoopDevice {
    pub fn new(mib: u64) -> Self {
        // Tests also read the image as other users.
        let mode = fs::Permissions::from_mode(0o755);
        let dir = tempfile::Builder::new()
            .permissions(mode)
            .tempdir()
            .unwrap();
        let image = dir.path().join("image");
        fs::File::create(&image)
            .unwrap()
            .set_len(mib << 20)
            .unwrap();
        Self::attach_image(dir, &image)
    }

    pub fn from_image(image: &Path) -> Self {
        Self::attach_image(tempfile::tempdir().unwrap(), image)
    }

    fn attach_image(dir: tempfile::TempDir, image: &Path) -> Self {
        let device = run("losetup", &["-f", "--show", image.to_str().unwrap()])
            .trim()
            .to_owned();
        let disk = Self { dir, device };
        // A `write_cache` override outlives the backing file of a loop device.
        disk.set_write_cache("write back");
        disk.set_scheduler("none");
        disk.enable_discard();
        disk
    }

    /// Returns the path of the backing file, if this guard created one.
    pub fn image(&self) -> PathBuf {
        self.dir.path().join("image")
    }

    pub fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    pub fn set_write_cache(&self, cache: &str) {
        fs::write(
            format!("/sys/block/{}/queue/write_cache", self.name()),
            cache,
        )
        .unwrap();
    }

    pub fn set_scheduler(&self, scheduler: &str) {
        fs::write(
            format!("/sys/block/{}/queue/scheduler", self.name()),
            scheduler,
        )
        .unwrap();
    }

    fn enable_discard(&self) {
        let queue = format!("/sys/block/{}/queue", self.name());
        let read = |name: &str| {
            fs::read_to_string(format!("{queue}/{name}"))
                .unwrap()
                .trim()
                .parse::<u64>()
                .unwrap()
        };
        let (most, grain) = (
            read("discard_max_hw_bytes"),
            read("discard_granularity").max(1),
        );
        fs::write(
            format!("{queue}/discard_max_bytes"),
            (most / grain * grain).to_string(),
        )
        .unwrap();
    }

    pub fn mkfs(&self, command: &[&str]) {
        let arguments: Vec<&str> = command[1..]
            .iter()
            .copied()
            .chain([self.device.as_str()])
            .collect();
        run(command[0], &arguments);
    }

    /// Mounts the device; empty options mean the defaults.
    pub fn mount(self, options: &str) -> MountedFileSystem {
        let point = self.dir.path().join("mnt");
        fs::create_dir(&point).unwrap();
        MountedFileSystem::mount_at(self, point, options)
    }

    /// Mounts and unmounts the device; `Err` holds mount(8)'s message.
    pub fn try_mount(&self, options: &str) -> Result<(), String> {
        self.with_temporary_mount(options, |_| ())
    }

    /// Mounts with these options; returns the options in force: those of the mount, of the
    /// superblock, and of /proc/fs/ext4.
    pub fn mount_and_read_options(&self, options: &str) -> Result<Vec<String>, String> {
        self.with_temporary_mount(options, |point| self.options_in_force(point))
    }

    /// Waits until no mount remains: a mount namespace created meanwhile by another test keeps a
    /// copy.
    pub fn wait_until_free(&self) {
        let mut alone = fs::OpenOptions::new();
        alone.read(true).custom_flags(nix::libc::O_EXCL);
        wait_for_condition("the device is free", || alone.open(&self.device).is_ok());
    }

    pub fn options_in_force(&self, point: &Path) -> Vec<String> {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut lines = table
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>());
        let line = lines
            .rfind(|fields| Path::new(fields[4]) == point)
            .expect("it is mounted");
        let ext4 = fs::read_to_string(format!("/proc/fs/ext4/{}/options", self.name()))
            .unwrap_or_default();
        let all = [line[5], line[line.len() - 1]]
            .into_iter()
            .flat_map(|list| list.split(','))
            .chain(ext4.lines());
        all.map(str::to_owned).collect()
    }

    fn with_temporary_mount<T>(
        &self,
        options: &str,
        look: impl FnOnce(&Path) -> T,
    ) -> Result<T, String> {
        let point = self.dir.path().join("try");
        fs::create_dir_all(&point).unwrap();
        // If another mount namespace still has the previous mount, the kernel shares that
        // superblock and ignores the new options.
        self.wait_until_free();
        let mut mount = Command::new("mount");
        let output = output_retrying_busy(
            mount
                .args(mount_options(options))
                .arg(&self.device)
                .arg(&point),
        );
        if output.status.success() {
            let seen = look(&point);
            unmount(&point);
            return Ok(seen);
        }
        Err(super::stderr(&output))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        self.set_write_cache("write back");
        self.set_scheduler("none");
        Command::new("losetup")
            .args(["-d", &self.device])
            .output_in_time();
    }
}

fn mount_options(options: &str) -> Vec<&str> {
    if options.is_empty() {
        Vec::new()
    } else {
        vec!["-o", options]
    }
}

pub struct MountedFileSystem {
    pub point: PathBuf,
    pub disk: LoopDevice,
}

impl MountedFileSystem {
    pub fn mount_at(disk: LoopDevice, point: PathBuf, options: &str) -> Self {
        let mut arguments = mount_options(options);
        arguments.extend([disk.device.as_str(), point.to_str().unwrap()]);
        run("mount", &arguments);
        Self { point, disk }
    }

    pub fn create_subdirectory(&self, name: &str) -> PathBuf {
        let dir = self.point.join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    pub fn path(&self) -> &str {
        self.point.to_str().unwrap()
    }

    pub fn remount(&self, options: &str) {
        run("mount", &["-o", &format!("remount,{options}"), self.path()]);
    }
}

impl Drop for MountedFileSystem {
    fn drop(&mut self) {
        unmount_lazily(&self.point);
    }
}

pub struct MountPoint(pub PathBuf);

impl MountPoint {
    pub fn bind_mount(from: &Path, to: PathBuf) -> Self {
        run(
            "mount",
            &["--bind", from.to_str().unwrap(), to.to_str().unwrap()],
        );
        Self(to)
    }

    pub fn mount_tmpfs(to: PathBuf) -> Self {
        run("mount", &["-t", "tmpfs", "none", to.to_str().unwrap()]);
        Self(to)
    }
}

impl Drop for MountPoint {
    fn drop(&mut self) {
        unmount_lazily(&self.0);
    }
}

pub fn unmount(point: &Path) {
    run("umount", &[point.to_str().unwrap()]);
}

/// Unmounts the path, lazily if it is busy. A path without a mount is not an error.
fn unmount_lazily(point: &Path) {
    let done = Command::new("umount").arg(point).output_in_time();
    if !done.status.success() {
        Command::new("umount").arg("-l").arg(point).output_in_time();
    }
}

pub fn mount_ext4(mkfs: &[&str], options: &str) -> MountedFileSystem {
    mount_file_system(256, &[&["mkfs.ext4", "-q"], mkfs].concat(), options)
}

/// Mounts a new XFS of 512 MiB; mkfs.xfs refuses less than 300 MiB.
pub fn mount_xfs(options: &str) -> MountedFileSystem {
    mount_file_system(512, &["mkfs.xfs", "-q"], options)
}

pub fn mount_btrfs(options: &str) -> MountedFileSystem {
    mount_file_system(512, &["mkfs.btrfs", "-q"], options)
}

pub fn mount_file_system(mib: u64, mkfs: &[&str], options: &str) -> MountedFileSystem {
    let disk = LoopDevice::new(mib);
    disk.mkfs(mkfs);
    disk.mount(options)
}

pub fn scratch_dirs(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(".walwise"))
        {
            out.push(path);
        } else if entry.file_type().is_ok_and(|t| t.is_dir()) {
            out.extend(scratch_dirs(&path));
        }
    }
    out
}
