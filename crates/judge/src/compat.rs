//! Whether a kernel, tool or server accepts an option, and the option's effect. The data are in
//! `rules/tables/*.toml`.
#![warn(clippy::wildcard_enum_match_arm)]

mod advice_check;
mod derive;
mod feature;
mod kernel_build_kind;
mod kernel_support;
mod mkfs;
mod releases;
mod server;
mod support_timeline;
mod table;
#[cfg(test)]
mod tests;
mod value_syntax;
mod zfs;
#[cfg(test)]
#[rustfmt::skip]
mod vendor_kernel_tests;

use advice_check::check_new_file_system_mountable;
use feature::{FileSystemFeature, feature_table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::catalog::host;
use crate::facts::{FactSet, Key, Reading, Scope, Subject, UnknownReason, choice};
use crate::settings::NewFilesystem;
use crate::ternary::Ternary;
use crate::version::Version;

pub use derive::{boot_options_support, derive_compat_facts};
pub use kernel_build_kind::is_same_custom_builder;
#[cfg(any(test, feature = "testing"))]
pub use {
    advice_check::check_advice,
    kernel_support::{MountOptionTestCase, mount_option_test_cases},
    mkfs::mkfs_feature_test_cases,
    server::{ServerReleaseSetting, SettingChangeAction, settings_of_server_release},
};

pub use advice_check::{RelatedAdvice, check_advice_with_related};
pub use kernel_support::{
    DiskFormat, KernelPart, find_remount_inverse, is_option_listed, kernel_part_support,
    mount_options_support, options_not_overridden_later,
};
pub(crate) use kernel_support::{is_journal_ignored, mount_option_support};
pub use mkfs::{mkfs_defaults_support, mkfs_feature_support, mkfs_flag, mkfs_omit_arguments};
pub use releases::{ProductRelease, known_releases, notes_on_newer_releases};
pub use server::{mysql_assignment_support, postgres_assignment_support};

/// Parses the tables of options and features in advance, while other facts are still being read.
/// The option table is needed for boot lines, the feature table for versions of mkfs tools, which
/// are read if `versions` is true.
pub fn preload_option_and_feature_tables(facts: &FactSet, versions: bool) {
    if facts.subjects_of_scope(Scope::Boot).next().is_some() {
        table::option_table();
    }
    if versions {
        feature::feature_table();
    }
}

pub const TABLES: &[(&str, &str)] = &[
    ("rules/tables/features.toml", feature::TEXT),
    ("rules/tables/leaving.toml", crate::servers::POLICY_TOML),
    ("rules/tables/releases.toml", releases::TEXT),
    ("rules/tables/servers.toml", crate::servers::SERVERS_TOML),
    ("rules/tables/systems.toml", table::SYSTEMS),
    ("rules/tables/validity.toml", table::OPTIONS),
    ("rules/tables/zfs.toml", zfs::TEXT),
];

choice! {
    /// The treatment of an option by a kernel, tool or server.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Effect {
        /// Accepted and honoured.
        Ok = "ok" is_ok,
        /// Accepted, but redundant: the default is the same.
        #[serde(rename = "default anyway")]
        DefaultAnyway = "default anyway",
        /// Accepted and ignored.
        #[serde(rename = "no effect")]
        NoEffect = "no effect",
        /// Accepted, but not recommended: for example, a later release removes the option.
        Deprecated = "deprecated",
        /// The mount fails, the server does not start, or the tool stops.
        Refused = "refused" is_refused,
        /// The tables of walwise do not decide, for example because a vendor may have backported the
        /// option.
        Unknown = "unknown" is_unknown,
    }
}

impl Effect {
    pub fn is_honoured(self) -> bool {
        matches!(self, Self::Ok | Self::DefaultAnyway)
    }
}

/// How a kernel, tool or server treats one option, with reason and source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Support {
    /// Whether the kernel, tool or server accepts and honours the option.
    pub effect: Effect,
    /// The reason for the effect, even for an unknown one, as full sentences; may be empty.
    pub because: String,
    /// Public source of the statement; may be empty.
    pub source: String,
}

impl Support {
    pub(crate) fn new(effect: Effect, because: String, source: &str) -> Self {
        Self {
            effect,
            because,
            source: source.to_owned(),
        }
    }

    pub fn unknown(because: impl Into<String>) -> Self {
        Self {
            effect: Effect::Unknown,
            because: because.into(),
            source: String::new(),
        }
    }

    pub fn accepted_and_honoured(source: impl Into<String>) -> Self {
        Self {
            effect: Effect::Ok,
            because: String::new(),
            source: source.into(),
        }
    }

    pub(crate) fn proven_by_current_mount(effect: Effect) -> Self {
        let because = "This kernel has mounted the file system with this option.".to_owned();
        Self {
            effect,
            because,
            source: "/proc/self/mountinfo".to_owned(),
        }
    }
}

