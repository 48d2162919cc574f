//! `cargo xtask diff`: the entries that differ between two packs. Order, comments, positions and
//! stamps are ignored, because they do not change any result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use toml::Value;
use walwise::session::shipped_rule_files;
use walwise_model::text::{self, JoinText as _};

use crate::rule_pack::{PackEntry, display_value, parse_entries, read_pack_directory};

type Fields = BTreeMap<String, Value>;

/// Several rows may share a kind and a name, such as the rows for the words that undo an option.
type RowsByName<'e> = BTreeMap<(&'e str, &'e str), Vec<&'e Fields>>;

/// Compares two directories, or one directory with the pack of this checkout.
pub fn compare_packs(old: &Path, new: Option<&Path>) -> io::Result<String> {
    let old = read_pack_directory(old)?;
    let new = match new {
        Some(directory) => read_pack_directory(directory)?,
        None => parse_entries(shipped_rule_files()).map_err(io::Error::other)?,
    };
    Ok(difference_text(&old, &new))
}

fn difference_text(old: &[PackEntry], new: &[PackEntry]) -> String {
    let (old, new) = (group_by_name(old), group_by_name(new));
    let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let mut out = String::new();
    let (mut added, mut removed, mut changed) = (0, 0, 0);
    for key in names {
        let [before, after] = [&old, &new].map(|rows| rows.get(key).map_or(&[][..], Vec::as_slice));
        let mut gone = before.iter().filter(|fields| !after.contains(fields));
        let mut come = after.iter().filter(|fields| !before.contains(fields));
        loop {
            let pair = (gone.next(), come.next());
            let (sign, count) = match pair {
                (None, None) => break,
                (None, Some(_)) => ('+', &mut added),
                (Some(_), None) => ('-', &mut removed),
                (Some(_), Some(_)) => ('~', &mut changed),
            };
            *count += 1;
            let _ = writeln!(out, "{sign} {} {}", one_line(key.0), one_line(key.1));
            if let (Some(old), Some(new)) = pair {
                push_changed_fields(&mut out, old, new);
            }
        }
    }
    if out.is_empty() {
        return "no differences\n".to_owned();
    }
    let _ = writeln!(out, "\n{added} added, {removed} removed, {changed} changed");
    out
}

fn push_changed_fields(out: &mut String, old: &Fields, new: &Fields) {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let (before, after) = (old.get(name), new.get(name));
        if before == after {
            continue;
        }
        for (sign, value) in [('-', before), ('+', after)] {
            if let Some(value) = value {
                let value = one_line(&display_value(value));
                let _ = writeln!(out, "    {sign} {} = {value}", one_line(name));
            }
        }
    }
}

const NAMELESS: &str = "without a name";

fn group_by_name(entries: &[PackEntry]) -> RowsByName<'_> {
    let mut found = RowsByName::new();
    for entry in entries {
        let names = entry.names.iter().map(String::as_str);
        let nameless = entry.names.is_empty().then_some(NAMELESS);
        for name in names.chain(nameless) {
            found
                .entry((&entry.kind, name))
                .or_default()
                .push(&entry.fields);
        }
    }
    found
}

fn one_line(text: &str) -> String {
    text::display_safe(text.split_whitespace().join_with(" ").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_name_entries_and_changed_fields() {
        let old = "[[rule]]\nid = \"a.a\"\nlevel = \"advice\"\nchecked = \"2026-11-22 against mount(8)\"\n[[rule]]\nid = \"a.b\"\n\
                   [[options]]\nof = [\"xfs\"]\nnames = [\"x\", \"y\"]\nsource = \"s\"\n";
        let new = "# moved\n[[options]]\nof = [\"xfs\"]\nnames = [\"y\"]\nsource = \"s\"\n[[rule]]\nid = \"a.c\"\n\
                   [[rule]]\nid = \"a.a\"\nlevel = \"warning\"\nchecked = \"2026-11-23 against mount(8)\"\n";
        let (old, new) = (
            parse_entries([("old", old)]).unwrap(),
            parse_entries([("new", new)]).unwrap(),
        );
        assert_eq!(
            difference_text(&old, &new),
            "- options xfs x\n~ rule a.a\n    - level = advice\n    + level = warning\n- rule a.b\n+ rule a.c\n\n\
             1 added, 2 removed, 1 changed\n"
        );
        assert_eq!(difference_text(&new, &new), "no differences\n");
    }

    #[test]
    fn rows_of_one_name_are_compared_as_a_set() {
        let row =
            |by: &str| format!("[[undone]]\nof = [\"vfs\"]\nwords = [\"ro\"]\nby = [\"{by}\"]\n");
        let found = |text: String| parse_entries([("f", text.as_str())]).unwrap();
        let (one, other) = (found(row("a") + &row("b")), found(row("b") + &row("a")));
        assert_eq!(difference_text(&one, &other), "no differences\n");
        let third = found(row("b") + &row("c"));
        assert_eq!(
            difference_text(&one, &third),
            "~ undone vfs ro\n    - by = [\"a\"]\n    + by = [\"c\"]\n\n0 added, 0 removed, 1 changed\n"
        );
    }

    #[test]
    fn an_entry_without_a_name_is_compared() {
        let [one, none] = ["[[rule]]\nlevel = \"advice\"\n", ""]
            .map(|text| parse_entries([("f", text)]).unwrap());
        assert_eq!(
            difference_text(&one, &none),
            format!("- rule {NAMELESS}\n\n0 added, 1 removed, 0 changed\n")
        );
    }
}
