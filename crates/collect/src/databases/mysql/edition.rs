//! The edition of a server, MySQL or MariaDB, and its version, from the running or installed
//! program.
//!
//! Only the installed program is ever run, never one found through a process. It describes a
//! process only when that runs the very same file. MariaDB's program can be called `mysqld` too.

use std::path::{Path, PathBuf};

use crate::collector::Request;
use crate::facts::ServerKind;
use crate::facts::{Reading, Remedy, Source, Why};
use crate::host::{Host, SERVER_DIRECTORIES, Tool, path_bytes};
use crate::refusal::{not_run, refused};
use crate::text::safe;
use crate::version::Version;

/// The two lines of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductLine {
    /// MySQL, and Percona's server.
    Mysql,
    Mariadb,
}

impl ProductLine {
    /// The kind of server in the facts.
    pub fn kind(self) -> ServerKind {
        match self {
            Self::Mysql => ServerKind::Mysql,
            Self::Mariadb => ServerKind::Mariadb,
        }
    }

    /// Its name as people write it.
    pub fn name(self) -> &'static str {
        self.kind().name()
    }
}

/// The known parts of a server's edition.
#[derive(Clone, Debug)]
pub struct Edition {
    pub line: Reading<ProductLine>,
    pub version: Reading<Version>,
}

const TOOLS: [Tool; 2] = [Tool::Mariadbd, Tool::Mysqld];

impl Edition {
    /// Line and version, where both are known.
    pub fn known(&self) -> Option<(ProductLine, &Version)> {
        self.line.value().copied().zip(self.version.value())
    }

    /// The edition of a process that runs this program. In a container the same name can be another
    /// program, so it must be the same file.
    pub fn of_process(
        host: &dyn Host,
        request: &Request,
        pid: u32,
        program: &Reading<PathBuf>,
    ) -> Self {
        let Reading::Known {
            value: path,
            source,
        } = program
        else {
            return Self::unknown(program);
        };
        let file = |path: &Path| {
            host.stat(path)
                .ok()
                .map(|stat| (stat.major, stat.minor, stat.inode))
        };
        let runs = file(Path::new(&format!("/proc/{pid}/exe")));
        let is_it = |tool: &Tool| {
            installed(host, *tool).is_some_and(|one| one == *path && runs == file(&one))
        };
        let tool = TOOLS.into_iter().find(is_it).filter(|_| runs.is_some());
        if let Some(tool) = tool {
            return Self::ask(host, request, tool);
        }
        let shown = safe(path_bytes(path));
        let detail =
            format!("{shown} is not the installed program, and only that is asked for its version");
        let mut edition = Self::unknown::<()>(&Reading::unknown(Why::Ambiguous, detail));
        if path.file_name().is_some_and(|name| name == "mariadbd") {
            edition.line = Reading::known(ProductLine::Mariadb, source.clone());
        }
        edition
    }

    /// The edition of the installed server; `None` when none is installed.
    pub fn installed(host: &dyn Host, request: &Request) -> Option<Self> {
        let tool = TOOLS
            .into_iter()
            .find(|tool| installed(host, *tool).is_some())?;
        Some(Self::ask(host, request, tool))
    }

    /// The edition of a directory without a program.
    pub fn unknown_program() -> Self {
        Self::unknown::<()>(&Reading::unknown(
            Why::Absent,
            "no MySQL or MariaDB server is installed",
        ))
    }

    fn unknown<T>(reading: &Reading<T>) -> Self {
        let (why, detail, remedy) = match reading {
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => (*why, detail.clone(), remedy.clone()),
            Reading::Known { .. } => (Why::NotCollected, String::new(), None),
        };
        let version = Reading::Unknown {
            why,
            detail: detail.clone(),
            remedy: remedy.clone(),
        };
        Self {
            line: Reading::Unknown {
                why,
                detail,
                remedy,
            },
            version,
        }
    }

    fn ask(host: &dyn Host, request: &Request, tool: Tool) -> Self {
        let argv = format!("{} --version", tool.name());
        let mut edition = if request.without_programs {
            Self::unknown::<()>(&not_run())
        } else {
            match host.run(tool, &["--version"]) {
                Ok(answer) => Self::parse(&safe(answer.trim_ascii()), &argv),
                Err(miss) => Self::unknown::<()>(&refused(&miss, &argv)),
            }
        };
        if tool == Tool::Mariadbd && !edition.line.is_known() {
            edition.line = Reading::known(
                ProductLine::Mariadb,
                Source::file(format!("the name of {}", tool.name())),
            );
        }
        edition
    }

    /// `mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)`.
    fn parse(answer: &str, argv: &str) -> Self {
        let source = || Source::Command {
            argv: argv.to_owned(),
        };
        let version = answer
            .split_once("Ver ")
            .and_then(|(_, rest)| Version::parse(rest.split(' ').next()?));
        match version {
            Some(version) => {
                let line = if answer.contains("MariaDB") {
                    ProductLine::Mariadb
                } else {
                    ProductLine::Mysql
                };
                Self {
                    line: Reading::known(line, source()),
                    version: Reading::known(version, source()),
                }
            }
            None => Self::unknown::<()>(&Reading::unknown(
                Why::Malformed,
                format!("`{argv}` names no version"),
            )),
        }
    }
}

/// Whether a program will be run for its version; a capture answers at once.
pub fn waits_for_a_program(host: &dyn Host, request: &Request) -> bool {
    host.is_live()
        && !request.without_programs
        && TOOLS
            .into_iter()
            .any(|tool| installed(host, tool).is_some())
}

/// Asks the installed program for its version, for a host that remembers the answer.
pub fn ask_program(host: &dyn Host, request: &Request) {
    let _ = Edition::installed(host, request);
}

/// The file that the host would run, without links.
fn installed(host: &dyn Host, tool: Tool) -> Option<PathBuf> {
    SERVER_DIRECTORIES.iter().find_map(|directory| {
        host.real_path(&Path::new(directory).join(&*tool.name()))
            .ok()
    })
}

/// The program that a process runs.
pub fn program(host: &dyn Host, pid: u32) -> Reading<PathBuf> {
    let link = format!("/proc/{pid}/exe");
    match host.link(Path::new(&link)) {
        Ok(path) if path_bytes(&path).ends_with(b" (deleted)") => Reading::unknown(
            Why::Ambiguous,
            "the program of the running server has been replaced or removed since it started",
        )
        .or_try(Remedy::Do(format!(
            "restart the server (process {pid}), then look again"
        ))),
        Ok(path) => Reading::known(path, Source::file(link)),
        Err(miss) => refused(&miss, &link),
    }
}
