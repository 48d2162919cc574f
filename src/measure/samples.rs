//! The raw result of a probe: every sample, by method, write size and round. Nothing is aggregated before this point,
//! so that caveats can be found in the raw times.
//!
//! Rounds have the same index in every cell without an error; comparisons are paired by that index.

use super::Method;
use super::order::median_of;

/// One method with one write size.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub method: Method,
    /// Pages of the log per commit, written at once.
    pub pages: u32,
    /// Whether the server would do it this way.
    pub as_server: bool,
    /// Microseconds per commit, round by round.
    pub rounds: Vec<Vec<f64>>,
    /// Flushes that the disks counted during these commits; `None` where they do not count.
    pub flushes: Option<FlushCount>,
    /// Why it could not be measured; `None` where it was.
    pub error: Option<String>,
}

/// Flushes counted around commits, warm-up commits included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushCount {
    /// Flush requests that the disks completed.
    pub flushes: u64,
    /// Commits made meanwhile.
    pub commits: u64,
}

impl Cell {
    /// A cell without any measurement yet.
    pub fn new(method: Method, pages: u32, as_server: bool) -> Self {
        Self { method, pages, as_server, rounds: Vec::new(), flushes: None, error: None }
    }

    /// The median of each round.
    pub fn round_medians(&self) -> Vec<f64> {
        self.rounds.iter().map(|round| median_of(round)).collect()
    }

    /// The number of measured commits.
    pub fn count(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }
}

/// All samples of a probe.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// One cell per method and write size, in the order of the report.
    pub cells: Vec<Cell>,
    /// Commits at intervals of at least ten milliseconds, as a quiet server makes them: one commit per round. Always
    /// for one-page commits, for others on request.
    pub paced: Vec<Cell>,
}

impl Samples {
    /// The cell of a method and write size; `None` if it could not be measured.
    pub fn cell(&self, method: Method, pages: u32) -> Option<&Cell> {
        self.cells.iter().find(|c| c.method == method && c.pages == pages && c.error.is_none())
    }

    /// The one-page commits of a method with pauses; `None` without any.
    pub fn paced(&self, method: Method) -> Option<&Cell> {
        self.paced.iter().find(|c| c.method == method && c.pages == 1 && c.count() > 0)
    }

    /// The reference method: the server's first that can be measured. Of PostgreSQL that is fdatasync, the Linux default, as
    /// it does it here; of InnoDB it is the one in force.
    pub fn default_method(&self) -> Method {
        let of_server = || self.cells.iter().filter(|cell| cell.as_server);
        let measured = of_server().find(|cell| cell.error.is_none());
        measured.or_else(|| of_server().next()).map_or(Method::Fdatasync, |cell| cell.method)
    }

    /// The server's other methods, in order.
    pub fn challengers(&self) -> Vec<Method> {
        let default = self.default_method();
        let mut methods = Vec::new();
        for cell in self.cells.iter().filter(|c| c.as_server && c.method != default && c.method.is_durable())
        {
            if !methods.contains(&cell.method) {
                methods.push(cell.method);
            }
        }
        methods
    }

    pub fn rounds(&self) -> usize {
        self.cells.iter().filter(|c| c.error.is_none()).map(|c| c.rounds.len()).min().unwrap_or(0)
    }
}
