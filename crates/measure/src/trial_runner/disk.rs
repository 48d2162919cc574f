//! Trials on a spare disk or partition: the user names it by serial number, the trial proves
//! that it is free, and clears it at the end. A device that is not proven free is refused.

mod config_references;
mod device_findings;
mod device_users;
mod directory_entries;
mod disk_id;
mod erase_refusal;
mod locked_disk;
mod trial_mark;

use trial_mark::RESERVED_END_BYTES;

use crate::host::LiveHost;

pub use device_findings::BlockDevice;
pub use erase_refusal::{clear_refusal_by_facts, erase_refusal_by_facts};
pub use locked_disk::{EraseTarget, InspectedDisk, LockedDisk, lock_device};

// The search for foreign signatures covers both ends of a trial's disk, because a new partition
// table or file system can leave an older superblock in place.

const BEGINNING_BYTES: usize = (1 << 20) + 4096;

/// Signatures that a trial itself makes; [`super::locked_disk`] checks the UUIDs of its file
/// systems. `hfs` and `nilfs2` have magic numbers of two bytes, which an ext4 superblock may
/// contain by chance.
const TRIAL_SIGNATURES: [&str; 9] = [
    "walwise trial",
    "btrfs",
    "ext backup superblock",
    "ext journal",
    "ext4",
    "xfs",
    "xfs allocation group",
    "hfs",
    "nilfs2",
];

/// The foreign signatures in `beginning`, the first bytes of a device of `size` bytes, and in
/// `last`, its last MiB.
fn find_foreign_signatures(size: u64, beginning: Vec<u8>, last: Vec<u8>) -> Vec<String> {
    let found = LiveHost::identify_device_signatures(
        size,
        [
            (0, beginning),
            (size.saturating_sub(RESERVED_END_BYTES), last),
        ],
    );
    found
        .into_iter()
        .filter(|name| !TRIAL_SIGNATURES.contains(&name.as_str()))
        .collect()
}

#[cfg(test)]
mod foreign_signatures_tests {
    use super::*;

    const SIZE: u64 = 64 << 20;

    fn signatures_with(at: u64, magic: &[u8]) -> Vec<String> {
        let mut device = vec![0; usize::try_from(SIZE).unwrap()];
        let at = usize::try_from(at).unwrap();
        device[at..at + magic.len()].copy_from_slice(magic);
        let last = device.split_off(device.len() - usize::try_from(RESERVED_END_BYTES).unwrap());
        device.truncate(BEGINNING_BYTES);
        find_foreign_signatures(SIZE, device, last)
    }

    #[test]
    fn foreign_signatures_over_trial_data_are_found() {
        for (at, magic, name) in [
            (510, &b"\x55\xaa"[..], "DOS"),
            (512, b"EFI PART", "GPT"),
            (0, b"LUKS\xba\xbe", "LUKS"),
            (4096 - 10, b"SWAPSPACE2", "swap"),
            (SIZE - 512, b"EFI PART", "GPT"),
            (0x1000, b"\xfc\x4e\x2b\xa9", "md"),
        ] {
            assert_eq!(signatures_with(at, magic), [name], "{at}");
        }
        for (at, magic) in [
            (0, &b"XFSB"[..]),
            (0x10040, b"_BHRfS_M"),
            (SIZE - RESERVED_END_BYTES, b"walwise trial, mark 1\n"),
        ] {
            assert_eq!(signatures_with(at, magic), Vec::<String>::new());
        }
    }
}
