//! The commands in help and README: each can be typed as printed, and names existing rules and
//! facts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use walwise::cli::args::{Cli, CliCommand, RulesCommand};
use walwise::cli::examples;
use walwise_judge::rules::RuleSet;
use walwise_model::facts::catalog;

fn shell_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    assert!(!quoted, "an open quote: {line}");
    words.retain(|word| !word.is_empty());
    let end = words
        .iter()
        .position(|word| [">", "|", "&&", ";", "#"].contains(&word.as_str()));
    words.truncate(end.unwrap_or(words.len()));
    words
}

fn command_line_error(line: &str) -> Option<String> {
    let words = shell_words(line);
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error)
            if [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion].contains(&error.kind()) =>
        {
            return None;
        }
        Err(error) => return Some(format!("{line}: {error}")),
    };
    let is_rule = |id: &str| RuleSet::builtin().rules().iter().any(|rule| rule.id == id);
    let is_fact = |key: &str| catalog::all_keys().any(|fact| fact.name.starts_with(key));
    // A word in capitals is a placeholder.
    let stands_for_one = |word: &str| !word.contains(char::is_lowercase);
    let known = match &cli.command {
        Some(CliCommand::Explain(args)) => is_rule(&args.rule) || stands_for_one(&args.rule),
        Some(CliCommand::Rules(RulesCommand::Show { rule, .. })) => {
            is_rule(rule) || stands_for_one(rule)
        }
        Some(CliCommand::Facts(args)) => args
            .keys
            .iter()
            .all(|key| is_fact(key) || key.contains('/')),
        Some(CliCommand::Check(args)) => args.assume.iter().all(|fact| {
            let key = fact.split(['@', '=']).next().unwrap_or_default();
            is_fact(key) || stands_for_one(key)
        }),
        _ => true,
    };
    (!known).then(|| format!("{line}: there is no such rule or fact"))
}

fn all_commands() -> Vec<(String, clap::Command)> {
    fn walk(command: &clap::Command, path: &str, out: &mut Vec<(String, clap::Command)>) {
        out.push((path.to_owned(), command.clone()));
        for kid in command
            .get_subcommands()
            .filter(|kid| kid.get_name() != "help")
        {
            walk(kid, format!("{path} {}", kid.get_name()).trim_start(), out);
        }
    }
    let mut out = Vec::new();
    walk(&Cli::command(), "", &mut out);
    out
}

#[test]
fn every_command_s_help_ends_with_examples_that_work() {
    let mut told = BTreeSet::new();
    for (path, mut command) in all_commands() {
        for help in [
            command.render_help().to_string(),
            command.render_long_help().to_string(),
        ] {
            let (_, end) = help
                .split_once("\nExamples:\n")
                .unwrap_or_else(|| panic!("`{path}`: {help}"));
            let lines: Vec<&str> = end
                .lines()
                .filter(|l| l.starts_with("  walwise"))
                .map(str::trim_start)
                .collect();
            let bad: Vec<String> = lines
                .iter()
                .filter_map(|line| command_line_error(line))
                .collect();
            assert_eq!(bad, [""; 0], "`{path}`");
            let own = shell_words(&format!("walwise {path}"));
            assert!(
                lines.iter().any(|line| shell_words(line).starts_with(&own)),
                "`{path}` has none of its own"
            );
            told.insert(path.clone());
        }
    }
    let sections = examples::SECTIONS.lines().filter_map(|line| {
        let command = line.strip_prefix('[')?.strip_suffix(']')?;
        Some(command.to_owned())
    });
    let written: BTreeSet<String> = sections.collect();
    assert_eq!(told, written, "examples of a command that there is not");
}

/// A longer line would wrap in the middle of a command.
#[test]
fn examples_fit_a_terminal_of_eighty_columns() {
    let is_example = |line: &&str| line.starts_with("  ") && !line.starts_with("        ");
    let mut lines = examples::SECTIONS.lines().filter(is_example).peekable();
    assert!(lines.peek().is_some());
    for line in lines {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn every_command_in_the_readme_and_the_manual_works() {
    let house = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = ["README.md", "docs/USE.md"]
        .map(|file| fs::read_to_string(house.join(file)).unwrap())
        .concat();
    let mut lines: Vec<&str> = Vec::new();
    for (number, part) in text.split("```").enumerate() {
        if number % 2 == 1 {
            lines.extend(part.lines().map(|line| line.trim_start_matches("sudo ")));
        } else {
            // Text in backticks may wrap over two lines, a command must not.
            lines.extend(
                part.lines()
                    .flat_map(|line| line.split('`').skip(1).step_by(2)),
            );
        }
    }
    lines.retain(|line| *line == "walwise" || line.starts_with("walwise "));
    // The sample report starts with the program's name and version, which is not a command.
    lines.retain(|line| !line.starts_with(concat!("walwise ", env!("CARGO_PKG_VERSION"))));
    assert!(lines.len() >= 20, "{lines:?}");
    let bad: Vec<String> = lines
        .iter()
        .filter_map(|line| command_line_error(line))
        .collect();
    assert_eq!(bad, [""; 0]);
}
