//! The facts of one server, joined from its process, its option files, its program and its data
//! directory.
//!
//! A running server's files count only if they are unchanged since it started. A process may live
//! in another mount name space, where its data directory has another path than here. Device and
//! inode prove that both are the same directory.

use std::path::PathBuf;

use super::counters;
use super::edition::Edition;
use super::options;
use super::places::PathInputs;
use super::process::{self, MysqldProcess};
use super::redo;
use super::server::{self, VariablesReply};
use super::settings::ServerVariable;
use super::{USUAL, is_data, settings};
use crate::collector::Request;
use crate::databases::conf::Conf;
use crate::databases::inside::{self, Inside};
use crate::databases::named::ConfigArgument;
use crate::databases::servers::{self, Proof, Unproven};
use crate::databases::start;
use crate::facts::catalog::cluster;
use crate::facts::catalog::mysql::{self, FlushMethod};
use crate::facts::note::{MysqlNote, ServerNote};
use crate::facts::{Area, FactSet, Key, Note, Reading, Remedy, Source, Subject, Why};
use crate::host::{Host, MissKind, Question, path_bytes};
use crate::refusal::refused;
use crate::text::safe;

/// The machine as the owner of a server's files sees it and, where that differs, as its process
/// does.
pub struct OwnerView<'a> {
    /// As the owner sees it from here.
    pub host: &'a dyn Host,
    /// As we see it: programs that are installed are root's.
    pub ours: &'a dyn Host,
    /// As the process sees it.
    pub inside: Option<&'a Inside<'a>>,
}

impl<'a> OwnerView<'a> {
    fn its(&self) -> &'a dyn Host {
        match self.inside {
            Some(inside) => inside,
            None => self.host,
        }
    }
}

/// A lead to a server: its process, a directory, or only the fact that one is installed.
#[derive(Debug)]
pub struct ServerLead<'a> {
    pub server: Option<MysqldProcess>,
    /// The data directory that the lead names.
    pub directory: Option<PathBuf>,
    /// The option file that the user named for a server that does not run.
    pub named: Option<ConfigArgument<'a>>,
    /// The user id that everything is read as.
    pub reader: u32,
}

/// A server's data directory, and its configuration.
pub struct DataDirectory {
    /// The real path of the data directory here.
    pub data: PathBuf,
    /// The same directory as the server sees it.
    seen: PathBuf,
    data_source: Source,
    server: Option<MysqldProcess>,
    edition: Edition,
    conf: Conf,
}

