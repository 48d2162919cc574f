//! The writer and the reader of the drill: commits one after the other, each reported once it is
//! said to be durable, and the commits that survive when the power is back.
//!
//! It writes into a directory of its own, which remains: it must be read after the power cut.
//! Losses are computed in [`crate::drill`]. The caller's report is part of every commit, so nothing
//! counts as acknowledged before it was reported. All files are opened relative to one open
//! directory, so nobody can redirect a write.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::commit::{Writer, again};
use super::directory::make_directory;
use super::error::{ErrorKind, ProbeError, shown};
use super::method::open_flags;
use super::place::database_around;
use super::scratch::zero;
use crate::drill::{Head, PAGE, PAGES, Ranges, fill, number_of};
use crate::measure::Method;
use crate::way::{CreationPolicy, End, Stranger, Walker};

/// The name of the directory that it writes in.
pub const DIRECTORY: &str = "walwise-drill";

/// Prefix of its segments' names.
const SEGMENT: &str = "segment-";

/// Identifies the run; written before anything is acknowledged.
const HEAD: &str = "run";

/// The largest head in bytes; a longer file is not ours.
const LONGEST_HEAD: u64 = 64 << 10;

/// The number of segments that are kept when each is new: the current and the previous one.
const KEPT: u64 = 2;

/// The largest alignment in memory that O_DIRECT needs, in bytes.
const ALIGNMENT: usize = 4096;

/// The segments that commits go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Segments {
    /// A single zero-filled segment, written cyclically, as a server recycles its own.
    Recycled,
    /// A new segment each time, of which only the size is allocated (`wal_init_zero = off`).
    Fresh,
}

impl fmt::Display for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recycled => "recycled",
            Self::Fresh => "fresh",
        })
    }
}

/// The drill's directory, for display.
pub fn place(directory: &Path) -> PathBuf {
    directory.join(DIRECTORY)
}

/// The parent directory of a drill, open.
pub struct DrillDirectory {
    directory: OwnedFd,
    path: PathBuf,
}

impl DrillDirectory {
    /// Opens it for writing; fails where somebody else could redirect root, and in a database's
    /// directory. The error is a sentence.
    pub fn to_write(path: &Path) -> Result<Self, String> {
        let walker = Walker::ourselves();
        let end = walker
            .directory(path, CreationPolicy::Refused)
            .map_err(|obstacle| obstacle.to_string())?;
        if let (0, Some(Stranger { at, who })) = (walker.uid, &end.stranger) {
            return Err(format!(
                "{} belongs to {who}, who could lead root elsewhere; run the drill as the owner, or in a directory of root's on \
                 the same file system",
                shown(at)
            ));
        }
        let parent = Self::new(&end, path)?;
        let held = parent
            .directory
            .try_clone()
            .map_err(|error| crate::text::error_words(&error))?;
        match database_around(held, std::path::absolute(path).unwrap_or_default()) {
            Some(database) => Err(format!(
                "{database} belongs to a database; name a directory beside it, on the same file system"
            )),
            None => Ok(parent),
        }
    }

    /// Opens it for reading. The error is a sentence.
    pub fn to_read(path: &Path) -> Result<Self, String> {
        let end = Walker::ourselves().directory(path, CreationPolicy::Refused);
        Self::new(&end.map_err(|obstacle| obstacle.to_string())?, path)
    }

    fn new(end: &End, path: &Path) -> Result<Self, String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&end.directory, ".", flags, Mode::empty());
        let directory = directory.map_err(|errno| cannot(path, &errno.into()))?;
        Ok(Self {
            directory,
            path: path.to_owned(),
        })
    }
}

/// Writes until it is told to stop. `tell` receives the head first, then the number of each commit
/// that the system calls report as durable; it returns whether to go on.
pub fn write(
    parent: &DrillDirectory,
    method: Method,
    segments: Segments,
    head: &Head,
    tell: &mut dyn FnMut(Option<u64>) -> io::Result<bool>,
) -> Result<(), ProbeError> {
    let path = place(&parent.path);
    let failed = |errno, doing: &str| ProbeError::from_errno(errno, doing, &path);
    let own = match make_directory(&parent.directory, DIRECTORY) {
        Err(Errno::EXIST) => {
            let says = format!(
                "{} is there already; read it or remove it first",
                shown(&path)
            );
            return Err(ProbeError::new(ErrorKind::Gone, says));
        }
        made => made.map_err(|errno| failed(errno, "making the drill's directory"))?,
    };
    put_head(&own, head).map_err(|errno| failed(errno, "writing which run it is"))?;
    sync(&parent.directory).map_err(|errno| failed(errno, "making its name durable"))?;
    let mut memory = vec![0; PAGE + ALIGNMENT];
    let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    let page = memory.get_mut(start..start + PAGE).unwrap_or_default();
    let told = |answer: io::Result<bool>| {
        answer.map_err(|error| {
            let says = format!("the reader is gone: {}", crate::text::error_words(&error));
            ProbeError::new(ErrorKind::Gone, says)
        })
    };
    let mut segment = Segment::make(&own, 0, method, segments)
        .map_err(|errno| failed(errno, "making a segment"))?;
    let mut go_on = told(tell(None))?;
    for number in 1.. {
        if !go_on {
            break;
        }
        let (nth, at) = ((number - 1) / PAGES, (number - 1) % PAGES);
        if segments == Segments::Fresh && nth != segment.nth {
            segment = Segment::make(&own, nth, method, segments)
                .map_err(|errno| failed(errno, "making a segment"))?;
        }
        fill(page, head.run, number);
        segment
            .writer
            .commit(page, at * PAGE as u64)
            .map_err(|errno| failed(errno, "a commit"))?;
        go_on = told(tell(Some(number)))?;
    }
    Ok(())
}

