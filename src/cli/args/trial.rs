//! Arguments of `walwise trial`. Doc comments become help texts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{OutputArgs, named_values, parse_seconds};
use crate::trial::{Candidate, LoadPreset};

#[derive(Args, Debug)]
pub struct TrialArgs {
    /// Directory for a loop file on the disk to test, or a spare disk or partition.
    pub target: PathBuf,
    /// Serial number or WWN of the spare disk to erase; if omitted, walwise prompts for it.
    #[arg(long, value_name = "SERIAL")]
    pub erase: Option<String>,
    /// Clear the data that an interrupted trial left on the disk, without measuring.
    #[arg(long)]
    pub clear: bool,
    /// File systems to compare, comma-separated; the first one is the reference.
    #[arg(long, value_name = "LIST", value_parser = named_values::<Candidate>(CANDIDATES), value_delimiter = ',')]
    pub candidates: Vec<Candidate>,
    /// Time limit, such as 90s, 20m or 2h.
    #[arg(long, value_name = "TIME", default_value = "20m", value_parser = parse_budget_seconds)]
    pub budget: f64,
    /// Numbers of concurrent clients, comma-separated.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1, 8, 32], value_parser = clap::value_parser!(u32).range(1..=256))]
    pub clients: Vec<u32>,
    /// What to measure.
    #[arg(long, value_parser = named_values::<LoadPreset>(PRESETS), default_value = "commits")]
    pub preset: LoadPreset,
    /// Size in MiB of the loop file, or of the area used at the beginning of the disk.
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(320..=65_536))]
    pub size: u64,
    /// Write limit in GiB; the trial stops before exceeding it.
    #[arg(long, value_name = "GIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub writes: u64,
    /// Measurement time in seconds per client count, sync method or directory load in each block.
    #[arg(long, value_name = "N", default_value_t = 0.5, value_parser = parse_seconds)]
    pub seconds: f64,
    /// Seed of the random order, to repeat the order of an earlier trial.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Start a trial in a directory without asking.
    #[arg(long)]
    pub yes: bool,
    /// Start even if a running server uses the same disk; the trial slows that server down.
    #[arg(long)]
    pub force: bool,
    /// Output format; the JSON has every sample, command line and version.
    #[arg(long, value_enum, default_value_t = TrialFormat::Text)]
    pub format: TrialFormat,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Also save the JSON to FILE.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// Values of `--candidates`.
const CANDIDATES: &[(&str, &str)] = &[
    ("ext4", "ext4"),
    ("ext4-fast-commit", "ext4 with fast commits"),
    ("xfs", "XFS"),
    ("btrfs", "btrfs"),
    ("btrfs-nocow", "btrfs with +C on the log directory"),
    (
        "ext4-nobarrier",
        "ext4 without barriers: shows the cost of flushing; never ranked",
    ),
];

/// Values of `--preset`.
const PRESETS: &[(&str, &str)] = &[
    ("commits", "Commits to a log"),
    ("methods", "Commits by one client with each sync method"),
    (
        "fs-mark",
        "New files, written and flushed in many directories",
    ),
];

/// Output formats of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TrialFormat {
    /// Text.
    Text,
    /// Markdown.
    Markdown,
    /// One HTML page with charts and the embedded record.
    Html,
    /// The record as JSON.
    Json,
}

/// Parses a time such as `90s`, `20m` or `2h` into seconds.
fn parse_budget_seconds(text: &str) -> Result<f64, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let found = units.into_iter().find_map(|(unit, each)| {
        let number = text.strip_suffix(unit)?.trim().parse::<f64>().ok()?;
        Some(number * each)
    });
    match found {
        Some(seconds) if (1.0..=86_400.0).contains(&seconds) => Ok(seconds),
        Some(_) => Err("expected a time from 1s to 24h".to_owned()),
        None => Err("expected a number with s, m or h, such as 20m".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_budget_seconds;

    #[test]
    fn budget_needs_unit_and_valid_range() {
        assert_eq!(parse_budget_seconds("90s"), Ok(90.0));
        assert_eq!(parse_budget_seconds("1.5h"), Ok(5400.0));
        for wrong in ["20", "", "m", "0s", "25h", "-1m", "nans"] {
            assert!(parse_budget_seconds(wrong).is_err(), "{wrong}");
        }
    }
}
