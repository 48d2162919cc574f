//! Content of the trial screen, computed once per block, so that drawing between blocks does not
//! disturb the measurement.

use crate::report::ratio_axis::LogRatioAxis;
use crate::trial::{
    ComparisonOutcome, ForestPlotRow, INTERIM_BLOCKS, LoadComparison, MAX_WAIT_SECONDS,
    TrialRecord, trial_view,
};
use crate::tui::theme::{DOUBT, GOOD, PLAIN};
use ratatui::style::Style;

#[derive(Clone, Debug)]
pub struct TrialBoard {
    pub title: String,
    pub blocks: usize,
    pub loads: Vec<BoardLoad>,
    /// Spans the intervals of all candidates that may still be best.
    pub axis: LogRatioAxis,
    /// Commits/s on the bare device or file, one figure for each block with such a measurement.
    pub raw_extent_rates: Vec<f64>,
    /// Estimated seconds until the result is settled. `None` without an estimate, once settled, or
    /// beyond [`MAX_WAIT_SECONDS`].
    pub seconds_needed: Option<f64>,
    /// Sentence that is shown instead of loads if no load compares candidates.
    pub no_result: Option<String>,
}

#[derive(Clone, Debug)]
pub struct BoardLoad {
    pub name: String,
    pub answer: String,
    pub role: Style,
    pub rows: Vec<ForestPlotRow>,
}

impl TrialBoard {
    pub fn from_record(record: &TrialRecord) -> Self {
        let results = record.load_comparisons();
        let deciding = results
            .iter()
            .filter(|result| result.load.must_be_settled());
        let loads: Vec<BoardLoad> = deciding.map(|result| board_load(record, result)).collect();
        // Candidates far behind must not widen the axis.
        let close = loads
            .iter()
            .flat_map(|load| &load.rows)
            .filter(|row| row.place.may_be_best());
        let axis = LogRatioAxis::from_intervals(close.filter_map(|row| row.place.interval()));
        let disks = record.leaves.join(", ");
        let beneath = if disks.is_empty() {
            String::new()
        } else {
            format!(" ({disks})")
        };
        let says = || {
            trial_view(record)
                .loads
                .into_iter()
                .map(|part| part.sentence)
                .next()
        };
        Self {
            title: format!(
                "Trial of {} file systems in {}{beneath}",
                record.candidates.len(),
                record.directory
            ),
            blocks: record.blocks.len(),
            axis,
            raw_extent_rates: record.raw_extent_commit_rates(),
            seconds_needed: record
                .remaining_trial_seconds()
                .filter(|seconds| *seconds <= MAX_WAIT_SECONDS),
            no_result: if loads.is_empty() { says() } else { None },
            loads,
        }
    }
}

fn board_load(record: &TrialRecord, result: &LoadComparison) -> BoardLoad {
    let rows = record.forest_plot_rows(result);
    let name = |place: usize| rows.get(place).map_or("?", |row| row.name.as_str());
    let (says, role) = trial_outcome_text(&result.comparison.outcome(), result.ranked.len(), name);
    BoardLoad {
        name: result.load.name(),
        answer: says,
        role,
        rows,
    }
}

/// `of` is the number of ranked candidates. The text is short enough to follow the load's name
/// within 80 columns.
fn trial_outcome_text<'a>(
    outcome: &ComparisonOutcome,
    of: usize,
    name: impl Fn(usize) -> &'a str,
) -> (String, Style) {
    match outcome {
        ComparisonOutcome::TooFewBlocks => {
            let first = INTERIM_BLOCKS.first().copied().unwrap_or_default();
            (format!("no comparison before block {first}"), PLAIN)
        }
        ComparisonOutcome::Inconclusive => {
            ("inconclusive: the control runs differ".to_owned(), DOUBT)
        }
        ComparisonOutcome::Best(place) => (format!("{} is the fastest", name(*place)), GOOD),
        ComparisonOutcome::Equivalent(set) => (
            format!("{} of {of} within 5 % of each other", set.len()),
            GOOD,
        ),
        ComparisonOutcome::Undecided(set) => {
            (format!("{} of {of} may still be best", set.len()), PLAIN)
        }
    }
}

pub fn format_duration(seconds: f64) -> String {
    if seconds < 60.0 {
        format!("{:.0} s", seconds.max(0.0))
    } else if seconds <= 7_200.0 {
        format!("{:.0} min", (seconds / 60.0).ceil())
    } else {
        format!("{:.0} h", (seconds / 3_600.0).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::{format_duration, trial_outcome_text};
    use crate::trial::{Candidate, ComparisonOutcome, LoadShape, TrialLoad};

    #[test]
    fn format_duration_picks_seconds_minutes_or_hours() {
        assert_eq!(
            [0.0, 59.4, 61.0, 7_200.0, 7_300.0].map(format_duration),
            ["0 s", "59 s", "2 min", "120 min", "3 h"]
        );
    }

    #[test]
    fn load_name_and_outcome_fit_80_columns() {
        let all = Candidate::ALL.len();
        let places = || (0..all).collect();
        let certain = [
            ComparisonOutcome::TooFewBlocks,
            ComparisonOutcome::Inconclusive,
        ];
        let sets = [
            ComparisonOutcome::Equivalent(places()),
            ComparisonOutcome::Undecided(places()),
        ];
        let outcomes: Vec<_> = certain
            .into_iter()
            .chain(sets)
            .chain((0..all).map(ComparisonOutcome::Best))
            .collect();
        for shape in [LoadShape::WriteOnly, LoadShape::Usual, LoadShape::Files] {
            let load = TrialLoad {
                clients: 128,
                shape,
            }
            .name();
            for outcome in &outcomes {
                let (says, _) =
                    trial_outcome_text(outcome, all, |place| Candidate::ALL[place].name());
                let heading = format!(" {load}: {says}");
                assert!(heading.chars().count() <= 80, "{heading}");
            }
        }
    }
}
