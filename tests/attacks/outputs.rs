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

use super::attack_directory::{
    AttackDirectory, chown_to_attacker, create_attacker_fifo, create_attacker_symlink,
    root_only_directory_changes, write_attacker_file,
};
use super::attempts::Attempts;
use super::kernel::FileProtection;
use super::root::{self, RunResult};
use super::stranger::UID;

/// A capture, so that walwise needs no time to read the host.
const HOST: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/hosts/docker-volume.host"
);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputCommand {
    Json,
    Script,
    Live,
    Capture,
    Record,
}

impl OutputCommand {
    const ALL: [Self; 5] = [
        Self::Json,
        Self::Script,
        Self::Live,
        Self::Capture,
        Self::Record,
    ];

    pub fn file_name(self) -> &'static str {
        match self {
            Self::Json | Self::Live => "rep.json",
            Self::Script => "plan.sh",
            Self::Capture => "db.host",
            Self::Record => "drills.json",
        }
    }

    pub fn write_output(self, ground: &AttackDirectory, directory: &Path) -> RunResult {
        let file = directory.join(self.file_name()).display().to_string();
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
                let [told, survived] =
                    create_drill_logs(ground).map(|path| path.display().to_string());
                ["drill", "check", &told, &survived, "--record", &file]
                    .map(str::to_owned)
                    .to_vec()
            }
        };
        root::run_with_timeout(&mut root::walwise_from_cron(arguments))
    }

    /// Whether the file has the proper beginning and end. Temporary files of walwise have them too.
    fn is_document_complete(self, text: &str) -> bool {
        match self {
            Self::Json | Self::Live | Self::Record => {
                text.starts_with('{') && text.ends_with("}\n")
            }
            Self::Script => text.starts_with("#!/bin/sh\n") && text.ends_with("exit 0\n"),
            Self::Capture => text.starts_with("walwise") && text.ends_with('\n'),
        }
    }
}

