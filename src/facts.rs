//! Facts: named values about the host, its devices, mounts and databases, and the contract that none is ever guessed.
//!
//! A reading is known with its source, or unknown with a reason and a remedy. This layer neither reads the machine nor
//! judges: collectors fill a [`FactSet`], and all other layers query it. An absent fact is still a reading (*not
//! collected*), so no caller has to distinguish "does not exist" from "was not asked".

mod value;
mod reading;
mod subject;
pub mod note;
mod kind;
mod choice;
mod area;
mod key;
pub mod catalog;
mod need;
mod row;
mod set;
mod database;
#[cfg(test)]
pub(crate) mod testing;

pub use area::{Area, ServerKind, area};
pub use choice::Choice;
pub(crate) use choice::choice;
pub use database::{Database, DirectorySpec, SettingSyntax};
pub use key::{FactGroup, FactId, Key, KeyInfo, Nature};
pub use kind::{FactValue, ValueKind};
pub use need::Need;
pub use note::Note;
pub use reading::{Reading, Remedy, Source, Why};
pub use row::About;
pub use set::{FactRow, FactSet};
pub use subject::{Scope, Subject};
pub use value::Value;
