//! What can be advised. Rules name settings of this list and no others, so that a plan can join advice on one setting.
//!
//! It says where the current value is read; it does not know how to change anything. The surprise: a setting can have
//! no fact that holds its current value (the options that a file system was made with are kept nowhere).

use super::Change;
use crate::facts::catalog::{boot, device, kernel, mount, mysql, postgres, target};
use crate::facts::{KeyInfo, Scope};

/// A thing that can be advised.
#[derive(Debug)]
pub struct Setting {
    /// The name in rules, JSON and on screens.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Whether it is one value or a list of options.
    pub shape: Shape,
    /// What is changed by changing it.
    pub scope: Scope,
    /// The fact that holds its current value, where one does.
    pub current: Option<&'static KeyInfo>,
    /// Values, or options to add, that give up what a power failure would leave: never without
    /// [`Risk::DataLossIfWrong`](super::Risk::DataLossIfWrong), whatever a rule says.
    pub loses: &'static [&'static str],
}

impl Setting {
    /// Whether this change can lose data. Servers take their words in any case.
    pub fn can_lose(&self, change: &Change) -> bool {
        change.values().iter().any(|value| self.loses.iter().any(|word| word.eq_ignore_ascii_case(value)))
    }

    const fn losing(mut self, loses: &'static [&'static str]) -> Self {
        self.loses = loses;
        self
    }
}

/// Mount options that stop flushes, let the journal run ahead of the data, or give up on errors: ext4(5), nfs(5),
/// Documentation/filesystems/f2fs.rst and overlayfs.rst of the kernel.
const LOSING_OPTIONS: &[&str] = &[
    "nobarrier",
    "barrier=0",
    "barrier=none",
    "data=writeback",
    "journal_async_commit",
    "fsync_mode=nobarrier",
    "norecovery",
    "noload",
    "soft",
    "softerr",
    "volatile",
    "fsync=volatile",
];

/// How servers write that something is off, and on.
const OFF: &[&str] = &["off", "false", "no", "0"];
const ON: &[&str] = &["on", "true", "yes", "1"];

/// What values a setting has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value: `set`, `set_from`, `keep`.
    One,
    /// Several options, which advice adds and takes away: `add`, `remove`, `keep`.
    Options,
}

const fn one(
    name: &'static str,
    scope: Scope,
    current: Option<&'static KeyInfo>,
    doc: &'static str,
) -> Setting {
    Setting { name, doc, shape: Shape::One, scope, current, loses: &[] }
}

const fn options(
    name: &'static str,
    scope: Scope,
    current: Option<&'static KeyInfo>,
    doc: &'static str,
) -> Setting {
    Setting { name, doc, shape: Shape::Options, scope, current, loses: &[] }
}

