//! The kernel command line: the root's mount options, and the names of other parameters that mount,
//! unlock or wait for devices.
//!
//! The kernel takes the last of several `rootflags=`, systemd joins them all, and each initramfs
//! differs. Options that disagree are therefore marked as incomplete.

use std::collections::BTreeSet;
use std::path::Path;

use super::{
    BootMountEntry, COMMAND_LINE, is_luks_mapping_of, named_device, note_unread_file,
    split_options, visible_mount_at,
};
use crate::facts::catalog::boot::{self, BootDeviceState};
use crate::facts::catalog::{device as block, mount};
use crate::facts::{FactSet, Reading, Source, UnknownReason};
use crate::host::{ConfigDialect, ConfigDirective, Host};
use crate::host_readings::error_reading;
use crate::text::display_safe;

pub fn record_command_line(host: &dyn Host, facts: &mut FactSet) {
    match host.config_directives(Path::new(COMMAND_LINE), ConfigDialect::KernelCommandLine) {
        Ok(settings) => {
            let unread = unexamined_or_unmet_parameters(host, facts, &settings);
            facts.insert_host(&boot::PARAMETERS_UNREAD, unread);
            if let Some(entry) = root_mount_from_rootflags(&settings) {
                entry.insert_boot_facts(facts);
            }
        }
        Err(miss) => {
            let _ = note_unread_file(facts, &miss, COMMAND_LINE);
            facts.insert_host(&boot::PARAMETERS_UNREAD, error_reading(&miss, COMMAND_LINE));
        }
    }
}

fn last_directive<'s>(settings: &'s [ConfigDirective], key: &[u8]) -> Option<&'s ConfigDirective> {
    settings.iter().rev().find(|setting| setting.key == key)
}

fn has_consistent_root_flags(settings: &[ConfigDirective]) -> bool {
    let mut flags = settings
        .iter()
        .filter(|setting| setting.key == b"rootflags");
    flags
        .next()
        .is_none_or(|first| flags.all(|other| other.value == first.value))
}

fn root_mount_from_rootflags(settings: &[ConfigDirective]) -> Option<BootMountEntry> {
    let flags = last_directive(settings, b"rootflags")?;
    let word = |key: &[u8], what: &str| match last_directive(settings, key) {
        Some(setting) => Reading::known(
            display_safe(&setting.value),
            Source::from_file(COMMAND_LINE),
        ),
        None => Reading::absent(format!("no {what} in {COMMAND_LINE}")),
    };
    Some(BootMountEntry {
        point: b"/".to_vec(),
        source: word(b"root", "root="),
        fstype: word(b"rootfstype", "rootfstype="),
        options: split_options(&flags.value),
        dump_and_pass: None,
        is_complete: last_directive(settings, b"kept")
            .map(|setting| &*setting.value == b"whole" && has_consistent_root_flags(settings)),
        auto: Reading::known(true, Source::from_file(COMMAND_LINE)),
        origin: Source::from_file(COMMAND_LINE),
    })
}

/// The names of parameters that are not examined, or that name something that does not exist now.
/// Unknown in old captures, which lack the names.
fn unexamined_or_unmet_parameters(
    host: &dyn Host,
    facts: &FactSet,
    settings: &[ConfigDirective],
) -> Reading<Vec<String>> {
    let Some(names) = last_directive(settings, b"names") else {
        return Reading::unknown(
            UnknownReason::NotCollected,
            format!("the names of parameters in {COMMAND_LINE} were not recorded"),
        );
    };
    let names = display_safe(&names.value);
    let mut unread: BTreeSet<String> = names
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let written = Source::from_file(COMMAND_LINE);
    let is_there = |named: &str| {
        named_device::presence_of_device_path_or_tag(host, facts, named, &written).value()
            == Some(&BootDeviceState::There)
    };
    for setting in settings {
        let value = display_safe(&setting.value);
        let is_seen = match &*setting.key {
            b"resume" => is_there(&value),
            b"rd.md.uuid" => is_there(&format!("/dev/disk/by-id/md-uuid-{value}")),
            b"rd.luks.uuid" => is_luks_mapping_active(facts, &value),
            b"rd.lvm.lv" => is_logical_volume_active(facts, &value),
            b"rd.lvm.vg" => {
                let begins = format!("{}-", escape_mapping_name(&value));
                mapping_names(facts).any(|name| {
                    name.strip_prefix(&begins)
                        .is_some_and(|volume| !volume.starts_with('-'))
                })
            }
            b"rootfstype" => is_root_mounted_with_listed_type(facts, &value),
            _ => true,
        };
        if !is_seen {
            unread.insert(display_safe(&setting.key));
        }
    }
    if !has_consistent_root_flags(settings) {
        unread.insert("rootflags".to_owned());
    }
    Reading::known(unread.into_iter().collect(), written)
}

fn mapping_names(facts: &FactSet) -> impl Iterator<Item = String> {
    facts
        .known_values_by_subject(&block::DM_NAME)
        .into_iter()
        .map(|(_, name)| name)
}

