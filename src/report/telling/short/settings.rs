//! Keep or change, for the four settings that everybody asks about: file system, mount options, the way in which the log is
//! flushed, and how large it may be. Each has an answer, also where it cannot be told today.

use super::labelled;
use crate::facts::catalog::target::{FLUSH, Flush};
use crate::facts::catalog::{mount, mysql, postgres};
use crate::facts::{Area, KeyInfo, Scope, Subject};
use crate::report::telling::section::Bullet;
use crate::report::telling::words;
use crate::report::{Report, Step, TargetSummary, options, stack};
use crate::settings::Setting;

pub fn lines(report: &Report, target: &TargetSummary) -> Vec<Bullet> {
    let mounted = report.facts.resolve(&target.target, Scope::Mount);
    let in_force = mounted.as_ref().and_then(|mounted| stack::in_force(&report.facts, mounted));
    let in_force = in_force
        .map(|words| stack::layered(options::tidy(&words)).join(","))
        .filter(|words| !words.is_empty());
    let files = Some(file_system(report, target)).filter(|name| !name.is_empty());
    let (method, wal): (&[&KeyInfo], &[&KeyInfo]) = match server(report, target) {
        Some((Area::Mysql, _)) => (
            &[&mysql::FLUSH_METHOD.info, &mysql::FLUSH_LOG.info],
            &[&mysql::REDO_CAPACITY.info, &mysql::LOG_FILE_SIZE.info],
        ),
        Some((Area::Pg, _)) | None => (&[&postgres::WAL_SYNC_METHOD.info], &[&postgres::MAX_WAL_SIZE.info]),
    };
    let of_server = |facts: &[&KeyInfo]| {
        let current = |setting: &Setting| setting.current.map(|fact| fact.id);
        let ids: Vec<_> = facts.iter().map(|fact| fact.id).collect();
        steps(report, target, |setting| current(setting).is_some_and(|id| ids.contains(&id)))
    };
    let mut on_method = of_server(method);
    if is_unflushed(report, target) {
        // What was measured without flushes tells nothing about the methods.
        on_method.retain(|step| !step.keeps());
    }
    vec![
        answer(
            "files",
            &steps(report, target, |setting| setting.kind.is_filesystem() || setting.kind.is_placement()),
            files.map(|name| format!("keep {name}")),
        ),
        answer(
            "mount",
            &steps(report, target, |setting| setting.kind.mount().is_some()),
            in_force.map(|words| format!("keep {words}")),
        ),
        answer("method", &on_method, Some(without_advice(report, target, method, true))),
        answer("wal", &of_server(wal), Some(without_advice(report, target, wal, false))),
    ]
}

/// The type of the file system; empty where there is none yet.
pub fn file_system(report: &Report, target: &TargetSummary) -> String {
    let mounted = report.facts.resolve(&target.target, Scope::Mount);
    mounted.and_then(|mounted| report.facts.value(&mounted, &mount::FSTYPE)).unwrap_or_default()
}

fn steps<'a>(report: &'a Report, target: &TargetSummary, of: impl Fn(&Setting) -> bool) -> Vec<&'a Step> {
    let plan = report.plan(&target.target).into_iter();
    plan.flat_map(|plan| &plan.steps).filter(|step| of(step.advice.setting)).collect()
}

/// Whether no flush reaches the disks.
fn is_unflushed(report: &Report, target: &TargetSummary) -> bool {
    report.facts.value(&target.target, &FLUSH).is_some_and(Flush::is_suppressed)
}

/// The server on a target with its kind.
fn server<'a>(report: &Report, target: &'a TargetSummary) -> Option<(Area, &'a Subject)> {
    let cluster = target.cluster.as_ref()?;
    Some((report.facts.area_of(cluster).unwrap_or(Area::Pg), cluster))
}

/// What the plan says, the changes before what stays; else what is said without advice.
fn answer(label: &'static str, steps: &[&Step], otherwise: Option<String>) -> Bullet {
    let (keep, change): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| step.keeps());
    let all = |steps: &[&Step], one: fn(&Step) -> String| {
        steps.iter().map(|step| one(step)).collect::<Vec<_>>().join("; ")
    };
    let says = match (change.as_slice(), keep.as_slice()) {
        ([], []) => otherwise.unwrap_or_else(|| "cannot be told today: not known".to_owned()),
        ([], keep) => all(keep, kept),
        (change, _) => format!("change {}", all(change, changed)),
    };
    labelled(label, says)
}

/// The name of a server's setting; the labels in front name the others.
fn name(step: &Step) -> Option<&str> {
    let setting = step.advice.setting;
    setting.kind.area().and(setting.name.split_once('.')).map(|(_, name)| name)
}

fn kept(step: &Step) -> String {
    let value = step.advice.current.value().map(|now| step.advice.setting.written(now));
    let reason = step.title.trim_end_matches('.');
    match (name(step), value) {
        // The rule's title names them again.
        (Some(name), Some(value)) => format!("keep {name} = {value}"),
        // It says what stays.
        (Some(_), None) => reason.to_owned(),
        // That a file system may stay needs no reason.
        (None, Some(value)) if step.advice.setting.kind.is_filesystem() => format!("keep {value}"),
        (None, Some(value)) => format!("keep {value}: {reason}"),
        (None, None) => format!("keep {reason}"),
    }
}

fn changed(step: &Step) -> String {
    let change = words::change(step);
    match name(step) {
        Some(name) => format!("{name} {change}"),
        None if step.advice.current.is_known() => format!("{change} on {}", words::subject(&step.subject)),
        None => change,
    }
}

/// What there is to say of a server's setting that no rule gives advice about.
fn without_advice(report: &Report, target: &TargetSummary, facts: &[&KeyInfo], is_measured: bool) -> String {
    let cannot = |why: &str| format!("cannot be told today: {why}");
    let of_server = server(report, target);
    let known = of_server.iter().flat_map(|(_, cluster)| {
        facts.iter().filter_map(|fact| {
            let value = report.facts.reading(cluster, fact.id).value()?;
            let name = fact.name.split_once('.').map_or(fact.name, |(_, name)| name);
            Some(format!("{name} = {}", fact.show(value)))
        })
    });
    let in_force = known.collect::<Vec<_>>().join(", ");
    let tail = if in_force.is_empty() { String::new() } else { format!("; in force: {in_force}") };
    if target.kind.is_device() {
        return cannot("undecided until mounted");
    }
    if is_measured {
        if is_unflushed(report, target) {
            return cannot("no flush reaches the disk") + &tail;
        }
        let Some(probe) = report.probes.iter().find(|probe| probe.target == target.target) else {
            return cannot("not measured") + &tail;
        };
        if of_server.is_none() {
            let best = probe.measurement.best.name();
            return format!("{best}, by this measurement alone; no server is here yet");
        }
    }
    if of_server.is_none() {
        return cannot("no server is here yet");
    }
    if in_force.is_empty() {
        cannot("the value in force is not known")
    } else {
        format!("no rule advises here{tail}")
    }
}
