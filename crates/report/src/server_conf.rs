//! The plan's server settings as a configuration file to include or paste, with their reasons.
//!
//! If all servers are MySQL or MariaDB, the file is an option group `[mysqld]`. Otherwise it has
//! lines for postgresql.conf, with MySQL and MariaDB settings as comments. Settings that need no
//! change are comments, too. Each setting names the source of its present value, because a line has
//! no effect if another source overrides it. Settings that initdb chooses, such as checksums, have
//! no line.

use std::collections::BTreeSet;

use super::export::report_origin_text;
use super::{Report, Step, setting_source};
use walwise_judge::rules::{Change, Risk};
use walwise_model::escape::{self, comment};
use walwise_model::facts::catalog::cluster::KIND;
use walwise_model::facts::catalog::postgres::WAL_SYNC_METHOD;
use walwise_model::facts::catalog::probe;
use walwise_model::facts::{ConfigFileSyntax, NoteKind, Scope, ServerKind, Subject};
use walwise_model::settings::{self, Setting, SettingKind};

pub fn render(report: &Report) -> String {
    let mut parts = vec![format!(
        "# {}: for review; nothing was changed.\n",
        report_origin_text(report)
    )];
    let form = common_server_file_syntax(report);
    if form == ConfigFileSyntax::OptionFile {
        parts.push(option_file_header(report));
    }
    let missing = report
        .warnings
        .iter()
        .filter(|note| note.kind == NoteKind::NotMeasured);
    parts.push(comment::comment_lines(missing.map(ToString::to_string)));
    let mut done: Vec<(&Subject, &Setting)> = Vec::new();
    let mut open: Vec<&Subject> = Vec::new();
    for target in &report.targets {
        let steps = report.steps(&target.target);
        let mut lines = vec![format!(
            "\n# {}\n",
            comment::replace_unsafe_chars(&target.title)
        )];
        for step in steps {
            let key = (&step.subject, step.advice.setting);
            if let Some(line) = setting_line(step, form).filter(|_| !done.contains(&key)) {
                done.push(key);
                lines.push(current_value_comments(step));
                lines.push(line);
            }
        }
        if let Some(cluster) = target
            .cluster
            .as_ref()
            .filter(|cluster| !open.contains(cluster))
        {
            open.push(cluster);
            lines.extend(unadvised_sync_method_comment(report, cluster));
        }
        if lines.len() > 1 {
            parts.append(&mut lines);
        }
    }
    let changes = report
        .plans
        .iter()
        .flat_map(|plan| &plan.steps)
        .any(|step| !step.keeps_setting() && is_file_setting(step.advice.setting.kind));
    if !changes {
        parts.push("# No database settings to change.\n".to_owned());
    }
    parts.concat()
}

/// The syntax that all servers share, or PostgreSQL's if the servers differ or no server is known.
fn common_server_file_syntax(report: &Report) -> ConfigFileSyntax {
    let mut syntaxes = target_clusters(report)
        .map(|cluster| report.facts.database_profile_or_postgres(cluster).syntax);
    let first = syntaxes.next().unwrap_or(ConfigFileSyntax::PostgresConf);
    if syntaxes.all(|other| other == first) {
        first
    } else {
        ConfigFileSyntax::PostgresConf
    }
}

fn target_clusters(report: &Report) -> impl Iterator<Item = &Subject> {
    report
        .targets
        .iter()
        .filter_map(|target| target.cluster.as_ref())
}

fn option_file_header(report: &Report) -> String {
    let servers: BTreeSet<&Subject> = target_clusters(report).collect();
    let several = if servers.len() > 1 {
        "# These lines are for several servers; copy to each server only its own lines.\n"
    } else {
        ""
    };
    format!("{several}{OPTION_FILE_HEADER}")
}

const OPTION_FILE_HEADER: &str = "\
    # Save this file in a directory that an option file includes (!includedir), or add an !include line at the end of\n\
    # an option file. The last setting takes effect.\n\
    # The server reads this file at startup; for a running server, use the commands in the plan.\n\
    [mysqld]\n";

