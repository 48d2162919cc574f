//! Root writes files in directories where others can write.
//!
//! An existing object must neither be written through nor pass its mode, owner or name on to the
//! new file.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::attempts::Attempts;
use super::ground::{Ground, damage, fifo, give, link, put};
use super::kernel::Kernel;
use super::root::{self, Ended};
use super::stranger::UID;

/// A capture, so that walwise needs no time to read the host.
const HOST: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/hosts/docker-volume.host"
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Json,
    Script,
    Live,
    Capture,
    Record,
}

impl Way {
    const ALL: [Self; 5] = [
        Self::Json,
        Self::Script,
        Self::Live,
        Self::Capture,
        Self::Record,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Json | Self::Live => "rep.json",
            Self::Script => "plan.sh",
            Self::Capture => "db.host",
            Self::Record => "drills.json",
        }
    }

    pub fn write(self, ground: &Ground, directory: &Path) -> Ended {
        let file = directory.join(self.name()).display().to_string();
        let arguments: Vec<String> = match self {
            Self::Json => [
                "check", "--host", HOST, "-v", "--format", "json", "--output", &file,
            ]
            .map(str::to_owned)
            .to_vec(),
            Self::Script => [
                "check", "--host", HOST, "--format", "script", "--output", &file,
            ]
            .map(str::to_owned)
            .to_vec(),
            Self::Live => [
                "check",
                "--no-probe",
                "-v",
                "--format",
                "json",
                "--output",
                &file,
            ]
            .map(str::to_owned)
            .to_vec(),
            Self::Capture => ["capture", "--output", &file].map(str::to_owned).to_vec(),
            Self::Record => {
                let [told, survived] = drill(ground).map(|path| path.display().to_string());
                ["drill", "check", &told, &survived, "--record", &file]
                    .map(str::to_owned)
                    .to_vec()
            }
        };
        root::end(&mut root::walwise(arguments))
    }

    /// Whether the file has the proper beginning and end. Temporary files of walwise have them too.
    fn is_whole(self, text: &str) -> bool {
        match self {
            Self::Json | Self::Live | Self::Record => {
                text.starts_with('{') && text.ends_with("}\n")
            }
            Self::Script => text.starts_with("#!/bin/sh\n") && text.ends_with("exit 0\n"),
            Self::Capture => text.starts_with("walwise") && text.ends_with('\n'),
        }
    }
}

fn drill(ground: &Ground) -> [PathBuf; 2] {
    let head = "walwise-drill 1 run=3ffa4d685e4b194f method=fdatasync segments=recycled when=2026-11-22T13:27:57Z directory=/srv/d";
    let of = |boot: &str, rest: &str| {
        format!(
            "{head}\nboot {boot}4bb039a-8418-44fd-a21c-dc0b40dd8247\nstack host host.name=vm\n{rest}"
        )
    };
    let logs = ground.shared("logs", 0o755);
    let [told, survived] = ["told", "survived"].map(|name| logs.join(name));
    if !told.exists() {
        fs::write(&told, of("5", "ack 1\nack 2\n")).unwrap();
        fs::write(
            &survived,
            of("6", "survived 1-2\nread 2026-11-22T13:27:58Z\n"),
        )
        .unwrap();
    }
    [told, survived]
}

pub const RECORD: &str =
    "{\"walwise_drills\":1,\"stack\":[\"stack host host.name=vm\"],\"cuts\":[]}\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trap {
    Nothing,
    SetuidFile,
    WritableFile,
    FileWithText,
    ReadOnlyFile,
    LinkToRoots,
    LinkToNewInVault,
    DanglingLink,
    ChainOfLinks,
    LinkToTheirs,
    LinkToDevice,
    HardLinkToRoots,
    Fifo,
    Socket,
    Directory,
    LinkToDirectory,
}

impl Trap {
    const ALL: [Self; 16] = [
        Self::Nothing,
        Self::SetuidFile,
        Self::WritableFile,
        Self::FileWithText,
        Self::ReadOnlyFile,
        Self::LinkToRoots,
        Self::LinkToNewInVault,
        Self::DanglingLink,
        Self::ChainOfLinks,
        Self::LinkToTheirs,
        Self::LinkToDevice,
        Self::HardLinkToRoots,
        Self::Fifo,
        Self::Socket,
        Self::Directory,
        Self::LinkToDirectory,
    ];

