//! The mark of a trial on a disk, by which leftovers of a killed trial are recognised. The UUIDs of
//! the trial's file systems are derived from the id in the mark.
//!
//! The mark begins 1 MiB before the end of the device, so it is found without the size of the
//! extent. It has five lines, padded with zeros to [`MARK_BYTES`].
//!
//! ```text
//! walwise trial, mark 1
//! 10737418240           size of the extent, in bytes
//! 0123456789ab          TrialId
//! false                 is_changing
//! S3Z8NB0K123456        serial number or WWN
//! ```

use super::disk_id::DiskId;

/// Bytes at the device's end that belong to a trial: the mark, and the part that mkfs.xfs always
/// clears.
pub const RESERVED_END_BYTES: u64 = 1 << 20;

pub const MARK_BYTES: usize = 4096;

/// First line of the mark; `walwise check` recognises this line as a signature too.
const HEADER: &str = "walwise trial, mark 1";

/// First UUID bytes of a trial's file systems: `walwis` in ASCII, and version 8 (RFC 9562, custom).
const UUID_PREFIX: [u8; 8] = [0x77, 0x61, 0x6c, 0x77, 0x69, 0x73, 0x85, 0x74];

/// A UUID in the byte order of a superblock.
pub type Uuid = [u8; 16];

/// Id of a trial: 46 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialId(u64);

impl TrialId {
    pub fn from_random(random: u64) -> Self {
        Self(random & ((1 << 46) - 1))
    }

    pub fn filesystem_uuid(self, nth: u16) -> Uuid {
        let mut uuid = [0; 16];
        let high = 0x8000 | u16::try_from(self.0 >> 32).unwrap_or(0);
        let low = u32::try_from(self.0 & u64::from(u32::MAX)).unwrap_or(0);
        let parts = UUID_PREFIX
            .into_iter()
            .chain(high.to_be_bytes())
            .chain(low.to_be_bytes());
        for (to, from) in uuid.iter_mut().zip(parts.chain(nth.to_be_bytes())) {
            *to = from;
        }
        uuid
    }

    pub fn owns_uuid(self, uuid: &Uuid) -> bool {
        uuid.starts_with(self.filesystem_uuid(0).get(..14).unwrap_or_default())
    }
}

/// The text form of a UUID that mkfs accepts.
pub fn uuid_text(uuid: &Uuid) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(*uuid));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts
        .map(|part| hex.get(part).unwrap_or_default())
        .join("-")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialMark {
    pub bytes: u64,
    pub trial_id: TrialId,
    /// True while mkfs or clearing is in progress: a superblock may be missing.
    pub is_changing: bool,
    /// Serial number or WWN of the disk.
    pub disk: String,
}

impl TrialMark {
    pub fn encode(&self) -> Vec<u8> {
        let Self {
            bytes,
            trial_id: seal,
            is_changing,
            disk,
        } = self;
        let mut text = format!(
            "{HEADER}\n{bytes}\n{:012x}\n{is_changing}\n{disk}\n",
            seal.0
        )
        .into_bytes();
        text.resize(MARK_BYTES, 0);
        text
    }

    /// `None` unless `block` is exactly what [`Self::encode`] writes.
    pub fn decode(block: &[u8]) -> Option<Self> {
        let end = block.iter().position(|byte| *byte == 0)?;
        let (text, rest) = block.split_at_checked(end)?;
        let lines: Vec<&str> = std::str::from_utf8(text).ok()?.lines().collect();
        let [HEADER, bytes, seal, changing, disk] = lines[..] else {
            return None;
        };
        let mark = Self {
            bytes: bytes.parse().ok()?,
            trial_id: TrialId::from_random(u64::from_str_radix(seal, 16).ok()?),
            is_changing: changing.parse().ok()?,
            disk: disk.to_owned(),
        };
        (rest.iter().all(|byte| *byte == 0) && mark.encode() == block).then_some(mark)
    }

    /// Reason why the extent must not be cleared, given the UUIDs at the beginning of the device;
    /// `None` if clearing is allowed.
    pub fn clear_refusal(&self, disk: &DiskId, size: u64, found: &[Uuid]) -> Option<&'static str> {
        if self.disk != disk.as_str() {
            return Some("the trial mark on it belongs to another disk");
        }
        if self.bytes == 0 || self.bytes > size.saturating_sub(RESERVED_END_BYTES) {
            return Some("the trial mark on it belongs to a larger disk");
        }
        if found.iter().any(|uuid| !self.trial_id.owns_uuid(uuid)) {
            return Some("the disk now holds a file system that no trial created");
        }
        (found.is_empty() && !self.is_changing)
            .then_some("the trial's file system is no longer on the disk")
    }
}