impl ServerLead<'_> {
    /// Finds the data directory. `None` when there is no server; the error says why one is left
    /// out.
    pub fn follow(
        self,
        view: &OwnerView<'_>,
        request: &Request,
        facts: &mut FactSet,
    ) -> Result<Option<DataDirectory>, Note> {
        let (host, inside) = (view.host, view.inside);
        let edition = match &self.server {
            Some(server) => Some(Edition::of_process(
                view.ours,
                request,
                server.pid,
                &server.program,
            )),
            None => Edition::installed(view.ours, request),
        };
        let Some(edition) =
            edition.or_else(|| self.names_something().then(Edition::unknown_program))
        else {
            return Ok(None);
        };
        let view = view.its();
        let file = self.named.map(|named| named.file);
        let mut conf = options::read(view, &edition, self.server.as_ref(), file, facts);
        let Some((data, data_source)) = self.data(&conf)? else {
            return Ok(None);
        };
        let seen = match view.real_path(&data) {
            Err(miss) if miss.kind == MissKind::TimedOut => {
                return Err(MysqlNote::DataSilence {
                    data: safe(path_bytes(&data)),
                }
                .into());
            }
            found => found.unwrap_or(data),
        };
        let data = match inside.map(|inside| inside.here(&seen)) {
            None => seen.clone(),
            Some(Reading::Known { value, .. }) => value,
            Some(Reading::Unknown { detail, .. }) => {
                return Err(MysqlNote::OtherMounts { detail }.into());
            }
        };
        if self.server.is_none() && !is_data(host, &data) {
            return Ok(None);
        }
        options::persisted(&mut conf, view, &edition, &seen, file, facts);
        if let (None, Some(directory)) = (&self.server, &self.directory) {
            let configured = conf
                .hint("datadir")
                .map(|value| options::within(directory, value));
            let configured = configured.unwrap_or_else(|| match self.named {
                Some(_) => directory.clone(),
                None => PathBuf::from(USUAL),
            });
            let configured = host.real_path(&configured).unwrap_or(configured);
            if configured != data {
                let shown = safe(path_bytes(&data));
                conf.hole(
                    Why::NotCollected,
                    match self.named {
                        Some(named) => named.elsewhere(&configured, &data).to_string(),
                        None => {
                            format!("the option files of this host are about another directory than {shown}")
                        }
                    },
                    Some(Remedy::Do(format!("start the server on {shown}, then look again"))),
                );
            }
        }
        Ok(Some(DataDirectory {
            data,
            seen,
            data_source,
            server: self.server,
            edition,
            conf,
        }))
    }

    /// Whether it leads to something where no server is installed.
    fn names_something(&self) -> bool {
        self.directory.is_some() || self.named.is_some()
    }

    fn data(&self, conf: &Conf) -> Result<Option<(PathBuf, Source)>, Note> {
        if let Some(directory) = &self.directory {
            return Ok(Some((
                directory.clone(),
                Source::file(safe(path_bytes(directory))),
            )));
        }
        if let Some(server) = &self.server
            && let Reading::Known {
                value: path,
                source,
            } = &server.works_in
        {
            return Ok(Some((path.clone(), source.clone())));
        }
        let usual = || {
            (
                PathBuf::from(USUAL),
                Source::Default {
                    of: "MySQL and MariaDB as packaged".to_owned(),
                },
            )
        };
        match conf.get("datadir") {
            Some(Reading::Known { value, source }) => {
                let path = options::within(&PathBuf::from(USUAL), &value);
                Ok(Some((path, source)))
            }
            Some(Reading::Unknown { detail, .. }) => match &self.server {
                Some(server) => Err(MysqlNote::NoHome {
                    pid: server.pid,
                    detail,
                }
                .into()),
                None => match self.named {
                    Some(named) => Err(named.unused(MysqlNote::NoDataDirectory { detail }).into()),
                    None => Ok(Some(usual())),
                },
            },
            None => Ok(Some(usual())),
        }
    }
}

impl DataDirectory {
    /// Whether a file says where the data are.
    pub fn is_named_in_files(&self) -> bool {
        self.conf.hint("datadir").is_some()
    }

    /// Proves that no server runs on it; the error says why that is unknown.
    pub fn is_stopped(
        &self,
        view: &OwnerView<'_>,
        unproven: &[Unproven],
    ) -> Result<(), ServerNote> {
        match self.runs(view.its(), unproven) {
            Reading::Known { value: false, .. } => Ok(()),
            Reading::Known { value: true, .. } => Err(ServerNote::Runs),
            Reading::Unknown { detail, .. } => Err(ServerNote::MayRun { detail }),
        }
    }

    /// Whether the process behind the lead serves the directory. A stranger can start a process in
    /// any directory that he may enter. He cannot own a directory of the server's user, nor open
    /// the system tablespace in it.
    pub fn proof(&self, view: &OwnerView<'_>) -> Proof {
        let Some(server) = &self.server else {
            return Proof::NoServer;
        };
        let host = view.its();
        let shown = safe(path_bytes(&self.data));
        let (pid, uid) = (server.pid, server.uid);
        let unreadable = |what: &str| {
            let detail = format!("process {pid} may serve {shown}: {what} cannot be read");
            Proof::Unreadable(Unproven {
                uid: Some(uid),
                detail,
            })
        };
        match inside::owner(host, view.inside, &self.seen, &self.data, uid) {
            Ok(owner) if owner == u64::from(uid) => {}
            Ok(owner) => {
                let note = MysqlNote::OtherOwner {
                    pid,
                    uid,
                    data: shown,
                    owner,
                };
                return Proof::Elsewhere(note.into());
            }
            Err(_) => return unreadable("the owner of the directory"),
        }
        let home = self
            .conf
            .hint("innodb_data_home_dir")
            .map(|value| options::within(&self.seen, value));
        let tablespace = home.unwrap_or_else(|| self.seen.clone()).join("ibdata1");
        let holds = host
            .stat(&tablespace)
            .and_then(|found| process::holds(host, pid, &found));
        match holds {
            Ok(true) => Proof::Serves,
            Err(miss) if miss.kind != MissKind::Absent => unreadable("what it has open"),
            Ok(false) | Err(_) => {
                Proof::Elsewhere(MysqlNote::NoTablespace { pid, data: shown }.into())
            }
        }
    }

