//! Block devices: kinds and layers, and what caches, controllers, drives and drivers report. Swap
//! and free disks are here too, because both show the use of a device.

pub mod block;
pub mod content;
pub mod controller;
pub mod drbd;
pub mod drive;
pub mod mappings;
pub mod swap;
pub mod trim;
