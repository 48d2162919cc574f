//! Rules × facts → findings: every rule on every subject of its scope, in the order of the rules and of the subjects.
//!
//! The surprise: a host with thousands of disks has a hundred thousand findings, nearly all of rules that do not apply;
//! those are short, and who wants to know more ([`evaluate_one`]) evaluates one again.

use std::collections::BTreeSet;

use super::advise::{self, Circumstances};
use super::ground::Ground;
use super::model::Rule;
use super::needs;
use super::set::RuleSet;
use super::{Finding, Outcome};
use crate::facts::{FactSet, Scope, Subject};
use crate::truth::Truth;

/// Evaluates all rules.
pub fn evaluate(rules: &RuleSet, facts: &FactSet, circumstances: Circumstances) -> Vec<Finding> {
    let of_rule = |rule| {
        let on = move |subject| evaluate_briefly(rule, facts, &subject, circumstances);
        subjects(rule, facts).into_iter().map(on)
    };
    rules.rules().iter().flat_map(of_rule).collect()
}

/// The subjects that a rule is evaluated on. Those that are known to lack what it asks about are none of its business:
/// a rule about mount options says nothing of a blank disk, and one about PostgreSQL nothing of a MySQL server.
pub fn subjects(rule: &Rule, facts: &FactSet) -> Vec<Subject> {
    let areas: BTreeSet<&str> = rule.areas().collect();
    let concerns = |subject: &&Subject| {
        !Scope::ALL.iter().any(|s| facts.lacks(subject, *s) && rule.when.asks(*s))
            && !areas.iter().any(|area| facts.lacks_area(subject, area))
    };
    match rule.scope {
        Scope::Host => vec![Subject::host()],
        scope => facts.subjects(scope).filter(concerns).cloned().collect(),
    }
}

/// Evaluates a rule on a subject, and keeps the whole trace whatever it comes to.
pub fn evaluate_one(
    rule: &Rule,
    facts: &FactSet,
    subject: &Subject,
    circumstances: Circumstances,
) -> Finding {
    let ground = Ground::of(&rule.when, facts, subject);
    let trace = ground.trace();
    let (mut advice, mut held_back) = (Vec::new(), Vec::new());
    let outcome = match trace.truth {
        Truth::True => {
            (advice, held_back) = advise::advise(rule, &ground, facts, subject, circumstances);
            Outcome::Applies
        }
        Truth::False => Outcome::DoesNotApply,
        Truth::Unknown => Outcome::Undecided { needs: needs::needs(&ground) },
    };
    let which =
        if rule.title.names_which() || rule.because.names_which() { ground.which() } else { Vec::new() };
    Finding {
        rule: rule.id.clone(),
        subject: subject.clone(),
        outcome,
        level: rule.level,
        confidence: rule.confidence,
        title: rule.title.text(facts, subject, &which),
        because: rule.because.text(facts, subject, &which),
        refs: rule.refs.clone(),
        advice,
        held_back,
        trace,
    }
}

/// The same; of a rule that does not apply only what decides that, for these are most by far.
fn evaluate_briefly(
    rule: &Rule,
    facts: &FactSet,
    subject: &Subject,
    circumstances: Circumstances,
) -> Finding {
    let ground = Ground::deciding(&rule.when, facts, subject);
    if ground.truth() != Truth::False {
        return evaluate_one(rule, facts, subject, circumstances);
    }
    Finding {
        rule: rule.id.clone(),
        subject: subject.clone(),
        outcome: Outcome::DoesNotApply,
        level: rule.level,
        confidence: rule.confidence,
        title: rule.title.text(facts, subject, &[]),
        because: String::new(),
        refs: Vec::new(),
        advice: Vec::new(),
        held_back: Vec::new(),
        trace: ground.trace(),
    }
}
