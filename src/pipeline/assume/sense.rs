//! Values that no kernel shows, and assumptions that exclude each other.
//!
//! A value that is not modelled would count as one without known problems, which is false comfort. An assumption about
//! options must be in the form that the kernel prints, which covers fewer words than mount(8) accepts.

use super::assumption::Assumption;
use crate::collect::{self, BTRFS_PROFILES};
use crate::facts::catalog::device::{self, ConsistencyPolicy, NvmeWarning};
use crate::facts::catalog::mount::MountClass;
use crate::facts::catalog::{kernel, mount};
use crate::facts::{Choice, FactSet, FactValue, Key, Scope, Subject, Value};
use crate::text::suggest::or_list;
use crate::validity;
use crate::version::{Version, is_release};

/// The words that the kernel prints for a mount (`show_mnt_opts` in fs/proc_namespace.c).
const OF_MOUNT: &[&str] = &[
    "rw",
    "ro",
    "nosuid",
    "nodev",
    "noexec",
    "noatime",
    "nodiratime",
    "relatime",
    "nosymfollow",
    "idmapped",
];

/// The words that it prints for every superblock besides those of the file system (`show_sb_opts` there).
const OF_EVERY_SUPERBLOCK: &[&str] = &["rw", "ro", "sync", "dirsync", "mand", "lazytime", "seclabel"];

