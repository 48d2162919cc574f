//! Assumptions for an upgrade of the kernel, the distribution or file system tools.
//!
//! A bare kernel version means the next kernel of the same vendor, because file system options
//! depend on the vendor's backports. Red Hat ships one kernel version per major release, so the
//! version identifies the release.

mod distributions;

use crate::facts::catalog::{cluster, host, kernel};
use crate::facts::{FactSet, ServerKind, Subject};
use crate::version::is_kernel_or_tool_release;
use crate::{collect, text};

pub use distributions::TABLE_TEXT;

/// Options that name new versions; doc comments become help texts.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ComponentVersions {
    /// The new kernel: its version, or its release as printed by `uname -r`.
    #[arg(long, value_name = "VERSION")]
    pub kernel: Option<String>,
    /// The new distribution, such as rhel10, debian13, ubuntu24.04, sles15.6, ol9-uek7 or
    /// amzn2-5.10. It sets the versions of the tools and, without --kernel, of the kernel.
    #[arg(long, value_name = "NAME")]
    pub os: Option<String>,
    /// New version of e2fsprogs.
    #[arg(long, value_name = "VERSION")]
    pub e2fsprogs: Option<String>,
    /// New version of xfsprogs.
    #[arg(long, value_name = "VERSION")]
    pub xfsprogs: Option<String>,
    /// New version of btrfs-progs.
    #[arg(long, value_name = "VERSION")]
    pub btrfs_progs: Option<String>,
}

impl ComponentVersions {
    /// Reads a kernel version, such as `6.12`, or a distribution, such as `rhel10`.
    pub fn from_kernel_or_distribution(name: &str) -> Self {
        let is_version = name.starts_with(|first: char| first.is_ascii_digit());
        let (kernel, os) = (
            is_version.then(|| name.to_owned()),
            (!is_version).then(|| name.to_owned()),
        );
        Self {
            kernel,
            os,
            ..Self::default()
        }
    }
}

/// An assumption `KEY=VALUE` for each fact that the upgrade sets. The error is a message for the
/// user.
pub fn upgrade_assumption_texts(
    next: &ComponentVersions,
    read: &FactSet,
) -> Result<Vec<String>, String> {
    let os = next
        .os
        .as_deref()
        .map(distributions::parse_distribution_choice)
        .transpose()?;
    let shipped = os.as_ref().and_then(|os| os.release);
    let tools = [
        (
            "--e2fsprogs",
            host::E2FSPROGS.name(),
            &next.e2fsprogs,
            shipped.map(|own| &own.e2fsprogs),
        ),
        (
            "--xfsprogs",
            host::XFSPROGS.name(),
            &next.xfsprogs,
            shipped.map(|own| &own.xfsprogs),
        ),
        (
            "--btrfs-progs",
            host::BTRFSPROGS.name(),
            &next.btrfs_progs,
            shipped.map(|own| &own.btrfs_progs),
        ),
    ];
    let mut all = Vec::new();
    let mut say = |name: &str, value: &str| all.push(format!("{name}={value}"));
    let (release, vendor) = match (&next.kernel, &os) {
        (Some(kernel), os) => {
            let release = require_version_option("--kernel", kernel)?;
            let vendor = os
                .as_ref()
                .map(|os| os.vendor_of_requested_kernel(release))
                .transpose()?
                .flatten();
            (Some(release), vendor)
        }
        (None, Some(os)) => {
            let (release, vendor) = os.sole_kernel_and_vendor()?;
            (Some(release), vendor)
        }
        (None, None) => (None, None),
    };
    if let Some(release) = release {
        say(kernel::RELEASE.name(), release);
        let backports = read
            .host_value(&kernel::VERSION)
            .is_some_and(|running| running.has_backports());
        // A self-built kernel has no vendor: its version number alone decides which features it
        // has.
        let running = read
            .host_value(&kernel::VENDOR)
            .filter(|vendor| vendor != "other" || backports);
        let is_bare = is_bare_version(release);
        // A host that runs a vendor's cloud kernel gets a cloud kernel again.
        let in_cloud = |vendor: &str| {
            let running = running.as_deref();
            running.filter(|now| now.strip_suffix("-cloud") == Some(vendor))
        };
        // A full release string may identify its vendor, such as `el10`.
        let told = Some(collect::kernel_vendor_of(release))
            .filter(|own| !["mainline", "other"].contains(own));
        let named = vendor.map(|vendor| told.or_else(|| in_cloud(vendor)).unwrap_or(vendor));
        let same = running.as_deref().map(|vendor| {
            distributions::red_hat_vendor_of_kernel(vendor, release).unwrap_or(vendor)
        });
        if let Some(vendor) = named.or(same.filter(|_| is_bare)) {
            say(kernel::VENDOR.name(), vendor);
        }
    }
    if let Some(os) = &os {
        say(host::OS_ID.name(), os.os_release_id());
        if !os.version.is_empty() {
            say(host::OS_VERSION.name(), &os.version);
        }
    }
    let servers = shipped.map(|own| &own.servers);
    for (kind, name) in [
        (ServerKind::Mysql, host::OS_MYSQL.name()),
        (ServerKind::Mariadb, host::OS_MARIADB.name()),
        (ServerKind::Postgres, host::OS_POSTGRESQL.name()),
    ] {
        let is_here = read
            .known_values_by_subject(&cluster::KIND)
            .into_iter()
            .any(|(_, own)| own == kind);
        if let Some(version) = servers.and_then(|own| own.get(&kind)).filter(|_| is_here) {
            say(name, version);
        }
    }
    for (option, name, given, shipped) in tools {
        match (given, shipped) {
            (Some(given), _) => say(name, require_version_option(option, given)?),
            // An upgrade does not install a tool that is missing today.
            (None, Some(Some(shipped)))
                if read.reading_by_name(&Subject::host(), name).is_known() =>
            {
                say(name, shipped);
            }
            (None, Some(Some(_) | None) | None) => {}
        }
    }
    Ok(all)
}

