use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;
use walwise::session::Session;
use walwise::tui::{ScreenOptions, draw_screens};
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_report::{Report, json};
use walwise_sys::host::RecordedHost;
use walwise_testkit::drawn_screens::buffer_rows;

/// Name of the situation, recorded host, and the target if one is given.
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

pub fn recorded_host_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hosts")
        .join(name)
        .with_extension("host")
}

pub fn recorded_host_files() -> Vec<PathBuf> {
    let entries = fs::read_dir(recorded_host_file("any").parent().unwrap()).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

pub fn recorded_host_reports() -> &'static [(PathBuf, Report)] {
    static REPORTS: LazyLock<Vec<(PathBuf, Report)>> = LazyLock::new(|| {
        let report = |path: PathBuf| {
            let host = RecordedHost::parse(&fs::read(&path).unwrap()).unwrap();
            let session = Session::collect_from_host(
                &host,
                &Request::default(),
                RuleSet::builtin(),
                &mut |_, _| {},
            );
            (path, session.build_report())
        };
        recorded_host_files().into_iter().map(report).collect()
    });
    &REPORTS
}

pub fn recorded_host_documents() -> &'static [(String, Value)] {
    static DOCUMENTS: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
        let document = |(path, report): &(PathBuf, Report)| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (
                name,
                serde_json::from_str(&json::render_report(report)).unwrap(),
            )
        };
        recorded_host_reports().iter().map(document).collect()
    });
    &DOCUMENTS
}

/// Title and rows of every screen at `size` (columns, rows), without colours.
pub fn screen_texts(
    report: Report,
    size: (u16, u16),
    ascii: bool,
) -> Vec<(&'static str, Vec<String>)> {
    let options = ScreenOptions {
        colour: false,
        ascii,
        in_tmux: false,
    };
    let screens = draw_screens(report, Vec::new(), size, options).into_iter();
    screens
        .map(|(title, drawn)| (title, buffer_rows(&drawn)))
        .collect()
}
