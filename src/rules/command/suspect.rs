//! Searches a command that is not understood for anything that can lose data, wherever it may stand.
//!
//! The words come from [`crate::settings`]. An empty result proves nothing, because a word can be hidden. Quotes are
//! ignored, because a quoted text may be a command too.

use std::ops::Range;

use super::judgement::CommandEffect;
use super::programs;
use crate::facts::Area;
use crate::settings;

/// Words of other tools that discard or disable protection of data: the word before, the word itself, its effect.
/// Without a word before, the word alone counts.
const OTHERS: &[(&str, &str, &str)] = &[
    ("mdadm", "--create", "it recreates an array"),
    ("mdadm", "--zero-superblock", "it destroys an array"),
    ("mdadm", "--fail", "it takes a disk out of an array"),
    ("mdadm", "-f", "it takes a disk out of an array"),
    ("zfs", "destroy", "it destroys a dataset"),
    ("zfs", "rollback", "it throws data away"),
    ("zpool", "destroy", "it destroys a pool"),
    ("zpool", "create", "it makes a pool of disks"),
    ("zpool", "labelclear", "it destroys a pool"),
    ("dmsetup", "wipe_table", "it cuts off a device"),
    ("dmsetup", "remove", "it cuts off a device"),
    ("drbdsetup", "--disk-flushes=no", "it lets the copies differ after a power failure"),
    ("drbdsetup", "--md-flushes=no", "it lets the copies differ after a power failure"),
    ("drbdsetup", "invalidate", "it throws the data of this host away"),
    ("drbdadm", "invalidate", "it throws the data of this host away"),
    ("drbdadm", "create-md", "it destroys what is on the disk"),
    ("xfs_repair", "-L", "it throws the log away"),
    ("cryptsetup", "luksformat", "it destroys what is on the disk"),
    ("cryptsetup", "erase", "it destroys what is on the disk"),
    ("find", "-delete", "it deletes files"),
    ("find", "-exec", "it runs something for each file"),
    ("lvchange", "writeback", "it has a cache write back"),
    ("lvconvert", "writeback", "it has a cache write back"),
    ("storcli", "wb", "it has a controller write back"),
    ("storcli", "awb", "it has a controller write back without a battery"),
    ("storcli", "pdcache=on", "it turns on the disks' own caches"),
    ("perccli", "awb", "it has a controller write back without a battery"),
    ("perccli", "wb", "it has a controller write back"),
    ("perccli", "pdcache=on", "it turns on the disks' own caches"),
    ("arcconf", "wb", "it has a controller write back"),
    ("arcconf", "wbb", "it has a controller write back"),
    ("ssacli", "dwc=enable", "it turns on the disks' own caches"),
    ("ssacli", "nbwc=enable", "it has a controller write back without a battery"),
    ("hpssacli", "dwc=enable", "it turns on the disks' own caches"),
    ("hpssacli", "nbwc=enable", "it has a controller write back without a battery"),
    ("hpacucli", "dwc=enable", "it turns on the disks' own caches"),
    ("hpacucli", "nbwc=enable", "it has a controller write back without a battery"),
    ("megacli", "cachedbadbbu", "it has a controller write back without a battery"),
    ("megacli", "-cachedbadbbu", "it has a controller write back without a battery"),
    ("megacli", "-endskcache", "it turns on the disks' own caches"),
    ("hdparm", "-w1", "it turns on a disk's own cache"),
    ("mysqld", "--skip-innodb-doublewrite", "it turns the doublewrite buffer off"),
    ("", "/proc/sysrq-trigger", "it can stop the machine at once"),
    ("", "libeatmydata", "it takes flushes away"),
];

/// A piece of a command, in lower case, with its place.
struct CommandFragment {
    text: String,
    range: Range<usize>,
}

/// The first thing in it that can lose data.
pub fn search(command: &str) -> Option<CommandEffect> {
    let pieces = pieces(command, |c| c.is_whitespace() || "'\"\\;|&()<>`,".contains(c));
    // The same without quotes, which a shell removes within a word.
    let joined = pieces_without_quotes(command);
    destroyer(&pieces)
        .or_else(|| destroyer(&joined))
        .or_else(|| option(&pieces))
        .or_else(|| option(&joined))
        .or_else(|| {
            let fine = pieces_of_names(command);
            server(&fine)
                .or_else(|| attribute(command))
                .or_else(|| other(&pieces))
                .or_else(|| device(command))
        })
}

fn pieces(command: &str, between: impl Fn(char) -> bool) -> Vec<CommandFragment> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, c) in command.char_indices().chain([(command.len(), ' ')]) {
        if between(c) {
            let text = command.get(from..at).unwrap_or_default();
            if !text.is_empty() {
                pieces.push(CommandFragment { text: text.to_ascii_lowercase(), range: from..at });
            }
            from = at + c.len_utf8();
        }
    }
    pieces
}

fn pieces_without_quotes(command: &str) -> Vec<CommandFragment> {
    let mut pieces = pieces(command, |c| c.is_whitespace() || ";|&()<>`,".contains(c));
    for piece in &mut pieces {
        piece.text.retain(|c| !"'\"\\".contains(c));
    }
    pieces
}

