//! Finds the RAID volume behind a disk.
//!
//! A volume matches by the disk's node, its world-wide name, or its number in the SCSI address.
//! The number counts only if the controller is certain: by its PCI address, or because there is
//! only one. If several volumes are possible, only the values on which they agree count. A
//! passed-through disk (JBOD, HBA mode) is not a volume, and the controller's battery does not
//! protect it.

use super::report::{Adapter, PciAddress, Volume, parse_pci_address};
use crate::scsi_drivers::ControllerFamily;
use crate::text::is_decimal;

#[derive(Clone, Debug, Default)]
pub struct BlockDeviceIdentity {
    pub node: String,
    /// The world-wide name: hexadecimal digits in lower case.
    pub wwn: Option<String>,
    pub model: String,
    pub pci: Option<PciAddress>,
    /// Channel and target of the SCSI address.
    pub address: Option<(u32, u32)>,
    /// The RAID level that the driver reports (hpsa and smartpqi); `N/A` for a disk that is not a
    /// volume.
    pub raid_level: Option<String>,
}

impl BlockDeviceIdentity {
    pub fn with_addresses_from_sysfs_path(mut self, place: &str) -> Self {
        let parts: Vec<&str> = place.split('/').collect();
        let host = parts
            .iter()
            .position(|part| part.strip_prefix("host").is_some_and(is_decimal));
        self.pci = host.and_then(|host| {
            parts
                .get(..host)?
                .iter()
                .rev()
                .find_map(|part| parse_pci_address(part))
        });
        self.address = parts.iter().rev().find_map(|part| {
            let numbers: Option<Vec<u32>> =
                part.split(':').map(|number| number.parse().ok()).collect();
            match numbers?.as_slice() {
                [_, channel, target, _] => Some((*channel, *target)),
                _ => None,
            }
        });
        self
    }

    /// Whether the disk is a volume, not a passed-through disk; `None` if unknown.
    fn is_raid_volume(&self, family: ControllerFamily) -> Option<bool> {
        let is_logical = self.model.ends_with("LOGICAL VOLUME");
        match (family, self.address) {
            // Passed-through disks have channels 0 and 1, volumes 2 and 3
            // (`MEGASAS_MAX_PD_CHANNELS` in drivers/scsi/megaraid/megaraid_sas.h).
            (ControllerFamily::MegaRaid, Some((channel, _))) => Some(channel >= 2),
            // Volumes have channel 0 (`CONTAINER_CHANNEL` in drivers/scsi/aacraid/aacraid.h).
            (ControllerFamily::Adaptec, Some((channel, _))) => Some(channel == 0),
            (ControllerFamily::MegaRaid | ControllerFamily::Adaptec, None) => {
                is_logical.then_some(true)
            }
            _ if self.raid_level.as_deref() == Some("N/A") => Some(false),
            // Only volumes have the model *LOGICAL VOLUME* (drivers/scsi/hpsa.c passes the
            // firmware's answer on unchanged).
            (ControllerFamily::SmartArray, _) if !self.model.is_empty() => Some(is_logical),
            _ => is_logical.then_some(true),
        }
    }

    /// `None` if the address does not show the volume. On 9600 controllers, the SCSI target of a
    /// volume is not the volume's number in the tool.
    fn target_number(&self, family: ControllerFamily) -> Option<u32> {
        let (channel, target) = self.address?;
        match family {
            // Each channel has 128 numbers (`MEGASAS_DEV_INDEX`).
            ControllerFamily::MegaRaid => Some(channel % 2 * 128 + target),
            ControllerFamily::Adaptec => Some(target),
            ControllerFamily::SmartArray
            | ControllerFamily::SmartRaid
            | ControllerFamily::MegaRaid9600
            | ControllerFamily::Unsupported => None,
        }
    }
}

#[derive(Clone, Debug)]
pub enum VolumeMatch<'a> {
    Volume(&'a Adapter, &'a Volume),
    OneOf(Vec<(&'a Adapter, &'a Volume)>),
    PassThrough,
    NotFound(&'static str),
}

