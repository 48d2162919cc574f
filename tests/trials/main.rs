//! Tests that take hours: tables of simulated trials (`tests/trials/run`) and of real ones
//! (`tests/trials/controls`), and a thousand kills (`tests/trials/kills`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may fail loudly"
)]

mod controls;
mod kills;
mod simulated;
mod support;

use std::fmt::Write as _;
use std::path::Path;

use kills::{KillMoment, Victim, kill_trial_and_check_leftovers};
use nix::sys::signal::Signal;
use simulated::{NoiseModel, SeededRng, SimulationTally, median, simulate_trials};

/// Logarithms of the true speeds. In EQUAL all candidates are equal; in LADDER two are within 5 %
/// of the best; in PLANTED one is 15 % faster than the others.
const EQUAL: [f64; 5] = [0.0; 5];
const LADDER: [f64; 5] = [0.0, 0.03, -0.08, -0.02, -0.15];
const PLANTED: [f64; 5] = [0.0, 0.0, 0.14, 0.0, 0.0];

const TRIALS: usize = 1_000;
const BLOCKS: usize = 124;

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

#[test]
#[ignore = "two minutes: tests/trials/run"]
fn the_table_of_simulated_trials() {
    let mut table = String::from(
        "Every row is 1,000 seeded trials of five candidates \
         and the reference's twin, with every\nlook up to 124 blocks. *Equal*: all candidates are the same. *Ladder*: they \
         differ by 3 to 18 %. *Planted*: one is 15 % faster.\nIntervals are of 95 % over all looks; the width is beside \
         that of a t-interval, which allows one look and assumes normal noise.\n\n\
         | machine | candidates | winner named | cannot tell | set lacks the best | near best wrongly | intervals cover | \
         width / t | blocks |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut wrong = Vec::new();
    for machine in NoiseModel::ALL {
        for (name, effects) in [("equal", EQUAL), ("ladder", LADDER), ("planted", PLANTED)] {
            let found = simulate_trials(machine, &effects, TRIALS, BLOCKS);
            let SimulationTally {
                winners,
                cannot_tell,
                missed,
                wrong: near,
                intervals,
                outside,
                ..
            } = found;
            let cover = 100.0 - percent(outside, intervals);
            writeln!(
                table,
                "| {} | {name} | {:.1} % | {:.1} % | {:.1} % | {:.1} % | {cover:.1} % | {:.2} | {} |",
                machine.name(),
                percent(winners, TRIALS),
                percent(cannot_tell, TRIALS),
                percent(missed, TRIALS),
                percent(near, TRIALS),
                median(&found.widths) / median(&found.t_widths),
                median(&found.blocks),
            )
            .unwrap();
            let bad = name == "equal" && percent(winners, TRIALS) > 5.0
                || percent(missed, TRIALS) > 6.0
                || percent(near, TRIALS) > 6.0
                || cover < 94.0;
            if bad {
                wrong.push(format!("{} {name}", machine.name()));
            }
        }
    }
    print!("{table}");
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Prints the table for the records in the directory WALWISE_RECORDS.
#[test]
#[ignore = "two hours, and needs root: tests/trials/controls"]
fn the_table_of_controls() {
    let (table, wrong) =
        controls::render_control_table(Path::new(&std::env::var_os("WALWISE_RECORDS").unwrap()));
    print!("{table}");
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// WALWISE_KILLS sets the number of kills, and WALWISE_SEED their sequence. A thousand kills take
/// an afternoon.
#[test]
#[ignore = "an afternoon, and needs root: tests/trials/kills"]
fn kills_leave_nothing() {
    let kills: u64 = std::env::var("WALWISE_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000);
    let seed = std::env::var("WALWISE_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(7);
    let mut dice = SeededRng::new(seed);
    let mut left = Vec::new();
    for nth in 0..kills {
        let directory = tempfile::tempdir().unwrap();
        let victim =
            [Victim::Outer, Victim::Between, Victim::Inside, Victim::All][dice.next_below(4)];
        let signal = match victim {
            Victim::Outer | Victim::Between | Victim::All => [
                Signal::SIGTERM,
                Signal::SIGINT,
                Signal::SIGHUP,
                Signal::SIGKILL,
            ][dice.next_below(4)],
            // Without a handler, the first process of a namespace ignores all other signals
            // (pid_namespaces(7)).
            Victim::Inside => Signal::SIGKILL,
        };
        let moment = match dice.next_below(4) {
            0 => KillMoment::Writing,
            1 => KillMoment::Device,
            _ => KillMoment::After(dice.next_below(8_000) as u64),
        };
        let binary = env!("CARGO_BIN_EXE_walwise");
        println!("{nth}: {moment:?}, {victim:?}, {signal}");
        if let Err(why) =
            kill_trial_and_check_leftovers(binary, directory.path(), moment, victim, signal)
        {
            println!("{nth}: {why}");
            left.push(why);
        }
    }
    println!("{kills} kills, {} left something", left.len());
    assert!(left.is_empty(), "{left:?}");
}
