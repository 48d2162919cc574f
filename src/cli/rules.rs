//! `walwise rules`: lists, shows and checks rules.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::CliError;
use super::args::RulesCommand;
use super::out::{ExitResult, print_document, print_error};
use super::rule_files;
use crate::rules::explain;
use crate::rules::model::AdviceSpec;
use crate::rules::{
    DisabledRule, ExampleLoading, ExpiredRuleOverride, Risk, Rule, RuleSet, examples,
};
use crate::session;
use crate::settings::{self, ValueShape};
use crate::text::page_layout::TextPage;
use walwise_model::text::JoinText as _;

pub(super) fn run(args: RulesCommand) -> ExitResult {
    match args {
        RulesCommand::List { settings: true, .. } => print_document(&settings_list_text()),
        RulesCommand::List {
            settings: false,
            rules,
        } => {
            let rules = rule_files::load_rules_in_force(rules.as_deref())?;
            let code = print_document(&rules_list_text(&rules))?;
            Ok(rule_files::print_rule_warnings_and_exit_code(code, &rules))
        }
        RulesCommand::Show { rule, rules } => {
            let rules = rule_files::load_rules(rules.as_deref(), ExampleLoading::Read)?;
            let Some(found) = rules.find(&rule) else {
                return Err(unknown_rule_error(&rules, &rule));
            };
            print_document(&rule_text(found, &rules))
        }
        RulesCommand::Check { files } => {
            let (rules, counts) = check_rule_files(&files)?;
            let failures = examples::failures_of_rule_examples(&rules);
            if failures.is_empty() {
                return print_document(&format!("{counts}, no errors\n"));
            }
            let lines = failures.iter().map(|failure| format!("{failure}\n"));
            print_document(&lines.collect::<String>())?;
            Ok(1)
        }
    }
}

/// The rules in the files, and a text that counts these rules and the changes of other rules.
fn check_rule_files(paths: &[PathBuf]) -> Result<(Vec<Rule>, String), CliError> {
    let files = rule_files::read_selected_rule_files(paths)?;
    let (rules, mut found) =
        RuleSet::with_replaced_builtin(&files.ours, &files.users, session::today_utc());
    // For a file that the user did not name, only conflicts with a named file are reported.
    for file in found
        .iter_mut()
        .filter(|file| !files.is_file_named_by_user(&file.file))
    {
        file.diags.retain(|diag| {
            diag.other_place
                .as_ref()
                .is_some_and(|place| files.is_file_named_by_user(&place.file))
        });
    }
    found.retain(|file| !file.diags.is_empty());
    let count: usize = found.iter().map(|file| file.mistakes().count()).sum();
    let text = found.iter().map(|file| file.render(false));
    let text = text.join_with("\n\n");
    if count > 0 {
        let count = if count == 1 {
            "an error".to_owned()
        } else {
            format!("{count} errors")
        };
        return Err(CliError::Usage(format!("{count} in rule files:\n{text}")));
    }
    if !text.is_empty() {
        print_error(&format!("no errors, but note:\n{text}"));
    }
    let here = |name: &str| files.is_file_named_by_user(name);
    let own = rules.rules().iter().filter(|rule| here(&rule.file));
    let own: Vec<Rule> = own.cloned().collect();
    let levels = rules.level_overrides().iter();
    let disabled = rules.disabled_rules().iter();
    let mut counts = format!("{} rules", own.len());
    for (count, what) in [
        (
            levels.filter(|given| here(&given.file)).count(),
            "with a changed level",
        ),
        (
            disabled.filter(|off| here(&off.file)).count(),
            "switched off",
        ),
    ] {
        if count > 0 {
            let _ = write!(counts, ", {count} {what}");
        }
    }
    Ok((own, counts))
}

pub(super) fn unknown_rule_error(rules: &RuleSet, id: &str) -> CliError {
    let hint = rules.similar_rule_id_hint(id);
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    CliError::Usage(format!(
        "no rule `{id}`{hint}; `walwise rules list` lists all"
    ))
}

fn rules_list_text(rules: &RuleSet) -> String {
    let widths = rules.rules().iter().map(|rule| rule.id.len());
    let width = widths.max().unwrap_or(0);
    let mut out = String::new();
    for rule in rules.rules() {
        let (level, scope, title) = (
            rule.level.as_str(),
            rule.scope.as_str(),
            rule.title.text_without_subject(),
        );
        let _ = writeln!(out, "{:<width$}  {level:<8}  {scope:<7}  {title}", rule.id);
    }
    let _ = writeln!(
        out,
        "\n{} rules, {}",
        rules.rules().len(),
        session::build_rule_pack(rules).version_and_short_fingerprint()
    );
    for line in rule_override_notes_and_remarks(rules) {
        let _ = writeln!(out, "{line}");
    }
    out
}

