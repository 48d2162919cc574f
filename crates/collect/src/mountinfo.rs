//! The parser of /proc/self/mountinfo (proc_pid_mountinfo(5)), on bytes.
//!
//! It keeps the order of the file, duplicates, and the difference between options of the mount and
//! of the superblock. What the entries mean is left to `filesystems::mounts`. Mount points are any
//! bytes but zero, and a line may be hostile or truncated; a malformed line is lost alone.

use std::path::Path;

use crate::bounds::MOUNT_TABLE;
use crate::host::{Host, Miss};
use crate::quote::fstab::unescape;

/// One mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Line of the file, counted from one.
    pub line: u32,
    /// Unique id of the mount.
    pub id: u64,
    /// Id of the mount it lies on.
    pub parent: u64,
    /// Major and minor number of the file system, `254:0`.
    pub devno: String,
    /// Directory of the file system that is mounted.
    pub root: Vec<u8>,
    /// Where it is mounted, as seen from this process' root.
    pub point: Vec<u8>,
    pub options: Vec<Vec<u8>>,
    /// File system type, with its subtype: `fuse.sshfs`.
    pub fstype: Vec<u8>,
    pub source: Vec<u8>,
    /// Options of the superblock.
    pub super_options: Vec<Vec<u8>>,
}

/// The contents of the file: its entries, and the malformed lines with the error in each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MountTable {
    /// In the order of the file.
    pub entries: Vec<Entry>,
    /// Line number and complaint.
    pub malformed: Vec<(u32, &'static str)>,
    /// Numbers of lines whose options hold an unescaped blank. The text after it belongs to the
    /// options.
    pub blanks: Vec<u32>,
    /// How many lines stand behind the last that was read.
    pub left_out: usize,
}

/// The mount table of a process, up to the host's bound.
pub fn read(host: &dyn Host, path: &Path) -> Result<MountTable, Miss> {
    Ok(parse(&host.read(path)?, host.bounds().mounts))
}

/// Parses as many mounts as the bound allows and counts the other lines.
pub fn parse(bytes: &[u8], bound: usize) -> MountTable {
    let mut table = MountTable::default();
    let mut number: u32 = 0;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if table.entries.len() >= bound {
            table.left_out += 1;
            continue;
        }
        number = number.saturating_add(1);
        let whole = line.strip_suffix(b"\n");
        let cut = whole.is_none() && bytes.len() >= MOUNT_TABLE;
        let line = whole.unwrap_or(line);
        match entry(line, number) {
            _ if line.is_empty() => {}
            _ if cut => table
                .malformed
                .push((number, "the file is longer than what was read of it")),
            Ok((entry, blank)) => {
                table.entries.push(entry);
                table.blanks.extend(blank.then_some(number));
            }
            Err(complaint) => table.malformed.push((number, complaint)),
        }
    }
    table
}

/// An entry, and whether a blank stands in its last field, which some file systems print as it was
/// given to them.
fn entry(line: &[u8], number: u32) -> Result<(Entry, bool), &'static str> {
    let mut fields = line.split(|b| *b == b' ');
    let mut next = |missing| fields.next().ok_or(missing);
    let id = integer(next("no mount id")?).ok_or("the mount id is no number")?;
    let parent = integer(next("no parent id")?).ok_or("the parent id is no number")?;
    let devno =
        device_number(next("no device number")?).ok_or("the device number is not MAJOR:MINOR")?;
    let root = unescape(next("no root directory")?);
    let point = unescape(next("no mount point")?);
    let options = split_options(next("no mount options")?);
    while next("no separator")? != b"-" {}
    let fstype = unescape(next("no file system type")?);
    let source = unescape(next("no source")?);
    let mut last = next("no superblock options")?.to_vec();
    let rest: Vec<&[u8]> = fields.collect();
    for more in &rest {
        last.push(b' ');
        last.extend_from_slice(more);
    }
    let super_options = split_options(&last);
    if !point.starts_with(b"/") {
        return Err("the mount point is not an absolute path");
    }
    let entry = Entry {
        line: number,
        id,
        parent,
        devno,
        root,
        point,
        options,
        fstype,
        source,
        super_options,
    };
    Ok((entry, !rest.is_empty()))
}

