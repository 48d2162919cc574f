//! README's first job as a person does it: from a free disk to a checked cluster, by the commands that walwise prints.
//! What that person has to type and to read is counted (`--nocapture` shows it).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::loops::{Loop, Point};
use super::support::{run, stderr, stdout};
use crate::support::deadline::CommandInTime as _;

/// The most commands that the job may take, and lines that it may print.
const COMMANDS: usize = 9;
const LINES: usize = 150;

struct Person {
    typed: Vec<String>,
    read: usize,
    home: PathBuf,
}

impl Person {
    /// Types a command, and reads what it prints.
    fn types(&mut self, command: &str) -> String {
        let walwise = Path::new(env!("CARGO_BIN_EXE_walwise")).parent().unwrap();
        let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", walwise.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", path).env("LC_ALL", "C").current_dir("/");
        shell.env("PG_CLUSTER_CONF_ROOT", self.home.join("etc"));
        let output = shell.output_in_time();
        let printed = stdout(&output) + &stderr(&output);
        // A report that has findings is a success.
        assert!([0, 3, 4, 5].contains(&output.status.code().unwrap()), "{command}: {printed}");
        self.typed.push(command.to_owned());
        self.read += printed.lines().count();
        printed
    }
}

/// The cluster that Debian's programs make, with what they keep in this directory. It is stopped when this is dropped.
struct DebianCluster<'d>(&'d Path);

impl Drop for DebianCluster<'_> {
    fn drop(&mut self) {
        let mut stop = Command::new("pg_ctlcluster");
        stop.args(["15", "job", "stop", "-m", "immediate"]).env("PG_CLUSTER_CONF_ROOT", self.0.join("etc"));
        stop.output_in_time();
    }
}

/// A directory of the server's user, as its packages have.
fn private(base: &Path, name: &str) -> String {
    let path = base.join(name).to_str().unwrap().to_owned();
    run("install", &["-d", "-o", "postgres", &path]);
    path
}

/// The printed command that begins with these words.
fn printed<'t>(text: &'t str, begins: &str) -> &'t str {
    let lines = text.lines().map(|line| line.trim_start().trim_start_matches("apply").trim_start());
    let found = lines.into_iter().find(|line| line.starts_with(begins));
    found.unwrap_or_else(|| panic!("{begins}: {text}"))
}

#[test]
#[ignore = "needs root: a loop device and PostgreSQL 15"]
fn from_a_free_disk_to_a_checked_cluster() {
    let disk = Loop::new(512);
    let open = fs::Permissions::from_mode(0o755);
    let base = tempfile::Builder::new().permissions(open).tempdir().unwrap();
    let point = Point(base.path().join("pg"));
    let at = point.0.to_str().unwrap();
    let data = format!("{at}/data");
    let mut person = Person { typed: Vec::new(), read: 0, home: base.path().into() };

    let report = person.types(&format!("walwise check {} --no-probe --only plan", disk.device));
    person.types(printed(&report, "mkfs."));
    let mount = printed(&report, "mount -t ").replace("MOUNTPOINT", at);
    person.types(&format!("mkdir {at} && {mount}"));
    let lines = person.types(&format!("walwise check {at} --no-probe --format fstab"));
    let line = lines.lines().find_map(|line| line.strip_prefix("#   printf ")).unwrap();
    // A copy stands for the machine's own table, which stays as it is; so do the directories of the cluster.
    let table = base.path().join("fstab");
    person.types(&format!("printf {line} >>{}", table.display()));
    let _cluster = DebianCluster(base.path());
    let [sockets, log] = ["run", "log"].map(|name| private(base.path(), name));
    person.types(&format!(
        "pg_createcluster 15 job -d {data} -s {sockets} -l {log}/job -o listen_addresses= --start"
    ));
    person.types(&format!(
        "walwise check {data} --format conf >$PG_CLUSTER_CONF_ROOT/15/job/conf.d/walwise.conf"
    ));
    person.types("pg_ctlcluster 15 job restart");
    let checked = person.types(&format!("walwise check {data} --no-probe"));

    let standing = ["DURABLE", "UNPROVEN", "AT RISK"]
        .iter()
        .any(|word| checked.lines().any(|line| line.starts_with(word) && line.contains("postgresql 15")));
    assert!(standing && checked.lines().any(|line| line.starts_with("wal_sync_method")), "{checked}");
    let line = fs::read_to_string(&table).unwrap();
    assert!(line.starts_with("UUID=") && line.contains(at), "{line}");
    let (typed, read) = (person.typed.len(), person.read);
    eprintln!("{typed} commands, {read} lines");
    assert!(typed <= COMMANDS && read <= LINES, "{typed} commands, {read} lines: {:#?}", person.typed);
}
