//! An attacker's process pretends to be another user's server. Root must get the settings of the
//! real server.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::attack_directory::{
    AttackDirectory, SECRET, chown_to_attacker, create_attacker_symlink, write_attacker_file,
};
use super::attempts::Attempts;
use super::fakes::{
    FakeServerPrograms, create_mariadb_data, create_postgres_data, postmaster_pid_text,
};
use super::root::{self, RunResult};
use super::stranger::{UID, attacker_command, command_as_uid};
use super::support::mariadb::Mariadb;
use super::support::postgres::Cluster;
use super::support::running::{child_pids, wait_for_condition};

pub fn setting_mismatches(report: &Value, data: &Path, fact: &str, is: &Value) -> Vec<String> {
    let subject = format!("cluster {}", data.display());
    let rows = report["facts"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["subject"] == subject.as_str() && row["fact"] == fact);
    match row {
        None => vec![format!("{fact} of {subject} is not in the report")],
        Some(row) if row["reading"]["value"] != *is => {
            vec![format!(
                "{fact} of {subject} is said to be {}",
                row["reading"]
            )]
        }
        Some(_) => Vec::new(),
    }
}

fn run_json_check() -> RunResult {
    root::run_with_timeout(&mut root::walwise_from_cron([
        "check",
        "--no-probe",
        "-v",
        "--format",
        "json",
    ]))
}

const GUISES: [(&str, &[&str]); 4] = [
    ("in the open", &[]),
    ("in a user and mount name space", &["unshare", "-Urm"]),
    (
        "in a pid name space, too",
        &["unshare", "-Urmpf", "--kill-child"],
    ),
    ("with a name of its own", &["unshare", "-Urmu"]),
];

fn impostor_command(fakes: &FakeServerPrograms, guise: &[&str], name: &str) -> Command {
    let program = fakes.program(name);
    let mut command = match guise.split_first() {
        None => fakes.command(name),
        Some((first, rest)) => {
            let mut command = attacker_command(first);
            command.args(rest).arg(&program);
            command
        }
    };
    command.current_dir("/");
    command
}

/// The attacker's process claims the data directory of a real server, with fsync on, and is older
/// than the real server, whose fsync is off. The attacker wants the report to state that fsync is
/// on.
#[test]
#[ignore = "needs root and a PostgreSQL: it attacks as another user"]
fn impostor_settings_are_not_reported_for_postgresql() {
    let mut attempts =
        Attempts::for_attack("a stranger's process that names a real PostgreSQL directory");
    for (guise, words) in GUISES {
        let ground = AttackDirectory::new();
        let fakes = FakeServerPrograms::install_in(&ground);
        let cluster = Cluster::new();
        // The impostor starts before the real server, so the impostor has the lower pid.
        let mut command = impostor_command(&fakes, words, "postgres");
        command
            .arg("-D")
            .arg(&cluster.data)
            .args(["-c", "fsync=on", "-c", "full_page_writes=off"]);
        let before = start_impostor(&fakes, &mut command, words);
        cluster.start();
        let mut younger = impostor_command(&fakes, words, "postgres");
        younger
            .arg("-D")
            .arg(&cluster.data)
            .args(["-c", "fsync=on", "-c", "full_page_writes=off"]);
        let after = start_impostor(&fakes, &mut younger, words);
        let report = run_json_check().stdout_json();
        let mut gains = setting_mismatches(&report, &cluster.data, "pg.fsync", &false.into());
        gains.extend(setting_mismatches(
            &report,
            &cluster.data,
            "pg.full_page_writes",
            &true.into(),
        ));
        attempts.record_attempt(&format!("a server that runs, {guise}"), &gains);
        cluster.stop();
        let stopped = self::run_json_check().stdout_json();
        let said =
            |fact| setting_mismatches(&stopped, &cluster.data, fact, &true.into()).is_empty();
        let gains = ["pg.running", "pg.fsync"]
            .into_iter()
            .filter(|fact| said(fact));
        let gains: Vec<String> = gains
            .map(|fact| format!("{fact} is said to be true"))
            .collect();
        attempts.record_attempt(&format!("a server that is stopped, {guise}"), &gains);
        drop((before, after));
    }
    attempts.write_tally_and_assert();
}

