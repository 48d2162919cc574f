//! The loop device over a trial's file.
//!
//! mount(8) attaches it, because it asks in the very call that attaches it that the kernel take it
//! away with its last user (LOOP_CONFIGURE with LO_FLAGS_AUTOCLEAR, since Linux 5.8): a kill at no
//! moment leaves it. losetup(8) cannot ask for that. What is mounted for it is a file system of 4
//! MiB, which is overwritten with zeros before anybody looks.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::mount::{MntFlags, umount2};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::disk::lock;
use super::zeros::zero;
use crate::facts::Choice as _;
use crate::facts::catalog::device::WriteCache;
use crate::host::{MakerProgram, is_loop};
use crate::way::random;

/// Blocks of 4 KiB of the file system that is mounted for the sake of its device.
const BLOCKS: u64 = 1024;

/// Bytes that only we know, by which the file is known again.
const SECRET: u64 = 4096;

/// How long the kernel may take to unmount and detach what nobody uses any more.
const LONGEST_END: Duration = Duration::from_secs(10);

/// A loop device, open and locked, so that it stays and nobody else takes it up.
pub struct LoopDevice {
    pub held: OwnedFd,
    pub path: String,
    /// Its number, as the descriptor tells it.
    number: u64,
    /// What the kernel counts up with every new device of a number; empty before Linux 5.15.
    sequence: String,
}

impl LoopDevice {
    /// Attaches one to so many bytes of a file, using a place where something may be mounted; the
    /// error is a sentence.
    pub fn attach(file: &OwnedFd, bytes: u64, place: &Path) -> Result<Self, String> {
        // In our process namespace we have another number than in that of /proc.
        let ourselves =
            fs::read_link("/proc/self").map_err(|e| format!("cannot read /proc/self: {e}"))?;
        let named = format!("/proc/{}/fd/{}", ourselves.display(), file.as_raw_fd());
        let blocks = BLOCKS.to_string();
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
        run(MakerProgram::Mke2fs, &small)?;
        let options = format!("loop,nosuid,nodev,noexec,sizelimit={bytes}");
        let place_word = place.to_str().unwrap_or_default();
        run(
            MakerProgram::Mount,
            &["-n", "-i", "-t", "ext4", "-o", &options, &named, place_word],
        )?;
        let device = Self::below(place);
        umount2(place, MntFlags::UMOUNT_NOFOLLOW).map_err(|e| format!("cannot unmount: {e}"))?;
        let device = device?;
        lock(&device.held, &device.path)?;
        device.is_over(file, bytes)?;
        device.make_direct()?;
        let cleared =
            zero(&device.held, 0..BLOCKS << 12).and_then(|()| rustix::fs::fsync(&device.held));
        cleared.map_err(|e| format!("cannot clear {}: {e}", device.path))?;
        device.check(bytes)?;
        Ok(device)
    }

    /// The device below what is mounted at a place.
    fn below(place: &Path) -> Result<Self, String> {
        let cannot = |e: Errno| format!("cannot open the loop device: {e}");
        let number = rustix::fs::stat(place).map_err(cannot)?.st_dev;
        let name =
            fs::read_link(sys(number)).map_err(|e| format!("cannot find the loop device: {e}"))?;
        let name = name
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let path = format!("/dev/{name}");
        if !is_loop(&path) {
            return Err("mount used no loop device".to_owned());
        }
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = rustix::fs::open(path.as_str(), flags, Mode::empty()).map_err(cannot)?;
        let sequence = shown(number, "diskseq");
        Ok(Self {
            held,
            path,
            number,
            sequence,
        })
    }

    /// Makes sure, before anything is written through it, that it is over our file and no other:
    /// mount(8) was given a path. The error is a sentence.
    fn is_over(&self, file: &OwnedFd, bytes: u64) -> Result<(), String> {
        let secret: Vec<u8> = (0..SECRET / 8)
            .flat_map(|_| random().to_le_bytes())
            .collect();
        let at = bytes.saturating_sub(SECRET);
        let mut found = vec![0; secret.len()];
        let same = rustix::io::pwrite(file, &secret, at)
            .and_then(|_| rustix::fs::fsync(file))
            .and_then(|()| rustix::io::pread(&self.held, &mut found, at))
            .is_ok_and(|count| count == secret.len() && found == secret);
        let cleared = zero(file, at..bytes);
        if same && cleared.is_ok() {
            Ok(())
        } else {
            Err(format!(
                "{} is not over the file of this trial, so nothing was written to it",
                self.path
            ))
        }
    }

    /// Reads and writes of the file are to be direct: on a buffered device a flush would wait for
    /// everybody's dirty pages.
    fn make_direct(&self) -> Result<(), String> {
        let direct = || run(MakerProgram::Losetup, &["--direct-io=on", &self.path]);
        if direct().is_ok() && shown(self.number, "loop/dio") == "1" {
            return Ok(());
        }
        // The disk below has sectors of 4 KiB.
        run(
            MakerProgram::Losetup,
            &["--sector-size", "4096", &self.path],
        )?;
        direct()
    }

