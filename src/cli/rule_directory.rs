//! Rule files on the disk: which directory and which names count, and what of them can be used.
//!
//! The child of [`super::input`] runs this, since a directory may lie on a file system that hangs;
//! asking it is left to [`super::rule_files`]. A file in `/etc` counts only where nobody but root
//! could have written it.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::named_file::{self, InputKinds, NamedFile};
use crate::host::{self, path_bytes};
use crate::rules::RuleFile;
use crate::text;

/// The directory of this machine's rules.
pub(super) const OF_THIS_MACHINE: &str = "/etc/walwise/rules.d";

/// The largest rule file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The rule files that were named, or why they cannot be used, in a sentence.
pub(super) type RuleFileSelection = Result<Together, String>;

/// Files of rules in the order of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Together {
    /// Files that replace built-in ones: they are in walwise's own source.
    pub ours: Vec<RuleFile>,
    /// All others: of this machine, then those that were named.
    pub users: Vec<RuleFile>,
    /// The names of those that were named.
    pub named: Vec<String>,
}

impl Together {
    /// Whether a file is one that was named.
    pub fn is_named(&self, file: &str) -> bool {
        self.named.iter().any(|name| name == file)
    }
}

pub(super) fn read_named(paths: &[PathBuf]) -> RuleFileSelection {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push((path.clone(), InputKinds::FilesAndPipes));
            continue;
        }
        let inside = files_in(path).map_err(|e| says("read the rules in", path, &e))?;
        if inside.is_empty() {
            return Err(format!("there is no rule file (*.toml) in {}", shown(path)));
        }
        all.extend(inside.into_iter().map(|path| (path, InputKinds::Files)));
    }
    let mut files = all
        .iter()
        .map(|(path, kinds)| Ok((path, read(path, *kinds)?)))
        .collect::<Result<Vec<_>, String>>()?;
    let mut together = Together {
        named: files.iter().map(|(_, file)| file.name.clone()).collect(),
        ..Together::default()
    };
    for file in of_this_machine(Path::new(OF_THIS_MACHINE)).files {
        let real = fs::canonicalize(&file.name).ok();
        let named = files
            .iter()
            .position(|(path, _)| real.is_some() && fs::canonicalize(path).ok() == real);
        together
            .users
            .push(named.map_or(file, |at| files.remove(at).1));
    }
    for (path, file) in files {
        let beside = path.parent().map(|directory| directory.join(OF_THE_SOURCE));
        let list = if beside.is_some_and(|table| table.is_file()) {
            &mut together.ours
        } else {
            &mut together.users
        };
        list.push(file);
    }
    Ok(together)
}

/// A file beside the rules in walwise's own source, and beside no others.
const OF_THE_SOURCE: &str = "tables/validity.toml";

/// Files, and notes about unusable ones.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RuleFiles {
    pub files: Vec<RuleFile>,
    pub ignored: Vec<String>,
    pub remarks: Vec<String>,
}

impl RuleFiles {
    /// Reads the rules of this machine and those in a directory, here. The error is a sentence.
    pub(super) fn in_directory(dir: Option<&Path>) -> Result<Self, String> {
        let mut found = of_this_machine(Path::new(OF_THIS_MACHINE));
        if let Some(dir) = dir {
            let paths = files_in(dir).map_err(|e| says("read the rules in", dir, &e))?;
            if paths.is_empty() {
                found
                    .remarks
                    .push(format!("there is no rule file (*.toml) in {}", shown(dir)));
            }
            for path in &paths {
                found.add(path);
            }
        }
        Ok(found)
    }

    fn add(&mut self, path: &Path) {
        match read(path, InputKinds::Files) {
            Ok(file) => self.files.push(file),
            Err(why) => self
                .ignored
                .push(format!("{why}; its rules are not in force")),
        }
    }
}

/// The rules in the directory of this machine, which may be absent.
fn of_this_machine(dir: &Path) -> RuleFiles {
    let mut found = RuleFiles::default();
    let not_used =
        |path: &Path, why: &str| format!("the rules in {} are not in force: {why}", shown(path));
    let listed = match is_roots_alone(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return found,
        Err(e) => Err(text::error_words(&e)),
        Ok(Some(doubt)) => Err(doubt),
        Ok(None) => files_in(dir).map_err(|e| text::error_words(&e)),
    };
    match listed {
        Err(why) => found.ignored.push(not_used(dir, &why)),
        Ok(paths) => {
            for path in paths {
                match is_roots_alone(&path) {
                    Ok(None) => found.add(&path),
                    Ok(Some(doubt)) => found.ignored.push(not_used(&path, &doubt)),
                    Err(e) => found.ignored.push(not_used(&path, &text::error_words(&e))),
                }
            }
        }
    }
    found
}

/// The objection to a path, with all its links.
fn is_roots_alone(path: &Path) -> io::Result<Option<String>> {
    host::doubt(&fs::canonicalize(path)?)
}

/// Every `*.toml` of a directory, ordered by name; editors' hidden files are skipped.
fn files_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let hidden = |path: &Path| {
        path.file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    let mut paths = named_file::entries(dir)?;
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml") && !hidden(path));
    paths.sort();
    Ok(paths)
}

/// Reads a file; the error is a sentence.
fn read(path: &Path, kinds: InputKinds) -> Result<RuleFile, String> {
    let unreadable = |why: &str| format!("cannot read {}: {why}", shown(path));
    let mut bytes = Vec::new();
    NamedFile::open(path, kinds, LARGEST)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|e| unreadable(&text::error_words(&e)))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let before = e
            .as_bytes()
            .get(..e.utf8_error().valid_up_to())
            .unwrap_or_default();
        let line = 1 + before.split(|byte| *byte == b'\n').skip(1).count();
        unreadable(&format!("line {line} is not UTF-8; save the file as UTF-8"))
    })?;
    Ok(RuleFile {
        name: shown(path),
        text,
    })
}

pub(super) fn says(what: &str, path: &Path, error: &io::Error) -> String {
    format!(
        "cannot {what} {}: {}",
        shown(path),
        text::error_words(error)
    )
}

pub(super) fn shown(path: &Path) -> String {
    text::safe(path_bytes(path))
}
