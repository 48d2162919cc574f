//! Commands that change, verify and undo a setting of PostgreSQL: ALTER SYSTEM with a reload or
//! before a restart. If the command line wins, or the server is stopped, remarks name the line to
//! change.
//!
//! ALTER SYSTEM writes postgresql.auto.conf, which wins over every other file (PostgreSQL manual,
//! *Setting Parameters*). It exists since 9.4, the oldest release in the table of servers.

use super::conf::quote_value;
use super::setting_source::{self, OverriddenBy};
use walwise_judge::rules::{Advice, Change, Finding, Risk};
use walwise_model::escape::{Command, comment};
use walwise_model::facts::catalog::postgres::DATA_CHECKSUMS;
use walwise_model::facts::catalog::{host, postgres};
use walwise_model::facts::{Area, FactSet, Scope, Source, Subject};
use walwise_model::settings::{self, SettingKind};

pub fn add_commands(findings: &mut [Finding], facts: &FactSet) {
    for Finding {
        subject, advice, ..
    } in findings
    {
        let cluster = facts.resolve(subject, Scope::Cluster);
        for advice in advice
            .iter_mut()
            .filter(|advice| advice.setting.kind.area() == Some(Area::Pg))
        {
            match &cluster {
                Some(cluster) => Server::from_facts(facts, cluster).complete(advice),
                None if is_set_by_initdb(advice) => {}
                None => add_new_server_line(advice),
            }
        }
    }
}

/// Whether the setting is chosen by initdb.
fn is_set_by_initdb(advice: &Advice) -> bool {
    advice.setting.kind == SettingKind::InitDb
}

/// Adds the line for a server that does not exist yet.
fn add_new_server_line(advice: &mut Advice) {
    if let (Change::Set(value), true) = (&advice.change, advice.apply.is_empty()) {
        let line = format!("{} = {}", advice.setting.own_name(), quote_value(value));
        advice.apply = vec![Command::comment(&format!(
            "in postgresql.conf of the new server: {line}"
        ))];
    }
}

/// The properties of a server that decide how to change a setting.
struct Server {
    /// The user to switch to if walwise runs as root: peer authentication rejects root.
    runs_as: Option<String>,
    owner: Option<String>,
    socket_directory: Option<String>,
    port: Option<u64>,
    config_file: Option<String>,
    data_directory: Option<String>,
    /// The major version, which names the directory of its programs.
    major: Option<u64>,
    /// Whether it is known to be stopped, so that no statement reaches it.
    is_stopped: bool,
}

/// The socket directories compiled into clients of Debian and Red Hat.
const DEFAULT_SOCKETS: [&str; 2] = ["/var/run/postgresql", "/run/postgresql"];
const DEFAULT_PORT: u64 = 5432;
/// The user after whom the default database is named.
const DEFAULT_OWNER: &str = "postgres";

