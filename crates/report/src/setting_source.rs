//! The source of a server setting's present value, and sources that override the configuration
//! file.
//!
//! PostgreSQL's command line overrides ALTER SYSTEM (PostgreSQL manual, *Setting Parameters*), but
//! MySQL's SET PERSIST overrides the command line (MySQL manual, *Using Option Files*).

use walwise_judge::rules::{Advice, Change};
use walwise_model::facts::{Reading, Source, Value};
use walwise_model::settings::Setting;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// postgresql.auto.conf, which ALTER SYSTEM writes.
    AlterSystem,
    /// mysqld-auto.cnf, which SET PERSIST writes.
    Persisted,
    CommandLine,
    ConfigFile,
    /// Only the server reports the value, so it may come from any of the above.
    ServerOrUnknown,
    Other,
}

impl ValueOrigin {
    /// The instruction for a change of a source that overrides `file`, a phrase such as
    /// `this file`.
    pub fn override_instruction(self, file: &str) -> Option<String> {
        match self {
            Self::AlterSystem => Some(format!(
                "ALTER SYSTEM overrides {file}: use ALTER SYSTEM SET or RESET"
            )),
            Self::Persisted => Some(format!(
                "SET PERSIST overrides {file} and the command line: use SET PERSIST or RESET \
                 PERSIST"
            )),
            Self::CommandLine => Some(
                "the server's command line overrides files: change the option there and restart"
                    .to_owned(),
            ),
            Self::ConfigFile | Self::ServerOrUnknown | Self::Other => None,
        }
    }
}

pub fn value_origin(advice: &Advice) -> ValueOrigin {
    match advice.current.source() {
        Some(Source::File { path, .. }) => match path.rsplit('/').next() {
            Some("cmdline") if path.starts_with("/proc/") => ValueOrigin::CommandLine,
            Some("postgresql.auto.conf") => ValueOrigin::AlterSystem,
            Some("mysqld-auto.cnf") => ValueOrigin::Persisted,
            _ => ValueOrigin::ConfigFile,
        },
        Some(Source::Server { .. }) | None => ValueOrigin::ServerOrUnknown,
        Some(_) => ValueOrigin::Other,
    }
}

/// The value that the advice sets, and the present value, if they differ.
pub fn value_change(advice: &Advice) -> Option<(String, Option<String>)> {
    let Change::Set(value) = &advice.change else {
        return None;
    };
    let now = advice
        .current
        .value()
        .map(|now| advice.setting.format_config_value(now));
    (now.as_ref() != Some(value)).then(|| (value.clone(), now))
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
                ValueOrigin::ConfigFile,
                "open_sync, set in /etc/pg/conf.d/10-old.conf:1",
            ),
            (
                Source::from_file_line("/srv/pg/postgresql.auto.conf", 3),
                ValueOrigin::AlterSystem,
                "open_sync, set in /srv/pg/postgresql.auto.conf:3",
            ),
            (
                Source::from_file("/proc/10/cmdline"),
                ValueOrigin::CommandLine,
                "open_sync, set in /proc/10/cmdline",
            ),
            (
                Source::Command {
                    argv: "pg_controldata -D /srv/pg".to_owned(),
                },
                ValueOrigin::Other,
                "open_sync, reported by `pg_controldata -D /srv/pg`",
            ),
            (
                Source::from_file_line("/srv/db/mysqld-auto.cnf", 1),
                ValueOrigin::Persisted,
                "open_sync, set in /srv/db/mysqld-auto.cnf:1",
            ),
            (
                Source::from_file_line("/srv/cmdline", 1),
                ValueOrigin::ConfigFile,
                "open_sync, set in /srv/cmdline:1",
            ),
            (
                Source::Default {
                    of: "PostgreSQL 15".to_owned(),
                },
                ValueOrigin::Other,
                "open_sync, the default of PostgreSQL 15",
            ),
            (
                Source::Server {
                    socket: "/run/pg".to_owned(),
                },
                ValueOrigin::ServerOrUnknown,
                "open_sync, reported by the server at /run/pg",
            ),
        ];
        for (source, wins, says) in cases {
            let advice = advice_with_source(source);
            assert_eq!(
                (
                    value_origin(&advice),
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
        assert_eq!(value_origin(&unknown), ValueOrigin::ServerOrUnknown);
    }
}
