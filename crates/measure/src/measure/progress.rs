//! The progress of a probe as plain values, so that screens need no access to the probe.

use super::{Comparison, ComparisonConclusion, Measurement, Workload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbePhase {
    Preparing,
    WarmUp,
    Rounds,
    Workload(Workload),
    CleaningUp,
}

impl ProbePhase {
    pub fn description(self) -> &'static str {
        match self {
            Self::Preparing => "writing the scratch file",
            Self::WarmUp => "warming up",
            Self::Rounds => "measuring",
            Self::Workload(workload) => workload.progress_text(),
            Self::CleaningUp => "removing the scratch directory",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProbeProgress {
    pub phase: ProbePhase,
    pub round: u32,
    pub seconds: f64,
    /// Elapsed time divided by the time limit, 0 to 1.
    pub share: f64,
    /// Seconds to the time limit; the probe may end sooner.
    pub remaining_seconds: f64,
    /// Results so far; set a few times a second, otherwise `None`.
    pub interim: Option<Measurement>,
    /// Latencies of paced one-page commits with the default method, as `(up to µs, commits)` in
    /// four buckets per doubling. Set together with `interim`.
    pub histogram: Vec<(f64, u64)>,
}

impl ProbeProgress {
    pub fn round_and_remaining_time_text(&self) -> String {
        if self.phase == ProbePhase::CleaningUp {
            return "almost done".to_owned();
        }
        let round = if self.round > 0 {
            format!("round {}, ", self.round)
        } else {
            String::new()
        };
        format!(
            "{round}at most {:.1} s left",
            self.remaining_seconds.max(0.0)
        )
    }

    /// Display text such as `so far, against fdatasync: faster: open_datasync`; `None` without a
    /// comparison.
    pub fn interim_comparison_text(&self) -> Option<String> {
        let found = self.interim.as_ref()?;
        let of = |comparison: &Comparison| match comparison.settled {
            ComparisonConclusion::Settled if comparison.gain_percent.value > 0.0 => "faster",
            ComparisonConclusion::Settled => "slower",
            ComparisonConclusion::NoMeaningfulDifference => "equal",
            ComparisonConclusion::NotSettled => "undecided",
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
        let default = found.reference_method().name();
        (!named.is_empty()).then(|| format!("so far, against {default}: {}", named.join(" · ")))
    }
}

impl Measurement {
    /// Removes the caveats that only the end of a probe can decide, for display before that end.
    #[must_use]
    pub(crate) fn without_caveats_decided_at_end(mut self) -> Self {
        self.caveats
            .retain(|caveat| !caveat.id.may_be_removed_by_further_commits());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{
        Caveat, CaveatId, Method, MethodSamples, ProbeSamples, SampleContext, summarise_samples,
    };

    fn progress_of_methods(commits: u32, us: f64) -> ProbeProgress {
        let cell = |method, us: f64| {
            let times: Vec<_> = (0..commits)
                .map(|i| vec![us * (1.0 + 0.2 * f64::from(i % 3))])
                .collect();
            MethodSamples {
                rounds: times.clone(),
                paced: times,
                ..MethodSamples::new(method, 1, true)
            }
        };
        let cells = vec![
            cell(Method::Fdatasync, 100.0),
            cell(Method::OpenDatasync, us),
        ];
        let samples = ProbeSamples { cells };
        ProbeProgress {
            phase: ProbePhase::Rounds,
            round: commits,
            seconds: 1.0,
            share: 0.1,
            remaining_seconds: 9.0,
            interim: Some(summarise_samples(&samples, &SampleContext::default())),
            histogram: Vec::new(),
        }
    }

    #[test]
    fn interim_result_omits_removable_caveats() {
        let mut samples = progress_of_methods(3, 100.0).interim.unwrap();
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
        let left = samples.without_caveats_decided_at_end().caveats;
        assert!(
            left.contains(&other)
                && left
                    .iter()
                    .all(|caveat| !caveat.id.may_be_removed_by_further_commits())
        );
    }

    #[test]
    fn interim_text_groups_methods_by_conclusion() {
        for (commits, us, word) in [
            (3, 50.0, "undecided"),
            (9, 200.0, "slower"),
            (9, 100.0, "equal"),
            (9, 50.0, "faster"),
        ] {
            let says = format!("so far, against fdatasync: {word}: open_datasync");
            assert_eq!(
                progress_of_methods(commits, us)
                    .interim_comparison_text()
                    .as_deref(),
                Some(&*says)
            );
        }
        assert_eq!(
            ProbeProgress {
                interim: None,
                ..progress_of_methods(12, 200.0)
            }
            .interim_comparison_text(),
            None
        );
    }
}