// Features of an existing file system, by the names in its superblock: whether a kernel mounts
// the file system and e2fsck checks it.
//
// e2fsck refuses a file system that has any feature unknown to e2fsck, even one that kernels
// ignore; the boot then stops.

/// Release of e2fsprogs in Red Hat 7, which counts as the oldest in use.
const OLDEST_IN_USE: [u64; 3] = [1, 42, 9];

fn find_superblock_feature(fs: &str, feature: &str) -> Option<&'static FileSystemFeature> {
    let all = feature_table()
        .chosen
        .iter()
        .chain(&feature_table().present);
    all.into_iter()
        .find(|known| known.of == fs && known.has_superblock_name(feature))
}

fn unlisted_feature_support(fs: &str, feature: &str) -> Support {
    Support::unknown(format!(
        "The {fs} feature {feature} is not in walwise's tables."
    ))
}

pub fn kernel_support_of_feature(
    fs: &str,
    feature: &str,
    kernel: &Version,
    vendor: &str,
) -> Support {
    let Some(known) = find_superblock_feature(fs, feature) else {
        return unlisted_feature_support(fs, feature);
    };
    match known.is_supported_by_kernel(kernel, vendor) {
        Ternary::True => Support::accepted_and_honoured(known.source.clone()),
        Ternary::Unknown if known.needs_kernel_support() => known.unknown_backport_support(kernel),
        Ternary::Unknown | Ternary::False => known.support_if_kernel_lacks_feature(kernel),
    }
}

/// Whether e2fsck checks an ext2, ext3 or ext4 file system with the feature. If the version of
/// e2fsck is unknown, only features known to the oldest release in use are accepted.
pub fn e2fsck_support_of_feature(feature: &str, tool: Option<&Version>) -> Support {
    let Some(known) = find_superblock_feature("ext4", feature) else {
        return unlisted_feature_support("ext4", feature);
    };
    let source = known.source.clone();
    match tool {
        Some(tool) if *tool < known.tool => Support {
            effect: Effect::Refused,
            because: format!(
                "e2fsprogs {tool} does not support the feature and refuses to check the file system, so the boot stops; use {} or later.",
                known.tool
            ),
            source,
        },
        Some(_) => Support::accepted_and_honoured(source),
        None if [0, 1, 2].map(|at| known.tool.number(at)) <= OLDEST_IN_USE => {
            Support::accepted_and_honoured(source)
        }
        None => Support::unknown(format!(
            "The version of e2fsprogs after the upgrade is unknown. Versions before {} refuse to check the file system, and the boot then stops.",
            known.tool
        )),
    }
}

struct MkfsToolKeys {
    pub version: &'static Key<Version>,
    /// Fact with the default features that mkfs must omit because this kernel may lack them.
    pub leave_out: &'static Key<Vec<String>>,
    pub package: &'static str,
}

