//! Caps: the best verdict that a rule allows, for example for a release known to lose flushed data.
//!
//! A cap only lowers a verdict. The module `rules` evaluates the rules; this module turns their
//! results into evidence.

use std::collections::{BTreeMap, BTreeSet};

use super::fact_reader::FactReader;
use super::{Evidence, EvidenceImpact, EvidenceLayer, UndecidedCapRule, VerdictRemedy};
use crate::facts::Subject;
use crate::facts::catalog::target::VerdictKind;
use crate::ternary::Ternary;

/// A rule that limits the verdict of every target above a subject.
#[derive(Clone, Debug)]
pub struct VerdictCap {
    pub rule: String,
    pub subject: Subject,
    /// Best verdict that the rule allows if it applies.
    pub standing: VerdictKind,
    pub applies: Ternary,
    /// Reason, as a clause without full stop; a question if the rule is undecided.
    pub reason: String,
    /// A deciding fact that could not be read, if the rule is undecided.
    pub unread_fact: Option<String>,
    pub remedy: Option<VerdictRemedy>,
    pub facts: Vec<&'static str>,
    /// Assumed facts among `facts`, with their subject, for display.
    pub assumed: Vec<String>,
}

pub fn evidence_source_of_rule(rule: &str) -> String {
    format!("rule {rule}")
}

#[derive(Debug, Default)]
pub struct VerdictCaps(BTreeMap<Subject, Vec<VerdictCap>>);

impl VerdictCaps {
    pub fn new(caps: impl IntoIterator<Item = VerdictCap>) -> Self {
        let mut all = Self::default();
        for cap in caps {
            all.0.entry(cap.subject.clone()).or_default().push(cap);
        }
        all
    }

    /// Evidence of rules that apply, or whose deciding fact could not be read. Records the facts of
    /// all caps as used, so that an assumption which lifts a cap is visible.
    pub(crate) fn cap_evidence(&self, reader: FactReader) -> Vec<Evidence> {
        let mut found = Vec::new();
        let mut push = |impact, text, source| {
            let layer = EvidenceLayer::Rule;
            found.push(Evidence::new(layer, reader.subject, impact, text, source));
        };
        for cap in self.for_subject(reader.subject) {
            let mut dependencies = reader.dependencies.borrow_mut();
            dependencies.used.extend(&cap.facts);
            dependencies.assumed.extend(cap.assumed.iter().cloned());
            if cap.applies == Ternary::Unknown
                && let Some(fact) = &cap.unread_fact
            {
                let fact = fact.replace(['.', '_'], " ");
                let text = format!(
                    "{fact} could not be read, so a known fault that loses flushed data cannot be ruled out"
                );
                push(EvidenceImpact::Unproven, text, String::new());
            }
            if cap.applies == Ternary::True {
                let impact = match cap.remedy.clone() {
                    Some(remedy) if cap.standing.is_at_risk() => EvidenceImpact::AtRisk(remedy),
                    Some(_) | None => EvidenceImpact::Unproven,
                };
                let source = evidence_source_of_rule(&cap.rule);
                push(impact, cap.reason.clone(), source);
            }
        }
        found
    }

    /// Undecided rules about `subjects` that could make the verdict worse than `standing`.
    pub(crate) fn undecided_lowering_rules<'a>(
        &self,
        subjects: impl IntoIterator<Item = &'a Subject>,
        standing: VerdictKind,
    ) -> Vec<UndecidedCapRule> {
        let open = |cap: &&VerdictCap| cap.applies == Ternary::Unknown && cap.standing < standing;
        let caps = subjects
            .into_iter()
            .flat_map(|subject| self.for_subject(subject))
            .filter(open);
        let mut found: Vec<UndecidedCapRule> = Vec::new();
        for VerdictCap {
            rule,
            standing,
            reason,
            ..
        } in caps
        {
            if found.iter().all(|other| other.rule != *rule) {
                found.push(UndecidedCapRule {
                    rule: rule.clone(),
                    caps: *standing,
                    question: reason.clone(),
                });
            }
        }
        found
    }

    pub(crate) fn number_of_capping_rules<'a>(
        &self,
        subjects: impl IntoIterator<Item = &'a Subject>,
    ) -> usize {
        let rules: BTreeSet<&str> = subjects
            .into_iter()
            .flat_map(|subject| self.for_subject(subject))
            .map(|cap| &*cap.rule)
            .collect();
        rules.len()
    }

    fn for_subject(&self, subject: &Subject) -> &[VerdictCap] {
        self.0.get(subject).map_or(&[], Vec::as_slice)
    }
}
