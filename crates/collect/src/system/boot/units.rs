//! Mount units as systemd merges them: where units lie, which one of a name wins, and how drop-ins
//! change it and a line of fstab (systemd.unit(5), *Unit File Load Path* and *drop-in*;
//! systemd.mount(5), *fstab*).
//!
//! Units below /run do not survive a boot and are left out. A line of fstab is a unit too: a
//! drop-in replaces its options, a unit in /etc replaces it as a whole, and a link to /dev/null
//! masks it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::entry::{BootEntry, Unread, note, shown};
use crate::facts::note::BootNote;
use crate::facts::{FactSet, Reading, Source, Why};
use crate::host::{ConfigDirective, Dialect, Host, Miss, MissKind, path_bytes, path_of};
use crate::refusal::refused;
use crate::text::safe;

/// Directories of persistent units, in order of precedence. fstab ranks after the first.
const DIRECTORIES: [&str; 4] = [
    "/etc/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// Directories in which something pulls a unit in.
const PULLING: [&[u8]; 3] = [b".wants", b".requires", b".upholds"];

/// The units on this machine.
pub struct Units {
    listed: Vec<(PathBuf, Vec<OsString>)>,
    /// Names of units that something pulls in; the error says why that is not known. Most machines
    /// have no unit of which that is asked, and two dozen directories that say it.
    pulled: OnceLock<Result<BTreeSet<Vec<u8>>, Miss>>,
}

/// A setting of a unit, with the file that it stands in.
struct UnitDirective {
    file: PathBuf,
    setting: ConfigDirective,
}

enum Main {
    Masked(PathBuf),
    File(PathBuf),
}

impl Units {
    /// Lists the directories and reports those that could not be listed.
    pub fn list(host: &dyn Host, facts: &mut FactSet) -> (Self, Unread) {
        let mut listed: Vec<(PathBuf, Vec<OsString>)> = Vec::new();
        let mut unread = None;
        let mut seen = BTreeSet::new();
        for directory in DIRECTORIES.map(PathBuf::from) {
            // Where /lib is a link to /usr/lib, the same names would be listed twice.
            let identity = host
                .stat(&directory)
                .map(|stat| (stat.major, stat.minor, stat.inode));
            if identity.is_ok_and(|identity| !seen.insert(identity)) {
                continue;
            }
            match host.list(&directory) {
                Ok(names) => listed.push((directory, names)),
                Err(miss) => unread = note(facts, &miss, &shown(&directory)).or(unread),
            }
        }
        (
            Self {
                listed,
                pulled: OnceLock::new(),
            },
            unread,
        )
    }

    /// Records the mount of every mount unit. A distribution's units count where they mount a
    /// device and fstab has no line for it; `lines` are the units generated from fstab.
    pub fn put(&self, host: &dyn Host, lines: &BTreeSet<OsString>, facts: &mut FactSet) -> Unread {
        let mut unread = None;
        let names: BTreeSet<&OsString> = self
            .listed
            .iter()
            .flat_map(|(_, names)| names)
            .filter(|name| is_mount(name))
            .collect();
        for name in names {
            let Some(Main::File(main)) = self.main(host, name) else {
                continue;
            };
            if lines.contains(name) && !is_admins(&main) {
                continue;
            }
            let settings = match self.lines(host, name, Some(&main)) {
                Ok(settings) => settings,
                Err((path, miss)) => {
                    unread = note(facts, &miss, &shown(&path)).or(unread);
                    continue;
                }
            };
            let by_admin = settings.iter().any(|line| is_admins(&line.file));
            if !by_admin
                && !last(&settings, b"what").is_some_and(|line| names_a_device(&line.setting.value))
            {
                continue;
            }
            match self.entry(host, name, &main, &settings) {
                Ok(entry) => entry.put(facts),
                Err(flaw) => facts.warn(flaw),
            }
        }
        unread
    }

    /// A line of fstab as units change it.
    pub fn overlay(&self, host: &dyn Host, entry: BootEntry, facts: &mut FactSet) -> BootEntry {
        let name = name_of(&entry.point);
        let main = self.main(host, &name);
        match main {
            Some(Main::Masked(mask)) => {
                return BootEntry {
                    auto: Reading::known(false, Source::file(shown(&mask))),
                    ..entry
                };
            }
            Some(Main::File(file)) if is_admins(&file) => {
                return BootEntry {
                    auto: Reading::known(false, Source::file(shown(&file))),
                    ..entry
                };
            }
            Some(Main::File(_)) | None => {}
        }
        match self.lines(host, &name, None) {
            Ok(lines) => overlaid(entry, &lines),
            Err((path, miss)) => {
                let _ = note(facts, &miss, &shown(&path));
                BootEntry {
                    auto: refused(&miss, &shown(&path)),
                    ..entry
                }
            }
        }
    }

    /// Names of the swap units that an admin has written.
    pub fn swaps(&self) -> impl Iterator<Item = String> {
        let own = self
            .listed
            .iter()
            .filter(|(directory, _)| is_admins(directory));
        let names = own.flat_map(|(_, names)| names);
        names
            .filter(|name| name.as_bytes().ends_with(b".swap"))
            .map(|name| shown(Path::new(name)))
    }

    /// The main file of a unit: that of the first directory which has it.
    fn main(&self, host: &dyn Host, name: &OsString) -> Option<Main> {
        let (directory, _) = self.listed.iter().find(|(_, names)| names.contains(name))?;
        let path = directory.join(name);
        let masked = host
            .link(&path)
            .is_ok_and(|target| target == Path::new("/dev/null"));
        Some(if masked {
            Main::Masked(path)
        } else {
            Main::File(path)
        })
    }

    /// The settings of a unit in the order in which they count: its main file, then its drop-ins.
    fn lines(
        &self,
        host: &dyn Host,
        name: &OsString,
        main: Option<&PathBuf>,
    ) -> Result<Vec<UnitDirective>, (PathBuf, Miss)> {
        let mut files: Vec<PathBuf> = main.cloned().into_iter().collect();
        files.extend(self.drop_ins(host, name)?);
        let mut lines = Vec::new();
        for file in files {
            let settings = host
                .config(&file, Dialect::MountUnit)
                .map_err(|miss| (file.clone(), miss))?;
            lines.extend(settings.into_iter().map(|setting| UnitDirective {
                file: file.clone(),
                setting,
            }));
        }
        Ok(lines)
    }

    /// Drop-ins in the order of their names; of several with one name that of the first directory
    /// counts.
    fn drop_ins(&self, host: &dyn Host, name: &OsString) -> Result<Vec<PathBuf>, (PathBuf, Miss)> {
        let mut found: BTreeMap<OsString, PathBuf> = BTreeMap::new();
        let own = drop_in_directories(path_bytes(Path::new(name)));
        let of_all = std::iter::once(b"mount.d".to_vec());
        let specific = self
            .listed
            .iter()
            .flat_map(|listed| own.iter().map(move |named| (listed, named.clone())));
        let general = of_all.flat_map(|named| {
            self.listed
                .iter()
                .map(move |listed| (listed, named.clone()))
        });
        for ((directory, names), named) in specific.chain(general) {
            let named = OsString::from(path_of(named));
            if !names.contains(&named) {
                continue;
            }
            let place = directory.join(named);
            for part in host.list(&place).map_err(|miss| (place.clone(), miss))? {
                if Path::new(&part)
                    .extension()
                    .is_some_and(|extension| extension == "conf")
                {
                    found
                        .entry(part.clone())
                        .or_insert_with(|| place.join(part));
                }
            }
        }
        // One that leads to /dev/null hides those of its name and says nothing.
        let masked = |path: &PathBuf| {
            host.link(path)
                .is_ok_and(|target| target == Path::new("/dev/null"))
        };
        Ok(found.into_values().filter(|path| !masked(path)).collect())
    }

    fn entry(
        &self,
        host: &dyn Host,
        name: &OsString,
        main: &Path,
        lines: &[UnitDirective],
    ) -> Result<BootEntry, BootNote> {
        let word = |key: &[u8], what: &str| match last(lines, key) {
            Some(line) => Reading::known(safe(&line.setting.value), line.source()),
            None => Reading::unknown(Why::Absent, format!("{what} in {}", shown(main))),
        };
        let point = last(lines, b"where").map(|line| line.setting.value.clone());
        let point = point
            .filter(|point| point.starts_with(b"/"))
            .ok_or_else(|| BootNote::NoMountPoint { unit: shown(main) })?;
        if name_of(&point) != *name {
            return Err(BootNote::OtherName { unit: shown(main) });
        }
        let stem = |name: &[u8]| name.rsplit(|b| *b == b'.').nth(1).map(<[u8]>::to_vec);
        let auto = match self.pulled.get_or_init(|| pulled_in(host, &self.listed)) {
            Ok(pulled) => {
                let ours = path_bytes(Path::new(name));
                let wanted = pulled.iter().any(|pulled| stem(pulled) == stem(ours));
                Reading::known(wanted, Source::file(DIRECTORIES[0]))
            }
            Err(miss) => refused(miss, DIRECTORIES[0]),
        };
        let place = last(lines, b"options").or_else(|| last(lines, b"where"));
        Ok(BootEntry {
            source: word(b"what", "What="),
            fstype: match word(b"type", "Type=") {
                Reading::Unknown {
                    why: Why::Absent, ..
                } => Reading::known(
                    "auto".to_owned(),
                    Source::Default {
                        of: "systemd.mount(5)".to_owned(),
                    },
                ),
                reading => reading,
            },
            options: last(lines, b"options")
                .map(|line| line.setting.value.clone())
                .unwrap_or_default(),
            numbers: None,
            whole: whole(lines),
            line: place.map(|line| line.setting.line),
            path: place.map_or_else(|| shown(main), |line| shown(&line.file)),
            auto,
            point,
        })
    }
}

impl UnitDirective {
    fn source(&self) -> Source {
        Source::line(shown(&self.file), self.setting.line)
    }
}

/// A line of fstab with the settings of drop-ins in place of its own.
fn overlaid(entry: BootEntry, lines: &[UnitDirective]) -> BootEntry {
    let word = |key: &[u8], own: Reading<String>| match last(lines, key) {
        Some(line) => Reading::known(safe(&line.setting.value), line.source()),
        None => own,
    };
    let options = last(lines, b"options");
    BootEntry {
        source: word(b"what", entry.source),
        fstype: word(b"type", entry.fstype),
        whole: entry
            .whole
            .zip(options.map_or(Some(true), |_| whole(lines)))
            .map(|(own, more)| own && more),
        line: options.map_or(entry.line, |line| Some(line.setting.line)),
        path: options.map_or(entry.path, |line| shown(&line.file)),
        options: options.map_or(entry.options, |line| line.setting.value.clone()),
        ..entry
    }
}

/// The last setting of a key.
fn last<'l>(lines: &'l [UnitDirective], key: &[u8]) -> Option<&'l UnitDirective> {
    lines.iter().rev().find(|line| line.setting.key == key)
}

