//! Commands that change, verify and undo a setting of PostgreSQL: ALTER SYSTEM, then a reload or
//! restart. If the command line sets the value, or the server is stopped, shell comments name the
//! line to change by hand.
//!
//! ALTER SYSTEM writes postgresql.auto.conf, which overrides every other file (PostgreSQL manual,
//! *Setting Parameters*). The statement exists since PostgreSQL 9.4, the oldest release in the
//! table of servers.

use super::server_conf::quote_postgres_conf_value;
use super::setting_source::{self, ValueOrigin};
use walwise_judge::rules::{Advice, Change, Risk};
use walwise_model::escape::{ShellCommand, comment};
use walwise_model::facts::catalog::postgres::DATA_CHECKSUMS;
use walwise_model::facts::catalog::{host, postgres};
use walwise_model::facts::{FactSet, ServerArea, Source, Subject};
use walwise_model::settings::{self, SettingKind};

/// Adds commands to advice on PostgreSQL settings, and completes the psql commands of rules.
pub fn add_postgres_commands(advice: &mut Advice, facts: &FactSet, cluster: Option<&Subject>) {
    let server = cluster.map(|cluster| PostgresServer::from_facts(facts, cluster));
    if let Some(server) = &server {
        let commands = [&mut advice.apply, &mut advice.verify, &mut advice.undo];
        for command in commands.into_iter().flatten() {
            // A rule's psql command names no server.
            let complete = |statement| {
                let psql = server.psql_command(&[])?.append_literal(" ");
                Some(psql.append_rule_text(statement))
            };
            if let Some(whole) = command.as_str().strip_prefix("psql ").and_then(complete) {
                *command = whole;
            }
        }
    }
    if advice.setting.kind.server_area() != Some(ServerArea::Pg) {
        return;
    }
    match server {
        Some(server) => server.fill_in_advice_commands(advice),
        None if is_set_by_initdb(advice) => {}
        None => add_new_server_conf_comment(advice),
    }
}

fn is_set_by_initdb(advice: &Advice) -> bool {
    advice.setting.kind == SettingKind::InitDb
}

fn add_new_server_conf_comment(advice: &mut Advice) {
    if let (Change::Set(value), true) = (&advice.change, advice.apply.is_empty()) {
        let line = format!(
            "{} = {}",
            advice.setting.name_without_area(),
            quote_postgres_conf_value(value)
        );
        advice.apply = vec![ShellCommand::from_comment(&format!(
            "in postgresql.conf of the new server: {line}"
        ))];
    }
}

struct PostgresServer {
    /// The user to switch to if walwise runs as root, because peer authentication rejects root.
    runs_as: Option<String>,
    owner: Option<String>,
    socket_directory: Option<String>,
    port: Option<u64>,
    config_file: Option<String>,
    data_directory: Option<String>,
    /// The major version, which is part of the path of the server's programs.
    major: Option<u64>,
    is_stopped: bool,
}

/// The socket directories compiled into the clients of Debian and Red Hat.
const DEFAULT_SOCKETS: [&str; 2] = ["/var/run/postgresql", "/run/postgresql"];
const DEFAULT_PORT: u64 = 5432;
/// psql connects to a database named after the user, so any other user needs `-d postgres`.
const DEFAULT_OWNER: &str = "postgres";

impl PostgresServer {
    fn from_facts(facts: &FactSet, of: &Subject) -> Self {
        let owner = facts.value(of, &postgres::USER);
        let is_root = facts.host_value(&host::PRIVILEGED) == Some(true);
        Self {
            runs_as: owner.clone().filter(|_| is_root),
            owner,
            socket_directory: facts.value(of, &postgres::SOCKET_DIRECTORY),
            port: facts.value(of, &postgres::PORT),
            config_file: facts.value(of, &postgres::CONFIG_FILE),
            data_directory: facts.value(of, &postgres::DATA),
            major: facts
                .value(of, &postgres::VERSION)
                .map(|version| version.number(0)),
            is_stopped: facts.value(of, &postgres::RUNNING) == Some(false),
        }
    }

    fn fill_in_advice_commands(&self, advice: &mut Advice) {
        let Some((value, now)) = setting_source::value_change(advice) else {
            return;
        };
        let has_none = advice.apply.is_empty() && advice.undo.is_empty();
        if has_none && settings::find_by_fact(&DATA_CHECKSUMS) == Some(advice.setting) {
            advice.apply = self.pg_checksums_commands(" --enable --progress -D ");
            advice.undo = self.pg_checksums_commands(" --disable -D ");
        } else if has_none && !is_set_by_initdb(advice) {
            let is_fixed = setting_source::value_origin(advice) == ValueOrigin::CommandLine;
            (advice.apply, advice.undo) = if self.is_stopped || is_fixed {
                (
                    self.config_file_edit_comments(advice, Some(&value)),
                    self.config_file_edit_comments(advice, now.as_deref()),
                )
            } else {
                (
                    self.statement_commands(advice, &alter_system_statement(advice, &value)),
                    self.commands_to_undo(advice, now.as_deref()),
                )
            };
        }
        if advice.verify.is_empty() && !self.is_stopped {
            let show = format!("SHOW {}", advice.setting.name_without_area());
            advice.verify.extend(self.psql_command(&[&show]));
        }
    }

