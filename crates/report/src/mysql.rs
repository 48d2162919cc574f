//! Commands that change, verify and undo a setting of MySQL or MariaDB: what its release can do at
//! once, and what only an option file and a restart do.
//!
//! SET PERSIST keeps a value (MySQL 8.0 and later). SET GLOBAL does not, so the option file needs
//! the line as well. The table of servers says which settings of which release are dynamic. A
//! user's own commands stand beside them.

use super::origin::{self, Stronger};
use walwise_judge::rules::{Advice, Change, Finding, Risk};
use walwise_model::facts::catalog::{cluster, mysql};
use walwise_model::facts::{Area, FactSet, Scope, ServerKind, Source, Subject};
use walwise_model::quote::{self, Command};
use walwise_model::servers::{self, Statement, client, has_persist};
use walwise_model::version::Version;

/// Gives the advice of findings its commands, and says whether it needs a restart.
pub fn complete(findings: &mut [Finding], facts: &FactSet) {
    for Finding {
        subject, advice, ..
    } in findings
    {
        for advice in advice.iter_mut().filter(|advice| is_of_mysql(advice)) {
            let cluster = facts.resolve(subject, Scope::Cluster);
            if let Some(server) =
                cluster.and_then(|cluster| MysqlServer::from_facts(facts, &cluster))
            {
                server.complete(advice);
            }
        }
    }
}

fn is_of_mysql(advice: &Advice) -> bool {
    match advice.setting.kind.area() {
        Some(Area::Mysql) => true,
        Some(Area::Pg) | None => false,
    }
}

/// What decides how a server is changed.
struct MysqlServer {
    kind: ServerKind,
    version: Option<Version>,
    socket: Option<String>,
    /// Whether it is known not to run: then no statement reaches it.
    is_stopped: bool,
}

/// How a setting gets a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By a statement, for good.
    Persist,
    /// By a statement that is kept for the next start: where SET PERSIST wrote the value that it
    /// has.
    PersistOnly,
    /// By a statement until the next start, and for good by an option file.
    GlobalAndFile,
    /// By an option file and a restart.
    File,
}

