//! Records of trials for tests.

use super::candidate::Contender;
use super::load::{Preset, TrialLoad};
use super::looks::Ending;
use super::record::{
    CandidateRecord, ExtentKind, FORMAT, Runner, Sample, TrialBlock, TrialCell, TrialRecord,
};

/// What a cell measured at this rate.
pub fn sample(rate: f64, flushes: Option<u64>) -> Sample {
    let latency = 1e6 / rate;
    Sample {
        commits: 1_000,
        seconds: 1_000.0 / rate,
        p50_us: latency,
        p99_us: 2.0 * latency,
        flushes,
        leaf_flushes: None,
        calls: 1_000,
    }
}

/// Blocks in which the candidates run at these rates, each a little off by its place in a fixed pattern.
pub fn record(candidates: &[(Contender, f64, Option<u64>)], blocks: usize) -> TrialRecord {
    let loads = vec![TrialLoad::of(Preset::Commits, &[1])[0]];
    let off = |block: usize, runner: usize| 1.0 + 0.01 * (((block * 7 + runner * 3) % 5) as f64 - 2.0);
    let cell = |runner, sample| TrialCell { runner, samples: vec![sample], error: None };
    let block = |block: usize| {
        let own = candidates.iter().enumerate().map(|(at, (_, rate, flushes))| {
            cell(Runner::Candidate(at), sample(rate * off(block, at), *flushes))
        });
        let twin = cell(Runner::Twin, sample(candidates[0].1 * off(block, 9), Some(1_000)));
        let floor = cell(Runner::Floor, sample(6_000.0 * off(block, 2), None));
        let host = cell(Runner::Host, sample(6_000.0 * off(block, 4), None));
        TrialBlock { cells: own.chain([twin, floor, host]).collect(), written: 1 << 20 }
    };
    let made = |(candidate, ..): &(Contender, f64, Option<u64>)| CandidateRecord {
        candidate: *candidate,
        mkfs: vec!["mkfs".to_owned(), "-q".to_owned()],
        version: "1".to_owned(),
        mount: String::new(),
    };
    TrialRecord {
        trial: FORMAT,
        walwise: "0.1.0".to_owned(),
        started: "2026-11-25T08:00:00Z".to_owned(),
        ending: Ending::Budget,
        seconds: 600.0,
        budget: 600.0,
        seed: 7,
        extent: ExtentKind::Loop,
        directory: "/srv".to_owned(),
        bytes: 2 << 30,
        host_filesystem: "ext4".to_owned(),
        leaves: vec!["sda".to_owned()],
        stack: Vec::new(),
        load_seconds: 0.5,
        loads,
        candidates: candidates.iter().map(made).collect(),
        blocks: (0..blocks).map(block).collect(),
    }
}

/// A record whose bare extent runs at so many times the rate of its file, block by block.
pub fn slowed(mut record: TrialRecord, times: impl Fn(usize) -> f64) -> TrialRecord {
    for (nth, block) in record.blocks.iter_mut().enumerate() {
        for cell in block.cells.iter_mut().filter(|cell| cell.runner == Runner::Floor) {
            cell.samples.iter_mut().for_each(|sample| sample.seconds /= times(nth));
        }
    }
    record
}
