//! Option files in the order in which a server reads them, with their includes, then its arguments,
//! then persisted settings (manuals of MySQL and MariaDB, *Using Option Files*;
//! mysys/my_default.c).
//!
//! The allow-list of keys is applied by the host. A file that the server may read but walwise does
//! not, such as one in a home directory, is a hole where it exists. A server ignores a
//! world-writable option file.

use std::path::{Path, PathBuf};

use super::edition::{Edition, ProductLine};
use super::process::{self, MysqldProcess};
use super::settings;
use crate::databases::conf::Conf;
use crate::facts::note::{MysqlNote, ServerNote};
use crate::facts::{FactSet, Note, Reading, Remedy, Source, Why};
use crate::host::{Dialect, Host, Miss, MissKind, path_bytes, path_of};
use crate::refusal::refused;
use crate::text::safe;
use crate::truth::Truth;

/// The deepest nesting of includes; the servers skip deeper ones.
const DEPTH: usize = 10;
/// The largest number of files that are read, however they include each other.
const FILES: usize = 256;
/// Option files that every build reads.
const USUAL: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];
/// The option file of builds with this SYSCONFDIR.
const BUILT_IN: &str = "/usr/etc/my.cnf";

/// The configuration of a server, or of what is installed. Without a known data directory, its
/// persisted settings are left to [`persisted`]. `named` is the file that the user named as its
/// `--defaults-file`.
pub fn read(
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
        groups.suffix = Some(safe(&suffix).to_ascii_lowercase());
    }
    let mut reader = OptionFileReader {
        host,
        facts,
        conf: &mut conf,
        groups,
        depth: 0,
        full: false,
    };
    match named {
        Some(path) => reader.named(path),
        None => reader.files(server),
    }
    if let Some(server) = server {
        reader.arguments(server);
    }
    conf
}

/// Adds MySQL's persisted settings (SET PERSIST) from the data directory, which the server reads
/// last, if at all.
pub fn persisted(
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
    // If that is uncertain it counts as read, which is the default.
    let load = conf
        .get("persisted_globals_load")
        .and_then(|load| load.value().map(|word| safe(word)));
    let ignored =
        load.is_some_and(|word| settings::flag("persisted_globals_load", &word) == Ok(false));
    let mut reader = OptionFileReader {
        host,
        facts,
        conf,
        groups,
        depth: 0,
        full: false,
    };
    if !ignored {
        reader.optional(&data.join("mysqld-auto.cnf"), Dialect::MysqlPersisted);
    }
    // Some packages make the data directory the home of the server's user. A server with
    // `--defaults-file` reads no other file.
    if named.is_none() {
        reader.unread(&data.join(".my.cnf"));
    }
}

