//! Hostile names in every command of every output, run by a shell.
//!
//! No file system is mounted: mount points, devices and directories with such names exist only as
//! facts or in a recorded host. A name that a shell interprets leaves a file in the working
//! directory.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::deadline::CommandInTime as _;
use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_model::facts::catalog::{boot, device, mount};
use walwise_model::facts::{Choice as _, FactSet, Source, Subject};
use walwise_model::text::display_safe;
use walwise_report::{Format, Report};
use walwise_sys::host::RecordedHost;

const TRACE: &str = "TRACE";

const NAMES: &[&str] = &[
    "plain",
    "two words",
    "$(touch TRACE)",
    "$(>TRACE)",
    "`touch TRACE`",
    "`>TRACE`",
    ";touch TRACE;",
    ";>TRACE #",
    "&& touch TRACE",
    "|touch TRACE",
    ">TRACE",
    "a'b",
    "a'$(>TRACE)'b",
    "a'\\''$(>TRACE)",
    "a\"$(>TRACE)\"b",
    "a\\' ; >TRACE ; \\'",
    "x\n>TRACE\n",
    "x\r>TRACE",
    "x\u{2028}>TRACE",
    "x\u{85}>TRACE",
    "\u{202e}$(>TRACE)",
    "\x1b[31m$(>TRACE)",
    "--help",
    "-rf",
    "%h%n$(>TRACE)",
    "*",
    "~",
    "{a,b}",
    "#$(>TRACE)",
    "(>TRACE)",
    "${IFS}>TRACE",
    "\\",
    "back\\slash$(>TRACE)",
    "\\x24(>TRACE)",
    "!x",
    "é☃",
];

const PROGRAMS: &[&str] = &[
    "blkid",
    "cat",
    "chattr",
    "dumpe2fs",
    "e2fsck",
    "echo",
    "findmnt",
    "grep",
    "initdb",
    "lsattr",
    "lsblk",
    "mariadb",
    "mkfs.btrfs",
    "mkfs.ext4",
    "mkfs.xfs",
    "mount",
    "mysql",
    "pg_checksums",
    "psql",
    "rm",
    "ssh",
    "sudo",
    "swapon",
    "sysctl",
    "systemctl",
    "systemd-escape",
    "tee",
    "tune2fs",
    "umount",
    "walwise",
    "zfs",
    "id",
    "wipefs",
];

struct ShellSandbox {
    dir: tempfile::TempDir,
    base: tempfile::TempDir,
}

