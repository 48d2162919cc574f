//! Programs that only read, with their read-only options.

use super::flags::OptionSyntax;
use super::words::Simple;

/// A program that changes nothing with any of these options and arguments.
pub struct Looker {
    pub name: &'static str,
    pub known: OptionSyntax,
}

const fn looker(name: &'static str, short: &'static str, long: &'static [&'static str]) -> Looker {
    Looker { name, known: OptionSyntax { short, long } }
}

/// Read-only programs.
pub const LOOKERS: &[Looker] = &[
    looker("cat", "n", &[]),
    looker("df", "hTiPl", &["output="]),
    looker("du", "shx", &[]),
    looker("dumpe2fs", "h", &[]),
    looker("filefrag", "v", &[]),
    looker(
        "findmnt",
        "nlJo:t:T:M:S:kmsA",
        &["noheadings", "output=", "target=", "mountpoint=", "source=", "json", "fstab"],
    ),
    looker("grep", "wEFivnqc", &[]),
    looker("head", "n:", &[]),
    looker("journalctl", "bkn:u:", &["no-pager", "boot", "dmesg", "unit="]),
    looker("ls", "lahdZ", &[]),
    looker("lsattr", "d", &[]),
    looker("lsblk", "OJo:dnpbstfD", &["output=", "json", "nodeps", "noheadings", "discard"]),
    looker("lscpu", "", &[]),
    looker("lvs", "ao:", &["noheadings", "units=", "segments"]),
    looker("pvs", "ao:", &["noheadings", "units="]),
    looker("vgs", "ao:", &["noheadings", "units="]),
    looker("mountpoint", "q", &[]),
    looker("stat", "fc:", &["format="]),
    looker("tail", "n:", &[]),
    looker("uname", "arvm", &[]),
    looker("wc", "l", &[]),
    looker("xfs_info", "", &[]),
];

/// The read-only program of this name.
pub fn find(name: &str) -> Option<&'static Looker> {
    LOOKERS.iter().find(|one| one.name == name)
}

/// Whether a part of a pipeline is one of them and does not redirect its output.
pub fn is_reader(one: &Simple) -> bool {
    let program = one.words.first().and_then(super::words::Word::text);
    one.into.is_none()
        && program.is_some_and(|program| find(program.rsplit('/').next().unwrap_or_default()).is_some())
}
