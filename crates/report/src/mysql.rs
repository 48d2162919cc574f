//! Commands that change, verify and undo a setting of MySQL or MariaDB: by a statement where the
//! release can, else by option file and restart.
//!
//! SET PERSIST survives a restart (MySQL 8.0 and later). SET GLOBAL does not, so the option file
//! needs the line as well. The table of servers lists which settings of which release are dynamic.
//! A user's own commands are not replaced.

use super::setting_source::{self, OverriddenBy};
use walwise_judge::rules::{Advice, Change, Finding, Risk};
use walwise_model::escape::{self, Command};
use walwise_model::facts::catalog::{cluster, mysql};
use walwise_model::facts::{Area, FactSet, Scope, ServerKind, Source, Subject};
use walwise_model::servers::{self, Statement, client_program, has_persist};
use walwise_model::version::Version;

/// Adds commands to the advice of findings, and sets whether it needs a restart.
pub fn add_commands(findings: &mut [Finding], facts: &FactSet) {
    for Finding {
        subject, advice, ..
    } in findings
    {
        for advice in advice.iter_mut().filter(|advice| is_mysql_setting(advice)) {
            let cluster = facts.resolve(subject, Scope::Cluster);
            if let Some(server) =
                cluster.and_then(|cluster| MysqlServer::from_facts(facts, &cluster))
            {
                server.complete(advice);
            }
        }
    }
}

fn is_mysql_setting(advice: &Advice) -> bool {
    match advice.setting.kind.area() {
        Some(Area::Mysql) => true,
        Some(Area::Pg) | None => false,
    }
}

/// The properties of a server that decide how to change a setting.
struct MysqlServer {
    kind: ServerKind,
    version: Option<Version>,
    socket: Option<String>,
    /// Whether it is known to be stopped, so that no statement reaches it.
    is_stopped: bool,
}

/// How to set a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SetMethod {
    /// By SET PERSIST, permanently.
    Persist,
    /// By SET PERSIST_ONLY for the next start, because SET PERSIST wrote the present value.
    PersistOnly,
    /// By SET GLOBAL until the next start, and permanently by an option file.
    GlobalAndFile,
    /// By an option file and a restart.
    File,
}

impl MysqlServer {
    /// `None` if it is unknown whether it is MySQL or MariaDB.
    fn from_facts(facts: &FactSet, of: &Subject) -> Option<Self> {
        Some(Self {
            kind: facts.value(of, &cluster::KIND)?,
            version: facts.value(of, &mysql::VERSION),
            socket: facts.value(of, &mysql::SOCKET),
            is_stopped: facts.value(of, &mysql::RUNNING) == Some(false),
        })
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
        let way = self.set_method(advice, &value, now.as_deref());
        if advice.risk <= Risk::NeedsRestart && self.version.is_some() {
            advice.risk = match way {
                SetMethod::Persist | SetMethod::GlobalAndFile => Risk::None,
                SetMethod::PersistOnly | SetMethod::File => Risk::NeedsRestart,
            };
        }
        let is_bare = advice.apply.is_empty() && advice.undo.is_empty();
        if is_bare {
            advice.apply = self.apply_commands(advice, way, &value);
            advice.undo = self.undo_commands(advice, way, now.as_deref());
        }
        if advice.verify.is_empty() {
            let shown = format!("SELECT @@GLOBAL.{}", advice.setting.own_name());
            advice.verify.extend(self.client_command(&shown));
        }
    }

    /// A method that can set the new value and restore the present one.
    fn set_method(&self, advice: &Advice, value: &str, now: Option<&str>) -> SetMethod {
        let name = advice.setting.own_name();
        let Some(version) = &self.version else {
            return SetMethod::File;
        };
        let by = |value: &str| servers::server_table().statement(name, value, self.kind, version);
        let both = now.map_or(by(value), |now| by(value).and(by(now)));
        let is_persisted = setting_source::overridden_by(advice) == Some(OverriddenBy::Persisted);
        match both {
            _ if self.is_stopped => SetMethod::File,
            Some(Statement::Persist) => SetMethod::Persist,
            Some(Statement::Global) => SetMethod::GlobalAndFile,
            None if is_persisted && has_persist(self.kind, version) => SetMethod::PersistOnly,
            None => SetMethod::File,
        }
    }

    fn apply_commands(&self, advice: &Advice, way: SetMethod, value: &str) -> Vec<Command> {
        let name = advice.setting.own_name();
        match way {
            SetMethod::Persist => self.set_statement("PERSIST", name, value),
            SetMethod::PersistOnly => with_restart(self.set_statement("PERSIST_ONLY", name, value)),
            SetMethod::GlobalAndFile => {
                let mut commands = self.set_statement("GLOBAL", name, value);
                commands.push(file_remark(advice, value));
                commands
            }
            SetMethod::File => with_restart(vec![file_remark(advice, value)]),
        }
    }

