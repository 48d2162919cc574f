//! Evaluates every rule on every subject of its scope.
//!
//! A host with thousands of disks has hundreds of thousands of results, mostly of rules that do not
//! apply. For these only the subject is kept; `walwise explain` evaluates the rule again.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::advise::{self, EvaluationOptions};
use super::bound_condition::{self, BoundCondition, SubjectContext};
use super::deciding_facts::{self, ValuesByTestResult};
use super::model::Rule;
use super::rule_set::RuleSet;
use super::{Finding, Level, Outcome, PublishedMeasurement};
use crate::facts::catalog::kernel;
use crate::facts::{Choice, FactSet, Scope, ServerArea, Subject};
use crate::settings::Setting;
use crate::ternary::Ternary;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    pub findings: Vec<Finding>,
    pub tallies: Vec<RuleOutcomeCounts>,
}

/// Number of subjects of one rule, by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleOutcomeCounts {
    /// Id of the rule: `area.name`.
    pub rule: String,
    /// The number of subjects to which the rule applies.
    pub applies: usize,
    /// The number of subjects for which an unknown fact leaves the rule undecided.
    pub undecided: usize,
    /// The subjects to which the rule does not apply, in order; `walwise explain RULE` gives the
    /// reason.
    pub does_not_apply: Vec<Subject>,
    /// Published measurements for or against the rule.
    pub evidence: Vec<PublishedMeasurement>,
}

impl RuleOutcomeCounts {
    pub fn new(rule: &str) -> Self {
        Self {
            rule: rule.to_owned(),
            ..Self::default()
        }
    }

    pub fn has_no_subjects(&self) -> bool {
        self.applies == 0 && self.undecided == 0 && self.does_not_apply.is_empty()
    }
}

