//! The command line as types, parsed by clap. Their doc comments are the text of `--help` and of the manual pages.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use super::examples::help;
use super::extent::Extent;
use crate::output::Access;
use crate::report::Format;
use crate::report::exit::FailCondition;
use crate::rules::Level;

/// Which file system, mount options and WAL settings to use under a database, on the evidence of this machine.
#[derive(Debug, Parser)]
#[command(name = "walwise", version, about, args_conflicts_with_subcommands = true, after_help = help(""))]
pub struct Cli {
    /// What to do; without it the screens, or the text report where there is no terminal.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    /// What to look at when there is no command.
    #[command(flatten)]
    pub bare: Bare,
}

/// Options of `walwise [TARGET]`.
#[derive(Args, Debug)]
pub struct Bare {
    /// A directory, a mount point, or a block device.
    pub target: Option<PathBuf>,
    /// The target is a directory that does not exist yet.
    #[arg(long, requires = "target")]
    pub new: bool,
    /// Look at a captured host instead of this one.
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// Configuration of servers that do not run.
    #[command(flatten)]
    pub servers: Servers,
    /// Draw with ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
    /// Where there is no terminal: the whole report.
    #[arg(long, short)]
    pub verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Facts, probe, rules, report. With a TARGET it measures there; without one it writes nothing.
    #[command(after_help = help("check"))]
    Check(Check),
    /// What the next kernel, distribution or tools change: what will not mount or not boot first.
    #[command(after_help = help("upgrade"))]
    Upgrade(UpgradeArgs),
    /// The measurements alone.
    #[command(after_help = help("probe"))]
    Probe(Probe),
    /// Pull the plug and see what survived: what to do, a writer, and the comparison afterwards.
    #[command(after_help = help("drill"))]
    Drill(Drill),
    /// What was read, and from where.
    #[command(after_help = help("facts"))]
    Facts(Facts),
    /// The rules: list, show, check, test.
    #[command(subcommand, after_help = help("rules"))]
    Rules(Rules),
    /// Why a rule applies, does not, or cannot be decided.
    #[command(after_help = help("explain"))]
    Explain(Explain),
    /// This host as one text file, serial numbers and names masked.
    #[command(after_help = help("capture"))]
    Capture(Capture),
    /// Things made from the program itself: manual pages, completions, schema, reference, pictures.
    #[command(subcommand, after_help = help("generate"))]
    Generate(Generate),
}

/// Configuration of servers that do not run.
#[derive(Args, Debug, Default, Clone)]
pub struct Servers {
    /// The option file that a MySQL or MariaDB which does not run is started with, as its own --defaults-file: only this
    /// file and what it includes is read. Its data are where it says, or in the target.
    #[arg(long, value_name = "FILE")]
    pub mysql_defaults: Option<PathBuf>,
    /// The configuration that a PostgreSQL which does not run is started with, as its own config_file. Its data are where
    /// it says, or in the target.
    #[arg(long, value_name = "FILE")]
    pub postgres_config: Option<PathBuf>,
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
    /// The target is a directory that does not exist yet.
    #[arg(long)]
    pub new: bool,
    /// Configuration of servers that do not run.
    #[command(flatten)]
    pub servers: Servers,
    /// Run no other program; what only they can tell stays unknown.
    #[arg(long)]
    pub no_programs: bool,
    /// Count what drills of this stack have shown: a record that `walwise drill check --record` made.
    #[arg(long, value_name = "RECORD.json")]
    pub drill: Vec<PathBuf>,
}

/// Where a document goes.
#[derive(Args, Debug, Default, Clone)]
pub struct Output {
    /// Write to a file, completely or not at all. What is there is replaced by a new file, whose owner you are.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Permissions of that file, in octal, such as 0640; without it root's is for root alone, that of others as their umask
    /// says.
    #[arg(long, value_name = "MODE", requires = "output", value_parser = Access::parse)]
    pub output_mode: Option<Access>,
}

