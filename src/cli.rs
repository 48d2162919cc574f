pub mod args;
pub mod examples;
pub mod file_reader;
mod input_file;
mod selected_rule_files;
mod error {
    use std::io;
    use std::path::Path;

    use crate::text::{display_path, io_error_message};

    #[derive(Debug, thiserror::Error)]
    pub enum CliError {
        /// Wrong arguments, or an unusable rule or input file: exit code 2.
        #[error("{0}")]
        Usage(String),
        #[error(transparent)]
        Other(#[from] anyhow::Error),
        /// Ended by the signal with this number n: exit code 128 + n. The text, if any, replaces
        /// “the scratch files were removed” in the message.
        #[error("stopped by a signal")]
        Signal(i32, Option<String>),
    }

    pub(super) fn path_error_text(act: &str, path: &Path, error: &io::Error) -> String {
        format!(
            "cannot {act} {}: {}",
            display_path(path),
            io_error_message(error)
        )
    }
}
mod out;
mod version {
    //! The version, with the commit from which walwise was built. Packagers set that commit in the
    //! environment (packaging/binary); in the published crate, build.rs sets it.

    use crate::session;

    /// Scripts rely on the first line, `walwise VERSION`.
    pub(super) fn version_lines() -> String {
        let commit = option_env!("WALWISE_COMMIT").filter(|commit| !commit.is_empty());
        let commit = commit.unwrap_or("unknown (not set at build time)");
        let pack = session::shipped_rules_fingerprint();
        format!(
            "walwise {}\ncommit {commit}\npack   {pack}\n",
            env!("CARGO_PKG_VERSION")
        )
    }
}
mod rule_files {
    //! The rule files of the host that runs walwise apply, even to a capture of another host.

    use std::fs;
    use std::io;
    use std::path::{Path, PathBuf};

    use super::error::path_error_text;
    use super::selected_rule_files::{LoadedRuleFiles, SYSTEM_RULES, SelectedRuleFiles};
    use super::{CliError, file_reader, out};
    use crate::rules::{ExampleLoading, RuleSet};
    use crate::session;
    use crate::text::{self, display_path};
    use walwise_model::text::JoinText as _;

    const RULES_NOT_IN_FORCE_EXIT_CODE: u8 = 2;

    pub(super) fn load_rules_in_force(dir: Option<&Path>) -> Result<RuleSet, CliError> {
        load_rules(dir, ExampleLoading::Skipped)
    }

    pub(super) fn load_rules(
        dir: Option<&Path>,
        examples: ExampleLoading,
    ) -> Result<RuleSet, CliError> {
        let of_machine = Path::new(SYSTEM_RULES);
        // Most hosts lack this directory; checking that first saves a subprocess.
        let none =
            fs::symlink_metadata(of_machine).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        let found = match (dir, none) {
            (None, true) => LoadedRuleFiles::default(),
            _ => file_reader::read_rule_directories(dir)
                .map_err(|e| path_error_text("read the rules in", dir.unwrap_or(of_machine), &e))
                .and_then(|found| found)
                .map_err(CliError::Usage)?,
        };
        let (rules, _) =
            RuleSet::builtin_and_user_files(&found.files, examples, session::today_utc());
        Ok(rules.with_notes_on_unread_files(found.ignored, found.remarks))
    }

    pub(super) fn print_rule_warnings_and_exit_code(code: u8, rules: &RuleSet) -> u8 {
        if code != 0 || rules.not_in_force_sentences().is_empty() {
            return code;
        }
        for sentence in rules.not_in_force_sentences() {
            out::print_error(sentence);
        }
        RULES_NOT_IN_FORCE_EXIT_CODE
    }

    /// Reads rule files that are named one by one or by their directory; all of them must be
    /// readable. The rules of this host are included, as in a normal run.
    pub(super) fn read_selected_rule_files(
        paths: &[PathBuf],
    ) -> Result<SelectedRuleFiles, CliError> {
        let all = || paths.iter().map(|path| display_path(path)).join_with(", ");
        file_reader::read_rule_files(paths)
            .map_err(|e| format!("cannot read {}: {}", all(), text::io_error_message(&e)))
            .and_then(|found| found)
            .map_err(CliError::Usage)
    }
}
mod host;
mod report_store;
mod baseline {
    use std::io::{self, Read};
    use std::path::Path;