impl Evaluation {
    /// Joins evaluations of the same rules on different subjects, in the order of `parts`.
    pub fn merge(parts: Vec<Self>) -> Self {
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

/// All subjects, in the order that [`evaluate_rules`] requires.
pub fn subjects_in_scope_order(facts: &FactSet) -> Vec<Subject> {
    Scope::ALL
        .iter()
        .flat_map(|scope| scope_subjects(facts, *scope))
        .collect()
}

/// Evaluates the rules on the subjects, which must be ordered scope by scope.
pub fn evaluate_rules(
    subjects: &[Subject],
    rules: &RuleSet,
    facts: &FactSet,
    circumstances: EvaluationOptions,
) -> Evaluation {
    let rules = rules.rules();
    let concerns: Vec<PreparedRule<'_>> = rules.iter().map(PreparedRule::new).collect();
    let tally = |rule: &Rule| RuleOutcomeCounts {
        evidence: rule.evidence.clone(),
        ..RuleOutcomeCounts::new(&rule.id)
    };
    let mut tallies: Vec<RuleOutcomeCounts> = rules.iter().map(tally).collect();
    let mut findings = Vec::new();
    // Rows of known changes describe upgrades, so they are judged only under an assumed kernel.
    let is_upgrade = is_kernel_assumed(facts);
    let is_judged = |rule: &Rule| {
        rule.change
            .is_none_or(|change| is_upgrade && change.is_judged_before_upgrade())
    };
    for alike in subjects.chunk_by(|one, next| one.scope() == next.scope()) {
        let scope = alike.first().map(Subject::scope);
        let of_scope = concerns.iter().zip(&mut tallies);
        let mut of_scope: Vec<_> = of_scope
            .filter(|(concern, _)| Some(concern.rule.scope) == scope)
            .filter(|(concern, _)| is_judged(concern.rule))
            .collect();
        for subject in alike {
            let view = SubjectContext::new(facts, subject);
            let lacking = facts.inapplicable_scopes(subject);
            for (concern, tally) in &mut of_scope {
                if !concern.concerns_subject(facts, subject, lacking) {
                    continue;
                }
                match bound_condition::evaluate_condition(&concern.rule.when, &view) {
                    Ternary::False => {
                        tally.does_not_apply.push(subject.clone());
                        continue;
                    }
                    Ternary::True => tally.applies += 1,
                    Ternary::Unknown => tally.undecided += 1,
                }
                findings.push(concern.evaluate_on_subject(&view, circumstances));
            }
        }
    }
    findings.shrink_to_fit();
    findings.sort_by(|a: &Finding, b| a.sort_key().cmp(&b.sort_key()));
    Evaluation { findings, tallies }
}

pub fn rule_subjects(rule: &Rule, facts: &FactSet) -> Vec<Subject> {
    let concern = PreparedRule::new(rule);
    let about = |subject: &Subject| {
        concern.concerns_subject(facts, subject, facts.inapplicable_scopes(subject))
    };
    scope_subjects(facts, rule.scope).filter(about).collect()
}

/// The scope *host* has its subject even if no fact about the host is known.
fn scope_subjects(facts: &FactSet, scope: Scope) -> impl Iterator<Item = Subject> {
    let host = (scope == Scope::Host).then(Subject::host);
    let others = facts
        .subjects_of_scope(scope)
        .filter(|subject| subject.scope() != Scope::Host)
        .cloned();
    host.into_iter().chain(others)
}

fn is_kernel_assumed(facts: &FactSet) -> bool {
    let version = facts.get(&Subject::host(), &kernel::VERSION);
    version.source().is_some_and(|source| !source.is_evidence())
}

/// A rule, with the scopes and areas that decide whether it concerns a subject. For example, a rule
/// about mount options does not concern a disk without a file system.
struct PreparedRule<'r> {
    rule: &'r Rule,
    scopes: Vec<Scope>,
    areas: Vec<ServerArea>,
    settings: Arc<[&'static Setting]>,
    domains: OnceCell<ValuesByTestResult<'r>>,
}

impl<'r> PreparedRule<'r> {
    fn new(rule: &'r Rule) -> Self {
        let scopes = Scope::ALL
            .iter()
            .copied()
            .filter(|scope| rule.when.uses_scope(*scope))
            .collect();
        Self {
            rule,
            scopes,
            areas: rule.server_areas(),
            settings: rule.advise.iter().map(|spec| spec.setting).collect(),
            domains: OnceCell::new(),
        }
    }

    fn concerns_subject(&self, facts: &FactSet, subject: &Subject, lacking: &[Scope]) -> bool {
        subject.scope() == self.rule.scope
            && (subject.scope() == Scope::Host
                || !self.scopes.iter().any(|scope| lacking.contains(scope))
                    && !self
                        .areas
                        .iter()
                        .any(|area| facts.is_of_other_area(subject, *area)))
    }

    fn evaluate_on_subject(
        &self,
        view: &SubjectContext<'_>,
        circumstances: EvaluationOptions,
    ) -> Finding {
        let (rule, SubjectContext { facts, subject, .. }) = (self.rule, view);
        let condition = BoundCondition::from_context(&rule.when, view);
        let (mut advice, mut held_back) = (Vec::new(), Vec::new());
        let outcome = match condition.truth() {
            Ternary::True => {
                (advice, held_back) = advise::advice_and_blocked_advice_of_rule(
                    rule,
                    &condition,
                    facts,
                    subject,
                    circumstances,
                );
                Outcome::Applies
            }
            Ternary::False => Outcome::DoesNotApply,
            Ternary::Unknown => {
                let domains = self
                    .domains
                    .get_or_init(|| ValuesByTestResult::new(&rule.when));
                Outcome::Undecided {
                    needs: deciding_facts::smallest_deciding_fact_sets(&condition, domains),
                }
            }
        };
        let which = if rule.has_which_placeholder() {
            condition.deciding_elements()
        } else {
            Vec::new()
        };
        let applies = outcome == Outcome::Applies;
        // A title must not print an unknown fact, so the question is shown instead.
        let asserts = !outcome.is_undecided() && rule.title.has_all_required_facts(facts, subject);
        let remedy = if applies {
            rule.fix_for_subject(facts, subject, &which)
        } else {
            None
        };
        let observed = if applies && rule.level == Level::Critical {
            let trace = condition.to_trace();
            let all = trace.readings_of_all_tests().into_iter();
            all.map(|one| one.subject.clone()).collect()
        } else {
            BTreeSet::new()
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
            title: title.render_for_subject(facts, subject, &which).to_string(),
            because: rule.because.render_for_subject(facts, subject, &which),
            refs: rule.refs.clone(),
            advice,
            held_back,
            remedy,
            observed,
            trace: circumstances.traced.then(|| Box::new(condition.to_trace())),
        }
    }
}

/// Evaluates one rule on a subject, and returns a finding for every outcome, *does not apply*
/// included.
pub fn evaluate_rule(
    rule: &Rule,
    facts: &FactSet,
    subject: &Subject,
    circumstances: EvaluationOptions,
) -> Finding {
    PreparedRule::new(rule).evaluate_on_subject(&SubjectContext::new(facts, subject), circumstances)
}
