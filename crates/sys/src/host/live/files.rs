//! Answers questions about files: contents, directories, links, stat(2), statfs(2), inode flags.
//!
//! Only regular files are read, and only files and directories are opened, without blocking:
//! opening a tape or a watchdog device already has an effect. A path is first opened with O_PATH
//! and examined. Then the same object is opened for reading, even if another file has taken its
//! name meanwhile. Sizes are bounded. Most of the kernel's own files in /proc and /sys are opened
//! without this check, because a large host has hundreds of thousands of them.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::unix::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::stat::{major, minor};
use rustix::fs::{Access, AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::host::{
    HostError, HostErrorKind, HostResult, HostTimestamp, LogFileKind, LogFileStats, Stat, StatFs,
    is_in_word_list,
};
use crate::limits::MOUNT_TABLE;
use crate::text::bytes;

pub const LARGEST_READ: u64 = 1 << 20;

/// Bytes per read of a sysfs attribute. An attribute is at most a page, and one read returns all of
/// it (Documentation/filesystems/sysfs.rst).
const LARGEST_ATTRIBUTE: usize = 4096;

/// Non-blocking, so that opening a pipe or a device cannot wait.
const READ_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// An object opened with O_PATH, which has no effect on the object.
pub struct PathHandle {
    descriptor: OwnedFd,
    pub kind: FileType,
    pub identity: (u64, u64),
}

/// The descriptor of /proc stays open, because after chroot(2) the path may lead to another /proc.
pub fn proc_directory_fd() -> Result<&'static OwnedFd, HostError> {
    static PROC: OnceLock<OwnedFd> = OnceLock::new();
    if let Some(held) = PROC.get() {
        return Ok(held);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let proc = rustix::fs::open("/proc", flags, Mode::empty()).map_err(|e| match e {
        Errno::NOENT | Errno::NOTDIR => proc_not_mounted_error(),
        e => e.into(),
    })?;
    Ok(PROC.get_or_init(|| proc))
}

fn proc_not_mounted_error() -> HostError {
    HostError::failed("cannot be opened: /proc is not mounted")
}

pub fn process_ids() -> Result<impl Iterator<Item = Result<u32, HostError>>, HostError> {
    let proc = rustix::fs::openat(
        proc_directory_fd()?,
        ".",
        READ_FLAGS | OFlags::DIRECTORY,
        Mode::empty(),
    );
    let names = directory_entry_names(proc?)?;
    Ok(names.filter_map(|name| name.map(|name| bytes::parse(&name)).transpose()))
}

/// The answer includes the newline. The kernel limits names to 16 bytes (`TASK_COMM_LEN`), and
/// those of its own threads to 64.
pub fn read_comm(pid: u32) -> HostResult {
    let file = rustix::fs::openat(
        proc_directory_fd()?,
        format!("{pid}/comm"),
        READ_FLAGS,
        Mode::empty(),
    );
    let mut name = [0; 64];
    let count = rustix::io::read(file?, &mut name)?;
    Ok(name.get(..count).unwrap_or_default().to_vec())
}

impl PathHandle {
    pub fn open(path: &Path) -> Result<Self, HostError> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&descriptor)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        Ok(Self {
            descriptor,
            kind,
            identity: (stat.st_dev, stat.st_ino),
        })
    }

    /// Opens the held object for reading, even if the path now leads to another object.
    pub fn reopen_for_reading(&self, also: OFlags) -> Result<File, HostError> {
        let name = format!("self/fd/{}", self.descriptor.as_fd().as_raw_fd());
        let file = rustix::fs::openat(proc_directory_fd()?, name, READ_FLAGS | also, Mode::empty());
        file.map(File::from).map_err(|e| match e {
            // The object exists, so /proc itself is missing.
            Errno::NOENT => proc_not_mounted_error(),
            e => e.into(),
        })
    }

    /// Reads the held configuration file. A file larger than [`LARGEST_READ`] is refused, because
    /// the part cut off could change any setting.
    pub fn read_config(&self) -> HostResult {
        let bytes = read_bounded(&self.reopen_for_reading(OFlags::empty())?, LARGEST_READ + 1)?;
        if bytes.len() as u64 > LARGEST_READ {
            let says = format!(
                "is larger than {}, the limit for a configuration file",
                crate::text::format_bytes(LARGEST_READ)
            );
            return Err(HostError::failed(says));
        }
        Ok(bytes)
    }
}

