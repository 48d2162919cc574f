//! The mark of a trial on a disk, by which what a killed trial left is known again, and the UUIDs
//! of its file systems.
//!
//! The mark stands where the last MiB of the device begins, so that whoever looks later finds it
//! without knowing the size of the extent. It says whether a superblock of the trial must be there:
//! while mkfs runs there may be none.

use super::plate::KnownBy;

/// Bytes at the device's end that belong to a trial: the mark, and the place that mkfs.xfs always
/// clears.
pub const LAST: u64 = 1 << 20;

/// Bytes of a mark.
pub const MARK: usize = 4096;

/// Its first line, which `check` knows as a signature too.
const HEAD: &str = "walwise trial, mark 1";

/// Bytes of a UUID by which a trial's file systems are known: `walwis` in ASCII, and version 8 (RFC
/// 9562, custom).
const OURS: [u8; 8] = [0x77, 0x61, 0x6c, 0x77, 0x69, 0x73, 0x85, 0x74];

/// A UUID as it stands in a superblock.
pub type Uuid = [u8; 16];

/// A trial, by 46 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialSeal(u64);

impl TrialSeal {
    /// That of a random number.
    pub fn of(random: u64) -> Self {
        Self(random & ((1 << 46) - 1))
    }

    /// The UUID of its file system of that number.
    pub fn uuid(self, nth: u16) -> Uuid {
        let mut uuid = [0; 16];
        let high = 0x8000 | u16::try_from(self.0 >> 32).unwrap_or(0);
        let low = u32::try_from(self.0 & u64::from(u32::MAX)).unwrap_or(0);
        let parts = OURS
            .into_iter()
            .chain(high.to_be_bytes())
            .chain(low.to_be_bytes());
        for (to, from) in uuid.iter_mut().zip(parts.chain(nth.to_be_bytes())) {
            *to = from;
        }
        uuid
    }

    /// Whether a UUID is of one of its file systems.
    pub fn has(self, uuid: &Uuid) -> bool {
        uuid.starts_with(self.uuid(0).get(..14).unwrap_or_default())
    }
}

/// A UUID as mkfs takes it.
pub fn written(uuid: &Uuid) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(*uuid));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts
        .map(|part| hex.get(part).unwrap_or_default())
        .join("-")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialMark {
    /// Bytes of the extent, from the device's beginning on.
    pub bytes: u64,
    pub seal: TrialSeal,
    /// Whether it was about to make a file system or to clear the extent: then there may be no
    /// superblock.
    pub is_changing: bool,
    /// The word by which the disk is known.
    pub disk: String,
}

impl TrialMark {
    /// The mark as it is written.
    pub fn encode(&self) -> Vec<u8> {
        let Self {
            bytes,
            seal,
            is_changing,
            disk,
        } = self;
        let mut text =
            format!("{HEAD}\n{bytes}\n{:012x}\n{is_changing}\n{disk}\n", seal.0).into_bytes();
        text.resize(MARK, 0);
        text
    }

    /// The mark that was read; `None` where there is none, or anything about it is off.
    pub fn decode(block: &[u8]) -> Option<Self> {
        let end = block.iter().position(|byte| *byte == 0)?;
        let (text, rest) = block.split_at_checked(end)?;
        let lines: Vec<&str> = std::str::from_utf8(text).ok()?.lines().collect();
        let [HEAD, bytes, seal, changing, disk] = lines[..] else {
            return None;
        };
        let mark = Self {
            bytes: bytes.parse().ok()?,
            seal: TrialSeal::of(u64::from_str_radix(seal, 16).ok()?),
            is_changing: changing.parse().ok()?,
            disk: disk.to_owned(),
        };
        (rest.iter().all(|byte| *byte == 0) && mark.encode() == block).then_some(mark)
    }

    /// Why what it stands for may not be cleared, with what was found at the beginning of the
    /// device; `None` where it may.
    pub fn forbids(&self, disk: &KnownBy, size: u64, found: &[Uuid]) -> Option<&'static str> {
        if self.disk != disk.typed() {
            return Some("it is that of another disk");
        }
        if self.bytes == 0 || self.bytes > size.saturating_sub(LAST) {
            return Some("it is that of a larger disk");
        }
        if found.iter().any(|uuid| !self.seal.has(uuid)) {
            return Some("a file system that no trial made was made there since");
        }
        (found.is_empty() && !self.is_changing).then_some("the file system of that trial is gone")
    }
}

