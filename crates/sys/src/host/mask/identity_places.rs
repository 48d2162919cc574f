//! Identities that are recognised by their position: in a file named `serial`, in a link under
//! /dev/disk/by-id, in a field of udev's database.
//!
//! [`super::name_places`] and [`super::identity_shapes`] find identities without such a position.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use super::IdentityKind;
use super::name_places::{self, MountFieldRanges};
use super::text_ranges::{
    COMMON_WORDS, field_ranges, line_ranges, split_ranges, split_within_range, trim_range,
};
use crate::host::redact::AZURE_CHASSIS;
use crate::host::{ConfigDialect, Question, Tool, path_bytes, pg_settings_lines};

const IDENTITY_FILES: [&str; 14] = [
    "board_asset_tag",
    "board_serial",
    "chassis_asset_tag",
    "chassis_serial",
    "eui",
    "hostid",
    "nguid",
    "product_serial",
    "serial",
    "serial_num",
    "serial_number",
    "unique_id",
    "unit_serial",
    "vpd_pg80",
];

const HOST_NAMES: [&str; 2] = ["/etc/hostname", "/proc/sys/kernel/hostname"];

const UDEV_FIELDS: [&str; 8] = [
    "ID_FS_UUID",
    "ID_FS_UUID_SUB",
    "ID_PART_ENTRY_UUID",
    "ID_PART_TABLE_UUID",
    "ID_SCSI_SERIAL",
    "ID_SERIAL_SHORT",
    "ID_UUID",
    "SCSI_IDENT_SERIAL",
];

type IdentityRange = (Range<usize>, IdentityKind);

pub fn unmasked_common_words() -> BTreeSet<Vec<u8>> {
    COMMON_WORDS
        .split_ascii_whitespace()
        .map(|word| word.as_bytes().to_vec())
        .collect()
}

pub fn add_kernel_path_words(vocabulary: &mut BTreeSet<Vec<u8>>, question: &Question) {
    let Some(path) = question.path() else { return };
    if name_places::is_kernel_named_path(path_bytes(path)) {
        let parts = path_bytes(path).split(|b| *b == b'/');
        // Words of kernel paths are kept: a host named `max` must not change `max_sectors_kb`.
        let words = parts.flat_map(|part| {
            [part]
                .into_iter()
                .chain(part.split(|b| matches!(b, b'_' | b'-')))
        });
        vocabulary.extend(words.map(<[u8]>::to_ascii_lowercase));
    }
}

pub fn identity_ranges_in_path(path: &[u8]) -> Vec<IdentityRange> {
    let behind = |mark: &[u8]| {
        path.windows(mark.len())
            .position(|part| part == mark)
            .map(|at| at + mark.len())
    };
    let device =
        behind(b"disk/by-id/").and_then(|start| identity_in_by_id_name(path, start..path.len()));
    let array =
        || behind(b"/dev/md/").and_then(|start| host_in_array_name(path, start..path.len()));
    device.or_else(array).into_iter().collect()
}

