//! Reads facts about one subject, and records the facts on which a conclusion depends.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::{Evidence, EvidenceImpact, EvidenceLayer};
use crate::facts::{
    FactSet, FactValue, Key, KeyInfo, MissingFact, Reading, Remedy, Source, Subject, UnknownReason,
    Value,
};

#[derive(Clone, Copy, Debug)]
pub struct FactReader<'a> {
    pub facts: &'a FactSet,
    pub subject: &'a Subject,
    pub dependencies: &'a RefCell<FactDependencies>,
}

#[derive(Clone, Debug, Default)]
pub struct FactDependencies {
    pub used: BTreeSet<&'static str>,
    /// Assumed facts among those used, as text with their subject.
    pub assumed: BTreeSet<String>,
    pub missing: BTreeSet<MissingFact>,
}

impl FactDependencies {
    pub fn extend(&mut self, other: &Self) {
        self.used.extend(&other.used);
        self.assumed.extend(other.assumed.iter().cloned());
        self.missing.extend(other.missing.iter().cloned());
    }

    pub fn source(&self) -> Source {
        Source::Derived {
            of: self.used.iter().map(|&name| name.to_owned()).collect(),
            assumed: !self.assumed.is_empty(),
        }
    }
}

impl<'a> FactReader<'a> {
    /// A reader for another subject, with the same record of dependencies.
    pub fn for_subject<'b>(self, subject: &'b Subject) -> FactReader<'b>
    where
        'a: 'b,
    {
        FactReader { subject, ..self }
    }

    pub fn name(self) -> &'a str {
        self.subject.name()
    }

    pub fn layers_directly_below(self) -> &'a [Subject] {
        self.facts.layers_directly_below(self.subject)
    }

    pub fn reading<T>(self, key: &Key<T>) -> &'a Reading<Value> {
        self.facts.reading(self.subject, key.id())
    }

    /// The value of a fact, which is recorded as used. An unknown fact is not recorded.
    pub fn read<T: FactValue>(self, key: &Key<T>) -> Option<T> {
        let reading = self.reading(key);
        let source = reading.source()?;
        let mut dependencies = self.dependencies.borrow_mut();
        dependencies.used.insert(key.name());
        if !source.is_evidence() {
            let assumed = format!("{} of {}", key.name(), self.subject);
            dependencies.assumed.insert(assumed);
        }
        reading.value().and_then(T::from_value)
    }

    /// Like [`Self::read`], but records an unknown fact as missing.
    pub fn require<T: FactValue>(self, key: &Key<T>) -> Option<T> {
        let value = self.read(key);
        if value.is_none() {
            self.record_missing(key, None);
        }
        value
    }

    /// `remedy` applies only if the reading itself has no remedy.
    pub fn record_missing<T>(self, key: &Key<T>, remedy: Option<&str>) {
        let missing =
            MissingFact::from_unknown_reading(self.subject, key.name(), self.reading(key));
        if let Some(mut missing) = missing {
            missing.remedy = missing
                .remedy
                .or_else(|| remedy.map(|what| Remedy::Do(what.to_owned())));
            self.dependencies.borrow_mut().missing.insert(missing);
        }
    }

    /// Records as missing a fact that no reading on this host can supply; `remedy` gives the
    /// person or tool to ask.
    pub fn record_unobtainable<T>(self, key: &Key<T>, detail: &str, remedy: String) {
        self.dependencies.borrow_mut().missing.insert(MissingFact {
            subject: self.subject.clone(),
            fact: key.name().to_owned(),
            why: UnknownReason::Absent,
            detail: detail.to_owned(),
            remedy: Some(Remedy::Do(remedy)),
        });
    }

    pub fn is_unknown_because<T>(self, key: &Key<T>, reason: UnknownReason) -> bool {
        matches!(self.reading(key), Reading::Unknown { why, .. } if *why == reason)
    }

    /// The source of the first known fact as text; empty if all are unknown.
    pub fn source_text_of_first_known(self, facts: &[&KeyInfo]) -> String {
        let mut sources = facts
            .iter()
            .filter_map(|fact| self.facts.reading(self.subject, fact.id).source());
        sources.next().map(ToString::to_string).unwrap_or_default()
    }

    /// The source of the fact as text; empty if the fact is unknown.
    pub fn source_text<T>(self, key: &Key<T>) -> String {
        self.source_text_of_first_known(&[&key.info])
    }

    /// Evidence about the subject, with the source of the fact. `text` is a clause without a full
    /// stop.
    pub fn evidence<T>(
        self,
        layer: EvidenceLayer,
        key: &Key<T>,
        impact: EvidenceImpact,
        text: String,
    ) -> Evidence {
        Evidence::new(layer, self.subject, impact, text, self.source_text(key))
    }
}
