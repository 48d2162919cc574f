//! One line for Nagios and Icinga, with performance data (Monitoring Plugins Development Guidelines).

use super::{Health, applying, line, unknown};
use crate::report::exit;
use crate::report::model::Report;
use crate::rules::Level;
use crate::text::escape_lines;

/// The largest number of things of a kind that the line names, and of targets with performance data.
const MOST: usize = 3;
const MOST_PRICES: usize = 16;

/// The longest text before the performance data, in characters; Nagios cuts at 8 kB.
const LONGEST: usize = 1000;

pub fn render(report: &Report) -> String {
    let count = |level| applying(report, level).len();
    let health = Health::from_report(report);
    let says = match health {
        Health::Unknown => format!("{}; {}", unknown(report), line(report, MOST)),
        Health::Good | Health::Warning | Health::Critical => line(report, MOST),
    };
    let mut data = vec![
        format!("critical={};;0;0", count(Level::Critical)),
        format!("warning={};0;;0", count(Level::Warning)),
        format!("undecided={};;;0", exit::undecided(report, Level::Critical)),
    ];
    for price in report.prices.iter().take(MOST_PRICES) {
        for row in price.methods.iter().filter(|row| row.chosen) {
            let seconds = row.median_us / 1e6;
            data.push(format!("'commit {}'={seconds}s;;;0", label(price.target.name())));
        }
    }
    format!("WALWISE {} - {} | {}\n", health.word(), text(&says), data.join(" "))
}

/// The line for a run that failed.
pub fn failure(sentence: &str) -> String {
    format!("WALWISE {} - {}\n", Health::Unknown.word(), text(&escape_lines(sentence)))
}

/// Text before the bar that begins the performance data.
fn text(says: &str) -> String {
    let plain = |c: char| if c == '|' { '/' } else { c };
    says.lines().collect::<Vec<_>>().join(" ").chars().map(plain).take(LONGEST).collect()
}

/// A label of performance data: no equals sign and no quote, and no bar, at which readers split.
fn label(name: &str) -> String {
    name.chars().map(|c| if matches!(c, '=' | '\'' | '|') { '_' } else { c }).collect()
}
