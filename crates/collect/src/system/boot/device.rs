//! Whether the device that a line names exists now: a path under /dev, or a tag such as `UUID=`,
//! which udev turns into a link under /dev/disk (fstab(5), mount(8), systemd.mount(5)).
//!
//! Whether it will exist at the next boot is unknowable; that a later boot step creates it (an
//! unlocked disk, a network disk) is left to `rules`. Inside a container /dev is chosen by the
//! runtime, so no device there is missing for certain.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::entry::COMMAND_LINE;
use crate::facts::catalog::boot::{self, NamedDevice};
use crate::facts::catalog::{device, host as machine, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use crate::host::{Host, MissKind, path_bytes, path_of};
use crate::lookup::device_at;
use crate::refusal::refused;
use crate::text;

/// Tags and the directories of their links.
const TAGS: [(&str, &str); 5] = [
    ("UUID=", "/dev/disk/by-uuid"),
    ("LABEL=", "/dev/disk/by-label"),
    ("PARTUUID=", "/dev/disk/by-partuuid"),
    ("PARTLABEL=", "/dev/disk/by-partlabel"),
    ("ID=", "/dev/disk/by-id"),
];

/// The names in each directory of links that was listed, or why they are unknown.
pub type LinkDirectories = BTreeMap<&'static str, Reading<BTreeSet<OsString>>>;

/// Records the answer for every line. The root on the kernel's own command line exists, because
/// this boot mounted it.
pub fn look(host: &dyn Host, facts: &mut FactSet, listed: &mut LinkDirectories) {
    let lines: Vec<Subject> = facts.subjects(Scope::Boot).cloned().collect();
    for line in lines {
        let found = facts.get(&line, &boot::SOURCE).then(|value, source| {
            if source == Source::file(COMMAND_LINE) {
                Reading::known(NamedDevice::There, source)
            } else if needs_none(facts, &line) {
                Reading::known(NamedDevice::None, source)
            } else {
                of(host, facts, &value, &source, listed)
            }
        });
        facts.put(&line, &boot::DEVICE, found);
    }
}

/// Whether what stands for the device of a line may lie under /dev and be none: what is mounted at
/// another place too, a file behind a loop device, and file systems of programs and of flash chips.
fn needs_none(facts: &FactSet, line: &Subject) -> bool {
    let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
    let fstype = facts.value(line, &boot::FSTYPE).unwrap_or_default();
    ["bind", "rbind", "loop"]
        .iter()
        .any(|word| options.iter().any(|option| option == word))
        || fstype.starts_with("fuse")
        || fstype == "ubifs"
}

/// Whether the device that a line or a unit names exists.
pub fn of(
    host: &dyn Host,
    facts: &FactSet,
    given: &str,
    written: &Source,
    listed: &mut LinkDirectories,
) -> Reading<NamedDevice> {
    let found = if mounted_by_uuid(facts, given).is_some() {
        Reading::known(NamedDevice::There, Source::derived([mount::UUID.name()]))
    } else if let Some((directory, value)) = tagged(given) {
        let names =
            listed
                .entry(directory)
                .or_insert_with(|| match host.list(Path::new(directory)) {
                    Ok(names) => {
                        Reading::known(names.into_iter().collect(), Source::file(directory))
                    }
                    Err(miss) => refused(&miss, directory),
                });
        names.as_ref().map(|names| {
            let is_there = names.contains(OsStr::new(&encoded(value)));
            if is_there {
                NamedDevice::There
            } else {
                NamedDevice::Missing
            }
        })
    } else if given.starts_with("/dev/") {
        path(host, facts, given)
    } else {
        return Reading::known(NamedDevice::None, written.clone());
    };
    let contained = facts
        .value(&Subject::host(), &machine::CONTAINER)
        .is_none_or(|kind| kind != "none");
    match found {
        Reading::Known {
            value: NamedDevice::Missing | NamedDevice::Other,
            ..
        } if contained => Reading::unknown(
            Why::Ambiguous,
            format!(
                "{given} is not there, and it is unknown whether /dev here is the machine's own"
            ),
        ),
        found @ (Reading::Known {
            value:
                NamedDevice::There | NamedDevice::Missing | NamedDevice::Other | NamedDevice::None,
            ..
        }
        | Reading::Unknown { .. }) => found,
    }
}

/// The directory of links for a tag, and its value.
fn tagged(given: &str) -> Option<(&'static str, &str)> {
    let (tag, directory) = TAGS.into_iter().find(|(tag, _)| given.starts_with(tag))?;
    Some((
        directory,
        given
            .strip_prefix(tag)
            .unwrap_or_default()
            .trim_matches('"'),
    ))
}

/// The link under /dev that a tag stands for; none of what is no tag.
pub fn link_of(given: &str) -> Option<PathBuf> {
    tagged(given).map(|(directory, value)| Path::new(directory).join(encoded(value)))
}

/// The block device that a line names, where it was found among those that were read.
pub fn found(host: &dyn Host, facts: &FactSet, given: &str) -> Option<Subject> {
    let path = link_of(given).unwrap_or_else(|| path_of(text::raw(given)));
    let linked = device_at(host, path_bytes(&path), facts);
    linked.or_else(|| facts.resolve(mounted_by_uuid(facts, given)?, Scope::Device))
}

/// A mounted file system with the UUID that a line names: known also where udev makes no links.
fn mounted_by_uuid<'f>(facts: &'f FactSet, given: &str) -> Option<&'f Subject> {
    let named = given.strip_prefix("UUID=")?.trim_matches('"');
    let has_it = |mounted: &&Subject| facts.value(mounted, &mount::UUID).as_deref() == Some(named);
    facts.subjects(Scope::Mount).find(has_it)
}

