//! Block devices: kinds and layers, and the reports of caches, controllers, drives and drivers.
//!
//! Mounts and file systems are read in `filesystems`. Swap and free disks are here because both
//! show what a device is used for.

pub mod block;
pub mod content;
pub mod controller;
pub mod drbd;
pub mod drive;
pub mod mappings;
pub mod swap;
pub mod trim;
