//! Rules × facts → findings: every rule on every subject of its scope.
//!
//! A host with thousands of disks has hundreds of thousands of results, nearly all of rules that do
//! not apply. Only the subject of those is kept; [`evaluate_one`] evaluates a rule again to explain
//! why it does not apply.

use crate::facts::Area;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::advise::{self, Circumstances};
use super::ground::{self, BoundCondition, SubjectView};
use super::model::Rule;
use super::needs::{self, Domains};
use super::set::RuleSet;
use super::{Finding, Outcome, Study};
use crate::facts::{FactSet, Scope, Subject};
use crate::settings::Setting;
use crate::truth::Truth;

/// What all rules come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// Every rule on every subject where it applies or is undecided.
    pub findings: Vec<Finding>,
    /// Every rule, in the order of the rules.
    pub tallies: Vec<Tally>,
}

/// What one rule came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct Tally {
    /// The rule's id.
    pub rule: String,
    /// On how many it applies.
    pub applies: usize,
    /// On how many it cannot be said.
    pub undecided: usize,
    /// On which it does not apply, in order; `walwise explain RULE` says why.
    pub does_not_apply: Vec<Subject>,
    /// What others measured that it rests on.
    pub evidence: Vec<Study>,
}

impl Tally {
    /// The tally of a rule that was evaluated on nothing yet.
    pub fn new(rule: &str) -> Self {
        Self {
            rule: rule.to_owned(),
            applies: 0,
            undecided: 0,
            does_not_apply: Vec::new(),
            evidence: Vec::new(),
        }
    }

    /// Whether there was anything to evaluate the rule on.
    pub fn is_idle(&self) -> bool {
        self.applies == 0 && self.undecided == 0 && self.does_not_apply.is_empty()
    }
}

impl Evaluation {
    /// The results of the same rules on different subjects, joined.
    pub fn joined(parts: Vec<Self>) -> Self {
        let more = parts.iter().skip(1).map(|part| part.findings.len()).sum();
        let mut parts = parts.into_iter();
        let mut whole = parts.next().unwrap_or_default();
        whole.findings.reserve_exact(more);
        for part in parts {
            whole.findings.extend(part.findings);
            for (tally, more) in whole.tallies.iter_mut().zip(part.tallies) {
                tally.applies += more.applies;
                tally.undecided += more.undecided;
                tally
                    .does_not_apply
                    .reserve_exact(more.does_not_apply.len());
                tally.does_not_apply.extend(more.does_not_apply);
            }
        }
        whole
    }
}

/// All subjects of rules, in order.
pub fn all_subjects(facts: &FactSet) -> Vec<Subject> {
    Scope::ALL
        .iter()
        .flat_map(|scope| of_scope(facts, *scope))
        .collect()
}

/// Evaluates all rules on these subjects.
pub fn evaluate(
    subjects: &[Subject],
    rules: &RuleSet,
    facts: &FactSet,
    circumstances: Circumstances,
) -> Evaluation {
    let rules = rules.rules();
    let concerns: Vec<Concern<'_>> = rules.iter().map(Concern::new).collect();
    let tally = |rule: &Rule| Tally {
        evidence: rule.evidence.clone(),
        ..Tally::new(&rule.id)
    };
    let mut tallies: Vec<Tally> = rules.iter().map(tally).collect();
    let mut findings = Vec::new();
    for alike in subjects.chunk_by(|one, next| one.scope() == next.scope()) {
        let scope = alike.first().map(Subject::scope);
        let of_scope = concerns.iter().zip(&mut tallies);
        let mut of_scope: Vec<_> = of_scope
            .filter(|(concern, _)| Some(concern.rule.scope) == scope)
            .collect();
        for subject in alike {
            let view = SubjectView::new(facts, subject);
            let lacking = facts.lacking(subject);
            for (concern, tally) in &mut of_scope {
                if !concern.about(facts, subject, lacking) {
                    continue;
                }
                match ground::truth(&concern.rule.when, &view) {
                    Truth::False => {
                        tally.does_not_apply.push(subject.clone());
                        continue;
                    }
                    Truth::True => tally.applies += 1,
                    Truth::Unknown => tally.undecided += 1,
                }
                findings.push(concern.finding(&view, circumstances));
            }
        }
    }
    findings.shrink_to_fit();
    findings.sort_by(|a: &Finding, b| a.place().cmp(&b.place()));
    Evaluation { findings, tallies }
}

