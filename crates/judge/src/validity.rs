//! The ruling of a kernel, a tool or a server on an option: option × file system × kernel, as data
//! in `rules/tables/validity.toml`, feature × file system × tool × kernel in
//! `rules/tables/features.toml`, and setting × release of a server in `rules/tables/servers.toml`.
//!
//! It is used twice: for the lines of the next boot ([`derive`]), and for every piece of advice
//! before it is shown ([`guard`]). It reads no machine. An option that is missing from the table is
//! *unknown*, never refused and never accepted. So is a step that a vendor may have backported to
//! an older kernel.
#![warn(clippy::wildcard_enum_match_arm)]

mod builder;
mod form;
mod releases;
mod ruling {
    //! What becomes of an option, and what the table says of it.

    use serde::{Deserialize, Serialize};

    /// What becomes of an option.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum Effect {
        /// It is accepted and heeded.
        Ok,
        /// It is accepted, and things would be the same without it.
        #[serde(rename = "default anyway")]
        DefaultAnyway,
        /// It is accepted and ignored.
        #[serde(rename = "no effect")]
        NoEffect,
        /// It is accepted with a warning, and will go.
        Deprecated,
        /// It is refused: the mount fails, the server does not start, the tool stops.
        Refused,
        /// It cannot be said.
        Unknown,
    }

    impl Effect {
        /// Whether it is accepted and heeded.
        pub fn is_ok(self) -> bool {
            matches!(self, Self::Ok)
        }

        /// Whether it is refused.
        pub fn is_refused(self) -> bool {
            matches!(self, Self::Refused)
        }

        /// Whether the ruling is unknown.
        pub fn is_unknown(self) -> bool {
            matches!(self, Self::Unknown)
        }

        /// Whether it is accepted without objection.
        pub fn is_right(self) -> bool {
            matches!(self, Self::Ok | Self::DefaultAnyway)
        }

        /// Whether the ruling deserves a remark.
        pub fn is_wrong(self) -> bool {
            matches!(self, Self::NoEffect | Self::Deprecated | Self::Refused)
        }

        /// The word in JSON and on screens.
        pub fn word(self) -> &'static str {
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

    /// What the table says of an option.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Ruling {
        /// What becomes of it.
        pub effect: Effect,
        /// Why, or why it cannot be said; a sentence, empty where there is nothing to say.
        pub because: String,
        /// The public source.
        pub source: String,
    }

    impl Ruling {
        /// The ruling on an unknown option, with the reason.
        pub fn unknown(because: impl Into<String>) -> Self {
            Self {
                effect: Effect::Unknown,
                because: because.into(),
                source: String::new(),
            }
        }

        /// The ruling on an accepted option, without a remark.
        pub fn ok(source: impl Into<String>) -> Self {
            Self {
                effect: Effect::Ok,
                because: String::new(),
                source: source.into(),
            }
        }

        /// The ruling on an option that this very kernel shows in force.
        pub fn seen(effect: Effect) -> Self {
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
mod life;
mod mkfs;
mod mount;
mod server;
mod table;
mod maker {
    //! The tools that make file systems: where their version is, and what this machine's kernel
    //! makes them leave out.

    use crate::facts::Key;
    use crate::facts::catalog::host;
    use crate::settings::NewFilesystem;
    use crate::version::Version;

    /// What makes a file system.
    pub(super) struct Maker {
        /// The fact with the version of its tools.
        pub version: &'static Key<Version>,
        /// The fact with the features that it has to leave out.
        pub leave_out: &'static Key<Vec<String>>,
        /// The package that it comes with.
        pub package: &'static str,
    }

    impl Maker {
        /// That of a file system; `None` where no version of it is read.
        pub(super) fn of(filesystem: NewFilesystem) -> Option<Self> {
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
mod making;
mod on_disk {
    //! Features of an existing file system, by their names in its superblock: whether a kernel
    //! mounts it, and e2fsck accepts it.
    //!
    //! Features that can be requested on creation are in [`super::mkfs`]. The tool e2fsck must know
    //! even features that a kernel can ignore: an older e2fsck refuses the whole file system, and
    //! the boot stops there.

    use super::feature::{Feature, table};
    use super::{Effect, Ruling};
    use crate::truth::Truth;
    use crate::version::Version;

    /// The oldest e2fsprogs in a system of the last ten years: that of Red Hat 7.
    const OLDEST_IN_USE: [u64; 3] = [1, 42, 9];

    fn find(fs: &str, feature: &str) -> Option<&'static Feature> {
        let all = table().chosen.iter().chain(&table().present);
        all.into_iter()
            .find(|known| known.of == fs && known.is_on_disk(feature))
    }

    fn not_listed(fs: &str, feature: &str) -> Ruling {
        Ruling::unknown(format!(
            "The table does not know the feature {feature} of {fs}."
        ))
    }

    /// The ruling of a kernel on a file system with this feature: `ext4` or `xfs`.
    pub fn feature_on_disk(fs: &str, feature: &str, kernel: &Version, vendor: &str) -> Ruling {
        let Some(known) = find(fs, feature) else {
            return not_listed(fs, feature);
        };
        match known.mounted_by(kernel, vendor) {
            Truth::True => Ruling::ok(known.source.clone()),
            Truth::Unknown if known.is_needed_of_kernels() => known.may_be_known_to(kernel),
            Truth::Unknown | Truth::False => known.unknown_to(kernel),
        }
    }

    /// The ruling of this e2fsck on a feature of ext2, ext3 or ext4; without a version, of an
    /// unknown one.
    pub fn feature_checked(feature: &str, tool: Option<&Version>) -> Ruling {
        let Some(known) = find("ext4", feature) else {
            return not_listed("ext4", feature);
        };
        let source = known.source.clone();
        match tool {
            Some(tool) if *tool < known.tool => Ruling {
                effect: Effect::Refused,
                because: format!(
                    "e2fsprogs {tool} does not know it and refuses to check it, and the boot stops there; {} and later do.",
                    known.tool
                ),
                source,
            },
            Some(_) => Ruling::ok(source),
            None if [0, 1, 2].map(|at| known.tool.number(at)) <= OLDEST_IN_USE => {
                Ruling::ok(source)
            }
            None => Ruling::unknown(format!(
                "It is unknown which e2fsprogs that system has; from {} on it knows the feature, and an earlier one stops the boot.",
                known.tool
            )),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::Effect::{NoEffect, Refused, Unknown};
        use super::*;

        /// A file system that is there, on the way back to an older kernel.
        #[test]
        fn features_of_file_systems_that_are_there() {
            for (fs, feature, kernel, vendor, expect, says) in [
                (
                    "ext4",
                    "orphan_file",
                    "5.10",
                    "mainline",
                    NoEffect,
                    "mounts it and makes no use of it",
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
                    "for reading only",
                ),
                ("ext4", "large_dir", "6.1", "mainline", Effect::Ok, ""),
                (
                    "ext4",
                    "orphan_file",
                    "4.18",
                    "el8",
                    NoEffect,
                    "makes no use",
                ),
                ("ext4", "casefold", "4.18", "el8", Unknown, "carried"),
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
                (
                    "xfs",
                    "inobtcnt",
                    "5.4",
                    "mainline",
                    Refused,
                    "for reading only",
                ),
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

        /// The same on the way back to older tools.
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
                let ruling = feature_checked(feature, Version::parse(tool).as_ref());
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

pub use builder::builds_again;
pub use derive::{derive, rulings};
pub use guard::{Beside, guard, guard_with};
pub use making::can_make;
pub use mkfs::{features, leave_out, mkfs_defaults, mkfs_feature, mkfs_flag};
pub(crate) use mount::mount_option;
pub use mount::{
    BlockDriver, DiskFormat, MountExample, examples, file_system, file_system_again, format,
    format_again, holding, inverse, layer, layer_again, lists, mount_options, scheduler,
};
pub use on_disk::{feature_checked, feature_on_disk};
pub use releases::{ProductRelease, newer, releases};
pub use ruling::{Effect, Ruling};
pub use server::{ChangedBy, ServerSetting, mysql_setting, postgres_value, server_settings};

/// Reads the tables by which these facts will be judged, while others are still being read;
/// `versions` says whether the tools that make file systems are among those.
pub fn read_ahead(facts: &FactSet, versions: bool) {
    if facts.subjects(Scope::Boot).next().is_some() {
        table::table();
    }
    if versions {
        feature::table();
    }
}

/// The tables as they are compiled in: names and texts.
pub const TABLES: &[(&str, &str)] = &[
    ("rules/tables/features.toml", feature::TEXT),
    ("rules/tables/leaving.toml", crate::servers::LEAVING),
    ("rules/tables/releases.toml", releases::TEXT),
    ("rules/tables/servers.toml", crate::servers::TEXT),
    ("rules/tables/systems.toml", table::SYSTEMS),
    ("rules/tables/validity.toml", table::OPTIONS),
    ("rules/tables/zfs.toml", zfs::TEXT),
];
