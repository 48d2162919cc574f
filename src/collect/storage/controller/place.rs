//! The volume of a RAID controller behind a disk.
//!
//! A volume is recognised by the disk's node, its world-wide name, or its number in the SCSI address. The number counts
//! only if the controller is known by its place on the bus. An ambiguous disk stays unknown: nothing is inherited from
//! another controller. A disk that a RAID controller passes on (JBOD, HBA mode) is no volume, and the controller's
//! battery does not protect it.

use super::said::{Adapter, Pci, Volume, pci};

/// How a family of controllers shows its volumes among its SCSI addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Disks that are passed on have channels 0 and 1, volumes channels 2 and 3 (`MEGASAS_MAX_PD_CHANNELS` in
    /// drivers/scsi/megaraid/megaraid_sas.h).
    MegaRaid,
    /// Volumes have channel 0 (`CONTAINER_CHANNEL` in drivers/scsi/aacraid/aacraid.h).
    Aacraid,
    /// The address tells nothing, but volumes call themselves *LOGICAL VOLUME* and no other disk does
    /// (drivers/scsi/hpsa.c passes the firmware's answer on unchanged).
    SmartArray,
    /// The address tells nothing.
    Opaque,
}

/// The properties of a disk by which its volume is found.
#[derive(Clone, Debug, Default)]
pub struct DiskIdentity {
    /// Path of its node in /dev.
    pub node: String,
    /// World-wide name, hexadecimal digits in lower case.
    pub wwn: Option<String>,
    /// Model as the kernel shows it.
    pub model: String,
    /// Where its controller is plugged in.
    pub pci: Option<Pci>,
    /// Channel and target of its SCSI address.
    pub address: Option<(u32, u32)>,
    /// RAID level that the driver reports (hpsa and smartpqi); `N/A` for a disk that is no volume.
    pub level: Option<String>,
}

impl DiskIdentity {
    /// Takes controller and address out of a disk's place in the device tree.
    pub fn at(mut self, place: &str) -> Self {
        let parts: Vec<&str> = place.split('/').collect();
        let host = parts.iter().position(|part| part.strip_prefix("host").is_some_and(is_number));
        self.pci = host.and_then(|host| parts.get(..host)?.iter().rev().find_map(|part| pci(part)));
        self.address = parts.iter().rev().find_map(|part| {
            let numbers: Option<Vec<u32>> = part.split(':').map(|number| number.parse().ok()).collect();
            match numbers?.as_slice() {
                [_, channel, target, _] => Some((*channel, *target)),
                _ => None,
            }
        });
        self
    }

    /// Whether it is a volume rather than a disk that is passed on; `None` where that is unknown.
    fn is_volume(&self, addresses: Addresses) -> Option<bool> {
        match (addresses, self.address) {
            // `raid_level_show` of hpsa.c and `pqi_raid_level_show` of smartpqi_init.c.
            (Addresses::SmartArray | Addresses::Opaque, _) if self.level.as_deref() == Some("N/A") => {
                Some(false)
            }
            (Addresses::MegaRaid, Some((channel, _))) => Some(channel >= 2),
            (Addresses::Aacraid, Some((channel, _))) => Some(channel == 0),
            (Addresses::SmartArray, _) if !self.model.is_empty() => {
                Some(self.model.ends_with("LOGICAL VOLUME"))
            }
            _ => self.model.ends_with("LOGICAL VOLUME").then_some(true),
        }
    }

    /// The number of the volume in its address.
    fn target(&self, addresses: Addresses) -> Option<u32> {
        let (channel, target) = self.address?;
        match addresses {
            // `MEGASAS_DEV_INDEX`: 128 to a channel.
            Addresses::MegaRaid => Some(channel % 2 * 128 + target),
            Addresses::Aacraid => Some(target),
            Addresses::SmartArray | Addresses::Opaque => None,
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The result of the search for a disk.
#[derive(Clone, Debug)]
pub enum VolumeMatch<'a> {
    /// It is this volume of this controller.
    Volume(&'a Adapter, &'a Volume),
    OneOf(Vec<(&'a Adapter, &'a Volume)>),
    /// It is no volume: the controller passes the disk on.
    PassedOn,
    /// Unknown, with the reason.
    Nowhere(String),
}

/// Finds a disk. `controllers` counts the places at which such controllers are plugged in.
pub fn find<'a>(
    disk: &DiskIdentity,
    adapters: &'a [Adapter],
    addresses: Addresses,
    controllers: usize,
) -> VolumeMatch<'a> {
    let is_volume = disk.is_volume(addresses);
    if is_volume == Some(false) {
        return VolumeMatch::PassedOn;
    }
    let here: Vec<&Adapter> =
        adapters.iter().filter(|adapter| adapter.pci.is_some() && adapter.pci == disk.pci).collect();
    let unplaced = || adapters.iter().filter(|adapter| adapter.pci.is_none() || disk.pci.is_none());
    let (candidates, is_sure): (Vec<&Adapter>, bool) = match here.as_slice() {
        [one] => (vec![one], true),
        [] => (unplaced().collect(), adapters.len() == 1 && controllers == 1),
        _ => return VolumeMatch::Nowhere("its tool lists two controllers at one place".to_owned()),
    };
    if candidates.is_empty() {
        return VolumeMatch::Nowhere("its tool lists no controller at the place of this one".to_owned());
    }
    let target = disk.target(addresses);
    let may_be = |volume: &&Volume| {
        !is_other(disk, volume) && (volume.target.is_none() || target.is_none() || volume.target == target)
    };
    let of = |adapter: &&'a Adapter| {
        let adapter: &'a Adapter = adapter;
        adapter.volumes.iter().filter(may_be).map(move |volume| (adapter, volume)).collect::<Vec<_>>()
    };
    let volumes: Vec<(&Adapter, &Volume)> = candidates.iter().flat_map(of).collect();
    let named: Vec<_> = volumes.iter().filter(|(_, volume)| is_named(disk, volume)).collect();
    let numbered: Vec<_> =
        volumes.iter().filter(|(_, volume)| is_sure && target.is_some() && volume.target == target).collect();
    match (named.as_slice(), numbered.as_slice()) {
        ([(adapter, volume)], _) | ([], [(adapter, volume)]) => VolumeMatch::Volume(adapter, volume),
        _ if volumes.is_empty() => {
            VolumeMatch::Nowhere("its tool lists no volume that could be it".to_owned())
        }
        _ if is_volume == Some(true) && (is_sure || here.is_empty() && adapters.len() >= controllers) => {
            VolumeMatch::OneOf(volumes)
        }
        _ => VolumeMatch::Nowhere("cannot tell which volume it is, or whether it is one".to_owned()),
    }
}

/// Whether a volume has this disk's node or world-wide name.
fn is_named(disk: &DiskIdentity, volume: &Volume) -> bool {
    volume.node.as_ref() == Some(&disk.node) || volume.wwn.is_some() && volume.wwn == disk.wwn
}

/// Whether a volume has another node or world-wide name than this disk.
fn is_other(disk: &DiskIdentity, volume: &Volume) -> bool {
    let other_node = volume.node.as_ref().is_some_and(|node| *node != disk.node);
    let other_wwn = matches!((&volume.wwn, &disk.wwn), (Some(one), Some(other)) if one != other);
    other_node || other_wwn
}

#[cfg(test)]
mod tests;