/// The subjects that a rule is evaluated on.
pub fn subjects(rule: &Rule, facts: &FactSet) -> Vec<Subject> {
    let concern = Concern::new(rule);
    let about = |subject: &Subject| concern.about(facts, subject, facts.lacking(subject));
    of_scope(facts, rule.scope).filter(about).collect()
}

/// The subjects of a scope; the host is one even while nothing is known of it.
fn of_scope(facts: &FactSet, scope: Scope) -> impl Iterator<Item = Subject> {
    let host = (scope == Scope::Host).then(Subject::host);
    let others = facts
        .subjects(scope)
        .filter(|subject| subject.scope() != Scope::Host)
        .cloned();
    host.into_iter().chain(others)
}

/// The subjects that a rule is about. A subject that is known to lack the rule's object is
/// excluded: a rule about mount options is silent about a free disk, and one about PostgreSQL about
/// a MySQL server.
struct Concern<'r> {
    rule: &'r Rule,
    scopes: Vec<Scope>,
    areas: Vec<Area>,
    /// The settings that it advises on.
    settings: Arc<[&'static Setting]>,
    domains: OnceCell<Domains<'r>>,
}

impl<'r> Concern<'r> {
    fn new(rule: &'r Rule) -> Self {
        let scopes = Scope::ALL
            .into_iter()
            .filter(|scope| rule.when.asks(*scope))
            .collect();
        Self {
            rule,
            scopes,
            areas: rule.areas().collect::<BTreeSet<_>>().into_iter().collect(),
            settings: rule.advise.iter().map(|spec| spec.setting).collect(),
            domains: OnceCell::new(),
        }
    }

    fn about(&self, facts: &FactSet, subject: &Subject, lacking: &[Scope]) -> bool {
        subject.scope() == self.rule.scope
            && (subject.scope() == Scope::Host
                || !self.scopes.iter().any(|scope| lacking.contains(scope))
                    && !self
                        .areas
                        .iter()
                        .any(|area| facts.lacks_area(subject, *area)))
    }

    /// The finding of the rule on the subject.
    fn finding(&self, view: &SubjectView<'_>, circumstances: Circumstances) -> Finding {
        let (rule, SubjectView { facts, subject, .. }) = (self.rule, view);
        let condition = BoundCondition::on(&rule.when, view);
        let (mut advice, mut held_back) = (Vec::new(), Vec::new());
        let outcome = match condition.truth() {
            Truth::True => {
                (advice, held_back) =
                    advise::advise(rule, &condition, facts, subject, circumstances);
                Outcome::Applies
            }
            Truth::False => Outcome::DoesNotApply,
            Truth::Unknown => {
                let domains = self.domains.get_or_init(|| Domains::new(&rule.when));
                Outcome::Undecided {
                    needs: needs::needs(&condition, domains),
                }
            }
        };
        let which = if rule.names_which() {
            condition.which()
        } else {
            Vec::new()
        };
        // A title asserts even with an unknown fact in it; a question does not.
        let asserts = match &outcome {
            Outcome::Applies | Outcome::DoesNotApply => rule.title.is_known(facts, subject),
            Outcome::Undecided { .. } => false,
        };
        let remedy = match &outcome {
            Outcome::Applies => rule.told_remedy(facts, subject, &which),
            Outcome::DoesNotApply | Outcome::Undecided { .. } => None,
        };
        let title = if asserts { &rule.title } else { &rule.question };
        Finding {
            rule: rule.id.clone(),
            subject: (*subject).clone(),
            outcome,
            level: rule.level,
            confidence: rule.confidence,
            basis: rule.basis,
            settings: self.settings.clone(),
            title: title.text(facts, subject, &which).to_string(),
            because: rule.because.text(facts, subject, &which),
            refs: rule.refs.clone(),
            advice,
            held_back,
            remedy,
            trace: circumstances.traced.then(|| Box::new(condition.trace())),
        }
    }
}

/// Evaluates a rule on a subject, whatever the outcome.
pub fn evaluate_one(
    rule: &Rule,
    facts: &FactSet,
    subject: &Subject,
    circumstances: Circumstances,
) -> Finding {
    Concern::new(rule).finding(&SubjectView::new(facts, subject), circumstances)
}