impl ShellSandbox {
    fn new() -> Self {
        let (dir, base) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for name in PROGRAMS {
            let file = base.path().join(name);
            fs::write(&file, "#!/bin/sh\nexit 0\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(
            base.path().join("touch"),
            "#!/bin/sh\nfor name; do : >\"$name\"; done\n",
        )
        .unwrap();
        fs::set_permissions(base.path().join("touch"), fs::Permissions::from_mode(0o755)).unwrap();
        for open in [dir.path(), base.path()] {
            fs::set_permissions(open, fs::Permissions::from_mode(0o777)).unwrap();
        }
        Self { dir, base }
    }

    fn run_and_detect_injection(&self, script: &str) -> Option<String> {
        let file = self.base.path().join("script");
        fs::write(&file, script).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let mut shell = Command::new("/bin/sh");
        shell
            .arg(&file)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", self.base.path());
        shell
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if nix::unistd::geteuid().is_root() {
            shell.uid(65534).gid(65534);
        }
        shell.status_in_time();
        let trace = self.dir.path().join(TRACE);
        let left = fs::symlink_metadata(&trace).is_ok();
        for entry in fs::read_dir(self.dir.path()).unwrap() {
            let _ = fs::remove_file(entry.unwrap().path());
        }
        left.then(|| script.to_owned())
    }
}

fn report_of_mount_named(name: &str, rules: &RuleSet) -> Report {
    let path = |below: &str| display_safe(format!("/mnt/{name}{below}").as_bytes());
    let (place, fs, line) = (
        Subject::target(path("/data")),
        Subject::mount(path("")),
        Subject::boot(path("")),
    );
    let seen = || Source::from_file_line("/etc/fstab", 3);
    let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let disk = Subject::device(display_safe(name.as_bytes()));
    let mut facts = FactSet::default();
    facts.add_subject(&place);
    facts.insert_known(&fs, &mount::POINT, path(""), seen());
    facts.insert_known(
        &fs,
        &mount::SOURCE,
        display_safe(format!("/dev/mapper/{name}").as_bytes()),
        seen(),
    );
    facts.insert_known(&fs, &mount::CLASS, mount::MountClass::Block, seen());
    facts.insert_known(&fs, &mount::FSTYPE, "ext4".to_owned(), seen());
    facts.insert_known(&fs, &mount::OPTIONS, words(&["rw", "relatime"]), seen());
    facts.insert_known(
        &fs,
        &mount::SUPER_OPTIONS,
        words(&["rw", "nobarrier", "discard", "data=writeback"]),
        seen(),
    );
    facts.insert_known(
        &line,
        &boot::SOURCE,
        display_safe(format!("LABEL={name}").as_bytes()),
        seen(),
    );
    facts.insert_known(&line, &boot::POINT, path(""), seen());
    facts.insert_known(&line, &boot::FSTYPE, "ext4".to_owned(), seen());
    facts.insert_known(&line, &boot::WRITTEN_TYPE, "ext4".to_owned(), seen());
    facts.insert_known(
        &line,
        &boot::OPTIONS,
        words(&["nobarrier", "relatime"]),
        seen(),
    );
    facts.insert_known(&line, &boot::DUMP_AND_PASS, "0 2".to_owned(), seen());
    facts.insert_known(&line, &boot::WHOLE, true, seen());
    facts.insert_known(&line, &boot::WHERE, "/etc/fstab:3".to_owned(), seen());
    facts.insert_known(&disk, &device::KIND, device::DeviceKind::Disk, seen());
    facts.add_layer_below(&place, &fs);
    facts.set_fact_link(&place, &fs);
    facts.set_fact_link(&line, &fs);
    facts.add_layer_below(&fs, &disk);
    facts.set_fact_link(&fs, &disk);
    // Without an fstab line the report prints what would mount the file system at boot.
    let bare = Subject::mount(display_safe(format!("/srv/{name}").as_bytes()));
    let below = Subject::target(display_safe(format!("/srv/{name}/data").as_bytes()));
    facts.add_subject(&below);
    facts.insert_known(&bare, &mount::POINT, bare.name().to_owned(), seen());
    facts.insert_known(
        &bare,
        &mount::SOURCE,
        display_safe(format!("/dev/{name}").as_bytes()),
        seen(),
    );
    facts.insert_known(&bare, &mount::CLASS, mount::MountClass::Block, seen());
    facts.insert_known(&bare, &mount::FSTYPE, "xfs".to_owned(), seen());
    facts.insert_known(&bare, &mount::OPTIONS, words(&["rw", "relatime"]), seen());
    facts.insert_known(&bare, &mount::AT_BOOT, false, seen());
    facts.add_layer_below(&below, &bare);
    facts.set_fact_link(&below, &bare);
    Session::new(facts, rules.clone(), true).build_report()
}

fn report_of_host_with_hostile_name(name: &str, rules: &RuleSet) -> Report {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/seed-cloud-nobarrier.host");
    let text = fs::read_to_string(file).unwrap();
    let kernel = name.bytes().fold(String::new(), |mut out, byte| {
        if matches!(byte, b' ' | b'\t' | b'\n' | b'\\' | b'#') {
            let _ = write!(out, "\\\\{byte:03o}");
        } else {
            out.push_str(&display_safe(&[byte]));
        }
        out
    });
    let point = text.lines().find_map(|line| {
        let mut words = line.strip_prefix('|')?.split(' ');
        let point = words
            .nth(4)
            .filter(|point| point.len() > 2 && point.starts_with('/'))?;
        line.contains(" - ext4 ").then(|| point.to_owned())
    });
    let text = match point {
        Some(point) => text.replace(&format!(" {point} "), &format!(" {point}/{kernel} ")),
        None => text,
    };
    let host = RecordedHost::parse(text.as_bytes()).unwrap();
    let mut report =
        Session::collect_from_host(&host, &Request::default(), rules.clone(), &mut |_, _| {})
            .build_report();
    // Marks the report as live, so that commands are not withheld.
    report.host.live = true;
    report
}

/// Finds the commands between backticks. A backtick in quotes does not end the text.
fn command_spans(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in line.match_indices('`') {
        let rest = &line[at + 1..];
        if !PROGRAMS
            .iter()
            .any(|program| rest.starts_with(&format!("{program} ")))
        {
            continue;
        }
        let mut quoted = false;
        let end = rest.find(|c| {
            quoted ^= c == '\'';
            c == '`' && !quoted
        });
        out.push(rest[..end.unwrap_or(rest.len())].to_owned());
    }
    out
}

fn possible_commands(format: Format, text: &str) -> Vec<String> {
    let mut out: Vec<String> = text.lines().flat_map(command_spans).collect();
    let starts = |line: &str| {
        PROGRAMS
            .iter()
            .any(|program| line.starts_with(&format!("{program} ")))
    };
    for line in text.lines() {
        let bare = line.trim_start_matches(['#', ' ']);
        let bare = ["apply ", "verify ", "undo "]
            .iter()
            .fold(bare, |line, label| {
                line.strip_prefix(label).map_or(line, str::trim_start)
            });
        if starts(bare) {
            out.push(bare.to_owned());
        }
        if let Some((_, command)) = line.split_once('(').filter(|(_, rest)| starts(rest)) {
            out.push(
                command
                    .split(") ")
                    .next()
                    .unwrap_or(command)
                    .trim_end_matches(')')
                    .to_owned(),
            );
        }
    }
    if format == Format::Script {
        let taken = |line: &str| match line.strip_prefix("#   ") {
            Some(command) => command.to_owned(),
            None => line.to_owned(),
        };
        let lines: Vec<String> = text.lines().map(taken).collect();
        out.push(
            lines
                .join("\n")
                .replace("I_HAVE_READ_THIS=no", "I_HAVE_READ_THIS=yes"),
        );
        out.push(text.to_owned());
    }
    out
}

fn collect_json_commands(value: &serde_json::Value, out: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                if ["apply", "verify", "undo"].contains(&key.as_str()) {
                    out.extend(
                        value
                            .as_array()
                            .into_iter()
                            .flatten()
                            .filter_map(|one| one.as_str())
                            .map(str::to_owned),
                    );
                }
                collect_json_commands(value, out);
            }
        }
        serde_json::Value::Array(values) => values
            .iter()
            .for_each(|value| collect_json_commands(value, out)),
        serde_json::Value::String(text) => out.extend(text.lines().flat_map(command_spans)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

#[test]
#[ignore = "exhaustive"]
fn printed_commands_execute_no_hostile_names() {
    let sandbox = ShellSandbox::new();
    let mut tried = 0;
    let rules = RuleSet::builtin();
    for name in NAMES {
        let mut reports = vec![
            report_of_mount_named(name, &rules),
            report_of_host_with_hostile_name(name, &rules),
        ];
        let asked = Report {
            asked: Some(format!("/mnt/{name}")),
            ..reports[0].clone()
        };
        reports.push(asked);
        let mut found = Vec::new();
        for (report, format) in reports
            .iter()
            .flat_map(|report| Format::ALL.iter().map(move |format| (report, *format)))
        {
            let text = format.render(report).unwrap();
            found.extend(possible_commands(format, &text));
            if let Ok(json) = serde_json::from_str(&text) {
                collect_json_commands(&json, &mut found);
            }
        }
        found.sort();
        found.dedup();
        tried += found.len();
        // Each command runs in its own subshell, so that a syntax error in one does not stop the
        // others.
        let eval = |command: &String| format!("(eval '{}')\n", command.replace('\'', "'\\''"));
        if sandbox
            .run_and_detect_injection(&found.iter().map(eval).collect::<String>())
            .is_some()
        {
            let guilty: Vec<String> = found
                .iter()
                .filter_map(|one| sandbox.run_and_detect_injection(one))
                .collect();
            panic!("{name:?} left a trace: {guilty:#?}");
        }
    }
    assert!(tried > 500, "only {tried} commands were found");
}

#[test]
fn sandbox_detects_unquoted_names() {
    let sandbox = ShellSandbox::new();
    for name in NAMES
        .iter()
        .filter(|name| name.starts_with(['$', '`', ';', '>', '|', '&']) && !name.contains("IFS"))
    {
        let line = format!("walwise check /mnt/{name} --format fstab");
        assert!(
            sandbox.run_and_detect_injection(&line).is_some(),
            "{name} leaves no trace"
        );
        let found = possible_commands(Format::Fstab, &format!("#   {line}\n"));
        assert_eq!(found, [line]);
    }
    assert_eq!(
        command_spans("say `walwise check '/a`b' x` now"),
        ["walwise check '/a`b' x"]
    );
}
