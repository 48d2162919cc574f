//! ZFS: the devices below a dataset or volume, the handling of its flushes, and the size of its records.
//!
//! The kernel shows none of this, so `zpool status -P` and `zfs get` run once for the host (zpool-status(8),
//! zfsprops(7)). Module parameters are files (zfs(4)). The separate log is part of the stack because a commit waits for
//! it; cache and spare devices are not. Without the tools the stack below a ZFS mount is unknown.

use std::collections::BTreeMap;
use std::path::Path;

use crate::collect::attribute;
use crate::collect::collector::{Collector, Request};
use crate::collect::lookup::{Points, device_at};
use crate::collect::refusal::{not_run, refused};
use crate::facts::catalog::mount::{self, Logbias, ZfsSync};
use crate::facts::catalog::{device, kernel};
use crate::facts::{Choice, FactSet, Reading, Remedy, Scope, Source, Subject, Why};
use crate::host::{Host, MissKind, Tool};
use crate::quote::shell;
use crate::text::{raw, safe};
use crate::version::Version;
use crate::workers;

/// Reads ZFS.
pub const COLLECTOR: Collector = Collector { id: "ZFS", run };

const GET: [&str; 7] =
    ["get", "-Hp", "-t", "filesystem,volume", "-o", "name,property,value", "sync,logbias,recordsize"];

/// A pool: its state and its devices by path; `None` for one whose path is not printed.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pool {
    state: String,
    devices: Vec<Option<String>>,
}

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let mounts = facts.which(&mount::CLASS, |class| class.is_zfs());
    let volumes = facts.which(&device::KIND, |kind| kind.is_zvol());
    if mounts.is_empty() && volumes.is_empty() {
        return;
    }
    facts.put(&Subject::host(), &kernel::ZFS_NO_FLUSH, no_flush(host));
    let version = attribute::text(host, Path::new("/sys/module/zfs/version"));
    let version =
        version.and_then(|text| Version::parse(&text).ok_or_else(|| format!("`{text}` is no version")));
    facts.put(&Subject::host(), &kernel::ZFS_VERSION, version);
    let (pools, properties) = ask(host, request);
    let pools = pools.map(|text| parse_pools(&text));
    let properties = properties.map(|text| parse_properties(&text));
    let mut found: BTreeMap<String, (Reading<Vec<String>>, Vec<Subject>)> = BTreeMap::new();
    for subject in mounts.iter().chain(&volumes) {
        let Some(dataset) = dataset(host, subject, facts) else { continue };
        let pool = dataset.split('/').next().unwrap_or_default().to_owned();
        if !found.contains_key(&pool) {
            let members = members(host, &pool, &pools, facts);
            found.insert(pool.clone(), members);
        }
        let Some((names, devices)) = found.get(&pool) else { continue };
        for device in devices {
            facts.stand(subject, device);
        }
        if subject.scope() == Scope::Mount {
            facts.put(subject, &mount::ZFS_DEVICES, names.clone());
            let state = of_pool(&pools, &pool).map(|pool| pool.state);
            facts.put(subject, &mount::ZFS_POOL_STATE, state);
            describe(subject, &dataset, &properties, facts);
        }
    }
}

/// The dataset of a mount, from mountinfo, or of a volume, from its udev name: `zvol/tank/pg`.
fn dataset(host: &dyn Host, subject: &Subject, facts: &FactSet) -> Option<String> {
    if subject.scope() == Scope::Mount {
        return facts.value(subject, &mount::SOURCE);
    }
    let number = facts.value(subject, &device::DEVNO)?;
    let text = host.read(&Path::new("/run/udev/data").join(format!("b{number}"))).ok()?;
    let name = text.split(|b| *b == b'\n').find_map(|line| line.strip_prefix(b"S:zvol/"))?;
    Some(safe(name))
}

fn describe(
    subject: &Subject,
    dataset: &str,
    properties: &Reading<BTreeMap<String, String>>,
    facts: &mut FactSet,
) {
    let value = |property: &str| {
        properties.clone().and_then(|all| {
            let value = all.get(&format!("{dataset}\t{property}")).cloned();
            value.ok_or_else(|| format!("it does not list {property} of {dataset}"))
        })
    };
    facts.put(subject, &mount::ZFS_SYNC, value("sync").and_then(|word| ZfsSync::read(&word)));
    facts.put(subject, &mount::ZFS_LOGBIAS, value("logbias").and_then(|word| Logbias::read(&word)));
    let record =
        value("recordsize").and_then(|text| text.parse().map_err(|_| format!("`{text}` is no number")));
    facts.put(subject, &mount::ZFS_RECORD, record);
}

fn of_pool(pools: &Reading<BTreeMap<String, Pool>>, name: &str) -> Reading<Pool> {
    pools.clone().and_then(|all| all.get(name).cloned().ok_or_else(|| format!("it does not list {name}")))
}

