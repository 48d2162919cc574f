//! On-disk features. The next kernel must support them to mount a file system, and the next e2fsck
//! must support them to check it.
//!
//! A feature is judged by its name in the superblock. Features that were not read matter only on a
//! downgrade, because later kernels and tools support all earlier features. The exception is XFS,
//! because support for its version 4 was removed.

use super::KernelChange;
use super::layers::is_other_distribution_release;
use crate::model::upgrade::UpgradeItem;
use walwise_judge::compat::{self, DiskFormat, KernelPart, Support};
use walwise_judge::rules::Level;
use walwise_model::facts::catalog::{boot, host, mount};
use walwise_model::facts::{FactSet, Scope, Subject};
use walwise_model::version::Version;

/// File systems whose features walwise does not read.
const UNREADABLE_FEATURES: [&str; 3] = ["btrfs", "f2fs", "bcachefs"];

pub fn filesystem_feature_items(kernels: &KernelChange<'_>) -> Vec<UpgradeItem> {
    let facts = kernels.supposed;
    let next = NextKernelAndE2fsck::new(kernels);
    let mut items = Vec::new();
    for mounted in facts.subjects_of_scope(Scope::Mount) {
        if let Some(fstype) = facts.value(mounted, &mount::FSTYPE) {
            items.extend(next.mounted_filesystem_items(mounted, &fstype));
        }
    }
    for line in facts.subjects_of_scope(Scope::Boot) {
        if facts.applicable_subject(line, Scope::Mount).is_none()
            && let Some(fstype) = facts.value(line, &boot::FSTYPE)
        {
            items.extend(next.unread_features_item(line, &fstype));
        }
    }
    items
}

enum NextE2fsckVersion {
    /// Exactly this version; `None` if the version is unknown.
    Known(Option<Version>),
    /// This version or a later one; `None` if the present version is unknown.
    AtLeast(Option<Version>),
    /// The assumed system has an unknown version of e2fsck.
    Unknown,
}

struct NextKernelAndE2fsck<'f> {
    facts: &'f FactSet,
    /// The next kernel and its vendor; `None` if unknown or unchanged.
    kernel: Option<&'f (Version, String)>,
    same_builder: bool,
    /// True if the next kernel is older than the running one, or the versions cannot be compared.
    may_be_older: bool,
    checker: NextE2fsckVersion,
}

impl<'f> NextKernelAndE2fsck<'f> {
    fn new(kernels: &'f KernelChange<'f>) -> Self {
        let may_be_older = match (&kernels.now, &kernels.then) {
            (Some((now, _)), Some((then, _))) => then < now,
            (None, _) | (_, None) => true,
        };
        Self {
            facts: kernels.supposed,
            kernel: kernels.then.as_ref().filter(|_| !kernels.is_unchanged),
            same_builder: kernels.has_same_builder,
            may_be_older,
            checker: next_e2fsck_version(kernels.real, kernels.supposed),
        }
    }

    fn mounted_filesystem_items(&self, mounted: &Subject, fstype: &str) -> Vec<UpgradeItem> {
        let (fs, features) = match fstype {
            "ext2" | "ext3" | "ext4" => ("ext4", self.facts.value(mounted, &mount::EXT4_FEATURES)),
            "xfs" => ("xfs", self.facts.value(mounted, &mount::XFS_FEATURES)),
            other => (other, None),
        };
        let Some(features) = features else {
            let unread = self.unread_features_item(mounted, fstype);
            return unread.into_iter().collect();
        };
        let is_checked = self.is_checked_at_boot(mounted);
        let mut items = Vec::new();
        for feature in features {
            if let Some((version, vendor)) = self.kernel {
                let ruling = compat::kernel_support_of_feature(fs, &feature, version, vendor);
                items.extend(unsupported_or_unknown_feature_item(
                    mounted,
                    &feature,
                    "the new kernel supports",
                    ruling,
                ));
            }
            if fs == "ext4" && is_checked {
                items.extend(unsupported_or_unknown_feature_item(
                    mounted,
                    &feature,
                    "the new e2fsck supports",
                    self.e2fsck_feature_support(&feature),
                ));
            }
        }
        items
    }

    /// True if the boot checks the file system: the root, and any file system with a boot line
    /// whose pass number is not 0 (fstab(5)). An unknown pass number counts as a check.
    fn is_checked_at_boot(&self, mounted: &Subject) -> bool {
        let has_pass = |line: &Subject| {
            let fields = self.facts.value(line, &boot::DUMP_AND_PASS);
            fields.is_none_or(|fields| {
                fields
                    .split_whitespace()
                    .nth(1)
                    .is_some_and(|pass| pass != "0")
            })
        };
        let of_it = |line: &&Subject| {
            self.facts.applicable_subject(line, Scope::Mount).as_ref() == Some(mounted)
        };
        mounted.name() == "/"
            || self
                .facts
                .subjects_of_scope(Scope::Boot)
                .filter(of_it)
                .any(has_pass)
    }

