//! The disks below a volume of arcconf's, and their caches taken together.
//!
//! A volume names its members by serial number or by place; arcconf lists the disks elsewhere. A lost line must not
//! make a volume's caches better. A disk in use that no volume names therefore leaves every volume's disk caches
//! unknown, unless they are on.

use super::super::fields::Fields;
use super::super::said::{FieldReading, worst};
use crate::facts::catalog::controller::DiskCache;

/// A disk: the number in its heading, and its fields.
#[derive(Clone, Debug, Default)]
pub struct PhysicalDisk {
    pub number: String,
    pub fields: Fields,
}

/// One line of a volume about a disk that it stands on.
#[derive(Clone, Debug)]
pub struct Member {
    /// `segment 0`, `device 4`, `group 0, segment 1`.
    pub key: String,
    /// `Present (953869MB, SATA, HDD, Connector:0, Device:0) Z1P35ABC`.
    pub value: String,
}

impl Member {
    /// Parses a line as a member; `None` for any other line.
    pub fn from_field((key, value): (String, String)) -> Option<Self> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let numbered =
            key.strip_prefix("segment ").or_else(|| key.strip_prefix("device ")).is_some_and(is_number);
        (numbered || key.starts_with("group ")).then_some(Self { key, value })
    }

    /// Whether the member's disk is missing.
    fn is_missing(&self) -> bool {
        self.value.to_ascii_lowercase().starts_with("missing")
    }

    /// Index of the member's disk, when exactly one disk matches.
    fn among(&self, disks: &[PhysicalDisk]) -> Option<usize> {
        let serial =
            self.value.split_whitespace().last().filter(|word| !word.ends_with(')')).unwrap_or_default();
        let place = self.place();
        let by_serial: Vec<usize> = which(disks, |disk| !serial.is_empty() && disk.serial() == Some(serial));
        let by_place: Vec<usize> = which(disks, |disk| {
            // A disk with another serial number is another disk, wherever it is.
            let may_be = serial.is_empty() || disk.hides_serial();
            may_be && (place.is_some() && disk.place() == place || self.number() == Some(&disk.number))
        });
        match (by_serial.as_slice(), by_place.as_slice()) {
            ([one], _) | ([], [one]) => Some(*one),
            _ => None,
        }
    }

    /// The number by which newer firmware names the disk.
    fn number(&self) -> Option<&str> {
        self.key.strip_prefix("device ")
    }

    /// Connector and number there, or channel and number there: `(Connector:0, Device:1)`, `(0,1)`.
    fn place(&self) -> Option<PortAddress> {
        let (_, inside) = self.value.split_once('(')?;
        let (inside, _) = inside.split_once(')')?;
        let parts: Vec<String> = inside.split(',').map(|part| part.trim().to_ascii_lowercase()).collect();
        let named = |name: &str| parts.iter().find_map(|part| part.strip_prefix(name)?.trim().parse().ok());
        if let (Some(connector), Some(device)) = (named("connector:"), named("device:")) {
            return Some(PortAddress::Connector(connector, device));
        }
        match parts.as_slice() {
            [channel, device] => Some(PortAddress::Channel(channel.parse().ok()?, device.parse().ok()?)),
            _ => None,
        }
    }
}

/// Where a disk is plugged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortAddress {
    Connector(u32, u32),
    Channel(u32, u32),
}

fn which(disks: &[PhysicalDisk], is: impl Fn(&PhysicalDisk) -> bool) -> Vec<usize> {
    disks.iter().enumerate().filter(|(_, disk)| is(disk)).map(|(at, _)| at).collect()
}

impl PhysicalDisk {
    fn serial(&self) -> Option<&str> {
        self.fields.get("serial number").filter(|serial| serial.bytes().any(|b| b.is_ascii_alphanumeric()))
    }

    /// Whether its serial number is missing or masked with asterisks.
    fn hides_serial(&self) -> bool {
        const KEY: &str = "serial number";
        !self.fields.has(KEY) || self.fields.get(KEY).is_some() && self.serial().is_none()
    }