    use super::args::CheckArgs;
    use super::error::path_error_text;
    use super::report_store::ReportStore;
    use super::{CliError, file_reader, out};
    use crate::escape::ShellCommand;
    use crate::facts::Choice as _;
    use crate::report::Format;
    use crate::report::difference::{MAX_BYTES, ReportSnapshot};
    use crate::session::Session;
    use crate::text::{self, display_path};

    const LAST_REPORT_WORD: &str = "last";

    pub(super) fn check_baseline_format(args: &CheckArgs) -> Result<(), CliError> {
        if args.baseline.is_none() || args.format.shows_baseline_comparison() {
            return Ok(());
        }
        let forms: Vec<_> = Format::ALL
            .iter()
            .filter(|form| form.shows_baseline_comparison())
            .map(|form| form.as_str())
            .collect();
        Err(CliError::Usage(format!(
            "--baseline works with {} only; omit it, or use --format {}",
            forms.join(" and "),
            forms.join(" or ")
        )))
    }

    /// With `--save`, a missing or unusable last report only causes a notice, because the first run
    /// of a series has no earlier report.
    pub(super) fn load_baseline(
        args: &CheckArgs,
        session: &Session,
    ) -> Result<Option<ReportSnapshot>, CliError> {
        let Some(name) = &args.baseline else {
            return Ok(None);
        };
        if name != Path::new(LAST_REPORT_WORD) {
            return read_baseline_report(name, file_reader::open_file_or_pipe(name, MAX_BYTES))
                .map(Some);
        }
        match load_last_saved_report(args, session) {
            Err(CliError::Usage(sentence)) if args.save => {
                out::print_notice(&format!("no comparison: {sentence}"));
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    fn load_last_saved_report(
        args: &CheckArgs,
        session: &Session,
    ) -> Result<ReportSnapshot, CliError> {
        let target = args.target.as_deref();
        let store = ReportStore::for_target(session, target)?;
        let newest = store
            .find_newest_report()
            .map_err(|error| CliError::Usage(path_error_text("read", &store.directory, &error)))?;
        if let Some(path) = newest {
            return read_baseline_report(&path, file_reader::open_regular_file(&path, MAX_BYTES));
        }
        let place = display_path(&store.directory);
        Err(CliError::Usage(if args.save {
            format!("no baseline is saved in {place} yet")
        } else {
            let command = baseline_save_command(target);
            format!("no baseline is saved in {place}; `{command}` saves one")
        }))
    }

    pub(super) fn read_baseline_report(
        path: &Path,
        opened: io::Result<impl Read>,
    ) -> Result<ReportSnapshot, CliError> {
        let refuse = |what: String| {
            CliError::Usage(format!("cannot compare with {}: {what}", path.display()))
        };
        let kept = opened.map_err(|error| match error.kind() {
            io::ErrorKind::IsADirectory => refuse(format!(
                "it is a directory; specify a report, or put `--baseline {LAST_REPORT_WORD}` before the target"
            )),
            _ => refuse(text::io_error_message(&error)),
        })?;
        ReportSnapshot::from_reader(kept).map_err(|error| refuse(error.to_string()))
    }

    fn baseline_save_command(target: Option<&Path>) -> String {
        let of =
            |target: &Path| ShellCommand::walwise_check_command(&display_path(target), " --save");
        ShellCommand::text_or_placeholder(
            target.map_or(Some(ShellCommand::new("walwise check --save")), of),
        )
    }
}
mod capture {
    use super::args::{CaptureArgs, HostArgs};
    use super::host;
    use super::out::{ExitResult, OutputTarget};
    use crate::collect;
    use crate::host::{CachingHost, LiveHost};
    use crate::rules::RuleSet;
    use crate::session;

    pub(super) fn run_capture(args: &CaptureArgs) -> ExitResult {
        let delivery = OutputTarget::open(&args.output, false)?;
        let live = LiveHost::with_started_child();
        let recording = CachingHost::new(&live);
        let from = HostArgs {
            new: true,
            servers: args.servers.clone(),
            ..HostArgs::default()
        };
        let session = host::collect_session_from_host(
            &recording,
            &from,
            args.target.as_deref(),
            RuleSet::default(),
        )?;
        collect::query_everything_for_any_target(&recording, &session.facts);
        let comment = format!(
            "walwise {}, {}; check this capture before you share it",
            env!("CARGO_PKG_VERSION"),
            session::now_rfc3339()
        );
        delivery.print_or_save_document(&recording.render_capture(&comment, !args.no_mask))
    }
}
mod facts;
pub mod generate {
    use clap::CommandFactory;
    use clap_complete::aot::{self, Generator};

    use super::args::{Cli, GenerateCommand, Shell};
    use super::out::{ExitResult, print_document};

    /// A test derives the schema from the report's types and compares the result with this file.
    const SCHEMA: &str = include_str!("../assets/report.schema.json");

    pub(super) fn run_generate(what: &GenerateCommand) -> ExitResult {
        match what {
            GenerateCommand::Completions { shell } => print_document(&completion_file(*shell).1),
            GenerateCommand::Schema => print_document(SCHEMA),
        }
    }

    /// The file name that the shell expects, then the completion script.
    pub fn completion_file(shell: Shell) -> (String, String) {
        fn generate_completion_file(shell: impl Generator) -> (String, String) {
            let mut bytes = Vec::new();
            let name = shell.file_name(NAME);
            aot::generate(shell, &mut Cli::command(), NAME, &mut bytes);
            (name, String::from_utf8_lossy(&bytes).into_owned())
        }
        const NAME: &str = "walwise";
        match shell {
            Shell::Bash => generate_completion_file(aot::Bash),
            Shell::Zsh => generate_completion_file(aot::Zsh),
            Shell::Fish => generate_completion_file(aot::Fish),
        }
    }
}
mod rules;
mod explain {

    use std::collections::BTreeSet;

    use super::CliError;
    use super::args::ExplainArgs;
    use super::host;
    use super::out::{ExitResult, print_document};
    use super::rule_files;
    use super::rules::unknown_rule_error;
    use crate::facts::{MissingFact, Scope, Subject};
    use crate::rules::explain;
    use crate::rules::{self, Finding, Outcome, Rule, RuleSet};
    use crate::text::page_layout::TextPage;
    use crate::{report, session};
    use walwise_model::text::JoinText as _;

    pub(super) fn run_explain(args: &ExplainArgs) -> ExitResult {
        let rules = host::load_rules_in_force(args.from.rules.as_deref())?;
        if rules.find(&args.rule).is_none() {
            return Err(unknown_rule_error(&rules, &args.rule));
        }
        let session = host::open_session_with_assumptions(
            &args.from,
            args.target.as_deref(),
            rules,
            &args.assume,
        )?;
        let (facts, _) = session.derived_facts_and_verdicts();
        let Some(rule) = session.rules.find(&args.rule) else {
            return Ok(1);
        };
        let mut subjects = rules::rule_subjects(rule, &facts);
        if args.target.is_some() {
            let concerns = report::TargetSubjectCollector::from_facts(&facts);
            let about = |target| concerns.subjects_of_target(target);
            let concerned: BTreeSet<Subject> = facts
                .subjects_of_scope(Scope::Target)
                .flat_map(about)
                .collect();
            subjects
                .retain(|subject| subject.scope() == Scope::Host || concerned.contains(subject));
        }
        if subjects.is_empty() {
            let of = if args.target.is_some() {
                "this target has none"
            } else {
                "none was found here"
            };
            return Err(CliError::Usage(format!(
                "`{}` applies to a {}; {of}",
                rule.id, rule.scope
            )));
        }
        let explain = |subject: &Subject| {
            rules::evaluate_rule(rule, &facts, subject, session.evaluation_options())
        };
        let findings: Vec<Finding> = subjects.iter().map(explain).collect();
        let matters = |finding: &&Finding| finding.outcome != Outcome::DoesNotApply;
        let (told, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(matters);
        let mut page = TextPage::default();
        for finding in &told {
            push_finding_explanation(&mut page, finding);
        }
        if told.is_empty() || args.target.is_some() {
            for finding in &others {
                push_finding_explanation(&mut page, finding);
            }
        } else if !others.is_empty() {
            let names = others.iter().map(|finding| finding.subject.to_string());
            page.append_paragraph(
                0,
                &format!(
                    "the rule does not apply to {}; specify a target to see the reason",
                    names.join_with(", ")
                ),
            );
        }
        push_rule_sources_and_evidence(&mut page, rule, &session.rules);
        let code = print_document(&page.into_text())?;
        Ok(rule_files::print_rule_warnings_and_exit_code(
            code,
            &session.rules,
        ))
    }

    fn push_rule_sources_and_evidence(page: &mut TextPage, rule: &Rule, rules: &RuleSet) {
        page.append_hanging_paragraph(0, "sources: ", &rule.refs.join("; "));
        for evidence in &rule.evidence {
            for (line, at) in evidence.measurement_lines().iter().zip(0..) {
                let (indent, heading) = if at == 0 { (0, "evidence: ") } else { (2, "") };
                page.append_hanging_paragraph(indent, heading, line);
            }
        }
        if let Some(given) = rules
            .level_overrides()
            .iter()
            .find(|given| given.rule == rule.id)
        {
            page.append_paragraph(0, &given.to_level_changed_note(false).to_string());
        }
        page.append_paragraph(
            0,
            &session::build_rule_pack(rules).version_and_short_fingerprint(),
        );
    }

    fn push_finding_explanation(page: &mut TextPage, finding: &Finding) {
        page.append_paragraph(
            0,
            &format!(
                "{} on {}: {}",
                finding.rule,
                finding.subject,
                finding.outcome.as_str()
            ),
        );
        page.append_paragraph(2, &finding.title);
        if let Some(trace) = &finding.trace {
            explain::write_trace(page, 2, trace);
        }
        if let Outcome::Undecided { needs } = &finding.outcome {
            for (set, at) in needs.iter().zip(0..) {
                let heading = if at == 0 {
                    "needed to decide: "
                } else {
                    "or: "
                };
                let facts = set.iter().map(missing_fact_text).join_with(" and ");
                page.append_hanging_paragraph(2, heading, &facts);
            }
        }
        page.ensure_blank_line();
    }

    fn missing_fact_text(need: &MissingFact) -> String {
        let remedy = need.remedy.as_ref();
        let help = remedy.map_or_else(String::new, |remedy| format!(" → {remedy}"));
        format!("{} of {} ({}{help})", need.fact, need.subject, need.why)
    }
}
pub mod drill;
mod interactive;
mod probe;
mod signals;
mod trial;
mod show {
    use super::CliError;
    use super::args::{ShowArgs, ShowFormat};
    use super::file_reader;
    use super::out::{ExitResult, OutputTarget};
    use crate::report::SavedReport;
    use crate::report::difference::MAX_BYTES;
    use crate::text;

    pub(super) fn run_show(args: &ShowArgs) -> ExitResult {
        let delivery = OutputTarget::open(&args.output, false)?;
        let refuse = |what: String| {
            CliError::Usage(format!("cannot show {}: {what}", args.report.display()))
        };
        let document = file_reader::open_file_or_pipe(&args.report, MAX_BYTES)
            .map_err(|error| refuse(text::io_error_message(&error)))?;
        let kept = SavedReport::from_reader(document).map_err(|error| refuse(error.to_string()))?;
        delivery.print_or_save_document(&match args.format {
            ShowFormat::Text => kept.to_text(),
            ShowFormat::Json => kept.display_safe_json().to_owned(),
            ShowFormat::Markdown => kept.to_markdown(),
            ShowFormat::Html => kept.to_html(),
        })
    }
}
mod check;
mod upgrade {
    //! `walwise upgrade`: a report of what changes with other versions of the kernel, the
    //! distribution or its tools, evaluated like `check --assume`. Nothing is measured.

    use super::CliError;
    use super::args::{TextOrJsonFormat, UpgradeArgs};
    use super::host;
    use super::out::{ExitResult, OutputTarget};
    use crate::host::CachingHost;
    use crate::report::{self, json, text};
    use crate::session::upgrade;

    pub(super) fn run_upgrade(args: &UpgradeArgs) -> ExitResult {
        let delivery = OutputTarget::open(&args.output, false)?;
        let rules = host::load_rules_in_force(args.from.rules.as_deref())?;
        let machine = host::open_host(args.from.host.as_deref())?;
        let machine = CachingHost::new(machine.as_ref());
        let target = args.target.as_deref();
        let session = host::collect_session_from_host(&machine, &args.from, target, rules)?;
        let mut texts = upgrade::upgrade_assumption_texts(&args.next, &session.facts)
            .map_err(CliError::Usage)?;
        texts.extend(args.assume.iter().cloned());
        let hypothesis =
            host::evaluate_assumption_texts(&texts, &session, &machine, &args.from, target)?;
        let mut report = session.build_report();
        let (supposed, what_if) = session.evaluate_what_if(&report, &hypothesis);
        let changes = report::Upgrade::from_reports(&report, &supposed);
        let condition = args.fail_on.fail_condition(args.fail_on_undecided);
        let code = condition.map_or(0, |condition| changes.exit_code(condition));
        let document = match args.format {
            TextOrJsonFormat::Text => text::render_upgrade(&report, &what_if, &changes),
            TextOrJsonFormat::Json => {
                (report.what_if, report.upgrade) = (Some(what_if), Some(changes));
                json::render_report(&report)
            }
        };
        delivery.print_or_save_document(&document)?;
        Ok(code)
    }
}
mod removed_words;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use clap::error::ErrorKind;

use args::{Cli, CliCommand};
use out::ExitResult;

use crate::host::enter_init_mount_namespace;

pub use error::CliError;

pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let result = match Cli::try_parse_from(&arguments) {
        Ok(cli) => run_command(cli),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => {
            out::print_document(&version::version_lines())
        }
        Err(error) => {
            if let Some(sentence) = removed_words::replacement_hint(&error, &arguments) {
                out::print_error(sentence);
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
            let failed = failed
                .as_deref()
                .unwrap_or("the scratch files were removed");
            out::print_error(&format!("stopped by a signal; {failed}"));
            ExitCode::from(u8::try_from(128 + number).unwrap_or(1))
        }
        Err(CliError::Usage(sentence)) => {
            out::print_error(&sentence);
            ExitCode::from(2)
        }
        Err(CliError::Other(error)) => {
            out::print_error(&format!("{error:#}"));
            ExitCode::from(1)
        }
    }
}

/// Environment variable of the container image (packaging/image): walwise works in the mount
/// namespace of the host if the container has the host's PID namespace.
const HOST_MOUNTS: &str = "WALWISE_HOST_MOUNTS";

fn run_command(cli: Cli) -> ExitResult {
    if std::env::var_os(HOST_MOUNTS).is_some_and(|value| value == "1") {
        enter_init_mount_namespace().context(
            "cannot enter the host's mount namespace; start the container with --privileged",
        )?;
    }
    match cli.command {
        None => interactive::run(cli.bare),
        Some(CliCommand::Check(args)) => check::run(&args),
        Some(CliCommand::Upgrade(args)) => upgrade::run_upgrade(&args),
        Some(CliCommand::Show(args)) => show::run_show(&args),
        Some(CliCommand::Probe(args)) => probe::run(&args),
        Some(CliCommand::Drill(args)) => drill::run_drill(&args),
        Some(CliCommand::Trial(args)) => trial::run(&args),
        Some(CliCommand::Facts(args)) => facts::run(&args),
        Some(CliCommand::Rules(args)) => rules::run(args),
        Some(CliCommand::Explain(args)) => explain::run_explain(&args),
        Some(CliCommand::Capture(args)) => capture::run_capture(&args),
        Some(CliCommand::Generate(what)) => generate::run_generate(&what),
    }
}
