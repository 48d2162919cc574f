//! ZFS: the devices below a dataset or volume, its flush settings, and its record size.
//!
//! The kernel shows none of this, so `zpool status -P` and `zfs get` run once (zpool-status(8),
//! zfsprops(7)). Module parameters are files (zfs(4)). The separate log is part of the stack
//! because a commit waits for it; cache and spare devices are not. Without the programs the stack
//! below a ZFS mount is unknown.

use std::collections::BTreeMap;
use std::path::Path;

use crate::collector::Request;
use crate::facts::catalog::mount::{self, Logbias, VdevState, ZfsSync};
use crate::facts::catalog::{device, kernel};
use crate::facts::{Choice, FactSet, Reading, Scope, Subject, UnknownReason};
use crate::host::{Host, Tool};
use crate::host_readings::query_tool;
use crate::path_lookup::{VisibleMountPoints, device_of_path};
use crate::text::{bytes, decode_display_safe, display_safe};
use crate::version::Version;
use crate::{attribute, parallel};

const PROPERTIES: [&str; 7] = [
    "get",
    "-Hp",
    "-t",
    "filesystem,volume",
    "-o",
    "name,property,value",
    "sync,logbias,recordsize",
];

#[derive(Clone, Debug, Default, PartialEq)]
struct ZpoolStatus {
    state: String,
    /// The devices that a commit waits for.
    devices: Vec<PoolDevice>,
    incomplete_groups: Vec<String>,
    errors: Vec<String>,
    /// False for older captures, which lack error counts and the `errors:` line.
    has_error_counts: bool,
    bad_line: Option<String>,
    damage: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct PoolDevice {
    /// The device's path, or its GUID if `zpool status` prints no path.
    name: String,
    state: String,
}

pub fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let mounts = facts.subjects_where(&mount::CLASS, |class| class.is_zfs());
    let volumes = facts.subjects_where(&device::KIND, |kind| kind.is_zvol());
    if mounts.is_empty() && volumes.is_empty() {
        return;
    }
    facts.insert_host(&kernel::ZFS_NO_FLUSH, are_flushes_disabled(host));
    let version = attribute::read_text(host, Path::new("/sys/module/zfs/version"));
    let version = version
        .and_then(|text| Version::parse(&text).ok_or_else(|| format!("`{text}` is not a version")));
    facts.insert_host(&kernel::ZFS_VERSION, version);
    let (properties, pools) = parallel::join_in_threads(
        || query_tool(host, request, Tool::Zfs, &PROPERTIES),
        || query_tool(host, request, Tool::Zpool, &["status", "-P"]),
    );
    let pools = pools.map(|text| parse_zpool_status(&text));
    let properties = properties.map(|text| parse_zfs_properties(&text));
    let mut found: BTreeMap<String, (Reading<Vec<String>>, Vec<Subject>)> = BTreeMap::new();
    for subject in mounts.iter().chain(&volumes) {
        let Some(dataset) = dataset_name(host, subject, facts) else {
            continue;
        };
        let pool = dataset.split('/').next().unwrap_or_default().to_owned();
        let (names, devices) = found
            .entry(pool.clone())
            .or_insert_with(|| pool_device_names_and_subjects(host, &pool, &pools, facts));
        for device in devices {
            facts.add_layer_below(subject, device);
        }
        if subject.scope() == Scope::Mount {
            facts.insert(subject, &mount::ZFS_DEVICES, names.clone());
            let of = pool_reading(&pools, &pool);
            facts.insert(
                subject,
                &mount::ZFS_POOL_STATE,
                of.clone()
                    .and_then(|pool| VdevState::parse_word(&pool.state)),
            );
            facts.insert(
                subject,
                &mount::ZFS_LOST,
                of.clone()
                    .and_then(|pool| pool.lost_device_names_and_states()),
            );
            let counted = of.clone().and_then(|pool| {
                if pool.has_error_counts {
                    Ok(pool.errors)
                } else {
                    Err(NO_COUNTS_DETAIL.to_owned())
                }
            });
            facts.insert(subject, &mount::ZFS_ERRORS, counted);
            facts.insert(subject, &mount::ZFS_DAMAGED, has_damaged_data(of));
            record_dataset_properties(subject, &dataset, &properties, facts);
        }
    }
}

