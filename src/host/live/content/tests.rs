//! The contents found on images made here, and the unread part that is reported.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn lasting(time: Duration) -> Time {
    Time { until: Instant::now() + time, whole: time }
}

/// Reads an image of this size with these bytes at these places.
fn image(size: u64, parts: &[(u64, &[u8])]) -> DeviceScan {
    within(Duration::from_secs(60), size, parts)
}

fn made(size: u64, parts: &[(u64, &[u8])]) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(size).unwrap();
    for (at, bytes) in parts {
        file.write_all_at(bytes, *at).unwrap();
    }
    file
}

fn within(time: Duration, size: u64, parts: &[(u64, &[u8])]) -> DeviceScan {
    let file = made(size, parts);
    examine(file, 7, lasting(time)).unwrap()
}

/// The same of a device that is not read whole.
fn sampled(size: u64, parts: &[(u64, &[u8])]) -> DeviceScan {
    let file = made(size, parts);
    let time = Time { whole: Duration::ZERO, ..lasting(Duration::from_secs(60)) };
    examine(file, 7, time).unwrap()
}

#[test]
fn nothing_is_nothing() {
    for size in [0, 1, 511, 4096, 3 << 20, 300 << 20] {
        let whole = DeviceScan { bytes_read: size, ..DeviceScan::default() };
        assert_eq!(image(size, &[]), whole, "{size}");
    }
    assert!(!image(4 << 20, &[(0, &vec![0xff; 4 << 20])]).data);
    let null = examine(File::open("/dev/null").unwrap(), 7, lasting(NAMED)).unwrap();
    assert_eq!(null, DeviceScan::default());
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
        assert_eq!((found.found.as_slice(), found.data), (&[(*name).to_owned()][..], true), "{name} at {at}");
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
fn what_a_disk_with_a_wiped_beginning_is_brought_back_from_is_seen() {
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
        let found = image(size, &[(place, bytes)]);
        let names: Vec<&str> = Some(name).filter(|name| !name.is_empty()).into_iter().collect();
        assert_eq!((found.found, found.data), (names.iter().map(|&n| n.to_owned()).collect(), true));
    }
}

#[test]
fn without_time_the_places_that_were_left_are_counted() {
    let unread = within(Duration::ZERO, 40 << 30, &[]);
    assert_eq!((unread.bytes_read, unread.unread_run), (0, 40 << 30));
    assert_eq!(unread.places_left, places::known(40 << 30).len() as u64 + 2);
}

#[test]
fn a_disk_that_answers_with_errors_is_not_read() {
    // A directory opens and cannot be read, with a size like that of a disk.
    let directory = tempfile::tempdir().unwrap();
    let answer = examine(File::open(directory.path()).unwrap(), 7, lasting(NAMED));
    assert!(answer.is_err(), "{answer:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The promise: data that is not seen is no longer than the run that is told.
    #[test]
    fn no_run_longer_than_told_is_missed(size in 1u64..3 << 40, at in 0u64..1000, length in 1usize..4 << 20) {
        let at = size / 1000 * at;
        let bytes = vec![b'x'; length.min(usize::try_from(size - at).unwrap())];
        let seen = sampled(size, &[(at, &bytes)]);
        prop_assert!(seen.data || bytes.len() as u64 <= seen.unread_run, "{seen:?}");
        prop_assert!(seen.data || seen.unread_run <= (size >> 11) + 2 * places::PIECE, "{seen:?}");
    }

    #[test]
    fn whatever_is_on_a_small_device_is_seen(content: Vec<u8>, at in 0u64..5 << 20, size in 0u64..5 << 20) {
        let anything = content.iter().any(|b| !matches!(b, 0 | 0xff));
        let file = tempfile::tempfile().unwrap();
        file.set_len(size).unwrap();
        file.write_all_at(&content, at).unwrap();
        prop_assert!(!anything || examine(file, 7, lasting(4 * NAMED)).unwrap().data);
    }
}
