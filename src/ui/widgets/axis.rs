//! An axis in columns: its marks, and the labels that have room.

use super::text;
use crate::report::axis::Axis;
use crate::text::bars::cell;

/// The ticks of an axis of times and their labels in so many columns; nothing where not even two labels have room.
pub fn lines(axis: &Axis, columns: usize) -> Option<[String; 2]> {
    let ticks = axis.ticks();
    let (shown, said) = marked(&ticks, columns);
    let is_tick = |column| ticks.iter().any(|(share, _)| cell(*share, columns.saturating_sub(1)) == column);
    let rule = (0..columns).map(|column| if is_tick(column) { '┬' } else { '─' });
    (shown > 1).then(|| [rule.collect(), text::pad(&said, columns)])
}

/// How many of these marks, each a share with its label, have room for it in so many columns, and the line of them.
pub fn marked(marks: &[(f64, String)], columns: usize) -> (usize, String) {
    let ticks: Vec<(usize, String)> =
        marks.iter().map(|(share, label)| (cell(*share, columns.saturating_sub(1)), label.clone())).collect();
    let labels = labels(&ticks, columns);
    let line = labels.iter().fold(String::new(), |said, (from, label)| {
        let gap = from.saturating_sub(text::width(&said));
        said + &text::blank(gap) + label
    });
    (labels.len(), line)
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
    if ticks.len() > 1 && end(&first) >= last.0 || end(&last) > columns {
        return Vec::new();
    }
    let mut shown = vec![first];
    for tick in ticks.iter().take(ticks.len().saturating_sub(1)).skip(1).map(placed) {
        let before = shown.last().map(end).unwrap_or_default();
        if tick.0 > before && end(&tick) < last.0 {
            shown.push(tick);
        }
    }
    shown.extend((ticks.len() > 1).then_some(last));
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_stand_at_their_times() {
        let lines = lines(&Axis::between(100.0, 500.0).unwrap(), 40).unwrap();
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
                (0..=20).map(|step| cell(axis.share(axis.time(f64::from(step) / 20.0)), columns)).collect();
            prop_assert!(places.is_sorted());
            if let Some([ticks, labels]) = lines(&axis, columns) {
                prop_assert_eq!(text::width(&ticks), columns);
                prop_assert_eq!(text::width(&labels), columns);
                let shown = labels.split("  ").filter(|label| !label.trim().is_empty());
                prop_assert!(labels.matches('s').count() >= 2);
                prop_assert!(shown.count() >= 1);
            }
        }
    }
}
