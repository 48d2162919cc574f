//! The command line: parses, dispatches, prints, and reports the result by the exit code.
//!
//! One file per command. Errors go to standard error as one sentence with a remedy; a closed reader
//! counts as success. Commands print through `out` alone, so that nothing else can write to the
//! terminal.

pub mod examples;
pub mod extent {
    //! How much of the report the text of `check` shows: the short form, all of it, or one part.

    use clap::{Args, ValueEnum};

    use crate::report::telling::ReportPart;

    /// How much of the report is shown as text; the short form without any of it.
    #[derive(Args, Debug, Default, Clone)]
    pub struct Extent {
        /// The whole report as text: evidence, reasons, what is allowed at a price, how to undo.
        #[arg(long, short)]
        pub verbose: bool,
        /// One part of the whole report.
        #[arg(long, value_enum, value_name = "PART", conflicts_with = "verbose")]
        pub only: Option<OnlyPart>,
    }

    /// What `--only` can be.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
    pub enum OnlyPart {
        /// What to do, in order, with the commands to apply, verify and undo it.
        Plan,
        /// What each verdict rests on.
        Evidence,
        /// Commit latency, method by method.
        #[value(alias = "price")]
        Latency,
        /// What is not known, what it leaves undecided, and what would help.
        Unknown,
    }

    impl OnlyPart {
        /// The part of the report.
        pub fn part(self) -> ReportPart {
            match self {
                Self::Plan => ReportPart::Plan,
                Self::Evidence => ReportPart::Evidence,
                Self::Latency => ReportPart::Latency,
                Self::Unknown => ReportPart::Unknown,
            }
        }
    }
}
pub mod args;
mod input;
mod named_file;
mod rule_directory;
mod error {
    //! The ways in which a command ends early. The exit code of each is given by
    //! [`crate::cli::run`].

    /// Why a command ended early.
    #[derive(Debug, thiserror::Error)]
    pub enum CliError {
        /// Wrong use, or rules or an input file that cannot be used: exit code 2.
        #[error("{0}")]
        Usage(String),
        /// Anything else: exit code 1.
        #[error(transparent)]
        Other(#[from] anyhow::Error),
        /// Ended by a signal: exit code 128 + n. The second field is an error while it ended.
        #[error("ended by a signal")]
        Signal(i32, Option<String>),
    }
}
mod out;
mod version {
    //! `walwise --version`: the version, the commit that the program was built from, and the rules
    //! and tables in it.
    //!
    //! Whoever builds it names the commit (packaging/binary), or the packed crate does (build.rs).

    use crate::session;

    /// A line each; scripts may rely on the first one, which is `walwise VERSION`.
    pub(super) fn lines() -> String {
        let commit = option_env!("WALWISE_COMMIT").filter(|commit| !commit.is_empty());
        let commit = commit.unwrap_or("unknown: whoever built this did not name it");
        let pack = session::shipped_fingerprint();
        format!(
            "walwise {}\ncommit {commit}\npack   {pack}\n",
            env!("CARGO_PKG_VERSION")
        )
    }
}
mod rule_files {
    //! The user's rules: those of this machine, `/etc/walwise/rules.d`, and those named on the
    //! command line. Reading them is left to [`super::rule_directory`].
    //!
    //! The rules belong to the judging machine, so a capture of another host is judged by the rules
    //! of this one. An unusable file disables nothing else: the report names it, and a check
    //! without findings then ends with 2 instead of 0.

    use std::fs;
    use std::io;
    use std::path::{Path, PathBuf};

    use super::rule_directory::{OF_THIS_MACHINE, RuleFiles, Together, says, shown};
    use super::{CliError, input, out};
    use crate::rules::{RuleExamples, RuleSet};
    use crate::session;
    use crate::text;

    /// The exit code when rules that should be in force are not, and there is no other failure.
    const NOT_IN_FORCE: u8 = 2;

    /// The rules: built in, those of this machine, and those of `--rules`.
    pub(super) fn rules(dir: Option<&Path>) -> Result<RuleSet, CliError> {
        read(dir, RuleExamples::Left)
    }

    /// The same with the examples of those that are built in.
    pub(super) fn rules_with_examples(dir: Option<&Path>) -> Result<RuleSet, CliError> {
        read(dir, RuleExamples::Read)
    }