    /// The commands that restore the old value: ALTER SYSTEM SET if the present value comes, or may
    /// come, from ALTER SYSTEM, and ALTER SYSTEM RESET otherwise.
    fn commands_to_undo(&self, advice: &Advice, now: Option<&str>) -> Vec<ShellCommand> {
        let name = advice.setting.name_without_area();
        let reset = format!("ALTER SYSTEM RESET {name}");
        let set = |now| self.statement_commands(advice, &alter_system_statement(advice, now));
        match (setting_source::value_origin(advice), now) {
            (ValueOrigin::AlterSystem, Some(now)) => set(now),
            (ValueOrigin::ServerOrUnknown, Some(now)) => {
                let says = format!(
                    "an earlier ALTER SYSTEM SET {name} cannot be detected; if there was none, run: {reset}"
                );
                let mut commands = vec![ShellCommand::from_comment(&says)];
                commands.extend(set(now));
                commands
            }
            _ => self.statement_commands(advice, &reset),
        }
    }

    fn statement_commands(&self, advice: &Advice, sql: &str) -> Vec<ShellCommand> {
        let needs_restart = advice.risk >= Risk::NeedsRestart;
        let reload = (!needs_restart).then_some("SELECT pg_reload_conf()");
        let statements: Vec<&str> = [sql].into_iter().chain(reload).collect();
        let restart = needs_restart.then(|| ShellCommand::from_comment("then restart the server"));
        self.psql_command(&statements)
            .into_iter()
            .chain(restart)
            .collect()
    }

    /// Shell comments that name the file and line to change by hand. `value` is `None` if the
    /// earlier value is unknown.
    fn config_file_edit_comments(&self, advice: &Advice, value: Option<&str>) -> Vec<ShellCommand> {
        let name = advice.setting.name_without_area();
        let Some(value) = value else {
            return vec![ShellCommand::from_comment(&format!(
                "the old value of {name} is unknown"
            ))];
        };
        let place = if setting_source::value_origin(advice) == ValueOrigin::CommandLine {
            format!(
                "on the command line of the server, which overrides ALTER SYSTEM: -c {name}={value}"
            )
        } else {
            let file = match (advice.current.source(), &self.config_file) {
                (Some(source @ Source::File { .. }), _) => format!("at {source}"),
                (_, Some(file)) => format!("in {file}"),
                (_, None) => "in postgresql.conf".to_owned(),
            };
            format!("{file}: {name} = {}", quote_postgres_conf_value(value))
        };
        let then = if self.is_stopped {
            "then start the server"
        } else {
            "then restart the server"
        };
        vec![
            ShellCommand::from_comment(&place),
            ShellCommand::from_comment(then),
        ]
    }

    /// The commands that run pg_checksums as the server's user, because pg_checksums rejects root.
    /// The program's directory depends on the release and is not in PATH.
    fn pg_checksums_commands(&self, options: &'static str) -> Vec<ShellCommand> {
        let run = || {
            let major = self.major?.to_string();
            self.command_as_server_user()?
                .append_literal("env PATH=/usr/lib/postgresql/")
                .append_quoted_name(&major)?
                .append_literal("/bin:/usr/pgsql-")
                .append_quoted_name(&major)?
                .append_literal("/bin:/usr/bin pg_checksums")
                .append_literal(options)
                .append_quoted_name(self.data_directory.as_ref()?)
        };
        let stop =
            ShellCommand::from_comment("first stop the server and its standbys, and take a backup");
        run().map_or_else(Vec::new, |run| vec![stop, run])
    }

    /// The beginning of a command that runs as the server's user. `None` if the user's name cannot
    /// be quoted.
    fn command_as_server_user(&self) -> Option<ShellCommand> {
        Some(match &self.runs_as {
            Some(user) => ShellCommand::new("runuser -u ")
                .append_quoted_name(user)?
                .append_literal(" -- "),
            None => ShellCommand::new(""),
        })
    }

