//! Places where people choose names: paths, labels, sources of mounts, names of volumes.
//!
//! Some identities are too common to be replaced everywhere, such as a serial number of digits
//! alone or a user's name. They are replaced only in these places; [`super::identity_places`] and
//! [`super::identity_shapes`] find them. The source of a mount without a device is arbitrary text,
//! so each of its words is replaced unless this module lists the word.

use std::ops::Range;
use std::path::Path;

use super::text_ranges::{
    COMMON_WORDS, field_ranges, line_ranges, trim_range, word_ranges_in_line,
};
use crate::host::{ConfigDialect, Question, Tool, path_bytes};

const LABEL_PREFIXES: [&[u8]; 4] = [b"label=", b"label_enc=", b"part_entry_name=", b"label/"];

/// Accounts of the system and of servers, and directories that occur next to home directories.
/// These names are not masked.
const SYSTEM_ACCOUNTS: &str = "admin bin cdrom daemon floppy games lost+found lp mail maria mysqld nfsnobody nobody nogroup operator \
    pgbouncer shared sync usb user www-data";

const COMMON_MOUNT_SOURCES: &str = "binfmt_misc bpf cgmfs cgroup cgroup2 configfs debugfs dev devpts devtmpfs drivers drvfs efivarfs fuse \
    fusectl gvfsd-fuse hugetlbfs lxcfs mergerfs mqueue nfsd nsfs overlay overlayfs portal pstore ramfs rootfs rpc_pipefs \
    securityfs selinuxfs shm snapfuse squashfuse_ll sshfs sunrpc sysfs systemd-1 tags tmpfs tracefs udev";

const PURPOSE_WORDS: &str = "and cache dir file files for fs memory o2ib pg private public ram scratch shared socket spool stat stats tcp temp \
    temporary work";

fn list_contains(list: &str, word: &[u8]) -> bool {
    list.split_ascii_whitespace()
        .any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

pub fn is_unmasked_account(name: &[u8]) -> bool {
    list_contains(COMMON_WORDS, name) || list_contains(SYSTEM_ACCOUNTS, name)
}

pub fn is_unmasked_source_word(word: &[u8]) -> bool {
    let said = [
        COMMON_WORDS,
        SYSTEM_ACCOUNTS,
        COMMON_MOUNT_SOURCES,
        PURPOSE_WORDS,
    ]
    .into_iter()
    .any(|list| list_contains(list, word));
    said || word.len() < 3 || word.iter().all(u8::is_ascii_digit)
}

/// Whether the kernel, not people, chooses the names in the path. A path below a process's root
/// directory does not count.
pub fn is_kernel_named_path(path: &[u8]) -> bool {
    let mut parts = path.split(|b| *b == b'/').skip(1);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(b"proc"), _, Some(b"root" | b"cwd")) => false,
        (Some(b"sys" | b"proc"), ..) => true,
        _ => false,
    }
}

pub fn name_ranges_in_path(path: &[u8]) -> Vec<Range<usize>> {
    if is_kernel_named_path(path) {
        Vec::new()
    } else {
        std::iter::once(0..path.len()).collect()
    }
}

pub fn name_ranges_in_answer(question: &Question, answer: &[u8]) -> Vec<Range<usize>> {
    let whole = || std::iter::once(0..answer.len()).collect();
    match question {
        Question::Read(path) => name_ranges_in_file(path, answer),
        Question::List(path) | Question::Link(path) | Question::RealPath(path) => {
            if is_kernel_named_path(path_bytes(path)) {
                Vec::new()
            } else {
                whole()
            }
        }
        Question::UserName(_) | Question::Run(Tool::Zpool | Tool::Zfs | Tool::Dmsetup, _) => {
            whole()
        }
        Question::CommandLine(_)
        | Question::Environment(_)
        | Question::Config(..)
        | Question::PgSettings(_)
        | Question::MysqlSettings(_)
        | Question::Run(..) => path_and_label_field_ranges(answer),
        Question::IsEmpty(_)
        | Question::Stat(_)
        | Question::StatFs(_)
        | Question::Flags(_)
        | Question::LogFiles(..)
        | Question::Uname
        | Question::Identity
        | Question::Resources
        | Question::Servers
        | Question::ProcessStart(_)
        | Question::Tablespaces(_)
        | Question::Superblock(..)
        | Question::Content(..) => Vec::new(),
        Question::AsUser(_, inner) => name_ranges_in_answer(inner, answer),
    }
}

/// Finds the fields with a path or a label. In other fields, a number is never a name that a
/// person chose.
fn path_and_label_field_ranges(text: &[u8]) -> Vec<Range<usize>> {
    let named = |range: &Range<usize>| {
        text.get(range.clone())
            .is_some_and(|field| field.contains(&b'/') || !label_value_ranges(field).is_empty())
    };
    field_ranges(text).filter(named).collect()
}

fn name_ranges_in_file(path: &Path, answer: &[u8]) -> Vec<Range<usize>> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let whole = || std::iter::once(0..answer.len()).collect();
    if path.starts_with("/run/udev/data") {
        let named = |line: &Range<usize>| {
            let bytes = answer.get(line.clone()).unwrap_or_default();
            let key = bytes.split(|b| *b == b'=').next().unwrap_or_default();
            let marks: [&[u8]; 3] = [b"LABEL", b"NAME", b"DEVLINKS"];
            bytes.starts_with(b"S:")
                || marks
                    .iter()
                    .any(|mark| key.windows(mark.len()).any(|part| part == *mark))
        };
        return line_ranges(answer).filter(named).collect();
    }
    if path.starts_with("/proc") && matches!(name, "mountinfo" | "mounts") {
        let named = |line: Range<usize>| {
            MountFieldRanges::parse(answer, line, name == "mountinfo").map(|mount| mount.names)
        };
        return line_ranges(answer).filter_map(named).flatten().collect();
    }
    let chosen = matches!(
        name,
        "array_name" | "backing_file" | "label" | "name" | "swaps"
    );
    if chosen || !is_kernel_named_path(path_bytes(path)) {
        whole()
    } else {
        Vec::new()
    }
}