fn start_impostor(
    fakes: &FakeServerPrograms,
    command: &mut Command,
    guise: &[&str],
) -> super::fakes::FakeServer {
    if !guise.contains(&"-Urmpf") {
        return fakes.start_and_wait_for_name(command, "postgres");
    }
    // The server is a child of the started program.
    let fake = fakes.start(command);
    wait_for_condition("a server in a name space", || {
        child_pids(fake.pid()).iter().any(|pid| {
            fs::read_to_string(format!("/proc/{pid}/comm"))
                .is_ok_and(|comm| comm.trim() == "postgres")
        })
    });
    fake
}

/// In a mount namespace, the attacker mounts a directory over the real one, with files that name
/// the attacker's server. The attacker wants those files to be taken for the real ones.
#[test]
#[ignore = "needs root and a PostgreSQL: it attacks as another user"]
fn impostor_data_mounted_over_real_directory_is_not_reported() {
    let mut attempts =
        Attempts::for_attack("a directory mounted over a real one in a stranger's name space");
    let ground = AttackDirectory::new();
    let fakes = FakeServerPrograms::install_in(&ground);
    let cluster = Cluster::new();
    let own = ground.create_attacker_directory("own");
    create_postgres_data(&own);
    write_attacker_file(&own.join("postgresql.conf"), "fsync = on\n", 0o644);
    let mut command = attacker_command("unshare");
    let script = "mount --bind \"$1\" \"$2\" && printf '%s\\n%s\\n1700000000\\n5432\\n%s\\n' $$ \"$2\" \"$2\" \
                  > \"$2/postmaster.pid\" && exec \"$3\" -D \"$2\" -c fsync=on";
    command
        .args(["-Urm", "sh", "-c", script, "sh"])
        .arg(&own)
        .arg(&cluster.data)
        .arg(fakes.program("postgres"));
    let fake = fakes.start_and_wait_for_name(&mut command, "postgres");
    cluster.start();
    let gains = setting_mismatches(
        &run_json_check().stdout_json(),
        &cluster.data,
        "pg.fsync",
        &false.into(),
    );
    attempts.record_attempt("a bind mount", &gains);
    // With the real server stopped, only the impostor remains.
    cluster.stop();
    let stopped = run_json_check().stdout_json();
    let said = setting_mismatches(&stopped, &cluster.data, "pg.running", &true.into()).is_empty();
    let gains = if said {
        vec!["the stranger's server is said to run there".to_owned()]
    } else {
        Vec::new()
    };
    attempts.record_attempt("a bind mount, and the server is stopped", &gains);
    drop(fake);
    attempts.write_tally_and_assert();
}

/// The attacker's `postmaster.pid` names the process, directory or socket of a real server. The
/// attacker wants false settings for that server, or its settings reported for the attacker's
/// directory.
#[test]
#[ignore = "needs root and a PostgreSQL: it attacks as another user"]
fn forged_postmaster_pid_claims_no_other_server() {
    let mut attempts =
        Attempts::for_attack("a `postmaster.pid` that names another server's process or socket");
    let ground = AttackDirectory::new();
    let fakes = FakeServerPrograms::install_in(&ground);
    let cluster = Cluster::new();
    cluster.start();
    let real = fs::read_to_string(cluster.data.join("postmaster.pid")).unwrap();
    let pid: u32 = real.lines().next().unwrap().parse().unwrap();
    for variant in ["its process", "its directory", "its socket"] {
        let data = ground.create_attacker_directory(&variant.replace(' ', "-"));
        create_postgres_data(&data);
        write_attacker_file(&data.join("postgresql.conf"), "fsync = on\n", 0o644);
        let text = match variant {
            "its process" => postmaster_pid_text(pid, &data, &data),
            "its directory" => real.clone(),
            _ => String::new(),
        };
        if !text.is_empty() {
            write_attacker_file(&data.join("postmaster.pid"), text, 0o600);
        }
        let fake = fakes.start_postgres(&data, &["-c", "fsync=on"]);
        if variant == "its socket" {
            let text = postmaster_pid_text(fake.pid(), &data, cluster.temporary_directory())
                .replace("\n5432\n", "\n5499\n");
            write_attacker_file(&data.join("postmaster.pid"), text, 0o600);
        }
        let report = run_json_check().stdout_json();
        let mut gains = setting_mismatches(&report, &cluster.data, "pg.fsync", &false.into());
        let theirs = format!("cluster {}", data.display());
        let rows = report["facts"].as_array().unwrap();
        let asked = rows.iter().any(|row| {
            row["subject"] == theirs.as_str()
                && row["fact"] == "pg.fsync"
                && row["reading"]["value"] == false
        });
        if asked {
            gains.push("what another server says is said of the stranger's directory".to_owned());
        }
        attempts.record_attempt(variant, &gains);
        drop(fake);
    }
    attempts.write_tally_and_assert();
}

