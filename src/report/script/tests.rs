//! Properties of a script: inert, valid shell, and never forceful.

use super::*;
use crate::deadline::ChildInTime as _;
use crate::facts::{Reading, Scope, Source, Subject, Value, catalog};
use crate::quote::{Command, shell};
use crate::report::{DeviceContent, sample};
use crate::rules::{Advice, Change, Reach, Risk};

/// The script where there is one.
fn render(report: &Report) -> String {
    super::render(report).unwrap()
}

/// The lines that a shell would execute.
fn active(script: &str) -> Vec<&str> {
    script.lines().filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty()).collect()
}

#[test]
fn nothing_runs_before_a_human_has_edited_it() {
    for report in sample::all() {
        let script = render(&report);
        assert!(script.contains("\nI_HAVE_READ_THIS=no "), "{script}");
        let lines = active(&script);
        let guard = lines.iter().position(|line| line.starts_with("[ \"$I_HAVE_READ_THIS\"")).unwrap();
        let before = lines.iter().take(guard).map(|line| line.split('=').next().unwrap().trim());
        let harmless =
            ["set -eu", "PATH", "LC_ALL", "export PATH LC_ALL", "I_HAVE_READ_THIS", "stop() {", "}"];
        for line in before {
            assert!(harmless.contains(&line) || line.starts_with("printf") || line == "exit 1", "{line}");
        }
    }
}

#[test]
fn what_is_mounted_already_gets_comments_only() {
    let script = render(&sample::at_risk());
    let (_, part) = script.split_once("# ====").unwrap();
    let part = &format!("# {part}");
    let told = "printf 'the commands that are no comments any more were run; nothing else was done\\n'";
    assert_eq!(active(part), [told, "exit 0"]);
    assert!(part.contains("#   mount -o remount,barrier=1 /srv\n"), "{part}");
}

#[test]
fn a_free_disk_is_checked_and_read_whole_before_mkfs_and_nothing_is_forced() {
    let script = render(&sample::free_disk());
    let lines = active(&script);
    let mkfs = lines.iter().position(|line| line.starts_with("mkfs.")).unwrap();
    assert_eq!(lines[mkfs], "mkfs.xfs -i nrext64=0 \"$DEVICE\"");
    assert_eq!(lines[mkfs - 1], "check_disk");
    let read = lines.iter().position(|line| line.trim() == "yes) read_all ;;").unwrap();
    assert!(read < mkfs && lines.contains(&"READ_ALL=yes            # no: trust the report instead"));
    assert!(script.contains("mount -t xfs -o noatime \"$DEVICE\" \"$MOUNTPOINT\""));
    assert!(script.contains("\nMOUNTPOINT= "));
    // A mount point has no cluster, so its settings would not be found there.
    assert!(script.contains("\nDATABASE= ") && script.contains("    directory=$MOUNTPOINT/$DATABASE\n"));
    assert!(script.contains("walwise check %s --format conf\\n' \"$directory\"\n"), "{script}");
}

#[test]
fn a_serial_number_that_is_the_identity_is_compared_where_it_was_read() {
    let mut report = sample::free_disk();
    let disks: Vec<Subject> = report.facts.subjects(Scope::Device).cloned().collect();
    for (file, serial, identity) in [("serial", "", "DATA-0"), ("device/serial", "DATA-0", "")] {
        for disk in &disks {
            let source = Source::file(format!("/sys/class/block/{}/{file}", disk.name()));
            report.facts.put(disk, &catalog::device::UNIT, Reading::not_collected());
            report.facts.know(disk, &catalog::device::SERIAL, "DATA-0".to_owned(), source);
        }
        let script = render(&report);
        assert!(script.contains(&format!("\nSERIAL={serial}\n")), "{script}");
        assert!(script.contains(&format!("\nIDENTITY={}\n", shell::quoted(identity).unwrap())), "{script}");
        assert!(!script.contains("I_COMPARED_THE_DISK"), "{script}");
    }
}

#[test]
fn the_line_for_fstab_can_be_pasted_and_how_the_disk_was_read_is_told() {
    let script = render(&sample::free_disk());
    let line = "printf 'UUID=%s %s xfs noatime 0 0\\n' \"$uuid\" \"$MOUNTPOINT\"";
    assert!(active(&script).contains(&line), "{script}");
    assert!(
        script.contains(
            "# No mount, swap space or other device uses it, and nothing was found in the places read."
        ),
        "{script}"
    );
}

#[test]
fn a_disk_of_unknown_size_gets_no_mkfs() {
    let mut report = sample::free_disk();
    let disks: Vec<Subject> = report.facts.subjects(Scope::Device).cloned().collect();
    for disk in disks {
        report.facts.put(&disk, &catalog::device::SIZE, Reading::not_collected());
    }
    let script = render(&report);
    assert!(!active(&script).iter().any(|line| line.contains("mkfs")), "{script}");
}

#[test]
fn a_disk_that_is_not_free_gets_no_script() {
    let holds = DeviceContent::Holds { holds: vec!["xfs".to_owned()] };
    let unreadable = DeviceContent::Unreadable { because: "Input/output error".to_owned(), remedy: None };
    for (content, says) in [(holds, "holds xfs"), (unreadable, "Input/output error")] {
        let mut report = sample::free_disk();
        report.targets[0].content = Some(content);
        let refused = super::render(&report).unwrap_err();
        assert!(refused.contains("/dev/sdc: no script is made.") && refused.contains(says), "{refused}");
    }
}

