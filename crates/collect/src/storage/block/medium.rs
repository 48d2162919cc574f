//! The medium of a disk, which sets the expected speed, and whether it writes in shingled zones
//! (SMR). Both come from transport, model, rotational flag and `queue/zoned` (sysfs-block).
//!
//! The rotational flag counts only on a physical disk. Virtual machines, RAID controllers, networks
//! and USB bridges report `1` for any disk, so the medium is then `virtual` or unknown.

use super::sysfs_device::SysfsBlockDevice;
use crate::escape::ShellCommand;
use crate::facts::catalog::device::{
    self, DeviceKind, Medium, ShingledRecording, Transport, ZoneModel,
};
use crate::facts::catalog::host;
use crate::facts::{FactSet, Reading, Remedy, Source, Subject};

/// The beginnings of the models of emulated disks, with or without vendor, and of RAID volumes that
/// an LSI host adapter shows among plain SAS disks.
const EMULATED_MODELS: &[&str] = &[
    "QEMU",
    "VMware",
    "VBOX",
    "ORCL-VBOX",
    "LIO-ORG",
    "Linux scsi_debug",
    "LSILOGIC Logical Volume",
    "LSI Logical Volume",
    "Dell VIRTUAL DISK",
];

pub fn insert_medium_facts(node: &SysfsBlockDevice, facts: &mut FactSet) {
    let medium = if matches!(node.kind, DeviceKind::Zram | DeviceKind::Ram) {
        Reading::known(Medium::Memory, Source::derived_from([device::KIND.name()]))
    } else if node.kind.is_disk() {
        disk_medium(&node.subject, facts)
    } else {
        return;
    };
    facts.insert(&node.subject, &device::MEDIUM, medium);
    if node.kind.is_disk() {
        let shingled = shingled_reading(&node.subject, facts);
        facts.insert(&node.subject, &device::SHINGLED, shingled);
    }
}

fn disk_medium(disk: &Subject, facts: &FactSet) -> Reading<Medium> {
    let known = |medium: Medium, of: &[&str]| {
        Reading::known(medium, Source::derived_from(of.iter().copied()))
    };
    let by = device::TRANSPORT.name();
    facts
        .get(disk, &device::TRANSPORT)
        .and_then_reading(|transport, _| {
            if hides_physical_disks(transport) {
                return known(Medium::Virtual, &[by]);
            }
            let model = facts.value(disk, &device::MODEL).unwrap_or_default();
            let is_emulated = EMULATED_MODELS.iter().any(|name| model.starts_with(name));
            if is_emulated || facts.value(disk, &device::CLOUD).is_some() {
                return known(Medium::Virtual, &[device::MODEL.name()]);
            }
            let machine = facts.host_reading(&host::VIRTUALISATION);
            machine.and_then_reading(|machine, _| {
                // A disk passed through by a hypervisor looks the same as an emulated one, so every disk
                // of a virtual machine counts as virtual.
                if machine != "none" {
                    return known(Medium::Virtual, &[host::VIRTUALISATION.name()]);
                }
                let turns = facts.value(disk, &device::ROTATIONAL);
                let both = [by, device::ROTATIONAL.name(), host::VIRTUALISATION.name()];
                match transport {
                    Transport::Pmem => {
                        known(Medium::PersistentMemory, &[by, host::VIRTUALISATION.name()])
                    }
                    Transport::Mmc => known(Medium::Flash, &[by]),
                    _ if turns.is_none() => {
                        Reading::absent("the disk's rotational flag is unknown")
                    }
                    Transport::Sata | Transport::Sas | Transport::Nvme if turns == Some(true) => {
                        known(Medium::Platters, &both)
                    }
                    Transport::Usb if turns == Some(true) => {
                        Reading::ambiguous("USB bridges report every disk as rotational")
                    }
                    Transport::Sata | Transport::Sas | Transport::Nvme | Transport::Usb => {
                        known(Medium::Flash, &both)
                    }
                    Transport::Scsi
                    | Transport::Virtio
                    | Transport::VirtioScsi
                    | Transport::Xen
                    | Transport::Vmware
                    | Transport::Hyperv
                    | Transport::Network
                    | Transport::Megaraid
                    | Transport::Raid
                    | Transport::Other => {
                        Reading::ambiguous("the transport does not show the disk's medium")
                    }
                }
            })
        })
}

fn hides_physical_disks(transport: Transport) -> bool {
    transport.is_virtual() || transport.is_network() || transport.is_raid_controller()
}

/// `queue/zoned` covers disks that report zones. A rotating disk that accepts discards may hide its
/// zones (smartmontools' drive database).
fn shingled_reading(disk: &Subject, facts: &FactSet) -> Reading<ShingledRecording> {
    let known = |recording, of: &[&str]| {
        Reading::known(recording, Source::derived_from(of.iter().copied()))
    };
    let zoned = device::ZONED.name();
    let of = [zoned, device::MEDIUM.name(), device::DISCARD_MAX.name()];
    let by_medium = || {
        facts
            .get(disk, &device::MEDIUM)
            .and_then_reading(|medium, _| {
                if !medium.is_rotational() {
                    known(ShingledRecording::No, &of)
                } else if facts
                    .value(disk, &device::DISCARD_MAX)
                    .is_some_and(|max| max > 0)
                {
                    known(ShingledRecording::Suspected, &of)
                } else {
                    Reading::absent("drive-managed SMR is not reported to the kernel")
                        .with_remedy(Remedy::Do(query_zones_remedy(disk)))
                }
            })
    };
    facts
        .get(disk, &device::ZONED)
        .and_then_reading(|zones, _| match zones {
            ZoneModel::HostAware => known(ShingledRecording::HostAware, &[zoned]),
            ZoneModel::HostManaged => known(ShingledRecording::HostManaged, &[zoned]),
            ZoneModel::None => by_medium(),
        })
}