/// The attacker's process is called MariaDB and works in the data directory of a real one. The
/// attacker wants the process's options reported for the real server.
#[test]
#[ignore = "needs root and a MariaDB: it attacks as another user"]
fn impostor_options_are_not_reported_for_mariadb() {
    let mut attempts =
        Attempts::for_attack("a stranger's process that works in a real MariaDB directory");
    for (guise, words) in GUISES {
        if words.contains(&"-Urmpf") {
            continue;
        }
        let ground = AttackDirectory::new();
        let fakes = FakeServerPrograms::install_in(&ground);
        let place = ground.create_directory("srv", 0o755);
        let mut server =
            Mariadb::new_below(&place, "[mysqld]\ninnodb_flush_log_at_trx_commit = 0\n");
        let data = server.data.canonicalize().unwrap();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
        write_attacker_file(
            &ground.join("own.cnf"),
            format!("[mysqld]\ndatadir={}\n", data.display()),
            0o644,
        );
        let own = format!("--defaults-file={}", ground.join("own.cnf").display());
        let mut command = impostor_command(&fakes, words, "mariadbd");
        command
            .current_dir(&data)
            .args([&own, "--innodb-flush-log-at-trx-commit=1"]);
        let before = fakes.start_and_wait_for_name(&mut command, "mariadbd");
        server.start();
        let mut younger = impostor_command(&fakes, words, "mariadbd");
        younger
            .current_dir(&data)
            .args([&own, "--innodb-flush-log-at-trx-commit=1"]);
        let after = fakes.start_and_wait_for_name(&mut younger, "mariadbd");
        // The report may or may not contain the real server's settings, but never the impostor's.
        let subject = format!("cluster {}", data.display());
        let report = run_json_check().stdout_json();
        let rows = report["facts"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["subject"] == subject.as_str());
        let rows = rows.filter(|row| row["fact"] == "mysql.innodb_flush_log_at_trx_commit");
        let said = rows.map(|row| row["reading"].to_string());
        let gains: Vec<String> = said
            .filter(|said| said.contains(":1,") || said.contains(":1}") || said.contains("was 1"))
            .collect();
        attempts.record_attempt(&format!("a server that runs, {guise}"), &gains);
        // With the real server stopped, only the impostor remains.
        drop(server);
        let stopped = self::run_json_check().stdout_json();
        let said = setting_mismatches(&stopped, &data, "mysql.running", &true.into()).is_empty();
        let gains = if said {
            vec!["mysql.running is said to be true".to_owned()]
        } else {
            Vec::new()
        };
        attempts.record_attempt(&format!("a server that is stopped, {guise}"), &gains);
        drop((before, after));
    }
    attempts.write_tally_and_assert();
}

