//! The methods as curves: which share of commits was done within a time.

use ratatui::text::{Line, Span};

use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::{Measurement, MethodResult};
use crate::ui::theme::{TextRole, Theme};
use crate::ui::widgets::ecdf::{self, Curve};
use crate::ui::widgets::text;

/// Methods whose medians differ by less than this factor are one curve.
const ALIKE: f64 = 1.05;
/// The letters of the curves: at most the fastest, that in force and the slowest are drawn.
const LETTERS: [char; 3] = ['a', 'b', 'c'];
/// The widest and the highest chart.
const MOST: (usize, usize) = (100, 10);

/// A heading with the names of the curves, and the curves; nothing where no quantiles are known or there is no room.
pub fn lines<'m>(
    measurement: &'m Measurement,
    in_force: Option<WalSyncMethod>,
    theme: Theme,
    columns: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let groups = groups(measurement, in_force);
    let curve = |(letter, group): (&char, &Vec<&'m MethodResult>)| {
        let quantiles = group.first().map(|row| row.quantiles_us.as_slice()).unwrap_or_default();
        Curve { letter: *letter, quantiles }
    };
    let curves: Vec<Curve<'m>> = LETTERS.iter().zip(&groups).map(curve).collect();
    let drawn = ecdf::lines(&curves, columns.min(MOST.0), rows.min(MOST.1), theme.ascii);
    if drawn.is_empty() {
        return Vec::new();
    }
    let name = |(letter, group): (&char, &Vec<&MethodResult>)| {
        let names: Vec<&str> = group.iter().map(|row| row.method.name()).collect();
        format!("{letter} {}", names.join(" + "))
    };
    let names: Vec<String> = LETTERS.iter().zip(&groups).map(name).collect();
    let title = "Share of commits done within …";
    let aside = text::fit(&names.join("   "), columns.saturating_sub(text::width(title) + 3));
    let mut lines = vec![Line::from(vec![
        Span::styled(title, theme.style(TextRole::Heading)),
        Span::styled(format!("   {aside}"), theme.style(TextRole::Dim)),
    ])];
    lines.extend(drawn.into_iter().map(|row| Line::styled(row, theme.style(TextRole::Accent))));
    lines
}

/// The methods with quantiles from the fastest on, those that are alike together.
fn groups(measurement: &Measurement, in_force: Option<WalSyncMethod>) -> Vec<Vec<&MethodResult>> {
    let mut rows: Vec<&MethodResult> =
        measurement.tried_of_server().filter(|row| !row.quantiles_us.is_empty()).collect();
    rows.sort_by(|a, b| a.median_us.value.total_cmp(&b.median_us.value));
    let mut groups: Vec<Vec<&MethodResult>> = Vec::new();
    for row in rows {
        let is_alike = |group: &&mut Vec<&MethodResult>| {
            group.first().is_some_and(|first| row.median_us.value <= first.median_us.value * ALIKE)
        };
        match groups.last_mut().filter(is_alike) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let last = groups.len().saturating_sub(1);
    let used = |group: &[&MethodResult]| group.iter().any(|row| measurement.is_in_force(row, in_force));
    let numbered = groups.into_iter().enumerate();
    let shown = numbered.filter(|(at, group)| *at == 0 || *at == last || used(group));
    shown.map(|(_, group)| group).collect()
}
