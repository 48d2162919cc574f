//! Workloads beside the comparison of the methods to write WAL. Each is a small module with one shape: `prepare`
//! creates its files and returns its load generators, each of which names the rows it fills and executes one round of
//! them.
//!
//! A round executes every generator once in random order and counts only when it is complete; the first is discarded as
//! warm-up. There is no early end on success, because these figures are for information, not for a choice.

mod stage;
mod entangle;
mod files;
mod floor;
mod group;
mod innodb;
mod pg_test_fsync;
mod segment;
mod transaction;

use std::time::Duration;

use super::control::Stop;
use super::redo::RedoShape;
use super::schedule::Dice;
use crate::measure::{Pass, Series, Workload};

use stage::LoadGenerator;

pub(super) use stage::WorkloadContext;

/// The number of rounds that the time is divided into, and the largest number where more would fit: cheap operations
/// must not fill a disk with writes.
const ROUNDS: u32 = 20;
const MOST_ROUNDS: usize = 40;

/// The longest pass of the tool's tests: short enough for several rounds in turn, and long enough that the effects of
/// the previous test weigh little. On btrfs the first dozen small writes still pay for the extents of another test.
const LONGEST_PASS: Duration = Duration::from_millis(400);
const FEWEST_ROUNDS: u32 = 5;

/// Measures a workload until its time or bytes are used up or it is cancelled; `redo` is how a server writes its redo
/// log, and `series` receives the measurements so far.
pub(super) fn run(
    workload: Workload,
    redo: &RedoShape,
    stage: &mut WorkloadContext<'_>,
    dice: &mut Dice,
    series: &mut Vec<Series>,
    tell: &mut dyn FnMut(usize),
) -> Result<(), Stop> {
    let mut generators = match workload {
        Workload::Segment => segment::prepare(stage)?,
        Workload::Group => group::prepare(stage)?,
        Workload::Innodb => innodb::prepare(stage)?,
        Workload::Files => files::prepare(stage),
        Workload::Entangle => entangle::prepare(stage)?,
        Workload::Floor => floor::prepare(stage)?,
        Workload::PgTestFsync => pg_test_fsync::prepare(stage)?,
        Workload::Transaction => transaction::prepare(stage, redo)?,
    };
    // The tool's tests take as long as announced.
    let (rounds, most) = match workload {
        Workload::PgTestFsync => {
            (stage.rounds_of_at_most(LONGEST_PASS, generators.len()).max(FEWEST_ROUNDS), usize::MAX)
        }
        _ => (ROUNDS, MOST_ROUNDS),
    };
    let fixed = generators.iter().map(|generator| generator.fixed_bytes(stage)).sum();
    stage.share_out(rounds, generators.len(), fixed);
    let rows: Vec<Vec<Series>> = generators.iter().map(|generator| generator.rows()).collect();
    *series = rows.iter().flatten().cloned().collect();
    tell(0);
    round(&mut generators, stage, dice)?;
    for done in 1..=most {
        let passes = round(&mut generators, stage, dice)?;
        for (row, pass) in series.iter_mut().zip(passes.into_iter().flatten()) {
            if row.error.is_none() {
                row.rounds.push(pass);
            }
        }
        tell(done);
    }
    Ok(())
}

/// The passes of each generator, at its index.
fn round(
    generators: &mut [Box<dyn LoadGenerator>],
    stage: &WorkloadContext<'_>,
    dice: &mut Dice,
) -> Result<Vec<Vec<Pass>>, Stop> {
    let mut passes = vec![Vec::new(); generators.len()];
    for i in dice.order(generators.len()) {
        if let (Some(generator), Some(slot)) = (generators.get_mut(i), passes.get_mut(i)) {
            *slot = generator.round(stage)?;
            stage.scratch.check_there()?;
        }
    }
    Ok(passes)
}
