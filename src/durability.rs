//! The durability verdict: a transaction was reported committed, the power fails now; is it still there?
//!
//! Evidence of four layers (database, belief, claim, measurement) is joined along every path from the target to every
//! disk, and the worst on any path wins. Facts in, facts and a [`Verdict`] out; nothing is read here. The surprise:
//! belief is usually a copy of claim, so their agreement is no second proof, and a measurement can only lower a verdict.

mod verdict;

pub use verdict::{Evidence, Layer, Path, Standing, Verdict};
