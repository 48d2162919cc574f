//! Caps: the best verdict that a rule allows, such as for a release known to lose flushed data.
//!
//! Caps only lower a verdict. The rules are evaluated elsewhere; here a rule that applies is one
//! more piece of evidence.

use std::collections::{BTreeMap, BTreeSet};

use super::fact_reader::FactReader;
use super::{Evidence, Impact, Layer, Remedy, UndecidedCap};
use crate::facts::Subject;
use crate::facts::catalog::target::VerdictKind;
use crate::ternary::Ternary;

/// A rule that caps the verdicts above a subject.
#[derive(Clone, Debug)]
pub struct Cap {
    pub rule: String,
    pub subject: Subject,
    /// The best verdict it allows where it applies.
    pub standing: VerdictKind,
    pub applies: Ternary,
    /// Why, as a clause without full stop; a question if undecided.
    pub reason: String,
    /// A deciding fact that could not be read, if the rule is undecided.
    pub unread_fact: Option<String>,
    /// Whether the remedy can be done on this host, and the remedy.
    pub remedy: Option<(bool, String)>,
    /// Names of the facts that decide it.
    pub facts: Vec<&'static str>,
    /// The assumed ones among them, with their subject, for display.
    pub assumed: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Caps(BTreeMap<Subject, Vec<Cap>>);

impl Caps {
    pub fn new(caps: impl IntoIterator<Item = Cap>) -> Self {
        let mut all = Self::default();
        for cap in caps {
            all.0.entry(cap.subject.clone()).or_default().push(cap);
        }
        all
    }

    /// The evidence of rules that apply. Records their facts as used, so that an assumption which
    /// lifts a cap is visible.
    pub fn evidence(&self, ask: &mut FactReader, subject: &Subject) -> Vec<Evidence> {
        let mut found = Vec::new();
        for cap in self.for_subject(subject) {
            ask.dependencies.used.extend(&cap.facts);
            ask.dependencies.assumed.extend(cap.assumed.iter().cloned());
            if cap.applies == Ternary::Unknown
                && let Some(fact) = &cap.unread_fact
            {
                let name = fact.replace(['.', '_'], " ");
                let says = format!(
                    "the {name} could not be read, so a known fault that loses flushed data is not ruled out"
                );
                found.push(Evidence::new(
                    Layer::Rule,
                    subject,
                    Impact::Unproven,
                    says,
                    String::new(),
                ));
            }
            if cap.applies == Ternary::True {
                let bears = match (cap.standing, &cap.remedy) {
                    (VerdictKind::AtRisk, Some((here, text))) => Impact::AtRisk(Remedy::Rule {
                        here: *here,
                        text: text.clone(),
                    }),
                    (VerdictKind::AtRisk, None)
                    | (
                        VerdictKind::Contradictory
                        | VerdictKind::Unproven
                        | VerdictKind::ProvenByDrill
                        | VerdictKind::Durable,
                        _,
                    ) => Impact::Unproven,
                };
                let source = format!("rule {}", cap.rule);
                found.push(Evidence::new(
                    Layer::Rule,
                    subject,
                    bears,
                    cap.reason.clone(),
                    source,
                ));
            }
        }
        found
    }

    /// Undecided rules on these subjects that could lower a verdict.
    pub fn undecided<'a>(
        &self,
        subjects: impl IntoIterator<Item = &'a Subject>,
        standing: VerdictKind,
    ) -> Vec<UndecidedCap> {
        let open = |cap: &&Cap| cap.applies == Ternary::Unknown && cap.standing < standing;
        let caps = subjects
            .into_iter()
            .flat_map(|subject| self.for_subject(subject))
            .filter(open);
        let mut found: Vec<UndecidedCap> = Vec::new();
        for Cap {
            rule,
            standing,
            reason,
            ..
        } in caps
        {
            if found.iter().all(|other| other.rule != *rule) {
                found.push(UndecidedCap {
                    rule: rule.clone(),
                    caps: *standing,
                    question: reason.clone(),
                });
            }
        }
        found
    }

    /// The number of distinct rules evaluated on these subjects.
    pub fn rule_count<'a>(&self, subjects: impl IntoIterator<Item = &'a Subject>) -> usize {
        let rules: BTreeSet<&str> = subjects
            .into_iter()
            .flat_map(|subject| self.for_subject(subject))
            .map(|cap| &*cap.rule)
            .collect();
        rules.len()
    }

    fn for_subject(&self, subject: &Subject) -> &[Cap] {
        self.0.get(subject).map_or(&[], Vec::as_slice)
    }
}
