//! The directories of a server's data and logs, each with the setting that names it, links
//! followed.
//!
//! Relative paths refer to the data directory, which is the server's working directory. A running
//! server's answer is in force, and the line that agrees with it is named too. A binary log is set
//! by a prefix of its files' names, and in new versions of MariaDB by a directory too. Undo logs
//! and doublewrite pages have their own directory only in some versions and with some settings.

use std::path::Path;

use super::edition::{Edition, ProductLine};
use super::options::within;
use super::server::VariablesReply;
use super::settings;
use crate::databases::conf::Conf;
use crate::databases::inside::Inside;
use crate::facts::catalog::mysql;
use crate::facts::note::MysqlNote;
use crate::facts::{FactSet, Reading, Source, Subject, Why};
use crate::host::{Host, path_bytes};
use crate::refusal::refused;
use crate::text::safe;

/// Settings that name a directory and that the server reports; it may prefix the doublewrite
/// directory with `#`.
const DIRECTORIES: [&str; 4] = [
    "innodb_log_group_home_dir",
    "innodb_data_home_dir",
    "innodb_undo_directory",
    "binlog_directory",
];

/// The inputs from which places are derived.
pub struct PathInputs<'a> {
    /// The machine as the server sees it.
    pub host: &'a dyn Host,
    /// The mapping of its paths to paths here, where the two differ.
    pub inside: Option<&'a Inside<'a>>,
    /// The data directory as the server sees it.
    pub seen: &'a Path,
    /// The certain part of the configuration.
    pub conf: &'a Conf,
    /// The running server's answer.
    pub answer: Option<&'a VariablesReply>,
    pub name: &'a str,
    pub edition: &'a Edition,
    /// The data directory here, links followed.
    pub data: &'a Path,
    pub data_source: &'a Source,
}

