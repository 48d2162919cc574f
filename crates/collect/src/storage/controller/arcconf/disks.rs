//! The member disks of arcconf's volumes, and the combined state of their caches.
//!
//! A volume names its members by serial number or port; arcconf lists the disks elsewhere.
//! Spare, ready, passed-through and failed disks belong to no volume.
//!
//! A line missing from the output must not make a volume look safer. A disk in use that no
//! member names therefore counts as a member of every volume. If the list of disks seems
//! incomplete, or no member of a volume is found, all disks in use count as its members.

use std::collections::BTreeMap;

use super::super::fields::{DISK_CACHE, ToolOutputFields, listed};
use super::super::report::{FieldReading, conflicting, worst_reading};
use crate::facts::catalog::controller::MemberDiskCache;
use crate::text::is_decimal;

#[derive(Clone, Debug)]
pub struct PhysicalDisk {
    pub number: String,
    pub fields: ToolOutputFields,
}

#[derive(Clone, Debug)]
pub struct VolumeMemberLine {
    /// The part before the colon: `segment 0`, `device 4`, `group 0, segment 1`.
    pub key: String,
    /// The part after the colon: `Present (953869MB, SATA, HDD, Connector:0, Device:0) Z1P35ABC`.
    pub value: String,
}

impl VolumeMemberLine {
    /// Parses the members that a line names. In most versions a line names one member, but
    /// `Drive(s) (Channel,Device) : 0,0 0,1` names all. Any other line names no member.
    pub fn parse_members_in_field((key, value): (String, String)) -> Vec<Self> {
        let numbered = key
            .strip_prefix("segment ")
            .or_else(|| key.strip_prefix("device "))
            .is_some_and(is_decimal);
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

    fn is_absent(&self) -> bool {
        let availability = self.value.to_ascii_lowercase();
        ["missing", "inconsistent", "failed", "defunct", "offline"]
            .iter()
            .any(|word| availability.starts_with(word))
    }

    fn index_in_disk_list(&self, disks: &[PhysicalDisk]) -> Option<usize> {
        let (serial, place) = (self.serial(), self.port_address());
        let is_kin = |disk: &PhysicalDisk| Some(is_same_serial(serial?, disk.serial()?));
        let by_serial = only_matching_disk(disks, |disk| is_kin(disk) == Some(true));
        let by_place = only_matching_disk(disks, |disk| {
            let is_there = place.is_some_and(|place| disk.port_addresses().contains(&Some(place)));
            // A different serial number means a different disk, even at the same port.
            is_kin(disk) != Some(false) && (is_there || self.number() == Some(&disk.number))
        });
        by_serial.or(by_place)
    }

    /// The disk's number; older firmware does not print it.
    fn number(&self) -> Option<&str> {
        self.key.strip_prefix("device ")
    }

    fn serial(&self) -> Option<&str> {
        self.value
            .split_whitespace()
            .last()
            .filter(|word| !word.ends_with(')') && is_unmasked_serial(word))
    }

    /// Parses `(Connector:0, Device:1)`, `(Enclosure:0, Slot:1)`, or `(0,1)` for channel and
    /// device.
    fn port_address(&self) -> Option<PortAddress> {
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
            [channel, device] => Some((CHANNEL, channel.parse().ok()?, device.parse().ok()?)),
            _ => None,
        };
        PORTS
            .iter()
            .find_map(|kind| Some((*kind, number(kind.0)?, number(kind.1)?)))
            .or_else(bare)
    }
}

/// Kinds of ports: the words for the connector, enclosure, backplane or channel, and for the port.
const PORTS: [(&str, &str); 4] = [
    ("connector", "device"),
    ("enclosure", "slot"),
    ("backplane", "slot"),
    CHANNEL,
];
const CHANNEL: (&str, &str) = ("channel", "device");

/// The kind of port, the number of its connector, enclosure, backplane or channel, and the port's
/// own number.
type PortAddress = ((&'static str, &'static str), u32, u32);

/// False for a serial number that was masked before the output was published: with asterisks,
/// hashes or one repeated letter.
fn is_unmasked_serial(serial: &str) -> bool {
    let mut letters = serial.chars().filter(char::is_ascii_alphanumeric);
    let first = letters.next();
    !serial.contains(['*', '#']) && letters.any(|letter| Some(letter) != first)
}

/// Some firmware truncates serial numbers or appends to them.
fn is_same_serial(one: &str, other: &str) -> bool {
    const MIN_SERIAL_PREFIX: usize = 8;
    let begins =
        |short: &str, long: &str| short.len() >= MIN_SERIAL_PREFIX && long.starts_with(short);
    !one.is_empty() && (one == other || begins(one, other) || begins(other, one))
}

/// The index of the disk that matches, unless several do.
fn only_matching_disk(disks: &[PhysicalDisk], is: impl Fn(&PhysicalDisk) -> bool) -> Option<usize> {
    let mut indices = (0..).zip(disks).filter(|(_, disk)| is(disk));
    let (at, _) = indices.next()?;
    indices.next().is_none().then_some(at)
}

