//! Features of the file systems on the disks: those that the next kernel must know to mount them,
//! and those that the next e2fsck must know to check them.
//!
//! A feature is judged by its name in the superblock. A file system with unread features is
//! reported only on a downgrade, since later kernels and tools know everything that earlier ones
//! knew. XFS is the exception: its version 4 was removed.

use super::builder::{built_again, kernel_of};
use super::layer::{changes_system, runs_alike};
use crate::model::upgrade::Item;
use walwise_judge::rules::Level;
use walwise_judge::validity::{self, DiskFormat, Ruling};
use walwise_model::facts::catalog::{boot, host, mount};
use walwise_model::facts::{FactSet, Key, Scope, Subject};
use walwise_model::version::Version;

/// File systems, besides ext4 and XFS, that cannot be judged because their features are not read.
const CLOSED: [&str; 3] = ["btrfs", "f2fs", "bcachefs"];

/// Every failure, and everything unknown.
pub fn items(real: &FactSet, supposed: &FactSet) -> Vec<Item> {
    let next = BootEnvironment::new(real, supposed);
    let mut items = Vec::new();
    for mounted in supposed.subjects(Scope::Mount) {
        let Some(fstype) = supposed.value(mounted, &mount::FSTYPE) else {
            continue;
        };
        items.extend(next.judge(mounted, &fstype));
    }
    for line in supposed.subjects(Scope::Boot) {
        // A mounted one is judged as a mount.
        if supposed.resolve(line, Scope::Mount).is_some() {
            continue;
        }
        let Some(fstype) = supposed.value(line, &boot::FSTYPE) else {
            continue;
        };
        items.extend(next.unread(line, &fstype));
    }
    items
}

enum Checker {
    /// The present version, where it is known.
    Of(Option<Version>),
    /// A later version than the present one.
    Later(Option<Version>),
    /// The unknown version of another system.
    Unknown,
}

/// The next kernel and e2fsck.
struct BootEnvironment<'f> {
    facts: &'f FactSet,
    /// The kernel, if it changes.
    kernel: Option<(Version, String)>,
    /// Whether it has every feature that the running one uses, because one person builds both.
    again: bool,
    /// Whether it is older than the running one, or of a vendor whose numbers do not tell.
    is_back: bool,
    checker: Checker,
}

impl<'f> BootEnvironment<'f> {
    fn new(real: &FactSet, supposed: &'f FactSet) -> Self {
        let (now, then) = (kernel_of(real), kernel_of(supposed));
        let is_back = match (&now, &then) {
            (Some((now, _)), Some((then, _))) => then < now,
            (None, _) | (_, None) => true,
        };
        let again = built_again(now.as_ref(), then.as_ref());
        let kernel = then.filter(|_| !runs_alike(real, supposed));
        Self {
            facts: supposed,
            kernel,
            again,
            is_back,
            checker: checker(real, supposed),
        }
    }

