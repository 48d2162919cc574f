//! Mount points and directories whose names a shell would interpret. A shell runs every printed
//! command that contains such a name.
//!
//! The shell runs as nobody in an empty directory, finds only stubs of all programs, and leaves a
//! file if a name was interpreted.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::Value;

use super::attack_directory::{AttackDirectory, write_attacker_file};
use super::attempts::Attempts;
use super::control_characters::terminal_injections;
use super::fakes::{FakeServerPrograms, create_mariadb_data, create_postgres_data};
use super::root;
use super::stranger::attacker_command;
use super::support::loops::LoopDevice;
use super::support::postgres::Cluster;

const TRACE: &str = "TRACE";

const NAMES: [&str; 14] = [
    "$(:>TRACE)",
    "`:>TRACE`",
    "';:>TRACE;'",
    "\";:>TRACE;\"",
    "\";:>TRACE;#",
    "a b;:>TRACE;c",
    "a&:>TRACE&",
    "a|:>TRACE|b",
    "a\n:>TRACE\nEVIL=1",
    "-o remount;:>TRACE",
    "\\\\$(:>TRACE)",
    "'\\''$(:>TRACE)",
    "%h${TRACE:=x}$(:>TRACE)",
    "#~*?[$(:>TRACE)]{a,b}!",
];

const PROGRAMS: &[&str] = &[
    "walwise",
    "mount",
    "umount",
    "findmnt",
    "tune2fs",
    "e2fsck",
    "dumpe2fs",
    "xfs_info",
    "xfs_admin",
    "xfs_io",
    "mkfs.ext4",
    "mkfs.xfs",
    "mkfs.btrfs",
    "btrfs",
    "blkid",
    "lsblk",
    "cat",
    "echo",
    "printf",
    "sudo",
    "runuser",
    "su",
    "systemctl",
    "systemd-analyze",
    "udevadm",
    "psql",
    "mysql",
    "mariadb",
    "mkdir",
    "chmod",
    "chown",
    "chattr",
    "lsattr",
    "sysctl",
    "tee",
    "cp",
    "mv",
    "ln",
    "rm",
    "rmdir",
    "test",
    "[",
    "df",
    "ls",
    "id",
    "fstrim",
    "initdb",
    "pg_ctl",
    "pg_controldata",
    "pg_checksums",
    "pg_test_fsync",
    "zfs",
    "zpool",
    "hdparm",
    "sdparm",
    "nvme",
    "smartctl",
    "dmsetup",
    "lvs",
    "mdadm",
    "blockdev",
    "modprobe",
    "grep",
    "sed",
    "sh",
    "dd",
    "sync",
    "cd",
    "env",
    "echo",
];

/// Whether the text starts with a program's name. Texts such as "mount /srv" and "mysql in /srv"
/// are names of subjects and do not count.
fn starts_with_program_name(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    PROGRAMS.contains(&first)
        && !["mount /", "mariadb in ", "mysql in "]
            .iter()
            .any(|name| text.starts_with(name))
}

fn commands_in_text(document: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let lines = document
        .lines()
        .map(|line| line.trim_start_matches([' ', '#', '$', '-', '|', '>']));
    for line in lines {
        let mut rest = line;
        for label in ["apply", "verify", "undo", "try", "run", "or"] {
            rest = rest
                .strip_prefix(label)
                .filter(|rest| rest.starts_with([' ', ':']))
                .unwrap_or(rest);
            rest = rest.trim_start_matches([' ', ':']);
        }
        if starts_with_program_name(rest) {
            found.insert(rest.to_owned());
        }
        // A line for fstab contains a command substitution, which the reader's `echo` would run.
        if rest.contains("=$(blkid") {
            found.insert(format!("echo \"{rest}\""));
        }
    }
    found.extend(backquoted_commands(document));
    found
}

fn backquoted_commands(text: &str) -> impl Iterator<Item = String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|span| starts_with_program_name(span))
        .map(str::to_owned)
}

fn collect_json_commands(value: &Value, key: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(key, value)| collect_json_commands(value, key, found)),
        Value::Array(all) => all
            .iter()
            .for_each(|value| collect_json_commands(value, key, found)),
        Value::String(text) => {
            if [
                "apply", "verify", "undo", "commands", "command", "run", "try",
            ]
            .contains(&key)
            {
                found.insert(text.clone());
            }
            found.extend(backquoted_commands(text));
        }
        _ => {}
    }
}

fn visible_text_and_json(page: &str) -> (String, &str) {
    let (page, inside) = page
        .split_once("<script type=\"application/json\"")
        .unwrap();
    let (_, inside) = inside.split_once('>').unwrap();
    let (inside, _) = inside.split_once("</script>").unwrap();
    let mut text = String::new();
    for piece in page.split('<').skip(1) {
        let (tag, shown) = piece.split_once('>').unwrap();
        text.push(if ["code", "/code"].contains(&tag) {
            '`'
        } else {
            '\n'
        });
        text.push_str(shown);
    }
    for (escaped, sign) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        text = text.replace(escaped, sign);
    }
    (text, inside)
}

