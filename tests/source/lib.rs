//! The source of walwise, read as syntax.

#![cfg(test)]

mod deadlines;
mod durations;
mod files;
mod graph;
mod rooms;
mod size;
mod threads;
