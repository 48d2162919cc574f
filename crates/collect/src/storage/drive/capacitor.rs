//! The power-loss capacitor of an NVMe drive: log page C0h of the OCP Datacenter NVMe SSD
//! Specification (*SMART / Health Information Extended*), as nvme-cli dumps it.
//!
//! C0h is vendor-specific, so the page counts only with its GUID and a published version. Three
//! other sources do not show the capacitor's state and are not read: log page C6h (components),
//! feature C6h (check interval) and feature C2h (behaviour on failure).

use super::{DriveFacts, DriveToolRunner, unknown_reading_of_refusal};
use crate::facts::catalog::device::{self, CapacitorCondition};
use crate::facts::{Reading, UnknownReason, Value};
use crate::host::Tool;

const GET_LOG_ARGUMENTS: [&str; 5] = ["get-log", "-i", "0xc0", "-l", "512"];

const LENGTH: usize = 512;

/// Bytes per line of nvme-cli's dump.
const DUMP_WIDTH: usize = 16;

/// The page's GUID: bytes 496 to 511, in page order.
const GUID: [u8; 16] = [
    0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf,
];

/// The page's versions in specifications 1.0, 2.0 and 2.5. The fields used have the same offsets in
/// all.
const VERSIONS: [u64; 3] = [2, 3, 4];

/// The value of Capacitor Health for a drive without a capacitor.
const NO_CAPACITOR: u64 = 0xffff;

pub fn query_capacitor(questions: &DriveToolRunner, drive: &mut DriveFacts) {
    let answer = match questions.run_tool_unless_refused(Tool::Nvme, &GET_LOG_ARGUMENTS, drive) {
        Ok(answer) => answer,
        // nvme-cli fails if the drive lacks the page, so a failure counts as *absent*.
        Err(Reading::Unknown {
            why: UnknownReason::Malformed,
            detail,
            ..
        }) => {
            return insert_refusal_for_all_facts(&Reading::absent(detail), drive);
        }
        Err(refusal) => return insert_refusal_for_all_facts(&refusal, drive),
    };
    let Some(page) = parse_hex_dump_of_log_page(&answer.text) else {
        let says = format!("`{}` did not print {LENGTH} bytes", answer.argv);
        return insert_refusal_for_all_facts(&Reading::malformed(says), drive);
    };
    let Some(said) = CapacitorLogPage::parse(&page) else {
        if is_damaged_log_page(&page) {
            let says = format!(
                "`{}` printed a log page whose GUID, version or reserved bytes are damaged",
                answer.argv
            );
            return insert_refusal_for_all_facts(&Reading::malformed(says), drive);
        }
        drive.insert(
            &device::NVME_CAPACITOR,
            Reading::known(CapacitorCondition::Unreadable, answer.source()),
        );
        let says = format!("`{}` printed a different log page", answer.argv);
        return insert_refusal_for_numeric_facts(&Reading::absent(says), drive);
    };
    drive.insert(
        &device::NVME_CAPACITOR,
        Reading::known(said.capacitor_condition(), answer.source()),
    );
    drive.insert(
        &device::NVME_CAPACITOR_PERCENT,
        answer.reading_or_absent(said.health_percent(), "the capacitor's remaining health"),
    );
    drive.insert(
        &device::NVME_PLP_STARTS,
        Reading::known(said.plp_starts, answer.source()),
    );
    drive.insert(
        &device::NVME_INCOMPLETE_SHUTDOWNS,
        Reading::known(said.incomplete_shutdowns, answer.source()),
    );
}

pub fn insert_refusal_for_all_facts(refusal: &Reading<Value>, drive: &mut DriveFacts) {
    drive.insert(&device::NVME_CAPACITOR, unknown_reading_of_refusal(refusal));
    insert_refusal_for_numeric_facts(refusal, drive);
}

fn insert_refusal_for_numeric_facts(refusal: &Reading<Value>, drive: &mut DriveFacts) {
    drive.insert(
        &device::NVME_CAPACITOR_PERCENT,
        unknown_reading_of_refusal(refusal),
    );
    drive.insert(
        &device::NVME_PLP_STARTS,
        unknown_reading_of_refusal(refusal),
    );
    drive.insert(
        &device::NVME_INCOMPLETE_SHUTDOWNS,
        unknown_reading_of_refusal(refusal),
    );
}

#[derive(Debug, PartialEq, Eq)]
pub struct CapacitorLogPage {
    /// Capacitor Health in percent of the design value, or [`NO_CAPACITOR`].
    health: u64,
    plp_starts: u64,
    incomplete_shutdowns: u64,
}

impl CapacitorLogPage {
    /// `None` for another page, or an unpublished version.
    pub fn parse(page: &[u8]) -> Option<Self> {
        let known =
            page.get(496..LENGTH)? == GUID && VERSIONS.contains(&read_little_endian(page, 494, 2)?);
        let read = Self {
            health: read_little_endian(page, 128, 2)?,
            plp_starts: read_little_endian(page, 160, 8)?,
            incomplete_shutdowns: read_little_endian(page, 112, 4)?,
        };
        known.then_some(read)
    }

    pub fn capacitor_condition(&self) -> CapacitorCondition {
        match self.health {
            NO_CAPACITOR => CapacitorCondition::Absent,
            0 => CapacitorCondition::Failed,
            1..100 => CapacitorCondition::Degraded,
            _ => CapacitorCondition::Healthy,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "16 bits")]
    fn health_percent(&self) -> Option<f64> {
        (self.health != NO_CAPACITOR).then_some(self.health as f64)
    }
}

/// Whether the page is a damaged C0h page: only part of the GUID matches, or the version is
/// implausible.
fn is_damaged_log_page(page: &[u8]) -> bool {
    let guid = page.get(496..LENGTH).unwrap_or_default();
    let alike = guid
        .iter()
        .zip(GUID)
        .filter(|(byte, known)| **byte == *known)
        .count();
    let published =
        read_little_endian(page, 494, 2).is_some_and(|version| (1..256).contains(&version));
    alike >= GUID.len() / 2 && (alike < GUID.len() || !published)
}

fn read_little_endian(page: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let bytes = page.get(at..at.checked_add(bytes)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)),
    )
}

/// A line of nvme-cli's dump has an offset, 16 bytes, and the same bytes as characters:
/// `0010: 41 00 … 00 "A.…."`. `None` unless the lines are complete and in order.
pub fn parse_hex_dump_of_log_page(dump: &[u8]) -> Option<Vec<u8>> {
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
        if bytes.len() != DUMP_WIDTH || shown.strip_suffix('"') != Some(characters.as_str()) {
            return None;
        }
        page.extend(bytes);
    }
    (page.len() == LENGTH).then_some(page)
}
