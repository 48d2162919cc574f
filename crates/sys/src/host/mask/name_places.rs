//! Places where people choose names: paths, labels, sources of mounts, names of volumes.
//!
//! Some identities are too common to be replaced everywhere, such as a serial number of digits
//! alone or a user's name. They are replaced only in these places; [`super::identity_places`] and
//! [`super::identity_shapes`] find them. The source of a mount without a device is arbitrary text,
//! so each of its words is replaced unless this module lists the word.

use std::path::Path;

use super::text_parts::{COMMON_WORDS, fields, text_after, trim_to_graphic};
use crate::host::{ConfigDialect, Question, Tool, path_bytes};
use crate::text::bytes::lines;

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

pub fn names_in_path(path: &[u8]) -> Option<&[u8]> {
    (!is_kernel_named_path(path)).then_some(path)
}

/// Files of the kernel that hold a name or path which a person chose.
const NAME_FILES: [&str; 5] = ["array_name", "backing_file", "label", "name", "swaps"];

pub fn names_in_answer<'t>(question: &Question, answer: &'t [u8]) -> Vec<&'t [u8]> {
    use Question::{
        AsUser, CommandLine, Config, Content, Environment, Flags, Identity, IsEmpty, Link, List,
        LogFiles, MysqlSettings, PgSettings, ProcessStart, Read, RealPath, Resources, Run, Servers,
        Stat, StatFs, Superblock, Tablespaces, Uname, UserName,
    };
    match question {
        Read(path) if is_mount_table(path) => {
            let mounts = lines(answer).filter_map(MountFields::parse);
            mounts.flat_map(|mount| mount.names).collect()
        }
        Read(path) if NAME_FILES.iter().any(|name| path.ends_with(name)) => vec![answer],
        Read(path) | List(path) | Link(path) | RealPath(path) => {
            let is_chosen = !is_kernel_named_path(path_bytes(path));
            Vec::from_iter(is_chosen.then_some(answer))
        }
        UserName(_) | Run(Tool::Zpool | Tool::Zfs | Tool::Dmsetup, _) => {
            vec![answer]
        }
        // In fields without a path or a label, a number is never a name that a person chose.
        CommandLine(_) | Environment(_) | Config(..) | PgSettings(_) | MysqlSettings(_)
        | Run(..) => fields(answer)
            .filter(|field| field.contains(&b'/') || label_in_field(field).is_some())
            .collect(),
        IsEmpty(_) | Stat(_) | StatFs(_) | Flags(_) | LogFiles(..) | Uname | Identity
        | Resources | Servers | ProcessStart(_) | Tablespaces(_) | Superblock(..) | Content(..) => {
            Vec::new()
        }
        AsUser(_, inner) => names_in_answer(inner, answer),
    }
}

pub fn is_mount_table(path: &Path) -> bool {
    path.starts_with("/proc") && path.ends_with("mountinfo")
}

/// Fields of a line of /proc/PID/mountinfo.
pub struct MountFields<'t> {
    /// Root, mount point and source.
    pub names: [&'t [u8]; 3],
    pub fstype: &'t [u8],
    pub source: &'t [u8],
}

impl<'t> MountFields<'t> {
    pub fn parse(line: &'t [u8]) -> Option<Self> {
        let mut words = line.split(|b| *b == b' ');
        let (root, point) = (words.nth(3)?, words.next()?);
        let mut words = words.skip_while(|word| *word != b"-").skip(1);
        let (fstype, source) = (words.next()?, words.next()?);
        Some(Self {
            names: [root, point, source],
            fstype,
            source,
        })
    }
}

type SourceAndType<'t> = (&'t [u8], &'t [u8]);

/// Mount sources that are arbitrary text instead of a device. Each word of such a source is
/// replaced, unless it describes a purpose.
pub fn free_text_mount_sources<'t>(question: &Question, answer: &'t [u8]) -> Vec<&'t [u8]> {
    let source_and_type: fn(&'t [u8]) -> Option<SourceAndType<'t>> = match question {
        Question::Read(path) if is_mount_table(path) => {
            |line| MountFields::parse(line).map(|mount| (mount.source, mount.fstype))
        }
        Question::Config(_, ConfigDialect::Fstab) => |line| {
            let mut fields = fields(line).skip(2);
            Some((fields.next()?, fields.next().unwrap_or_default()))
        },
        Question::Config(_, ConfigDialect::MountUnit) => |line| {
            let mut fields = fields(line).skip(1);
            let key = fields.next()?;
            fields
                .next()
                .filter(|_| key == b"what")
                .map(|source| (source, &b""[..]))
        },
        _ => return Vec::new(),
    };
    let is_free = |(source, fstype): &SourceAndType<'t>| {
        let is_device = source.starts_with(b"/")
            || source.contains(&b'=')
            || text_after(source, b"://").is_some();
        !is_device
            && source != fstype
            && *fstype != b"zfs"
            && !list_contains(COMMON_MOUNT_SOURCES, source)
    };
    lines(answer)
        .filter_map(source_and_type)
        .filter(is_free)
        .map(|(source, _)| source)
        .collect()
}

pub fn label_serials_in_answer<'t>(question: &Question, answer: &'t [u8]) -> Vec<&'t [u8]> {
    let is_label = match question {
        Question::List(path) => {
            path.ends_with("disk/by-label") || path.ends_with("disk/by-partlabel")
        }
        Question::Read(path) => path.ends_with("label"),
        _ => false,
    };
    if is_label {
        serial_like_words(answer).collect()
    } else {
        label_serials(answer)
    }
}

pub fn label_serials(text: &[u8]) -> Vec<&[u8]> {
    fields(text)
        .filter_map(label_in_field)
        .flat_map(serial_like_words)
        .collect()
}

fn serial_like_words(label: &[u8]) -> impl Iterator<Item = &[u8]> {
    words_and_escapes(label)
        .filter(|word| word.len() >= 6 && word.iter().filter(|b| b.is_ascii_digit()).count() >= 4)
}

/// The words of a text, and the escapes (`\x20`) between them. Other characters are left out.
pub fn words_and_escapes(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (word, behind) = rest.split_at(word_or_escape_length(rest));
            rest = if word.is_empty() {
                behind.get(1..)?
            } else {
                behind
            };
            if !word.is_empty() {
                return Some(word);
            }
        }
        None
    })
}

fn word_or_escape_length(text: &[u8]) -> usize {
    if text.starts_with(b"\\x") {
        return text.len().min(4);
    }
    text.iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b >= 0x80)
        .count()
}

fn label_in_field(field: &[u8]) -> Option<&[u8]> {
    let after = |mark: &&[u8]| {
        let at = field
            .windows(mark.len())
            .position(|part| part.eq_ignore_ascii_case(mark))?;
        field.get(at + mark.len()..)
    };
    LABEL_PREFIXES
        .iter()
        .filter_map(after)
        .max_by_key(|label| label.len())
        .map(trim_to_graphic)
}
