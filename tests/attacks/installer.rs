//! Root runs the archive's installer: under a prefix where others can write, from any directory,
//! with any umask.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::attack_directory::{AttackDirectory, root_only_directory_changes};
use super::attempts::Attempts;
use super::root::{self, RunResult};
use super::stranger::UID;
use crate::support::deadline::CommandInTime as _;

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging");

struct InstallerDirectory(tempfile::TempDir);

impl InstallerDirectory {
    fn new() -> Self {
        Self(
            tempfile::Builder::new()
                .prefix("walwise-attack-")
                .tempdir_in("/root")
                .unwrap(),
        )
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn create_archive(&self) -> PathBuf {
        let archive = self.join("archive");
        for (directory, file) in [
            ("share/man/man1", "walwise.1"),
            ("share/bash-completion/completions", "walwise"),
            ("share/zsh/site-functions", "_walwise"),
            ("share/fish/vendor_completions.d", "walwise.fish"),
        ] {
            fs::create_dir_all(archive.join(directory)).unwrap();
            fs::write(archive.join(directory).join(file), "of the archive\n").unwrap();
        }
        fs::create_dir_all(archive.join("systemd")).unwrap();
        for unit in [
            "systemd/walwise-check.service",
            "systemd/walwise-check.timer",
            "install.sh",
        ] {
            fs::copy(Path::new(PACKAGING).join(unit), archive.join(unit)).unwrap();
        }
        fs::write(archive.join("walwise"), "#!/bin/sh\n").unwrap();
        archive
    }
}

fn run_with_private_etc(archive: &Path, script: &str) -> RunResult {
    let script = format!(
        "mount -t tmpfs -o mode=755 tmpfs /etc
        mkdir -p /etc/systemd/system/timers.target.wants
        ln -s ../walwise-check.timer /etc/systemd/system/timers.target.wants/walwise-check.timer
        {script}"
    );
    root::run_with_timeout(
        Command::new("unshare")
            .args(["--mount", "sh", "-ec", &script, "sh"])
            .arg(archive),
    )
}

const OPEN: [(&str, u32, bool); 6] = [
    ("bin", 0o775, false),
    ("bin", 0o1777, false),
    ("bin", 0o755, true),
    ("share/man/man1", 0o777, false),
    ("share/zsh", 0o775, false),
    (".", 0o1777, false),
];

/// The attacker places links where root will write. The attacker wants a file of root overwritten
/// or its mode changed, or another program installed.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn nothing_is_installed_through_a_link() {
    let mut attempts = Attempts::for_attack("links laid where the installer writes");
    for (open, mode, is_theirs) in OPEN {
        for trap in ["a draft", "a file", "a directory"] {
            let (ground, place) = (AttackDirectory::new(), InstallerDirectory::new());
            let (archive, prefix) = (place.create_archive(), place.join("prefix"));
            let directory = if open == "." {
                prefix.clone()
            } else {
                prefix.join(open)
            };
            fs::create_dir_all(&directory).unwrap();
            for name in [".walwise.new", "walwise", "walwise.1"] {
                match trap {
                    "a draft" if name.starts_with('.') => {
                        symlink(ground.secret_file(), directory.join(name)).unwrap();
                    }
                    "a file" if !name.starts_with('.') => {
                        symlink(ground.secret_file(), directory.join(name)).unwrap();
                    }
                    _ => {}
                }
            }
            if trap == "a directory" && open != "bin" && !open.ends_with("man1") {
                let name = if open == "." { "bin" } else { "site-functions" };
                symlink(ground.root_only_directory(), directory.join(name)).unwrap();
            }
            fs::set_permissions(&directory, Permissions::from_mode(mode)).unwrap();
            if is_theirs {
                chown(&directory, Some(UID), Some(UID)).unwrap();
            }
            let vault = ground.snapshot_root_only_directory();
            let ended = run_with_private_etc(
                &archive,
                &format!("sh \"$1/install.sh\" {}", prefix.display()),
            );
            let mut gains = root_only_directory_changes(&vault);
            gains.extend(ended.hang_message());
            if ended.code == Some(0) {
                gains.push(format!(
                    "it installs where others write: {}",
                    ended.combined_output()
                ));
            } else if ended.err.split(|b| *b == b'\n').count() != 2 {
                gains.push(format!(
                    "it refuses in other than one sentence: {}",
                    ended.combined_output()
                ));
            }
            attempts.record_attempt(&format!("{trap} in {open}, {mode:o}"), &gains);
        }
    }
    attempts.write_tally_and_assert();
}

#[test]
#[ignore = "needs root"]
fn installer_uses_prefix_and_root_only_modes_under_any_umask() {
    let mut attempts = Attempts::for_attack("the installer from anywhere, with any umask");
    for (how, script) in [
        ("plain", "cd /; sh \"$1/install.sh\" \"$1/../prefix\""),
        ("relative", "cd \"$1/..\"; sh archive/install.sh prefix"),
        (
            "umask 0",
            "umask 0; cd \"$1/..\"; sh archive/install.sh ./prefix/",
        ),
        (
            "umask 077",
            "umask 077; sh \"$1/install.sh\" \"$1/../prefix\"",
        ),
        (
            "again",
            "cd \"$1/..\"; sh archive/install.sh prefix; sh archive/install.sh prefix",
        ),
    ] {
        let place = InstallerDirectory::new();
        let archive = place.create_archive();
        let kept = "\ncp -R /etc/systemd/system \"$1/../units\"";
        let ended = run_with_private_etc(&archive, &format!("{script}{kept}"));
        let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
        for file in [
            "bin/walwise",
            "share/man/man1/walwise.1",
            "share/zsh/site-functions/_walwise",
        ] {
            let path = place.join("prefix").join(file);
            let mode = |path: &Path| {
                fs::symlink_metadata(path)
                    .map(|found| found.mode() & 0o7777)
                    .ok()
            };
            let expected = if file.starts_with("bin") {
                0o755
            } else {
                0o644
            };
            let modes = (mode(&path), mode(path.parent().unwrap()));
            if modes != (Some(expected), Some(0o755)) {
                gains.push(format!(
                    "{file} and its directory have the modes {modes:?}: {}",
                    ended.combined_output()
                ));
            }
        }
        if fs::read_dir(place.join("prefix/bin")).map_or(0, Iterator::count) != 1 {
            gains.push("bin has more or less than the program".to_owned());
        }
        let unit =
            fs::read_to_string(place.join("units/walwise-check.service")).unwrap_or_default();
        let program = place.join("prefix/bin/walwise").display().to_string();
        if !unit
            .lines()
            .any(|line| line.starts_with(&format!("ExecStart={program} ")))
        {
            gains.push(format!("the unit does not run {program}"));
        }
        attempts.record_attempt(how, &gains);
    }
    let place = InstallerDirectory::new();
    let archive = place.create_archive();
    let ended = run_with_private_etc(
        &archive,
        "cd \"$1/..\"; sh archive/install.sh prefix; sh archive/install.sh --remove prefix
        sh archive/install.sh --remove prefix; cp -R /etc/systemd/system units",
    );
    let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
    if ended.code != Some(0) || !ended.err.is_empty() {
        gains.push(ended.combined_output());
    }
    let left = Command::new("find")
        .args([place.join("units"), place.join("prefix")])
        .args(["!", "-type", "d"])
        .output_in_time();
    if !left.stdout.is_empty() {
        gains.push(format!(
            "--remove leaves {}",
            String::from_utf8_lossy(&left.stdout)
        ));
    }
    attempts.record_attempt("--remove", &gains);
    attempts.write_tally_and_assert();
}