struct Segment {
    nth: u64,
    writer: Writer,
}

impl Segment {
    fn make(own: &OwnedFd, nth: u64, method: Method, segments: Segments) -> Result<Self, Errno> {
        let name = format!("{SEGMENT}{nth:08}");
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(own, &name, flags, Mode::RUSR | Mode::WUSR)?;
        let bytes = PAGES * PAGE as u64;
        match segments {
            Segments::Recycled => {
                zero(&file, bytes, &|| true)?;
            }
            Segments::Fresh => {
                if again(&mut false, || rustix::io::pwrite(&file, &[0], bytes - 1))? == 0 {
                    return Err(Errno::NOSPC);
                }
                again(&mut false, || rustix::fs::fsync(&file))?;
            }
        }
        sync(own)?;
        if let Some(old) = nth.checked_sub(KEPT) {
            rustix::fs::unlinkat(own, format!("{SEGMENT}{old:08}"), AtFlags::empty())?;
        }
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | open_flags(method);
        let file = rustix::fs::openat(own, &name, flags, Mode::empty())?;
        Ok(Self {
            nth,
            writer: Writer::new(method, file),
        })
    }
}

fn put_head(own: &OwnedFd, head: &Head) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(own, HEAD, flags, Mode::RUSR | Mode::WUSR)?;
    let line = format!("{head}\n");
    if again(&mut false, || rustix::io::write(&file, line.as_bytes()))? != line.len() {
        return Err(Errno::NOSPC);
    }
    again(&mut false, || rustix::fs::fsync(&file))
}

/// Makes the names in a directory durable.
fn sync(directory: &OwnedFd) -> Result<(), Errno> {
    again(&mut false, || rustix::fs::fsync(directory))
}

fn cannot(path: &Path, error: &io::Error) -> String {
    format!(
        "cannot read {}: {}",
        shown(path),
        crate::text::error_words(error)
    )
}

/// The surviving part of a directory's drill: its head and the numbers of all whole pages. `tell`
/// is called after each file.
pub fn read(parent: &DrillDirectory, tell: &mut dyn FnMut()) -> Result<(Head, Ranges), String> {
    let path = place(&parent.path);
    let failed = |name: &str, error: io::Error| cannot(&path.join(name), &error);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let own = rustix::fs::openat(&parent.directory, DIRECTORY, flags, Mode::empty());
    let own = own.map_err(|errno| cannot(&path, &errno.into()))?;
    let mut text = String::new();
    let mut head = open_file(&own, HEAD)
        .map_err(|error| failed(HEAD, error))?
        .take(LONGEST_HEAD);
    head.read_to_string(&mut text)
        .map_err(|error| failed(HEAD, error))?;
    let head = Head::parse(&text)
        .ok_or_else(|| format!("{} is not of a drill", shown(&path.join(HEAD))))?;
    let mut numbers = BTreeSet::new();
    for entry in Dir::read_from(&own).map_err(|errno| cannot(&path, &errno.into()))? {
        let entry = entry.map_err(|errno| cannot(&path, &errno.into()))?;
        let name = entry.file_name().to_string_lossy();
        if name.starts_with(SEGMENT) {
            let file = open_file(&own, &name).map_err(|error| failed(&name, error))?;
            numbers_in(file, head.run, &mut numbers).map_err(|error| failed(&name, error))?;
            tell();
        }
    }
    Ok((head, ranges(&numbers)))
}

/// Opens a file of the drill; any other kind of file with its name is not touched.
fn open_file(own: &OwnedFd, name: &str) -> io::Result<File> {
    let found = rustix::fs::statat(own, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is no regular file"));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(
        own,
        name,
        flags,
        Mode::empty(),
    )?))
}

fn numbers_in(mut file: File, run: u64, numbers: &mut BTreeSet<u64>) -> io::Result<()> {
    let mut page = vec![0; PAGE];
    for _ in 0..PAGES {
        match file.read_exact(&mut page) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            done => done?,
        }
        numbers.extend(number_of(&page, run));
    }
    Ok(())
}

