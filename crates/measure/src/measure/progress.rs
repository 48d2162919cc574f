//! Progress messages of a running probe. They are plain values, so that screens can draw them
//! without knowing the probe.

use super::{Comparison, Conclusion, Measurement, Workload};

/// The activity of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Checking whether others use the disks, then writing the scratch file.
    Preparing,
    /// First commits of each method, discarded.
    WarmUp,
    /// Commits of each method in turn, back to back and paced.
    Rounds,
    Workload(Workload),
    /// Removing the scratch directory.
    CleaningUp,
}

impl Phase {
    pub fn words(self) -> &'static str {
        match self {
            Self::Preparing => "writing the scratch file",
            Self::WarmUp => "warming up",
            Self::Rounds => "measuring",
            Self::Workload(Workload::Segment) => "measuring new segments",
            Self::Workload(Workload::Group) => "measuring group commit",
            Self::Workload(Workload::Innodb) => "measuring redo and binary log",
            Self::Workload(Workload::Files) => "measuring small files",
            Self::Workload(Workload::Entangle) => "measuring beside a writer",
            Self::Workload(Workload::Floor) => "measuring without flushes",
            Self::Workload(Workload::PgTestFsync) => "measuring what pg_test_fsync does",
            Self::Workload(Workload::Transaction) => "measuring transactions",
            Self::CleaningUp => "removing the scratch directory",
        }
    }
}

/// A progress message of a running probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub phase: Phase,
    pub round: u32,
    /// Seconds since the beginning.
    pub seconds: f64,
    /// Share of the time used, from 0 to 1.
    pub share: f64,
    /// Seconds left of the time limit; the probe may end sooner.
    pub left_seconds: f64,
    /// The measurement so far, a few times a second; `None` in between and before the first round.
    pub so_far: Option<Measurement>,
    /// Times of paced one-page commits with the default so far, as counts per bucket:
    /// `(up to microseconds, commits)`, four buckets per doubling. Comes with `so_far`.
    pub histogram: Vec<(f64, u64)>,
}

impl Progress {
    /// The progress in a clause: `round 12, at most 7.9 s left`.
    pub fn how_far(&self) -> String {
        if self.phase == Phase::CleaningUp {
            return "almost done".to_owned();
        }
        let round = if self.round > 0 {
            format!("round {}, ", self.round)
        } else {
            String::new()
        };
        format!("{round}at most {:.1} s left", self.left_seconds.max(0.0))
    }

    /// The state of the comparison in a clause; `None` where nothing is known of it.
    pub fn so_far_in_words(&self) -> Option<String> {
        let found = self.so_far.as_ref()?;
        let of = |comparison: &Comparison| match comparison.settled {
            Conclusion::Settled if comparison.gain_percent.value > 0.0 => "faster",
            Conclusion::Settled => "slower",
            Conclusion::NoMeaningfulDifference => "equal",
            Conclusion::NotSettled => "undecided",
        };
        let named = ["faster", "equal", "slower", "undecided"]
            .into_iter()
            .filter_map(|word| {
                let all = found
                    .comparisons
                    .iter()
                    .filter(|comparison| of(comparison) == word);
                let names: Vec<&str> = all.map(|comparison| comparison.method.name()).collect();
                (!names.is_empty()).then(|| format!("{word}: {}", names.join(", ")))
            });
        let named: Vec<String> = named.collect();
        let default = found.default_method().name();
        (!named.is_empty()).then(|| format!("so far, against {default}: {}", named.join(" · ")))
    }
}

impl Measurement {
    /// The same for display while it runs: without the caveats that only the end can decide.
    #[must_use]
    pub fn while_it_runs(mut self) -> Self {
        self.caveats.retain(|caveat| !caveat.id.is_of_the_end());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Caveat, CaveatId, Cell, Method, SampleContext, Samples, summarise};

    /// fdatasync at 100 µs and open_datasync at `us`, after so many paced commits.
    fn after(commits: u32, us: f64) -> Progress {
        let cell = |method, us: f64| {
            let times = (0..commits)
                .map(|i| vec![us * (1.0 + 0.2 * f64::from(i % 3))])
                .collect();
            Cell {
                rounds: times,
                ..Cell::new(method, 1, true)
            }
        };
        let cells = vec![
            cell(Method::Fdatasync, 100.0),
            cell(Method::OpenDatasync, us),
        ];
        let samples = Samples {
            paced: cells.clone(),
            cells,
        };
        Progress {
            phase: Phase::Rounds,
            round: commits,
            seconds: 1.0,
            share: 0.1,
            left_seconds: 9.0,
            so_far: Some(summarise(&samples, &SampleContext::default())),
            histogram: Vec::new(),
        }
    }

    #[test]
    fn what_is_still_to_come_is_no_caveat_yet() {
        let mut samples = after(3, 100.0).so_far.unwrap();
        assert!(
            samples
                .caveats
                .iter()
                .any(|caveat| caveat.id == CaveatId::FewSamples)
        );
        let other = Caveat {
            id: CaveatId::CompetingIo,
            ..samples.caveats[0].clone()
        };
        samples.caveats.push(other.clone());
        let left = samples.while_it_runs().caveats;
        assert!(left.contains(&other) && left.iter().all(|caveat| !caveat.id.is_of_the_end()));
    }

    #[test]
    fn each_method_is_told_by_its_comparison() {
        for (commits, us, word) in [
            (3, 50.0, "undecided"),
            (9, 200.0, "slower"),
            (9, 100.0, "equal"),
            (9, 50.0, "faster"),
        ] {
            let says = format!("so far, against fdatasync: {word}: open_datasync");
            assert_eq!(
                after(commits, us).so_far_in_words().as_deref(),
                Some(&*says)
            );
        }
        assert_eq!(
            Progress {
                so_far: None,
                ..after(12, 200.0)
            }
            .so_far_in_words(),
            None
        );
    }
}
