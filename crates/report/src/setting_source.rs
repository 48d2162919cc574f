//! The source of a server setting's present value, and sources that override the configuration
//! file.
//!
//! PostgreSQL's command line overrides ALTER SYSTEM (PostgreSQL manual, *Setting Parameters*), but
//! MySQL's SET PERSIST overrides the command line (MySQL manual, *Using Option Files*).

use walwise_judge::rules::Advice;
use walwise_model::facts::{Reading, Source, Value};
use walwise_model::settings::Setting;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverridingSource {
    /// postgresql.auto.conf, which ALTER SYSTEM writes.
    AlterSystem,
    /// mysqld-auto.cnf, which SET PERSIST writes.
    Persisted,
    CommandLine,
}

impl OverridingSource {
    /// The instruction for a change of the overriding source. `file` is a phrase for the overridden
    /// file, such as `this file`.
    pub fn override_instruction(self, file: &str) -> String {
        match self {
            Self::AlterSystem => {
                format!("ALTER SYSTEM overrides {file}: use ALTER SYSTEM SET or RESET")
            }
            Self::Persisted => {
                format!(
                    "SET PERSIST overrides {file} and the command line: use SET PERSIST or RESET \
                     PERSIST"
                )
            }
            Self::CommandLine => {
                "the server's command line overrides files: change the option there and restart"
                    .to_owned()
            }
        }
    }
}

/// `None` if no source is known to override the configuration file.
pub fn overriding_source(advice: &Advice) -> Option<OverridingSource> {
    match advice.current.source()? {
        Source::File { path, .. } if path.starts_with("/proc/") && path.ends_with("/cmdline") => {
            Some(OverridingSource::CommandLine)
        }
        Source::File { path, .. } if path.rsplit('/').next() == Some("postgresql.auto.conf") => {
            Some(OverridingSource::AlterSystem)
        }
        Source::File { path, .. } if path.rsplit('/').next() == Some("mysqld-auto.cnf") => {
            Some(OverridingSource::Persisted)
        }
        _ => None,
    }
}

/// Formats the present value and its source: `open_sync, set in /etc/postgresql/postgresql.conf:1`.
pub fn current_value_with_source(advice: &Advice) -> String {
    format_value_with_source(advice.setting, &advice.current)
}

pub fn format_value_with_source(setting: &Setting, current: &Reading<Value>) -> String {
    match current {
        Reading::Known { value, source } => {
            let value = setting.format_with_unit(&setting.format_config_value(value));
            match source {
                Source::File { .. } => format!("{value}, set in {source}"),
                Source::Command { .. } => format!("{value}, reported by {source}"),
                Source::Default { .. } => format!("{value}, the {source}"),
                Source::Server { socket } => format!("{value}, reported by the server at {socket}"),
                _ => format!("{value} ({source})"),
            }
        }
        Reading::Unknown { why, detail, .. } if detail.is_empty() => format!("unknown: {why}"),
        Reading::Unknown { why, detail, .. } => format!("unknown: {why} ({detail})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_reports;
    use walwise_judge::rules::Change;

    fn advice_with_source(source: Source) -> Advice {
        let current = Reading::known(Value::Text("open_sync".to_owned()), source);
        Advice {
            current,
            ..sample_reports::advice_without_current_value(
                "pg.wal_sync_method",
                Change::Set("fdatasync".to_owned()),
            )
        }
    }

    #[test]
    fn value_source_text_and_override_by_source() {
        let cases = [
            (
                Source::from_file_line("/etc/pg/conf.d/10-old.conf", 1),
                None,
                "open_sync, set in /etc/pg/conf.d/10-old.conf:1",
            ),
            (
                Source::from_file_line("/srv/pg/postgresql.auto.conf", 3),
                Some(OverridingSource::AlterSystem),
                "open_sync, set in /srv/pg/postgresql.auto.conf:3",
            ),
            (
                Source::from_file("/proc/10/cmdline"),
                Some(OverridingSource::CommandLine),
                "open_sync, set in /proc/10/cmdline",
            ),
            (
                Source::Command {
                    argv: "pg_controldata -D /srv/pg".to_owned(),
                },
                None,
                "open_sync, reported by `pg_controldata -D /srv/pg`",
            ),
            (
                Source::from_file_line("/srv/db/mysqld-auto.cnf", 1),
                Some(OverridingSource::Persisted),
                "open_sync, set in /srv/db/mysqld-auto.cnf:1",
            ),
            (
                Source::from_file_line("/srv/cmdline", 1),
                None,
                "open_sync, set in /srv/cmdline:1",
            ),
            (
                Source::Default {
                    of: "PostgreSQL 15".to_owned(),
                },
                None,
                "open_sync, the default of PostgreSQL 15",
            ),
            (
                Source::Server {
                    socket: "/run/pg".to_owned(),
                },
                None,
                "open_sync, reported by the server at /run/pg",
            ),
        ];
        for (source, wins, says) in cases {
            let advice = advice_with_source(source);
            assert_eq!(
                (
                    overriding_source(&advice),
                    current_value_with_source(&advice).as_str()
                ),
                (wins, says)
            );
        }
        let denied = Reading::denied("reading /srv/pg/postgresql.conf");
        let unknown = Advice {
            current: denied,
            ..advice_with_source(Source::Assumed)
        };
        assert_eq!(
            current_value_with_source(&unknown),
            "unknown: denied (reading /srv/pg/postgresql.conf)"
        );
        assert_eq!(overriding_source(&unknown), None);
    }
}
