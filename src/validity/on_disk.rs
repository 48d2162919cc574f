//! Features of an existing file system, by their names in its superblock: whether a kernel mounts it, and e2fsck
//! accepts it.
//!
//! Features that can be requested on creation are in [`super::mkfs`]. The tool e2fsck must know even features that a
//! kernel can ignore: an older e2fsck refuses the whole file system, and the boot stops there.

use super::feature::{Feature, table};
use super::{Effect, Ruling};
use crate::truth::Truth;
use crate::version::Version;

/// The oldest e2fsprogs in a system of the last ten years: that of Red Hat 7.
const OLDEST_IN_USE: [u64; 3] = [1, 42, 9];

fn find(fs: &str, feature: &str) -> Option<&'static Feature> {
    let all = table().chosen.iter().chain(&table().present);
    all.into_iter().find(|known| known.of == fs && known.is_on_disk(feature))
}

fn not_listed(fs: &str, feature: &str) -> Ruling {
    Ruling::unknown(format!("The table does not know the feature {feature} of {fs}."))
}

/// The ruling of a kernel on a file system with this feature: `ext4` or `xfs`.
pub fn feature_on_disk(fs: &str, feature: &str, kernel: &Version, vendor: &str) -> Ruling {
    let Some(known) = find(fs, feature) else { return not_listed(fs, feature) };
    match known.mounted_by(kernel, vendor) {
        Truth::True => Ruling::ok(known.source.clone()),
        Truth::Unknown if known.is_needed_of_kernels() => known.may_be_known_to(kernel),
        Truth::Unknown | Truth::False => known.unknown_to(kernel),
    }
}

/// The ruling of this e2fsck on a feature of ext2, ext3 or ext4; without a version, of an unknown one.
pub fn feature_checked(feature: &str, tool: Option<&Version>) -> Ruling {
    let Some(known) = find("ext4", feature) else { return not_listed("ext4", feature) };
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
        None if [0, 1, 2].map(|at| known.tool.number(at)) <= OLDEST_IN_USE => Ruling::ok(source),
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
            ("ext4", "orphan_file", "5.10", "mainline", NoEffect, "mounts it and makes no use of it"),
            ("ext4", "metadata_csum_seed", "4.3", "mainline", Refused, "cannot mount it"),
            ("ext4", "metadata_csum", "3.16", "mainline", Refused, "for reading only"),
            ("ext4", "large_dir", "6.1", "mainline", Effect::Ok, ""),
            ("ext4", "orphan_file", "4.18", "el8", NoEffect, "makes no use"),
            ("ext4", "casefold", "4.18", "el8", Unknown, "carried"),
            ("ext4", "has_journal", "3.10", "el7", Effect::Ok, ""),
            ("ext4", "encrypt", "3.16", "mainline", Refused, "cannot mount it"),
            ("ext4", "FEATURE_I18", "6.18", "mainline", Unknown, "does not know the feature"),
            ("ext4", "dirdata", "6.18", "mainline", Unknown, "does not know the feature"),
            ("xfs", "sparse_inodes", "4.1", "mainline", Refused, "cannot mount it"),
            ("xfs", "inobtcnt", "5.4", "mainline", Refused, "for reading only"),
            ("xfs", "metadir", "6.12", "mainline", Refused, "cannot mount it"),
            ("xfs", "metadir", "6.13", "mainline", Effect::Ok, ""),
            ("xfs", "incompat_12", "6.18", "mainline", Unknown, "does not know the feature"),
            ("xfs", "ascii_ci", "6.12", "debian", Unknown, "does not know the feature"),
        ] {
            let ruling = feature_on_disk(fs, feature, &Version::parse(kernel).unwrap(), vendor);
            assert_eq!(ruling.effect, expect, "{fs} {feature} {kernel} {vendor}: {}", ruling.because);
            assert!(ruling.because.contains(says), "{fs} {feature} {kernel} {vendor}: {}", ruling.because);
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
            assert_eq!(ruling.effect, expect, "{feature} {tool}: {}", ruling.because);
            assert!(ruling.because.contains(says), "{feature} {tool}: {}", ruling.because);
        }
    }
}
