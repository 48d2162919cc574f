//! Identities that are recognised by their position: in a file named `serial`, in a link under
//! /dev/disk/by-id, in the source of a mount.
//!
//! [`super::name_places`] and [`super::identity_shapes`] find identities without such a position.
//! Text that redaction removes from every answer is not searched, such as most of udev's database.

use std::collections::BTreeSet;
use std::path::Path;

use super::name_places::{self, MountFields};
use super::text_parts::{COMMON_WORDS, fields, text_after, trim_to_graphic};
use super::{Identity, IdentityKind};
use crate::host::{ConfigDialect, Question, Tool, is_in_word_list, pg_settings_lines};
use crate::text::bytes::{lines, split_ascii_whitespace};

const IDENTITY_FILES: &str = "board_asset_tag board_serial chassis_serial eui hostid nguid product_serial serial \
    serial_num serial_number unique_id unit_serial vpd_pg80";

pub fn unmasked_common_words() -> BTreeSet<Vec<u8>> {
    COMMON_WORDS
        .split_ascii_whitespace()
        .map(|word| word.as_bytes().to_vec())
        .collect()
}

pub fn add_kernel_path_words(vocabulary: &mut BTreeSet<Vec<u8>>, path: &[u8]) {
    if name_places::is_kernel_named_path(path) {
        let parts = path.split(|b| *b == b'/');
        // Words of kernel paths are kept: a host named `max` must not change `max_sectors_kb`.
        let words = parts.flat_map(|part| {
            [part]
                .into_iter()
                .chain(part.split(|b| matches!(b, b'_' | b'-')))
        });
        vocabulary.extend(words.map(<[u8]>::to_ascii_lowercase));
    }
}

pub fn identity_in_path(path: &[u8]) -> Option<Identity<'_>> {
    let device = text_after(path, b"disk/by-id/").and_then(identity_in_by_id_name);
    device.or_else(|| text_after(path, b"/dev/md/").and_then(host_in_array_name))
}

pub fn identities_in_answer<'t>(question: &Question, answer: &'t [u8]) -> Vec<Identity<'t>> {
    let entries = || answer.split(|b| *b == 0);
    match question.strip_as_user() {
        Question::Uname => lines(answer)
            .nth(1)
            .map(|host| (host, IdentityKind::Host))
            .into_iter()
            .collect(),
        Question::Read(path) => identities_in_file(path, answer),
        Question::Link(_) | Question::RealPath(_) => identity_in_path(answer).into_iter().collect(),
        Question::List(path) if path.ends_with("disk/by-id") => {
            entries().filter_map(identity_in_by_id_name).collect()
        }
        Question::List(path)
            if path.ends_with("disk/by-uuid") || path.ends_with("disk/by-partuuid") =>
        {
            entries().map(|name| (name, IdentityKind::Serial)).collect()
        }
        // `zpool status` may name a device by its link under /dev/disk/by-id.
        Question::Run(Tool::Zpool, _) => lines(answer)
            .filter_map(|line| identity_in_path(split_ascii_whitespace(line).next()?))
            .collect(),
        Question::Run(..) => lines(answer)
            .flat_map(super::tool_output::identities_after_keys)
            .collect(),
        Question::Config(_, dialect) => lines(answer)
            .flat_map(|line| identities_in_setting(*dialect, line))
            .collect(),
        Question::PgSettings(_) => lines(answer).flat_map(override_and_slot_names).collect(),
        Question::UserName(_) => user_if_personal(trim_to_graphic(answer))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

fn identities_in_setting(dialect: ConfigDialect, line: &[u8]) -> Vec<Identity<'_>> {
    let mut parts = line.split(|b| *b == b'\t').skip(1);
    let key = parts.next().unwrap_or_default();
    let value = parts.next().unwrap_or_default();
    let is_user = dialect == ConfigDialect::Service && key == b"user";
    let user = user_if_personal(value).filter(|_| is_user);
    let source = fields(value).next().unwrap_or_default();
    user.into_iter()
        .chain(hosts_in_mount_source(source))
        .chain(identities_in_device_links(value))
        .collect()
}

/// The names that people choose: database and role of an override, and the name of a slot.
fn override_and_slot_names(line: &[u8]) -> impl Iterator<Item = Identity<'_>> {
    let mut parts = line.split(|b| *b == b'\t');
    let kind = parts.next().and_then(|kind| str::from_utf8(kind).ok());
    let count = match kind {
        Some(pg_settings_lines::OVERRIDE) => 2,
        Some(pg_settings_lines::SLOT) => 1,
        _ => 0,
    };
    parts.take(count).map(|name| (name, IdentityKind::Name))
}

