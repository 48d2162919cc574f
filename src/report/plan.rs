//! Findings → one plan per target: no setting twice, in order of application, what to keep last.
//!
//! Advice is brought home to the subject that owns the setting (a target's rule may advise its mount), then what several
//! rules want is joined in [`join`]. Options never enter the steps: a plan is what is recommended, and an option is only
//! allowed. The surprise: what overrules what is decided by level before anything else, so that no preference wins over
//! data that may be lost.

mod join;

pub use join::as_written;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Conflict, Plan, Step, TargetSummary};
use crate::facts::{FactSet, Scope, Subject};
use crate::rules::{Advice, Change, Finding, Level, Outcome};

/// Rule → the rules it overrides.
pub type Overrides = BTreeMap<String, Vec<String>>;

/// Advice with the finding it comes from.
#[derive(Clone, Copy)]
struct Piece<'a> {
    finding: &'a Finding,
    advice: &'a Advice,
}

impl Piece<'_> {
    fn keeps(&self) -> bool {
        self.advice.change == Change::Keep
    }
}

/// The plan of one target; conflicts that are not in `conflicts` yet are added.
pub fn plan(
    facts: &FactSet,
    target: &TargetSummary,
    findings: &[Finding],
    overrides: &Overrides,
    conflicts: &mut Vec<Conflict>,
) -> Plan {
    let concerns = |f: &&Finding| f.outcome == Outcome::Applies && target.subjects.contains(&f.subject);
    let mut groups: BTreeMap<(Subject, &str), Vec<Piece<'_>>> = BTreeMap::new();
    let mut options = Vec::new();
    for finding in findings.iter().filter(concerns) {
        for advice in &finding.advice {
            let subject = home(facts, &target.target, &finding.subject, &advice.setting);
            let piece = Piece { finding, advice };
            if finding.level == Level::Option && advice.rank.is_none() && !piece.keeps() {
                options.extend(join::join(facts, &subject, &[piece], overrides, &mut Vec::new()));
            } else {
                groups.entry((subject, &advice.setting)).or_default().push(piece);
            }
        }
    }
    drop_other_filesystems(&mut groups);
    let mut steps: Vec<Step> = groups
        .into_iter()
        .filter_map(|((subject, _), pieces)| join::join(facts, &subject, &pieces, overrides, conflicts))
        .collect();
    steps.sort_by_cached_key(order);
    options.sort_by_cached_key(order);
    Plan { target: target.target.clone(), steps, options }
}

/// The subject that owns a setting, seen from a finding within a target.
fn home(facts: &FactSet, target: &Subject, subject: &Subject, setting: &str) -> Subject {
    let owner = match setting.split('.').next().unwrap_or(setting) {
        "mount" => Scope::Mount,
        "boot" => Scope::Boot,
        "pg" => Scope::Cluster,
        "filesystem" | "mkfs" | "directory" => return target.clone(),
        _ => return subject.clone(),
    };
    let of = |subject| facts.resolve(subject, owner);
    of(subject).or_else(|| of(target)).unwrap_or_else(|| {
        // A blank disk has no mount yet: what it should get is the target's own.
        if subject.scope() == Scope::Device { target.clone() } else { subject.clone() }
    })
}

/// The file system that mkfs or mount advice is for, where its setting or its commands say.
fn filesystem_of(advice: &Advice) -> Option<&'static str> {
    let names = |text: &String, fs: &str| {
        text.split_whitespace().any(|word| word.strip_prefix("mkfs.").is_some_and(|of| of == fs))
    };
    ["ext4", "xfs", "btrfs"].into_iter().find(|fs| {
        advice.setting.strip_prefix("mkfs.").is_some_and(|rest| rest.starts_with(fs))
            || advice.apply.iter().any(|command| names(command, fs))
    })
}

/// Where a file system is to be chosen, leaves only the mkfs advice for the first choice.
fn drop_other_filesystems(groups: &mut BTreeMap<(Subject, &str), Vec<Piece<'_>>>) {
    let chosen = groups.iter().find(|((_, setting), _)| *setting == "filesystem").and_then(|(_, pieces)| {
        let first = pieces.iter().min_by_key(|p| (p.advice.rank.unwrap_or(1), Reverse(p.finding.level)))?;
        first.advice.change.values().first().cloned()
    });
    let Some(chosen) = chosen else { return };
    for ((_, setting), pieces) in groups.iter_mut() {
        if setting.starts_with("mkfs.") {
            pieces.retain(|piece| filesystem_of(piece.advice).is_none_or(|fs| fs == chosen));
        }
    }
    groups.retain(|_, pieces| !pieces.is_empty());
}

/// Place of a step: what is kept comes last, the rest from the device upwards, the critical first.
fn order(step: &Step) -> impl Ord + use<> {
    let setting = &step.advice.setting;
    let stage = match setting.split('.').next().unwrap_or(setting) {
        "filesystem" => 1,
        "mkfs" => 2,
        "ext4" | "xfs" | "btrfs" => 3,
        "mount" | "boot" => 4,
        "directory" => 5,
        "pg" | "mysql" | "mariadb" => 6,
        _ => 0,
    };
    let keeps = step.advice.change == Change::Keep;
    (keeps, stage, Reverse(step.level), setting.clone(), step.subject.clone())
}
