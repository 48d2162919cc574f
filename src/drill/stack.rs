//! The object of a drill: the host, its kernel, and the stack below the directory, fact by fact, at the time of the
//! power cut.
//!
//! A drill counts only for the same stack. The catalog marks its facts: those that identify a thing, and those that
//! affect the price of a commit. The kernel's device names are left out. Disks are counted from the top instead, so a
//! disk that comes back as sdb is still the same.

use std::collections::BTreeMap;
use std::fmt;

use crate::facts::catalog::{host, kernel};
use crate::facts::{FactSet, KeyInfo, Nature, Scope, Subject, catalog};

const MARK: &str = "stack ";

/// The facts, each as `device 2 device.firmware=GXM1003Q`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackFingerprint(BTreeMap<String, String>);

impl StackFingerprint {
    /// The stack below a target.
    pub fn from_facts(facts: &FactSet, target: &Subject) -> Self {
        let mut stack = Self::default();
        let machine = Subject::host();
        let of_host = [
            host::NAME.name(),
            host::VIRTUALISATION.name(),
            kernel::RELEASE.name(),
            kernel::ZFS_NO_FLUSH.name(),
        ];
        for name in of_host {
            stack.add(facts, &machine, "host", name);
        }
        let mut counts: BTreeMap<Scope, usize> = BTreeMap::new();
        for subject in std::iter::once(target.clone()).chain(facts.stack(target)) {
            let nth = counts.entry(subject.scope()).or_default();
            *nth += 1;
            let place = format!("{} {nth}", subject.scope());
            for info in catalog::all().filter(|info| info.scope == subject.scope() && tells(info)) {
                stack.add(facts, &subject, &place, info.name);
            }
        }
        stack
    }

    fn add(&mut self, facts: &FactSet, subject: &Subject, place: &str, name: &str) {
        let reading = facts.named(subject, name);
        let (Some(value), Some(source)) = (reading.value(), reading.source()) else { return };
        // An assumed value was never observed.
        let typed = if source.is_evidence() { "" } else { " (assumed)" };
        self.0.insert(format!("{place} {name}"), format!("{value}{typed}"));
    }

    /// Whether nothing about it is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a line as [`Self`] displays it; returns whether it was one.
    pub fn take(&mut self, line: &str) -> bool {
        let Some((name, value)) = line.strip_prefix(MARK).and_then(|rest| rest.split_once('=')) else {
            return false;
        };
        self.0.insert(name.to_owned(), value.trim_end().to_owned());
        true
    }

    /// The difference now, in a fragment such as `device 1 device.firmware was 1.2 and is 1.3`; `None` without one.
    pub fn changed(&self, now: &Self) -> Option<String> {
        let names = self.0.keys().chain(now.0.keys());
        let differs = names.into_iter().find(|name| self.0.get(*name) != now.0.get(*name))?;
        let value = |of: &Self| of.0.get(differs).map_or("not known", String::as_str).to_owned();
        Some(format!("{differs} was {} and is {}", value(self), value(now)))
    }
}

impl fmt::Display for StackFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, value)| writeln!(f, "{MARK}{name}={value}"))
    }
}

/// Whether a fact distinguishes one stack from another.
fn tells(info: &KeyInfo) -> bool {
    let steady =
        !matches!(info.nature, Nature::Assigned | Nature::Drifting | Nature::Measured | Nature::Concluded);
    info.nature == Nature::Identity || (info.prices && steady)
}
