//! `cargo xtask stale`: what of the pack is due to be read again beside its sources.

use std::fmt::Write as _;
use std::io;

use jiff::Span;
use jiff::civil::Date;
use walwise::session::{shipped, today};
use walwise_judge::validity;
use walwise_model::text;

use crate::pack::{Due, KnowledgeEntry, entries};

/// The list of what is due. Finding some is no failure.
pub fn run(older_than: &str) -> io::Result<String> {
    let oldest = day_before(today(), older_than)?;
    let entries = entries(shipped()).map_err(io::Error::other)?;
    let due = Due::new(&entries, validity::releases(), oldest);
    let (all, checked) = (entries.len(), entries.len() - due.unverified.len());
    let mut out =
        format!("{checked} of {all} entries say when they were compared with a source.\n");
    let overtaken = due.overtaken.iter().map(|(entry, release)| {
        let day = release
            .released
            .map(|day| format!(", {day}"))
            .unwrap_or_default();
        let (of, version) = (release.of.word(), &release.version);
        format!(
            "{}  ({of} {version}{day}; checked {})",
            place(entry),
            entry.checked
        )
    });
    section(&mut out, "A release came out since", overtaken);
    let old = due
        .old
        .iter()
        .map(|entry| format!("{}  (checked {})", place(entry), entry.checked));
    section(&mut out, &format!("Checked before {oldest}"), old);
    section(
        &mut out,
        "Unverified",
        due.unverified.iter().map(|entry| place(entry)),
    );
    Ok(out)
}

/// A heading with its lines, or with the word that there are none.
fn section(out: &mut String, heading: &str, lines: impl ExactSizeIterator<Item = String>) {
    let none = if lines.len() == 0 { " none" } else { "" };
    let _ = writeln!(out, "\n{heading}:{none}");
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

/// Where an entry stands, and what it is about.
fn place(entry: &KnowledgeEntry) -> String {
    let KnowledgeEntry {
        file,
        line,
        kind,
        names,
        ..
    } = entry;
    format!("{file}:{line}  {kind} {}", text::first_of(names, 3))
}

/// The day that lies so long before another.
fn day_before(today: Date, age: &str) -> io::Result<Date> {
    let span = age.parse::<Span>().ok();
    let back = span
        .and_then(|span| today.checked_sub(span).ok())
        .filter(|day| *day <= today);
    let why = || {
        format!(
            "--older-than {}: no such age; write 1y, 6mo or 90d",
            text::safe(age.as_bytes())
        )
    };
    back.ok_or_else(|| io::Error::other(why()))
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