/// Every setting, by area.
pub const ALL: &[Setting] = &[
    one("filesystem", Scope::Mount, Some(&mount::FSTYPE.info), "The file system type."),
    options("mkfs.options", Scope::Mount, None, "Options to make the file system with.")
        .losing(&["-O ^has_journal"]),
    options("mkfs.features", Scope::Mount, None, "Features to make the file system with (`mkfs -O`).")
        .losing(&["^has_journal"]),
    options(
        "mount.options",
        Scope::Mount,
        Some(&mount::SUPER_OPTIONS.info),
        "Options the file system is mounted with.",
    )
    .losing(LOSING_OPTIONS),
    options("boot.options", Scope::Boot, Some(&boot::OPTIONS.info), "Options the next boot will mount with.")
        .losing(LOSING_OPTIONS),
    one(
        "ext4.fast_commit",
        Scope::Mount,
        Some(&mount::EXT4_FAST_COMMIT.info),
        "ext4's fast commits, a feature of the file system.",
    ),
    options(
        "directory.attributes",
        Scope::Target,
        Some(&target::FLAGS.info),
        "Inode flags of the directory, which new files inherit (chattr(1)).",
    ),
    one(
        "space.free",
        Scope::Mount,
        Some(&mount::FREE_PERCENT.info),
        "Free space on the file system, in percent.",
    ),
    one(
        "block.write_cache",
        Scope::Device,
        Some(&device::WRITE_CACHE.info),
        "What the kernel believes of the disk's cache, which decides whether flushes are sent.",
    )
    .losing(&["write through", "none"]),
    one("block.scheduler", Scope::Device, Some(&device::SCHEDULER.info), "I/O scheduler of the disk."),
    one(
        "md.array",
        Scope::Device,
        Some(&device::MD_LEVEL.info),
        "Layout and health of a software RAID array.",
    ),
    one(
        "mount.trim",
        Scope::Mount,
        Some(&mount::TRIMMED.info),
        "What tells the device which blocks are free, and when.",
    ),
    one("zfs.sync", Scope::Mount, Some(&mount::ZFS_SYNC.info), "Whether a ZFS dataset obeys flushes.")
        .losing(&["disabled"]),
    one(
        "zfs.recordsize",
        Scope::Mount,
        Some(&mount::ZFS_RECORD.info),
        "Largest record of new files in a ZFS dataset.",
    ),
    one(
        "zfs.no_cache_flush",
        Scope::Host,
        Some(&kernel::ZFS_NO_FLUSH.info),
        "Whether ZFS leaves out the flushes that it would send to its disks.",
    )
    .losing(ON),
    one(
        "vm.dirty_background_bytes",
        Scope::Host,
        Some(&kernel::DIRTY_BACKGROUND.info),
        "Unwritten data at which the kernel begins to write in the background.",
    ),
    one("swap.placement", Scope::Target, Some(&target::SWAP_BESIDE.info), "On which disks swap lies."),
    one("database.placement", Scope::Cluster, Some(&postgres::DATA.info), "Where the database's files lie."),
    one(
        "pg.wal_sync_method",
        Scope::Cluster,
        Some(&postgres::WAL_SYNC_METHOD.info),
        "How PostgreSQL asks for its WAL to be on disk.",
    ),
    one("pg.fsync", Scope::Cluster, Some(&postgres::FSYNC.info), "Whether PostgreSQL flushes at all.")
        .losing(OFF),
    one(
        "pg.synchronous_commit",
        Scope::Cluster,
        Some(&postgres::SYNCHRONOUS_COMMIT.info),
        "Whether a commit waits for its WAL to be on disk.",
    )
    .losing(OFF),
    one(
        "pg.full_page_writes",
        Scope::Cluster,
        Some(&postgres::FULL_PAGE_WRITES.info),
        "Whether whole pages go into the WAL after a checkpoint, against torn pages.",
    )
    .losing(OFF),
    one(
        "pg.wal_init_zero",
        Scope::Cluster,
        Some(&postgres::WAL_INIT_ZERO.info),
        "Whether new WAL files are filled with zeros first.",
    ),
    one(
        "pg.wal_recycle",
        Scope::Cluster,
        Some(&postgres::WAL_RECYCLE.info),
        "Whether old WAL files are renamed and overwritten.",
    ),
    one(
        "pg.commit_delay",
        Scope::Cluster,
        Some(&postgres::COMMIT_DELAY.info),
        "How long a commit waits for others to share its flush, in microseconds.",
    ),
    one(
        "pg.data_sync_retry",
        Scope::Cluster,
        Some(&postgres::DATA_SYNC_RETRY.info),
        "Whether PostgreSQL tries again after a flush of data files failed.",
    )
    .losing(ON),
    one(
        "pg.debug_io_direct",
        Scope::Cluster,
        Some(&postgres::DEBUG_IO_DIRECT.info),
        "Which files PostgreSQL opens for direct I/O; a developer's option.",
    ),
    one(
        "pg.wal_compression",
        Scope::Cluster,
        Some(&postgres::WAL_COMPRESSION.info),
        "Whether and how whole pages in the WAL are compressed.",
    ),
    one(
        "pg.checkpoint_completion_target",
        Scope::Cluster,
        Some(&postgres::CHECKPOINT_TARGET.info),
        "Over which share of the time between checkpoints one is spread.",
    ),
    one(
        "pg.checkpoint_flush_after",
        Scope::Cluster,
        Some(&postgres::CHECKPOINT_FLUSH_AFTER.info),
        "How much a checkpoint writes before it asks the kernel to write it too.",
    ),
    one(
        "pg.recovery_init_sync_method",
        Scope::Cluster,
        Some(&postgres::RECOVERY_INIT_SYNC.info),
        "How the data directory is flushed before recovery from a crash.",
    )
    .losing(&["syncfs"]),
    one(
        "pg.effective_io_concurrency",
        Scope::Cluster,
        Some(&postgres::IO_CONCURRENCY.info),
        "How many reads a session asks for ahead.",
    ),
    one(
        "pg.random_page_cost",
        Scope::Cluster,
        Some(&postgres::RANDOM_PAGE_COST.info),
        "What the planner thinks a page read at random costs, in pages read in sequence.",
    ),
    one(
        "pg.file_extend_method",
        Scope::Cluster,
        Some(&postgres::FILE_EXTEND_METHOD.info),
        "How tables are extended by many pages at once.",
    ),
    one(
        "mysql.innodb_flush_log_at_trx_commit",
        Scope::Cluster,
        Some(&mysql::FLUSH_LOG.info),
        "Whether InnoDB flushes its redo log before it reports a commit.",
    )
    .losing(&["0", "2"]),
    one(
        "mysql.sync_binlog",
        Scope::Cluster,
        Some(&mysql::SYNC_BINLOG.info),
        "After how many commits the binary log is flushed; 0 is never.",
    )
    .losing(&["0"]),
    one(
        "mysql.innodb_flush_method",
        Scope::Cluster,
        Some(&mysql::FLUSH_METHOD.info),
        "How InnoDB writes and flushes its files.",
    )
    .losing(&["nosync", "littlesync", "O_DIRECT_NO_FSYNC"]),
    one(
        "mysql.innodb_doublewrite",
        Scope::Cluster,
        Some(&mysql::DOUBLEWRITE.info),
        "Whether InnoDB writes pages twice, against torn pages.",
    )
    .losing(&["off", "false", "0", "detect_only", "fast"]),
    one(
        "mysql.innodb_io_capacity",
        Scope::Cluster,
        Some(&mysql::IO_CAPACITY.info),
        "How many operations a second InnoDB spends in the background.",
    ),
    one(
        "mysql.innodb_flush_neighbors",
        Scope::Cluster,
        Some(&mysql::FLUSH_NEIGHBORS.info),
        "Whether InnoDB writes neighbouring pages together.",
    ),
    one(
        "mysql.innodb_checksum_algorithm",
        Scope::Cluster,
        Some(&mysql::CHECKSUM.info),
        "How InnoDB's pages are made to tell that they are damaged.",
    )
    .losing(&["none", "strict_none"]),
    one(
        "mysql.innodb_use_fdatasync",
        Scope::Cluster,
        Some(&mysql::USE_FDATASYNC.info),
        "Whether InnoDB flushes with fdatasync instead of fsync.",
    ),
    one(
        "mysql.innodb_data_file_buffering",
        Scope::Cluster,
        Some(&mysql::DATA_FILE_BUFFERING.info),
        "Whether MariaDB's data files pass through the kernel's cache.",
    ),
    one(
        "mysql.innodb_log_write_ahead_size",
        Scope::Cluster,
        Some(&mysql::LOG_WRITE_AHEAD.info),
        "The size to which MySQL fills up writes of its redo log.",
    ),
    one(
        "pg.data_checksums",
        Scope::Cluster,
        Some(&postgres::DATA_CHECKSUMS.info),
        "Whether data pages carry checksums.",
    ),
];

/// The setting of this name.
pub fn find(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_current_values_are_facts() {
        let mut seen = std::collections::BTreeSet::new();
        for setting in ALL {
            assert!(seen.insert(setting.name), "{} twice", setting.name);
            assert!(setting.doc.ends_with('.'), "{}: a sentence, please", setting.name);
            if let Some(fact) = setting.current {
                assert!(crate::facts::catalog::find(fact.name).is_some(), "{}", fact.name);
            }
        }
    }
}