impl MysqlServer {
    /// `None` where it is not known whether it is MySQL or MariaDB.
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
            .map(|now| advice.setting.written(now));
        if now.as_ref() == Some(&value) {
            return;
        }
        let way = self.way(advice, &value, now.as_deref());
        if advice.risk <= Risk::NeedsRestart && self.version.is_some() {
            advice.risk = match way {
                Way::Persist | Way::GlobalAndFile => Risk::None,
                Way::PersistOnly | Way::File => Risk::NeedsRestart,
            };
        }
        let is_bare = advice.apply.is_empty() && advice.undo.is_empty();
        if is_bare {
            advice.apply = self.apply(advice, way, &value);
            advice.undo = self.undo(advice, way, now.as_deref());
        }
        if advice.verify.is_empty() {
            let shown = format!("SELECT @@GLOBAL.{}", advice.setting.own_name());
            advice.verify.extend(self.client(&shown));
        }
    }

    /// The way to give a setting a value, and the one that it has back.
    fn way(&self, advice: &Advice, value: &str, now: Option<&str>) -> Way {
        let name = advice.setting.own_name();
        let Some(version) = &self.version else {
            return Way::File;
        };
        let by = |value: &str| servers::servers().statement(name, value, self.kind, version);
        let both = now.map_or(by(value), |now| by(value).and(by(now)));
        let is_persisted = origin::stronger(advice) == Some(Stronger::Persisted);
        match both {
            _ if self.is_stopped => Way::File,
            Some(Statement::Persist) => Way::Persist,
            Some(Statement::Global) => Way::GlobalAndFile,
            None if is_persisted && has_persist(self.kind, version) => Way::PersistOnly,
            None => Way::File,
        }
    }

    fn apply(&self, advice: &Advice, way: Way, value: &str) -> Vec<Command> {
        let name = advice.setting.own_name();
        match way {
            Way::Persist => self.set("PERSIST", name, value),
            Way::PersistOnly => restarted(self.set("PERSIST_ONLY", name, value)),
            Way::GlobalAndFile => {
                let mut commands = self.set("GLOBAL", name, value);
                commands.push(in_file(advice, value));
                commands
            }
            Way::File => restarted(vec![in_file(advice, value)]),
        }
    }

    fn undo(&self, advice: &Advice, way: Way, now: Option<&str>) -> Vec<Command> {
        let name = advice.setting.own_name();
        let Some(now) = now else {
            return vec![Command::remark(
                "the value before is not known: note what the server says first",
            )];
        };
        match way {
            Way::Persist => self.unpersist(advice, name, now),
            Way::PersistOnly => restarted(self.set("PERSIST_ONLY", name, now)),
            Way::GlobalAndFile => {
                let mut commands = self.set("GLOBAL", name, now);
                commands.push(out_of_file(advice, now));
                commands
            }
            Way::File => restarted(vec![out_of_file(advice, now)]),
        }
    }

    /// The value of before, in force and in mysqld-auto.cnf, which wins over files: where nothing
    /// was persisted, nothing is again.
    fn unpersist(&self, advice: &Advice, name: &str, now: &str) -> Vec<Command> {
        let says = match (origin::stronger(advice), advice.current.source()) {
            (Some(Stronger::Persisted), _) => "SET PERSIST had written it before",
            // What only the server says may differ from all files, mysqld-auto.cnf among them.
            (_, Some(Source::Server { .. }) | None) => {
                "whether SET PERSIST had written it before is not known: what was in force is persisted"
            }
            _ => return self.reset(name, now),
        };
        let mut commands = vec![Command::remark(says)];
        commands.extend(self.set("PERSIST", name, now));
        commands
    }

    fn reset(&self, name: &str, now: &str) -> Vec<Command> {
        let mut commands = vec![Command::remark("nothing was persisted before")];
        commands.extend(self.statement(&format!("RESET PERSIST {name}")));
        commands.extend(self.set("GLOBAL", name, now));
        commands
    }

    fn set(&self, scope: &str, name: &str, value: &str) -> Vec<Command> {
        match quote::mysql::literal(value) {
            Some(value) => self.statement(&format!("SET {scope} {name} = {value}")),
            None => vec![Command::remark(&format!(
                "{name}: this value cannot be written in a statement"
            ))],
        }
    }

    fn statement(&self, sql: &str) -> Vec<Command> {
        self.client(sql).into_iter().collect()
    }

    /// The client at the socket where the server answered; `None` where its name cannot be written.
    fn client(&self, sql: &str) -> Option<Command> {
        let client = Command::new(client(self.kind, self.version.as_ref()));
        let client = match &self.socket {
            Some(socket) => client.code(" --socket=").value(socket)?,
            None => client,
        };
        client.code(" -e ").text(sql)
    }
}

/// Where the server is to find a value at its next start.
fn in_file(advice: &Advice, value: &str) -> Command {
    let line = format!(
        "{} = {}",
        advice.setting.own_name(),
        quote::mysql::option(value)
    );
    Command::remark(&match Place::of(advice) {
        Place::CommandLine => {
            format!("on the command line of the server, which wins over files: {line}")
        }
        Place::Line(place) => format!("in the option file, instead of {place}: {line}"),
        Place::Unset => format!("in an option file, group [mysqld]: {line}"),
    })
}

/// The same, back to what it was.
fn out_of_file(advice: &Advice, now: &str) -> Command {
    let name = advice.setting.own_name();
    let line = format!("{name} = {}", quote::mysql::option(now));
    Command::remark(&match Place::of(advice) {
        Place::CommandLine => format!("on the command line of the server: {line} again"),
        Place::Line(place) => format!("in the option file, at {place}: {line} again"),
        Place::Unset => format!("take {name} out of the option file again"),
    })
}

/// What sets a value that SET PERSIST did not write.
enum Place {
    CommandLine,
    /// A line of an option file.
    Line(String),
    /// No file that is known to.
    Unset,
}

impl Place {
    fn of(advice: &Advice) -> Self {
        match (origin::stronger(advice), advice.current.source()) {
            (Some(Stronger::CommandLine), _) => Self::CommandLine,
            (None, Some(source @ Source::File { .. })) => Self::Line(source.to_string()),
            _ => Self::Unset,
        }
    }
}

fn restarted(mut commands: Vec<Command>) -> Vec<Command> {
    commands.push(Command::remark("then restart the server"));
    commands
}

#[cfg(test)]
mod tests;
