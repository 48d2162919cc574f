//! Mount units as systemd merges them: their directories, precedence, and drop-ins, also for lines
//! of fstab (systemd.unit(5), *Unit File Load Path* and *drop-in*; systemd.mount(5), *fstab*).
//!
//! Units below /run do not survive a boot and are left out. A line of fstab is a unit too. A
//! drop-in replaces its options, a unit in /etc replaces the line, and a link to /dev/null masks
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{BootMountEntry, ReadFailure, note_unread_file, split_options};
use crate::facts::{FactSet, Note, Reading, Source};
use crate::host::{ConfigDialect, ConfigDirective, Host, HostError};
use crate::host_readings::error_reading;
use crate::text::{display_path, display_safe};

/// Unit directories, highest precedence first. Units from fstab rank between the first and the
/// second.
const DIRECTORIES: [&str; 4] = [
    "/etc/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// Suffixes of dependency directories: the unit `X` starts the units that are linked in `X.wants`.
const PULLING_SUFFIXES: [&[u8]; 3] = [b".wants", b".requires", b".upholds"];

pub struct MountUnits {
    listed: Vec<(PathBuf, Vec<OsString>)>,
    /// Units that another unit pulls in, without their suffixes. Their names are read at the first use, because few hosts
    /// need them and they are in two dozen directories.
    wanted: OnceLock<Result<BTreeSet<Vec<u8>>, HostError>>,
}

struct UnitDirective {
    file: PathBuf,
    setting: ConfigDirective,
}

impl MountUnits {
    pub fn from_unit_directories(host: &dyn Host, facts: &mut FactSet) -> (Self, ReadFailure) {
        let mut listed: Vec<(PathBuf, Vec<OsString>)> = Vec::new();
        let mut unread = None;
        let mut seen = BTreeSet::new();
        for directory in DIRECTORIES.map(PathBuf::from) {
            // /lib is often a link to /usr/lib, whose names would then be listed twice.
            let identity = host
                .stat(&directory)
                .map(|stat| (stat.major, stat.minor, stat.inode));
            if identity.is_ok_and(|identity| !seen.insert(identity)) {
                continue;
            }
            match host.list_directory(&directory) {
                Ok(names) => listed.push((directory, names)),
                Err(miss) => {
                    unread = note_unread_file(facts, &miss, &display_path(&directory)).or(unread);
                }
            }
        }
        (
            Self {
                listed,
                wanted: OnceLock::new(),
            },
            unread,
        )
    }

    /// Records the mounts of all mount units that are not masked. A distribution's unit is left out
    /// if fstab has a line for it (`lines`). It is also left out if it mounts no device and the
    /// admin does not change it.
    pub fn insert_unit_facts(
        &self,
        host: &dyn Host,
        lines: &BTreeSet<OsString>,
        facts: &mut FactSet,
    ) -> ReadFailure {
        let mut unread = None;
        let names: BTreeSet<&OsString> = self
            .listed
            .iter()
            .flat_map(|(_, names)| names)
            .filter(|name| is_mount_unit(name))
            .collect();
        for name in names {
            let Some((main, false)) = self.find_main_file(host, name) else {
                continue;
            };
            if lines.contains(name) && !is_admin_file(&main) {
                continue;
            }
            let settings = match self.read_directives(host, name, Some(&main)) {
                Ok(settings) => settings,
                Err((path, miss)) => {
                    unread = note_unread_file(facts, &miss, &display_path(&path)).or(unread);
                    continue;
                }
            };
            let by_admin = settings.iter().any(|line| is_admin_file(&line.file));
            if !by_admin
                && !last_directive(&settings, b"what")
                    .is_some_and(|line| is_device_source(&line.setting.value))
            {
                continue;
            }
            match self.build_boot_mount_entry(host, name, &main, &settings) {
                Ok(entry) => entry.insert_boot_facts(facts),
                Err(flaw) => facts.add_note_once(flaw),
            }
        }
        unread
    }

    pub fn apply_units_to_fstab_entry(
        &self,
        host: &dyn Host,
        entry: BootMountEntry,
        facts: &mut FactSet,
    ) -> BootMountEntry {
        let name = mount_unit_name(&entry.point);
        if let Some((file, is_masked)) = self.find_main_file(host, &name)
            && (is_masked || is_admin_file(&file))
        {
            return BootMountEntry {
                auto: Reading::known(false, Source::from_file(display_path(&file))),
                ..entry
            };
        }
        match self.read_directives(host, &name, None) {
            Ok(lines) => apply_directives_to_entry(entry, &lines),
            Err((path, miss)) => {
                let _ = note_unread_file(facts, &miss, &display_path(&path));
                BootMountEntry {
                    auto: error_reading(&miss, &display_path(&path)),
                    ..entry
                }
            }
        }
    }

    pub fn admin_swap_unit_names(&self) -> impl Iterator<Item = String> {
        let own = self
            .listed
            .iter()
            .filter(|(directory, _)| is_admin_file(directory));
        let names = own.flat_map(|(_, names)| names);
        names
            .filter(|name| name.as_bytes().ends_with(b".swap"))
            .map(|name| display_safe(name.as_bytes()))
    }

    /// The unit's file of the highest precedence, and whether it is masked.
    fn find_main_file(&self, host: &dyn Host, name: &OsString) -> Option<(PathBuf, bool)> {
        let (directory, _) = self.listed.iter().find(|(_, names)| names.contains(name))?;
        let path = directory.join(name);
        let is_masked = is_masked(host, &path);
        Some((path, is_masked))
    }

    /// The settings in order: those of the main file, then those of drop-ins.
    fn read_directives(
        &self,
        host: &dyn Host,
        name: &OsString,
        main: Option<&PathBuf>,
    ) -> Result<Vec<UnitDirective>, (PathBuf, HostError)> {
        let mut files: Vec<PathBuf> = main.cloned().into_iter().collect();
        files.extend(self.find_drop_in_files(host, name)?);
        let mut lines = Vec::new();
        for file in files {
            let settings = host
                .config_directives(&file, ConfigDialect::MountUnit)
                .map_err(|miss| (file.clone(), miss))?;
            lines.extend(settings.into_iter().map(|setting| UnitDirective {
                file: file.clone(),
                setting,
            }));
        }
        Ok(lines)
    }

    fn find_drop_in_files(
        &self,
        host: &dyn Host,
        name: &OsString,
    ) -> Result<Vec<PathBuf>, (PathBuf, HostError)> {
        let mut found: BTreeMap<OsString, PathBuf> = BTreeMap::new();
        let own = drop_in_directory_names(name.as_bytes());
        for drop_ins in [own, vec![b"mount.d".to_vec()]] {
            for (directory, names) in &self.listed {
                for named in &drop_ins {
                    let named = OsString::from_vec(named.clone());
                    if !names.contains(&named) {
                        continue;
                    }
                    let place = directory.join(named);
                    let parts = host.list_directory(&place);
                    for part in parts.map_err(|miss| (place.clone(), miss))? {
                        if part.as_bytes().ends_with(b".conf") {
                            let file = place.join(&part);
                            found.entry(part).or_insert(file);
                        }
                    }
                }
            }
        }
        let files = found.into_values();
        Ok(files.filter(|path| !is_masked(host, path)).collect())
    }

    fn build_boot_mount_entry(
        &self,
        host: &dyn Host,
        name: &OsString,
        main: &Path,
        lines: &[UnitDirective],
    ) -> Result<BootMountEntry, Note> {
        let point = last_directive(lines, b"where").map(|line| line.setting.value.clone());
        let point = point
            .filter(|point| point.starts_with(b"/"))
            .ok_or_else(|| format!("{}: no mount point; unit ignored", display_path(main)))?;
        if mount_unit_name(&point) != *name {
            return Err(format!(
                "{}: its name does not match its mount point, so systemd refuses it; unit ignored",
                display_path(main)
            )
            .into());
        }
        let auto = match self
            .wanted
            .get_or_init(|| wanted_mount_units(host, &self.listed))
        {
            Ok(pulled) => {
                let wanted = stem(name).is_some_and(|stem| pulled.contains(&stem));
                Reading::known(wanted, Source::from_file(DIRECTORIES[0]))
            }
            Err(miss) => error_reading(miss, DIRECTORIES[0]),
        };
        let whole = Source::from_file(display_path(main));
        let defaults = BootMountEntry {
            source: Reading::absent(format!("no What= in {}", display_path(main))),
            fstype: Reading::known(
                "auto".to_owned(),
                Source::Default {
                    of: "systemd.mount(5)".to_owned(),
                },
            ),
            options: Vec::new(),
            dump_and_pass: None,
            is_complete: are_all_options_captured(lines),
            origin: last_directive(lines, b"where").map_or(whole, UnitDirective::source),
            auto,
            point,
        };
        Ok(apply_directives_to_entry(defaults, lines))
    }
}

impl UnitDirective {
    fn source(&self) -> Source {
        Source::from_file_line(display_path(&self.file), self.setting.line)
    }
}

fn apply_directives_to_entry(entry: BootMountEntry, lines: &[UnitDirective]) -> BootMountEntry {
    let word = |key: &[u8], own: Reading<String>| match last_directive(lines, key) {
        Some(line) => Reading::known(display_safe(&line.setting.value), line.source()),
        None => own,
    };
    let options = last_directive(lines, b"options");
    BootMountEntry {
        source: word(b"what", entry.source),
        fstype: word(b"type", entry.fstype),
        is_complete: entry
            .is_complete
            .zip(options.map_or(Some(true), |_| are_all_options_captured(lines)))
            .map(|(own, more)| own && more),
        origin: options.map_or(entry.origin, UnitDirective::source),
        options: options.map_or(entry.options, |line| split_options(&line.setting.value)),
        ..entry
    }
}

fn last_directive<'l>(lines: &'l [UnitDirective], key: &[u8]) -> Option<&'l UnitDirective> {
    lines.iter().rev().find(|line| line.setting.key == key)
}

