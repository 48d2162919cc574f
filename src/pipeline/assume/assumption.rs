//! An assumed fact, as a value.

use crate::facts::{KeyInfo, Subject, Value};

#[derive(Clone, Debug)]
pub struct Assumption {
    pub subject: Subject,
    pub key: &'static KeyInfo,
    pub value: Value,
}
