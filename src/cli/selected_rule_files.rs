//! Finds rule files on disk, checks who may have written them, and reads them.
//!
//! This code runs in the child of [`super::file_reader`], because a directory may be on a file
//! system that hangs; [`super::rule_files`] sends the requests. A file in `/etc` is used only if no
//! user but root could have written it.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::path_error_text;
use super::input_file::{self, AcceptedFileTypes, InputFile};
use crate::host;
use crate::rules::RuleFile;
use crate::text::{self, display_path};

pub(super) const SYSTEM_RULES: &str = "/etc/walwise/rules.d";

const MAX_RULE_FILE_BYTES: u64 = 1 << 20;

pub(super) type SelectedRuleFilesResult = Result<SelectedRuleFiles, String>;

/// Rule files in the order in which they apply.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SelectedRuleFiles {
    /// Rule files of a walwise source tree; they replace the built-in ones.
    pub ours: Vec<RuleFile>,
    /// Other rule files: first those of this host, then those that the user named.
    pub users: Vec<RuleFile>,
    /// Names of the files that the user named, and of the files in directories that the user named.
    pub named: Vec<String>,
}

impl SelectedRuleFiles {
    pub fn is_file_named_by_user(&self, file: &str) -> bool {
        self.named.iter().any(|name| name == file)
    }
}

pub(super) fn read_named_and_system_rules(paths: &[PathBuf]) -> SelectedRuleFilesResult {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push((path.clone(), AcceptedFileTypes::FilesAndPipes));
            continue;
        }
        let inside =
            list_toml_files(path).map_err(|e| path_error_text("read the rules in", path, &e))?;
        if inside.is_empty() {
            return Err(format!("no rule file (*.toml) in {}", display_path(path)));
        }
        all.extend(
            inside
                .into_iter()
                .map(|path| (path, AcceptedFileTypes::Files)),
        );
    }
    let mut files = all
        .iter()
        .map(|(path, kinds)| Ok((path, read_rule_file(path, *kinds)?)))
        .collect::<Result<Vec<_>, String>>()?;
    let mut together = SelectedRuleFiles {
        named: files.iter().map(|(_, file)| file.name.clone()).collect(),
        ..SelectedRuleFiles::default()
    };
    for file in read_system_rule_files(Path::new(SYSTEM_RULES)).files {
        let real = fs::canonicalize(&file.name).ok();
        let named = files
            .iter()
            .position(|(path, _)| real.is_some() && fs::canonicalize(path).ok() == real);
        together
            .users
            .push(named.map_or(file, |at| files.remove(at).1));
    }
    for (path, file) in files {
        let beside = path.parent().map(|directory| directory.join(SOURCE_MARKER));
        let list = if beside.is_some_and(|table| table.is_file()) {
            &mut together.ours
        } else {
            &mut together.users
        };
        list.push(file);
    }
    Ok(together)
}

/// Path, relative to a rule file, of a file that only a walwise source tree contains.
const SOURCE_MARKER: &str = "tables/validity.toml";

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct LoadedRuleFiles {
    pub files: Vec<RuleFile>,
    pub ignored: Vec<String>,
    pub remarks: Vec<String>,
}

impl LoadedRuleFiles {
    pub(super) fn read_with_system_rules(dir: Option<&Path>) -> Result<Self, String> {
        let mut found = read_system_rule_files(Path::new(SYSTEM_RULES));
        if let Some(dir) = dir {
            let paths =
                list_toml_files(dir).map_err(|e| path_error_text("read the rules in", dir, &e))?;
            if paths.is_empty() {
                found
                    .remarks
                    .push(format!("no rule file (*.toml) in {}", display_path(dir)));
            }
            for path in &paths {
                found.read_and_add_file(path);
            }
        }
        Ok(found)
    }

    fn read_and_add_file(&mut self, path: &Path) {
        match read_rule_file(path, AcceptedFileTypes::Files) {
            Ok(file) => self.files.push(file),
            Err(why) => self
                .ignored
                .push(format!("{why}; the rules in this file are not used")),
        }
    }
}

fn read_system_rule_files(dir: &Path) -> LoadedRuleFiles {
    let mut found = LoadedRuleFiles::default();
    let not_used =
        |path: &Path, why: &str| format!("the rules in {} are not used: {why}", display_path(path));
    let doubt_about = |path: &Path| {
        untrusted_file_reason(path).unwrap_or_else(|e| Some(text::io_error_message(&e)))
    };
    let listed = match untrusted_file_reason(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return found,
        Err(e) => Err(text::io_error_message(&e)),
        Ok(Some(doubt)) => Err(doubt),
        Ok(None) => list_toml_files(dir).map_err(|e| text::io_error_message(&e)),
    };
    let listed = listed.unwrap_or_else(|why| {
        found.ignored.push(not_used(dir, &why));
        Vec::new()
    });
    for path in listed {
        match doubt_about(&path) {
            None => found.read_and_add_file(&path),
            Some(doubt) => found.ignored.push(not_used(&path, &doubt)),
        }
    }
    found
}

/// The reason why users other than root may have written the file to which `path` resolves; `None`
/// if only root could have written it.
fn untrusted_file_reason(path: &Path) -> io::Result<Option<String>> {
    host::untrusted_path_reason(&fs::canonicalize(path)?)
}

/// `*.toml` files by name. Hidden files, such as editor backups, are skipped.
fn list_toml_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let hidden = |path: &Path| {
        path.file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    let mut paths = input_file::directory_entries(dir)?;
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml") && !hidden(path));
    paths.sort();
    Ok(paths)
}

fn read_rule_file(path: &Path, kinds: AcceptedFileTypes) -> Result<RuleFile, String> {
    let mut bytes = Vec::new();
    InputFile::open(path, kinds, MAX_RULE_FILE_BYTES)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|e| path_error_text("read", path, &e))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let before = e
            .as_bytes()
            .get(..e.utf8_error().valid_up_to())
            .unwrap_or_default();
        let line = 1 + before.split(|byte| *byte == b'\n').skip(1).count();
        let path = display_path(path);
        format!("cannot read {path}: line {line} is not UTF-8; save the file as UTF-8")
    })?;
    Ok(RuleFile {
        name: display_path(path),
        text,
    })
}
