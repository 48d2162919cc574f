//! Whether the device that a line of fstab or a unit names exists now (fstab(5), mount(8),
//! systemd.mount(5)). The name is a path under /dev, or a tag such as `UUID=`, for which udev makes
//! a link under /dev/disk.
//!
//! The next boot itself cannot be predicted: a later boot step may create devices, such as unlocked
//! or network disks. In a container the runtime chooses /dev, so no device is certainly missing.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::COMMAND_LINE;
use crate::facts::catalog::boot::{self, BootDeviceState};
use crate::facts::catalog::{device, host, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject};
use crate::host::{Host, path_bytes, path_from_bytes};
use crate::host_readings::{error_reading, file_reading};
use crate::path_lookup::device_of_path;
use crate::text;

const TAG_DIRECTORIES: [(&str, &str); 5] = [
    ("UUID=", "/dev/disk/by-uuid"),
    ("LABEL=", "/dev/disk/by-label"),
    ("PARTUUID=", "/dev/disk/by-partuuid"),
    ("PARTLABEL=", "/dev/disk/by-partlabel"),
    ("ID=", "/dev/disk/by-id"),
];

pub fn record_presence_of_named_devices(host: &dyn Host, facts: &mut FactSet) {
    let lines: Vec<Subject> = facts.subjects_of_scope(Scope::Boot).cloned().collect();
    for line in lines {
        let found = facts
            .get(&line, &boot::SOURCE)
            .and_then_reading(|value, source| {
                if source == Source::from_file(COMMAND_LINE) {
                    Reading::known(BootDeviceState::There, source)
                } else if may_lack_block_device(facts, &line) {
                    Reading::known(BootDeviceState::None, source)
                } else {
                    presence_of_device_path_or_tag(host, facts, &value, &source)
                }
            });
        facts.insert(&line, &boot::DEVICE, found);
    }
}

/// Whether the line's source may be a path under /dev without a block device, as for bind mounts,
/// image files, FUSE and flash file systems.
fn may_lack_block_device(facts: &FactSet, line: &Subject) -> bool {
    let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
    let fstype = facts.value(line, &boot::FSTYPE).unwrap_or_default();
    ["bind", "rbind", "loop"]
        .iter()
        .any(|word| options.iter().any(|option| option == word))
        || fstype.starts_with("fuse")
        || fstype == "ubifs"
}

/// Whether the device `given`, a path or tag from a line or unit, exists. `written` is the file
/// that contains the line or unit.
pub fn presence_of_device_path_or_tag(
    host: &dyn Host,
    facts: &FactSet,
    given: &str,
    written: &Source,
) -> Reading<BootDeviceState> {
    let found = if mount_of_uuid_tag(facts, given).is_some() {
        Reading::known(
            BootDeviceState::There,
            Source::derived_from([mount::UUID.name()]),
        )
    } else if let Some((directory, value)) = split_tag_into_directory_and_value(given) {
        let link = OsString::from(udev_encode(value));
        file_reading(host.list_directory(Path::new(directory)), directory).map(|names| {
            if names.contains(&link) {
                BootDeviceState::There
            } else {
                BootDeviceState::Missing
            }
        })
    } else if given.starts_with("/dev/") {
        path_presence(host, facts, given)
    } else {
        return Reading::known(BootDeviceState::None, written.clone());
    };
    let contained = facts
        .host_value(&host::CONTAINER)
        .is_none_or(|kind| kind != "none");
    let is_gone = matches!(
        found.value(),
        Some(BootDeviceState::Missing | BootDeviceState::Other)
    );
    if contained && is_gone {
        return Reading::ambiguous(format!(
            "{given} is not a block device here, but this may not be the host's /dev"
        ));
    }
    found
}

fn split_tag_into_directory_and_value(given: &str) -> Option<(&'static str, &str)> {
    TAG_DIRECTORIES
        .into_iter()
        .find_map(|(tag, directory)| Some((directory, given.strip_prefix(tag)?.trim_matches('"'))))
}

/// The link under /dev for a tag such as `UUID=`; `None` for anything else.
pub fn tag_link(given: &str) -> Option<PathBuf> {
    split_tag_into_directory_and_value(given)
        .map(|(directory, value)| Path::new(directory).join(udev_encode(value)))
}

pub fn find_device_by_path_or_tag(
    host: &dyn Host,
    facts: &FactSet,
    given: &str,
) -> Option<Subject> {
    let path = tag_link(given).unwrap_or_else(|| path_from_bytes(text::decode_display_safe(given)));
    let linked = device_of_path(host, path_bytes(&path), facts);
    linked.or_else(|| facts.applicable_subject(mount_of_uuid_tag(facts, given)?, Scope::Device))
}

