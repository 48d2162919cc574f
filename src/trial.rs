//! Trials: candidate file systems made, mounted and measured side by side, and what may be said of them. Pure.
//!
//! A *cell* is one candidate in one *block*; a block is a random order of all candidates on the same extent, each made
//! anew. In every block the reference runs twice under two names, and the bare extent is measured too. Cells are run by
//! [`crate::cells`]; the meaning of their figures is decided here, and never a winner without evidence for it.

mod looks;
mod ranks;
mod contest;
mod candidate;
mod load;
mod record;
#[cfg(test)]
pub mod sample;
mod promise;
mod certificate;
mod methods;
mod result;
mod answer;
mod forest;
mod telling;
mod drawing;

pub use answer::TrialAnswer;
pub use candidate::{Contender, mkfs_of_trials, mount_of_trials};
pub use certificate::Certificate;
pub use contest::{Contest, Cuts, MARGIN, PairOutcome, PairedFigures, TrialOutcome};
pub use forest::{ForestPlace, ForestRow};
pub use load::{CommitShape, Preset, SEGMENT, TrialLoad};
pub use looks::{Ending, LOOKS};
pub use ranks::Interval;
pub use record::{CandidateRecord, ExtentKind, FORMAT, Runner, Sample, TrialBlock, TrialCell, TrialRecord};
pub use result::{LoadResult, WORTH_WAITING};
pub use telling::{NOT_RANKED, TableCell, TableOfLoad, percent, summary, tell};
