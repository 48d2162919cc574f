//! A real PostgreSQL cluster, running on a private socket, found and read through the live host. It is stopped and gone
//! when its guard is dropped, also when a test fails.

use std::fmt::Write as _;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use walwise::collect::{Request, run_all};
use walwise::facts::catalog::{postgres, target};
use walwise::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use walwise::host::LiveHost;
use walwise::host::{Host, Miss, Question};

use super::support::run;

const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
const SECRET: &str = "hunter2-of-the-replica";

/// A running cluster with its WAL elsewhere, an include, and a password in its configuration.
struct Cluster {
    directory: tempfile::TempDir,
    uid: u32,
    gid: u32,
}

impl Cluster {
    fn start() -> Self {
        let id = |flag| run("id", &[flag, "postgres"]).trim().parse().unwrap();
        let cluster = Self { directory: tempfile::tempdir().unwrap(), uid: id("-u"), gid: id("-g") };
        let root = cluster.directory.path();
        std::fs::set_permissions(root, std::fs::Permissions::from_mode(0o755)).unwrap();
        chown(root, Some(cluster.uid), Some(cluster.gid)).unwrap();
        cluster.program(
            "initdb",
            &["-N", "-A", "trust", "-D", &cluster.path("data"), "--waldir", &cluster.path("fast/wal")],
        );
        cluster.append(
            "postgresql.conf",
            "include 'storage.conf'\nlisten_addresses = ''\nfsync = off # tests only\n",
        );
        cluster.append("storage.conf", "# the WAL\nwal_sync_method = 'open_datasync'\n");
        cluster.append(
            "postgresql.auto.conf",
            &format!("primary_conninfo = 'host=x password={SECRET}'\ncommit_delay = '7'\n"),
        );
        let socket = format!("-k {} -p 5499 -c max_wal_senders=3", root.display());
        cluster.program(
            "pg_ctl",
            &["-D", &cluster.path("data"), "-l", &cluster.path("log"), "-o", &socket, "-w", "start"],
        );
        cluster
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    fn append(&self, name: &str, text: &str) {
        let path = self.directory.path().join("data").join(name);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, before + text).unwrap();
        chown(&path, Some(self.uid), Some(self.gid)).unwrap();
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(Path::new(PROGRAMS).join(name));
        command.uid(self.uid).gid(self.gid).current_dir(self.directory.path()).env_clear().env("LC_ALL", "C");
        command.stdin(std::process::Stdio::null());
        command
    }

    fn program(&self, name: &str, arguments: &[&str]) {
        // The server inherits what pg_ctl has open, so nobody may wait for the end of a pipe.
        let output = self.directory.path().join(format!("{name}.output"));
        let file = std::fs::File::create(&output).unwrap();
        let mut command = self.command(name);
        command.args(arguments).stdout(file.try_clone().unwrap()).stderr(file);
        let said = || std::fs::read_to_string(&output).unwrap_or_default();
        assert!(command.status().unwrap().success(), "{name} {arguments:?}: {}", said());
    }

    fn scan(&self) -> (FactSet, Listening) {
        let host = Listening {
            live: LiveHost::asking_through(PathBuf::from(env!("CARGO_BIN_EXE_walwise"))),
            answers: Mutex::default(),
        };
        let request = Request { target: Some(self.directory.path().join("data")), without_programs: false };
        (run_all(&host, &request, &mut |_, _| {}), host)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let arguments = ["-D", &self.path("data"), "-m", "immediate", "-w", "-s", "stop"];
        let _ = self.command("pg_ctl").args(arguments).status();
    }
}

/// The live host, with everything it answered kept.
struct Listening {
    live: LiveHost,
    answers: Mutex<Vec<u8>>,
}

impl Host for Listening {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, Miss> {
        let answer = self.live.ask(question);
        if let Ok(bytes) = &answer {
            self.answers.lock().unwrap().extend_from_slice(bytes);
        }
        answer
    }

    fn notes(&self) -> Vec<String> {
        self.live.notes()
    }
}

fn told(facts: &FactSet, cluster: &Subject, name: &str) -> String {
    match facts.reading(cluster, name) {
        Reading::Known { value, source } => format!("{value} {source}"),
        Reading::Unknown { why, detail, .. } => format!("? {why} {detail}"),
    }
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn a_running_cluster_is_found_with_where_its_settings_are_set() {
    let cluster = Cluster::start();
    let data = cluster.path("data");
    let (facts, host) = cluster.scan();
    let subject = Subject::cluster(&*data);
    let said = |name| told(&facts, &subject, name);
    let clusters: Vec<_> = facts.subjects(Scope::Cluster).collect();
    assert!(clusters.contains(&&subject), "{clusters:?} {:?}", facts.warnings());

    assert_eq!(facts.value(&subject, &postgres::RUNNING), Some(true));
    assert_eq!(facts.value(&subject, &postgres::DATA).as_deref(), Some(data.as_str()));
    assert_eq!(facts.value(&subject, &postgres::WAL), Some(cluster.path("fast/wal")));
    assert_eq!(facts.value(&subject, &postgres::USER).as_deref(), Some("postgres"));
    assert_eq!(facts.value(&subject, &postgres::FSYNC_DISABLED_BY).as_deref(), Some("none"));
    let version = facts.value(&subject, &postgres::VERSION).unwrap();
    assert!(version.number(0) == 15 && version.depth() == 2, "{version}");

    assert_eq!(said("pg.wal_sync_method"), format!("open_datasync {data}/storage.conf:2"));
    assert_eq!(said("pg.commit_delay"), format!("7 {data}/postgresql.auto.conf:4"));
    assert!(said("pg.fsync").starts_with(&format!("no {data}/postgresql.conf:")), "{}", said("pg.fsync"));
    assert_eq!(facts.value(&subject, &postgres::MAX_WAL_SENDERS), Some(3));
    assert_eq!(facts.value(&subject, &postgres::WAL_LEVEL).as_deref(), Some("replica"));
    assert!(matches!(
        facts.get(&subject, &postgres::DEBUG_IO_DIRECT),
        Reading::Unknown { why: Why::Absent, .. }
    ));

    let target = Subject::target(&*data);
    assert_eq!(facts.value(&target, &target::ROLE).as_deref(), Some("data and wal"));
    assert_eq!(facts.resolve(&target, Scope::Cluster), Some(subject.clone()));
    assert_eq!(facts.resolve(&subject, Scope::Target), Some(target));

    let mut everything = String::from_utf8_lossy(&host.answers.lock().unwrap()).into_owned();
    for (_, _, reading) in facts.rows() {
        let _ = write!(everything, "{reading:?}");
    }
    assert!(!everything.contains(SECRET) && !everything.contains("conninfo"), "a secret came out");
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn a_change_that_awaits_a_reload_is_not_taken_for_what_is_in_force() {
    let cluster = Cluster::start();
    cluster.program(
        "psql",
        &["-h", &cluster.path(""), "-p", "5499", "-d", "postgres", "-c", "create role root superuser login"],
    );
    cluster.append("storage.conf", "wal_sync_method = fsync\n");
    let (facts, _) = cluster.scan();
    let subject = Subject::cluster(cluster.path("data"));
    assert_eq!(facts.value(&subject, &postgres::WAL_SYNC_METHOD).as_deref(), Some("open_datasync"));
    let reading = facts.get(&subject, &postgres::FULL_PAGE_WRITES);
    assert!(matches!(reading.source(), Some(Source::Server { .. })), "{reading:?}");
    assert!(
        facts.warnings().iter().any(|w| w.contains("wal_sync_method is fsync")),
        "{:?}",
        facts.warnings()
    );
}