fn create_drill_logs(ground: &AttackDirectory) -> [PathBuf; 2] {
    let head = "walwise-drill 1 run=3ffa4d685e4b194f method=fdatasync segments=recycled when=2026-11-22T13:27:57Z directory=/srv/d";
    let of = |boot: &str, rest: &str| {
        format!(
            "{head}\nboot {boot}4bb039a-8418-44fd-a21c-dc0b40dd8247\nstack host host.name=vm\n{rest}"
        )
    };
    let logs = ground.create_directory("logs", 0o755);
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
enum PlantedObject {
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

impl PlantedObject {
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

    fn create_at(self, ground: &AttackDirectory, path: &Path) {
        let beside = |end: &str| PathBuf::from(format!("{}.{end}", path.display()));
        match self {
            Self::Nothing => {}
            Self::SetuidFile => write_attacker_file(path, "", 0o6777),
            Self::WritableFile => write_attacker_file(path, "", 0o666),
            Self::FileWithText => write_attacker_file(path, RECORD, 0o666),
            Self::ReadOnlyFile => write_attacker_file(path, "", 0o444),
            Self::LinkToRoots => create_attacker_symlink(&ground.secret_file(), path),
            Self::LinkToNewInVault => {
                create_attacker_symlink(&ground.root_only_directory().join("new"), path);
            }
            Self::DanglingLink => create_attacker_symlink(Path::new("nowhere"), path),
            Self::ChainOfLinks => {
                create_attacker_symlink(&ground.secret_file(), &beside("chain"));
                create_attacker_symlink(&beside("chain"), path);
            }
            Self::LinkToTheirs => {
                write_attacker_file(&beside("theirs"), "", 0o666);
                create_attacker_symlink(&beside("theirs"), path);
            }
            Self::LinkToDevice => create_attacker_symlink(Path::new("/dev/null"), path),
            Self::HardLinkToRoots => fs::hard_link(ground.secret_file(), path).unwrap(),
            Self::Fifo => create_attacker_fifo(path),
            Self::Socket => {
                drop(UnixListener::bind(path).unwrap());
                chown_to_attacker(path);
            }
            Self::Directory => {
                fs::create_dir(path).unwrap();
                chown_to_attacker(path);
            }
            Self::LinkToDirectory => create_attacker_symlink(&ground.root_only_directory(), path),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputDirectory {
    Sticky,
    Open,
    Group,
    Theirs,
    TheirsWithGroup,
    ThroughTheirLink,
    ThroughTheirDirectory,
}

impl OutputDirectory {
    const ALL: [Self; 7] = [
        Self::Sticky,
        Self::Open,
        Self::Group,
        Self::Theirs,
        Self::TheirsWithGroup,
        Self::ThroughTheirLink,
        Self::ThroughTheirDirectory,
    ];

    fn create_in(self, ground: &AttackDirectory) -> PathBuf {
        match self {
            Self::Sticky => ground.create_directory("sticky", 0o1777),
            Self::Open => ground.create_directory("open", 0o777),
            Self::Group => {
                let path = ground.create_directory("group", 0o775);
                std::os::unix::fs::chown(&path, None, Some(UID)).unwrap();
                path
            }
            Self::Theirs => ground.create_attacker_directory("theirs"),
            Self::TheirsWithGroup => {
                let path = ground.create_attacker_directory("setgid");
                fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o2775))
                    .unwrap();
                path
            }
            // Root's own directory, behind a link that the attacker can redirect at any time.
            Self::ThroughTheirLink => {
                let at = ground.create_directory("sticky", 0o1777).join("reports");
                create_attacker_symlink(&ground.create_directory("reports", 0o755), &at);
                at
            }
            Self::ThroughTheirDirectory => {
                ground.create_attacker_directory("theirs");
                create_attacker_symlink(
                    &ground.create_directory("reports", 0o755),
                    &ground.join("theirs/reports"),
                );
                ground.join("theirs/reports")
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
struct FileSnapshot {
    inode: u64,
    mode: u32,
    uid: u32,
    links: u64,
    file: bool,
    special: bool,
    text: Vec<u8>,
}

fn snapshot_tree(directory: &Path) -> BTreeMap<PathBuf, FileSnapshot> {
    let mut all = BTreeMap::new();
    for path in fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let found = fs::symlink_metadata(&path).unwrap();
        let kind = found.file_type();
        if found.is_dir() {
            all.extend(snapshot_tree(&path));
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
            FileSnapshot {
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

fn attempt_write(
    ground: &AttackDirectory,
    way: OutputCommand,
    directory: &Path,
    refused: bool,
) -> Vec<String> {
    let path = directory.join(way.file_name());
    create_drill_logs(ground);
    let vault = ground.snapshot_root_only_directory();
    let before = snapshot_tree(ground.join("").as_path());
    let taken: Vec<u64> = before.values().map(|entry| entry.inode).collect();
    // Keeps every old object open, as an attacker would, so that no new file reuses its inode
    // number.
    let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let _held: Vec<_> = before
        .keys()
        .map(|name| rustix::fs::open(name, look, Mode::empty()).unwrap())
        .collect();
    let ended = way.write_output(ground, directory);
    let mut gains = root_only_directory_changes(&vault);
    gains.extend(ended.hang_message());
    let real = directory.canonicalize().unwrap();
    for (name, now) in snapshot_tree(ground.join("").as_path()) {
        let old = before.get(&name);
        if old == Some(&now) || name.starts_with(ground.root_only_directory()) {
            continue;
        }
        let shown = name.display();
        if !now.file || !way.is_document_complete(&String::from_utf8_lossy(&now.text)) {
            gains.push(format!(
                "{shown} is left behind, and no whole file: {:o}",
                now.mode
            ));
        }
        if name != real.join(way.file_name()) {
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
            && snapshot_tree(ground.join("").as_path())
                .get(name)
                .is_none_or(|now| now.inode != old.inode)
        {
            gains.push(format!("{} is replaced", name.display()));
        }
    }
    let whole = path.is_file()
        && fs::read(&path)
            .is_ok_and(|text| way.is_document_complete(&String::from_utf8_lossy(&text)));
    // Exit codes 3 to 5 report findings and are not failures.
    let done = matches!(ended.code, Some(0 | 3..=5));
    if done && !whole {
        gains.push(format!(
            "root is told that it was written, and it was not: {}",
            ended.combined_output()
        ));
    }
    gains
}

fn attempt_combinations(
    attempts: &mut Attempts,
    way: OutputCommand,
    kernels: &[FileProtection],
    places: &[OutputDirectory],
    traps: &[PlantedObject],
) {
    for &kernel in kernels {
        let _set = kernel.apply_sysctls();
        for &place in places {
            for &trap in traps {
                let ground = AttackDirectory::new();
                let directory = place.create_in(&ground);
                trap.create_at(&ground, &directory.join(way.file_name()));
                // A user may edit scripts in a directory of their own.
                let refused = place.is_refused()
                    || place == OutputDirectory::Theirs && way == OutputCommand::Script;
                let gains = attempt_write(&ground, way, &directory, refused);
                attempts.record_attempt(
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
fn outputs_are_complete_in_root_only_directory() {
    for way in OutputCommand::ALL {
        let ground = AttackDirectory::new();
        let directory = ground.create_directory("reports", 0o755);
        let ended = way.write_output(&ground, &directory);
        assert!(
            matches!(ended.code, Some(0 | 3..=5)),
            "{way:?}: {}",
            ended.combined_output()
        );
        let text = fs::read_to_string(directory.join(way.file_name())).unwrap();
        assert!(way.is_document_complete(&text), "{way:?}: {text}");
    }
}

/// The attacker creates the record of drills before root does, in every kind of directory and
/// as every kind of file. The attacker wants root to write into a writable file, create a
/// setuid file, or overwrite a file of root's.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn drill_record_ignores_planted_files() {
    let mut attempts = Attempts::for_attack("a file laid where `--record` writes");
    attempt_combinations(
        &mut attempts,
        OutputCommand::Record,
        &FileProtection::ALL,
        &OutputDirectory::ALL,
        &PlantedObject::ALL,
    );
    attempts.write_tally_and_assert();
}

const CUT: &str = r#"{"run":"00000000000000aa","method":"fdatasync","segments":"recycled","begun":"2026-11-01T00:00:00Z","read":"2026-11-20T00:00:00Z","acknowledged":100000,"examined":100000,"lost":0}"#;

/// The attacker starts the record with invented power cuts. The attacker wants root to continue
/// that record, because `check --drill` would then trust the cuts.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn a_record_that_a_stranger_began_is_not_continued() {
    let mut attempts = Attempts::for_attack("a record of drills that a stranger began");
    for place in [OutputDirectory::Sticky, OutputDirectory::Theirs] {
        let ground = AttackDirectory::new();
        let directory = place.create_in(&ground);
        let record = directory.join(OutputCommand::Record.file_name());
        write_attacker_file(&record, RECORD.replace("[]}", &format!("[{CUT}]}}")), 0o644);
        let ended = OutputCommand::Record.write_output(&ground, &directory);
        let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
        if fs::metadata(&record).unwrap().uid() == 0 {
            gains.push(format!(
                "root's record holds it: {}",
                fs::read_to_string(&record).unwrap()
            ));
        }
        attempts.record_attempt(&format!("{place:?}"), &gains);
    }
    attempts.write_tally_and_assert();
}

#[test]
#[ignore = "needs root: it attacks as another user"]
fn output_option_ignores_planted_files() {
    use PlantedObject::{DanglingLink, Fifo, LinkToRoots, SetuidFile, WritableFile};
    let mut attempts = Attempts::for_attack("a file laid where `--output` writes");
    let traps = [SetuidFile, WritableFile, LinkToRoots, DanglingLink, Fifo];
    attempt_combinations(
        &mut attempts,
        OutputCommand::Json,
        &FileProtection::ALL,
        &OutputDirectory::ALL,
        &PlantedObject::ALL,
    );
    for way in [OutputCommand::Script, OutputCommand::Capture] {
        attempt_combinations(
            &mut attempts,
            way,
            &[FileProtection::Permits],
            &[
                OutputDirectory::Sticky,
                OutputDirectory::Open,
                OutputDirectory::Theirs,
            ],
            &traps,
        );
    }
    attempt_combinations(
        &mut attempts,
        OutputCommand::Live,
        &[FileProtection::Protects],
        &[OutputDirectory::Sticky],
        &[SetuidFile, LinkToRoots],
    );
    attempts.write_tally_and_assert();
}

/// The attacker occupies the names of temporary files, and wants root unable to write at all.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn taken_temporary_names_do_not_block_output() {
    let mut attempts = Attempts::for_attack("names of drafts taken before");
    for kernel in FileProtection::ALL {
        let _set = kernel.apply_sysctls();
        for place in [OutputDirectory::Sticky, OutputDirectory::Theirs] {
            let ground = AttackDirectory::new();
            let directory = place.create_in(&ground);
            let name = OutputCommand::Json.file_name();
            for n in 0..1000 {
                for draft in [
                    format!(".{name}.{n}.tmp"),
                    format!(".{name}.{n}"),
                    format!("{name}.{n}.tmp"),
                ] {
                    create_attacker_symlink(&ground.secret_file(), &directory.join(draft));
                }
            }
            for draft in [
                format!(".{name}"),
                format!("{name}.tmp"),
                format!("{name}~"),
                format!(".{name}.tmp"),
            ] {
                create_attacker_symlink(&ground.secret_file(), &directory.join(draft));
            }
            let mut gains = attempt_write(&ground, OutputCommand::Json, &directory, false);
            if !directory.join(name).exists() {
                gains.push("nothing is written".to_owned());
            }
            attempts.record_attempt(&format!("{place:?}, the kernel {kernel:?}"), &gains);
        }
    }
    attempts.write_tally_and_assert();
}

/// sudo can keep another user's environment. No file of root's may be written into the state
/// directory that such an environment names.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn save_as_root_ignores_state_directory_of_environment() {
    let mut attempts = Attempts::for_attack("`--save` with a stranger's environment");
    let ground = AttackDirectory::new();
    let theirs = ground.create_attacker_directory("state");
    create_attacker_symlink(&ground.root_only_directory(), &theirs.join("walwise"));
    let vault = ground.snapshot_root_only_directory();
    // Keeps the machine's real /var/lib unchanged.
    let cover =
        "mount --make-rprivate / && mount -t tmpfs -o mode=755 none /var/lib && exec \"$@\"";
    let mut command = root::cron_command("unshare");
    command.args([
        "-m",
        "sh",
        "-c",
        cover,
        "sh",
        crate::support::programs::walwise_path(),
        "check",
        "--no-probe",
        "--save",
    ]);
    let ended = root::run_with_timeout(command.env("XDG_STATE_HOME", &theirs).env("HOME", &theirs));
    let mut gains = root_only_directory_changes(&vault);
    gains.extend(ended.hang_message());
    attempts.record_attempt("a link to root's directory", &gains);
    attempts.write_tally_and_assert();
}