    /// Builds the psql command that connects at the server's socket, as the server's user if
    /// walwise runs as root. Each statement gets its own `-c`. `None` if a name cannot be quoted.
    fn psql_command(&self, statements: &[&str]) -> Option<ShellCommand> {
        let psql = self.command_as_server_user()?.append_literal("psql");
        let psql = match self
            .socket_directory
            .as_ref()
            .filter(|of| !DEFAULT_SOCKETS.contains(&of.as_str()))
        {
            Some(directory) => psql.append_literal(" -h ").append_quoted_name(directory)?,
            None => psql,
        };
        let psql = match self.port.filter(|port| *port != DEFAULT_PORT) {
            Some(port) => psql
                .append_literal(" -p ")
                .append_quoted_name(&port.to_string())?,
            None => psql,
        };
        let psql = match self.owner.as_ref().filter(|owner| *owner != DEFAULT_OWNER) {
            Some(_) => psql.append_literal(" -d postgres"),
            None => psql,
        };
        statements.iter().try_fold(psql, |psql, sql| {
            psql.append_literal(" -c ").append_quoted_text(sql)
        })
    }
}

/// Builds the ALTER SYSTEM SET statement. The value is always quoted, because a bare `default`
/// resets the setting. In an SQL string, a backslash is literal.
fn alter_system_statement(advice: &Advice, value: &str) -> String {
    let value = comment::replace_unsafe_chars(value).replace('\'', "''");
    format!(
        "ALTER SYSTEM SET {} = '{value}'",
        advice.setting.name_without_area()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_reports;
    use walwise_judge::rules::Level;
    use walwise_model::facts::{Reading, ServerArea, Value};

    fn format_sync_method_commands(
        source: Source,
        is_root: bool,
        more: impl Fn(&mut FactSet, &Subject),
    ) -> String {
        let cluster = Subject::cluster("/data/pg");
        let mut facts = FactSet::default();
        let test = || Source::from_system_call("test");
        facts.set_server_area(&cluster, ServerArea::Pg);
        facts.insert_known(&cluster, &postgres::USER, "postgres".to_owned(), test());
        facts.insert_known(&cluster, &postgres::RUNNING, true, test());
        facts.insert_known(&cluster, &postgres::PORT, 5432, test());
        facts.insert_known(&Subject::host(), &host::PRIVILEGED, is_root, test());
        more(&mut facts, &cluster);
        let advice = Advice {
            current: Reading::known(Value::Text("open_sync".to_owned()), source),
            risk: Risk::NeedsReload,
            verify: Vec::new(),
            apply: Vec::new(),
            undo: Vec::new(),
            ..sample_reports::advice_without_current_value(
                "pg.wal_sync_method",
                Change::Set("fdatasync".to_owned()),
            )
        };
        let mut findings = [sample_reports::applying_finding(
            "any",
            &cluster,
            Level::Warning,
            vec![advice],
        )];
        crate::build::add_server_commands_to_findings(&mut findings, &facts);
        let lines = findings[0].advice[0]
            .commands_by_purpose()
            .into_iter()
            .flat_map(|(word, commands)| {
                commands
                    .iter()
                    .map(move |command| format!("{word}: {command}\n"))
                    .collect::<Vec<_>>()
            });
        lines.collect()
    }

    #[test]
    fn commands_by_source_of_current_value() {
        let conf = || Source::from_file_line("/etc/postgresql/postgresql.conf", 4);
        let auto = || Source::from_file_line("/data/pg/postgresql.auto.conf", 3);
        let line = || Source::from_file("/proc/812/cmdline");
        let nothing = |_: &mut FactSet, _: &Subject| ();
        let elsewhere = |facts: &mut FactSet, of: &Subject| {
            let test = || Source::from_system_call("test");
            facts.insert_known(of, &postgres::USER, "pg app".to_owned(), test());
            facts.insert_known(of, &postgres::SOCKET_DIRECTORY, "/tmp".to_owned(), test());
            facts.insert_known(of, &postgres::PORT, 5433, test());
        };
        let stopped = |facts: &mut FactSet, of: &Subject| {
            facts.insert_known(
                of,
                &postgres::RUNNING,
                false,
                Source::from_system_call("test"),
            );
        };
        let all = [
            (
                "a file, as the owner",
                format_sync_method_commands(conf(), false, nothing),
            ),
            (
                "ALTER SYSTEM, as root",
                format_sync_method_commands(auto(), true, nothing),
            ),
            (
                "another user, socket and port",
                format_sync_method_commands(conf(), true, elsewhere),
            ),
            (
                "the command line",
                format_sync_method_commands(line(), true, nothing),
            ),
            (
                "a stopped server",
                format_sync_method_commands(conf(), true, stopped),
            ),
            (
                "the server says",
                format_sync_method_commands(
                    Source::Server {
                        socket: "/run/s".to_owned(),
                    },
                    false,
                    nothing,
                ),
            ),
        ];
        let all: Vec<String> = all
            .iter()
            .map(|(name, printed)| format!("== {name}\n{printed}"))
            .collect();
        insta::assert_snapshot!(all.join("\n"));
    }
}
