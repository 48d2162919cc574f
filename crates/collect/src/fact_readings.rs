use crate::facts::{FactSet, FactValue, Key, KeyInfo, Reading, Subject, Value};

/// Readings that are inserted later, possibly for several subjects.
#[derive(Default)]
pub struct FactReadings(Vec<(KeyInfo, Reading<Value>)>);

impl FactReadings {
    pub fn add<T: FactValue>(&mut self, key: &Key<T>, reading: Reading<T>) {
        self.0.push((key.info, reading.map(FactValue::into_value)));
    }

    pub fn insert_for(&self, subject: &Subject, facts: &mut FactSet) {
        for (key, reading) in &self.0 {
            facts.insert_untyped_value(subject, key, reading.clone());
        }
    }
}
