//! The settings that storage decides, with how their values are written and what the server takes when nothing sets
//! them: the PostgreSQL manual, *Server Configuration*, and guc_tables.c. Values are kept in the server's own spelling.

use crate::facts::catalog::postgres;
use crate::facts::{FactSet, Key, KeyInfo, Reading, Source, Subject, Value, Why};
use crate::text::safe;
use crate::truth::Truth;
use crate::version::Version;

/// A setting and the fact that holds it.
pub struct Setting {
    /// Its name in the server.
    pub name: &'static str,
    slot: Slot,
    /// Whether this version has it.
    exists: fn(&Version) -> Truth,
    /// What it is when nothing sets it.
    default: fn(&Version) -> &'static str,
}

enum Slot {
    Flag(&'static Key<bool>),
    Word(&'static Key<String>),
    /// One of a few words; another is malformed.
    Choice(&'static KeyInfo),
    Count(&'static Key<u64>),
    Number(&'static Key<f64>),
    /// A size; without a unit it is so many of these bytes.
    Size(&'static Key<u64>, u64),
    /// Of whom only the shape is told, see [`crate::host::Question::PgSettings`].
    Standbys(&'static Key<u64>),
}

const MEGABYTE: u64 = 1 << 20;
/// A page of a server as nearly everybody builds it (BLCKSZ).
const PAGE: u64 = 8 << 10;

/// All of them.
pub static ALL: [Setting; 20] = [
    Setting { name: "fsync", slot: Slot::Flag(&postgres::FSYNC), exists: always, default: |_| "on" },
    Setting {
        name: "synchronous_commit",
        slot: Slot::Choice(&postgres::SYNCHRONOUS_COMMIT.info),
        exists: always,
        default: |_| "on",
    },
    Setting {
        name: "synchronous_standby_names",
        slot: Slot::Standbys(&postgres::STANDBYS),
        exists: always,
        default: |_| "",
    },
    Setting {
        name: "wal_sync_method",
        slot: Slot::Choice(&postgres::WAL_SYNC_METHOD.info),
        exists: always,
        // PLATFORM_DEFAULT_WAL_SYNC_METHOD of port/linux.h.
        default: |_| "fdatasync",
    },
    Setting {
        name: "full_page_writes",
        slot: Slot::Flag(&postgres::FULL_PAGE_WRITES),
        exists: always,
        default: |_| "on",
    },
    Setting {
        name: "wal_init_zero",
        slot: Slot::Flag(&postgres::WAL_INIT_ZERO),
        exists: |version| from_major(version, 12),
        default: |_| "on",
    },
    Setting {
        name: "wal_recycle",
        slot: Slot::Flag(&postgres::WAL_RECYCLE),
        exists: |version| from_major(version, 12),
        default: |_| "on",
    },
    Setting {
        name: "wal_level",
        slot: Slot::Choice(&postgres::WAL_LEVEL.info),
        exists: always,
        default: |version| if version.number(0) >= 10 { "replica" } else { "minimal" },
    },
    Setting {
        name: "max_wal_senders",
        slot: Slot::Count(&postgres::MAX_WAL_SENDERS),
        exists: always,
        default: |version| if version.number(0) >= 10 { "10" } else { "0" },
    },
    Setting {
        name: "max_wal_size",
        slot: Slot::Size(&postgres::MAX_WAL_SIZE, MEGABYTE),
        // 9.5 and 9.6 counted it in segments, and had 64 of them as the default.
        exists: |version| from_major(version, 10),
        default: |_| "1gb",
    },
    Setting {
        name: "data_sync_retry",
        slot: Slot::Flag(&postgres::DATA_SYNC_RETRY),
        exists: data_sync_retry,
        default: |_| "off",
    },
    Setting {
        name: "commit_delay",
        slot: Slot::Count(&postgres::COMMIT_DELAY),
        exists: always,
        default: |_| "0",
    },
    Setting {
        name: "debug_io_direct",
        slot: Slot::Word(&postgres::DEBUG_IO_DIRECT),
        exists: |version| from_major(version, 16),
        default: |_| "",
    },
    Setting {
        name: "wal_compression",
        slot: Slot::Choice(&postgres::WAL_COMPRESSION.info),
        exists: |version| from_release(version, (9, 5)),
        default: |_| "off",
    },
    Setting {
        name: "checkpoint_completion_target",
        slot: Slot::Number(&postgres::CHECKPOINT_TARGET),
        exists: always,
        default: |version| if version.number(0) >= 14 { "0.9" } else { "0.5" },
    },
    Setting {
        name: "checkpoint_flush_after",
        slot: Slot::Size(&postgres::CHECKPOINT_FLUSH_AFTER, PAGE),
        exists: |version| from_release(version, (9, 6)),
        // DEFAULT_CHECKPOINT_FLUSH_AFTER of bufmgr.h, where the system has sync_file_range(2).
        default: |_| "256kb",
    },
    Setting {
        name: "recovery_init_sync_method",
        slot: Slot::Choice(&postgres::RECOVERY_INIT_SYNC.info),
        exists: |version| from_major(version, 14),
        default: |_| "fsync",
    },
    Setting {
        name: "effective_io_concurrency",
        slot: Slot::Count(&postgres::IO_CONCURRENCY),
        exists: always,
        default: |version| if version.number(0) >= 18 { "16" } else { "1" },
    },
    Setting {
        name: "random_page_cost",
        slot: Slot::Number(&postgres::RANDOM_PAGE_COST),
        exists: always,
        default: |_| "4",
    },
    Setting {
        name: "file_extend_method",
        slot: Slot::Choice(&postgres::FILE_EXTEND_METHOD.info),
        exists: file_extend_method,
        default: |_| "posix_fallocate",
    },
];

/// The setting of this name.
pub fn named(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
}

fn always(_: &Version) -> Truth {
    Truth::True
}

fn from_major(version: &Version, major: u64) -> Truth {
    Truth::from(version.number(0) >= major)
}

fn from_release(version: &Version, release: (u64, u64)) -> Truth {
    Truth::from((version.number(0), version.number(1)) >= release)
}

/// It came with 12 and, on 2019-02-14, with the minor releases 11.2, 10.7, 9.6.12, 9.5.16 and 9.4.21.
fn data_sync_retry(version: &Version) -> Truth {
    let (at, from) = match (version.number(0), version.number(1)) {
        (12.., _) => return Truth::True,
        (11, _) => (1, 2),
        (10, _) => (1, 7),
        (9, 6) => (2, 12),
        (9, 5) => (2, 16),
        (9, 4) => (2, 21),
        _ => return Truth::False,
    };
    from_minor(version, at, from)
}

/// It came with 19 and, on 2026-02-12, with the minor releases 18.2, 17.8 and 16.12.
fn file_extend_method(version: &Version) -> Truth {
    match version.number(0) {
        19.. => Truth::True,
        18 => from_minor(version, 1, 2),
        17 => from_minor(version, 1, 8),
        16 => from_minor(version, 1, 12),
        _ => Truth::False,
    }
}

/// Whether the number at this place, the minor release, is so much or more; a version may lack it.
fn from_minor(version: &Version, at: usize, from: u64) -> Truth {
    if version.depth() > at { Truth::from(version.number(at) >= from) } else { Truth::Unknown }
}

impl Setting {
    /// Records the setting from what is configured: `None` when all was read and nothing sets it.
    pub fn put(
        &self,
        facts: &mut FactSet,
        cluster: &Subject,
        configured: Option<Reading<Vec<u8>>>,
        version: Option<&Version>,
    ) {
        let reading = self.in_force(configured, version);
        match self.slot {
            Slot::Flag(key) => facts.put(cluster, key, reading.and_then(|text| flag(&text))),
            Slot::Word(key) => facts.put(cluster, key, reading),
            Slot::Choice(key) => facts.put_value(cluster, key, reading.map(Value::Text)),
            Slot::Count(key) => facts.put(cluster, key, reading.and_then(|text| count(&text))),
            Slot::Number(key) => facts.put(cluster, key, reading.and_then(|text| number(&text))),
            Slot::Size(key, unit) => facts.put(cluster, key, reading.and_then(|text| size(&text, unit))),
            Slot::Standbys(key) => facts.put(cluster, key, reading.and_then(|shape| standbys(&shape))),
        }
    }

    fn in_force(&self, configured: Option<Reading<Vec<u8>>>, version: Option<&Version>) -> Reading<String> {
        let name = self.name;
        if let Some(version) = version
            && (self.exists)(version) == Truth::False
        {
            return Reading::unknown(Why::Absent, format!("PostgreSQL {} has no {name}", version.base()));
        }
        match (configured, version) {
            (Some(reading), _) => reading.map(|value| self.spelled(&value)),
            (None, None) => Reading::unknown(
                Why::NotCollected,
                format!("nothing sets {name}, and which version's default holds is not known"),
            ),
            (None, Some(version)) if (self.exists)(version) == Truth::Unknown => Reading::unknown(
                Why::Ambiguous,
                format!("whether this minor release of PostgreSQL {} has {name}", version.base()),
            ),
            (None, Some(version)) => {
                let of = format!("PostgreSQL {}", major(version));
                Reading::known((self.default)(version).to_owned(), Source::Default { of })
            }
        }
    }

    /// A value as the server itself would show it.
    pub fn spelled(&self, value: &[u8]) -> String {
        let text = safe(value.trim_ascii()).to_ascii_lowercase();
        match (self.name, text.as_str(), &self.slot) {
            ("synchronous_commit" | "wal_compression", "true" | "yes" | "1", _) => "on".to_owned(),
            ("synchronous_commit" | "wal_compression", "false" | "no" | "0", _) => "off".to_owned(),
            ("wal_level", "archive" | "hot_standby", _) => "replica".to_owned(),
            ("debug_io_direct", list, _) => {
                list.split(',').map(str::trim).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(",")
            }
            (_, _, Slot::Flag(_)) => match flag(&text) {
                Ok(on) => if on { "on" } else { "off" }.to_owned(),
                Err(_) => text,
            },
            (_, _, Slot::Count(_)) => count(&text).map_or(text, |number| number.to_string()),
            (_, _, Slot::Number(_)) => number(&text).map_or(text, |number| number.to_string()),
            // However it is written, a server's `1GB` and a file's `1024MB` are no difference.
            (_, _, Slot::Size(_, unit)) => {
                size(&text, *unit).map_or(text, |bytes| format!("{}kb", bytes / 1024))
            }
            _ => text,
        }
    }
}

/// For how many standbys a commit waits, by the shape that is told: `FIRST 1 (_)`, `ANY 2 (_, _)`, or nothing.
fn standbys(shape: &str) -> Result<u64, String> {
    if shape.is_empty() {
        return Ok(0);
    }
    let count = shape.split(' ').nth(1).and_then(|count| count.parse().ok());
    count.ok_or_else(|| "synchronous_standby_names has a form that the server refuses".to_owned())
}

/// The part of a version that decides about settings: `15`, `9.6`.
pub fn major(version: &Version) -> String {
    match version.number(0) {
        major @ 10.. => major.to_string(),
        major => format!("{major}.{}", version.number(1)),
    }
}

/// A boolean as the server reads it: unique prefixes of true, false, yes, no, on, off, and 1 and 0 (bool.c).
fn flag(text: &str) -> Result<bool, String> {
    let word = text.trim().to_ascii_lowercase();
    let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if word == "1" || begins("true", 1) || begins("yes", 1) || begins("on", 2) {
        Ok(true)
    } else if word == "0" || begins("false", 1) || begins("no", 1) || begins("off", 2) {
        Ok(false)
    } else {
        Err(format!("`{text}` is no boolean"))
    }
}

/// A number without a unit as the server reads it: decimal, hexadecimal, octal, or a fraction that is rounded. None of
/// those counted here takes a unit; the server refuses `commit_delay = 1ms`.
fn count(text: &str) -> Result<u64, String> {
    let word = text.trim();
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    let whole = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(hex) => radix(hex, 16),
        None if word.len() > 1 && word.starts_with('0') && word.bytes().all(|b| b.is_ascii_digit()) => {
            radix(word, 8)
        }
        None => radix(word, 10),
    };
    let fraction = || format!("{:.0}", number(word).ok()?.round_ties_even()).parse().ok();
    whole.or_else(fraction).ok_or_else(|| format!("`{text}` is no number of this setting"))
}

/// A number with a fraction, without a unit.
fn number(text: &str) -> Result<f64, String> {
    let word = text.trim();
    let numeric = word.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    let number = word.parse::<f64>().ok().filter(|number| numeric && (0.0..=1e15).contains(number));
    number.ok_or_else(|| format!("`{text}` is no number of this setting"))
}

/// A size in bytes, as the server reads it: a number with `kB`, `MB`, `GB` or `TB`, or of the setting's unit (guc.c).
/// Case is lost before.
fn size(text: &str, unit: u64) -> Result<u64, String> {
    const UNITS: [(&str, u64); 4] = [("kb", 1 << 10), ("mb", 1 << 20), ("gb", 1 << 30), ("tb", 1 << 40)];
    let word = text.trim().to_ascii_lowercase();
    let with_unit = UNITS.iter().find_map(|(unit, bytes)| Some((word.strip_suffix(unit)?, *bytes)));
    let (number, unit) = with_unit.unwrap_or((&word, unit));
    let fraction =
        || number.trim().parse::<f64>().ok().filter(|n| number.contains('.') && (0.0..=1e6).contains(n));
    let bytes = match fraction() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 10^6 TB, not negative"
        )]
        Some(number) => Some((number * unit as f64) as u64),
        None => count(number)?.checked_mul(unit),
    };
    bytes.ok_or_else(|| format!("`{text}` is more than there can be"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::shown;
    use crate::facts::Kind;

    fn setting(name: &str) -> &'static Setting {
        named(name).unwrap()
    }

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    /// Every word that a setting has is read, and no other.
    #[test]
    fn a_word_that_no_server_takes_is_malformed() {
        let cluster = Subject::cluster("/pg");
        let mut choices = 0;
        for setting in &ALL {
            let Slot::Choice(key) = setting.slot else { continue };
            let Kind::Choice(words) = key.kind else { panic!("{} is no choice", key.name) };
            choices += 1;
            for word in words.iter().chain(&["sideways"]) {
                let mut facts = FactSet::default();
                let configured =
                    Reading::known(word.as_bytes().to_vec(), Source::line("/pg/postgresql.conf", 3));
                setting.put(&mut facts, &cluster, Some(configured), Some(&version("18.4")));
                match facts.reading(&cluster, key.name) {
                    Reading::Known { value, .. } => assert_eq!(value.to_string(), *word, "{}", key.name),
                    Reading::Unknown { why, .. } => assert_eq!((*why, *word), (Why::Malformed, "sideways")),
                }
            }
        }
        assert!(choices >= 6, "{choices}");
    }

    fn default(name: &str, of: &str) -> Reading<String> {
        setting(name).in_force(None, Some(&version(of)))
    }

    #[test]
    fn booleans_are_read_as_the_server_reads_them() {
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
            assert_eq!(flag(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_as_the_server_reads_them() {
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
            assert_eq!(count(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn sizes_are_read_as_the_server_reads_them() {
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
            assert_eq!(size(text, MEGABYTE).ok(), expected, "{text}");
        }
        let spelled = |name, text: &str| setting(name).spelled(text.as_bytes());
        assert_eq!(spelled("max_wal_size", "1GB"), spelled("max_wal_size", "1024"));
        assert_eq!(spelled("checkpoint_flush_after", "256kB"), spelled("checkpoint_flush_after", "32"));
        assert_eq!(spelled("random_page_cost", "4.0"), spelled("random_page_cost", "4"));
    }

    #[test]
    fn defaults_are_those_of_the_version() {
        let value = |name, of| default(name, of).value().cloned();
        assert_eq!(value("wal_level", "9.6.3").as_deref(), Some("minimal"));
        assert_eq!(value("wal_level", "15.20").as_deref(), Some("replica"));
        assert_eq!(value("max_wal_senders", "15").as_deref(), Some("10"));
        assert_eq!(value("wal_sync_method", "15").as_deref(), Some("fdatasync"));
        assert_eq!(
            default("fsync", "15.20").source(),
            Some(&Source::Default { of: "PostgreSQL 15".to_owned() })
        );
        for (name, of) in [
            ("wal_init_zero", "11.9"),
            ("debug_io_direct", "15"),
            ("data_sync_retry", "9.3.2"),
            ("file_extend_method", "16.11"),
            ("recovery_init_sync_method", "13.20"),
        ] {
            assert!(matches!(default(name, of), Reading::Unknown { why: Why::Absent, .. }), "{name} {of}");
        }
        assert!(matches!(default("data_sync_retry", "11"), Reading::Unknown { why: Why::Ambiguous, .. }));
        assert_eq!(value("data_sync_retry", "11.2").as_deref(), Some("off"));
        assert_eq!(value("data_sync_retry", "9.6.11"), None);
        assert_eq!(value("file_extend_method", "17.8").as_deref(), Some("posix_fallocate"));
        assert!(matches!(default("file_extend_method", "18"), Reading::Unknown { why: Why::Ambiguous, .. }));
        assert_eq!(value("checkpoint_completion_target", "13.4").as_deref(), Some("0.5"));
        assert_eq!(value("effective_io_concurrency", "18.2").as_deref(), Some("16"));
        assert!(!setting("fsync").in_force(None, None).is_known());
    }

    #[test]
    fn synonyms_become_the_word_the_server_shows() {
        for (name, value, expected) in [
            ("synchronous_commit", "TRUE", "on"),
            ("wal_compression", "true", "on"),
            ("synchronous_commit", "remote_apply", "remote_apply"),
            ("wal_level", "hot_standby", "replica"),
            ("full_page_writes", "no", "off"),
            ("debug_io_direct", " wal , data", "wal,data"),
            ("commit_delay", "0x0A", "10"),
        ] {
            assert_eq!(setting(name).spelled(value.as_bytes()), expected, "{name} {value}");
        }
    }

    proptest! {
        #[test]
        fn hostile_values_never_fail(value: Vec<u8>) {
            for setting in &ALL {
                let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/pg"));
                let reading = Reading::known(value.clone(), Source::line("/pg/postgresql.conf", 1));
                setting.put(&mut facts, &cluster, Some(reading), Some(&version("16")));
                let shown = shown(&facts);
                prop_assert!(!shown.chars().any(crate::text::is_treacherous), "{}", shown);
            }
        }
    }
}
