//! Facts that are read from the same thing as an assumed one, and so change with it.
//!
//! Conclusions from facts are made anew by the collectors. This module covers facts that are read elsewhere: other
//! mounts of a superblock, the kernel's own files about it, the view that driver and queue have of a disk's cache. The
//! assumption itself can be extended, because ext4 prints further words with some options.

use super::assumption::Assumption;
use super::ext4::{self, MountOptionLists};
use crate::facts::catalog::controller::{self, Battery, OnFailure, Policy, WriteMode as Writes};
use crate::facts::catalog::device::{self, CacheType, DriveCache, WriteCache};
use crate::facts::catalog::{boot, kernel, mount, mysql};
use crate::facts::{FactSet, FactValue, Key, KeyInfo, Propagation, Scope, Source, Subject, Supposing, Value};

const COMMAND_LINE: &str = "/proc/cmdline";

/// All assumptions, and the consequences that collectors do not conclude. An assumption that cannot be carried is left
/// unchanged; see [`super::refuse`].
pub fn expanded(all: &[Assumption], real: &FactSet) -> Vec<Assumption> {
    let mut found = all.to_vec();
    for one in all.iter().filter(|one| real.reading(&one.subject, one.key.id).value() != Some(&one.value)) {
        let Supposing::Carries(cause) = one.key.supposing else { continue };
        for new in follows(cause, one, all, real).unwrap_or_default() {
            let is_same = |old: &Assumption| old.subject == new.subject && old.key.name == new.key.name;
            match found.iter_mut().find(|old| is_same(old)) {
                Some(old) if is_same(one) => *old = new,
                // An explicit statement takes precedence.
                Some(_) => {}
                None => found.push(new),
            }
        }
    }
    found
}

/// The consequences of one of them; the error says what would have to be assumed too.
pub fn follows(
    cause: Propagation,
    one: &Assumption,
    all: &[Assumption],
    real: &FactSet,
) -> Result<Vec<Assumption>, String> {
    let of = AssumptionContext { one, all, real };
    match cause {
        Propagation::Collected => Ok(Vec::new()),
        Propagation::Mount => of.mount(),
        Propagation::Superblock => of.superblock(),
        Propagation::Line => Ok(of.line()),
        Propagation::RootFlags => of.root_flags(),
        Propagation::DiskCache => of.disk_cache(),
        Propagation::Battery => of.battery(),
        Propagation::Scheduler => of.scheduler(),
        Propagation::Release => of.release(),
    }
}

/// One assumption among others about a machine.
struct AssumptionContext<'a> {
    one: &'a Assumption,
    all: &'a [Assumption],
    real: &'a FactSet,
}