#[test]
fn hostile_text_stays_in_comments() {
    let evil = "x\n; rm -rf $(id) `id` '\"\u{202e}";
    let mut report = sample::free_disk();
    report.host.name = evil.to_owned();
    report.tool.version = evil.to_owned();
    for target in &mut report.targets {
        target.title = evil.to_owned();
    }
    let before = active(&render(&sample::free_disk())).join("\n");
    for step in &mut report.plans[0].steps {
        step.title = evil.to_owned();
    }
    assert_eq!(active(&render(&report)).join("\n"), before);

    for setting in ["mkfs.options", "mount.options", "filesystem"] {
        let mut report = sample::free_disk();
        let step = report.plans[0].steps.iter_mut().find(|step| step.advice.setting.name == setting).unwrap();
        let change = if setting == "filesystem" {
            Change::Set(evil.to_owned())
        } else {
            Change::Add(vec![evil.to_owned()])
        };
        step.advice.change = change;
        step.result = Some(evil.to_owned());
        let script = render(&report);
        assert!(
            !active(&script).iter().any(|line| line.contains("rm -rf") || line.contains("mkfs")),
            "{script}"
        );
    }
}

#[test]
fn force_is_no_option() {
    for word in ["-f", "-F", "-Ff", "-O x -F"] {
        let mut report = sample::free_disk();
        let plan = &mut report.plans[0];
        let step = plan.steps.iter_mut().find(|step| step.advice.setting.name == "mkfs.options").unwrap();
        step.advice.change = Change::Add(vec![word.to_owned()]);
        let script = render(&report);
        assert!(!active(&script).iter().any(|line| line.contains("mkfs")), "{word}: {script}");
    }
}

#[test]
fn a_server_setting_is_told_with_where_it_is_set_and_how_it_is_changed() {
    let cases = [
        (
            "fdatasync",
            "/etc/10.conf",
            Risk::NeedsReload,
            "in psql:\n#   ALTER SYSTEM SET wal_sync_method = 'fdatasync'; SELECT pg_reload_conf();\n",
        ),
        (
            "fdatasync",
            "/etc/10.conf",
            Risk::NeedsRestart,
            "in psql, then restart the server:\n#   ALTER SYSTEM SET wal_sync_method = 'fdatasync';\n",
        ),
        (
            "o'x, \\y\nz",
            "/etc/10.conf",
            Risk::NeedsRestart,
            "  ALTER SYSTEM SET wal_sync_method = 'o''x, \\y?z';\n",
        ),
        (
            "fdatasync",
            "/proc/10/cmdline",
            Risk::NeedsReload,
            "the command line wins over files: change it there and restart\n",
        ),
    ];
    for (value, file, risk, told) in cases {
        let mut report = sample::at_risk();
        let step = report.plans[0].steps.first_mut().unwrap();
        step.advice = Advice {
            risk,
            current: Reading::known(Value::Text("open_sync".to_owned()), Source::line(file, 1)),
            ..sample::advice("pg.wal_sync_method", Change::Set(value.to_owned()))
        };
        let script = render(&report);
        assert!(
            script.contains(&format!("# now: open_sync, set in {file}:1\n")) && script.contains(told),
            "{script}"
        );
        assert!(!script.contains("by hand"), "{script}");
        assert_eq!(script.contains("ALTER SYSTEM"), told.contains("ALTER SYSTEM"), "{script}");
        assert_eq!(active(&script), active(&render(&sample::at_risk())), "{script}");
    }
}

#[test]
fn destruction_is_named() {
    let mut report = sample::at_risk();
    let step = report.plans[0].steps.first_mut().unwrap();
    step.advice = Advice {
        reach: Reach::WholeFilesystem,
        risk: Risk::NeedsNewFilesystem,
        apply: vec![Command::new("mkfs.ext4 /dev/md0\nreboot")],
        ..sample::advice("filesystem", Change::Set("ext4".to_owned()))
    };
    let script = render(&report);
    assert!(script.contains("!!!! DESTROYS"), "{script}");
    assert!(script.contains("#   mkfs.ext4 /dev/md0\n# reboot\n"), "a second line stays a comment: {script}");
}

#[test]
fn a_shell_can_read_it() {
    for report in sample::all() {
        let shell = std::process::Command::new("/bin/sh")
            .arg("-n")
            .stdin(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let output = shell.fed_in_time(render(&report).as_bytes());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Both as delivered and as edited.
#[test]
#[ignore = "needs shellcheck"]
fn a_linter_of_shells_finds_nothing() {
    use std::process::{Command, Stdio};
    for report in sample::all() {
        let script = render(&report);
        let edited = script.replace("I_HAVE_READ_THIS=no ", "I_HAVE_READ_THIS=yes");
        let edited = edited.replace("MOUNTPOINT= ", "MOUNTPOINT=/srv/new");
        for script in [script, edited] {
            let linter = Command::new("shellcheck")
                .args(["--norc", "--shell=sh", "--severity=style", "-"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let output = linter.fed_in_time(script.as_bytes());
            assert!(output.status.success(), "{}\n{script}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

#[test]
fn every_blank_of_the_template_is_filled_in_and_nothing_else() {
    for report in sample::all() {
        let script = render(&report);
        assert!(!script.contains('@'), "{script}");
    }
    assert_eq!(new::fill("a @b@ @c@", &[("b", "@c@"), ("c", "d")]), "a @c@ d");
}
