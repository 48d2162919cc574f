//! What cargo cannot know of the shape of the program: forbidden words in the pure layers, who
//! opens and who writes files, and a header in every file.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules that take values and return values, and the words that are therefore forbidden in them.
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

/// The modules that may write: requested outputs, the scratch directory and the drill, the loop
/// file of a trial, with the code they write through. The way creates the directories of outputs.
const WRITERS: &[&str] = &[
    "crates/sys/src/output",
    "crates/sys/src/safe_path.rs",
    "crates/measure/src/probes",
    "crates/measure/src/runner",
];

/// Calls that open for writing, or create, name and remove objects.
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
fn pure_layers_touch_nothing() {
    let mut wrong = Vec::new();
    for file in sources().into_iter().filter(|file| is_in(name(file), PURE)) {
        // Crates do not begin threads, but for work that is distributed by one module.
        let may_thread =
            |word: &str| word == "std::thread" && file.ends_with("model/src/parallel.rs");
        for (number, line) in code(&file) {
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

/// Beginnings of command lines for a person to run.
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

/// The one file that writes a shell script by itself; it checks that every word is plain.
const WRITES_SCRIPT: &str = "crates/report/src/script/new_filesystem.rs";

/// A command is a `escape::Command`, in which every value is a word; text with a value in it is not
/// quoted by anybody.
#[test]
fn no_command_is_made_of_text() {
    let mut wrong = Vec::new();
    for file in sources()
        .into_iter()
        .filter(|file| !file.ends_with(WRITES_SCRIPT))
    {
        for (number, line) in code(&file) {
            for program in PROGRAMS {
                let told = line
                    .split(program)
                    .skip(1)
                    .map(|rest| rest.split(['"', '`']).next().unwrap_or(rest));
                if told.into_iter().any(|rest| rest.contains('{')) {
                    wrong.push(format!(
                        "{}:{number} puts a value behind `{program}`: use escape::Command",
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

/// Files are written by the writer of outputs, the scratch directory and the drill, and by nobody
/// else.
#[test]
fn nobody_else_writes() {
    let mut wrong = Vec::new();
    for file in sources() {
        let name = name(&file);
        if is_in(name, WRITERS) {
            continue;
        }
        for (number, line) in code(&file) {
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

/// The modules that may open a file for reading: the one that opens what a user named, the host
/// seam, and those that walk to a directory and open what they made there. The kernel's files have
/// their names in the source.
const READERS: &[&str] = &[
    "src/cli/input_file.rs",
    "crates/sys/src/host",
    "crates/sys/src/safe_path.rs",
    "crates/sys/src/output/draft.rs",
    "crates/sys/src/output/series.rs",
    "crates/measure/src/probes",
    "crates/measure/src/runner",
];

/// Whether a file is one of these modules, or below one.
fn is_in(file: &Path, modules: &[&str]) -> bool {
    let module = file.with_extension("");
    modules
        .iter()
        .any(|allowed| module.starts_with(allowed.trim_end_matches(".rs")))
}

/// Calls that open a file or a directory.
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

/// Whether a line makes this call, which is no part of another name, with a path that does not
/// stand in the source, as `"/proc/self/status"` and `"."` do.
fn opens(line: &str, call: &str) -> bool {
    line.match_indices(call).any(|(at, _)| {
        let (before, rest) = (&line[..at], &line[at + call.len()..]);
        !before.ends_with(char::is_alphanumeric) && !rest.trim_start_matches('(').starts_with('"')
    })
}

/// Whoever opens a path by himself can wait for ever, read without a bound, or move a tape.
#[test]
fn nobody_else_opens_what_a_user_named() {
    let mut wrong = Vec::new();
    for file in sources() {
        let name = name(&file);
        if is_below_tests(&file) || is_in(name, READERS) {
            continue;
        }
        for (number, line) in code(&file) {
            wrong.extend(
                OPENING
                    .iter()
                    .filter(|call| opens(&line, call))
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

/// Whether a file is for tests by its directory.
fn is_below_tests(file: &Path) -> bool {
    name(file)
        .components()
        .any(|part| part.as_os_str() == "tests")
}

#[test]
fn every_file_says_what_it_is_for() {
    for file in sources() {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} has no header", file.display());
        assert!(
            text.lines().count() <= 800 || code(&file).is_empty() || is_below_tests(&file),
            "{} has grown past 800 lines: give its second subject a file of its own",
            file.display()
        );
    }
}

/// Every Rust file of the program, in the root crate and in those below it.
fn sources() -> Vec<PathBuf> {
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
    out.retain(|file| is_program(name(file)) && !name(file).starts_with("crates/testkit"));
    out.sort();
    assert!(out.len() > 20, "the source tree was not found");
    out
}

/// A file's path in the repository.
fn name(file: &Path) -> &Path {
    file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap()
}

/// The lines of a file that are neither comments nor part of its tests, which are modules behind
/// `#[cfg(test)]`.
fn code(file: &Path) -> Vec<(usize, String)> {
    if file
        .file_name()
        .is_some_and(|name| name == "tests.rs" || name == "testing.rs" || name == "sample.rs")
    {
        return Vec::new();
    }
    let text = fs::read_to_string(file).unwrap();
    // The indentation of a module of tests ends with a brace at the same depth.
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
