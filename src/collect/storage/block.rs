//! What each block device is and stands on, as the kernel lists it. One file per kind of device or per question.
//!
//! File systems find devices by the subjects that [`node`] creates. Controllers, drives and other programs are asked
//! beside this folder.

pub mod node;
mod bcache;
mod cloud;
pub mod dm;
mod geometry;
mod kind;
mod loops;
mod md;
mod medium;
mod topology;
mod transport;
mod unit;
pub mod device;
