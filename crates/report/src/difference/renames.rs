//! Matches subjects between two reports after the kernel has assigned other names, or a file system
//! was mounted elsewhere.
//!
//! A device is recognised by the facts that the catalogue marks as its identity. Partitions without
//! such facts follow their disk. The earlier owner of a reused name is called *former NAME*.

use std::collections::{BTreeMap, BTreeSet};

use super::ReportSnapshot;
use crate::model::difference::{DisplayedValue, FactState, FindingState};
use walwise_model::facts::catalog::device::{self, DeviceKind};
use walwise_model::facts::{Choice, FactStability, Scope, Subject, catalog};

/// Maps names in the earlier report to present names, or to `former NAME`.
#[derive(Debug, Default)]
pub struct Renames(BTreeMap<Subject, Subject>);

impl Renames {
    pub fn detect(before: &ReportSnapshot, now: &ReportSnapshot) -> Self {
        let mut matching = DeviceMatcher::new(before, now);
        matching.pair_by_identity();
        matching.pair_partitions();
        let mut names = Self(matching.into_renames());
        names.add_former_names(before);
        names.rename_device_targets(before, now);
        names.rename_moved_targets(before, now);
        names.add_former_names(before);
        names
    }

    pub fn current_name(&self, subject: &Subject) -> Subject {
        self.0.get(subject).unwrap_or(subject).clone()
    }

