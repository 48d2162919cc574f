//! Whether the device that a line names exists now: a path under /dev, or a tag such as `UUID=`,
//! for which udev makes a link under /dev/disk (fstab(5), mount(8), systemd.mount(5)).
//!
//! The next boot itself cannot be predicted; devices created by a later boot step (unlocked or
//! network disks) are left to `rules`. In a container the runtime chooses /dev, so no device is
//! certainly missing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::entry::COMMAND_LINE;
use crate::facts::catalog::boot::{self, NamedDevice};
use crate::facts::catalog::{device, host as machine, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, UnknownReason};
use crate::host::{Host, HostErrorKind, path_bytes, path_from_bytes};
use crate::lookup::device_of_path;
use crate::refusal::error_reading;
use crate::text;

const TAGS: [(&str, &str); 5] = [
    ("UUID=", "/dev/disk/by-uuid"),
    ("LABEL=", "/dev/disk/by-label"),
    ("PARTUUID=", "/dev/disk/by-partuuid"),
    ("PARTLABEL=", "/dev/disk/by-partlabel"),
    ("ID=", "/dev/disk/by-id"),
];

/// The names in each link directory listed so far.
pub type LinkDirectories = BTreeMap<&'static str, Reading<BTreeSet<OsString>>>;

/// Records it for every line. The root on the kernel command line exists, because this boot mounted
/// it.
pub fn record(host: &dyn Host, facts: &mut FactSet, listed: &mut LinkDirectories) {
    let lines: Vec<Subject> = facts.subjects(Scope::Boot).cloned().collect();
    for line in lines {
        let found = facts.get(&line, &boot::SOURCE).then(|value, source| {
            if source == Source::file(COMMAND_LINE) {
                Reading::known(NamedDevice::There, source)
            } else if needs_no_device(facts, &line) {
                Reading::known(NamedDevice::None, source)
            } else {
                device_presence(host, facts, &value, &source, listed)
            }
        });
        facts.insert(&line, &boot::DEVICE, found);
    }
}

/// Whether the source of a line may be under /dev without being a block device: bind mounts, image
/// files, FUSE and flash file systems.
fn needs_no_device(facts: &FactSet, line: &Subject) -> bool {
    let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
    let fstype = facts.value(line, &boot::FSTYPE).unwrap_or_default();
    ["bind", "rbind", "loop"]
        .iter()
        .any(|word| options.iter().any(|option| option == word))
        || fstype.starts_with("fuse")
        || fstype == "ubifs"
}

/// `given` is the device of a line or unit, `written` its source.
pub fn device_presence(
    host: &dyn Host,
    facts: &FactSet,
    given: &str,
    written: &Source,
    listed: &mut LinkDirectories,
) -> Reading<NamedDevice> {
    let found = if mounted_by_uuid(facts, given).is_some() {
        Reading::known(NamedDevice::There, Source::derived([mount::UUID.name()]))
    } else if let Some((directory, value)) = tag_directory(given) {
        let names =
            listed
                .entry(directory)
                .or_insert_with(|| match host.list(Path::new(directory)) {
                    Ok(names) => {
                        Reading::known(names.into_iter().collect(), Source::file(directory))
                    }
                    Err(miss) => error_reading(&miss, directory),
                });
        names.as_ref().map(|names| {
            let is_there = names.contains(OsStr::new(&udev_encode(value)));
            if is_there {
                NamedDevice::There
            } else {
                NamedDevice::Missing
            }
        })
    } else if given.starts_with("/dev/") {
        path_presence(host, facts, given)
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
            UnknownReason::Ambiguous,
            format!("{given} does not exist here, but /dev may not be the host's own"),
        ),
        found @ (Reading::Known {
            value:
                NamedDevice::There | NamedDevice::Missing | NamedDevice::Other | NamedDevice::None,
            ..
        }
        | Reading::Unknown { .. }) => found,
    }
}

/// The link directory of a tag, and the tag's value.
fn tag_directory(given: &str) -> Option<(&'static str, &str)> {
    let (tag, directory) = TAGS.into_iter().find(|(tag, _)| given.starts_with(tag))?;
    Some((
        directory,
        given
            .strip_prefix(tag)
            .unwrap_or_default()
            .trim_matches('"'),
    ))
}

/// The link under /dev of a tag; `None` for anything else.
pub fn tag_link(given: &str) -> Option<PathBuf> {
    tag_directory(given).map(|(directory, value)| Path::new(directory).join(udev_encode(value)))
}

