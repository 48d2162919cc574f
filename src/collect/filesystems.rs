//! Mounts in force and what is mounted: types, options, features, members, barriers and stripes. One file per type of file
//! system or per question.
//!
//! Devices are read in [`super::storage`]; which mount stands on which device is left to [`super::stack`].

mod fstype;
mod members;
mod superblocks;
pub mod mounts;
pub mod barrier;
pub mod bcachefs;
pub mod btrfs;
pub mod ext4;
pub mod stripe;
pub mod xfs;
pub mod zfs;
