//! Compares the entries of two packs. Order, comments, positions and stamps are ignored, because
//! they do not change any result.

use std::collections::BTreeMap;

use toml::Value;

use super::entry::{PackEntry, display_value};

#[derive(Debug, PartialEq, Eq)]
pub enum EntryChange {
    Added,
    Removed,
    Changed(Vec<FieldChange>),
}

#[derive(Debug, PartialEq, Eq)]
pub struct FieldChange {
    pub name: String,
    /// `None` if the field was absent.
    pub old: Option<String>,
    /// `None` if the field is absent now.
    pub new: Option<String>,
}

/// Several rows may share a name, such as the rows for the words that undo an option.
type EntriesByName<'e> = BTreeMap<(&'e str, &'e str), Vec<&'e BTreeMap<String, Value>>>;

pub fn entry_differences<'e>(
    old: &'e [PackEntry],
    new: &'e [PackEntry],
) -> Vec<(&'e str, &'e str, EntryChange)> {
    let (old, new) = (group_by_name(old), group_by_name(new));
    let mut names: Vec<_> = old.keys().chain(new.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let nothing = Vec::new();
    let mut changes = Vec::new();
    for (kind, name) in names {
        let before = old.get(&(kind, name)).unwrap_or(&nothing);
        let after = new.get(&(kind, name)).unwrap_or(&nothing);
        let gone: Vec<_> = before
            .iter()
            .filter(|fields| !after.contains(fields))
            .collect();
        let come: Vec<_> = after
            .iter()
            .filter(|fields| !before.contains(fields))
            .collect();
        for at in 0..gone.len().max(come.len()) {
            let change = match (gone.get(at), come.get(at)) {
                (Some(old), Some(new)) => EntryChange::Changed(changed_fields(old, new)),
                (Some(_), None) => EntryChange::Removed,
                (None, _) => EntryChange::Added,
            };
            changes.push((kind, name, change));
        }
    }
    changes
}

const NAMELESS: &str = "without a name";

fn group_by_name(entries: &[PackEntry]) -> EntriesByName<'_> {
    let mut found = EntriesByName::new();
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

fn changed_fields(
    old: &BTreeMap<String, Value>,
    new: &BTreeMap<String, Value>,
) -> Vec<FieldChange> {
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let differing = names
        .into_iter()
        .filter(|name| old.get(*name) != new.get(*name));
    let told = |value: Option<&Value>| value.map(display_value);
    differing
        .map(|name| FieldChange {
            name: name.clone(),
            old: told(old.get(name)),
            new: told(new.get(name)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::entry::parse_entries;
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
        let level = FieldChange {
            name: "level".to_owned(),
            old: Some("advice".to_owned()),
            new: Some("warning".to_owned()),
        };
        assert_eq!(
            entry_differences(&old, &new),
            [
                ("options", "xfs x", EntryChange::Removed),
                ("rule", "a.a", EntryChange::Changed(vec![level])),
                ("rule", "a.b", EntryChange::Removed),
                ("rule", "a.c", EntryChange::Added),
            ]
        );
        assert!(entry_differences(&new, &new).is_empty());
    }

    #[test]
    fn rows_of_one_name_are_compared_as_a_set() {
        let row =
            |by: &str| format!("[[undone]]\nof = [\"vfs\"]\nwords = [\"ro\"]\nby = [\"{by}\"]\n");
        let found = |text: String| parse_entries([("f", text.as_str())]).unwrap();
        let (one, other) = (found(row("a") + &row("b")), found(row("b") + &row("a")));
        assert!(entry_differences(&one, &other).is_empty());
        let third = found(row("b") + &row("c"));
        assert!(matches!(
            entry_differences(&one, &third).as_slice(),
            [("undone", "vfs ro", EntryChange::Changed(_))]
        ));
    }

    #[test]
    fn an_entry_without_a_name_is_compared() {
        let [one, none] = ["[[rule]]\nlevel = \"advice\"\n", ""]
            .map(|text| parse_entries([("f", text)]).unwrap());
        assert_eq!(
            entry_differences(&one, &none),
            [("rule", NAMELESS, EntryChange::Removed)]
        );
    }
}