/// Whether every option of the files was recorded; options that may hold passwords are not. `None`
/// if no file sets options.
fn are_all_options_captured(lines: &[UnitDirective]) -> Option<bool> {
    let mut kept = lines
        .iter()
        .filter(|line| line.setting.key == b"kept")
        .peekable();
    kept.peek()?;
    Some(kept.all(|line| line.setting.value == b"whole"))
}

/// The unit's own drop-in directory, then those of name prefixes: `srv-.mount.d` for
/// `srv-pg.mount`.
fn drop_in_directory_names(name: &[u8]) -> Vec<Vec<u8>> {
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

pub fn mount_unit_name(point: &[u8]) -> OsString {
    let parts = point.split(|b| *b == b'/').filter(|part| !part.is_empty());
    let path = parts.collect::<Vec<_>>().join(&b'/');
    let mut name = Vec::new();
    for (at, byte) in path.iter().enumerate() {
        match byte {
            b'/' => name.push(b'-'),
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b':' | b'_' => name.push(*byte),
            b'.' if at > 0 => name.push(*byte),
            _ => name.extend(format!("\\x{byte:02x}").bytes()),
        }
    }
    if name.is_empty() {
        name.push(b'-');
    }
    name.extend(b".mount");
    OsString::from_vec(name)
}

fn wanted_mount_units(
    host: &dyn Host,
    listed: &[(PathBuf, Vec<OsString>)],
) -> Result<BTreeSet<Vec<u8>>, HostError> {
    let mut pulled = BTreeSet::new();
    for (directory, names) in listed {
        let pulls = |name: &&OsString| {
            let name = name.as_bytes();
            PULLING_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
        };
        for name in names.iter().filter(pulls) {
            match host.list_directory(&directory.join(name)) {
                Ok(names) => pulled.extend(names.iter().filter_map(stem)),
                Err(miss) if miss.is_absent() => {}
                Err(miss) => return Err(miss),
            }
        }
    }
    Ok(pulled)
}

/// The name of a mount or automount unit without its suffix.
fn stem(name: &OsString) -> Option<Vec<u8>> {
    let name = name.as_bytes();
    let stem = name.strip_suffix(b".mount");
    stem.or_else(|| name.strip_suffix(b".automount"))
        .map(<[u8]>::to_vec)
}

/// Whether a link to /dev/null masks the unit or drop-in.
fn is_masked(host: &dyn Host, path: &Path) -> bool {
    host.link_target(path)
        .is_ok_and(|target| target == Path::new("/dev/null"))
}

fn is_admin_file(file: &Path) -> bool {
    file.starts_with(DIRECTORIES[0])
}

fn is_mount_unit(name: &OsString) -> bool {
    name.as_bytes().ends_with(b".mount")
}

/// Whether `What=` is a path or a tag such as `UUID=`. In distributions' own units it is neither,
/// because they mount the kernel's pseudo file systems.
fn is_device_source(what: &[u8]) -> bool {
    what.starts_with(b"/") || what.contains(&b'=')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stem_of_unit_keeps_dots() {
        let stem_of = |name: &str| stem(&OsString::from(name));
        assert_eq!(stem_of("srv-a.b.mount"), Some(b"srv-a.b".to_vec()));
        assert_eq!(stem_of("srv-a.b.automount"), Some(b"srv-a.b".to_vec()));
        assert_eq!(stem_of("srv-a.b.service"), None);
    }

    #[test]
    fn unit_names_are_escaped_like_systemd() {
        for (point, name) in [
            ("/", "-.mount"),
            ("/srv/pg", "srv-pg.mount"),
            ("//srv//pg/", "srv-pg.mount"),
            ("/srv/my-data", "srv-my\\x2ddata.mount"),
            ("/srv/.a b/é", "srv-.a\\x20b-\\xc3\\xa9.mount"),
            ("/.x", "\\x2ex.mount"),
        ] {
            assert_eq!(mount_unit_name(point.as_bytes()), *name, "{point}");
        }
        assert_eq!(
            drop_in_directory_names(b"a-b-c.mount"),
            [&b"a-b-c.mount.d"[..], b"a-b-.mount.d", b"a-.mount.d"].map(<[u8]>::to_vec)
        );
    }

    proptest! {
        #[test]
        fn arbitrary_names_terminate(name: Vec<u8>) {
            prop_assert!(drop_in_directory_names(&name).len() <= name.len() + 1);
            mount_unit_name(&name);
        }
    }
}
