//! An estimate on a common scale: `├──●──┤`, with the dot at the value and the ends at those of the interval.

use crate::measure::Estimate;

/// The bar of an estimate where `top` is the right edge of a field of so many columns. Empty when nothing can be drawn.
pub fn bar(estimate: Estimate, top: f64, columns: usize) -> String {
    let last = columns.saturating_sub(1);
    let drawable = top.is_finite() && top > 0.0 && last > 0 && estimate.value.is_finite();
    if !drawable {
        return String::new();
    }
    let place = |value: f64| scaled(value / top, last);
    let (low, dot, high) = (place(estimate.low), place(estimate.value), place(estimate.high));
    (0..=high.max(dot))
        .map(|column| match column {
            column if column == dot => '●',
            column if column == low => '├',
            column if column == high => '┤',
            column if column > low => '─',
            _ => ' ',
        })
        .collect()
}

/// A share of the whole as a column from 0 to `last`; what lies outside is drawn at the edge.
fn scaled(share: f64, last: usize) -> usize {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=last above")]
    let column = (share * last as f64).round() as usize;
    column.min(last)
}

/// A share from 0 to 1 as a bar of so many columns.
pub fn progress(share: f64, columns: usize) -> String {
    let done = scaled(share, columns);
    (0..columns).map(|column| if column < done { '█' } else { '░' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dot_stands_between_the_ends() {
        let estimate = Estimate { value: 50.0, low: 30.0, high: 70.0 };
        assert_eq!(bar(estimate, 100.0, 11), "   ├─●─┤");
        assert_eq!(bar(Estimate { value: 50.0, low: 50.0, high: 50.0 }, 100.0, 11), "     ●");
    }

    #[test]
    fn hostile_figures_draw_something_or_nothing() {
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
            for columns in 0..12 {
                let drawn = bar(Estimate { value, low: value, high: f64::NAN }, 10.0, columns);
                assert!(drawn.chars().count() <= columns.max(1));
                assert_eq!(progress(value, columns).chars().count(), columns);
            }
        }
    }
}