fn open_with_type_check(path: &Path, allow_directory: bool) -> Result<File, HostError> {
    let held = PathHandle::open(path)?;
    let is_directory = held.kind == FileType::Directory;
    if held.kind == FileType::RegularFile || is_directory && allow_directory {
        return held.reopen_for_reading(OFlags::empty());
    }
    Err(HostError::failed(if is_directory {
        "is a directory"
    } else {
        "is not a regular file"
    }))
}

fn open_without_type_check(path: &Path, flags: OFlags) -> Result<File, HostError> {
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?.into())
}

/// The contents are cut after [`LARGEST_READ`], those of this process's mount table after
/// [`MOUNT_TABLE`].
pub fn read_file_bounded(path: &Path) -> HostResult {
    if is_sysfs_class_path(path) {
        return read_sysfs_attribute(path);
    }
    let largest = if path == OWN_MOUNT_TABLE {
        MOUNT_TABLE as u64
    } else {
        LARGEST_READ
    };
    let file = if is_proc_pid_file(path) {
        open_without_type_check(path, READ_FLAGS)?
    } else {
        open_with_type_check(path, false)?
    };
    read_bounded(&file, largest)
}

fn read_bounded(file: &File, largest: u64) -> HostResult {
    let mut bytes = Vec::with_capacity(4096);
    file.take(largest).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// This process's mount table, the only file that may be as large as [`MOUNT_TABLE`].
const OWN_MOUNT_TABLE: &str = "/proc/self/mountinfo";

/// Whether the path is a file of the kernel about a process, such as `/proc/7/stat`. A path through
/// a link of a process, such as `/proc/7/root/etc`, leads to another file.
fn is_proc_pid_file(path: &Path) -> bool {
    let names: Vec<&[u8]> = path.iter().map(OsStr::as_encoded_bytes).collect();
    let [b"/", b"proc", process, file] = names.as_slice() else {
        return false;
    };
    (*process == b"self" || process.iter().all(u8::is_ascii_digit))
        && is_in_word_list("stat status mountinfo cmdline environ", file)
}

/// Opens a configuration file with O_PATH; fails unless it is a regular file.
pub fn open_config(path: &Path) -> Result<PathHandle, HostError> {
    let held = PathHandle::open(path)?;
    match held.kind {
        FileType::RegularFile => Ok(held),
        _ => Err(HostError::failed("is not a regular file")),
    }
}

/// /sys/class has only directories and attributes, so such a path is opened without a check of its
/// type.
fn is_sysfs_class_path(path: &Path) -> bool {
    let below = path.as_os_str().as_bytes().strip_prefix(b"/sys/class/");
    below.is_some_and(|below| below.split(|b| *b == b'/').all(|name| name != b".."))
}

type OpenDirectory = (PathBuf, OwnedFd);

thread_local! {
    static LAST_DIRECTORY: RefCell<Option<OpenDirectory>> = const { RefCell::new(None) };
}

/// Opens an attribute, or a directory of attributes, relative to the open directory of its device.
/// If that directory is stale, because another device has taken the name, the full path is opened.
fn open_sysfs_entry(path: &Path, flags: OFlags) -> Result<File, HostError> {
    let from_directory = split_block_attribute_path(path).and_then(|(device, name)| {
        LAST_DIRECTORY.with_borrow_mut(|last| open_from_device_directory(last, device, name, flags))
    });
    from_directory.unwrap_or_else(|| open_without_type_check(path, flags))
}

fn split_block_attribute_path(path: &Path) -> Option<(&Path, &[u8])> {
    const CLASS: &[u8] = b"/sys/class/block/";
    let bytes = path.as_os_str().as_bytes();
    let at = CLASS.len() + bytes.strip_prefix(CLASS)?.iter().position(|b| *b == b'/')?;
    Some((
        Path::new(OsStr::from_bytes(bytes.get(..at)?)),
        bytes.get(at + 1..)?,
    ))
}

/// An attribute that every device has as long as the device exists
/// (Documentation/ABI/testing/sysfs-uevent).
const UEVENT: &str = "uevent";

fn open_from_device_directory(
    last: &mut Option<OpenDirectory>,
    device: &Path,
    name: &[u8],
    flags: OFlags,
) -> Option<Result<File, HostError>> {
    if last.as_ref().is_none_or(|(path, _)| path != device) {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(device, flags, Mode::empty()).ok()?;
        *last = Some((device.to_owned(), directory));
    }
    let (_, directory) = last.as_ref()?;
    match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Ok(file) => Some(Ok(File::from(file))),
        Err(Errno::NOENT)
            if rustix::fs::accessat(directory, UEVENT, Access::EXISTS, AtFlags::empty())
                .is_ok() =>
        {
            Some(Err(Errno::NOENT.into()))
        }
        Err(_) => None,
    }
}

