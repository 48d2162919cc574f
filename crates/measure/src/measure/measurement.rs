//! The result of a probe, as every output shows it. Times are microseconds per commit unless the
//! name says otherwise.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::log::LogKind;
use super::{Conclusion, Estimate, MeasuredLog, Method, WorkloadResult};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::facts::{Choice, choice};

/// What was measured of one method with one write size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct MethodResult {
    /// The method.
    pub method: Method,
    /// Pages of the log written at once per commit; they have 8 kB unless the measurement names
    /// another log.
    pub pages: u32,
    /// Whether a server would do it like that; false for the rows that only compare with
    /// `pg_test_fsync`.
    pub as_server: bool,
    /// Commits as a server makes them, one every 10 ms: what headlines, answers and advice use.
    /// Absent for rows that only compare, and where there was no time for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paced: Option<Latencies>,
    /// Commits in an unbroken loop, which understates fsync and open_sync; absent where none was
    /// made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_to_back: Option<Latencies>,
    /// Flushes the disks counted per commit; absent where they do not count or the write used
    /// forced unit access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes_per_commit: Option<f64>,
    /// Why it could not be measured, such as O_DIRECT being refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The latency of commits, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Latencies {
    /// Commits measured, warm-up not counted.
    pub samples: u64,
    pub mean_us: f64,
    /// Median with its interval over `rounds_us`.
    pub median_us: Estimate,
    pub p95_us: f64,
    /// From 1,000 samples on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    pub max_us: f64,
    /// Times in ascending order, at equal steps of the share of commits done within them: of n, the
    /// k-th is the quantile k/n. At most 64.
    pub quantiles_us: Vec<f64>,
    /// Medians of consecutive commits, in order: of each round back to back, of at most 100 runs of
    /// paced commits.
    pub rounds_us: Vec<f64>,
    /// Every commit of every round, when asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples_us: Vec<Vec<f64>>,
}

/// A method against the default by paced commits of one page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The method.
    pub method: Method,
    /// What it is compared with.
    pub against: Method,
    /// Gain in percent of the other's time, with its interval; negative when slower.
    pub gain_percent: Estimate,
    /// Whether it came to an end.
    pub settled: Conclusion,
}

/// Something that limits what the figures mean, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Caveat {
    /// Short name: `competing-io`, `implausible-speed`, `few-samples`, `clock`.
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub id: CaveatId,
    /// A sentence.
    #[serde(rename = "text", alias = "says")]
    pub says: String,
    /// Whether it forbids advising a change of method.
    pub refuses_advice: bool,
    /// The rounds in which it was seen, from 1, ascending; left out where it is about no round in
    /// particular.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<u32>,
}

/// What a probe of one directory found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Measurement {
    /// The directory the scratch directory was in; display-safe.
    pub directory: String,
    /// When it began, RFC 3339.
    pub when: String,
    /// How long it took.
    pub seconds: f64,
    /// Rounds completed.
    pub rounds: u32,
    /// What was written in all.
    pub bytes_written: u64,
    /// The log that the methods write; left out for the WAL of PostgreSQL.
    #[serde(default, skip_serializing_if = "MeasuredLog::is_default")]
    pub log: MeasuredLog,
    /// One row per method and size, in a fixed order.
    pub methods: Vec<MethodResult>,
    /// Each valid method against the default.
    pub comparisons: Vec<Comparison>,
    /// The method to use by this measurement alone: the default unless another is better beyond
    /// noise.
    pub best: Method,
    /// Whether it was cancelled before its end; what was measured is kept.
    pub cancelled: bool,
    /// What limits the figures.
    pub caveats: Vec<Caveat>,
    /// What the workloads found that were asked for besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<WorkloadResult>,
}

impl Caveat {
    /// The sentence, with what follows from it for the advice.
    pub fn in_full(&self) -> String {
        if self.refuses_advice {
            let says = self.says.trim_end_matches('.');
            return format!("{says}; no method advised from these figures");
        }
        self.says.clone()
    }

    /// Whether the figures may not be compared with those of another time.
    pub fn spoils_comparison(&self) -> bool {
        self.refuses_advice || self.id.slows_all_alike()
    }
}

