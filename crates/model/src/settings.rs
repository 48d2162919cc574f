//! The settings that walwise can give advice about. Rules use only settings of this list, so that a
//! plan can combine the advice of several rules about one setting.
//!
//! Each setting names the fact with its current value. The options used to create a file system
//! have no such fact, because nothing stores them. Code that acts on a setting matches its
//! [`SettingKind`], never its name.
#![warn(clippy::wildcard_enum_match_arm)]

mod filesystem;
mod kind;
mod value_words;

use std::fmt;

use SettingKind::{
    BootOptions, DirectoryFlags, FastCommit, Filesystem, InitDb, MkfsFeatures, MkfsOptions,
    MountOptions, Mysql, Other, Placement, Postgres, Queue, Scheduler, Trim,
};
use serde::{Serialize, Serializer};

use crate::facts::catalog::{boot, device, kernel, mount, mysql, postgres, target};
use crate::facts::{ConfigFileSyntax, Key, KeyInfo, Scope, ServerArea, Value, ValueKind};
use crate::servers;

pub use filesystem::NewFilesystem;
pub use kind::{PresentOrBootMount, SettingKind};
use value_words::{OFF, ON, UNSAFE_OPTIONS, normalise_value_number};

#[derive(Debug)]
pub struct Setting {
    pub name: &'static str,
    pub kind: SettingKind,
    pub doc: &'static str,
    pub shape: ValueShape,
    pub scope: Scope,
    /// The fact with the current value; `None` if no fact holds the value.
    pub current: Option<&'static KeyInfo>,
    /// Empty for server settings, whose unsafe values are in `servers.toml`.
    unsafe_values: &'static [&'static str],
}

