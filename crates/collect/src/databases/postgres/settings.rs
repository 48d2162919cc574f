//! The settings that affect storage: how their values are spelled, and which value applies if
//! nothing sets one. First versions and defaults come from the table ([`crate::servers`]).

use std::sync::LazyLock;

use crate::databases::SettingReading;
use crate::facts::{KeyInfo, Reading, ServerArea, Source, Value, ValueKind, catalog};
use crate::servers::{self, PostgresSettingRow, ValueExposure};
use crate::ternary::Ternary;
use crate::text::display_safe;
use crate::version::Version;
use walwise_model::text::JoinText;

pub struct ConfigParameter {
    pub name: &'static str,
    pub fact: &'static KeyInfo,
    row: &'static PostgresSettingRow,
}

pub static ALL: LazyLock<Vec<ConfigParameter>> = LazyLock::new(|| {
    let rows = servers::server_settings_table().postgres.iter();
    let parameters = rows.filter(|row| row.read).flat_map(|row| {
        row.names.iter().filter_map(move |name| {
            let fact = row.fact.clone().unwrap_or_else(|| format!("pg.{name}"));
            let fact = catalog::find_by_name(&fact)?;
            Some(ConfigParameter { name, fact, row })
        })
    });
    parameters.collect()
});

impl ConfigParameter {
    /// Equal values in different spellings give equal results.
    pub fn parse_value(&self, value: &[u8], version: Option<&Version>) -> Result<Value, String> {
        let text = &display_safe(value.trim_ascii()).to_ascii_lowercase();
        // The host masks the names in such a value (see [`crate::host::Question::PgSettings`]).
        let exposure = servers::settings_safe_to_read(ServerArea::Pg).get(self.name);
        if matches!(exposure, Some(ValueExposure::Shape)) {
            return parse_standby_count(text).map(Value::Whole);
        }
        match self.fact.kind {
            ValueKind::Bool => parse_flag(text).map(Value::Bool),
            ValueKind::Count => parse_count(text).map(Value::Whole),
            ValueKind::Number => parse_number(text).map(Value::Number),
            ValueKind::Micros => {
                parse_duration_micros(text, self.row.bytes_of_implied_unit(version))
                    .map(Value::Number)
            }
            ValueKind::Bytes => {
                parse_size(text, self.row.bytes_of_implied_unit(version)).map(Value::Whole)
            }
            // An unknown word passes here. It becomes *malformed* when the fact is recorded.
            ValueKind::Text
            | ValueKind::Choice(_)
            | ValueKind::Version
            | ValueKind::List
            | ValueKind::Choices(_) => Ok(Value::Text(normalise_enum_value(self.name, text))),
        }
    }

    /// `configured` is `None` if all files were read and none of them sets a value.
    pub fn value_in_force(
        &self,
        configured: Option<SettingReading>,
        version: Option<&Version>,
    ) -> Reading<Value> {
        let name = self.name;
        let release = version.map(|version| (self.row.exists_or_is_assumed_in(version), version));
        match (configured, release) {
            (_, Some((Ternary::False, version))) => Reading::absent(format!(
                "PostgreSQL {} has no {name}",
                version.numeric_part()
            )),
            (Some(configured), _) => configured.and_then_reading(|value, source| {
                let text = display_safe(value.trim_ascii());
                if self.has_unknown_unit(&text, version) {
                    return Reading::uncollected(format!(
                        "{source}: the unit of {name} = {text} depends on the server's version, which is unknown"
                    ));
                }
                Reading::known(value, source).and_then(|value| self.parse_value(&value, version))
            }),
            (None, None) => Reading::uncollected(format!(
                "{name} is not set, and its default depends on the server's version, which is unknown"
            )),
            (None, Some((Ternary::Unknown, version))) => Reading::ambiguous(format!(
                "some minor releases of PostgreSQL {} lack {name}",
                version.numeric_part()
            )),
            (None, Some((Ternary::True, version))) => {
                let of = format!("PostgreSQL {}", major_version_text(version));
                match self.row.default_in(version) {
                    Some(default) => Reading::known(default, Source::Default { of })
                        .and_then(|text| self.parse_value(text.as_bytes(), Some(version))),
                    None => {
                        Reading::absent(format!("{name} is not set, so {of} computes the value"))
                    }
                }
            }
        }
    }

