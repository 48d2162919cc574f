//! Block devices: what each one is and stands on, and what its cache, controller, drive and driver report. One file per
//! kind of device or per question.
//!
//! File systems and databases are read beside this folder and find devices by the subjects that [`node`] creates.
//! Swap and free disks are here because both answer what a device is used for.

pub(super) mod bcache;
pub(super) mod cloud;
pub(super) mod content;
pub(super) mod controller;
pub(super) mod device;
pub(super) mod dm;
pub(super) mod drbd;
pub(super) mod drive;
pub(super) mod geometry;
pub(super) mod kind;
pub(super) mod loops;
pub(super) mod mappings;
pub(super) mod md;
pub(super) mod medium;
pub(super) mod node;
pub(super) mod swap;
mod topology;
pub(super) mod transport;
pub(super) mod trim;
pub(super) mod unit;
