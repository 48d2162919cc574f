//! The command line of `walwise trial`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::{Output, seconds};
use crate::trial::{Contender, Preset};

/// `walwise trial`.
#[derive(Args, Debug)]
pub struct Trial {
    /// Directory for a loop file on the disk to test, or a spare disk or partition.
    pub target: PathBuf,
    /// Serial number or WWN of the spare disk to erase; without this option a terminal asks for it.
    #[arg(long, value_name = "SERIAL")]
    pub erase: Option<String>,
    /// Clear what an interrupted trial left on the disk, and measure nothing.
    #[arg(long)]
    pub clear: bool,
    /// The file systems, comma-separated; the others are compared with the first.
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    pub candidates: Vec<TrialCandidate>,
    /// The longest time, such as 90s, 20m or 2h.
    #[arg(long, value_name = "TIME", default_value = "20m", value_parser = budget)]
    pub budget: f64,
    /// Numbers of sessions that commit at once, comma-separated.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [1, 8, 32], value_parser = clap::value_parser!(u32).range(1..=256))]
    pub clients: Vec<u32>,
    /// What is measured.
    #[arg(long, value_enum, default_value_t = TrialPreset::Commits)]
    pub preset: TrialPreset,
    /// How large and how long.
    #[command(flatten)]
    pub extent: TrialExtent,
    /// Start a trial in a directory without asking.
    #[arg(long)]
    pub yes: bool,
    /// Start even if a running server uses the same disk; the trial slows that server down.
    #[arg(long)]
    pub force: bool,
    /// Output format; the JSON has every sample, command line and version.
    #[arg(long, value_enum, default_value_t = TrialFormat::Text)]
    pub format: TrialFormat,
    /// Where it goes.
    #[command(flatten)]
    pub output: Output,
    /// Also keep the JSON in FILE.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// How large and how long a trial is.
#[derive(Args, Debug)]
pub struct TrialExtent {
    /// Size in MiB of the loop file, or of the part at the beginning of the disk.
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(320..=65_536))]
    pub size: u64,
    /// Most GiB to write; the trial ends before it writes more.
    #[arg(long, value_name = "GIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub writes: u64,
    /// Seconds for each load in each cell.
    #[arg(long, value_name = "N", default_value_t = 0.5, value_parser = seconds)]
    pub seconds: f64,
    /// Seed of the random order, to repeat that order.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// What `--candidates` can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TrialCandidate {
    /// ext4.
    Ext4,
    /// ext4 with fast commits.
    Ext4FastCommit,
    /// XFS.
    Xfs,
    /// btrfs.
    Btrfs,
    /// btrfs with +C on the directory of the log.
    BtrfsNocow,
    /// ext4 without barriers: what flushing costs; never ranked.
    Ext4Nobarrier,
}

impl TrialCandidate {
    /// The candidate.
    pub fn candidate(self) -> Contender {
        match self {
            Self::Ext4 => Contender::Ext4,
            Self::Ext4FastCommit => Contender::Ext4FastCommit,
            Self::Xfs => Contender::Xfs,
            Self::Btrfs => Contender::Btrfs,
            Self::BtrfsNocow => Contender::BtrfsNocow,
            Self::Ext4Nobarrier => Contender::Ext4Nobarrier,
        }
    }
}

/// What `--preset` can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TrialPreset {
    /// Commits to a log.
    Commits,
    /// Commits of one session by each sync method.
    Methods,
    /// New files that are written and flushed in many directories.
    FsMark,
}

impl TrialPreset {
    /// The preset.
    pub fn preset(self) -> Preset {
        match self {
            Self::Commits => Preset::Commits,
            Self::Methods => Preset::Methods,
            Self::FsMark => Preset::FsMark,
        }
    }
}

/// The forms of a trial's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TrialFormat {
    /// For people.
    Text,
    /// For people, as Markdown.
    Markdown,
    /// For people, as one page with pictures and the record inside.
    Html,
    /// The record.
    Json,
}

/// A time with its unit, in seconds.
fn budget(text: &str) -> Result<f64, String> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let found = units.into_iter().find_map(|(unit, each)| {
        let number = text.strip_suffix(unit)?.trim().parse::<f64>().ok()?;
        Some(number * each)
    });
    match found {
        Some(seconds) if (1.0..=86_400.0).contains(&seconds) => Ok(seconds),
        Some(_) => Err("expected 1s to 24h".to_owned()),
        None => Err("expected a number with s, m or h, such as 20m".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::budget;

    #[test]
    fn a_budget_has_a_unit() {
        assert_eq!(budget("90s"), Ok(90.0));
        assert_eq!(budget("1.5h"), Ok(5400.0));
        for wrong in ["20", "", "m", "0s", "25h", "-1m", "nans"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