    /// Whether a server runs on it: the one that was proven to, or maybe one that could not be.
    fn runs(&self, host: &dyn Host, unproven: &[Unproven]) -> Reading<bool> {
        if let Some(server) = &self.server {
            return Reading::known(true, Source::file(format!("/proc/{}", server.pid)));
        }
        let owner = host.stat(&self.seen).ok().map(|stat| stat.uid);
        let may = |one: &&Unproven| {
            one.uid
                .is_none_or(|uid| uid == 0 || owner.is_none_or(|owner| owner == u64::from(uid)))
        };
        match unproven.iter().find(may) {
            Some(one) => {
                Reading::unknown(Why::Denied, one.detail.clone()).or_try(Remedy::RunAsRoot)
            }
            None => Reading::known(false, Source::file("/proc")),
        }
    }

    /// Records everything about the server; the processes are those that may serve this or another
    /// directory.
    pub fn put(self, view: &OwnerView<'_>, unproven: &[Unproven], facts: &mut FactSet) {
        let inside = view.inside;
        let view = view.its();
        let shown = safe(path_bytes(&self.data));
        let subject = Subject::cluster(&*shown);
        facts.is_of(&subject, Area::Mysql);
        let running = self.runs(view, unproven);
        let remedy = Remedy::Do(format!("restart the server on {shown}, then look again"));
        let started = self.server.as_ref().and_then(|server| server.started);
        let conf = if running.value() == Some(&false) {
            self.conf.clone()
        } else {
            self.conf
                .doubt(|path| start::changed(view, started, path), Some(&remedy))
        };

        facts.put(&subject, &mysql::RUNNING, running.clone());
        facts.put(
            &subject,
            &cluster::KIND,
            self.edition
                .line
                .clone()
                .map(super::edition::ProductLine::kind),
        );
        facts.know(
            &subject,
            &mysql::NAME,
            self.name(&shown),
            self.data_source.clone(),
        );
        facts.put(&subject, &mysql::USER, self.owner(view));
        let preloaded = match &self.server {
            Some(server) => server.preloaded.clone(),
            None => servers::not_running(running.value()),
        };
        facts.put(&subject, &mysql::FSYNC_DISABLED_BY, preloaded);
        let answer = self
            .server
            .as_ref()
            .map(|server| server::ask(view, &self.edition, server, &conf, &self.seen));
        PathInputs {
            host: view,
            inside,
            seen: &self.seen,
            conf: &conf,
            answer: answer.as_ref(),
            name: &self.name(&shown),
            edition: &self.edition,
            data: &self.data,
            data_source: &self.data_source,
        }
        .put(&subject, facts);
        if let Some(VariablesReply::Told(_, source @ Source::Server { socket })) = &answer {
            facts.know(&subject, &mysql::SOCKET, socket.clone(), source.clone());
        }
        for setting in settings::ALL.iter() {
            let chosen = self.in_force(setting, &conf, answer.as_ref(), &shown, facts);
            setting.put(facts, &subject, chosen, &self.edition);
        }
        counters::put(facts, &subject, answer.as_ref());
        let unsaid = |name: &str| {
            answer
                .as_ref()
                .is_none_or(|answer| answer.get(name).is_none())
        };
        if unsaid("innodb_flush_method") {
            self.chosen_method(&conf, &subject, facts);
        }
        for key in BY_METHOD
            .into_iter()
            .filter(|(name, _)| unsaid(name))
            .map(|(_, key)| key)
        {
            decided_by_method(key, &conf, &subject, facts);
        }
        facts.put(
            &subject,
            &mysql::REDO_IGNORED,
            redo::ignored(&self.conf, &self.edition),
        );
        facts.put(&subject, &mysql::VERSION, self.edition.version);
    }

