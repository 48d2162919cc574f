use super::compare::{compare_paced_commits, is_slower_with_two_pages, overall_conclusion};
use super::{Latencies, MEANINGFUL_PERCENT, Measurement, Method, MethodResult};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::facts::catalog::probe;
use crate::facts::{FactSet, Reading, Source, Subject, UnknownReason};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalMethodInForce {
    /// There is no PostgreSQL server; gains are relative to the default method.
    Default,
    Is(WalSyncMethod),
    /// The server's method could not be read.
    Unknown,
}

/// Facts about the method in force are unknown if that method is unknown or was not measured.
pub fn insert_probe_facts(
    found: &Measurement,
    target: &Subject,
    in_force: WalMethodInForce,
    facts: &mut FactSet,
) {
    let default = found.reference_method();

    super::workload::insert_workload_facts(&found.workloads, target, facts);
    if found.methods.is_empty() {
        return;
    }
    facts.insert_known(
        target,
        &probe::DIRECTORY,
        found.directory.clone(),
        probe_source(),
    );
    let in_force = measured_method_in_force(found, in_force, default);
    let paced = |figure: fn(&Latencies) -> Option<f64>, absent: &str| {
        in_force.clone().and_then_reading(|method, _| {
            let row = measured_one_page_row(found, method);
            reading_or_absent(row.and_then(|row| figure(row.paced.as_ref()?)), absent)
        })
    };
    let commit = paced(
        |of| Some(of.median_us.value),
        "the probe did not measure any paced commits",
    );
    facts.insert(target, &probe::COMMIT, commit);
    let too_few = "the probe measured too few paced commits for an interval";
    let p95 = paced(|of| of.p95_interval_us.map(|_| of.p95_us), too_few);
    facts.insert(target, &probe::P95, p95);
    let p99 = paced(
        |of| of.p99_us.filter(|_| of.p99_interval_us.is_some()),
        too_few,
    );
    facts.insert(target, &probe::P99, p99);

    if let Some(method) = found
        .best
        .wal_sync_method()
        .filter(|_| !found.log.is_redo())
    {
        facts.insert_known(target, &probe::BEST_METHOD, method, probe_source());
    }
    let spoken_against = found.caveats.iter().any(|c| c.refuses_advice);
    facts.insert_known(target, &probe::TRUSTED, !spoken_against, probe_source());
    let gain = in_force.map(|method| (method, min_gain_percent(found, method)));
    let change = gain.clone().map(|(method, gain)| {
        found.best != method && !spoken_against && gain >= MEANINGFUL_PERCENT
    });
    facts.insert(target, &probe::GAIN_PERCENT, gain.map(|(_, gain)| gain));
    facts.insert(target, &probe::ADVISES_CHANGE, change);
    facts.insert_known(
        target,
        &probe::OUTCOME,
        overall_conclusion(found, default),
        probe_source(),
    );

    let counted = measured_one_page_row(found, Method::Fdatasync)
        .or_else(|| measured_one_page_row(found, default));
    let flushes = counted.and_then(|r| r.flushes_per_commit);
    let others = found
        .caveats
        .iter()
        .any(|caveat| caveat.id.is_competing_io());
    let flushes = match flushes {
        // A count below the probe's own flushes proves that flushes are missing, whatever other
        // programs do. A higher count may include flushes of other programs.
        Some(count) if others && count >= probe::TOO_FEW_FLUSHES => Reading::ambiguous(
            "other programs used the disks during the probe; the counted flushes may include theirs",
        ),
        flushes => reading_or_absent(flushes, "these disks do not count flushes"),
    };
    facts.insert(target, &probe::FLUSHES_PER_COMMIT, flushes);

    let no_commits = "the probe did not measure any commits";
    let rate = measured_one_page_row(found, default)
        .and_then(|r| r.back_to_back.as_ref())
        .map(|loops| 1e6 / loops.mean_us);
    let rate = reading_or_absent(rate, no_commits);
    facts.insert(target, &probe::COMMITS_PER_SECOND, rate);

    let both = measured_one_page_row(found, Method::FdatasyncDirect)
        .zip(measured_one_page_row(found, Method::FloorDirect));
    let cost = both.and_then(|(flushed, floor)| {
        Some(flushed.back_to_back_median_us()? - floor.back_to_back_median_us()?)
    });
    let cost = cost.map_or_else(
        || {
            Reading::unknown(
                UnknownReason::NotCollected,
                "the probe measured no O_DIRECT writes",
            )
        },
        |cost| Reading::known(cost, probe_source()),
    );
    facts.insert(target, &probe::FLUSH_COST, cost);

    let too_fast = found
        .caveats
        .iter()
        .find(|c| c.id.is_about_excessive_speed());
    let has_durable_rate = found
        .methods
        .iter()
        .any(|r| r.method.is_durable() && r.back_to_back.is_some());
    let implausible = has_durable_rate.then_some(too_fast.is_some());
    let implausible = reading_or_absent(implausible, no_commits);
    facts.insert(target, &probe::IMPLAUSIBLE, implausible);
    let because = too_fast.map(|caveat| caveat.text.trim_end_matches('.').to_owned());
    let because = reading_or_absent(because, "the speed is plausible");
    facts.insert(target, &probe::IMPLAUSIBLE_BECAUSE, because);
}