impl PathInputs<'_> {
    /// Records every directory.
    pub fn put(&self, cluster: &Subject, facts: &mut FactSet) {
        DIRECTORIES
            .iter()
            .filter_map(|name| self.difference(name))
            .for_each(|note| facts.warn(note));
        let tablespace = self.tablespace();
        facts.put(
            cluster,
            &mysql::REDO,
            self.named("innodb_log_group_home_dir"),
        );
        facts.put(cluster, &mysql::UNDO, self.undo());
        facts.put(cluster, &mysql::BINLOG, self.binlog());
        facts.put(
            cluster,
            &mysql::DOUBLEWRITE_DIR,
            self.doublewrite(&tablespace),
        );
        facts.put(cluster, &mysql::INNODB_DATA, tablespace);
        facts.put(cluster, &mysql::DATA, self.data_directory());
    }

    fn data_directory(&self) -> Reading<String> {
        Reading::known(safe(path_bytes(self.data)), self.data_source.clone())
    }

    /// A directory that a setting names, or the data directory where none does.
    fn named(&self, name: &str) -> Reading<String> {
        match self.set(name) {
            None => self.data_directory(),
            Some(Reading::Known { value, source }) => self.real(&within(self.seen, &value), source),
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

    /// The note that a line and the running server name two directories.
    fn difference(&self, name: &'static str) -> Option<MysqlNote> {
        let Some(Reading::Known {
            value: written,
            source,
        }) = self.conf.get(name)
        else {
            return None;
        };
        let told = self.answer?.get(name)?.value()?.clone();
        (within(self.seen, &written) != within(self.seen, &told)).then(|| {
            MysqlNote::OtherDirectory {
                server: self.name.to_owned(),
                setting: name,
                written: safe(&written),
                source: Box::new(source),
                told: safe(&told),
            }
        })
    }

    /// The value of a setting with a path or a number: the running server's, with the line that
    /// agrees with it.
    fn set(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        let written = self.conf.get(name);
        let Some(told) = self.answer.and_then(|answer| answer.get(name)) else {
            return written;
        };
        let place =
            |reading: &Reading<Vec<u8>>| reading.value().map(|value| within(self.seen, value));
        match written {
            // Where nothing sets it, it says so of the data directory in one way or another.
            None if place(&told).as_deref() == Some(self.seen) => None,
            Some(written) if place(&written) == place(&told) => Some(written),
            _ => Some(told),
        }
    }

    fn real(&self, path: &Path, source: Source) -> Reading<String> {
        match self.host.real_path(path) {
            Ok(real) => match self.inside.map(|inside| inside.here(&real)) {
                None => Reading::known(safe(path_bytes(&real)), source),
                Some(Reading::Known { value, .. }) => {
                    Reading::known(safe(path_bytes(&value)), source)
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
            Err(miss) => refused(&miss, &format!("realpath {}", safe(path_bytes(path)))),
        }
    }

    fn tablespace(&self) -> Reading<String> {
        self.named("innodb_data_home_dir")
    }

    fn undo(&self) -> Reading<String> {
        let in_system = |detail: &str| Reading::unknown(Why::Absent, detail.to_owned());
        let count = match (self.set("innodb_undo_tablespaces"), self.edition.known()) {
            (Some(reading), _) => {
                reading.and_then(|value| settings::number(&safe(value.trim_ascii())))
            }
            (None, Some((line, version))) => {
                let count = match line {
                    ProductLine::Mysql if settings::from(version, 8, 0) => 2,
                    ProductLine::Mariadb if settings::from(version, 11, 0) => 3,
                    _ => 0,
                };
                Reading::known(
                    count,
                    Source::Default {
                        of: settings::series(line, version),
                    },
                )
            }
            (None, None) => Reading::unknown(
                Why::NotCollected,
                "whether there are undo tablespaces depends on the server's version, which is not known",
            ),
        };
        count.then(|count, _| match count {
            0 => in_system("undo logs are kept in the system tablespace"),
            _ => self.named("innodb_undo_directory"),
        })
    }

    fn binlog(&self) -> Reading<String> {
        let Some(setting) = settings::named("log_bin") else {
            return Reading::not_collected();
        };
        let written = self.conf.get("log_bin");
        let told = self.answer.and_then(|answer| answer.get("log_bin"));
        let value = setting.in_force(told.or_else(|| written.clone()), self.edition);
        match value.and_then(|text| settings::flag("log_bin", &text)) {
            Reading::Known { value: false, .. } => {
                return Reading::unknown(Why::Absent, "no binary log is written");
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
        match self.own_binlog_directory() {
            None => match named {
                Some(Reading::Known { value, source }) => {
                    let base = within(self.seen, &value);
                    self.real(base.parent().unwrap_or(self.seen), source)
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
            // The server takes the directory from one of the two and refuses both.
            Some(Reading::Known { source, .. })
                if two && !matches!(source, Source::Server { .. }) =>
            {
                Reading::unknown(
                    Why::Malformed,
                    format!(
                        "{source}: the server refuses binlog_directory where log_bin has a directory too"
                    ),
                )
            }
            Some(Reading::Known { value, source }) => self.real(&within(self.seen, &value), source),
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

    /// How the names of the binary log's files begin: by what is written where that is certain, or
    /// by what the server says.
    fn binlog_base(&self, written: Option<Reading<Vec<u8>>>) -> Option<Reading<Vec<u8>>> {
        let Some(told) = self
            .answer
            .and_then(|answer| answer.get("log_bin_basename"))
        else {
            return written;
        };
        let directory = |reading: &Reading<Vec<u8>>| {
            reading
                .value()
                .and_then(|value| Some(within(self.seen, value).parent()?.to_owned()))
        };
        match written {
            Some(written) if directory(&written) == directory(&told) => Some(written),
            None if directory(&told).as_deref() == Some(self.seen) => None,
            _ => Some(told),
        }
    }

    /// The value of `binlog_directory` in versions that have it (MariaDB documentation: from
    /// 12.3.1).
    fn own_binlog_directory(&self) -> Option<Reading<Vec<u8>>> {
        let set = self.set("binlog_directory")?;
        match self.edition.known() {
            Some((ProductLine::Mariadb, version)) if settings::since(version, [12, 3, 1]) => {
                Some(set)
            }
            Some(_) => None,
            None if self.edition.line.value() == Some(&ProductLine::Mysql) => None,
            None => Some(Reading::unknown(
                Why::NotCollected,
                "whether binlog_directory counts depends on the server's version, which is not known",
            )),
        }
    }

    /// Files of their own came with MySQL 8.0.20; before, and in MariaDB, the system tablespace
    /// holds the pages.
    fn doublewrite(&self, tablespace: &Reading<String>) -> Reading<String> {
        let Some(setting) = settings::named("innodb_doublewrite") else {
            return Reading::not_collected();
        };
        let mode = setting.in_force(self.set("innodb_doublewrite"), self.edition);
        if mode
            .value()
            .is_some_and(|mode| matches!(mode.to_ascii_lowercase().as_str(), "off" | "0" | "false"))
        {
            return Reading::unknown(Why::Absent, "there is no doublewrite buffer");
        }
        let Some((line, version)) = self.edition.known() else {
            return Reading::unknown(
                Why::NotCollected,
                "where doublewrite pages go depends on the server's version, which is not known",
            );
        };
        if line == ProductLine::Mariadb || !settings::since(version, [8, 0, 20]) {
            return tablespace.clone();
        }
        match self.set("innodb_doublewrite_dir") {
            None => tablespace.clone(),
            Some(Reading::Known { value, source }) => {
                // A name without a beginning of its own gets one, lest it be taken for a schema's.
                let own = matches!(value.first(), Some(b'.' | b'#' | b'/'));
                let value = if own {
                    value
                } else {
                    [b"#".as_slice(), &value].concat()
                };
                self.real(&within(self.seen, &value), source)
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

/// Whether the beginning of names is more than a name.
fn has_directory(base: &Reading<Vec<u8>>) -> bool {
    base.value().is_some_and(|base| base.contains(&b'/'))
}
