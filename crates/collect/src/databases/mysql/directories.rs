//! The directories of a server's data and logs, with symbolic links resolved, each with the setting
//! that names it.
//!
//! Relative paths start at the data directory, which is the server's working directory. A value
//! that a running server reports is in force. Its source is the option file's line with the same
//! value, if there is one. A binary log is set by a file-name prefix, and in new MariaDB versions
//! also by a directory.

use std::path::{Path, PathBuf};

use super::options::join_base_and_path_value;
use super::{MysqlInstance, VariablesReply, settings};
use crate::databases::mount_namespace::ServerHost;
use crate::databases::{ServerConfig, SettingReading};
use crate::facts::catalog::mysql;
use crate::facts::{FactSet, Reading, ServerKind, Source, Subject};
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
    pub host: &'a ServerHost<'a>,
    pub instance: &'a MysqlInstance,
    /// The configuration that is certainly in force.
    pub conf: &'a ServerConfig,
    pub answer: Option<&'a VariablesReply>,
}

impl ServerDirectoryResolver<'_> {
    pub fn insert_directory_facts(&self, cluster: &Subject, facts: &mut FactSet) {
        for name in DIRECTORY_SETTINGS {
            if let Some(Reading::Known {
                value: written,
                source,
            }) = self.conf.setting_reading(name)
                && let Some(Reading::Known { value: told, .. }) = self.reported_setting(name)
                && self.setting_path(&written) != self.setting_path(&told)
            {
                facts.add_note_once(format!("{server}: {name} is {written} in {source} but {told} in the running server: correct the line, or move the files while the server is stopped", server = self.instance.display_name(), written = display_safe(&written), told = display_safe(&told)));
            }
        }
        let tablespace = self.directory(self.setting_in_force("innodb_data_home_dir"));
        let redo = self.directory(self.setting_in_force("innodb_log_group_home_dir"));
        let binlog = self.binlog_directory();
        facts.insert(cluster, &mysql::BINLOG_FILES, self.binlog_size(&binlog));
        for (key, directory) in [
            (&mysql::REDO, redo),
            (&mysql::UNDO, self.undo_directory()),
            (&mysql::BINLOG, binlog),
            (
                &mysql::DOUBLEWRITE_DIR,
                self.doublewrite_directory(&tablespace),
            ),
            (&mysql::INNODB_DATA, tablespace),
            (&mysql::DATA, self.data_directory()),
        ] {
            facts.insert(cluster, key, directory);
        }
    }

    fn data_directory(&self) -> Reading<String> {
        let source = self.instance.data_source.clone();
        Reading::known(display_path(&self.instance.path), source)
    }

    fn setting_path(&self, value: &[u8]) -> PathBuf {
        join_base_and_path_value(&self.instance.server_path, value)
    }

    fn reported_setting(&self, name: &str) -> Option<SettingReading> {
        self.answer?.variable_reading(name)
    }

    /// The directory that the setting names; the data directory if it is unset.
    fn directory(&self, setting: Option<SettingReading>) -> Reading<String> {
        setting.map_or_else(
            || self.data_directory(),
            |setting| {
                setting.and_then_reading(|value, source| {
                    self.resolve_host_directory(&self.setting_path(&value), source)
                })
            },
        )
    }

    /// The value that the running server reports, or else that of the files; `None` if the setting
    /// is unset. If the two values agree, the source is the line in the file.
    fn setting_in_force(&self, name: &str) -> Option<SettingReading> {
        let written = self.conf.setting_reading(name);
        self.reported_or_written(self.reported_setting(name), written, |value| {
            self.setting_path(value)
        })
    }

    /// Two values agree if they have the same `directory`. For an unset directory the server may
    /// report `.` or the data directory, which then is not a setting.
    fn reported_or_written(
        &self,
        told: Option<SettingReading>,
        written: Option<SettingReading>,
        directory: impl Fn(&[u8]) -> PathBuf,
    ) -> Option<SettingReading> {
        let Some(told) = told else {
            return written;
        };
        let place = |reading: &SettingReading| reading.value().map(|value| directory(value));
        match written {
            None if place(&told).as_deref() == Some(self.instance.server_path.as_path()) => None,
            Some(written) if place(&written) == place(&told) => Some(written),
            _ => Some(told),
        }
    }

    fn resolve_host_directory(&self, path: &Path, source: Source) -> Reading<String> {
        let real = self.host.real_host_directory(path);
        real.and_then_reading(|real, _| Reading::known(real, source))
    }

    fn undo_directory(&self) -> Reading<String> {
        let count = match (
            self.setting_in_force("innodb_undo_tablespaces"),
            self.instance.edition.product_and_version(),
        ) {
            (Some(reading), _) => {
                reading.and_then(|value| settings::parse_size(&display_safe(value.trim_ascii())))
            }
            (None, Some((line, version))) => {
                let count = match line {
                    ServerKind::Mysql if version.first_numbers() >= [8, 0] => 2,
                    ServerKind::Mariadb if version.first_numbers() >= [11, 0] => 3,
                    _ => 0,
                };
                Reading::known(
                    count,
                    Source::Default {
                        of: settings::release_series_name(line, version),
                    },
                )
            }
            (None, None) => Reading::uncollected(
                "the location of undo logs depends on the server's version, which is unknown",
            ),
        };
        count.and_then_reading(|count, _| match count {
            0 => Reading::absent("undo logs are in the system tablespace"),
            _ => self.directory(self.setting_in_force("innodb_undo_directory")),
        })
    }

    fn binlog_directory(&self) -> Reading<String> {
        let written = self.conf.setting_reading("log_bin");
        let set = self.reported_setting("log_bin").or_else(|| written.clone());
        let on = settings::value_in_force("log_bin", set, &self.instance.edition)
            .and_then(|text| settings::parse_flag("log_bin", &text));
        on.and_then_reading(|on, _| {
            if on {
                self.directory_of_binlog_files(written)
            } else {
                Reading::absent("binary logging is off")
            }
        })
    }

    fn directory_of_binlog_files(&self, written: Option<SettingReading>) -> Reading<String> {
        match self.mariadb_binlog_directory_setting() {
            None => {
                let parent = |value: &[u8]| {
                    let path = self.setting_path(value);
                    path.parent().map(Path::to_owned).unwrap_or_default()
                };
                let told = self.reported_setting("log_bin_basename");
                match self.reported_or_written(told, written, parent) {
                    None => self.data_directory(),
                    Some(prefix) => prefix.and_then_reading(|value, source| {
                        self.resolve_host_directory(&parent(&value), source)
                    }),
                }
            }
            // The server refuses to start if both `log_bin` and `binlog_directory` name a
            // directory, so neither setting can be in force.
            Some(Reading::Known { source, .. })
                if written
                    .as_ref()
                    .and_then(Reading::value)
                    .is_some_and(|base| base.contains(&b'/'))
                    && !matches!(source, Source::Server { .. }) =>
            {
                Reading::malformed(format!(
                    "{source}: the server refuses binlog_directory if log_bin contains a directory"
                ))
            }
            own => self.directory(own),
        }
    }

    /// The size of the binary logs. Without a running server it is unknown if no setting names the
    /// files, because their default name has changed between releases.
    fn binlog_size(&self, directory: &Reading<String>) -> Reading<u64> {
        let reported = self.reported_setting("log_bin_basename");
        let named = reported
            .clone()
            .or_else(|| self.conf.setting_reading("log_bin"));
        // A bare `log_bin` has the value 1.
        let named = named
            .filter(|base| base.value().is_none_or(|base| base.len() > 1))
            .unwrap_or_else(|| {
                Reading::uncollected(
                    "no setting names the binary log files, and the server did not answer",
                )
            });
        let named = directory.as_ref().and_then_reading(|_, _| named);
        named.and_then_reading(|base, source| {
            let base = self.setting_path(&base);
            let own = self.mariadb_binlog_directory_setting();
            let base = match own.as_ref().and_then(Reading::value) {
                Some(own) => self
                    .setting_path(own)
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
                Ok(files) if files.count == 0 && reported.is_none() => {
                    Reading::uncollected(format!(
                        "no binary log has the base name {shown}, and the server did not answer"
                    ))
                }
                Ok(files) => Reading::known(files.bytes, source),
                Err(miss) => error_reading(&miss, &shown),
            }
        })
    }

    /// MariaDB has this setting from 12.3.1 on (MariaDB documentation).
    fn mariadb_binlog_directory_setting(&self) -> Option<SettingReading> {
        let set = self.setting_in_force("binlog_directory")?;
        match self.instance.edition.product_and_version() {
            Some((ServerKind::Mariadb, version)) if version.first_numbers() >= [12, 3, 1] => {
                Some(set)
            }
            Some(_) => None,
            None if self.instance.edition.line.value() == Some(&ServerKind::Mysql) => None,
            None => Some(Reading::uncollected(
                "binlog_directory depends on the server's version, which is unknown",
            )),
        }
    }

    /// From MySQL 8.0.20 on, separate files hold doublewrite pages; earlier releases and MariaDB
    /// keep them in the system tablespace.
    fn doublewrite_directory(&self, tablespace: &Reading<String>) -> Reading<String> {
        let mode = settings::value_in_force(
            "innodb_doublewrite",
            self.setting_in_force("innodb_doublewrite"),
            &self.instance.edition,
        );
        if mode
            .value()
            .is_some_and(|mode| matches!(mode.to_ascii_lowercase().as_str(), "off" | "0" | "false"))
        {
            return Reading::absent("the doublewrite buffer is off");
        }
        let Some((line, version)) = self.instance.edition.product_and_version() else {
            return Reading::uncollected(
                "the location of doublewrite pages depends on the server's version, which is unknown",
            );
        };
        if line == ServerKind::Mariadb || version.first_numbers() < [8, 0, 20] {
            return tablespace.clone();
        }
        let Some(setting) = self.setting_in_force("innodb_doublewrite_dir") else {
            return tablespace.clone();
        };
        // MySQL adds `#` to a plain directory name, so that it does not count as a schema.
        let setting = setting.map(|value| match value.first() {
            Some(b'.' | b'#' | b'/') => value,
            _ => [b"#".as_slice(), &value].concat(),
        });
        self.directory(Some(setting))
    }
}
