//! Checks the conclusions of a probe on simulated disks, where the truth is known. The noise has a
//! fixed seed, so no test fails by chance.

use proptest::prelude::*;

use super::caveats::SampleContext;
use super::compare::compare_paced_commits;
use super::{
    CaveatId, ComparisonConclusion, MaxPlausibleCommitRate, Method, MethodSamples, ProbeSamples,
    summarise_samples,
};

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(super) struct SimulationRng(pub(super) u64);

impl SimulationRng {
    pub(super) fn next_uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn next_normal(&mut self) -> f64 {
        ((0..4).map(|_| self.next_uniform()).sum::<f64>() - 2.0) * 3f64.sqrt()
    }
}

/// A disk whose speed drifts for all methods alike: AR(1) in the logarithm, one step per turn.
/// Commits scatter, with occasional bursts of eight times the latency.
///
/// A drift of 1/16 per step has a standard deviation of 20 %; drift and scatter together have 30 %.
struct SimulatedDisk {
    base_us: f64,
    drift: f64,
    scatter: f64,
    bursts: f64,
    /// Back-to-back commits per method and round.
    commits: usize,
    /// Paced commits per method and round.
    turns: usize,
    rounds: usize,
}

const SSD: SimulatedDisk = SimulatedDisk {
    base_us: 200.0,
    drift: 0.0625,
    scatter: 0.22,
    bursts: 0.01,
    commits: 25,
    turns: 11,
    rounds: 16,
};
/// A disk of 7,200 rpm with one commit per revolution.
const PLATTER: SimulatedDisk = SimulatedDisk {
    base_us: 8_300.0,
    bursts: 0.02,
    commits: 2,
    turns: 6,
    ..SSD
};

impl SimulatedDisk {
    /// Each method has its latency as a multiple of `base_us`.
    fn simulate_probe(&self, seed: u64, methods: &[(Method, f64)]) -> ProbeSamples {
        let mut rng = SimulationRng(seed);
        let cells = methods.iter().flat_map(|(m, _)| {
            [
                MethodSamples::new(*m, 1, true),
                MethodSamples::new(*m, 2, true),
            ]
        });
        let mut samples = ProbeSamples {
            cells: cells.collect(),
        };
        let mut drift = 0.0;
        let mut commits = |cost: f64, count| {
            drift = 0.95 * drift + self.drift * rng.next_normal();
            let commit = |_| {
                let burst = if rng.next_uniform() < self.bursts {
                    8.0
                } else {
                    1.0
                };
                self.base_us * cost * burst * (drift + self.scatter * rng.next_normal()).exp()
            };
            (0..count).map(commit).collect::<Vec<f64>>()
        };
        for _ in 0..self.rounds {
            for (i, cell) in samples.cells.iter_mut().enumerate() {
                cell.rounds.push(commits(methods[i / 2].1, self.commits));
            }
            for cell in samples.cells.iter_mut().step_by(2) {
                cell.paced.push(Vec::new());
            }
            for _ in 0..self.turns {
                for (cell, (_, cost)) in samples.cells.iter_mut().step_by(2).zip(methods) {
                    cell.paced.last_mut().unwrap().extend(commits(*cost, 1));
                }
            }
        }
        samples
    }
}

#[derive(Debug, Default)]
struct ProbeTally {
    better: usize,
    /// Probes that found open_datasync either better or worse.
    different: usize,
    same: usize,
}

fn tally_conclusions(disk: &SimulatedDisk, cost: f64) -> ProbeTally {
    let methods = [(Method::Fdatasync, 1.0), (Method::OpenDatasync, cost)];
    let mut said = ProbeTally::default();
    for seed in 0..1_000 {
        let samples = disk.simulate_probe(seed, &methods);
        let found = summarise_samples(&samples, &sample_context());
        let found =
            compare_paced_commits(&found.methods, Method::OpenDatasync, Method::Fdatasync).unwrap();
        said.better += usize::from(
            found.settled == ComparisonConclusion::Settled && found.gain_percent.low > 0.0,
        );
        said.different += usize::from(found.settled == ComparisonConclusion::Settled);
        said.same += usize::from(found.settled == ComparisonConclusion::NoMeaningfulDifference);
    }
    said
}

