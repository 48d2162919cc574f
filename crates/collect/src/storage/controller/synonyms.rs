//! Synonyms of keys, from `synonyms.txt`. Parsers use only the canonical names.

use std::sync::LazyLock;

use crate::text_table::rows;

/// The family of tools whose synonyms apply, as `synonyms.txt` names it; none if empty.
pub type Synonyms = &'static str;

/// Keys of storcli, perccli, storcli2 and perccli2.
pub const MEGARAID_JSON: Synonyms = "megaraid json";
/// Keys of MegaCli, and of the tables of storcli and perccli.
pub const MEGARAID: Synonyms = "megaraid";
pub const SMART_ARRAY: Synonyms = "smart array";
pub const ADAPTEC: Synonyms = "adaptec";

/// Headings under which arcconf prints the battery or capacitors of the cache.
pub const BACKUP_UNITS: [&str; 6] = [
    "battery",
    "zmm",
    "cache backup unit",
    "supercap",
    "green backup",
    "energy pack",
];

/// Canonical names with one synonym each.
pub fn synonyms_of_family(family: Synonyms) -> impl Iterator<Item = [&'static str; 2]> {
    static ROWS: LazyLock<Vec<[&str; 3]>> =
        LazyLock::new(|| rows(include_str!("synonyms.txt")).collect());
    let rows = ROWS.iter().filter(move |[of, ..]| *of == family);
    rows.map(|[_, canonical, synonym]| [*canonical, *synonym])
}

pub fn canonical_key_of_synonym(family: Synonyms, name: &str) -> &str {
    synonyms_of_family(family)
        .find(|[_, synonym]| *synonym == name)
        .map_or(name, |[canonical, _]| canonical)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_table::check_rows;

    #[test]
    fn synonyms_are_unambiguous() {
        check_rows::<3>(include_str!("synonyms.txt"));
        let mut count = 0;
        for family in [MEGARAID_JSON, MEGARAID, SMART_ARRAY, ADAPTEC] {
            for [canonical, synonym] in synonyms_of_family(family) {
                assert_eq!(canonical_key_of_synonym(family, synonym), canonical);
                assert_eq!(canonical_key_of_synonym(family, canonical), canonical);
                count += 1;
            }
        }
        assert_eq!(count, 47);
        assert_eq!(canonical_key_of_synonym("", "bbu state"), "bbu state");
    }
}
