//! The price of a commit now and before, and the changed facts that may explain it.
//!
//! Only rows that both reports measured are compared. A cause is *likely* at best: a report shows that something
//! changed and that the price moved, never that the one caused the other. Without a significant shift of the price no
//! cause is sought.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::FactChange;
use super::kept::{Kept, KeptProbe, KeptRow};
use crate::facts::catalog::postgres::{self, WalSyncMethod};
use crate::facts::{Choice, Nature, Scope, Subject, catalog};
use crate::measure::{Estimate, Method, Moved, Shift, shift};

/// How the price of a commit moved on one target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProbeShift {
    /// The target.
    pub target: Subject,
    /// When it was measured before, RFC 3339.
    pub before: String,
    /// In which directory it was measured before.
    pub directory_before: String,
    /// In which directory it was measured now.
    pub directory_now: String,
    /// The method whose price the sentence is about: the one in force, or the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Every row that both measured.
    pub rows: Vec<RowShift>,
    /// What speaks against comparing the figures; they are then not judged.
    pub doubts: Vec<String>,
    /// Changed facts of the host, or of what is beneath the target, that can move the price; only where it moved.
    pub likely_causes: Vec<Cause>,
}

/// A changed fact that can move the price of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cause {
    /// What it is about.
    pub subject: Subject,
    /// Its name.
    pub fact: &'static str,
}

/// One method with one write size, before and now. Times are microseconds per commit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowShift {
    /// The method.
    pub method: Method,
    /// 8 kB pages written at once per commit.
    pub pages: u32,
    /// Whether a server would do it like that.
    pub as_server: bool,
    /// Median before.
    pub before_us: Estimate,
    /// Median now.
    pub now_us: Estimate,
    /// How it moved; absent when there were too few rounds to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
}

impl ProbeShift {
    /// The row that the sentence is about.
    pub fn main(&self) -> Option<&RowShift> {
        self.rows.iter().find(|row| Some(row.method) == self.method && row.pages == 1)
    }

    /// The shift of the price; `None` where it is unknown.
    pub fn moved(&self) -> Option<Moved> {
        let shift = self.main()?.shift.as_ref()?;
        self.doubts.is_empty().then_some(shift.moved)
    }

    /// Whether the price moved significantly.
    pub fn has_moved(&self) -> bool {
        self.moved().is_some_and(|moved| moved != Moved::Not)
    }
}

/// The shift of the price on every target that both reports measured.
pub fn shifts(before: &Kept, now: &Kept, changes: &[FactChange]) -> Vec<ProbeShift> {
    let both = now.probes.iter().filter_map(|(target, new)| Some((target, before.probes.get(target)?, new)));
    both.map(|(target, old, new)| of_target(now, target, old, new, changes)).collect()
}

fn of_target(
    now: &Kept,
    target: &Subject,
    old: &KeptProbe,
    new: &KeptProbe,
    changes: &[FactChange],
) -> ProbeShift {
    let pairs = new.rows.iter().filter_map(|(which, row)| Some((which, old.rows.get(which)?, row)));
    let rows: Vec<RowShift> =
        pairs.map(|((method, pages), old, new)| row(*method, *pages, old, new)).collect();
    let mut probe = ProbeShift {
        target: target.clone(),
        before: old.when.clone(),
        directory_before: old.directory.clone(),
        directory_now: new.directory.clone(),
        method: main_method(now, target, &rows),
        rows,
        doubts: doubts(old, new),
        likely_causes: Vec::new(),
    };
    if probe.has_moved() {
        probe.likely_causes = causes(now, target, changes);
    }
    probe
}

fn row(method: Method, pages: u32, old: &KeptRow, new: &KeptRow) -> RowShift {
    RowShift {
        method,
        pages,
        as_server: new.as_server,
        before_us: old.median_us,
        now_us: new.median_us,
        shift: shift(&old.rounds_us, &new.rounds_us),
    }
}

/// Why figures are not judged.
fn doubts(old: &KeptProbe, new: &KeptProbe) -> Vec<String> {
    let said = |when: &str, says: &String| format!("{when}: {}", says.trim_end_matches('.'));
    let before = old.doubts.iter().map(|says| said("before", says));
    before.chain(new.doubts.iter().map(|says| said("now", says))).collect()
}

/// The method in force where it was measured, else the default.
fn main_method(now: &Kept, target: &Subject, rows: &[RowShift]) -> Option<Method> {
    let of_server = || rows.iter().filter(|row| row.as_server && row.pages == 1 && row.method.is_durable());
    let in_force = subjects(now, target)
        .into_iter()
        .filter(|subject| subject.scope() == Scope::Cluster)
        .find_map(|cluster| now.value(cluster, postgres::WAL_SYNC_METHOD.name()))
        .and_then(|shown| WalSyncMethod::from_word(&shown.text()));
    let named = of_server().find(|row| in_force.is_some() && row.method.server_method() == in_force);
    let is_default = |row: &&RowShift| row.method.server_method().is_some_and(WalSyncMethod::is_fdatasync);
    let default = || of_server().find(is_default);
    named.or_else(default).or_else(|| of_server().next()).map(|row| row.method)
}

/// The subjects that concern a target, and the host.
fn subjects<'k>(kept: &'k Kept, target: &Subject) -> BTreeSet<&'k Subject> {
    let own = kept.targets.get(target).into_iter().flat_map(|target| &target.subjects);
    own.chain(kept.subjects().filter(|subject| subject.scope() == Scope::Host)).collect()
}

/// Changed facts that can move the price. Derived facts are represented by those they follow from.
fn causes(now: &Kept, target: &Subject, changes: &[FactChange]) -> Vec<Cause> {
    let concerned = subjects(now, target);
    let can = |change: &&FactChange| {
        let prices = catalog::find(change.fact).is_some_and(|info| info.prices);
        prices
            && change.nature != Nature::Concluded
            && change.values().is_some()
            && concerned.contains(&change.subject)
    };
    let cause = |change: &FactChange| Cause { subject: change.subject.clone(), fact: change.fact };
    changes.iter().filter(can).map(cause).collect()
}