impl MkfsToolKeys {
    /// The tool that creates a file system; `None` for ZFS, because no collector reads the
    /// version of its tools.
    fn for_filesystem(filesystem: NewFilesystem) -> Option<Self> {
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

/// Whether mkfs can create a new file system that this kernel can mount, if mkfs omits the features
/// that the kernel lacks. The error is a sentence.
pub fn require_creatable_and_mountable(
    wanted: NewFilesystem,
    facts: &FactSet,
) -> Result<(), String> {
    let machine = Subject::host();
    let mut left_out = Vec::new();
    if let Some(MkfsToolKeys {
        version,
        leave_out,
        package,
    }) = MkfsToolKeys::for_filesystem(wanted)
    {
        if let Reading::Unknown {
            why: UnknownReason::Absent,
            ..
        } = facts.get(&machine, version)
        {
            return Err(format!(
                "mkfs.{wanted} is not installed here: install {package}."
            ));
        }
        left_out = facts.value(&machine, leave_out).unwrap_or_default();
    }
    check_new_file_system_mountable(wanted.as_str(), &left_out, facts)
}

#[cfg(test)]
mod mkfs_check_tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog::{host, kernel};
    use crate::version::Version;

    fn kernel_facts(vendor: &str, version: &str, loaded: &[&str]) -> FactSet {
        let mut facts = FactSet::default();
        let machine = Subject::host();
        let seen = || Source::from_system_call("uname");
        facts.insert_known(
            &machine,
            &kernel::VERSION,
            Version::parse(version).unwrap(),
            seen(),
        );
        facts.insert_known(&machine, &kernel::VENDOR, vendor.to_owned(), seen());
        let loaded = loaded
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>();
        facts.insert_known(
            &machine,
            &kernel::FILESYSTEMS,
            loaded,
            Source::from_file("/proc/filesystems"),
        );
        facts
    }

    #[test]
    fn errors_report_missing_drivers_and_tools() {
        let debian = kernel_facts("debian", "6.1.0-28-amd64", &["ext4"]);
        for filesystem in [
            NewFilesystem::Ext4,
            NewFilesystem::Xfs,
            NewFilesystem::Btrfs,
        ] {
            assert_eq!(
                require_creatable_and_mountable(filesystem, &debian),
                Ok(()),
                "tools that were not requested"
            );
        }
        let none = require_creatable_and_mountable(NewFilesystem::Zfs, &debian).unwrap_err();
        assert!(
            none.contains("/proc/filesystems") && none.contains("modprobe zfs"),
            "{none}"
        );
        assert_eq!(
            require_creatable_and_mountable(
                NewFilesystem::Zfs,
                &kernel_facts("debian", "6.1", &["ext4", "zfs"])
            ),
            Ok(())
        );

        let red_hat = kernel_facts("el9", "5.14.0-427.el9", &["xfs"]);
        let none = require_creatable_and_mountable(NewFilesystem::Btrfs, &red_hat).unwrap_err();
        assert!(none.contains("RHEL 9 has no btrfs"), "{none}");

        let mut bare = debian.clone();
        bare.insert(
            &Subject::host(),
            &host::XFSPROGS,
            Reading::absent("mkfs.xfs -V"),
        );
        let none = require_creatable_and_mountable(NewFilesystem::Xfs, &bare).unwrap_err();
        assert_eq!(none, "mkfs.xfs is not installed here: install xfsprogs.");
        bare.insert_known(
            &Subject::host(),
            &host::XFSPROGS,
            Version::parse("6.5").unwrap(),
            Source::Assumed,
        );
        crate::compat::derive_compat_facts(&mut bare);
        let old = kernel_facts("debian", "5.10.0-30-amd64", &["xfs"]);
        assert_eq!(
            require_creatable_and_mountable(NewFilesystem::Xfs, &bare),
            Ok(())
        );
        let mut too_new = old;
        too_new.insert_known(
            &Subject::host(),
            &host::XFSPROGS,
            Version::parse("6.5").unwrap(),
            Source::Assumed,
        );
        assert!(
            require_creatable_and_mountable(NewFilesystem::Xfs, &too_new).is_err(),
            "no feature is omitted yet"
        );
        crate::compat::derive_compat_facts(&mut too_new);
        assert_eq!(
            require_creatable_and_mountable(NewFilesystem::Xfs, &too_new),
            Ok(()),
            "features that the kernel lacks are omitted"
        );
    }
}

#[cfg(test)]
mod on_disk_features_tests {
    use super::Effect::{NoEffect, Refused, Unknown};
    use super::*;

    #[test]
    fn kernel_support_of_superblock_features() {
        for (fs, feature, kernel, vendor, expect, says) in [
            (
                "ext4",
                "orphan_file",
                "5.10",
                "mainline",
                NoEffect,
                "mounts the file system and ignores the feature",
            ),
            (
                "ext4",
                "metadata_csum_seed",
                "4.3",
                "mainline",
                Refused,
                "cannot mount the file system",
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
                "cannot mount the file system",
            ),
            (
                "ext4",
                "FEATURE_I18",
                "6.18",
                "mainline",
                Unknown,
                "is not in walwise's tables",
            ),
            (
                "ext4",
                "dirdata",
                "6.18",
                "mainline",
                Unknown,
                "is not in walwise's tables",
            ),
            (
                "xfs",
                "sparse_inodes",
                "4.1",
                "mainline",
                Refused,
                "cannot mount the file system",
            ),
            ("xfs", "inobtcnt", "5.4", "mainline", Refused, "read-only"),
            (
                "xfs",
                "metadir",
                "6.12",
                "mainline",
                Refused,
                "cannot mount the file system",
            ),
            ("xfs", "metadir", "6.13", "mainline", Effect::Ok, ""),
            (
                "xfs",
                "incompat_12",
                "6.18",
                "mainline",
                Unknown,
                "is not in walwise's tables",
            ),
            (
                "xfs",
                "ascii_ci",
                "6.12",
                "debian",
                Unknown,
                "is not in walwise's tables",
            ),
        ] {
            let ruling =
                kernel_support_of_feature(fs, feature, &Version::parse(kernel).unwrap(), vendor);
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

    #[test]
    fn e2fsck_support_depends_on_version() {
        for (feature, tool, expect, says) in [
            ("orphan_file", "1.47.0", Effect::Ok, ""),
            ("orphan_file", "1.46.5", Refused, "refuses to check"),
            ("metadata_csum", "1.42.9", Refused, "refuses to check"),
            ("has_journal", "1.42.9", Effect::Ok, ""),
            ("orphan_file", "?", Unknown, "1.47.0"),
            (
                "FEATURE_C7",
                "1.47.0",
                Unknown,
                "is not in walwise's tables",
            ),
        ] {
            let ruling = e2fsck_support_of_feature(feature, Version::parse(tool).as_ref());
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