    fn has_unknown_unit(&self, text: &str, version: Option<&Version>) -> bool {
        self.fact.kind == ValueKind::Bytes
            && self.row.bytes_of_implied_unit(version).is_none()
            && parse_size(text, Some(1)).is_ok()
            && parse_size(text, None).is_err()
    }
}

/// One spelling for all words that the server treats alike.
pub fn normalise_enum_value(name: &str, word: &str) -> String {
    match (name, word) {
        ("synchronous_commit" | "wal_compression", "true" | "yes" | "1") => "on".to_owned(),
        ("synchronous_commit" | "wal_compression", "false" | "no" | "0") => "off".to_owned(),
        ("wal_level", "archive" | "hot_standby") => "replica".to_owned(),
        ("debug_io_direct", words) => {
            let words = words.split(',').map(str::trim);
            words.filter(|word| !word.is_empty()).join_with(",")
        }
        (_, word) => word.to_owned(),
    }
}

/// The number of standbys that a commit waits for. The host masks the names of standbys: `FIRST 1
/// (_)`, `ANY 2 (_, _)`, or an empty string.
fn parse_standby_count(shape: &str) -> Result<u64, String> {
    if shape.is_empty() {
        return Ok(0);
    }
    let count = shape.split(' ').nth(1).and_then(|count| count.parse().ok());
    count.ok_or_else(|| "synchronous_standby_names is not valid".to_owned())
}

/// The major version: `15`, or `9.6` before version 10.
pub fn major_version_text(version: &Version) -> String {
    match version.number(0) {
        major @ 10.. => major.to_string(),
        major => format!("{major}.{}", version.number(1)),
    }
}

/// Parses a Boolean as the server does: 1, 0, or a unique prefix of true, false, yes, no, on or off
/// (bool.c).
fn parse_flag(text: &str) -> Result<bool, String> {
    let word = text.trim().to_ascii_lowercase();
    let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if word == "1" || begins("true", 1) || begins("yes", 1) || begins("on", 2) {
        Ok(true)
    } else if word == "0" || begins("false", 1) || begins("no", 1) || begins("off", 2) {
        Ok(false)
    } else {
        Err(format!("`{text}` is not a boolean"))
    }
}

/// Parses a number without a unit as the server reads it: decimal, hexadecimal, octal, or a
/// fraction, which is rounded.
fn parse_count(text: &str) -> Result<u64, String> {
    let word = text.trim();
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    let whole = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(hex) => radix(hex, 16),
        None if word.len() > 1
            && word.starts_with('0')
            && word.bytes().all(|b| b.is_ascii_digit()) =>
        {
            radix(word, 8)
        }
        None => radix(word, 10),
    };
    let fraction = || {
        format!("{:.0}", parse_number(word).ok()?.round_ties_even())
            .parse()
            .ok()
    };
    whole
        .or_else(fraction)
        .ok_or_else(|| format!("`{text}` is not a number that this setting accepts"))
}

fn parse_number(text: &str) -> Result<f64, String> {
    let word = text.trim();
    let numeric = word
        .bytes()
        .all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    let number = word
        .parse::<f64>()
        .ok()
        .filter(|number| numeric && (0.0..=1e15).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number that this setting accepts"))
}

/// Parses a size in `kB`, `MB`, `GB` or `TB`, in any case of letters, into bytes. A plain number
/// counts in `unit` (guc.c).
pub fn parse_size(text: &str, unit: Option<u64>) -> Result<u64, String> {
    const UNITS: [(&str, u64); 4] = [
        ("kb", 1 << 10),
        ("mb", 1 << 20),
        ("gb", 1 << 30),
        ("tb", 1 << 40),
    ];
    let word = text.trim().to_ascii_lowercase();
    let (number, unit) = split_unit(&word, &UNITS, unit)?;
    let fraction = || {
        number
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|n| number.contains('.') && (0.0..=1e6).contains(n))
    };
    let bytes = match fraction() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 10^6 TB, not negative"
        )]
        // In the server, every size that is read here is a whole number of kB.
        Some(number) => Some((number * unit as f64) as u64 / 1024 * 1024),
        None => parse_count(number)?.checked_mul(unit),
    };
    bytes.ok_or_else(|| format!("`{text}` exceeds the maximum"))
}

