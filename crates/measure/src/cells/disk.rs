//! A spare disk or partition as the place of a trial: named by its serial number, proven free, and
//! cleared at the end.
//!
//! Everything here errs on the side of no. Who may ask for it is left to the command line; file
//! systems are made by [`super::volume`].

mod mark;
mod mention;
mod plate;
mod users;
mod foreign {
    //! What stands on the disk of a trial and is not the trial's: signatures of everything that
    //! walwise knows, looked for at the beginning and at the end of the device before each write.
    //!
    //! A partition table leaves the superblock of a file system as it was, and so does much else
    //! that is made over one.

    use super::mark::LAST;
    use crate::host::LiveHost;

    /// Bytes at the beginning in which signatures are looked for.
    pub const BEGINNING: usize = (1 << 20) + 4096;

    /// What a trial makes: its file systems, whose UUIDs are looked at elsewhere, and its mark. The
    /// last two are two bytes each, which the superblock of an ext4 may hold by chance.
    const OURS: [&str; 9] = [
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

    /// The signatures of others on a device of this size, of which these bytes stand at the
    /// beginning, and these from its last MiB on.
    pub fn signatures(size: u64, beginning: Vec<u8>, last: Vec<u8>) -> Vec<String> {
        let found =
            LiveHost::signatures_in(size, [(0, beginning), (size.saturating_sub(LAST), last)]);
        found
            .into_iter()
            .filter(|name| !OURS.contains(&name.as_str()))
            .collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const SIZE: u64 = 64 << 20;

        fn with(at: u64, magic: &[u8]) -> Vec<String> {
            let mut device = vec![0; usize::try_from(SIZE).unwrap()];
            let at = usize::try_from(at).unwrap();
            device[at..at + magic.len()].copy_from_slice(magic);
            let last = device.split_off(device.len() - usize::try_from(LAST).unwrap());
            device.truncate(BEGINNING);
            signatures(SIZE, device, last)
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
                assert_eq!(with(at, magic), [name], "{at}");
            }
            for (at, magic) in [
                (0, &b"XFSB"[..]),
                (0x10040, b"_BHRfS_M"),
                (SIZE - LAST, b"walwise trial, mark 1\n"),
            ] {
                assert_eq!(with(at, magic), Vec::<String>::new());
            }
        }
    }
}
mod findings;
mod free;
mod held;

pub use free::{by_facts, by_facts_of_use};
pub use held::{EraseOrder, HeldDisk, SpareDisk, lock};
