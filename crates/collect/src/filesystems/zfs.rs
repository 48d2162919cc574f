//! ZFS: the devices below a dataset or volume, the handling of its flushes, and the size of its
//! records.
//!
//! The kernel shows none of this, so `zpool status -P` and `zfs get` run once for the host
//! (zpool-status(8), zfsprops(7)). Module parameters are files (zfs(4)). The separate log is part
//! of the stack because a commit waits for it; cache and spare devices are not. Without the tools
//! the stack below a ZFS mount is unknown.

use std::collections::BTreeMap;
use std::path::Path;

use crate::attribute;
use crate::collector::{Collector, Request};
use crate::facts::catalog::mount::{self, Logbias, VdevState, ZfsSync};
use crate::facts::catalog::{device, kernel};
use crate::facts::{Choice, FactSet, Reading, Remedy, Scope, Source, Subject, Why};
use crate::host::{Host, MissKind, Tool};
use crate::lookup::{Points, device_at};
use crate::quote::shell;
use crate::refusal::{not_run, refused};
use crate::text::{raw, safe};
use crate::version::Version;
use crate::workers;

pub const COLLECTOR: Collector = Collector { id: "ZFS", run };

const GET: [&str; 7] = [
    "get",
    "-Hp",
    "-t",
    "filesystem,volume",
    "-o",
    "name,property,value",
    "sync,logbias,recordsize",
];

/// A pool as `zpool status` prints it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Pool {
    state: String,
    /// The devices that a commit waits for.
    devices: Vec<PoolDevice>,
    /// Groups that lack a line: `mirror-0`.
    short: Vec<String>,
    /// What has errors, with its counts.
    errors: Vec<String>,
    /// Whether the tree has counts. Captures of before have none, and no line about damaged data
    /// either.
    counts: bool,
    /// A line of the tree that is not understood.
    bad: Option<String>,
    /// The word about damaged data, which ends a pool.
    damage: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct PoolDevice {
    /// Its path, or the number of one whose path is not printed.
    name: String,
    state: String,
}

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let mounts = facts.which(&mount::CLASS, |class| class.is_zfs());
    let volumes = facts.which(&device::KIND, |kind| kind.is_zvol());
    if mounts.is_empty() && volumes.is_empty() {
        return;
    }
    facts.put(&Subject::host(), &kernel::ZFS_NO_FLUSH, no_flush(host));
    let version = attribute::text(host, Path::new("/sys/module/zfs/version"));
    let version = version
        .and_then(|text| Version::parse(&text).ok_or_else(|| format!("`{text}` is no version")));
    facts.put(&Subject::host(), &kernel::ZFS_VERSION, version);
    let (pools, properties) = ask(host, request);
    let pools = pools.map(|text| parse_pools(&text));
    let properties = properties.map(|text| parse_properties(&text));
    let mut found: BTreeMap<String, (Reading<Vec<String>>, Vec<Subject>)> = BTreeMap::new();
    for subject in mounts.iter().chain(&volumes) {
        let Some(dataset) = dataset(host, subject, facts) else {
            continue;
        };
        let pool = dataset.split('/').next().unwrap_or_default().to_owned();
        if !found.contains_key(&pool) {
            let members = members(host, &pool, &pools, facts);
            found.insert(pool.clone(), members);
        }
        let Some((names, devices)) = found.get(&pool) else {
            continue;
        };
        for device in devices {
            facts.stand(subject, device);
        }
        if subject.scope() == Scope::Mount {
            facts.put(subject, &mount::ZFS_DEVICES, names.clone());
            let of = of_pool(&pools, &pool);
            facts.put(
                subject,
                &mount::ZFS_POOL_STATE,
                of.clone().and_then(|pool| VdevState::read(&pool.state)),
            );
            facts.put(
                subject,
                &mount::ZFS_LOST,
                of.clone().and_then(|pool| pool.lost()),
            );
            let counted = of.clone().and_then(|pool| {
                if pool.counts {
                    Ok(pool.errors)
                } else {
                    Err(NO_COUNTS.to_owned())
                }
            });
            facts.put(subject, &mount::ZFS_ERRORS, counted);
            facts.put(subject, &mount::ZFS_DAMAGED, damaged(of));
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
    let text = host
        .read(&Path::new("/run/udev/data").join(format!("b{number}")))
        .ok()?;
    let name = text
        .split(|b| *b == b'\n')
        .find_map(|line| line.strip_prefix(b"S:zvol/"))?;
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
    facts.put(
        subject,
        &mount::ZFS_SYNC,
        value("sync").and_then(|word| ZfsSync::read(&word)),
    );
    facts.put(
        subject,
        &mount::ZFS_LOGBIAS,
        value("logbias").and_then(|word| Logbias::read(&word)),
    );
    let record = value("recordsize")
        .and_then(|text| text.parse().map_err(|_| format!("`{text}` is no number")));
    facts.put(subject, &mount::ZFS_RECORD, record);
}

fn of_pool(pools: &Reading<BTreeMap<String, Pool>>, name: &str) -> Reading<Pool> {
    pools.clone().and_then(|all| {
        all.get(name)
            .cloned()
            .ok_or_else(|| format!("it does not list {name}"))
    })
}

/// Why a capture of before has no counts and no word about damaged data.
const NO_COUNTS: &str = "the capture does not hold them";

fn damaged(pool: Reading<Pool>) -> Reading<bool> {
    match pool.value() {
        Some(pool) if !pool.counts && pool.damage.is_none() => {
            Reading::unknown(Why::NotCollected, NO_COUNTS)
        }
        Some(_) | None => pool.and_then(|pool| match pool.damage.as_deref() {
            Some("none" | "No known data errors") => Ok(false),
            Some("permanent") => Ok(true),
            Some(text) if text.starts_with("Permanent errors") || text.contains(" data errors") => {
                Ok(true)
            }
            Some(text) => Err(format!("`{text}` is no word about damaged data")),
            None => Err("its last line is missing".to_owned()),
        }),
    }
}

impl Pool {
    /// Devices that ZFS does not use, with their states.
    fn lost(&self) -> Result<Vec<String>, String> {
        let mut lost = Vec::new();
        for device in &self.devices {
            if !VdevState::read(&device.state)?.is_used() {
                lost.push(format!("{} {}", device.name, device.state));
            }
        }
        Ok(lost)
    }

    /// Why its list of devices is not whole.
    fn gap(&self) -> Option<String> {
        let short = self
            .short
            .first()
            .map(|group| format!("{group} lacks a device"));
        let end = self.counts && self.damage.is_none();
        let end = end.then(|| "its last line is missing".to_owned());
        let none = self
            .devices
            .is_empty()
            .then(|| "it lists no device".to_owned());
        self.bad.clone().or(short).or(end).or(none)
    }
}

/// The devices of a pool that are in use; unknown where the list is not whole or one of them is not
/// found, since the worst device decides. A device that is missing takes no commit, whatever its
/// path is.
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
    if let Some(pool) = pool.value() {
        lost = pool.gap().map(|gap| format!("pool {name}: {gap}"));
        for device in &pool.devices {
            match VdevState::read(&device.state).map(VdevState::is_used) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(detail) => {
                    lost = Some(format!("state of {} of pool {name}: {detail}", device.name));
                    continue;
                }
            }
            let path = Some(raw(&device.name)).filter(|path| path.starts_with(b"/"));
            let found = path.and_then(|path| {
                // A pool may be kept in a file, for trying it out.
                device_at(host, &path, facts).or_else(|| points.over_file(&path).cloned())
            });
            match found {
                Some(device) => devices.push(device),
                None => lost = Some(format!("{} of pool {name} was not found", device.name)),
            }
        }
    }
    let names = match lost {
        Some(detail) => Reading::unknown(Why::Ambiguous, detail),
        None => pool.map(|_| {
            devices
                .iter()
                .map(|device| device.name().to_owned())
                .collect()
        }),
    };
    (names, devices)
}