/// The name comes from mountinfo for a mount, and from the udev link, such as `zvol/tank/pg`, for a
/// volume.
fn dataset_name(host: &dyn Host, subject: &Subject, facts: &FactSet) -> Option<String> {
    if subject.scope() == Scope::Mount {
        return facts.value(subject, &mount::SOURCE);
    }
    let number = facts.value(subject, &device::DEVNO)?;
    let text = host
        .read(&Path::new("/run/udev/data").join(format!("b{number}")))
        .ok()?;
    let name = bytes::lines(&text).find_map(|line| line.strip_prefix(b"S:zvol/"))?;
    Some(display_safe(name))
}

fn record_dataset_properties(
    subject: &Subject,
    dataset: &str,
    properties: &Reading<BTreeMap<String, String>>,
    facts: &mut FactSet,
) {
    let value = |property: &str| {
        properties.clone().and_then(|all| {
            let value = all.get(&format!("{dataset}\t{property}")).cloned();
            value.ok_or_else(|| format!("{property} of {dataset} is not listed"))
        })
    };
    facts.insert(
        subject,
        &mount::ZFS_SYNC,
        value("sync").and_then(|word| ZfsSync::parse_word(&word)),
    );
    facts.insert(
        subject,
        &mount::ZFS_LOGBIAS,
        value("logbias").and_then(|word| Logbias::parse_word(&word)),
    );
    let record = value("recordsize").and_then(|text| {
        text.parse()
            .map_err(|_| format!("`{text}` is not a number"))
    });
    facts.insert(subject, &mount::ZFS_RECORD, record);
}

fn pool_reading(
    pools: &Reading<BTreeMap<String, ZpoolStatus>>,
    name: &str,
) -> Reading<ZpoolStatus> {
    pools.clone().and_then(|all| {
        all.get(name)
            .cloned()
            .ok_or_else(|| format!("pool {name} is not listed"))
    })
}

const NO_COUNTS_DETAIL: &str = "this capture does not contain the pool's errors";

fn has_damaged_data(pool: Reading<ZpoolStatus>) -> Reading<bool> {
    pool.and_then_reading(|pool, source| match pool.damage.as_deref() {
        Some("none" | "No known data errors") => Reading::known(false, source),
        Some(text)
            if text == "permanent"
                || text.starts_with("Permanent errors")
                || text.contains(" data errors") =>
        {
            Reading::known(true, source)
        }
        Some(text) => {
            Reading::malformed(format!("{source}: `{text}` is not a known error summary"))
        }
        None if pool.has_error_counts => {
            Reading::malformed(format!("{source}: the line `errors:` is missing"))
        }
        None => Reading::unknown(UnknownReason::NotCollected, NO_COUNTS_DETAIL),
    })
}

impl ZpoolStatus {
    fn lost_device_names_and_states(&self) -> Result<Vec<String>, String> {
        let mut lost = Vec::new();
        for device in &self.devices {
            if !VdevState::parse_word(&device.state)?.is_used_by_zfs() {
                lost.push(format!("{} {}", device.name, device.state));
            }
        }
        Ok(lost)
    }

    fn incomplete_status_reason(&self) -> Option<String> {
        if self.bad_line.is_some() {
            return self.bad_line.clone();
        }
        if let Some(group) = self.incomplete_groups.first() {
            return Some(format!("{group} is missing a device"));
        }
        if self.has_error_counts && self.damage.is_none() {
            return Some("the line `errors:` is missing".to_owned());
        }
        self.devices
            .is_empty()
            .then(|| "no device is listed".to_owned())
    }
}

