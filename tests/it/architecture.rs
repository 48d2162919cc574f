//! Checks of the source that the compiler cannot make: forbidden words in the pure layers, modules
//! that may open or write files, and the length of files.

use std::fs;
use std::path::{Path, PathBuf};

const PURE: &[&str] = &[
    "crates/model",
    "crates/judge",
    "crates/measure/src/measure",
    "crates/measure/src/drill",
    "crates/measure/src/trial",
    "crates/report",
];
const IMPURE: &[&str] = &[
    "std::env",
    "std::process",
    "std::net",
    "std::thread",
    "SystemTime::now",
    "Instant::now",
    "std::fs",
    "nix::",
    "rustix::",
    "ratatui",
    "clap::",
];

/// Modules that may write: requested outputs, scratch directories, the drill, the trial's loop
/// file, and `safe_path`, which creates the directories of outputs.
const WRITERS: &[&str] = &[
    "crates/sys/src/output",
    "crates/sys/src/safe_path.rs",
    "crates/measure/src/probes",
    "crates/measure/src/trial_runner",
];

const WRITING: &[&str] = &[
    "File::create",
    "File::options",
    ".write(true)",
    ".append(true)",
    ".create(true)",
    ".create_new(true)",
    ".truncate(true)",
    "OFlags::WRONLY",
    "OFlags::RDWR",
    "OFlags::CREATE",
    "OFlags::TMPFILE",
    "OFlags::TRUNC",
    "OFlags::APPEND",
    "O_WRONLY",
    "O_RDWR",
    "O_CREAT",
    "fs::write",
    "fs::copy",
    "fs::rename",
    "fs::hard_link",
    "fs::symlink(",
    "fs::remove_",
    "fs::set_permissions",
    "create_dir",
    "DirBuilder",
    "mkdir(",
    "mkdirat(",
    "mknod(",
    "mknodat(",
    "mkfifo(",
    "renameat",
    "linkat(",
    "symlinkat",
    "fchmod",
    "chmodat",
    "fchown",
    "chownat",
    "ftruncate",
    "fallocate(",
    "setxattr",
    "removexattr",
];

