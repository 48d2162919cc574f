//! Facts: named values about the host, its devices, mounts and databases, and the contract that none is ever guessed.
//!
//! A reading is known with its source, or unknown with a reason and a remedy. This layer neither reads the machine nor
//! judges: collectors fill a [`FactSet`], and all other layers query it. An absent fact is still a reading (*not
//! collected*), so no caller has to distinguish "does not exist" from "was not asked".

mod area;
pub mod catalog;
mod choice;
mod database;
mod key;
mod need;
pub mod note;
mod reading;
mod row;
mod set;
mod subject;
mod supposing;
#[cfg(test)]
pub(crate) mod testing;
mod value;

pub use area::{Area, area};
pub use choice::Choice;
pub(crate) use choice::choice;
pub use database::{Database, DirectorySpec};
pub use key::{FactId, FactValue, Key, KeyInfo, Nature, ValueKind};
pub use need::Need;
pub use note::Note;
pub use reading::{Reading, Remedy, Source, Why};
pub use row::About;
pub use set::{FactRow, FactSet};
pub use subject::{Scope, Subject};
pub use supposing::{Propagation, Supposing};
pub use value::Value;
