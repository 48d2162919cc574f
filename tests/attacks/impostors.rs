//! An attacker's process pretends to be another user's server. Root must get the settings of the
//! real server.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::attempts::Attempts;
use super::fakes::{Fakes, mariadb_data, pid_file, postgres_data};
use super::ground::{Ground, SECRET, give, link, put};
use super::root::{self, Ended};
use super::stranger::{UID, as_uid, stranger};
use super::support::mariadb::Mariadb;
use super::support::postgres::Cluster;
use super::support::running::{children, wait_for};

pub fn setting(report: &Value, data: &Path, fact: &str, is: &Value) -> Vec<String> {
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

fn report() -> Ended {
    root::end(&mut root::walwise([
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

fn in_guise(fakes: &Fakes, guise: &[&str], name: &str) -> Command {
    let program = fakes.program(name);
    let mut command = match guise.split_first() {
        None => fakes.command(name),
        Some((first, rest)) => {
            let mut command = stranger(first);
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
fn nobody_speaks_for_a_postgresql() {
    let mut attempts = Attempts::at("a stranger's process that names a real PostgreSQL directory");
    for (guise, words) in GUISES {
        let ground = Ground::new();
        let fakes = Fakes::on(&ground);
        let cluster = Cluster::new();
        // The impostor starts before the real server, so the impostor has the lower pid.
        let mut command = in_guise(&fakes, words, "postgres");
        command
            .arg("-D")
            .arg(&cluster.data)
            .args(["-c", "fsync=on", "-c", "full_page_writes=off"]);
        let before = start(&fakes, &mut command, words);
        cluster.start();
        let mut younger = in_guise(&fakes, words, "postgres");
        younger
            .arg("-D")
            .arg(&cluster.data)
            .args(["-c", "fsync=on", "-c", "full_page_writes=off"]);
        let after = start(&fakes, &mut younger, words);
        let report = report().json();
        let mut gains = setting(&report, &cluster.data, "pg.fsync", &false.into());
        gains.extend(setting(
            &report,
            &cluster.data,
            "pg.full_page_writes",
            &true.into(),
        ));
        attempts.made(&format!("a server that runs, {guise}"), &gains);
        cluster.stop();
        let stopped = self::report().json();
        let said = |fact| setting(&stopped, &cluster.data, fact, &true.into()).is_empty();
        let gains = ["pg.running", "pg.fsync"]
            .into_iter()
            .filter(|fact| said(fact));
        let gains: Vec<String> = gains
            .map(|fact| format!("{fact} is said to be true"))
            .collect();
        attempts.made(&format!("a server that is stopped, {guise}"), &gains);
        drop((before, after));
    }
    attempts.end();
}

fn start(fakes: &Fakes, command: &mut Command, guise: &[&str]) -> super::fakes::Fake {
    if !guise.contains(&"-Urmpf") {
        return fakes.start_through(command, "postgres");
    }
    // The server is a child of the started program.
    let fake = fakes.start(command);
    wait_for("a server in a name space", || {
        children(fake.pid()).iter().any(|pid| {
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
fn nobody_speaks_for_a_postgresql_from_behind_a_mount() {
    let mut attempts =
        Attempts::at("a directory mounted over a real one in a stranger's name space");
    let ground = Ground::new();
    let fakes = Fakes::on(&ground);
    let cluster = Cluster::new();
    let own = ground.theirs("own");
    postgres_data(&own);
    put(&own.join("postgresql.conf"), "fsync = on\n", 0o644);
    let mut command = stranger("unshare");
    let script = "mount --bind \"$1\" \"$2\" && printf '%s\\n%s\\n1700000000\\n5432\\n%s\\n' $$ \"$2\" \"$2\" \
                  > \"$2/postmaster.pid\" && exec \"$3\" -D \"$2\" -c fsync=on";
    command
        .args(["-Urm", "sh", "-c", script, "sh"])
        .arg(&own)
        .arg(&cluster.data)
        .arg(fakes.program("postgres"));
    let fake = fakes.start_through(&mut command, "postgres");
    cluster.start();
    let gains = setting(&report().json(), &cluster.data, "pg.fsync", &false.into());
    attempts.made("a bind mount", &gains);
    // With the real server stopped, only the impostor remains.
    cluster.stop();
    let stopped = report().json();
    let said = setting(&stopped, &cluster.data, "pg.running", &true.into()).is_empty();
    let gains = if said {
        vec!["the stranger's server is said to run there".to_owned()]
    } else {
        Vec::new()
    };
    attempts.made("a bind mount, and the server is stopped", &gains);
    drop(fake);
    attempts.end();
}

/// The attacker's `postmaster.pid` names the process, directory or socket of a real server. The
/// attacker wants false settings for that server, or its settings reported for the attacker's
/// directory.
#[test]
#[ignore = "needs root and a PostgreSQL: it attacks as another user"]
fn nobody_borrows_a_postgresql_s_process() {
    let mut attempts =
        Attempts::at("a `postmaster.pid` that names another server's process or socket");
    let ground = Ground::new();
    let fakes = Fakes::on(&ground);
    let cluster = Cluster::new();
    cluster.start();
    let real = fs::read_to_string(cluster.data.join("postmaster.pid")).unwrap();
    let pid: u32 = real.lines().next().unwrap().parse().unwrap();
    for variant in ["its process", "its directory", "its socket"] {
        let data = ground.theirs(&variant.replace(' ', "-"));
        postgres_data(&data);
        put(&data.join("postgresql.conf"), "fsync = on\n", 0o644);
        let text = match variant {
            "its process" => pid_file(pid, &data, &data),
            "its directory" => real.clone(),
            _ => String::new(),
        };
        if !text.is_empty() {
            put(&data.join("postmaster.pid"), text, 0o600);
        }
        let fake = fakes.postgres(&data, &["-c", "fsync=on"]);
        if variant == "its socket" {
            let text = pid_file(fake.pid(), &data, cluster.own_directory())
                .replace("\n5432\n", "\n5499\n");
            put(&data.join("postmaster.pid"), text, 0o600);
        }
        let report = report().json();
        let mut gains = setting(&report, &cluster.data, "pg.fsync", &false.into());
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
        attempts.made(variant, &gains);
        drop(fake);
    }
    attempts.end();
}

/// The attacker's process is called MariaDB and works in the data directory of a real one. The
/// attacker wants the process's options reported for the real server.
#[test]
#[ignore = "needs root and a MariaDB: it attacks as another user"]
fn nobody_speaks_for_a_mariadb() {
    let mut attempts = Attempts::at("a stranger's process that works in a real MariaDB directory");
    for (guise, words) in GUISES {
        if words.contains(&"-Urmpf") {
            continue;
        }
        let ground = Ground::new();
        let fakes = Fakes::on(&ground);
        let place = ground.shared("srv", 0o755);
        let mut server =
            Mariadb::new_below(&place, "[mysqld]\ninnodb_flush_log_at_trx_commit = 0\n");
        let data = server.data.canonicalize().unwrap();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
        put(
            &ground.at("own.cnf"),
            format!("[mysqld]\ndatadir={}\n", data.display()),
            0o644,
        );
        let own = format!("--defaults-file={}", ground.at("own.cnf").display());
        let mut command = in_guise(&fakes, words, "mariadbd");
        command
            .current_dir(&data)
            .args([&own, "--innodb-flush-log-at-trx-commit=1"]);
        let before = fakes.start_through(&mut command, "mariadbd");
        server.start();
        let mut younger = in_guise(&fakes, words, "mariadbd");
        younger
            .current_dir(&data)
            .args([&own, "--innodb-flush-log-at-trx-commit=1"]);
        let after = fakes.start_through(&mut younger, "mariadbd");
        // The report may or may not contain the real server's settings, but never the impostor's.
        let subject = format!("cluster {}", data.display());
        let report = report().json();
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
        attempts.made(&format!("a server that runs, {guise}"), &gains);
        // With the real server stopped, only the impostor remains.
        drop(server);
        let stopped = self::report().json();
        let said = setting(&stopped, &data, "mysql.running", &true.into()).is_empty();
        let gains = if said {
            vec!["mysql.running is said to be true".to_owned()]
        } else {
            Vec::new()
        };
        attempts.made(&format!("a server that is stopped, {guise}"), &gains);
        drop((before, after));
    }
    attempts.end();
}

/// The attacker's link `postgres` leads to a setuid program, so the process has two users. The
/// attacker wants root to take the program's owner for the server's owner, and to follow links with
/// that owner's rights.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_setuid_program_is_no_server_of_its_owner() {
    let mut attempts = Attempts::at("a link called `postgres` to a setuid or setgid program");
    for mode in [0o4755, 0o2755, 0o6755] {
        for name in ["postgres", "mariadbd"] {
            let ground = Ground::new();
            let fakes = Fakes::on(&ground);
            // Stands for su and passwd, which wait for a password.
            let privileged = ground.shared("sbin", 0o755).join("privileged");
            fs::copy("/usr/bin/echo", &privileged).unwrap();
            fs::set_permissions(&privileged, fs::Permissions::from_mode(mode)).unwrap();
            let bin = ground.theirs("bin");
            link(&privileged, &bin.join(name));
            let data = ground.theirs("data");
            // Only the program's user or group may read this file, but every user can reach the
            // path.
            let secret = ground.shared("etc", 0o755).join("shadow");
            let text =
                format!("{SECRET}\nfsync = {SECRET}\n[mysqld]\ninnodb_flush_method={SECRET}\n");
            fs::write(&secret, text).unwrap();
            fs::set_permissions(&secret, fs::Permissions::from_mode(0o640)).unwrap();
            let mut command = as_uid(UID, bin.join(name));
            if name == "postgres" {
                postgres_data(&data);
                for file in ["PG_VERSION", "postgresql.auto.conf"] {
                    link(&secret, &data.join(file));
                }
                command.arg("-D").arg(&data);
            } else {
                mariadb_data(&data);
                command.arg(format!("--defaults-file={}", secret.display()));
            }
            let fake = fakes.start(command.current_dir(&data));
            if name == "postgres" {
                put(
                    &data.join("postmaster.pid"),
                    pid_file(fake.pid(), &data, &data),
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
                let ended = root::end(&mut root::walwise(arguments));
                let mut gains: Vec<String> = ended.hang().into_iter().collect();
                if ended.said().contains(SECRET) {
                    gains.push("root says what only root may know".to_owned());
                }
                if arguments[0] == "check" {
                    let report = ended.json();
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
                attempts.made(&format!("{name} {mode:o}, {}", arguments[0]), &gains);
            }
            drop(fake);
        }
    }
    attempts.end();
}

#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_directory_of_another_is_not_his() {
    let mut attempts = Attempts::at("a process that names a directory of another owner");
    for owner in [0, 65534] {
        for by_link in [false, true] {
            let ground = Ground::new();
            let fakes = Fakes::on(&ground);
            let data = ground.shared("data", 0o755);
            postgres_data(&data);
            fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
            std::os::unix::fs::chown(&data, Some(owner), Some(owner)).unwrap();
            let named = if by_link {
                ground.theirs("theirs").join("data")
            } else {
                data.clone()
            };
            if by_link {
                symlink(&data, &named).unwrap();
                give(&named);
            }
            let fake = fakes.postgres(&named, &["-c", "fsync=off"]);
            let report = report().json();
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
            attempts.made(&format!("of uid {owner}, by a link: {by_link}"), &gains);
            drop(fake);
        }
    }
    attempts.end();
}
