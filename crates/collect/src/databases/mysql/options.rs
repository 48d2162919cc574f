//! Option files in the order in which a server reads them, with their includes, then its arguments,
//! then persisted settings (manuals of MySQL and MariaDB, *Using Option Files*;
//! mysys/my_default.c).
//!
//! The host applies the allow-list of keys. An existing file that the server may read but walwise
//! does not, such as one in a home directory, is a gap. Servers ignore world-writable option files.

use std::path::{Path, PathBuf};

use super::edition::{Edition, ProductLine};
use super::process::{self, MysqldProcess};
use super::settings;
use crate::databases::conf::Conf;
use crate::facts::note::{MysqlNote, ServerNote};
use crate::facts::{FactSet, Note, Reading, Remedy, Source, UnknownReason};
use crate::host::{Dialect, Host, HostError, HostErrorKind, path_bytes, path_from_bytes};
use crate::refusal::error_reading;
use crate::ternary::Ternary;
use crate::text::display_safe;

/// The nesting limit of the servers, which skip deeper includes.
const DEPTH: usize = 10;
/// Bounds the number of files, even if they include each other.
const FILES: usize = 256;
/// Read by every build.
const STANDARD_FILES: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];
/// Read by builds with this SYSCONFDIR.
const SYSCONFDIR_FILE: &str = "/usr/etc/my.cnf";

/// The configuration of a server, or of an installed one. While the data directory is unknown,
/// persisted settings are left to [`read_persisted`]. `named` is a file used as `--defaults-file`.
pub fn read_options(
    host: &dyn Host,
    edition: &Edition,
    server: Option<&MysqldProcess>,
    named: Option<&Path>,
    facts: &mut FactSet,
) -> Conf {
    let mut conf = Conf::default();
    let mut groups = Groups::new(edition);
    if let Some(suffix) = server.and_then(|s| {
        s.option("defaults_group_suffix")
            .map(<[u8]>::to_vec)
            .or_else(|| s.variable("MYSQL_GROUP_SUFFIX"))
    }) {
        groups.suffix = Some(display_safe(&suffix).to_ascii_lowercase());
    }
    let mut reader = OptionFileReader {
        host,
        facts,
        conf: &mut conf,
        groups,
        depth: 0,
        is_limit_reached: false,
    };
    match named {
        Some(path) => reader.read_named_file(path),
        None => reader.read_standard_files(server),
    }
    if let Some(server) = server {
        reader.read_arguments(server);
    }
    conf
}

/// Adds MySQL's persisted settings (SET PERSIST) from the data directory, which the server reads
/// last.
pub fn read_persisted(
    conf: &mut Conf,
    host: &dyn Host,
    edition: &Edition,
    data: &Path,
    named: Option<&Path>,
    facts: &mut FactSet,
) {
    if edition.line.value() == Some(&ProductLine::Mariadb) {
        return;
    }
    let groups = Groups::new(edition);
    // Reading it is the default, so an unclear switch counts as on.
    let load = conf
        .get("persisted_globals_load")
        .and_then(|load| load.value().map(|word| display_safe(word)));
    let ignored =
        load.is_some_and(|word| settings::flag("persisted_globals_load", &word) == Ok(false));
    let mut reader = OptionFileReader {
        host,
        facts,
        conf,
        groups,
        depth: 0,
        is_limit_reached: false,
    };
    if !ignored {
        reader.read_optional_file(&data.join("mysqld-auto.cnf"), Dialect::MysqlPersisted);
    }
    // Some packages make the data directory the home of the server's user. With `--defaults-file`
    // the server reads no other file.
    if named.is_none() {
        reader.skip_file(&data.join(".my.cnf"));
    }
}

/// The option groups that a server reads.
struct Groups {
    line: Option<ProductLine>,
    series: Option<String>,
    suffix: Option<String>,
}

impl Groups {
    fn new(edition: &Edition) -> Self {
        let series = edition
            .version
            .value()
            .map(|v| format!("{}.{}", v.number(0), v.number(1)));
        Self {
            line: edition.line.value().copied(),
            series,
            suffix: None,
        }
    }

    fn is_read(&self, group: &str) -> Ternary {
        let plain = self
            .suffix
            .as_deref()
            .and_then(|suffix| group.strip_suffix(suffix));
        [Some(group), plain]
            .into_iter()
            .flatten()
            .fold(Ternary::False, |found, name| found.or(self.matches(name)))
    }

