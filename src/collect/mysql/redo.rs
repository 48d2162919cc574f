//! The two old settings of the redo log's size, and whether the new one overrides them.
//!
//! From MySQL 8.0.30 on `innodb_redo_log_capacity` sets the size of the redo log. Where it is set, the server ignores
//! `innodb_log_file_size` and `innodb_log_files_in_group` with a note in its log (MySQL 8.0.30 release notes; MySQL
//! manual, *Redo Log*). Where it is not set, the product of the two still counts; MariaDB knows only those two.

use super::edition::Edition;
use super::settings;
use crate::collect::conf::Conf;
use crate::facts::{Reading, Source, Why};

const CAPACITY: &str = "innodb_redo_log_capacity";
const OLD: [&str; 2] = ["innodb_log_file_size", "innodb_log_files_in_group"];

/// Which of the two are set although the server ignores them.
pub fn ignored(written: &Conf, edition: &Edition) -> Reading<Vec<String>> {
    let unknown = |why, detail: String| Reading::unknown(why, detail);
    let Some((line, version)) = edition.known() else {
        return unknown(Why::NotCollected, format!("which version it is, and so whether it has {CAPACITY}"));
    };
    if settings::default_of(CAPACITY, line, version).is_absent() {
        return unknown(Why::Absent, format!("{} {} has no {CAPACITY}", line.name(), version.base()));
    }
    let source = match written.get(CAPACITY) {
        None => {
            return Reading::known(Vec::new(), Source::Default { of: settings::series(line, version) });
        }
        Some(Reading::Known { source, .. }) => source,
        Some(Reading::Unknown { why, detail, remedy }) => return Reading::Unknown { why, detail, remedy },
    };
    let mut ignored = Vec::new();
    for name in OLD {
        match written.get(name) {
            None => {}
            Some(Reading::Known { .. }) => ignored.push(name.to_owned()),
            Some(Reading::Unknown { why, detail, remedy }) => {
                return Reading::Unknown { why, detail, remedy };
            }
        }
    }
    Reading::known(ignored, source)
}
