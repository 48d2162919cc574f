//! The directories of a server's data and logs, each with the setting that names it, links
//! resolved.
//!
//! Relative paths start at the data directory, the server's working directory. A running server's
//! answer is in force; a line that agrees with it is given as the source. A binary log is set by a
//! file-name prefix, and in new MariaDB versions also by a directory. Undo logs and doublewrite
//! pages have their own directory only in some versions.

use std::path::Path;

use super::edition::{Edition, ProductLine};
use super::options::resolve_path;
use super::server::VariablesReply;
use super::settings;
use crate::databases::conf::Conf;
use crate::databases::mount_namespace::NamespaceHost;
use crate::facts::catalog::mysql;
use crate::facts::note::MysqlNote;
use crate::facts::{FactSet, Reading, Source, Subject, UnknownReason};
use crate::host::{Host, path_bytes};
use crate::refusal::error_reading;
use crate::text::display_safe;

/// Directory settings that the server reports. It may report the doublewrite directory with a `#`
/// in front.
const DIRECTORY_SETTINGS: [&str; 4] = [
    "innodb_log_group_home_dir",
    "innodb_data_home_dir",
    "innodb_undo_directory",
    "binlog_directory",
];

/// What the directories are derived from.
pub struct PathInputs<'a> {
    /// In the server's mount namespace.
    pub host: &'a dyn Host,
    /// Maps its paths to ours, if its mount namespace is another.
    pub namespace: Option<&'a NamespaceHost<'a>>,
    /// In the server's mount namespace.
    pub server_data_path: &'a Path,
    pub conf: &'a Conf,
    pub answer: Option<&'a VariablesReply>,
    pub name: &'a str,
    pub edition: &'a Edition,
    /// In our mount namespace, links resolved.
    pub data_path: &'a Path,
    pub data_source: &'a Source,
}

