//! The bytes of a superblock: numbers at a place, names of bits, and why bytes are none.

/// Why bytes are no readable superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Another format, or too few bytes.
    Foreign,
    /// The checksum is wrong, as while the kernel updates the block.
    Checksum,
    /// A sector size that is not supported.
    Sectors,
}

impl Unreadable {
    pub fn says(self) -> &'static str {
        match self {
            Self::Foreign => "no superblock of this kind is where it should be",
            Self::Checksum => "the checksum of the superblock is wrong",
            Self::Sectors => "the superblock is larger than 4096 bytes",
        }
    }
}

/// `N` bytes at this place; `None` where there are too few.
pub fn bytes<const N: usize>(block: &[u8], at: usize) -> Option<[u8; N]> {
    block.get(at..)?.first_chunk().copied()
}

/// Names of the bits that are set, the lowest first; a bit without a name is called by its number behind `prefix`.
pub fn named<'a>(
    bits: u32,
    names: &'a [(u32, &'static str)],
    prefix: &'a str,
) -> impl Iterator<Item = String> + 'a {
    (0..u32::BITS).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| {
        let name = names.iter().find(|(known, _)| *known == 1 << bit);
        name.map_or_else(|| format!("{prefix}{bit}"), |(_, name)| (*name).to_owned())
    })
}