    /// The source of a setting in force: the line that sets it where the server agrees, else the
    /// server. If the server said nothing, changes since its start are unknown.
    fn in_force(
        &self,
        setting: &ServerVariable,
        certain: &Conf,
        answer: Option<&VariablesReply>,
        shown: &str,
        facts: &mut FactSet,
    ) -> Option<Reading<Vec<u8>>> {
        let name = setting.name;
        let written = self.conf.get(name);
        let text = setting.in_force(written.clone(), &self.edition);
        let written_word = text.value().map(|text| setting.spelled(text.as_bytes()));
        if let Some(told) = answer.and_then(|answer| answer.get(name)) {
            let told_word = told
                .value()
                .map(|value| setting.spelled(value))
                .unwrap_or_default();
            if written_word.as_ref() == Some(&told_word) {
                return written;
            }
            if let (Some(place), Some(word)) =
                (written.as_ref().and_then(Reading::source), written_word)
            {
                facts.warn(MysqlNote::OtherValue {
                    server: self.name(shown),
                    setting: name,
                    written: word,
                    source: Box::new(place.clone()),
                    told: told_word,
                });
            }
            return Some(told);
        }
        let certain = certain.get(name);
        match answer {
            Some(VariablesReply::Silent(why, detail, remedy))
                if setting.is_dynamic(&self.edition)
                    && setting.in_force(certain.clone(), &self.edition).is_known() =>
            {
                let word = written_word.unwrap_or_default();
                let detail = format!(
                    "{name} was {word} when the server started; SET GLOBAL may have changed it: {detail}"
                );
                Some(Reading::unknown(*why, detail).or_try(remedy.clone()))
            }
            _ => certain,
        }
    }

    /// MySQL 8.0 itself chooses O_DIRECT_NO_FSYNC on a dedicated server where nothing sets the
    /// method (MySQL 8.0 manual, innodb_dedicated_server; 8.4 does not any more).
    fn chosen_method(&self, conf: &Conf, subject: &Subject, facts: &mut FactSet) {
        let is_80 = self.edition.known().is_some_and(|(line, version)| {
            line == super::edition::ProductLine::Mysql
                && (version.number(0), version.number(1)) == (8, 0)
        });
        if !is_80 || conf.get("innodb_flush_method").is_some() {
            return;
        }
        match facts.get(subject, &mysql::DEDICATED) {
            Reading::Known {
                value: true,
                source,
            } => {
                facts.know(
                    subject,
                    &mysql::FLUSH_METHOD,
                    FlushMethod::DirectNoFsync,
                    source,
                );
            }
            Reading::Known { .. }
            | Reading::Unknown {
                why: Why::Absent, ..
            } => {}
            Reading::Unknown {
                why,
                detail,
                remedy,
            } => {
                facts.put(
                    subject,
                    &mysql::FLUSH_METHOD,
                    Reading::Unknown {
                        why,
                        detail,
                        remedy,
                    },
                );
            }
        }
    }

    fn name(&self, shown: &str) -> String {
        let line = self
            .edition
            .line
            .value()
            .map_or("mysql", |line| line.kind().word());
        match self.edition.version.value() {
            Some(version) => format!(
                "{line} {}.{} in {shown}",
                version.number(0),
                version.number(1)
            ),
            None => format!("{line} in {shown}"),
        }
    }

    /// Who owns the data directory.
    fn owner(&self, host: &dyn Host) -> Reading<String> {
        let shown = safe(path_bytes(&self.data));
        let uid = match host.stat(&self.seen) {
            Ok(stat) => u32::try_from(stat.uid).ok(),
            Err(miss) => return refused(&miss, &shown),
        };
        let Some(uid) = uid else {
            return Reading::unknown(Why::Malformed, format!("the owner of {shown}"));
        };
        match host.ask(&Question::UserName(uid)) {
            Ok(name) => Reading::known(safe(&name), Source::call(format!("stat {shown}"))),
            Err(miss) => refused(&miss, &format!("the name of user {uid}")),
        }
    }
}

/// The settings that `innodb_flush_method`, where it is set, sets too from 11 on (MariaDB 11.0
/// release notes).
const BY_METHOD: [(&str, &Key<bool>); 2] = [
    ("innodb_data_file_buffering", &mysql::DATA_FILE_BUFFERING),
    (
        "innodb_log_file_write_through",
        &mysql::LOG_FILE_WRITE_THROUGH,
    ),
];

/// Only the server knows the final value of such a setting.
fn decided_by_method(key: &Key<bool>, conf: &Conf, subject: &Subject, facts: &mut FactSet) {
    if conf.get("innodb_flush_method").is_some() && facts.get(subject, key).is_known() {
        let detail = "innodb_flush_method is set and sets it too; ask the running server";
        facts.put(subject, key, Reading::unknown(Why::Ambiguous, detail));
    }
}