    fn undo_commands(&self, advice: &Advice, way: SetMethod, now: Option<&str>) -> Vec<Command> {
        let name = advice.setting.own_name();
        let Some(now) = now else {
            return vec![Command::comment(
                "the value before is unknown: note the server's value first",
            )];
        };
        match way {
            SetMethod::Persist => self.undo_persist(advice, name, now),
            SetMethod::PersistOnly => with_restart(self.set_statement("PERSIST_ONLY", name, now)),
            SetMethod::GlobalAndFile => {
                let mut commands = self.set_statement("GLOBAL", name, now);
                commands.push(undo_file_remark(advice, now));
                commands
            }
            SetMethod::File => with_restart(vec![undo_file_remark(advice, now)]),
        }
    }

    /// Restores the earlier value, in force and in mysqld-auto.cnf, which wins over files. If
    /// nothing was persisted before, nothing is afterwards.
    fn undo_persist(&self, advice: &Advice, name: &str, now: &str) -> Vec<Command> {
        let says = match (
            setting_source::overridden_by(advice),
            advice.current.source(),
        ) {
            (Some(OverriddenBy::Persisted), _) => "SET PERSIST had written it before",
            // A value reported only by the server may come from mysqld-auto.cnf.
            (_, Some(Source::Server { .. }) | None) => {
                "an earlier SET PERSIST is not visible; this persists the old value"
            }
            _ => return self.reset_persist(name, now),
        };
        let mut commands = vec![Command::comment(says)];
        commands.extend(self.set_statement("PERSIST", name, now));
        commands
    }

    fn reset_persist(&self, name: &str, now: &str) -> Vec<Command> {
        let mut commands = vec![Command::comment("nothing was persisted before")];
        commands.extend(self.client_commands(&format!("RESET PERSIST {name}")));
        commands.extend(self.set_statement("GLOBAL", name, now));
        commands
    }

    fn set_statement(&self, scope: &str, name: &str, value: &str) -> Vec<Command> {
        match escape::mysql::literal(value) {
            Some(value) => self.client_commands(&format!("SET {scope} {name} = {value}")),
            None => vec![Command::comment(&format!(
                "{name}: this value cannot be written in a statement"
            ))],
        }
    }

    fn client_commands(&self, sql: &str) -> Vec<Command> {
        self.client_command(sql).into_iter().collect()
    }

    /// A client command for the server's socket; `None` where the socket's name cannot be quoted.
    fn client_command(&self, sql: &str) -> Option<Command> {
        let client = Command::new(client_program(self.kind, self.version.as_ref()));
        let client = match &self.socket {
            Some(socket) => client.literal(" --socket=").value(socket)?,
            None => client,
        };
        client.literal(" -e ").quoted_text(sql)
    }
}

/// A remark where to write a value for the next start.
fn file_remark(advice: &Advice, value: &str) -> Command {
    let line = format!(
        "{} = {}",
        advice.setting.own_name(),
        escape::mysql::option_value(value)
    );
    Command::comment(&match SettingPlace::from_advice(advice) {
        SettingPlace::CommandLine => {
            format!("on the command line of the server, which wins over files: {line}")
        }
        SettingPlace::Line(place) => format!("in the option file, instead of {place}: {line}"),
        SettingPlace::Unset => format!("in an option file, group [mysqld]: {line}"),
    })
}

/// A remark how to undo that.
fn undo_file_remark(advice: &Advice, now: &str) -> Command {
    let name = advice.setting.own_name();
    let line = format!("{name} = {}", escape::mysql::option_value(now));
    Command::comment(&match SettingPlace::from_advice(advice) {
        SettingPlace::CommandLine => format!("on the command line of the server, restore: {line}"),
        SettingPlace::Line(place) => format!("in the option file, at {place}, restore: {line}"),
        SettingPlace::Unset => format!("remove {name} from the option file"),
    })
}

/// Where a value is set that SET PERSIST did not write.
enum SettingPlace {
    CommandLine,
    /// A line of an option file.
    Line(String),
    /// No known file sets it.
    Unset,
}

impl SettingPlace {
    fn from_advice(advice: &Advice) -> Self {
        match (
            setting_source::overridden_by(advice),
            advice.current.source(),
        ) {
            (Some(OverriddenBy::CommandLine), _) => Self::CommandLine,
            (None, Some(source @ Source::File { .. })) => Self::Line(source.to_string()),
            _ => Self::Unset,
        }
    }
}

fn with_restart(mut commands: Vec<Command>) -> Vec<Command> {
    commands.push(Command::comment("then restart the server"));
    commands
}

#[cfg(test)]
mod tests;