impl AssumptionContext<'_> {
    fn is_assumed(&self, key: &KeyInfo) -> bool {
        self.all.iter().any(|one| one.subject == self.one.subject && one.key.name == key.name)
    }

    fn here(&self, key: &'static KeyInfo, value: impl FactValue) -> Assumption {
        Assumption { subject: self.one.subject.clone(), key, value: value.into_value() }
    }

    fn words(&self) -> Vec<String> {
        Vec::from_value(&self.one.value).unwrap_or_default()
    }

    /// `mount -o remount,bind,ro` makes one mount read-only, `mount -o remount,ro` the file system too.
    fn mount(&self) -> Result<Vec<Assumption>, String> {
        let now = self.real.value(&self.one.subject, &mount::OPTIONS).unwrap_or_default();
        if is_read_only(&now) == is_read_only(&self.words()) || self.is_assumed(&mount::SUPER_OPTIONS.info) {
            return Ok(Vec::new());
        }
        Err(format!(
            "whether the file system is read-only too is told by {0}: assume {0} with it",
            mount::SUPER_OPTIONS.name()
        ))
    }

    fn superblock(&self) -> Result<Vec<Assumption>, String> {
        let (real, subject) = (self.real, &self.one.subject);
        let mut words = self.words();
        let Some(now) = real.value(subject, &mount::SUPER_OPTIONS) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let others = self.other_mounts();
        if let Some(options) = real.value(subject, &mount::OPTIONS)
            && is_read_only(&now) != is_read_only(&words)
        {
            found.push(self.here(&mount::OPTIONS.info, with_access_of(&options, &words)));
        }
        let stays_ext4 = !self.is_assumed(&mount::FSTYPE.info) && !self.is_assumed(&mount::EXT4_OPTIONS.info);
        if let Some(listed) = real.value(subject, &mount::EXT4_OPTIONS)
            && stays_ext4
        {
            let MountOptionLists { listed, printed } = ext4::in_force(&listed, &now, &words)?;
            let features = self.features(is_read_only(&words))?;
            for mount in others.iter().chain([subject]) {
                let (key, value) = (&mount::EXT4_OPTIONS.info, listed.clone().into_value());
                found.push(Assumption { subject: mount.clone(), key, value });
                let key = &mount::EXT4_FEATURES.info;
                let new = features.clone().map(FactValue::into_value);
                found.extend(new.map(|value| Assumption { subject: mount.clone(), key, value }));
            }
            found.push(self.here(&mount::SUPER_OPTIONS.info, printed.clone()));
            words = printed;
        }
        for other in others {
            // Each mount of a btrfs prints the subvolume that it shows.
            let own = real.value(&other, &mount::SUPER_OPTIONS).unwrap_or_default();
            let is_of_mount = |word: &&String| word.starts_with("subvol");
            let shared = words.iter().filter(|word| !is_of_mount(word));
            let value: Vec<String> = shared.chain(own.iter().filter(is_of_mount)).cloned().collect();
            let key = &mount::SUPER_OPTIONS.info;
            found.push(Assumption { subject: other, key, value: value.into_value() });
        }
        Ok(found)
    }

    /// An ext4 that has a journal has one more feature while it is mounted read-write (`ext4_mark_recovery_complete` in
    /// fs/ext4/super.c). `None` where that does not change.
    fn features(&self, is_read_only: bool) -> Result<Option<Vec<String>>, String> {
        const WRITTEN: &str = "needs_recovery";
        const BEFORE_IT: &str = "filetype";
        let key = &mount::EXT4_FEATURES;
        let Some(mut features) = self.real.value(&self.one.subject, key) else { return Ok(None) };
        let has = |features: &[String], word: &str| features.iter().position(|feature| feature == word);
        if has(&features, "has_journal").is_none() || self.is_assumed(&key.info) {
            return Ok(None);
        }
        match (is_read_only, has(&features, WRITTEN), has(&features, BEFORE_IT)) {
            (true, Some(place), _) => drop(features.remove(place)),
            (false, None, Some(place)) => features.insert(place.saturating_add(1), WRITTEN.to_owned()),
            (false, None, None) => return Err(format!("it would have {WRITTEN}: assume {} too", key.name())),
            (true, None, _) | (false, Some(_), _) => return Ok(None),
        }
        Ok(Some(features))
    }

    /// Other mounts of the same superblock.
    fn other_mounts(&self) -> Vec<Subject> {
        let Some(number) = self.real.value(&self.one.subject, &mount::DEVNO) else { return Vec::new() };
        let mut all = self.real.which(&mount::DEVNO, |other| *other == number);
        all.retain(|other| *other != self.one.subject);
        all
    }

    fn line(&self) -> Vec<Assumption> {
        let key = &kernel::ROOT_FLAGS.info;
        let on_command_line = is_of_command_line(self.real, &self.one.subject);
        let flags = |value: &Value| Assumption { subject: Subject::host(), key, value: value.clone() };
        on_command_line.then(|| flags(&self.one.value)).into_iter().collect()
    }

    fn root_flags(&self) -> Result<Vec<Assumption>, String> {
        let mut lines = self.real.subjects(Scope::Boot);
        let line = lines.find(|line| is_of_command_line(self.real, line));
        let key = &boot::OPTIONS.info;
        let options =
            |line: &Subject| Assumption { subject: line.clone(), key, value: self.one.value.clone() };
        match line {
            Some(line) => Ok(vec![options(line)]),
            None => Err(format!("no line of the next boot has flags of it yet: assume {}", key.name)),
        }
    }

    /// Disk, driver and queue that agree now will still agree: the driver queries the disk again when its cache is
    /// switched, and updates the queue (sd_revalidate_disk). NVMe disks are queried once, and have no statement of a
    /// driver.
    fn disk_cache(&self) -> Result<Vec<Assumption>, String> {
        let (real, disk) = (self.real, &self.one.subject);
        let drive = real.value(disk, &device::DRIVE_CACHE);
        let queue = real.value(disk, &device::WRITE_CACHE);
        let Some(told) = real.value(disk, &device::CACHE_TYPE) else { return Ok(Vec::new()) };
        let is_on = DriveCache::from_value(&self.one.value)
            .filter(|_| self.one.key.name == device::DRIVE_CACHE.name())
            .map(DriveCache::is_on)
            .or_else(|| CacheType::from_value(&self.one.value).map(CacheType::holds_writes));
        let Some(is_on) = is_on else { return Ok(Vec::new()) };
        let known =
            [drive.map(DriveCache::is_on), Some(told.holds_writes()), queue.map(WriteCache::is_write_back)];
        if known.iter().flatten().any(|other| *other != told.holds_writes()) {
            let keys = [&device::DRIVE_CACHE.info, &device::CACHE_TYPE.info, &device::WRITE_CACHE.info];
            let mut open = keys.into_iter().filter(|key| !self.is_assumed(key));
            return match open.next() {
                None => Ok(Vec::new()),
                Some(key) => Err(format!("disk, driver and queue do not agree now: assume {} too", key.name)),
            };
        }
        let mut found = Vec::new();
        if drive.is_some() {
            let word = if is_on { DriveCache::On } else { DriveCache::Off };
            found.push(self.here(&device::DRIVE_CACHE.info, word));
        }
        if self.one.key.name != device::CACHE_TYPE.name() {
            let word = if is_on { CacheType::WriteBack } else { CacheType::WriteThrough };
            found.push(self.here(&device::CACHE_TYPE.info, word));
        }
        if queue.is_some() {
            let word = if is_on { WriteCache::WriteBack } else { WriteCache::WriteThrough };
            found.push(self.here(&device::WRITE_CACHE.info, word));
        }
        Ok(found)
    }

    /// A controller writes by its policy, its battery, and its configured behaviour without one. Its volumes share the
    /// battery.
    fn battery(&self) -> Result<Vec<Assumption>, String> {
        let (real, disk) = (self.real, &self.one.subject);
        let mut found = Vec::new();
        let in_force = |disk: &Subject, writes: Option<Writes>| {
            let key = &controller::POLICY_IN_FORCE.info;
            writes.map(|w| Assumption { subject: disk.clone(), key, value: w.into_value() })
        };
        if self.one.key.name != controller::BATTERY.name() {
            let battery = self.supposed(disk, &controller::BATTERY);
            found.extend(in_force(disk, self.writes(disk, battery)?));
            return Ok(found);
        }
        let Some(battery) = Battery::from_value(&self.one.value) else { return Ok(found) };
        let answer = real.reading(disk, controller::BATTERY.id()).source();
        let model = real.value(disk, &controller::MODEL);
        for other in real.which(&controller::BATTERY, |_| true) {
            let same = real.reading(&other, controller::BATTERY.id()).source() == answer
                && real.value(&other, &controller::MODEL) == model;
            if same || other == *disk {
                found.extend(in_force(&other, self.writes(&other, Some(battery))?));
                let key = &controller::BATTERY.info;
                found.push(Assumption { subject: other, key, value: battery.into_value() });
            }
        }
        Ok(found)
    }

    /// The value of a fact: as assumed, or as it is.
    fn supposed<T: FactValue>(&self, of: &Subject, key: &Key<T>) -> Option<T> {
        self.said(of, key).or_else(|| self.real.value(of, key))
    }

    fn said<T: FactValue>(&self, of: &Subject, key: &Key<T>) -> Option<T> {
        let said = self.all.iter().find(|one| one.subject == *of && one.key.name == key.name())?;
        T::from_value(&said.value)
    }

    /// How a controller writes to a volume with such a battery; `None` where that was stated explicitly, or is unknown
    /// now too.
    fn writes(&self, disk: &Subject, battery: Option<Battery>) -> Result<Option<Writes>, String> {
        let key = &controller::POLICY_IN_FORCE;
        match (self.said(disk, key), self.told_to_write(disk, battery)) {
            (Some(said), Some(told)) if said != told => Err(format!(
                "with such a battery and policy the controller would {told}, and {} says {said}: assume {} or {} that fit",
                key.name(),
                controller::BATTERY.name(),
                controller::POLICY.name()
            )),
            (Some(_), Some(_) | None) => Ok(None),
            (None, _) if !self.real.reading(disk, key.id()).is_known() => Ok(None),
            (None, Some(told)) => Ok(Some(told)),
            (None, None) => Err(format!("what {} would be is not told: assume it too", key.name())),
        }
    }

    /// How it writes by its policy and battery; `None` where these do not tell.
    fn told_to_write(&self, disk: &Subject, battery: Option<Battery>) -> Option<Writes> {
        match self.supposed(disk, &controller::POLICY)? {
            Policy::WriteThrough => Some(Writes::WriteThrough),
            Policy::AlwaysWriteBack => Some(Writes::WriteBack),
            Policy::WriteBack => match battery? {
                Battery::Healthy => Some(Writes::WriteBack),
                Battery::Failed | Battery::Absent => {
                    Some(match self.supposed(disk, &controller::ON_BATTERY_FAILURE)? {
                        OnFailure::WriteThrough => Writes::WriteThrough,
                        OnFailure::Stays => Writes::WriteBack,
                    })
                }
                Battery::Charging | Battery::Learning | Battery::Degraded | Battery::Unreadable => None,
            },
        }
    }

    /// BFQ disables the throttling of writeback (wbt_disable_default in block/bfq-iosched.c).
    fn scheduler(&self) -> Result<Vec<Assumption>, String> {
        const BFQ: &str = "bfq";
        let latency = &device::WRITEBACK_LATENCY;
        let now = self.real.value(&self.one.subject, &device::SCHEDULER);
        let was = now.is_some_and(|now| now == BFQ);
        let is = String::from_value(&self.one.value).is_some_and(|then| then == BFQ);
        let is_known = self.real.reading(&self.one.subject, latency.id()).is_known();
        if was == is || !is_known || self.is_assumed(&latency.info) {
            return Ok(Vec::new());
        }
        Err(format!("{BFQ} turns throttling of writeback off and on: assume {} too", latency.name()))
    }

    /// Another minor release has the same settings and defaults.
    fn release(&self) -> Result<Vec<Assumption>, String> {
        let now = self.real.reading(&self.one.subject, self.one.key.id);
        let (Some(Value::Version(now)), Value::Version(then)) = (now.value(), &self.one.value) else {
            return Ok(Vec::new());
        };
        let is_mysql = self.one.key.name == mysql::VERSION.name();
        let of_two = is_mysql || now.number(0) < 10 || then.number(0) < 10;
        let same = now.number(0) == then.number(0) && (!of_two || now.number(1) == then.number(1));
        if same {
            return Ok(Vec::new());
        }
        Err("settings that nothing sets have other values in another release; assume those settings instead"
            .to_owned())
    }
}

fn is_read_only(options: &[String]) -> bool {
    options.iter().any(|word| word == "ro")
}

/// Options of a mount with the access (`rw` or `ro`) of these.
fn with_access_of(options: &[String], other: &[String]) -> Vec<String> {
    let word = if is_read_only(other) { "ro" } else { "rw" };
    let rest = options.iter().filter(|word| !["ro", "rw"].contains(&word.as_str()));
    [word.to_owned()].into_iter().chain(rest.cloned()).collect()
}

/// Whether a line of the next boot comes from the kernel command line.
fn is_of_command_line(facts: &FactSet, line: &Subject) -> bool {
    let source = facts.reading(line, boot::OPTIONS.id()).source();
    source.is_some_and(|source| *source == Source::file(COMMAND_LINE))
}