#[test]
fn pure_layers_use_no_io() {
    let mut wrong = Vec::new();
    for file in rust_source_files()
        .into_iter()
        .filter(|file| is_in_modules(path_relative_to_repository(file), PURE))
    {
        // Only one module may start threads: the one that distributes work.
        let may_thread =
            |word: &str| word == "std::thread" && file.ends_with("model/src/parallel.rs");
        for (number, line) in product_code_lines(&file) {
            for word in IMPURE
                .iter()
                .filter(|word| line.contains(**word) && !may_thread(word))
            {
                wrong.push(format!(
                    "{}:{number} mentions {word}, and this layer is pure",
                    file.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const PROGRAMS: &[&str] = &[
    "walwise check ",
    "walwise drill ",
    "walwise rules ",
    "walwise facts -",
    "sudo ",
    "ssh ",
    "rm -",
    "blkid ",
    "findmnt ",
    "lsattr ",
    "chattr ",
    "mount -",
    "umount ",
    "tune2fs ",
    "e2fsck ",
    "smartctl ",
    "systemctl ",
    "mysql -",
    "psql -",
];

/// The only module that writes shell text without `escape::ShellCommand`; the module itself checks
/// that every word is plain.
const WRITES_SCRIPT: &str = "crates/report/src/script/new_filesystem.rs";

/// Only `escape::ShellCommand` quotes values: a command built by formatting text would leave them
/// unquoted.
#[test]
fn commands_are_not_formatted_as_text() {
    let mut wrong = Vec::new();
    for file in rust_source_files()
        .into_iter()
        .filter(|file| !file.ends_with(WRITES_SCRIPT))
    {
        for (number, line) in product_code_lines(&file) {
            for program in PROGRAMS {
                let told = line
                    .split(program)
                    .skip(1)
                    .map(|rest| rest.split(['"', '`']).next().unwrap_or(rest));
                if told.into_iter().any(|rest| rest.contains('{')) {
                    wrong.push(format!(
                        "{}:{number} puts a value behind `{program}`: use escape::ShellCommand",
                        file.display()
                    ));
                }
            }
            let may = ["escape/command.rs", "crates/judge/src/rules/template.rs"]
                .iter()
                .any(|place| file.ends_with(place));
            if line.contains(".rule_text(") && !may {
                wrong.push(format!(
                    "{}:{number}: what is no rule's is no `rule_text`",
                    file.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_listed_modules_write_files() {
    let mut wrong = Vec::new();
    for file in rust_source_files() {
        let name = path_relative_to_repository(&file);
        if is_in_modules(name, WRITERS) {
            continue;
        }
        for (number, line) in product_code_lines(&file) {
            for word in WRITING.iter().filter(|word| line.contains(**word)) {
                wrong.push(format!(
                    "{}:{number} mentions {word}; see ARCHITECTURE.md, Invariants",
                    file.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Modules that may open a file for reading: the reader of files that users name, the live host,
/// and modules that read files they created. Kernel files are exempt, because their paths are
/// literals.
const READERS: &[&str] = &[
    "src/cli/input_file.rs",
    "crates/sys/src/host",
    "crates/sys/src/safe_path.rs",
    "crates/sys/src/output/draft.rs",
    "crates/sys/src/output/series.rs",
    "crates/measure/src/probes",
    "crates/measure/src/trial_runner",
];

fn is_in_modules(file: &Path, modules: &[&str]) -> bool {
    let module = file.with_extension("");
    modules
        .iter()
        .any(|allowed| module.starts_with(allowed.trim_end_matches(".rs")))
}

const OPENING: &[&str] = &[
    "File::open",
    "File::options",
    "OpenOptions",
    "fs::open(",
    "fs::openat(",
    "fs::openat2(",
    "fcntl::open",
    "fs::read(",
    "fs::read_to_string(",
    "fs::read_dir(",
    "fs::copy(",
    "Dir::open",
    "Dir::read_from(",
    ".read_dir(",
];

fn calls_with_variable_path(line: &str, call: &str) -> bool {
    line.match_indices(call).any(|(at, _)| {
        let (before, rest) = (&line[..at], &line[at + call.len()..]);
        !before.ends_with(char::is_alphanumeric) && !rest.trim_start_matches('(').starts_with('"')
    })
}

/// Code that opens a user's path without the safe reader can hang, read without limit, or move a
/// tape.
#[test]
fn only_listed_modules_open_user_paths() {
    let mut wrong = Vec::new();
    for file in rust_source_files() {
        let name = path_relative_to_repository(&file);
        if is_test_file(&file) || is_in_modules(name, READERS) {
            continue;
        }
        for (number, line) in product_code_lines(&file) {
            wrong.extend(
                OPENING
                    .iter()
                    .filter(|call| calls_with_variable_path(&line, call))
                    .map(|call| {
                        format!(
                            "{}:{number} mentions {call}; read it through cli/input_file.rs",
                            file.display()
                        )
                    }),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_test_file(file: &Path) -> bool {
    path_relative_to_repository(file)
        .components()
        .any(|part| part.as_os_str() == "tests")
}

#[test]
fn no_file_grows_past_800_lines() {
    for file in rust_source_files() {
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.lines().count() <= 800
                || product_code_lines(&file).is_empty()
                || is_test_file(&file),
            "{} has grown past 800 lines: give its second subject a file of its own",
            file.display()
        );
    }
}

fn rust_source_files() -> Vec<PathBuf> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let mut out = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut out);
    walk(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("crates"),
        &mut out,
    );
    let is_program = |file: &Path| file.components().any(|part| part.as_os_str() == "src");
    out.retain(|file| {
        is_program(path_relative_to_repository(file))
            && !path_relative_to_repository(file).starts_with("crates/testkit")
    });
    out.sort();
    assert!(out.len() > 20, "the source tree was not found");
    out
}

fn path_relative_to_repository(file: &Path) -> &Path {
    file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap()
}

fn product_code_lines(file: &Path) -> Vec<(usize, String)> {
    if file.file_name().is_some_and(|name| {
        [
            "tests.rs",
            "testing.rs",
            "sample_reports.rs",
            "test_sessions.rs",
        ]
        .iter()
        .any(|other| name == *other)
    }) {
        return Vec::new();
    }
    let text = fs::read_to_string(file).unwrap();
    // A test module ends at the closing brace with the same indentation as its `mod` line.
    let (mut inside, mut is_gated) = (None, false);
    let mut out = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let depth = line.len() - line.trim_start().len();
        if let Some(module) = inside {
            inside = (line.trim_end() != format!("{}}}", " ".repeat(module))).then_some(module);
            continue;
        }
        let line = line.trim();
        if is_gated && line.contains("mod ") && line.ends_with('{') {
            inside = Some(depth);
        } else if !line.starts_with("//") {
            out.push((number, line.to_owned()));
        }
        is_gated = line == "#[cfg(test)]";
    }
    assert_eq!(
        inside,
        None,
        "{}: a module of tests has no end",
        file.display()
    );
    out
}
