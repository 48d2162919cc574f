//! An axis of times in columns: where a value stands, and the ticks with their labels.

pub use crate::report::axis::Axis;

use super::text;

/// What an axis is in columns.
pub trait AxisColumns {
    /// The column of a time in a field of so many; what lies outside is at the edge.
    fn column(&self, us: f64, columns: usize) -> usize;

    /// The ticks and their labels in so many columns; nothing where not even two labels have room.
    fn lines(&self, columns: usize) -> Option<[String; 2]>;
}

impl AxisColumns for Axis {
    fn column(&self, us: f64, columns: usize) -> usize {
        cell(self.share(us), columns.saturating_sub(1))
    }

    fn lines(&self, columns: usize) -> Option<[String; 2]> {
        let at = |us: &f64| self.column(*us, columns);
        let ticks: Vec<(usize, String)> =
            self.ticks().into_iter().map(|(us, label)| (at(&us), label)).collect();
        let labels = labels(&ticks, columns);
        if labels.len() < 2 {
            return None;
        }
        let is_tick = |column| ticks.iter().any(|(at, _)| *at == column);
        let rule = (0..columns).map(|column| if is_tick(column) { '┬' } else { '─' });
        let mut said = String::new();
        for (from, label) in labels {
            said.push_str(&text::blank(from.saturating_sub(text::width(&said))));
            said.push_str(&label);
        }
        Some([rule.collect(), text::pad(&said, columns)])
    }
}

/// A share of the whole as a place from 0 to `last`; what lies outside is at the edge.
pub fn cell(share: f64, last: usize) -> usize {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=last above")]
    let place = (share * last as f64).round() as usize;
    place.min(last)
}

/// The labels that have room, each with its first column: both ends, then those between from the left.
fn labels(ticks: &[(usize, String)], columns: usize) -> Vec<(usize, String)> {
    let placed = |(at, label): &(usize, String)| {
        let wide = text::width(label);
        (at.saturating_sub(wide / 2).min(columns.saturating_sub(wide)), label.clone())
    };
    let end = |(from, label): &(usize, String)| from + text::width(label);
    let (Some(first), Some(last)) = (ticks.first().map(placed), ticks.last().map(placed)) else {
        return Vec::new();
    };
    if end(&first) >= last.0 || end(&last) > columns {
        return Vec::new();
    }
    let mut shown = vec![first];
    for tick in ticks.iter().take(ticks.len().saturating_sub(1)).skip(1).map(placed) {
        let before = shown.last().map(end).unwrap_or_default();
        if tick.0 > before && end(&tick) < last.0 {
            shown.push(tick);
        }
    }
    shown.push(last);
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_stand_at_their_times() {
        let lines = Axis::between(100.0, 500.0).unwrap().lines(40).unwrap();
        assert_eq!(
            lines.map(|line| line.trim_end().to_owned()),
            ["┬─────────┬──────┬─────────┬───────────┬", "100 µs 150 µs 200 µs    300 µs    500 µs"]
        );
    }

    proptest! {
        #[test]
        fn columns_ascend_and_labels_stand_apart(
            low in 0.001_f64..1e9,
            factor in 1.0_f64..1e3,
            columns in 0_usize..150,
        ) {
            let high = low * factor;
            let axis = Axis::around([(low, high)].into_iter()).unwrap();
            let places: Vec<usize> =
                (0..=20).map(|step| axis.column(axis.time(f64::from(step) / 20.0), columns)).collect();
            prop_assert!(places.is_sorted());
            if let Some([ticks, labels]) = axis.lines(columns) {
                prop_assert_eq!(text::width(&ticks), columns);
                prop_assert_eq!(text::width(&labels), columns);
                let shown = labels.split("  ").filter(|label| !label.trim().is_empty());
                prop_assert!(labels.matches('s').count() >= 2);
                prop_assert!(shown.count() >= 1);
            }
        }
    }
}
