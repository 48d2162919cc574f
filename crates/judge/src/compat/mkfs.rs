//! Features of a new file system: whether mkfs can set a feature and the kernel mounts the result.
//!
//! mkfs defaults are checked too, because newer tools set features that older kernels cannot mount.

use super::feature::{FeatureCompatibility, FileSystemFeature, feature_table};
use super::kernel_build_kind::vendor_without_cloud_suffix;
use super::support_timeline::{has_reached_release, may_contain_backports};
use super::{Effect, Support};
use crate::ternary::Ternary;
use crate::version::Version;

impl FileSystemFeature {
    /// Whether the kernel supports the feature; unknown if the vendor may have backported it.
    pub(super) fn is_supported_by_kernel(&self, kernel: &Version, vendor: &str) -> Ternary {
        let by_vendor = self
            .vendors
            .get(vendor_without_cloud_suffix(vendor))
            .is_some_and(|from| has_reached_release(from, kernel));
        if by_vendor || kernel >= &self.kernel {
            Ternary::True
        } else if may_contain_backports(kernel, vendor) {
            Ternary::Unknown
        } else {
            Ternary::False
        }
    }

    fn first_mkfs_version(&self) -> &Version {
        self.told.as_ref().unwrap_or(&self.tool)
    }

    pub(super) fn support_if_kernel_lacks_feature(&self, kernel: &Version) -> Support {
        let (effect, does, then) = match self.kind {
            FeatureCompatibility::Compatible => (
                Effect::NoEffect,
                "mounts the file system and ignores the feature",
                "use the feature",
            ),
            FeatureCompatibility::ReadOnly => (
                Effect::Refused,
                "mounts the file system read-only",
                "can write to it",
            ),
            FeatureCompatibility::Incompatible => {
                (Effect::Refused, "cannot mount the file system", "can")
            }
        };
        let because = format!("Kernel {kernel} {does}; {} and later {then}.", self.kernel);
        Support::new(effect, because, &self.source)
    }

    pub(super) fn unknown_backport_support(&self, kernel: &Version) -> Support {
        Support::unknown(format!(
            "Linux {} and later {}; it is unknown whether the vendor backported this to {kernel}.",
            self.kernel,
            if self.needs_kernel_support() {
                "can mount the file system"
            } else {
                "use the feature"
            }
        ))
    }

    /// Whether a kernel without the feature refuses the file system or mounts it read-only.
    pub(super) fn needs_kernel_support(&self) -> bool {
        !matches!(self.kind, FeatureCompatibility::Compatible)
    }

    fn is_readable_without_support(&self) -> bool {
        matches!(
            self.kind,
            FeatureCompatibility::Compatible | FeatureCompatibility::ReadOnly
        )
    }

    /// The word that makes mkfs omit the feature: `^orphan_file` for ext4, `nrext64=0` for XFS.
    fn omit_argument(&self) -> String {
        if self.of == "xfs" {
            format!("{}=0", self.name)
        } else {
            format!("^{}", self.name)
        }
    }
}

/// Whether mkfs of version `tool` can set the feature, and `kernel` (version and vendor) mounts the
/// result. `None` stands for an unknown version.
pub fn mkfs_feature_support(
    fs: &str,
    feature: &str,
    tool: Option<&Version>,
    kernel: Option<(&Version, &str)>,
) -> Support {
    let Some(found) = feature_table()
        .chosen
        .iter()
        .find(|known| known.of == fs && known.name == feature)
    else {
        return Support::unknown(format!(
            "The {fs} feature {feature} is not in walwise's tables."
        ));
    };
    let ruling = |effect, because: String| Support::new(effect, because, &found.source);
    if let Some(tool) = tool.filter(|tool| *tool < found.first_mkfs_version()) {
        return ruling(
            Effect::Refused,
            format!(
                "The version of the mkfs tools is {tool}; {feature} needs {} or later.",
                found.first_mkfs_version()
            ),
        );
    }
    let mounted =
        kernel.map(|(kernel, vendor)| (kernel, found.is_supported_by_kernel(kernel, vendor)));
    match (tool, mounted) {
        (_, Some((kernel, Ternary::False))) => found.support_if_kernel_lacks_feature(kernel),
        (None, _) => Support::unknown("The version of the mkfs tools is unknown."),
        (_, None) => Support::unknown("The kernel's version is unknown."),
        (_, Some((kernel, Ternary::Unknown))) => found.unknown_backport_support(kernel),
        (Some(tool), Some((_, Ternary::True))) => match &found.advised {
            Some(advised) if tool < advised => ruling(
                Effect::Deprecated,
                format!(
                    "Use version {advised} or later of the mkfs tools. {}",
                    found.because
                ),
            ),
            _ => ruling(Effect::Ok, String::new()),
        },
    }
}

