//! Option files with their includes, in the order in which a server reads them; then the server's
//! arguments and its persisted settings (manuals of MySQL and MariaDB, *Using Option Files*;
//! mysys/my_default.c).
//!
//! A file that the server may read but walwise does not, such as one in a home directory, is
//! recorded as a gap. Servers ignore world-writable option files.

use std::path::{Path, PathBuf};

use super::product_version::ProductVersion;
use super::settings;
use crate::databases::ServerConfig;
use crate::databases::config_reader::ConfigReader;
use crate::databases::server_processes::{CommandLineOption, ServerProcess};
use crate::facts::{FactSet, Reading, ServerKind, Source};
use crate::host::{ConfigDialect, ConfigDirective, Host, path_from_bytes};
use crate::ternary::Ternary;
use crate::text::{decode_display_safe, display_path, display_safe};

const STANDARD_FILES: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];
const SYSCONFDIR_FILE: &str = "/usr/etc/my.cnf";

/// `named` is a file that replaces the usual ones, like that of `--defaults-file`.
/// [`read_persisted_options`] adds the persisted settings.
pub fn read_options(
    host: &dyn Host,
    edition: &ProductVersion,
    server: Option<&ServerProcess>,
    named: Option<&Path>,
    facts: &mut FactSet,
) -> ServerConfig {
    let mut conf = ServerConfig::default();
    let suffix = server.and_then(|server| {
        server
            .option_values("defaults_group_suffix")
            .next()
            .flatten()
            .map(<[u8]>::to_vec)
            .or_else(|| server.environment_variable("MYSQL_GROUP_SUFFIX"))
    });
    let groups = OptionGroupFilter {
        edition,
        suffix: suffix.map(|suffix| display_safe(&suffix).to_ascii_lowercase()),
    };
    let apply = |reader: &mut ConfigReader<'_>, file: &Path, directive: ConfigDirective| {
        reader.apply_option(&groups, file, &directive);
    };
    let mut reader = ConfigReader::new(host, ConfigDialect::Mysql, &apply, &mut conf, facts);
    match named {
        Some(path) => reader.read_named_file(path),
        None => reader.read_server_option_files(server),
    }
    if let Some(server) = server {
        reader.read_arguments(server);
    }
    conf
}

/// Adds MySQL's persisted settings (SET PERSIST), which the server reads last, from the data
/// directory.
pub fn read_persisted_options(
    conf: &mut ServerConfig,
    host: &dyn Host,
    edition: &ProductVersion,
    data: &Path,
    named: Option<&Path>,
    facts: &mut FactSet,
) {
    if edition.line.value() == Some(&ServerKind::Mariadb) {
        return;
    }
    // Loading persisted settings is the default, so an unclear value of `persisted_globals_load`
    // counts as on.
    let load = conf
        .setting_reading("persisted_globals_load")
        .and_then(|load| load.value().map(|word| display_safe(word)));
    let ignored =
        load.is_some_and(|word| settings::parse_flag("persisted_globals_load", &word) == Ok(false));
    let groups = OptionGroupFilter {
        edition,
        suffix: None,
    };
    let apply = |reader: &mut ConfigReader<'_>, file: &Path, directive: ConfigDirective| {
        reader.apply_option(&groups, file, &directive);
    };
    let dialect = ConfigDialect::MysqlPersisted;
    let mut reader = ConfigReader::new(host, dialect, &apply, conf, facts);
    if !ignored {
        reader.read_optional_file(&data.join("mysqld-auto.cnf"));
    }
    // The server reads `.my.cnf` in its user's home directory, which in some packages is the data
    // directory. With `--defaults-file` the server reads no other file, so `.my.cnf` is not a gap
    // then.
    if named.is_none() {
        reader.add_gap_if_file_exists(&data.join(".my.cnf"));
    }
}

struct OptionGroupFilter<'e> {
    edition: &'e ProductVersion,
    /// The server also reads the groups whose names end with this suffix.
    suffix: Option<String>,
}

