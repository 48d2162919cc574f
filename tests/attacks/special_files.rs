//! Devices, fifos, sockets, and endless or huge files in the place of a server's files.
//!
//! Opening a tape or a watchdog already has an effect, and reading a fifo may never end.

use std::fs::File;
use std::path::Path;

use super::attack_directory::{
    AttackDirectory, chown_to_attacker, create_attacker_fifo, create_attacker_symlink,
    write_attacker_file,
};
use super::attempts::Attempts;
use super::fakes::{FakeServerPrograms, create_mariadb_data, create_postgres_data};
use super::root;
use super::stranger::{AttackerAction, UID};

const READ: [&str; 8] = [
    "PG_VERSION",
    "postmaster.pid",
    "postmaster.opts",
    "postgresql.conf",
    "postgresql.auto.conf",
    "global/pg_control",
    "more.conf",
    "my.cnf",
];

/// The attacker's servers have special objects in place of their files: a fifo, an endless device,
/// a kernel file, or a terminal, which stands for any device. The attacker wants a device opened,
/// or root to read forever.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn special_files_in_server_directories_are_not_opened() {
    let mut attempts =
        Attempts::for_attack("devices, fifos and endless files in a server's directory");
    let pty = nix::pty::openpty(None, None).unwrap();
    let terminal = nix::unistd::ttyname(&pty.slave).unwrap();
    for kind in [
        "a device",
        "a fifo",
        "an endless device",
        "8 GB",
        "the kernel's",
        "a directory",
        "a loop of links",
    ] {
        let ground = AttackDirectory::new();
        let fakes = FakeServerPrograms::install_in(&ground);
        let mut forbidden = Vec::new();
        let (mut servers, mut waiting) = (Vec::new(), Vec::new());
        let theirs = ground.create_attacker_directory("told");
        for (n, name) in READ.into_iter().enumerate() {
            let data = ground.create_attacker_directory(&format!("data{n}"));
            create_postgres_data(&data);
            write_attacker_file(
                &data.join("postgresql.conf"),
                "include 'more.conf'\n",
                0o644,
            );
            if name == "my.cnf" {
                create_mariadb_data(&data);
            }
            let path = data.join(name);
            match kind {
                "a device" => {
                    create_attacker_symlink(&terminal, &path);
                    forbidden.push(terminal.clone());
                }
                "a fifo" => {
                    create_attacker_fifo(&path);
                    forbidden.push(path.clone());
                    waiting.push(
                        AttackerAction::Await(path.clone(), theirs.join(n.to_string()))
                            .start_as_uid(&ground, UID),
                    );
                }
                "an endless device" => {
                    create_attacker_symlink(Path::new("/dev/zero"), &path);
                    forbidden.push("/dev/zero".into());
                }
                "8 GB" => {
                    let _ = std::fs::remove_file(&path);
                    File::create(&path).unwrap().set_len(8 << 30).unwrap();
                    chown_to_attacker(&path);
                }
                // The file reports size 0, and shows more to root than to others.
                "the kernel's" => create_attacker_symlink(Path::new("/proc/kallsyms"), &path),
                "a directory" => {
                    let _ = std::fs::remove_file(&path);
                    std::fs::create_dir(&path).unwrap();
                    chown_to_attacker(&path);
                }
                _ => create_attacker_symlink(&path, &path),
            }
            servers.push(if name == "my.cnf" {
                fakes.start_mariadb(&data, &[&format!("--defaults-file={}", path.display())])
            } else {
                fakes.start_postgres(&data, &[])
            });
        }
        for arguments in [
            &["check", "--no-probe", "--no-programs"][..],
            &["facts"],
            &["capture"],
        ] {
            let (ended, trace) = root::run_traced("open,openat,openat2", arguments);
            let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
            gains.extend(
                forbidden
                    .iter()
                    .flat_map(|what| root::lines_opening_path(&trace, what)),
            );
            if kind == "a fifo" && std::fs::read_dir(&theirs).unwrap().next().is_some() {
                gains.push("a fifo is opened".to_owned());
            }
            if ended.signal.is_some() {
                gains.push(format!("root dies: {:?}", ended.signal));
            }
            attempts.record_attempt(&format!("{kind}, {}", arguments.join(" ")), &gains);
        }
        drop((servers, waiting));
    }
    attempts.write_tally_and_assert();
}
