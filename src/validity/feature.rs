//! The features of file systems, as data in `rules/tables/features.toml`: which tool sets them, and which kernel mounts
//! them.
//!
//! What follows for a new file system is left to [`super::mkfs`], for an existing one to [`super::on_disk`]. The table is
//! apart from that of options because a host with neither fstab nor advice on options needs it alone.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::rows::{TableErrors, read, rows};
use crate::version::Version;

/// The table, compiled in.
pub(super) const TEXT: &str = include_str!("../../rules/tables/features.toml");

/// The reaction of a kernel to a file system with a feature that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureKind {
    /// It mounts it and ignores the feature.
    Compatible,
    /// It mounts it read-only.
    ReadOnly,
    /// It refuses to mount it.
    Incompatible,
}

/// A feature of a file system.
#[derive(Clone, Debug)]
pub struct Feature {
    /// The file system it belongs to.
    pub of: String,
    pub name: String,
    /// Its name in the superblock, where that differs.
    pub on_disk: String,
    /// The first version of the tool that knows it.
    pub tool: Version,
    /// The first version of the tool whose feature option accepts it, where that is later.
    pub told: Option<Version>,
    /// The first version of the tool that sets it by default.
    pub default: Option<Version>,
    /// The first version of the tool that should be used.
    pub advised: Option<Version>,
    /// The reaction of a kernel that does not know it.
    pub kind: FeatureKind,
    /// The first kernel that knows it.
    pub kernel: Version,
    /// The same for vendors that backported it.
    pub vendors: BTreeMap<String, Version>,
    /// Whether a kernel of the right number can still be built without it.
    pub by_build: bool,
    /// Other default features depend on it, so that it cannot be omitted alone.
    pub needed: bool,
    /// Why the later version of the tool is advised.
    pub because: String,
    pub source: String,
}

/// The features of the table.
#[derive(Clone, Debug, Default)]
pub struct FeatureTable {
    /// Those that are chosen when a file system is made.
    pub chosen: Vec<Feature>,
    /// Further ones that are found on file systems.
    pub present: Vec<Feature>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFeature {
    of: String,
    feature: String,
    kind: FeatureKind,
    tool: String,
    told: Option<String>,
    default: Option<String>,
    advised: Option<String>,
    kernel: String,
    #[serde(default)]
    vendors: BTreeMap<String, String>,
    #[serde(default)]
    by_build: bool,
    #[serde(default)]
    needed: bool,
    on_disk: Option<String>,
    #[serde(default)]
    because: String,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPresent {
    of: String,
    names: Vec<String>,
    kind: FeatureKind,
    tool: String,
    kernel: String,
    source: String,
}

/// The table compiled into walwise. If it does not load, which a test excludes, every feature is unknown.
pub fn table() -> &'static FeatureTable {
    static TABLE: LazyLock<FeatureTable> = LazyLock::new(|| load(TEXT).unwrap_or_default());
    &TABLE
}

/// Parses a table; the error lists all mistakes.
fn load(text: &str) -> Result<FeatureTable, Vec<String>> {
    let mut table = FeatureTable::default();
    read(text, &["mkfs", "present"], |document, problems| {
        for (place, raw) in rows::<RawFeature>(document, "mkfs", problems) {
            table.chosen.extend(feature(&place, raw, problems));
        }
        for (place, raw) in rows::<RawPresent>(document, "present", problems) {
            table.present.extend(raw.features().filter_map(|raw| feature(&place, raw, problems)));
        }
    })?;
    Ok(table)
}

impl RawPresent {
    fn features(self) -> impl Iterator<Item = RawFeature> {
        let Self { of, names, kind, tool, kernel, source } = self;
        names.into_iter().map(move |feature| RawFeature {
            of: of.clone(),
            feature,
            kind,
            tool: tool.clone(),
            told: None,
            default: None,
            advised: None,
            kernel: kernel.clone(),
            vendors: BTreeMap::new(),
            by_build: false,
            needed: false,
            on_disk: None,
            because: String::new(),
            source: source.clone(),
        })
    }
}

fn feature(place: &str, raw: RawFeature, problems: &mut TableErrors) -> Option<Feature> {
    let mut optional = |text: Option<String>| text.and_then(|text| problems.version(place, &text));
    let (told, default, advised) = (optional(raw.told), optional(raw.default), optional(raw.advised));
    let tool = problems.version(place, &raw.tool);
    let kernel = problems.version(place, &raw.kernel);
    let mut vendors = BTreeMap::new();
    for (vendor, text) in raw.vendors {
        vendors.extend(problems.version(place, &text).map(|version| (vendor, version)));
    }
    Some(Feature {
        of: raw.of,
        on_disk: raw.on_disk.unwrap_or_else(|| raw.feature.clone()),
        name: raw.feature,
        tool: tool?,
        told,
        default,
        advised,
        kind: raw.kind,
        kernel: kernel?,
        vendors,
        by_build: raw.by_build,
        needed: raw.needed,
        because: raw.because,
        source: raw.source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_loads() {
        let table = load(TEXT).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
        assert!(table.chosen.len() > 20 && table.present.len() > 20, "{table:?}");
    }

    #[test]
    fn what_is_no_version_is_said_with_its_row() {
        let row = |kernel: &str| {
            format!(
                "[[mkfs]]\nof = \"xfs\"\nfeature = \"a\"\nkind = \"compatible\"\ntool = \"5.1\"\nkernel = \"{kernel}\"\nsource = \"s\"\n"
            )
        };
        assert_eq!(load(&row("5.1")).unwrap().chosen.len(), 1);
        assert_eq!(load(&row("soon")).unwrap_err(), ["line 1: mkfs 1 (a): `soon` is no version"]);
    }
}
