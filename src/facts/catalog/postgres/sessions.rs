//! Settings that a database or a role has for its own sessions (PostgreSQL manual, *ALTER DATABASE*, *ALTER ROLE*).

use std::fmt;

use super::SynchronousCommit;
use crate::facts::{Choice, FactValue, Value};

/// `synchronous_commit` where a database or a role has its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitOverride {
    /// Whose sessions: `database app`, `role bob`, `role bob in database app`; display-safe.
    pub whose: String,
    pub value: SynchronousCommit,
}

impl fmt::Display for CommitOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.whose, self.value)
    }
}

/// As [`CommitOverride`] shows itself; a name may have a colon, the value has none.
impl FactValue for Vec<CommitOverride> {
    fn into_value(self) -> Value {
        Value::List(self.iter().map(ToString::to_string).collect())
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::List(all) = value else { return None };
        let one = |text: &String| {
            let (whose, value) = text.rsplit_once(": ")?;
            Some(CommitOverride { whose: whose.to_owned(), value: SynchronousCommit::from_word(value)? })
        };
        all.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_name_is_the_value_comes_back() {
        for whose in ["database app", "role a: off", "role b in database c: on"] {
            for value in SynchronousCommit::ALL {
                let all = vec![CommitOverride { whose: whose.to_owned(), value: *value }];
                assert_eq!(Vec::<CommitOverride>::from_value(&all.clone().into_value()), Some(all));
            }
        }
    }
}
