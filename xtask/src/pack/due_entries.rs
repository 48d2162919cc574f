//! Entries that were never checked against a source, were checked long ago, or were checked before
//! the latest release of their product.

use jiff::civil::Date;

use super::entry::KnowledgeEntry;
use walwise_judge::compat::ProductRelease;
use walwise_model::provenance::Verification;

/// Entries due for a new check, in the order of the files.
#[derive(Default)]
pub struct DueEntries<'e> {
    pub unverified: Vec<&'e KnowledgeEntry>,
    /// Entries checked before the oldest accepted day.
    pub old: Vec<&'e KnowledgeEntry>,
    pub outdated: Vec<(&'e KnowledgeEntry, &'e ProductRelease)>,
}

impl<'e> DueEntries<'e> {
    /// Finds the due entries; a check before `oldest` is too old.
    pub fn new(
        entries: &'e [KnowledgeEntry],
        releases: &'e [ProductRelease],
        oldest: Date,
    ) -> Self {
        let mut due = Self::default();
        for entry in entries {
            match &entry.checked {
                Verification::Unverified => due.unverified.push(entry),
                Verification::Verified { day, source } => {
                    if *day < oldest {
                        due.old.push(entry);
                    }
                    let named = releases
                        .iter()
                        .filter(|release| mentions_product(source, release.of.as_str()));
                    let later =
                        named.filter(|release| release.released.is_some_and(|out| out > *day));
                    due.outdated.extend(
                        later
                            .max_by_key(|release| release.released)
                            .map(|one| (entry, one)),
                    );
                }
            }
        }
        due
    }
}

/// Whether a text contains the product as a separate word.
fn mentions_product(text: &str, product: &str) -> bool {
    let own = |c: char| c.is_alphanumeric() || c == '-';
    text.split(|c| !own(c)).any(|word| word == product)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::super::entry::parse_entries;
    use super::*;
    use walwise_judge::compat::releases;

    #[test]
    fn what_is_due_is_named_once_for_each_reason() {
        let text = "[[rule]]\nid = \"a.a\"\nchecked = \"unverified\"\n\
                    [[rule]]\nid = \"a.b\"\nchecked = \"2025-01-31 against PostgreSQL 17, runtime-config-wal\"\n\
                    [[rule]]\nid = \"a.c\"\nchecked = \"2026-11-20 against mount(8) of util-linux\"\n\
                    [[rule]]\nid = \"a.d\"\nchecked = \"2026-11-18 against PostgreSQL 18\"\n";
        let found = parse_entries([("f.toml", text)]).unwrap();
        let due = DueEntries::new(&found, releases(), date(2026, 1, 1));
        let ids = |list: Vec<&KnowledgeEntry>| {
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
                .all(|(_, release)| release.version == "19")
        );
    }
}