/// `controllers` is the number of controllers of this family, counted by PCI address.
pub fn find_volume_of_disk<'a>(
    disk: &BlockDeviceIdentity,
    adapters: &'a [Adapter],
    family: ControllerFamily,
    controllers: usize,
) -> VolumeMatch<'a> {
    let is_volume = disk.is_raid_volume(family);
    if is_volume == Some(false) {
        return VolumeMatch::PassThrough;
    }
    let here: Vec<&Adapter> = adapters
        .iter()
        .filter(|adapter| adapter.pci.is_some() && adapter.pci == disk.pci)
        .collect();
    let unplaced = || {
        adapters
            .iter()
            .filter(|adapter| adapter.pci.is_none() || disk.pci.is_none())
    };
    let is_placed = !here.is_empty();
    let (candidates, is_sure): (Vec<&Adapter>, bool) = match here.len() {
        0 => (
            unplaced().collect(),
            adapters.len() == 1 && controllers == 1,
        ),
        1 => (here, true),
        2.. => {
            return VolumeMatch::NotFound(
                "the controller's tool lists two controllers at one PCI address",
            );
        }
    };
    if candidates.is_empty() {
        return VolumeMatch::NotFound(
            "the controller's tool lists no controller at this PCI address",
        );
    }
    let target = disk.target_number(family);
    let may_be = |(_, volume): &(&Adapter, &Volume)| {
        !node_or_wwn_contradicts(disk, volume)
            && (volume.target.is_none() || target.is_none() || volume.target == target)
    };
    let volumes: Vec<(&Adapter, &Volume)> = candidates
        .into_iter()
        .flat_map(|adapter| adapter.volumes.iter().map(move |volume| (adapter, volume)))
        .filter(may_be)
        .collect();
    let named: Vec<_> = volumes
        .iter()
        .filter(|(_, volume)| node_or_wwn_matches(disk, volume))
        .collect();
    let numbered: Vec<_> = volumes
        .iter()
        .filter(|(_, volume)| is_sure && target.is_some() && volume.target == target)
        .collect();
    match (named.as_slice(), numbered.as_slice()) {
        ([(adapter, volume)], _) | ([], [(adapter, volume)]) => {
            VolumeMatch::Volume(adapter, volume)
        }
        _ if volumes.is_empty() => {
            VolumeMatch::NotFound("the controller's tool lists no matching volume")
        }
        _ if is_volume == Some(true)
            && (is_sure || !is_placed && adapters.len() >= controllers) =>
        {
            VolumeMatch::OneOf(volumes)
        }
        _ => VolumeMatch::NotFound(
            "none of the listed volumes can be matched to this disk with certainty",
        ),
    }
}

fn node_or_wwn_matches(disk: &BlockDeviceIdentity, volume: &Volume) -> bool {
    volume.node.as_ref() == Some(&disk.node) || volume.wwn.is_some() && volume.wwn == disk.wwn
}

fn node_or_wwn_contradicts(disk: &BlockDeviceIdentity, volume: &Volume) -> bool {
    let other_node = volume.node.as_ref().is_some_and(|node| *node != disk.node);
    let other_wwn = matches!((&volume.wwn, &disk.wwn), (Some(one), Some(other)) if one != other);
    other_node || other_wwn
}

#[cfg(test)]
mod tests {
    use super::super::report::{Adapter, Volume, not_reported};
    use super::{BlockDeviceIdentity, ControllerFamily, VolumeMatch, find_volume_of_disk};
    use walwise_model::text::JoinText;

    fn volume(name: &str, target: Option<u32>, node: Option<&str>, wwn: Option<&str>) -> Volume {
        Volume {
            name: name.to_owned(),
            target,
            node: node.map(str::to_owned),
            wwn: wwn.map(str::to_owned),
            policy: not_reported("a test"),
            in_force: not_reported("a test"),
            on_failure: not_reported("a test"),
            disk_cache: not_reported("a test"),
        }
    }

    fn adapter(bus: Option<u32>, volumes: &[Volume]) -> Adapter {
        let pci = bus.map(|bus| [0, bus, 0, 0]);
        Adapter {
            pci,
            volumes: volumes.to_vec(),
            ..Adapter::name_only("0", not_reported("a test"))
        }
    }

    fn disk(place: &str) -> BlockDeviceIdentity {
        BlockDeviceIdentity {
            node: "/dev/sda".to_owned(),
            wwn: Some("6001".to_owned()),
            ..BlockDeviceIdentity::default()
        }
        .with_addresses_from_sysfs_path(place)
    }

    const VOLUME_1: &str =
        "../../devices/pci0000:00/0000:02:00.0/host3/target3:2:1/3:2:1:0/block/sda";
    const PASSED_ON: &str =
        "../../devices/pci0000:00/0000:02:00.0/host3/target3:0:1/3:0:1:0/block/sda";

    fn volume_match_text(
        disk: &BlockDeviceIdentity,
        adapters: &[Adapter],
        family: ControllerFamily,
        controllers: usize,
    ) -> String {
        match find_volume_of_disk(disk, adapters, family, controllers) {
            VolumeMatch::Volume(_, volume) => volume.name.clone(),
            VolumeMatch::OneOf(volumes) => volumes
                .iter()
                .map(|(_, volume)| volume.name.as_str())
                .join_with("|"),
            VolumeMatch::PassThrough => "passed on".to_owned(),
            VolumeMatch::NotFound(_) => String::new(),
        }
    }

