//! Commands that change a setting of MySQL or MariaDB.
//!
//! SET PERSIST (MySQL 8.0 and later) survives a restart. SET GLOBAL does not, so the option file
//! needs the line as well. The table of servers lists the settings that each release can change at
//! run time.

use super::setting_source::{self, ValueOrigin};
use walwise_judge::rules::{Advice, Risk};
use walwise_model::escape::{self, ShellCommand};
use walwise_model::facts::catalog::{cluster, mysql};
use walwise_model::facts::{FactSet, ServerArea, ServerKind, Subject};
use walwise_model::servers::{self, client_program, has_set_persist};
use walwise_model::version::Version;

/// Adds commands to advice on MySQL and MariaDB settings, and sets whether the advice needs a
/// restart. Advice for other servers stays unchanged, and commands that a rule gives are kept.
pub fn add_mysql_commands(advice: &mut Advice, facts: &FactSet, cluster: Option<&Subject>) {
    if advice.setting.kind.server_area() == Some(ServerArea::Mysql)
        && let Some(server) = cluster.and_then(|cluster| MysqlServer::from_facts(facts, cluster))
    {
        server.fill_in_commands_and_risk(advice);
    }
}

struct MysqlServer {
    kind: ServerKind,
    version: Option<Version>,
    socket: Option<String>,
    is_stopped: bool,
}

#[derive(Clone, Copy)]
enum SettingChangeMethod {
    /// SET PERSIST, which takes effect now and after a restart.
    Persist,
    /// SET PERSIST_ONLY and a restart, because the present value is in mysqld-auto.cnf.
    PersistOnly,
    /// SET GLOBAL for the running server, and a line in the option file for later starts.
    GlobalAndFile,
    File,
}

impl MysqlServer {
    /// Reads the server's facts; `None` if its kind, MySQL or MariaDB, is unknown.
    fn from_facts(facts: &FactSet, of: &Subject) -> Option<Self> {
        Some(Self {
            kind: facts.value(of, &cluster::KIND)?,
            version: facts.value(of, &mysql::VERSION),
            socket: facts.value(of, &mysql::SOCKET),
            is_stopped: facts.value(of, &mysql::RUNNING) == Some(false),
        })
    }

    fn fill_in_commands_and_risk(&self, advice: &mut Advice) {
        let Some((value, now)) = setting_source::value_change(advice) else {
            return;
        };
        let way = self.choose_setting_change_method(advice, &value, now.as_deref());
        if advice.risk <= Risk::NeedsRestart && self.version.is_some() {
            advice.risk = match way {
                SettingChangeMethod::Persist | SettingChangeMethod::GlobalAndFile => Risk::None,
                SettingChangeMethod::PersistOnly | SettingChangeMethod::File => Risk::NeedsRestart,
            };
        }
        if advice.apply.is_empty() && advice.undo.is_empty() {
            advice.apply = self.change_commands(advice, way, &value, false);
            advice.undo = self.commands_to_undo(advice, way, now.as_deref());
        }
        if advice.verify.is_empty() {
            let shown = format!("SELECT @@GLOBAL.{}", advice.setting.name_without_area());
            advice.verify.extend(self.mysql_client_command(&shown));
        }
    }

    /// Chooses the statement that sets the new value. If the present value is known, the same
    /// statement must be able to restore it.
    fn choose_setting_change_method(
        &self,
        advice: &Advice,
        value: &str,
        now: Option<&str>,
    ) -> SettingChangeMethod {
        let name = advice.setting.name_without_area();
        let Some(version) = &self.version else {
            return SettingChangeMethod::File;
        };
        let by_statement = |value: &str| {
            servers::server_settings_table().is_dynamic_value(name, value, self.kind, version)
        };
        let both = by_statement(value) && now.is_none_or(by_statement);
        let is_persisted = setting_source::value_origin(advice) == ValueOrigin::Persisted;
        match (both, has_set_persist(self.kind, version)) {
            _ if self.is_stopped => SettingChangeMethod::File,
            (true, true) => SettingChangeMethod::Persist,
            (true, false) => SettingChangeMethod::GlobalAndFile,
            (false, true) if is_persisted => SettingChangeMethod::PersistOnly,
            (false, _) => SettingChangeMethod::File,
        }
    }