fn rule_override_notes_and_remarks(rules: &RuleSet) -> impl Iterator<Item = String> {
    let disabled = rules.disabled_rules().iter();
    let changed = rules.level_overrides().iter();
    let expired = rules.expired_overrides().iter();
    disabled
        .map(DisabledRule::to_disabled_note)
        .chain(changed.map(|given| given.to_level_changed_note(false)))
        .chain(expired.map(ExpiredRuleOverride::to_expired_note))
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
    let mut page = TextPage::default();
    page.append_paragraph(0, id);
    page.append_paragraph(0, &rule.title.as_written());
    page.ensure_blank_line();
    let (level, confidence) = (level.as_str(), confidence.as_str());
    page.append_paragraph(
        0,
        &format!("for {scope}, {level}, {confidence}, since {since}, {file}:{line}"),
    );
    if let Some(checked) = checked {
        page.append_paragraph(0, &format!("sources checked: {checked}"));
        if let Some(fields) = &checked.fields {
            page.append_paragraph(0, &format!("fields checked: {fields}"));
        }
    }
    if let Some(given) = rules
        .level_overrides()
        .iter()
        .find(|given| given.rule == rule.id)
    {
        page.ensure_blank_line();
        page.append_paragraph(0, &given.to_level_changed_note(false).to_string());
    }
    page.ensure_blank_line();
    page.append_paragraph(0, &rule.because.as_written());
    page.append_heading("Applies when");
    for line in explain::condition_tree_lines(&rule.when) {
        page.append_verbatim_line(2, &line);
    }
    page.append_heading("Sources");
    rule.refs
        .iter()
        .for_each(|source| page.append_paragraph(2, source));
    if !rule.evidence.is_empty() {
        page.append_heading("Evidence");
    }
    for evidence in &rule.evidence {
        for (line, at) in evidence.measurement_lines().iter().zip(0..) {
            page.append_paragraph(if at == 0 { 2 } else { 4 }, line);
        }
    }
    if !rule.advise.is_empty() {
        page.append_heading("Advises");
    }
    rule.advise
        .iter()
        .for_each(|one| push_advice(&mut page, one));
    for (title, text) in [("Fix", &rule.remedy), ("No fix", &rule.no_remedy)] {
        if let Some(text) = text {
            page.append_heading(title);
            page.append_paragraph(2, &text.as_written());
        }
    }
    if !rule.overrides.is_empty() {
        page.append_heading("Overrides");
        rule.overrides
            .iter()
            .for_each(|id| page.append_paragraph(2, id));
    }
    page.append_heading("Examples");
    for example in &rule.examples {
        page.append_hanging_paragraph(
            2,
            &format!("{:<16}", example.expect.as_str()),
            &example.name,
        );
    }
    page.into_text()
}

fn push_advice(page: &mut TextPage, advice: &AdviceSpec) {
    let reach = advice.reach.as_str();
    let interrupts = advice.risk.interruption_word();
    let loss = if advice.risk == Risk::DataLossIfWrong {
        "; can lose data if wrong"
    } else {
        ""
    };
    let rank = advice.rank;
    let rank = rank.map_or_else(String::new, |rank| format!("; choice {rank}"));
    page.append_paragraph(
        2,
        &format!(
            "{}: {} ({reach}; interrupts: {interrupts}{loss}{rank})",
            advice.setting.name,
            advice.advised_change_text()
        ),
    );
    if let Some(when) = &advice.when {
        page.append_paragraph(4, "only when");
        for line in explain::condition_tree_lines(when) {
            page.append_verbatim_line(6, &line);
        }
    }
    if let Some(price) = &advice.tradeoff {
        page.append_hanging_paragraph(4, "trade-off ", &price.as_written());
    }
    for (word, commands) in [
        ("apply", &advice.apply),
        ("verify", &advice.verify),
        ("undo", &advice.undo),
    ] {
        for command in commands {
            page.append_verbatim_line(4, &format!("{word:<10}{}", command.as_written()));
        }
    }
    for own in &advice.user_commands {
        page.append_verbatim_line(
            4,
            &format!("{:<10}{}", own.purpose.as_str(), own.command.as_written()),
        );
        page.append_paragraph(
            14,
            "your own command: walwise does not check it or include it in scripts",
        );
    }
}

fn settings_list_text() -> String {
    let mut out = String::new();
    for setting in settings::ALL.iter() {
        let shape = match setting.shape {
            ValueShape::Options => "options",
            ValueShape::Single => "one value",
        };
        let _ = writeln!(out, "{:<24}{shape:<11}{}", setting.name, setting.doc);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_shown_with_condition_and_sources() {
        let rules = RuleSet::builtin();
        for rule in rules.rules() {
            let text = rule_text(rule, &rules);
            let complete = text.contains("Applies when") && text.contains("Sources");
            assert!(text.starts_with(&rule.id) && complete, "{text}");
        }
    }
}