impl PhysicalDisk {
    /// `None` if the number is missing or masked.
    fn serial(&self) -> Option<&str> {
        self.fields
            .get("serial number")
            .filter(|serial| is_unmasked_serial(serial))
    }

    fn port_addresses(&self) -> [Option<PortAddress>; 2] {
        [self.port_by_location(), self.channel_address()]
    }

    /// Parses `Connector 0, Device 1` or `Enclosure 0, Slot 1(Connector 0)`.
    fn port_by_location(&self) -> Option<PortAddress> {
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
            .find_map(|kind| Some((*kind, number(unit, kind.0)?, number(port, kind.1)?)))
    }

    fn channel_address(&self) -> Option<PortAddress> {
        let text = self.fields.get("reported channel,device")?;
        // In newer versions the key itself contains a colon.
        let text = text
            .rsplit_once(": ")
            .map_or(text, |(_, address)| address)
            .trim();
        let (channel, device) = text.split('(').next()?.split_once(',')?;
        Some((
            CHANNEL,
            channel.trim().parse().ok()?,
            device.trim().parse().ok()?,
        ))
    }

    /// Whether the entry is an enclosure or tape drive: the line `Device is a …` names no kind of
    /// disk, and state and write cache are missing.
    fn is_not_a_disk(&self) -> bool {
        let has = |words: &str| self.fields.contains_key(words);
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

    fn has_failed(&self) -> bool {
        let state = self.state();
        ["failed", "defunct", "dead", "missing", "offline"]
            .iter()
            .any(|word| state.starts_with(word))
    }

    fn may_be_volume_member(&self) -> bool {
        let state = self.state();
        let is_free = ["ready", "raw", "available", "unassigned"]
            .iter()
            .any(|word| state.starts_with(word));
        let is_other = ["spare", "jbod", "pass through", "pass-through"]
            .iter()
            .any(|word| state.contains(word));
        !(is_free || is_other || self.has_failed())
    }

    fn cache_setting(&self) -> FieldReading<MemberDiskCache> {
        self.fields
            .parse_lowercase_value("write cache", parse_cache_setting)
    }
}

/// arcconf appends the mode in parentheses: `enabled (write-back)`.
pub fn parse_cache_setting(word: &str) -> Option<MemberDiskCache> {
    listed(DISK_CACHE)(word.split(" (").next().unwrap_or_default())
}

pub struct DiskInventory {
    disks: Vec<PhysicalDisk>,
    named: Vec<bool>,
    /// True if unmatched members outnumber unmatched disks, so that the list of disks is
    /// incomplete.
    is_short: bool,
}

impl DiskInventory {
    pub fn new<'m>(
        disks: Vec<PhysicalDisk>,
        members: impl Iterator<Item = &'m [VolumeMemberLine]>,
    ) -> Self {
        let disks: Vec<PhysicalDisk> = disks
            .into_iter()
            .filter(|disk| !disk.is_not_a_disk())
            .collect();
        let mut named = vec![false; disks.len()];
        // Volumes that share a disk print the same member line, so the line counts once for all
        // volumes.
        let mut unmatched: BTreeMap<&str, usize> = BTreeMap::new();
        for volume in members {
            let mut own: BTreeMap<&str, usize> = BTreeMap::new();
            for member in volume {
                match member
                    .index_in_disk_list(&disks)
                    .and_then(|at| named.get_mut(at))
                {
                    Some(is_named) => *is_named = true,
                    None if member.is_absent() => {}
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
            .filter(|(disk, is_named)| !**is_named && disk.may_be_volume_member())
            .count();
        let is_short = unmatched.values().sum::<usize>() > loose;
        Self {
            disks,
            named,
            is_short,
        }
    }

    pub fn has_write_cache_fields(&self) -> bool {
        self.disks
            .iter()
            .any(|disk| disk.fields.contains_key("write cache"))
    }

    /// If the members are uncertain, every disk that may be a member is included.
    pub fn cache_of_members(&self, members: &[VolumeMemberLine]) -> FieldReading<MemberDiskCache> {
        let own: Vec<usize> = members
            .iter()
            .filter_map(|member| member.index_in_disk_list(&self.disks))
            .collect();
        let unmatched = members
            .iter()
            .find(|member| !member.is_absent() && member.index_in_disk_list(&self.disks).is_none());
        let lost = unmatched.filter(|_| self.is_short);
        let any = lost.is_some() || own.is_empty();
        let may_be_own = |at: usize, disk: &PhysicalDisk, is_named: bool| {
            if own.contains(&at) {
                !disk.has_failed()
            } else {
                disk.may_be_volume_member() && (any || !is_named)
            }
        };
        let caches = self.disks.iter().zip(&self.named).enumerate();
        let caches = caches.filter(|(at, (disk, is_named))| may_be_own(*at, disk, **is_named));
        let gap = lost.map(|member| conflicting(format!("no disk matches `{}`", member.key)));
        worst_reading(
            "write cache of the disks",
            caches.map(|(_, (disk, _))| disk.cache_setting()).chain(gap),
        )
    }
}
