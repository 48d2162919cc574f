//! The statement of virtio-blk disks: `cache_type`, which the driver reads from the device's own configuration (virtio
//! specification, *Block Device*, writeback), whatever the kernel was told.
//!
//! It is the hypervisor's statement. A guest can set it too, and the hypervisor then obeys. Whether the hypervisor
//! honours a flush is another question, which no guest can answer.

use super::statement::CacheStatement;
use crate::durability::ask::Ask;
use crate::facts::Subject;
use crate::facts::catalog::device::{self, CacheType};

pub fn word(ask: &mut Ask, disk: &Subject) -> CacheStatement {
    match ask.value(disk, &device::CACHE_TYPE).map(CacheType::holds_writes) {
        Some(true) => CacheStatement::Volatile,
        Some(false) => {
            CacheStatement::Without("as reported by its hypervisor; a guest can also set it".to_owned())
        }
        None => CacheStatement::Silent(format!(
            "it is unknown what the hypervisor reports of the cache of {}",
            disk.name()
        )),
    }
}

/// Records the facts that would settle it as missing.
pub fn miss(ask: &mut Ask, disk: &Subject) {
    ask.miss(disk, &device::CACHE_TYPE, None);
}