    fn lay(self, ground: &Ground, path: &Path) {
        let beside = |end: &str| PathBuf::from(format!("{}.{end}", path.display()));
        match self {
            Self::Nothing => {}
            Self::SetuidFile => put(path, "", 0o6777),
            Self::WritableFile => put(path, "", 0o666),
            Self::FileWithText => put(path, RECORD, 0o666),
            Self::ReadOnlyFile => put(path, "", 0o444),
            Self::LinkToRoots => link(&ground.secret(), path),
            Self::LinkToNewInVault => link(&ground.vault().join("new"), path),
            Self::DanglingLink => link(Path::new("nowhere"), path),
            Self::ChainOfLinks => {
                link(&ground.secret(), &beside("chain"));
                link(&beside("chain"), path);
            }
            Self::LinkToTheirs => {
                put(&beside("theirs"), "", 0o666);
                link(&beside("theirs"), path);
            }
            Self::LinkToDevice => link(Path::new("/dev/null"), path),
            Self::HardLinkToRoots => fs::hard_link(ground.secret(), path).unwrap(),
            Self::Fifo => fifo(path),
            Self::Socket => {
                drop(UnixListener::bind(path).unwrap());
                give(path);
            }
            Self::Directory => {
                fs::create_dir(path).unwrap();
                give(path);
            }
            Self::LinkToDirectory => link(&ground.vault(), path),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Sticky,
    Open,
    Group,
    Theirs,
    TheirsWithGroup,
    ThroughTheirLink,
    ThroughTheirDirectory,
}

impl Place {
    const ALL: [Self; 7] = [
        Self::Sticky,
        Self::Open,
        Self::Group,
        Self::Theirs,
        Self::TheirsWithGroup,
        Self::ThroughTheirLink,
        Self::ThroughTheirDirectory,
    ];

    fn make(self, ground: &Ground) -> PathBuf {
        match self {
            Self::Sticky => ground.shared("sticky", 0o1777),
            Self::Open => ground.shared("open", 0o777),
            Self::Group => {
                let path = ground.shared("group", 0o775);
                std::os::unix::fs::chown(&path, None, Some(UID)).unwrap();
                path
            }
            Self::Theirs => ground.theirs("theirs"),
            Self::TheirsWithGroup => {
                let path = ground.theirs("setgid");
                fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o2775))
                    .unwrap();
                path
            }
            // Root's own directory, behind a link that the attacker can redirect at any time.
            Self::ThroughTheirLink => {
                let at = ground.shared("sticky", 0o1777).join("reports");
                link(&ground.shared("reports", 0o755), &at);
                at
            }
            Self::ThroughTheirDirectory => {
                ground.theirs("theirs");
                link(
                    &ground.shared("reports", 0o755),
                    &ground.at("theirs/reports"),
                );
                ground.at("theirs/reports")
            }
        }
    }

