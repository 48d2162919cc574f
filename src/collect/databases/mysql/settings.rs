//! The settings that affect storage, with the spelling of their values and the server's defaults: the reference manuals
//! of MySQL (5.7, 8.0, 8.4) and MariaDB, and `--verbose --help` of their servers.

use super::edition::{Edition, ProductLine};
use crate::facts::catalog::mysql::{self, Doublewrite, FlushMethod, PageChecksum};
use crate::facts::{Choice, FactSet, Key, KeyInfo, Reading, Source, Subject, Value, Why};
use crate::text::safe;
use crate::version::Version;

/// A setting and the fact that holds it.
pub struct ServerVariable {
    /// Its name in the server.
    pub name: &'static str,
    slot: Slot,
    /// Its default, by line and version.
    default: fn(ProductLine, &Version) -> Default,
}

enum Slot {
    Flag(&'static Key<bool>),
    Word(&'static Key<String>),
    /// One of a few words, with a function for its other spellings; any other word is malformed.
    Choice(&'static KeyInfo, fn(&str) -> Option<&'static str>),
    Count(&'static Key<u64>),
    Bytes(&'static Key<u64>),
}

/// The default of a setting.
pub enum Default {
    /// A fixed value.
    Is(&'static str),
    /// A value that the server computes.
    Own,
    /// This version does not have the setting.
    None,
}

use Default::{Is, None as No, Own};

/// All settings.
pub const ALL: [ServerVariable; 19] = [
    ServerVariable {
        name: "innodb_flush_method",
        slot: Slot::Choice(&mysql::FLUSH_METHOD.info, |text| flush_method(text).map(FlushMethod::word)),
        default: |line, version| match line {
            ProductLine::Mysql if from(version, 8, 4) => Is("O_DIRECT"),
            ProductLine::Mariadb if from(version, 10, 6) => Is("O_DIRECT"),
            _ => Is("fsync"),
        },
    },
    ServerVariable {
        name: "innodb_flush_log_at_trx_commit",
        slot: Slot::Count(&mysql::FLUSH_LOG),
        default: |_, _| Is("1"),
    },
    ServerVariable {
        name: "sync_binlog",
        slot: Slot::Count(&mysql::SYNC_BINLOG),
        default: |line, version| {
            if line == ProductLine::Mysql && from(version, 5, 7) { Is("1") } else { Is("0") }
        },
    },
    ServerVariable {
        name: "log_bin",
        slot: Slot::Flag(&mysql::LOG_BIN),
        default: |line, version| {
            if line == ProductLine::Mysql && from(version, 8, 0) { Is("1") } else { Is("0") }
        },
    },
    ServerVariable {
        name: "binlog_storage_engine",
        slot: Slot::Word(&mysql::BINLOG_ENGINE),
        default: |line, version| {
            if line == ProductLine::Mariadb && from(version, 12, 3) { Is("") } else { No }
        },
    },
    ServerVariable {
        name: "innodb_doublewrite",
        slot: Slot::Choice(&mysql::DOUBLEWRITE.info, |text| doublewrite(text).map(Doublewrite::word)),
        default: |_, _| Is("on"),
    },
    ServerVariable {
        name: "innodb_checksum_algorithm",
        slot: Slot::Choice(&mysql::CHECKSUM.info, |text| checksum(text).map(PageChecksum::word)),
        default: |line, version| match line {
            ProductLine::Mariadb if from(version, 10, 5) => Is("full_crc32"),
            _ => Is("crc32"),
        },
    },
    ServerVariable {
        name: "innodb_io_capacity",
        slot: Slot::Count(&mysql::IO_CAPACITY),
        default: |line, version| {
            if line == ProductLine::Mysql && from(version, 8, 4) { Is("10000") } else { Is("200") }
        },
    },
    ServerVariable {
        name: "innodb_io_capacity_max",
        slot: Slot::Count(&mysql::IO_CAPACITY_MAX),
        default: |_, _| Own,
    },
    ServerVariable {
        name: "innodb_page_size",
        slot: Slot::Bytes(&mysql::PAGE_SIZE),
        default: |_, _| Is("16384"),
    },
    ServerVariable {
        name: "innodb_use_native_aio",
        slot: Slot::Flag(&mysql::NATIVE_AIO),
        default: |_, _| Is("1"),
    },
    ServerVariable {
        name: "innodb_flush_neighbors",
        slot: Slot::Count(&mysql::FLUSH_NEIGHBORS),
        default: |line, version| {
            if line == ProductLine::Mysql && from(version, 8, 0) { Is("0") } else { Is("1") }
        },
    },
    ServerVariable {
        name: "innodb_redo_log_capacity",
        slot: Slot::Bytes(&mysql::REDO_CAPACITY),
        default: |line, version| {
            if line == ProductLine::Mysql && since(version, [8, 0, 30]) { Own } else { No }
        },
    },
    ServerVariable {
        name: "innodb_log_file_size",
        slot: Slot::Bytes(&mysql::LOG_FILE_SIZE),
        default: |_, _| Own,
    },
    ServerVariable {
        name: "innodb_use_fdatasync",
        slot: Slot::Flag(&mysql::USE_FDATASYNC),
        default: |line, version| match line {
            ProductLine::Mysql if from(version, 8, 4) => Is("1"),
            ProductLine::Mysql if since(version, [8, 0, 26]) => Is("0"),
            _ => No,
        },
    },
    ServerVariable {
        name: "innodb_dedicated_server",
        slot: Slot::Flag(&mysql::DEDICATED),
        default: |line, version| {
            if line == ProductLine::Mysql && since(version, [8, 0, 3]) { Is("0") } else { No }
        },
    },
    ServerVariable {
        name: "innodb_log_write_ahead_size",
        slot: Slot::Bytes(&mysql::LOG_WRITE_AHEAD),
        default: |line, version| {
            if line == ProductLine::Mysql && since(version, [5, 7, 4]) { Is("8192") } else { No }
        },
    },
    ServerVariable {
        name: "innodb_data_file_buffering",
        slot: Slot::Flag(&mysql::DATA_FILE_BUFFERING),
        default: |line, version| {
            if line == ProductLine::Mariadb && from(version, 11, 0) { Is("0") } else { No }
        },
    },
    ServerVariable {
        name: "innodb_log_file_buffering",
        slot: Slot::Flag(&mysql::LOG_FILE_BUFFERING),
        default: |line, version| {
            if line == ProductLine::Mariadb && since(version, [10, 8, 4]) { Own } else { No }
        },
    },
];

/// Whether a version is of this series or a later one.
pub fn from(version: &Version, major: u64, minor: u64) -> bool {
    (version.number(0), version.number(1)) >= (major, minor)
}

/// Whether a version is this release or a later one.
pub fn since(version: &Version, release: [u64; 3]) -> bool {
    [version.number(0), version.number(1), version.number(2)] >= release
}

impl ServerVariable {
    /// Records the setting from the configuration; `None` when all was read and nothing sets it.
    pub fn put(
        &self,
        facts: &mut FactSet,
        cluster: &Subject,
        configured: Option<Reading<Vec<u8>>>,
        edition: &Edition,
    ) {
        let reading = self.in_force(configured, edition);
        match self.slot {
            Slot::Flag(key) => facts.put(cluster, key, reading.and_then(|text| flag(self.name, &text))),
            Slot::Word(key) => facts.put(cluster, key, reading),
            Slot::Choice(key, word) => {
                let reading = reading.map(|text| word(&text).map_or(text, ToOwned::to_owned));
                facts.put_value(cluster, key, reading.map(Value::Text));
            }
            Slot::Count(key) | Slot::Bytes(key) => {
                facts.put(cluster, key, reading.and_then(|text| number(&text)));
            }
        }
    }

    /// A value in the form in which two values are compared.
    pub fn spelled(&self, value: &[u8]) -> String {
        let text = safe(value.trim_ascii());
        let plain = match self.slot {
            Slot::Flag(_) => flag(self.name, &text).ok().map(|on| on.to_string()),
            Slot::Word(_) => None,
            Slot::Choice(_, word) => word(&text).map(ToOwned::to_owned),
            Slot::Count(_) | Slot::Bytes(_) => number(&text).ok().map(|number| number.to_string()),
        };
        plain.unwrap_or(text)
    }

    /// Whether SET GLOBAL changes it at run time, in any version that the server may be.
    pub fn is_dynamic(&self, edition: &Edition) -> bool {
        match self.name {
            "innodb_flush_log_at_trx_commit"
            | "sync_binlog"
            | "innodb_io_capacity"
            | "innodb_io_capacity_max"
            | "innodb_flush_neighbors"
            | "innodb_redo_log_capacity"
            | "innodb_log_file_size"
            | "innodb_log_file_buffering"
            | "innodb_log_write_ahead_size"
            | "innodb_checksum_algorithm"
            | "innodb_data_file_buffering"
            | "innodb_use_fdatasync" => true,
            "innodb_doublewrite" => edition.known().is_none_or(|(line, version)| match line {
                ProductLine::Mysql => since(version, [8, 0, 30]),
                ProductLine::Mariadb => from(version, 11, 0),
            }),
            _ => false,
        }
    }

    /// The value in force, as written.
    pub fn in_force(&self, configured: Option<Reading<Vec<u8>>>, edition: &Edition) -> Reading<String> {
        let name = self.name;
        let known = edition.known();
        let default = known.map(|(line, version)| (line, version, (self.default)(line, version)));
        match (configured, default) {
            (_, Some((line, version, No))) => {
                Reading::unknown(Why::Absent, format!("{} {} has no {name}", line.name(), version.base()))
            }
            (Some(reading), _) => reading.map(|value| safe(value.trim_ascii())),
            (None, None) => Reading::unknown(
                Why::NotCollected,
                format!("nothing sets {name}, and which version's default holds is not known"),
            ),
            (None, Some((line, _, Own))) => {
                Reading::unknown(Why::Absent, format!("nothing sets {name}; {} works it out", line.name()))
            }
            (None, Some((line, version, Is(value)))) => {
                Reading::known(value.to_owned(), Source::Default { of: series(line, version) })
            }
        }
    }
}

/// `MySQL 8.0`, `MariaDB 10.11`.
pub fn series(line: ProductLine, version: &Version) -> String {
    format!("{} {}.{}", line.name(), version.number(0), version.number(1))
}

/// The default of a setting by its name.
pub fn default_of(name: &str, line: ProductLine, version: &Version) -> Option<Default> {
    named(name).map(|setting| (setting.default)(line, version))
}

/// A setting of this name.
pub fn named(name: &str) -> Option<&'static ServerVariable> {
    static SETTINGS: [ServerVariable; 19] = ALL;
    SETTINGS.iter().find(|setting| setting.name == name)
}

/// A flush method, which can be given by its number and in any case.
fn flush_method(text: &str) -> Option<FlushMethod> {
    let by_number = text.parse().ok().and_then(|number: usize| FlushMethod::ALL.get(number).copied());
    by_number.or_else(|| by_word(text))
}

/// A kind of page checksum. The numbers differ between versions.
fn checksum(text: &str) -> Option<PageChecksum> {
    by_word(text)
}

/// A kind of doublewrite. The numbers beyond 1 differ between versions.
fn doublewrite(text: &str) -> Option<Doublewrite> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "detect_and_recover" => Some(Doublewrite::On),
        "false" | "0" => Some(Doublewrite::Off),
        word => by_word(word),
    }
}

fn by_word<T: Choice>(text: &str) -> Option<T> {
    T::ALL.iter().zip(T::WORDS).find(|(_, word)| word.eq_ignore_ascii_case(text)).map(|(value, _)| *value)
}

/// A switch as my_getopt reads it. log_bin is a path prefix, and off only when it is empty.
pub fn flag(name: &str, text: &str) -> Result<bool, String> {
    if name == "log_bin" {
        // A default comes as 0 or 1; as a path those and the words for yes and no are what nobody means.
        return match text.to_ascii_lowercase().as_str() {
            "" | "0" => Ok(false),
            "off" | "false" | "on" | "true" => Err(format!("`{text}` is a file name for log_bin")),
            _ => Ok(true),
        };
    }
    match text.to_ascii_lowercase().as_str() {
        "1" | "on" | "true" => Ok(true),
        "0" | "off" | "false" => Ok(false),
        _ => Err(format!("`{text}` is neither on nor off")),
    }
}

/// A number with a unit of powers of 1024, as my_getopt reads it.
pub fn number(text: &str) -> Result<u64, String> {
    let refuse = || format!("`{text}` is no number");
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, letter)) if letter.is_ascii_alphabetic() => (text.get(..at).unwrap_or_default(), letter),
        _ => (text, ' '),
    };
    let power = match unit.to_ascii_lowercase() {
        ' ' => 0,
        'k' => 1,
        'm' => 2,
        'g' => 3,
        't' => 4,
        'p' => 5,
        'e' => 6,
        _ => return Err(refuse()),
    };
    let number: u64 = digits.trim().parse().map_err(|_| refuse())?;
    number.checked_mul(1 << (10 * power)).ok_or_else(refuse)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::ValueKind;

    fn edition(line: ProductLine, version: &str) -> Edition {
        let read = || Source::call("test");
        Edition {
            line: Reading::known(line, read()),
            version: Reading::known(Version::parse(version).unwrap(), read()),
        }
    }

    /// Every word that a setting has is read, however it is written, and no other.
    #[test]
    fn a_word_that_no_server_takes_is_malformed() {
        let cluster = Subject::cluster("/var/lib/mysql");
        let mut choices = 0;
        for setting in &ALL {
            let Slot::Choice(key, _) = setting.slot else { continue };
            let ValueKind::Choice(words) = key.kind else { panic!("{} is no choice", key.name) };
            choices += 1;
            for word in words.iter().chain(&["sideways"]) {
                let mut facts = FactSet::default();
                let written = word.to_ascii_uppercase().into_bytes();
                let configured = Reading::known(written, Source::line("/etc/mysql/my.cnf", 3));
                setting.put(&mut facts, &cluster, Some(configured), &edition(ProductLine::Mariadb, "11.4.2"));
                match facts.reading(&cluster, key.id) {
                    Reading::Known { value, .. } => assert_eq!(value.to_string(), *word, "{}", key.name),
                    Reading::Unknown { why, .. } => assert_eq!((*why, *word), (Why::Malformed, "sideways")),
                }
            }
        }
        assert_eq!(choices, 3);
    }

    fn default(name: &str, line: ProductLine, version: &str) -> Option<String> {
        named(name).unwrap().in_force(None, &edition(line, version)).value().cloned()
    }

    #[test]
    fn defaults_are_those_of_the_version() {
        use ProductLine::{Mariadb, Mysql};
        for (name, line, version, expected) in [
            ("innodb_flush_method", Mysql, "8.0.36", Some("fsync")),
            ("innodb_flush_method", Mysql, "8.4.0", Some("O_DIRECT")),
            ("innodb_flush_method", Mariadb, "10.5.9", Some("fsync")),
            ("innodb_flush_method", Mariadb, "10.11.19", Some("O_DIRECT")),
            ("sync_binlog", Mysql, "5.7.44", Some("1")),
            ("sync_binlog", Mysql, "5.6.51", Some("0")),
            ("sync_binlog", Mariadb, "11.4.2", Some("0")),
            ("log_bin", Mysql, "8.0.36", Some("1")),
            ("innodb_checksum_algorithm", Mysql, "8.0.36", Some("crc32")),
            ("innodb_checksum_algorithm", Mariadb, "10.11.19", Some("full_crc32")),
            ("log_bin", Mysql, "5.7.44", Some("0")),
            ("log_bin", Mariadb, "10.11.19", Some("0")),
            ("innodb_io_capacity", Mysql, "8.4.1", Some("10000")),
            ("innodb_io_capacity", Mariadb, "11.4.2", Some("200")),
            ("innodb_flush_neighbors", Mysql, "8.0.36", Some("0")),
            ("innodb_flush_neighbors", Mariadb, "10.11.19", Some("1")),
            ("innodb_use_fdatasync", Mysql, "8.0.25", None),
            ("innodb_use_fdatasync", Mariadb, "10.11.19", None),
            ("innodb_dedicated_server", Mysql, "8.0.36", Some("0")),
            ("innodb_log_write_ahead_size", Mysql, "8.0.36", Some("8192")),
            ("innodb_log_write_ahead_size", Mariadb, "10.11.19", None),
        ] {
            assert_eq!(default(name, line, version).as_deref(), expected, "{name} {version}");
        }
    }

    #[test]
    fn values_are_read_as_the_servers_read_them() {
        for (text, expected) in [
            ("1", Some(1)),
            ("4k", Some(4096)),
            ("1G", Some(1 << 30)),
            ("k", None),
            ("", None),
            ("1x", None),
            ("99999999999T", None),
        ] {
            assert_eq!(number(text).ok(), expected, "{text}");
        }
        for (text, expected) in
            [("0", Some("fsync")), ("nosync", Some("nosync")), ("o_direct", Some("O_DIRECT")), ("6", None)]
        {
            assert_eq!(flush_method(text).map(FlushMethod::word), expected, "{text}");
        }
        assert_eq!(flag("log_bin", "/srv/binlog"), Ok(true));
        assert_eq!(flag("log_bin", ""), Ok(false));
        assert!(flag("log_bin", "off").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_a_value_or_none(text: String) {
            for name in ["log_bin", "innodb_use_native_aio"] {
                let _ = flag(name, &text);
            }
            let _ = (number(&text), flush_method(&text), doublewrite(&text));
        }

        #[test]
        fn numbers_have_powers_of_1024(count in 0u64..1000, unit in 0u32..7) {
            let letter = ["", "k", "M", "g", "T", "p", "E"][unit as usize];
            let expect = count.checked_mul(1 << (10 * unit));
            prop_assert_eq!(number(&format!("{count}{letter}")).ok(), expect);
        }
    }
}