/// The groups that a server reads.
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

    fn read(&self, group: &str) -> Truth {
        let plain = self
            .suffix
            .as_deref()
            .and_then(|suffix| group.strip_suffix(suffix));
        [Some(group), plain]
            .into_iter()
            .flatten()
            .fold(Truth::False, |found, name| found.or(self.has(name)))
    }

    fn has(&self, group: &str) -> Truth {
        let mariadb = match self.line {
            Some(line) => Truth::from(line == ProductLine::Mariadb),
            None => Truth::Unknown,
        };
        match group {
            "mysqld" | "server" => Truth::True,
            "mariadb" | "mariadbd" | "client-server" | "galera" => mariadb,
            _ => {
                let Some((name, series)) = group.split_once('-') else {
                    return Truth::False;
                };
                let versioned = series.starts_with(|c: char| c.is_ascii_digit());
                let line = match name {
                    "mysqld" => Truth::True,
                    "mariadb" | "mariadbd" => mariadb,
                    _ => return Truth::False,
                };
                match &self.series {
                    _ if !versioned => Truth::False,
                    Some(ours) => line.and(Truth::from(ours == series)),
                    None => line.and(Truth::Unknown),
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
    /// Whether the limit of files is reached.
    full: bool,
}

impl OptionFileReader<'_> {
    fn files(&mut self, server: Option<&MysqldProcess>) {
        let option = |name| {
            server
                .and_then(|server| server.option(name))
                .map(process::path)
        };
        if server.is_some_and(|server| server.option("no_defaults").is_some()) {
            return;
        }
        if let Some(path) = option("defaults_file") {
            return self.named(&path);
        }
        for path in USUAL {
            self.optional(Path::new(path), Dialect::Mysql);
        }
        self.unread(Path::new(BUILT_IN));
        if let Some(server) = server {
            let home = ["MARIADB_HOME", "MYSQL_HOME"]
                .iter()
                .find_map(|name| server.variable(name));
            match (home, &server.environment) {
                (Some(home), _) => self.optional(&path_of(home).join("my.cnf"), Dialect::Mysql),
                (None, Err(miss)) => self.hole(miss, &format!("/proc/{}/environ", server.pid)),
                (None, Ok(_)) => {}
            }
        }
        if let Some(path) = option("defaults_extra_file") {
            self.named(&path);
        }
    }

    fn arguments(&mut self, server: &MysqldProcess) {
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
            Err(miss) => self.hole(miss, &format!("/proc/{}/cmdline", server.pid)),
        }
    }

    /// A file that the server was told to read. A relative path refers to a directory that is no
    /// longer known.
    fn named(&mut self, path: &Path) {
        let shown = safe(path_bytes(path));
        if !path.is_absolute() {
            return self.unknown(format!(
                "{shown}: an option file relative to where the server was started"
            ));
        }
        if self
            .host
            .config(path, Dialect::Mysql)
            .is_err_and(|miss| miss.kind == MissKind::Absent)
        {
            return self.broken(ServerNote::NoInclude { path: shown });
        }
        self.file(path, Dialect::Mysql);
    }

    /// A file that may be absent.
    fn optional(&mut self, path: &Path, dialect: Dialect) {
        if self.full {
            return self.beyond();
        }
        if self
            .host
            .config(path, dialect)
            .is_err_and(|miss| miss.kind == MissKind::Absent)
        {
            let holder = path
                .ancestors()
                .skip(1)
                .find(|above| self.host.stat(above).is_ok());
            self.conf.end(holder.unwrap_or(path));
        } else {
            self.file(path, dialect);
        }
    }

    /// A file that is not read here, and that the server may read where it exists.
    fn unread(&mut self, path: &Path) {
        if self.host.stat(path).is_ok() {
            self.unknown(format!(
                "{} exists, and it is unknown whether the server reads it",
                safe(path_bytes(path))
            ));
        }
    }

    fn file(&mut self, path: &Path, dialect: Dialect) {
        let shown = safe(path_bytes(path));
        if self.full {
            return self.beyond();
        }
        if self.conf.count_file() > FILES {
            self.full = true;
            return self.broken(ServerNote::FilesBeyondBound { file: shown });
        }
        let settings = match self.host.config(path, dialect) {
            // Most files say nothing that counts, and each question more is a way to a child and
            // back.
            Ok(settings) if settings.is_empty() => return self.conf.end(path),
            settings => settings,
        };
        if self
            .host
            .stat(path)
            .is_ok_and(|stat| stat.is_file() && stat.mode & 0o002 != 0)
        {
            self.facts.warn(MysqlNote::PublicFile { file: shown });
            return self.conf.end(path);
        }
        let settings = match settings {
            Ok(settings) => settings,
            Err(miss) => return self.hole(&miss, &shown),
        };
        for setting in settings {
            let key = String::from_utf8_lossy(&setting.key).into_owned();
            let there = || path_of(setting.value.clone());
            let source = Source::line(&*shown, setting.line);
            match (key.as_str(), key.rsplit_once('.')) {
                ("include", _) => self.include(&there()),
                ("includedir", _) => self.directory(&there()),
                (_, Some(("persisted", name))) => self.set(name, &setting.value, &source),
                (_, Some((group, name))) => match self.groups.read(group) {
                    Truth::True => self.set(name, &setting.value, &source),
                    Truth::False => {}
                    Truth::Unknown => {
                        let detail = format!(
                            "{source}: it is unknown whether the server reads the group [{}]",
                            safe(group.as_bytes())
                        );
                        self.conf.unclear(bare(name).0, detail);
                    }
                },
                _ => self.broken(MysqlNote::NoOptions {
                    file: shown.clone(),
                }),
            }
        }
        self.conf.end(path);
    }

    fn include(&mut self, path: &Path) {
        let shown = safe(path_bytes(path));
        if !path.is_absolute() {
            return self.unknown(format!(
                "{shown}: an include relative to where the server was started"
            ));
        }
        if self.depth >= DEPTH {
            return self.facts.warn(MysqlNote::Depth { file: shown });
        }
        self.depth += 1;
        self.optional(path, Dialect::Mysql);
        self.depth -= 1;
    }

    /// Files whose names end in `.cnf`, in the order of their bytes.
    fn directory(&mut self, path: &Path) {
        let shown = safe(path_bytes(path));
        if !path.is_absolute() {
            return self.unknown(format!(
                "{shown}: an include relative to where the server was started"
            ));
        }
        if self.depth >= DEPTH {
            return self.facts.warn(MysqlNote::Depth { file: shown });
        }
        let mut names = match self.host.list(path) {
            Ok(names) => names,
            Err(miss) if miss.kind == MissKind::Absent => {
                return self.broken(ServerNote::NoInclude { path: shown });
            }
            Err(miss) => return self.hole(&miss, &shown),
        };
        names.retain(|name| path_bytes(Path::new(name)).ends_with(b".cnf"));
        names.sort();
        self.depth += 1;
        for name in names {
            if self.full {
                self.beyond();
                break;
            }
            let file = path.join(name);
            let is_directory = self.host.config(&file, Dialect::Mysql).is_err()
                && self.host.stat(&file).is_ok_and(|stat| stat.is_dir());
            if !is_directory {
                self.file(&file, Dialect::Mysql);
            }
        }
        self.depth -= 1;
        self.conf.end(path);
    }

    /// One setting with its prefixes resolved as my_getopt does. An empty value is an unknown one,
    /// except for log_bin, where it switches the log off.
    fn set(&mut self, name: &str, value: &[u8], source: &Source) {
        let (name, turned) = bare(name);
        let is_zero = value == b"0";
        let value = match turned {
            Some(on) if on != is_zero => b"1".as_slice(),
            Some(_) if name == "log_bin" => b"",
            Some(_) => b"0",
            None if name == "log_bin" && value.is_empty() => b"1",
            None => value,
        };
        if value.is_empty() && name != "log_bin" && name != "binlog_storage_engine" {
            let name = safe(name.as_bytes());
            return self.conf.unclear(
                &*name,
                format!("{source}: what it sets {name} to cannot be told"),
            );
        }
        self.conf.set(name, value, source.clone());
    }

    /// Notes once that further files are unknown.
    fn beyond(&mut self) {
        self.conf.hole(
            Why::NotCollected,
            "more files are included than walwise reads",
            None,
        );
    }

    fn hole(&mut self, miss: &Miss, what: &str) {
        if let Reading::Unknown {
            why,
            detail,
            remedy,
        } = refused::<()>(miss, what)
        {
            self.conf.hole(why, detail, remedy);
        }
    }

    fn unknown(&mut self, detail: String) {
        self.conf.hole(Why::Ambiguous, detail, None::<Remedy>);
    }

    /// A configuration that the server would refuse, so it runs with another one than is written.
    fn broken(&mut self, note: impl Into<Note>) {
        let note = note.into();
        self.conf.hole(Why::Malformed, note.to_string(), None);
        self.facts.warn(note);
    }
}

/// A name without its prefixes, and whether the last of them switches on or off.
fn bare(name: &str) -> (&str, Option<bool>) {
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

/// The path in a setting, resolved against the directory for relative paths.
pub fn within(base: &Path, value: &[u8]) -> PathBuf {
    base.join(path_of(value.to_vec()))
}
