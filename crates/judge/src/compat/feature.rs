//! Parser of `rules/tables/features.toml`: which mkfs release sets a file system feature, and which
//! kernel mounts the result.
//!
//! The table is separate from the option table, because a host without boot lines and option advice
//! needs only the features.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::toml_table::parse_ignoring_verification_stamps;
use crate::version::Version;

pub(super) const TEXT: &str = include_str!("../../rules/tables/features.toml");

/// How a kernel treats a file system with a feature unknown to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureCompatibility {
    /// The kernel mounts the file system and ignores the feature.
    Compatible,
    ReadOnly,
    Incompatible,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub struct FileSystemFeature {
    /// The file system that has the feature: `ext4`, `xfs` or `btrfs`.
    pub of: String,
    #[serde(default, rename = "feature")]
    pub name: String,
    /// Superblock names of all features that a row about existing file systems covers. Such a row
    /// has no `feature`.
    #[serde(default)]
    names: Vec<String>,
    /// The feature's name in the superblock, if it differs from `feature`.
    on_disk: Option<String>,
    /// First mkfs version that supports the feature.
    pub tool: Version,
    /// First mkfs version whose feature option accepts the feature, if later than `tool`.
    pub told: Option<Version>,
    /// First mkfs version that sets the feature by default.
    pub default: Option<Version>,
    /// First mkfs version recommended for the feature; `because` gives the reason.
    pub advised: Option<Version>,
    pub kind: FeatureCompatibility,
    /// First kernel that supports the feature.
    pub kernel: Version,
    /// For each vendor that backported the feature, the vendor's first kernel with it.
    #[serde(default)]
    pub vendors: BTreeMap<String, Version>,
    /// Whether kernels from version `kernel` on can be built without the feature.
    #[cfg(any(test, feature = "testing"))]
    #[serde(default)]
    pub by_build: bool,
    /// Whether other default features depend on this one, so that it cannot be omitted alone.
    #[cfg(any(test, feature = "testing"))]
    #[serde(default)]
    pub needed: bool,
    #[serde(default)]
    pub because: String,
    pub source: String,
}

impl FileSystemFeature {
    pub fn has_superblock_name(&self, name: &str) -> bool {
        self.on_disk.as_ref().unwrap_or(&self.name) == name
            || self.names.iter().any(|own| own == name)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureTable {
    /// Features that an option of mkfs can set.
    #[serde(rename = "mkfs")]
    pub chosen: Vec<FileSystemFeature>,
    /// Features that `mkfs` cannot set, but existing file systems may have.
    pub present: Vec<FileSystemFeature>,
}

/// If the compiled-in text does not parse, the table is empty and every feature is unknown; a test
/// checks that the text parses.
pub fn feature_table() -> &'static FeatureTable {
    static TABLE: LazyLock<FeatureTable> =
        LazyLock::new(|| parse_ignoring_verification_stamps(TEXT).unwrap_or_default());
    &TABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_table_parses() {
        let table: FeatureTable = parse_ignoring_verification_stamps(TEXT).unwrap();
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
