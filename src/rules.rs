//! Rules: conditions over facts, with advice. They are data (`rules/*.toml`), three-valued, and carry their own
//! examples.
//!
//! This layer reads no machine and prints nothing: facts go in, findings come out, and every sub-condition is kept as a
//! trace. Advice that can lose data is held back unless every fact that decides it was observed on this machine.

mod diagnostic;
pub mod evidence;
mod file;
mod builtin;
mod template;
mod own;
mod finding;
pub mod model;
pub mod explain;
mod ground;
mod advise;
mod needs;
mod others;
mod load;
mod set;
mod evaluate;
pub mod examples;
pub mod pack;
pub mod reference;
mod test;
#[cfg(test)]
mod tests;

use crate::text::suggest;

pub use advise::Circumstances;
pub use builtin::shipped;
pub use evaluate::{Evaluation, Tally, all_subjects, evaluate, evaluate_one, subjects};
pub use evidence::Study;
pub use file::RuleFile;
pub use finding::{
    Advice, Basis, Change, Confidence, Finding, HeldBack, Level, Mending, Outcome, Reach, Risk, Seen, Trace,
};
pub use model::{Rule, RuleExamples};
pub use others::{Expired, Off, Override};
pub use own::OwnCommand;
pub use pack::Pack;
pub use set::RuleSet;
pub use template::Template;
