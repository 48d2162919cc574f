//! A spare disk or partition as the place of a trial: named by its serial number, proven free,
//! cleared at the end. A device that is not proven free is refused.
//!
//! The command line decides who may request a trial; [`super::volume`] makes the file systems.

mod config_refs;
mod device_users;
mod disk_id;
mod trial_mark;
mod foreign_signatures {
    //! Foreign signatures on the disk of a trial are searched at both ends of the device before
    //! each write. A new partition table or file system can leave an older superblock in place.

    use super::trial_mark::LAST_BYTES;
    use crate::host::LiveHost;

    /// Number of bytes that are searched at the beginning of the device.
    pub const BEGINNING_BYTES: usize = (1 << 20) + 4096;

    /// Signatures that a trial itself makes; UUIDs are checked elsewhere. `hfs` and `nilfs2` have
    /// magic numbers of two bytes, which an ext4 superblock may contain by chance.
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

    /// Foreign signatures on a device of `size` bytes, from its first bytes and its last MiB.
    pub fn find_foreign_signatures(size: u64, beginning: Vec<u8>, last: Vec<u8>) -> Vec<String> {
        let found = LiveHost::identify_signatures(
            size,
            [(0, beginning), (size.saturating_sub(LAST_BYTES), last)],
        );
        found
            .into_iter()
            .filter(|name| !TRIAL_SIGNATURES.contains(&name.as_str()))
            .collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const SIZE: u64 = 64 << 20;

        fn signatures_with(at: u64, magic: &[u8]) -> Vec<String> {
            let mut device = vec![0; usize::try_from(SIZE).unwrap()];
            let at = usize::try_from(at).unwrap();
            device[at..at + magic.len()].copy_from_slice(magic);
            let last = device.split_off(device.len() - usize::try_from(LAST_BYTES).unwrap());
            device.truncate(BEGINNING_BYTES);
            find_foreign_signatures(SIZE, device, last)
        }

        #[test]
        fn what_somebody_made_over_a_file_system_is_seen() {
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
                (SIZE - LAST_BYTES, b"walwise trial, mark 1\n"),
            ] {
                assert_eq!(signatures_with(at, magic), Vec::<String>::new());
            }
        }
    }
}
mod device_findings;
mod erase_refusal;
mod locked_disk;

pub use erase_refusal::{clear_refusal_by_facts, erase_refusal_by_facts};
pub use locked_disk::{EraseTarget, InspectedDisk, LockedDisk, lock_device};
