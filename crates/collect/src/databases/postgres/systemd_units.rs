//! Data directories set in systemd units and their drop-ins: `Environment=PGDATA=` and `-D` of
//! `ExecStart=` (systemd.unit(5), systemd.exec(5)). The packages of Red Hat and of the PostgreSQL
//! project set them there.
//!
//! Each instance of a template has its own directory, and only enabled instances are found.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::facts::Source;
use crate::host::{ConfigDialect, Host, path_bytes, path_from_bytes};
use crate::text::display_path;

/// Highest precedence first.
const DIRECTORIES: [&str; 4] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

const ENABLED_UNITS_DIRECTORY: &str = "/etc/systemd/system/multi-user.target.wants";

pub fn service_data_directories(host: &dyn Host) -> Vec<(PathBuf, Source)> {
    let mut listed: BTreeMap<&str, BTreeSet<Vec<u8>>> = BTreeMap::new();
    let identity = |directory: &str| {
        host.stat(Path::new(directory))
            .ok()
            .map(|stat| stat.file_id())
    };
    let mut seen = BTreeSet::new();
    for directory in DIRECTORIES.into_iter().chain([ENABLED_UNITS_DIRECTORY]) {
        // /lib is often a link to /usr/lib, whose hundreds of names would then be listed twice.
        if identity(directory).is_some_and(|identity| !seen.insert(identity)) {
            continue;
        }
        let names = host
            .list_directory(Path::new(directory))
            .unwrap_or_default();
        let names = names
            .iter()
            .map(|name| path_bytes(Path::new(name)).to_vec());
        let ours = names.filter(|name| name.starts_with(b"postgresql"));
        listed.insert(directory, ours.collect());
    }
    let units: BTreeSet<&Vec<u8>> = listed
        .values()
        .flatten()
        .filter(|name| name.ends_with(b".service"))
        .collect();
    units
        .into_iter()
        .filter_map(|unit| unit_data_directory(host, unit, &listed))
        .collect()
}

fn unit_data_directory(
    host: &dyn Host,
    unit: &[u8],
    listed: &BTreeMap<&str, BTreeSet<Vec<u8>>>,
) -> Option<(PathBuf, Source)> {
    let stem = unit.strip_suffix(b".service")?;
    let (template, instance) = match stem.iter().position(|b| *b == b'@') {
        Some(at) => (
            Some([stem.get(..=at)?, b".service"].concat()),
            stem.get(at + 1..)?,
        ),
        None => (None, &b""[..]),
    };
    // A template without an instance starts no server.
    if template.is_some() && instance.is_empty() {
        return None;
    }
    let names: Vec<Vec<u8>> = [Some(unit.to_vec()), template]
        .into_iter()
        .flatten()
        .collect();
    let has =
        |directory: &str, name: &[u8]| listed.get(directory).is_some_and(|all| all.contains(name));
    let at = |directory: &str, name: &[u8]| Path::new(directory).join(path_from_bytes(name));
    let mut files: Vec<PathBuf> = Vec::new();
    for name in &names {
        files.extend(
            DIRECTORIES
                .iter()
                .find(|d| has(d, name))
                .map(|directory| at(directory, name)),
        );
        if !files.is_empty() {
            break;
        }
    }
    for name in &names {
        let dropped = [name.as_slice(), b".d"].concat();
        for directory in DIRECTORIES.iter().rev().filter(|d| has(d, &dropped)) {
            let directory = at(directory, &dropped);
            let parts = host.list_directory(&directory).unwrap_or_default();
            let parts = parts
                .iter()
                .filter(|part| path_bytes(Path::new(part)).ends_with(b".conf"));
            files.extend(parts.map(|part| directory.join(part)));
        }
    }
    let mut found: BTreeMap<Vec<u8>, (PathBuf, Source)> = BTreeMap::new();
    for file in files {
        for setting in host
            .config_directives(&file, ConfigDialect::Service)
            .unwrap_or_default()
        {
            let Some(path) = resolve_specifiers(&setting.value, stem, instance) else {
                continue;
            };
            let source = Source::from_file_line(display_path(&file), setting.line);
            if path.is_absolute() {
                found.insert(setting.key, (path, source));
            }
        }
    }
    // `-D` on the command line overrides PGDATA.
    found
        .remove(b"data".as_slice())
        .or_else(|| found.remove(b"pgdata".as_slice()))
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