fn read_sysfs_attribute(path: &Path) -> HostResult {
    let mut page = [MaybeUninit::uninit(); LARGEST_ATTRIBUTE];
    let file = open_sysfs_entry(path, READ_FLAGS)?;
    let mut bytes = Vec::new();
    loop {
        let read = match rustix::io::read(&file, &mut page) {
            Err(Errno::INTR) => continue,
            read => read?.0,
        };
        bytes.extend_from_slice(read);
        if read.len() < LARGEST_ATTRIBUTE || bytes.len() as u64 >= LARGEST_READ {
            return Ok(bytes);
        }
    }
}

/// Answers [`Question::IsEmpty`](crate::host::Question::IsEmpty). An empty `lost+found`, which
/// mke2fs creates, does not count.
pub fn directory_is_empty_answer(path: &Path) -> HostResult {
    const LOST_AND_FOUND: &[u8] = b"lost+found";
    let directory = open_with_type_check(path, true)?;
    let mut has_lost_and_found = false;
    for name in directory_entry_names(directory.try_clone()?)? {
        if name? != LOST_AND_FOUND {
            return Ok(b"no\n".to_vec());
        }
        has_lost_and_found = true;
    }
    if has_lost_and_found {
        let flags = READ_FLAGS | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let inner = rustix::fs::openat(&directory, LOST_AND_FOUND, flags, Mode::empty())?;
        if directory_entry_names(inner)?.next().is_some() {
            return Ok(b"no\n".to_vec());
        }
    }
    Ok(b"yes\n".to_vec())
}

/// A directory of log files with more names is refused, because a user may have filled it.
const MAX_NAMES: usize = 1_000_000;

/// Answers [`Question::LogFiles`](crate::host::Question::LogFiles). Only regular files count; links
/// are not followed.
pub fn log_file_stats(path: &Path, kind: LogFileKind) -> HostResult {
    let no_prefix = || HostError::failed("is not a path prefix of binary logs");
    let (directory, prefix) = match kind {
        LogFileKind::WalSegment | LogFileKind::ArchiveReady => (path, OsStr::new("")),
        LogFileKind::BinaryLog => path.parent().zip(path.file_name()).ok_or_else(no_prefix)?,
    };
    let directory = open_with_type_check(directory, true)?;
    let now = SystemTime::now();
    let mut files = LogFileStats::default();
    let names = directory_entry_names(directory.try_clone()?)?;
    for (place, name) in names.enumerate() {
        let name = name?;
        if place >= MAX_NAMES {
            let detail = format!("contains more than {MAX_NAMES} entries");
            return Err(HostError::failed(detail));
        }
        if !kind.matches_file_name(&name, prefix.as_bytes()) {
            continue;
        }
        let stat = match rustix::fs::statat(&directory, &*name, AtFlags::SYMLINK_NOFOLLOW) {
            // The server renamed or removed the file meanwhile.
            Err(Errno::NOENT) => continue,
            stat => stat?,
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            continue;
        }
        files.count += 1;
        let bytes = u64::try_from(stat.st_blocks)
            .unwrap_or(0)
            .saturating_mul(512);
        files.bytes = files.bytes.saturating_add(bytes);
        let changed = UNIX_EPOCH + Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
        let age = now.duration_since(changed).unwrap_or_default().as_secs();
        files.oldest_age = Some(files.oldest_age.unwrap_or(0).max(age));
    }
    Ok(files.encode().into_bytes())
}

fn directory_entry_names(
    directory: impl Into<OwnedFd>,
) -> Result<impl Iterator<Item = HostResult>, HostError> {
    let entries = Dir::new(directory)?;
    let name =
        |entry: Result<rustix::fs::DirEntry, Errno>| Ok(entry?.file_name().to_bytes().to_vec());
    let own = |name: &HostResult| !matches!(name.as_deref(), Ok(b"." | b".."));
    Ok(entries.map(name).filter(own))
}

pub fn list_directory(path: &Path) -> HostResult {
    let directory = if is_sysfs_class_path(path) {
        open_sysfs_entry(path, READ_FLAGS | OFlags::DIRECTORY)?
    } else {
        match PathHandle::open(path)? {
            held if held.kind == FileType::Directory => held.reopen_for_reading(OFlags::empty())?,
            _ => return Err(HostError::new(HostErrorKind::Absent, "is not a directory")),
        }
    };
    let mut found = Vec::new();
    let mut length = 0;
    for name in directory_entry_names(directory)? {
        let name = name?;
        length += name.len() as u64 + 1;
        if length > LARGEST_READ {
            break;
        }
        found.push(name);
    }
    found.sort_unstable();
    let mut answer = Vec::new();
    for name in found {
        answer.extend(name);
        answer.push(0);
    }
    Ok(answer)
}