/// The WAL sync method as a comment, with the reason why there is no advice. `None` if the plan has
/// advice, and for servers other than PostgreSQL.
fn unadvised_sync_method_comment(report: &Report, cluster: &Subject) -> Option<String> {
    let setting = settings::find_by_fact(&WAL_SYNC_METHOD)?;
    let mut steps = report.plans.iter().flat_map(|plan| &plan.steps);
    let is_told = steps.any(|step| step.subject == *cluster && step.advice.setting == setting);
    if is_told
        || !report
            .facts
            .value(cluster, &KIND)
            .is_some_and(ServerKind::is_postgres)
    {
        return None;
    }
    let place = report.facts.applicable_subject(cluster, Scope::Target);
    let is_measured =
        place.is_some_and(|place| report.facts.value(&place, &probe::OUTCOME).is_some());
    let why = if is_measured {
        "no advice: the measurement shows no faster method"
    } else {
        "no advice: not measured here"
    };
    let (name, now) = (
        setting.name_without_area(),
        report.facts.reading_by_name(cluster, setting.name),
    );
    let value = now
        .value()
        .map(|value| {
            let value = quote_postgres_conf_value(&setting.format_config_value(value));
            format!(" = {value}")
        })
        .unwrap_or_default();
    Some(comment::comment_lines([
        format!(
            "now: {}",
            setting_source::format_value_with_source(setting, now)
        ),
        format!("{name}{value}   # {why}"),
    ]))
}

fn current_value_comments(step: &Step) -> String {
    let now = format!(
        "now: {}",
        setting_source::current_value_with_source(&step.advice)
    );
    let stronger = (!step.keeps_setting())
        .then(|| setting_source::value_origin(&step.advice).override_instruction("this file"));
    comment::comment_lines([now].into_iter().chain(stronger.flatten()))
}

/// A MySQL setting in postgresql.conf is a comment, because the setting belongs in an option file.
/// `None` if the setting belongs to no server, or the change is no single value.
fn setting_line(step: &Step, form: ConfigFileSyntax) -> Option<String> {
    let setting = step.advice.setting;
    let syntax = setting.kind.server_area()?.database_profile().syntax;
    let is_other_file = syntax != ConfigFileSyntax::PostgresConf && syntax != form;
    let name = setting.name_without_area();
    let why = comment::replace_unsafe_chars(&step.title);
    let quote = |value: &str| match syntax {
        ConfigFileSyntax::PostgresConf => quote_postgres_conf_value(value),
        ConfigFileSyntax::OptionFile => {
            escape::mysql::quote_mysql_option_value(&setting.format_with_unit(value))
        }
    };
    Some(match &step.advice.change {
        Change::Set(value) if is_other_file => format!(
            "# my.cnf, [mysqld]: {name} = {}   # {why}\n",
            comment::replace_unsafe_chars(&setting.format_with_unit(value))
        ),
        Change::Set(value) if !is_file_setting(setting.kind) => format!(
            "# {name}: {} (cannot be set in this file). {why}\n",
            comment::replace_unsafe_chars(value)
        ),
        Change::Set(value) => {
            let note = if step.advice.risk == Risk::NeedsRestart {
                " (needs a restart)"
            } else {
                ""
            };
            format!("{name} = {}   # {why}{note}\n", quote(value))
        }
        Change::Keep if is_other_file => format!("# my.cnf: {name}   # no change: {why}\n"),
        Change::Keep if !is_file_setting(setting.kind) => {
            format!("# {name}: no change (cannot be set in this file). {why}\n")
        }
        Change::Keep => {
            let now = step
                .advice
                .current
                .value()
                .map(|now| format!(" = {}", quote(&setting.format_config_value(now))));
            format!("# {name}{}   # no change: {why}\n", now.unwrap_or_default())
        }
        Change::Add(_) | Change::Remove(_) | Change::Edit { .. } => return None,
    })
}

/// True for settings in a configuration file, unlike those that initdb chooses, such as checksums.
fn is_file_setting(kind: SettingKind) -> bool {
    matches!(kind, SettingKind::Postgres | SettingKind::Mysql)
}

