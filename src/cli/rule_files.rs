//! The user's rules: those of this machine, `/etc/walwise/rules.d`, and those named on the command line. Reading them
//! is left to [`super::rule_directory`].
//!
//! The rules belong to the judging machine, so a capture of another host is judged by the rules of this one. An
//! unusable file disables nothing else: the report names it, and a check without findings then ends with 2 instead of
//! 0.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::rule_directory::{OF_THIS_MACHINE, RuleFiles, Together, says, shown};
use super::{CliError, input, out};
use crate::pipeline;
use crate::rules::{RuleExamples, RuleSet};
use crate::text;

/// The exit code when rules that should be in force are not, and there is no other failure.
const NOT_IN_FORCE: u8 = 2;

/// The rules: built in, those of this machine, and those of `--rules`.
pub(super) fn rules(dir: Option<&Path>) -> Result<RuleSet, CliError> {
    read(dir, RuleExamples::Left)
}

/// The same with the examples of those that are built in.
pub(super) fn rules_with_examples(dir: Option<&Path>) -> Result<RuleSet, CliError> {
    read(dir, RuleExamples::Read)
}

fn read(dir: Option<&Path>, examples: RuleExamples) -> Result<RuleSet, CliError> {
    let of_machine = Path::new(OF_THIS_MACHINE);
    // Nearly every machine has none, which is visible at once.
    let none = fs::symlink_metadata(of_machine).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
    let found = match (dir, none) {
        (None, true) => RuleFiles::default(),
        _ => match input::rules(dir) {
            Ok(found) => found.map_err(CliError::Usage)?,
            Err(e) => return Err(cannot("read the rules in", dir.unwrap_or(of_machine), &e)),
        },
    };
    let (rules, _) = RuleSet::with_user_files(&found.files, examples, pipeline::today());
    Ok(rules.with_notes(found.ignored, found.remarks))
}

/// The exit code of a command with this result and these rules; prints the reason where it changes.
pub(super) fn exit_code(code: u8, rules: &RuleSet) -> u8 {
    if code != 0 || rules.not_in_force().is_empty() {
        return code;
    }
    for sentence in rules.not_in_force() {
        out::complain(sentence);
    }
    NOT_IN_FORCE
}

/// Rule files, named one by one or by their directory, for work on them: all must be readable. The other rules of this
/// machine are in force beside them, as in a run.
pub(super) fn named(paths: &[PathBuf]) -> Result<Together, CliError> {
    let all = paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
    let answer = input::rule_files(paths)
        .map_err(|e| CliError::Usage(format!("cannot read {all}: {}", text::error_words(&e))))?;
    answer.map_err(CliError::Usage)
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> CliError {
    CliError::Usage(says(what, path, error))
}
