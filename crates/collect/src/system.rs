//! The host apart from storage: kernel, distribution, tools, and the mounts of the next boot.

pub mod boot;
pub mod kernel;
pub mod os;
pub mod tools;
