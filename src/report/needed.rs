//! The unknown facts that a target needs: those missing for its verdict, and those that would decide its rules.
//!
//! They belong to the target's own stack and neighbours: itself, the layers below, its boot lines, its servers with
//! their logs, and the host. A fact about a shared disk is needed by both of its targets; an unknown fact about another
//! server is not.

use std::collections::{BTreeMap, BTreeSet};

use super::{Report, TargetSummary};
use crate::facts::{FactSet, Need, Scope, Subject};
use crate::rules::{Finding, Outcome};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// The fact, why it is unknown, and its remedy.
    pub need: Need,
    /// The rules that it would help to decide; empty where only the verdict needs it.
    pub rules: Vec<String>,
}

/// The needs of a target, given the findings that concern it: those of its verdict come first.
pub fn of_target<'a>(
    report: &Report,
    target: &TargetSummary,
    about: impl IntoIterator<Item = &'a Finding>,
) -> Vec<Needed> {
    let way = TargetScope::new(&report.facts, target);
    let mut all = Collected::default();
    let missing = report.verdict(&target.target).into_iter().flat_map(|verdict| &verdict.missing);
    missing.filter(|need| way.holds(&need.subject)).for_each(|need| all.add(need, None));
    for finding in about {
        let Outcome::Undecided { needs } = &finding.outcome else { continue };
        // Facts of a measurement are requested with the price of a commit, not one by one.
        let to_read = |need: &&Need| !need.fact.starts_with("probe.") && way.holds(&need.subject);
        needs.iter().flatten().filter(to_read).for_each(|need| all.add(need, Some(&finding.rule)));
    }
    all.needed
}

/// The subjects that belong to a target.
pub struct TargetScope<'a> {
    own: BTreeSet<&'a Subject>,
    servers: BTreeSet<Subject>,
}

impl<'a> TargetScope<'a> {
    /// The subjects of a target, including the log places of the servers on it.
    pub fn new(facts: &FactSet, target: &'a TargetSummary) -> Self {
        let names = facts.value(&target.target, &crate::facts::catalog::target::CLUSTERS).unwrap_or_default();
        let servers = target.cluster.iter().cloned().chain(names.into_iter().map(Subject::cluster));
        let mut all = BTreeSet::new();
        for server in servers {
            let linked = [Scope::Target, Scope::Mount, Scope::Device];
            all.extend(linked.into_iter().filter_map(|scope| facts.resolve(&server, scope)));
            all.extend(facts.stack(&server));
            all.insert(server);
        }
        Self { own: target.subjects.iter().collect(), servers: all }
    }

    /// Whether a subject belongs to it; the host always does.
    pub fn holds(&self, subject: &Subject) -> bool {
        subject.scope() == Scope::Host || self.own.contains(subject) || self.servers.contains(subject)
    }
}

/// Each fact once, in order of arrival.
#[derive(Default)]
struct Collected {
    needed: Vec<Needed>,
    at: BTreeMap<(Subject, String), usize>,
}

impl Collected {
    fn add(&mut self, need: &Need, rule: Option<&str>) {
        let next = self.needed.len();
        let at = *self.at.entry((need.subject.clone(), need.fact.clone())).or_insert(next);
        if at == next {
            self.needed.push(Needed { need: need.clone(), rules: Vec::new() });
        }
        let rules = self.needed.get_mut(at).map(|needed| &mut needed.rules);
        if let Some((rules, rule)) =
            rules.zip(rule).filter(|(rules, rule)| !rules.iter().any(|one| one == rule))
        {
            rules.push(rule.to_owned());
        }
    }
}
