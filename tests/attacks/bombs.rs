//! Configurations, rules and captures that grow when they are read.
//!
//! Root's processes must stay below 150 MB, and must end.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, process};

use super::attack_directory::{AttackDirectory, chown_to_attacker, write_attacker_file};
use super::attempts::Attempts;
use super::fakes::{
    FakeServer, FakeServerPrograms, create_mariadb_data, create_postgres_data, postmaster_pid_text,
};
use super::root::{self, RunningCommand};
use super::stranger::{UID, command_as_uid};
use crate::support::deadline::CommandInTime as _;

const MOST: u64 = 150 << 20;

/// Memory in bytes at which the test stops root's processes, to protect the machine.
const HARMFUL: u64 = 1 << 30;

const MEASURED: &str = "WALWISE_MEASURED";

/// Runs a program and records the memory of its largest process. The kernel keeps that maximum for
/// waited-for children and their descendants, so no sampling is needed.
#[test]
#[ignore = "needs root: it measures what the attacks run"]
fn measure_peak_memory() {
    let Ok(words) = env::var(MEASURED) else {
        return;
    };
    let mut words = words.lines();
    let to = words.next().unwrap();
    let status = Command::new(words.next().unwrap())
        .args(words)
        .status_in_time();
    let usage =
        nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN).unwrap();
    fs::write(
        to,
        format!("{} {}", usage.max_rss() << 10, status.code().unwrap_or(-1)),
    )
    .unwrap();
    process::exit(0);
}

