//! Samples → estimates, pure: rounds, quantiles, intervals, comparison, caveats.
//!
//! It does no IO and reads no clock, so that tests can simulate disks. The round is the statistical unit; "no
//! meaningful difference" is a result.

mod estimate;
mod group;
mod method;
mod order;
mod pg_tests;
mod import;
mod samples;
mod shift;
mod workload;
mod log;
mod measurement;
mod compare;
mod caveats;
mod facts;
mod pg_layout;
mod progress;
mod sentence;
mod sizes;
mod summary;
mod table;
#[cfg(test)]
mod simulation;

pub use caveats::{DiskTraffic, SampleContext, SpeedLimit};
pub use compare::{LOOKS, decided};
pub use estimate::{Conclusion, Estimate};
pub use facts::{WalFlushMethod, to_facts};
pub use import::{Imported, import, table as imported_table};
pub use log::{LogKind, MeasuredLog, MethodSetting};
pub use measurement::{Caveat, CaveatId, Comparison, Measurement, MethodResult};
pub use method::{Method, Occasion, OpenMode, SyncCall};
pub use order::{ALPHA, histogram, interval, latency_quantiles, median_of};
pub use pg_layout::in_the_tools_layout;
pub use pg_tests::{PG_TESTS, PgTest};
pub use progress::{Phase, Progress};
pub use samples::{Cell, FlushCount, Samples};
pub use shift::{Moved, Shift, shift};
pub use sizes::sizes;
pub use summary::{add_samples, add_workloads, quantiles_of, summarise};
pub use table::{beside_default, price_of_a_commit, sparkline};
pub use workload::{Pass, Series, Workload, WorkloadResult, WorkloadRow, lines as workload_lines};