/// Whether the logical volume `group/volume` is active. device-mapper joins both names with a dash
/// and doubles dashes inside them.
fn is_logical_volume_active(facts: &FactSet, volume: &str) -> bool {
    volume.split_once('/').is_some_and(|(group, volume)| {
        let name = format!(
            "{}-{}",
            escape_mapping_name(group),
            escape_mapping_name(volume)
        );
        mapping_names(facts).any(|active| active == name)
    })
}

fn escape_mapping_name(name: &str) -> String {
    name.replace('-', "--")
}

/// `header` is `luks-UUID` or `UUID`.
fn is_luks_mapping_active(facts: &FactSet, header: &str) -> bool {
    let header = header.strip_prefix("luks-").unwrap_or(header);
    facts
        .known_values_by_subject(&block::DM_UUID)
        .iter()
        .any(|(_, uuid)| is_luks_mapping_of(uuid, header))
}

fn is_root_mounted_with_listed_type(facts: &FactSet, types: &str) -> bool {
    let fstype = visible_mount_at(facts, "/")
        .and_then(|mounted| facts.value(&mounted, &mount::FSTYPE))
        .unwrap_or_default();
    types.split(',').any(|written| written == fstype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Subject;
    use crate::facts::catalog::host;
    use crate::host::Question;
    use crate::testing::FakeHost;

    fn command_line_facts(rows: &[(&str, &str)]) -> FactSet {
        let mut facts = FactSet::default();
        let from = || Source::from_file("a test");
        facts.insert_known(
            &Subject::host(),
            &host::CONTAINER,
            "none".to_owned(),
            from(),
        );
        facts.insert_known(
            &Subject::mount("/"),
            &mount::FSTYPE,
            "xfs".to_owned(),
            from(),
        );
        for (device, name, uuid) in [
            ("dm-0", "rhel-root", "LVM-a"),
            ("dm-1", "my--vg-my--lv", "LVM-b"),
            ("dm-2", "luks-12-34", "CRYPT-LUKS2-1234-luks-12-34"),
        ] {
            facts.insert_known(
                &Subject::device(device),
                &block::DM_NAME,
                name.to_owned(),
                from(),
            );
            facts.insert_known(
                &Subject::device(device),
                &block::DM_UUID,
                uuid.to_owned(),
                from(),
            );
        }
        let rows: Vec<u8> = rows
            .iter()
            .flat_map(|(key, value)| {
                ConfigDirective::new(1, key.as_bytes(), value.as_bytes()).encode()
            })
            .collect();
        let host = FakeHost::default()
            .with_answer(
                Question::Config(COMMAND_LINE.into(), ConfigDialect::KernelCommandLine),
                rows,
            )
            .with_answer(Question::List("/dev/disk/by-uuid".into()), b"7\0");
        record_command_line(&host, &mut facts);
        facts
    }

    fn unexamined_names(rows: &[(&str, &str)]) -> Option<String> {
        command_line_facts(rows)
            .host_value(&boot::PARAMETERS_UNREAD)
            .map(|names| names.join(" "))
    }

    #[test]
    fn unexamined_parameters_are_listed_by_name() {
        assert_eq!(
            unexamined_names(&[("root", "/dev/vda"), ("names", "")]).as_deref(),
            Some("")
        );
        assert_eq!(
            unexamined_names(&[("names", "mount.usr,zfs")]).as_deref(),
            Some("mount.usr zfs")
        );
        assert_eq!(
            unexamined_names(&[("root", "/dev/vda")]),
            None,
            "a capture from before the names were kept"
        );
    }

    #[test]
    fn device_parameters_are_compared_with_devices() {
        for (key, there, gone) in [
            ("rd.lvm.lv", "rhel/root", "rhel/swap"),
            ("rd.lvm.lv", "my-vg/my-lv", "my/vg-my-lv"),
            ("rd.lvm.vg", "my-vg", "my"),
            ("rd.luks.uuid", "luks-12-34", "luks-12"),
            ("rd.luks.uuid", "1234", "34"),
            ("resume", "UUID=7", "UUID=8"),
            ("rootfstype", "ext4,xfs", "btrfs"),
        ] {
            assert_eq!(
                unexamined_names(&[(key, there), ("names", "")]).as_deref(),
                Some(""),
                "{key}={there}"
            );
            assert_eq!(
                unexamined_names(&[(key, gone), ("names", "")]).as_deref(),
                Some(key),
                "{key}={gone}"
            );
        }
    }

    #[test]
    fn differing_root_flags_are_incomplete() {
        for (other, whole) in [("noatime", true), ("nobarrier", false)] {
            let rows = [
                ("rootflags", other),
                ("rootflags", "noatime"),
                ("names", ""),
                ("kept", "whole"),
            ];
            assert_eq!(
                command_line_facts(&rows).value(&Subject::boot("/"), &boot::WHOLE),
                Some(whole),
                "{other}"
            );
            assert_eq!(
                unexamined_names(&rows).as_deref(),
                Some(if whole { "" } else { "rootflags" }),
                "{other}"
            );
        }
    }
}