/// Devices that the pool does not use are left out. The names are unknown if the list is incomplete
/// or a device is not found, because the worst device decides.
fn pool_device_names_and_subjects(
    host: &dyn Host,
    name: &str,
    pools: &Reading<BTreeMap<String, ZpoolStatus>>,
    facts: &FactSet,
) -> (Reading<Vec<String>>, Vec<Subject>) {
    let points = VisibleMountPoints::from_facts(facts);
    let pool = pool_reading(pools, name);
    let mut devices = Vec::new();
    let mut lost = None;
    if let Some(pool) = pool.value() {
        lost = pool
            .incomplete_status_reason()
            .map(|gap| format!("pool {name}: {gap}"));
        for device in &pool.devices {
            match VdevState::parse_word(&device.state).map(VdevState::is_used_by_zfs) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(detail) => {
                    lost = Some(format!("state of {} of pool {name}: {detail}", device.name));
                    continue;
                }
            }
            let path =
                Some(decode_display_safe(&device.name)).filter(|path| path.starts_with(b"/"));
            let found = path.and_then(|path| {
                // A device of a test pool may be a file, which is represented by its mount.
                device_of_path(host, &path, facts)
                    .or_else(|| points.mount_holding_file(&path).cloned())
            });
            match found {
                Some(device) => devices.push(device),
                None => lost = Some(format!("{} of pool {name} was not found", device.name)),
            }
        }
    }
    let names = match lost {
        Some(detail) => Reading::ambiguous(detail),
        None => pool.map(|_| {
            devices
                .iter()
                .map(|device| device.name().to_owned())
                .collect()
        }),
    };
    (names, devices)
}

/// Before zil_nocacheflush existed, zfs_nocacheflush also governed the flushes of the intent log.
fn are_flushes_disabled(host: &dyn Host) -> Reading<bool> {
    let at = |name: &str| Path::new("/sys/module/zfs/parameters").join(name);
    let [all, log] =
        ["zfs_nocacheflush", "zil_nocacheflush"].map(|name| attribute::read_flag(host, &at(name)));
    match (all, log) {
        (yes @ Reading::Known { value: true, .. }, _)
        | (_, yes @ Reading::Known { value: true, .. }) => yes,
        (no @ Reading::Known { .. }, log) if log.is_known() || log.is_absent() => no,
        (unknown @ Reading::Unknown { .. }, _) | (_, unknown) => unknown,
    }
}

/// Prefixes of names that mean groups, not devices: `mirror-0`, `raidz2-1`, `draid2:4d:11c:1s-0`,
/// `replacing-1`.
const GROUP_KINDS: &[&str] = &[
    "mirror-",
    "raidz",
    "draid",
    "replacing-",
    "spare-",
    "indirect-",
    "root-",
];

/// `None` if a complete group can have any number of devices.
fn minimum_devices_of_vdev_group(group: &str) -> Option<usize> {
    let pairs = ["mirror-", "replacing-", "spare-"];
    if pairs.iter().any(|kind| group.starts_with(kind)) {
        return Some(2);
    }
    let parities = group
        .strip_prefix("raidz")
        .or_else(|| group.strip_prefix("draid"))?;
    let parity = parities.bytes().next()?.saturating_sub(b'0');
    Some(usize::from(parity.clamp(1, 3)) + 1)
}

/// The word at an index; empty if the line has fewer words.
fn word_at(words: &[&[u8]], at: usize) -> String {
    display_safe(words.get(at).copied().unwrap_or_default())
}

#[derive(Default)]
struct ZpoolStatusParser {
    pool: ZpoolStatus,
    /// False below the headings `cache` and `spares`: no commit waits for these devices.
    is_commit_class: bool,
    /// Groups whose devices are still being listed: depth, name, number of devices.
    groups: Vec<(usize, String, usize)>,
}

impl ZpoolStatusParser {
    fn close_groups(&mut self, depth: usize) {
        while let Some((_, group, below)) = self.groups.pop_if(|(at, ..)| *at >= depth) {
            if minimum_devices_of_vdev_group(&group).is_some_and(|fewest| below < fewest) {
                self.pool.incomplete_groups.push(group);
            }
        }
    }

