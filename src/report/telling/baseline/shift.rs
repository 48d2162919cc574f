//! How the price of a commit moved: a table, a sentence, and what is likely the cause.

use super::facts::alike;
use super::named::named;
use crate::facts::Subject;
use crate::measure::{Estimate, Moved, Shift};
use crate::report::model::difference::{Difference, FactChange, ProbeShift, RowShift};
use crate::report::telling::section::Grid;
use crate::report::telling::{Phrase, Section, words};
use crate::text::micros;

/// How the price of a commit moved on a target.
pub fn section(difference: &Difference, probe: &ProbeShift) -> Section {
    let mut section = Section::part(
        Phrase::plain("Price of one commit on ")
            .and_code(probe.target.name())
            .and(format!(", 8 kB, then ({}) and now", probe.before)),
    );
    let is_judged = probe.doubts.is_empty();
    let rows = probe.rows.iter().filter(|row| row.pages == 1).map(|one| row(one, is_judged));
    section.grid(Grid {
        head: vec!["method", "then", "now", "shift", "99 % interval", ""],
        right: vec![false, true, true, true, true, false],
        narrow: &[],
        rows: rows.map(|row| row.into_iter().map(Phrase::plain).collect()).collect(),
    });
    let (then, now) = (&probe.directory_before, &probe.directory_now);
    if then != now {
        section
            .say(Phrase::plain("Measured in ").and_code(then).and(" then, in ").and_code(now).and(" now."));
    }
    section.say(verdict(probe));
    if probe.has_moved() {
        section.say(why(difference, probe));
    }
    section
}

fn row(row: &RowShift, is_judged: bool) -> Vec<String> {
    let mut cells = vec![row.method.name().to_owned(), micros(row.before_us.value), micros(row.now_us.value)];
    let Some(Shift { percent: Estimate { value, low, high }, moved, .. }) = row.shift else {
        cells.extend([String::new(), String::new(), "too few rounds".to_owned()]);
        return cells;
    };
    let signed =
        |remark: &str| [percent(value), format!("{} – {}", percent(low), percent(high)), remark.to_owned()];
    cells.extend(match moved {
        _ if !is_judged => signed("not judged"),
        Moved::Not => signed("no significant change"),
        // What has a word for its direction needs no sign.
        moved => {
            let (least, most) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
            [
                format!("{:.0} % {}", value.abs(), moved_words(moved)),
                format!("{least:.0} % – {most:.0} %"),
                String::new(),
            ]
        }
    });
    cells
}

fn percent(value: f64) -> String {
    // Without this a little less than nothing is -0.
    format!("{:+.0} %", value.round() + 0.0)
}

fn moved_words(moved: Moved) -> &'static str {
    match moved {
        Moved::Dearer => "dearer",
        Moved::Cheaper => "cheaper",
        Moved::Not => "no significant change",
    }
}

/// What became of the price, in a sentence.
fn verdict(probe: &ProbeShift) -> String {
    let Some(main) = probe.main() else { return "No method was measured both times.".to_owned() };
    if !probe.doubts.is_empty() {
        return format!("Not judged, because of what limits the figures ({}).", probe.doubts.join("; "));
    }
    let Some(shift) = &main.shift else { return "Too few rounds to compare.".to_owned() };
    let method = main.method.name();
    match shift.moved {
        Moved::Not => format!(
            "No significant change: {method} {} (one of the measurements drifts by {:.0} % in itself).",
            percent(shift.percent.value),
            shift.drift_percent
        ),
        moved => format!(
            "A commit with {method} is {:.0} % {} (at least {:.0} %), beyond noise.",
            shift.percent.value.abs(),
            moved_words(moved),
            shift.percent.low.abs().min(shift.percent.high.abs())
        ),
    }
}

/// What may be the cause.
fn why(difference: &Difference, probe: &ProbeShift) -> String {
    if !difference.same_host {
        return "The hosts differ, which is reason enough.".to_owned();
    }
    if probe.likely_causes.is_empty() {
        return "No known fact that affects the price has changed.".to_owned();
    }
    let is_one = |change: &&FactChange| {
        probe.likely_causes.iter().any(|cause| (&cause.subject, cause.fact) == (&change.subject, change.fact))
    };
    let changes: Vec<&FactChange> = difference.facts.iter().filter(is_one).collect();
    let words = |((fact, change), subjects): ((&str, String), Vec<&Subject>)| {
        format!("{fact} of {} ({change})", named(subjects.into_iter().map(words::subject)))
    };
    let causes: Vec<String> = alike(&changes).into_iter().map(words).collect();
    match causes.as_slice() {
        [one] => format!("Likely cause: {one}."),
        several => format!("Likely cause, one of: {}.", named(several.iter().cloned())),
    }
}
