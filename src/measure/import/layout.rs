//! `pg_test_fsync`'s text in any language, by its layout: catalogs translate everything but the names of the methods,
//! and the locale chooses the decimal sign (src/bin/pg_test_fsync/po, pg_test_fsync.c).
//!
//! It is read completely or not at all. Rows count only in the tool's own order without a gap, and a figure counts only
//! where the rate and the microseconds beside it are each other's inverse. Lines of prose can begin with a method's
//! name, too.

use super::run::ImportedRow;
use crate::measure::group::Group;
use crate::measure::pg_tests::{PG_TESTS, PgTest};

/// The tool's output for one test.
enum Figures {
    /// Operations per second.
    Rate(f64),
    /// The file system refused direct I/O.
    Refused,
    /// The build has no such method.
    Lacking,
}

/// The rows of one run; `None` where they are not certain. A run may end early: then the last tests are missing.
pub fn rows(lines: &[&str]) -> Option<Vec<ImportedRow>> {
    let mut expected = tests();
    let mut next = expected.next();
    let mut rows = Vec::new();
    for line in lines {
        let has_figure = line.split_whitespace().any(|word| in_thousandths(word).is_some());
        match (next.as_ref().and_then(|row| row.figures(line)), &next) {
            (Some(figures), Some(row)) => {
                rows.push(row.imported(&figures));
                next = expected.next();
            }
            // A figure where none belongs: lines are missing, or their figures were not understood.
            _ if has_figure => return None,
            _ => {}
        }
    }
    (!rows.is_empty()).then_some(rows)
}

/// `5 seconds per test` in English, from the corresponding line in any language.
pub fn budget(line: &str) -> String {
    let mut numbers =
        line.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(1), None) => "1 second per test".to_owned(),
        (Some(seconds), None) => format!("{seconds} seconds per test"),
        _ => "time per test not said".to_owned(),
    }
}

/// A number in the tool's format, `%.3f` in any locale: digits are never grouped, so the character before the last
/// three is the decimal sign.
fn in_thousandths(word: &str) -> Option<f64> {
    let (whole, decimals) = word.split_once(['.', ',', '٫'])?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (digits(whole) && digits(decimals) && decimals.len() == 3)
        .then(|| format!("{whole}.{decimals}").parse().ok())?
}

/// The rate in a line, if the microseconds after it are its inverse, within the rounding of both.
pub fn measured(line: &str) -> Option<f64> {
    let mut words = line.split_whitespace();
    let rate = words.by_ref().find_map(in_thousandths).filter(|rate| *rate > 0.0)?;
    let us: f64 = words.find_map(|word| word.parse::<u64>().ok()).map(|us| us as f64)?;
    let rounding = 0.51 + 1e6 * 0.000_51 / (rate * rate);
    ((1e6 / rate - us).abs() <= rounding).then_some(rate)
}

/// A line that the tool prints.
struct ExpectedLine {
    group: Group,
    name: String,
    /// For the writes of different size: how many, and how large.
    sizes: Option<(usize, usize)>,
    /// Whether a build can lack it.
    may_lack: bool,
}

/// Every line in the tool's order; ours omit the method that Linux lacks.
fn tests() -> impl Iterator<Item = ExpectedLine> {
    PG_TESTS.into_iter().flat_map(|test| {
        let name = test.label().split_whitespace().collect::<Vec<_>>().join(" ");
        let (sizes, may_lack) = match test {
            PgTest::Pages(_, method) => (None, method.is_direct()),
            PgTest::Sizes(writes) => (Some((writes.into(), test.bytes() / 1024)), true),
            PgTest::WriteFsyncClose | PgTest::WriteCloseFsync | PgTest::NotSynced => (None, false),
        };
        let writethrough = test.is_last_of_its_section().then(|| ExpectedLine {
            group: test.group(),
            name: "fsync_writethrough".to_owned(),
            sizes: None,
            may_lack: true,
        });
        writethrough.into_iter().chain([ExpectedLine { group: test.group(), name, sizes, may_lack }])
    })
}

impl ExpectedLine {
    /// The result in a line; `None` for a line of another test.
    fn figures(&self, line: &str) -> Option<Figures> {
        let line = line.trim();
        let (rest, stars) = match self.sizes {
            Some(sizes) => (line, if sizes_of(line)? == sizes { 1 } else { return None }),
            None => (line.strip_prefix(&self.name).filter(|rest| rest.starts_with(char::is_whitespace))?, 0),
        };
        if let Some(rate) = measured(rest) {
            return Some(Figures::Rate(rate));
        }
        let numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).count();
        let of_its_name = if self.sizes.is_some() { 2 } else { 0 };
        // After a method's name prose continues after one space, a column after several.
        let is_column = self.sizes.is_some() || rest.starts_with("  ");
        match rest.matches('*').count() {
            _ if numbers != of_its_name || !is_column => None,
            count if count == stars => self.may_lack.then_some(Figures::Lacking),
            count if count == stars + 1 => Some(Figures::Refused),
            _ => None,
        }
    }

    fn imported(&self, figures: &Figures) -> ImportedRow {
        let (per_second, missing) = match figures {
            Figures::Rate(rate) => (Some(*rate), None),
            Figures::Refused => (None, Some("O_DIRECT was refused".to_owned())),
            Figures::Lacking => (None, Some("not in this build".to_owned())),
        };
        ImportedRow {
            group: self.group,
            name: self.name.clone(),
            per_second,
            at_a_time: Some(1),
            percentiles_us: Vec::new(),
            missing,
        }
    }
}

/// `16 *  1kB … open_sync`: how many writes of how many kB; some languages put other words before and between.
fn sizes_of(line: &str) -> Option<(usize, usize)> {
    let (before, after) = line.split_once('*').filter(|_| line.contains("open_sync"))?;
    let writes = before.split_whitespace().next_back()?.parse().ok()?;
    let digits = after.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    Some((writes, digits.get(..end)?.parse().ok()?))
}
