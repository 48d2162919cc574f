//! README's first job as a person does it: from a free disk to a checked cluster, by the commands that walwise prints.
//! What that person has to type and to read is counted.

use std::path::Path;
use std::process::Command;

use super::support::loops::{Loop, Point};
use super::support::postgres::PROGRAMS;
use super::support::{stderr, stdout};

/// The most commands that the job may take, and lines that it may print.
const COMMANDS: usize = 9;
const LINES: usize = 150;

#[derive(Default)]
struct Person {
    typed: Vec<String>,
    read: usize,
}

impl Person {
    /// Types a command, and reads what it prints.
    fn types(&mut self, command: &str) -> String {
        let walwise = Path::new(env!("CARGO_BIN_EXE_walwise")).parent().unwrap();
        let path = format!("{}:{PROGRAMS}:/usr/sbin:/usr/bin:/sbin:/bin", walwise.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", path).env("LC_ALL", "C").current_dir("/");
        let output = shell.output().unwrap();
        let printed = stdout(&output) + &stderr(&output);
        assert!(output.status.success(), "{command}: {printed}");
        self.typed.push(command.to_owned());
        self.read += printed.lines().count();
        printed
    }
}

/// A server that is stopped when this is dropped.
struct Server(String);

impl Drop for Server {
    fn drop(&mut self) {
        let stop = format!("{PROGRAMS}/pg_ctl");
        let arguments = ["-u", "postgres", "--", &stop, "-D", &self.0, "-m", "immediate", "-w", "-s", "stop"];
        let _ = Command::new("runuser").args(arguments).current_dir("/").output();
    }
}

/// The printed command that begins with these words.
fn printed<'t>(text: &'t str, begins: &str) -> &'t str {
    let found = text.lines().map(str::trim_start).find(|line| line.starts_with(begins));
    found.unwrap_or_else(|| panic!("{begins}: {text}"))
}

#[test]
#[ignore = "needs root: a loop device and PostgreSQL 15"]
fn from_a_free_disk_to_a_checked_cluster() {
    let disk = Loop::new(512);
    let base = tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
    let base = base.tempdir().unwrap();
    let point = Point(base.path().join("pg"));
    let at = point.0.to_str().unwrap();
    let data = format!("{at}/data");
    let mut person = Person::default();

    let report = person.types(&format!("walwise check {} --no-probe", disk.device));
    person.types(printed(&report, "mkfs."));
    let mount = printed(&report, "mount -t ").replace("MOUNTPOINT", at);
    person.types(&format!("mkdir {at} && {mount}"));
    // A copy stands for the machine's own table, which stays as it is.
    let table = base.path().join("fstab");
    person.types(&format!("walwise check {at} --no-probe --format fstab >>{}", table.display()));
    person.types(&format!("install -d -o postgres -g postgres -m 700 {data}"));
    person.types(&format!("runuser -u postgres -- initdb -D {data}"));
    person.types(&format!("walwise check {data} --seconds 2 --format conf >>{data}/postgresql.conf"));
    let _server = Server(data.clone());
    let only_here = format!("-c listen_addresses= -k {data}");
    person.types(&format!("runuser -u postgres -- pg_ctl -D {data} -o '{only_here}' -l {data}/log -w start"));
    let checked = person.types(&format!("walwise check {data} --no-probe"));

    assert!(checked.lines().any(|line| line.starts_with("method   keep ")), "{checked}");
    let line = std::fs::read_to_string(&table).unwrap();
    assert!(line.lines().any(|line| line.starts_with("UUID=") && line.contains(at)), "{line}");
    let (typed, read) = (person.typed.len(), person.read);
    assert!(typed <= COMMANDS && read <= LINES, "{typed} commands, {read} lines: {:#?}", person.typed);
}