fn query_zones_remedy(disk: &Subject) -> String {
    let ask = ShellCommand::text_or_placeholder(
        ShellCommand::new("smartctl -i /dev/").append_quoted_name(disk.name()),
    );
    format!("run {ask}, which reports the disk's zones, if any")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice;

    struct DiskCase {
        transport: &'static str,
        model: &'static str,
        rotational: bool,
        virtualisation: &'static str,
        zoned: &'static str,
        discard: u64,
    }

    const PLAIN: DiskCase = DiskCase {
        transport: "sata",
        model: "WDC WD20EFAX-68F",
        rotational: true,
        virtualisation: "none",
        zoned: "none",
        discard: 0,
    };

    fn medium_and_smr(disk: &DiskCase) -> (Option<Medium>, Option<ShingledRecording>) {
        let mut facts = FactSet::default();
        let node = SysfsBlockDevice::new("sda", "disk");
        let source = || Source::from_file("x");
        facts.insert_known(
            &node.subject,
            &device::TRANSPORT,
            Transport::from_word(disk.transport).unwrap(),
            source(),
        );
        facts.insert_known(
            &node.subject,
            &device::MODEL,
            disk.model.to_owned(),
            source(),
        );
        facts.insert_known(
            &node.subject,
            &device::ROTATIONAL,
            disk.rotational,
            source(),
        );
        let zoned = Reading::known(disk.zoned, source()).and_then(ZoneModel::parse_word);
        facts.insert(&node.subject, &device::ZONED, zoned);
        facts.insert_known(&node.subject, &device::DISCARD_MAX, disk.discard, source());
        facts.insert_known(
            &Subject::host(),
            &host::VIRTUALISATION,
            disk.virtualisation.to_owned(),
            source(),
        );
        insert_medium_facts(&node, &mut facts);
        (
            facts.value(&node.subject, &device::MEDIUM),
            facts.value(&node.subject, &device::SHINGLED),
        )
    }

    #[test]
    fn rotational_flag_counts_only_for_physical_disks() {
        for (disk, medium) in [
            (PLAIN, Some("platters")),
            (
                DiskCase {
                    rotational: false,
                    ..PLAIN
                },
                Some("flash"),
            ),
            (
                DiskCase {
                    transport: "nvme",
                    rotational: false,
                    ..PLAIN
                },
                Some("flash"),
            ),
            (
                DiskCase {
                    virtualisation: "kvm",
                    ..PLAIN
                },
                Some("virtual"),
            ),
            (
                DiskCase {
                    transport: "megaraid",
                    ..PLAIN
                },
                Some("virtual"),
            ),
            (
                DiskCase {
                    transport: "virtio",
                    ..PLAIN
                },
                Some("virtual"),
            ),
            (
                DiskCase {
                    transport: "network",
                    ..PLAIN
                },
                Some("virtual"),
            ),
            (
                DiskCase {
                    transport: "vmware",
                    ..PLAIN
                },
                Some("virtual"),
            ),
            (
                DiskCase {
                    transport: "sas",
                    model: "LSILOGIC Logical Volume",
                    ..PLAIN
                },
                Some("virtual"),
            ),
            (
                DiskCase {
                    model: "QEMU HARDDISK",
                    ..PLAIN
                },
                Some("virtual"),
            ),
            (
                DiskCase {
                    transport: "pmem",
                    ..PLAIN
                },
                Some("persistent memory"),
            ),
            (
                DiskCase {
                    transport: "usb",
                    ..PLAIN
                },
                None,
            ),
            (
                DiskCase {
                    transport: "usb",
                    rotational: false,
                    ..PLAIN
                },
                Some("flash"),
            ),
            (
                DiskCase {
                    transport: "scsi",
                    ..PLAIN
                },
                None,
            ),
        ] {
            assert_eq!(
                medium_and_smr(&disk).0.map(Medium::as_str),
                medium,
                "{} {}",
                disk.transport,
                disk.model
            );
        }
    }

    #[test]
    fn shingled_state_from_zones_and_discards() {
        for (disk, shingled) in [
            (
                DiskCase {
                    zoned: "host-managed",
                    ..PLAIN
                },
                Some("host-managed"),
            ),
            (
                DiskCase {
                    zoned: "host-aware",
                    virtualisation: "kvm",
                    ..PLAIN
                },
                Some("host-aware"),
            ),
            (
                DiskCase {
                    discard: 1 << 30,
                    ..PLAIN
                },
                Some("suspected"),
            ),
            (PLAIN, None),
            (
                DiskCase {
                    discard: 1 << 30,
                    rotational: false,
                    ..PLAIN
                },
                Some("no"),
            ),
            // Like a disk with shingled zones, a hypervisor's thin volume is rotational and accepts
            // discards.
            (
                DiskCase {
                    discard: 1 << 30,
                    virtualisation: "kvm",
                    ..PLAIN
                },
                Some("no"),
            ),
            (
                DiskCase {
                    zoned: "sometimes",
                    ..PLAIN
                },
                None,
            ),
        ] {
            assert_eq!(
                medium_and_smr(&disk).1.map(ShingledRecording::as_str),
                shingled,
                "{} {}",
                disk.zoned,
                disk.discard
            );
        }
    }
}
