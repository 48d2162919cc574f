//! The next kernel, distribution and tools as assumptions.
//!
//! What a kernel makes of an option depends on whose build it is, so a bare version is taken for the next kernel of the same
//! vendor, and a distribution brings its own. The surprise: Red Hat's kernels have one number per major release, so there the
//! number says which release it is.

use crate::facts::catalog::{host as machine, kernel};
use crate::facts::{FactSet, Subject};
use crate::text;
use crate::text::suggest::did_you_mean;
use crate::version::Version;

/// What will be another.
#[derive(Clone, Debug, Default)]
pub struct Next {
    /// The kernel's version or release.
    pub kernel: Option<String>,
    /// The distribution, such as `rhel10`.
    pub os: Option<String>,
    /// Version of e2fsprogs.
    pub e2fsprogs: Option<String>,
    /// Version of xfsprogs.
    pub xfsprogs: Option<String>,
    /// Version of btrfs-progs.
    pub btrfs_progs: Option<String>,
}

/// Red Hat's kernels by major release: RHEL's release notes, *kernel version*.
const RED_HAT: [(&str, &str, &str); 4] =
    [("7", "3.10.0-1160", "el7"), ("8", "4.18.0", "el8"), ("9", "5.14.0", "el9"), ("10", "6.12.0", "el10")];

/// Distributions with the kernels they came with: name, version, kernel.
const KERNELS: [(&str, &str, &str); 7] = [
    ("debian", "11", "5.10"),
    ("debian", "12", "6.1"),
    ("debian", "13", "6.12"),
    ("ubuntu", "20.04", "5.4"),
    ("ubuntu", "22.04", "5.15"),
    ("ubuntu", "24.04", "6.8"),
    ("amzn", "2023", "6.1"),
];

/// Names of distributions as people write them, `ID` of os-release(5), and the vendor of their kernels; none where it
/// depends on the release.
const NAMES: [(&str, &str, Option<&str>); 15] = [
    ("rhel", "rhel", None),
    ("el", "rhel", None),
    ("centos", "centos", None),
    ("rocky", "rocky", None),
    ("alma", "almalinux", None),
    ("almalinux", "almalinux", None),
    ("debian", "debian", Some("debian")),
    ("ubuntu", "ubuntu", Some("ubuntu")),
    ("sles", "sles", Some("sles")),
    ("sled", "sled", Some("sles")),
    ("fedora", "fedora", Some("fedora")),
    ("amzn", "amzn", Some("amazon")),
    ("amazon", "amzn", Some("amazon")),
    ("opensuse", "opensuse-leap", Some("sles")),
    ("arch", "arch", Some("arch")),
];

/// A distribution.
struct Distribution {
    id: &'static str,
    version: String,
    vendor: Option<&'static str>,
    kernel: Option<&'static str>,
}

/// What will be another as `KEY=VALUE`; the error is a sentence.
pub fn assumptions(next: &Next, read: &FactSet) -> Result<Vec<String>, String> {
    let os = next.os.as_deref().map(distribution).transpose()?;
    let tools = [
        ("--e2fsprogs", machine::E2FSPROGS.name(), &next.e2fsprogs),
        ("--xfsprogs", machine::XFSPROGS.name(), &next.xfsprogs),
        ("--btrfs-progs", machine::BTRFSPROGS.name(), &next.btrfs_progs),
    ];
    let mut all = Vec::new();
    let mut say = |name: &str, value: &str| all.push(format!("{name}={value}"));
    let release = match (&next.kernel, &os) {
        (Some(kernel), _) => Some(version("--kernel", kernel)?),
        (None, Some(os)) => Some(os.kernel.ok_or_else(|| {
            let name = text::safe(next.os.as_deref().unwrap_or_default().as_bytes());
            format!("which kernel comes with {name} is not known here; name it with --kernel")
        })?),
        (None, None) => None,
    };
    if let Some(release) = release {
        say(kernel::RELEASE.name(), release);
        let backports =
            read.value(&Subject::host(), &kernel::VERSION).is_some_and(|running| running.backports());
        // A kernel that somebody built is what its number says.
        let running =
            read.value(&Subject::host(), &kernel::VENDOR).filter(|vendor| vendor != "other" || backports);
        let vendor = os.as_ref().and_then(|os| os.vendor).map(str::to_owned);
        let is_bare = release.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let same = running.filter(|_| is_bare).map(|vendor| successor(&vendor, release).to_owned());
        if let Some(vendor) = vendor.or(same) {
            say(kernel::VENDOR.name(), &vendor);
        }
    }
    if let Some(Distribution { id, version, .. }) = &os {
        say(machine::OS_ID.name(), id);
        if !version.is_empty() {
            say(machine::OS_VERSION.name(), version);
        }
    }
    for (option, name, given) in tools {
        if let Some(given) = given {
            say(name, version(option, given)?);
        }
    }
    Ok(all)
}

fn version<'v>(option: &str, given: &'v str) -> Result<&'v str, String> {
    match Version::parse(given) {
        Some(_) => Ok(given),
        None => {
            Err(format!("{option} is a version such as 6.12, and `{}` is none", text::safe(given.as_bytes())))
        }
    }
}

