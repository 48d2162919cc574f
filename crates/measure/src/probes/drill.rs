//! Writer and reader of the power-cut drill. The writer reports each commit that the kernel
//! declares durable. After the power cut, the reader lists the intact pages. [`crate::drill`]
//! computes the lost commits.
//!
//! The writer leaves its files in place for the reader. Both open them relative to one directory
//! descriptor, so that no other user can redirect a write.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::commit_writer::{AlignedBuffer, CommitWriter, pwrite_all};
use super::file_calls::{create_file, fsync, open_directory, open_file};
use super::scratch::write_and_sync_zeros;
use super::scratch_directory::make_private_directory;
use super::scratch_place::enclosing_database_path;
use super::{ProbeError, open_flags};
use crate::drill::{
    CommitNumberRanges, PAGE_BYTES, PAGES_PER_SEGMENT, RunHeader, fill_page, intact_page_number,
};
use crate::facts::choice;
use crate::measure::Method;
use crate::safe_path::{ForeignDirectory, MissingDirectoryPolicy, OpenedDirectory, TrustedUser};
use crate::text::display_path;

pub const DRILL_DIRECTORY_NAME: &str = "walwise-drill";

const SEGMENT_PREFIX: &str = "segment-";

const HEADER_FILE: &str = "run";

const MAX_HEADER_BYTES: u64 = 64 << 10;

/// Segments kept on disk in [`SegmentMode::Fresh`], the current one included; older ones are
/// removed.
const KEPT_SEGMENTS: u64 = 2;

choice! {
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SegmentMode {
        /// One zero-filled segment, overwritten cyclically, as a server overwrites recycled
        /// segments.
        Recycled = "recycled",
        /// A new segment, not filled with zeros, whenever the last one is full
        /// (`wal_init_zero = off`).
        Fresh = "fresh",
    }
}

pub fn drill_directory_path(directory: &Path) -> PathBuf {
    directory.join(DRILL_DIRECTORY_NAME)
}

pub struct DrillParentDirectory {
    directory: OwnedFd,
    path: PathBuf,
}

impl DrillParentDirectory {
    /// Opens the drill's parent directory for the writer. Fails if another user could redirect
    /// root's writes, or if the directory belongs to a database. The error is a complete sentence.
    pub fn open_to_write_drill(path: &Path) -> Result<Self, String> {
        let walker = TrustedUser::current_user();
        let end = walker
            .open_directory(path, MissingDirectoryPolicy::Refused)
            .map_err(|obstacle| obstacle.to_string())?;
        if let (0, Some(ForeignDirectory { at, owner: who })) = (walker.uid, &end.foreign_owner) {
            return Err(format!(
                "{} belongs to {who}, who could redirect root's writes; run the drill as that user, or in a root-owned directory \
                 on the same file system",
                display_path(at)
            ));
        }
        let parent = Self::reopen_for_reading(&end, path)?;
        let held = parent
            .directory
            .try_clone()
            .map_err(|error| crate::text::io_error_message(&error))?;
        match enclosing_database_path(held, std::path::absolute(path).unwrap_or_default()) {
            Some(database) => Err(format!(
                "{database} belongs to a database; specify a directory next to it on the same file system"
            )),
            None => Ok(parent),
        }
    }

    /// Unlike [`Self::open_to_write_drill`], accepts directories of other users and of databases.
    /// The error is a complete sentence.
    pub fn open_to_read_drill(path: &Path) -> Result<Self, String> {
        let end = TrustedUser::current_user().open_directory(path, MissingDirectoryPolicy::Refused);
        Self::reopen_for_reading(&end.map_err(|obstacle| obstacle.to_string())?, path)
    }

    fn reopen_for_reading(end: &OpenedDirectory, path: &Path) -> Result<Self, String> {
        let directory = open_directory(&end.directory, ".")
            .map_err(|errno| cannot_read_message(path, &errno.into()))?;
        Ok(Self {
            directory,
            path: path.to_owned(),
        })
    }
}

