//! Commands that change, verify and undo a setting of PostgreSQL: ALTER SYSTEM with a reload or
//! before a restart; where the server's command line wins, or the server does not run, the line to
//! change.
//!
//! ALTER SYSTEM writes postgresql.auto.conf, which wins over every other file (PostgreSQL manual,
//! *Setting Parameters*). It is as old as the oldest release that the table of servers knows, 9.4.

use super::conf::quoted;
use super::origin::{self, Stronger};
use walwise_judge::rules::{Advice, Change, Finding, Risk};
use walwise_model::facts::catalog::postgres::DATA_CHECKSUMS;
use walwise_model::facts::catalog::{host, postgres};
use walwise_model::facts::{Area, FactSet, Scope, Source, Subject};
use walwise_model::quote::{Command, comment};
use walwise_model::settings::{self, SettingKind};

/// Gives the advice of findings its commands.
pub fn complete(findings: &mut [Finding], facts: &FactSet) {
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
                None if is_made_with(advice) => {}
                None => complete_for_new(advice),
            }
        }
    }
}

/// Whether the setting is chosen when a cluster is made.
fn is_made_with(advice: &Advice) -> bool {
    advice.setting.kind == SettingKind::InitDb
}

/// The line of a server that is still to be made.
fn complete_for_new(advice: &mut Advice) {
    if let (Change::Set(value), true) = (&advice.change, advice.apply.is_empty()) {
        let line = format!("{} = {}", advice.setting.own_name(), quoted(value));
        advice.apply = vec![Command::remark(&format!(
            "in postgresql.conf of the new server: {line}"
        ))];
    }
}

/// What decides how a server is changed.
struct Server {
    /// The user to become: its owner, where walwise runs as root. Peer authentication refuses root.
    runs_as: Option<String>,
    owner: Option<String>,
    socket_directory: Option<String>,
    port: Option<u64>,
    config_file: Option<String>,
    data_directory: Option<String>,
    /// The first number of its version, which names the directory of its programs.
    major: Option<u64>,
    /// Whether it is known not to run: then no statement reaches it.
    is_stopped: bool,
}

