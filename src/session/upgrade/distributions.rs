//! Kernels and tools of each distribution release, from `rules/tables/distributions.toml`.
//!
//! The table holds only names and version numbers; the compatibility tables decide which features a
//! kernel version has.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::is_bare_version;
use crate::facts::ServerKind;
use crate::text;
use crate::text::suggest::nearest_word_hint;
use crate::toml_table::parse_ignoring_verification_stamps;
use crate::version::Version;
use walwise_model::text::JoinText as _;

pub const TABLE_TEXT: &str = include_str!("../../../rules/tables/distributions.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Distribution {
    names: Vec<String>,
    id: String,
    vendor: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DistributionRelease {
    of: Vec<String>,
    version: String,
    kernel: Vec<ShippedKernel>,
    pub(super) e2fsprogs: Option<String>,
    pub(super) xfsprogs: Option<String>,
    pub(super) btrfs_progs: Option<String>,
    /// Release series of the packaged server, such as `16` or `10.11`.
    #[serde(default)]
    pub(super) servers: BTreeMap<ServerKind, String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the table"))]
    source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShippedKernel {
    name: Option<String>,
    version: String,
    vendor: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DistributionTable {
    distribution: Vec<Distribution>,
    release: Vec<DistributionRelease>,
}

/// A table that fails to parse counts as empty; the test `distribution_table_is_valid` prevents
/// that.
fn distribution_table() -> &'static DistributionTable {
    static TABLE: LazyLock<DistributionTable> =
        LazyLock::new(|| parse_ignoring_verification_stamps(TABLE_TEXT).unwrap_or_default());
    &TABLE
}

#[derive(Debug)]
pub(super) struct DistributionChoice {
    distribution: &'static Distribution,
    /// VERSION_ID of os-release(5) after the upgrade; empty if the user gave no version.
    pub(super) version: String,
    /// The release's row of the table; `None` if the table lacks the release.
    pub(super) release: Option<&'static DistributionRelease>,
    kernel: String,
    given: String,
}

/// Parses a distribution with its release and optionally its kernel: `rhel10`, `debian 13`,
/// `sles15sp6`, `ol9-uek7`.
pub(super) fn parse_distribution_choice(given: &str) -> Result<DistributionChoice, String> {
    let written = given.trim().to_ascii_lowercase();
    let letters = written.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, rest) = written.split_at_checked(letters).unwrap_or_default();
    let Some(distribution) = distribution_table()
        .distribution
        .iter()
        .find(|one| one.names.iter().any(|own| own == name))
    else {
        let names = known_distribution_names;
        let help = nearest_word_hint(name, names());
        let help = help.unwrap_or_else(|| format!("one of: {}", names().join_with(", ")));
        return Err(format!(
            "unknown distribution `{}` for --os; {help}",
            text::display_safe(given.as_bytes())
        ));
    };
    let between = [' ', '-', '_'];
    let rest = between.iter().fold(rest.to_owned(), |rest, mark| {
        rest.replace(&format!("{mark}sp"), ".")
    });
    let rest = rest.trim_start_matches(between).replace("sp", ".");
    let kernel = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let version = rest.strip_suffix(kernel).unwrap_or_default();
    let version = version.trim_matches('.');
    Ok(DistributionChoice {
        distribution,
        version: version.to_owned(),
        release: find_release_row(distribution, version),
        kernel: kernel.trim_start_matches(between).to_owned(),
        given: text::display_safe(given.trim().as_bytes()),
    })
}

pub fn known_distribution_names() -> impl Iterator<Item = &'static str> {
    distribution_table()
        .distribution
        .iter()
        .flat_map(|one| &one.names)
        .map(String::as_str)
}

/// For each kernel of each release, a name that [`parse_distribution_choice`] takes, and the
/// versions. Newer releases of the host's own distribution come first.
pub(super) fn list_upgrade_choices(
    os_id: Option<&str>,
    os_version: Option<&str>,
) -> Vec<(String, String)> {
    let running = os_version.and_then(Version::parse);
    let distributions = distribution_table().distribution.iter();
    let rows = distributions.flat_map(|of| of.releases().map(move |release| (of, release)));
    let (mut next, others): (Vec<_>, Vec<_>) = rows.partition(|(distribution, row)| {
        os_id == Some(&distribution.id) && Version::parse(&row.version) > running
    });
    next.extend(others);
    next.into_iter()
        .flat_map(|(distribution, row)| row.kernel_choices(distribution))
        .collect()
}

/// The Red Hat vendor that ships this kernel version, such as `el10`. `None` if the current vendor
/// is not Red Hat or no release ships the version.
pub(super) fn red_hat_vendor_of_kernel(vendor: &str, kernel: &str) -> Option<&'static str> {
    let rows = distribution_table().release.iter();
    let of_red_hat = rows.filter(|row| row.of.iter().any(|of| of == "rhel"));
    let kernels = || of_red_hat.clone().flat_map(|row| &row.kernel);
    let own = kernels().any(|kernel| kernel.vendor.as_deref() == Some(vendor));
    let same = kernels().find(|known| is_same_series(&known.version, kernel));
    same.filter(|_| own)
        .and_then(|kernel| kernel.vendor.as_deref())
}