pub fn identity_ranges_in_answer(question: &Question, answer: &[u8]) -> Vec<IdentityRange> {
    match question.strip_as_user() {
        Question::Uname => line_ranges(answer)
            .nth(1)
            .map(|range| (range, IdentityKind::Host))
            .into_iter()
            .collect(),
        Question::Read(path) => identity_ranges_in_file(path, answer),
        Question::Link(_) | Question::RealPath(_) => identity_ranges_in_path(answer),
        Question::List(path) if path.ends_with("disk/by-id") => split_ranges(answer, 0)
            .filter_map(|range| identity_in_by_id_name(answer, range))
            .collect(),
        Question::List(path)
            if path.ends_with("disk/by-uuid") || path.ends_with("disk/by-partuuid") =>
        {
            split_ranges(answer, 0)
                .map(|range| (range, IdentityKind::Serial))
                .collect()
        }
        Question::Run(Tool::Zpool, _) => line_ranges(answer)
            .filter_map(|line| identity_in_pool_line(answer, line))
            .collect(),
        Question::Run(..) => super::tool_output::identity_ranges_after_keys(answer),
        Question::Config(_, dialect) => {
            let of_line = |line: Range<usize>| {
                let mut parts = split_within_range(answer, line.clone(), b'\t');
                let (key, value) = (
                    parts.nth(1).unwrap_or_default(),
                    parts.next().unwrap_or_default(),
                );
                let is_user =
                    *dialect == ConfigDialect::Service && answer.get(key) == Some(b"user");
                let user = is_user
                    .then(|| user_range_if_personal(answer, value.clone()))
                    .flatten();
                let field = field_ranges(answer.get(value.clone()).unwrap_or_default())
                    .next()
                    .unwrap_or_default();
                let source =
                    host_ranges_in_mount_source(answer, value.start..value.start + field.end);
                user.into_iter()
                    .chain(source)
                    .chain(identities_in_device_links(answer, value))
            };
            line_ranges(answer).flat_map(of_line).collect()
        }
        Question::PgSettings(_) => line_ranges(answer)
            .flat_map(|line| override_and_slot_name_ranges(answer, line))
            .collect(),
        Question::UserName(_) => {
            user_range_if_personal(answer, trim_range(answer, 0..answer.len()))
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The names that people choose: database and role of an override, and the name of a slot.
fn override_and_slot_name_ranges(text: &[u8], line: Range<usize>) -> Vec<IdentityRange> {
    let mut parts = split_within_range(text, line, b'\t');
    let kind = parts.next().and_then(|kind| text.get(kind));
    let count = match kind.and_then(|kind| str::from_utf8(kind).ok()) {
        Some(pg_settings_lines::OVERRIDE) => 2,
        Some(pg_settings_lines::SLOT) => 1,
        _ => 0,
    };
    let names = parts.take(count).filter(|name| !name.is_empty());
    names.map(|name| (name, IdentityKind::Name)).collect()
}

/// The identity in a line of `zpool status`, which may name a device by its link under
/// /dev/disk/by-id.
fn identity_in_pool_line(text: &[u8], line: Range<usize>) -> Option<IdentityRange> {
    let bytes = text.get(line.clone())?;
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace())?;
    let length = bytes
        .get(start..)?
        .iter()
        .take_while(|b| !b.is_ascii_whitespace())
        .count();
    let path = bytes.get(start..start + length)?;
    let (range, kind) = identity_ranges_in_path(path).into_iter().next()?;
    let start = line.start + start;
    Some((start + range.start..start + range.end, kind))
}

fn identity_ranges_in_file(path: &Path, answer: &[u8]) -> Vec<IdentityRange> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    if HOST_NAMES.iter().any(|host| path == Path::new(host)) {
        return vec![(trim_range(answer, 0..answer.len()), IdentityKind::Host)];
    }
    if path.starts_with("/run/udev/data") {
        return line_ranges(answer)
            .filter_map(|line| identity_in_udev_line(answer, line))
            .collect();
    }
    if path.starts_with("/proc") && matches!(name, "mountinfo" | "mounts") {
        return line_ranges(answer)
            .flat_map(|line| identities_in_mount_line(answer, line, name == "mountinfo"))
            .collect();
    }
    if !path.starts_with("/sys") {
        return Vec::new();
    }
    let is_of_azure =
        name == "chassis_asset_tag" && answer.trim_ascii() == AZURE_CHASSIS.as_bytes();
    if IDENTITY_FILES.contains(&name) && !is_of_azure {
        return vec![(trim_range(answer, 0..answer.len()), IdentityKind::Serial)];
    }
    if name == "wwid" {
        return serial_in_wwid(answer).into_iter().collect();
    }
    Vec::new()
}

/// The serial in a wwid: the end of `t10.…`, or in `nvme.…` the hexadecimal serial between vendor
/// and model. `naa.…` and `eui.…` are recognised by shape instead.
fn serial_in_wwid(text: &[u8]) -> Option<IdentityRange> {
    let whole = trim_range(text, 0..text.len());
    let id = text.get(whole.clone())?;
    let part = if id.starts_with(b"nvme.") {
        let mut dashes = id
            .iter()
            .enumerate()
            .filter(|(_, b)| **b == b'-')
            .map(|(i, _)| i);
        let first = dashes.next()? + 1;
        first..dashes.next()?
    } else {
        let start = id
            .iter()
            .rposition(|b| *b == b' ')
            .or_else(|| id.iter().position(|b| *b == b'.'))?;
        start + 1..id.len()
    };
    Some((
        whole.start + part.start..whole.start + part.end,
        IdentityKind::Serial,
    ))
}

/// The identity in a name under /dev/disk/by-id, such as `ata-Model_Name_SERIAL-part1`,
/// `virtio-SERIAL` or `md-name-HOST:0`.
fn identity_in_by_id_name(text: &[u8], range: Range<usize>) -> Option<IdentityRange> {
    let name = text.get(range.clone())?;
    if name.starts_with(b"md-name-") {
        return host_in_array_name(text, range.start + b"md-name-".len()..range.end);
    }
    if [&b"dm-"[..], b"lvm-", b"md-", b"wwn-", b"nvme-eui."]
        .iter()
        .any(|prefix| name.starts_with(prefix))
    {
        return None;
    }
    let tails: [&[u8]; 2] = [b"-part", b"-ns-"];
    let end = tails
        .iter()
        .filter_map(|tail| name.windows(tail.len()).rposition(|window| window == *tail))
        .min();
    let name = name.get(..end.unwrap_or(name.len()))?;
    // The name of a USB disk ends with an address, that of an NVMe namespace with a number; the
    // serial precedes both.
    let usb = name
        .windows(2)
        .rposition(|window| window == b"-0")
        .filter(|_| name.starts_with(b"usb-"));
    let name = name.get(..usb.unwrap_or(name.len()))?;
    let mut end = name.len();
    let mut start = last_word_start(name, end)?;
    if end - start <= 3
        && name.get(start..end)?.iter().all(u8::is_ascii_digit)
        && name.starts_with(b"nvme-")
    {
        end = start.checked_sub(1)?;
        start = last_word_start(name, end)?;
    }
    Some((range.start + start..range.start + end, IdentityKind::Serial))
}

fn host_in_array_name(text: &[u8], range: Range<usize>) -> Option<IdentityRange> {
    let colon = text.get(range.clone())?.iter().position(|b| *b == b':')?;
    Some((range.start..range.start + colon, IdentityKind::Host))
}

fn user_range_if_personal(text: &[u8], range: Range<usize>) -> Option<IdentityRange> {
    let name = text.get(range.clone()).filter(|name| !name.is_empty())?;
    (!name_places::is_unmasked_account(name)).then_some((range, IdentityKind::User))
}

/// Start of the last word: after the last underscore, or else after the dash that follows the bus,
/// as in `ata-SERIAL`.
fn last_word_start(name: &[u8], end: usize) -> Option<usize> {
    let part = name.get(..end)?;
    let underscore = part.iter().rposition(|b| *b == b'_');
    underscore
        .or_else(|| part.iter().position(|b| *b == b'-'))
        .map(|at| at + 1)
}

fn identity_in_udev_line(text: &[u8], line: Range<usize>) -> Option<IdentityRange> {
    let bytes = text.get(line.clone())?;
    if bytes.starts_with(b"S:disk/by-id/") {
        return identity_in_by_id_name(text, line.start + b"S:disk/by-id/".len()..line.end);
    }
    if bytes.starts_with(b"S:md/") {
        return host_in_array_name(text, line.start + b"S:md/".len()..line.end);
    }
    let field = bytes.strip_prefix(b"E:")?;
    let equals = field.iter().position(|b| *b == b'=')?;
    let name = str::from_utf8(field.get(..equals)?).ok()?;
    let value = line.start + 2 + equals + 1..line.end;
    if name == "ID_SERIAL" {
        let bytes = text.get(value.clone())?;
        let start = bytes
            .iter()
            .rposition(|b| *b == b'_')
            .map_or(0, |at| at + 1);
        return Some((value.start + start..value.end, IdentityKind::Serial));
    }
    if matches!(name, "MD_NAME" | "MD_DEVNAME") {
        return host_in_array_name(text, value);
    }
    UDEV_FIELDS
        .contains(&name)
        .then_some((value, IdentityKind::Serial))
}

/// Finds servers in a mount's source and identities in its options. Any type of file system may
/// have a server as its source, except ZFS, whose source is a dataset.
fn identities_in_mount_line(
    text: &[u8],
    line: Range<usize>,
    mountinfo: bool,
) -> Vec<IdentityRange> {
    let mount = MountFieldRanges::parse(text, line.clone(), mountinfo);
    let is_dataset = |mount: &MountFieldRanges| text.get(mount.fstype.clone()) == Some(b"zfs");
    let source = mount
        .filter(|mount| !is_dataset(mount))
        .map(|mount| host_ranges_in_mount_source(text, mount.source))
        .unwrap_or_default();
    source
        .into_iter()
        .chain(identities_in_device_links(text, line))
        .collect()
}

/// Finds links under /dev/disk, by which options such as `logdev=` name devices.
fn identities_in_device_links(text: &[u8], line: Range<usize>) -> Vec<IdentityRange> {
    let mut found = Vec::new();
    let mut at = line.start;
    let words = text
        .get(line)
        .unwrap_or_default()
        .split(|b| b.is_ascii_whitespace() || b",=\\\"'".contains(b));
    for word in words {
        let behind = |mark: &[u8]| {
            word.windows(mark.len())
                .position(|part| part == mark)
                .map(|place| place + mark.len())
        };
        if let Some(start) = behind(b"disk/by-id/") {
            found.extend(identity_in_by_id_name(text, at + start..at + word.len()));
        } else if let Some(start) = behind(b"disk/by-path/").and_then(|_| behind(b"ip-")) {
            let host = word
                .get(start..)
                .and_then(|rest| rest.iter().position(|b| *b == b':'));
            let is_named = word.get(start).is_some_and(u8::is_ascii_alphabetic);
            found.extend(
                host.filter(|_| is_named)
                    .map(|end| (at + start..at + start + end, IdentityKind::Host)),
            );
        }
        at += word.len() + 1;
    }
    found
}

/// Finds the hosts of `//host/share`, `host:/export`, `one,two:/export`, `host@tcp:/fs`,
/// `program#host:/export` or `scheme://host:port/`.
fn host_ranges_in_mount_source(text: &[u8], range: Range<usize>) -> Vec<IdentityRange> {
    let Some(source) = text.get(range.clone()) else {
        return Vec::new();
    };
    let behind = |mark: &[u8]| {
        source
            .windows(mark.len())
            .position(|part| part == mark)
            .map(|at| at + mark.len())
    };
    let share = source.starts_with(b"//").then_some(2);
    let address = share.or_else(|| behind(b"://"));
    let start = address.or_else(|| behind(b"#")).unwrap_or(0);
    let rest = source.get(start..).unwrap_or_default();
    let end = if address.is_some() {
        Some(
            rest.iter()
                .position(|b| matches!(b, b'/' | b'\\'))
                .unwrap_or(rest.len()),
        )
    } else {
        // In a server's address, no slash precedes `:/`. In a local path, a slash may.
        rest.windows(2)
            .position(|part| part == b":/")
            .filter(|end| !rest.iter().take(*end).any(|b| *b == b'/'))
    };
    let Some(end) = end else { return Vec::new() };
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    let authority = range.start + start..range.start + start + end;
    // A colon precedes a port or another host. A host's name ends at `@`, which precedes a Lustre
    // network type.
    let pieces = [b',', b';', b':']
        .into_iter()
        .fold(vec![authority], |pieces, mark| {
            pieces
                .into_iter()
                .flat_map(|piece| split_within_range(text, piece, mark))
                .collect()
        });
    let host = |piece: Range<usize>| {
        let length = text
            .get(piece.clone())?
            .iter()
            .take_while(|b| is_name(b))
            .count();
        let name = text.get(piece.start..piece.start + length)?;
        name.iter()
            .any(u8::is_ascii_alphabetic)
            .then_some((piece.start..piece.start + length, IdentityKind::Host))
    };
    pieces.into_iter().filter_map(host).collect()
}
