//! The word by which a person names a disk: its serial number, or its WWN where it has none.
//!
//! A word that two disks show names neither: name spaces of one NVMe drive share its serial number,
//! paths to one unit share everything, and some makers give all their disks the same one.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What a disk shows of itself in sysfs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskPlate {
    pub name: String,
    pub serial: Option<String>,
    pub wwn: Option<String>,
}

/// How a disk is named by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KnownBy {
    Serial(String),
    Wwn(String),
}

impl KnownBy {
    pub fn typed(&self) -> &str {
        match self {
            Self::Serial(word) | Self::Wwn(word) => word,
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Self::Serial(_) => "serial number",
            Self::Wwn(_) => "WWN",
        }
    }

    /// Whether somebody typed this word.
    pub fn is(&self, typed: &str) -> bool {
        telling(typed).is_some_and(|typed| typed == self.typed())
    }
}

/// How this disk is known among all: by a word that no other shows. The error says why it is not.
pub fn known_by(name: &str, all: &[DiskPlate]) -> Result<KnownBy, &'static str> {
    let own = all
        .iter()
        .find(|plate| plate.name == name)
        .ok_or("is on no disk that shows itself in sysfs")?;
    let alone = |of: fn(&DiskPlate) -> Option<&String>| {
        let word = of(own)?;
        let shares = |other: &&DiskPlate| other.name != name && of(other) == Some(word);
        all.iter().find(shares).is_none().then(|| word.clone())
    };
    let serial = alone(|plate| plate.serial.as_ref()).map(KnownBy::Serial);
    serial
        .or_else(|| alone(|plate| plate.wwn.as_ref()).map(KnownBy::Wwn))
        .ok_or("has neither a serial number nor a WWN of its own, so it cannot be told from another disk")
}

/// A word that tells something, with single blanks; `None` for nothing but zeros, or for what no
/// keyboard types.
fn telling(word: &str) -> Option<String> {
    let word = word.split_whitespace().collect::<Vec<_>>().join(" ");
    let types = word
        .bytes()
        .all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let tells = word
        .bytes()
        .any(|byte| byte.is_ascii_alphanumeric() && byte != b'0');
    (types && tells && (2..=128).contains(&word.len())).then_some(word)
}

/// The serial number on a SCSI disk's page 80h: a header of four bytes with the length (SPC, Unit
/// Serial Number).
fn on_page_80(page: &[u8]) -> Option<String> {
    let ([_, 0x80, high, low], rest) = page.split_first_chunk::<4>()? else {
        return None;
    };
    let length = usize::from(u16::from_be_bytes([*high, *low]));
    telling(std::str::from_utf8(rest.get(..length.min(rest.len()))?).ok()?)
}

/// What all whole disks show, those aside that only the kernel uses as paths.
pub fn plates() -> Vec<DiskPlate> {
    let names = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let shown = |home: &Path, file: &str| telling(&fs::read_to_string(home.join(file)).ok()?);
    let plate = |entry: fs::DirEntry| {
        let home = entry.path();
        if fs::read_to_string(home.join("hidden")).is_ok_and(|says| says.trim() == "1") {
            return None;
        }
        let page = || on_page_80(&fs::read(home.join("device/vpd_pg80")).ok()?);
        let serial = shown(&home, "serial")
            .or_else(|| shown(&home, "device/serial"))
            .or_else(page);
        let wwn = shown(&home, "wwid").or_else(|| shown(&home, "device/wwid"));
        Some(DiskPlate {
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

    fn plate(name: &str, serial: &str, wwn: &str) -> DiskPlate {
        DiskPlate {
            name: name.to_owned(),
            serial: telling(serial),
            wwn: telling(wwn),
        }
    }

    #[test]
    fn only_a_word_of_its_own_names_a_disk() {
        let all = [
            plate("sda", "S1", "naa.1"),
            plate("nvme0n1", "N1", "eui.1"),
            plate("nvme0n2", "N1", "eui.2"),
            plate("sdb", "P1", "naa.9"),
            plate("sdc", "P1", "naa.9"),
            plate("vda", "", ""),
            plate("vdb", "0000", "0000000"),
        ];
        assert_eq!(known_by("sda", &all), Ok(KnownBy::Serial("S1".to_owned())));
        assert_eq!(
            known_by("nvme0n2", &all),
            Ok(KnownBy::Wwn("eui.2".to_owned())),
            "shared by name spaces"
        );
        for name in ["sdb", "sdc", "vda", "vdb", "gone"] {
            assert!(known_by(name, &all).is_err(), "{name}");
        }
    }

    #[test]
    fn words_are_typed_with_any_blanks_and_nothing_else_different() {
        let known = KnownBy::Wwn("t10.ATA Disk 7".to_owned());
        assert!(known.is("t10.ATA Disk 7") && known.is("  t10.ATA   Disk 7\n"));
        for typed in [
            "",
            "yes",
            "t10.ATA Disk",
            "T10.ATA DISK 7",
            "t10.ATA Disk 77",
        ] {
            assert!(!known.is(typed), "{typed}");
        }
        assert_eq!(telling("\u{1b}[2J1"), None);
    }

    #[test]
    fn page_80_is_read_by_its_length() {
        assert_eq!(
            on_page_80(b"\0\x80\0\x04S123garbage"),
            Some("S123".to_owned())
        );
        assert_eq!(on_page_80(b"\0\x80\0\xffS1 "), Some("S1".to_owned()));
        assert_eq!(
            (on_page_80(b"\0\x83\0\x04S123"), on_page_80(b"\0\x80")),
            (None, None)
        );
        assert_eq!(on_page_80(b"\0\x80\0\x04\0\0\0\0"), None);
    }
}