    /// If the version of the installed e2fsck is unknown, the feature counts as supported.
    fn e2fsck_feature_support(&self, feature: &str) -> Support {
        match &self.checker {
            NextE2fsckVersion::Known(None) | NextE2fsckVersion::AtLeast(None) => {
                Support::accepted_and_honoured("")
            }
            NextE2fsckVersion::Known(Some(tool)) => {
                compat::e2fsck_support_of_feature(feature, Some(tool))
            }
            NextE2fsckVersion::AtLeast(Some(tool)) => {
                let now = compat::e2fsck_support_of_feature(feature, Some(tool));
                if now.effect.is_refused() {
                    compat::e2fsck_support_of_feature(feature, None)
                } else {
                    now
                }
            }
            NextE2fsckVersion::Unknown => compat::e2fsck_support_of_feature(feature, None),
        }
    }

    fn unread_features_item(&self, subject: &Subject, fstype: &str) -> Option<UpgradeItem> {
        let (version, vendor) = self.kernel?;
        // Another item reports a refused file system type.
        if compat::kernel_part_support(KernelPart::FileSystem, fstype, version, vendor, false)
            .effect
            .is_refused()
        {
            return None;
        }
        let open = |what: String| {
            let level = boot_failure_level(self.facts, subject);
            UpgradeItem::new_undecided(subject, level, what)
        };
        let v4 = compat::kernel_part_support(
            KernelPart::Format,
            DiskFormat::XfsV4.as_str(),
            version,
            vendor,
            self.same_builder,
        );
        if fstype == "xfs" && (v4.effect.is_refused() || v4.effect.is_unknown()) {
            let what = format!(
                "it is unknown whether this is {}",
                DiskFormat::XfsV4.describe()
            );
            return Some(open(what).with_support(v4));
        }
        let has_features =
            fstype == "xfs" || fstype.starts_with("ext") || UNREADABLE_FEATURES.contains(&fstype);
        (self.may_be_older && has_features).then(|| {
            open("the feature flags of the file system could not be read".to_owned())
                .with_reason("An older kernel may not support every feature of the file system.")
        })
    }
}

fn boot_failure_level(facts: &FactSet, subject: &Subject) -> Level {
    if subject.scope() == Scope::Boot {
        super::severity::boot_line_severity(facts, subject)
    } else {
        Level::Critical
    }
}

fn next_e2fsck_version(real: &FactSet, supposed: &FactSet) -> NextE2fsckVersion {
    let value = |facts: &FactSet| facts.host_value(&host::E2FSPROGS);
    let then = value(supposed);
    if supposed.is_assumed(&Subject::host(), host::E2FSPROGS.id()) || then != value(real) {
        return match then {
            Some(tool) => NextE2fsckVersion::Known(Some(tool)),
            None => NextE2fsckVersion::Unknown,
        };
    }
    let id = |facts: &FactSet| facts.host_value(&host::OS_ID);
    let release = |facts: &FactSet| Version::parse(&facts.host_value(&host::OS_VERSION)?);
    let later = id(real) == id(supposed) && release(real) <= release(supposed);
    match (is_other_distribution_release(real, supposed), later) {
        (false, _) => NextE2fsckVersion::Known(then),
        (true, true) => NextE2fsckVersion::AtLeast(then),
        (true, false) => NextE2fsckVersion::Unknown,
    }
}

