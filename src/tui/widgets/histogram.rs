use super::{axis, text};
use crate::report::time_axis::LogTimeAxis;
use crate::text::bars::HEIGHTS;
use crate::text::group_digits;

const MAX_BUCKET_WIDTH: usize = 3;
/// Ratio of the upper bounds of adjacent buckets: the fourth root of 2.
const BUCKET_FACTOR: f64 = 1.189_207_115_002_721;

/// Each bucket is `(upper bound in microseconds, count)`, with four buckets per doubling of the
/// time.
pub fn histogram_chart(buckets: &[(f64, u64)], columns: usize, rows: usize) -> Vec<String> {
    let Some((first, _)) = buckets.first() else {
        return Vec::new();
    };
    let high = rows.saturating_sub(2).max(1);
    let counts: Vec<u64> = buckets.iter().map(|(_, count)| *count).collect();
    let least = group_digits(counts.iter().copied().fold(0, u64::saturating_add));
    let left = text::width(&least).max(3) + 2;
    let bars = HistogramBars::new(&counts, columns.saturating_sub(left));
    let top = round_up_axis_maximum(bars.max_count());
    let scale = |row: usize| match row {
        0 => (group_digits(top), '┤'),
        row if row + 1 == high => ("0".to_owned(), '┼'),
        row if row == high / 2 && top.is_multiple_of(2) && high > 3 => (group_digits(top / 2), '┤'),
        _ => (String::new(), '│'),
    };
    let with_scale = |(row, drawn)| {
        let (said, mark) = scale(row);
        format!("{said:>width$} {mark}{drawn}", width = left - 2)
    };
    let mut lines: Vec<String> = bars
        .bar_lines(top, high)
        .into_iter()
        .enumerate()
        .map(with_scale)
        .collect();
    let low = first / BUCKET_FACTOR;
    let doublings = (bars.per_column * bars.columns.len()) as f64 / 4.0;
    let axis = LogTimeAxis::from_ends(low, low * doublings.exp2());
    if let Some([ticks, labels]) =
        axis.and_then(|axis| axis::time_axis_lines(&axis, bars.column_width * bars.columns.len()))
    {
        lines.push(format!("{}└{ticks}", text::spaces(left - 1)));
        lines.push(format!("{}{labels}", text::spaces(left)));
    }
    lines
}

/// Rounds up to a number of the series 1, 2, 5, 10, 20, …
fn round_up_axis_maximum(most: u64) -> u64 {
    let tens = |zeros: u32| 10_u64.checked_pow(zeros).unwrap_or(u64::MAX);
    let figures =
        (0..20).flat_map(|zeros| [1, 2, 5].map(|one: u64| one.saturating_mul(tens(zeros))));
    let mut figures = figures;
    figures
        .find(|figure| *figure >= most.max(1))
        .unwrap_or(u64::MAX)
}

/// Buckets as drawn; adjacent ones are merged if there are more buckets than columns.
struct HistogramBars {
    columns: Vec<u64>,
    per_column: usize,
    column_width: usize,
}

impl HistogramBars {
    fn new(counts: &[u64], room: usize) -> Self {
        let together = counts.len().div_ceil(room.max(1)).max(1);
        let column_width = room
            .checked_div(counts.len())
            .unwrap_or(0)
            .clamp(1, MAX_BUCKET_WIDTH);
        let sum = |some: &[u64]| some.iter().copied().fold(0, u64::saturating_add);
        Self {
            columns: counts.chunks(together).map(sum).collect(),
            per_column: together,
            column_width,
        }
    }

    fn max_count(&self) -> u64 {
        self.columns.iter().copied().max().unwrap_or(0)
    }

    /// Draws the bars, the top row first. Every non-zero count is visible, however small.
    fn bar_lines(&self, top: u64, rows: usize) -> Vec<String> {
        let eighths = |count: u64| {
            let full = rows.saturating_mul(8);
            let height = u128::from(count)
                .saturating_mul(full as u128)
                .div_ceil(u128::from(top.max(1)));
            usize::try_from(height).unwrap_or(full)
        };
        let row = |below: usize| {
            let block = |count: &u64| {
                let here = eighths(*count)
                    .saturating_sub(below.saturating_mul(8))
                    .min(8);
                here.checked_sub(1)
                    .and_then(|at| HEIGHTS.get(at))
                    .copied()
                    .unwrap_or(' ')
                    .to_string()
                    .repeat(self.column_width)
            };
            self.columns.iter().map(block).collect::<String>()
        };
        (0..rows).rev().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bar_lines_for_counts(counts: &[u64], columns: usize, rows: usize) -> Vec<String> {
        let bars = HistogramBars::new(counts, columns);
        bars.bar_lines(bars.max_count(), rows)
    }

    #[test]
    fn bar_heights_follow_counts() {
        assert_eq!(bar_lines_for_counts(&[1, 8, 16], 3, 2), ["  █", "▁██"]);
        assert_eq!(
            bar_lines_for_counts(&[1, 8, 16], 6, 2),
            ["    ██", "▁▁████"]
        );
        assert_eq!(
            bar_lines_for_counts(&[1, 100_000], 2, 1),
            ["▁█"],
            "one slow commit among many is seen"
        );
        assert_eq!(
            [1, 3, 380, 401, 501].map(round_up_axis_maximum),
            [1, 5, 500, 500, 1_000]
        );
    }

    #[test]
    fn histogram_has_count_and_time_scales() {
        let counts = [0, 3, 40, 210, 380, 260, 120, 60, 22, 9, 4, 1];
        let buckets: Vec<(f64, u64)> = (0..)
            .zip(counts)
            .map(|(i, count)| (100.0 * BUCKET_FACTOR.powi(i), count))
            .collect();
        assert_eq!(
            histogram_chart(&buckets, 44, 6)
                .iter()
                .map(|line| line.trim_end())
                .collect::<Vec<_>>(),
            [
                "  500 ┤            ▁▁▁",
                "      │            ███▁▁▁",
                "  250 ┤         ▆▆▆██████",
                "    0 ┼   ▁▁▁▃▃▃████████████▄▄▄▂▂▂▁▁▁▁▁▁▁▁▁",
                "      └───┬──────┬────┬─────┬────────┬─────",
                "       100 µs 150 µs     300 µs   500 µs",
            ]
        );
    }

    proptest! {
        #[test]
        fn histogram_fits_its_columns_and_rows(
            counts in prop::collection::vec(prop_oneof![Just(0), 0_u64..50, Just(u64::MAX)], 0..200),
            columns in 0_usize..100,
            rows in 0_usize..9,
        ) {
            let bars = bar_lines_for_counts(&counts, columns, rows);
            prop_assert_eq!(bars.len(), rows);
            for line in &bars {
                prop_assert!(text::width(line) <= columns.max(1));
            }
            if let Some(lowest) = bars.last() {
                prop_assert_eq!(lowest.trim().is_empty(), counts.iter().all(|n| *n == 0));
            }
            let buckets: Vec<(f64, u64)> =
                counts.iter().enumerate().map(|(i, count)| (100.0 * (i as f64 / 4.0).exp2(), *count)).collect();
            for line in histogram_chart(&buckets, columns, rows) {
                prop_assert!(text::width(&line) <= columns.max(40));
            }
        }
    }
}
