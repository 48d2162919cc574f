//! The programs that are understood, and the effect of each with its arguments.
//!
//! Only the understood options are listed for each; with any other the command is not understood. Turning on a disk's
//! own cache counts as losing data, because nothing here knows whether it is flushed.

use super::flags::{self, Flags, OptionSyntax};
use super::judgement::CommandEffect as J;
use super::judgement::{CommandEffect, all};
use super::words::{Simple, Word};
use super::{readers, sql, values};
use crate::facts::Area;

/// Directories of programs that are called by path.
const DIRECTORIES: [&str; 4] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin"];

/// Programs that destroy the contents of a disk, a directory or a database, whatever their arguments.
pub const DESTROYERS: &[&str] = &[
    "blkdiscard",
    "cfdisk",
    "dd",
    "dropdb",
    "eatmydata",
    "fdisk",
    "gdisk",
    "luksformat",
    "lvremove",
    "mke2fs",
    "mkfs",
    "mkswap",
    "parted",
    "pg_createcluster",
    "pg_dropcluster",
    "pg_resetwal",
    "pg_resetxlog",
    "pvremove",
    "rm",
    "rmdir",
    "sfdisk",
    "sgdisk",
    "shred",
    "truncate",
    "unlink",
    "vgremove",
    "wipefs",
];

/// Whether a program of this name destroys.
pub fn destroys(name: &str) -> bool {
    DESTROYERS.contains(&name) || name.starts_with("mkfs.")
}

/// Whether a program of this name is known here to change something.
pub fn is_known(name: &str) -> bool {
    const OTHERS: [&str; 19] = [
        "mount", "sysctl", "tune2fs", "chattr", "zfs", "zpool", "psql", "mysql", "mariadb", "hdparm",
        "sdparm", "smartctl", "nvme", "mdadm", "dmsetup", "sudo", "lvchange", "echo", "printf",
    ];
    destroys(name) || OTHERS.contains(&name)
}

/// Judges a program with its arguments; `input` is the text piped into it.
pub fn judge(one: &Simple, input: Option<&Word>) -> CommandEffect {
    match program(&one.words) {
        Err(why) => J::strange(why),
        Ok((name, word, args)) => {
            let Some(into) = &one.into else { return of(&name, word, args, input) };
            match name.as_str() {
                "echo" | "printf" => match printed(&name, args) {
                    Ok(said) => values::written(into, &said),
                    Err(why) => J::strange(why),
                },
                _ if into.shape() == "/dev/null" => of(&name, word, args, input),
                _ => values::written(into, &Word::default()).and(J::strange("it writes a file")),
            }
        }
    }
}

/// Whether this is `tee`.
pub fn is_tee(one: &Simple) -> bool {
    program(&one.words).is_ok_and(|(name, ..)| name == "tee")
}

/// The output of `echo` or `printf` here.
pub fn said(one: &Simple) -> Result<Word, String> {
    match (program(&one.words)?, &one.into) {
        ((name, _, args), None) if name == "echo" || name == "printf" => printed(&name, args),
        _ => Err("it passes what one program prints to another".to_owned()),
    }
}

fn printed(name: &str, args: &[Word]) -> Result<Word, String> {
    let shapes: Vec<String> = args.iter().map(Word::shape).collect();
    match (name, shapes.as_slice()) {
        (_, [first, ..]) if first.starts_with('-') && first != "-n" => {
            Err("what it prints is not understood".to_owned())
        }
        (_, all) if all.iter().any(|one| one.contains(['\\', '%'])) => {
            Err("what it prints is not understood".to_owned())
        }
        ("echo", [first, ..]) if first == "-n" => Ok(Word::joined(args.get(1..).unwrap_or_default())),
        ("printf", [_, _, ..]) => Err("what it prints is not understood".to_owned()),
        _ => Ok(Word::joined(args)),
    }
}