    fn read(dir: Option<&Path>, examples: RuleExamples) -> Result<RuleSet, CliError> {
        let of_machine = Path::new(OF_THIS_MACHINE);
        // Nearly every machine has none, which is visible at once.
        let none =
            fs::symlink_metadata(of_machine).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        let found = match (dir, none) {
            (None, true) => RuleFiles::default(),
            _ => match input::rules(dir) {
                Ok(found) => found.map_err(CliError::Usage)?,
                Err(e) => return Err(cannot("read the rules in", dir.unwrap_or(of_machine), &e)),
            },
        };
        let (rules, _) = RuleSet::with_user_files(&found.files, examples, session::today());
        Ok(rules.with_notes(found.ignored, found.remarks))
    }

    /// The exit code of a command with this result and these rules; prints the reason where it
    /// changes.
    pub(super) fn exit_code(code: u8, rules: &RuleSet) -> u8 {
        if code != 0 || rules.not_in_force().is_empty() {
            return code;
        }
        for sentence in rules.not_in_force() {
            out::complain(sentence);
        }
        NOT_IN_FORCE
    }

    /// Rule files, named one by one or by their directory, for work on them: all must be readable.
    /// The other rules of this machine are in force beside them, as in a run.
    pub(super) fn named(paths: &[PathBuf]) -> Result<Together, CliError> {
        let all = paths
            .iter()
            .map(|path| shown(path))
            .collect::<Vec<_>>()
            .join(", ");
        let answer = input::rule_files(paths).map_err(|e| {
            CliError::Usage(format!("cannot read {all}: {}", text::error_words(&e)))
        })?;
        answer.map_err(CliError::Usage)
    }

    fn cannot(what: &str, path: &Path, error: &io::Error) -> CliError {
        CliError::Usage(says(what, path, error))
    }
}
mod host;
mod kept;
mod baseline {
    //! The report that a check is compared with: one that was named, or the one that was kept last
    //! ([`super::kept`]).

    use std::io::{self, Read};
    use std::path::Path;

    use super::args::Check;
    use super::kept::Shelf;
    use super::{CliError, input, out};
    use crate::host::path_bytes;
    use crate::quote::Command;
    use crate::report::Format;
    use crate::report::difference::{Kept, LARGEST};
    use crate::session::Session;
    use crate::text;

    /// The value of `--baseline` for the report that was kept last.
    const LAST: &str = "last";

    /// Checks that the options are compatible.
    pub(super) fn check(args: &Check) -> Result<(), CliError> {
        if args.baseline.is_none() || args.format.compares() {
            return Ok(());
        }
        let forms: Vec<_> = Format::ALL
            .into_iter()
            .filter(|form| form.compares())
            .map(Format::name)
            .collect();
        Err(CliError::Usage(format!(
            "a difference is shown in {} only; leave out --baseline, or take --format {}",
            forms.join(" and "),
            forms.join(" or ")
        )))
    }

