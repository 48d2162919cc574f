//! Kernels that each OpenZFS release supports (`rules/tables/zfs.toml`).
//!
//! If OpenZFS has no module for the next kernel, the next boot has no pool. Modules shipped with a
//! distribution's kernel are patched, so their version number does not decide.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::toml_table::parse_ignoring_verification_stamps;
use crate::version::Version;

pub(super) const TEXT: &str = include_str!("../../rules/tables/zfs.toml");

/// Texts in a module's version that mark a distribution's build.
const DISTRIBUTION_BUILDS: [&str; 2] = ["ubuntu", "pve"];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenzfsReleaseTable {
    openzfs: Vec<ReleaseSeries>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseSeries {
    releases: BTreeMap<Version, Version>,
    #[expect(dead_code, reason = "for readers of the table")]
    source: String,
}

/// Each OpenZFS release with the newest kernel that it supports. The list is empty if the
/// compiled-in table does not parse; a test checks that it parses.
fn zfs_releases_with_newest_kernels() -> impl Iterator<Item = (&'static Version, &'static Version)>
{
    static TABLE: LazyLock<OpenzfsReleaseTable> =
        LazyLock::new(|| parse_ignoring_verification_stamps(TEXT).unwrap_or_default());
    TABLE.openzfs.iter().flat_map(|series| &series.releases)
}

fn release_numbers(version: &Version) -> [u64; 3] {
    version.first_numbers()
}

/// Major and minor number: OpenZFS states its newest supported kernel to this precision.
fn kernel_major_and_minor(kernel: &Version) -> [u64; 2] {
    kernel.first_numbers()
}

/// The error is the reason why support is unknown.
pub fn openzfs_supports_kernel(module: &Version, kernel: &Version) -> Result<bool, String> {
    if let Some(own) = DISTRIBUTION_BUILDS
        .iter()
        .find(|own| module.vendor_tail().contains(**own))
    {
        return Err(format!(
            "{own} patches OpenZFS for its own kernels, so the OpenZFS version is not conclusive"
        ));
    }
    let same_series = |release: &Version| release.first_numbers::<2>() == module.first_numbers();
    let until = zfs_releases_with_newest_kernels().filter(|(release, _)| {
        same_series(release) && release_numbers(release) <= release_numbers(module)
    });
    let Some((release, newest)) = until.max_by_key(|(release, _)| release_numbers(release)) else {
        return Err(format!(
            "OpenZFS {} is not in walwise's tables",
            module.numeric_part()
        ));
    };
    if kernel_major_and_minor(kernel) <= kernel_major_and_minor(newest) {
        // A kernel with backports gets no answer, because its vendor can change the interfaces that
        // a module needs without a new kernel version.
        return if kernel.has_backports() {
            Err(format!(
                "kernel {} has backported changes, so its version number is not conclusive",
                kernel.numeric_part()
            ))
        } else {
            Ok(true)
        };
    }
    if release_numbers(release) == release_numbers(module) {
        Ok(false)
    } else {
        Err(format!(
            "OpenZFS {} is later than {release}, the last release of that series in walwise's tables",
            module.numeric_part()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_kernel_supported(module: &str, kernel: &str) -> Option<bool> {
        openzfs_supports_kernel(
            &Version::parse(module).unwrap(),
            &Version::parse(kernel).unwrap(),
        )
        .ok()
    }

    #[test]
    fn later_openzfs_releases_support_no_fewer_kernels() {
        assert!(parse_ignoring_verification_stamps::<OpenzfsReleaseTable>(TEXT).is_ok());
        let mut rows: Vec<(&Version, &Version)> = zfs_releases_with_newest_kernels().collect();
        rows.sort_by_key(|(release, _)| release_numbers(release));
        assert!(rows.len() > 10);
        for pair in rows.windows(2) {
            let [(before, older), (after, newer)] = pair else {
                unreachable!()
            };
            assert!(
                release_numbers(before) < release_numbers(after),
                "{after} stands twice"
            );
            let same = kernel_major_and_minor(before) == kernel_major_and_minor(after);
            // Within one series of OpenZFS, a later release never supports fewer kernels.
            assert!(
                !same || kernel_major_and_minor(older) <= kernel_major_and_minor(newer),
                "{after} knows less than {before}"
            );
        }
    }

    #[test]
    fn openzfs_support_by_module_and_kernel() {
        for (module, kernel, expected) in [
            ("2.1.11-1", "6.1.0-28-amd64", Some(true)),
            ("2.1.11-1", "6.2.16", Some(true)),
            ("2.1.11-1", "6.12.0", Some(false)),
            ("2.2.7-1", "6.12.43", Some(true)),
            ("2.2.7", "6.13", Some(false)),
            ("2.3.2-2", "6.12", Some(true)),
            ("2.1.10", "6.3", Some(false)),
            ("2.2.2-1", "6.7", Some(false)),
            ("2.3.9-1", "7.2.1", Some(true)),
            ("2.3.7", "6.19", Some(true)),
            ("2.3.7", "7.0", None),
            ("2.2.11", "6.18", Some(false)),
            ("2.1.99", "6.5.1", Some(true)),
            ("2.1.99", "6.7", Some(true)),
            ("2.1.99", "6.8", None),
            ("0.8.6", "5.4", None),
            ("2.2.2-0ubuntu9.2", "6.8.0-45-generic", None),
            ("2.2.6-pve1", "6.8.12-2-pve", None),
        ] {
            assert_eq!(
                is_kernel_supported(module, kernel),
                expected,
                "{module} on {kernel}"
            );
        }
        let el = |kernel: &str| Version::parse(kernel).unwrap().with_backports(true);
        let module = Version::parse("2.1.4").unwrap();
        assert!(
            openzfs_supports_kernel(&module, &el("5.14.0-503.el9")).is_err(),
            "its number is older than it is"
        );
        assert_eq!(
            openzfs_supports_kernel(&module, &el("6.12.0-55.el10")),
            Ok(false)
        );
    }
}