impl OptionGroupFilter<'_> {
    fn is_group_read(&self, group: &str) -> Ternary {
        let suffix = self.suffix.as_deref();
        let plain = suffix.and_then(|suffix| group.strip_suffix(suffix));
        let names = [Some(group), plain].into_iter().flatten();
        Ternary::any(names.map(|name| self.matches_server_group(name)))
    }

    fn matches_server_group(&self, group: &str) -> Ternary {
        let line = self.edition.line.value();
        let mariadb = line.map_or(Ternary::Unknown, |line| Ternary::from(line.is_mariadb()));
        let (name, series) = match group.split_once('-') {
            Some((name, series)) if series.starts_with(|c: char| c.is_ascii_digit()) => {
                (name, Some(series))
            }
            _ => (group, None),
        };
        let line = match name {
            "mysqld" => Ternary::True,
            "mariadb" | "mariadbd" => mariadb,
            "server" if series.is_none() => Ternary::True,
            "client-server" | "galera" if series.is_none() => mariadb,
            _ => return Ternary::False,
        };
        match (series, self.edition.version.value()) {
            (None, _) => line,
            (Some(series), Some(version)) => {
                let ours = format!("{}.{}", version.number(0), version.number(1));
                line.and(Ternary::from(ours == series))
            }
            (Some(_), None) => line.and(Ternary::Unknown),
        }
    }
}

impl ConfigReader<'_> {
    fn read_server_option_files(&mut self, server: Option<&ServerProcess>) {
        // The first occurrence of an option that names a file is the one that counts.
        let option = |name| {
            server
                .and_then(|server| server.option_values(name).next().flatten())
                .map(path_from_bytes)
        };
        if option("no_defaults").is_some() {
            return;
        }
        if let Some(path) = option("defaults_file") {
            return self.read_named_file(&path);
        }
        for path in STANDARD_FILES {
            self.read_optional_file(Path::new(path));
        }
        self.add_gap_if_file_exists(Path::new(SYSCONFDIR_FILE));
        if let Some(server) = server {
            let home = ["MARIADB_HOME", "MYSQL_HOME"]
                .iter()
                .find_map(|name| server.environment_variable(name));
            match (home, &server.environment) {
                (Some(home), _) => {
                    self.read_optional_file(&path_from_bytes(home).join("my.cnf"));
                }
                (None, Err(miss)) => {
                    self.add_error_gap(miss, &format!("/proc/{}/environ", server.pid));
                }
                (None, Ok(_)) => {}
            }
        }
        if let Some(path) = option("defaults_extra_file") {
            self.read_named_file(&path);
        }
    }

    fn read_arguments(&mut self, server: &ServerProcess) {
        match &server.options {
            Ok(options) => {
                for (name, value) in options {
                    let value = value.as_deref().unwrap_or_default();
                    self.add_option(name, value, &server.command_line_source());
                }
            }
            Err(miss) => self.add_error_gap(miss, &format!("/proc/{}/cmdline", server.pid)),
        }
    }

    /// A relative path becomes a gap in the configuration, because the directory from which the
    /// server started is unknown.
    fn read_named_file(&mut self, path: &Path) {
        let shown = display_path(path);
        if !path.is_absolute() {
            return self.add_ambiguous_gap(format!(
                "the path of option file {shown} is relative, and the directory in which the server was started is unknown"
            ));
        }
        if self.is_absent(path) {
            return self.add_missing_file_gap(path);
        }
        self.read_file(path);
    }

    fn add_gap_if_file_exists(&mut self, path: &Path) {
        if self.host.stat(path).is_ok() {
            self.add_ambiguous_gap(format!(
                "{} exists, but it is unknown whether the server reads it",
                display_path(path)
            ));
        }
    }

    fn apply_option(
        &mut self,
        groups: &OptionGroupFilter<'_>,
        file: &Path,
        directive: &ConfigDirective,
    ) {
        let key = String::from_utf8_lossy(&directive.key);
        let file = display_path(file);
        let source = Source::from_file_line(&*file, directive.line);
        match (&*key, key.rsplit_once('.')) {
            ("include" | "includedir", _) => {
                let included = path_from_bytes(directive.value.as_slice());
                if !self.is_include_allowed(&included) {
                    return;
                }
                if key == "include" {
                    self.read_optional_file(&included);
                } else {
                    self.read_directory(&included, |name| name.ends_with(b".cnf"));
                }
            }
            (_, Some(("persisted", name))) => self.add_option(name, &directive.value, &source),
            (_, Some((group, name))) => match groups.is_group_read(group) {
                Ternary::True => self.add_option(name, &directive.value, &source),
                Ternary::False => {}
                Ternary::Unknown => {
                    let detail = format!(
                        "{source}: it is unknown whether the server reads group [{}]",
                        display_safe(group.as_bytes())
                    );
                    self.conf
                        .add_unknown_settings_with_prefix(strip_option_prefixes(name).0, detail);
                }
            },
            _ => self.add_rejected_file_gap(format!("{file} is not a valid option file")),
        }
    }

    /// False, with a gap or a note, if the include is relative or nested too deeply.
    fn is_include_allowed(&mut self, path: &Path) -> bool {
        let file = display_path(path);
        if !path.is_absolute() {
            self.add_ambiguous_gap(format!(
                "the include {file} is a relative path, and the server's start directory is unknown"
            ));
            return false;
        }
        if self.is_nested_too_deeply() {
            self.facts.add_note_once(format!(
                "{file}: includes are nested deeper than the server allows"
            ));
            return false;
        }
        true
    }

    /// Prefixes of the name, such as `skip_`, are resolved as in my_getopt. A bare `log_bin` means
    /// on, and an empty `binlog_storage_engine` is kept. Any other empty value counts as unknown.
    fn add_option(&mut self, name: &str, value: &[u8], source: &Source) {
        let (name, turned) = strip_option_prefixes(name);
        let is_zero = value == b"0";
        let value = match turned {
            Some(on) if on != is_zero => b"1".as_slice(),
            Some(_) if name == "log_bin" => b"",
            Some(_) => b"0",
            None if name == "log_bin" && value.is_empty() => b"1",
            None => value,
        };
        if value.is_empty() && name != "log_bin" && name != "binlog_storage_engine" {
            let name = display_safe(name.as_bytes());
            return self.conf.add_unknown_settings_with_prefix(
                &*name,
                format!("{source}: {name} has no value"),
            );
        }
        self.conf.add_setting(name, value, source.clone());
    }

    fn add_ambiguous_gap(&mut self, detail: String) {
        self.conf.add_gap(Reading::ambiguous(detail));
    }
}