    /// `is_undo` selects the comment about the option file.
    fn change_commands(
        &self,
        advice: &Advice,
        way: SettingChangeMethod,
        value: &str,
        is_undo: bool,
    ) -> Vec<ShellCommand> {
        let set = |scope| self.set_variable_command(scope, advice, value);
        let by_hand = || Some(option_file_comment(advice, value, is_undo));
        let restart = || Some(ShellCommand::from_comment("then restart the server"));
        let commands = match way {
            SettingChangeMethod::Persist => [set("PERSIST"), None],
            SettingChangeMethod::PersistOnly => [set("PERSIST_ONLY"), restart()],
            SettingChangeMethod::GlobalAndFile => [set("GLOBAL"), by_hand()],
            SettingChangeMethod::File => [by_hand(), restart()],
        };
        commands.into_iter().flatten().collect()
    }

    fn commands_to_undo(
        &self,
        advice: &Advice,
        way: SettingChangeMethod,
        now: Option<&str>,
    ) -> Vec<ShellCommand> {
        let Some(now) = now else {
            return vec![ShellCommand::from_comment(
                "the current value is unknown: record it before you change it",
            )];
        };
        match way {
            SettingChangeMethod::Persist => self.undo_persist_commands(advice, now),
            SettingChangeMethod::PersistOnly
            | SettingChangeMethod::GlobalAndFile
            | SettingChangeMethod::File => self.change_commands(advice, way, now, true),
        }
    }

    /// The commands that restore the old value after SET PERSIST. The file mysqld-auto.cnf
    /// overrides option files, so the value in force and the persisted value are both restored. If
    /// the old value may come from an earlier SET PERSIST, the old value is persisted.
    fn undo_persist_commands(&self, advice: &Advice, now: &str) -> Vec<ShellCommand> {
        let (says, reset, scope) = match setting_source::value_origin(advice) {
            ValueOrigin::Persisted => ("the old value was set with SET PERSIST", None, "PERSIST"),
            ValueOrigin::ServerOrUnknown => (
                "an earlier SET PERSIST cannot be detected; this statement persists the old value",
                None,
                "PERSIST",
            ),
            ValueOrigin::AlterSystem
            | ValueOrigin::CommandLine
            | ValueOrigin::ConfigFile
            | ValueOrigin::Other => (
                "no value was persisted before this change",
                self.mysql_client_command(&format!(
                    "RESET PERSIST {}",
                    advice.setting.name_without_area()
                )),
                "GLOBAL",
            ),
        };
        let set = self.set_variable_command(scope, advice, now);
        let says = Some(ShellCommand::from_comment(says));
        [says, reset, set].into_iter().flatten().collect()
    }

    fn set_variable_command(
        &self,
        scope: &str,
        advice: &Advice,
        value: &str,
    ) -> Option<ShellCommand> {
        let name = advice.setting.name_without_area();
        match escape::mysql::format_mysql_statement_literal(value) {
            Some(value) => self.mysql_client_command(&format!("SET {scope} {name} = {value}")),
            None => Some(ShellCommand::from_comment(&format!(
                "{name}: this value cannot be quoted in a statement"
            ))),
        }
    }

    /// Builds the command that runs a statement in the client; `None` if the socket's name cannot
    /// be quoted.
    fn mysql_client_command(&self, sql: &str) -> Option<ShellCommand> {
        let client = ShellCommand::new(client_program(self.kind, self.version.as_ref()));
        let client = match &self.socket {
            Some(socket) => client
                .append_literal(" --socket=")
                .append_quoted_name(socket)?,
            None => client,
        };
        client.append_literal(" -e ").append_quoted_text(sql)
    }
}

/// A comment that names the line of an option file, or of the command line, to change by hand.
/// `is_undo` asks for the line that restores the old value.
fn option_file_comment(advice: &Advice, value: &str, is_undo: bool) -> ShellCommand {
    let name = advice.setting.name_without_area();
    let line = format!(
        "{name} = {}",
        escape::mysql::quote_mysql_option_value(value)
    );
    let place = advice.current.source();
    ShellCommand::from_comment(&match (setting_source::value_origin(advice), place) {
        (ValueOrigin::CommandLine, _) if is_undo => {
            format!("on the server's command line, restore: {line}")
        }
        (ValueOrigin::CommandLine, _) => {
            format!("on the server's command line, which overrides option files, set: {line}")
        }
        (ValueOrigin::ConfigFile, Some(place)) if is_undo => {
            format!("restore the line at {place}: {line}")
        }
        (ValueOrigin::ConfigFile, Some(place)) => {
            format!("replace the line at {place} with: {line}")
        }
        _ if is_undo => format!("remove {name} from the option file"),
        _ => format!("add to the group [mysqld] of an option file: {line}"),
    })
}

#[cfg(test)]
mod tests;
