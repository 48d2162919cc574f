//! The facts of one subject, by name.
//!
//! Beside the names their last letters are stored as a number. Judgement looks up millions of facts on a large host,
//! and most names have a common beginning, so comparing whole names would be the largest cost.

use std::sync::{Arc, LazyLock};

use super::{Reading, Value};

/// A fact of a subject.
pub type Fact = (&'static str, Arc<Reading<Value>>);

/// Facts in the order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    facts: Vec<Fact>,
    /// The end of each name, in the same order.
    ends: Vec<u64>,
}

impl Row {
    /// The reading of this fact, if there is one.
    pub fn get(&self, name: &str) -> Option<&Arc<Reading<Value>>> {
        let wanted = end(name);
        let alike = self.ends.iter().zip(&self.facts).filter(|(end, _)| **end == wanted);
        alike.map(|(_, fact)| fact).find(|(known, _)| *known == name).map(|(_, reading)| reading)
    }

    /// Puts a reading in the place of an earlier one.
    pub fn put(&mut self, name: &'static str, reading: Arc<Reading<Value>>) {
        match self.facts.binary_search_by_key(&name, |(name, _)| name) {
            Ok(at) => {
                if let Some((_, old)) = self.facts.get_mut(at) {
                    *old = reading;
                }
            }
            Err(at) => {
                self.facts.insert(at, (name, reading));
                self.ends.insert(at, end(name));
            }
        }
    }

    /// Every fact, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter()
    }
}

/// The last letters of a name as a number.
fn end(name: &str) -> u64 {
    match name.as_bytes().last_chunk() {
        Some(letters) => u64::from_ne_bytes(*letters),
        None => 0,
    }
}

/// All facts of one subject, if there are any.
#[derive(Clone, Copy, Debug)]
pub struct About<'f>(pub(super) Option<&'f Row>);

impl<'f> About<'f> {
    /// The reading of a fact by name; *not collected* when there is none.
    pub fn shared(self, name: &str) -> &'f Arc<Reading<Value>> {
        static NOT_COLLECTED: LazyLock<Arc<Reading<Value>>> =
            LazyLock::new(|| Arc::new(Reading::not_collected()));
        self.0.and_then(|row| row.get(name)).unwrap_or(&NOT_COLLECTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog;

    /// Every fact there is, and names that only begin or end like them.
    #[test]
    fn each_is_found_by_its_whole_name() {
        let reading = |value: usize| Arc::new(Reading::known(Value::Whole(value as u64), Source::Assumed));
        let names: Vec<&'static str> = catalog::all().map(|info| info.name).collect();
        let mut row = Row::default();
        for turn in 0..2 {
            for (at, name) in names.iter().enumerate().skip(1) {
                row.put(name, reading(at + turn));
            }
        }
        assert!(row.iter().map(|(name, _)| name).is_sorted());
        assert_eq!(row.iter().count(), names.len() - 1);
        for (at, name) in names.iter().enumerate().skip(1) {
            assert_eq!(row.get(name), Some(&reading(at + 1)), "{name}");
            let alike =
                [format!("x{name}"), format!("{name}x"), name[1..].to_owned(), format!("x{}", &name[1..])];
            for other in alike.iter().filter(|other| !names.contains(&other.as_str())) {
                assert_eq!(row.get(other), None, "{other}");
            }
        }
        assert_eq!(row.get(names[0]), None);
        assert_eq!(About(Some(&row)).shared(names[0]), &Arc::new(Reading::not_collected()));
    }
}