fn run_and_check_limits(ground: &AttackDirectory, arguments: &[&str]) -> Vec<String> {
    let result = ground.join("measured");
    let _ = fs::remove_file(&result);
    let program = crate::support::programs::walwise_path();
    let words = [&[result.to_str().unwrap(), program][..], arguments]
        .concat()
        .join("\n");
    let mut command = root::cron_command(env::current_exe().unwrap().to_str().unwrap());
    command
        .args([
            "bombs::measure_peak_memory",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(MEASURED, words);
    let mut most = 0;
    let ended =
        RunningCommand::start(&mut command).wait_with_timeout(root::time_limit_seconds(), |run| {
            let now = memory_of_child_processes(run.pid().as_raw());
            most = most.max(now);
            if now > HARMFUL {
                let _ = nix::sys::signal::killpg(run.pid(), nix::sys::signal::Signal::SIGKILL);
            }
        });
    let mut gains = Vec::new();
    if ended.late {
        gains.push(format!("not done after {} s", root::time_limit_seconds()));
    }
    if most > MOST {
        gains.push(format!("{} MB in all processes", most >> 20));
    }
    if let Ok(text) = fs::read_to_string(&result) {
        let (largest, code) = text.split_once(' ').unwrap();
        let largest: u64 = largest.parse().unwrap();
        if largest > MOST {
            gains.push(format!("{} MB in one process", largest >> 20));
        }
        if !["0", "3", "4", "5"].contains(&code) {
            gains.push(format!("it ends with {code}"));
        }
    }
    gains
}

fn memory_of_child_processes(pid: i32) -> u64 {
    let children = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let children =
        children.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<i32> = children
        .flat_map(|all| {
            all.split_whitespace()
                .map(|pid| pid.parse().unwrap())
                .collect::<Vec<_>>()
        })
        .collect();
    let own = |pid: i32| {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("Pss:").map(str::to_owned));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
            .unwrap_or(0)
            << 10
    };
    children
        .into_iter()
        .map(|pid| own(pid) + memory_of_child_processes(pid))
        .sum()
}

fn write_hard_linked_files(directory: &Path, names: usize, line: &str, end: &str) {
    fs::create_dir_all(directory).unwrap();
    chown_to_attacker(directory);
    let first = directory.join(format!("0.{end}"));
    write_attacker_file(&first, line.repeat((1 << 20) / line.len()), 0o644);
    for n in 1..names {
        fs::hard_link(&first, directory.join(format!("{n}.{end}"))).unwrap();
    }
}

type ServerBomb = (
    &'static str,
    fn(&AttackDirectory, &FakeServerPrograms) -> Vec<FakeServer>,
);

fn start_postgres_with_laid_files(
    ground: &AttackDirectory,
    fakes: &FakeServerPrograms,
    name: &str,
    lay: impl FnOnce(&Path),
) -> FakeServer {
    let data = ground.create_attacker_directory(name);
    create_postgres_data(&data);
    lay(&data);
    fakes.start_postgres(&data, &[])
}

fn start_mariadb_with_laid_option_file(
    ground: &AttackDirectory,
    fakes: &FakeServerPrograms,
    name: &str,
    lay: impl FnOnce(&Path) -> PathBuf,
) -> FakeServer {
    let data = ground.create_attacker_directory(name);
    create_mariadb_data(&data);
    let file = lay(&data);
    fakes.start_mariadb(&data, &[&format!("--defaults-file={}", file.display())])
}

fn start_postgres_in_namespace(
    ground: &AttackDirectory,
    fakes: &FakeServerPrograms,
    name: &str,
    mounts: usize,
    lay: impl FnOnce(&Path),
) -> FakeServer {
    let data = ground.create_attacker_directory(name);
    create_postgres_data(&data);
    lay(&data);
    let point = ground.create_attacker_directory(&format!("{name}-mounts"));
    let mut command = command_as_uid(UID, "/usr/bin/unshare");
    command
        .args(["-Urm", "/bin/sh", "-c", MANY_MOUNTS, "sh"])
        .arg(&point)
        .arg(mounts.to_string());
    command.arg(fakes.program("postgres")).arg("-D").arg(&data);
    let fake = fakes.start_and_wait_for_name(&mut command, "postgres");
    write_attacker_file(
        &data.join("postmaster.pid"),
        postmaster_pid_text(fake.pid(), &data, &data),
        0o600,
    );
    fake
}

const MANY_MOUNTS: &str = r#"at=$1 n=$2; shift 2; long=$(printf %0200d 0)
while [ "$n" -gt 0 ]; do mkdir -p "$at/$long$n" && mount -t tmpfs t "$at/$long$n" || exit 1; n=$((n - 1)); done
exec "$@""#;

const BOMBS: [ServerBomb; 13] = [
    (
        "64 of PostgreSQL, each in a name space, with files of a megabyte",
        |ground, fakes| {
            let one = |n: usize| {
                start_postgres_in_namespace(ground, fakes, &format!("apart{n}"), 0, |data| {
                    write_hard_linked_files(&data.join("conf.d"), 1, "fsync=1\n", "conf");
                    write_hard_linked_files(&data.join("conf.d"), 1, "fsync=0\n", "other.conf");
                    write_attacker_file(
                        &data.join("postgresql.conf"),
                        "include_dir 'conf.d'\n",
                        0o644,
                    );
                })
            };
            (0..64).map(one).collect()
        },
    ),
    (
        "8 of PostgreSQL, each with hundreds of mounts and tablespaces",
        |ground, fakes| {
            let one = |n: usize| {
                start_postgres_in_namespace(ground, fakes, &format!("mounted{n}"), 300, |data| {
                    for link in 0..200 {
                        symlink(
                            ground.join("elsewhere"),
                            data.join(format!("pg_tblspc/{link}")),
                        )
                        .unwrap();
                    }
                })
            };
            (0..8).map(one).collect()
        },
    ),
    ("PostgreSQL, 255 links to one file", |ground, fakes| {
        vec![start_postgres_with_laid_files(
            ground,
            fakes,
            "data",
            |data| {
                write_hard_linked_files(&data.join("conf.d"), 255, "fsync=1\n", "conf");
                write_attacker_file(
                    &data.join("postgresql.conf"),
                    "include_dir 'conf.d'\n",
                    0o644,
                );
            },
        )]
    }),
    ("PostgreSQL, includes of includes", |ground, fakes| {
        vec![start_postgres_with_laid_files(
            ground,
            fakes,
            "data",
            |data| {
                write_attacker_file(
                    &data.join("postgresql.conf"),
                    "include 'n0'\ninclude 'n0'\n",
                    0o644,
                );
                for n in 0..9 {
                    write_attacker_file(
                        &data.join(format!("n{n}")),
                        format!("include 'n{0}'\n", n + 1).repeat(20),
                        0o644,
                    );
                }
                write_attacker_file(&data.join("n9"), "fsync=1\n".repeat(100_000), 0o644);
            },
        )]
    }),
    ("PostgreSQL, an include of itself", |ground, fakes| {
        vec![start_postgres_with_laid_files(
            ground,
            fakes,
            "data",
            |data| {
                write_attacker_file(
                    &data.join("postgresql.conf"),
                    "include 'postgresql.conf'\n".repeat(10_000),
                    0o644,
                );
            },
        )]
    }),
    ("PostgreSQL, 300 files of a megabyte", |ground, fakes| {
        vec![start_postgres_with_laid_files(
            ground,
            fakes,
            "data",
            |data| {
                for n in 0..300 {
                    write_hard_linked_files(
                        &data.join("conf.d"),
                        1,
                        "wal_level=minimal\n",
                        &format!("{n}.conf"),
                    );
                }
                write_attacker_file(
                    &data.join("postgresql.conf"),
                    "include_dir 'conf.d'\n",
                    0o644,
                );
            },
        )]
    }),
    ("PostgreSQL, 100,000 files", |ground, fakes| {
        vec![start_postgres_with_laid_files(
            ground,
            fakes,
            "data",
            |data| {
                let directory = data.join("conf.d");
                fs::create_dir(&directory).unwrap();
                for n in 0..100_000 {
                    fs::File::create(directory.join(format!("{n}.conf"))).unwrap();
                }
                chown_to_attacker(&directory);
                write_attacker_file(
                    &data.join("postgresql.conf"),
                    "include_dir 'conf.d'\n",
                    0o644,
                );
            },
        )]
    }),
    ("PostgreSQL, values of a megabyte", |ground, fakes| {
        vec![start_postgres_with_laid_files(
            ground,
            fakes,
            "data",
            |data| {
                let value = "x".repeat((1 << 20) - 100);
                write_attacker_file(
                    &data.join("postgresql.conf"),
                    format!("wal_sync_method = '{value}'\n"),
                    0o644,
                );
                write_attacker_file(
                    &data.join("postgresql.auto.conf"),
                    format!("synchronous_commit = '{value}'\n"),
                    0o644,
                );
                write_attacker_file(&data.join("PG_VERSION"), value, 0o644);
            },
        )]
    }),
    (
        "PostgreSQL, twenty servers with twenty links each",
        |ground, fakes| {
            let one = |n| {
                start_postgres_with_laid_files(ground, fakes, &format!("data{n}"), |data| {
                    write_hard_linked_files(&data.join("conf.d"), 20, "fsync=1\n", "conf");
                    write_attacker_file(
                        &data.join("postgresql.conf"),
                        "include_dir 'conf.d'\n",
                        0o644,
                    );
                })
            };
            (0..20).map(one).collect()
        },
    ),
    ("PostgreSQL, a megabyte of arguments", |ground, fakes| {
        let data = ground.create_attacker_directory("data");
        create_postgres_data(&data);
        let argument = format!("wal_sync_method={}", "x".repeat(100_000));
        let arguments: Vec<&str> = ["-c", &argument].repeat(10);
        vec![fakes.start_postgres(&data, &arguments)]
    }),
    ("MariaDB, 255 links to one file", |ground, fakes| {
        vec![start_mariadb_with_laid_option_file(
            ground,
            fakes,
            "data",
            |data| {
                write_hard_linked_files(
                    &data.join("conf.d"),
                    255,
                    "[mysqld]\ninnodb_flush_method=fsync\n",
                    "cnf",
                );
                let file = data.join("my.cnf");
                write_attacker_file(
                    &file,
                    format!("!includedir {}/conf.d\n", data.display()),
                    0o644,
                );
                file
            },
        )]
    }),
    ("MariaDB, includes of includes", |ground, fakes| {
        vec![start_mariadb_with_laid_option_file(
            ground,
            fakes,
            "data",
            |data| {
                for n in 0..9 {
                    let next = data.join(format!("n{}", n + 1));
                    write_attacker_file(
                        &data.join(format!("n{n}")),
                        format!("!include {}\n", next.display()).repeat(20),
                        0o644,
                    );
                }
                write_attacker_file(
                    &data.join("n9"),
                    format!("[mysqld]\n{}", "innodb_flush_method=fsync\n".repeat(40_000)),
                    0o644,
                );
                data.join("n0")
            },
        )]
    }),
    ("MariaDB, an include of itself", |ground, fakes| {
        vec![start_mariadb_with_laid_option_file(
            ground,
            fakes,
            "data",
            |data| {
                let file = data.join("my.cnf");
                write_attacker_file(
                    &file,
                    format!("!include {}\n", file.display()).repeat(10_000),
                    0o644,
                );
                file
            },
        )]
    }),
];

/// The attacker's servers have configurations that are small on disk and large when read. The
/// attacker wants to exhaust the memory, or root's command never to end.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn server_configurations_stay_within_limits() {
    let mut attempts = Attempts::for_attack("configurations that grow when they are read");
    for (bomb, light) in BOMBS {
        let ground = AttackDirectory::new();
        let fakes = FakeServerPrograms::install_in(&ground);
        let servers = light(&ground, &fakes);
        for arguments in [&["check", "--no-probe"][..], &["capture"]] {
            let gains = run_and_check_limits(&ground, arguments);
            attempts.record_attempt(&format!("{bomb}, {}", arguments.join(" ")), &gains);
        }
        drop(servers);
    }
    attempts.write_tally_and_assert();
}

