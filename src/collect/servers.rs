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

/// Our effective user id.
pub fn our_uid(host: &dyn Host) -> Option<u32> {
    let identity = host.ask(&Question::Identity).ok()?;
    String::from_utf8_lossy(&identity).lines().find_map(|line| line.strip_prefix("euid=")?.parse().ok())
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::Fake;

    fn pids(lines: &[String]) -> Vec<u32> {
        let host = Fake::default().answer(Question::Servers, lines.join("\n"));
        list(&host).unwrap().iter().map(|row| row.pid).collect()
    }

    proptest! {
        #[test]
        fn workers_are_no_servers_in_whatever_order_they_come(
            lines in Just(["10 1 26 postgres", "11 10 26 postgres", "20 1 27 mariadbd", "21 20 27 x y", "30 2 0 mysqld"]).prop_map(|all| all.map(str::to_owned).to_vec()).prop_shuffle(),
            bad in "[^\n]{0,20}",
            at in 0usize..6,
        ) {
            prop_assume!(row(&bad).is_none());
            let mut noisy = lines;
            noisy.insert(at, bad);
            let mut found = pids(&noisy);
            found.sort_unstable();
            prop_assert_eq!(found, [10, 20, 30]);
        }

        #[test]
        fn the_last_value_of_a_variable_counts(
            value in prop::collection::vec(1u8.., 1..20), before in "[^\n]{0,20}", bytes: Vec<u8>,
        ) {
            variable(&bytes, "PGDATA");
            eats_data(&bytes);
            let text = format!("{before}\nPGDATA=x\nPGDATA={}\n", safe(&value));
            prop_assert_eq!(variable(text.as_bytes(), "PGDATA"), Some(value));
        }

        #[test]
        fn a_library_that_eats_data_is_found_among_any(libraries in prop::collection::vec("[a-z./]{0,12}", 0..5), at: prop::sample::Index) {
            prop_assume!(!libraries.iter().any(|library| library.contains("eatmydata")));
            prop_assert_eq!(eats_data(libraries.join(":").as_bytes()), None);
            let mut all = libraries;
            all.insert(at.index(all.len() + 1), "/usr/lib/libeatmydata.so".to_owned());
            for separator in [":", " ", "\n"] {
                prop_assert!(eats_data(all.join(separator).as_bytes()).is_some_and(|found| found.contains("eatmydata")));
            }
        }
    }
}
