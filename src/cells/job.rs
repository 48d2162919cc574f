//! What the two sides of a trial tell each other.

use serde::{Deserialize, Serialize};

use super::disk::EraseOrder;
use crate::subprocess::Bytes;
use crate::trial::{CandidateRecord, TrialBlock, TrialLoad};

/// What is to be done, before anything is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialJob {
    pub place: TrialPlace,
    /// Bytes of the extent.
    pub bytes: u64,
    /// The seed of the trial's dice.
    pub seed: u64,
    /// The disks below, by kernel name.
    pub leaves: Vec<String>,
    /// The longest time in seconds. The inside ends by itself a little later, whatever becomes of whoever started it.
    pub budget: f64,
    /// The most bytes to write, the loop file among them.
    pub writes: u64,
}

/// What is to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureOrder {
    /// The candidates, the reference first.
    pub candidates: Vec<CandidateRecord>,
    pub loads: Vec<TrialLoad>,
    /// Seconds of each load in a cell.
    pub load_seconds: f64,
}

/// Where the extent of a trial is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TrialPlace {
    /// In a loop file in this directory.
    Directory(Bytes),
    /// At the beginning of this disk.
    Disk(EraseOrder),
}

impl TrialPlace {
    /// Whether it is a disk.
    pub fn is_disk(&self) -> bool {
        matches!(self, Self::Disk(_))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum News {
    /// So many bytes of the loop file are written, or of the disk are read.
    Prepared(u64),
    /// The extent is there, on the device of this path, and the candidates may be named.
    Ready(String),
    Cell {
        /// Its number in the block, from 1 on.
        nth: usize,
        /// Bytes that were written in the block before it.
        written: u64,
    },
    Block(TrialBlock),
    /// It cannot go on: a sentence.
    Failed(String),
    /// So many bytes of the disk are zeros again.
    Clearing(u64),
    /// The disk is as free as before.
    Cleared,
}

/// What the outside tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// Make the loop file, or take the disk.
    Prepare(TrialJob),
    /// Clear what an earlier trial left on this disk.
    Clear(EraseOrder),
    /// Measure, block after block, until nobody listens.
    Measure(MeasureOrder),
}
