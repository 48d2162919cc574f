//! Whether a kernel, tool or server accepts an option, and what it does: tables in
//! `rules/tables/*.toml`. Checked for the next boot and for all advice. A missing option is
//! *unknown*, and so is a change that a vendor may have backported.
#![warn(clippy::wildcard_enum_match_arm)]

mod builder;
mod releases;
mod value_syntax;
mod support {
    //! The effect of an option, with reason and source.

    use serde::{Deserialize, Serialize};

    /// The effect of an option.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum Effect {
        /// Accepted and honoured.
        Ok,
        /// Accepted, and the default without it too.
        #[serde(rename = "default anyway")]
        DefaultAnyway,
        /// Accepted and ignored.
        #[serde(rename = "no effect")]
        NoEffect,
        /// Accepted with a warning, and due for removal.
        Deprecated,
        /// Refused: the mount fails, the server does not start, the tool stops.
        Refused,
        /// Unknown.
        Unknown,
    }

    impl Effect {
        pub fn is_ok(self) -> bool {
            matches!(self, Self::Ok)
        }

        pub fn is_refused(self) -> bool {
            matches!(self, Self::Refused)
        }

        pub fn is_unknown(self) -> bool {
            matches!(self, Self::Unknown)
        }

        /// Whether it is accepted and honoured, or the default anyway.
        pub fn is_accepted(self) -> bool {
            matches!(self, Self::Ok | Self::DefaultAnyway)
        }

        /// Whether a report should mention it.
        pub fn deserves_remark(self) -> bool {
            matches!(self, Self::NoEffect | Self::Deprecated | Self::Refused)
        }

        /// The word in JSON and on screens.
        pub fn as_str(self) -> &'static str {
            match self {
                Self::Ok => "ok",
                Self::DefaultAnyway => "default anyway",
                Self::NoEffect => "no effect",
                Self::Deprecated => "deprecated",
                Self::Refused => "refused",
                Self::Unknown => "unknown",
            }
        }
    }

    /// How a kernel, tool or server supports an option.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Support {
        /// The effect.
        pub effect: Effect,
        /// Why, or why it is unknown; a sentence, or empty.
        pub because: String,
        /// The public source.
        pub source: String,
    }

    impl Support {
        pub fn unknown(because: impl Into<String>) -> Self {
            Self {
                effect: Effect::Unknown,
                because: because.into(),
                source: String::new(),
            }
        }

        pub fn ok(source: impl Into<String>) -> Self {
            Self {
                effect: Effect::Ok,
                because: String::new(),
                source: source.into(),
            }
        }

        /// An option that this very kernel shows in force.
        pub fn in_force(effect: Effect) -> Self {
            let because = "This kernel has the file system mounted with it now.".to_owned();
            Self {
                effect,
                because,
                source: "/proc/self/mountinfo".to_owned(),
            }
        }
    }
}
mod feature;
mod mkfs;
mod mount;
mod server;
mod support_range;
mod table;
mod mkfs_tool {
    //! The tools that create file systems: where their version is, and what they have to leave out
    //! for this kernel.

    use crate::facts::Key;
    use crate::facts::catalog::host;
    use crate::settings::NewFilesystem;
    use crate::version::Version;

    pub(super) struct MkfsTool {
        /// The fact with the version of its tools.
        pub version: &'static Key<Version>,
        /// The fact with the features it has to leave out.
        pub leave_out: &'static Key<Vec<String>>,
        /// The package that contains it.
        pub package: &'static str,
    }

    impl MkfsTool {
        /// `None` for a file system whose tool version is not read.
        pub(super) fn for_filesystem(filesystem: NewFilesystem) -> Option<Self> {
            let (version, leave_out, package) = match filesystem {
                NewFilesystem::Ext4 => (&host::E2FSPROGS, &host::EXT4_LEAVE_OUT, "e2fsprogs"),
                NewFilesystem::Xfs => (&host::XFSPROGS, &host::XFS_LEAVE_OUT, "xfsprogs"),
                NewFilesystem::Btrfs => (&host::BTRFSPROGS, &host::BTRFS_LEAVE_OUT, "btrfs-progs"),
                NewFilesystem::Zfs => return None,
            };
            Some(Self {
                version,
                leave_out,
                package,
            })
        }
    }
}
mod guard;
mod mkfs_check;
mod on_disk {
    //! Features of an existing file system, by their superblock names: whether a kernel mounts it
    //! and e2fsck accepts it. e2fsck must know even features that a kernel can ignore: an older one
    //! refuses the whole file system, and the boot stops there.