pub fn read_link(path: &Path) -> HostResult {
    Ok(fs::read_link(path)?.into_os_string().into_vec())
}

pub fn real_path(path: &Path) -> HostResult {
    Ok(fs::canonicalize(path)?.into_os_string().into_vec())
}

/// Whether a key file exists, is not empty, and survives a reboot: not in a directory that is
/// recreated at each boot. The file is not opened.
pub fn is_persistent_key_file(path: &Path) -> bool {
    const VOLATILE_DIRECTORIES: [&str; 5] = ["/dev", "/proc", "/run", "/sys", "/tmp"];
    let lies = fs::canonicalize(path).and_then(|real| Ok((fs::metadata(&real)?, real)));
    lies.is_ok_and(|(found, real)| {
        found.is_file()
            && found.len() > 0
            && !VOLATILE_DIRECTORIES
                .iter()
                .any(|directory| real.starts_with(directory))
    })
}

pub fn stat(path: &Path) -> HostResult {
    let found = fs::metadata(path)?;
    let stat = Stat {
        mode: found.mode().into(),
        uid: found.uid().into(),
        gid: found.gid().into(),
        major: major(found.dev()),
        minor: minor(found.dev()),
        node_major: major(found.rdev()),
        node_minor: minor(found.rdev()),
        inode: found.ino(),
        size: found.size(),
        ctime: HostTimestamp::new(found.ctime(), found.ctime_nsec()),
    };
    Ok(stat.encode())
}

pub fn statfs(path: &Path) -> HostResult {
    let found = rustix::fs::statfs(path)?;
    // If a file system leaves f_frsize at 0, the unit is f_bsize (statvfs(3)).
    let unit = if found.f_frsize == 0 {
        found.f_bsize
    } else {
        found.f_frsize
    };
    let unit = u64::try_from(unit).unwrap_or(0);
    let statfs = StatFs {
        magic: found.f_type.cast_unsigned() & 0xffff_ffff,
        size: found.f_blocks.saturating_mul(unit),
        available: found.f_bavail.saturating_mul(unit),
        inodes: found.f_files,
        inodes_free: found.f_ffree,
        block: u64::try_from(found.f_bsize).ok().filter(|bytes| *bytes > 0),
    };
    Ok(statfs.encode())
}