impl PathInputs<'_> {
    pub fn record(&self, cluster: &Subject, facts: &mut FactSet) {
        DIRECTORY_SETTINGS
            .iter()
            .filter_map(|name| self.mismatch_note(name))
            .for_each(|note| facts.add_note(note));
        let tablespace = self.tablespace_directory();
        facts.insert(
            cluster,
            &mysql::REDO,
            self.configured_directory("innodb_log_group_home_dir"),
        );
        facts.insert(cluster, &mysql::UNDO, self.undo_directory());
        facts.insert(cluster, &mysql::BINLOG, self.binlog_directory());
        facts.insert(
            cluster,
            &mysql::DOUBLEWRITE_DIR,
            self.doublewrite_directory(&tablespace),
        );
        facts.insert(cluster, &mysql::INNODB_DATA, tablespace);
        facts.insert(cluster, &mysql::DATA, self.data_directory());
    }

    fn data_directory(&self) -> Reading<String> {
        Reading::known(
            display_safe(path_bytes(self.data_path)),
            self.data_source.clone(),
        )
    }

    /// The directory of a setting, by default the data directory.
    fn configured_directory(&self, name: &str) -> Reading<String> {
        match self.set(name) {
            None => self.data_directory(),
            Some(Reading::Known { value, source }) => {
                self.real_directory(&resolve_path(self.server_data_path, &value), source)
            }
            Some(Reading::Unknown {
                why,
                detail,
                remedy,
            }) => Reading::Unknown {
                why,
                detail,
                remedy,
            },
        }
    }

    /// A note if a line and the running server name different directories.
    fn mismatch_note(&self, name: &'static str) -> Option<MysqlNote> {
        let Some(Reading::Known {
            value: written,
            source,
        }) = self.conf.get(name)
        else {
            return None;
        };
        let told = self.answer?.get(name)?.value()?.clone();
        (resolve_path(self.server_data_path, &written)
            != resolve_path(self.server_data_path, &told))
        .then(|| MysqlNote::OtherDirectory {
            server: self.name.to_owned(),
            setting: name,
            written: display_safe(&written),
            source: Box::new(source),
            told: display_safe(&told),
        })
    }

    /// The running server's value, with the line that agrees with it as the source.
    fn set(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        let written = self.conf.get(name);
        let Some(told) = self.answer.and_then(|answer| answer.get(name)) else {
            return written;
        };
        let place = |reading: &Reading<Vec<u8>>| {
            reading
                .value()
                .map(|value| resolve_path(self.server_data_path, value))
        };
        match written {
            // For an unset directory the server reports an empty value, `.` or the data directory.
            None if place(&told).as_deref() == Some(self.server_data_path) => None,
            Some(written) if place(&written) == place(&told) => Some(written),
            _ => Some(told),
        }
    }

    fn real_directory(&self, path: &Path, source: Source) -> Reading<String> {
        match self.host.real_path(path) {
            Ok(real) => match self.namespace.map(|inside| inside.host_path(&real)) {
                None => Reading::known(display_safe(path_bytes(&real)), source),
                Some(Reading::Known { value, .. }) => {
                    Reading::known(display_safe(path_bytes(&value)), source)
                }
                Some(Reading::Unknown {
                    why,
                    detail,
                    remedy,
                }) => Reading::Unknown {
                    why,
                    detail,
                    remedy,
                },
            },
            Err(miss) => error_reading(
                &miss,
                &format!("realpath {}", display_safe(path_bytes(path))),
            ),
        }
    }

    fn tablespace_directory(&self) -> Reading<String> {
        self.configured_directory("innodb_data_home_dir")
    }

    fn undo_directory(&self) -> Reading<String> {
        let in_system = |detail: &str| Reading::unknown(UnknownReason::Absent, detail.to_owned());
        let count = match (
            self.set("innodb_undo_tablespaces"),
            self.edition.product_and_version(),
        ) {
            (Some(reading), _) => {
                reading.and_then(|value| settings::number(&display_safe(value.trim_ascii())))
            }
            (None, Some((line, version))) => {
                let count = match line {
                    ProductLine::Mysql if settings::is_series_or_later(version, 8, 0) => 2,
                    ProductLine::Mariadb if settings::is_series_or_later(version, 11, 0) => 3,
                    _ => 0,
                };
                Reading::known(
                    count,
                    Source::Default {
                        of: settings::release_series(line, version),
                    },
                )
            }
            (None, None) => Reading::unknown(
                UnknownReason::NotCollected,
                "undo tablespaces depend on the server's version, which is unknown",
            ),
        };
        count.then(|count, _| match count {
            0 => in_system("undo logs are in the system tablespace"),
            _ => self.configured_directory("innodb_undo_directory"),
        })
    }

    fn binlog_directory(&self) -> Reading<String> {
        let Some(setting) = settings::find_variable("log_bin") else {
            return Reading::not_collected();
        };
        let written = self.conf.get("log_bin");
        let told = self.answer.and_then(|answer| answer.get("log_bin"));
        let value = setting.in_force(told.or_else(|| written.clone()), self.edition);
        match value.and_then(|text| settings::flag("log_bin", &text)) {
            Reading::Known { value: false, .. } => {
                return Reading::unknown(UnknownReason::Absent, "no binary log is written");
            }
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => {
                return Reading::Unknown {
                    why,
                    detail,
                    remedy,
                };
            }
            Reading::Known { value: true, .. } => {}
        }
        let two = written.as_ref().is_some_and(has_directory);
        let named = self.binlog_base(written);
        match self.binlog_directory_setting() {
            None => match named {
                Some(Reading::Known { value, source }) => {
                    let base = resolve_path(self.server_data_path, &value);
                    self.real_directory(base.parent().unwrap_or(self.server_data_path), source)
                }
                Some(Reading::Unknown {
                    why,
                    detail,
                    remedy,
                }) => Reading::Unknown {
                    why,
                    detail,
                    remedy,
                },
                None => self.data_directory(),
            },
            // The server accepts a directory in one of the two settings only.
            Some(Reading::Known { source, .. })
                if two && !matches!(source, Source::Server { .. }) =>
            {
                Reading::unknown(
                    UnknownReason::Malformed,
                    format!(
                        "{source}: the server refuses binlog_directory where log_bin has a directory too"
                    ),
                )
            }
            Some(Reading::Known { value, source }) => {
                self.real_directory(&resolve_path(self.server_data_path, &value), source)
            }
            Some(Reading::Unknown {
                why,
                detail,
                remedy,
            }) => Reading::Unknown {
                why,
                detail,
                remedy,
            },
        }
    }

    /// The prefix of the binary log's file names: from the files if certain, else from the server.
    fn binlog_base(&self, written: Option<Reading<Vec<u8>>>) -> Option<Reading<Vec<u8>>> {
        let Some(told) = self
            .answer
            .and_then(|answer| answer.get("log_bin_basename"))
        else {
            return written;
        };
        let directory = |reading: &Reading<Vec<u8>>| {
            reading.value().and_then(|value| {
                Some(
                    resolve_path(self.server_data_path, value)
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

    /// In versions that have it (MariaDB documentation: from 12.3.1).
    fn binlog_directory_setting(&self) -> Option<Reading<Vec<u8>>> {
        let set = self.set("binlog_directory")?;
        match self.edition.product_and_version() {
            Some((ProductLine::Mariadb, version))
                if settings::is_release_or_later(version, [12, 3, 1]) =>
            {
                Some(set)
            }
            Some(_) => None,
            None if self.edition.line.value() == Some(&ProductLine::Mysql) => None,
            None => Some(Reading::unknown(
                UnknownReason::NotCollected,
                "binlog_directory depends on the server's version, which is unknown",
            )),
        }
    }

    /// Separate files came with MySQL 8.0.20; before, and in MariaDB, the pages are in the system
    /// tablespace.
    fn doublewrite_directory(&self, tablespace: &Reading<String>) -> Reading<String> {
        let Some(setting) = settings::find_variable("innodb_doublewrite") else {
            return Reading::not_collected();
        };
        let mode = setting.in_force(self.set("innodb_doublewrite"), self.edition);
        if mode
            .value()
            .is_some_and(|mode| matches!(mode.to_ascii_lowercase().as_str(), "off" | "0" | "false"))
        {
            return Reading::unknown(UnknownReason::Absent, "there is no doublewrite buffer");
        }
        let Some((line, version)) = self.edition.product_and_version() else {
            return Reading::unknown(
                UnknownReason::NotCollected,
                "the place of doublewrite pages depends on the server's version, which is unknown",
            );
        };
        if line == ProductLine::Mariadb || !settings::is_release_or_later(version, [8, 0, 20]) {
            return tablespace.clone();
        }
        match self.set("innodb_doublewrite_dir") {
            None => tablespace.clone(),
            Some(Reading::Known { value, source }) => {
                // The server adds `#` to a plain name, so that it is not taken for a schema's
                // directory.
                let own = matches!(value.first(), Some(b'.' | b'#' | b'/'));
                let value = if own {
                    value
                } else {
                    [b"#".as_slice(), &value].concat()
                };
                self.real_directory(&resolve_path(self.server_data_path, &value), source)
            }
            Some(Reading::Unknown {
                why,
                detail,
                remedy,
            }) => Reading::Unknown {
                why,
                detail,
                remedy,
            },
        }
    }
}

/// Whether the prefix includes a directory.
fn has_directory(base: &Reading<Vec<u8>>) -> bool {
    base.value().is_some_and(|base| base.contains(&b'/'))
}