    #[test]
    fn device_path_gives_pci_and_scsi_address() {
        let disk = disk(VOLUME_1);
        assert_eq!((disk.pci, disk.address), (Some([0, 2, 0, 0]), Some((2, 1))));
        let nowhere = BlockDeviceIdentity::default()
            .with_addresses_from_sysfs_path("../../devices/virtual/block/loop0");
        assert_eq!((nowhere.pci, nowhere.address), (None, None));
    }

    #[test]
    fn target_number_counts_only_within_controller() {
        use ControllerFamily::MegaRaid;
        let numbered = |name: &str, target| volume(name, Some(target), None, None);
        let (here, there) = ([numbered("a0", 0), numbered("a1", 1)], [numbered("b1", 1)]);
        let of = |adapters: &[Adapter], controllers| {
            volume_match_text(&disk(VOLUME_1), adapters, MegaRaid, controllers)
        };
        let at = |bus, volumes: &[Volume]| adapter(bus, volumes);
        assert_eq!(of(&[at(Some(2), &here), at(Some(3), &there)], 2), "a1");
        assert_eq!(
            of(&[at(Some(4), &here), at(Some(3), &there)], 2),
            "",
            "neither is this one"
        );
        assert_eq!(of(&[at(None, &here)], 1), "a1");
        assert_eq!(of(&[at(None, &here)], 2), "", "it may be the other's");
        assert_eq!(of(&[at(None, &here), at(None, &there)], 2), "a1|b1");
        assert_eq!(of(&[at(Some(2), &here), at(Some(2), &there)], 2), "");
        assert_eq!(
            of(&[at(Some(2), &here[..1])], 1),
            "",
            "the list lacks this number"
        );
        // The volume numbers of channel 3 start at 128.
        let far = disk(&VOLUME_1.replace("3:2:1", "3:3:1"));
        assert_eq!(
            volume_match_text(
                &far,
                &[at(Some(2), &[numbered("a129", 129), here[1].clone()])],
                MegaRaid,
                1
            ),
            "a129"
        );
        assert_eq!(
            volume_match_text(&disk(PASSED_ON), &[at(Some(2), &here)], MegaRaid, 1),
            "passed on"
        );
    }

    #[test]
    fn node_and_wwn_identify_volume_unless_contradicted() {
        use ControllerFamily::SmartRaid;
        let of = |volumes: &[Volume]| {
            volume_match_text(&disk(VOLUME_1), &[adapter(Some(2), volumes)], SmartRaid, 1)
        };
        assert_eq!(
            of(&[
                volume("a", None, Some("/dev/sdb"), None),
                volume("b", None, Some("/dev/sda"), None)
            ]),
            "b"
        );
        assert_eq!(of(&[volume("a", None, None, Some("6001"))]), "a");
        assert_eq!(of(&[volume("a", None, Some("/dev/sda"), Some("6002"))]), "");
        assert_eq!(of(&[volume("a", None, Some("/dev/sdb"), Some("6001"))]), "");
        assert_eq!(
            of(&[
                volume("a", None, Some("/dev/sda"), None),
                volume("b", None, Some("/dev/sda"), None)
            ]),
            ""
        );
        assert_eq!(
            of(&[volume("a", None, None, None)]),
            "",
            "it may be a disk that is passed on"
        );
        let logical = BlockDeviceIdentity {
            model: "HPE LOGICAL VOLUME".to_owned(),
            ..disk(VOLUME_1)
        };
        let two = [volume("a", None, None, None), volume("b", None, None, None)];
        assert_eq!(
            volume_match_text(&logical, &[adapter(Some(2), &two)], SmartRaid, 1),
            "a|b"
        );
        assert_eq!(
            volume_match_text(&logical, &[adapter(Some(3), &two)], SmartRaid, 1),
            ""
        );
    }

    #[test]
    fn raid_level_na_means_pass_through() {
        let volumes = [volume("a", None, None, None)];
        let of = |level: Option<&str>, family| {
            let disk = BlockDeviceIdentity {
                raid_level: level.map(str::to_owned),
                ..disk(VOLUME_1)
            };
            volume_match_text(&disk, &[adapter(Some(2), &volumes)], family, 1)
        };
        assert_eq!(of(Some("N/A"), ControllerFamily::SmartRaid), "passed on");
        assert_eq!(of(Some("N/A"), ControllerFamily::SmartArray), "passed on");
        assert_eq!(
            of(Some("RAID-1(1+0)"), ControllerFamily::SmartRaid),
            "",
            "a volume's name decides, as before"
        );
        assert_eq!(
            of(None, ControllerFamily::SmartRaid),
            "",
            "older drivers do not say"
        );
        assert_ne!(
            of(Some("N/A"), ControllerFamily::MegaRaid),
            "passed on",
            "other drivers show no such thing"
        );
    }
}
