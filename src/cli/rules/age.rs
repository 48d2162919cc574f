//! `walwise rules stale` and `walwise rules diff`: the age of what walwise knows, and what differs between two packs.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Span;
use jiff::civil::Date;

use super::super::out::{ExitResult, print};
use super::super::{CliError, rule_files};
use crate::checked::SourceCheck;
use crate::pipeline::{self, Due, EntryChange, FieldChange, KnowledgeEntry};
use crate::text;
use crate::validity;

/// What is due to be read again. Finding some is no failure: the exit code is 0.
pub(super) fn stale(older_than: &str) -> ExitResult {
    let oldest = day_before(pipeline::today(), older_than)?;
    let entries = of_files(pipeline::shipped())?;
    let due = Due::new(&entries, validity::releases(), oldest);
    let (all, unverified) = (entries.len(), due.unverified.len());
    let mut out =
        format!("{} of {all} entries say when they were compared with a source.\n", all - unverified);
    let list = |out: &mut String, heading: &str, lines: Vec<(&KnowledgeEntry, String)>| {
        let none = if lines.is_empty() { " none" } else { "" };
        let _ = writeln!(out, "\n{heading}:{none}");
        for (entry, why) in lines {
            let KnowledgeEntry { file, line, kind, names, .. } = entry;
            let names = text::first_of(names, 3);
            let _ = writeln!(out, "  {file}:{line}  {kind} {names}{why}");
        }
    };
    let overtaken = due.overtaken.iter().map(|(entry, release)| {
        let day = release.released.map(|day| format!(", {day}")).unwrap_or_default();
        (*entry, format!("  ({} {}{day}; {})", release.of.word(), release.version, stamp(entry)))
    });
    list(&mut out, "A release came out since", overtaken.collect());
    let old = due.old.iter().map(|(entry, _)| (*entry, format!("  ({})", stamp(entry))));
    list(&mut out, &format!("Checked before {oldest}"), old.collect());
    list(&mut out, "Unverified", due.unverified.iter().map(|entry| (*entry, String::new())).collect());
    print(&out)
}

fn stamp(entry: &KnowledgeEntry) -> String {
    match &entry.checked {
        SourceCheck::Unverified => entry.checked.to_string(),
        SourceCheck::Against { .. } => format!("checked {}", entry.checked),
    }
}

/// The day that lies so long before another.
fn day_before(today: Date, age: &str) -> Result<Date, CliError> {
    let span = age.parse::<Span>().ok();
    let back = span.and_then(|span| today.checked_sub(span).ok()).filter(|day| *day <= today);
    let why = || format!("--older-than {}: no such age; write 1y, 6mo or 90d", text::safe(age.as_bytes()));
    back.ok_or_else(|| CliError::Usage(why()))
}

/// What differs between two packs; without a second one, between the first and that of this program.
pub(super) fn diff(old: &Path, new: Option<&Path>) -> ExitResult {
    let old = of_directory(old)?;
    let new = match new {
        Some(directory) => of_directory(directory)?,
        None => of_files(pipeline::shipped())?,
    };
    let changes = pipeline::difference(&old, &new);
    if changes.is_empty() {
        return print("no difference\n");
    }
    let mut out = String::new();
    let safe = |text: &str| text::safe(text.as_bytes());
    for (kind, name, change) in &changes {
        let (kind, name) = (safe(kind), safe(name));
        let _ = match change {
            EntryChange::Added => writeln!(out, "+ {kind} {name}"),
            EntryChange::Removed => writeln!(out, "- {kind} {name}"),
            EntryChange::Changed(_) => writeln!(out, "~ {kind} {name}"),
        };
        let fields = match change {
            EntryChange::Changed(fields) => fields.as_slice(),
            EntryChange::Added | EntryChange::Removed => &[],
        };
        for FieldChange { name, old, new } in fields {
            let name = safe(name);
            for (sign, value) in [('-', old), ('+', new)] {
                if let Some(value) = value {
                    let _ = writeln!(out, "    {sign} {name} = {}", safe(&one_line(value)));
                }
            }
        }
    }
    let count = |wanted: fn(&EntryChange) -> bool| changes.iter().filter(|(.., one)| wanted(one)).count();
    let added = count(|one| matches!(one, EntryChange::Added));
    let removed = count(|one| matches!(one, EntryChange::Removed));
    let _ = writeln!(out, "\n{added} added, {removed} removed, {} changed", changes.len() - added - removed);
    print(&out)
}

/// Lines joined to one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_directory(directory: &Path) -> Result<Vec<KnowledgeEntry>, CliError> {
    let files = rule_files::pack(directory)?;
    of_files(files.iter().map(|file| (file.name.as_str(), file.text.as_str())))
}

fn of_files<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Vec<KnowledgeEntry>, CliError> {
    let mut entries = Vec::new();
    for (name, text) in files {
        entries.extend(pipeline::entries(name, text).map_err(CliError::Usage)?);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn an_age_leads_to_a_day_and_never_to_the_future() {
        let today = date(2026, 11, 23);
        let ages = [
            ("1y", date(2025, 11, 23)),
            ("6mo", date(2026, 5, 23)),
            ("90d", date(2026, 8, 25)),
            ("0d", today),
        ];
        for (age, day) in ages {
            assert_eq!(day_before(today, age).ok(), Some(day), "{age}");
        }
        for wrong in ["-1d", "soon", "", "9", "19000y", "99999999999d", "1d\u{1b}"] {
            assert!(day_before(today, wrong).is_err(), "{wrong}");
        }
    }
}