/// Writes commits until `tell` returns false. `tell` gets `None` before the first commit, then the
/// number of each commit that the kernel reported durable.
///
/// A commit starts only after `tell` has returned for the previous one.
pub fn write_commits_until_stopped(
    parent: &DrillParentDirectory,
    method: Method,
    segments: SegmentMode,
    head: &RunHeader,
    tell: &mut dyn FnMut(Option<u64>) -> io::Result<bool>,
) -> Result<(), ProbeError> {
    let path = drill_directory_path(&parent.path);
    let shown = path.as_path();
    let failed = |doing: &'static str| move |errno| ProbeError::from_errno(errno, doing, shown);
    let own = match make_private_directory(&parent.directory, DRILL_DIRECTORY_NAME) {
        Err(Errno::EXIST) => {
            let says = format!(
                "{} already exists; read it with `walwise drill read`, or remove it",
                display_path(&path)
            );
            return Err(ProbeError::new(says));
        }
        made => made.map_err(failed("creating the drill's directory"))?,
    };
    write_synced_header(&own, head).map_err(failed("writing the run's header"))?;
    fsync(&parent.directory).map_err(failed("syncing the parent of the drill's directory"))?;
    let mut page = AlignedBuffer::zeroed(PAGE_BYTES);
    let told = |answer: io::Result<bool>| {
        answer.map_err(|error| {
            let says = format!(
                "the program that receives the output has exited: {}",
                crate::text::io_error_message(&error)
            );
            ProbeError::new(says)
        })
    };
    let mut segment = DrillSegment::create_and_remove_old(&own, 0, method, segments)
        .map_err(failed("creating a segment"))?;
    let mut go_on = told(tell(None))?;
    for number in 1.. {
        if !go_on {
            break;
        }
        let (nth, at) = (
            (number - 1) / PAGES_PER_SEGMENT,
            (number - 1) % PAGES_PER_SEGMENT,
        );
        if segments == SegmentMode::Fresh && nth != segment.nth {
            segment = DrillSegment::create_and_remove_old(&own, nth, method, segments)
                .map_err(failed("creating a segment"))?;
        }
        fill_page(page.bytes_mut(), head.run, number);
        segment
            .writer
            .write_and_flush_timed(page.first_bytes(PAGE_BYTES), at * PAGE_BYTES as u64)
            .map_err(failed("a commit"))?;
        go_on = told(tell(Some(number)))?;
    }
    Ok(())
}

struct DrillSegment {
    nth: u64,
    writer: CommitWriter,
}

impl DrillSegment {
    fn create_and_remove_old(
        own: &OwnedFd,
        nth: u64,
        method: Method,
        segments: SegmentMode,
    ) -> Result<Self, Errno> {
        let name = format!("{SEGMENT_PREFIX}{nth:08}");
        let file = create_file(own, &name)?;
        let bytes = PAGES_PER_SEGMENT * PAGE_BYTES as u64;
        match segments {
            SegmentMode::Recycled => {
                write_and_sync_zeros(&file, bytes, &|| true)?;
            }
            SegmentMode::Fresh => {
                pwrite_all(&file, &[0], bytes - 1)?;
                fsync(&file)?;
            }
        }
        fsync(own)?;
        if let Some(old) = nth.checked_sub(KEPT_SEGMENTS) {
            rustix::fs::unlinkat(own, format!("{SEGMENT_PREFIX}{old:08}"), AtFlags::empty())?;
        }
        let file = open_file(own, &name, open_flags(method))?;
        Ok(Self {
            nth,
            writer: CommitWriter::new(method, file),
        })
    }
}

fn write_synced_header(own: &OwnedFd, head: &RunHeader) -> Result<(), Errno> {
    let file = create_file(own, HEADER_FILE)?;
    pwrite_all(&file, format!("{head}\n").as_bytes(), 0)?;
    fsync(&file)
}

fn cannot_read_message(path: &Path, error: &io::Error) -> String {
    format!(
        "cannot read {}: {}",
        display_path(path),
        crate::text::io_error_message(error)
    )
}

/// The numbers are those of intact pages. `tell` is called after each segment. The error is a
/// complete sentence.
pub fn read_header_and_page_ranges(
    parent: &DrillParentDirectory,
    tell: &mut dyn FnMut(),
) -> Result<(RunHeader, CommitNumberRanges), String> {
    let path = drill_directory_path(&parent.path);
    let failed = |name: &str, error: io::Error| cannot_read_message(&path.join(name), &error);
    let unreadable = |errno: Errno| cannot_read_message(&path, &errno.into());
    let own = open_directory(&parent.directory, DRILL_DIRECTORY_NAME).map_err(unreadable)?;
    let mut text = String::new();
    open_regular_file(&own, HEADER_FILE)
        .and_then(|file| file.take(MAX_HEADER_BYTES).read_to_string(&mut text))
        .map_err(|error| failed(HEADER_FILE, error))?;
    let head = RunHeader::parse(&text).ok_or_else(|| {
        format!(
            "{} was not written by a drill",
            display_path(&path.join(HEADER_FILE))
        )
    })?;
    let mut numbers = BTreeSet::new();
    for entry in Dir::read_from(&own).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy();
        if name.starts_with(SEGMENT_PREFIX) {
            open_regular_file(&own, &name)
                .and_then(|file| collect_intact_page_numbers(file, head.run, &mut numbers))
                .map_err(|error| failed(&name, error))?;
            tell();
        }
    }
    Ok((head, number_ranges(&numbers)))
}

fn open_regular_file(own: &OwnedFd, name: &str) -> io::Result<File> {
    let found = rustix::fs::statat(own, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("not a regular file"));
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(
        own,
        name,
        flags,
        Mode::empty(),
    )?))
}

fn collect_intact_page_numbers(
    mut file: File,
    run: u64,
    numbers: &mut BTreeSet<u64>,
) -> io::Result<()> {
    let mut page = vec![0; PAGE_BYTES];
    for _ in 0..PAGES_PER_SEGMENT {
        match file.read_exact(&mut page) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            done => done?,
        }
        numbers.extend(intact_page_number(&page, run));
    }
    Ok(())
}

