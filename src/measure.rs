//! Samples → estimates, pure: rounds, quantiles, intervals, comparison, caveats. It does no IO and reads no clock, so that
//! tests can simulate disks. The round is the statistical unit; "no meaningful difference" is a result.

mod measurement;

pub use measurement::{Caveat, Comparison, Estimate, Measurement, Method, MethodResult, Settled};
