//! Counts as adjacent columns, with the ends of the scale below. The caller's buckets are drawn as given, so the scale
//! is logarithmic if they are.

use super::text;

/// Columns from nothing to a full cell, an eighth each.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The buckets in so many rows and at most so many columns, from the top. Buckets stand together where there are more than
/// columns. However small a count is beside the others, it is seen.
pub fn lines(counts: &[u64], columns: usize, rows: usize) -> Vec<String> {
    let together = counts.len().div_ceil(columns.max(1)).max(1);
    let wide = columns.checked_div(counts.len()).unwrap_or(0).clamp(1, WIDEST);
    let columns: Vec<u64> = counts
        .chunks(together)
        .map(|some| some.iter().fold(0, |all: u64, n| all.saturating_add(*n)))
        .collect();
    let most = columns.iter().copied().max().unwrap_or(0).max(1);
    let eighths = |count: u64| {
        let full = rows.saturating_mul(8);
        let height = u128::from(count).saturating_mul(full as u128).div_ceil(u128::from(most));
        usize::try_from(height).unwrap_or(full)
    };
    let row = |below: usize| {
        let block = |count: &u64| {
            let here = eighths(*count).saturating_sub(below.saturating_mul(8)).min(8);
            BLOCKS.get(here).copied().unwrap_or(' ').to_string().repeat(wide)
        };
        columns.iter().map(block).collect::<String>()
    };
    (0..rows).rev().map(row).collect()
}

/// A bucket is never drawn wider than this.
const WIDEST: usize = 3;

/// The text below the columns: the ends of the scale, as far apart as the columns are wide.
pub fn scale(low: &str, high: &str, columns: usize) -> String {
    let taken = text::width(low).saturating_add(text::width(high));
    if taken.saturating_add(2) > columns {
        return format!("{low} to {high}");
    }
    format!("{low}{}{high}", text::blank(columns.saturating_sub(taken)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_are_as_high_as_their_counts() {
        assert_eq!(lines(&[1, 8, 16], 3, 2), ["  █", "▁██"]);
        assert_eq!(lines(&[1, 8, 16], 6, 2), ["    ██", "▁▁████"]);
        assert_eq!(lines(&[1, 100_000], 2, 1), ["▁█"], "one slow commit among many is seen");
        assert_eq!(scale("50 µs", "5.00 ms", 16), "50 µs    5.00 ms");
        assert_eq!(scale("50 µs", "5.00 ms", 10), "50 µs to 5.00 ms");
    }

    proptest! {
        #[test]
        fn whatever_was_counted_is_drawn_within_its_room(
            counts in prop::collection::vec(prop_oneof![Just(0), 0_u64..50, Just(u64::MAX)], 0..200),
            columns in 0_usize..100,
            rows in 0_usize..5,
        ) {
            let drawn = lines(&counts, columns, rows);
            prop_assert_eq!(drawn.len(), rows);
            for line in &drawn {
                prop_assert!(text::width(line) <= columns.max(1));
            }
            if let Some(lowest) = drawn.last() {
                prop_assert_eq!(lowest.trim().is_empty(), counts.iter().all(|n| *n == 0));
            }
        }
    }
}
