//! `walwise rules`: lists, shows and checks rules.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::CliError;
use super::args::Rules;
use super::out::{ExitResult, complain, print};
use super::rule_files;
use crate::rules::explain;
use crate::rules::model::AdviceSpec;
use crate::rules::{Expired, Off, Rule, RuleSet, examples};
use crate::session;
use crate::settings::{self, Shape};
use crate::text::page::TextBuilder;

/// Lists, shows or checks.
pub(super) fn run(args: Rules) -> ExitResult {
    match args {
        Rules::List { settings: true, .. } => print(&setting_list()),
        Rules::List {
            settings: false,
            rules,
        } => {
            let rules = rule_files::rules(rules.as_deref())?;
            let code = print(&rule_list(&rules))?;
            Ok(rule_files::exit_code(code, &rules))
        }
        Rules::Show { rule, rules } => {
            let rules = rule_files::rules_with_examples(rules.as_deref())?;
            let Some(found) = rules.find(&rule) else {
                return Err(no_rule(&rules, &rule));
            };
            print(&rule_text(found, &rules))
        }
        Rules::Check { files } => {
            let found = of_files(&files)?;
            let failures = examples::run(&found.rules);
            if failures.is_empty() {
                return print(&format!("{}, no mistakes\n", found.words()));
            }
            let lines: Vec<String> = failures.iter().map(ToString::to_string).collect();
            print(&(lines.join("\n") + "\n"))?;
            Ok(1)
        }
    }
}

/// The contents of rule files.
struct Checked {
    rules: Vec<Rule>,
    levels: usize,
    off: usize,
}

impl Checked {
    /// `3 rules, 1 level given, 2 switched off`.
    fn words(&self) -> String {
        let mut words = format!("{} rules", self.rules.len());
        for (count, what) in [
            (self.levels, "given another level"),
            (self.off, "switched off"),
        ] {
            if count > 0 {
                let _ = write!(words, ", {count} {what}");
            }
        }
        words
    }
}

/// The contents of these files, checked together with the built-in ones, which they may override or
/// switch off. Parts without effect are remarked.
fn of_files(paths: &[PathBuf]) -> Result<Checked, CliError> {
    let files = rule_files::named(paths)?;
    let (rules, mut found) =
        RuleSet::in_place_of_builtin(&files.ours, &files.users, session::today());
    // Of a file that was not named, only mistakes that involve one that was.
    for file in found.iter_mut().filter(|file| !files.is_named(&file.file)) {
        file.diags.retain(|diag| {
            diag.beside
                .as_ref()
                .is_some_and(|place| files.is_named(&place.file))
        });
    }
    found.retain(|file| !file.diags.is_empty());
    let count: usize = found.iter().map(|file| file.mistakes().count()).sum();
    let text: Vec<String> = found.iter().map(|file| file.render(false)).collect();
    if count > 0 {
        let count = if count == 1 {
            "a mistake".to_owned()
        } else {
            format!("{count} mistakes")
        };
        return Err(CliError::Usage(format!(
            "{count} in rule files:\n{}",
            text.join("\n\n")
        )));
    }
    if !text.is_empty() {
        complain(&format!("no mistakes, but:\n{}", text.join("\n\n")));
    }
    let here = |name: &str| files.is_named(name);
    Ok(Checked {
        rules: rules
            .rules()
            .iter()
            .filter(|rule| here(&rule.file))
            .cloned()
            .collect(),
        levels: rules
            .overrides()
            .iter()
            .filter(|given| here(&given.file))
            .count(),
        off: rules.off().iter().filter(|off| here(&off.file)).count(),
    })
}

/// The complaint about a rule id that does not exist.
pub(super) fn no_rule(rules: &RuleSet, id: &str) -> CliError {
    let hint = rules
        .did_you_mean(id)
        .map(|hint| format!("; {hint}"))
        .unwrap_or_default();
    CliError::Usage(format!(
        "there is no rule `{id}`{hint}; `walwise rules list` shows all"
    ))
}