fn pieces_of_names(command: &str) -> Vec<CommandFragment> {
    let mut pieces = pieces(command, |c| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
    for piece in &mut pieces {
        piece.text = piece.text.trim_start_matches('-').replace('-', "_");
    }
    pieces
}

fn destroyer(pieces: &[CommandFragment]) -> Option<CommandEffect> {
    let named =
        |piece: &&CommandFragment| programs::destroys(piece.text.rsplit('/').next().unwrap_or_default());
    let piece = pieces.iter().find(named)?;
    let name = piece.text.rsplit('/').next().unwrap_or_default();
    Some(CommandEffect::loses(piece.range.clone(), format!("{name} destroys data")))
}

/// Mount options and features that lose data. A short word counts only where something is mounted.
fn option(pieces: &[CommandFragment]) -> Option<CommandEffect> {
    let mounts = pieces.iter().any(|piece| piece.text.contains("mount") || piece.text.contains("fstab"));
    let of = ["mount.options", "mkfs.features", "zfs.sync"].into_iter().filter_map(settings::find);
    for setting in of {
        let short = setting.name == "zfs.sync";
        for piece in pieces {
            let text = piece.text.as_str();
            let behind = text.split_once('=').map(|(_, behind)| behind);
            let parts = text.split(['/', ':']).chain([text.strip_prefix("-o").unwrap_or(text)]).chain(behind);
            for bare in parts {
                let clear =
                    if short { text.starts_with("sync=") } else { mounts || bare.len() > "softerr".len() };
                if clear && setting.can_lose(&[bare.to_owned()]) {
                    let what = format!("{}: {bare} can lose data", setting.name);
                    return Some(CommandEffect::loses(piece.range.clone(), what));
                }
            }
        }
    }
    None
}

/// A server's setting with a value that loses data, with at most one word in between.
fn server(pieces: &[CommandFragment]) -> Option<CommandEffect> {
    for setting in settings::ALL {
        let area: Option<Area> = setting.kind.area();
        if area.is_none() || setting.loses().next().is_none() {
            continue;
        }
        for (at, piece) in pieces.iter().enumerate() {
            if piece.text != setting.own_name() {
                continue;
            }
            let near = pieces.iter().skip(at + 1).take(2);
            let loses = |one: &&CommandFragment| setting.can_lose(std::slice::from_ref(&one.text));
            if let Some(value) = near.take_while(|one| one.text == "to" || loses(one)).find(loses) {
                let what = format!("{}: {} can lose data", setting.name, value.text);
                return Some(CommandEffect::loses(piece.range.start..value.range.end, what));
            }
        }
    }
    None
}

/// A false statement made to the kernel or to ZFS about caches.
fn attribute(command: &str) -> Option<CommandEffect> {
    let of = [
        ("write_cache", "block.write_cache"),
        ("cache_type", "block.write_cache"),
        ("zfs_nocacheflush", "zfs.no_cache_flush"),
    ];
    let (word, setting) = of.into_iter().find(|(word, _)| command.contains(word))?;
    let setting = settings::find(setting)?;
    let text = command.to_ascii_lowercase();
    let words = pieces_of_names(command);
    let loses = |value: &&str| {
        let several = value.contains(' ');
        several && text.contains(*value) || words.iter().any(|piece| piece.text == *value)
    };
    let value = setting.loses().find(loses)?;
    let start = command.find(word)?;
    Some(CommandEffect::loses(start..start + word.len(), format!("{}: {value} can lose data", setting.name)))
}

fn other(pieces: &[CommandFragment]) -> Option<CommandEffect> {
    for (program, word, what) in OTHERS {
        let named = |piece: &&CommandFragment| {
            let name = piece.text.rsplit('/').next().unwrap_or_default();
            name.starts_with(program)
        };
        let there = program.is_empty() || pieces.iter().any(|piece| named(&piece));
        let found = pieces.iter().find(|piece| {
            piece.text.eq_ignore_ascii_case(word)
                || word.starts_with(['/', 'l']) && piece.text.contains(word)
                || piece.text.split('=').any(|part| part.eq_ignore_ascii_case(word))
        });
        if let Some(piece) = found.filter(|_| there) {
            return Some(CommandEffect::loses(piece.range.clone(), (*what).to_owned()));
        }
    }
    None
}

/// A write to a device.
fn device(command: &str) -> Option<CommandEffect> {
    command.match_indices('>').find_map(|(at, _)| {
        let into = command.get(at..)?.trim_start_matches(|c: char| c.is_whitespace() || ">|'\"".contains(c));
        let node = into.strip_prefix("/dev/")?.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        let harmless = ["null", "stderr", "stdout", "tty", "fd"].contains(&node);
        let what = "what is written to a device destroys what is on it";
        (!harmless).then(|| CommandEffect::loses(at..at + 1, what))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Tool;

    /// The table of tools leads: one of a RAID controller, which its maker's package brings, can make a cache unsafe.
    #[test]
    fn every_controllers_tool_has_words_here() {
        let of_makers =
            Tool::FIXED.iter().filter(|tool| format!("{:?}", tool.row().home).starts_with("Maker"));
        let names: Vec<String> = of_makers.map(|tool| tool.row().name.to_ascii_lowercase()).collect();
        assert!(names.len() > 5);
        for name in names {
            let words =
                OTHERS.iter().filter(|(program, ..)| !program.is_empty() && name.starts_with(program));
            assert!(words.count() > 0, "no word of {name} is suspected");
        }
    }
}