pub fn inode_flags(path: &Path) -> HostResult {
    match rustix::fs::ioctl_getflags(open_with_type_check(path, true)?) {
        Ok(flags) => Ok(format!("{}\n", flags.bits()).into_bytes()),
        Err(Errno::NOTTY | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => Err(HostError::new(
            HostErrorKind::Absent,
            "the file system does not support inode flags",
        )),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::io;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn attribute_is_opened_only_from_its_live_device_directory() {
        let path = Path::new("/sys/class/block/sda/queue/fua");
        assert_eq!(
            split_block_attribute_path(path),
            Some((Path::new("/sys/class/block/sda"), b"queue/fua".as_slice()))
        );
        assert_eq!(
            split_block_attribute_path(Path::new("/sys/class/block/sda")),
            None
        );

        let dir = tempfile::tempdir().unwrap();
        let [one, other] = ["sda", "sdb"].map(|name| dir.path().join(name));
        for (device, text) in [(&one, "1"), (&other, "2")] {
            fs::create_dir(device).unwrap();
            fs::write(device.join("ro"), text).unwrap();
        }
        let mut last = None;
        let mut read = |device: &Path, name: &str| {
            let file = open_from_device_directory(&mut last, device, name.as_bytes(), READ_FLAGS)?;
            Some(file.map(|file| io::read_to_string(file).unwrap()))
        };
        for (device, text) in [(&one, "1"), (&one, "1"), (&other, "2"), (&one, "1")] {
            assert_eq!(read(device, "ro"), Some(Ok(text.to_owned())));
        }
        assert_eq!(
            read(&one, "fua"),
            None,
            "nothing shows that the device is there"
        );
        fs::write(one.join(UEVENT), "").unwrap();
        assert_eq!(
            read(&one, "fua").unwrap().unwrap_err().kind,
            HostErrorKind::Absent
        );
        fs::remove_dir_all(&one).unwrap();
        assert_eq!(read(&one, "ro"), None, "it is gone, and so is what it said");
    }

    #[test]
    fn directory_with_empty_lost_and_found_is_empty() {
        let dir = tempfile::tempdir().unwrap();
        let spare = dir.path().join("lost+found");
        assert_eq!(directory_is_empty_answer(dir.path()).unwrap(), b"yes\n");
        fs::create_dir(&spare).unwrap();
        assert_eq!(directory_is_empty_answer(dir.path()).unwrap(), b"yes\n");
        fs::write(spare.join("#12"), "").unwrap();
        assert_eq!(directory_is_empty_answer(dir.path()).unwrap(), b"no\n");
        fs::remove_file(spare.join("#12")).unwrap();
        fs::write(dir.path().join("PG_VERSION"), "16").unwrap();
        assert_eq!(directory_is_empty_answer(dir.path()).unwrap(), b"no\n");
    }
    use crate::host::{Host, Question, live};

    struct InProcessHost;

    impl Host for InProcessHost {
        fn ask(&self, question: &Question) -> HostResult {
            live::answer_in_this_process(question)
        }
    }

    #[test]
    fn file_answers_match_the_file_system() {
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join(OsStr::from_bytes(b"b\xff\n"));
        fs::write(&odd, "text").unwrap();
        symlink("b-target", dir.path().join("a")).unwrap();
        let host = InProcessHost;
        assert_eq!(read_file_bounded(&odd).unwrap(), b"text");
        assert_eq!(
            host.list_directory(dir.path()).unwrap(),
            ["a".into(), OsStr::from_bytes(b"b\xff\n").to_owned()]
        );
        assert_eq!(
            host.link_target(&dir.path().join("a")).unwrap(),
            Path::new("b-target")
        );
        assert_eq!(
            host.stat(&dir.path().join("a")).unwrap_err().kind,
            HostErrorKind::Absent
        );
        let stat = host.stat(&odd).unwrap();
        assert_eq!((stat.size, stat.is_dir()), (4, false));
        let found = fs::metadata(&odd).unwrap();
        assert_eq!(
            stat.ctime,
            HostTimestamp::new(found.ctime(), found.ctime_nsec())
        );
        assert!(stat.ctime.unwrap().has_nanos());
        assert!(host.stat(dir.path()).unwrap().is_dir());
        assert!(host.statfs(dir.path()).unwrap().size > 0);
        assert_eq!(
            host.real_path(&dir.path().join("./b/..")).unwrap_err().kind,
            HostErrorKind::Absent
        );
    }

    #[test]
    fn device_nodes_pipes_and_directories_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        for path in [&pipe, Path::new("/dev/zero"), dir.path()] {
            assert_eq!(
                read_file_bounded(path).unwrap_err().kind,
                HostErrorKind::Failed,
                "{}",
                path.display()
            );
        }
        assert_eq!(
            inode_flags(Path::new("/dev/zero")).unwrap_err().kind,
            HostErrorKind::Failed
        );
    }

    #[test]
    fn large_files_are_cut() {
        let dir = tempfile::tempdir().unwrap();
        let large = dir.path().join("large");
        File::create(&large)
            .unwrap()
            .set_len(LARGEST_READ * 3)
            .unwrap();
        assert_eq!(
            read_file_bounded(&large).unwrap().len() as u64,
            LARGEST_READ
        );
    }

    #[test]
    fn other_mountinfo_files_are_cut_at_the_read_limit() {
        let dir = tempfile::tempdir().unwrap();
        let table = dir.path().join("mountinfo");
        File::create(&table)
            .unwrap()
            .set_len(LARGEST_READ * 3)
            .unwrap();
        let file = File::open(&table).unwrap();
        assert_eq!(
            read_bounded(&file, MOUNT_TABLE as u64).unwrap().len() as u64,
            LARGEST_READ * 3
        );
        assert_eq!(
            read_file_bounded(&table).unwrap().len() as u64,
            LARGEST_READ,
            "one of a stranger"
        );
    }

    #[test]
    fn attributes_of_any_length_are_read_completely() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("attribute");
        for length in [0, 1, 4095, 4096, 4097, 12288] {
            let text = "0123456789".repeat(length / 10 + 1)[..length].to_owned();
            fs::write(&path, &text).unwrap();
            assert_eq!(read_sysfs_attribute(&path).unwrap(), text.into_bytes());
        }
        assert_eq!(
            read_sysfs_attribute(&dir.path().join("none"))
                .unwrap_err()
                .kind,
            HostErrorKind::Absent
        );
        assert_eq!(
            read_sysfs_attribute(dir.path()).unwrap_err(),
            HostError::failed("Is a directory")
        );
        let ours = |path: &str| is_sysfs_class_path(Path::new(path));
        assert!(ours("/sys/class/block/sda/size"));
        assert!(!ours("/sys/class/../../dev/tape") && !ours("/proc/swaps"));
    }
}
