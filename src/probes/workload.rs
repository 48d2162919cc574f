//! Workloads beside the comparison of the ways to write WAL. Each is a small module with one shape: `prepare` makes its
//! files and gives its parts; a part says which rows it fills and does one round of them.
//!
//! A round does every part once in random order and counts only when all of it was done; the first is thrown away as
//! warm-up. The surprise: there is no early end on success, because these figures are for reading, not for choosing.

mod entangle;
mod files;
mod floor;
mod group;
mod innodb;
mod pg_test_fsync;
mod segment;
mod stage;

use std::time::Duration;

use super::control::Stop;
use super::schedule::Dice;
use crate::measure::{Pass, Series, Workload};

pub(super) use stage::Stage;

/// How many rounds the time is meant for, and how many are made where there would be time for more: what costs nothing is
/// not to write a disk full.
const ROUNDS: u32 = 20;
const MOST_ROUNDS: usize = 40;

/// How long a pass of the tool's tests is: some rounds in turn, and each long enough that what a test finds of the one
/// before it weighs little. On btrfs the first dozen small writes still pay for the extents of another test.
const LONGEST_PASS: Duration = Duration::from_millis(400);
const FEWEST_ROUNDS: u32 = 5;

/// One thing that a round does.
trait Part {
    /// The rows it fills, empty or with the reason why they stay empty.
    fn rows(&self) -> Vec<Series>;

    /// Bytes that it writes in any case, besides its operations.
    fn fixed_bytes(&self, _: &Stage<'_>) -> u64 {
        0
    }

    /// Does it for its share of a round: one pass for each of its rows.
    fn round(&mut self, stage: &Stage<'_>) -> Result<Vec<Pass>, Stop>;
}

/// Measures a workload until its time or bytes are used up or it is ended; what was measured until then is in `series`.
pub(super) fn run(
    workload: Workload,
    stage: &mut Stage<'_>,
    dice: &mut Dice,
    series: &mut Vec<Series>,
    tell: &mut dyn FnMut(usize),
) -> Result<(), Stop> {
    let mut parts = match workload {
        Workload::Segment => segment::prepare(stage)?,
        Workload::Group => group::prepare(stage)?,
        Workload::Innodb => innodb::prepare(stage)?,
        Workload::Files => files::prepare(stage),
        Workload::Entangle => entangle::prepare(stage)?,
        Workload::Floor => floor::prepare(stage)?,
        Workload::PgTestFsync => pg_test_fsync::prepare(stage)?,
    };
    // The tool's tests take as long as was said.
    let (rounds, most) = match workload {
        Workload::PgTestFsync => {
            (stage.rounds_of_at_most(LONGEST_PASS, parts.len()).max(FEWEST_ROUNDS), usize::MAX)
        }
        _ => (ROUNDS, MOST_ROUNDS),
    };
    let fixed = parts.iter().map(|part| part.fixed_bytes(stage)).sum();
    stage.share_out(rounds, parts.len(), fixed);
    let rows: Vec<Vec<Series>> = parts.iter().map(|part| part.rows()).collect();
    *series = rows.iter().flatten().cloned().collect();
    tell(0);
    round(&mut parts, stage, dice)?;
    for done in 1..=most {
        let passes = round(&mut parts, stage, dice)?;
        for (row, pass) in series.iter_mut().zip(passes.into_iter().flatten()) {
            if row.error.is_none() {
                row.rounds.push(pass);
            }
        }
        tell(done);
    }
    Ok(())
}

/// The passes of each part, at its index.
fn round(parts: &mut [Box<dyn Part>], stage: &Stage<'_>, dice: &mut Dice) -> Result<Vec<Vec<Pass>>, Stop> {
    let mut passes = vec![Vec::new(); parts.len()];
    for i in dice.order(parts.len()) {
        if let (Some(part), Some(slot)) = (parts.get_mut(i), passes.get_mut(i)) {
            *slot = part.round(stage)?;
            stage.scratch.check_there()?;
        }
    }
    Ok(passes)
}