    fn is_refused(self) -> bool {
        match self {
            Self::Open
            | Self::Group
            | Self::ThroughTheirLink
            | Self::ThroughTheirDirectory
            | Self::TheirsWithGroup => true,
            Self::Sticky | Self::Theirs => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    inode: u64,
    mode: u32,
    uid: u32,
    links: u64,
    file: bool,
    special: bool,
    text: Vec<u8>,
}

fn entries(directory: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut all = BTreeMap::new();
    for path in fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let found = fs::symlink_metadata(&path).unwrap();
        let kind = found.file_type();
        if found.is_dir() {
            all.extend(entries(&path));
        }
        let text = if found.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        let special = kind.is_fifo() || kind.is_socket() || kind.is_dir();
        let (inode, mode, uid, links) = (found.ino(), found.mode(), found.uid(), found.nlink());
        all.insert(
            path,
            Entry {
                inode,
                mode,
                uid,
                links,
                file: found.is_file(),
                special,
                text,
            },
        );
    }
    all
}

fn attempt(ground: &Ground, way: Way, directory: &Path, refused: bool) -> Vec<String> {
    let path = directory.join(way.name());
    drill(ground);
    let vault = ground.watch();
    let before = entries(ground.at("").as_path());
    let taken: Vec<u64> = before.values().map(|entry| entry.inode).collect();
    // Keeps every old object open, as an attacker would, so that no new file reuses its inode
    // number.
    let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let _held: Vec<_> = before
        .keys()
        .map(|name| rustix::fs::open(name, look, Mode::empty()).unwrap())
        .collect();
    let ended = way.write(ground, directory);
    let mut gains = damage(&vault);
    gains.extend(ended.hang());
    let real = directory.canonicalize().unwrap();
    for (name, now) in entries(ground.at("").as_path()) {
        let old = before.get(&name);
        if old == Some(&now) || name.starts_with(ground.vault()) {
            continue;
        }
        let shown = name.display();
        if !now.file || !way.is_whole(&String::from_utf8_lossy(&now.text)) {
            gains.push(format!(
                "{shown} is left behind, and no whole file: {:o}",
                now.mode
            ));
        }
        if name != real.join(way.name()) {
            gains.push(format!("{shown} is written, which nobody asked for"));
        }
        if now.uid != 0 || now.mode & 0o7777 & !0o600 != 0 {
            gains.push(format!(
                "{shown} is of uid {} with mode {:o}",
                now.uid,
                now.mode & 0o7777
            ));
        }
        if taken.contains(&now.inode)
            && old.is_none_or(|old| old.uid != 0 || old.inode == now.inode)
        {
            gains.push(format!("{shown} is written into a file that was there"));
        }
        if now.links != 1 {
            gains.push(format!("{shown} has another name"));
        }
        if refused {
            gains.push(format!("{shown} is written where others can write"));
        }
    }
    for (name, old) in before.iter().filter(|(_, old)| old.special) {
        if name.exists()
            && entries(ground.at("").as_path())
                .get(name)
                .is_none_or(|now| now.inode != old.inode)
        {
            gains.push(format!("{} is replaced", name.display()));
        }
    }
    let whole = path.is_file()
        && fs::read(&path).is_ok_and(|text| way.is_whole(&String::from_utf8_lossy(&text)));
    // Exit codes 3 to 5 report findings and are not failures.
    let done = matches!(ended.code, Some(0 | 3..=5));
    if done && !whole {
        gains.push(format!(
            "root is told that it was written, and it was not: {}",
            ended.said()
        ));
    }
    gains
}

fn all(attempts: &mut Attempts, way: Way, kernels: &[Kernel], places: &[Place], traps: &[Trap]) {
    for &kernel in kernels {
        let _set = kernel.set();
        for &place in places {
            for &trap in traps {
                let ground = Ground::new();
                let directory = place.make(&ground);
                trap.lay(&ground, &directory.join(way.name()));
                // A user may edit scripts in a directory of their own.
                let refused = place.is_refused() || place == Place::Theirs && way == Way::Script;
                let gains = attempt(&ground, way, &directory, refused);
                attempts.made(
                    &format!("{way:?}, {trap:?}, {place:?}, the kernel {kernel:?}"),
                    &gains,
                );
            }
        }
    }
}

/// In root's own directory, every command must write a complete file that only root can change.
/// Otherwise the tests below would prove nothing.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn in_root_s_own_directory_it_is_written() {
    for way in Way::ALL {
        let ground = Ground::new();
        let directory = ground.shared("reports", 0o755);
        let ended = way.write(&ground, &directory);
        assert!(
            matches!(ended.code, Some(0 | 3..=5)),
            "{way:?}: {}",
            ended.said()
        );
        let text = fs::read_to_string(directory.join(way.name())).unwrap();
        assert!(way.is_whole(&text), "{way:?}: {text}");
    }
}

/// Before root creates the record of drills, the attacker does: in every kind of directory, as
/// every kind of file. The attacker wants root to write into a writable file, create a setuid file,
/// or overwrite a file of root's.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn what_lies_there_is_neither_written_nor_followed() {
    let mut attempts = Attempts::at("a file laid where `--record` writes");
    all(
        &mut attempts,
        Way::Record,
        &Kernel::ALL,
        &Place::ALL,
        &Trap::ALL,
    );
    attempts.end();
}

const CUT: &str = r#"{"run":"00000000000000aa","method":"fdatasync","segments":"recycled","begun":"2026-11-01T00:00:00Z","read":"2026-11-20T00:00:00Z","acknowledged":100000,"examined":100000,"lost":0}"#;

