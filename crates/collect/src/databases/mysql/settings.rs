//! The settings that affect storage: how their values are spelled, and which value applies if
//! nothing sets one. First versions and defaults come from the table ([`crate::servers`]).

use std::sync::LazyLock;

use super::product_version::ProductVersion;
use crate::databases::SettingReading;
use crate::escape::mysql::parse_mysql_size;
use crate::facts::{KeyInfo, Reading, ServerKind, Source, Value, ValueKind, catalog};
use crate::servers::{self, MysqlDefault};
use crate::text::display_safe;
use crate::version::Version;

pub struct ServerVariable {
    pub name: &'static str,
    pub fact: &'static KeyInfo,
}

pub static ALL: LazyLock<Vec<ServerVariable>> = LazyLock::new(|| {
    let mut all: Vec<ServerVariable> = Vec::new();
    for name in servers::server_settings_table()
        .mysql
        .iter()
        .flat_map(|row| &row.names)
    {
        if let Some(fact) = catalog::find_by_name(&format!("mysql.{name}"))
            && all.iter().all(|setting| setting.name != name)
        {
            all.push(ServerVariable { name, fact });
        }
    }
    all
});

impl ServerVariable {
    /// `configured` is `None` if all files were read and none of them sets a value.
    pub fn value_in_force(
        &self,
        configured: Option<SettingReading>,
        edition: &ProductVersion,
    ) -> Reading<Value> {
        value_in_force(self.name, configured, edition).and_then(|text| self.parse_value(&text))
    }

    fn parse_value(&self, text: &str) -> Result<Value, String> {
        match self.fact.kind {
            ValueKind::Bool => parse_flag(self.name, text).map(Value::Bool),
            ValueKind::Count | ValueKind::Bytes => parse_size(text).map(Value::Whole),
            // An unknown word passes here. It becomes *malformed* when the fact is recorded.
            ValueKind::Choice(words) => Ok(Value::Text(
                parse_choice(self.name, words, text)
                    .unwrap_or(text)
                    .to_owned(),
            )),
            ValueKind::Text
            | ValueKind::Number
            | ValueKind::Micros
            | ValueKind::Version
            | ValueKind::List
            | ValueKind::Choices(_) => Ok(Value::Text(text.to_owned())),
        }
    }

    /// The value in one spelling, so that equal values compare equal.
    pub fn canonical_value(&self, value: &[u8]) -> String {
        let text = display_safe(value.trim_ascii());
        match self.parse_value(&text) {
            Ok(Value::Bool(on)) => on.to_string(),
            Ok(value) => value.to_string(),
            Err(_) => text,
        }
    }

    /// Whether SET GLOBAL can change the setting in any version that the server may have.
    pub fn may_be_dynamic(&self, edition: &ProductVersion) -> bool {
        servers::server_settings_table().may_be_dynamic(self.name, edition.product_and_version())
    }
}

pub fn value_in_force(
    name: &str,
    configured: Option<SettingReading>,
    edition: &ProductVersion,
) -> Reading<String> {
    let configured =
        configured.map(|reading| reading.map(|value| display_safe(value.trim_ascii())));
    let Some((line, version)) = edition.product_and_version() else {
        return configured.unwrap_or_else(|| {
            Reading::uncollected(format!(
                "{name} is not set, and its default depends on the server's version, which is unknown"
            ))
        });
    };
    let product = line.server_product_name();
    match (default_in_release(name, line, version), configured) {
        (MysqlDefault::Absent, _) => Reading::absent(format!(
            "{product} {} has no {name}",
            version.numeric_part()
        )),
        (_, Some(configured)) => configured,
        (MysqlDefault::Computed, None) => Reading::absent(format!(
            "{name} is not set, so {product} computes the value"
        )),
        (MysqlDefault::Fixed(value), None) => {
            let of = release_series_name(line, version);
            Reading::known(value.to_owned(), Source::Default { of })
        }
    }
}

pub fn release_series_name(line: ServerKind, version: &Version) -> String {
    format!(
        "{} {}.{}",
        line.server_product_name(),
        version.number(0),
        version.number(1)
    )
}

pub fn default_in_release(
    name: &str,
    line: ServerKind,
    version: &Version,
) -> MysqlDefault<'static> {
    servers::server_settings_table().mysql_default(name, line, version)
}

