use std::path::{Path, PathBuf};

use super::attack_directory::{
    AttackDirectory, SECRET, chown_to_attacker, create_attacker_fifo, create_attacker_symlink,
    root_only_directory_changes, write_attacker_file,
};
use super::attempts::{Attempts, race_turns};
use super::fakes::{FakeServerPrograms, create_mariadb_data, create_postgres_data};
use super::kernel::FileProtection;
use super::outputs::{OutputCommand, RECORD};
use super::root;
use super::stranger::{AttackerAction, UID};

/// The attacker exchanges the file that root writes with a link to a file of root's, after root has
/// checked the original. The attacker wants the link followed.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn exchanged_output_file_is_not_followed() {
    let mut attempts = Attempts::for_attack("RENAME_EXCHANGE of a file while it is written");
    let _set = FileProtection::Permits.apply_sysctls();
    for way in [OutputCommand::Record, OutputCommand::Capture] {
        let ground = AttackDirectory::new();
        let directory = ground.create_attacker_directory("theirs");
        let (file, other) = (directory.join(way.file_name()), directory.join("other"));
        write_attacker_file(&file, RECORD, 0o6777);
        create_attacker_symlink(&ground.secret_file(), &other);
        write_during_exchange(&mut attempts, way, &ground, &directory, (file, other));
    }
    attempts.write_tally_and_assert();
}

/// Writes into `directory` again and again while the attacker exchanges the two paths. Anything
/// that changes in root's directory is a gain.
fn write_during_exchange(
    attempts: &mut Attempts,
    way: OutputCommand,
    ground: &AttackDirectory,
    directory: &Path,
    (one, other): (PathBuf, PathBuf),
) {
    let vault = ground.snapshot_root_only_directory();
    let _swaps = AttackerAction::Exchange(one, other).start_as_uid(ground, UID);
    for turn in race_turns() {
        way.write_output(ground, directory);
        attempts.record_attempt(
            &format!("{way:?}, turn {turn}"),
            &root_only_directory_changes(&vault),
        );
    }
}

/// The attacker exchanges a directory on the path with a link to root's directory. The attacker
/// wants root to create a file in the vault.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn exchanged_output_directory_is_not_followed() {
    let mut attempts =
        Attempts::for_attack("RENAME_EXCHANGE of a directory while it is written into");
    let _set = FileProtection::Permits.apply_sysctls();
    for way in [OutputCommand::Record, OutputCommand::Capture] {
        let ground = AttackDirectory::new();
        let theirs = ground.create_attacker_directory("theirs");
        let (directory, other) = (
            ground.create_attacker_directory("theirs/reports"),
            theirs.join("other"),
        );
        create_attacker_symlink(&ground.root_only_directory(), &other);
        let exchanged = (directory.clone(), other);
        write_during_exchange(&mut attempts, way, &ground, &directory, exchanged);
    }
    attempts.write_tally_and_assert();
}

/// The attacker exchanges a file that root reads with a link to a terminal of root's, which stands
/// for any device, to a fifo, or to root's own file. The attacker wants the target opened, or its
/// contents.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn exchanged_input_file_is_neither_opened_nor_leaked() {
    let mut attempts = Attempts::for_attack("RENAME_EXCHANGE of a file while it is read");
    let pty = nix::pty::openpty(None, None).unwrap();
    let terminal = nix::unistd::ttyname(&pty.slave).unwrap();
    for bait in ["PG_VERSION", "postmaster.pid", "postgresql.conf", "my.cnf"] {
        for kind in ["a device", "a fifo", "root's file"] {
            let ground = AttackDirectory::new();
            let fakes = FakeServerPrograms::install_in(&ground);
            let data = ground.create_attacker_directory("data");
            let other = data.join("other");
            let fake = if bait == "my.cnf" {
                create_mariadb_data(&data);
                write_attacker_file(&data.join(bait), "[mysqld]\n", 0o644);
                fakes.start_mariadb(
                    &data,
                    &[&format!("--defaults-file={}", data.join(bait).display())],
                )
            } else {
                create_postgres_data(&data);
                fakes.start_postgres(&data, &[])
            };
            let told = data.join("told");
            let mut waits = None;
            let forbidden = match kind {
                "a device" => {
                    create_attacker_symlink(&terminal, &other);
                    terminal.clone()
                }
                "a fifo" => {
                    create_attacker_fifo(&other);
                    waits = Some(
                        AttackerAction::Await(other.clone(), told.clone())
                            .start_as_uid(&ground, UID),
                    );
                    other.clone()
                }
                _ => {
                    create_attacker_symlink(&ground.secret_file(), &other);
                    ground.secret_file()
                }
            };
            let _swaps =
                AttackerAction::Exchange(data.join(bait), other).start_as_uid(&ground, UID);
            for turn in race_turns().take(if super::attempts::is_long_run() {
                usize::MAX
            } else {
                2
            }) {
                let (ended, trace) =
                    root::run_traced("open,openat,openat2", &["facts", "--no-programs"]);
                // The trace shows the fifo under both names, so a file that the attacker creates
                // shows whether root opened the fifo.
                let mut gains = if kind == "a fifo" {
                    Vec::new()
                } else {
                    root::lines_opening_path(&trace, &forbidden)
                };
                if told.exists() {
                    gains.push("the fifo is opened".to_owned());
                }
                gains.extend(ended.hang_message());
                if ended.combined_output().contains(SECRET) {
                    gains.push("root's secret is printed".to_owned());
                }
                attempts.record_attempt(&format!("{bait} and {kind}, turn {turn}"), &gains);
            }
            drop((fake, waits));
        }
    }
    attempts.write_tally_and_assert();
}

/// While a drill begins in the attacker's directory, the attacker moves root's new directory away
/// and puts a link in its place. The attacker wants the segment written into a directory of root's.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn exchanged_drill_directory_is_not_followed() {
    let mut attempts = Attempts::for_attack("a directory swapped when a drill begins");
    for variant in [
        "its own directory is replaced",
        "the directory is exchanged",
    ] {
        for turn in race_turns() {
            let ground = AttackDirectory::new();
            let theirs = ground.create_attacker_directory("theirs");
            let directory = ground.create_attacker_directory("theirs/drill");
            let vault = ground.snapshot_root_only_directory();
            let act = if variant.starts_with("its own") {
                // A user can rename another user's directory in place but cannot move it elsewhere,
                // because that would change its `..`.
                let stolen = directory.join("stolen");
                AttackerAction::Steal(
                    directory.join("walwise-drill"),
                    stolen,
                    ground.root_only_directory(),
                )
            } else {
                let other = theirs.join("other");
                create_attacker_symlink(&ground.root_only_directory(), &other);
                AttackerAction::Exchange(directory.clone(), other)
            };
            chown_to_attacker(&directory);
            let doing = act.start_as_uid(&ground, UID);
            let run = root::RunningCommand::start(&mut root::walwise_from_cron([
                "drill".as_ref(),
                "write".as_ref(),
                directory.as_os_str(),
            ]));
            let mut stopped = false;
            let ended = run.wait_with_timeout(root::time_limit_seconds(), |run| {
                if !stopped && run.stdout_so_far().contains("ack 2\n") {
                    stopped = true;
                    let _ = nix::sys::signal::kill(run.pid(), nix::sys::signal::Signal::SIGTERM);
                }
            });
            drop(doing);
            let mut gains = root_only_directory_changes(&vault);
            gains.extend(ended.hang_message());
            attempts.record_attempt(&format!("{variant}, turn {turn}"), &gains);
        }
    }
    attempts.write_tally_and_assert();
}
