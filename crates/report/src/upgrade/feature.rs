//! On-disk features that the next kernel must know to mount, and that the next e2fsck must know to
//! check.
//!
//! A feature is judged by its name in the superblock. Unread features are reported only on a
//! downgrade, since later kernels and tools know all earlier features. The exception is XFS, whose
//! version 4 was removed.

use super::kernel_vendor::{is_same_builder, kernel_and_vendor};
use super::layer::{is_other_release, is_same_kernel};
use crate::model::upgrade::Item;
use walwise_judge::compat::{self, DiskFormat, Support};
use walwise_judge::rules::Level;
use walwise_model::facts::catalog::{boot, host, mount};
use walwise_model::facts::{FactSet, Key, Scope, Subject};
use walwise_model::version::Version;

/// File systems with features that walwise does not read.
const UNREADABLE_FEATURES: [&str; 3] = ["btrfs", "f2fs", "bcachefs"];

pub fn feature_items(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let next = BootEnvironment::new(real, supposed);
    let mut items = Vec::new();
    for mounted in supposed.subjects(Scope::Mount) {
        let Some(fstype) = supposed.value(mounted, &mount::FSTYPE) else {
            continue;
        };
        items.extend(next.mounted_items(mounted, &fstype));
    }
    for line in supposed.subjects(Scope::Boot) {
        // Mounted ones were judged above.
        if supposed.resolve(line, Scope::Mount).is_some() {
            continue;
        }
        let Some(fstype) = supposed.value(line, &boot::FSTYPE) else {
            continue;
        };
        items.extend(next.unread_item(line, &fstype));
    }
    items
}

enum NextE2fsck {
    /// This version, if known.
    Known(Option<Version>),
    /// This version or a later one.
    AtLeast(Option<Version>),
    /// The unknown version of another system.
    Unknown,
}

/// The next kernel and e2fsck.
struct BootEnvironment<'f> {
    facts: &'f FactSet,
    /// The kernel, if it changes.
    kernel: Option<(Version, String)>,
    /// Whether the same user builds both kernels, so that it has every feature in use.
    same_builder: bool,
    /// Whether it is older than the running one, or the versions cannot be compared.
    may_be_older: bool,
    checker: NextE2fsck,
}

impl<'f> BootEnvironment<'f> {
    fn new(real: &FactSet, supposed: &'f FactSet) -> Self {
        let (now, then) = (kernel_and_vendor(real), kernel_and_vendor(supposed));
        let is_back = match (&now, &then) {
            (Some((now, _)), Some((then, _))) => then < now,
            (None, _) | (_, None) => true,
        };
        let again = is_same_builder(now.as_ref(), then.as_ref());
        let kernel = then.filter(|_| !is_same_kernel(real, supposed));
        Self {
            facts: supposed,
            kernel,
            same_builder: again,
            may_be_older: is_back,
            checker: next_e2fsck(real, supposed),
        }
    }

    /// The items about a mounted file system.
    fn mounted_items(&self, mounted: &Subject, fstype: &str) -> Vec<Item> {
        let (fs, key) = match fstype {
            "ext2" | "ext3" | "ext4" => ("ext4", &mount::EXT4_FEATURES),
            "xfs" => ("xfs", &mount::XFS_FEATURES),
            other => return self.unread_item(mounted, other).into_iter().collect(),
        };
        let Some(features) = self.facts.value(mounted, key) else {
            return self.unread_item(mounted, fstype).into_iter().collect();
        };
        let is_checked = self.is_checked(mounted);
        let mut items = Vec::new();
        for feature in features {
            if let Some((version, vendor)) = &self.kernel {
                let ruling = compat::feature_on_disk(fs, &feature, version, vendor);
                items.extend(ruling_item(mounted, &feature, "that kernel mounts", ruling));
            }
            if fs == "ext4" && is_checked {
                items.extend(ruling_item(
                    mounted,
                    &feature,
                    "that e2fsck checks",
                    self.check_ruling(&feature),
                ));
            }
        }
        items
    }

    /// Whether the boot checks it: the root file system, and lines with a pass number (fstab(5)).
    fn is_checked(&self, mounted: &Subject) -> bool {
        let has_pass = |line: &Subject| {
            let fields = self.facts.value(line, &boot::DUMP_AND_PASS);
            fields.is_none_or(|fields| {
                fields
                    .split_whitespace()
                    .nth(1)
                    .is_some_and(|pass| pass != "0")
            })
        };
        let of_it =
            |line: &&Subject| self.facts.resolve(line, Scope::Mount).as_ref() == Some(mounted);
        mounted.name() == "/" || self.facts.subjects(Scope::Boot).filter(of_it).any(has_pass)
    }

    /// The next e2fsck's ruling on a feature. If the present one is unknown too, nothing changes.
    fn check_ruling(&self, feature: &str) -> Support {
        match &self.checker {
            NextE2fsck::Known(None) | NextE2fsck::AtLeast(None) => Support::ok(""),
            NextE2fsck::Known(Some(tool)) => compat::feature_in_e2fsck(feature, Some(tool)),
            NextE2fsck::AtLeast(Some(tool)) => {
                let now = compat::feature_in_e2fsck(feature, Some(tool));
                if now.effect.is_refused() {
                    compat::feature_in_e2fsck(feature, None)
                } else {
                    now
                }
            }
            NextE2fsck::Unknown => compat::feature_in_e2fsck(feature, None),
        }
    }