/// States of a pool (zpool-status(8)).
const POOL_STATES: &[&str] = &["ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "REMOVED", "UNAVAIL", "SUSPENDED"];

/// md's word for a missing bitmap, and all its words besides an offset (Documentation/admin-guide/md.rst).
const NO_BITMAP: &str = "none";
const BITMAPS: &[&str] = &[NO_BITMAP, "file"];

/// Checks a value that the fact could not have on any machine; the error is a sentence.
pub fn of_any_machine(name: &str, value: &Value) -> Result<(), String> {
    let text = String::from_value(value).unwrap_or_default();
    let right = match name {
        _ if name == kernel::RELEASE.name() => is_release(&text),
        _ if name == device::MD_BITMAP.name() => is_bitmap(&text),
        _ if name == mount::ZFS_POOL_STATE.name() => POOL_STATES.contains(&text.as_str()),
        _ => return Ok(()),
    };
    if right { Ok(()) } else { Err(format!("{name} is never `{text}`")) }
}

/// `none`, `file`, or sectors from the superblock (Documentation/admin-guide/md.rst, bitmap/location).
fn is_bitmap(text: &str) -> bool {
    let sectors = text.strip_prefix(['+', '-']);
    BITMAPS.contains(&text)
        || sectors.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Why no machine like this one shows a value.
pub fn nonsense(one: &Assumption, all: &[Assumption], read: &FactSet) -> Option<String> {
    let of = AssumedSubject { subject: &one.subject, all, read };
    let words = || Vec::<String>::from_value(&one.value).unwrap_or_default();
    let name = one.key.name;
    let wrong = if name == mount::SUPER_OPTIONS.name() {
        of.super_options(&words())
    } else if name == mount::OPTIONS.name() {
        mount_options(&words())
    } else if name == mount::EXT4_OPTIONS.name() {
        of.ext4_options(&words())
    } else if name == mount::EXT4_FEATURES.name() {
        of.features("ext4", &mount::EXT4_FEATURES, &words())
    } else if name == mount::XFS_FEATURES.name() {
        of.features("xfs", &mount::XFS_FEATURES, &words())
    } else if name == mount::BTRFS_DATA_PROFILES.name() || name == mount::BTRFS_METADATA_PROFILES.name() {
        profiles(&words())
    } else if name == mount::FSTYPE.name() {
        of.file_system(&String::from_value(&one.value)?)
    } else if name == device::NVME_WARNINGS.name() {
        one_of(&words(), NvmeWarning::WORDS)
    } else if name == device::SCHEDULER.name() {
        of.scheduler(&String::from_value(&one.value)?)
    } else {
        Ok(())
    };
    wrong.err().map(|why| format!("{name} of {}: {why}", one.subject))
}

/// Assumptions that exclude each other, or facts that stay as they are.
pub fn contradictions(all: &[Assumption], read: &FactSet) -> Vec<String> {
    let host = Subject::host();
    let of_host = AssumedSubject { subject: &host, all, read };
    let mut found: Vec<String> = of_host.kernel().into_iter().collect();
    for one in all.iter().filter(|one| one.subject.scope() == Scope::Device) {
        let of = AssumedSubject { subject: &one.subject, all, read };
        let of_array =
            [device::MD_CONSISTENCY.name(), device::MD_BITMAP.name(), device::MD_WRITE_BEHIND.name()];
        let is_other = read.reading(&one.subject, one.key.id).value() != Some(&one.value);
        if of_array.contains(&one.key.name)
            && is_other
            && let Some(why) = of.array()
        {
            found.push(format!("{why} ({})", one.subject));
        }
    }
    for one in all.iter().filter(|one| one.key.name == mount::EXT4_OPTIONS.name()) {
        found.extend(AssumedSubject { subject: &one.subject, all, read }.both_lists());
    }
    found.dedup();
    found
}

/// A subject with its assumed facts.
struct AssumedSubject<'a> {
    subject: &'a Subject,
    all: &'a [Assumption],
    read: &'a FactSet,
}

impl AssumedSubject<'_> {
    fn assumed<T: FactValue>(&self, key: &Key<T>) -> Option<T> {
        let one = self.all.iter().find(|one| one.subject == *self.subject && one.key.name == key.name())?;
        T::from_value(&one.value)
    }

    fn value<T: FactValue>(&self, key: &Key<T>) -> Option<T> {
        self.assumed(key).or_else(|| self.read.value(self.subject, key))
    }

    /// The assumed kernel, with its vendor.
    fn next_kernel(&self) -> Option<(Version, String)> {
        let host = Subject::host();
        let of = AssumedSubject { subject: &host, ..*self };
        let named = of
            .assumed(&kernel::RELEASE)
            .and_then(|release| collect::kernel_named(&release, of.assumed(&kernel::VENDOR)));
        let (version, vendor) = match named {
            Some((version, vendor)) => (Some(version), Some(vendor)),
            None => (self.read.value(&host, &kernel::VERSION), of.value(&kernel::VENDOR)),
        };
        of.assumed(&kernel::VERSION).or(version).zip(vendor)
    }

    /// Checks that this kernel accepts the new ones among these words; otherwise it would not print them.
    fn taken(&self, fs: &str, words: &[String], now: &[String]) -> Result<(), String> {
        let (version, vendor) =
            self.next_kernel().ok_or("the kernel is not known: assume kernel.release too")?;
        for (word, ruling) in words.iter().zip(validity::mount_options(fs, words, now, &version, &vendor)) {
            let is_shown = OF_EVERY_SUPERBLOCK.contains(&word.as_str()) || word.contains("context=");
            if now.contains(word) || is_shown {
                continue;
            }
            if OF_MOUNT.contains(&word.as_str()) {
                return Err(format!("`{word}` is an option of the mount: assume {}", mount::OPTIONS.name()));
            }
            if ruling.effect.is_refused() {
                return Err(format!(
                    "the kernel refuses `{word}`: assume another kernel too, or leave it out. {}",
                    ruling.because
                ));
            }
            if !validity::is_option_of(fs, word) || ruling.effect.is_unknown() {
                return Err(format!(
                    "it is unknown what {fs} makes of `{word}`; assume only options that it is known to take. {}",
                    ruling.because
                ));
            }
        }
        Ok(())
    }

    fn super_options(&self, words: &[String]) -> Result<(), String> {
        one_access(words)?;
        let fs = self.value(&mount::FSTYPE).ok_or("the file system is not known: assume mount.fstype too")?;
        let is_same_type = self.read.value(self.subject, &mount::FSTYPE).is_none_or(|now| now == fs);
        let now = self.read.value(self.subject, &mount::SUPER_OPTIONS).filter(|_| is_same_type);
        // The relation between its lists is checked there.
        let is_listed = self.read.reading(self.subject, mount::EXT4_OPTIONS.id()).is_known();
        if is_listed && is_same_type {
            return Ok(());
        }
        self.taken(&fs, words, &now.unwrap_or_default())?;
        let backwards: Vec<String> = words.iter().rev().cloned().collect();
        for list in [words, &backwards] {
            let holding = validity::holding(&fs, list);
            if let Some(gone) = list.iter().find(|word| !holding.contains(word)) {
                return Err(format!(
                    "`{gone}` and another of these take each other back: assume what is in force of them"
                ));
            }
        }
        Ok(())
    }

    fn ext4_options(&self, words: &[String]) -> Result<(), String> {
        one_access(words)?;
        let now = self.read.value(self.subject, &mount::EXT4_OPTIONS).unwrap_or_default();
        // A switch is listed in either form.
        let is_way_back = |word: &str| {
            let other = word.strip_prefix("no").map_or_else(|| format!("no{word}"), str::to_owned);
            now.contains(&other)
        };
        let new: Vec<String> = words.iter().filter(|word| !is_way_back(word)).cloned().collect();
        self.taken("ext4", &new, &now)
    }

    /// Checks that every option printed among the mounts is in force.
    fn both_lists(&self) -> Option<String> {
        let listed = self.value(&mount::EXT4_OPTIONS)?;
        let printed = self.value(&mount::SUPER_OPTIONS)?;
        let own =
            |word: &&String| !OF_EVERY_SUPERBLOCK.contains(&word.as_str()) && !word.contains("context=");
        let missing = printed.iter().filter(own).find(|word| !listed.contains(word))?;
        Some(format!(
            "{} of {} has `{missing}`, and {} has not, which lists all that is in force: assume both alike",
            mount::SUPER_OPTIONS.name(),
            self.subject,
            mount::EXT4_OPTIONS.name()
        ))
    }

    fn features(&self, fs: &str, key: &Key<Vec<String>>, words: &[String]) -> Result<(), String> {
        if words.is_empty() {
            return Err("every file system has some: assume all of them".to_owned());
        }
        let now = self.read.value(self.subject, key).unwrap_or_default();
        let (version, vendor) =
            self.next_kernel().ok_or("the kernel is not known: assume kernel.release too")?;
        for word in words.iter().filter(|word| !now.contains(word)) {
            let ruling = validity::feature_on_disk(fs, word, &version, &vendor);
            if ruling.effect.is_unknown() || ruling.effect.is_refused() {
                return Err(format!("no {fs} with `{word}` is known to be mounted here. {}", ruling.because));
            }
        }
        Ok(())
    }

    fn file_system(&self, fs: &str) -> Result<(), String> {
        let is_classed = !matches!(collect::class_of(fs), MountClass::Other);
        let host = Subject::host();
        let listed = self.read.value(&host, &kernel::FILESYSTEMS).unwrap_or_default();
        if is_classed || validity::names_file_system(fs) || listed.iter().any(|known| known == fs) {
            return Ok(());
        }
        Err(format!("there is no file system `{fs}` that walwise knows; assume one of /proc/filesystems"))
    }

    fn scheduler(&self, name: &str) -> Result<(), String> {
        let (version, vendor) =
            self.next_kernel().ok_or("the kernel is not known: assume kernel.release too")?;
        let ruling = validity::scheduler(name, &version, &vendor);
        if ruling.effect.is_refused() {
            return Err(format!("the kernel has no `{name}`: assume another kernel too. {}", ruling.because));
        }
        let is_unheard = ruling.effect.is_unknown() && !validity::names_scheduler(name);
        if is_unheard { Err(ruling.because) } else { Ok(()) }
    }

    fn kernel(&self) -> Option<String> {
        let release = self.assumed(&kernel::RELEASE)?;
        let says = Version::parse(&release)?;
        if let Some(version) = self.assumed(&kernel::VERSION)
            && (says.number(0), says.number(1)) != (version.number(0), version.number(1))
        {
            return Some(format!(
                "{}={release} is no kernel {}: assume one of them alone",
                kernel::RELEASE.name(),
                version.base()
            ));
        }
        let (vendor, own) = (self.assumed(&kernel::VENDOR)?, collect::vendor_of(&release));
        let names_nobody = validity::names_nobody(own);
        (!names_nobody && own != vendor).then(|| {
            format!(
                "{}={release} is a kernel of {own}, not of {vendor}: assume one of them alone",
                kernel::RELEASE.name()
            )
        })
    }

    /// The combinations of policy, bitmap and write-behind that md's raid5_run and consistency_policy_show (drivers/md)
    /// allow.
    fn array(&self) -> Option<String> {
        let bitmap = self.value(&device::MD_BITMAP)?;
        let has_bitmap = !bitmap.starts_with(NO_BITMAP);
        if !has_bitmap && self.value(&device::MD_WRITE_BEHIND).is_some_and(|most| most > 0) {
            return Some(format!(
                "writes lag behind only with a bitmap: assume {} with one",
                device::MD_BITMAP.name()
            ));
        }
        let policy = self.value(&device::MD_CONSISTENCY)?;
        let wants = match policy {
            ConsistencyPolicy::Bitmap => true,
            ConsistencyPolicy::None
            | ConsistencyPolicy::Resync
            | ConsistencyPolicy::Journal
            | ConsistencyPolicy::Ppl => false,
            ConsistencyPolicy::Unknown => return None,
        };
        let with = if wants { "without a" } else { "with the" };
        (wants != has_bitmap).then(|| {
            format!(
                "no array has the consistency policy {policy} {with} bitmap {bitmap}: assume {} that fits",
                device::MD_BITMAP.name()
            )
        })
    }
}

