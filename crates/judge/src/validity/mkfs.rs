//! Features chosen when a file system is created: known to the tool, and mountable by the kernel.
//!
//! Choosing nothing is a choice too, because newer tools set features by default that older kernels
//! cannot mount.

use super::builder::family;
use super::feature::{Feature, FeatureKind, table};
use super::life::{backports, reached};
use super::{Effect, Ruling};
use crate::truth::Truth;
use crate::version::Version;

impl Feature {
    /// Whether a kernel mounts it; unknown where a vendor may have backported it.
    pub(super) fn mounted_by(&self, kernel: &Version, vendor: &str) -> Truth {
        let by_vendor = self
            .vendors
            .get(family(vendor))
            .is_some_and(|from| reached(from, kernel));
        if by_vendor || kernel >= &self.kernel {
            Truth::True
        } else if backports(kernel, vendor) {
            Truth::Unknown
        } else {
            Truth::False
        }
    }

    /// The version of the tool from which on it can be requested or omitted.
    fn told(&self) -> &Version {
        self.told.as_ref().unwrap_or(&self.tool)
    }

    /// The ruling of a kernel that does not know it.
    pub(super) fn unknown_to(&self, kernel: &Version) -> Ruling {
        let (effect, does) = match self.kind {
            FeatureKind::Compatible => (Effect::NoEffect, "mounts it and makes no use of it"),
            FeatureKind::ReadOnly => (Effect::Refused, "mounts it for reading only"),
            FeatureKind::Incompatible => (Effect::Refused, "cannot mount it"),
        };
        let then = match self.kind {
            FeatureKind::Compatible => "do",
            FeatureKind::ReadOnly => "write to it",
            FeatureKind::Incompatible => "can",
        };
        let because = format!("Kernel {kernel} {does}; {} and later {then}.", self.kernel);
        Ruling {
            effect,
            because,
            source: self.source.clone(),
        }
    }

    /// The same for a kernel that may know it.
    pub(super) fn may_be_known_to(&self, kernel: &Version) -> Ruling {
        Ruling::unknown(format!(
            "Linux {} and later {}; it is unknown whether the vendor carried that into {kernel}.",
            self.kernel,
            if self.is_needed_of_kernels() {
                "can mount it"
            } else {
                "make use of it"
            }
        ))
    }

    /// Whether a kernel that does not know it refuses the file system, or mounts it read-only.
    pub(super) fn is_needed_of_kernels(&self) -> bool {
        !matches!(self.kind, FeatureKind::Compatible)
    }

    /// Whether a kernel that does not know it can still read the file system.
    fn leaves_it_readable(&self) -> bool {
        matches!(self.kind, FeatureKind::Compatible | FeatureKind::ReadOnly)
    }

    /// The word that makes mkfs omit it, which is safe with every kernel: `^orphan_file`,
    /// `nrext64=0`.
    fn left_out(&self) -> String {
        if self.of == "xfs" {
            format!("{}=0", self.name)
        } else {
            format!("^{}", self.name)
        }
    }
}

/// Whether a feature can be chosen with this tool and mounted by this kernel of that vendor.
pub fn mkfs_feature(
    fs: &str,
    feature: &str,
    tool: Option<&Version>,
    kernel: Option<(&Version, &str)>,
) -> Ruling {
    let Some(found) = table()
        .chosen
        .iter()
        .find(|known| known.of == fs && known.name == feature)
    else {
        return Ruling::unknown(format!(
            "The table does not know the feature {feature} of {fs}."
        ));
    };
    let ruling = |effect, because: String| Ruling {
        effect,
        because,
        source: found.source.clone(),
    };
    if let Some(tool) = tool.filter(|tool| *tool < found.told()) {
        return ruling(
            Effect::Refused,
            format!(
                "The tools are {tool}; they take {feature} from {} on.",
                found.told()
            ),
        );
    }
    let mounted = kernel.map(|(kernel, vendor)| (kernel, found.mounted_by(kernel, vendor)));
    match (tool, mounted) {
        (_, Some((kernel, Truth::False))) => found.unknown_to(kernel),
        (None, _) => Ruling::unknown("The version of the tools is not known."),
        (_, None) => Ruling::unknown("The kernel's version is not known."),
        (_, Some((kernel, Truth::Unknown))) => found.may_be_known_to(kernel),
        (Some(tool), Some((_, Truth::True))) => match &found.advised {
            Some(advised) if tool < advised => ruling(
                Effect::Deprecated,
                format!("Use tools from {advised} on. {}", found.because),
            ),
            _ => ruling(Effect::Ok, String::new()),
        },
    }
}

/// The flag of a mkfs for this feature (mke2fs(8), mkfs.btrfs(8), mkfs.xfs(8)).
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

/// Features that the tool sets by default and that the kernel does not, or may not, know.
fn too_new<'t>(
    fs: &'t str,
    tool: &'t Version,
    kernel: &'t Version,
    vendor: &'t str,
) -> impl Iterator<Item = &'static Feature> + 't {
    let set = move |known: &&Feature| {
        known.of == fs && known.default.as_ref().is_some_and(|from| tool >= from)
    };
    table()
        .chosen
        .iter()
        .filter(set)
        .filter(move |known| known.mounted_by(kernel, vendor) != Truth::True)
}

/// The words that keep the tool from setting features unknown, or possibly unknown, to the kernel:
/// it could not mount the file system, or only read-only, or would not use a feature that an older
/// e2fsck refuses.
pub fn leave_out(fs: &str, tool: &Version, kernel: &Version, vendor: &str) -> Vec<String> {
    let told = too_new(fs, tool, kernel, vendor).filter(|known| tool >= known.told());
    told.map(Feature::left_out).collect()
}

/// Whether the kernel can mount a file system that the tool creates with these words and otherwise
/// by default; the error names the features that prevent it, or may.
pub fn mkfs_defaults(
    fs: &str,
    tool: &Version,
    kernel: &Version,
    vendor: &str,
    words: &[String],
) -> Ruling {
    let stands_against =
        |known: &&Feature| known.is_needed_of_kernels() && !words.contains(&known.left_out());
    let against: Vec<&Feature> = too_new(fs, tool, kernel, vendor)
        .filter(stands_against)
        .collect();
    let Some(first) = against.first() else {
        return Ruling::ok("");
    };
    let names: Vec<&str> = against.iter().map(|known| known.name.as_str()).collect();
    let may_be_carried_over = backports(kernel, vendor);
    let effect = if may_be_carried_over {
        Effect::Unknown
    } else {
        Effect::Refused
    };
    let only_read = against.iter().all(|known| known.leaves_it_readable());
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
    Ruling {
        effect,
        because,
        source: first.source.clone(),
    }
}

/// A feature of the table as it can be made, for tests against real tools.
#[derive(Clone, Debug)]
pub struct FeatureExample {
    pub name: &'static str,
    /// The arguments that make mkfs set it: `-O`, `fast_commit`.
    pub with: [String; 2],
    /// The arguments that make mkfs omit it.
    pub without: [String; 2],
    /// The version of the tool that accepts it.
    pub tool: &'static Version,
    /// Whether a kernel of the right number can still be built without it.
    pub by_build: bool,
    /// Other default features depend on it, so that it cannot be omitted alone.
    pub needed: bool,
}

/// The features of a file system.
pub fn features(fs: &str) -> Vec<FeatureExample> {
    let of = table().chosen.iter().filter(|known| known.of == fs);
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
            without: [flag, known.left_out()],
            tool: known.told(),
            by_build: known.by_build,
            needed: known.needed,
        })
    };
    of.filter_map(example).collect()
}
