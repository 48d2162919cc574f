//! Identities that are recognised anywhere by their shape alone.
//!
//! Every shape belongs to one kind of identity. Kernel and driver versions look like IPv4
//! addresses, so a dotted number counts only where an address is expected. Device numbers do not
//! match any shape.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::name_places::is_unmasked_account;
use super::{IdentityKind, IdentityMatch};

const WWN_PREFIXES: [&[u8]; 8] = [
    b"wwn-0x",
    b"naa.",
    b"eui.",
    b"wwn=0x",
    b"extension=0x",
    b"scsi-3",
    b"mpath-3",
    b"serial=3",
];

const ADDRESS_PREFIXES: [&[u8]; 7] = [b"addr=", b"ip=", b"host=", b"ip-", b"//", b"@", b"["];

const HOMES: [&[u8]; 2] = [b"/home/", b"/users/"];
const MEDIA: [&[u8]; 2] = [b"/run/media/", b"/media/"];

const ID_PREFIXES: [&[u8]; 2] = [b"uuid=", b"uuid/"];

/// The place of an identity that begins at this position, or shortly after it.
type Shape = fn(&[u8], usize) -> Option<Range<usize>>;

const SHAPES: [(Shape, IdentityKind); 11] = [
    (match_hex32, IdentityKind::Hex32),
    (match_long_hex, IdentityKind::Wwn),
    (match_lvm_uuid, IdentityKind::Lvm32),
    (match_mac, IdentityKind::Mac),
    (match_fibre_channel_name, IdentityKind::Wwn),
    (match_wwn, IdentityKind::Wwn),
    (match_ipv4, IdentityKind::Ipv4),
    (match_ipv6, IdentityKind::Ipv6),
    (match_iscsi_or_nvme_name, IdentityKind::Serial),
    (match_id_after_uuid_prefix, IdentityKind::Serial),
    (match_personal_user_name, IdentityKind::User),
];

pub fn find_identities_by_shape(text: &[u8]) -> Vec<IdentityMatch> {
    let mut spans = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some((range, kind)) = identity_at(text, at) {
            at = range.end.max(at + 1);
            spans.push(IdentityMatch::new(text, range, kind));
        } else {
            at += 1;
        }
    }
    spans
}

pub fn follows_alphanumeric(text: &[u8], at: usize) -> bool {
    preceding_byte(text, at).is_some_and(|b| b.is_ascii_alphanumeric())
}

fn preceding_byte(text: &[u8], at: usize) -> Option<u8> {
    text.get(at.checked_sub(1)?).copied()
}

fn identity_at(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let rest = text.get(at..)?;
    let first = *rest.first()?;
    if !first.is_ascii_alphanumeric() && first != b':' && preceding_byte(text, at) != Some(b'/') {
        return None;
    }
    SHAPES
        .iter()
        .find_map(|(shape, kind)| Some((shape(text, at)?, *kind)))
}

fn follows_prefix(text: &[u8], at: usize, prefixes: &[&[u8]]) -> bool {
    let ends = |prefix: &&[u8]| {
        let start = at.checked_sub(prefix.len());
        start
            .and_then(|start| text.get(start..at))
            .is_some_and(|found| found.eq_ignore_ascii_case(prefix))
    };
    prefixes.iter().any(ends)
}

fn matching_run_length(text: &[u8], at: usize, fits: impl Fn(&u8) -> bool) -> usize {
    text.get(at..)
        .unwrap_or_default()
        .iter()
        .take_while(|b| fits(b))
        .count()
}

/// The end of the groups that begin at `at` and have these `sizes`. `None` if the groups do not
/// match, or if a further character follows for which `fits` is true.
fn separated_groups_end(
    text: &[u8],
    at: usize,
    sizes: &[usize],
    separator: &[u8],
    fits: fn(&u8) -> bool,
) -> Option<usize> {
    let mut end = at;
    for (i, size) in sizes.iter().enumerate() {
        if i > 0 {
            end += text
                .get(end..)?
                .starts_with(separator)
                .then_some(separator.len())?;
        }
        let group = text.get(end..end + size)?;
        if !group.iter().all(fits) {
            return None;
        }
        end += size;
    }
    (!text.get(end).is_some_and(fits)).then_some(end)
}

