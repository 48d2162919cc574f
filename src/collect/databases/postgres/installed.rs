//! Installed clusters, running or not: in the directories of distributions, and in the directory that was asked for.
//!
//! Debian keeps the configuration in /etc/postgresql/VERSION/NAME and the data elsewhere; others keep both together. A
//! directory that may not be entered is believed when it lies exactly where a distribution puts clusters.

use std::path::{Path, PathBuf};

use crate::collect::collector::Request;
use crate::collect::databases::behalf::Behalf;
use crate::collect::refusal::refused;
use crate::facts::note::PostgresNote;
use crate::facts::{FactSet, Reading};
use crate::host::{Host, MissKind, path_bytes};
use crate::text::safe;

/// Debian's directory of configurations.
pub const DEBIAN: &str = "/etc/postgresql";

/// Directories of configuration as Debian keeps them.
pub fn debian(host: &dyn Host, facts: &mut FactSet) -> Vec<PathBuf> {
    let versions = children(host, Path::new(DEBIAN), facts);
    let clusters = versions.iter().flat_map(|version| children(host, version, facts));
    let has_conf = |path: &PathBuf| {
        !host.stat(&path.join("postgresql.conf")).is_err_and(|miss| miss.kind == MissKind::Absent)
    };
    clusters.collect::<Vec<_>>().into_iter().filter(has_conf).collect()
}

/// Version and name of a cluster whose configuration lies where Debian keeps it.
pub fn debian_name(config_file: &Path) -> Option<(String, String)> {
    let mut parts = config_file.strip_prefix(DEBIAN).ok()?.iter();
    let mut part = || parts.next().map(|part| safe(path_bytes(Path::new(part))));
    let (version, name) = (part()?, part()?);
    part().is_some().then_some((version, name))
}

/// Data directories where distributions and the official container image put them.
pub fn data_directories(host: &dyn Host, facts: &mut FactSet) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["/var/lib/pgsql/data", "/var/lib/postgres/data", "/var/lib/postgresql/data"]
            .map(PathBuf::from)
            .to_vec();
    found.extend(
        children(host, Path::new("/var/lib/pgsql"), facts).into_iter().map(|version| version.join("data")),
    );
    for version in children(host, Path::new("/var/lib/postgresql"), facts) {
        if version
            .file_name()
            .is_some_and(|name| path_bytes(Path::new(name)).first().is_some_and(u8::is_ascii_digit))
        {
            found.extend(children(host, &version, facts));
        }
    }
    found.retain(|path| is_cluster(host, path));
    found
}

/// Whether a directory where a cluster is expected holds one; assumed where it may not be entered.
pub fn is_cluster(host: &dyn Host, path: &Path) -> bool {
    match host.stat(&path.join("PG_VERSION")) {
        Ok(_) => true,
        Err(miss) => miss.kind == MissKind::Denied && host.stat(path).is_ok_and(|stat| stat.is_dir()),
    }
}

/// The cluster whose data directory is the requested path or one of its parents.
pub fn asked_for(host: &dyn Host, request: &Request) -> Option<PathBuf> {
    let real = host.real_path(request.target.as_deref()?).ok()?;
    let has = |path: &Path, name: &str| host.stat(&path.join(name)).is_ok();
    // Each database's own directory has a PG_VERSION too; only a cluster has `global` beside it.
    real.ancestors().find(|path| has(path, "PG_VERSION") && has(path, "global")).map(Path::to_owned)
}

/// The contents of a directory as its owner sees it: one of its parents may be a link that a user placed there.
fn children(host: &dyn Host, directory: &Path, facts: &mut FactSet) -> Vec<PathBuf> {
    if host.stat(directory).is_err_and(|miss| miss.kind == MissKind::Absent) {
        return Vec::new();
    }
    match Behalf::of_owner(host, directory).list(directory) {
        Ok(names) => names.iter().map(|name| directory.join(name)).collect(),
        Err(miss) => {
            let unseen = [MissKind::Denied, MissKind::TimedOut].contains(&miss.kind);
            if let Reading::Unknown { why, detail, .. } = refused::<()>(&miss, &safe(path_bytes(directory)))
                && unseen
            {
                facts.warn(PostgresNote::HiddenClusters { detail, why });
            }
            Vec::new()
        }
    }
}
