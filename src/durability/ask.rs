//! Asks facts for a judgement and remembers what was asked: from which facts it was concluded, whether any of them was
//! assumed, and which were missing. It judges nothing.

use std::collections::BTreeSet;

use crate::facts::{FactSet, FactValue, Key, Need, Remedy, Source, Subject};

/// A questioner of facts with its memory.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// The facts that are asked.
    pub facts: &'a FactSet,
    /// What the answers were.
    pub asked: Asked,
}

/// What was asked, and how it was answered.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Names of the facts that were known.
    pub used: BTreeSet<&'static str>,
    /// Those among them that somebody assumed, with their subject, for people.
    pub assumed: BTreeSet<String>,
    /// Those that were needed and are not known.
    pub missing: BTreeSet<Need>,
}

impl Asked {
    /// Adds what another judgement asked.
    pub fn extend(&mut self, other: &Self) {
        self.used.extend(&other.used);
        self.assumed.extend(other.assumed.iter().cloned());
        self.missing.extend(other.missing.iter().cloned());
    }

    /// The source of whatever was concluded from these answers.
    pub fn source(&self) -> Source {
        Source::Derived {
            of: self.used.iter().map(|&name| name.to_owned()).collect(),
            assumed: !self.assumed.is_empty(),
        }
    }
}

impl<'a> Ask<'a> {
    /// Nothing asked yet.
    pub fn new(facts: &'a FactSet) -> Self {
        Self { facts, asked: Asked::default() }
    }

    /// The value of a fact, when known; not missed otherwise.
    pub fn value<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>) -> Option<T> {
        let reading = self.facts.reading(subject, key.id());
        let source = reading.source()?;
        self.asked.used.insert(key.name());
        if !source.is_evidence() {
            self.asked.assumed.insert(format!("{} of {subject}", key.name()));
        }
        reading.value().and_then(T::from_value)
    }

    /// The value of a fact; missed when it is not known.
    pub fn need<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>) -> Option<T> {
        let value = self.value(subject, key);
        if value.is_none() {
            self.miss(subject, key, None);
        }
        value
    }

    /// Notes that a fact is missing. The remedy is used when its reading names none.
    pub fn miss<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>, remedy: Option<&str>) {
        let reading = self.facts.reading(subject, key.id());
        if let Some(mut need) = Need::of(subject, key.name(), reading) {
            need.remedy = need.remedy.or_else(|| remedy.map(|what| Remedy::Do(what.to_owned())));
            self.asked.missing.insert(need);
        }
    }

    /// Where a fact was read; empty when it is not known.
    pub fn origin<T>(&self, subject: &Subject, key: &Key<T>) -> String {
        self.facts.reading(subject, key.id()).source().map(ToString::to_string).unwrap_or_default()
    }
}
