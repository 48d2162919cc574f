//! The age of what walwise knows: what nobody has compared with a source, what was compared long
//! ago, and what was compared before a product that its stamp names had another release.

use jiff::civil::Date;

use super::entry::KnowledgeEntry;
use walwise_judge::validity::ProductRelease;
use walwise_model::checked::SourceCheck;

/// What is due to be read again, each list in the order of the files.
#[derive(Default)]
pub struct Due<'e> {
    /// Entries whose source nobody says to have opened.
    pub unverified: Vec<&'e KnowledgeEntry>,
    /// Entries that were checked too long ago.
    pub old: Vec<&'e KnowledgeEntry>,
    /// Entries that were checked before a release of what they were checked against.
    pub overtaken: Vec<(&'e KnowledgeEntry, &'e ProductRelease)>,
}

impl<'e> Due<'e> {
    /// What is due of these, where a check before `oldest` is too old.
    pub fn new(
        entries: &'e [KnowledgeEntry],
        releases: &'e [ProductRelease],
        oldest: Date,
    ) -> Self {
        let mut due = Self::default();
        for entry in entries {
            match &entry.checked {
                SourceCheck::Unverified => due.unverified.push(entry),
                SourceCheck::Against { day, source } => {
                    if *day < oldest {
                        due.old.push(entry);
                    }
                    let named = releases
                        .iter()
                        .filter(|release| names(source, release.of.word()));
                    let later =
                        named.filter(|release| release.released.is_some_and(|out| out > *day));
                    due.overtaken.extend(
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

/// Whether a text names a product as a word of its own.
fn names(text: &str, product: &str) -> bool {
    let own = |c: char| c.is_alphanumeric() || c == '-';
    text.split(|c| !own(c)).any(|word| word == product)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::super::entry::entries;
    use super::*;
    use walwise_judge::validity::releases;

    #[test]
    fn what_is_due_is_named_once_for_each_reason() {
        let text = "[[rule]]\nid = \"a.a\"\nchecked = \"unverified\"\n\
                    [[rule]]\nid = \"a.b\"\nchecked = \"2025-01-31 against PostgreSQL 17, runtime-config-wal\"\n\
                    [[rule]]\nid = \"a.c\"\nchecked = \"2026-11-20 against mount(8) of util-linux\"\n\
                    [[rule]]\nid = \"a.d\"\nchecked = \"2026-11-18 against PostgreSQL 18\"\n";
        let found = entries([("f.toml", text)]).unwrap();
        let due = Due::new(&found, releases(), date(2026, 1, 1));
        let ids = |list: Vec<&KnowledgeEntry>| {
            list.iter()
                .map(|one| one.names[0].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(due.unverified), ["a.a"]);
        assert_eq!(ids(due.old), ["a.b"]);
        assert_eq!(
            ids(due.overtaken.iter().map(|(one, _)| *one).collect()),
            ["a.b", "a.d"]
        );
        assert!(
            due.overtaken
                .iter()
                .all(|(_, release)| release.version == "19")
        );
    }
}