/// Whether ZFS was told to send no flushes to disks. Where the second parameter does not exist yet,
/// the first one governed both.
fn no_flush(host: &dyn Host) -> Reading<bool> {
    let at = |name: &str| Path::new("/sys/module/zfs/parameters").join(name);
    let [all, log] =
        ["zfs_nocacheflush", "zil_nocacheflush"].map(|name| attribute::flag(host, &at(name)));
    match (all, log) {
        (yes @ Reading::Known { value: true, .. }, _)
        | (_, yes @ Reading::Known { value: true, .. }) => yes,
        (
            no @ Reading::Known { .. },
            Reading::Known { .. }
            | Reading::Unknown {
                why: Why::Absent, ..
            },
        ) => no,
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
    let (properties, pools) = workers::beside(
        || run(Tool::Zfs, &GET),
        || run(Tool::Zpool, &["status", "-P"]),
    );
    (pools, properties)
}

/// Groups of devices, which are no devices themselves: `mirror-0`, `raidz2-1`,
/// `draid2:4d:11c:1s-0`, `replacing-1`.
const GROUPS: &[&str] = &[
    "mirror-",
    "raidz",
    "draid",
    "replacing-",
    "spare-",
    "indirect-",
    "root-",
];

/// The fewest devices that a group can list; nothing where it may be any number.
fn fewest(group: &str) -> Option<usize> {
    let parity = |kind: &str| {
        group
            .strip_prefix(kind)?
            .bytes()
            .next()
            .map(|b| usize::from(b.saturating_sub(b'0')))
    };
    if group.starts_with("mirror-")
        || group.starts_with("replacing-")
        || group.starts_with("spare-")
    {
        return Some(2);
    }
    parity("raidz")
        .or_else(|| parity("draid"))
        .map(|parity| parity.clamp(1, 3) + 1)
}

/// A pool while its tree is read.
#[derive(Default)]
struct PoolTree {
    pool: Pool,
    /// Whether a commit waits for the devices of this class.
    counts: bool,
    /// Groups that are open, with their depth and how many are below.
    groups: Vec<(usize, String, usize)>,
}

impl PoolTree {
    /// Closes the groups from this depth on.
    fn close(&mut self, depth: usize) {
        while let Some((at, group, below)) = self.groups.pop() {
            if at < depth {
                self.groups.push((at, group, below));
                break;
            }
            if fewest(&group).is_some_and(|fewest| below < fewest) {
                self.pool.short.push(group);
            }
        }
    }

    /// A line below the pool's own: indentation, name, state, counts.
    fn line(&mut self, depth: usize, words: &[&[u8]]) {
        self.close(depth);
        let (Some(name), state) = (words.first(), words.get(1)) else {
            return;
        };
        if let Some((.., below)) = self.groups.last_mut() {
            *below += 1;
        }
        self.count(words);
        let (name, state) = (safe(name), safe(state.copied().unwrap_or_default()));
        if GROUPS.iter().any(|group| name.starts_with(group)) {
            self.groups.push((depth, name, 0));
        } else if self.counts {
            self.pool.devices.push(PoolDevice { name, state });
        }
    }

    /// The counts of errors behind a name and a state.
    fn count(&mut self, words: &[&[u8]]) {
        let Some((name, counts)) = words
            .split_first()
            .map(|(name, rest)| (safe(name), rest.get(1..4)))
        else {
            return;
        };
        match counts {
            Some(counts) if counts.iter().all(|count| *count == b"0") => {}
            Some([read, write, checksum]) => {
                let digit = |count: &&[u8]| count.first().is_some_and(u8::is_ascii_digit);
                if [read, write, checksum].into_iter().all(digit) {
                    let name = name.strip_prefix("/dev/").unwrap_or(&name);
                    let [read, write, checksum] = [read, write, checksum].map(|count| safe(count));
                    self.pool.errors.push(format!(
                        "{name} {read} read, {write} write, {checksum} checksum"
                    ));
                } else {
                    self.pool
                        .bad
                        .get_or_insert_with(|| format!("the counts of {name} are no numbers"));
                }
            }
            Some(_) | None if self.pool.counts && self.counts => {
                self.pool
                    .bad
                    .get_or_insert_with(|| format!("{name} has no counts"));
            }
            Some(_) | None => {}
        }
    }
}

/// The lines `pool: NAME`, `state: STATE`, the tree, whose depth is the indentation after a tab,
/// and `errors: …`: the pool itself and the classes `logs`, `special`, `dedup`, `cache` and
/// `spares` are at its left.
fn parse_pools(text: &[u8]) -> BTreeMap<String, Pool> {
    let mut pools: BTreeMap<String, Pool> = BTreeMap::new();
    let mut name = String::new();
    let mut tree = PoolTree::default();
    let mut keep = |name: &str, tree: &mut PoolTree| {
        tree.close(0);
        let tree = std::mem::take(tree);
        if !name.is_empty() {
            pools.insert(name.to_owned(), tree.pool);
        }
    };
    for line in text.split(|b| *b == b'\n') {
        let words: Vec<&[u8]> = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .collect();
        match (words.as_slice(), line.strip_prefix(b"\t")) {
            ([b"pool:", rest @ ..], None) => {
                keep(&name, &mut tree);
                name = safe(rest.first().copied().unwrap_or_default());
            }
            ([b"state:", rest @ ..], None) => {
                tree.pool.state = safe(rest.first().copied().unwrap_or_default());
            }
            ([b"errors:", rest @ ..], None) => tree.pool.damage = Some(safe(&rest.join(&b' '))),
            ([b"NAME", rest @ ..], Some(_)) => tree.pool.counts = rest.len() > 1,
            ([word, ..], Some(below)) if !below.starts_with(b" ") => {
                tree.close(0);
                tree.counts =
                    safe(word) == name || matches!(*word, b"logs" | b"special" | b"dedup");
                if safe(word) == name {
                    tree.count(&words);
                }
            }
            (_, Some(below)) if !words.is_empty() => {
                let depth = below.iter().take_while(|b| **b == b' ').count();
                tree.line(depth, &words);
            }
            _ => {}
        }
    }
    keep(&name, &mut tree);
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