/// The attacker's link `postgres` leads to a setuid program, so the process has two users. The
/// attacker wants root to take the program's owner for the server's owner, and to follow links with
/// that owner's rights.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_setuid_program_is_no_server_of_its_owner() {
    let mut attempts =
        Attempts::for_attack("a link called `postgres` to a setuid or setgid program");
    for mode in [0o4755, 0o2755, 0o6755] {
        for name in ["postgres", "mariadbd"] {
            let ground = AttackDirectory::new();
            let fakes = FakeServerPrograms::install_in(&ground);
            // Stands for su and passwd, which wait for a password.
            let privileged = ground.create_directory("sbin", 0o755).join("privileged");
            fs::copy("/usr/bin/echo", &privileged).unwrap();
            fs::set_permissions(&privileged, fs::Permissions::from_mode(mode)).unwrap();
            let bin = ground.create_attacker_directory("bin");
            create_attacker_symlink(&privileged, &bin.join(name));
            let data = ground.create_attacker_directory("data");
            // Only the program's user or group may read this file, but every user can reach the
            // path.
            let secret = ground.create_directory("etc", 0o755).join("shadow");
            let text =
                format!("{SECRET}\nfsync = {SECRET}\n[mysqld]\ninnodb_flush_method={SECRET}\n");
            fs::write(&secret, text).unwrap();
            fs::set_permissions(&secret, fs::Permissions::from_mode(0o640)).unwrap();
            let mut command = command_as_uid(UID, bin.join(name));
            if name == "postgres" {
                create_postgres_data(&data);
                for file in ["PG_VERSION", "postgresql.auto.conf"] {
                    create_attacker_symlink(&secret, &data.join(file));
                }
                command.arg("-D").arg(&data);
            } else {
                create_mariadb_data(&data);
                command.arg(format!("--defaults-file={}", secret.display()));
            }
            let fake = fakes.start(command.current_dir(&data));
            if name == "postgres" {
                write_attacker_file(
                    &data.join("postmaster.pid"),
                    postmaster_pid_text(fake.pid(), &data, &data),
                    0o600,
                );
            }
            let status = fs::read_to_string(format!("/proc/{}/status", fake.pid())).unwrap();
            let two = |key: &str| {
                let line = status
                    .lines()
                    .find_map(|line| line.strip_prefix(key))
                    .unwrap();
                line.split_whitespace().nth(1) == Some("0")
            };
            assert!(two("Uid:") || two("Gid:"), "it is nobody else: {status}");
            for arguments in [
                &["check", "--no-probe", "-v", "--format", "json"][..],
                &["capture"],
            ] {
                let ended = root::run_with_timeout(&mut root::walwise_from_cron(arguments));
                let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
                if ended.combined_output().contains(SECRET) {
                    gains.push("root says what only root may know".to_owned());
                }
                if arguments[0] == "check" {
                    let report = ended.stdout_json();
                    let subject = format!("cluster {}", data.display());
                    let rows = report["facts"].as_array().unwrap();
                    let running = rows.iter().any(|row| {
                        row["subject"] == subject.as_str()
                            && row["fact"]
                                .as_str()
                                .is_some_and(|fact| fact.ends_with(".running"))
                            && row["reading"]["value"] == true
                    });
                    // A process that differs only in its group still counts as the attacker's own
                    // server.
                    if running && mode & 0o4000 != 0 {
                        gains.push("it is taken for a server".to_owned());
                    }
                }
                attempts.record_attempt(&format!("{name} {mode:o}, {}", arguments[0]), &gains);
            }
            drop(fake);
        }
    }
    attempts.write_tally_and_assert();
}

#[test]
#[ignore = "needs root: it attacks as another user"]
fn options_are_not_reported_for_foreign_directory() {
    let mut attempts = Attempts::for_attack("a process that names a directory of another owner");
    for owner in [0, 65534] {
        for by_link in [false, true] {
            let ground = AttackDirectory::new();
            let fakes = FakeServerPrograms::install_in(&ground);
            let data = ground.create_directory("data", 0o755);
            create_postgres_data(&data);
            fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
            std::os::unix::fs::chown(&data, Some(owner), Some(owner)).unwrap();
            let named = if by_link {
                ground.create_attacker_directory("theirs").join("data")
            } else {
                data.clone()
            };
            if by_link {
                symlink(&data, &named).unwrap();
                chown_to_attacker(&named);
            }
            let fake = fakes.start_postgres(&named, &["-c", "fsync=off"]);
            let report = run_json_check().stdout_json();
            let subject = format!("cluster {}", data.display());
            let rows = report["facts"].as_array().unwrap();
            let said = rows.iter().any(|row| {
                row["subject"] == subject.as_str()
                    && row["fact"] == "pg.fsync"
                    && row["reading"]["value"] == false
            });
            let gains = if said {
                vec!["his options are said of it".to_owned()]
            } else {
                Vec::new()
            };
            attempts.record_attempt(&format!("of uid {owner}, by a link: {by_link}"), &gains);
            drop(fake);
        }
    }
    attempts.write_tally_and_assert();
}