/// Bytes at the beginning of a device in which superblocks are looked for.
pub const SUPERBLOCKS: usize = 128 << 10;

/// The UUIDs in superblocks of XFS, ext4 and btrfs at the beginning of a device.
pub fn superblocks(beginning: &[u8]) -> Vec<Uuid> {
    let at = |magic_at: usize, magic: &[u8], uuid_at: usize| {
        let found = beginning.get(magic_at..magic_at + magic.len())? == magic;
        found
            .then(|| beginning.get(uuid_at..uuid_at + 16)?.try_into().ok())
            .flatten()
    };
    let places = [
        at(0, b"XFSB", 32),
        at(0x438, b"\x53\xef", 0x468),
        at(0x10040, b"_BHRfS_M", 0x10020),
    ];
    places.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark() -> TrialMark {
        TrialMark {
            bytes: 2 << 30,
            seal: TrialSeal::of(u64::MAX),
            is_changing: false,
            disk: "S1".to_owned(),
        }
    }

    #[test]
    fn a_mark_is_read_as_it_was_written_and_any_other_byte_is_none() {
        let block = mark().encode();
        assert_eq!(TrialMark::decode(&block), Some(mark()));
        for at in (0..80).chain([MARK - 1]) {
            let mut off = block.clone();
            off[at] ^= 0x55;
            assert_ne!(TrialMark::decode(&off), Some(mark()), "{at}");
        }
        assert_eq!(
            (
                TrialMark::decode(&[0; MARK]),
                TrialMark::decode(&[0xff; MARK])
            ),
            (None, None)
        );
    }

    #[test]
    fn only_what_a_trial_left_on_this_disk_may_be_cleared() {
        let (disk, size) = (KnownBy::Serial("S1".to_owned()), 3 << 30);
        let ours = mark().seal.uuid(7);
        assert_eq!(mark().forbids(&disk, size, &[ours]), None);
        assert_eq!(
            mark().forbids(&disk, size, &[ours, mark().seal.uuid(8)]),
            None
        );
        assert!(
            mark().forbids(&disk, size, &[]).is_some(),
            "somebody wrote there since"
        );
        assert_eq!(
            TrialMark {
                is_changing: true,
                ..mark()
            }
            .forbids(&disk, size, &[]),
            None
        );
        for found in [[1; 16], TrialSeal::of(1).uuid(7)] {
            assert!(mark().forbids(&disk, size, &[ours, found]).is_some());
            assert!(
                TrialMark {
                    is_changing: true,
                    ..mark()
                }
                .forbids(&disk, size, &[found])
                .is_some()
            );
        }
        assert!(
            mark()
                .forbids(&KnownBy::Serial("S2".to_owned()), size, &[ours])
                .is_some()
        );
        assert!(mark().forbids(&disk, 2 << 30, &[ours]).is_some());
    }

    #[test]
    fn uuids_are_those_of_one_trial_and_well_formed() {
        let (one, other) = (TrialSeal::of(5), TrialSeal::of(6));
        assert_eq!(
            written(&one.uuid(258)),
            "77616c77-6973-8574-8000-000000050102"
        );
        assert!(one.has(&one.uuid(9)) && !one.has(&other.uuid(9)) && !one.has(&[0; 16]));
        let top = written(&TrialSeal::of(u64::MAX).uuid(0));
        assert_eq!(top, "77616c77-6973-8574-bfff-ffffffff0000");
    }

    #[test]
    fn superblocks_are_found_where_mkfs_writes_them() {
        let mut disk = vec![0; SUPERBLOCKS];
        assert_eq!(superblocks(&disk), Vec::<Uuid>::new());
        for (nth, magic, at, uuid_at) in [
            (1, &b"XFSB"[..], 0, 32),
            (2, b"\x53\xef", 0x438, 0x468),
            (3, b"_BHRfS_M", 0x10040, 0x10020),
        ] {
            disk[at..at + magic.len()].copy_from_slice(magic);
            disk[uuid_at..uuid_at + 16].copy_from_slice(&[nth; 16]);
        }
        assert_eq!(superblocks(&disk), [[1; 16], [2; 16], [3; 16]]);
        assert_eq!(superblocks(&[]), Vec::<Uuid>::new());
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(bytes: Vec<u8>) {
            let _ = (TrialMark::decode(&bytes), superblocks(&bytes));
        }
    }
}