/// The flag of mkfs for this feature (mke2fs(8), mkfs.btrfs(8), mkfs.xfs(8)); `None` for an
/// unlisted feature.
pub fn mkfs_flag(fs: &str, feature: &str) -> Option<&'static str> {
    let name = feature.split('=').next().unwrap_or(feature);
    match (fs, name) {
        ("ext4" | "btrfs", _) => Some("-O"),
        ("xfs", "nrext64" | "sparse" | "spinodes" | "maxpct" | "exchange") => Some("-i"),
        (
            "xfs",
            "reflink" | "crc" | "bigtime" | "inobtcount" | "finobt" | "rmapbt" | "autofsck",
        ) => Some("-m"),
        ("xfs", "parent" | "ftype") => Some("-n"),
        _ => None,
    }
}

fn too_new_default_features<'t>(
    fs: &'t str,
    tool: &'t Version,
    kernel: &'t Version,
    vendor: &'t str,
) -> impl Iterator<Item = &'static FileSystemFeature> + 't {
    let set = move |known: &&FileSystemFeature| {
        known.of == fs && known.default.as_ref().is_some_and(|from| tool >= from)
    };
    feature_table()
        .chosen
        .iter()
        .filter(set)
        .filter(move |known| known.is_supported_by_kernel(kernel, vendor) != Ternary::True)
}

/// Arguments that stop mkfs from setting features which the kernel may lack. Otherwise the kernel
/// may be unable to mount or write the file system, or an older e2fsck may refuse it.
pub fn mkfs_omit_arguments(
    fs: &str,
    tool: &Version,
    kernel: &Version,
    vendor: &str,
) -> Vec<String> {
    let told = too_new_default_features(fs, tool, kernel, vendor)
        .filter(|known| tool >= known.first_mkfs_version());
    told.map(FileSystemFeature::omit_argument).collect()
}

/// Whether the kernel mounts a file system made with mkfs defaults, except for features omitted in
/// `words`. The reason lists the features that prevent mounting.
pub fn mkfs_defaults_support(
    fs: &str,
    tool: &Version,
    kernel: &Version,
    vendor: &str,
    words: &[String],
) -> Support {
    let stands_against = |known: &&FileSystemFeature| {
        known.needs_kernel_support() && !words.contains(&known.omit_argument())
    };
    let against: Vec<&FileSystemFeature> = too_new_default_features(fs, tool, kernel, vendor)
        .filter(stands_against)
        .collect();
    let Some(first) = against.first() else {
        return Support::accepted_and_honoured("");
    };
    let names: Vec<&str> = against.iter().map(|known| known.name.as_str()).collect();
    let may_be_carried_over = may_contain_backports(kernel, vendor);
    let effect = if may_be_carried_over {
        Effect::Unknown
    } else {
        Effect::Refused
    };
    let only_read = against
        .iter()
        .all(|known| known.is_readable_without_support());
    let because = format!(
        "mkfs ({tool}) enables {} by default; kernel {kernel} {} {} such a file system.",
        names.join(", "),
        if may_be_carried_over {
            "may be unable to"
        } else {
            "cannot"
        },
        if only_read { "write to" } else { "mount" }
    );
    Support::new(effect, because, &first.source)
}

#[cfg(any(test, feature = "testing"))]
#[derive(Clone, Debug)]
pub struct MkfsFeatureTestCase {
    pub name: &'static str,
    pub with: [String; 2],
    pub without: [String; 2],
    pub tool: &'static Version,
    pub by_build: bool,
    pub needed: bool,
}

#[cfg(any(test, feature = "testing"))]
pub fn mkfs_feature_test_cases(fs: &str) -> Vec<MkfsFeatureTestCase> {
    let of = feature_table().chosen.iter().filter(|known| known.of == fs);
    let example = |known: &'static FileSystemFeature| {
        let flag = mkfs_flag(fs, &known.name)?.to_owned();
        let with = if fs == "xfs" {
            format!("{}=1", known.name)
        } else {
            known.name.clone()
        };
        Some(MkfsFeatureTestCase {
            name: &known.name,
            with: [flag.clone(), with],
            without: [flag, known.omit_argument()],
            tool: known.first_mkfs_version(),
            by_build: known.by_build,
            needed: known.needed,
        })
    };
    of.filter_map(example).collect()
}