/// The element of `words` that `text` stands for, in any letter case. `innodb_flush_method` also
/// accepts the index of a word, and `innodb_doublewrite` a Boolean or `detect_and_recover`. Other
/// numbers are rejected, because their meaning differs between versions.
fn parse_choice(name: &str, words: &[&'static str], text: &str) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    let by_number = || words.get(text.parse::<usize>().ok()?).copied();
    let text = match (name, text.as_str()) {
        ("innodb_flush_method", _) if by_number().is_some() => return by_number(),
        ("innodb_doublewrite", "true" | "1" | "detect_and_recover") => "on",
        ("innodb_doublewrite", "false" | "0") => "off",
        (_, text) => text,
    };
    words
        .iter()
        .find(|word| word.eq_ignore_ascii_case(text))
        .copied()
}

/// Parses a switch as my_getopt does; `log_bin` is a path prefix instead.
pub fn parse_flag(name: &str, text: &str) -> Result<bool, String> {
    match (name, text.to_ascii_lowercase().as_str()) {
        // Only an empty path means off: `0` is a file name. A file name such as `on` is certainly
        // a mistake.
        ("log_bin", "") => Ok(false),
        ("log_bin", "off" | "false" | "on" | "true") => Err(format!(
            "log_bin takes a file name: the server would name its binary log `{text}`"
        )),
        ("log_bin", _) | (_, "1" | "on" | "true") => Ok(true),
        (_, "0" | "off" | "false") => Ok(false),
        _ => Err(format!("`{text}` is neither on nor off")),
    }
}

pub fn parse_size(text: &str) -> Result<u64, String> {
    parse_mysql_size(text).ok_or_else(|| format!("`{text}` is not a number"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::catalog::mysql::{self, InnodbFlushMethod};
    use crate::facts::{Choice, FactSet, ServerArea, Subject, UnknownReason};

    fn find_variable(name: &str) -> Option<&'static ServerVariable> {
        ALL.iter().find(|setting| setting.name == name)
    }

    fn known_product_version(line: ServerKind, version: &str) -> ProductVersion {
        let read = || Source::from_system_call("test");
        ProductVersion {
            line: Reading::known(line, read()),
            version: Reading::known(Version::parse(version).unwrap(), read()),
        }
    }

    #[test]
    fn choices_accept_only_their_words() {
        let cluster = Subject::cluster("/var/lib/mysql");
        let mut choices = 0;
        for setting in ALL.iter() {
            let key = setting.fact;
            let ValueKind::Choice(words) = key.kind else {
                continue;
            };
            choices += 1;
            for word in words.iter().chain(&["sideways"]) {
                let mut facts = FactSet::default();
                let written = word.to_ascii_uppercase().into_bytes();
                let configured =
                    Reading::known(written, Source::from_file_line("/etc/mysql/my.cnf", 3));
                let edition = known_product_version(ServerKind::Mariadb, "11.4.2");
                let reading = setting.value_in_force(Some(configured), &edition);
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
        assert_eq!(choices, 3);
    }

    #[test]
    fn setting_facts_have_readable_variables() {
        let read = [
            "mysql.binlog_storage_engine",
            "mysql.log_bin",
            "mysql.sync_binlog",
        ];
        for info in catalog::all_keys()
            .filter(|info| info.name.starts_with("mysql.innodb_") || read.contains(&info.name))
        {
            let place = [mysql::INNODB_DATA.name()].contains(&info.name);
            let of = |setting: &&ServerVariable| format!("mysql.{}", setting.name) == info.name;
            assert!(
                place || ALL.iter().any(|setting| of(&setting)),
                "{}",
                info.name
            );
        }
        for setting in ALL.iter() {
            assert!(
                servers::settings_safe_to_read(ServerArea::Mysql).contains_key(setting.name),
                "{}",
                setting.name
            );
        }
        assert_eq!(ALL.len(), 27);
    }

    #[test]
    fn dynamic_variables_depend_on_release() {
        use ServerKind::{Mariadb, Mysql};
        for (name, line, version, expected) in [
            ("sync_binlog", Mysql, "5.5.62", true),
            ("innodb_doublewrite", Mysql, "8.0.29", false),
            ("innodb_doublewrite", Mysql, "8.0.30", true),
            ("innodb_doublewrite", Mariadb, "10.11.19", false),
            ("innodb_doublewrite", Mariadb, "11.0.1", true),
            ("innodb_doublewrite", Mariadb, "11.2.4", true),
            ("innodb_doublewrite", Mariadb, "11.4.2", true),
            ("innodb_flush_method", Mysql, "8.4.0", false),
            ("innodb_log_file_size", Mysql, "8.0.36", false),
            ("innodb_log_file_size", Mariadb, "10.11.19", true),
        ] {
            let setting = find_variable(name).unwrap();
            assert_eq!(
                setting.may_be_dynamic(&known_product_version(line, version)),
                expected,
                "{name} {version}"
            );
        }
        let unknown = ProductVersion::unknown_without_program();
        assert!(
            find_variable("innodb_doublewrite")
                .unwrap()
                .may_be_dynamic(&unknown)
        );
        assert!(
            !find_variable("innodb_page_size")
                .unwrap()
                .may_be_dynamic(&unknown)
        );
    }

    fn default_text(name: &str, line: ServerKind, version: &str) -> Option<String> {
        value_in_force(name, None, &known_product_version(line, version))
            .value()
            .cloned()
    }

    #[test]
    fn defaults_depend_on_product_and_version() {
        use ServerKind::{Mariadb, Mysql};
        for (name, line, version, expected) in [
            ("innodb_flush_method", Mysql, "8.0.36", Some("fsync")),
            ("innodb_flush_method", Mysql, "8.4.0", Some("O_DIRECT")),
            ("innodb_flush_method", Mariadb, "10.5.9", Some("fsync")),
            ("innodb_flush_method", Mariadb, "10.11.19", Some("O_DIRECT")),
            ("sync_binlog", Mysql, "5.7.44", Some("1")),
            ("sync_binlog", Mysql, "5.6.51", Some("0")),
            ("sync_binlog", Mariadb, "11.4.2", Some("0")),
            ("log_bin", Mysql, "8.0.36", Some("binlog")),
            ("innodb_flush_method", Mysql, "5.6.51", Some("fsync")),
            ("innodb_checksum_algorithm", Mysql, "5.6.51", Some("innodb")),
            (
                "innodb_checksum_algorithm",
                Mariadb,
                "10.3.39",
                Some("crc32"),
            ),
            ("innodb_page_size", Mysql, "5.6.51", Some("16384")),
            ("innodb_use_native_aio", Mariadb, "10.11.19", Some("on")),
            ("binlog_storage_engine", Mysql, "8.4.0", None),
            ("binlog_storage_engine", Mariadb, "12.3.1", Some("")),
            ("innodb_checksum_algorithm", Mysql, "8.0.36", Some("crc32")),
            (
                "innodb_checksum_algorithm",
                Mariadb,
                "10.11.19",
                Some("full_crc32"),
            ),
            ("log_bin", Mysql, "5.7.44", Some("")),
            ("log_bin", Mariadb, "10.11.19", Some("")),
            ("innodb_io_capacity", Mysql, "8.4.1", Some("10000")),
            ("innodb_io_capacity", Mariadb, "11.4.2", Some("200")),
            ("innodb_flush_neighbors", Mysql, "8.0.36", Some("0")),
            ("innodb_flush_neighbors", Mariadb, "10.11.19", Some("1")),
            ("innodb_use_fdatasync", Mysql, "8.0.25", None),
            ("innodb_use_fdatasync", Mariadb, "10.11.19", None),
            ("innodb_dedicated_server", Mysql, "8.0.36", Some("off")),
            ("innodb_log_write_ahead_size", Mysql, "8.0.36", Some("8192")),
            ("innodb_log_write_ahead_size", Mariadb, "10.11.19", None),
            ("innodb_redo_log_capacity", Mysql, "8.0.36", None),
        ] {
            assert_eq!(
                default_text(name, line, version).as_deref(),
                expected,
                "{name} {version}"
            );
        }
    }

    #[test]
    fn values_parse_like_the_server() {
        for (text, expected) in [
            ("1", Some(1)),
            ("4k", Some(4096)),
            ("1G", Some(1 << 30)),
            ("k", None),
            ("", None),
            ("1x", None),
            ("99999999999T", None),
        ] {
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        }
        for (text, expected) in [
            ("0", Some("fsync")),
            ("nosync", Some("nosync")),
            ("o_direct", Some("O_DIRECT")),
            ("6", None),
        ] {
            assert_eq!(
                parse_choice("innodb_flush_method", InnodbFlushMethod::WORDS, text),
                expected,
                "{text}"
            );
        }
        assert_eq!(parse_flag("log_bin", "/srv/binlog"), Ok(true));
        assert_eq!(parse_flag("log_bin", ""), Ok(false));
        assert_eq!(parse_flag("log_bin", "0"), Ok(true));
        assert!(parse_flag("log_bin", "off").is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_values_never_panic(text: String) {
            for name in ["log_bin", "innodb_use_native_aio"] {
                let _ = parse_flag(name, &text);
            }
            let _ = parse_size(&text);
            for setting in ALL.iter() {
                let _ = setting.canonical_value(text.as_bytes());
            }
        }

        #[test]
        fn number_suffixes_are_powers_of_1024(count in 0u64..1000, unit in 0u32..7) {
            let letter = ["", "k", "M", "g", "T", "p", "E"][unit as usize];
            let expect = count.checked_mul(1 << (10 * unit));
            prop_assert_eq!(parse_size(&format!("{count}{letter}")).ok(), expect);
        }
    }
}