fn rule_list(rules: &RuleSet) -> String {
    let width = rules
        .rules()
        .iter()
        .map(|rule| rule.id.len())
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for rule in rules.rules() {
        let (level, scope, title) = (rule.level.word(), rule.scope.word(), rule.title.source());
        let _ = writeln!(out, "{:<width$}  {level:<8}  {scope:<7}  {title}", rule.id);
    }
    let _ = writeln!(
        out,
        "\n{} rules, {}",
        rules.rules().len(),
        session::pack(rules).words()
    );
    for line in changed(rules) {
        let _ = writeln!(out, "{line}");
    }
    out
}

/// The changes by the user's files.
fn changed(rules: &RuleSet) -> impl Iterator<Item = String> {
    let notes = rules
        .off()
        .iter()
        .map(Off::note)
        .chain(rules.overrides().iter().map(|given| given.note(false)));
    let notes = notes.chain(rules.expired().iter().map(Expired::note));
    notes
        .map(|note| note.to_string())
        .chain(rules.remarks().iter().cloned())
}

fn rule_text(rule: &Rule, rules: &RuleSet) -> String {
    let Rule {
        id,
        scope,
        level,
        confidence,
        since,
        checked,
        file,
        line,
        ..
    } = rule;
    let mut page = TextBuilder::default();
    page.para(0, id);
    page.para(0, &rule.title.source());
    page.gap();
    let (level, confidence) = (level.word(), confidence.word());
    page.para(
        0,
        &format!("for {scope}, {level}, {confidence}, since {since}, {file}:{line}"),
    );
    if let Some(checked) = checked {
        page.para(0, &format!("checked: {checked}"));
    }
    if let Some(given) = rules.overrides().iter().find(|given| given.rule == rule.id) {
        page.gap();
        page.para(0, &given.note(false).to_string());
    }
    page.gap();
    page.para(0, &rule.because.source());
    page.heading("Applies when");
    for line in explain::condition(&rule.when) {
        page.verbatim(2, &line);
    }
    page.heading("Sources");
    rule.refs.iter().for_each(|source| page.para(2, source));
    if !rule.evidence.is_empty() {
        page.heading("Evidence");
    }
    for evidence in &rule.evidence {
        for (line, at) in evidence.lines().iter().zip(0..) {
            page.para(if at == 0 { 2 } else { 4 }, line);
        }
    }
    if !rule.advise.is_empty() {
        page.heading("Advises");
    }
    rule.advise.iter().for_each(|one| advice(&mut page, one));
    for (title, text) in [("Remedy", &rule.remedy), ("No remedy", &rule.no_remedy)] {
        if let Some(text) = text {
            page.heading(title);
            page.para(2, &text.source());
        }
    }
    if !rule.overrides.is_empty() {
        page.heading("Overrides");
        rule.overrides.iter().for_each(|id| page.para(2, id));
    }
    page.heading("Examples");
    for example in &rule.examples {
        page.hanging(2, &format!("{:<16}", example.expect.word()), &example.name);
    }
    page.finish()
}

/// A piece of advice as written: the change, its condition, price and commands.
fn advice(page: &mut TextBuilder, advice: &AdviceSpec) {
    let (reach, risk) = (advice.reach.word(), advice.risk.word());
    let rank = advice
        .rank
        .map(|rank| format!(", choice {rank}"))
        .unwrap_or_default();
    page.para(
        2,
        &format!(
            "{}: {} ({reach}, risk {risk}{rank})",
            advice.setting.name,
            advice.change.words()
        ),
    );
    if let Some(when) = &advice.when {
        page.para(4, "only when");
        for line in explain::condition(when) {
            page.verbatim(6, &line);
        }
    }
    if let Some(price) = &advice.price {
        page.hanging(4, "price    ", &price.source());
    }
    for (word, commands) in [
        ("apply", &advice.apply),
        ("verify", &advice.verify),
        ("undo", &advice.undo),
    ] {
        for command in commands {
            page.verbatim(4, &format!("{word:<9}{}", command.source()));
        }
    }
    for own in &advice.own {
        page.verbatim(
            4,
            &format!("{:<9}{}", own.purpose.word(), own.command.source()),
        );
        page.para(
            13,
            "shown as your own, not checked by walwise, and in no script",
        );
    }
}

fn setting_list() -> String {
    let mut out = String::new();
    for setting in settings::ALL {
        let shape = match setting.shape {
            Shape::Options => "options",
            Shape::One => "one value",
        };
        let _ = writeln!(out, "{:<24}{shape:<11}{}", setting.name, setting.doc);
    }
    out
}
