//! Opens block devices, for reading only, and looks at one to tell whether anything is on it.
//!
//! Read are its beginning, its end, the places where signatures are known to lie, and samples in between. That nothing is
//! found is the proof that a disk is blank, so everything unknown counts as data. The surprise: what is opened first is
//! the path alone, since opening a tape or a watchdog that was put there does something already.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

use super::files::miss;
use super::magic::{self, Regions};
use crate::host::{Miss, MissKind, Signatures};

/// How much of each end is read.
const END: u64 = 2 << 20;

/// How much is read in other places, and what counts as one piece of data.
const PIECE: u64 = 4096;

/// How many samples are taken between the ends.
const SAMPLES: u64 = 32;

/// Opens a block device for reading, and nothing else: what is opened is what was looked at, whatever becomes of its name.
/// Closing it writes nothing, since nobody wrote through it.
pub fn open(path: &Path, also: OFlag) -> Result<File, Miss> {
    let by_name = |flags: OFlag, path: &Path| {
        OpenOptions::new().read(true).custom_flags(flags.bits()).open(path).map_err(|e| miss(&e))
    };
    let place = by_name(OFlag::O_PATH | OFlag::O_CLOEXEC, path)?;
    if !place.metadata().map_err(|e| miss(&e))?.file_type().is_block_device() {
        return Err(Miss::new(MissKind::Failed, "is no block device"));
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | also;
    by_name(flags, Path::new(&format!("/proc/self/fd/{}", place.as_raw_fd())))
}

/// Known signatures, and whether there is any data.
pub fn signatures(path: &Path) -> Result<Vec<u8>, Miss> {
    examine(open(path, OFlag::empty())?).map(|found| found.encode()).map_err(|e| miss(&e))
}

fn examine(mut device: File) -> io::Result<Signatures> {
    let size = device.seek(SeekFrom::End(0))?;
    let mut regions = Regions::new(size);
    let mut data = false;
    let mut look = |offset: u64, length: u64| -> io::Result<Vec<u8>> {
        let bytes = read(&device, offset, length)?;
        data |= bytes.chunks(4096).any(holds_data);
        Ok(bytes)
    };
    let tail = size.saturating_sub(END) / PIECE * PIECE;
    regions.add(0, look(0, END)?);
    regions.add(tail, look(tail, size - tail)?);
    for place in magic::PLACES.into_iter().filter(|place| *place >= END && *place < tail) {
        regions.add(place, look(place, PIECE)?);
    }
    for sample in 1..=SAMPLES {
        look(size / (SAMPLES + 1) / PIECE * PIECE * sample, PIECE)?;
    }
    Ok(Signatures { found: regions.names(), data })
}

/// What is there; less at the end of the device.
fn read(device: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match device.read_at(rest, offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Whether a piece is anything but all zeros or all ones, which is what erased media hold.
fn holds_data(piece: &[u8]) -> bool {
    // Compared as a whole, since a device has millions of bytes to look at.
    static ZEROS: [u8; 4096] = [0; 4096];
    static ONES: [u8; 4096] = [0xff; 4096];
    let is = |erased: &'static [u8]| erased.get(..piece.len()) == Some(piece);
    !is(&ZEROS) && !is(&ONES)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An image of this size with these bytes at these places.
    fn image(size: u64, parts: &[(u64, &[u8])]) -> Signatures {
        let file = tempfile::tempfile().unwrap();
        file.set_len(size).unwrap();
        for (at, bytes) in parts {
            file.write_all_at(bytes, *at).unwrap();
        }
        examine(file).unwrap()
    }

    #[test]
    fn nothing_is_nothing() {
        for size in [0, 1, 511, 4096, 3 << 20, 300 << 20] {
            assert_eq!(image(size, &[]), Signatures::default(), "{size}");
        }
        assert_eq!(image(4 << 20, &[(0, &vec![0xff; 4 << 20])]), Signatures::default());
        assert_eq!(examine(File::open("/dev/null").unwrap()).unwrap(), Signatures::default());
    }

    #[test]
    fn known_places_have_names() {
        const SIZE: u64 = 300 << 20;
        let cases: &[(&str, u64, &[u8])] = &[
            ("xfs", 0, b"XFSB"),
            ("ext2", 0x438, b"\x53\xef"),
            ("btrfs", 0x10040, b"_BHRfS_M"),
            ("btrfs", (64 << 20) + 0x40, b"_BHRfS_M"),
            ("LVM2", 512, b"LABELONE\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0LVM2 001"),
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
            ("zfs", SIZE - (512 << 10) + (128 << 10), b"\0\0\0\0\0\xba\xb1\x0c"),
            ("imsm", SIZE - 1024, b"Intel Raid ISM Cfg Sig. "),
            ("ddf", SIZE - 512, b"\xde\x11\xde\x11"),
            ("drbd", SIZE - 4096 + 60, b"\x83\x74\x02\x6d"),
            ("oracleasm", 32, b"ORCLDISK"),
            ("f2fs", 1024, b"\x10\x20\xf5\xf2"),
            ("ntfs", 3, b"NTFS    "),
        ];
        for (name, at, bytes) in cases {
            let found = image(SIZE, &[(*at, bytes)]);
            assert_eq!(
                (found.found.as_slice(), found.data),
                (&[(*name).to_owned()][..], true),
                "{name} at {at}"
            );
        }
    }

    #[test]
    fn ext_generations_are_told_apart() {
        let with = |compat: u32, incompat: u32| {
            let features = [compat.to_le_bytes(), incompat.to_le_bytes()].concat();
            image(4 << 20, &[(0x438, b"\x53\xef"), (0x45c, &features)]).found
        };
        assert_eq!(with(0, 0), ["ext2"]);
        assert_eq!(with(4, 0), ["ext3"]);
        assert_eq!(with(4, 0x40), ["ext4"]);
        assert_eq!(with(0, 8), ["ext journal"]);
    }

    #[test]
    fn a_byte_in_between_can_be_seen() {
        let size = 64 << 20;
        let middle = size / (SAMPLES + 1) / PIECE * PIECE * 7;
        assert_eq!(image(size, &[(middle, b"x")]), Signatures { found: Vec::new(), data: true });
    }

    proptest! {
        #[test]
        fn any_content_can_be_examined(content: Vec<u8>, at in 0u64..5 << 20, size in 0u64..5 << 20) {
            let file = tempfile::tempfile().unwrap();
            file.set_len(size).unwrap();
            file.write_all_at(&content, at).unwrap();
            let anything = content.iter().any(|b| !matches!(b, 0 | 0xff));
            let found = examine(file).unwrap();
            // Everything of so small a device is read but for what lies between the samples.
            prop_assert!(found.data || !anything || at + content.len() as u64 > END);
        }
    }
}
