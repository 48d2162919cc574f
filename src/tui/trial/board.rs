//! What the screen of a trial shows, worked out once for each block: drawing in between costs the
//! measurement nothing.

use crate::report::ratios::RatioAxis;
use crate::trial::{ForestRow, LOOKS, LoadResult, TrialOutcome, TrialRecord, WORTH_WAITING, tell};
use crate::tui::theme::TextRole;

/// What is known after a block.
#[derive(Clone, Debug)]
pub struct TrialBoard {
    /// What is tried, and where.
    pub title: String,
    pub blocks: usize,
    pub loads: Vec<BoardLoad>,
    /// The axis of the intervals of those that may be the best.
    pub axis: RatioAxis,
    /// Commits per second on the bare extent, block by block.
    pub floor: Vec<f64>,
    /// About how many more seconds would settle it.
    pub needed: Option<f64>,
    /// What is said where nothing can be compared.
    pub nothing: Option<String>,
}

#[derive(Clone, Debug)]
pub struct BoardLoad {
    pub name: String,
    /// The answer as far as there is one.
    pub says: String,
    pub role: TextRole,
    pub rows: Vec<ForestRow>,
}

impl TrialBoard {
    /// What a record says now.
    pub fn of(record: &TrialRecord) -> Self {
        let results = record.results();
        let deciding = results.iter().filter(|result| result.load.decides());
        let loads: Vec<BoardLoad> = deciding.map(|result| of_load(record, result)).collect();
        // Whoever is far behind takes no room from those that are close.
        let close = loads
            .iter()
            .flat_map(|load| &load.rows)
            .filter(|row| row.place.may_be_best());
        let axis = RatioAxis::around(close.filter_map(|row| row.place.interval()));
        let disks = record.leaves.join(", ");
        let beneath = if disks.is_empty() {
            String::new()
        } else {
            format!(" ({disks})")
        };
        let says = || {
            tell(record)
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
            floor: record.floor().into_iter().flatten().collect(),
            needed: record
                .seconds_needed()
                .filter(|seconds| *seconds <= WORTH_WAITING),
            nothing: if loads.is_empty() { says() } else { None },
            loads,
        }
    }
}

fn of_load(record: &TrialRecord, result: &LoadResult) -> BoardLoad {
    let rows = record.forest(result);
    let name = |place: usize| rows.get(place).map_or("?", |row| row.name.as_str());
    let (says, role) = answer(&result.contest.outcome(), result.ranked.len(), name);
    BoardLoad {
        name: result.load.name(),
        says,
        role,
        rows,
    }
}

/// The answer of a load among so many candidates, short enough to stand beside its name on 80
/// columns.
fn answer<'a>(
    outcome: &TrialOutcome,
    of: usize,
    name: impl Fn(usize) -> &'a str,
) -> (String, TextRole) {
    match outcome {
        TrialOutcome::TooFew => {
            let first = LOOKS.first().copied().unwrap_or_default();
            (format!("first look after {first} blocks"), TextRole::Plain)
        }
        TrialOutcome::CannotTell => (
            "cannot tell: first differs from itself".to_owned(),
            TextRole::Doubt,
        ),
        TrialOutcome::Best(place) => (format!("{} is the fastest", name(*place)), TextRole::Good),
        TrialOutcome::Alike(set) => (
            format!("{} of {of}: alike within 5 %", set.len()),
            TextRole::Good,
        ),
        TrialOutcome::Open(set) => (
            format!("may still be best: {} of {of}", set.len()),
            TextRole::Plain,
        ),
    }
}

/// A time in a few words: `40 s`, `12 min`, `3 h`.
pub fn time(seconds: f64) -> String {
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
    use super::{answer, time};
    use crate::trial::{CommitShape, Contender, TrialLoad, TrialOutcome};

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        assert_eq!(
            [0.0, 59.4, 61.0, 7_200.0, 7_300.0].map(time),
            ["0 s", "59 s", "2 min", "120 min", "3 h"]
        );
    }

    #[test]
    fn every_answer_stands_beside_the_name_of_its_load() {
        let all = Contender::ALL.len();
        let places = || (0..all).collect();
        let certain = [TrialOutcome::TooFew, TrialOutcome::CannotTell];
        let sets = [TrialOutcome::Alike(places()), TrialOutcome::Open(places())];
        let outcomes: Vec<_> = certain
            .into_iter()
            .chain(sets)
            .chain((0..all).map(TrialOutcome::Best))
            .collect();
        for shape in [
            CommitShape::WriteOnly,
            CommitShape::Usual,
            CommitShape::Files,
        ] {
            let load = TrialLoad {
                clients: 128,
                shape,
            }
            .name();
            for outcome in &outcomes {
                let (says, _) = answer(outcome, all, |place| Contender::ALL[place].word());
                let heading = format!(" {load}: {says}");
                assert!(heading.chars().count() <= 80, "{heading}");
            }
        }
    }
}
