//! Identities that are recognised by where they stand: in a file called `serial`, in a link under /dev/disk/by-id, in a
//! field of udev's database.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use super::Kind;
use crate::host::{Question, Tool, path_bytes};

/// Files under /sys whose whole content is an identity.
const FILES: [&str; 14] = [
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

/// Files that hold the host's name.
const HOST_NAMES: [&str; 2] = ["/etc/hostname", "/proc/sys/kernel/hostname"];

/// Fields of udev's database whose value is an identity.
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

/// Words that are never a host's or a serial's in paths and answers, besides those that the capture itself asks for.
const WORDS: &str = "arch backup boot btrfs centos cluster data database db debian dev disk ext4 fedora home host linux \
    localdomain localhost log main mariadb mysql none opt oracle pgdata pgsql postgres postgresql proc raid redhat rhel \
    rocky root run server srv storage suse swap sys tmp ubuntu unknown usr var vg vg0 volume wal xfs zfs";

type Place = (Range<usize>, Kind);

/// Words that mean something in this capture.
pub fn vocabulary() -> BTreeSet<Vec<u8>> {
    WORDS.split_ascii_whitespace().map(|word| word.as_bytes().to_vec()).collect()
}

/// Adds the names that a question about the kernel's own files is made of.
pub fn add_words(vocabulary: &mut BTreeSet<Vec<u8>>, question: &Question) {
    let Some(path) = question.path() else { return };
    if path.starts_with("/sys") || path.starts_with("/proc") {
        let parts = path_bytes(path).split(|b| *b == b'/');
        vocabulary.extend(parts.map(<[u8]>::to_ascii_lowercase));
    }
}

/// In a path, which may be a link's target.
pub fn in_path(path: &[u8]) -> Vec<Place> {
    const BY_ID: &[u8] = b"disk/by-id/";
    let start = path.windows(BY_ID.len()).position(|window| window == BY_ID).map(|at| at + BY_ID.len());
    start.and_then(|start| in_device_id(path, start..path.len())).into_iter().collect()
}

/// In an answer.
pub fn in_answer(question: &Question, answer: &[u8]) -> Vec<Place> {
    match question.bare() {
        Question::Uname => lines(answer).nth(1).map(|range| (range, Kind::Host)).into_iter().collect(),
        Question::Read(path) => in_file(path, answer),
        Question::Link(_) | Question::RealPath(_) => in_path(answer),
        Question::List(path) if path.ends_with("disk/by-id") => {
            pieces(answer, 0).filter_map(|range| in_device_id(answer, range)).collect()
        }
        Question::List(path) if path.ends_with("disk/by-uuid") || path.ends_with("disk/by-partuuid") => {
            pieces(answer, 0).map(|range| (range, Kind::Serial)).collect()
        }
        Question::Run(Tool::Zpool, _) => lines(answer).filter_map(|line| in_pool(answer, line)).collect(),
        Question::Run(..) => super::tools::places(answer),
        Question::Config(..) => {
            let device = |line: Range<usize>| {
                let text = answer.get(line.clone())?;
                let mut tabs = text.iter().enumerate().filter(|(_, b)| **b == b'\t').map(|(i, _)| i);
                let start = line.start + tabs.nth(1)? + 1;
                server(answer, start..line.end)
            };
            lines(answer).filter_map(device).collect()
        }
        _ => Vec::new(),
    }
}

/// Of a device in the tree of a pool, which may be named by a link under /dev/disk/by-id.
fn in_pool(text: &[u8], line: Range<usize>) -> Option<Place> {
    let bytes = text.get(line.clone())?;
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace())?;
    let length = bytes.get(start..)?.iter().take_while(|b| !b.is_ascii_whitespace()).count();
    let path = bytes.get(start..start + length)?;
    let (range, kind) = in_path(path).into_iter().next()?;
    let start = line.start + start;
    Some((start + range.start..start + range.end, kind))
}

fn in_file(path: &Path, answer: &[u8]) -> Vec<Place> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if HOST_NAMES.iter().any(|host| path == Path::new(host)) {
        return vec![(trimmed(answer, 0..answer.len()), Kind::Host)];
    }
    if path.starts_with("/run/udev/data") {
        return lines(answer).filter_map(|line| in_udev_line(answer, line)).collect();
    }
    if path.starts_with("/proc") && matches!(name, "mountinfo" | "mounts") {
        return lines(answer).filter_map(|line| in_mount(answer, line, name == "mountinfo")).collect();
    }
    if !path.starts_with("/sys") {
        return Vec::new();
    }
    if FILES.contains(&name) {
        return vec![(trimmed(answer, 0..answer.len()), Kind::Serial)];
    }
    if name == "wwid" {
        return in_wwid(answer).into_iter().collect();
    }
    Vec::new()
}

/// Of a device's wwid: `naa.…` and `eui.…` have shapes of their own; `t10.` ends with the serial; `nvme.` holds it in
/// hexadecimal between vendor and model.
fn in_wwid(text: &[u8]) -> Option<Place> {
    let whole = trimmed(text, 0..text.len());
    let id = text.get(whole.clone())?;
    let part = if id.starts_with(b"nvme.") {
        let mut dashes = id.iter().enumerate().filter(|(_, b)| **b == b'-').map(|(i, _)| i);
        let first = dashes.next()? + 1;
        first..dashes.next()?
    } else {
        let start = id.iter().rposition(|b| *b == b' ').or_else(|| id.iter().position(|b| *b == b'.'))?;
        start + 1..id.len()
    };
    Some((whole.start + part.start..whole.start + part.end, Kind::Serial))
}

