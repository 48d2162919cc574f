//! ZFS: the devices below a dataset or volume, its flush settings, and its record size.
//!
//! The kernel shows none of this, so `zpool status -P` and `zfs get` run once (zpool-status(8),
//! zfsprops(7)). Module parameters are files (zfs(4)). The separate log is part of the stack
//! because a commit waits for it; cache and spare devices are not. Without the programs the stack
//! below a ZFS mount is unknown.

use std::collections::BTreeMap;
use std::path::Path;

use crate::collector::Request;
use crate::escape::shell;
use crate::facts::catalog::mount::{self, Logbias, VdevState, ZfsSync};
use crate::facts::catalog::{device, kernel};
use crate::facts::{Choice, FactSet, Reading, Scope, Subject, UnknownReason};
use crate::host::{Host, Tool};
use crate::host_readings::{programs_disabled_reading, tool_reading};
use crate::path_lookup::{VisibleMountPoints, device_of_path};
use crate::text::{decode_display_safe, display_safe};
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
    facts.insert(
        &Subject::host(),
        &kernel::ZFS_NO_FLUSH,
        are_flushes_disabled(host),
    );
    let version = attribute::read_text(host, Path::new("/sys/module/zfs/version"));
    let version = version
        .and_then(|text| Version::parse(&text).ok_or_else(|| format!("`{text}` is not a version")));
    facts.insert(&Subject::host(), &kernel::ZFS_VERSION, version);
    let (pools, properties) = run_zpool_status_and_zfs_get(host, request);
    let pools = pools.map(|text| parse_zpool_status(&text));
    let properties = properties.map(|text| parse_zfs_properties(&text));
    let mut found: BTreeMap<String, (Reading<Vec<String>>, Vec<Subject>)> = BTreeMap::new();
    for subject in mounts.iter().chain(&volumes) {
        let Some(dataset) = dataset_name(host, subject, facts) else {
            continue;
        };
        let pool = dataset.split('/').next().unwrap_or_default().to_owned();
        if !found.contains_key(&pool) {
            let members = pool_device_names_and_subjects(host, &pool, &pools, facts);
            found.insert(pool.clone(), members);
        }
        let Some((names, devices)) = found.get(&pool) else {
            continue;
        };
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

/// From mountinfo for a mount; from the udev link, such as `zvol/tank/pg`, for a volume.
fn dataset_name(host: &dyn Host, subject: &Subject, facts: &FactSet) -> Option<String> {
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
    match pool.value() {
        Some(pool) if !pool.has_error_counts && pool.damage.is_none() => {
            Reading::unknown(UnknownReason::NotCollected, NO_COUNTS_DETAIL)
        }
        Some(_) | None => pool.and_then(|pool| match pool.damage.as_deref() {
            Some("none" | "No known data errors") => Ok(false),
            Some("permanent") => Ok(true),
            Some(text) if text.starts_with("Permanent errors") || text.contains(" data errors") => {
                Ok(true)
            }
            Some(text) => Err(format!("`{text}` is not a known error summary")),
            None => Err("the line `errors:` is missing".to_owned()),
        }),
    }
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
        let short = self
            .incomplete_groups
            .first()
            .map(|group| format!("{group} is missing a device"));
        let end = self.has_error_counts && self.damage.is_none();
        let end = end.then(|| "the line `errors:` is missing".to_owned());
        let none = self
            .devices
            .is_empty()
            .then(|| "no device is listed".to_owned());
        self.bad_line.clone().or(short).or(end).or(none)
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
        (
            no @ Reading::Known { .. },
            Reading::Known { .. }
            | Reading::Unknown {
                why: UnknownReason::Absent,
                ..
            },
        ) => no,
        (unknown @ Reading::Unknown { .. }, _) | (_, unknown) => unknown,
    }
}

