//! The disks below a volume of arcconf's, and their caches taken together.
//!
//! A volume names its members by serial number or by place; arcconf lists the disks elsewhere. Only a volume's own disks
//! count: spares, disks that are ready or passed on, and those that have failed do not. A lost line must not make a
//! volume's caches better, so a disk in use that no volume names may belong to each.

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
    /// The members in a line: one in most versions, all in `Drive(s) (Channel,Device) : 0,0 0,1`; none in any other line.
    pub fn from_field((key, value): (String, String)) -> Vec<Self> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let numbered =
            key.strip_prefix("segment ").or_else(|| key.strip_prefix("device ")).is_some_and(is_number);
        if key == "drive(s) (channel,device)" {
            let places = value.split_whitespace();
            return places.map(|place| Self { key: key.clone(), value: format!("({place})") }).collect();
        }
        if numbered || key.starts_with("group ") { vec![Self { key, value }] } else { Vec::new() }
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
        let by_serial: Vec<usize> =
            which(disks, |disk| disk.serial().is_some_and(|other| is_alike(serial, other)));
        let by_place: Vec<usize> = which(disks, |disk| {
            // A disk with another serial number is another disk, wherever it is.
            let may_be = serial.is_empty() || disk.hides_serial();
            let is_there = place.is_some_and(|place| disk.places().contains(&Some(place)));
            may_be && (is_there || self.number() == Some(&disk.number))
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

    /// Connector, enclosure or channel, and number there: `(Connector:0, Device:1)`, `(Enclosure:0, Slot:1)`, `(0,1)`.
    fn place(&self) -> Option<PortAddress> {
        let (_, inside) = self.value.split_once('(')?;
        let (inside, _) = inside.split_once(')')?;
        let parts: Vec<String> = inside.split(',').map(|part| part.trim().to_ascii_lowercase()).collect();
        let named = |name: &str| parts.iter().find_map(|part| part.strip_prefix(name)?.trim().parse().ok());
        if let (Some(connector), Some(device)) = (named("connector:"), named("device:")) {
            return Some(PortAddress::Connector(connector, device));
        }
        if let (Some(enclosure), Some(slot)) = (named("enclosure:"), named("slot:")) {
            return Some(PortAddress::Slot(enclosure, slot));
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
    Slot(u32, u32),
    Channel(u32, u32),
}

/// Whether two serial numbers are of one disk: some firmware cuts them off or adds to them.
fn is_alike(one: &str, other: &str) -> bool {
    const ENOUGH: usize = 8;
    let begins = |short: &str, long: &str| short.len() >= ENOUGH && long.starts_with(short);
    !one.is_empty() && (one == other || begins(one, other) || begins(other, one))
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

    /// Its places, as far as they are printed: connector or enclosure, and channel.
    fn places(&self) -> [Option<PortAddress>; 2] {
        [self.location(), self.channel()]
    }

    /// `Connector 0, Device 1`, `Enclosure 0, Slot 1(Connector 0)`.
    fn location(&self) -> Option<PortAddress> {
        let text = self.fields.get("reported location")?.to_ascii_lowercase();
        let pair = |first: &str, second: &str| {
            let (one, other) = text.strip_prefix(first)?.split_once(second)?;
            let other = other.split('(').next()?.trim();
            Some((one.trim().parse().ok()?, other.parse().ok()?))
        };
        let connector =
            pair("connector ", ", device ").map(|(one, other)| PortAddress::Connector(one, other));
        connector.or_else(|| pair("enclosure ", ", slot ").map(|(one, other)| PortAddress::Slot(one, other)))
    }

    /// `0,1(1:0)`.
    fn channel(&self) -> Option<PortAddress> {
        let text = self.fields.get("reported channel,device")?;
        // The key of newer versions has a colon of its own: `Reported Channel,Device(T:L) : 0,1(1:0)`.
        let text = text.rsplit_once(": ").map_or(text, |(_, address)| address).trim();
        let (channel, device) = text.split('(').next()?.split_once(',')?;
        Some(PortAddress::Channel(channel.trim().parse().ok()?, device.trim().parse().ok()?))
    }

    /// Whether it is no disk: an enclosure, a tape. A sentence below its heading says what it is.
    fn is_something_else(&self) -> bool {
        let says = |words: &str| self.fields.has(words);
        let is_disk = ["device is a hard drive", "device is a hard disk", "device is a solid state drive"];
        self.fields.keys().any(|key| key.starts_with("device is a")) && !is_disk.into_iter().any(says)
    }

    fn state(&self) -> String {
        self.fields.get("state").unwrap_or_default().to_ascii_lowercase()
    }

    /// Whether it holds nothing any more.
    fn is_dead(&self) -> bool {
        let state = self.state();
        ["failed", "defunct", "dead", "missing", "offline"].iter().any(|word| state.starts_with(word))
    }

    /// Whether a volume may use it although none names it.
    fn may_hold(&self) -> bool {
        let state = self.state();
        let is_free = ["ready", "raw", "available", "unassigned"].iter().any(|word| state.starts_with(word));
        let is_other =
            ["spare", "jbod", "pass through", "pass-through"].iter().any(|word| state.contains(word));
        !(is_free || is_other || self.is_dead())
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
        let disks: Vec<PhysicalDisk> = disks.into_iter().filter(|disk| !disk.is_something_else()).collect();
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

    /// The caches of the disks below a volume, taken together. Where it is not known which its disks are, each that may be
    /// one counts.
    pub fn of(&self, members: &[Member]) -> FieldReading<DiskCache> {
        let present: Vec<&Member> = members.iter().filter(|member| !member.is_missing()).collect();
        let found: Vec<Option<&PhysicalDisk>> = present
            .iter()
            .map(|member| member.among(&self.disks).and_then(|at| self.disks.get(at)))
            .collect();
        let loose: Vec<&PhysicalDisk> = self
            .disks
            .iter()
            .zip(&self.named)
            .filter(|(disk, named)| !**named && disk.may_hold())
            .map(|(disk, _)| disk)
            .collect();
        let unfound = found.iter().filter(|disk| disk.is_none()).count();
        if let Some(member) =
            present.iter().zip(&found).find(|(_, disk)| disk.is_none()).map(|(member, _)| member)
            && loose.len() < unfound
        {
            return FieldReading::disputed(format!("which disk `{}` is, is not told", member.key));
        }
        let own = found.into_iter().flatten().filter(|disk| !disk.is_dead());
        let caches: Vec<FieldReading<DiskCache>> = own.chain(loose).map(PhysicalDisk::cache).collect();
        if caches.is_empty() { FieldReading::missing("write cache of the disks") } else { worst(caches) }
    }
}
