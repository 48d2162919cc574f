use super::attempts::{Attempts, race};
use super::fakes::{Fakes, mariadb_data, postgres_data};
use super::ground::{Ground, SECRET, damage, fifo, give, link, put};
use super::kernel::Kernel;
use super::outputs::{RECORD, Way};
use super::root;
use super::stranger::{Act, UID};

/// The attacker exchanges the file that root writes with a link to a file of root's, after root has
/// checked the original. The attacker wants the link followed.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_file_exchanged_while_root_writes_it() {
    let mut attempts = Attempts::at("RENAME_EXCHANGE of a file while it is written");
    let _set = Kernel::Permits.set();
    for way in [Way::Record, Way::Capture] {
        let ground = Ground::new();
        let directory = ground.theirs("theirs");
        let vault = ground.watch();
        let (file, other) = (directory.join(way.name()), directory.join("other"));
        put(&file, RECORD, 0o6777);
        link(&ground.secret(), &other);
        let _swaps = Act::Exchange(file.clone(), other).start(&ground, UID);
        for turn in race() {
            way.write(&ground, &directory);
            attempts.made(&format!("{way:?}, turn {turn}"), &damage(&vault));
        }
    }
    attempts.end();
}

/// The attacker exchanges a directory on the path with a link to root's. The attacker wants root to
/// create a file in the vault.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_directory_exchanged_while_root_writes_into_it() {
    let mut attempts = Attempts::at("RENAME_EXCHANGE of a directory while it is written into");
    let _set = Kernel::Permits.set();
    for way in [Way::Record, Way::Capture] {
        let ground = Ground::new();
        let theirs = ground.theirs("theirs");
        let (directory, other) = (ground.theirs("theirs/reports"), theirs.join("other"));
        link(&ground.vault(), &other);
        let vault = ground.watch();
        let _swaps = Act::Exchange(directory.clone(), other).start(&ground, UID);
        for turn in race() {
            way.write(&ground, &directory);
            attempts.made(&format!("{way:?}, turn {turn}"), &damage(&vault));
        }
    }
    attempts.end();
}

/// The attacker exchanges a file that root reads with a link to a terminal of root's, which stands
/// for any device, to a fifo, or to root's own file. The attacker wants the target opened, or its
/// contents.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_file_exchanged_while_root_reads_it() {
    let mut attempts = Attempts::at("RENAME_EXCHANGE of a file while it is read");
    let pty = nix::pty::openpty(None, None).unwrap();
    let terminal = nix::unistd::ttyname(&pty.slave).unwrap();
    for bait in ["PG_VERSION", "postmaster.pid", "postgresql.conf", "my.cnf"] {
        for kind in ["a device", "a fifo", "root's file"] {
            let ground = Ground::new();
            let fakes = Fakes::on(&ground);
            let data = ground.theirs("data");
            let other = data.join("other");
            let fake = if bait == "my.cnf" {
                mariadb_data(&data);
                put(&data.join(bait), "[mysqld]\n", 0o644);
                fakes.mariadb(
                    &data,
                    &[&format!("--defaults-file={}", data.join(bait).display())],
                )
            } else {
                postgres_data(&data);
                fakes.postgres(&data, &[])
            };
            let told = data.join("told");
            let mut waits = None;
            let forbidden = match kind {
                "a device" => {
                    link(&terminal, &other);
                    terminal.clone()
                }
                "a fifo" => {
                    fifo(&other);
                    waits = Some(Act::Await(other.clone(), told.clone()).start(&ground, UID));
                    other.clone()
                }
                _ => {
                    link(&ground.secret(), &other);
                    ground.secret()
                }
            };
            let _swaps = Act::Exchange(data.join(bait), other).start(&ground, UID);
            for turn in race().take(if super::attempts::long() {
                usize::MAX
            } else {
                2
            }) {
                let (ended, trace) =
                    root::traced("open,openat,openat2", &["facts", "--no-programs"]);
                // The trace shows the fifo under both names, so a file that the attacker creates
                // shows whether root opened the fifo.
                let mut gains = if kind == "a fifo" {
                    Vec::new()
                } else {
                    root::opened(&trace, &forbidden)
                };
                if told.exists() {
                    gains.push("the fifo is opened".to_owned());
                }
                gains.extend(ended.hang());
                if ended.said().contains(SECRET) {
                    gains.push("root's secret is printed".to_owned());
                }
                attempts.made(&format!("{bait} and {kind}, turn {turn}"), &gains);
            }
            drop((fake, waits));
        }
    }
    attempts.end();
}

/// While a drill begins in the attacker's directory, the attacker moves root's new directory away
/// and puts a link in its place. The attacker wants the segment written into a directory of root's.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_directory_exchanged_when_a_drill_begins() {
    let mut attempts = Attempts::at("a directory swapped when a drill begins");
    for variant in [
        "its own directory is replaced",
        "the directory is exchanged",
    ] {
        for turn in race() {
            let ground = Ground::new();
            let theirs = ground.theirs("theirs");
            let directory = ground.theirs("theirs/drill");
            let vault = ground.watch();
            let act = if variant.starts_with("its own") {
                // A user can rename another user's directory in place but cannot move it elsewhere,
                // because that would change its `..`.
                let stolen = directory.join("stolen");
                Act::Steal(directory.join("walwise-drill"), stolen, ground.vault())
            } else {
                let other = theirs.join("other");
                link(&ground.vault(), &other);
                Act::Exchange(directory.clone(), other)
            };
            give(&directory);
            let doing = act.start(&ground, UID);
            let run = root::Run::start(&mut root::walwise([
                "drill".as_ref(),
                "write".as_ref(),
                directory.as_os_str(),
            ]));
            let mut stopped = false;
            let ended = run.end(root::patience(), |run| {
                if !stopped && run.printed().contains("ack 2\n") {
                    stopped = true;
                    let _ = nix::sys::signal::kill(run.pid(), nix::sys::signal::Signal::SIGTERM);
                }
            });
            drop(doing);
            let mut gains = damage(&vault);
            gains.extend(ended.hang());
            attempts.made(&format!("{variant}, turn {turn}"), &gains);
        }
    }
    attempts.end();
}