/// Whether the options are complete; `None` where no file sets them.
fn whole(lines: &[UnitDirective]) -> Option<bool> {
    let mut kept = lines
        .iter()
        .filter(|line| line.setting.key == b"kept")
        .peekable();
    kept.peek()?;
    Some(kept.all(|line| line.setting.value == b"whole"))
}

/// Directories of a unit's drop-ins: its own, then those of the units above it, `srv-.mount.d` for
/// `srv-pg.mount`.
fn drop_in_directories(name: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![[name, b".d"].concat()];
    let mut stem = name.strip_suffix(b".mount").unwrap_or(name);
    while let Some(dash) = stem
        .strip_suffix(b"-")
        .unwrap_or(stem)
        .iter()
        .rposition(|b| *b == b'-')
    {
        stem = stem.get(..=dash).unwrap_or_default();
        all.push([stem, b".mount.d"].concat());
    }
    all
}

/// The name of the unit of a mount point (systemd-escape(1), `--path --suffix=mount`).
pub fn name_of(point: &[u8]) -> OsString {
    let parts: Vec<&[u8]> = point
        .split(|b| *b == b'/')
        .filter(|part| !part.is_empty())
        .collect();
    let mut name = Vec::new();
    if parts.is_empty() {
        name.push(b'-');
    }
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            name.push(b'-');
        }
        for (at, byte) in part.iter().enumerate() {
            let first = n == 0 && at == 0;
            let plain = byte.is_ascii_alphanumeric()
                || matches!(byte, b':' | b'_')
                || *byte == b'.' && !first;
            if plain {
                name.push(*byte);
            } else {
                name.extend(format!("\\x{byte:02x}").bytes());
            }
        }
    }
    name.extend(b".mount");
    OsString::from(path_of(name))
}

