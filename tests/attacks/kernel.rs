//! What the kernel itself keeps strangers from in directories that everybody may write (`fs.protected_*`, sysctl/fs.rst).
//!
//! These are the machine's, so that one attack at a time sets them, also among several runs, and they are set back when
//! the guard is dropped. walwise must hold with the kernel's help and without.

use std::fs::{self, File};

const LIMITS: [&str; 4] = ["symlinks", "hardlinks", "fifos", "regular"];

/// What the kernel does for us.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    /// As Debian sets it.
    Protects,
    /// Nothing, as a kernel does by itself.
    Permits,
}

impl Kernel {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Protects, Self::Permits];

    /// As long as the guard lives.
    pub fn set(self) -> Set {
        let lock = File::open("/proc/sys/fs/protected_symlinks").unwrap();
        lock.lock().unwrap();
        let values = match self {
            Self::Protects => ["1", "1", "1", "2"],
            Self::Permits => ["0"; 4],
        };
        let before = LIMITS.map(|limit| fs::read_to_string(file(limit)).unwrap());
        for (limit, value) in LIMITS.iter().zip(values) {
            fs::write(file(limit), value).unwrap();
        }
        Set { before, _lock: lock }
    }
}

fn file(limit: &str) -> String {
    format!("/proc/sys/fs/protected_{limit}")
}

/// Sets back what was.
pub struct Set {
    before: [String; 4],
    _lock: File,
}

impl Drop for Set {
    fn drop(&mut self) {
        for (limit, value) in LIMITS.iter().zip(&self.before) {
            let _ = fs::write(file(limit), value);
        }
    }
}