/// The program that is finally run, by its name, and its arguments.
fn program(words: &[Word]) -> Result<(String, &Word, &[Word]), String> {
    let mut rest = words;
    for _ in 0..8 {
        let [first, after @ ..] = rest else { return Err("no program is named".to_owned()) };
        let name = first.text().ok_or("a fact decides which program is run")?;
        let name = match name.rsplit_once('/') {
            Some((directory, name)) if DIRECTORIES.contains(&directory) => name.to_owned(),
            Some(_) => return Err(format!("walwise does not know the program {name}")),
            None => name,
        };
        // Options of a prefix that take a word of their own, and words that it has before the program.
        let (flags, valued, more): (&[&str], &[&str], usize) = match name.as_str() {
            "sudo" => (&["-n", "-H", "-E"], &["-u", "-g"], 0),
            "nice" => (&[], &["-n"], 0),
            "ionice" => (&["-c1", "-c2", "-c3"], &["-c", "-n"], 0),
            "timeout" => (&[], &["-k"], 1),
            "env" | "nohup" | "time" | "command" => (&[], &[], 0),
            assigned if ["LC_ALL=C", "LANG=C", "PAGER=cat"].contains(&assigned) => (&[], &[], 0),
            _ => return Ok((name, first, after)),
        };
        rest = after;
        while let [option, after @ ..] = rest {
            let option = option.text().unwrap_or_default();
            rest = match (flags.contains(&option.as_str()), valued.contains(&option.as_str())) {
                (true, _) => after,
                (_, true) => after.get(1..).ok_or("a prefix lacks a word")?,
                _ if option.starts_with('-') => {
                    return Err(format!("walwise does not know {name}'s option `{option}`"));
                }
                _ => break,
            };
        }
        rest = rest.get(more..).ok_or("a prefix lacks a word")?;
    }
    Err("it has too many prefixes".to_owned())
}

/// A call of a program: its arguments, the same as text, and its piped input.
struct Call<'a> {
    word: &'a Word,
    args: &'a [Word],
    words: &'a [&'a str],
    input: Option<&'a Word>,
}

impl Call<'_> {
    /// Harmless if the condition is true, otherwise not understood.
    fn fine(&self, fine: bool) -> CommandEffect {
        if fine {
            return J::Harmless;
        }
        J::strange(format!("walwise does not understand these arguments of {}", self.word.shape()))
    }

    /// One of these, then a single path or device.
    fn looks(&self, options: &[&str]) -> bool {
        match self.words {
            [option, of] => options.contains(option) && path(of),
            _ => false,
        }
    }

    /// Whether the first argument is one of these, and every option one of those.
    fn begins(&self, verbs: &[&str], options: &[&str]) -> bool {
        let mut words = self.words.iter();
        words.next().is_some_and(|verb| verbs.contains(verb))
            && words.all(|word| path(word) || options.contains(word))
    }

    fn all(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.words.iter().all(|word| fits(word))
    }
}

fn path(word: &str) -> bool {
    !word.starts_with('-')
}