/// `walwise check`.
#[derive(Args, Debug)]
pub struct Check {
    /// A directory, a mount point, or a block device; everything found when left out.
    pub target: Option<PathBuf>,
    /// Where facts come from.
    #[command(flatten)]
    pub from: From,
    /// How to say it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// How much of it.
    #[command(flatten)]
    pub extent: Extent,
    /// Where it goes.
    #[command(flatten)]
    pub output: Output,
    /// Say what is different since a report that --save kept or --format json made; `last`, or nothing, is the one that was
    /// kept last.
    #[arg(long, value_name = "REPORT.json", num_args = 0..=1, default_missing_value = "last")]
    pub baseline: Option<PathBuf>,
    /// Keep the report for the next --baseline, one per host and target: in $XDG_STATE_HOME/walwise or
    /// ~/.local/state/walwise, as root in /var/lib/walwise.
    #[arg(long, conflicts_with = "host")]
    pub save: bool,
    /// Tell too what would be different if this fact were so; may be given again. Without @SUBJECT the fact of the host, or
    /// of the one thing here that has it. It never unlocks a setting that can lose data.
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

/// `walwise upgrade`.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("next").required(true).multiple(true)
    .args(["kernel", "os", "e2fsprogs", "xfsprogs", "btrfs_progs", "assume"])))]
pub struct UpgradeArgs {
    /// The kernel: its version, or its release as `uname -r` will print it.
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<String>,
    /// The distribution, such as rhel10, debian13, ubuntu24.04, sles15.6, ol9-uek7, amzn2-5.10: its tools and, without --kernel, its
    /// kernel.
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
    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    pub format: PlainFormat,
    /// Where it goes.
    #[command(flatten)]
    pub output: Output,
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
    #[arg(long, alias = "probe-seconds", value_name = "N", default_value_t = 10.0, value_parser = seconds)]
    pub seconds: f64,
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
    pub flags: ProbeFlags,
    /// How to say it.
    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    pub format: PlainFormat,
}

