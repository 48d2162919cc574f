//! The capacitor of an NVMe drive: log page C0h of the OCP Datacenter NVMe SSD Specification
//! (*SMART / Health Information Extended*), as nvme-cli dumps any log page.
//!
//! C0h is among the identifiers that every maker may use in its own way, so the page counts only
//! with its GUID and a published version. Log page C6h lists a drive's components, and feature C6h
//! is the interval between checks of the capacitor; neither says how the capacitor is, and neither
//! is read. Feature C2h says what the drive is set to do when it fails, which is a setting and no
//! observation.

use super::questions::{DriveFacts, Questions, unknown};
use crate::facts::catalog::device::{self, Capacitor};
use crate::facts::{Reading, Value, Why};
use crate::host::Tool;

/// Before the disk's node.
const QUESTION: [&str; 5] = ["get-log", "-i", "0xc0", "-l", "512"];

/// Bytes of the page.
const LENGTH: usize = 512;

/// Bytes of a line in a dump.
const WIDTH: usize = 16;

/// The page's GUID, as it lies in the page (bytes 496 to 511).
const GUID: [u8; 16] = [
    0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf,
];

/// Versions of the page in the specification's versions 1.0, 2.0 and 2.5; what is read here lies in
/// the same place in all.
const VERSIONS: [u64; 3] = [2, 3, 4];

/// The value of Capacitor Health for a drive without one.
const NO_CAPACITOR: u64 = 0xffff;

pub fn ask(questions: &Questions, drive: &mut DriveFacts) {
    let answer = match questions.ask(Tool::Nvme, &QUESTION, drive) {
        Ok(answer) => answer,
        // nvme-cli fails where the drive has no such page.
        Err(Reading::Unknown {
            why: Why::Malformed,
            detail,
            ..
        }) => {
            return leave(&Reading::unknown(Why::Absent, detail), drive);
        }
        Err(refusal) => return leave(&refusal, drive),
    };
    let Some(page) = dumped(&answer.text) else {
        let says = format!("`{}` does not show {LENGTH} bytes", answer.argv);
        return leave(&Reading::unknown(Why::Malformed, says), drive);
    };
    let Some(said) = LogPage::read(&page) else {
        if is_damaged(&page) {
            let says = format!(
                "`{}` shows the page with damage in its GUID, version or reserved bytes",
                answer.argv
            );
            return leave(&Reading::unknown(Why::Malformed, says), drive);
        }
        drive.put(
            &device::NVME_CAPACITOR,
            Reading::known(Capacitor::Unreadable, answer.source()),
        );
        let says = format!("`{}` shows a page of another kind", answer.argv);
        return leave_figures(&Reading::unknown(Why::Absent, says), drive);
    };
    drive.put(
        &device::NVME_CAPACITOR,
        Reading::known(said.state(), answer.source()),
    );
    drive.put(
        &device::NVME_CAPACITOR_PERCENT,
        answer.reading(said.percent(), "how much of a capacitor is left"),
    );
    drive.put(
        &device::NVME_PLP_STARTS,
        Reading::known(said.plp_starts, answer.source()),
    );
    drive.put(
        &device::NVME_INCOMPLETE_SHUTDOWNS,
        Reading::known(said.incomplete_shutdowns, answer.source()),
    );
}

/// Records why none of it is known.
pub fn leave(refusal: &Reading<Value>, drive: &mut DriveFacts) {
    drive.put(&device::NVME_CAPACITOR, unknown(refusal));
    leave_figures(refusal, drive);
}

fn leave_figures(refusal: &Reading<Value>, drive: &mut DriveFacts) {
    drive.put(&device::NVME_CAPACITOR_PERCENT, unknown(refusal));
    drive.put(&device::NVME_PLP_STARTS, unknown(refusal));
    drive.put(&device::NVME_INCOMPLETE_SHUTDOWNS, unknown(refusal));
}

/// The part of the page that is used.
#[derive(Debug, PartialEq, Eq)]
pub struct LogPage {
    /// Capacitor Health, in percent.
    health: u64,
    plp_starts: u64,
    incomplete_shutdowns: u64,
}

impl LogPage {
    /// `None` where it is another page, or a version that nobody has published.
    pub fn read(page: &[u8]) -> Option<Self> {
        let known = page.get(496..LENGTH)? == GUID && VERSIONS.contains(&number(page, 494, 2)?);
        let read = Self {
            health: number(page, 128, 2)?,
            plp_starts: number(page, 160, 8)?,
            incomplete_shutdowns: number(page, 112, 4)?,
        };
        known.then_some(read)
    }

    pub fn state(&self) -> Capacitor {
        match self.health {
            NO_CAPACITOR => Capacitor::Absent,
            0 => Capacitor::Failed,
            1..100 => Capacitor::Degraded,
            _ => Capacitor::Healthy,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "16 bits")]
    fn percent(&self) -> Option<f64> {
        (self.health != NO_CAPACITOR).then_some(self.health as f64)
    }
}

/// Whether a page is this one and not whole: some of its GUID is there, or its version is none that
/// will be published soon.
fn is_damaged(page: &[u8]) -> bool {
    let guid = page.get(496..LENGTH).unwrap_or_default();
    let alike = guid
        .iter()
        .zip(GUID)
        .filter(|(byte, known)| **byte == *known)
        .count();
    let published = number(page, 494, 2).is_some_and(|version| (1..256).contains(&version));
    alike >= GUID.len() / 2 && (alike < GUID.len() || !published)
}

/// A number of up to eight bytes, the lowest first.
fn number(page: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let bytes = page.get(at..at.checked_add(bytes)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)),
    )
}

/// The bytes of a dump: lines of an offset, 16 bytes, and the same as characters; all of them, and
/// in order.
pub fn dumped(dump: &[u8]) -> Option<Vec<u8>> {
    let mut page = Vec::new();
    for line in str::from_utf8(dump).ok()?.lines() {
        let Some((offset, rest)) = line.split_once(": ") else {
            continue;
        };
        if usize::from_str_radix(offset, 16) != Ok(page.len()) {
            return None;
        }
        let (bytes, shown) = rest.split_once(" \"")?;
        let bytes: Vec<u8> = bytes
            .split(' ')
            .map(|word| u8::from_str_radix(word, 16))
            .collect::<Result<_, _>>()
            .ok()?;
        let graphic = |byte: &u8| {
            if byte.is_ascii_graphic() {
                char::from(*byte)
            } else {
                '.'
            }
        };
        let characters: String = bytes.iter().map(graphic).collect();
        if bytes.len() != WIDTH || shown.strip_suffix('"') != Some(characters.as_str()) {
            return None;
        }
        page.extend(bytes);
    }
    (page.len() == LENGTH).then_some(page)
}
