//! Scans a block device for data.
//!
//! The scan first reads the offsets of known metadata. Then it reads all of the device if one
//! second suffices, otherwise samples until time is up. A file system may be created on a device
//! found empty, so unread parts are reported and errors never count as empty. Reads bypass the page
//! cache, which may hold stale pages; only unused devices are read.

pub(super) mod magic;
mod offsets;

use std::fs::File;
use std::hash::BuildHasher as _;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foldhash::fast::FixedState;
use rustix::fs::OFlags;

use self::magic::DeviceRegions;
use self::offsets::{END_BYTES, PIECE_BYTES};
use super::{is_held_exclusively, open_block_device};
use crate::host::{ContentScan, HostResult, ScanDepth};
use walwise_model::parallel::map_with_thread_per_item;

pub const BRIEF_TIME: Duration = Duration::from_secs(1);

pub const THOROUGH_TIME: Duration = Duration::from_secs(10);

/// Time limit for reading a named device completely. Other devices get a quarter, because they
/// share `BRIEF_SCANS_TOTAL`.
const WHOLE_READ_TIME: Duration = Duration::from_secs(1);

/// The largest device that is read completely, in bytes; a larger one would exceed
/// [`WHOLE_READ_TIME`].
const LARGEST_WHOLE: u64 = 32 << 30;

const RUN_BYTES: u64 = 4 << 20;

/// Number of parallel reads: a disk can reorder them, and a remote device can answer them together.
const PARALLEL_READS: usize = 8;

const ALIGNMENT: usize = 4096;

pub fn scan(path: &Path, look: ScanDepth) -> HostResult {
    let (budget, whole, named) = match look {
        ScanDepth::Brief => (BRIEF_TIME, WHOLE_READ_TIME / 4, false),
        ScanDepth::Thorough => (THOROUGH_TIME, WHOLE_READ_TIME, true),
    };
    let time = TimeBudget {
        until: Instant::now() + budget,
        full_read_limit: whole,
    };
    if named && is_held_exclusively(path)? {
        return Ok(ContentScan {
            is_held: true,
            unread_places: 1,
            ..ContentScan::default()
        }
        .encode());
    }
    let device = open_block_device(path, OFlags::DIRECT)?;
    // The seed of the sample offsets, so that every scan of a device reads the same samples.
    let seed = FixedState::default().hash_one(path);
    let mut content = scan_device(device, seed, time)?;
    // Another process may have taken the device during the scan, and may have written to places
    // that were read as empty.
    content.is_held = named && is_held_exclusively(path)?;
    Ok(content.encode())
}

fn scan_device(mut device: File, seed: u64, time: TimeBudget) -> io::Result<ContentScan> {
    let size = device.seek(SeekFrom::End(0))?;
    let tail = offsets::tail_offset(size);
    let ends = [(0, END_BYTES.min(size)), (tail, size - tail)];
    let known = offsets::metadata_offsets(size)
        .into_iter()
        .map(|at| (at, PIECE_BYTES));
    let known: Vec<(u64, u64)> = ends
        .into_iter()
        .chain(known)
        .filter(|(_, length)| *length > 0)
        .collect();
    let mut looked = DeviceReader {
        device: &device,
        time,
        ranges: Vec::new(),
        has_data: false,
    };
    let parts = looked.read_ranges_in_parallel(&known, true)?;
    let places_left = known.len() - looked.ranges.len();
    let regions = DeviceRegions { size, parts };
    if !looked.has_data {
        looked.read_whole_device_if_fast(size)?;
    }
    if !looked.has_data && merge_ranges_and_longest_gap(&mut looked.ranges, size) > 0 {
        let samples: Vec<_> = offsets::sample_offsets(size, seed)
            .map(|at| (at, PIECE_BYTES))
            .collect();
        looked.read_ranges_in_parallel(&samples, false)?;
    }
    Ok(ContentScan {
        signatures: regions.detect_signature_names(),
        has_data: looked.has_data,
        is_held: false,
        unread_run: merge_ranges_and_longest_gap(&mut looked.ranges, size),
        // `merge_ranges_and_longest_gap` has joined overlapping ranges, so no byte is counted
        // twice.
        bytes_read: looked.ranges.iter().map(|(_, length)| length).sum(),
        unread_places: places_left as u64,
    })
}