fn integer(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn device_number(field: &[u8]) -> Option<String> {
    let (major, minor) = std::str::from_utf8(field).ok()?.split_once(':')?;
    let number = |text: &str| text.parse::<u32>().ok();
    Some(format!("{}:{}", number(major)?, number(minor)?))
}

/// Commas separate options, except between double quotes (`context="u:r:t:s0:c1,c2"`).
fn split_options(field: &[u8]) -> Vec<Vec<u8>> {
    let mut quoted = false;
    let apart = |b: &u8| {
        quoted ^= *b == b'"';
        *b == b',' && !quoted
    };
    field
        .split(apart)
        .filter(|option| !option.is_empty())
        .map(unescape)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8]) -> MountTable {
        parse(bytes, usize::MAX)
    }

    const ROOT: &[u8] =
        b"27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard,nobarrier\n";

    /// As the kernel escapes: seq_path with the blanks, the backslash and, in newer kernels, the
    /// hash.
    fn escape(bytes: &[u8]) -> Vec<u8> {
        let one = |b: &u8| match b {
            b' ' | b'\t' | b'\n' | b'\\' | b'#' => format!("\\{b:03o}").into_bytes(),
            b => vec![*b],
        };
        bytes.iter().flat_map(one).collect()
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_failing(bytes: Vec<u8>) {
            all(&bytes);
        }

        #[test]
        fn good_lines_survive_a_bad_one(bad in proptest::collection::vec(any::<u8>().prop_filter("one line", |b| *b != b'\n'), 0..80)) {
            let text = [ROOT, &bad, b"\n", ROOT].concat();
            let table = all(&text);
            let lines: Vec<u32> = table.entries.iter().map(|entry| entry.line).collect();
            prop_assert!(lines.contains(&1) && lines.contains(&3), "{lines:?}");
        }

        #[test]
        fn escapes_round_trip(name: Vec<u8>) {
            prop_assert_eq!(unescape(&escape(&name)), name);
        }

        #[test]
        fn any_mount_point_is_kept(name in proptest::collection::vec(1u8.., 0..40)) {
            let point = [b"/".as_slice(), &name].concat();
            let line = [b"1 0 8:1 / ".as_slice(), &escape(&point), b" rw - xfs /dev/sda1 rw\n"].concat();
            let table = all(&line);
            prop_assert_eq!(&table.entries.first().unwrap().point, &point);
        }
    }

    #[test]
    fn lines_beyond_the_bound_are_counted() {
        let table = parse(&[ROOT; 3].concat(), 2);
        assert_eq!((table.entries.len(), table.left_out), (2, 1));
        assert_eq!(parse(ROOT, 1).left_out, 0);
    }

    #[test]
    fn options_of_mount_and_superblock_stay_apart() {
        let table = all(ROOT);
        let entry = &table.entries[0];
        assert_eq!(
            (entry.id, entry.parent, entry.devno.as_str()),
            (27, 1, "254:0")
        );
        assert_eq!(entry.options, [b"rw".to_vec(), b"relatime".to_vec()]);
        assert_eq!(
            entry.super_options,
            [b"rw".to_vec(), b"discard".to_vec(), b"nobarrier".to_vec()]
        );
    }

    #[test]
    fn optional_fields_empty_sources_and_quotes_are_understood() {
        let text = b"1 0 0:5 / /a\\040b rw master:2 propagate_from:1 unbindable - tmpfs  rw,context=\"u:c1,c2\",size=4k\n\
            2 0 0:6 / /b rw - fuse.sshfs me@host: rw\n";
        let table = all(text);
        assert!(table.malformed.is_empty());
        assert_eq!(table.entries[0].point, b"/a b");
        assert_eq!(table.entries[0].source, b"");
        assert_eq!(table.entries[0].super_options[1], b"context=\"u:c1,c2\"");
        assert_eq!(table.entries[1].fstype, b"fuse.sshfs");
    }

    /// Some file systems print their options as they were given; nothing behind a blank in them is
    /// lost.
    #[test]
    fn a_blank_in_the_options_cuts_nothing_off() {
        let table = all(b"1 0 0:5 / /a rw - btrfs /dev/sda rw,label=my data,nobarrier\n2 0 0:6 / /b rw - xfs /dev/sdb rw\n");
        assert_eq!(
            table.entries[0].super_options,
            [&b"rw"[..], b"label=my data", b"nobarrier"]
        );
        assert_eq!((table.blanks, table.malformed.len()), (vec![1], 0));
    }

    #[test]
    fn a_bad_line_is_named() {
        let table = all(&[ROOT, b"28 27 0:5 / /x rw shared:3 tmpfs tmpfs rw\n", ROOT].concat());
        assert_eq!(table.entries.len(), 2);
        assert_eq!(table.malformed, [(2, "no separator")]);
    }
}