/// The devices of a pool; unknown where one is not named or not found, since the worst device decides.
fn members(
    host: &dyn Host,
    name: &str,
    pools: &Reading<BTreeMap<String, Pool>>,
    facts: &FactSet,
) -> (Reading<Vec<String>>, Vec<Subject>) {
    let points = Points::from_facts(facts);
    let pool = of_pool(pools, name);
    let mut devices = Vec::new();
    let mut lost = None;
    for path in pool.value().into_iter().flat_map(|pool| &pool.devices) {
        let file = path.as_ref().map(|path| raw(path));
        let found = file.and_then(|file| {
            // A pool may be kept in a file, for trying it out.
            device_at(host, &file, facts).or_else(|| points.over(&file).cloned())
        });
        match (found, path) {
            (Some(device), _) => devices.push(device),
            (None, Some(path)) => lost = Some(format!("{path} of pool {name} was not found")),
            (None, None) => lost = Some(format!("pool {name} lacks a device")),
        }
    }
    let names = match lost {
        Some(detail) => Reading::unknown(Why::Ambiguous, detail),
        None => pool.map(|_| devices.iter().map(|device| device.name().to_owned()).collect()),
    };
    (names, devices)
}

/// Whether ZFS was told to send no flushes to disks. Where the second parameter does not exist yet, the first one
/// governed both.
fn no_flush(host: &dyn Host) -> Reading<bool> {
    let at = |name: &str| Path::new("/sys/module/zfs/parameters").join(name);
    let [all, log] = ["zfs_nocacheflush", "zil_nocacheflush"].map(|name| attribute::flag(host, &at(name)));
    match (all, log) {
        (yes @ Reading::Known { value: true, .. }, _) | (_, yes @ Reading::Known { value: true, .. }) => yes,
        (no @ Reading::Known { .. }, Reading::Known { .. } | Reading::Unknown { why: Why::Absent, .. }) => no,
        (unknown @ Reading::Unknown { .. }, _) | (_, unknown) => unknown,
    }
}

fn ask(host: &dyn Host, request: &Request) -> (Reading<Vec<u8>>, Reading<Vec<u8>>) {
    if request.without_programs {
        return (not_run(), not_run());
    }
    let run = |tool: Tool, arguments: &[&str]| {
        let argv = shell::line(&tool.name(), arguments);
        match host.run(tool, arguments) {
            Ok(text) => Reading::known(text, Source::Command { argv }),
            Err(miss) if miss.kind == MissKind::Absent => {
                refused(&miss, &argv).or_try(Remedy::Install(tool.package().to_owned()))
            }
            Err(miss) => refused(&miss, &argv),
        }
    };
    let (properties, pools) =
        workers::beside(|| run(Tool::Zfs, &GET), || run(Tool::Zpool, &["status", "-P"]));
    (pools, properties)
}

/// Groups of devices, which are no devices themselves: `mirror-0`, `raidz2-1`, `draid2:4d:11c:1s-0`, `replacing-1`.
const GROUPS: &[&str] = &["mirror-", "raidz", "draid", "replacing-", "spare-", "indirect-", "root-"];

/// The lines `pool: NAME`, `state: STATE`, and the tree, whose depth is the indentation after a tab: the pool itself
/// and the classes `logs`, `special`, `dedup`, `cache` and `spares` are at its left.
fn parse_pools(text: &[u8]) -> BTreeMap<String, Pool> {
    let mut pools: BTreeMap<String, Pool> = BTreeMap::new();
    let mut name = String::new();
    let mut counts = false;
    for line in text.split(|b| *b == b'\n') {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let (Some(first), second) = (words.next(), words.next()) else { continue };
        match (first, line.strip_prefix(b"\t")) {
            (b"pool:", None) => {
                name = safe(second.unwrap_or_default());
                counts = false;
            }
            (b"state:", None) => {
                pools.entry(name.clone()).or_default().state = safe(second.unwrap_or_default());
            }
            (b"NAME", Some(_)) | (_, None) => {}
            (word, Some(tree)) if !tree.starts_with(b" ") => {
                counts = safe(word) == name || matches!(word, b"logs" | b"special" | b"dedup");
            }
            (word, Some(_)) if counts => {
                let word = safe(word);
                let is_group = GROUPS.iter().any(|group| word.starts_with(group));
                if !is_group {
                    let path = word.starts_with('/').then_some(word);
                    pools.entry(name.clone()).or_default().devices.push(path);
                }
            }
            _ => {}
        }
    }
    pools
}

/// Values by `DATASET<tab>PROPERTY`.
fn parse_properties(text: &[u8]) -> BTreeMap<String, String> {
    let line = |line: &[u8]| {
        let fields: Vec<String> = line.split(|b| *b == b'\t').map(safe).collect();
        match fields.as_slice() {
            [dataset, property, value] => Some((format!("{dataset}\t{property}"), value.clone())),
            _ => None,
        }
    };
    text.split(|b| *b == b'\n').filter_map(line).collect()
}

#[cfg(test)]
mod tests;