    use super::feature::{Feature, feature_table};
    use super::{Effect, Support};
    use crate::ternary::Ternary;
    use crate::version::Version;

    /// The oldest e2fsprogs in a distribution of the last ten years: Red Hat 7.
    const OLDEST_IN_USE: [u64; 3] = [1, 42, 9];

    fn find_feature(fs: &str, feature: &str) -> Option<&'static Feature> {
        let all = feature_table()
            .chosen
            .iter()
            .chain(&feature_table().present);
        all.into_iter()
            .find(|known| known.of == fs && known.is_on_disk(feature))
    }

    fn unlisted_feature(fs: &str, feature: &str) -> Support {
        Support::unknown(format!(
            "The table does not know the feature {feature} of {fs}."
        ))
    }

    /// Whether a kernel mounts a file system with this feature: `ext4` or `xfs`.
    pub fn feature_on_disk(fs: &str, feature: &str, kernel: &Version, vendor: &str) -> Support {
        let Some(known) = find_feature(fs, feature) else {
            return unlisted_feature(fs, feature);
        };
        match known.is_mounted_by(kernel, vendor) {
            Ternary::True => Support::ok(known.source.clone()),
            Ternary::Unknown if known.needs_kernel_support() => known.maybe_supported_by(kernel),
            Ternary::Unknown | Ternary::False => known.unsupported_by(kernel),
        }
    }

    /// Whether this e2fsck accepts a feature of ext2, ext3 or ext4; without a version, an unknown
    /// e2fsck.
    pub fn feature_in_e2fsck(feature: &str, tool: Option<&Version>) -> Support {
        let Some(known) = find_feature("ext4", feature) else {
            return unlisted_feature("ext4", feature);
        };
        let source = known.source.clone();
        match tool {
            Some(tool) if *tool < known.tool => Support {
                effect: Effect::Refused,
                because: format!(
                    "e2fsprogs {tool} does not know it and refuses to check it, and the boot stops there; {} and later do.",
                    known.tool
                ),
                source,
            },
            Some(_) => Support::ok(source),
            None if [0, 1, 2].map(|at| known.tool.number(at)) <= OLDEST_IN_USE => {
                Support::ok(source)
            }
            None => Support::unknown(format!(
                "The e2fsprogs of that system is unknown; {} and later know the feature, earlier ones stop the boot.",
                known.tool
            )),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::Effect::{NoEffect, Refused, Unknown};
        use super::*;

        /// An existing file system after a downgrade of the kernel.
        #[test]
        fn features_of_file_systems_that_are_there() {
            for (fs, feature, kernel, vendor, expect, says) in [
                (
                    "ext4",
                    "orphan_file",
                    "5.10",
                    "mainline",
                    NoEffect,
                    "mounts it and ignores the feature",
                ),
                (
                    "ext4",
                    "metadata_csum_seed",
                    "4.3",
                    "mainline",
                    Refused,
                    "cannot mount it",
                ),
                (
                    "ext4",
                    "metadata_csum",
                    "3.16",
                    "mainline",
                    Refused,
                    "read-only",
                ),
                ("ext4", "large_dir", "6.1", "mainline", Effect::Ok, ""),
                (
                    "ext4",
                    "orphan_file",
                    "4.18",
                    "el8",
                    NoEffect,
                    "ignores the feature",
                ),
                ("ext4", "casefold", "4.18", "el8", Unknown, "backported"),
                ("ext4", "has_journal", "3.10", "el7", Effect::Ok, ""),
                (
                    "ext4",
                    "encrypt",
                    "3.16",
                    "mainline",
                    Refused,
                    "cannot mount it",
                ),
                (
                    "ext4",
                    "FEATURE_I18",
                    "6.18",
                    "mainline",
                    Unknown,
                    "does not know the feature",
                ),
                (
                    "ext4",
                    "dirdata",
                    "6.18",
                    "mainline",
                    Unknown,
                    "does not know the feature",
                ),
                (
                    "xfs",
                    "sparse_inodes",
                    "4.1",
                    "mainline",
                    Refused,
                    "cannot mount it",
                ),
                ("xfs", "inobtcnt", "5.4", "mainline", Refused, "read-only"),
                (
                    "xfs",
                    "metadir",
                    "6.12",
                    "mainline",
                    Refused,
                    "cannot mount it",
                ),
                ("xfs", "metadir", "6.13", "mainline", Effect::Ok, ""),
                (
                    "xfs",
                    "incompat_12",
                    "6.18",
                    "mainline",
                    Unknown,
                    "does not know the feature",
                ),
                (
                    "xfs",
                    "ascii_ci",
                    "6.12",
                    "debian",
                    Unknown,
                    "does not know the feature",
                ),
            ] {
                let ruling = feature_on_disk(fs, feature, &Version::parse(kernel).unwrap(), vendor);
                assert_eq!(
                    ruling.effect, expect,
                    "{fs} {feature} {kernel} {vendor}: {}",
                    ruling.because
                );
                assert!(
                    ruling.because.contains(says),
                    "{fs} {feature} {kernel} {vendor}: {}",
                    ruling.because
                );
            }
        }

        /// After a downgrade of the tools.
        #[test]
        fn features_that_e2fsck_has_to_know() {
            for (feature, tool, expect, says) in [
                ("orphan_file", "1.47.0", Effect::Ok, ""),
                ("orphan_file", "1.46.5", Refused, "refuses to check it"),
                ("metadata_csum", "1.42.9", Refused, "refuses to check it"),
                ("has_journal", "1.42.9", Effect::Ok, ""),
                ("orphan_file", "?", Unknown, "1.47.0"),
                ("FEATURE_C7", "1.47.0", Unknown, "does not know the feature"),
            ] {
                let ruling = feature_in_e2fsck(feature, Version::parse(tool).as_ref());
                assert_eq!(
                    ruling.effect, expect,
                    "{feature} {tool}: {}",
                    ruling.because
                );
                assert!(
                    ruling.because.contains(says),
                    "{feature} {tool}: {}",
                    ruling.because
                );
            }
        }
    }
}
mod derive;
#[cfg(test)]
mod tests;
mod zfs;
#[cfg(test)]
#[rustfmt::skip]
mod vendors;