#[derive(Clone, Copy)]
struct TimeBudget {
    until: Instant,
    full_read_limit: Duration,
}

struct DeviceReader<'d> {
    device: &'d File,
    time: TimeBudget,
    ranges: Vec<(u64, u64)>,
    has_data: bool,
}

impl DeviceReader<'_> {
    /// Reads the pieces in order, several at a time, until time is up. With `keep`, the bytes are
    /// kept, and reading continues after the first data, because all pieces are searched for
    /// signatures.
    fn read_ranges_in_parallel(
        &mut self,
        pieces: &[(u64, u64)],
        keep: bool,
    ) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let data = AtomicBool::new(self.has_data);
        let (device, until) = (self.device, self.time.until);
        let read_lane = |first: &usize| {
            let mut room = AlignedBuffer::default();
            let mut done = Vec::new();
            for (at, length) in pieces.iter().skip(*first).step_by(PARALLEL_READS) {
                if Instant::now() >= until {
                    break;
                }
                let bytes = match room.read_aligned(device, *at, *length) {
                    Ok(bytes) => bytes,
                    Err(error) => {
                        done.push(Err(error));
                        break;
                    }
                };
                if bytes.chunks(4096).any(is_data_block) {
                    data.store(true, Ordering::Relaxed);
                }
                if !keep && data.load(Ordering::Relaxed) {
                    break;
                }
                let kept = if keep { bytes.to_vec() } else { Vec::new() };
                done.push(Ok((*at, bytes.len() as u64, kept)));
            }
            done
        };
        let lanes: Vec<usize> = (0..PARALLEL_READS.min(pieces.len())).collect();
        let ended_early = |_| vec![Err(io::Error::other("a reading thread ended early"))];
        let ends = map_with_thread_per_item(&lanes, read_lane);
        self.has_data |= data.into_inner();
        let (mut parts, mut failure) = (Vec::new(), None);
        for part in ends
            .into_iter()
            .flat_map(|end| end.unwrap_or_else(ended_early))
        {
            match part {
                Ok((at, length, kept)) => {
                    self.ranges.push((at, length));
                    parts.push((at, kept));
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        // Data that was found counts even if another piece could not be read.
        match failure {
            Some(error) if !self.has_data => Err(error),
            _ => Ok(parts),
        }
    }

    fn read_whole_device_if_fast(&mut self, size: u64) -> io::Result<()> {
        let begun = Instant::now();
        let mut at = 0;
        let mut room = AlignedBuffer::default();
        while size <= LARGEST_WHOLE
            && at < size
            && !self.has_data
            && Instant::now() < self.time.until
        {
            let bytes = room.read_aligned(self.device, at, RUN_BYTES.min(size - at))?;
            self.has_data = bytes.chunks(4096).any(is_data_block);
            let read = bytes.len() as u64;
            if read == 0 {
                break;
            }
            self.ranges.push((at, read));
            at += read;
            // The estimate counts only after four reads, because a disk is slow at first after
            // standby.
            let expected = begun.elapsed().as_secs_f64() * size as f64 / at as f64;
            if at >= 4 * RUN_BYTES && expected > self.time.full_read_limit.as_secs_f64()
                || begun.elapsed() > self.time.full_read_limit
            {
                break;
            }
        }
        Ok(())
    }
}

#[derive(Default)]
pub struct AlignedBuffer(Vec<u8>);

impl AlignedBuffer {
    pub fn read_aligned(&mut self, device: &File, offset: u64, length: u64) -> io::Result<&[u8]> {
        let length = usize::try_from(length)
            .unwrap_or(0)
            .next_multiple_of(ALIGNMENT);
        if self.0.len() < length + ALIGNMENT {
            self.0.resize(length + ALIGNMENT, 0);
        }
        let start = self.0.as_ptr().align_offset(ALIGNMENT);
        let room = self
            .0
            .get_mut(start..)
            .and_then(|rest| rest.get_mut(..length))
            .unwrap_or_default();
        let mut filled = 0;
        while let Some(rest) = room.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match device.read_at(rest, offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(room.get(..filled).unwrap_or_default())
    }
}

fn merge_ranges_and_longest_gap(ranges: &mut Vec<(u64, u64)>, size: u64) -> u64 {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    let (mut longest, mut end) = (0, 0);
    for (at, length) in ranges.drain(..) {
        match joined.last_mut() {
            Some((from, so_far)) if at <= end => *so_far = (*so_far).max(at + length - *from),
            _ => joined.push((at, length)),
        }
        longest = longest.max(at.saturating_sub(end));
        end = end.max(at + length);
    }
    *ranges = joined;
    longest.max(size.saturating_sub(end))
}

fn is_data_block(piece: &[u8]) -> bool {
    // Comparing blocks instead of bytes saves time on a large device.
    static ZEROS: [u8; 4096] = [0; 4096];
    static ONES: [u8; 4096] = [0xff; 4096];
    let is = |erased: &'static [u8]| erased.get(..piece.len()) == Some(piece);
    !is(&ZEROS) && !is(&ONES)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn time_budget(time: Duration) -> TimeBudget {
        TimeBudget {
            until: Instant::now() + time,
            full_read_limit: time,
        }
    }

    fn scan_image(size: u64, parts: &[(u64, &[u8])]) -> ContentScan {
        scan_image_within_time(Duration::from_secs(60), size, parts)
    }

    fn image_file(size: u64, parts: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(size).unwrap();
        for (at, bytes) in parts {
            file.write_all_at(bytes, *at).unwrap();
        }
        file
    }

    fn scan_image_within_time(time: Duration, size: u64, parts: &[(u64, &[u8])]) -> ContentScan {
        let file = image_file(size, parts);
        scan_device(file, 7, time_budget(time)).unwrap()
    }

    fn scan_image_samples_only(size: u64, parts: &[(u64, &[u8])]) -> ContentScan {
        let file = image_file(size, parts);
        let time = TimeBudget {
            full_read_limit: Duration::ZERO,
            ..time_budget(Duration::from_secs(60))
        };
        scan_device(file, 7, time).unwrap()
    }

    #[test]
    fn empty_images_have_no_data() {
        for size in [0, 1, 511, 4096, 3 << 20, 300 << 20] {
            let whole = ContentScan {
                bytes_read: size,
                ..ContentScan::default()
            };
            assert_eq!(scan_image(size, &[]), whole, "{size}");
        }
        assert!(!scan_image(4 << 20, &[(0, &vec![0xff; 4 << 20])]).has_data);
        let null = scan_device(
            File::open("/dev/null").unwrap(),
            7,
            time_budget(THOROUGH_TIME),
        )
        .unwrap();
        assert_eq!(null, ContentScan::default());
    }

    #[test]
    fn known_signatures_are_identified_at_their_offsets() {
        const SIZE: u64 = 300 << 20;
        let cases: &[(&str, u64, &[u8])] = &[
            ("xfs", 0, b"XFSB"),
            ("ext2", 0x438, b"\x53\xef"),
            ("btrfs", 0x10040, b"_BHRfS_M"),
            ("btrfs", (64 << 20) + 0x40, b"_BHRfS_M"),
            (
                "LVM2",
                512,
                b"LABELONE\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0LVM2 001",
            ),
            ("LUKS", 0, b"LUKS\xba\xbe"),
            ("swap", 4086, b"SWAPSPACE2"),
            ("swap", 65526, b"SWAPSPACE2"),
            ("GPT", 512, b"EFI PART"),
            ("GPT", SIZE - 512, b"EFI PART"),
            ("DOS", 510, b"\x55\xaa"),
            ("md", 4096, b"\xfc\x4e\x2b\xa9"),
            ("md", SIZE - 8192, b"\xfc\x4e\x2b\xa9"),
            ("md", SIZE - 65536, b"\xfc\x4e\x2b\xa9"),
            ("zfs", 132 << 10, b"\x0c\xb1\xba\0\0\0\0\0"),
            (
                "zfs",
                SIZE - (512 << 10) + (128 << 10),
                b"\0\0\0\0\0\xba\xb1\x0c",
            ),
            ("imsm", SIZE - 1024, b"Intel Raid ISM Cfg Sig. "),
            ("ddf", SIZE - 512, b"\xde\x11\xde\x11"),
            ("drbd", SIZE - 4096 + 60, b"\x83\x74\x02\x6d"),
            ("oracleasm", 32, b"ORCLDISK"),
            ("f2fs", 1024, b"\x10\x20\xf5\xf2"),
            ("ntfs", 3, b"NTFS    "),
        ];
        for (name, at, bytes) in cases {
            let found = scan_image(SIZE, &[(*at, bytes)]);
            assert_eq!(
                (found.signatures.as_slice(), found.has_data),
                (&[(*name).to_owned()][..], true),
                "{name} at {at}"
            );
        }
    }

    #[test]
    fn ext2_ext3_ext4_and_journal_are_distinguished() {
        let with = |compat: u32, incompat: u32| {
            let features = [compat.to_le_bytes(), incompat.to_le_bytes()].concat();
            scan_image(4 << 20, &[(0x438, b"\x53\xef"), (0x45c, &features)]).signatures
        };
        assert_eq!(with(0, 0), ["ext2"]);
        assert_eq!(with(4, 0), ["ext3"]);
        assert_eq!(with(4, 0x40), ["ext4"]);
        assert_eq!(with(0, 8), ["ext journal"]);
    }

    #[test]
    fn backup_superblocks_are_found_after_wiped_start() {
        let mut copy = [0; 0x60];
        copy[0x18] = 2;
        copy[0x38..0x3a].copy_from_slice(b"\x53\xef");
        copy[0x5a] = 1;
        let size = 40u64 << 30;
        for (place, bytes, name) in [
            (128u64 << 20, &copy[..], "ext backup superblock"),
            (10 << 30, b"XFSB", "xfs allocation group"),
            (63 << 20, b"anything", ""),
        ] {
            let found = scan_image(size, &[(place, bytes)]);
            let names: Vec<&str> = Some(name)
                .filter(|name| !name.is_empty())
                .into_iter()
                .collect();
            assert_eq!(
                (found.signatures, found.has_data),
                (names.iter().map(|&n| n.to_owned()).collect(), true)
            );
        }
    }

    #[test]
    fn expired_budget_counts_unread_metadata_places() {
        let unread = scan_image_within_time(Duration::ZERO, 40 << 30, &[]);
        assert_eq!((unread.bytes_read, unread.unread_run), (0, 40 << 30));
        assert_eq!(
            unread.unread_places,
            offsets::metadata_offsets(40 << 30).len() as u64 + 2
        );
    }

    #[test]
    fn read_errors_fail_the_scan() {
        // A directory can be opened but not read, and it has a size, as a disk has.
        let directory = tempfile::tempdir().unwrap();
        let answer = scan_device(
            File::open(directory.path()).unwrap(),
            7,
            time_budget(THOROUGH_TIME),
        );
        assert!(answer.is_err(), "{answer:?}");
    }

    proptest! {
        // Without compiler optimization, one scan takes 0.1 s.
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

        /// Data that the scan misses is never longer than the reported unread run.
        #[test]
        fn missed_data_never_exceeds_unread_run(size in 1u64..3 << 40, at in 0u64..1000, length in 1usize..4 << 20) {
            let at = size / 1000 * at;
            let bytes = vec![b'x'; length.min(usize::try_from(size - at).unwrap())];
            let seen = scan_image_samples_only(size, &[(at, &bytes)]);
            prop_assert!(seen.has_data || bytes.len() as u64 <= seen.unread_run, "{seen:?}");
            prop_assert!(seen.has_data || seen.unread_run <= (size >> 11) + 2 * offsets::PIECE_BYTES, "{seen:?}");
        }

        #[test]
        fn any_data_on_a_small_device_is_detected(content: Vec<u8>, at in 0u64..5 << 20, size in 0u64..5 << 20) {
            let anything = content.iter().any(|b| !matches!(b, 0 | 0xff));
            let file = tempfile::tempfile().unwrap();
            file.set_len(size).unwrap();
            file.write_all_at(&content, at).unwrap();
            prop_assert!(!anything || scan_device(file, 7, time_budget(4 * THOROUGH_TIME)).unwrap().has_data);
        }
    }
}
