//! An attacker's server names a socket. Root must not connect to another user's socket, and
//! must survive any answer from the attacker's socket.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixListener;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::attack_directory::{AttackDirectory, create_attacker_symlink, write_attacker_file};
use super::attempts::Attempts;
use super::fakes::{
    FakeServerPrograms, create_mariadb_data, create_postgres_data, postmaster_pid_text,
};
use super::root;
use super::stranger::{AttackerAction, OTHER, SocketAnswer, connection_marker_path};
use super::support::postgres::Cluster;
use super::support::run;
use super::support::running::{child_pids, wait_for_condition};

fn bind_private_socket(ground: &AttackDirectory, owner: u32) -> UnixListener {
    let place = ground.create_directory("private", 0o700);
    let socket = place.join(".s.PGSQL.5432");
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).unwrap();
    for path in [&socket, &place] {
        chown(path, Some(owner), Some(owner)).unwrap();
    }
    listener
}

/// The attacker's server names a socket to which the attacker may not connect: root's, or another
/// user's. The attacker wants root to connect there.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn root_connects_to_no_socket_of_other_owners() {
    let mut attempts = Attempts::for_attack("sockets of others that a stranger's server names");
    for owner in [0, OTHER] {
        for server in [
            "postmaster.pid",
            "unix_socket_directories",
            "a link",
            "option file",
            "--socket",
        ] {
            let ground = AttackDirectory::new();
            let fakes = FakeServerPrograms::install_in(&ground);
            let listener = bind_private_socket(&ground, owner);
            let (place, socket) = (ground.join("private"), ground.join("private/.s.PGSQL.5432"));
            let data = ground.create_attacker_directory("data");
            let fake = if server == "option file" || server == "--socket" {
                create_mariadb_data(&data);
                let line = if server == "option file" {
                    format!("socket={}\n", socket.display())
                } else {
                    String::new()
                };
                write_attacker_file(
                    &data.join("my.cnf"),
                    format!(
                        "[mysqld]\ndatadir={}\n{line}[client]\n{line}",
                        data.display()
                    ),
                    0o644,
                );
                let file = format!("--defaults-file={}", data.join("my.cnf").display());
                let option = format!("--socket={}", socket.display());
                let arguments = if line.is_empty() {
                    vec![file.as_str(), &option]
                } else {
                    vec![file.as_str()]
                };
                fakes.start_mariadb(&data, &arguments)
            } else {
                create_postgres_data(&data);
                let line = format!(
                    "unix_socket_directories = '{}'\nport = 5432\n",
                    place.display()
                );
                write_attacker_file(&data.join("postgresql.conf"), line, 0o644);
                let fake = fakes.start_postgres(&data, &[]);
                let names = if server == "a link" {
                    create_attacker_symlink(&socket, &data.join(".s.PGSQL.5432"));
                    data.clone()
                } else {
                    place.clone()
                };
                let mut text = postmaster_pid_text(fake.pid(), &data, &names);
                if server == "unix_socket_directories" {
                    text = format!("{}\n{}\n1700000000\n", fake.pid(), data.display());
                }
                write_attacker_file(&data.join("postmaster.pid"), text, 0o600);
                fake
            };
            let ended =
                root::run_with_timeout(&mut root::walwise_from_cron(["check", "--no-probe"]));
            let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
            if listener.accept().is_ok() {
                gains.push("root connects to it".to_owned());
            }
            attempts.record_attempt(&format!("of uid {owner}, named by {server}"), &gains);
            drop(fake);
        }
    }
    attempts.write_tally_and_assert();
}

