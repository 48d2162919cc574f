//! The features of file systems, as data in `rules/tables/features.toml`: which tool sets them, and
//! which kernel mounts them.
//!
//! What follows for a new file system is left to [`super::mkfs`], for an existing one to
//! [`super::on_disk`]. The table is apart from that of options because a host with neither fstab
//! nor advice on options needs it alone.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::rows::read;
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
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// The file system it belongs to.
    pub of: String,
    #[serde(default, rename = "feature")]
    pub name: String,
    /// In place of a name: those of several, as a superblock is read.
    #[serde(default)]
    names: Vec<String>,
    /// Its name in the superblock, where that differs.
    on_disk: Option<String>,
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
    #[serde(default)]
    pub vendors: BTreeMap<String, Version>,
    /// Whether a kernel of the right number can still be built without it.
    #[serde(default)]
    pub by_build: bool,
    /// Other default features depend on it, so that it cannot be omitted alone.
    #[serde(default)]
    pub needed: bool,
    /// Why the later version of the tool is advised.
    #[serde(default)]
    pub because: String,
    pub source: String,
}

impl Feature {
    /// Whether a superblock calls it so.
    pub fn is_on_disk(&self, name: &str) -> bool {
        self.on_disk.as_ref().unwrap_or(&self.name) == name
            || self.names.iter().any(|own| own == name)
    }
}

/// The features of the table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureTable {
    /// Those that are chosen when a file system is made.
    #[serde(rename = "mkfs")]
    pub chosen: Vec<Feature>,
    /// Further ones that are found on file systems.
    pub present: Vec<Feature>,
}

/// The table compiled into walwise. If it does not load, which a test excludes, every feature is
/// unknown.
pub fn table() -> &'static FeatureTable {
    static TABLE: LazyLock<FeatureTable> = LazyLock::new(|| read(TEXT).unwrap_or_default());
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_loads() {
        let table: FeatureTable = read(TEXT).unwrap();
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
