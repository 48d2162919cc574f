//! The command line as types; clap does the rest.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::report::Format;
use crate::rules::Level;

/// Which file system, mount options and WAL settings to use under a database, on the evidence of this machine.
#[derive(Debug, Parser)]
#[command(name = "walwise", version, about, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do; without it the screens, or the text report where there is no terminal.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to look at when there is no command.
    #[command(flatten)]
    pub bare: Bare,
}

const EXAMPLES: &str = "\
Examples:
  walwise                                      look around on the screens; nothing is written until you say so
  walwise check /srv/pgdata                    verdict, measurement and plan of one directory
  walwise check --format json > report.json    every database, data mount and blank disk; writes nothing
  walwise check /srv/pgdata --format fstab     the lines of /etc/fstab that should be changed, to review and paste
  walwise upgrade --kernel 6.12 --os rhel10    what the next kernel changes, blockers first
  walwise capture > db7.host                   this host as one text file, to be looked at elsewhere

Exit codes: 0 nothing found at or above --fail-on, 3 a critical finding, 4 a warning, 5 undecided, 2 wrong use,
128+n on a signal, 1 anything else.";

const CHECK_EXAMPLES: &str = "\
Before and after an upgrade of the system:
  walwise check /srv/pgdata --save             before: keep the report
  walwise check --baseline last /srv/pgdata    after: what is worse, what is fixed, which facts changed, and whether the
                                               price of a commit moved beyond noise
What if:
  walwise check --assume kernel.release=6.18                      what would be different with another kernel
  walwise check --assume 'device.write_cache@sda=write through'   … or if that disk had no volatile cache
What is assumed changes neither the plan nor an export nor the exit code; what would be different is told apart, at the end
(in JSON as `what_if`). `walwise facts --list` names all facts.";

/// Options of `walwise [TARGET]`.
#[derive(Args, Debug)]
pub struct Bare {
    /// A directory, existing or not yet, a mount point, or a blank device.
    pub target: Option<PathBuf>,
    /// Look at a captured host instead of this one.
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// Draw with ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Facts, probe, rules, report. With a TARGET it measures there; without one it writes nothing.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// What the next kernel, distribution or tools change: what will not mount or not boot first.
    Upgrade(Upgrade),
    /// The measurements alone.
    Probe(Probe),
    /// Pull the plug and see what survived: what to do, a writer, and the comparison afterwards.
    Drill(Drill),
    /// What was read, and from where.
    Facts(Facts),
    /// The rules: list, show, check, test.
    #[command(subcommand)]
    Rules(Rules),
    /// Why a rule applies, does not, or cannot be decided.
    Explain(Explain),
    /// This host as one text file, serial numbers and names masked.
    Capture(Capture),
    /// Things made from the program itself.
    Generate(Generate),
}

/// Where facts come from.
#[derive(Args, Debug, Default, Clone)]
pub struct From {
    /// Look at a captured host instead of this one.
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// More rules, beside the built-in ones and those in /etc/walwise/rules.d: every *.toml file in DIR.
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    /// Run no other program; what only they can tell stays unknown.
    #[arg(long)]
    pub no_programs: bool,
}

/// `walwise check`.
#[derive(Args, Debug)]
pub struct Check {
    /// A directory, existing or not yet, a mount point, or a blank device; everything found when left out.
    pub target: Option<PathBuf>,
    /// Where facts come from.
    #[command(flatten)]
    pub from: From,
    /// How to say it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write to a file, completely or not at all.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Say what is different since a report that --save kept or --format json made; `last`, or nothing, is the one that was
    /// kept last.
    #[arg(long, value_name = "REPORT.json", num_args = 0..=1, default_missing_value = "last")]
    pub baseline: Option<PathBuf>,
    /// Keep the report for the next --baseline, one per host and target: in $XDG_STATE_HOME/walwise or
    /// ~/.local/state/walwise, as root in /var/lib/walwise.
    #[arg(long, conflicts_with = "host")]
    pub save: bool,
    /// Tell too what would be different if this fact were so; may be given again. Without @SUBJECT the fact of the host, or
    /// of the one thing here that has it.
    #[arg(long, value_name = "KEY[@SUBJECT]=VALUE")]
    pub assume: Vec<String>,
    /// Measure nothing.
    #[arg(long)]
    pub no_probe: bool,
    /// How long to measure at most.
    #[command(flatten)]
    pub measure: Measure,
    /// Fail when a finding is at least this.
    #[arg(long, value_enum, default_value_t = FailOn::Critical, value_name = "LEVEL")]
    pub fail_on: FailOn,
    /// Fail too when a rule that would reach --fail-on cannot be decided.
    #[arg(long)]
    pub fail_on_undecided: bool,
}

