//! The work of judging grows linearly with the machine: counted, not timed.
//!
//! Machines of one kind are put side by side in one set of facts. The count covers the conditions applied to a subject,
//! which dominate the rules' time, and the results.

use std::collections::BTreeMap;

use super::worlds;
use crate::facts::{FactSet, KeyInfo, Scope, Subject, catalog};
use crate::rules::ground::{BoundCondition, SubjectView};
use crate::rules::model::Cond;
use crate::rules::{Circumstances, Outcome, RuleSet, all_subjects, builtin, evaluate, subjects};

/// So many machines in one: a directory on a mount on two disks, with a server and a line for the next boot. `known`
/// selects the known value of each fact.
fn machines(count: usize, known: &BTreeMap<&'static str, usize>, set: &RuleSet) -> FactSet {
    let conds: Vec<&Cond> = set.rules().iter().map(|rule| &rule.when).collect();
    let values = worlds::values(&conds);
    let mut facts = FactSet::default();
    let put = |facts: &mut FactSet, subject: &Subject| {
        let info = |name: &&'static str| catalog::find(name).filter(|info| info.scope == subject.scope());
        let of_scope = values.keys().filter_map(info);
        let read = |info: &KeyInfo| {
            worlds::seen(&values[info.name][known[info.name] % values[info.name].len()]).remove(0)
        };
        of_scope.for_each(|info| facts.put_value(subject, info, read(info)));
    };
    put(&mut facts, &Subject::host());
    for machine in 0..count {
        let at = |name: &str| format!("/{name}/{machine}");
        let (target, mount) = (Subject::target(at("data")), Subject::mount(at("data")));
        let (boot, cluster) = (Subject::boot(at("data")), Subject::cluster(at("data")));
        let disks = [Subject::device(at("sda")), Subject::device(at("sdb"))];
        facts.stand(&target, &mount);
        for disk in &disks {
            facts.stand(&mount, disk);
        }
        for (from, to) in [(&target, &mount), (&target, &cluster), (&cluster, &target), (&boot, &mount)] {
            facts.link(from, to);
        }
        for subject in [&target, &mount, &boot, &cluster, &disks[0], &disks[1]] {
            put(&mut facts, subject);
        }
    }
    facts
}

/// Conditions in this one.
fn size(ground: &BoundCondition<'_>) -> usize {
    1 + ground.kids().iter().map(size).sum::<usize>()
}

/// The work and the results of judging all rules on these facts: conditions, findings, and subjects on which rules do
/// not apply.
fn work(set: &RuleSet, facts: &FactSet, host: bool) -> [usize; 4] {
    let about = |subject: &&Subject| host == (subject.scope() == Scope::Host);
    let mut conditions = 0;
    for rule in set.rules() {
        for subject in subjects(rule, facts).iter().filter(about) {
            conditions += size(&BoundCondition::on(&rule.when, &SubjectView::new(facts, subject)));
        }
    }
    let all = all_subjects(facts);
    let all: Vec<Subject> = all.iter().filter(about).cloned().collect();
    let came_to = evaluate(&all, set, facts, Circumstances { live: true, traced: false });
    let undecided = came_to.findings.iter().filter(|finding| finding.outcome != Outcome::Applies).count();
    let not = came_to.tallies.iter().map(|tally| tally.does_not_apply.len()).sum();
    [conditions, came_to.findings.len(), undecided, not]
}

#[test]
fn a_thousand_subjects_take_as_much_as_each_by_itself() {
    let (set, _) = RuleSet::parse(&builtin::files());
    let names = set.rules().iter().flat_map(|rule| worlds::values(&[&rule.when]).into_keys());
    let names: Vec<&'static str> = names.collect();
    for round in 0..3 {
        let known = names.iter().enumerate().map(|(index, name)| (*name, index * round)).collect();
        let one = machines(1, &known, &set);
        let many = machines(200, &known, &set);
        assert!(all_subjects(&many).len() > 1000);
        assert_eq!(
            work(&set, &many, false),
            work(&set, &one, false).map(|count| count * 200),
            "round {round}"
        );
        assert_eq!(work(&set, &many, true), work(&set, &one, true), "what the host is asked does not grow");
    }
}
