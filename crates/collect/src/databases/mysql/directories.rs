//! The directories of a server's data and logs, with symbolic links resolved, each with the setting
//! that names it.
//!
//! Relative paths start at the data directory, which is the server's working directory. A value
//! that a running server reports is in force. Its source is the option file's line with the same
//! value, if there is one. A binary log is set by a file-name prefix, and in new MariaDB versions
//! also by a directory.

use std::path::Path;

use super::options::join_base_and_path_value;
use super::product_version::{ProductVersion, ServerProduct};
use super::{VariablesReply, settings};
use crate::databases::mount_namespace::NamespaceHost;
use crate::databases::{ServerConfig, server_processes};
use crate::facts::catalog::mysql;

use crate::facts::{FactSet, Reading, Source, Subject, UnknownReason};
use crate::host::{Host, LogFileKind};
use crate::host_readings::error_reading;
use crate::text::{display_path, display_safe};

/// Settings with comparable values in the files and in the server's answer.
/// `innodb_doublewrite_dir` is not listed, because the server may report it with a leading `#`.
const DIRECTORY_SETTINGS: [&str; 4] = [
    "innodb_log_group_home_dir",
    "innodb_data_home_dir",
    "innodb_undo_directory",
    "binlog_directory",
];

pub struct ServerDirectoryResolver<'a> {
    /// The host in the server's mount namespace.
    pub host: &'a dyn Host,
    /// Maps the server's paths to those of walwise; `None` if both share a mount namespace.
    pub namespace: Option<&'a NamespaceHost<'a>>,
    /// The data directory's path in the server's mount namespace.
    pub server_data_path: &'a Path,
    pub conf: &'a ServerConfig,
    pub answer: Option<&'a VariablesReply>,
    pub name: &'a str,
    pub edition: &'a ProductVersion,
    /// The data directory's path in walwise's mount namespace, with symbolic links resolved.
    pub data_path: &'a Path,
    pub data_source: &'a Source,
}

