//! Identities that are recognised by their shape alone, wherever they stand.
//!
//! Every shape is unique to its kind. A dotted number is an address only where one must stand,
//! because kernel and driver versions look the same. Device numbers match no shape.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::names::is_account;
use super::{IdentityKind, IdentityMatch};

/// Prefixes of a world-wide name.
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

/// Prefixes of an IPv4 address.
const ADDRESS_PREFIXES: [&[u8]; 7] = [b"addr=", b"ip=", b"host=", b"ip-", b"//", b"@", b"["];

/// Parents of a person's directory, and of the mount points of removable disks.
const HOMES: [&[u8]; 2] = [b"/home/", b"/users/"];
const MEDIA: [&[u8]; 2] = [b"/run/media/", b"/media/"];

/// Prefixes of an identifier of a file system or partition that may be short.
const ID_PREFIXES: [&[u8]; 2] = [b"uuid=", b"uuid/"];

/// All identities, ordered and without overlap.
pub fn spans(text: &[u8]) -> Vec<IdentityMatch> {
    let mut spans = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some((range, kind)) = shape(text, at) {
            at = range.end.max(at + 1);
            spans.push(IdentityMatch::new(text, range, kind));
        } else {
            at += 1;
        }
    }
    spans
}

/// The byte before a position.
pub fn before(text: &[u8], at: usize) -> Option<u8> {
    text.get(at.checked_sub(1)?).copied()
}

fn shape(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let rest = text.get(at..)?;
    let first = *rest.first()?;
    if !first.is_ascii_alphanumeric() && first != b':' && before(text, at) != Some(b'/') {
        return None;
    }
    hex32(text, at)
        .or_else(|| long_hex(text, at))
        .or_else(|| lvm(text, at))
        .or_else(|| mac(text, at))
        .or_else(|| colon_name(text, at))
        .or_else(|| wwn(text, at))
        .or_else(|| ipv4(text, at))
        .or_else(|| ipv6(text, at))
        .or_else(|| qualified_name(text, at))
        .or_else(|| short_id(text, at))
        .or_else(|| user(text, at))
}

/// Whether the text before this position ends with one of these, in any case.
fn follows(text: &[u8], at: usize, prefixes: &[&[u8]]) -> bool {
    let ends = |prefix: &&[u8]| {
        let start = at.checked_sub(prefix.len());
        start
            .and_then(|start| text.get(start..at))
            .is_some_and(|found| found.eq_ignore_ascii_case(prefix))
    };
    prefixes.iter().any(ends)
}

/// The number of bytes from here on that pass the test.
fn run(text: &[u8], at: usize, fits: impl Fn(&u8) -> bool) -> usize {
    text.get(at..)
        .unwrap_or_default()
        .iter()
        .take_while(|b| fits(b))
        .count()
}