/// Mounts whose file system lies on this device itself.
pub fn mounted<'f>(facts: &'f FactSet, device: &'f Subject) -> impl Iterator<Item = &'f Subject> {
    facts
        .subjects(Scope::Mount)
        .filter(move |mounted| facts.below(mounted).contains(device))
}

/// A path: that of a device which was read already, or one that leads to a device.
fn path(host: &dyn Host, facts: &FactSet, given: &str) -> Reading<NamedDevice> {
    let known = given
        .strip_prefix("/dev/")
        .map(Subject::device)
        .filter(|found| facts.contains(found));
    if known.is_some() {
        return Reading::known(NamedDevice::There, Source::derived([device::KIND.name()]));
    }
    let asked = || Source::call(format!("stat {given}"));
    match host.stat(&path_of(text::raw(given))) {
        Ok(stat) if stat.is_block() => Reading::known(NamedDevice::There, asked()),
        Ok(_) => Reading::known(NamedDevice::Other, asked()),
        Err(miss) if miss.kind == MissKind::Absent => Reading::known(NamedDevice::Missing, asked()),
        Err(miss) => refused(&miss, given),
    }
}

/// As udev writes a label or an id as a name: what is neither a letter, a digit nor one of
/// `#+-.:=@_` becomes `\xNN` (systemd's encode_devnode_name).
fn encoded(value: &str) -> String {
    let bytes = text::raw(value);
    let plain = |c: char| c.is_ascii_alphanumeric() || "#+-.:=@_".contains(c);
    let mut out = String::new();
    for c in String::from_utf8_lossy(&bytes).chars() {
        if plain(c) || !c.is_ascii() {
            out.push(c);
        } else {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Question;
    use crate::testing::Fake;

    fn found(host: &Fake, named: &str, container: &str) -> Option<String> {
        let mut facts = FactSet::default();
        let line = Subject::boot("/data");
        facts.know(
            &Subject::host(),
            &machine::CONTAINER,
            container.to_owned(),
            Source::file("cgroup"),
        );
        facts.know(
            &Subject::device("sda1"),
            &device::KIND,
            device::DeviceKind::Partition,
            Source::file("sysfs"),
        );
        facts.know(
            &line,
            &boot::SOURCE,
            named.to_owned(),
            Source::line("/etc/fstab", 3),
        );
        facts.know(
            &Subject::mount("/srv"),
            &mount::UUID,
            "9f-3".to_owned(),
            Source::call("superblock"),
        );
        look(host, &mut facts, &mut LinkDirectories::default());
        facts
            .value(&line, &boot::DEVICE)
            .map(|found| found.word().to_owned())
    }

    #[test]
    fn what_is_mounted_from_no_block_device_may_lie_under_dev() {
        for (fstype, option, expected) in [
            ("none", "bind", NamedDevice::None),
            ("ext4", "loop", NamedDevice::None),
            ("fuse.sshfs", "rw", NamedDevice::None),
            ("ext4", "rw", NamedDevice::Missing),
        ] {
            let (mut facts, line) = (FactSet::default(), Subject::boot("/data"));
            let from = || Source::line("/etc/fstab", 3);
            facts.know(
                &Subject::host(),
                &machine::CONTAINER,
                "none".to_owned(),
                from(),
            );
            facts.know(&line, &boot::SOURCE, "/dev/shm/x".to_owned(), from());
            facts.know(&line, &boot::FSTYPE, fstype.to_owned(), from());
            facts.know(&line, &boot::OPTIONS, vec![option.to_owned()], from());
            look(
                &Fake::default(),
                &mut facts,
                &mut LinkDirectories::default(),
            );
            assert_eq!(
                facts.value(&line, &boot::DEVICE),
                Some(expected),
                "{fstype} {option}"
            );
        }
    }

    #[test]
    fn a_device_is_there_or_missing_or_none() {
        let host = Fake::default()
            .answer(
                Question::List("/dev/disk/by-uuid".into()),
                b"0a-1\0C0FF-EE\0",
            )
            .answer(
                Question::List("/dev/disk/by-label".into()),
                b"my\\x20data\0",
            )
            .node("/dev/mapper/vg-lv", 0o060_600)
            .node("/dev/null", 0o020_666)
            .refuse(Question::Stat("/dev/held".into()), MissKind::TimedOut);
        for (named, container, expected) in [
            ("UUID=0a-1", "none", Some("there")),
            ("UUID=\"0a-1\"", "none", Some("there")),
            ("UUID=0a-2", "none", Some("missing")),
            ("UUID=9f-3", "none", Some("there")),
            ("UUID=9F-3", "none", Some("missing")),
            ("UUID=0a-2", "docker", None),
            ("UUID=0a-1", "docker", Some("there")),
            ("LABEL=my data", "none", Some("there")),
            ("LABEL=data", "none", Some("missing")),
            ("PARTLABEL=data", "none", None),
            ("/dev/sda1", "none", Some("there")),
            ("/dev/mapper/vg-lv", "none", Some("there")),
            ("/dev/sdz9", "none", Some("missing")),
            ("/dev/held", "none", None),
            ("/dev/null", "none", Some("other")),
            ("/dev/null", "docker", None),
            ("tmpfs", "none", Some("none")),
            ("server:/export", "none", Some("none")),
            ("pool/data", "docker", Some("none")),
        ] {
            assert_eq!(
                found(&host, named, container).as_deref(),
                expected,
                "{named} in {container}"
            );
        }
    }
}