    /// The pairs of earlier and present name. A present name that `now` lacks, such as `former
    /// sda`, is left out.
    pub fn pairs_with_existing_names<'a>(
        &'a self,
        now: &'a ReportSnapshot,
    ) -> impl Iterator<Item = (&'a Subject, &'a Subject)> {
        let there = now.all_subjects();
        self.0.iter().filter(move |(_, new)| there.contains(new))
    }

    pub fn rename_snapshot(&self, before: &ReportSnapshot) -> ReportSnapshot {
        if self.0.is_empty() {
            return before.clone();
        }
        let mut kept = before.clone();
        for row in kept.facts.values_mut() {
            *row = self.rename_subjects_in_values(row);
        }
        kept.facts = self.rename_keys(kept.facts);
        kept.verdicts = self.rename_keys(kept.verdicts);
        kept.probes = self.rename_keys(kept.probes);
        for target in kept.targets.values_mut() {
            let named = target
                .subjects
                .iter_mut()
                .chain(&mut target.mount)
                .chain(&mut target.device);
            named.for_each(|subject| *subject = self.current_name(subject));
        }
        kept.targets = self.rename_keys(kept.targets);
        let finding = |((rule, of), finding): (&(String, Subject), &FindingState)| {
            ((rule.clone(), self.current_name(of)), finding.clone())
        };
        kept.findings = before.findings.iter().map(finding).collect();
        kept
    }

    fn rename_keys<V>(&self, values: BTreeMap<Subject, V>) -> BTreeMap<Subject, V> {
        values
            .into_iter()
            .map(|(subject, value)| (self.current_name(&subject), value))
            .collect()
    }

    fn rename_subjects_in_values(
        &self,
        row: &BTreeMap<&'static str, FactState>,
    ) -> BTreeMap<&'static str, FactState> {
        let named = |(name, fact): (&&'static str, &FactState)| {
            let holds_names = catalog::find_by_name(name)
                .is_some_and(|info| info.nature == FactStability::Assigned);
            let fact = match fact.known_value() {
                Some(DisplayedValue::Text(text)) if holds_names => {
                    DisplayedValue::Text(self.rename_subjects_in_text(text))
                }
                Some(DisplayedValue::Words(words)) if holds_names => DisplayedValue::Words(
                    words
                        .iter()
                        .map(|word| self.rename_subjects_in_text(word))
                        .collect(),
                ),
                _ => return (*name, fact.clone()),
            };
            (*name, FactState::Known { value: fact })
        };
        row.iter().map(named).collect()
    }

    fn rename_subjects_in_text(&self, text: &str) -> String {
        let is_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            out.push_str(self.current_name(&Subject::device(word)).name());
            let (between, next) = after.split_at(after.find(is_name).unwrap_or(after.len()));
            out.push_str(between);
            rest = next;
        }
        out
    }

    fn add_former_names(&mut self, before: &ReportSnapshot) {
        let taken: BTreeSet<Subject> = self.0.values().cloned().collect();
        for subject in before.all_subjects() {
            if taken.contains(subject) && !self.0.contains_key(subject) {
                self.0.insert(
                    subject.clone(),
                    subject.with_name(&format!("former {}", subject.name())),
                );
            }
        }
    }

    /// Renames targets that are free disks along with their device, because such a target has the
    /// name of the device node.
    fn rename_device_targets(&mut self, before: &ReportSnapshot, now: &ReportSnapshot) {
        for old in before.targets.keys() {
            let Some(device) = old.name().strip_prefix("/dev/").map(Subject::device) else {
                continue;
            };
            let new = self.current_name(&device);
            let target = old.with_name(&format!("/dev/{}", new.name()));
            if new != device && (now.targets.contains_key(&target) || now.targets.contains_key(old))
            {
                self.0.insert(old.clone(), target);
            }
        }
    }

    /// Renames the targets of a file system that is now mounted elsewhere. If neither run had a
    /// TARGET, a directory also counts as moved if its file system lost one target and gained one.
    fn rename_moved_targets(&mut self, before: &ReportSnapshot, now: &ReportSnapshot) {
        let (then, there) = (before.all_subjects(), now.all_subjects());
        let is_gone = |subject: &Subject| !there.contains(subject);
        let is_new = |subject: &Subject| !then.contains(subject);
        let standing =
            |target: &Option<Subject>| target.as_ref().map(|device| self.current_name(device));
        let mut moves = BTreeSet::new();
        for old in before.targets.values() {
            let Some(from) = old.mount.as_ref().filter(|mount| is_gone(mount)) else {
                continue;
            };
            let beside = now.targets.values().filter(|new| new.device.is_some());
            let beside = beside.filter(|new| new.device == standing(&old.device));
            let to: BTreeSet<&Subject> = beside.filter_map(|new| new.mount.as_ref()).collect();
            if let [to] = to
                .into_iter()
                .filter(|mount| is_new(mount))
                .collect::<Vec<_>>()
                .as_slice()
            {
                moves.insert((from.clone(), (*to).clone()));
            }
        }
        let mut taken: BTreeSet<Subject> = self.0.values().cloned().collect();
        for (from, to) in moves {
            for old in then
                .iter()
                .copied()
                .filter(|subject| is_named_by_path(subject) && is_gone(subject))
            {
                let Some(rest) = old.name().strip_prefix(from.name()) else {
                    continue;
                };
                let new = old.with_name(&format!("{}{rest}", to.name()));
                let below = rest.is_empty() || rest.starts_with('/');
                if below && there.contains(&new) && is_new(&new) && taken.insert(new.clone()) {
                    self.0.insert(old.clone(), new);
                }
            }
        }
        if before.origin.asked.is_some() || now.origin.asked.is_some() {
            return;
        }
        let place = |kept: &ReportSnapshot, target: &Subject| {
            let target = kept.targets.get(target)?;
            Some((target.mount.clone()?, target.device.clone()?))
        };
        let old: Vec<Subject> = before
            .targets
            .keys()
            .filter(|t| is_gone(t) && self.current_name(t) == **t)
            .cloned()
            .collect();
        let new: Vec<Subject> = now
            .targets
            .keys()
            .filter(|t| is_new(t) && !taken.contains(t))
            .cloned()
            .collect();
        let old_place = |t: &Subject| {
            place(before, t)
                .map(|(mount, device)| (self.current_name(&mount), self.current_name(&device)))
        };
        let mut directories = Vec::new();
        for target in &old {
            let Some(at) = old_place(target) else {
                continue;
            };
            let gone = old
                .iter()
                .filter(|t| old_place(t).as_ref() == Some(&at))
                .count();
            let there: Vec<&Subject> = new
                .iter()
                .filter(|t| place(now, t).as_ref() == Some(&at))
                .collect();
            if let ([one], 1) = (there.as_slice(), gone) {
                directories.push((target.clone(), (*one).clone()));
            }
        }
        self.0.extend(directories);
    }
}