fn match_hex32(text: &[u8], at: usize) -> Option<Range<usize>> {
    let hex: fn(&u8) -> bool = u8::is_ascii_hexdigit;
    // A hexadecimal digit before `at` must end a prefix such as `scsi-3`.
    if preceding_byte(text, at).is_some_and(|b| hex(&b))
        && !follows_prefix(text, at, &WWN_PREFIXES)
        && !follows_wwn_designator(text, at)
    {
        return None;
    }
    let end = separated_groups_end(text, at, &[32], b"", hex)
        .or_else(|| separated_groups_end(text, at, &[8, 4, 4, 4, 12], b"-", hex))
        .or_else(|| separated_groups_end(text, at, &[8, 4, 4, 4, 12], b"\\x2d", hex))
        .or_else(|| separated_groups_end(text, at, &[8, 8, 8, 8], b":", hex))?;
    let nothing = text
        .get(at..end)?
        .iter()
        .all(|b| !b.is_ascii_hexdigit() || *b == b'0');
    // Many hosts use the same partition type, so its UUID identifies no host.
    let partition_type = follows_prefix(text, at, &[b"part_entry_type="]);
    (!nothing && !partition_type).then_some(at..end)
}

/// Whether only the type of a designator precedes the digits, such as the 3 in multipath's device
/// name `3600…` (SPC-4, 7.8.6: 2 is EUI-64, 3 is NAA).
fn follows_wwn_designator(text: &[u8], at: usize) -> bool {
    let word = at
        .checked_sub(1)
        .is_some_and(|typed| !follows_alphanumeric(text, typed));
    word && matches!(preceding_byte(text, at), Some(b'2' | b'3'))
}

/// Finds a name of 40 to 128 hexadecimal digits. Containers, image layers and roots of hash trees
/// have such names.
fn match_long_hex(text: &[u8], at: usize) -> Option<Range<usize>> {
    if follows_alphanumeric(text, at) {
        return None;
    }
    let length = matching_run_length(text, at, u8::is_ascii_hexdigit);
    let ends = !text.get(at + length).is_some_and(u8::is_ascii_alphanumeric);
    (ends && (40..=128).contains(&length)).then_some(at..at + length)
}

/// The end of a run of hexadecimal bytes separated by colons. `None` if a letter, a digit or a
/// colon adjoins the run.
fn colon_separated_bytes_end(text: &[u8], at: usize, sizes: &[usize]) -> Option<usize> {
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b':';
    let end = separated_groups_end(text, at, sizes, b":", u8::is_ascii_hexdigit)?;
    let adjoins =
        preceding_byte(text, at).is_some_and(part) || text.get(end).copied().is_some_and(part);
    (!adjoins).then_some(end)
}

fn match_fibre_channel_name(text: &[u8], at: usize) -> Option<Range<usize>> {
    let end = colon_separated_bytes_end(text, at, &[2; 8])?;
    matches!(text.get(at), Some(b'1' | b'2' | b'5')).then_some(at..end)
}

/// Finds a person's name after `/home/`, after `/media/` if a directory follows, or in options such
/// as `uid=` and `resgid=`.
fn match_personal_user_name(text: &[u8], at: usize) -> Option<Range<usize>> {
    let named = follows_prefix(text, at, &[b"uid=", b"gid="])
        && text.get(at).is_some_and(u8::is_ascii_alphabetic);
    let home = named || follows_prefix(text, at, &HOMES);
    if !home && !follows_prefix(text, at, &MEDIA) {
        return None;
    }
    let length = matching_run_length(text, at, |b| {
        b.is_ascii_alphanumeric() || b"._-+@".contains(b) || *b >= 0x80
    });
    let name = text.get(at..at + length).filter(|name| !name.is_empty())?;
    let more = text.get(at + length) == Some(&b'/');
    ((home || more) && !is_unmasked_account(name)).then_some(at..at + length)
}

fn match_lvm_uuid(text: &[u8], at: usize) -> Option<Range<usize>> {
    let alnum: fn(&u8) -> bool = u8::is_ascii_alphanumeric;
    if follows_prefix(text, at, &[b"LVM-"]) {
        return (matching_run_length(text, at, alnum) == 64).then_some(at..at + 32);
    }
    // After `LVM-`, the UUIDs of volume group and logical volume follow without a separator.
    let behind_first = at
        .checked_sub(32)
        .is_some_and(|start| follows_prefix(text, start, &[b"LVM-"]));
    if behind_first && matching_run_length(text, at, alnum) == 32 {
        return Some(at..at + 32);
    }
    if follows_alphanumeric(text, at) {
        return None;
    }
    let end = separated_groups_end(text, at, &[6, 4, 4, 4, 4, 4, 6], b"-", alnum)?;
    Some(at..end)
}

