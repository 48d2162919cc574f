//! The writer of the drill and its reader: commits one after the other, each told of once it is said to be durable, and what
//! is left of them when the power is back.
//!
//! It writes into a directory of its own, which stays: whoever pulled the plug has to read it afterwards. What is lost is
//! [`crate::drill`]'s business. The surprise: the caller's telling is part of every commit, so that nothing is
//! acknowledged before it was told.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use super::commit::{Writer, again};
use super::control::Control;
use super::error::{ErrorKind, ProbeError, shown};
use super::method::open_flags;
use super::scratch::zero;
use crate::drill::{Head, PAGE, PAGES, Ranges, fill, number_of};
use crate::measure::Method;

/// The directory that it writes in.
pub const DIRECTORY: &str = "walwise-drill";

/// What the names of its segments begin with.
const SEGMENT: &str = "segment-";

/// Says which run it was; written before anything is acknowledged.
const HEAD: &str = "run";

/// How many segments are kept when each is new: the one in use and the one before it.
const KEPT: u64 = 2;

/// What alignment O_DIRECT wants of memory, at most.
const ALIGNMENT: usize = 4096;

/// Where commits go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    /// Round and round in one segment that was filled with zeros, as a server recycles its own.
    Recycled,
    /// Into a new segment after each, of which nothing but the size is there (`wal_init_zero = off`).
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

/// Where the drill of a directory is.
pub fn place(directory: &Path) -> PathBuf {
    directory.join(DIRECTORY)
}

/// Writes until it is stopped. `tell` hears the head first and then the number of each commit that the system calls durable.
pub fn write(
    directory: &Path,
    method: Method,
    segments: Segments,
    head: &Head,
    control: &Control,
    tell: &mut dyn FnMut(Option<u64>) -> io::Result<()>,
) -> Result<(), ProbeError> {
    let own = place(directory);
    let failed = |errno, doing: &str| ProbeError::of(errno, doing, &own);
    match rustix::fs::mkdirat(CWD, &own, Mode::RWXU) {
        Err(Errno::EXIST) => {
            let says = format!("{} is there already; read it or remove it first", shown(&own));
            return Err(ProbeError::new(ErrorKind::Gone, says));
        }
        made => made.map_err(|errno| failed(errno, "making the drill's directory"))?,
    }
    put_head(&own, head).map_err(|errno| failed(errno, "writing which run it is"))?;
    sync(directory).map_err(|errno| failed(errno, "making its name durable"))?;
    let mut memory = vec![0; PAGE + ALIGNMENT];
    let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    let page = memory.get_mut(start..start + PAGE).unwrap_or_default();
    let told = |answer: io::Result<()>| {
        answer.map_err(|error| {
            let says = format!("nobody listens any more: {}", crate::text::error_words(&error));
            ProbeError::new(ErrorKind::Gone, says)
        })
    };
    let mut segment =
        Segment::make(&own, 0, method, segments).map_err(|errno| failed(errno, "making a segment"))?;
    told(tell(None))?;
    for number in 1.. {
        if control.is_cancelled() {
            break;
        }
        let (nth, at) = ((number - 1) / PAGES, (number - 1) % PAGES);
        if segments == Segments::Fresh && nth != segment.nth {
            segment = Segment::make(&own, nth, method, segments)
                .map_err(|errno| failed(errno, "making a segment"))?;
        }
        fill(page, head.run, number);
        segment.writer.commit(page, at * PAGE as u64).map_err(|errno| failed(errno, "a commit"))?;
        told(tell(Some(number)))?;
    }
    Ok(())
}

struct Segment {
    nth: u64,
    writer: Writer,
}

impl Segment {
    fn make(own: &Path, nth: u64, method: Method, segments: Segments) -> Result<Self, Errno> {
        let path = own.join(format!("{SEGMENT}{nth:08}"));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(CWD, &path, flags, Mode::RUSR | Mode::WUSR)?;
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
            rustix::fs::unlinkat(CWD, own.join(format!("{SEGMENT}{old:08}")), rustix::fs::AtFlags::empty())?;
        }
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | open_flags(method);
        let file = rustix::fs::openat(CWD, &path, flags, Mode::empty())?;
        Ok(Self { nth, writer: Writer::new(method, file) })
    }
}

