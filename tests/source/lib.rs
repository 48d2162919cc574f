//! The source of walwise, read as syntax.

#![cfg(test)]
#![allow(missing_docs, reason = "a test may fail loudly")]

mod deadlines;
mod durations;
mod files;
mod graph;
mod rooms;
mod size;
mod threads;
