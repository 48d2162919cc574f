//! The id by which the user names a disk: the serial number, or else the WWN.
//!
//! An id that two disks share identifies neither disk. Namespaces of an NVMe drive share a serial
//! number, paths to one unit share both ids, and some makers reuse a serial number.

use std::fs;
use std::path::Path;
use walwise_model::text::JoinText;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskIdentifiers {
    pub name: String,
    pub serial: Option<String>,
    pub wwn: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DiskId {
    Serial(String),
    Wwn(String),
}

impl DiskId {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Serial(word) | Self::Wwn(word) => word,
        }
    }

    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Serial(_) => "serial number",
            Self::Wwn(_) => "WWN",
        }
    }

    /// True if the user typed this id, apart from differences in blanks.
    pub fn matches_typed_id(&self, typed: &str) -> bool {
        parse_disk_id(typed).is_some_and(|typed| typed == self.as_str())
    }
}

/// The disk's serial number, or else its WWN, if no other disk has the same. The error is a
/// phrase that completes a sentence about the disk.
pub fn unique_disk_id(name: &str, all: &[DiskIdentifiers]) -> Result<DiskId, &'static str> {
    let own = all
        .iter()
        .find(|plate| plate.name == name)
        .ok_or("is not on any disk listed in sysfs")?;
    let alone = |of: fn(&DiskIdentifiers) -> Option<&String>| {
        let word = of(own)?;
        let shares = |other: &&DiskIdentifiers| other.name != name && of(other) == Some(word);
        all.iter().find(shares).is_none().then(|| word.clone())
    };
    let serial = alone(|plate| plate.serial.as_ref()).map(DiskId::Serial);
    serial
        .or_else(|| alone(|plate| plate.wwn.as_ref()).map(DiskId::Wwn))
        .ok_or("has neither a unique serial number nor a unique WWN, so it cannot be distinguished from other disks")
}

/// Joins words by single spaces. `None` unless the id has 2 to 128 printable ASCII characters, one
/// of them a letter or a digit other than 0.
fn parse_disk_id(word: &str) -> Option<String> {
    let word = word.split_whitespace().join_with(" ");
    let types = word
        .bytes()
        .all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let tells = word
        .bytes()
        .any(|byte| byte.is_ascii_alphanumeric() && byte != b'0');
    (types && tells && (2..=128).contains(&word.len())).then_some(word)
}

/// Parses the serial number in a SCSI disk's VPD page 80h: a header of four bytes with the length,
/// then the number (SPC, Unit Serial Number).
fn parse_vpd_serial(page: &[u8]) -> Option<String> {
    let ([_, 0x80, high, low], rest) = page.split_first_chunk::<4>()? else {
        return None;
    };
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    parse_disk_id(std::str::from_utf8(rest.get(..length.min(rest.len()))?).ok()?)
}

/// The ids of all disks, except those that the kernel hides because they are paths of a multipath
/// disk.
pub fn read_visible_disk_identifiers() -> Vec<DiskIdentifiers> {
    let names = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let shown = |home: &Path, file: &str| parse_disk_id(&fs::read_to_string(home.join(file)).ok()?);
    let plate = |entry: fs::DirEntry| {
        let home = entry.path();
        if fs::read_to_string(home.join("hidden")).is_ok_and(|says| says.trim() == "1") {
            return None;
        }
        let page = || parse_vpd_serial(&fs::read(home.join("device/vpd_pg80")).ok()?);
        let serial = shown(&home, "serial")
            .or_else(|| shown(&home, "device/serial"))
            .or_else(page);
        let wwn = shown(&home, "wwid").or_else(|| shown(&home, "device/wwid"));
        Some(DiskIdentifiers {
            name: entry.file_name().to_str()?.to_owned(),
            serial,
            wwn,
        })
    };
    names.filter_map(plate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk_identifiers(name: &str, serial: &str, wwn: &str) -> DiskIdentifiers {
        DiskIdentifiers {
            name: name.to_owned(),
            serial: parse_disk_id(serial),
            wwn: parse_disk_id(wwn),
        }
    }

    #[test]
    fn only_a_unique_serial_or_wwn_identifies_a_disk() {
        let all = [
            disk_identifiers("sda", "S1", "naa.1"),
            disk_identifiers("nvme0n1", "N1", "eui.1"),
            disk_identifiers("nvme0n2", "N1", "eui.2"),
            disk_identifiers("sdb", "P1", "naa.9"),
            disk_identifiers("sdc", "P1", "naa.9"),
            disk_identifiers("vda", "", ""),
            disk_identifiers("vdb", "0000", "0000000"),
        ];
        assert_eq!(
            unique_disk_id("sda", &all),
            Ok(DiskId::Serial("S1".to_owned()))
        );
        assert_eq!(
            unique_disk_id("nvme0n2", &all),
            Ok(DiskId::Wwn("eui.2".to_owned())),
            "shared by name spaces"
        );
        for name in ["sdb", "sdc", "vda", "vdb", "gone"] {
            assert!(unique_disk_id(name, &all).is_err(), "{name}");
        }
    }

    #[test]
    fn typed_id_matches_despite_blanks() {
        let known = DiskId::Wwn("t10.ATA Disk 7".to_owned());
        assert!(
            known.matches_typed_id("t10.ATA Disk 7")
                && known.matches_typed_id("  t10.ATA   Disk 7\n")
        );
        for typed in [
            "",
            "yes",
            "t10.ATA Disk",
            "T10.ATA DISK 7",
            "t10.ATA Disk 77",
        ] {
            assert!(!known.matches_typed_id(typed), "{typed}");
        }
        assert_eq!(parse_disk_id("\u{1b}[2J1"), None);
    }

    #[test]
    fn vpd_page_80_serial_is_cut_at_its_length() {
        assert_eq!(
            parse_vpd_serial(b"\0\x80\0\x04S123garbage"),
            Some("S123".to_owned())
        );
        assert_eq!(parse_vpd_serial(b"\0\x80\0\xffS1 "), Some("S1".to_owned()));
        assert_eq!(
            (
                parse_vpd_serial(b"\0\x83\0\x04S123"),
                parse_vpd_serial(b"\0\x80")
            ),
            (None, None)
        );
        assert_eq!(parse_vpd_serial(b"\0\x80\0\x04\0\0\0\0"), None);
    }
}
