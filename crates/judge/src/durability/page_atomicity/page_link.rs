use crate::durability::fact_reader::FactReader;
use crate::facts::{FactValue, Key, Reading, Subject};
use crate::ternary::Ternary;
use crate::text;

/// The largest InnoDB page in bytes (innodb_page_size). PostgreSQL's largest page is smaller: 32
/// KiB (BLCKSZ).
const LARGEST_PAGE: u64 = 65536;

/// Smallest InnoDB page in bytes.
const SMALLEST_PAGE: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPlace {
    Page,
    Server,
    Kernel,
    FileSystem,
    Partition,
    Mapping,
    Layer,
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
    /// Whether a page at an offset that is a multiple of its size passes this link in one piece.
    pub holds: Ternary,
    text: String,
}

impl PageLink {
    /// Creates a link; `says` is a clause without a full stop.
    pub fn new(place: LinkPlace, holds: Ternary, says: impl Into<String>) -> Self {
        Self {
            place,
            holds,
            text: says.into(),
        }
    }

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

    pub fn summary(&self) -> String {
        format!("{}: {}", self.place.as_str(), self.text)
    }

    /// Place and text of the link, followed by `(holds)`, `(unknown)` or `(broken)`.
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

/// Whether an offset or a size, in bytes, is a multiple of the page size. If the page size is
/// unknown, the result is known only if all page sizes agree.
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
