//! The price of a commit now and before, and the changed facts that may explain it.
//!
//! Only rows that both reports measured are compared. A cause is *likely* at best: a report shows that something
//! changed and that the price moved, never that the one caused the other. Without a significant shift of the price no
//! cause is sought.

use std::collections::BTreeSet;

use super::kept::{Kept, KeptProbe, KeptRow};
use crate::facts::catalog::postgres::{self, WalSyncMethod};
use crate::facts::{Choice, Nature, Scope, Subject, catalog};
use crate::measure::{Method, shift};
use crate::report::model::difference::{Cause, FactChange, ProbeShift, RowShift};

/// The shift of the price on every target that both reports measured.
pub fn shifts(before: &Kept, now: &Kept, changes: &[FactChange]) -> Vec<ProbeShift> {
    let both = now.probes.iter().filter_map(|(target, new)| Some((target, before.probes.get(target)?, new)));
    let alike = both.filter(|(_, old, new)| old.log.is_like(new.log));
    alike.map(|(target, old, new)| of_target(now, target, old, new, changes)).collect()
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
        method: new.log.in_force.or_else(|| main_method(now, target, &rows)),
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
