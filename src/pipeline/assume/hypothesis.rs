//! The machine as it would be, read over edited answers, beside the machine as it is: what differs is marked.

use super::assumption::Assumption;
use super::edited::is_edited;
use crate::facts::{FactRow, FactSet, Reading, Source, Subject, Value, catalog};
use crate::host::EditedAnswers;

/// Assumptions, and what is read of the machine when they are true.
#[derive(Clone, Debug)]
pub struct Hypothesis {
    pub(super) all: Vec<Assumption>,
    /// What was read, as if all of it had been seen.
    pub(super) read: FactSet,
    edited: EditedAnswers,
}

impl Hypothesis {
    pub(super) fn new(all: Vec<Assumption>, read: FactSet, edited: EditedAnswers) -> Self {
        Self { all, read, edited }
    }

    /// Marks every reading that was edited, or differs from the real set: nothing but the assumptions can have changed it.
    pub fn mark(&self, facts: &mut FactSet, real: &FactSet) {
        let follows = |row: &FactRow<'_>| {
            row.reading.source().is_some_and(|source| {
                source.is_evidence()
                    && (row.reading != real.named(row.subject, row.fact) || is_edited(&self.edited, source))
            })
        };
        let names: Vec<String> = self.all.iter().map(|one| one.key.name.to_owned()).collect();
        let mut marked: Vec<(Subject, &'static str, Reading<Value>)> = Vec::new();
        for row in facts.rows().filter(follows) {
            if let Reading::Known { value, .. } = row.reading {
                let source = Source::Derived { of: names.clone(), assumed: true };
                marked.push((row.subject.clone(), row.fact, Reading::known(value.clone(), source)));
            }
        }
        for (subject, fact, reading) in marked {
            if let Some(key) = catalog::find(fact) {
                facts.put_value(&subject, key, reading);
            }
        }
        for one in &self.all {
            facts.assume(&one.subject, one.key, Reading::known(one.value.clone(), Source::Assumed));
        }
    }
}