    fn matches(&self, group: &str) -> Ternary {
        let mariadb = match self.line {
            Some(line) => Ternary::from(line == ProductLine::Mariadb),
            None => Ternary::Unknown,
        };
        match group {
            "mysqld" | "server" => Ternary::True,
            "mariadb" | "mariadbd" | "client-server" | "galera" => mariadb,
            _ => {
                let Some((name, series)) = group.split_once('-') else {
                    return Ternary::False;
                };
                let versioned = series.starts_with(|c: char| c.is_ascii_digit());
                let line = match name {
                    "mysqld" => Ternary::True,
                    "mariadb" | "mariadbd" => mariadb,
                    _ => return Ternary::False,
                };
                match &self.series {
                    _ if !versioned => Ternary::False,
                    Some(ours) => line.and(Ternary::from(ours == series)),
                    None => line.and(Ternary::Unknown),
                }
            }
        }
    }
}

struct OptionFileReader<'a> {
    host: &'a dyn Host,
    facts: &'a mut FactSet,
    conf: &'a mut Conf,
    groups: Groups,
    depth: usize,
    /// The limit of files is reached and noted.
    is_limit_reached: bool,
}

impl OptionFileReader<'_> {
    fn read_standard_files(&mut self, server: Option<&MysqldProcess>) {
        let option = |name| {
            server
                .and_then(|server| server.option(name))
                .map(process::option_path)
        };
        if server.is_some_and(|server| server.option("no_defaults").is_some()) {
            return;
        }
        if let Some(path) = option("defaults_file") {
            return self.read_named_file(&path);
        }
        for path in STANDARD_FILES {
            self.read_optional_file(Path::new(path), Dialect::Mysql);
        }
        self.skip_file(Path::new(SYSCONFDIR_FILE));
        if let Some(server) = server {
            let home = ["MARIADB_HOME", "MYSQL_HOME"]
                .iter()
                .find_map(|name| server.variable(name));
            match (home, &server.environment) {
                (Some(home), _) => {
                    self.read_optional_file(&path_from_bytes(home).join("my.cnf"), Dialect::Mysql);
                }
                (None, Err(miss)) => self.add_gap(miss, &format!("/proc/{}/environ", server.pid)),
                (None, Ok(_)) => {}
            }
        }
        if let Some(path) = option("defaults_extra_file") {
            self.read_named_file(&path);
        }
    }

    fn read_arguments(&mut self, server: &MysqldProcess) {
        match &server.options {
            Ok(options) => {
                for (name, value) in options {
                    self.set(
                        name,
                        value.as_deref().unwrap_or_default(),
                        &server.command_line(),
                    );
                }
            }
            Err(miss) => self.add_gap(miss, &format!("/proc/{}/cmdline", server.pid)),
        }
    }

    /// A file named by an option. A relative path starts at a directory that is no longer known.
    fn read_named_file(&mut self, path: &Path) {
        let shown = display_safe(path_bytes(path));
        if !path.is_absolute() {
            return self.add_ambiguity(format!(
                "{shown}: option file relative to the server's unknown start directory"
            ));
        }
        if self
            .host
            .config(path, Dialect::Mysql)
            .is_err_and(|miss| miss.kind == HostErrorKind::Absent)
        {
            return self.add_rejected_file(ServerNote::MissingInclude { path: shown });
        }
        self.read_file(path, Dialect::Mysql);
    }

    fn read_optional_file(&mut self, path: &Path, dialect: Dialect) {
        if self.is_limit_reached {
            return self.note_file_limit();
        }
        if self
            .host
            .config(path, dialect)
            .is_err_and(|miss| miss.kind == HostErrorKind::Absent)
        {
            let holder = path
                .ancestors()
                .skip(1)
                .find(|above| self.host.stat(above).is_ok());
            self.conf.mark_file_end(holder.unwrap_or(path));
        } else {
            self.read_file(path, dialect);
        }
    }

    /// A file that is not read; a gap if it exists.
    fn skip_file(&mut self, path: &Path) {
        if self.host.stat(path).is_ok() {
            self.add_ambiguity(format!(
                "{} exists; whether the server reads it is unknown",
                display_safe(path_bytes(path))
            ));
        }
    }

    fn read_file(&mut self, path: &Path, dialect: Dialect) {
        let shown = display_safe(path_bytes(path));
        if self.is_limit_reached {
            return self.note_file_limit();
        }
        if self.conf.count_file() > FILES {
            self.is_limit_reached = true;
            return self.add_rejected_file(ServerNote::FilesBeyondBound { file: shown });
        }
        let settings = match self.host.config(path, dialect) {
            // Most files set nothing relevant, and each further question is a round trip to a
            // child.
            Ok(settings) if settings.is_empty() => return self.conf.mark_file_end(path),
            settings => settings,
        };
        if self
            .host
            .stat(path)
            .is_ok_and(|stat| stat.is_file() && stat.mode & 0o002 != 0)
        {
            self.facts.add_note(MysqlNote::PublicFile { file: shown });
            return self.conf.mark_file_end(path);
        }
        let settings = match settings {
            Ok(settings) => settings,
            Err(miss) => return self.add_gap(&miss, &shown),
        };
        for setting in settings {
            let key = String::from_utf8_lossy(&setting.key).into_owned();
            let there = || path_from_bytes(setting.value.clone());
            let source = Source::line(&*shown, setting.line);
            match (key.as_str(), key.rsplit_once('.')) {
                ("include", _) => self.read_include(&there()),
                ("includedir", _) => self.read_directory(&there()),
                (_, Some(("persisted", name))) => self.set(name, &setting.value, &source),
                (_, Some((group, name))) => match self.groups.is_read(group) {
                    Ternary::True => self.set(name, &setting.value, &source),
                    Ternary::False => {}
                    Ternary::Unknown => {
                        let detail = format!(
                            "{source}: whether the server reads group [{}] is unknown",
                            display_safe(group.as_bytes())
                        );
                        self.conf.set_unknown_suffix(strip_prefixes(name).0, detail);
                    }
                },
                _ => self.add_rejected_file(MysqlNote::NoOptions {
                    file: shown.clone(),
                }),
            }
        }
        self.conf.mark_file_end(path);
    }

    fn read_include(&mut self, path: &Path) {
        let shown = display_safe(path_bytes(path));
        if !path.is_absolute() {
            return self.add_ambiguity(format!(
                "{shown}: include relative to the server's unknown start directory"
            ));
        }
        if self.depth >= DEPTH {
            return self.facts.add_note(MysqlNote::IncludeDepth { file: shown });
        }
        self.depth += 1;
        self.read_optional_file(path, Dialect::Mysql);
        self.depth -= 1;
    }

    /// `*.cnf` in byte order.
    fn read_directory(&mut self, path: &Path) {
        let shown = display_safe(path_bytes(path));
        if !path.is_absolute() {
            return self.add_ambiguity(format!(
                "{shown}: include relative to the server's unknown start directory"
            ));
        }
        if self.depth >= DEPTH {
            return self.facts.add_note(MysqlNote::IncludeDepth { file: shown });
        }
        let mut names = match self.host.list(path) {
            Ok(names) => names,
            Err(miss) if miss.kind == HostErrorKind::Absent => {
                return self.add_rejected_file(ServerNote::MissingInclude { path: shown });
            }
            Err(miss) => return self.add_gap(&miss, &shown),
        };
        names.retain(|name| path_bytes(Path::new(name)).ends_with(b".cnf"));
        names.sort();
        self.depth += 1;
        for name in names {
            if self.is_limit_reached {
                self.note_file_limit();
                break;
            }
            let file = path.join(name);
            let is_directory = self.host.config(&file, Dialect::Mysql).is_err()
                && self.host.stat(&file).is_ok_and(|stat| stat.is_dir());
            if !is_directory {
                self.read_file(&file, Dialect::Mysql);
            }
        }
        self.depth -= 1;
        self.conf.mark_file_end(path);
    }

    /// Resolves prefixes as my_getopt does. An empty value counts as unknown, except for log_bin,
    /// which it switches off.
    fn set(&mut self, name: &str, value: &[u8], source: &Source) {
        let (name, turned) = strip_prefixes(name);
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
            return self
                .conf
                .set_unknown_suffix(&*name, format!("{source}: its value for {name} is unclear"));
        }
        self.conf.set(name, value, source.clone());
    }

    /// Adds one gap for all files beyond the limit.
    fn note_file_limit(&mut self) {
        self.conf.add_gap(
            UnknownReason::NotCollected,
            "more included files than walwise reads",
            None,
        );
    }

    fn add_gap(&mut self, miss: &HostError, what: &str) {
        if let Reading::Unknown {
            why,
            detail,
            remedy,
        } = error_reading::<()>(miss, what)
        {
            self.conf.add_gap(why, detail, remedy);
        }
    }

    fn add_ambiguity(&mut self, detail: String) {
        self.conf
            .add_gap(UnknownReason::Ambiguous, detail, None::<Remedy>);
    }

    /// The server would refuse these files, so a running one was started with others.
    fn add_rejected_file(&mut self, note: impl Into<Note>) {
        let note = note.into();
        self.conf
            .add_gap(UnknownReason::Malformed, note.to_string(), None);
        self.facts.add_note(note);
    }
}

/// The name without prefixes, and the switch that they imply.
fn strip_prefixes(name: &str) -> (&str, Option<bool>) {
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

/// A relative path starts at `base`.
pub fn resolve_path(base: &Path, value: &[u8]) -> PathBuf {
    base.join(path_from_bytes(value.to_vec()))
}