fn probe_source() -> Source {
    Source::Probe {
        id: "commit".to_owned(),
    }
}

fn reading_or_absent<T>(value: Option<T>, absent: &str) -> Reading<T> {
    value.map_or_else(
        || Reading::absent(absent),
        |value| Reading::known(value, probe_source()),
    )
}

/// Lower bound of the gain of the best method, in percent of the latency of the method in force; at
/// least 0.
fn min_gain_percent(found: &Measurement, in_force: Method) -> f64 {
    let slower = is_slower_with_two_pages(&found.methods, found.best, in_force);
    let comparison = compare_paced_commits(&found.methods, found.best, in_force)
        .filter(|_| found.best != in_force && !slower);
    comparison
        .filter(|found| found.settled.shows_difference())
        .map_or(0.0, |found| found.gain_percent.low.max(0.0))
}

fn measured_method_in_force(
    found: &Measurement,
    in_force: WalMethodInForce,
    default: Method,
) -> Reading<Method> {
    match in_force {
        WalMethodInForce::Default => Reading::known(default, probe_source()),
        WalMethodInForce::Is(method) => {
            // A server uses each method either with O_DIRECT or without, so all matching rows have
            // the same method.
            let is_it =
                |r: &&MethodResult| r.as_server && r.method.wal_sync_method() == Some(method);
            reading_or_absent(
                found.methods.iter().find(is_it).map(|r| r.method),
                "the wal_sync_method in force was not measured",
            )
        }
        WalMethodInForce::Unknown => Reading::ambiguous("the wal_sync_method in force is unknown"),
    }
}

