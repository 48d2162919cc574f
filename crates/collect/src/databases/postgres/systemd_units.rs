//! Data directories set in systemd units and their drop-ins: `Environment=PGDATA=` and `-D` of
//! `ExecStart=` (systemd.unit(5), systemd.exec(5)). The packages of Red Hat and of the PostgreSQL
//! project set them there.
//!
//! Each instance of a template has its own directory, and only enabled instances are found.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::facts::Source;
use crate::host::{ConfigDialect, Host, path_from_bytes};
use crate::text::display_path;

/// Directories of unit files, highest precedence first (systemd.unit(5)).
const DIRECTORIES: [&str; 4] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

const ENABLED_UNITS_DIRECTORY: &str = "/etc/systemd/system/multi-user.target.wants";

pub fn service_data_directories(host: &dyn Host) -> Vec<(PathBuf, Source)> {
    let mut listed: BTreeSet<PathBuf> = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for directory in DIRECTORIES.into_iter().chain([ENABLED_UNITS_DIRECTORY]) {
        let directory = Path::new(directory);
        // /lib is often a link to /usr/lib, whose hundreds of names would then be listed twice.
        let identity = host.stat(directory).map(|stat| stat.file_id());
        if identity.is_ok_and(|identity| !seen.insert(identity)) {
            continue;
        }
        let names = host.list_directory(directory).unwrap_or_default();
        let ours = names
            .iter()
            .filter(|name| name.as_encoded_bytes().starts_with(b"postgresql"));
        listed.extend(ours.map(|name| directory.join(name)));
    }
    let units: BTreeSet<&[u8]> = listed
        .iter()
        .filter_map(|path| path.file_name().map(OsStr::as_encoded_bytes))
        .filter(|name| name.ends_with(b".service"))
        .collect();
    units
        .into_iter()
        .filter_map(|unit| unit_data_directory(host, unit, &listed))
        .collect()
}

/// `listed` holds the paths of all unit files and drop-in directories.
fn unit_data_directory(
    host: &dyn Host,
    unit: &[u8],
    listed: &BTreeSet<PathBuf>,
) -> Option<(PathBuf, Source)> {
    let stem = unit.strip_suffix(b".service")?;
    let sign = stem.iter().position(|b| *b == b'@');
    let (prefix, instance) = stem.split_at(sign.map_or(stem.len(), |at| at + 1));
    // A template without an instance starts no server.
    if sign.is_some() && instance.is_empty() {
        return None;
    }
    let mut names = vec![unit.to_vec(), [prefix, b".service"].concat()];
    names.dedup();
    let places = |name: &[u8]| {
        let name = path_from_bytes(name);
        DIRECTORIES
            .map(|directory| Path::new(directory).join(&name))
            .into_iter()
            .filter(|path| listed.contains(path))
    };
    let main = names.iter().find_map(|name| places(name).next());
    let mut files = Vec::from_iter(main);
    for name in &names {
        for directory in places(&[name.as_slice(), b".d"].concat()).rev() {
            let parts = host.list_directory(&directory).unwrap_or_default();
            let parts = parts
                .iter()
                .filter(|part| part.as_encoded_bytes().ends_with(b".conf"));
            files.extend(parts.map(|part| directory.join(part)));
        }
    }
    let mut found: BTreeMap<Vec<u8>, (PathBuf, Source)> = BTreeMap::new();
    for file in files {
        let settings = host.config_directives(&file, ConfigDialect::Service);
        for setting in settings.unwrap_or_default() {
            let path = resolve_specifiers(&setting.value, stem, instance);
            if let Some(path) = path.filter(|path| path.is_absolute()) {
                let source = Source::from_file_line(display_path(&file), setting.line);
                found.insert(setting.key, (path, source));
            }
        }
    }
    // `-D` on the command line overrides PGDATA.
    [b"data".as_slice(), b"pgdata"]
        .into_iter()
        .find_map(|key| found.remove(key))
}