/// Splits a value into its number and its unit. `implied` is the unit of a value without one.
fn split_unit<'a, T: Copy>(
    value: &'a str,
    units: &[(&str, T)],
    implied: Option<T>,
) -> Result<(&'a str, T), String> {
    let named = units
        .iter()
        .find_map(|(unit, size)| Some((value.strip_suffix(unit)?, *size)));
    named
        .or(implied.map(|unit| (value, unit)))
        .ok_or_else(|| format!("`{value}` has no unit"))
}

/// Parses a time in `us`, `ms`, `s`, `min`, `h` or `d`, in any case of letters, into microseconds.
/// A plain number counts in `unit` (guc.c).
fn parse_duration_micros(text: &str, unit: Option<u64>) -> Result<f64, String> {
    const UNITS: [(&str, f64); 6] = [
        ("us", 1.0),
        ("ms", 1e3),
        ("min", 60e6),
        ("s", 1e6),
        ("h", 3600e6),
        ("d", 86_400e6),
    ];
    let word = text.trim().to_ascii_lowercase();
    let (figure, unit) = split_unit(&word, &UNITS, unit.map(|unit| unit as f64))?;
    let micros = parse_number(figure)? * unit;
    (micros <= 1e15)
        .then_some(micros)
        .ok_or_else(|| format!("`{text}` exceeds the maximum"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::{FactSet, Subject, UnknownReason};
    use crate::testing::displayed_notes_and_readings;

    fn parameter_by_name(name: &str) -> &'static ConfigParameter {
        ALL.iter().find(|setting| setting.name == name).unwrap()
    }

    fn parse_version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn choices_accept_only_their_words() {
        let cluster = Subject::cluster("/pg");
        let mut choices = 0;
        for setting in ALL.iter() {
            let key = setting.fact;
            let ValueKind::Choice(words) = key.kind else {
                continue;
            };
            choices += 1;
            for word in words.iter().chain(&["sideways"]) {
                let mut facts = FactSet::default();
                let configured = Reading::known(
                    word.as_bytes().to_vec(),
                    Source::from_file_line("/pg/postgresql.conf", 3),
                );
                let reading =
                    setting.value_in_force(Some(configured), Some(&parse_version("18.4")));
                facts.insert_untyped_value(&cluster, key, reading);
                match facts.reading(&cluster, key.id) {
                    Reading::Known { value, .. } => {
                        assert_eq!(value.to_string(), *word, "{}", key.name);
                    }
                    Reading::Unknown { why, .. } => {
                        assert_eq!((*why, *word), (UnknownReason::Malformed, "sideways"));
                    }
                }
            }
        }
        assert!(choices >= 6, "{choices}");
    }

    #[test]
    fn every_readable_parameter_has_fact_and_default() {
        let names: Vec<&str> = ALL.iter().map(|setting| setting.name).collect();
        let read = servers::server_settings_table()
            .postgres
            .iter()
            .filter(|row| row.read)
            .flat_map(|row| &row.names);
        assert_eq!(names, read.collect::<Vec<_>>());
        for setting in ALL.iter() {
            assert!(
                servers::settings_safe_to_read(ServerArea::Pg).contains_key(setting.name),
                "{}",
                setting.name
            );
            assert!(
                setting.row.default_in(&parse_version("16")).is_some(),
                "{}",
                setting.name
            );
            if setting.row.is_as_old_as_table() {
                assert!(
                    default_reading(setting.name, "9.0").is_known(),
                    "{}",
                    setting.name
                );
            }
        }
    }

    #[test]
    fn durations_parse_like_the_server() {
        for (text, expected) in [
            ("300", Some(300e6)),
            ("5min", Some(300e6)),
            ("1.5 h", Some(5400e6)),
            ("30 S", Some(30e6)),
            ("1d", Some(86_400e6)),
            ("500ms", Some(0.5e6)),
            ("min", None),
            ("5 weeks", None),
            ("-1", None),
        ] {
            assert_eq!(
                parse_duration_micros(text, Some(1_000_000)).ok(),
                expected,
                "{text}"
            );
        }
        assert!(parse_duration_micros("300", None).is_err());
        let parsed = |text: &str| {
            let setting = parameter_by_name("checkpoint_timeout");
            setting.parse_value(text.as_bytes(), None).unwrap()
        };
        assert_eq!(parsed("5min"), parsed("300"));
    }

    fn default_reading(name: &str, of: &str) -> Reading<Value> {
        parameter_by_name(name).value_in_force(None, Some(&parse_version(of)))
    }

    #[test]
    fn booleans_parse_like_the_server() {
        for (text, expected) in [
            ("on", Some(true)),
            ("ON", Some(true)),
            ("t", Some(true)),
            ("tru", Some(true)),
            ("y", Some(true)),
            ("1", Some(true)),
            ("off", Some(false)),
            ("of", Some(false)),
            ("f", Some(false)),
            ("n", Some(false)),
            ("0", Some(false)),
            ("o", None),
            ("", None),
            ("truer", None),
            ("2", None),
            ("onn", None),
        ] {
            assert_eq!(parse_flag(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_parse_like_the_server() {
        for (text, expected) in [
            ("10", Some(10)),
            (" 7 ", Some(7)),
            ("0x10", Some(16)),
            ("010", Some(8)),
            ("5.6", Some(6)),
            ("0", Some(0)),
            ("1e3", Some(1000)),
            ("1ms", None),
            ("-1", None),
            ("", None),
            ("inf", None),
            ("nan", None),
        ] {
            assert_eq!(parse_count(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn sizes_parse_like_the_server() {
        for (text, expected) in [
            ("1GB", Some(1 << 30)),
            ("1024", Some(1 << 30)),
            (" 64 MB ", Some(64 << 20)),
            ("1048576kB", Some(1 << 30)),
            ("2TB", Some(2 << 40)),
            ("1.5GB", Some(3 << 29)),
            ("99999999999TB", None),
            ("GB", None),
            ("1 PB", None),
            ("-1", None),
        ] {
            assert_eq!(parse_size(text, Some(1 << 20)).ok(), expected, "{text}");
        }
        let spelled = |name, text: &str| {
            let setting = parameter_by_name(name);
            setting
                .parse_value(text.as_bytes(), Some(&parse_version("15.20")))
                .unwrap()
        };
        assert_eq!(
            spelled("max_wal_size", "1GB"),
            spelled("max_wal_size", "1024")
        );
        assert_eq!(
            spelled("checkpoint_flush_after", "256kB"),
            spelled("checkpoint_flush_after", "32")
        );
        assert_eq!(
            spelled("checkpoint_completion_target", "0.90"),
            spelled("checkpoint_completion_target", "0.9")
        );
    }

    /// PostgreSQL 9.5 and 9.6 count max_wal_size in segments of 16 MB, later releases in megabytes.
    /// For an unknown version a plain number may be either.
    #[test]
    fn unit_of_bare_size_depends_on_version() {
        let (cluster, fact) = (
            Subject::cluster("/pg"),
            parameter_by_name("max_wal_size").fact.id,
        );
        for (text, of, expected) in [
            ("64", Some("9.5.25"), Some(1 << 30)),
            ("64", Some("9.6"), Some(1 << 30)),
            ("64", Some("10"), Some(64 << 20)),
            ("64", Some("18.1"), Some(64 << 20)),
            ("2GB", Some("9.6.24"), Some(2 << 30)),
            ("2GB", None, Some(2 << 30)),
            ("64", None, None),
        ] {
            let (mut facts, of) = (FactSet::default(), of.map(parse_version));
            let written = Reading::known(
                text.as_bytes().to_vec(),
                Source::from_file_line("/pg/postgresql.conf", 3),
            );
            let setting = parameter_by_name("max_wal_size");
            let reading = setting.value_in_force(Some(written), of.as_ref());
            facts.insert_untyped_value(&cluster, setting.fact, reading);
            match (facts.reading(&cluster, fact), expected) {
                (Reading::Known { value, .. }, Some(bytes)) => {
                    assert_eq!(value, &Value::Whole(bytes), "{text}");
                }
                (Reading::Unknown { why, .. }, None) => {
                    assert_eq!(*why, UnknownReason::NotCollected);
                }
                (reading, _) => panic!("{text} {of:?}: {reading:?}"),
            }
        }
    }

    #[test]
    fn defaults_depend_on_version() {
        let value = |name, of| default_reading(name, of).value().map(ToString::to_string);
        assert_eq!(value("wal_level", "9.6.3").as_deref(), Some("minimal"));
        assert_eq!(value("wal_level", "15.20").as_deref(), Some("replica"));
        assert_eq!(value("max_wal_senders", "15").as_deref(), Some("10"));
        assert_eq!(value("wal_sync_method", "15").as_deref(), Some("fdatasync"));
        assert_eq!(
            default_reading("fsync", "15.20").source(),
            Some(&Source::Default {
                of: "PostgreSQL 15".to_owned()
            })
        );
        for (name, of) in [
            ("wal_init_zero", "11.9"),
            ("debug_io_direct", "15"),
            ("data_sync_retry", "9.3.2"),
            ("file_extend_method", "16.11"),
            ("recovery_init_sync_method", "13.20"),
            ("max_wal_size", "9.4.26"),
        ] {
            assert!(
                matches!(
                    default_reading(name, of),
                    Reading::Unknown {
                        why: UnknownReason::Absent,
                        ..
                    }
                ),
                "{name} {of}"
            );
        }
        assert!(matches!(
            default_reading("data_sync_retry", "11"),
            Reading::Unknown {
                why: UnknownReason::Ambiguous,
                ..
            }
        ));
        assert_eq!(value("data_sync_retry", "11.2").as_deref(), Some("no"));
        assert_eq!(value("data_sync_retry", "9.6.11"), None);
        assert_eq!(
            value("file_extend_method", "17.8").as_deref(),
            Some("posix_fallocate")
        );
        assert!(matches!(
            default_reading("file_extend_method", "18"),
            Reading::Unknown {
                why: UnknownReason::Ambiguous,
                ..
            }
        ));
        assert_eq!(
            value("checkpoint_completion_target", "13.4").as_deref(),
            Some("0.50")
        );
        assert_eq!(
            value("max_wal_size", "9.6.24").as_deref(),
            Some("1073741824")
        );
        assert_eq!(
            value("effective_io_concurrency", "18.2").as_deref(),
            Some("16")
        );
        assert!(
            !parameter_by_name("fsync")
                .value_in_force(None, None)
                .is_known()
        );
    }

    #[test]
    fn synonyms_become_canonical_values() {
        for (name, value, expected) in [
            ("synchronous_commit", "TRUE", "on"),
            ("wal_compression", "true", "on"),
            ("synchronous_commit", "remote_apply", "remote_apply"),
            ("wal_level", "hot_standby", "replica"),
            ("debug_io_direct", " wal , data", "wal,data"),
            ("commit_delay", "0x0A", "10"),
        ] {
            assert_eq!(
                parameter_by_name(name)
                    .parse_value(value.as_bytes(), None)
                    .unwrap()
                    .to_string(),
                expected,
                "{name} {value}"
            );
        }
    }

    proptest! {
        #[test]
        fn arbitrary_values_never_panic(value: Vec<u8>) {
            for setting in ALL.iter() {
                let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/pg"));
                let reading = Reading::known(value.clone(), Source::from_file_line("/pg/postgresql.conf", 1));
                let reading = setting.value_in_force(Some(reading), Some(&parse_version("16")));
                facts.insert_untyped_value(&cluster, setting.fact, reading);
                let shown = displayed_notes_and_readings(&facts);
                prop_assert!(!shown.chars().any(crate::text::is_display_unsafe), "{}", shown);
            }
        }
    }
}
