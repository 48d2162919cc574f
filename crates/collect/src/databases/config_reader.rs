//! Configuration files with their includes, in the order in which a server reads them. The products
//! differ in the directives, which the caller applies.

use std::path::{Path, PathBuf};

use super::ServerConfig;
use crate::facts::{FactSet, Note, Reading};
use crate::host::{ConfigDialect, ConfigDirective, Host, HostError, path_bytes};
use crate::host_readings::error_reading;
use crate::text::display_path;

/// PostgreSQL refuses to start with deeper includes; MySQL and MariaDB skip them.
const MAX_INCLUDE_DEPTH: usize = 10;
/// Ends cycles of files that include each other.
pub const MAX_FILES: usize = 256;

/// Called for each directive, in the order of the file.
type ApplyDirective<'a> = &'a dyn Fn(&mut ConfigReader<'_>, &Path, ConfigDirective);

pub struct ConfigReader<'a> {
    pub host: &'a dyn Host,
    pub conf: &'a mut ServerConfig,
    pub facts: &'a mut FactSet,
    dialect: ConfigDialect,
    apply: ApplyDirective<'a>,
    files: usize,
    chain: Vec<PathBuf>,
}

impl<'a> ConfigReader<'a> {
    pub fn new(
        host: &'a dyn Host,
        dialect: ConfigDialect,
        apply: ApplyDirective<'a>,
        conf: &'a mut ServerConfig,
        facts: &'a mut FactSet,
    ) -> Self {
        Self {
            host,
            conf,
            facts,
            dialect,
            apply,
            files: 0,
            chain: Vec::new(),
        }
    }

    /// An absent file becomes a gap in the configuration.
    pub fn read_file(&mut self, path: &Path) {
        let shown = display_path(path);
        if self.files > MAX_FILES {
            return self.add_file_limit_gap();
        }
        self.files += 1;
        if self.files > MAX_FILES {
            return self.add_rejected_file_gap(format!(
                "{shown} was not read: the configuration includes more than {MAX_FILES} files"
            ));
        }
        let is_postgres = self.dialect == ConfigDialect::Postgres;
        if is_postgres && self.chain.iter().any(|above| above == path) {
            return self.add_rejected_file_gap(format!(
                "{shown}: the file includes itself, which the server refuses"
            ));
        }
        if is_postgres && self.is_nested_too_deeply() {
            return self.add_rejected_file_gap(format!(
                "{shown}: includes are nested deeper than the server allows"
            ));
        }
        let directives = match self.host.config_directives(path, self.dialect) {
            // A file without relevant settings is not examined further, because each query is a
            // round trip to a child process.
            Ok(directives) if directives.is_empty() => return self.conf.mark_file_end(path),
            directives => directives,
        };
        let is_public = || {
            let stat = self.host.stat(path);
            stat.is_ok_and(|stat| stat.is_file() && stat.mode & 0o002 != 0)
        };
        if !is_postgres && is_public() {
            self.facts.add_note_once(format!(
                "{shown} is writable by everyone, so the server ignores it"
            ));
            return self.conf.mark_file_end(path);
        }
        match directives {
            Ok(directives) => {
                self.chain.push(path.to_owned());
                let apply = self.apply;
                for directive in directives {
                    apply(self, path, directive);
                }
                self.chain.pop();
                self.conf.mark_file_end(path);
            }
            Err(miss) if is_postgres && miss.is_absent() => self.add_missing_file_gap(path),
            Err(miss) => self.add_error_gap(&miss, &shown),
        }
    }

    pub fn read_optional_file(&mut self, path: &Path) {
        if self.files > MAX_FILES {
            return self.add_file_limit_gap();
        }
        if self.is_absent(path) {
            let holder = path
                .ancestors()
                .skip(1)
                .find(|above| self.host.stat(above).is_ok());
            self.conf.mark_file_end(holder.unwrap_or(path));
        } else {
            self.read_file(path);
        }
    }

    /// Reads the files for whose names `is_included` holds, in byte order.
    pub fn read_directory(&mut self, path: &Path, is_included: fn(&[u8]) -> bool) {
        let mut names = match self.host.list_directory(path) {
            Ok(names) => names,
            Err(miss) if miss.is_absent() => return self.add_missing_file_gap(path),
            Err(miss) => return self.add_error_gap(&miss, &display_path(path)),
        };
        names.retain(|name| is_included(path_bytes(Path::new(name))));
        names.sort();
        for name in names {
            if self.files > MAX_FILES {
                return self.add_file_limit_gap();
            }
            let file = path.join(name);
            let is_directory = self.host.config_directives(&file, self.dialect).is_err()
                && self.host.stat(&file).is_ok_and(|stat| stat.is_dir());
            if !is_directory {
                self.read_file(&file);
            }
        }
        self.conf.mark_file_end(path);
    }

    pub fn is_absent(&self, path: &Path) -> bool {
        let directives = self.host.config_directives(path, self.dialect);
        directives.is_err_and(|miss| miss.is_absent())
    }

    pub fn is_nested_too_deeply(&self) -> bool {
        self.chain.len() > MAX_INCLUDE_DEPTH
    }

    pub fn add_error_gap(&mut self, miss: &HostError, what: &str) {
        self.conf.add_gap(error_reading(miss, what));
    }

    pub fn add_missing_file_gap(&mut self, path: &Path) {
        let path = display_path(path);
        self.add_rejected_file_gap(format!(
            "{path} does not exist, and the server will not start without this file"
        ));
    }

    fn add_file_limit_gap(&mut self) {
        self.conf.add_gap(Reading::uncollected(
            "the configuration includes more files than walwise reads",
        ));
    }

    /// Adds a note and a gap in the configuration for a file with which the server would refuse to
    /// start. A running server must have started with other contents of the file.
    pub fn add_rejected_file_gap(&mut self, note: impl Into<Note>) {
        let note = note.into();
        self.conf.add_gap(Reading::malformed(note.to_string()));
        self.facts.add_note_once(note);
    }
}