/// Resolves the specifiers `%i`, `%I`, `%N` and `%%` (systemd.unit(5), *Specifiers*). `None` for
/// any other specifier, and for `%I` of an escaped instance name.
fn resolve_specifiers(value: &[u8], stem: &[u8], instance: &[u8]) -> Option<PathBuf> {
    let mut out = Vec::new();
    let mut bytes = value.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        match bytes.next()? {
            b'%' => out.push(b'%'),
            b'i' => out.extend_from_slice(instance),
            // In `%I` a dash stands for a slash. Other escapes are rare in cluster names and are
            // not decoded.
            b'I' if !instance.contains(&b'\\') => {
                out.extend(instance.iter().map(|b| if *b == b'-' { b'/' } else { *b }));
            }
            b'N' => out.extend_from_slice(stem),
            _ => return None,
        }
    }
    Some(path_from_bytes(out))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::host::{ConfigDirective, Question};
    use crate::testing::FakeHost;

    fn with_unit(fake: FakeHost, path: &str, settings: &[(&str, &str)]) -> FakeHost {
        let encode = |(line, (key, value)): (u32, &(&str, &str))| {
            ConfigDirective::new(line, *key, *value).encode()
        };
        let answer: Vec<u8> = (1..).zip(settings).flat_map(encode).collect();
        let (directory, name) = path.rsplit_once('/').unwrap();
        fake.with_answer(
            Question::Config(path.into(), ConfigDialect::Service),
            answer,
        )
        .with_symlink(format!("{directory}/{name}"), "unit")
    }

    fn displayed_directories(fake: &FakeHost) -> Vec<(String, String)> {
        let all = service_data_directories(fake);
        all.into_iter()
            .map(|(path, source)| (path.display().to_string(), source.to_string()))
            .collect()
    }

    #[test]
    fn data_directories_from_units_drop_ins_and_instances() {
        let fake = FakeHost::default();
        let lib = "/usr/lib/systemd/system";
        let fake = with_unit(
            fake,
            &format!("{lib}/postgresql-16.service"),
            &[("pgdata", "/var/lib/pgsql/16/data/")],
        );
        let fake = with_unit(
            fake,
            &format!("{lib}/postgresql.service"),
            &[("pgdata", "/var/lib/pgsql/data")],
        );
        let fake = with_unit(
            fake,
            "/etc/systemd/system/postgresql.service.d/own.conf",
            &[("pgdata", "/srv/pg")],
        );
        let fake = with_unit(
            fake,
            &format!("{lib}/postgresql@.service"),
            &[("user", "x"), ("data", "/srv/%i/%I")],
        );
        let fake = with_unit(
            fake,
            "/etc/systemd/system/multi-user.target.wants/postgresql@a-b.service",
            &[],
        );
        let fake = with_unit(
            fake,
            &format!("{lib}/postgresql-odd.service"),
            &[("data", "/srv/%H")],
        );
        let fake = with_unit(fake, &format!("{lib}/nginx.service"), &[("data", "/no")]);
        let row = |path: &str, source: &str| (path.to_owned(), source.to_owned());
        assert_eq!(
            displayed_directories(&fake),
            [
                row(
                    "/var/lib/pgsql/16/data/",
                    "/usr/lib/systemd/system/postgresql-16.service:1"
                ),
                row(
                    "/srv/pg",
                    "/etc/systemd/system/postgresql.service.d/own.conf:1"
                ),
                row(
                    "/srv/a-b/a/b",
                    "/usr/lib/systemd/system/postgresql@.service:2"
                ),
            ]
        );
    }

    proptest! {
        #[test]
        fn arbitrary_units_never_panic(names in prop::collection::vec("postgresql[@a-z%\\\\.-]{0,12}", 0..5), answer: Vec<u8>, instance: Vec<u8>) {
            let list: Vec<u8> = names.iter().flat_map(|name| [name.as_bytes(), b".service\0"].concat()).collect();
            let mut fake = FakeHost::default().with_answer(Question::List(DIRECTORIES[0].into()), list);
            for name in &names {
                let path = format!("{}/{name}.service", DIRECTORIES[0]);
                fake = fake.with_answer(Question::Config(path.into(), ConfigDialect::Service), &answer);
            }
            for (path, _) in service_data_directories(&fake) {
                prop_assert!(path.is_absolute());
            }
            resolve_specifiers(&answer, b"stem", &instance);
        }
    }
}