fn match_mac(text: &[u8], at: usize) -> Option<Range<usize>> {
    let end = colon_separated_bytes_end(text, at, &[2; 6])?;
    let nothing = text.get(at..end)?.iter().all(|b| matches!(b, b'0' | b':'));
    (!nothing).then_some(at..end)
}

fn match_wwn(text: &[u8], at: usize) -> Option<Range<usize>> {
    let length = matching_run_length(text, at, u8::is_ascii_hexdigit);
    let end = at + length;
    if text.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let named = length >= 8 && follows_prefix(text, at, &WWN_PREFIXES);
    // SAS addresses and Fibre Channel names begin with their NAA type (1, 2 or 5), so other numbers
    // do not count.
    let numbered = length == 16
        && (follows_prefix(text, at, &[b"0x"]) || follows_wwn_designator(text, at))
        && matches!(text.get(at), Some(b'1' | b'2' | b'5'));
    (named || numbered).then_some(at..end)
}

fn match_ipv4(text: &[u8], at: usize) -> Option<Range<usize>> {
    let length = matching_run_length(text, at, |b| b.is_ascii_digit() || *b == b'.');
    let end = at + length;
    let address: Ipv4Addr = str::from_utf8(text.get(at..end)?).ok()?.parse().ok()?;
    if address.is_loopback() || address.is_unspecified() || address.is_broadcast() {
        return None;
    }
    let expected = follows_prefix(text, at, &ADDRESS_PREFIXES);
    if !expected
        && preceding_byte(text, at)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
    {
        return None;
    }
    // An address may be followed by an export or a port, unlike a version.
    let with_tail = match text.get(end..) {
        Some([b':', next, ..]) => *next == b'/' || next.is_ascii_digit(),
        // A Lustre network follows the address, as in `10.0.0.1@tcp`.
        Some([b'@', b't' | b'o', ..]) => true,
        _ => false,
    };
    let whole = text.trim_ascii().len() == length;
    (expected || with_tail || whole).then_some(at..end)
}

fn match_ipv6(text: &[u8], at: usize) -> Option<Range<usize>> {
    let part = |b: &u8| b.is_ascii_hexdigit() || matches!(b, b':' | b'.');
    if preceding_byte(text, at).is_some_and(|b| b.is_ascii_alphanumeric() || part(&b)) {
        return None;
    }
    let end = at + matching_run_length(text, at, part);
    if text.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let address: Ipv6Addr = str::from_utf8(text.get(at..end)?).ok()?.parse().ok()?;
    (!address.is_loopback() && !address.is_unspecified()).then_some(at..end)
}

/// Finds the part of an iSCSI or NVMe qualified name that a person chose.
fn match_iscsi_or_nvme_name(text: &[u8], at: usize) -> Option<Range<usize>> {
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b':' | b'-' | b'_');
    if follows_alphanumeric(text, at) {
        // A qualified name does not begin inside a word.
        return None;
    }
    let length = matching_run_length(text, at, part);
    let name = text.get(at..at + length)?;
    if follows_prefix(text, at, &[b"iqn."]) {
        let lun = name.windows(5).position(|window| window == b"-lun-");
        return Some(at..at + lun.unwrap_or(length));
    }
    let colon = name
        .starts_with(b"nqn.")
        .then(|| name.iter().position(|b| *b == b':'))
        .flatten()?
        + 1;
    let chosen = name.get(colon..)?;
    (!chosen.is_empty() && !chosen.starts_with(b"uuid:")).then_some(at + colon..at + length)
}

fn match_id_after_uuid_prefix(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !follows_prefix(text, at, &ID_PREFIXES) {
        return None;
    }
    let length = matching_run_length(text, at, |b| b.is_ascii_alphanumeric() || *b == b'-');
    let id = text.get(at..at + length)?;
    // The id of a partition in a DOS table is the disk's number and the partition's number.
    let whole = match id.split(|b| *b == b'-').collect::<Vec<_>>().as_slice() {
        [disk, _] if disk.len() == 8 && length <= 11 => disk.len(),
        _ => length,
    };
    (whole >= 4).then_some(at..at + whole)
}