/// Whose kernel this is when it comes after one of this vendor.
fn successor<'v>(vendor: &'v str, release: &str) -> &'v str {
    let is_red_hat = RED_HAT.iter().any(|(.., known)| *known == vendor);
    let numbers =
        |release: &str| Version::parse(release).map(|version| (version.number(0), version.number(1)));
    let same = RED_HAT.iter().find(|(_, kernel, _)| numbers(kernel) == numbers(release));
    match same {
        Some((.., next)) if is_red_hat => next,
        _ => vendor,
    }
}

/// A distribution by its name with its release: `rhel10`, `debian 13`, `sles15sp6`.
fn distribution(given: &str) -> Result<Distribution, String> {
    let written = given.trim().to_ascii_lowercase();
    let letters = written.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, version) = written.split_at_checked(letters).unwrap_or_default();
    let Some((_, id, vendor)) = NAMES.iter().find(|(known, ..)| *known == name) else {
        let all: Vec<&str> = NAMES.iter().map(|(known, ..)| *known).collect();
        let help = did_you_mean(name, all.iter().copied());
        let help = help.unwrap_or_else(|| format!("one of: {}", all.join(", ")));
        return Err(format!("--os does not know `{}`; {help}", text::safe(given.as_bytes())));
    };
    let version = version.trim_start_matches([' ', '-', '_']).replace("sp", ".");
    let major = version.split('.').next().unwrap_or_default();
    if vendor.is_some() {
        let known = KERNELS.iter().find(|(of, release, _)| of == id && *release == version);
        let kernel = known.map(|(.., kernel)| *kernel);
        return Ok(Distribution { id, version, vendor: *vendor, kernel });
    }
    match RED_HAT.iter().find(|(release, ..)| *release == major) {
        Some((_, kernel, vendor)) => {
            Ok(Distribution { id, version, vendor: Some(*vendor), kernel: Some(*kernel) })
        }
        None => Err(format!(
            "--os wants a release behind the name, such as {name}10; those known are 7, 8, 9 and 10"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;

    fn told(kernel: Option<&str>, os: Option<&str>, running: &str) -> Result<String, String> {
        let mut read = FactSet::default();
        read.know(&Subject::host(), &kernel::VENDOR, running.to_owned(), Source::call("uname"));
        let next = Next { kernel: kernel.map(str::to_owned), os: os.map(str::to_owned), ..Next::default() };
        assumptions(&next, &read).map(|all| all.join(" "))
    }

    #[test]
    fn a_version_is_the_next_kernel_of_the_same_vendor() {
        for (kernel, running, expected) in [
            ("6.12", "debian", "kernel.release=6.12 kernel.vendor=debian"),
            ("6.12", "el9", "kernel.release=6.12 kernel.vendor=el10"),
            ("5.14.0", "el8", "kernel.release=5.14.0 kernel.vendor=el9"),
            ("6.6", "el8", "kernel.release=6.6 kernel.vendor=el8"),
            ("6.12", "uek", "kernel.release=6.12 kernel.vendor=uek"),
            ("6.12", "other", "kernel.release=6.12"),
            ("6.12.0-55.el10.x86_64", "el9", "kernel.release=6.12.0-55.el10.x86_64"),
        ] {
            assert_eq!(
                told(Some(kernel), None, running).as_deref(),
                Ok(expected),
                "{kernel} after {running}"
            );
        }
    }

    #[test]
    fn a_distribution_brings_its_kernel() {
        for (kernel, os, expected) in [
            (None, "rhel10", "kernel.release=6.12.0 kernel.vendor=el10 os.id=rhel os.version=10"),
            (None, "Rocky 9.4", "kernel.release=5.14.0 kernel.vendor=el9 os.id=rocky os.version=9.4"),
            (None, "debian-13", "kernel.release=6.12 kernel.vendor=debian os.id=debian os.version=13"),
            (Some("6.4"), "sles15sp6", "kernel.release=6.4 kernel.vendor=sles os.id=sles os.version=15.6"),
            (Some("7.0"), "fedora", "kernel.release=7.0 kernel.vendor=fedora os.id=fedora"),
            (
                Some("6.12.0-55.el10.x86_64"),
                "rhel10",
                "kernel.release=6.12.0-55.el10.x86_64 kernel.vendor=el10 os.id=rhel os.version=10",
            ),
        ] {
            assert_eq!(told(kernel, Some(os), "mainline").as_deref(), Ok(expected), "{os}");
        }
        for (kernel, os, says) in [
            (None, "debain13", "did you mean `debian`"),
            (None, "plan9", "one of: rhel"),
            (None, "rhel", "such as rhel10"),
            (None, "rhel11", "such as rhel10"),
            (None, "sles15.6", "--kernel"),
            (Some("new"), "rhel10", "--kernel is a version"),
        ] {
            let error = told(kernel, Some(os), "mainline").unwrap_err();
            assert!(error.contains(says), "{os}: {error}");
        }
    }

    /// Every kernel that stands in a table is a version, and every name is known once.
    #[test]
    fn the_tables_are_sound() {
        let kernels =
            RED_HAT.iter().map(|(_, kernel, _)| kernel).chain(KERNELS.iter().map(|(.., kernel)| kernel));
        assert!(kernels.into_iter().all(|kernel| Version::parse(kernel).is_some()));
        assert!(KERNELS.iter().all(|(of, ..)| NAMES.iter().any(|(_, id, _)| id == of)));
        let names: std::collections::BTreeSet<&str> = NAMES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names.len(), NAMES.len());
    }
}
