//! The values that a command would set, judged by what the settings say of them: mount options, attributes of sysfs,
//! sysctls.
//!
//! Only [`crate::settings`] knows what can lose data. The further words that are understood are listed here, so that a
//! new or misspelt word is not taken for a harmless one.

use super::judgement::CommandEffect as J;
use super::judgement::{CommandEffect, all};
use super::words::Word;
use crate::settings::{self, Setting};

/// Options that are understood with any value, or without one.
const OPTIONS: &[&str] = &[
    "acl",
    "allocsize",
    "atime",
    "attr2",
    "auto",
    "auto_da_alloc",
    "autodefrag",
    "commit",
    "compress",
    "compress-force",
    "defaults",
    "delalloc",
    "dev",
    "diratime",
    "dirsync",
    "discard",
    "exec",
    "flushoncommit",
    "grpquota",
    "ikeep",
    "init_itable",
    "inode64",
    "inode_readahead_blks",
    "journal_checksum",
    "largeio",
    "lazytime",
    "logbsize",
    "logbufs",
    "max_batch_time",
    "max_inline",
    "min_batch_time",
    "noatime",
    "noauto",
    "noauto_da_alloc",
    "noautodefrag",
    "nodelalloc",
    "nodev",
    "nodiratime",
    "nodiscard",
    "noexec",
    "nofail",
    "nolazytime",
    "noquota",
    "norelatime",
    "nossd",
    "nosuid",
    "notreelog",
    "nouser",
    "nouuid",
    "prjquota",
    "relatime",
    "remount",
    "ro",
    "rw",
    "space_cache",
    "ssd",
    "strictatime",
    "stripe",
    "subvol",
    "subvolid",
    "suid",
    "swalloc",
    "sync",
    "thread_pool",
    "treelog",
    "usrquota",
    "wsync",
    "x-systemd.automount",
    "x-systemd.device-timeout",
    "x-systemd.mount-timeout",
    "x-systemd.requires",
    "_netdev",
];

/// Options whose value matters, and the values that are understood.
const VALUED: &[&str] = &[
    "barrier",
    "barrier=1",
    "data=ordered",
    "data=journal",
    "errors=remount-ro",
    "errors=panic",
    "fsync_mode=posix",
    "fsync_mode=strict",
];

/// Attributes of a disk's queue that affect its speed, not its flushes.
const QUEUE: &[&str] = &[
    "read_ahead_kb",
    "nr_requests",
    "nomerges",
    "rq_affinity",
    "max_sectors_kb",
    "wbt_lat_usec",
    "rotational",
    "iostats",
];

/// Sysctls that affect when the kernel starts to write, not its flushes.
const SYSCTLS: &[&str] = &[
    "vm.dirty_background_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_ratio",
    "vm.dirty_writeback_centisecs",
    "vm.nr_hugepages",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
];

/// A setting with a value.
pub fn given(setting: &'static Setting, value: &Word) -> CommandEffect {
    let name = setting.name;
    match value.text() {
        None if setting.loses().next().is_none() => J::Harmless,
        None => J::strange(format!("a fact decides {name}")),
        Some(text) if setting.can_lose(std::slice::from_ref(&text)) => {
            J::loses(value.range(), format!("{name}: {text} can lose data"))
        }
        Some(text) if setting.can_be(&text) => J::Harmless,
        Some(text) => J::strange(format!("walwise does not know `{text}` as a value of {name}")),
    }
}

/// The same by the setting's name.
pub fn named(name: &str, value: &Word) -> CommandEffect {
    match settings::find(name) {
        Some(setting) => given(setting, value),
        None => J::strange(format!("walwise does not know the setting {name}")),
    }
}

/// Mount options in one word.
pub fn options(word: &Word) -> CommandEffect {
    all(word.split(',').iter().map(option))
}

fn option(word: &Word) -> CommandEffect {
    let Some(setting) = settings::find("mount.options") else {
        return J::strange("walwise knows no mount options");
    };
    let Some(text) = word.text() else { return J::strange("a fact decides a mount option") };
    let judged = given(setting, word);
    let known =
        OPTIONS.contains(&text.split('=').next().unwrap_or_default()) || VALUED.contains(&text.as_str());
    if known {
        return judged;
    }
    judged.and(J::strange(format!("walwise does not know the mount option `{text}`")))
}

/// A sysctl with a value.
pub fn sysctl(name: &str) -> CommandEffect {
    if SYSCTLS.contains(&name) {
        return J::Harmless;
    }
    J::strange(format!("walwise does not know what the sysctl {name} does"))
}

/// A value written into a file.
pub fn written(path: &Word, value: &Word) -> CommandEffect {
    let shape = path.shape();
    let parts: Vec<&str> = shape.split('/').collect();
    let plain = |name: &str| !name.is_empty() && name != "." && name != "..";
    match parts.as_slice() {
        ["", "dev", "null"] => J::Harmless,
        ["", "dev", ..] => J::loses(path.range(), "what is written to a device destroys what is on it"),
        ["", "sys", "block", disk, "queue", name] | ["", "sys", "class", "block", disk, "queue", name]
            if plain(disk) =>
        {
            let setting = settings::find(&format!("block.{name}"));
            match setting.filter(|setting| setting.kind.is_of_queue()) {
                Some(setting) => given(setting, value),
                None if QUEUE.contains(name) => J::Harmless,
                None => J::strange(format!("walwise does not know what the attribute {name} does")),
            }
        }
        ["", "sys", "class", "scsi_disk", _, "cache_type"] => {
            let believed = value.behind("temporary ").unwrap_or_else(|| value.clone());
            named("block.write_cache", &believed).and(J::strange("it changes what a disk says of its cache"))
        }
        ["", "sys", "module", "zfs", "parameters", "zfs_nocacheflush" | "zil_nocacheflush"] => {
            named("zfs.no_cache_flush", value)
        }
        ["", "proc", "sys", area, name] => sysctl(&format!("{area}.{name}")),
        _ => J::strange(format!("it writes {}", shape.replace('\0', "…"))),
    }
}
