//! Matches subjects between two reports after the kernel has assigned other names, or a file system
//! was mounted elsewhere.
//!
//! A device is recognised by the facts that the catalogue marks as its identity. Partitions without
//! such facts follow their disk. The earlier owner of a reused name is called *former NAME*.

use std::collections::{BTreeMap, BTreeSet};

use super::{ReportSnapshot, TargetSnapshot};
use crate::model::difference::{DisplayedValue, FactState};
use walwise_model::facts::catalog::device::{self, DeviceKind};
use walwise_model::facts::{Choice, FactStability, Scope, Subject, catalog};

/// Maps names in the earlier report to present names, or to `former NAME`.
pub struct Renames(BTreeMap<Subject, Subject>);

impl Renames {
    pub fn detect(before: &ReportSnapshot, now: &ReportSnapshot) -> Self {
        let mut matching = DeviceMatcher::new(before, now);
        matching.pair_by_identity();
        matching.pair_partitions();
        matching.matched.retain(|old, new| old != new);
        let mut names = Self(matching.matched);
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
            self.rename_subjects_in_values(row);
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
        kept.findings = kept
            .findings
            .into_iter()
            .map(|((rule, of), finding)| ((rule, self.current_name(&of)), finding))
            .collect();
        kept
    }

    fn rename_keys<V>(&self, values: BTreeMap<Subject, V>) -> BTreeMap<Subject, V> {
        values
            .into_iter()
            .map(|(subject, value)| (self.current_name(&subject), value))
            .collect()
    }

    fn rename_subjects_in_values(&self, facts: &mut BTreeMap<&'static str, FactState>) {
        for (name, fact) in facts {
            let holds_names = catalog::find_by_name(name)
                .is_some_and(|info| info.nature == FactStability::Assigned);
            match fact {
                FactState::Known { value } if holds_names => {
                    let texts = match value {
                        DisplayedValue::Text(text) => std::slice::from_mut(text),
                        DisplayedValue::Words(words) => words,
                    };
                    for text in texts {
                        *text = self.rename_subjects_in_text(text);
                    }
                }
                FactState::Known { .. } | FactState::Unknown { .. } => {}
            }
        }
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
        let mut moves = BTreeSet::new();
        for old in before.targets.values() {
            let (Some(from), Some(device)) = (&old.mount, &old.device) else {
                continue;
            };
            let device = Some(self.current_name(device));
            let beside = now.targets.values().filter(|new| new.device == device);
            let mounts = beside.filter_map(|new| new.mount.as_ref());
            let to: BTreeSet<&Subject> = mounts.filter(|mount| is_new(mount)).collect();
            if let [to] = Vec::from_iter(to)[..]
                && is_gone(from)
            {
                moves.insert((from.clone(), to.clone()));
            }
        }
        let mut taken: BTreeSet<Subject> = self.0.values().cloned().collect();
        for (from, to) in moves {
            let is_named_by_path = |subject: &&Subject| {
                matches!(
                    subject.scope(),
                    Scope::Mount | Scope::Boot | Scope::Cluster | Scope::Target
                )
            };
            let gone = then.iter().copied().filter(|subject| is_gone(subject));
            for old in gone.filter(is_named_by_path) {
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
        let place = |target: &TargetSnapshot| target.mount.clone().zip(target.device.clone());
        // The targets without a pair, lost and gained, by mount and device.
        let mut unpaired: BTreeMap<_, (Vec<&Subject>, Vec<&Subject>)> = BTreeMap::new();
        for (old, target) in &before.targets {
            if let Some((mount, device)) = place(target)
                && is_gone(old)
                && self.current_name(old) == *old
            {
                let at = (self.current_name(&mount), self.current_name(&device));
                unpaired.entry(at).or_default().0.push(old);
            }
        }
        for (new, target) in &now.targets {
            if let Some(at) = place(target)
                && is_new(new)
                && !taken.contains(new)
            {
                unpaired.entry(at).or_default().1.push(new);
            }
        }
        for (lost, gained) in unpaired.into_values() {
            if let ([old], [new]) = (&*lost, &*gained) {
                self.0.insert((*old).clone(), (*new).clone());
            }
        }
    }
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
            kept.known_value(device, device::KIND.name())
                .and_then(|kind| DeviceKind::from_word(&kind.displayed_text()))
                .is_some_and(DeviceKind::is_partition)
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