const UPGRADE_EXAMPLES: &str = "\
Examples:
  walwise upgrade --kernel 6.12                    the next kernel of the same distribution
  walwise upgrade --os rhel10 --host db7.host      a captured host with Red Hat 10 and its kernel
  walwise upgrade --kernel 6.18 --xfsprogs 6.18    kernel and tools together

Exit codes: 0 nothing at or above --fail-on stands in the way, 3 something critical, 4 a warning, 5 undecided. What gets
better does not count, and what is wrong today and not touched by the upgrade does where the next boot meets it.";

/// `walwise upgrade`.
#[derive(Args, Debug)]
#[command(after_help = UPGRADE_EXAMPLES)]
pub struct Upgrade {
    /// The kernel: its version, or its release as `uname -r` will print it.
    #[arg(
        long,
        value_name = "VERSION",
        required_unless_present_any = ["os", "e2fsprogs", "xfsprogs", "btrfs_progs", "assume"]
    )]
    pub kernel: Option<String>,
    /// The distribution, such as rhel10, debian13, ubuntu24.04, sles15.6; without --kernel with the kernel it came with.
    #[arg(long, value_name = "NAME")]
    pub os: Option<String>,
    /// Version of e2fsprogs.
    #[arg(long, value_name = "VERSION")]
    pub e2fsprogs: Option<String>,
    /// Version of xfsprogs.
    #[arg(long, value_name = "VERSION")]
    pub xfsprogs: Option<String>,
    /// Version of btrfs-progs.
    #[arg(long, value_name = "VERSION")]
    pub btrfs_progs: Option<String>,
    /// Any other fact that will be another, as with `walwise check`.
    #[arg(long, value_name = "KEY[@SUBJECT]=VALUE")]
    pub assume: Vec<String>,
    /// Where facts come from.
    #[command(flatten)]
    pub from: From,
    /// How to say it; the JSON is the report of the machine as it is, with `what_if` and `upgrade`.
    #[arg(long, value_enum, default_value_t = Shape::Text)]
    pub format: Shape,
    /// Write to a file, completely or not at all.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Fail when something is at least this.
    #[arg(long, value_enum, default_value_t = FailOn::Critical, value_name = "LEVEL")]
    pub fail_on: FailOn,
    /// Fail too when something that would reach --fail-on cannot be decided.
    #[arg(long)]
    pub fail_on_undecided: bool,
}

/// How and where to measure.
#[derive(Args, Debug, Clone)]
pub struct Measure {
    /// How long to measure at most.
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = seconds)]
    pub probe_seconds: f64,
    /// Where scratch files may lie, on the target's file system.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

/// `walwise probe`.
#[derive(Args, Debug)]
pub struct Probe {
    /// The directory to measure in.
    #[arg(required_unless_present = "import")]
    pub directory: Option<PathBuf>,
    /// Figures that others measured: pg_test_fsync's text or fio's JSON. They are shown beside, and nothing rests on them.
    #[arg(long, value_name = "FILE", conflicts_with = "pg_test_fsync")]
    pub import: Vec<PathBuf>,
    /// How long to measure at most, each workload: 10 when left out; with --pg-test-fsync how long each test, else 5.
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub seconds: Option<f64>,
    /// What to measure; several with commas. Without it, which way to write WAL is best.
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',')]
    pub workload: Vec<Load>,
    /// The tests of pg_test_fsync, in its layout.
    #[arg(long, conflicts_with_all = ["workload", "samples"])]
    pub pg_test_fsync: bool,
    /// Where scratch files may lie, on the same file system.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// How it goes about that.
    #[command(flatten)]
    pub manner: Manner,
    /// How to say it.
    #[arg(long, value_enum, default_value_t = Shape::Text)]
    pub format: Shape,
}

/// How a probe goes about its work.
#[derive(Args, Debug)]
pub struct Manner {
    /// Measure network and FUSE file systems too, and nearly full ones.
    #[arg(long)]
    pub force: bool,
    /// Run at the lowest priority; figures are then those of a process that waits for all others.
    #[arg(long)]
    pub nice: bool,
    /// Every sample in the JSON.
    #[arg(long)]
    pub samples: bool,
}

/// What `--workload` can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Load {
    /// The ways to write WAL with 1, 2, 4 and 8 pages per commit, in a loop and with pauses.
    Wal,
    /// First writes into a new WAL segment: recycled, filled with zeros, or not filled.
    Segment,
    /// 1 to 16 sessions that share flushes.
    Group,
    /// InnoDB's redo log, the binary log, and both in turn.
    Innodb,
    /// Small files made durable under a new name, by 1 to 8 threads.
    Files,
    /// Commits beside a writer on the same file system.
    Entangle,
    /// Writes that are never flushed.
    Floor,
    /// All of them.
    All,
}

/// `walwise drill`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Drill {
    /// A step of it; without one, what to do in order.
    #[command(subcommand)]
    pub step: Option<DrillStep>,
    /// The directory that it is about.
    pub directory: Option<PathBuf>,
}