#[test]
#[ignore = "needs root: it attacks as another user"]
fn rule_titles_of_braces_stay_within_limits() {
    let mut attempts = Attempts::for_attack("a rule whose title takes for ever");
    let ground = AttackDirectory::new();
    let rules = ground.create_attacker_directory("rules");
    for text in ["{", "{}", "{{", "{a", "`", "\\u001b"] {
        let title = text.repeat(900_000 / text.len());
        write_attacker_file(
            &rules.join("own.toml"),
            format!(
                "[[rule]]\nid = \"own.long\"\ntitle = \"{title}\"\nquestion = \"is it?\"\nlevel = \"warning\"\nwhen = \"true\"\n"
            ),
            0o644,
        );
        let gains: Vec<String> =
            run_and_check_limits(&ground, &["rules", "check", rules.to_str().unwrap()])
                .into_iter()
                // The exit code only reports the mistake in the rule, which is not a gain.
                .filter(|gain| !gain.starts_with("it ends with"))
                .collect();
        attempts.record_attempt(text, &gains);
    }
    attempts.write_tally_and_assert();
}

type CaptureBomb = (&'static str, fn() -> String);

fn capture_with_mounts(count: usize, line: impl Fn(usize) -> String) -> String {
    let lines: Vec<String> = (2..count + 2)
        .map(|id| format!("|{id} 1 {}\n", line(id)))
        .collect();
    format!(
        "walwise host 1\nread /proc/self/mountinfo\n|1 0 8:1 / / rw - ext4 /dev/sda1 rw\n{}",
        lines.concat()
    )
}

const CAPTURES: [CaptureBomb; 4] = [
    ("200,000 mounts on one directory", || {
        capture_with_mounts(200_000, |_| {
            "8:1 / /data rw,relatime - ext4 /dev/sda1 rw".to_owned()
        })
    }),
    ("200,000 mounts of one device", || {
        capture_with_mounts(200_000, |id| {
            format!("8:1 / /{id} rw,relatime - ext4 /dev/sda1 rw")
        })
    }),
    ("200,000 mounts of as many devices", || {
        capture_with_mounts(200_000, |id| {
            format!(
                "{}:{} / /{id} rw,relatime - ext4 /dev/sd{id} rw",
                id >> 8,
                id & 255
            )
        })
    }),
    ("400,000 block devices and as many servers", || {
        let devices = (0..400_000)
            .map(|n| format!("|d{n}\n"))
            .collect::<Vec<_>>()
            .concat();
        let servers = (2..400_002)
            .map(|pid| format!("|{pid} 1 1000 postgres\n"))
            .collect::<Vec<_>>()
            .concat();
        format!(
            "{}list /sys/class/block\n{devices}servers\n{servers}",
            capture_with_mounts(0, |_| String::new())
        )
    }),
];

#[test]
#[ignore = "needs root: it attacks as another user"]
fn huge_captures_stay_within_limits() {
    let mut attempts =
        Attempts::for_attack("captures with hundreds of thousands of mounts, devices and servers");
    for (bomb, text) in CAPTURES {
        let ground = AttackDirectory::new();
        let capture = ground.join("capture.host");
        write_attacker_file(&capture, text(), 0o644);
        let capture = capture.to_str().unwrap();
        let forms: [&[&str]; 3] = [&["facts"], &["check"], &["check", "--format", "json"]];
        for form in forms {
            let gains = run_and_check_limits(&ground, &[form, &["--host", capture]].concat());
            attempts.record_attempt(&format!("{bomb}: {}", form.join(" ")), &gains);
        }
    }
    attempts.write_tally_and_assert();
}
