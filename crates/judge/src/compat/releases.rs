use std::sync::LazyLock;

use jiff::civil::Date;
use serde::Deserialize;

use crate::facts::catalog::{cluster, host, kernel};
use crate::facts::{Choice, FactSet, Note, Scope, ServerKind, choice};
use crate::toml_table::parse_ignoring_verification_stamps;
use crate::version::Version;

pub(super) const TEXT: &str = include_str!("../../rules/tables/releases.toml");

choice! {
    #[derive(Deserialize)]
    pub enum Product {
        Linux = "Linux",
        #[serde(rename = "e2fsprogs")]
        E2fsprogs = "e2fsprogs",
        #[serde(rename = "xfsprogs")]
        Xfsprogs = "xfsprogs",
        #[serde(rename = "btrfs-progs")]
        Btrfsprogs = "btrfs-progs",
        #[serde(rename = "OpenZFS")]
        Zfs = "OpenZFS",
        #[serde(rename = "PostgreSQL")]
        Postgres = "PostgreSQL",
        #[serde(rename = "MySQL")]
        Mysql = "MySQL",
        #[serde(rename = "MariaDB")]
        Mariadb = "MariaDB",
    }
}

impl Product {
    fn versions_in_use(self, facts: &FactSet) -> Vec<Version> {
        let here = |key| facts.host_value(key).into_iter().collect();
        match self {
            Self::Linux => here(&kernel::VERSION),
            Self::E2fsprogs => here(&host::E2FSPROGS),
            Self::Xfsprogs => here(&host::XFSPROGS),
            Self::Btrfsprogs => here(&host::BTRFSPROGS),
            Self::Zfs => here(&kernel::ZFS_VERSION),
            Self::Postgres => server_versions(facts, ServerKind::Postgres),
            Self::Mysql => server_versions(facts, ServerKind::Mysql),
            Self::Mariadb => server_versions(facts, ServerKind::Mariadb),
        }
    }
}

fn server_versions(facts: &FactSet, kind: ServerKind) -> Vec<Version> {
    let key = kind.server_area().database_profile().version;
    let servers = facts
        .subjects_of_scope(Scope::Cluster)
        .filter(|of| facts.value(of, &cluster::KIND) == Some(kind));
    servers.filter_map(|of| facts.value(of, key)).collect()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductRelease {
    pub of: Product,
    /// The version exactly as in the table, so that trailing zeros and the number of components
    /// survive.
    pub version: String,
    /// Release day in UTC; `None` without a source.
    pub released: Option<Date>,
    #[expect(dead_code, reason = "for readers of the table")]
    source: String,
}

impl ProductRelease {
    fn version_components(&self) -> Vec<u64> {
        self.version
            .split('.')
            .filter_map(|number| number.parse().ok())
            .collect()
    }

    /// Whether `version` is later than this release and not part of it: `7.2.9` belongs to `7.2`.
    fn is_older_than(&self, version: &Version) -> bool {
        let own = self.version_components();
        (0..own.len())
            .map(|at| version.number(at))
            .collect::<Vec<_>>()
            > own
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseTable {
    release: Vec<ProductRelease>,
}

/// The list is empty if the compiled-in table does not parse; a test checks that it parses.
pub fn known_releases() -> &'static [ProductRelease] {
    static TABLE: LazyLock<ReleaseTable> =
        LazyLock::new(|| parse_ignoring_verification_stamps(TEXT).unwrap_or_default());
    &TABLE.release
}

pub fn notes_on_newer_releases(facts: &FactSet) -> Vec<Note> {
    let newest = |product: Product| {
        known_releases()
            .iter()
            .filter(|release| release.of == product)
            .max_by_key(|release| release.version_components())
    };
    let mut notes = Vec::new();
    for &product in Product::ALL {
        let Some(known) = newest(product) else {
            continue;
        };
        let mut here: Vec<String> = product
            .versions_in_use(facts)
            .iter()
            .filter(|version| known.is_older_than(version))
            .map(ToString::to_string)
            .collect();
        here.sort();
        here.dedup();
        let (product, known) = (product.as_str(), &known.version);
        notes.extend(here.into_iter().map(|here| {
            Note::from(format!(
                "{product} {here} is newer than walwise's tables ({known}), which do not cover its changes"
            ))
        }));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::Subject;

    #[test]
    fn the_table_loads_and_has_a_release_of_every_product() {
        let found = parse_ignoring_verification_stamps::<ReleaseTable>(TEXT)
            .unwrap()
            .release;
        for &product in Product::ALL {
            assert!(
                found.iter().any(|release| release.of == product),
                "{}",
                product.as_str()
            );
        }
        for one in found {
            assert!(
                one.version
                    .split('.')
                    .all(|number| number.parse::<u64>().is_ok()),
                "{one:?}"
            );
        }
    }

    #[test]
    fn newer_releases_get_a_note() {
        let with = |kernel: &str, tool: &str| {
            let mut facts = FactSet::default();
            let source = || Source::from_file("/proc/version");
            facts.insert_known(
                &Subject::host(),
                &kernel::VERSION,
                Version::parse(kernel).unwrap(),
                source(),
            );
            facts.insert_known(
                &Subject::host(),
                &host::E2FSPROGS,
                Version::parse(tool).unwrap(),
                source(),
            );
            notes_on_newer_releases(&facts)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        let newest = |product| {
            known_releases()
                .iter()
                .rfind(|one| one.of == product)
                .unwrap()
                .version
                .clone()
        };
        let (linux, tools) = (newest(Product::Linux), newest(Product::E2fsprogs));
        assert_eq!(
            with(&format!("{linux}.99-generic"), &tools),
            Vec::<String>::new()
        );
        assert_eq!(
            with("3.10.0-1160.el7.x86_64", "1.42.9"),
            Vec::<String>::new()
        );
        let said = with("99.1.0", "99.0");
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].contains("Linux 99.1.0") && said[0].contains(&format!("({linux})")),
            "{said:?}"
        );
        assert!(
            said[1].contains("e2fsprogs 99.0") && said[1].contains(&format!("({tools})")),
            "{said:?}"
        );
    }
}