type Judge = fn(&Call<'_>) -> CommandEffect;

/// Every program that is understood, besides the read-only ones.
const PROGRAMS: &[(&str, Judge)] = &[
    ("mount", |call| mount(call.args)),
    ("umount", |call| call.fine(!call.words.is_empty() && call.all(path))),
    ("tee", |call| match (call.args, call.input) {
        ([into], Some(said)) if path(&into.shape()) => values::written(into, said),
        _ => call.fine(false),
    }),
    ("sync", |call| call.fine(call.words.is_empty())),
    ("echo", |_| J::Harmless),
    ("printf", |_| J::Harmless),
    ("true", |_| J::Harmless),
    ("sysctl", |call| sysctl(call.args)),
    ("tune2fs", |call| tune2fs(call.args)),
    ("e2fsck", |call| call.fine(call.looks(&["-n", "-fn"]))),
    ("xfs_admin", |call| call.fine(call.looks(&["-l", "-u", "-lu"]))),
    ("xfs_repair", |call| call.fine(call.looks(&["-n"]))),
    ("fstrim", |call| call.fine(call.all(|word| path(word) || word == "-v" || word == "-n"))),
    ("swapon", |call| call.fine(call.words == ["--show"])),
    ("blkid", |call| call.fine(call.looks(&["-p"]) || call.words.len() == 1 && call.all(path))),
    ("chattr", |call| call.fine(call.looks(&["+C", "-C"]))),
    ("btrfs", |call| btrfs(call.words)),
    ("zfs", |call| zfs(call.args, call.words)),
    ("zpool", |call| call.fine(call.begins(&["status", "list", "get", "iostat"], &["-v", "-x", "-H"]))),
    ("systemctl", |call| systemctl(call.words)),
    ("psql", |call| client(call.args, Area::Pg, PSQL)),
    ("mysql", |call| client(call.args, Area::Mysql, MYSQL)),
    ("mariadb", |call| client(call.args, Area::Mysql, MYSQL)),
    ("pg_checksums", |call| pg_checksums(call.args)),
    ("hdparm", |call| match call.words {
        ["-W", "0", device] if path(device) => J::Harmless,
        ["-W1", device] | ["-W", "1", device] if path(device) => turned_on(call.word),
        _ => call.fine(call.looks(&["-I", "-i", "-W", "-W0"])),
    }),
    ("sdparm", |call| match call.words {
        ["--set=WCE" | "--set=WCE=1", device] | ["-s" | "--set", "WCE" | "WCE=1", device] if path(device) => {
            turned_on(call.word)
        }
        ["-c" | "--clear", "WCE", device] | ["-s" | "--set", "WCE=0", device] if path(device) => J::Harmless,
        _ => call.fine(call.looks(&["--get=WCE", "-a", "--clear=WCE", "--set=WCE=0"])),
    }),
    ("smartctl", |call| match call.words {
        ["-s", "wcache,on", device] if path(device) => turned_on(call.word),
        ["-s", "wcache,off", device] | ["-g", "wcache", device] if path(device) => J::Harmless,
        _ => call.fine(call.looks(&["-a", "-i", "-x", "-H", "-A"])),
    }),
    ("nvme", |call| nvme(call.args, call.word)),
    ("mdadm", |call| call.fine(call.looks(&["--detail", "-D", "--examine", "-E"]))),
    ("dmsetup", |call| call.fine(call.begins(&["ls", "table", "status", "info", "deps"], &["--tree"]))),
    ("walwise", |call| call.fine(call.begins(&["check", "explain", "facts", "upgrade"], &["--no-probe"]))),
];

fn of(name: &str, word: &Word, args: &[Word], input: Option<&Word>) -> CommandEffect {
    let shapes: Vec<String> = args.iter().map(Word::shape).collect();
    let words: Vec<&str> = shapes.iter().map(String::as_str).collect();
    let call = Call { word, args, words: &words, input };
    if destroys(name) {
        // So they list what there is.
        let lists = match (name, words.as_slice()) {
            ("wipefs", [device] | ["-n" | "--no-act", device]) => path(device),
            ("fdisk" | "sfdisk", ["-l" | "-d", device]) | ("parted" | "sgdisk", ["-l", device]) => {
                path(device)
            }
            ("fdisk" | "sfdisk" | "parted", ["-l"]) => true,
            _ => false,
        };
        if lists {
            return J::Harmless;
        }
        return J::loses(word.range(), format!("{name} destroys data"));
    }
    if let Some(looker) = readers::find(name) {
        return flagged(args, looker.known, |_| J::Harmless);
    }
    match PROGRAMS.iter().find(|(known, _)| *known == name) {
        Some((_, judge)) => judge(&call),
        None => J::strange(format!("walwise does not know the program {name}")),
    }
}

fn turned_on(word: &Word) -> CommandEffect {
    J::loses(word.range(), "block.write_cache: it turns on a disk's own cache, which can lose data")
}

/// The options of a program, judged by `each`; other arguments are paths or devices.
fn flagged(args: &[Word], known: OptionSyntax, each: impl FnOnce(&Flags) -> CommandEffect) -> CommandEffect {
    match flags::read(args, known) {
        Ok(flags) => each(&flags),
        Err(why) => J::strange(why),
    }
}

/// Judges each option with its value.
fn each(flags: &Flags, judged: impl Fn(&str, &Word) -> CommandEffect) -> CommandEffect {
    let none = Word::default();
    all(flags.options.iter().map(|(name, value)| judged(name, value.as_ref().unwrap_or(&none))))
}

fn mount(args: &[Word]) -> CommandEffect {
    let known = OptionSyntax { short: "o:t:vnrw", long: &["options=", "types=", "verbose", "read-only"] };
    flagged(args, known, |flags| match flags.rest.len() {
        1 | 2 => each(flags, |name, value| match name {
            "o" | "options" => values::options(value),
            "t" | "types" => values::named("filesystem", value),
            _ => J::Harmless,
        }),
        _ => J::strange("walwise does not understand what it mounts"),
    })
}

fn sysctl(args: &[Word]) -> CommandEffect {
    flagged(args, OptionSyntax { short: "wnq", long: &["write", "values"] }, |flags| {
        all(flags.rest.iter().map(|word| match word.split_once('=') {
            Some((name, _)) => values::sysctl(&name.shape().replace('/', ".")),
            None => J::Harmless,
        }))
    })
}

fn tune2fs(args: &[Word]) -> CommandEffect {
    flagged(args, OptionSyntax { short: "lO:o:E:c:i:m:r:L:e:", long: &[] }, |flags| {
        each(flags, |name, value| match name {
            "O" => all(value.split(',').iter().map(feature)),
            "o" => all(value.split(',').iter().map(mounted_by_default)),
            "E" => match value.behind("mount_opts=") {
                Some(options) => values::options(&options),
                None => J::strange("walwise does not know this extended option"),
            },
            "e" => match value.text().as_deref() {
                Some("remount-ro" | "panic") => J::Harmless,
                _ => J::strange("it lets the file system go on after errors"),
            },
            _ => J::Harmless,
        })
    })
}

/// Features that are understood, besides those that lose data.
const FEATURES: [&str; 4] = ["fast_commit", "^fast_commit", "orphan_file", "^orphan_file"];

fn feature(word: &Word) -> CommandEffect {
    let judged = values::named("mkfs.features", word);
    match word.text() {
        Some(name) if FEATURES.contains(&name.as_str()) => judged,
        _ => judged.and(J::strange("walwise does not know what this feature does")),
    }
}

/// A default mount option in the superblock, which for some options has another name: tune2fs(8).
fn mounted_by_default(word: &Word) -> CommandEffect {
    match word.text().as_deref() {
        Some("journal_data_writeback") => {
            J::loses(word.range(), "mount.options: data=writeback can lose data")
        }
        Some("nobarrier") => values::options(word),
        Some(
            "journal_data"
            | "journal_data_ordered"
            | "acl"
            | "user_xattr"
            | "discard"
            | "^discard"
            | "^nobarrier",
        ) => J::Harmless,
        _ => J::strange("walwise does not know this default mount option"),
    }
}

fn btrfs(words: &[&str]) -> CommandEffect {
    match words {
        ["property", "get", ..]
        | ["filesystem", "show" | "usage" | "df", ..]
        | ["subvolume", "show" | "list", ..]
        | ["device", "stats" | "usage", _]
        | ["scrub", "status", _]
            if words.iter().skip(2).all(|word| path(word)) =>
        {
            J::Harmless
        }
        ["property", "set", file, "compression", _] if path(file) => J::Harmless,
        _ => J::strange("walwise does not understand what btrfs is told"),
    }
}

/// Properties of a dataset that do not affect flushes.
const ZFS: [&str; 6] = ["atime", "compression", "logbias", "primarycache", "relatime", "xattr"];

fn zfs(args: &[Word], words: &[&str]) -> CommandEffect {
    match words {
        ["get" | "list", ..] => J::Harmless,
        ["set", rest @ .., dataset] if !rest.is_empty() && !dataset.starts_with('-') => {
            all(args.get(1..args.len() - 1).unwrap_or_default().iter().map(|word| {
                match word.split_once('=') {
                    Some((name, _)) if ZFS.contains(&name.shape().as_str()) => J::Harmless,
                    Some((name, value)) => values::named(&format!("zfs.{}", name.shape()), &value),
                    None => J::strange("walwise does not understand what zfs is told"),
                }
            }))
        }
        _ => J::strange("walwise does not understand what zfs is told"),
    }
}

fn systemctl(words: &[&str]) -> CommandEffect {
    let known = ["--now", "--no-pager", "-q"];
    // A path names a unit of unknown content, and a target can stop the machine.
    let unit = |word: &&str| path(word) && !word.contains('/') && !word.ends_with(".target");
    let mut plain = words.iter().filter(|word| !known.contains(word));
    match plain.next() {
        Some(
            &("is-enabled" | "is-active" | "status" | "show" | "cat" | "daemon-reload" | "enable"
            | "disable" | "start" | "stop" | "restart" | "reload" | "list-timers"),
        ) if plain.all(unit) => J::Harmless,
        _ => J::strange("walwise does not understand what systemctl is told"),
    }
}

const PSQL: OptionSyntax = OptionSyntax {
    short: "h:p:U:d:c:XAtqw",
    long: &["host=", "port=", "username=", "dbname=", "command=", "no-psqlrc", "quiet", "tuples-only"],
};
const MYSQL: OptionSyntax = OptionSyntax {
    short: "e:u:h:S:P:NBs",
    long: &["execute=", "user=", "host=", "socket=", "port=", "batch", "skip-column-names"],
};

fn client(args: &[Word], area: Area, known: OptionSyntax) -> CommandEffect {
    flagged(args, known, |flags| {
        let told =
            flags.options.iter().any(|(name, _)| ["c", "command", "e", "execute"].contains(&name.as_str()));
        let judged = each(flags, |name, value| match name {
            "c" | "command" | "e" | "execute" => sql::judge(area, value),
            "d" | "dbname" if value.shape().contains(['=', '/']) => {
                J::strange("its connection is not understood")
            }
            _ => J::Harmless,
        });
        if told && flags.rest.iter().all(|word| !word.shape().contains(['=', '/'])) {
            return judged;
        }
        judged.and(J::strange("it takes its statements from somewhere else"))
    })
}

fn pg_checksums(args: &[Word]) -> CommandEffect {
    let known =
        OptionSyntax { short: "D:cedP", long: &["enable", "disable", "check", "progress", "pgdata="] };
    flagged(args, known, |_| J::Harmless)
}

fn nvme(args: &[Word], word: &Word) -> CommandEffect {
    let [verb, rest @ ..] = args else { return J::strange("nvme is told nothing") };
    match verb.shape().as_str() {
        "list" | "id-ctrl" | "id-ns" | "smart-log" | "get-feature" => flagged(
            rest,
            OptionSyntax { short: "f:n:Ho:s:", long: &["feature-id=", "human-readable", "namespace-id="] },
            |_| J::Harmless,
        ),
        "set-feature" => flagged(
            rest,
            OptionSyntax { short: "f:n:v:", long: &["feature-id=", "namespace-id=", "value="] },
            |flags| {
                let of = |names: [&str; 2]| {
                    let mut found = flags.options.iter().filter(|(name, _)| names.contains(&name.as_str()));
                    found.next_back().and_then(|(_, value)| value.as_ref()?.text())
                };
                match (of(["f", "feature-id"]).as_deref(), of(["v", "value"]).as_deref()) {
                    (Some("6" | "0x6" | "0x06"), Some("0" | "0x0")) => J::Harmless,
                    (Some("6" | "0x6" | "0x06"), Some(_)) => turned_on(word),
                    _ => J::strange("walwise does not know this feature of NVMe"),
                }
            },
        ),
        "format" | "sanitize" | "write-zeroes" | "dsm" | "write" => {
            J::loses(verb.range(), "it destroys what is on the disk")
        }
        _ => J::strange("walwise does not understand what nvme is told"),
    }
}
