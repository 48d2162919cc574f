//! A logarithmic axis of times: where a value stands on it, and its ticks with their labels.
//!
//! What decides between two commits is their ratio, so equal ratios take equal columns.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use super::text;

/// An axis from one time to another, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
}

/// Round figures of a decade.
const COARSE: [f64; 3] = [1.0, 2.0, 5.0];
/// The same where an axis is short.
const FINE: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];
/// Below this factor from end to end the ends are fine figures; below [`SHORT`] the ticks are.
const NARROW: f64 = 4.0;
const SHORT: f64 = 10.0;
/// No axis is shorter than this factor.
const LEAST: f64 = 2.0;
/// Times outside are no times of commits.
const SANE: RangeInclusive<f64> = 1e-3..=1e12;

impl Axis {
    /// The axis for these spans, with round figures at its ends; nothing where no span is a time.
    pub fn around(spans: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let sane = spans.filter(|(low, high)| SANE.contains(low) && SANE.contains(high));
        let (low, high) = sane.fold((f64::INFINITY, 0.0_f64), |(low, high), (from, to)| {
            (low.min(from.min(to)), high.max(from.max(to)))
        });
        if low > high {
            return None;
        }
        let figures: &[f64] = if high / low < NARROW { &FINE } else { &COARSE };
        let low = marks(low / 10.0, low * 1.000_001, figures).last().copied()?;
        let high = high.max(low * LEAST) * 0.999_999;
        let high = marks(high, high * 20.0, figures).first().copied()?;
        Some(Self { low, high })
    }

    /// The axis from exactly this time to exactly that.
    pub fn between(low: f64, high: f64) -> Option<Self> {
        (SANE.contains(&low) && SANE.contains(&high) && low < high).then_some(Self { low, high })
    }

    /// Whether a time lies before the axis (less), on it (equal) or behind it (greater).
    pub fn place(&self, us: f64) -> Ordering {
        match us {
            us if us < self.low => Ordering::Less,
            us if us > self.high => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    /// The column of a time in a field of so many; what lies outside is at the edge.
    pub fn column(&self, us: f64, columns: usize) -> usize {
        cell((us / self.low).ln() / (self.high / self.low).ln(), columns.saturating_sub(1))
    }

    /// The time at this share of the axis.
    pub fn time(&self, share: f64) -> f64 {
        self.low * (self.high / self.low).powf(share)
    }

    /// The ticks and their labels in so many columns; nothing where not even two labels have room.
    pub fn lines(&self, columns: usize) -> Option<[String; 2]> {
        let figures: &[f64] = if self.high / self.low < SHORT { &FINE } else { &COARSE };
        let ticks = marks(self.low * 0.999_999, self.high * 1.000_001, figures);
        let at = |us: &f64| self.column(*us, columns);
        let labels = labels(&ticks.iter().map(|us| (at(us), label(*us))).collect::<Vec<_>>(), columns);
        if labels.len() < 2 {
            return None;
        }
        let columns_of_ticks: Vec<usize> = ticks.iter().map(at).collect();
        let rule = (0..columns).map(|column| if columns_of_ticks.contains(&column) { '┬' } else { '─' });
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

/// The round figures from one time to another, in ascending order.
fn marks(from: f64, to: f64, figures: &[f64]) -> Vec<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "the decade of a sane time")]
    let decade = |us: f64| us.log10().floor() as i32;
    let all =
        (decade(from)..=decade(to)).flat_map(|tens| figures.iter().map(move |one| one * 10_f64.powi(tens)));
    all.filter(|mark| (from..=to).contains(mark)).collect()
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

/// A round figure with its unit: `150 µs`, `1.5 ms`.
fn label(us: f64) -> String {
    let (figure, unit) = match us {
        us if us < 1e3 => (us, "µs"),
        us if us < 1e6 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    let figure = format!("{figure:.2}");
    format!("{} {unit}", figure.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ends_are_round_and_at_least_a_factor_of_two_apart() {
        let axis = |low, high| Axis::around([(low, high)].into_iter()).unwrap();
        assert_eq!(axis(178.0, 187.0), Axis { low: 150.0, high: 300.0 });
        assert_eq!(axis(120.0, 480.0), Axis { low: 100.0, high: 500.0 });
        assert_eq!(axis(100.0, 100.0), Axis { low: 100.0, high: 200.0 });
        let lines = axis(120.0, 480.0).lines(40).unwrap();
        assert_eq!(
            lines.map(|line| line.trim_end().to_owned()),
            ["┬─────────┬──────┬─────────┬───────────┬", "100 µs 150 µs 200 µs    300 µs    500 µs"]
        );
    }

    #[test]
    fn what_is_no_time_has_no_axis() {
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
            assert_eq!(Axis::around([(value, value)].into_iter()), None);
            assert_eq!(Axis::between(value, 10.0), None);
        }
        assert_eq!(Axis::between(10.0, 10.0), None);
    }

    proptest! {
        #[test]
        fn every_axis_holds_its_values_and_its_labels_stand_apart(
            low in 0.001_f64..1e9,
            factor in 1.0_f64..1e3,
            columns in 0_usize..150,
        ) {
            let high = low * factor;
            let axis = Axis::around([(low, high)].into_iter()).unwrap();
            prop_assert!(axis.low <= low && high <= axis.high && axis.high >= axis.low * 1.99, "{:?}", axis);
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