fn put_head(own: &Path, head: &Head) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, own.join(HEAD), flags, Mode::RUSR | Mode::WUSR)?;
    let line = format!("{head}\n");
    if again(&mut false, || rustix::io::write(&file, line.as_bytes()))? != line.len() {
        return Err(Errno::NOSPC);
    }
    again(&mut false, || rustix::fs::fsync(&file))
}

/// Makes the names in a directory durable.
fn sync(directory: &Path) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory: OwnedFd = rustix::fs::openat(CWD, directory, flags, Mode::empty())?;
    again(&mut false, || rustix::fs::fsync(&directory))
}

/// What is left of the drill of a directory: its head and the numbers of all whole pages.
pub fn read(directory: &Path) -> Result<(Head, Ranges), String> {
    let own = place(directory);
    let cannot = |path: &Path, error: &io::Error| {
        format!("cannot read {}: {}", shown(path), crate::text::error_words(error))
    };
    let head = own.join(HEAD);
    let text = fs::read_to_string(&head).map_err(|error| cannot(&head, &error))?;
    let head = Head::parse(&text).ok_or_else(|| format!("{} is not of a drill", shown(&head)))?;
    let mut numbers = BTreeSet::new();
    for entry in fs::read_dir(&own).map_err(|error| cannot(&own, &error))? {
        let entry = entry.map_err(|error| cannot(&own, &error))?;
        if entry.file_name().to_string_lossy().starts_with(SEGMENT) {
            let path = entry.path();
            numbers_in(&path, head.run, &mut numbers).map_err(|error| cannot(&path, &error))?;
        }
    }
    Ok((head, ranges(&numbers)))
}

fn numbers_in(path: &Path, run: u64, numbers: &mut BTreeSet<u64>) -> io::Result<()> {
    let mut file = File::open(path)?;
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
    use super::*;
    use crate::drill::{Acknowledged, Stack, Survived, compare};

    fn head() -> Head {
        Head {
            run: 42,
            method: "fdatasync".to_owned(),
            segments: "recycled".to_owned(),
            when: "2026-01-02T03:04:05Z".to_owned(),
            directory: "x".to_owned(),
        }
    }

    /// Writes so many commits in an own directory.
    fn written(commits: u64, segments: Segments) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let control = Control::default();
        let mut last = 0;
        let mut tell = |number: Option<u64>| {
            last = number.unwrap_or(0);
            if last == commits {
                control.cancel();
            }
            Ok(())
        };
        write(directory.path(), Method::Floor, segments, &head(), &control, &mut tell).unwrap();
        assert_eq!(last, commits);
        directory
    }

    #[test]
    fn all_that_was_written_is_read_back() {
        for segments in [Segments::Recycled, Segments::Fresh] {
            for commits in [1, 2047, 2048, 2049, 6000] {
                let directory = written(commits, segments);
                let (found, pages) = read(directory.path()).unwrap();
                assert_eq!(found, head());
                let stack = Stack::default();
                let survived = Survived {
                    head: head(),
                    boot: String::new(),
                    stack: stack.clone(),
                    pages,
                    when: String::new(),
                };
                let acknowledged =
                    Acknowledged { head: head(), boot: String::new(), stack, last: commits, stopped: false };
                let outcome = compare(&acknowledged, &survived).unwrap();
                assert_eq!(outcome.lost(), 0, "{segments:?} {commits}: {survived}");
                assert_eq!(outcome.examined, commits.min(2047), "{segments:?} {commits}");
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
        let mut tell = |_| Ok(());
        let again = write(
            directory.path(),
            Method::Floor,
            Segments::Recycled,
            &head(),
            &Control::default(),
            &mut tell,
        );
        assert!(again.unwrap_err().message.contains("is there already"));
        assert!(read(&directory.path().join("other")).is_err());
    }

    #[test]
    fn it_ends_when_nobody_listens() {
        let directory = tempfile::tempdir().unwrap();
        let mut tell = |number: Option<u64>| match number {
            Some(3) => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
            _ => Ok(()),
        };
        let ended =
            write(directory.path(), Method::Floor, Segments::Fresh, &head(), &Control::default(), &mut tell);
        assert!(ended.unwrap_err().message.contains("nobody listens"));
    }
}
