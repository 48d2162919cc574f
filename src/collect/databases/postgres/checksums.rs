//! Whether a cluster's data pages carry checksums: from the server's answer, or from its control file.
//!
//! No configuration file holds the answer. The control file does, also for a running server, because only a stopped one
//! can be changed (pg_checksums). `pg_controldata` of the cluster's own version reads it, because the layout differs
//! between versions (PostgreSQL manual, *pg_controldata*). Only one line of its output leaves the host.

use std::path::Path;

use super::server::SettingsReply;
use crate::collect::collector::Request;
use crate::collect::refusal::{not_run, refused};
use crate::facts::{Reading, Remedy, Source, Why};
use crate::host::{Host, Tool, path_bytes};
use crate::quote::shell;
use crate::text::safe;
use crate::version::Version;

const NAME: &str = "data_checksums";

/// `data` is the data directory as `host` has it.
pub fn read(
    host: &dyn Host,
    request: &Request,
    answer: Option<&SettingsReply>,
    major: Option<&Version>,
    data: &Path,
) -> Reading<bool> {
    match answer.and_then(|answer| answer.get(NAME)) {
        Some(told) => told.and_then(|value| match value.as_slice() {
            b"on" => Ok(true),
            b"off" => Ok(false),
            other => Err(format!("`{}` is neither on nor off", safe(other))),
        }),
        None => of_control_file(host, request, major, data).or_try(Remedy::Do(format!(
            "ask the server on {} in psql: SHOW data_checksums;",
            safe(path_bytes(data))
        ))),
    }
}

fn of_control_file(
    host: &dyn Host,
    request: &Request,
    major: Option<&Version>,
    data: &Path,
) -> Reading<bool> {
    let unknown = |detail: &str| Reading::unknown(Why::NotCollected, detail);
    let number = major.and_then(|major| u32::try_from(major.number(0)).ok());
    let Some(number) = number.filter(|number| *number >= 10) else {
        return unknown("the control file is read from PostgreSQL 10 on");
    };
    let Some(directory) = data.to_str() else {
        return unknown("the name of the data directory cannot be passed to a program");
    };
    if request.without_programs {
        return not_run();
    }
    let tool = Tool::PgControldata(number);
    let argv = shell::line(&tool.name(), &["-D", directory]);
    match host.run(tool, &["-D", directory]) {
        Ok(printed) => {
            Reading::known(safe(printed.trim_ascii()), Source::Command { argv }).and_then(|line| {
                match line.strip_prefix("Data page checksum version:").map(str::trim) {
                    Some("0") => Ok(false),
                    Some("1") => Ok(true),
                    _ => Err("the control file names no version of checksums, or is damaged".to_owned()),
                }
            })
        }
        Err(miss) => refused(&miss, &argv),
    }
}