fn measured_one_page_row(found: &Measurement, method: Method) -> Option<&MethodResult> {
    found
        .methods
        .iter()
        .find(|r| r.pages == 1 && r.method == method && r.is_measured())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{
        FlushAndCommitCounts, MaxPlausibleCommitRate, MethodSamples, ProbeSamples, SampleContext,
        summarise_samples,
    };

    fn probe_facts(samples: &ProbeSamples, current: WalMethodInForce) -> FactSet {
        let seen = SampleContext {
            speed_limit: Some(MaxPlausibleCommitRate::for_block_device()),
            ..SampleContext::default()
        };
        let mut facts = FactSet::default();
        insert_probe_facts(
            &summarise_samples(samples, &seen),
            &Subject::target("/t"),
            current,
            &mut facts,
        );
        facts
    }

    fn server_method_samples(method: Method, pages: u32, us: f64) -> MethodSamples {
        MethodSamples {
            rounds: vec![vec![us]; 20],
            ..MethodSamples::new(method, pages, true)
        }
    }

    fn samples_with_paced_copies(mut cells: Vec<MethodSamples>) -> ProbeSamples {
        for cell in &mut cells {
            if cell.as_server && cell.pages == 1 {
                cell.paced.clone_from(&cell.rounds);
            }
        }
        ProbeSamples { cells }
    }

    #[test]
    fn measurements_become_facts() {
        let counted = Some(FlushAndCommitCounts {
            flushes: 40,
            commits: 20,
        });
        let facts = probe_facts(
            &samples_with_paced_copies(vec![
                MethodSamples {
                    flushes: counted,
                    ..server_method_samples(Method::Fdatasync, 1, 200.0)
                },
                server_method_samples(Method::Fdatasync, 2, 210.0),
                server_method_samples(Method::OpenDatasync, 1, 100.0),
                server_method_samples(Method::OpenDatasync, 2, 105.0),
                MethodSamples {
                    as_server: false,
                    ..server_method_samples(Method::FdatasyncDirect, 1, 190.0)
                },
                MethodSamples {
                    as_server: false,
                    ..server_method_samples(Method::FloorDirect, 1, 40.0)
                },
            ]),
            WalMethodInForce::Is(WalSyncMethod::Fdatasync),
        );
        let target = Subject::target("/t");
        let near = |key, value: f64| {
            facts
                .value(&target, key)
                .is_some_and(|v: f64| (v - value).abs() < 1e-6)
        };
        assert!(near(&probe::COMMIT, 200.0));
        assert!(near(&probe::FLUSHES_PER_COMMIT, 2.0) && near(&probe::FLUSH_COST, 150.0));
        assert!(near(&probe::COMMITS_PER_SECOND, 5_000.0) && near(&probe::GAIN_PERCENT, 50.0));
        assert_eq!(facts.value(&target, &probe::TRUSTED), Some(true));
        assert_eq!(
            facts.value(&target, &probe::BEST_METHOD),
            Some(WalSyncMethod::OpenDatasync)
        );
        assert_eq!(facts.value(&target, &probe::ADVISES_CHANGE), Some(true));
        assert_eq!(
            facts.value(&target, &probe::OUTCOME),
            Some(probe::ComparisonConclusion::Settled)
        );
        assert_eq!(facts.value(&target, &probe::IMPLAUSIBLE), Some(false));
    }

    #[test]
    fn unmeasured_figures_are_unknown_facts() {
        let facts = probe_facts(
            &samples_with_paced_copies(vec![MethodSamples::new(Method::Fdatasync, 1, true)]),
            WalMethodInForce::Default,
        );
        let target = Subject::target("/t");
        for key in [
            &probe::COMMIT,
            &probe::P95,
            &probe::P99,
            &probe::FLUSHES_PER_COMMIT,
            &probe::FLUSH_COST,
            &probe::COMMITS_PER_SECOND,
        ] {
            assert!(!facts.get(&target, key).is_known(), "{}", key.name());
        }
        assert!(!facts.get(&target, &probe::IMPLAUSIBLE).is_known());
        assert_eq!(
            facts.value(&target, &probe::OUTCOME),
            Some(probe::ComparisonConclusion::NotSettled)
        );
        assert_eq!(
            facts.value(&target, &probe::TRUSTED),
            Some(false),
            "there were no rounds"
        );
    }

    #[test]
    fn tail_percentiles_need_enough_commits() {
        let tails = |commits: usize| {
            let times: Vec<f64> = (1..=commits).map(|rank| rank as f64).collect();
            let cell = MethodSamples {
                // Every round has values from the whole range.
                rounds: (0..20)
                    .map(|round| times.iter().skip(round).step_by(20).copied().collect())
                    .collect(),
                ..MethodSamples::new(Method::Fdatasync, 1, true)
            };
            let facts = probe_facts(
                &samples_with_paced_copies(vec![cell]),
                WalMethodInForce::Default,
            );
            [&probe::P95, &probe::P99].map(|key| facts.value(&Subject::target("/t"), key))
        };
        assert_eq!(tails(60), [None, None]);
        assert_eq!(tails(980), [Some(931.0), None]);
        assert_eq!(tails(1_000), [Some(950.0), Some(990.0)]);
    }

    #[test]
    fn implausibly_fast_method_is_not_best() {
        let cells = [(Method::Fdatasync, 200.0), (Method::OpenDatasync, 1.0)];
        let cells = cells.iter().flat_map(|(method, us)| {
            [
                server_method_samples(*method, 1, *us),
                server_method_samples(*method, 2, *us),
            ]
        });
        let facts = probe_facts(
            &samples_with_paced_copies(cells.collect()),
            WalMethodInForce::Default,
        );
        let target = Subject::target("/t");
        // open_datasync wins the comparison, but implausible speed excludes a method from being the
        // best.
        assert_eq!(
            facts.value(&target, &probe::OUTCOME),
            Some(probe::ComparisonConclusion::Settled)
        );
        assert_eq!(
            facts.value(&target, &probe::BEST_METHOD),
            Some(WalSyncMethod::Fdatasync)
        );
        assert_eq!(facts.value(&target, &probe::ADVISES_CHANGE), Some(false));
        assert_eq!(facts.value(&target, &probe::TRUSTED), Some(false));
    }

    fn gain_facts_over_method(
        method: Method,
        paced: f64,
        two_pages: f64,
    ) -> (Option<f64>, Option<f64>, Option<bool>) {
        let of = |method, paced, two| {
            [
                server_method_samples(method, 1, paced),
                server_method_samples(method, 2, two),
            ]
        };
        let cells = [
            of(Method::Fdatasync, 200.0, 200.0),
            of(method, paced, two_pages),
        ]
        .concat();
        let facts = probe_facts(
            &self::samples_with_paced_copies(cells),
            WalMethodInForce::Is(method.wal_sync_method().unwrap()),
        );
        let target = Subject::target("/t");
        (
            facts.value(&target, &probe::COMMIT),
            facts.value(&target, &probe::GAIN_PERCENT),
            facts.value(&target, &probe::ADVISES_CHANGE),
        )
    }

    #[test]
    fn gain_is_relative_to_method_in_force() {
        let slower = (Some(400.0), Some(50.0), Some(true));
        for method in [Method::OpenDatasync, Method::Fsync] {
            assert_eq!(gain_facts_over_method(method, 400.0, 400.0), slower);
            let (_, gain, change) = gain_facts_over_method(method, 202.0, 400.0);
            assert!(
                gain.is_some_and(|g| g < 5.0) && change == Some(false),
                "back to back only: {gain:?}"
            );
            let kept = gain_facts_over_method(method, 400.0, 100.0);
            assert_eq!(
                kept,
                (Some(400.0), Some(0.0), Some(false)),
                "fdatasync is slower with two pages"
            );
        }
        assert_eq!(
            gain_facts_over_method(Method::OpenDatasync, 100.0, 100.0),
            (Some(100.0), Some(0.0), Some(false))
        );
    }

    #[test]
    fn unknown_method_in_force_gives_no_gain() {
        for in_force in [
            WalMethodInForce::Unknown,
            WalMethodInForce::Is(WalSyncMethod::FsyncWritethrough),
        ] {
            let cells = [Method::Fdatasync, Method::OpenDatasync]
                .map(|method| server_method_samples(method, 1, 200.0));
            let facts = probe_facts(&samples_with_paced_copies(cells.to_vec()), in_force);
            let target = Subject::target("/t");
            assert_eq!(facts.value(&target, &probe::COMMIT), None);
            assert_eq!(facts.value(&target, &probe::GAIN_PERCENT), None);
            assert_eq!(facts.value(&target, &probe::ADVISES_CHANGE), None);
            assert!(facts.value(&target, &probe::BEST_METHOD).is_some());
        }
    }
}