pub const SUPERBLOCK_BYTES: usize = 128 << 10;

/// UUIDs in XFS, ext4 and btrfs superblocks at the beginning of a device.
pub fn superblock_uuids(beginning: &[u8]) -> Vec<Uuid> {
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

    fn sample_mark() -> TrialMark {
        TrialMark {
            bytes: 2 << 30,
            trial_id: TrialId::from_random(u64::MAX),
            is_changing: false,
            disk: "S1".to_owned(),
        }
    }

    #[test]
    fn trial_mark_round_trips_and_rejects_other_bytes() {
        let block = sample_mark().encode();
        assert_eq!(TrialMark::decode(&block), Some(sample_mark()));
        for at in (0..80).chain([MARK_BYTES - 1]) {
            let mut off = block.clone();
            off[at] ^= 0x55;
            assert_ne!(TrialMark::decode(&off), Some(sample_mark()), "{at}");
        }
        assert_eq!(
            (
                TrialMark::decode(&[0; MARK_BYTES]),
                TrialMark::decode(&[0xff; MARK_BYTES])
            ),
            (None, None)
        );
    }

    #[test]
    fn only_leftovers_of_this_disk_may_be_cleared() {
        let (disk, size) = (DiskId::Serial("S1".to_owned()), 3 << 30);
        let ours = sample_mark().trial_id.filesystem_uuid(7);
        assert_eq!(sample_mark().clear_refusal(&disk, size, &[ours]), None);
        assert_eq!(
            sample_mark().clear_refusal(
                &disk,
                size,
                &[ours, sample_mark().trial_id.filesystem_uuid(8)]
            ),
            None
        );
        assert!(
            sample_mark().clear_refusal(&disk, size, &[]).is_some(),
            "the disk was written to since"
        );
        assert_eq!(
            TrialMark {
                is_changing: true,
                ..sample_mark()
            }
            .clear_refusal(&disk, size, &[]),
            None
        );
        for found in [[1; 16], TrialId::from_random(1).filesystem_uuid(7)] {
            assert!(
                sample_mark()
                    .clear_refusal(&disk, size, &[ours, found])
                    .is_some()
            );
            assert!(
                TrialMark {
                    is_changing: true,
                    ..sample_mark()
                }
                .clear_refusal(&disk, size, &[found])
                .is_some()
            );
        }
        assert!(
            sample_mark()
                .clear_refusal(&DiskId::Serial("S2".to_owned()), size, &[ours])
                .is_some()
        );
        assert!(
            sample_mark()
                .clear_refusal(&disk, 2 << 30, &[ours])
                .is_some()
        );
    }

    #[test]
    fn filesystem_uuids_belong_to_one_trial() {
        let (one, other) = (TrialId::from_random(5), TrialId::from_random(6));
        assert_eq!(
            uuid_text(&one.filesystem_uuid(258)),
            "77616c77-6973-8574-8000-000000050102"
        );
        assert!(
            one.owns_uuid(&one.filesystem_uuid(9))
                && !one.owns_uuid(&other.filesystem_uuid(9))
                && !one.owns_uuid(&[0; 16])
        );
        let top = uuid_text(&TrialId::from_random(u64::MAX).filesystem_uuid(0));
        assert_eq!(top, "77616c77-6973-8574-bfff-ffffffff0000");
    }

    #[test]
    fn superblock_uuids_are_found_at_their_offsets() {
        let mut disk = vec![0; SUPERBLOCK_BYTES];
        assert_eq!(superblock_uuids(&disk), Vec::<Uuid>::new());
        for (nth, magic, at, uuid_at) in [
            (1, &b"XFSB"[..], 0, 32),
            (2, b"\x53\xef", 0x438, 0x468),
            (3, b"_BHRfS_M", 0x10040, 0x10020),
        ] {
            disk[at..at + magic.len()].copy_from_slice(magic);
            disk[uuid_at..uuid_at + 16].copy_from_slice(&[nth; 16]);
        }
        assert_eq!(superblock_uuids(&disk), [[1; 16], [2; 16], [3; 16]]);
        assert_eq!(superblock_uuids(&[]), Vec::<Uuid>::new());
    }

    proptest! {
        #[test]
        fn mark_and_superblock_parsers_never_panic(bytes: Vec<u8>) {
            let _ = (TrialMark::decode(&bytes), superblock_uuids(&bytes));
        }
    }
}