    /// The items about a mounted file system.
    fn judge(&self, mounted: &Subject, fstype: &str) -> Vec<Item> {
        let (fs, key) = match fstype {
            "ext2" | "ext3" | "ext4" => ("ext4", &mount::EXT4_FEATURES),
            "xfs" => ("xfs", &mount::XFS_FEATURES),
            other => return self.unread(mounted, other).into_iter().collect(),
        };
        let Some(features) = self.facts.value(mounted, key) else {
            return self.unread(mounted, fstype).into_iter().collect();
        };
        let is_checked = self.is_checked(mounted);
        let mut items = Vec::new();
        for feature in features {
            if let Some((version, vendor)) = &self.kernel {
                let ruling = validity::feature_on_disk(fs, &feature, version, vendor);
                items.extend(told(mounted, &feature, "that kernel mounts", ruling));
            }
            if fs == "ext4" && is_checked {
                items.extend(told(
                    mounted,
                    &feature,
                    "that e2fsck checks",
                    self.checked(&feature),
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
    fn checked(&self, feature: &str) -> Ruling {
        match &self.checker {
            Checker::Of(None) | Checker::Later(None) => Ruling::ok(""),
            Checker::Of(Some(tool)) => validity::feature_checked(feature, Some(tool)),
            Checker::Later(Some(tool)) => {
                let now = validity::feature_checked(feature, Some(tool));
                if now.effect.is_refused() {
                    validity::feature_checked(feature, None)
                } else {
                    now
                }
            }
            Checker::Unknown => validity::feature_checked(feature, None),
        }
    }

    /// The item about a file system whose features were not read.
    fn unread(&self, subject: &Subject, fstype: &str) -> Option<Item> {
        let (version, vendor) = self.kernel.as_ref()?;
        // The type itself is refused, whatever its features.
        if validity::file_system(fstype, version, vendor)
            .effect
            .is_refused()
        {
            return None;
        }
        let open =
            |what: String, ruling| Item::open(subject, level(self.facts, subject), what, ruling);
        let judge = if self.again {
            validity::format_again
        } else {
            validity::format
        };
        let v4 = judge(DiskFormat::XfsV4, version, vendor);
        if fstype == "xfs" && (v4.effect.is_refused() || v4.effect.is_unknown()) {
            return Some(open(
                format!("it is unknown whether it is {}", DiskFormat::XfsV4.words()),
                v4,
            ));
        }
        let has_features = fstype == "xfs" || fstype.starts_with("ext") || CLOSED.contains(&fstype);
        (self.is_back && has_features).then(|| {
            let because = "An older kernel may lack what the file system was made with.";
            open(
                "its features were not read".to_owned(),
                Ruling::unknown(because),
            )
        })
    }
}

/// Its level: a line that the boot does not wait for matters less.
fn level(facts: &FactSet, subject: &Subject) -> Level {
    match subject.scope() {
        Scope::Boot => super::weight::weight(facts, subject),
        Scope::Host | Scope::Mount | Scope::Device | Scope::Cluster | Scope::Target => {
            Level::Critical
        }
    }
}

fn checker(real: &FactSet, supposed: &FactSet) -> Checker {
    let host = Subject::host();
    let value = |facts: &FactSet, key: &Key<Version>| facts.value(&host, key);
    let then = value(supposed, &host::E2FSPROGS);
    if supposed.is_assumed(&host, host::E2FSPROGS.id()) || then != value(real, &host::E2FSPROGS) {
        return then.map_or(Checker::Unknown, |tool| Checker::Of(Some(tool)));
    }
    let id = |facts: &FactSet| facts.value(&host, &host::OS_ID);
    let release = |facts: &FactSet| {
        facts
            .value(&host, &host::OS_VERSION)
            .and_then(|text| Version::parse(&text))
    };
    let later = id(real) == id(supposed) && release(real) <= release(supposed);
    match (changes_system(real, supposed), later) {
        (false, _) => Checker::Of(then),
        (true, true) => Checker::Later(then),
        (true, false) => Checker::Unknown,
    }
}

/// The item for a ruling on a feature, unless it works.
fn told(mounted: &Subject, feature: &str, does: &str, ruling: Ruling) -> Option<Item> {
    if ruling.effect.is_refused() {
        let what = format!("the file system has the feature {feature}");
        return Some(Item::open(mounted, Level::Critical, what, ruling).blocks());
    }
    let what = format!("it is unknown whether {does} the feature {feature}");
    ruling
        .effect
        .is_unknown()
        .then(|| Item::open(mounted, Level::Critical, what, ruling))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::upgrade::Answer;
    use walwise_model::facts::Source;
    use walwise_model::facts::catalog::kernel;

    const HERE: Source = Source::Assumed;

    /// A machine: os-release's ID and VERSION_ID, the kernel's release and vendor, and e2fsprogs.
    type Machine<'m> = (&'m str, &'m str, &'m str, &'m str, &'m str);

    const DEBIAN_11: Machine = ("debian", "11", "5.10.0", "debian", "1.46.2");
    const DEBIAN_12: Machine = ("debian", "12", "6.1.0", "debian", "1.47.0");
    const DEBIAN_13: Machine = ("debian", "13", "6.12.0", "debian", "1.47.2");
    const SLES_15: Machine = ("sles", "15.6", "6.4.0", "sles", "");

    fn machine(of: Machine, fstype: &str, features: Option<&str>) -> FactSet {
        let (id, release, kernel_release, vendor, e2fsprogs) = of;
        let (mut facts, host, mounted) = (FactSet::default(), Subject::host(), Subject::mount("/"));
        facts.know(&host, &host::OS_ID, id.to_owned(), HERE);
        facts.know(&host, &host::OS_VERSION, release.to_owned(), HERE);
        facts.know(&host, &kernel::RELEASE, kernel_release.to_owned(), HERE);
        facts.know(&host, &kernel::VENDOR, vendor.to_owned(), HERE);
        let version = |text: &str| {
            Version::parse(text).map(|version| version.with_backports(vendor == "sles"))
        };
        facts.know(
            &host,
            &kernel::VERSION,
            version(kernel_release).unwrap(),
            HERE,
        );
        if let Some(tool) = version(e2fsprogs) {
            facts.know(&host, &host::E2FSPROGS, tool, HERE);
        }
        facts.know(&mounted, &mount::FSTYPE, fstype.to_owned(), HERE);
        if let Some(features) = features {
            let key = if fstype == "xfs" {
                &mount::XFS_FEATURES
            } else {
                &mount::EXT4_FEATURES
            };
            facts.know(
                &mounted,
                key,
                features.split(' ').map(str::to_owned).collect(),
                HERE,
            );
        }
        facts
    }

    /// The words of all items on the way from one machine to the other.
    fn told_of(
        from: Machine,
        to: Machine,
        fstype: &str,
        features: Option<&str>,
    ) -> (Answer, String) {
        let found = items(
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
                "were not read",
            ),
            (
                DEBIAN_12,
                SLES_15,
                "ext4",
                Some(MADE),
                CannotBeTold,
                "which e2fsprogs",
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
                "were not read",
            ),
            (DEBIAN_12, DEBIAN_13, "btrfs", None, Works, ""),
            (DEBIAN_13, DEBIAN_12, "tmpfs", None, Works, ""),
        ] {
            let (found, words) = told_of(from, to, fstype, features);
            let case = format!("{} to {} {} with {fstype} {features:?}", from.0, to.0, to.1);
            assert_eq!(found, answer, "{case}: {words}");
            assert!(words.contains(says), "{case}: {words}");
        }
    }
}