fn identities_in_file<'t>(path: &Path, answer: &'t [u8]) -> Vec<Identity<'t>> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    if name_places::is_mount_table(path) {
        return lines(answer).flat_map(identities_in_mount_line).collect();
    }
    if !path.starts_with("/sys") {
        return Vec::new();
    }
    let text = trim_to_graphic(answer);
    let serial = match name {
        b"wwid" => serial_in_wwid(text),
        name => is_in_word_list(IDENTITY_FILES, name).then_some(text),
    };
    serial
        .map(|serial| (serial, IdentityKind::Serial))
        .into_iter()
        .collect()
}

/// The serial in a wwid: the end of `t10.…`, or in `nvme.…` the hexadecimal serial between vendor
/// and model. `naa.…` and `eui.…` are recognised by shape instead.
fn serial_in_wwid(id: &[u8]) -> Option<&[u8]> {
    if id.starts_with(b"nvme.") {
        let mut parts = id.split(|b| *b == b'-').skip(1);
        return parts.next().filter(|_| parts.next().is_some());
    }
    let start = id
        .iter()
        .rposition(|b| *b == b' ')
        .or_else(|| id.iter().position(|b| *b == b'.'))?;
    id.get(start + 1..)
}

/// The identity in a name under /dev/disk/by-id, such as `ata-Model_Name_SERIAL-part1`,
/// `virtio-SERIAL` or `md-name-HOST:0`.
fn identity_in_by_id_name(name: &[u8]) -> Option<Identity<'_>> {
    if let Some(array) = name.strip_prefix(b"md-name-") {
        return host_in_array_name(array);
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
    Some((name.get(start..end)?, IdentityKind::Serial))
}

fn host_in_array_name(name: &[u8]) -> Option<Identity<'_>> {
    let colon = name.iter().position(|b| *b == b':')?;
    Some((name.get(..colon)?, IdentityKind::Host))
}

fn user_if_personal(name: &[u8]) -> Option<Identity<'_>> {
    (!name_places::is_unmasked_account(name)).then_some((name, IdentityKind::User))
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

/// Finds servers in a mount's source and identities in its options. Any type of file system may
/// have a server as its source, except ZFS, whose source is a dataset.
fn identities_in_mount_line(line: &[u8]) -> Vec<Identity<'_>> {
    let mount = MountFields::parse(line).filter(|mount| mount.fstype != b"zfs");
    let source = mount.map(|mount| hosts_in_mount_source(mount.source));
    source
        .unwrap_or_default()
        .into_iter()
        .chain(identities_in_device_links(line))
        .collect()
}

/// Finds links under /dev/disk, by which options such as `logdev=` name devices.
fn identities_in_device_links(line: &[u8]) -> impl Iterator<Item = Identity<'_>> {
    line.split(|b| b.is_ascii_whitespace() || b",=\\\"'".contains(b))
        .filter_map(|word| {
            if let Some(name) = text_after(word, b"disk/by-id/") {
                return identity_in_by_id_name(name);
            }
            let address = text_after(word, b"disk/by-path/").and(text_after(word, b"ip-"))?;
            let is_named = address.first().is_some_and(u8::is_ascii_alphabetic);
            host_in_array_name(address).filter(|_| is_named)
        })
}

/// Finds the hosts of `//host/share`, `host:/export`, `one,two:/export`, `host@tcp:/fs`,
/// `program#host:/export` or `scheme://host:port/`.
fn hosts_in_mount_source(source: &[u8]) -> Vec<Identity<'_>> {
    let address = source
        .strip_prefix(b"//")
        .or_else(|| text_after(source, b"://"));
    let rest = address
        .or_else(|| text_after(source, b"#"))
        .unwrap_or(source);
    let end = if address.is_some() {
        let end = rest.iter().position(|b| matches!(b, b'/' | b'\\'));
        Some(end.unwrap_or(rest.len()))
    } else {
        // In a server's address, no slash precedes `:/`. In a local path, a slash may.
        rest.windows(2)
            .position(|part| part == b":/")
            .filter(|end| !rest.iter().take(*end).any(|b| *b == b'/'))
    };
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    // A colon precedes a port or another host. A host's name ends at `@`, which precedes a Lustre
    // network type.
    end.and_then(|end| rest.get(..end))
        .unwrap_or_default()
        .split(|b| matches!(b, b',' | b';' | b':'))
        .filter_map(|piece| piece.split(|b| !is_name(b)).next())
        .filter(|name| name.iter().any(u8::is_ascii_alphabetic))
        .map(|name| (name, IdentityKind::Host))
        .collect()
}
