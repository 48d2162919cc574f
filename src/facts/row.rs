//! The facts of one subject, in the order of their names.
//!
//! Judgement looks up millions of facts on a large host, so facts are compared by their [`FactId`] and never by name.

use std::sync::{Arc, LazyLock};

use super::{FactId, KeyInfo, Reading, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    id: FactId,
    pub name: &'static str,
    pub reading: Arc<Reading<Value>>,
}

/// Facts in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(Vec<Fact>);

impl Row {
    /// The reading of this fact, if there is one.
    pub fn get(&self, id: FactId) -> Option<&Arc<Reading<Value>>> {
        let at = self.0.binary_search_by_key(&id, |fact| fact.id).ok()?;
        self.0.get(at).map(|fact| &fact.reading)
    }

    /// Puts a reading in the place of an earlier one.
    pub fn put(&mut self, key: &KeyInfo, reading: Arc<Reading<Value>>) {
        self.take(Fact { id: key.id, name: key.name, reading });
    }

    /// Puts what others say in the place of what is said here.
    pub fn put_all(&mut self, others: &Self) {
        others.iter().for_each(|fact| self.take(fact.clone()));
    }

    fn take(&mut self, new: Fact) {
        match self.0.binary_search_by_key(&new.id, |fact| fact.id) {
            Ok(at) => {
                if let Some(old) = self.0.get_mut(at) {
                    *old = new;
                }
            }
            Err(at) => {
                // Ten thousand disks have a row each, so rows grow by little.
                if self.0.len() == self.0.capacity() {
                    self.0.reserve_exact(8);
                }
                self.0.insert(at, new);
            }
        }
    }

    /// Every fact, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Fact> {
        self.0.iter()
    }
}

/// All facts of one subject, if there are any.
#[derive(Clone, Copy, Debug)]
pub struct About<'f>(pub(super) Option<&'f Row>);

impl<'f> About<'f> {
    /// The reading of a fact; *not collected* when there is none.
    pub fn shared(self, id: FactId) -> &'f Arc<Reading<Value>> {
        self.0.and_then(|row| row.get(id)).unwrap_or_else(not_collected)
    }
}

/// The reading of a fact that nobody read.
pub(super) fn not_collected<'f>() -> &'f Arc<Reading<Value>> {
    static NOT_COLLECTED: LazyLock<Arc<Reading<Value>>> =
        LazyLock::new(|| Arc::new(Reading::not_collected()));
    &NOT_COLLECTED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog;

    /// Every fact there is, put in the order of the catalogue.
    #[test]
    fn each_is_found_and_stands_in_the_order_of_the_names() {
        let reading = |value: usize| Arc::new(Reading::known(Value::Whole(value as u64), Source::Assumed));
        let keys: Vec<&KeyInfo> = catalog::all().collect();
        let mut row = Row::default();
        for turn in 0..2 {
            for (at, key) in keys.iter().enumerate().skip(1) {
                row.put(key, reading(at + turn));
            }
        }
        assert!(row.iter().map(|fact| fact.name).is_sorted());
        assert_eq!(row.iter().count(), keys.len() - 1);
        for (at, key) in keys.iter().enumerate().skip(1) {
            assert_eq!(row.get(key.id), Some(&reading(at + 1)), "{}", key.name);
        }
        assert_eq!(row.get(keys[0].id), None);
        assert_eq!(About(Some(&row)).shared(keys[0].id), &Arc::new(Reading::not_collected()));
    }
}