#[test]
#[ignore = "exhaustive"]
fn equal_methods_are_hardly_ever_called_different() {
    for disk in [SSD, PLATTER] {
        let said = tally_conclusions(&disk, 1.0);
        assert!(
            said.different <= 20,
            "{said:?} of 1000 at {} µs",
            disk.base_us
        );
    }
}

#[test]
#[ignore = "exhaustive"]
fn a_gain_at_the_threshold_is_hardly_ever_a_winner() {
    let said = tally_conclusions(&SSD, 0.95);
    assert!(said.better <= 30, "{said:?} of 1000");
}

#[test]
#[ignore = "exhaustive"]
fn twenty_percent_gain_is_usually_detected() {
    let said = tally_conclusions(&SSD, 0.8);
    assert!(said.better >= 900, "{said:?} of 1000");
}

#[test]
fn gain_on_hard_disk_is_hardly_ever_missed_or_reversed() {
    let said = tally_conclusions(&PLATTER, 0.85);
    assert!(said.same <= 20, "{said:?} of 1000");
    assert_eq!(
        said.better, said.different,
        "no result is reversed: {said:?}"
    );
}

fn sample_context() -> SampleContext {
    SampleContext {
        speed_limit: Some(MaxPlausibleCommitRate::for_block_device()),
        clock_us: 0.05,
        ..SampleContext::default()
    }
}

fn with_fast_unflushed_method(mut samples: ProbeSamples) -> ProbeSamples {
    let rounds = samples.complete_round_count();
    samples.cells.push(MethodSamples {
        rounds: vec![vec![2.0]; rounds],
        ..MethodSamples::new(Method::Floor, 1, false)
    });
    samples
}

#[test]
fn default_method_wins_unless_another_is_clearly_faster() {
    let best = |cost: f64, seen: &SampleContext| {
        let methods = [
            (Method::Fdatasync, 1.0),
            (Method::OpenDatasync, cost),
            (Method::Fsync, 1.9),
        ];
        summarise_samples(
            &with_fast_unflushed_method(SSD.simulate_probe(7, &methods)),
            seen,
        )
    };
    assert_eq!(best(1.0, &sample_context()).best, Method::Fdatasync);
    assert_eq!(best(0.97, &sample_context()).best, Method::Fdatasync);
    assert_eq!(best(0.7, &sample_context()).best, Method::OpenDatasync);
    let found = best(0.02, &sample_context());
    assert_eq!(found.best, Method::Fdatasync);
    assert!(
        found
            .caveats
            .iter()
            .any(|c| c.id == CaveatId::ImplausibleSpeed && c.refuses_advice)
    );
}

#[test]
fn paced_commits_decide_unless_two_page_commits_disagree() {
    let cell = |method, pages, us, paced: Option<f64>| MethodSamples {
        rounds: vec![vec![us]; 10],
        paced: paced.map_or_else(Vec::new, |us| vec![vec![us]; 10]),
        ..MethodSamples::new(method, pages, true)
    };
    let best = |back_to_back, paced, two_pages| {
        let cells = vec![
            cell(Method::Fdatasync, 1, 200.0, Some(220.0)),
            cell(Method::OpenSync, 1, back_to_back, Some(paced)),
            cell(Method::Fdatasync, 2, 210.0, None),
            cell(Method::OpenSync, 2, two_pages, None),
        ];
        summarise_samples(&ProbeSamples { cells }, &sample_context()).best
    };
    assert_eq!(
        best(140.0, 400.0, 150.0),
        Method::Fdatasync,
        "back-to-back figures decide nothing"
    );
    assert_eq!(best(260.0, 150.0, 150.0), Method::OpenSync);
    assert_eq!(
        best(140.0, 150.0, 250.0),
        Method::Fdatasync,
        "slower with two pages"
    );
}

/// fsync does at least the work of fdatasync, so a faster fsync is an artefact.
#[test]
fn fsync_never_wins() {
    let found = summarise_samples(
        &SSD.simulate_probe(1, &[(Method::Fdatasync, 1.0), (Method::Fsync, 0.7)]),
        &sample_context(),
    );
    assert_eq!(found.best, Method::Fdatasync);
    assert!(
        found
            .caveats
            .iter()
            .any(|c| c.id == CaveatId::LessWorkSlower && c.refuses_advice),
        "{:?}",
        found.caveats
    );
}