    fn add_config_line(&mut self, depth: usize, words: &[&[u8]]) {
        self.close_groups(depth);
        if let Some((.., below)) = self.groups.last_mut() {
            *below += 1;
        }
        self.add_error_counts(words);
        let (name, state) = (word_at(words, 0), word_at(words, 1));
        if GROUP_KINDS.iter().any(|group| name.starts_with(group)) {
            self.groups.push((depth, name, 0));
        } else if self.is_commit_class {
            self.pool.devices.push(PoolDevice { name, state });
        }
    }

    fn add_error_counts(&mut self, words: &[&[u8]]) {
        let name = word_at(words, 0);
        let flaw = match words {
            [_, _, b"0", b"0", b"0", ..] => return,
            [_, _, counts @ ..] if counts.len() >= 3 => {
                let [read, write, checksum] = [0, 1, 2].map(|at| word_at(counts, at));
                let is_number = |count: &String| count.starts_with(|c: char| c.is_ascii_digit());
                if [&read, &write, &checksum].into_iter().all(is_number) {
                    let name = name.strip_prefix("/dev/").unwrap_or(&name);
                    self.pool.errors.push(format!(
                        "{name}: {read} read, {write} write, {checksum} checksum errors"
                    ));
                    return;
                }
                format!("the error counts of {name} are not numbers")
            }
            _ if self.pool.has_error_counts && self.is_commit_class => {
                format!("{name} has no error counts")
            }
            _ => return,
        };
        self.pool.bad_line.get_or_insert(flaw);
    }
}

/// Parses the output of `zpool status -P`: lines `pool: NAME` and `state: STATE`, the device tree
/// and `errors: …`. A line of the tree, such as `\t    /dev/sdb1 ONLINE 0 0 0`, begins with a tab.
/// The names of the pool and of classes (`logs`, `special`, `dedup`, `cache`, `spares`) follow the
/// tab directly. Groups and devices are indented by blanks.
fn parse_zpool_status(text: &[u8]) -> BTreeMap<String, ZpoolStatus> {
    let mut pools: BTreeMap<String, ZpoolStatus> = BTreeMap::new();
    let mut name = String::new();
    let mut tree = ZpoolStatusParser::default();
    let mut keep = |name: &str, tree: &mut ZpoolStatusParser| {
        tree.close_groups(0);
        let tree = std::mem::take(tree);
        if !name.is_empty() {
            pools.insert(name.to_owned(), tree.pool);
        }
    };
    for line in bytes::lines(text) {
        let words: Vec<&[u8]> = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .collect();
        match (words.as_slice(), line.strip_prefix(b"\t")) {
            ([b"pool:", rest @ ..], None) => {
                keep(&name, &mut tree);
                name = word_at(rest, 0);
            }
            ([b"state:", rest @ ..], None) => {
                tree.pool.state = word_at(rest, 0);
            }
            ([b"errors:", rest @ ..], None) => {
                tree.pool.damage = Some(display_safe(&rest.join(&b' ')));
            }
            ([b"NAME", rest @ ..], Some(_)) => tree.pool.has_error_counts = rest.len() > 1,
            ([word, ..], Some(below)) if !below.starts_with(b" ") => {
                tree.close_groups(0);
                let is_pool = display_safe(word) == name;
                tree.is_commit_class = is_pool || matches!(*word, b"logs" | b"special" | b"dedup");
                if is_pool {
                    tree.add_error_counts(&words);
                }
            }
            (_, Some(below)) if !words.is_empty() => {
                let depth = below.iter().take_while(|b| **b == b' ').count();
                tree.add_config_line(depth, &words);
            }
            _ => {}
        }
    }
    keep(&name, &mut tree);
    pools
}

fn parse_zfs_properties(text: &[u8]) -> BTreeMap<String, String> {
    let line = |line: &[u8]| {
        let fields: Vec<String> = line.split(|b| *b == b'\t').map(display_safe).collect();
        match fields.as_slice() {
            [dataset, property, value] => Some((format!("{dataset}\t{property}"), value.clone())),
            _ => None,
        }
    };
    bytes::lines(text).filter_map(line).collect()
}

#[cfg(test)]
mod tests;
