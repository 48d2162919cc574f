//! `walwise rules`: the rules as people read, check and test them.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::CliError;
use super::args::Rules;
use super::host::rule_files;
use super::out::{Done, print};
use crate::rules::explain::{self, Drawing};
use crate::rules::settings::{self, Shape};
use crate::rules::{Rule, RuleSet, examples};

/// Lists, shows, checks or tests.
pub(super) fn run(args: Rules) -> Done {
    match args {
        Rules::List { settings: true } => print(&setting_list()),
        Rules::List { settings: false } => print(&rule_list(RuleSet::builtin().rules())),
        Rules::Show { rule } => {
            let rules = RuleSet::builtin();
            let Some(found) = rules.find(&rule) else { return Err(no_rule(&rules, &rule)) };
            print(&rule_text(found))
        }
        Rules::Check { files } => {
            let rules = of_files(&files)?;
            print(&format!("{} rules, no mistakes\n", rules.len()))
        }
        Rules::Test { files } => {
            let rules =
                if files.is_empty() { RuleSet::builtin().rules().to_vec() } else { of_files(&files)? };
            let failures = examples::run(&rules);
            if failures.is_empty() {
                let count: usize = rules.iter().map(|rule| rule.examples.len()).sum();
                return print(&format!("{} rules, {count} examples, all as expected\n", rules.len()));
            }
            let lines: Vec<String> = failures.iter().map(ToString::to_string).collect();
            print(&(lines.join("\n") + "\n"))?;
            Ok(1)
        }
    }
}

/// The rules of these files, checked beside the built-in ones, which they may override or switch off.
fn of_files(paths: &[PathBuf]) -> Result<Vec<Rule>, CliError> {
    let files = rule_files(paths)?;
    let (rules, mistakes) = RuleSet::in_place_of_builtin(&files);
    if !mistakes.is_empty() {
        let text: Vec<String> = mistakes.iter().map(|file| file.render(false)).collect();
        return Err(CliError::Usage(format!("mistakes in rule files:\n{}", text.join("\n\n"))));
    }
    let here = |rule: &&Rule| files.iter().any(|file| file.name == rule.file);
    Ok(rules.rules().iter().filter(here).cloned().collect())
}

/// The complaint about a rule id that does not exist.
pub(super) fn no_rule(rules: &RuleSet, id: &str) -> CliError {
    let hint = rules.did_you_mean(id).map(|hint| format!("; {hint}")).unwrap_or_default();
    CliError::Usage(format!("there is no rule `{id}`{hint}; `walwise rules list` shows all"))
}

fn rule_list(rules: &[Rule]) -> String {
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let line = |rule: &Rule| {
        format!(
            "{:<width$}  {:<8}  {:<7}  {}\n",
            rule.id,
            rule.level.word(),
            rule.scope.word(),
            rule.title.source()
        )
    };
    rules.iter().map(line).collect()
}

fn rule_text(rule: &Rule) -> String {
    let Rule { id, scope, level, confidence, since, file, line, .. } = rule;
    let mut out = format!("{id}\n{}\n\n", rule.title.source());
    let _ =
        writeln!(out, "for {scope}, {}, {}, since {since}, {file}:{line}\n", level.word(), confidence.word());
    let _ = writeln!(out, "{}\n\nApplies when", rule.because.source());
    for line in explain::condition(&rule.when, Drawing::Unicode) {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "\nSources");
    for source in &rule.refs {
        let _ = writeln!(out, "  {source}");
    }
    if !rule.advise.is_empty() {
        let _ = writeln!(out, "\nAdvises");
    }
    for advice in &rule.advise {
        let _ =
            writeln!(out, "  {} ({}, risk {})", advice.setting.name, advice.reach.word(), advice.risk.word());
    }
    let _ = writeln!(out, "\nExamples");
    for example in &rule.examples {
        let _ = writeln!(out, "  {:<14}  {}", example.expect.word(), example.name);
    }
    out
}

fn setting_list() -> String {
    let mut out = String::new();
    for setting in settings::ALL {
        let shape = if setting.shape == Shape::Options { "options" } else { "one value" };
        let _ = writeln!(out, "{:<24}{shape:<11}{}", setting.name, setting.doc);
    }
    out
}
