//! Root names an attacker's pipe, socket or device on the command line, or saves several reports at
//! once.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::attack_directory::{
    AttackDirectory, chown_to_attacker, create_attacker_fifo, create_attacker_symlink,
    root_only_directory_changes,
};
use super::attempts::Attempts;
use super::root::{self, RunResult, RunningCommand};

/// A capture, so that walwise needs no time to read the host.
const HOST: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/hosts/docker-volume.host"
);

const COMMANDS: [&[&str]; 9] = [
    &["show", "THEIRS"],
    &["--host", "THEIRS"],
    &["check", "--no-probe", "--host", "THEIRS"],
    &["check", "--host", HOST, "--baseline", "THEIRS"],
    &["check", "--host", HOST, "--drill", "THEIRS"],
    &["check", "--host", HOST, "--trial", "THEIRS"],
    &[
        "check",
        "--no-probe",
        "--no-programs",
        "--mysql-defaults",
        "THEIRS",
    ],
    &["rules", "check", "THEIRS"],
    &["drill", "check", "THEIRS", "THEIRS"],
];

fn replace_theirs_placeholder(words: &[&str], theirs: &Path) -> Vec<String> {
    words
        .iter()
        .map(|word| word.replace("THEIRS", theirs.to_str().unwrap()))
        .collect()
}

fn refusal_violations(ended: &RunResult) -> Vec<String> {
    let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
    let says = String::from_utf8_lossy(&ended.err);
    if gains.is_empty() && (!matches!(ended.code, Some(1 | 2)) || says.lines().count() != 1) {
        gains.push(format!(
            "it does not end with one sentence: {:?} {says}",
            ended.code
        ));
    }
    gains
}

/// The attacker wants root's command never to end, or a device opened whose opening has effects.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn commands_end_on_attacker_pipes_sockets_and_devices() {
    let mut attempts = Attempts::for_attack("pipes, sockets and devices that root names");
    let pty = nix::pty::openpty(None, None).unwrap();
    let terminal = nix::unistd::ttyname(&pty.slave).unwrap();
    let ground = AttackDirectory::new();
    let directory = ground.create_attacker_directory("theirs");
    let at = |name: &str| directory.join(name);
    create_attacker_fifo(&at("silent"));
    create_attacker_fifo(&at("stalled"));
    let listener = UnixListener::bind(at("socket")).unwrap();
    chown_to_attacker(&at("socket"));
    create_attacker_symlink(&terminal, &at("device"));
    // Opened for reading and writing, so that the pipe has a writer, which writes once and then
    // stays silent.
    let mut stalled = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(at("stalled"))
        .unwrap();
    stalled.write_all(b"{\n").unwrap();
    for kind in ["silent", "stalled", "socket"] {
        let start = |words: &&'static [&str]| {
            (
                *words,
                RunningCommand::start(&mut root::walwise_from_cron(replace_theirs_placeholder(
                    words,
                    &at(kind),
                ))),
            )
        };
        let runs: Vec<_> = COMMANDS.iter().map(start).collect();
        for (words, run) in runs {
            attempts.record_attempt(
                &format!("{kind}, {}", words.join(" ")),
                &refusal_violations(&run.wait_with_timeout(root::time_limit_seconds(), |_| ())),
            );
        }
    }
    for words in COMMANDS {
        let words = replace_theirs_placeholder(words, &at("device"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (ended, trace) = root::run_traced("open,openat,openat2", &words);
        let opened = root::lines_opening_path(&trace, &terminal);
        attempts.record_attempt(
            &format!("device, {}", words.join(" ")),
            &[refusal_violations(&ended), opened].concat(),
        );
    }
    drop(listener);
    attempts.write_tally_and_assert();
}

const SAVES: usize = 15;

/// Root saves several reports at once, with an attacker's environment, which names pipes and a link
/// to root's directory. The attacker wants a report lost, readable, or written elsewhere.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn concurrent_saves_keep_every_report() {
    let mut attempts = Attempts::for_attack("`--save` by many at once");
    let ground = AttackDirectory::new();
    let theirs = ground.create_attacker_directory("state");
    create_attacker_symlink(&ground.root_only_directory(), &theirs.join("walwise"));
    create_attacker_fifo(&theirs.join("000001-20261125T074131Z.json"));
    let vault = ground.snapshot_root_only_directory();
    let kept = ground.create_directory("kept", 0o755);
    let cover = "mount --make-rprivate / && mount --bind \"$0\" /var/lib && exec \"$@\"";
    let start = |_: usize| {
        let mut command = root::cron_command("unshare");
        command
            .args(["-m", "sh", "-c", cover])
            .arg(&kept)
            .arg(crate::support::programs::walwise_path());
        command.args(["check", "--no-probe", "--no-programs", "--save"]);
        RunningCommand::start(command.env("XDG_STATE_HOME", &theirs).env("HOME", &theirs))
    };
    let runs: Vec<RunningCommand> = (0..SAVES).map(start).collect();
    let mut names = std::collections::BTreeSet::new();
    for run in runs {
        let ended = run.wait_with_timeout(root::time_limit_seconds(), |_| ());
        let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
        let said = ended.combined_output();
        let path = said
            .lines()
            .find_map(|line| line.split_once("baseline saved: /var/lib/"));
        match path.map(|(_, path)| kept.join(path)) {
            None => gains.push(format!("nothing is kept: {said}")),
            Some(path) => {
                let whole = |text: &String| serde_json::from_str::<serde_json::Value>(text).is_ok();
                if !fs::read_to_string(&path).is_ok_and(|text| whole(&text)) {
                    gains.push(format!("{} is not a whole report", path.display()));
                }
                if fs::metadata(&path)
                    .is_ok_and(|file| file.uid() != 0 || file.mode() & 0o777 != 0o600)
                {
                    gains.push(format!("{} is not root's alone", path.display()));
                }
                if !names.insert(path.clone()) {
                    gains.push(format!("{} holds another's report", path.display()));
                }
            }
        }
        attempts.record_attempt("one of many", &gains);
    }
    attempts.record_attempt("root's own directory", &root_only_directory_changes(&vault));
    attempts.write_tally_and_assert();
}