use crate::facts::{FactSet, Scope};

pub use builder::is_same_builder;
pub use derive::{derive, option_support};
#[cfg(any(test, feature = "testing"))]
pub use {guard::check_advice, server::server_settings};

pub use guard::{RelatedAdvice, check_advice_with};
pub use mkfs::{feature_examples, mkfs_defaults, mkfs_feature, mkfs_flag, words_to_omit};
pub use mkfs_check::can_make;
pub(crate) use mount::mount_option;
pub use mount::{
    BlockDriver, DiskFormat, MountExample, file_system_if_rebuilt, file_system_support,
    format_if_rebuilt, format_support, is_listed, layer_if_rebuilt, layer_support, mount_examples,
    mount_options, options_in_effect, remount_inverse, scheduler_support,
};
pub use on_disk::{feature_in_e2fsck, feature_on_disk};
pub use releases::{ProductRelease, newer_than_tables, releases};
pub use server::{ChangedBy, ServerSetting, mysql_setting, postgres_value};
pub use support::{Effect, Support};

/// Loads the tables needed for these facts while others are still being read. `versions`: whether
/// versions of mkfs tools are among those.
pub fn preload_tables(facts: &FactSet, versions: bool) {
    if facts.subjects(Scope::Boot).next().is_some() {
        table::option_table();
    }
    if versions {
        feature::feature_table();
    }
}

/// Names and texts of the tables as compiled in.
pub const TABLES: &[(&str, &str)] = &[
    ("rules/tables/features.toml", feature::TEXT),
    ("rules/tables/leaving.toml", crate::servers::LEAVING),
    ("rules/tables/releases.toml", releases::TEXT),
    ("rules/tables/servers.toml", crate::servers::SERVERS_TOML),
    ("rules/tables/systems.toml", table::SYSTEMS),
    ("rules/tables/validity.toml", table::OPTIONS),
    ("rules/tables/zfs.toml", zfs::TEXT),
];
