//! Caps: the best verdict that a rule allows, such as for a release that is known to lose flushed
//! data. They only lower.
//!
//! The rules are evaluated elsewhere, before the layers are joined; here a rule that applies is one
//! more piece of evidence about its subject.

use std::collections::{BTreeMap, BTreeSet};

use super::ask::Ask;
use super::{Bears, Evidence, Layer, Mend, UndecidedCap};
use crate::facts::Subject;
use crate::facts::catalog::target::Standing;
use crate::truth::Truth;

/// A rule with a cap on a subject.
#[derive(Clone, Debug)]
pub struct Cap {
    pub rule: String,
    pub subject: Subject,
    /// The best verdict above it where the rule applies.
    pub standing: Standing,
    /// Whether the rule applies.
    pub applies: Truth,
    /// Why, in a sentence without a full stop; a question where that is unknown.
    pub reason: String,
    /// A fact that decides it and could not be read, while it is unknown whether the rule applies.
    pub unread: Option<String>,
    /// The remedy, where there is one, and whether it can be done on this host.
    pub remedy: Option<(bool, String)>,
    /// The facts that decide it.
    pub facts: Vec<&'static str>,
    /// The assumed ones among them, with their subject, for display.
    pub assumed: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Caps(BTreeMap<Subject, Vec<Cap>>);

impl Caps {
    /// Sorts caps by their subjects.
    pub fn new(caps: impl IntoIterator<Item = Cap>) -> Self {
        let mut all = Self::default();
        for cap in caps {
            all.0.entry(cap.subject.clone()).or_default().push(cap);
        }
        all
    }

    /// The evidence of the rules that apply to a subject. Every fact that they asked for counts as
    /// asked, so that an assumption which lifts a cap is known.
    pub fn evidence(&self, ask: &mut Ask, subject: &Subject) -> Vec<Evidence> {
        let mut found = Vec::new();
        for cap in self.of(subject) {
            ask.asked.used.extend(&cap.facts);
            ask.asked.assumed.extend(cap.assumed.iter().cloned());
            if cap.applies == Truth::Unknown
                && let Some(fact) = &cap.unread
            {
                let name = fact.replace(['.', '_'], " ");
                let says = format!(
                    "the {name} could not be read, so a known fault that loses flushed data is not ruled out"
                );
                found.push(Evidence::new(
                    Layer::Rule,
                    subject,
                    Bears::Unproven,
                    says,
                    String::new(),
                ));
            }
            if cap.applies == Truth::True {
                let bears = match (cap.standing, &cap.remedy) {
                    (Standing::AtRisk, Some((here, text))) => Bears::AtRisk(Mend::Rule {
                        here: *here,
                        text: text.clone(),
                    }),
                    (Standing::AtRisk, None)
                    | (
                        Standing::Contradictory
                        | Standing::Unproven
                        | Standing::ProvenByDrill
                        | Standing::Durable,
                        _,
                    ) => Bears::Unproven,
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

    /// The rules on these subjects that could make a verdict worse, and are undecided.
    pub fn undecided<'a>(
        &self,
        subjects: impl IntoIterator<Item = &'a Subject>,
        standing: Standing,
    ) -> Vec<UndecidedCap> {
        let open = |cap: &&Cap| cap.applies == Truth::Unknown && cap.standing < standing;
        let caps = subjects
            .into_iter()
            .flat_map(|subject| self.of(subject))
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

    /// How many rules were evaluated on these subjects.
    pub fn checked<'a>(&self, subjects: impl IntoIterator<Item = &'a Subject>) -> usize {
        let rules: BTreeSet<&str> = subjects
            .into_iter()
            .flat_map(|subject| self.of(subject))
            .map(|cap| &*cap.rule)
            .collect();
        rules.len()
    }

    fn of(&self, subject: &Subject) -> &[Cap] {
        self.0.get(subject).map_or(&[], Vec::as_slice)
    }
}
