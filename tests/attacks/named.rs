//! Root names an attacker's pipe, socket or device on the command line, or saves several reports at
//! once.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::attempts::Attempts;
use super::ground::{Ground, damage, fifo, give, link};
use super::root::{self, Ended, Run};

/// A capture, so that walwise needs no time to read the host.
const HOST: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/hosts/docker-volume.host"
);

const COMMANDS: [&[&str]; 10] = [
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
    &["probe", "--import", "THEIRS"],
    &["rules", "check", "THEIRS"],
    &["drill", "check", "THEIRS", "THEIRS"],
];

fn with_theirs(words: &[&str], theirs: &Path) -> Vec<String> {
    words
        .iter()
        .map(|word| word.replace("THEIRS", theirs.to_str().unwrap()))
        .collect()
}

fn gains(ended: &Ended) -> Vec<String> {
    let mut gains: Vec<String> = ended.hang().into_iter().collect();
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
fn what_is_named_ends() {
    let mut attempts = Attempts::at("pipes, sockets and devices that root names");
    let pty = nix::pty::openpty(None, None).unwrap();
    let terminal = nix::unistd::ttyname(&pty.slave).unwrap();
    let ground = Ground::new();
    let directory = ground.theirs("theirs");
    let at = |name: &str| directory.join(name);
    fifo(&at("silent"));
    fifo(&at("stalled"));
    let listener = UnixListener::bind(at("socket")).unwrap();
    give(&at("socket"));
    link(&terminal, &at("device"));
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
                Run::start(&mut root::walwise(with_theirs(words, &at(kind)))),
            )
        };
        let runs: Vec<_> = COMMANDS.iter().map(start).collect();
        for (words, run) in runs {
            attempts.made(
                &format!("{kind}, {}", words.join(" ")),
                &gains(&run.end(root::patience(), |_| ())),
            );
        }
    }
    for words in COMMANDS {
        let words = with_theirs(words, &at("device"));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (ended, trace) = root::traced("open,openat,openat2", &words);
        let opened = root::opened(&trace, &terminal);
        attempts.made(
            &format!("device, {}", words.join(" ")),
            &[gains(&ended), opened].concat(),
        );
    }
    drop(listener);
    attempts.end();
}

const SAVES: usize = 15;

/// Root saves several reports at once, with an attacker's environment, which names pipes and a link
/// to root's directory. The attacker wants a report lost, readable, or written elsewhere.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn what_is_called_kept_is_kept() {
    let mut attempts = Attempts::at("`--save` by many at once");
    let ground = Ground::new();
    let theirs = ground.theirs("state");
    link(&ground.vault(), &theirs.join("walwise"));
    fifo(&theirs.join("000001-20261125T074131Z.json"));
    let vault = ground.watch();
    let kept = ground.shared("kept", 0o755);
    let cover = "mount --make-rprivate / && mount --bind \"$0\" /var/lib && exec \"$@\"";
    let start = |_: usize| {
        let mut command = root::cron("unshare");
        command
            .args(["-m", "sh", "-c", cover])
            .arg(&kept)
            .arg(crate::support::programs::program_path());
        command.args(["check", "--no-probe", "--no-programs", "--save"]);
        Run::start(command.env("XDG_STATE_HOME", &theirs).env("HOME", &theirs))
    };
    let runs: Vec<Run> = (0..SAVES).map(start).collect();
    let mut names = std::collections::BTreeSet::new();
    for run in runs {
        let ended = run.end(root::patience(), |_| ());
        let mut gains: Vec<String> = ended.hang().into_iter().collect();
        let said = ended.said();
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
        attempts.made("one of many", &gains);
    }
    attempts.made("root's own directory", &damage(&vault));
    attempts.end();
}
