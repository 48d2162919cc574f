//! `cargo xtask stale`: entries of the pack that are due for a check against their sources.

use std::fmt::Write as _;
use std::io;

use jiff::Span;
use jiff::civil::Date;
use walwise::session::{shipped_rule_files, today_utc};
use walwise_judge::compat;
use walwise_model::text;

use crate::rule_pack::{DueEntries, PackEntry, parse_entries};

/// Lists the entries that are due for a check. Returns an error if an entry has no stamp.
pub fn list_due_entries(older_than: &str) -> io::Result<String> {
    let oldest = subtract_age(today_utc(), older_than)?;
    let entries = parse_entries(shipped_rule_files()).map_err(io::Error::other)?;
    let due = DueEntries::new(&entries, compat::known_releases(), oldest);
    if !due.unverified.is_empty() {
        let named: Vec<String> = due
            .unverified
            .iter()
            .map(|one| location_and_names(one))
            .collect();
        return Err(io::Error::other(format!(
            "entries that were never checked against a source:\n  {}",
            named.join("\n  ")
        )));
    }
    let mut out = format!(
        "{} entries, each checked against a source.\n",
        entries.len()
    );
    let overtaken = due.outdated.iter().map(|(entry, release)| {
        let day = release
            .released
            .map(|day| format!(", {day}"))
            .unwrap_or_default();
        let (of, version) = (release.of.as_str(), &release.version);
        format!(
            "{}  ({of} {version}{day}{})",
            location_and_names(entry),
            format_check_stamp(entry)
        )
    });
    write_section(&mut out, "Newer release since the last check", overtaken);
    let old = due
        .old
        .iter()
        .map(|entry| format!("{}{}", location_and_names(entry), format_check_stamp(entry)));
    write_section(&mut out, &format!("Checked before {oldest}"), old);
    Ok(out)
}

fn format_check_stamp(entry: &PackEntry) -> String {
    let checked = entry.checked.as_ref();
    checked.map_or_else(String::new, |checked| format!("; checked {checked}"))
}

fn write_section(out: &mut String, heading: &str, lines: impl ExactSizeIterator<Item = String>) {
    let none = if lines.len() == 0 { " none" } else { "" };
    let _ = writeln!(out, "\n{heading}:{none}");
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

fn location_and_names(entry: &PackEntry) -> String {
    let PackEntry {
        file,
        line,
        kind,
        names,
        ..
    } = entry;
    format!(
        "{file}:{line}  {kind} {}",
        text::format_names_and_rest(names, 3)
    )
}

/// Returns the day that is `age`, such as `6 months`, before today.
fn subtract_age(today: Date, age: &str) -> io::Result<Date> {
    let span = age.parse::<Span>().ok();
    let back = span
        .and_then(|span| today.checked_sub(span).ok())
        .filter(|day| *day <= today);
    let why = || {
        format!(
            "invalid age {}; write it as 1y, 6mo or 90d",
            text::display_safe(age.as_bytes())
        )
    };
    back.ok_or_else(|| io::Error::other(why()))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn ages_are_subtracted_and_negative_ones_refused() {
        let today = date(2026, 11, 23);
        let ages = [
            ("1y", date(2025, 11, 23)),
            ("6mo", date(2026, 5, 23)),
            ("90d", date(2026, 8, 25)),
            ("0d", today),
        ];
        for (age, day) in ages {
            assert_eq!(subtract_age(today, age).ok(), Some(day), "{age}");
        }
        for wrong in ["-1d", "soon", "", "9", "19000y", "99999999999d", "1d\u{1b}"] {
            assert!(subtract_age(today, wrong).is_err(), "{wrong}");
        }
    }
}
