//! Features of file systems, from `rules/tables/features.toml`: which tool sets them, and which
//! kernel mounts them. Separate from the option table, because a host without fstab and option
//! advice needs this table alone.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::toml_table::parse;
use crate::version::Version;

pub(super) const TEXT: &str = include_str!("../../rules/tables/features.toml");

/// How a kernel treats a file system with a feature that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureKind {
    /// Mounts it and ignores the feature.
    Compatible,
    /// Mounts it read-only.
    ReadOnly,
    /// Refuses to mount it.
    Incompatible,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// The file system it belongs to.
    pub of: String,
    #[serde(default, rename = "feature")]
    pub name: String,
    /// Instead of a name: several, as in a superblock.
    #[serde(default)]
    names: Vec<String>,
    /// Its name in the superblock, if different.
    on_disk: Option<String>,
    /// The first version of the tool that knows it.
    pub tool: Version,
    /// The first version of the tool whose feature option accepts it, if later.
    pub told: Option<Version>,
    /// The first version of the tool that sets it by default.
    pub default: Option<Version>,
    /// The first version of the tool that should be used.
    pub advised: Option<Version>,
    /// How a kernel that does not know it reacts.
    pub kind: FeatureKind,
    /// The first kernel that knows it.
    pub kernel: Version,
    /// The first kernel of vendors that backported it.
    #[serde(default)]
    pub vendors: BTreeMap<String, Version>,
    /// Whether a newer kernel can still be built without it.
    #[serde(default)]
    pub by_build: bool,
    /// Whether other default features depend on it, so that it cannot be omitted alone.
    #[serde(default)]
    pub needed: bool,
    /// Why the later version of the tool is advised.
    #[serde(default)]
    pub because: String,
    pub source: String,
}

impl Feature {
    pub fn is_on_disk(&self, name: &str) -> bool {
        self.on_disk.as_ref().unwrap_or(&self.name) == name
            || self.names.iter().any(|own| own == name)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureTable {
    /// Features to choose when creating a file system.
    #[serde(rename = "mkfs")]
    pub chosen: Vec<Feature>,
    /// Others, found on existing file systems.
    pub present: Vec<Feature>,
}

/// If it does not load, which a test excludes, every feature is unknown.
pub fn feature_table() -> &'static FeatureTable {
    static TABLE: LazyLock<FeatureTable> = LazyLock::new(|| parse(TEXT).unwrap_or_default());
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_loads() {
        let table: FeatureTable = parse(TEXT).unwrap();
        assert!(
            table.chosen.len() > 20 && table.present.len() > 5,
            "{table:?}"
        );
        assert!(
            table
                .chosen
                .iter()
                .all(|known| !known.name.is_empty() && known.names.is_empty())
        );
        assert!(
            table
                .present
                .iter()
                .all(|known| known.name.is_empty() && !known.names.is_empty())
        );
    }
}
