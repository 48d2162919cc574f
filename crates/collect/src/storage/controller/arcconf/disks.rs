//! The disks below a volume of arcconf's, and their caches taken together.
//!
//! A volume names its members by serial number or by place; arcconf lists the disks elsewhere.
//! Spares, disks that are ready or passed on, and those that have failed belong to no volume. A
//! lost line must not make a volume's caches better: a disk in use that no member names may belong
//! to each volume, and where a disk seems lost, every disk in use counts.

use std::collections::BTreeMap;

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
    /// The members in a line: one in most versions, all in `Drive(s) (Channel,Device) : 0,0 0,1`;
    /// none in any other line.
    pub fn from_field((key, value): (String, String)) -> Vec<Self> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let numbered = key
            .strip_prefix("segment ")
            .or_else(|| key.strip_prefix("device "))
            .is_some_and(is_number);
        if key == "drive(s) (channel,device)" {
            let places = value.split_whitespace();
            return places
                .map(|place| Self {
                    key: key.clone(),
                    value: format!("({place})"),
                })
                .collect();
        }
        if numbered || key.starts_with("group ") {
            vec![Self { key, value }]
        } else {
            Vec::new()
        }
    }

    /// Whether the volume does without the member's disk.
    fn is_void(&self) -> bool {
        let availability = self.value.to_ascii_lowercase();
        ["missing", "inconsistent", "failed", "defunct", "offline"]
            .iter()
            .any(|word| availability.starts_with(word))
    }

    /// Index of the member's disk, when exactly one disk matches: by serial number, else by place.
    fn among(&self, disks: &[PhysicalDisk]) -> Option<usize> {
        let (serial, place) = (self.serial(), self.place());
        let is_kin = |disk: &PhysicalDisk| Some(is_alike(serial?, disk.serial()?));
        let by_serial = which(disks, |disk| is_kin(disk) == Some(true));
        let by_place = which(disks, |disk| {
            let is_there = place.is_some_and(|place| disk.places().contains(&Some(place)));
            // A disk with another serial number is another disk, wherever it is.
            is_kin(disk) != Some(false) && (is_there || self.number() == Some(&disk.number))
        });
        match (by_serial.as_slice(), by_place.as_slice()) {
            ([one], _) | (_, [one]) => Some(*one),
            _ => None,
        }
    }

    /// The number by which newer firmware names the disk.
    fn number(&self) -> Option<&str> {
        self.key.strip_prefix("device ")
    }

    fn serial(&self) -> Option<&str> {
        self.value
            .split_whitespace()
            .last()
            .filter(|word| !word.ends_with(')') && is_identity(word))
    }

    /// Where the disk is plugged in: `(Connector:0, Device:1)`, `(Enclosure:0, Slot:1)`, `(0,1)`
    /// for channel and device.
    fn place(&self) -> Option<PortAddress> {
        let (_, inside) = self.value.split_once('(')?;
        let (inside, _) = inside.split_once(')')?;
        let parts: Vec<String> = inside
            .split(',')
            .map(|part| part.trim().to_ascii_lowercase())
            .collect();
        let number = |name: &str| {
            parts.iter().find_map(|part| {
                part.strip_prefix(name)?
                    .strip_prefix(':')?
                    .trim()
                    .parse()
                    .ok()
            })
        };
        let bare = || match parts.as_slice() {
            [channel, device] => Some((
                PortKind::Channel,
                channel.parse().ok()?,
                device.parse().ok()?,
            )),
            _ => None,
        };
        PORTS
            .iter()
            .find_map(|(kind, unit, port)| Some((*kind, number(unit)?, number(port)?)))
            .or_else(bare)
    }
}

/// What a disk is plugged into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortKind {
    Connector,
    Enclosure,
    Backplane,
    Channel,
}

/// Each kind, with arcconf's words for the unit and the port in it.
const PORTS: [(PortKind, &str, &str); 4] = [
    (PortKind::Connector, "connector", "device"),
    (PortKind::Enclosure, "enclosure", "slot"),
    (PortKind::Backplane, "backplane", "slot"),
    (PortKind::Channel, "channel", "device"),
];

/// Where a disk is plugged in: the kind of unit, its number, and the port's.
type PortAddress = (PortKind, u32, u32);

/// Whether a serial number tells one disk from another; people mask them with asterisks, hashes or
/// one letter.
fn is_identity(serial: &str) -> bool {
    let mut letters = serial.chars().filter(char::is_ascii_alphanumeric);
    let first = letters.next();
    !serial.contains(['*', '#']) && letters.any(|letter| Some(letter) != first)
}

/// Whether two serial numbers are of one disk: some firmware cuts them off or adds to them.
fn is_alike(one: &str, other: &str) -> bool {
    const ENOUGH: usize = 8;
    let begins = |short: &str, long: &str| short.len() >= ENOUGH && long.starts_with(short);
    !one.is_empty() && (one == other || begins(one, other) || begins(other, one))
}

fn which(disks: &[PhysicalDisk], is: impl Fn(&PhysicalDisk) -> bool) -> Vec<usize> {
    disks
        .iter()
        .enumerate()
        .filter(|(_, disk)| is(disk))
        .map(|(at, _)| at)
        .collect()
}

impl PhysicalDisk {
    /// The serial number, unless it is missing or masked.
    fn serial(&self) -> Option<&str> {
        self.fields
            .get("serial number")
            .filter(|serial| is_identity(serial))
    }

