//! `walwise rules diff`: what differs between two packs.

use std::fmt::Write as _;
use std::path::Path;

use super::super::out::{ExitResult, print};
use super::super::{CliError, rule_files};
use crate::pipeline::{self, EntryChange, FieldChange, KnowledgeEntry};
use crate::text;

/// Prints the difference; without a second directory, that to the pack of this program.
pub(super) fn run(old: &Path, new: Option<&Path>) -> ExitResult {
    let old = of_directory(old)?;
    let new = match new {
        Some(directory) => of_directory(directory)?,
        None => pipeline::entries(pipeline::shipped()).map_err(CliError::Usage)?,
    };
    let differing = pipeline::difference(&old, &new);
    if differing.is_empty() {
        return print("no difference\n");
    }
    let mut out = String::new();
    let (mut added, mut removed, mut changed) = (0, 0, 0);
    for (kind, name, change) in &differing {
        let (sign, count, fields) = match change {
            EntryChange::Added => ('+', &mut added, &[][..]),
            EntryChange::Removed => ('-', &mut removed, &[][..]),
            EntryChange::Changed(fields) => ('~', &mut changed, fields.as_slice()),
        };
        *count += 1;
        let _ = writeln!(out, "{sign} {} {}", one_line(kind), one_line(name));
        for FieldChange { name, old, new } in fields {
            for (sign, value) in [('-', old), ('+', new)] {
                if let Some(value) = value {
                    let _ = writeln!(out, "    {sign} {} = {}", one_line(name), one_line(value));
                }
            }
        }
    }
    let _ = writeln!(out, "\n{added} added, {removed} removed, {changed} changed");
    print(&out)
}

/// A text of the packs in one line, display-safe.
fn one_line(text: &str) -> String {
    text::safe(text.split_whitespace().collect::<Vec<_>>().join(" ").as_bytes())
}

fn of_directory(directory: &Path) -> Result<Vec<KnowledgeEntry>, CliError> {
    let files = rule_files::pack(directory)?;
    let files = files.iter().map(|file| (file.name.as_str(), file.text.as_str()));
    pipeline::entries(files).map_err(CliError::Usage)
}
