//! The kernel's protection of world-writable directories (`fs.protected_*`, sysctl/fs.rst).
//!
//! The settings are global, so only one attack at a time changes them, even across concurrent
//! runs. The guard restores them on drop. Attacks must fail with the protection and without it.

use std::fs::{self, File};

const LIMITS: [&str; 4] = ["symlinks", "hardlinks", "fifos", "regular"];

#[derive(Clone, Copy, Debug)]
pub enum FileProtection {
    Protects,
    /// No protection, which is the kernel's default.
    Permits,
}

impl FileProtection {
    pub const ALL: [Self; 2] = [Self::Protects, Self::Permits];

    pub fn apply_sysctls(self) -> SysctlGuard {
        let lock = File::open("/proc/sys/fs/protected_symlinks").unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let values = match self {
            Self::Protects => ["1", "1", "1", "2"],
            Self::Permits => ["0"; 4],
        };
        let before =
            LIMITS.map(|limit| fs::read_to_string(fs_protected_sysctl_path(limit)).unwrap());
        for (limit, value) in LIMITS.iter().zip(values) {
            fs::write(fs_protected_sysctl_path(limit), value).unwrap();
        }
        SysctlGuard {
            before,
            _lock: lock,
        }
    }
}

fn fs_protected_sysctl_path(limit: &str) -> String {
    format!("/proc/sys/fs/protected_{limit}")
}

pub struct SysctlGuard {
    before: [String; 4],
    _lock: File,
}

impl Drop for SysctlGuard {
    fn drop(&mut self) {
        for (limit, value) in LIMITS.iter().zip(&self.before) {
            let _ = fs::write(fs_protected_sysctl_path(limit), value);
        }
    }
}