/// Of a name under /dev/disk/by-id, such as `ata-Model_Name_SERIAL-part1`, `virtio-SERIAL` or `md-name-HOST:0`.
fn in_device_id(text: &[u8], range: Range<usize>) -> Option<Place> {
    let name = text.get(range.clone())?;
    if let Some(array) = name.strip_prefix(b"md-name-") {
        let start = range.start + b"md-name-".len();
        let colon = array.iter().position(|b| *b == b':')?;
        return Some((start..start + colon, Kind::Host));
    }
    if [&b"dm-"[..], b"lvm-", b"md-", b"wwn-", b"nvme-eui."].iter().any(|prefix| name.starts_with(prefix)) {
        return None;
    }
    let tails: [&[u8]; 2] = [b"-part", b"-ns-"];
    let end =
        tails.iter().filter_map(|tail| name.windows(tail.len()).rposition(|window| window == *tail)).min();
    let name = name.get(..end.unwrap_or(name.len()))?;
    // A USB disk ends with its address, an NVMe name space with its number; the serial stands before.
    let usb = name.windows(2).rposition(|window| window == b"-0").filter(|_| name.starts_with(b"usb-"));
    let name = name.get(..usb.unwrap_or(name.len()))?;
    let mut end = name.len();
    let mut start = word_start(name, end)?;
    if end - start <= 3 && name.get(start..end)?.iter().all(u8::is_ascii_digit) && name.starts_with(b"nvme-")
    {
        end = start.checked_sub(1)?;
        start = word_start(name, end)?;
    }
    Some((range.start + start..range.start + end, Kind::Serial))
}

/// Where the last word before `end` begins: behind an underscore, else behind the bus.
fn word_start(name: &[u8], end: usize) -> Option<usize> {
    let part = name.get(..end)?;
    let underscore = part.iter().rposition(|b| *b == b'_');
    underscore.or_else(|| part.iter().position(|b| *b == b'-')).map(|at| at + 1)
}

/// Of a line of udev's database: `E:NAME=value`, `S:disk/by-id/…`.
fn in_udev_line(text: &[u8], line: Range<usize>) -> Option<Place> {
    let bytes = text.get(line.clone())?;
    if bytes.starts_with(b"S:disk/by-id/") {
        return in_device_id(text, line.start + b"S:disk/by-id/".len()..line.end);
    }
    let field = bytes.strip_prefix(b"E:")?;
    let equals = field.iter().position(|b| *b == b'=')?;
    let name = str::from_utf8(field.get(..equals)?).ok()?;
    let value = line.start + 2 + equals + 1..line.end;
    if name == "ID_SERIAL" {
        let bytes = text.get(value.clone())?;
        let start = bytes.iter().rposition(|b| *b == b'_').map_or(0, |at| at + 1);
        return Some((value.start + start..value.end, Kind::Serial));
    }
    UDEV_FIELDS.contains(&name).then_some((value, Kind::Serial))
}

/// The server in a mount's source, for file systems that have one, and wherever it is an address.
fn in_mount(text: &[u8], line: Range<usize>, mountinfo: bool) -> Option<Place> {
    let mut words = Vec::new();
    let mut start = line.start;
    for word in text.get(line.clone())?.split(|b| *b == b' ') {
        words.push(start..start + word.len());
        start += word.len() + 1;
    }
    let dash = words.iter().position(|word| text.get(word.clone()) == Some(b"-"));
    let (fstype, source) = if mountinfo { (dash? + 1, dash? + 2) } else { (2, 0) };
    let remote: [&[u8]; 7] = [b"nfs", b"cifs", b"smb", b"ceph", b"fuse.ssh", b"fuse.gluster", b"gluster"];
    let (fstype, source) = (text.get(words.get(fstype)?.clone())?, words.get(source)?.clone());
    let is_url = text.get(source.clone())?.windows(3).any(|part| part == b"://");
    (is_url || remote.iter().any(|name| fstype.starts_with(name))).then(|| server(text, source)).flatten()
}

/// The host of `//host/share`, `host:/export`, `program#host:/export` or `scheme://host:port/`.
fn server(text: &[u8], range: Range<usize>) -> Option<Place> {
    let source = text.get(range.clone())?;
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    let behind =
        |mark: &[u8]| source.windows(mark.len()).position(|part| part == mark).map(|at| at + mark.len());
    let share = source.starts_with(b"//").then_some(2);
    let address = share.or_else(|| behind(b"://"));
    let start = address.or_else(|| behind(b"#")).unwrap_or(0);
    let name = source.get(start..)?;
    let length = name.iter().take_while(|b| is_name(b)).count();
    let end = name.get(length..)?;
    let ends = if address.is_some() {
        matches!(end.first(), None | Some(b'/' | b':' | b'\\'))
    } else {
        end.starts_with(b":/")
    };
    let found = length > 0 && ends;
    found.then_some((range.start + start..range.start + start + length, Kind::Host))
}

fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    pieces(text, b'\n')
}

fn pieces(text: &[u8], separator: u8) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split(move |b| *b == separator).map(move |piece| {
        let range = start..start + piece.len();
        start = range.end + 1;
        range
    })
}

/// The range without blanks, zero bytes and the like around.
fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let Some(bytes) = text.get(range.clone()) else { return range };
    let ink = |b: &u8| b.is_ascii_graphic();
    match (bytes.iter().position(ink), bytes.iter().rposition(ink)) {
        (Some(first), Some(last)) => range.start + first..range.start + last + 1,
        _ => range.start..range.start,
    }
}
