//! The word of virtio-blk disks: `cache_type`, which the driver reads from the device's own configuration (virtio
//! specification, *Block Device*, writeback) and not from what somebody told the kernel.
//!
//! It is the hypervisor's word. The surprise: a guest can set it too, and then the hypervisor obeys; whether it obeys
//! a flush is another question, which no guest can answer.

use super::Word;
use crate::durability::ask::Ask;
use crate::facts::Subject;
use crate::facts::catalog::device::{self, CacheType};

/// What a disk says.
pub fn word(ask: &mut Ask, disk: &Subject) -> Word {
    match ask.value(disk, &device::CACHE_TYPE).map(CacheType::holds_writes) {
        Some(true) => Word::Volatile,
        Some(false) => Word::Without("its hypervisor's word, which a guest can also set itself".to_owned()),
        None => {
            Word::Silent(format!("what the hypervisor says of the cache of {} is not known", disk.name()))
        }
    }
}

/// Notes what would settle it.
pub fn miss(ask: &mut Ask, disk: &Subject) {
    ask.miss(disk, &device::CACHE_TYPE, None);
}