/// Units that something wants, requires or upholds: `systemctl enable` links them into directories
/// of that name.
fn pulled_in(
    host: &dyn Host,
    listed: &[(PathBuf, Vec<OsString>)],
) -> Result<BTreeSet<Vec<u8>>, Miss> {
    let mut pulled = BTreeSet::new();
    for (directory, names) in listed {
        let pulls = |name: &&OsString| {
            PULLING
                .iter()
                .any(|pulling| name.as_bytes().ends_with(pulling))
        };
        for name in names.iter().filter(pulls) {
            match host.list(&directory.join(name)) {
                Ok(names) => {
                    let bytes = names
                        .iter()
                        .map(|name| path_bytes(Path::new(name)).to_vec());
                    pulled.extend(
                        bytes.filter(|name| {
                            name.ends_with(b".mount") || name.ends_with(b".automount")
                        }),
                    );
                }
                Err(miss) if miss.kind == MissKind::Absent => {}
                Err(miss) => return Err(miss),
            }
        }
    }
    Ok(pulled)
}

/// Whether a file or directory belongs to the admin: it lies below the first of [`DIRECTORIES`].
fn is_admins(file: &Path) -> bool {
    file.starts_with(DIRECTORIES[0])
}

fn is_mount(name: &OsString) -> bool {
    name.as_bytes().ends_with(b".mount")
}

/// Whether the source of a mount is a device, by path or by tag; a distribution's own units mount
/// the kernel's pseudo file systems.
fn names_a_device(what: &[u8]) -> bool {
    what.starts_with(b"/") || what.contains(&b'=')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_those_of_systemd_escape() {
        for (point, name) in [
            ("/", "-.mount"),
            ("/srv/pg", "srv-pg.mount"),
            ("//srv//pg/", "srv-pg.mount"),
            ("/srv/my-data", "srv-my\\x2ddata.mount"),
            ("/srv/.a b/é", "srv-.a\\x20b-\\xc3\\xa9.mount"),
            ("/.x", "\\x2ex.mount"),
        ] {
            assert_eq!(name_of(point.as_bytes()), *name, "{point}");
        }
        assert_eq!(
            drop_in_directories(b"a-b-c.mount"),
            [&b"a-b-c.mount.d"[..], b"a-b-.mount.d", b"a-.mount.d"].map(<[u8]>::to_vec)
        );
    }

    proptest! {
        #[test]
        fn any_name_ends(name: Vec<u8>) {
            prop_assert!(drop_in_directories(&name).len() <= name.len() + 1);
            name_of(&name);
        }
    }
}
