//! The power-loss capacitor of an NVMe drive: log page C0h of the OCP Datacenter NVMe SSD
//! Specification (*SMART / Health Information Extended*), as nvme-cli dumps it.
//!
//! C0h is vendor-specific, so the page counts only with its GUID and a published version. Three
//! other sources do not show the capacitor's state and are not read: log page C6h (components),
//! feature C6h (check interval) and feature C2h (behaviour on failure).

use serde_json::Value as Json;

use super::{DriveToolRunner, value_or_absent};
use crate::facts::catalog::device::{self, CapacitorCondition};
use crate::facts::{Reading, UnknownReason};
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

/// If nvme-cli could not read the drive's `identity`, it cannot read the log page either.
pub fn query_capacitor(runner: &mut DriveToolRunner, identity: &Reading<Json>) {
    let dump = identity
        .as_ref()
        .and_then_reading(|_, _| runner.run_tool(Tool::Nvme, &GET_LOG_ARGUMENTS));
    let dump = match dump {
        // nvme-cli fails if the drive lacks the page, so a failure counts as *absent*.
        Reading::Unknown {
            why: UnknownReason::Malformed,
            detail,
            ..
        } if identity.is_known() => Reading::absent(detail),
        dump => dump,
    };
    let page = dump.and_then_reading(|dump, source| match parse_hex_dump_of_log_page(&dump) {
        None => Reading::malformed(format!("{source} did not print {LENGTH} bytes")),
        Some(page) if is_damaged_log_page(&page) => Reading::malformed(format!(
            "{source} printed a log page whose GUID, version or reserved bytes are damaged"
        )),
        Some(page) => Reading::known(CapacitorLogPage::parse(&page), source),
    });
    let condition = page.as_ref().map(|said| {
        said.as_ref().map_or(
            CapacitorCondition::Unreadable,
            CapacitorLogPage::capacitor_condition,
        )
    });
    let said = page.and_then_reading(|said, source| match said {
        Some(said) => Reading::known(said, source),
        None => Reading::absent(format!("{source} printed a different log page")),
    });
    let health = value_or_absent(
        &said,
        CapacitorLogPage::health_percent,
        "the capacitor's remaining health",
    );
    runner.insert(&device::NVME_CAPACITOR, condition);
    runner.insert(&device::NVME_CAPACITOR_PERCENT, health);
    let starts = said.as_ref().map(|said| said.plp_starts);
    runner.insert(&device::NVME_PLP_STARTS, starts);
    let incomplete = said.map(|said| said.incomplete_shutdowns);
    runner.insert(&device::NVME_INCOMPLETE_SHUTDOWNS, incomplete);
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
