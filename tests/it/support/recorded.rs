//! The recorded machines: their files, and ten of them that stand for the situations of an admin.

use std::fs;
use std::path::{Path, PathBuf};

use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_report::Report;
use walwise_sys::host::RecordedHost;

/// The situations: a name, the recorded host, and the target, where one is asked for.
pub const SITUATIONS: [(&str, &str, Option<&str>); 10] = [
    ("quiet", "nvme-plp-pg16", Some("/data/pg")),
    ("at-risk", "loop-over-nobarrier", Some("/data")),
    (
        "contradictory",
        "md-raid1-one-leg-overridden",
        Some("/data"),
    ),
    ("unproven", "megaraid-no-tool", Some("/data")),
    ("free-disk", "lab-sata-cache-off", None),
    ("several-targets", "real-loop-xfs", None),
    ("degraded-raid", "raid5-degraded-pg16", Some("/data/pg")),
    (
        "container",
        "docker-overlay-pg16",
        Some("/var/lib/postgresql/data"),
    ),
    ("cloud", "ec2-gp3-pg16", Some("/data/pg")),
    ("mysql", "mysql80-binlog-beside", Some("/data/mysql")),
];

/// The file of a recorded machine.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hosts")
        .join(name)
        .with_extension("host")
}

/// The files of all of them, in the order of their names.
pub fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(file("any").parent().unwrap()).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The report of each of them.
pub fn reports() -> impl Iterator<Item = (PathBuf, Report)> {
    files().into_iter().map(|path| {
        let host = RecordedHost::parse(&fs::read(&path).unwrap()).unwrap();
        let session = Session::collect(
            &host,
            &Request::default(),
            RuleSet::builtin(),
            &mut |_, _| {},
        );
        (path, session.report())
    })
}
