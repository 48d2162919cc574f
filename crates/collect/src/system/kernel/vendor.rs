//! The vendor of a kernel by its release string, and whether that vendor backports features. With
//! backports, the version number does not show which features are missing.
//!
//! Stable kernels with a packager's tail (Debian, Amazon, Fedora, Arch) have the features of their
//! version number; enterprise kernels have more. An unknown tail that looks like an RPM's counts as
//! backporting: if that is wrong, answers are unknown instead of false.

use crate::text::is_decimal;
use crate::text_table::rows;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vendor {
    pub name: &'static str,
    pub backports: bool,
}

/// Base versions of SUSE's enterprise kernels. Kernels with a SUSE tail and another base are
/// openSUSE's rolling ones.
const SUSE_BASES: &[&str] = &[
    "3.0.",
    "3.12.",
    "4.4.",
    "4.12.",
    "5.3.",
    "5.14.",
    "6.4.",
    "6.12.0-16",
];

/// The vendors of `vendors.txt`, each with the substrings of its releases.
fn vendors() -> impl Iterator<Item = (Vendor, &'static str)> {
    rows(include_str!("vendors.txt")).map(|[name, backports, marks]| {
        let backports = backports != "no";
        (Vendor { name, backports }, marks)
    })
}

/// The rows of `flavours.txt`: a vendor with a flavour or architecture.
fn flavours() -> impl Iterator<Item = [&'static str; 2]> {
    rows(include_str!("flavours.txt"))
}