/// The mount of the file system that a tag `UUID=` names, for hosts on which udev makes no links.
fn mount_of_uuid_tag<'f>(facts: &'f FactSet, given: &str) -> Option<&'f Subject> {
    let named = given.strip_prefix("UUID=")?.trim_matches('"');
    let has_it = |mounted: &&Subject| facts.value(mounted, &mount::UUID).as_deref() == Some(named);
    facts.subjects_of_scope(Scope::Mount).find(has_it)
}

pub fn mounts_on_device<'f>(
    facts: &'f FactSet,
    device: &'f Subject,
) -> impl Iterator<Item = &'f Subject> {
    facts
        .subjects_of_scope(Scope::Mount)
        .filter(move |mounted| facts.layers_directly_below(mounted).contains(device))
}

fn path_presence(host: &dyn Host, facts: &FactSet, given: &str) -> Reading<BootDeviceState> {
    if given
        .strip_prefix("/dev/")
        .is_some_and(|name| facts.contains_subject(&Subject::device(name)))
    {
        return Reading::known(
            BootDeviceState::There,
            Source::derived_from([device::KIND.name()]),
        );
    }
    let asked = || Source::from_system_call(format!("stat {given}"));
    match host.stat(&path_from_bytes(text::decode_display_safe(given))) {
        Ok(stat) if stat.is_block_device() => Reading::known(BootDeviceState::There, asked()),
        Ok(_) => Reading::known(BootDeviceState::Other, asked()),
        Err(miss) if miss.is_absent() => Reading::known(BootDeviceState::Missing, asked()),
        Err(miss) => error_reading(&miss, given),
    }
}

/// Encodes a label or id as udev does in link names: ASCII characters other than letters, digits
/// and `#+-.:=@_` become `\xNN` (systemd's encode_devnode_name).
fn udev_encode(value: &str) -> String {
    let bytes = text::decode_display_safe(value);
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
    use crate::host::HostErrorKind;
    use crate::host::Question;
    use crate::testing::FakeHost;

    fn collected_device_state(host: &FakeHost, named: &str, container: &str) -> Option<String> {
        let mut facts = FactSet::default();
        let line = Subject::boot("/data");
        facts.insert_known(
            &Subject::host(),
            &host::CONTAINER,
            container.to_owned(),
            Source::from_file("cgroup"),
        );
        facts.insert_known(
            &Subject::device("sda1"),
            &device::KIND,
            device::DeviceKind::Partition,
            Source::from_file("sysfs"),
        );
        facts.insert_known(
            &line,
            &boot::SOURCE,
            named.to_owned(),
            Source::from_file_line("/etc/fstab", 3),
        );
        facts.insert_known(
            &Subject::mount("/srv"),
            &mount::UUID,
            "9f-3".to_owned(),
            Source::from_system_call("superblock"),
        );
        record_presence_of_named_devices(host, &mut facts);
        facts
            .value(&line, &boot::DEVICE)
            .map(|found| found.as_str().to_owned())
    }

    #[test]
    fn bind_loop_and_fuse_need_no_device() {
        for (fstype, option, expected) in [
            ("none", "bind", BootDeviceState::None),
            ("ext4", "loop", BootDeviceState::None),
            ("fuse.sshfs", "rw", BootDeviceState::None),
            ("ext4", "rw", BootDeviceState::Missing),
        ] {
            let (mut facts, line) = (FactSet::default(), Subject::boot("/data"));
            let from = || Source::from_file_line("/etc/fstab", 3);
            facts.insert_known(
                &Subject::host(),
                &host::CONTAINER,
                "none".to_owned(),
                from(),
            );
            facts.insert_known(&line, &boot::SOURCE, "/dev/shm/x".to_owned(), from());
            facts.insert_known(&line, &boot::FSTYPE, fstype.to_owned(), from());
            facts.insert_known(&line, &boot::OPTIONS, vec![option.to_owned()], from());
            record_presence_of_named_devices(&FakeHost::default(), &mut facts);
            assert_eq!(
                facts.value(&line, &boot::DEVICE),
                Some(expected),
                "{fstype} {option}"
            );
        }
    }

    #[test]
    fn device_state_from_udev_links_and_stat() {
        let host = FakeHost::default()
            .with_answer(
                Question::List("/dev/disk/by-uuid".into()),
                b"0a-1\0C0FF-EE\0",
            )
            .with_answer(
                Question::List("/dev/disk/by-label".into()),
                b"my\\x20data\0",
            )
            .with_stat_of_device_node("/dev/mapper/vg-lv", 0o060_600)
            .with_stat_of_device_node("/dev/null", 0o020_666)
            .with_error(Question::Stat("/dev/held".into()), HostErrorKind::TimedOut);
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
                collected_device_state(&host, named, container).as_deref(),
                expected,
                "{named} in {container}"
            );
        }
    }
}
