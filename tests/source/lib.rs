//! The source of walwise, read as syntax.

#![cfg(test)]
#![allow(missing_docs, reason = "a test may fail loudly")]

mod choices;
mod deadlines;
mod durations;
mod graph;
mod names;
mod rooms;
mod size;
mod threads;