/// The socket directories that clients of Debian and of Red Hat have compiled in.
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
            .map(|now| advice.setting.written(now));
        if now.as_ref() == Some(&value) {
            return;
        }
        let has_none = advice.apply.is_empty() && advice.undo.is_empty();
        if has_none && settings::of(&DATA_CHECKSUMS) == Some(advice.setting) {
            advice.apply = self.checksums(" --enable --progress -D ");
            advice.undo = self.checksums(" --disable -D ");
        } else if has_none && !is_made_with(advice) {
            let is_fixed = origin::stronger(advice) == Some(Stronger::CommandLine);
            (advice.apply, advice.undo) = if self.is_stopped || is_fixed {
                (
                    self.line(advice, Some(&value)),
                    self.line(advice, now.as_deref()),
                )
            } else {
                (
                    self.statement(advice, &set(advice, &value)),
                    self.undo(advice, now.as_deref()),
                )
            };
        }
        if advice.verify.is_empty() && !self.is_stopped {
            let show = format!("SHOW {}", advice.setting.own_name());
            advice.verify.extend(self.psql(&[&show]));
        }
    }

    /// What was in force again: by ALTER SYSTEM where that had set it, else without it.
    fn undo(&self, advice: &Advice, now: Option<&str>) -> Vec<Command> {
        let (name, reset) = (
            advice.setting.own_name(),
            format!("ALTER SYSTEM RESET {}", advice.setting.own_name()),
        );
        match (origin::stronger(advice), advice.current.source(), now) {
            (Some(Stronger::AlterSystem), _, Some(now)) => {
                self.statement(advice, &set(advice, now))
            }
            // What only the server says may have been set by ALTER SYSTEM.
            (_, Some(Source::Server { .. }) | None, Some(now)) => {
                let says = format!(
                    "whether ALTER SYSTEM had set {name} before is unknown; if not: {reset}"
                );
                let mut commands = vec![Command::remark(&says)];
                commands.extend(self.statement(advice, &set(advice, now)));
                commands
            }
            _ => self.statement(advice, &reset),
        }
    }

    /// A statement, and what makes it hold.
    fn statement(&self, advice: &Advice, sql: &str) -> Vec<Command> {
        if advice.risk >= Risk::NeedsRestart {
            let mut commands: Vec<Command> = self.psql(&[sql]).into_iter().collect();
            commands.push(Command::remark("then restart the server"));
            return commands;
        }
        self.psql(&[sql, "SELECT pg_reload_conf()"])
            .into_iter()
            .collect()
    }

    /// The line of a server that no statement changes; without a value, that of before is unknown.
    fn line(&self, advice: &Advice, value: Option<&str>) -> Vec<Command> {
        let name = advice.setting.own_name();
        let Some(value) = value else {
            return vec![Command::remark(&format!(
                "the value of {name} before is unknown"
            ))];
        };
        let place = match (
            origin::stronger(advice),
            advice.current.source(),
            &self.config_file,
        ) {
            (Some(Stronger::CommandLine), _, _) => {
                format!(
                    "on the command line of the server, which wins over ALTER SYSTEM: -c {name}={value}"
                )
            }
            (_, Some(source @ Source::File { .. }), _) => {
                format!("at {source}: {name} = {}", quoted(value))
            }
            (_, _, Some(file)) => format!("in {file}: {name} = {}", quoted(value)),
            (_, _, None) => format!("in postgresql.conf: {name} = {}", quoted(value)),
        };
        let then = if self.is_stopped {
            "then start the server"
        } else {
            "then restart the server"
        };
        vec![Command::remark(&place), Command::remark(then)]
    }

    /// pg_checksums of the server's release as its owner: root is refused, and its directory is in
    /// no user's PATH.
    fn checksums(&self, options: &'static str) -> Vec<Command> {
        let run = || {
            let run = match &self.runs_as {
                Some(user) => Command::new("runuser -u ").value(user)?.code(" -- "),
                None => Command::new(""),
            };
            let major = self.major?.to_string();
            let path = run
                .code("env PATH=/usr/lib/postgresql/")
                .value(&major)?
                .code("/bin:/usr/pgsql-");
            path.value(&major)?
                .code("/bin:/usr/bin pg_checksums")
                .code(options)
                .value(self.data_directory.as_ref()?)
        };
        let stop = Command::remark("stop the server and its standbys, and take a backup");
        run().map_or_else(Vec::new, |run| vec![stop, run])
    }

    /// psql as the owner at the server's socket, with a statement for each `-c`; `None` where a
    /// name cannot be written.
    fn psql(&self, statements: &[&str]) -> Option<Command> {
        let psql = match &self.runs_as {
            Some(user) => Command::new("runuser -u ").value(user)?.code(" -- psql"),
            None => Command::new("psql"),
        };
        let psql = match self
            .socket_directory
            .as_ref()
            .filter(|of| !DEFAULT_SOCKETS.contains(&of.as_str()))
        {
            Some(directory) => psql.code(" -h ").value(directory)?,
            None => psql,
        };
        let psql = match self.port.filter(|port| *port != DEFAULT_PORT) {
            Some(port) => psql.code(" -p ").value(&port.to_string())?,
            None => psql,
        };
        let psql = match self.owner.as_ref().filter(|owner| *owner != DEFAULT_OWNER) {
            Some(_) => psql.code(" -d postgres"),
            None => psql,
        };
        statements
            .iter()
            .try_fold(psql, |psql, sql| psql.code(" -c ").text(sql))
    }
}

/// The statement that sets a value. It is always quoted, because a bare `default` has another
/// meaning; in an SQL string a backslash is literal.
fn set(advice: &Advice, value: &str) -> String {
    let value = comment::inline(value).replace('\'', "''");
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
        facts.is_of(&cluster, Area::Pg);
        facts.know(&cluster, &postgres::USER, "postgres".to_owned(), test());
        facts.know(&cluster, &postgres::RUNNING, true, test());
        facts.know(&cluster, &postgres::PORT, 5432, test());
        facts.know(&Subject::host(), &host::PRIVILEGED, is_root, test());
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
        complete(&mut findings, &facts);
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
            facts.know(of, &postgres::USER, "pg app".to_owned(), test());
            facts.know(of, &postgres::SOCKET_DIRECTORY, "/tmp".to_owned(), test());
            facts.know(of, &postgres::PORT, 5433, test());
        };
        let stopped = |facts: &mut FactSet, of: &Subject| {
            facts.know(of, &postgres::RUNNING, false, Source::call("test"));
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