fn is_named_by_path(subject: &Subject) -> bool {
    matches!(
        subject.scope(),
        Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target
    )
}

/// Pairs the devices of two reports. `old` and `new` hold the devices without a pair.
struct DeviceMatcher<'k> {
    before: &'k ReportSnapshot,
    now: &'k ReportSnapshot,
    old: BTreeSet<&'k Subject>,
    new: BTreeSet<&'k Subject>,
    matched: BTreeMap<Subject, Subject>,
}

impl<'k> DeviceMatcher<'k> {
    fn new(before: &'k ReportSnapshot, now: &'k ReportSnapshot) -> Self {
        let devices = |kept: &'k ReportSnapshot| {
            kept.subjects_with_facts()
                .filter(|s| s.scope() == Scope::Device)
                .collect()
        };
        Self {
            before,
            now,
            old: devices(before),
            new: devices(now),
            matched: BTreeMap::new(),
        }
    }

    fn record_pair(&mut self, old: &'k Subject, new: &'k Subject) {
        self.old.remove(old);
        self.new.remove(new);
        self.matched.insert(old.clone(), new.clone());
    }

    /// Pairs devices with equal identity. Several devices have one identity if they are paths to
    /// one disk, or share a serial number. Devices with an unchanged name then keep it, and the
    /// others are paired in the order of their names.
    fn pair_by_identity(&mut self) {
        for info in catalog::all_keys().filter(|info| info.nature == FactStability::Identity) {
            let by_value = |kept: &'k ReportSnapshot, devices: &BTreeSet<&'k Subject>| {
                let mut groups: BTreeMap<&'k DisplayedValue, Vec<&'k Subject>> = BTreeMap::new();
                for device in devices {
                    let value = kept
                        .known_value(device, info.name)
                        .filter(|value| !value.displayed_text().is_empty());
                    if let Some(value) = value {
                        groups.entry(value).or_default().push(device);
                    }
                }
                groups
            };
            let mut there = by_value(self.now, &self.new);
            for (value, old) in by_value(self.before, &self.old) {
                let new = there.remove(value).unwrap_or_default();
                let (stay, go): (Vec<_>, Vec<_>) =
                    old.into_iter().partition(|device| new.contains(device));
                let free: Vec<_> = new
                    .into_iter()
                    .filter(|device| !stay.contains(device))
                    .collect();
                let stay = stay.into_iter().map(|device| (device, device));
                for (old, new) in stay.chain(go.into_iter().zip(free)) {
                    self.record_pair(old, new);
                }
            }
        }
    }

    fn pair_partitions(&mut self) {
        let is_partition = |kept: &ReportSnapshot, device: &Subject| {
            let kind = kept
                .known_value(device, device::KIND.name())
                .and_then(|kind| DeviceKind::from_word(&kind.displayed_text()));
            kind.is_some_and(DeviceKind::is_partition)
        };
        let old: Vec<&Subject> = self
            .old
            .iter()
            .copied()
            .filter(|d| is_partition(self.before, d))
            .collect();
        for device in old {
            let Some((disk, number)) = split_partition_name(device.name()) else {
                continue;
            };
            let Some(disk) = self.matched.get(&Subject::device(disk)) else {
                continue;
            };
            // The kernel puts a `p` after a disk name that ends in a digit: nvme0n1p2.
            let p = if disk.name().ends_with(|c: char| c.is_ascii_digit()) {
                "p"
            } else {
                ""
            };
            let wanted = Subject::device(format!("{}{p}{number}", disk.name()));
            if let Some(new) = self.new.get(&wanted).copied() {
                self.record_pair(device, new);
            }
        }
    }

    fn into_renames(self) -> BTreeMap<Subject, Subject> {
        self.matched
            .into_iter()
            .filter(|(old, new)| old != new)
            .collect()
    }
}

fn split_partition_name(name: &str) -> Option<(&str, &str)> {
    let disk = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name
        .strip_prefix(disk)
        .filter(|number| !number.is_empty())?;
    match disk.strip_suffix('p') {
        Some(before) if before.ends_with(|c: char| c.is_ascii_digit()) => Some((before, number)),
        _ => Some((disk, number)),
    }
}
