//! An attacker's server names a socket. Root must not connect to another user's socket, and must
//! survive any answer of the attacker's own.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixListener;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::attempts::Attempts;
use super::fakes::{Fakes, mariadb_data, pid_file, postgres_data};
use super::ground::{Ground, link, put};
use super::root;
use super::stranger::{Act, Answer, OTHER, heard};
use super::support::postgres::Cluster;
use super::support::run;
use super::support::running::{children, wait_for};

fn private(ground: &Ground, owner: u32) -> UnixListener {
    let place = ground.shared("private", 0o700);
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
fn root_knocks_at_no_socket_for_a_stranger() {
    let mut attempts = Attempts::at("sockets of others that a stranger's server names");
    for owner in [0, OTHER] {
        for server in [
            "postmaster.pid",
            "unix_socket_directories",
            "a link",
            "option file",
            "--socket",
        ] {
            let ground = Ground::new();
            let fakes = Fakes::on(&ground);
            let listener = private(&ground, owner);
            let (place, socket) = (ground.at("private"), ground.at("private/.s.PGSQL.5432"));
            let data = ground.theirs("data");
            let fake = if server == "option file" || server == "--socket" {
                mariadb_data(&data);
                let line = if server == "option file" {
                    format!("socket={}\n", socket.display())
                } else {
                    String::new()
                };
                put(
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
                fakes.mariadb(&data, &arguments)
            } else {
                postgres_data(&data);
                let line = format!(
                    "unix_socket_directories = '{}'\nport = 5432\n",
                    place.display()
                );
                put(&data.join("postgresql.conf"), line, 0o644);
                let fake = fakes.postgres(&data, &[]);
                let names = if server == "a link" {
                    link(&socket, &data.join(".s.PGSQL.5432"));
                    data.clone()
                } else {
                    place.clone()
                };
                let mut text = pid_file(fake.pid(), &data, &names);
                if server == "unix_socket_directories" {
                    text = format!("{}\n{}\n1700000000\n", fake.pid(), data.display());
                }
                put(&data.join("postmaster.pid"), text, 0o600);
                fake
            };
            let ended = root::end(&mut root::walwise(["check", "--no-probe"]));
            let mut gains: Vec<String> = ended.hang().into_iter().collect();
            if listener.accept().is_ok() {
                gains.push("root connects to it".to_owned());
            }
            attempts.made(&format!("of uid {owner}, named by {server}"), &gains);
            drop(fake);
        }
    }
    attempts.end();
}

/// The attacker's server stays silent, never ends its answer, sends control characters, or requests
/// root's files. The attacker wants root to wait, to run out of memory, or to send a file.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_stranger_s_answers_do_no_harm() {
    let mut attempts = Attempts::at("sockets of the stranger's that answer in any way");
    for answer in Answer::ALL {
        for kind in ["PostgreSQL", "MariaDB"] {
            let ground = Ground::new();
            let fakes = Fakes::on(&ground);
            let data = ground.theirs("data");
            let socket = data.join(".s.PGSQL.5432");
            if kind == "PostgreSQL" {
                postgres_data(&data);
            } else {
                mariadb_data(&data);
            }
            // walwise connects to PostgreSQL under the name of the server's user, so that user
            // needs an account.
            let uid: u32 = run("id", &["-u", "games"]).trim().parse().unwrap();
            run("chown", &["-R", "games", data.to_str().unwrap()]);
            let listens = Act::Listen(socket.clone(), answer).start(&ground, uid);
            let fake = if kind == "PostgreSQL" {
                fakes.postgres_of(uid, &data, &[])
            } else {
                let options = [
                    format!("--socket={}", socket.display()),
                    format!("--datadir={}", data.display()),
                ];
                fakes.installed_mariadb(uid, &data, &options.each_ref().map(String::as_str))
            };
            let arguments = ["check", "--no-probe"];
            let ended = root::end(&mut root::walwise(arguments));
            assert!(
                fs::exists(heard(&socket)).unwrap(),
                "{kind} is not asked, so that {answer:?} shows nothing"
            );
            let mut gains: Vec<String> = ended.hang().into_iter().collect();
            gains.extend(super::names::treachery(&ended.out));
            let got = fs::read(format!("{}.got", socket.display())).unwrap_or_default();
            let shadow = fs::read_to_string("/etc/shadow").unwrap();
            if String::from_utf8_lossy(&got).contains(shadow.lines().next().unwrap()) {
                gains.push("root sends /etc/shadow".to_owned());
            }
            attempts.made(&format!("{kind}, {answer:?}"), &gains);
            drop((fake, listens));
        }
    }
    attempts.end();
}

/// A PostgreSQL server is stopped while walwise queries the server, and continues later. The log
/// must not mention a client that vanished in the middle.
#[test]
#[ignore = "needs root and a PostgreSQL"]
fn a_postgresql_that_is_stopped_logs_nothing_fatal() {
    let mut attempts = Attempts::at("a PostgreSQL that is stopped while it is asked");
    let cluster = Cluster::new();
    cluster.start();
    let pid = fs::read_to_string(cluster.data.join("postmaster.pid")).unwrap();
    let pid = Pid::from_raw(pid.lines().next().unwrap().parse().unwrap());
    // While the server started, it may have refused waiting clients, so only later lines of its log
    // count.
    let started = cluster.log().len();
    let before = children(pid);
    kill(pid, Signal::SIGSTOP).unwrap();
    let ended = root::end(&mut root::walwise([
        "check",
        "--no-probe",
        cluster.data.to_str().unwrap(),
    ]));
    kill(pid, Signal::SIGCONT).unwrap();
    // The server takes connections in order, so this one comes after those of walwise, whose
    // backends log until they end. Stopping the server earlier would end connections of concurrent
    // walwise runs, and would log that.
    cluster.sql("SELECT 1");
    let served: BTreeSet<String> = children(pid).difference(&before).cloned().collect();
    wait_for("the end of all conversations so far", || {
        served.is_disjoint(&children(pid))
    });
    let mut gains: Vec<String> = ended.hang().into_iter().collect();
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
    attempts.made("SIGSTOP", &gains);
    attempts.end();
}

#[test]
#[ignore = "needs root: it attacks as another user"]
fn what_is_no_socket_is_passed_over() {
    let mut attempts = Attempts::at("what is no socket in a socket's place");
    let ground = Ground::new();
    let fakes = Fakes::on(&ground);
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
        let data = ground.theirs(&n.to_string());
        postgres_data(&data);
        let fake = fakes.postgres(&data, &[]);
        put(
            &data.join("postmaster.pid"),
            pid_file(fake.pid(), &data, Path::new(place)),
            0o600,
        );
        let ended = root::end(&mut root::walwise(["check", "--no-probe"]));
        let mut gains: Vec<String> = ended.hang().into_iter().collect();
        if !matches!(ended.code, Some(0 | 3..=5)) {
            gains.push(format!(
                "root ends with {:?} {:?}: {}",
                ended.code,
                ended.signal,
                ended.said()
            ));
        }
        attempts.made(&format!("place {n}"), &gains);
    }
    attempts.end();
}