choice! {
    /// What limits the figures.
    pub enum CaveatId {
        Stopped = "stopped",
        ImplausibleSpeed = "implausible-speed",
        FreeFlush = "free-flush",
        FewSamples = "few-samples",
        Clock = "clock",
        Inconsistent = "inconsistent",
        LessWorkSlower = "less-work-slower",
        NotArrived = "not-arrived",
        Suspended = "suspended",
        CompetingIo = "competing-io",
        UnseenIo = "unseen-io",
        Steal = "steal",
        ODirect = "o-direct",
        Leftover = "leftover",
    }
}

impl CaveatId {
    /// Whether it slows all methods of one probe alike, such as others' load, but no two probes.
    pub fn slows_all_alike(self) -> bool {
        matches!(self, Self::CompetingIo | Self::Steal)
    }

    /// Whether it says that commits were faster than they can be.
    pub fn is_of_speed(self) -> bool {
        matches!(self, Self::ImplausibleSpeed | Self::FreeFlush)
    }

    /// Whether nobody could see if others used the disks.
    pub fn is_unseen(self) -> bool {
        matches!(self, Self::UnseenIo)
    }

    /// Whether others used the disks.
    pub fn is_of_others(self) -> bool {
        matches!(self, Self::CompetingIo)
    }

    /// Whether it is about what was not measured, which is still to come while a probe runs.
    pub fn is_of_the_end(self) -> bool {
        matches!(self, Self::FewSamples)
    }
}

impl Serialize for CaveatId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for CaveatId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl MethodResult {
    /// The median of paced commits, in microseconds.
    pub fn median_us(&self) -> Option<f64> {
        self.paced.as_ref().map(|paced| paced.median_us.value)
    }

    /// The 99th percentile of paced commits, in microseconds.
    pub fn p99_us(&self) -> Option<f64> {
        self.paced.as_ref().and_then(|paced| paced.p99_us)
    }

    /// The same with its paced commits; `None` without any.
    pub fn with_paced(&self) -> Option<(&Self, &Latencies)> {
        Some((self, self.paced.as_ref()?))
    }

    /// The median of back-to-back commits, in microseconds.
    pub fn back_to_back_us(&self) -> Option<f64> {
        self.back_to_back
            .as_ref()
            .map(|loops| loops.median_us.value)
    }

    /// Whether any commit was measured.
    pub fn is_measured(&self) -> bool {
        self.paced.is_some() || self.back_to_back.is_some()
    }
}

impl Measurement {
    /// What its paced figures are of.
    pub fn basis(&self) -> String {
        format!("one commit every 10 ms, {}, 1 client", self.log.page())
    }

    /// The rows of the server's methods that were measured, for commits of one page.
    pub fn of_server(&self) -> impl Iterator<Item = &MethodResult> {
        self.methods
            .iter()
            .filter(|row| row.as_server && row.pages == 1 && row.error.is_none())
    }

    /// The same with those that failed.
    pub fn tried_of_server(&self) -> impl Iterator<Item = &MethodResult> {
        let is_told = |row: &&MethodResult| row.is_measured() || row.error.is_some();
        self.methods
            .iter()
            .filter(|row| row.as_server && row.pages == 1)
            .filter(is_told)
    }

    /// The method that others are compared with: the server's first that could be measured.
    pub fn default_method(&self) -> Method {
        let of_server = || self.methods.iter().filter(|row| row.as_server);
        let measured = of_server().find(|row| row.error.is_none());
        measured
            .or_else(|| of_server().next())
            .map_or(Method::Fdatasync, |row| row.method)
    }

    /// Whether the server does it like this row now; `wal` is its method where the log is a WAL.
    pub fn is_in_force(&self, row: &MethodResult, wal: Option<WalSyncMethod>) -> bool {
        let is_it = match self.log.kind {
            LogKind::Wal => wal.is_some() && row.method.server_method() == wal,
            LogKind::Redo => self.log.in_force == Some(row.method),
        };
        row.as_server && is_it
    }

    /// The row of the method in force, else of the best, for commits of one page; `wal` as above.
    pub fn main_row(&self, wal: Option<WalSyncMethod>) -> Option<&MethodResult> {
        let rows = || self.of_server();
        let best = || rows().find(|row| row.method == self.best);
        rows()
            .find(|row| self.is_in_force(row, wal))
            .or_else(best)
            .or_else(|| rows().next())
    }

    /// Whether anything was measured to the end of a round.
    pub fn has_rounds(&self) -> bool {
        self.rounds > 0 || self.workloads.iter().any(|found| found.rounds > 0)
    }
}
