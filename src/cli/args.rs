//! The command line as types, parsed by clap. Doc comments become the text of `--help` and of the
//! manual pages.

mod drill;
mod trial;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StringDeserializer};

pub use drill::{DrillArgs, DrillCommand, DrillWriteArgs};
pub use trial::{TrialArgs, TrialFormat};

use super::examples::examples_help;
use crate::facts::{Choice, ServerArea};
use crate::measure::{CommitProfile, Requirement};
use crate::output::FilePermissions;
use crate::report::Format;
use crate::report::exit::FailThreshold;
use crate::report::view::ReportPart;
use crate::rules::Level;
use crate::session::upgrade::ComponentVersions;
use crate::settings::NewFilesystem;

/// Advice on file systems, mount options and WAL settings for databases, based on facts read from the host.
#[derive(Debug, Parser)]
#[command(name = "walwise", version, args_conflicts_with_subcommands = true, after_help = examples_help(""))]
pub struct Cli {
    /// The command; without one the screens, or the text report without a terminal.
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    /// Target when there is no command.
    #[command(flatten)]
    pub bare: NoCommandArgs,
}

/// Options of `walwise [TARGET]`.
#[derive(Args, Debug)]
pub struct NoCommandArgs {
    /// A directory, a mount point, or a block device.
    pub target: Option<PathBuf>,
    /// The target is a directory that does not exist yet.
    #[arg(long, requires = "target")]
    pub new: bool,
    /// Use a capture instead of this host.
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    #[command(flatten)]
    pub servers: ServerConfigArgs,
    /// Draw with ASCII characters only.
    #[arg(long)]
    pub ascii: bool,
    /// Without a terminal, print the full report.
    #[arg(long, short)]
    pub verbose: bool,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Check storage and settings, and print a report. With a TARGET, also measure there; without
    /// one, nothing is written.
    #[command(after_help = examples_help("check"))]
    Check(CheckArgs),
    /// Show what a new kernel, distribution or tool version would change, boot failures first.
    #[command(after_help = examples_help("upgrade"))]
    Upgrade(UpgradeArgs),
    /// Show a saved report.
    #[command(after_help = examples_help("show"))]
    Show(ShowArgs),
    /// Measure commit latency only.
    #[command(after_help = examples_help("probe"))]
    Probe(ProbeArgs),
    /// Test durability with real power cuts: print instructions, write commits, list lost commits.
    #[command(after_help = examples_help("drill"))]
    Drill(DrillArgs),
    /// Compare file systems on a disk: create, mount and measure each in turn, on a loop file or a
    /// spare disk.
    #[command(after_help = examples_help("trial"))]
    Trial(TrialArgs),
    /// Show collected facts and their sources.
    #[command(after_help = examples_help("facts"))]
    Facts(FactsArgs),
    /// List, show and check rules.
    #[command(subcommand, after_help = examples_help("rules"))]
    Rules(RulesCommand),
    /// Explain why a rule applies, does not apply or is undecided.
    #[command(after_help = examples_help("explain"))]
    Explain(ExplainArgs),
    /// Save this host as one text file, with serial numbers and names masked.
    #[command(after_help = examples_help("capture"))]
    Capture(CaptureArgs),
    /// Print completions for a shell, or the schema of the JSON report.
    #[command(subcommand, after_help = examples_help("generate"))]
    Generate(GenerateCommand),
}

#[derive(Args, Debug, Default, Clone)]
pub struct ServerConfigArgs {
    /// Option file of a stopped MySQL or MariaDB server, like the server's --defaults-file. Only
    /// this file and the files it includes are read. The data directory is datadir in the file, or
    /// TARGET if the file does not set it.
    #[arg(long, value_name = "FILE")]
    pub mysql_defaults: Option<PathBuf>,
    /// Configuration file of a stopped PostgreSQL server, like the server's config_file. The data
    /// directory is data_directory in the file, or TARGET if the file does not set it.
    #[arg(long, value_name = "FILE")]
    pub postgres_config: Option<PathBuf>,
}

#[derive(Args, Debug, Default, Clone)]
pub struct HostArgs {
    /// Use a capture instead of this host.
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// Load every *.toml rule file in DIR, in addition to the built-in rules and
    /// /etc/walwise/rules.d.
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    /// The target is a directory that does not exist yet.
    #[arg(long)]
    pub new: bool,
    #[command(flatten)]
    pub servers: ServerConfigArgs,
    /// Do not run external tools; facts that only they report stay unknown.
    #[arg(long)]
    pub no_programs: bool,
    /// Use the drill results for this storage stack from a record written by `walwise drill check --record`.
    #[arg(long, value_name = "RECORD.json")]
    pub drill: Vec<PathBuf>,
    /// Use the trial result for this disk from a record written by `walwise trial --record`.
    #[arg(long, value_name = "TRIAL.json")]
    pub trial: Vec<PathBuf>,
}