    /// Its places, as far as they are printed: connector, enclosure or backplane, and channel.
    fn places(&self) -> [Option<PortAddress>; 2] {
        [self.location(), self.channel()]
    }

    /// `Connector 0, Device 1`, `Enclosure 0, Slot 1(Connector 0)`.
    fn location(&self) -> Option<PortAddress> {
        let text = self.fields.get("reported location")?.to_ascii_lowercase();
        let (unit, port) = text.split_once(',')?;
        let number = |text: &str, name: &str| {
            text.trim()
                .strip_prefix(name)?
                .split('(')
                .next()?
                .trim()
                .parse()
                .ok()
        };
        PORTS
            .iter()
            .find_map(|(kind, one, other)| Some((*kind, number(unit, one)?, number(port, other)?)))
    }

    fn channel(&self) -> Option<PortAddress> {
        let text = self.fields.get("reported channel,device")?;
        // The key of newer versions has a colon of its own:
        // `Reported Channel,Device(T:L) : 0,1(1:0)`.
        let text = text
            .rsplit_once(": ")
            .map_or(text, |(_, address)| address)
            .trim();
        let (channel, device) = text.split('(').next()?.split_once(',')?;
        Some((
            PortKind::Channel,
            channel.trim().parse().ok()?,
            device.trim().parse().ok()?,
        ))
    }

    /// Whether it is no disk: an enclosure, a tape. A sentence below its heading says what it is,
    /// and it has no state.
    fn is_something_else(&self) -> bool {
        let has = |words: &str| self.fields.has(words);
        let of_disks = [
            "device is a hard drive",
            "device is a hard disk",
            "device is a solid state drive",
            "state",
            "write cache",
        ];
        self.fields.keys().any(|key| key.starts_with("device is a"))
            && !of_disks.into_iter().any(has)
    }

    fn state(&self) -> String {
        self.fields
            .get("state")
            .unwrap_or_default()
            .to_ascii_lowercase()
    }

    /// Whether it holds nothing any more.
    fn is_dead(&self) -> bool {
        let state = self.state();
        ["failed", "defunct", "dead", "missing", "offline"]
            .iter()
            .any(|word| state.starts_with(word))
    }

    /// Whether a volume may use it, as far as its state says.
    fn may_hold(&self) -> bool {
        let state = self.state();
        let is_free = ["ready", "raw", "available", "unassigned"]
            .iter()
            .any(|word| state.starts_with(word));
        let is_other = ["spare", "jbod", "pass through", "pass-through"]
            .iter()
            .any(|word| state.contains(word));
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
    /// Whether more members match no disk than disks match no member.
    is_short: bool,
}

impl DiskInventory {
    /// All disks, with the members of all volumes.
    pub fn new(disks: Vec<PhysicalDisk>, members: &[&[Member]]) -> Self {
        let disks: Vec<PhysicalDisk> = disks
            .into_iter()
            .filter(|disk| !disk.is_something_else())
            .collect();
        let mut named = vec![false; disks.len()];
        // Volumes may share a disk, and then name it in the same words.
        let mut unmatched: BTreeMap<&str, usize> = BTreeMap::new();
        for volume in members {
            let mut own: BTreeMap<&str, usize> = BTreeMap::new();
            for member in *volume {
                match member.among(&disks).and_then(|at| named.get_mut(at)) {
                    Some(is_named) => *is_named = true,
                    None if member.is_void() => {}
                    None => *own.entry(&member.value).or_default() += 1,
                }
            }
            for (value, count) in own {
                let most = unmatched.entry(value).or_default();
                *most = count.max(*most);
            }
        }
        let loose = disks
            .iter()
            .zip(&named)
            .filter(|(disk, is_named)| !**is_named && disk.may_hold())
            .count();
        let is_short = unmatched.values().sum::<usize>() > loose;
        Self {
            disks,
            named,
            is_short,
        }
    }

    /// Whether any of them has a line about its cache; newer firmware often prints only the common
    /// policy.
    pub fn tell(&self) -> bool {
        self.disks.iter().any(|disk| disk.fields.has("write cache"))
    }

    /// The caches of the disks below a volume, taken together. Where it is not known which its
    /// disks are, each that may be one counts.
    pub fn of(&self, members: &[Member]) -> FieldReading<DiskCache> {
        let own: Vec<usize> = members
            .iter()
            .filter_map(|member| member.among(&self.disks))
            .collect();
        let unmatched = members
            .iter()
            .find(|member| !member.is_void() && member.among(&self.disks).is_none());
        let lost = unmatched.filter(|_| self.is_short);
        let any = lost.is_some() || own.is_empty();
        let may_be_own = |at: usize, disk: &PhysicalDisk, is_named: bool| {
            if own.contains(&at) {
                !disk.is_dead()
            } else {
                disk.may_hold() && (any || !is_named)
            }
        };
        let caches = self.disks.iter().zip(&self.named).enumerate();
        let caches = caches.filter(|(at, (disk, is_named))| may_be_own(*at, disk, **is_named));
        let gap = lost
            .map(|member| FieldReading::disputed(format!("no disk is known as `{}`", member.key)));
        let caches: Vec<FieldReading<DiskCache>> = caches
            .map(|(_, (disk, _))| disk.cache())
            .chain(gap)
            .collect();
        if caches.is_empty() {
            FieldReading::missing("write cache of the disks")
        } else {
            worst(caches)
        }
    }
}