/// The attacker's server stays silent, never ends its answer, sends control characters, or requests
/// root's files. The attacker wants root to wait, to run out of memory, or to send a file.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn hostile_server_answers_are_survived() {
    let mut attempts = Attempts::for_attack("sockets of the stranger's that answer in any way");
    for answer in SocketAnswer::ALL {
        for kind in ["PostgreSQL", "MariaDB"] {
            let ground = AttackDirectory::new();
            let fakes = FakeServerPrograms::install_in(&ground);
            let data = ground.create_attacker_directory("data");
            let socket = data.join(".s.PGSQL.5432");
            if kind == "PostgreSQL" {
                create_postgres_data(&data);
            } else {
                create_mariadb_data(&data);
            }
            // walwise connects to PostgreSQL under the name of the server's user, so that user
            // needs an account.
            let uid: u32 = run("id", &["-u", "games"]).trim().parse().unwrap();
            run("chown", &["-R", "games", data.to_str().unwrap()]);
            let listens = AttackerAction::Listen(socket.clone(), answer).start_as_uid(&ground, uid);
            let fake = if kind == "PostgreSQL" {
                fakes.start_postgres_as(uid, &data, &[])
            } else {
                let options = [
                    format!("--socket={}", socket.display()),
                    format!("--datadir={}", data.display()),
                ];
                fakes.start_installed_mariadb(uid, &data, &options.each_ref().map(String::as_str))
            };
            let arguments = ["check", "--no-probe"];
            let ended = root::run_with_timeout(&mut root::walwise_from_cron(arguments));
            assert!(
                fs::exists(connection_marker_path(&socket)).unwrap(),
                "{kind} is not asked, so that {answer:?} shows nothing"
            );
            let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
            gains.extend(super::control_characters::terminal_injections(&ended.out));
            let got = fs::read(format!("{}.got", socket.display())).unwrap_or_default();
            let shadow = fs::read_to_string("/etc/shadow").unwrap();
            if String::from_utf8_lossy(&got).contains(shadow.lines().next().unwrap()) {
                gains.push("root sends /etc/shadow".to_owned());
            }
            attempts.record_attempt(&format!("{kind}, {answer:?}"), &gains);
            drop((fake, listens));
        }
    }
    attempts.write_tally_and_assert();
}

/// A PostgreSQL server is stopped while walwise queries the server, and continues later. The log
/// must not mention a client that vanished in the middle.
#[test]
#[ignore = "needs root and a PostgreSQL"]
fn paused_postgresql_logs_no_broken_connection() {
    let mut attempts = Attempts::for_attack("a PostgreSQL that is stopped while it is asked");
    let cluster = Cluster::new();
    cluster.start();
    let pid = fs::read_to_string(cluster.data.join("postmaster.pid")).unwrap();
    let pid = Pid::from_raw(pid.lines().next().unwrap().parse().unwrap());
    // While the server started, it may have refused waiting clients, so only later lines of its log
    // count.
    let started = cluster.log().len();
    let before = child_pids(pid);
    kill(pid, Signal::SIGSTOP).unwrap();
    let ended = root::run_with_timeout(&mut root::walwise_from_cron([
        "check",
        "--no-probe",
        cluster.data.to_str().unwrap(),
    ]));
    kill(pid, Signal::SIGCONT).unwrap();
    // The server takes connections in order, so this one comes after those of walwise, whose
    // backends log until they end. Stopping the server earlier would end connections of concurrent
    // walwise runs, and would log that.
    cluster.sql("SELECT 1");
    let served: BTreeSet<String> = child_pids(pid).difference(&before).cloned().collect();
    wait_for_condition("the end of all conversations so far", || {
        served.is_disjoint(&child_pids(pid))
    });
    let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
    let said = |line: &&str| {
        line.contains("FATAL") || line.contains("incomplete") || line.contains("invalid length")
    };
    gains.extend(
        cluster
            .log()
            .get(started..)
            .unwrap_or_default()
            .lines()
            .filter(said)
            .map(|line| format!("its log says {line}")),
    );
    attempts.record_attempt("SIGSTOP", &gains);
    attempts.write_tally_and_assert();
}

#[test]
#[ignore = "needs root: it attacks as another user"]
fn socket_paths_without_socket_are_skipped() {
    let mut attempts = Attempts::for_attack("what is no socket in a socket's place");
    let ground = AttackDirectory::new();
    let fakes = FakeServerPrograms::install_in(&ground);
    let long = "x".repeat(200);
    for (n, place) in [
        "/dev",
        "/proc/self",
        long.as_str(),
        "@abstract",
        "",
        "/nowhere",
    ]
    .into_iter()
    .enumerate()
    {
        let data = ground.create_attacker_directory(&n.to_string());
        create_postgres_data(&data);
        let fake = fakes.start_postgres(&data, &[]);
        write_attacker_file(
            &data.join("postmaster.pid"),
            postmaster_pid_text(fake.pid(), &data, Path::new(place)),
            0o600,
        );
        let ended = root::run_with_timeout(&mut root::walwise_from_cron(["check", "--no-probe"]));
        let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
        if !matches!(ended.code, Some(0 | 3..=5)) {
            gains.push(format!(
                "root ends with {:?} {:?}: {}",
                ended.code,
                ended.signal,
                ended.combined_output()
            ));
        }
        attempts.record_attempt(&format!("place {n}"), &gains);
    }
    attempts.write_tally_and_assert();
}
