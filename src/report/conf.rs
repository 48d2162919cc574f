//! What belongs into postgresql.conf, as lines to paste: the plan's server settings with their reasons.
//!
//! Settings that are right already appear as comments. The surprise: not everything under `pg.` is a line of that file;
//! checksums, for one, are chosen when a cluster is made.

use super::{Report, Step, comment};
use crate::facts::Subject;
use crate::rules::Change;

/// Settings that no line of postgresql.conf can change.
const NOT_IN_FILE: &[&str] = &["data_checksums"];

/// The lines for every target of a report.
pub fn render(report: &Report) -> String {
    let mut parts = vec![format!(
        "# walwise {} on {}, {}: for review, nothing was changed.\n",
        comment(&report.tool.version),
        comment(&report.host.name),
        comment(&report.when)
    )];
    let mut done: Vec<(&Subject, &str)> = Vec::new();
    for target in &report.targets {
        let steps = report.plan(&target.target).map(|plan| plan.steps.as_slice()).unwrap_or_default();
        let mut lines = vec![format!("\n# {}\n", comment(&target.title))];
        for step in steps {
            let key = (&step.subject, step.advice.setting.as_str());
            if let Some(line) = line(step).filter(|_| !done.contains(&key)) {
                done.push(key);
                lines.push(line);
            }
        }
        if lines.len() > 1 {
            parts.append(&mut lines);
        }
    }
    if done.is_empty() {
        parts.push("# No setting of a PostgreSQL server is part of the plan.\n".to_owned());
    }
    parts.concat()
}

/// One setting as a line; `None` when it is none of the server's.
fn line(step: &Step) -> Option<String> {
    let name = step.advice.setting.strip_prefix("pg.")?;
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !plain {
        return None;
    }
    let why = comment(&step.title);
    let note = match step.advice.risk {
        crate::rules::Risk::NeedsRestart => " (needs a restart)",
        _ => "",
    };
    match &step.advice.change {
        Change::Set(value) if NOT_IN_FILE.contains(&name) => {
            Some(format!("# {name}: {}; not a line of this file. {why}\n", comment(value)))
        }
        Change::Set(value) => Some(format!("{name} = {}   # {why}{note}\n", quoted(value))),
        Change::Keep => Some(match step.advice.current.value().map(super::plan::as_written) {
            Some(now) => format!("# {name} = {}   # already so: {why}\n", quoted(&now)),
            None => format!("# {name}   # leave it as it is: {why}\n"),
        }),
        Change::Add(_) | Change::Remove(_) | Change::Edit { .. } => None,
    }
}

/// A value as postgresql.conf wants it: words and whole numbers as they are, everything else in quotes, in which a
/// backslash would begin an escape (guc-file.l, GUC_scanstr).
fn quoted(value: &str) -> String {
    let value = comment(value);
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let number = value.chars().all(|c| c.is_ascii_digit());
    let word = value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.chars().all(bare);
    if !value.is_empty() && (number || word) {
        return value;
    }
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::rules::Level;

    #[test]
    fn values_are_quoted_as_the_server_wants() {
        assert_eq!(quoted("fdatasync"), "fdatasync");
        assert_eq!(quoted("100"), "100");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("data, wal"), "'data, wal'");
        assert_eq!(quoted("it's \\n"), "'it''s \\\\n'");
        assert_eq!(quoted("10ms"), "'10ms'");
    }

    #[test]
    fn the_plan_becomes_lines_and_nothing_else_does() {
        let change = |setting: &str, value: &str| sample::advice(setting, Change::Set(value.to_owned()));
        let mut report = sample::at_risk();
        let plan = report.plans.first_mut().unwrap();
        let mut step = plan.steps.first().unwrap().clone();
        step.title = "why\nmax_connections = 9999".to_owned();
        for advice in [change("pg.fsync", "on"), change("pg.data_checksums", "on"), change("pg.a b", "1")] {
            step.advice = advice;
            step.level = Level::Critical;
            plan.steps.push(step.clone());
        }
        let text = render(&report);
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
        assert_eq!(lines, ["fsync = on   # why?max_connections = 9999"]);
        assert!(text.contains("# wal_sync_method = fdatasync   # already so:"), "{text}");
        assert!(!text.contains("commit_delay"), "an option is no part of the plan");
    }
}
