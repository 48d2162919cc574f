//! The machine besides its storage: the kernel, the distribution, the tools, and what the next boot
//! will mount.

pub mod boot;
pub mod kernel;
pub mod os;
pub mod tools;