impl Setting {
    /// Values, or options to add, that give up durability. No rule may advise such a value without
    /// `Risk::DataLossIfWrong`.
    pub fn unsafe_values(&self) -> impl Iterator<Item = &'static str> + use<> {
        let table = servers::find_unsafe_values(self.name)
            .map(|losing| losing.values.as_slice())
            .unwrap_or_default();
        self.unsafe_values
            .iter()
            .copied()
            .chain(table.iter().map(String::as_str))
    }

    /// Words are compared without regard to case, numbers by value. If the safe values of a setting
    /// are listed, every other value can lose data.
    pub fn can_lose_data(&self, values: &[String]) -> bool {
        let keeping =
            servers::find_unsafe_values(self.name).and_then(|losing| losing.keeps.as_ref());
        values.iter().any(|value| {
            let parts = match self.shape {
                ValueShape::Single => vec![value.as_str()],
                ValueShape::Options => value.split(',').collect(),
            };
            let mut parts = parts
                .into_iter()
                .map(|part| (part.trim(), normalise_value_number(part.trim())));
            parts.any(|(part, plain)| {
                // An option is also compared without its value: an option that is listed without a
                // value is unsafe with any value.
                let bare = part.split('=').next().unwrap_or(part);
                let loses = |word: &&str| {
                    [part, plain.as_str(), bare]
                        .iter()
                        .any(|one| word.eq_ignore_ascii_case(one))
                };
                let keeps = |words: &Vec<String>| words.contains(&plain);
                self.unsafe_values().any(|word| loses(&word))
                    || keeping.is_some_and(|words| !keeps(words))
            })
        })
    }

    /// Whether removing these options can lose data: because `^has_journal` is an unsafe value, the
    /// removal of `has_journal` can lose data.
    pub fn can_removal_lose_data(&self, removed: &[String]) -> bool {
        removed.iter().any(|one| {
            self.unsafe_values()
                .any(|word| word.strip_prefix('^') == Some(one.as_str()))
        })
    }

    /// Whether the value parses as a value of the setting's `current` fact. Always true for text,
    /// versions and lists, and for a setting without such a fact.
    pub fn is_valid_value(&self, value: &str) -> bool {
        let number = |value: &str| {
            normalise_value_number(value)
                .parse::<f64>()
                .is_ok_and(f64::is_finite)
        };
        let any_case = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(value));
        match self.current.map(|fact| fact.kind) {
            Some(ValueKind::Bool) => any_case(ON) || any_case(OFF),
            Some(ValueKind::Choice(words)) => any_case(words),
            Some(ValueKind::Count) => normalise_value_number(value).parse::<u64>().is_ok(),
            Some(ValueKind::Number) => number(value),
            Some(ValueKind::Bytes | ValueKind::Micros) => number(
                value
                    .trim_end_matches(|c: char| c.is_ascii_alphabetic())
                    .trim_end(),
            ),
            Some(
                ValueKind::Text | ValueKind::Version | ValueKind::List | ValueKind::Choices(_),
            )
            | None => true,
        }
    }

    pub fn format_config_value(&self, value: &Value) -> String {
        let is_measure = self.kind.server_area().is_some_and(|area| {
            matches!(
                area.database_profile().syntax,
                ConfigFileSyntax::PostgresConf
            )
        });
        match (value, self.current.map(|fact| fact.kind)) {
            (Value::Bool(true), _) => "on".to_owned(),
            (Value::Bool(false), _) => "off".to_owned(),
            (Value::Whole(bytes), Some(ValueKind::Bytes)) if is_measure => {
                servers::format_postgres_size(*bytes)
            }
            (Value::Number(micros), Some(ValueKind::Micros)) if is_measure => {
                servers::format_postgres_time(*micros)
            }
            (value, _) => value.to_string(),
        }
    }

    /// The value with its unit: sizes of MySQL as in option files (`4G`), I/O timeouts with `ms`.
    /// All other values stay as they are.
    pub fn format_with_unit(&self, value: &str) -> String {
        let bytes = value.parse().ok().filter(|_| {
            self.kind.server_area() == Some(ServerArea::Mysql)
                && self
                    .current
                    .is_some_and(|fact| fact.kind == ValueKind::Bytes)
        });
        match bytes {
            Some(bytes) => servers::format_mysql_size(bytes),
            None if self
                .current
                .is_some_and(|fact| fact.id == device::IO_TIMEOUT_MS.id()) =>
            {
                format!("{value} ms")
            }
            None => value.to_owned(),
        }
    }

    /// The name that the server or the kernel uses: `wal_sync_method` for `pg.wal_sync_method`.
    pub fn name_without_area(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, own)| own)
    }

    const fn with_unsafe_values(mut self, loses: &'static [&'static str]) -> Self {
        self.unsafe_values = loses;
        self
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Setting {}

impl PartialOrd for Setting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Setting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name.cmp(other.name)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueShape {
    /// One value; rules use `set`, `set_from` and `keep`.
    Single,
    /// A list of options; rules use `add`, `remove` and `keep`.
    Options,
}

const fn single_setting_row(
    name: &'static str,
    kind: SettingKind,
    scope: Scope,
    current: Option<&'static KeyInfo>,
    doc: &'static str,
) -> Setting {
    Setting {
        name,
        kind,
        doc,
        shape: ValueShape::Single,
        scope,
        current,
        unsafe_values: &[],
    }
}

const fn options_setting_row(
    name: &'static str,
    kind: SettingKind,
    scope: Scope,
    current: Option<&'static KeyInfo>,
    doc: &'static str,
) -> Setting {
    Setting {
        shape: ValueShape::Options,
        ..single_setting_row(name, kind, scope, current, doc)
    }
}

const fn server_setting_row(
    name: &'static str,
    kind: SettingKind,
    current: &'static KeyInfo,
    doc: &'static str,
) -> Setting {
    single_setting_row(name, kind, Scope::Cluster, Some(current), doc)
}

pub const ALL: &[Setting] = &[
    single_setting_row(
        "filesystem",
        Filesystem,
        Scope::Mount,
        Some(&mount::FSTYPE.info),
        "The file system type.",
    )
    .with_unsafe_values(&[
        "tmpfs", "ramfs", "ext2", "overlay", "vfat", "exfat", "msdos",
    ]),
    options_setting_row(
        "mkfs.options",
        MkfsOptions,
        Scope::Mount,
        None,
        "Options for creating the file system.",
    )
    .with_unsafe_values(&["-O ^has_journal"]),
    options_setting_row(
        "mkfs.features",
        MkfsFeatures,
        Scope::Mount,
        None,
        "Features for creating the file system (`mkfs -O`).",
    )
    .with_unsafe_values(&["^has_journal"]),
    options_setting_row(
        "mount.options",
        MountOptions,
        Scope::Mount,
        Some(&mount::SUPER_OPTIONS.info),
        "Mount options of the file system.",
    )
    .with_unsafe_values(UNSAFE_OPTIONS),
    options_setting_row(
        "boot.options",
        BootOptions,
        Scope::Boot,
        Some(&boot::OPTIONS.info),
        "Mount options at the next boot.",
    )
    .with_unsafe_values(UNSAFE_OPTIONS),
    single_setting_row(
        "ext4.fast_commit",
        FastCommit,
        Scope::Mount,
        Some(&mount::EXT4_FAST_COMMIT.info),
        "The fast_commit feature of an ext4 file system.",
    ),
    options_setting_row(
        "directory.attributes",
        DirectoryFlags,
        Scope::Target,
        Some(&target::FLAGS.info),
        "Inode flags of the directory, which new files inherit (chattr(1)).",
    ),
    single_setting_row(
        "space.free",
        Other,
        Scope::Mount,
        Some(&mount::FREE_PERCENT.info),
        "Free space on the file system, in percent.",
    ),
    single_setting_row(
        "block.write_cache",
        Queue,
        Scope::Device,
        Some(&device::WRITE_CACHE.info),
        "The kernel's view of the disk's cache, which determines whether flushes are sent.",
    )
    .with_unsafe_values(&["write through", "none"]),
    single_setting_row(
        "block.scheduler",
        Scheduler,
        Scope::Device,
        Some(&device::SCHEDULER.info),
        "I/O scheduler of the disk.",
    ),
    single_setting_row(
        "block.io_timeout",
        Queue,
        Scope::Device,
        Some(&device::IO_TIMEOUT_MS.info),
        "Time after which the kernel gives up on a request to the disk, in milliseconds.",
    ),
    single_setting_row(
        "md.array",
        Other,
        Scope::Device,
        Some(&device::MD_MEMBERS.info),
        "Layout and health of a software RAID array.",
    ),
    single_setting_row(
        "mount.trim",
        Trim,
        Scope::Mount,
        Some(&mount::TRIMMED.info),
        "How and when free blocks are discarded on the device.",
    ),
    single_setting_row(
        "zfs.sync",
        Other,
        Scope::Mount,
        Some(&mount::ZFS_SYNC.info),
        "Whether a ZFS dataset honours flushes.",
    )
    .with_unsafe_values(&["disabled"]),
    single_setting_row(
        "zfs.recordsize",
        Other,
        Scope::Mount,
        Some(&mount::ZFS_RECORD.info),
        "Largest record of new files in a ZFS dataset.",
    ),
    single_setting_row(
        "zfs.no_cache_flush",
        Other,
        Scope::Host,
        Some(&kernel::ZFS_NO_FLUSH.info),
        "Whether ZFS omits the flushes to its disks.",
    )
    .with_unsafe_values(ON),
    single_setting_row(
        "vm.dirty_background_bytes",
        Other,
        Scope::Host,
        Some(&kernel::DIRTY_BACKGROUND.info),
        "Dirty data at which background writeback starts.",
    ),
    single_setting_row(
        "swap.placement",
        Other,
        Scope::Target,
        Some(&target::SWAP_BESIDE.info),
        "The disks that contain swap space.",
    ),
    single_setting_row(
        "database.placement",
        Placement,
        Scope::Cluster,
        Some(&postgres::DATA.info),
        "The location of the database's files.",
    ),
    server_setting_row(
        "pg.wal_sync_method",
        Postgres,
        &postgres::WAL_SYNC_METHOD.info,
        "How PostgreSQL flushes its WAL to disk.",
    ),
    server_setting_row(
        "pg.fsync",
        Postgres,
        &postgres::FSYNC.info,
        "Whether PostgreSQL flushes at all.",
    ),
    server_setting_row(
        "pg.synchronous_commit",
        Postgres,
        &postgres::SYNCHRONOUS_COMMIT.info,
        "Whether a commit waits for its WAL to be on disk.",
    ),
    server_setting_row(
        "pg.full_page_writes",
        Postgres,
        &postgres::FULL_PAGE_WRITES.info,
        "Whether full pages are written to the WAL after a checkpoint, to protect against torn pages.",
    ),
    server_setting_row(
        "pg.wal_init_zero",
        Postgres,
        &postgres::WAL_INIT_ZERO.info,
        "Whether new WAL files are filled with zeros first.",
    ),
    server_setting_row(
        "pg.wal_recycle",
        Postgres,
        &postgres::WAL_RECYCLE.info,
        "Whether old WAL files are renamed and overwritten.",
    ),
    server_setting_row(
        "pg.commit_delay",
        Postgres,
        &postgres::COMMIT_DELAY.info,
        "How long a commit waits for others to share its flush, in microseconds.",
    ),
    server_setting_row(
        "pg.data_sync_retry",
        Postgres,
        &postgres::DATA_SYNC_RETRY.info,
        "Whether PostgreSQL retries a failed flush of data files.",
    ),
    server_setting_row(
        "pg.debug_io_direct",
        Postgres,
        &postgres::DEBUG_IO_DIRECT.info,
        "Which files PostgreSQL opens for direct I/O; a developer option.",
    ),
    server_setting_row(
        "pg.max_wal_size",
        Postgres,
        &postgres::MAX_WAL_SIZE.info,
        "How large the WAL may grow before it forces a checkpoint; a soft limit.",
    ),
    server_setting_row(
        "pg.max_slot_wal_keep_size",
        Postgres,
        &postgres::SLOT_WAL_LIMIT.info,
        "How much WAL slots may retain at a checkpoint before they are invalidated; -1 means no limit.",
    ),
    server_setting_row(
        "replication.slot",
        Other,
        &postgres::INACTIVE_SLOT.info,
        "The inactive replication slot that retains the most WAL.",
    ),
    single_setting_row(
        "wal.archiver",
        Other,
        Scope::Cluster,
        None,
        "Whether the archiver succeeds.",
    ),
    single_setting_row(
        "replication.standby",
        Other,
        Scope::Cluster,
        None,
        "The standbys that a commit may wait for.",
    ),
    server_setting_row(
        "pg.min_wal_size",
        Postgres,
        &postgres::MIN_WAL_SIZE.info,
        "The size up to which old WAL files are kept for recycling.",
    ),
    server_setting_row(
        "pg.checkpoint_timeout",
        Postgres,
        &postgres::CHECKPOINT_TIMEOUT.info,
        "The longest time between two checkpoints.",
    ),
    server_setting_row(
        "pg.wal_buffers",
        Postgres,
        &postgres::WAL_BUFFERS.info,
        "Memory for WAL that has not been written yet; -1 lets the server choose.",
    ),
    server_setting_row(
        "pg.wal_compression",
        Postgres,
        &postgres::WAL_COMPRESSION.info,
        "Whether and how full-page images in the WAL are compressed.",
    ),
    server_setting_row(
        "pg.checkpoint_completion_target",
        Postgres,
        &postgres::CHECKPOINT_TARGET.info,
        "The share of the time between checkpoints over which a checkpoint is spread.",
    ),
    server_setting_row(
        "pg.checkpoint_flush_after",
        Postgres,
        &postgres::CHECKPOINT_FLUSH_AFTER.info,
        "How much a checkpoint writes before it starts kernel writeback.",
    ),
    server_setting_row(
        "pg.recovery_init_sync_method",
        Postgres,
        &postgres::RECOVERY_INIT_SYNC.info,
        "How the data directory is flushed before recovery from a crash.",
    ),
    server_setting_row(
        "pg.effective_io_concurrency",
        Postgres,
        &postgres::IO_CONCURRENCY.info,
        "How many reads a session issues in advance.",
    ),
    server_setting_row(
        "pg.file_extend_method",
        Postgres,
        &postgres::FILE_EXTEND_METHOD.info,
        "How tables are extended by many pages at once.",
    ),
    single_setting_row(
        "replication.binary_logs",
        Other,
        Scope::Cluster,
        None,
        "The binary logs, which stay until they expire or are purged.",
    ),
    server_setting_row(
        "mysql.innodb_flush_log_at_trx_commit",
        Mysql,
        &mysql::FLUSH_LOG.info,
        "Whether InnoDB flushes its redo log before it reports a commit.",
    ),
    server_setting_row(
        "mysql.sync_binlog",
        Mysql,
        &mysql::SYNC_BINLOG.info,
        "The number of commits per flush of the binary log; 0 disables these flushes.",
    ),
    server_setting_row(
        "mysql.innodb_flush_method",
        Mysql,
        &mysql::FLUSH_METHOD.info,
        "How InnoDB writes and flushes its files.",
    ),
    server_setting_row(
        "mysql.innodb_doublewrite",
        Mysql,
        &mysql::DOUBLEWRITE.info,
        "Whether InnoDB writes each page twice, to protect against torn pages.",
    ),
    server_setting_row(
        "mysql.innodb_io_capacity",
        Mysql,
        &mysql::IO_CAPACITY.info,
        "InnoDB's background I/O operations per second.",
    ),
    server_setting_row(
        "mysql.innodb_flush_neighbors",
        Mysql,
        &mysql::FLUSH_NEIGHBORS.info,
        "Whether InnoDB writes neighbouring pages together.",
    ),
    server_setting_row(
        "mysql.innodb_checksum_algorithm",
        Mysql,
        &mysql::CHECKSUM.info,
        "How InnoDB detects damaged pages.",
    ),
    server_setting_row(
        "mysql.innodb_redo_log_capacity",
        Mysql,
        &mysql::REDO_CAPACITY.info,
        "The size of MySQL's redo log, in bytes.",
    ),
    server_setting_row(
        "mysql.innodb_log_file_size",
        Mysql,
        &mysql::LOG_FILE_SIZE.info,
        "The size of each redo log file, in bytes; MariaDB has one file.",
    ),
    server_setting_row(
        "mysql.innodb_log_buffer_size",
        Mysql,
        &mysql::LOG_BUFFER_SIZE.info,
        "Memory for redo that has not been written yet, in bytes.",
    ),
    server_setting_row(
        "mysql.max_binlog_size",
        Mysql,
        &mysql::MAX_BINLOG_SIZE.info,
        "The size at which the binary log rotates, in bytes.",
    ),
    server_setting_row(
        "mysql.binlog_commit_wait_count",
        Mysql,
        &mysql::BINLOG_WAIT_COUNT.info,
        "The number of commits to wait for before the binary log is flushed.",
    ),
    server_setting_row(
        "mysql.innodb_use_fdatasync",
        Mysql,
        &mysql::USE_FDATASYNC.info,
        "Whether InnoDB flushes with fdatasync instead of fsync.",
    ),
    server_setting_row(
        "mysql.innodb_data_file_buffering",
        Mysql,
        &mysql::DATA_FILE_BUFFERING.info,
        "Whether MariaDB's data files pass through the kernel's cache.",
    ),
    server_setting_row(
        "mysql.innodb_log_write_ahead_size",
        Mysql,
        &mysql::LOG_WRITE_AHEAD.info,
        "The size to which MySQL pads writes of its redo log.",
    ),
    server_setting_row(
        "pg.wal_segment_size",
        InitDb,
        &postgres::WAL_SEGMENT_SIZE.info,
        "The size of a WAL file, chosen when a cluster is created.",
    ),
    server_setting_row(
        "pg.data_checksums",
        InitDb,
        &postgres::DATA_CHECKSUMS.info,
        "Whether data pages carry checksums.",
    ),
];

pub fn find_by_fact<T>(fact: &Key<T>) -> Option<&'static Setting> {
    ALL.iter().find(|setting| {
        setting
            .current
            .is_some_and(|current| current.name == fact.name())
    })
}