fn number_ranges(numbers: &BTreeSet<u64>) -> CommitNumberRanges {
    let mut ranges = CommitNumberRanges::new();
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
    use crate::drill::{AckLog, ReadBackLog, StackFacts, find_lost_commits};

    fn sample_header() -> RunHeader {
        RunHeader {
            run: 42,
            method: "fdatasync".to_owned(),
            segments: "recycled".to_owned(),
            when: "2026-01-02T03:04:05Z".to_owned(),
            directory: "x".to_owned(),
        }
    }

    fn write_sample_drill(commits: u64, segments: SegmentMode) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let mut last = 0;
        let mut tell = |number: Option<u64>| {
            last = number.unwrap_or(0);
            Ok(last != commits)
        };
        write_drill_in(directory.path(), segments, &mut tell).unwrap();
        assert_eq!(last, commits);
        directory
    }

    fn write_drill_in(
        directory: &Path,
        segments: SegmentMode,
        tell: &mut dyn FnMut(Option<u64>) -> io::Result<bool>,
    ) -> Result<(), ProbeError> {
        write_commits_until_stopped(
            &DrillParentDirectory::open_to_write_drill(directory).unwrap(),
            Method::Floor,
            segments,
            &sample_header(),
            tell,
        )
    }

    fn read_drill_in(directory: &Path) -> Result<(RunHeader, CommitNumberRanges), String> {
        super::read_header_and_page_ranges(
            &DrillParentDirectory::open_to_read_drill(directory)?,
            &mut || {},
        )
    }

    #[test]
    fn written_commits_are_read_back() {
        for segments in [SegmentMode::Recycled, SegmentMode::Fresh] {
            for commits in [1, 2047, 2048, 2049, 6000] {
                let directory = write_sample_drill(commits, segments);
                let (found, pages) = read_drill_in(directory.path()).unwrap();
                assert_eq!(found, sample_header());
                let stack = StackFacts::default();
                let survived = ReadBackLog {
                    header: sample_header(),
                    boot: String::new(),
                    stack: stack.clone(),
                    pages,
                    when: String::new(),
                };
                let acknowledged = AckLog {
                    header: sample_header(),
                    boot: String::new(),
                    stack,
                    last_number: commits,
                    was_stopped: false,
                };
                let outcome = find_lost_commits(&acknowledged, &survived).unwrap();
                assert_eq!(
                    outcome.lost_count(),
                    0,
                    "{segments:?} {commits}: {survived}"
                );
                assert_eq!(
                    outcome.examined,
                    commits.min(2047),
                    "{segments:?} {commits}"
                );
            }
        }
    }

    #[test]
    fn damaged_page_is_lost() {
        let directory = write_sample_drill(100, SegmentMode::Recycled);
        let segment = drill_directory_path(directory.path()).join("segment-00000000");
        let mut bytes = fs::read(&segment).unwrap();
        bytes[49 * PAGE_BYTES + 5000] ^= 1;
        fs::write(&segment, bytes).unwrap();
        let (_, pages) = read_drill_in(directory.path()).unwrap();
        assert_eq!(pages, [(1, 49), (51, 100)]);
    }

    #[test]
    fn existing_drill_is_not_overwritten() {
        let directory = write_sample_drill(3, SegmentMode::Recycled);
        let again = write_drill_in(directory.path(), SegmentMode::Recycled, &mut |_| Ok(true));
        assert!(again.unwrap_err().message.contains("already exists"));
        assert!(read_drill_in(&directory.path().join("other")).is_err());
    }

    #[test]
    fn broken_pipe_ends_drill() {
        let directory = tempfile::tempdir().unwrap();
        let mut tell = |number: Option<u64>| match number {
            Some(3) => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
            _ => Ok(true),
        };
        let ended = write_drill_in(directory.path(), SegmentMode::Fresh, &mut tell);
        assert!(ended.unwrap_err().message.contains("has exited"));
    }

    #[test]
    fn swapped_directories_do_not_redirect_writes() {
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
        write_drill_in(&at("ground"), SegmentMode::Fresh, &mut tell).unwrap();
        assert_eq!(fs::read_dir(at("precious")).unwrap().count(), 0);
        assert_eq!(
            fs::read_dir(at("before/moved")).unwrap().count(),
            3,
            "the head and two segments"
        );
        assert!(
            read_drill_in(&at("before")).is_err(),
            "a link in its place is not read"
        );
    }

    #[test]
    fn non_regular_segment_is_refused() {
        let directory = write_sample_drill(3, SegmentMode::Recycled);
        let own = drill_directory_path(directory.path());
        nix::unistd::mkfifo(&own.join("segment-1"), nix::sys::stat::Mode::S_IRUSR).unwrap();
        assert!(
            read_drill_in(directory.path())
                .unwrap_err()
                .contains("not a regular file")
        );
    }

    #[test]
    #[ignore = "needs root: a directory of somebody else"]
    fn root_refuses_foreign_owned_directory() {
        let directory = tempfile::tempdir().unwrap();
        chown(directory.path(), Some(4242), None).unwrap();
        let refused = DrillParentDirectory::open_to_write_drill(directory.path())
            .err()
            .unwrap();
        assert!(refused.contains("belongs to uid 4242"), "{refused}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
