//! The part of a script for mounted file systems: every command a comment, in order of application.

use super::remark::{commented, nothing};
use crate::facts::SettingSyntax;
use crate::report::origin::{self, Stronger};
use crate::report::{Report, Step, TargetSummary, conf};
use crate::rules::{OwnCommand, Risk};

/// The steps of a target's plan.
pub fn part(report: &Report, target: &TargetSummary) -> String {
    let steps = report.plan(&target.target).map(|plan| plan.steps.as_slice()).unwrap_or_default();
    let mut out = String::new();
    for (number, step) in (1..).zip(steps.iter().filter(|step| !step.keeps())) {
        out.push_str(&one(number, step));
    }
    if out.is_empty() {
        return nothing(target);
    }
    format!("# Remove the # before the commands that you want to run.\n{out}")
}

/// The loss or danger of a step, if any.
fn danger(step: &Step) -> Option<&'static str> {
    match step.advice.risk {
        Risk::NeedsNewFilesystem => {
            Some("DESTROYS what is on the file system: data must be copied away first")
        }
        Risk::DataLossIfWrong => Some("COMMITTED DATA MAY BE LOST if a fact is wrong"),
        Risk::NeedsUnmount => Some("UNMOUNTS the file system: stop the server first"),
        Risk::NeedsRemount if unmounts(step) => Some("UNMOUNTS the file system: stop the server first"),
        _ => None,
    }
}

fn unmounts(step: &Step) -> bool {
    step.advice.apply.iter().any(|command| command.as_str().starts_with("umount "))
}

pub fn one(number: usize, step: &Step) -> String {
    let advice = &step.advice;
    let mut lines = vec![
        format!(
            "{number}. {}: {} of {}: {}",
            step.level.word(),
            advice.setting,
            step.subject,
            advice.change.words()
        ),
        step.title.clone(),
    ];
    lines.extend(step.result.as_ref().map(|result| format!("becomes: {result}")));
    lines.extend(danger(step).map(|danger| format!("!!!! {danger} !!!!")));
    let server = server(step);
    let by_hand = advice.apply.is_empty() && advice.own.is_empty() && server.is_empty();
    lines.extend(server);
    for (title, commands) in advice.commands() {
        lines.extend((!commands.is_empty()).then(|| format!("{title}:")));
        lines.extend(commands.iter().map(|command| format!("  {command}")));
    }
    lines.extend(advice.own.iter().map(left_out));
    if by_hand {
        lines.push("by hand: no command does this".to_owned());
    }
    format!("\n{}", commented(&lines.join("\n")))
}

/// A statement that a command is omitted, without the command.
fn left_out(own: &OwnCommand) -> String {
    let OwnCommand { purpose, file, line, .. } = own;
    format!(
        "{}: your own command, of {file}:{line}, is left out: it is not checked by walwise",
        purpose.word()
    )
}

/// The place of a server's setting, and how to change it; empty for other settings.
fn server(step: &Step) -> Vec<String> {
    let advice = &step.advice;
    match advice.setting.kind.area().map(|area| area.database().syntax) {
        None => Vec::new(),
        Some(SettingSyntax::Conf) => postgres(step),
        Some(SettingSyntax::Options) => mysql(step),
    }
}

/// The statement that changes it, where one does.
fn postgres(step: &Step) -> Vec<String> {
    let advice = &step.advice;
    let mut lines = vec![format!("now: {}", origin::now(advice))];
    match (origin::stronger(advice), conf::statement(advice.setting, &advice.change)) {
        (Some(Stronger::CommandLine), _) => lines.push(Stronger::CommandLine.says("files")),
        (_, Some(statement)) if advice.risk == Risk::NeedsRestart => {
            lines.extend(["in psql, then restart the server:".to_owned(), format!("  {statement}")]);
        }
        (_, Some(statement)) => {
            lines.extend(["in psql:".to_owned(), format!("  {statement} SELECT pg_reload_conf();")]);
        }
        (_, None) => lines.push("by hand: no command does this".to_owned()),
    }
    lines
}

/// What wins over an option file; the commands of the advice say the rest.
fn mysql(step: &Step) -> Vec<String> {
    let advice = &step.advice;
    let stronger = origin::stronger(advice).map(|stronger| stronger.says("option files"));
    let is_by_hand = advice.apply.is_empty() && advice.own.is_empty();
    let by_hand = is_by_hand.then(|| "by hand: no command does this".to_owned());
    [format!("now: {}", origin::now(advice))].into_iter().chain(stronger).chain(by_hand).collect()
}