#[test]
fn few_paced_commits_refuse_advice() {
    for (rounds, turns) in [(0, 0), (1, 7), (7, 1), (16, 0)] {
        let disk = SimulatedDisk {
            turns,
            rounds,
            ..SSD
        };
        let found = summarise_samples(
            &disk.simulate_probe(3, &[(Method::Fdatasync, 1.0), (Method::OpenDatasync, 0.5)]),
            &sample_context(),
        );
        assert_eq!(found.best, Method::Fdatasync);
        assert!(
            found
                .caveats
                .iter()
                .any(|c| c.id == CaveatId::FewSamples && c.refuses_advice),
            "{rounds} rounds, {turns} turns"
        );
        assert!(
            found
                .comparisons
                .iter()
                .all(|c| c.settled == ComparisonConclusion::NotSettled)
        );
    }
}

#[test]
fn ineffective_flush_gives_caveat() {
    let disk = SimulatedDisk {
        base_us: 3.2,
        drift: 0.0,
        ..SSD
    };
    let found = summarise_samples(
        &with_fast_unflushed_method(disk.simulate_probe(1, &[(Method::Fdatasync, 1.0)])),
        &SampleContext::default(),
    );
    assert!(
        !found.caveats.iter().any(|c| c.id == CaveatId::FreeFlush),
        "3.2 µs, compared with 2 µs, is above the floor"
    );
    let disk = SimulatedDisk {
        base_us: 2.1,
        drift: 0.0,
        ..SSD
    };
    let found = summarise_samples(
        &with_fast_unflushed_method(disk.simulate_probe(1, &[(Method::Fdatasync, 1.0)])),
        &SampleContext::default(),
    );
    assert!(
        found
            .caveats
            .iter()
            .any(|c| c.id == CaveatId::FreeFlush && c.refuses_advice)
    );
}

#[test]
fn p99_needs_a_thousand_samples() {
    let of = |commits, rounds| {
        let cell = MethodSamples {
            paced: vec![vec![200.0; commits]; rounds],
            ..MethodSamples::new(Method::Fdatasync, 1, true)
        };
        let found = summarise_samples(&ProbeSamples { cells: vec![cell] }, &sample_context());
        found.methods[0].paced.as_ref().unwrap().p99_us
    };
    assert!(of(25, 40).is_some());
    assert!(of(27, 37).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn comparisons_do_not_depend_on_scale(seed: u64, factor in 0.25f64..4.0, cost in 0.5f64..1.5) {
        let samples = SSD.simulate_probe(seed, &[(Method::Fdatasync, 1.0), (Method::OpenDatasync, cost)]);
        let mut scaled = samples.clone();
        for sample in scaled.cells.iter_mut().flat_map(|c| c.rounds.iter_mut().chain(&mut c.paced)).flatten() {
            *sample *= factor;
        }
        let (one, two) = (summarise_samples(&samples, &sample_context()), summarise_samples(&scaled, &sample_context()));
        prop_assert_eq!(one.best, two.best);
        for (a, b) in one.comparisons.iter().zip(&two.comparisons) {
            prop_assert_eq!(a.settled, b.settled);
            prop_assert!((a.gain_percent.low - b.gain_percent.low).abs() < 1e-6);
        }
        let (a, b) = (one.methods[0].paced_median_us().unwrap(), two.methods[0].paced_median_us().unwrap());
        prop_assert!((a * factor - b).abs() < 1e-6 * b);
    }

    #[test]
    fn summary_figures_are_ordered_and_finite(seed: u64, rounds in 0usize..30, cost in 0.01f64..100.0) {
        let disk = SimulatedDisk { rounds, ..SSD };
        let found = summarise_samples(&disk.simulate_probe(seed, &[(Method::Fdatasync, 1.0), (Method::OpenSync, cost)]), &sample_context());
        for row in found.methods.iter().flat_map(|row| row.paced.iter().chain(&row.back_to_back)) {
            let m = row.median_us;
            prop_assert!(m.low <= m.value && m.value <= m.high);
            let mean = row.mean_us;
            prop_assert!(row.p95_us <= row.max_us && mean.is_finite() && mean <= row.max_us * (1.0 + 1e-9));
        }
        for c in &found.comparisons {
            let g = c.gain_percent;
            prop_assert!(g.low <= g.value && g.value <= g.high && g.low.is_finite() && g.high <= 100.0);
        }
    }
}
