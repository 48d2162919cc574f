//! Block devices: what each one is and stands on, and what its cache, controller, drive and driver
//! report.
//!
//! Mounts and file systems are read beside this room. Swap and free disks are here because both
//! answer what a device is used for.

pub mod block;
pub mod content;
pub mod controller;
pub mod drbd;
pub mod drive;
pub mod mappings;
pub mod swap;
pub mod trim;
