//! The product, MySQL or MariaDB, and the version of a server.
//!
//! walwise runs only the installed program, never one found through a process. The output describes
//! a process only if the process runs the same file. MariaDB's program may be named `mysqld` too.

use std::path::{Path, PathBuf};

use crate::collector::Request;
use crate::facts::{Reading, Remedy, ServerKind, Source};
use crate::host::{Host, Tool, path_bytes};
use crate::host_readings::file_reading;
use crate::text::display_path;
use crate::tool_version::query_version;
use crate::version::Version;

#[derive(Clone, Debug)]
pub struct ProductVersion {
    pub line: Reading<ServerKind>,
    pub version: Reading<Version>,
}

const TOOLS: [Tool; 2] = [Tool::Mariadbd, Tool::Mysqld];

impl ProductVersion {
    pub fn product_and_version(&self) -> Option<(ServerKind, &Version)> {
        self.line.value().copied().zip(self.version.value())
    }

    /// Product and version of a running process, if it runs the installed program. Device and inode
    /// must match too, because the program's path in a container may lead to another program in
    /// walwise's mount namespace.
    pub fn from_server_process(host: &dyn Host, request: &Request, pid: u32) -> Self {
        let program = process_executable_path(host, pid);
        let Reading::Known {
            value: path,
            source,
        } = &program
        else {
            return Self::from_unknown_reading(&program);
        };
        let file = |path: &Path| host.stat(path).ok().map(|stat| stat.file_id());
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
            edition.line = Reading::known(ServerKind::Mariadb, source.clone());
        }
        edition
    }

    pub fn query_installed_program(host: &dyn Host, request: &Request) -> Option<Self> {
        Some(Self::query_version(host, request, installed_program(host)?))
    }

    pub fn unknown_without_program() -> Self {
        Self::from_unknown_reading::<()>(&Reading::absent(
            "no MySQL or MariaDB server is installed",
        ))
    }

    fn from_unknown_reading<T>(reading: &Reading<T>) -> Self {
        Self {
            line: reading.as_ref().into_unknown_reading(),
            version: reading.as_ref().into_unknown_reading(),
        }
    }

    fn query_version(host: &dyn Host, request: &Request, tool: Tool) -> Self {
        let version = query_version(host, request, tool, "--version");
        let line = version.as_ref().map(|version| {
            if version.to_string().contains("MariaDB") {
                ServerKind::Mariadb
            } else {
                ServerKind::Mysql
            }
        });
        let line = if tool == Tool::Mariadbd && !line.is_known() {
            let source = Source::from_file(format!("program name {}", tool.name()));
            Reading::known(ServerKind::Mariadb, source)
        } else {
            line
        };
        Self { line, version }
    }
}

/// Whether collecting the version runs a server program, which takes time. False for a capture,
/// which holds the program's output.
pub fn is_program_run_needed(host: &dyn Host, request: &Request) -> bool {
    host.is_live() && !request.without_programs && installed_program(host).is_some()
}

fn installed_program(host: &dyn Host) -> Option<Tool> {
    TOOLS
        .into_iter()
        .find(|tool| server_program_path(host, *tool).is_some())
}

fn server_program_path(host: &dyn Host, tool: Tool) -> Option<PathBuf> {
    tool.directories().iter().find_map(|directory| {
        host.real_path(&Path::new(directory).join(&*tool.name()))
            .ok()
    })
}

fn process_executable_path(host: &dyn Host, pid: u32) -> Reading<PathBuf> {
    let link = format!("/proc/{pid}/exe");
    let path = file_reading(host.link_target(Path::new(&link)), &link);
    path.and_then_reading(|path, source| {
        if !path_bytes(&path).ends_with(b" (deleted)") {
            return Reading::known(path, source);
        }
        let restart = format!("restart the server (process {pid}), then check again");
        Reading::ambiguous(
            "the server's program file was replaced or removed after the server started",
        )
        .with_remedy(Remedy::Do(restart))
    })
}
