//! What the two sides of a trial tell each other.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::disk::EraseOrder;
use crate::errand::{Message, SocketChannel};
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
    /// In a loop file in this directory, as bytes.
    Directory(Vec<u8>),
    /// At the beginning of this disk.
    Disk(EraseOrder),
}

impl TrialPlace {
    /// Whether it is a disk.
    pub fn is_disk(&self) -> bool {
        matches!(self, Self::Disk(_))
    }
}

/// A directory that is written as bytes.
pub fn path(directory: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    OsString::from_vec(directory.to_vec()).into()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The path of its device.
    pub device: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum News {
    /// So many bytes of the loop file are written, or of the disk are read.
    Prepared(u64),
    /// The extent is there, and the candidates may be named.
    Ready(Ready),
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

/// The kind of all our messages, and of those that continue in the next one.
const WHOLE: u8 = b'w';
const MORE: u8 = b'm';

/// The longest part of a message in bytes.
const PART: usize = 512 << 10;

/// The longest message in bytes: a block of a hundred cells has a tenth of it.
const WHOLE_MESSAGE: usize = 16 << 20;

pub fn say<T: Serialize>(line: &mut SocketChannel, what: &T) -> std::io::Result<()> {
    let text = serde_json::to_vec(what).map_err(std::io::Error::other)?;
    let mut parts = text.chunks(PART).peekable();
    while let Some(part) = parts.next() {
        line.say(if parts.peek().is_some() { MORE } else { WHOLE }, part)?;
    }
    Ok(())
}

/// What was heard so far of a message that comes in parts; `None` where it is longer than any message is.
#[derive(Debug)]
pub struct Ear(Option<Vec<u8>>);

impl Default for Ear {
    fn default() -> Self {
        Self(Some(Vec::new()))
    }
}

impl Ear {
    /// Takes a part; something where it was the last, `Err` where the message is nonsense or too long.
    pub fn take<T: for<'de> Deserialize<'de>>(&mut self, (kind, part): Message) -> Result<Option<T>, ()> {
        self.0 = self.0.take().filter(|heard| heard.len() + part.len() <= WHOLE_MESSAGE);
        if let Some(heard) = &mut self.0 {
            heard.extend(part);
        }
        match kind {
            MORE => Ok(None),
            WHOLE => {
                let heard = std::mem::take(self).0.ok_or(())?;
                serde_json::from_slice(&heard).map(Some).map_err(|_| ())
            }
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_an_end_is_refused_and_the_next_is_heard() {
        let mut ear = Ear::default();
        for _ in 0..=WHOLE_MESSAGE / PART {
            assert_eq!(ear.take::<News>((MORE, vec![b' '; PART])), Ok(None));
        }
        assert!(ear.0.is_none(), "nothing of it is kept");
        assert_eq!(ear.take::<News>((WHOLE, Vec::new())), Err(()));
        assert_eq!(ear.take::<News>((MORE, b"\"Clea".to_vec())), Ok(None));
        assert_eq!(ear.take::<News>((WHOLE, b"red\"".to_vec())), Ok(Some(News::Cleared)));
    }
}
