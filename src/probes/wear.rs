//! What writing takes of a disk, as a share of what flash is sold to bear.
//!
//! No fact holds what a disk is rated for, so the share is that of the least that is sold.

use crate::facts::catalog::device::{self, Medium};
use crate::facts::{FactSet, Subject};
use crate::text;

/// How often a day flash may be written from end to end over five years of guarantee, at least (JESD218 defines how such
/// figures are made).
const LEAST_WRITES_A_DAY: f64 = 0.3;
const DAYS: f64 = 365.0 * 5.0;

/// Size of the smallest disk that wears by writing, in bytes; platters and memory do not. `None` where a size is unknown.
pub fn smallest(leaves: &[Subject], facts: &FactSet) -> Option<u64> {
    let wears = |leaf: &&Subject| facts.value(leaf, &device::MEDIUM).is_none_or(Medium::wears);
    let sizes = leaves.iter().filter(wears).map(|leaf| facts.value(leaf, &device::SIZE));
    sizes.collect::<Option<Vec<u64>>>()?.into_iter().filter(|size| *size > 0).min()
}

/// The wear of so many bytes on a disk of this size, if each reached it once: `wears 0.023 % off a flash disk of 8 GiB`.
pub fn words(bytes: u64, disk_bytes: u64) -> String {
    let percent = 100.0 * bytes as f64 / (disk_bytes as f64 * LEAST_WRITES_A_DAY * DAYS);
    let percent = if percent < 0.001 { "less than 0.001".to_owned() } else { format!("{percent:.3}") };
    format!("wears {percent} % off a flash disk of {}", text::bytes(disk_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_is_said_as_a_share() {
        assert_eq!(words(1 << 30, 1 << 33), "wears 0.023 % off a flash disk of 8 GiB");
        assert_eq!(words(1 << 20, 1 << 40), "wears less than 0.001 % off a flash disk of 1 TiB");
    }
}