    /// The report to compare with, if one was requested. Under `--save` a kept one that is missing
    /// or unusable is a notice, because the run that begins a series has none, and the next one
    /// compares with what this one keeps.
    pub(super) fn load(args: &Check, session: &Session) -> Result<Option<Kept>, CliError> {
        let Some(name) = &args.baseline else {
            return Ok(None);
        };
        if name != Path::new(LAST) {
            return parse(name, input::open(name, LARGEST)).map(Some);
        }
        match last(args, session) {
            Err(CliError::Usage(sentence)) if args.save => {
                out::notice(&format!("nothing is compared: {sentence}"));
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    /// The report that was kept last.
    fn last(args: &Check, session: &Session) -> Result<Kept, CliError> {
        let target = args.target.as_deref();
        let shelf = Shelf::of(session, target)?;
        let place = text::safe(path_bytes(&shelf.directory));
        let newest = shelf.newest().map_err(|error| {
            CliError::Usage(format!(
                "cannot look into {place}: {}",
                text::error_words(&error)
            ))
        })?;
        match newest {
            Some(path) => parse(&path, input::open_regular(&path, LARGEST)),
            None if args.save => Err(CliError::Usage(format!(
                "no baseline is kept in {place} yet"
            ))),
            None => Err(CliError::Usage(format!(
                "no baseline is kept in {place}; `{}` keeps one",
                keeps(target)
            ))),
        }
    }

    /// A report, from its file.
    fn parse(path: &Path, opened: io::Result<impl Read>) -> Result<Kept, CliError> {
        let refuse = |what: String| {
            CliError::Usage(format!("cannot compare with {}: {what}", path.display()))
        };
        let kept = opened.map_err(|error| match error.kind() {
            io::ErrorKind::IsADirectory => refuse(format!(
                "it is a directory; name a report, or write `--baseline {LAST}` before the target"
            )),
            _ => refuse(text::error_words(&error)),
        })?;
        Kept::parse(kept).map_err(|error| refuse(error.to_string()))
    }

    /// The command that keeps a baseline.
    fn keeps(target: Option<&Path>) -> String {
        let of = |target: &Path| Command::check(&text::safe(path_bytes(target)), " --save");
        Command::or_why(target.map_or(Some(Command::new("walwise check --save")), of))
    }
}
mod capture {
    //! `walwise capture`: this host as one text file, for others to examine.

    use super::args::{Capture, From};
    use super::host;
    use super::out::{Delivery, ExitResult};
    use crate::collect;
    use crate::host::{LiveHost, RecordingHost};
    use crate::rules::RuleSet;
    use crate::session;

    /// Reads everything that a check would read and writes the questions with their answers.
    pub(super) fn run(args: &Capture) -> ExitResult {
        let delivery = Delivery::find(&args.output, false)?;
        let live = LiveHost::to_look();
        let recording = RecordingHost::new(&live);
        let from = From {
            new: true,
            servers: args.servers.clone(),
            ..From::default()
        };
        let session = host::look_at(
            &recording,
            &from,
            args.target.as_deref(),
            RuleSet::default(),
        )?;
        collect::ask_of_all(&recording, &session.read);
        let comment = format!(
            "walwise {}, {}; read it before you share it",
            env!("CARGO_PKG_VERSION"),
            session::now()
        );
        delivery.deliver(&recording.archive(&comment, !args.no_mask))
    }
}
mod facts;
pub mod generate {
    //! `walwise generate`: documents made from the program itself, so that they always agree with
    //! it.

    use clap::CommandFactory;
    use clap_complete::aot::{self, Generator};

    use super::args::{Cli, Generate, Shell};
    use super::out::{ExitResult, print};

    /// What every recommendation and every report keeps; the tests of the report make it from the
    /// types and compare.
    const SCHEMA: &str = include_str!("../assets/report.schema.json");

    /// Prints the requested document.
    pub(super) fn run(what: &Generate) -> ExitResult {
        match what {
            Generate::Completions { shell } => print(&completions(*shell).1),
            Generate::Schema => print(SCHEMA),
        }
    }

    /// The completion script of a shell, behind the name of the file that the shell expects.
    pub fn completions(shell: Shell) -> (String, String) {
        fn script(shell: impl Generator) -> (String, String) {
            let mut bytes = Vec::new();
            let name = shell.file_name(NAME);
            aot::generate(shell, &mut Cli::command(), NAME, &mut bytes);
            (name, String::from_utf8_lossy(&bytes).into_owned())
        }
        const NAME: &str = "walwise";
        match shell {
            Shell::Bash => script(aot::Bash),
            Shell::Zsh => script(aot::Zsh),
            Shell::Fish => script(aot::Fish),
        }
    }
}
mod rules;
mod explain {
    //! `walwise explain`: why a rule applies, does not, or cannot be decided, condition by
    //! condition.

    use std::collections::BTreeSet;

    use super::CliError;
    use super::args::Explain;
    use super::host;
    use super::out::{ExitResult, print};
    use super::rule_files;
    use super::rules::no_rule;
    use crate::facts::{Need, Scope, Subject};
    use crate::rules::explain;
    use crate::rules::{self, Finding, Outcome, Rule, RuleSet};
    use crate::text::page::TextBuilder;
    use crate::{report, session};

    /// Prints the trace of one rule on every subject, or on those of one target.
    pub(super) fn run(args: &Explain) -> ExitResult {
        let rules = host::rules(args.from.rules.as_deref())?;
        if rules.find(&args.rule).is_none() {
            return Err(no_rule(&rules, &args.rule));
        }
        let session = host::look_assuming(&args.from, args.target.as_deref(), rules, &args.assume)?;
        let (facts, _) = session.judged();
        let Some(rule) = session.rules.find(&args.rule) else {
            return Ok(1);
        };
        let mut subjects = rules::subjects(rule, &facts);
        if args.target.is_some() {
            let concerns = report::Concerns::from_facts(&facts);
            let about = |target| concerns.subjects(target);
            let concerned: BTreeSet<Subject> =
                facts.subjects(Scope::Target).flat_map(about).collect();
            subjects
                .retain(|subject| subject.scope() == Scope::Host || concerned.contains(subject));
        }
        if subjects.is_empty() {
            let of = if args.target.is_some() {
                "none belongs to this target"
            } else {
                "none was found"
            };
            return Err(CliError::Usage(format!(
                "`{}` is about a {}, and {of}",
                rule.id, rule.scope
            )));
        }
        let explain =
            |subject: &Subject| rules::evaluate_one(rule, &facts, subject, session.circumstances());
        let findings: Vec<Finding> = subjects.iter().map(explain).collect();
        let matters = |finding: &&Finding| finding.outcome != Outcome::DoesNotApply;
        let (told, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(matters);
        let mut page = TextBuilder::default();
        for finding in &told {
            explanation(&mut page, finding);
        }
        if told.is_empty() || args.target.is_some() {
            for finding in &others {
                explanation(&mut page, finding);
            }
        } else if !others.is_empty() {
            let names: Vec<String> = others
                .iter()
                .map(|finding| finding.subject.to_string())
                .collect();
            page.para(
                0,
                &format!(
                    "does not apply to {}; name a target to see why",
                    names.join(", ")
                ),
            );
        }
        about(&mut page, rule, &session.rules);
        let code = print(&page.finish())?;
        Ok(rule_files::exit_code(code, &session.rules))
    }

    /// The parts that are the same on every subject: references, measurements, a changed level, the
    /// pack.
    fn about(page: &mut TextBuilder, rule: &Rule, rules: &RuleSet) {
        page.hanging(0, "sources: ", &rule.refs.join("; "));
        for evidence in &rule.evidence {
            for (line, at) in evidence.lines().iter().zip(0..) {
                if at == 0 {
                    page.hanging(0, "evidence: ", line);
                } else {
                    page.hanging(2, "", line);
                }
            }
        }
        if let Some(given) = rules.overrides().iter().find(|given| given.rule == rule.id) {
            page.para(0, &given.note(false).to_string());
        }
        page.para(0, &session::pack(rules).words());
    }

    fn explanation(page: &mut TextBuilder, finding: &Finding) {
        page.para(
            0,
            &format!(
                "{} on {}: {}",
                finding.rule,
                finding.subject,
                finding.outcome.word()
            ),
        );
        page.para(2, &finding.title);
        if let Some(trace) = &finding.trace {
            explain::lines(page, 2, trace);
        }
        if let Outcome::Undecided { needs } = &finding.outcome {
            for (set, at) in needs.iter().zip(0..) {
                let facts: Vec<String> = set.iter().map(need).collect();
                page.hanging(
                    2,
                    if at == 0 { "would decide it: " } else { "or: " },
                    &facts.join(" and "),
                );
            }
        }
        page.gap();
    }

    fn need(need: &Need) -> String {
        let help = need
            .remedy
            .as_ref()
            .map(|remedy| format!(" → {remedy}"))
            .unwrap_or_default();
        format!("{} of {} ({}{help})", need.fact, need.subject, need.why)
    }
}
mod drill;
mod probe;
mod screens;
mod signals;
mod trial;
mod show {
    //! `walwise show`: a kept report from its file, told again. Nothing is looked at.

    use super::CliError;
    use super::args::{Show, ShowFormat};
    use super::input;
    use super::out::{Delivery, ExitResult};
    use crate::report::KeptReport;
    use crate::report::difference::LARGEST;
    use crate::text;

    pub(super) fn run(args: &Show) -> ExitResult {
        let delivery = Delivery::find(&args.output, false)?;
        let refuse = |what: String| {
            CliError::Usage(format!("cannot show {}: {what}", args.report.display()))
        };
        let document = input::open(&args.report, LARGEST)
            .map_err(|error| refuse(text::error_words(&error)))?;
        let kept = KeptReport::read(document).map_err(|error| refuse(error.to_string()))?;
        delivery.deliver(&match args.format {
            ShowFormat::Text => kept.text(),
            ShowFormat::Json => kept.json().to_owned(),
            ShowFormat::Markdown => kept.markdown(),
            ShowFormat::Html => kept.html(),
        })
    }
}
mod check;
mod upgrade {
    //! `walwise upgrade`: the changes by the next kernel, distribution and tools, and an exit code
    //! for the obstacles.
    //!
    //! It is `check --assume` with its own wording. Nothing is measured, and the present state of
    //! the machine has no influence on the exit code.

    use super::CliError;
    use super::args::{PlainFormat, UpgradeArgs};
    use super::host;
    use super::out::{Delivery, ExitResult};
    use crate::host::RememberingHost;
    use crate::report::{self, json, text};
    use crate::session::upgrade::{self, ComponentVersions};

    pub(super) fn run(args: &UpgradeArgs) -> ExitResult {
        let delivery = Delivery::find(&args.output, false)?;
        let next = ComponentVersions {
            kernel: args.kernel.clone(),
            os: args.os.clone(),
            e2fsprogs: args.e2fsprogs.clone(),
            xfsprogs: args.xfsprogs.clone(),
            btrfs_progs: args.btrfs_progs.clone(),
        };
        let rules = host::rules(args.from.rules.as_deref())?;
        let machine = host::open(args.from.host.as_deref())?;
        let machine = RememberingHost::new(machine.as_ref());
        let session = host::look_at(&machine, &args.from, None, rules)?;
        let mut texts = upgrade::assumptions(&next, &session.read).map_err(CliError::Usage)?;
        texts.extend(args.assume.iter().cloned());
        let hypothesis = host::supposed(&texts, &session, &machine, &args.from, None)?;
        let mut report = session.report();
        let (supposed, what_if) = session.what_if(&report, &hypothesis);
        let changes = report::Upgrade::between(&report, &supposed);
        let condition = args.fail_on.condition(args.fail_on_undecided);
        let code = condition.map_or(0, |condition| changes.exit_code(condition));
        let document = match args.format {
            PlainFormat::Text => text::upgrade(&report, &what_if, &changes),
            PlainFormat::Json => {
                (report.what_if, report.upgrade) = (Some(what_if), Some(changes));
                json::render(&report)
            }
        };
        delivery.deliver(&document)?;
        Ok(code)
    }
}
mod removed;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Cli, CliCommand};
use out::ExitResult;

pub use drill::serve as drill;
pub use error::CliError;
pub use input::serve as input;

/// Runs the program with these arguments and returns its exit code.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let result = match Cli::try_parse_from(&arguments) {
        Ok(cli) => dispatch(cli),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => out::print(&version::lines()),
        Err(error) => {
            if let Some(sentence) = removed::sentence(&error, &arguments) {
                out::complain(sentence);
                return ExitCode::from(2);
            }
            // clap's own exit codes: 0 for --help, 2 for wrong use.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(CliError::Signal(number, failed)) => {
            let failed = failed.as_deref().unwrap_or("the scratch files are gone");
            out::complain(&format!("ended by a signal; {failed}"));
            ExitCode::from(u8::try_from(128 + number).unwrap_or(1))
        }
        Err(CliError::Usage(sentence)) => {
            out::complain(&sentence);
            ExitCode::from(2)
        }
        Err(CliError::Other(error)) => {
            out::complain(&format!("{error:#}"));
            ExitCode::from(1)
        }
    }
}

fn dispatch(cli: Cli) -> ExitResult {
    match cli.command {
        None => screens::run(cli.bare),
        Some(CliCommand::Check(args)) => check::run(&args),
        Some(CliCommand::Upgrade(args)) => upgrade::run(&args),
        Some(CliCommand::Show(args)) => show::run(&args),
        Some(CliCommand::Probe(args)) => probe::run(&args),
        Some(CliCommand::Drill(args)) => drill::run(&args),
        Some(CliCommand::Trial(args)) => trial::run(&args),
        Some(CliCommand::Facts(args)) => facts::run(&args),
        Some(CliCommand::Rules(args)) => rules::run(args),
        Some(CliCommand::Explain(args)) => explain::run(&args),
        Some(CliCommand::Capture(args)) => capture::run(&args),
        Some(CliCommand::Generate(what)) => generate::run(&what),
    }
}