/// Where a document is written.
#[derive(Args, Debug, Default, Clone)]
pub struct OutputArgs {
    /// Write to FILE atomically. An existing file is replaced by a new one that you own.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Mode of the output file in octal, e.g. 0640. Default: 0600 for root, and according to the umask
    /// for other users.
    #[arg(long, value_name = "MODE", requires = "output", value_parser = FilePermissions::parse_octal_mode)]
    pub output_mode: Option<FilePermissions>,
}

/// Values of `--db`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DatabaseEngine {
    Postgres,
    /// MySQL or MariaDB.
    Mysql,
}

impl DatabaseEngine {
    pub fn server_area(self) -> ServerArea {
        match self {
            Self::Postgres => ServerArea::Pg,
            Self::Mysql => ServerArea::Mysql,
        }
    }
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    /// A directory, a mount point, or a block device. Default: all targets found.
    pub target: Option<PathBuf>,
    #[command(flatten)]
    pub from: HostArgs,
    /// Output format.
    #[arg(long, value_parser = format_parser(), default_value = Format::Text.as_str())]
    pub format: Format,
    #[command(flatten)]
    pub extent: DetailLevel,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Compare with a report written by --save, --format html or -v --format json; `last`, or no
    /// value, selects the last saved report.
    #[arg(long, value_name = "REPORT", num_args = 0..=1, default_missing_value = "last")]
    pub baseline: Option<PathBuf>,
    /// Save the report for the next --baseline, in $XDG_STATE_HOME/walwise or
    /// ~/.local/state/walwise; for root, in /var/lib/walwise. walwise keeps the newest 60 reports
    /// per host and target, up to 256 MiB. With --baseline last, a missing report is not an error.
    #[arg(long, conflicts_with = "host")]
    pub save: bool,
    /// Also show what would differ if this fact had this value; repeatable. Without @SUBJECT, the
    /// assumption applies to the host, or to the only subject with this fact. An assumption never
    /// unlocks a setting that can lose data.
    #[arg(long, value_name = "KEY[@SUBJECT]=VALUE")]
    pub assume: Vec<String>,
    /// Use this file system for TARGET, a free device, instead of the recommended one. The plan,
    /// script and fstab lines change accordingly. All safety checks still apply.
    #[arg(long, value_parser = filesystem_parser(), value_name = "NAME", requires = "target")]
    pub fs: Option<NewFilesystem>,
    /// Database product to advise on if no server exists yet.
    #[arg(long, value_enum, default_value_t = DatabaseEngine::Postgres, value_name = "ENGINE")]
    pub db: DatabaseEngine,
    /// Do not measure.
    #[arg(long)]
    pub no_probe: bool,
    /// How and where to measure.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Exit non-zero for a finding at this level or above.
    #[arg(long, value_enum, default_value_t = FailOn::Critical, value_name = "LEVEL")]
    pub fail_on: FailOn,
    /// Also exit non-zero if an undecided rule could lead to a finding at the --fail-on level.
    #[arg(long)]
    pub fail_on_undecided: bool,
}

/// How much of the report is shown as text; without options the short form.
#[derive(Args, Debug)]
pub struct DetailLevel {
    /// Print the full report as text: evidence, reasons, optional changes, and undo commands.
    #[arg(long, short)]
    pub verbose: bool,
    /// Print only this part of the full report.
    #[arg(long, value_enum, value_name = "PART", conflicts_with = "verbose")]
    pub only: Option<OnlyPart>,
}

/// Values of `--only`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnlyPart {
    /// The plan, in order, with the commands to apply, verify and undo each step.
    Plan,
    /// The evidence for each verdict.
    Evidence,
    /// Commit latency of each sync method.
    #[value(alias = "price")]
    Latency,
    /// Unknown facts, the rules they leave undecided, and how to obtain the facts.
    Unknown,
}

impl OnlyPart {
    pub fn report_part(self) -> ReportPart {
        match self {
            Self::Plan => ReportPart::Plan,
            Self::Evidence => ReportPart::Evidence,
            Self::Latency => ReportPart::Latency,
            Self::Unknown => ReportPart::Unknown,
        }
    }
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("next").required(true).multiple(true)
    .args(["kernel", "os", "e2fsprogs", "xfsprogs", "btrfs_progs", "assume"])))]