fn strip_option_prefixes(name: &str) -> (&str, Option<bool>) {
    let (mut name, mut turned) = (name, None);
    loop {
        let prefixes = [
            ("loose_", None),
            ("skip_", Some(false)),
            ("disable_", Some(false)),
            ("enable_", Some(true)),
        ];
        let found = prefixes
            .into_iter()
            .find_map(|(prefix, on)| Some((name.strip_prefix(prefix)?, on)));
        match found {
            Some((rest, on)) => (name, turned) = (rest, on.or(turned)),
            None => return (name, turned),
        }
    }
}

/// Parses one line of the answer to [`Question::CommandLine`](crate::host::Question::CommandLine).
pub fn parse_option(line: &str) -> Option<CommandLineOption> {
    let option = line.strip_prefix("--")?;
    Some(match option.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(decode_display_safe(value))),
        None => (option.to_owned(), None),
    })
}

pub fn join_base_and_path_value(base: &Path, value: &[u8]) -> PathBuf {
    base.join(path_from_bytes(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parses_options_with_and_without_values() {
        let read = [
            "--datadir=/srv/a\\x20b",
            "--innodb_flush",
            "--defaults-file=",
            "noise",
        ]
        .map(parse_option);
        assert_eq!(
            read,
            [
                Some(("datadir".to_owned(), Some(b"/srv/a b".to_vec()))),
                Some(("innodb_flush".to_owned(), None)),
                Some(("defaults-file".to_owned(), Some(Vec::new()))),
                None
            ]
        );
    }

    proptest! {
        #[test]
        fn option_values_round_trip(value in prop::collection::vec(any::<u8>(), 0..20)) {
            let line = format!("--option={}", crate::text::display_safe(&value));
            prop_assert_eq!(parse_option(&line), Some(("option".to_owned(), Some(value))));
        }
    }
}
