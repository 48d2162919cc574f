//! MySQL and MariaDB: their directories, and the settings that affect storage. Settings have the
//! names of the manuals.

facts! {
    /// Server version, from the program that is running or installed.
    VERSION: Version = Cluster "mysql.version";
    /// Whether a server runs on the data directory now.
    RUNNING: bool = Cluster "mysql.running";
    /// Display name, such as `mariadb 10.11 in /var/lib/mysql`.
    NAME: String = Cluster "mysql.name";
    /// Data directory of the server (datadir).
    DATA: String = Cluster "mysql.data_directory";
    /// Directory of InnoDB's system tablespace (innodb_data_home_dir).
    INNODB_DATA: String = Cluster "mysql.innodb_data_directory";
    /// Directory of InnoDB's redo log (innodb_log_group_home_dir).
    REDO: String = Cluster "mysql.redo_directory";
    /// Directory of InnoDB's undo tablespaces (innodb_undo_directory), if there are such
    /// tablespaces.
    UNDO: String = Cluster "mysql.undo_directory";
    /// Directory of the binary log (log_bin), if the server writes a binary log.
    BINLOG: String = Cluster "mysql.binlog_directory";
    /// Directory of InnoDB's doublewrite files (innodb_doublewrite_dir), or of the system
    /// tablespace if that holds the doublewrite pages.
    DOUBLEWRITE_DIR: String = Cluster "mysql.doublewrite_directory";
    /// Owner of the data directory.
    USER: String = Cluster "mysql.user";
    /// Socket on which the running server answered.
    SOCKET: String = Cluster "mysql.socket";
    /// A preloaded library that makes fsync do nothing (libeatmydata), from the server's
    /// environment.
    FSYNC_DISABLED_BY: String = Cluster "mysql.fsync_disabled_by";
    /// `innodb_flush_method` in force: how InnoDB opens and flushes its files.
    FLUSH_METHOD: InnodbFlushMethod = Cluster "mysql.innodb_flush_method";
    /// `innodb_flush_log_at_trx_commit` in force: reported by a running server, otherwise from its
    /// files.
    FLUSH_LOG: u64 = Cluster "mysql.innodb_flush_log_at_trx_commit";
    /// `innodb_flush_log_at_timeout` in force: seconds between flushes of the redo log if commits
    /// do not wait for a flush.
    FLUSH_LOG_TIMEOUT: u64 = Cluster "mysql.innodb_flush_log_at_timeout";
    /// `sync_binlog` in force: reported by a running server, otherwise from its files.
    SYNC_BINLOG: u64 = Cluster "mysql.sync_binlog";
    /// Whether the binary log is written (`log_bin`).
    LOG_BIN: bool = Cluster "mysql.log_bin";
    /// `binlog_storage_engine` in force (MariaDB 12.3 and later): the storage engine that holds the
    /// binary log; empty if the server writes binary log files.
    BINLOG_ENGINE: String = Cluster "mysql.binlog_storage_engine";
    /// `innodb_doublewrite` in force: `on`, `off`, `detect_only` (MySQL 8.0.30 and later), `fast`
    /// (MariaDB 11 and later).
    DOUBLEWRITE: DoublewriteMode = Cluster "mysql.innodb_doublewrite";
    /// `innodb_checksum_algorithm` in force: how damaged pages are detected; `none` detects none.
    CHECKSUM: PageChecksum = Cluster "mysql.innodb_checksum_algorithm";
    /// `innodb_io_capacity` in force, in operations per second.
    IO_CAPACITY: u64 = Cluster "mysql.innodb_io_capacity";
    /// `innodb_io_capacity_max` in force, if set.
    IO_CAPACITY_MAX: u64 = Cluster "mysql.innodb_io_capacity_max";
    /// `innodb_page_size` in force, chosen when the data directory was created.
    PAGE_SIZE: u64 = Cluster "mysql.innodb_page_size" Bytes;
    /// `innodb_use_native_aio` in force: whether InnoDB uses Linux asynchronous I/O.
    NATIVE_AIO: bool = Cluster "mysql.innodb_use_native_aio";
    /// `innodb_flush_neighbors` in force: 0, 1 or 2.
    FLUSH_NEIGHBORS: u64 = Cluster "mysql.innodb_flush_neighbors";
    /// `innodb_redo_log_capacity` in force, if set (MySQL 8.0.30 and later).
    REDO_CAPACITY: u64 = Cluster "mysql.innodb_redo_log_capacity" Bytes;
    /// `innodb_log_file_size` in force, if set.
    LOG_FILE_SIZE: u64 = Cluster "mysql.innodb_log_file_size" Bytes;
    /// Settings for the redo log size that are ignored because `innodb_redo_log_capacity` is also
    /// set (MySQL 8.0.30 and later).
    REDO_IGNORED: Vec<String> = Cluster "mysql.redo_sizes_ignored";
    /// `innodb_log_archive` in force: MariaDB keeps every redo log file (13.0 and later).
    LOG_ARCHIVE: bool = Cluster "mysql.innodb_log_archive";
    /// Settings in the option files and on the command line; all other settings have their
    /// defaults.
    SET_OPTIONS: Vec<String> = Cluster "mysql.set_options";
    /// Size of the redo log, from the setting that decides it (MySQL 8.0.30, MariaDB 10.5 and
    /// later).
    REDO_SIZE: u64 = Cluster "mysql.redo_size" Bytes, mark_judged;
    /// `innodb_log_buffer_size` in force: memory for redo that is not written yet.
    LOG_BUFFER_SIZE: u64 = Cluster "mysql.innodb_log_buffer_size" Bytes;
    /// `max_binlog_size` in force: the size at which the binary log rotates.
    MAX_BINLOG_SIZE: u64 = Cluster "mysql.max_binlog_size" Bytes;
    /// `binlog_expire_logs_seconds` in force: the age after which rotation or startup removes
    /// binary logs; 0 means never.
    BINLOG_EXPIRY: u64 = Cluster "mysql.binlog_expire_logs_seconds";
    /// Size of the binary logs in their directory.
    BINLOG_FILES: u64 = Cluster "mysql.binlog_files" Bytes, mark_drifting;
    /// Size of the binary logs, in percent of their file system.
    BINLOG_SHARE: f64 = Cluster "mysql.binlog_percent", mark_drifting;
    /// Share of the binary logs' file system that is free, in percent.
    BINLOG_ROOM: f64 = Cluster "mysql.binlog_free_percent", mark_drifting;
    /// Number of replicas that read the binary log (`Binlog Dump` threads).
    REPLICAS: u64 = Cluster "mysql.replicas", mark_drifting;
    /// `binlog_commit_wait_count` in force (MariaDB): number of commits to wait for before the
    /// binary log is flushed.
    BINLOG_WAIT_COUNT: u64 = Cluster "mysql.binlog_commit_wait_count";
    /// `binlog_commit_wait_usec` in force (MariaDB): longest wait for further commits before the
    /// binary log is flushed, in microseconds.
    BINLOG_WAIT_USEC: u64 = Cluster "mysql.binlog_commit_wait_usec";
    /// Time since the server started (status variable `Uptime`).
    UPTIME: f64 = Cluster "mysql.uptime" Micros, mark_drifting;
    /// Redo written since the server started (`Innodb_os_log_written`).
    REDO_WRITTEN: u64 = Cluster "mysql.redo_written" Bytes, mark_drifting;
    /// Redo not yet in the data files, which recovery would replay (`Innodb_checkpoint_age`;
    /// `Innodb_redo_log_logical_size` of MySQL 8.0.30 and later).
    CHECKPOINT_AGE: u64 = Cluster "mysql.checkpoint_age" Bytes, mark_drifting;
    /// Number of times a session waited for space in the log buffer (`Innodb_log_waits`).
    LOG_WAITS: u64 = Cluster "mysql.log_waits", mark_drifting;
    /// Commits in the binary log per group flushed together (`Binlog_commits`,
    /// `Binlog_group_commits`; MariaDB).
    COMMITS_PER_GROUP: f64 = Cluster "mysql.commits_per_group", mark_drifting;
    /// Redo written per second, on average since the server started.
    REDO_RATE: u64 = Cluster "mysql.redo_rate" Bytes, mark_judged;
    /// Time after which the redo log is full at the rate `mysql.redo_rate`.
    REDO_LASTS: f64 = Cluster "mysql.redo_lasts" Micros, mark_judged;
    /// Lower estimate of the recovery time if the server crashed now.
    RECOVERY_LEAST: f64 = Cluster "mysql.recovery_least" Micros, mark_judged;
    /// Upper estimate of the recovery time on flash if the server crashed now.
    RECOVERY_MOST: f64 = Cluster "mysql.recovery_most" Micros, mark_judged;
    /// Whether the redo log is large enough for its write rate.
    REDO_FIT: LogSizeFit = Cluster "mysql.redo_size_fit", mark_judged;
    /// Redo log size for an hour of writes, limited by the free space; in bytes, as in option files
    /// and SET GLOBAL.
    REDO_WANTED: String = Cluster "mysql.redo_size_wanted", mark_judged;
    /// Effect of `mysql.redo_size_wanted`: time to fill the redo log, and recovery time.
    REDO_TRADE: String = Cluster "mysql.redo_trade", mark_judged;
    /// Log buffer size with which fewer sessions would wait, in bytes; empty if no session waited
    /// or the buffer is already large.
    LOG_BUFFER_WANTED: String = Cluster "mysql.log_buffer_wanted", mark_judged;
    /// `innodb_use_fdatasync` in force (MySQL 8.0.26 and later): whether InnoDB flushes with
    /// fdatasync instead of fsync.
    USE_FDATASYNC: bool = Cluster "mysql.innodb_use_fdatasync";
    /// `innodb_log_write_ahead_size` in force (MySQL): the size to which writes of the redo log are
    /// padded.
    LOG_WRITE_AHEAD: u64 = Cluster "mysql.innodb_log_write_ahead_size" Bytes;
    /// `innodb_dedicated_server` in force (MySQL 8.0.3 and later), which chooses the flush method
    /// in 8.0.
    DEDICATED: bool = Cluster "mysql.innodb_dedicated_server";
    /// `innodb_data_file_buffering` in force, or the value that `innodb_flush_method` implies
    /// (MariaDB 11.0 and later).
    DATA_FILE_BUFFERING: bool = Cluster "mysql.innodb_data_file_buffering";
    /// `innodb_log_file_buffering` in force, if set (MariaDB 10.8.4 and later): whether the redo
    /// log passes through the kernel's page cache.
    LOG_FILE_BUFFERING: bool = Cluster "mysql.innodb_log_file_buffering";
    /// `innodb_log_file_write_through` in force (MariaDB 11.0 and later): whether the redo log is
    /// opened with O_DSYNC.
    LOG_FILE_WRITE_THROUGH: bool = Cluster "mysql.innodb_log_file_write_through";
}

use super::cluster::LogSizeFit;
use crate::version::Version;

// Each meaning has one word across the versions of both servers. Collectors translate numbers and
// synonyms.

choice! {
    /// How InnoDB opens and flushes its files, in the order of the numbers that a server
    /// accepts instead of the words.
    pub enum InnodbFlushMethod {
        Fsync = "fsync",
        Dsync = "O_DSYNC",
        Littlesync = "littlesync",
        Nosync = "nosync",
        Direct = "O_DIRECT",
        DirectNoFsync = "O_DIRECT_NO_FSYNC",
    }

    pub enum DoublewriteMode { On = "on", Off = "off", DetectOnly = "detect_only", Fast = "fast" }

    pub enum PageChecksum {
        Crc32 = "crc32",
        StrictCrc32 = "strict_crc32",
        Innodb = "innodb",
        StrictInnodb = "strict_innodb",
        None = "none",
        StrictNone = "strict_none",
        FullCrc32 = "full_crc32",
        StrictFullCrc32 = "strict_full_crc32",
    }
}