    /// The item about a file system whose features were not read.
    fn unread_item(&self, subject: &Subject, fstype: &str) -> Option<Item> {
        let (version, vendor) = self.kernel.as_ref()?;
        // Another item reports that the type itself is refused.
        if compat::file_system_support(fstype, version, vendor)
            .effect
            .is_refused()
        {
            return None;
        }
        let open = |what: String, ruling| {
            Item::undecided(subject, failure_level(self.facts, subject), what, ruling)
        };
        let judge = if self.same_builder {
            compat::format_if_rebuilt
        } else {
            compat::format_support
        };
        let v4 = judge(DiskFormat::XfsV4, version, vendor);
        if fstype == "xfs" && (v4.effect.is_refused() || v4.effect.is_unknown()) {
            return Some(open(
                format!(
                    "it is unknown whether it is {}",
                    DiskFormat::XfsV4.describe()
                ),
                v4,
            ));
        }
        let has_features =
            fstype == "xfs" || fstype.starts_with("ext") || UNREADABLE_FEATURES.contains(&fstype);
        (self.may_be_older && has_features).then(|| {
            let because = "An older kernel may not support them.";
            open(
                "its feature flags could not be read".to_owned(),
                Support::unknown(because),
            )
        })
    }
}

fn failure_level(facts: &FactSet, subject: &Subject) -> Level {
    match subject.scope() {
        Scope::Boot => super::severity::line_severity(facts, subject),
        Scope::Host | Scope::Mount | Scope::Device | Scope::Cluster | Scope::Target => {
            Level::Critical
        }
    }
}

fn next_e2fsck(real: &FactSet, supposed: &FactSet) -> NextE2fsck {
    let host = Subject::host();
    let value = |facts: &FactSet, key: &Key<Version>| facts.value(&host, key);
    let then = value(supposed, &host::E2FSPROGS);
    if supposed.is_assumed(&host, host::E2FSPROGS.id()) || then != value(real, &host::E2FSPROGS) {
        return then.map_or(NextE2fsck::Unknown, |tool| NextE2fsck::Known(Some(tool)));
    }
    let id = |facts: &FactSet| facts.value(&host, &host::OS_ID);
    let release = |facts: &FactSet| {
        facts
            .value(&host, &host::OS_VERSION)
            .and_then(|text| Version::parse(&text))
    };
    let later = id(real) == id(supposed) && release(real) <= release(supposed);
    match (is_other_release(real, supposed), later) {
        (false, _) => NextE2fsck::Known(then),
        (true, true) => NextE2fsck::AtLeast(then),
        (true, false) => NextE2fsck::Unknown,
    }
}

/// The item for a ruling on a feature; `None` if supported.
fn ruling_item(mounted: &Subject, feature: &str, does: &str, ruling: Support) -> Option<Item> {
    if ruling.effect.is_refused() {
        let what = format!("the file system has the feature {feature}");
        return Some(Item::undecided(mounted, Level::Critical, what, ruling).into_blocker());
    }
    let what = format!("it is unknown whether {does} the feature {feature}");
    ruling
        .effect
        .is_unknown()
        .then(|| Item::undecided(mounted, Level::Critical, what, ruling))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::upgrade::Answer;
    use walwise_model::facts::Source;
    use walwise_model::facts::catalog::kernel;

    const HERE: Source = Source::Assumed;

    /// A host: ID and VERSION_ID of os-release, release and vendor of the kernel, and e2fsprogs.
    type Machine<'m> = (&'m str, &'m str, &'m str, &'m str, &'m str);

    const DEBIAN_11: Machine = ("debian", "11", "5.10.0", "debian", "1.46.2");
    const DEBIAN_12: Machine = ("debian", "12", "6.1.0", "debian", "1.47.0");
    const DEBIAN_13: Machine = ("debian", "13", "6.12.0", "debian", "1.47.2");
    const SLES_15: Machine = ("sles", "15.6", "6.4.0", "sles", "");

    fn machine(of: Machine, fstype: &str, features: Option<&str>) -> FactSet {
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

    /// The text of all items of an upgrade from one host to the other.
    fn item_texts(
        from: Machine,
        to: Machine,
        fstype: &str,
        features: Option<&str>,
    ) -> (Answer, String) {
        let found = feature_items(
            &machine(from, fstype, features),
            &machine(to, fstype, features),
        );
        let answer = found
            .iter()
            .filter_map(|item| item.answer)
            .max()
            .unwrap_or(Answer::Works);
        let words: Vec<String> = found
            .iter()
            .map(|item| format!("{} {}", item.what, item.because))
            .collect();
        (answer, words.join("\n"))
    }

    #[test]
    fn what_was_made_later_stands_on_the_way_back_only() {
        use Answer::{CannotBeTold, Fails, Works};
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
                "refuses to check it",
            ),
            (
                DEBIAN_12,
                DEBIAN_12,
                "ext4",
                Some("FEATURE_I18"),
                CannotBeTold,
                "e2fsck checks",
            ),
            (
                DEBIAN_12,
                DEBIAN_13,
                "ext4",
                Some("dirdata"),
                CannotBeTold,
                "kernel mounts the feature dirdata",
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
                "e2fsprogs of that system is unknown",
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
            let (found, words) = item_texts(from, to, fstype, features);
            let case = format!("{} to {} {} with {fstype} {features:?}", from.0, to.0, to.1);
            assert_eq!(found, answer, "{case}: {words}");
            assert!(words.contains(says), "{case}: {words}");
        }
    }
}