/// The block device that a line names, if it is known.
pub fn find_device(host: &dyn Host, facts: &FactSet, given: &str) -> Option<Subject> {
    let path = tag_link(given).unwrap_or_else(|| path_from_bytes(text::original_bytes(given)));
    let linked = device_of_path(host, path_bytes(&path), facts);
    linked.or_else(|| facts.resolve(mounted_by_uuid(facts, given)?, Scope::Device))
}

/// The mounted file system with this UUID, for hosts where udev makes no links.
fn mounted_by_uuid<'f>(facts: &'f FactSet, given: &str) -> Option<&'f Subject> {
    let named = given.strip_prefix("UUID=")?.trim_matches('"');
    let has_it = |mounted: &&Subject| facts.value(mounted, &mount::UUID).as_deref() == Some(named);
    facts.subjects(Scope::Mount).find(has_it)
}

/// Mounts directly on this device.
pub fn mounts_on_device<'f>(
    facts: &'f FactSet,
    device: &'f Subject,
) -> impl Iterator<Item = &'f Subject> {
    facts
        .subjects(Scope::Mount)
        .filter(move |mounted| facts.below(mounted).contains(device))
}

/// A known device's path, or a path that leads to a block device.
fn path_presence(host: &dyn Host, facts: &FactSet, given: &str) -> Reading<NamedDevice> {
    let known = given
        .strip_prefix("/dev/")
        .map(Subject::device)
        .filter(|found| facts.contains(found));
    if known.is_some() {
        return Reading::known(NamedDevice::There, Source::derived([device::KIND.name()]));
    }
    let asked = || Source::call(format!("stat {given}"));
    match host.stat(&path_from_bytes(text::original_bytes(given))) {
        Ok(stat) if stat.is_block() => Reading::known(NamedDevice::There, asked()),
        Ok(_) => Reading::known(NamedDevice::Other, asked()),
        Err(miss) if miss.kind == HostErrorKind::Absent => {
            Reading::known(NamedDevice::Missing, asked())
        }
        Err(miss) => error_reading(&miss, given),
    }
}

/// udev's encoding of labels and ids in link names: anything but letters, digits and `#+-.:=@_`
/// becomes `\xNN` (systemd's encode_devnode_name).
fn udev_encode(value: &str) -> String {
    let bytes = text::original_bytes(value);
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
    use crate::testing::FakeHost;

    fn device_presence(host: &FakeHost, named: &str, container: &str) -> Option<String> {
        let mut facts = FactSet::default();
        let line = Subject::boot("/data");
        facts.insert_known(
            &Subject::host(),
            &machine::CONTAINER,
            container.to_owned(),
            Source::file("cgroup"),
        );
        facts.insert_known(
            &Subject::device("sda1"),
            &device::KIND,
            device::DeviceKind::Partition,
            Source::file("sysfs"),
        );
        facts.insert_known(
            &line,
            &boot::SOURCE,
            named.to_owned(),
            Source::line("/etc/fstab", 3),
        );
        facts.insert_known(
            &Subject::mount("/srv"),
            &mount::UUID,
            "9f-3".to_owned(),
            Source::call("superblock"),
        );
        record(host, &mut facts, &mut LinkDirectories::default());
        facts
            .value(&line, &boot::DEVICE)
            .map(|found| found.as_str().to_owned())
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
            facts.insert_known(
                &Subject::host(),
                &machine::CONTAINER,
                "none".to_owned(),
                from(),
            );
            facts.insert_known(&line, &boot::SOURCE, "/dev/shm/x".to_owned(), from());
            facts.insert_known(&line, &boot::FSTYPE, fstype.to_owned(), from());
            facts.insert_known(&line, &boot::OPTIONS, vec![option.to_owned()], from());
            record(
                &FakeHost::default(),
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
        let host = FakeHost::default()
            .answer(
                Question::List("/dev/disk/by-uuid".into()),
                b"0a-1\0C0FF-EE\0",
            )
            .answer(
                Question::List("/dev/disk/by-label".into()),
                b"my\\x20data\0",
            )
            .stat_node("/dev/mapper/vg-lv", 0o060_600)
            .stat_node("/dev/null", 0o020_666)
            .refuse(Question::Stat("/dev/held".into()), HostErrorKind::TimedOut);
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
                device_presence(&host, named, container).as_deref(),
                expected,
                "{named} in {container}"
            );
        }
    }
}