/// Formats a value for postgresql.conf. Words and whole numbers stay bare; other values are quoted,
/// with backslashes doubled (guc-file.l, GUC_scanstr).
pub(crate) fn quote_postgres_conf_value(value: &str) -> String {
    let value = comment::replace_unsafe_chars(value);
    let is_number = value.chars().all(|c| c.is_ascii_digit());
    let is_word = value.starts_with(|c: char| c.is_ascii_alphabetic())
        && value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !value.is_empty() && (is_number || is_word) {
        return value;
    }
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TargetSummary, sample_reports};
    use walwise_judge::rules::{Advice, Level};
    use walwise_model::facts::{Note, Reading, ServerArea, Source, Value};

    #[test]
    fn postgres_values_are_quoted() {
        assert_eq!(quote_postgres_conf_value("fdatasync"), "fdatasync");
        assert_eq!(quote_postgres_conf_value("100"), "100");
        assert_eq!(quote_postgres_conf_value(""), "''");
        assert_eq!(quote_postgres_conf_value("data, wal"), "'data, wal'");
        assert_eq!(quote_postgres_conf_value("it's \\n"), "'it''s \\\\n'");
        assert_eq!(quote_postgres_conf_value("10ms"), "'10ms'");
    }

    #[test]
    fn only_plan_settings_become_active_lines() {
        let change = |setting: &str, value: &str| {
            sample_reports::advice_without_current_value(setting, Change::Set(value.to_owned()))
        };
        let mut report = sample_reports::at_risk();
        let plan = report.plans.first_mut().unwrap();
        let mut step = plan.steps.first().unwrap().clone();
        step.title = "why\nmax_connections = 9999".to_owned();
        for advice in [change("pg.fsync", "on"), change("pg.data_checksums", "on")] {
            step.advice = advice;
            step.level = Level::Critical;
            plan.steps.push(step.clone());
        }
        let mut keep = step.clone();
        keep.advice =
            sample_reports::advice_without_current_value("pg.data_checksums", Change::Keep);
        keep.subject = Subject::cluster("postgres /kept");
        plan.steps.push(keep);
        let text = render(&report);
        assert!(
            !text.contains("data_checksums ="),
            "it can be set nowhere: {text}"
        );
        assert!(
            text.contains("# data_checksums: no change (cannot be set in this file)."),
            "{text}"
        );
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .collect();
        assert_eq!(lines, ["fsync = on   # why?max_connections = 9999"]);
        assert!(
            text.contains("# wal_sync_method = fdatasync   # no change:"),
            "{text}"
        );
        assert!(
            !text.contains("commit_delay"),
            "an option is no part of the plan"
        );
    }

    #[test]
    fn sync_method_without_advice_states_reason() {
        let mut report = sample_reports::at_risk();
        for plan in &mut report.plans {
            plan.steps
                .retain(|step| step.advice.setting.name != "pg.wal_sync_method");
        }
        let told = "# now: fdatasync, set in /srv/pg/15/main/postgresql.conf:211\n\
            # wal_sync_method = fdatasync   # no advice: ";
        let target = report.targets.first().unwrap();
        let (place, cluster) = (target.target.clone(), target.cluster.clone().unwrap());
        report.facts.insert_known(
            &cluster,
            &KIND,
            ServerKind::Postgres,
            Source::from_file("/srv/pg/15/main"),
        );
        report.facts.remove_facts(&place);
        let text = render(&report);
        assert!(text.contains(&format!("{told}not measured here")), "{text}");
        let outcome = Reading::known(
            probe::ComparisonConclusion::NotSettled,
            Source::Probe {
                id: "commit".to_owned(),
            },
        );
        report.facts.insert(&place, &probe::OUTCOME, outcome);
        let text = render(&report);
        assert!(
            text.contains(&format!("{told}the measurement shows no faster method")),
            "{text}"
        );
        assert_eq!(text.matches("wal_sync_method").count(), 1, "{text}");
    }

    #[test]
    fn lines_name_source_of_current_value() {
        let change =
            sample_reports::advice_without_current_value("pg.fsync", Change::Set("on".to_owned()));
        for (file, told) in [
            (
                "/etc/pg/10-old.conf",
                "# now: off, set in /etc/pg/10-old.conf:1\nfsync = on ",
            ),
            (
                "/srv/pg/postgresql.auto.conf",
                "# now: off, set in /srv/pg/postgresql.auto.conf:1\n\
                 # ALTER SYSTEM overrides this file: use ALTER SYSTEM SET or RESET\nfsync = on ",
            ),
            (
                "/proc/10/cmdline",
                "# now: off, set in /proc/10/cmdline:1\n\
                 # the server's command line overrides files: change the option there and restart\nfsync = on ",
            ),
        ] {
            let mut report = sample_reports::at_risk();
            let step = report.plans.first_mut().unwrap().steps.first_mut().unwrap();
            step.advice.clone_from(&change);
            step.advice.current =
                Reading::known(Value::Bool(false), Source::from_file_line(file, 1));
            let text = render(&report);
            assert!(text.contains(told), "{text}");
            let kept = "# now: fdatasync, set in /srv/pg/15/main/postgresql.conf:211\n# wal_sync_method = fdatasync ";
            assert!(text.contains(kept), "{text}");
        }
    }

    fn mysql_report(places: &[&str]) -> Report {
        let mut report = sample_reports::at_risk();
        let plan = report.plans.first_mut().unwrap();
        let (first, target) = (
            plan.steps.first().unwrap().clone(),
            report.targets.first().unwrap().clone(),
        );
        plan.steps.clear();
        report.targets.clear();
        for place in places {
            let cluster = Subject::cluster(*place);
            report.facts.set_server_area(&cluster, ServerArea::Mysql);
            report.targets.push(TargetSummary {
                cluster: Some(cluster.clone()),
                ..target.clone()
            });
            let step = |setting, change, now: u64| Step {
                subject: cluster.clone(),
                title: "why\n[client]".to_owned(),
                advice: Advice {
                    current: Reading::known(
                        Value::Whole(now),
                        Source::from_file_line("/etc/mysql/my.cnf", 3),
                    ),
                    risk: Risk::None,
                    ..sample_reports::advice_without_current_value(setting, change)
                },
                ..first.clone()
            };
            plan.steps
                .push(step("mysql.sync_binlog", Change::Set("1".to_owned()), 0));
            plan.steps.push(step(
                "mysql.innodb_flush_log_at_trx_commit",
                Change::Keep,
                1,
            ));
        }
        report
    }

    #[test]
    fn mysql_targets_get_an_option_file() {
        let text = render(&mysql_report(&["/var/lib/mysql"]));
        let group = "# The server reads this file at startup; for a running server, use the commands in the plan.\n[mysqld]\n\n# ";
        assert!(text.contains(group), "{text}");
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .collect();
        assert_eq!(lines, ["[mysqld]", "sync_binlog = 1   # why?[client]"]);
        assert!(
            text.contains("# now: 0, set in /etc/mysql/my.cnf:3\nsync_binlog"),
            "{text}"
        );
        assert!(
            text.contains("# innodb_flush_log_at_trx_commit = 1   # no change: why"),
            "{text}"
        );
        assert!(!text.contains("several servers"), "{text}");
        assert!(render(&mysql_report(&["/a", "/b"])).contains("copy to each server only its own"));
    }

    #[test]
    fn mysql_settings_beside_postgres_are_comments() {
        let mut report = mysql_report(&["/var/lib/mysql"]);
        report.targets.extend(sample_reports::at_risk().targets);
        let text = render(&report);
        assert!(
            text.contains("# my.cnf, [mysqld]: sync_binlog = 1   # why"),
            "{text}"
        );
        assert!(!text.lines().any(|line| line.starts_with('[')), "{text}");
    }

    #[test]
    fn missing_measurement_is_noted() {
        let mut report = sample_reports::free_disk();
        report.warnings.push(Note::new(
            NoteKind::NotMeasured,
            "not measured: the directory\nis full",
        ));
        let text = render(&report);
        assert!(
            text.contains("\n# not measured: the directory?is full\n"),
            "{text}"
        );
        assert!(!text.contains("malformed"), "{text}");
    }
}
