//! The product, MySQL or MariaDB, and the version of a server.
//!
//! walwise runs only the installed program, never one found through a process. The output describes
//! a process only if the process runs the same file. MariaDB's program may be named `mysqld` too.

use std::path::{Path, PathBuf};

use crate::collector::Request;
use crate::facts::{Reading, Remedy, ServerKind, Source, UnknownReason};
use crate::host::{Host, SERVER_DIRECTORIES, Tool, path_bytes};
use crate::host_readings::{error_reading, programs_disabled_reading};
use crate::text::{display_path, display_safe};
use crate::version::Version;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerProduct {
    /// MySQL or Percona Server.
    Mysql,
    Mariadb,
}

impl ServerProduct {
    pub fn server_kind(self) -> ServerKind {
        match self {
            Self::Mysql => ServerKind::Mysql,
            Self::Mariadb => ServerKind::Mariadb,
        }
    }

    pub fn product_name(self) -> &'static str {
        self.server_kind().server_product_name()
    }
}

#[derive(Clone, Debug)]
pub struct ProductVersion {
    pub line: Reading<ServerProduct>,
    pub version: Reading<Version>,
}

const TOOLS: [Tool; 2] = [Tool::Mariadbd, Tool::Mysqld];

impl ProductVersion {
    pub fn product_and_version(&self) -> Option<(ServerProduct, &Version)> {
        self.line.value().copied().zip(self.version.value())
    }

    /// Product and version of a running process, if it runs the installed program. Device and inode
    /// must match too, because the program's path in a container may lead to another program in
    /// walwise's mount namespace.
    pub fn from_server_process(
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
            return Self::from_unknown_reading(program);
        };
        let file = |path: &Path| {
            host.stat(path)
                .ok()
                .map(|stat| (stat.major, stat.minor, stat.inode))
        };
        let runs = file(Path::new(&format!("/proc/{pid}/exe")));
        let is_it = |tool: &Tool| {
            server_program_path(host, *tool).is_some_and(|one| one == *path && runs == file(&one))
        };
        let tool = TOOLS.into_iter().find(is_it).filter(|_| runs.is_some());
        if let Some(tool) = tool {
            return Self::query_version(host, request, tool);
        }
        let shown = display_path(path);
        let detail = format!(
            "{shown} is not the installed program; walwise queries only the installed program for its version"
        );
        let mut edition = Self::from_unknown_reading::<()>(&Reading::ambiguous(detail));
        if path.file_name().is_some_and(|name| name == "mariadbd") {
            edition.line = Reading::known(ServerProduct::Mariadb, source.clone());
        }
        edition
    }

    pub fn query_installed_program(host: &dyn Host, request: &Request) -> Option<Self> {
        let tool = TOOLS
            .into_iter()
            .find(|tool| server_program_path(host, *tool).is_some())?;
        Some(Self::query_version(host, request, tool))
    }

    pub fn unknown_without_program() -> Self {
        Self::from_unknown_reading::<()>(&Reading::absent(
            "no MySQL or MariaDB server is installed",
        ))
    }

    fn from_unknown_reading<T>(reading: &Reading<T>) -> Self {
        let (why, detail, remedy) = match reading {
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => (*why, detail.clone(), remedy.clone()),
            Reading::Known { .. } => (UnknownReason::NotCollected, String::new(), None),
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

    fn query_version(host: &dyn Host, request: &Request, tool: Tool) -> Self {
        let argv = format!("{} --version", tool.name());
        let mut edition = if request.without_programs {
            Self::from_unknown_reading::<()>(&programs_disabled_reading())
        } else {
            match host.run_tool(tool, &["--version"]) {
                Ok(answer) => Self::parse_version_line(&display_safe(answer.trim_ascii()), &argv),
                Err(miss) => Self::from_unknown_reading::<()>(&error_reading(&miss, &argv)),
            }
        };
        if tool == Tool::Mariadbd && !edition.line.is_known() {
            edition.line = Reading::known(
                ServerProduct::Mariadb,
                Source::from_file(format!("the name of {}", tool.name())),
            );
        }
        edition
    }

    /// Parses lines such as
    /// `mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)`.
    fn parse_version_line(answer: &str, argv: &str) -> Self {
        let source = || Source::Command {
            argv: argv.to_owned(),
        };
        let version = answer
            .split_once("Ver ")
            .and_then(|(_, rest)| Version::parse(rest.split(' ').next()?));
        match version {
            Some(version) => {
                let line = if answer.contains("MariaDB") {
                    ServerProduct::Mariadb
                } else {
                    ServerProduct::Mysql
                };
                Self {
                    line: Reading::known(line, source()),
                    version: Reading::known(version, source()),
                }
            }
            None => Self::from_unknown_reading::<()>(&Reading::malformed(format!(
                "`{argv}` printed no version"
            ))),
        }
    }
}

/// Whether collecting the version runs a server program, which takes time. False for a capture,
/// which holds the program's output.
pub fn is_program_run_needed(host: &dyn Host, request: &Request) -> bool {
    host.is_live()
        && !request.without_programs
        && TOOLS
            .into_iter()
            .any(|tool| server_program_path(host, tool).is_some())
}

pub fn cache_program_version(host: &dyn Host, request: &Request) {
    let _ = ProductVersion::query_installed_program(host, request);
}

fn server_program_path(host: &dyn Host, tool: Tool) -> Option<PathBuf> {
    SERVER_DIRECTORIES.iter().find_map(|directory| {
        host.real_path(&Path::new(directory).join(&*tool.name()))
            .ok()
    })
}

pub fn process_executable_path(host: &dyn Host, pid: u32) -> Reading<PathBuf> {
    let link = format!("/proc/{pid}/exe");
    match host.link_target(Path::new(&link)) {
        Ok(path) if path_bytes(&path).ends_with(b" (deleted)") => {
            Reading::ambiguous("the server's program file was replaced or removed after it started")
                .with_remedy(Remedy::Do(format!(
                    "restart the server (process {pid}), then check again"
                )))
        }
        Ok(path) => Reading::known(path, Source::from_file(link)),
        Err(miss) => error_reading(&miss, &link),
    }
}