/// Compares the first two numbers of two versions.
fn is_same_series(one: &str, other: &str) -> bool {
    let numbers = |text: &str| Version::parse(text).map(|is| is.first_numbers::<2>());
    numbers(one) == numbers(other)
}

/// A minor release without a row, such as `9.4`, gets the row of its major release, `9`. A major
/// release gets the row of its only minor release.
fn find_release_row(
    of: &'static Distribution,
    version: &str,
) -> Option<&'static DistributionRelease> {
    let is_of = |version: &str, release: &str| {
        let rest = version.strip_prefix(release);
        !release.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let covering = of.releases().filter(|row| is_of(version, &row.version));
    covering.max_by_key(|row| row.version.len()).or_else(|| {
        let mut minor = of.releases().filter(|row| is_of(&row.version, version));
        minor.next().filter(|_| minor.next().is_none())
    })
}

impl Distribution {
    fn primary_name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    fn releases(&'static self) -> impl Iterator<Item = &'static DistributionRelease> {
        let is_of = |row: &&DistributionRelease| row.of.iter().any(|of| of == self.primary_name());
        distribution_table().release.iter().filter(is_of)
    }
}

impl DistributionRelease {
    fn kernel_choices(&self, of: &Distribution) -> impl Iterator<Item = (String, String)> {
        let name = of.primary_name();
        self.kernel.iter().map(move |kernel| {
            let own = kernel.name.iter().map(|own| format!("-{own}"));
            let tools = [
                ("Linux", Some(&kernel.version)),
                ("e2fsprogs", self.e2fsprogs.as_ref()),
                ("xfsprogs", self.xfsprogs.as_ref()),
            ];
            let versions = tools
                .into_iter()
                .filter_map(|(tool, version)| Some(format!("{tool} {}", version?)));
            (
                format!("{name}{}{}", self.version, own.collect::<String>()),
                versions.join_with(", "),
            )
        })
    }
}

impl DistributionChoice {
    pub(super) fn os_release_id(&self) -> &'static str {
        &self.distribution.id
    }

    /// Version and vendor of the only kernel that fits the user's choice. If several fit, the error
    /// lists them.
    pub(super) fn sole_kernel_and_vendor(
        &self,
    ) -> Result<(&'static str, Option<&'static str>), String> {
        let Some(release) = self.release else {
            return Err(self.unknown_release_error());
        };
        match &self.matching_kernels(release)[..] {
            [only] => Ok((&only.version, self.shipped_kernel_vendor(only))),
            _ => Err(self.kernel_choice_error(release)),
        }
    }