/// How a probe goes about its work.
#[derive(Args, Debug)]
pub struct ProbeFlags {
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
    #[command(after_help = help("drill write"))]
    Write(DrillWrite),
    /// Prints which of them are there.
    #[command(after_help = help("drill read"))]
    Read {
        /// The directory that was written in.
        directory: PathBuf,
    },
    /// Says what is lost: exit code 3 if anything is.
    #[command(after_help = help("drill check"))]
    Check {
        /// What `drill write` printed.
        acknowledged: PathBuf,
        /// What `drill read` printed.
        survived: PathBuf,
        /// Add it to this record, which is made where there is none; `walwise check --drill` reads it.
        #[arg(long, value_name = "RECORD.json")]
        record: Option<PathBuf>,
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
    /// Facts to show: names, or beginnings of names such as `device.`; all when left out. A path, such as `.` or one with a
    /// slash, is the directory or device to look at too.
    #[arg(value_name = "KEY|DIR")]
    pub keys: Vec<String>,
    /// Every fact there can be, with what it means.
    #[arg(long)]
    pub list: bool,
    /// Look at this directory or device too.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<PathBuf>,
    /// Show the machine as it would be if this fact were so, what is assumed and what follows from it marked; may be given
    /// again. As with `walwise check`.
    #[arg(long, value_name = "KEY[@SUBJECT]=VALUE", conflicts_with = "list")]
    pub assume: Vec<String>,
    /// How to say it.
    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    pub format: PlainFormat,
    /// Where facts come from.
    #[command(flatten)]
    pub from: From,
}

/// `walwise rules`.
#[derive(Debug, Subcommand)]
pub enum Rules {
    /// Every rule in a line.
    #[command(after_help = help("rules list"))]
    List {
        /// The settings that rules can advise instead.
        #[arg(long)]
        settings: bool,
        /// More rules: every *.toml file in DIR.
        #[arg(long, value_name = "DIR")]
        rules: Option<PathBuf>,
    },
    /// One rule in full.
    #[command(after_help = help("rules show"))]
    Show {
        /// Its id.
        rule: String,
        /// More rules: every *.toml file in DIR.
        #[arg(long, value_name = "DIR")]
        rules: Option<PathBuf>,
    },
    /// Whether files hold well-formed rules; all mistakes at once.
    #[command(after_help = help("rules check"))]
    Check {
        /// Rule files, or directories of them.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// What nobody has compared with its source, or not for a while, and what had a release since.
    #[command(after_help = help("rules stale"))]
    Stale {
        /// Checks before this many years, months or days are too old: 1y, 6mo, 90d.
        #[arg(long, value_name = "AGE", default_value = "1y")]
        older_than: String,
    },
    /// What differs between two packs of rules and tables.
    #[command(after_help = help("rules diff"))]
    Diff {
        /// A directory of rule files, with their tables in DIR/tables.
        old: PathBuf,
        /// The same; the pack of this walwise when left out.
        new: Option<PathBuf>,
    },
    /// Run the examples in rules: of these files, or of all in force.
    #[command(after_help = help("rules test"))]
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
    /// Explain it on the machine as it would be if this fact were so; may be given again. As with `walwise check`.
    #[arg(long, value_name = "KEY[@SUBJECT]=VALUE")]
    pub assume: Vec<String>,
    /// Where facts come from.
    #[command(flatten)]
    pub from: From,
}

/// `walwise capture`.
#[derive(Args, Debug)]
pub struct Capture {
    /// Look at this directory or device too, so that the capture can answer for it.
    pub target: Option<PathBuf>,
    /// Configuration of servers that do not run.
    #[command(flatten)]
    pub servers: Servers,
    /// Keep serial numbers, UUIDs, addresses, names of hosts and users as they are.
    #[arg(long)]
    pub no_mask: bool,
    /// Where it goes.
    #[command(flatten)]
    pub output: Output,
}

/// `walwise generate`.
#[derive(Debug, Subcommand)]
pub enum Generate {
    /// Manual pages: those of all commands into a directory, or walwise(1) to standard output.
    #[command(after_help = help("generate man"))]
    Man {
        /// Where to; made if it is not there.
        directory: Option<PathBuf>,
    },
    /// What completes commands, options and their values in a shell.
    #[command(after_help = help("generate completions"))]
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// The JSON schema of the report.
    #[command(after_help = help("generate schema"))]
    Schema,
    /// The reference of the built-in rules, Markdown.
    #[command(after_help = help("generate reference"))]
    Reference,
    /// A picture of every screen, SVG, as it shows this host or a captured one.
    #[command(after_help = help("generate screens"))]
    Screens(Screens),
}

/// Shells that can complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash, with its package bash-completion.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
}

impl Shell {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bash, Self::Zsh, Self::Fish];
}

/// `walwise generate screens`.
#[derive(Args, Debug)]
pub struct Screens {
    /// Where to; made if it is not there.
    pub directory: PathBuf,
    /// Look at this directory or device.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<PathBuf>,
    /// What was measured: the JSON of `walwise probe`.
    #[arg(long, value_name = "FILE")]
    pub measured: Option<PathBuf>,
    /// Columns of the terminal.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(60..=300))]
    pub columns: u16,
    /// Rows of the terminal.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(15..=200))]
    pub rows: u16,
    /// Where facts come from.
    #[command(flatten)]
    pub from: From,
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
pub enum PlainFormat {
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
    /// Nothing: the exit code says only whether the command worked.
    Never,
}

impl FailOn {
    /// The condition under which the command fails, if anything found fails it.
    pub fn condition(self, undecided: bool) -> Option<FailCondition> {
        let level = match self {
            Self::Critical => Level::Critical,
            Self::Warning => Level::Warning,
            Self::Never => return None,
        };
        Some(FailCondition { level, undecided })
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(n) if (0.1..=3600.0).contains(&n) => Ok(n),
        Ok(_) => Err("between 0.1 and 3600 seconds, please".to_owned()),
        Err(_) => Err("a number of seconds, please".to_owned()),
    }
}