/// `does` is a subject with its verb, such as `the new kernel supports`.
fn unsupported_or_unknown_feature_item(
    mounted: &Subject,
    feature: &str,
    does: &str,
    ruling: Support,
) -> Option<UpgradeItem> {
    UpgradeItem::from_support(
        mounted,
        format!("the file system has the feature {feature}"),
        format!("it is unknown whether {does} the feature {feature}"),
        ruling,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::upgrade::BootOutcome;
    use walwise_model::facts::Source;
    use walwise_model::facts::catalog::kernel;

    const HERE: Source = Source::Assumed;

    /// ID and VERSION_ID of os-release, release and vendor of the kernel, version of e2fsprogs.
    type HostVersions<'m> = (&'m str, &'m str, &'m str, &'m str, &'m str);

    const DEBIAN_11: HostVersions = ("debian", "11", "5.10.0", "debian", "1.46.2");
    const DEBIAN_12: HostVersions = ("debian", "12", "6.1.0", "debian", "1.47.0");
    const DEBIAN_13: HostVersions = ("debian", "13", "6.12.0", "debian", "1.47.2");
    const SLES_15: HostVersions = ("sles", "15.6", "6.4.0", "sles", "");

    fn host_facts(of: HostVersions, fstype: &str, features: Option<&str>) -> FactSet {
        let (id, release, kernel_release, vendor, e2fsprogs) = of;
        let (mut facts, host, mounted) = (FactSet::default(), Subject::host(), Subject::mount("/"));
        facts.insert_known(&host, &host::OS_ID, id.to_owned(), HERE);
        facts.insert_known(&host, &host::OS_VERSION, release.to_owned(), HERE);
        facts.insert_known(&host, &kernel::RELEASE, kernel_release.to_owned(), HERE);
        facts.insert_known(&host, &kernel::VENDOR, vendor.to_owned(), HERE);
        let version = |text: &str| {
            Version::parse(text).map(|version| version.with_backports(vendor == "sles"))
        };
        facts.insert_known(
            &host,
            &kernel::VERSION,
            version(kernel_release).unwrap(),
            HERE,
        );
        if let Some(tool) = version(e2fsprogs) {
            facts.insert_known(&host, &host::E2FSPROGS, tool, HERE);
        }
        facts.insert_known(&mounted, &mount::FSTYPE, fstype.to_owned(), HERE);
        if let Some(features) = features {
            let key = if fstype == "xfs" {
                &mount::XFS_FEATURES
            } else {
                &mount::EXT4_FEATURES
            };
            facts.insert_known(
                &mounted,
                key,
                features.split(' ').map(str::to_owned).collect(),
                HERE,
            );
        }
        facts
    }

    fn outcome_and_item_texts(
        from: HostVersions,
        to: HostVersions,
        fstype: &str,
        features: Option<&str>,
    ) -> (BootOutcome, String) {
        let real = host_facts(from, fstype, features);
        let supposed = host_facts(to, fstype, features);
        let found = filesystem_feature_items(&KernelChange::new(&real, &supposed));
        let answer = found
            .iter()
            .filter_map(|item| item.answer)
            .max()
            .unwrap_or(BootOutcome::Works);
        let words: Vec<String> = found
            .iter()
            .map(|item| format!("{} {}", item.what, item.because))
            .collect();
        (answer, words.join("\n"))
    }

    #[test]
    fn feature_outcome_follows_next_kernel_and_e2fsck() {
        use BootOutcome::{CannotBeTold, Fails, Works};
        const MADE: &str =
            "has_journal ext_attr orphan_file extent 64bit metadata_csum_seed metadata_csum";
        for (from, to, fstype, features, answer, says) in [
            (DEBIAN_12, DEBIAN_13, "ext4", Some(MADE), Works, ""),
            (
                DEBIAN_12,
                DEBIAN_11,
                "ext4",
                Some(MADE),
                Fails,
                "refuses to check",
            ),
            (
                DEBIAN_12,
                DEBIAN_12,
                "ext4",
                Some("FEATURE_I18"),
                CannotBeTold,
                "e2fsck supports",
            ),
            (
                DEBIAN_12,
                DEBIAN_13,
                "ext4",
                Some("dirdata"),
                CannotBeTold,
                "kernel supports the feature dirdata",
            ),
            (DEBIAN_12, DEBIAN_13, "ext4", None, Works, ""),
            (
                DEBIAN_12,
                DEBIAN_11,
                "ext3",
                None,
                CannotBeTold,
                "could not be read",
            ),
            (
                DEBIAN_12,
                SLES_15,
                "ext4",
                Some(MADE),
                CannotBeTold,
                "version of e2fsprogs after the upgrade is unknown",
            ),
            (SLES_15, DEBIAN_12, "ext4", Some(MADE), Works, ""),
            (
                DEBIAN_13,
                DEBIAN_12,
                "xfs",
                Some("v5 crc exchange"),
                Fails,
                "exchange",
            ),
            (
                DEBIAN_12,
                DEBIAN_13,
                "xfs",
                Some("v5 crc incompat_15"),
                CannotBeTold,
                "incompat_15",
            ),
            (
                DEBIAN_12,
                DEBIAN_13,
                "xfs",
                Some("v5 crc sparse_inodes inobtcnt nrext64"),
                Works,
                "",
            ),
            (
                DEBIAN_13,
                DEBIAN_12,
                "btrfs",
                None,
                CannotBeTold,
                "could not be read",
            ),
            (DEBIAN_12, DEBIAN_13, "btrfs", None, Works, ""),
            (DEBIAN_13, DEBIAN_12, "tmpfs", None, Works, ""),
        ] {
            let (found, words) = outcome_and_item_texts(from, to, fstype, features);
            let case = format!("{} to {} {} with {fstype} {features:?}", from.0, to.0, to.1);
            assert_eq!(found, answer, "{case}: {words}");
            assert!(words.contains(says), "{case}: {words}");
        }
    }
}
