//! Features to choose when creating a file system: known to the tool and mountable by the kernel.
//!
//! Defaults count too: newer tools set features that older kernels cannot mount.

use super::builder::vendor_family;
use super::feature::{Feature, FeatureKind, feature_table};
use super::support_range::{backports, is_reached};
use super::{Effect, Support};
use crate::ternary::Ternary;
use crate::version::Version;

impl Feature {
    /// Unknown if a vendor may have backported it.
    pub(super) fn is_mounted_by(&self, kernel: &Version, vendor: &str) -> Ternary {
        let by_vendor = self
            .vendors
            .get(vendor_family(vendor))
            .is_some_and(|from| is_reached(from, kernel));
        if by_vendor || kernel >= &self.kernel {
            Ternary::True
        } else if backports(kernel, vendor) {
            Ternary::Unknown
        } else {
            Ternary::False
        }
    }

    /// The version of the tool from which on it can be set or omitted.
    fn option_version(&self) -> &Version {
        self.told.as_ref().unwrap_or(&self.tool)
    }

    /// For a kernel that does not know the feature.
    pub(super) fn unsupported_by(&self, kernel: &Version) -> Support {
        let (effect, does) = match self.kind {
            FeatureKind::Compatible => (Effect::NoEffect, "mounts it and ignores the feature"),
            FeatureKind::ReadOnly => (Effect::Refused, "mounts it read-only"),
            FeatureKind::Incompatible => (Effect::Refused, "cannot mount it"),
        };
        let then = match self.kind {
            FeatureKind::Compatible => "use it",
            FeatureKind::ReadOnly => "write to it",
            FeatureKind::Incompatible => "can",
        };
        let because = format!("Kernel {kernel} {does}; {} and later {then}.", self.kernel);
        Support {
            effect,
            because,
            source: self.source.clone(),
        }
    }

    /// For a kernel that may know the feature.
    pub(super) fn maybe_supported_by(&self, kernel: &Version) -> Support {
        Support::unknown(format!(
            "Linux {} and later {}; it is unknown whether the vendor backported that to {kernel}.",
            self.kernel,
            if self.needs_kernel_support() {
                "can mount it"
            } else {
                "use it"
            }
        ))
    }

    /// Whether a kernel that does not know it refuses the file system, or mounts it read-only.
    pub(super) fn needs_kernel_support(&self) -> bool {
        !matches!(self.kind, FeatureKind::Compatible)
    }

    /// Whether a kernel that does not know it can still read the file system.
    fn is_readable_without(&self) -> bool {
        matches!(self.kind, FeatureKind::Compatible | FeatureKind::ReadOnly)
    }

    /// The word that makes mkfs omit it, which is safe with every kernel: `^orphan_file`,
    /// `nrext64=0`.
    fn omit_argument(&self) -> String {
        if self.of == "xfs" {
            format!("{}=0", self.name)
        } else {
            format!("^{}", self.name)
        }
    }
}

/// Whether this tool can set a feature and this kernel of that vendor can mount it.
pub fn mkfs_feature(
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
            "The table does not know the feature {feature} of {fs}."
        ));
    };
    let ruling = |effect, because: String| Support {
        effect,
        because,
        source: found.source.clone(),
    };
    if let Some(tool) = tool.filter(|tool| *tool < found.option_version()) {
        return ruling(
            Effect::Refused,
            format!(
                "The tools are {tool}; {feature} needs {} or later.",
                found.option_version()
            ),
        );
    }
    let mounted = kernel.map(|(kernel, vendor)| (kernel, found.is_mounted_by(kernel, vendor)));
    match (tool, mounted) {
        (_, Some((kernel, Ternary::False))) => found.unsupported_by(kernel),
        (None, _) => Support::unknown("The version of the tools is unknown."),
        (_, None) => Support::unknown("The kernel's version is unknown."),
        (_, Some((kernel, Ternary::Unknown))) => found.maybe_supported_by(kernel),
        (Some(tool), Some((_, Ternary::True))) => match &found.advised {
            Some(advised) if tool < advised => ruling(
                Effect::Deprecated,
                format!("Use tools from {advised} on. {}", found.because),
            ),
            _ => ruling(Effect::Ok, String::new()),
        },
    }
}

