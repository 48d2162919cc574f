//! Control characters in names, arguments and environments. walwise must print no sequence that
//! controls a terminal, and no forged line.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;

use super::attack_directory::{AttackDirectory, write_attacker_file};
use super::attempts::Attempts;
use super::fakes::{FakeServerPrograms, create_mariadb_data, create_postgres_data};
use super::root;
use super::stranger::{AttackerAction, SocketAnswer, UID, command_as_uid};

const TREACHEROUS: [&[u8]; 7] = [
    b"\x1b]0;owned\x07",
    b"\x1b[2J\x1b[31m",
    b"\nEVIL=1\n",
    b"\r\x08\x08EVIL",
    "\u{202e}\u{2066}EVIL".as_bytes(),
    "\u{9b}31m\u{85}EVIL".as_bytes(),
    b"\xff\xfe\xc0\x80",
];

const OUTPUTS: [&[&str]; 5] = [
    &["facts"],
    &["facts", "--format", "json"],
    &["capture"],
    &["upgrade"],
    &["explain"],
];

pub fn terminal_injections(said: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(said);
    let mut gains = Vec::new();
    let bad = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}' | '\u{2029}' | '\u{fffd}')
    };
    if let Some(c) = text.chars().find(|c| bad(*c)) {
        let line = text
            .lines()
            .find(|line| line.contains(c))
            .unwrap_or_default();
        gains.push(format!("{c:?} is printed: {line:?}"));
    }
    if let Some(line) = text
        .lines()
        .find(|line| line.trim_start().starts_with("EVIL"))
    {
        gains.push(format!("a line of the stranger's is printed: {line:?}"));
    }
    gains
}

/// Names, arguments, environments, files and answers of the attacker's servers contain hostile
/// sequences. The attacker wants to control root's terminal, or to add a line to a file of root's.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn no_control_characters_of_attackers_are_printed() {
    let mut attempts =
        Attempts::for_attack("control characters in names, arguments, environments and files");
    let ground = AttackDirectory::new();
    let fakes = FakeServerPrograms::install_in(&ground);
    let (mut servers, mut doing) = (Vec::new(), Vec::new());
    for (n, evil) in TREACHEROUS.into_iter().enumerate() {
        let word = OsStr::from_bytes(evil);
        let named = |head: &str, tail: &str| {
            let mut name = OsString::from(head);
            name.push(word);
            name.push(tail);
            name
        };
        let data = ground.join("").join(named(&format!("pg{n}"), ""));
        fs::create_dir(&data).unwrap();
        create_postgres_data(&data);
        for file in ["PG_VERSION", "postmaster.pid", "postgresql.auto.conf"] {
            write_attacker_file(&data.join(file), evil, 0o600);
        }
        let quoted = [
            b"fsync = '",
            evil,
            b"'\ninclude '",
            evil,
            b"'\nwal_sync_method = '",
            evil,
            b"'\n",
            evil,
        ]
        .concat();
        write_attacker_file(&data.join("postgresql.conf"), quoted, 0o600);
        let mut command = command_as_uid(UID, fakes.program("postgres"));
        command
            .arg0(named("postgres", ""))
            .arg("-D")
            .arg(&data)
            .arg("-c")
            .arg(named("wal_level=", ""));
        command
            .env("PGDATA", word)
            .env("LD_PRELOAD", named("/tmp/", "libeatmydata.so"))
            .current_dir(&data);
        let fake = fakes.start(&mut command);
        if n % 2 == 0 {
            let pid = format!("{}\n", fake.pid());
            let text = [
                pid.as_bytes(),
                data.as_os_str().as_bytes(),
                b"\n1\n5432\n",
                evil,
                b"\n",
            ];
            write_attacker_file(&data.join("postmaster.pid"), text.concat(), 0o600);
        }
        servers.push(fake);
        let data = ground.join("").join(named(&format!("my{n}"), ""));
        create_mariadb_data(&data);
        write_attacker_file(
            &data.join("my.cnf"),
            [
                b"[mysqld]\ninnodb_flush_method=",
                evil,
                b"\n!include ",
                evil,
                b"\n",
            ]
            .concat(),
            0o600,
        );
        let bin = ground.join("").join(named(&format!("bin{n}"), ""));
        fs::create_dir(&bin).unwrap();
        fs::copy("/usr/bin/echo", bin.join("mariadbd")).unwrap();
        let mut command = command_as_uid(UID, "/bin/sh");
        command
            .args(["-c", "exec 3<>ibdata1; exec \"$0\" \"$@\""])
            .arg(bin.join("mariadbd"));
        let mut defaults = OsString::from("--defaults-file=");
        defaults.push(data.join("my.cnf"));
        command
            .arg(defaults)
            .arg(named("--innodb-flush-method=", ""))
            .arg(named("--datadir=", ""));
        servers.push(fakes.start_and_wait_for_name(command.current_dir(&data), "mariadbd"));
    }
    // Linux keeps only 15 bytes of a process name. These processes run no program with a known
    // name.
    for evil in TREACHEROUS {
        let name = OsStr::from_bytes(&evil[..evil.len().min(12)]);
        let own = ground.create_attacker_directory("named").join(name);
        if fs::hard_link(fakes.program("postgres"), &own).is_ok() {
            servers.push(fakes.start(command_as_uid(UID, &own).args(["-D", "/none"])));
        }
    }
    let data = ground.create_attacker_directory("answers");
    create_postgres_data(&data);
    doing.push(
        AttackerAction::Listen(data.join(".s.PGSQL.5432"), SocketAnswer::Escapes)
            .start_as_uid(&ground, UID),
    );
    servers.push(fakes.start_postgres(&data, &[]));
    for arguments in root::check_command_lines(&OUTPUTS) {
        let ended = root::run_with_timeout(&mut root::walwise_from_cron(&arguments));
        let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
        gains.extend(terminal_injections(&ended.out));
        gains.extend(terminal_injections(&ended.err));
        attempts.record_attempt(&arguments.join(" "), &gains);
    }
    drop((servers, doing));
    attempts.write_tally_and_assert();
}
