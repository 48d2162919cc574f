//! The builder of a kernel, which hints at the kernel's built-in features.
//!
//! Distributions build most features, while custom and cloud kernels may lack some. A builder is
//! assumed to keep, in the next kernel, every feature that the running kernel uses.

use crate::version::Version;

const CLOUD: &str = "-cloud";

/// Values of the fact `kernel.vendor` for distributions that build for all hardware.
const DISTRIBUTIONS: [&str; 23] = [
    "alibaba",
    "amazon",
    "anolis",
    "arch",
    "azurelinux",
    "debian",
    "el10",
    "el6",
    "el7",
    "el8",
    "el9",
    "elrepo",
    "fedora",
    "kylin",
    "openeuler",
    "opensuse",
    "proxmox",
    "sles",
    "tencent",
    "ubuntu",
    "uek",
    "uos",
    "virtuozzo",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelBuildKind {
    Distribution,
    Cloud,
    Custom,
}

/// An unlisted vendor counts as a custom builder.
pub fn build_kind_of_vendor(vendor: &str) -> KernelBuildKind {
    if DISTRIBUTIONS.contains(&vendor) {
        KernelBuildKind::Distribution
    } else if DISTRIBUTIONS.contains(&vendor_without_cloud_suffix(vendor)) {
        KernelBuildKind::Cloud
    } else {
        KernelBuildKind::Custom
    }
}

/// The vendor without the suffix `-cloud`: `debian` for `debian-cloud`.
pub fn vendor_without_cloud_suffix(vendor: &str) -> &str {
    vendor.strip_suffix(CLOUD).unwrap_or(vendor)
}

/// Values of `kernel.vendor` for kernels whose release names no vendor.
const UNNAMED_VENDORS: [&str; 2] = ["mainline", "other"];

pub fn is_unnamed_vendor(vendor: &str) -> bool {
    UNNAMED_VENDORS.contains(&vendor)
}

/// Whether both kernels come from the same custom builder, who is assumed to keep every feature in
/// use. False for kernels of distributions.
pub fn is_same_custom_builder(now: (&Version, &str), then: (&Version, &str)) -> bool {
    let ((now, by), (then, next_by)) = (now, then);
    match build_kind_of_vendor(next_by) {
        KernelBuildKind::Distribution | KernelBuildKind::Cloud => false,
        KernelBuildKind::Custom if !is_unnamed_vendor(next_by) => by == next_by,
        // A release without a tail, such as `6.19`, counts as the next kernel of the same builder.
        KernelBuildKind::Custom => {
            is_unnamed_vendor(by)
                && (then.vendor_tail().is_empty()
                    || vendor_tail_without_digits(now) == vendor_tail_without_digits(then))
        }
    }
}

/// The text after the kernel's version number, without digits, so that build numbers do not matter.
fn vendor_tail_without_digits(kernel: &Version) -> String {
    kernel
        .vendor_tail()
        .chars()
        .filter(|c| !c.is_ascii_digit())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendors_are_classified_by_build_kind() {
        for (vendor, is) in [
            ("debian", KernelBuildKind::Distribution),
            ("el9", KernelBuildKind::Distribution),
            ("debian-cloud", KernelBuildKind::Cloud),
            ("ubuntu-cloud", KernelBuildKind::Cloud),
            ("other", KernelBuildKind::Custom),
            ("mainline", KernelBuildKind::Custom),
            ("wsl", KernelBuildKind::Custom),
            ("raspberry", KernelBuildKind::Custom),
            ("wsl-cloud", KernelBuildKind::Custom),
            ("unheard", KernelBuildKind::Custom),
            ("", KernelBuildKind::Custom),
        ] {
            assert_eq!(build_kind_of_vendor(vendor), is, "{vendor}");
        }
    }

    #[test]
    fn same_custom_builder_needs_same_vendor_and_tail() {
        for (now, by, then, next_by, is) in [
            ("6.18.1-fc-v6", "other", "6.18.44-fc-v445", "other", true),
            ("6.18.1-fc-v6", "other", "6.18.44-mine", "other", false),
            ("6.18.1-fc-v6", "other", "6.19", "mainline", true),
            ("6.18.1", "mainline", "6.19", "mainline", true),
            ("6.18.1", "mainline", "6.18.44-fc-v445", "other", false),
            (
                "6.1.0-28-amd64",
                "debian",
                "6.18.44-fc-v445",
                "other",
                false,
            ),
            ("6.1.0-28-amd64", "debian", "6.18", "mainline", false),
            (
                "5.15.90.1-microsoft-standard-WSL2",
                "wsl",
                "6.6.87.2-microsoft-standard-WSL2",
                "wsl",
                true,
            ),
            (
                "6.18.1",
                "mainline",
                "6.6.87.2-microsoft-standard-WSL2",
                "wsl",
                false,
            ),
            ("6.1.0-28-amd64", "debian", "6.12", "debian", false),
        ] {
            let version = |text: &str| Version::parse(text).unwrap();
            assert_eq!(
                is_same_custom_builder((&version(now), by), (&version(then), next_by)),
                is,
                "{now} {then}"
            );
        }
    }

    #[test]
    fn built_in_support_depends_on_build_kind() {
        use crate::compat::Effect::{Ok, Refused, Unknown};
        use crate::compat::{KernelPart, kernel_part_support};

        let version = |text: &str| Version::parse(text).unwrap();
        for (name, kernel, vendor, now, again) in [
            ("vfat", "6.18.44", "other", Unknown, Ok),
            ("vfat", "6.6.87.2", "wsl", Unknown, Ok),
            ("ext4", "6.12", "mainline", Unknown, Ok),
            ("nfs4", "6.6.20", "raspberry", Unknown, Ok),
            ("configfs", "6.12", "unheard", Unknown, Ok),
            ("f2fs", "6.12", "other", Unknown, Ok),
            ("reiserfs", "6.13", "other", Refused, Refused),
            ("tmpfs", "6.18.44", "other", Ok, Ok),
            ("none", "6.18.44", "wsl", Ok, Ok),
            ("strangefs", "6.12", "other", Unknown, Unknown),
            ("ext4", "8.1", "other", Unknown, Unknown),
            ("vfat", "6.12", "debian-cloud", Ok, Ok),
            ("btrfs", "6.12", "debian-cloud", Unknown, Ok),
            ("gfs2", "6.12", "debian-cloud", Unknown, Ok),
            ("gfs2", "6.12", "debian", Ok, Ok),
            ("reiserfs", "6.13", "debian-cloud", Refused, Refused),
            ("nilfs2", "6.1", "ubuntu-cloud", Unknown, Ok),
        ] {
            let (kernel, case) = (version(kernel), format!("{name} of {kernel} of {vendor}"));
            assert_eq!(
                kernel_part_support(KernelPart::FileSystem, name, &kernel, vendor, false).effect,
                now,
                "{case}"
            );
            if build_kind_of_vendor(vendor) == KernelBuildKind::Custom {
                assert_eq!(
                    kernel_part_support(KernelPart::FileSystem, name, &kernel, vendor, true).effect,
                    again,
                    "{case}, again"
                );
            }
        }
        for (of, name, kernel, vendor, now) in [
            (KernelPart::Md, "raid1", "6.18.44", "other", Unknown),
            (KernelPart::Md, "raid1", "6.12", "ubuntu-cloud", Ok),
            (KernelPart::Md, "multipath", "6.8", "wsl", Refused),
            (KernelPart::MdMetadata, "1.2", "6.18.44", "other", Ok),
            (KernelPart::DeviceMapper, "multipath", "6.6", "wsl", Unknown),
            (
                KernelPart::DeviceMapper,
                "linear",
                "6.12",
                "debian-cloud",
                Ok,
            ),
            (
                KernelPart::DeviceMapper,
                "vdo",
                "6.12",
                "debian-cloud",
                Unknown,
            ),
            (
                KernelPart::DeviceMapper,
                "vdo",
                "6.1",
                "debian-cloud",
                Refused,
            ),
        ] {
            let kernel = version(kernel);
            assert_eq!(
                kernel_part_support(of, name, &kernel, vendor, false).effect,
                now,
                "{name} of {kernel} of {vendor}"
            );
        }
        let kernel = version("6.18.44");
        assert_eq!(
            kernel_part_support(KernelPart::Md, "raid1", &kernel, "other", true).effect,
            Ok
        );
        for (vendor, is) in [
            ("debian", Refused),
            ("debian-cloud", Refused),
            ("other", Unknown),
        ] {
            assert_eq!(
                kernel_part_support(
                    KernelPart::Format,
                    "md linear",
                    &version("6.12.48"),
                    vendor,
                    false
                )
                .effect,
                is,
                "{vendor}"
            );
        }
        assert_eq!(
            kernel_part_support(
                KernelPart::Format,
                "md linear",
                &version("6.6"),
                "wsl",
                false
            )
            .effect,
            Unknown
        );
    }
}
