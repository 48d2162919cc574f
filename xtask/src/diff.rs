use std::fmt::Write as _;
use std::io;
use std::path::Path;

use walwise::session::shipped_rule_files;
use walwise_model::text;

use crate::pack::{
    EntryChange, FieldChange, entry_differences, parse_entries, read_pack_directory,
};

/// Compares two directories, or one directory with the pack of this checkout.
pub fn compare_packs(old: &Path, new: Option<&Path>) -> io::Result<String> {
    let old = read_pack_directory(old)?;
    let new = match new {
        Some(directory) => read_pack_directory(directory)?,
        None => parse_entries(shipped_rule_files()).map_err(io::Error::other)?,
    };
    let differing = entry_differences(&old, &new);
    if differing.is_empty() {
        return Ok("no differences\n".to_owned());
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
    Ok(out)
}

fn one_line(text: &str) -> String {
    text::display_safe(
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .as_bytes(),
    )
}
