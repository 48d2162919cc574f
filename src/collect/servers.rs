//! Running database servers as processes: which there are, and what was preloaded into them.
//!
//! Only allow-listed options and variables ever arrive here, in one form. A worker is a child of its server and has the
//! same name, so the parent decides. The surprise: what is preloaded everywhere stands in a file, not in the environment.

use std::collections::BTreeSet;
use std::path::Path;

use super::refused;
use crate::facts::{Reading, Source, Why};
use crate::host::{Host, Miss, MissKind, Question};
use crate::text::{raw, safe};

/// One server.
#[derive(Debug)]
pub struct Row {
    /// Its process id.
    pub pid: u32,
    /// That of its parent.
    pub parent: u32,
    /// Who runs it.
    pub uid: u32,
    /// What the process is called.
    pub name: String,
}

impl Row {
    /// Whether it is MySQL's or MariaDB's.
    pub fn is_mysql(&self) -> bool {
        matches!(self.name.as_str(), "mysqld" | "mariadbd")
    }
}

/// The servers that are no other's children; an error when processes cannot be listed.
pub fn list(host: &dyn Host) -> Result<Vec<Row>, Miss> {
    let answer = host.ask(&Question::Servers)?;
    let rows: Vec<Row> = String::from_utf8_lossy(&answer).lines().filter_map(row).collect();
    let pids: BTreeSet<u32> = rows.iter().map(|row| row.pid).collect();
    Ok(rows.into_iter().filter(|row| !pids.contains(&row.parent)).collect())
}

/// `pid ppid uid comm`.
fn row(line: &str) -> Option<Row> {
    let mut words = line.splitn(4, ' ');
    Some(Row {
        pid: words.next()?.parse().ok()?,
        parent: words.next()?.parse().ok()?,
        uid: words.next()?.parse().ok()?,
        name: words.next()?.to_owned(),
    })
}

/// The value of an environment variable; an empty one counts as unset.
pub fn variable(environment: &[u8], name: &str) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(environment);
    let value = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('=')).next_back()?;
    (!value.is_empty()).then(|| raw(value))
}

/// libeatmydata in LD_PRELOAD or in ld.so.preload (ld.so(8)), which the dynamic linker loads into every program.
pub fn preloaded(host: &dyn Host, pid: u32, environment: &Result<Vec<u8>, Miss>) -> Reading<String> {
    const EVERYWHERE: &str = "/etc/ld.so.preload";
    let own = format!("/proc/{pid}/environ");
    let everywhere = host.read(Path::new(EVERYWHERE));
    if let Some(library) = everywhere.as_deref().ok().and_then(eats_data) {
        return Reading::known(library, Source::file(EVERYWHERE));
    }
    let environment = match environment {
        Ok(environment) => environment,
        Err(miss) => return refused(miss, &own),
    };
    let library = variable(environment, "LD_PRELOAD").as_deref().and_then(eats_data);
    match (library, everywhere) {
        (Some(library), _) => Reading::known(library, Source::file(own)),
        (None, Err(miss)) if miss.kind != MissKind::Absent => refused(&miss, EVERYWHERE),
        (None, _) => Reading::known("none".to_owned(), Source::file(own)),
    }
}

/// The library in a list of libraries that turns fsync into nothing.
fn eats_data(libraries: &[u8]) -> Option<String> {
    let mut libraries = libraries.split(|b| *b == b':' || b.is_ascii_whitespace());
    libraries.find(|library| library.windows(9).any(|part| part == b"eatmydata")).map(safe)
}

/// What is known of a preload when no server runs.
pub fn not_running() -> Reading<String> {
    Reading::unknown(Why::Absent, "no server runs on it, and what will be preloaded into one is not known")
}
