//! A parser of /proc/self/mountinfo (proc_pid_mountinfo(5)).
//!
//! Entries keep the file's order, duplicates included, and mount options stay apart from superblock
//! options. Mount points may hold any byte but zero, and lines may be hostile or truncated; only
//! the malformed line is dropped.

use std::iter;
use std::path::Path;

use crate::escape::fstab::decode_fstab_field;
use crate::host::{Host, HostError};
use crate::limits::MOUNT_TABLE;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountEntry {
    /// The line number, from 1.
    pub line: u32,
    pub id: u64,
    pub parent: u64,
    pub devno: String,
    /// The mounted directory within the file system.
    pub root: Vec<u8>,
    /// The mount point, as seen from this process's root.
    pub point: Vec<u8>,
    pub options: Vec<Vec<u8>>,
    /// The file system type with its subtype, such as `fuse.sshfs`.
    pub fstype: Vec<u8>,
    pub source: Vec<u8>,
    pub super_options: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MountTable {
    pub entries: Vec<MountEntry>,
    pub malformed: Vec<(u32, &'static str)>,
    /// Numbers of lines with an unescaped blank in the options; the rest of such a line still
    /// counts as options.
    pub lines_with_blanks: Vec<u32>,
    /// The number of lines beyond the bound, which are not parsed.
    pub skipped_lines: usize,
}

pub(crate) fn read_mountinfo(host: &dyn Host, path: &Path) -> Result<MountTable, HostError> {
    Ok(parse_mountinfo(
        &host.read(path)?,
        host.subject_count_limits().mounts,
    ))
}

pub(crate) fn parse_mountinfo(bytes: &[u8], bound: usize) -> MountTable {
    let mut table = MountTable::default();
    let mut number: u32 = 0;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if table.entries.len() >= bound {
            table.skipped_lines += 1;
            continue;
        }
        number = number.saturating_add(1);
        let whole = line.strip_suffix(b"\n");
        let cut = whole.is_none() && bytes.len() >= MOUNT_TABLE;
        let line = whole.unwrap_or(line);
        match parse_entry(line, number) {
            _ if line.is_empty() => {}
            _ if cut => table.malformed.push((
                number,
                "the line is cut off: the file exceeds the read limit of walwise",
            )),
            Ok((entry, blank)) => {
                table.entries.push(entry);
                table.lines_with_blanks.extend(blank.then_some(number));
            }
            Err(complaint) => table.malformed.push((number, complaint)),
        }
    }
    table
}

/// The flag is true if the superblock options contain a blank, which some file systems print
/// unescaped.
fn parse_entry(line: &[u8], number: u32) -> Result<(MountEntry, bool), &'static str> {
    let mut fields = line.split(|b| *b == b' ');
    let mut next = |missing| fields.next().ok_or(missing);
    let id = parse_integer(next("no mount id")?).ok_or("the mount id is not a number")?;
    let parent = parse_integer(next("no parent id")?).ok_or("the parent id is not a number")?;
    let devno = parse_device_number(next("no device number")?)
        .ok_or("the device number is not MAJOR:MINOR")?;
    let root = decode_fstab_field(next("no root directory")?);
    let point = decode_fstab_field(next("no mount point")?);
    let options = split_and_decode_options(next("no mount options")?);
    while next("no separator")? != b"-" {}
    let fstype = decode_fstab_field(next("no file system type")?);
    let source = decode_fstab_field(next("no source")?);
    let first = next("no superblock options")?;
    let words: Vec<&[u8]> = iter::once(first).chain(fields).collect();
    let super_options = split_and_decode_options(&words.join(&b' '));
    if !point.starts_with(b"/") {
        return Err("the mount point is not an absolute path");
    }
    let entry = MountEntry {
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
    Ok((entry, words.len() > 1))
}

fn parse_integer(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn parse_device_number(field: &[u8]) -> Option<String> {
    let (major, minor) = std::str::from_utf8(field).ok()?.split_once(':')?;
    let number = |text: &str| text.parse::<u32>().ok();
    Some(format!("{}:{}", number(major)?, number(minor)?))
}

/// Splits options at commas outside double quotes (`context="u:r:t:s0:c1,c2"`).
fn split_and_decode_options(field: &[u8]) -> Vec<Vec<u8>> {
    let mut quoted = false;
    let apart = |b: &u8| {
        quoted ^= *b == b'"';
        *b == b',' && !quoted
    };
    field
        .split(apart)
        .filter(|option| !option.is_empty())
        .map(decode_fstab_field)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_unbounded(bytes: &[u8]) -> MountTable {
        parse_mountinfo(bytes, usize::MAX)
    }

    const ROOT: &[u8] =
        b"27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard,nobarrier\n";

    /// Escapes bytes as the kernel's seq_path does: blanks, backslash and, in newer kernels, `#`.
    fn seq_path_escape(bytes: &[u8]) -> Vec<u8> {
        let one = |b: &u8| match b {
            b' ' | b'\t' | b'\n' | b'\\' | b'#' => format!("\\{b:03o}").into_bytes(),
            b => vec![*b],
        };
        bytes.iter().flat_map(one).collect()
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            parse_unbounded(&bytes);
        }

        #[test]
        fn malformed_line_keeps_other_lines(bad in proptest::collection::vec(any::<u8>().prop_filter("one line", |b| *b != b'\n'), 0..80)) {
            let text = [ROOT, &bad, b"\n", ROOT].concat();
            let table = parse_unbounded(&text);
            let lines: Vec<u32> = table.entries.iter().map(|entry| entry.line).collect();
            prop_assert!(lines.contains(&1) && lines.contains(&3), "{lines:?}");
        }

        #[test]
        fn escapes_round_trip(name: Vec<u8>) {
            prop_assert_eq!(decode_fstab_field(&seq_path_escape(&name)), name);
        }

        #[test]
        fn mount_points_round_trip(name in proptest::collection::vec(1u8.., 0..40)) {
            let point = [b"/".as_slice(), &name].concat();
            let line = [b"1 0 8:1 / ".as_slice(), &seq_path_escape(&point), b" rw - xfs /dev/sda1 rw\n"].concat();
            let table = parse_unbounded(&line);
            prop_assert_eq!(&table.entries.first().unwrap().point, &point);
        }
    }

    #[test]
    fn lines_beyond_the_bound_are_counted() {
        let table = parse_mountinfo(&[ROOT; 3].concat(), 2);
        assert_eq!((table.entries.len(), table.skipped_lines), (2, 1));
        assert_eq!(parse_mountinfo(ROOT, 1).skipped_lines, 0);
    }

    #[test]
    fn mount_and_superblock_options_are_separate() {
        let table = parse_unbounded(ROOT);
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
    fn optional_fields_and_quoted_options_are_parsed() {
        let text = b"1 0 0:5 / /a\\040b rw master:2 propagate_from:1 unbindable - tmpfs  rw,context=\"u:c1,c2\",size=4k\n\
            2 0 0:6 / /b rw - fuse.sshfs me@host: rw\n";
        let table = parse_unbounded(text);
        assert!(table.malformed.is_empty());
        assert_eq!(table.entries[0].point, b"/a b");
        assert_eq!(table.entries[0].source, b"");
        assert_eq!(table.entries[0].super_options[1], b"context=\"u:c1,c2\"");
        assert_eq!(table.entries[1].fstype, b"fuse.sshfs");
    }

    #[test]
    fn blank_in_options_keeps_rest_of_line() {
        let table = parse_unbounded(b"1 0 0:5 / /a rw - btrfs /dev/sda rw,label=my data,nobarrier\n2 0 0:6 / /b rw - xfs /dev/sdb rw\n");
        assert_eq!(
            table.entries[0].super_options,
            [&b"rw"[..], b"label=my data", b"nobarrier"]
        );
        assert_eq!(
            (table.lines_with_blanks, table.malformed.len()),
            (vec![1], 0)
        );
    }

    #[test]
    fn malformed_line_is_listed() {
        let table =
            parse_unbounded(&[ROOT, b"28 27 0:5 / /x rw shared:3 tmpfs tmpfs rw\n", ROOT].concat());
        assert_eq!(table.entries.len(), 2);
        assert_eq!(table.malformed, [(2, "no separator")]);
    }
}