fn run_zpool_status_and_zfs_get(
    host: &dyn Host,
    request: &Request,
) -> (Reading<Vec<u8>>, Reading<Vec<u8>>) {
    if request.without_programs {
        return (programs_disabled_reading(), programs_disabled_reading());
    }
    let run = |tool: Tool, arguments: &[&str]| {
        let argv = shell::format_command_line(&tool.name(), arguments);
        tool_reading(host.run_tool(tool, arguments), tool, &argv)
    };
    let (properties, pools) = parallel::join_in_threads(
        || run(Tool::Zfs, &PROPERTIES),
        || run(Tool::Zpool, &["status", "-P"]),
    );
    (pools, properties)
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
        while let Some((at, group, below)) = self.groups.pop() {
            if at < depth {
                self.groups.push((at, group, below));
                break;
            }
            if minimum_devices_of_vdev_group(&group).is_some_and(|fewest| below < fewest) {
                self.pool.incomplete_groups.push(group);
            }
        }
    }

    fn add_config_line(&mut self, depth: usize, words: &[&[u8]]) {
        self.close_groups(depth);
        let (Some(name), state) = (words.first(), words.get(1)) else {
            return;
        };
        if let Some((.., below)) = self.groups.last_mut() {
            *below += 1;
        }
        self.add_error_counts(words);
        let (name, state) = (
            display_safe(name),
            display_safe(state.copied().unwrap_or_default()),
        );
        if GROUP_KINDS.iter().any(|group| name.starts_with(group)) {
            self.groups.push((depth, name, 0));
        } else if self.is_commit_class {
            self.pool.devices.push(PoolDevice { name, state });
        }
    }

    fn add_error_counts(&mut self, words: &[&[u8]]) {
        let Some((name, counts)) = words
            .split_first()
            .map(|(name, rest)| (display_safe(name), rest.get(1..4)))
        else {
            return;
        };
        match counts {
            Some(counts) if counts.iter().all(|count| *count == b"0") => {}
            Some([read, write, checksum]) => {
                let digit = |count: &&[u8]| count.first().is_some_and(u8::is_ascii_digit);
                if [read, write, checksum].into_iter().all(digit) {
                    let name = name.strip_prefix("/dev/").unwrap_or(&name);
                    let [read, write, checksum] =
                        [read, write, checksum].map(|count| display_safe(count));
                    self.pool.errors.push(format!(
                        "{name}: {read} read, {write} write, {checksum} checksum errors"
                    ));
                } else {
                    self.pool.bad_line.get_or_insert_with(|| {
                        format!("the error counts of {name} are not numbers")
                    });
                }
            }
            Some(_) | None if self.pool.has_error_counts && self.is_commit_class => {
                self.pool
                    .bad_line
                    .get_or_insert_with(|| format!("{name} has no error counts"));
            }
            Some(_) | None => {}
        }
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
    for line in text.split(|b| *b == b'\n') {
        let words: Vec<&[u8]> = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .collect();
        match (words.as_slice(), line.strip_prefix(b"\t")) {
            ([b"pool:", rest @ ..], None) => {
                keep(&name, &mut tree);
                name = display_safe(rest.first().copied().unwrap_or_default());
            }
            ([b"state:", rest @ ..], None) => {
                tree.pool.state = display_safe(rest.first().copied().unwrap_or_default());
            }
            ([b"errors:", rest @ ..], None) => {
                tree.pool.damage = Some(display_safe(&rest.join(&b' ')));
            }
            ([b"NAME", rest @ ..], Some(_)) => tree.pool.has_error_counts = rest.len() > 1,
            ([word, ..], Some(below)) if !below.starts_with(b" ") => {
                tree.close_groups(0);
                tree.is_commit_class =
                    display_safe(word) == name || matches!(*word, b"logs" | b"special" | b"dedup");
                if display_safe(word) == name {
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
    text.split(|b| *b == b'\n').filter_map(line).collect()
}

#[cfg(test)]
mod tests;
