//! One link of the chain: which part of the way it is, whether it holds, and why; and how sizes and
//! places compare with a page whose size may be unknown.

use crate::durability::ask::Ask;
use crate::facts::{FactValue, Key, Reading, Subject};
use crate::text;
use crate::truth::Truth;

/// The largest page of InnoDB, in bytes (innodb_page_size); PostgreSQL's is 32 KiB (BLCKSZ).
const LARGEST_PAGE: u64 = 65536;

/// The smallest of InnoDB, in bytes.
const SMALLEST_PAGE: u64 = 4096;

/// A part of the way of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPlace {
    Page,
    /// How the server writes it.
    Server,
    Kernel,
    /// Where the file system puts it, and whether it passes direct I/O on.
    FileSystem,
    /// Where a partition begins.
    Partition,
    /// Where a linear device-mapper device, such as a logical volume, begins.
    Mapping,
    Layer,
    /// What the device promises.
    Device,
}

impl LinkPlace {
    fn word(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Server => "server",
            Self::Kernel => "kernel",
            Self::FileSystem => "file system",
            Self::Partition => "partition",
            Self::Mapping => "logical volume",
            Self::Layer => "layer",
            Self::Device => "device",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub place: LinkPlace,
    /// Whether a page passes it in one piece, at a place of the right alignment.
    pub holds: Truth,
    says: String,
}

impl Link {
    /// A link, with what was seen of it: a clause without a full stop.
    pub fn new(place: LinkPlace, holds: Truth, says: impl Into<String>) -> Self {
        Self {
            place,
            holds,
            says: says.into(),
        }
    }

    /// A link that cannot be judged, because a fact of this subject is unknown.
    pub fn unread<T: FactValue>(place: LinkPlace, ask: &Ask, of: &Subject, key: &Key<T>) -> Self {
        let why = match ask.facts.get(of, key) {
            Reading::Unknown { why, .. } => format!(" ({why})"),
            Reading::Known { .. } => String::new(),
        };
        Self::new(
            place,
            Truth::Unknown,
            format!("{} of {} is not known{why}", key.name(), of.name()),
        )
    }

    /// `partition: sda1 begins at byte 32256, no multiple of a page`.
    pub fn told(&self) -> String {
        format!("{}: {}", self.place.word(), self.says)
    }

    /// The same with what it comes to.
    pub fn listed(&self) -> String {
        let comes_to = match self.holds {
            Truth::True => "holds",
            Truth::Unknown => "unknown",
            Truth::False => "broken",
        };
        format!("{} ({comes_to})", self.told())
    }
}

pub fn size(bytes: u64) -> String {
    text::bytes(bytes)
}

/// Whether a page fits into this many bytes.
pub fn fits(page: Option<u64>, bytes: u64) -> Truth {
    match page {
        Some(page) => Truth::from(page <= bytes),
        None if bytes >= LARGEST_PAGE => Truth::True,
        None if bytes < SMALLEST_PAGE => Truth::False,
        None => Truth::Unknown,
    }
}

/// Whether a place or a size, in bytes, is a multiple of a page.
pub fn multiple(page: Option<u64>, bytes: u64) -> Truth {
    match page {
        Some(page) => bytes
            .checked_rem(page)
            .map_or(Truth::Unknown, |rest| Truth::from(rest == 0)),
        None if bytes.is_multiple_of(LARGEST_PAGE) => Truth::True,
        None if !bytes.is_multiple_of(SMALLEST_PAGE) => Truth::False,
        None => Truth::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGES: [u64; 5] = [4096, 8192, 16384, 32768, 65536];

    proptest! {
        /// Without the size of a page only what holds, or fails, for every size is said.
        #[test]
        fn an_unknown_page_is_any_page(sectors in 0u64..1024) {
            for judge in [fits as fn(Option<u64>, u64) -> Truth, multiple] {
                let of_all = PAGES.map(|page| judge(Some(page), sectors * 512));
                let unknown = judge(None, sectors * 512);
                let alike = of_all.iter().all(|one| *one == of_all[0]);
                prop_assert_eq!(unknown, if alike { of_all[0] } else { Truth::Unknown });
            }
        }
    }

    #[test]
    fn no_page_of_nothing() {
        assert_eq!(multiple(Some(0), 4096), Truth::Unknown);
    }
}
