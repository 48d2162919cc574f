#![allow(dead_code, reason = "each part is shared with other tests")]

pub use walwise_testkit::deadline;
#[path = "../it/support/fuse.rs"]
pub mod fuse;
#[path = "../it/support/loops.rs"]
pub mod loops;
#[path = "../it/support/mariadb.rs"]
pub mod mariadb;
#[path = "../it/support/postgres.rs"]
pub mod postgres;
#[path = "../it/support/programs.rs"]
pub mod programs;
#[path = "../it/support/pty.rs"]
pub mod pty;
#[path = "../it/support/running.rs"]
pub mod running;
#[path = "../it/support/untouched.rs"]
pub mod untouched;

pub use programs::{run, stderr, stdout, walwise};