/// The flag of mkfs for this feature (mke2fs(8), mkfs.btrfs(8), mkfs.xfs(8)).
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

/// Features that the tool sets by default and that the kernel may not know.
fn too_new_features<'t>(
    fs: &'t str,
    tool: &'t Version,
    kernel: &'t Version,
    vendor: &'t str,
) -> impl Iterator<Item = &'static Feature> + 't {
    let set = move |known: &&Feature| {
        known.of == fs && known.default.as_ref().is_some_and(|from| tool >= from)
    };
    feature_table()
        .chosen
        .iter()
        .filter(set)
        .filter(move |known| known.is_mounted_by(kernel, vendor) != Ternary::True)
}

/// Words that keep the tool from setting features the kernel may not know: it could not mount or
/// write the file system, or an older e2fsck would refuse it.
pub fn words_to_omit(fs: &str, tool: &Version, kernel: &Version, vendor: &str) -> Vec<String> {
    let told =
        too_new_features(fs, tool, kernel, vendor).filter(|known| tool >= known.option_version());
    told.map(Feature::omit_argument).collect()
}

/// Whether the kernel can mount a file system that the tool creates with these words and otherwise
/// defaults. The reason names the features that prevent it.
pub fn mkfs_defaults(
    fs: &str,
    tool: &Version,
    kernel: &Version,
    vendor: &str,
    words: &[String],
) -> Support {
    let stands_against =
        |known: &&Feature| known.needs_kernel_support() && !words.contains(&known.omit_argument());
    let against: Vec<&Feature> = too_new_features(fs, tool, kernel, vendor)
        .filter(stands_against)
        .collect();
    let Some(first) = against.first() else {
        return Support::ok("");
    };
    let names: Vec<&str> = against.iter().map(|known| known.name.as_str()).collect();
    let may_be_carried_over = backports(kernel, vendor);
    let effect = if may_be_carried_over {
        Effect::Unknown
    } else {
        Effect::Refused
    };
    let only_read = against.iter().all(|known| known.is_readable_without());
    let because = format!(
        "The tools ({tool}) set {} by default, which kernel {kernel} {} {}.",
        names.join(", "),
        if may_be_carried_over {
            "may be unable to"
        } else {
            "cannot"
        },
        if only_read { "write to" } else { "mount" }
    );
    Support {
        effect,
        because,
        source: first.source.clone(),
    }
}

/// A feature of the table with mkfs arguments, for tests against real tools.
#[derive(Clone, Debug)]
pub struct FeatureExample {
    pub name: &'static str,
    /// Arguments that set it: `-O`, `fast_commit`.
    pub with: [String; 2],
    /// Arguments that omit it.
    pub without: [String; 2],
    /// The first version of the tool that accepts it.
    pub tool: &'static Version,
    /// Whether a newer kernel can still be built without it.
    pub by_build: bool,
    /// Whether other default features depend on it, so that it cannot be omitted alone.
    pub needed: bool,
}

pub fn feature_examples(fs: &str) -> Vec<FeatureExample> {
    let of = feature_table().chosen.iter().filter(|known| known.of == fs);
    let example = |known: &'static Feature| {
        let flag = mkfs_flag(fs, &known.name)?.to_owned();
        let with = if fs == "xfs" {
            format!("{}=1", known.name)
        } else {
            known.name.clone()
        };
        Some(FeatureExample {
            name: &known.name,
            with: [flag.clone(), with],
            without: [flag, known.omit_argument()],
            tool: known.option_version(),
            by_build: known.by_build,
            needed: known.needed,
        })
    };
    of.filter_map(example).collect()
}
