//! A measurement as facts about its target, so that rules can ask for it like for anything else.

use super::compare::MEANINGFUL_PERCENT;
use super::summary::outcome;
use super::{Measurement, Method, MethodResult};
use crate::facts::catalog::probe;
use crate::facts::{FactSet, Reading, Source, Subject, Why};

/// Puts the `probe.*` facts of a target. `current_method` is the value of the server's setting in force, where there is a
/// server.
pub fn to_facts(found: &Measurement, target: &Subject, current_method: Option<&str>, facts: &mut FactSet) {
    let source = || Source::Probe { id: "commit".to_owned() };
    let known = |value| Reading::known(value, source());
    let missing = |what: &str| Reading::unknown(Why::Absent, what);
    let default = default_method(found);

    facts.know(target, &probe::DIRECTORY, found.directory.clone(), source());
    let in_force = current_method.and_then(|name| row_named(found, name)).or_else(|| row(found, default));
    let commit =
        in_force.map_or_else(|| missing("the probe measured no commit"), |r| known(r.median_us.value));
    facts.put(target, &probe::COMMIT, commit);

    if let Some(name) = found.best.server_name() {
        facts.know(target, &probe::BEST_METHOD, name.to_owned(), source());
    }
    let in_force_method = current_method.and_then(|name| method_named(found, name)).unwrap_or(default);
    let gain = gain_over(found, in_force_method, default);
    facts.know(target, &probe::GAIN_PERCENT, gain, source());
    let spoken_against = found.caveats.iter().any(|c| c.refuses_advice);
    let change = found.best != in_force_method && !spoken_against && gain >= MEANINGFUL_PERCENT;
    facts.know(target, &probe::ADVISES_CHANGE, change, source());
    facts.know(target, &probe::OUTCOME, outcome(found, default).word().to_owned(), source());

    let fdatasync = row(found, Method::Fdatasync);
    let flushes = fdatasync.and_then(|r| r.flushes_per_commit);
    let flushes = flushes.map_or_else(|| missing("the disks here count no flushes"), known);
    facts.put(target, &probe::FLUSHES_PER_COMMIT, flushes);

    let rate = row(found, default).map(|r| 1e6 / r.median_us.value);
    let rate = rate.map_or_else(|| missing("the probe measured no commit"), known);
    facts.put(target, &probe::COMMITS_PER_SECOND, rate);

    let both = row(found, Method::FdatasyncDirect).zip(row(found, Method::FloorDirect));
    let cost = both.map(|(flushed, floor)| flushed.median_us.value - floor.median_us.value);
    let cost =
        cost.map_or_else(|| Reading::unknown(Why::NotCollected, "the probe had no O_DIRECT rows"), known);
    facts.put(target, &probe::FLUSH_COST, cost);

    let implausible = found.caveats.iter().any(|c| c.id == "implausible-speed" || c.id == "free-flush");
    let implausible = if rate_known(found) {
        known_bool(implausible)
    } else {
        missing_bool("the probe measured no commit")
    };
    facts.put(target, &probe::IMPLAUSIBLE, implausible);
}

/// Lower bound of the gain of the best method over the one in force, in percent of the latter's time. Both were compared
/// with the default, so the bound takes the slow end of the one and the fast end of the other; 0 where one was not.
fn gain_over(found: &Measurement, in_force: Method, default: Method) -> f64 {
    let share = |method: Method| {
        if method == default {
            return Some((1.0, 1.0));
        }
        let c = found.comparisons.iter().find(|c| c.method == method)?;
        Some((1.0 - c.gain_percent.high / 100.0, 1.0 - c.gain_percent.low / 100.0))
    };
    match (share(found.best), share(in_force)) {
        _ if found.best == in_force => 0.0,
        (Some((_, slowest)), Some((fastest, _))) if fastest > 0.0 => 100.0 * (1.0 - slowest / fastest),
        _ => 0.0,
    }
}

fn method_named(found: &Measurement, name: &str) -> Option<Method> {
    let named = |r: &&MethodResult| r.as_server && r.method.server_name() == Some(name);
    found.methods.iter().find(named).map(|r| r.method)
}

fn known_bool(value: bool) -> Reading<bool> {
    Reading::known(value, Source::Probe { id: "commit".to_owned() })
}

fn missing_bool(what: &str) -> Reading<bool> {
    Reading::unknown(Why::Absent, what)
}

fn rate_known(found: &Measurement) -> bool {
    found.methods.iter().any(|r| r.method.is_durable() && r.samples > 0)
}

fn default_method(found: &Measurement) -> Method {
    let direct = found.methods.iter().any(|r| r.method == Method::FdatasyncDirect && r.as_server);
    if direct { Method::FdatasyncDirect } else { Method::Fdatasync }
}

fn row(found: &Measurement, method: Method) -> Option<&MethodResult> {
    let measured = |r: &&MethodResult| r.pages == 1 && r.samples > 0 && r.median_us.value > 0.0;
    found.methods.iter().filter(measured).find(|r| r.method == method)
}

fn row_named<'a>(found: &'a Measurement, name: &str) -> Option<&'a MethodResult> {
    let named = |r: &&MethodResult| r.as_server && r.method.server_name() == Some(name);
    found.methods.iter().filter(named).find_map(|r| row(found, r.method))
}