pub struct UpgradeArgs {
    /// A directory, a mount point, or a block device. Default: all targets found.
    pub target: Option<PathBuf>,
    #[command(flatten)]
    pub next: ComponentVersions,
    /// Any other fact that will change, as with `walwise check --assume`.
    #[arg(long, value_name = "KEY[@SUBJECT]=VALUE")]
    pub assume: Vec<String>,
    #[command(flatten)]
    pub from: HostArgs,
    /// Output format; the JSON is the report on the present host, with `what_if` and `upgrade` added.
    #[arg(long, value_enum, default_value_t = TextOrJsonFormat::Text)]
    pub format: TextOrJsonFormat,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Exit non-zero for any change at this level or above.
    #[arg(long, value_enum, default_value_t = FailOn::Critical, value_name = "LEVEL")]
    pub fail_on: FailOn,
    /// Also exit non-zero if an undecided change could turn out to be at the --fail-on level or
    /// above.
    #[arg(long)]
    pub fail_on_undecided: bool,
}

#[derive(Args, Debug)]
pub struct ShowArgs {
    /// A report written by --save, --format html or -v --format json.
    pub report: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    pub format: ShowFormat,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Output formats of a saved report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowFormat {
    /// Text.
    Text,
    /// JSON, exactly as in the report.
    Json,
    /// A Markdown document with all facts.
    Markdown,
    /// One HTML page with all facts and the report embedded.
    Html,
}

/// How and where to measure.
#[derive(Args, Debug, Clone)]
pub struct MeasureArgs {
    /// Time limit of the measurement, in seconds.
    #[arg(long, alias = "probe-seconds", value_name = "N", default_value_t = 10.0, value_parser = parse_seconds)]
    pub seconds: f64,
    /// Directory for scratch files, on the target's file system.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct ProbeArgs {
    /// The directory to measure in.
    pub directory: PathBuf,
    /// Time limit of each workload in seconds, default 10; with --pg-test-fsync, the seconds per
    /// test, default 5.
    #[arg(long, value_name = "N", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
    /// What to measure, comma-separated; default: compare the WAL sync methods.
    #[arg(long, value_name = "NAME", value_enum, value_delimiter = ',')]
    pub workload: Vec<ProbeWorkload>,
    /// Measure back-to-back commits in the pattern of one program, and require the limit in its
    /// documentation, if any (etcd: p99 < 10ms).
    #[arg(long, value_name = "NAME", value_parser = named_values::<CommitProfile>(PROFILES), conflicts_with_all = ["workload", "pg_test_fsync"])]
    pub profile: Option<CommitProfile>,
    /// Test back-to-back commits against a limit such as `p99<10ms`: a quantile (median, p95
    /// or p99), < or <=, and a time in us, ms or s. Exit code: 0 pass, 3 fail, 5 cannot tell.
    #[arg(long, value_name = "LIMIT", value_parser = Requirement::parse, conflicts_with_all = ["workload", "pg_test_fsync"])]
    pub require: Option<Requirement>,
    /// Run the tests of pg_test_fsync, and print the results in its layout.
    #[arg(long, conflicts_with_all = ["workload", "samples"])]
    pub pg_test_fsync: bool,
    /// Measure what commits of a running PostgreSQL 14+ or MariaDB 10.6+ wait for, without writing;
    /// default 30 seconds.
    #[arg(long, conflicts_with_all = [
        "workload", "profile", "require", "pg_test_fsync", "scratch", "force", "nice", "samples"
    ])]
    pub passive: bool,
    /// Directory for scratch files, on the same file system as DIRECTORY.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    #[command(flatten)]
    pub flags: ProbeFlags,
    /// Output format.
    #[arg(long, value_enum, default_value_t = TextOrJsonFormat::Text)]
    pub format: TextOrJsonFormat,
}

/// How to measure.
#[derive(Args, Debug)]
pub struct ProbeFlags {
    /// Also measure network, FUSE and nearly full file systems.
    #[arg(long)]
    pub force: bool,
    /// Run at the lowest priority; the figures then include waiting for other processes.
    #[arg(long)]
    pub nice: bool,
    /// Include every sample in the JSON.
    #[arg(long)]
    pub samples: bool,
}

/// Values of `--profile`.
const PROFILES: &[(&str, &str)] = &[
    (
        "postgres",
        "PostgreSQL's WAL: 8 kB, overwritten; flushed with the server's method or fdatasync",
    ),
    (
        "innodb",
        "InnoDB's redo log: 512 B, overwritten; flushed with the server's method or fdatasync",
    ),
    ("etcd", "etcd's WAL: 2,300 B, appended, fdatasync"),
    (
        "sqlite",
        "SQLite's WAL with synchronous=FULL: 4,120 B, appended, fdatasync",
    ),
];

/// Values of `--workload`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProbeWorkload {
    /// WAL sync methods with 1, 2, 4 and 8 pages per commit, paced and back to back.
    Wal,
    /// First writes into a new WAL segment: recycled, zero-filled, or not filled.
    Segment,
    /// Group commit: 1 to 16 clients that share flushes.
    Group,
    /// InnoDB's redo log, the binary log, and both in turn.
    Innodb,
    /// Small files written and durably renamed, 1 to 8 threads.
    Files,
    /// Commits next to a busy writer on the same file system.
    Entangle,
    /// All workloads.
    All,
}