impl Server {
    fn from_facts(facts: &FactSet, of: &Subject) -> Self {
        let owner = facts.value(of, &postgres::USER);
        let is_root = facts.value(&Subject::host(), &host::PRIVILEGED) == Some(true);
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

    fn complete(&self, advice: &mut Advice) {
        let Change::Set(value) = advice.change.clone() else {
            return;
        };
        let now = advice
            .current
            .value()
            .map(|now| advice.setting.config_value(now));
        if now.as_ref() == Some(&value) {
            return;
        }
        let has_none = advice.apply.is_empty() && advice.undo.is_empty();
        if has_none && settings::for_fact(&DATA_CHECKSUMS) == Some(advice.setting) {
            advice.apply = self.pg_checksums(" --enable --progress -D ");
            advice.undo = self.pg_checksums(" --disable -D ");
        } else if has_none && !is_set_by_initdb(advice) {
            let is_fixed = setting_source::overridden_by(advice) == Some(OverriddenBy::CommandLine);
            (advice.apply, advice.undo) = if self.is_stopped || is_fixed {
                (
                    self.file_remarks(advice, Some(&value)),
                    self.file_remarks(advice, now.as_deref()),
                )
            } else {
                (
                    self.statement_commands(advice, &set_statement(advice, &value)),
                    self.undo_commands(advice, now.as_deref()),
                )
            };
        }
        if advice.verify.is_empty() && !self.is_stopped {
            let show = format!("SHOW {}", advice.setting.own_name());
            advice.verify.extend(self.psql(&[&show]));
        }
    }

    /// Restores the present value: by ALTER SYSTEM SET if that had set it, else by RESET.
    fn undo_commands(&self, advice: &Advice, now: Option<&str>) -> Vec<Command> {
        let (name, reset) = (
            advice.setting.own_name(),
            format!("ALTER SYSTEM RESET {}", advice.setting.own_name()),
        );
        match (
            setting_source::overridden_by(advice),
            advice.current.source(),
            now,
        ) {
            (Some(OverriddenBy::AlterSystem), _, Some(now)) => {
                self.statement_commands(advice, &set_statement(advice, now))
            }
            // A value reported only by the server may come from ALTER SYSTEM.
            (_, Some(Source::Server { .. }) | None, Some(now)) => {
                let says = format!(
                    "an earlier ALTER SYSTEM SET {name} is not visible; if there was none: {reset}"
                );
                let mut commands = vec![Command::comment(&says)];
                commands.extend(self.statement_commands(advice, &set_statement(advice, now)));
                commands
            }
            _ => self.statement_commands(advice, &reset),
        }
    }

    /// A statement, followed by a reload or by a remark to restart.
    fn statement_commands(&self, advice: &Advice, sql: &str) -> Vec<Command> {
        if advice.risk >= Risk::NeedsRestart {
            let mut commands: Vec<Command> = self.psql(&[sql]).into_iter().collect();
            commands.push(Command::comment("then restart the server"));
            return commands;
        }
        self.psql(&[sql, "SELECT pg_reload_conf()"])
            .into_iter()
            .collect()
    }

    /// Remarks for a server that no statement can change; without a value, that the old one is
    /// unknown.
    fn file_remarks(&self, advice: &Advice, value: Option<&str>) -> Vec<Command> {
        let name = advice.setting.own_name();
        let Some(value) = value else {
            return vec![Command::comment(&format!(
                "the value of {name} before is unknown"
            ))];
        };
        let place = match (
            setting_source::overridden_by(advice),
            advice.current.source(),
            &self.config_file,
        ) {
            (Some(OverriddenBy::CommandLine), _, _) => {
                format!(
                    "on the command line of the server, which wins over ALTER SYSTEM: -c {name}={value}"
                )
            }
            (_, Some(source @ Source::File { .. }), _) => {
                format!("at {source}: {name} = {}", quote_value(value))
            }
            (_, _, Some(file)) => format!("in {file}: {name} = {}", quote_value(value)),
            (_, _, None) => format!("in postgresql.conf: {name} = {}", quote_value(value)),
        };
        let then = if self.is_stopped {
            "then start the server"
        } else {
            "then restart the server"
        };
        vec![Command::comment(&place), Command::comment(then)]
    }

    /// pg_checksums of the server's release, as its owner: it rejects root, and its directory is
    /// not in PATH.
    fn pg_checksums(&self, options: &'static str) -> Vec<Command> {
        let run = || {
            let run = match &self.runs_as {
                Some(user) => Command::new("runuser -u ").value(user)?.literal(" -- "),
                None => Command::new(""),
            };
            let major = self.major?.to_string();
            let path = run
                .literal("env PATH=/usr/lib/postgresql/")
                .value(&major)?
                .literal("/bin:/usr/pgsql-");
            path.value(&major)?
                .literal("/bin:/usr/bin pg_checksums")
                .literal(options)
                .value(self.data_directory.as_ref()?)
        };
        let stop = Command::comment("stop the server and its standbys, and take a backup");
        run().map_or_else(Vec::new, |run| vec![stop, run])
    }

    /// psql as the owner at the server's socket, with one `-c` a statement; `None` if a name cannot
    /// be quoted.
    fn psql(&self, statements: &[&str]) -> Option<Command> {
        let psql = match &self.runs_as {
            Some(user) => Command::new("runuser -u ").value(user)?.literal(" -- psql"),
            None => Command::new("psql"),
        };
        let psql = match self
            .socket_directory
            .as_ref()
            .filter(|of| !DEFAULT_SOCKETS.contains(&of.as_str()))
        {
            Some(directory) => psql.literal(" -h ").value(directory)?,
            None => psql,
        };
        let psql = match self.port.filter(|port| *port != DEFAULT_PORT) {
            Some(port) => psql.literal(" -p ").value(&port.to_string())?,
            None => psql,
        };
        let psql = match self.owner.as_ref().filter(|owner| *owner != DEFAULT_OWNER) {
            Some(_) => psql.literal(" -d postgres"),
            None => psql,
        };
        statements
            .iter()
            .try_fold(psql, |psql, sql| psql.literal(" -c ").quoted_text(sql))
    }
}

/// The statement that sets a value. The value is always quoted, because a bare `default` has
/// another meaning; in an SQL string a backslash is literal.
fn set_statement(advice: &Advice, value: &str) -> String {
    let value = comment::escape_line(value).replace('\'', "''");
    format!("ALTER SYSTEM SET {} = '{value}'", advice.setting.own_name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use walwise_judge::rules::Level;
    use walwise_model::facts::{Area, Reading, Value};

    fn printed(source: Source, is_root: bool, more: impl Fn(&mut FactSet, &Subject)) -> String {
        let cluster = Subject::cluster("/data/pg");
        let mut facts = FactSet::default();
        let test = || Source::call("test");
        facts.set_area(&cluster, Area::Pg);
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
            ..sample::advice("pg.wal_sync_method", Change::Set("fdatasync".to_owned()))
        };
        let mut findings = [sample::finding(
            "any",
            &cluster,
            Level::Warning,
            vec![advice],
        )];
        add_commands(&mut findings, &facts);
        let lines = findings[0].advice[0]
            .commands()
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
    fn each_place_of_the_value_in_force_has_its_commands() {
        let conf = || Source::line("/etc/postgresql/postgresql.conf", 4);
        let auto = || Source::line("/data/pg/postgresql.auto.conf", 3);
        let line = || Source::file("/proc/812/cmdline");
        let nothing = |_: &mut FactSet, _: &Subject| ();
        let elsewhere = |facts: &mut FactSet, of: &Subject| {
            let test = || Source::call("test");
            facts.insert_known(of, &postgres::USER, "pg app".to_owned(), test());
            facts.insert_known(of, &postgres::SOCKET_DIRECTORY, "/tmp".to_owned(), test());
            facts.insert_known(of, &postgres::PORT, 5433, test());
        };
        let stopped = |facts: &mut FactSet, of: &Subject| {
            facts.insert_known(of, &postgres::RUNNING, false, Source::call("test"));
        };
        let all = [
            ("a file, as the owner", printed(conf(), false, nothing)),
            ("ALTER SYSTEM, as root", printed(auto(), true, nothing)),
            (
                "another user, socket and port",
                printed(conf(), true, elsewhere),
            ),
            ("the command line", printed(line(), true, nothing)),
            ("a stopped server", printed(conf(), true, stopped)),
            (
                "the server says",
                printed(
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