/// The steps of a drill that walwise does.
#[derive(Debug, Subcommand)]
pub enum DrillStep {
    /// Writes commits into DIR/walwise-drill until the power goes or it is stopped, and prints each number once it is
    /// durable, for a machine that keeps its power.
    Write(DrillWrite),
    /// Prints which of them are there.
    Read {
        /// The directory that was written in.
        directory: PathBuf,
    },
    /// Says what is lost: exit code 3 if anything is.
    Check {
        /// What `drill write` printed.
        acknowledged: PathBuf,
        /// What `drill read` printed.
        survived: PathBuf,
    },
}

/// `walwise drill write`.
#[derive(Args, Debug)]
pub struct DrillWrite {
    /// An existing directory on the file system in question.
    pub directory: PathBuf,
    /// How each commit is made durable.
    #[arg(long, value_enum, default_value_t = DrillMethod::Fdatasync)]
    pub method: DrillMethod,
    /// Where commits go.
    #[arg(long, value_enum, default_value_t = DrillSegments::Recycled)]
    pub segments: DrillSegments,
}

/// The ways to make a commit durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum DrillMethod {
    /// pwrite, fdatasync.
    Fdatasync,
    /// pwrite, fsync.
    Fsync,
    /// pwrite to a file opened `O_DSYNC`.
    OpenDatasync,
    /// pwrite to a file opened `O_SYNC`.
    OpenSync,
    /// The same with `O_DIRECT`.
    OpenDatasyncDirect,
    /// The same with `O_DIRECT`.
    OpenSyncDirect,
}

/// Where commits of a drill go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DrillSegments {
    /// Round and round in one segment that was filled before.
    Recycled,
    /// Into a new segment after each.
    Fresh,
}

/// `walwise facts`.
#[derive(Args, Debug)]
pub struct Facts {
    /// Facts to show: names, or beginnings of names such as `device.`; all when left out.
    pub keys: Vec<String>,
    /// Every fact there can be, with what it means.
    #[arg(long)]
    pub list: bool,
    /// Look at this directory or device too.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<PathBuf>,
    /// How to say it.
    #[arg(long, value_enum, default_value_t = Shape::Text)]
    pub format: Shape,
    /// Where facts come from.
    #[command(flatten)]
    pub from: From,
}

/// `walwise rules`.
#[derive(Debug, Subcommand)]
pub enum Rules {
    /// Every rule in a line.
    List {
        /// The settings that rules can advise instead.
        #[arg(long)]
        settings: bool,
        /// More rules: every *.toml file in DIR.
        #[arg(long, value_name = "DIR")]
        rules: Option<PathBuf>,
    },
    /// One rule in full.
    Show {
        /// Its id.
        rule: String,
        /// More rules: every *.toml file in DIR.
        #[arg(long, value_name = "DIR")]
        rules: Option<PathBuf>,
    },
    /// Whether files hold well-formed rules; all mistakes at once.
    Check {
        /// Rule files, or directories of them.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Run the examples in rules: of these files, or of all in force.
    Test {
        /// Rule files, or directories of them.
        files: Vec<PathBuf>,
    },
}

/// `walwise explain`.
#[derive(Args, Debug)]
pub struct Explain {
    /// The rule's id.
    pub rule: String,
    /// A directory or device; every subject of the rule when left out.
    pub target: Option<PathBuf>,
    /// Where facts come from.
    #[command(flatten)]
    pub from: From,
}

/// `walwise capture`.
#[derive(Args, Debug)]
pub struct Capture {
    /// Look at this directory or device too, so that the capture can answer for it.
    pub target: Option<PathBuf>,
    /// Keep serial numbers, UUIDs, host names and addresses as they are.
    #[arg(long)]
    pub no_mask: bool,
    /// Write to a file, completely or not at all.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `walwise generate`.
#[derive(Args, Debug)]
pub struct Generate {
    /// What to make.
    #[arg(value_enum)]
    pub what: Made,
}

/// What can be made.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Made {
    /// The JSON schema of the report.
    Schema,
    /// The reference of the built-in rules, Markdown.
    Reference,
}

// The forms of a report are the report's own; here they become words of the command line.
impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.says()))
    }
}

/// Forms of everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What `--fail-on` can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Critical findings only.
    Critical,
    /// Warnings too.
    Warning,
}

impl FailOn {
    /// As a level.
    pub fn level(self) -> Level {
        match self {
            Self::Critical => Level::Critical,
            Self::Warning => Level::Warning,
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(n) if (0.1..=3600.0).contains(&n) => Ok(n),
        Ok(_) => Err("between 0.1 and 3600 seconds, please".to_owned()),
        Err(_) => Err("a number of seconds, please".to_owned()),
    }
}