/// Groups of so many characters with one separator between them, not followed by another such
/// character.
fn groups(
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

fn hex32(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let hex: fn(&u8) -> bool = u8::is_ascii_hexdigit;
    // Behind `scsi-3` and its like the first digit belongs to the prefix.
    if before(text, at).is_some_and(|b| hex(&b))
        && !follows(text, at, &WWN_PREFIXES)
        && !designated(text, at)
    {
        return None;
    }
    let end = groups(text, at, &[32], b"", hex)
        .or_else(|| groups(text, at, &[8, 4, 4, 4, 12], b"-", hex))
        .or_else(|| groups(text, at, &[8, 4, 4, 4, 12], b"\\x2d", hex))
        .or_else(|| groups(text, at, &[8, 8, 8, 8], b":", hex))?;
    let nothing = text
        .get(at..end)?
        .iter()
        .all(|b| !b.is_ascii_hexdigit() || *b == b'0');
    // The type of a partition is no identity.
    let partition_type = follows(text, at, &[b"part_entry_type="]);
    (!nothing && !partition_type).then_some((at..end, IdentityKind::Hex32))
}

/// Whether a designator's type stands alone before it, as in the names that multipath gives
/// devices: `3600…` (SPC-4, 7.8.6: 2 is EUI-64, 3 is NAA).
fn designated(text: &[u8], at: usize) -> bool {
    let word = at
        .checked_sub(1)
        .is_some_and(|typed| !before(text, typed).is_some_and(|b| b.is_ascii_alphanumeric()));
    word && matches!(before(text, at), Some(b'2' | b'3'))
}

/// A long run of hexadecimal digits; longer ones name containers, image layers and roots of hash
/// trees.
fn long_hex(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    if before(text, at).is_some_and(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let length = run(text, at, u8::is_ascii_hexdigit);
    let ends = !text.get(at + length).is_some_and(u8::is_ascii_alphanumeric);
    (ends && (40..=128).contains(&length)).then_some((at..at + length, IdentityKind::Wwn))
}

/// Eight bytes with colons between them, as Fibre Channel writes its names.
fn colon_name(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b':';
    let end = groups(text, at, &[2; 8], b":", u8::is_ascii_hexdigit)?;
    let alone = !before(text, at).is_some_and(part) && !text.get(end).copied().is_some_and(part);
    let named = matches!(text.get(at), Some(b'1' | b'2' | b'5'));
    (alone && named).then_some((at..end, IdentityKind::Wwn))
}

/// The name of a person behind `/home/`, behind `/media/` where more follows, or in options such as
/// `uid=` and `resgid=`.
fn user(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let named =
        follows(text, at, &[b"uid=", b"gid="]) && text.get(at).is_some_and(u8::is_ascii_alphabetic);
    let home = named || follows(text, at, &HOMES);
    if !home && !follows(text, at, &MEDIA) {
        return None;
    }
    let length = run(text, at, |b| {
        b.is_ascii_alphanumeric() || b"._-+@".contains(b) || *b >= 0x80
    });
    let name = text.get(at..at + length).filter(|name| !name.is_empty())?;
    let more = text.get(at + length) == Some(&b'/');
    ((home || more) && !is_account(name)).then_some((at..at + length, IdentityKind::User))
}

fn lvm(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let alnum: fn(&u8) -> bool = u8::is_ascii_alphanumeric;
    if follows(text, at, &[b"LVM-"]) {
        return (run(text, at, alnum) == 64).then_some((at..at + 32, IdentityKind::Lvm32));
    }
    // The second half of a logical volume's, which begins where the first one's mask ended.
    let behind_first = at
        .checked_sub(32)
        .is_some_and(|start| follows(text, start, &[b"LVM-"]));
    if behind_first && run(text, at, alnum) == 32 {
        return Some((at..at + 32, IdentityKind::Lvm32));
    }
    if before(text, at).is_some_and(|b| alnum(&b)) {
        return None;
    }
    let end = groups(text, at, &[6, 4, 4, 4, 4, 4, 6], b"-", alnum)?;
    Some((at..end, IdentityKind::Lvm32))
}

fn mac(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b':';
    let end = groups(text, at, &[2; 6], b":", u8::is_ascii_hexdigit)?;
    let alone = !before(text, at).is_some_and(part) && !text.get(end).copied().is_some_and(part);
    let nothing = text.get(at..end)?.iter().all(|b| matches!(b, b'0' | b':'));
    (alone && !nothing).then_some((at..end, IdentityKind::Mac))
}

fn wwn(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let length = run(text, at, u8::is_ascii_hexdigit);
    let end = at + length;
    if text.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let named = length >= 8 && follows(text, at, &WWN_PREFIXES);
    // SAS addresses and Fibre Channel names begin with their NAA type.
    let numbered = length == 16
        && (follows(text, at, &[b"0x"]) || designated(text, at))
        && matches!(text.get(at), Some(b'1' | b'2' | b'5'));
    (named || numbered).then_some((at..end, IdentityKind::Wwn))
}

fn ipv4(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let length = run(text, at, |b| b.is_ascii_digit() || *b == b'.');
    let end = at + length;
    let address: Ipv4Addr = str::from_utf8(text.get(at..end)?).ok()?.parse().ok()?;
    if address.is_loopback() || address.is_unspecified() || address.is_broadcast() {
        return None;
    }
    let expected = follows(text, at, &ADDRESS_PREFIXES);
    if !expected
        && before(text, at)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
    {
        return None;
    }
    // An export or a port behind it: versions have neither.
    let with_tail = match text.get(end..) {
        Some([b':', next, ..]) => *next == b'/' || next.is_ascii_digit(),
        // A network of Lustre.
        Some([b'@', b't' | b'o', ..]) => true,
        _ => false,
    };
    let whole = text.trim_ascii().len() == length;
    (expected || with_tail || whole).then_some((at..end, IdentityKind::Ipv4))
}

fn ipv6(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let part = |b: &u8| b.is_ascii_hexdigit() || matches!(b, b':' | b'.');
    if before(text, at).is_some_and(|b| b.is_ascii_alphanumeric() || part(&b)) {
        return None;
    }
    let end = at + run(text, at, part);
    if text.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let address: Ipv6Addr = str::from_utf8(text.get(at..end)?).ok()?.parse().ok()?;
    (!address.is_loopback() && !address.is_unspecified()).then_some((at..end, IdentityKind::Ipv6))
}

/// The part of an iSCSI or NVMe qualified name that a person chose.
fn qualified_name(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b':' | b'-' | b'_');
    if before(text, at).is_some_and(|b| b.is_ascii_alphanumeric()) {
        // Only directly behind the prefix.
        return None;
    }
    let length = run(text, at, part);
    let name = text.get(at..at + length)?;
    if follows(text, at, &[b"iqn."]) {
        let lun = name.windows(5).position(|window| window == b"-lun-");
        return Some((at..at + lun.unwrap_or(length), IdentityKind::Serial));
    }
    let colon = name
        .starts_with(b"nqn.")
        .then(|| name.iter().position(|b| *b == b':'))
        .flatten()?
        + 1;
    let chosen = name.get(colon..)?;
    (!chosen.is_empty() && !chosen.starts_with(b"uuid:"))
        .then_some((at + colon..at + length, IdentityKind::Serial))
}

fn short_id(text: &[u8], at: usize) -> Option<(Range<usize>, IdentityKind)> {
    if !follows(text, at, &ID_PREFIXES) {
        return None;
    }
    let length = run(text, at, |b| b.is_ascii_alphanumeric() || *b == b'-');
    let id = text.get(at..at + length)?;
    // A partition of a DOS table: the disk's number and its own.
    let whole = match id.split(|b| *b == b'-').collect::<Vec<_>>().as_slice() {
        [disk, _] if disk.len() == 8 && length <= 11 => disk.len(),
        _ => length,
    };
    (whole >= 4).then_some((at..at + whole, IdentityKind::Serial))
}