impl ServerDirectoryResolver<'_> {
    pub fn insert_directory_facts(&self, cluster: &Subject, facts: &mut FactSet) {
        DIRECTORY_SETTINGS
            .iter()
            .filter_map(|name| self.directory_mismatch_note(name))
            .for_each(|note| facts.add_note_once(note));
        let tablespace = self.system_tablespace_directory();
        facts.insert(
            cluster,
            &mysql::REDO,
            self.directory_from_setting("innodb_log_group_home_dir"),
        );
        facts.insert(cluster, &mysql::UNDO, self.undo_directory());
        let binlog = self.binlog_directory();
        facts.insert(cluster, &mysql::BINLOG_FILES, self.binlog_size(&binlog));
        facts.insert(cluster, &mysql::BINLOG, binlog);
        facts.insert(
            cluster,
            &mysql::DOUBLEWRITE_DIR,
            self.doublewrite_directory(&tablespace),
        );
        facts.insert(cluster, &mysql::INNODB_DATA, tablespace);
        facts.insert(cluster, &mysql::DATA, self.data_directory());
    }

    fn data_directory(&self) -> Reading<String> {
        Reading::known(display_path(self.data_path), self.data_source.clone())
    }

    fn directory_from_setting(&self, name: &str) -> Reading<String> {
        match self.setting_in_force(name) {
            None => self.data_directory(),
            Some(Reading::Known { value, source }) => self.resolve_host_directory(
                &join_base_and_path_value(self.server_data_path, &value),
                source,
            ),
            Some(unknown @ Reading::Unknown { .. }) => unknown.into_unknown_reading(),
        }
    }

    fn directory_mismatch_note(&self, name: &str) -> Option<String> {
        let Some(Reading::Known {
            value: written,
            source,
        }) = self.conf.setting_reading(name)
        else {
            return None;
        };
        let told = self.answer?.variable_reading(name)?.value()?.clone();
        (join_base_and_path_value(self.server_data_path, &written)
            != join_base_and_path_value(self.server_data_path, &told))
        .then(|| {
            let [written, told] = [written, told].map(|value| display_safe(&value));
            format!(
                "{}: {name} is {written} in {source} but {told} in the running server: correct the line, or move the files while the server is stopped",
                self.name
            )
        })
    }

    /// The value that the running server reports, or else that of the files; `None` if the setting
    /// is unset. If the two values agree, the source is the line in the file.
    fn setting_in_force(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        let written = self.conf.setting_reading(name);
        let Some(told) = self.answer.and_then(|answer| answer.variable_reading(name)) else {
            return written;
        };
        let place = |reading: &Reading<Vec<u8>>| {
            reading
                .value()
                .map(|value| join_base_and_path_value(self.server_data_path, value))
        };
        match written {
            // For an unset directory the server may report `.` or the data directory, which then is
            // not a setting.
            None if place(&told).as_deref() == Some(self.server_data_path) => None,
            Some(written) if place(&written) == place(&told) => Some(written),
            _ => Some(told),
        }
    }

    fn resolve_host_directory(&self, path: &Path, source: Source) -> Reading<String> {
        match server_processes::verified_real_path(self.host, path) {
            Ok(real) => match self.namespace.map(|inside| inside.host_path(&real)) {
                None => Reading::known(display_path(&real), source),
                Some(Reading::Known { value, .. }) => Reading::known(display_path(&value), source),
                Some(unknown @ Reading::Unknown { .. }) => unknown.into_unknown_reading(),
            },
            Err(miss) => error_reading(&miss, &format!("realpath {}", display_path(path))),
        }
    }

    fn system_tablespace_directory(&self) -> Reading<String> {
        self.directory_from_setting("innodb_data_home_dir")
    }

    fn undo_directory(&self) -> Reading<String> {
        let in_system = |detail: &str| Reading::absent(detail.to_owned());
        let count = match (
            self.setting_in_force("innodb_undo_tablespaces"),
            self.edition.product_and_version(),
        ) {
            (Some(reading), _) => reading.and_then(|value| {
                settings::parse_suffixed_number(&display_safe(value.trim_ascii()))
            }),
            (None, Some((line, version))) => {
                let count = match line {
                    ServerProduct::Mysql if settings::is_series_or_later(version, 8, 0) => 2,
                    ServerProduct::Mariadb if settings::is_series_or_later(version, 11, 0) => 3,
                    _ => 0,
                };
                Reading::known(
                    count,
                    Source::Default {
                        of: settings::release_series_name(line, version),
                    },
                )
            }
            (None, None) => Reading::unknown(
                UnknownReason::NotCollected,
                "the location of undo logs depends on the server's version, which is unknown",
            ),
        };
        count.and_then_reading(|count, _| match count {
            0 => in_system("undo logs are in the system tablespace"),
            _ => self.directory_from_setting("innodb_undo_directory"),
        })
    }

    fn binlog_directory(&self) -> Reading<String> {
        let Some(setting) = settings::find_variable("log_bin") else {
            return Reading::not_collected();
        };
        let written = self.conf.setting_reading("log_bin");
        let told = self
            .answer
            .and_then(|answer| answer.variable_reading("log_bin"));
        let value = setting.value_in_force(told.or_else(|| written.clone()), self.edition);
        match value.and_then(|text| settings::parse_flag("log_bin", &text)) {
            Reading::Known { value: false, .. } => {
                return Reading::absent("binary logging is off");
            }
            unknown @ Reading::Unknown { .. } => return unknown.into_unknown_reading(),
            Reading::Known { value: true, .. } => {}
        }
        let two = written.as_ref().is_some_and(prefix_has_directory);
        let named = self.binlog_path_prefix(written);
        match self.binlog_directory_setting() {
            None => match named {
                Some(Reading::Known { value, source }) => {
                    let base = join_base_and_path_value(self.server_data_path, &value);
                    self.resolve_host_directory(
                        base.parent().unwrap_or(self.server_data_path),
                        source,
                    )
                }
                Some(unknown @ Reading::Unknown { .. }) => unknown.into_unknown_reading(),
                None => self.data_directory(),
            },
            // The server refuses to start if both `log_bin` and `binlog_directory` name a
            // directory, so neither setting can be in force.
            Some(Reading::Known { source, .. })
                if two && !matches!(source, Source::Server { .. }) =>
            {
                Reading::malformed(format!(
                    "{source}: the server refuses binlog_directory if log_bin contains a directory"
                ))
            }
            Some(Reading::Known { value, source }) => self.resolve_host_directory(
                &join_base_and_path_value(self.server_data_path, &value),
                source,
            ),
            Some(unknown @ Reading::Unknown { .. }) => unknown.into_unknown_reading(),
        }
    }

    /// The size of the binary logs. Without a running server it is unknown if no setting names the
    /// files, because their default name has changed between releases.
    fn binlog_size(&self, directory: &Reading<String>) -> Reading<u64> {
        if let Reading::Unknown { .. } = directory {
            return directory.clone().into_unknown_reading();
        }
        let reported = self
            .answer
            .and_then(|answer| answer.variable_reading("log_bin_basename"));
        let (base, source) = match reported
            .clone()
            .or_else(|| self.conf.setting_reading("log_bin"))
        {
            // A bare `log_bin` has the value 1.
            Some(Reading::Known { value, source }) if value.len() > 1 => (
                join_base_and_path_value(self.server_data_path, &value),
                source,
            ),
            Some(unknown @ Reading::Unknown { .. }) => return unknown.into_unknown_reading(),
            Some(Reading::Known { .. }) | None => {
                return Reading::unknown(
                    UnknownReason::NotCollected,
                    "no setting names the binary log files, and the server did not answer",
                );
            }
        };
        let own = self.binlog_directory_setting();
        let base = match own.as_ref().and_then(Reading::value) {
            Some(own) => join_base_and_path_value(self.server_data_path, own)
                .join(base.file_name().unwrap_or_default()),
            None => base,
        };
        // The server removes an extension from the name.
        let base = if reported.is_some() {
            base
        } else {
            base.with_extension("")
        };
        let shown = display_path(&base);
        match self.host.log_file_stats(&base, LogFileKind::BinaryLog) {
            Ok(files) if files.count == 0 && reported.is_none() => Reading::unknown(
                UnknownReason::NotCollected,
                format!("no binary log has the base name {shown}, and the server did not answer"),
            ),
            Ok(files) => Reading::known(files.bytes, source),
            Err(miss) => error_reading(&miss, &shown),
        }
    }

    /// The path prefix of the binary log's files: the configured prefix, unless the server reports
    /// one in another directory. `None` means a prefix in the data directory.
    fn binlog_path_prefix(&self, written: Option<Reading<Vec<u8>>>) -> Option<Reading<Vec<u8>>> {
        let Some(told) = self
            .answer
            .and_then(|answer| answer.variable_reading("log_bin_basename"))
        else {
            return written;
        };
        let directory = |reading: &Reading<Vec<u8>>| {
            reading.value().and_then(|value| {
                Some(
                    join_base_and_path_value(self.server_data_path, value)
                        .parent()?
                        .to_owned(),
                )
            })
        };
        match written {
            Some(written) if directory(&written) == directory(&told) => Some(written),
            None if directory(&told).as_deref() == Some(self.server_data_path) => None,
            _ => Some(told),
        }
    }

    /// MariaDB has this setting from 12.3.1 on (MariaDB documentation).
    fn binlog_directory_setting(&self) -> Option<Reading<Vec<u8>>> {
        let set = self.setting_in_force("binlog_directory")?;
        match self.edition.product_and_version() {
            Some((ServerProduct::Mariadb, version))
                if settings::is_release_or_later(version, [12, 3, 1]) =>
            {
                Some(set)
            }
            Some(_) => None,
            None if self.edition.line.value() == Some(&ServerProduct::Mysql) => None,
            None => Some(Reading::unknown(
                UnknownReason::NotCollected,
                "binlog_directory depends on the server's version, which is unknown",
            )),
        }
    }

    /// From MySQL 8.0.20 on, separate files hold doublewrite pages; earlier releases and MariaDB
    /// keep them in the system tablespace.
    fn doublewrite_directory(&self, tablespace: &Reading<String>) -> Reading<String> {
        let Some(setting) = settings::find_variable("innodb_doublewrite") else {
            return Reading::not_collected();
        };
        let mode =
            setting.value_in_force(self.setting_in_force("innodb_doublewrite"), self.edition);
        if mode
            .value()
            .is_some_and(|mode| matches!(mode.to_ascii_lowercase().as_str(), "off" | "0" | "false"))
        {
            return Reading::absent("the doublewrite buffer is off");
        }
        let Some((line, version)) = self.edition.product_and_version() else {
            return Reading::unknown(
                UnknownReason::NotCollected,
                "the location of doublewrite pages depends on the server's version, which is unknown",
            );
        };
        if line == ServerProduct::Mariadb || !settings::is_release_or_later(version, [8, 0, 20]) {
            return tablespace.clone();
        }
        match self.setting_in_force("innodb_doublewrite_dir") {
            None => tablespace.clone(),
            Some(Reading::Known { value, source }) => {
                // MySQL adds `#` to a plain directory name, so that it does not count as a schema.
                let own = matches!(value.first(), Some(b'.' | b'#' | b'/'));
                let value = if own {
                    value
                } else {
                    [b"#".as_slice(), &value].concat()
                };
                self.resolve_host_directory(
                    &join_base_and_path_value(self.server_data_path, &value),
                    source,
                )
            }
            Some(unknown @ Reading::Unknown { .. }) => unknown.into_unknown_reading(),
        }
    }
}

fn prefix_has_directory(base: &Reading<Vec<u8>>) -> bool {
    base.value().is_some_and(|base| base.contains(&b'/'))
}