struct StubbedShell {
    stubs: PathBuf,
    place: PathBuf,
}

impl StubbedShell {
    fn create_in(ground: &AttackDirectory) -> Self {
        let stubs = ground.create_directory("stubs", 0o755);
        for name in PROGRAMS.iter().collect::<BTreeSet<_>>() {
            symlink("/bin/true", stubs.join(name)).unwrap();
        }
        Self {
            stubs,
            place: ground.create_attacker_directory("shell"),
        }
    }

    fn run_and_detect_injection_file(&self, text: &str) -> bool {
        let mut command = attacker_command("/bin/sh");
        command
            .env("PATH", &self.stubs)
            .current_dir(&self.place)
            .arg("-c")
            .arg(text);
        root::run_with_timeout(&mut command);
        let left: Vec<_> = fs::read_dir(&self.place)
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        // A redirection may have created a file of any name.
        let fooled = left.iter().any(|path| path.ends_with(TRACE));
        for path in left {
            let _ = fs::remove_file(path);
        }
        fooled
    }
}

fn executed_injections(shell: &StubbedShell, document: &str, json: bool) -> Vec<String> {
    if document.starts_with("<!DOCTYPE html>") {
        let (text, inside) = visible_text_and_json(document);
        return [
            executed_injections(shell, &text, false),
            executed_injections(shell, inside, true),
        ]
        .concat();
    }
    let mut found = commands_in_text(document);
    if json {
        found.clear();
        let value =
            serde_json::from_str(document).unwrap_or_else(|e| panic!("no JSON ({e}): {document}"));
        collect_json_commands(&value, "", &mut found);
    }
    if document.starts_with("#!/bin/sh") {
        // Runs the script as after a review: with confirmation, and with stubs in PATH.
        let path = format!("PATH={}", shell.stubs.display());
        let ready = document.replace("PATH=/usr/sbin:/usr/bin:/sbin:/bin", &path);
        found.insert(ready.replace("I_HAVE_READ_THIS=no", "I_HAVE_READ_THIS=yes"));
        found.insert(
            document
                .lines()
                .filter_map(|line| line.strip_prefix("#   "))
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }
    let traces = found.into_iter().filter(|text| text.contains(TRACE));
    traces
        .filter(|text| shell.run_and_detect_injection_file(text))
        .map(|text| format!("a shell obeys {text:?}"))
        .collect()
}

/// The shell must leave the file for an unquoted name; otherwise the tests below would prove
/// nothing.
#[test]
#[ignore = "needs root: it runs commands as another user"]
fn stubbed_shell_detects_unquoted_names() {
    let ground = AttackDirectory::new();
    let shell = StubbedShell::create_in(&ground);
    for name in NAMES {
        let bare = format!("umount /srv/{name}");
        let double = format!("umount \"/srv/{name}\"");
        let single = format!("umount '/srv/{name}'");
        let fooled = [&bare, &double, &single]
            .into_iter()
            .any(|text| shell.run_and_detect_injection_file(text));
        assert!(fooled, "{name:?}");
        let quoted = format!("umount '/srv/{}'", name.replace('\'', "'\\''"));
        assert!(!shell.run_and_detect_injection_file(&quoted), "{quoted}");
    }
    let found = commands_in_text(
        "try `walwise check /x --format fstab` or\n  apply    mount -o rw '/x'\nmount /x is ext4\n",
    );
    assert_eq!(
        found.iter().filter(|text| !text.contains('\n')).count(),
        2,
        "{found:?}"
    );
    let page = "<p>try <code>walwise check &#39;/x&#39;</code></p><pre>umount /y\n</pre><script type=\"application/json\">\n{}</script>";
    let (text, inside) = visible_text_and_json(page);
    let found = commands_in_text(&text);
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        ["umount /y", "walwise check '/x'"]
    );
    assert_eq!(inside.trim(), "{}");
}

const COVERED: &str = "mount --make-rprivate / && mount --bind \"$1/fstab\" /etc/fstab && \
    mount --bind \"$1/units\" /etc/systemd/system && mount -o nobarrier,data=writeback \"$2\" \"$3\" && \
    mkdir -p \"$3/d\" && shift 3 && exec \"$@\"";