fn ranges(numbers: &BTreeSet<u64>) -> Ranges {
    let mut ranges = Ranges::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == *number => *to = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{chown, symlink};

    use super::*;
    use crate::drill::{Acknowledged, StackFingerprint, Survived, compare};

    fn head() -> Head {
        Head {
            run: 42,
            method: "fdatasync".to_owned(),
            segments: "recycled".to_owned(),
            when: "2026-01-02T03:04:05Z".to_owned(),
            directory: "x".to_owned(),
        }
    }

    /// Writes so many commits in a directory of its own.
    fn written(commits: u64, segments: Segments) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let mut last = 0;
        let mut tell = |number: Option<u64>| {
            last = number.unwrap_or(0);
            Ok(last != commits)
        };
        write_in(directory.path(), segments, &mut tell).unwrap();
        assert_eq!(last, commits);
        directory
    }

    fn write_in(
        directory: &Path,
        segments: Segments,
        tell: &mut dyn FnMut(Option<u64>) -> io::Result<bool>,
    ) -> Result<(), ProbeError> {
        write(
            &DrillDirectory::to_write(directory).unwrap(),
            Method::Floor,
            segments,
            &head(),
            tell,
        )
    }

    fn read(directory: &Path) -> Result<(Head, Ranges), String> {
        super::read(&DrillDirectory::to_read(directory)?, &mut || {})
    }

    #[test]
    fn all_that_was_written_is_read_back() {
        for segments in [Segments::Recycled, Segments::Fresh] {
            for commits in [1, 2047, 2048, 2049, 6000] {
                let directory = written(commits, segments);
                let (found, pages) = read(directory.path()).unwrap();
                assert_eq!(found, head());
                let stack = StackFingerprint::default();
                let survived = Survived {
                    head: head(),
                    boot: String::new(),
                    stack: stack.clone(),
                    pages,
                    when: String::new(),
                };
                let acknowledged = Acknowledged {
                    head: head(),
                    boot: String::new(),
                    stack,
                    last: commits,
                    stopped: false,
                };
                let outcome = compare(&acknowledged, &survived).unwrap();
                assert_eq!(outcome.lost(), 0, "{segments:?} {commits}: {survived}");
                assert_eq!(
                    outcome.examined,
                    commits.min(2047),
                    "{segments:?} {commits}"
                );
            }
        }
    }

    #[test]
    fn what_is_damaged_is_lost() {
        let directory = written(100, Segments::Recycled);
        let segment = place(directory.path()).join("segment-00000000");
        let mut bytes = fs::read(&segment).unwrap();
        bytes[49 * PAGE + 5000] ^= 1;
        fs::write(&segment, bytes).unwrap();
        let (_, pages) = read(directory.path()).unwrap();
        assert_eq!(pages, [(1, 49), (51, 100)]);
    }

    #[test]
    fn nothing_is_written_over() {
        let directory = written(3, Segments::Recycled);
        let again = write_in(directory.path(), Segments::Recycled, &mut |_| Ok(true));
        assert!(again.unwrap_err().message.contains("is there already"));
        assert!(read(&directory.path().join("other")).is_err());
    }

    #[test]
    fn it_ends_when_nobody_listens() {
        let directory = tempfile::tempdir().unwrap();
        let mut tell = |number: Option<u64>| match number {
            Some(3) => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
            _ => Ok(true),
        };
        let ended = write_in(directory.path(), Segments::Fresh, &mut tell);
        assert!(ended.unwrap_err().message.contains("the reader is gone"));
    }

    /// Renaming files around the drill's directory redirects nothing.
    #[test]
    fn what_is_exchanged_meanwhile_redirects_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("ground")).unwrap();
        fs::create_dir(at("precious")).unwrap();
        let mut tell = |number: Option<u64>| {
            if number.is_none() {
                fs::rename(at("ground"), at("before")).unwrap();
                symlink(at("precious"), at("ground")).unwrap();
                fs::rename(at("before/walwise-drill"), at("before/moved")).unwrap();
                symlink(at("precious"), at("before/walwise-drill")).unwrap();
            }
            Ok(number != Some(5000))
        };
        write_in(&at("ground"), Segments::Fresh, &mut tell).unwrap();
        assert_eq!(fs::read_dir(at("precious")).unwrap().count(), 0);
        assert_eq!(
            fs::read_dir(at("before/moved")).unwrap().count(),
            3,
            "the head and two segments"
        );
        assert!(
            read(&at("before")).is_err(),
            "a link in its place is not read"
        );
    }

    #[test]
    fn what_is_no_file_of_a_drill_is_not_opened() {
        let directory = written(3, Segments::Recycled);
        let own = place(directory.path());
        nix::unistd::mkfifo(&own.join("segment-1"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        assert!(
            read(directory.path())
                .unwrap_err()
                .contains("no regular file")
        );
    }

    #[test]
    #[ignore = "needs root: a directory of somebody else"]
    fn root_writes_no_drill_where_somebody_else_rules() {
        let directory = tempfile::tempdir().unwrap();
        chown(directory.path(), Some(4242), None).unwrap();
        let refused = DrillDirectory::to_write(directory.path()).err().unwrap();
        assert!(refused.contains("belongs to uid 4242"), "{refused}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