    fn place(&self) -> Option<PortAddress> {
        let location = self.fields.get("reported location").unwrap_or_default().to_ascii_lowercase();
        let connector = location.strip_prefix("connector ").and_then(|rest| {
            let (connector, device) = rest.split_once(", device ")?;
            Some(PortAddress::Connector(connector.parse().ok()?, device.parse().ok()?))
        });
        connector.or_else(|| self.channel())
    }

    /// `0,1(1:0)`.
    fn channel(&self) -> Option<PortAddress> {
        let keys = ["reported channel,device", "reported channel,device(t"];
        let text = keys.iter().find_map(|key| self.fields.get(key))?;
        // The key of newer versions has a colon of its own: `Reported Channel,Device(T:L) : 0,1(1:0)`.
        let text = text.rsplit_once(": ").map_or(text, |(_, address)| address).trim();
        let (channel, device) = text.split('(').next()?.split_once(',')?;
        Some(PortAddress::Channel(channel.trim().parse().ok()?, device.trim().parse().ok()?))
    }

    /// The cache state that an unnamed disk implies for every volume.
    fn as_nobodys(&self) -> Option<FieldReading<DiskCache>> {
        let state = self.fields.get("state").unwrap_or_default().to_ascii_lowercase();
        if ["ready", "raw", "jbod", "available"].iter().any(|word| state.starts_with(word)) {
            return None;
        }
        // A spare can take a disk's place at any time.
        if state.contains("spare") {
            return Some(self.cache());
        }
        let gap = FieldReading::disputed("a disk is in use and no volume names it");
        Some(worst([self.cache(), gap]))
    }

    fn cache(&self) -> FieldReading<DiskCache> {
        self.fields.said("write cache", setting)
    }
}

/// The setting of a cache, from its word.
pub fn setting(word: &str) -> Option<DiskCache> {
    match word {
        word if word.starts_with("disabled") => Some(DiskCache::Off),
        word if word.starts_with("enabled") => Some(DiskCache::On),
        "default" => Some(DiskCache::DiskDefault),
        _ => None,
    }
}

/// The disks of a controller, and which of them volumes name.
pub struct DiskInventory {
    disks: Vec<PhysicalDisk>,
    named: Vec<bool>,
}

impl DiskInventory {
    /// All disks, with the members of all volumes.
    pub fn new(disks: Vec<PhysicalDisk>, members: &[&[Member]]) -> Self {
        let disks: Vec<PhysicalDisk> = disks
            .into_iter()
            .filter(|disk| !disk.fields.has("device is an enclosure services device"))
            .collect();
        let found: Vec<usize> = members
            .iter()
            .flat_map(|members| members.iter())
            .filter_map(|member| member.among(&disks))
            .collect();
        let named = (0..disks.len()).map(|at| found.contains(&at)).collect();
        Self { disks, named }
    }

    /// Whether any of them has a line about its cache; newer firmware often prints only the common policy.
    pub fn tell(&self) -> bool {
        self.disks.iter().any(|disk| disk.fields.has("write cache"))
    }

    /// The caches of the disks below a volume, taken together.
    pub fn of(&self, members: &[Member]) -> FieldReading<DiskCache> {
        if members.is_empty() {
            return self.all_alike();
        }
        let own = members.iter().filter(|member| !member.is_missing()).map(|member| {
            let disk = member.among(&self.disks).and_then(|at| self.disks.get(at));
            disk.map_or_else(
                || FieldReading::disputed(format!("which disk `{}` is, is not told", member.key)),
                PhysicalDisk::cache,
            )
        });
        let nobodys = self.disks.iter().zip(&self.named).filter(|(_, named)| !**named);
        worst(own.chain(nobodys.filter_map(|(disk, _)| disk.as_nobodys())))
    }

    /// The setting that all disks agree on, for a volume that names no disk.
    fn all_alike(&self) -> FieldReading<DiskCache> {
        let mut said = self.disks.iter().map(PhysicalDisk::cache);
        let Some(first) = said.next() else { return FieldReading::missing("write cache of the disks") };
        if said.all(|other| other == first) {
            first
        } else {
            FieldReading::disputed(
                "the disks differ, and the tool does not say which of them hold the volume",
            )
        }
    }
}