/// A file system that needs advice is mounted at a hostile path, by fstab, a unit or by hand. The
/// attacker wants one printed command to execute code from the path.
#[test]
#[ignore = "needs root and loop devices: it attacks as another user"]
fn printed_commands_quote_mount_points() {
    let mut attempts = Attempts::for_attack("hostile mount points in every printed command");
    let disk = LoopDevice::new(64);
    let forms = root::output_formats();
    disk.mkfs(&["mkfs.ext4", "-q"]);
    for (n, name) in NAMES.into_iter().enumerate() {
        let ground = AttackDirectory::new();
        let shell = StubbedShell::create_in(&ground);
        let point = ground.join("").join(name);
        fs::create_dir(&point).unwrap();
        let cover = ground.create_directory("cover", 0o755);
        fs::create_dir(cover.join("units")).unwrap();
        let octal = |c: char| {
            if " \t\n\\#".contains(c) {
                format!("\\{:03o}", c as u32)
            } else {
                c.to_string()
            }
        };
        let shown: String = point.to_str().unwrap().chars().map(octal).collect();
        let line = if n % 3 == 0 {
            format!(
                "{} {shown} ext4 nobarrier,data=writeback 0 2\n",
                disk.device
            )
        } else {
            String::new()
        };
        fs::write(cover.join("fstab"), line).unwrap();
        if n % 3 == 1 {
            let place = point
                .display()
                .to_string()
                .replace('%', "%%")
                .replace('\n', "\\x0a");
            let unit = format!(
                "[Mount]\nWhat={}\nWhere={place}\nType=ext4\nOptions=nobarrier,data=writeback\n",
                disk.device
            );
            fs::write(cover.join("units/evil.mount"), unit).unwrap();
        }
        for form in &forms {
            let mut command = root::cron_command("unshare");
            command
                .args(["-m", "sh", "-c", COVERED, "sh"])
                .arg(&cover)
                .arg(&disk.device)
                .arg(&point);
            command
                .args([
                    crate::support::programs::walwise_path(),
                    "check",
                    "--no-probe",
                    "--format",
                    form,
                ])
                .arg(point.join("d"));
            let ended = root::run_with_timeout(&mut command);
            assert!(
                !ended.out.is_empty(),
                "{name:?} {form:?}: {}",
                ended.combined_output()
            );
            let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
            gains.extend(executed_injections(
                &shell,
                &String::from_utf8_lossy(&ended.out),
                form == "json",
            ));
            gains.extend(terminal_injections(&ended.out));
            gains.extend(executed_injections(
                &shell,
                &String::from_utf8_lossy(&ended.err),
                false,
            ));
            attempts.record_attempt(&format!("{name:?}, {form}"), &gains);
        }
    }
    attempts.write_tally_and_assert();
}

/// Data directories, sockets and option files of the attacker's servers have hostile names. The
/// attacker wants one printed command to execute code from a name.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn printed_commands_quote_data_directories() {
    let mut attempts =
        Attempts::for_attack("hostile data directories and sockets in every printed command");
    let ground = AttackDirectory::new();
    let shell = StubbedShell::create_in(&ground);
    let fakes = FakeServerPrograms::install_in(&ground);
    let mut servers = Vec::new();
    for name in NAMES {
        let data = ground.join("").join(format!("pg{name}"));
        fs::create_dir(&data).unwrap();
        create_postgres_data(&data);
        write_attacker_file(
            &data.join("postgresql.conf"),
            "fsync = off\nfull_page_writes = off\n",
            0o644,
        );
        servers.push(fakes.start_postgres(&data, &[]));
        let data = ground.join("").join(format!("my{name}"));
        create_mariadb_data(&data);
        let file = data.join("my.cnf");
        let text = format!(
            "[mysqld]\ninnodb_flush_log_at_trx_commit=0\nskip-innodb-doublewrite\nsocket={}/sock\n",
            data.display()
        );
        write_attacker_file(&file, text, 0o644);
        servers.push(fakes.start_mariadb(&data, &[&format!("--defaults-file={}", file.display())]));
    }
    // A command names a socket only if a server answers there.
    let mut cluster = Cluster::new();
    let place = ground.join("").join(NAMES[0]);
    fs::create_dir(&place).unwrap();
    cluster.chown_to_server(&place);
    cluster.arguments = format!("-k '{}'", place.display());
    cluster.start();
    for form in root::output_formats() {
        // Only the verbose text report contains every command.
        let whole: &[&str] = if form == "text" { &["-v"] } else { &[] };
        let ended = root::run_with_timeout(
            root::walwise_from_cron(["check", "--no-probe", "--format", &form]).args(whole),
        );
        let found = commands_in_text(&String::from_utf8_lossy(&ended.out));
        let named = found.iter().any(|text| text.contains(TRACE));
        assert!(
            named || form != "text",
            "no command names the socket, so that nothing is shown: {found:?}"
        );
        let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
        gains.extend(executed_injections(
            &shell,
            &String::from_utf8_lossy(&ended.out),
            form == "json",
        ));
        gains.extend(terminal_injections(&ended.out));
        attempts.record_attempt(&form, &gains);
    }
    drop(servers);
    attempts.write_tally_and_assert();
}