#[derive(Args, Debug)]
pub struct FactsArgs {
    /// Facts to show: names, or prefixes such as `device.`. Default: all. `.` and paths with
    /// a slash name a directory or device to check as well.
    #[arg(value_name = "KEY|DIR")]
    pub keys: Vec<String>,
    /// List every fact and its meaning.
    #[arg(long)]
    pub list: bool,
    /// Also check this directory or device.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<PathBuf>,
    /// Show the host as if this fact had this value, with assumed and derived facts marked;
    /// repeatable, as with `walwise check --assume`.
    #[arg(long, value_name = "KEY[@SUBJECT]=VALUE", conflicts_with = "list")]
    pub assume: Vec<String>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = TextOrJsonFormat::Text)]
    pub format: TextOrJsonFormat,
    #[command(flatten)]
    pub from: HostArgs,
}

/// The commands of `walwise rules`.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List the rules, one per line.
    #[command(after_help = examples_help("rules list"))]
    List {
        /// Instead of the rules, list the settings that they can recommend.
        #[arg(long)]
        settings: bool,
        /// Also load every *.toml rule file in DIR.
        #[arg(long, value_name = "DIR")]
        rules: Option<PathBuf>,
    },
    /// Show one rule in full.
    #[command(after_help = examples_help("rules show"))]
    Show {
        /// The rule id.
        rule: String,
        /// Also load every *.toml rule file in DIR.
        #[arg(long, value_name = "DIR")]
        rules: Option<PathBuf>,
    },
    /// Check that the files contain valid rules whose examples hold, and report all errors at once.
    #[command(after_help = examples_help("rules check"))]
    Check {
        /// Rule files, or directories of them.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The rule id.
    pub rule: String,
    /// A directory or device. Default: every subject of the rule.
    pub target: Option<PathBuf>,
    /// Explain as if this fact had this value; repeatable, as with `walwise check --assume`.
    #[arg(long, value_name = "KEY[@SUBJECT]=VALUE")]
    pub assume: Vec<String>,
    #[command(flatten)]
    pub from: HostArgs,
}

#[derive(Args, Debug)]
pub struct CaptureArgs {
    /// Also capture this directory or device.
    pub target: Option<PathBuf>,
    #[command(flatten)]
    pub servers: ServerConfigArgs,
    /// Do not mask serial numbers, UUIDs, addresses, or the names of hosts and users.
    #[arg(long)]
    pub no_mask: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The commands of `walwise generate`.
#[derive(Debug, Subcommand)]
pub enum GenerateCommand {
    /// Print shell completions for commands, options and values.
    #[command(after_help = examples_help("generate completions"))]
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the JSON schema of the report.
    #[command(after_help = examples_help("generate schema"))]
    Schema,
}

/// Shells with completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash, with the bash-completion package.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
}

impl Shell {
    pub const ALL: [Self; 3] = [Self::Bash, Self::Zsh, Self::Fish];
}

/// Accepts the serialized names of values of `T`; each name has a help text.
fn named_values<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: &'static [(&str, &str)],
) -> impl TypedValueParser<Value = T> {
    let values = names
        .iter()
        .map(|(name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(values)
        .try_map(|name| T::deserialize(StringDeserializer::<Error>::new(name)))
}

fn filesystem_parser() -> impl TypedValueParser<Value = NewFilesystem> {
    PossibleValuesParser::new(NewFilesystem::WORDS)
        .try_map(|word| NewFilesystem::from_word(&word).ok_or("unknown file system"))
}

fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(
        Format::ALL
            .iter()
            .map(|format| PossibleValue::new(format.as_str()).help(format.description())),
    )
    .try_map(|word| Format::from_word(&word).ok_or("unknown format"))
}

/// Output formats of `upgrade`, `probe` and `facts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TextOrJsonFormat {
    /// Text.
    Text,
    /// JSON.
    Json,
}

/// Values of `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Critical findings only.
    Critical,
    /// Critical findings and warnings.
    Warning,
    /// No finding: the exit code shows only whether the command itself succeeded.
    Never,
}

impl FailOn {
    /// `None` for `never`.
    pub fn fail_condition(self, undecided: bool) -> Option<FailThreshold> {
        let level = match self {
            Self::Critical => Level::Critical,
            Self::Warning => Level::Warning,
            Self::Never => return None,
        };
        Some(FailThreshold { level, undecided })
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(n) if (0.1..=3600.0).contains(&n) => Ok(n),
        Ok(_) => Err("expected 0.1 to 3600 seconds".to_owned()),
        Err(_) => Err("expected a number of seconds".to_owned()),
    }
}
