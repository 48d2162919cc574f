//! Finds the entries of a pack that are due for a check against their sources.

use jiff::civil::Date;

use super::entry::PackEntry;
use walwise_judge::compat::ProductRelease;

#[derive(Default)]
pub struct DueEntries<'e> {
    /// Entries without a stamp; the pack refuses them.
    pub unverified: Vec<&'e PackEntry>,
    /// Entries whose last check is before the oldest accepted day.
    pub old: Vec<&'e PackEntry>,
    pub outdated: Vec<(&'e PackEntry, &'e ProductRelease)>,
}

impl<'e> DueEntries<'e> {
    pub fn new(entries: &'e [PackEntry], releases: &'e [ProductRelease], oldest: Date) -> Self {
        let mut due = Self::default();
        for entry in entries {
            let Some(checked) = &entry.checked else {
                due.unverified.push(entry);
                continue;
            };
            if checked.day < oldest {
                due.old.push(entry);
            }
            let later = releases.iter().filter(|release| {
                mentions_product(&checked.source, release.of.as_str())
                    && release.released.is_some_and(|out| out > checked.day)
            });
            due.outdated.extend(
                later
                    .max_by_key(|release| release.released)
                    .map(|one| (entry, one)),
            );
        }
        due
    }
}

fn mentions_product(text: &str, product: &str) -> bool {
    let own = |c: char| c.is_alphanumeric() || c == '-';
    text.split(|c| !own(c)).any(|word| word == product)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::super::entry::parse_entries;
    use super::*;
    use walwise_judge::compat::known_releases;

    #[test]
    fn entries_are_listed_once_per_due_reason() {
        let text = "[[rule]]\nid = \"a.a\"\n\
                    [[rule]]\nid = \"a.b\"\nchecked = \"2025-01-31 against PostgreSQL 17, runtime-config-wal\"\n\
                    [[rule]]\nid = \"a.c\"\nchecked = \"2026-11-20 against mount(8) of util-linux\"\n\
                    [[rule]]\nid = \"a.d\"\nchecked = \"2025-09-01 against PostgreSQL 17\"\n";
        let found = parse_entries([("f.toml", text)]).unwrap();
        let due = DueEntries::new(&found, known_releases(), date(2025, 6, 1));
        let ids = |list: Vec<&PackEntry>| {
            list.iter()
                .map(|one| one.names[0].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(due.unverified), ["a.a"]);
        assert_eq!(ids(due.old), ["a.b"]);
        assert_eq!(
            ids(due.outdated.iter().map(|(one, _)| *one).collect()),
            ["a.b", "a.d"]
        );
        assert!(
            due.outdated
                .iter()
                .all(|(_, release)| release.version == "18")
        );
    }
}
