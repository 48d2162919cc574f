//! The facts that are assumed, beside all facts of the machine as it is: what differs is marked.

use crate::facts::{FactRow, FactSet, Reading, Source, Subject, Value, catalog};

/// The changes of a hypothesis.
#[derive(Clone, Debug)]
pub struct Hypothesis {
    /// The names of the facts that are assumed.
    pub names: Vec<String>,
    /// All facts of the machine as it is.
    pub real: FactSet,
}

impl Hypothesis {
    /// Marks the facts that differ from the real machine.
    pub fn mark(&self, facts: &mut FactSet) {
        mark(facts, &self.real, &self.names);
    }
}

/// Marks every reading that differs from the real set as a conclusion from the assumptions: the machine's answers are
/// the same, so nothing else can have changed it.
pub fn mark(facts: &mut FactSet, real: &FactSet, names: &[String]) {
    let follows = |row: &FactRow<'_>| {
        row.reading.source().is_some_and(Source::is_evidence)
            && row.reading != real.named(row.subject, row.fact)
    };
    let mut marked: Vec<(Subject, &'static str, Reading<Value>)> = Vec::new();
    for row in facts.rows().filter(follows) {
        if let Reading::Known { value, .. } = row.reading {
            let source = Source::Derived { of: names.to_vec(), assumed: true };
            marked.push((row.subject.clone(), row.fact, Reading::known(value.clone(), source)));
        }
    }
    for (subject, fact, reading) in marked {
        if let Some(key) = catalog::find(fact) {
            facts.put_value(&subject, key, reading);
        }
    }
}