    /// `kernel` is a version or a full release string. `None` if the table has no vendor for it.
    /// Also `None` if several vendors fit a full release string, which may itself name its vendor.
    pub(super) fn vendor_of_requested_kernel(
        &self,
        kernel: &str,
    ) -> Result<Option<&'static str>, String> {
        let Some(release) = self.release else {
            let vendor = self.distribution.vendor.as_deref();
            return vendor.map(Some).ok_or_else(|| self.unknown_release_error());
        };
        let mut offered = self.matching_kernels(release);
        let is_same = |own: &&ShippedKernel| is_same_series(&own.version, kernel);
        if offered.iter().any(is_same) {
            offered.retain(is_same);
        }
        let vendors = offered.iter().map(|own| self.shipped_kernel_vendor(own));
        let mut vendors: Vec<Option<&str>> = vendors.collect();
        vendors.dedup();
        match &vendors[..] {
            [only] => Ok(*only),
            _ if is_bare_version(kernel) || vendors.is_empty() => {
                Err(self.kernel_choice_error(release))
            }
            _ => Ok(None),
        }
    }

    /// The kernel whose name equals the user's input, else all kernels whose names start with it.
    /// Empty input selects all kernels.
    fn matching_kernels(
        &self,
        release: &'static DistributionRelease,
    ) -> Vec<&'static ShippedKernel> {
        let fits = |kernel: &&ShippedKernel| {
            self.kernel.is_empty()
                || kernel
                    .name
                    .as_deref()
                    .is_some_and(|name| name.starts_with(self.kernel.as_str()))
        };
        let exact = |kernel: &&ShippedKernel| kernel.name.as_deref() == Some(self.kernel.as_str());
        let all = release.kernel.iter();
        all.clone()
            .find(exact)
            .map_or_else(|| all.filter(fits).collect(), |kernel| vec![kernel])
    }

    fn shipped_kernel_vendor(&self, kernel: &'static ShippedKernel) -> Option<&'static str> {
        kernel
            .vendor
            .as_deref()
            .or(self.distribution.vendor.as_deref())
    }

    fn kernel_choice_error(&self, release: &DistributionRelease) -> String {
        let name = format!("{}{}", self.distribution.primary_name(), release.version);
        let choice = |kernel: &ShippedKernel| {
            let own = kernel.name.as_deref()?;
            Some(if own == kernel.version {
                format!("{name}-{own}")
            } else {
                format!("{name}-{own} ({})", kernel.version)
            })
        };
        let all = release.kernel.iter().filter_map(choice).join_with(", ");
        if all.is_empty() {
            return format!(
                "{name} has only one kernel, which `{}` does not name",
                self.given
            );
        }
        format!("{name} comes with several kernels; specify one: {all}")
    }

    fn unknown_release_error(&self) -> String {
        let name = self.distribution.primary_name();
        let choices = |prefix: &str| {
            let releases = self.distribution.releases();
            releases
                .filter(|row| row.version.starts_with(prefix))
                .map(|row| format!("{name}{}", row.version))
                .join_with(", ")
        };
        let (version, given) = (&self.version, &self.given);
        let parts = choices(&format!("{version}."));
        if !parts.is_empty() && !version.is_empty() {
            return format!(
                "{name}{version} has a different kernel in each minor release; specify one of {parts}, or use --kernel"
            );
        }
        let all = choices("");
        if all.is_empty() {
            return format!("the kernel version of {given} is unknown; specify it with --kernel");
        }
        let vendor = self.distribution.vendor.is_some();
        let more = if vendor { ", or use --kernel" } else { "" };
        format!("unknown release `{given}`; known releases: {all}{more}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn distribution_table_is_valid() {
        let table: DistributionTable = parse_ignoring_verification_stamps(TABLE_TEXT).unwrap();
        let vendors = [
            "el7", "el8", "el9", "el10", "uek", "debian", "ubuntu", "sles", "amazon", "alibaba",
        ];
        let names: Vec<&String> = table
            .distribution
            .iter()
            .flat_map(|one| &one.names)
            .collect();
        let distinct: BTreeSet<&String> = names.iter().copied().collect();
        assert_eq!(distinct.len(), names.len());
        let mut seen = BTreeSet::new();
        for row in &table.release {
            let place = format!("{:?} {}", row.of, row.version);
            assert!(!row.source.is_empty() && !row.kernel.is_empty(), "{place}");
            for of in &row.of {
                let owner = table
                    .distribution
                    .iter()
                    .find(|one| one.names.first() == Some(of));
                let owner = owner.unwrap_or_else(|| panic!("{place}: {of} is no first name"));
                assert!(seen.insert((of, &row.version)), "{place} twice");
                for kernel in &row.kernel {
                    let vendor = kernel.vendor.as_ref().or(owner.vendor.as_ref());
                    assert!(
                        vendor.is_some_and(|vendor| vendors.contains(&vendor.as_str())),
                        "{place} {vendor:?}"
                    );
                }
            }
            let tools = [&row.e2fsprogs, &row.xfsprogs, &row.btrfs_progs]
                .into_iter()
                .flatten();
            for version in row.kernel.iter().map(|kernel| &kernel.version).chain(tools) {
                assert!(Version::parse(version).is_some(), "{place}: {version}");
            }
            let called: BTreeSet<&String> = row
                .kernel
                .iter()
                .filter_map(|kernel| kernel.name.as_ref())
                .collect();
            assert!(
                row.kernel.len() == 1 || called.len() == row.kernel.len(),
                "{place}: {called:?}"
            );
        }
    }

    #[test]
    fn every_release_and_kernel_parses_as_choice() {
        for distribution in &distribution_table().distribution {
            for release in distribution.releases() {
                for name in &distribution.names {
                    let whole = format!("{name}{}", release.version);
                    let alone = parse_distribution_choice(&whole).unwrap();
                    assert_eq!(
                        alone.sole_kernel_and_vendor().is_ok(),
                        release.kernel.len() == 1,
                        "{whole}"
                    );
                    for kernel in &release.kernel {
                        let Some(own) = &kernel.name else { continue };
                        let says = alone.sole_kernel_and_vendor().unwrap_err();
                        assert!(says.contains(&format!("-{own}")), "{says}");
                        let found = parse_distribution_choice(&format!("{whole}-{own}")).unwrap();
                        assert_eq!(
                            found.sole_kernel_and_vendor().unwrap().0,
                            kernel.version,
                            "{whole}-{own}"
                        );
                        assert_eq!(found.version, release.version);
                    }
                }
            }
        }
    }

    #[test]
    fn all_choices_parse_and_next_release_is_listed_first() {
        let all = list_upgrade_choices(Some("debian"), Some("12"));
        for (name, _) in &all {
            assert!(
                parse_distribution_choice(name)
                    .unwrap()
                    .sole_kernel_and_vendor()
                    .is_ok(),
                "{name}"
            );
        }
        let first = &all[0];
        assert_eq!(first.0, "debian13");
        assert!(
            first.1.starts_with("Linux 6.12, e2fsprogs 1.47"),
            "{first:?}"
        );
        assert_eq!(list_upgrade_choices(None, None).len(), all.len());
    }
}
