//! Loop devices and file systems on them, removed when the guard is dropped, even when a test
//! fails.

use std::fs;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::programs::output_when_free;
use super::run;
use super::running::wait_for;
use crate::support::deadline::CommandInTime as _;

/// A loop device over a sparse file of its own.
pub struct Loop {
    dir: tempfile::TempDir,
    /// `/dev/loopN`.
    pub device: String,
}

impl Loop {
    /// A blank one of so many MiB.
    pub fn new(mib: u64) -> Self {
        // Other users may pass.
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
        Self::on(dir, &image)
    }

    /// One over a file that is there.
    pub fn over(image: &Path) -> Self {
        Self::on(tempfile::tempdir().unwrap(), image)
    }

    fn on(dir: tempfile::TempDir, image: &Path) -> Self {
        let device = run("losetup", &["-f", "--show", image.to_str().unwrap()])
            .trim()
            .to_owned();
        let disk = Self { dir, device };
        // What somebody wrote there outlives the file beneath.
        disk.believe("write back");
        disk.schedule("none");
        disk.trims();
        disk
    }

    /// The file beneath one that was made blank.
    pub fn image(&self) -> PathBuf {
        self.dir.path().join("image")
    }

    /// Its kernel name.
    pub fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    /// Tells the kernel what to believe of its cache: `write back` or `write through`.
    pub fn believe(&self, cache: &str) {
        fs::write(
            format!("/sys/block/{}/queue/write_cache", self.name()),
            cache,
        )
        .unwrap();
    }

    /// Gives it this I/O scheduler: `none`, `mq-deadline`.
    pub fn schedule(&self, scheduler: &str) {
        fs::write(
            format!("/sys/block/{}/queue/scheduler", self.name()),
            scheduler,
        )
        .unwrap();
    }

    /// Lets it take discards, as many at once as it can.
    fn trims(&self) {
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

    /// Makes a file system on it: `["mkfs.ext4", "-q"]`.
    pub fn mkfs(&self, command: &[&str]) {
        let arguments: Vec<&str> = command[1..]
            .iter()
            .copied()
            .chain([self.device.as_str()])
            .collect();
        run(command[0], &arguments);
    }

    /// Mounts it; empty options are the defaults.
    pub fn mount(self, options: &str) -> Mounted {
        let point = self.dir.path().join("mnt");
        fs::create_dir(&point).unwrap();
        Mounted::at(self, point, options)
    }

    /// The result of mount(8) for these options: `Err` with its message when it refuses.
    pub fn try_mount(&self, options: &str) -> Result<(), String> {
        self.mounted_with(options, |_| ())
    }

    /// The options in force when it is mounted with these, of the mount and of the superblock, in
    /// ext4's own words too.
    pub fn in_force_with(&self, options: &str) -> Result<Vec<String>, String> {
        self.mounted_with(options, |point| self.in_force(point))
    }

    /// Waits until nothing has it mounted: a mount name space made meanwhile, as other tests do,
    /// may still have.
    pub fn wait_until_free(&self) {
        let mut alone = fs::OpenOptions::new();
        alone.read(true).custom_flags(nix::libc::O_EXCL);
        wait_for("the device is free", || alone.open(&self.device).is_ok());
    }

    /// The options in force at a point where it is mounted now.
    pub fn in_force(&self, point: &Path) -> Vec<String> {
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

    fn mounted_with<T>(&self, options: &str, look: impl FnOnce(&Path) -> T) -> Result<T, String> {
        let point = self.dir.path().join("try");
        fs::create_dir_all(&point).unwrap();
        // Where a name space that another test made still has the last mount, the kernel shares it
        // and reads no options.
        self.wait_until_free();
        let mut mount = Command::new("mount");
        let output = output_when_free(
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

impl Drop for Loop {
    fn drop(&mut self) {
        self.believe("write back");
        self.schedule("none");
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

/// A mounted file system on a loop device.
pub struct Mounted {
    /// Where.
    pub point: PathBuf,
    /// On what.
    pub disk: Loop,
}

impl Mounted {
    /// Mounts a loop device at a directory.
    pub fn at(disk: Loop, point: PathBuf, options: &str) -> Self {
        let mut arguments = mount_options(options);
        arguments.extend([disk.device.as_str(), point.to_str().unwrap()]);
        run("mount", &arguments);
        Self { point, disk }
    }

    /// A directory on it, made if need be.
    pub fn dir(&self, name: &str) -> PathBuf {
        let dir = self.point.join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    /// The mount point as text.
    pub fn path(&self) -> &str {
        self.point.to_str().unwrap()
    }

    /// Remounts with other options.
    pub fn remount(&self, options: &str) {
        run("mount", &["-o", &format!("remount,{options}"), self.path()]);
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        leave(&self.point);
    }
}

/// Whatever is mounted at a directory, unmounted when this is dropped.
pub struct Point(pub PathBuf);

impl Point {
    /// Mounts a directory at another one.
    pub fn bind(from: &Path, to: PathBuf) -> Self {
        run(
            "mount",
            &["--bind", from.to_str().unwrap(), to.to_str().unwrap()],
        );
        Self(to)
    }

    /// Mounts a file system in memory at a directory.
    pub fn tmpfs(to: PathBuf) -> Self {
        run("mount", &["-t", "tmpfs", "none", to.to_str().unwrap()]);
        Self(to)
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        leave(&self.0);
    }
}

/// Unmounts.
pub fn unmount(point: &Path) {
    run("umount", &[point.to_str().unwrap()]);
}

/// Unmounts, later if it is in use; nothing may be mounted there.
fn leave(point: &Path) {
    let done = Command::new("umount").arg(point).output_in_time();
    if !done.status.success() {
        Command::new("umount").arg("-l").arg(point).output_in_time();
    }
}

/// ext4 of 256 MiB with these mkfs arguments and mount options.
pub fn ext4(mkfs: &[&str], options: &str) -> Mounted {
    file_system(256, &[&["mkfs.ext4", "-q"], mkfs].concat(), options)
}

/// XFS of 512 MiB, the least mkfs.xfs makes being 300.
pub fn xfs(options: &str) -> Mounted {
    file_system(512, &["mkfs.xfs", "-q"], options)
}

/// btrfs of 512 MiB.
pub fn btrfs(options: &str) -> Mounted {
    file_system(512, &["mkfs.btrfs", "-q"], options)
}

/// Any file system.
pub fn file_system(mib: u64, mkfs: &[&str], options: &str) -> Mounted {
    let disk = Loop::new(mib);
    disk.mkfs(mkfs);
    disk.mount(options)
}

/// Objects below a directory whose name begins with walwise's scratch prefix.
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