/// The attacker starts the record with invented power cuts. The attacker wants root to continue
/// that record, because `check --drill` would then trust the cuts.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_record_that_a_stranger_began_is_not_continued() {
    let mut attempts = Attempts::at("a record of drills that a stranger began");
    for place in [Place::Sticky, Place::Theirs] {
        let ground = Ground::new();
        let directory = place.make(&ground);
        let record = directory.join(Way::Record.name());
        put(&record, RECORD.replace("[]}", &format!("[{CUT}]}}")), 0o644);
        let ended = Way::Record.write(&ground, &directory);
        let mut gains: Vec<String> = ended.hang().into_iter().collect();
        if fs::metadata(&record).unwrap().uid() == 0 {
            gains.push(format!(
                "root's record holds it: {}",
                fs::read_to_string(&record).unwrap()
            ));
        }
        attempts.made(&format!("{place:?}"), &gains);
    }
    attempts.end();
}

#[test]
#[ignore = "needs root: it attacks as another user"]
fn reports_scripts_and_captures_are_root_s() {
    use Trap::{DanglingLink, Fifo, LinkToRoots, SetuidFile, WritableFile};
    let mut attempts = Attempts::at("a file laid where `--output` writes");
    let traps = [SetuidFile, WritableFile, LinkToRoots, DanglingLink, Fifo];
    all(
        &mut attempts,
        Way::Json,
        &Kernel::ALL,
        &Place::ALL,
        &Trap::ALL,
    );
    for way in [Way::Script, Way::Capture] {
        all(
            &mut attempts,
            way,
            &[Kernel::Permits],
            &[Place::Sticky, Place::Open, Place::Theirs],
            &traps,
        );
    }
    all(
        &mut attempts,
        Way::Live,
        &[Kernel::Protects],
        &[Place::Sticky],
        &[SetuidFile, LinkToRoots],
    );
    attempts.end();
}

/// The attacker occupies the names of temporary files, and wants root unable to write at all.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn nobody_blocks_an_output() {
    let mut attempts = Attempts::at("names of drafts taken before");
    for kernel in Kernel::ALL {
        let _set = kernel.set();
        for place in [Place::Sticky, Place::Theirs] {
            let ground = Ground::new();
            let directory = place.make(&ground);
            let name = Way::Json.name();
            for n in 0..1000 {
                for draft in [
                    format!(".{name}.{n}.tmp"),
                    format!(".{name}.{n}"),
                    format!("{name}.{n}.tmp"),
                ] {
                    link(&ground.secret(), &directory.join(draft));
                }
            }
            for draft in [
                format!(".{name}"),
                format!("{name}.tmp"),
                format!("{name}~"),
                format!(".{name}.tmp"),
            ] {
                link(&ground.secret(), &directory.join(draft));
            }
            let mut gains = attempt(&ground, Way::Json, &directory, false);
            if !directory.join(name).exists() {
                gains.push("nothing is written".to_owned());
            }
            attempts.made(&format!("{place:?}, the kernel {kernel:?}"), &gains);
        }
    }
    attempts.end();
}

/// sudo can keep another user's environment. No file of root's may be written into the state
/// directory that such an environment names.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_kept_report_is_not_kept_where_the_environment_says() {
    let mut attempts = Attempts::at("`--save` with a stranger's environment");
    let ground = Ground::new();
    let theirs = ground.theirs("state");
    link(&ground.vault(), &theirs.join("walwise"));
    let vault = ground.watch();
    // Keeps the machine's real /var/lib unchanged.
    let cover =
        "mount --make-rprivate / && mount -t tmpfs -o mode=755 none /var/lib && exec \"$@\"";
    let mut command = root::cron("unshare");
    command.args([
        "-m",
        "sh",
        "-c",
        cover,
        "sh",
        crate::support::programs::program_path(),
        "check",
        "--no-probe",
        "--save",
    ]);
    let ended = root::end(command.env("XDG_STATE_HOME", &theirs).env("HOME", &theirs));
    let mut gains = damage(&vault);
    gains.extend(ended.hang());
    attempts.made("a link to root's directory", &gains);
    attempts.end();
}