pub struct MountFieldRanges {
    /// Ranges of root, mount point and source; /proc/PID/mounts has no root.
    pub names: Vec<Range<usize>>,
    pub fstype: Range<usize>,
    pub source: Range<usize>,
}

impl MountFieldRanges {
    pub fn parse(text: &[u8], line: Range<usize>, mountinfo: bool) -> Option<Self> {
        let words: Vec<Range<usize>> = word_ranges_in_line(text, line).collect();
        let dash = words
            .iter()
            .position(|word| text.get(word.clone()) == Some(b"-"));
        let (fstype, source, named) = if mountinfo {
            (dash? + 1, dash? + 2, 3..5)
        } else {
            (2, 0, 1..2)
        };
        let source = words.get(source)?.clone();
        let mut chosen = words.get(named)?.to_vec();
        chosen.push(source.clone());
        Some(Self {
            names: chosen,
            fstype: words.get(fstype)?.clone(),
            source,
        })
    }
}

/// Mount sources that are arbitrary text instead of a device. Each word of such a source is
/// replaced, unless it describes a purpose.
pub fn free_text_mount_source_ranges(question: &Question, answer: &[u8]) -> Vec<Range<usize>> {
    let free = |source: &Range<usize>, fstype: Option<Range<usize>>| {
        let text = answer.get(source.clone()).unwrap_or_default();
        let fstype = fstype
            .and_then(|range| answer.get(range))
            .unwrap_or_default();
        let is_device = text.starts_with(b"/")
            || text.contains(&b'=')
            || text.windows(3).any(|part| part == b"://");
        !is_device
            && text != fstype
            && fstype != b"zfs"
            && !list_contains(COMMON_MOUNT_SOURCES, text)
    };
    match question {
        Question::Read(path) if path.starts_with("/proc") => {
            let mountinfo = match path.file_name().and_then(|name| name.to_str()) {
                Some("mountinfo") => true,
                Some("mounts") => false,
                _ => return Vec::new(),
            };
            let mounts = line_ranges(answer)
                .filter_map(|line| MountFieldRanges::parse(answer, line, mountinfo));
            mounts
                .filter(|mount| free(&mount.source, Some(mount.fstype.clone())))
                .map(|mount| mount.source)
                .collect()
        }
        Question::Config(_, ConfigDialect::Fstab) => line_ranges(answer)
            .filter_map(|line| {
                let mut fields = field_ranges(answer.get(..line.end)?)
                    .skip_while(|field| field.start < line.start);
                let source = fields.nth(2)?;
                free(&source, fields.next()).then_some(source)
            })
            .collect(),
        Question::Config(_, ConfigDialect::MountUnit) => line_ranges(answer)
            .filter_map(|line| {
                let mut fields = field_ranges(answer.get(..line.end)?)
                    .skip_while(|field| field.start < line.start);
                let key = fields.nth(1)?;
                let source = fields.next().filter(|_| answer.get(key) == Some(b"what"))?;
                free(&source, None).then_some(source)
            })
            .collect(),
        _ => Vec::new(),
    }
}

pub fn label_serial_ranges_in_answer(question: &Question, answer: &[u8]) -> Vec<Range<usize>> {
    let whole = match question {
        Question::List(path) => {
            path.ends_with("disk/by-label") || path.ends_with("disk/by-partlabel")
        }
        Question::Read(path) => path.ends_with("label"),
        _ => false,
    };
    let labels = if whole {
        std::iter::once(0..answer.len()).collect()
    } else {
        label_value_ranges(answer)
    };
    labels
        .into_iter()
        .flat_map(|label| serial_like_word_ranges(answer, label))
        .collect()
}

pub fn label_serial_ranges_in_path(path: &[u8]) -> Vec<Range<usize>> {
    label_value_ranges(path)
        .into_iter()
        .flat_map(|label| serial_like_word_ranges(path, label))
        .collect()
}

fn serial_like_word_ranges(text: &[u8], label: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = label.end;
    let mut at = label.start;
    std::iter::from_fn(move || {
        while at < end {
            let word = word_or_escape_range_at(text, at..end);
            at = word.end.max(at + 1);
            let bytes = text.get(word.clone()).unwrap_or_default();
            if bytes.len() >= 6 && bytes.iter().filter(|b| b.is_ascii_digit()).count() >= 4 {
                return Some(word);
            }
        }
        None
    })
}

/// The word at the start of `range`, or the escape (`\x20`) that starts there.
pub fn word_or_escape_range_at(text: &[u8], range: Range<usize>) -> Range<usize> {
    let bytes = text.get(range.clone()).unwrap_or_default();
    if bytes.starts_with(b"\\x") {
        return range.start..range.end.min(range.start + 4);
    }
    let length = bytes
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b >= 0x80)
        .count();
    range.start..range.start + length
}

fn label_value_ranges(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for field in field_ranges(text) {
        let bytes = text.get(field.clone()).unwrap_or_default();
        let behind = |mark: &&[u8]| {
            let at = bytes
                .windows(mark.len())
                .position(|part| part.eq_ignore_ascii_case(mark))?;
            Some(trim_range(text, field.start + at + mark.len()..field.end))
        };
        found.extend(
            LABEL_PREFIXES
                .iter()
                .filter_map(behind)
                .min_by_key(|range| range.start),
        );
    }
    found
}
