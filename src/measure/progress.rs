//! Progress messages of a running probe. They are plain values, so that screens can draw them without knowing the
//! probe.

use super::compare::LOOKS;
use super::{Measurement, Method, Workload};

/// The activity of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Checking whether others use the disks, then writing the scratch file.
    Preparing,
    /// First commits of each method, discarded.
    WarmUp,
    Rounds,
    /// A few commits with pauses between them, as a quiet server makes them.
    Paced,
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
            Self::Paced => "measuring with pauses",
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
    /// Whether the comparison has come to an end.
    pub settled: bool,
    /// The measurement so far, a few times a second; `None` in between and before the first round.
    pub so_far: Option<Measurement>,
    /// Times of one-page commits with the default so far, as counts per bucket: `(up to microseconds, commits)`, four
    /// buckets per doubling. Comes with `so_far`.
    pub histogram: Vec<(f64, u64)>,
}

impl Progress {
    /// The progress in a clause: `round 12, at most 7.9 s left`.
    pub fn how_far(&self) -> String {
        if self.phase == Phase::CleaningUp {
            return "almost done".to_owned();
        }
        let round = if self.round > 0 { format!("round {}, ", self.round) } else { String::new() };
        format!("{round}at most {:.1} s left", self.left_seconds.max(0.0))
    }

    /// The methods that may still prove better than the default, and the number of compared ones; `None` before enough
    /// rounds for any conclusion.
    pub fn open(&self) -> Option<(Vec<Method>, usize)> {
        let found = self.so_far.as_ref().filter(|_| self.round >= FIRST_LOOK)?;
        Some((found.open(), found.comparisons.len()))
    }

    /// The state of the comparison in a clause; `None` where nothing is known of it.
    ///
    /// Between two looks nothing is ever settled, whatever the current figures: a permanent check would sooner or later
    /// find a winner by chance.
    pub fn so_far_in_words(&self) -> Option<String> {
        self.so_far.as_ref()?;
        if self.settled {
            return Some("decided: more rounds would not change the advised method".to_owned());
        }
        let look = match (LOOKS.iter().find(|look| **look > self.round as usize), self.round) {
            (Some(look), round) if round < FIRST_LOOK => format!("first look after round {look}"),
            (Some(look), _) => format!("next look after round {look}"),
            (None, _) => "next look at the end".to_owned(),
        };
        Some(match self.open().as_ref().map(|(open, _)| open.as_slice()) {
            None => format!("undecided so far; {look}"),
            Some([]) => format!("undecided so far, but no method looks better; {look}"),
            Some(open) => {
                let names: Vec<&str> = open.iter().map(|method| method.name()).collect();
                format!("undecided so far: {} may still prove better; {look}", names.join(", "))
            }
        })
    }
}

/// The round before which no conclusion is possible.
const FIRST_LOOK: u32 = 8;

impl Measurement {
    /// The same for display while it runs: without the caveats that only the end can decide.
    #[must_use]
    pub fn while_it_runs(mut self) -> Self {
        self.caveats.retain(|caveat| !caveat.id.is_of_the_end());
        self
    }

    /// The methods that may still prove better than the default.
    fn open(&self) -> Vec<Method> {
        let open = self.comparisons.iter().filter(|c| c.settled.is_open());
        open.filter(|c| c.gain_percent.high >= 0.0).map(|c| c.method).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Conclusion;
    use crate::measure::{Caveat, CaveatId, Cell, SampleContext, Samples, summarise};

    /// Two methods after so many rounds, the second of this price beside 100.
    fn after(round: u32, price: f64, settled: bool) -> Progress {
        let cell = |method, pages, us: f64| {
            let times = (0..round).map(|i| vec![us * (1.0 + 0.2 * f64::from(i % 3))]).collect();
            Cell { rounds: times, ..Cell::new(method, pages, true) }
        };
        let pair = |method, us| [cell(method, 1, us), cell(method, 2, us)];
        let cells = [pair(Method::Fdatasync, 100.0), pair(Method::OpenDatasync, price)].concat();
        let samples = Samples { cells, paced: Vec::new() };
        Progress {
            phase: Phase::Rounds,
            round,
            seconds: 1.0,
            share: 0.1,
            left_seconds: 9.0,
            settled,
            so_far: Some(summarise(&samples, &SampleContext::default())),
            histogram: Vec::new(),
        }
    }

    #[test]
    fn the_first_look_is_the_planned_one() {
        assert_eq!(LOOKS.first().copied(), usize::try_from(FIRST_LOOK).ok());
    }

    #[test]
    fn what_is_still_to_come_is_no_caveat_yet() {
        let mut samples = after(3, 100.0, false).so_far.unwrap();
        assert!(samples.caveats.iter().any(|caveat| caveat.id == CaveatId::FewSamples));
        let other = Caveat { id: CaveatId::CompetingIo, ..samples.caveats[0].clone() };
        samples.caveats.push(other.clone());
        assert!(samples.while_it_runs().caveats.contains(&other));
        let fsync = [1, 2]
            .map(|pages| Cell { rounds: vec![vec![100.0]; 9], ..Cell::new(Method::Fsync, pages, true) });
        let found =
            summarise(&Samples { cells: fsync.to_vec(), paced: Vec::new() }, &SampleContext::default());
        let ids = |of: &Measurement| of.caveats.iter().map(|c| c.id).collect::<Vec<_>>();
        assert!(ids(&found).contains(&CaveatId::FsyncPace), "{:?}", ids(&found));
        let left = ids(&found.while_it_runs());
        assert!(left.iter().all(|id| !id.is_of_the_end()), "{left:?}");
    }

    #[test]
    fn nothing_is_settled_between_two_looks() {
        let said = |round, price| after(round, price, false).so_far_in_words().unwrap();
        assert_eq!(said(3, 50.0), "undecided so far; first look after round 8");
        assert_eq!(said(9, 200.0), "undecided so far, but no method looks better; next look after round 12");
        assert!(said(41, 50.0).ends_with("; next look at the end"));
        let mut unclear = after(8, 100.0, false);
        for comparison in unclear.so_far.iter_mut().flat_map(|found| &mut found.comparisons) {
            comparison.settled = Conclusion::NotSettled;
        }
        assert_eq!(
            unclear.so_far_in_words().as_deref(),
            Some("undecided so far: open_datasync may still prove better; next look after round 12")
        );
        assert!(after(12, 200.0, true).so_far_in_words().unwrap().starts_with("decided: "));
        assert_eq!(Progress { so_far: None, ..after(12, 200.0, true) }.so_far_in_words(), None);
    }
}