    /// Makes sure that the path still leads to it, and that it is what it has to be: of this size,
    /// direct, going away by itself, and believed to have a cache. The error is a sentence.
    pub fn check(&self, bytes: u64) -> Result<(), String> {
        let path = &self.path;
        let is_it = |found: rustix::fs::Stat| {
            FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice
                && found.st_rdev == self.number
        };
        let held = rustix::fs::fstat(&self.held).is_ok_and(is_it);
        let named = rustix::fs::lstat(path.as_str()).is_ok_and(is_it);
        let same = shown(self.number, "diskseq") == self.sequence
            && shown(self.number, "size") == (bytes / 512).to_string();
        if !(held && named && same) {
            return Err(format!("{path} is no longer the device of this trial"));
        }
        if shown(self.number, "loop/autoclear") != "1" {
            return Err(format!("{path} would stay behind, so it is not used"));
        }
        if shown(self.number, "loop/dio") != "1" {
            return Err(
                "the file system of the directory allows no direct I/O on a loop file".to_owned(),
            );
        }
        // What somebody told a loop device outlives its file, and is the host's to change.
        let cache = shown(self.number, "queue/write_cache");
        if !WriteCache::from_word(&cache).is_some_and(WriteCache::is_write_back) {
            return Err(format!(
                "{path} was told that its cache is “{cache}”, so it sends no flushes; tell it “write back” and try again"
            ));
        }
        Ok(())
    }
}

fn run(maker: MakerProgram, words: &[&str]) -> Result<(), String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    maker
        .run(&words)
        .map(drop)
        .map_err(|miss| format!("{}: {miss}", maker.name()))
}

/// The directory of a block device in sysfs, by its number.
fn sys(number: u64) -> String {
    format!(
        "/sys/dev/block/{}:{}",
        rustix::fs::major(number),
        rustix::fs::minor(number)
    )
}

/// What sysfs shows of it, display-safe; empty for nothing.
fn shown(number: u64, name: &str) -> String {
    let text = fs::read_to_string(format!("{}/{name}", sys(number))).unwrap_or_default();
    crate::text::safe(text.trim().as_bytes())
}

/// Loop devices over a file without a name that do not go away by themselves: what a trial can
/// leave before Linux 5.8, when all its processes are killed between the two calls that attached a
/// device then.
pub fn leftovers() -> Vec<String> {
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

/// A trial's loop device as everybody sees it: its number may be another's as soon as it has gone.
pub struct AttachedLoop {
    /// What sysfs says of its file, and where.
    file: Vec<u8>,
    attribute: String,
}

impl AttachedLoop {
    /// The device of this path, as it is now.
    pub fn of(device: &str) -> Self {
        let attribute = format!(
            "/sys/block/{}/loop/backing_file",
            device.trim_start_matches("/dev/")
        );
        Self {
            file: fs::read(&attribute).unwrap_or_default(),
            attribute,
        }
    }

    /// Waits, within bounds, until it has gone with the last process that used it.
    pub fn wait_until_gone(&self) {
        let begun = Instant::now();
        let is_there = || fs::read(&self.attribute).is_ok_and(|file| file == self.file);
        while is_there() && begun.elapsed() < LONGEST_END {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device over another file than ours is found out before anything is written through it.
    #[test]
    fn another_file_is_not_taken_for_ours() {
        let open = || OwnedFd::from(tempfile::tempfile().unwrap());
        let bytes = 4 * SECRET;
        let (ours, other) = (open(), open());
        zero(&ours, 0..bytes).unwrap();
        rustix::io::pwrite(&other, b"another's", 0).unwrap();
        let over = |held| LoopDevice {
            held,
            path: "/dev/loop7".to_owned(),
            number: 0,
            sequence: String::new(),
        };
        let why = over(other.try_clone().unwrap())
            .is_over(&ours, bytes)
            .unwrap_err();
        assert!(why.contains("is not over the file of this trial"), "{why}");
        assert_eq!(
            rustix::fs::fstat(&other).unwrap().st_size,
            9,
            "it is left as it was"
        );
        assert_eq!(
            over(ours.try_clone().unwrap()).is_over(&ours, bytes),
            Ok(())
        );
    }

    #[test]
    fn a_number_that_is_another_s_is_not_waited_for() {
        let attribute = tempfile::NamedTempFile::new().unwrap();
        let of = |file: &[u8]| AttachedLoop {
            file: file.to_owned(),
            attribute: attribute.path().to_str().unwrap().to_owned(),
        };
        fs::write(&attribute, "/srv/#12 (deleted)\n").unwrap();
        let begun = Instant::now();
        of(b"/srv/#7 (deleted)\n").wait_until_gone();
        assert!(begun.elapsed() < LONGEST_END);
    }

    #[test]
    fn what_is_no_longer_the_device_is_not_used() {
        let held =
            rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let number = rustix::fs::fstat(&held).unwrap().st_rdev;
        let device = LoopDevice {
            held,
            path: "/dev/null".to_owned(),
            number,
            sequence: String::new(),
        };
        assert!(
            device
                .check(1 << 20)
                .unwrap_err()
                .contains("is no longer the device of this trial")
        );
        assert!(LoopDevice::below(Path::new("/proc")).is_err());
    }
}