/// Options of a mount as the kernel prints them.
fn mount_options(words: &[String]) -> Result<(), String> {
    one_access(words)?;
    if let Some(other) = words.iter().find(|word| !OF_MOUNT.contains(&word.as_str())) {
        return Err(format!(
            "the kernel prints no `{other}` for a mount; options of the file system are {}",
            mount::SUPER_OPTIONS.name()
        ));
    }
    let has = |word: &str| words.iter().any(|other| other == word);
    if has("noatime") && has("relatime") {
        return Err("a mount is never noatime and relatime at once: assume one of them".to_owned());
    }
    Ok(())
}

/// The kernel prints every mount as `rw` or `ro`.
fn one_access(words: &[String]) -> Result<(), String> {
    match words.iter().filter(|word| ["rw", "ro"].contains(&word.as_str())).count() {
        1 => Ok(()),
        _ => Err("the kernel prints rw or ro, and one of them only: assume it too".to_owned()),
    }
}

fn profiles(words: &[String]) -> Result<(), String> {
    if words.is_empty() {
        return Err("every btrfs has one: assume it".to_owned());
    }
    one_of(words, BTRFS_PROFILES)
}

fn one_of(words: &[String], known: &[&'static str]) -> Result<(), String> {
    match words.iter().find(|word| !known.contains(&word.as_str())) {
        Some(other) => {
            let help = or_list(other, known.iter().copied()).unwrap_or_default();
            Err(format!("it never holds `{other}`; {help}"))
        }
        None => Ok(()),
    }
}
