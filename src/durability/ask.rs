//! Asks for facts on behalf of a judgement, and records which were used, which of those were assumed, and which were
//! missing. The judgement itself is left to the layers.

use std::collections::BTreeSet;

use crate::facts::{FactSet, FactValue, Key, Need, Remedy, Source, Subject, Why};

/// A questioner of facts that records its questions.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The facts that are asked.
    pub facts: &'a FactSet,
    /// The record of the questions.
    pub asked: FactDependencies,
}

/// The facts that were asked for, and their answers.
#[derive(Clone, Debug, Default)]
pub struct FactDependencies {
    /// Names of the known facts.
    pub used: BTreeSet<&'static str>,
    /// The assumed ones among them, with their subject, for display.
    pub assumed: BTreeSet<String>,
    /// Facts that were needed and are unknown.
    pub missing: BTreeSet<Need>,
}

impl FactDependencies {
    /// Adds the record of another judgement.
    pub fn extend(&mut self, other: &Self) {
        self.used.extend(&other.used);
        self.assumed.extend(other.assumed.iter().cloned());
        self.missing.extend(other.missing.iter().cloned());
    }

    /// The source of a conclusion from these answers.
    pub fn source(&self) -> Source {
        Source::Derived {
            of: self.used.iter().map(|&name| name.to_owned()).collect(),
            assumed: !self.assumed.is_empty(),
        }
    }
}

impl<'a> Ask<'a> {
    /// A questioner without any questions yet.
    pub fn new(facts: &'a FactSet) -> Self {
        Self { facts, asked: FactDependencies::default() }
    }

    /// The value of a fact where it is known; an unknown one is not recorded as missing.
    pub fn value<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>) -> Option<T> {
        let reading = self.facts.reading(subject, key.id());
        let source = reading.source()?;
        self.asked.used.insert(key.name());
        if !source.is_evidence() {
            self.asked.assumed.insert(format!("{} of {subject}", key.name()));
        }
        reading.value().and_then(T::from_value)
    }

    /// The value of a fact; an unknown one is recorded as missing.
    pub fn need<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>) -> Option<T> {
        let value = self.value(subject, key);
        if value.is_none() {
            self.miss(subject, key, None);
        }
        value
    }

    /// Records a fact as missing. The remedy is used when its reading names none.
    pub fn miss<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>, remedy: Option<&str>) {
        let reading = self.facts.reading(subject, key.id());
        if let Some(mut need) = Need::from_reading(subject, key.name(), reading) {
            need.remedy = need.remedy.or_else(|| remedy.map(|what| Remedy::Do(what.to_owned())));
            self.asked.missing.insert(need);
        }
    }

    /// Records as missing what no reading on this machine supplies: why, and whom to ask.
    pub fn lack<T>(&mut self, subject: &Subject, key: &Key<T>, detail: &str, remedy: String) {
        self.asked.missing.insert(Need {
            subject: subject.clone(),
            fact: key.name().to_owned(),
            why: Why::Absent,
            detail: detail.to_owned(),
            remedy: Some(Remedy::Do(remedy)),
        });
    }

    /// Where a fact was read; empty when it is unknown.
    pub fn origin<T>(&self, subject: &Subject, key: &Key<T>) -> String {
        self.facts.reading(subject, key.id()).source().map(ToString::to_string).unwrap_or_default()
    }
}