pub fn find_by_name(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_kinds_match_their_area() {
        for setting in ALL {
            assert_eq!(
                crate::facts::server_area_of_name(setting.name),
                setting.kind.server_area(),
                "{}",
                setting.name
            );
            let area = match setting.kind {
                Postgres | InitDb | Mysql => continue,
                Scheduler | Queue => "block",
                MkfsOptions | MkfsFeatures => "mkfs",
                Filesystem | MountOptions | BootOptions | FastCommit | DirectoryFlags | Trim
                | Placement | Other => {
                    assert!(
                        !["block.", "mkfs."]
                            .iter()
                            .any(|area| setting.name.starts_with(area))
                    );
                    continue;
                }
            };
            assert_eq!(
                setting.name,
                format!("{area}.{}", setting.name_without_area())
            );
        }
    }

    #[test]
    fn names_are_unique_and_current_values_are_facts() {
        let mut seen = std::collections::BTreeSet::new();
        for name in servers::server_settings_table()
            .loses
            .iter()
            .flat_map(|row| &row.names)
        {
            assert!(
                find_by_name(name).is_some_and(|setting| setting.unsafe_values().next().is_some()),
                "{name}"
            );
        }
        for setting in ALL {
            assert!(seen.insert(setting.name), "{} twice", setting.name);
            assert!(
                setting.doc.ends_with('.'),
                "{}: a sentence, please",
                setting.name
            );
            if let Some(fact) = setting.current {
                assert!(
                    crate::facts::catalog::find_by_name(fact.name).is_some(),
                    "{}",
                    fact.name
                );
            }
        }
    }
}