/// Lists the distributions that an upgrade can go to, each with its versions.
pub fn upgrade_choices(read: &FactSet) -> Vec<(String, String)> {
    let id = read.value(&Subject::host(), &host::OS_ID);
    let version = read.value(&Subject::host(), &host::OS_VERSION);
    distributions::list_upgrade_choices(id.as_deref(), version.as_deref())
}

/// Whether the release consists of digits and dots only, so that it names no vendor.
fn is_bare_version(release: &str) -> bool {
    let is_of_number = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    release.bytes().all(is_of_number)
}

fn require_version_option<'v>(option: &str, given: &'v str) -> Result<&'v str, String> {
    if is_kernel_or_tool_release(given) {
        return Ok(given);
    }
    let shown = text::display_safe(given.as_bytes());
    Err(format!(
        "{option} takes a version such as 6.12, or a full release string, not `{shown}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::version::Version;

    fn assumptions_text(
        kernel: Option<&str>,
        os: Option<&str>,
        running: &str,
    ) -> Result<String, String> {
        let mut read = FactSet::default();
        read.insert_known(
            &Subject::host(),
            &kernel::VENDOR,
            running.to_owned(),
            Source::from_system_call("uname"),
        );
        for tool in [&host::E2FSPROGS, &host::XFSPROGS, &host::BTRFSPROGS] {
            let old = Version::parse("1.0").unwrap();
            read.insert_known(
                &Subject::host(),
                tool,
                old,
                Source::from_system_call("--version"),
            );
        }
        let next = ComponentVersions {
            kernel: kernel.map(str::to_owned),
            os: os.map(str::to_owned),
            ..ComponentVersions::default()
        };
        upgrade_assumption_texts(&next, &read).map(|all| all.join(" "))
    }

    #[test]
    fn kernel_upgrade_keeps_vendor_family() {
        for (kernel, running, expected) in [
            ("6.12", "debian", "kernel.release=6.12 kernel.vendor=debian"),
            ("6.12", "el9", "kernel.release=6.12 kernel.vendor=el10"),
            ("5.14.0", "el8", "kernel.release=5.14.0 kernel.vendor=el9"),
            ("6.6", "el8", "kernel.release=6.6 kernel.vendor=el8"),
            ("6.12", "uek", "kernel.release=6.12 kernel.vendor=uek"),
            ("6.12", "other", "kernel.release=6.12"),
            (
                "6.12",
                "debian-cloud",
                "kernel.release=6.12 kernel.vendor=debian-cloud",
            ),
            (
                "6.12.48+deb13-cloud-amd64",
                "debian",
                "kernel.release=6.12.48+deb13-cloud-amd64",
            ),
            (
                "6.12.0-55.el10.x86_64",
                "el9",
                "kernel.release=6.12.0-55.el10.x86_64",
            ),
        ] {
            assert_eq!(
                assumptions_text(Some(kernel), None, running).as_deref(),
                Ok(expected),
                "{kernel} after {running}"
            );
        }
    }

    #[test]
    fn distribution_upgrade_assumes_its_kernel_and_tools() {
        for (kernel, os, expected) in [
            (
                None,
                "rhel10",
                "kernel.release=6.12.0 kernel.vendor=el10 os.id=rhel os.version=10 tool.e2fsprogs=1.47.1 \
                 tool.xfsprogs=6.16.0",
            ),
            (
                None,
                "Rocky 9.4",
                "kernel.release=5.14.0 kernel.vendor=el9 os.id=rocky os.version=9.4 tool.e2fsprogs=1.46.5 \
                 tool.xfsprogs=6.4.0",
            ),
            (
                None,
                "debian-13",
                "kernel.release=6.12 kernel.vendor=debian os.id=debian os.version=13 tool.e2fsprogs=1.47.2 \
                 tool.xfsprogs=6.13.0 tool.btrfs_progs=6.14",
            ),
            (
                None,
                "sles15sp6",
                "kernel.release=6.4.0 kernel.vendor=sles os.id=sles os.version=15.6",
            ),
            (
                None,
                "SLES 12-SP5",
                "kernel.release=4.12.14-122 kernel.vendor=sles os.id=sles os.version=12.5",
            ),
            (
                Some("6.4"),
                "sles15",
                "kernel.release=6.4 kernel.vendor=sles os.id=sles os.version=15",
            ),
            (
                None,
                "opensuse16",
                "kernel.release=6.12.0 kernel.vendor=sles os.id=opensuse-leap os.version=16",
            ),
            (
                None,
                "ubuntu26.04",
                "kernel.release=7.0 kernel.vendor=ubuntu os.id=ubuntu os.version=26.04 tool.e2fsprogs=1.47.2 \
                 tool.btrfs_progs=6.17.1",
            ),
            (
                None,
                "ol9-uek7",
                "kernel.release=5.15.0 kernel.vendor=uek os.id=ol os.version=9 tool.e2fsprogs=1.46.5",
            ),
            (
                None,
                "ol10-uek",
                "kernel.release=6.12.0 kernel.vendor=uek os.id=ol os.version=10 tool.e2fsprogs=1.47.1",
            ),
            (
                Some("5.14.0"),
                "ol9",
                "kernel.release=5.14.0 kernel.vendor=el9 os.id=ol os.version=9 tool.e2fsprogs=1.46.5",
            ),
            (
                Some("6.12.0-100.28.2.el10uek.x86_64"),
                "ol10",
                "kernel.release=6.12.0-100.28.2.el10uek.x86_64 os.id=ol os.version=10 tool.e2fsprogs=1.47.1",
            ),
            (
                None,
                "amzn2-5.10",
                "kernel.release=5.10 kernel.vendor=amazon os.id=amzn os.version=2 tool.e2fsprogs=1.42.9 \
                 tool.xfsprogs=5.0.0",
            ),
            (
                None,
                "alinux3",
                "kernel.release=5.10.134 kernel.vendor=alibaba os.id=alinux os.version=3",
            ),
            (
                Some("7.0"),
                "fedora",
                "kernel.release=7.0 kernel.vendor=fedora os.id=fedora",
            ),
            (
                Some("6.12.0-55.el10.x86_64"),
                "rhel10",
                "kernel.release=6.12.0-55.el10.x86_64 kernel.vendor=el10 os.id=rhel os.version=10 \
                 tool.e2fsprogs=1.47.1 tool.xfsprogs=6.16.0",
            ),
        ] {
            let expected = expected
                .replace("tool.e2fsprogs", host::E2FSPROGS.name())
                .replace("tool.xfsprogs", host::XFSPROGS.name())
                .replace("tool.btrfs_progs", host::BTRFSPROGS.name());
            assert_eq!(
                assumptions_text(kernel, Some(os), "mainline"),
                Ok(expected),
                "{os}"
            );
        }
        // A host with a cloud kernel gets a cloud kernel again, unless the full release string
        // identifies another vendor.
        for (kernel, running, vendor) in [
            (None, "debian-cloud", "debian-cloud"),
            (None, "ubuntu-cloud", "debian"),
            (Some("6.12.48+deb13-cloud-amd64"), "debian", "debian-cloud"),
            (Some("6.12.48+deb13-amd64"), "debian-cloud", "debian"),
        ] {
            let all = assumptions_text(kernel, Some("debian13"), running).unwrap();
            assert!(
                all.contains(&format!("kernel.vendor={vendor} ")),
                "{kernel:?} after {running}: {all}"
            );
        }
        for (kernel, os, says) in [
            (None, "debain13", "did you mean `debian`"),
            (None, "plan9", "one of: rhel"),
            (None, "rhel", "rhel10"),
            (None, "rhel11", "rhel10"),
            (Some("6.18"), "rhel11", "rhel10"),
            (None, "sles15", "sles15.6"),
            (None, "fedora42", "--kernel"),
            (None, "ol9", "ol9-rhck (5.14.0), ol9-uek7 (5.15.0)"),
            (None, "ol9-uek", "ol9-uek7 (5.15.0)"),
            (None, "ol9-zfs", "ol9-rhck"),
            (
                Some("6.12.0"),
                "ol10",
                "ol10-rhck (6.12.0), ol10-uek8 (6.12.0)",
            ),
            (None, "amzn2", "amzn2-4.14, amzn2-5.10"),
            (Some("new"), "rhel10", "--kernel takes a version"),
            (Some("6..12"), "debian13", "--kernel takes a version"),
        ] {
            let error = assumptions_text(kernel, Some(os), "mainline").unwrap_err();
            assert!(error.contains(says), "{os}: {error}");
        }
    }
}