/// The part of a release after the version: `-28-amd64` of `6.1.0-28-amd64`.
fn release_tail(release: &str) -> &str {
    release.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// `build` is the text of /proc/version, or empty if unknown.
pub fn identify_vendor(release: &str, build: &str) -> Vendor {
    let tail = release_tail(release);
    let has_mark = |marks: &str| marks.split_whitespace().any(|mark| tail.contains(mark));
    if let Some((vendor, _)) = vendors().find(|(_, marks)| has_mark(marks)) {
        return vendor;
    }
    let is = |name, backports| Vendor { name, backports };
    if tail.ends_with("-default")
        || ["-150", "-160", "-lp15"]
            .iter()
            .any(|start| tail.starts_with(start))
    {
        let enterprise = SUSE_BASES.iter().any(|base| release.starts_with(base));
        return is(if enterprise { "sles" } else { "opensuse" }, enterprise);
    }
    // If there is a build string, it decides: users' own builds may keep a distribution's release
    // name.
    if build.contains("-Ubuntu ") || (build.is_empty() && is_ubuntu_release(release)) {
        let is_for_all = flavours()
            .any(|[of, flavour]| of == "ubuntu" && tail.ends_with(&format!("-{flavour}")));
        return is(if is_for_all { "ubuntu" } else { "ubuntu-cloud" }, false);
    }
    if debian_upstream_version(build).is_some() || (build.is_empty() && is_debian_release(release))
    {
        let is_for_cloud = tail.contains("-cloud-");
        return is(
            if is_for_cloud {
                "debian-cloud"
            } else {
                "debian"
            },
            false,
        );
    }
    if tail.is_empty() || tail.starts_with("-rc") && !tail.contains('.') {
        return is("mainline", false);
    }
    let architectures = [".x86_64", ".aarch64", ".ppc64le", ".s390x"];
    is("other", architectures.iter().any(|end| tail.ends_with(end)))
}

/// Whether a release is Ubuntu's, such as `6.8.0-1012-azure`: the third number is always 0, and a
/// counter follows. Ubuntu's mainline builds have a date or a longer counter there.
fn is_ubuntu_release(release: &str) -> bool {
    let [version, counter, flavour] = release.splitn(3, '-').collect::<Vec<_>>()[..] else {
        return false;
    };
    let [major, minor, "0"] = version.split('.').collect::<Vec<_>>()[..] else {
        return false;
    };
    [major, minor, counter]
        .into_iter()
        .all(is_canonical_decimal)
        && counter.len() <= 4
        && flavours().any(|[of, known]| of.starts_with("ubuntu") && known == flavour)
}

/// Whether a release is Debian's: `6.1.0-28-amd64`, `6.12.57+deb13-cloud-amd64`, `6.10.6+bpo-amd64`
/// or `5.10.0-0.deb10.28-amd64`.
fn is_debian_release(release: &str) -> bool {
    let tail = release_tail(release);
    let version = release.strip_suffix(tail).unwrap_or_default();
    let is_full = version.split('.').count() == 3 && version.split('.').all(is_canonical_decimal);
    let Some((mark, kind)) = tail.get(1..).and_then(|rest| rest.split_once('-')) else {
        return false;
    };
    let of_release =
        |word: &str| word == "bpo" || word.strip_prefix("deb").is_some_and(is_canonical_decimal);
    let is_marked = if tail.starts_with('+') {
        of_release(mark)
    } else {
        let old = mark
            .strip_prefix("0.")
            .and_then(|rest| rest.split_once('.'));
        let is_old = |(word, counter): (&str, &str)| {
            of_release(word) && counter.split('.').all(is_canonical_decimal)
        };
        is_canonical_decimal(mark) || old.is_some_and(is_old)
    };
    let kinds = ["cloud-", "rt-"];
    let architecture = kinds
        .into_iter()
        .find_map(|of| kind.strip_prefix(of))
        .unwrap_or(kind);
    is_full
        && tail.starts_with(['-', '+'])
        && is_marked
        && flavours().any(|row| row == ["debian", architecture])
}

/// Whether a word is a decimal number without leading zeros.
fn is_canonical_decimal(text: &str) -> bool {
    is_decimal(text) && (text == "0" || !text.starts_with('0'))
}

/// True for an unknown vendor, so that its features count as unknown.
pub fn may_backport(name: &str) -> bool {
    vendors()
        .find(|(vendor, _)| vendor.name == name)
        .is_none_or(|(vendor, _)| vendor.backports)
}

/// The stable level in Debian's build string: `6.1.140` in `… Debian 6.1.140-1 (2025-05-22)`.
pub fn debian_upstream_version(build: &str) -> Option<String> {
    let mut words = build
        .split_whitespace()
        .skip_while(|word| *word != "Debian")
        .skip(1);
    let package = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let level = package.split(['-', '+', '~']).next()?;
    (level.split('.').count() >= 3).then(|| level.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text_table::check_rows;

    #[test]
    fn identifies_vendor_and_debian_upstream_version() {
        const UBUNTU: &str = "gcc (Ubuntu 11.4.0-1ubuntu1~22.04) #129-Ubuntu SMP";
        const DEBIAN: &str = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.140-1 (2025-05-22)";
        for (release, build, name, backports) in [
            ("3.10.0-1160.el7.x86_64", "", "el7", true),
            ("4.18.0-553.el8_10.x86_64", "", "el8", true),
            ("5.14.0-427.13.1.el9_4.x86_64", "", "el9", true),
            ("6.12.0-55.9.1.el10_0.x86_64", "", "el10", true),
            ("5.15.0-200.131.27.el8uek.x86_64", "", "uek", true),
            ("6.1.112-1.el8.elrepo.x86_64", "", "elrepo", false),
            ("6.1.102-111.182.amzn2023.x86_64", "", "amazon", false),
            ("5.10.134-16.1.al8.x86_64", "", "alibaba", true),
            ("5.10.0-136.12.0.86.oe2203sp1.x86_64", "", "openeuler", true),
            ("4.12.14-122.37-default", "", "sles", true),
            ("5.14.21-150500.55.19-default", "", "sles", true),
            ("5.14.21-150500.33.11-azure", "", "sles", true),
            ("6.4.0-150600.21-default", "", "sles", true),
            ("6.12.0-160000.5-default", "", "sles", true),
            ("6.9.1-1-default", "", "opensuse", false),
            ("6.1.0-37-amd64", DEBIAN, "debian", false),
            ("5.15.0-119-generic", UBUNTU, "ubuntu", false),
            ("6.8.0-1012-azure", UBUNTU, "ubuntu-cloud", false),
            ("6.1.0-28-cloud-amd64", DEBIAN, "debian-cloud", false),
            // Without a build string, the release decides.
            ("6.1.0-28-amd64", "", "debian", false),
            ("6.12.48+deb13-amd64", "", "debian", false),
            ("6.12.57+deb13-cloud-amd64", "", "debian-cloud", false),
            ("6.1.0-28-cloud-arm64", "", "debian-cloud", false),
            ("6.12.57+deb13-rt-amd64", "", "debian", false),
            ("6.10.6+bpo-amd64", "", "debian", false),
            ("5.10.0-0.deb10.28-amd64", "", "debian", false),
            ("5.10.0-0.bpo.9-amd64", "", "debian", false),
            ("5.15.0-119-generic", "", "ubuntu", false),
            ("6.8.0-31-generic-64k", "", "ubuntu", false),
            ("6.8.0-1021-aws", "", "ubuntu-cloud", false),
            ("5.4.0-1103-kvm", "", "ubuntu-cloud", false),
            ("6.8.0-1012-raspi", "", "ubuntu-cloud", false),
            ("6.12.4-1-liquorix-amd64", "", "other", false),
            ("6.12-1-liquorix-amd64", "", "other", false),
            ("6.6.8-060608-generic", "", "other", false),
            ("6.8.0-76060800daily20240311-generic", "", "other", false),
            ("6.12.13-amd64", "", "other", false),
            ("6.1.0-28-mine-amd64", "", "other", false),
            ("6.1.0-028-amd64", "", "other", false),
            ("6.1-28-amd64", "", "other", false),
            ("6.12.48+mine-amd64", "", "other", false),
            (
                "6.1.0-28-amd64",
                "somebody@somewhere #3 SMP",
                "other",
                false,
            ),
            (
                "5.15.0-119-generic",
                "somebody@somewhere #3 SMP",
                "other",
                false,
            ),
            ("+-amd64", "", "other", false),
            ("6.8.9-300.fc40.x86_64", "", "fedora", false),
            ("6.8.12-1-pve", "", "proxmox", false),
            (
                "6.18.44",
                "gcc (Ubuntu 11.4.0-1ubuntu1~22.04) #1 SMP",
                "mainline",
                false,
            ),
            ("6.18.0-rc3", "", "mainline", false),
            ("6.18.44-fc-v657", "", "other", false),
            ("4.19.90-2107.6.0.unheard.x86_64", "", "other", true),
        ] {
            assert_eq!(
                identify_vendor(release, build),
                Vendor { name, backports },
                "{release}"
            );
        }
        assert_eq!(debian_upstream_version(DEBIAN).as_deref(), Some("6.1.140"));
        assert_eq!(
            debian_upstream_version("gcc (Debian 12.2.0-14) 12.2.0, #1 SMP Debian 6.1.140-1")
                .as_deref(),
            Some("6.1.140")
        );
    }

    #[test]
    fn tables_of_vendors_are_complete() {
        check_rows::<3>(include_str!("vendors.txt"));
        check_rows::<2>(include_str!("flavours.txt"));
        assert_eq!((vendors().count(), flavours().count()), (27, 40));
        assert!(vendors().all(|(vendor, _)| vendor.backports == may_backport(vendor.name)));
        assert!(may_backport("sles") && may_backport("other"));
    }

    proptest! {
        #[test]
        fn unknown_rpm_release_counts_as_backporting(release: String, build: String, tail in "[a-z0-9._-]{0,12}") {
            identify_vendor(&release, &build);
            debian_upstream_version(&build);
            let vendor = identify_vendor(&format!("4.19.90-1{tail}.x86_64"), "");
            let known = vendors().any(|(known, marks)| known == vendor && !marks.is_empty());
            prop_assert!(vendor.backports || known || vendor.name == "opensuse", "{tail}: {vendor:?}");
        }
    }
}
