//! A spare disk or partition as the place of a trial: named by its serial number, proven free, and cleared at the end.
//!
//! Everything here errs on the side of no. Who may ask for it is left to the command line; file systems are made by
//! [`super::volume`].

mod plate;
mod mark;
mod mention;
mod users;
mod foreign;
mod findings;
mod free;
mod held;

pub use free::{by_facts, by_facts_of_use};
pub use held::{EraseOrder, HeldDisk, SpareDisk, lock};
