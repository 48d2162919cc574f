//! A link of the chain, and comparisons with a page whose size may be unknown.

use crate::durability::fact_reader::FactReader;
use crate::facts::{FactValue, Key, Reading, Subject};
use crate::ternary::Ternary;
use crate::text;

/// Largest InnoDB page in bytes (innodb_page_size); PostgreSQL's limit is 32 KiB (BLCKSZ).
const LARGEST_PAGE: u64 = 65536;

/// Smallest InnoDB page in bytes.
const SMALLEST_PAGE: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPlace {
    Page,
    /// How the server writes the page: through the page cache or with direct I/O.
    Server,
    Kernel,
    /// Placement of pages in the file system, and direct I/O.
    FileSystem,
    /// Alignment of a partition.
    Partition,
    /// Alignment of a linear mapping, such as a logical volume.
    Mapping,
    Layer,
    /// Atomicity of the device's writes.
    Device,
}

impl LinkPlace {
    fn as_str(self) -> &'static str {
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
pub struct PageLink {
    pub place: LinkPlace,
    /// Whether a page passes in one piece at an aligned offset.
    pub holds: Ternary,
    text: String,
}

impl PageLink {
    /// `says` is a clause without full stop.
    pub fn new(place: LinkPlace, holds: Ternary, says: impl Into<String>) -> Self {
        Self {
            place,
            holds,
            text: says.into(),
        }
    }

    /// A link that cannot be judged because the fact is unknown.
    pub fn unknown<T: FactValue>(
        place: LinkPlace,
        ask: &FactReader,
        of: &Subject,
        key: &Key<T>,
    ) -> Self {
        let why = match ask.facts.get(of, key) {
            Reading::Unknown { why, .. } => format!(" ({why})"),
            Reading::Known { .. } => String::new(),
        };
        Self::new(
            place,
            Ternary::Unknown,
            format!("{} of {} is unknown{why}", key.name(), of.name()),
        )
    }

    /// Example: `partition: sda1 begins at byte 32256, not a multiple of a page`.
    pub fn summary(&self) -> String {
        format!("{}: {}", self.place.as_str(), self.text)
    }

    /// The summary followed by `(holds)`, `(unknown)` or `(broken)`.
    pub fn summary_with_state(&self) -> String {
        let comes_to = match self.holds {
            Ternary::True => "holds",
            Ternary::Unknown => "unknown",
            Ternary::False => "broken",
        };
        format!("{} ({comes_to})", self.summary())
    }
}

pub fn bytes_text(bytes: u64) -> String {
    text::format_bytes(bytes)
}

pub fn page_fits(page: Option<u64>, bytes: u64) -> Ternary {
    match page {
        Some(page) => Ternary::from(page <= bytes),
        None if bytes >= LARGEST_PAGE => Ternary::True,
        None if bytes < SMALLEST_PAGE => Ternary::False,
        None => Ternary::Unknown,
    }
}

/// `bytes` is an offset or a size.
pub fn is_page_multiple(page: Option<u64>, bytes: u64) -> Ternary {
    match page {
        Some(page) => bytes
            .checked_rem(page)
            .map_or(Ternary::Unknown, |rest| Ternary::from(rest == 0)),
        None if bytes.is_multiple_of(LARGEST_PAGE) => Ternary::True,
        None if !bytes.is_multiple_of(SMALLEST_PAGE) => Ternary::False,
        None => Ternary::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGES: [u64; 5] = [4096, 8192, 16384, 32768, 65536];

    proptest! {
        /// With an unknown page size, the answer is known only if it is equal for all page sizes.
        #[test]
        fn an_unknown_page_is_any_page(sectors in 0u64..1024) {
            for judge in [page_fits as fn(Option<u64>, u64) -> Ternary, is_page_multiple] {
                let of_all = PAGES.map(|page| judge(Some(page), sectors * 512));
                let unknown = judge(None, sectors * 512);
                let alike = of_all.iter().all(|one| *one == of_all[0]);
                prop_assert_eq!(unknown, if alike { of_all[0] } else { Ternary::Unknown });
            }
        }
    }

    #[test]
    fn no_page_of_nothing() {
        assert_eq!(is_page_multiple(Some(0), 4096), Ternary::Unknown);
    }
}
